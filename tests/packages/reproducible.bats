#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The same sources give the same bytes.

load helper

@test "a copy of the sources elsewhere, with another time zone and umask, gives the same packages" {
    local name
    for name in "$(tarball . "$VERSION" "$MACHINE")" "$(deb . "$VERSION" "$MACHINE")" "$(rpm_file . "$VERSION" "$MACHINE")"; do
        works cmp "$PACKAGES/$name" "$SAME/$name"
    done
    # And it was a separate build, with its own object files.
    works test -s build/again/sources/build/src/cli/CMakeFiles/agent-sandbox.dir/main.cc.o
    works test ! -L build/again/sources/build
}

@test "the program in the packages is the one of the build, stripped" {
    local strip=$MACHINE-linux-gnu-strip
    "$strip" -o "$BATS_TEST_TMPDIR/program" build/agent-sandbox
    tar -xzf "$(tarball $PACKAGES "$VERSION" "$MACHINE")" -C "$BATS_TEST_TMPDIR"
    works cmp "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/agent-sandbox-$VERSION/bin/agent-sandbox"
    dpkg-deb -x "$(deb $PACKAGES "$VERSION" "$MACHINE")" "$BATS_TEST_TMPDIR/deb"
    works cmp "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/deb/usr/bin/agent-sandbox"
    rpm2cpio "$(rpm_file $PACKAGES "$VERSION" "$MACHINE")" | (cd "$BATS_TEST_TMPDIR" && busybox cpio -id ./usr/bin/agent-sandbox)
    works cmp "$BATS_TEST_TMPDIR/program" "$BATS_TEST_TMPDIR/usr/bin/agent-sandbox"
}

@test "a second packing gives the same bytes for both architectures, and the checksums are right" {
    (export TZ=America/St_Johns && umask 027 && works scripts/package --output "$BATS_TEST_TMPDIR/again")
    works diff -r "$PACKAGES" "$BATS_TEST_TMPDIR/again"
    cd "$PACKAGES"
    works sha256sum --check --quiet SHA256SUMS
    prints 6 grep -c . SHA256SUMS
}

@test "packages contain only the sources' time, only root as owner, and no path of this checkout" {
    local architecture
    for architecture in "$MACHINE" "$FOREIGN"; do
        prints "$(date -u -d "@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M') 0/0" \
            bash -c "TZ=UTC tar --numeric-owner -tvzf '$(tarball $PACKAGES "$VERSION" "$architecture")' | awk '{ print \$4, \$5, \$2 }' | sort -u"
        prints "$(date -u -d "@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M') root/root" \
            bash -c "dpkg-deb -c '$(deb $PACKAGES "$VERSION" "$architecture")' | TZ=UTC awk '{ print \$4, \$5, \$2 }' | sort -u"
        prints "$SOURCE_DATE_EPOCH localhost" rpm -qp --queryformat '%{BUILDTIME} %{BUILDHOST}' "$(rpm_file $PACKAGES "$VERSION" "$architecture")"
        rm -rf "$BATS_TEST_TMPDIR/files"
        mkdir "$BATS_TEST_TMPDIR/files"
        tar -xzf "$(tarball $PACKAGES "$VERSION" "$architecture")" -C "$BATS_TEST_TMPDIR/files"
        run grep -rlF "$PWD/" "$BATS_TEST_TMPDIR/files"
        [[ -z $output ]] || report "a path of this checkout"
    done
}
