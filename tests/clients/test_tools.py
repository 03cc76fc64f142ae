"""Tools that only one API has words for: what the client runs is a function elsewhere, what a host runs is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import LANES, MODELS, send
from tests.corpus import driver
from tests.named_rows import each_row
from toolwire.model.errors import RequestError

USER = {"role": "user", "content": "x"}
READ = {"name": "read_file", "description": "Reads a file", "input_schema": {"type": "object"}}
SCREEN = {"name": "computer", "display_width_px": 1280, "display_height_px": 800}
FOREIGN = sorted(set(MODELS) - {LANES["messages"]})

EDITOR = {"command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range"}
MOUSE = {"action", "coordinate", "text"}
SCROLLS = MOUSE | {"start_coordinate", "scroll_direction", "scroll_amount", "duration"}

#: Type -> (declaration, name, inputs, a word of its command that tells the version).
TYPED: dict[str, tuple[dict[str, Any], set[str], tuple[str, bool]]] = {
    "bash_20241022": ({"name": "bash"}, {"command", "restart"}, ("", True)),
    "bash_20250124": ({"name": "bash"}, {"command", "restart"}, ("", True)),
    "text_editor_20241022": ({"name": "str_replace_editor"}, EDITOR, ("undo_edit", True)),
    "text_editor_20250124": ({"name": "str_replace_editor"}, EDITOR, ("undo_edit", True)),
    "text_editor_20250429": ({"name": "str_replace_based_edit_tool"}, EDITOR, ("undo_edit", False)),
    "text_editor_20250728": (
        {"name": "str_replace_based_edit_tool", "max_characters": 9}, EDITOR | {"insert_text"}, ("undo_edit", False),
    ),
    "memory_20250818": (
        {"name": "memory"}, EDITOR | {"insert_text", "old_path", "new_path"}, ("rename", True),
    ),
    "computer_20241022": (SCREEN, MOUSE, ("scroll", False)),
    "computer_20250124": (SCREEN, SCROLLS, ("zoom", False)),
    "computer_20251124": (SCREEN | {"enable_zoom": True}, SCROLLS | {"region"}, ("zoom", True)),
    "bash_20991231": ({"name": "bash"}, {"command", "restart"}, ("", True)),
}  # fmt: skip


@each_row("wire", FOREIGN)
@each_row("kind", TYPED)
def test_typed_client_tools_are_functions_elsewhere(kind: str, wire: str) -> None:
    declared, inputs, (word, known) = TYPED[kind]
    found = send("messages", wire, max_tokens=99, messages=[USER], tools=[READ, {"type": kind, **declared}])
    schema = found.tools[declared["name"]]
    assert list(found.tools) == ["read_file", declared["name"]]
    assert set(schema["properties"]) == inputs
    assert (word in json.dumps(schema)) == known
    assert "not_supported:server_tools" not in found.warnings
    if "display_width_px" in declared:
        assert "1280 pixels wide" in json.dumps(found.body)


def test_without_its_zoom_a_computer_has_none() -> None:
    tool = {"type": "computer_20251124", **SCREEN}
    found = send("messages", "openai_chat", max_tokens=99, messages=[USER], tools=[tool])
    assert "zoom" not in json.dumps(found.tools)


@each_row("kind", TYPED)
def test_typed_client_tools_are_the_clients_own_bytes_at_anthropic(kind: str) -> None:
    tools = [READ, {"type": kind, **TYPED[kind][0], "cache_control": {"type": "ephemeral"}}]
    found = send("messages", "anthropic_messages", max_tokens=99, messages=[USER], tools=tools)
    assert (found.body["tools"], found.warnings) == (tools, [])


def test_a_typed_client_tool_can_be_forced() -> None:
    choice = {"type": "tool", "name": "bash"}
    tools = [{"type": "bash_20250124", "name": "bash"}]
    found = send("messages", "openai_chat", max_tokens=99, messages=[USER], tools=tools, tool_choice=choice)
    assert found.body["tool_choice"] == {"type": "function", "function": {"name": "bash"}}


@pytest.mark.parametrize("stream", [True, False])
def test_its_calls_come_back_by_its_name(stream: bool) -> None:
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "bash", "arguments": '{"command":"ls"}'},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", ("delta" if stream else "message"): message}
    answer = json.dumps({"id": "x", "model": "m", "created": 1, "choices": [choice]}).encode()
    members = {"max_tokens": 99, "messages": [USER], "tools": [{"type": "bash_20250124", "name": "bash"}]}
    exchange = driver.open_exchange(json.dumps({"model": "m", "stream": stream, **members}).encode(), door="messages")
    body = b"data: " + answer + b"\n\ndata: [DONE]\n\n" if stream else answer
    kind = "text/event-stream" if stream else "application/json"
    said = driver.answer(exchange, [body], content_type=kind).body.decode()
    assert '"type":"tool_use"' in said
    assert '"name":"bash"' in said
    assert json.dumps('{"command":"ls"}') in said if stream else '{"command":"ls"}' in said


# ---------------------------------------------------------------- what a host runs

ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "messages": ("messages", {"type": "web_search_20250305", "name": "web_search"}),
    "responses": ("responses", {"type": "web_search"}),
    "code execution": ("messages", {"type": "code_execution_20250825", "name": "code_execution"}),
    "a toolset": ("messages", {"type": "computer_toolset_20260801"}),
}


def asking(door: str, tools: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    history = "input" if door == "responses" else "messages"
    limit = {"max_tokens": 99} if door == "messages" else {}
    return {history: [USER], "tools": tools, **limit, **more}


@each_row("wire", sorted(MODELS))
@each_row("name", ALONE)
def test_a_server_tool_alone_is_refused_elsewhere(name: str, wire: str) -> None:
    door, tool = ALONE[name]
    if LANES[door] == wire:
        assert send(door, wire, **asking(door, [tool])).body["tools"] == [tool]
        return
    with pytest.raises(RequestError) as refused:
        send(door, wire, **asking(door, [tool]))
    assert (refused.value.code, refused.value.param) == ("unsupported_tool", "tools[0]")
    assert str(tool.get("name", tool["type"])) in refused.value.message


@pytest.mark.parametrize("wire", FOREIGN)
def test_beside_others_it_is_left_out_and_told_and_a_toolset_is_refused(wire: str) -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    found = send("messages", wire, **asking("messages", [search, READ]))
    assert (list(found.tools), found.warnings) == (["read_file"], ["not_supported:server_tools"])
    with pytest.raises(RequestError) as refused:
        send("messages", wire, **asking("messages", [READ, {"type": "computer_toolset_20260801"}]))
    assert refused.value.param == "tools[1]"


def test_what_may_not_be_called_anyway_is_no_reason_to_refuse() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    found = send("messages", "openai_chat", **asking("messages", [search], tool_choice={"type": "none"}))
    assert "tools" not in found.body
    assert found.warnings == ["not_supported:server_tools"]


@pytest.mark.parametrize("wire", FOREIGN)
def test_what_anthropics_own_tools_have_left_ends_no_session(wire: str) -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    said = {"role": "assistant", "content": [use, result, {"type": "text", "text": "It is sunny."}]}
    found = send("messages", wire, max_tokens=99, messages=[USER, said, USER])
    assert found.roles == ["user", "assistant", "user"]
    assert "It is sunny." in json.dumps(found.turns)
    assert found.warnings == ["not_supported:server_tools"]


# ---------------------------------------------------------------- deferred tools

SEARCH = {"name": "ToolSearch", "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}}}
DEFERRED = [
    {"name": name, "input_schema": {"type": "object"}, "defer_loading": True} for name in ("mcp__a", "mcp__b", "mcp__c")
]


def found_by_search(*names: str) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "toolu_1", "name": "ToolSearch", "input": {"query": "q"}}
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": references}
    return [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("wire", FOREIGN)
def test_a_search_for_tools_is_a_call_whose_result_names_them(wire: str) -> None:
    history = found_by_search("mcp__b", "gone")
    found = send("messages", wire, max_tokens=99, messages=history, tools=[READ, SEARCH, *DEFERRED])
    assert list(found.tools) == ["read_file", "ToolSearch", "mcp__b"]
    told = json.dumps(found.turns)
    assert "The tool `mcp__b` can be called now." in told
    assert "The tool `gone` can be called now." in told


def test_at_anthropic_references_and_deferred_tools_are_the_clients_own() -> None:
    history, tools = found_by_search("mcp__b"), [READ, SEARCH, *DEFERRED]
    found = send("messages", "anthropic_messages", max_tokens=99, messages=history, tools=tools)
    assert (found.body["messages"], found.body["tools"]) == (history, tools)


#: What is sent where nothing was found.
NOTHING_FOUND: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[str]]] = {
    "nothing yet": ([SEARCH, *DEFERRED], {}, ["ToolSearch"]),
    "called before": (
        [SEARCH, *DEFERRED],
        {
            "messages": [
                USER,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "mcp__c", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r"}]},
            ]
        },
        ["ToolSearch", "mcp__c"],
    ),
    "chosen": ([SEARCH, *DEFERRED], {"tool_choice": {"type": "tool", "name": "mcp__a"}}, ["ToolSearch", "mcp__a"]),
    "nothing else": (DEFERRED, {}, ["mcp__a", "mcp__b", "mcp__c"]),
    "a search that Anthropic runs": (
        [{"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}, *DEFERRED],
        {},
        ["mcp__a", "mcp__b", "mcp__c"],
    ),
}


@each_row("wire", FOREIGN)
@each_row("name", NOTHING_FOUND)
def test_deferred_tools_wait_for_a_search_that_can_find_them(name: str, wire: str) -> None:
    tools, members, expected = NOTHING_FOUND[name]
    asked: dict[str, Any] = {"max_tokens": 99, "messages": [USER], "tools": tools, **members}
    found = send("messages", wire, **asked)
    assert sorted(found.tools) == sorted(expected)
