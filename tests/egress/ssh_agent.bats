#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The filtered ssh-agent ([ssh]): git and ssh log in at the named host as the named user, and nothing else is signed. The control of each
# attack is the same act outside, with the user's own agent.

load helper

setup() {
    start_egress_test
    install -d -o "$SBX_USER" -m 0700 "$SBX_HOME/.ssh"
    install -o "$SBX_USER" -m 0600 login "$SBX_HOME/.ssh/id_ed25519"
    rm login
    as_user ssh-keygen -q -y -f "$SBX_HOME/.ssh/id_ed25519" >"$SBX_HOME/.ssh/id_ed25519.pub"
    as_user ssh-keygen -q -t ed25519 -N '' -C 'the other key' -f "$SBX_HOME/.ssh/other"
    cat "$SBX_HOME/.ssh/"{id_ed25519,other}.pub >"$BATS_TEST_TMPDIR/keys"
    for account in remote world; do
        install -d -o "$account" -m 0700 "/home/$account/.ssh"
        install -o "$account" -m 0600 "$BATS_TEST_TMPDIR/keys" "/home/$account/.ssh/authorized_keys"
    done
    usermod --password '*' world
    printf 'ssh.example %s\n' "$(cut -d' ' -f1,2 "$INTERNET/keys/host_key.pub")" >"$SBX_HOME/.ssh/known_hosts"
    chown -R "$SBX_USER" "$SBX_HOME/.ssh"
    start_agent
    JAIL=(--network filtered)
    says_ssh 'keys = ["~/.ssh/id_ed25519.pub"]' 'hosts = ["remote@ssh.example"]'
    SSH=(ssh -F /dev/null -o BatchMode=yes -o ConnectTimeout=20)
    # Outside, the host is known by name alone as well.
    LOGIN=("${SSH[@]}" remote@ssh.example echo logged in)
    ATTACK=(python3 agent_client.py)
}
teardown() {
    [[ -z ${SECOND_HOST:-} ]] || kill "$SECOND_HOST"
    as_user rm -rf "$SBX_HOME/.ssh"
    end_egress_test
}

says_ssh() { user_says '[ssh]' "$@"; }
start_agent() {
    AGENT=$SBX_HOME/agent.socket
    AS_USER+=(SSH_AUTH_SOCK="$AGENT")
    "${AS_USER[@]}" ssh-agent -D -a "$AGENT" </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -S "$AGENT"
    as_user ssh-add -q "$SBX_HOME/.ssh/id_ed25519" "$SBX_HOME/.ssh/other"
}
# The same act: outside it succeeds, inside it does not.
signed_outside_alone() {
    run outside "$@"
    [[ $output == *signed* ]] || report "control: should be signed outside: $*"
    run in_jail "$@"
    [[ $output != *signed* ]] || report "should not be signed inside: $*"
}
start_second_host() {
    ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/second" <<<y
    sed "s|^Port .*|Port 2222|; s|^HostKey .*|HostKey $BATS_TEST_TMPDIR/second|" "$INTERNET/sshd_config" >"$BATS_TEST_TMPDIR/sshd_config"
    in_world /usr/sbin/sshd -D -e -f "$BATS_TEST_TMPDIR/sshd_config" </dev/null >/dev/null 2>&1 3>&- &
    SECOND_HOST=$!
    wait_until in_world bash -c ': </dev/tcp/203.0.113.22/2222'
}
# Records a login of an honest ssh inside, for an attack inside.
record_login() { works in_jail "${ATTACK[@]}" record messages "${LOGIN[@]}"; }

@test "ssh and git log in at the named host through the gateway, and the keys stay outside" {
    says "logged in" in_jail "${LOGIN[@]}"
    run in_jail_sh 'ls -a ~/.ssh 2>&1; grep -r "PRIVATE KEY" ~ 2>/dev/null; echo "$SSH_AUTH_SOCK"'
    [[ $output != *id_ed25519* && $output != *PRIVATE* && $output == *"/run/agent-sandbox/ssh-agent"* ]] || report "should not see keys"
    rm -rf /home/remote/pushed.git
    setpriv --reuid=remote --regid=remote --clear-groups git init -q --bare /home/remote/pushed.git
    works in_jail_sh 'git init -q work && cd work && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one &&
        GIT_SSH_COMMAND="ssh -F /dev/null -o BatchMode=yes" git push -q ssh://remote@ssh.example/home/remote/pushed.git HEAD:refs/heads/main'
    says one git -c safe.directory='*' -C /home/remote/pushed.git log --format=%s main
}

@test "bubblewrap and Landlock alone give the same socket" {
    local backend
    says "logged in" in_jail_with bwrap "${LOGIN[@]}"
    # Landlock can't lay a file over /etc, so ssh itself has no known hosts.
    SSH+=(-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null)
    for backend in bwrap landlock; do
        says "logged in" in_jail_with "$backend" "${SSH[@]}" remote@ssh.example echo logged in
        run in_jail_with "$backend" "${SSH[@]}" world@ssh.example echo logged in
        [[ $output != *"logged in"$'\n'* && $output == *"a login as world@ssh.example was refused"* ]] || report "should be refused with $backend"
    done
}
in_jail_with() { as_user "$SBX_PROGRAM" --quiet "${JAIL[@]}" --backend "$1" -- "${@:2}"; }

@test "the jail has the keys of the named hosts alone" {
    printf 'secret.example %s\n' "$(cut -d' ' -f1,2 "$INTERNET/keys/host_key.pub")" >>"$SBX_HOME/.ssh/known_hosts"
    run in_jail cat /etc/ssh/ssh_known_hosts
    [[ $output == "ssh.example ssh-ed25519 "* && $(wc -l <<<"$output") == 1 ]] || report "should be one line"
}

@test "a host without a known key stops the start, with the command that adds it" {
    says_ssh 'keys = ["~/.ssh/id_ed25519.pub"]' 'hosts = ["git@unknown.example"]'
    run -125 in_jail true
    [[ $output == *"config.toml:3"*"no key of unknown.example"*"ssh git@unknown.example"* ]] || report "should name the command"
}

@test "attack: another host is not logged in to" {
    start_second_host
    local options=(-p 2222 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null)
    says "logged in" outside "${SSH[@]}" "${options[@]}" remote@ssh.example echo logged in
    run in_jail "${SSH[@]}" "${options[@]}" remote@ssh.example echo logged in
    [[ $output != *"logged in"* && $output == *"is not of a host of ssh.hosts"* ]] || report "should be refused"
}

@test "attack: another user at the host is not logged in" {
    says "logged in" outside "${SSH[@]}" world@ssh.example echo logged in
    run in_jail "${SSH[@]}" world@ssh.example echo logged in
    [[ $output != *"logged in"$'\n'* && $output == *"a login as world@ssh.example was refused"*'ssh.hosts = ["world@ssh.example"]'* ]] || report "should name the change"
}

@test "attack: another key of the agent is neither listed nor used" {
    says "the other key" outside ssh-add -L
    run in_jail ssh-add -L
    [[ $output == "$(cut -d' ' -f1,2 "$SBX_HOME/.ssh/id_ed25519.pub")"* && $output != *other* ]] || report "should list one key"
    says "no comment" in_jail "${ATTACK[@]}" list
    cp "$SBX_HOME/.ssh/other.pub" other.pub
    local options=(-i other.pub -o IdentitiesOnly=yes)
    says "logged in" outside "${SSH[@]}" "${options[@]}" remote@ssh.example echo logged in
    run in_jail "${SSH[@]}" "${options[@]}" remote@ssh.example echo logged in
    [[ $output != *"logged in"* ]] || report "should not log in"
}

@test "attack: files and raw bytes are not signed" {
    cp "$SBX_HOME/.ssh/id_ed25519.pub" own.pub
    local act='rm -f text.sig; echo text >text; ssh-keygen -q -Y sign -n file -f own.pub text && test -s text.sig && echo signed'
    signed_outside_alone bash -c "$act"
    signed_outside_alone "${ATTACK[@]}" raw
}

@test "commits are signed in the namespace that ssh.sign names, other files are not" {
    cp "$SBX_HOME/.ssh/id_ed25519.pub" own.pub
    local act='cd "$(mktemp -d)" && git init -q && git -c user.name=a -c user.email=a@b -c gpg.format=ssh -c user.signingKey="$HOME/project/own.pub" commit -q -S --allow-empty -m one &&
        git cat-file -p HEAD | grep -q "BEGIN SSH SIGNATURE" && echo signed'
    signed_outside_alone bash -c "$act"
    says_ssh 'keys = ["~/.ssh/id_ed25519.pub"]' 'sign = ["git"]'
    says signed in_jail bash -c "$act"
    signed_outside_alone bash -c 'rm -f text.sig; echo text >text; ssh-keygen -q -Y sign -n file -f own.pub text && echo signed'
    run in_jail "${LOGIN[@]}"
    [[ $output != *"logged in"$'\n'* ]] || report "should not log in"
}

@test "attack: keys are not added, removed or locked" {
    as_user ssh-keygen -q -t ed25519 -N '' -f new
    local act
    for act in "ssh-add -q new" "ssh-add -d new" "ssh-add -D" "ssh-add -t 9 new" "ssh-add -c new"; do
        # The control: an agent of its own.
        works outside ssh-agent bash -c "ssh-add -q new && $act"
        run in_jail_sh "$act"
        ((status != 0)) || report "should be refused: $act"
    done
    works outside ssh-agent "${ATTACK[@]}" change 19
    [[ $output == done ]] || report "control"
    local kind
    for kind in 9 17 18 19 20 21 22 23 25 26 27; do
        run in_jail "${ATTACK[@]}" change "$kind"
        [[ $output == *refused* ]] || report "should be refused: $kind"
    done
    [[ $(as_user ssh-add -L | wc -l) == 2 ]] || report "the agent should be as before"
}

@test "attack: the agent is not forwarded" {
    says "the other key" outside "${SSH[@]}" -A remote@ssh.example ssh-add -L
    run in_jail "${SSH[@]}" -A remote@ssh.example ssh-add -L
    [[ $output != *"ssh-ed25519 AAAA"* && $output == *"the agent was not forwarded"* ]] || report "should list nothing"
}

@test "attack: a recorded login is signed for its own session alone" {
    record_login
    # The control: the same bytes, unchanged, on a new connection.
    says signed in_jail "${ATTACK[@]}" replay control messages
    local attack
    for attack in other-session forged-session forged-signature own-host-key no-bind second-bind wrong-user more-bytes other-service truncated forwarding; do
        # The user's own agent signs every one of them.
        [[ $attack == @(forwarding|own-host-key) ]] || says signed outside "${ATTACK[@]}" replay "$attack" messages
        run in_jail "${ATTACK[@]}" replay "$attack" messages
        [[ $output == *refused* && $output != *signed* ]] || report "should be refused: $attack"
    done
}

@test "a client without session-bind is refused, or asked about with ssh.unbound" {
    says "logged in" outside "${ATTACK[@]}" unbound "${LOGIN[@]}"
    run in_jail "${ATTACK[@]}" unbound "${LOGIN[@]}"
    [[ $output != *"logged in"$'\n'* && $output == *'OpenSSH 8.9 or later'*'ssh.unbound = "ask"'* ]] || report "should name the setting"
    says_ssh 'keys = ["~/.ssh/id_ed25519.pub"]' 'hosts = ["remote@ssh.example"]' 'unbound = "ask"'
    start_obedient_jail
    log_in_later "${ATTACK[*]} unbound ${LOGIN[*]}"
    wait_until asks "sign for remote at a host that is not known with SHA256:"
    works control approve
    wait_until test -e answer.done
    [[ $(<answer) == *"logged in"* ]] || report "should log in: $(<answer)"
    # The next one is asked about again.
    log_in_later "${ATTACK[*]} unbound ${LOGIN[*]}"
    wait_until asks "at a host that is not known"
    works control deny --reason "not that"
    wait_until test -e answer.done
    [[ $(<answer) != *"logged in"* ]] || report "should not log in"
}

control() { as_user "$SBX_PROGRAM" "$@"; }
asks() { [[ $(control pending) == *"$1"* ]]; }
log_in_later() {
    rm -f answer answer.done
    tell_jail "($1 >answer 2>&1; touch answer.done) >/dev/null 2>&1 &"
}

@test "with ssh.ask a signature waits for the user, for the session or once" {
    says_ssh 'keys = ["~/.ssh/id_ed25519.pub"]' 'hosts = ["remote@ssh.example"]' 'ask = true'
    start_obedient_jail
    log_in_later "${LOGIN[*]}"
    wait_until asks "sign for remote@ssh.example with SHA256:"
    [[ ! -e answer.done ]] || report "should wait"
    works control approve --once
    wait_until test -e answer.done
    [[ $(<answer) == *"logged in"* ]] || report "should log in: $(<answer)"
    log_in_later "${LOGIN[*]}"
    wait_until asks "sign for remote@ssh.example"
    works control approve
    wait_until test -e answer.done
    [[ $(<answer) == *"logged in"* ]] || report "should log in: $(<answer)"
    tell_jail "${LOGIN[*]}"
    [[ $output == *"logged in"* ]] || report "should not be asked again: $output"
}

@test "with ssh.ask a denied signature is not made, in the whole session" {
    says_ssh 'keys = ["~/.ssh/id_ed25519.pub"]' 'hosts = ["remote@ssh.example"]' 'ask = true'
    start_obedient_jail
    log_in_later "${LOGIN[*]}"
    wait_until asks "sign for remote@ssh.example"
    works control deny --reason "not now"
    wait_until test -e answer.done
    [[ $(<answer) != *"logged in"* ]] || report "should not log in"
    tell_jail "${LOGIN[*]}"
    [[ $output != *"logged in"* ]] || report "should not log in later: $output"
}

@test "attack: damaged messages and many connections stop no other client" {
    says closed in_jail "${ATTACK[@]}" large
    # More than the filter serves at once; they end with their process.
    works in_jail_sh 'python3 agent_client.py flood 60 && ssh-add -l && '"${LOGIN[*]}"
    [[ $output == *"connected 60"*"logged in"* ]] || report "should serve the next client"
}

@test "attack: the user's own agent is not in the jail, and the filter can open nothing" {
    works outside env SSH_AUTH_SOCK="$AGENT" ssh-add -l
    run in_jail env SSH_AUTH_SOCK="$AGENT" ssh-add -l
    ((status != 0)) || report "should not be reached"
    start_obedient_jail
    tell_jail "ssh-add -l"
    local filter
    filter=$(for process in $(descendants "$SUPERVISOR"); do [[ $(cat "/proc/$process/comm" 2>/dev/null) != asb-ssh-agent ]] || echo "$process"; done)
    [[ -n $filter ]] || report "no filter runs"
    local state
    state=$(<"/proc/$filter/status")
    [[ $state == *$'NoNewPrivs:\t1'* && $state == *$'Seccomp:\t2'* ]] || report "should be confined: $state"
    # What it parses can't end the session; what is left of it is closed.
    kill -KILL "$filter"
    tell_jail "ssh-add -l"
    ((status != 0)) || report "should get no answer"
    tell_jail "echo still here"
    [[ $output == "still here" ]] || report "the session should go on"
}

@test "a session without an agent or without [ssh] has no socket" {
    local AS_USER=("${AS_USER[@]/#SSH_AUTH_SOCK=*/NOTHING=1}")
    says "no socket: unset" in_jail_sh 'test ! -e /run/agent-sandbox/ssh-agent && echo "no socket: ${SSH_AUTH_SOCK-unset}"'
    says "SSH_AUTH_SOCK names no agent" control plan true
    user_says '[network]' 'mode = "filtered"'
    AS_USER+=(SSH_AUTH_SOCK="$AGENT")
    says "no socket" in_jail_sh 'test ! -e /run/agent-sandbox/ssh-agent && echo "no socket"'
}

@test "why ssh names the rule and the change, outside and inside" {
    run -0 control why ssh remote@ssh.example
    [[ $output == *signed* ]] || report "should be signed"
    run -1 control why ssh root@ssh.example
    [[ $output == *'ssh.hosts = ["root@ssh.example"]'* ]] || report "should name the change"
    says signed in_jail /run/agent-sandbox/agent-sandbox why ssh remote@ssh.example
    run -1 in_jail /run/agent-sandbox/agent-sandbox why ssh root@ssh.example
}

@test "the record has each signature and each refusal, without the session" {
    says "logged in" in_jail "${LOGIN[@]}"
    run in_jail "${SSH[@]}" world@ssh.example true
    run -0 bash -c "cat $SBX_HOME/.local/state/agent-sandbox/sessions/*.jsonl | grep '\"kind\":\"signature\"'"
    [[ $output == *'"verdict":"allow"'* || $output == *allow* ]] || report "should have the signature"
    [[ $output == *'remote@ssh.example'* && $output == *'a login as world@ssh.example was refused'* ]] || report "should have both"
}
