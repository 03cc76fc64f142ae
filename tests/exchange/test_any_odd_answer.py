"""Any answer, a value of which is another one: the client gets an answer or an error, never a crash."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import answer, open_exchange
from tests.matrix.hosts import HOSTS, Host
from tests.matrix.scenarios import SCENARIOS
from tests.providers import every_door

#: What may stand anywhere: other types, nothing, half a character, what looks like another part.
VALUES: list[Any] = [
    None, True, 0, -1, 1.5, "", "x", "\ud83d", "{}", [], {}, [None], [[]], {"type": "x"}, {"type": None}, {"id": {}},
    {"text": None}, {"type": "function_call"}, [{"type": "text", "text": "\ud83d"}],
]  # fmt: skip
ASKED = {"model": "m", "stream": True}
JSON_HOSTS = [host for host in HOSTS if not host.wire.startswith("bedrock")]
Path = tuple[str | int, ...]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The places in a JSON value, but the value itself."""
    if path:
        yield path
    for name, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths(inner, (*path, name))


@st.composite
def changed(draw: st.DrawFn, document: bytes) -> bytes:
    """The JSON with another value in one place or a few, or a member more."""
    value = json.loads(document)
    if not isinstance(value, dict):
        return document
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        places = list(paths(value))
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        inside = value
        for name in way:
            inside = inside[name]
        other = copy.deepcopy(draw(st.sampled_from(VALUES)))
        if isinstance(inside, dict) and draw(st.booleans()):
            inside[draw(st.sampled_from(["type", "id", "index", "name", "content", "extra"]))] = other
        elif draw(st.booleans()):
            inside[last] = other
        else:
            del inside[last]
    return json.dumps(value).encode()


@st.composite
def odd(draw: st.DrawFn, host: Host, *, stream: bool) -> bytes:
    """A host's answer, or stream, with something in it that its API does not have."""
    said = [scenario for scenario in SCENARIOS if scenario.failure is None and host.can_say(scenario, stream)]
    body = host.write(draw(st.sampled_from(said)), stream).body
    if not stream:
        return draw(changed(body))
    lines = body.split(b"\n")
    data = [number for number, line in enumerate(lines) if line.startswith(b"data: {")]
    at = draw(st.sampled_from(data))
    what = draw(st.sampled_from(["change", "change", "change", "leave out", "repeat"]))
    if what == "change":
        lines[at] = b"data: " + draw(changed(lines[at][6:]))
    elif what == "leave out":
        del lines[at]
    else:
        lines.insert(at, lines[draw(st.sampled_from(data))])
    return b"\n".join(lines)


@pytest.mark.parametrize("host", JSON_HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
@given(data=st.data())
def test_an_answer_or_an_error(host: Host, stream: bool, data: st.DataObject) -> None:
    door = data.draw(st.sampled_from(list(every_door.REQUESTS)))
    upstream = data.draw(odd(host, stream=stream))
    body = json.dumps({**ASKED, "stream": stream, **every_door.REQUESTS[door]}).encode()
    exchange = open_exchange(body, door=door, wire=host.wire, profile=host.profile, model=host.model)
    media_type = every_door.STREAMS.get(host.wire, "text/event-stream") if stream else "application/json"

    shown = answer(exchange, [upstream[at : at + 700] for at in range(0, len(upstream), 700)], content_type=media_type)

    assert exchange.answer.over
    if not stream or shown.status != 200:
        json.loads(shown.body)


def test_an_event_with_half_a_character_stays_as_it_came() -> None:
    ping = b'data: {"type": "ping", "name": "\\ud83d"}'
    host = next(host for host in HOSTS if host.name == "anthropic")
    lines = host.write(SCENARIOS[0], True).body.split(b"\n\n")
    upstream = b"\n\n".join([lines[0], b"event: ping\n" + ping, *lines[1:]])
    body = json.dumps({**ASKED, **every_door.REQUESTS["messages"]}).encode()
    exchange = open_exchange(body, door="messages", wire=host.wire, model=host.model)
    assert ping.removeprefix(b"data: ") in answer(exchange, [upstream], content_type="text/event-stream").body


def test_reasoning_details_whose_ids_are_no_texts_are_read() -> None:
    details = [{"type": "reasoning.text", "text": text, "id": {"odd": [text]}, "index": 0} for text in ("a", "b")]
    chunks = [{"choices": [{"index": 0, "delta": {"reasoning_details": [detail]}}]} for detail in details]
    end = {"choices": [{"index": 0, "delta": {"content": "c"}, "finish_reason": "stop"}]}
    upstream = b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in [*chunks, end]) + b"data: [DONE]\n\n"
    body = json.dumps({**ASKED, **every_door.REQUESTS["messages"]}).encode()
    shown = answer(open_exchange(body, door="messages"), [upstream], content_type="text/event-stream").body
    assert [json.loads(text) for text in re.findall(rb'"thinking_delta","thinking":("[^"]*")', shown)] == ["a", "b"]
