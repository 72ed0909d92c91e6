#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The files that `make install` puts on a machine, and the examples for administrators.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

SAMPLES="login-node compute-node laptop-fleet"

# install_to PREFIX: installs below $STAGE/root.
install_to() {
    mkdir -p "$SBX_STAGE/build" "$STAGE/root"
    cp "$SBX_PROGRAM" "$SBX_STAGE/build/agent-sandbox"
    (umask 077 && make -s -C "$SBX_STAGE" install DESTDIR="$STAGE/root" PREFIX="$1")
}

@test "everything belongs to root, only root may write it, nothing is set-user-ID" {
    install_to /opt/site
    prints "" find "$STAGE/root/opt" '(' ! -user root -o ! -group root -o -perm /6022 ')'
    prints 755 stat -c %a "$STAGE/root/opt/site/bin/agent-sandbox"
    # Users can read the files whatever umask the administrator has.
    works as_user "$STAGE/root/opt/site/bin/agent-sandbox" --version
    works as_user cat "$STAGE/root/opt/site/share/agent-sandbox/admin/login-node.toml"
}

@test "uninstalling removes everything except the administrator's files" {
    install_to /opt/site
    works make -s -C "$SBX_STAGE" uninstall DESTDIR="$STAGE/root" PREFIX=/opt/site
    prints "" find "$STAGE/root" -type f
}

@test "the samples have no mistakes" {
    local sample
    for sample in $SAMPLES; do
        works as_user "$SBX_PROGRAM" config check --admin "$SBX_STAGE/share/admin/$sample.toml"
        cp "$SBX_STAGE/share/admin/$sample.toml" "$ADMIN/config.toml"
        works on_stage "$SBX_PROGRAM" config check /etc/agent-sandbox/config.toml
        works on_stage "$SBX_PROGRAM" config check
    done
}

@test "under each sample a command runs, and asking for more is refused" {
    local sample
    JAIL=()
    for sample in $SAMPLES; do
        cp "$SBX_STAGE/share/admin/$sample.toml" "$ADMIN/config.toml"
        works in_jail touch "$PROJECT/$sample"
        [[ -e $PROJECT/$sample ]]
        refused 125 /etc/agent-sandbox/config.toml on_stage "$SBX_PROGRAM" --quiet --home write -- touch "$PROJECT/ran"
        refused 125 /etc/agent-sandbox/config.toml on_stage "$SBX_PROGRAM" --quiet --network open -- touch "$PROJECT/ran"
        refused 125 /etc/agent-sandbox/config.toml \
            on_stage env AGENT_SANDBOX_ISOLATION_PRIVATE_TMP=false "$SBX_PROGRAM" --quiet -- touch "$PROJECT/ran"
        refused 125 /etc/agent-sandbox/config.toml \
            on_stage "$SBX_PROGRAM" --quiet --dangerous-socket /run/docker.sock -- touch "$PROJECT/ran"
    done
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
    rm "$ADMIN/config.toml"
    works on_stage env AGENT_SANDBOX_ISOLATION_PRIVATE_TMP=false "$SBX_PROGRAM" --quiet --home write --network open -- touch "$PROJECT/ran"
}

@test "settings of a sample are shown with their file" {
    cp "$SBX_STAGE/share/admin/login-node.toml" "$ADMIN/config.toml"
    works on_stage "$SBX_PROGRAM" config show --origin
    [[ $output =~ home.access\ +tmpwrite\ +/etc/agent-sandbox/config.toml:[0-9]+ ]] || report "no place"
}

# AppArmor before 4 has no rule for user namespaces; such a parser reads the rest of the profile.
@test "AppArmor's parser accepts the profiles" {
    install_to /opt/site
    local profile file=$STAGE/profile
    for profile in bwrap agent-sandbox; do
        cp "$STAGE/root/opt/site/share/agent-sandbox/apparmor/$profile" "$file"
        prints 1 grep -c '^  userns,$' "$file"
        [[ -e /etc/apparmor.d/abi/4.0 ]] || sed -i -e '/^  userns,$/d' -e 's|<abi/4.0>|<abi/3.0>|' "$file"
        works apparmor_parser --skip-kernel-load --skip-cache "$file"
        run --separate-stderr apparmor_parser --names --skip-kernel-load --skip-cache "$file"
        [[ $output == "$profile" ]] || report "names another profile"
        sed -i 's/^}$//' "$file"
        fails "" apparmor_parser --skip-kernel-load --skip-cache "$file"
    done
    grep -q '^profile agent-sandbox /opt/site/bin/agent-sandbox ' "$STAGE/root/opt/site/share/agent-sandbox/apparmor/agent-sandbox"
}
