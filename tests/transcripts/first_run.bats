#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The program without arguments, as a new user starts it, in any directory; and the mistakes of new users: each message names what,
# where and the next step.

load ../jail/helper
setup() {
    start_test
    BIN=$PROJECT/bin
    mkdir "$BIN"
    ln -s "$SBX_PROGRAM" "$BIN/agent-sandbox"
    PATH=$BIN:$PATH
}
teardown() { end_test; }

overview() { "$SBX_PROGRAM" "$@"; }

# Three commands; the tests run each of them unchanged.
tries() { sed -n '/^Try$/,/^$/p' <<<"$output" | sed -n 's/^  \(.*[^ ]\)  .*$/\1/p' | sed 's/ *$//'; }

@test "the overview has fewer than twenty lines of eighty columns" {
    mkdir -p "$HOME/.ssh" "$HOME/.aws"
    echo KEY=1 >.env
    works overview
    ((${#lines[@]} < 20)) || report "too long"
    (($(awk '{ if (length($0) > longest) longest = length($0) } END { print longest }' <<<"$output") <= 80)) || report "too wide"
    [[ $output == *"~/project (writable)"* ]] || report "no project"
    [[ $output == *".env, ~/.ssh"* && $output == *"~/.aws"* ]] || report "what is hidden is not named"
    [[ $output == *"filtered: any host by its name"* ]] || report "no network"
    [[ $(tries | wc -l) == 3 ]] || report "not three things to try"
}

@test "the three commands of the overview work as printed" {
    works overview
    local command
    while IFS= read -r command; do
        bash -c "$command" </dev/null >"$BATS_TEST_TMPDIR/out" 2>&1 || { cat "$BATS_TEST_TMPDIR/out" >&2; report "does not work: $command"; }
    done < <(tries)
}

@test "an installed agent is the first command to try, with the option that shows its directory" {
    printf '#!/bin/sh\necho "an agent runs"\n' >"$BIN/codex"
    chmod 0755 "$BIN/codex"
    works overview
    [[ $(tries | head -1) == *" codex" && $output == *"start Codex here"* ]] || report "no agent"
    mkdir "$HOME/elsewhere"
    mv "$BIN/codex" "$HOME/elsewhere/"
    works env PATH="$HOME/elsewhere:$PATH" "$SBX_PROGRAM"
    local first
    first=$(tries | head -1)
    [[ $first == *"--ro $HOME/elsewhere codex" ]] || report "not shown: $first"
    prints "an agent runs" env PATH="$HOME/elsewhere:$PATH" bash -c "$first"
}

@test "a program that is not in PATH is named by its path" {
    rm "$BIN/agent-sandbox"
    works overview
    [[ $(tries | tail -1) == "$SBX_PROGRAM "* ]] || report "no path"
    # Another version in PATH is another program.
    cp "$SBX_PROGRAM" "$BIN/agent-sandbox"
    works overview
    [[ $(tries | tail -1) == "$SBX_PROGRAM "* ]] || report "names another program"
}

# Processor time, which a busy machine hardly changes.
@test "the overview takes less than a fifth of a second of the processor" {
    local TIMEFORMAT='%3U %3S' user system
    overview >/dev/null
    read -r user system < <({ time for _ in 1 2 3 4 5; do overview >/dev/null 2>&1; done; } 2>&1)
    # In milliseconds: 10# keeps 0.123 from being octal.
    ((10#${user/./} + 10#${system/./} < 1000)) || report "took $user s and $system s for five"
}

@test "in the home directory and in the root the overview names an alternative" {
    cd "$HOME"
    works overview
    [[ $output == *"would not be started here"*"your home directory"*"--project DIR"* ]] || report "home"
    cd /
    works overview
    [[ $output == *"would not be started here"*"--project DIR"* ]] || report "root"
}

@test "the overview works without HOME and without a terminal" {
    works env -u HOME "$SBX_PROGRAM"
    [[ $output == *"(writable)"* && $output != *$'\e'* ]] || report "no overview"
}

@test "the overview reports read-only and isolated" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[project]\nread_only = true\n[network]\nmode = "isolated"\n' >"$HOME/.config/agent-sandbox/config.toml"
    works overview
    [[ $output == *"(read-only)"* && $output == *"isolated: nothing"* ]] || report "not said"
}

@test "the overview names the line of a broken file" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[network]\nmode = "closed"\n' >"$HOME/.config/agent-sandbox/config.toml"
    works overview
    [[ $output == *"would not be started here"*"config.toml:2"* ]] || report "not said"
}

@test "without a backend the overview names doctor" {
    works overview
    run env AGENT_SANDBOX_ISOLATION_BACKEND=bwrap AGENT_SANDBOX_ISOLATION_BWRAP=/nowhere/bwrap "$SBX_PROGRAM"
    [[ $status == 0 && $output == *"would not be started here"*"doctor"* ]] || report "not said"
}

@test "inside a jail the overview describes this jail" {
    works in_jail /run/agent-sandbox/agent-sandbox
    [[ $output == *"inside a jail"*"$PROJECT"* && $(tries | head -1) == "agent-sandbox policy" ]] || report "not said"
    works in_jail_sh "$(tries | head -1)"
}

# ---- Mistakes --------------------------------------------------------------------------------------------------------------------

@test "a misspelt option, verb, value, preset, profile or limit gets a suggestion" {
    refused 125 "did you mean --network?" "$SBX_PROGRAM" --nework open true
    refused 127 "did you mean agent-sandbox plan?" "$SBX_PROGRAM" plann
    refused 125 "'open' was probably meant" "$SBX_PROGRAM" --network opn true
    refused 125 "there are ci, review, untrusted, work" "$SBX_PROGRAM" --preset revew true
    refused 2 "did you mean claude?" "$SBX_PROGRAM" profiles show claud
    refused 125 "did you mean memory?" "$SBX_PROGRAM" --limit memmory=2G true
}

@test "a missing command, agent or file gets advice" {
    refused 127 "install it, or look at PATH" "$SBX_PROGRAM" no-such-command-at-all
    refused 127 "Claude Code is not installed in PATH here" env PATH=/usr/bin:/bin "$SBX_PROGRAM" claude
    refused 125 "/nowhere does not exist; make it, or name one that exists" "$SBX_PROGRAM" --ro /nowhere true
    refused 125 "does not exist; name an existing directory" "$SBX_PROGRAM" --project /nowhere true
}

@test "the home directory as the project, and a missing session, get advice" {
    cd "$HOME"
    refused 125 "change into a project directory or name one with --project" "$SBX_PROGRAM" true
    cd "$PROJECT"
    refused 1 "start one in another terminal" "$SBX_PROGRAM" allow example.org
}

@test "the mail stub reports the policy and what to do" {
    run -77 in_jail sendmail someone@example.org
    [[ $output == *"This is policy"*"Tell your user"* ]] || report "not said"
}
