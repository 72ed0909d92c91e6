#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What a session writes beside the project is discarded with its private home directory. The end of the session lists it, and
# `agent-sandbox keep` brings it back for an hour, without what would run on the host by itself.

load helper

setup() {
    start_test
    make_repository "$PROJECT"
    echo hello >"$PROJECT/hello.txt"
    git -C "$PROJECT" add hello.txt
    git -C "$PROJECT" commit -qm first
    STORE=$HOME/.local/state/agent-sandbox/discarded
    JAIL=(--network isolated)
}
teardown() { end_test; }

# The end of a session as a terminal shows it.
told() { run "$SBX_PROGRAM" --verbose "${JAIL[@]}" -- sh -c "$1"; }
says() { [[ $output == *"$1"* ]] || report "should say: $1"; }
omits() { [[ $output != *"$1"* ]] || report "should not say: $1"; }
keep() { "$SBX_PROGRAM" keep "$@"; }

loses_and_keeps() { # BACKEND
    JAIL+=(--backend "$1")
    told 'git worktree add -q ../wt && git clone -q . ../lib && echo remember >~/notes.txt'
    [[ $status == 0 ]]
    says "written outside the project and discarded"
    says "  ~/wt  2 files"
    says "  ~/lib  "
    says "  ~/notes.txt  1 file, 9 bytes"
    fails "" test -e "$HOME/wt"
    fails "" test -e "$HOME/notes.txt"
    prints "kept: ~/wt  2 files" keep ../wt
    works keep "$HOME/lib" "~/notes.txt"
    prints remember cat "$HOME/notes.txt"
    prints "" git -C "$HOME/wt" status --short
    prints "" git -C "$HOME/lib" status --short
    prints "first" git -C "$HOME/lib" log --format=%s
    works git -C "$HOME/lib" fsck
}

# bats test_tags=smoke
@test "native: a worktree, a clone and a note beside the project are listed and come back whole" {
    loses_and_keeps native
}

@test "bubblewrap: a worktree, a clone and a note beside the project are listed and come back whole" {
    loses_and_keeps bwrap
}

@test "firejail: a worktree, a clone and a note beside the project are listed and come back whole" {
    loses_and_keeps firejail
}

@test "Landlock refuses the same writes, so nothing is discarded" {
    JAIL+=(--backend landlock)
    told 'git worktree add -q ../wt; git clone -q . ../lib; echo remember >~/notes.txt'
    says "could not create"
    says "Permission denied"
    omits "discarded"
    fails "" test -e "$STORE"
}

@test "the home directory is real, read-only or writable: nothing is discarded" {
    for mode in restricted read write; do
        JAIL=(--network isolated --home "$mode")
        told 'echo remember >~/notes.txt'
        omits "discarded"
        fails "" test -e "$STORE"
    done
    prints remember cat "$HOME/notes.txt"
}

@test "a command that writes nothing beside the project stores nothing" {
    printf '[user]\n\tname = Me\n' >"$HOME/.gitconfig"
    told 'echo x >file; echo x >/tmp/file; git config --global user.name'
    omits "discarded"
    fails "" test -e "$STORE"
    fails "no session of the last hour" keep
}

@test "caches, histories and empty directories are not listed, a changed copy of .gitconfig is" {
    printf '[user]\n\tname = Me\n' >"$HOME/.gitconfig"
    told 'mkdir -p ~/.cache/a ~/.cargo/registry ~/empty; for f in .cache/a/b .cargo/registry/c .bash_history .zcompdump-x; do echo x >~/$f; done'
    omits "discarded"
    told 'sed -i s/Me/We/ ~/.gitconfig'
    says "  ~/.gitconfig  1 file"
}

@test "a session without a terminal lists them, too, and a session that discards nothing prints nothing" {
    works "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c 'echo remember >~/notes.txt'
    says "written outside the project and discarded"
    says "  ~/notes.txt  1 file, 9 bytes"
    prints "" "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c 'echo inside >here.txt; mkdir -p ~/.cache/x; echo x >~/.cache/x/y'
}

@test "quiet sessions print nothing and store all the same" {
    prints "" in_jail_sh 'echo remember >~/notes.txt'
    works keep
    says "  ~/notes.txt  1 file, 9 bytes"
}

@test "too many files, a sparse file of a tebibyte and deep directories are named and not stored, the note beside them is" {
    told 'echo remember >~/notes.txt; truncate -s 1T ~/sparse
        mkdir ~/many && cd ~/many && seq 30000 | xargs touch
        cd ~ && python3 -c "
import os
os.mkdir(\"deep\"); os.chdir(\"deep\")
for i in range(300): os.mkdir(\"d\"); os.chdir(\"d\")
open(\"f\", \"w\")"'
    [[ $status == 0 ]]
    says "  ~/many  more than 20000 files, 0 bytes; not kept: too much to keep: at most 20000 files and 200 MiB"
    says "  ~/sparse  1 file, 1.0T; not kept: too much to keep"
    says "  ~/deep  more than 0 files, 0 bytes; not kept: too deep to keep: at most 100 directories"
    says "  ~/notes.txt  1 file, 9 bytes"
    (($(du -sk "$STORE" | cut -f1) < 1000))
    fails "not kept: " keep "$HOME/many"
    works keep "$HOME/notes.txt"
}

@test "all sessions together store at most 400 MiB: the oldest go first" {
    for i in 1 2 3; do
        in_jail_sh 'head -c 150M /dev/zero >~/block'
    done
    (($(find "$STORE" -name block | wc -l) == 2))
}

@test "no link is followed, into the store or out of it" {
    echo secret >"$HOME/secret.txt"
    mkdir "$HOME/elsewhere"
    ln -s elsewhere "$HOME/led"
    told 'mkdir ~/d ~/led; echo x >~/led/planted; echo x >~/d/file; cd ~/d; ln -s ~/secret.txt absolute; ln -s ../secret.txt up
        ln -s file good; ln -s . here; ln -s here/../../secret.txt chain; ln file hard; mkfifo pipe'
    says "  ~/d  7 files"
    ! grep -r secret "$STORE"/*/home || false
    fails "left out: ~/d/absolute: a symbolic link that leads out of the copied tree" keep "$HOME/d"
    says "left out: ~/d/up: "
    says "left out: ~/d/chain: "
    prints x cat "$HOME/d/good"
    prints x cat "$HOME/d/hard"
    fails "" test -e "$HOME/d/pipe"
    fails "" test -L "$HOME/d/absolute"
    # A link of the host's on the way, which a session could have planted where it may write.
    fails "exists" keep "$HOME/led"
    fails "" keep "$HOME/led/planted"
    fails "" test -e "$HOME/elsewhere/planted"
    # A name of which nothing was copied is not reported as kept.
    told 'ln -s /etc/passwd ~/led-out'
    fails "left out: ~/led-out: a symbolic link that leads out" keep "$HOME/led-out"
    omits "kept:"
}

@test "names with escape sequences and line breaks are printed as text" {
    told 'touch "$(printf "$HOME/a\033[2Jb\nc")"'
    says '~/a\x1b[2Jb\x0ac  1 file'
    works keep "$HOME"
    says '\x1b[2J'
    omits $'\033'
    works test -e "$(printf '%s/a\033[2Jb\nc' "$HOME")"
}

@test "a directory without permission is counted and does not stop the rest" {
    told 'mkdir ~/d ~/d/shut; echo x >~/d/file; echo x >~/d/shut/file; chmod 0 ~/d/shut'
    says "1 without permission to read"
    works keep "$HOME/d"
    prints x cat "$HOME/d/file"
}

@test "start-up files, programs on the PATH, credentials and protected names stay in the store" {
    told 'mkdir -p ~/bin ~/.ssh ~/.config/autostart ~/tree/.vscode ~/tree/src; echo x >~/tree/.vscode/tasks.json; echo x >~/tree/.envrc
        echo x >~/tree/src/main.c; for f in .bash_aliases bin/ls .ssh/authorized_keys .config/autostart/x.desktop; do echo x >~/$f; done'
    fails "left out: ~/.bash_aliases: " keep "$HOME"
    says "left out: ~/bin: programs on the PATH"
    says "left out: ~/.ssh: "
    says "left out: ~/.config/autostart: "
    says "left out: ~/tree/.vscode: "
    says "left out: ~/tree/.envrc: "
    says "what was left out is in "
    prints x cat "$HOME/tree/src/main.c"
    for path in .bash_aliases bin .ssh .config tree/.vscode tree/.envrc; do fails "" test -e "$HOME/$path"; done
    mkdir "$HOME/bin"
    fails "left out: ~/bin/ls" keep "$HOME/bin/ls" --to "$HOME/bin" --force
    fails "left out: ~/tree2/.envrc" keep "$HOME/tree/.envrc" --to "$HOME/tree2"
    fails "" test -e "$HOME/bin/ls"
}

@test "what makes git run programs stays in the store: hooks, settings, a .git file that leads elsewhere" {
    told 'git clone -q . ../lib && printf "#!/bin/sh\n" >../lib/.git/hooks/pre-commit && chmod +x ../lib/.git/hooks/pre-commit
        git -C ../lib config core.fsmonitor ./x; mkdir ../led && echo "gitdir: /tmp/evil" >../led/.git
        mkdir -p ../lib/.git/remotes ../lib/.git/branches; echo "URL: ./x" >../lib/.git/remotes/origin; echo ./x >../lib/.git/branches/b
        git clone -q --bare . ../bare.git && echo x >../bare.git/hooks/post-receive'
    fails "left out: ~/lib/.git/hooks/pre-commit: a hook that git runs" keep "$HOME"
    says "left out: ~/lib/.git/config: git would run programs or read files for it (core.fsmonitor)"
    says "left out: ~/led/.git: leads git to /tmp/evil"
    says "left out: ~/bare.git/hooks/post-receive: a hook that git runs"
    says "left out: ~/lib/.git/remotes/origin: names a repository whose hooks a push runs"
    says "left out: ~/lib/.git/branches/b: names a repository whose hooks a push runs"
    works test -e "$HOME/lib/.git/HEAD"
    works test -e "$HOME/lib/.git/refs/remotes/origin/HEAD"
    works test -e "$HOME/lib/.git/hooks/pre-commit.sample"
    fails "" test -e "$HOME/lib/.git/hooks/pre-commit"
}

# A bare repository of the project, whose hooks no rule protects.
lib_leads_to() {
    rm -rf "$HOME/lib" evil.git planted link
    told "git init -q --bare evil.git && cp trap evil.git/hooks/pre-receive && git clone -q . ../lib && cd ../lib && $1"
}
@test "a clone whose remote leads to a repository that the session wrote is kept without its configuration" {
    printf '#!/bin/sh\ntouch "%s"\n' "$PROJECT/planted" >trap
    chmod +x trap
    # Control: a push runs the hook.
    git clone -q . "$HOME/control" && git init -q --bare evil.git && cp trap evil.git/hooks/pre-receive
    git -C "$HOME/control" push -q "$PROJECT/evil.git" HEAD:refs/heads/b
    works test -e planted
    make_repository "$HOME/own"
    local row
    for row in 'git remote set-url origin "$OLDPWD/evil.git"' 'git remote set-url origin ../project/evil.git' \
        'git config remote.origin.pushurl "file://$OLDPWD/evil.git"' 'git config branch.main.pushRemote "$OLDPWD/evil.git"' \
        'git remote set-url origin https://example.org/x && git config "url.$OLDPWD/evil.git.insteadOf" https://example.org/x' \
        'git remote set-url origin x:evil.git && git config "url.$OLDPWD/.insteadOf" x:' \
        'ln -s ~/own "$OLDPWD/link" && git remote set-url origin "$OLDPWD/link"'; do
        lib_leads_to "$row"
        fails "left out: ~/lib/.git/config: a push could run hooks that the session wrote (" keep "$HOME/lib"
        git -C "$HOME/lib" push -q origin HEAD:refs/heads/c 2>/dev/null || true
        fails "" test -e planted
    done
    # Ordinary addresses: the project itself, a server, another repository of the user's.
    for row in true 'git remote set-url origin git@example.org:me/app.git' "git remote set-url origin '$HOME/own'"; do
        lib_leads_to "$row"
        works keep "$HOME/lib"
        works test -e "$HOME/lib/.git/config"
    done
}

@test "a .git file leads neither into the store nor through a link into the project, and hooks are not a link" {
    told 'git init -q --bare evil && echo x >evil/hooks/post-checkout && mkdir ../a ../b ../c ../d
        echo "gitdir: $HOME/.local/state/agent-sandbox/discarded/$AGENT_SANDBOX_SESSION/home/a/store" >../a/.git
        ln -s . ../b/x && echo "gitdir: x/../project/evil" >../b/.git
        git init -q ../c && rm -r ../c/.git/hooks && mkdir ../c/tools && echo x >../c/tools/pre-commit && ln -s ../tools ../c/.git/hooks
        git worktree add -q ../e; ln -s ../../evil .git/worktrees/evil; echo "gitdir: $PWD/.git/worktrees/evil" >../d/.git'
    fails "left out: ~/a/.git: leads git to " keep "$HOME"
    says "left out: ~/b/.git: leads git to "
    says "left out: ~/c/.git/hooks: a symbolic link in a repository"
    says "left out: ~/d/.git: leads git to "
    says "kept: ~/e  "
    for path in a/.git b/.git c/.git/hooks d/.git; do fails "" test -e "$HOME/$path"; done
    prints . readlink "$HOME/b/x"
}

@test "a common directory without HEAD and a configuration after a byte order mark are recognised as git's" {
    # Control: git reads both.
    local tree=$BATS_TEST_TMPDIR/common
    mkdir -p "$tree/g/w" "$tree/objects" "$tree/refs" && echo "gitdir: g/w" >"$tree/.git"
    echo "ref: refs/heads/main" >"$tree/g/w/HEAD" && echo ../.. >"$tree/g/w/commondir"
    printf '\357\273\277[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./x\n' >"$tree/config"
    prints ./x git -C "$tree" config core.fsmonitor
    told 'for d in c/g/w c/objects c/refs c/hooks; do mkdir -p ~/$d; done; echo "gitdir: g/w" >~/c/.git; echo x >~/c/objects/x; echo x >~/c/refs/x
        echo "ref: refs/heads/main" >~/c/g/w/HEAD; echo ../.. >~/c/g/w/commondir; echo x >~/c/hooks/pre-commit
        printf "\357\273\277[core]\n\tfsmonitor = ./x\n" >~/c/config
        mkdir -p ~/objects ~/refs ~/hooks && echo x >~/objects/x && echo x >~/refs/x && echo x >~/hooks/pre-commit && cp ~/c/config ~/config'
    fails "left out: ~/c/hooks/pre-commit: a hook that git runs" keep "$HOME"
    says "left out: ~/c/config: git would run programs or read files for it (core.fsmonitor)"
    says "left out: ~/hooks/pre-commit: a hook that git runs"
    says "left out: ~/config: git would run programs or read files for it (core.fsmonitor)"
    for path in c/config c/hooks/pre-commit config hooks/pre-commit; do fails "" test -e "$HOME/$path"; done
}

@test "a directory on the way that is a link on the host is named, and the rest is copied" {
    mkdir "$HOME/elsewhere" "$HOME/above"
    ln -s ../elsewhere "$HOME/above/led"
    told 'mkdir -p ~/above/led ~/z; echo x >~/above/led/file; echo x >~/z/file'
    fails "left out: ~/above/led/file: " keep "$HOME/above/led/file" "$HOME/z"
    prints x cat "$HOME/z/file"
    fails "" test -e "$HOME/elsewhere/file"
}

@test "a hook alone does not get into a repository that only the host has" {
    make_repository "$HOME/other"
    git init -q --bare "$HOME/bare.git"
    told 'for d in other/.git/hooks bare.git/hooks; do mkdir -p ~/$d; echo x >~/$d/post-checkout; done; echo "[core]" >~/bare.git/config'
    fails "exists; --force" keep "$HOME"
    fails "a hook that git runs" keep --force "$HOME"
    fails "" test -e "$HOME/other/.git/hooks/post-checkout"
    fails "" test -e "$HOME/bare.git/hooks/post-checkout"
}

@test "an existing file stays without --force; --to copies to another directory" {
    echo old >"$HOME/notes.txt"
    in_jail_sh 'echo new >~/notes.txt'
    fails "left out: ~/notes.txt: exists; --force" keep "$HOME/notes.txt"
    prints old cat "$HOME/notes.txt"
    works keep "$HOME/notes.txt" --to "$HOME/other/place"
    prints new cat "$HOME/other/place/notes.txt"
    works keep --force "$HOME/notes.txt"
    prints new cat "$HOME/notes.txt"
    fails "is not among the discarded files" keep "$HOME/nothing"
    fails "needs to know what to copy" keep --force
}

@test "no later session reads the stored files or plants in them" {
    in_jail_sh 'echo remember >~/notes.txt'
    file=$(echo "$STORE"/*/home/notes.txt)
    works cat "$file"
    works touch "${file%/*}/control"
    [[ $(stat -c %a "$STORE" "${STORE%/*}") == $'700\n700' ]]
    for mode in tmpwrite restricted read write; do
        JAIL=(--network isolated --home "$mode")
        fails "" in_jail cat "$file"
        in_jail touch "${file%/*}/planted" || true
        fails "" test -e "${file%/*}/planted"
        fails "outside of the jail" in_jail "$SBX_PROGRAM" keep
    done
    works keep "$HOME/notes.txt"
}

@test "two sessions of one project have their files apart" {
    start_jail 'echo first >~/one.txt; touch ready; while [ ! -e go ]; do sleep 0.01; done'
    in_jail_sh 'echo second >~/two.txt'
    works keep
    says "two.txt"
    omits "one.txt"
    second=$(ls "$STORE")
    touch go
    end_of_jail
    works keep
    says "one.txt"
    says "also: agent-sandbox keep --session ${second:0:8}"
    prints "kept: ~/one.txt  1 file" keep "$HOME"
    prints "kept: ~/two.txt  1 file" keep --session "${second:0:8}" "$HOME"
}

@test "the supervisor is killed: its keeper stores the files" {
    start_jail 'echo remember >~/notes.txt; touch ready; sleep 1000'
    kill -KILL "$SUPERVISOR"
    wait_until sh -c 'test -e "$1"/*/about' sh "$STORE"
    works keep "$HOME/notes.txt"
    prints remember cat "$HOME/notes.txt"
}

@test "after an hour the stored files are removed, by keep and by the end of the next session" {
    in_jail_sh 'echo remember >~/notes.txt'
    works keep
    touch -d '61 minutes ago' "$STORE"/*
    fails "no session of the last hour" keep
    # The keeper may remove them at the same moment.
    wait_until sh -c '! ls "$1"/*' sh "$STORE"
    in_jail_sh 'echo remember >~/notes.txt'
    touch -d '61 minutes ago' "$STORE"/*
    in_jail true
    wait_until sh -c '! ls "$1"/*' sh "$STORE"
}

@test "a state directory that can't be written does not stop the session, and the list shows why nothing is kept" {
    in_jail true
    mkdir -p "${STORE%/*}"
    : >"$STORE"
    told 'echo remember >~/notes.txt'
    [[ $status == 0 ]]
    says "  ~/notes.txt  1 file, 9 bytes; not kept: "
}
