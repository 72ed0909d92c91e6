# SPDX-License-Identifier: MIT
# mcp.py SCENARIO PROGRAM [OPTION...]: a client of `agent-sandbox mcp` for tests/jail/mcp.bats. A scenario prints nothing and exits with 0,
# or fails with the line that did not hold. No scenario measures the clock: each waits for an answer.
import base64
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import threading

VERSION = "2025-11-25"


class Client:
    def __init__(self, command, initialize=True):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.names = 0
        self.notices = []
        self.answers = {}
        if initialize:
            self.request("initialize", protocolVersion=VERSION, capabilities={}, clientInfo={"name": "test", "version": "1"})
            self.notify("notifications/initialized")

    def put(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.flush()

    def send(self, method, **parameters):
        self.names += 1
        self.put(json.dumps({"jsonrpc": "2.0", "id": self.names, "method": method, "params": parameters}) + "\n")
        return self.names

    def notify(self, method, **parameters):
        self.put(json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters}) + "\n")

    def read(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the server sent half a line: {line[-200:]}"
        return json.loads(line)

    def wait(self, name):
        while name not in self.answers:
            message = self.read()
            if "method" in message:
                self.notices.append(message)
            else:
                self.answers[message["id"]] = message
        return self.answers.pop(name)

    def request(self, method, **parameters):
        return self.wait(self.send(method, **parameters))

    def start(self, tool, meta=None, **arguments):
        extra = {"_meta": meta} if meta else {}
        return self.send("tools/call", name=tool, arguments=arguments, **extra)

    def result(self, name):
        answer = self.wait(name)["result"]
        assert not answer["isError"], answer
        assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]
        return answer["structuredContent"]

    def call(self, tool, **arguments):
        return self.result(self.start(tool, **arguments))

    def problem(self, tool, **arguments):
        answer = self.wait(self.start(tool, **arguments))["result"]
        assert answer["isError"], answer
        return answer["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        assert self.process.stdout.read() == b""
        return self.process.wait()


def code(answer):
    return answer["error"]["code"]


# ---- What the tools do

def tools(command):
    client = Client(command)
    listed = client.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["run", "read", "write", "why"], listed
    ran = client.call("run", command=["sh", "-c", "cat; echo bad >&2; pwd; exit 3"], stdin="given\n", cwd="sub")
    assert ran["exit_status"] == 3 and ran["stderr"] == "bad\n", ran
    assert ran["stdout"] == f"given\n{os.getcwd()}/sub\n" and not ran["truncated"] and ran["stdout_file"] is None, ran
    assert client.call("run", command="echo $((6 * 7))")["stdout"] == "42\n"
    assert client.call("run", command="kill -TERM $$")["exit_status"] == 143
    missing = client.call("run", command=["no-such-command"])
    assert missing["exit_status"] == 127 and "not found in the jail" in missing["stderr"], missing
    assert "enter nowhere" in client.problem("run", command=["true"], cwd="nowhere")

    text = "a\x1b[31m\x00ü\n"
    assert client.call("write", path="new", content=text, mode="create")["written"] == len(text.encode())
    assert "File exists" in client.problem("write", path="new", content="other", mode="create")
    assert open("new").read() == text
    os.chmod("new", 0o751)
    client.call("write", path="new", content="replaced")
    assert open("new").read() == "replaced" and os.stat("new").st_mode & 0o777 == 0o751
    client.call("write", path="new", content_base64=base64.b64encode(b"\xff").decode(), mode="append")
    read = client.call("read", path="new")
    assert read["base64"] == base64.b64encode(b"replaced\xff").decode() and read["total"] == 9, read
    part = client.call("read", path="new", offset=2, length=3)
    assert part["text"] == "pla" and part["total"] == 9 and part["length"] == 3, part
    assert client.call("read", path="new", offset=100)["text"] == ""
    listed = client.call("read", path=".")
    assert {"name": "sub", "kind": "directory"} in listed["entries"] and listed["total"] == len(listed["entries"]), listed
    assert client.call("read", path=".", offset=1, length=1)["entries"] == listed["entries"][1:2]
    assert client.call("read", path="/proc/self/status")["text"].startswith("Name:")
    os.symlink("new", "link")
    client.call("write", path="link", content="through")
    assert os.path.islink("link") and open("new").read() == "through"
    assert [name for name in os.listdir(".") if name.startswith("new")] == ["new"], os.listdir(".")
    assert client.call("why", syscall="mount")["allowed"] is False
    assert client.call("why", path="new", write=True)["allowed"] is True
    assert client.end() == 0


def truncated(command):
    client = Client(command)
    ran = client.call("run", command="echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; echo short >&2")
    assert ran["truncated"] and ran["stdout_bytes"] == 3000012 and len(ran["stdout"]) < 263000, ran["stdout_bytes"]
    assert ran["stdout"].startswith("first\n") and ran["stdout"].endswith("\nlast\n") and ran["stderr_file"] is None
    whole = ran["stdout_file"]
    assert client.call("run", command=["sh", "-c", 'wc -c <"$1"; head -n 1 "$1"; tail -n 1 "$1"', "sh", whole])["stdout"] == "3000012\nfirst\nlast\n"
    assert client.call("read", path=whole, offset=3000007)["text"] == "last\n"
    fits = client.call("run", command="head -c 262144 /dev/zero | tr '\\0' x")
    assert not fits["truncated"] and len(fits["stdout"]) == 262144 and fits["stdout_file"] is None
    both = client.call("run", command="head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero")
    assert both["stdout_file"] and both["stderr_file"] and both["stdout_file"] != both["stderr_file"], both.keys()
    assert client.end() == 0


# The file has no room, the command does not fail for that.
def no_room(command):
    client = Client(command)
    ran = client.call("run", command="head -c 3000000 /dev/zero; echo $? >status")
    assert ran["exit_status"] == 0 and ran["truncated"] and ran["stdout_file"] is None, ran.keys()
    assert ran["file_problem"], ran.keys()
    assert open("status").read() == "0\n"
    assert client.end() == 0


def timeout(command):
    client = Client(command)
    ran = client.call("run", command=["sh", "-c", "echo begun; exec sleep 1000"], timeout_s=1)
    assert ran["timed_out"] and ran["exit_status"] == 143 and ran["stdout"] == "begun\n", ran
    ran = client.call("run", command="trap '' TERM; while :; do sleep 0.1; done", timeout_s=1)
    assert ran["timed_out"] and ran["exit_status"] == 137, ran
    assert client.end() == 0


# The command ends only after a report: without reports this does not end.
def progress(command):
    client = Client(command)
    name = client.start("run", meta={"progressToken": "t"}, command="echo out; until test -e go; do sleep 0.1; done")
    while len(client.notices) < 2:
        client.notices.append(client.read())
    client.call("write", path="go", content="")
    assert client.result(name)["stdout"] == "out\n"
    values = [notice["params"]["progress"] for notice in client.notices]
    assert values == sorted(set(values)) and client.notices[0]["params"]["progressToken"] == "t", client.notices
    assert client.end() == 0


def changes(command):
    client = Client(command)
    assert client.request("tools/list")["result"]["tools"][-1]["name"] == "changes"
    client.call("write", path="new", content="x")
    client.call("run", command="rm old; echo more >>kept")
    found = client.call("changes")
    assert (found["deleted"], found["changed"], found["added"]) == (1, 1, 1), found
    assert {"path": "new", "change": "new"} in found["changes"] and {"path": "old", "change": "deleted"} in found["changes"], found
    assert not os.path.exists("new") and os.path.exists("old")
    client.process.stdin.close()
    client.process.wait()


# ---- What the jail refuses

def refuses(command):
    secret = open(os.environ["SECRET"]).read()
    client = Client(command)
    for path in (os.environ["SECRET"], "link-out", f"../{os.path.basename(os.getcwd())}/link-out", f"/proc/self/root{os.environ['SECRET']}"):
        assert open(path).read() == secret if not path.startswith("/proc") else True
        assert "No such file" in client.problem("read", path=path), path
        assert secret not in client.call("run", command=["cat", path])["stdout"]
    assert client.call("read", path=".env").get("text", "") == "" and open(".env").read() != ""
    for path, mode in ((".git/hooks/post-commit", "create"), (".git/hooks/post-commit", "append"), (os.environ["SECRET"] + ".new", "create"), ("/usr/planted", "replace"), (".env", "replace")):
        assert client.problem("write", path=path, content="x", mode=mode), path
    assert not os.path.exists(".git/hooks/post-commit") and not os.path.exists(os.environ["SECRET"] + ".new")
    assert open(".env").read() != "x"
    os.mkfifo("fifo")
    for path in ("fifo", "/dev/zero"):
        assert "neither a file" in client.problem("read", path=path)
        assert "not a file" in client.problem("write", path=path, content="x")
    assert os.stat("fifo").st_size == 0
    for tool in ("allow", "approve", "apply", "discard", "stop", "block", "reload", "exec", "changes"):
        assert code(client.wait(client.start(tool))) == -32602, tool
    assert client.end() == 0


def names_refusals(command):
    client = Client(command)
    before = client.call("run", command=["sh", "-c", "python3 -c 'import socket; socket.create_connection((\"203.0.113.1\", 25), 5)'"])
    assert [entry["what"] for entry in before["refused"]] == ["203.0.113.1:25"], before
    assert before["refused"][0]["verdict"] == "deny" and before["refused"][0]["rule"], before
    after = client.call("run", command=["true"])
    assert after["refused"] == [], after
    assert client.end() == 0


# ---- Clients that misbehave

def memory_of(process):
    for line in open(f"/proc/{process}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


# Puts as much as the pipe takes while nothing is read; returns how many messages that were.
def fill(client, message, most):
    pipe = client.process.stdin.fileno()
    fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_NONBLOCK)
    data, put = message * most, 0
    while put < len(data):
        # Only a server that reads no more for so long is full; a slow one makes the claim weaker, never wrong.
        if not select.select([], [pipe], [], 3)[1]:
            break
        try:
            put += os.write(pipe, data[put:put + 65536])
        except BlockingIOError:
            pass
    fcntl.fcntl(pipe, fcntl.F_SETFL, 0)
    return data, put


def never_reads(command):
    client = Client(command)
    client.call("run", command=["true"])
    before = memory_of(client.process.pid)
    message = b'{"jsonrpc":"2.0","id":"list","method":"tools/list"}\n'
    data, put = fill(client, message, 100000)
    assert put < len(data), "the server must stop to read"
    grown = memory_of(client.process.pid) - before
    assert grown < 16 << 20, f"the server has grown by {grown} bytes"
    # Everything is answered as soon as it is read. The rest of the last message goes in beside that, because the pipe is full.
    rest = data[put:-(-put // len(message)) * len(message)]
    writer = threading.Thread(target=client.put, args=(rest,))
    writer.start()
    for _ in range(-(-put // len(message))):
        assert client.read()["id"] == "list"
    writer.join()
    assert client.request("ping")["result"] == {}
    assert client.end() == 0


def many_requests(command):
    client = Client(command)
    child = os.fork()
    if child == 0:
        for number in range(10000):
            client.put(json.dumps({"jsonrpc": "2.0", "id": f"p{number}", "method": "ping"}) + "\n")
        for number in range(200):
            client.put(json.dumps({"jsonrpc": "2.0", "id": f"c{number}", "method": "tools/call", "params": {"name": "run", "arguments": {"command": ["echo", str(number)]}}}) + "\n")
        os._exit(0)
    got = set()
    while len(got) < 10200:
        message = client.read()
        assert message["id"] not in got and "result" in message, message
        if message["id"].startswith("c"):
            # The guard ends a command that starts while /etc/passwd is replaced outside, as other tests do for their users.
            ran = message["result"]["structuredContent"]
            assert ran["stdout"] == message["id"][1:] + "\n" or ran["exit_status"] == 137, ran
        got.add(message["id"])
    os.waitpid(child, 0)
    assert len(os.listdir(f"/proc/{client.process.pid}/fd")) < 20
    assert client.end() == 0


def wrong_bytes(command):
    client = Client(command, initialize=False)
    assert code(client.request("tools/list")) == -32600
    client.put(b"\xff\xfe\n")
    assert code(client.wait(None)) == -32700
    client.put(b'{"half": \n')
    assert code(client.wait(None)) == -32700
    client.put(b"[" * 100000 + b"\n")
    assert code(client.wait(None)) == -32600
    client.put(b"x" * (5 << 20) + b"\n")
    assert code(client.wait(None)) == -32600
    client.put(b"\r\n\n")
    assert client.request("initialize", protocolVersion="1999-01-01")["result"]["protocolVersion"] == VERSION
    assert code(client.request("resources/list")) == -32601
    assert code(client.request("tools/call", name="run", arguments={"command": ["true"], "environment": {}})) == -32602
    assert client.call("run", command=["printf", "a\\377b"])["stdout"] == "a\ufffdb"
    assert client.end() == 0


def cancels(command):
    client = Client(command)
    name = client.start("run", command="touch began; exec sleep 1000")
    while not os.path.exists("began"):
        client.request("ping")
    for _ in range(2):
        client.notify("notifications/cancelled", requestId=name, reason="test")
    # The command is gone, and no answer to the cancelled request is among those that follow.
    while client.call("run", command=["pgrep", "-x", "sleep"])["exit_status"] == 0:
        pass
    assert name not in client.answers
    # As many as may run at once, and one that waits: each is cancelled.
    names = [client.start("run", command=["sleep", "1000"]) for _ in range(9)]
    for each in names + names:
        client.notify("notifications/cancelled", requestId=each)
    assert client.call("run", command=["echo", "next"])["stdout"] == "next\n"
    assert not set(names) & set(client.answers)
    assert client.end() == 0


def eight_at_once(command):
    client = Client(command)
    names = [client.start("run", command=f"touch began{n}; until test -e go; do sleep 0.05; done; echo {n}") for n in range(9)]
    while not all(os.path.exists(f"began{n}") for n in range(8)):
        client.request("ping")
    assert not os.path.exists("began8")
    open("go", "w").close()
    assert [client.result(name)["stdout"] for name in names] == [f"{n}\n" for n in range(9)]
    assert client.end() == 0


# Starts a command in the jail and prints the pid of the server, then lives until it is killed.
def stays(command):
    client = Client(command)
    client.start("run", command="touch began; exec sleep 1000")
    if os.environ.get("HALF"):
        client.put('{"jsonrpc":"2.0","id":')
    print(client.process.pid, flush=True)
    signal.pause()


# A process of the jail tries to keep the session after its client: by the connection of the session's own command, and by stopping it.
def clings(command):
    client = Client(command)
    hold = client.call("run", command="pgrep -xf '.*mcp-inside hold'")["stdout"].strip()
    assert hold.isdigit(), hold
    opened = client.call("run", command=["sh", "-c", f"exec 9<>/proc/{hold}/fd/0; sleep 1000 </dev/null >/dev/null 2>&1 &"])
    # The second wall refuses it before that, where the kernel has Landlock.
    assert "No such device or address" in opened["stderr"] or "Permission denied" in opened["stderr"], opened
    client.call("run", command=["kill", "-STOP", hold])
    client.process.stdin.close()
    client.process.stdout.read()
    client.process.wait()


# The session ends before its client.
def lost(command):
    client = Client(command)
    name = client.start("run", command="touch began; exec sleep 1000")
    while not os.path.exists("began"):
        client.request("ping")
    session = subprocess.run([command[0], "ps", "--ids"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([command[0], "stop", "--now", session], check=True, stdout=subprocess.DEVNULL)
    client.process.stdout.read()
    assert client.process.wait() != 0
    assert name not in client.answers


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2:] + ["mcp"])
