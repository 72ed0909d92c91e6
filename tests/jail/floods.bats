#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The guards read file events from queues that hold 16,384 (fs.inotify.max_queued_events). A session that makes very many names must
# not hide the one that matters, neither because the queue is full nor because it is never empty.

load helper

setup() {
    start_test
    make_repository .
    mkdir full
    echo secret >.env
    JAIL=(--network isolated)
}
teardown() {
    for process in $(pgrep -u "$SBX_USER" -x 'asb-(keeper|search)'); do kill -CONT "$process" 2>/dev/null || true; done
    end_test
}

is_gone() { [[ ! -e $1 && ! -L $1 ]]; }
# process_of NAME: the helper of the only session.
process_of() { pgrep -n -u "$SBX_USER" -x "$1"; }
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
stop_process() { kill -STOP "$1" && wait_until is_stopped "$1"; }

# Functions of the scripts inside. flood: makes more names than the queue holds, and leaves them, because the
# keeper answers removals and renames. write_all_the_time: many events in the directory of a git configuration, until the file "go" exists.
FLOOD='flood() { python3 -c "import os
for i in range(20000): os.close(os.open(f\"n{i}\", os.O_CREAT | os.O_WRONLY))"; }
write_all_the_time() { python3 -c "import os
one, other = (os.open(f\".git/{name}\", os.O_CREAT | os.O_WRONLY) for name in \"ab\")
while not os.path.exists(\"go\"):
    for i in range(10000): os.pwrite(one, b\"x\", 0), os.pwrite(other, b\"x\", 0)"; }
until_there() { until [ -e "$1" ]; do sleep 0.02; done; }
'
remove_flood() { find . -maxdepth 1 -name 'n[0-9]*' -delete; }

# The guard is stopped while the events are lost, so that the size of the queue alone decides.
@test "HEAD that is made while the keeper loses events is moved out of the project" {
    local backend keeper
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        start_jail "$FLOOD"'touch ready; until_there stopped; flood; echo x >HEAD; touch flooded; until_there go'
        keeper=$(process_of asb-keeper)
        stop_process "$keeper"
        touch stopped
        wait_until test -e flooded
        works test -e HEAD
        kill -CONT "$keeper"
        wait_until is_gone HEAD
        touch go
        end_of_jail
        ((STATUS == 0)) || report "$backend: the session failed"
        rm stopped flooded go && remove_flood
    done
}

@test "a masked file that is replaced while the keeper loses events is covered again" {
    local backend keeper
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        start_jail "$FLOOD"'touch ready; until_there stopped; flood; touch flooded; until_there replaced
            cat .env >shown; touch read; until [ -z "$(cat .env)" ]; do sleep 0.02; done'
        keeper=$(process_of asb-keeper)
        stop_process "$keeper"
        touch stopped
        wait_until test -e flooded
        echo "another secret" >new && mv new .env
        touch replaced
        wait_until test -e read
        prints "another secret" cat shown # the control: only the keeper covers it
        kill -CONT "$keeper"
        end_of_jail
        ((STATUS == 0)) || report "$backend: the session failed"
        rm stopped flooded replaced shown read && remove_flood
    done
}

@test "a masked file that appears while the search loses events is covered" {
    local backend search
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        start_jail "$FLOOD"'touch ready; until_there stopped; flood; touch flooded; until_there made
            cat service/.env >shown; touch read; until [ -z "$(cat service/.env)" ]; do sleep 0.02; done'
        wait_until process_of asb-search >/dev/null
        search=$(process_of asb-search)
        stop_process "$search"
        touch stopped
        wait_until test -e flooded
        mkdir service && echo "service secret" >service/.env
        touch made
        wait_until test -e read
        prints "service secret" cat shown # the control: only the search covers it
        kill -CONT "$search"
        end_of_jail
        ((STATUS == 0)) || report "$backend: the session failed"
        rm -r stopped flooded made shown read service && remove_flood
    done
}

# More processes than processors, so that the keeper gets a small part of them.
@test "events that arrive all the time keep the keeper from nothing" {
    local backend
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        start_jail "$FLOOD"'for i in 1 2 3 4 5 6 7 8; do write_all_the_time & done; touch ready; echo x >HEAD
            while [ -e HEAD ]; do sleep 0.02; done; touch moved; until_there replaced
            until [ -z "$(cat .env)" ]; do sleep 0.02; done; touch go; wait'
        wait_until test -e moved
        echo "another secret" >new && mv new .env
        touch replaced
        end_of_jail
        ((STATUS == 0)) || report "$backend: the session failed"
        rm moved replaced go
    done
}
