"""Text, reasoning and calls that a host tells in another place, or in other words, than its API has for them: every
door shows them."""

from __future__ import annotations

import json
from typing import Any

from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"A"}'}}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def chat(*told: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    choices = [{"index": n, "finish_reason": finish, "message": {"role": "assistant"} | m} for n, m in enumerate(told)]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": USAGE}


def message(*content: dict[str, Any], stop: str = "end_turn", **top: Any) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": list(content),
            "stop_reason": stop, "usage": usage} | top  # fmt: skip


def response(*output: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed",
            "output": list(output), "usage": usage}  # fmt: skip


def item(*content: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": list(content)} | members


HI = {"type": "text", "text": "Hi"}
SAID = {"type": "output_text", "text": "Hi", "annotations": []}

#: What is told where -> the wire, its document, and what of text, reasoning and arguments is in it.
DOCUMENTS: dict[str, tuple[str, dict[str, Any], str, str, str]] = {
    "calls in the next choice": (
        "openai_chat", chat({"content": "Hi"}, {"tool_calls": [CALL]}, finish="tool_calls"), "Hi", "", '{"city":"A"}',
    ),
    "arguments called args": (
        "openai_chat", chat({"tool_calls": [CALL | {"function": {"name": "weather", "args": {"city": "A"}}}]},
                            finish="tool_calls"), "", "", '{"city": "A"}',
    ),
    "a part of reasoning": (
        "openai_chat", chat({"content": [{"type": "reasoning", "text": "hm"}, HI]}), "Hi", "hm", "",
    ),
    "a block of the type reasoning": (
        "anthropic_messages", message({"type": "reasoning", "text": "hm"}, HI), "Hi", "hm", "",
    ),
    "thinking called reasoning": (
        "anthropic_messages", message({"type": "thinking", "reasoning": "hm"}, HI), "Hi", "hm", "",
    ),
    "a block of the type output_text": ("anthropic_messages", message(SAID), "Hi", "", ""),
    "reasoning beside the blocks": ("anthropic_messages", message(HI, reasoning_content="hm"), "Hi", "hm", ""),
    "calls beside the blocks": (
        "anthropic_messages", message(HI, stop="tool_use", tool_calls=[CALL]), "Hi", "", '{"city":"A"}',
    ),
    "calls beside the blocks that tell them": (
        "anthropic_messages",
        message({"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "A"}}, stop="tool_use",
                tool_calls=[CALL]), "", "", '{"city": "A"}',
    ),
    "a text without a message": ("openai_responses", response(SAID), "Hi", "", ""),
    "reasoning in a message": ("openai_responses", response(item(SAID, reasoning_content="hm")), "Hi", "hm", ""),
    "a part of reasoning in a message": (
        "openai_responses", response(item({"type": "reasoning_text", "text": "hm"}, SAID)), "Hi", "hm", "",
    ),
    "reasoning by its text": (
        "openai_responses", response({"type": "reasoning", "id": "rs_1", "text": "hm"}, item(SAID)), "Hi", "hm", "",
    ),
    "calls on top of the response": (
        "openai_responses", response(item(SAID)) | {"tool_calls": [CALL]}, "Hi", "", '{"city":"A"}',
    ),
    "calls on top, and in the output": (
        "openai_responses",
        response({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather",
                  "arguments": '{"city":"A"}'}) | {"tool_calls": [CALL]}, "", "", '{"city":"A"}',
    ),
    "nothing but calls on top": (
        "openai_responses", {"id": "resp_1", "status": "completed", "tool_calls": [CALL]}, "", "", '{"city":"A"}',
    ),
    "a call in snake case": (
        "gemini", {"candidates": [{"content": {"role": "model", "parts": [
            {"text": "Hi"}, {"function_call": {"name": "weather", "args": {"city": "A"}}, "thought_signature": "cw=="},
        ]}, "finish_reason": "STOP"}], "usage_metadata": {"prompt_token_count": 1}}, "Hi", "", '{"city":"A"}',
    ),
    "a part in snake case": (
        "gemini", {"candidates": [{"content": {"parts": [
            {"function_call": {"name": "weather", "args": {"city": "A"}}},
        ]}, "finishReason": "STOP"}]}, "", "", '{"city":"A"}',
    ),
    "an item of the type thinking": (
        "openai_responses", response({"type": "thinking", "id": "rs_1", "thinking": "hm"}, item(SAID)), "Hi", "hm", "",
    ),
}  # fmt: skip


@each_row("door", every_door.REQUESTS)
@each_row("told", DOCUMENTS)
def test_a_document(told: str, door: str) -> None:
    wire, document, text, reasoning, arguments = DOCUMENTS[told]
    body = every_door.asked(door, json.dumps(document).encode(), streamed=False, wire=wire).body
    calls = every_door.calls_in(door, body, streamed=False)
    assert [(name, json.loads(given)) for name, given in calls] == (
        [("weather", json.loads(arguments))] if arguments else []
    )
    assert body.count(b'"Hi"') == (1 if text else 0)
    assert (b'"hm"' in body) == bool(reasoning)
    if door == "native":
        shown = json.loads(body)["choices"][0]["message"]
        assert (shown.get("content") or "", shown.get("reasoning_content", "")) == (text, reasoning)


#: What is told how -> the deltas of a stream of the Messages API that say "hm" as thinking, then "Hi".
STREAMS: dict[str, list[dict[str, Any]]] = {
    "thinking within a text": [
        messages.begin(0, "text", text=""), messages.delta(0, "thinking_delta", thinking="hm"), messages.text(0, "Hi"),
        messages.end(0),
    ],
    "thinking as its text": [
        messages.begin(0, "thinking", thinking=""), messages.delta(0, "thinking_delta", text="hm"), messages.end(0),
        messages.begin(1, "text", text=""), messages.text(1, "Hi"), messages.end(1),
    ],
    "reasoning_delta": [
        messages.begin(0, "reasoning"), messages.delta(0, "reasoning_delta", reasoning="hm"), messages.end(0),
        messages.begin(1, "output_text"), messages.delta(1, "output_text_delta", text="Hi"), messages.end(1),
    ],
}  # fmt: skip


@each_row("told", STREAMS)
@each_row("door", ["chat_completions", "messages", "gemini", "native"])
def test_a_stream(told: str, door: str) -> None:
    documents = [messages.start(), *STREAMS[told], messages.finish("end_turn"), messages.STOP]
    upstream = b"".join(b"event: %b\ndata: %b\n\n" % (d["type"].encode(), json.dumps(d).encode()) for d in documents)
    body = every_door.asked(door, upstream, streamed=True, wire="anthropic_messages").body
    assert every_door.text_in(door, body) == "Hi"
    assert body.count(b'"hm"') == 1


NAMED = {"name": "weather", "arguments": '{"city":"A"}'}
INPUT: dict[str, Any] = {"name": "weather", "input": {"city": "A"}}
#: Where a Chat host tells its call, beside `tool_calls` -> what a delta or a message says, and what is around it.
ELSEWHERE: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "in camel case": ({"toolCalls": [CALL]}, {}, {}),
    "in camel case too": ({"tool_calls": [CALL], "toolCalls": [CALL]}, {}, {}),
    "on the choice": ({}, {"tool_calls": [CALL]}, {}),
    "on the choice in camel case": ({}, {"toolCalls": [CALL]}, {}),
    "on the choice too": ({"tool_calls": [CALL]}, {"tool_calls": [CALL]}, {}),
    "on top": ({}, {}, {"tool_calls": [CALL]}),
    "in a part": ({"content": [{"type": "tool_use", "id": "c1", **INPUT}]}, {}, {}),
    "in a part, without a list": ({"content": {"type": "tool_use", "id": "c1", **INPUT}}, {}, {}),
    "in an object in a part": ({"content": [{"type": "tool_use", "tool_use": {"tool_use_id": "c1", **INPUT}}]}, {}, {}),
    "in a call in a part": ({"content": [{"type": "tool_call", "tool_call": {"id": "c1", **NAMED}}]}, {}, {}),
    "in a whole call in a part": ({"content": [{"type": "tool_call", "tool_call": CALL}]}, {}, {}),
    "as Bedrock has it": ({"content": [{"toolUse": {"toolUseId": "c1", **INPUT}}]}, {}, {}),
    "as Gemini has it": ({"content": [{"functionCall": {"name": "weather", "args": {"city": "A"}}}]}, {}, {}),
    "as the AI SDK has it": (
        {"content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": {"city": "A"}}]}, {}, {},
    ),
    "in another list": (
        {"content": "", "content_list": [{"type": "tool_use", "tool_use": {"tool_use_id": "c1", **INPUT}}]}, {}, {},
    ),
    "in another list, by the delta's type": (
        {"type": "tool_use", "content_list": [{"tool_use_id": "c1", **INPUT}]}, {}, {},
    ),
    "as Cohere has it": (
        {"tool_calls": [{"id": "c1", "tool_name": "weather", "parameters": {"city": "A"}}]}, {}, {},
    ),
}  # fmt: skip


@each_row("door", every_door.REQUESTS)
@each_row("told", ELSEWHERE)
def test_a_call_of_a_chat_host(told: str, door: str) -> None:
    said, beside, top = ELSEWHERE[told]
    document = chat(said, finish="tool_calls") | top
    document["choices"][0] |= beside
    choice = {"index": 0, "delta": {"role": "assistant"} | said, "finish_reason": "tool_calls"} | beside
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]} | top
    stream = b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode()
    for body, streamed in ((json.dumps(document).encode(), False), (stream, True)):
        shown = every_door.asked(door, body, streamed=streamed, wire="openai_chat").body
        calls = every_door.calls_in(door, shown, streamed=streamed)
        assert [(name, json.loads(given)) for name, given in calls] == [("weather", {"city": "A"})]
        assert shown.count(b"toolCalls") == shown.count(b"content_list") == 0


def test_a_stream_of_another_list() -> None:
    parts = [{"tool_use_id": "c1", "name": "weather"}, {"input": '{"city"'}, {"input": ':"A"}'}]
    deltas = [{"content": "Hi", "content_list": [HI]}, *({"type": "tool_use", "content_list": [p]} for p in parts)]
    chunks = [{"id": "c", "choices": [{"delta": delta}]} for delta in deltas]
    stream = b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks) + b"data: [DONE]\n\n"
    body = every_door.asked("chat_completions", stream, streamed=True, wire="openai_chat").body
    assert every_door.calls_in("chat_completions", body, streamed=True) == [("weather", '{"city":"A"}')]
    assert every_door.text_in("chat_completions", body) == "Hi"


def test_a_refusal_beside_an_empty_list_of_choices_is_one() -> None:
    refusal = {"choices": [], "base_resp": {"status_code": 1004, "status_msg": "login fail"}}
    shown = every_door.asked("chat_completions", json.dumps(refusal).encode(), streamed=False, wire="openai_chat")
    assert (shown.status >= 400, b"login fail" in shown.body) == (True, True)
