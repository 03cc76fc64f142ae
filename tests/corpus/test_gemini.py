"""Every recording through the gemini door. The judge has no reader of it, so ours and google-genai's are compared with
the judge's reading; and recorded answers of Gemini's own API pass to a client of that API as they came."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
import pytest

from tests.corpus import driver
from tests.corpus.test_recordings import ROWS, SAMPLE, in_pieces, recording, the_judges_open_files
from tests.doors.gemini.genai_reader import sdk_answer, sdk_stream
from tests.gemini_client import Said, read
from tests.named_rows import each_row
from tests.reference import judge
from toolwire.framing.sse import SseDecoder
from toolwire.providers.profiles import PROFILES

#: Whole answers of Gemini's own API.
OWN = [
    path
    for path, row in ROWS.items()
    if row["api"] == "gemini-generate-content" and recording(path).expect == "same" and recording(path).status == 200
]


@each_row("path", SAMPLE)
def test_sample(path: str) -> None:
    check(path)


@pytest.mark.integration
@pytest.mark.parametrize("path", [path for path in ROWS if path not in SAMPLE])
def test_all(path: str) -> None:
    check(path)


def check(path: str) -> None:
    """Fails unless a client of Gemini's API hears what the recording says, however the network cuts it."""
    played = recording(path)
    whole = answer(path, [played.body])
    cut = answer(path, in_pieces(played.body, random.Random(path)))
    assert (cut.status, cut.body) == (whole.status, whole.body)
    if b'"willContinue"' in played.body:
        return  # arguments in pieces, which only a client of the host that sends them reads: they pass as they are
    said, want = read(whole.body), played.turn
    if played.expect == "http-error":
        assert said.error is not None
    if played.expect == "not-clean":
        assert said.error is not None or said.reason in ("length", "content_filter")
    if played.expect != "same":
        return
    broken = [call for call in want.calls if not judge().is_object(call)]
    if broken and want.finish != "length":
        assert said.error is not None
        assert said.error["details"][0]["metadata"]["code"] == "malformed_tool_arguments"
        return
    if said.error is not None:
        assert want.finish == "content_filter", said.error
        return
    # Of a call that the limit has cut this API shows nothing, also where it had no arguments yet.
    cut_off = [call for call in want.calls if want.finish == "length" and call.text == ""]
    calls = [call for call in want.calls if call not in broken and call not in cut_off]
    assert (said.text, said.finish is not None) == (want.text, True)
    if not broken and not cut_off:
        assert said.reason == want.finish
    assert [name for name, _ in said.calls] == [call.name for call in calls]
    for (_, text), its in zip(said.calls, calls, strict=True):
        if its.text is not None:
            assert bare(text) == bare(its.text.strip() or "{}")
        else:
            assert json.loads(text) == json.loads(json.dumps(its.value, default=float))
    _sdk_hears(whole, said, stream=played.stream)


def bare(text: str) -> str:
    """Arguments without the white space around their tokens."""
    return msgspec.json.format(text, indent=-1)


def _sdk_hears(whole: driver.Answer, said: Said, *, stream: bool) -> None:
    """google-genai hears the same."""
    heard = sdk_stream(whole.body) if stream else [sdk_answer(whole.status, whole.headers, whole.body)]
    calls = [call for chunk in heard for call in chunk.function_calls or ()]
    # Google leaves `args` out of a call without arguments.
    assert [(call.name, call.args or {}) for call in calls] == [(name, json.loads(text)) for name, text in said.calls]


@each_row("path", OWN)
def test_a_client_of_the_same_api_is_shown_all_of_it(path: str) -> None:
    played = recording(path)
    shown = answer(path, [played.body], wire="gemini").body
    given = list(payloads(played.body)) if played.stream else [played.body]
    said = list(payloads(shown)) if played.stream else [shown]
    assert [json.loads(one) for one in said] == [json.loads(one) for one in given]


def test_there_are_recordings_of_the_same_api() -> None:
    assert bool(OWN) == bool(ROWS)


def payloads(body: bytes) -> Iterable[bytes]:
    decoder = SseDecoder()
    return [bytes(frame.data) for frame in (*decoder.feed(body), *decoder.end()) if frame.data.strip()]


def answer(path: str, pieces: Iterable[bytes], wire: str | None = None) -> driver.Answer:
    """The door's answer when the provider's bytes arrive in these pieces."""
    played = recording(path)
    profile = played.provider if played.provider in PROFILES else "compatible"
    exchange = driver.open_exchange(
        request(path), door="gemini", wire=wire or judge().WIRES[played.api][0], profile=profile
    )
    return driver.answer(exchange, pieces, status=played.status, content_type=played.content_type)


@cache
def request(path: str) -> bytes:
    """A request in the recording's mode, with its tools."""
    played = recording(path)
    with the_judges_open_files():
        tools = list(played.tools())
    declared: list[dict[str, Any]] = [
        {"name": name, "description": description or "Does it.", "parametersJsonSchema": schema or {"type": "object"}}
        for name, description, schema in tools
    ]
    body: dict[str, Any] = {"model": "m", "stream": played.stream, "contents": [{"parts": [{"text": "x"}]}]}
    body |= {"tools": [{"functionDeclarations": declared}]} if declared else {}
    return json.dumps(body, default=float).encode()
