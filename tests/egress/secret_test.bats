#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `secret test` makes the harmless request of a credential from a real jail, through a real gateway.

load helper
load brokered

setup() { start_credential_test; }
teardown() { end_egress_test; }

# git.example is the first host, and the probe goes to the other one.
define_tracker() {
    user_says '[credential.tracker]' 'hosts = ["git.example", "good.example"]' 'put = "bearer"' 'variable = "TRACKER_TOKEN"' \
        'shape = "tok_{40}"' 'from_file = "~/keys/tracker"' 'probe = "GET good.example/private"' "$@"
}
secret_test() { as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" secret test tracker; }

@test "secret test reports the status of the host, which got the value" {
    says "GET good.example/private: 200" secret_test
    [[ $output == "tracker: "*" ms from the file"* && $output != *"$VALUE"* ]] || report "the line"
    seen values "|Bearer $VALUE|"
}

@test "secret test fails with the reason when the request is refused" {
    define_tracker '' '[requests]' 'block = ["GET good.example/private"]'
    run secret_test
    ((status == 1)) && [[ $output == *"GET good.example/private: 403 "*"refuses GET good.example/private"* ]] || report "should be refused"
    unseen values private
    # A host that this machine does not trust gets no value.
    define_tracker
    run as_user "$SBX_PROGRAM" secret test tracker
    ((status == 1)) && [[ $output == *": 502 "*"not trusted"* ]] || report "should not be trusted"
    unseen values private
}
