#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Credentials with firejail and Landlock, where nothing is decrypted, because the jail has no /etc of its own. The session's own name for
# the host is an endpoint without TLS, and the gateway puts the value in. The control of each refusal is a request that differs in one
# thing and arrives.

load helper
load brokered

setup() { start_credential_test; }
teardown() { end_egress_test; }

BACKENDS=(landlock firejail)
HERE=http://tracker.credential.agent-sandbox.internal
BEARER='-H "Authorization: Bearer $TRACKER_TOKEN"'

# with_backend NAME: the credential has two paths and one method. A second one has another host, and its own endpoint.
with_backend() {
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "bearer"' 'variable = "TRACKER_TOKEN"' 'shape = "tok_{40}"' \
        'paths = ["/private", "/mirror", "/away"]' 'methods = ["GET"]' 'from_file = "~/keys/tracker"' 'base_url = "TRACKER_URL"' \
        '[credential.also]' 'hosts = ["also.example"]' 'put = "bearer"' 'variable = "ALSO_TOKEN"' 'shape = "tok_{40}"' 'from_file = "~/keys/also"'
    echo tok_of_the_other_host_0123456789 >"$SBX_HOME/keys/also"
    chown "$SBX_USER" "$SBX_HOME/keys/also"
    proxied --backend "$1" --credential tracker --credential also
    log_mark
}
# asks WORDS: curl in the jail, with the head of the answer.
asks() { brokered_sh "curl -sSi --max-time 100 $*"; }

@test "with firejail and Landlock the host gets the value by the session's own name, and the jail sees a placeholder" {
    local backend
    for backend in "${BACKENDS[@]}"; do
        with_backend "$backend"
        works brokered_sh 'echo "$AGENT_SANDBOX_BACKEND $TRACKER_TOKEN"'
        [[ $output =~ (^|$'\n')$backend\ tok_[A-Za-z0-9]{40}$ ]] || report "should be a placeholder in a jail of $backend"
        says welcome asks "$BEARER $HERE/private"
        seen values "good.example|GET /private HTTP/1.1|200|Bearer $VALUE|"
        says welcome asks "$BEARER \$TRACKER_URL/private"
        # An answer that repeats it.
        says "seen: Bearer *****" asks "$BEARER $HERE/mirror"
        [[ $output != *"$VALUE"* ]] || report "should be redacted"
        # Control: the host refuses a request without the value, and a jail without the credential has no such name.
        says "no value" outside curl -sS https://good.example/private
        proxied --backend "$backend"
        log_mark
        run asks "-H 'Authorization: Bearer $VALUE' $HERE/private"
        [[ $output != *welcome* ]] || report "should not be reached without the credential"
        unseen values private
    done
}

@test "with firejail and Landlock a placeholder gets no value elsewhere, nor another account, path or method" {
    local backend
    for backend in "${BACKENDS[@]}"; do
        with_backend "$backend"
        local there=http://also.credential.agent-sandbox.internal
        says "x-agent-sandbox: placeholder_elsewhere" asks "$BEARER $there/private"
        says "x-agent-sandbox: placeholder_elsewhere" asks "'$there/private?key='\$TRACKER_TOKEN"
        says "x-agent-sandbox: placeholder_elsewhere" asks "-u x:\$TRACKER_TOKEN $there/private"
        run asks "-H \"X-Data: \$TRACKER_TOKEN\" http://npm.example/private"
        [[ $output == *"placeholder of the credential 'tracker'"* ]] || report "should be refused over plain HTTP too"
        says "x-agent-sandbox: foreign_credential" asks "-H 'Authorization: Bearer tok_of_the_attacker' $HERE/private"
        says "x-agent-sandbox: outside_the_binding" asks "$BEARER $HERE/other"
        says "x-agent-sandbox: outside_the_binding" asks "-X POST $BEARER $HERE/private"
        says "x-agent-sandbox: path_not_canonical" asks "--path-as-is $BEARER $HERE/private/../other"
        says "x-agent-sandbox: host_mismatch" asks "--noproxy '*' $BEARER -H 'Host: also.example' $HERE/private"
        unseen values good.example
        unseen values also.example
        unseen values npm.example
        # Controls: the same hosts and requests without the placeholder, or with it where it belongs.
        says "no value" asks "$there/private"
        says "no value" asks "http://npm.example/private"
        says welcome asks "$BEARER $HERE/private"
        # Nothing is decrypted, so TLS carries the placeholder, which has no value for the host.
        log_mark
        says "no value" brokered_sh "curl -sS --max-time 100 --cacert authority.crt --capath . $BEARER https://good.example/private"
        unseen values "$VALUE"
    done
}

@test "with firejail and Landlock the value is nowhere in the jail, and its source can't be read or replaced" {
    local backend
    for backend in "${BACKENDS[@]}"; do
        with_backend "$backend"
        JAIL+=(--home read)
        says welcome brokered_sh "curl -sS --max-time 100 $BEARER $HERE/private"'
            grep -rasl "c4nary[V]ALUE" /run /tmp /dev/shm "$HOME" "$AGENT_SANDBOX_PLACE" 2>/dev/null | sed s/^/FOUND-IN/
            grep -asl "c4nary[V]ALUE" /proc/[0-9]*/{environ,cmdline,maps} 2>/dev/null | sed s/^/FOUND-IN/
            cat ~/keys/tracker 2>/dev/null | sed s/^/READ:/
            mv ~/keys/tracker ~/keys/aside 2>/dev/null && echo MOVED
            { echo tok_of_the_jail_0123456789 >~/keys/tracker; } 2>/dev/null && echo WRITTEN
            true'
        [[ $output != *FOUND* && $output != *READ:* && $output != *MOVED* && $output != *WRITTEN* && $output != *"$VALUE"* ]] || report "should not be found or changed"
        seen values "$VALUE"
        [[ $(<"$SBX_HOME/keys/tracker") == "$VALUE" ]]
        ! grep -raqs "c4nary[V]ALUE" "$SBX_HOME/.local" /run/user "$PROJECT" || report "should not be on the disk"
        # A source that the jail could write is refused.
        JAIL[-1]=write
        run asks "$BEARER $HERE/private"
        [[ $output != *"HTTP/1.1 200"* ]] || [[ $backend == firejail ]] || report "should be refused"
        # Control: the same search finds it outside.
        says FOUND outside_sh 'grep -rasl "c4nary[V]ALUE" "$HOME" | sed s/^/FOUND-IN/'
    done
}

@test "with firejail and Landlock git and npm work by the session's own names, and rules about requests are refused with 125" {
    local backend quiet='npm_config_cache=${TMPDIR:-/tmp}/npm npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false'
    for backend in "${BACKENDS[@]}"; do
        user_says '[credential.github]' 'from_file = "~/keys/tracker"' '[credential.npm]' 'from_file = "~/keys/tracker"'
        JAIL=(--network filtered --backend "$backend" --credential github --credential npm)
        # npm reads no token from a variable, and the copy of ~/.npmrc needs a jail with files of its own.
        echo '//npm.credential.agent-sandbox.internal/:_authToken=${NPM_TOKEN}' | as_user tee .npmrc >/dev/null
        log_mark
        says "from a repository" brokered_sh "git clone -q https://github.com/me/app app-$backend && cat app-$backend/file && cd app-$backend &&
            git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m x && git push -q origin HEAD:refs/heads/agent/$backend-\$\$"
        seen values "github.com|POST /me/app/git-receive-pack"
        log_mark
        says tester brokered_sh "$quiet npm whoami"
        seen values "|Bearer $VALUE|"
        # Control: the registry needs the value.
        JAIL=(--network filtered --backend "$backend")
        run brokered_sh "$quiet npm whoami"
        ((status != 0)) || report "should need the value"
        user_says '[requests]' 'block = ["DELETE good.example/**"]'
        run brokered true
        [[ $status == 125 && $output == *"can't be held by"* ]] || report "should be refused"
    done
}
