#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Hosts and containers where user namespaces, or calls that build a jail, are disabled: the next backend gives the same promises and
# the user gets a message; or the program refuses, and nothing runs. They are disabled only for the tests' own processes, in the
# ways of closed_namespaces.py.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

closed() { AROUND=(python3 "$SBX_STAGE/tests/admin/closed_namespaces.py" "$1"); }
without_firejail() { admin_says '[isolation]' 'firejail = "/usr/lib/no-such-firejail"'; }

# A bubblewrap that does not need a user namespace.
with_setuid_bwrap() {
    install -m 4755 /usr/bin/bwrap "$STAGE/setuid-bwrap"
    admin_says '[isolation]' "bwrap = \"$STAGE/setuid-bwrap\""
}

# takes BACKEND REASON: a command runs with it, and one line gives the reason why it is not the best backend.
takes() {
    run --separate-stderr in_jail sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
    ((status == 0)) || { output+=$stderr; report "should run"; }
    [[ $output == "$1" ]] || report "should be built by $1"
    [[ $stderr == "agent-sandbox: "*"$2"*"builds the jail instead"* ]] || { output=$stderr; report "should say '$2'"; }
    (($(grep -c "builds the jail instead" <<<"$stderr") == 1)) || { output=$stderr; report "should say it once"; }
}

holds() {
    run on_stage "$SBX_PROGRAM" selftest "$@"
    ((status == 0)) || { output=$(grep -E "ESCAPED|ERROR|agent-sandbox:" <<<"$output"); report "did not hold: $*"; }
}

@test "control: bubblewrap works here, and fails where namespaces are closed" {
    works on_stage bwrap --ro-bind / / true
    closed limit
    fails "ENOSPC" on_stage bwrap --ro-bind / / true
    prints 0 on_stage cat /proc/sys/user/max_user_namespaces
    closed refuse
    fails "No permissions" on_stage bwrap --ro-bind / / true
    prints 0 on_stage "$SBX_STAGE/bin/setuid-id" -u
    closed nothing
    fails "No permissions" on_stage bwrap --ro-bind / / true
    prints "$(id -u "$SBX_USER")" on_stage "$SBX_STAGE/bin/setuid-id" -u
}

# A hardened service: namespaces can be made, and what sets them up is refused. Both backends that need it are passed over.
@test "the next backend is taken where a service may not set up namespaces" {
    local way
    # The filter is around the program alone: root's preparation of the test mounts.
    in_service() { on_stage python3 "$SBX_STAGE/tests/admin/closed_namespaces.py" "$way" "$@"; }
    in_jail() { in_service "$SBX_PROGRAM" --quiet -- "$@"; }
    without_firejail
    works on_stage unshare --user --map-root-user --mount --net ip link set lo up
    for way in routes mounts; do
        fails "" in_service unshare --user --map-root-user --mount --net ip link set lo up
        takes landlock "can't"
        works in_service "$SBX_PROGRAM" selftest --backend landlock files
    done
}

# A service that permits new privileges: firejail gets its power, and the filter refuses what it does with it.
@test "Landlock builds the jail where a filter around a service refuses what firejail needs" {
    local way
    in_service() {
        unshare --mount --propagation private sh -c 'stage=$1 && eval "$2" && cd "$3" && shift 3 && exec "$@"' sh "$STAGE" "$ETC" "$PROJECT" \
            python3 "$SBX_STAGE/tests/admin/closed_namespaces.py" "$way" runuser -u "$SBX_USER" -- env HOME="$SBX_HOME" USER="$SBX_USER" "$@"
    }
    in_jail() { in_service "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }
    for way in service families; do
        JAIL=(--backend firejail)
        prints 0 in_service "$SBX_STAGE/bin/setuid-id" -u
        refused 125 "the jail could not be built" in_jail touch ran
        JAIL=()
        takes landlock "firejail can't build a jail here: "
        works in_service "$SBX_PROGRAM" selftest files/key-by-path
        works in_service "$SBX_PROGRAM" doctor
        [[ $output =~ firejail\ +not\ here:\ firejail\ can && $output =~ landlock\ +taken ]] || report "doctor says otherwise"
    done
    [[ ! -e $PROJECT/ran ]]
    # The control: without the filter firejail works.
    JAIL=(--backend firejail)
    prints firejail on_stage "$SBX_PROGRAM" --quiet --backend firejail -- sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
}

# Only agent-sandbox needs this call, bubblewrap does not: the jail is the same, and --verbose and doctor print the reason.
@test "bubblewrap builds the same jail where only a system call is missing" {
    closed call
    prints bwrap in_jail sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
    run --separate-stderr on_stage "$SBX_PROGRAM" --verbose -- true
    [[ $status == 0 && $stderr == *"has no open_tree"*": bubblewrap builds the jail instead"* ]] || { output=$stderr; report "not told"; }
    [[ $stderr != *weaker* ]] || { output=$stderr; report "it is not weaker"; }
    works on_stage "$SBX_PROGRAM" doctor
    [[ $output =~ bwrap\ +taken && $output == *"A jail can be built here, by bubblewrap."* ]] || report "doctor says otherwise"
    JAIL=(--backend native)
    refused 125 "has no open_tree" in_jail touch ran
    refused 125 "has no open_tree" on_stage "$SBX_PROGRAM" selftest --backend native files
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

# Without privileges the program can't find out beforehand whether it may move a mount.
@test "bubblewrap builds the jail after a failure that only the launch finds" {
    closed moves
    JAIL=(--backend native)
    refused 125 "" in_jail touch ran
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
    JAIL=()
    prints bwrap in_jail sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
    run --separate-stderr on_stage "$SBX_PROGRAM" --verbose -- true
    [[ $status == 0 && $stderr == *"the kernel answers: Operation not permitted: bubblewrap builds the jail instead"* ]] ||
        { output=$stderr; report "not told"; }
    works on_stage "$SBX_PROGRAM" doctor
    [[ $output =~ bwrap\ +taken ]] || report "doctor says otherwise"
}

@test "firejail builds the jail without user namespaces, a message reports it, and no attack escapes" {
    closed refuse
    takes firejail "the kernel answers: Operation not permitted"
    holds --backend firejail --in-home
}

@test "Landlock builds the jail without firejail, a message reports it, and no attack escapes" {
    without_firejail
    closed refuse
    takes landlock "the kernel answers: Operation not permitted"
    closed limit
    takes landlock "user.max_user_namespaces is 0"
    holds --backend landlock --in-home
}

# Set-user-ID programs exist, and can't do their work.
@test "Landlock also builds the jail where firejail can't" {
    closed nothing
    takes landlock "the kernel answers: Operation not permitted"
    holds --backend landlock --in-home
    refused 125 no_new_privs on_stage "$SBX_PROGRAM" --quiet --backend firejail -- touch ran
    closed limit
    takes landlock "user.max_user_namespaces is 0"
    refused 125 "user namespace" on_stage "$SBX_PROGRAM" --quiet --backend firejail -- touch ran
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

@test "a backend that was asked for is not replaced, and nothing runs" {
    JAIL=(--backend bwrap)
    closed limit
    refused 125 "user.max_user_namespaces is 0" in_jail touch ran
    closed refuse
    refused 125 "refuses user namespaces" in_jail touch ran
    JAIL=(--backend native)
    closed limit
    refused 125 "user.max_user_namespaces is 0" in_jail touch ran
    closed refuse
    refused 125 "a filter around this process refuses it" in_jail touch ran
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
    AROUND=()
    works in_jail touch ran
}

@test "a level that the next backend does not reach ends the launch" {
    without_firejail
    closed limit
    JAIL=(--require denied)
    run --separate-stderr in_jail touch ran
    ((status == 125)) || report "should be refused"
    [[ $stderr == *"would reach only absent"*"denied is required"* ]] || { output=$stderr; report "should say why"; }
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
    rm "$ADMIN/config.toml"
    closed refuse
    works in_jail touch ran
}

@test "doctor names the cause, the backend in use, and the narrowest remedy first" {
    closed limit
    works on_stage "$SBX_PROGRAM" doctor
    [[ $output == *"user.max_user_namespaces is 0"* ]] || report "no cause"
    [[ $output == *"A jail can be built here, by "*"weaker than one by agent-sandbox itself"* ]] || report "no outlook"
    [[ $output == *"1. Make bubblewrap set-user-ID root for a group"*"2. Open user namespaces to everyone"* ]] || report "another order"
    # firejail is installed, and can't do its work.
    [[ $output == *"root of a user namespace can't make devices"* && $output != *"Install firejail"* ]] || report "no help"
    closed refuse
    works on_stage "$SBX_PROGRAM" doctor
    [[ $output == *"the kernel answers: Operation not permitted"*"firejail  taken"* ]] || report "no cause"
    on_stage "$SBX_PROGRAM" doctor --json >"$STAGE/report"
    works python3 -m json.tool <"$STAGE/report"
    AROUND=()
    works on_stage "$SBX_PROGRAM" doctor
    [[ $output == *"A jail can be built here, by agent-sandbox itself."* ]] || report "should need nothing"
}

@test "a set-user-ID bubblewrap works without user namespaces, and no other program gets its privileges" {
    with_setuid_bwrap
    closed limit
    local secret=/srv/agent-sandbox-test.$SBX_TAG/secret mode
    works on_stage cat "$secret"
    for mode in open isolated; do
        JAIL=(--network "$mode")
        works in_jail sh -c 'echo "$AGENT_SANDBOX_BACKEND $AGENT_SANDBOX_NETWORK $(id -u)"'
        [[ ${output##*$'\n'} == "bwrap $mode $(id -u "$SBX_USER")" ]] || report "another jail"
        [[ $mode == isolated || $output == *"abstract Unix sockets"* ]] || report "does not say what it can't keep"
        fails "No such file" in_jail cat "$secret"
        fails "No such file" in_jail cat "$SBX_NEIGHBOUR_HOME/secret"
        works in_jail grep -c $'^Cap.*\t0000000000000000$' /proc/self/status
        [[ ${output##*$'\n'} == 5 ]] || leak "has capabilities"
    done
    # Under an administrator's file HOME is the account's home directory, and the self-test would have to write there.
    rm -r "$ADMIN"
    PREPARE="mount --bind '$STAGE/setuid-bwrap' /usr/bin/bwrap"
    holds files environment processes ipc terminal system-calls persistence network
}

@test "with a set-user-ID bubblewrap, a network mode that is not available becomes a stricter one, or ends the launch" {
    with_setuid_bwrap
    closed limit
    run --separate-stderr on_stage "$SBX_PROGRAM" --network filtered -- sh -c 'echo "$AGENT_SANDBOX_NETWORK"'
    [[ $status == 0 && $output == isolated ]] || { output+=$stderr; report "should be isolated"; }
    [[ $stderr == *"network filtered can't be had with this backend: it is isolated"* ]] || { output=$stderr; report "not told"; }
    refused 125 "network.fallback permits no other" \
        on_stage env AGENT_SANDBOX_NETWORK_FALLBACK=strict "$SBX_PROGRAM" --quiet --network filtered -- touch ran
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
    works on_stage "$SBX_PROGRAM" doctor
    [[ $output =~ bwrap\ +taken\ +network:\ open,\ isolated ]] || report "doctor says otherwise"
}
