"""Tool schemas as a client of the Chat door meets them: the error's shape, and the warning's place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolwire.model.http import Head
from toolwire.model.settings import Settings
from toolwire.shell.serve import admission
from toolwire.shell.serve.door import serve

pytestmark = pytest.mark.enable_socket  # the demo provider's


@pytest.fixture(autouse=True)
def _only_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "current_settings", lambda: Settings(providers={}))


def ask(
    parameters: Any,
    model: str = "demo/compatible",
    *,
    strict: bool | None = None,
    mode: str = "convert",
    **fields: Any,
) -> tuple[Head, Any]:
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": strict}}
    body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "tools": [tool], **fields}
    event = {
        "httpMethod": "POST",
        "path": "/chat/completions",
        "requestContext": {},
        "headers": {"x-toolwire-schema-mode": mode},
        "body": json.dumps(body),
    }
    head, *rest = serve("chat_completions", event, None)
    assert isinstance(head, Head)
    return head, json.loads(b"".join(piece for piece in rest if isinstance(piece, bytes)))


def of(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def endless(levels: int) -> dict[str, Any]:
    return {"type": "object", "$defs": {f"d{n}": {"$ref": f"#/$defs/d{(n + 1) % levels}"} for n in range(levels)}} | {
        "$ref": "#/$defs/d0"
    }


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        (of({"$ref": "file:///etc/passwd"}), "invalid_function_parameters"),
        ({"type": "object", "anyOf": [{}] * 9_999}, "tool_schema_too_complex"),
        (endless(1), "invalid_function_parameters"),
        (endless(3_000), "invalid_function_parameters"),
    ],
)
def test_a_hostile_or_broken_schema_is_an_error_of_the_clients_own_shape(parameters: Any, code: str) -> None:
    head, answer = ask(parameters)

    error = answer["error"]
    assert head.status == 400
    assert ("x-should-retry", "false") in head.headers
    assert (error["type"], error["code"], error["param"]) == (
        "invalid_request_error", code, "tools[0].function.parameters",
    )  # fmt: skip


BROKEN = [{"pattern": "(a"}, {"type": "text!"}, {"$ref": "#/$defs/none"}, {"required": True}]


@pytest.mark.parametrize("broken", BROKEN)
def test_in_the_lane_the_vendor_decides(broken: Any) -> None:
    head, _ = ask(of(broken))

    assert head.status == 200
    assert "x-toolwire-warnings" not in dict(head.headers)


@pytest.mark.parametrize("broken", BROKEN)
def test_one_broken_keyword_does_not_end_a_session(broken: Any) -> None:
    """Elsewhere the keyword is cut, with its path; under `reject` the tool is refused."""
    (keyword,) = broken
    head, _ = ask(of(broken), "demo/anthropic")
    assert head.status == 200
    path = f"tools[0].function.parameters/properties/a/{keyword}"
    assert dict(head.headers)["x-toolwire-warnings"] == f"tool_schema_reduced:{path}"

    head, answer = ask(of(broken), "demo/anthropic", mode="reject")
    assert (head.status, answer["error"]["code"]) == (400, "invalid_function_parameters")


def test_a_pattern_that_takes_for_ever_is_a_warning() -> None:
    head, _ = ask(of({"type": "string", "pattern": "^(a+)+$"}))

    assert (head.status, dict(head.headers)["x-toolwire-warnings"]) == (200, "slow_pattern:f")


@pytest.mark.parametrize(
    ("model", "keyword", "feature", "cut"),
    [
        ("demo/anthropic", "anyOf", "anyOf at the root", "/anyOf"),
        (
            "demo/gemini",
            "$ref",
            "recursion through the required property /$defs/n/required/a",
            "/$defs/n/required/a",
        ),
    ],
)
def test_what_a_provider_cannot_be_told_names_the_features(model: str, keyword: str, feature: str, cut: str) -> None:
    node = {**of({"$ref": "#/$defs/n"}), "required": ["a"]}
    groups = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    schema = {**of({"$ref": "#/$defs/n"}), **groups, "$defs": {"n": node}}
    head, answer = ask(schema, model, mode="reject")

    error = answer["error"]
    assert (head.status, error["code"], error["type"]) == (400, "tool_schema_incompatible", "semantic_error")
    assert error["incompatible_features"] == [keyword]
    assert feature in error["message"]

    head, _ = ask(schema, model)
    assert head.status == 200
    assert dict(head.headers)["x-toolwire-warnings"].endswith(cut)


def test_a_warning_reaches_the_header() -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}

    head, _ = ask(closed, strict=True, parallel_tool_calls=True)
    assert dict(head.headers)["x-toolwire-warnings"] == "strict_with_parallel"

    head, _ = ask(closed, strict=True, parallel_tool_calls=False)
    assert "x-toolwire-warnings" not in dict(head.headers)
