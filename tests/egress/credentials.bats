#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Credentials stay outside: the host gets the real value, the jail has a placeholder. The control of each refusal is the same request
# with the placeholder at its own host, or outside.

load helper
load brokered

# In the log of the server: Authorization as it came.
BASIC=eC1hY2Nlc3MtdG9rZW46dG9rX2M0bmFyeVZBTFVFYzRuYXJ5VkFMVUVjNG5hcnlWQUxVRQ==

setup() { start_credential_test; }
teardown() { end_egress_test; }

@test "the host gets the real value, and the jail sees a placeholder of its form" {
    says welcome brokered_sh 'curl -sS --max-time 30 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
    seen values "|Bearer $VALUE|"
    works brokered_sh 'echo "$TRACKER_TOKEN"'
    [[ $output =~ ^tok_[A-Za-z0-9]{40}$ ]] || report "should be a placeholder"
    # Control: without the value the host refuses.
    says "no value" outside curl -sS https://good.example/private
}

@test "each session has a placeholder of its own, and the one of another session is refused" {
    local first
    works brokered_sh 'echo "$TRACKER_TOKEN"'
    first=$output
    works brokered_sh 'echo "$TRACKER_TOKEN"'
    [[ $output != "$first" ]]
    log_mark
    says "x-agent-sandbox: foreign_credential" brokered curl -sSi -H "Authorization: Bearer $first" https://good.example/private
    unseen values "$first"
}

@test "an answer that repeats the value is redacted, in its head and its body" {
    works brokered_sh 'curl -sSi --max-time 30 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/mirror'
    seen values "|Bearer $VALUE|"
    [[ $output == *"seen: Bearer *****"* && ${output,,} == *"x-seen: bearer *****"* ]] || report "should be redacted"
    [[ $output != *"$VALUE"* ]]
}

@test "a token as gcloud prints it is fetched again when it ends" {
    cat >"$SBX_HOME/keys/config-helper" <<END
#!/bin/sh
echo called >>$SBX_HOME/keys/calls
printf '{"configuration": {"properties": {}}, "credential": {"access_token": "$VALUE", "token_expiry": "%s"}}' \
    "\$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)"
END
    chmod 0755 "$SBX_HOME/keys/config-helper"
    chown "$SBX_USER" "$SBX_HOME/keys/config-helper"
    define_tracker_from "from_command = [\"$SBX_HOME/keys/config-helper\"]"
    brokered_sh 'until [[ -e enough ]]; do
        curl -sS --max-time 30 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private >>answers; sleep 0.2; done' &
    CHILDREN+=("$!")
    wait_until is_called_twice
    as_user touch enough
    wait "${CHILDREN[-1]}"
    ! grep -qv welcome answers || report "every request should have the value"
}
is_called_twice() { [[ $(wc -l 2>/dev/null <"$SBX_HOME/keys/calls") -ge 2 ]]; }

@test "a placeholder toward another host is refused and recorded as a finding" {
    # also.example is read because of a rule; plain HTTP is read in any case.
    define_tracker '' '[requests]' 'block = ["DELETE also.example/**"]'
    says "x-agent-sandbox: placeholder_elsewhere" brokered_sh 'curl -sSi -H "Authorization: Bearer $TRACKER_TOKEN" https://also.example/private'
    says "x-agent-sandbox: placeholder_elsewhere" brokered_sh 'curl -sSi "https://also.example/private?key=$TRACKER_TOKEN"'
    says "x-agent-sandbox: placeholder_elsewhere" brokered_sh 'curl -sSi -u "x:$TRACKER_TOKEN" https://also.example/private'
    run brokered_sh 'curl -sS -H "X-Token: $TRACKER_TOKEN" http://npm.example/private'
    [[ $output == *"placeholder of the credential 'tracker'"* ]] || report "should be refused"
    unseen values also.example
    unseen values npm.example
    run brokered_sh 'curl -sS -u "x:$TRACKER_TOKEN" https://also.example/private'
    [[ $output == *"agent-sandbox: a program in the jail tried to send a credential to another host"* ]] || report "should be told"
    grep -rqs '"finding":true' "$SBX_HOME/.local/state/agent-sandbox/sessions" || report "should be recorded"
    # Control: the same host without the placeholder.
    says "no value" brokered curl -sS https://also.example/private
}

@test "a credential of another account is refused at a bound host" {
    says "x-agent-sandbox: foreign_credential" brokered curl -sSi -H "Authorization: Bearer tok_of_another_account" https://good.example/private
    unseen values tok_of_another_account
    says "no value" outside curl -sS -H "Authorization: Bearer tok_of_another_account" https://good.example/private
    seen values tok_of_another_account
}

@test "git clones and pushes over HTTPS without an option" {
    define_tracker 'when = "always"'
    works brokered_sh '
        git clone -q https://git.example/private-git/one.git clone && cd clone &&
        git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m "from the jail" &&
        git push -q origin HEAD:refs/heads/from-jail-$$ && git ls-remote origin | grep from-jail'
    seen values "|Basic $BASIC|"
    works brokered_sh 'cat clone/.git/config; env; cat ~/.git-credentials 2>/dev/null || true'
    [[ $output != *"$VALUE"* ]]
}

@test "a push outside of the rules is refused in git's own words" {
    define_tracker 'when = "always"' '' '[requests]' 'git = ["fetch git.example/**", "push git.example/private-git/one refs/heads/agent/*"]'
    run brokered_sh '
        git clone -q https://git.example/private-git/one.git clone && cd clone &&
        git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m "from the jail" &&
        git push origin HEAD:refs/heads/agent/$$ && echo pushed-agent && git push origin HEAD:refs/heads/other'
    [[ $output == *pushed-agent* ]] || report "should be pushed"
    [[ $output == *"remote rejected"*"agent-sandbox"* ]] || report "should be rejected by ref"
    ((status != 0))
}

@test "request rules permit and refuse by method and path" {
    define_tracker '' '[requests]' 'allow = ["GET good.example/private/me/**"]'
    says welcome brokered_sh 'curl -sS -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private/me/x'
    log_mark
    says "x-agent-sandbox: request_refused" brokered_sh 'curl -sSi -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private/you'
    says "x-agent-sandbox: request_refused" brokered_sh 'curl -sSi -X POST -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private/me/x'
    unseen values private
}

@test "the record has method, host, path and credential of a request, and no query; audit.paths = false leaves paths out" {
    local records=$SBX_HOME/.local/state/agent-sandbox/sessions
    works brokered_sh 'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" "https://good.example/private/path?query=1"'
    grep -rhs '"kind":"request"' "$records" >lines
    grep -q '"name":"good.example","port":443,"method":"GET","path":"/private/path","status":200' lines || report "should be recorded"
    grep -q '"credential":"tracker"' lines
    ! grep -q query lines
    rm -rf "$records"
    define_tracker '' '[audit]' 'paths = false'
    works brokered_sh 'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private/path'
    grep -rhs '"kind":"request"' "$records" >lines
    grep -q '"method":"GET","status":200' lines || report "should be without a path"
}

@test "clients trust the session's root without an option: wget, python, node, openssl" {
    says welcome brokered_sh 'wget -qO- --header "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
    says welcome brokered python3 -c '
import os, urllib.request
request = urllib.request.Request("https://good.example/private", headers={"Authorization": "Bearer " + os.environ["TRACKER_TOKEN"]})
print(urllib.request.urlopen(request).read().decode())'
    says welcome brokered_sh 'env -u SSL_CERT_FILE curl -sS -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
    says welcome brokered node -e '
require("https").get("https://good.example/private", {headers: {Authorization: "Bearer " + process.env.TRACKER_TOKEN}},
    answer => answer.on("data", data => console.log(String(data))))'
    says "Verification: OK" brokered_sh 'openssl s_client -connect good.example:443 -servername good.example </dev/null 2>&1'
}

@test "Node 22 and 24 trust the session's root by NODE_EXTRA_CA_CERTS and by --use-system-ca, also through a proxy of the environment" {
    cat >fetch.mjs <<'END'
const answer = await fetch("https://good.example/private", {headers: {Authorization: "Bearer " + process.env.TRACKER_TOKEN}});
console.log(await answer.text());
END
    local version node
    for version in 22 24; do
        node=$SBX_STAGE/clients/node$version/bin/node$version
        says "v$version." brokered "$node" --version
        log_mark
        says welcome brokered "$node" fetch.mjs
        says welcome brokered env -u NODE_EXTRA_CA_CERTS -u SSL_CERT_FILE -u SSL_CERT_DIR "$node" --use-system-ca fetch.mjs
        says welcome brokered env NODE_USE_ENV_PROXY=1 https_proxy=http://198.18.0.1:3128 "$node" fetch.mjs
        [[ $(since_mark values | grep -c "|Bearer $VALUE|") == 3 ]]
        # Controls: without the variable it trusts its own roots alone, and it does use the proxy.
        run brokered env -u NODE_EXTRA_CA_CERTS "$node" fetch.mjs
        [[ $status != 0 && $output == *"certificate"* ]] || report "should not trust the session's root without the variable"
        run brokered env NODE_USE_ENV_PROXY=1 https_proxy=http://127.0.0.1:9 "$node" fetch.mjs
        ((status != 0)) || report "should use the proxy of the environment"
    done
}

@test "Go and Java trust the session's root without an option" {
    define_tracker 'when = "always"'
    cat >Get.java <<'END'
public class Get {
    public static void main(String[] words) throws Exception {
        System.out.print(new String(new java.net.URL(words[0]).openStream().readAllBytes()));
    }
}
END
    wait_until test -e "$SBX_STAGE/bin/go-is-built"
    says welcome brokered "$SBX_STAGE/bin/fetch-go" https://good.example/private
    says welcome brokered java -XX:TieredStopAtLevel=1 Get.java https://good.example/private
    [[ $(since_mark values | grep -c "|Bearer $VALUE|") == 2 ]]
}

@test "a value of the program's own store arrives, and is hidden in the jail" {
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "bearer"' 'variable = "TRACKER_TOKEN"' 'shape = "tok_{40}"'
    works as_user bash -c 'printf "%s\n" "$1" | "$2" secret add tracker' sh "$VALUE" "$SBX_PROGRAM"
    says welcome brokered_sh 'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
    seen values "|Bearer $VALUE|"
    run brokered_sh 'cat ~/.local/state/agent-sandbox/secrets/*'
    [[ $output != *"$VALUE"* ]] || report "should be hidden"
}

@test "a host that no credential and no rule names shows its own certificate" {
    works brokered_sh 'openssl s_client -connect also.example:443 -servername also.example </dev/null 2>&1 | openssl x509 -noout -issuer'
    [[ $output == *"Test authority"* ]] || report "should be the host's own certificate"
    works brokered_sh 'openssl s_client -connect good.example:443 -servername good.example </dev/null 2>&1 | openssl x509 -noout -issuer'
    [[ $output != *"Test authority"* ]] || report "should be the session's certificate"
}

@test "a host whose certificate this machine does not trust gets no value, nor if only a file of the project names its authority" {
    local trust
    for trust in A=b SSL_CERT_FILE="$PROJECT/authority.crt"; do
        run as_user "$trust" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- bash -c \
            'curl -sS -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
        [[ $output == *"not trusted by this host"* ]] || report "should report the certificate with $trust"
    done
    unseen values private
}

@test "the session's own name leads to the credential's host without TLS" {
    says welcome brokered_sh 'curl -sS -H "Authorization: Bearer $TRACKER_TOKEN" http://tracker.credential.agent-sandbox.internal/private'
    seen values "|Bearer $VALUE|"
    seen values "good.example|GET /private"
    run brokered curl -sS http://other.credential.agent-sandbox.internal/private
    ((status != 0))
}

@test "a source that fails gives 502 with the reason" {
    rm "$SBX_HOME/keys/tracker"
    says "x-agent-sandbox: credential_unavailable" brokered_sh 'curl -sSi -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
    unseen values private
}

@test "with bubblewrap the host gets the value too; without a view of /etc by the session's own name" {
    JAIL+=(--backend bwrap)
    says welcome brokered_sh 'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
    seen values "|Bearer $VALUE|"
    JAIL=("${JAIL[@]/bwrap/landlock}")
    log_mark
    says welcome brokered_sh 'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" http://tracker.credential.agent-sandbox.internal/private'
    seen values "|Bearer $VALUE|"
    # Nothing is decrypted there.
    says "no value" brokered_sh 'curl -sS --max-time 100 --cacert authority.crt --capath . https://good.example/private'
}

@test "open and isolated networks refuse credentials with 125" {
    local mode
    for mode in open isolated; do
        run as_user "$SBX_PROGRAM" --network "$mode" --credential tracker -- true
        ((status == 125)) || report "should be refused"
    done
}

@test "the value is nowhere in the jail, its processes, the record and the session's directory" {
    says welcome brokered_sh 'curl -sS -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private
        grep -rasl "c4nary[V]ALUE" /etc /run /tmp /dev/shm "$HOME" | sed s/^/FOUND-IN/
        grep -asl "c4nary[V]ALUE" /proc/[0-9]*/{environ,cmdline} | sed s/^/FOUND-IN/
        true'
    [[ $output != *FOUND* ]] || report "should not be found"
    seen values "$VALUE"
    ! grep -raqs "c4nary[V]ALUE" "$SBX_HOME/.local" /run/user "$PROJECT" || report "should not be on the disk"
}

@test "a session without a credential runs no code of OpenSSL, neither in the supervisor nor in the gateway" {
    # A copy of the program that any function of OpenSSL kills.
    local trapped=$SBX_STAGE/bin/without-openssl program=$SBX_PROGRAM
    works python3 trap_openssl.py "$program" "$trapped" /usr/lib/"$(uname -m)"-linux-gnu/lib{ssl,crypto}.a
    ((output > 1000)) || report "should replace the functions of OpenSSL: is this the static program with its symbols?"
    chmod 0755 "$trapped"
    # Data of OpenSSL is not written at the start either: a program at a fixed address has no relocations.
    [[ $(readelf -hW "$program") == *"EXEC (Executable file)"* && $(readelf -rW "$program") != *_RELATIVE* ]] || report "should have no relocations"
    local SBX_PROGRAM=$trapped ask='curl -sS --max-time 100 http://good.example/ && curl -sS --max-time 100 --cacert authority.crt https://good.example/'
    JAIL=(--network proxied --allow-host good.example)
    works brokered_sh "$ask"
    [[ $(grep -c "good.example here" <<<"$output") == 2 ]] || report "should reach the host through the gateway"
    works brokered true
    # Control: with a credential this copy can't start, and the program itself can.
    JAIL+=(--credential tracker)
    run brokered true
    ((status != 0)) || report "should need OpenSSL for a credential"
    SBX_PROGRAM=$program
    works brokered true
}
