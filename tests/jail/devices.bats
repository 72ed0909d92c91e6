#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The jail's /dev contains the nodes that every program needs and no device of the machine. Single nodes are added by name.

load helper
setup() { start_test; }
teardown() { end_test; }

# bats test_tags=smoke
@test "the few devices that every program needs work" {
    prints 4 in_jail_sh 'head -c 4 /dev/urandom | wc -c'
    works in_jail_sh 'echo x >/dev/null'
    fails "No space left" in_jail sh -c 'head -c 4 /dev/zero >/dev/full'
}

@test "no other device node of the host is visible" {
    local node inside
    inside=$(in_jail find /dev -type b -o -type c | sort)
    for node in $inside; do
        case $node in
            /dev/null | /dev/zero | /dev/full | /dev/random | /dev/urandom | /dev/tty | /dev/console | /dev/ptmx | /dev/pts/*) ;;
            *) [[ $node == /dev/nvidia* || $node == /dev/dri/renderD* || $node == /dev/kfd ]] || { echo "LEAK: unexpected: $node" >&2; false; } ;;
        esac
    done
}

@test "no device node can be added or made" {
    fails "Read-only file system" in_jail touch /dev/new
    fails "" in_jail mknod sda b 8 0
    fails "" in_jail mknod /tmp/sda b 8 0
}

@test "--device shows one device" {
    local node
    for node in /dev/vga_arbiter /dev/rfkill /dev/hwrng; do
        [[ -c $node ]] || continue
        fails "No such file or directory" in_jail ls "$node"
        JAIL=(--device "$node")
        works in_jail test -c "$node"
        return
    done
    skip "no harmless device on this machine"
}

@test "forbidden devices are refused by name and by pattern" {
    refused 125 "is never let in" "$SBX_PROGRAM" --device /dev/kmsg -- true
    refused 125 "is never let in" "$SBX_PROGRAM" --device '/dev/km*' -- true
    refused 125 "is not below /dev" "$SBX_PROGRAM" --device /etc/passwd -- true
    refused 125 "no device matches" "$SBX_PROGRAM" --device /dev/none -- true
}

# Writable nodes of a GPU on this machine, if any.
gpu_node() {
    find /dev/dri /dev -maxdepth 1 \( -name 'renderD*' -o -name 'nvidia[0-9]*' \) -type c -writable 2>/dev/null | head -n 1
}

without_gpu() {
    works in_jail true
    refused 125 "there is no GPU to let in" "$SBX_PROGRAM" --gpu on -- true
    works test -d /sys/devices
    fails "No such file or directory" in_jail ls -d /sys/devices
}

with_gpu() {
    works in_jail test -c "$1"
    works in_jail test -d /sys/devices
    fails "" in_jail_sh 'ls /sys/block'
    JAIL=(--gpu off)
    fails "No such file or directory" in_jail ls "$1"
    fails "No such file or directory" in_jail ls /sys
}

# tests/gpu/try.sh shows the same with real programs.
@test "a GPU is shown with its part of /sys; on a machine without one, --gpu on is refused" {
    local node
    node=$(gpu_node)
    if [[ -n $node ]]; then with_gpu "$node"; else without_gpu; fi
}
