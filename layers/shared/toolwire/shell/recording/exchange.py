"""Watches one request: holds bytes that exist anyway, with their times. Nothing is parsed, copied or written here,
since this runs between the provider and the client; the reader of a recording does that work. The events of a request
and its answer are not held either: they are read from the bytes again (`local/watch/reading.py`).

Objects are held as they came, with the request's key and the provider's credential. These are taken out of all that is
shown or written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from sys import getsizeof
from time import monotonic
from types import MappingProxyType
from typing import Any, Literal

from toolwire.conversation.kept_answers import KeptAnswer
from toolwire.conversation.restore import NOTHING_FOUND, Found
from toolwire.exchange.observer import Observer
from toolwire.exchange.plan import Plan
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.retries import OF_THE_TARGET
from toolwire.model.admitted import Admitted
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch
from toolwire.model.http import Head, UpstreamRequest
from toolwire.model.settings import Target
from toolwire.shell.recording.credentials import blotted, kept_event, secrets_of
from toolwire.shell.recording.exchange_summary import Summary
from toolwire.shell.recording.notes import ASKED, DATA, END, HEAD, SENT, SENT_HEAD, SILENCE, Answered, Asked, Noted
from toolwire.shell.telemetry.observe import call_lines
from toolwire.shell.telemetry.request_record import RequestRecord
from toolwire.shell.telemetry.watch import Watch

#: The most bytes of one exchange that are held. What comes after them is not recorded.
MOST_EXCHANGE_BYTES = 32 << 20

#: The memory of one exchange's objects while it runs, in bytes, without the bytes that it holds. Measured.
_OBJECTS_BYTES = 6_000
#: The memory of one note, likewise.
_NOTE_BYTES = 120

#: The kept answers of an exchange that continues from none.
NO_ANSWERS: Mapping[str, KeptAnswer] = MappingProxyType({})


class SeenExchange(Noted, Watch):
    """See the module. Filled in by the thread that serves the request; others may read it meanwhile."""

    follows_tokens = False

    #: Set when they are known. These objects of the gateway are held until the request is over.
    who: Admitted | None = None
    client: ClientRequest | None = None
    found: Found = NOTHING_FOUND
    most_attempts = 1
    record: RequestRecord | None = None
    #: The line that replaces them then.
    line: Summary | None = None
    #: The error that the client was sent in place of an answer, and the reason why the turn's items could not be
    #: stored.
    error: GatewayError | None = None
    store_error: str | None = None
    #: The kept answers from which the request continues.
    kept: Mapping[str, KeptAnswer] = NO_ANSWERS
    over = False
    #: Whether it was too large to be held whole.
    cut = False
    #: The version of its last change, for `Exchanges`.
    changed = 0
    _secrets: tuple[int, set[bytes]] | None = None
    _lines: Observer | None = None

    def __init__(self, event: dict[str, Any], changed: Callable[[SeenExchange], None], path: str | None = None) -> None:
        """`path`: as the client wrote it, if that is known. The event has API Gateway's."""
        self._event = event
        self.path: str = path or event["requestContext"]["path"]
        self.request_id: str = event["requestContext"]["requestId"]
        Noted.__init__(self)
        self.targets: list[Target] = []
        self.times: list[float] = []
        self.ids: list[str] = []
        #: The bytes that are held, approximately.
        self.size = _OBJECTS_BYTES + getsizeof(event.get("body"))
        self._changed = changed
        # Called for every token, or several times a request: bound methods, to save a call each.
        self._note = self._notes.extend
        self.told_time, self.gave_id = self.times.append, self.ids.append  # type: ignore[assignment,method-assign]
        self.began = time.time()

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
        if self._add(ASKED, asked, len(request.body)):
            self.asked.append(asked)
        self._changed(self)

    def upstream_head(self, status: int, headers: dict[str, str]) -> None:
        """See `Observer`."""
        self._add(HEAD, Answered(status, headers), 1000)

    def upstream_data(self, data: bytes) -> None:
        """See `Observer`."""
        if self.size >= MOST_EXCHANGE_BYTES:  # as in `_add`, without one more call for every token
            self.cut = True
            return
        self.size += len(data) + _NOTE_BYTES
        self._note((monotonic(), DATA, data))

    def upstream_end(self, error: GatewayError | None) -> None:
        """See `Observer`."""
        self._objects.append(error)
        self._note((monotonic(), END, b""))

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
        """See `Audience`."""
        self._add(SENT_HEAD if kind == "sent_head" else SILENCE, what, 200)

    def wrote(self, data: bytes) -> None:
        """See `Audience`."""
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return
        self.size += len(data) + _NOTE_BYTES
        self._note((monotonic(), SENT, data))

    def reduce_to(self, line: Summary) -> None:
        """Called when the request is over, with its line in a list. Drops the gateway's objects: those of hundreds of
        exchanges would slow later requests down."""
        self.line = line
        self.client = self.record = self._lines = None
        self._changed(self)

    def _add(self, kind: int, what: object, size: int) -> bool:
        """Notes something other than bytes. Returns whether there was room."""
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return False
        self.size += size + _NOTE_BYTES
        self._objects.append(what)  # first, so that a reader in another thread finds it
        self._note((monotonic(), kind, b""))
        return True

    # ------------------------------------------------------------ what can be asked then

    @property
    def event(self) -> dict[str, Any]:
        """The request as it came, without its credentials."""
        return kept_event(self._event)

    @property
    def method(self) -> str:
        """The HTTP method."""
        method: str = self._event["httpMethod"]
        return method

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether the request's body may contain one of these words. They may be escaped there."""
        body = self._event.get("body") or ""
        return bool(self._event.get("isBase64Encoded")) or "\\u" in body or any(word in body for word in words)

    def event_with_key(self) -> dict[str, Any]:
        """The request as it came, with the client's key: to be sent again, never to be shown."""
        return self._event

    @property
    def is_whole(self) -> bool:
        """Whether the exchange was recorded as a whole, so that it can be replayed. It is not, if the request was not
        admitted, if it was too large, if no target could be asked for lack of a credential or because of the breaker,
        or if it only counted tokens, which makes no answer of an exchange."""
        if self.who is None or self.cut:
            return False
        if not self.asked:
            return self.error is None or self.error.code not in OF_THE_TARGET
        kinds = self._notes[1::3]
        answered = HEAD in kinds or END in kinds
        return answered or self.line is None or self.line.outcome != "ok"

    def without_credentials(self, data: bytes) -> bytes:
        """Bytes that came from outside, with every credential that they repeat replaced."""
        return blotted(data, self._all_secrets())

    def _all_secrets(self) -> set[bytes]:
        asked = list(self.asked)
        if self._secrets is None or self._secrets[0] != len(asked):
            found = secrets_of((self._event.get("headers") or {}).items())
            self._secrets = len(asked), found.union(*(one.secrets for one in asked))
        return self._secrets[1]
