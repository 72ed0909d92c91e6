#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# At the end of a session that could write the project, what in it now runs outside is said once; otherwise nothing is.

load helper
setup() { start_test; }
teardown() { end_test; }

# On a terminal of its own, as a person would; both streams in the order they came.
on_terminal() {
    local words
    printf -v words '%q ' "$SBX_PROGRAM" "${JAIL[@]}" -- "$@"
    script -qec "$words" /dev/null </dev/null | tr -d '\r'
}

reviewed() { [[ $output == *"look at these before you go on"* ]]; }

@test "what runs outside is named, with the reason" {
    make_repository .
    works on_terminal sh -c 'echo all: >Makefile; mkdir -p .github/workflows; echo on: push >.github/workflows/ci.yml'
    reviewed || report "no review"
    [[ $output == *"Makefile: run by make"* && $output == *".github/workflows/ci.yml: run by GitHub"* ]] || report "incomplete"
}

@test "hooks of a repository that the session made are named" {
    works on_terminal sh -c 'git init -q sub && echo "#!/bin/sh" >sub/.git/hooks/post-checkout && chmod +x sub/.git/hooks/post-checkout'
    [[ $output == *"sub/.git/hooks/post-checkout: a hook that git runs"* ]] || report "no hook"
}

@test "programs in a directory on the PATH are named" {
    mkdir bin
    PATH=$PROJECT/bin:$PATH
    works on_terminal sh -c 'cp /bin/true bin/ls'
    [[ $output == *"bin/ls: a program in a directory on your PATH"* ]] || report "no program"
}

@test "nothing is said of what was there before, nor where nothing runs" {
    echo all: >Makefile
    works on_terminal sh -c 'echo x >notes; echo x >main.c'
    ! reviewed || report "a review of nothing"
}

@test "nothing is said with --quiet, with --read-only, and after a short run without a terminal" {
    JAIL=(--quiet)
    works on_terminal sh -c 'echo all: >Makefile'
    ! reviewed || report "not quiet"
    JAIL=(--read-only)
    works on_terminal true
    ! reviewed || report "a review of a project that could not be written"
    JAIL=()
    works "$SBX_PROGRAM" -- sh -c 'echo changed: >Makefile'
    ! reviewed || report "a review of a short run"
}

@test "a longer run is reviewed without a terminal too, and the command's status stays" {
    run -3 "$SBX_PROGRAM" -- sh -c 'echo all: >Makefile; sleep 2.1; exit 3'
    reviewed || report "no review"
}
