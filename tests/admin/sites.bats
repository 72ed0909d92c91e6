#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# File systems as computing sites arrange them: homes elsewhere, scratch behind a link, mounts that appear on first access,
# directories above that users can't read. Everything is mounted in a namespace of the test's own, below /srv.

load helper

setup() {
    start_admin_test
    GROUND='mount -t tmpfs -o mode=0755 site /srv'
    PREPARE=$GROUND
}
teardown() { end_admin_test; }

# prepare SHELL-TEXT: appends it to PREPARE; $user and $home are the caller's.
prepare() { PREPARE+=" && $1"; }

# Moves the caller's home directory to $1.
home_is() {
    sed -i "s|^\($SBX_USER:.*\):$SBX_HOME:|\1:$1:|" "$STAGE/etc/passwd"
    prepare "home=$1 && project=$1/project"
}

# As if systemd had made the root: mounts that appear later propagate to the namespaces made from it.
share_mounts() { prepare 'mount --make-rshared /'; }

# An automounter below /srv/auto that ends with the last process of the namespace's command.
automounter() {
    share_mounts
    prepare "mkdir -p /srv/auto /srv/export && {
        python3 '$SBX_STAGE/tests/admin/automount.py' /srv/auto /srv/export </dev/null >/dev/null 2>&1 3>&- &
        for _ in \$(seq 1000); do [ -e /srv/auto.ready ] && break; sleep 0.05; done; [ -e /srv/auto.ready ]; }"
}
not_mounted() { ! grep -q " /srv/auto/$1 " /proc/self/mounts; }

own() { prepare "mkdir -p $1 && chown '$SBX_USER' $1"; }

# ---- Homes and scratch -----------------------------------------------------------------------------------------------

@test "a home on another file system" {
    own /srv/export/ann && own /srv/export/ann/project
    home_is /srv/export/ann
    prepare 'echo start >/srv/export/ann/.bashrc && mkdir /srv/export/ann/.ssh && echo secret >/srv/export/ann/.ssh/key'
    prints /srv/export/ann in_jail sh -c 'echo ~'
    prints start in_jail cat /srv/export/ann/.bashrc
    fails "No such file" in_jail cat /srv/export/ann/.ssh/key
    works in_jail sh -c 'echo made >~/file && touch made'
}

@test "a home behind a link is the same home under both names" {
    own /srv/export/ann && own /srv/export/ann/project
    prepare 'mkdir -p /srv/home && ln -s ../export/ann /srv/home/ann'
    prepare 'mkdir /srv/export/ann/.ssh && echo secret >/srv/export/ann/.ssh/key && echo start >/srv/export/ann/.bashrc'
    home_is /srv/home/ann
    for name in /srv/home/ann /srv/export/ann; do
        prints start in_jail cat "$name/.bashrc"
        fails "No such file" in_jail cat "$name/.ssh/key"
        works in_jail touch "$name/project/made"
    done
}

@test "a home whose .local is on another file system" {
    own /srv/export/ann && own /srv/export/ann/project && own /srv/scratch/ann/local
    prepare 'ln -s /srv/scratch/ann/local /srv/export/ann/.local'
    home_is /srv/export/ann
    works in_jail sh -c 'touch made ~/.cache/made'
    # The program does not follow the link where the jail could replace it.
    JAIL=(--home write)
    refused 125 "could exchange" in_jail true
}

@test "a home behind a link is refused as a project under both names" {
    own /srv/export/ann
    prepare 'mkdir -p /srv/home && ln -s ../export/ann /srv/home/ann'
    home_is /srv/home/ann
    prepare 'project=/srv'
    for name in /srv/home/ann /srv/export/ann; do
        JAIL=(--project "$name")
        refused 125 "home" in_jail true
    done
}

@test "a project in a scratch behind a link" {
    own /srv/lustre/scratch/ann/work
    prepare 'ln -s lustre/scratch /srv/scratch && project=/srv/scratch/ann/work && echo data >/srv/lustre/scratch/ann/work/file'
    prepare 'mkdir -p /srv/lustre/scratch/bob && echo other >/srv/lustre/scratch/bob/file'
    prints data in_jail cat file
    prints data in_jail cat /srv/scratch/ann/work/file
    prints data in_jail cat /srv/lustre/scratch/ann/work/file
    works in_jail touch /srv/scratch/ann/work/made /srv/lustre/scratch/ann/work/made
    fails "No such file" in_jail cat /srv/scratch/bob/file
    fails "No such file" in_jail cat /srv/lustre/scratch/bob/file
}

@test "a git worktree on a scratch behind a link" {
    own /srv/lustre/scratch/ann
    prepare 'ln -s lustre/scratch /srv/scratch'
    prepare "runuser -u '$SBX_USER' -- sh -ec '
        export HOME=/srv/lustre/scratch/ann && cd /srv/scratch/ann && git init -q -b main origin && cd origin
        git config user.name Tester && git config user.email tester@example.org
        git commit -q --allow-empty -m first && git worktree add -q ../tree' && project=/srv/scratch/ann/tree"
    works in_jail sh -c 'echo content >file && git add file && git commit -q -m second && git log --oneline | grep -q second'
    fails "Read-only file system" in_jail sh -c 'echo x >>/srv/lustre/scratch/ann/origin/.git/config'
}

@test "a project works below directories that the caller may not list" {
    own /srv/closed/ann/work
    prepare 'chmod 0711 /srv/closed && mkdir /srv/closed/bob && chmod 0700 /srv/closed/bob && project=/srv/closed/ann/work'
    fails "Permission denied" on_stage ls /srv/closed
    works in_jail touch made
    prints ann in_jail ls /srv/closed
}

@test "a path that the caller may not reach is refused with its name" {
    prepare 'mkdir -p /srv/closed/data && chmod 0700 /srv/closed'
    fails "Permission denied" on_stage ls /srv/closed/data
    JAIL=(--ro /srv/closed/data)
    refused 125 /srv/closed/data in_jail true
}

# ---- Mounts that appear ----------------------------------------------------------------------------------------------

@test "an automounted project is mounted, and the empty directory below it is never shown" {
    automounter
    own /srv/export/lab
    prepare 'echo content >/srv/export/lab/file && project=/srv'
    JAIL=(--project /srv/auto/lab)
    fails "No such file" on_stage sh -c 'ls -d /srv/auto/none'
    prints content in_jail cat /srv/auto/lab/file
    prints content in_jail cat file
    works in_jail sh -c 'touch /srv/auto/lab/made'
}

@test "an automounted home, with nothing mounted at the start" {
    automounter
    own /srv/export/ann && own /srv/export/ann/project
    prepare 'echo start >/srv/export/ann/.bashrc && mkdir /srv/export/ann/.ssh && echo secret >/srv/export/ann/.ssh/key'
    home_is /srv/auto/ann
    prepare 'project=/'
    JAIL=(--project /srv/auto/ann/project)
    prints start in_jail cat /srv/auto/ann/.bashrc
    fails "No such file" in_jail cat /srv/auto/ann/.ssh/key
}

@test "an automounted directory that --ro shows can be read, not written" {
    automounter
    prepare 'mkdir /srv/export/data && chmod 0777 /srv/export/data && echo data >/srv/export/data/file'
    works on_stage touch /srv/auto/data/made
    JAIL=(--ro /srv/auto/data)
    prints data in_jail cat /srv/auto/data/file
    fails "Read-only file system" in_jail touch /srv/auto/data/made
}

# Threat: a mount that appears after the start propagates into the jail as it is outside: writable, below a tree that is read-only.
@test "a later mount below a read-only tree can be read, not written" {
    automounter
    prepare 'mkdir /srv/export/data && chmod 0777 /srv/export/data && echo data >/srv/export/data/file'
    works on_stage touch /srv/auto/data/made
    JAIL=(--ro /srv/auto)
    prints data in_jail cat /srv/auto/data/file
    run in_jail sh -c 'cat /srv/auto/data/file && touch /srv/auto/data/made'
    ((status != 0)) && [[ $output == data*denied* || $output == data*Read-only* ]] || report "should be seen and not written"
}

@test "a later mount does not uncover hidden files" {
    automounter
    prepare 'mkdir -p /srv/export/data /srv/export/secret && chmod 0755 /srv/export/* && echo secret >/srv/export/secret/file'
    prints secret on_stage cat /srv/auto/secret/file
    JAIL=(--ro /srv/auto --hide /srv/auto/secret)
    fails "No such file" in_jail cat /srv/auto/secret/file
    # The automounter unmounts it and mounts it again while the jail runs.
    prepare '{ (sleep 1; umount /srv/auto/secret; ls /srv/auto/secret/) >/dev/null 2>&1 3>&- & }'
    fails "No such file" in_jail sh -c 'sleep 2; cat /srv/auto/secret/file'
}

# ---- Software of modules ---------------------------------------------------------------------------------------------

# A module in a directory that no built-in list contains.
software() {
    prepare "mkdir -p /srv/sw/tool/1.0/bin /srv/sw/tool/1.0/share /srv/sw/other /srv/modules && echo data >/srv/sw/tool/1.0/share/data &&
        echo other >/srv/sw/other/file && printf '#!/bin/sh\ncat /srv/sw/tool/1.0/share/data\n' >/srv/sw/tool/1.0/bin/tool &&
        chmod 0755 /srv/sw/tool/1.0/bin/tool && printf 'prepend_path(\"PATH\", \"/srv/sw/tool/1.0/bin\")\n' >/srv/modules/tool.lua &&
        export MODULEPATH=/srv/modules"
}

@test "the software of a loaded module is visible, other software is not" {
    software
    fails "not found" in_jail tool
    JAIL=(--module tool)
    prints data in_jail tool
    fails "No such file" in_jail cat /srv/sw/other/file
    fails "Read-only file system" in_jail touch /srv/sw/tool/1.0/made
}

@test "a module opens nothing that the administrator hides" {
    software
    JAIL=(--module tool)
    works in_jail tool
    admin_says '[mounts]' 'hidden = ["/srv/sw"]'
    fails "not found" in_jail tool
    fails "No such file" in_jail cat /srv/sw/tool/1.0/share/data
}

@test "the administrator may choose a module command that root does not own, a user may not" {
    software
    # shellcheck disable=SC2016
    prepare 'cp -r /usr/share/lmod/lmod/. /srv/lmod && chown -R nobody /srv/lmod'
    JAIL=(--module tool)
    user_says '[modules]' 'command = "/srv/lmod/libexec/lmod"'
    refused 125 "belong to root" in_jail tool
    rm "$USER_CONFIG"
    admin_says '[modules]' 'command = "/srv/lmod/libexec/lmod"'
    prints data in_jail tool
}

@test "the administrator loads modules for everyone" {
    software
    admin_says '[modules]' 'load = ["tool"]'
    prints data in_jail tool
}
