"""Several keys or regions of one provider: which of them a conversation's turns are sent to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shell.misbehaving_upstream import MisbehavingUpstream
from tests.shell.serve.test_attempts import (
    CALL,
    COMPLETION,
    Configured,
    _circuits,
    ask,
    configured,
    connections,
    refused,
    second,
    whole,
)
from toolwire.model.settings import ProviderConfig

__all__ = ["_circuits", "configured", "connections", "second"]

pytestmark = pytest.mark.enable_socket


def endpoints(first: MisbehavingUpstream, other: MisbehavingUpstream, weight: int = 1) -> dict[str, Any]:
    """The provider `acme` at two addresses, each with its own key."""
    made = (
        ProviderConfig("acme", "openai_chat", f"{first.url}/v1", "env:FIRST_KEY"),
        ProviderConfig("acme", "openai_chat", f"{other.url}/v1", "env:SECOND_KEY", weight=weight),
    )
    return {"endpoints": {"acme": made}}


def test_a_conversation_keeps_its_endpoint_while_that_answers(
    configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream
) -> None:
    configured(**endpoints(server, second))
    both = {"one": server, "other": second}
    for each in both.values():
        each.script(*[whole(COMPLETION)] * 40)
    seen = []
    for turn in range(40):
        before = {name: len(each.requests) for name, each in both.items()}
        ask(headers={"x-conversation-id": f"conversation-{turn % 20}"})
        (asked,) = [name for name, each in both.items() if len(each.requests) > before[name]]
        seen.append(asked)

    assert seen[:20] == seen[20:]
    assert set(seen) == set(both)
    keys = {request.headers["authorization"] for request in second.requests}
    assert keys == {"Bearer sk-second-secret"}


@pytest.mark.parametrize("told", ["the id that it was given", "the ids of its calls", "ids of its calls that are ours"])
def test_a_conversation_that_begins_here_stays_where_it_began(
    told: str, configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream
) -> None:
    configured(**endpoints(server, second))
    both = (server, second)
    foreign = told == "the ids of its calls"
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    moved, asked = 0, set()
    for number in range(16):
        history: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]
        headers: dict[str, str] = {}
        places = []
        for turn in range(4):
            call = CALL | {"id": f"call_own{number}t{turn}" if foreign else f"call/{number}/{turn}"}
            message = {"role": "assistant", "tool_calls": [call]}
            choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
            for each in both:
                each._scripts.clear()
                each.script(whole(COMPLETION | {"choices": [choice]}))
            head, body = ask(body={"model": "acme/m", "messages": history, "tools": [tool]}, headers=headers)
            places.append(next(each.url for each in both if not each._scripts))
            if told == "the id that it was given":
                headers = {"x-conversation-id": dict(head.headers)["x-conversation-id"]}
                continue
            message = json.loads(body)["choices"][0]["message"]
            result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "r"}
            history += [message, result]
        # Where the provider's own ids are kept, the first turn leaves nothing that tells it.
        moved += len(set(places[1:] if foreign else places)) > 1
        asked |= set(places)

    assert moved == 0
    assert len(asked) == 2


def test_new_conversations_are_dealt_out_by_weight(
    configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(**endpoints(server, second, weight=3))
    numbers = iter([0.0, 0.24, 0.26, 0.999])
    monkeypatch.setattr("toolwire.exchange.plan._place_of", lambda token: next(numbers))
    for each in (server, second):
        each.script(*[whole(COMPLETION)] * 2)

    for _ in range(4):
        ask()

    assert (len(server.requests), len(second.requests)) == (2, 2)


def test_another_endpoint_answers_where_one_fails(
    configured: Configured, server: MisbehavingUpstream, second: MisbehavingUpstream
) -> None:
    configured(**endpoints(server, second))
    for each in (server, second):
        each.script(refused(429, retry_after="60"), whole(COMPLETION))

    heads = [ask()[0], ask()[0]]

    assert {head.status for head in heads} <= {200, 429}
    assert len(server.requests) + len(second.requests) >= 3
