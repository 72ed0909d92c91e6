#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The network of the backends that can't configure one: the doorman passes each connection to the gateway. The rules and the
# messages for a program are the same. No test leaves this machine: the gateway answers the names itself, or refuses them before it
# sends a query.

load helper
setup() { start_test; }
teardown() { end_test; }

# each_backend FUNCTION: calls it with both backends.
each_backend() {
    for BACKEND in firejail landlock; do
        echo "with $BACKEND"
        "$1"
    done
}

network() { JAIL=(--backend "$BACKEND" --network "$@"); }
# The backend prints at each start what it does not enforce. Another test checks that.
in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@" 2> >(grep -v "not held by this backend" >&2); }

# says TEXT COMMAND...: the command's output contains TEXT, whatever its exit status.
says() {
    local text=$1
    shift
    run "$@"
    [[ $output == *"$text"* ]] || report "should say '$text': $*"
}

HOST=host.agent-sandbox.internal
# Without the proxy from the variables.
FETCH=(curl -sS --noproxy '*' --max-time 30)

# A service on the host's loopback that greets in HTTP and logs each client; PORT is its port.
start_service() {
    perl -MIO::Socket::INET -e '
        $SIG{PIPE} = "IGNORE";
        my $listener = IO::Socket::INET->new(Listen => 16, LocalAddr => "127.0.0.1") or die;
        open my $file, ">", "$ARGV[0].new" or die; print $file $listener->sockport; close $file; rename "$ARGV[0].new", $ARGV[0];
        while (my $caller = $listener->accept) {
            open my $log, ">>", $ARGV[1]; print $log "came\n"; close $log;
            while (<$caller>) { last if /^\r?$/ }
            print $caller "HTTP/1.0 200 OK\r\n\r\nthe service\n"; close $caller;
        }' "$BATS_TEST_TMPDIR/port" "$BATS_TEST_TMPDIR/came" </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -s "$BATS_TEST_TMPDIR/port"
    PORT=$(<"$BATS_TEST_TMPDIR/port")
}
visits() { grep -c came "$BATS_TEST_TMPDIR/came" 2>/dev/null || true; }

# Connects, sends a line if one is given, and prints the first line of the answer.
TALK='use IO::Socket::INET; $SIG{ALRM} = sub { die "silence\n" }; alarm 10;
    my $c = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => $ARGV[1]) or die "refused: $!\n";
    print $c "$ARGV[2]\r\n\r\n" if defined $ARGV[2]; my $line = <$c>; print $line // "closed\n"'

@test "a service of the host is reached by its name when its port is named, and no other way" {
    start_service
    prints "the service" "${FETCH[@]}" "http://127.0.0.1:$PORT/"
    only_by_name() {
        local before
        network filtered --host-port "$PORT"
        prints "the service" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
        prints "the service" in_jail curl -sS --max-time 30 "http://$HOST:$PORT/"
        before=$(visits)
        # firejail's jail has its own loopback, on which nothing listens.
        local words=loopback mapped=refused
        [[ $BACKEND != firejail ]] || words="Failed to connect" mapped="Failed to connect"
        says "$words" in_jail "${FETCH[@]}" "http://127.0.0.1:$PORT/"
        says "$mapped" in_jail "${FETCH[@]}" "http://[::ffff:127.0.0.1]:$PORT/"
        # Another port, and no port.
        local mode
        for mode in filtered proxied; do
            network "$mode" --host-port 9
            says "open it with --host-port $PORT" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
            network "$mode"
            fails "Could not resolve host" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
            says "refused" in_jail curl -sS --max-time 30 "http://$HOST:$PORT/"
        done
        network isolated
        fails "" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
        fails "" in_jail "${FETCH[@]}" "http://127.0.0.1:$PORT/"
        [[ $(visits) == "$before" ]] || report "it was reached"
    }
    each_backend only_by_name
}

@test "names are looked up through the gateway, and a blocked one is not" {
    lookups() {
        network filtered --host-port 9
        says "$HOST" in_jail getent hosts "$HOST"
        fails "" in_jail getent hosts pastebin.com
        says "pastebin.com:80 is refused" in_jail curl -sS --max-time 30 http://pastebin.com/
        [[ $output == *"policy, not a fault"*do_not_retry* ]] || report "should say that it is policy"
        network filtered --block-host blocked.example
        says "blocked.example" in_jail curl -sS --max-time 30 http://blocked.example/
        network proxied
        says "refused" in_jail curl -sS --max-time 30 http://not-named.example/
        network isolated --host-port 9
        fails "" in_jail getent hosts "$HOST"
    }
    each_backend lookups
}

@test "literal addresses, and mail at any of them" {
    literals() {
        network filtered
        says "403" in_jail perl -e "$TALK" 10.0.0.1 80 "GET / HTTP/1.0"
        says "403" in_jail perl -e "$TALK" 169.254.169.254 80 "GET / HTTP/1.0"
        local port
        for port in 25 587; do
            says "554 " in_jail perl -e "$TALK" 203.0.113.5 "$port"
            [[ $output == *"policy, not a fault"* ]] || report "should say that it is policy"
        done
        says "554 " in_jail perl -e "$TALK" 198.18.0.3 25
        says "SSH-2.0-agent_sandbox" in_jail perl -e "$TALK" 203.0.113.5 22 "SSH-2.0-test"
        network isolated
        fails "" in_jail perl -e "$TALK" 203.0.113.5 25
    }
    each_backend literals
}

@test "UDP, and TCP that is opened without connect, are refused" {
    start_service
    # sendto with MSG_FASTOPEN
    local fast='use Socket; socket(my $s, AF_INET, SOCK_STREAM, 0) or die "socket: $!\n";
        send($s, "GET / HTTP/1.0\r\n\r\n", 0x20000000, pack_sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die "send: $!\n"; print "sent\n"'
    local datagram='use Socket; socket(my $s, AF_INET, SOCK_DGRAM, 0) or die "socket: $!\n";
        send($s, "x", 0, pack_sockaddr_in(53, INADDR_LOOPBACK)) or die "send: $!\n"; print "sent\n"'
    works perl -e "$fast" "$PORT"
    prints sent perl -e "$datagram"
    wait_until eval '(($(visits) == 1))'
    around() {
        local mode
        for mode in filtered proxied; do
            network "$mode"
            fails "send: Operation not supported" in_jail perl -e "$fast" "$PORT"
            fails "socket: " in_jail perl -e "$datagram"
        done
    }
    each_backend around
    [[ $(visits) == 1 ]] || report "it was reached"
}

# A socket that is disconnected from the gateway must not be free to connect elsewhere.
@test "a connection that is taken back and made again is judged again" {
    start_service
    local again='use Socket; use Config; socket(my $s, AF_INET, SOCK_STREAM, 0) or die;
        my $number = $Config{archname} =~ /aarch64/ ? 203 : 42; my $nowhere = pack "S x14", 0;
        connect($s, pack_sockaddr_in($ARGV[1], inet_aton($ARGV[0]))) or die "first: $!\n";
        syscall($number, fileno $s, $nowhere, 16) == 0 or die "cut: $!\n";
        connect($s, pack_sockaddr_in($ARGV[2], INADDR_LOOPBACK)) or die "second: $!\n";
        syswrite $s, "GET / HTTP/1.0\r\n\r\n"; local $/; print <$s>'
    says "the service" perl -e "$again" 127.0.0.1 "$PORT" "$PORT"
    local before
    before=$(visits)
    twice() {
        network filtered
        local words=403
        [[ $BACKEND != firejail ]] || words="second: Connection refused"
        says "$words" in_jail perl -e "$again" 198.18.0.1 3128 "$PORT"
    }
    each_backend twice
    [[ $(visits) == "$before" ]] || report "it was reached"
}

@test "each decision is a line in the session's record" {
    recorded() {
        rm -rf "$HOME/.local/state/agent-sandbox/sessions"
        network filtered --block-host blocked.example
        says "refused" in_jail curl -sS --max-time 30 http://blocked.example/
        says "554 " in_jail perl -e "$TALK" 203.0.113.5 25
        works grep -rh '"verdict":"deny"' "$HOME/.local/state/agent-sandbox/sessions"
        [[ $output == *blocked.example* && $output == *203.0.113.5*'"port":25'* ]] || report "should be recorded"
        prints "" find "$HOME/.local/state/agent-sandbox/sessions" -type f ! -perm 0600
        works ls "$HOME/.local/state/agent-sandbox"
        fails "" in_jail ls "$HOME/.local/state/agent-sandbox"
    }
    each_backend recorded
}

@test "firejail's jail has a loopback of its own, to listen on and to connect to" {
    JAIL=(--backend firejail --network filtered)
    works in_jail perl -MIO::Socket::INET -e '
        my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die "listen: $!";
        my $client = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $server->sockport) or die "connect: $!";
        my $accepted = $server->accept or die; print $client "hello\n"; $client->flush; print scalar <$accepted>'
    [[ $output == *hello* ]] || report "nothing came through"
    start_service
    fails "" in_jail perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift) or die "refused\n"' "$PORT"
}
