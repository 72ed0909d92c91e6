#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The .rpm in a root without a distribution: a static busybox, an account, and the files of the package.

load helper

setup() {
    ROOT=$(mktemp -d /var/tmp/agent-sandbox-rpm.XXXXXX)
    chmod 0755 "$ROOT"
    mkdir -p "$ROOT"/{bin,etc,proc,sys,dev,run,tmp,usr,var/lib/rpm,home/me/project,host,checkout}
    chmod 1777 "$ROOT/tmp"
    cp /bin/busybox "$ROOT/bin/busybox"
    local name
    for name in sh env cat true sleep ls mkdir mkfifo mv rm test; do ln -s busybox "$ROOT/bin/$name"; done
    printf 'root:x:0:0::/root:/bin/sh\nme:x:4321:4321::/home/me:/bin/sh\n' >"$ROOT/etc/passwd"
    printf 'root:x:0:\nme:x:4321:\n' >"$ROOT/etc/group"
    echo "a secret of mine" >"$ROOT/home/me/secret"
    chown -R 4321:4321 "$ROOT/home/me"
    printf '%s\n' 'busybox umount -l /host' 'exec busybox su -m -s /bin/sh -- me /as-me "$@"' >"$ROOT/enter"
    echo 'exec "$@"' >"$ROOT/as-me"
    (cd "$ROOT" && find . -path ./var/lib/rpm -prune -o -print | sort) >"$BATS_TEST_TMPDIR/before"
    rpm --root "$ROOT" --initdb
}

teardown() { rm -rf -- "$ROOT"; }

rpm_there() { rpm --root "$ROOT" "$@"; }

# there_as_me COMMAND...: runs it as the ordinary user, in the root.
there_as_me() {
    unshare --mount --propagation private --pid --fork --kill-child -- bash -euc '
        mount --rbind "$1" "$1"
        cd "$1"
        mount --rbind /dev dev
        mount -t proc proc proc
        mount -t sysfs -o ro sysfs sys
        pivot_root . host
        cd /home/me/project
        shift
        exec env -i HOME=/home/me USER=me LOGNAME=me PATH=/usr/bin:/bin /bin/sh /enter "$@"' there "$ROOT" "$@"
}

is_a_jail_there() {
    prints "a secret of mine" there_as_me cat /home/me/secret
    run there_as_me agent-sandbox --quiet -- cat /home/me/secret
    [[ $status != 0 && $output == *"No such file"* ]] || report "the secret is seen"
    works there_as_me agent-sandbox --quiet -- sh -c 'echo made inside >made'
    prints "made inside" cat "$ROOT/home/me/project/made"
    rm "$ROOT/home/me/project/made"
}

@test "the .rpm has no dependencies, is installed, works, and is removed without a trace" {
    prints "" sh -c "rpm -qp --requires $(rpm_file $PACKAGES "$VERSION" "$MACHINE") | sed '/^rpmlib(/d'"
    works rpm_there -i "$(rpm_file $PACKAGES "$VERSION" "$MACHINE")"
    prints "" rpm_there -V agent-sandbox
    prints "agent-sandbox $VERSION" there_as_me agent-sandbox --version
    is_a_jail_there
    works there_as_me agent-sandbox config check
    works there_as_me agent-sandbox doctor
    prints "" find "$ROOT/usr" '(' ! -user root -o ! -group root -o -perm /6022 ')'
    works rpm_there -qd agent-sandbox
    [[ $output == *man1/agent-sandbox.1.gz* && $output == *README.md* ]] || report "documents are not marked as such"
    works test -s "$ROOT/usr/share/agent-sandbox/modulefiles/agent-sandbox.lua"
    # The file differs from the installed one: rpm reports it.
    echo >>"$ROOT/usr/share/agent-sandbox/admin/login-node.toml"
    run rpm_there -V agent-sandbox
    [[ $status != 0 && $output == *login-node.toml* ]] || report "a changed file is not seen"
    works rpm_there -e agent-sandbox
    (cd "$ROOT" && find . -path ./var/lib/rpm -prune -o -path ./home/me/.local -prune -o -path ./tmp -prune -o -print | sort) >"$BATS_TEST_TMPDIR/after"
    # System directories that the package needed, and that no package owns here, may stay; no file may stay.
    prints "" sh -c "comm -13 $BATS_TEST_TMPDIR/before $BATS_TEST_TMPDIR/after | sed -n /agent-sandbox/p"
    prints "" find "$ROOT/usr" ! -type d
}

@test "an upgrade of the .rpm keeps the files of users and the administrator" {
    works rpm_there -i "$(rpm_file $PACKAGES "$VERSION" "$MACHINE")"
    works there_as_me agent-sandbox --quiet -- true
    mkdir -p "$ROOT/home/me/.config/agent-sandbox" "$ROOT/etc/agent-sandbox"
    printf '[home]\naccess = "restricted"\n' >"$ROOT/home/me/.config/agent-sandbox/config.toml"
    printf '[network]\nmode = "isolated"\n' >"$ROOT/etc/agent-sandbox/config.toml"
    (cd "$ROOT" && find home etc/agent-sandbox -type f -exec sha256sum {} +) >"$BATS_TEST_TMPDIR/of-users"
    works rpm_there -U "$(rpm_file $NEXT "$PACKAGES_NEXT" "$MACHINE")"
    prints "" rpm_there -V agent-sandbox
    prints "agent-sandbox-$PACKAGES_NEXT-1.$MACHINE" rpm_there -q agent-sandbox
    prints "agent-sandbox $PACKAGES_NEXT" there_as_me agent-sandbox --version
    (cd "$ROOT" && works sha256sum --check --quiet "$BATS_TEST_TMPDIR/of-users")
    works there_as_me agent-sandbox config show --origin
    [[ $output =~ home.access\ +restricted && $output =~ network.mode\ +isolated\ +/etc/agent-sandbox ]] || report "settings are lost"
    works rpm_there -e agent-sandbox
    (cd "$ROOT" && works sha256sum --check --quiet "$BATS_TEST_TMPDIR/of-users")
}

@test "AppArmor: the profile is installed where a parser supports it, and is removed with the package" {
    local name profile=/etc/apparmor.d/agent-sandbox
    mkdir "$ROOT/sbin" "$ROOT/etc/apparmor.d"
    for name in head grep chmod; do ln -s busybox "$ROOT/bin/$name"; done
    printf '#!/bin/sh\necho "$@" >>/calls\n' >"$ROOT/sbin/apparmor_parser"
    chmod 0755 "$ROOT/sbin/apparmor_parser"
    works rpm_there -i "$(rpm_file $PACKAGES "$VERSION" "$MACHINE")"
    works grep -q '^profile agent-sandbox /usr/bin/agent-sandbox ' "$ROOT$profile"
    works rpm_there -U "$(rpm_file $NEXT "$PACKAGES_NEXT" "$MACHINE")"
    prints "--replace $profile" tail -n 1 "$ROOT/calls"
    works rpm_there -e agent-sandbox
    prints "--remove $profile" tail -n 1 "$ROOT/calls"
    [[ ! -e $ROOT$profile ]]
}

@test "an .rpm of another architecture is not taken" {
    run rpm_there -i "$(rpm_file $PACKAGES "$VERSION" "$FOREIGN")"
    [[ $status != 0 && $output == *"different architecture"* ]] || report "was taken"
}
