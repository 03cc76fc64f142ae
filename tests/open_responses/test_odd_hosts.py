"""A host of this API that leaves out what the standard requires: the door puts it in, and keeps what the host says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.doors.responses.responses_reader import events, read
from tests.named_rows import each_row
from tests.open_responses.judge import document_faults, stream_faults
from tests.providers.openai_responses.responses_upstream import (
    SAID,
    call,
    called,
    completed,
    created,
    message,
    said,
    whole,
)
from tests.providers.openai_responses.test_same_dialect import ask, numbered

TEXT, CALL = message("msg_a", "Hi"), call("fc_a", "call_a", "weather", "{}")

_GONE = object()

#: Objects that lose a member or have another value there, by their `object` or `type`; the member; the value.
ODD: dict[str, tuple[str, str, Any]] = {
    **{f"no {name}": ("response", name, _GONE) for name in (*SAID, "error", "incomplete_details")},
    **{
        f"null as {name}": ("response", name, None)
        for name in ("temperature", "top_p", "tools", "text", "service_tier")
    },
    "tools without strict": ("response", "tools", [{"type": "function", "name": "weather", "parameters": {}}]),
    "half of reasoning": ("response", "reasoning", {"effort": "low"}),
    "text without a format": ("response", "text", {"verbosity": "low"}),
    "a message without a status": ("message", "status", _GONE),
    "a call without a status": ("function_call", "status", _GONE),
    "a text without annotations": ("output_text", "annotations", _GONE),
    "null as logprobs": ("output_text", "logprobs", None),
    "null as logprobs of a delta": ("response.output_text.delta", "logprobs", None),
}


def changed(node: Any, kind: str, name: str, value: Any) -> Any:
    """The document with the member changed wherever it stands."""
    if isinstance(node, list):
        return [changed(one, kind, name, value) for one in node]
    if not isinstance(node, dict):
        return node
    own = {key: changed(one, kind, name, value) for key, one in node.items()}
    if kind in (node.get("object"), node.get("type")):
        own[name] = value
    return {key: one for key, one in own.items() if one is not _GONE}


def stream(odd: tuple[Any, ...]) -> bytes:
    upstream = [
        created(),
        *said(0, "msg_a", "H", "i"),
        *called(1, "fc_a", "call_a", "weather", "{", "}"),
        completed(TEXT, CALL),
    ]
    return numbered(*(changed(event, *odd) for event in upstream))


def kept(given: Any, shown: Any) -> Iterator[str]:
    """What the host said, and the client was not shown."""
    for name, value in given.items():
        if isinstance(value, dict):
            yield from kept(value, shown[name])
        elif value is not None and not isinstance(value, list) and shown[name] != value:
            yield name


@each_row("odd", ODD.values(), ids=ODD)
def test_a_stream_is_valid(odd: tuple[Any, ...]) -> None:
    upstream = stream(odd)
    shown = ask(upstream).body
    assert stream_faults(shown) == []
    assert read(shown).final is not None
    for before, after in zip(events(upstream), events(shown), strict=True):
        assert list(kept(before, after)) == []


@each_row("odd", ODD.values(), ids=ODD)
def test_a_document_is_valid(odd: tuple[Any, ...]) -> None:
    given = json.dumps(changed(json.loads(whole(TEXT, CALL)), *odd)).encode()
    shown = ask(given, streamed=False).body
    assert document_faults(shown) == []
    assert list(kept(json.loads(given), json.loads(shown))) == []


def test_what_is_put_in_stands_behind_what_the_host_says() -> None:
    given = json.loads(whole(TEXT, CALL, news=1.10))
    del given["store"], given["top_p"]
    body = json.dumps(given, indent=1).encode()
    assert ask(body, streamed=False).body.startswith(body.rstrip()[:-1].rstrip() + b",")
