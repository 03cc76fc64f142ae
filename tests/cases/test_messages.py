"""Faults of other providers' answers and histories, as bug reports describe them, through the messages door. The inputs
are our own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.doors.messages.messages_reader import Said, read
from tests.providers.openai_chat.chat_upstream import chunk, fragment, opening, stream, text, whole

TOOL = {"name": "read_log", "input_schema": {"type": "object"}}
USER = {"role": "user", "content": "Look."}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read_log", "input": {"n": 1}}


def ask(streamed: bool = True, **members: Any) -> bytes:
    body = {"model": "m", "max_tokens": 99, "messages": [USER], "tools": [TOOL], "stream": streamed}
    return json.dumps(body | members).encode()


def heard(*chunks: Any, done: bool = True, cut: int | None = None) -> Said:
    """What a strict client hears of a compatible host's stream; `cut`: written so many bytes at a time."""
    body = stream(*chunks, done=done)
    pieces = [body] if cut is None else [body[at : at + cut] for at in range(0, len(body), cut)]
    return read(answer(open_exchange(ask(), door="messages"), pieces).body)


def asked(*, profile: str = "openai", **members: Any) -> dict[str, Any]:
    """The request that reaches a Chat host."""
    exchange = open_exchange(ask(**members), door="messages", profile=profile)
    document: dict[str, Any] = json.loads(exchange.upstream_request.body)
    return document


def end(reason: str = "tool_calls", **more: Any) -> dict[str, Any]:
    return chunk(finish=reason, **more)


A, B = '{"file":"a"}', '{"file":"b"}'
BIG = '{"id":7381920465519283747}'


def entry(number: int, given: str) -> dict[str, Any]:
    return {"index": number, "id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": given}}


#: A chunk with a whole call and the end.
LAST = opening(0, "c1", "read_log", A)
LAST["choices"][0]["finish_reason"] = "tool_calls"


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        # Index 0 for every call, only the id differs.
        ([opening(0, "c1", "read_log", A), opening(0, "c2", "find", B), end()], [("read_log", A), ("find", B)]),
        # Two entries in one delta.
        ([chunk({"tool_calls": [entry(0, A), entry(1, B)]}), end()], [("f", A), ("f", B)]),
        # The whole call in the chunk that ends the answer.
        ([LAST], [("read_log", A)]),
        # Arguments before the name.
        ([opening(0, "c1", None, '{"fi'), opening(0, None, "read_log", 'le":"a"}'), end()], [("read_log", A)]),
        # No arguments at all.
        ([opening(0, "c1", "read_log", None), end()], [("read_log", "")]),
        # Digits that no double holds.
        ([opening(0, "c1", "f", '{"id":738192'), fragment(0, "0465519283747}"), end()], [("f", BIG)]),
        # "stop" although there is a call.
        ([opening(0, "c1", "read_log", A), end("stop")], [("read_log", A)]),
    ],
)  # fmt: skip
def test_calls(chunks: list[Any], calls: list[tuple[str, str]]) -> None:
    said = heard(*chunks)
    shown = [
        (name, "" if given == "{}" and not calls[n][1] else given) for n, (_, name, given) in enumerate(said.calls)
    ]
    assert shown == calls
    assert said.stop_reason == "tool_use"
    assert len({id for id, _, _ in said.calls}) == len(calls)


def test_a_call_cut_by_the_output_limit() -> None:
    said = heard(opening(0, "c1", "read_log", '{"file":"a'), end("length"))
    assert ([given for _, _, given in said.calls], said.stop_reason) == (['{"file":"a'], "max_tokens")


def test_reasoning_after_a_call_opens_a_block_of_its_own() -> None:
    said = heard(
        chunk({"reasoning_content": "r1"}), opening(0, "c1", "read_log", A), chunk({"reasoning_content": "r2"}),
        text("done"), end(),
    )  # fmt: skip
    assert said.of("thinking") == "r1r2"
    assert [given for kind, given in zip([b["type"] for b in said.blocks], said.texts, strict=True) if kind == "text"]
    assert [given for _, _, given in said.calls] == [A]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_characters_cut_between_writes(cut: int) -> None:
    given = json.dumps({"t": "北京🌧"}, ensure_ascii=False)
    frame = json.dumps(opening(0, "c1", "read_log", given), ensure_ascii=False).encode()
    assert [found for _, _, found in heard(frame, end(), cut=cut).calls] == [given]


def test_the_last_usage_counts() -> None:
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    said = heard(
        text("x") | {"usage": zero}, end("stop"), chunk(usage={**zero, "prompt_tokens": 41, "completion_tokens": 66})
    )
    assert (said.usage["input_tokens"], said.usage["output_tokens"]) == (41, 66)


def played(document: bytes, status: int = 200) -> Answer:
    exchange = open_exchange(ask(streamed=False), door="messages")
    return answer(exchange, [document], status=status, content_type="application/json")


@pytest.mark.parametrize(("cached", "expected"), [(75, (25, 75)), (150, (0, 100))])
def test_cached_tokens_are_no_input(cached: int, expected: tuple[int, int]) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": cached}}
    shown = json.loads(played(whole({"content": "x"}, usage=usage)).body)["usage"]
    assert (shown["input_tokens"], shown["cache_read_input_tokens"]) == expected


def test_an_error_chunk_is_an_error_event() -> None:
    said = heard(text("par"), b'{"error":{"message":"upstream died","code":500}}', done=False)
    assert said.of("text") == "par"
    assert said.error is not None
    assert (said.error["error"]["type"], said.error["error"]["message"]) == ("api_error", "upstream died")


def test_a_busy_host_is_a_rate_limit() -> None:
    body = b'{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}'
    got = played(body, 429)
    document = json.loads(got.body)
    assert (got.status, got.headers["content-type"]) == (429, "application/json")
    assert (document["error"]["type"], document["error"]["message"]) == ("rate_limit_error", "slow down")


def test_results_stand_right_behind_their_calls() -> None:
    calls = [CALL, CALL | {"id": "toolu_2"}]
    results = [
        {"type": "tool_result", "tool_use_id": id, "content": said}
        for id, said in (("toolu_1", "one"), ("toolu_2", "two"))
    ]
    last = [{"type": "text", "text": "note"}, results[0], {"type": "text", "text": "and?"}, results[1]]
    sent = asked(messages=[USER, {"role": "assistant", "content": calls}, {"role": "user", "content": last}])[
        "messages"
    ]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert [message["content"] for message in sent[2:]] == ["one", "two", "note\nand?"]


def test_a_failed_result_says_so() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42", "is_error": True},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "42"},
    ]
    turn = {"role": "assistant", "content": [CALL, CALL | {"id": "toolu_2"}]}
    sent = asked(messages=[USER, turn, {"role": "user", "content": results}])["messages"]
    assert [message["content"] for message in sent[2:]] == ["Error: 42", "42"]


@pytest.mark.parametrize(
    ("thinking", "expected"), [([{"type": "thinking", "thinking": "plan", "signature": ""}], "plan"), ([], "")]
)
def test_a_host_gets_its_reasoning_back(thinking: list[Any], expected: str) -> None:
    turn = {"role": "assistant", "content": [*thinking, CALL]}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    sent = asked(profile="deepseek", messages=[USER, turn, {"role": "user", "content": [result]}])["messages"]
    assert (sent[1]["reasoning_content"], sent[1]["content"]) == (expected, None)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "none"}, ("none", None)),
        ({"type": "auto", "disable_parallel_tool_use": True}, ("auto", False)),
        ({"type": "any"}, ("required", None)),
        ({"type": "tool", "name": "read_log"}, ({"type": "function", "function": {"name": "read_log"}}, None)),
    ],
)
def test_tool_choice(choice: Any, expected: tuple[Any, bool | None]) -> None:
    sent = asked(tool_choice=choice)
    assert (sent["tool_choice"], sent.get("parallel_tool_calls")) == expected


def test_long_names_stay_two_and_come_back() -> None:
    names = [f"mcp__{'x' * 60}_v{n}" for n in (1, 2)]
    body = ask(tools=[TOOL | {"name": name} for name in names], tool_choice={"type": "tool", "name": names[1]})
    exchange = open_exchange(body, door="messages", profile="openai")
    sent = json.loads(exchange.upstream_request.body)
    wire = [tool["function"]["name"] for tool in sent["tools"]]
    assert len(set(wire)) == 2
    assert max(map(len, wire)) <= 64
    assert sent["tool_choice"]["function"]["name"] == wire[1]
    said = read(answer(exchange, [stream(opening(0, "c1", wire[1], "{}"), end())]).body)
    assert [name for _, name, _ in said.calls] == [names[1]]


def test_services_of_anthropic_are_left_out_and_that_is_said() -> None:
    service = {"type": "web_search_20250305", "name": "web_search"}
    exchange = open_exchange(ask(tools=[service, TOOL]), door="messages")
    sent = json.loads(exchange.upstream_request.body)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["read_log"]
    assert "not_supported:server_tools" in exchange.figures.warnings


def test_images_in_results_arrive() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "see"}, image]}
    messages = [USER, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [result]}]
    _, _, tool, user = asked(messages=messages)["messages"]
    assert tool["content"].startswith("see")
    assert user["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"


def test_tools_without_parameters_go_to_gemini() -> None:
    tools = [
        {"name": name, "input_schema": schema}
        for name, schema in (("a", {"$schema": "x:y"}), ("b", {"type": "object"}))
    ]
    exchange = open_exchange(ask(tools=tools), door="messages", wire="gemini", profile=None, model="gemini-3-flash")
    (declared,) = json.loads(exchange.upstream_request.body)["tools"]
    assert declared["functionDeclarations"] == [{"name": "a"}, {"name": "b"}]


def test_a_whole_call_streams_as_input_deltas() -> None:
    part = {"functionCall": {"name": "read_log", "args": {"file": "a"}}}
    document = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    exchange = open_exchange(ask(), door="messages", wire="gemini", profile=None, model="gemini-3-flash")
    said = read(answer(exchange, [b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n"]).body)
    assert [(name, given) for _, name, given in said.calls] == [("read_log", A)]
    assert said.blocks[0]["input"] == {}


def test_a_result_answers_the_call_and_not_its_item() -> None:
    item = {"type": "function_call", "id": "fc_9", "call_id": "call_7", "name": "read_log", "arguments": A}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    document = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "up"}
    document |= {"output": [item | {"status": "completed"}], "usage": usage}
    exchange = open_exchange(ask(streamed=False), door="messages", wire="openai_responses", profile="openai")
    got = answer(exchange, [json.dumps(document).encode()], content_type="application/json")
    (block,) = json.loads(got.body)["content"]
    assert (block["name"], block["input"]) == ("read_log", {"file": "a"})
    assert "fc_9" not in block["id"]
