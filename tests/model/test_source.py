"""The lane's mechanism: a changed node loses its bytes, never a field."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import toolwire
from tests.named_rows import each_row
from toolwire.model import events, request
from toolwire.model.source import Source, Sourced, raw_in, replace, with_source

PACKAGE = Path(toolwire.__file__).parent

#: Every neutral node that may carry the bytes it came from.
NODES: list[type[Any]] = [
    node
    for module in (request, events)
    for _, node in inspect.getmembers(module, inspect.isclass)
    if issubclass(node, Sourced) and node.__module__ == module.__name__
]

VALUES: dict[str, Any] = {
    "text": "x", "kind": "audio", "dialect": "openai_chat", "raw": b"{}", "id": "call_1", "name": "f",
    "arguments": "{}", "tool_call_id": "call_1", "content": (), "role": "user", "parts": (),
}  # fmt: skip

EXTRA = (("cache_control", b'{"type":"ephemeral"}'),)


def make(node: type[Any]) -> Any:
    given = {name: VALUES[name] for name in inspect.signature(node).parameters if name in VALUES}
    return node(**given, extra=EXTRA)


def test_the_nodes_are_found() -> None:
    names = {node.__name__ for node in NODES}

    assert {"TextPart", "ImagePart", "ToolCallPart", "ToolResultPart", "Message", "Tool", "Usage"} <= names


@each_row("node", NODES)
def test_replace_drops_the_source_and_keeps_the_extra(node: type[Any]) -> None:
    source = Source("openai_chat", b'{"x":1}')
    old = with_source(make(node), source)
    assert old.source is source

    new = replace(old)

    assert new.source is None
    assert new.extra == old.extra
    assert old.source is source


@each_row("node", NODES)
def test_where_a_node_came_from_is_no_part_of_what_it_is(node: type[Any]) -> None:
    assert with_source(make(node), Source("openai_chat", b"1")) == make(node)


def test_nobody_makes_a_node_with_a_source() -> None:
    """`with_source` says who has the bytes of a node. A batch, and an error, are made with theirs."""
    names = {node.__name__ for node in NODES}
    texts = [path.read_text() for path in sorted(PACKAGE.rglob("*.py"))]
    calls = [
        ast.unparse(call.func)
        for text in texts
        if "source=" in text  # to parse the others, too, takes half a second
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and any(given.arg == "source" for given in call.keywords)
    ]

    assert calls.count("Batch") > 5
    assert not [call for call in calls if call.rpartition(".")[2] in names]


@each_row("node", NODES)
def test_a_source_is_given_by_its_name_only(node: type[Any]) -> None:
    assert "source" not in node.__match_args__


def test_a_batch_is_made_anew_or_keeps_its_bytes() -> None:
    """It is a Struct, which is made faster. So nothing may copy it with a change: there is no `replace` for it."""
    delta = events.TextDelta(0, "x")
    batch = events.Batch((delta,), source=Source("openai_chat", b"1"))

    assert batch == events.Batch((delta,))
    assert hash(batch) == hash(events.Batch((delta,)))
    assert batch != events.Batch((delta,), (("", EXTRA),))
    assert batch != (delta,)
    with pytest.raises(TypeError):
        replace(batch)
    with pytest.raises(AttributeError):
        batch.source = None  # type: ignore[misc]


@each_row("node", NODES)
def test_nodes_are_frozen_and_have_no_dict(node: type[Any]) -> None:
    made = make(node)

    assert not hasattr(made, "__dict__")
    with pytest.raises(AttributeError):
        made.source = None


def test_the_bytes_are_for_their_own_dialect_only() -> None:
    node = with_source(request.TextPart("x"), Source("openai_chat", b'"x"'))

    assert raw_in(node, "openai_chat") == b'"x"'
    assert raw_in(node, "anthropic_messages") is None
    assert raw_in(request.TextPart("x"), "openai_chat") is None


def test_a_source_can_be_taken_away() -> None:
    node = with_source(request.TextPart("x"), Source("openai_chat", b'"x"'))

    assert with_source(node, None) is node
    assert raw_in(node, "openai_chat") is None
