#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A machine that lacks a resource: descriptors, processes, memory, space for files; a project that vanishes, a clock that jumps,
# settings that change while the program reads them. A launch works in a complete jail or fails with one line. Closed paths stay
# closed, and nothing is left behind.

load helper
load resource_faults

setup_file() { export BATS_TEST_TIMEOUT=1800; }
setup() { start_resource_test; }
teardown() { end_test; }

# ---- Limits of the caller --------------------------------------------------------------------------------------------

@test "with any number of descriptors the jail is complete or does not start" {
    local limit
    for limit in $(sampled 3 {0..40}) 48 64 96 128 256; do
        launch prlimit --nofile="$limit"
        expect_whole_or_nothing "$limit descriptors"
    done
    for limit in {3..9} 256; do
        forget_findings
        launch prlimit --nofile="$limit"
        expect_whole_or_nothing "$limit descriptors, nothing known"
    done
    expect_both_ways
    expect_nothing_left
}

# The limit counts all processes of the user, including the test's own.
@test "with any number of processes the jail is complete or does not start" {
    local others more
    others=$(ps -o nlwp= -u "$SBX_USER" | awk '{ sum += $1 } END { print sum }')
    for more in -2 $(sampled 3 {-1..14}); do
        launch prlimit --nproc=$((others + more))
        expect_whole_or_nothing "$more processes more"
    done
    launch prlimit --nproc=$((others + 100))
    expect_whole_or_nothing "100 processes more"
    expect_both_ways
    expect_nothing_left
}

# With less memory than its own size neither the kernel nor the C library can start the program: the test skips those amounts.
@test "with any amount of memory the jail is complete or does not start" {
    local kibibytes=1024 least
    can_start() { "$@" --version >/dev/null || (($? == 125)); }
    { until can_start prlimit --as=$((kibibytes << 10)) "$SBX_PROGRAM"; do kibibytes=$((kibibytes + 256)); done; } 2>/dev/null
    for ((least = kibibytes + 256, kibibytes = least; kibibytes < least + 3000; kibibytes += 200)); do
        launch prlimit --as=$((kibibytes << 10))
        expect_whole_or_nothing "$kibibytes KiB"
    done
    launch prlimit --as=$((1 << 30))
    expect_whole_or_nothing "1 GiB"
    expect_both_ways
    expect_nothing_left
}

@test "limits of file size, locked memory, stack, signals and queues uncover nothing" {
    local limit
    for limit in $(sampled 3 --fsize={0,1,100,1000,10000,100000} --memlock=0 --stack={256,1024,8192}000 --sigpending=0 --msgqueue=0) --core=0; do
        launch prlimit "$limit"
        expect_whole_or_nothing "$limit"
        forget_findings
        launch prlimit "$limit"
        expect_whole_or_nothing "$limit, nothing known"
    done
    ((WORKED > 0))
    expect_nothing_left
}

@test "closed input, output and errors: no other file takes their numbers" {
    local closed
    local -A redirections=([i]='<&-' [o]='>&-' [e]='2>&-')
    for closed in "" i o e "i o" "i e" "o e" "i o e"; do
        local text=
        for each in $closed; do text+=" ${redirections[$each]}"; done
        STATUS=0
        eval '"$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c '\''echo out; echo error >&2; cat; cat .env >seen; : >ran'\'' \
            3>&- </dev/null >"$OUT" 2>"$ERRORS"'"$text" || STATUS=$?
        [[ $STATUS == 0 && -e ran && ! -s seen ]] || complain "closed: $closed" "should work"
        rm ran seen
        [[ $closed == *o* || $(cat "$OUT") == out ]] || complain "closed: $closed" "the output should come"
        [[ $closed == *e* || $(cat "$ERRORS") == error ]] || complain "closed: $closed" "the errors should come"
    done
    expect_nothing_left
}

# ---- Lookups that fail -----------------------------------------------------------------------------------------------

# strace traces only the supervisor: its decisions depend on these calls.
@test "a file that can't be opened for lack of descriptors is not treated as absent" {
    each_fails openat EMFILE 40
    forget_findings
    each_fails openat ENFILE 20
    expect_both_ways
    expect_nothing_left
}

@test "a file that can't be read for lack of memory or a disk error is not treated as absent" {
    each_fails getdents64 EIO 10
    each_fails getdents64 ENOMEM 5
    each_fails newfstatat ENOMEM 15
    # Newer architectures have only readlinkat.
    if [[ $(uname -m) == x86_64 ]]; then each_fails readlink ENOMEM 5; else each_fails readlinkat ENOMEM 5; fi
    each_fails read EIO 15
    ((FAILED > 0))
    expect_nothing_left
}

# ---- A project that vanishes -----------------------------------------------------------------------------------------

@test "a current directory that was removed: one line, and nothing is made in its place" {
    mkdir "$HOME/gone" && cd "$HOME/gone" && rmdir "$HOME/gone"
    refused 125 "current directory" in_jail true
    cd "$PROJECT"
    refused 125 "$HOME/gone" "$SBX_PROGRAM" --quiet --project "$HOME/gone" -- true
    [[ ! -e $HOME/gone ]]
    expect_nothing_left
}

@test "a project that disappears repeatedly while sessions start: each session has all of it or does not start" {
    local place=$HOME/place round
    mkdir -p "$place/p/sub"
    echo "a secret" | tee "$place/p/.env" "$place/p/sub/.env" >/dev/null
    JAIL=(--network isolated --slurm off --project "$place/p")
    PROBE=(sh -c 'cat .env sub/.env 2>/dev/null; : >made && echo ran')
    (
        while [[ ! -e $HOME/stop ]]; do
            mv -T "$place/p" "$place/away" && sleep 0.01 && mv -T "$place/away" "$place/p" && sleep 0.01 || exit 1
        done
    ) 3>&- &
    local mover=$!
    CHILDREN+=("$mover")
    for round in {1..30}; do
        launch env -C /
        # The project may have moved after the command started in it.
        [[ $STATUS != 0 || $(cat "$OUT") == ran ]] || complain "round $round" "half of a project"
        expect_whole_or_nothing "round $round"
    done
    touch "$HOME/stop"
    wait "$mover"
    # A session that ends beside the next one leaves its placeholders to it.
    wait_until no_process_left
    # The last session may have left placeholders, also above these names.
    [[ -s $place/p/.env && -s $place/p/sub/.env && ! -e $place/away ]] || { find "$place" >&2; return 1; }
    rm -f "$place/p/made"
    PROBE=(sh -c 'cat .env sub/.env; echo ran')
    launch env -C /
    expect_whole_or_nothing "at rest"
    [[ $STATUS == 0 && $(ls -A "$place" "$place/p") == "$place:"$'\np\n\n'"$place/p:"$'\n.env\nsub' ]] || { ls -AR "$place" >&2; return 1; }
}

@test "a project that is moved while a session runs: what is written stays in it, and what takes its place is not seen" {
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; echo late >late; ls -A >seen; cat new 2>&1; :'
    mv "$PROJECT" "$HOME/moved"
    mkdir "$PROJECT" "$HOME/other"
    echo new | tee "$PROJECT/new" "$HOME/other/new" >/dev/null
    touch "$HOME/moved/go"
    end_of_jail
    wait_until no_process_left
    [[ $STATUS == 0 && $(cat "$HOME/moved/late") == late ]]
    [[ $(ls -A "$PROJECT") == new ]] || { ls -A "$PROJECT" >&2; return 1; }
    ! grep -q '^new$' "$HOME/moved/seen" "$BATS_TEST_TMPDIR/jail.out" || leak "the jail sees what took its place"
    # No placeholder of ours is left in it.
    [[ $(ls -A "$HOME/moved" | tr '\n' ' ') == ".env go late private ready seen sub work " ]] || { ls -lA "$HOME/moved" >&2; return 1; }
}

# The path of our placeholder now leads elsewhere: the entry with its name there belongs to the user.
@test "a project that is replaced by a link while a session runs: nothing is removed where it leads" {
    local held
    make_repository "$PROJECT"
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done'
    held=$(find . -mindepth 1 -maxdepth 1 -type d -empty)
    [[ -n $held ]] || { echo "control: no placeholder in the project" >&2; ls -lA >&2; return 1; }
    mkdir "$HOME/other"
    (cd "$HOME/other" && xargs mkdir) <<<"$held"
    local there
    there=$(ls -A "$HOME/other")
    mv "$PROJECT" "$HOME/moved"
    ln -s other "$PROJECT"
    touch "$HOME/moved/go"
    end_of_jail
    [[ $STATUS == 0 && $(ls -A "$HOME/other") == "$there" ]] || { ls -lA "$HOME/other" >&2; return 1; }
    wait_until no_process_left
}

@test "a project that is removed while a session runs: the session ends as its command does, and nothing comes back" {
    start_jail 'touch ready; until [ ! -e work ]; do sleep 0.02; done; sleep 0.1; echo late >late; exit 7'
    cd /
    # A placeholder comes back after 20 ms, and a busy machine may stop rm for longer.
    removed() { rm -rf "$PROJECT" 2>/dev/null; }
    wait_until removed
    end_of_jail
    [[ $STATUS == 7 ]] || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    wait_until no_process_left
    [[ -z $(find "$PROJECT" -mindepth 1 2>/dev/null) ]] || { find "$PROJECT" >&2; return 1; }
}

# ---- A clock that jumps ----------------------------------------------------------------------------------------------

# Sets all times in the state directory to DATE: for the next launch, the clock has jumped by the difference.
written_at() { # DATE
    local seconds
    seconds=$(date -ud "$1" +%s)
    wait_until no_process_left
    sed -Ei "s/^@[0-9]+ /@$seconds /" "$STATE/known-names"
    find "$HOME" -exec touch -h -d "@$seconds" {} +
}

@test "the clock jumps by decades between two sessions: stored findings are checked again, no record is lost" {
    local date STATE=$HOME/.local/state/agent-sandbox records
    for date in 1970-01-02 1999-12-31 2038-01-20 2100-01-01; do
        records=$(ls "$STATE/sessions" | grep -c jsonl)
        written_at "$date"
        # The search must find the file again, because the stored findings are from another time.
        mkdir -p "new-$date" && echo "a secret" >"new-$date/.env"
        fails "No such file or directory" in_jail sh -c "cat private/file"
        prints "" in_jail cat "new-$date/.env"
        launch
        expect_whole_or_nothing "$date"
        works "$SBX_PROGRAM" log last
        works "$SBX_PROGRAM" ps
        works "$SBX_PROGRAM" digest
        (($(ls "$STATE/sessions" | grep -c jsonl) == records + 3)) || { ls -l "$STATE/sessions" >&2; return 1; }
        # The new findings have the present time.
        [[ $(sed -En 's/^@([0-9]+) .*/\1/p' "$STATE/known-names" | sort -n | tail -n 1) -gt $(($(date +%s) - 600)) ]] || { head -n 3 "$STATE/known-names" >&2; return 1; }
        rm -r "new-$date"
    done
    ((WORKED == 4))
}

@test "settings with a time in the future are read as usual" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[mounts]\nhidden = ["%s"]\n' "$PROJECT/sub" >"$HOME/.config/agent-sandbox/config.toml"
    touch -d 2100-01-01 "$HOME/.config/agent-sandbox/config.toml"
    works ls sub
    fails "No such file or directory" in_jail ls sub/deep
    touch -d 1970-01-02 "$HOME/.config/agent-sandbox/config.toml"
    fails "No such file or directory" in_jail ls sub/deep
}

# Its seconds since the boot differ from the host's by three years.
@test "in another time namespace limits of time apply, and sessions are found" {
    local around=(unshare --user --map-current-user --time --monotonic=100000000 --boottime=100000000 --fork)
    [[ $("${around[@]}" awk '{ print int($1) }' /proc/uptime) -ge 100000000 ]]
    launch "${around[@]}"
    expect_whole_or_nothing "a clock of its own"
    ((WORKED == 1))
    run "${around[@]}" "$SBX_PROGRAM" --quiet "${JAIL[@]}" --limit wall_time=1s -- sleep 100
    ((status == 124)) || report "wall time should end it"
    expect_nothing_left
}

# ---- Settings that change while they are read ------------------------------------------------------------------------

# Two contents that never mix: each hides two directories of its own, and both hide `closed`.
settings() { # NAME
    printf '[mounts]\nhidden = ["%s",\n' "$PROJECT/${1}1"
    printf '    # %s\n' {1..500}
    printf '    "%s", "%s"]\n' "$PROJECT/${1}2" "$PROJECT/closed"
}

start_settings_test() {
    mkdir -p a1 a2 b1 b2 closed "$HOME/.config/agent-sandbox"
    touch {a1,a2,b1,b2,closed}/file
    SETTINGS=$HOME/.config/agent-sandbox/config.toml
    settings a >"$HOME/a.toml"
    # Longer, so that half of it differs from the whole.
    { settings b; printf '# %s\n' {1..500}; } >"$HOME/b.toml"
    PROBE=(sh -c 'ls -d [ab][12]/file closed/file 2>/dev/null | tr "\n" " "')
    [[ $("${PROBE[@]}") == "a1/file a2/file b1/file b2/file closed/file " ]]
}

# One of the two settings, or one line of error.
expect_one_of_both() {
    case $STATUS:$(cat "$OUT") in
        "0:b1/file b2/file " | "0:a1/file a2/file ") ;;
        125:)
            [[ $(cat "$ERRORS") == "agent-sandbox: "*"config.toml"* && $(wc -l <"$ERRORS") == 1 ]] ||
                complain "$1" "one line should say why"
            ;;
        *) complain "$1" "neither the one nor the other" ;;
    esac
}

@test "settings that are replaced again and again: a launch has the old ones or the new ones" {
    local round name
    start_settings_test
    cp "$HOME/a.toml" "$SETTINGS"
    (
        while [[ ! -e $HOME/stop ]]; do
            for name in b a; do cp "$HOME/$name.toml" "$SETTINGS.new" && mv "$SETTINGS.new" "$SETTINGS" && sleep 0.03; done
        done
    ) 3>&- &
    local writer=$!
    CHILDREN+=("$writer")
    for round in {1..20}; do
        launch
        expect_one_of_both "round $round"
    done
    touch "$HOME/stop"
    wait "$writer"
    for name in a b; do
        cp "$HOME/$name.toml" "$SETTINGS"
        launch
        expect_one_of_both "$name, at rest"
        [[ $STATUS == 0 && $(cat "$OUT") != *"$name"* ]] || complain "$name" "a file that has just been written should count"
    done
}

# The program has read the file's size, and the content changes before it reads the content: the first read returns only a part.
@test "settings that are written in place while they are read: a launch has the old ones or the new ones" {
    local file=config.toml
    start_settings_test
    cp "$HOME/a.toml" "$SETTINGS"
    touch -d '1 hour ago' "$SETTINGS"
    mkfifo "$HOME/reading"
    strace -qq -o "$HOME/reading" -P "$SETTINGS" -e trace=read -e inject=read:delay_enter=1500000:when=1 \
        "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}" >"$OUT" 2>"$ERRORS" </dev/null 3>&- &
    local reader=$!
    CHILDREN+=("$reader")
    # strace opens its output at its start, and the program opens the file soon after.
    exec 5<"$HOME/reading"
    wait_until is_open "$SETTINGS"
    cat "$HOME/b.toml" >"$SETTINGS"
    STATUS=0
    wait "$reader" || STATUS=$?
    # The file changed in the middle of the read.
    grep -q "^read(.*(DELAYED)" <&5
    exec 5<&-
    expect_one_of_both "in place"
    cmp "$HOME/b.toml" "$SETTINGS"
    launch
    [[ $(cat "$OUT") == "a1/file a2/file " ]] || complain "at rest" "the new ones should count"
}
is_open() { find /proc/[0-9]*/fd -lname "$1" 2>/dev/null | grep -q .; }

# Replaces a file of the user; the first argument is the path.
fifo() { mkfifo "$1"; }
link_to_endless() { ln -s /dev/zero "$1"; }
link_to_itself() { ln -s "${1##*/}" "$1"; }
link_to_nowhere() { ln -s /nowhere "$1"; }
huge() { head -c 2000000 /dev/zero | tr '\0' '#' >"$1"; }
sparse() { truncate -s 1T "$1"; }
half() { printf '[mounts]\nhidden = ["/srv' >"$1"; }

@test "a FIFO, a bad link or a broken file in place of settings is refused at once with its name" {
    local file kind
    mkdir -p "$HOME/.config/agent-sandbox/conf.d"
    for file in "$HOME/.config/agent-sandbox/config.toml" "$HOME/.config/agent-sandbox/conf.d/10.toml" "$PROJECT/.agent-sandbox.toml"; do
        for kind in fifo link_to_endless link_to_itself link_to_nowhere huge sparse half; do
            "$kind" "$file"
            refused 125 "$file" timeout 20 "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- touch ran
            rm "$file"
            [[ ! -e ran ]] || leak "the command ran"
        done
    done
    works in_jail true
}
