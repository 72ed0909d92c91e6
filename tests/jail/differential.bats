#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# One plan, two backends: a jail of native shows and permits the same as a jail of bubblewrap. The walker (tests/differential)
# reports everything from inside. One table there (compare.cc) lists the permitted differences.

load helper
load differential

setup() { start_differential_test; }
teardown() { end_test; }

# ---- The comparison finds differences --------------------------------------------------------------------------------

@test "control: two jails of one backend are equal" {
    walk bwrap first
    walk bwrap second
    no_difference first second
    # And the reports are not nearly empty.
    (($(wc -l <"$REPORTS/first") > 1500)) || { wc -l "$REPORTS/first" >&2; return 1; }
}

@test "control: each small change of the jail is found in its line of the report" {
    echo one >file
    walk bwrap first
    local row subject options change rows
    mapfile -t rows <<'TABLE'
^path .*/file: .* hash|--hide @/file|
^mount .*/file |--hide @/file|
^opens-1 .*/file: E|--ro @/file|
^makes-file .*/project: EROFS|--read-only|
^namespace net: the host|--network open|
^variable WALKER_VARIABLE=x|--env WALKER_VARIABLE=x|
^content .*limits: .*Max open files +77 |--limit open_files=77|
^path .*/file: file 0600||chmod 600 file
^path .*/new: file||touch new
^asked priority: ||WALK=(nice -n 5)
^asked umask: 23 ||umask 027
TABLE
    for row in "${rows[@]}"; do
        IFS='|' read -r subject options change <<<"$row"
        JAIL=()
        [[ -z $options ]] || read -ra JAIL <<<"${options//@/$PROJECT}"
        eval "$change"
        walk bwrap second
        finds_difference "$subject" first second
    done
}

# ---- Equal -----------------------------------------------------------------------------------------------------------

@test "equal: every network mode" {
    local mode
    for mode in filtered proxied isolated open; do
        same_view "$mode" --network "$mode"
    done
}

@test "equal: every kind of home directory" {
    plant_home
    local access
    for access in tmpwrite restricted read write; do
        same_view "$access" --home "$access"
    done
}

@test "equal: the switches of isolation" {
    local setting
    TOLD=(shallow=/tmp shallow=/var/tmp shallow=/dev/shm)
    for setting in private_tmp=false private_ipc=false filter_passwd=false allow_nested_namespaces=true allow_ptrace=false \
        allow_perf=true allow_keyrings=true; do
        printf '[isolation]\n%s\n' "${setting/=/ = }" >"$HOME/.config/agent-sandbox/config.toml"
        same_view "$setting"
    done
}

@test "equal: limits" {
    same_view limits --limit open_files=100 --limit file_size=10M --limit processes=500 --limit memory=2G --limit wall_time=5m --limit idle_time=4m
}

@test "equal: masked, protected and hidden files, those that are missing included" {
    mkdir -p .vscode .claude sub/.git private
    echo secret | tee .env sub/.env id_rsa private/file >/dev/null
    echo '{}' >.vscode/settings.json
    echo text >AGENTS.md
    same_view protected --hide "$PROJECT/private" --hide "$PROJECT/AGENTS.md"
}

@test "equal: a git project with a submodule and a worktree" {
    make_repository "$HOME/other"
    git -C "$HOME/other" commit -q --allow-empty -m one
    make_repository "$PROJECT"
    git -c protocol.file.allow=always submodule --quiet add "$HOME/other" module
    git commit -q -m module
    same_view submodule
    git worktree add -q "$HOME/tree"
    cd "$HOME/tree"
    same_view worktree
}

@test "equal: a project that can't be written" {
    echo text >file
    make_repository "$PROJECT"
    same_view read-only --read-only
}

@test "equal: projects with unusual names, and a project that is reached through a link" {
    local name
    for name in "two words" $'a\nline' "smörgås ☃" "back\\slash" "quote'\"" "-option" "$(printf 'x%.0s' {1..200})"; do
        mkdir -p "$HOME/$name/.git"
        echo secret >"$HOME/$name/.env"
        cd "$HOME/$name"
        same_view "name"
    done
    ln -s project "$HOME/link"
    cd "$HOME/link"
    same_view link
    cd "$PROJECT"
    same_view by-option --project "$HOME/link"
}

@test "equal: more mounts, in each other" {
    mkdir -p "$HOME/data/inner/deep" "$HOME/data/other"
    echo text | tee "$HOME/data/file" "$HOME/data/inner/file" "$HOME/data/inner/deep/file" >/dev/null
    ln -s data "$HOME/link"
    same_view read --ro "$HOME/data" --hide "$HOME/data/inner" --rw "$HOME/data/inner/deep"
    same_view write --rw "$HOME/data" --ro "$HOME/data/inner" --hide "$HOME/data/inner/deep"
    same_view links --ro "$HOME/link/inner" --rw "$HOME/link/other" --ro "$HOME/data/file"
    same_view system --hide /usr/lib/os-release --hide /usr/share
}

@test "equal: sockets of the host and devices" {
    start_listener "$HOME/greeting.sock"
    same_view socket --socket "$HOME/greeting.sock"
    same_view device --device /dev/full
    same_view gpu --gpu off
}

@test "equal: with an agent's profile and its state" {
    mkdir -p "$HOME/.claude/projects" "$HOME/bin"
    echo '{}' | tee "$HOME/.claude/settings.json" "$HOME/.claude.json" "$HOME/.claude/.credentials.json" >/dev/null
    same_view claude --agent claude
    printf '[agents]\nper_project_state = true\n' >"$HOME/.config/agent-sandbox/config.toml"
    same_view claude-apart --agent claude
    same_view codex --agent codex
}

@test "equal: more descriptors, a closed input, other limits, an ignored signal, another mask" {
    echo text >"$HOME/input"
    exec 5<"$HOME/input" 6>>"$HOME/output" 7<>"$HOME/output" 8</dev/null
    same_view descriptors
    exec 5<&- 6>&- 7>&- 8<&-
    WALK=(bash -c 'exec "$@" <&-' bash)
    same_view closed
    WALK=(bash -c 'ulimit -Sn 200; ulimit -c 0; ulimit -St 500; umask 077; exec "$@"' bash)
    same_view limits
    WALK=(env --ignore-signal=INT,HUP,CHLD,PIPE)
    same_view ignored
    WALK=(nice -n 5)
    same_view nice
    WALK=(setsid -w)
    same_view session
}

@test "equal: on a terminal" {
    WALK=(on_terminal)
    same_view terminal
    grep -q '^descriptor 0: .* terminal$' "$REPORTS/terminal.second"
}

@test "equal: a jail in a jail" {
    printf '[isolation]\nallow_nested_namespaces = true\n' >"$HOME/.config/agent-sandbox/config.toml"
    NESTED=("$SBX_PROGRAM" --quiet --network isolated --slurm off --)
    # The numbers of the inner jail's helper processes depend on a race between them.
    PASSING='^(process|seen|status (NS|Pid|Tgid|PPid|SigQ))'
    same_view nested --network isolated
    # The control: the report is of the inner jail.
    NESTED=()
    walk "${BACKENDS[1]}" outer
    finds_difference '^status Seccomp_filters' nested.second outer
}

# ---- Properties of both backends -------------------------------------------------------------------------------------

@test "the summary and the notice inside differ only in the backend's name" {
    local file backend
    # The first session makes ~/.local/state, in which some names are hidden where it exists.
    works in_jail true
    for file in summary notice.md; do
        for backend in bwrap native; do
            works "$SBX_PROGRAM" --quiet --backend "$backend" --agent claude -- cat "/run/agent-sandbox/$file"
            [[ $output == *?* ]]
            sed 's/native/bwrap/g' <<<"$output" >"$REPORTS/$backend"
        done
        diff "$REPORTS/bwrap" "$REPORTS/native" >&2
    done
}

@test "the launcher's arguments and variables are not visible inside, and no mount propagates to the host" {
    local secret=walker-secret-$RANDOM backend
    mkdir "$HOME/$secret"
    for backend in bwrap native; do
        WALKER_SECRET=$secret works "$SBX_PROGRAM" --quiet --backend "$backend" --ro "$HOME/$secret" -- \
            sh -c 'cat /proc/1/cmdline /proc/1/environ 2>/dev/null | tr "\0" "\n"'
        [[ $output != *"$secret"* && $output != *--backend* ]] || leak "arguments of the launcher are seen"
        walk "$backend" shared
        ! grep '^propagation .*shared' "$REPORTS/shared" || return 1
    done
}
