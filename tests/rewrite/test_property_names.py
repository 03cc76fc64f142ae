"""Names of parameters that a provider refuses: replaced in the schema and the history, restored in the calls, whatever
the cuts and the door."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.model.events import Batch, ToolCallDelta, ToolCallEnd, ToolCallStart
from toolwire.rewrite.property_names import KeyScanner, RestoredNames
from toolwire.schema.property_names import replacements

RULE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
LONG = "settings__approved__or__denied__countries__or__regions__approved__list"


@each_row(
    ("names", "stems"),
    [
        (["city", "a.b-c_d"], []),
        (["$filter"], ["filter"]),
        (["filter[name]", "filter[id]"], ["filter_name", "filter_id"]),
        (["größe"], ["gr_e"]),
        (["$filter", "filter"], ["filter_#"]),
        (["$a", "@a"], ["a_#", "a_#"]),
        (["[]"], ["p_#"]),
        ([LONG], [LONG[:53] + "_#"]),
        (["x" * 65, "x" * 66], ["x" * 53 + "_#"] * 2),
    ],
)
def test_replacements(names: list[str], stems: list[str]) -> None:
    """`#` is a hash of the name."""
    found = replacements(names, RULE)
    assert list(found.values()) == [name for name in names if not RULE.fullmatch(name)]
    assert [re.sub("_[0-9a-f]{10}$", "_#", name) for name in found] == stems
    assert all(RULE.fullmatch(name) for name in found)
    assert found.keys().isdisjoint(names)


def test_the_order_of_names_decides_nothing() -> None:
    names = ["$a", "@a", "a b", "x" * 70]
    assert replacements(names, RULE) == replacements(names[::-1], RULE)


# ------------------------------------------------------------ the scanner

NAMES = {"filter": "$filter", "top": "$top", "q": 'a"b\\', "e": ""}

#: What goes in, what comes out.
TEXTS = [
    ('{"filter":"x","top":1}', '{"$filter":"x","$top":1}'),
    (' { "filter" : "filter" , "a":["filter",{"top":1}] }', ' { "$filter" : "filter" , "a":["filter",{"top":1}] }'),
    ('{"a":{"filter":{"top":1}}}', '{"a":{"filter":{"top":1}}}'),
    ('{"top":{"top":"{\\"top\\":1}"}}', '{"$top":{"top":"{\\"top\\":1}"}}'),
    ('{"\\u0066ilter":1.10,"n":12345678901234567890}', '{"$filter":1.10,"n":12345678901234567890}'),
    ('{"q":"\\\\\\"","e":"\\ud83d"}', '{"a\\"b\\\\":"\\\\\\"","":"\\ud83d"}'),
    ('["filter",{"filter":1}]', '["filter",{"filter":1}]'),
    ('"filter"', '"filter"'),
    ('{"$filter":1}', '{"$filter":1}'),
    ('{"filter":"a\\\\","top":"b"}', '{"$filter":"a\\\\","$top":"b"}'),
    ('{"filter":1', '{"$filter":1'),
    ('{"filter":1}{"filter":2}', '{"$filter":1}{"$filter":2}'),
    ('{"fil', '{"fil'),
    ('{"filter\\', '{"filter\\'),
    ("no JSON at all: filter", "no JSON at all: filter"),
    ("", ""),
]  # fmt: skip


@each_row(("text", "expected"), TEXTS)
def test_every_cut(text: str, expected: str) -> None:
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1):
            scanner = KeyScanner(NAMES)
            pieces = [scanner.feed(piece) for piece in (text[:first], text[first:second], text[second:])]
            assert "".join(pieces) + scanner.end() == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(NAMES)) | st.text(), inner),
    max_leaves=8,
)


@given(arguments=st.dictionaries(st.sampled_from(sorted(NAMES)) | st.text(), JSON), size=st.integers(1, 9))
def test_keys_of_the_outermost_object_alone(arguments: dict[str, Any], size: int) -> None:
    text = json.dumps(arguments)
    scanner = KeyScanner(NAMES)
    out = "".join(scanner.feed(text[at : at + size]) for at in range(0, len(text), size)) + scanner.end()
    members = [f"{_dumped(key)}: {json.dumps(value)}" for key, value in arguments.items()]
    assert out == "{" + ", ".join(members) + "}"


def _dumped(key: str) -> str:
    return json.dumps(NAMES[key], ensure_ascii=False) if key in NAMES else json.dumps(key)


def test_other_calls_pass_as_they_are() -> None:
    stage = RestoredNames({"search": NAMES})
    other = Batch((ToolCallStart(0, "c", "other"),))
    assert stage.take(other)[0] is other
    delta = Batch((ToolCallDelta(0, '{"filter":1}'),))
    assert stage.take(delta)[0] is delta
    (begun,) = stage.take(Batch((ToolCallStart(1, "d", "search"), ToolCallDelta(1, '{"fil'))))
    assert begun.events == (ToolCallStart(1, "d", "search"), ToolCallDelta(1, "{"))
    (ended,) = stage.take(Batch((ToolCallEnd(1),)))
    assert ended.events == (ToolCallDelta(1, '"fil'), ToolCallEnd(1))


# ------------------------------------------------------------ the whole way

SCHEMA = {
    "type": "object",
    "properties": {"$filter": {"type": "string", "description": "OData."}, "filter[name]": {}, "city": {}},
    "required": ["$filter", "city"],
    "additionalProperties": False,
}


def exchange(door: str, *, stream: bool = False, validate: str = "off", mode: str = "convert") -> Any:
    """Of a client that has made a call before."""
    calls = {"$filter": 'a "$filter": 1', "city": {"$filter": 1}}
    if door == "chat_completions":
        call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": json.dumps(calls)}}
        body = {
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_1", "content": "y"},
            ],
            "tools": [{"type": "function", "function": {"name": "search", "parameters": SCHEMA}}],
        }
    else:
        call = {"type": "function_call", "call_id": "call_1", "name": "search", "arguments": json.dumps(calls)}
        body = {
            "input": [
                {"role": "user", "content": "x"},
                call,
                {"type": "function_call_output", "call_id": "call_1", "output": "y"},
            ],
            "tools": [{"type": "function", "name": "search", "parameters": SCHEMA}],
        }
    headers = {"x-toolwire-validate-tool-arguments": validate, "x-toolwire-schema-mode": mode}
    raw = json.dumps({"model": "p/m", "stream": stream, **body}).encode()
    return open_exchange(raw, door=door, wire="anthropic_messages", model="claude-opus-4-8", headers=headers)


ARGUMENTS = '{"filter":"b \\"filter\\":2", "city":{"filter":1.10},"filter_name":[1]}'
RESTORED = '{"$filter":"b \\"filter\\":2", "city":{"filter":1.10},"filter[name]":[1]}'


@pytest.mark.parametrize("door", ["chat_completions", "responses"])
def test_the_provider_has_names_that_it_takes(door: str) -> None:
    opened = exchange(door)
    sent = json.loads(opened.upstream_request.body)
    schema = sent["tools"][0]["input_schema"]

    assert list(schema["properties"]) == ["filter", "filter_name", "city"]
    assert schema["required"] == ["filter", "city"]
    assert schema["properties"]["filter"]["description"] == "`$filter`. OData."
    assert sent["messages"][1]["content"][0]["input"] == {"filter": 'a "$filter": 1', "city": {"$filter": 1}}
    assert opened.figures.warnings == ["tool_properties_renamed:tools[0].function.parameters"]


@pytest.mark.parametrize("validate", ["off", "reject"])
@pytest.mark.parametrize("door", ["chat_completions", "responses"])
def test_the_client_has_its_own_back_in_one_document(door: str, validate: str) -> None:
    opened = exchange(door, validate=validate)
    answer = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": json.loads(ARGUMENTS)}],
    }  # fmt: skip
    opened.receive_head(200, {"content-type": "application/json"})
    out = opened.receive_data(json.dumps(answer).encode()) + opened.receive_end()
    text = _text(opened, out)
    (arguments,) = re.findall(r'"arguments": ?("(?:[^"\\]|\\.)*")', text)
    assert json.loads(json.loads(arguments)) == json.loads(RESTORED)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("door", ["chat_completions", "responses"])
def test_the_client_has_its_own_back_while_it_streams(door: str, size: int) -> None:
    opened = exchange(door, stream=True)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
         "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0,
         "content_block": {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}},
        *({"type": "content_block_delta", "index": 0,
           "delta": {"type": "input_json_delta", "partial_json": ARGUMENTS[at : at + size]}}
          for at in range(0, len(ARGUMENTS), size)),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None},
         "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]  # fmt: skip
    opened.receive_head(200, {"content-type": "text/event-stream"})
    frames = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    out = opened.receive_data(frames.encode()) + opened.receive_end()
    shown = [json.loads(line[6:]) for line in _text(opened, out).splitlines() if line.startswith("data: {")]
    if door == "chat_completions":
        deltas = [
            call["function"].get("arguments") or ""
            for chunk in shown
            for choice in chunk["choices"]
            for call in choice["delta"].get("tool_calls", ())
        ]
    else:
        deltas = [it["delta"] for it in shown if it["type"] == "response.function_call_arguments.delta"]
        (done,) = [it["arguments"] for it in shown if it["type"] == "response.function_call_arguments.done"]
        assert done == RESTORED
    assert "".join(deltas) == RESTORED


def _text(opened: Any, actions: list[Any]) -> str:
    """What the client reads; whatever was to be stored is."""
    out = b""
    while actions:
        action = actions.pop(0)
        if hasattr(action, "items"):
            actions = opened.receive_stored() + actions
        out += getattr(action, "data", b"")
    return out.decode()
