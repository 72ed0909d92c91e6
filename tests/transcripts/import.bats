#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Imported settings of other programs, then applied: the meaning of the original holds in a real jail.

load ../jail/helper

setup() {
    start_test
    mkdir -p "$HOME/.config/agent-sandbox" "$HOME/private" "$HOME/out/final" "$HOME/notes"
    echo hidden >"$HOME/private/file"
    echo noted >"$HOME/notes/file"
    echo final >"$HOME/out/final/file"
    CONFIG=$HOME/.config/agent-sandbox/config.toml
}
teardown() { end_test; }

# The output becomes the user's file; the messages go to REPORT.
import() {
    "$SBX_PROGRAM" config import "$@" >"$CONFIG" 2>"$BATS_TEST_TMPDIR/report"
    REPORT=$(<"$BATS_TEST_TMPDIR/report")
}

why_host() { "$SBX_PROGRAM" why host "$1"; }

srt_settings() {
    cat >"$HOME/.srt-settings.json" <<'JSON'
{
  "network": {"allowedDomains": ["example.org", "*.example.org", "example.net:443"], "deniedDomains": ["bad.example.org"]},
  "filesystem": {
    "denyRead": ["~/private", ".env", "secrets/"],
    "allowRead": ["~/notes"],
    "allowWrite": [".", "~/out", "/tmp"],
    "denyWrite": ["locked.txt", "~/out/final"]
  },
  "enableWeakerNestedSandbox": true
}
JSON
}

@test "sandbox-runtime: the file that comes out has no mistakes" {
    srt_settings
    import "$HOME/.srt-settings.json"
    prints "$CONFIG: no mistakes" "$SBX_PROGRAM" config check "$CONFIG"
    [[ $REPORT == *"left out: enableWeakerNestedSandbox: "* ]]
    [[ $REPORT == *"carried over 8 settings, left out 2"* ]]
    grep -q '^#   enableWeakerNestedSandbox: ' "$CONFIG"
}

@test "sandbox-runtime: what denyRead names is not read" {
    srt_settings
    mkdir secrets
    echo hidden | tee .env secrets/key >/dev/null
    JAIL=(--ro "$HOME/private")
    expect_readable "$HOME/private/file"
    JAIL=()
    import "$HOME/.srt-settings.json"
    expect_hidden "$HOME/private/file"
    expect_unreadable "$PROJECT/.env"
    expect_unreadable "$PROJECT/secrets/key"
    expect_readable "$HOME/notes/file"
}

@test "sandbox-runtime: what allowWrite names is written, but for denyWrite" {
    srt_settings
    echo x >locked.txt
    expect_writable "$PROJECT/locked.txt"
    echo x >locked.txt
    import "$HOME/.srt-settings.json"
    expect_writable "$PROJECT/file"
    expect_writable "$HOME/out/file"
    expect_unwritable "$HOME/out/final/file"
    expect_unwritable "$PROJECT/locked.txt"
    works in_jail touch /tmp/file
}

@test "sandbox-runtime: without allowWrite nothing of the project is written" {
    echo '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": []}}' >srt.json
    import srt.json
    expect_unwritable "$PROJECT/srt.json"
    fails "network" why_host example.org
}

@test "sandbox-runtime: hosts are allowed and denied as they were" {
    srt_settings
    works why_host bad.example.org
    import "$HOME/.srt-settings.json"
    works why_host example.org
    works why_host www.example.org
    works why_host example.net:443
    fails "bad.example.org" why_host bad.example.org
    fails "" why_host example.net:80
    fails "" why_host example.com
}

@test "the bash predecessor: hidden paths stay hidden, open paths stay open" {
    cat >sandbox.conf <<'CONF'
BLOCKED_FILES=("$HOME/private")
EXTRA_WRITABLE_PATHS=("${HOME%/}/out")
READONLY_MOUNTS=(~/notes /nowhere/at/all)
NETWORK_BLOCKLIST=(bad.example.org)
DENIED_WRITABLE_PATHS=(/software)
touch "$HOME/ran"
CONF
    import sandbox.conf
    [[ ! -e $HOME/ran ]] || leak "it ran outside"
    works "$SBX_PROGRAM" config check
    expect_hidden "$HOME/private/file"
    expect_writable "$HOME/out/file"
    expect_readable "$HOME/notes/file"
    fails "bad.example.org" why_host bad.example.org
    works why_host example.org
    [[ $REPORT == *"sandbox.conf: left out: line 3: READONLY_MOUNTS (/nowhere/at/all): it does not exist here"* ]]
    [[ $REPORT == *"line 5: mounts.deny_writable"*"only the administrator's file"* ]]
    [[ $REPORT == *"line 6: touch"*"failed"* ]]
    [[ $REPORT == *"carried over 4 settings, left out 3" ]]
}

# The variables and the syntax of the file that the predecessor shipped.
shipped_file() {
    cat >sandbox.conf <<'CONF'
ALLOWED_PROJECT_PARENTS=("/no/such/lab" "$HOME")
READONLY_MOUNTS=(
    "/usr" "/lib" "/lib64" "/bin" "/sbin" "/etc"
    "/no/such/software"
)
HOME_READONLY=(".bashrc" ".vimrc")
HOME_WRITABLE=(".cache/pip")
BLOCKED_FILES=()
DEVICES=("/dev/nvidia*" "/dev/no-such-device*")
ALLOWED_ENV_VARS=()
SANDBOX_BACKEND="${SANDBOX_BACKEND:-}"
NETWORK_FILTER_MODE="filtered"
NETWORK_BLOCKLIST=("*.untrusted.example")
LANDLOCK_REQUIRED_ABI=3
CONF
}

@test "the bash predecessor: runs start with its default file after the import" {
    shipped_file
    import sandbox.conf
    works "$SBX_PROGRAM" config check
    works "$SBX_PROGRAM" config check "$CONFIG"
    works in_jail true
    fails "" why_host www.untrusted.example
    local restriction
    for restriction in "ALLOWED_ENV_VARS without further entries" "HOME_READONLY without further entries" \
        LANDLOCK_REQUIRED_ABI "/no/such/software" "mounts.readonly = /etc"; do
        [[ $REPORT == *"left out: line "*"$restriction"* ]] || report "not told: $restriction"
    done
    # A start fails for the same reason as the check.
    printf '[mounts]\nreadonly = ["/etc"]\n' >"$CONFIG"
    refused 125 "/etc can't be mounted" in_jail true
    refused 1 "config.toml:2: /etc can't be mounted" "$SBX_PROGRAM" config check
    refused 1 "config.toml:2: /etc can't be mounted" "$SBX_PROGRAM" config check "$CONFIG"
}

@test "the bash predecessor: a file that bash can't read completely is refused" {
    local text
    for text in "HOME_ACCESS='restricted" 'HOME_ACCESS=restricted; exit 0' 'if true; then' 'HOME_ACCESS=(' 'set -e; false'; do
        printf '%s\nPRIVATE_TMP=true\n' "$text" >sandbox.conf
        refused 1 "sandbox.conf: bash" "$SBX_PROGRAM" config import sandbox.conf
    done
    printf 'HOME_ACCESS=restricted\n' >sandbox.conf
    works "$SBX_PROGRAM" config import sandbox.conf
}

# Each attempt succeeds if bash reads the file outside.
@test "the bash predecessor: the file is evaluated in a jail" {
    cat >sandbox.conf <<CONF
SANDBOX_ENV=("HOME_IS=\$(touch "$HOME/planted" && echo open)" "TMP_IS=\$(touch "$PROJECT/planted" && echo open)"
    "PID_IS=\$(kill -0 $$ && echo open)" "KEY_IS=\$(cat "$HOME/.ssh/id" 2>/dev/null)")
HOME_ACCESS=restricted
CONF
    mkdir -p "$HOME/.ssh"
    echo planted >"$HOME/.ssh/id"
    works bash -c 'source ./sandbox.conf; printf "%s " "${SANDBOX_ENV[@]}"'
    [[ $output == *"HOME_IS=open TMP_IS=open PID_IS=open KEY_IS=planted"* ]] || report "the control should succeed"
    rm "$HOME/planted" "$PROJECT/planted"
    import sandbox.conf
    [[ ! -e $HOME/planted && ! -e $PROJECT/planted ]] || leak "it wrote"
    grep -q 'HOME_IS = ""' "$CONFIG"
    grep -q 'PID_IS = ""' "$CONFIG"
    grep -q 'KEY_IS = ""' "$CONFIG"
    ! compgen -G '/tmp/agent-sandbox-check-*' || report "a directory was left"
}

@test "the bash predecessor: a file without an end is stopped" {
    echo 'while :; do :; done' >sandbox.conf
    refused 1 "longer than 10 seconds" "$SBX_PROGRAM" config import sandbox.conf
}

@test "the bash predecessor: a guard holds for its projects alone" {
    printf '%s\n' 'case "$_PROJECT_DIR" in' "  $HOME/project*) ;;" '  *) return ;;' esac 'HOME_ACCESS=restricted' >sandbox.conf
    import sandbox.conf
    works "$SBX_PROGRAM" config show
    [[ $output == *"home.access"*restricted* ]]
    mkdir "$HOME/other"
    cd "$HOME/other"
    works "$SBX_PROGRAM" config show
    [[ $output != *"home.access"*restricted* ]]
}

@test "an invalid network entry is left out and reported" {
    printf '%s\n' 'NETWORK_BLOCKLIST_EXCEPT=("*.com" api.example.org "https://example.org/")' >sandbox.conf
    import sandbox.conf
    works "$SBX_PROGRAM" config check
    [[ $REPORT == *"line 1: NETWORK_BLOCKLIST_EXCEPT (*.com)"*"left out 2" ]]
}

@test "with --admin, settings that only an administrator may use are imported" {
    echo 'DENIED_WRITABLE_PATHS=(/usr)' >sandbox.conf
    works "$SBX_PROGRAM" config import --admin sandbox.conf
    [[ $output == *'deny_writable = ["/usr"]'* ]]
    "$SBX_PROGRAM" config import --admin sandbox.conf >"$HOME/ceiling.toml" 2>/dev/null
    works "$SBX_PROGRAM" config check --admin "$HOME/ceiling.toml"
}

@test "a file of another format is refused" {
    echo '{"colour": "blue"}' >other.json
    refused 1 "no settings of sandbox-runtime" "$SBX_PROGRAM" config import other.json
    echo '{"network": ' >half.json
    refused 1 "half.json: " "$SBX_PROGRAM" config import half.json
}
