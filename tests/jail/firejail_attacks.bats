#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Attempts to escape from firejail's jail through the parts that only this backend has: firejail's own commands and files, its
# processes, a session directory instead of mounts, and a doorman instead of a network namespace that is configured from outside.

load helper
setup() {
    start_test
    JAIL=(--backend firejail --network isolated)
}
teardown() { end_test; }

filtered() { JAIL=(--backend firejail --network filtered); }

of_jail() { pgrep -u "$SBX_USER" -f 'inner-stage|sleep 70[1-9]'; }
none_of_jail() { ! of_jail >/dev/null; }
places() { find /tmp -maxdepth 1 -user "$SBX_USER" -name 'agent-sandbox-*' ! -name 'agent-sandbox-u*'; }

# ---- firejail's own commands and files -------------------------------------------------------------------------------

@test "firejail's commands find no jail from inside" {
    start_jail 'touch ready; sleep 701'
    local jail option
    jail=$(firejail --list | sed -n '1s/:.*//p')
    [[ -n $jail ]]
    works firejail --fs.print="$jail"
    [[ $output == *whitelist* ]] || report "control: should be told"
    for option in --list --tree "--join=$jail" "--fs.print=$jail" "--ls=$jail" "--get=$jail" "--shutdown=$jail" "--profile.print=$jail"; do
        fails "an existing sandbox was detected" in_jail firejail "$option" /etc/hosts
        [[ $output != *"$jail:"* && $output != *"whitelist "* ]] || leak "something was told: $option"
    done
    kill -0 "$SUPERVISOR"
    works of_jail
}

@test "files that firejail keeps about its jails can't be read" {
    start_jail 'touch ready; sleep 701'
    works grep -rqs . /run/firejail/profile
    local place
    for place in profile name network sandbox bandwidth dbus x11; do
        fails "Permission denied" in_jail ls "/run/firejail/$place"
    done
    fails "" in_jail_sh 'touch /run/firejail/mnt/file || touch /run/firejail/file || touch /run/file'
    fails "" in_jail_sh 'echo 0 >/run/firejail/mnt/nonewprivs'
}

@test "firejail's variables in the caller's environment change nothing" {
    echo secret >"$HOME/file"
    in_jail() { env FIREJAIL_FILE_COPY_LIMIT=0 FIREJAIL_TEST_ARGUMENTS=yes container=firejail "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }
    fails "No such file" in_jail cat "$HOME/file"
    prints "" in_jail_sh "tr '\\0' '\\n' </proc/self/environ | grep -E '^(FIREJAIL|container)' || true"
}

# ---- Processes -------------------------------------------------------------------------------------------------------

@test "neither firejail nor the stage can be signalled, traced or read" {
    works sh -c 'sleep 9 & kill -0 $! && cat /proc/$!/environ >/dev/null && kill $!'
    works in_jail_sh 'sleep 9 & kill -0 $! && cat /proc/$!/environ >/dev/null && kill $!'
    local attack='
        for process in 1 "$PPID"; do
            [ "$(cat "/proc/$process/comm")" != sh ] || exit 1
            for signal in 0 KILL STOP; do kill -"$signal" "$process" 2>/dev/null && exit 2; done
            for file in environ maps mem auxv fd/0 root/etc cwd/.; do cat "/proc/$process/$file" 2>/dev/null && exit 3; done
            ls "/proc/$process/fd" 2>/dev/null && exit 4
            readlink "/proc/$process/exe" 2>/dev/null && exit 5
        done
        exit 0'
    works in_jail_sh "$attack"
    filtered
    works in_jail_sh "$attack"
}

@test "the command has no descriptor of firejail's or the sandbox's" {
    filtered
    run in_jail ls /proc/self/fd
    # The fourth is the directory that ls reads.
    [[ ${lines[*]} == "0 1 2 3" ]] || leak "more descriptors than expected"
}

@test "after any process is killed, no process, directory or placeholder stays" {
    make_repository "$PROJECT"
    filtered
    local victim before
    before=$(ls -A)
    for victim in supervisor outer inner stage; do
        start_jail 'setsid sleep 701 & sleep 702 & touch ready; wait'
        local supervisor=$SUPERVISOR outer inner stage
        outer=$(pgrep -P "$supervisor" -x firejail)
        inner=$(pgrep -P "$outer" -x firejail)
        stage=$(pgrep -P "$inner" -f inner-stage)
        [[ -n $(places) ]]
        kill -KILL "${!victim}"
        end_of_jail
        ((STATUS != 0))
        wait_until none_of_jail || { echo "left after $victim: $(of_jail)" >&2; return 1; }
        rm -f ready
        wait_until eval '[[ -z $(places) && $(ls -A) == "$before" ]]' || { echo "left after $victim: $(places) $(ls -A)" >&2; return 1; }
    done
}

# ---- Files -----------------------------------------------------------------------------------------------------------

@test "no symbolic link in the project leads out, and a link to a project works" {
    echo secret >"$HOME/secret"
    ln -s "$HOME/secret" soft
    ln -s "$HOME" above
    works cat soft above/secret
    fails "No such file" in_jail cat soft
    fails "No such file" in_jail cat above/secret
    works sh -c 'ln "$1" hard && rm hard' sh "$HOME/secret"
    fails "" in_jail ln "$HOME/secret" hard
    fails "" in_jail_sh 'ln "$HOME/.profile" hard || ln /etc/hostname hard || ln "$AGENT_SANDBOX_PLACE/summary" hard'
    ln -s "$PROJECT" "$HOME/alias"
    cd "$HOME/alias"
    works in_jail_sh 'echo written >by-alias'
    prints written cat "$PROJECT/by-alias"
    fails "No such file" in_jail cat "$HOME/secret"
}

@test "a project name with firejail syntax shows no more files" {
    local name
    mkdir -p "$HOME/odd/plain"
    for name in $'new\nline' $'new\nwhitelist ${HOME}' '${HOME}' 'a%b' 'a\b' 'include x' '..x' '-x' 'a=b' '~'; do
        mkdir -p "$HOME/odd/$name"
        cd "$HOME/odd/$name"
        echo secret >"$HOME/secret"
        run --separate-stderr in_jail sh -c 'touch here; cat "$HOME/secret"; ls "$HOME/odd" | grep plain'
        [[ $output != *secret* && $output != *plain* ]] || leak "more is shown with '$name'"
        if ((status == 125)); then
            [[ $stderr == *"firejail can't be told of"* && ! -e here ]] || report "refused otherwise: '$name'"
        else
            [[ -e here ]] || report "not written: '$name'"
        fi
    done
}

@test "the session's directory can't be changed, and is removed at the end" {
    local place
    works in_jail_sh 'echo "$AGENT_SANDBOX_PLACE"'
    place=$output
    [[ $place == /tmp/agent-sandbox-* && ! -e $place ]]
    fails "Read-only file system" in_jail_sh 'rm "$AGENT_SANDBOX_PLACE/stubs/mail"'
    fails "Read-only file system" in_jail_sh 'ln -sf /bin/true "$AGENT_SANDBOX_PLACE/stubs/mail"'
    fails "Read-only file system" in_jail_sh 'echo >"$AGENT_SANDBOX_PLACE/new"'
    fails "Read-only file system" in_jail_sh 'chmod 0777 "$AGENT_SANDBOX_PLACE"'
    fails "" in_jail_sh 'mv "$AGENT_SANDBOX_PLACE" /tmp/aside'
    works in_jail_sh 'cd "$AGENT_SANDBOX_PLACE/tmp" && echo x >file && mkfifo pipe && ln -s /etc link && mkdir -p a/b && chmod 0 a .'
    prints "" places
}

@test "another session's directory does not exist" {
    start_jail 'echo secret >"$AGENT_SANDBOX_PLACE/tmp/file"; touch ready; sleep 701'
    local other
    other=$(places)
    works grep -rq secret "$other/"
    fails "No such file" in_jail ls "$other"
    prints 1 in_jail_sh 'ls -A /tmp | wc -l'
}

# ---- Services --------------------------------------------------------------------------------------------------------

@test "no Unix socket of the host can be reached, by path or abstract name" {
    local place mode
    for place in "$HOME/sbx.sock" "/tmp/sbx-$SBX_TAG.sock" "/var/tmp/sbx-$SBX_TAG.sock" "/dev/shm/sbx-$SBX_TAG.sock" "@sbx-$SBX_TAG"; do
        start_listener "$place"
        for mode in isolated filtered; do
            JAIL=(--backend firejail --network "$mode")
            works "${CONNECT[@]}" "$place"
            fails "connect: " in_jail "${CONNECT[@]}" "$place"
        done
        [[ $place == @* ]] || rm -f "$place"
    done
    start_listener "@sbx-open-$SBX_TAG"
    JAIL=(--backend firejail --network open)
    fails "connect: " in_jail "${CONNECT[@]}" "@sbx-open-$SBX_TAG"
}

@test "an abstract name of the host can't be bound; a file in the project can" {
    local type
    JAIL=(--backend firejail --network open)
    for type in 1 2; do
        prints bound "${BIND[@]}" "@sbx-$SBX_TAG" "$type"
        fails "bind: Permission denied" in_jail "${BIND[@]}" "@sbx-$SBX_TAG" "$type"
        prints bound in_jail "${BIND[@]}" "its.sock" "$type"
        rm its.sock
    done
    grep -hF '"kind":"socket"' "$HOME"/.local/state/agent-sandbox/sessions/*.jsonl | grep -qF "\"name\":\"@sbx-$SBX_TAG\"" || report "not recorded"
    refused 125 "can't be traced" in_jail_traced
}
in_jail_traced() { "$SBX_PROGRAM" --quiet --backend firejail --network open --trace-commands -- true; }

@test "a mailer is a stub by its name, and closed by its path" {
    [[ $(msmtp --version) == *"msmtp version"* ]]
    run -77 in_jail msmtp --version
    [[ $output == *"policy, not a fault"* ]] || report "should say that it is policy"
    local file
    for file in /usr/bin/msmtp /usr/sbin/sendmail /usr/lib/sendmail; do
        works test -x "$file"
        fails "Permission denied" in_jail_sh '"$1" --version' "$file"
    done
    fails "Permission denied" in_jail cp /usr/bin/msmtp copy
    fails "Permission denied" in_jail_sh '"$1" /usr/bin/msmtp --version || exit 1' "$(native_loader)"
}

@test "Slurm's commands are closed by their path, and so are its key and configuration" {
    local file
    for file in /usr/bin/sbatch /usr/bin/squeue /usr/bin/scontrol; do
        works test -x "$file"
        fails "Permission denied" in_jail_sh '"$1" --version' "$file"
        fails "Permission denied" in_jail cp "$file" copy
    done
    fails "Permission denied" in_jail ls /etc/slurm
    fails "Permission denied" in_jail ls /etc/munge
    fails "No such file" in_jail ls /run/munge
}

# ---- The kernel ------------------------------------------------------------------------------------------------------

@test "socket types that the doorman does not check can't be made" {
    filtered
    # UDP, TCP over several paths, UDP by IPv6; then types that an ordinary user can open outside only on some machines.
    local kind call=("${CALL[@]}" socket)
    for kind in "2 2 0" "2 1 262" "10 2 0"; do
        prints ok "${call[@]}" $kind
        prints EACCES in_jail "${call[@]}" $kind
    done
    for kind in "2 3 1" "17 3 0" "40 1 0" "38 5 0" "43 1 0" "2 5 132"; do
        run in_jail "${call[@]}" $kind
        [[ $output != ok ]] || leak "could be had: $kind"
    done
}

@test "kernel settings can't be changed" {
    fails "" in_jail_sh 'echo x >/proc/sys/kernel/core_pattern'
    fails "" in_jail_sh 'echo x >/proc/sys/kernel/hostname'
    fails "" in_jail_sh 'echo h >/proc/sysrq-trigger'
    fails "Permission denied" in_jail ls /sys/fs
    fails "Permission denied" in_jail cat /proc/keys
    works cat /proc/keys
}
