#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ssh in the jail: the stub adds a line where keys are missing, and changes nothing else.

load helper
setup() {
    start_egress_test
    filtered
    SSH=(ssh -F /dev/null -o BatchMode=yes -o ConnectTimeout=10 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null)
    WITH_KEY=("${SSH[@]}" -i login remote@ssh.example)
}
teardown() { end_egress_test; }

LINE="agent-sandbox: ssh has no key for ssh.example: your keys, known hosts and ssh-agent stay outside; set"

# explained COMMAND...: as outside, with the line at the end.
explained() {
    local expected
    run -255 --separate-stderr outside "$@"
    expected=$stderr
    [[ $expected != *agent-sandbox* ]] || report "control: $expected"
    run -255 --separate-stderr in_jail "$@"
    [[ -z $output && $(tail -n 1 <<<"$stderr") == "$LINE"*'ssh.hosts = ["remote@ssh.example"]'*'--dangerous-socket "$SSH_AUTH_SOCK" --env SSH_AUTH_SOCK --allow-host ssh.example, '* ]] || report "$stderr"
    [[ $(sed '$d' <<<"$stderr") == "$expected" ]] || report "other messages than outside: $stderr"
}

# plain STATUS COMMAND...: it ends with STATUS and without a line.
plain() {
    run "-$1" --separate-stderr in_jail "${@:2}"
    [[ $stderr != *"agent-sandbox: ssh has no key"* ]] || report "should have no line: $stderr"
}

@test "ssh without a key: one line names the options, after ssh's own message" {
    explained "${SSH[@]}" remote@ssh.example true
    [[ $stderr == *"Permission denied (publickey"* ]] || report "$stderr"
    explained ssh -F /dev/null -o BatchMode=yes remote@ssh.example true
    [[ $stderr == *"Host key verification failed."* ]] || report "$stderr"
}

@test "git over ssh without a key: the line is between the messages of ssh and git" {
    run --separate-stderr in_jail env GIT_SSH_COMMAND="${SSH[*]}" git clone -q ssh://remote@ssh.example/home/remote/one.git clone
    ((status == 128)) && [[ $stderr == *"Permission denied"*"$LINE"*"Could not read from remote repository"* ]] || report "$stderr"
}

@test "ssh has no line where a key, an agent or another reason explains the failure" {
    # Control: the key opens the server, and the command on the server ends like a failure of ssh.
    says "over ssh" in_jail "${WITH_KEY[@]}" echo over ssh
    plain 255 "${WITH_KEY[@]}" exit 255
    plain 255 ssh-agent "${SSH[@]}" remote@ssh.example true
    plain 255 "${SSH[@]}" -q remote@ssh.example true
    plain 255 "${SSH[@]}" remote@evil.example true
    plain 255 "${SSH[@]}" remote@203.0.113.66 true
    plain 255 "${SSH[@]}" remote@missing.example true
    plain 255 "${SSH[@]}" -p 2 remote@ssh.example true
    plain 255 "${SSH[@]}" -o Nonsense=yes remote@ssh.example true
    plain 255 "${SSH[@]}" -O check remote@ssh.example
    plain 255 "${SSH[@]}" -o ProxyCommand="sh -c 'exit 1'" remote@ssh.example true
    plain 0 ssh -V
    plain 255 /usr/bin/ssh "${SSH[@]:1}" remote@ssh.example true
}

@test "ssh gets input, output, errors and the status as outside" {
    local act='cat; echo problem >&2; exit 7'
    run -7 --separate-stderr outside bash -c 'echo typed | "$@"' sh "${WITH_KEY[@]}" "$act"
    local expected_output=$output expected_errors=$stderr
    [[ $output == typed && $stderr == *problem* ]] || report "control: $stderr"
    run -7 --separate-stderr in_jail bash -c 'echo typed | "$@"' sh "${WITH_KEY[@]}" "$act"
    [[ $output == "$expected_output" && $stderr == "$expected_errors" ]] || report "$stderr"
    # The writer ends when ssh has ended, so the stub holds no end of the pipe.
    run --separate-stderr in_jail bash -c 'yes typed | "$@" "head -n 1"' sh "${WITH_KEY[@]}"
    [[ $output == typed ]] || report "$stderr"
}

# On a terminal of its own, whose name on the server is not that of the jail.
@test "ssh has the terminal" {
    local act="${WITH_KEY[*]} -tt 'tty; stty size; exit 3'"
    run outside script -qec "stty rows 31 cols 77; $act" /dev/null
    ((status == 3)) && [[ $output == *"31 77"* ]] || report "control"
    run in_jail script -qec "stty rows 31 cols 77; $act" /dev/null
    ((status == 3)) && [[ $output == *"31 77"* ]] || report "should be the same inside"
}

# What an interactive shell needs: a stop is seen, a signal is passed on, and the end by a signal is one.
@test "ssh is stopped, continued and ended by signals as outside" {
    cat >act <<'END'
set -m
rm -f begun
: >begun
"$@" "echo begun; sleep 1000" >begun &
job=$!
until grep -q begun begun; do sleep 0.01; done
state() { awk '{ print $3 }' "/proc/$job/stat"; }
kill -TSTP "$job"
until [[ $(state) == T ]]; do sleep 0.01; done
jobs -l | grep -o Stopped
kill -CONT "$job"
until [[ $(state) != T ]]; do sleep 0.01; done
kill -TERM "$job"
wait "$job"
echo "status $?"
until ! pgrep -u "$(id -u)" -f 'sleep [1]000' >/dev/null; do sleep 0.01; done
END
    local where
    for where in outside in_jail; do
        run --separate-stderr "$where" timeout 100 bash act "${WITH_KEY[@]}"
        # ssh ends the session itself when it gets this signal.
        [[ $output == $'Stopped\nstatus 255' ]] || report "$where: $output $stderr"
    done
}
