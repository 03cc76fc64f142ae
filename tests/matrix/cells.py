"""The cells of the matrix: a door, a provider and a scenario, streamed or not, and how each is played."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.corpus.driver import Answer, answer, open_exchange
from tests.matrix.hosts import HOSTS, Host, Reply
from tests.matrix.judges import JUDGES
from tests.matrix.scenarios import SCENARIOS, Scenario
from toolwire.doors import DOORS

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}


def _ask_chat(stream: bool) -> bytes:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": _PARAMETERS}}
        for name in ("get_weather", "get_time")
    ]
    request = {"model": "m", "messages": [{"role": "user", "content": "Well?"}], "tools": tools}
    return json.dumps(
        request | ({"stream": True, "stream_options": {"include_usage": True}} if stream else {})
    ).encode()


#: Door -> its request for any scenario.
REQUESTS: dict[str, Callable[[bool], bytes]] = {"chat": _ask_chat}


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

    def play(self) -> Answer:
        """What the client gets."""
        exchange = open_exchange(
            REQUESTS[self.door](self.stream), door=self.door, wire=self.host.wire, profile=self.host.profile
        )
        reply = self.reply()
        return answer(exchange, [reply.body], status=reply.status, content_type=reply.content_type)

    def judge(self) -> None:
        """Fails unless the door's client hears what the scenario says."""
        JUDGES[self.door](self.scenario, self.play(), self.stream)


CELLS = [
    Cell(door, host, scenario, stream)
    for door in DOORS
    for host in HOSTS
    for scenario in SCENARIOS
    if scenario.name not in host.lacks
    for stream in (True, False)
]
