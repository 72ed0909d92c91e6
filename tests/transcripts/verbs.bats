#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The command line as users see it: the output of each verb, its stream, and its exit code.

load ../jail/helper
setup() { start_test; }
teardown() { end_test; }

agent_sandbox() { "$SBX_PROGRAM" "$@"; }

says() {
    local text=$1
    shift
    works "$@"
    [[ $output == *"$text"* ]] || report "should say '$text': $*"
}

# bats test_tags=smoke
@test "without arguments: the overview, and what to try" {
    says "$(basename "$PROJECT") (writable)" agent_sandbox
    [[ $output == *"agent-sandbox plan"* ]] || report "nothing to try"
}

@test "help and version go to standard output and work without a home directory" {
    says "agent-sandbox" env -u HOME "$SBX_PROGRAM" --help
    says "agent-sandbox 0." env -u HOME "$SBX_PROGRAM" --version
    says "config" agent_sandbox help config
}

@test "help names every option of the table" {
    works agent_sandbox --help
    for option in --project --preset --dry-run --read-only --home --ro --rw --hide --socket --env --network --require --quiet; do
        [[ $output == *"$option"* ]] || report "$option is missing"
    done
}

@test "an unknown verb is a command" {
    refused 127 "pln" agent_sandbox pln
}

# The line depends on the name, so a script with the name of a browser, which makes a namespace as the browser does, is enough.
@test "a start of chromium or podman prints one line that names the option, and the option works" {
    mkdir bin
    printf '#!/bin/sh\ncase $* in *--no-sandbox*) ;; *) unshare --user true || exit ;; esac\necho page\n' >bin/chromium
    cp bin/chromium bin/podman
    chmod +x bin/*
    prints page bin/chromium
    run --separate-stderr agent_sandbox bin/chromium
    ((status == 1)) && [[ $output != *page* && $stderr == *"agent-sandbox: chromium makes a sandbox of its own"*"add --no-sandbox to chromium"* ]] || report "$stderr"
    run --separate-stderr agent_sandbox bin/chromium --no-sandbox
    [[ $output == page && -z $stderr ]] || report "$stderr"
    run --separate-stderr env AGENT_SANDBOX_ISOLATION_ALLOW_NESTED_NAMESPACES=true "$SBX_PROGRAM" bin/chromium
    [[ $output == page && $stderr != *"sandbox of its own"* ]] || report "$stderr"
    run --separate-stderr agent_sandbox bin/podman run image
    [[ $stderr == *"agent-sandbox: podman can't make containers in the jail"*"--dangerous-socket"* ]] || report "$stderr"
    run --separate-stderr agent_sandbox --quiet bin/podman run image
    [[ $stderr != *"agent-sandbox: podman"* ]] || report "$stderr"
}

@test "-- makes a verb's name a command" {
    refused 127 "plan" agent_sandbox -- plan
}

@test "plan is the jail as data and runs nothing" {
    says "$PROJECT" agent_sandbox plan touch ran
    says "$PROJECT" agent_sandbox --dry-run touch ran
    fails "" test -e ran
}

@test "plan --json is valid, and the same twice" {
    # The first call creates the state directory, and some names around it are hidden then.
    agent_sandbox plan -- true >/dev/null
    agent_sandbox plan --json -- true >"$BATS_TEST_TMPDIR/one"
    agent_sandbox plan --json -- true >"$BATS_TEST_TMPDIR/two"
    works member files mounts 0 <"$BATS_TEST_TMPDIR/one"
    works diff <(grep -v SESSION "$BATS_TEST_TMPDIR/one") <(grep -v SESSION "$BATS_TEST_TMPDIR/two")
}

@test "plan makes nothing on the host" {
    local before
    before=$(home_listing)
    works agent_sandbox plan
    [[ $(home_listing) == "$before" ]]
}

# The answer of `why` and the behaviour of the kernel must agree.
@test "why agrees with the jail" {
    git init -q .
    mkdir -p "$HOME/.ssh"
    echo secret >"$HOME/.ssh/id_ed25519"
    echo text >file
    fails hidden agent_sandbox why path "$HOME/.ssh/id_ed25519"
    fails "No such file" in_jail cat "$HOME/.ssh/id_ed25519"
    says writable agent_sandbox why path file --write
    works in_jail_sh 'echo x >>file'
    fails "" agent_sandbox why path .git/hooks --write
    fails "Read-only file system" in_jail touch .git/hooks/x
    works agent_sandbox why path /usr/bin/env
    fails "" agent_sandbox why path /usr/bin/env --write
    fails "Read-only file system" in_jail touch /usr/bin/new
}

@test "why host names the rule, where it was written and the change, without a lookup" {
    says "judged when a connection is made" agent_sandbox why host example.org
    run -1 agent_sandbox why host example.org:25
    [[ $output == *"port 25"*"only the administrator"* ]] || report "should name the port floor"
    run -1 agent_sandbox why host 169.254.169.254:80
    [[ $output == *"link-local"* ]] || report "should name the address floor"
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[network]\nmode = "proxied"\nallow = ["*.example.org"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    says "config.toml:3" agent_sandbox why host a.example.org
    run -1 agent_sandbox why host example.com
    [[ $output == *'--allow-host example.com'* ]] || report "should name the change"
    run -1 agent_sandbox why host --json udp:a.example.org:123
    [[ $output == *'"allowed": false'* ]] || report "should be JSON"
    refused 2 "it is a URL" agent_sandbox why host https://example.org/
}

@test "a proxy's password is shown nowhere" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[network]\nupstream_proxy = "http://ann:hunter2@proxy.example.org:3128"\n' >"$HOME/.config/agent-sandbox/config.toml"
    for words in "config show" "config show --json" "config show --origin" "plan true" "plan --json true"; do
        # shellcheck disable=SC2086
        says proxy.example.org agent_sandbox $words
        [[ $output != *hunter2* ]] || leak "the password is shown: $words"
    done
}

@test "why env names the pattern and what would let it through" {
    run env MY_TOKEN=secret "$SBX_PROGRAM" why env MY_TOKEN
    [[ $output != *secret* ]] || leak "the value is shown"
    [[ $status == 1 && $output == *"*_TOKEN"* && $output == *"--env MY_TOKEN"* ]] || report "not explained"
    works env EDITOR=vi "$SBX_PROGRAM" why env EDITOR
}

@test "doctor reports that a jail can be built here" {
    says bubblewrap agent_sandbox doctor
    works bash -c '"$SBX_PROGRAM" doctor --json | python3 -m json.tool'
}

@test "doctor lists every backend, and --admin-note prints a note to the administrator or that none is needed" {
    works agent_sandbox doctor
    local backend
    for backend in native bwrap firejail landlock; do
        grep -Eq "^  $backend +(taken|works|not here: )" <<<"$output" || report "nothing of $backend"
    done
    works agent_sandbox doctor --admin-note
    [[ $output == "To the administrator"* || $output == "There is nothing to ask"* ]] || report "neither"
}

@test "config init writes a file that changes nothing, once" {
    works agent_sandbox config init
    works test -s "$HOME/.config/agent-sandbox/config.toml"
    works agent_sandbox config check
    works in_jail true
    fails "" agent_sandbox config init
}

@test "config check lists every mistake and ends with 1" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[home]\nacces = 1\n[network]\nmode = "closed"\n' >"$HOME/.config/agent-sandbox/config.toml"
    run agent_sandbox config check
    [[ $status == 1 && $output == *"config.toml:2"* && $output == *"config.toml:4"* ]] || report "not all mistakes"
}

@test "config show --origin names the file and line of a value" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[home]\naccess = "read"\n' >"$HOME/.config/agent-sandbox/config.toml"
    says "config.toml:2" agent_sandbox config show --origin
    AGENT_SANDBOX_HOME_ACCESS=restricted says AGENT_SANDBOX_HOME_ACCESS agent_sandbox config show --origin
}

@test "config import evaluates a shell file where it can change nothing" {
    printf 'HOME_ACCESS=restricted\nREADONLY_MOUNTS=(/data)\nX=$(touch ran)\n' >old.conf
    run agent_sandbox config import old.conf
    [[ $output == *'access = "restricted"'* && $output == *"/data"* && $output == *"touch ran"*"failed"* ]] || report "not carried over"
    fails "" test -e ran
}

@test "trust applies to the exact content, untrust removes it" {
    printf '[mounts]\nreadonly = ["/var/lib"]\n' >.agent-sandbox.toml
    refused 125 ".agent-sandbox.toml:2" in_jail true
    works agent_sandbox trust
    works in_jail ls /var/lib
    works agent_sandbox untrust
    refused 125 ".agent-sandbox.toml:2" in_jail true
}

@test "presets: review makes the project read-only" {
    JAIL=(--preset review)
    fails "Read-only file system" in_jail touch new
    JAIL=(--preset no-such-preset)
    refused 125 "no-such-preset" in_jail true
}

@test "completion is valid shell" {
    works bash -c 'bash -n <("$SBX_PROGRAM" completion bash)'
    works agent_sandbox completion zsh
    works agent_sandbox completion fish
}

@test "quiet is silent; errors are not silenced; no colour without a terminal" {
    run --separate-stderr in_jail true
    [[ -z $output && -z $stderr ]] || report "should be silent"
    run --separate-stderr "$SBX_PROGRAM" --quiet --ro /nowhere -- true
    [[ $stderr == "agent-sandbox: "* && $stderr != *$'\e'* ]] || report "should be one plain line"
}

@test "the jail has its own network by default, and the host's on request" {
    works in_jail_sh 'test "$(ls /sys/class/net 2>/dev/null || tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " ")" = lo'
    JAIL=(--network open)
    prints "$(readlink /proc/self/ns/net)" in_jail readlink /proc/self/ns/net
    prints filtered env AGENT_SANDBOX_NETWORK_FALLBACK=strict "$SBX_PROGRAM" --quiet -- sh -c 'echo "$AGENT_SANDBOX_NETWORK"'
}
