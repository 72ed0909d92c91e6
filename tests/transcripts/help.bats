#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The help texts: every topic, and every command that a topic shows, run unchanged. A command is a line that begins with two blanks
# and the program's name. Agents are stand-ins that print their name. Without a cluster, commands that submit a job are only planned
# (--dry-run).

load ../jail/helper
setup() {
    start_test
    git init -q .
    printf 'all:\n\techo built\ntest:\n\techo tested\n' >Makefile
    echo "TOKEN=1" >.env
    mkdir -p "$HOME/data/raw" "$HOME/.ssh"
    echo key >"$HOME/.ssh/id_ed25519"
    BIN=$PROJECT/bin
    mkdir "$BIN"
    ln -s "$SBX_PROGRAM" "$BIN/agent-sandbox"
    local agent
    for agent in claude codex gemini; do
        printf '#!/bin/sh\necho "%s runs"\n' "$agent" >"$BIN/$agent"
        chmod 0755 "$BIN/$agent"
    done
    PATH=$BIN:$PATH
}
teardown() { end_test; }

TOPICS=(network home agents slurm admin trouble)

@test "help lists every topic, and each has at most 44 lines of 80 columns" {
    local topic
    works agent-sandbox help
    local page=$output
    for topic in "${TOPICS[@]}" backends settings; do
        grep -Eq "^  $topic +[a-z]" <<<"$page" || report "$topic is not listed"
        works agent-sandbox help "$topic"
    done
    for topic in "${TOPICS[@]}"; do
        works agent-sandbox help "$topic"
        ((${#lines[@]} <= 44)) || report "$topic is too long"
        (($(awk '{ if (length($0) > longest) longest = length($0) } END { print longest }' <<<"$output") <= 80)) || report "$topic is too wide"
        [[ $output != *$'\e'* && $output != "# "* ]] || report "$topic is not plain text"
        [[ $output == *"More: "* ]] || report "$topic has no pointer"
    done
}

@test "help keeps within its width" {
    works agent-sandbox help
    (($(awk '{ if (length($0) > longest) longest = length($0) } END { print longest }' <<<"$output") <= 101)) || report "too wide"
    works agent-sandbox help settings
    (($(awk '{ if (length($0) > longest) longest = length($0) } END { print longest }' <<<"$output") <= 101)) || report "too wide"
}

@test "an unknown topic names the nearest" {
    refused 2 "did you mean agent-sandbox help network?" agent-sandbox help netwrk
    refused 2 "lists verbs and topics" agent-sandbox help xyzzy-of-nothing
}

# Commands whose answer is no.
expected_status() {
    case $1 in
        "agent-sandbox why path ~/.ssh" | "agent-sandbox why path .git/hooks --write" | "agent-sandbox why host pastebin.com" | \
            "agent-sandbox why host 10.0.0.5:22" | "agent-sandbox why env GITHUB_TOKEN" | "agent-sandbox why syscall mount" | \
            "agent-sandbox why slurm sbatch --uid" | "agent-sandbox why slurm --container") echo 1 ;;
        *) echo 0 ;;
    esac
}

run_commands_of() {
    local topic=$1 command shown
    local -a commands
    # Something for the log.
    agent-sandbox --quiet cat "$HOME/.ssh/id_ed25519" 2>/dev/null || true
    mapfile -t commands < <(agent-sandbox help "$topic" | sed -n 's/^  \(agent-sandbox .*\)$/\1/p')
    ((${#commands[@]} >= 4)) || report "hardly a command in $topic"
    for shown in "${commands[@]}"; do
        command=$shown
        [[ $command =~ ^agent-sandbox\ (.*\ )?(srun|sbatch)\  && $command != *" why "* ]] && command=${command/agent-sandbox/agent-sandbox --dry-run}
        run bash -c "export GITHUB_TOKEN=x; $command" </dev/null
        [[ $status == "$(expected_status "$shown")" ]] || report "help $topic: $shown"
    done
}

@test "every command of help network works" { run_commands_of network; }
@test "every command of help home works" { run_commands_of home; }
@test "every command of help agents works" {
    run_commands_of agents
    prints "claude runs" agent-sandbox --quiet claude --dangerously-skip-permissions
}
@test "every command of help slurm works" { run_commands_of slurm; }
@test "every command of help admin works" { run_commands_of admin; }
@test "every command of help trouble works" { run_commands_of trouble; }

@test "headings are bold on a terminal, and lines fit it" {
    works env TERM=xterm script -qec "stty cols 72; agent-sandbox help network; agent-sandbox help" /dev/null
    [[ $output == *$'\e[1mThe network of a jail\e[0m'* ]] || report "no bold heading"
    local widest
    widest=$(sed $'s/\e\\[[0-9;]*m//g; s/\r//' <<<"$output" | grep -A200 "^Verbs: Start" | grep -v "^  -" | awk '{ if (length($0) > longest) longest = length($0) } END { print longest }')
    ((widest <= 74)) || report "wider than the terminal: $widest"
}
