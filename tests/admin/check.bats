#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# config check --admin: examines a ceiling before it is installed, and after.

load helper
setup() {
    start_admin_test
    NEXT=$PROJECT/next.toml
}
teardown() { end_admin_test; }

check() { on_stage "$SBX_PROGRAM" config check --admin "$@"; }
next_says() { printf '%s\n' "$@" >"$NEXT"; }

# bats test_tags=smoke
@test "without a file there is no ceiling" {
    prints "no administrator's file in /etc/agent-sandbox: no ceiling applies" check
}

@test "the files in /etc are checked as a start would read them" {
    mkdir "$ADMIN/conf.d"
    admin_says '[network]' 'mode = "filtered"'
    printf '[home]\naccess = "restricted"\n' >"$ADMIN/conf.d/10-home.toml"
    works check
    [[ $output == *"/etc/agent-sandbox/config.toml, /etc/agent-sandbox/conf.d/10-home.toml: no mistakes"* ]]
    [[ $output == *"users may:"*"home.access"*restricted*"network.mode"*"filtered, proxied, isolated"* ]]
}

@test "every sample has no mistakes, and no rule without effect" {
    local sample
    for sample in "$SBX_STAGE"/share/admin/*.toml; do
        works check "$sample"
        [[ $output == *"no mistakes"*"users may:"*"users may not:"* ]]
        [[ $output != *"changes nothing"* && $output != *"has no effect"* ]] || report "$sample"
    done
}

@test "a wrong owner or mode in /etc is a mistake, because it stops every start" {
    admin_says '[home]' 'access = "read"'
    works check
    chmod 0664 "$ADMIN/config.toml"
    refused 1 "/etc/agent-sandbox/config.toml can be written by others; run 'chmod go-w /etc/agent-sandbox/config.toml'" check
    chmod 0644 "$ADMIN/config.toml"
    chown "$SBX_USER" "$ADMIN/config.toml"
    refused 1 "is owned by uid" check
    chown root "$ADMIN/config.toml"
    chmod 0777 "$ADMIN"
    refused 1 "/etc/agent-sandbox can be written by others" check
    chmod 0755 "$ADMIN"
    works check
    # A start fails for the same reason as the check.
    chmod 0664 "$ADMIN/config.toml"
    refused 125 "can be written by others" in_jail true
}

@test "a wrong owner or mode elsewhere is a warning, not a mistake" {
    next_says '[home]' 'access = "read"'
    chown "$SBX_USER" "$NEXT"
    works check "$NEXT"
    [[ $output == *"next.toml is owned by uid"*"install -m 0644"*"no mistakes"* ]]
}

@test "settings of administrators are accepted, settings of users alone are refused" {
    next_says 'lock = ["home.access"]' '[mounts]' 'deny_writable = ["/usr"]'
    works check "$NEXT"
    next_says '[match]' 'project = "/lab/**"'
    refused 1 "[match] has no meaning here" check "$NEXT"
}

@test "a wrong key, lock or value, and an empty file, are mistakes" {
    next_says '[network]' 'mod = "filtered"'
    refused 1 "next.toml:2:1: unknown setting 'network.mod'" check "$NEXT"
    next_says 'lock = ["netwrk.mode"]'
    refused 1 "is not a setting that can be locked; 'network.mode' was probably meant" check "$NEXT"
    : >"$NEXT"
    refused 1 "an empty file stops every start" check "$NEXT"
}

# Every line except the first is a mistake, and the output names it.
names_each_line() {
    run -1 "$@"
    local number
    for ((number = 2; number <= $(wc -l <"$NEXT"); number++)); do
        [[ $output == *".toml:$number"* ]] || report "should name line $number: $*"
    done
}

@test "entries of the network are checked in every layer" {
    next_says '[network]' 'allow = ["*.com"]' 'block = ["https://example.org"]' 'publish = ["99999"]' 'host_services = ["127.0.0.1:80"]' \
        'udp = ["example.org"]' 'private = ["8.8.8.0/24"]' 'dns_types = ["HTTPS"]' 'upstream_proxy = "socks://proxy"'
    names_each_line check "$NEXT"
    names_each_line on_stage "$SBX_PROGRAM" config check "$NEXT"
    cp "$NEXT" "$USER_CONFIG"
    names_each_line on_stage "$SBX_PROGRAM" config check
    rm "$USER_CONFIG"
    next_says '[network]' 'allow = ["@no-such-bundle"]'
    refused 1 "next.toml:2" on_stage "$SBX_PROGRAM" config check "$NEXT"
    next_says '[network]' 'allow = ["*.example.org:443", "@github", "10.1.2.0/24", "8000-8100"]' 'private = ["10.1.2.0/24"]'
    works on_stage "$SBX_PROGRAM" config check "$NEXT"
}

warns() {
    [[ $output == *"$1"* ]] || report "should warn: $1"
}

@test "rules without effect and contradictions are reported" {
    next_says '[network]' 'allow = ["a.example.org", "b.example.org", "10.1.2.3"]' 'block = ["a.example.org", "*.example.org"]' \
        '[mounts]' 'writable = ["/usr/share"]' 'deny_writable = ["/usr"]' 'readonly = ["/opt"]' 'hidden = ["/opt", "/nowhere/at/all"]' \
        '[devices]' 'allow = ["/dev/nvidia0", "/dev/kvm"]' 'deny = ["/dev/nvidia*"]' \
        '[env]' 'allow = ["SITE_TOKEN", "SITE_NAME"]' 'block_patterns = ["*_TOKEN"]' '[limits]' 'processes = 0' 'open_files = 100'
    works check "$NEXT"
    warns "'a.example.org' has no effect: network.block in"
    warns "'10.1.2.3' has no effect: a private network"
    warns "'/usr/share' is read-only: mounts.deny_writable in"
    warns "'/opt' has no effect: mounts.hidden in"
    warns "mounts.hidden: '/nowhere/at/all' does not exist on this machine"
    warns "'/dev/nvidia0' has no effect: devices.deny in"
    warns "'SITE_TOKEN' has no effect: env.block_patterns in"
    warns "limits.processes = 0 changes nothing"
    warns "agent-sandbox: warning: "
    # A rule without effect does not appear among the rights of users.
    local may=${output#*users may:}
    may=${may%%users may not:*}
    [[ $may == *b.example.org* && $may == */dev/kvm* && $may == *SITE_NAME* ]] || report "a right is missing"
    [[ $may != *a.example.org* && $may != */opt* && $may != *nvidia0* && $may != *SITE_TOKEN* ]] || report "no right of anybody's"
    # An exception from a wider block, and rules that no other rule closes.
    local good
    for good in "'b.example.org' has no effect" "'/dev/kvm' has no effect" "'SITE_NAME' has no effect" "limits.open_files = 100 changes"; do
        [[ $output != *"$good"* ]] || report "should not say: $good"
    done
}

@test "~ is reported where accounts come from a directory service" {
    next_says '[mounts]' 'hidden = ["~/.gnupg"]'
    sed -i 's/^passwd:.*/passwd: files systemd/' "$STAGE/etc/nsswitch.conf"
    works check "$NEXT"
    [[ $output != *"HOME says"* ]]
    sed -i 's/^passwd:.*/passwd: files sss/' "$STAGE/etc/nsswitch.conf"
    works check "$NEXT"
    warns "for those that come from sss, ~ is what HOME says"
}

@test "the output lists what users may and may not change" {
    next_says 'lock = ["isolation.backend"]' '[home]' 'access = "tmpwrite"' '[limits]' 'processes = 100' '[isolation]' 'private_tmp = true' \
        '[mounts]' 'hidden = ["/usr/games"]' '[project]' 'parents = ["/home"]'
    works check "$NEXT"
    [[ $output == *"users may:"*"project.parents"*"below /home"*"home.access"*"tmpwrite, restricted"*"limits.processes"*"up to 100"* ]]
    [[ $output == *"users may not:"*"mounts.hidden"*"undo /usr/games"*"isolation.private_tmp"*"turn it off"*"lock"*"change isolation.backend"* ]]
    # And a start behaves so.
    cp "$NEXT" "$ADMIN/config.toml"
    JAIL=(--home write)
    refused 125 "requires tmpwrite or stricter" in_jail true
}

@test "a file whose name is not read is reported" {
    mkdir "$ADMIN/conf.d"
    admin_says '[home]' 'access = "read"'
    : >"$ADMIN/conf.d/20.conf"
    : >"$ADMIN/conf.toml"
    : >"$ADMIN/conf.d/20.toml~"
    : >"$PROJECT/agent-sandbox.toml"
    works check
    warns "warning: /etc/agent-sandbox/conf.d/20.conf is not read: only conf.d/*.toml is"
    warns "warning: /etc/agent-sandbox/conf.toml is not read: only config.toml and conf.d/*.toml are"
    [[ $output != *"20.toml~"* && $output != *agent-sandbox.toml* ]] || report "too much"
    works on_stage "$SBX_PROGRAM" config check
    warns "conf.d/20.conf is not read"
    warns "agent-sandbox.toml is not read: a project's file is .agent-sandbox.toml"
}

# stops_every_start WHAT: the check fails where a start fails.
stops_every_start() {
    refused 125 "" in_jail true
    run -1 check
    [[ $output != *"no mistakes"* && $output != *"no ceiling"* ]] || report "the check should fail: $1"
}

@test "what stops every start is a mistake: directories, links, sizes" {
    ln -s nowhere "$ADMIN/config.toml"
    stops_every_start "a link to nowhere"
    rm "$ADMIN/config.toml"
    chmod 0711 "$ADMIN"
    stops_every_start "a directory that can't be listed"
    chmod 0755 "$ADMIN"
    chown "$SBX_USER" "$ADMIN"
    stops_every_start "an empty directory of a user's"
    chown root "$ADMIN"
    mkdir -m 0777 "$ADMIN/conf.d"
    stops_every_start "an empty conf.d that everybody writes"
    chmod 0711 "$ADMIN/conf.d"
    stops_every_start "a conf.d that can't be listed"
    chmod 0755 "$ADMIN/conf.d"
    chown "$SBX_USER" "$ADMIN/conf.d"
    stops_every_start "a conf.d of a user's"
    rmdir "$ADMIN/conf.d"
    touch "$ADMIN/conf.d"
    stops_every_start "a conf.d that is a file"
    rm "$ADMIN/conf.d"
    works check
    head -c 1100000 /dev/zero | tr '\0' '#' >"$ADMIN/config.toml"
    stops_every_start "a file of more than 1 MiB"
}

@test "what stops every start is a mistake: rules that no plan can be made of" {
    local rule
    for rule in '/' /proc /etc /home; do
        admin_says '[mounts]' "writable = [\"$rule\"]"
        stops_every_start "mounts.writable $rule"
    done
    for rule in '[devices] allow = ["/dev/nowhere"]' '[sockets] allow = ["/run/nowhere.sock"]' '[isolation] bwrap = "/nowhere/bwrap"'; do
        admin_says "${rule%% *}" "${rule#* }"
        stops_every_start "$rule"
    done
    admin_says '[project]' 'parents = []'
    refused 125 "" in_jail true
    works check
    [[ $output == *"users may not:"*"project.parents"*"start anything"* ]] || report "should say it"
}

@test "a hidden file in conf.d is not read, and is not shown" {
    mkdir "$ADMIN/conf.d"
    admin_says '[home]' 'access = "read"'
    printf '[home]\naccess = "restricted"\n' >"$ADMIN/conf.d/.old.toml"
    works check
    [[ $output != *.old.toml* && $output != *restricted,* ]] || report "shown"
    works on_stage "$SBX_PROGRAM" config path
    [[ $output != *.old.toml* ]] || report "listed"
}
