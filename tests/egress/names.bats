#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A lookup by itself can carry data out: the gateway never asks a server for a forbidden name. And no answer of a name server leads
# to an address that is always blocked.

load helper
setup() {
    start_egress_test
    filtered
    is_connected
}
teardown() { end_egress_test; }

@test "a lookup as a channel: labels of a forbidden zone never leave the host" {
    log_mark
    works outside getent ahosts secret-outside.leak.example
    seen tricks secret-outside
    run in_jail getent ahosts secret-inside.leak.example
    ((status != 0))
    run in_jail dig +time=15 +tries=1 A secret-inside-a.leak.example
    run in_jail dig +time=15 +tries=1 TXT secret-inside-txt.leak.example
    run in_jail dig +time=15 +tries=1 @8.8.8.8 secret-inside-direct.leak.example
    run in_jail dig +time=15 +tries=1 @203.0.113.53 secret-inside-site.leak.example
    run in_jail dig +time=15 +tries=1 +tcp @203.0.113.54 secret-inside-tcp.leak.example
    run in_jail curl -sS --max-time 30 http://secret-inside-curl.leak.example/
    run in_jail curl -sS --max-time 30 --proxy http://198.18.0.1:3128 http://secret-inside-proxy.leak.example/
    run in_jail curl -sS --max-time 30 --socks5-hostname 198.18.0.1:1080 http://secret-inside-socks.leak.example/
    unseen tricks secret-inside
    unseen dns secret-inside
}

@test "proxied: a name on no list is never looked up outside" {
    proxied
    log_mark
    run in_jail getent ahosts secret-inside.trick.example
    run in_jail dig +time=15 +tries=1 MX secret-inside.trick.example
    unseen tricks secret-inside
    unseen dns secret-inside
    says "198.18." in_jail getent ahostsv4 good.example
    seen dns good.example
}

@test "the gateway answers queries to any other resolver" {
    says "203.0.113.10" outside dig +short @8.8.8.8 good.example
    says "198.18." in_jail dig +short @8.8.8.8 good.example
    [[ $output != *203.0.113.10* ]]
}

@test "DNS over TLS is closed" {
    only_outside "port 853 is open" python3 -c 'import socket; print(socket.create_connection(("8.8.8.8", 853), 3).recv(99).decode())'
}

@test "DNS over HTTPS is closed: the shipped list, and the address" {
    JAIL=(--network filtered)
    only_outside "an answer over HTTPS" curl -sS --max-time 30 --fail "https://dns.google/dns-query?dns=AAAA"
    only_outside "an answer over HTTPS" curl -sS --max-time 30 --fail -k "https://8.8.8.8/dns-query?dns=AAAA"
    JAIL=(--network filtered --allow-host dns.google)
    everywhere "an answer over HTTPS" curl -sS --max-time 30 --fail "https://dns.google/dns-query?dns=AAAA"
}

@test "TXT, MX, SRV and ANY queries get an empty answer with the reason, unless a setting permits them" {
    local type
    log_mark
    says a-text-of-good outside dig +short TXT good.example
    says mail.example outside dig +short MX good.example
    for type in TXT MX SRV ANY NULL CNAME NS SOA; do
        run in_jail dig +time=15 +tries=1 "$type" good.example
        [[ $output != *a-text-of-good* && $output != *mail.example* ]] || leak "$type"
    done
    # The name itself is permitted: the answer is empty and not an error, because a resolver would apply an error to the whole name.
    says "ANSWER: 0" in_jail dig +time=15 +tries=1 TXT good.example
    [[ $output == *"EDE: 17 (Filtered)"*network.dns_types* ]] || report "should say why"
    run -1 grep -E 'query\[(SRV|NULL|CNAME|NS|SOA)' <(since_mark dns)
}

@test "HTTPS and SVCB queries get an empty answer at once" {
    works in_jail dig +time=15 +tries=1 HTTPS good.example
    [[ $output != *"timed out"* ]]
}

@test "reverse lookups answer synthetic addresses only" {
    says good.example in_jail_sh 'dig +short +time=15 +tries=1 -x "$(getent ahostsv4 good.example | head -n 1 | cut -d" " -f1)"'
    log_mark
    run in_jail dig +time=15 +tries=1 -x 203.0.113.10
    unseen dns 203.0.113.10
}

@test "DNS rebinding: an answer that changes to a private address is not followed" {
    # The control: outside, the second lookup leads into the private network.
    works outside_sh 'getent ahostsv4 control.rebind.example; getent ahostsv4 control.rebind.example'
    [[ $output == *203.0.113.10*10.1.2.3* ]]
    log_mark
    run in_jail_sh 'for try in 1 2 3 4; do curl -sS --max-time 30 http://jailed.rebind.example/; sleep 0.3; done; true'
    unseen web "10.1.2.3:80"
}

@test "a name that resolves below the floor is refused, whatever allows the name" {
    local name
    declare -A names=(
        [to-127-0-0-1.trick.example:8001]="a service of the host" [to-10-1-2-3.trick.example:80]="here"
        [to-192-168-1-1.trick.example:80]="here" [to-172-16-9-9.trick.example:80]="here" [to-100-64-0-9.trick.example:80]="here"
        [to-169-254-169-254.trick.example:80]="here" [to-100-100-100-200.trick.example:80]="here" [to-0-0-0-0.trick.example:8002]="a service of the host"
        [six-00000000000000000000ffff0a010203.trick.example:80]="here" [six-00000000000000000000ffffa9fea9fe.trick.example:80]="here"
        [six-00000000000000000000000000000001.trick.example:8001]="a service of the host"
        [six-0064ff9b0000000000000000a9fea9fe.trick.example:80]="here" [six-2002a9fea9fe00000000000000000001.trick.example:80]="here"
        [six-fd000ec2000000000000000000000254.trick.example:80]="here" [six-fd123456000000000000000000000009.trick.example:80]="here"
    )
    JAIL=(--network filtered --allow-host "*.trick.example")
    for name in "${!names[@]}"; do
        says "${names[$name]}" outside curl -sS --max-time 30 "http://$name/"
        run in_jail curl -sS --fail --max-time 30 "http://$name/"
        [[ $output != *"${names[$name]}"* ]] || leak "should not lead there: $name"
        ((status != 28)) || report "should not wait: $name"
        # Through the proxies, without an earlier lookup by the jail.
        run in_jail_sh 'curl -sS --fail --max-time 30 --proxy http://198.18.0.1:3128 "$1"; curl -sS --fail --max-time 30 --socks5-hostname 198.18.0.1:1080 "$1"' "http://$name/"
        [[ $output != *"${names[$name]}"* ]] || leak "should not lead there through the proxy: $name"
    done
    says "EDE: " in_jail dig +time=15 +tries=1 to-10-1-2-3.trick.example
}

@test "of several addresses only the permitted ones are connected to" {
    log_mark
    everywhere "here" curl -sS --max-time 30 http://to-203-0-113-10-and-10-1-2-3.trick.example/
    log_mark
    says "here" in_jail curl -sS --max-time 30 http://to-10-1-2-3-and-203-0-113-10.trick.example/
    unseen web "10.1.2.3:80"
    seen web "203.0.113.10:80"
}

@test "an alias of a refused name is judged by its own name, carries no other, and is closed by the address" {
    filtered
    everywhere "alias-evil.trick.example here" curl -sS --max-time 30 http://alias-evil.trick.example/
    log_mark
    says "evil.example here" outside curl -sS --max-time 30 -H 'Host: evil.example' http://alias-evil.trick.example/
    run in_jail curl -sS --max-time 30 -H 'Host: evil.example' http://alias-evil.trick.example/
    [[ $output != *here* ]] || report "no request for the refused name"
    run in_jail python3 tls.py alias-evil.trick.example 443 evil.example
    [[ $output != *here* ]] || report "no hello for the refused name"
    filtered --block-host 203.0.113.66
    only_outside "here" curl -sS --fail --max-time 30 http://alias-evil.trick.example/
    is_connected
}

@test "records of another name, endless aliases and sixty private addresses lead nowhere, and nothing waits" {
    filtered
    run in_jail dig +time=20 +tries=1 +short other-owner.trick.example
    [[ -z $output || $output != *198.18.* ]] || report "a record of another name is no address of this one"
    run in_jail curl -sS --max-time 60 http://alias-loop.trick.example/
    ((status != 0 && status != 28)) || report "an endless alias should fail at once"
    log_mark
    says "here" in_jail curl -sS --max-time 60 http://many-10-1-2-3.trick.example/
    unseen web "10.1.2.3:80"
    is_connected
}

@test "a name in changing case (0x20) has one address, and labels with NUL, dots or 64 letters are refused" {
    filtered
    works in_jail_sh 'for name in good.example GOOD.example gOoD.ExAmPlE good.example.; do dig +short +time=15 +tries=1 "$name"; done | sort -u'
    [[ ${#lines[@]} == 1 && $output == 198.18.* ]] || report "should have one address"
    log_mark
    run in_jail dig +time=15 +tries=1 'evil\000.good.example'
    [[ $output == *REFUSED* || $output == *NXDOMAIN* ]] || report "NUL"
    run in_jail dig +time=15 +tries=1 'evil\.example.good.example'
    [[ $output == *REFUSED* || $output == *NXDOMAIN* ]] || report "a dot within a label"
    run in_jail python3 -c 'import socket, sys
try:
    socket.getaddrinfo("a" * 64 + ".good.example", 80)
except (OSError, UnicodeError) as error:
    sys.exit("refused")'
    ((status == 1)) || report "a label of 64 letters"
    unseen dns "evil"
}

@test "a name that resolves to this host's own address is refused" {
    JAIL=(--network filtered --allow-host host.example --allow-host "*.trick.example")
    only_outside "a service of the host" curl -sS --fail --max-time 30 http://host.example:8002/
    only_outside "a service of the host" curl -sS --fail --max-time 30 http://six-20010db8000100000000000000000002.trick.example:8002/
}

@test "a lookup fails with SERVFAIL if the name server does not answer" {
    run in_jail dig +time=20 +tries=1 silent.trick.example
    [[ $output == *SERVFAIL* ]] || report "should be told that nobody answered"
}

@test "each name keeps its first synthetic address and shares it with no other name" {
    prints "distinct kept" in_jail python3 load.py names 300
}

@test "a synthetic address that was never assigned is refused" {
    run in_jail curl -sS --max-time 30 http://198.18.200.200/
    [[ $output != *here* ]]
    ((status != 28)) || report "should not wait"
}

@test "other spellings of a name (case, final dots) get the same verdict" {
    run in_jail curl -sS --max-time 30 http://EVIL.example/
    [[ $output != *here* ]]
    run in_jail curl -sS --max-time 30 http://evil.example./
    [[ $output != *here* ]]
    run in_jail curl -sS --max-time 30 http://evil.example../
    [[ $output != *here* ]]
    everywhere "here" curl -sS --max-time 30 http://GOOD.example./
}
