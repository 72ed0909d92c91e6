#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Requests to AWS are signed in the jail with a placeholder, and anew by the gateway. The service (tests/internet/aws.py) verifies each
# signature with an implementation of its own. The control of each refusal is the same request unchanged.

load helper

ID=AKIAREALKEY000000001
SECRET=realSecret/KEY+c4naryVALUEc4naryVALUEc4na
TEMPORARY_ID=ASIAREALKEY000000002
TEMPORARY_SECRET=otherSecret/KEY+c4naryVALUEc4naryVALUEc4
TOKEN=IQoJc4naryTOKENc4naryTOKENc4naryTOKEN==
HOSTS='hosts = ["sts.eu-central-1.amazonaws.com", "bucket.s3.eu-central-1.amazonaws.com", "dynamodb.eu-central-1.amazonaws.com", "sts.us-east-1.amazonaws.com"]'
SETTINGS=(AWS_STS_REGIONAL_ENDPOINTS=regional AWS_EC2_METADATA_DISABLED=true)

setup() {
    start_egress_test
    install -d -o "$SBX_USER" -m 0700 "$SBX_HOME/keys"
    printf '%s %s\n' "$ID" "$SECRET" >"$SBX_HOME/keys/aws"
    chown "$SBX_USER" "$SBX_HOME/keys/aws"
    chmod 0600 "$SBX_HOME/keys/aws"
    aws_says
    log_mark
}
teardown() { end_egress_test; }

# aws_says [LINE...]: the lines are added to the table of the credential, or follow it.
aws_says() { aws_from 'from_file = "~/keys/aws"' "$@"; }
aws_from() {
    user_says '[credential.aws]' "$HOSTS" "$@"
    JAIL=(--network filtered --credential aws)
}
aws() { as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- env "${SETTINGS[@]}" /usr/bin/python3 -P aws.py "$@"; }
cli() {
    as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- \
        env "${SETTINGS[@]}" AWS_DEFAULT_REGION=eu-central-1 AWS_PAGER= /usr/bin/aws "$@"
}
# The same outside, with the key itself.
plainly() {
    outside "${SETTINGS[@]}" AWS_CA_BUNDLE="$PROJECT/authority.crt" AWS_ACCESS_KEY_ID="$ID" AWS_SECRET_ACCESS_KEY="$SECRET" /usr/bin/python3 -P aws.py "$@"
}
same() {
    says "$1" plainly "${@:2}"
    log_mark
    says "$1" aws "${@:2}"
    seen values "Credential=$ID/"
    unseen values "$SECRET"
}
refused() {
    log_mark
    run aws "${@:2}"
    [[ $output == *"$1"* ]] || report "should print '$1': ${*:2}"
    unseen values amazonaws.com
}

@test "boto3 asks who it is, lists a bucket with odd characters, and reads a table" {
    same "arn:aws:iam::1:user/$ID" identity
    same " keys: " list
    same a-table tables
    # The key itself is nowhere in the jail.
    run as_user "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- env
    [[ $output =~ AWS_ACCESS_KEY_ID=AKIA[A-Z0-9]{16} && $output =~ AWS_SECRET_ACCESS_KEY=[A-Za-z0-9]{40} ]] || report "should have placeholders"
    [[ $output != *"$ID"* && $output != *"$SECRET"* ]] || report "should not have the key"
}

@test "boto3 uploads 5 MB: with an unsigned body, with a checksum behind it, and with a hash of it" {
    local digest
    for words in "upload 5000000" "upload 5000000 SHA256" "upload 5000000 CRC32"; do
        # shellcheck disable=SC2086
        same "uploaded " $words
        digest=${output##* }
        says "$digest" aws list
    done
    same uploaded signed-upload 5000000
}

@test "the AWS CLI asks who it is, lists, and uploads 5 MB and 500 MB" {
    says "user/$ID" cli sts get-caller-identity
    says a-table cli dynamodb list-tables
    as_user sh -c 'head -c 5000000 /dev/urandom >small; head -c 500000000 /dev/urandom >large'
    log_mark
    works cli s3 cp --no-progress small s3://bucket/cli-small
    works cli s3 cp --no-progress large s3://bucket/cli-large
    seen values "Credential=$ID/"
    unseen values "$SECRET"
    says "500000000 cli-large" cli s3 ls s3://bucket
    works cli s3api list-objects-v2 --bucket bucket
    [[ $output == *"$(sha256sum <small | cut -d' ' -f1)"* ]] || report "5 MB should arrive as they were sent"
    # Each part has 8 MiB.
    [[ $output == *"$(python3 -c '
import hashlib
with open("large", "rb") as file:
    parts = iter(lambda: file.read(8 << 20), b"")
    print(hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest())')"* ]] || report "500 MB should arrive as they were sent"
    rm -f large
}

@test "a body of 17 MiB whose hash is signed is refused, and boto3 shows what to do" {
    refused "s3.payload_signing_enabled = false" signed-upload 17825793
    same "uploaded " upload 17825793
}

@test "the token of a temporary key is added and signed; the key comes from a command and is fetched again when it ends" {
    cat >"$SBX_HOME/keys/export" <<END
#!/bin/sh
echo called >>$SBX_HOME/keys/calls
printf '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "%s", "SessionToken": "%s", "Expiration": "%s"}' \
    $TEMPORARY_ID $TEMPORARY_SECRET $TOKEN "\$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)"
END
    chmod 0755 "$SBX_HOME/keys/export"
    chown "$SBX_USER" "$SBX_HOME/keys/export"
    aws_from "from_command = [\"$SBX_HOME/keys/export\"]"
    log_mark
    # Until the command has run a second time.
    as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- env "${SETTINGS[@]}" bash -c '
        until [[ -e enough ]]; do /usr/bin/python3 -P aws.py identity >>answers || exit 1; sleep 0.2; done' &
    local jail=$!
    CHILDREN+=("$jail")
    wait_until is_called_twice
    as_user touch enough
    wait "$jail"
    grep -q "user/$TEMPORARY_ID" answers
    ! grep -qv "user/$TEMPORARY_ID" answers
    seen values "x-amz-security-token"
}
is_called_twice() { ! kill -0 "${CHILDREN[-1]}" 2>/dev/null || [[ $(wc -l 2>/dev/null <"$SBX_HOME/keys/calls") -ge 2 ]]; }

@test "another region or service than the scope is refused, in words that boto3 shows" {
    aws_says 'scope = ["eu-central-1/s3", "eu-central-1/dynamodb"]'
    says " keys: " aws list
    says a-table aws tables
    refused "An error occurred (outside_the_binding) when calling the GetCallerIdentity operation: " identity
    [[ $output == *"eu-central-1/sts"* && $output == *"credential.aws.scope"* ]] || [[ $output == *"eu-central-1/sts"* ]] || report "should name the scope"
    aws_says 'scope = ["*/sts"]'
    refused "An error occurred (outside_the_binding) when calling the ListObjectsV2 operation: " list
    refused "An error occurred (outside_the_binding) when calling the ListTables operation: " tables
    says "arn:aws" aws identity
    aws_says 'scope = ["us-east-1/*"]'
    refused "(outside_the_binding)" identity
}

@test "the placeholder of another session is refused, and so is a key of another account" {
    local first
    works as_user "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c 'echo "$AWS_ACCESS_KEY_ID $AWS_SECRET_ACCESS_KEY"'
    first=$output
    log_mark
    run as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- env "${SETTINGS[@]}" \
        AWS_ACCESS_KEY_ID="${first% *}" AWS_SECRET_ACCESS_KEY="${first#* }" /usr/bin/python3 -P aws.py identity
    [[ $output == *"(foreign_credential)"* ]] || report "should be refused"
    run as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- env "${SETTINGS[@]}" \
        AWS_ACCESS_KEY_ID="$ID" AWS_SECRET_ACCESS_KEY="$SECRET" /usr/bin/python3 -P aws.py identity
    [[ $output == *"(foreign_credential)"* ]] || report "should be refused, although the service would take it"
    # The ID of this session with another secret key.
    run as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- env "${SETTINGS[@]}" \
        AWS_SECRET_ACCESS_KEY="${first#* }" /usr/bin/python3 -P aws.py identity
    [[ $output == *"(foreign_credential)"* ]] || report "should be refused"
    unseen values amazonaws.com
    says "user/$ID" aws identity
    says "user/$ID" plainly identity
}

@test "a body that was changed after it was signed is refused" {
    refused foreign_credential altered "Action=AssumeRole"
    says "200 <GetCallerIdentity" aws altered "Action=GetCallerIdentity"
}

@test "a request to another host with the placeholder is refused and recorded as a finding" {
    aws_says '[requests]' 'block = ["DELETE also.example/**"]'
    refused "placeholder of the credential 'aws'" to https://also.example
    unseen values also.example
    grep -rqs '"finding":true' "$SBX_HOME/.local/state/agent-sandbox/sessions" || report "should be recorded"
    says "user/$ID" aws identity
}

@test "presigned addresses and bodies in signed chunks are refused in words" {
    refused "403" presigned
    [[ $output == *"<Code>signature_refused</Code>"*presigned* ]] || report "should name the reason"
    refused "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" chunks
    [[ $output == *"<Code>signature_refused</Code>"* ]] || report "should have the code"
}
