# SPDX-License-Identifier: MIT
# Throwaway users for scripts that run as root and must not prove anything as root. Sourced, not run.

# The files of accounts are changed by one at a time: useradd and userdel give up where another holds them.
change_accounts() { flock /run/lock/agent-sandbox-throwaway "$@"; }

make_user() { change_accounts useradd --create-home --shell /bin/bash "$1"; }

home_of() { getent passwd "$1" | cut -d: -f6; }

# Ends what the user still runs, by process, and removes the account with its home directory.
remove_user() {
    local process
    id "$1" >/dev/null 2>&1 || return 0
    for process in $(pgrep -u "$1"); do kill -KILL "$process" 2>/dev/null || true; done
    # Where its sessions were, without a runtime directory.
    rm -rf -- "/tmp/agent-sandbox-u$(id -u "$1")"
    change_accounts userdel --remove "$1" 2>/dev/null || true
}

# as_throwaway USER NAME=VALUE... COMMAND...: with an environment of its own.
as_throwaway() {
    local user=$1
    shift
    runuser -u "$user" -- env -i HOME="$(home_of "$user")" USER="$user" LOGNAME="$user" SHELL=/bin/bash \
        PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C "$@"
}

# Runs clean_up however the script ends.
clean_up_at_the_end() {
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

random_tag() { od -An -N4 -tx1 /dev/urandom | tr -d ' \n'; }
