# SPDX-License-Identifier: MIT
# aws.py PORT: a part of AWS, behind nginx. Every request needs a signature of version 4 that verifies with a key of the table below. The
# implementation is independent of the program's.
import base64
import binascii
import hashlib
import hmac
import http.server
import re
import sys
import threading
import urllib.parse

# ID: secret key, session token.
KEYS = {
    "AKIAREALKEY000000001": ("realSecret/KEY+c4naryVALUEc4naryVALUEc4na", None),
    "ASIAREALKEY000000002": ("otherSecret/KEY+c4naryVALUEc4naryVALUEc4", "IQoJc4naryTOKENc4naryTOKENc4naryTOKEN=="),
}
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$")
OBJECTS = {}  # path: digest, size
PARTS = {}  # number of an upload: number of a part: the digest of its bytes, size
LOCK = threading.Lock()


def quoted(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def signature(secret, scope, date, request, names, payload):
    method, target, headers = request
    day, region, service = scope
    path, _, query = target.partition("?")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    pairs = sorted((quoted(urllib.parse.unquote(name)), quoted(urllib.parse.unquote(value))) for name, _, value in pairs)
    canonical = "\n".join([
        method, path if service == "s3" else quoted(path, "/"), "&".join(f"{name}={value}" for name, value in pairs),
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names), ";".join(names), payload])
    text = "\n".join(["AWS4-HMAC-SHA256", date, f"{day}/{region}/{service}/aws4_request", hashlib.sha256(canonical.encode()).hexdigest()])
    key = b"AWS4" + secret.encode()
    for part in (day, region, service, "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


# The content of a body in chunks without signatures, whose trailer has a checksum. None: it is wrong.
def unchunked(body):
    content, rest = b"", body
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if int(size, 16) == 0:
            break
        content, rest = content + rest[:int(size, 16)], rest[int(size, 16) + 2:]
    name, _, value = rest.strip().decode().partition(":")
    made = {"x-amz-checksum-sha256": hashlib.sha256(content).digest(), "x-amz-checksum-crc32": binascii.crc32(content).to_bytes(4, "big")}
    return content if base64.b64encode(made[name]).decode() == value.strip() else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body="", kind="text/xml", fields=()):
        body = body.encode()
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code):
        self.reply(403, f"<Error><Code>{code}</Code><Message>refused by the service</Message></Error>")

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        match = AUTHORIZATION.match(headers.get("authorization", ""))
        if not match:
            return self.refuse("MissingAuthenticationToken")
        key, day, region, service, names, signed = match.groups()
        names = names.split(";")
        # nginx reads chunks of HTTP, and removes the field that the client signed.
        headers.setdefault("transfer-encoding", "chunked")
        if key not in KEYS:
            return self.refuse("InvalidAccessKeyId")
        secret, token = KEYS[key]
        if headers.get("x-amz-security-token") != token or (token and "x-amz-security-token" not in names):
            return self.refuse("InvalidToken")
        payload = headers.get("x-amz-content-sha256") or hashlib.sha256(body).hexdigest()
        is_hashed = re.fullmatch("[0-9a-f]{64}", payload)
        if is_hashed and payload != hashlib.sha256(body).hexdigest():
            return self.refuse("XAmzContentSHA256Mismatch")
        if signature(secret, (day, region, service), headers["x-amz-date"], (self.command, self.path, headers), names, payload) != signed:
            return self.refuse("SignatureDoesNotMatch")
        # Where the client's chunks are those of HTTP, nginx has removed them, and the trailer with them.
        is_plain = headers.get("x-amz-decoded-content-length") == str(len(body))
        if payload == "STREAMING-UNSIGNED-PAYLOAD-TRAILER" and not is_plain:
            body = unchunked(body)
            if body is None:
                return self.refuse("BadDigest")
        return getattr(self, service, self.other)(key, body)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = serve

    def sts(self, key, body):
        self.reply(200, '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>'
                        f"<Arn>arn:aws:iam::1:user/{key}</Arn><UserId>U</UserId><Account>1</Account></GetCallerIdentityResult>"
                        "<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></GetCallerIdentityResponse>")

    def s3(self, key, body):
        path, _, query = self.path.partition("?")
        path, words = urllib.parse.unquote(path), dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if "uploads" in words or "uploadId" in words:
            return self.upload_in_parts(path, words, body)
        if self.command == "PUT":
            with LOCK:
                OBJECTS[path] = (hashlib.sha256(body).hexdigest(), len(body))
            return self.reply(200)
        with LOCK:
            keys = "".join(f"<Contents><Key>{name[1:]}</Key><ETag>{digest}</ETag><Size>{size}</Size>"
                           "<LastModified>2026-01-31T12:00:00.000Z</LastModified></Contents>" for name, (digest, size) in OBJECTS.items())
        return self.reply(200, f'<?xml version="1.0"?><ListBucketResult><Name>bucket</Name><KeyCount>{len(OBJECTS)}</KeyCount>{keys}</ListBucketResult>')

    # The digest of the object is that of the digests of its parts.
    def upload_in_parts(self, path, words, body):
        digest = hashlib.sha256(body).digest()
        with LOCK:
            if "uploads" in words:
                upload = str(len(PARTS))
                PARTS[upload] = {}
                return self.reply(200, f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>")
            parts = PARTS[words["uploadId"]]
            if self.command == "PUT":
                parts[int(words["partNumber"])] = (digest, len(body))
                return self.reply(200, fields=[("ETag", f'"{digest.hex()}"')])
            whole = hashlib.sha256(b"".join(parts[number][0] for number in sorted(parts))).hexdigest()
            OBJECTS[path] = (whole, sum(size for _, size in parts.values()))
        return self.reply(200, f"<CompleteMultipartUploadResult><ETag>{whole}</ETag></CompleteMultipartUploadResult>")

    def other(self, key, body):
        self.reply(200, '{"TableNames": ["a-table"]}', "application/x-amz-json-1.0")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
