#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Processes of a session die or stop while its network is in use: closed hosts stay closed, an open connection is closed and not
# widened, no client hangs longer than its timeout, and after a stop everything continues. tests/jail/process_faults.bats has the
# rest.

load helper
load ../jail/process_faults

setup_file() { export BATS_TEST_TIMEOUT=300; }
setup() { start_egress_test; }
teardown() {
    end_egress_test
    rm -rf "/tmp/agent-sandbox-u$(id -u "$SBX_USER")"
}
sandbox() { as_user "$SBX_PROGRAM" "$@"; }

# use BACKEND [OPTION...]
use() {
    filtered --backend "$1" --slurm off "${@:2}"
    remember_world
}

# start_talking: a session whose jail runs orders, and has an open connection that lasts until the test ends it; `transfer` records
# how it ended.
start_talking() {
    start_obedient_jail
    GATEWAY=$(process gateway)
    tell_jail "curl -sS --max-time 20 http://good.example/"
    [[ $output == *"good.example here"* ]] || report "the control: it is connected"
    tell_jail "(python3 talk.py echo.example 9001 --wait 250 hello >transfer.new 2>&1; mv transfer.new transfer) </dev/null >/dev/null 2>&1 & true"
    soon is_talking
}
is_talking() { [[ -n $(connections) ]]; }
is_silent() { [[ -z $(connections) ]]; }
connections() { ss --no-header --numeric --tcp state established '( dport = :9001 )'; }

# expect_closed: nothing gets out, by name, by address, by datagram.
expect_closed() {
    local act
    for act in "curl -sS --max-time 3 http://good.example/" "curl -sS --max-time 3 http://203.0.113.10/" \
        "curl -sS --fail --max-time 3 http://evil.example/" "timeout 3 python3 sockets.py udp 203.0.113.10 7"; do
        tell_jail "$act"
        ((status != 0)) && [[ $output != *here* ]] || leak "$1: should be closed: $act"
    done
}
end_obedient_jail() {
    echo 'kill $PPID' >orders
    soon is_dead "$SUPERVISOR"
    end_of_jail
    rm -f orders reply* transfer* ready
}

@test "the gateway is killed during a connection: the jail goes on without a network, and a message reports it" {
    local backend
    for backend in native $(sampled 2 bwrap landlock); do
        use "$backend"
        start_talking
        kill -KILL "$GATEWAY"
        soon is_silent || report "$backend: the connection should end with it"
        soon test -e transfer || report "$backend: the client should see the end"
        grep -qE "closed|reset" transfer
        expect_closed "$backend"
        soon grep -qF "the jail has no network from here on" "$BATS_TEST_TMPDIR/jail.out"
        end_obedient_jail
        # The message comes again at the end, so that a full-screen program does not hide it.
        [[ $(grep -cF "the jail has no network from here on" "$BATS_TEST_TMPDIR/jail.out") == 2 ]]
        expect_clean "$backend"
    done
}

@test "the gateway is stopped during a connection: nothing gets out, and traffic goes on after SIGCONT" {
    local backend
    for backend in $(sampled 2 native landlock); do
        use "$backend"
        start_talking
        kill -STOP "$GATEWAY"
        soon is_stopped "$GATEWAY"
        expect_closed "$backend"
        [[ ! -e transfer ]]
        kill -CONT "$GATEWAY"
        tell_jail "curl -sS --max-time 20 http://good.example/"
        [[ $output == *"good.example here"* ]] || report "$backend: it should be connected again"
        tell_jail "curl -sS --fail --max-time 20 http://evil.example/"
        ((status != 0)) && [[ $output != *here* ]] || leak "$backend: what is refused stays refused"
        is_talking && [[ ! -e transfer ]] || report "$backend: the connection should be there still"
        # While the gateway can't answer, the verb fails within its time limit, and the session can be ended.
        kill -STOP "$GATEWAY"
        fails "" sandbox allow evil.example
        works sandbox stop --now "$(sandbox ps --ids)"
        soon is_dead "$SUPERVISOR"
        soon is_silent
        rm -f orders reply* transfer* ready
        expect_clean "$backend"
    done
}

@test "the stage is stopped during a connection: nothing opens, and traffic goes on after SIGCONT" {
    local backend
    for backend in $(sampled 2 native landlock); do
        use "$backend"
        start_talking
        need stage
        local stage=$FOUND
        kill -STOP "$stage"
        soon is_stopped "$stage"
        # With Landlock alone, the stage handles each connection.
        rm -f reply
        echo "curl -sS --fail --max-time 2 http://evil.example/" >orders
        [[ $backend != landlock ]] || run -124 timeout 1 bash -c 'until [[ -e reply ]]; do sleep 0.05; done'
        kill -CONT "$stage"
        soon test -e reply
        [[ $(<reply) != 0 ]] && run -1 grep here reply.out
        tell_jail "curl -sS --max-time 20 http://good.example/"
        [[ $output == *"good.example here"* ]] || report "$backend: it should be connected"
        is_talking && [[ ! -e transfer ]] || report "$backend: the connection should be there still"
        end_obedient_jail
        expect_clean "$backend"
    done
}

@test "all our processes are killed during a connection: no connection is left, and none can be made" {
    local backend name processes=()
    RANDOM=$SBX_SEED
    for backend in native $(sampled 2 bwrap landlock); do
        use "$backend"
        start_talking
        mapfile -t processes < <(for name in supervisor builder stage keeper gateway; do echo "$RANDOM $(process "$name")"; done | sort -n | cut -d' ' -f2)
        ((${#processes[@]} == 5))
        kill -KILL "${processes[@]}"
        soon is_dead "$SUPERVISOR"
        soon is_silent || report "$backend: connections are left"
        # Without a pid namespace, a process that left the command may stay alive, and write. It has no network, and can't get one.
        [[ $backend != landlock ]] || soon nothing_talks
        rm -f orders reply* transfer* ready
        expect_clean_after_the_next "$backend"
        rm -f orders reply* transfer* ready
    done
}
nothing_talks() { ! pgrep -u "$SBX_USER" -f talk.py >/dev/null; }
