#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The addresses that a session can give to the remotes of its project: none makes a push outside run a program of the jail.

load helper
load git_config

setup() { start_git_test; }
teardown() {
    chmod u+rwx "$HOME" "$PROJECT"
    end_test
}

@test "an address that starts a program or leads to a repository that a jail can write is refused" {
    local address
    git init -q --bare evil.git
    make_trap
    # Control: a push to a repository in the project runs its hooks.
    cp "$HOME/trap" evil.git/hooks/pre-receive
    git push -q "$PROJECT/evil.git" main 2>/dev/null || true
    works test -e "$PLANTED"
    for address in ./evil.git "$PROJECT/evil.git" "file://$PROJECT/evil.git" "$HOME/served/app.git" 'ext::sh -c x' -x foo::x foo://x/y \
        ssh://-oProxyCommand=x/y /proc/self/cwd/evil.git file:///proc/self/cwd/evil.git /proc/thread-self/cwd/evil.git \
        "file://${PROJECT/\/h/\/%68}/evil.git" "/usr/../$PROJECT/evil.git" "/$PROJECT/evil.git" \
        "file:///usr/%2e%2e$PROJECT/evil.git" "localhost:${PROJECT##*/}/evil.git" "ssh://localhost$PROJECT/evil.git" \
        "ssh://node.example.org$PROJECT/evil.git" "localhost:~/evil.git" "[localhost]:${PROJECT##*/}/evil.git" \
        "ssh://localhost/proc/self/cwd/${PROJECT##*/}/evil.git" "localhost.:${PROJECT##*/}/evil.git" "a.localhost:${PROJECT##*/}/evil.git" \
        "LOCALHOST.localdomain:${PROJECT##*/}/evil.git" "0x7f.1:${PROJECT##*/}/evil.git" "me@127.1:${PROJECT##*/}/evil.git"; do
        refuses remote.evil.url git config remote.evil.url "$address"
        refuses submodule.evil.url git config submodule.evil.url "$address"
        refuses remote.origin.pushurl git config remote.origin.pushurl "$address"
    done
    refuses branch.main.remote git config branch.main.remote ./evil.git
    refuses branch.main.pushremote git config branch.main.pushRemote evil.git
    refuses branch.main.remote git config --remove-section remote.origin
    works test ! -e .git/config.lock
    # An ordinary address on a server is accepted, with a name that exists in the home directory, too.
    for address in "git@example.org:${PROJECT##*/}/app.git" git@localhost:absent/app.git ssh://git@example.org/me/app.git; do
        works in_jail git config remote.good.url "$address"
    done
}

@test "a repository that the session shuts while it sets the address is refused" {
    git init -q --bare evil.git
    works in_jail true
    # No directory above the project can be written, as where an administrator has made it.
    chmod 555 "$HOME"
    refuses remote.evil.url sh -c 'chmod 555 evil.git . && git config remote.evil.url "$PWD/evil.git"; status=$?; chmod 755 evil.git .; exit $status'
    # Control: a directory of another user that can't be written.
    works in_jail git config remote.good.url /usr/share/app.git
    chmod 755 "$HOME"
}

@test "control: git outside takes the addresses apart as the judge does" {
    local address number=0
    git init -q --bare evil.git
    make_trap
    cp "$HOME/trap" evil.git/hooks/pre-receive
    for address in /proc/self/cwd/evil.git "file://${PROJECT/\/h/\/%68}/evil.git" "file:///usr/%2e%2e$PROJECT/evil.git"; do
        git push -q "$address" "main:refs/heads/branch-$((++number))" 2>/dev/null || true
        works test -e "$PLANTED"
        rm "$PLANTED"
    done
}

# A file or link of the project with the remote's name is where git then pushes.
@test "a remote from before the session can't be removed or renamed, one of the session can" {
    # Control: outside, a push to a remote that is gone runs the hooks of what has its name.
    git init -q --bare kept.git
    make_trap
    cp "$HOME/trap" kept.git/hooks/post-receive
    echo "gitdir: kept.git" >gone
    git push -q gone main 2>/dev/null || true
    works test -e "$PLANTED"
    works in_jail sh -c 'git config --unset branch.main.remote && git config --unset branch.main.merge'
    refuses remote.origin.url git config --remove-section remote.origin
    refuses remote.origin.url git config --rename-section remote.origin remote.upstream
    refuses remote.origin.url git config --unset remote.origin.url
    works in_jail sh -c 'git remote add fork https://example.org/fork.git && git remote rename fork mine && git remote remove mine'
    # A remote that the session replaced first.
    works in_jail sh -c 'git remote set-url origin https://example.org/other.git && ! git config --remove-section remote.origin'
}

# `gh pr checkout` writes an address where git expects a remote.
@test "a branch can track the address of a fork on a server, and no directory and no program" {
    local address
    for address in https://example.org/me/app.git git@example.org:me/app.git "$ORIGIN"; do
        works in_jail git config branch.topic.remote "$address"
        works in_jail git config branch.topic.pushRemote "$address"
        prints "$address" git config branch.topic.remote
    done
    for address in evil.git "$PROJECT/evil.git" /usr/share/app.git file:///usr/share/app.git 'ext::sh -c x' "localhost:${PROJECT##*/}/evil.git"; do
        refuses branch.topic.remote git config branch.topic.remote "$address"
    done
    refuses remote.pushdefault git config remote.pushDefault "$ORIGIN"
    works in_jail git fetch -q "$ORIGIN" other:refs/heads/topic
    works in_jail git checkout -q topic
    works in_jail git pull -q
}

# start_listener: accepts one connection on PORT, and creates ~/reached.
start_listener() {
    python3 -c 'import os, socket, sys
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
print(server.getsockname()[1], flush=True)
while True:
    server.accept()[0].close()
    open(sys.argv[1], "w").close()' "$HOME/reached" >"$HOME/port" 3>&- &
    CHILDREN+=($!)
    wait_until test -s "$HOME/port"
    PORT=$(<"$HOME/port")
}

@test "in a partial clone no session changes where git status outside fetches missing objects" {
    start_listener
    git -C "$HOME/served/app.git" config uploadpack.allowFilter true
    cd "$HOME" && rm -rf "$PROJECT" && git clone -q --filter=blob:none "$ORIGIN" "$PROJECT" && cd "$PROJECT"
    cp -a "$PROJECT" "$HOME/control"
    rm -rf "$HOME"/control/.git/objects/pack/*
    # Control: git status connects to the address, also where the filter alone is set.
    git -C "$HOME/control" remote set-url origin "git://127.0.0.1:$PORT/secret"
    git -C "$HOME/control" config --unset remote.origin.promisor
    git -C "$HOME/control" status >/dev/null 2>&1 || true
    wait_until test -e "$HOME/reached"
    rm "$HOME/reached"
    refuses remote.origin.url git remote set-url origin "git://127.0.0.1:$PORT/secret"
    refuses remote.origin.url git config --add remote.origin.url "git://127.0.0.1:$PORT/secret"
    works in_jail sh -c 'git remote add fork "$1" && rm -rf .git/objects/pack/*' - "git://127.0.0.1:$PORT/secret"
    refuses remote.fork.partialclonefilter git config remote.fork.partialCloneFilter blob:none
    refuses remote.fork.promisor git config remote.fork.promisor true
    git status >/dev/null 2>&1 || true
    works test ! -e "$HOME/reached"
}

@test "what the user's next push sends and fetch replaces can't be changed" {
    refuses push.default git config push.default matching
    refuses remote.origin.fetch git config remote.origin.fetch "+refs/heads/main:refs/heads/main"
    refuses remote.origin.fetch git config --add remote.origin.fetch "+refs/*:refs/*"
    works in_jail git config --add remote.origin.fetch "+refs/pull/*/head:refs/remotes/origin/pr/*"
    works in_jail git config --add remote.origin.fetch "+refs/tags/*:refs/tags/*"
}

@test "a remote that leads elsewhere after the session is named at its end, a new one is not" {
    works "$SBX_PROGRAM" --network open -- git remote add fork https://example.org/fork.git
    [[ $output != *"leads elsewhere"* ]] || report "should not name a new remote"
    works "$SBX_PROGRAM" --network open -- git remote set-url origin https://example.org/other.git
    [[ $output == *"remote.origin in $PROJECT/.git/config leads elsewhere now"* ]] || report "should name the remote"
    git branch -q --unset-upstream main 2>/dev/null || true
    git config branch.main.remote origin
    works "$SBX_PROGRAM" --network open -- git config branch.main.pushRemote fork
    [[ $output == *"branch.main in $PROJECT/.git/config leads elsewhere now"* ]] || report "should name the branch"
    # A branch that has no remote of its own.
    git config --unset branch.main.remote
    git config --unset branch.main.pushRemote
    works "$SBX_PROGRAM" --network open -- git config remote.pushDefault origin
    [[ $output != *"leads elsewhere"* ]] || report "should not name what git does anyway"
    works "$SBX_PROGRAM" --network open -- git config remote.pushDefault fork
    [[ $output == *"remote.pushdefault in $PROJECT/.git/config leads elsewhere now"* ]] || report "should name the default"
}
