#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The real podman makes no container in the jail, and one line names the option. Through its service outside it works.

load helper

setup() {
    start_test
    JAIL=(--network isolated)
}
teardown() {
    # Podman's own processes outside, which have the storage open.
    podman system migrate >/dev/null 2>&1 || true
    podman unshare rm -rf "$HOME/.local/share/containers" 2>/dev/null || true
    end_test
}

# In the user namespace of a container the caller is root.
@test "control: outside, podman makes the namespaces of a container" {
    works podman unshare id -u
    [[ ${lines[-1]} == 0 ]] || report "should be root there"
}

@test "podman behind a shell fails with one line that names the option" {
    local backend lines_of_ours
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        run -125 in_jail_sh 'podman unshare id -u'
        lines_of_ours=$(grep -c "^agent-sandbox: podman can't make containers in the jail.*--dangerous-socket" <<<"$output" || true)
        ((lines_of_ours == 1)) || report "$backend: one line should name the option"
    done
}

@test "podman as the command of a session has the line once, at the start" {
    run -125 "$SBX_PROGRAM" "${JAIL[@]}" -- podman run --rm image
    [[ $(grep -c "^agent-sandbox: podman can't make containers" <<<"$output") == 1 ]] || report "one line should name the option"
}

@test "with --dangerous-socket podman uses its service outside" {
    local socket=$HOME/podman.sock
    podman system service --time=0 "unix://$socket" </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -S "$socket"
    run in_jail podman --remote --url "unix://$socket" images
    ((status != 0)) || report "without the option the socket should be absent"
    JAIL+=(--dangerous-socket "$socket" --env XDG_RUNTIME_DIR=/tmp)
    works env XDG_RUNTIME_DIR=/tmp "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- podman --remote --url "unix://$socket" images
    [[ $output == *REPOSITORY* && $output != *"can't make containers"* ]] || report "should list the images of the service"
}
