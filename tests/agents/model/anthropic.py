# SPDX-License-Identifier: MIT
# Anthropic Messages: POST /v1/messages.
import json

from conversation import Conversation, new_name, text_of

PATH = r"/v1/messages$"


def read(body):
    talk = Conversation()
    talk.offer([tool.get("name") for tool in body.get("tools") or []])
    for message in body["messages"]:
        if message["role"] != "user":
            continue
        content = message["content"]
        if isinstance(content, str):
            talk.user(content)
            continue
        for block in content:
            if block["type"] == "tool_result":
                talk.result(text_of(block.get("content")))
            elif block["type"] == "text":
                talk.user(block["text"])
    return talk


def answer(talk, body, _path):
    arguments = talk.call()
    if arguments is None:
        block = {"type": "text", "text": talk.final()}
        reason = "end_turn"
    else:
        block = {"type": "tool_use", "id": "toolu_" + new_name(), "name": talk.tool, "input": arguments}
        reason = "tool_use"
    message = {"id": "msg_" + new_name(), "type": "message", "role": "assistant", "model": body.get("model", "fake"), "content": [block],
               "stop_reason": reason, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 10}}
    if not body.get("stream"):
        return "application/json", json.dumps(message)
    return "text/event-stream", "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in stream(message))


def stream(message):
    block = message["content"][0]
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}
