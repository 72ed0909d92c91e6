# SPDX-License-Identifier: MIT
# perl attacks.pl NAME [ARGUMENT...]: runs one attack on the jail. Prints a line for each way that it tries: "WAY: open" where the
# way works and must not, or "WAY: " and the error.
use strict;
use warnings;
use Config;
use Fcntl;
use POSIX ();
use Socket qw(:DEFAULT :all);

$| = 1;
$SIG{PIPE} = 'IGNORE';
my $is_arm = $Config{archname} =~ /aarch64/;
sub number { my ($x86, $arm) = @_; return $is_arm ? $arm : $x86 }

sub told {
    my ($way, $is_open) = @_;
    print "$way: ", $is_open ? "open" : $!, "\n";
    return $is_open;
}

# syscall() passes variables that hold numbers as numbers, and strings as pointers.
sub told_call { my ($way, @call) = @_; $! = 0; return told($way, syscall(shift(@call), @call) != -1) }

my %attacks;

# DIRECTORY NAME: every way to write the path of a Unix socket
$attacks{sockets} = sub {
    my ($directory, $name) = @_;
    my $try = sub {
        my ($way, $path, $type) = @_;
        socket(my $connection, AF_UNIX, $type // SOCK_STREAM, 0) or return told($way, 0);
        # Read to the end: the greeter exits when a client closes the connection early.
        told($way, connect($connection, pack_sockaddr_un($path)) && defined(my $greeting = <$connection>));
    };
    my $path_only = 010000000;
    symlink($directory, "to-directory");
    symlink("$directory/$name", "to-socket");
    sysopen(my $opened, $directory, $path_only) or die "open: $!";
    sysopen(my $socket, "$directory/$name", $path_only) or die "open: $!";
    my ($above, $itself) = (fileno($opened), fileno($socket));
    $try->("path", "$directory/$name");
    $try->("link to the directory", "to-directory/$name");
    $try->("link to the socket", "to-socket");
    $try->("descriptor of the directory ($_)", "$_/$above/$name") for "/proc/self/fd", "/dev/fd", "/proc/thread-self/fd";
    $try->("descriptor of the directory, by the number of the process", "/proc/$$/fd/$above/$name");
    $try->("descriptor of the socket ($_)", "$_/$itself") for "/proc/self/fd", "/dev/fd", "/proc/thread-self/fd";
    symlink("/proc/self/fd/$itself", "to-descriptor");
    $try->("link to the descriptor", "to-descriptor");
    $try->("root of the process", "/proc/self/root$directory/$name");
    told("hard link", link("$directory/$name", "hard"));
    unlink qw(to-directory to-socket to-descriptor hard);
    chdir $directory or die "chdir: $!";
    $try->("relative", $name);
    $try->("working directory", "/proc/self/cwd/$name");
};

# PORT: ways to the network that are not connect(), and to a port of the host
$attacks{network} = sub {
    my ($port) = @_;
    my $loopback = pack_sockaddr_in($port, INADDR_LOOPBACK);
    my $fast_open = 0x20000000;
    my @sockets = (["UDP", AF_INET, SOCK_DGRAM, 0], ["UDP over IPv6", AF_INET6, SOCK_DGRAM, 0], ["MPTCP", AF_INET, SOCK_STREAM, 262],
        ["netlink of sockets", 16, SOCK_RAW, 4]);
    for (@sockets) { my ($way, @socket) = @$_; told($way, socket(my $made, $socket[0], $socket[1], $socket[2])) }
    my $tcp = sub { socket(my $made, $_[0], SOCK_STREAM, 0) or die "socket: $!"; return $made };
    told("fast open", send($tcp->(AF_INET), "x", $fast_open, $loopback));
    told("fast open option", setsockopt($tcp->(AF_INET), IPPROTO_TCP, 30, 1));
    told("interface", setsockopt($tcp->(AF_INET), SOL_SOCKET, 25, "lo\0"));
    told("listen without a name", listen($tcp->(AF_INET), 1));
    for (["IPv4", AF_INET, $loopback], ["no address", AF_INET, pack_sockaddr_in($port, INADDR_ANY)],
        ["IPv4 in IPv6", AF_INET6, pack_sockaddr_in6($port, inet_pton(AF_INET6, "::ffff:127.0.0.1"))])
    {
        my ($way, $family, $address) = @$_;
        my $socket = $tcp->($family);
        told($way, connect($socket, $address) && defined(my $line = <$socket>));
    }
};

# PORT: a connection that the peer can't answer, because it does not sign (TCP_MD5SIG). Does the kernel go on sending SYN?
$attacks{asking} = sub {
    my ($port) = @_;
    socket(my $socket, AF_INET, SOCK_STREAM, 0) or die "socket: $!";
    fcntl($socket, F_SETFL, O_NONBLOCK);
    my $loopback = pack_sockaddr_in(0, INADDR_LOOPBACK);
    my $signature = pack("a128 C C S i a80", $loopback, 0, 0, 4, 0, "none");
    setsockopt($socket, IPPROTO_TCP, 14, $signature) or die "TCP_MD5SIG: $!";
    connect($socket, pack_sockaddr_in($port, INADDR_LOOPBACK));
    my ($own) = unpack_sockaddr_in(getsockname($socket));
    open(my $table, "<", "/proc/self/net/tcp") or die "tcp: $!";
    my $asks = grep { /^\s*\d+: [0-9A-F]{8}:([0-9A-F]{4}) \S+ 02 / && hex($1) == $own } <$table>;
    $! = POSIX::ECONNREFUSED;
    told("asking", $asks);
};

# Makes the doorman's connect() wait for ever: the listener accepts no connection, and other processes remove the send timeout again
# and again.
$attacks{patience} = sub {
    unlink "full.sock";
    socket(my $listener, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
    bind($listener, pack_sockaddr_un("full.sock")) && listen($listener, 0) or die "listen: $!";
    my @first;
    for my $i (0, 1) {
        socket($first[$i], AF_UNIX, SOCK_STREAM, 0) or die;
        fcntl($first[$i], F_SETFL, O_NONBLOCK);
        connect($first[$i], pack_sockaddr_un("full.sock"));
    }
    my $for_ever = pack("qq", 0, 0);
    for (1 .. 6) {
        socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or die;
        for (1 .. 2) {
            next if fork;
            setsockopt($socket, SOL_SOCKET, 21, $for_ever) while 1;
        }
        next if fork;
        while (1) { connect($socket, pack_sockaddr_un("full.sock")); select(undef, undef, undef, 0.001) }
    }
    sleep 2;
    exit 7;
};

# NAME: a POSIX queue
my ($mq_open, $mq_unlink) = (number(240, 180), number(241, 181));
$attacks{"make-queue"} = sub { my ($name) = @_; told_call("make", $mq_open, $name, 0102, 0600, 0) or exit 1 };
$attacks{"remove-queue"} = sub { my ($name) = @_; told_call("remove", $mq_unlink, $name) or exit 1 };
$attacks{queue} = sub {
    my ($name) = @_;
    told_call("open", $mq_open, $name, 02, 0, 0);
    told_call("make", $mq_open, "$name-new", 0102, 0600, 0);
    told_call("remove", $mq_unlink, $name);
};

# PROCESS: everything except kill() that can change it
$attacks{process} = sub {
    my ($process) = map { $_ + 0 } @_;
    my $pidfd = syscall(434, $process, 0);
    told_call("signal through a descriptor", 424, $pidfd, 9, 0, 0);
    told_call("signal for a thread", number(234, 131), $process, $process, 9);
    my $information = pack("iii x116", 9, 0, -1);
    told_call("signal with a value", number(129, 138), $process, 9, $information);
    told_call("descriptor", 438, $pidfd, 0, 0);
    my $processors = pack("Q16", 1);
    told_call("affinity", number(203, 122), $process, 128, $processors);
    my $parameter = pack("i", 0);
    told_call("scheduler", number(144, 119), $process, 5, $parameter);
    told_call("priority of its input", number(251, 30), 1, $process, 3 << 13);
    # The present priority: outside the call is allowed, and a lower priority would slow down the tests that follow.
    my $present = getpriority 0, 0;
    told_call("priority of a group", number(141, 140), 1, getpgrp($process), $present);
    told_call("priority of all", number(141, 140), 2, 0, $present);
    told_call("memory", 448, $pidfd, 0);
    # Makes the kernel send the signal when the pipe can be read. The caller checks whether it arrived.
    pipe(my $reader, my $writer) or die;
    fcntl($reader, F_SETFL, 020000);
    fcntl($reader, F_SETOWN, $process) && fcntl($reader, 10, 9);
    syswrite $writer, "x";
};

# Leaves processes that are adopted by a process of the jail, stopped, or in the process group of the session's own processes.
$attacks{remain} = sub {
    my ($seconds, $group) = @_;
    syscall(number(157, 167), 36, 1, 0, 0, 0);    # PR_SET_CHILD_SUBREAPER
    my $sleep = sub { exec "sleep", $seconds };
    if (!fork) { fork and exit; POSIX::setsid(); fork and exit; $SIG{$_} = "IGNORE" for qw(HUP INT TERM); $sleep->() }
    if (!fork) { POSIX::setpgid(0, $group + 0) or warn "group: $!\n"; $sleep->() }
    if (!fork) { kill STOP => $$; $sleep->() }
    if (!fork) { POSIX::setsid(); syscall(number(157, 167), 36, 1, 0, 0, 0); fork or $sleep->(); $sleep->() }
};

my $attack = shift;
$attacks{$attack}->(@ARGV);
