#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# project.root = "repository" and repositories that must not become the project: of another user, or closed by the administrator.

load helper

setup() {
    start_admin_test
    user_says '[project]' 'root = "repository"'
    PLACE=$(mktemp -d "$SBX_STAGE/shared.XXXXXX")
    chmod 1777 "$PLACE"
    as_user mkdir -p "$PLACE/work"
    PROJECT=$PLACE/work
}
teardown() {
    rm -rf "$PLACE"
    end_admin_test
}

# The directory can be written outside; in the jail only the project can.
try() { on_stage "$SBX_PROGRAM" -- touch "$PLACE/made"; }

@test "a repository that another user made above the current directory does not become the project" {
    # The control: the user's own repository there becomes the project.
    chown "$SBX_USER" "$PLACE"
    as_user git -C "$PLACE" init -q
    works try
    [[ -e $PLACE/made ]] && rm "$PLACE/made"
    chown -R root "$PLACE/.git"
    run try
    [[ $status != 0 && $output == *"belongs to another user, so the project is the current directory alone (project.root)"* ]] || report "another user's .git"
    [[ ! -e $PLACE/made ]] || report "written through another user's .git"
    chown -R "$SBX_USER" "$PLACE/.git"
    chown root "$PLACE"
    run try
    [[ $status != 0 && $output == *"belongs to another user"* && ! -e $PLACE/made ]] || report "another user's directory"
}

@test "the administrator can keep the project to the current directory" {
    chown "$SBX_USER" "$PLACE"
    as_user git -C "$PLACE" init -q
    admin_says '[project]' 'root = "directory"'
    run -125 try
    [[ $output == *"asks project.root = repository"*"requires directory or stricter"* ]] || report "the ceiling"
}
