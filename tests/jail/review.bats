#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# At the end of a session that could write the project, one message lists the files in it that now run outside; otherwise there is
# no message.

load helper
setup() { start_test; }
teardown() { end_test; }

# On a terminal of its own, as a user would; both streams in the order they came.
on_terminal() {
    local words
    printf -v words '%q ' "$SBX_PROGRAM" "${JAIL[@]}" -- "$@"
    script -qec "$words" /dev/null </dev/null | tr -d '\r'
}

# short_run COMMAND...: without a terminal, within the two seconds after which a run is reviewed there. A busy machine may need more
# attempts. BEFORE is run in front of each.
short_run() { wait_until is_short "$@"; }
is_short() {
    local began=${EPOCHREALTIME/./}
    works sh -c "${BEFORE:-:}" || return
    works "$SBX_PROGRAM" "$@" || return
    ((${EPOCHREALTIME/./} - began < 1900000))
}

reviewed() { [[ $output == *"look at these before you go on"* ]]; }

# bats test_tags=smoke
@test "files that run outside are named, with the reason" {
    make_repository .
    works on_terminal sh -c 'echo all: >Makefile; mkdir -p .github/workflows; echo on: push >.github/workflows/ci.yml'
    reviewed || report "no review"
    [[ $output == *"Makefile: run by make"* && $output == *".github/workflows/ci.yml: run by GitHub"* ]] || report "incomplete"
}

@test "hooks of a repository that the session made are named" {
    works on_terminal sh -c 'git init -q sub && mkdir -p sub/.git/hooks && echo "#!/bin/sh" >sub/.git/hooks/post-checkout && chmod +x sub/.git/hooks/post-checkout'
    [[ $output == *"sub/.git/hooks/post-checkout: a hook that git runs"* ]] || report "no hook"
}

@test "planted names of a bare repository do not hide nested repositories from the review" {
    make_repository .
    local nested='git init -q sub && git -C sub config core.fsmonitor "touch ran"'
    works on_terminal sh -c "$nested"
    [[ $output == *"sub/.git/config: core.fsmonitor"* ]] || report "control: no setting"
    rm -rf sub
    works on_terminal sh -c "mkdir objects refs && echo ref: refs/heads/main >HEAD && $nested"
    [[ $output == *"sub/.git/config: core.fsmonitor"* ]] || report "hidden"
}

@test "programs in a directory on the PATH are named" {
    mkdir bin
    PATH=$PROJECT/bin:$PATH
    works on_terminal sh -c 'cp /bin/true bin/ls'
    [[ $output == *"bin/ls: a program in a directory on your PATH"* ]] || report "no program"
}

@test "the review names neither earlier files nor files that do not run" {
    echo all: >Makefile
    works on_terminal sh -c 'echo x >notes; echo x >main.c'
    ! reviewed || report "a review of nothing"
}

@test "the review prints nothing with --quiet, with --read-only, and after a short run without a terminal" {
    JAIL=(--quiet)
    works on_terminal sh -c 'echo all: >Makefile'
    ! reviewed || report "not quiet"
    JAIL=(--read-only)
    works on_terminal true
    ! reviewed || report "a review of a project that could not be written"
    JAIL=()
    short_run -- sh -c 'echo changed: >Makefile'
    ! reviewed || report "a review of a short run"
}

@test "an unread file of the project can't switch off the review, the notice or the record" {
    local text
    for text in '[ui]\nquiet = true' '[ui]\nverbose = false' '[agents]\nnotice = false' '[audit]\nenabled = false' '[audit]\nkeep = "1s"'; do
        rm -f Makefile
        printf "$text\n" >.agent-sandbox.toml
        fails "agent-sandbox trust" "$SBX_PROGRAM" -- true
        rm .agent-sandbox.toml
        works on_terminal sh -c 'echo all: >Makefile'
        reviewed || report "control: no review without the file"
    done
    # A file that narrows is not refused, and the review stays.
    printf '[network]\nmode = "isolated"\n' >.agent-sandbox.toml
    rm Makefile
    works on_terminal sh -c 'echo all: >Makefile'
    reviewed || report "no review"
    # The user may have read the file.
    printf '[ui]\nquiet = true\n' >.agent-sandbox.toml
    works "$SBX_PROGRAM" trust
    rm Makefile
    works on_terminal sh -c 'echo all: >Makefile'
    ! reviewed || report "not quiet"
}

@test "the next review names, once, the files of a short or quiet run" {
    echo all: >own.mk # of the user
    BEFORE='rm -f Makefile' short_run -- sh -c 'echo all: >Makefile'
    ! reviewed || report "a review of a short run"
    works "$SBX_PROGRAM" --quiet -- sh -c 'mkdir -p sub && echo all: >sub/Makefile'
    ! reviewed || report "a review of a short run"
    works on_terminal true
    [[ $output == *"since the last review"*"  Makefile: "*"sub/Makefile: "* ]] || report "not named"
    [[ $output != *own.mk* ]] || report "a file of the user is named"
    works on_terminal true
    ! reviewed || report "named twice"
}

@test "a program of the project that git's settings run is named if it changed" {
    make_repository .
    mkdir -p tools .ours
    echo '#!/bin/sh' | tee tools/watch tools/clean .ours/pre-commit tools/other >/dev/null
    git config core.fsmonitor ./tools/watch
    git config --global filter.x.clean "sh tools/clean %f"
    works on_terminal true
    works on_terminal sh -c 'for file in watch clean other; do echo "touch planted" >>tools/$file; done'
    [[ $output == *"tools/watch: your git settings run it (core.fsmonitor)"* ]] || report "a program of the repository's settings"
    [[ $output == *"tools/clean: your git settings run it (filter.x.clean)"* ]] || report "a program of the user's settings"
    [[ $output != *tools/other* ]] || report "a file that no setting names"
    # Control: outside git runs it.
    chmod +x tools/watch
    git status >/dev/null 2>&1
    works test -e planted
}

@test "a longer run is reviewed without a terminal too, and the command's status stays" {
    run -3 "$SBX_PROGRAM" -- sh -c 'echo all: >Makefile; sleep 2.1; exit 3'
    reviewed || report "no review"
}

@test "many entries do not silence the review" {
    works on_terminal sh -c 'i=0; while [ $i -lt 11000 ]; do : >"!$i"; i=$((i + 1)); done; echo all: >zz-last.mk; echo all: >Makefile'
    [[ $output == *"Makefile: run by make"* ]] || report "silenced"
    works on_terminal sh -c 'mkdir -p closed && echo all: >closed/Makefile && chmod 100 closed'
    [[ $output == *"did not look at all of the project: not into closed"* ]] || report "silent about what it did not see"
    chmod 700 closed
}

@test "a file that one session plants in a skipped directory is named when the next session moves it out" {
    works on_terminal sh -c 'mkdir -p node_modules/x/.vscode && echo {} >node_modules/x/.vscode/tasks.json'
    ! reviewed || report "the tree is walked"
    works on_terminal mv node_modules/x app
    [[ $output == *"app/.vscode/tasks.json: tasks and settings that an editor runs"* ]] || report "not named"
    works on_terminal true
    ! reviewed || report "named twice"
}

@test "the jail can't reach the record of reviewed files" {
    works on_terminal sh -c 'echo all: >Makefile'
    works test -d "$HOME/.local/state/agent-sandbox/reviewed"
    JAIL=(--home write)
    fails "" in_jail ls "$HOME/.local/state/agent-sandbox/reviewed"
}

@test "the review names files that run code in current tools" {
    works on_terminal sh -c 'mkdir -p app/.helix app/.kiro/settings; for f in app/.helix/languages.toml app/.kiro/settings/mcp.json shell.nix .irbrc AGENTS.md .tool-versions; do echo x >$f; done'
    for name in app/.helix/languages.toml app/.kiro/settings/mcp.json shell.nix .irbrc AGENTS.md .tool-versions; do
        [[ $output == *"$name: "* ]] || report "$name"
    done
}
