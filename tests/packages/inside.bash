# SPDX-License-Identifier: MIT
# Functions for a script in a clean root. It runs as root there; `me` is an ordinary user with a project and a secret.

trap 'echo "line: $BASH_COMMAND" >&2' ERR
set -E

PROJECT=/home/me/project
# The configuration of a small root leaves documents out of packages; the tests look at ours.
rm -f /etc/dpkg/dpkg.cfg.d/99mmdebstrap
echo "me:x:4321:4321::/home/me:/bin/sh" >>/etc/passwd
echo "me:x:4321:" >>/etc/group
mkdir -p $PROJECT
echo "a secret of mine" >/home/me/secret
chown -R 4321:4321 /home/me
children=()
trap 'for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done' EXIT

as_me() {
    (cd $PROJECT && exec setpriv --reuid 4321 --regid 4321 --clear-groups env -i HOME=/home/me USER=me LOGNAME=me \
        PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 "$@")
}

works() { "$@" >/tmp/said 2>&1 || { echo "should work: $*"; cat /tmp/said; return 1; } >&2; }

# fails REASON COMMAND...
fails() {
    local reason=$1
    shift
    if "$@" >/tmp/said 2>&1; then echo "should fail: $*" >&2; return 1; fi
    [[ -z $reason ]] || grep -qF -- "$reason" /tmp/said || { echo "should fail with '$reason': $*"; cat /tmp/said; return 1; } >&2
}

prints() {
    local text=$1 said
    shift
    said=$("$@") || { echo "should work: $*" >&2; return 1; }
    [[ $said == "$text" ]] || { printf 'should print "%s": %s\n%s\n' "$text" "$*" "$said" >&2; return 1; }
}

says() {
    local text=$1
    shift
    "$@" >/tmp/said 2>&1 || { echo "should work: $*"; cat /tmp/said; return 1; } >&2
    grep -qF -- "$text" /tmp/said || { echo "should say '$text': $*"; cat /tmp/said; return 1; } >&2
}

# Polls the condition for 20 seconds at most.
wait_until() {
    local i
    for ((i = 0; i < 200; i++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    echo "did not happen: $*" >&2
    return 1
}

# Every file except those that the package manager and the sessions of `me` write; with links and owners.
everything() {
    find / -xdev '(' -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache \
        -o -path /checkout -o -path /home/me/.local ')' -prune -o -printf '%p %y %u %m %l\n' | sort
}

# is_a_jail PROGRAM: it makes a real jail; with a control outside.
is_a_jail() {
    works as_me cat /home/me/secret
    fails "No such file" as_me "$1" --quiet -- cat /home/me/secret
    works as_me "$1" --quiet -- sh -c 'echo made inside >made'
    prints "made inside" cat $PROJECT/made
    rm $PROJECT/made
    fails "" as_me "$1" --quiet -- sh -c 'exit 7'
}

# start_session NAME PROGRAM: a session of `me` that runs each line of $PROJECT/NAME.ask and writes the output to
# $PROJECT/NAME.answer; the line `end` ends it.
start_session() {
    local name=$1 program=$2
    as_me mkfifo $PROJECT/"$name".ask
    cat >$PROJECT/answer <<'ANSWER'
exec 3<>"$1.ask"
: >"$1.ready"
while read -r line <&3 && [ "$line" != end ]; do
    sh -c "$line" >"$1.new" 2>&1
    mv "$1.new" "$1.answer"
done
exit 42
ANSWER
    as_me "$program" --quiet -- sh answer "$name" &
    children+=($!)
    SESSION=$!
    wait_until test -e $PROJECT/"$name".ready
}

# ask NAME COMMAND: prints the command's output from inside.
ask() {
    rm -f $PROJECT/"$1".answer
    echo "$2" >$PROJECT/"$1".ask
    wait_until test -e $PROJECT/"$1".answer && cat $PROJECT/"$1".answer
}

# end_session NAME PROCESS: ends it through its own command; the session must return that command's status.
end_session() {
    local status=0
    echo end >$PROJECT/"$1".ask
    wait "$2" || status=$?
    [[ $status == 42 ]] || { echo "the session $1 ended with $status, not with its command's 42" >&2; return 1; }
}
