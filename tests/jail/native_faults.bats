#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Faults while native builds a jail. Whichever process dies at any system call, and whichever call fails: the command never runs in
# an incomplete jail, one line names the failure, and nothing is left behind. strace injects the faults. It can trace the jail's
# first process from its start, long before that process becomes non-dumpable.

load helper
load differential
load faults

# Each test makes a hundred launches under strace.
setup_file() { export BATS_TEST_TIMEOUT=1800; }
setup() { start_fault_test; }
teardown() { end_test; }

# ---- Death -----------------------------------------------------------------------------------------------------------

@test "control: strace shows the calls of a launch, and the traced launch works" {
    local call
    for call in clone3 openat2 open_tree move_mount mount_setattr mount pivot_root umount2 unshare mkdirat capset; do
        (($(count_of "$call"))) || { echo "no $call in a launch:" >&2; cut -d' ' -f2- "$CALLS" | sort | uniq -c | sort -rn >&2; return 1; }
    done
    # The command ran; and an injected fault has an effect.
    [[ -e $BATS_TEST_TMPDIR/ran ]]
    run_with pivot_root:error=EIO
    expect_failed "pivot_root, EIO" "Input/output error"
}

# After the command has started, it may make the same calls itself.
@test "the builder is killed at the first and the last of each of its calls: nothing runs, nothing is left" {
    local call number
    for call in $(sampled 3 $(calls_of_child)); do
        for number in $(first_and_last "$call" "$(child_calls | grep -cx "$call")"); do
            # strace counts per process: with 1 it would also kill the supervisor at its first write, the error message.
            [[ $call:$number != write:1 ]] || number=2
            run_with "$call:signal=KILL:when=$number"
            expect_failed "$call, $number" 'ended while it was made|was killed|Killed'
        done
    done
    expect_untouched
}

@test "the builder is killed in the middle of its mounts: nothing runs, nothing is left" {
    local call number
    for call in move_mount mount_setattr open_tree; do
        for number in $(sampled 3 $(sample "$call" 5)); do
            run_with "$call:signal=KILL:when=$number"
            expect_failed "$call, $number" 'ended while it was made|was killed|Killed'
        done
    done
    expect_untouched
}

@test "the supervisor is killed at any of its calls: nothing of it is left" {
    local call number
    for call in $(sampled 3 $(calls_of_supervisor)); do
        for number in $(first_and_last "$call"); do
            run_with "$call:signal=KILL:when=$number"
            [[ $STATUS == @(0|125|137) ]] || { echo "$call, $number: ended with $STATUS" >&2; cat "$ERRORS" >&2; return 1; }
            expect_nothing_left "$call, $number"
        done
    done
    # The next launch removes what a killed launch left in the project.
    works in_jail true
    expect_untouched
}

# ---- Errors ----------------------------------------------------------------------------------------------------------

@test "each call of the builder fails, the first and the last time: one line names it, nothing runs" {
    local call error number
    declare -A texts=([EPERM]="Operation not permitted" [ENOMEM]="Cannot allocate memory" [ENOSPC]="No space left on device")
    for call in clone3 open_tree move_mount mount_setattr mount pivot_root umount2 unshare fsopen fsmount mkdirat symlinkat capset; do
        (($(count_of "$call"))) || continue
        for error in $(SBX_SEED=$SBX_SEED$call sampled 3 EPERM ENOMEM ENOSPC); do
            # Without mount_setattr the child sets the attributes one mount at a time, at the end: see the next test.
            [[ $call:$error != mount_setattr:EPERM ]] || continue
            # The supervisor makes some of these calls, too, and tolerates a failure at its end.
            for number in $(first_and_last "$call" "$(count_in_child "$call")"); do
                # Without the early child, the third clone3 makes the jail's process. The second one is the supervisor's test
                # whether the kernel has the call.
                [[ $call != clone3 ]] || number=1+2
                run_with "$call:error=$error:when=$number"
                # Or the supervisor found the call missing before it built anything.
                expect_failed "$call, $number, $error" "${texts[$error]}|refuses it"
            done
        done
    done
    expect_untouched
}

@test "a file that can't be written in full is a failure" {
    # Writes of the child: contents of files that it creates in the jail.
    local number=0 tried=0
    while read -r number; do
        # strace counts per process: the supervisor's message would be lost, too.
        ((number > $(supervisor_calls | grep -cx write))) || continue
        run_with "write:error=ENOSPC:when=$number"
        [[ $STATUS == 125 ]] || continue
        tried=$((tried + 1))
        expect_failed "write, $number" "No space left on device"
    done < <(sample write 4)
    ((tried > 0))
    expect_untouched
}

# ---- Older kernels ---------------------------------------------------------------------------------------------------

# same_walk COMMAND...: the jail is the same under this command as under one that changes nothing.
same_walk() {
    local attempt before
    for attempt in {1..10}; do
        before=$(accounts)
        WALK=("${plain[@]}") && walk native plain || return
        WALK=("$@") && walk native without || return
        [[ $(accounts) != "$before" ]] || break
    done
    no_difference plain without
}

@test "without mount_setattr, openat2 or close_range the jail is the same" {
    local call
    mkdir -p private sub/deep
    echo secret | tee .env private/file sub/deep/file >/dev/null
    ln -s sub/deep shown
    ln -s private held
    JAIL=(--hide "$PROJECT/held" --ro "$PROJECT/sub" --rw "$PROJECT/sub/deep" --network isolated)
    # The walker is traced as well, and tries these calls itself; and a seccomp filter removes one call.
    PASSING='^(call (mount_setattr|openat2|close_range)|(first-)?status (Seccomp_filters|SigQ)):'
    local plain=(strace -f -qq -o /dev/null -e trace=mount_setattr)
    # open_tree_attr replaces mount_setattr where the kernel has it, and strace does not support it.
    local old=(python3 "$BATS_TEST_DIRNAME/without_call.py" 467)
    prints ENOSYS "${old[@]}" "${CALL[@]}" open_tree_attr 0 0 0 0 0
    same_walk "${old[@]}" "${plain[@]}"
    # strace would replace the number of the call, and the filter of answered calls kills a caller without a number.
    local older=("${old[@]}" python3 "$BATS_TEST_DIRNAME/without_call.py" 437)
    prints ENOSYS "${older[@]}" "${CALL[@]}" openat2 0 0 0 0
    same_walk "${older[@]}" "${plain[@]}" || { echo "without openat2" >&2; return 1; }
    for call in $(sampled 2 mount_setattr:ENOSYS mount_setattr:EPERM close_range:ENOSYS); do
        same_walk "${old[@]}" strace -f -qq -o /dev/null -e "trace=${call%:*}" -e "inject=${call%:*}:error=${call#*:}" ||
            { echo "with $call" >&2; return 1; }
    done
}
