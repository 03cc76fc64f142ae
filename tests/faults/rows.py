"""The fault table: what a provider may do wrong, and what a client of each API gets, alone and with a second target.

A row is a fault, a door, a host of the matrix, streamed or not, and whether a healthy target stands behind it. The host
writes a true answer, which the fault spoils on its way; the answer of the second target is judged as the matrix does.
"""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from tests.corpus.driver import Answer
from tests.matrix.cells import REQUESTS
from tests.matrix.hosts import HOSTS, Host
from tests.matrix.judges import JUDGES
from tests.matrix.reply import Reply
from tests.matrix.scenarios import SCENARIOS
from tests.shell.misbehaving_upstream import Close, MisbehavingUpstream, Reset, Send, Stall, Step, chunk
from tests.shell.misbehaving_upstream import answer as http_answer
from tests.shell.upstream_client import client
from toolwire.doors import DOORS
from toolwire.model.http import Head
from toolwire.model.settings import ProviderConfig, Settings, TimeLimits
from toolwire.shell.network import breaker, unpacking
from toolwire.shell.network.sockets import Timeouts
from toolwire.shell.serve import admission
from toolwire.shell.serve import door as serve_module
from toolwire.shell.serve.door import serve

#: The doors whose requests are all in their body.
_DOORS = [name for name, door in DOORS.items() if name in REQUESTS and "{" not in door.paths[0]]

#: One host a wire.
_HOSTS = tuple({host.wire: host for host in reversed(HOSTS) if not host.spaces_lost}.values())

#: What a true answer says: text, then a call.
SCENARIO = next(scenario for scenario in SCENARIOS if scenario.name == "text_and_call")

#: Seconds that a host which stalls is waited for.
_PATIENCE = 0.3

_SPOIL = Callable[[Reply], list[Step]]


def _status(status: int, **headers: str) -> _SPOIL:
    body = json.dumps({"error": {"type": "t", "message": "No.", "code": None}}).encode()
    named = [("content-type", "application/json")]
    named += [(name.replace("_", "-"), value) for name, value in headers.items()]
    return lambda _: [Send(http_answer(body, status=f"{status} No", framing="length", headers=named))]


def _begun(reply: Reply, body: bytes, then: Step) -> list[Step]:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {reply.content_type}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    return [Send(head + (chunk(body) if body else b"")), then]


def _at(part: float, then: Step) -> _SPOIL:
    return lambda reply: _begun(reply, reply.body[: int(len(reply.body) * part)], then)


def _raw(data: bytes) -> _SPOIL:
    return lambda _: [Send(data), Close()]


def _bomb(reply: Reply) -> list[Step]:
    headers = [("content-type", reply.content_type), ("content-encoding", "gzip")]
    return [Send(http_answer(gzip.compress(b" " * (2 << 20)), headers=headers)), Close()]


#: The fault that may come behind an answer's last word: it is whole then, though its usage may be missing.
AT_THE_END = "closed before the last bytes"

#: A fault, and how it spoils an answer. None: nobody listens there.
FAULTS: dict[str, _SPOIL | None] = {
    "the name has no address": None,
    "nobody listens": None,
    **{f"status {code}": _status(code) for code in (400, 401, 402, 403, 404, 408, 413, 422, 500, 502, 503, 504, 529)},
    "status 429 with Retry-After": _status(429, retry_after="7"),
    "a redirect": _status(307, location="http://127.0.0.1:9/"),
    "closed before the head": lambda _: [Close()],
    "reset before the head": lambda _: [Reset()],
    "silence before the head": lambda _: [Stall()],
    "a head that breaks off": _raw(b"HTTP/1.1 200 OK\r\ncontent-ty"),
    "something that is not HTTP": _raw(b"220 ready\r\n"),
    "silence behind the head": _at(0, Stall()),
    "closed behind the head": _at(0, Close()),
    "closed within the first bytes": _at(0.03, Close()),
    "closed half way": _at(0.5, Close()),
    "reset half way": _at(0.5, Reset()),
    "silence half way": _at(0.5, Stall()),
    AT_THE_END: _at(0.9, Close()),
    "a web page": lambda _: [Send(http_answer(b"<!doctype html>", headers=[("content-type", "text/html")]))],
    "an empty answer": lambda reply: [Send(http_answer(b"", headers=[("content-type", reply.content_type)]))],
    "garbage": lambda reply: [Send(http_answer(b"\xff\x00{" * 50, headers=[("content-type", reply.content_type)]))],
    "a compressed bomb": _bomb,
}


@dataclass(frozen=True)
class Row:
    fault: str
    door: str
    host: Host
    stream: bool
    second: bool

    @property
    def id(self) -> str:
        mode = "stream" if self.stream else "json"
        return f"{self.fault}/{self.door}/{self.host.name}.{mode}{'.second' if self.second else ''}"

    def play(self) -> str:
        """What the client gets, in words; it fails where that is wrong."""
        answer = _played(self)
        outcome = outcome_of(self.door, answer, stream=self.stream)
        if outcome == "the answer" and self.fault != AT_THE_END:
            JUDGES[self.door](SCENARIO, answer, self.stream)
        return outcome


def rows() -> Iterator[Row]:
    """All rows."""
    for fault in FAULTS:
        for door in _DOORS:
            for host in _HOSTS:
                for stream in (True, False):
                    if host.can_say(SCENARIO, stream):
                        yield from (Row(fault, door, host, stream, second) for second in (False, True))


def _played(row: Row) -> Answer:
    with (
        MisbehavingUpstream() as first,
        MisbehavingUpstream() as second,
        client(Timeouts(first_byte=_PATIENCE, idle=_PATIENCE)) as upstream,
    ):
        if (spoil := FAULTS[row.fault]) is not None:
            first.script(spoil(row.host.write(SCENARIO, row.stream)))
        healthy = row.host.write(SCENARIO, row.stream)
        second.script([Send(http_answer(healthy.body, headers=[("content-type", healthy.content_type)]))])
        address = {"the name has no address": "http://name.invalid", "nobody listens": _closed()}.get(
            row.fault, first.url
        )
        limits = TimeLimits(total_seconds=_PATIENCE)
        host = row.host
        providers = {
            "first": ProviderConfig("first", host.wire, address, "none", host.profile, True, time_limits=limits),
            "second": ProviderConfig("second", host.wire, second.url, "none", host.profile, True),
        }
        settings = Settings(
            providers,
            {"m": f"first/{host.model}"},
            fallbacks={"m": (f"second/{host.model}",)} if row.second else {},
        )
        breaker._breaker.cache_clear()
        with (
            patch.object(admission, "current_settings", lambda: settings),
            patch.object(serve_module, "upstream", lambda: upstream),
            patch.object(unpacking, "MOST_BYTES", 1 << 20),
        ):
            return _asked(row)


def _asked(row: Row) -> Answer:
    event: dict[str, Any] = {
        "httpMethod": "POST",
        "path": DOORS[row.door].paths[0],
        "headers": {},
        "multiValueHeaders": {},
        "requestContext": {"requestId": "req-1"},
        "body": REQUESTS[row.door](row.stream).decode(),
        "isBase64Encoded": False,
    }
    head, *rest = list(serve(row.door, event, None))
    assert isinstance(head, Head)
    return Answer(head.status, dict(head.headers), b"".join(piece for piece in rest if isinstance(piece, bytes)))


def _closed() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


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
    return str(error.get("details", {}).get("error_code") or error.get("code") or error.get("type"))
