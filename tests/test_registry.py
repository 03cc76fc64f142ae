"""A new wire is a folder and a row of `WIRES`, a new door a folder and a row of `DOORS`: the two of `tests/toys` are
served with every built one, from the client's HTTP request to its answer, and nothing else knows of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.corpus.driver import Answer
from tests.gemini_client import event_members
from tests.matrix.cells import REQUESTS
from tests.matrix.hosts import HOSTS, Host
from tests.matrix.judges import JUDGES
from tests.matrix.reply import Reply
from tests.matrix.scenarios import SCENARIOS, Call, Scenario, Text
from tests.matrix.vendors import VENDORS
from tests.named_rows import each_row
from tests.toys.toy_wire import host as toy_host
from tests.toys.toy_wire.request import signature
from toolwire.doors import DOORS, DoorRow, door_at
from toolwire.model.http import Head, UpstreamRequest
from toolwire.model.settings import Settings, Tenant
from toolwire.providers import WIRES
from toolwire.shell.network import breaker
from toolwire.shell.serve import admission
from toolwire.shell.serve import door as serve_module
from toolwire.shell.serve.door import serve
from toolwire.shell.serve.native import serve_native
from toolwire.shell.settings.configuration import load_settings

KEY, SECRET = "tw-key", "toy-secret-of-the-provider"
BASE = "https://up.example/v1"

#: What every one of them has words for. A refusal is a word of OpenAI's, reasoning one of few.
SAID = [scenario for scenario in SCENARIOS if scenario.name not in ("reasoning", "refusal", "length_in_call")]

TOY_WIRE = Host("toy", "", "toy", None, toy_host.write)
BUILT_DOORS, BUILT_WIRES = tuple(DOORS), tuple(WIRES)


class _Upstream:
    """Stands for the network: it answers with the reply, and keeps what it was sent."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.sent: list[UpstreamRequest] = []

    def send(self, request: UpstreamRequest, **_: object) -> _Answer:
        self.sent.append(request)
        return _Answer(self.reply)


class _Answer:
    def __init__(self, reply: Reply) -> None:
        self.status, self.headers, self._body = reply.status, {"content-type": reply.content_type}, reply.body

    def __enter__(self) -> _Answer:
        return self

    def __exit__(self, *_: object) -> None: ...

    def chunks(self) -> Iterator[bytes]:
        yield from (self._body[at : at + 7] for at in range(0, len(self._body), 7))

    def expire_within(self, seconds: float) -> None: ...


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The two rows; and a configuration that has each wire once, under its host's name."""
    monkeypatch.setitem(WIRES, "toy", "tests.toys.toy_wire.request")
    monkeypatch.setitem(DOORS, "toy", DoorRow("tests.toys.toy_door.request", ("/toy/{action}",)))
    monkeypatch.setenv("UP_KEY", SECRET)
    sections = [
        f'[providers.{host.name}]\nwire = "{host.wire}"\nbase_url = "{BASE}"\ncredential = "env:UP_KEY"\n'
        + (f'profile = "{host.profile}"\n' if host.profile else "")
        for host in (*HOSTS, TOY_WIRE)
    ]
    settings = load_settings({"TOOLWIRE_CONFIG": "toolwire.toml"}, read=lambda _: "".join(sections))
    settings = replace(settings, key_sha256=hashlib.sha256(KEY.encode()).hexdigest())
    monkeypatch.setattr(admission, "current_settings", lambda: settings)
    return settings


def ask(
    door: str, event: dict[str, Any], reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> tuple[Answer, UpstreamRequest]:
    """The client's answer, and the request that went upstream."""
    breaker._breaker.cache_clear()  # what failed in one row is not passed over in the next
    upstream = _Upstream(reply)
    monkeypatch.setattr(serve_module, "upstream", lambda: upstream)
    head, *pieces = list(serve(door, event, None))
    assert isinstance(head, Head)
    (sent,) = upstream.sent
    return Answer(head.status, dict(head.headers), b"".join(p for p in pieces if isinstance(p, bytes))), sent


def event(resource: str, body: bytes, **more: Any) -> dict[str, Any]:
    """A proxy event as API Gateway makes it."""
    given = {"httpMethod": "POST", "resource": resource, "requestContext": {"requestId": "r1"}, "body": body.decode()}
    return {"headers": {"authorization": f"Bearer {KEY}"}, "isBase64Encoded": False, **given, **more}


def toy_event(host: Host, stream: bool, body: bytes | None = None) -> dict[str, Any]:
    """The toy door's client: its model and verb are in the path, its key in the query."""
    takes = {"type": "object", "properties": {"city": {}}}
    tools = [{"name": name, "takes": takes} for name in ("get_weather", "get_time")]
    turns = [["user", "What time?"], ["call", "c9", "get_time", '{"n": 1.10}'], ["result", "c9", "noon"], ["user", "?"]]
    action = f"{host.name}/{host.model}:{'hear' if stream else 'ask'}"
    return event(
        "/toy/{action}",
        body or json.dumps({"turns": turns, "tools": tools}).encode(),
        headers={},
        pathParameters={"action": action},
        queryStringParameters={"key": KEY},
    )


# ---------------------------------------------------------------- built doors, the toy wire


@each_row("stream", [True, False], ids=["stream", "json"])
@each_row("scenario", SAID, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("door", BUILT_DOORS)
def test_every_door_serves_a_new_wire(
    door: str, scenario: Scenario, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.loads(REQUESTS[door](stream)) | {"model": "toy/a model/with a slash"}
    members = event_members(door, json.dumps(body).encode())
    the_event = event(DOORS[door].paths[0], members.pop("body").encode(), **members)

    answer, sent = ask(door, the_event, toy_host.write(scenario, stream), monkeypatch)

    JUDGES[door](scenario, answer, stream)
    _check_toy_request(sent, stream)


def _check_toy_request(sent: UpstreamRequest, stream: bool) -> None:
    assert urlsplit(sent.url).path == "/v1/models/a%20model%2Fwith%20a%20slash/talk"
    assert urlsplit(sent.url).query == f"version=2&streams={int(stream)}"
    *signed, (name, date), (_, seal) = sent.headers
    assert name == "x-toy-date"
    assert ("x-toolwire-hop", "1") in signed, "nothing is added behind the signature"
    assert seal == signature(replace(sent, headers=tuple(signed)), SECRET, int(date))
    body = json.loads(sent.body)
    assert [tool["name"] for tool in body["tools"]] == ["get_weather", "get_time"]
    (call,), (result,) = ([turn for turn in body["turns"] if turn[0] == word] for word in ("call", "result"))
    assert call[2:] == ["get_time", "{}"]
    assert result[1] == call[1]
    assert "noon" in result[2]


# ---------------------------------------------------------------- the toy door, every wire


@each_row("stream", [True, False], ids=["stream", "json"])
@each_row("scenario", SAID, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("host", [*HOSTS, TOY_WIRE], ids=lambda host: host.name)
def test_a_new_door_is_served_by_every_wire(
    host: Host, scenario: Scenario, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, sent = ask("toy", toy_event(host, stream), host.write(scenario, stream), monkeypatch)

    _judge_toy_answer(scenario.without_spaces() if host.spaces_lost else scenario, answer, stream)
    assert answer.headers["x-request-id"] == "r1"
    assert KEY not in repr(sent), "the client's key stays here"
    assert sent.url.startswith(BASE)
    if host is not TOY_WIRE:
        VENDORS[host.wire](sent.body)
        assert b"1.10" in sent.body


def _judge_toy_answer(scenario: Scenario, answer: Answer, stream: bool) -> None:
    """Fails unless the toy door's client hears the scenario."""
    if not stream or scenario.failure == "refused":
        said = json.loads(answer.body)
        if scenario.failure is not None:
            assert answer.status >= 429
            assert said["about"] == "r1"
            return
        assert said["text"] == scenario.text
        assert [call[1:] for call in said["calls"]] == [[call.name, call.arguments or "{}"] for call in scenario.calls]
        assert said["end"] == scenario.finish
        return
    said = [json.loads(line[6:]) for line in answer.body.decode().split("\n") if line.startswith("data: ")]
    heard = [part for part in scenario.parts if isinstance(part, Text | Call)]
    text = "".join(word[1] for word in said if word[0] == "text")
    assert text == "".join("".join(part.pieces) for part in heard if isinstance(part, Text))
    if scenario.failure is not None:
        assert said[-1][0] == "oops"
        assert "end" not in {word[0] for word in said}
        return
    assert said[-1] == ["end", scenario.finish]
    calls: dict[int, list[str]] = {}
    for word, *rest in said:
        if word == "call":
            calls[rest[0]] = [rest[2], ""]
        elif word == "piece":  # those of parallel calls may alternate
            calls[rest[0]][1] += rest[1]
    assert list(calls.values()) == [[call.name, call.arguments or "{}"] for call in scenario.calls]


# ---------------------------------------------------------------- what else goes by the registries


def test_the_paths_of_the_doors() -> None:
    for name in BUILT_DOORS:
        assert [door_at(path) for path in DOORS[name].paths] == [name] * len(DOORS[name].paths)
    assert door_at("/toy/{action}") == "toy"
    assert door_at("/chat/completions/x") is None


def test_a_new_door_says_where_the_key_is_and_what_is_left(
    configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = Tenant(requests_per_minute=2)
    settings = replace(configured, tenant=tenant)
    monkeypatch.setattr(admission, "current_settings", lambda: settings)
    the_event = toy_event(TOY_WIRE, stream=False)
    answer, _ = ask("toy", the_event, toy_host.write(SCENARIOS[0], False), monkeypatch)
    assert "x-toy-left-requests" in answer.headers
    assert "x-ratelimit-limit-requests" not in answer.headers

    without = the_event | {"queryStringParameters": None, "headers": {"authorization": f"Bearer {KEY}"}}
    head, body = list(serve("toy", without, None))
    assert isinstance(head, Head)
    assert head.status == 401
    assert "'?key=KEY'" in json.loads(bytes(body))["oops"]  # type: ignore[arg-type]


def test_tools_are_checked_through_a_new_door_and_for_a_new_wire() -> None:
    tools = [{"name": "get weather", "takes": {"type": "object", "properties": {}}}]
    body = json.dumps({"door": "toy", "tools": tools, "models": ["toy/m", "openai/gpt-5"]}).encode()
    head, answer = list(serve_native(event("/native/tools/check", body), None))
    assert isinstance(head, Head)
    verdicts = json.loads(bytes(answer))["providers"]  # type: ignore[arg-type]
    assert [verdict["wire"] for verdict in verdicts] == ["toy", "openai_chat"]
    assert all(verdict["accepted"] for verdict in verdicts)
    renamed = {"tool": "get weather", "path": "tools[0]", "change": "renamed"}
    for verdict in verdicts:  # and the schema is found again: nothing else has changed
        (change,) = verdict["changes"]
        assert renamed.items() <= change.items()
