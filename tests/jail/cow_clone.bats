#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Copy-on-write sessions on a clone of the project (cow.engine), as bubblewrap has them, and the native backend where no overlay can be
# had. The verbs are the same as with an overlay.

load helper

setup() {
    start_test
    make_repository "$PROJECT"
    mkdir -p docs src/deep
    printf 'one\ntwo\n' >README.md
    echo old >docs/old.md
    echo code >src/x.c
    ln src/x.c src/linked
    ln -s src/x.c link
    echo TOKEN=secret >.env
    echo TOKEN=deep >src/deep/.env
    git add . && git commit -qm first
    LAYERS=$HOME/.local/state/agent-sandbox/layers
    NATIVE=(--network isolated --cow --cow-engine clone)
    BWRAP=(--network isolated --cow --backend bwrap)
    JAIL=("${NATIVE[@]}")
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
picture() { (cd "$PROJECT" && find . -path ./.git -prune -o -printf '%p %y %m %l\n' -type f -exec sha256sum {} + | sort); }
# The names that the layer changes, without the letter of each change.
names() { "$SBX_PROGRAM" diff --names | cut -c3- | LC_ALL=C sort; }
# shown COUNT: the first lines of start_waiting's output, without the one about the clone.
shown() { grep -v "works on a clone" "$HOME/out" | head -n "$1"; }
says() { [[ $output == *"$1"* ]] || report "should say: $1"; }
change_all() { in_jail_sh 'echo three >>README.md; rm -r docs; mkdir new; echo y >new/f; chmod +x src/x.c; ln new/f new/g'; }
# start_waiting SCRIPT SCRIPT: the first part has run when this returns; the second one runs after go_on.
start_waiting() {
    mkfifo "$HOME/fifo"
    "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c "$1; touch ready; read -r line; $2" <>"$HOME/fifo" >"$HOME/out" 2>&1 3>&- &
    WAITING=$!
    CHILDREN+=("$WAITING")
    is_ready() { compgen -G "$LAYERS/*/roots/0/clone/tree/ready" >/dev/null; }
    wait_until is_ready
}
go_on() {
    echo go >"$HOME/fifo"
    wait "$WAITING"
    rm "$HOME/fifo"
}

# bats test_tags=smoke
@test "a session on a clone leaves the project as it was: native, bubblewrap; diff, apply and undo as with an overlay" {
    before=$(picture) inode=$(stat -c %i README.md)
    for backend in native bwrap; do
        [[ $backend == native ]] || JAIL=("${BWRAP[@]}")
        works change_all
        [[ $(picture) == "$before" ]] || report "$backend: the project changed"
        works compgen -G "$LAYERS/*/roots/0/clone/tree/new/f"
        prints "README.md
docs/
new/
new/f
new/g
src/linked
src/x.c" names
        "$SBX_PROGRAM" diff >"$HOME/patch"
        rm -rf "$HOME/copy" && cp -a "$PROJECT" "$HOME/copy"
        works git -C "$HOME/copy" apply "$HOME/patch"
        works sandbox apply
        prints "" diff -r --exclude=.git "$HOME/copy" "$PROJECT"
        [[ -x src/x.c && $(stat -c %i new/f) == $(stat -c %i new/g) ]]
        works sandbox apply --undo
        [[ $(picture) == "$before" && $(stat -c %i README.md) == "$inode" ]] || report "$backend: undo"
        works sandbox discard --yes
        works in_jail true
        prints "no layers" sandbox layers
    done
    # Control: without --cow the same command writes to the project.
    JAIL=(--network isolated --backend bwrap)
    works change_all
    [[ $(picture) != "$before" ]]
}

@test "one line names why auto takes a clone; an overlay that bubblewrap can't mount is refused" {
    run "$SBX_PROGRAM" --network isolated --cow --backend bwrap -- true
    says "--cow works on a clone of the project: bubblewrap can't mount an overlay"
    run "$SBX_PROGRAM" --network isolated --cow -- true
    [[ $output != *clone* ]] || report "an overlay is possible here"
    refused 125 "can't mount an overlay" "$SBX_PROGRAM" --cow --cow-engine overlay --backend bwrap true
    works "$SBX_PROGRAM" --quiet --network isolated --layer laid -- touch x
    refused 125 "which the layer needs" "$SBX_PROGRAM" --layer laid --backend bwrap true
    # A layer stays what it is.
    works "$SBX_PROGRAM" --quiet --network isolated --layer copied --cow-engine clone -- touch y
    works "$SBX_PROGRAM" --quiet --network isolated --layer copied --cow-engine overlay -- test -e y
    works "$SBX_PROGRAM" --quiet --network isolated --layer copied --backend bwrap -- test -e y
}

@test "masks and hidden paths hold in a clone, also when its session is continued and names are gone" {
    mkdir hidden && echo secret >hidden/file
    works grep -q secret .env src/deep/.env hidden/file
    for backend in native bwrap; do
        JAIL=("${NATIVE[@]}" --layer "$backend" --hide "$PROJECT/hidden")
        [[ $backend == native ]] || JAIL=("${BWRAP[@]}" --layer "$backend" --hide "$PROJECT/hidden")
        run in_jail_sh 'cat .env src/deep/.env; cat hidden/file; mv src moved; cat moved/deep/.env src/deep/.env; rm -f .env
            cp -a . /tmp/all; grep -r TOKEN /tmp/all; mkdir there; ln -s /etc away; true'
        [[ $output != *TOKEN* && $output != *secret* ]] || report "$backend: a masked file was readable"
        # Control: the clone has the file.
        works grep -q TOKEN "$LAYERS"/*/roots/0/clone/tree/.env
        # The user makes names that the clone does not have, or has as links.
        mkdir -p there away && echo TOKEN=late >there/.env && echo TOKEN=late >away/.env
        run in_jail_sh 'cat .env there/.env away/.env; ls -a there'
        [[ $output != *TOKEN* ]] || report "$backend: a masked file was readable"
        rm -r there away
        run sandbox diff --names "$backend"
        [[ $output != *.env* ]] || report "$backend: a mask counts as a change"
        works sandbox discard --yes "$backend"
    done
}

@test "what changed outside is in conflict, and what the layer did not touch stays as the user wrote it" {
    works in_jail_sh 'echo inside >README.md; echo inside >src/x.c'
    echo outside >README.md
    echo outside >docs/old.md
    fails "changed outside since the session started: README.md" sandbox apply
    prints code cat src/x.c
    works sandbox apply --theirs README.md
    prints inside cat README.md
    prints outside cat docs/old.md
    works sandbox apply --undo
    prints outside cat README.md
}

@test "--merge, commits and branches of a clone" {
    printf '1\n2\n3\n4\n5\n' >long && git add long && git commit -qm long
    works in_jail_sh 'sed -i s/1/one/ long; git config user.name n; git config user.email e@x; git commit -qam inside'
    printf '1\n2\n3\n4\nfive\n' >long
    works sandbox apply --merge
    prints "one
2
3
4
five" cat long
    prints inside git log -1 --format=%s
    works sandbox discard --yes
    works in_jail_sh 'echo more >>README.md'
    works sandbox apply --to-branch work --message made
    prints made git log -1 --format=%s work
    prints "README.md" git diff --name-only HEAD work
}

@test "checkpoints and rollbacks of clones, at rest and while the session runs" {
    for backend in native bwrap; do
        [[ $backend == native ]] || JAIL=("${BWRAP[@]}")
        start_waiting 'echo one >state; rm docs/old.md' 'cat state docs/old.md .env; true'
        works sandbox checkpoint
        works grep -q one "$LAYERS"/*/roots/0/clone/tree/state
        echo outside >src/deep/late
        works sandbox rollback
        works sandbox apply
        prints one cat state
        works sandbox apply --undo
        go_on
        prints "one
cat: docs/old.md: No such file or directory" shown 2
        rm src/deep/late
        works in_jail_sh true
        works sandbox checkpoint
        works sandbox rollback 1
        prints "docs/old.md
ready
state" names
        works sandbox discard --yes
    done
}

@test "a rollback of a running clone brings files, links, modes and directories back; masks stay" {
    start_waiting 'echo one >state' 'rm -r src 2>/dev/null; echo two >state; chmod 700 README.md; ln -sfn x link; mkdir docs/more; touch again
        read -r line; cat state src/x.c; readlink link; stat -c %a README.md; ls docs; cat .env'
    works sandbox checkpoint
    echo go >"$HOME/fifo"
    is_again() { compgen -G "$LAYERS/*/roots/0/clone/tree/again" >/dev/null; }
    wait_until is_again
    works sandbox rollback 1
    go_on
    prints "one
code
src/x.c
644
old.md" shown 5
    prints "ready
state" names
}

@test "monitor counts the files that were written to a clone, and a killed session leaves it whole" {
    start_waiting 'echo x >a; rm docs/old.md' true
    run sandbox inspect
    says "3 files written or deleted"
    kill -9 "$WAITING"
    wait "$WAITING" || true
    is_waiting() { sandbox layers | grep -q waiting; }
    wait_until is_waiting
    prints "a
docs/old.md
ready" names
}

@test "cow.storage: the files of a layer are there, no jail sees them, and no other user may write there" {
    mkdir -p "$HOME/.config/agent-sandbox" "$HOME/data"
    printf '[cow]\nstorage = "%s"\n' "$HOME/data/layers" >"$HOME/.config/agent-sandbox/config.toml"
    for engine in overlay clone; do
        JAIL=(--network isolated --cow --cow-engine "$engine" --ro "$HOME/data")
        works in_jail_sh 'echo inside >README.md; echo x >new'
        works compgen -G "$HOME/data/layers/*/roots/0/*"
        works ls "$HOME/data/layers"/*/roots
        prints "" in_jail ls -A "$HOME/data/layers"
        works sandbox checkpoint
        works sandbox rollback
        prints "README.md
new" names
        works sandbox apply
        prints inside cat README.md
        works sandbox apply --undo
        works sandbox discard --yes
        prints "" ls -A "$HOME/data/layers"
    done
    chmod g+w "$HOME/data/layers"
    refused 125 "no other user can write to" in_jail true
    printf '[cow]\nstorage = "%s"\n' "$PROJECT/layers" >"$HOME/.config/agent-sandbox/config.toml"
    refused 125 "is in the project" in_jail true
}

@test "the state directory may be reached over a symbolic link" {
    mkdir -p "$HOME/elsewhere"
    rm -rf "$HOME/.local" && ln -s "$HOME/elsewhere" "$HOME/.local"
    for engine in overlay clone; do
        JAIL=(--network isolated --cow --cow-engine "$engine")
        works in_jail_sh 'echo x >new'
        prints new names
        works sandbox apply
        works sandbox apply --undo
        works sandbox discard --yes
    done
}

@test "cow.protect = inside: protected names can't be changed in a layer either, and nothing is made in the project" {
    rm -rf .vscode
    before=$(find . | sort)
    mkdir -p "$HOME/.config/agent-sandbox"
    try='echo x >.git/hooks/pre-commit; echo "made: $(test -e .git/hooks/pre-commit && echo yes)"; echo y >free'
    for engine in overlay clone; do
        JAIL=(--network isolated --cow --cow-engine "$engine")
        # Control: without the setting the layer takes it.
        printf '[cow]\nprotect = "apply"\n' >"$HOME/.config/agent-sandbox/config.toml"
        run in_jail_sh "$try"
        says "made: yes"
        works sandbox discard --yes
        printf '[cow]\nprotect = "inside"\n' >"$HOME/.config/agent-sandbox/config.toml"
        run in_jail_sh "$try"
        [[ $output != *"made: yes"* ]] || report "$engine: a hook was made"
        prints free names
        [[ $(find . | sort) == "$before" ]] || report "$engine: something was made in the project"
        works sandbox discard --yes
    done
}

@test "at_end = discard removes the layer, unless only a file of the project asks for it" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[cow]\nat_end = "discard"\n' >"$HOME/.config/agent-sandbox/config.toml"
    run in_jail_sh 'echo x >new'
    says "is discarded (cow.at_end)"
    prints "no layers" sandbox layers
    rm "$HOME/.config/agent-sandbox/config.toml"
    printf '[cow]\nat_end = "discard"\n' >.agent-sandbox.toml
    works sandbox trust
    works in_jail_sh 'echo x >new'
    prints new names
}
