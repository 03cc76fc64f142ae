"""The lane from a Messages client to a Messages host: bytes, headers, and what the gateway itself may change."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.doors.messages.claude_code import BETAS, conversation, first_turn
from tests.named_rows import each_row
from tests.providers.anthropic_messages.messages_upstream import begin, call, delta, start
from toolwire.doors.messages.request import DOOR
from toolwire.model.errors import RequestError
from toolwire.model.http import Head, HttpRequest, UpstreamRequest
from toolwire.model.request import ChatRequest, ReasoningPart, ToolResultPart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.providers.anthropic_messages.request import PROVIDER
from toolwire.providers.profiles import PROFILES

MODEL = "claude-sonnet-5"

_CALL = '{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]}'
_RESULT = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"1"}]}'
_HI = '{"role":"user","content":"hi"}'


def parsed(body: bytes, headers: dict[str, str] | None = None) -> ChatRequest:
    return DOOR.parse_request(HttpRequest("POST", "/", headers or {}, body))


def sent(request: ChatRequest, model: str = MODEL) -> tuple[UpstreamRequest, list[str]]:
    target = Target(ProviderConfig("anthropic", "anthropic_messages", "https://a.example", "none"), model)
    upstream, warnings = PROVIDER.build_request(request, target, PROFILES["compatible"], "secret")
    return upstream, list(warnings)


def with_model(body: bytes, model: str = MODEL) -> bytes:
    """The client's own bytes with the provider's name for the model."""
    return body.replace(b'"model":"claude-alias"', b'"model":"%b"' % model.encode(), 1)


@pytest.mark.parametrize("turns", [1, 2, 3, 6])
def test_a_coding_agents_bytes_are_its_own(turns: int) -> None:
    body = conversation(turns)
    upstream, warnings = sent(parsed(body))
    assert upstream.body == with_model(body)
    assert warnings == []


def test_headers_of_the_api_go_with_the_body() -> None:
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": BETAS, "x-api-key": "client's", "user-agent": "c"}
    upstream, _ = sent(parsed(first_turn(), headers))
    assert upstream.headers == (
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", BETAS),
        ("x-api-key", "secret"),
    )


@pytest.mark.parametrize(("more", "version"), [({}, "2026-10-21"), ({"temperature": 0.5}, "2023-06-01")])
def test_a_missing_version_is_one_that_takes_the_members(more: dict[str, Any], version: str) -> None:
    body = json.dumps({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "x"}]} | more)
    assert dict(sent(parsed(body.encode()))[0].headers)["anthropic-version"] == version


def test_what_nobody_has_invented_yet_passes() -> None:
    body = (
        b'{ "new": {"x": 1.10}, "model":"claude-alias", "max_tokens":1, "tools": [{"type":"new_20300101","a":[ ]}],\n'
        b'"system":[{"type":"hint","h":1}], "messages":[{"role":"user","mood":"\\u00e9","content":[{"type":"new"}]}]}'
    )
    found = sent(parsed(body))[0].body
    for piece in (b'{"x": 1.10}', b'[{"type":"new_20300101","a":[ ]}]', b'[{"type":"hint","h":1}]', b'"\\u00e9"'):
        assert piece in found
    assert list(json.loads(found)) == ["new", "model", "max_tokens", "tools", "system", "messages"]


#: Words that some later version of the API may have.
NEW_WORDS = {
    "thinking.type": b'"thinking":{"type":"between_turns","x":1}',
    "output_config.effort": b'"output_config":{"effort":"ultra"}',
    "tool_choice.type": b'"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"some","n":2}',
}


@pytest.mark.parametrize("path", NEW_WORDS)
def test_new_words_pass_in_the_lane_and_are_refused_elsewhere(path: str) -> None:
    body = b'{"model":"claude-alias","max_tokens":9,"messages":[%b],%b}' % (_HI.encode(), NEW_WORDS[path])
    assert sent(parsed(body)) == (replace(sent(parsed(body))[0], body=with_model(body)), [])
    for wire in ("openai_chat", "openai_responses", "gemini"):
        with pytest.raises(RequestError, match=re.escape(f"`{path}` cannot be carried")) as refused:
            open_exchange(body, door="messages", wire=wire, profile=None)
        assert (refused.value.code, refused.value.param) == ("unsupported_parameter", path)


def test_no_header_but_the_apis_own_goes_upstream() -> None:
    ours = {"authorization": "Bearer k", "x-api-key": "k", "cookie": "c", "x-toolwire-schema-mode": "lossy"}
    account = {"anthropic-workspace-id": "w", "anthropic-organization-id": "o"}
    others = {"anthropic-é": "x", "xanthropic-beta": "b", "host": "h", "content-length": "1", "x-forwarded-for": "1"}
    new = {"anthropic-new-thing": "1", "anthropic-version": "2099-01-01"}
    upstream, _ = sent(parsed(first_turn(), {**ours, **account, **others, **new}))
    assert dict(upstream.headers) == {
        "content-type": "application/json", "accept": "text/event-stream", "x-api-key": "secret", **new,
    }  # fmt: skip


@pytest.mark.parametrize("value", ["é", "a\r\nx-api-key: k", "\x00"])
def test_a_header_that_cannot_be_sent_is_refused(value: str) -> None:
    with pytest.raises(RequestError) as refused:
        parsed(first_turn(), {"anthropic-beta": value})
    assert refused.value.param == "anthropic-beta"


#: What a parser may be tempted to mend. All of it is between the client and the API.
ODDITIES = {
    "a member twice": '{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}',
    "nothing said": '{"role":"user","content":[]}',
    "escapes": '{"role":"user","content":"\\u00e9\\ud83d\\ude00 \u2028\\u0000"}',
    "a nested mark": '{"role":"user","content":[{"type":"document","source":{"type":"content","content":'
    '[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]},"citations":{"enabled":true}}]}',
    "new inside a result": '{"role":"user","content":[{"type":"text","text":"first"},{"type":"tool_result",'
    '"tool_use_id":"toolu_1","content":[{"type":"tool_reference","tool_name":"x"},{"type":"text","text":""}],"new":1.10}]}',
    "a server's call": '{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search",'
    '"input":{"q":1e400}},{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"x","encrypted_content":"E"}]}]}',
    "redacted": '{"role":"assistant","content":[{"type":"redacted_thinking","data":"R"},{"type":"text","text":"x"}]}',
    "a beginning of the answer": '{"role":"assistant","content":"The answer is "}',
    "deep": '{"role":"user","content":[{"type":"x","a":' + "[" * 500 + "]" * 500 + "}]}",
    "compacted": '{"role":"user","content":[{"type":"compaction","content":"so far"}]}',
}


@each_row("name", ODDITIES)
def test_oddities_stay_as_they_are(name: str) -> None:
    before = [_HI, _CALL] if "toolu_1" in ODDITIES[name] else [_HI, _CALL, _RESULT]
    history = ",".join([*before, ODDITIES[name]]).encode()
    body = b'{"model":"claude-alias","max_tokens":9,"messages":[%b]}' % history
    exchange = open_exchange(body, door="messages", wire="anthropic_messages", profile=None, model=MODEL)
    assert exchange.upstream_request.body == with_model(body)


def test_empty_tools_are_left_out() -> None:
    body = b'{"model":"m","max_tokens":1,"tools":[],"messages":[{"role":"user","content":"x"}]}'
    assert b"tools" not in sent(parsed(body))[0].body


def test_the_next_turn_extends_the_last() -> None:
    """What a prompt cache hashes, tools, system text and messages, begins on every turn as it ended on the last."""
    bodies = [sent(parsed(conversation(turns)))[0].body for turns in range(1, 8)]
    for before, after in pairwise(bodies):
        shared = before.removesuffix(b"]}")
        assert after.startswith(shared)


def changed_at(request: ChatRequest, place: int, **changes: Any) -> ChatRequest:
    messages = list(request.messages)
    messages[place] = replace(messages[place], **changes)
    return replace(request, messages=tuple(messages))


def test_a_changed_message_changes_no_other() -> None:
    body = conversation(4)
    request = parsed(body)
    place = next(n for n, m in enumerate(request.messages) if m.role == "assistant")
    parts = tuple(part for part in request.messages[place].parts if type(part) is not ReasoningPart)
    found = json.loads(sent(changed_at(request, place, parts=parts))[0].body)["messages"]
    wanted = json.loads(body)["messages"]
    number = next(n for n, message in enumerate(wanted) if message["role"] == "assistant")
    wanted[number]["content"] = [block for block in wanted[number]["content"] if block["type"] != "thinking"]
    assert found == wanted


def test_a_changed_result_keeps_what_the_model_does_not_name() -> None:
    request = parsed(conversation(2))
    place = next(n for n, m in enumerate(request.messages) if m.role == "tool")
    (result,) = request.messages[place].parts
    assert isinstance(result, ToolResultPart)
    found = json.loads(sent(changed_at(request, place, parts=(replace(result, is_error=True),)))[0].body)
    blocks = [block for message in found["messages"] for block in message["content"] if isinstance(block, dict)]
    (rewritten, *_) = [block for block in blocks if block.get("is_error")]
    assert rewritten["cache_control"] == {"type": "ephemeral"}


def test_ids_the_api_refuses_are_rewritten_on_both_ends() -> None:
    body = conversation(2).replace(b"toolu_1_0", b"functions.f:0")
    found = json.loads(sent(parsed(body))[0].body)["messages"]
    blocks = [block for message in found for block in message["content"] if isinstance(block, dict)]
    used = [block["id"] for block in blocks if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert used == answered
    assert not any("functions" in id for id in used)


@pytest.mark.parametrize("asked", [{"type": "adaptive"}, {"type": "enabled", "budget_tokens": 2000}])
def test_another_providers_thinking_does_not_go_to_claude(asked: dict[str, Any]) -> None:
    """It has no signature, so Claude would refuse it; and a turn that lost its thinking cannot go on thinking by a
    budget, while adaptive thinking may have skipped it."""
    body = conversation(2).replace(b'"signature":"c2ln"', b'"signature":""')
    body = json.dumps(json.loads(body) | {"thinking": asked}).encode()
    upstream, warnings = sent(parsed(body))
    found = json.loads(upstream.body)
    assert not any(b["type"] == "thinking" for m in found["messages"] for b in m["content"] if isinstance(b, dict))
    goes_on = asked["type"] == "adaptive"
    assert found["thinking"] == (asked if goes_on else {"type": "disabled"})
    assert warnings == ["state_left_out", *([] if goes_on else ["reasoning_turned_off"])]


def test_hosts_that_sign_nothing_get_their_thinking_back() -> None:
    body = conversation(2).replace(b'"signature":"c2ln"', b'"signature":""')
    upstream, warnings = sent(parsed(body), "kimi-k3")
    who_pays = b'{"type":"text","text":"x-anthropic-billing-header: cc_version=2;"},'
    assert who_pays in body
    assert upstream.body == with_model(body.replace(who_pays, b""), "kimi-k3")
    assert warnings == ["ignored:x-anthropic-billing-header"]


#: Histories that the API itself may refuse, in words that Claude Code knows how to mend.
UNPAIRED = {
    "no call": (_HI, _RESULT),
    "result first": (_HI, _RESULT, _CALL, _RESULT),
    "two results": (_HI, _CALL, _RESULT, _RESULT),
}


@pytest.mark.parametrize("name", UNPAIRED)
def test_results_without_a_call_are_between_the_client_and_the_api(name: str) -> None:
    history = ",".join(UNPAIRED[name]).encode()
    body = b'{"model":"claude-alias","max_tokens":9,"messages":[' + history + b"]}"
    exchange = open_exchange(body, door="messages", wire="anthropic_messages", profile=None, model=MODEL)
    assert exchange.upstream_request.body == with_model(body)
    for wire in ("openai_chat", "openai_responses", "gemini"):
        with pytest.raises(RequestError) as refused:
            open_exchange(body, door="messages", wire=wire)
        assert refused.value.code in ("unknown_tool_call_id", "duplicate_tool_result")


def test_the_answer_passes_as_it_is() -> None:
    events: list[dict[str, Any]] = [
        start(usage={"input_tokens": 3, "output_tokens": 1, "service_tier": "standard"}, container={"id": "c"}),
        {"type": "ping"},
        begin(0, "thinking"),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="S"),
        {"type": "content_block_stop", "index": 0},
        begin(1, "redacted_thinking", data="R"),
        {"type": "content_block_stop", "index": 1},
        begin(2, "text", citations=[]),
        delta(2, "citations_delta", citation={"type": "page_location"}),
        delta(2, "text_delta", text="é", estimate=1.5),
        {"type": "content_block_stop", "index": 2},
        begin(3, "server_tool_use", id="srvtoolu_1", name="web_search", input={}),
        delta(3, "input_json_delta", partial_json='{"q":'),
        delta(3, "input_json_delta", partial_json="1}"),
        {"type": "content_block_stop", "index": 3},
        {"type": "from_the_future", "x": [1]},
        call(4, "toolu_1", "Bash"),
        {"type": "content_block_stop", "index": 4},
        call(5, "toolu_2", "Bash"),
        delta(5, "input_json_delta", partial_json=""),
        delta(5, "input_json_delta", partial_json='{"a": 1.10}'),
        {"type": "content_block_stop", "index": 5},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "new": 1}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    body = b"".join(b"event: %b\ndata: %b\n\n" % (e["type"].encode(), json.dumps(e).encode()) for e in events)
    got = answer(open_exchange(first_turn(), door="messages", wire="anthropic_messages", profile=None), [body])
    assert got.body == body


def test_a_json_answer_passes_as_it_is() -> None:
    document = (
        b'{ "id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"new","x":1.10}],\n'
        b'"stop_reason":"pause_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1,"new":{}}}'
    )
    request = first_turn().replace(b'"stream":true', b'"stream":false')
    exchange = open_exchange(request, door="messages", wire="anthropic_messages", profile=None)
    assert answer(exchange, [document], content_type="application/json").body == document


@pytest.mark.parametrize("status", [400, 429, 529])
def test_an_error_body_passes_as_it_is(status: int) -> None:
    """Claude Code's retries match on its wording."""
    body = b'{"type":"error", "error":{"type":"invalid_request_error","message":"thinking: no"},"request_id":"req_1"}'
    exchange = open_exchange(first_turn(), door="messages", wire="anthropic_messages", profile=None)
    got = answer(exchange, [body], status=status, content_type="application/json")
    assert (got.status, got.body) == (status, body)


def test_an_answer_that_must_be_rewritten_loses_no_member() -> None:
    """The second call has the first one's id: it gets another, and keeps everything else."""
    events = [
        start(),
        call(0, "toolu_1", "Bash"),
        {"type": "content_block_stop", "index": 0},
        call(1, "toolu_1", "Bash") | {},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    events[3]["content_block"]["caller"] = {"type": "direct"}
    body = b"".join(b"event: %b\ndata: %b\n\n" % (e["type"].encode(), json.dumps(e).encode()) for e in events)
    got = answer(open_exchange(first_turn(), door="messages", wire="anthropic_messages", profile=None), [body])
    shown = [json.loads(line[6:]) for line in got.body.split(b"\n") if line.startswith(b"data: ")]
    blocks = [event["content_block"] for event in shown if event["type"] == "content_block_start"]
    assert blocks[0]["id"] == "toolu_1"
    assert blocks[1]["id"].startswith("call_")
    assert blocks[1]["caller"] == {"type": "direct"}


_LIMITS = {"anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-tokens-reset": "2026-11-28T03:00:00Z"}
_ANSWER = {**_LIMITS, "content-type": "text/event-stream", "anthropic-organization-id": "org", "set-cookie": "a=b"} | {
    "anthropic-ratelimit-bad": "x\r\ny: z", "request-id": "req_theirs", "server": "s",
}  # fmt: skip


@pytest.mark.parametrize(
    ("wire", "rates", "wanted"),
    [
        ("anthropic_messages", (), _LIMITS),
        ("anthropic_messages", (("x-ratelimit-limit-requests", "5"),), {"x-ratelimit-limit-requests": "5"}),
        ("openai_chat", (), {}),
    ],
)
def test_the_providers_limits_are_shown_where_the_tenant_has_none(
    wire: str, rates: tuple[tuple[str, str], ...], wanted: dict[str, str]
) -> None:
    exchange = open_exchange(first_turn(), door="messages", wire=wire, answer_headers=rates)
    assert exchange.receive_head(429, _ANSWER) == []
    (head, _) = exchange.receive_end()
    assert isinstance(head, Head)
    ours = {"content-type", "request-id", "x-request-id", "x-conversation-id", "x-toolwire-warnings"}
    assert {name: value for name, value in head.headers if name not in ours} == wanted
    assert dict(head.headers)["request-id"] == "req-test"
