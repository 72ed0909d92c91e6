# SPDX-License-Identifier: MIT
# OpenAI chat completions: POST /v1/chat/completions.
import json

from conversation import Conversation, new_name, text_of

PATH = r"/chat/completions$"


def read(body):
    talk = Conversation()
    talk.offer([tool.get("function", {}).get("name") for tool in body.get("tools") or []])
    for message in body["messages"]:
        if message["role"] == "user":
            talk.user(text_of(message["content"]))
        elif message["role"] == "tool":
            talk.result(text_of(message["content"]))
    return talk


def answer(talk, body, _path):
    arguments = talk.call()
    if arguments is None:
        message, reason = {"role": "assistant", "content": talk.final()}, "stop"
    else:
        function = {"name": talk.tool, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": "call_" + new_name(), "type": "function", "function": function}
        message, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    head = {"id": "chatcmpl-" + new_name(), "created": 0, "model": body.get("model", "fake")}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return "application/json", json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    chunks = [[{"index": 0, "delta": message, "finish_reason": None}], [{"index": 0, "delta": {}, "finish_reason": reason}]]
    events = [{**head, "object": "chat.completion.chunk", "choices": choices} for choices in chunks]
    events.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    return "text/event-stream", "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
