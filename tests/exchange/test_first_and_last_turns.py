"""Hosts that refuse a history for its first or its last turn, or for two turns of one role in a row: it is sent once
more as the host takes it, on every wire. Each refusal is what a host was seen to say."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import open_exchange
from tests.exchange.test_odd_hosts import refused
from tests.named_rows import each_row
from tests.providers.openai_chat.chat_upstream import request

ASKED = {"role": "user", "content": "hi"}
SAID = {"role": "assistant", "content": "so"}
RULES = {"role": "system", "content": "Rules."}
BEGINNING = {"role": "user", "content": "(no text)"}
GO_ON = {"role": "user", "content": "Continue."}

#: Host -> its refusal, the history, and what is sent in its place.
CHAT: dict[str, tuple[str, list[Any], list[Any]]] = {
    "Perplexity": (
        "After the (optional) system message(s), user and assistant roles should be alternating.",
        [RULES, ASKED, ASKED], [RULES, {"role": "user", "content": "hi\nhi"}],
    ),
    "Perplexity, with tools": (
        "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).",
        [SAID, ASKED], [BEGINNING, SAID, ASKED],
    ),
    "Perplexity, the last": ("Last message must have role `user` or `tool`.", [ASKED, SAID], [ASKED, SAID, GO_ON]),
    "DeepSeek, in a row": (
        "deepseek-reasoner does not support successive user or assistant messages (messages[0] and messages[1] in your "
        "input). You should interleave the user/assistant messages in the message sequence.",
        [ASKED, ASKED], [{"role": "user", "content": "hi\nhi"}],
    ),
    "DeepSeek, the first": (
        "The first message (except the system message) of deepseek-reasoner must be a user message, but an assistant "
        "message detected.",
        [RULES, SAID, ASKED], [RULES, BEGINNING, SAID, ASKED],
    ),
    "DeepSeek, the last": (
        "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on.",
        [ASKED, SAID], [ASKED, SAID, GO_ON],
    ),
    "Bedrock behind a proxy": (
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between "
        "user and assistant roles and try again.",
        [ASKED, SAID, SAID, ASKED], [ASKED, {"role": "assistant", "content": "so\n\nso"}, ASKED],
    ),
    "Bedrock behind a proxy, the first": (
        "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        [SAID, ASKED], [BEGINNING, SAID, ASKED],
    ),
    "Claude behind a proxy": (
        'messages: first message must use the "user" role', [SAID, ASKED], [BEGINNING, SAID, ASKED],
    ),
}  # fmt: skip


@each_row("profile", ["compatible", "openrouter", "deepseek"])
@each_row("host", CHAT)
def test_a_chat_host_is_sent_the_turns_as_it_takes_them(host: str, profile: str) -> None:
    refusal, history, wanted = CHAT[host]
    exchange = open_exchange(request(messages=history), profile=profile)
    assert json.loads(exchange.upstream_request.body)["messages"] == history
    assert not refused(exchange, 400, refusal)
    assert json.loads(exchange.upstream_request.body)["messages"] == wanted
    assert {"turns_rearranged", "user_turn_added"} & set(exchange.figures.warnings)
    assert refused(exchange, 400, refusal)


#: Wire -> a model that the tables take for one that goes on with its own text, and what its hosts say where it is not.
ELSEWHERE: dict[str, tuple[str, str, str]] = {
    "a deployment at a host of Anthropic's API": (
        "anthropic_messages", "team-model",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    "Llama at Bedrock": (
        "bedrock_converse", "meta.llama3-8b-instruct-v1:0",
        "The model that you are using requires the last turn in the conversation to be a user message. Add a user "
        "message to the conversation and try again.",
    ),
    "an inference profile at Bedrock": (
        "bedrock_converse", "arn:aws:bedrock:us-east-1:1:application-inference-profile/x",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    "Claude by its own API at Bedrock": (
        "bedrock_messages", "anthropic.claude-sonnet-4-5",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    "Gemini": ("gemini", "gemini-2.5-flash", "Requests ending with a model turn are not supported."),
}  # fmt: skip

#: Door -> a history that ends with the model's turn.
ENDING: dict[str, dict[str, Any]] = {
    "chat_completions": {"model": "m", "messages": [ASKED, SAID]},
    "responses": {"model": "m", "input": [ASKED, SAID]},
    "messages": {"model": "m", "max_tokens": 99, "messages": [ASKED, SAID]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "so"}]}]},
}


def refused_by(wire: str, exchange: Any, message: str) -> bool:
    """Whether a refusal in the form of this wire's hosts ends the exchange."""
    told = {"message": message} if wire.startswith("bedrock") else {"error": {"message": message}}
    exchange.receive_head(400, {"content-type": "application/json", "x-amzn-errortype": "ValidationException"})
    exchange.receive_data(json.dumps(told).encode())
    return bool(exchange.receive_end())


def turns(body: bytes) -> list[Any]:
    found = json.loads(body)
    return list(found.get("messages") or found["contents"])


@each_row("door", ENDING)
@each_row("where", ELSEWHERE)
def test_every_wire_adds_a_users_turn_behind_a_refused_end(where: str, door: str) -> None:
    wire, model, refusal = ELSEWHERE[where]
    if door == "gemini" == wire:
        return  # between Google and its client
    exchange = open_exchange(json.dumps(ENDING[door]).encode(), door=door, wire=wire, profile=None, model=model)
    before = turns(exchange.upstream_request.body)
    assert [turn["role"] for turn in before] in (["user", "assistant"], ["user", "model"])
    assert not refused_by(wire, exchange, refusal)
    after = turns(exchange.upstream_request.body)
    assert after[:2] == before
    assert [turn["role"] for turn in after[2:]] == ["user"]
    assert "Continue." in json.dumps(after[2])
    assert "user_turn_added" in exchange.figures.warnings
    assert refused_by(wire, exchange, refusal)
