# SPDX-License-Identifier: MIT
# Shared by the tests of credentials that use a credential `tracker` for good.example and git.example.

VALUE=tok_c4naryVALUEc4naryVALUEc4naryVALUE
# Every byte xor 0x55, for canary.py.
MASKED=$(python3 -c 'import sys; print(bytes(byte ^ 0x55 for byte in sys.argv[1].encode()).hex())' "$VALUE")

start_credential_test() {
    start_egress_test
    install -d -o "$SBX_USER" -m 0700 "$SBX_HOME/keys"
    printf '%s\n' "$VALUE" >"$SBX_HOME/keys/tracker"
    chown -R "$SBX_USER" "$SBX_HOME/keys"
    chmod 0600 "$SBX_HOME/keys/tracker"
    define_tracker
    proxied --credential tracker
    log_mark
}

# define_tracker_from SOURCE [LINE...]: the lines are added to its table or follow it.
define_tracker_from() {
    user_says '[credential.tracker]' 'hosts = ["good.example", "git.example"]' 'put = "bearer or git"' 'variable = "TRACKER_TOKEN"' \
        'shape = "tok_{40}"' "$@"
}
define_tracker() { define_tracker_from 'from_file = "~/keys/tracker"' "$@"; }

# The jail's own trust is tested, and the launching shell trusts the authority of the tests.
brokered() { as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }
brokered_sh() { brokered bash -c "$1" sh "${@:2}"; }

# start_brokered_jail [OPTION...]: as start_obedient_jail, with the jail's own trust. BROKERED_OUT gets the program's own messages.
start_brokered_jail() {
    local JAIL=("$@" "${JAIL[@]}") TRUST=(A=b) AS_USER=("${AS_USER[@]}" SSL_CERT_FILE="$SBX_STAGE/authority.crt")
    BROKERED_OUT=$BATS_TEST_TMPDIR/jail.out
    start_obedient_jail
}
