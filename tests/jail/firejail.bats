#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The jail that firejail builds, for hosts where user namespaces are disabled: the same promises, by other means.

load helper
setup() {
    start_test
    JAIL=(--backend firejail --network isolated)
}
teardown() { end_test; }

# Processes of this user that belong to firejail.
of_firejail() { pgrep -u "$SBX_USER" -x firejail; }
none_of_firejail() { ! of_firejail >/dev/null; }

@test "firejail builds the jail, and a command runs in it" {
    prints "$PROJECT" in_jail pwd
    prints firejail in_jail_sh 'echo "$AGENT_SANDBOX_BACKEND"'
    prints "$(id)" in_jail id
}

@test "what no rule shows does not exist" {
    mkdir -p "$HOME/private" "$HOME/.ssh"
    echo secret >"$HOME/private/file"
    echo key >"$HOME/.ssh/id_rsa"
    expect_hidden "$HOME/private/file"
    expect_hidden "$HOME/.ssh/id_rsa"
    expect_hidden "/srv/agent-sandbox-test.$SBX_TAG/secret"
    expect_hidden "/var/lib/agent-sandbox-test.$SBX_TAG/secret"
    expect_hidden "$SBX_NEIGHBOUR_HOME/secret"
}

@test "other spellings do not find it either" {
    echo secret >"$HOME/file"
    works cat "/proc/self/root$HOME/file"
    fails "No such file" in_jail cat "/proc/self/root$HOME/file"
    fails "No such file" in_jail cat "$PROJECT/../file"
    fails "Permission denied" in_jail ls /proc/1/root/
    works "$(native_loader)" /bin/cat "$HOME/file"
    fails "No such file" in_jail "$(native_loader)" /bin/cat "$HOME/file"
}

@test "services of the host and of the user are out of reach" {
    works "${CONNECT[@]}" "/run/agent-sandbox-test.$SBX_TAG/service.sock"
    fails "No such file" in_jail "${CONNECT[@]}" "/run/agent-sandbox-test.$SBX_TAG/service.sock"
    works ls /sys/kernel
    fails "Permission denied" in_jail ls /sys
    prints "" in_jail_sh 'ls -A /run/user 2>/dev/null || true'
}

@test "only the project can be written" {
    echo old >file
    expect_writable "$PROJECT/file"
    works in_jail_sh 'echo new >"$HOME/left"'
    fails "No such file" cat "$HOME/left"
    works in_jail_sh 'echo new >/tmp/agent-sandbox-test-left'
    fails "No such file" cat /tmp/agent-sandbox-test-left
    fails "" in_jail_sh 'echo new >/etc/agent-sandbox-test'
    fails "" in_jail_sh 'echo new >/srv/agent-sandbox-test'
}

@test "a project elsewhere is alone in its directory" {
    local other
    other=$(mktemp -d /var/tmp/agent-sandbox-test.XXXXXX)
    mkdir "$other/project" "$other/neighbour"
    JAIL+=(--project "$other/project")
    cd "$other/project"
    works in_jail_sh 'echo written >file'
    prints written cat file
    fails "No such file" in_jail ls "$other/neighbour"
    cd / && rm -r "$other"
}

@test "protected paths can't be written, masked ones can't be read" {
    make_repository "$PROJECT"
    echo "TOKEN=secret" >.env
    mkdir .vscode
    echo '{}' >.vscode/tasks.json
    expect_unwritable "$PROJECT/.git/config"
    expect_unwritable "$PROJECT/.vscode/tasks.json"
    works sh -c 'echo >.git/hooks/outside'
    fails "Read-only file system" in_jail_sh 'echo >.git/hooks/pre-commit'
    fails "" in_jail mv .git aside
    works grep -q secret .env
    fails "Permission denied" in_jail cat .env
    works in_jail_sh 'echo text >file; git add file; git commit -qm test'
    prints test git log --format=%s
}

@test "home.access: read, write and restricted" {
    echo shown >"$HOME/file"
    mkdir "$HOME/.ssh"
    echo key >"$HOME/.ssh/id_rsa"
    local mode
    for mode in read write; do
        JAIL=(--backend firejail --network isolated --home "$mode")
        expect_readable "$HOME/file"
        expect_unreadable "$HOME/.ssh/id_rsa"
        works in_jail_sh 'echo written >in-project'
    done
    expect_writable "$HOME/file"
    JAIL=(--backend firejail --network isolated --home read)
    echo shown >"$HOME/another"
    expect_unwritable "$HOME/another"
    JAIL=(--backend firejail --network isolated --home restricted)
    fails "No such file" in_jail cat "$HOME/file"
    works in_jail_sh 'echo written >in-project'
}

# Threat: a firejail profile that the user or a jailed process wrote opens paths that the plan closes.
@test "firejail profiles of the user show no more files" {
    echo secret >"$HOME/file"
    mkdir -p "$HOME/.config/firejail"
    local name
    for name in default agent-sandbox firejail sh cat; do
        printf 'whitelist ${HOME}/file\nignore whitelist\nignore blacklist\nnoblacklist /\nallusers\n' >"$HOME/.config/firejail/$name.profile"
    done
    cp "$HOME/.config/firejail/default.profile" "$HOME/.config/firejail/globals.local"
    cp "$HOME/.config/firejail/default.profile" globals.local
    prints secret firejail --quiet "--profile=$HOME/.config/firejail/default.profile" cat "$HOME/file"
    fails "No such file" in_jail cat "$HOME/file"
    fails "No such file" in_jail cat "$SBX_NEIGHBOUR_HOME/secret"
}

@test "processes outside can't be seen, and firejail's own not be read" {
    sleep 300 3>&- &
    CHILDREN+=($!)
    works test -d "/proc/$!"
    fails "No such process" in_jail_sh 'kill -0 "$1"' "$!"
    works in_jail_sh '! ps axww -o args | grep -q "[s]leep 300"'
    fails "Permission denied" in_jail cat /proc/1/environ
    fails "Permission denied" in_jail ls /proc/1/fd
    prints 0 in_jail_sh 'tr "\0" "\n" </proc/self/environ | grep -c container= || true'
}

@test "shared memory and System V objects of the host are out of reach" {
    echo secret >"/dev/shm/agent-sandbox-test.$SBX_TAG"
    expect_hidden "/dev/shm/agent-sandbox-test.$SBX_TAG"
    rm "/dev/shm/agent-sandbox-test.$SBX_TAG"
    local id
    id=$(ipcmk -M 64 | tr -dc 0-9)
    works sh -c 'ipcs -m | grep -qw "$1"' sh "$id"
    fails "" in_jail_sh 'ipcs -m | grep -qw "$1"' "$id"
    ipcrm -m "$id"
}

@test "nothing is gained through set-user-ID programs, firejail among them" {
    echo secret >"$HOME/file"
    [[ $("$SBX_STAGE/bin/setuid-id" -u) == 0 ]] || [[ $("$SBX_STAGE/bin/setuid-id") == *euid=0* ]]
    works in_jail_sh '! "$1" | grep -q euid=0' "$SBX_STAGE/bin/setuid-id"
    fails "" in_jail firejail --quiet --noprofile cat "$HOME/file"
    fails "" in_jail firejail --quiet --join=1 cat "$HOME/file"
    prints 0000000000000000 in_jail_sh "sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status"
}

@test "isolated: the jail has its own loopback, and services of the host do not answer on it" {
    start_service
    local ask='import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))'
    works python3 -c "$ask" "$PORT"
    fails "Connection refused" in_jail python3 -c "$ask" "$PORT"
}

@test "Landlock and the seccomp filter apply inside firejail's jail" {
    fails "" in_jail unshare -U true
    fails "" in_jail_sh 'echo new >/run/agent-sandbox-test'
    prints 2 in_jail_sh "sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status"
}

@test "a project with an unusual name shows itself alone, or is refused" {
    local name
    for name in 'a b' 'a  b' 'C#' 'a*b' 'a?b' 'a[b]c' '~x' '$HOME' "a'b" 'a(b)' 'ü'; do
        mkdir -p "$HOME/odd/$name/.vscode"
        echo "TOKEN=secret" >"$HOME/odd/$name/.env"
    done
    # Names that a pattern would match instead.
    mkdir -p "$HOME/odd/axb" "$HOME/odd/abc"
    for name in 'a b' 'a  b' 'C#' 'a*b' 'a?b' 'a[b]c' '~x' '$HOME' "a'b" 'a(b)' 'ü'; do
        cd "$HOME/odd/$name"
        works in_jail_sh 'echo written >file'
        prints written cat file
        fails "Permission denied" in_jail cat .env
        fails "Read-only file system" in_jail_sh 'echo >.vscode/tasks.json'
        prints "$name" in_jail ls "$HOME/odd"
    done
    for name in 'a,b' 'a"b' 'a&b' 'a{b}' 'a..b' 'a;b'; do
        mkdir -p "$HOME/odd/$name"
        cd "$HOME/odd/$name"
        refused 125 "firejail can't be told of" in_jail touch ran
        fails "" test -e ran
    done
}

@test "exit codes and signals are the command's" {
    run in_jail sh -c 'exit 3'
    ((status == 3)) || report "should end with 3"
    run in_jail sh -c 'kill -TERM $$'
    ((status == 143)) || report "should end with 143"
    refused 127 "no-such-command" in_jail no-such-command
    start_jail 'trap "echo got it >trapped; exit 42" TERM; touch ready; while :; do sleep 0.02; done'
    kill -TERM "$SUPERVISOR"
    end_of_jail
    [[ $STATUS == 42 ]]
    prints "got it" cat trapped
}

@test "background processes end with the command" {
    works in_jail_sh 'trap "" TERM; (trap "" TERM; sleep 301) & echo $! >child'
    wait_until none_of_firejail
    fails "" pgrep -u "$SBX_USER" -xf "sleep 301"
}

@test "nothing stays when the supervisor or firejail is killed" {
    start_jail 'sleep 302 & touch ready; sleep 303'
    works of_firejail
    kill -KILL "$SUPERVISOR"
    wait_until none_of_firejail
    fails "" pgrep -u "$SBX_USER" -xf "sleep 30[23]"

    start_jail 'sleep 302 & touch ready; sleep 303'
    kill -KILL $(of_firejail)
    end_of_jail
    wait_until none_of_firejail
    fails "" pgrep -u "$SBX_USER" -xf "sleep 30[23]"
    # Except for the directory of the user's sessions, which stays.
    prints "" find /tmp -maxdepth 1 -user "$SBX_USER" -name "agent-sandbox-*" ! -name "agent-sandbox-u*"
}

@test "a signal to the whole group of the caller does not end the jail" {
    ATTENTIVE=(setsid "${ATTENTIVE[@]}")
    start_jail 'trap "" INT TERM; touch ready; while [ ! -e go ]; do sleep 0.02; done; echo done >finished'
    kill -INT -- "-$SUPERVISOR"
    kill -TERM -- "-$SUPERVISOR"
    sleep 0.2
    touch go
    end_of_jail
    prints "done" cat finished
}
