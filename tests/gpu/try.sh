#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/gpu/try.sh [PROGRAM]: checks that the GPU of this machine works in the jail. PROGRAM is agent-sandbox (default: the one on
# PATH). Needs an NVIDIA driver; does not build the sandbox. It tries every claim outside first, as a control, and skips what does
# not work there. Runs as an ordinary user, in a new project below the home directory; for root it creates an ordinary user first.
set -u

program=${1:-$(command -v agent-sandbox)}
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$program" ] || { echo "no program: give the path of agent-sandbox"; exit 2; }

if [ "$(id -u)" = 0 ]; then
    user=sandbox-gpu-try
    id "$user" >/dev/null 2>&1 || useradd -m "$user" || exit 2
    stage=$(mktemp -d /opt/sandbox-gpu-try.XXXXXX) || exit 2
    cp "$program" "$stage/agent-sandbox"
    cp "$here/try.sh" "$here/vector_add.cu" "$stage/"
    chmod -R a+rX "$stage"
    # The user gets root's PATH: nvcc is rarely on the usual one.
    su "$user" -s /bin/sh -c "PATH='$PATH'; export PATH; cd; exec sh '$stage/try.sh' '$stage/agent-sandbox'"
    status=$?
    rm -rf "$stage"
    userdel -r "$user" 2>/dev/null
    exit $status
fi

project=$(mktemp -d "$HOME/gpu-try.XXXXXX") || exit 2
trap 'cd / && rm -rf "$project"' EXIT
cd "$project" || exit 2
failures=0

jail() { "$program" "$@"; }
say() { printf '%-8s %s\n' "$1" "$2"; }
passed() { say ok "$1"; }
failed() { say FAILED "$1"; sed 's/^/         | /' "$project/log"; failures=$((failures + 1)); }

# expect NAME COMMAND...: the command works outside, and inside.
expect() {
    name=$1
    shift
    if ! "$@" >"$project/log" 2>&1; then
        say skipped "$name: does not work outside either"
        sed 's/^/         | /' "$project/log" | head -n 5
        return
    fi
    if jail --gpu on -- "$@" >"$project/log" 2>&1; then passed "$name"; else failed "$name"; fi
}

# refuse NAME COMMAND...: the command works outside, and does not work inside without the GPU.
refuse() {
    name=$1
    shift
    "$@" >/dev/null 2>&1 || return
    if jail --gpu off -- "$@" >"$project/log" 2>&1; then failed "$name"; else passed "$name"; fi
}

say machine "$(uname -srm)"
say nodes "$(ls -d /dev/nvidia* /dev/nvidia-caps/* /dev/dri/* /dev/kfd 2>/dev/null | tr '\n' ' ')"
if ! jail -- true >"$project/log" 2>&1; then failed "a jail without a GPU"; exit 1; fi
if ! jail --gpu on -- true >"$project/log" 2>&1; then failed "a jail with the GPU"; exit 1; fi
jail --gpu on -- sh -c 'ls -d /dev/nvidia* /dev/nvidia-caps/* /dev/dri/* /dev/kfd 2>/dev/null; find /sys -maxdepth 4 2>/dev/null' >"$project/log" 2>&1
say inside "$(tr '\n' ' ' <"$project/log")"

expect "nvidia-smi" nvidia-smi
if nvidia-smi -L >"$project/outside" 2>&1; then
    jail --gpu on -- nvidia-smi -L >"$project/inside" 2>&1
    cat "$project/outside" "$project/inside" >"$project/log"
    if cmp -s "$project/outside" "$project/inside"; then passed "the same list as outside"; else failed "the same list as outside"; fi
fi
refuse "no GPU with --gpu off" nvidia-smi -L
if jail --gpu on -- sh -c 'ls /sys/block /sys/class/net' >"$project/log" 2>&1; then failed "the rest of /sys is absent"; else passed "the rest of /sys is absent"; fi
if jail --gpu on -- sh -c 'touch /dev/new' >"$project/log" 2>&1; then failed "no node can be added"; else passed "no node can be added"; fi

cp "$here/vector_add.cu" "$project/copy.cu"
if command -v nvcc >/dev/null && nvcc -o "$project/vector_add" "$here/vector_add.cu" >"$project/log" 2>&1; then
    expect "a CUDA kernel" "$project/vector_add"
    refuse "no kernel with --gpu off" "$project/vector_add"
    expect "compile and run inside" sh -c "nvcc -o compiled '$project/copy.cu' && ./compiled"
else
    say skipped "CUDA kernels: no working nvcc on PATH"
fi
if command -v python3 >/dev/null && python3 -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1; then
    expect "PyTorch" python3 -c 'import torch; x = torch.ones(1000, device="cuda"); assert float(x.sum()) == 1000'
else
    say skipped "PyTorch: not here"
fi

[ "$failures" = 0 ] && say result "everything that works outside works inside"
[ "$failures" = 0 ]
