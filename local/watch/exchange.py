"""One request as it is watched: bytes and objects that exist anyway, each with its moment. Nothing is parsed, copied or
written here, since this runs between the provider and the client; whoever looks does the work."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
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

#: What happened, in the order in which it did. `silence` stands before what the server said to keep the client waiting.
Kind = Literal["asked", "head", "data", "end", "batch", "sent_head", "sent", "silence"]


class Note(Struct, frozen=True, gc=False):  # made for every frame: a frozen dataclass takes ten times as long
    """`at` is in seconds since the request came. `what` is by `kind`: an `Asked`, (status, headers), bytes, an error or
    None, a Batch, a Head, bytes, nothing."""

    at: float
    kind: Kind
    what: Any


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to a provider, without its credential."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes
    wire: str = ""


class SeenExchange(Watch):
    """See the module. Filled in by the thread that serves the request; others may read it meanwhile."""

    def __init__(self, event: dict[str, Any], changed: Callable[[SeenExchange], None]) -> None:
        self.event = kept_event(event)
        self._event = event
        self.request_id: str = event["requestContext"]["requestId"]
        self.began_at = datetime.now(UTC)
        self.notes: list[Note] = []
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
        self._started = time.monotonic()
        self._changed = changed
        self._secrets = secrets_of((event.get("headers") or {}).items())
        self._lines: Observer | None = None

    # ------------------------------------------------------------ what is told while it runs

    def admitted(self, admitted: Admitted) -> None:
        """See `Watch`."""
        self.who = admitted

    def prepared(self, client: ClientRequest, plan: Plan, found: Found) -> None:
        """See `Watch`."""
        self.client, self.plan, self.found = client, plan, found
        self._lines = call_lines(self.request_id, client.request)

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
        self._secrets |= secrets_of(request.headers, request.url)
        wire = self.targets[-1].provider.wire if self.targets else ""
        kept = Asked(request.method, kept_url(request.url), kept_headers(request.headers), request.body, wire)
        self._note("asked", kept, len(request.body))
        self._changed(self)

    def upstream_head(self, status: int, headers: dict[str, str]) -> None:
        """See `Observer`."""
        self._note("head", (status, dict(kept_headers(headers.items()))), 1000)

    def upstream_data(self, data: bytes) -> None:
        """See `Observer`."""
        self._note("data", data, 3 * len(data))  # as it came, as its frames, and as what was read of them

    def upstream_end(self, error: GatewayError | None) -> None:
        """See `Observer`."""
        self._note("end", error, 0)

    def batch(self, batch: Batch) -> None:
        """See `Observer`."""
        self._note("batch", batch, 400)
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
        self._note("sent", data, len(data))

    def closed(self, refused: GatewayError | None = None) -> None:
        """The request is over. `refused`: the server itself has answered it."""
        self.refused = refused
        self.over = True
        self._changed(self)

    def _note(self, kind: Kind, what: object, size: int) -> None:
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return
        self.size += size + 100
        self.notes.append(Note(time.monotonic() - self._started, kind, what))

    # ------------------------------------------------------------ what can be asked then

    @property
    def path(self) -> str:
        """The path as the client wrote it."""
        path: str = self.event["requestContext"]["path"]
        return path

    @property
    def asked(self) -> list[Asked]:
        """The requests to providers."""
        return [note.what for note in self.notes if note.kind == "asked"]

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
        return blotted(data, self._secrets)


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
    changed: int = field(default=0, compare=False)


def summary(seen: SeenExchange) -> Summary:
    """What a line of a list says of the exchange, as far as it is known now."""
    line = Summary(seen.request_id, seen.began_at, seen.event["httpMethod"], seen.path)
    notes = list(seen.notes)
    line.attempts = sum(note.kind == "asked" for note in notes)
    if seen.client is not None:
        request = seen.client.request
        line.model, line.tools, line.stream = request.model, len(request.tools), request.stream
        line.door = seen.client.door.name
    if seen.targets:
        line.provider = f"{seen.targets[-1].provider.name}/{seen.targets[-1].model}"
    line.first_byte = next((note.at for note in notes if note.kind == "sent"), None)
    line.status = next((note.what.status for note in notes if note.kind == "sent_head"), None)
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
        line.seconds = notes[-1].at if notes else 0.0
    return line
