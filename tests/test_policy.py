"""The limits: each is met on the spot, crossed by one, and named with field and code."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.model.errors import RequestError, UpstreamProtocolError
from toolwire.model.limits import PRESET_2API, PRESET_AGENTS, PRESETS, Limits
from toolwire.model.request import ChatRequest, Tool, ToolChoice
from toolwire.policy import AnswerLimits, check_request, measure

LIMITS = Limits(
    tools=3,
    tool_name_chars=5,
    description_chars=10,
    schema_depth=3,
    schema_nodes=12,
    tools_bytes=1000,
    arguments_bytes=10,
    calls=2,
)


def request(*tools: Tool, choice: ToolChoice | None = None) -> ChatRequest:
    return ChatRequest("model", (), tools, choice)


def nested(levels: int) -> bytes:
    """A schema of objects within objects."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels - 1):
        schema = {"type": "object", "properties": {"a": schema}}
    return json.dumps(schema).encode()


def wide(nodes: int) -> bytes:
    return b'{"enum":[' + b",".join([b"{}"] * (nodes - 2)) + b"]}"


A, B = Tool("a"), Tool("b")


@pytest.mark.parametrize(
    "allowed",
    [
        request(),
        request(A, B, Tool("c")),
        request(Tool("12345")),
        request(Tool("größe")),
        request(Tool("a.b", "x" * 10)),
        request(Tool("a", parameters=nested(3))),
        request(Tool("a", parameters=wide(12))),
        request(Tool("a", parameters=b'{"a":"' + b"x" * 991 + b'"}')),
        request(Tool("a", parameters=b'{"const":"' + b"[{" * 100 + b'"}')),
        request(Tool("web_search", kind="opaque"), Tool("web_search", kind="opaque")),
        request(A, choice=ToolChoice("auto")),
        request(A, choice=ToolChoice("none")),
        request(A, choice=ToolChoice("required")),
        request(A, B, choice=ToolChoice("required", ("b",), named=True)),
        request(A, B, choice=ToolChoice("auto", ("a", "b"))),
        request(Tool("a", kind="custom"), choice=ToolChoice("required", ("a",))),
        request(choice=ToolChoice("auto")),
        request(choice=ToolChoice("none")),
    ],
)
def test_allowed(allowed: ChatRequest) -> None:
    check_request(allowed, LIMITS)


@pytest.mark.parametrize(
    ("refused", "param", "code"),
    [
        (request(A, B, Tool("c"), Tool("d")), "tools", "too_many_tools"),
        (request(A, Tool("")), "tools[1].function.name", "invalid_tool_name"),
        (request(A, Tool("123456")), "tools[1].function.name", "invalid_tool_name"),
        (request(Tool("123456", kind="custom")), "tools[0].custom.name", "invalid_tool_name"),
        (request(Tool("a", "x" * 11)), "tools[0].function.description", "tool_description_too_long"),
        (request(Tool("a", parameters=nested(4))), "tools[0].function.parameters", "tool_schema_too_complex"),
        (request(Tool("a", parameters=wide(13))), "tools[0].function.parameters", "tool_schema_too_complex"),
        (request(Tool("a", parameters=b'{"a":"' + b"x" * 992 + b'"}')), "tools", "tools_too_large"),
        (request(Tool("a", extra=(("custom", b"x" * 1000),), kind="custom")), "tools", "tools_too_large"),
        (request(A, B, A), "tools[2].function.name", "duplicate_tool_name"),
        (request(A, Tool("a", kind="custom")), "tools[1].custom.name", "duplicate_tool_name"),
        (request(A, choice=ToolChoice("required", ("b",), named=True)), "tool_choice", "unknown_tool_choice"),
        (request(A, choice=ToolChoice("auto", ("a", "b"))), "tool_choice", "unknown_tool_choice"),
        (request(choice=ToolChoice("required")), "tool_choice", "tool_choice_without_tools"),
        (request(choice=ToolChoice("auto", ("a",))), "tool_choice", "tool_choice_without_tools"),
    ],
)
def test_refused(refused: ChatRequest, param: str, code: str) -> None:
    with pytest.raises(RequestError) as caught:
        check_request(refused, LIMITS)

    error = caught.value
    assert (error.status, error.param, error.code, error.retry) == (400, param, code, False)
    assert "xxxx" not in error.message


def test_sizes_are_bytes_and_lengths_are_characters() -> None:
    check_request(request(Tool("é" * 5, "é" * 10)), replace(LIMITS, tools_bytes=30))

    with pytest.raises(RequestError, match="larger than 29 bytes"):
        check_request(request(Tool("é" * 5, "é" * 10)), replace(LIMITS, tools_bytes=29))


def test_half_a_surrogate_pair_in_a_definition_is_counted() -> None:
    check_request(request(Tool("a", "\ud83d")), LIMITS)


def test_the_presets_are_those_of_the_documents() -> None:
    assert PRESETS == {"2api": PRESET_2API, "agents": PRESET_AGENTS}
    assert (PRESET_2API.tools, PRESET_2API.tool_name_chars, PRESET_2API.schema_depth, PRESET_2API.calls) == (
        128, 64, 5, 20,
    )  # fmt: skip
    assert (PRESET_AGENTS.tools, PRESET_AGENTS.tool_name_chars, PRESET_AGENTS.schema_depth, PRESET_AGENTS.calls) == (
        512, 128, 32, 128,
    )  # fmt: skip


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_presets_take_schemas_up_to_their_depth(preset: Limits) -> None:
    check_request(request(Tool("a", parameters=nested(preset.schema_depth))), preset)

    with pytest.raises(RequestError, match=f"nested {preset.schema_depth + 1} levels"):
        check_request(request(Tool("a", parameters=nested(preset.schema_depth + 1))), preset)


# ------------------------------------------------------------ measure


@pytest.mark.parametrize(
    ("raw", "measured"),
    [
        (b"", (0, 0)),
        (b"{}", (1, 1)),
        (b"[]", (1, 1)),
        (b'{"a":[{},{}],"b":{}}', (3, 5)),
        (b'{"a":"{[{[","b":"\\"{","c\\\\":"}"}', (1, 1)),
        (b'{"a":"\n{"}', (1, 1)),
        (b"[" * 100_000, (100_000, 100_000)),
    ],
)
def test_measure(raw: bytes, measured: tuple[int, int]) -> None:
    assert measure(raw) == measured


VALUES = st.recursive(
    st.none() | st.text(st.sampled_from('{}[]"\\a'), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "{", '"[']), inner, max_size=3),
    max_leaves=10,
)


def shape(value: Any) -> tuple[int, int]:
    if not isinstance(value, list | dict):
        return 0, 0
    inner = [shape(item) for item in (value.values() if isinstance(value, dict) else value)]
    return 1 + max([levels for levels, _ in inner], default=0), 1 + sum(nodes for _, nodes in inner)


@given(VALUES)
def test_measure_is_what_a_parser_sees(value: Any) -> None:
    assert measure(json.dumps(value).encode()) == shape(value)


# ------------------------------------------------------------ answers


def test_calls_are_counted() -> None:
    limits = AnswerLimits(LIMITS)
    limits.call()
    limits.call()

    with pytest.raises(UpstreamProtocolError, match="more than 2 tool calls") as caught:
        limits.call()
    assert caught.value.code == "too_many_tool_calls"


@pytest.mark.parametrize("fragments", [["x" * 11], ["x"] * 11, ["é"] * 6, ["😀😀", "\ud83d"], ["12345", "67890", "é"]])
def test_argument_bytes_are_counted_for_each_call(fragments: list[str]) -> None:
    limits = AnswerLimits(LIMITS)
    limits.arguments(1, "x" * 10)
    for fragment in fragments[:-1]:
        limits.arguments(0, fragment)

    with pytest.raises(UpstreamProtocolError, match="larger than 10 bytes") as caught:
        limits.arguments(0, fragments[-1])
    assert caught.value.code == "tool_arguments_too_large"
