# SPDX-License-Identifier: MIT
# Shared by the tests of the network. Every claim has a control: the same user runs the same command outside first, where it must
# succeed; inside it is refused. Expectations (works, fails, prints, wait_until) are those of the jail tests.

if [[ -z ${INTERNET:-} ]]; then
    echo "start these tests with scripts/test-egress" >&2
    exit 1
fi
load ../jail/helper

# Each client finds the certificate authority of the tests by one of these.
TRUST=(
    CURL_CA_BUNDLE="$SBX_HOME/project/authority.crt" SSL_CERT_FILE="$SBX_HOME/project/authority.crt"
    NODE_EXTRA_CA_CERTS="$SBX_HOME/project/authority.crt" GIT_SSL_CAINFO="$SBX_HOME/project/authority.crt"
    FETCH_GO="$SBX_STAGE/bin/fetch-go" FETCH_JAVA="$SBX_STAGE/bin" PYTHONDONTWRITEBYTECODE=1
)

start_egress_test() {
    PROJECT=$SBX_HOME/project
    wait_until is_home_emptied 2>/dev/null
    install -d -o "$SBX_USER" "$PROJECT"
    cd "$PROJECT" || return
    install -m 0644 "$INTERNET/ca.pem" authority.crt
    install -m 0600 "$INTERNET/keys/user_key" login
    cp "$SBX_STAGE"/tests/egress/clients/* .
    chown -R "$SBX_USER" .
    JAIL=()
    CHILDREN=()
}

end_egress_test() {
    local process
    for process in "${CHILDREN[@]}"; do
        kill -KILL "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    cd /
}

is_home_emptied() {
    find "$SBX_HOME" -mindepth 1 -delete || true
    [[ -z $(ls -A "$SBX_HOME") ]]
}

# For the background, use the list itself: then $! is the program, without a shell in between.
AS_USER=(
    setpriv --reuid="$SBX_USER" --regid="$SBX_USER" --init-groups env -i HOME="$SBX_HOME" USER="$SBX_USER" LOGNAME="$SBX_USER"
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C TERM=xterm
)
as_user() { "${AS_USER[@]}" "$@"; }
as_neighbour() { setpriv --reuid="$SBX_NEIGHBOUR" --regid="$SBX_NEIGHBOUR" --init-groups env -i PATH="$PATH" LC_ALL=C "$@"; }
in_world() { nsenter --net=/run/netns/world -- "$@"; }

outside() { as_user "${TRUST[@]}" "$@"; }
outside_sh() { outside bash -c "$1" sh "${@:2}"; }
in_jail() { as_user "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- env "${TRUST[@]}" "$@"; }
in_jail_sh() { in_jail bash -c "$1" sh "${@:2}"; }

# filtered: everything except evil.example. proxied: only the names that tests use.
filtered() { JAIL=(--network filtered --block-host evil.example --block-host "*.leak.example" "$@"); }
proxied() {
    local name
    JAIL=(--network proxied "$@")
    for name in good also git ssh db npm apt echo v4only v6only; do JAIL+=(--allow-host "$name.example"); done
}

user_says() {
    install -d -o "$SBX_USER" "$SBX_HOME/.config" "$SBX_HOME/.config/agent-sandbox"
    printf '%s\n' "$@" >"$SBX_HOME/.config/agent-sandbox/config.toml"
    chown "$SBX_USER" "$SBX_HOME/.config/agent-sandbox/config.toml"
}

# ---- Expectations ------------------------------------------------------------------------------------------------------

# says TEXT COMMAND...: the command works, and its output contains TEXT.
says() {
    local text=$1
    shift
    works "$@"
    [[ $output == *"$text"* ]] || report "should print '$text': $*"
}

# A refusal proves nothing if no connection works at all.
is_connected() { says "good.example here" in_jail curl -sS --max-time 30 http://good.example/; }

# only_outside TEXT COMMAND...: prints TEXT outside; inside it fails and its output does not contain TEXT.
only_outside() {
    local text=$1
    shift
    says "$text" outside "$@"
    run in_jail "$@"
    ((status != 0)) || leak "should fail inside: $*"
    [[ $output != *"$text"* ]] || leak "should not get through: $*"
}

# everywhere TEXT COMMAND...: the same outside and inside.
everywhere() {
    says "$1" outside "${@:2}"
    says "$1" in_jail "${@:2}"
}

# The servers' logs: log_mark sets a mark; unseen NAME TEXT and seen NAME TEXT look at the lines since then.
log_mark() {
    local name
    declare -gA MARKS=()
    for name in web values dns tricks world proxy; do MARKS[$name]=$(wc -c <"$INTERNET/log/$name"); done
}
since_mark() { tail -c "+$((MARKS[$1] + 1))" "$INTERNET/log/$1"; }
seen() { since_mark "$1" | grep -aqF -- "$2" || { echo "not in the log '$1': $2" >&2; since_mark "$1" | tail -n 5 >&2; return 1; }; }
unseen() { ! seen "$1" "$2" 2>/dev/null || { echo "LEAK: in the log '$1': $2" >&2; return 1; }; }

# ---- A jail that runs orders -------------------------------------------------------------------------------------------

# Starts a jail that runs the lines that tell_jail sends. SUPERVISOR is its process, GATEWAY the gateway's.
start_obedient_jail() {
    rm -f orders reply ready
    as_user mkfifo orders
    "${AS_USER[@]}" "$SBX_PROGRAM" "${JAIL[@]}" -- env "${TRUST[@]}" bash -c '
        exec 9<>orders
        touch ready
        while read -r -u 9 line; do
            bash -c "$line" >reply.out 2>&1 9>&-
            echo $? >reply.new && mv reply.new reply
        done' </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&- &
    SUPERVISOR=$!
    CHILDREN+=("$SUPERVISOR")
    wait_until test -e ready || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    GATEWAY=$(gateway_of "$SUPERVISOR")
    [[ -n $GATEWAY ]] || { echo "no gateway found below $SUPERVISOR" >&2; return 1; }
}

# tell_jail LINE: `output` gets its output, `status` its exit status.
tell_jail() {
    rm -f reply
    printf '%s\n' "$1" >orders
    local deadline=$((SECONDS + ${TELL_SECONDS:-120}))
    until [[ -e reply ]]; do
        ((SECONDS < deadline)) || { echo "no end of: $1" >&2; return 1; }
        sleep 0.01
    done
    output=$(<reply.out)
    status=$(<reply)
}

# The gateway below the supervisor, by the name that it gives itself.
gateway_of() {
    local process
    for process in $(descendants "$1"); do
        [[ $(cat "/proc/$process/comm" 2>/dev/null) != asb-gateway ]] || echo "$process"
    done
}
descendants() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        descendants "$child"
    done
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }
memory_of() { awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup"; }
descriptors_of() { ls "/proc/$1/fd" | wc -l; }
