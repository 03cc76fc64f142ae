"""Bytes of an answer that are no UTF-8: a host cuts a character where a token ends, and writes each half as it is.

U+FFFD stands for them in text and reasoning, with a warning; in a call, its name or id they end the answer. No byte
that is no text reaches a client, whatever its API and the provider's.
"""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import answer, open_exchange
from tests.framing.aws_frames import event as aws_frame
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.bedrock_converse import converse_upstream as converse
from tests.providers.gemini import gemini_upstream as gemini
from tests.providers.openai_chat import chat_upstream as chat
from tests.providers.openai_responses import responses_upstream as responses

#: What stands in the tables for bytes that are no UTF-8, and half of a character, as a host cuts it.
HERE, HALF = "@@", b"\xe4\xb8"
WARNING = "invalid_text_replaced"

#: Wire -> the events of a stream with such bytes in the text, in the reasoning, in the arguments of a call.
TEXTS: dict[str, list[Any]] = {
    "openai_chat": [chat.ROLE, chat.text("a"), chat.text(f"b{HERE}"), chat.text("c"), chat.STOP],
    "openai_responses": [
        responses.created(), *responses.said(0, "msg_1", "a", f"b{HERE}", "c"),
        responses.completed(responses.message("msg_1", f"ab{HERE}c")),
    ],
    "anthropic_messages": [
        messages.start(), messages.begin(0, "text", text=""), messages.text(0, "a"), messages.text(0, f"b{HERE}"),
        messages.text(0, "c"), messages.end(0), *messages.TURN,
    ],
    "gemini": [gemini.chunk(gemini.text("a")), gemini.chunk(gemini.text(f"b{HERE}")), gemini.chunk(gemini.text("c")),
               gemini.STOP],
    "bedrock_converse": [
        converse.BEGIN, converse.text(0, "a"), converse.text(0, f"b{HERE}"), converse.text(0, "c"), converse.end(0),
        converse.stop("end_turn"), converse.USAGE,
    ],
}  # fmt: skip
CALLS: dict[str, list[Any]] = {
    "openai_chat": [
        chat.ROLE, chat.opening(0, "call_1", "weather"), chat.fragment(0, f'{{"city":"{HERE}"}}'), chat.CALLS,
    ],
    "openai_responses": [
        responses.created(), *responses.called(0, "fc_1", "call_1", "weather", f'{{"city":"{HERE}"}}'),
        responses.completed(responses.call("fc_1", "call_1", "weather", f'{{"city":"{HERE}"}}')),
    ],
    "anthropic_messages": [
        messages.start(), messages.call(0, "toolu_1", "weather"), messages.fragment(0, f'{{"city":"{HERE}"}}'),
        messages.end(0), *messages.CALLS,
    ],
    "gemini": [gemini.chunk(gemini.call("weather", {"city": HERE})), gemini.STOP],
    "bedrock_converse": [
        converse.BEGIN, converse.call(0, "call_1", "weather"), converse.fragment(0, f'{{"city":"{HERE}"}}'),
        converse.end(0), converse.stop("tool_use"), converse.USAGE,
    ],
}  # fmt: skip
#: Wire -> a document, with such bytes in its text and in a call.
DOCUMENTS: dict[str, tuple[bytes, bytes]] = {
    "openai_chat": (
        chat.whole({"content": f"ab{HERE}c"}),
        chat.whole({"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": {
            "name": "weather", "arguments": f'{{"city":"{HERE}"}}'}}]}, "tool_calls"),
    ),
    "openai_responses": (
        json.dumps(responses.response("completed", [responses.message("msg_1", f"ab{HERE}c")])).encode(),
        json.dumps(responses.response("completed", [responses.call("fc_1", f"call{HERE}", "weather", "{}")])).encode(),
    ),
    "anthropic_messages": (
        messages.whole([{"type": "text", "text": f"ab{HERE}c"}]),
        messages.whole([{"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": HERE}}], "tool_use"),
    ),
    "gemini": (
        json.dumps(gemini.chunk(gemini.text(f"ab{HERE}c"), finish="STOP")).encode(),
        json.dumps(gemini.chunk(gemini.call(f"weather{HERE}", {}), finish="STOP")).encode(),
    ),
    "bedrock_converse": (
        converse.document({"text": f"ab{HERE}c"}),
        converse.document({"toolUse": {"toolUseId": "call_1", "name": "weather", "input": {"city": HERE}}}),
    ),
}  # fmt: skip


def broken(data: bytes) -> bytes:
    return data.replace(HERE.encode(), HALF)


def stream(wire: str, events: list[Any]) -> bytes:
    """The events as a host writes them that cuts characters."""
    if wire == "bedrock_converse":
        return b"".join(aws_frame(kind, broken(json.dumps(payload).encode())) for kind, payload in events)
    named = (b"event: %b\n" % event["type"].encode() if "type" in event else b"" for event in events)
    frames = (b"%bdata: %b\n\n" % (name, json.dumps(event).encode()) for name, event in zip(named, events, strict=True))
    return broken(b"".join(frames) + (b"data: [DONE]\n\n" if wire == "openai_chat" else b""))


def shown(body: bytes) -> str:
    """The body, which is text, with what it escapes."""
    return body.decode().replace("\\ufffd", "\ufffd")


@each_row("wire", TEXTS)
@each_row("door", every_door.REQUESTS)
def test_half_a_character_costs_no_answer(door: str, wire: str) -> None:
    told = every_door.asked(door, stream(wire, TEXTS[wire]), streamed=True, wire=wire)
    assert told.status == 200
    assert every_door.text_in(door, told.body) == "ab\ufffdc"
    assert WARNING in told.body.decode()
    whole = every_door.asked(door, broken(DOCUMENTS[wire][0]), streamed=False, wire=wire)
    assert whole.status == 200
    assert "ab\ufffdc" in shown(whole.body)
    assert WARNING in whole.headers["x-toolwire-warnings"]


@each_row("wire", CALLS)
@each_row("door", every_door.REQUESTS)
def test_in_a_call_it_ends_the_answer(door: str, wire: str) -> None:
    for upstream, streamed in ((stream(wire, CALLS[wire]), True), (broken(DOCUMENTS[wire][1]), False)):
        told = every_door.asked(door, upstream, streamed=streamed, wire=wire)
        assert "upstream_protocol_error" in told.body.decode() or told.status == 502
        assert "\ufffd" not in shown(told.body)


def test_a_call_in_the_text_is_none_then() -> None:
    markup = f'<tool_call>{{"name": "weather", "arguments": {{"city": "{HERE}"}}}}</tool_call>'
    events = [chat.ROLE, chat.text("a"), chat.text(markup), chat.STOP]
    told = every_door.asked("chat_completions", stream("openai_chat", events), streamed=True, wire="openai_chat")
    assert b"upstream_protocol_error" in told.body
    assert b"tool_calls" not in told.body


def test_what_is_no_json_either_is_an_error() -> None:
    body = json.dumps({"model": "m", "stream": True, **every_door.REQUESTS["chat_completions"]}).encode()
    told = answer(open_exchange(body), [b'data: {"\xff\n\n'])
    assert told.status == 502


def test_what_is_text_is_not_looked_at() -> None:
    events = [chat.ROLE, chat.text("中\ufffd"), chat.opening(0, "call_1", "weather", '{"city":"\ufffd"}'), chat.CALLS]
    told = every_door.asked("chat_completions", stream("openai_chat", events), streamed=True, wire="openai_chat")
    assert WARNING.encode() not in told.body
    assert every_door.calls_in("chat_completions", told.body, streamed=True) == [("weather", '{"city":"\ufffd"}')]
