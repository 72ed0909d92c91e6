#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Directories that fail: full, without inodes, read-only, closed, or on a server that does not answer. A launch that does not need
# the directory works. A launch that needs it fails with one line or can be interrupted. Nothing is lost, half-written or left
# behind, and closed paths stay closed.

load helper

setup_file() { export BATS_TEST_TIMEOUT=1800; }
setup() {
    start_admin_test copy
    as_user mkdir -p "$PROJECT/sub"
    as_user sh -c 'echo "a secret" | tee "$1/.env" "$1/sub/.env" >/dev/null; echo work >"$1/work"' sh "$PROJECT"
    JAIL=(--network isolated --slurm off --backend native)
    PROBE=(sh -c 'cat .env sub/.env; echo ran')
    STATE=$SBX_HOME/.local/state/agent-sandbox
    wait_until rm -rf "$SBX_HOME/.local" 2>/dev/null
    # A place of the test for more mounts. They exist only in the test's mount namespace; a process outside sees the directory
    # below.
    PLACE=$STAGE/place
    install -d -o "$SBX_USER" "$PLACE"
}
teardown() {
    wait_until no_process_left
    # The project is unchanged.
    [[ $(ls -A "$PROJECT") == $'.env\nsub\nwork' && $(cat "$PROJECT/work") == work ]] || { ls -lA "$PROJECT" >&2; return 1; }
    wait_until rm -rf "$SBX_HOME/.local" 2>/dev/null
    end_admin_test
}
no_process_left() { ! pgrep -u "$SBX_USER" '^agent-sa|^asb-' >/dev/null 2>&1; }

# Shell text for PREPARE: mounts a file system of the user at PATH, with SIZE bytes and INODES inodes; `filled` then fills it.
small() { # PATH SIZE INODES
    printf 'mkdir -p "%s" && mount -t tmpfs -o "size=%s,nr_inodes=%s,mode=0700,uid=%s" small "%s"' \
        "$1" "$2" "$3" "$(id -u "$SBX_USER")" "$1"
}
filled() { # PATH SIZE
    small "$1" "$2" 1000
    printf ' && { head -c 1M /dev/zero >"%s/filler" || :; } 2>/dev/null' "$1"
}
# The files that a session creates there exist already, and no further file can be created. The session's keeper may remove some after its end.
without_inodes() { # PATH
    small "$1" 1M 100
    printf ' && runuser -u "$user" -- env -C "$project" HOME="$home" USER="$user" "%s" --quiet --network isolated --slurm off -- true &&
        { while pgrep -u "$user" "^(agent-sandbox|asb-)" >/dev/null; do sleep 0.01; done; i=0; while touch "%s/filler.$i"; do i=$((i + 1)); done; } 2>/dev/null; :' "$SBX_PROGRAM" "$1"
}

ran_whole() { # COMMAND...
    works "$@"
    [[ $output == ran ]] || report "should run in a whole jail: $*"
}
ran_and_said() { # TEXT
    ((status == 0)) && [[ $output == ran && $stderr == *"$1"* ]] || { output+=$stderr; report "should run and say '$1'"; }
}
in_probe() { in_jail "${PROBE[@]}"; }

@test "a file system that is mounted below the project: --cow refuses with its path, and a session without it runs" {
    PREPARE=$(small "$PROJECT/sub" 1M 100)
    works in_jail true
    JAIL+=(--cow)
    # The first line has the reason for a clone.
    run -125 in_jail true
    [[ ${lines[-1]} == "agent-sandbox: $PROJECT can't be cloned for --cow: another file system is mounted at sub; "* ]] || report "should name the mount"
    # Control: without the mount it runs.
    PREPARE=
    works in_jail true
}

@test "a layer that can't be recorded is not applied if an administrator requires records" {
    sandbox() { on_stage "$SBX_PROGRAM" "$@"; }
    works on_stage "$SBX_PROGRAM" --quiet "${JAIL[@]}" --layer one -- sh -c 'echo more >>work'
    # The directory of the records can't be made.
    # Several attempts: the keeper may write the record's end at the same moment.
    wait_until as_user sh -c 'rm -r "$1/sessions" && touch "$1/sessions"' sh "$STATE"
    admin_says '[audit]' 'enabled = true'
    fails "sessions" sandbox apply one
    fails "sessions" sandbox discard --yes one
    [[ $(cat "$PROJECT/work") == work ]] || report "it was applied"
    # Control: without the administrator's file it is applied.
    admin_says ''
    works sandbox apply one
    [[ $(cat "$PROJECT/work") == $'work\nmore' ]]
    works sandbox apply --undo one
}

# ---- Full ------------------------------------------------------------------------------------------------------------

@test "a state directory on a full disk: a session that needs it fails with one line, another runs and reports what is lost" {
    ran_whole in_probe
    wait_until rm -rf "$SBX_HOME/.local" 2>/dev/null
    PREPARE=$(filled "$SBX_HOME/.local" 4k)
    # Control: there is no room.
    fails "No space left" on_stage cp /etc/hostname "$SBX_HOME/.local/x"
    refused 125 "No space left on device" in_probe
    # A session that needs no placeholders in the project does not have to write anything.
    run --separate-stderr on_stage "$SBX_PROGRAM" "${JAIL[@]}" --read-only -- "${PROBE[@]}"
    ran_and_said "lines of the record could not be written"
}

@test "a state directory without inodes: the same" {
    PREPARE=$(small "$SBX_HOME/.local" 1M 1)
    refused 125 "No space left on device" in_probe
    PREPARE=$(without_inodes "$SBX_HOME/.local")
    fails "No space left" on_stage touch "$SBX_HOME/.local/y"
    run --separate-stderr on_stage "$SBX_PROGRAM" "${JAIL[@]}" --read-only -- "${PROBE[@]}"
    ran_and_said "this session is not recorded"
}

@test "a session that must be recorded and can't be does not run" {
    local place
    admin_says '[audit]' 'enabled = true'
    JAIL+=(--read-only --rw "$PLACE")
    works in_jail touch "$PLACE/ran"
    rm "$PLACE/ran"
    for place in "$(filled "$SBX_HOME/.local" 4k)" "$(without_inodes "$SBX_HOME/.local")" \
        'mount -t tmpfs -o ro,mode=0755 closed "$home/.local"'; do
        wait_until rm -rf "$SBX_HOME/.local" 2>/dev/null
        as_user mkdir "$SBX_HOME/.local"
        PREPARE=$place
        refused 125 "" in_jail touch "$PLACE/ran"
        # Also when the error comes late: the delay is in the mkdir calls before it.
        run on_stage strace -qq -o /dev/null -e trace=mkdir,mkdirat -e inject=mkdir,mkdirat:delay_exit=300000 \
            "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- touch "$PLACE/ran"
        [[ ! -e $PLACE/ran ]] || leak "it ran for a moment"
        ((status == 125)) || report "should be refused"
    done
}

@test "a full or closed runtime directory: sessions run" {
    local place
    for place in "$(filled "$PLACE" 4k)" "$(small "$PLACE" 1M 1)" 'mount -t tmpfs -o ro,mode=0755 closed "$stage/place"' \
        'mount -t tmpfs -o mode=0000 closed "$stage/place"'; do
        PREPARE=$place
        ran_whole on_stage env XDG_RUNTIME_DIR="$PLACE" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}"
    done
}

@test "a full, read-only or closed /tmp: jails that do not need it work, one that does names it" {
    local place
    for place in 'mount -t tmpfs -o size=4k,mode=1777 full /tmp && { head -c 1M /dev/zero >/tmp/filler || :; } 2>/dev/null' \
        'mount -t tmpfs -o ro,mode=1777 closed /tmp' 'mount -t tmpfs -o mode=0000 closed /tmp'; do
        PREPARE=$place
        fails "" on_stage sh -c 'echo x >/tmp/x'
        ran_whole in_probe
        JAIL=(--network isolated --slurm off --backend bwrap)
        ran_whole in_probe
        JAIL=(--slurm off --backend landlock)
        run -125 --separate-stderr in_probe
        [[ -z $output && $stderr == *"session's directory"* ]] || { output+=$stderr; report "should be said"; }
        JAIL=(--network isolated --slurm off --backend native)
    done
}

@test "a verb that can't write a complete file leaves the old one" {
    local before
    as_user mkdir -p "$STATE"
    as_user env -C "$PROJECT" "$SBX_PROGRAM" digest --not-needed one.example
    before=$(cat "$STATE/not-needed")
    [[ $before == *one.example* ]]
    # The same file on a full file system.
    mkdir "$STAGE/kept"
    cp "$STATE/not-needed" "$STAGE/kept/"
    PREPARE="$(small "$STATE" 4k 100) && cp \"\$stage/kept/not-needed\" \"$STATE/\" && chown -R \"\$user\" \"$STATE\""
    run on_stage sh -c '"$1" digest --not-needed two.example; echo "$?"; cat "$2/not-needed"; ls -A "$2"' sh "$SBX_PROGRAM" "$STATE"
    [[ $output == *"No space left on device"*$'\n1'[0-9]*$'\n'"$before"$'\nnot-needed' ]] || report "should be as it was"
    # The first configuration file, and the list of trusted projects.
    as_user sh -c 'printf "[network]\nmode = \"isolated\"\n" >"$1/.agent-sandbox.toml"' sh "$PROJECT"
    PREPARE="$(filled "$SBX_HOME/.config" 4k) && $(filled "$SBX_HOME/.local" 4k)"
    run on_stage sh -c '"$1" config init; echo "$?"; "$1" trust; echo "$?"; cd ~ && find .config .local -type f' sh "$SBX_PROGRAM"
    rm "$PROJECT/.agent-sandbox.toml"
    [[ $output == *"No space left"*"No space left"* && $output == *$'\n.config/filler\n.local/filler' ]] ||
        report "nothing half-written should be left"
}

# ---- Closed ----------------------------------------------------------------------------------------------------------

@test "a read-only home: one line reports it, and a state directory elsewhere works" {
    PREPARE='mount --bind "$home" "$home" && mount -o remount,bind,ro "$home" &&
        mount --bind "$project" "$project" && mount -o remount,bind,rw "$project"'
    as_user touch "$SBX_HOME/x" && rm "$SBX_HOME/x"
    fails "Read-only" on_stage sh -c 'touch "$HOME/x"'
    refused 125 "Read-only file system" in_probe
    ran_whole on_stage env XDG_STATE_HOME="$PLACE" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}"
    [[ -e $PLACE/agent-sandbox/sessions ]]
}

@test "a home that is missing, closed or another user's: one line; a state directory elsewhere works where settings can be read" {
    local place
    PROJECT=$PLACE/project
    cp -a "$SBX_HOME/project" "$PROJECT"
    for place in 'mount -t tmpfs -o mode=0755 empty "$(dirname "$home")"' 'mount -t tmpfs -o mode=0755 others "$home"'; do
        PREPARE=$place
        refused 125 "$SBX_HOME" in_probe
        ran_whole on_stage env XDG_STATE_HOME="$PLACE" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}"
        wait_until no_process_left
        rm -rf "$PLACE/agent-sandbox"
    done
    # The home may contain settings that close something, so the program must not ignore an unreadable one.
    PREPARE='mount -t tmpfs -o mode=0000 closed "$home"'
    refused 125 "$SBX_HOME/.config" on_stage env XDG_STATE_HOME="$PLACE" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}"
    PROJECT=$SBX_HOME/project
}

# ---- Without descriptors ---------------------------------------------------------------------------------------------

# A search that could not open a directory would show a hidden file, and the next launches would use its stored result.
@test "files of the user's group below /etc stay hidden, whatever the number of descriptors" {
    local limit hidden=/etc/deep/a/b/c/token worked=0
    mkdir -p "$STAGE${hidden%/*}"
    echo "a token" >"$STAGE$hidden"
    chgrp "$(id -g "$SBX_USER")" "$STAGE$hidden" && chmod 0640 "$STAGE$hidden"
    prints "a token" on_stage cat "$hidden"
    for limit in {3..16} 256; do
        wait_until no_process_left
        rm -rf "$STATE"
        run on_stage prlimit --nofile="$limit" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- cat "$hidden"
        [[ $output != *"a token"* ]] || leak "shown with $limit descriptors"
        ((status == 125)) || worked=$((worked + 1))
        run in_jail cat "$hidden"
        [[ $output != *"a token"* ]] || leak "shown after a launch with $limit descriptors"
    done
    ((worked > 0)) || report "control: it should work with $limit descriptors"
}

# ---- Servers that do not answer --------------------------------------------------------------------------------------

SILENT='python3 "$SBX_STAGE/tests/admin/silent_mount.py" "$point" </dev/null >/dev/null 2>&1 3>&- &
    until [ -e "$point.ready" ] || ! kill -0 $!; do sleep 0.02; done'
silent() { # POINT
    mkdir -p "$1"
    rm -f "$1.ready" "$1.end"
    PREPARE="point='$1'; $SILENT"
}

@test "a mount that does not answer, somewhere on the host: launches do not wait for it" {
    local point
    for point in "$SBX_HOME/remote" /mnt/sbx-remote.$SBX_TAG "$PROJECT/sub/remote"; do
        silent "$point"
        # Control: a process that looks at it waits.
        run -124 on_stage timeout 0.5 stat "$point"
        rm -f "$point.ready"
        if [[ $point == "$PROJECT"/* ]]; then
            # It is in the project, which the launch searches: the launch waits in the kernel, and Ctrl-C ends the wait.
            run on_stage timeout -s INT 3 "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}"
            ((status == 124)) && [[ -z $output ]] || report "should be interrupted"
        else
            local backend
            for backend in native bwrap; do
                JAIL=(--network isolated --slurm off --backend "$backend")
                ran_whole on_stage timeout 60 "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}"
                rm -f "$point.ready"
            done
            JAIL=(--network isolated --slurm off --backend native)
        fi
        rm -rf "$point" "$point.ready"
    done
}

@test "a project or a path on a mount that does not answer: Ctrl-C ends the wait, nothing is left" {
    local point=$PLACE/remote options
    silent "$point"
    for options in "--project $point" "--ro $point" "--rw $point/data"; do
        rm -f "$point.ready"
        run on_stage timeout -s INT 2 "$SBX_PROGRAM" --quiet "${JAIL[@]}" $options -- touch "$PROJECT/ran"
        ((status == 124 || status == 125)) && [[ ! -e $PROJECT/ran ]] || report "$options: should be interrupted"
        wait_until no_process_left || report "$options: processes are left"
    done
}

@test "a mount whose server has died: launches work, and one that needs it names it" {
    local point=$SBX_HOME/remote
    silent "$point"
    PREPARE+='; touch "$point.end"; while ls "$point" 2>&1 | grep -q . && ! ls "$point" 2>&1 | grep -q endpoint; do sleep 0.02; done'
    fails "endpoint is not connected" on_stage ls "$point"
    rm -f "$point".*
    ran_whole in_probe
    rm -f "$point".*
    run --separate-stderr on_stage "$SBX_PROGRAM" --quiet "${JAIL[@]}" --ro "$point" -- touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || { output+=$stderr; leak "the command ran"; }
    [[ $status:${#stderr_lines[@]} == 125:1 ]] || { output+=$stderr; report "should be said"; }
    rm -rf "$point" "$point".*
}
