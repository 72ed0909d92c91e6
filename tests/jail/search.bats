#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The search for files to mask and repositories to protect has no limit that switches it off.

load helper

setup() { start_test; }
teardown() { end_test; }

known_places() { cat "$HOME"/.local/state/agent-sandbox/known-places/* 2>/dev/null | tr '\0' '\n'; }
is_known() { known_places | grep -qxF -- "$1"; }

# plant_directories DIRECTORY COUNT: creates names that sort in front of all others.
plant_directories() { (cd "$1" && seq -f '!%05g' "$2" | xargs mkdir); }

# until_covered FILE: the jail's script waits until the file reads as empty.
UNTIL_COVERED='until_covered() { for file; do until [ ! -s "$file" ]; do sleep 0.01; done; done; }; '

@test "10,000 planted entries unmask nothing in the next session" {
    mkdir svc
    echo "KEY=planted" >.env
    echo "KEY=planted" >svc/.env
    works in_jail_sh 'seq -f "!%05g" 12000 | xargs touch'
    prints "KEY=planted" cat svc/.env
    prints "" in_jail cat .env svc/.env
}

@test "11,000 planted directories open no nested repository" {
    make_repository sub
    works in_jail_sh 'seq -f "!%05g" 11000 | xargs mkdir'
    works sh -c 'echo outside >sub/.git/hooks/outside'
    fails "Read-only file system" in_jail_sh 'echo inside >sub/.git/hooks/inside'
}

@test "a file in deep directories is masked" {
    mkdir -p 1/2/3/4/5/6/7/8/9
    echo "KEY=planted" >1/2/3/4/5/6/7/8/9/.env
    prints "KEY=planted" cat 1/2/3/4/5/6/7/8/9/.env
    prints "" in_jail cat 1/2/3/4/5/6/7/8/9/.env
}

@test "a place of an earlier session is covered before the command starts, whatever is planted since" {
    mkdir -p a/b && echo "KEY=planted" >a/b/.env
    start_jail 'touch ready; until [ -e go ]; do sleep 0.01; done'
    wait_until is_known a/b/.env || report "not written down"
    touch go && end_of_jail
    rm go
    # The list of known files keeps names with any byte except NUL.
    local odd=$'new\nline \xff'
    mkdir "$odd" && echo "KEY=planted" >"$odd/.env"
    start_jail 'touch ready; until [ -e go ]; do sleep 0.01; done'
    is_odd_known() { grep -qaF $'line \xff/.env' "$HOME"/.local/state/agent-sandbox/known-places/*; }
    wait_until is_odd_known || report "not written down"
    touch go && end_of_jail
    prints "" in_jail cat a/b/.env "$odd/.env"
}

@test "the file of known places can't be forged from inside or by a link, and a damaged one is not used" {
    echo "KEY=planted" >.env
    start_jail 'touch ready; until [ -e go ]; do sleep 0.01; done; ls "$HOME/.local/state/agent-sandbox" 2>&1'
    wait_until is_known .env
    touch go && end_of_jail
    local file
    file=$(echo "$HOME"/.local/state/agent-sandbox/known-places/*)
    grep -q "No such file" "$BATS_TEST_TMPDIR/jail.out" || leak "the state directory is visible: $(cat "$BATS_TEST_TMPDIR/jail.out")"
    for content in "" "nonsense" "$(head -c 9000000 /dev/zero | tr '\0' x)"; do
        printf %s "$content" >"$file"
        prints "" in_jail cat .env
    done
    echo victim >"$HOME/victim"
    rm "$file" && ln -s "$HOME/victim" "$file"
    start_jail 'touch ready; until [ -e go2 ]; do sleep 0.01; done'
    is_replaced() { [[ ! -L $file ]] && is_known .env; }
    wait_until is_replaced || report "not written anew"
    touch go2 && end_of_jail
    prints victim cat "$HOME/victim"
}

covers_outputs() {
    JAIL=(--backend "$1")
    mkdir -p build/x node_modules/dep target
    for file in build/x/.env target/.env node_modules/dep/.env; do echo "KEY=planted" >"$file"; done
    works in_jail_sh "$UNTIL_COVERED"'until_covered build/x/.env target/.env; cat build/x/.env target/.env'
    [[ $output != *planted* ]] || leak "the content came out"
    [[ $output == *"2 files could be read until the search masked them (build/x/.env after "* ]] || report "not told"
    works in_jail_sh 'rm -r node_modules'
    works test ! -e node_modules
    # From the second session on, the file is masked before the command starts.
    is_known build/x/.env || report "not written down"
    prints "" in_jail cat build/x/.env target/.env
}

@test "outputs of build tools are searched while the session runs; packages can be removed" {
    covers_outputs native
}

@test "bubblewrap: outputs of build tools are searched while the session runs; packages can be removed" {
    covers_outputs bwrap
}

@test "a file that is covered late can't be written, removed or moved aside, nor can its directory" {
    mkdir -p build/x && echo "KEY=planted" >build/x/.env
    run in_jail_sh "$UNTIL_COVERED"'until_covered build/x/.env; echo inside >build/x/.env; rm -f build/x/.env; mv build/x build/y; mv build other; cat build/*/.env other/*/.env'
    [[ $output != *planted* ]] || leak "the content came out"
    [[ $output == *busy* ]] || leak "it could be moved"
    prints "KEY=planted" cat build/x/.env
}

@test "a directory without permissions is not opened in the next session" {
    mkdir svc && echo "KEY=planted" >svc/.env
    works in_jail chmod 0 svc
    fails "Permission denied" cat svc/.env
    run in_jail_sh 'chmod 755 svc; cat svc/.env'
    [[ $output != *planted* ]] || leak "the content came out"
    [[ $output == *"Read-only file system"* ]] || leak "its directory could be opened"
    run in_jail true
    [[ $output == *"/project/svc is read-only: you have no permission to list it"*"chmod u+rx"* ]] || report "not told"
    chmod 444 svc
    run in_jail_sh 'chmod 755 svc; cat svc/.env'
    [[ $output != *planted* ]] || leak "it was opened"
    chmod 755 svc
    prints "KEY=planted" cat svc/.env
    prints "" in_jail cat svc/.env
}

@test "directories that are nested too deep are closed, also where no path can name them" {
    python3 -c 'import os
for _ in range(5000):
    os.mkdir("d")
    os.chdir("d")
open(".env", "w").write("KEY=planted\n")' || report "not nested"
    local read='import os
number = 0
while os.path.isdir("d"):
    try:
        os.chdir("d")
    except OSError:
        break
    number += 1
try:
    print(open(".env").read(), end="")
except OSError:
    print(number)'
    run in_jail python3 -c "$read"
    [[ $output != *planted* ]] || leak "it was readable"
    [[ $output == *"is hidden: it is nested too deep"* ]] || report "not told"
    prints "KEY=planted" python3 -c "$read"
}

@test "loops of symbolic links and links out of the project stop no search" {
    mkdir a && ln -s ../a a/loop && ln -s . here && ln -s / out && ln -s loop loop
    ln -s a/secret .env && echo "KEY=planted" >a/secret
    ln -s /etc/passwd .env.passwd
    prints "" in_jail cat .env
    prints "" in_jail cat a/secret
}

@test "3,000 planted repositories delay nothing for long, and none opens" {
    works in_jail_sh 'seq -f "many/r%g/.git/hooks" 3000 | xargs mkdir -p; seq -f "many/r%g/.git/HEAD" 3000 | xargs touch'
    make_repository sub
    works sh -c 'echo outside >many/r2999/.git/hooks/outside'
    run in_jail_sh 'echo inside >many/r2999/.git/hooks/x; echo inside >many/x; echo inside >sub/.git/hooks/x; echo fine >fine; printf "mounts "; grep -c " $PWD" /proc/self/mountinfo'
    [[ $output == *"/project/many is read-only: "*" repositories lie in it"* ]] || report "not told"
    ! grep -qs inside many/x many/r2999/.git/hooks/x sub/.git/hooks/x || leak "it was written"
    [[ $output =~ mounts\ ([0-9]+) ]] && ((BASH_REMATCH[1] < 200)) || report "too many mounts"
    prints fine cat fine
}

@test "the start line counts the masked files" {
    mkdir svc
    echo "KEY=planted" | tee .env >svc/.env
    run "$SBX_PROGRAM" --verbose -- true
    [[ $output == *" · 2 files masked"* ]] || report "not told"
}

# strace slows down reading a directory, in the launch only: the guard is another process.
@test "a launch does not wait for a large project, and reports it" {
    mkdir -p part/x && echo "KEY=planted" >part/x/.env
    plant_directories part 30000
    local launch=(strace -qq -o /dev/null -e trace=getdents64 -e inject=getdents64:delay_enter=60000:when=2+ "$SBX_PROGRAM")
    run "${launch[@]}" --verbose -- sh -c "$UNTIL_COVERED"'until_covered part/x/.env; cat part/x/.env'
    [[ $output != *planted* ]] || leak "the content came out"
    [[ $status == 0 && $output == *"so far, still searching the project"* ]] || report "not told"
    [[ $output == *"1 file could be read until the search masked it (part/x/.env after "* ]] || report "not told at the end"
    works "$SBX_PROGRAM" log
    [[ $output == *cover*part/x/.env* ]] || report "not recorded"
    # The next launch has the path in its list.
    prints "" strace -qq -o /dev/null -e trace=getdents64 -e inject=getdents64:delay_enter=60000:when=2+ "$SBX_PROGRAM" --quiet -- cat part/x/.env
}
