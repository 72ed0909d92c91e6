# SPDX-License-Identifier: MIT
# The channel between the jail and the helper outside, and what a job inherits from its session: never more than the session has.

load compare
setup() { start_slurm_test; }
teardown() {
    "$CLUSTER/bin/control" open-network
    end_slurm_test
}

# ---- The channel ---------------------------------------------------------------------------------------------------------

@test "invalid data, large frames and many connections on the socket do not block other requests" {
    cat >crowd.py <<'PYTHON'
import contextlib, random, socket, subprocess, sys, time


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("/run/agent-sandbox/slurm")
    return connection


def ask():
    return subprocess.run(["squeue", "--noheader"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


random.seed(7)
junk = [b"", b"\0" * 100000, b"\xff" * 100000, b"GET / HTTP/1.0\r\n\r\n", b"\xff\xff\xff\xff" + bytes(range(1, 41))]
junk += [random.randbytes(5000) for _ in range(40)]
for each in junk:
    connection = connect()
    connection.settimeout(9)
    # The peer may close the connection before it has read everything. A timeout is an error.
    with contextlib.suppress(ConnectionError):
        connection.send(each)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def is_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


# Some send nothing, some stop in the middle of a frame. The answer must come while one of them is still connected; on a busy machine all
# may have reached their time limit by then.
for _ in range(20):
    crowd = [connect() for _ in range(200)]
    for connection in crowd[::2]:
        with contextlib.suppress(ConnectionError):
            connection.send(b"\0\0")
    answer = ask()
    if answer.returncode != 0:
        sys.exit(f"not answered: {answer}")
    are_open = [is_open(connection) for connection in crowd]
    for connection in crowd:
        connection.close()
    if any(are_open):
        break
else:
    sys.exit("waited for the crowd")
for _ in range(100):
    if ask().returncode == 0:
        break
    time.sleep(0.1)
else:
    sys.exit("not served after the crowd")
print("served")
PYTHON
    prints served inside python3 crowd.py
    prints "" inside squeue --noheader
}

@test "the socket, the stubs and the helper can't be replaced or ended from inside" {
    # The helper exists from the first call on.
    start_jail 'squeue >/dev/null; touch ready; while test -e ready; do sleep 0.05; done'
    local helper
    helper=$(pgrep -o -u "$(id -u)" -x asb-chaperon) # the first: its worker of the last request may still be ending
    works kill -0 "$helper"
    fails "No such process" in_jail bash -c 'kill -0 "$1"' bash "$helper"
    local act
    for act in 'rm /run/agent-sandbox/slurm' 'mv /run/agent-sandbox/slurm /run/agent-sandbox/other' 'rm /run/agent-sandbox/stubs/sbatch' \
        'cp /bin/true /run/agent-sandbox/stubs/sbatch' 'touch /run/agent-sandbox/stubs/new' 'cp /bin/true /usr/bin/sbatch' 'mv /run/agent-sandbox /run/other' \
        'umount /usr/bin/sbatch' 'mount --bind /bin/true /usr/bin/sbatch'; do
        run in_jail sh -c "$act"
        ((status != 0)) || leak "should fail: $act"
    done
    # Under every name it is the stub; the file below the stub can't be reached.
    local name
    for name in /usr/bin/sbatch /run/agent-sandbox/stubs/sbatch; do fails "refused [slurm-identity]" inside "$name" --uid=0 --wrap=true; done
    rm ready
    end_of_jail
    wait_until is_gone "$helper"
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# ---- What a job inherits -------------------------------------------------------------------------------------------------

@test "a job has the network of its session and no more" {
    make_script show.sh 'grep -c : /proc/net/dev'
    JAIL=(--network open)
    works inside srun --quiet ./show.sh
    ((output > 1)) || report "the control has more than the loopback"
    JAIL=(--network isolated)
    prints 1 inside srun --quiet ./show.sh
    fails "refused" in_jail sh -c 'AGENT_SANDBOX_NETWORK_MODE=open srun --quiet --network=open ./show.sh'
    submit_inside --output=out --export=ALL,AGENT_SANDBOX_NETWORK_MODE=open show.sh
    wait_for_job "$JOB"
    prints 1 cat out
    # Nor does a step that a step starts.
    prints 1 inside srun --quiet sh -c 'srun --quiet --overlap ./show.sh'
}

@test "jobs have the session's limits, read-only paths and shown paths" {
    mkdir ~/shown kept
    echo "to be seen" >~/shown/file
    JAIL=(--limit file_size=64KiB --limit processes=50 --ro "$HOME/shown")
    make_script show.sh 'cat ~/shown/file' 'touch ~/shown/new 2>/dev/null && echo "written"' 'bash -c "ulimit -u"' 'dd if=/dev/zero of=large bs=1k count=256 2>/dev/null; wc -c <large'
    works in_jail ./show.sh
    local here=$output
    [[ $here == $'to be seen\n'*$'\n65536' ]] || report "the session itself"
    prints "$here" inside srun --quiet ./show.sh
    submit_inside --output=out show.sh
    wait_for_job "$JOB"
    prints "$here" cat out
    JAIL=()
    run inside srun --quiet ./show.sh
    [[ $output != "$here" ]] || report "the control has neither"
}

@test "the administrator's file on the node applies, whatever settings the job has" {
    make_script show.sh 'grep -c : /proc/net/dev'
    JAIL=(--network open)
    submit_inside --hold --output=out show.sh
    works "$CLUSTER/bin/control" close-network
    works scontrol release "$JOB"
    wait_until is_job_over "$JOB"
    works "$CLUSTER/bin/control" open-network
    [[ ! -e out || $(cat out) == 1 ]] || { output=$(cat out) leak "the job has the network that it was submitted with"; }
    submit_inside --output=out show.sh
    wait_for_job "$JOB"
    (($(cat out) > 1)) || { output=$(cat out) report "the control has more than the loopback"; }
}

@test "a job does not follow a link that replaced its project" {
    mkdir ~/elsewhere
    submit_inside --hold --output=out --wrap="touch written"
    cd ..
    mv project moved
    ln -s elsewhere project
    works scontrol release "$JOB"
    wait_until is_job_over "$JOB"
    rm project
    mv moved project
    [[ -z $(ls ~/elsewhere) ]] || { output=$(ls ~/elsewhere) leak "written elsewhere"; }
    works grep "is another directory than when the job was submitted" ~/.local/state/agent-sandbox/slurm/output/"$JOB"
    # The control: the same wait without replacing the directory.
    cd project
    submit_inside --hold --output=out --wrap="touch written"
    works scontrol release "$JOB"
    wait_for_job "$JOB"
    works test -e written
}

@test "the agent can read the record of its Slurm requests, not write it" {
    run inside sh -c 'sbatch --uid=0 --wrap=true; srun true; agent-sandbox slurm-log'
    [[ $output == *'"slurm-identity"'* && $output == *'"step"'* ]] || report "the log"
    fails "No such file" inside sh -c "ls $HOME/.local/state/agent-sandbox/slurm/log"
    works ls "$HOME/.local/state/agent-sandbox/slurm/log"
    fails "inside of a jail" outside "$SBX_PROGRAM" slurm-log
}
