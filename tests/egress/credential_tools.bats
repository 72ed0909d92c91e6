#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The clients that people use with the shipped credentials and lists, at the names that are built into them, without an option. The
# control of each is the same command outside with the value itself.

load helper

VALUE=tok_c4naryVALUEc4naryVALUEc4naryVALUE

setup() {
    start_egress_test
    install -d -o "$SBX_USER" -m 0700 "$SBX_HOME/keys"
    printf '%s\n' "$VALUE" >"$SBX_HOME/keys/value"
    chown "$SBX_USER" "$SBX_HOME/keys/value"
    chmod 0600 "$SBX_HOME/keys/value"
    log_mark
}
teardown() { end_egress_test; }

# with_credential NAME [LINE...]: a shipped credential whose value is in a file; the lines follow its table.
with_credential() {
    user_says "[credential.$1]" 'from_file = "~/keys/value"' "${@:2}"
    JAIL=(--network filtered --credential "$1")
}
# The launching shell trusts the authority of the tests, the jail trusts the session's.
brokered_sh() {
    as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- bash -c "$1" sh "${@:2}"
}
# plainly VARIABLE... COMMAND: outside, with the value in these variables.
plainly() {
    local command=${*: -1} variables=("${@:1:$#-1}")
    outside REQUESTS_CA_BUNDLE="$PROJECT/authority.crt" PIP_CERT="$PROJECT/authority.crt" \
        npm_config_cafile="$PROJECT/authority.crt" "${variables[@]/%/=$VALUE}" bash -c "$command"
}
# same TEXT COMMAND VARIABLE...: the command prints the text outside with the value, and inside with the placeholder.
same() {
    says "$1" plainly "${@:3}" "$2"
    log_mark
    says "$1" brokered_sh "$2"
    seen values "$VALUE"
    [[ $output != *"$VALUE"* ]]
}
refused_inside() {
    run brokered_sh "$2"
    ((status != 0)) || report "should be refused: $2"
    [[ $output == *"$1"* ]] || report "should print '$1': $2"
}
COMMIT='git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m "from the jail"'

@test "gh reads the API and GraphQL" {
    with_credential github
    same tester 'gh api user --jq .login' GH_TOKEN
    same tester 'gh api graphql -f query="query { viewer { login } }" --jq .data.viewer.login' GH_TOKEN
}

@test "gh creates a pull request, and rules about GraphQL refuse it" {
    local command='cd "$(mktemp -d -p .)" && git init -q && git remote add origin https://github.com/me/app.git &&
        gh pr create --repo me/app --head agent/x --base main --title "A title" --body "A body"'
    with_credential github
    same https://github.com/me/app/pull/1 "$command" GH_TOKEN
    with_credential github '[requests]' 'block = ["graphql mutation createPullRequest api.github.com/graphql"]'
    log_mark
    refused_inside "HTTP 403: refused by the sandbox's rules about requests" "$command"
    same tester 'gh api user --jq .login' GH_TOKEN
}

@test "gh can't create what outlives the session" {
    with_credential github '[requests]' 'block = ["@github-lasting"]'
    refused_inside "ssh keys of the account" 'gh api user/keys -f title=t -f key=k'
    unseen values user/keys
    same tester 'gh api user --jq .login' GH_TOKEN
}

@test "git clones, fetches and pushes at github.com; main is refused in git's own words" {
    with_credential github '[requests]' 'git = ["fetch github.com/me/app", "push github.com/me/app refs/heads/agent/*"]'
    says pushed brokered_sh "git clone -q git@github.com:me/app.git app && cd app && $COMMIT && git push -q origin HEAD:refs/heads/agent/x-\$\$ &&
        git fetch -q && git branch -r | grep -q agent/x && echo pushed"
    refused_inside "! [remote rejected] HEAD -> main (refused by agent-sandbox: only refs/heads/agent/* may be pushed)" \
        "cd app && git push origin HEAD:main"
    says "from a repository" brokered_sh "git clone -q https://github.com/me/app again && cat again/file"
    # Control: the host itself takes a push to main.
    says pushed outside_sh "git clone -q https://x-access-token:$VALUE@github.com/me/app control && cd control && $COMMIT &&
        git push -q origin HEAD:main && echo pushed"
}

@test "npm installs and names its user; a publication is refused" {
    local project='{"name": "x", "version": "1.0.0", "dependencies": {"hello-npm": "1.0.0"}}'
    # shellcheck disable=SC2016 # npm reads the variable
    local settings='//registry.npmjs.org/:_authToken=${NPM_TOKEN}' quiet='npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false'
    as_user mkdir app
    printf '%s\n' "$project" | as_user tee app/package.json >/dev/null
    printf '%s\n' "$settings" | as_user tee app/.npmrc >/dev/null
    says "added 1 package" plainly NPM_TOKEN "cd app && $quiet npm install"
    with_credential npm
    same "hello from npm" "cd app && rm -rf node_modules && $quiet npm ci >&2 && node -p 'require(\"hello-npm\")'" NPM_TOKEN
    same tester "cd app && $quiet npm whoami" NPM_TOKEN
    same "+ x@1.0.0" "cd app && $quiet npm publish" NPM_TOKEN
    with_credential npm '[requests]' 'allow = ["@npm-install"]'
    log_mark
    refused_inside "publishes a package" "cd app && $quiet npm publish"
    unseen values "PUT /"
    says "hello from npm" brokered_sh "cd app && rm -rf node_modules && $quiet npm ci >&2 && node -p 'require(\"hello-npm\")'"
}

@test "pip downloads and installs in a virtual environment; an upload by twine is refused" {
    local quiet='PIP_DISABLE_PIP_VERSION_CHECK=1'
    plainly TWINE_PASSWORD "python3 -m venv --symlinks environment"
    says hello_pip plainly TWINE_PASSWORD "$quiet environment/bin/pip download -q -d got hello-pip && ls got"
    with_credential pypi
    says "hello from pip" brokered_sh "$quiet environment/bin/pip install -q hello-pip && environment/bin/python -c 'import hello_pip'"
    says hello_pip brokered_sh "$quiet environment/bin/pip download -q -d again hello-pip && ls again"
    says "100%" plainly TWINE_PASSWORD 'TWINE_USERNAME=__token__ twine upload --non-interactive got/*'
    log_mark
    says "100%" brokered_sh 'twine upload --non-interactive got/*'
    seen values "upload.pypi.org|POST /legacy/ HTTP/1.1|200|Basic $(printf '__token__:%s' "$VALUE" | base64 -w0)|"
    with_credential pypi '[requests]' 'allow = ["@pypi-install"]'
    log_mark
    refused_inside "403" 'twine upload --non-interactive got/*'
    unseen values upload.pypi.org
    says hello_pip brokered_sh "$quiet environment/bin/pip download -q -d more hello-pip && ls more"
}

@test "skopeo reads an image by a token of the registry; a push is refused" {
    local inspect='skopeo inspect docker://docker.io/library/hello:latest' copy='skopeo --insecure-policy copy -q'
    user_says '[requests]' 'allow = ["@docker-pull"]'
    JAIL=(--network filtered)
    says "hello from a registry" plainly X "$inspect"
    log_mark
    says "hello from a registry" brokered_sh "$inspect"
    seen values "registry-1.docker.io|GET /v2/library/hello/manifests/latest HTTP/1.1|200|Bearer a-pull-token|"
    says got brokered_sh "$copy docker://docker.io/library/hello:latest dir:image && echo got"
    log_mark
    refused_inside 403 "$copy dir:image docker://docker.io/library/hello:new"
    unseen values "PUT /v2/"
    unseen values "POST /v2/"
}

# stored_login FILE KEY: the file of a registry client, with the value.
stored_login() {
    install -d -o "$SBX_USER" -m 0700 "$(dirname "$1")"
    printf '{"auths": {"%s": {"auth": "%s"}}}\n' "$2" "$(printf 'me:%s' "$VALUE" | base64 -w0)" >"$1"
    chown -R "$SBX_USER" "$(dirname "$1")"
    chmod 0600 "$1"
}

@test "skopeo logs in with the token of docker's and podman's files, also where a variable leads to them" {
    local row login
    login="Basic $(printf 'me:%s' "$VALUE" | base64 -w0)"
    with_credential docker
    for row in "$SBX_HOME/.docker/config.json|https://index.docker.io/v1/|A=b" "$SBX_HOME/.config/containers/auth.json|docker.io|A=b" \
        "$SBX_HOME/moved/config.json|https://index.docker.io/v1/|DOCKER_CONFIG=$SBX_HOME/moved" \
        "/srv/login-$$/auth.json|docker.io|REGISTRY_AUTH_FILE=/srv/login-$$/auth.json"; do
        IFS='|' read -r file key variable <<<"$row"
        stored_login "$file" "$key"
        log_mark
        says "hello from a registry" outside "$variable" skopeo inspect docker://docker.io/library/hello:latest
        seen values "auth.docker.io|GET"
        seen values "$login"
        log_mark
        local AS_USER_BEFORE=("${AS_USER[@]}")
        AS_USER+=("$variable")
        works brokered_sh 'skopeo inspect docker://docker.io/library/hello:latest; cat ~/.docker/config.json ~/.config/containers/auth.json ~/moved/config.json "$REGISTRY_AUTH_FILE" 2>/dev/null; true'
        AS_USER=("${AS_USER_BEFORE[@]}")
        [[ $output == *"hello from a registry"* && $output == *auths* && $output != *"$(printf 'me:%s' "$VALUE" | base64 -w0)"* ]] || report "should log in with $row"
        seen values "$login"
        rm -rf "$(dirname "$file")"
    done
}

@test "git and npm work without interception, by the session's own names" {
    local quiet='npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false'
    user_says '[credentials]' 'intercept = "off"' '[credential.github]' 'from_file = "~/keys/value"' '[credential.npm]' 'from_file = "~/keys/value"'
    JAIL=(--network filtered --credential github --credential npm)
    says "from a repository" brokered_sh "git clone -q https://github.com/me/app app && cat app/file && cd app && $COMMIT &&
        git push -q origin HEAD:refs/heads/agent/y-\$\$ && git clone -q git@github.com:me/app.git ../again"
    seen values "github.com|POST /me/app/git-receive-pack"
    as_user mkdir package
    printf '%s\n' '{"name": "x", "version": "1.0.0", "dependencies": {"hello-npm": "1.0.0"}}' | as_user tee package/package.json >/dev/null
    log_mark
    says tester brokered_sh "cd package && $quiet npm whoami"
    seen values "|Bearer $VALUE|"
    says "hello from npm" brokered_sh "cd package && $quiet npm install >&2 && node -p 'require(\"hello-npm\")'"
    # Control: the hosts themselves refuse requests without the value.
    JAIL=(--network filtered)
    run brokered_sh "cd package && $quiet npm whoami"
    ((status != 0)) || report "should need the value"
}

@test "the API takes the token as a password and as a user name, as its own pages show it with curl" {
    with_credential github
    # shellcheck disable=SC2016 # the jail's
    says tester brokered_sh 'curl -sS --max-time 100 -u "x-access-token:$GH_TOKEN" https://api.github.com/user'
    seen values "Basic $(printf 'x-access-token:%s' "$VALUE" | base64 -w0)"
    log_mark
    # The host of the tests does not take it there, and gets it.
    run brokered_sh 'curl -sS --max-time 100 -u "$GH_TOKEN:" https://api.github.com/user'
    seen values "Basic $(printf '%s:' "$VALUE" | base64 -w0)"
    says foreign_credential brokered_sh 'curl -sSi --max-time 100 -u me:other-token-of-another-account https://api.github.com/user'
}
