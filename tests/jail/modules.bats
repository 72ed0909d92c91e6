#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Lmod, the site's module system: modules.load, and the module command inside the jail.

load helper

LMOD_INIT=/usr/share/lmod/lmod/init

setup() {
    start_test
    SITE=$SBX_STAGE/tests/jail/site
    export MODULEPATH=$SITE/modulefiles/Core
    unset BASH_ENV ENV
}
teardown() { end_test; }

# The environment of a shell after the site's start-up files.
like_login() {
    # shellcheck disable=SC1091
    . "$LMOD_INIT/bash"
    export BASH_ENV=$LMOD_INIT/bash
}

# Writes a module file of the caller; $1 is a directory, $2 the text of the file.
plant_module() {
    mkdir -p "$1"
    printf '%s\n' "$2" >"$1/planted.lua"
}

# ---- modules.load ----------------------------------------------------------------------------------------------------

@test "a module's program runs" {
    fails "not found" in_jail solver
    JAIL=(--module compiler --module solver/2)
    prints solved in_jail solver
    prints "$SITE/software/solver" in_jail printenv SOLVER_ROOT
    prints "$SITE/software" in_jail printenv COMPILER_ROOT
}

@test "values arrive as the module wrote them" {
    JAIL=(--module odd)
    prints $'a "quoted" $HOME `id` \\ back\nline' in_jail printenv ODD
}

@test "the user's file may load modules, a project's may not" {
    mkdir -p ~/.config/agent-sandbox
    printf '[modules]\nload = ["compiler", "solver"]\n' >~/.config/agent-sandbox/config.toml
    prints solved in_jail solver
    rm ~/.config/agent-sandbox/config.toml
    printf '[modules]\nload = ["compiler"]\n' >.agent-sandbox.toml
    refused 125 modules.load in_jail true
}

@test "modules that the caller has loaded stay loaded" {
    like_login
    module load compiler
    JAIL=(--module solver)
    prints solved in_jail solver
    prints "compiler/12:solver/2" in_jail printenv LOADEDMODULES
}

@test "an unknown module is reported in one line, and nothing runs" {
    JAIL=(--module no-such-module)
    refused 125 'no-such-module' in_jail touch ran
    [[ ! -e ran ]] || leak "the command ran"
    JAIL=(--module compiler --module solver/99)
    refused 125 'solver/99' in_jail touch ran
    [[ ! -e ran ]] || leak "the command ran"
}

@test "a name can't be an option of the module command" {
    JAIL=(--module=--version)
    refused 125 "not the name of a module" in_jail true
    JAIL=("--module=compiler solver")
    refused 125 "not the name of a module" in_jail true
}

@test "escape sequences in messages of a module do not reach the terminal" {
    JAIL=(--module broken)
    refused 125 "not on" in_jail true
    [[ $stderr != *$'\e'* && $stderr != *$'\a'* ]] || leak "an escape sequence came through"
}

@test "output of the module command that is not an assignment is refused" {
    works /usr/share/lmod/lmod/libexec/lmod python load noisy
    JAIL=(--module noisy)
    refused 125 "not an assignment" in_jail true
}

@test "a module changes no setting, and its secrets are filtered" {
    JAIL=(--module meddling)
    prints done in_jail printenv MEDDLING
    prints filtered in_jail printenv AGENT_SANDBOX_NETWORK
    for name in LD_PRELOAD MEDDLING_TOKEN HARMLESS AGENT_SANDBOX_HOME_ACCESS; do
        run in_jail printenv "$name"
        ((status == 1)) && [[ -z $output ]] || leak "$name should be removed"
    done
    works in_jail sh -c 'touch ~/written'
    [[ ! -e ~/written ]] || leak "home.access was changed"
}

@test "the gateway's proxy does not come from a module" {
    control=$(https_proxy=http://proxy.example.org:3128 "$SBX_PROGRAM" --dry-run -- true)
    [[ $control == *"network.upstream_proxy"*"proxy.example.org"* ]] || report "control: the caller's own counts"
    JAIL=(--module meddling --network open)
    prints http://proxy.example.org:3128 in_jail printenv https_proxy
    works "$SBX_PROGRAM" --dry-run --module meddling -- true
    [[ $output != *"network.upstream_proxy"* ]] || leak "a module's proxy should not count"
}

@test "no shell start-up file of the user's runs" {
    printf 'touch "$HOME/started"; export MODULEPATH=/nowhere\n' | tee ~/.bashrc ~/.profile ~/.bash_profile ~/.planted >/dev/null
    works bash -c 'BASH_ENV=~/.planted bash -c :' && [[ -e ~/started ]] && rm ~/started
    BASH_ENV=~/.planted ENV=~/.planted JAIL=(--module compiler)
    export BASH_ENV ENV
    works in_jail true
    [[ ! -e ~/started ]] || leak "a start-up file ran"
}

@test "code for interpreters does not reach the module command" {
    printf 'io.open(os.getenv("HOME") .. "/ran", "w"):close()\n' >~/planted.lua
    works env LUA_INIT=@"$HOME/planted.lua" /usr/share/lmod/lmod/libexec/lmod python load compiler
    [[ -e ~/ran ]] && rm ~/ran
    JAIL=(--module compiler)
    works env LUA_INIT=@"$HOME/planted.lua" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- true
    [[ ! -e ~/ran ]] || leak "LUA_INIT was obeyed"
}

@test "module files that the jail may write do not run outside" {
    text='io.open(os.getenv("HOME") .. "/ran", "w"):close()'
    plant_module ~/own-modules "$text"
    plant_module "$PROJECT/modules" "$text"
    # Control: the caller's module files are used where the jail can't write them.
    works env MODULEPATH="$HOME/own-modules" "$SBX_PROGRAM" --quiet --module planted -- true
    [[ -e ~/ran ]] && rm ~/ran
    export MODULEPATH=$PROJECT/modules:$MODULEPATH
    JAIL=(--module planted)
    refused 125 "would run outside" in_jail true
    ln -s "$PROJECT" ~/link
    MODULEPATH=$HOME/link/modules:$MODULEPATH refused 125 "would run outside" in_jail true
    JAIL=(--module planted --rw "$HOME/own-modules")
    MODULEPATH=$HOME/own-modules refused 125 "would run outside" in_jail true
    [[ ! -e ~/ran ]] || leak "a module of the jail's ran outside"
}

@test "programs that the jail may write are not found by module files" {
    plant_module ~/own-modules 'capture("planted-program")'
    mkdir -p bin && printf '#!/bin/sh\ntouch "$HOME/ran"\n' >bin/planted-program && chmod +x bin/planted-program
    export MODULEPATH=$HOME/own-modules PATH=$PROJECT/bin:$PATH
    works /usr/share/lmod/lmod/libexec/lmod python load planted
    [[ -e ~/ran ]] && rm ~/ran
    JAIL=(--module planted)
    # The command itself keeps its PATH.
    works in_jail sh -c 'command -v planted-program'
    [[ ! -e ~/ran ]] || leak "a program of the jail's ran outside"
}

@test "a module command of the caller's is not run" {
    printf '#!/bin/sh\ntouch "$HOME/ran"\n' >~/lmod && chmod +x ~/lmod
    JAIL=(--module compiler)
    LMOD_CMD=$HOME/lmod refused 125 "belong to root" in_jail true
    mkdir -p ~/.config/agent-sandbox
    printf '[modules]\ncommand = "%s"\n' "$HOME/lmod" >~/.config/agent-sandbox/config.toml
    refused 125 "belong to root" in_jail true
    [[ ! -e ~/ran ]] || leak "it ran outside"
}

# ---- module inside ---------------------------------------------------------------------------------------------------

@test "module works in bash as outside" {
    like_login
    prints solved bash -c 'module load compiler solver && solver'
    prints solved in_jail bash -c 'module load compiler solver && solver'
    prints solved in_jail bash -c 'ml compiler solver && solver'
    # A login shell inside reads the site's start-up files too, and they set MODULEPATH again: the caller's modules must still be
    # found.
    prints solved in_jail bash -lc 'module load compiler solver && solver'
}

@test "module works in a script that bash runs" {
    like_login
    printf '#!/bin/bash\nmodule load compiler solver\nsolver\n' >script && chmod +x script
    prints solved ./script
    prints solved in_jail ./script
}

@test "module works in sh where it works outside" {
    like_login
    for how in 'module load compiler solver; solver' ". $LMOD_INIT/sh; module load compiler solver; solver"; do
        run sh -c "$how"
        outside=$status:$output
        run in_jail sh -c "$how"
        [[ $status:$output == "$outside" ]] || report "outside: $outside"
    done
}

@test "avail, spider, list and purge answer as outside" {
    like_login
    for asked in "avail -t" "spider compiler" "-t list" "whatis compiler" "show compiler"; do
        # shellcheck disable=SC2086
        works bash -c "module load compiler; module $asked 2>&1"
        outside=$output
        works in_jail bash -c "module load compiler; module $asked 2>&1"
        [[ $output == "$outside" ]] || report "module $asked; outside: $outside"
    done
    works in_jail bash -c 'module load compiler solver; module purge; ! command -v solver'
}

@test "a saved collection is read, and one that is saved inside is discarded" {
    like_login
    works bash -c 'module load compiler solver; module save work'
    prints solved in_jail bash -c 'module restore work >/dev/null 2>&1; solver'
    run in_jail bash -c 'module load compiler; module save inside'
    [[ -z $(find ~ -path ~/.local -prune -o -name 'inside*' -print) ]] || leak "a collection was left on the host"
}
