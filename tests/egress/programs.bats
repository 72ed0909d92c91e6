#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Programs in their default configuration, without a proxy variable: each reaches the permitted name in both modes, and can't reach
# the forbidden one by its name, by its addresses, or by a redirection from the permitted one. Outside, each of these ways works.

load helper
setup() { start_egress_test; }
teardown() { end_egress_test; }

# reaches PROGRAM HOST TEXT
reaches() {
    says "$3" outside bash programs.sh "$1" "$2"
    filtered
    says "$3" in_jail bash programs.sh "$1" "$2"
    proxied
    says "$3" in_jail bash programs.sh "$1" "$2"
}

# is_kept_from PROGRAM TEXT [HOST [PATH]]...: HOST is written as PROGRAM writes it.
is_kept_from() {
    local program=$1 text=$2 target
    shift 2
    for target; do
        # Certificates do not contain an IPv6 address of the forbidden host: there the control by its name is enough.
        filtered
        only_outside "$text" bash programs.sh "$program" $target
        proxied
        run in_jail bash programs.sh "$program" $target
        ((status != 0)) || leak "should fail when proxied: $program $target"
        [[ $output != *"$text"* ]] || leak "should not get through when proxied: $program $target"
    done
}

@test "no proxy variable is needed: none is set in a filtered session" {
    filtered
    run in_jail env
    [[ ${output,,} != *_proxy=* ]]
}

@test "curl" {
    reaches curl good.example "good.example here"
    is_kept_from curl "evil.example here" evil.example "good.example /to-evil"
    is_kept_from curl "203.0.113.66 here" 203.0.113.66
    is_kept_from curl-plain "evil.example here" evil.example "good.example /to-evil-plain"
    is_kept_from curl-plain "203.0.113.66 here" 203.0.113.66 "good.example /to-evil-address"
    is_kept_from curl-plain "[2001:db8:66::66] here" "[2001:db8:66::66]"
}

@test "curl reads chunked bodies, and reaches names with one address family" {
    filtered
    everywhere "chunk 3" bash programs.sh curl good.example /chunked
    everywhere "v4only.example here" bash programs.sh curl v4only.example
    everywhere "v6only.example here" bash programs.sh curl v6only.example
    everywhere "good.example here" curl -sS4 --max-time 30 https://good.example/
    everywhere "good.example here" curl -sS6 --max-time 30 https://good.example/
    everywhere "in-hosts-file.example here" curl -sS4 --max-time 30 https://in-hosts-file.example/
}

@test "wget" {
    reaches wget good.example "good.example here"
    is_kept_from wget "evil.example here" evil.example "good.example /to-evil"
    is_kept_from wget "203.0.113.66 here" 203.0.113.66
}

@test "Python" {
    reaches python good.example "good.example here"
    is_kept_from python "evil.example here" evil.example "good.example /to-evil"
    is_kept_from python "203.0.113.66 here" 203.0.113.66
}

@test "Node" {
    reaches node good.example "good.example here"
    is_kept_from node "evil.example here" evil.example "good.example /to-evil"
    is_kept_from node "203.0.113.66 here" 203.0.113.66
}

@test "Go" {
    wait_until test -e "$SBX_STAGE/bin/go-is-built" || wait_until test -e "$SBX_STAGE/bin/go-is-built" || cat "$INTERNET/log/go.out" >&2
    reaches go good.example "good.example here"
    is_kept_from go "evil.example here" evil.example "good.example /to-evil"
    is_kept_from go "203.0.113.66 here" 203.0.113.66
}

@test "Java" {
    reaches java good.example "good.example here"
    is_kept_from java "evil.example here" evil.example "good.example /to-evil"
}

@test "git over HTTPS" {
    reaches git git.example "refs/heads/main"
    is_kept_from git "refs/heads/main" evil.example 203.0.113.66
}

@test "git clones and pushes over HTTPS" {
    filtered
    everywhere "pushed" bash programs.sh git-push git.example
}

@test "git over ssh" {
    reaches git-ssh ssh.example "from a repository"
    is_kept_from git-ssh "from a repository" evil.example 203.0.113.66 "[2001:db8:66::66]"
}

@test "ssh" {
    reaches ssh ssh.example "over ssh"
    is_kept_from ssh "over ssh" evil.example 203.0.113.66 "[2001:db8:66::66]"
}

@test "psql" {
    reaches psql db.example "from the database"
    is_kept_from psql "from the database" evil.example 203.0.113.66 "[2001:db8:66::66]"
}

@test "npm" {
    reaches npm npm.example "hello from npm"
    # The permitted name serves the package's file; it is not the registry.
    is_kept_from npm "hello from npm" evil.example
}

@test "apt" {
    reaches apt apt.example "hello-apt_1.0_all.deb"
    is_kept_from apt "hello-apt_1.0_all.deb" evil.example 203.0.113.66 "[2001:db8:66::66]"
}
