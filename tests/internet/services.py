# SPDX-License-Identifier: MIT
# services.py PORT FOLDER: what the clients of GitHub, npm, PyPI and Docker ask their hosts for, behind nginx, which checks values and
# writes the log. FOLDER has the packages (make_site).
import base64
import hashlib
import http.server
import io
import json
import re
import sys
import threading
import urllib.parse
import zipfile

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
# For /events: which event was reported.
SEEN = [threading.Event() for _ in range(100)]


# A package for pip that prints a line.
def make_wheel():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as wheel:
        info = "hello_pip-1.0.dist-info"
        wheel.writestr("hello_pip.py", "print('hello from pip')\n")
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\nName: hello-pip\nVersion: 1.0\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "/RECORD", f"hello_pip.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return data.getvalue()


WHEEL = make_wheel()
PULL = {"id": "PR_1", "number": 1, "url": "https://github.com/me/app/pull/1"}
REPOSITORY = {"id": "R_1", "name": "app", "nameWithOwner": "me/app", "owner": {"login": "me"}, "hasIssuesEnabled": True,
              "description": "", "viewerPermission": "WRITE", "defaultBranchRef": {"name": "main"}, "parent": None, "isPrivate": False,
              "mergeCommitAllowed": True, "rebaseMergeAllowed": True, "squashMergeAllowed": True,
              "pullRequests": {"nodes": [], "totalCount": 0}, "pullRequestTemplates": []}


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


CONFIG = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Labels": {"greeting": "hello from a registry"}},
                     "rootfs": {"type": "layers", "diff_ids": []}}).encode()
MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "layers": [],
                       "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(CONFIG),
                                  "digest": digest(CONFIG)}}).encode()


LOGINS = {"claude": {"count": 0, "refreshes": 0}, "codex": {"count": 0, "refreshes": 0}}
TOKENS = {"claude": ("access", "refresh"), "codex": ("access", "id", "refresh")}


# c4nary is in each real token, and in no placeholder.
def token_of(kind, name):
    count = LOGINS[kind]["count"]
    if kind == "codex" and name != "refresh":
        claims = {"exp": 4000000000 + count, "https://api.openai.com/auth": {"chatgpt_account_id": "account-1"}}
        parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "RS256"}, claims)]
        return ".".join(parts) + f".{'c4nary-' * 8}{name}-{count}"
    return f"c4nary-c4nary-c4nary-c4nary-{kind}-{name}-{count}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, data, kind="application/json", status=200, **fields):
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **fields}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host, path = self.headers["Host"].split(":")[0], urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        service = getattr(self, host.replace(".", "_").replace("-", "_"), self.events)
        if service(path, body) is None:
            return
        self.reply({"message": "nothing at " + path}, status=404)

    do_GET = do_POST = do_HEAD = do_PUT = do_PATCH = do_DELETE = serve

    def api_github_com(self, path, body):
        if path == "/user":
            return self.reply({"login": "tester"}, X_OAuth_Scopes="repo")
        if path != "/graphql":
            return path
        query = json.loads(body)["query"]
        if "createPullRequest" in query:
            return self.reply({"data": {"createPullRequest": {"pullRequest": PULL}}})
        # gh asks for what the schema has.
        if "__type" in query:
            return self.reply({"data": {name: {"fields": [], "inputFields": []} for name in re.findall(r"(\w+):\s*__type", query)}})
        aliases = re.findall(r"(\w+):\s*repository\(", query)
        return self.reply({"data": {"viewer": {"login": "tester"}, "repository": REPOSITORY, **{name: REPOSITORY for name in aliases}}})

    def registry_npmjs_org(self, path, body):
        if path == "/-/whoami":
            return self.reply({"username": "tester"})
        if self.command == "PUT":
            return self.reply({"ok": True}, status=201)
        with open(FOLDER + "/npm/hello-npm/index.json", encoding="utf-8") as file:
            index = file.read().replace("npm.example/npm/", "registry.npmjs.org/hello-npm/-/")
        if path == "/hello-npm":
            return self.reply(index.encode())
        if path.endswith(".tgz"):
            with open(FOLDER + "/npm/hello-npm-1.0.0.tgz", "rb") as file:
                return self.reply(file.read(), "application/octet-stream")
        return path

    def pypi_org(self, path, body):
        if path != "/simple/hello-pip/":
            return path
        name = "hello_pip-1.0-py3-none-any.whl"
        page = f'<html><body><a href="https://files.pythonhosted.org/{name}#sha256={digest(WHEEL)[7:]}">{name}</a></body></html>'
        return self.reply(page.encode(), "text/html")

    def files_pythonhosted_org(self, path, body):
        return self.reply(WHEEL, "application/octet-stream")

    def upload_pypi_org(self, path, body):
        return self.reply({"uploaded": len(body)})

    def auth_docker_io(self, path, body):
        return self.reply({"token": "a-pull-token"})

    def registry_1_docker_io(self, path, body):
        if self.headers.get("Authorization") != "Bearer a-pull-token":
            return self.reply({"errors": []}, status=401, WWW_Authenticate='Bearer realm="https://auth.docker.io/token",'
                              'service="registry.docker.io",scope="repository:library/hello:pull"')
        if "/manifests/" in path:
            return self.reply(MANIFEST, MANIFEST_TYPE, Docker_Content_Digest=digest(MANIFEST))
        if path.endswith("/tags/list"):
            return self.reply({"name": "library/hello", "tags": ["latest"]})
        return self.reply(CONFIG if "/blobs/" in path else {}, "application/octet-stream")

    # Log-ins. Each refresh ends both tokens and gives new ones, as the real hosts do. POST /reset begins anew.
    def login(self, path, body, kind):
        state, text = LOGINS[kind], body.decode()
        fields = json.loads(text) if text.startswith("{") else dict(urllib.parse.parse_qsl(text))
        if path == "/reset":
            state.update(count=0, refreshes=0)
            return self.reply({})
        if path == "/count":
            return self.reply({"refreshes": state["refreshes"]})
        if not path.endswith("oauth/token"):
            return path
        is_refresh = fields.get("grant_type") == "refresh_token" and fields.get("refresh_token") == token_of(kind, "refresh")
        is_login = fields.get("grant_type") == "authorization_code" and fields.get("code") == "c0de"
        if not is_refresh and not is_login:
            return self.reply({"error": "invalid_grant"}, status=400)
        state["count"] += 1
        state["refreshes"] += is_refresh
        answer = {name + "_token": token_of(kind, name) for name in TOKENS[kind]}
        return self.reply({"token_type": "Bearer", "expires_in": 28800, "scope": "user:inference user:profile", "ratio": 0.5, **answer})

    def model(self, path, kind):
        if self.headers.get("Authorization") != "Bearer " + token_of(kind, "access"):
            return self.reply({"error": "the token has ended", "sent": self.headers.get("Authorization")}, status=401)
        return self.reply({"text": "an answer of the model"})

    def platform_claude_com(self, path, body):
        return self.login(path, body, "claude")

    def api_anthropic_com(self, path, body):
        return self.model(path, "claude")

    def auth_openai_com(self, path, body):
        return self.login(path, body, "codex")

    def chatgpt_com(self, path, body):
        return self.model(path, "codex")

    # /events?STEP: events of a stream. Each is sent only after the one before was reported by /seen?NUMBER.
    def events(self, path, body):
        if path == "/events/seen":
            SEEN[int(urllib.parse.urlsplit(self.path).query)].set()
            return self.reply({})
        if path != "/events":
            return path
        for event in SEEN:
            event.clear()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, event in enumerate(SEEN):
            self.wfile.write(b"data: %d\n\n" % number)
            if not event.wait(60):
                return None
        self.close_connection = True
        return None


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


Server(("127.0.0.1", PORT), Handler).serve_forever()
