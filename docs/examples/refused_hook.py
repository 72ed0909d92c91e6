#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# A hook after the commands of agents in the jail (docs/mcp.md): after each command of the agent it asks the jail about
# the hosts and paths that the command and its errors name, and adds the refusals to the conversation.
import json
import os
import re
import subprocess
import sys

MOST = 8  # questions for one command
HOST = re.compile(r"(?<![\w.@/-])((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,})(?![\w/.-]*\()", re.IGNORECASE)
URL = re.compile(r"\b[a-z+]+://(?:[^\s/@'\"]*@)?([\w.-]+)")
PATH = re.compile(r"((?:~|\.{0,2})/[^\s'\":;,|&<>()]+)")
# What the kernel prints for a path that the jail hides or protects.
TROUBLE = re.compile(r"No such file|Permission denied|Read-only file system|not permitted|busy", re.IGNORECASE)


def texts_of(value):
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    return "\n".join(texts_of(item) for item in value) if isinstance(value, list) else ""


def questions(command, output):
    for host in URL.findall(command) + HOST.findall(command):
        if not os.path.exists(host):
            yield "host", host, ()
    if TROUBLE.search(output):
        for path in PATH.findall(re.sub(r"\b[a-z+]+://\S*", " ", command)):
            yield "path", os.path.expanduser(path), ("--write",) if "Read-only file system" in output else ()


# A path in the private home directory may be used, but what the user has there outside is absent.
def is_refused(answer, kind, name):
    return not answer["allowed"] or (kind == "path" and answer["verdict"] == "private" and not os.path.exists(name))


def refusal(kind, name, options):
    asked = subprocess.run(["agent-sandbox", "why", "--json", *options, kind, name], capture_output=True, text=True, check=False)
    if asked.returncode > 1 or not asked.stdout:
        return None
    answer = json.loads(asked.stdout)
    if not is_refused(answer, kind, name):
        return None
    change = f"; your user can change it outside: {answer['change']}" if answer.get("change") else ""
    return f"{answer['subject']}: {answer['verdict']} ({answer['why']}){change}"


def main():
    call = json.load(sys.stdin)
    command = texts_of(call.get("tool_input"))
    output = texts_of([call.get("tool_response"), call.get("error")])
    asked = list(dict.fromkeys(questions(command, output)))[:MOST]
    lines = [line for line in (refusal(*question) for question in asked) if line]
    if lines:
        text = "The jail around you refuses:\n" + "\n".join(lines)
        print(json.dumps({"hookSpecificOutput": {"hookEventName": call.get("hook_event_name"), "additionalContext": text}}))


main()
