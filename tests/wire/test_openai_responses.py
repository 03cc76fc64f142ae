"""Shapes of the Responses wire: names, formats, and what the slow path still reads."""

from __future__ import annotations

import json

import pytest

from toolwire.wire import openai_responses as wire
from toolwire.wire import openai_responses_lenient as lenient


@pytest.mark.parametrize(
    ("namespace", "name", "flat"),
    [
        (None, "find", "find"),
        ("", "find", "find"),
        ("docs", "find", "docs__find"),
        ("mcp__docs__", "find", "mcp__docs__find"),
    ],
)
def test_flat_name(namespace: str | None, name: str, flat: str) -> None:
    assert wire.flat_name(namespace, name) == flat


@pytest.mark.parametrize(
    ("flat", "nested"),
    [
        ({"type": "text"}, {"type": "text"}),
        (
            {"type": "grammar", "syntax": "lark", "definition": "x"},
            {"type": "grammar", "grammar": {"syntax": "lark", "definition": "x"}},
        ),
    ],
)
def test_formats_of_both_apis(flat: dict[str, object], nested: dict[str, object]) -> None:
    assert json.loads(wire.nested_format(json.dumps(flat).encode())) == nested
    assert json.loads(wire.flat_format(json.dumps(nested).encode())) == flat
    assert json.loads(wire.flat_format(json.dumps(flat).encode())) == flat
    assert json.loads(wire.nested_format(json.dumps(nested).encode())) == nested


def test_events_of_any_types() -> None:
    raw = b'{"type":"t","output_index":"2","content_index":1.0,"delta":{"n": 1.10},"item":[1],"part":"x","text":null}'
    event = lenient.read_event(raw)
    assert (event.output_index, event.content_index, event.delta, event.text) == (2, 1, '{"n": 1.10}', None)
    assert (bytes(event.item), event.part) == (b"[1]", wire.OutputPart("output_text", "x"))


def test_items_of_any_types() -> None:
    item = lenient.read_item(
        b'{"type":"function_call","id":7,"arguments":{"n": 1.10},"content":"x","summary":[{},"y"]}'
    )
    assert (item.id, item.arguments, item.content) == ("7", '{"n": 1.10}', [wire.OutputPart("output_text", "x")])
    assert item.summary == [wire.OutputPart(), wire.OutputPart("output_text", "y")]


def test_responses_of_any_types() -> None:
    raw = b'{"id":1,"created_at":"5","status":"completed","incomplete_details":"no","output":{},"usage":[]}'
    response = lenient.read_response(raw)
    assert (response.id, response.created_at, response.incomplete_details, response.output) == ("1", 5, None, None)


def test_half_a_surrogate_pair() -> None:
    assert lenient.read_event(b'{"delta":"x\\ud83d"}').delta == "x\ud83d"


@pytest.mark.parametrize("raw", [b"", b"[]", b"5", b"{", b'"x"', b"\xff"])
def test_what_is_no_object(raw: bytes) -> None:
    for read in (lenient.read_event, lenient.read_item, lenient.read_response):
        with pytest.raises(ValueError):  # noqa: PT011 - of whatever kind: the reader takes them all alike
            read(raw)


def test_every_member_that_openai_counts_is_read() -> None:
    from openai.types.responses import ResponseUsage

    assert set(wire.USAGE_COUNTS) <= set(ResponseUsage.model_fields)
