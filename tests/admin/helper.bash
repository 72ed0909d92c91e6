# SPDX-License-Identifier: MIT
# Tests that need root to prepare them: the administrator's files and the system's bubblewrap. Every test has its own /etc and its
# own mounts in a private mount namespace, so that nothing on the host changes. The user still calls the program.
# $STAGE/etc has what is different from the host's /etc, or all of it.

load ../jail/helper

# start_admin_test [copy]
start_admin_test() {
    STAGE=$(mktemp -d "$SBX_STAGE/stage.XXXXXX")
    chmod 0755 "$STAGE"
    make_etc "${1:-}"
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

# make_etc [copy]: an overlay, which takes a hundredth of the time of a copy. Tests that replace files during a launch, or that need the same
# directories in two launches, need the copy. With an overlay the host's account files would still change while other tests create users: those
# are always copied. The lock files of useradd are not copied, or hidden.
ACCOUNTS=(passwd group shadow gshadow subuid subgid)
make_etc() {
    local hidden=("${ACCOUNTS[@]/%/.lock}" "${ACCOUNTS[@]/%/+}" .pwd.lock) name
    mkdir -m 0755 "$STAGE/etc" "$STAGE/work"
    if [[ ${1:-} != copy && ! -e /etc/agent-sandbox ]] && has_overlay; then
        for name in "${ACCOUNTS[@]}" nsswitch.conf firejail; do [[ ! -e /etc/$name ]] || cp -a -t "$STAGE/etc" "/etc/$name"; done
        for name in "${hidden[@]}"; do mknod "$STAGE/etc/$name" c 0 0; done
        ETC=$OVERLAY
    else
        (cd /etc && find . -mindepth 1 -maxdepth 1 ! -name '*.lock' ! -name '*+' ! -regex '.*\.[0-9]+' -exec cp -a -t "$STAGE/etc" {} +)
        ETC='mount --bind "$stage/etc" /etc'
    fi
}
OVERLAY='mount -t overlay -o "lowerdir=/etc,upperdir=$stage/etc,workdir=$stage/work" overlay /etc'
has_overlay() { stage=$STAGE unshare --mount --propagation private sh -c "$OVERLAY" 2>/dev/null; }

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
        stage=$1 user=$2 home=$3 project=$4 etc=$5 prepare=$6
        shift 6
        eval "$etc" && eval "$prepare" && cd "$project" &&
            exec runuser -u "$user" -- env HOME="$home" USER="$user" "$@"' \
        sh "$STAGE" "$SBX_USER" "$SBX_HOME" "$PROJECT" "$ETC" "$PREPARE" "$@"
}

in_jail() { on_stage "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }

admin_says() { printf '%s\n' "$@" >"$ADMIN/config.toml"; }
user_says() { printf '%s\n' "$@" >"$USER_CONFIG" && chown "$SBX_USER" "$USER_CONFIG"; }
