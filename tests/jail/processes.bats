#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# No privileges inside: no capability, no way to gain one, no process outside is visible, no descriptor except the named ones.

load helper
setup() { start_test; }
teardown() { end_test; }

# bats test_tags=smoke
@test "no capability in any set" {
    works in_jail grep ^Cap /proc/self/status
    [[ $(grep -c $'\t0000000000000000$' <<<"$output") == 5 ]] || leak "capabilities are left"
}

@test "no_new_privs is set" {
    works grep -q $'^NoNewPrivs:\t0' /proc/self/status
    works in_jail grep $'^NoNewPrivs:\t1' /proc/self/status
}

@test "a setuid program gains nothing" {
    prints 0 "$SBX_STAGE/bin/setuid-id" -u
    prints "$(id -u)" in_jail "$SBX_STAGE/bin/setuid-id" -u
}

@test "a process outside can't be seen or signalled" {
    sleep 1000 3>&- &
    local outside=$!
    CHILDREN+=("$outside")
    # The shell's child is a copy of the shell until it calls exec.
    wait_until grep -q sleep "/proc/$outside/cmdline"
    run in_jail_sh 'grep -l "slee[p]" /proc/[0-9]*/cmdline'
    [[ -z $output ]] || leak "seen"
    works kill -0 "$outside"
    fails "No such process" in_jail_sh 'kill -0 "$1"' "$outside"
}

@test "pid 1 belongs to the sandbox and can't be traced, read or killed" {
    fails "Permission denied" in_jail cat /proc/1/environ
    fails "Permission denied" in_jail cat /proc/1/maps
    fails "Permission denied" in_jail ls /proc/1/fd/
    works in_jail_sh 'kill -KILL 1 2>/dev/null; kill -TERM 1 2>/dev/null; true'
}

@test "no inherited descriptor is open in the jail" {
    echo planted >"$HOME/secret"
    exec 7<"$HOME/secret"
    prints planted sh -c 'cat <&7'
    exec 7<"$HOME/secret"
    fails "Bad file descriptor" in_jail bash -c 'cat <&7'
    exec 7<&-
    exec 9</
    works ls "/proc/self/fd/9/root" -d
    fails "No such file or directory" in_jail ls -d /proc/self/fd/9/root
    exec 9<&-
}

@test "descriptors inside are 0, 1 and 2" {
    run in_jail ls /proc/self/fd
    # The fourth is the directory that ls reads.
    [[ ${lines[*]} == "0 1 2 3" ]] || leak "more descriptors than expected"
}

@test "the caller's session keyring and System V memory are out of reach" {
    works in_jail_sh 'test "$(readlink /proc/self/ns/ipc)" != "$1"' "$(readlink /proc/self/ns/ipc)"
}

@test "every namespace but time is new" {
    local name
    for name in pid mnt ipc uts cgroup user net; do
        works in_jail_sh 'test "$(readlink /proc/self/ns/$1)" != "$2"' "$name" "$(readlink "/proc/self/ns/$name")"
    done
}

@test "mounts can't be changed" {
    fails "" in_jail mount -t tmpfs none /tmp
    fails "" in_jail umount "$PROJECT"
    fails "" in_jail mount -o remount,rw /usr
}

@test "a nested user namespace can't change the mounts" {
    mkdir -p .git/hooks
    run in_jail unshare --user --map-root-user --mount sh -c "mount -o remount,rw,bind /usr; umount -l '$PROJECT/.git/hooks'; touch /usr/x '$PROJECT/.git/hooks/x'"
    fails "" test -e /usr/x
    fails "" test -e .git/hooks/x
}

@test "an inherited descriptor of a directory is refused, because it would lead out" {
    echo secret >"$HOME/lead-out"
    prints secret sh -c 'cat /proc/self/fd/0/lead-out <"$HOME"'
    run sh -c '"$SBX_PROGRAM" --quiet -- cat /proc/self/fd/0/lead-out <"$HOME"'
    ((status == 125)) && [[ $output == *"descriptor 0 is a directory"* ]] || report "should be refused"
}
