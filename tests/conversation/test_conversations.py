"""Ten-turn tool conversations by openai-python, which drops every field it does not know, with upstreams that verify
what they have signed; then the same conversation moves to another provider and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from openai import OpenAI

from tests.conversation.signing_hosts import (
    Claude,
    Copilot,
    DeepSeek,
    Gemini,
    GeminiCompatible,
    Host,
    LiteLlm,
    OpenRouter,
    serving,
)
from tests.gateway import gateway
from tests.in_turn import in_turn
from toolwire.conversation.tool_call_ids import token_of

pytestmark = pytest.mark.enable_socket

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]

#: Name of the provider -> (host, its section of the configuration, what follows its address, the model).
HOSTS: dict[str, tuple[type[Host], str, str, str]] = {
    "gemini": (Gemini, 'wire = "gemini"', "/v1beta", "gemini-3-pro-preview"),
    "claude": (Claude, 'wire = "anthropic_messages"', "", "claude-sonnet-4-5"),
    "deepseek": (DeepSeek, 'wire = "openai_chat"\nprofile = "deepseek"', "/v1", "deepseek-chat"),
    "openrouter": (OpenRouter, 'wire = "openai_chat"\nprofile = "openrouter"', "/v1", "some/model"),
    "compat": (GeminiCompatible, 'wire = "openai_chat"\nprofile = "gemini-compat"', "/v1", "gemini-3"),
    "unknown": (GeminiCompatible, 'wire = "openai_chat"', "/v1", "gemini-3"),
    "litellm": (LiteLlm, 'wire = "openai_chat"', "/v1", "claude"),
    "copilot": (Copilot, 'wire = "openai_chat"', "/v1", "gemini-3-pro"),
}


class Client:
    """A program that keeps a history as the SDK gives it, and only what OpenAI's API documents."""

    def __init__(self, sdk: OpenAI, stream: bool) -> None:
        self._sdk, self._stream = sdk, stream
        self.history: list[dict[str, Any]] = []
        self.warnings: set[str] = set()

    def go_on(self, model: str, text: str | None = None) -> str:
        """Asks until there is no call left, after what the user says, if that is anything. Returns the last text."""
        if text is not None:
            self.history.append({"role": "user", "content": text})
        for _ in range(5):
            message = self._ask(model)
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": arguments}}
                for call in message.tool_calls or ()
                if (arguments := call.function.arguments) is not None
            ]
            if not calls:
                self.history.append({"role": "assistant", "content": message.content})
                return str(message.content)
            self.history.append({"role": "assistant", "content": message.content, "tool_calls": calls})
            for call in reversed(calls):  # results in another order than the calls
                city = json.loads(call["function"]["arguments"])["city"]
                self.history.append({"role": "tool", "tool_call_id": call["id"], "content": f"fine in {city}"})
        raise AssertionError("the conversation does not end")

    def _ask(self, model: str) -> Any:
        create = self._sdk.chat.completions.with_raw_response.create
        # The history goes into the body as it is. As `messages`, each of its members would be looked at for a form that
        # a request may be written in, which takes as long as everything else here.
        options: Any = {"model": model, "messages": [], "tools": TOOLS, "reasoning_effort": "medium"}
        options["extra_body"] = {"messages": self.history}
        if not self._stream:
            answer = create(**options)
            self.warnings |= set((answer.headers.get("x-toolwire-warnings") or "").split(",")) - {""}
            return answer.parse().choices[0].message
        with self._sdk.chat.completions.stream(**options) as stream:
            return stream.get_final_completion().choices[0].message

    @property
    def call_ids(self) -> list[str]:
        return [call["id"] for message in self.history for call in message.get("tool_calls", ())]


@dataclass(frozen=True)
class Bench:
    """One gateway in front of every host. A test has hosts of its own, which have seen nothing yet."""

    base: str
    running: dict[str, Host]

    @contextmanager
    def conversation(self, *names: str, stream: bool) -> Iterator[tuple[Client, dict[str, Host]]]:
        self.running.update({name: HOSTS[name][0]() for name in HOSTS})
        with OpenAI(api_key="sk-nobody", base_url=self.base, max_retries=0, timeout=20) as sdk:
            yield Client(sdk, stream), {name: self.running[name] for name in names}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with ExitStack() as stack:
        running: dict[str, Host] = {}
        config = ""
        for name, (_, section, path, _) in HOSTS.items():
            address = stack.enter_context(serving(partial(running.__getitem__, name))) + path
            config += f'[providers.{name}]\nbase_url = "{address}"\ncredential = "none"\n{section}\n'
        yield Bench(stack.enter_context(gateway(tmp_path_factory.mktemp("hosts"), config)), running)


def model(name: str) -> str:
    return f"{name}/{HOSTS[name][3]}"


#: Hosts whose whole answers the fast run hears; `make integration` hears those of all.
WHOLE = ("claude",)


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        pytest.param(
            name, stream, id=f"{name}-{mode}", marks=() if stream or name in WHOLE else pytest.mark.integration
        )
        for name in HOSTS
        for stream, mode in ((True, "streamed"), (False, "whole"))
    ],
)
def test_ten_turns(name: str, stream: bool, bench: Bench) -> None:
    with bench.conversation(name, stream=stream) as (client, hosts):
        for turn in range(1, 11):
            assert client.go_on(model(name), f"turn {turn}") == f"done with {turn}"
        host = hosts[name]
    assert host.refused == []
    assert len(host.requests) == 30
    # The client sees one grammar of ids, each once, and all lead to one conversation.
    assert len(set(client.call_ids)) == len(client.call_ids) == 25
    assert len({token_of(id) for id in client.call_ids}) == 1
    assert None not in {token_of(id) for id in client.call_ids}
    # The provider sees its own, and no trace of ours.
    assert not re.search(r"call_[0-9A-Za-z]{32}|skip_thought", json.dumps(host.requests))
    if name == "claude":
        assert all(body["thinking"]["type"] == "enabled" for body in host.requests), "thinking was never turned off"
    assert client.warnings <= {"not_supported:reasoning_effort"}


#: The first of them answers first, and last.
MOVES = [("gemini-claude", ("gemini", "claude")), ("claude-deepseek", ("claude", "deepseek")),
         ("openrouter-gemini", ("openrouter", "gemini"))]  # fmt: skip


@in_turn("move, stream", [True, False], MOVES)
def test_to_another_provider_and_back(move: tuple[str, str], stream: bool, bench: Bench) -> None:
    first, second = move
    with bench.conversation(first, second, stream=stream) as (client, hosts):
        for turn, name in enumerate([first] * 3 + [second] * 3 + [first] * 3, 1):
            assert client.go_on(model(name), f"turn {turn}") == f"done with {turn}"
    assert [host.refused for host in hosts.values()] == [[], []]
    assert [len(host.requests) for host in hosts.values()] == [18, 9]


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ("gemini", "claude", "thoughtSignature"),
        ("claude", "gemini", "hmm 1"),
        ("deepseek", "claude", "thought of"),
        ("openrouter", "deepseek", "reasoning_details"),
    ],
)
def test_in_the_middle_of_a_tool_loop(first: str, second: str, state: str, bench: Bench) -> None:
    """The other provider gets none of the first one's state, and no refusal comes of it."""
    with bench.conversation(first, second, stream=False) as (client, hosts):
        client.go_on(model(first), "turn 1")
        client.history = client.history[:3]  # the call and its result: the loop goes on elsewhere
        assert client.go_on(model(second)) == "done with 1"
        assert client.go_on(model(first), "and more") == "done with 2"
    assert [host.refused for host in hosts.values()] == [[], []]
    assert state in json.dumps(hosts[first].requests)
    assert state not in json.dumps(hosts[second].requests)


def test_a_resumed_forked_and_merged_conversation(bench: Bench) -> None:
    """What a client does with its histories: each finds what it needs by the ids alone."""
    with bench.conversation("claude", stream=False) as (client, hosts):
        client.go_on(model("claude"), "turn 1")
        beginning = list(client.history)
        client.go_on(model("claude"), "turn 2")
        left = client.history
        client.history = []  # another conversation
        client.go_on(model("claude"), "turn 1")
        other = client.history
        for history in (left[:-1], beginning, other + left[:-1]):  # resumed before its last word, forked, merged
            client.history = list(history)
            client.go_on(model("claude"), None if history[-1]["role"] == "tool" else "go on")
    assert hosts["claude"].refused == []
    assert not re.search(r"call_[0-9A-Za-z]{32}", json.dumps(hosts["claude"].requests))
    assert all(body["thinking"]["type"] == "enabled" for body in hosts["claude"].requests)


def test_ids_that_another_gateway_has_minted(bench: Bench) -> None:
    """They lead nowhere here: the pair stays a pair, and the state that is not there is done without."""
    call = {"id": "call_" + "x" * 32, "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "fine"},
    ]
    for name in ("claude", "gemini", "deepseek"):
        with bench.conversation(name, stream=False) as (client, hosts):
            client.history = list(history)
            assert client.go_on(model(name)) == "done with 1"
        assert hosts[name].refused == []
