"""What the store adds to a turn: the look-up before the upstream is asked, and the write that its end waits for.

`memory` is the local default. `dynamodb` is the client of a deployment against a table that answers at once, on the
loopback interface: what boto3 and this package cost. A real table's own few milliseconds come on top of each call.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from bench.tables import tables_at_once
from bench.traffic import Figures
from toolwire.conversation import Found, TurnRecord, partition_of, restored, wanted
from toolwire.conversation.tool_call_ids import mint
from toolwire.model.events import ToolCallEnd, ToolCallStart
from toolwire.model.request import ChatRequest, Message, TextPart, ToolCallPart, ToolResultPart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.stored import Item
from toolwire.shell.store.dynamodb import DynamoDbStore
from toolwire.shell.store.store import MemoryStore, Store

_TOKEN = "0123456789"
_PARTITION = partition_of("default", _TOKEN)
_EXPIRES = 4_000_000_000
_TARGET = Target(ProviderConfig("bench", "gemini", "http://127.0.0.1:1"), "gemini-3-pro")
_REPEATS = 30
#: Bytes of a signature, before they are written as text: as long as Gemini's.
_SIGNATURE_BYTES = 1_000

#: Names of the subjects.
MEMORY, DYNAMODB = "memory", "dynamodb"


def figures() -> Iterator[tuple[str, Figures]]:
    """(subject, its figures) of both stores: medians of repeated calls, in milliseconds."""
    yield MEMORY, _figures(MemoryStore())
    with _table() as store:
        yield DYNAMODB, _figures(store)


def _figures(store: Store) -> Figures:
    result = {"store_write": _median(lambda: _put(store, _items(2)))}
    for steps in (1, 100, 1_000):
        _put(store, _items(steps))
        request = _history(steps)
        result[f"recall_{steps}"] = _median(lambda request=request: _recall(store, request))
    return result


def _median(act: Any) -> float:
    act()
    times = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return median(times) * 1e3


def _put(store: Store, items: list[Item]) -> None:
    store.put(items, deadline=time.monotonic() + 60)


def _recall(store: Store, request: ChatRequest) -> None:
    """What the shell and the exchange do before the upstream's request is built."""
    lookup = wanted(request, "default")
    deadline = time.monotonic() + 60
    items = [item for partition in lookup.partitions for item in store.mappings(partition, deadline=deadline)]
    items += store.get(lookup.states, deadline=deadline)
    restored(request, Found.of(items), _TARGET, shares_state=False)


def _id(number: int) -> str:
    return mint(_TOKEN, str(number).rjust(20, "0"))


def _items(steps: int) -> list[Item]:
    """What as many turns leave: a mapping and a state each."""
    signature = random.Random(1).randbytes(_SIGNATURE_BYTES).hex()
    items: list[Item] = []
    for number in range(steps):
        turn = TurnRecord(_TARGET, _PARTITION, _EXPIRES)
        turn.note(ToolCallStart(0, _id(number), "read_file", provider_id=f"own-{number}"))
        turn.note(ToolCallEnd(0, signature))
        items += turn.items()
    return items


def _history(steps: int) -> ChatRequest:
    messages = [Message("user", (TextPart("x"),))]
    for number in range(steps):
        messages.append(Message("assistant", (ToolCallPart(_id(number), "read_file", "{}"),)))
        messages.append(Message("tool", (ToolResultPart(_id(number), (TextPart("ok"),)),)))
    return ChatRequest("bench/gemini-3-pro", tuple(messages))


@contextmanager
def _table() -> Iterator[Store]:
    with tables_at_once() as url:
        os.environ |= {
            "AWS_ENDPOINT_URL_DYNAMODB": url,
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
        }
        yield DynamoDbStore("bench")
