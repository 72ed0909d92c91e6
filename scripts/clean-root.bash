# SPDX-License-Identifier: MIT
# A clean Debian, for scripts that run as root and must not depend on programs that happen to be installed here. Sourced, not run.
#
# The tree is made once for all checkouts (scripts/build-cache.bash). Each user of it gets a writable copy in memory and its own namespaces:
# /proc, a network with only loopback, a host name. It is entered by pivot_root, because in a chroot the kernel refuses new user namespaces.

. scripts/build-cache.bash

# make_clean_root NAME PACKAGE...: makes a tree with the essential packages and these. build/roots/NAME is a link to it. Another list, release
# or source of packages gives another tree.
make_clean_root() {
    local name=$1 release=bookworm cache root sources=() file wanted
    shift
    wanted="$*"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do [[ ! -s $file ]] || sources+=("$file"); done
    cache=$(cache_folder roots)
    root=$cache/$({ echo "$wanted"; uname -m; declare -f make_clean_root; cat /dev/null "${sources[@]}"; } | cache_key)
    if ! cache_use "$root"; then
        command -v mmdebstrap >/dev/null || { echo "scripts/clean-root.bash: mmdebstrap is missing; run: scripts/setup packages" >&2; return 1; }
        ((${#sources[@]})) || { echo "scripts/clean-root.bash: apt has no sources here" >&2; return 1; }
        # Another run may be making it at the same time.
        exec 8>"$cache/lock"
        flock 8
        if ! cache_use "$root"; then
            rm -rf "$root.new"
            # In a mount namespace of its own: its mounts end with it, and no later rm -rf meets them.
            unshare --mount --propagation private mmdebstrap --quiet --variant=minbase --include="${wanted// /,}" --aptopt='Acquire::Retries "5"' \
                --aptopt='APT::Install-Recommends "false"' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
                "$release" "$root.new" "${sources[@]}" >&2 || { exec 8>&-; return 1; }
            touch "$root.new" # mmdebstrap sets the time to SOURCE_DATE_EPOCH
            mv "$root.new" "$root"
        fi
        exec 8>&-
    fi
    mkdir -p build/roots
    [[ -L build/roots/$name ]] || rm -rf "build/roots/$name"
    [[ $(readlink "build/roots/$name") == "$root" ]] || ln -sfn "$root" "build/roots/$name"
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
