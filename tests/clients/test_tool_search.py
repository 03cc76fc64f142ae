"""Codex's own search for deferred tools: its call and what it has found, at OpenAI as they are, elsewhere as a
function, and the other way round."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.sending import MODELS, send
from tests.corpus import driver
from tests.named_rows import each_row

USER = {"role": "user", "content": "x"}
SEARCH = {
    "type": "tool_search",
    "execution": "client",
    "description": "Finds tools.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "number"}}},
}
LISTED = {"type": "function", "name": "list_rows", "description": "L", "strict": False, "defer_loading": True,
          "parameters": {"type": "object", "properties": {}}}  # fmt: skip
FOUND = [{"type": "namespace", "name": "mcp__db__", "description": "D", "tools": [LISTED]}]
CALL = {"type": "tool_search_call", "call_id": "call_s1", "execution": "client", "status": "completed",
        "arguments": {"query": "rows", "limit": 8}}  # fmt: skip
OUTPUT = {"type": "tool_search_output", "call_id": "call_s1", "execution": "client", "status": "completed",
          "tools": FOUND}  # fmt: skip
HISTORY = [USER, CALL, OUTPUT]
FOREIGN = sorted(set(MODELS) - {"openai_responses"})


def test_at_openai_the_search_is_the_clients_own() -> None:
    found = send("responses", "openai_responses", input=HISTORY, tools=[SEARCH])
    assert (found.body["input"], found.body["tools"], found.warnings) == (HISTORY, [SEARCH], [])


def test_at_openai_it_stays_one_where_ids_of_the_history_are_written_anew() -> None:
    """As in a conversation that another provider has begun: its ids are not legal here."""
    odd = "call one:" + "x" * 70
    history = [USER, CALL | {"call_id": odd}, OUTPUT | {"call_id": odd}]
    found = send("responses", "openai_responses", input=history, tools=[SEARCH])
    (_, call, output) = found.body["input"]
    assert call["call_id"] == output["call_id"] != odd
    assert [call | {"call_id": odd}, output | {"call_id": odd}] == history[1:]
    assert found.warnings == []


@pytest.mark.parametrize("wire", FOREIGN)
def test_elsewhere_it_is_a_function_whose_findings_can_be_called(wire: str) -> None:
    found = send("responses", wire, input=HISTORY, tools=[SEARCH])
    (flat,) = set(found.tools) - {"tool_search"}
    assert list(found.tools) == ["tool_search", flat]
    assert flat.endswith("list_rows")
    assert set(found.tools["tool_search"]["properties"]) == {"query", "limit"}
    told = json.dumps(found.turns)
    assert "rows" in told
    assert f"The tool `{flat}` can be called now." in told
    assert [code for code in found.warnings if "reasoning" not in code] == []


@pytest.mark.parametrize("wire", FOREIGN)
def test_deferred_tools_that_were_declared_wait_for_it(wire: str) -> None:
    other = LISTED | {"name": "drop_rows"}
    declared = [{**FOUND[0], "tools": [LISTED, other]}]
    before = send("responses", wire, input=[USER], tools=[SEARCH, *declared])
    after = send("responses", wire, input=HISTORY, tools=[SEARCH, *declared])
    assert list(before.tools) == ["tool_search"]
    assert [name.rpartition("__")[2] for name in after.tools] == ["tool_search", "list_rows"]


def answered(stream: bool, arguments: str, finish: str = "tool_calls") -> str:
    """What the client is sent where a Chat host calls the search."""
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "tool_search", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": finish, ("delta" if stream else "message"): message}
    answer = json.dumps({"id": "x", "model": "m", "created": 1, "choices": [choice]}).encode()
    body = json.dumps({"model": "m", "stream": stream, "input": [USER], "tools": [SEARCH]}).encode()
    exchange = driver.open_exchange(body, door="responses")
    kind = "text/event-stream" if stream else "application/json"
    pieces = b"data: " + answer + b"\n\ndata: [DONE]\n\n" if stream else answer
    return driver.answer(exchange, [pieces], content_type=kind).body.decode()


def items(said: str) -> list[Any]:
    return [json.loads(line[6:])["item"] for line in said.splitlines() if '"response.output_item.done"' in line[:60]]


def test_a_call_of_it_comes_back_as_a_search() -> None:
    streamed = answered(True, '{"query":"rows","limit":1.10}')
    (item,) = items(streamed)
    assert (item["type"], item["execution"], item["status"]) == ("tool_search_call", "client", "completed")
    assert item["arguments"] == {"query": "rows", "limit": 1.1}
    assert '"arguments":{"query":"rows","limit":1.10}' in streamed
    assert "function_call_arguments" not in streamed
    (whole,) = json.loads(answered(False, '{"query":"rows","limit":1.10}'))["output"]
    assert whole["arguments"] == item["arguments"]
    assert whole.keys() == item.keys()


@pytest.mark.parametrize("stream", [True, False])
def test_a_search_that_was_cut_is_shown_as_cut(stream: bool) -> None:
    said = answered(stream, '{"query":"ro', "length")
    (item,) = items(said) if stream else json.loads(said)["output"]
    assert (item["status"], item["arguments"]) == ("incomplete", '{"query":"ro')


def test_what_openai_searched_itself_is_no_call() -> None:
    served = [{**CALL, "call_id": None, "execution": "server"}, {**OUTPUT, "call_id": None, "execution": "server"}]
    found = send("responses", "openai_chat", input=[USER, *served])
    assert found.turns == [{"role": "user", "content": "x"}]
    assert found.warnings == ["not_supported:server_tools"]


def test_a_function_has_its_arguments_as_text() -> None:
    from toolwire.model.errors import RequestError

    with pytest.raises(RequestError, match=r"`input\[0\].arguments` must be a string"):
        send(
            "responses", "openai_chat", input=[{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]
        )


# ---------------------------------------------------------------- references to what nobody keeps


@each_row("wire", sorted(MODELS))
@each_row("kind", ["item_reference", None])
def test_references_to_our_own_items_are_left_out_and_told(wire: str, kind: str | None) -> None:
    reference = {"id": "msg_0000000000000000000001_0"} | ({"type": kind} if kind else {})
    found = send("responses", wire, input=[USER, reference, {"role": "user", "content": "y"}])
    assert "msg_0000" not in json.dumps(found.turns)
    assert ['"x"' in json.dumps(found.turns), '"y"' in json.dumps(found.turns)] == [True, True]
    assert found.warnings == ["item_reference_left_out"]


def test_openais_own_items_are_openais() -> None:
    reference = {"type": "item_reference", "id": "msg_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b"}
    found = send("responses", "openai_responses", input=[USER, reference])
    assert (found.turns, found.warnings) == ([USER, reference], [])


# ---------------------------------------------------------------- half a character


@each_row("wire", sorted(MODELS))
@each_row("door", ["chat_completions", "responses", "messages", "native"])
def test_half_a_character_is_taken_back(door: str, wire: str) -> None:
    half, whole = "a\ud83d", "b\U0001f600"
    content: dict[str, Any] = {"role": "assistant", "content": half}
    history = [USER, content, {"role": "user", "content": whole}]
    members: dict[str, Any] = {"input" if door == "responses" else "messages": history}
    members |= {"max_tokens": 99} if door == "messages" else {}
    found = send(door, wire, **members)
    told = json.dumps(found.turns)
    assert json.dumps("a\ufffd")[1:-1] in told
    assert json.dumps(whole)[1:-1] in told
    assert found.warnings == ["half_character_replaced"]


# ---------------------------------------------------------------- tools that are added on the way

ADDED = {"type": "additional_tools", "role": "developer", "tools": [LISTED | {"defer_loading": False}, *FOUND]}


@each_row("wire", sorted(MODELS))
@each_row("declared", [[], [SEARCH]], ids=["alone", "beside others"])
@each_row("place", [0, 1])
def test_tools_that_are_added_on_the_way_can_be_called_everywhere(place: int, declared: list[Any], wire: str) -> None:
    history: list[Any] = [USER, USER]
    history.insert(place, ADDED)
    found = send("responses", wire, input=history, tools=declared)
    if wire not in FOREIGN:
        assert (found.body["input"], found.body.get("tools", [])) == (history, declared)
        return
    assert "list_rows" in found.tools
    assert "More tools can be called now: `list_rows`" in json.dumps(found.body)


@pytest.mark.parametrize("wire", sorted(MODELS))
def test_the_header_that_goes_with_them_reaches_hosts_of_the_api(wire: str) -> None:
    """OpenAI reads the body in Codex's newer form by it, and refuses it without."""
    lite = {"x-openai-internal-codex-responses-lite": "true", "openai-organization": "org"}
    body = json.dumps({"model": "m", "input": [ADDED, USER]}).encode()
    exchange = driver.open_exchange(body, door="responses", wire=wire, profile=None, model=MODELS[wire], headers=lite)
    sent = dict(exchange.upstream_request.headers)
    assert (sent.get("x-openai-internal-codex-responses-lite") == "true") == (wire not in FOREIGN)
    assert "openai-organization" not in sent
