# SPDX-License-Identifier: MIT
# A project that is a clone, the server that it was cloned from, and what must not work there.

start_git_test() {
    start_test
    configure_git
    git config --global protocol.git.allow always
    git config --global gc.auto 0
    PLANTED=$HOME/planted
    make_origin
    git clone -q "$ORIGIN" "$PROJECT"
    JAIL=(--network open)
}

# A server on loopback with the repositories below ~/served; ORIGIN and LIBRARY are addresses there.
make_origin() {
    local port
    make_repository "$HOME/work"
    (cd "$HOME/work" && echo 1 >file && git add file && git commit -qm first && git branch other)
    git clone -q --bare "$HOME/work" "$HOME/served/app.git"
    git clone -q --bare "$HOME/work" "$HOME/served/library.git"
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    # Without git's own process in between, which would end alone.
    "$(git --exec-path)/git-daemon" --reuseaddr --export-all --enable=receive-pack --base-path="$HOME/served" --listen=127.0.0.1 --port="$port" \
        </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    ORIGIN=git://127.0.0.1:$port/app.git LIBRARY=git://127.0.0.1:$port/library.git
    wait_until git ls-remote "$ORIGIN" >/dev/null 2>&1
}

# The program that an attacker wants git to run.
make_trap() {
    printf '#!/bin/sh\ntouch "%s"\n' "$PLANTED" >"$HOME/trap"
    chmod +x "$HOME/trap"
}

# refuses KEY COMMAND...: inside, the command fails, and the record names the key, or the reason where the whole text is refused.
refuses() {
    local key=$1
    shift
    wait_until rm -rf "$HOME/.local/state/agent-sandbox/sessions" 2>/dev/null
    fails "Operation not permitted" in_jail "$@"
    prints "$key" sh -c '"$SBX_PROGRAM" log --json | python3 -c "import json, sys
for line in sys.stdin:
    event = json.loads(line)
    if event[\"kind\"] == \"git\" and event[\"verdict\"] == \"deny\": print(event.get(\"name\", event.get(\"reason\")))"'
}
