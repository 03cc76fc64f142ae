"""docs/state.md says what a turn costs: counted here, over the items that turns leave and by DynamoDB's own rules."""

from __future__ import annotations

import re
import time
from base64 import b64encode
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from toolwire.conversation import TurnRecord, partition_of
from toolwire.model.events import ReasoningEnd, ReasoningStart, ToolCallEnd, ToolCallStart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.stored import Item, Key
from toolwire.shell.store.dynamodb import DynamoDbStore
from toolwire.shell.store.store import size_of

PAGE = (Path(__file__).parents[2] / "docs" / "state.md").read_text()
TARGET = Target(ProviderConfig("anthropic", "anthropic_messages", "https://x.example"), "claude-opus-5")
PARTITION = partition_of("default", "AbCdEfGhIj")
#: 2,000 characters of base64, which zlib makes 1.5 KB.
SIGNATURE = b64encode(Random(0).randbytes(1500)).decode()


def turn(calls: int, first: int = 0) -> list[Item]:
    """What an answer with so many calls and a signature leaves. `first` keeps the ids of turns apart."""
    record = TurnRecord(TARGET, PARTITION, 2_000_000_000)
    record.note(ReasoningStart(0))
    record.note(ReasoningEnd(0, SIGNATURE))
    for number in range(calls):
        call_id = f"call_AbCdEfGhIj{first + number:022}"
        record.note(ToolCallStart(number + 1, call_id, "read_file", provider_id="toolu_01A09q90qw90lq917835lq9"))
        record.note(ToolCallEnd(number + 1))
    return list(record.items())


class Meter:
    """A table that has `items`, and counts calls and units."""

    def __init__(self, items: list[Item]) -> None:
        self._sizes = {item.key.sort: size_of(item) for item in items}
        self.calls, self.units = 0, 0

    def __call__(self, operation: str, *, deadline: float, **arguments: Any) -> dict[str, Any]:
        self.calls += 1
        if operation == "query":
            mappings = sum(size for sort, size in self._sizes.items() if sort.startswith("call_"))
            assert mappings < 1024**2, "there would be a second page"
            self.units += ceil(mappings / 4096)
        elif operation == "batch_get_item":
            (request,) = arguments["RequestItems"].values()
            self.units += sum(ceil(self._sizes[key["tool_call_id"]["S"]] / 4096) for key in request["Keys"])
        else:
            (request,) = arguments["RequestItems"].values()
            sorts = [put["PutRequest"]["Item"]["tool_call_id"]["S"] for put in request]
            self.units += sum(ceil(self._sizes[sort] / 1024) for sort in sorts)
        return {}

    def row(self) -> list[str]:
        return [f"{self.calls:,}", f"{self.units:,}"]


def table_row(title: str, first: str) -> list[str]:
    """The row of the table with this title whose first cell is this."""
    (table,) = re.findall(rf"^\| {re.escape(title)} .*\n\|[-:|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return next(row[1:] for row in cells if row[0] == first)


def deadline() -> float:
    return time.monotonic() + 30


@pytest.mark.parametrize("calls", [1, 100, 1000])
def test_reads(calls: int) -> None:
    items = [item for number in range(calls) for item in turn(1, number)]
    query, states = Meter(items), Meter(items)

    DynamoDbStore("calls", call=query).mappings(PARTITION, deadline=deadline())
    keys = [Key(PARTITION, item.key.sort) for item in items if item.key.sort.startswith("state#")]
    DynamoDbStore("calls", call=states).get(keys, deadline=deadline())

    assert len(keys) == calls
    assert table_row("calls in the history", f"{calls:,}") == [*query.row(), *states.row()]


@pytest.mark.parametrize("calls", [1, 5, 100])
def test_writes(calls: int) -> None:
    items = turn(calls)
    meter = Meter(items)

    DynamoDbStore("calls", call=meter).put(items, deadline=deadline())

    assert table_row("calls in the answer", f"{calls:,}") == meter.row()
