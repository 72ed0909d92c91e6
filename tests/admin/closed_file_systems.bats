#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Hosts where a file system is read-only or runs no programs: the jail is built all the same, or the message names what to change.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

@test "every backend builds a jail where the root is read-only" {
    local backend
    # /home, /tmp and /run can be written, as on a host whose root is an image.
    PREPARE='mount -o remount,bind,ro / && for place in /home /tmp /run; do mount --bind "$place" "$place" && mount -o remount,bind,rw "$place"; done'
    fails "Read-only file system" on_stage touch /opt/new
    works on_stage touch "$PROJECT/new"
    for backend in native bwrap firejail landlock; do
        JAIL=(--backend "$backend")
        works in_jail sh -c 'touch /opt/new 2>/dev/null; echo "$AGENT_SANDBOX_BACKEND"'
        [[ ${output##*$'\n'} == "$backend" ]] || report "another backend"
        fails "" in_jail touch /opt/new
        works in_jail touch made
    done
}

# The project is elsewhere: it can be written.
@test "where the home directory is read-only, the message names the variable that moves the state" {
    local backend state="$STAGE/state" elsewhere="$STAGE/project"
    mkdir "$state" "$elsewhere" && chown "$SBX_USER" "$state" "$elsewhere"
    PREPARE='mount --bind /home /home && mount -o remount,bind,ro /home && cd '"$elsewhere"
    PROJECT=$elsewhere
    for backend in native bwrap firejail landlock; do
        fails "Read-only file system" on_stage touch "$SBX_HOME/new"
        JAIL=(--backend "$backend")
        fails "set XDG_STATE_HOME" in_jail touch ran
        fails "set XDG_STATE_HOME" on_stage env AGENT_SANDBOX_HOME_CACHES=false "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- touch ran
        [[ ! -e $elsewhere/ran ]]
        works on_stage env XDG_STATE_HOME="$state" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- touch ran
        rm "$elsewhere/ran"
    done
}

@test "programs in /tmp run with native and bubblewrap; with firejail and Landlock the host's noexec holds" {
    local backend run='cp /bin/true "${TMPDIR:-/tmp}/program" && "${TMPDIR:-/tmp}/program" && echo ran'
    PREPARE='mount -t tmpfs -o noexec,mode=1777 tmpfs /tmp'
    fails "Permission denied" on_stage sh -c "$run"
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        prints ran in_jail sh -c "$run"
    done
    for backend in firejail landlock; do
        JAIL=(--backend "$backend")
        fails "Permission denied" in_jail sh -c "$run"
    done
    PREPARE='mount -t tmpfs -o mode=1777 tmpfs /tmp'
    JAIL=(--backend firejail)
    prints ran in_jail sh -c "$run"
}
