"""The fault table: what a provider may do wrong, and what a client of each API gets, alone and with a second target.

A row is a fault, a door, a host of the matrix, streamed or not, and whether a healthy target stands behind it. The host
writes a true answer, which the fault spoils on its way; the answer of the second target is judged as the matrix does.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest.mock import patch

from tests.closed_port import closed_port
from tests.corpus.driver import Answer
from tests.faults.faults import CUTS, FAULTS, SCENARIO, Fault, as_it_is
from tests.gemini_client import event_members
from tests.matrix.cells import REQUESTS
from tests.matrix.hosts import HOSTS, Host
from tests.matrix.judges import JUDGES
from tests.matrix.scenarios import Text, Usage
from tests.shell.misbehaving_upstream import MisbehavingUpstream
from tests.shell.upstream_client import client
from toolwire.doors import DOORS
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings, TimeLimits
from toolwire.shell.network import breaker, decompression
from toolwire.shell.serve import admission
from toolwire.shell.serve import door as serve_module
from toolwire.shell.serve.door import serve

#: One host a wire.
HOSTS_OF_WIRES = tuple({host.wire: host for host in reversed(HOSTS)}.values())

#: Seconds that a host is waited for which does not answer.
_PATIENCE = 0.2

#: What is shown of the answer first.
_TEXT = next(part for part in SCENARIO.parts if isinstance(part, Text))

#: Tokens that no provider told.
_UNKNOWN = Usage(0, 0)


@dataclass(frozen=True)
class Row:
    """`place`: the how-manieth place of the answer at which the fault may come."""

    fault: Fault
    place: int
    door: str
    host: Host
    stream: bool
    second: bool

    @property
    def id(self) -> str:
        mode = "stream" if self.stream else "json"
        return f"{self.fault.name}.{self.place}/{self.door}/{self.host.name}.{mode}{'.second' if self.second else ''}"

    def play(self) -> str:
        """What the client gets, in words; it fails where that is wrong."""
        answer = self.ask()
        outcome = outcome_of(self.door, answer, stream=self.stream)
        whole_or_begun(outcome, self.door, self.host, answer, stream=self.stream, usage_told=self.fault not in CUTS)
        if self.second and outcome.startswith("an error event"):
            # Where nothing was shown, the second target would have been asked.
            _judge_failure(self.door, answer, shown=1)
        return outcome

    def ask(self) -> Answer:
        """The answer that the client gets."""
        with (
            MisbehavingUpstream() as first,
            MisbehavingUpstream() as second,
            client() as upstream,
            closed_port() as closed,
        ):
            first.script(self.fault.spoil(self.host.write(self.fault.scenario, self.stream))[self.place])
            second.script(*as_it_is(self.host.write(SCENARIO, self.stream)))
            address = self.fault.address.format(port=first.port, closed=closed)
            settings = _settings(self, address, second.url)
            breaker._breaker.cache_clear()
            with (
                patch.object(admission, "current_settings", lambda: settings),
                patch.object(serve_module, "upstream", lambda: upstream),
                patch.object(decompression, "MOST_BYTES", 1 << 20),
            ):
                return _asked(self)


def rows() -> Iterator[Row]:
    """All rows."""
    for fault, door, host, stream in itertools.product(FAULTS, DOORS, HOSTS_OF_WIRES, (True, False)):
        for place in range(_places(fault, host, stream)):
            yield from (Row(fault, place, door, host, stream, second) for second in (False, True))


@cache
def _places(fault: Fault, host: Host, stream: bool) -> int:
    return len(fault.spoil(host.write(fault.scenario, stream)))


def _settings(row: Row, first: str, second: str) -> Settings:
    host, seconds = row.host, _PATIENCE if row.fault.waits else None
    limits = TimeLimits(seconds, seconds, seconds)
    providers = {
        "first": ProviderConfig("first", host.wire, first, "none", host.profile, True, time_limits=limits),
        "second": ProviderConfig("second", host.wire, second, "none", host.profile, True),
    }
    model = f"first/{host.model}"
    return Settings(providers, {"m": model}, fallbacks={"m": (f"second/{host.model}",)} if row.second else {})


def _asked(row: Row) -> Answer:
    event: dict[str, Any] = {
        "httpMethod": "POST",
        "path": DOORS[row.door].paths[0],
        "headers": {},
        "multiValueHeaders": {},
        "requestContext": {"requestId": "req-1"},
        "isBase64Encoded": False,
        **event_members(row.door, REQUESTS[row.door](row.stream)),
    }
    head, *rest = list(serve(row.door, event, None))
    assert isinstance(head, Head)
    return Answer(head.status, dict(head.headers), b"".join(piece for piece in rest if isinstance(piece, bytes)))


def outcome_of(door: str, answer: Answer, *, stream: bool) -> str:
    """An answer in words: its error's status and code, or that it is one."""
    if answer.status != 200:
        return f"{answer.status} `{_code(json.loads(answer.body))}`"
    if not stream:
        return "the answer"
    datas = [line[5:].strip() for line in answer.body.splitlines() if line.startswith(b"data:")]
    last = json.loads(datas[-1]) if datas[-1] != b"[DONE]" else {}
    if last.get("type") == "response.failed":
        return f"an error event, `{last['response']['error']['code']}`"
    return f"an error event, `{_code(last)}`" if last.get("error") or last.get("type") == "error" else "the answer"


def _code(document: dict[str, Any]) -> str:
    error = document.get("error") or document
    if "status" in error:  # Google's; our code is among the details
        reasons = [detail["reason"].lower() for detail in error.get("details", ()) if "reason" in detail]
        return reasons[0] if reasons else str(error["status"])
    return str(error.get("details", {}).get("error_code") or error.get("code") or error.get("type"))


def whole_or_begun(
    outcome: str, door: str, host: Host, answer: Answer, *, stream: bool, usage_told: bool = False
) -> None:
    """Fails where an answer is not all that was said, or what was shown in front of an error event is not how it
    begins. `usage_told`: the usage cannot be missing, as it can where the connection ended behind the last word."""
    if outcome == "the answer":
        said = SCENARIO.without_spaces() if host.spaces_lost else SCENARIO
        try:
            JUDGES[door](said, answer, stream)
        except AssertionError:
            if usage_told or not stream:
                raise
            JUDGES[door](replace(said, usage=_UNKNOWN), answer, True)
    elif outcome.startswith("an error event"):
        _judge_failure(door, answer, shown=0)


def _judge_failure(door: str, answer: Answer, shown: int) -> None:
    """The SDK raises the error, and what came before it is how the answer begins, with so many pieces at least."""
    fault = AssertionError()
    for pieces in range(shown, len(_TEXT.pieces) + 1):
        begun = replace(SCENARIO, parts=(Text(_TEXT.pieces[:pieces]),), failure="cut")
        try:
            return JUDGES[door](begun, answer, True)
        except AssertionError as wrong:
            fault = wrong
    raise fault
