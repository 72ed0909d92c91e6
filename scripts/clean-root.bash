# SPDX-License-Identifier: MIT
# A clean Debian, for scripts that run as root and must not depend on programs that happen to be installed here. Sourced, not run.
#
# The tree is made once, below build/. Each user of it gets a writable copy in memory and its own namespaces: /proc, a network with only
# loopback, a host name. It is entered by pivot_root, because in a chroot the kernel refuses new user namespaces.

# make_clean_root NAME PACKAGE...: makes the tree build/roots/NAME with the essential packages and these. Rebuilds it when the list changes.
make_clean_root() {
    local name=$1 root=build/roots/$1 sources=() file wanted
    shift
    wanted="$*"
    [[ ! -e $root/etc/agent-sandbox-root || $(<"$root/etc/agent-sandbox-root") != "$wanted" ]] || return 0
    command -v mmdebstrap >/dev/null || { echo "scripts/clean-root.bash: mmdebstrap is missing; run: scripts/setup packages" >&2; return 1; }
    mkdir -p build/roots
    # Another run may be building it at the same time.
    exec 8>"$root.lock"
    flock 8
    [[ ! -e $root/etc/agent-sandbox-root || $(<"$root/etc/agent-sandbox-root") != "$wanted" ]] || { exec 8>&-; return 0; }
    rm -rf "$root" "$root.new"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do [[ ! -s $file ]] || sources+=("$file"); done
    ((${#sources[@]})) || { echo "scripts/clean-root.bash: apt has no sources here" >&2; return 1; }
    mmdebstrap --quiet --variant=minbase --include="${wanted// /,}" \
        --aptopt='APT::Install-Recommends "false"' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        bookworm "$root.new" "${sources[@]}" >&2
    echo "$wanted" >"$root.new/etc/agent-sandbox-root"
    mv "$root.new" "$root"
    exec 8>&-
}

# in_clean_root NAME COMMAND...: runs the command as root of the tree, in /. The checkout is mounted read-only at /checkout. Descriptors and
# variables pass.
in_clean_root() {
    local name=$1 stage status=0
    shift
    stage=$(mktemp -d /tmp/agent-sandbox-root.XXXXXX) || return
    unshare --mount --propagation private --net --uts --ipc --pid --fork --kill-child -- bash -euc '
        root=$1 checkout=$2 stage=$3
        shift 3
        mount -t tmpfs tmpfs "$stage"
        mkdir "$stage"/{upper,work,root}
        mount -t overlay -o "lowerdir=$root,upperdir=$stage/upper,workdir=$stage/work" overlay "$stage/root"
        cd "$stage/root"
        mkdir -p checkout host dev/pts
        mount --rbind "$checkout" checkout
        mount -o remount,bind,ro checkout
        mount --rbind /dev dev
        mount -t tmpfs -o mode=0755 tmpfs run
        mount -t tmpfs -o mode=1777 tmpfs tmp
        mount -t proc proc proc
        mount -t sysfs -o ro sysfs sys
        ip link set lo up
        hostname clean
        printf "%s\n" "127.0.0.1 localhost clean" >etc/hosts
        pivot_root . host
        umount -l host
        rmdir host
        cd /
        exec "$@"' in_clean_root "$PWD/build/roots/$name" "$PWD" "$stage" "$@" || status=$?
    rmdir "$stage" || true
    return "$status"
}
