#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# An agent with a log-in by subscription, as claude or codex (its name). Each argument is an action: ask, refresh, login, foreign, show,
# environment, canary PROGRAM MASKED.
import base64
import json
import os
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request

KIND = os.path.basename(sys.argv[0])
FOLDER = os.environ.get({"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}[KIND]) or os.path.expanduser("~/." + KIND)
FILE = FOLDER + ("/.credentials.json" if KIND == "claude" else "/auth.json")
MODEL, TOKENS = {"claude": ("https://api.anthropic.com/v1/messages", "https://platform.claude.com/v1/oauth/token"),
                 "codex": ("https://chatgpt.com/backend-api/codex/responses", "https://auth.openai.com/oauth/token")}[KIND]
NAMES = {"claude": {"access": "accessToken", "refresh": "refreshToken"},
         "codex": {"access": "access_token", "refresh": "refresh_token", "id": "id_token"}}[KIND]
PART = {"claude": "claudeAiOauth", "codex": "tokens"}[KIND]


def read():
    try:
        with open(FILE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {PART: {}}


def fetch(request):
    context = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
    try:
        with urllib.request.urlopen(request, timeout=100, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, f"{error.headers.get('x-agent-sandbox')} {error.read().decode()}"


def get_tokens(fields):
    form = KIND == "codex"
    body = urllib.parse.urlencode(fields) if form else json.dumps(fields)
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    status, text = fetch(urllib.request.Request(TOKENS, body.encode(), {"Content-Type": kind}))
    if status != 200:
        sys.exit(print(text))
    issued, state = json.loads(text), read()
    for name, own in NAMES.items():
        state[PART][own] = issued[name + "_token"]
    # As a new file that is renamed over the old one.
    os.makedirs(FOLDER, exist_ok=True)
    with open(FILE + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file, indent=1)
    os.rename(FILE + ".new", FILE)
    print("refreshed")


def claims(token):
    part = token.split(".")[1]
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()


words = sys.argv[1:]
while words:
    word = words.pop(0)
    if word == "ask":
        print(fetch(urllib.request.Request(MODEL, None, {"Authorization": "Bearer " + read()[PART][NAMES["access"]]}))[1])
    elif word == "refresh":
        get_tokens({"grant_type": "refresh_token", "refresh_token": read()[PART][NAMES["refresh"]], "client_id": "x"})
    elif word == "login":
        get_tokens({"grant_type": "authorization_code", "code": "c0de", "client_id": "x"})
    elif word == "foreign":
        get_tokens({"grant_type": "refresh_token", "refresh_token": "sk-ant-ort01-the-agents-own-token", "client_id": "x"})
    elif word == "show":
        print(json.dumps(read()), *(claims(token) for token in read()[PART].values() if KIND == "codex" and token.count(".") == 2))
    elif word == "environment":
        print(*os.environ.items())
    elif word == "canary":
        subprocess.run([sys.executable, words.pop(0), words.pop(0), "jail"], check=True)
