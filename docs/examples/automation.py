# SPDX-License-Identifier: MIT
# Starts a session, runs a command in it, and answers the question that the command raises (docs/automation.md).
import json
import subprocess
import sys

PROGRAM = "agent-sandbox"
ALLOWED = {"pypi.org", "files.pythonhosted.org"}


def start(*words):
    return subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def ask(*words):
    return start(*words).communicate()[0]


session = start("--network", "filtered", "--ask", "--", "sh", "-c", "echo ready; exec sleep 600")
if session.stdout.readline() != "ready\n":
    sys.exit("the session did not start; its reason is on standard error")
sessions = json.loads(ask("ps", "--json"))["sessions"]
name = next(one["session"] for one in sessions if one["pid"] == session.pid)

questions = start("pending", "--follow", "--json", "--session", name)
command = start("exec", "--json", name, "--", "curl", "-sS", "http://unknown.example/")

question = json.loads(questions.stdout.readline())
answer = ["approve"] if question["name"] in ALLOWED else ["deny", "--reason", "not on the list"]
ask(*answer, str(question["id"]), "--session", name)

result = json.loads(command.communicate()[0])
refused = ", ".join(entry["what"] for entry in result["refused"] or [])
print(f"asked about {question['name']}:{question['port']}, answered {answer[0]}")
print(f"exit status {result['exit_status']}, refused: {refused}")
session.terminate()
session.wait()
questions.wait()  # it ends with the session
