"""The cells of the matrix: a door, a provider and a scenario, streamed or not, and how each is played."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.corpus.driver import Answer, answer, open_exchange
from tests.matrix.gemini_judge import ask_gemini
from tests.matrix.hosts import HOSTS, Host
from tests.matrix.judges import JUDGES
from tests.matrix.messages_judge import ask_messages
from tests.matrix.native_judge import ask_native
from tests.matrix.reply import Reply
from tests.matrix.scenarios import SCENARIOS, Scenario
from tests.matrix.vendors import VENDORS
from toolwire.doors import DOORS
from toolwire.exchange.exchange import Exchange

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}


def _ask_chat(stream: bool) -> bytes:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": _PARAMETERS}}
        for name in ("get_weather", "get_time")
    ]
    call = {"id": "call_9", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_9", "content": "noon"},
        {"role": "user", "content": "Well?"},
    ]
    request: dict[str, object] = {"model": "m", "messages": messages, "tools": tools}
    return json.dumps(
        request | ({"stream": True, "stream_options": {"include_usage": True}} if stream else {})
    ).encode()


def _ask_responses(stream: bool) -> bytes:
    tools = [
        {"type": "function", "name": name, "parameters": _PARAMETERS, "strict": False}
        for name in ("get_weather", "get_time")
    ]
    items = [
        {"role": "user", "content": "What time is it?"},
        {"type": "function_call", "call_id": "call_9", "name": "get_time", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_9", "output": "noon"},
        {"role": "user", "content": [{"type": "input_text", "text": "Well?"}]},
    ]
    request: dict[str, object] = {"model": "m", "instructions": "Be brief.", "input": items, "tools": tools}
    return json.dumps(request | {"store": False} | ({"stream": True} if stream else {})).encode()


#: Door -> its request for any scenario.
REQUESTS: dict[str, Callable[[bool], bytes]] = {
    "native": ask_native,
    "responses": _ask_responses,
    "chat_completions": _ask_chat,
}
REQUESTS["messages"] = ask_messages
REQUESTS["gemini"] = ask_gemini


@dataclass(frozen=True)
class Cell:
    door: str
    host: Host
    scenario: Scenario
    stream: bool

    @property
    def id(self) -> str:
        return f"{self.door}/{self.host.name}/{self.scenario.name}.{'stream' if self.stream else 'json'}"

    def reply(self) -> Reply:
        """What the provider sends."""
        return self.host.write(self.scenario, self.stream)

    def open(self) -> Exchange:
        """The client's request, on its way to the provider."""
        host = self.host
        return open_exchange(
            REQUESTS[self.door](self.stream), door=self.door, wire=host.wire, profile=host.profile, model=host.model
        )

    @cache  # noqa: B019 - a cell is asked of by two tests and by the page, and there are a thousand at most
    def play(self) -> Answer:
        """What the client gets, played once in a process. Fails unless the provider knows the request."""
        reply, exchange = self.reply(), self.open()
        _ask_vendor(self.host.wire, exchange.upstream_request.body)
        return answer(exchange, [reply.body], status=reply.status, content_type=reply.content_type)

    @cache  # noqa: B019
    def judge(self) -> None:
        """Fails unless the provider knows the request and the door's client hears what the scenario says."""
        said = self.scenario.without_spaces() if self.host.spaces_lost else self.scenario
        said = said if self.host.counts_reasoning else said.without_reasoning_tokens()
        JUDGES[self.door](said, self.play(), self.stream)


@cache
def _ask_vendor(wire: str, body: bytes) -> None:
    """Fails unless the provider knows the request, which does not depend on what is answered."""
    VENDORS[wire](body)


#: What each host can say, streamed or not.
ANSWERS = [
    (host, scenario, stream)
    for host in HOSTS
    for scenario in SCENARIOS
    for stream in (True, False)
    if host.can_say(scenario, stream)
]
CELLS = [Cell(door, *answer) for door in DOORS for answer in ANSWERS]
