"""One request as it is watched: bytes that exist anyway, each with its moment. Nothing is parsed, copied or written
here, since this runs between the provider and the client; whoever looks does the work. What was understood of a
request and its answer is not kept either: it is read from the bytes again (`reading.py`).

Objects are held as they came, the request's key and the provider's credential included. What is given out has none."""

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
from toolwire.shell.recording.notes import ASKED, DATA, END, HEAD, SENT, SENT_HEAD, SILENCE, Answered, Asked, Noted
from toolwire.shell.recording.summary import Summary
from toolwire.shell.telemetry.observe import call_lines
from toolwire.shell.telemetry.request_record import RequestRecord
from toolwire.shell.telemetry.watch import Watch

#: Bytes that are held of one exchange; what comes after them is not seen.
MOST_EXCHANGE_BYTES = 32 << 20

#: Bytes of memory that the objects of one exchange take while it runs, beside what it is made of, measured.
_OBJECTS_BYTES = 6_000
#: And those of one note.
_NOTE_BYTES = 120

#: Of an exchange that continues from no answer that was kept.
NO_ANSWERS: Mapping[str, KeptAnswer] = MappingProxyType({})


class SeenExchange(Noted, Watch):
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
    kept: Mapping[str, KeptAnswer] = NO_ANSWERS
    over = False
    #: Whether it was too large to be held whole.
    cut = False
    #: For `Exchanges`: the version of its last change.
    changed = 0
    _secrets: tuple[int, set[bytes]] | None = None
    _lines: Observer | None = None

    def __init__(self, event: dict[str, Any], changed: Callable[[SeenExchange], None], path: str | None = None) -> None:
        """`path`: as the client wrote it, where that is known; the event has API Gateway's."""
        self._event = event
        self.path: str = path or event["requestContext"]["path"]
        self.request_id: str = event["requestContext"]["requestId"]
        Noted.__init__(self)
        self.targets: list[Target] = []
        self.times: list[float] = []
        self.ids: list[str] = []
        #: Bytes that are held, nearly.
        self.size = _OBJECTS_BYTES + getsizeof(event.get("body"))
        self._changed = changed
        # Called for every token, or several times for every request: each is a call less than a method of ours.
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
        if self.size >= MOST_EXCHANGE_BYTES:  # as `_add` does it, which is a call more for every token
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
        """A head is on its way to the client, or a word that keeps it waiting comes next."""
        self._add(SENT_HEAD if kind == "sent_head" else SILENCE, what, 200)

    def wrote(self, data: bytes) -> None:
        """Some of the body is on its way to the client."""
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return
        self.size += len(data) + _NOTE_BYTES
        self._note((monotonic(), SENT, data))

    def reduce_to(self, line: Summary) -> None:
        """The request is over, and this is what a list says of it. What the gateway had made of it is let go: held by
        hundreds, it would keep the memory of the requests that follow cold."""
        self.line = line
        self.client = self.record = self._lines = None
        self._changed(self)

    def _add(self, kind: int, what: object, size: int) -> bool:
        """Notes something other than bytes. Returns whether there was room."""
        if self.size >= MOST_EXCHANGE_BYTES:
            self.cut = True
            return False
        self.size += size + _NOTE_BYTES
        self._objects.append(what)  # first: who looks meanwhile finds it
        self._note((monotonic(), kind, b""))
        return True

    # ------------------------------------------------------------ what can be asked then

    @property
    def event(self) -> dict[str, Any]:
        """The request as it came, without its credentials."""
        return kept_event(self._event)

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
