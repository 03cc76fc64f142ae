"""One request as it is watched: bytes and objects that exist anyway, each with its moment. Nothing is parsed, copied or
written here, since this runs between the provider and the client; whoever looks does the work. What was understood of
an answer is not kept either: it is read from the bytes again (`reading.py`).

Objects are held as they came, the request's key and the provider's credential included. What is given out has none."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct

from local.watch.credentials import blotted, kept_event, kept_headers, kept_url, secrets_of
from toolwire.conversation.restore import NOTHING_FOUND, Found
from toolwire.exchange.observer import Observer
from toolwire.exchange.plan import Plan
from toolwire.exchange.prepare import ClientRequest
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch
from toolwire.model.http import Head, Headers, UpstreamRequest
from toolwire.model.settings import Target
from toolwire.shell.serve.admission import Admitted
from toolwire.shell.serve.attempts import OF_THE_TARGET
from toolwire.shell.serve.observe import RequestRecord, call_lines
from toolwire.shell.serve.output import Carrier, Output
from toolwire.shell.serve.watch import Watch

#: Bytes that are held of one exchange; what comes after them is not seen.
MOST_EXCHANGE_BYTES = 32 << 20

#: Bytes of memory that the objects of one exchange take beside what it is made of, measured.
_OBJECTS_BYTES = 12_000
#: And those of one note.
_NOTE_BYTES = 160

#: What happened, in the order in which it did. `silence` stands before what the server said to keep the client waiting.
Kind = Literal["asked", "head", "data", "end", "sent_head", "sent", "silence"]


class Note(Struct, frozen=True, gc=False):  # made for every frame: a frozen dataclass takes ten times as long
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

    def __init__(self, event: dict[str, Any], changed: Callable[[SeenExchange], None]) -> None:
        self._event = event
        self.request_id: str = event["requestContext"]["requestId"]
        self.notes: list[Note] = []
        #: The requests to providers, which are notes too.
        self.asked: list[Asked] = []
        self.who: Admitted | None = None
        self.client: ClientRequest | None = None
        self.plan: Plan | None = None
        self.targets: list[Target] = []
        self.found: Found = NOTHING_FOUND
        self.times: list[float] = []
        self.ids: list[str] = []
        self.record: RequestRecord | None = None
        #: Why the server itself refused the request.
        self.refused: GatewayError | None = None
        self.over = False
        #: Whether it was too large to be held whole.
        self.cut = False
        #: Bytes that are held, nearly.
        self.size = _OBJECTS_BYTES + 2 * len(event.get("body") or "")  # as text, and as what was read of it
        self._began = time.time()
        self._started = time.monotonic()
        self._changed = changed
        self._secrets: tuple[int, set[bytes]] | None = None
        self._lines: Observer | None = None

    # ------------------------------------------------------------ what is told while it runs

    def admitted(self, admitted: Admitted) -> None:
        """See `Watch`."""
        self.who = admitted

    def prepared(self, client: ClientRequest, plan: Plan, found: Found) -> None:
        """See `Watch`."""
        self.client, self.plan, self.found = client, plan, found
        self._lines = call_lines(self.request_id, client.request)
        self.follows_tokens = self._lines is not None

    def attempting(self, target: Target) -> None:
        """See `Watch`."""
        self.targets.append(target)

    def told_time(self, seconds: float) -> None:
        """See `Watch`."""
        self.times.append(seconds)

    def gave_id(self, text: str) -> None:
        """See `Watch`."""
        self.ids.append(text)

    def upstream_request(self, request: UpstreamRequest) -> None:
        """See `Observer`."""
        wire = self.targets[-1].provider.wire if self.targets else ""
        asked = Asked(request, wire)
        self._note("asked", asked, len(request.body))
        if not self.cut:
            self.asked.append(asked)
        self._changed(self)

    def upstream_head(self, status: int, headers: dict[str, str]) -> None:
        """See `Observer`."""
        self._note("head", Answered(status, headers), 1000)

    def upstream_data(self, data: bytes) -> None:
        """See `Observer`."""
        if self.size >= MOST_EXCHANGE_BYTES:  # as `_note` does it, which is a call more for every token
            self.cut = True
            return
        self.size += len(data) + _NOTE_BYTES
        self.notes.append(Note(time.monotonic() - self._started, "data", data))

    def upstream_end(self, error: GatewayError | None) -> None:
        """See `Observer`."""
        self._note("end", error, 0)

    def batch(self, batch: Batch) -> None:
        """See `Observer`."""
        if self._lines is not None:
            self._lines.batch(batch)

    def sent(self, what: Head | bytes) -> None:
        """See `Observer`: what the client is sent is seen where it leaves, in `WatchedOutput`."""

    def finished(self, record: RequestRecord) -> None:
        """See `Watch`."""
        self.record = record

    def left(self, kind: Literal["sent_head", "silence"], what: Head | None = None) -> None:
        """A head is on its way to the client, or a word that keeps it waiting comes next."""
        self._note(kind, what, 200)

    def wrote(self, data: bytes) -> None:
        """Some of the body is on its way to the client."""
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return
        self.size += len(data) + _NOTE_BYTES
        self.notes.append(Note(time.monotonic() - self._started, "sent", data))

    def closed(self, refused: GatewayError | None = None) -> None:
        """The request is over. `refused`: the server itself has answered it."""
        self.refused = refused
        self.over = True
        self._changed(self)

    def _note(self, kind: Kind, what: object, size: int) -> None:
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return
        self.size += size + _NOTE_BYTES
        self.notes.append(Note(time.monotonic() - self._started, kind, what))

    # ------------------------------------------------------------ what can be asked then

    @property
    def event(self) -> dict[str, Any]:
        """The request as it came, without its credentials."""
        return kept_event(self._event)

    @property
    def began_at(self) -> datetime:
        """When the request came."""
        return datetime.fromtimestamp(self._began, UTC)

    @property
    def method(self) -> str:
        """Of HTTP."""
        method: str = self._event["httpMethod"]
        return method

    @property
    def path(self) -> str:
        """The path as the client wrote it."""
        path: str = self._event["requestContext"]["path"]
        return path

    @property
    def error(self) -> GatewayError | None:
        """What the client was told in place of an answer."""
        if self.refused is not None or self.record is None:
            return self.refused
        return self.record.error

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
        answered = any(note.kind in ("head", "end") for note in self.notes)
        return answered or self.record is None or self.record.outcome != "ok"

    def without_credentials(self, data: bytes) -> bytes:
        """Some of what came from outside, should it repeat a credential."""
        return blotted(data, self._all_secrets())

    def _all_secrets(self) -> set[bytes]:
        asked = list(self.asked)
        if self._secrets is None or self._secrets[0] != len(asked):
            found = secrets_of((self._event.get("headers") or {}).items())
            self._secrets = len(asked), found.union(*(one.secrets for one in asked))
        return self._secrets[1]


class WatchedOutput(Output):
    """An `Output` that tells the exchange what leaves."""

    def __init__(self, carrier: Carrier, seen: SeenExchange, *, headers: Headers) -> None:
        super().__init__(carrier, headers=headers)
        self._seen = seen

    def start(self, head: Head) -> None:
        """See `Output`."""
        super().start(head)
        self._seen.left("sent_head", head)

    def write(self, data: bytes) -> None:
        """See `Output`."""
        super().write(data)
        if data:
            self._seen.wrote(data)

    def on_silence(
        self, early_head: Head, keep_alive: Callable[[], bytes], commit_seconds: float | None = None
    ) -> None:
        """See `Output`."""
        seen = self._seen  # not self, which keeps what is told here

        def told() -> bytes:
            seen.left("silence")
            return keep_alive()

        super().on_silence(early_head, told, commit_seconds)


@dataclass(slots=True)
class Summary:
    """A line of a list: what is left of an exchange when its bytes are gone."""

    request_id: str
    began_at: datetime
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


def summary(seen: SeenExchange) -> Summary:
    """What a line of a list says of the exchange, as far as it is known now."""
    line = Summary(seen.request_id, seen.began_at, seen.method, seen.path)
    line.attempts = len(seen.asked)
    if seen.client is not None:
        request = seen.client.request
        line.model, line.tools, line.stream = request.model, len(request.tools), request.stream
        line.door = seen.client.door.name
    if seen.targets:
        line.provider = f"{seen.targets[-1].provider.name}/{seen.targets[-1].model}"
    line.first_byte = next((note.at for note in seen.notes if note.kind == "sent"), None)
    line.status = next((note.what.status for note in seen.notes if note.kind == "sent_head"), None)
    record = seen.record
    if record is not None:
        line.door, line.tools, line.outcome = record.door, record.tools, record.outcome
        line.model = line.model or record.requested_model or ""
        figures = record.figures
        if figures is not None:
            line.calls, line.warnings = tuple(figures.tool_names), tuple(figures.warnings)
            if figures.usage is not None:
                line.tokens = figures.usage.input_tokens, figures.usage.output_tokens
    if seen.error is not None:
        line.error = seen.error.code
        line.status = line.status or seen.error.status
        line.outcome = line.outcome if record is not None else "request_error"
    if seen.over:
        line.seconds = seen.notes[-1].at if seen.notes else 0.0
    return line
