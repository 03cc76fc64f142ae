"""Histories that clients send and one provider or another refuses: each reaches every provider as it takes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import LANES, MODELS, send
from tests.corpus.driver import opened
from tests.named_rows import each_row
from toolwire.doors import load_door
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Target, Tenant
from toolwire.rewrite.history import GO_ON, NO_TEXT

WIRES = sorted(MODELS)
CLAUDES = [("anthropic_messages", ""), ("bedrock_converse", "anthropic.")]

USER = {"role": "user", "content": "x"}
SAID = {"role": "assistant", "content": "So far so good"}


def foreign(door: str) -> list[str]:
    return [wire for wire in WIRES if LANES.get(door) != wire]


# ---------------------------------------------------------------- reasoning alone

REASONING = {"type": "reasoning", "id": "rs_x", "summary": [], "encrypted_content": "gAAAopaque"}
TOLD = REASONING | {"summary": [{"type": "summary_text", "text": "Hm."}]}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": ""}
ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "responses": ("responses", {"input": [USER, REASONING, USER]}),
    "responses, with a summary": ("responses", {"input": [USER, TOLD, USER]}),
    "responses, at the end": ("responses", {"input": [USER, TOLD]}),
    "messages": (
        "messages", {"max_tokens": 99, "messages": [USER, {"role": "assistant", "content": [THINKING]}, USER]},
    ),
    "chat_completions": (
        "chat_completions",
        {"messages": [USER, {"role": "assistant", "content": "", "reasoning_content": "Hm."}, USER]},
    ),
}  # fmt: skip


@each_row("wire", WIRES)
@each_row("name", ALONE)
def test_a_turn_of_reasoning_alone_is_no_empty_message(name: str, wire: str) -> None:
    door, members = ALONE[name]
    if LANES[door] == wire:
        return
    found = send(door, wire, **members)
    assert set(found.roles) == {"user"}
    assert json.dumps(found.turns).count('"x"') == (1 if name.endswith("end") else 2)


@pytest.mark.parametrize("wire", foreign("chat_completions"))
def test_reasoning_that_is_left_out_with_its_turn_is_told(wire: str) -> None:
    assert send("chat_completions", wire, **ALONE["chat_completions"][1]).warnings == ["silent_turn_left_out"]


def test_a_history_in_which_nobody_speaks_is_still_a_request() -> None:
    for wire in foreign("chat_completions"):
        found = send("chat_completions", wire, messages=[{"role": "assistant", "content": ""}])
        assert found.roles == ["user"]
        assert NO_TEXT in json.dumps(found.turns)


# ---------------------------------------------------------------- thinking without its proof


@each_row("wire", foreign("messages"))
def test_redacted_thinking_is_state_that_claude_alone_is_sent(wire: str) -> None:
    turn = {
        "role": "assistant",
        "content": [{"type": "redacted_thinking", "data": "AAEC"}, {"type": "text", "text": "So"}],
    }
    found = send("messages", wire, max_tokens=99, messages=[USER, turn, USER])
    assert ("AAEC" in json.dumps(found.body)) == (wire == "bedrock_converse")
    assert found.warnings == []


UNPROVEN: list[dict[str, Any]] = [
    THINKING,
    {"type": "thinking", "thinking": "Hm."},
    {"type": "thinking", "thinking": "Hm.", "signature": None},
    {"type": "thinking", "thinking": None, "signature": ""},
]


@each_row("block", UNPROVEN, ids=map(json.dumps, UNPROVEN))
@each_row("wire", WIRES)
def test_thinking_without_its_proof_ends_no_session(wire: str, block: dict[str, Any]) -> None:
    use = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    answered = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]}
    history = [USER, {"role": "assistant", "content": [block, use]}, answered]
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    found = send("messages", wire, max_tokens=99, messages=history, tools=tools)
    assert '"thinking"' not in json.dumps(found.turns)
    assert '"f"' in json.dumps(found.turns)


@pytest.mark.parametrize(
    ("model", "base_url", "goes"),
    [
        ("anthropic", "http://127.0.0.1:9/anthropic", False),  # the demo's
        ("my-deployment", "https://mine.services.ai.azure.com/anthropic", False),
        ("deepseek-chat", "https://api.deepseek.com/anthropic", True),  # signs nothing, and wants its own back
    ],
)
def test_who_signs_thinking_goes_by_the_host_too(model: str, base_url: str, goes: bool) -> None:
    target = Target(ProviderConfig("p", "anthropic_messages", base_url, "none"), model)
    said = {"role": "assistant", "content": [THINKING, {"type": "text", "text": "y"}]}
    body = json.dumps({"model": "m", "max_tokens": 99, "messages": [USER, said, USER]}).encode()
    exchange = opened(load_door("messages"), body, target, Tenant())
    assert (b'"thinking"' in exchange.upstream_request.body) == goes


# ---------------------------------------------------------------- what no call has asked for

ASKED = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
ANSWERED = {"type": "function_call_output", "call_id": "call_1", "output": "r"}
UNASKED: dict[str, tuple[dict[str, Any], str]] = {
    "as Codex tells a goal": ({"name": "goal_objective", "namespace": "agent"}, "`agent__goal_objective`"),
    "without a namespace": ({"name": "send_message_to_thread"}, "`send_message_to_thread`"),
    "without a name": ({"call_id": None}, "a tool"),
}


@each_row("wire", WIRES)
@each_row("name", UNASKED)
@each_row("place", [1, 2, 3], ids=["first", "before a result", "last"])
def test_an_output_that_no_call_asked_for_ends_no_session(place: int, name: str, wire: str) -> None:
    named, tool = UNASKED[name]
    item = {"type": "function_call_output", "output": "Vanda", **named}
    history = [USER, ASKED, ANSWERED]
    history.insert(place, item)
    found = send("responses", wire, input=history, tools=[{"type": "function", "name": "f"}])
    if wire == LANES["responses"]:
        assert found.turns == history
        found = send("responses", wire, profile="compatible", input=history, tools=[{"type": "function", "name": "f"}])
        assert all(turn.get("call_id") == "call_1" for turn in found.turns if "role" not in turn)
    said = json.dumps(found.turns)
    assert said.count("Vanda") == 1
    assert f"Output of the tool {tool}".replace("the tool a tool", "a tool") in said
    assert "tool_result_missing" not in found.warnings


# ---------------------------------------------------------------- what another host's tools have left

MCP = {
    "type": "mcp_call",
    "id": "mcp_1",
    "server_label": "s",
    "name": "look",
    "arguments": '{"a":1.10}',
    "output": "Vanda",
}
#: Items of OpenAI's -> what of them is told elsewhere.
LEFT: dict[str, tuple[dict[str, Any], str]] = {
    "mcp_call": (MCP, "Vanda"),
    "mcp_call that failed": (MCP | {"output": None, "error": "no Vanda"}, "no Vanda"),
    "mcp_list_tools": ({"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": []}, ""),
    "mcp_approval_request": ({"type": "mcp_approval_request", "id": "m", "name": "n", "arguments": "{}"}, ""),
    "mcp_approval_response": ({"type": "mcp_approval_response", "approval_request_id": "m", "approve": True}, ""),
    "image_generation_call": ({"type": "image_generation_call", "id": "ig_1", "result": "iVBORw0KGgo="}, ""),
    "program": ({"type": "program", "id": "p", "call_id": "c", "code": "1", "fingerprint": "f"}, ""),
}


@each_row("wire", WIRES)
@each_row("name", LEFT)
def test_what_a_hosts_own_tools_have_left_ends_no_session(name: str, wire: str) -> None:
    item, told = LEFT[name]
    history = [USER, item, {"role": "assistant", "content": "So it is"}, USER]
    found = send("responses", wire, input=history, tools=[{"type": "function", "name": "f"}])
    if wire == LANES["responses"]:
        assert (found.turns, found.warnings) == (history, [])
        return
    said = json.dumps(found.turns)
    assert told in said
    assert "So it is" in said
    assert ("not_supported:server_tools" in found.warnings) == (not told)
    assert "tool_result_missing" not in found.warnings


@each_row("wire", WIRES)
@each_row("kind", ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"])
def test_what_googles_own_tools_have_left_ends_no_session(kind: str, wire: str) -> None:
    left = {kind: {"id": "1"}}
    asked = {"role": "user", "parts": [{"text": "x"}]}
    history = [asked, {"role": "model", "parts": [left, {"text": "So it is"}]}, asked]
    found = send("gemini", wire, contents=history)
    if wire == LANES["gemini"]:
        assert (found.turns, found.warnings) == (history, [])
        return
    history[1] = {"role": "model", "parts": [{"text": "So it is"}]}
    assert found.body == send("gemini", wire, contents=history).body
    assert found.warnings == ["not_supported:server_tools"]


#: What a model's turn may hold that no other API has a word for, by the door: the part, and its kind.
UNHEARD_OF: dict[str, list[tuple[dict[str, Any], str]]] = {
    "messages": [
        ({"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": {}}, "advisor_tool_result"),
        ({"type": "container_upload", "file_id": "file_1"}, "container_upload"),
        ({"type": "tool_reference", "tool_name": "f"}, "tool_reference"),
        ({"type": "from_next_year", "x": 1}, "from_next_year"),
    ],
    "chat_completions": [({"type": "from_next_year", "x": 1}, "from_next_year")],
    "gemini": [({"fromNextYear": {"x": 1}}, "fromNextYear")],
    "responses": [({"type": "from_next_year", "id": "x_1", "status": "completed"}, "from_next_year")],
}


def _with_part(door: str, part: dict[str, Any], role: str) -> dict[str, Any]:
    """A history with a turn of this role that has the part beside its text."""
    if door == "gemini":
        told = {"role": "model" if role == "assistant" else role, "parts": [part, {"text": "So it is"}]}
        return {
            "contents": [{"role": "user", "parts": [{"text": "x"}]}, told, {"role": "user", "parts": [{"text": "y"}]}]
        }
    said = {"type": "text", "text": "So it is"}
    if door == "responses":
        return {"input": [USER, part, {"role": "assistant", "content": "So it is"}, USER]}
    limit = {"max_tokens": 99} if door == "messages" else {}
    return {"messages": [USER, {"role": role, "content": [part, said]}, USER], **limit}


@each_row("wire", WIRES)
@each_row(
    ("door", "part", "kind"),
    [(door, part, kind) for door, parts in UNHEARD_OF.items() for part, kind in parts],
)
def test_what_a_model_has_told_in_no_words_of_ours_ends_no_session(
    door: str, part: dict[str, Any], kind: str, wire: str
) -> None:
    found = send(door, wire, **_with_part(door, part, "assistant"))
    if wire == LANES[door]:
        assert kind in json.dumps(found.body)
        assert found.warnings == []
        return
    assert kind not in json.dumps(found.body)
    assert "So it is" in json.dumps(found.turns)
    assert found.warnings == [f"unknown_field:{kind}"]


@each_row(("door", "part"), [(door, parts[-1][0]) for door, parts in UNHEARD_OF.items() if door != "responses"])
def test_what_a_user_has_told_is_never_left_out(door: str, part: dict[str, Any]) -> None:
    wire = "openai_responses" if door == "chat_completions" else "openai_chat"
    with pytest.raises(RequestError) as refused:
        send(door, wire, **_with_part(door, part, "user"))
    assert refused.value.code == "unsupported_content"


def test_an_item_that_is_no_output_is_never_left_out() -> None:
    with pytest.raises(RequestError, match="from_next_year"):
        send("responses", "openai_chat", input=[USER, {"type": "from_next_year", "id": "x_1"}, USER])


@pytest.mark.parametrize("wire", WIRES)
def test_a_prompt_that_another_host_has_cached_is_not_left_out(wire: str) -> None:
    members: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [{"text": "x"}]}],
        "cachedContent": "cachedContents/1",
    }
    if wire == LANES["gemini"]:
        assert send("gemini", wire, **members).body["cachedContent"] == "cachedContents/1"
        return
    with pytest.raises(RequestError, match="what the cache holds") as refused:
        send("gemini", wire, **members)
    assert (refused.value.param, refused.value.code) == ("cachedContent", "unsupported_parameter")


# ---------------------------------------------------------------- who pays

WHO_PAYS = "x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee5;"
BRIEF = {"type": "text", "text": "Be brief."}
BILLED: list[Any] = [
    [{"type": "text", "text": WHO_PAYS}, BRIEF],
    f"{WHO_PAYS}\nBe brief.",
    [{"type": "text", "text": WHO_PAYS}],
]


@each_row("wire", WIRES)
@each_row("system", BILLED)
def test_a_line_about_who_pays_goes_to_its_own_host_alone(system: Any, wire: str) -> None:
    """It is another one in every request: at any other host nothing behind it would ever be found in a cache."""
    found = send("messages", wire, max_tokens=99, system=system, messages=[USER])
    if wire == LANES["messages"]:
        assert (found.body["system"], found.warnings) == (system, [])
        return
    without: Any = [BRIEF] if "brief" in str(system) else None
    assert found.body == send("messages", wire, max_tokens=99, system=without, messages=[USER]).body
    assert found.warnings == ["ignored:x-anthropic-billing-header"]


@pytest.mark.parametrize("system", [*BILLED, [{"type": "text", "text": f"{WHO_PAYS}\nBe brief."}]])
def test_it_does_not_go_to_others_that_speak_anthropics_api(system: Any) -> None:
    found = send("messages", LANES["messages"], model="deepseek-chat", max_tokens=99, system=system, messages=[USER])
    brief = "Be brief." if isinstance(system, str) else [BRIEF]
    assert found.body.get("system") == (brief if "brief" in str(system) else None)
    assert found.warnings == ["ignored:x-anthropic-billing-header"]
    plain = send("messages", LANES["messages"], model="deepseek-chat", max_tokens=99, system=brief, messages=[USER])
    assert (plain.body["system"], plain.warnings) == (brief, [])


@pytest.mark.parametrize("wire", foreign("messages"))
def test_a_summary_of_anthropics_is_text_elsewhere(wire: str) -> None:
    said = {"role": "assistant", "content": [{"type": "compaction", "content": "Vanda grew."}, {"type": "fallback"}]}
    found = send("messages", wire, max_tokens=99, messages=[USER, said, USER], container="c_1")
    assert "Vanda grew." in json.dumps(found.turns)
    assert "ignored:container" in found.warnings


# ---------------------------------------------------------------- arguments that are no object


@each_row("wire", foreign("messages"))
@each_row(
    ("given", "told"), [('{"a":1}', "a"), ("{", "_raw_arguments"), ("", ""), (None, ""), ([1], "_raw_arguments")],
    ids=json.dumps,
)  # fmt: skip
def test_an_input_that_is_no_object_ends_no_session(given: Any, told: str, wire: str) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": given}
    answered = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "r"}]}
    history = [USER, {"role": "assistant", "content": [use]}, answered]
    found = send("messages", wire, max_tokens=99, messages=history, tools=[{"name": "f", "input_schema": {}}])
    assert found.roles[:2] == ["user", "assistant"] or wire.startswith("openai")
    if wire not in LANES.values():
        assert told in json.dumps(found.turns)


# ---------------------------------------------------------------- who begins, who ends

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
BEGINS_WITH_A_CALL = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "r"},
]


@pytest.mark.parametrize("wire", ["anthropic_messages", "bedrock_converse", "gemini"])
@pytest.mark.parametrize("history", [BEGINS_WITH_A_CALL, [SAID, USER]], ids=["a call", "a text"])
def test_a_history_may_open_with_the_assistant(history: list[Any], wire: str) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    found = send("chat_completions", wire, messages=history, tools=tools)
    assert found.roles == ["user", "assistant", "user"]
    assert NO_TEXT in json.dumps(found.turns[0])
    assert "empty_message" in found.warnings


def ending(door: str) -> dict[str, Any]:
    return {"input" if door == "responses" else "messages": [USER, SAID]}


@each_row("door", ["chat_completions", "responses", "native"])
@each_row(("wire", "prefix"), CLAUDES)
@each_row("model", ["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-8", "claude-sonnet-5-5"])
def test_models_that_do_not_go_on_with_their_own_text(model: str, wire: str, prefix: str, door: str) -> None:
    found = send(door, wire, model=prefix + model, **ending(door))
    assert found.roles == ["user", "assistant", "user"]
    assert GO_ON in json.dumps(found.turns[-1])
    assert found.warnings == ["user_turn_added"]


@pytest.mark.parametrize(("wire", "prefix"), CLAUDES)
def test_models_that_do_are_left_to_it(wire: str, prefix: str) -> None:
    model = prefix + "claude-sonnet-4-5"
    found = send("chat_completions", wire, model=model, messages=[USER, SAID])
    assert (found.roles[-1], found.warnings) == ("assistant", [])
    thinks = send("chat_completions", wire, model=model, reasoning_effort="high", messages=[USER, SAID])
    assert thinks.roles[-1] == "user"  # beside thinking they refuse it


@pytest.mark.parametrize("door", ["chat_completions", "responses", "native"])
@pytest.mark.parametrize(("wire", "prefix"), CLAUDES)
def test_the_text_that_claude_goes_on_with_ends_without_white_space(wire: str, prefix: str, door: str) -> None:
    history = [USER, {"role": "assistant", "content": "Sure:\n\n "}]
    members: dict[str, Any] = {"input" if door == "responses" else "messages": history}
    found = send(door, wire, model=prefix + "claude-sonnet-4-5", **members)
    assert found.turns[-1]["content"][-1]["text"] == "Sure:"
    assert found.warnings == ["last_turn_trimmed"]


@each_row("door", ["chat_completions", "responses", "messages"])
@each_row(
    ("model", "goes_on"),
    [
        ("gemini-2.5-flash", True),
        ("gemini-3-flash-preview", True),
        ("gemini-3.1-pro-preview", True),
        ("gemini-3.5-flash", False),
        ("gemini-3.8-flash", False),
        ("gemini-4-argon", False),
        ("gemini-flash-latest", False),
    ],
)
def test_which_of_googles_models_go_on_with_their_own_text(model: str, goes_on: bool, door: str) -> None:
    members = ending(door) | ({"max_tokens": 99} if door == "messages" else {})
    found = send(door, "gemini", model=model, **members)
    assert found.roles == ["user", "assistant", *([] if goes_on else ["user"])]
    assert found.warnings == ([] if goes_on else ["user_turn_added"])


def test_mistral_wants_a_user_last_and_decides_itself_in_its_lane() -> None:
    found = send("responses", "openai_chat", profile="mistral", input=[USER, SAID])
    assert (found.roles[-1], found.warnings) == ("user", ["user_turn_added"])
    assert send("chat_completions", "openai_chat", profile="mistral", messages=[USER, SAID]).roles[-1] == "assistant"


def test_system_text_in_the_middle_is_told_where_it_goes_to_the_user() -> None:
    history = [USER, {"role": "system", "content": "S"}, USER]
    for wire in ("gemini", "bedrock_converse"):
        assert send("chat_completions", wire, messages=history).warnings == ["system_message_in_user_turn"]


# ---------------------------------------------------------------- results

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


def calling(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [CALL | {"id": id} for id in ids]}


def answered(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


@pytest.mark.parametrize("wire", WIRES)
def test_results_of_one_tool_out_of_order_stay_with_their_calls(wire: str) -> None:
    """Google tells them apart by their order alone."""
    history = [USER, calling("call_a", "call_b"), answered("call_b", "of b"), USER, answered("call_a", "of a")]
    told = json.dumps(send("chat_completions", wire, messages=history, tools=TOOLS).turns)
    assert told.count("of a") == told.count("of b") == 1
    if wire == "gemini":
        assert told.index("of a") < told.index("of b")
    else:
        for id in ("a", "b"):
            near = told[told.index(f"of {id}") - 120 : told.index(f"of {id}") + 120]
            assert f"call_{id}" in near


@pytest.mark.parametrize("wire", foreign("chat_completions"))
def test_a_second_result_of_a_call_is_refused_by_its_place(wire: str) -> None:
    with pytest.raises(RequestError) as refused:
        send(
            "chat_completions",
            wire,
            messages=[USER, calling("call_a"), answered("call_a", "1"), answered("call_a", "2")],
        )
    assert (refused.value.code, refused.value.param) == ("duplicate_tool_result", "messages[3].tool_call_id")


@pytest.mark.parametrize("wire", WIRES)
def test_an_id_that_is_used_again_keeps_both_pairs(wire: str) -> None:
    turns = [calling("call_a"), answered("call_a", "first"), USER, calling("call_a"), answered("call_a", "second")]
    told = json.dumps(send("chat_completions", wire, messages=[USER, *turns], tools=TOOLS).turns)
    assert 0 < told.index("first") < told.index("second")
    if wire in ("anthropic_messages", "openai_responses", "bedrock_converse"):
        assert told.count('"call_a"') == 2  # the later pair has an id of its own
