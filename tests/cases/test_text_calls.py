"""Tool calls in the text of compatible hosts, as bug reports describe them, through every door, streamed and not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pytest

from tests import gemini_client
from tests.corpus import driver
from tests.corpus.test_recordings import recording, the_judges_open_files
from tests.door_requests import function, question
from tests.named_rows import each_row
from tests.reference import served_rows
from tests.stream.text_calls.text_call_answers import RECORDINGS
from toolwire.conversation.tool_call_ids import token_of
from toolwire.doors import DOORS
from toolwire.framing.sse import SseDecoder

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
FUNCTIONS = [function(name, SCHEMA) for name in ("get_weather", "write_file")]
#: The request of each door's client.
REQUESTS = {door: question(door, "x", *FUNCTIONS) for door in DOORS}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "A"}}\n</tool_call>'
STRUCTURED = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"A"}'}}

on_every_door = each_row("door", DOORS)
streamed_or_not = each_row("stream", [True, False], ids=["stream", "json"])


class Heard(NamedTuple):
    """What a client of any door has heard. Arguments as values: some doors show them as objects."""

    text: str
    calls: list[tuple[str, Any]]
    ids: list[str]
    finish: str


# ---------------------------------------------------------------- the upstream


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "r-1", "object": "chat.completion.chunk", "created": 5, "model": "up"}
    return b"data: %b\n\n" % json.dumps({**head, "choices": [choice]}).encode()


def upstream(stream: bool, texts: Iterable[str], calls: list[dict[str, Any]], finish: str) -> list[bytes]:
    """The host's answer: these texts, then these calls."""
    if not stream:
        message = {"role": "assistant", "content": "".join(texts), **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        head = {"id": "r-1", "object": "chat.completion", "created": 5, "model": "up"}
        return [json.dumps({**head, "choices": [choice]}).encode()]
    chunks = [chunk({"role": "assistant", "content": None}), *(chunk({"content": text}) for text in texts)]
    chunks += [chunk({"tool_calls": [{"index": number, **call}]}) for number, call in enumerate(calls)]
    return [*chunks, chunk({}, finish), b"data: [DONE]\n\n"]


def hear(
    door: str,
    stream: bool,
    texts: Iterable[str],
    calls: Iterable[dict[str, Any]] = (),
    finish: str = "stop",
    profile: str = "compatible",
    **more: Any,
) -> Heard:
    request = {"model": "m", "stream": stream, **REQUESTS[door], **more}
    opened = driver.open_exchange(json.dumps(request).encode(), door=door, profile=profile)
    kind = "text/event-stream" if stream else "application/json"
    answer = driver.answer(opened, upstream(stream, texts, list(calls), finish), content_type=kind)
    assert answer.status == 200, answer.body
    return (STREAMS if stream else DOCUMENTS)[door](answer.body)


# ---------------------------------------------------------------- the clients


def frames(body: bytes) -> Iterator[dict[str, Any]]:
    decoder = SseDecoder()
    for frame in [*decoder.feed(body), *decoder.end()]:
        if bytes(frame.data) != b"[DONE]":
            yield json.loads(bytes(frame.data))


def chat_stream(body: bytes) -> Heard:
    choices = [choice for frame in frames(body) for choice in frame["choices"]]
    message: dict[str, Any] = {"content": "".join(choice["delta"].get("content") or "" for choice in choices)}
    calls: list[dict[str, Any]] = []
    for part in (part for choice in choices for part in choice["delta"].get("tool_calls", ())):
        if part["index"] == len(calls):
            calls.append({"id": part["id"], "function": {"name": part["function"]["name"], "arguments": ""}})
        calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
    return _chat(message | {"tool_calls": calls}, choices[-1]["finish_reason"])


def chat_document(body: bytes) -> Heard:
    choice = json.loads(body)["choices"][0]
    return _chat(choice["message"], choice["finish_reason"])


def _chat(message: dict[str, Any], finish: str) -> Heard:
    calls = message.get("tool_calls") or []
    found = [(call["function"]["name"], _value(call["function"]["arguments"])) for call in calls]
    return Heard(message["content"] or "", found, [call["id"] for call in calls], finish)


def native_stream(body: bytes) -> Heard:
    events = list(frames(body))
    text = "".join(event["text"] for event in events if event["type"] == "text.delta")
    calls = [event for event in events if event["type"] == "tool_call.end"]
    found = [(call["name"], call["arguments"]) for call in calls]
    return Heard(text, found, [call["id"] for call in calls], events[-1]["finish_reason"])


def messages_stream(body: bytes) -> Heard:
    blocks: list[dict[str, Any]] = []
    finish = ""
    for event in frames(body):
        match event["type"]:
            case "content_block_start":
                blocks.append(event["content_block"] | {"json": ""})
            case "content_block_delta":
                delta = event["delta"]
                blocks[event["index"]]["text"] = blocks[event["index"]].get("text", "") + delta.get("text", "")
                blocks[event["index"]]["json"] += delta.get("partial_json", "")
            case "message_delta":
                finish = event["delta"]["stop_reason"]
    content = [block | {"input": _value(block["json"])} if block["type"] == "tool_use" else block for block in blocks]
    return _message(content, finish)


def messages_document(body: bytes) -> Heard:
    answer = json.loads(body)
    return _message(answer["content"], answer["stop_reason"])


def _message(content: list[dict[str, Any]], finish: str) -> Heard:
    assert all(block["text"] for block in content if block["type"] == "text")
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = [block for block in content if block["type"] == "tool_use"]
    words = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
    return Heard(text, [(call["name"], call["input"]) for call in calls], [call["id"] for call in calls], words[finish])


def responses_stream(body: bytes) -> Heard:
    events = list(frames(body))
    heard = responses_document(json.dumps(events[-1]["response"]).encode())
    assert heard.text == "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    return heard


def responses_document(body: bytes) -> Heard:
    answer = json.loads(body)
    texts = [part["text"] for item in answer["output"] if item["type"] == "message" for part in item["content"]]
    calls = [item for item in answer["output"] if item["type"] == "function_call"]
    found = [(call["name"], _value(call["arguments"])) for call in calls]
    finish = "length" if answer["status"] == "incomplete" else "tool_calls" if calls else "stop"
    return Heard("".join(texts), found, [call["call_id"] for call in calls], finish)


def _value(arguments: object) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def gemini(body: bytes) -> Heard:
    said = gemini_client.read(body)
    calls = [(name, _value(arguments)) for name, arguments in said.calls]
    return Heard(said.text, calls, said.ids, said.reason)


STREAMS = {
    "gemini": gemini,
    "chat_completions": chat_stream,
    "native": native_stream,
    "messages": messages_stream,
    "responses": responses_stream,
}
DOCUMENTS = {
    "gemini": gemini,
    "chat_completions": chat_document,
    "native": chat_document,
    "messages": messages_document,
    "responses": responses_document,
}


# ---------------------------------------------------------------- what they hear


@on_every_door
@streamed_or_not
@each_row("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_format(door: str, stream: bool, path: Any) -> None:
    recording = json.loads(path.read_text())
    heard = hear(door, stream, recording["pieces"])
    assert heard.text == recording["text"]
    assert heard.calls == [(name, json.loads(arguments)) for name, arguments in recording["calls"]]
    assert heard.finish == "tool_calls"
    assert len(set(heard.ids)) == len(heard.calls)
    assert None not in map(token_of, heard.ids)  # ours, every one


@on_every_door
@streamed_or_not
def test_text_before_between_and_after(door: str, stream: bool) -> None:
    heard = hear(door, stream, ["Sure. <to", CALL[3:] + "\nAnd ", CALL + " done"])
    assert heard[:2] == ("Sure. And done", [("get_weather", {"city": "A"})] * 2)


@on_every_door
@streamed_or_not
def test_structure_wins_over_the_same_call_as_markup(door: str, stream: bool) -> None:
    heard = hear(door, stream, [CALL], [STRUCTURED], "tool_calls")
    assert heard[:2] == ("", [("get_weather", {"city": "A"})])
    assert heard.finish == "tool_calls"


@on_every_door
@streamed_or_not
def test_an_emptied_tag_beside_the_call_that_was_in_it(door: str, stream: bool) -> None:
    heard = hear(door, stream, ["<tool_call>\n", "</tool_call>"], [STRUCTURED], "tool_calls")
    assert heard[:2] == ("", [("get_weather", {"city": "A"})])


@on_every_door
@streamed_or_not
@each_row(
    "text",
    [
        CALL.replace("get_weather", "rm"),
        CALL[:-4],
        f"```\n{CALL}\n```",
        f"Write `{CALL}`.",
    ],
    ids=["unknown", "unterminated", "fenced", "quoted"],
)
def test_what_is_no_call_stays_text(door: str, stream: bool, text: str) -> None:
    heard = hear(door, stream, [text[at : at + 3] for at in range(0, len(text), 3)])
    assert heard == Heard(text, [], [], "stop")


@on_every_door
@streamed_or_not
def test_the_output_limit(door: str, stream: bool) -> None:
    assert hear(door, stream, ["A ", CALL[:-3]], finish="length") == Heard("A " + CALL[:-3], [], [], "length")
    whole = hear(door, stream, ["A ", CALL], finish="length")
    assert (whole.calls, whole.finish) == ([("get_weather", {"city": "A"})], "length")


@streamed_or_not
@pytest.mark.parametrize("profile", ["openai", "azure", "gemini-compat"])
def test_the_text_of_vendors_is_text(stream: bool, profile: str) -> None:
    assert hear("chat_completions", stream, [CALL], profile=profile) == Heard(CALL, [], [], "stop")


@streamed_or_not
def test_without_tools_and_with_none_the_text_is_text(stream: bool) -> None:
    assert hear("chat_completions", stream, [CALL], tools=[]) == Heard(CALL, [], [], "stop")
    assert hear("chat_completions", stream, [CALL], tool_choice="none") == Heard(CALL, [], [], "stop")


# ---------------------------------------------------------------- servers' own recordings


def text_recordings() -> list[str]:
    """The recordings of servers that left markup in their answers."""
    return [row["path"] for row in served_rows() if "text-format-tool-call" in row["features"]]


@on_every_door
@streamed_or_not
@each_row("path", text_recordings())
def test_recordings(door: str, stream: bool, path: str) -> None:
    """Markup that is the whole call becomes it, in what is left of a call that was read it vanishes, and what was
    thought is not looked at. The recordings are JSON answers; streamed, the same message is said in small pieces."""
    rec = recording(path)
    message = json.loads(rec.body)["choices"][0]["message"]
    text, calls = message["content"], message.get("tool_calls") or []
    with the_judges_open_files():
        names = [name for name, *_ in rec.tools()]
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)] if stream else [text]
    structured = [{"id": call["id"], "type": "function", "function": call["function"]} for call in calls]
    heard = hear(door, stream, pieces, structured, "tool_calls" if calls else "stop", **tools_of(door, names))
    expected = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]
    assert heard.text == ""
    assert heard.calls == (expected or [("subtract", {"x": 2, "y": 5})])
    assert heard.finish == "tool_calls"


def tools_of(door: str, names: list[str]) -> dict[str, Any]:
    """The request's tools under these names."""
    given = REQUESTS[door]["tools"][0]
    if "functionDeclarations" in given:
        (declared,) = given["functionDeclarations"]
        return {"tools": [{"functionDeclarations": [{**declared, "name": name} for name in names]}]}
    if "function" in given:
        return {"tools": [{**given, "function": {**given["function"], "name": name}} for name in names]}
    return {"tools": [{**given, "name": name} for name in names]}
