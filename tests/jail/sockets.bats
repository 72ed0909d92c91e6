#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A read-only bind of a Unix socket can still be connected to: only absence closes it. Real listeners, really reachable outside.

load helper
setup() { start_test; }
teardown() {
    rm -rf "/tmp/agent-sandbox-test.$SBX_TAG.sock"
    end_test
}

greets() { prints "hello from outside" "${CONNECT[@]}" "$1"; }

unreachable() {
    greets "$1"
    fails "No such file or directory" in_jail "${CONNECT[@]}" "$1"
}

# bats test_tags=smoke
@test "a service's socket below /run is absent" {
    unreachable "/run/agent-sandbox-test.$SBX_TAG/service.sock"
}

@test "a socket in /tmp is absent" {
    start_listener "/tmp/agent-sandbox-test.$SBX_TAG.sock"
    unreachable "/tmp/agent-sandbox-test.$SBX_TAG.sock"
}

@test "a socket in the home directory is absent" {
    start_listener "$HOME/agent.sock"
    unreachable "$HOME/agent.sock"
}

@test "an abstract socket is out of reach" {
    start_listener "@agent-sandbox-test.$SBX_TAG"
    greets "@agent-sandbox-test.$SBX_TAG"
    fails "Connection refused" in_jail "${CONNECT[@]}" "@agent-sandbox-test.$SBX_TAG"
}

@test "--socket lets one in, and no other" {
    start_listener "$HOME/one.sock"
    start_listener "$HOME/two.sock"
    JAIL=(--socket "$HOME/one.sock")
    prints "hello from outside" in_jail "${CONNECT[@]}" "$HOME/one.sock"
    unreachable "$HOME/two.sock"
}

@test "--socket of something that is no socket is refused" {
    echo x >"$HOME/file"
    JAIL=(--socket "$HOME/file")
    refused 125 "file" in_jail true
}

@test "--socket does not let in what acts outside the jail" {
    mkdir -p "$HOME/.docker/run"
    start_listener "$HOME/.docker/run/docker.sock"
    greets "$HOME/.docker/run/docker.sock"
    JAIL=(--socket "$HOME/.docker/run/docker.sock")
    refused 125 "docker.sock" in_jail true
    JAIL=(--dangerous-socket "$HOME/.docker/run/docker.sock")
    works in_jail "${CONNECT[@]}" "$HOME/.docker/run/docker.sock"
    [[ $output == *"acts outside the jail"*"hello from outside" ]] || report "should warn, and let it in"
}

# Read-only says nothing about connecting.
@test "--ro and --rw let no socket in" {
    local way
    mkdir -p "$HOME/box"
    start_listener "$HOME/box/docker.sock"
    start_listener "$HOME/box/mine.sock"
    greets "$HOME/box/docker.sock"
    for way in --ro --rw; do
        JAIL=("$way" "$HOME/box/docker.sock")
        refused 125 "--dangerous-socket" in_jail true
        JAIL=("$way" "$HOME/box/mine.sock")
        refused 125 "--socket" in_jail true
        JAIL=("$way" "$HOME/box")
        # Another one in the directory is part of what was shown: the control.
        prints "hello from outside" in_jail "${CONNECT[@]}" "$HOME/box/mine.sock"
        run in_jail "${CONNECT[@]}" "$HOME/box/docker.sock"
        [[ $output != *"hello from outside"* ]] || report "$way of its directory lets docker.sock in"
    done
}
