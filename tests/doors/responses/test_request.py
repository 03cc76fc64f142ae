"""What the Responses door reads: items, tools, choices and settings, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.doors.responses.request import parse_request
from toolwire.model.errors import RequestError
from toolwire.model.request import (
    ChatRequest,
    FilePart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    RefusalPart,
    ResponseFormat,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolChoice,
    ToolResultPart,
)

SCHEMA = {"type": "object", "properties": {}}
PING = {"type": "function", "name": "ping", "parameters": SCHEMA}
AGENTS = {
    "type": "namespace", "name": "agents", "description": "Helpers.",
    "tools": [{"type": "function", "name": "stop", "description": "Stops one."}, {"type": "custom", "name": "say"}],
}  # fmt: skip
USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "ping", "arguments": '{"a": 1.10}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "pong"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls"}
CUSTOM_OUTPUT = {"type": "custom_tool_call_output", "call_id": "c2", "output": "a b"}


def parsed(**fields: Any) -> ChatRequest:
    return parse_request(json.dumps({"model": "m", "input": "hi"} | fields).encode())


def user(*parts: Part) -> Message:
    return Message("user", parts)


def result(*content: Any, id: str = "c1") -> Message:
    return Message("tool", (ToolResultPart(id, content),))


HISTORIES: dict[str, tuple[Any, list[Message]]] = {
    "a string": ("hi", [user(TextPart("hi"))]),
    "an easy message": ([USER], [user(TextPart("hi"))]),
    "roles": (
        [{"type": "message", "role": role, "content": "x"} for role in ("system", "developer", "user")],
        [Message("system", (TextPart("x"),)), Message("developer", (TextPart("x"),)), user(TextPart("x"))],
    ),
    "text and images": (
        [{"role": "user", "content": [
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "https://a/b.png", "detail": "high"},
            {"type": "input_image", "image_url": "data:image/gif;base64,AAAA", "detail": "auto"}]}],
        [user(TextPart("look"), ImagePart("https://a/b.png", detail="high"),
              ImagePart(data="AAAA", media_type="image/gif", detail="auto"))],
    ),
    "a file": (
        [{"role": "user", "content": [{"type": "input_file", "filename": "a.pdf", "file_data": "data:x/y;base64,AA"}]}],
        [user(FilePart("x/y", "a.pdf", data="AA"))],
    ),
    "a file by its address": (
        [{"role": "user", "content": [{"type": "input_file", "file_url": "https://a"}]}],
        [user(FilePart(url="https://a"))],
    ),
    "stored files": (
        [{"role": "user", "content": [
            {"type": "input_file", "file_id": "f"}, {"type": "input_image", "file_id": "f"}]}],
        [user(FilePart(file_id="f", dialect="openai_responses"),
              FilePart("image/*", file_id="f", dialect="openai_responses"))],
    ),
    "a recording": (
        [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}}]}],
        [user(FilePart("audio/mp3", data="AA"))],
    ),
    "an assistant's message as it was answered": (
        [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
          "content": [{"type": "output_text", "text": "a", "annotations": []}, {"type": "refusal", "refusal": "no"}]}],
        [Message("assistant", (
            TextPart("a", (("annotations", b"[]"), ("phase", b'"final_answer"'))),
            RefusalPart("no", (("phase", b'"final_answer"'),))))],
    ),
    "a turn of several items": (
        [USER,
         {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "A"},
          {"type": "summary_text", "text": "B"}], "encrypted_content": "ENC"},
         {"type": "message", "role": "assistant", "content": ""},
         {"role": "assistant", "content": "I look."},
         CALL | {"id": "fc_1", "status": "completed"},
         {"type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls\n"},
         OUTPUT,
         {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "x"}]},
         {"role": "assistant", "content": "Done."}],
        [user(TextPart("hi")),
         Message("assistant", (
             ReasoningPart("A\n\nB", "ENC", (("id", b'"rs_1"'),)), TextPart("I look."),
             ToolCallPart("c1", "ping", '{"a": 1.10}', extra=(("id", b'"fc_1"'), ("status", b'"completed"'))),
             ToolCallPart("c2", "sh", "ls\n", "custom"))),
         result(TextPart("pong")), result(TextPart("x"), id="c2"), Message("assistant", (TextPart("Done."),))],
    ),
    "an image in a result": (
        [CALL, OUTPUT | {"output": [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}],
        [Message("assistant", (ToolCallPart("c1", "ping", '{"a": 1.10}'),)),
         result(ImagePart(data="AAAA", media_type="image/png"))],
    ),
    "readable reasoning": (
        [{"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}],
        [Message("assistant", (ReasoningPart("Hm.", None, (("id", b'"r"'),)),))],
    ),
    "a call in a namespace": (
        [CALL | {"namespace": "agents", "name": "stop"}],
        [Message("assistant", (
            ToolCallPart("c1", "agents__stop", '{"a": 1.10}', extra=(("namespace", b'"agents"'),)),))],
    ),
}  # fmt: skip


@each_row(("given", "messages"), HISTORIES.values(), ids=HISTORIES)
def test_input(given: Any, messages: list[Message]) -> None:
    request = parsed(input=given)
    assert list(request.messages) == messages
    assert request.dialect_fields == ()
    items = [] if isinstance(given, str) else given
    raws = [message.source.raw for message in request.messages if message.source]
    if items:  # all of them, as they came
        assert json.loads(b"[" + b",".join(raws) + b"]") == items


def test_instructions_lead_and_are_no_item() -> None:
    request = parsed(instructions="Be brief.")
    assert request.messages[0] == Message("system", (TextPart("Be brief."),))
    assert request.messages[0].source is not None
    assert request.messages[0].source.raw == b""


FOREIGN: dict[str, tuple[Any, list[str]]] = {
    "a reference": ([{"type": "item_reference", "id": "msg_1"}], ["input[0] (item_reference)"]),
    "a reference without a type": ([{"id": "msg_1"}], ["input[0] (item_reference)"]),
    "a hosted tool's call": ([USER, {"type": "web_search_call", "id": "ws"}], []),
    "a hosted tool's result": ([USER, {"type": "mcp_call", "id": "mcp"}], ["input[1] (mcp_call)"]),
    "a hosted tool's call and result": ([USER, {"type": "mcp_call", "id": "mcp", "name": "n", "output": "r"}], []),
    "a file without anything": (
        [{"role": "user", "content": [{"type": "input_file"}]}],
        ["input[0].content[0] (input_file)"],
    ),
    "a wish to compact": ([USER, {"type": "compaction_trigger"}], ["input[1] (compaction_trigger)"]),
    "a part from the future": (
        [{"role": "user", "content": [{"type": "input_video", "video": 1}]}],
        ["input[0].content[0] (input_video)"],
    ),
}


@each_row(("given", "paths"), FOREIGN.values(), ids=FOREIGN)
def test_what_only_this_api_knows_is_named(given: Any, paths: list[str]) -> None:
    assert list(parsed(input=given).dialect_fields) == paths


def test_tools() -> None:
    search = {"type": "web_search", "external_web_access": False}
    custom = {"type": "custom", "name": "p", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}}
    nested = {"type": "function", "function": {"name": "old", "description": "d", "parameters": SCHEMA}}
    request = parsed(tools=[PING | {"strict": True, "defer_loading": True}, search, custom, AGENTS, nested])
    schema = json.dumps(SCHEMA).encode()
    assert request.tools == (
        Tool("ping", None, schema, True, extra=(("defer_loading", b"true"),)),
        Tool("web_search", kind="opaque"),
        Tool("p", kind="custom", extra=((
            "custom",
            b'{"name":"p","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"x"}}}'),)),
        Tool("agents__stop", "Helpers.\n\nStops one.", extra=(("namespace", b'"agents"'),)),
        Tool("agents__say", kind="custom", extra=(("custom", b'{"name":"agents__say"}'), ("namespace", b'"agents"'))),
        Tool("old", "d", schema),
    )  # fmt: skip
    assert [tool.source is not None for tool in request.tools] == [True, True, True, False, False, False]


CHOICES: dict[str, tuple[Any, ToolChoice, list[str]]] = {
    "none": ("none", ToolChoice("none"), []),
    "required": ("required", ToolChoice("required"), []),
    "a function": ({"type": "function", "name": "ping"}, ToolChoice("required", ("ping",), True), []),
    "the Chat API's form": (
        {"type": "function", "function": {"name": "ping"}}, ToolChoice("required", ("ping",), True), [],
    ),
    "a custom tool": ({"type": "custom", "name": "say"}, ToolChoice("required", ("agents__say",), True), []),
    "within a namespace": (
        {"type": "function", "namespace": "agents", "name": "stop"},
        ToolChoice("required", ("agents__stop",), True), [],
    ),
    "an allowed set": (
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "ping"}, {"type": "mcp"}]},
        ToolChoice("auto", ("ping",)), ["tool_choice (mcp)"],
    ),
    "an allowed set of hosted tools": (
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp", "server_label": "a"}]},
        ToolChoice("none"), ["tool_choice (mcp)"],
    ),
    "an allowed set of hosted tools, one of which must be used": (
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "mcp", "server_label": "a"}]},
        ToolChoice("required"), ["tool_choice (mcp)"],
    ),
    "a hosted tool": ({"type": "web_search_preview"}, ToolChoice("required"), ["tool_choice (web_search_preview)"]),
}  # fmt: skip


@each_row(("given", "choice", "foreign"), CHOICES.values(), ids=CHOICES)
def test_tool_choice(given: Any, choice: ToolChoice, foreign: list[str]) -> None:
    request = parsed(tools=[PING, AGENTS], tool_choice=given)
    assert (request.tool_choice, list(request.dialect_fields)) == (choice, foreign)


def test_settings() -> None:
    shape = {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True, "description": "d"}
    request = parsed(
        parallel_tool_calls=False, stream=True, max_output_tokens=64, temperature=0.5, top_p=0.9,
        text={"format": shape, "verbosity": "low"}, reasoning={"effort": "low", "summary": "auto"},
        include=["reasoning.encrypted_content"], store=False, prompt_cache_key="k", metadata={"a": "b"},
        previous_response_id=None,
    )  # fmt: skip
    assert (request.parallel_tool_calls, request.stream, request.max_tokens) == (False, True, 64)
    assert request.sampling == Sampling(0.5, 0.9)
    assert request.response_format == ResponseFormat("json_schema", "n", json.dumps(SCHEMA).encode(), True, "d")
    assert (request.reasoning_effort, request.reasoning_summary) == ("low", "auto")
    assert request.dialect_fields == ("metadata", "prompt_cache_key", "verbosity")
    assert request.fields is not None
    assert [name for name, _ in request.fields.members][:2] == ["model", "input"]


def test_an_effort_that_only_its_own_hosts_know_stays_in_their_api() -> None:
    request = parsed(reasoning={"effort": "frantic"})
    assert (request.reasoning_effort, request.dialect_fields) == (None, ("reasoning.effort",))


def test_defaults_ask_for_nothing() -> None:
    assert parsed(background=False, truncation="disabled", top_logprobs=0, text={}).dialect_fields == ()


REFUSED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "no model": ({"model": ""}, "model", "missing_required_parameter", "required"),
    "no input": ({"input": None}, "input", "missing_required_parameter", "required"),
    "an empty list": ({"input": []}, "input", "missing_required_parameter", "required"),
    "a wrong input": ({"input": 7}, "input", "invalid_type", "array"),
    "a role": ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role", "invalid_value", "'tool'"),
    "no content": ({"input": [{"role": "user"}]}, "input[0].content", "missing_required_parameter", "required"),
    "text without text": (
        {"input": [{"role": "user", "content": [{"type": "input_text"}]}]},
        "input[0].content[0].text", "missing_required_parameter", "required",
    ),
    "a call without an id": (
        {"input": [CALL | {"call_id": ""}]}, "input[0].call_id", "missing_required_parameter", "output names",
    ),
    "arguments that are an object": (
        {"input": [CALL | {"arguments": {}}]}, "input[0].arguments", "invalid_type", "not an object",
    ),
    "a result without an id": (
        {"input": [OUTPUT | {"call_id": ""}]}, "input[0].call_id", "missing_required_parameter", "answers",
    ),
    "a tool without a name": ({"tools": [{"type": "function"}]}, "tools[0].name", "missing_required_parameter", "name"),
    "parameters that are no object": (
        {"tools": [PING | {"parameters": [1]}]}, "tools[0].parameters", "invalid_function_parameters", "object",
    ),
    "a wrong root": (
        {"tools": [PING | {"parameters": {"type": "array"}}]},
        "tools[0].parameters.type", "invalid_function_parameters", '"array"',
    ),
    "a wrong choice": ({"tool_choice": "any"}, "tool_choice", "invalid_value", "'any'"),
    "an empty allowed set": (
        {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}, "tool_choice", "invalid_value", "one",
    ),
    "a format": ({"text": {"format": {"type": "xml"}}}, "text.format.type", "invalid_value", "'xml'"),
    "a format without a schema": (
        {"text": {"format": {"type": "json_schema", "name": "n"}}},
        "text.format.schema", "missing_required_parameter", "required",
    ),
    "an effort": ({"reasoning": {"effort": 5}}, "reasoning.effort", "invalid_type", "a string"),
    "a limit": ({"max_output_tokens": 0}, "max_output_tokens", "invalid_value", "not 0"),
    "a temperature": ({"temperature": 3}, "temperature", "invalid_value", "between 0 and 2"),
}  # fmt: skip


@each_row(("fields", "param", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str, code: str, words: str) -> None:
    with pytest.raises(RequestError) as refused:
        parsed(**fields)
    assert (refused.value.param, refused.value.code) == (param, code)
    assert words in refused.value.message
    assert f"`{param}" in refused.value.message


@each_row("null", [{}, {"said": None}])
@each_row(
    ("item", "member", "nothing"),
    [(CALL, "arguments", "{}"), (CUSTOM, "input", ""), (OUTPUT, "output", ""), (CUSTOM_OUTPUT, "output", "")],
)
@each_row("wire", ["openai_responses", "openai_chat", "anthropic_messages"])
def test_what_a_client_leaves_out_where_there_is_nothing_to_say(
    item: dict[str, Any], member: str, nothing: str, wire: str, null: dict[str, None]
) -> None:
    """Vercel's AI SDK sends calls without `arguments` and results without `output` (vercel/ai#14349)."""
    left_out = {name: value for name, value in item.items() if name != member} | dict.fromkeys(null and [member])
    calls = {call["call_id"]: call for call in (CALL, CUSTOM)}
    history = [left_out] if item in (CALL, CUSTOM) else [calls[item["call_id"]], left_out]
    whole = [{**entry, member: nothing} if entry is left_out else entry for entry in history]
    body = [json.dumps({"model": "m", "input": items}).encode() for items in (history, whole)]
    got, expected = (open_exchange(given, door="responses", wire=wire) for given in body)
    assert json.loads(got.upstream_request.body) == json.loads(expected.upstream_request.body)
    assert "request_form_changed" in got.attempt.warnings
    assert "request_form_changed" not in expected.attempt.warnings


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": "m", "input": "\xff"}', b"[" * 100_000])
def test_no_json_object(body: bytes) -> None:
    with pytest.raises(RequestError) as refused:
        parse_request(body)
    assert refused.value.code == "invalid_json"
