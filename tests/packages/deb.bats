#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The .deb in a clean Debian: installed, used, upgraded, removed.

load helper

@test "the .deb is installed, works, and is removed without a trace" {
    in_debian <<'SCRIPT'
    everything >/tmp/before
    works dpkg -i "$DEB"
    prints "" dpkg --verify agent-sandbox
    prints "agent-sandbox $VERSION" as_me agent-sandbox --version
    is_a_jail agent-sandbox
    works as_me agent-sandbox doctor
    works as_me agent-sandbox config check

    # Everything belongs to root, no other user may write it, no file is set-user-ID, and no file is in /etc.
    dpkg -L agent-sandbox | sed '/^\/\.$/d' >/tmp/files
    prints "" xargs -d '\n' -a /tmp/files sh -c 'find "$@" -maxdepth 0 "(" ! -user root -o ! -group root -o -perm /6022 ")"' sh
    fails "" grep -v '^/usr' /tmp/files
    for file in bin/agent-sandbox share/man/man1/agent-sandbox.1.gz share/man/man5/agent-sandbox.toml.5.gz share/man/man5/agent-sandbox-audit.5.gz \
        share/bash-completion/completions/agent-sandbox share/zsh/vendor-completions/_agent-sandbox share/fish/vendor_completions.d/agent-sandbox.fish \
        share/agent-sandbox/admin/login-node.toml share/agent-sandbox/apparmor/agent-sandbox share/agent-sandbox/modulefiles/agent-sandbox.lua \
        share/doc/agent-sandbox/README.md share/doc/agent-sandbox/copyright share/doc/agent-sandbox/docs/install.md; do
        works test -s "/usr/$file"
    done
    works grep -q '^profile agent-sandbox /usr/bin/agent-sandbox ' /usr/share/agent-sandbox/apparmor/agent-sandbox
    works as_me agent-sandbox config check --admin /usr/share/agent-sandbox/admin/login-node.toml

    # What users and the administrator wrote stays, also after a purge.
    as_me mkdir -p /home/me/.config/agent-sandbox
    as_me sh -c 'echo "[home]" >~/.config/agent-sandbox/config.toml'
    mkdir /etc/agent-sandbox
    echo '[limits]' >/etc/agent-sandbox/config.toml
    for removal in --remove --purge; do
        works dpkg $removal agent-sandbox
        everything >/tmp/after
        prints "/etc/agent-sandbox /etc/agent-sandbox/config.toml /home/me/.config /home/me/.config/agent-sandbox /home/me/.config/agent-sandbox/config.toml" \
            sh -c 'diff /tmp/before /tmp/after | sed -n "s/^[<>] \([^ ]*\) .*/\1/p" | tr "\n" " " | sed "s/ $//"'
        works test -d /home/me/.local/state/agent-sandbox
    done
    fails "no packages found" dpkg -s agent-sandbox || fails "not installed" dpkg -s agent-sandbox
SCRIPT
}

@test "an upgrade while a session runs: the session goes on, the new program controls it, every file of a user stays" {
    in_debian <<'SCRIPT'
    works dpkg -i "$DEB"
    as_me mkdir -p /home/me/.config/agent-sandbox
    as_me sh -c 'printf "[home]\naccess = \"restricted\"\n" >~/.config/agent-sandbox/config.toml'
    mkdir /etc/agent-sandbox
    printf '[network]\nmode = "isolated"\n' >/etc/agent-sandbox/config.toml
    works as_me agent-sandbox --quiet -- true
    start_session old agent-sandbox
    first=$SESSION
    start_session stopped agent-sandbox
    second=$SESSION
    (cd /home/me && find .config .local/state -type f -exec sha256sum {} +) >/tmp/of-users

    works dpkg -i "$NEXT_DEB"
    prints "agent-sandbox $NEXT_VERSION" as_me agent-sandbox --version
    (cd /home/me && works sha256sum --check --quiet /tmp/of-users)
    prints isolated sh -c 'sed -n "s/.*\"\(.*\)\"/\1/p" /etc/agent-sandbox/config.toml'
    as_me agent-sandbox config show --origin >/tmp/shown
    works grep -E 'home.access +restricted' /tmp/shown
    works grep -E 'network.mode +isolated +/etc/agent-sandbox' /tmp/shown

    # Still a jail, still with the program that it was started with.
    prints "works" ask old 'echo works'
    [[ $(ask old 'cat /home/me/secret') == *"No such file"* ]]
    [[ $(ask old 'agent-sandbox policy') == *isolated* ]]
    as_me agent-sandbox ps >/tmp/shown
    prints 2 grep -c ' sh answer ' /tmp/shown
    id=$(sed -n 's/^\([0-9a-f]*\) .* stopped$/\1/p' /tmp/shown)
    works as_me agent-sandbox inspect "$id"
    works as_me agent-sandbox stop "$id"
    wait "$second" || true
    end_session old "$first"
    as_me agent-sandbox ps >/tmp/shown
    fails "" grep ' sh answer ' /tmp/shown
    works as_me agent-sandbox log
SCRIPT
}

@test "AppArmor: the profile is installed where the parser supports it, never blocks the package, and is removed with it" {
    in_debian <<'SCRIPT'
    profile=/etc/apparmor.d/agent-sandbox
    # The parser of Debian 12 knows no rule for user namespaces.
    fails "" apparmor_parser --skip-kernel-load --skip-cache /checkout/share/apparmor/agent-sandbox
    works dpkg -i "$DEB"
    fails "No such file" ls $profile
    works dpkg --purge agent-sandbox

    # One that does, and one whose kernel does not want it.
    for outcome in 0 1; do
        printf '#!/bin/sh\necho "$@" >>/tmp/calls\ncase $1 in --skip-kernel-load) exit 0 ;; *) exit %s ;; esac\n' $outcome >/usr/local/sbin/apparmor_parser
        chmod 0755 /usr/local/sbin/apparmor_parser
        rm -f /tmp/calls
        works dpkg -i "$DEB"
        prints "--replace $profile" tail -n 1 /tmp/calls
        works grep -q '^profile agent-sandbox /usr/bin/agent-sandbox ' $profile
        prints "644 root" stat -c '%a %U' $profile
        echo "# of an old version" >>$profile
        works dpkg -i "$NEXT_DEB"
        fails "" grep "of an old version" $profile
        works dpkg --remove agent-sandbox
        prints "--remove $profile" tail -n 1 /tmp/calls
        fails "No such file" ls $profile
        works dpkg --purge agent-sandbox
    done

    # The administrator's own stays as it is.
    echo "# mine" >$profile
    works dpkg -i "$DEB"
    works dpkg --purge agent-sandbox
    prints "# mine" cat $profile
SCRIPT
}
