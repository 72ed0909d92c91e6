# SPDX-License-Identifier: MIT
# Ways out of the jail through Slurm. Plain Slurm first does what a job, a task of an array or a step must not do.

load compare
setup() {
    start_slurm_test
    mkdir ~/.ssh
    echo "a private key" >~/.ssh/id_x
    echo "untouched" >~/victim
    export SERVICE_TOKEN="a token of the shell"
    MARKER=$HOME/marker
}
teardown() { end_slurm_test; }

is_untouched() { [[ $(cat ~/victim) == untouched && ! -e $MARKER ]]; }
expect_untouched() { is_untouched || { output=$(cat ~/victim; ls -a ~) leak "something was written outside: $1"; }; }
expect_marker() {
    wait_until test -e "$MARKER" || report "the control left no trace: $1"
    rm "$MARKER"
}

# expect_refused: lines "CODE COMMAND" on standard input, all in one jail.
expect_refused() {
    cat >refusals
    works in_jail bash -c '
        failures=0
        while read -r code command; do
            said=$(eval "$command" 2>&1 </dev/null)
            status=$?
            [[ $status == 1 && $said == *": refused [$code]: "* ]] && continue
            printf "not refused as %s, but %s: %s\n%s\n" "$code" "$status" "$command" "$said"
            failures=1
        done <refusals
        exit $failures'
    [[ -z $(squeue --me --noheader) ]] || leak "something was submitted"
}

# make_library NAME FILE...: a library that creates these files when a process loads it.
make_library() {
    local name=$1 file
    shift
    {
        echo '#include <fcntl.h>'
        echo '__attribute__((constructor)) static void evil(void) {'
        for file in "$@"; do echo "creat(\"$file\", 0600);"; done
        echo '}'
    } | cc -shared -fPIC -x c -o "$name" -
}

# A probe prints everything that it can read or reach.
make_probe() {
    make_script probe.sh \
        'cat ~/.ssh/id_x' \
        'printf "%s\n" "$SERVICE_TOKEN"' \
        'munge --no-input >/dev/null && echo "a credential"' \
        'python3 -c "import socket; socket.socket(socket.AF_UNIX).connect(\"/run/munge/munge.socket.2\"); print(\"reached munge\")" 2>/dev/null' \
        '! test -e /etc/slurm/slurm.conf || echo "a configuration"' \
        'echo attacked >>~/victim' \
        'echo ended'
}
EVERYTHING=$'a private key\na token of the shell\na credential\nreached munge\na configuration\nended'

# ---- What a job can read and change -------------------------------------------------------------------------------------

@test "control: a plain job and a plain step have the key, the token, munge and the home directory" {
    make_probe
    prints "$EVERYTHING" srun --quiet ./probe.sh
    grep -qx attacked ~/victim
    submit --output=out probe.sh
    wait_for_job "$JOB"
    prints "$EVERYTHING" cat out
}

@test "a job, an array task, a step and a job's step have no key, token, munge or home directory" {
    make_probe
    make_script steps.sh './probe.sh' 'srun --quiet ./probe.sh'
    run in_jail sh -c 'srun --quiet ./probe.sh 2>/dev/null; salloc --quiet srun --quiet ./probe.sh 2>/dev/null'
    [[ $output == $'\nended\n\nended' ]] || report "a step"
    submit_inside --output=out --error=/dev/null steps.sh
    wait_for_job "$JOB"
    prints $'\nended\n\nended' cat out
    submit_inside --array=0-1 --output=out.%a --error=/dev/null probe.sh
    wait_for_job "$JOB"
    prints $'\nended\n\nended' cat out.0 out.1
    expect_untouched "a job"
}

# ---- Files that Slurm would open -----------------------------------------------------------------------------------------

@test "control: plain Slurm writes the output wherever it is asked to" {
    ln -s ~/victim link
    make_script directive.sh "#SBATCH --output=$HOME/victim" 'echo attacked'
    local how
    for how in "--output=$HOME/victim --wrap=\"echo attacked\"" "-o$HOME/victim --wrap=\"echo attacked\"" "--output=link --wrap=\"echo attacked\"" \
        "--output=%x --job-name=../victim --wrap=\"echo attacked\"" "directive.sh"; do
        echo untouched >~/victim
        JOB=$(eval "sbatch --parsable $how")
        wait_for_job "$JOB"
        prints attacked cat ~/victim
    done
    echo untouched >~/victim
    JOB=$(SBATCH_OUTPUT=$HOME/victim sbatch --parsable --wrap="echo attacked")
    wait_for_job "$JOB"
    prints attacked cat ~/victim
    echo classified >~/secret
    works srun --quiet --input="$HOME/secret" cat
    [[ $output == classified ]] || report "the input"
}

@test "output, error and input are opened inside: by option, short option, directive, variable and link" {
    ln -s ~/victim link
    echo classified >~/secret
    make_script directive.sh "#SBATCH --output=$HOME/victim --error \"$HOME/victim\"" 'echo attacked'
    works in_jail bash -c '
        sbatch --output="$1/victim" --wrap="echo attacked"
        sbatch -o"$1/victim" -e "$1/victim" --wrap="echo attacked"
        sbatch --outp="$1/victim" --open-mode=append --wrap="echo attacked"
        sbatch --output=link --wrap="echo attacked"
        SBATCH_OUTPUT=$1/victim sbatch --wrap="echo attacked"
        sbatch directive.sh
        sbatch --input="$1/secret" --output=copied --wrap=cat
        sbatch --chdir="$1" --output=victim --wrap="echo attacked"
        srun --quiet --output="$1/victim" echo attacked
        srun --quiet --output="$1/%j" echo attacked
        SLURM_STDOUTMODE=$1/victim srun --quiet echo attacked
        srun --quiet --input="$1/secret" cat || true' bash "$HOME" || true
    [[ $output != *classified* ]] || leak "the input"
    wait_until is_queue_empty
    expect_untouched "an output"
    [[ ! -s copied ]] || leak "the input of a batch job"
    [[ -z $(find ~ -maxdepth 1 -name '[0-9]*') ]] || leak "a pattern"
}

@test "a job name can't contain a path, by option, variable or directive" {
    make_script directive.sh '#SBATCH --output=%x --job-name="../victim"' 'echo attacked'
    expect_refused <<'LIST'
slurm-value sbatch --output=%x --job-name=../victim --wrap="echo attacked"
slurm-value sbatch --output=%x -J../victim --wrap="echo attacked"
slurm-value sbatch --output=%x --job-n=../../victim --wrap="echo attacked"
slurm-value SBATCH_JOB_NAME=../victim sbatch --output=%x --wrap="echo attacked"
slurm-value sbatch directive.sh
slurm-value sbatch --job-name=$'two\nlines' --wrap=true
slurm-value sbatch --job-name=$'\x1b]0;title\a' --wrap=true
slurm-value srun --job-name=../victim --output=%x echo attacked
LIST
    submit_inside --hold --wrap=true
    fails "JobName" inside scontrol update "JobId=$JOB" JobName=../victim
    works scontrol update "JobId=$JOB" JobName=../victim
    expect_untouched "a name"
}

@test "a job can't start in a directory outside its jail" {
    mkdir ~/elsewhere
    submit --chdir="$HOME/elsewhere" --output=/dev/null --wrap="touch here"
    wait_for_job "$JOB"
    works rm ~/elsewhere/here
    submit_inside --chdir="$HOME/elsewhere" --output="$PROJECT/out" --wrap="pwd; touch here $HOME/elsewhere/there"
    wait_until is_job_over "$JOB"
    run inside srun --quiet --chdir="$HOME/elsewhere" touch here
    [[ -z $(ls ~/elsewhere) ]] || leak "written elsewhere"
}

# ---- Code that Slurm would start -----------------------------------------------------------------------------------------

@test "control: plain Slurm runs prologs, program lists and copied files outside" {
    make_script evil "touch $MARKER"
    local how
    for how in --prolog --epilog --task-prolog --task-epilog; do
        works srun --quiet "$how=$PROJECT/evil" true
        expect_marker "$how"
    done
    SLURM_TASK_PROLOG=$PROJECT/evil srun --quiet true
    expect_marker SLURM_TASK_PROLOG
    echo "0 $PROJECT/evil" >list
    works srun --quiet --multi-prog list
    expect_marker --multi-prog
    works srun --quiet --bcast="$HOME/copied" ./evil
    [[ -e ~/copied ]] || report "bcast writes where it is told"
    expect_marker --bcast
}

@test "options and variables that start code or open files outside are refused" {
    make_script evil "touch $MARKER"
    echo "0 $PROJECT/evil" >list
    make_script quoted.sh '#SBATCH --comment="a b" "--get-user-env"' true
    make_script second.sh '#SBATCH -n1 --uid=0' true
    make_script late.sh '# a comment' '' '#SBATCH --container=/x' true
    make_script old.sh '#SLURM --bbf=/x' true
    expect_refused <<'LIST'
slurm-outside-code srun --prolog=$PWD/evil true
slurm-outside-code srun --prol $PWD/evil true
slurm-outside-code srun --epilog=$PWD/evil true
slurm-outside-code srun --task-prolog=$PWD/evil true
slurm-outside-code srun --task-ep=$PWD/evil true
slurm-outside-code SLURM_PROLOG=$PWD/evil srun true
slurm-outside-code SLURM_EPILOG=$PWD/evil srun true
slurm-outside-code SLURM_TASK_PROLOG=$PWD/evil srun true
slurm-outside-code SLURM_TASK_EPILOG=$PWD/evil srun true
slurm-multi-prog srun --multi-prog list
slurm-multi-prog srun -n1 --multi list
slurm-multi-prog SLURM_SRUN_MULTI=1 srun list
slurm-outside-file srun --bcast=/tmp/x ./evil
slurm-outside-file srun --bcast ./evil
slurm-outside-file SLURM_BCAST=/tmp/x srun ./evil
slurm-outside-file srun --send-libs=yes ./evil
slurm-outside-code srun --container=/x true
slurm-outside-code sbatch --container=/x --wrap=true
slurm-outside-code SBATCH_CONTAINER=/x sbatch --wrap=true
slurm-outside-code SRUN_CONTAINER=/x srun true
slurm-outside-file sbatch --bb=x --wrap=true
slurm-outside-file sbatch --bbf=/x --wrap=true
slurm-outside-file SBATCH_BURST_BUFFER=x sbatch --wrap=true
slurm-outside-file sbatch -F/x --wrap=true
slurm-outside-file sbatch --nodelist=/home/x --wrap=true
slurm-outside-file srun --exclude=./x true
slurm-host-environment sbatch --get-user-env --wrap=true
slurm-host-environment sbatch --get-user-env=10S --wrap=true
slurm-host-environment SBATCH_GET_USER_ENV=1 sbatch --wrap=true
slurm-host-environment sbatch --propagate --wrap=true
slurm-host-environment sbatch --propag=ALL --wrap=true
slurm-host-environment srun --propagate=NOFILE true
slurm-identity sbatch --uid=0 --wrap=true
slurm-identity sbatch --gid=0 --wrap=true
slurm-identity srun --uid root true
slurm-identity salloc --uid=0 true
slurm-identity srun --context=x true
slurm-network srun --network=x true
slurm-network srun --x11 true
slurm-network SLURM_NETWORK=x srun true
slurm-administration srun -Z true
slurm-administration srun --slurmd-debug=9 true
slurm-administration srun --interactive true
slurm-other-cluster sbatch -Mother --wrap=true
slurm-other-cluster sbatch --cluster=testcluster,other --wrap=true
slurm-other-cluster SLURM_CLUSTERS=all,other squeue
slurm-other-cluster SBATCH_CLUSTERS=other sbatch --wrap=true
slurm-other-cluster srun -Mother true
slurm-other-cluster salloc --clusters=other true
slurm-other-cluster squeue --federation
slurm-other-cluster sacct -Mother
slurm-other-cluster scancel -Mother 1
slurm-other-cluster scontrol -Mother show job 1
slurm-heterogeneous sbatch -n1 : -n1 quoted.sh
slurm-heterogeneous srun true : true
slurm-heterogeneous salloc -n1 : -n1 true
slurm-host-environment sbatch quoted.sh
slurm-identity sbatch second.sh
slurm-outside-code sbatch late.sh
slurm-outside-file sbatch old.sh
slurm-command sattach 1.0
slurm-outside-file sbcast evil /tmp/evil
slurm-outside-code strigger --set --jobid=1 --program=$PWD/evil
slurm-outside-file scontrol write batch_script 1
slurm-outside-file scontrol show hostlist /etc/hostname
slurm-outside-file sacct --file=/etc/passwd
slurm-outside-file sacct -f/etc/passwd
slurm-identity scontrol token
slurm-administration scontrol reconfigure
slurm-administration sacctmgr -i add user evil
LIST
    expect_untouched "an option"
}

@test "arguments that look like options, and options that look like arguments, are parsed as by sbatch" {
    printf '#!/bin/sh\necho "ran as a script: $*"\n' >./--uid=0
    cp ./--uid=0 plain
    submit_inside --output=out -- --uid=0 --gid=0
    wait_for_job "$JOB"
    prints "ran as a script: --gid=0" cat out
    submit_inside --output=out plain --prolog=x --output=/tmp/y
    wait_for_job "$JOB"
    prints "ran as a script: --prolog=x --output=/tmp/y" cat out
    prints "--prolog=x" inside srun --quiet echo --prolog=x
}

@test "lines of other batch systems and lines after the first command are not directives" {
    make_script pbs.sh '#PBS -o /tmp/x' '#BSUB -o /tmp/y' 'echo ran' "#SBATCH --output=$HOME/victim" '#SBATCH --uid=0'
    submit_inside --output=out pbs.sh
    wait_for_job "$JOB"
    prints ran cat out
    printf '#!/bin/sh\n\0#SBATCH --uid=0\ntrue\n' >nul.sh
    printf '#!/bin/sh\r\n#SBATCH --uid=0\r\ntrue\r\n' >dos.sh
    local script
    for script in nul.sh dos.sh; do
        run outside sbatch "$script"
        local plain=$output plain_status=$status
        run inside sbatch "$script"
        [[ $status != 0 && $plain_status != 0 ]] || leak "$script"
    done
    [[ -z $(squeue --me --noheader) ]]
    expect_untouched "a directive"
}

# ---- The environment -----------------------------------------------------------------------------------------------------

@test "a login environment is not loaded for a job of the jail" {
    echo "touch $MARKER" | tee ~/.profile ~/.bash_profile >~/.bashrc
    local choice
    submit --export=NONE --output=/dev/null --wrap=true
    wait_for_job "$JOB"
    expect_marker "--export=NONE"
    submit --export=LANG --output=/dev/null --wrap=true
    wait_for_job "$JOB"
    expect_marker "a list without ALL"
    make_script directive.sh '#SBATCH --export=NONE' true
    works in_jail bash -c '
        sbatch --export=NONE --wrap=true
        sbatch --export=NIL --wrap=true
        sbatch --export=LANG,A=b --wrap=true
        SBATCH_EXPORT=NONE sbatch --wrap=true
        SLURM_EXPORT_ENV=NONE srun --quiet true
        sbatch directive.sh'
    wait_until is_queue_empty
    expect_untouched "a login environment"
}

@test "a preloaded library reaches nothing outside the jail" {
    make_library evil.so "$MARKER" "$PROJECT/inside"
    works srun --quiet --export="ALL,LD_PRELOAD=$PROJECT/evil.so" true
    expect_marker LD_PRELOAD
    rm inside
    works in_jail bash -c '
        srun --quiet --export="ALL,LD_PRELOAD=$PWD/evil.so" true
        sbatch --export="ALL,LD_PRELOAD=$PWD/evil.so" --wrap=true
        export LD_PRELOAD=$PWD/evil.so LD_LIBRARY_PATH=$PWD LD_AUDIT=$PWD/evil.so
        sbatch --wrap=true
        srun --quiet true
        squeue'
    wait_until is_queue_empty
    [[ -e inside ]] || report "inside it is the agent's own affair"
    expect_untouched LD_PRELOAD
}

@test "a configuration and plug-ins of the project are not used" {
    mkdir plugins
    make_library plugins/auth_munge.so "$MARKER"
    { cat /etc/slurm/slurm.conf; echo "PluginDir=$PROJECT/plugins"; } >slurm.conf
    run env SLURM_CONF="$PROJECT/slurm.conf" squeue
    expect_marker SLURM_CONF
    works in_jail bash -c '
        export SLURM_CONF=$PWD/slurm.conf
        squeue && srun --quiet true && sbatch --wrap=true && srun --quiet --export=ALL,SLURM_CONF=$PWD/slurm.conf true'
    wait_until is_queue_empty
    expect_untouched SLURM_CONF
}

@test "programs of the project are not found by name outside" {
    mkdir bin
    local name
    for name in sbatch srun squeue munge bwrap sh env; do make_script "bin/$name" "touch $MARKER"; done
    PATH=$PROJECT/bin:$PATH run srun --quiet true
    expect_marker PATH
    works env PATH="$PROJECT/bin:$PATH" "$SBX_PROGRAM" --quiet -- /usr/bin/bash -c '
        export PATH=$PWD/bin:$PATH
        /run/agent-sandbox/stubs/srun --quiet /bin/true && /run/agent-sandbox/stubs/sbatch --wrap=/bin/true && /run/agent-sandbox/stubs/squeue'
    wait_until is_queue_empty
    expect_untouched PATH
}

@test "the program's own variables are not taken from the jail" {
    make_script show.sh 'env | grep ^AGENT_SANDBOX_ | cut -d= -f1 | sort | xargs' 'ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev'
    works inside srun --quiet ./show.sh
    local normal=$output
    [[ $normal != *STEP* && $normal == *AGENT_SANDBOX_NETWORK* ]] || report "the variables"
    prints "$normal" inside AGENT_SANDBOX_STEP_0=forged AGENT_SANDBOX_NETWORK_MODE=open srun --quiet ./show.sh
    prints "$normal" inside srun --quiet --export=ALL,AGENT_SANDBOX_STEP_0=forged,AGENT_SANDBOX_NETWORK_MODE=open ./show.sh
    submit_inside --output=out --export=ALL,AGENT_SANDBOX_STEP_0=forged,AGENT_SANDBOX_NETWORK_MODE=open,AGENT_SANDBOX_BACKEND=none show.sh
    wait_for_job "$JOB"
    prints "$normal" cat out
}

# ---- MPI -----------------------------------------------------------------------------------------------------------------

@test "a rank starts nothing outside through its process manager" {
    # "spawn" asks srun to start a program as another step: srun would do so without a jail.
    cat >spawn.py <<'PYTHON'
import os, signal, sys

manager = int(os.environ["PMI_FD"])
version, marker = int(sys.argv[1]), sys.argv[2]
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.alarm(2)


def ask(text):
    os.write(manager, text.encode())
    os.read(manager, 4096)


def ask_measured(text):
    ask(f"{len(text):6d}{text}")


ask(f"cmd=init pmi_version={version} pmi_subversion={version == 1:d}\n")
if version == 1:
    ask(f"mcmd=spawn\nnprocs=1\nexecname=/usr/bin/touch\ntotspawns=1\nspawnssofar=1\nargcnt=1\narg1={marker}\npreput_num=0\ninfo_num=0\nendcmd\n")
else:
    ask_measured(f"cmd=fullinit;pmijobid={os.environ['PMI_JOBID']};pmirank={os.environ['PMI_RANK']};threaded=FALSE;")
    ask_measured(f"cmd=spawn;ncmds=1;preputcount=0;subcmd=/usr/bin/touch;maxprocs=1;argc=1;argv0={marker};infokeycount=0;")
    os.read(manager, 4096)
PYTHON
    local spawn=(salloc --quiet --ntasks=2 srun --quiet --ntasks=1 --exact --mem=16 --mpi=pmi2 python3 spawn.py)
    local version
    for version in 1 2; do
        timeout 120 "${spawn[@]}" "$version" "$MARKER" || true
        expect_marker "spawn, version $version"
        timeout 120 "$SBX_PROGRAM" --quiet -- "${spawn[@]}" "$version" "$MARKER" || true
        wait_until is_queue_empty
        expect_untouched "spawn, version $version"
    done
}

@test "the sockets of Slurm's daemons on a node are out of reach" {
    cat >sockets.py <<'PYTHON'
import glob, socket, sys

print("reached" if any(socket.socket(socket.AF_UNIX).connect_ex(path) == 0 for path in glob.glob(sys.argv[1] + "/spool/*/*")) else "none")
PYTHON
    prints reached srun --quiet python3 sockets.py "$CLUSTER"
    prints none inside srun --quiet python3 sockets.py "$CLUSTER"
}

# ---- Mail ----------------------------------------------------------------------------------------------------------------

@test "Slurm sends no mail" {
    submit --hold --mail-type=ALL --mail-user=somebody@example.org --wrap=true
    works scontrol update "JobId=$JOB" MailUser=else@example.org
    scancel "$JOB"
    wait_until is_queue_empty
    make_script directive.sh '#SBATCH --mail-user=somebody@example.org' true
    expect_refused <<'LIST'
slurm-mail sbatch --mail-type=ALL --mail-user=somebody@example.org --wrap=true
slurm-mail sbatch --mail-user=somebody@example.org --wrap=true
slurm-mail srun --mail-user=somebody@example.org true
slurm-mail salloc --mail-type=ALL --mail-user=somebody true
slurm-mail sbatch --mail-type=ALL --mail-user=$USER,somebody --wrap=true
slurm-mail sbatch directive.sh
LIST
    # To the own address it is left out: the script runs, and Slurm does not get it.
    make_script own.sh "#SBATCH --hold --mail-type=END,FAIL --mail-user=$SBX_USER@example.org" true
    submit own.sh
    prints_mail "$JOB" "$SBX_USER@example.org END,FAIL"
    local line
    for line in "own.sh" "--hold --mail-type=ALL --wrap=true" "--hold --mail-type=END --mail-user=$SBX_USER --wrap=true"; do
        run --separate-stderr inside sbatch --parsable $line
        ((status == 0)) && [[ $stderr == "sbatch: --mail-type is left out, because mail is closed in this session; "* ]] || report "told: $line"
        prints_mail "$output" ""
    done
    submit_inside --hold --wrap=true
    fails "refused [slurm-mail]" inside scontrol update "JobId=$JOB" MailUser=else@example.org
    fails "refused [slurm-mail]" inside scontrol update "JobId=$JOB" mailt=ALL
}

# prints_mail JOB EXPECTED: its address and events as Slurm stores them.
prints_mail() {
    local shown
    shown=$(scontrol show job "$1" | sed -n 's/^ *MailUser=\(.*\) MailType=\(.*\)$/\1 \2/p')
    same_text "$2" "$shown" "the mail of job $1"
}

# ---- Changes of a job ----------------------------------------------------------------------------------------------------

@test "scontrol can't change the paths, user or nodes of an accepted job" {
    submit_inside --hold --comment=mine --wrap=true
    local before
    before=$(scontrol show job "$JOB")
    local change
    for change in "StdOut=$HOME/victim" "stdo=$HOME/victim" "StdErr=$HOME/victim" "StdIn=$HOME/.ssh/id_x" "WorkDir=$HOME" "UserId=0" "Network=x" \
        "BurstBuffer=x" "AdminComment=x" "NodeList=/etc/hosts"; do
        fails "refused [" inside scontrol update "JobId=$JOB" "$change"
    done
    fails "refused [" inside scontrol update JobName=wrap TimeLimit=1
    [[ $(scontrol show job "$JOB") == "$before" ]] || leak "the job was changed"
    # The control: plain Slurm accepts those of these changes that its user may make.
    works scontrol update "JobId=$JOB" "StdOut=$HOME/victim"
}
