"""The notes about a running request: bytes that exist anyway, each with its time."""

from __future__ import annotations

from time import monotonic
from typing import Any, Literal, NamedTuple

from toolwire.model.http import Head, UpstreamRequest
from toolwire.shell.recording.credentials import kept_headers, kept_url, secrets_of

#: What happened, in the order in which it did. `silence` stands before what the server said to keep the client waiting.
Kind = Literal["asked", "head", "data", "end", "sent_head", "sent", "silence"]

#: A kind as it is noted, in whose place here its name is: those of bytes first.
DATA, SENT, ASKED, HEAD, END, SENT_HEAD, SILENCE = range(7)
KINDS: tuple[Kind, ...] = ("data", "sent", "asked", "head", "end", "sent_head", "silence")


class Note(NamedTuple):
    """`at` is in seconds since the request came. `what` is by `kind`: an `Asked`, an `Answered`, bytes, an error or
    None, a Head, bytes, nothing."""

    at: float
    kind: Kind
    what: Any


class Asked:
    """A request to a provider. Its properties hold no credential, except `secrets` and `whole`."""

    __slots__ = ("_request", "wire")

    def __init__(self, request: UpstreamRequest, wire: str = "") -> None:
        self._request, self.wire = request, wire

    def whole(self) -> UpstreamRequest:
        """The request as it was sent, with its credential: never to be shown."""
        return self._request

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._request.method

    @property
    def url(self) -> str:
        """The URL, without a key."""
        return kept_url(self._request.url)

    @property
    def headers(self) -> list[tuple[str, str]]:
        """With the values that may be kept."""
        return kept_headers(self._request.headers)

    @property
    def body(self) -> bytes:
        """The body as it was sent."""
        return self._request.body

    @property
    def secrets(self) -> set[bytes]:
        """The credentials, to be replaced in all that is shown."""
        return secrets_of(self._request.headers, self._request.url)


class Answered:
    """The head of a provider's answer."""

    __slots__ = ("_headers", "status")

    def __init__(self, status: int, headers: dict[str, str]) -> None:
        self.status, self._headers = status, headers

    def whole(self) -> dict[str, str]:
        """The headers with all their values: never to be shown."""
        return self._headers

    @property
    def headers(self) -> dict[str, str]:
        """With the values that may be kept."""
        return dict(kept_headers(self._headers.items()))


class Noted:
    """The notes of one request."""

    def __init__(self) -> None:
        #: Three entries for each note: its time, its kind and its bytes. Values other than bytes are in `_objects`, in
        #: the same order. So a token costs only the object for its time, and all times can be read at once.
        self._notes: list[Any] = []
        self._objects: list[Any] = []
        #: The requests to providers, which are also in the notes.
        self.asked: list[Asked] = []
        self._started = monotonic()

    @property
    def notes(self) -> list[Note]:
        """The notes, in order."""
        notes, started = self._notes.copy(), self._started
        objects = iter(self._objects.copy())
        return [
            Note(at - started, KINDS[kind], what if kind <= SENT else next(objects))
            for at, kind, what in zip(notes[::3], notes[1::3], notes[2::3], strict=True)
        ]

    def kept_notes(self) -> tuple[list[Any], list[Any]]:
        """The notes in their stored form: see `_notes` and `_objects`."""
        return self._notes, self._objects

    def take_notes(self, started: float, notes: list[Any], objects: list[Any]) -> None:
        """Replaces its notes by these, of an exchange that is over."""
        self._started, self._notes, self._objects = started, notes, objects
        self.asked = [it for it in objects if isinstance(it, Asked)]

    @property
    def started(self) -> float:
        """The time when the request came, by the clock of the notes."""
        return self._started

    @property
    def lasted(self) -> float:
        """The seconds until the last note."""
        return self._notes[-3] - self._started if self._notes else 0.0

    def first_sent(self) -> tuple[int | None, float | None]:
        """The status that the client was sent, and the time of the body's first byte."""
        status = next((it.status for it in self._objects if isinstance(it, Head)), None)
        kinds = self._notes[1::3]
        return status, self._notes[kinds.index(SENT) * 3] - self._started if SENT in kinds else None
