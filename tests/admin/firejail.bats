#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# An administrator's firejail files can make firejail's jail fail; they can't open it.

load helper
setup() {
    start_admin_test
    JAIL=(--backend firejail --network isolated)
    SECRET=/srv/agent-sandbox-test.$SBX_TAG/secret
}
teardown() { end_admin_test; }

refuses() {
    refused 125 "$1" in_jail touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

firejail_says() { printf '%s\n' "$@" >>"$STAGE/etc/firejail/firejail.config"; }

@test "control: firejail works, and the secret is hidden" {
    works in_jail true
    works as_user cat "$SECRET"
    fails "No such file" in_jail cat "$SECRET"
}

@test "firejail profiles of the site show no more files" {
    local name
    for name in globals.local default.local default.profile agent-sandbox.profile; do
        printf 'whitelist %s\nignore whitelist\nignore blacklist\nnoblacklist /\nallusers\n' "$SECRET" >"$STAGE/etc/firejail/$name"
    done
    works on_stage firejail --quiet --profile=/etc/firejail/default.profile cat "$SECRET"
    fails "No such file" in_jail cat "$SECRET"
    fails "No such file" in_jail cat "$SBX_NEIGHBOUR_HOME/secret"
}

# firejail then shows all of /srv, and prints a message about it that --quiet suppresses.
@test "a directory that firejail may not empty ends the launch" {
    firejail_says "whitelist-disable-topdir /srv"
    refuses /srv
}

@test "a user who may not use firejail gets a message" {
    echo root >"$STAGE/etc/firejail/firejail.users"
    refuses "not for everybody"
}

# Threat: firejail mounts the host's shared memory as soon as a file there has the name of a sound server's file. The name is in a
# /dev/shm of the test's own: in the host's it would end other sessions with firejail.
@test "a sound server's name in the shared memory does not open it" {
    PREPARE='mount -t tmpfs tmpfs /dev/shm && chmod 1777 /dev/shm'
    works in_jail true
    PREPARE+=' && touch /dev/shm/jack-1000'
    refuses /dev/shm
}

# firejail looks for kernel threads among the first processes. If it finds none, it assumes that it is inside a sandbox and runs the
# program without a jail.
@test "nothing runs where firejail can't build a jail" {
    in_jail() {
        unshare --mount --pid --fork --mount-proc --propagation private \
            runuser -u "$SBX_USER" -- env HOME="$SBX_HOME" USER="$SBX_USER" sh -c 'cd "$1" && shift && exec "$@"' sh "$PROJECT" \
            "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"
    }
    refuses "as the host has it"
}
