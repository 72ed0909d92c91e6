#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# How computing sites install software: conda, Spack, virtual environments, deep and odd paths.

load helper
setup() { start_test; }
teardown() { end_test; }

# conda_prefix DIRECTORY: the files of a conda prefix that programs look at.
conda_prefix() {
    mkdir -p "$1"/{bin,lib/python3.11/site-packages,conda-meta,etc/conda/activate.d}
    echo '{"name": "tool"}' >"$1/conda-meta/tool-1.0-0.json"
    echo "of the environment" >"$1/lib/python3.11/site-packages/data"
    printf '#!%s/bin/interpreter\n' "$1" >"$1/bin/tool"
    printf '#!/bin/sh\ncat "$CONDA_PREFIX/lib/python3.11/site-packages/data"\n' >"$1/bin/interpreter"
    chmod +x "$1"/bin/*
}

activate() {
    export CONDA_PREFIX=$1 CONDA_DEFAULT_ENV=${1##*/} CONDA_SHLVL=1 CONDA_EXE=$1/bin/conda PATH=$1/bin:$PATH
}

@test "an active conda environment in the project works" {
    conda_prefix "$PROJECT/env"
    activate "$PROJECT/env"
    prints "of the environment" in_jail tool
    prints 1 in_jail printenv CONDA_SHLVL
}

@test "an active conda environment in the home directory works where it is shown" {
    for place in miniconda3/envs/work micromamba/envs/work "own place/env"; do
        conda_prefix "$HOME/$place"
        # A blank in a prefix breaks the interpreter's line, here as outside.
        [[ $place == *" "* ]] && printf '#!/bin/sh\nexec interpreter\n' >"$HOME/$place/bin/tool"
        (
            activate "$HOME/$place"
            works tool
            JAIL=(--ro "$HOME/$place")
            prints "of the environment" in_jail tool
            fails "Read-only file system" in_jail touch "$HOME/$place/planted"
        )
    done
}

@test "an active environment that is not shown is reported with the option that shows it" {
    conda_prefix "$HOME/elsewhere/env"
    activate "$HOME/elsewhere/env"
    works tool
    run in_jail tool
    if ((status != 0)); then
        [[ $output == *"--ro"*"elsewhere/env/bin"* ]] || report "should name the option"
    fi
}

@test "a virtual environment in the project works" {
    mkdir -p venv/bin
    printf '#!/bin/sh\necho "$VIRTUAL_ENV"\n' >venv/bin/tool && chmod +x venv/bin/tool
    export VIRTUAL_ENV=$PROJECT/venv PATH=$PROJECT/venv/bin:$PATH
    prints "$PROJECT/venv" in_jail tool
}

# Spack: every package below a hash, libraries found by RPATH, a view of links.
spack_tree() {
    local root=$1 arch=linux-debian12-x86_64_v3/gcc-12.2.0
    LIBRARY=$root/opt/spack/$arch/libgreet-1.0-abcdefghijklmnopqrstuvwxyz012345
    PROGRAM=$root/opt/spack/$arch/greet-2.1-543210zyxwvutsrqponmlkjihgfedcba
    mkdir -p "$LIBRARY/lib" "$PROGRAM/bin" "$root/views/work/bin"
    echo 'const char *greeting(void) { return "greetings"; }' | gcc -shared -fPIC -x c - -o "$LIBRARY/lib/libgreet.so"
    printf '#include <stdio.h>\nconst char *greeting(void);\nint main(void) { puts(greeting()); }\n' |
        gcc -x c - -o "$PROGRAM/bin/greet" -L"$LIBRARY/lib" -Wl,-rpath,"$LIBRARY/lib" -lgreet
    ln -s "$PROGRAM/bin/greet" "$root/views/work/bin/greet"
}

@test "a Spack tree works through a view of links" {
    spack_tree "$HOME/spack"
    export SPACK_ROOT=$HOME/spack PATH=$HOME/spack/views/work/bin:$PATH
    prints greetings greet
    fails "--ro" in_jail greet
    JAIL=(--ro "$HOME/spack")
    prints greetings in_jail greet
    prints "$HOME/spack" in_jail printenv SPACK_ROOT
    fails "Read-only file system" in_jail touch "$LIBRARY/lib/planted"
}

@test "a Spack tree in the project works" {
    spack_tree "$PROJECT/spack"
    prints greetings in_jail "$PROJECT/spack/views/work/bin/greet"
}

@test "paths with blanks, quotes and letters of other languages work" {
    for name in "two words" "it's" 'a"quote' 'dollar $HOME' "straße 図" "-dash" "back\\slash" "semi;colon" "a=b" "trailing "; do
        mkdir -p "$HOME/$name/sub" && echo "$name" >"$HOME/$name/sub/file"
        JAIL=(--project "$HOME/$name/sub")
        prints "$name" in_jail cat file
        works in_jail touch made && [[ -e $HOME/$name/sub/made ]]
        JAIL=(--project "$PROJECT" --ro "$HOME/$name")
        prints "$name" in_jail cat "$HOME/$name/sub/file"
    done
}

@test "a very deep project works" {
    part=$(printf 'd%.0s' {1..200})
    deep=$HOME
    for _ in {1..15}; do deep+=/$part; done
    mkdir -p "$deep" && echo deep >"$deep/file"
    JAIL=(--project "$deep")
    prints deep in_jail cat file
    works in_jail touch made && [[ -e $deep/made ]]
}

@test "a path that is too long for the kernel is refused with a message" {
    long=/$(printf 'd/%.0s' {1..2500})
    JAIL=(--ro "$long")
    run --separate-stderr in_jail true
    if ((status != 0)); then refused 125 "" in_jail true; fi
}
