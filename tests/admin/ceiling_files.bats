#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Other objects in place of the administrator's files: a file that the program can't read completely or can't trust stops every
# start.

load helper
setup() { start_admin_test copy; }
teardown() { end_admin_test; }

refuses() {
    refused 125 "$1" in_jail touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

strict() { printf '[home]\naccess = "restricted"\n'; }

# In both locations: the command makes a file that must be refused.
for_each_place() {
    mkdir "$ADMIN/conf.d"
    local file
    for file in "$ADMIN/config.toml" "$ADMIN/conf.d/10-site.toml"; do
        strict >"$file"
        works in_jail true
        rm "$file"
        "$@" "$file"
        refuses "/etc/agent-sandbox/${file#"$ADMIN/"}"
        rm -rf "$file"
    done
}

written_by_group() { strict >"$1" && chmod 0664 "$1"; }
owned_by_group_member() { strict >"$1" && chown "$SBX_USER:" "$1" && chmod 0644 "$1"; }
unreadable() { strict >"$1" && chmod 0640 "$1"; }
empty() { : >"$1"; }
half() { printf '[home]\naccess = "restr' >"$1"; }
binary() { random_bytes 1000 >"$1"; }
huge() { { strict && head -c 2000000 /dev/zero | tr '\0' '#'; } >"$1"; }
sparse() { strict >"$1" && truncate -s 1T "$1"; }
fifo() { mkfifo "$1"; }
directory() { mkdir "$1"; }
device() { mknod "$1" c 1 3; }
link_to_nowhere() { ln -s /nowhere "$1"; }
link_to_itself() { ln -s "${1##*/}" "$1"; }
link_to_the_users() {
    strict >"$SBX_HOME/mine.toml" && chown "$SBX_USER" "$SBX_HOME/mine.toml"
    ln -s "$SBX_HOME/mine.toml" "$1"
}

@test "a file that a group may write stops every start" { for_each_place written_by_group; }
@test "a file that the user owns stops every start" { for_each_place owned_by_group_member; }
@test "an unreadable file stops every start" { for_each_place unreadable; }
@test "an empty file stops every start" { for_each_place empty; }
@test "a file that was cut short stops every start" { for_each_place half; }
@test "random bytes stop every start" { for_each_place binary; }
@test "a file larger than any configuration stops every start" { for_each_place huge; }
@test "a sparse file larger than the disk stops every start" { for_each_place sparse; }
@test "a FIFO without a writer stops every start" { for_each_place fifo; }
@test "a directory in place of a file stops every start" { for_each_place directory; }
@test "a device in place of a file stops every start" { for_each_place device; }
@test "a dangling link stops every start" { for_each_place link_to_nowhere; }
@test "a link to itself stops every start" { for_each_place link_to_itself; }
@test "a link to a file of the user's stops every start" {
    for_each_place link_to_the_users
    rm "$SBX_HOME/mine.toml"
}

@test "a directory that the user owns, or that a group may write, stops every start" {
    mkdir "$ADMIN/conf.d"
    strict >"$ADMIN/conf.d/10-site.toml"
    works in_jail true
    local directory
    for directory in "$ADMIN" "$ADMIN/conf.d"; do
        chmod 0775 "$directory"
        refuses "/etc/agent-sandbox"
        chmod 0755 "$directory" && chown "$SBX_USER" "$directory"
        refuses "/etc/agent-sandbox"
        chown root "$directory"
    done
    works in_jail true
}

@test "a directory that can't be searched or listed stops every start" {
    mkdir "$ADMIN/conf.d"
    strict >"$ADMIN/conf.d/10-site.toml"
    works in_jail true
    chmod 0744 "$ADMIN/conf.d"
    refuses "/etc/agent-sandbox/conf.d"
    chmod 0711 "$ADMIN/conf.d"
    refuses "/etc/agent-sandbox/conf.d"
}

@test "a file in place of the directory stops every start" {
    rmdir "$ADMIN"
    strict >"$ADMIN"
    refuses "/etc/agent-sandbox"
}

# At any limit of descriptors, the program may fail, but it never continues without the ceiling.
@test "a user without descriptors gets no weaker ceiling" {
    mkdir "$ADMIN/conf.d"
    local limit
    strict >"$ADMIN/conf.d/10-site.toml"
    for limit in 3 4 5 6 7 8 9 10 12; do
        run on_stage bash -c 'ulimit -n "$1"; exec "$2" config show' bash "$limit" "$SBX_PROGRAM"
        [[ $output != *"home.access"* || $output =~ home.access\ +restricted ]] || leak "lost with $limit descriptors"
    done
    [[ $output =~ home.access\ +restricted ]] || report "the control with $limit descriptors should show it"
}

# A run reads the old file or the new one, or fails with a message.
@test "files that are replaced during a start are read completely or not at all" {
    mkdir "$ADMIN/conf.d"
    strict >"$ADMIN/config.toml"
    { strict && printf '# %s\n' {1..2000}; } >"$STAGE/long"
    (
        while [[ ! -e $STAGE/stop ]]; do
            cp "$STAGE/long" "$ADMIN/new" && mv "$ADMIN/new" "$ADMIN/config.toml"
            cat "$STAGE/long" >"$ADMIN/config.toml"
            strict >"$ADMIN/config.toml"
        done
    ) 3>&- &
    local writer=$! round
    for round in {1..40}; do
        run on_stage "$SBX_PROGRAM" --quiet --home write -- touch "$PROJECT/ran"
        ((status == 125)) || break
    done
    touch "$STAGE/stop"
    wait "$writer"
    [[ ! -e $PROJECT/ran ]] || leak "ran without the ceiling in round $round"
    ((status == 125)) || report "should be refused in round $round"
    rm "$ADMIN/config.toml"
    works on_stage "$SBX_PROGRAM" --quiet --home write -- touch "$PROJECT/ran"
}
