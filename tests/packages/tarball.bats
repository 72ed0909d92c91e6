#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The tarball in a clean Debian: two versions side by side, and in a home directory without root.

load helper

@test "two versions side by side, each with a session, and each sees the other's" {
    in_debian <<'SCRIPT'
    everything >/tmp/before
    mkdir -p /opt/agent-sandbox
    tar -xzf "$TARBALL" -C /opt/agent-sandbox
    tar -xzf "$NEXT_TARBALL" -C /opt/agent-sandbox
    mv "/opt/agent-sandbox/agent-sandbox-$VERSION" "/opt/agent-sandbox/$VERSION"
    mv "/opt/agent-sandbox/agent-sandbox-$NEXT_VERSION" "/opt/agent-sandbox/$NEXT_VERSION"
    old=/opt/agent-sandbox/$VERSION/bin/agent-sandbox
    new=/opt/agent-sandbox/$NEXT_VERSION/bin/agent-sandbox
    prints "agent-sandbox $VERSION" as_me "$old" --version
    prints "agent-sandbox $NEXT_VERSION" as_me "$new" --version
    prints "" find /opt/agent-sandbox '(' ! -user root -o ! -group root -o -perm /6022 ')'
    is_a_jail "$old"
    is_a_jail "$new"

    start_session first "$old"
    first=$SESSION
    start_session second "$new"
    second=$SESSION
    for program in "$old" "$new"; do
        as_me "$program" ps >/tmp/shown
        works grep -q ' first$' /tmp/shown
        works grep -q ' second$' /tmp/shown
        for id in $(sed -n 's/^\([0-9a-f]\{8\}\) .*/\1/p' /tmp/shown); do works as_me "$program" inspect "$id"; done
    done
    # Each jail contains the version that started it.
    for name in first second; do prints "works" ask $name 'echo works'; done
    prints "agent-sandbox $VERSION" ask first 'agent-sandbox --version'
    prints "agent-sandbox $NEXT_VERSION" ask second 'agent-sandbox --version'
    # The old one goes away while its session runs.
    rm -r "/opt/agent-sandbox/$VERSION"
    prints "works" ask first 'echo works'
    end_session first "$first"
    end_session second "$second"
    works as_me "$new" log
    rm -r /opt/agent-sandbox $PROJECT/*
    everything | diff /tmp/before - >/tmp/shown || { cat /tmp/shown >&2; false; }
SCRIPT
}

@test "the program runs from a home directory, without root, and after it is moved" {
    in_debian <<'SCRIPT'
    as_me mkdir -p /home/me/.local/bin
    as_me tar -xzf - -C /home/me/.local <"$TARBALL"
    as_me ln -s "../agent-sandbox-$VERSION/bin/agent-sandbox" /home/me/.local/bin/agent-sandbox
    prints "agent-sandbox $VERSION" as_me /home/me/.local/bin/agent-sandbox --version
    is_a_jail /home/me/.local/bin/agent-sandbox
    as_me mv "/home/me/.local/agent-sandbox-$VERSION" "/home/me/a place of its own"
    is_a_jail "/home/me/a place of its own/bin/agent-sandbox"
    works as_me test -s "/home/me/a place of its own/share/man/man1/agent-sandbox.1"
SCRIPT
}

@test "the pages of the manual can be read" {
    local page
    tar -xzf "$(tarball $PACKAGES "$VERSION" "$MACHINE")" -C "$BATS_TEST_TMPDIR" --strip-components=1
    for page in man1/agent-sandbox.1 man5/agent-sandbox.toml.5 man5/agent-sandbox-audit.5; do
        works bash -o pipefail -c 'mandoc -T utf8 -W error "$1" | sed "s/.\x08//g"' sh "$BATS_TEST_TMPDIR/share/man/$page"
        [[ $output == *NAME* && $output == *agent-sandbox* ]] || report "$page"
    done
}

@test "make install installs the tarball's files with any umask, and make uninstall removes them" {
    local stage=$BATS_TEST_TMPDIR/stage
    tar -xzf "$(tarball $PACKAGES "$VERSION" "$MACHINE")" -C "$BATS_TEST_TMPDIR"
    (umask 077 && works make install DESTDIR="$stage" PREFIX=/somewhere/else)
    prints "" find "$stage" -perm /6022 -o -type d ! -perm 755
    works grep -q '^profile agent-sandbox /somewhere/else/bin/agent-sandbox ' "$stage/somewhere/else/share/agent-sandbox/apparmor/agent-sandbox"
    works diff <(cd "$stage/somewhere/else" && find . -printf '%p %m\n' | sort) \
        <(cd "$BATS_TEST_TMPDIR/agent-sandbox-$VERSION" && find . -printf '%p %m\n' | sort)
    works make uninstall DESTDIR="$stage" PREFIX=/somewhere/else
    prints "" find "$stage" ! -type d
    prints "" find "$stage" -name '*agent-sandbox*'
}
