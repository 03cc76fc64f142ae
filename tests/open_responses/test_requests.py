"""Every parameter and every type of item of the standard's request is carried to the provider, named in a warning, or
refused in the standard's form; never lost in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import opened
from tests.named_rows import each_row
from tests.open_responses.judge import STANDARD, error_faults, faults
from tests.open_responses.suite import TOOL, WIRES, target, user
from toolwire.doors import load_door
from toolwire.model.errors import GatewayError
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import Tenant

DOOR = load_door("responses")
FORMAT = {"type": "json_schema", "name": "river", "schema": {"type": "object", "properties": {}}}

#: Parameter -> a value that asks for something.
PARAMETERS: dict[str, Any] = {
    "model": "other",
    "input": [user("Another river.")],
    "previous_response_id": "resp_1",
    "include": ["message.output_text.logprobs"],
    "tools": [TOOL],
    "tool_choice": "required",
    "metadata": {"team": "maps"},
    "text": {"format": FORMAT},
    "temperature": 0.5,
    "top_p": 0.5,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "parallel_tool_calls": False,
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "background": True,
    "max_output_tokens": 77,
    "max_tool_calls": 3,
    "reasoning": {"effort": "high"},
    "safety_identifier": "user-1",
    "prompt_cache_key": "rivers",
    "truncation": "auto",
    "instructions": "Be brief.",
    "store": True,
    "service_tier": "flex",
    "top_logprobs": 2,
}
#: Parameters that ask for what is so in any case.
NOTHING = {"model": "it is the address", "stream_options": "no event is padded but a host's own"}

#: What stands in the input, in the standard's words for it.
ITEMS: dict[str, list[dict[str, Any]]] = {
    "ItemReferenceParam": [{"type": "item_reference", "id": "msg_of_another"}],
    "ReasoningItemParam": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}], "encrypted_content": "gAAA"},
        {"type": "message", "role": "assistant", "content": "Aare."},
    ],
    "CompactionSummaryItemParam": [{"type": "compaction", "encrypted_content": "gAAA"}],
    "UserMessageItemParam": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"},
         {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,aGk="}]},
    ],
    "SystemMessageItemParam": [{"type": "message", "role": "system", "content": "one"}],
    "DeveloperMessageItemParam": [{"type": "message", "role": "developer", "content": "one"}],
    "AssistantMessageItemParam": [
        {"type": "message", "role": "assistant", "phase": "commentary", "content": [
            {"type": "output_text", "text": "one", "annotations": []}, {"type": "refusal", "refusal": "two"}]},
    ],
    "FunctionCallItemParam": [
        {"type": "function_call", "call_id": "call_1", "name": "find_train", "arguments": "{}", "status": None},
    ],
    "FunctionCallOutputItemParam": [
        {"type": "function_call", "call_id": "call_1", "name": "find_train", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "one"}]},
    ],
    "InputVideoContent": [
        {"type": "function_call", "call_id": "call_1", "name": "find_train", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": [
            {"type": "input_video", "video_url": "https://example.com/a.mp4"}]},
    ],
}  # fmt: skip


def outcome(wire: str, fields: dict[str, Any]) -> tuple[UpstreamRequest | None, list[str], GatewayError | None]:
    """What the provider is sent, the warnings, and the refusal."""
    body = json.dumps({"model": "m", "input": [user("Name a river.")], **fields}).encode()
    try:
        exchange = opened(DOOR, body, target(wire), Tenant())
    except GatewayError as error:
        return None, [], error
    return exchange.upstream_request, list(exchange.figures.warnings), None


def check_refusal(error: GatewayError, param: str) -> None:
    assert error.status == 400
    assert (error.param or "").startswith(param)
    assert error_faults(DOOR.render_error(error, "req")) == []


def test_the_table_has_every_parameter() -> None:
    assert list(PARAMETERS) == list(STANDARD["CreateResponseBody"]["properties"])
    assert faults("CreateResponseBody", PARAMETERS) == []


@each_row("name", [name for name in PARAMETERS if name not in NOTHING])
@each_row("wire", WIRES)
def test_a_parameter_is_carried_named_or_refused(wire: str, name: str) -> None:
    needs: dict[str, Any] = {"tools": [TOOL]} if name in ("tool_choice", "parallel_tool_calls") else {}
    without = outcome(wire, needs)
    sent, warnings, error = outcome(wire, needs | {name: PARAMETERS[name]})
    if error is not None:
        check_refusal(error, name)
    elif sent == without[0]:
        named = [warning.partition(":")[2] or warning for warning in warnings]
        assert any(name in warning.split(".")[0] for warning in named), f"lost in silence; warnings: {warnings}"


def test_the_table_has_every_type_of_item() -> None:
    types = [one["$ref"].rpartition("/")[2] for one in STANDARD["ItemParam"]["oneOf"]]
    assert sorted(types) == sorted(name for name in ITEMS if name != "InputVideoContent")
    for items in ITEMS.values():
        assert faults("CreateResponseBody", {"input": items}) == []


@each_row("items", ITEMS.values(), ids=ITEMS)
@each_row("wire", WIRES)
def test_an_item_is_carried_named_or_refused(wire: str, items: list[dict[str, Any]]) -> None:
    needs: dict[str, Any] = {"tools": [TOOL]}
    sent, warnings, error = outcome(wire, needs | {"input": [user("Name a river."), *items]})
    if error is not None:
        check_refusal(error, "input[")
        return
    assert sent is not None
    if items[0]["type"] == "reasoning":
        assert b"gAAA" in sent.body or b"so" in sent.body or warnings
    else:
        assert all(word in sent.body for word in (b"one", b"two", b"find_train") if word in json.dumps(items).encode())


@pytest.mark.parametrize(
    "fields",
    [
        {"input": [user("hi"), {"type": "acme:note", "id": "n_1", "text": "one"}]},
        {"tools": [{"type": "acme:search", "depth": 2}]},
        {"tools": [TOOL, {"type": "acme:search"}], "tool_choice": {"type": "acme:search"}},
    ],
    ids=["an item", "a tool", "a choice"],
)
def test_types_of_a_vendors_own_pass_to_a_host_of_this_api(fields: dict[str, Any]) -> None:
    sent, warnings, error = outcome("responses", fields)
    assert sent is not None
    assert (warnings, error) == ([], None)
    body = json.loads(sent.body)
    assert {name: body[name] for name in fields} == fields


@each_row(
    ("fields", "param"),
    [
        ({"input": []}, "input"),
        ({"input": [{"type": "item_reference", "id": f"msg_{24 * 'x'}_0"}]}, "input"),
        ({"input": [user("hi"), {"type": "function_call", "call_id": "c", "arguments": "{}"}]}, "input[1].name"),
        ({"temperature": "hot"}, "temperature"),
        ({"presence_penalty": 3}, "presence_penalty"),
        ({"metadata": "maps"}, "metadata"),
        ({"max_tool_calls": "3"}, "max_tool_calls"),
        ({"truncation": 1}, "truncation"),
        ({"store": "yes"}, "store"),
        ({"include": "all"}, "include"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [TOOL], "tool_choice": {"type": "allowed_tools", "tools": []}}, "tool_choice"),
        ({"text": {"format": {"type": "yaml"}}}, "text.format.type"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_refused_in_the_standards_form(fields: dict[str, Any], param: str) -> None:
    error = outcome("openai", fields)[2]
    assert error is not None
    check_refusal(error, param)
