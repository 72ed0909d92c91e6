#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Settings of package managers and of ssh that name the site's hosts: visible, without log-ins and without other names.

load helper
setup() { start_test; }
teardown() { end_test; }

@test "npm and Maven find the site's registry, and no token" {
    mkdir -p "$HOME/.m2" "$HOME/.config/pip"
    printf 'registry=https://npm.example.org/\n//npm.example.org/:_authToken=SECRET-of-npm\n' >"$HOME/.npmrc"
    printf '[global]\nindex-url = https://pypi.example.org/simple\nextra-index-url = https://ann:SECRET-of-pip@pypi.example.org/lab\n' >"$HOME/.config/pip/pip.conf"
    cat >"$HOME/.m2/settings.xml" <<'XML'
<settings><servers><server><id>lab</id><password>SECRET-of-maven</password></server></servers>
<mirrors><mirror><id>lab</id><url>https://maven.example.org/all/</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>
XML
    # The control: outside, the secrets can be read.
    works grep -hc SECRET "$HOME/.npmrc" "$HOME/.m2/settings.xml" "$HOME/.config/pip/pip.conf"
    for home in tmpwrite restricted; do
        JAIL=(--home "$home")
        works in_jail cat "$HOME/.npmrc" "$HOME/.m2/settings.xml" "$HOME/.config/pip/pip.conf"
        [[ $output == *"registry=https://npm.example.org/"*"https://maven.example.org/all/"*"https://pypi.example.org/simple"* ]] || report "$home: registries"
        [[ $output != *SECRET* ]] || report "$home: a secret"
        works in_jail_sh 'grep -rs SECRET-of ~ /run/host 2>/dev/null || true'
        [[ $output != *SECRET-of* ]] || report "$home: a secret somewhere"
    done
    # The copy is the session's own.
    JAIL=()
    works in_jail_sh 'echo loglevel=silent >>~/.npmrc && grep -c silent ~/.npmrc'
    works grep -c _authToken "$HOME/.npmrc"
    [[ $(<"$HOME/.npmrc") != *silent* ]] || report "the user's file changed"
    for home in read write; do
        JAIL=(--home "$home")
        run in_jail cat "$HOME/.npmrc" "$HOME/.m2/settings.xml"
        [[ $output != *SECRET* ]] || report "--home $home"
    done
    JAIL=(--hide "$HOME/.npmrc")
    run in_jail cat "$HOME/.npmrc"
    [[ $output != *registry* ]] || report "a hidden file has no copy"
}

@test "ssh has the public keys of hosts that a rule names, and no other name" {
    mkdir -p "$HOME/.ssh"
    ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
    local key other
    key=$(cut -d' ' -f1,2 "$HOME/.ssh/id_ed25519.pub")
    other=${key/AAAA/AAAB}
    printf '%s\n' "git.example.org,192.0.2.7 $key" "private.example.org $other" >"$HOME/.ssh/known_hosts"
    ssh-keygen -q -H -f "$HOME/.ssh/known_hosts" && rm -f "$HOME/.ssh/known_hosts.old"
    echo "plain.private.example.org $other" >>"$HOME/.ssh/known_hosts"
    JAIL=(--allow-host git.example.org)
    works in_jail ssh-keygen -F git.example.org -f /etc/ssh/ssh_known_hosts
    [[ $output == *"$key"* ]] || report "the key of a named host"
    works in_jail_sh 'cat /etc/ssh/ssh_known_hosts; ls -A ~/.ssh 2>&1 || true'
    [[ $output != *private.example* && $output != *"$other"* && $output != *192.0.2.7* && $output != *known_hosts* && $output != *id_ed25519* ]] || report "other names"
    # The control: without the rule, none of them.
    JAIL=()
    run in_jail_sh 'cat /etc/ssh/ssh_known_hosts'
    [[ $output != *git.example.org* ]] || report "a host that no rule names"
}

@test "dpkg reports what is installed and can change nothing" {
    command -v dpkg >/dev/null || return 0
    local outside
    outside=$(dpkg -s bash | head -n 2)
    works in_jail_sh 'dpkg -s bash | head -n 2'
    [[ $output == "$outside" ]] || report "dpkg -s"
    works in_jail_sh 'dpkg -L bash | grep -x /bin/bash || dpkg -L bash | grep -x /usr/bin/bash'
    fails "" in_jail_sh 'echo x >>/var/lib/dpkg/status'
    fails "" in_jail_sh 'touch /var/lib/dpkg/info/planted.list'
}

@test "with --network proxied, a bundle opens the site's mirror: npm, pip, conda, cargo and Maven" {
    mkdir -p "$HOME/.m2" "$HOME/.config/pip" "$HOME/.cargo"
    echo 'registry=https://npm.example.org/' >"$HOME/.npmrc"
    printf '[global]\nindex-url = https://ann:SECRET-of-pip@pypi.example.org/simple\n' >"$HOME/.config/pip/pip.conf"
    printf 'channels:\n  - https://conda.example.org/main\n' >"$HOME/.condarc"
    printf '[source.crates-io]\nreplace-with = "lab"\n[source.lab]\nregistry = "sparse+https://crates.example.org/index/"\n' >"$HOME/.cargo/config.toml"
    cat >"$HOME/.m2/settings.xml" <<'XML'
<settings><!-- <mirror><url>https://comment.example.org/</url></mirror> -->
<mirrors><mirror><url>https://maven.example.org/all/</url><id>lab</id><mirrorOf>*</mirrorOf></mirror></mirrors></settings>
XML
    local bundle
    for bundle in npm:npm pip:pypi conda:conda cargo:crates maven:maven; do
        run -1 "$SBX_PROGRAM" --network proxied why host "${bundle#*:}.example.org"
        works "$SBX_PROGRAM" --network proxied --allow-host "@${bundle%:*}" why host "${bundle#*:}.example.org"
        [[ $output == *"443: open"* ]] || report "the mirror of $bundle"
    done
    run -1 "$SBX_PROGRAM" --network proxied --allow-host @maven why host comment.example.org
    # A mirror of everything takes the place of the public hosts.
    run -1 "$SBX_PROGRAM" --network proxied --allow-host @maven why host repo.maven.apache.org
    sed -i 's/<mirrorOf>.*<.mirrorOf>/<mirrorOf>other<\/mirrorOf>/' "$HOME/.m2/settings.xml"
    works "$SBX_PROGRAM" --network proxied --allow-host @maven why host repo.maven.apache.org
    # The same files inside.
    works in_jail cat "$HOME/.config/pip/pip.conf" "$HOME/.condarc" "$HOME/.cargo/config.toml"
    [[ $output == *"index-url = https://pypi.example.org/simple"*"https://conda.example.org/main"*"sparse+https://crates.example.org/index/"* && $output != *SECRET* ]] || report "the copies"
}

@test "conda and cargo find the site's channels and registries, and no token" {
    mkdir -p "$HOME/.cargo"
    printf 'channels:\n  - https://conda.example.org/main\n  - https://conda.example.org/t/ab-SECRET12-9f86d081884c7d65/lab\n' >"$HOME/.condarc"
    printf '[registries.lab]\nindex = "sparse+https://crates.example.org/index/"\ntoken = "SECRET1234567890abcdef"\n' >"$HOME/.cargo/config.toml"
    echo 'token = "SECRET1234567890abcdef"' >"$HOME/.cargo/credentials.toml"
    works grep -hc SECRET "$HOME/.condarc" "$HOME/.cargo/config.toml" "$HOME/.cargo/credentials.toml"
    for home in tmpwrite restricted; do
        JAIL=(--home "$home")
        works in_jail cat "$HOME/.condarc" "$HOME/.cargo/config.toml"
        [[ $output == *"https://conda.example.org/main"*"sparse+https://crates.example.org/index/"* && $output != *SECRET* ]] || report "$home"
        works in_jail_sh 'grep -rs SECRET ~ /run/host 2>/dev/null || true'
        [[ $output != *SECRET* ]] || report "$home: a secret somewhere"
    done
}
