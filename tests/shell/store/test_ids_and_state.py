"""The store's part in a request: what is read and written, how often, and what becomes of a turn when it fails."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, answer
from tests.shell.serve import test_door as turns
from tests.shell.serve.test_door import CALLS, KEY, WEATHER, ask, event
from toolwire.conversation.tool_call_ids import mint, token_of
from toolwire.model.settings import Settings, Tenant
from toolwire.model.stored import Item, Key
from toolwire.shell.serve import admission
from toolwire.shell.serve import door as serve_module
from toolwire.shell.store import ids_and_state as turns_module
from toolwire.shell.store.store import Failure, MemoryStore, StoreError

pytestmark = pytest.mark.enable_socket
connections, settings, log = turns.connections, turns.settings, turns.log

#: Calls whose ids the chat door does not show as they are, so that ours are minted and mapped.
MINTED = [piece.replace(b"call_abc", b"abc-1") for piece in CALLS]
STREAM_TYPE = (("content-type", "text/event-stream"),)


class Counted(MemoryStore):
    """Counts its calls, and fails where a test says so."""

    def __init__(self, fails: dict[str, Failure] | None = None) -> None:
        super().__init__()
        self.fails = fails or {}
        self.calls: list[tuple[str, int]] = []

    def _count(self, doing: str, size: int) -> None:
        self.calls.append((doing, size))
        if doing in self.fails:
            raise StoreError(self.fails[doing], "the table tells what it likes")

    def mappings(self, partition: str, *, deadline: float) -> list[Item]:
        self._count("mappings", 1)
        return super().mappings(partition, deadline=deadline)

    def get(self, keys: Sequence[Key], *, deadline: float) -> list[Item]:
        self._count("get", len(keys))
        return super().get(keys, deadline=deadline)

    def put(self, items: Sequence[Item], *, deadline: float) -> None:
        self._count("put", len(items))
        super().put(items, deadline=deadline)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Counted:
    made = Counted()
    for module in (turns_module, serve_module):
        monkeypatch.setattr(module, "current_store", lambda: made)
    return made


def turn(server: MisbehavingUpstream, messages: list[Any], *, stream: bool = True, **more: Any) -> tuple[Any, bytes]:
    server.script([Send(answer(b"".join(MINTED), headers=STREAM_TYPE))])
    return ask(event(messages=messages, tools=[WEATHER], stream=stream, **more))


def call_ids(body: bytes) -> list[str]:
    return re.findall(r'"id":"(call_[0-9A-Za-z]{32})"', body.decode())


def answered(*ids: str) -> list[dict[str, Any]]:
    """A history of as many steps, each with its result, in one tool loop."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
    for id in ids:
        call = {"id": id, "type": "function", "function": {"name": "weather", "arguments": "{}"}}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": id, "content": "ok"})
    return history


@pytest.mark.usefixtures("settings")
def test_a_first_turn_reads_nothing_and_writes_once(server: MisbehavingUpstream, store: Counted) -> None:
    _, body = turn(server, [{"role": "user", "content": "hi"}])
    assert len(call_ids(body)) == 1
    assert store.calls == [("put", 1)]


@pytest.mark.usefixtures("settings")
def test_a_turn_whose_ids_are_kept_touches_no_store(server: MisbehavingUpstream, store: Counted) -> None:
    server.script([Send(answer(b"".join(CALLS), headers=STREAM_TYPE))])
    ask(event(messages=answered("call_other"), tools=[WEATHER], stream=True))
    assert store.calls == []


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("steps", [1, 100, 1_000])
def test_reads_of_a_long_conversation(server: MisbehavingUpstream, store: Counted, steps: int) -> None:
    """One Query for its mappings, one read of the states of its turns, one write: whatever its length. The table
    in docs/state.md says what they cost."""
    history = answered(*(mint("0123456789", str(number).rjust(20, "0")) for number in range(steps)))
    turn(server, history)
    assert store.calls == [("mappings", 1), ("get", steps), ("put", 1)]


@pytest.mark.usefixtures("settings")
def test_the_provider_gets_its_own_id_back(server: MisbehavingUpstream, store: Counted) -> None:
    _, body = turn(server, [{"role": "user", "content": "hi"}])
    (id,) = call_ids(body)
    turn(server, answered(id))
    sent = json.loads(server.requests[-1].body)["messages"]
    assert (sent[1]["tool_calls"][0]["id"], sent[2]["tool_call_id"]) == ("abc-1", "abc-1")
    assert store.calls == [("put", 1), ("mappings", 1), ("put", 1)], "its mapping says that it has no state"


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("still_named", [True, False])
def test_a_conversation_that_its_client_has_named_is_kept_under_that_name(
    server: MisbehavingUpstream, store: Counted, still_named: bool
) -> None:
    """Its ids lead there, too, where a later request no longer says the name."""
    key = {"Authorization": f"Bearer {KEY}"}
    name = key | {"x-conversation-id": "trip-1"}
    _, body = turn(server, [{"role": "user", "content": "hi"}], headers=name)
    (id,) = call_ids(body)
    assert _kept(store) == ["default#trip-1 call", f"default#{token_of(id)} call_name"]
    turn(server, answered(id), headers=name if still_named else key)
    sent = json.loads(server.requests[-1].body)["messages"]
    assert (sent[1]["tool_calls"][0]["id"], sent[2]["tool_call_id"]) == ("abc-1", "abc-1")
    looked = 1 if still_named else 2
    # The second turn's call is in its history's conversation; who leads there is written once.
    assert store.calls == [("put", 2), *[("mappings", 1)] * looked, ("put", 1)]


def _kept(store: Counted) -> list[str]:
    """The keys of what the store has, without the ids of calls."""
    kept = ((key.partition, "call" if token_of(key.sort) else key.sort) for key in store._items)
    return [" ".join(key) for key in sorted(kept, reverse=True)]


def test_another_tenant_finds_nothing(
    server: MisbehavingUpstream, store: Counted, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same conversation and the same ids under another key: not one item crosses."""
    tenant = {"name": "one"}
    monkeypatch.setattr(admission, "authenticate", lambda request, settings, places: Tenant(tenant["name"]))
    (id,) = call_ids(turn(server, [{"role": "user", "content": "hi"}])[1])
    tenant["name"] = "two"
    turn(server, answered(id))
    sent = json.loads(server.requests[-1].body)["messages"]
    assert sent[1]["tool_calls"][0]["id"] == id, "not the provider's id, which only the other tenant may know"
    tenant["name"] = "one"
    turn(server, answered(id))
    assert json.loads(server.requests[-1].body)["messages"][1]["tool_calls"][0]["id"] == "abc-1"


FAILURES: list[Failure] = ["unavailable", "timeout", "throttled", "missing_table", "denied", "too_large"]


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("stream", [True, False])
def test_a_turn_completes_without_the_store(
    server: MisbehavingUpstream, store: Counted, failure: Failure, stream: bool, log: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("TOOLWIRE_METRICS", "1")
    _, body = turn(server, [{"role": "user", "content": "hi"}])
    (id,) = call_ids(body)
    store.fails = {"mappings": failure, "put": failure}
    head, body = turn(server, answered(id), stream=stream)
    assert head.status == 200
    assert b'"tool_calls"' in body
    warnings = dict(head.headers)["x-toolwire-warnings"].split(",")
    assert "store_unavailable" in warnings
    assert "state_not_stored" in warnings or b": x-toolwire-warnings: state_not_stored\n\n" in body
    lines = [json.loads(line) for line in log.getvalue().splitlines() if '"store_error"' in line]
    assert lines[-1]["store_error"] == f"write_{failure}"
    assert lines[-1]["outcome"] == "ok"


@pytest.mark.usefixtures("settings")
def test_a_conversation_goes_on_when_the_store_comes_back(server: MisbehavingUpstream, store: Counted) -> None:
    store.fails = {"put": "throttled"}
    (lost,) = call_ids(turn(server, [{"role": "user", "content": "hi"}])[1])
    store.fails = {}
    head, body = turn(server, answered(lost))
    assert dict(head.headers)["x-toolwire-warnings"] == "id_mapping_missing"
    (found,) = call_ids(body)
    turn(server, answered(lost, found))
    sent = json.loads(server.requests[-1].body)["messages"]
    assert [sent[1]["tool_calls"][0]["id"], sent[3]["tool_calls"][0]["id"]] == [lost, "abc-1"]
