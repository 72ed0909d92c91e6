# SPDX-License-Identifier: MIT
# salloc inside a jail behaves as salloc does outside, and sessions inside an allocation use it.

load compare
setup() { start_slurm_test; }
teardown() {
    [[ -z ${SERVER:-} ]] || tmux -L "$SERVER" kill-server || true
    end_slurm_test
}

@test "salloc runs its command here, in the same jail, and its steps on the nodes" {
    as_outside salloc -N2 sh -c 'hostname; srun hostname | sort; exit 4'
    [[ $status == 4 && $output == $'login\nnode0\nnode1' ]] || report "one here, two there"
    wait_until is_queue_empty
    works inside sh -c 'echo $$ >outer; salloc -Q sh -c "test -d /proc/$$ && echo same; srun -Q printenv AGENT_SANDBOX"'
    [[ $output == $'same\n1' ]] || report "the same jail here, one there"
}

@test "complaints and exit codes are those of salloc" {
    as_outside salloc true
    as_outside salloc -Q sh -c 'exit 9'
    as_outside salloc -Q sh -c 'kill -9 $$'
    as_outside salloc -Q sh -c 'kill -TERM $$'
    as_outside salloc no-such-command
    as_outside salloc --no-such-option true
    as_outside salloc --partition=missing true
    as_outside salloc --nodelist=node9 true
    as_outside salloc --version
    as_outside salloc --usage
}

@test "the command has the variables of its allocation" {
    local script='env -0 | sort -z | tr "\n\0" "~\n" | grep ^SLURM | grep -v ^SLURM_CONF='
    local expected
    expected=$(outside salloc -Q -N2 -n3 -J named --mem=100 sh -c "$script" | plain)
    [[ $expected == *SLURM_JOB_NODELIST=* ]]
    wait_until is_queue_empty
    same_text "$expected" "$(inside salloc -Q -N2 -n3 -J named --mem=100 sh -c "$script" | plain)" "the variables"
}

@test "steps of an allocation share it, in turn and at once" {
    as_outside salloc -Q -N2 -n4 sh -c '
        srun -Q -l -n4 sh -c "echo \$SLURM_NODEID" | sort; srun -Q -N1 -n1 -w node1 hostname
        srun -Q -N1 -n1 --exact hostname >one & srun -Q -N1 -n1 --exact hostname >two & wait; cat one two | grep -c node'
    [[ ${#lines[@]} == 6 ]] || report "five tasks, and two at once"
    prints $'allocated RUNNING' inside salloc -Q -J allocated sh -c 'squeue --noheader --jobs=$SLURM_JOB_ID --format="%j %T"'
}

@test "an allocation without a shell stays until it is cancelled" {
    local script='salloc --no-shell -J waiting 2>said; sed "s/.* //" said | head -n 1 >/dev/null
        job=$(squeue --noheader --name=waiting --format=%i); srun -Q --jobid="$job" hostname; SLURM_JOB_ID=$job srun -Q hostname
        scancel "$job"; cat said'
    as_outside sh -c "$script"
    [[ $output == *$'node0\nnode0\n'*"Granted job allocation"* ]] || report "two steps"
    wait_until is_queue_empty
}

@test "without a command there is a shell, also without a terminal" {
    local script='echo "in $SLURM_JOB_NUM_NODES; $(srun -Q hostname </dev/null)"; exit 6'
    run outside sh -c 'salloc -Q' <<<"$script"
    local expected="$status $output"
    [[ $expected == "6 in 1; node0" ]]
    wait_until is_queue_empty
    run inside sh -c 'salloc -Q' <<<"$script"
    same_text "$expected" "$status $output" "the shell"
}

@test "in a terminal, the shell of an allocation has job control and the terminal comes back" {
    SERVER=slurm-$BATS_TEST_NUMBER
    tmux -L "$SERVER" -f /dev/null new-session -d -x 80 -y 24 "env PS1='ready> ' HISTFILE=/dev/null bash --norc --noprofile -i" 3>&-
    screen() { tmux -L "$SERVER" capture-pane -p; }
    shows() { screen | grep -qF -- "$1"; }
    says() { screen | grep -qxF -- "$1"; }
    line() { tmux -L "$SERVER" send-keys -l "$1" && tmux -L "$SERVER" send-keys Enter; }
    expect() { wait_until "$@" || { screen >&2; return 1; }; }
    expect shows "ready>"
    local side
    for side in "" "$SBX_PROGRAM --quiet -- env -- "; do
        line "clear; ${side}salloc -Q env PS1='allocated> ' bash --norc --noprofile -i; echo \"local \$?\""
        expect shows "allocated>"
        line 'srun -Q hostname'
        expect says node0
        line 'sleep 100'
        sleep 0.3
        tmux -L "$SERVER" send-keys C-c
        line 'echo "after $?"'
        expect says "after 130"
        line 'exit 3'
        expect says "local 3"
        wait_until is_queue_empty
    done
}

@test "an allocation that is cancelled ends its command" {
    local script='salloc -K sh -c "scancel \$SLURM_JOB_ID; exec sleep 30" 2>said; echo "status $?"; grep -c "has been revoked" said'
    as_outside sh -c "$script"
    [[ $output == *"status "*$'\n1' ]] || report "the allocation was revoked"
}

@test "a signal to salloc does what it does outside, and the allocation is released" {
    local script='
        env --default-signal=INT salloc -Q sh -c "touch ready; exec sleep 2" & process=$!
        tries=0; until test -e ready; do sleep 0.05; tries=$((tries + 1)); test $tries -lt 2000 || exit 99; done
        kill -TERM $process; wait $process; echo "status $?"; rm ready'
    as_outside sh -c "$script"
    wait_until is_queue_empty
}

@test "when the jail is killed its allocation and its step end" {
    start_jail 'salloc -Q -N2 sh -c "touch ready; exec sleep 60"'
    [[ -n $(squeue --me --noheader) ]]
    kill -KILL "$SUPERVISOR"
    wait_until is_queue_empty
    start_jail 'srun -Q -N2 sh -c "touch ready; exec sleep 60"'
    [[ -n $(squeue --me --noheader) ]]
    kill -KILL "$SUPERVISOR"
    wait_until is_queue_empty
    start_jail 'srun -Q sh -c "touch ready; exec sleep 60" & salloc -Q sleep 60 & wait'
    kill -TERM "$SUPERVISOR"
    wait_until is_queue_empty
}

@test "a job that was submitted outlives its jail" {
    inside sbatch -o later.out --begin=now+1 --wrap="echo later" >/dev/null
    wait_until test -e later.out
    wait_until is_queue_empty
    prints later cat later.out
}

@test "a session that is started in an allocation uses it" {
    works outside salloc -Q -N2 "$SBX_PROGRAM" --quiet -- sh -c '
        echo "$SLURM_JOB_ID"; srun -Q hostname | sort; srun -Q -n1 -N1 printenv AGENT_SANDBOX
        squeue --noheader --format="%i %T"'
    local job=${lines[0]}
    [[ $output == "$job"$'\nnode0\nnode1\n1\n'"$job RUNNING" ]] || report "the allocation's own"
}

@test "a session can end the allocation that it was started in" {
    run outside salloc -K -N1 "$SBX_PROGRAM" --quiet -- sh -c 'scancel "$SLURM_JOB_ID" && exec sleep 30'
    [[ $output == *"revoked"* ]] || report "the allocation should be gone"
    wait_until is_queue_empty
}

@test "a session that is started in a batch job uses it" {
    make_script job.sh "$SBX_PROGRAM --quiet -- sh -c 'srun -Q hostname | sort; squeue --noheader --format=%i'"
    submit -N2 -o batch.out job.sh
    wait_for_job "$JOB"
    prints $'node0\nnode1\n'"$JOB" cat batch.out
}
