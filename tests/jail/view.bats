#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The view starts empty: a path that no rule added does not exist, under any spelling.

load helper
setup() { start_test; }
teardown() { end_test; }

# bats test_tags=smoke
@test "system trees can be read and programs run" {
    works in_jail sh -c 'test -x /usr/bin/env && ls /usr/lib /etc /bin/sh >/dev/null'
}

# bats test_tags=smoke
@test "merged-usr links stay links" {
    for name in /bin /lib /sbin; do
        prints "$(readlink "$name")" in_jail readlink "$name"
    done
}

@test "system trees can't be written" {
    for directory in / /usr /etc /usr/local/bin /opt; do
        fails "" in_jail touch "$directory/agent-sandbox-test"
    done
}

@test "/srv, /root, /mnt and /media of the host are absent, and /var/lib but for the lists of packages" {
    expect_hidden "/srv/agent-sandbox-test.$SBX_TAG/secret"
    expect_hidden "/var/lib/agent-sandbox-test.$SBX_TAG/secret"
    for directory in /srv /root /var/log /mnt /media; do
        expect_hidden_directory "$directory"
    done
    works in_jail_sh 'ls -A /var/lib 2>/dev/null || true'
    for name in $output; do
        [[ $name == dpkg || $name == rpm || $name == pacman ]] || report "/var/lib/$name is shown"
    done
    for name in /var/lib/*/; do
        case ${name%/} in /var/lib/dpkg | /var/lib/rpm | /var/lib/pacman) ;; *) expect_hidden_directory "${name%/}" ;; esac
    done
}

@test "other users' home directories are absent" {
    expect_hidden "$SBX_NEIGHBOUR_HOME/secret"
    expect_hidden_directory "$SBX_NEIGHBOUR_HOME"
}

@test "/home lists only the caller" {
    works sh -c "ls /home | grep -qx '$SBX_NEIGHBOUR'"
    prints "$SBX_USER" in_jail ls /home
}

@test "other projects of the caller are absent" {
    mkdir "$HOME/other"
    echo "another project's secret" >"$HOME/other/secret"
    expect_hidden "$HOME/other/secret"
}

@test "a hidden program can't be started through the loader" {
    local loader
    loader=$(native_loader)
    mkdir "$HOME/tools"
    cp /bin/echo "$HOME/tools/hidden"
    prints hello "$loader" "$HOME/tools/hidden" hello
    fails "cannot open shared object file" in_jail "$loader" "$HOME/tools/hidden" hello
}

@test "/proc/self/root, /proc/1/root and .. lead nowhere else" {
    echo secret >"$HOME/secret"
    for prefix in /proc/self/root /proc/self/cwd/../../.. "$PROJECT/.." /../.. ; do
        case $prefix in
            "$PROJECT/..") file=$prefix/secret ;;
            *) file=$prefix$HOME/secret ;;
        esac
        works cat "$file"
        fails "No such file or directory" in_jail cat "$file"
    done
    # Our pid 1 is not dumpable, so its root link can't be followed.
    fails "Permission denied" in_jail cat "/proc/1/root$HOME/secret"
}

@test "no symbolic link in the project leads out of the view" {
    echo secret >"$HOME/secret"
    ln -s "$HOME/secret" link
    expect_hidden link
}

@test "/proc shows the jail's own processes" {
    works in_jail sh -c 'test "$(ls -d /proc/[0-9]* | wc -l)" -lt 6'
}

@test "/dev is minimal, with the devices that programs need" {
    works in_jail sh -c 'for name in null zero full random urandom tty; do test -c /dev/$name || exit 1; done'
    works in_jail sh -c 'echo x >/dev/null && head -c 4 /dev/urandom >/dev/null'
    for name in mem kmsg vda sda nvme0n1 loop0 fuse; do
        fails "No such file or directory" in_jail ls "/dev/$name"
    done
}

@test "/run is empty but for what the jail needs" {
    works test -S "/run/agent-sandbox-test.$SBX_TAG/service.sock"
    fails "No such file or directory" in_jail ls "/run/agent-sandbox-test.$SBX_TAG"
    for name in docker.sock dbus systemd containerd munge snapd.socket user; do
        fails "No such file or directory" in_jail ls -d "/run/$name"
    done
}

@test "/tmp is private, writable and executable" {
    echo secret >"/tmp/agent-sandbox-test.$SBX_TAG"
    works cat "/tmp/agent-sandbox-test.$SBX_TAG"
    fails "No such file or directory" in_jail cat "/tmp/agent-sandbox-test.$SBX_TAG"
    rm "/tmp/agent-sandbox-test.$SBX_TAG"
    works in_jail_sh 'cp /bin/echo /tmp/program && /tmp/program runs && touch /tmp/left-behind'
    fails "" test -e /tmp/left-behind
}

@test "/dev/shm is private" {
    echo secret >"/dev/shm/agent-sandbox-test.$SBX_TAG"
    works cat "/dev/shm/agent-sandbox-test.$SBX_TAG"
    fails "No such file or directory" in_jail cat "/dev/shm/agent-sandbox-test.$SBX_TAG"
    rm "/dev/shm/agent-sandbox-test.$SBX_TAG"
    works in_jail touch /dev/shm/own
    fails "" test -e /dev/shm/own
}

@test "the host's /tmp is shown when private_tmp is off, with a warning" {
    echo shared >"/tmp/agent-sandbox-test.$SBX_TAG"
    AGENT_SANDBOX_ISOLATION_PRIVATE_TMP=false works in_jail cat "/tmp/agent-sandbox-test.$SBX_TAG"
    [[ $output == *"private_tmp is off"*shared ]] || report "should warn, and show it"
    rm "/tmp/agent-sandbox-test.$SBX_TAG"
}

@test "the sandbox's configuration and state can't be changed from inside, in any home mode" {
    mkdir -p "$HOME/.config/agent-sandbox" "$HOME/.local/state/agent-sandbox"
    echo '# mine' >"$HOME/.config/agent-sandbox/config.toml"
    for mode in tmpwrite restricted read write; do
        JAIL=(--home "$mode")
        run in_jail_sh 'echo inside >>"$HOME/.config/agent-sandbox/config.toml"; mkdir -p "$HOME/.local/state/agent-sandbox/x"'
        prints "# mine" cat "$HOME/.config/agent-sandbox/config.toml"
        fails "" test -e "$HOME/.local/state/agent-sandbox/x"
    done
}

@test "the program itself can't be written from inside" {
    cp "$SBX_PROGRAM" "$HOME/agent-sandbox"
    works sh -c ': >>"$HOME/agent-sandbox"'
    fails "" "$HOME/agent-sandbox" --quiet --home write -- sh -c ': >>"$HOME/agent-sandbox"'
}
