"""What a provider may do wrong: each fault spoils a true answer on its way."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tests.matrix.reply import Reply
from tests.matrix.scenarios import SCENARIOS, Scenario
from tests.shell.misbehaving_upstream import Close, Reset, Send, Stall, Step, chunk
from tests.shell.misbehaving_upstream import answer as http_answer

#: What a true answer says: text, then a call.
SCENARIO = next(scenario for scenario in SCENARIOS if scenario.name == "text_and_call")

#: What a host does in place of its answer, at each place where the fault may come.
Spoil = Callable[[Reply], list[list[Step]]]

#: Seconds between two bytes of a host that drips: it is never silent for long, and never done.
_DRIP = 0.02

#: At how many places a document is cut.
_CUTS = 12


def as_it_is(reply: Reply) -> list[list[Step]]:
    """The answer, not spoiled."""
    headers = [("content-type", reply.content_type)]
    return [[Send(http_answer(reply.body, status=f"{reply.status} OK", headers=headers))]]


@dataclass(frozen=True)
class Fault:
    """A fault, and how it spoils an answer.

    `scenario`: what it answers before that. `address`: where the host is said to be, with `{port}` for its own port and
    `{closed}` for one where nobody listens. `waits`: the gateway notices by waiting. `final`: the request is at fault,
    and nobody else is asked.
    """

    name: str
    spoil: Spoil = as_it_is
    scenario: Scenario = SCENARIO
    address: str = "http://127.0.0.1:{port}"
    waits: bool = False
    final: bool = False


def _status(code: int, **headers: str) -> Spoil:
    body = json.dumps({"error": {"type": "t", "message": "No.", "code": None}}).encode()
    named = [("content-type", "application/json")]
    named += [(name.replace("_", "-"), value) for name, value in headers.items()]
    return lambda _: [[Send(http_answer(body, status=f"{code} No", framing="length", headers=named))]]


def _steps(*steps: Step) -> Spoil:
    return lambda _: [list(steps)]


def _raw(data: bytes) -> Spoil:
    return _steps(Send(data), Close())


def _other_body(body: bytes, content_type: str = "", coding: str = "identity") -> Spoil:
    def spoil(reply: Reply) -> list[list[Step]]:
        headers = [("content-type", content_type or reply.content_type), ("content-encoding", coding)]
        return [[Send(http_answer(body, headers=headers)), Close()]]

    return spoil


def _head(reply: Reply) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-type: {reply.content_type}\r\ntransfer-encoding: chunked\r\n\r\n".encode()


def _begun(reply: Reply, length: int) -> Send:
    """The head and so many bytes of the answer."""
    return Send(_head(reply) + (chunk(reply.body[:length]) if length else b""))


def _at(part: float, then: Step) -> Spoil:
    return lambda reply: [[_begun(reply, int(len(reply.body) * part)), then]]


def _drip(data: bytes) -> Send:
    return Send(data, pieces=len(data), pause=_DRIP)


def _drip_from(part: float) -> Spoil:
    def spoil(reply: Reply) -> list[list[Step]]:
        length = int(len(reply.body) * part)
        rest = [chunk(bytes((byte,))) for byte in reply.body[length:]]
        return [[_begun(reply, length), Send(b"".join(rest), pieces=len(rest), pause=_DRIP)]]

    return spoil


def _cut_behind_events(reply: Reply) -> list[list[Step]]:
    return [[_begun(reply, ends), Close()] for _, ends in _events(reply)]


def _cut_within_events(reply: Reply) -> list[list[Step]]:
    """Within each event of a stream; a document, which has none, at so many places."""
    places = [(begins + ends) // 2 for begins, ends in _events(reply)]
    places = places or [len(reply.body) * place // (_CUTS + 1) for place in range(1, _CUTS + 1)]
    return [[_begun(reply, at), Close()] for at in places]


def _events(reply: Reply) -> Iterator[tuple[int, int]]:
    """Where each event begins and ends; nothing for a document."""
    at = 0
    if "amazon.eventstream" in reply.content_type:
        while at < len(reply.body):
            begins, at = at, at + int.from_bytes(reply.body[at : at + 4], "big")
            yield begins, at
    elif "event-stream" in reply.content_type:
        for event in re.findall(rb".+?(?:\r?\n){2}", reply.body, re.DOTALL):
            begins, at = at, at + len(event)
            yield begins, at


_STATUSES = (400, 401, 402, 403, 404, 408, 413, 422, 500, 502, 503, 504, 529)
_FINAL = (400, 404, 413, 422)

#: Where the connection ends behind an answer's last word, the answer is whole.
CUTS = (
    Fault("closed behind an event", _cut_behind_events),
    Fault("closed within an event, or the document", _cut_within_events),
)

FAULTS = (
    Fault("the name has no address", address="http://name.invalid"),
    Fault("nobody listens", address="http://127.0.0.1:{closed}"),
    Fault("silence in the TLS handshake", _steps(Stall()), address="https://127.0.0.1:{port}", waits=True),
    *(Fault(f"status {code}", _status(code), final=code in _FINAL) for code in _STATUSES),
    Fault("status 429 with Retry-After", _status(429, retry_after="7")),
    Fault("a redirect", _status(307, location="http://127.0.0.1:9/")),
    Fault("closed before the head", _steps(Close())),
    Fault("reset before the head", _steps(Reset())),
    Fault("silence before the head", _steps(Stall()), waits=True),
    Fault("a head that breaks off", _raw(b"HTTP/1.1 200 OK\r\ncontent-ty")),
    Fault("a head that drips", lambda reply: [[_drip(_head(reply))]], waits=True),
    Fault("something that is not HTTP", _raw(b"220 ready\r\n")),
    Fault("closed behind the head", _at(0, Close())),
    Fault("silence behind the head", _at(0, Stall()), waits=True),
    Fault("an answer that drips", _drip_from(0), waits=True),
    *CUTS,
    Fault("reset half way", _at(0.5, Reset())),
    Fault("silence half way", _at(0.5, Stall()), waits=True),
    Fault("half an answer that then drips", _drip_from(0.5), waits=True),
    Fault("an error in place of an answer", scenario=replace(SCENARIO, parts=(), failure="error")),
    Fault("an error behind the answer's content", scenario=replace(SCENARIO, failure="error")),
    Fault("a web page", _other_body(b"<!doctype html>", "text/html")),
    Fault("an empty answer", _other_body(b"")),
    Fault("garbage", _other_body(b"\xff\x00{" * 50)),
    Fault("a compressed bomb", _other_body(gzip.compress(b" " * (2 << 20)), coding="gzip")),
)
