"""The Responses door over each kind of provider: what is carried, reported and refused, and the lane."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.doors.responses.responses_reader import events, read, sdk_stream
from tests.named_rows import each_row
from tests.providers.openai_responses.responses_upstream import SAID
from toolwire.doors.responses.request import DOOR
from toolwire.model.errors import RequestError

WIRES = ("openai_chat", "anthropic_messages", "gemini")
USER = {"role": "user", "content": "hi"}
PING = {"type": "function", "name": "ping", "parameters": {"type": "object", "properties": {}}}
PATCH = {"type": "custom", "name": "patch", "description": "Edits."}
SEARCHES: list[dict[str, Any]] = [
    {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Found."}]},
    {"type": "code_interpreter_call", "id": "ci", "code": "1+1", "container_id": "c", "status": "completed"},
    {"type": "tool_search_output", "tools": []},
]
#: What Codex sends beside the history.
CODEX: dict[str, Any] = {
    "tools": [
        PING | {"strict": False},
        {"type": "namespace", "name": "agents", "description": "Helpers.", "tools": [PING | {"name": "stop"}]},
        PATCH,
        {"type": "web_search", "external_web_access": False},
    ],
    "tool_choice": "auto", "parallel_tool_calls": True, "reasoning": {"summary": "auto"}, "store": False,
    "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "client_metadata": {"a": "b"}, "stream": True,
}  # fmt: skip


def sent(wire: str, **fields: Any) -> tuple[dict[str, Any], list[str]]:
    """What reaches the provider, and the warnings."""
    model = {"anthropic_messages": "claude-sonnet-5", "gemini": "gemini-3-flash"}.get(wire, "m")
    body = json.dumps({"model": "m", "input": [USER]} | fields).encode()
    exchange = open_exchange(body, door="responses", wire=wire, model=model)
    document: dict[str, Any] = json.loads(exchange.upstream_request.body)
    return document, list(exchange.figures.warnings)


def names(wire: str, document: dict[str, Any]) -> list[str]:
    if wire == "gemini":
        return [tool["name"] for tool in document["tools"][0]["functionDeclarations"]]
    return [tool["name"] if wire == "anthropic_messages" else tool["function"]["name"] for tool in document["tools"]]


@pytest.mark.parametrize("wire", WIRES)
def test_codexs_request_reaches_any_provider(wire: str) -> None:
    document, warnings = sent(wire, **CODEX)
    assert names(wire, document) == ["ping", "agents__stop", "patch"]
    ignored = {"ignored:client_metadata", "ignored:prompt_cache_key"}
    assert set(warnings) == {"custom_tool_as_function", "not_supported:server_tools", *ignored}


@each_row("wire", WIRES)
@each_row(
    ("fields", "param", "words"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id", "send the whole history in `input`"),
        ({"conversation": "conv_1"}, "conversation", "send the whole history in `input`"),
        ({"input": [USER, {"type": "item_reference", "id": "x"}]}, "input[1]", "send the item itself"),
        ({"input": [USER, {"type": "computer_call", "id": "x"}]}, "input[1]", "leave it out"),
        ({"input": [USER, {"type": "compaction", "encrypted_content": "x"}]}, "input[1]", "leave it out"),
        ({"tools": [PING], "tool_choice": {"type": "web_search"}}, "tool_choice", "leave it out"),
    ],
)
def test_what_only_openai_has_is_refused_by_others(wire: str, fields: dict[str, Any], param: str, words: str) -> None:
    with pytest.raises(RequestError) as refused:
        sent(wire, **fields)
    code = "previous_response_not_found" if param == "previous_response_id" else "unsupported_parameter"
    assert (refused.value.param, refused.value.code) == (param, code)
    assert words in refused.value.message


@pytest.mark.parametrize("wire", [*WIRES, "openai_responses"])
def test_a_background_answer_is_refused_by_all(wire: str) -> None:
    with pytest.raises(RequestError, match="keeps no answer to be fetched later; leave it out") as refused:
        sent(wire, background=True)
    assert (refused.value.param, refused.value.code) == ("background", "unsupported_parameter")


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("items", [SEARCHES[:1], SEARCHES], ids=["alone", "beside text"])
def test_what_a_hosts_own_tools_have_left_does_not_end_a_conversation(wire: str, items: list[Any]) -> None:
    """It moves to another provider without them, as the tools themselves are left out (design 13)."""
    without = [item for item in items if "role" in item]
    given, warnings = sent(wire, input=[USER, *items, USER], tools=[PING])
    assert given == sent(wire, input=[USER, *without, USER], tools=[PING])[0]
    assert warnings == ["not_supported:server_tools"]
    passed, warnings = sent("openai_responses", input=[USER, *items, USER])
    assert (passed["input"], warnings) == ([USER, *items, USER], [])


def test_openai_gets_all_of_it_as_it_came() -> None:
    given = [{"type": "item_reference", "id": "x"}, {"type": "function_call_output", "call_id": "c", "output": "1"}]
    fields = CODEX | {"input": given, "previous_response_id": "resp_1", "new_field": {"a": 1.10}}
    document, warnings = sent("openai_responses", **fields)
    assert document == {"model": "m"} | fields
    assert warnings == []


def test_a_result_without_its_call_is_between_the_client_and_a_host_of_its_api() -> None:
    given = [{"type": "function_call_output", "call_id": "c", "output": "1"}]
    assert sent("openai_responses", input=given) == ({"model": "m", "input": given}, [])


@pytest.mark.parametrize("wire", ["openai_chat", "anthropic_messages", "gemini"])
def test_a_result_without_its_call_is_refused_for_every_other_host(wire: str) -> None:
    with pytest.raises(RequestError) as refused:
        sent(wire, input=[{"type": "function_call_output", "call_id": "c", "output": "1"}])
    assert (refused.value.code, refused.value.param) == ("unknown_tool_call_id", "input[0].call_id")


def test_a_file_reaches_chat_hosts_and_gemini() -> None:
    file = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}
    content = [{"role": "user", "content": [file]}]
    (message,) = sent("openai_chat", input=content)[0]["messages"]
    assert message["content"] == [{"type": "file", "file": {k: file[k] for k in ("filename", "file_data")}}]
    (turn,) = sent("gemini", input=content)[0]["contents"]
    assert turn["parts"] == [{"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}}]


def test_members_of_this_api_never_reach_a_chat_host() -> None:
    turn = [
        USER,
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
         "content": [{"type": "output_text", "text": "a", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ping", "arguments": "{}", "status": "x"},
        {"type": "function_call_output", "id": "fco_1", "call_id": "call_1", "output": "pong"},
    ]  # fmt: skip
    document, _ = sent("openai_chat", input=turn, tools=[PING | {"defer_loading": False}])
    assert document["messages"][1:] == [
        {"role": "assistant", "content": "a", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "pong"},
    ]  # fmt: skip
    assert document["tools"] == [{"type": "function", "function": {k: PING[k] for k in ("name", "parameters")}}]


def test_a_tools_faults_are_told_by_paths_of_this_api() -> None:
    body = json.dumps({"model": "m", "input": "hi", "tools": [PING | {"parameters": {"type": "objekt"}}]}).encode()
    with pytest.raises(RequestError) as refused:
        open_exchange(body, door="responses")
    error = json.loads(DOOR.render_error(refused.value, "req"))["error"]
    assert error["param"].startswith("tools[0].parameters")
    assert "tools[0].function" not in error["message"]


# ---------------------------------------------------------------- the lane

FUNCTION = {"type": "function_call", "id": "fc_up", "call_id": "call_up", "name": "ping", "status": "in_progress"}
SEARCH = {"type": "web_search_call", "id": "ws_up", "status": "completed"}


def upstream(*said: dict[str, Any], call_id: str = "call_up") -> bytes:
    """OpenAI's stream of a search, a call and a text, with members nobody has heard of."""
    call = FUNCTION | {"call_id": call_id}
    done = call | {"arguments": "{}", "status": "completed"}
    text = {"type": "output_text", "text": "a", "annotations": [], "logprobs": []}
    message = {"type": "message", "id": "msg_up", "role": "assistant", "status": "completed", "content": [text]}
    head = {"id": "resp_up", "object": "response", "created_at": 5, "model": "up", "incomplete_details": None, **SAID}
    head |= {"service_tier": "x", "error": None}
    usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 3}  # fmt: skip
    opened = head | {"status": "in_progress", "output": [], "usage": None}
    place = {"item_id": "fc_up", "output_index": 1}
    at = {"item_id": "msg_up", "output_index": 2, "content_index": 0}
    final = head | {"status": "completed", "output": [SEARCH, done, message], "usage": usage}
    listed: list[dict[str, Any]] = [
        {"type": "response.created", "response": opened},
        {"type": "response.in_progress", "response": opened},
        {"type": "response.output_item.added", "output_index": 0, "item": SEARCH},
        {"type": "response.web_search_call.completed", "output_index": 0, "item_id": "ws_up"},
        {"type": "response.output_item.done", "output_index": 0, "item": SEARCH},
        {"type": "response.output_item.added", "output_index": 1, "item": call | {"arguments": ""}},
        {"type": "response.function_call_arguments.delta", **place, "delta": "{}", "obfuscation": "zz"},
        {"type": "response.function_call_arguments.done", **place, "arguments": "{}", "name": "ping"},
        {"type": "response.output_item.done", "output_index": 1, "item": done},
        {"type": "response.output_item.added", "output_index": 2,
         "item": message | {"content": [], "status": "in_progress"}},
        {"type": "response.content_part.added", **at, "part": text | {"text": ""}},
        {"type": "response.output_text.delta", **at, "delta": "a", "logprobs": []},
        {"type": "response.output_text.done", **at, "text": "a", "logprobs": []},
        {"type": "response.content_part.done", **at, "part": text},
        {"type": "response.output_item.done", "output_index": 2, "item": message},
        {"type": "response.completed", "response": final},
    ]  # fmt: skip
    frames = [event | {"sequence_number": number} for number, event in enumerate(listed[: len(said) or None])]
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (e["type"].encode(), json.dumps(e, separators=(",", ":")).encode()) for e in frames
    )


def in_the_lane(body: bytes, history: list[Any] | None = None, headers: dict[str, str] | None = None) -> Answer:
    request = {"model": "m", "input": [USER, *(history or [])], "tools": [PING], "stream": True}
    exchange = open_exchange(
        json.dumps(request).encode(), door="responses", wire="openai_responses", profile="openai", headers=headers
    )
    return answer(exchange, [body])


def test_a_stream_passes_to_the_byte() -> None:
    assert in_the_lane(upstream()).body == upstream()


def test_a_call_whose_id_must_change_is_written_anew_and_all_that_follows_it() -> None:
    taken = [
        {"type": "function_call", "call_id": "call_up", "name": "ping", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_up", "output": "1"},
    ]
    body = in_the_lane(upstream(), taken).body
    said = read(body)
    assert said.final is not None
    search, call, message = said.final["output"]
    assert search == SEARCH
    assert call["call_id"] not in ("call_up", "")
    assert (call["name"], call["arguments"], message["content"][0]["text"]) == ("ping", "{}", "a")
    assert said.final["service_tier"] == "x"
    assert sdk_stream(body)["output"][1]["call_id"] == call["call_id"]
    assert body.startswith(upstream()[: upstream().index(b'"fc_up"') - 200])


def test_the_extra_events_come_between_the_upstreams_own() -> None:
    said = read(in_the_lane(upstream(), headers={"x-toolwire-events": "extended"}).body)
    assert [event["type"].removeprefix("response.") for event in said.extra] == [
        "output_tool_call.begin", "output_tool_call.delta", "output_tool_call.end", "done",
    ]  # fmt: skip
    assert said.types == [event["type"] for event in events(upstream())]


@each_row("length", range(1, 16))
def test_a_stream_that_breaks_anywhere_fails_as_one(length: int) -> None:
    said = read(in_the_lane(upstream(*[{}] * length)).body)
    assert said.final is not None
    assert said.final["status"] == "failed"
    assert said.types[:length] == [event["type"] for event in events(upstream())][:length]
