# SPDX-License-Identifier: MIT
# srun inside a jail behaves as srun does outside: streams, files, signals, exit codes, terminals.

load compare
setup() { start_slurm_test; }
teardown() {
    [[ -z ${SERVER:-} ]] || tmux -L "$SERVER" kill-server || true
    end_slurm_test
}

SIDES=(outside inside)

# ---- Output and exit codes -------------------------------------------------------------------------------------------

@test "output, complaints and exit codes are those of srun" {
    echo data >data
    as_outside srun hostname
    as_outside srun -Q sh -c 'echo out; echo error >&2; exit 3'
    as_outside srun sh -c 'exit 3'
    as_outside srun sh -c 'kill -9 $$'
    as_outside srun sh -c 'kill -TERM $$'
    as_outside srun sh -c 'kill -SEGV $$'
    as_outside srun -n2 sh -c 'exit $SLURM_PROCID'
    as_outside srun no-such-command
    as_outside srun ./data
    as_outside srun "$PROJECT"
    as_outside srun --no-such-option true
    as_outside srun --partition=missing true
    as_outside srun --nodelist=node9 true
    as_outside srun -n
    as_outside srun
    as_outside srun --version
    as_outside srun --usage
    as_outside srun --test-only hostname
}

@test "tasks, nodes and labels are those of srun" {
    local line expected
    for line in "-n4 -N2 -l" "-N3 --label" "-n2 -c2" "-wnode2" "-N2 -n4 -m cyclic -l" "-N2 --ntasks-per-node=2 -l" "-xnode0,node1 -n1" "-lN2 -n3"; do
        expected=$(outside srun $line hostname | sort)
        # srun would skip a node that is not yet free again.
        wait_until is_queue_empty
        same_text "$expected" "$(inside srun $line hostname | sort)" "srun $line"
        wait_until is_queue_empty
    done
}

@test "a task has the environment of the agent, its own numbers and its directory" {
    mkdir sub
    make_script show.sh 'env -0 | sort -z | tr "\n\0" "~\n" >"../env.$1.$SLURM_PROCID"; pwd >"../pwd.$1.$SLURM_PROCID"'
    local side number variables=(AGENT_VALUE=$'two\nlines $HOME')
    cd sub
    JAIL=(--project "$PROJECT")
    works outside env "${variables[@]}" srun -N2 -w "node[0-1]" -n3 ../show.sh outside
    works inside "${variables[@]}" srun -N2 -w "node[0-1]" -n3 ../show.sh inside
    cd ..
    local own='^SLURM_(CONF|TASK_PID|STEP_LAUNCHER_PORT|SRUN_COMM_PORT)='
    for number in 0 1 2; do
        prints "$PROJECT/sub" cat "pwd.inside.$number"
        works grep -Fx 'AGENT_VALUE=two~lines $HOME' "env.inside.$number"
        same_text "$(grep ^SLURM "env.outside.$number" | grep -vE "$own" | sed -E 's/^(SLURM_JOB_?ID)=.*/\1/')" \
            "$(grep ^SLURM "env.inside.$number" | grep -vE "$own" | sed -E 's/^(SLURM_JOB_?ID)=.*/\1/')" "Slurm's variables of task $number"
    done
}

@test "a program is found where srun finds it, under the same name" {
    mkdir sub bin
    local name
    for name in here.sh sub/below.sh bin/found.sh; do make_script "$name" 'echo "$0 in $(pwd)"'; done
    local script='PATH=bin:$PATH; for name in ./here.sh here.sh sub/below.sh ../project/here.sh found.sh "$PWD/here.sh" ./missing sub/missing; do
        srun -Q "$name" 2>/dev/null || echo $?; done; srun -Q -D sub ./below.sh'
    as_outside sh -c "$script"
    [[ ${#lines[@]} == 9 ]] || report "nine calls"
}

@test "--export chooses among the variables of the agent" {
    cat >show.sh <<<$'#!/bin/sh\necho "$ONE|$TWO|$THREE|${SLURM_JOB_ID:+job}"'
    chmod +x show.sh
    local script='export ONE=1 TWO=2
        srun ./show.sh; srun --export=NONE ./show.sh; srun --export=ONE,THREE=3 ./show.sh; srun --export=ALL,THREE=3 ./show.sh
        SLURM_EXPORT_ENV=TWO srun ./show.sh'
    as_outside sh -c "$script"
    [[ ${#lines[@]} == 5 && ${lines[0]} == "1|2||job" ]] || report "five steps"
}

@test "a step starts in the directory that is asked for" {
    mkdir sub
    as_outside srun -D sub pwd
    as_outside srun --chdir="$PROJECT/sub" pwd
    [[ $output == "$PROJECT/sub" ]] || report "the directory"
}

# ---- Streams ---------------------------------------------------------------------------------------------------------

@test "a step streams both ways while other commands work" {
    mkfifo to from
    inside srun --quiet cat <to >from 3>&- &
    CHILDREN+=($!)
    exec 4>to 5<from
    local line
    for line in one two; do
        echo "$line" >&4
        read -r -t 20 -u 5 REPLY
        [[ $REPLY == "$line" ]]
        prints "cat RUNNING" inside squeue --noheader --format="%j %T"
    done
    exec 4>&- 5<&-
    wait "${CHILDREN[0]}"
}

@test "input and output of any size and any byte pass unchanged" {
    head -c 5000000 /dev/urandom >data
    inside srun --quiet cat <data >copy
    works cmp data copy
    prints "$(sha256sum <data)" inside srun --quiet sha256sum - <data
    # A reader that is slow, and a reader that exits early.
    prints 5000000 inside sh -c 'srun --quiet cat data | { sleep 0.5; wc -c; }'
    as_outside sh -c 'srun --quiet cat data | head -c 10 | wc -c'
}

@test "input goes to the tasks that srun gives it to" {
    printf 'a\nb\n' >input
    local line
    for line in "-n2" "-n2 -i0" "-n2 --input=none" "-n1 -i input" "-n2 -i 1"; do
        same_text "$(srun -l $line cat <input | sort)" "$(inside srun -l $line cat <input | sort)" "srun $line"
    done
}

@test "srun in a loop reads the loop's input, or leaves it" {
    printf 'a\nb\nc\n' >input
    as_outside sh -c 'while read -r line; do echo "$line"; srun -Q cat; done <input'
    as_outside sh -c 'while read -r line; do echo "$line"; srun -Q -w node1 hostname </dev/null; done <input'
    as_outside sh -c 'while read -r line; do echo "$line"; srun -Q -i none -w node1 hostname; done <input'
    [[ ${#lines[@]} == 6 ]] || report "three turns"
}

@test "output goes to the files that are asked for" {
    echo "from a file" >input
    make_script task.sh 'echo "out $SLURM_PROCID"; echo "error $SLURM_PROCID" >&2; cat'
    local script='srun -Q -o one task.sh; srun -Q -n2 -o many task.sh; srun -Q -n2 -o task-%t task.sh; srun -Q -o out -e err task.sh
        srun -Q -e only-err task.sh >only-out; srun -Q -n2 -o none -e err-%t task.sh; srun -Q -i input -o copied task.sh
        srun -Q -w node0,node1 -N2 -n2 -o node-%N-%n-%4t-%u-%x-%s task.sh; srun -Q -o 0 -n2 task.sh >of-first; srun -Q -o all task.sh >all-out
        echo old >appended; echo old >truncated; srun -Q --open-mode=append -o appended task.sh; srun -Q -o truncated task.sh
        srun -Q -J named -o dir/%x task.sh; srun -Q -l -n2 -o labelled task.sh; SLURM_STDOUTMODE=variable srun -Q task.sh'
    local side
    for side in "${SIDES[@]}"; do
        mkdir -p "$side/dir"
        cp task.sh input "$side"
        (cd "$side" && JAIL=(--project "$PROJECT") && "$side" env PATH=.:"$PATH" sh -c "$script" </dev/null 2>said >>said)
    done
    listing() { (cd "$1" && for file in *; do test -d "$file" || printf '%s: %s\n' "$file" "$(sort "$file" | xargs)"; done); (cd "$1/dir" && cat ./*); }
    same_text "$(listing outside)" "$(listing inside)" "the files"
}

@test "a file that can't be opened ends the step" {
    as_outside srun -Q -i missing cat
    as_outside srun -Q -o no/such/file true
    as_outside srun -Q -e no/such/file true
    as_outside srun -Q -o . true
}

# ---- Signals ---------------------------------------------------------------------------------------------------------

# A shell starts a background program with the keyboard's signals ignored; this one does not ignore them, as in a terminal.
ATTENTIVELY='attentive() { exec env --default-signal=HUP,INT,QUIT "$@"; }'
WAITING='await() { tries=0; until "$@"; do sleep 0.05; tries=$((tries + 1)); test $tries -lt 2000 || exit 99; done; }'

@test "Ctrl-C twice ends a step, once warns" {
    local side
    for side in "${SIDES[@]}"; do
        rm -f ready
        run "$side" sh -c "$ATTENTIVELY; $WAITING"'
            attentive srun sh -c "touch ready; exec sleep 60" 2>errors & process=$!
            await test -e ready
            kill -INT $process
            await grep -q "one more" errors
            kill -INT $process
            wait $process; echo "status $?"; cat errors'
        # This signal and the end of the step race to end the task.
        [[ $output == "status 13"[07]* && $output == *"sending Ctrl-C"* ]] || report "$side"
        wait_until is_queue_empty
    done
}

# signals_as_outside SIGNALS...: each argument is a list for one srun.
signals_as_outside() {
    make_script task.sh 'trap "echo usr1" USR1' 'trap "echo term; exit 4" TERM' 'touch ready' 'while :; do sleep 0.1; done'
    local side signal expected
    for signal; do
        for side in "${SIDES[@]}"; do
            rm -f ready output
            run "$side" sh -c "$ATTENTIVELY; $WAITING"'
                attentive srun -Q ./task.sh >output 2>&1 & process=$!
                await test -e ready
                for signal; do
                    kill -$signal $process
                    test $signal != USR1 || await grep -q usr1 output
                done
                wait $process; echo "status $?"; cat output' sh $signal
            [[ $output == *"status "* ]] || report "$side"
            # A task may receive a signal twice: from Slurm, which signals every process, and through the jail. By chance it also
            # hits the task's own sleep, and then the shell prints a line.
            output=$(plain <<<"$output" | grep -vE '^(User defined signal|Terminated)' | sort -u)
            [[ $side == inside ]] || expected=$output
        done
        same_text "$expected" "$output" "after $signal"
        wait_until is_queue_empty
    done
}

@test "SIGHUP to srun does what it does outside" { signals_as_outside HUP; }

@test "SIGTERM and SIGUSR1 to srun reach its tasks" { signals_as_outside "USR1 TERM" TERM; }

@test "a bad exit of one task ends the others" {
    as_outside srun -n2 -N2 --kill-on-bad-exit=1 sh -c 'test $SLURM_PROCID = 0 && exit 1; exec sleep 60'
}

@test "a stub that is killed ends its step on the node" {
    make_script task.sh 'date +%s%N >beat' 'touch ready' 'while :; do date +%s%N >beat; sleep 0.05; done'
    works inside sh -c "$WAITING"'
        srun ./task.sh >/dev/null 2>&1 & process=$!
        await test -e ready
        kill -9 $process
        tries=0; until test -z "$(squeue --noheader)"; do sleep 0.1; tries=$((tries + 1)); test $tries -lt 1000 || exit 98; done'
    local beat
    beat=$(cat beat)
    sleep 0.3
    prints "$beat" cat beat
}

# ---- Terminals -------------------------------------------------------------------------------------------------------

start_terminal() {
    SERVER=slurm-$BATS_TEST_NUMBER
    tmux -L "$SERVER" -f /dev/null new-session -d -x 80 -y 24 \
        "env PS1='ready> ' HISTFILE=/dev/null bash --norc --noprofile -i" 3>&-
    expect shows "ready>"
}
screen() { tmux -L "$SERVER" capture-pane -p; }
shows() { screen | grep -qF -- "$1"; }
# The output, not the typed line.
says() { screen | grep -qxF -- "$1"; }
line() { tmux -L "$SERVER" send-keys -l "$1" && tmux -L "$SERVER" send-keys Enter; }
expect() { wait_until "$@" || { screen >&2; return 1; }; }
settings() {
    rm -f settings
    line "stty -a >settings.new; mv settings.new settings"
    expect test -e settings
    cat settings
}

has_size() { [[ $(settings) == *"$1"* ]]; }

@test "--pty is a terminal: its size, a change of its size, keys and the state afterwards" {
    make_script task.sh 'test -t 0 && test -t 1 && test -t 2 && echo terminal; stty size; trap "echo interrupted" INT; read -r word; echo "got $word"; until test "$(stty size)" = "30 100"; do sleep 0.05; done; stty size; exit 5'
    start_terminal
    local before side
    before=$(settings)
    for side in "" "$SBX_PROGRAM --quiet -- env -- "; do
        tmux -L "$SERVER" resize-window -x 80 -y 24
        line "clear; ${side}srun --pty ./task.sh; echo \"status \$?\""
        expect says "24 80"
        expect says terminal
        tmux -L "$SERVER" resize-window -x 100 -y 30
        line word
        expect says "got word"
        expect says "30 100"
        expect says "status 5"
        tmux -L "$SERVER" resize-window -x 80 -y 24
        wait_until has_size "rows 24; columns 80;"
        same_text "$before" "$(settings)" "the terminal's settings"
    done
}

@test "--pty has job control on the node" {
    start_terminal
    local side
    for side in "" "$SBX_PROGRAM --quiet -- env -- "; do
        line "clear; ${side}srun --pty env PS1='remote> ' bash --norc --noprofile -i; echo \"local \$?\""
        expect shows "remote>"
        line "sleep 100"
        sleep 0.3
        tmux -L "$SERVER" send-keys C-z
        expect shows "Stopped"
        line 'kill %1; hostname'
        expect says node0
        line "sleep 101"
        sleep 0.3
        tmux -L "$SERVER" send-keys C-c
        line 'echo "after $?"'
        expect says "after 130"
        tmux -L "$SERVER" send-keys C-d
        expect says "local 0"
    done
}

@test "Ctrl-C at the keyboard ends a step" {
    start_terminal
    local side
    for side in "" "$SBX_PROGRAM --quiet -- env -- "; do
        rm -f ready
        line "clear; ${side}srun sh -c 'touch ready; exec sleep 60'; echo \"status \$?\""
        expect test -e ready
        tmux -L "$SERVER" send-keys C-c
        expect shows "one more"
        tmux -L "$SERVER" send-keys C-c
        expect shows "status "
        wait_until is_queue_empty
    done
}

@test "--pty without a terminal works as far as it does outside" {
    as_outside sh -c 'srun -Q --pty sh -c "echo one; exit 3" </dev/null 2>/dev/null | cat -A'
}

# ---- Steps in a job --------------------------------------------------------------------------------------------------

@test "a step of a job has the directory of its caller" {
    mkdir sub
    make_script job.sh 'echo "$SLURM_SUBMIT_DIR"; cd sub; srun -Q printenv SLURM_SUBMIT_DIR; srun -Q pwd'
    submit_both -o where-%j job.sh
    wait_for_both
    same_text "$(cat "where-$OUTSIDE")" "$(cat "where-$INSIDE")" "the directories"
}

@test "steps of a job are numbered, and have the exit status of their tasks" {
    local script='salloc -Q -N2 sh -c "srun -Q -l printenv SLURM_STEP_ID | sort; srun -Q -n1 -N1 sh -c \"exit 9\"; echo \$?; srun -Q printenv SLURM_STEP_ID"'
    as_outside sh -c "$script"
    [[ ${lines[0]} == "0: 0" && ${lines[2]} == 9 && ${lines[3]} == 2 ]] || report "three steps"
}
