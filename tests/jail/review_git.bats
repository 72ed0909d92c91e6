#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The review finds every repository that git would use, wherever its parts are: `git status` at the project's root starts git in each
# directory that a gitlink of the index names, and runs what the settings of that repository name.

load helper
setup() {
    start_test
    configure_git
    make_repository .
    echo 1 >file
    git add file
    git commit -qm first
    PLANTED=$HOME/planted
}
teardown() { end_test; }

# settings FILE: a configuration whose program leaves a file.
settings() {
    printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch %s; false"\n' "$PLANTED" >"$1"
}

# What each session plants: the body of a script. Its words: a file with the settings, the hash of a commit.
LINK='git update-index --add --cacheinfo 160000,$2,sub'
PARTS='mkdir -p sub/x/objects sub/x/refs; cp $1 sub/x/config; echo "ref: refs/heads/main" >'
declare -gA ATTACK=(
    [common]="mkdir -p sub/.git; ${PARTS}sub/.git/HEAD; echo ../x >sub/.git/commondir; $LINK"
    [files]='mkdir -p sub/.git; cp $1 sub/.git/config; cd sub/.git; echo "ref: refs/heads/main" >HEAD; : >objects; : >refs; chmod 755 objects refs; cd ../..; '$LINK
    [file]="mkdir -p sub/y; ${PARTS}sub/y/HEAD; echo ../x >sub/y/commondir; echo 'gitdir: y' >sub/.git; $LINK"
    [link]="mkdir -p sub/y; ${PARTS}sub/y/HEAD; echo ../x >sub/y/commondir; ln -s y sub/.git; $LINK"
    [skipped]='mkdir -p node_modules/sub; git init -q node_modules/sub; cp $1 node_modules/sub/.git/config; ln -s node_modules/sub sub; '${LINK/%sub/node_modules/sub}
    [shared]="mkdir -p sub/.git; ${PARTS}sub/.git/HEAD; echo ../x >sub/.git/commondir; $LINK; git update-index --split-index; touch -d '1 hour ago' .git/sharedindex.*"
    [version4]="git update-index --index-version 4; mkdir -p sub/.git; ${PARTS}sub/.git/HEAD; echo ../x >sub/.git/commondir; $LINK"
)

# attacked NAME: a session with a terminal, in a copy of the project.
attacked() {
    settings "$HOME/settings"
    cp "$HOME/settings" .settings
    local words
    printf -v words '%q ' "$SBX_PROGRAM" --network isolated -- sh -c "${ATTACK[$1]}; rm .settings" sh .settings "$(git rev-parse HEAD)"
    works script -qec "$words" /dev/null </dev/null
}

renew() {
    cd "$HOME"
    chmod -R u+rwX project
    rm -rf project "$HOME/.local" "$PLANTED"
    cp -a saved project
    cd project || return
}

# bats test_tags=smoke
@test "a repository whose parts are spread is named, although git status runs its program" {
    cp -a . "$HOME/saved"
    local attack
    for attack in "${!ATTACK[@]}"; do
        renew
        attacked "$attack"
        local said=$output
        git status >/dev/null 2>&1 || true
        [[ -e $PLANTED ]] || report "$attack, control: git status runs nothing"
        output=$said
        [[ $output == *"core.fsmonitor: a program that git runs at every status"* ]] || leak "$attack: the settings are not named"
        [[ $output == *"git status starts git in it"* ]] || leak "$attack: the gitlink is not named"
    done
}

@test "a repository in a directory whose common directory is elsewhere is named, although git there runs its program" {
    ATTACK[bare]="mkdir -p src; ${PARTS/sub\/x/sub/x}src/HEAD; echo ../sub/x >src/commondir"
    attacked bare
    local said=$output
    (cd src && git --work-tree=. status >/dev/null 2>&1) || true
    [[ -e $PLANTED ]] || report "control: git runs nothing"
    output=$said
    [[ $output == *"sub/x/config: core.fsmonitor"* ]] || leak "the settings are not named"
    [[ $output == *"src/commondir: leads git to other hooks"* ]] || leak "the way is not named"
}

@test "settings that change behind an old gitlink are named where the walk does not look" {
    git init -q node_modules/sub
    git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),node_modules/sub"
    settings "$HOME/settings"
    cp "$HOME/settings" .settings
    local words
    printf -v words '%q ' "$SBX_PROGRAM" --network isolated -- cp .settings node_modules/sub/.git/config
    works script -qec "$words" /dev/null </dev/null
    local said=$output
    git status >/dev/null 2>&1 || true
    [[ -e $PLANTED ]] || report "control: git status runs nothing"
    output=$said
    [[ $output == *"node_modules/sub/.git/config: core.fsmonitor"* ]] || leak "not named"
    [[ $output != *"git status starts git in it"* ]] || report "a gitlink of the user is named"
}

@test "a gitlink that a second session adds for a repository of the first is named, and named once" {
    local words
    printf -v words '%q ' "$SBX_PROGRAM" --network isolated -- sh -c 'git init -q sub'
    works script -qec "$words" /dev/null </dev/null
    printf -v words '%q ' "$SBX_PROGRAM" --network isolated -- sh -c "$LINK" sh - "$(git rev-parse HEAD)"
    works script -qec "$words" /dev/null </dev/null
    [[ $output == *"sub: the index names a repository here"* ]] || leak "not named"
    printf -v words '%q ' "$SBX_PROGRAM" --network isolated -- git status
    works script -qec "$words" /dev/null </dev/null
    [[ $output != *"the index names"* ]] || report "named twice"
}

@test "an index that git's own reader would take apart otherwise is named" {
    # A table of blocks that leads git's threads to other entries; with many files git reads them side by side.
    local words
    git config index.threads 2
    touch f{1..300}
    printf -v words '%q ' "$SBX_PROGRAM" --network isolated -- sh -c '
        git add .
        python3 - <<END
data = bytearray(open(".git/index", "rb").read())
at = data.find(b"IEOT")
assert at > 0
data[at + 15] ^= 8
open(".git/index", "wb").write(data)
END'
    works script -qec "$words" /dev/null </dev/null
    [[ $output == *".git/index: an index that can't be read"* ]] || leak "not named"
}
