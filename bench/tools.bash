# SPDX-License-Identifier: MIT
# Sourced by the benchmarks that compare tools: how each is called, and which of them start here. As root, after `begin`, in the benchmark's
# own mount namespace (in_own_mounts).
#
#     fetch_tools; prepare_tools PROJECT; choose_tools nothing bubblewrap podman …
#     as_user ${tool[podman]} true
#
# "nothing" is the command itself. Bubblewrap and firejail are called with commonly used options; the others with their defaults.

tools_folder=build/peers
declare -A tool=()
working=()

# Debian's packages and packages from npm, from the registry that npm uses, and only for the comparison.
fetch_tools() {
    scripts/setup peers
    [[ ! -x $tools_folder/node_modules/.bin/srt || ! -x $tools_folder/node_modules/.bin/codex ]] || return 0
    local codex
    codex=$(awk '$1 == "codex" { print $2 "@" $3 }' tests/agents/versions.list)
    mkdir -p "$tools_folder"
    npm install --prefix "$tools_folder" --no-audit --no-fund --no-update-notifier --loglevel error @anthropic-ai/sandbox-runtime@0.0.78 "$codex" >/dev/null ||
        echo "npm can't fetch sandbox-runtime and codex: they are left out"
}

# Networks of ordinary users need a device that udev makes writable for everyone where it runs.
open_tun() { # FOLDER
    [[ -c /dev/net/tun && $(stat -c %a /dev/net/tun) != 666 ]] || return 0
    mknod -m 0666 "$1/tun" c 10 200
    mount --bind "$1/tun" /dev/net/tun
}

prepare_tools() { # PROJECT
    local name programs=$stage/npm/node_modules/.bin
    project=$1
    # Container engines need the unified control group hierarchy; this mount namespace gets it.
    if [[ -d /sys/fs/cgroup/unified ]]; then
        umount --recursive /sys/fs/cgroup
        mount -t cgroup2 none /sys/fs/cgroup
    fi
    open_tun "$stage"
    # The user may be unable to read the checkout.
    mkdir -p "$stage/npm" "$tools_folder"
    mount --bind "$tools_folder" "$stage/npm"
    # Read-only, so that removing the stage does not remove these files.
    mount -o remount,bind,ro "$stage/npm"
    mkdir -p "$stage/root"/{usr,proc,dev,sys,tmp,run,etc,var,home}
    for name in bin lib sbin lib64; do [[ ! -L /$name ]] || ln -s "usr/$name" "$stage/root/$name"; done
    chown -R "$user" "$stage/root"
    install -d -o "$user" -m 0700 "$stage/runtime"
    usermod --add-subuids 700000-765535 --add-subgids 700000-765535 "$user"
    tool=(
        [nothing]="env"
        [bubblewrap]="bwrap --ro-bind / / --dev /dev --proc /proc --bind $project $project --unshare-pid --die-with-parent"
        [firejail]="firejail --quiet"
        [runsc]="runsc --rootless --network=none --ignore-cgroups do"
        [podman]="podman --cgroup-manager cgroupfs --log-level error run --rm --quiet -i --cgroups=disabled --network slirp4netns --rootfs -v /usr:/usr:ro -v $project:$project -w $project -v $stage:$stage:ro $stage/root"
        [sandbox-runtime]="$programs/srt"
        [codex]="$programs/codex sandbox -c sandbox_mode=\"workspace-write\" --"
        [agent-sandbox]="$ours --"
        [untrusted]="$ours --preset untrusted --"
        [by-bwrap]="$ours --backend bwrap --"
        [by-firejail]="$ours --backend firejail --"
        [by-landlock]="$ours --backend landlock --"
    )
}

version_of() {
    local packages=$stage/npm/node_modules
    case $1 in
        bubblewrap) bwrap --version ;;
        firejail) firejail --version | head -n 1 ;;
        runsc) runsc --version | head -n 1 ;;
        podman) podman --version ;;
        sandbox-runtime) echo "sandbox-runtime $(node -p "require('$packages/@anthropic-ai/sandbox-runtime/package.json').version")" ;;
        codex) "$packages/.bin/codex" --version ;;
        agent-sandbox | untrusted | by-*) "$stage/agent-sandbox" --version | head -n 1 ;;
        *) echo - ;;
    esac
}

as_user() {
    (cd "$project" && as_throwaway "$user" AWS_SECRET_ACCESS_KEY=the-secret TERM=dumb XDG_RUNTIME_DIR="$stage/runtime" "$@")
}

# choose_tools NAME...: those that start `true` here are `working`; for the others it prints their own message. BENCH_TOOLS, a list of
# names, selects only these.
choose_tools() {
    local name said
    working=()
    for name in "$@"; do
        [[ -z ${BENCH_TOOLS:-} || " nothing bubblewrap $BENCH_TOOLS " == *" $name "* ]] || continue
        # Word splitting is intended.
        # shellcheck disable=SC2086
        if ! said=$(as_user timeout 60 ${tool[$name]} true 2>&1 </dev/null); then
            printf '%-16s does not start here: %s\n' "$name" "$(tail -n 1 <<<"$said")"
            continue
        fi
        working+=("$name")
        printf '%-16s %s\n' "$name" "$(version_of "$name" 2>/dev/null)"
    done
    echo
}
