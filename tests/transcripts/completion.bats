#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Completion in the shells themselves: bash with Tab in a terminal, and by the call that it makes; zsh with Tab in a terminal; fish
# by its output for a line. Each runs the program that a user has in PATH.

load ../jail/helper
setup() {
    start_test
    BIN=$BATS_TEST_TMPDIR/bin
    mkdir -p "$BIN"
    ln -s "$SBX_PROGRAM" "$BIN/agent-sandbox"
    PATH=$BIN:$PATH
    "$SBX_PROGRAM" completion bash >"$BATS_TEST_TMPDIR/completion.bash"
    mkdir "$BATS_TEST_TMPDIR/zsh" "$BATS_TEST_TMPDIR/fish"
    "$SBX_PROGRAM" completion zsh >"$BATS_TEST_TMPDIR/zsh/_agent-sandbox"
    "$SBX_PROGRAM" completion fish >"$BATS_TEST_TMPDIR/fish/agent-sandbox.fish"
    mkdir -p data "sub dir" "$HOME/.config/agent-sandbox/presets" "$HOME/.config/agent-sandbox/agents"
    touch "data file" dated.txt
    printf '[project]\nread_only = true\n' >"$HOME/.config/agent-sandbox/presets/mine.toml"
    printf '[agent]\ncommands = ["myagent"]\n' >"$HOME/.config/agent-sandbox/agents/myagent.toml"
}
teardown() {
    tmux -L "completion-$SBX_TAG" kill-server 2>/dev/null || true
    end_test
}

# ---- The words that a shell offers for a line, one a line -----------------------------------------------------------------------

# As bash calls it: bash splits the line by its own rules, at blanks and at = : @.
in_bash() {
    LINE=$1 bash --norc --noprofile -c '
        [[ -z $WITH ]] || source "$WITH"
        source "$SCRIPT"
        compopt() { :; }
        mapfile -t COMP_WORDS < <(grep -aoE "[=:@]|(\\\\.|[^[:space:]=:@\\\\])+" <<<"$LINE")
        [[ $LINE != *[[:space:]] ]] || COMP_WORDS+=("")
        COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )) COMP_TYPE=9
        _agent_sandbox agent-sandbox "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        (( ${#COMPREPLY[@]} == 0 )) || printf "%s\n" "${COMPREPLY[@]}"'
}
export SCRIPT WITH
in_bash_plain() { SCRIPT=$BATS_TEST_TMPDIR/completion.bash WITH='' in_bash "$1"; }

in_fish() {
    fish -c '
        source $argv[1]; complete -C $argv[2]' "$BATS_TEST_TMPDIR/fish/agent-sandbox.fish" "$1" | cut -f1
}

# The words that zsh would insert, captured from compadd in an interactive zsh on a pseudo terminal.
in_zsh() {
    cat >"$BATS_TEST_TMPDIR/zsh/.zshrc" <<'END'
PROMPT= RPROMPT= PS2=
fpath=($FUNCTIONS $fpath)
autoload -Uz compinit
compinit -u -d $DUMP
caught() {
    compadd() {
        local -a offered
        builtin compadd -O offered "$@"
        print -rl -- "CANDIDATE:"$^offered
        builtin compadd "$@"
    }
    _main_complete
    compstate[insert]= compstate[list]=
    print -r -- END-OF-LIST
}
zle -C caught complete-word caught
bindkey "^X" caught
print READY
END
    FUNCTIONS=$BATS_TEST_TMPDIR/zsh ZDOTDIR=$BATS_TEST_TMPDIR/zsh DUMP=$BATS_FILE_TMPDIR/dump LINE=$1 zsh -f -c '
        zmodload zsh/zpty
        zpty asked zsh -d -i
        # A line each: with a pattern, zpty matches all that came again for each character.
        until_line() { while zpty -r asked line; do print -r -- $line; [[ $line != *$1* ]] || return; done; }
        until_line READY >/dev/null
        zpty -w -n asked "$LINE"$'"'\\C-x'"'
        until_line END-OF-LIST' | tr -d '\r' | sed -n 's/^.*CANDIDATE://p' | sed 's/[[:space:]]*$//'
}

shells() { echo in_bash_plain; sampled 2 in_zsh in_fish; }

# offers LINE WORD...: every shell offers each word.
offers() {
    local line=$1 shell word offered
    shift
    for shell in $(shells); do
        offered=$("$shell" "$line")
        for word in "$@"; do
            grep -qxF -e "$word" <<<"$offered" || { printf '%s: %s: no %s in:\n%s\n' "$shell" "$line" "$word" "$offered" >&2; return 1; }
        done
    done
}

# offers_only LINE WORD...: every shell offers these and nothing else, in any order.
offers_only() {
    local line=$1 shell offered wanted
    shift
    wanted=$( (($# == 0)) || printf '%s\n' "$@" | sort)
    for shell in $(shells); do
        offered=$("$shell" "$line" | sed '/^$/d' | sort -u)
        [[ $offered == "$wanted" ]] || { printf '%s: %s: should be:\n%s\nis:\n%s\n' "$shell" "$line" "$wanted" "$offered" >&2; return 1; }
    done
}

@test "the first word completes to verbs and programs" {
    local -a verbs
    mapfile -t verbs < <("$SBX_PROGRAM" help --manual verbs | sed -n 's/^\*\([a-z-]*\)\* .*/\1/p')
    ((${#verbs[@]} > 20))
    offers "agent-sandbox " "${verbs[@]}"
    offers "agent-sandbox bas" bash
    offers "agent-sandbox run bas" bash
    offers "agent-sandbox --quiet -- bas" bash
}

@test "a verb's name behind -- is a command" {
    local shell
    for shell in $(shells); do
        [[ $("$shell" "agent-sandbox -- config im") != *import* ]] || report "$shell takes it for the verb"
    done
}

@test "no verb is offered after run or --" {
    local shell
    for shell in $(shells); do
        [[ $("$shell" "agent-sandbox run unt") != *untrust* ]] || report "$shell offers a verb behind run"
        [[ $("$shell" "agent-sandbox -- unt") != *untrust* ]] || report "$shell offers a verb behind --"
    done
}

@test "flags of a run, before a verb and behind run and plan" {
    offers "agent-sandbox --" --network --ro --preset --dry-run --trace-files --limit
    offers "agent-sandbox run --net" --network
    offers "agent-sandbox --quiet plan --ho" --home
}

@test "values of choices are offered as the next word and after the equals sign" {
    offers_only "agent-sandbox --network " open filtered proxied isolated
    offers_only "agent-sandbox --quiet --home re" read restricted
    offers_only "agent-sandbox --require d" denied
    [[ $(in_bash_plain "agent-sandbox --network=is") == isolated ]]
    [[ $(in_bash_plain "agent-sandbox --network=") == open* ]]
    [[ $(in_fish "agent-sandbox --network=is") == --network=isolated ]]
}

@test "limits complete with an equals sign, and the next word is a command" {
    offers_only "agent-sandbox --limit mem" memory=
    [[ $(in_bash_plain "agent-sandbox --limit=mem") == memory= ]]
    offers "agent-sandbox --limit memory=2G bas" bash
    offers "agent-sandbox --limit memory=2G --allow-host example.org:443 --net" --network
}

@test "presets and profiles are offered, the user's own included" {
    offers_only "agent-sandbox --preset " ci mine review untrusted work
    offers "agent-sandbox --agent " claude codex myagent
    offers "agent-sandbox profiles show " claude myagent
    offers_only "agent-sandbox profiles sh" show
}

@test "file names with shell or terminal control characters are not offered" {
    local folder=$HOME/.config/agent-sandbox
    touch "$folder/presets/\$(touch ran).toml" "$folder/presets/"$'e\e[31mvil.toml' "$folder/presets/two words.toml"
    offers_only "agent-sandbox --preset " ci mine review untrusted work
    fails "" test -e ran
}

@test "hostile names of sessions, variables and files are neither offered as others nor run" {
    local id place hostile line
    start_jail 'touch ready; sleep 60'
    id=$("$SBX_PROGRAM" ps --ids)
    place=$(dirname "$(find /tmp/agent-sandbox-u"$(id -u)"/sessions "${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"/agent-sandbox/sessions -maxdepth 1 -name "$id*" 2>/dev/null | head -n 1)")
    for hostile in '$(touch ran)' '`touch ran`' $'two\nlines' $'e\e[31mvil' '-x' 'a b' "q'uote" '*' ';touch ran' 'a:b' '../up' "${id}/../x"; do
        [[ $hostile == */* ]] || cp -r "$place/$id"* "$place/$hostile"
        touch "./f${hostile//\//_}"
    done
    offers_only "agent-sandbox stop " "$id"
    offers_only "agent-sandbox log " "$id"
    # No shell can export such names, but a program that starts a shell can pass them.
    works env '$(touch ran)=1' $'V_\e[31m=1' 'V_ b=1' V_PLAIN=1 "$SBX_PROGRAM" __complete bash -- why env V_
    [[ $output == *V_PLAIN* && $output != *'V_ b'* && $output != *$'\e'* ]] || report "only plain names of variables"
    for line in "agent-sandbox --ro f" "agent-sandbox --ro=f" "agent-sandbox why path f" "agent-sandbox trust f" "agent-sandbox ./f" \
        'agent-sandbox --ro "f$(' 'agent-sandbox --ro f`' "agent-sandbox stop -" "agent-sandbox --session="; do
        in_bash_plain "$line" >/dev/null 2>&1 || true
        in_zsh "$line" >/dev/null 2>&1 || true
        in_fish "$line" >/dev/null 2>&1 || true
    done
    fails "" test -e ran
    for hostile in '$(touch ran)' '`touch ran`' $'e\e[31mvil' 'a b'; do
        grep -qxF "f$hostile" < <(in_bash_plain "agent-sandbox --ro f") || report "the name itself should be offered unchanged: $hostile"
    done
    rm -rf -- "$place"/\$* "$place"/\`* "$place"/two* "$place"/e* "$place"/-x "$place"/a\ b "$place"/q* "$place/*" "$place"/\;* "$place"/a:b
}

@test "bundles of hosts" {
    offers_only "agent-sandbox --allow-host @gith" @github
    [[ $(in_bash_plain "agent-sandbox --allow-host=@gith") == @github ]]
}

@test "verbs of help, and its topics" {
    offers "agent-sandbox help " network home agents slurm admin trouble backends settings why selftest
    offers_only "agent-sandbox help net" network
}

@test "a verb offers only its own arguments" {
    offers_only "agent-sandbox why " path env host request push credential ssh syscall slurm
    offers_only "agent-sandbox completion " bash zsh fish
    offers "agent-sandbox selftest " files network system-calls
    offers "agent-sandbox selftest files n" namespaces network
    offers_only "agent-sandbox config p" path
    offers_only "agent-sandbox ps "
    offers_only "agent-sandbox allow "
    offers_only "agent-sandbox version "
    offers "agent-sandbox why --w" --write
    offers "agent-sandbox log --" --follow --denied --verify --json
    offers_only "agent-sandbox stop --" --now
}

@test "files and directories are offered where an argument is a path" {
    [[ $(in_bash_plain "agent-sandbox --ro dat" | sort | xargs -d '\n') == "data data file dated.txt" ]]
    [[ $(in_bash_plain "agent-sandbox why path dated") == dated.txt ]]
    [[ $(in_bash_plain "agent-sandbox config check dated") == dated.txt ]]
    [[ $(in_bash_plain "agent-sandbox --project dat") == data ]]
    [[ $(in_bash_plain "agent-sandbox trust dat") == data ]]
    [[ $(in_fish "agent-sandbox --ro dated") == dated.txt ]]
    [[ $(in_fish "agent-sandbox why path dated") == dated.txt ]]
    [[ $(in_fish "agent-sandbox --project dat") == data/ ]]
    [[ $(in_fish "agent-sandbox --project=dat") == --project=data/ ]]
    grep -qx dated.txt < <(in_zsh "agent-sandbox --ro dated")
    grep -qx dated.txt < <(in_zsh "agent-sandbox why path dated")
    grep -q '^data' < <(in_zsh "agent-sandbox trust dat")
    ! grep -q dated < <(in_zsh "agent-sandbox trust dat") || report "offered without a reason"
}

@test "a file name with a line break is not offered as two names" {
    touch $'zed\nzoo'
    [[ -z $(in_bash_plain "agent-sandbox --ro zoo") && $(in_bash_plain "agent-sandbox --ro zed") != zed ]]
}

@test "variables" {
    export MY_OWN_VARIABLE=1
    offers_only "agent-sandbox why env MY_OWN_V" MY_OWN_VARIABLE
    offers_only "agent-sandbox --env MY_OWN_V" MY_OWN_VARIABLE
}

@test "sessions that run" {
    local id
    start_jail 'touch ready; sleep 60'
    id=$("$SBX_PROGRAM" ps --ids)
    [[ $id =~ ^[0-9a-f]+$ ]]
    offers_only "agent-sandbox stop " "$id"
    offers_only "agent-sandbox inspect " "$id"
    offers_only "agent-sandbox exec " "$id"
    offers_only "agent-sandbox log ${id:0:2}" "$id"
    offers_only "agent-sandbox allow example.org --session " "$id"
}

@test "after the command its own completion applies" {
    git init -q .
    git checkout -q -b a-branch-of-ours 2>/dev/null
    git -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m x
    local shell
    for shell in $(shells); do
        [[ $("$shell" "agent-sandbox cat --netw") != *--network* ]] || report "$shell offers our flags to cat"
    done
    [[ $(in_bash_plain "agent-sandbox cat dated") == dated.txt ]]
    [[ $(SCRIPT=$BATS_TEST_TMPDIR/completion.bash WITH=/usr/share/bash-completion/bash_completion in_bash "agent-sandbox --network open kill -") == *-KILL* ]] ||
        report "bash-completion is not asked"
    offered=$(in_fish "agent-sandbox --network open git checkout a-br")
    [[ $offered == *a-branch-of-ours* ]] || report "fish: $offered"
    offered=$(in_zsh "agent-sandbox --network open git checkout a-br")
    [[ $offered == *a-branch-of-ours* ]] || report "zsh: $offered"
}

@test "commands and options of Slurm" {
    offers "agent-sandbox why slurm s" sbatch srun scrontab
    offers "agent-sandbox why slurm sbatch --part" --partition
}

@test "an answer starts no program and changes no file" {
    local trace=$BATS_TEST_TMPDIR/trace line dead
    start_jail 'touch ready; sleep 60'
    # A session that was killed: a listing removes its directory, completion does not.
    dead=/tmp/agent-sandbox-u$(id -u)/sessions/$(printf 'a%.0s' {1..32})
    cp -r "${dead%/*}/$("$SBX_PROGRAM" ps --ids)"* "$dead"
    for line in "" "--" "--preset " "--agent " "stop " "help " "why env " "why slurm "; do
        works strace -f -o "$trace" -e trace=execve,execveat,fork,vfork,clone,clone3,%file,flock,ftruncate,fchmod,fchown \
            "$SBX_PROGRAM" __complete fish -- ${line% } ""
        [[ $(grep -cE '\bexecve' "$trace") == 1 ]] || report "$line: a program"
        fails "" grep -E '\b(v?fork|clone3?|execveat)\(' "$trace"
        fails "" grep -E 'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|\b(unlink|rmdir|rename|mkdir|link|symlink|chmod|chown|truncate|utime|mknod)' "$trace"
    done
    works test -d "$dead"
    works "$SBX_PROGRAM" ps
    fails "" test -e "$dead"
}

@test "shell builtins are not offered as commands" {
    local offered
    offered=$(in_bash_plain "agent-sandbox comp")
    ! grep -qxE 'compgen|compopt|complete' <<<"$offered" || report "$offered"
    offered=$(in_fish "agent-sandbox func")
    ! grep -qx functions <<<"$offered" || report "$offered"
}

# ---- Tab, in a terminal -----------------------------------------------------------------------------------------------------------

screen() { tmux -L "completion-$SBX_TAG" capture-pane -p -t one; }
shows() { [[ $(screen) == *"$1"* ]]; }
type_keys() { tmux -L "completion-$SBX_TAG" send-keys -t one "$@"; }

@test "Tab in an interactive bash" {
    tmux -L "completion-$SBX_TAG" -f /dev/null new-session -d -s one -x 120 -y 30 \
        "env PATH='$PATH' PS1='ready> ' bash --norc --noprofile -i"
    wait_until shows "ready>"
    type_keys -l -- "source $BATS_TEST_TMPDIR/completion.bash; clear"
    type_keys Enter
    type_keys -l -- "agent-sandbox --netw"
    type_keys Tab
    wait_until shows "agent-sandbox --network"
    type_keys -l -- "is"
    type_keys Tab
    wait_until shows "--network isolated"
    type_keys -l -- "--limit mem"
    type_keys Tab
    wait_until shows "--limit memory="
    type_keys -l -- "2G --ro=data\\ "
    type_keys Tab
    wait_until shows '--ro=data\ file'
    type_keys -l -- "--allow-host @gith"
    type_keys Tab
    wait_until shows "@github"
}

@test "Tab in an interactive zsh" {
    tmux -L "completion-$SBX_TAG" -f /dev/null new-session -d -s one -x 120 -y 30 \
        "env PATH='$PATH' PS1='ready> ' zsh -f -i"
    wait_until shows "ready>"
    type_keys -l -- "fpath=($BATS_TEST_TMPDIR/zsh \$fpath); autoload -Uz compinit; compinit -D -u; clear"
    type_keys Enter
    type_keys -l -- "agent-sandbox --netw"
    type_keys Tab
    wait_until shows "agent-sandbox --network"
    type_keys -l -- "=is"
    type_keys Tab
    wait_until shows "--network=isolated"
    type_keys -l -- "--limit mem"
    type_keys Tab
    wait_until shows "--limit memory="
    type_keys -l -- "2G self"
    type_keys Tab
    wait_until shows "2G selftest"
}

@test "a program name with a line break is not offered as two names" {
    local name=$'./data/begin\nend' shell offered
    touch "$name" ./data/beginner
    chmod +x "$name" ./data/beginner
    for shell in in_bash_plain in_fish; do
        offered=$("$shell" "agent-sandbox ./data/beg")
        grep -qx './data/beginner' <<<"$offered" || report "$shell: $offered"
        ! grep -qxE './data/begin|end' <<<"$offered" || report "$shell invents: $offered"
    done
}
