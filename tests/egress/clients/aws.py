# SPDX-License-Identifier: MIT
# aws.py WHAT [WORD...]: one use of AWS with boto3 and the key of the environment. Prints the result, or the error as boto3 shows it.
import hashlib
import os
import sys
import urllib.error
import urllib.request

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions

REGION = os.environ.get("REGION", "eu-central-1")
SETTINGS = {"region_name": REGION, "config": botocore.config.Config(retries={"max_attempts": 1})}


def client(service, **more):
    return boto3.client(service, **{**SETTINGS, **more})


# A request that is signed with the key of the environment, and then changed: METHOD HOST PATH SERVICE BODY, and what is sent.
def send_signed(method, host, path, service, body, sent_body=None, payload=None):
    key = botocore.credentials.Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    request = botocore.awsrequest.AWSRequest(method=method, url=f"https://{host}{path}", data=body.encode())
    signer = (botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth)(key, service, REGION)
    if payload is not None:
        signer.payload = lambda _: payload
    signer.add_auth(request)
    prepared = urllib.request.Request(request.url, method=method, data=(body if sent_body is None else sent_body).encode(),
                                      headers=dict(request.headers.items()))
    try:
        with urllib.request.urlopen(prepared) as answer:
            return f"{answer.status} {answer.read().decode()}"
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def run(what, *words):
    if what == "identity":
        return client("sts").get_caller_identity()["Arn"]
    if what == "list":
        answer = client("s3").list_objects_v2(Bucket="bucket", Prefix="a b/ü+&=~%20")
        return f"{answer['KeyCount']} keys: " + " ".join(f"{one['Key']} {one['ETag']}" for one in answer.get("Contents", []))
    if what == "upload":
        data = os.urandom(int(words[0]))
        more = {"ChecksumAlgorithm": words[1]} if len(words) > 1 else {}
        client("s3").put_object(Bucket="bucket", Key="dir/an object", Body=data, **more)
        return f"uploaded {hashlib.sha256(data).hexdigest()}"
    if what == "signed-upload":
        config = botocore.config.Config(s3={"payload_signing_enabled": True}, retries={"max_attempts": 1})
        client("s3", config=config).put_object(Bucket="bucket", Key="signed", Body=os.urandom(int(words[0])))
        return "uploaded"
    if what == "tables":
        return " ".join(client("dynamodb").list_tables()["TableNames"])
    if what == "to":
        return client("sts", endpoint_url=words[0]).get_caller_identity()["Arn"]
    if what == "presigned":
        config = botocore.config.Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
        signer = client("s3", config=config, endpoint_url=f"https://s3.{REGION}.amazonaws.com")
        url = signer.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": "k"})
        try:
            with urllib.request.urlopen(url) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return f"{error.code} {error.read().decode()}"
    if what == "altered":
        return send_signed("POST", f"sts.{REGION}.amazonaws.com", "/", "sts", "Action=GetCallerIdentity", words[0])
    if what == "chunks":
        return send_signed("PUT", f"bucket.s3.{REGION}.amazonaws.com", "/k", "s3", "x",
                           payload="STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
    return "unknown"


try:
    print(run(*sys.argv[1:]))
except (botocore.exceptions.ClientError, botocore.exceptions.BotoCoreError) as error:
    print(error)
    sys.exit(1)
