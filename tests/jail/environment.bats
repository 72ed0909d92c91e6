#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The environment is built before anything is executed.

load helper
setup() { start_test; }
teardown() { end_test; }

# with NAME=VALUE... -- COMMAND...
passes() { prints "$2" env "$1=$2" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- printenv "$1"; }
removed() {
    prints "$2" env "$1=$2" printenv "$1"
    run env "$1=$2" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- printenv "$1"
    ((status == 1)) && [[ -z $output ]] || leak "$1 should be removed"
}

# bats test_tags=smoke
@test "harmless variables pass" {
    passes LANG C.UTF-8
    passes TERM xterm-256color
    passes EDITOR vi
    passes CC clang
    passes OMP_NUM_THREADS 4
    passes SLURM_JOB_ID 17
}

# bats test_tags=smoke
@test "variables on no list are held back in clean mode and pass in inherit mode" {
    removed SOME_UNKNOWN_THING harmless
    export AGENT_SANDBOX_ENV_MODE=inherit
    passes SOME_UNKNOWN_THING harmless
}

@test "secrets are removed by name, in both modes" {
    for AGENT_SANDBOX_ENV_MODE in clean inherit; do
        export AGENT_SANDBOX_ENV_MODE
        for name in GITHUB_PAT DATABASE_URL PGPASSWORD MYSQL_PWD MONGO_URI REDIS_URL GOOGLE_APPLICATION_CREDENTIALS \
            DBUS_SESSION_BUS_ADDRESS XAUTHORITY DISPLAY TMUX SLURM_CONF SLURM_JWT KRB5CCNAME; do
            removed "$name" planted
        done
    done
}

@test "secrets are removed by pattern, in both modes" {
    for AGENT_SANDBOX_ENV_MODE in clean inherit; do
        export AGENT_SANDBOX_ENV_MODE
        for name in SSH_AUTH_SOCK MY_TOKEN MY_SECRET DB_PASSWORD DB_PASSWD DB_PWD MY_CREDENTIALS SOME_API_KEY \
            MY_PRIVATE_KEY AWS_ACCESS_KEY_ID AWS_PROFILE AZURE_CLIENT_ID VAULT_ADDR KUBECONFIG DOCKER_HOST CI_JOB_ID \
            GITLAB_USER JENKINS_URL MyPasswordHere; do
            removed "$name" planted
        done
    done
}

@test "PWD passes though *_PWD does not" {
    prints "$PROJECT" in_jail printenv PWD
}

@test "secrets in variables with harmless names are removed by their value" {
    export AGENT_SANDBOX_ENV_MODE=inherit
    passes INNOCENT harmless
    removed INNOCENT "https://user:planted@example.org/"
    removed INNOCENT "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
    removed INNOCENT "-----BEGIN PRIVATE KEY-----"
    removed INNOCENT "AKIAIOSFODNN7EXAMPLE"
}

# With a gateway, only the gateway uses the site's proxy. The gateway could not check a program that connects to the proxy directly.
@test "a proxy passes where the network is open, one with a password does not" {
    removed https_proxy http://proxy.example.org:3128
    JAIL+=(--network open)
    passes https_proxy http://proxy.example.org:3128
    removed https_proxy http://user:planted@proxy.example.org:3128
}

@test "variables that inject code into our own helpers are removed, in both modes" {
    for AGENT_SANDBOX_ENV_MODE in clean inherit; do
        export AGENT_SANDBOX_ENV_MODE
        removed LD_PRELOAD "$(native_libm)"
        removed GCONV_PATH /nowhere
        removed GLIBC_TUNABLES glibc.malloc.check=0
    done
}

@test "exported shell functions are removed" {
    export AGENT_SANDBOX_ENV_MODE=inherit
    planted() { echo planted; }
    export -f planted
    prints planted bash -c planted
    fails "" in_jail bash -c planted
}

@test "--env lets one name through, --env NAME=VALUE sets one" {
    JAIL=(--env MY_API_KEY)
    passes MY_API_KEY wanted
    removed OTHER_API_KEY planted
    JAIL=(--env "GREETING=good day")
    prints "good day" in_jail printenv GREETING
}

@test "TMPDIR is reset when it names a place that is not in the jail" {
    mkdir "$HOME/scratch"
    export TMPDIR=$HOME/scratch
    works sh -c 'touch "$TMPDIR/x"'
    works in_jail_sh 'test "$TMPDIR" != "$HOME/scratch" && touch "${TMPDIR:-/tmp}/x"'
}

@test "the jail can be recognised from inside" {
    prints 1 in_jail printenv AGENT_SANDBOX
    works in_jail_sh 'env | grep ^AGENT_SANDBOX_'
    [[ $output == *"$PROJECT"* ]] || report "the project is not there"
}

# The lines are those of docs/filesystem.md.
@test "a line in the start-up file marks the prompt of bash, zsh and fish inside, and only there" {
    line_for() { sed -n "s/^| $1 | [^|]* | \`\(.*\)\` |$/\1/p" "$SBX_STAGE/docs/filesystem.md"; }
    mkdir -p "$HOME/.config/fish"
    printf 'PS1="plain"\n%s\n' "$(line_for bash)" >"$HOME/.bashrc"
    printf 'PROMPT="plain"\n%s\n' "$(line_for zsh)" >"$HOME/.zshrc"
    printf 'function fish_prompt; echo -n plain; end\n%s\n' "$(line_for fish)" >"$HOME/.config/fish/config.fish"
    shows() { # PROMPT COMMAND...
        run --separate-stderr "${@:2}"
        [[ $output == "$1" ]] || report "should show the prompt '$1': ${*:2}"
    }
    for shell in "bash -ic 'printf %s \"\$PS1\"'" "zsh -ic 'printf %s \"\$PROMPT\"'" "fish -ic fish_prompt"; do
        shows "plain" sh -c "$shell </dev/null"
        shows "[jail] plain" in_jail sh -c "$shell </dev/null"
    done
}

# Debian 12 has no starship. Its 1.22 prints "[jail] " with this line if the variable is set, and nothing otherwise; where it is
# installed, this runs it.
@test "the line for starship is valid TOML for its module env_var, and marks its prompt where starship is installed" {
    mkdir -p "$HOME/.config"
    sed -n 's/^| starship | [^|]* | `\(.*\)` |$/\1/p' "$SBX_STAGE/docs/filesystem.md" >"$HOME/.config/starship.toml"
    prints "{'env_var': {'AGENT_SANDBOX': {'format': '\\\\[jail\\\\] '}}}" python3 -c 'import os, tomllib
print(tomllib.load(open(os.path.expanduser("~/.config/starship.toml"), "rb")))'
    command -v starship >/dev/null || return 0
    export TERM=xterm STARSHIP_SHELL=sh
    works starship prompt
    [[ $output != *"[jail]"* ]] || report "outside"
    works in_jail starship prompt
    [[ $output == *"[jail] "* ]] || report "inside"
}

@test "no process of the jail carries a removed secret" {
    export MY_TOKEN=planted-secret
    works sh -c 'tr "\0" "\n" </proc/$$/environ | grep -q planted-secret'
    run in_jail_sh 'cat /proc/[0-9]*/environ 2>/dev/null | tr "\0" "\n" | grep -c planted-secret'
    [[ $output == 0 ]] || leak "found in the jail"
    fails "Permission denied" in_jail cat /proc/1/environ
}

@test "the environment of a process outside can't be read" {
    MY_TOKEN=planted-secret sleep 1000 3>&- &
    CHILDREN+=($!)
    wait_until grep -qz MY_TOKEN=planted-secret "/proc/$!/environ" # the process is still a shell at first
    run in_jail_sh 'cat /proc/[0-9]*/environ | tr "\0" "\n" | grep -c planted-secret'
    [[ ${lines[-1]} == 0 ]] || leak "found"
}

@test "the dry run shows no part of a removed variable" {
    run env MY_TOKEN=planted-secret "$SBX_PROGRAM" --dry-run --json -- true
    [[ $output != *planted-secret* ]] || leak "the value is there"
    [[ $status == 0 && $output == *MY_TOKEN* ]] || report "the name is not there"
}
