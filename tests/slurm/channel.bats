# SPDX-License-Identifier: MIT
# The channel between the jail and the helper outside, and what a job inherits from its session: never more than the session has.

load compare
setup() { start_slurm_test; }
teardown() {
    "$CLUSTER/bin/control" open-network
    end_slurm_test
}

# ---- The channel ---------------------------------------------------------------------------------------------------------

@test "junk, large frames and crowds on the socket neither hang nor hurt others" {
    cat >crowd.pl <<'PERL'
use strict;
use warnings;
use IO::Socket::UNIX;
$SIG{PIPE} = "IGNORE";
my $path = "/run/agent-sandbox/slurm";
sub door { IO::Socket::UNIX->new(Peer => $path) or die "$path: $!\n" }
srand 7;
my @junk = ("", "\0" x 100000, "\xff" x 100000, "GET / HTTP/1.0\r\n\r\n", pack("L> C*", 0xffffffff, 1 .. 40), pack("L< C*", 0xffffffff, 1 .. 40));
push @junk, join "", map { chr int rand 256 } 1 .. 5000 for 1 .. 40;
for my $junk (@junk) {
    my $door = door();
    syswrite $door, $junk;
    shutdown $door, 1;
    local $SIG{ALRM} = sub { die "no answer to junk\n" };
    alarm 9;
    1 while sysread $door, my $answer, 65536;
    alarm 0;
}
# Some say nothing, some stop in the middle of a frame.
my @crowd = map { my $door = door(); syswrite $door, "\0\0" if $_ % 2; $door } 1 .. 200;
my $began = time;
my $said = `squeue --noheader 2>&1`;
die "waited for the crowd\n" if time - $began > 8;
die "neither answered nor refused: $? $said\n" unless $? == 0 || $said =~ /slurm-busy/;
undef @crowd;
for (1 .. 100) {
    last if system("squeue --noheader >/dev/null 2>&1") == 0;
    select undef, undef, undef, 0.1;
    die "not served after the crowd\n" if $_ == 100;
}
print "served\n";
PERL
    prints served inside perl crowd.pl
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
        ((status != 0)) || report "should fail: $act"
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

@test "limits, read-only places and shown places go along" {
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

@test "the administrator's file on the node holds, whatever the job brings" {
    make_script show.sh 'grep -c : /proc/net/dev'
    JAIL=(--network open)
    submit_inside --hold --output=out show.sh
    works "$CLUSTER/bin/control" close-network
    works scontrol release "$JOB"
    wait_until is_job_over "$JOB"
    works "$CLUSTER/bin/control" open-network
    [[ ! -e out || $(cat out) == 1 ]] || { output=$(cat out) report "the job has the network that it was submitted with"; }
    submit_inside --output=out show.sh
    wait_for_job "$JOB"
    (($(cat out) > 1)) || { output=$(cat out) report "the control has more than the loopback"; }
}

@test "a job whose project was replaced by a link meanwhile does not follow it" {
    mkdir ~/elsewhere
    submit_inside --hold --output=out --wrap="touch written"
    cd ..
    mv project moved
    ln -s elsewhere project
    works scontrol release "$JOB"
    wait_until is_job_over "$JOB"
    rm project
    mv moved project
    [[ -z $(ls ~/elsewhere) ]] || { output=$(ls ~/elsewhere) report "written elsewhere"; }
    works grep "is another directory than when the job was submitted" ~/.local/state/agent-sandbox/slurm/output/"$JOB"
    # The control: the same wait without replacing the directory.
    cd project
    submit_inside --hold --output=out --wrap="touch written"
    works scontrol release "$JOB"
    wait_for_job "$JOB"
    works test -e written
}

@test "the agent can read what its session asked of Slurm, and not write it" {
    run inside sh -c 'sbatch --uid=0 --wrap=true; srun true; agent-sandbox slurm-log'
    [[ $output == *'"slurm-identity"'* && $output == *'"step"'* ]] || report "the log"
    fails "No such file" inside sh -c "ls $HOME/.local/state/agent-sandbox/slurm/log"
    works ls "$HOME/.local/state/agent-sandbox/slurm/log"
    fails "inside of a jail" outside "$SBX_PROGRAM" slurm-log
}
