"""Chat requests in forms that no Chat API documents and real clients send: every provider gets what they mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import LANES, MODELS, send
from tests.named_rows import each_row
from toolwire.model.errors import RequestError

WIRES = sorted(MODELS)
FOREIGN = sorted(set(MODELS) - {LANES["chat_completions"]})
LANE = LANES["chat_completions"]

USER = {"role": "user", "content": "x"}
FUNCTION = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
TOOL = {"type": "function", "function": FUNCTION}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a":1.10}'}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def calls(*made: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


def with_arguments(arguments: Any) -> dict[str, Any]:
    return CALL | {"function": {"name": "f", "arguments": arguments}}


def result(content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "call_1", "content": content}


USE = {"type": "tool_use", "id": "call_1", "name": "f", "input": {"a": 1}}
ANSWER = {"type": "tool_result", "tool_use_id": "call_1", "content": "r"}
TEXT = {"type": "text", "text": "y"}

#: What a client sends -> the documented messages that it means.
MESSAGES: dict[str, tuple[list[Any], list[Any]]] = {
    "null": ([{"role": "user", "content": None}], [{"role": "user", "content": ""}]),
    "no parts": ([{"role": "user", "content": []}], [{"role": "user", "content": ""}]),
    "system null": ([{"role": "system", "content": None}, USER], [{"role": "system", "content": ""}, USER]),
    "strings": ([user("a", "b")], [user({"type": "text", "text": "a"}, {"type": "text", "text": "b"})]),
    "a part alone": ([{"role": "user", "content": TEXT}], [user(TEXT)]),
    "a part without its type": ([user({"text": "y"})], [user(TEXT)]),
    "a text that is null": ([user({"type": "text", "text": None}, TEXT)], [user(TEXT)]),
    "a result that is null": ([USER, ASKED, result(None)], [USER, ASKED, result("")]),
    "a result without parts": ([USER, ASKED, result([])], [USER, ASKED, result("")]),
    "a result that is an object": ([USER, ASKED, result({"k": 1})], [USER, ASKED, result('{"k": 1}')]),
    "a result that is a number": ([USER, ASKED, result(5)], [USER, ASKED, result("5")]),
    "a result of strings": ([USER, ASKED, result(["r"])], [USER, ASKED, result([{"type": "text", "text": "r"}])]),
    "a result of values": ([USER, ASKED, result([1, {"k": 1}])], [USER, ASKED, result('[1, {"k": 1}]')]),
    "arguments that are null": ([USER, calls(with_arguments(None)), result("r")],
                                [USER, calls(with_arguments("{}")), result("r")]),
    "calls as a text": ([USER, {"role": "assistant", "tool_calls": json.dumps([CALL])}, result("r")],
                        [USER, {"role": "assistant", "tool_calls": [CALL]}, result("r")]),
    "a call of LangChain's": (
        [USER, calls({"name": "f", "args": {"a": 1}, "id": "call_1", "type": "tool_call"}), result("r")],
        [USER, calls(with_arguments('{"a": 1}')), result("r")],
    ),
    "Anthropic's blocks": (
        [USER, {"role": "assistant", "content": [TEXT, USE]}, user(ANSWER, TEXT)],
        [
            USER,
            {"role": "assistant", "content": [TEXT],
             "tool_calls": [CALL | {"function": {"name": "f", "arguments": '{"a": 1}'}}]},
            result("r"),
            user(TEXT),
        ],
    ),
    "a call in both places": (
        [USER, {"role": "assistant", "content": [USE], "tool_calls": [CALL]}, user(ANSWER)], [USER, ASKED, result("r")],
    ),
    "a result that failed": (
        [USER, {"role": "assistant", "content": [USE], "tool_calls": [CALL]}, user(ANSWER | {"is_error": True})],
        [USER, ASKED, result([{"type": "text", "text": "Error: "}, {"type": "text", "text": "r"}])],
    ),
}  # fmt: skip


@each_row("wire", WIRES)
@each_row("name", MESSAGES)
def test_messages_are_read_as_what_they_mean(name: str, wire: str) -> None:
    given, meant = MESSAGES[name]
    found = send("chat_completions", wire, messages=given, tools=[TOOL])
    documented = send("chat_completions", wire, messages=meant, tools=[TOOL])
    assert found.turns == documented.turns
    assert found.warnings == ["request_form_changed", *documented.warnings]


TOOLS: dict[str, dict[str, Any]] = {
    "Anthropic's": {"name": "f", "description": "d", "input_schema": FUNCTION["parameters"]},
    "Anthropic's, of its type": {"type": "custom", "name": "f", "input_schema": FUNCTION["parameters"]},
    "an MCP server's": {"name": "f", "description": "d", "inputSchema": FUNCTION["parameters"]},
    "the Responses API's": {"type": "function", **FUNCTION},
    "a function without its type": {"function": FUNCTION},
}


@each_row("wire", WIRES)
@each_row("name", TOOLS)
def test_tools_of_other_apis_are_functions(name: str, wire: str) -> None:
    found = send("chat_completions", wire, messages=[USER], tools=[TOOLS[name]])
    assert list(found.tools) == ["f"]
    assert "a" in found.tools["f"]["properties"]
    assert "request_form_changed" in found.warnings


@each_row("wire", WIRES)
@each_row("choice", ["any", {"type": "any"}, {"type": "auto"}, {"type": "none"}, ""], ids=json.dumps)
def test_other_words_for_a_choice_are_understood(choice: Any, wire: str) -> None:
    word = choice["type"] if isinstance(choice, dict) else choice
    meant = {"any": "required", "": None}.get(word, word)
    found = send("chat_completions", wire, messages=[USER], tools=[TOOL], tool_choice=choice)
    assert found.body == send("chat_completions", wire, messages=[USER], tools=[TOOL], tool_choice=meant).body


@each_row("wire", WIRES)
@each_row(("parameters", "names"), [([], []), ('{"type":"object","properties":{"a":{}}}', ["a"])], ids=["PHP", "twice"])
def test_parameters_that_lost_their_form(parameters: Any, names: list[str], wire: str) -> None:
    function = {"name": "f", "parameters": parameters}
    if wire == LANE:  # its host decides
        return
    found = send("chat_completions", wire, messages=[USER], tools=[{"type": "function", "function": function}])
    assert list((found.tools["f"] or {}).get("properties", {})) == names


def test_what_means_nothing_is_refused_in_the_clients_own_words() -> None:
    for content, param in ((5, "messages[0].content"), ([5], "messages[0].content[0]")):
        with pytest.raises(RequestError) as refused:
            send("chat_completions", LANE, messages=[{"role": "user", "content": content}])
        assert refused.value.param == param


RESPONSES_INPUT: dict[str, Any] = {
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a":1.10}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "r"},
    ],
    "instructions": "Be brief.",
    "max_output_tokens": 99,
    "tools": [{"type": "function", **FUNCTION}],
}


@pytest.mark.parametrize("wire", FOREIGN)
def test_the_input_of_the_responses_api_is_messages(wire: str) -> None:
    found = send("chat_completions", wire, **RESPONSES_INPUT)
    system = {"role": "system", "content": "Be brief."}
    said = user({"type": "text", "text": "x"})
    asked = {key: value for key, value in ASKED.items() if key != "content"}
    meant = send(
        "chat_completions", wire, messages=[system, said, asked, result("r")], tools=[TOOL], max_completion_tokens=99
    )
    assert found.body == meant.body


def test_text_alone_is_no_modality_that_another_api_lacks() -> None:
    assert send("chat_completions", "gemini", messages=[USER], modalities=["text"]).warnings == []


# ---------------------------------------------------------------- parts of other APIs

#: What is sent -> what of it arrives.
PARTS: dict[str, tuple[dict[str, Any], str]] = {
    "a text of the Responses API": ({"type": "input_text", "text": "Hello"}, "Hello"),
    "an image of the Responses API": ({"type": "input_image", "image_url": PIXEL}, "iVBORw0KGgo="),
    "an image by a string": ({"type": "image_url", "image_url": PIXEL}, "iVBORw0KGgo="),
    "Anthropic's image": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        "iVBORw0KGgo=",
    ),
    "an MCP image": ({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}, "iVBORw0KGgo="),
    "an MCP resource": ({"type": "resource", "resource": {"uri": "file:///a", "text": "Hello"}}, "Hello"),
    "an MCP link": ({"type": "resource_link", "uri": "file:///a", "name": "A"}, "A: file:///a"),
}


@each_row("wire", FOREIGN)
@each_row("place", ["a message", "a result"])
@each_row("name", PARTS)
def test_parts_of_other_apis_arrive(name: str, place: str, wire: str) -> None:
    part, told = PARTS[name]
    history = [user(TEXT, part)] if place == "a message" else [USER, ASKED, result([TEXT, part])]
    assert told in json.dumps(send("chat_completions", wire, messages=history, tools=[TOOL]).turns)


@pytest.mark.parametrize("name", PARTS)
def test_a_chat_host_gets_them_as_they_are(name: str) -> None:
    found = send("chat_completions", LANE, messages=[user(TEXT, PARTS[name][0])])
    assert (found.turns, found.warnings) == ([user(TEXT, PARTS[name][0])], [])


REASONING = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
    {"type": "reasoning", "text": "Hm."},
]


@each_row("wire", WIRES)
@each_row("part", REASONING, ids=json.dumps)
def test_reasoning_among_the_text_stays_at_hosts_of_the_api(part: dict[str, Any], wire: str) -> None:
    said = {"role": "assistant", "content": [part, TEXT]}
    found = send("chat_completions", wire, messages=[USER, said, USER])
    if wire == LANE:
        assert found.turns[1] == said
        return
    assert "Hm." not in json.dumps(found.turns)
    assert found.roles == ["user", "assistant", "user"]
