"""Each wire's state: read out of an answer into the neutral events, and written back where its API wants it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from google.genai import types

from tests.named_rows import each_row
from tests.providers.gemini import gemini_upstream as gemini
from tests.providers.openai_chat import chat_upstream as chat
from toolwire.framing.sse import SseDecoder
from toolwire.model.events import (
    Batch,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamEvent,
    TextEnd,
    TextStart,
    ToolCallEnd,
    ToolCallStart,
)
from toolwire.model.request import (
    ChatRequest,
    Message,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.providers import load_provider, profile_of
from toolwire.providers.decoder_context import DecoderContext
from toolwire.stream.order import OrderCheck


def events(wire: str, frames: bytes) -> list[StreamEvent]:
    decoder, order, sse = load_provider(wire).decoder(DecoderContext()), OrderCheck(), SseDecoder()
    batches: list[Batch] = [decoder.decode(frame) for frame in [*sse.feed(frames), *sse.end()]]
    batches.append(decoder.end())
    for batch in batches:
        order.check(batch)
    return [event for batch in batches for event in batch.events]


def whole(wire: str, body: bytes) -> list[StreamEvent]:
    return list(load_provider(wire).decoder(DecoderContext()).decode_json(body).events)


def state(found: Iterable[StreamEvent]) -> list[tuple[str, Any]]:
    """The parts that ended with state, in the order of their ends."""
    started = {
        event.index: type(event) for event in found if isinstance(event, TextStart | ReasoningStart | ToolCallStart)
    }
    names = {TextStart: "text", ReasoningStart: "reasoning", ToolCallStart: "call"}
    return [
        (names[started[event.index]], event.signature)
        for event in found
        if isinstance(event, TextEnd | ReasoningEnd | ToolCallEnd) and event.signature is not None
    ]


# ---------------------------------------------------------------- Gemini

A = gemini.call("f", {"a": 1}, id="g-1", thoughtSignature_="sa")
B = gemini.call("f", {"b": 1}, id="g-2")


@each_row(
    ("parts", "expected"),
    [
        ([[A, B]], [("call", "sa")]),
        ([[A], [B]], [("call", "sa")]),
        ([[gemini.text("x")], [gemini.text("y", thoughtSignature="sy")], [A]], [("text", "sy"), ("call", "sa")]),
        ([[gemini.text("x", thoughtSignature="s1"), gemini.text("y", thoughtSignature="s2")]],
         [("text", "s1"), ("text", "s2")]),
        ([[gemini.text("x")], [gemini.text("", thoughtSignature="end")]], [("reasoning", "end")]),
        ([[gemini.text("x")], [{"thoughtSignature": "end"}]], [("reasoning", "end")]),
        ([[gemini.thought("hm")], [gemini.text("", thoughtSignature="end")]], [("reasoning", "end")]),
        ([[gemini.thought("hm", thoughtSignature="sh")], [A]], [("reasoning", "sh"), ("call", "sa")]),
        ([[gemini.call("f", willContinue=True, thoughtSignature_="sp")], [gemini.call()], [B]], [("call", "sp")]),
        ([[gemini.call("f", willContinue=True)], [gemini.call(thoughtSignature_="late")], [A]],
         [("call", "late"), ("call", "sa")]),
        ([[B], [gemini.call("f", {})]], []),
    ],
)  # fmt: skip
def test_gemini_signatures_stand_on_their_own_part(parts: list[list[Any]], expected: list[tuple[str, str]]) -> None:
    chunks = [gemini.chunk(*some) for some in parts]
    assert state(events("gemini", gemini.stream(*chunks, gemini.STOP))) == expected
    if not any("willContinue" in json.dumps(some) for some in parts):
        answer = gemini.chunk(*(part for some in parts for part in some), finish="STOP")
        assert state(whole("gemini", json.dumps(answer).encode())) == expected


def built(wire: str, *parts: Any, model: str = "gemini-3-pro", profile: str | None = None) -> dict[str, Any]:
    """The body for a history in which the assistant has said these parts, each call with its result."""
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    results = [Message("tool", (ToolResultPart(call.id, (TextPart("ok"),)),)) for call in calls]
    messages = (Message("user", (TextPart("hi"),)), Message("assistant", parts), *reversed(results))
    provider = load_provider(wire)
    target = Target(ProviderConfig("up", wire, "http://up", "none", profile), model)
    request = ChatRequest("m", messages, reasoning_effort="high")
    body, _ = provider.build_request(request, target, profile_of(target), None)
    document: dict[str, Any] = json.loads(body.body)
    return document


def test_gemini_gets_each_signature_on_its_part_and_nothing_joined() -> None:
    parts = built(
        "gemini",
        ReasoningPart("dropped"),
        ReasoningPart("hm", "shsh"),
        TextPart("x"),
        TextPart("y", signature="sysy"),
        OpaquePart(
            "inlineData", "gemini", b'{"inlineData":{"mimeType":"image/png","data":"AA=="},"thoughtSignature":"sisi"}'
        ),
        ReasoningPart("", "ende"),
        ToolCallPart("g-1", "f", "{}", signature="sasa", own_id=True),
        ToolCallPart("call_x", "f", '{"thoughtSignature":1}'),
    )["contents"]
    types.Content.model_validate(parts[1])
    assert parts[1]["parts"] == [
        {"text": "hm", "thought": True, "thoughtSignature": "shsh"},
        {"text": "x"},
        {"text": "y", "thoughtSignature": "sysy"},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}, "thoughtSignature": "sisi"},
        {"text": "", "thoughtSignature": "ende"},
        {"functionCall": {"id": "g-1", "name": "f", "args": {}}, "thoughtSignature": "sasa"},
        {"functionCall": {"name": "f", "args": {"thoughtSignature": 1}}},
    ]
    assert [part["functionResponse"].get("id") for part in parts[2]["parts"]] == ["g-1", None]


@pytest.mark.parametrize(("model", "stands_in"), [("gemini-3-pro", True), ("gemini-2.5-pro", False)])
def test_gemini_gets_the_documented_stand_in_only_where_a_signature_is_due(model: str, stands_in: bool) -> None:
    def signatures(*calls: ToolCallPart) -> list[Any]:
        parts = built("gemini", *calls, model=model)["contents"][1]["parts"]
        return [part.get("thoughtSignature") for part in parts]

    lost = ToolCallPart("a", "f", '{"thoughtSignature":"in the arguments"}')
    second = ToolCallPart("b", "f", "{}")
    stand_in = "skip_thought_signature_validator" if stands_in else None
    assert signatures(lost, second) == [stand_in, None]
    assert signatures(ToolCallPart("a", "f", "{}", signature="own"), second) == ["own", None]


# ---------------------------------------------------------------- Anthropic


def test_claude_gets_its_blocks_in_their_order() -> None:
    redacted = OpaquePart("redacted_thinking", "anthropic_messages", b'{"type":"redacted_thinking","data":"r"}')
    parts = (
        ReasoningPart("dropped"), ReasoningPart("one", "s1"), redacted, TextPart("x"), ReasoningPart("", "s2"),
        ToolCallPart("toolu_1", "f", "{}", own_id=True), ToolCallPart("toolu_2", "f", "{}", own_id=True),
    )  # fmt: skip
    document = built("anthropic_messages", *parts, model="claude-sonnet-4-5")
    assert [tuple(block.values())[:3] for block in document["messages"][1]["content"]] == [
        ("thinking", "one", "s1"),
        ("redacted_thinking", "r"),
        ("text", "x"),
        ("thinking", "", "s2"),
        ("tool_use", "toolu_1", "f"),
        ("tool_use", "toolu_2", "f"),
    ]
    assert document["thinking"]["type"] == "enabled"


# ---------------------------------------------------------------- Chat hosts

DETAIL = {"type": "reasoning.text", "text": "so ", "index": 0, "format": "f", "signature": None}
ENCRYPTED = {"type": "reasoning.encrypted", "data": "x1", "id": "rs_1", "index": 1}


def delta(**members: Any) -> dict[str, Any]:
    return chat.chunk(members)


@pytest.mark.parametrize(
    ("pieces", "details"),
    [
        ([[DETAIL], [{**DETAIL, "text": "on"}], [{"type": "reasoning.text", "index": 0, "signature": "s"}]],
         [{**DETAIL, "text": "so on", "signature": "s"}]),
        ([[DETAIL, ENCRYPTED]], [DETAIL, ENCRYPTED]),
        ([[ENCRYPTED], [{**ENCRYPTED, "data": "x2"}]], [{**ENCRYPTED, "data": "x1x2"}]),
        ([[ENCRYPTED], [{**ENCRYPTED, "id": "rs_2"}]], [ENCRYPTED, {**ENCRYPTED, "id": "rs_2"}]),
        ([[{"type": "reasoning.encrypted", "data": "a"}], [{"type": "reasoning.encrypted", "data": "b"}]],
         [{"type": "reasoning.encrypted", "data": "a"}, {"type": "reasoning.encrypted", "data": "b"}]),
        ([["odd"], [1]], ["odd", 1]),
    ],
)  # fmt: skip
def test_reasoning_details_are_joined_as_they_came(pieces: list[list[Any]], details: list[Any]) -> None:
    frames = [delta(reasoning="so", reasoning_details=piece) for piece in pieces]
    found = events("openai_chat", chat.stream(chat.ROLE, *frames, chat.opening(0, "c", "time", "{}"), chat.CALLS))
    ((kind, signature),) = state(found)
    assert kind == "reasoning"
    assert json.loads(signature) == {"reasoning_details": details}
    (start,) = [event for event in found if isinstance(event, ToolCallStart)]
    assert start.has_state


SIGNED = {"type": "thinking", "thinking": "so on", "signature": "s"}
REDACTED = {"type": "redacted_thinking", "data": "r"}


def thinking(text: str, signature: str | None = "") -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": signature}


@each_row("beside", [True, False], ids=["beside plain reasoning", "alone"])
@each_row(
    ("pieces", "blocks"),
    [
        ([[SIGNED]], [SIGNED]),
        ([[thinking("so ")], [thinking("on")], [thinking("", "s")]], [SIGNED]),
        ([[thinking("so ", None)], [thinking("on", "s")]], [SIGNED]),
        ([[thinking("so ")], [thinking("on")], [SIGNED]], [SIGNED]),  # LiteLLM repeats the text with the signature
        ([[SIGNED, REDACTED]], [SIGNED, REDACTED]),
        ([[thinking("so ")], [thinking("on")]], []),
        ([["odd"], [1], [thinking("so on")]], []),
    ],
)
def test_thinking_blocks_are_joined_as_they_came(pieces: list[list[Any]], blocks: list[Any], beside: bool) -> None:
    told: list[dict[str, Any]] = [{"thinking_blocks": piece} for piece in pieces]
    if beside:
        told = [{"reasoning_content": "so on", "thinking_blocks": pieces[0]}, *told[1:]]
    frames = [*(delta(**members) for members in told), chat.opening(0, "c", "time", "{}"), chat.CALLS]
    found = events("openai_chat", chat.stream(chat.ROLE, *frames))
    assert [json.loads(signature) for _, signature in state(found)] == ([{"thinking_blocks": blocks}] if blocks else [])
    assert "".join(event.text for event in found if isinstance(event, ReasoningDelta)) == "so on"


def test_opaque_reasoning_goes_back_with_the_text_that_it_signs() -> None:
    frames = [delta(reasoning_text="so on"), delta(reasoning_opaque="x"), chat.opening(0, "c", "time", "{}")]
    ((kind, signature),) = state(events("openai_chat", chat.stream(chat.ROLE, *frames, chat.CALLS)))
    assert (kind, json.loads(signature)) == ("reasoning", {"reasoning_opaque": "x"})
    parts = (ReasoningPart("so on", signature), ToolCallPart("c", "f", "{}"))
    message = built("openai_chat", *parts, profile="compatible")["messages"][1]
    assert (message["reasoning_text"], message["reasoning_opaque"]) == ("so on", "x")


@pytest.mark.parametrize("nothing", [None, [], "x", {"a": 1}])
def test_details_that_say_nothing(nothing: Any) -> None:
    frames = [delta(reasoning="so", reasoning_details=nothing), chat.opening(0, "c", "time", "{}")]
    assert state(events("openai_chat", chat.stream(chat.ROLE, *frames, chat.CALLS))) == []


def test_details_without_readable_reasoning_and_after_the_call() -> None:
    frames = [chat.opening(0, "c", "time", "{}"), delta(reasoning_details=[ENCRYPTED])]
    found = events("openai_chat", chat.stream(chat.ROLE, *frames, chat.CALLS))
    assert state(found) == [("reasoning", json.dumps({"reasoning_details": [ENCRYPTED]}, separators=(",", ":")))]
    (start,) = [event for event in found if isinstance(event, ToolCallStart)]
    assert not start.has_state, "it was announced before"


def test_state_on_a_call() -> None:
    google = {"google": {"thought_signature": "s"}}
    frames = [chat.opening(0, "c", "time", "{}", extra_content=google), chat.opening(1, "d", "time", "{}")]
    found = events("openai_chat", chat.stream(chat.ROLE, *frames, chat.CALLS))
    ((kind, signature),) = state(found)
    assert (kind, json.loads(signature)) == ("call", {"extra_content": google})
    assert [event.has_state for event in found if isinstance(event, ToolCallStart)] == [True, True]


def test_a_chat_host_gets_its_members_back_where_they_stood() -> None:
    parts = (
        ReasoningPart("so on", json.dumps({"reasoning_details": [DETAIL]})),
        ReasoningPart("", json.dumps({"reasoning_details": [ENCRYPTED]})),
        ToolCallPart("c", "f", "{}", signature='{"extra_content":{"google":{"thought_signature":"s"}}}'),
        ToolCallPart("d", "f", "{}"),
    )
    message = built("openai_chat", *parts, profile="openrouter")["messages"][1]
    assert message["reasoning"] == "so on"
    assert message["reasoning_details"] == [DETAIL, ENCRYPTED]
    assert [call.get("extra_content") for call in message["tool_calls"]] == [
        {"google": {"thought_signature": "s"}},
        None,
    ]


def test_what_the_client_brings_itself_is_not_said_twice() -> None:
    brought: Any = (("extra_content", b'{"mine":1}'),)
    call = ToolCallPart("c", "f", "{}", extra=brought, signature='{"extra_content":{"stored":1}}')
    message = built("openai_chat", call, profile="gemini-compat")["messages"][1]
    assert message["tool_calls"][0]["extra_content"] == {"mine": 1}


@each_row(
    "signature",
    [
        "", "x", "[", "[1]", "null", "\ud800", '{"role":"system"}', '{"tool_calls":[],"content":"x"}', "[" * 5_000,
        '{"reasoning_details":"x","extra_content":[1]}', '{"reasoning_details":{},"extra_content":1}',
        '{"thinking_blocks":"x","reasoning_opaque":{},"provider_specific_fields":[]}', '{"reasoning_opaque":1}',
    ],
)  # fmt: skip
def test_what_a_client_makes_up_as_state_gets_nothing_into_a_chat_request(signature: str) -> None:
    parts = (ReasoningPart("hm", signature), ReasoningPart("", signature), ToolCallPart("c", "f", "{}"))
    without = built("openai_chat", *(replace(part, signature=None) for part in parts), profile="openrouter")
    assert built("openai_chat", *parts, profile="openrouter") == without
    signed_call = replace(parts[2], signature=signature)
    assert built("openai_chat", signed_call) == built("openai_chat", parts[2])
