#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The jail has the system's accounts and the caller's, and no other user's account.

load helper
setup() { start_test; }
teardown() { end_test; }

# bats test_tags=smoke
@test "another user can't be looked up" {
    works getent passwd "$SBX_NEIGHBOUR"
    fails "" in_jail getent passwd "$SBX_NEIGHBOUR"
    works getent group "$SBX_NEIGHBOUR"
    fails "" in_jail getent group "$SBX_NEIGHBOUR"
    works grep -q "$SBX_NEIGHBOUR" /etc/passwd
    fails "" in_jail grep -r "$SBX_NEIGHBOUR" /etc/passwd /etc/group
}

@test "the host's own files show no other user under any name" {
    run in_jail_sh 'grep -rl "$1" /etc /run 2>/dev/null' "$SBX_NEIGHBOUR"
    [[ -z $output ]] || leak "the neighbour is named"
}

@test "the caller and root are known" {
    prints "$SBX_USER" in_jail id -un
    prints "$(id -gn)" in_jail id -gn
    prints root in_jail sh -c 'getent passwd 0 | cut -d: -f1'
    prints "$HOME" in_jail sh -c 'echo ~'
}

@test "names come from files only" {
    works in_jail grep -E '^passwd:[[:space:]]*files[[:space:]]*$' /etc/nsswitch.conf
    works in_jail grep -E '^group:[[:space:]]*files[[:space:]]*$' /etc/nsswitch.conf
}

@test "/etc shows only what everyone on the host may read" {
    works test -e /etc/shadow
    fails "No such file or directory" in_jail ls /etc/shadow
}

@test "/etc works as programs expect" {
    works in_jail sh -c 'test -r /etc/ssl/certs || test ! -e /etc/ssl/certs; cat /etc/hosts /etc/os-release >/dev/null; python3 -c "print(1)"'
}
