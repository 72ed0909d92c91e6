# SPDX-License-Identifier: MIT
# OpenAI Responses: POST /v1/responses.
import json

from conversation import Conversation, new_name, text_of

PATH = r"/responses$"


def read(body):
    talk = Conversation()
    given = body.get("input") or []
    talk.spaces = {}
    talk.offer(names_of(body.get("tools"), talk.spaces))
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if item.get("type", "message") == "message" and item.get("role") == "user":
            talk.user(text_of(item["content"]))
        elif item.get("type") in ("function_call_output", "custom_tool_call_output"):
            output = item["output"]
            talk.result(output if isinstance(output, str) else text_of(output))
        elif item.get("type") == "additional_tools":
            talk.offer(names_of(item["tools"], talk.spaces))
    return talk


# Tools may be in a namespace: then they are offered by their own name and by that of both. `spaces` has the parts of the latter.
def names_of(tools, spaces, space=None):
    for tool in tools or []:
        name = tool.get("name")
        yield name
        if space:
            spaces[f"{space}__{name}"] = {"name": name, "namespace": space}
            yield f"{space}__{name}"
        yield from names_of(tool.get("tools"), spaces, name)


def answer(talk, body, _path):
    arguments = talk.call()
    if arguments is None:
        item = {"type": "message", "id": "msg_" + new_name(), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": talk.final(), "annotations": []}]}
    elif isinstance(arguments, str):
        item = {"type": "custom_tool_call", "id": "ctc_" + new_name(), "call_id": "call_" + new_name(), "status": "completed",
                "name": talk.tool, "input": arguments}
    else:
        item = {"type": "function_call", "id": "fc_" + new_name(), "call_id": "call_" + new_name(), "status": "completed",
                **talk.spaces.get(talk.tool, {"name": talk.tool}), "arguments": json.dumps(arguments)}
    response = {"id": "resp_" + new_name(), "object": "response", "created_at": 0, "status": "completed", "model": body.get("model", "fake"),
                "output": [item], "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                                            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}}
    if not body.get("stream"):
        return "application/json", json.dumps(response)
    return "text/event-stream", "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in stream(item, response))


def stream(item, response):
    events = [{"type": "response.created", "response": {**response, "status": "in_progress", "output": [], "usage": None}}]
    if item["type"] == "message":
        part, text = item["content"][0], item["content"][0]["text"]
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events += [
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress", "content": []}},
            {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", **place, "delta": text},
            {"type": "response.output_text.done", **place, "text": text},
            {"type": "response.content_part.done", **place, "part": part},
        ]
    elif item["type"] == "function_call":
        place = {"item_id": item["id"], "output_index": 0}
        events += [
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress", "arguments": ""}},
            {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]},
            {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]},
        ]
    events += [{"type": "response.output_item.done", "output_index": 0, "item": item}, {"type": "response.completed", "response": response}]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]
