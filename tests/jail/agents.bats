#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Profiles of agents, with a small agent of our own: a script that keeps a history, a log-in and settings in its state.

load helper
setup() {
    start_test
    mkdir -p "$HOME/bin" "$HOME/.config/agent-sandbox/agents"
    cat >"$HOME/bin/tiny" <<'SCRIPT'
#!/bin/sh
exec sh -c "$1"
SCRIPT
    chmod +x "$HOME/bin/tiny"
    cat >"$HOME/.config/agent-sandbox/agents/tiny.toml" <<'PROFILE'
[agent]
title = "Tiny"
commands = ["tiny"]
state = [".tiny"]
kept = [".tiny.json"]
tokens = [".tiny/login.json"]
protect = [".tiny/settings.json", ".tiny/hooks"]
credentials = ["TINY_API_KEY"]
login = "run 'tiny login'"
[agent.files]
"/etc/tiny/config.json" = '{"sandbox":false,"notice":{notice:json}}'
"~/.tiny/TINY.md" = "{notice}{original}"
[home]
readonly = ["bin"]
[env]
set = { TINY_MODE = "jailed" }
PROFILE
}
teardown() { end_test; }

tiny() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$HOME/bin/tiny" "$1"; }

# bats test_tags=smoke
@test "an agent's state is kept, and a renewed log-in reaches the user's file" {
    mkdir "$HOME/.tiny"
    echo old >"$HOME/.tiny/login.json"
    works tiny 'echo first >>~/.tiny/history; echo new >~/.tiny/login.json'
    [[ $(<"$HOME/.tiny/history") == first && $(<"$HOME/.tiny/login.json") == new ]]
    works tiny 'cat ~/.tiny/history'
    [[ $output == first ]]
    # The control: without the profile, its files do not exist inside.
    JAIL=(--agent none --ro "$HOME/bin")
    run tiny 'cat ~/.tiny/history'
    [[ $status != 0 ]]
}

@test "files that would run outside later can be neither changed nor made" {
    mkdir "$HOME/.tiny"
    echo '{"mine":1}' >"$HOME/.tiny/settings.json"
    run tiny 'echo planted >~/.tiny/settings.json'
    [[ $status != 0 && $(<"$HOME/.tiny/settings.json") == '{"mine":1}' ]]
    run tiny 'mv ~/.tiny/settings.json ~/.tiny/aside; rm -f ~/.tiny/settings.json; echo planted >~/.tiny/settings.json'
    [[ $status != 0 && $(<"$HOME/.tiny/settings.json") == '{"mine":1}' ]]
    run tiny 'mkdir -p ~/.tiny/hooks && echo planted >~/.tiny/hooks/start'
    [[ $status != 0 && ! -e $HOME/.tiny/hooks ]]
    # The control: an ordinary file of the state can be written.
    works tiny 'echo fine >~/.tiny/other'
}

@test "a socket in the state directory, which a program outside serves, can't be reached" {
    mkdir -p "$HOME/.tiny/run"
    for name in control.sock run/daemon.sock; do
        start_listener "$HOME/.tiny/$name"
        run tiny "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"$HOME/.tiny/$name\")'"
        [[ $status != 0 && $output == *Error* ]] || leak "$name was reached"
    done
}

@test "a protected private directory shows the user's files, or is the session's own if it is empty" {
    sed -i 's|^protect = .*|protect = [".tiny/bin"]\nprivate = [".tiny/bin"]|' "$HOME/.config/agent-sandbox/agents/tiny.toml"
    works tiny 'echo mine >~/.tiny/bin/tool && cat ~/.tiny/bin/tool'
    [[ ! -e $HOME/.tiny/bin/tool ]] || leak "planted"
    mkdir -p "$HOME/.tiny/bin"
    echo user >"$HOME/.tiny/bin/tool"
    works tiny 'cat ~/.tiny/bin/tool'
    [[ $output == user ]] || report "not shown"
    run tiny 'echo planted >~/.tiny/bin/tool; echo planted >~/.tiny/bin/other'
    [[ $status != 0 && $(<"$HOME/.tiny/bin/tool") == user && ! -e $HOME/.tiny/bin/other ]] || leak "planted"
}

@test "skills, commands, agents and programs of the built-in agents can't be planted" {
    for planted in claude:.claude/skills/x claude:.claude/commands/x claude:.claude/local/claude claude:.claude/chrome/host \
        codex:.codex/skills/x codex:.codex/agents/x codex:.codex/hooks/x gemini:.gemini/skills/x gemini:.gemini/agents/x \
        pi:.pi/agent/npm/x pi:.pi/agent/git/x aider:.aider/oauth-keys.env; do
        local agent=${planted%%:*} file=$HOME/${planted#*:}
        mkdir -p "$(dirname "$file")" && echo control >"$file" || report "the control of $planted"
        rm "$file"
        JAIL=(--agent "$agent")
        fails "" in_jail_sh 'mkdir -p "$(dirname "$1")"; echo planted >"$1"' "$file"
        [[ ! -s $file ]] || leak "$planted"
    done
}

@test "a first-time user gets a state directory without leftover files" {
    works tiny 'cat ~/.tiny/settings.json; echo kept >~/.tiny/history'
    [[ $output == '{}' ]]
    [[ $(ls -A "$HOME/.tiny") == history ]]
    [[ ! -e $HOME/.tiny.json ]] || leak "was written"
}

@test "a file with settings and state is a copy, kept between sessions, and the user's file stays unchanged" {
    echo '{"servers":["mine"]}' >"$HOME/.tiny.json"
    works tiny 'cat ~/.tiny.json; echo "{\"servers\":[\"planted\"]}" >~/.tiny.json'
    [[ $output == '{"servers":["mine"]}' ]]
    [[ $(<"$HOME/.tiny.json") == '{"servers":["mine"]}' ]]
    works tiny 'cat ~/.tiny.json'
    [[ $output == '{"servers":["planted"]}' ]]
}

@test "a user's file that is not valid JSON is shown and stays unchanged" {
    echo '{"servers":' >"$HOME/.tiny.json"
    works tiny 'cat ~/.tiny.json'
    [[ $output == '{"servers":' && $(<"$HOME/.tiny.json") == '{"servers":' ]]
}

@test "the notice precedes the user's own instructions, and their file stays unchanged" {
    mkdir "$HOME/.tiny"
    echo "always use tabs" >"$HOME/.tiny/TINY.md"
    works tiny 'cat ~/.tiny/TINY.md'
    [[ $output == *"You are running in a jail"*"$PROJECT is writable"*"always use tabs" ]] || report "the merged text"
    [[ $(<"$HOME/.tiny/TINY.md") == "always use tabs" ]]
    works tiny 'cat /etc/tiny/config.json'
    [[ $output == '{"sandbox":false,"notice":"# You are running in a jail'* ]]
}

@test "credentials of the agent pass, those of another do not" {
    export TINY_API_KEY=secret-of-tiny ANTHROPIC_API_KEY=secret-of-another
    works tiny 'echo "$TINY_API_KEY $TINY_MODE"; env | grep -c ANTHROPIC || true'
    [[ $output == "secret-of-tiny jailed"$'\n'0 ]] || report "variables"
    JAIL=(--agent none --ro "$HOME/bin")
    works tiny 'echo "<$TINY_API_KEY>"'
    [[ $output == "<>" ]]
}

@test "another agent's state does not exist, however the home directory is shown" {
    mkdir -p "$HOME/.claude" "$HOME/.tiny"
    echo history >"$HOME/.claude/history.jsonl"
    for home in tmpwrite restricted read write; do
        JAIL=(--home "$home")
        [[ -r $HOME/.claude/history.jsonl ]]
        run tiny 'cat ~/.claude/history.jsonl'
        [[ $status != 0 ]] || leak "--home $home shows another agent's state"
    done
}

@test "with agents.per_project_state each project has its own history" {
    export AGENT_SANDBOX_AGENTS_PER_PROJECT_STATE=true
    mkdir -p "$HOME/.tiny" "$HOME/second"
    echo '{"mine":1}' >"$HOME/.tiny/settings.json"
    echo token >"$HOME/.tiny/login.json"
    works tiny 'echo first >~/.tiny/history; cat ~/.tiny/settings.json ~/.tiny/login.json; echo renewed >~/.tiny/login.json'
    [[ $output == '{"mine":1}'$'\n'token ]]
    [[ $(<"$HOME/.tiny/login.json") == renewed && ! -e $HOME/.tiny/history ]]
    works tiny 'cat ~/.tiny/history'
    [[ $output == first ]]
    cd "$HOME/second"
    run tiny 'cat ~/.tiny/history'
    [[ $status != 0 ]] || leak "the second project reads the first one's history"
}

@test "a broken profile is reported in one line, and nothing runs" {
    echo 'staet = [".x"]' >>"$HOME/.config/agent-sandbox/agents/tiny.toml"
    run tiny 'echo ran'
    [[ $status == 125 && $output == *tiny.toml:* && $output != *ran* ]] || report "a broken profile"
    rm "$HOME/.config/agent-sandbox/agents/tiny.toml"
    run "$SBX_PROGRAM" --agent tyni -- true
    [[ $status == 125 && $output == *"no profile"* ]] || report "an unknown profile"
}

@test "an agent that is not installed is reported as missing" {
    run -127 "$SBX_PROGRAM" --quiet --agent claude -- claude-that-is-not-there
    [[ $output == *"not found"* || $output == *"was not found"* ]] || report "a missing agent"
}

@test "profiles lists the built-in ones and the user's, and shows one" {
    run -0 "$SBX_PROGRAM" profiles
    for name in aider claude codex gemini opencode pi tiny; do
        [[ $output == *"$name"* ]] || report "profiles: $name"
    done
    run -0 "$SBX_PROGRAM" profiles show tiny
    [[ $output == *'protect = [".tiny/settings.json"'* ]]
}

@test "why answers the same inside and outside" {
    mkdir "$HOME/.ssh"
    for question in "path $HOME/.ssh" "path $PROJECT" "host pastebin.com" "host 10.0.0.1:22" "env SSH_AUTH_SOCK" "syscall io_uring_setup"; do
        # shellcheck disable=SC2086
        run "$SBX_PROGRAM" why $question
        outside="$status $output"
        # shellcheck disable=SC2086
        run in_jail agent-sandbox why $question
        [[ ${question%% *} == env || "$status $output" == "$outside" ]] || report "why $question: outside $outside"
        [[ $status == "${outside%% *}" ]] || report "why $question: outside $outside"
    done
}

@test "a cache is kept for the project, apart from the user's own and from other projects" {
    mkdir -p "$HOME/.cache" "$HOME/.npm" "$HOME/second"
    echo token >"$HOME/.cache/token"
    works in_jail_sh 'ls -A ~/.cache; echo wheel >~/.cache/pip-thing; echo pack >~/.npm/pack'
    [[ $output == "" ]] || leak "the user's own cache is not to be seen"
    [[ ! -e $HOME/.cache/pip-thing && ! -e $HOME/.npm/pack ]] || leak "was written"
    works in_jail_sh 'cat ~/.cache/pip-thing ~/.npm/pack'
    cd "$HOME/second"
    run in_jail_sh 'cat ~/.cache/pip-thing'
    [[ $status != 0 ]] || leak "another project reads the cache"
    JAIL=(--home tmpwrite)
    export AGENT_SANDBOX_HOME_CACHES=false
    cd "$PROJECT"
    run in_jail_sh 'cat ~/.cache/pip-thing'
    [[ $status != 0 ]] || leak "home.caches = false"
}
