#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `agent-sandbox request`: the agent asks, the user decides outside. An approval opens what the user saw, and nothing that is
# protected can be asked for.

load helper

INSIDE=/run/agent-sandbox/agent-sandbox
SLEEP='touch ready; exec sleep 1000'

setup() {
    start_test
    OUT=$BATS_TEST_TMPDIR
    # Beside the project, and not shown.
    DATA=$HOME/data
    mkdir -p "$DATA" "$HOME/work"
    echo 1,2 >"$DATA/table"
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
# asks WORD...: `request` inside the running session.
asks() { sandbox exec -- "$INSIDE" request "$@" --because "the tests need it"; }
questions() { sandbox pending --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["pending"]))'; }
# of_question KEY: of the oldest one.
of_question() { sandbox pending --json | member pending 0 "$1"; }
settings() { cat "$HOME"/.config/agent-sandbox/conf.d/approved-*.toml; }
has_no_settings() { [[ ! -e $HOME/.config/agent-sandbox/conf.d ]] || report "should write nothing: $(settings)"; }
matches() { works /usr/bin/python3 "$SBX_STAGE/tests/jail/schema.py" "$SBX_STAGE/docs/schemas/$1.json" "${@:2:$#-2}" <"${!#}"; }
# The session is over; `in_jail` starts the next one.
stop() { sandbox stop --now "$(sandbox ps --json | member sessions 0 session)" >/dev/null; }

# bats test_tags=smoke
@test "an approved path can be read from the next session on, and no other" {
    local backend
    for backend in native bwrap; do
        rm -rf "$HOME/.config"
        JAIL=(--backend "$backend")
        fails "No such file" in_jail cat "$DATA/table"
        start_jail "$SLEEP"
        works asks path "$DATA/table"
        [[ $output == *"filed as question 100001"* ]] || report "should be filed"
        [[ $(of_question name) == "$DATA/table" && $(of_question because) == "the tests need it" ]]
        has_no_settings
        works sandbox approve 100001
        [[ $output == *"/conf.d/approved-"*".toml:7; "* ]] || report "should name the file and the line"
        sed -n 7p "$HOME"/.config/agent-sandbox/conf.d/approved-*.toml | grep -qF "$DATA/table"
        # The same request shows the answer, and this session is as before.
        works asks path "$DATA/table"
        [[ $output == *": allowed: "* ]] || report "should show the answer"
        fails "No such file" sandbox exec -- cat "$DATA/table"
        stop
        prints 1,2 in_jail cat "$DATA/table"
        echo other >"$DATA/other"
        fails "No such file" in_jail cat "$DATA/other"
        fails "" in_jail_sh 'echo x >"$1"' "$DATA/table"
        # Another project does not get it.
        cd "$HOME/work"
        fails "No such file" in_jail cat "$DATA/table"
        cd "$PROJECT"
    done
}

@test "--wait ends with the answer, and the agent receives the reason of a denial" {
    start_jail "$SLEEP"
    asks path "$DATA" --wait >"$OUT/answer" 2>&1 3>&- &
    local asker=$!
    is_asked() { [[ $(questions) == 1 ]]; }
    wait_until is_asked
    kill -0 "$asker"
    sandbox deny 100001 --reason "use the copy"
    status=0
    wait "$asker" || status=$?
    ((status == 1)) || report "should end with 1: $(<"$OUT/answer")"
    grep -qF "the user denied it: use the copy" "$OUT/answer"
    # It does not ask again.
    fails "use the copy" asks path "$DATA"
    [[ $(questions) == 0 ]]
    has_no_settings
}

@test "an approved variable is passed from the next session on; a protected one can't be asked for" {
    export PLAIN_NAME=value GITHUB_TOKEN=secret LD_PRELOAD_NOT=1
    start_jail "$SLEEP"
    works asks env PLAIN_NAME
    works sandbox approve 100001
    fails "refused" asks env GITHUB_TOKEN
    fails "refused" asks env LD_PRELOAD
    fails "refused" asks env AGENT_SANDBOX_PROJECT_READ_ONLY
    fails "not the name" asks env 'A=B'
    [[ $(questions) == 0 ]]
    stop
    fails "" in_jail printenv GITHUB_TOKEN
    prints value in_jail printenv PLAIN_NAME
}

@test "an approved host is open at once, and only its port" {
    JAIL=(--network proxied)
    start_jail "$SLEEP"
    fails "" sandbox exec -- "$INSIDE" why host unknown.example:8443
    works asks host unknown.example:8443
    [[ $(of_question name) == unknown.example && $(of_question port) == 8443 ]]
    works sandbox approve 100001
    works sandbox exec -- "$INSIDE" why host unknown.example:8443
    fails "" sandbox exec -- "$INSIDE" why host unknown.example:8444
    has_no_settings
    fails "without a pattern" asks host '*.example'
    fails "without a pattern" asks host @github
    fails "refused" asks host 169.254.169.254:80
    fails "refused" asks host unknown.example:25
    [[ $(questions) == 0 ]]
}

@test "nothing protected can be asked for, nor what a link leads to there" {
    mkdir -p "$HOME/.ssh" "$HOME/.config/gh" "$HOME/.config/agent-sandbox" "$HOME/.aws"
    echo key >"$HOME/.ssh/id"
    echo token >"$HOME/.config/gh/hosts.yml"
    echo KEY=1 >"$DATA/.env"
    echo KEY=1 >.env
    ln -s "$HOME/.ssh" link
    ln -s "$HOME/.ssh" "$HOME/work/link"
    start_jail "$SLEEP"
    local path
    for path in / /home "$HOME" "$HOME/.ssh" "$HOME/.ssh/id" "$HOME/.config" "$HOME/.config/gh" "$HOME/.config/gh/hosts.yml" \
        "$HOME/.config/agent-sandbox" "$HOME/.local/state/agent-sandbox" /proc/1/root /proc/self/fd /etc/shadow /run /dev/kvm /sys \
        "$PROJECT/.env" "$PROJECT/link/id" "$HOME/work/link" "$HOME/work/link/id" "$DATA/.env" "$HOME/.local" "$HOME/.local/state"; do
        fails "this path is protected" asks path "$path"
    done
    [[ $(questions) == 0 ]]
    # The control: a path without protection beside them.
    works asks path "$HOME/work"
}

@test "a link is resolved at the question, and the user sees what it leads to" {
    ln -s "$DATA" link
    start_jail "$SLEEP"
    works asks path "$PROJECT/link/table" || true
    ln -s "$DATA" "$HOME/work/link"
    works asks path "$HOME/work/link/table"
    [[ $(of_question name) == "$DATA/table" && $(of_question note) == *"asked for as $HOME/work/link/table"* ]]
    # What the link leads to afterwards does not matter.
    ln -sfn "$HOME/.ssh" "$HOME/work/link"
    works sandbox approve "$(of_question id)"
    settings | grep -qF "$DATA/table"
}

@test "a path that is exchanged between the question and the approval is not approved" {
    mkdir -p "$HOME/secret"
    start_jail "$SLEEP"
    works asks path "$DATA"
    mv "$DATA" "$HOME/aside"
    ln -s "$HOME/secret" "$DATA"
    fails "is not what it was" sandbox approve 100001
    rm "$DATA"
    mkdir "$DATA"
    fails "is not what it was" sandbox approve 100001
    has_no_settings
    # The control: the same directory, back at its place.
    rmdir "$DATA"
    mv "$HOME/aside" "$DATA"
    works sandbox approve 100001
}

@test "an approved path that a session of another project replaced by a link shows nothing, with a message" {
    local backend
    mkdir -p "$HOME/work/data" "$HOME/private"
    echo shared >"$HOME/work/data/file"
    echo private >"$HOME/private/file"
    start_jail "$SLEEP"
    works asks path "$HOME/work/data"
    works sandbox approve 100001
    stop
    prints shared in_jail cat "$HOME/work/data/file"
    # The other session may write there.
    (cd "$HOME/work" && in_jail_sh "mv data aside; ln -s $HOME/private data")
    [[ $(readlink "$HOME/work/data") == "$HOME/private" ]]
    for backend in native bwrap landlock; do
        JAIL=(--backend "$backend")
        run "$SBX_PROGRAM" --backend "$backend" -- cat "$HOME/work/data/file" "$HOME/private/file"
        ((status != 0)) || report "should fail with $backend"
        [[ $output != *$'\n'private* && $output == *"has no effect: the path does not exist any more"* ]] || report "with $backend"
    done
}

@test "a path that does not exist is asked about like any other, and can't be approved" {
    start_jail "$SLEEP"
    works asks path "$HOME/missing"
    local filed=${output/missing/table}
    [[ $(of_question note) == "it does not exist" ]]
    works asks path "$HOME/table"
    [[ ${output/100002/100001} == "$filed" ]] || report "should not tell what exists"
    fails "does not exist" sandbox approve 100001
    has_no_settings
}

@test "control characters of a question reach neither a terminal nor the settings" {
    start_jail "$SLEEP"
    fails "can't be shown" asks path "$DATA"$'/\e]0;x\a'
    fails "can't be shown" asks path "$DATA"$'/\xe2\x80\xaecod'
    works sandbox exec -- "$INSIDE" request path "$DATA" --because $'a"\e[2J\n\xe2\x80\xaeb\x01'
    works sandbox pending
    [[ $output != *[$'\e\x01']* && $output != *$'\xe2\x80\xae'* ]] || report "should be plain text"
    sandbox monitor --once | grep -qF "path $DATA"
    sandbox pending --json >"$OUT/json"
    matches pending "$OUT/json"
    sandbox inspect --json >"$OUT/json"
    matches inspect "$OUT/json"
    works sandbox approve 100001
    ! settings | grep -q because
    sandbox log --json >"$OUT/json"
    matches log --lines "$OUT/json"
}

@test "a flood of questions is bounded, and a request needs its number" {
    start_jail "$SLEEP"
    sandbox exec -- sh -c 'for i in $(seq 30); do "$0" request path "$1/$i" --because x; done' "$INSIDE" "$DATA" >"$OUT/flood" 2>&1 || true
    [[ $(questions) == 8 ]] || report "should keep 8: $(questions)"
    grep -q "8 questions wait for the user's answer already" "$OUT/flood"
    fails "needs its number" sandbox approve
    fails "needs its number" sandbox deny
    [[ $(questions) == 8 ]]
}

@test "a message of the jail that is damaged, or has other descriptors, is dropped" {
    start_jail "$SLEEP"
    works sandbox exec -- python3 -c '
import os, socket, struct
def send(content, descriptors):
    end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for name in ("notify", "mail"):
        try:
            end.connect("/run/agent-sandbox/" + name)
        except OSError:
            continue
        socket.send_fds(end, [content], descriptors)
        return
ask = b"\x01ask \x001\0/tmp/x\0why\0"
stream, other = socket.socketpair()
for content in (b"\x01ask ", b"\x01ask \x009\0\0\0", ask[:-1], b"\x01ask " + b"x" * 3000, ask):
    send(content, [])
    send(content, [os.open("/dev/null", os.O_RDWR)])
    send(content, [stream.fileno(), other.fileno()] * 20)
'
    works asks path "$DATA"
    [[ $(questions) == 1 ]] || report "should have filed one"
}

@test "a process of the jail can't answer its own question" {
    start_jail "$SLEEP"
    works asks path "$DATA"
    fails "outside of a jail" sandbox exec -- "$INSIDE" approve 100001
    [[ $(questions) == 1 ]]
    # The control.
    works sandbox approve 100001
}

@test "the user's hidden paths hold" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[mounts]\nhidden = ["%s"]\n' "$DATA" >"$HOME/.config/agent-sandbox/config.toml"
    start_jail "$SLEEP"
    fails "this path is protected" asks path "$DATA"
    fails "this path is protected" asks path "$DATA/table"
}

@test "a file of the user's own at the place of the approvals stays as it is" {
    start_jail "$SLEEP"
    works asks path "$DATA"
    works sandbox approve 100001
    local file
    file=$(echo "$HOME"/.config/agent-sandbox/conf.d/approved-*.toml)
    printf '\n[ui]\nquiet = true\n' >>"$file"
    cp "$file" "$OUT/before"
    works asks path "$HOME/work"
    fails "was not changed: it has ui.quiet" sandbox approve 100002
    cmp "$file" "$OUT/before"
}

@test "backends without namespaces say that they have no channel" {
    in_jail true 2>/dev/null
    JAIL=(--backend landlock)
    fails "this jail has no channel to its user" in_jail_sh '"$AGENT_SANDBOX_PLACE/agent-sandbox" request path /x --because y'
}

@test "a program answers questions of an agent" {
    start_jail "$SLEEP"
    "$SBX_PROGRAM" pending --follow --json >"$OUT/questions" 3>&- &
    CHILDREN+=("$!")
    works asks path "$DATA"
    wait_until test -s "$OUT/questions"
    matches question --lines "$OUT/questions"
    works sandbox approve "$(head -n 1 "$OUT/questions" | member id)" --session "$(head -n 1 "$OUT/questions" | member session)"
    works sandbox exec -- "$INSIDE" request path "$DATA" --because again --json
    [[ $(member state <<<"$output") == allowed ]]
}
