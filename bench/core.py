"""The translation alone, in this process, without a socket: what one delta and one request cost.

Times are CPU time, and a figure is the fastest of a few repeats: all else on the machine only ever adds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from bench.script import Script
from bench.traffic import Figures
from bench.wires import WIRES, Wire
from toolwire.doors import load_door
from toolwire.exchange.actions import Action, carried_out
from toolwire.exchange.attempt import prepare_attempt
from toolwire.exchange.exchange import Exchange
from toolwire.exchange.prepare import prepare
from toolwire.model.http import HttpRequest
from toolwire.model.settings import ProviderConfig, Settings

_REPEATS = 5
#: Deltas in one receive: while one write is on its way, about so many arrive when a provider is fast.
_TOGETHER = 25
_CHAT = WIRES["bench"]
_STREAM_HEAD = {"content-type": "text/event-stream"}


def deltas(count: int, wire: Wire = _CHAT) -> Figures:
    """Microseconds for each delta, from the upstream's bytes to the client's: passed on, and written anew."""
    kinds = (kind for kind in ("text", "bare", "tools") if kind not in wire.without)
    return {f"{kind}_delta": _delta(Script(kind, count), wire) for kind in kinds}


def text_calls(count: int, wire: Wire = _CHAT) -> Figures:
    """Microseconds for each text delta of a host whose models may write calls as text: not looked for, and looked for.
    Only such hosts' wire has them."""
    if wire is not _CHAT:
        return {}
    return {f"recovery_{word}": _delta(Script("text", count), wire, recovery=word) for word in ("off", "on")}


def _delta(script: Script, wire: Wire, recovery: str | None = None) -> float:
    stream = [event for _, event in wire.events(script)]
    pieces = [b"".join(stream[at : at + _TOGETHER]) for at in range(0, len(stream), _TOGETHER)]
    body = script.request("scripted")
    if recovery is not None:
        body = json.dumps(json.loads(body) | {"tools": [_tool(0)]}).encode()

    def translate() -> float:
        exchange = _open(body, wire, recovery)
        exchange.receive_head(200, _STREAM_HEAD)
        started = time.process_time()
        for piece in pieces:
            _sent(exchange, exchange.receive_data(piece))
        _sent(exchange, exchange.receive_end())
        return time.process_time() - started

    return _fastest(translate) / script.stamps * 1e6


def _sent(exchange: Exchange, actions: list[Action]) -> None:
    """What the shell does with an answer's actions, but the store's and the socket's part."""
    for _ in carried_out(exchange, actions, lambda items: None):  # noqa: ARG005
        pass


def large_request(messages: int = 100, tools: int = 20, size: int = 188_000, wire: Wire = _CHAT) -> Figures:
    """Milliseconds from a client's body to the upstream's: parsed, checked, translated."""
    body = conversation(messages, tools, size)

    def build() -> float:
        started = time.process_time()
        _open(body, wire)
        return time.process_time() - started

    return {"request": _fastest(build) * 1e3}


def call_events(wire: Wire = _CHAT) -> Figures:
    """Milliseconds for a whole tool call of 100 deltas, start and end of the answer included."""
    return {} if "tools" in wire.without else {"call": _delta(Script("tools", 50), wire) * 100 / 1e3}


def _open(body: bytes, wire: Wire, recovery: str | None = None) -> Exchange:
    headers = {"x-toolwire-recover-text-calls": recovery} if recovery else {}
    provider = _provider(wire, "compatible" if recovery else None)
    settings = Settings({provider.name: provider}, {"scripted": f"{provider.name}/{wire.model}"})
    http = HttpRequest("POST", "/chat/completions", headers, body)
    client, target = prepare(load_door("chat_completions"), http, settings, settings.tenant)
    return Exchange(
        client,
        prepare_attempt(client, target, None),
        request_id="bench",
        now=lambda: 0.0,
        new_id=lambda length: "0" * length,
    )


def _provider(wire: Wire, profile: str | None) -> ProviderConfig:
    if profile is None and wire is _CHAT:
        profile = "openai"
    return ProviderConfig("bench", wire.name, "http://127.0.0.1:1", "none", profile)


def _fastest(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(_REPEATS))


def conversation(messages: int, tools: int, size: int) -> bytes:
    """A request as a coding agent sends it: turns of a call and its result, many tools, about `size` bytes."""
    turns: list[dict[str, object]] = [{"role": "system", "content": "You are a careful engineer."}]
    for number in range((messages - 2) // 2):
        id = f"call_Bench{number:020d}"
        function = {"name": f"tool_{number % tools}", "arguments": json.dumps({"path": f"src/module_{number}.py"})}
        call = {"id": id, "type": "function", "function": function}
        turns.append({"role": "assistant", "content": None, "tool_calls": [call]})
        turns.append({"role": "tool", "tool_call_id": id, "content": ""})
    turns.append({"role": "user", "content": "Go on."})
    body: dict[str, object] = {
        "model": "scripted",
        "messages": turns,
        "tools": [_tool(number) for number in range(tools)],
        "stream": True,
    }
    results = [turn for turn in turns if turn["role"] == "tool"]
    line = 'def f(x):\n\treturn "é" + x  # a line of a file\n'
    room = size - len(json.dumps(body))
    for turn in results:
        turn["content"] = line * (room // len(results) // (len(json.dumps(line)) - 2))
    return json.dumps(body).encode()


def _tool(number: int) -> dict[str, object]:
    properties = {
        f"option_{option}": {
            "type": "string",
            "description": "What this option changes, in a sentence of the usual length.",
            "enum": ["first", "second", "third"],
        }
        for option in range(8)
    }
    parameters = {"type": "object", "properties": properties, "required": ["option_0"], "additionalProperties": False}
    function = {
        "name": f"tool_{number}",
        "description": "What the tool does, and when a model should prefer it to the others. " * 4,
        "parameters": parameters,
    }
    return {"type": "function", "function": function}
