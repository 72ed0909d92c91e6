# SPDX-License-Identifier: MIT
# Tests that need root to prepare them: the administrator's files and the system's bubblewrap. Every test has its own /etc and its
# own mounts in a private mount namespace, so that nothing on the host changes. The user still calls the program.

load ../jail/helper

start_admin_test() {
    STAGE=$(mktemp -d "$SBX_STAGE/stage.XXXXXX")
    chmod 0755 "$STAGE"
    # Without the lock files of useradd, which appear and vanish while other tests create users.
    mkdir "$STAGE/etc"
    (cd /etc && find . -mindepth 1 -maxdepth 1 ! -name '*.lock' ! -name '*+' -exec cp -a -t "$STAGE/etc" {} +)
    ADMIN=$STAGE/etc/agent-sandbox
    mkdir "$ADMIN"
    PROJECT=$SBX_HOME/project
    rm -rf "$PROJECT" "$SBX_HOME/.config"
    as_user mkdir -p "$PROJECT" "$SBX_HOME/.config/agent-sandbox"
    USER_CONFIG=$SBX_HOME/.config/agent-sandbox/config.toml
    PREPARE=:
    AROUND=()
    JAIL=()
}

end_admin_test() {
    cd / && rm -rf "$STAGE" "$PROJECT" "$SBX_HOME/.config"
}

as_user() {
    runuser -u "$SBX_USER" -- env HOME="$SBX_HOME" USER="$SBX_USER" "$@"
}

# Runs a command as the user, in a namespace where /etc is the test's own; root runs the shell text in PREPARE there before. AROUND
# is a command that root starts all of it with.
on_stage() {
    "${AROUND[@]}" unshare --mount --propagation private sh -c '
        stage=$1 user=$2 home=$3 project=$4 prepare=$5
        shift 5
        mount --bind "$stage/etc" /etc && eval "$prepare" && cd "$project" &&
            exec runuser -u "$user" -- env HOME="$home" USER="$user" "$@"' \
        sh "$STAGE" "$SBX_USER" "$SBX_HOME" "$PROJECT" "$PREPARE" "$@"
}

in_jail() { on_stage "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }

admin_says() { printf '%s\n' "$@" >"$ADMIN/config.toml"; }
user_says() { printf '%s\n' "$@" >"$USER_CONFIG" && chown "$SBX_USER" "$USER_CONFIG"; }
