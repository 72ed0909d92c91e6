# SPDX-License-Identifier: MIT
# Gemini: POST /v1beta/models/MODEL:streamGenerateContent and :generateContent.
import json

from conversation import Conversation

PATH = r":(streamGenerateContent|generateContent)$"

# Before the first turn the agent asks how hard the task is.
ROUTE = json.dumps({"complexity_reasoning": "a short task", "complexity_score": 10})


def read(body):
    talk = Conversation()
    declared = [function for tool in body.get("tools") or [] for function in tool.get("functionDeclarations") or []]
    talk.offer([function["name"] for function in declared])
    for content in body["contents"]:
        if content.get("role") == "model":
            continue
        for part in content["parts"]:
            if "functionResponse" in part:
                response = part["functionResponse"]["response"]
                talk.result(response.get("output") or response.get("error") or response)
            elif "text" in part:
                talk.user(part["text"])
    return talk


def answer(talk, body, path):
    arguments = talk.call()
    if arguments is None:
        part = {"text": talk.final()}
        if "json" in str((body.get("generationConfig") or {}).get("responseMimeType")):
            part = {"text": ROUTE}
    else:
        part = {"functionCall": {"name": talk.tool, "args": arguments}}
    reply = {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
             "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}, "modelVersion": "fake"}
    if path.endswith(":generateContent"):
        return "application/json", json.dumps(reply)
    return "text/event-stream", f"data: {json.dumps(reply)}\n\n"
