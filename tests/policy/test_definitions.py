"""The request's side: each limit is met on the spot, crossed by one, and named with field and code; so are tool_choice
and the allowlist."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.model.errors import RequestError
from toolwire.model.limits import MAXIMA, PRESET_2API, PRESET_AGENTS, PRESETS, Limits
from toolwire.model.request import ChatRequest, Tool, ToolChoice
from toolwire.model.settings import Tenant
from toolwire.model.source import replace
from toolwire.policy import ToolRules, check_request, measure, rules_for

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
RULES = ToolRules(LIMITS)


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


@each_row(
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
        request(A, Tool("bash", kind="opaque"), choice=ToolChoice("required", ("bash",), named=True)),
        request(choice=ToolChoice("auto")),
        request(choice=ToolChoice("none")),
    ],
)
def test_allowed(allowed: ChatRequest) -> None:
    assert check_request(allowed, RULES) == []


@each_row(
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
        check_request(refused, RULES)

    error = caught.value
    assert (error.status, error.param, error.code, error.retry) == (400, param, code, False)
    assert "xxxx" not in error.message


def test_sizes_are_bytes_and_lengths_are_characters() -> None:
    check_request(request(Tool("é" * 5, "é" * 10)), ToolRules(replace(LIMITS, tools_bytes=30)))

    with pytest.raises(RequestError, match="larger than 29 bytes"):
        check_request(request(Tool("é" * 5, "é" * 10)), ToolRules(replace(LIMITS, tools_bytes=29)))


def test_half_a_surrogate_pair_in_a_definition_is_counted() -> None:
    check_request(request(Tool("a", "\ud83d")), RULES)


def test_the_presets_are_those_of_the_documents() -> None:
    """2api 7.1, column by column: the default, and the maximum."""
    names = ("tools", "tool_name_chars", "description_chars", "schema_depth", "arguments_bytes", "calls")
    assert [getattr(PRESET_2API, name) for name in names] == [128, 64, 1024, 5, 64 * 1024, 20]
    assert [getattr(MAXIMA["2api"], name) for name in names] == [128, 64, 4096, 10, 256 * 1024, 50]
    assert [getattr(PRESET_AGENTS, name) for name in names] == [512, 128, 64 * 1024, 32, 1024 * 1024, 128]
    assert PRESETS == {"2api": PRESET_2API, "agents": PRESET_AGENTS}


@pytest.mark.parametrize("preset", PRESETS)
def test_no_maximum_is_below_its_default(preset: str) -> None:
    names = [field.name for field in fields(Limits)]
    assert all(getattr(MAXIMA[preset], name) >= getattr(PRESETS[preset], name) for name in names)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_presets_take_schemas_up_to_their_depth(preset: Limits) -> None:
    check_request(request(Tool("a", parameters=nested(preset.schema_depth))), ToolRules(preset))

    with pytest.raises(RequestError, match=f"nested {preset.schema_depth + 1} levels"):
        check_request(request(Tool("a", parameters=nested(preset.schema_depth + 1))), ToolRules(preset))


# ------------------------------------------------------------ the allowlist, strict and parallel

SERVER_TOOL = Tool("web_search", kind="opaque")


def with_list(*allowed: str, mode: str = "enforce") -> ToolRules:
    return rules_for(Tenant(allowlist=allowed, allowlist_mode=cast(Any, mode)), "chat_completions")


@pytest.mark.parametrize(
    ("tools", "rules", "warnings"),
    [
        ((A, B), with_list("a", "b", "c"), []),
        ((A, B), with_list("a", mode="warn"), ["tool_not_allowed:b"]),
        (
            (A, B, SERVER_TOOL),
            with_list(mode="warn"),
            ["tool_not_allowed:a", "tool_not_allowed:b", "tool_not_allowed:web_search"],
        ),
        ((Tool("größe"),), with_list(mode="warn"), ["tool_not_allowed:gr__e"]),
        ((A, B), with_list("a", mode="off"), []),
        ((A, SERVER_TOOL), with_list("a", "web_search"), []),
        ((), with_list(), []),
    ],
)
def test_the_allowlist_lets_pass(tools: tuple[Tool, ...], rules: ToolRules, warnings: list[str]) -> None:
    assert check_request(request(*tools), rules) == warnings


@pytest.mark.parametrize(
    ("tools", "allowed", "param"),
    [
        ((A, B), ("a",), "tools[1].function.name"),
        ((Tool("a", kind="custom"),), ("b",), "tools[0].custom.name"),
        ((A, SERVER_TOOL), ("a",), "tools[1].type"),
        ((A,), (), "tools[0].function.name"),
    ],
)
def test_the_allowlist_refuses(tools: tuple[Tool, ...], allowed: tuple[str, ...], param: str) -> None:
    with pytest.raises(RequestError) as caught:
        check_request(request(*tools), with_list(*allowed))
    assert (caught.value.status, caught.value.code, caught.value.param) == (400, "tool_not_allowed", param)


STRICT = Tool("a", strict=True)


@pytest.mark.parametrize(
    ("tool", "parallel", "warns"),
    [(STRICT, True, True), (STRICT, False, False), (STRICT, None, True), (A, True, False)],
)
def test_strict_beside_parallel_calls(tool: Tool, parallel: bool | None, warns: bool) -> None:
    asked = replace(request(tool), parallel_tool_calls=parallel)
    assert check_request(asked, RULES) == ["strict_with_parallel"] * warns

    rejecting = rules_for(Tenant(strict_parallel="reject"), "chat_completions")
    if not warns:
        assert check_request(asked, rejecting) == []
        return
    with pytest.raises(RequestError) as caught:
        check_request(asked, rejecting)
    assert (caught.value.code, caught.value.param) == ("strict_with_parallel", "parallel_tool_calls")


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
