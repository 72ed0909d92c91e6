#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Ways around the jail without namespaces, for a program whose author has read our code. Each test tries them outside first.

load helper
setup() {
    start_test
    JAIL=(--backend landlock)
    ATTACK=(python3 "$SBX_STAGE/tests/jail/attacks.py")
}
in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@" 2> >(grep -v "not held by this backend" >&2); }
teardown() { end_test; }

# expect_no_way PATTERN ATTACK...: inside, attacks.py prints "open" for none of its ways. Outside, ways that match PATTERN must be
# open; WAYS gets those.
expect_no_way() {
    local open=$1 way
    WAYS=()
    shift
    works "${ATTACK[@]}" "$@"
    grep -qE "^($open): open$" <<<"$output" || report "the control does not work"
    while read -r way; do
        [[ $way =~ ^($open):\ open$ ]] || continue
        WAYS+=("${way%: open}")
    done <<<"$output"
    works in_jail "${ATTACK[@]}" "$@"
    [[ $output != *": open"* ]] || leak "a way is open"
    for way in "${WAYS[@]}"; do
        [[ $output == *"$way: "* ]] || report "not tried: $way"
    done
}


start_outside() {
    sleep 1000 3>&- &
    OUTSIDE=$!
    CHILDREN+=("$OUTSIDE")
    wait_until grep -q sleep "/proc/$OUTSIDE/cmdline"
}

# ---- Sockets and the network -----------------------------------------------------------------------------------------

@test "no Unix socket of the host is reached by any spelling of its path" {
    mkdir "$HOME/service"
    start_listener "$HOME/service/its.sock"
    expect_no_way ".*" sockets "$HOME/service" its.sock
    ((${#WAYS[@]} >= 14)) || report "the control found less than it should"
}

@test "no datagram socket and no pair of them can be made" {
    local make='import socket, sys
getattr(socket, sys.argv[1])(socket.AF_UNIX, int(sys.argv[2]))'
    for type in 2 3; do
        for kind in socket socketpair; do
            works python3 -c "$make" "$kind" "$type"
            fails "Permission denied" in_jail python3 -c "$make" "$kind" "$type"
        done
    done
    works in_jail python3 -c "$make" socketpair 1
}

@test "filtered: no way around the gateway to a port of the host" {
    start_service
    expect_no_way "UDP|UDP over IPv6|listen without a name|IPv4|no address|IPv4 in IPv6|netlink of sockets|fast open option" network "$PORT"
    ((${#WAYS[@]} >= 7)) || report "the control found less than it should"
}

@test "a connection that was not handed over does not keep sending SYN to a free port" {
    start_service
    expect_no_way "asking" asking "$PORT"
}

@test "the stage can't be made to wait for ever: the end of the command and signals arrive" {
    run timeout -k 5 90 "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${ATTACK[@]}" patience
    ((status == 7)) || report "the end of the command did not arrive"
    start_jail 'trap "exit 5" TERM; python3 "$1" patience & sleep 1; touch ready; while :; do sleep 0.1; done' "${ATTACK[1]}"
    kill -TERM "$SUPERVISOR"
    wait_until eval '! kill -0 "$SUPERVISOR" 2>/dev/null'
    end_of_jail
    [[ $STATUS == 5 ]]
}

@test "POSIX queues of the caller's can't be opened, made or removed" {
    local queue=sbx-$SBX_TAG
    works "${ATTACK[@]}" make-queue "$queue"
    run in_jail "${ATTACK[@]}" queue "$queue"
    [[ $output != *": open"* ]] || leak "a queue of the host was touched"
    [[ $output == *"remove: "* ]] || report "did not try"
    works "${ATTACK[@]}" queue "$queue"
    [[ $output == *"open: open"*"make: open"*"remove: open"* ]] || report "the control does not work"
    works "${ATTACK[@]}" remove-queue "$queue-new"
}

# ---- Processes -------------------------------------------------------------------------------------------------------

@test "a process outside is not reached by any other call either" {
    start_outside
    run in_jail "${ATTACK[@]}" process "$OUTSIDE"
    [[ $output != *": open"* ]] || leak "a way is open"
    [[ $output == *"memory: "* ]] || report "did not try"
    kill -0 "$OUTSIDE"
    [[ $(ps -o stat= -p "$OUTSIDE") == S* ]]
    # The first way kills the process.
    run "${ATTACK[@]}" process "$OUTSIDE"
    [[ $output == *"signal through a descriptor: open"* ]] || report "the control does not work"
    start_outside
    works taskset -p 1 "$OUTSIDE"
    works ionice -c 3 -p "$OUTSIDE"
}

@test "none of the sandbox's own processes is reached" {
    start_jail 'touch ready; sleep 1000'
    local warden process
    warden=$(pgrep -P "$SUPERVISOR" -f inner-stage | head -n 1)
    for process in "$SUPERVISOR" $(pgrep -P "$SUPERVISOR") $(pgrep -P "$warden"); do
        run in_jail "${ATTACK[@]}" process "$process"
        [[ $output != *": open"* ]] || leak "a way is open to $process"
        [[ $output == *"memory: "* ]] || report "did not try with $process"
        for entry in environ maps mem; do fails "" in_jail cat "/proc/$process/$entry"; done
    done
    kill -0 "$SUPERVISOR" "$warden"
}

is_gone() { ! pgrep -u "$SBX_USER" -f "(sleep|remain) $1" >/dev/null; }
is_there() { ! is_gone "$1"; }

@test "orphaned, stopped and regrouped processes end with the session" {
    works in_jail_sh 'python3 "$1" remain 4110 "$2"; sleep 0.3' "${ATTACK[1]}" "$(ps -o pgid= -p $$)"
    wait_until is_gone 4110 || report "left: $(pgrep -u "$SBX_USER" -af '(sleep|remain) 4110')"
    "${ATTACK[@]}" remain 4111 "$(ps -o pgid= -p $$)" 3>&-
    wait_until is_there 4111
    mapfile -t -O "${#CHILDREN[@]}" CHILDREN < <(pgrep -u "$SBX_USER" -f "(sleep|remain) 4111")
}

@test "a signal that kills the session's process group ends every process" {
    rm -f ready
    setsid "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c \
        'setsid sleep 4120 & sleep 4120 & (sleep 4120 &); echo "$AGENT_SANDBOX_PLACE" >place; touch ready; wait' </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -e ready
    wait_until is_there 4120
    local supervisor
    supervisor=$(pgrep -u "$SBX_USER" -o -f -- "--backend landlock -- sh -c setsid sleep 4120")
    kill -KILL -- "-$(ps -o pgid= -p "$supervisor" | tr -d ' ')"
    if ! wait_until is_gone 4120; then
        mapfile -t -O "${#CHILDREN[@]}" CHILDREN < <(pgrep -u "$SBX_USER" -f "sleep 4120")
        report "processes are left"
    fi
    wait_until eval '[[ ! -e $(<place) ]]'
}

# ---- Files -----------------------------------------------------------------------------------------------------------

@test "no path of /proc, hard link or rename leads out" {
    mkdir "$HOME/other"
    echo secret >"$HOME/other/secret"
    echo '# mine' >"$HOME/.bashrc"
    works cat "/proc/self/cwd/../other/secret"
    fails "Permission denied" in_jail cat "/proc/self/cwd/../other/secret"
    works sh -c 'exec 3<"$HOME/other"; cat /dev/fd/3/secret'
    fails "" in_jail_sh 'exec 3<"$HOME/other"; cat /dev/fd/3/secret'
    # A readable file keeps its content.
    prints "# mine" in_jail cat "$HOME/.bashrc"
    works sh -c 'ln "$HOME/.bashrc" copy && rm copy'
    fails "" in_jail ln "$HOME/.bashrc" copy
    for act in 'mv "$HOME/.bashrc" .' 'mv "$HOME/project" "$HOME/elsewhere"' 'mv "$HOME/other" .' 'ln -s x "$HOME/new"' 'mkfifo "$HOME/new"' \
        'truncate -s 0 "$HOME/.bashrc"' 'rm -f "$HOME/.bashrc"' 'chmod 0777 "$HOME" "$HOME/.bashrc"' 'touch "$HOME/.bashrc"'; do
        fails "" in_jail_sh "$act"
    done
    prints "# mine" cat "$HOME/.bashrc"
    works sh -c 'mv "$HOME/.bashrc" . && mkfifo "$HOME/new" && mv "$HOME/other" .'
}

@test "no file lease can be taken on a readable file" {
    echo '# mine' >"$HOME/.bashrc"
    local lease='import fcntl, sys
file = open(sys.argv[1])
try:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
except OSError as error:
    sys.exit(f"lease: {error.strerror}")'
    works python3 -c "$lease" "$HOME/.bashrc"
    fails "lease: Operation not permitted" in_jail python3 -c "$lease" "$HOME/.bashrc"
}

@test "only its owner can read the session's directory, and its stubs and summary can't be changed" {
    works in_jail_sh 'stat -c %a "$AGENT_SANDBOX_PLACE" "$TMPDIR"'
    [[ ${lines[0]} == 700 && ${lines[1]} == 700 ]] || leak "others can look into it"
    works in_jail_sh 'test -s "$AGENT_SANDBOX_PLACE/summary" && test -L "$AGENT_SANDBOX_PLACE/stubs/sendmail"'
    for act in 'rm -f "$1/stubs/sendmail"' 'ln -sf /bin/true "$1/stubs/sendmail"' 'echo x >"$1/stubs/ls"' 'echo x >>"$1/summary"' 'mv "$1/tmp" "$1/aside"' \
        'chmod 0777 "$1"' 'chmod 0777 "$1/stubs"' 'touch "$1/new"' 'rmdir "$1/tmp"'; do
        fails "" in_jail sh -c 'set -- "$AGENT_SANDBOX_PLACE"; '"$act"
    done
}

@test "the command's temporary directory is removed with any content, and nothing outside it" {
    mkdir "$HOME/kept"
    touch "$HOME/kept/file"
    works in_jail_sh 'cd "$TMPDIR" && mkdir -p a/b && touch a/b/f && ln -s "$HOME/kept" link && mkfifo fifo && mkdir "$(printf "%0200d" 0)" &&
        chmod 0 a/b a . && echo "$AGENT_SANDBOX_PLACE"'
    [[ -n $output && ! -e $output ]] || report "the session's directory is left"
    [[ -e $HOME/kept/file ]]
}
