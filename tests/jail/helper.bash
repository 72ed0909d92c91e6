# SPDX-License-Identifier: MIT
# Shared by the jail tests. Every claim has a control: the test does the forbidden act outside first, where it must succeed. So a
# test can't pass because the act was impossible anyway.

bats_require_minimum_version 1.5.0

if [[ -z ${SBX_PROGRAM:-} ]]; then
    echo "start these tests with scripts/test-jail: they empty the home directory of their user" >&2
    exit 1
fi

# A project in an otherwise empty home directory; JAIL holds the options for in_jail.
start_test() {
    [[ $(id -un) == "$SBX_USER" ]]
    empty_home
    PROJECT=$HOME/project
    mkdir "$PROJECT"
    cd "$PROJECT" || return
    JAIL=()
    CHILDREN=()
}

end_test() {
    local process
    for process in "${CHILDREN[@]}"; do
        kill -KILL "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    cd / && empty_home
}

# Several attempts: the keeper of a killed session may remove its files at the same moment.
empty_home() {
    wait_until is_emptied 2>/dev/null
}
is_emptied() {
    # The working directory of an overlay has no permissions while a session uses it.
    chmod -R u+rwX "$HOME/.local" 2>/dev/null || true
    find "$HOME" -mindepth 1 -delete || true
    [[ -z $(ls -A "$HOME") ]]
}

# The home directory without the program's own state: a cache of /etc and the record of placeholders.
home_listing() { find "$HOME" -path "$HOME/.local" -prune -o -path "$PROJECT/ready" -prune -o -print | sort; }

in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }

# in_jail_sh SCRIPT [ARGUMENT...]
in_jail_sh() {
    local script=$1
    shift
    in_jail sh -c "$script" sh "$@"
}

# The loader of the machine's own programs, from /bin/true: with 32-bit or x32 libraries installed there are several loaders.
native_loader() { LC_ALL=C readelf -lW /bin/true | sed -n 's/.*program interpreter: \(.*\)]/\1/p'; }

# A library of the machine's own programs that many others load: libm beside the C library of /bin/true.
native_libm() {
    local libc
    libc=$(LC_ALL=C ldd /bin/true | sed -n 's,.*libc\.so\.6 => \(/[^ ]*\).*,\1,p')
    echo "${libc%/*}/libm.so.6"
}

# ---- Expectations ----------------------------------------------------------------------------------------------------

report() {
    printf '%s\nstatus: %s\noutput: %s\n' "$1" "$status" "$output" >&2
    return 1
}

# leak PROBLEM: a report of a broken promise of the jail. A run of the test that prints it is red, whatever a repetition shows.
leak() { report "LEAK: $1"; }

works() {
    run "$@"
    ((status == 0)) || report "should work: $*"
}

# fails REASON COMMAND...: the message must contain the reason, so that the command does not fail for another reason. A command that
# works in the jail, and should not, is a leak.
fails() {
    local reason=$1
    shift
    run "$@"
    case $1 in
        in_jail | in_jail_sh | inside | jailed) ((status != 0)) || leak "should fail: $*" ;;
        *) ((status != 0)) || report "should fail: $*" ;;
    esac
    [[ $output == *"$reason"* ]] || report "should fail with '$reason': $*"
}

prints() {
    local text=$1
    shift
    works "$@"
    [[ $output == "$text" ]] || report "should print '$text': $*"
}

# refused CODE TEXT COMMAND...: one line on stderr that starts with our name, this exit code, nothing on stdout.
refused() {
    local code=$1 text=$2
    shift 2
    run "-$code" --separate-stderr "$@" || { output+=$stderr; report "should end with $code: $*"; }
    [[ -z $output ]] || report "should print nothing: $*"
    [[ $stderr == "agent-sandbox: "*"$text"* ]] || { output=$stderr; report "should say '$text': $*"; }
    ((${#stderr_lines[@]} == 1)) || { output=$stderr; report "should say it in one line: $*"; }
}

# ---- Claims about one path, each with its control --------------------------------------------------------------------

expect_hidden() {
    works cat "$1"
    fails "No such file or directory" in_jail cat "$1"
}

expect_hidden_directory() {
    works test -d "$1"
    fails "No such file or directory" in_jail ls -d "$1"
}

# The name may exist; the content must not be readable.
expect_unreadable() {
    works grep -q . "$1"
    run in_jail cat "$1"
    [[ $output != *"$(cat "$1")"* ]] || leak "should not be readable: $1"
}

expect_readable() { prints "$(cat "$1")" in_jail cat "$1"; }

# The same append works outside, and has no effect from inside.
expect_unwritable() {
    works sh -c 'printf outside >>"$1"' sh "$1"
    run in_jail_sh 'printf inside >>"$1"' "$1"
    ((status != 0)) || leak "should not be writable: $1"
    ! grep -q inside "$1" || leak "was written: $1"
}

expect_writable() {
    works in_jail_sh 'printf inside >>"$1"' "$1"
    grep -q inside "$1" || report "was not written on the host: $1"
}

# ---- Random input ----------------------------------------------------------------------------------------------------

# The runners print SBX_SEED. A run with the same seed gets the same bytes.
random_bytes() { # COUNT
    python3 -c 'import random, sys; random.seed(int(sys.argv[1])); sys.stdout.buffer.write(random.randbytes(int(sys.argv[2])))' "$SBX_SEED" "$1"
}

# sampled N ITEM...: every N-th item, at least one, one a line. The seed, the test and the items decide where it begins, so that runs with
# different seeds try different cases. With SBX_WHOLE=1 all of them, with SBX_WHOLE=faults all in the files about faults.
sampled() {
    local every=$1 number start
    shift
    ((every <= $#)) || every=$#
    case ${SBX_WHOLE:-}:$BATS_TEST_FILENAME in
        1:* | faults:*faults.bats) every=1 ;;
    esac
    start=$(cksum <<<"$SBX_SEED $BATS_TEST_NAME $*")
    for ((number = 1 + ${start%% *} % every; number <= $#; number += every)); do printf '%s\n' "${!number}"; done
}

# ---- Background processes --------------------------------------------------------------------------------------------

# Long, because a shared machine can pause for seconds. Only a failing test waits so long.
wait_until() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.01
    done
}

# A shell starts its background processes with INT and QUIT ignored, nohup with HUP. Every child inherits an ignored signal.
ATTENTIVE=(env --default-signal=HUP,INT,QUIT)

# Starts a jail whose script creates the file `ready` in the project when it runs; SUPERVISOR is its process.
start_jail() {
    local script=$1
    shift
    rm -f "$PROJECT/ready"
    "${ATTENTIVE[@]}" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c "$script" sh "$@" \
        </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&- &
    SUPERVISOR=$!
    CHILDREN+=("$SUPERVISOR")
    wait_until test -e "$PROJECT/ready" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}

# Waits for the jail of start_jail; STATUS gets its exit status.
end_of_jail() {
    STATUS=0
    wait "$SUPERVISOR" || STATUS=$?
}

# A Unix socket that greets, at this path, or at an abstract name that starts with @.
start_listener() {
    python3 "$SBX_STAGE/tests/jail/listen.py" "$1" </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until "${CONNECT[@]}" "$1" >/dev/null 2>&1
}

# A service on the host's loopback that greets; PORT is its port.
start_service() {
    python3 "$SBX_STAGE/tests/jail/listen.py" tcp </dev/null >"$BATS_TEST_TMPDIR/port" 2>/dev/null 3>&- &
    CHILDREN+=($!)
    wait_until test -s "$BATS_TEST_TMPDIR/port"
    PORT=$(<"$BATS_TEST_TMPDIR/port")
}

CONNECT=(python3 "$SBX_STAGE/tests/jail/connect.py")
BIND=(python3 "$SBX_STAGE/tests/jail/bind.py")
CALL=(python3 "$SBX_STAGE/tests/jail/call.py")
ASK=(python3 "$SBX_STAGE/tests/jail/ask.py")

# member KEY...: prints a member of the JSON on standard input.
member() {
    python3 -c 'import functools, json, sys
print(functools.reduce(lambda value, key: value[int(key) if isinstance(value, list) else key], sys.argv[1:], json.load(sys.stdin)))' "$@"
}

# The caller's git: an identity, and no advice.
configure_git() {
    git config --global user.name Tester
    git config --global user.email tester@example.org
    git config --global init.defaultBranch main
    git config --global advice.detachedHead false
}

# Commits without asking for the caller's identity.
make_repository() {
    git init -q -b main "$1"
    git -C "$1" config user.name Tester
    git -C "$1" config user.email tester@example.org
}
