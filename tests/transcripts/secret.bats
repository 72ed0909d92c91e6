#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `secret`, the rows of [credentials] and [requests] as users see them, and where a value must not be.

load ../jail/helper
setup() {
    start_test
    CONFIG=$HOME/.config/agent-sandbox
    STORE=$HOME/.local/state/agent-sandbox/secrets
    CANARY=canary-5f1c9a7e42d0b836
    # The preset's request is outside of these paths: there is no network here.
    mkdir -p "$CONFIG/conf.d"
    printf '[credential.%s]\npaths = ["/none/**"]\n' github anthropic >"$CONFIG/conf.d/10-no-request.toml"
    unset GH_TOKEN GITHUB_TOKEN ANTHROPIC_API_KEY DBUS_SESSION_BUS_ADDRESS
}
teardown() { end_test; }

agent_sandbox() { "$SBX_PROGRAM" "$@"; }
says() {
    local text=$1
    shift
    works "$@"
    [[ $output == *"$text"* ]] || report "should say '$text': $*"
    [[ $output != *"$CANARY"* ]] || report "a value was printed: $*"
}
store() { printf %s "$CANARY" | agent_sandbox secret add "$1"; }

@test "secret add reads standard input and says that the value is stored in clear text" {
    says "stored in clear text in $STORE/github" store github
    [[ $(<"$STORE/github") == "$CANARY" ]]
    [[ $(stat -c %a "$STORE" "$STORE/github" | tr '\n' ' ') == "700 600 " ]]
    says "github" agent_sandbox secret list
    says "github: " agent_sandbox secret test github
    says "own store" agent_sandbox secret test github
}

@test "secret add never takes a value from an argument" {
    refused 2 "can't be given as an argument" agent_sandbox secret add github "$CANARY"
    [[ ! -e $STORE/github ]]
}

@test "secret add asks on a terminal and does not show what is typed" {
    command -v script >/dev/null || skip "util-linux has no script here"
    mkfifo keys
    script -qec "$SBX_PROGRAM secret add github" /dev/null <keys >shown &
    CHILDREN+=($!)
    exec 7>keys
    wait_until grep -q "it is not shown" shown
    printf '%s\n' "$CANARY" >&7
    wait "${CHILDREN[0]}"
    exec 7>&-
    ! grep -q "$CANARY" shown
    [[ $(<"$STORE/github") == "$CANARY" ]]
}

@test "secret add --command stores the command, and the value never" {
    printf '#!/bin/sh\necho %s\n' "$CANARY" >"$HOME/get-token"
    chmod +x "$HOME/get-token"
    says "its value comes from the command $HOME/get-token --for me" agent_sandbox secret add github --command "$HOME/get-token" --for me
    says "from the command" agent_sandbox secret test github
    says "secret-github.toml:3" agent_sandbox secret list
    says '"source": "the command ' agent_sandbox secret list --json
    ! grep -rq "$CANARY" "$CONFIG" "$HOME/.local"
    says "github: removed" agent_sandbox secret remove github
    [[ ! -e $CONFIG/conf.d/secret-github.toml ]]
    fails "secret add github" agent_sandbox secret test github
}

@test "a source in the project is refused, since the jail could change it" {
    printf '#!/bin/sh\necho %s\n' "$CANARY" >get-token
    chmod +x get-token
    prints "$CANARY" ./get-token
    works agent_sandbox secret add github --command "$PROJECT/get-token"
    fails "in a place that the jail can write" agent_sandbox secret test github
}

@test "a source in any place that a session here writes is refused" {
    mkdir "$HOME/tools"
    printf '#!/bin/sh\necho %s\n' "$CANARY" >"$HOME/tools/get-token"
    chmod +x "$HOME/tools/get-token"
    works agent_sandbox secret add github --command "$HOME/tools/get-token"
    works agent_sandbox secret test github
    printf '[mounts]\nwritable = ["%s"]\n' "$HOME/tools" >"$CONFIG/config.toml"
    fails "in a place that the jail can write" agent_sandbox secret test github
    # An argument counts as the program does.
    works agent_sandbox secret add github --command sh "$HOME/tools/get-token"
    fails "in a place that the jail can write" agent_sandbox secret test github
}

@test "a file, a variable and another source" {
    printf '%s\n' "$CANARY" >"$HOME/token"
    chmod 600 "$HOME/token"
    works agent_sandbox secret add github --file "$HOME/token"
    says "from the file $HOME/token" agent_sandbox secret test github
    works agent_sandbox secret add github --variable MY_TOKEN
    fails "export MY_TOKEN" agent_sandbox secret test github
    says "from the variable MY_TOKEN" env MY_TOKEN="$CANARY" "$SBX_PROGRAM" secret test github
    refused 2 "one source" agent_sandbox secret add github --file x --variable Y
    # The preset's variable needs no set-up.
    says "from the variable ANTHROPIC_API_KEY" env ANTHROPIC_API_KEY="$CANARY" "$SBX_PROGRAM" secret test anthropic
}

@test "the desktop's keyring" {
    export CANARY
    run dbus-run-session -- sh -c '
        printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 || exit 9
        printf %s "$CANARY" | "$SBX_PROGRAM" secret add github || exit 1
        "$SBX_PROGRAM" secret test github || exit 2
        [ "$(secret-tool lookup service agent-sandbox credential github)" = "$CANARY" ] || exit 3
        "$SBX_PROGRAM" secret remove github || exit 4
        ! secret-tool lookup service agent-sandbox credential github'
    ((status == 0)) || report "the keyring"
    [[ $output == *"stored in the desktop's keyring"*"from the keyring, service=agent-sandbox credential=github"* ]] || report "what it says"
    [[ ! -e $STORE/github ]]
}

@test "the store is hidden in every jail, whatever the home directory shows" {
    works store github
    for home in tmpwrite read write restricted; do
        JAIL=(--home "$home")
        run in_jail_sh "cat $STORE/github; grep -rs $CANARY $HOME; true"
        [[ $output != *"$CANARY"* ]] || report "--home $home"
        JAIL=(--home "$home" --credential github)
        run in_jail_sh "cat $STORE/github; grep -rs $CANARY $HOME; env; true"
        [[ $output != *"$CANARY"* ]] || report "--home $home --credential github"
    done
    # Another state directory does not uncover the usual one.
    JAIL=(--home read)
    XDG_STATE_HOME=$HOME/other run in_jail_sh "cat $STORE/github; true"
    [[ $output != *"$CANARY"* ]] || report "another state directory"
}

@test "secret test fails where the host can't be reached" {
    rm "$CONFIG/conf.d/10-no-request.toml"
    works store github
    run agent_sandbox secret test github
    ((status == 1)) && [[ $output == *"GET api.github.com/user: "* && $output != *"$CANARY"* ]] || report "should fail"
}

@test "secret remove overwrites the value" {
    works store github
    exec 7<"$STORE/github"
    says "github: removed" agent_sandbox secret remove github
    [[ $(tr -d '\0' <&7) == "" ]]
    exec 7<&-
    fails "there is no secret" agent_sandbox secret remove github
}

@test "names that do not exist, and words that mean nothing" {
    fails "'github' was probably meant" agent_sandbox secret add gihtub
    refused 2 "not the name of a credential" agent_sandbox secret test ../x
    refused 2 "usage: agent-sandbox secret" agent_sandbox secret
    refused 125 "'github' was probably meant" agent_sandbox --credential gihtub true
}

@test "secret works outside of a jail only" {
    JAIL=()
    fails "outside of a jail only" in_jail agent-sandbox secret list
}

@test "a mode without the gateway refuses credentials and rules about requests" {
    refused 125 "needs the gateway" agent_sandbox --network open --credential github true
    refused 125 "needs the gateway" agent_sandbox --network isolated --credential github true
    mkdir -p "$CONFIG"
    printf '[requests]\nblock = ["@github-lasting"]\n' >"$CONFIG/config.toml"
    refused 125 "rules about requests need the gateway" agent_sandbox --network open true
    works agent_sandbox --network isolated true
}

@test "never_inside and a placeholder refuse --env, with the line that brokers the variable" {
    mkdir -p "$CONFIG"
    printf '[credentials]\nnever_inside = ["*_API_KEY"]\n' >"$CONFIG/config.toml"
    export ANTHROPIC_API_KEY=$CANARY GH_TOKEN=$CANARY
    refused 125 "use --credential anthropic" agent_sandbox --env ANTHROPIC_API_KEY true
    [[ $stderr != *"$CANARY"* ]]
    refused 125 "holds the placeholder of the credential github" agent_sandbox --credential github --env GH_TOKEN true
    run env AGENT_SANDBOX_ENV_MODE=inherit "$SBX_PROGRAM" --credential github -- env
    [[ $output != *"$CANARY"* ]] || report "a value was passed"
    rm "$CONFIG/config.toml"
    says "ANTHROPIC_API_KEY" agent_sandbox --env ANTHROPIC_API_KEY -- sh -c 'test -n "$ANTHROPIC_API_KEY" && echo ANTHROPIC_API_KEY'
}

@test "exec takes no variable with the value of a credential, and none of never_inside" {
    mkdir -p "$CONFIG"
    printf '[credentials]\nnever_inside = ["*_API_KEY"]\n' >"$CONFIG/config.toml"
    export GH_TOKEN=$CANARY
    "$SBX_PROGRAM" --quiet --credential github -- sh -c 'touch up; until [ -e go ]; do sleep 0.05; done' </dev/null >/dev/null 2>&1 3>&- &
    local session=$!
    wait_until test -e up
    run env OTHER="$CANARY" "$SBX_PROGRAM" exec --env OTHER -- env </dev/null
    [[ $status == 125 && $output == *"OTHER: it has the value of GH_TOKEN, which stays outside"* ]] || report "should be refused"
    run env MY_API_KEY=0123456789abcdef "$SBX_PROGRAM" exec --env MY_API_KEY -- env </dev/null
    [[ $status == 125 && $output == *"credentials.never_inside"* ]] || report "should be refused"
    # Control: another value of another name is taken.
    run env OTHER=another-value "$SBX_PROGRAM" exec --env OTHER -- env </dev/null
    [[ $status == 0 && $output == *"OTHER=another-value"* && $output != *"$CANARY"* ]] || report "should be taken"
    touch go
    wait "$session"
}

@test "why explains requests, pushes and credentials" {
    mkdir -p "$CONFIG"
    cat >"$CONFIG/config.toml" <<'TOML'
[requests]
allow = ["GET api.github.com/repos/me/app/**"]
block = ["@github-lasting"]
git = ["push github.com/me/app refs/heads/agent/*"]
TOML
    rm "$CONFIG/conf.d/10-no-request.toml"
    says "permitted" agent_sandbox why request GET https://api.github.com/repos/me/app/issues?page=2
    fails "ssh keys of the account" agent_sandbox why request POST api.github.com/user/keys
    [[ $output == *"config.toml:3"*'requests.allow = ["POST api.github.com/user/keys"]'* ]] || report "the place and the change"
    says "not judged" agent_sandbox why request GET example.org/
    says "config.toml:4" agent_sandbox why push github.com/me/app refs/heads/agent/x
    fails "only refs/heads/agent/* may be pushed" agent_sandbox why push github.com/me/app main
    says "an upload of git-LFS is a push" agent_sandbox why push github.com/me/app refs/heads/agent/x
    says "an upload is a push, a download is a fetch" agent_sandbox why request POST github.com/me/app.git/info/lfs/objects/batch
    fails "not used" agent_sandbox why credential github
    says "used" agent_sandbox --credential github why credential github
    refused 2 "'npm' was probably meant" agent_sandbox why credential nmp
    refused 2 "needs a path" agent_sandbox why request GET
}

@test "config check reports a list that an entry lifts, and hosts that no rule opens" {
    mkdir -p "$CONFIG"
    cat >"$CONFIG/config.toml" <<'TOML'
[network]
mode = "proxied"
allow = ["api.github.com"]
[credentials]
use = ["github"]
[requests]
allow = ["POST api.github.com/repos/me/app/**"]
block = ["@github-lasting"]
TOML
    says "is more specific than" agent_sandbox config check
    [[ $output != *network.literals* ]] || report "the default needs no line"
    sed -i 's/^mode = .*/&\nliterals = "allow"/' "$CONFIG/config.toml"
    says 'config.toml:3: network.literals = "allow" opens connections that name no host' agent_sandbox config check
    says "the credential github is for github.com, which no network rule opens" agent_sandbox config check
    [[ $output != *"is for api.github.com"* ]] || report "api.github.com has a rule"
    printf '[credential.mine]\nhosts = ["example.org"]\n' >"$CONFIG/config.toml"
    fails "credential.mine.put" agent_sandbox config check
    fails "credential.mine.put" agent_sandbox config check "$CONFIG/config.toml"
    printf '[requests]\nallow = ["GET"]\nblock = ["@github-lastin"]\ngit = ["pull x"]\n' >other.toml
    fails "other.toml:2" agent_sandbox config check other.toml
    [[ $output == *"other.toml:3"*"@github-lasting"*"other.toml:4"* ]] || report "every mistake"
    printf '[credentials]\nuse = ["gihtub"]\n' >other.toml
    fails "'github' was probably meant" agent_sandbox config check other.toml
    printf '[credentials]\nuse = ["github"]\n[requests]\nblock = ["@github-lasting"]\n' >other.toml
    works agent_sandbox config check other.toml
}
