#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A path that a rule hides stays hidden in the sessions that follow, whatever a session renames, exchanges, links, removes or makes
# inaccessible. The controls do the same outside, where the next session then finds the hidden content.

load helper

setup() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    CONFIG=$HOME/.config/agent-sandbox
    mkdir -p data/raw svc/api keep/inner "$CONFIG" "$HOME/.cargo"
    echo planted >data/raw/secret
    echo KEY=planted >svc/api/.env
    echo planted >keep/inner/file
    echo planted >"$HOME/.cargo/credentials.toml"
}
teardown() {
    chmod -R u+rwX "$HOME"
    end_test
}

# Everything below these directories that the next session can read, after it has changed the modes that it can.
read_all() { in_jail_sh 'chmod -R u+rwX "$@" 2>/dev/null; cat $(find "$@" -type f 2>/dev/null) 2>/dev/null; true' "$@"; }

# gives_nothing SCRIPT [DIRECTORY...]: run outside, the script exposes a secret; run inside, the next session reads no secret.
gives_nothing() {
    local script=$1
    shift
    (($#)) || set -- .
    keep_home
    sh -c "$script" >/dev/null
    works read_all "$@"
    [[ $output == *planted* ]] || report "the attempt does nothing even outside: $script"
    bring_back
    run in_jail_sh "$script"
    works read_all "$@"
    [[ $output != *planted* ]] || leak "the next session reads what was hidden: $script"
    bring_back
}

# Everything except the program's own state, which it cleans up by itself.
keep_home() {
    rm -rf "$BATS_TEST_TMPDIR/kept"
    mkdir "$BATS_TEST_TMPDIR/kept"
    tar -C "$HOME" --exclude ./.local -cf - . | tar -C "$BATS_TEST_TMPDIR/kept" -xf -
}
bring_back() {
    find "$HOME" -mindepth 1 -maxdepth 1 -not -name .local -exec chmod -R u+rwX {} + -exec rm -rf {} +
    tar -C "$BATS_TEST_TMPDIR/kept" -cf - . | tar -C "$HOME" -xf -
    cd "$PROJECT"
}

# bats test_tags=smoke
@test "the parent of a hidden directory can't be renamed aside for the next session" {
    for backend in $(sampled 2 native bwrap); do
        JAIL=(--backend "$backend" --hide "$PROJECT/data/raw" --hide "$PROJECT/svc" --hide "$PROJECT/keep")
        gives_nothing 'mv data data2'
        gives_nothing 'mkdir -p other; mv data other/data'
        gives_nothing 'mkdir other; python3 -c "import ctypes, sys; sys.exit(ctypes.CDLL(None).renameat2(-100, b\"data\", -100, b\"other\", 2))" || mv data gone'
    done
}

@test "the parent of a masked file can't be renamed, also not into a directory that is not searched" {
    for backend in $(sampled 2 native bwrap); do
        JAIL=(--backend "$backend" --hide "$PROJECT/data" --hide "$PROJECT/keep")
        gives_nothing 'mv svc vendor'
        gives_nothing 'mkdir -p node_modules; mv svc/api node_modules/api'
    done
}

@test "a credential that a wildcard names can't be moved aside with its directory" {
    for backend in $(sampled 2 native bwrap); do
        JAIL=(--backend "$backend" --home write --hide "$PROJECT")
        gives_nothing 'mv ~/.cargo ~/.cargo.aside' "$HOME/.cargo.aside" "$HOME/.cargo"
    done
}

@test "a symbolic link that leads to a hidden place can't be exchanged" {
    ln -s data/raw shown
    JAIL=(--backend native --hide "$PROJECT/shown" --hide "$PROJECT/svc" --hide "$PROJECT/keep")
    gives_nothing 'rm shown; mkdir shown'
    gives_nothing 'ln -sfn keep shown'
    prints data/raw in_jail readlink shown
    JAIL[1]=bwrap
    run in_jail true
    works "$SBX_PROGRAM" "${JAIL[@]}" -- true
    [[ $output == *"$PROJECT/shown can be exchanged by the jail"* ]] || report "should say that the link can't be held"
}

@test "a masked file behind a symbolic link stays masked when the link is gone" {
    mv svc/api/.env svc/api/real
    ln -s svc/api/real .env
    JAIL=(--backend native --hide "$PROJECT/data" --hide "$PROJECT/keep")
    prints "" in_jail cat svc/api/real
    gives_nothing 'rm -f .env'
    gives_nothing 'mv .env plain'
}

@test "a credential behind a symbolic link stays hidden when the link is exchanged" {
    mkdir -p "$HOME/vault/ssh"
    echo planted >"$HOME/vault/ssh/id_ed25519"
    ln -s vault/ssh "$HOME/.ssh"
    JAIL=(--backend native --home write --hide "$PROJECT")
    gives_nothing 'rm ~/.ssh; mkdir ~/.ssh' "$HOME/vault"
}

# shuts DIRECTORY SECRET: outside, the mode can be changed back and the secret read; inside, no session can do that.
shuts() {
    keep_home
    prints "$(cat "$2")" sh -c 'chmod 0 "$1" && chmod 0755 "$1" && cat "$2"' sh "$1" "$2"
    works in_jail chmod 0 "$1"
    works read_all "$1"
    [[ $output != *planted* ]] || leak "the next session opened $1"
    works chmod 0755 "$1"
    bring_back
}

@test "a directory that a session closed by chmod shows nothing when it is opened again" {
    for backend in $(sampled 2 native bwrap); do
        JAIL=(--backend "$backend" --hide "$PROJECT/data/raw")
        shuts svc/api svc/api/.env
        shuts svc svc/api/.env
        shuts data data/raw/secret
        JAIL=(--backend "$backend" --home write)
        shuts "$HOME/.cargo" "$HOME/.cargo/credentials.toml"
        # The project itself: the start is refused, and the message names the command that helps.
        works in_jail chmod 0 .
        refused 125 "chmod u+rwx" in_jail true
        chmod 0755 "$PROJECT"
    done
}

@test "no protected name can be made in a directory that a session makes writable by chmod" {
    make_repository .
    for backend in $(sampled 2 native bwrap); do
        JAIL=(--backend "$backend")
        works in_jail chmod 0555 . .git/info
        run in_jail_sh 'chmod 0755 . .git/info; echo inside >.envrc; echo inside >.git/info/attributes'
        prints "" find . -name .envrc -type f -o -name attributes -type f
        works "$SBX_PROGRAM" "${JAIL[@]}" -- true
        [[ $output == *"$PROJECT is read-only in the jail"*"chmod u+rwx"* ]] || report "should say why, and what to do"
        chmod 0755 . .git/info
        works in_jail touch file
        works test ! -e .envrc
    done
    works sh -c 'echo outside >.envrc'
}

# shuffled BACKEND SEED PLACE: three sessions. Two of them shuffle, and the third looks for content that a rule hides. PLACE is
# "inside" or "outside", for the control.
shuffled() {
    local seed=$2 place=$3 round shuffle=(python3 "$SBX_STAGE/tests/jail/shuffle.py")
    cp "$SBX_STAGE/tests/jail/shuffle.py" "$HOME/shuffle.py"
    printf '[mounts]\nhidden = ["%s"]\n[project]\nprotect = ["keep/inner"]\n' "$PROJECT/data/raw" >"$CONFIG/config.toml"
    JAIL=(--backend "$1" --ro "$HOME/shuffle.py")
    for round in 1 2; do
        if [[ $place == inside ]]; then
            works in_jail python3 "$HOME/shuffle.py" "$seed$round" 60 "$PROJECT"
        else
            works "${shuffle[@]}" "$seed$round" 60 "$PROJECT"
        fi
    done
    works in_jail_sh 'chmod -R u+rwX . 2>/dev/null; for file in $(find . -type f); do cat "$file"; echo inside >>"$file"; done 2>/dev/null; true'
}
start_over() {
    chmod -R u+rwX "$PROJECT"
    find "$PROJECT" -mindepth 1 -delete
    mkdir -p data/raw svc/api keep/inner
    echo planted-raw >data/raw/secret
    echo KEY=planted-env >svc/api/.env
    echo kept >keep/inner/file
}

@test "three sessions of random renames, links, exchanges and removals uncover nothing" {
    local seed backend
    for ((seed = SBX_SEED; seed < SBX_SEED + 8; ++seed)); do
        for backend in $(SBX_SEED=$seed sampled 2 native bwrap); do
            start_over
            shuffled "$backend" "$seed" inside
            [[ $output != *planted* ]] || leak "seed $seed with $backend: read what was hidden or masked"
            chmod -R u+rwX .
            prints kept cat keep/inner/file
        done
    done
}

@test "control: the same renames outside uncover the secret" {
    local seed found=0
    for ((seed = 1; seed <= 8; ++seed)); do
        start_over
        shuffled native "$seed" outside
        chmod -R u+rwX .
        [[ $output != *planted* && $(cat keep/inner/file) == kept ]] || ((found += 1))
    done
    ((found > 0))
}
