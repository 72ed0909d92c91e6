#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Connections that a user opens by an option, each with its counterpart that stays closed.

load helper
setup() { start_egress_test; }
teardown() { end_egress_test; }

web_inside() { # PORT [ADDRESS]
    tell_jail "mkdir -p www && echo from the jail >www/index.html && (cd www && exec python3 -m http.server --bind ${2:-127.0.0.1} $1 >/dev/null 2>&1 &) ; for try in \$(seq 500); do curl -sS --max-time 30 --noproxy '*' http://${2:-127.0.0.1}:$1/ && exit 0; sleep 0.1; done; exit 1"
    ((status == 0))
}

@test "--publish: a port of the jail on the host's loopback, and nowhere else" {
    filtered --publish 8099
    start_obedient_jail
    web_inside 8099
    says "from the jail" outside curl -sS --max-time 30 http://127.0.0.1:8099/
    says "from the jail" as_neighbour curl -sS --max-time 30 http://127.0.0.1:8099/
    run outside curl -sS --max-time 2 http://192.0.2.2:8099/
    ((status != 0)) || leak "should listen on loopback alone"
    run in_world curl -sS --max-time 2 http://192.0.2.2:8099/
    ((status != 0)) || leak "should not be seen by the world"
    kill -KILL "$SUPERVISOR"
    wait_until is_gone "$GATEWAY"
    run outside curl -sS --max-time 2 http://127.0.0.1:8099/
    ((status == 7)) || report "should end with the session"
}

@test "--publish HOST:JAIL, where nothing listens yet, and where the port is taken" {
    filtered --publish 8098:8097
    start_obedient_jail
    run outside curl -sS --max-time 30 http://127.0.0.1:8098/
    ((status != 0 && status != 28)) || report "nothing listens inside: that should be told at once"
    web_inside 8097
    says "from the jail" outside curl -sS --max-time 30 http://127.0.0.1:8098/
    filtered --publish 8001
    run in_jail true
    ((status == 125)) && [[ $output == *8001* && $output != *isolated* ]] || report "a taken port should be an error"
    filtered --publish 80
    run in_jail true
    ((status == 125)) && [[ $output == *"take another: --publish 8080:80"* ]] || report "root's port should name another"
}

@test "without --publish no port of the jail can be reached" {
    filtered
    start_obedient_jail
    web_inside 8099
    run outside curl -sS --max-time 2 http://127.0.0.1:8099/
    ((status == 7))
    web_inside 8096 198.18.0.2 || true
    run outside curl -sS --max-time 1 http://198.18.0.2:8096/
    ((status != 0))
}

@test "--host-port: one service of the host's loopback by its name and its address, and no other" {
    filtered --host-port 8001
    says "a service of the host" in_jail curl -sS --max-time 30 http://host.agent-sandbox.internal:8001/
    run in_jail curl -sS --max-time 30 http://host.agent-sandbox.internal:5433/
    [[ $output != *"a service of the host"* ]] || leak "another port should stay closed"
    everywhere "a service of the host" curl -sS --max-time 30 http://127.0.0.1:8001/
    everywhere "a service of the host" curl -sS --max-time 30 http://localhost:8001/
    everywhere "a service of the host" curl -sS --max-time 30 "http://[::1]:8001/"
    run in_jail curl -sS --max-time 30 http://127.0.0.1:8002/
    ((status == 7)) || leak "another port of the jail's own loopback should stay its own"
    run in_jail curl -sS --max-time 30 http://127.0.0.2:8001/
    ((status == 7)) || leak "another address of the jail's own loopback should stay its own"
    run in_jail curl -sS --max-time 30 http://to-127-0-0-1.trick.example:8001/
    [[ $output != *"a service of the host"* ]] || leak "a name that leads there should stay closed"
    filtered
    run in_jail curl -sS --max-time 30 http://host.agent-sandbox.internal:8001/
    [[ $output != *"a service of the host"* ]] || leak "should be closed without the option"
}

@test "--host-port works in proxied too" {
    proxied --host-port 5433
    says "a service of the host" in_jail python3 talk.py host.agent-sandbox.internal 5433 --wait 1
    says "a service of the host" in_jail python3 talk.py 127.0.0.1 5433 --wait 1
    proxied --host-port 8001
    says "a service of the host" in_jail curl -sS --max-time 30 http://127.0.0.1:8001/
    says "a service of the host" in_jail curl -sS --max-time 30 -H 'Host: another.example' http://host.agent-sandbox.internal:8001/
    says "a service of the host" in_jail curl -sS --max-time 30 -x http://198.18.0.1:3128 http://host.agent-sandbox.internal:8001/
}

@test "network.host_services: one private address at one port" {
    user_says '[network]' 'host_services = ["10.1.2.3:80"]'
    JAIL=(--network filtered)
    everywhere "intranet.example here" curl -sS --max-time 30 http://intranet.example/
    only_outside "intranet.example here" curl -sS --fail --max-time 30 http://intranet.example:8080/
    only_outside "cluster.example here" curl -sS --fail --max-time 30 http://cluster.example/
    user_says '[network]' 'host_services = ["169.254.169.254:80"]'
    run in_jail true
    ((status == 125)) || report "metadata should be refused as a service"
}

@test "network.private: a range of the site, and no other" {
    user_says '[network]' 'private = ["10.20.0.0/16"]'
    JAIL=(--network filtered)
    everywhere "cluster.example here" curl -sS --max-time 30 http://cluster.example/
    only_outside "intranet.example here" curl -sS --fail --max-time 30 http://intranet.example/
    only_outside "here" curl -sS --fail --max-time 30 http://to-169-254-169-254.trick.example/
}

@test "network.literals" {
    JAIL=(--network filtered --block-host 203.0.113.66)
    only_outside "198.51.100.7 here" curl -sS --fail --max-time 30 http://198.51.100.7/
    user_says '[network]' 'literals = "allow"'
    everywhere "198.51.100.7 here" curl -sS --max-time 30 http://198.51.100.7/
    everywhere "[2001:db8:51::7] here" curl -sS --max-time 30 "http://[2001:db8:51::7]/"
    only_outside "203.0.113.66 here" curl -sS --fail --max-time 30 http://203.0.113.66/
    JAIL=(--network proxied --allow-host 198.51.100.7)
    everywhere "198.51.100.7 here" curl -sS --max-time 30 https://198.51.100.7/
    user_says ''
    everywhere "198.51.100.7 here" curl -sS --max-time 30 http://198.51.100.7/
}

@test "network.udp: one name and port" {
    user_says '[network]' 'udp = ["echo.example:7"]'
    JAIL=(--network filtered)
    everywhere "echo of hello" python3 sockets.py udp echo.example 7
    only_outside "echo of hello" python3 sockets.py udp echo.example 9000
    only_outside "echo of hello" python3 sockets.py udp 203.0.113.10 7
    only_outside "echo of hello" python3 sockets.py udp good.example 7
    only_outside "echo of hello" python3 sockets.py udp to-10-1-2-3.trick.example 7
}

@test "network.dns_types" {
    user_says '[network]' 'dns_types = ["TXT"]' 'block = ["evil.example"]'
    JAIL=(--network filtered)
    everywhere a-text-of-good dig +short +time=15 +tries=1 TXT good.example
    says a-text-of-evil outside dig +short TXT evil.example
    run in_jail dig +short +time=15 +tries=1 TXT evil.example
    [[ $output != *a-text-of-evil* ]] || leak "a blocked name should stay blocked"
    run in_jail dig +short +time=15 +tries=1 MX good.example
    [[ $output != *mail.example* ]] || leak "another type should stay closed"
}

@test "network.upstream_proxy: everything goes through the site's proxy, and nothing is looked up" {
    user_says '[network]' 'upstream_proxy = "http://203.0.113.80:3128"' 'block = ["evil.example"]'
    JAIL=(--network filtered)
    log_mark
    says "good.example here" in_jail curl -sS --max-time 30 https://good.example/
    says "good.example here" in_jail curl -sS --max-time 30 http://good.example/
    says "over ssh" in_jail bash programs.sh ssh ssh.example
    seen proxy good.example
    seen proxy ssh.example
    log_mark
    run in_jail curl -sS --max-time 30 https://evil.example/
    run in_jail python3 tls.py good.example 443 evil.example
    [[ $output != *here* ]]
    unseen proxy evil.example
    unseen dns evil.example
}

@test "the host's proxy variables are honoured, and not passed on" {
    JAIL=(--network filtered)
    log_mark
    says "good.example here" as_user https_proxy=http://203.0.113.80:3128 http_proxy=http://203.0.113.80:3128 no_proxy=also.example \
        "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- bash -c 'curl -sS --max-time 30 --noproxy "*" http://good.example/; curl -sS --max-time 30 --noproxy "*" http://also.example/'
    [[ $output == *"also.example here"* ]]
    seen proxy good.example
    unseen proxy also.example
}

@test "the administrator lifts one port of the floor for one host; a user can't" {
    JAIL=(--network filtered --allow-host mail.example:587)
    run in_jail python3 talk.py mail.example 587 --wait 1
    [[ $output != *"220 sink"* ]] || leak "a user should not lift the floor"
    mkdir -p /etc/agent-sandbox
    printf '%s\n' '[network]' 'allow = ["mail.example:587"]' >/etc/agent-sandbox/config.toml
    JAIL=(--network filtered)
    run in_jail python3 talk.py mail.example 587 --wait 1
    local lifted=$output
    run in_jail python3 talk.py mail.example 25 --wait 1
    rm -rf /etc/agent-sandbox
    [[ $lifted == *"220 sink"* ]] || { output=$lifted; report "should be lifted"; }
    [[ $output != *"220 sink"* ]] || leak "another port should stay closed"
}

@test "the administrator's block holds whatever a user allows" {
    mkdir -p /etc/agent-sandbox
    printf '%s\n' '[network]' 'block = ["evil.example"]' >/etc/agent-sandbox/config.toml
    JAIL=(--network filtered --allow-host evil.example)
    run in_jail curl -sS --max-time 30 http://evil.example/
    rm -rf /etc/agent-sandbox
    [[ $output != *here* ]] || leak "should stay blocked"
    everywhere "evil.example here" curl -sS --max-time 30 http://evil.example/
}
