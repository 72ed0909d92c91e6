# SPDX-License-Identifier: MIT
# sbatch inside a jail behaves as sbatch does outside.

load compare
setup() { start_slurm_test; }
teardown() { end_slurm_test; }

has_line() { grep -qsx "$1" "$2"; }

# ---- The command line ------------------------------------------------------------------------------------------------

@test "attached values, abbreviations and clusters of flags mean what they mean to sbatch" {
    make_script job.sh true
    local line="-n4 -N2-2 -Hs --out=abbreviated.out -Jshort --time=7 --parti=other --begin now+1hour"
    submit_both $line job.sh
    local format="%C|%D|%j|%l|%P|%T|%r|%h"
    same_text "$(outside squeue -h -j "$OUTSIDE" -o "$format")" "$(outside squeue -h -j "$INSIDE" -o "$format")" "the job"
    works inside scontrol show job "$INSIDE"
    [[ $output == *"StdOut=$PROJECT/abbreviated.out"* ]] || report "the abbreviated name of the output"
}

@test "errors of a command line are those of sbatch" {
    make_script job.sh true
    as_outside sbatch --no-such-option job.sh
    as_outside sbatch --no job.sh
    as_outside sbatch -n
    as_outside sbatch --nodes=none job.sh
    as_outside sbatch -n two job.sh
    as_outside sbatch --time=never job.sh
    as_outside sbatch --partition=missing job.sh
    as_outside sbatch --nodelist=node9 job.sh
    as_outside sbatch --dependency=afterok:999999 --test-only job.sh
    as_outside sbatch --wrap=true job.sh
    as_outside sbatch no-such-script
    as_outside sbatch --version
    as_outside sbatch --usage
    as_outside sbatch --help
}

@test "a file that is not a script is refused with sbatch's message" {
    echo 'echo no interpreter' >bare.sh
    printf '' >empty.sh
    printf '#!/bin/sh\r\necho one\r\n' >dos.sh
    printf '#!/bin/sh\necho one\0two\n' >binary.sh
    printf '\n#!/bin/sh\n' >late.sh
    mkdir folder
    local script
    for script in bare.sh empty.sh dos.sh binary.sh late.sh folder; do as_outside sbatch "$script"; done
    as_outside sh -c 'sbatch <bare.sh'
    as_outside sh -c 'sbatch </dev/null'
}

@test "messages about a submitted job are those of sbatch" {
    make_script job.sh true
    as_outside sbatch --hold job.sh
    as_outside sbatch --hold --parsable job.sh
    as_outside sbatch --hold --quiet job.sh
    as_outside sbatch --test-only job.sh
    [[ $stderr == *"to start at"* ]] || report "the test told something"
    works inside squeue --noheader --format=%i
    (($(wc -l <<<"$output") == 3)) || report "the test submitted nothing"
}

@test "a script comes from standard input, with its arguments and directives" {
    printf '#!/bin/sh\n#SBATCH --ntasks=3 -o input.out\necho "$SLURM_NTASKS:$SLURM_JOB_NAME:$#"\n' >script
    submit_inside <script
    wait_for_job "$JOB"
    prints "3:sbatch:0" cat input.out
}

@test "a script is found on the search path, and its arguments arrive as they are" {
    mkdir bin
    make_script bin/found.sh 'for word; do printf "<%s>" "$word"; done'
    PATH=$PROJECT/bin:$PATH submit_inside --output=found.out found.sh one "two  three" '' '*' '$HOME' --output=mine $'line\nbreak' ü
    wait_for_job "$JOB"
    prints $'<one><two  three><><*><$HOME><--output=mine><line\nbreak><ü>' cat found.out
    # The control: the same outside.
    PATH=$PROJECT/bin:$PATH submit --output=outside.out found.sh one "two  three" '' '*' '$HOME' --output=mine $'line\nbreak' ü
    wait_for_job "$JOB"
    works cmp found.out outside.out
}

@test "job names are those of sbatch" {
    make_script named.sh true
    make_script directive.sh "#SBATCH --job-name=from-directive"
    local expected="named.sh wrap sbatch given short from-directive given from-variable given"
    names() {
        "$@" sh -c '
            sbatch -H named.sh; sbatch -H --wrap=true; sbatch -H <named.sh
            sbatch -H --job-name=given named.sh; sbatch -H -Jshort named.sh
            sbatch -H directive.sh; sbatch -H -J given directive.sh
            SBATCH_JOB_NAME=from-variable sbatch -H directive.sh; SBATCH_JOB_NAME=from-variable sbatch -H -J given named.sh' >/dev/null
        outside squeue --me --noheader --sort=i --format=%j | xargs
    }
    prints "$expected" names outside
    empty_queue
    prints "$expected" names inside
}

# ---- The script ------------------------------------------------------------------------------------------------------

@test "the bytes of a script arrive unchanged, directive-like text in its body with them" {
    printf '%s\n' '#!/bin/bash' '#SBATCH --output=digest.out' 'sha256sum <"$0"' 'cat <<END' '#SBATCH --ntasks=9' '#PBS -N pbs' END \
        '#SBATCH --ntasks=8' $'# \xff\xfe ü \t end without a line break' >job.sh
    printf 'echo "$SLURM_NTASKS"' >>job.sh
    submit_inside --ntasks=1 job.sh
    wait_for_job "$JOB"
    prints "$(sha256sum <job.sh)"$'\n#SBATCH --ntasks=9\n#PBS -N pbs\n1' cat digest.out
}

@test "a script of a megabyte arrives unchanged" {
    { printf '#!/bin/sh\nsha256sum <"$0"; exit 4\n'; head -c 1000000 /dev/urandom | base64 | sed 's/^/# /' | head -c 1048000; } >job.sh
    (($(stat -c %s job.sh) > 1040000))
    submit_inside --output=big.out job.sh
    wait_for_job "$JOB" FAILED
    prints "$(sha256sum <job.sh)" cat big.out
}

@test "a script runs in the interpreter that it names" {
    printf '#!/usr/bin/awk -f\nBEGIN { print "awk", ARGV[1], ARGV[2] }\n' >job.awk
    printf '#!/usr/bin/env python3\nimport sys\nprint("python", sys.argv[1:])\n' >job.py
    inside sh -c 'sbatch -o awk.out job.awk a b; sbatch -o python.out job.py a b; sbatch -o shell.out --wrap="echo \$0"'
    wait_until is_queue_empty
    prints "awk a b" cat awk.out
    prints "python ['a', 'b']" cat python.out
}

@test "directives before the first command apply, with quotes and several on a line, and the command line overrides them" {
    printf '%s\n' '#!/bin/sh' '# a comment' '' '#SBATCH --comment="two words" --ntasks=2' "#SBATCH -o 'quoted name.out' # nothing" \
        '#SBATCH --time=5' 'true' '#SBATCH --ntasks=4' >job.sh
    submit_both --hold --time=9 job.sh
    same_text "2|9:00|two words" "$(outside squeue -h -j "$OUTSIDE" -o '%C|%l|%k')" "outside"
    same_text "2|9:00|two words" "$(inside squeue -h -j "$INSIDE" -o '%C|%l|%k')" "inside"
    works inside scontrol show job "$INSIDE"
    [[ $output == *"StdOut=$PROJECT/quoted name.out"* ]] || report "the quoted name"
}

@test "variables of sbatch override directives, and the command line overrides variables" {
    make_script job.sh '#SBATCH --partition=debug --time=5 --ntasks=2'
    local variables=(SBATCH_PARTITION=other SBATCH_TIMELIMIT=6) side
    for side in outside inside; do
        works "$side" env "${variables[@]}" sbatch --parsable --hold --time=7 job.sh
        same_text "other|7:00|2" "$(outside squeue -h -j "$output" -o '%P|%l|%C')" "$side"
    done
}

# ---- The environment and files of a job ------------------------------------------------------------------------------

@test "the standard input of a job is empty, or the file that is asked for" {
    echo "from a file" >input
    echo "not for the job" >elsewhere
    make_script job.sh 'readlink /proc/self/fd/0; cat'
    inside sh -c 'sbatch -o none.out job.sh; sbatch -o given.out --input=input job.sh; sbatch -o short.out -i input job.sh' <elsewhere
    wait_until is_queue_empty
    prints /dev/null cat none.out
    prints "$PROJECT/input"$'\nfrom a file' cat given.out
    prints "$PROJECT/input"$'\nfrom a file' cat short.out
    submit_inside --output=missing.out --input=no-such-file job.sh
    wait_for_job "$JOB" FAILED
}

@test "a job has the environment of the agent, and Slurm's own" {
    make_script job.sh 'env -0 | sort -z | tr "\n\0" "~\n" >env.$1'
    local variables=(AGENT_VALUE=$'with \'quotes\', "more", $HOME and\nlines' SLURM_NTASKS=77) side
    for side in outside inside; do
        works "$side" env "${variables[@]}" sbatch --parsable --ntasks=2 --nodes=2 --output=/dev/null job.sh "$side"
        wait_for_job "$output"
    done
    works grep -Fx "AGENT_VALUE=with 'quotes', \"more\", \$HOME and~lines" env.inside
    # Values of this particular job differ, and so do the paths of the jail.
    slurm_variables() { grep -E '^(SLURM|HOSTNAME|ENVIRONMENT)' "$1" | grep -vE '^SLURM_(CONF|TASK_PID|.*PORT)=' | plain; }
    same_text "$(slurm_variables env.outside)" "$(slurm_variables env.inside)" "Slurm's variables"
    same_text "$(grep -E '^(HOME|USER|LOGNAME|SHELL|TERM|LC_ALL|TMPDIR|PWD)=' env.outside)" \
        "$(grep -E '^(HOME|USER|LOGNAME|SHELL|TERM|LC_ALL|TMPDIR|PWD)=' env.inside)" "the usual variables"
}

@test "--export chooses among the variables of the agent" {
    make_script job.sh 'echo "$ONE|$TWO|$THREE|${HOME:+home}|${PATH:+path}|${SLURM_JOB_ID:+job}"'
    local side
    for side in outside inside; do
        "$side" sh -c 'export ONE=1 TWO=2
            sbatch -o all.out job.sh; sbatch -o none.out --export=NONE job.sh; sbatch -o some.out --export=ONE,THREE=3 job.sh
            sbatch -o added.out --export=ALL,TWO=other,THREE=3 job.sh; SBATCH_EXPORT=TWO sbatch -o variable.out job.sh'
        wait_until is_queue_empty
        prints "1|2||home|path|job" cat all.out
        prints "|||home|path|job" cat none.out
        prints "1||3|home|path|job" cat some.out
        prints "1|other|3|home|path|job" cat added.out
        prints "|2||home|path|job" cat variable.out
        rm ./*.out
    done
}

@test "a job starts in the directory of its submission, or in the one that is asked for" {
    mkdir -p sub/deep
    make_script job.sh pwd
    inside sh -c 'cd sub; sbatch -o here.out ../job.sh; sbatch -D deep -o there.out ../job.sh; cd ..; sbatch --chdir="$PWD/sub/deep" job.sh'
    wait_until is_queue_empty
    prints "$PROJECT/sub" cat sub/here.out
    prints "$PROJECT/sub/deep" cat sub/deep/there.out
    prints "$PROJECT/sub/deep" sh -c 'cat sub/deep/slurm-*.out'
    # The control: the same files outside.
    (cd sub && outside sbatch -D deep -o outside.out ../job.sh)
    wait_until is_queue_empty
    prints "$PROJECT/sub/deep" cat sub/deep/outside.out
}

@test "limits and the mask of new files are those of the submission" {
    make_script job.sh 'umask; ulimit -n' 'touch made; stat -c %a made'
    umask 027
    ulimit -Sn 512
    submit --output=outside.out job.sh
    wait_for_job "$JOB"
    rm made
    submit_inside --output=inside.out job.sh
    wait_for_job "$JOB"
    same_text "$(cat outside.out)" "$(cat inside.out)" "mask and limits"
    same_text "$(stat -c %a outside.out)" "$(stat -c %a inside.out)" "the mode of the output"
}

# ---- Output files ----------------------------------------------------------------------------------------------------

@test "output files have the names that sbatch gives them" {
    make_script job.sh 'echo out; echo error >&2'
    make_script directives.sh '#SBATCH -o directive-%j.out' '#SBATCH --error=directive-%x-%j.err' 'echo out; echo error >&2'
    make_script array.sh '#SBATCH --array=3,5' 'echo $SLURM_ARRAY_TASK_ID'
    local names='o-%j-%A-%x-%u-%N-%8j-%n-%t-%%-%q.out'
    submit_all() {
        "$@" sh -c 'sbatch job.sh; sbatch directives.sh; sbatch array.sh; sbatch --array=7 job.sh; sbatch -o "$0" job.sh
            sbatch -o "a-%A_%a-%4a.out" -a 1-2 job.sh; sbatch -e only.err -J named job.sh' "$names"
        wait_until is_queue_empty
    }
    mkdir out in
    (cp ./*.sh out && cd out && submit_all outside)
    (cp ./*.sh in && cd in && JAIL=(--project "$PROJECT") && submit_all inside)
    listing() { (cd "$1" && for file in *; do printf '%s: %s\n' "$(sed -E 's/[0-9]{2,}/N/g' <<<"$file")" "$(xargs <"$file")"; done | grep -v '^[a-z]*.sh:' | sort); }
    # Only numbers of one digit are compared: those of tasks. Job numbers have more digits and are replaced.
    same_text "$(listing out)" "$(listing in)" "the files"
}

@test "output is written to the requested file, and nowhere else" {
    make_script job.sh 'echo here'
    inside sh -c 'sbatch --wrap="echo wrapped"; sbatch -o named.out job.sh; sbatch -o /dev/null job.sh; sbatch --array=1-2 job.sh'
    wait_until is_queue_empty
    prints here cat named.out
    works sh -c 'cat slurm-*.out | sort | xargs'
    [[ $output == "here here wrapped" ]] || report "the outputs"
    is_left() { [[ -z $(ls -A ~/.local/state/agent-sandbox/slurm/output) ]]; }
    wait_until is_left || { ls -l ~/.local/state/agent-sandbox/slurm/output >&2; return 1; }
}

@test "output that can't be opened ends the job as in plain Slurm" {
    make_script job.sh 'touch has-run'
    submit_both --output=no/such/folder/file job.sh
    wait_for_both FAILED
    works test ! -e has-run
}

@test "open-mode truncates or appends" {
    make_script job.sh 'echo new'
    modes() {
        for file in truncated appended usual variable; do echo old >"$file"; done
        "$@" sh -c 'sbatch -o truncated --open-mode=truncate job.sh; sbatch -o appended --open-mode=append job.sh; sbatch -o usual job.sh
            SBATCH_OPEN_MODE=a sbatch -o variable job.sh'
        wait_until is_queue_empty
        for file in truncated appended usual variable; do echo "$file:" $(cat "$file"); done
    }
    local result=$'truncated: new\nappended: old new\nusual: new\nvariable: old new'
    same_text "$result" "$(modes outside | grep :)" "outside"
    same_text "$result" "$(modes inside | grep :)" "inside"
}

# ---- The life of a job -----------------------------------------------------------------------------------------------

@test "signals reach the batch script, which decides when to end" {
    printf '%s\n' '#!/bin/bash' 'trap "echo usr1; touch got" USR1' 'trap "echo term; exit 3" TERM' 'touch ready' \
        'while :; do sleep 0.1; done' >job.sh
    submit_inside --output=signals.out job.sh
    wait_until test -e ready
    works inside scancel --signal=USR1 --batch "$JOB"
    wait_until test -e got
    prints RUNNING job_state "$JOB"
    works inside scancel --batch --signal=TERM "$JOB"
    wait_for_job "$JOB" FAILED
    prints $'usr1\nterm' cat signals.out
}

@test "--signal is passed on to Slurm" {
    submit_inside --time=5 --signal=B:USR1@60 --hold --wrap=true
    wait_for_submission() { [[ $(sacct -XnP -j "$JOB" -o SubmitLine) == *"--signal=B:USR1@60"* ]]; }
    wait_until wait_for_submission
}

@test "scancel gives a script its time to clean up" {
    printf '%s\n' '#!/bin/bash' 'trap "echo cleaned >cleaned; exit 0" TERM' 'touch ready' 'while :; do sleep 0.1; done' >job.sh
    submit_inside job.sh
    wait_until test -e ready
    works inside scancel "$JOB"
    wait_for_job "$JOB" CANCELLED
    prints cleaned cat cleaned
}

@test "exit code and terminating signal are preserved" {
    make_script code.sh 'exit 7'
    make_script signal.sh 'kill -9 $$'
    make_script segmentation.sh 'kill -SEGV $$'
    local script plain_code
    local -A outside_jobs inside_jobs
    for script in code signal segmentation; do
        submit_both --output="$script-%j" "$script.sh"
        outside_jobs[$script]=$OUTSIDE inside_jobs[$script]=$INSIDE
    done
    for script in code signal segmentation; do
        OUTSIDE=${outside_jobs[$script]} INSIDE=${inside_jobs[$script]}
        wait_for_both FAILED
        plain_code=$(scontrol show job "$OUTSIDE" | grep -o ' ExitCode=.*')
        same_text "$plain_code" "$(scontrol show job "$INSIDE" | grep -o ' ExitCode=.*')" "outside, of $script.sh"
        same_text "$plain_code" "$(inside scontrol show job "$INSIDE" | grep -o ' ExitCode=.*')" "inside, of $script.sh"
    done
    scontrol show job "$INSIDE" | grep -q 'ExitCode=0:11'
}

@test "--wait ends with the job, as the job" {
    make_script job.sh 'kill -9 $$'
    run_all() { "$@" sh -c '
        sbatch -Q --wait --wrap="exit 5"  & one=$!
        sbatch -Q -W job.sh & two=$!
        sbatch -Q -W -a 1-3 --wrap="exit \$SLURM_ARRAY_TASK_ID" & three=$!
        sbatch -Q --wait --wrap=true & four=$!
        for process in $one $two $three $four; do wait $process; echo $?; done'; }
    local result
    result=$(run_all outside 2>&1 | xargs)
    [[ $result == 5\ *\ 3\ 0 ]]
    same_text "$result" "$(run_all inside 2>&1 | xargs)" "the exit codes"
}

@test "an array has tasks, and a dependency waits" {
    make_script task.sh 'echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT in $SLURM_ARRAY_JOB_ID"'
    make_script after.sh 'cat slurm-*_?.out | sort >after'
    inside sh -c 'first=$(sbatch --parsable --array=0-4:2%2 task.sh); echo $first >first; sbatch --dependency=afterok:$first -o after.out after.sh'
    wait_until is_queue_empty
    prints "$(for task in 0 2 4; do echo "$task of 3 in $(cat first)"; done)" cat after
    works inside sh -c 'first=$(sbatch --parsable --wrap=false); sbatch --dependency=afterok:$first --kill-on-invalid-dep=yes --wrap="touch never"'
    wait_until is_queue_empty
    works test ! -e never
}

@test "a comment may have any character, and is shown without the tag" {
    local comment
    for comment in 'plain' "a 'b' \"c\" \$HOME \`d\` \\ %j ; | & = , #" 'ünï ☃' ' spaces around ' $'two\nlines' '-- --comment=x'; do
        submit_both --hold --comment="$comment" --wrap=true
        same_text "$(outside squeue -h -j "$OUTSIDE" -o %k)" "$(inside squeue -h -j "$INSIDE" -o %k)" "the comment"
        same_text "$(outside squeue -h -j "$OUTSIDE" -O comment:30,jobid:1 | cut -c 1-30)" \
            "$(inside squeue -h -j "$INSIDE" -O comment:30,jobid:1 | cut -c 1-30)" "the comment's column"
        same_text "$(outside scontrol show job "$OUTSIDE" | grep -A 1 Comment= | plain)" \
            "$(inside scontrol show job "$INSIDE" | grep -A 1 Comment= | plain)" \
            "the comment that scontrol shows"
    done
    submit_both --hold --wrap=true
    same_text "$(outside squeue -h -j "$OUTSIDE" -o %k)" "$(inside squeue -h -j "$INSIDE" -o %k)" "no comment"
    same_text "" "$(inside scontrol show job "$INSIDE" | grep Comment)" "no comment, to scontrol"
    [[ $(outside squeue -h -j "$INSIDE" -o %k) == *?* ]]
}

@test "sbatch in a loop, and a loop that reads its own input" {
    seq 20 >numbers
    works inside sh -c 'while read -r number; do sbatch --parsable --hold --job-name="job$number" --wrap=true; squeue --noheader >/dev/null; done'' <numbers | wc -l'
    [[ $output == 20 ]] || report "twenty submissions"
    prints "$(seq -f job%g 20 | sort)" sh -c 'squeue --me --noheader --format=%j | sort'
}

@test "a job submits jobs, and runs steps" {
    make_script inner.sh 'echo "inner in $AGENT_SANDBOX_PROJECT" >inner'
    make_script outer.sh '#SBATCH --nodes=2' 'srun -l hostname | sort' 'srun -n1 -N1 sh -c "exit 6"; echo "status $?"' \
        'sbatch --output=/dev/null inner.sh' 'squeue --noheader --format="%i %T" --jobs=$SLURM_JOB_ID'
    submit_inside --output=outer.out outer.sh
    wait_for_job "$JOB"
    wait_until is_queue_empty
    works cat outer.out
    [[ $output == *$'0: node0\n1: node1'* && $output == *"status 6"* && $output == *"$JOB RUNNING"* ]] || report "steps and queries of a job"
    prints "inner in $PROJECT" cat inner
}

@test "a job that is requeued runs again with SLURM_RESTART_COUNT" {
    printf '%s\n' '#!/bin/bash' 'echo "run ${SLURM_RESTART_COUNT:-0}" >>runs' 'if test ! -e ready; then touch ready; sleep 30; fi' >job.sh
    submit_inside job.sh
    wait_until test -e ready
    works inside scontrol requeue "$JOB"
    # Without this it would wait for two minutes. It fails, also outside, if it starts within the second in which it ended.
    wait_for_state "$JOB" PENDING
    sleep 1.5
    works inside scontrol update JobId="$JOB" StartTime=now
    wait_until grep -qs "run 1" runs
    wait_for_job "$JOB"
}
