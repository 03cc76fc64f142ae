"""Requests of Claude at Bedrock by InvokeModel: a Messages client's own bytes in AWS's frame, and other clients'."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.corpus.driver import sent as sent_actions
from tests.doors.messages.claude_code import BETAS, conversation, first_turn
from tests.named_rows import each_row
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.bedrock_messages.invoked import CONTENT_TYPE, frames
from toolwire.doors import load_door
from toolwire.exchange.exchange import Exchange
from toolwire.model.http import HttpRequest, UpstreamRequest
from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers import load_provider
from toolwire.providers.profiles import PROFILES

MODEL = "eu.anthropic.claude-sonnet-5-v1:0"
HOST = "https://bedrock-runtime.eu-west-1.amazonaws.com"
PROVIDER = load_provider("bedrock_messages")
HI = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'


def sent(
    body: bytes, headers: dict[str, str] | None = None, *, model: str = MODEL, credential: str | None = None
) -> tuple[UpstreamRequest, list[str]]:
    request = load_door("messages").parse_request(HttpRequest("POST", "/", headers or {}, body))
    target = Target(ProviderConfig("bedrock", "bedrock_messages", HOST), model)
    built, warnings = PROVIDER.build_request(request, target, PROFILES["compatible"], credential)
    return built, list(warnings)


@pytest.mark.parametrize("turns", [1, 3, 6])
def test_a_coding_agents_bytes_are_its_own(turns: int) -> None:
    """Every member but the two that Bedrock has in its address, byte for byte."""
    body = conversation(turns)
    upstream, warnings = sent(body)
    framed = upstream.body.replace(b'{"anthropic_version":"bedrock-2023-05-31",', b'{"model":"claude-alias",')
    whole = body.replace(b',"stream":true', b"")
    assert sorted(framed.split(b",")) == sorted(whole.split(b","))
    assert warnings == []


def test_the_frame() -> None:
    streamed, _ = sent(first_turn(), {"anthropic-version": "2026-10-21"})
    assert streamed.url == f"{HOST}/model/eu.anthropic.claude-sonnet-5-v1%3A0/invoke-with-response-stream"
    assert streamed.headers == (("content-type", "application/json"), ("accept", CONTENT_TYPE))
    members = json.loads(streamed.body)
    assert members["anthropic_version"] == "bedrock-2023-05-31"
    assert members.keys().isdisjoint({"model", "stream", "anthropic_beta"})
    whole, _ = sent(HI, credential="a-bedrock-api-key")
    assert whole.url == f"{HOST}/model/eu.anthropic.claude-sonnet-5-v1%3A0/invoke"
    assert whole.headers[1:] == (("accept", "application/json"), ("authorization", "Bearer a-bedrock-api-key"))


@each_row(
    ("header", "member", "told", "warnings"),
    [
        (BETAS, None, BETAS.split(","), []),
        ("new-2031-01-01, new-2031-01-01", None, ["new-2031-01-01"], []),
        ("advanced-tool-use-2025-11-20", None, ["tool-search-tool-2025-10-19"], []),
        ("oauth-2025-04-20,effort-2025-11-24", None, ["effort-2025-11-24"], ["beta_left_out:oauth-2025-04-20"]),
        ("fast-mode-2026-02-01", None, None, ["beta_left_out:fast-mode-2026-02-01"]),
        ("advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19", None, ["tool-search-tool-2025-10-19"], []),
        (None, ["a-2025-01-01"], ["a-2025-01-01"], []),
        (None, "a-2025-01-01", "a-2025-01-01", []),
        ("b-2025-01-01", ["a-2025-01-01", "b-2025-01-01"], ["b-2025-01-01", "a-2025-01-01"], []),
    ],
)
def test_betas_are_a_member(header: str | None, member: Any, told: Any, warnings: list[str]) -> None:
    body = json.dumps(json.loads(HI) | ({"anthropic_beta": member} if member else {})).encode()
    upstream, warned = sent(body, {"anthropic-beta": header} if header else {})
    assert (json.loads(upstream.body).get("anthropic_beta"), warned) == (told, warnings)


def test_what_nobody_has_invented_yet_passes() -> None:
    body = b'{"new": {"x": 1.10}, "model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"new"}]}]}'
    assert b'"new":{"x": 1.10},"max_tokens":1,' in sent(body)[0].body


def test_other_doors_are_served_too() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": messages.TOOLS, "max_tokens": 50}
    exchange = open_exchange(json.dumps(body).encode(), wire="bedrock_messages", model=MODEL)
    told = json.loads(exchange.upstream_request.body)
    assert list(told)[:2] == ["anthropic_version", "max_tokens"]
    assert [tool["name"] for tool in told["tools"]] == ["weather", "time"]


@pytest.mark.parametrize(("model", "takes_it"), [("anthropic.claude-sonnet-4-5-v1:0", True), (MODEL, False)])
def test_a_schema_of_the_answer_is_sent_where_bedrock_takes_it(model: str, takes_it: bool) -> None:
    shape = {
        "type": "json_schema",
        "json_schema": {"name": "n", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 50, "response_format": shape}
    exchange = open_exchange(json.dumps(body).encode(), wire="bedrock_messages", model=model)
    assert ("output_config" in json.loads(exchange.upstream_request.body)) is takes_it
    assert ("response_format_in_words" in exchange.figures.warnings) is not takes_it


# ---------------------------------------------------------------- betas that are refused


def asked(headers: dict[str, str]) -> Exchange:
    return open_exchange(first_turn(), door="messages", wire="bedrock_messages", model=MODEL, headers=headers)


REFUSAL = b'{"message":"The model returned the following errors: invalid beta flag"}'
SPOKEN = messages.stream(messages.start(), messages.begin(0, "text"), messages.text(0, "Hi."), messages.end(0),
                         messages.finish("end_turn"), messages.STOP)  # fmt: skip


def refuse(exchange: Exchange, refusal: bytes = REFUSAL) -> None:
    """The host refuses; nothing of it reaches the client yet."""
    assert sent_actions(exchange, exchange.receive_head(400, {"content-type": "application/json"})) == []
    assert sent_actions(exchange, [*exchange.receive_data(refusal), *exchange.receive_end()]) == []


def test_a_refused_beta_is_not_the_end() -> None:
    """Which betas a model has differs at Bedrock, and its refusal names none: once more without them."""
    exchange = asked({"anthropic-beta": "interleaved-thinking-2025-05-14,new-2031-01-01"})
    refuse(exchange)
    assert "anthropic_beta" not in json.loads(exchange.upstream_request.body)
    said = answer(exchange, frames(SPOKEN), content_type=CONTENT_TYPE)
    assert (said.status, b"Hi." in said.body) == (200, True)
    assert "betas_refused" in exchange.figures.warnings


def test_each_thing_that_was_left_out_is_told() -> None:
    """A second refusal, of something else, does not make the first one's warning untrue."""
    headers = {"anthropic-beta": "interleaved-thinking-2025-05-14"}
    exchange = open_exchange(conversation(3), door="messages", wire="bedrock_messages", model=MODEL, headers=headers)
    refuse(exchange)
    refuse(exchange, b'{"message":"messages.1.content.0: Invalid `signature` in `thinking` block"}')
    assert b"signature" not in exchange.upstream_request.body
    assert {"betas_refused", "state_refused"} <= set(exchange.figures.warnings)


def test_the_second_refusal_is_the_answer() -> None:
    exchange = asked({"anthropic-beta": "interleaved-thinking-2025-05-14"})
    refuse(exchange)
    said = answer(exchange, [REFUSAL], status=400, content_type="application/json")
    assert (said.status, json.loads(said.body)["error"]["type"]) == (400, "invalid_request_error")


# ---------------------------------------------------------------- the count

BASE = "anthropic.claude-sonnet-5-v1%3A0"


@pytest.mark.parametrize(
    ("model", "segment"),
    [
        ("anthropic.claude-sonnet-5-v1:0", BASE),
        (MODEL, BASE),
        ("global.anthropic.claude-sonnet-5-v1:0", BASE),
        ("us-gov.anthropic.claude-sonnet-5-v1:0", BASE),
        ("arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-5-v1:0", BASE),
        (
            "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc",
            "arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fabc",
        ),
    ],
)
def test_the_count_is_the_models(model: str, segment: str) -> None:
    """Bedrock counts for models, and not for the inference profiles that lead to them."""
    count = PROVIDER.count_request(sent(HI, model=model)[0])
    assert count is not None
    assert (count.request.url, count.member) == (f"{HOST}/model/{segment}/count-tokens", "inputTokens")
    assert {400, 403, 404} <= count.absent


@pytest.mark.parametrize(("thinking", "limit"), [(None, 1), ({"type": "enabled", "budget_tokens": 4000}, 4001)])
def test_the_count_is_told_a_whole_request(thinking: Any, limit: int) -> None:
    body = json.loads(HI) | ({"thinking": thinking} if thinking else {})
    built, _ = sent(json.dumps(body).encode())
    bare = json.loads(built.body)
    del bare["max_tokens"]  # which clients of the count do not send
    count = PROVIDER.count_request(replace(built, body=json.dumps(bare).encode()))
    assert count is not None
    told = json.loads(count.request.body)
    inner = json.loads(base64.b64decode(told["input"]["invokeModel"]["body"]))
    assert inner == bare | {"max_tokens": limit}


def test_converse_is_counted_for_claude_alone() -> None:
    def count_of(model: str) -> Any:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}).encode()
        exchange = open_exchange(body, wire="bedrock_converse", model=model)
        return load_provider("bedrock_converse").count_request(exchange.upstream_request)

    told = json.loads(count_of(MODEL).request.body)
    assert told == {"input": {"converse": {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}}}
    assert count_of("us.amazon.nova-lite-v1:0") is None
