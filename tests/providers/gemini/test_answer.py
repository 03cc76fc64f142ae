"""Gemini's answers as a Chat client has them: streams judged by a strict reader and by openai-python, and the JSON
answer, which must say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types

from tests import gemini_client
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.gemini.gemini_upstream import STOP, USAGE, ask, call, chunk, piece, said, stream, text, thought
from tests.providers.openai_chat.chat_reader import read
from toolwire.framing.sse import SseDecoder
from toolwire.model.events import OpaquePart, ReasoningEnd, TextDelta, ToolCallEnd
from toolwire.providers.decoder_context import DecoderContext
from toolwire.providers.gemini.answer import _FAILURES
from toolwire.providers.gemini.request import PROVIDER
from toolwire.wire.gemini import FINISH_REASONS

PARIS, ROME = {"city": "Paris"}, {"city": "Rome"}
WEATHER, WEATHER2 = ("weather", '{"city":"Paris"}'), ("weather", '{"city":"Rome"}')

#: name -> (chunks, content, calls, finish)
STREAMS: dict[str, tuple[list[Any], str, list[tuple[str, str]], str]] = {
    "text": ([chunk(text("Hel")), chunk(text("lo")), STOP], "Hello", [], "stop"),
    "text and finish in one chunk": ([chunk(text("Hello"), finish="STOP", usage=USAGE)], "Hello", [], "stop"),
    "several parts in a chunk": (
        [chunk(text("a"), text("b"), call("weather", PARIS), call("time", {}), finish="STOP", usage=USAGE)],
        "ab", [WEATHER, ("time", "{}")], "tool_calls",
    ),
    "one call in a chunk": (
        [chunk(call("weather", PARIS)), chunk(call("weather", ROME)), chunk(call("time", {})), STOP],
        "", [WEATHER, WEATHER2, ("time", "{}")], "tool_calls",
    ),
    "calls with ids of its own": (
        [chunk(call("weather", PARIS, id="g-1"), call("weather", ROME, id="g-1")), STOP],
        "", [WEATHER, WEATHER2], "tool_calls",
    ),
    "arguments absent or null": (
        [chunk(call("time")), chunk({"functionCall": {"name": "time", "args": None}}), STOP],
        "", [("time", "{}"), ("time", "{}")], "tool_calls",
    ),
    "signatures wherever they are": (
        [chunk(thought("t", thoughtSignature="c2ln")), chunk(text("a", thoughtSignature="c2ln")),
         chunk(call("weather", PARIS, thoughtSignature_="c2ln")),
         chunk({"thoughtSignature": "c2ln"}), chunk(text("", thoughtSignature="c2ln"), finish="STOP", usage=USAGE)],
        "a", [WEATHER], "tool_calls",
    ),
    "text around a call": (
        [chunk(text("a")), chunk(call("weather", PARIS)), chunk(text("b")), STOP], "ab", [WEATHER], "tool_calls",
    ),
    "finish in a chunk without content": (
        [chunk(text("a")), {"candidates": [{"finishReason": "STOP"}], "usageMetadata": USAGE}], "a", [], "stop",
    ),
    "finish in every chunk": (
        [chunk(text("a"), finish="STOP"), chunk(call("weather", PARIS), finish="STOP"), STOP],
        "a", [WEATHER], "tool_calls",
    ),
    "a limit after a stop": (
        [chunk(text("a"), finish="STOP"), chunk(text("b"), finish="MAX_TOKENS", usage=USAGE)], "ab", [], "length",
    ),
    "cut by the limit": ([chunk(text("a")), chunk(finish="MAX_TOKENS", usage=USAGE)], "a", [], "length"),
    "cut by the limit after a call": (
        [chunk(call("weather", PARIS)), chunk(finish="MAX_TOKENS", usage=USAGE)], "", [WEATHER], "length",
    ),
    "all in one, and more behind it": (
        [chunk(text("a"), call("weather", PARIS), finish="STOP"), chunk(text("b")), chunk(finish="STOP")],
        "ab", [WEATHER], "tool_calls",
    ),
    "arguments as a text": ([chunk(call("weather", json.dumps(PARIS)), finish="STOP")], "", [WEATHER], "tool_calls"),
    "filtered": ([chunk(text("a")), chunk(finish="RECITATION", usage=USAGE)], "a", [], "content_filter"),
    "filtered after a call": (
        [chunk(call("weather", PARIS)), chunk(finish="SAFETY", usage=USAGE)], "", [WEATHER], "content_filter",
    ),
    "prompt blocked": (
        [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": USAGE}], "", [], "content_filter",
    ),
    "a word nobody knows": ([chunk(text("a")), chunk(finish="SOMETHING_NEW", usage=USAGE)], "a", [], "stop"),
    "words as numbers": ([chunk(text("a")), chunk(finish=2, usage=USAGE)], "a", [], "length"),
    "content absent, parts absent, parts empty": (
        [{"candidates": [{"index": 0}]}, {"candidates": [{"content": {"role": "model"}}]}, chunk(), STOP],
        "", [], "stop",
    ),
    "another candidate": (
        [chunk(text("a")), {"candidates": [{"index": 1, "content": {"parts": [text("x")]}}]}, STOP], "a", [], "stop",
    ),
    "what only Google's clients know": (
        [chunk(text("a"), {"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}, text("b")),
         chunk({"inlineData": {"mimeType": "image/png", "data": "aGk="}}, {"toolCall": {}}), STOP], "ab", [], "stop",
    ),
    "an unexpected [DONE] and keep-alives": (
        [b"", b": ping", b"ping", b'"KEEPALIVE"', chunk(text("a")), STOP, b"[DONE]"], "a", [], "stop",
    ),
}  # fmt: skip

PARTIAL: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "a string in pieces, closed by an empty call": (
        [chunk(call("weather", willContinue=True, thoughtSignature_="c2ln")),
         chunk(call(partialArgs=[piece("$.city", stringValue="Pa", willContinue=True)], willContinue=True)),
         chunk(call(partialArgs=[piece("$.city", stringValue="ris")], willContinue=True)),
         chunk(call()), STOP],
        [WEATHER],
    ),
    "all kinds of values, nested": (
        [chunk(call("f", willContinue=True)),
         chunk(call(partialArgs=[
             piece("$.a.b[0].c", numberValue=1), piece("$.a.b[1].c", boolValue=False), piece("$.a['x y']", nullValue=0),
             piece('$["q\\"r"]', stringValue="s")], willContinue=True)),
         chunk(call(partialArgs=[piece("$.n[0]", stringValue="u"), piece("$.n[1]", stringValue="v")])), STOP],
        [("f", '{"a":{"b":[{"c":1},{"c":false}],"x y":null},"q\\"r":"s","n":["u","v"]}')],
    ),
    "the end is missing": (
        [chunk(call("weather", willContinue=True)),
         chunk(call(partialArgs=[piece("$.city", stringValue="Paris")], willContinue=True)), STOP],
        [WEATHER],
    ),
    "the next call begins": (
        [chunk(call("weather", willContinue=True)),
         chunk(call(partialArgs=[piece("$.city", stringValue="Paris")], willContinue=True)),
         chunk(call("weather", partialArgs=[piece("$.city", stringValue="Rome")])), chunk(call("time")), STOP],
        [WEATHER, WEATHER2, ("time", "{}")],
    ),
}  # fmt: skip


@each_row(("chunks", "content", "calls", "finish"), STREAMS.values(), ids=STREAMS)
def test_streams(chunks: list[Any], content: str, calls: list[tuple[str, str]], finish: str) -> None:
    upstream = stream(*chunks)
    heard = said(upstream)
    assert (heard.content, heard.asked, heard.finish, heard.error) == (content, calls, finish, None)

    assert ask(bytes([byte]) for byte in upstream).body == ask(upstream).body


#: What a client of the same API reads by itself, as Google says it.
OWN_WORDS = {"a word nobody knows", "words as numbers", "another candidate"}


@each_row("name", sorted(STREAMS.keys() - OWN_WORDS))
def test_streams_for_a_client_of_the_same_api(name: str) -> None:
    chunks, content, calls, finish = STREAMS[name]
    upstream = stream(*chunks)
    shown = every_door.asked("gemini", upstream, streamed=True, wire="gemini", profile=None, step=len(upstream))
    heard = gemini_client.read(shown.body)
    made = [(name, json.loads(arguments) or {}) for name, arguments in heard.calls]
    assert (heard.text, made) == (content, [(name, json.loads(arguments)) for name, arguments in calls])
    assert (heard.reason, heard.error) == (finish, None)


@pytest.mark.parametrize("last", [{"error": {"code": 503, "message": "boom", "status": "UNAVAILABLE"}}, b"{"])
def test_what_came_with_a_finish_is_shown_before_an_error(last: Any) -> None:
    for first in (chunk(text("a"), finish="STOP"), chunk(text("a"))):
        upstream = stream(first, last)
        shown = every_door.asked("gemini", upstream, streamed=True, wire="gemini", profile=None, step=len(upstream))
        heard = gemini_client.read(shown.body)
        assert (heard.text, heard.finish, heard.error is None) == ("a", None, False)


@each_row(("chunks", "content", "calls", "finish"), STREAMS.values(), ids=STREAMS)
def test_an_answer_in_one_piece_says_the_same(
    chunks: list[Any], content: str, calls: list[tuple[str, str]], finish: str
) -> None:
    array = json.dumps([item for item in chunks if isinstance(item, dict)]).encode()
    for streamed in (True, False):
        answer = ask(array, streamed=streamed, usage=streamed, content_type="application/json; charset=UTF-8")
        assert answer.status == 200
        if streamed:
            heard = read(answer.body, usage=True)
            assert (heard.content, heard.asked, heard.finish) == (content, calls, finish)
            continue
        (choice,) = json.loads(answer.body)["choices"]
        made = [(c["function"]["name"], c["function"]["arguments"]) for c in choice["message"].get("tool_calls", [])]
        assert (choice["message"]["content"] or "", made, choice["finish_reason"]) == (content, calls, finish)


@pytest.mark.parametrize(("chunks", "calls"), PARTIAL.values(), ids=PARTIAL)
def test_arguments_that_come_as_values(chunks: list[Any], calls: list[tuple[str, str]]) -> None:
    heard = said(stream(*chunks))
    assert (heard.asked, heard.finish, heard.content) == (calls, "tool_calls", "")


def test_a_call_cut_by_the_limit_stays_cut() -> None:
    pieces = [piece("$.a[0].b", numberValue=1), piece("$.a[0].c", stringValue="te", willContinue=True)]
    heard = said(
        stream(
            chunk(call("f", willContinue=True)),
            chunk(call(partialArgs=pieces, willContinue=True)),
            chunk(finish="MAX_TOKENS", usage=USAGE),
        )
    )
    assert (heard.asked, heard.finish) == ([("f", '{"a":[{"b":1,"c":"te')], "length")


LOST_PATHS = ["", "$", "city", "$.", "$..a", "$[x]", "$.a[", "$.a'b'"]


@each_row("path", LOST_PATHS)
def test_a_path_that_leads_nowhere_breaks_the_answer(path: str) -> None:
    pieces = [piece(path, stringValue="secret")]
    heard = said(stream(chunk(text("a")), chunk(call("f", partialArgs=pieces)), STOP))
    assert heard.error is not None
    assert heard.error["code"] == "upstream_protocol_error"
    assert "secret" not in str(heard.error)


def test_numbers_keep_their_text() -> None:
    args = b'{ "big" : 12345678901234567890123, "price":1.10,"e":1E+2,  "s": " \\u00e9 \\/ " }'
    document = json.dumps(chunk(call("f", {}), finish="STOP")).encode().replace(b'"args": {}', b'"args": ' + args)
    exact = '{"big":12345678901234567890123,"price":1.10,"e":1E+2,"s":" \\u00e9 \\/ "}'

    assert said(stream(document, chunk(usage=USAGE))).asked == [("f", exact)]
    (choice,) = json.loads(ask(document.replace(b"  ", b"\n"), streamed=False).body)["choices"]
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == exact
    streamed = stream(chunk(call("f", partialArgs=[piece("$.n", numberValue=0)])), STOP).replace(
        b'"numberValue": 0', b'"numberValue": 1.10'
    )
    assert said(streamed).asked == [("f", '{"n":1.10}')]


def test_ids_are_the_gateways_and_unique() -> None:
    upstream = stream(chunk(call("weather", PARIS, id="x"), call("weather", ROME)), chunk(call("time", id="x")), STOP)
    ids = [id for id, _, _ in said(upstream).calls]
    assert len(set(ids)) == 3
    assert all(id.startswith("call_") and len(id) == 37 for id in ids)


def test_thoughts_are_reasoning() -> None:
    chunks = [chunk(thought("a")), chunk(thought("b")), chunk(text("c")), chunk(thought("d")), STOP]
    heard = said(stream(*chunks))
    assert (heard.reasoning, heard.content) == ("abd", "c")


def test_parts_are_shown_as_they_come() -> None:
    batches = _decoded(chunk(text("a")), chunk(text("b")), chunk(call("time")), STOP)
    said = [[event for event in batch.events if type(event) in (TextDelta, ToolCallEnd)] for batch in batches]
    assert said[:3] == [[TextDelta(0, "a")], [TextDelta(0, "b")], [ToolCallEnd(1)]]


def test_a_signature_ends_the_thought_it_is_of() -> None:
    batches = _decoded(chunk(thought("a")), chunk(thought("b", thoughtSignature="c2ln")), chunk(thought("c")), STOP)
    ends = [event for batch in batches for event in batch.events if type(event) is ReasoningEnd]
    assert ends == [ReasoningEnd(0, "c2ln"), ReasoningEnd(1)]


def test_parts_of_googles_own_are_kept_whole() -> None:
    part = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"}
    (opaque,) = [e for batch in _decoded(chunk(part), STOP) for e in batch.events if type(e) is OpaquePart]
    assert (opaque.kind, opaque.dialect, json.loads(opaque.raw)) == ("executableCode", "gemini", part)


def test_frames_that_need_no_repair_keep_their_source() -> None:
    chunks = [chunk(text("a")), chunk(call("time", {})), chunk(finish="STOP"), chunk(text("b")), chunk(finish="STOP")]
    kept = [batch.source is not None for batch in _decoded(*chunks)[:-1]]
    assert kept == [True, True, True, False, False]


def test_nothing_of_googles_own_shows_at_another_door() -> None:
    chunks = [chunk(text("a"), later=1), chunk(finish="STOP", usage=USAGE, later=1)]
    body = ask(stream(*chunks), usage=True).body
    assert not any(word in body for word in (b"candidates", b"usageMetadata", b"later", b"responseId"))


def _decoded(*chunks: Any) -> list[Any]:
    decoder = PROVIDER.decoder(DecoderContext())
    return [*(decoder.decode(frame) for frame in SseDecoder().feed(stream(*chunks))), decoder.end()]


def test_every_finish_reason_of_the_api_is_known() -> None:
    words = {word.value for word in types.FinishReason}
    stops = {"FINISH_REASON_UNSPECIFIED", "STOP", "OTHER", "NO_IMAGE"}
    assert words - stops - _FAILURES.keys() <= FINISH_REASONS.keys()


# ---------------------------------------------------------------- usage

COUNTS: list[tuple[list[Any], tuple[int, int, int, int]]] = [
    ([USAGE], (10, 5, 0, 0)),
    ([{"trafficType": "ON_DEMAND"}, {"promptTokenCount": 120, "candidatesTokenCount": 30, "thoughtsTokenCount": 50}],
     (120, 80, 0, 50)),
    ([{"promptTokenCount": 7, "toolUsePromptTokenCount": 3, "cachedContentTokenCount": 4}], (10, 0, 4, 0)),
    ([{"promptTokenCount": 7, "candidatesTokenCount": 1}, {"promptTokenCount": 7, "candidatesTokenCount": 9}],
     (7, 9, 0, 0)),
    ([{"promptTokenCount": 7, "thoughtsTokenCount": 2}, {"candidatesTokenCount": 9}], (7, 11, 0, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("counts", "expected"), COUNTS)
def test_usage_is_cumulative(counts: list[Any], expected: tuple[int, int, int, int]) -> None:
    chunks = [chunk(text("a"), usage=usage) for usage in counts]
    usage = said(stream(*chunks, chunk(finish="STOP"))).usage
    assert usage is not None
    cached, reasoning = usage["prompt_tokens_details"], usage["completion_tokens_details"]
    assert (
        usage["prompt_tokens"],
        usage["completion_tokens"],
        cached["cached_tokens"],
        reasoning["reasoning_tokens"],
    ) == expected
    assert usage["total_tokens"] == expected[0] + expected[1]
