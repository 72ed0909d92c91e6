#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A user tries to get more than the administrator's ceiling allows: by every layer of configuration, by variables, by names and
# paths of the program, by links and by other programs first in PATH. Each attempt works without a ceiling.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test && rm -rf "${SBX_HOME:?}"/{.local,evil,other,data,link,bin,copy,mark}; }

# Every setting whose values have an order: the administrator's value, and a weaker one.
SETTINGS="project.read_only true false
home.access tmpwrite write
home.caches false true
env.mode clean inherit
isolation.require denied absent
isolation.private_tmp true false
isolation.private_ipc true false
isolation.filter_passwd true false
isolation.allow_nested_namespaces false true
isolation.allow_ptrace false true
isolation.allow_perf false true
isolation.allow_keyrings false true
limits.processes 500 0
limits.memory 1000000000 2000000000
limits.open_files 500 501
limits.file_size 1000000 0
limits.wall_time 60 61
limits.idle_time 60 0
devices.gpu off on
network.mode isolated open
network.fallback strict open
network.literals deny allow
network.mail_block on off
agents.per_project_state true false
slurm.mode off auto
slurm.scope session none"

# toml KEY VALUE
toml() {
    local value=$2
    [[ $value =~ ^([0-9]+|true|false)$ ]] || value="\"$value\""
    printf '[%s]\n%s = %s\n' "${1%.*}" "${1#*.}" "$value"
}

# Runs COMMAND for each line of SETTINGS: $1 is the key, $2 the ceiling's value, $3 the weaker one.
for_each_setting() {
    local key strict weak
    while read -r key strict weak; do "$@" "$key" "$strict" "$weak" || return; done <<<"$SETTINGS"
}

add_to_ceiling() { toml "$1" "$2" >"$ADMIN/conf.d/$1.toml"; }
whole_ceiling() { mkdir "$ADMIN/conf.d" && for_each_setting add_to_ceiling; }

# shows KEY VALUE [WORD...]: `config show` prints this value as the effective one.
shows() {
    run on_stage "${@:3}" "$SBX_PROGRAM" config show
    grep -Eq "^$1 +$2\$" <<<"$output" || leak "should be $1 = $2"
}
# The refusal names the setting, or the file where the administrator wrote it.
is_refused() {
    run "${@:2}"
    ((status != 0)) || leak "should be refused: $1"
    ((status == 125)) && [[ $output == *"$1"* && $output == *"/etc/agent-sandbox"* ]] || report "should be refused: $1"
}

refuses() {
    refused 125 "$1" in_jail touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

# as_user_writes FILE: the standard input becomes its content.
as_user_writes() { as_user sh -c 'mkdir -p "${1%/*}" && cat >"$1"' sh "$1"; }

# Layers. Each gets a file with weak values as its standard input; in_variables puts them into WORDS, in front of the program.
in_user_file() { as_user_writes "$USER_CONFIG"; }
in_user_part() { as_user_writes "${USER_CONFIG%/*}/conf.d/zz.toml"; }
in_project_file() {
    as_user_writes "$PROJECT/.agent-sandbox.toml"
    on_stage "$SBX_PROGRAM" trust >/dev/null 2>&1 || true # under the ceiling there is nothing to trust
}
in_variables() {
    local line section key
    WORDS=(env)
    while read -r line; do
        if [[ $line == \[* ]]; then
            section=${line:1:-1}
        else
            key=$section.${line%% = *} line=${line#* = }
            key=${key//./_} line=${line#\"}
            WORDS+=("AGENT_SANDBOX_${key^^}=${line%\"}")
        fi
    done
}

# The weak values of these lines of SETTINGS, as one file.
weak_file() {
    local key weak section=
    printf '%s\n' "$@" | while read -r key _ weak; do
        if [[ ${key%.*} == "$section" ]]; then toml "$key" "$weak" | tail -n 1; else toml "$key" "$weak"; fi
        section=${key%.*}
    done
}

# Without a ceiling all weak values take effect. Under it, a weak value alone is refused.
both_ways() {
    local settings setting key weak
    mapfile -t settings <<<"$SETTINGS"
    WORDS=()
    "$1" < <(weak_file "${settings[@]}")
    works on_stage "${WORDS[@]}" "$SBX_PROGRAM" config show
    for setting in "${settings[@]}"; do
        read -r key _ weak <<<"$setting"
        grep -Eq "^$key +$weak\$" <<<"$output" || report "control: should be $key = $weak"
    done
    whole_ceiling
    mapfile -t settings < <(sampled 3 "${settings[@]}")
    for setting in "${settings[@]}"; do
        "$1" < <(weak_file "$setting")
        is_refused "${setting%% *}" on_stage "${WORDS[@]}" "$SBX_PROGRAM" config show
    done
}

@test "a user's file lifts no setting" { both_ways in_user_file; }
@test "a file in the user's conf.d lifts no setting" { both_ways in_user_part; }
@test "a variable lifts no setting" { both_ways in_variables; }
@test "a trusted project's file lifts no setting" { both_ways in_project_file; }

@test "no flag lifts a setting" {
    whole_ceiling
    rm "$ADMIN/conf.d/project.read_only.toml"
    local flags
    while read -ra flags; do
        JAIL=("${flags[@]}")
        refuses "/etc/agent-sandbox/conf.d/"
    done <<'FLAGS'
--home write
--home read
--require absent
--gpu on
--network open
--network filtered
--slurm auto
--limit processes=0
--limit memory=4G
--limit wall_time=2h
FLAGS
    rm "$ADMIN"/conf.d/*
    JAIL=(--home write --network open --limit processes=0)
    works in_jail touch "$PROJECT/ran"
}

@test "a preset of the user's lifts nothing" {
    toml home.access write | as_user_writes "${USER_CONFIG%/*}/presets/mine.toml"
    JAIL=(--preset mine)
    works in_jail touch "$SBX_HOME/kept-by-preset"
    [[ -e $SBX_HOME/kept-by-preset ]] || report "the control should write to the home directory"
    rm "$SBX_HOME/kept-by-preset"
    admin_says '[home]' 'access = "tmpwrite"'
    refuses home.access
}

@test "a profile of an agent that the user wrote lifts nothing" {
    printf '%s\n' '[agent]' 'commands = ["printenv"]' 'credentials = ["SITE_KEY"]' 'state = ["data"]' |
        as_user_writes "${USER_CONFIG%/*}/agents/mine.toml"
    prints value on_stage env SITE_KEY=value "$SBX_PROGRAM" --quiet -- printenv SITE_KEY
    admin_says '[env]' 'block = ["SITE_KEY"]'
    run on_stage env SITE_KEY=value "$SBX_PROGRAM" --quiet -- printenv SITE_KEY
    [[ $output != *value* ]] || leak "should be blocked"
    admin_says '[mounts]' 'deny_writable = ["~/data"]'
    is_refused data on_stage "$SBX_PROGRAM" --quiet -- printenv HOME
}

@test "settings that only an administrator may use are refused in a user's file" {
    local line
    for line in 'lock = []' 'lock = ["home.access"]' $'[mounts]\ndeny_writable = []'; do
        user_says "$line"
        refuses "administrator"
    done
    admin_says 'lock = ["home.access"]' '[mounts]' 'deny_writable = ["/srv"]'
    rm "$USER_CONFIG"
    works in_jail true
}

@test "blocked variables, names and hosts stay so, whatever is allowed" {
    JAIL=(--env SITE_KEY --allow-host blocked.example.org)
    export SITE_KEY=planted
    prints planted in_jail printenv SITE_KEY
    run on_stage "$SBX_PROGRAM" --allow-host blocked.example.org why host blocked.example.org:443
    ((status == 0)) || report "the control should be allowed"
    admin_says '[env]' 'block_patterns = ["SITE_*"]' '[network]' 'block = ["*.example.org"]'
    run in_jail printenv SITE_KEY
    [[ $output != *planted* ]] || leak "should be blocked"
    JAIL=(--env SITE_KEY=given)
    run in_jail printenv SITE_KEY
    [[ $output != *given* ]] || leak "should be blocked, also when it is set"
    run on_stage "$SBX_PROGRAM" --allow-host blocked.example.org why host blocked.example.org:443
    ((status != 0)) || leak "should be blocked"
    run on_stage "$SBX_PROGRAM" --allow-host blocked.example.org --allow-host '*' why host BLOCKED.example.org.:443
    ((status != 0)) || leak "should be blocked, also beside an entry for everything"
}

@test "protected and masked files stay so, whatever is lifted" {
    as_user sh -c "echo a >'$PROJECT/Makefile'; echo secret >'$PROJECT/site.key'"
    user_says '[project]' 'protect = ["Makefile"]' 'mask = ["site.key"]' 'unprotect = ["Makefile"]' 'unmask = ["site.key"]'
    works in_jail sh -c 'echo b >>Makefile && grep secret site.key'
    admin_says '[project]' 'protect = ["Makefile"]' 'mask = ["site.key"]'
    fails "" in_jail sh -c 'echo b >>Makefile'
    run in_jail cat site.key
    [[ $output != *secret* ]] || leak "should be masked"
}

@test "directories of configuration that variables name lift nothing" {
    toml home.access write | as_user_writes "$SBX_HOME/evil/agent-sandbox/config.toml"
    local names=(XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS XDG_STATE_HOME XDG_RUNTIME_DIR)
    local words=(env "${names[@]/%/=$SBX_HOME/evil}")
    shows home.access write "${words[@]}"
    admin_says '[home]' 'access = "tmpwrite"'
    is_refused home.access on_stage "${words[@]}" "$SBX_PROGRAM" --quiet -- touch "$PROJECT/ran"
    shows home.access tmpwrite env XDG_CONFIG_DIRS="$SBX_HOME/evil" SANDBOX_ADMIN_DIRECTORY="$SBX_HOME/evil/agent-sandbox"
}

@test "another HOME does not move the administrator's rules about home directories" {
    as_user mkdir -p "$SBX_HOME/other" "$SBX_HOME/data"
    echo planted | as_user_writes "$SBX_HOME/data/file"
    local program=(on_stage env HOME="$SBX_HOME/other" "$SBX_PROGRAM" --quiet)
    prints planted "${program[@]}" --ro "$SBX_HOME/data" -- cat "$SBX_HOME/data/file"
    works "${program[@]}" --rw "$SBX_HOME/data" -- touch "$SBX_HOME/data/new"
    admin_says '[mounts]' 'hidden = ["~/data"]'
    run "${program[@]}" --ro "$SBX_HOME/data" -- cat "$SBX_HOME/data/file"
    [[ $output != *planted* ]] || leak "should be hidden"
    admin_says '[home]' 'readonly = ["data"]'
    is_refused data "${program[@]}" --rw "$SBX_HOME/data" -- touch "$SBX_HOME/data/newer"
    [[ ! -e $SBX_HOME/data/newer ]] || leak "was written"
}

@test "a symbolic link of the user's avoids no rule about paths" {
    as_user mkdir -p "$SBX_HOME/data"
    echo planted | as_user_writes "$SBX_HOME/data/file"
    as_user ln -s data "$SBX_HOME/link"
    JAIL=(--rw "$SBX_HOME/link")
    prints planted in_jail cat "$SBX_HOME/data/file"
    works in_jail touch "$SBX_HOME/data/new"
    admin_says '[mounts]' 'deny_writable = ["~/data"]'
    is_refused data in_jail touch "$SBX_HOME/data/newer"
    admin_says '[mounts]' 'hidden = ["~/data"]'
    run in_jail cat "$SBX_HOME/data/file" "$SBX_HOME/link/file"
    [[ $output != *planted* ]] || leak "should be hidden"
    admin_says '[project]' "parents = [\"$PROJECT\"]"
    as_user ln -s "$SBX_HOME/data" "$PROJECT/inner"
    JAIL=(--project "$PROJECT/inner")
    refuses project.parents
    rm "$ADMIN/config.toml"
    works in_jail true
}

@test "configuration behind a link is judged like any other" {
    toml home.access write | as_user_writes "$SBX_HOME/evil/config.toml"
    as_user ln -s "$SBX_HOME/evil/config.toml" "$USER_CONFIG"
    shows home.access write
    admin_says '[home]' 'access = "tmpwrite"'
    refuses home.access
    # The user's file is a link to the administrator's own file: keys that only the administrator may set are refused.
    as_user ln -sf /etc/agent-sandbox/config.toml "$USER_CONFIG"
    works in_jail true
    admin_says 'lock = ["home.access"]' '[home]' 'access = "tmpwrite"'
    refuses "administrator"
}

@test "a configuration directory that every user may write is refused" {
    works in_jail true
    chmod 0777 "${USER_CONFIG%/*}"
    refuses "written by others"
}

@test "no other name or place of the program leads around the ceiling" {
    as_user mkdir -p "$SBX_HOME/bin"
    as_user cp "$SBX_PROGRAM" "$SBX_HOME/copy"
    as_user ln -s "$SBX_PROGRAM" "$SBX_HOME/bin/tool"
    local way
    for way in "$SBX_HOME/copy" "$SBX_HOME/bin/tool"; do
        works on_stage "$way" --quiet --home write -- touch "$PROJECT/control"
    done
    works on_stage bash -c 'exec -a other "$@"' bash "$SBX_PROGRAM" --quiet --home write -- touch "$PROJECT/control"
    admin_says '[home]' 'access = "tmpwrite"'
    for way in "$SBX_HOME/copy" "$SBX_HOME/bin/tool"; do
        is_refused home.access on_stage "$way" --quiet --home write -- touch "$PROJECT/ran"
    done
    is_refused home.access on_stage bash -c 'exec -a other "$@"' bash "$SBX_PROGRAM" --quiet --home write -- touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

@test "the program runs nothing when it is called by the name of a stub" {
    as_user mkdir -p "$SBX_HOME/bin"
    local name
    for name in sbatch srun squeue scancel sendmail mail; do
        as_user ln -s "$SBX_PROGRAM" "$SBX_HOME/bin/$name"
        run ! on_stage "$SBX_HOME/bin/$name" --quiet -- touch "$PROJECT/ran"
        run ! on_stage "$SBX_HOME/bin/$name" touch "$PROJECT/ran"
        [[ ! -e $PROJECT/ran ]] || leak "$name ran something"
    done
}

@test "programs of the user's, first in PATH, are not run" {
    as_user mkdir -p "$SBX_HOME/bin"
    local name
    for name in bwrap firejail git sbatch srun squeue scontrol nft ip getent sh env module; do
        printf '#!/bin/sh\necho %s >>"%s"\n' "$name" "$SBX_HOME/mark" | as_user_writes "$SBX_HOME/bin/$name"
        chmod 0755 "$SBX_HOME/bin/$name"
    done
    local program=(on_stage env PATH="$SBX_HOME/bin:$PATH")
    works "${program[@]}" bwrap
    [[ -s $SBX_HOME/mark ]] || report "the control should leave a mark"
    rm "$SBX_HOME/mark"
    as_user git init -q "$PROJECT"
    works "${program[@]}" "$SBX_PROGRAM" -- /bin/true
    works "${program[@]}" "$SBX_PROGRAM" --slurm auto -- /bin/sh -c 'sbatch --version; true'
    works "${program[@]}" "$SBX_PROGRAM" plan -- /bin/true
    run "${program[@]}" "$SBX_PROGRAM" doctor
    [[ ! -e $SBX_HOME/mark ]] || leak "outside ran: $(cat "$SBX_HOME/mark")"
}

@test "variables of the dynamic loader affect neither the program nor bubblewrap" {
    cat >"$STAGE/evil.c" <<'C'
#include <fcntl.h>
__attribute__((constructor)) static void mark(void) { open(MARK, O_CREAT | O_WRONLY, 0644); }
unsigned la_version(unsigned version) { return version; }
C
    gcc -shared -fPIC -DMARK="\"$SBX_HOME/mark\"" -o "$STAGE/evil.so" "$STAGE/evil.c"
    local variables=(LD_PRELOAD="$STAGE/evil.so" LD_AUDIT="$STAGE/evil.so" LD_LIBRARY_PATH="$STAGE" GCONV_PATH="$STAGE"
        LOCPATH="$STAGE" MALLOC_PERTURB_=7 GLIBC_TUNABLES=glibc.malloc.check=3)
    works on_stage env LD_PRELOAD="$STAGE/evil.so" bwrap --version
    [[ -e $SBX_HOME/mark ]] || report "the control should leave a mark"
    rm "$SBX_HOME/mark"
    local backend
    for backend in native bwrap; do
        works on_stage env "${variables[@]}" "$SBX_PROGRAM" --quiet --backend "$backend" -- /bin/true
        [[ ! -e $SBX_HOME/mark ]] || leak "something outside was started with it, $backend"
    done
    admin_says '[home]' 'access = "tmpwrite"'
    is_refused home.access on_stage env "${variables[@]}" "$SBX_PROGRAM" --quiet --home write -- /bin/true
    [[ ! -e $SBX_HOME/mark ]] || leak "something outside was started with it"
}

@test "bubblewrap is started with an empty environment" {
    printf '#!/bin/sh\ntr "\\0" "\\n" </proc/$$/environ >"%s"\nexit 1\n' "$SBX_HOME/mark" >"$STAGE/bwrap"
    chmod 0755 "$STAGE/bwrap"
    PREPARE="mount --bind '$STAGE/bwrap' /usr/bin/bwrap"
    fails "" on_stage env EVIL=1 bwrap
    grep -q EVIL=1 "$SBX_HOME/mark" || report "the control should see the variable"
    rm "$SBX_HOME/mark"
    fails "" on_stage env EVIL=1 LD_LIBRARY_PATH=/nowhere "$SBX_PROGRAM" --backend bwrap -- true
    [[ -e $SBX_HOME/mark && ! -s $SBX_HOME/mark ]] || leak "not empty: $(cat "$SBX_HOME/mark")"
}

# A ceiling binds the program. A user who mounts other files over /etc in a namespace could also run the command without the
# program. But the program must not ignore the ceiling by accident, because a user namespace shows another owner for its files.
@test "in a user namespace that the user made, the administrator's file is refused" {
    works on_stage unshare --user --map-root-user true
    admin_says '[home]' 'access = "tmpwrite"'
    is_refused "owned by uid" on_stage unshare --user --map-root-user "$SBX_PROGRAM" --quiet -- touch "$PROJECT/ran"
    is_refused "owned by uid" on_stage unshare --user --map-current-user "$SBX_PROGRAM" --quiet --home write -- touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

# Two sessions each: the first one renames the parent of the path, the second one looks there.
@test "a path that is hidden or read-only stays so when its parent is renamed" {
    as_user mkdir -p "$PROJECT/data/raw" "$PROJECT/keep/inner"
    as_user sh -c 'echo planted >"$1/data/raw/secret"; echo planted >"$1/keep/inner/file"' sh "$PROJECT"
    admin_says '[mounts]' "hidden = [\"$PROJECT/data/raw\"]" "deny_writable = [\"$PROJECT/keep/inner\"]"
    local backend
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        run in_jail sh -c 'mv data data2; mv keep keep2; mkdir -p keep/inner other; mv data other/data'
        works in_jail sh -c 'for file in $(find . -type f); do cat "$file"; echo inside >>"$file"; done 2>/dev/null; true'
        prints planted cat "$PROJECT/data/raw/secret"
        prints planted cat "$PROJECT/keep/inner/file"
        [[ $(in_jail sh -c 'cat $(find . -name secret); true' 2>/dev/null) != *planted* ]] || leak "the content came out"
    done
    works as_user sh -c 'cd "$1" && mv data data2 && mv keep keep2' sh "$PROJECT"
    prints planted in_jail cat data2/raw/secret
    works in_jail sh -c 'echo inside >>keep2/inner/file'
}
