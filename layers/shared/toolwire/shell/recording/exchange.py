"""One request as it is watched: bytes that exist anyway, each with its moment. Nothing is parsed, copied or written
here, since this runs between the provider and the client; whoever looks does the work. What was understood of a
request and its answer is not kept either: it is read from the bytes again (`reading.py`).

Objects are held as they came, the request's key and the provider's credential included. What is given out has none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from sys import getsizeof
from time import monotonic
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from toolwire.conversation.kept_answers import KeptAnswer
from toolwire.conversation.restore import NOTHING_FOUND, Found
from toolwire.exchange.observer import Observer
from toolwire.exchange.plan import Plan
from toolwire.exchange.prepare import ClientRequest
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch
from toolwire.model.http import Head, UpstreamRequest
from toolwire.model.settings import Target
from toolwire.shell.recording.credentials import blotted, kept_event, kept_headers, kept_url, secrets_of
from toolwire.shell.serve.admission import Admitted
from toolwire.shell.serve.attempts import OF_THE_TARGET
from toolwire.shell.serve.observe import RequestRecord, call_lines
from toolwire.shell.serve.watch import Watch

#: Bytes that are held of one exchange; what comes after them is not seen.
MOST_EXCHANGE_BYTES = 32 << 20

#: Bytes of memory that the objects of one exchange take beside what it is made of, measured.
_OBJECTS_BYTES = 6_000
#: And those of one note.
_NOTE_BYTES = 160

#: What happened, in the order in which it did. `silence` stands before what the server said to keep the client waiting.
Kind = Literal["asked", "head", "data", "end", "sent_head", "sent", "silence"]


class Note(NamedTuple):
    """`at` is in seconds since the request came. `what` is by `kind`: an `Asked`, an `Answered`, bytes, an error or
    None, a Head, bytes, nothing."""

    at: float
    kind: Kind
    what: Any


class Asked:
    """A request to a provider. What can be asked of it holds no credential, but for `secrets`."""

    __slots__ = ("_request", "wire")

    def __init__(self, request: UpstreamRequest, wire: str = "") -> None:
        self._request, self.wire = request, wire

    @property
    def method(self) -> str:
        """Of HTTP."""
        return self._request.method

    @property
    def url(self) -> str:
        """Without a key in it."""
        return kept_url(self._request.url)

    @property
    def headers(self) -> list[tuple[str, str]]:
        """With the values that may be kept."""
        return kept_headers(self._request.headers)

    @property
    def body(self) -> bytes:
        """As it was sent."""
        return self._request.body

    @property
    def secrets(self) -> set[bytes]:
        """The credentials, to be blotted out."""
        return secrets_of(self._request.headers, self._request.url)


class Answered:
    """The head of a provider's answer."""

    __slots__ = ("_headers", "status")

    def __init__(self, status: int, headers: dict[str, str]) -> None:
        self.status, self._headers = status, headers

    @property
    def headers(self) -> dict[str, str]:
        """With the values that may be kept."""
        return dict(kept_headers(self._headers.items()))


class SeenExchange(Watch):
    """See the module. Filled in by the thread that serves the request; others may read it meanwhile."""

    follows_tokens = False

    #: What is set when it is known. The objects of the gateway are held until the request is over.
    who: Admitted | None = None
    client: ClientRequest | None = None
    found: Found = NOTHING_FOUND
    most_attempts = 1
    record: RequestRecord | None = None
    #: What is left of them then.
    line: Summary | None = None
    #: What the client was told in place of an answer, and why what the turn left could not be stored.
    error: GatewayError | None = None
    store_error: str | None = None
    #: The kept answers from which the request continues.
    kept: Mapping[str, KeptAnswer] = MappingProxyType({})
    over = False
    #: Whether it was too large to be held whole.
    cut = False
    #: For `Exchanges`: the version of its last change, and the bytes that are counted.
    changed = counted = 0
    _secrets: tuple[int, set[bytes]] | None = None
    _lines: Observer | None = None

    def __init__(self, event: dict[str, Any], changed: Callable[[SeenExchange], None], path: str | None = None) -> None:
        """`path`: as the client wrote it, where that is known; the event has API Gateway's."""
        self._event = event
        self.path: str = path or event["requestContext"]["path"]
        self.request_id: str = event["requestContext"]["requestId"]
        self._notes: list[tuple[float, Kind, Any]] = []
        #: The requests to providers, which are notes too.
        self.asked: list[Asked] = []
        self.targets: list[Target] = []
        self.times: list[float] = []
        self.ids: list[str] = []
        #: Bytes that are held, nearly.
        self.size = _OBJECTS_BYTES + getsizeof(event.get("body"))
        self._changed = changed
        # Called for every token, or several times for every request: each is a call less than a method of ours.
        self._note = self._notes.append
        self.told_time, self.gave_id = self.times.append, self.ids.append  # type: ignore[assignment,method-assign]
        self.began = time.time()
        self._started = monotonic()

    # ------------------------------------------------------------ what is told while it runs

    def admitted(self, admitted: Admitted) -> None:
        """See `Watch`."""
        self.who = admitted

    def continued(self, answers: Mapping[str, KeptAnswer]) -> None:
        """See `Watch`."""
        self.kept = answers

    def prepared(self, client: ClientRequest, plan: Plan, found: Found) -> None:
        """See `Watch`."""
        self.client, self.most_attempts, self.found = client, plan.most, found
        if (lines := call_lines(self.request_id, client.request)) is not None:
            self._lines, self.follows_tokens = lines, True

    def attempting(self, target: Target) -> None:
        """See `Watch`."""
        self.targets.append(target)

    def upstream_request(self, request: UpstreamRequest) -> None:
        """See `Observer`."""
        asked = Asked(request, self.targets[-1].provider.wire if self.targets else "")
        if self._add("asked", asked, len(request.body)):
            self.asked.append(asked)
        self._changed(self)

    def upstream_head(self, status: int, headers: dict[str, str]) -> None:
        """See `Observer`."""
        self._add("head", Answered(status, headers), 1000)

    def upstream_data(self, data: bytes) -> None:
        """See `Observer`."""
        if self.size >= MOST_EXCHANGE_BYTES:  # as `_add` does it, which is a call more for every token
            self.cut = True
            return
        self.size += len(data) + _NOTE_BYTES
        self._note((monotonic(), "data", data))

    def upstream_end(self, error: GatewayError | None) -> None:
        """See `Observer`."""
        self._note((monotonic(), "end", error))

    def batch(self, batch: Batch) -> None:
        """See `Observer`."""
        if self._lines is not None:
            self._lines.batch(batch)

    def finished(self, record: RequestRecord) -> None:
        """See `Watch`."""
        self.record = record
        if record.error is not None:
            self.error = record.error
        self.store_error = record.store_error

    def left(self, kind: Literal["sent_head", "silence"], what: Head | None = None) -> None:
        """A head is on its way to the client, or a word that keeps it waiting comes next."""
        self._add(kind, what, 200)

    def wrote(self, data: bytes) -> None:
        """Some of the body is on its way to the client."""
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return
        self.size += len(data) + _NOTE_BYTES
        self._note((monotonic(), "sent", data))

    def closed(self, refused: GatewayError | None = None) -> None:
        """The request is over. `refused`: the server itself has answered it. What the gateway had made of it is let go:
        held by hundreds, it would keep the memory of the requests that follow cold."""
        self.error = refused or self.error
        self.over = True
        self.line = summary(self)
        self.client = self.record = self._lines = None
        self._changed(self)

    def _add(self, kind: Kind, what: object, size: int) -> bool:
        """Notes what is no token. Whether there was room."""
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return False
        self.size += size + _NOTE_BYTES
        self._note((monotonic(), kind, what))
        return True

    # ------------------------------------------------------------ what can be asked then

    @property
    def notes(self) -> list[Note]:
        """What happened, in order."""
        started = self._started
        return [Note(at - started, kind, what) for at, kind, what in self._notes.copy()]

    @property
    def event(self) -> dict[str, Any]:
        """The request as it came, without its credentials."""
        return kept_event(self._event)

    @property
    def lasted(self) -> float:
        """Seconds until what happened last."""
        return self._notes[-1][0] - self._started if self._notes else 0.0

    def first_sent(self) -> tuple[int | None, float | None]:
        """The status that the client was sent, and when its first byte of the body left."""
        status = None
        for at, kind, what in self._notes:
            if kind == "sent_head":
                status = what.status
            elif kind == "sent":
                return status, at - self._started
        return status, None

    @property
    def method(self) -> str:
        """Of HTTP."""
        method: str = self._event["httpMethod"]
        return method

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether the request's body may have one of these words, which may be escaped in it."""
        body = self._event.get("body") or ""
        return bool(self._event.get("isBase64Encoded")) or "\\u" in body or any(word in body for word in words)

    def event_with_key(self) -> dict[str, Any]:
        """The request as it came, with the client's key: to be asked again, never to be shown."""
        return self._event

    @property
    def is_whole(self) -> bool:
        """Whether all of it was seen, so that it can be repeated: somebody was let in, it is not too large, no target
        was passed over for want of a credential or after failures of other requests until none was left, and it is no
        mere question (how many tokens a request has), whose answer does not pass through an exchange."""
        if self.who is None or self.cut:
            return False
        if not self.asked:
            return self.error is None or self.error.code not in OF_THE_TARGET
        answered = any(kind in ("head", "end") for _, kind, _ in self._notes)
        return answered or self.line is None or self.line.outcome != "ok"

    def without_credentials(self, data: bytes) -> bytes:
        """Some of what came from outside, should it repeat a credential."""
        return blotted(data, self._all_secrets())

    def _all_secrets(self) -> set[bytes]:
        asked = list(self.asked)
        if self._secrets is None or self._secrets[0] != len(asked):
            found = secrets_of((self._event.get("headers") or {}).items())
            self._secrets = len(asked), found.union(*(one.secrets for one in asked))
        return self._secrets[1]


class Summary(Struct, gc=False):
    """A line of a list: what is left of an exchange when its bytes are gone."""

    request_id: str
    began: float
    method: str
    path: str
    door: str = ""
    model: str = ""
    provider: str = ""
    status: int | None = None
    outcome: str = "running"
    error: str = ""
    tools: int = 0
    calls: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tokens: tuple[int, int] | None = None
    first_byte: float | None = None
    seconds: float | None = None
    attempts: int = 0
    stream: bool = False
    #: A health check, of which there are many.
    routine: bool = False
    #: The names that the request's members have: the door's.
    dialect: str = ""

    @property
    def began_at(self) -> datetime:
        """When the request came."""
        return datetime.fromtimestamp(self.began, UTC)


def summary(seen: SeenExchange) -> Summary:
    """What a line of a list says of the exchange, as far as it is known now."""
    if seen.line is not None:
        return seen.line
    line = Summary(seen.request_id, seen.began, seen.method, seen.path)
    line.attempts = len(seen.asked)
    client, record = seen.client, seen.record
    if client is not None:
        request = client.request
        line.model, line.tools, line.stream = request.model, len(request.tools), request.stream
        line.door = client.door.name
    if seen.targets:
        target = seen.targets[-1]
        line.provider = f"{target.provider.name}/{target.model}"
    line.status, line.first_byte = seen.first_sent()
    if record is not None:
        line.door, line.tools, line.outcome, line.routine = record.door, record.tools, record.outcome, record.routine
        line.model = line.model or record.requested_model or ""
        figures = record.figures
        if figures is not None:
            line.calls, line.warnings = tuple(figures.tool_names), tuple(figures.warnings)
            line.dialect = figures.dialect
            if figures.usage is not None:
                line.tokens = figures.usage.input_tokens, figures.usage.output_tokens
    if seen.error is not None:
        line.error = seen.error.code
        line.status = line.status or seen.error.status
        line.outcome = line.outcome if record is not None else "request_error"
    if seen.over:
        line.seconds = seen.lasted
    return line
