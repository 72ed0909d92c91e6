#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The administrator's files: accepted only when no other user can have written them, and then a ceiling for every user.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

refuses() {
    refused 125 "$1" in_jail touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

# bats test_tags=smoke
@test "control: a run works with a correct file and without a file" {
    works in_jail true
    admin_says '[home]' 'access = "restricted"'
    works in_jail true
    fails "" in_jail_sh 'touch "$HOME/new"'
}

@test "an unknown key is refused" {
    admin_says '[home]' 'acces = "read"'
    refuses "/etc/agent-sandbox/config.toml:2"
}

@test "a malformed file is refused" {
    admin_says '[home'
    refuses "/etc/agent-sandbox/config.toml:1"
}

@test "an unreadable file is refused" {
    admin_says '[home]' 'access = "restricted"'
    chmod 0600 "$ADMIN/config.toml"
    refuses "/etc/agent-sandbox/config.toml"
}

@test "an unreadable directory is refused" {
    admin_says '[home]' 'access = "restricted"'
    chmod 0700 "$ADMIN"
    refuses "/etc/agent-sandbox"
}

@test "a file that others may write is refused" {
    admin_says '[home]' 'access = "restricted"'
    chmod 0666 "$ADMIN/config.toml"
    refuses "/etc/agent-sandbox/config.toml"
}

@test "a directory that others may write is refused" {
    admin_says '[home]' 'access = "restricted"'
    chmod 0777 "$ADMIN"
    refuses "/etc/agent-sandbox"
}

@test "a file that root does not own is refused" {
    admin_says '[home]' 'access = "restricted"'
    chown "$SBX_USER" "$ADMIN/config.toml"
    refuses "/etc/agent-sandbox/config.toml"
}

@test "a bad file in conf.d is refused" {
    mkdir "$ADMIN/conf.d"
    echo '[home]' >"$ADMIN/conf.d/10-site.toml"
    works in_jail true
    echo 'x = 1' >>"$ADMIN/conf.d/10-site.toml"
    refuses "10-site.toml:2"
}

@test "a user's wider value is refused with both origins" {
    admin_says '[home]' 'access = "restricted"'
    user_says '[home]' 'access = "write"'
    refuses "/etc/agent-sandbox/config.toml:2"
    [[ $stderr == *".config/agent-sandbox/config.toml:2"* ]] || report "the user's line is not named"
}

@test "an option's wider value is refused too" {
    admin_says '[home]' 'access = "tmpwrite"'
    JAIL=(--home write)
    refuses "--home"
    JAIL=(--home restricted)
    works in_jail true
}

@test "the administrator's project.hold can't be loosened by a file, a variable, a project or a lower layer" {
    # Without a ceiling, a name of a tool that this user does not have can be made inside.
    held() { on_stage env PATH=/nowhere "$@" "$SBX_PROGRAM" --quiet -- /bin/mkdir "$PROJECT/.codex"; }
    works held
    works test ! -e "$PROJECT/.codex"
    user_says '[project]' 'hold = "all"'
    fails "exists" held
    user_says '[project]' 'hold = "installed"'
    works held
    admin_says '[project]' 'hold = "all"'
    refused 125 "/etc/agent-sandbox/config.toml:2" held
    [[ $stderr == *".config/agent-sandbox/config.toml:2"* ]] || report "the user's line is not named"
    rm "$USER_CONFIG"
    refused 125 "/etc/agent-sandbox/config.toml:2" held AGENT_SANDBOX_PROJECT_HOLD=installed
    as_user sh -c "printf '[project]\nhold = \"installed\"\n' >'$PROJECT/.agent-sandbox.toml'"
    fails "" held
    works test ! -e "$PROJECT/.codex"
    rm "$PROJECT/.agent-sandbox.toml"
    fails "exists" held
    works test ! -e "$PROJECT/.codex"
}

@test "no variable moves the administrator's directory" {
    admin_says '[home]' 'access = "restricted"'
    fails "" on_stage env XDG_CONFIG_DIRS=/nowhere SANDBOX_ADMIN_DIRECTORY=/nowhere "$SBX_PROGRAM" --quiet --home write -- true
}

@test "the administrator's hidden path can't be shown" {
    as_user sh -c "mkdir -p '$SBX_HOME/data' && echo planted >'$SBX_HOME/data/file'"
    JAIL=(--ro "$SBX_HOME/data")
    prints planted in_jail cat "$SBX_HOME/data/file"
    admin_says '[mounts]' "hidden = [\"$SBX_HOME/data\"]"
    run in_jail cat "$SBX_HOME/data/file"
    ((status != 0)) && [[ $output != planted ]] || leak "should be hidden"
    JAIL=(--ro "$SBX_HOME/data/file")
    run in_jail cat "$SBX_HOME/data/file"
    ((status != 0)) && [[ $output != planted ]] || leak "should be hidden, also for a more specific rule of the user"
    rm -rf "$SBX_HOME/data"
}

@test "the administrator's own block wins over the administrator's own allow" {
    admin_says '[env]' 'allow = ["SITE_NAME", "SITE_TOKEN", "SITE_OPEN"]'
    prints "n t o" on_stage env SITE_NAME=n SITE_TOKEN=t SITE_OPEN=o "$SBX_PROGRAM" --quiet -- \
        sh -c 'echo $SITE_NAME $SITE_TOKEN $SITE_OPEN'
    admin_says '[env]' 'allow = ["SITE_NAME", "SITE_TOKEN", "SITE_OPEN"]' 'block = ["SITE_NAME"]' 'block_patterns = ["*_TOKEN"]'
    prints "o" on_stage env SITE_NAME=n SITE_TOKEN=t SITE_OPEN=o "$SBX_PROGRAM" --quiet -- \
        sh -c 'echo $SITE_NAME $SITE_TOKEN $SITE_OPEN'
    works on_stage "$SBX_PROGRAM" config check --admin
    [[ $output == *"'SITE_NAME' has no effect: env.block in"*"'SITE_TOKEN' has no effect: env.block_patterns in"* ]]
    [[ $output != *"'SITE_OPEN' has no effect"* ]]
}

# The administrator repeats a built-in entry, so that no user can lift it.
@test "a user can't lift a built-in entry that the administrator repeats" {
    as_user sh -c "echo planted >'$PROJECT/.env'; mkdir -p '$PROJECT/.vscode'"
    as_user sh -c "mkdir -p '$SBX_HOME/.config/agent-sandbox'"
    printf '[project]\nunmask = [".env"]\nunprotect = [".vscode"]\n' >"$USER_CONFIG"
    prints planted in_jail cat "$PROJECT/.env"
    works in_jail touch "$PROJECT/.vscode/tasks.json"
    admin_says '[project]' 'mask = [".env"]' 'protect = [".vscode"]'
    prints "" in_jail cat "$PROJECT/.env"
    fails "Read-only file system" in_jail touch "$PROJECT/.vscode/settings.json"
    rm "$USER_CONFIG"
}

@test "deny_writable covers --rw and the project" {
    as_user mkdir -p "$SBX_HOME/data"
    JAIL=(--rw "$SBX_HOME/data")
    works in_jail touch "$SBX_HOME/data/x"
    admin_says '[mounts]' "deny_writable = [\"$SBX_HOME/data\", \"$PROJECT\"]"
    run in_jail touch "$SBX_HOME/data/y"
    ((status != 0)) && [[ ! -e $SBX_HOME/data/y ]] || leak "was written"
    JAIL=()
    run in_jail touch "$PROJECT/y"
    ((status != 0)) && [[ ! -e $PROJECT/y ]] || leak "was written"
    rm -rf "$SBX_HOME/data"
}

@test "a locked value is final" {
    admin_says 'lock = ["network.mode"]' '[network]' 'mode = "isolated"'
    JAIL=(--network open)
    refuses "network.mode"
}

@test "the jail can't see or change the administrator's files" {
    admin_says '[home]' 'access = "restricted"'
    run in_jail_sh 'echo x >>/etc/agent-sandbox/config.toml'
    ((status != 0)) || leak "was written"
}
