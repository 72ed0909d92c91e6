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

# The programs of a user's agents, where the documents of the agents put them.
make_agent_programs() {
    mkdir -p "$HOME"/.claude/{hooks,scripts,projects} "$HOME/.codex" "$HOME/.gemini/tools" "$HOME/.pi/agent/lib" "$HOME/.config/opencode" "$HOME/.local/share/opencode/x"
    cat >"$HOME/.claude/settings.json" <<END
{"statusLine":{"type":"command","command":"~/.claude/statusline.pl6 --short"},"apiKeyHelper":"$HOME/.claude/scripts/key",
 "hooks":{"Stop":[{"hooks":[{"type":"command","command":"bash \"\${CLAUDE_CONFIG_DIR:-\$HOME/.claude}/scripts/on stop\" && \$HOME/.claude/scripts/more.x"}]}]},
 "permissions":{"additionalDirectories":["~/.claude/projects"],"deny":["Read(~/.claude/.credentials.json)"]}, "otelHeadersHelper":"~/.claude/missing.sh"}
END
    echo "{\"mcpServers\":{\"a\":{\"command\":\"node\",\"args\":[\"$HOME/.claude/scripts/server\"]}}}" >"$HOME/.claude.json"
    echo "notify = [\"python3\", \"$HOME/.codex/notify\"]" >"$HOME/.codex/config.toml"
    echo '{"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"$HOME/.gemini/tools/check"}]}]}}' >"$HOME/.gemini/settings.json"
    echo '{"extensions":["./lib/extra"]}' >"$HOME/.pi/agent/settings.json"
    echo '{"mcp":{"a":{"type":"local","command":["{env:HOME}/.local/share/opencode/x/server"]}}}' >"$HOME/.config/opencode/opencode.json"
    NAMED=(.claude/statusline.pl6 .claude/scripts/key ".claude/scripts/on stop" .claude/scripts/more.x .claude/scripts/server .codex/notify .gemini/tools/check
        .pi/agent/lib/extra .local/share/opencode/x/server)
    UNNAMED=(.claude/statusline.sh .claude/helper .claude/run .codex/watch.py .gemini/old.rb)
    DATA=(.claude/.credentials.json .claude/history.jsonl .claude/projects/a .claude/scripts/notes .codex/history.jsonl .codex/id)
    local file
    for file in "${NAMED[@]}" "${UNNAMED[@]}" "${DATA[@]}"; do echo mine >"$HOME/$file"; done
    chmod +x "$HOME/.claude/helper"
    printf '#!/bin/sh\n' >"$HOME/.claude/run"
}

with_agents() {
    "$SBX_PROGRAM" --quiet "${JAIL[@]}" --agent claude --agent codex --agent gemini --agent pi --agent opencode -- sh -c "$1" sh "${@:2}"
}

@test "programs in the state that the agent's settings name, and scripts beside them, can be neither changed nor replaced" {
    make_agent_programs
    local backend file before
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        for file in "${NAMED[@]}" "${UNNAMED[@]}"; do
            before=$(<"$HOME/$file")
            fails "" with_agents 'echo planted >>"$1"' "$HOME/$file"
            fails "" with_agents 'echo planted >~/.claude/new; mv -f ~/.claude/new "$1"' "$HOME/$file"
            fails "" with_agents 'rm -f "$1"' "$HOME/$file"
            fails "" with_agents 'chmod 777 "$1"' "$HOME/$file"
            [[ $(<"$HOME/$file") == "$before" ]] || report "$file was changed"
            prints "$before" with_agents 'cat "$1"' "$HOME/$file"
        done
        fails "" with_agents 'mv ~/.claude/scripts ~/.claude/aside'
        # A name of the settings that is missing can't be made.
        fails "" with_agents 'echo planted >~/.claude/missing.sh'
        [[ ! -e $HOME/.claude/missing.sh ]]
        # The control: other files of the state, the log-in and directories that the settings name.
        for file in "${DATA[@]}"; do
            works with_agents 'echo more >>"$1"' "$HOME/$file"
        done
        works with_agents 'touch ~/.claude/projects/new ~/.claude/scripts/new'
    done
    # Outside they can be changed.
    for file in "${NAMED[@]}" "${UNNAMED[@]}"; do works sh -c 'echo mine >>"$1"' sh "$HOME/$file"; done
}

@test "scripts that a session makes in the state do not stop the next start, and a link there shows nothing more" {
    mkdir "$HOME/private"
    echo secret >"$HOME/private/notes.sh"
    mkdir -p "$HOME/.claude"
    echo mine >"$HOME/.claude/zz.py"
    local backend
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        works with_agents 'seq -f "$HOME/.claude/s%.0f.sh" 3000 | xargs touch; ln -sf ~/private/notes.sh ~/.claude/link.sh'
        works with_agents 'test -e ~/.claude/s3000.sh'
        [[ $output == *"more than 100 scripts"* ]] || report "not named"
        # The user's own stay protected, whatever a session makes, and whatever times it gives to that.
        works with_agents 'touch -d 1970-01-02 ~/.claude/s*.sh 2>/dev/null; true'
        fails "" with_agents 'echo planted >~/.claude/zz.py'
        prints mine cat "$HOME/.claude/zz.py"
        fails "No such file or directory" with_agents 'cat ~/.claude/link.sh'
        rm -f "$HOME"/.claude/*.sh
    done
    prints secret cat "$HOME/private/notes.sh"
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

@test "two agents behind a shell each have their log-in, with --agent twice or with agents.use" {
    mkdir -p "$HOME/.tiny" "$HOME/.codex"
    echo of-tiny >"$HOME/.tiny/login.json"
    echo of-codex >"$HOME/.codex/auth.json"
    local both='cat ~/.tiny/login.json ~/.codex/auth.json'
    works "$SBX_PROGRAM" --quiet --agent tiny --agent codex -- sh -c "$both"
    [[ $output == of-tiny$'\n'of-codex ]] || report "--agent twice"
    # The control: without profiles neither exists.
    fails "No such file" "$SBX_PROGRAM" --quiet -- sh -c 'cat ~/.tiny/login.json'
    fails "No such file" "$SBX_PROGRAM" --quiet -- sh -c 'cat ~/.codex/auth.json'
    printf '[agents]\nuse = ["tiny", "codex"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    works "$SBX_PROGRAM" --quiet -- sh -c "$both"
    [[ $output == of-tiny$'\n'of-codex ]] || report "agents.use"
    fails "No such file" "$SBX_PROGRAM" --quiet --agent none -- sh -c "$both"
    works "$SBX_PROGRAM" --quiet --agent none --agent codex -- sh -c 'cat ~/.codex/auth.json; ls ~/.tiny 2>&1 || true'
    [[ $output == of-codex*"No such file"* ]] || report "none drops what was named before it"
}

@test "a project's file can't add the profile of an agent" {
    printf '[agents]\nuse = ["codex"]\n' >.agent-sandbox.toml
    run -125 "$SBX_PROGRAM" --quiet -- true
    [[ $output == *"may not set agents.use"* ]] || report "a project's file"
}

@test "an agent that a shell starts without its profile runs after one line with the option" {
    mkdir -p "$HOME/.claude"
    printf '#!/bin/sh\necho "claude ran with $*"\n' >"$HOME/bin/claude"
    chmod +x "$HOME/bin/claude"
    local line='agent-sandbox: claude has no profile in this session, so its log-in and settings are absent; start the session with --agent claude, or set agents.use = ["claude"]'
    export PATH=$HOME/bin:$PATH
    JAIL=(--ro "$HOME/bin")
    works in_jail_sh 'claude -p "two words"' </dev/null
    [[ $output == "$line"$'\n''claude ran with -p two words' ]] || report "behind a shell"
    # No line: with the profile, if the user wants none, and for an agent that the user does not have.
    JAIL=(--ro "$HOME/bin" --agent claude)
    works in_jail_sh 'claude'
    [[ $output == "claude ran with "* ]] || report "with the profile"
    JAIL=(--ro "$HOME/bin" --agent none)
    works in_jail_sh 'claude'
    [[ $output == "claude ran with "* ]] || report "none on purpose"
    JAIL=()
    rm "$HOME/bin/claude"
    run -127 in_jail_sh 'codex'
    [[ $output != *profile* ]] || report "an agent that is not installed"
    run -127 in_jail_sh 'claude'
    [[ $output == *"claude: command not found"* && $output != *profile* ]] || report "a removed agent of which the state is left"
}

@test "an option that switches on the sandbox of Codex is refused with the reason" {
    run -125 "$SBX_PROGRAM" -- codex exec -s workspace-write "a task"
    [[ $output == *"codex: -s workspace-write switches on the sandbox of Codex, which can't start in the jail; leave the option out"* ]] || report "-s"
    # Behind a shell the stub reads the words, after the profile was chosen by its name.
    printf '#!/bin/sh\necho "codex ran with $*"\n' >"$HOME/bin/codex"
    chmod +x "$HOME/bin/codex"
    export PATH=$HOME/bin:$PATH
    local words
    for words in "-s workspace-write" "-sread-only" "--sandbox=workspace-write" --full-auto; do
        run -77 "$SBX_PROGRAM" --quiet --ro "$HOME/bin" --agent codex -- sh -c "codex exec $words task"
        [[ $output == *"agent-sandbox: codex: $words switches on the sandbox of Codex, which can't start in the jail; leave the option out"* ]] || report "behind a shell: $words"
        [[ $output != *"codex ran"* ]] || report "it ran: $words"
    done
    for words in "-s danger-full-access" "-- -s workspace-write" "--help"; do
        run -0 "$SBX_PROGRAM" --quiet --ro "$HOME/bin" --agent codex -- sh -c "codex exec $words"
        [[ $output == "codex ran with exec $words" ]] || report "should run: $words"
    done
    # For another program the words are its own.
    run -127 "$SBX_PROGRAM" --quiet -- codex-that-is-not-there -s workspace-write
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
