"""Every entry checks the same things in the same order: of two faults in a request, each names the same one."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.gemini_client import event_members, placed
from tests.policy.door_clients import CLIENTS
from toolwire.doors import DOORS
from toolwire.exchange.prepare import HOP_HEADER
from toolwire.model.errors import GatewayError
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings, Tenant
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Recording, Scenario
from toolwire.shell.serve import admission, attempts
from toolwire.shell.serve.door import serve
from toolwire.shell.serve.native import serve_native

KEY = "tw-key"
TOOL = {"name": "f", "description": "A tool.", "parameters": {"type": "object", "properties": {}}}


@dataclass
class Ask:
    """A request in the making, and who sends it."""

    door: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=lambda: {"x-api-key": KEY})
    tenant: dict[str, Any] = field(default_factory=dict)


def history(ask: Ask) -> None:
    """A result of a call that nobody has made."""
    if ask.door == "responses":
        ask.body["input"] = [{"type": "function_call_output", "call_id": "call_x", "output": "ok"}]
    elif ask.door == "gemini":
        answer = {"functionResponse": {"name": "f", "id": "call_x", "response": {}}}
        ask.body["contents"] = [{"role": "user", "parts": [answer]}]
    elif ask.door == "messages":
        result = {"type": "tool_result", "tool_use_id": "call_x", "content": "ok"}
        ask.body["messages"] = [{"role": "user", "content": [result]}]
    else:
        ask.body["messages"].append({"role": "tool", "tool_call_id": "call_x", "content": "ok"})


#: In the order in which they are found: what it does to a request, and the status and code of its error.
FAULTS: dict[str, tuple[Callable[[Ask], object], int, str]] = {
    "loop": (lambda ask: ask.headers.update({HOP_HEADER: "1"}), 508, "loop_detected"),
    "key": (lambda ask: ask.headers.update({"x-api-key": "another"}), 401, "invalid_api_key"),
    "door": (lambda ask: ask.tenant.update(doors=("native",) if ask.door != "native" else ()), 403, "door_not_allowed"),
    "body": (lambda ask: ask.body.update(stream="yes", systemInstruction=3), 400, "invalid_type"),
    "option": (lambda ask: ask.headers.update({"x-toolwire-schema-mode": "x"}), 400, "invalid_option"),
    "tools": (lambda ask: ask.body.update(tools=ask.body["tools"] * 2), 400, "duplicate_tool_name"),
    "route": (lambda ask: ask.body.update(model="nowhere/m"), 404, "model_not_found"),
    "model": (lambda ask: ask.tenant.update(models=("another",)), 403, "model_not_allowed"),
    "history": (history, 400, "unknown_tool_call_id"),
}

#: Faults that an entry without keys cannot see.
ACCESS = {"loop", "key", "door", "model"}


def event(path: str, ask: Ask, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "httpMethod": "POST",
        "resource": path,
        "path": path,
        "headers": ask.headers,
        "requestContext": {"requestId": "req-1"},
        **event_members(ask.door if path != "/native/translate" else "native", json.dumps(body).encode()),
    }


def replayed(ask: Ask) -> Head:
    path = DOORS[ask.door].paths[0]
    return replay(Scenario(event(path, ask, ask.body), Recording(200, {}, b"", "complete"))).head


def translated(ask: Ask) -> Head:
    body: dict[str, Any] = {"door": ask.door, "body": ask.body}
    if ask.door == "gemini":
        own, parameters, _ = placed(json.dumps(ask.body).encode())
        body |= {"body": json.loads(own), "parameters": parameters}
    return next(serve_native(event("/native/translate", ask, body), None))  # type: ignore[return-value]


ENTRIES: dict[str, Callable[[Ask], Any]] = {
    "answer": lambda ask: next(serve(ask.door, event("/x", ask, ask.body), None)),
    "count_tokens": lambda ask: next(serve(ask.door, event("/messages/count_tokens", ask, ask.body), None)),
    "translate": translated,
    "replay": replayed,
}


def seen_by(entry: str) -> list[str]:
    return [fault for fault in FAULTS if entry != "replay" or fault not in ACCESS]


ROWS = [
    (entry, door, first, second)
    for entry in ENTRIES
    for door in DOORS
    if entry != "count_tokens" or door == "messages"
    for first, second in [*itertools.pairwise(seen_by(entry)), ("history", "history")]
]


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The codes of the errors that were told."""
    found: list[str] = []
    begun = GatewayError.__init__

    def begin(error: GatewayError, *arguments: Any, **more: Any) -> None:
        begun(error, *arguments, **more)
        found.append(error.code)

    monkeypatch.setattr(GatewayError, "__init__", begin)
    return found


@pytest.mark.parametrize(("entry", "door", "first", "second"), ROWS)
def test_the_first_fault_is_told(
    entry: str, door: str, first: str, second: str, codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = "demo/anthropic" if door == "gemini" else "demo/gemini"  # a lane leaves the history to its provider
    ask = Ask(door, {**CLIENTS[door].body([TOOL], None, None, False), "model": model})
    for fault in {second: None, first: None}:
        FAULTS[fault][0](ask)
    settings = Settings(
        {"up": ProviderConfig("up", "gemini", "http://127.0.0.1:1")},
        tenant=Tenant(**ask.tenant),
        key_sha256=hashlib.sha256(KEY.encode()).hexdigest(),
        require_key=True,
    )
    monkeypatch.setattr(admission, "current_settings", lambda: settings)
    monkeypatch.setattr(attempts, "_listening", lambda target: target)

    head = ENTRIES[entry](ask)

    _, status, code = FAULTS[first]
    assert (head.status, codes[-1:]) == (status, [code])
