#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files with credentials: the jail sees a copy with placeholders, the host gets the real value, and the user's own file stays hidden and
# unchanged. The control of each is the same program outside.

load helper
load brokered

setup() { start_credential_test; }
teardown() { end_egress_test; }

# users_file PATH LINE...: in the home directory.
users_file() {
    install -d -o "$SBX_USER" -m 0700 "$(dirname "$SBX_HOME/$1")"
    printf '%s\n' "${@:2}" >"$SBX_HOME/$1"
    chown -R "$SBX_USER" "$SBX_HOME"
    chmod 0600 "$SBX_HOME/$1"
}

@test "npm uses the token of .npmrc, and the jail sees a placeholder" {
    define_tracker 'files = ["~/.npmrc"]' 'fields = ["//good.example/private/:_authToken"]'
    users_file .npmrc "//good.example/private/:_authToken=$VALUE" "//npm.example/:_authToken=0therT0kenOfAnotherRegistry01" "fund=false" "update-notifier=false"
    works brokered_sh 'cat ~/.npmrc'
    [[ $output =~ "//good.example/private/:_authToken="tok_[A-Za-z0-9]{40} ]] || report "should have the placeholder"
    [[ $output == *"fund=false"* && $output != *0therT0ken* && $output != *"$VALUE"* ]] || report "should have no other token"
    run brokered npm whoami --registry https://good.example/private/
    seen values "GET /private/-/whoami"
    seen values "|Bearer $VALUE|"
    # Control: the same outside.
    log_mark
    run outside npm whoami --cafile "$PROJECT/authority.crt" --registry https://good.example/private/
    seen values "|Bearer $VALUE|"
}

@test "curl with .netrc sends the real value to its host, and the jail sees a placeholder" {
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "basic *"' 'files = ["~/.netrc"]' 'shape = "tok_{40}"' 'from_file = "~/keys/tracker"' \
        "fields = ['pattern machine good.example login [^ ]+ password ([^ ]+)']"
    users_file .netrc "machine good.example login x-access-token password $VALUE" "machine also.example login me password 0therPassw0rd"
    works brokered_sh 'cat ~/.netrc'
    [[ $output == "machine good.example login x-access-token password tok_"* && $output != *0therPassw0rd* ]] || report "should have the placeholder alone"
    says welcome brokered curl -sS --max-time 100 -n https://good.example/private
    seen values "|Basic $(printf 'x-access-token:%s' "$VALUE" | base64 -w0)|"
}

@test "docker's file keeps the user and has a placeholder in base64" {
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "basic *"' 'files = ["~/.docker/config.json"]' 'shape = "tok_{40}"' \
        'from_file = "~/keys/tracker"' "fields = ['basic auths.\"good.example\".auth']"
    users_file .docker/config.json "{\"auths\": {\"good.example\": {\"auth\": \"$(printf 'x-access-token:%s' "$VALUE" | base64 -w0)\"}," \
        '"ghcr.io": {"auth": "bWU6MHRoZXJQYXNzdzByZA=="}}, "credsStore": "desktop"}'
    works brokered_sh 'cat ~/.docker/config.json'
    [[ $output != *MHRoZXJ* && $output != *ghcr.io* && $output != *desktop* ]] || report "should have no other registry"
    says welcome brokered python3 -c '
import json, os, urllib.request
auth = json.load(open(os.path.expanduser("~/.docker/config.json")))["auths"]["good.example"]["auth"]
request = urllib.request.Request("https://good.example/private", headers={"Authorization": "Basic " + auth})
print(urllib.request.urlopen(request).read().decode())'
    seen values "|Basic $(printf 'x-access-token:%s' "$VALUE" | base64 -w0)|"
}

@test "gh's file in a hidden directory has a placeholder, and nothing else of the directory is shown" {
    define_tracker 'files = ["~/.config/gh/hosts.yml"]' "fields = ['pattern oauth_token: *([^ ]+)']"
    users_file .config/gh/hosts.yml "good.example:" "    oauth_token: $VALUE" "    user: me"
    users_file .config/gh/state.yml "token: 0therT0ken"
    local backend access
    for backend in native bwrap; do for access in tmpwrite restricted read write; do
        run as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" --backend "$backend" --home "$access" -- bash -c '
            cat ~/.config/gh/hosts.yml; ls ~/.config/gh
            curl -sS --max-time 100 -H "Authorization: Bearer $(sed -n "s/.*oauth_token: //p" ~/.config/gh/hosts.yml)" https://good.example/private'
        [[ $output == *"good.example:"*"oauth_token: tok_"*"user: me"*hosts.yml* ]] || report "should be there with --home $access"
        # In a home that the jail can write, the source is refused.
        [[ $output == *welcome* || $access == write ]] || report "should work with --home $access"
        [[ $output != *"$VALUE"* && $output != *state.yml* ]] || report "should show the copy alone with --home $access"
    done; done
}

@test "a home that the jail reads shows neither the file of from_file nor those in the arguments of from_command" {
    local line show='cat ~/keys/tracker'
    JAIL+=(--home read)
    for line in 'from_file = "~/keys/tracker"' "from_command = [\"cat\", \"$SBX_HOME/keys/tracker\"]" \
        "from_command = [\"sed\", \"-n\", \"--expression=p\", \"$SBX_HOME/keys/tracker\"]"; do
        define_tracker_from "$line"
        run brokered_sh "$show; "'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
        [[ $output == *welcome* ]] || report "should work with $line"
        [[ $output != *"$VALUE"* ]] || report "should hide the file of $line"
    done
    # A session that does not use the credential does not see them either.
    JAIL=(--home read)
    run brokered_sh "$show"
    [[ $output != *"$VALUE"* ]] || report "should be hidden without the credential"
    # The control: the same home where no table names the file.
    user_says '# no credential'
    says "$VALUE" brokered_sh "$show"
}

@test "what is written to the copy does not come back, and the user's file is as before" {
    define_tracker 'files = ["~/.tracker"]' 'fields = ["token"]'
    users_file .tracker "token=$VALUE" "name=plain"
    local before after
    before=$(sha256sum <"$SBX_HOME/.tracker")
    works brokered_sh 'echo "token=from-the-agent" >~/.tracker; rm -f ~/.tracker; echo "name=other" >~/.tracker; cat ~/.tracker'
    [[ $output == *"name=other"* ]] || report "should be writable inside"
    works brokered_sh 'cat ~/.tracker'
    [[ $output == *"name=plain"* ]] || report "should be copied anew"
    after=$(sha256sum <"$SBX_HOME/.tracker")
    [[ $before == "$after" ]]
    # Without the credential the file is as the home directory shows it: not at all.
    run as_user "$SBX_PROGRAM" --quiet -- cat "$SBX_HOME/.tracker"
    ((status != 0)) || report "should be hidden"
    # In a home that is shown, the file is hidden as soon as a credential names it, used or not.
    run as_user "$SBX_PROGRAM" --quiet --home read -- cat "$SBX_HOME/.tracker"
    [[ $output != *"$VALUE"* ]] || report "should be hidden without --credential"
    user_says '# no credential'
    works as_user "$SBX_PROGRAM" --quiet --home read -- cat "$SBX_HOME/.tracker"
    [[ $output == *"$VALUE"* ]] || report "is shown where no table names it"
    define_tracker 'files = ["~/.tracker"]' 'fields = ["token"]'
    JAIL+=(--home read)
    works brokered_sh 'cat ~/.tracker'
    [[ $output != *"$VALUE"* && $output == *"token=tok_"* ]] || report "should be a copy"
}

@test "files of credentials outside of the home directory or in the project are refused" {
    define_tracker 'files = ["/etc/token"]' 'fields = ["token"]'
    run brokered true
    ((status == 125)) || report "should be refused"
    [[ $output == *"not a file of the home directory"* ]] || report "should say why"
    define_tracker 'files = ["~/project/token"]' 'fields = ["token"]'
    run brokered true
    ((status == 125)) || report "should be refused"
    [[ $output == *"is in the project"* ]] || report "should say why"
}
