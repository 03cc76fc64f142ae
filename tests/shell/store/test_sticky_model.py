"""A turn without a model asks the store for its conversation's; one with a model asks nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolwire.conversation.sticky_model import sticky_item
from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.stored import Item, Key
from toolwire.shell.store import sticky_model
from toolwire.shell.store.sticky_model import with_known_model
from toolwire.shell.store.store import MemoryStore, StoreError
from toolwire.shell.telemetry.request_record import RequestRecord

TARGET = Target(ProviderConfig("acme", "openai_chat", "https://x/v1"), "m")
LATER = ChatRequest("", (), conversation_id="chat-7")


class Watched(MemoryStore):
    """Counts what is read of it; `broken`, it fails."""

    reads = 0
    broken = False

    def get(self, keys: Sequence[Key], *, deadline: float) -> list[Item]:
        self.reads += 1
        if self.broken:
            raise StoreError("unavailable")
        return super().get(keys, deadline=deadline)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """A store that knows the conversation of the tenant t1."""
    made = Watched(clock=lambda: 0.0)
    item = sticky_item(LATER, "t1", TARGET, 99)
    assert item is not None
    made.put([item], deadline=float("inf"))
    monkeypatch.setattr(sticky_model, "current_store", lambda: made)
    return made


def record(tenant: str = "t1") -> RequestRecord:
    made = RequestRecord("req-1", "native")
    made.tenant = tenant
    return made


def test_the_model_of_the_last_turn(store: Watched) -> None:
    assert with_known_model(LATER, record()).model == "acme/m"
    assert store.reads == 1


@pytest.mark.parametrize("request_", [ChatRequest("a/b", ()), ChatRequest("a/b", (), conversation_id="chat-7")])
def test_a_named_model_asks_nothing(store: Watched, request_: ChatRequest) -> None:
    assert with_known_model(request_, record()) is request_
    assert store.reads == 0


def test_another_tenant_finds_nothing(store: Watched) -> None:
    with pytest.raises(RequestError, match="`model` is required"):
        with_known_model(LATER, record("t2"))


def test_a_store_that_fails_knows_nothing(store: Watched) -> None:
    store.broken = True
    its = record()
    with pytest.raises(RequestError, match="`model` is required"):
        with_known_model(LATER, its)
    assert its.store_error == "read_unavailable"
