#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The packages of the other architecture: their metadata, and their program under emulation.

load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    local architecture
    for architecture in "$MACHINE" "$FOREIGN"; do
        mkdir "$architecture"
        tar -xzf "$BATS_TEST_DIRNAME/../../$(tarball $PACKAGES "$VERSION" "$architecture")" -C "$architecture" --strip-components=1
    done
    cd - >/dev/null || return
    NATIVE=$BATS_TEST_TMPDIR/$MACHINE/bin/agent-sandbox
    OTHER=$BATS_TEST_TMPDIR/$FOREIGN/bin/agent-sandbox
    PLACE=$BATS_TEST_TMPDIR/project
    mkdir "$PLACE"
}

# by PROGRAM WORD...: runs it in the same directory with the same variables, the other architecture's program under emulation.
by() {
    local program=("$1")
    [[ $1 == "$NATIVE" ]] || program=("qemu-$FOREIGN-static" "$1")
    shift
    (cd "$PLACE" && env -i HOME=/root PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "${program[@]}" "$@")
}

@test "each package names its architecture, version and what it needs" {
    local architecture
    for architecture in aarch64 x86_64; do
        prints "agent-sandbox $VERSION-1 ${DEBIAN[$architecture]} " \
            dpkg-deb --showformat='${Package} ${Version} ${Architecture} ${Depends}' --show "$(deb $PACKAGES "$VERSION" "$architecture")"
        prints "agent-sandbox $VERSION 1 $architecture linux MIT" \
            rpm -qp --queryformat '%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{OS} %{LICENSE}' "$(rpm_file $PACKAGES "$VERSION" "$architecture")"
        prints "" bash -c "rpm -qp --requires '$(rpm_file $PACKAGES "$VERSION" "$architecture")' | sed '/^rpmlib(/d'"
    done
    works readelf -h "$OTHER"
    case $FOREIGN in
        x86_64) [[ $output == *X86-64* ]] || report "another machine" ;;
        aarch64) [[ $output == *AArch64* ]] || report "another machine" ;;
    esac
    run readelf -d "$OTHER"
    [[ $output != *NEEDED* ]] || report "not static"
}

@test "the packages of both architectures hold the same files but for the program" {
    rm "$NATIVE" "$OTHER"
    works diff -r "$BATS_TEST_TMPDIR/$MACHINE" "$BATS_TEST_TMPDIR/$FOREIGN"
}

@test "each program carries the filters of its own architecture, and no other's" {
    works cmp build/src/seccomp/filters.cc "build/cross/$FOREIGN/src/seccomp/filters.cc"
    prints "x86_64 32 of 32
aarch64 0 of 32" tests/packages/filters.py build/src/seccomp/filters.cc "$BATS_TEST_TMPDIR/x86_64/bin/agent-sandbox"
    prints "x86_64 0 of 32
aarch64 32 of 32" tests/packages/filters.py build/src/seccomp/filters.cc "$BATS_TEST_TMPDIR/aarch64/bin/agent-sandbox"
}

@test "filters do not depend on the kernel of the machine that makes them" {
    # An emulator does not support the calls by which libseccomp queries the kernel.
    works "qemu-$MACHINE-static" build/src/seccomp/seccomp-generate "$BATS_TEST_TMPDIR/filters.cc"
    works cmp build/src/seccomp/filters.cc "$BATS_TEST_TMPDIR/filters.cc"
}

@test "under emulation: version, help and configuration are those of this machine's program" {
    local words
    prints "agent-sandbox $VERSION" by "$OTHER" --version
    for words in help "help network" "help --reference" "help backends" "config show" "config show --origin" "config check" "profiles" "profiles show claude" "completion bash"; do
        # shellcheck disable=SC2086
        run --separate-stderr by "$NATIVE" $words
        local expected=$output expected_status=$status
        ((expected_status == 0)) || report "$words"
        # shellcheck disable=SC2086
        run --separate-stderr by "$OTHER" $words
        [[ $output == "$expected" && $status == "$expected_status" ]] || report "$words"
    done
    printf '[home]\naccess = "none"\n' >"$PLACE/bad.toml"
    run by "$OTHER" config check bad.toml
    [[ $status == 1 && $output == *home.access* ]] || report "a mistake is not seen"
}

# The emulator supports neither Landlock nor the calls by which the program builds a jail without bubblewrap.
@test "under emulation: the same plan, but for what differs between machines" {
    local program=$BATS_TEST_TMPDIR/agent-sandbox
    cp "$NATIVE" "$program"
    (cd "$PLACE" && env -i HOME=/root PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "$program" plan --json --backend bwrap -- true) >"$BATS_TEST_TMPDIR/native.json"
    cp "$OTHER" "$program"
    by "$program" plan --json --backend bwrap -- true >"$BATS_TEST_TMPDIR/other.json"
    grep -q '"detail": "writes by the mounts alone"' "$BATS_TEST_TMPDIR/other.json"
    # Without the level of that control, the line with its name, and the detail.
    works diff <(without_second_wall "$BATS_TEST_TMPDIR/native.json") <(without_second_wall "$BATS_TEST_TMPDIR/other.json")
    works test "$(without_second_wall "$BATS_TEST_TMPDIR/native.json" | grep -c .)" -gt 1000
}

without_second_wall() { sed -Ez 's/("level": )"\w+"(,[^{}]*"detail": )"writes [^"]*"/\1\2/' "$1"; }
