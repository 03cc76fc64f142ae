"""An exchange that is over as one run of bytes, and back. A thousand chunks are no thousand objects then: their memory
is free for the next request while it is still warm, and what is held is what is counted.
"""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from toolwire.conversation.restore import NOTHING_FOUND
from toolwire.model.errors import GatewayError
from toolwire.model.http import Head, Headers, UpstreamRequest
from toolwire.model.settings import Settings, Target, Tenant
from toolwire.shell.recording.exchange import NO_ANSWERS, SeenExchange
from toolwire.shell.recording.notes import ASKED, HEAD, SENT, SENT_HEAD, Answered, Asked
from toolwire.shell.serve.admitted import Admitted

#: Bytes in front that say how long what stands before the chunks is.
_LENGTH_BYTES = 4


class Given(NamedTuple):
    """What is no bytes: parts of the configuration, which many exchanges share, and errors, which few have. `ends`:
    how each provider's body ended."""

    settings: Settings | None
    tenant: Tenant | None
    targets: tuple[Target, ...]
    most_attempts: int
    error: GatewayError | None
    store_error: str | None
    ends: tuple[GatewayError | None, ...]

    def like(self, other: Given) -> Given:
        """The other one, if it is the same."""
        is_same = self.settings is other.settings and self.tenant is other.tenant and self[2:] == other[2:]
        return other if is_same else self


class _Packed(Struct, array_like=True, gc=False):
    """What stands before the chunks. `stored`: what the store had of the conversation, pickled."""

    event: dict[str, Any]
    path: str
    began: float
    started: float
    times: list[float]
    ids: list[str]
    cut: bool
    rate_headers: Headers
    objects: list[Any]
    moments: bytes
    kinds: bytes
    sizes: bytes
    stored: bytes


_encode = Encoder().encode
_decode = Decoder(_Packed).decode


def pack(seen: SeenExchange) -> tuple[list[bytes], Given]:
    """The exchange in pieces, without the line that the list has of it."""
    notes, objects = seen.kept_notes()
    chunks = notes[2::3]
    who = seen.who
    stored = b""
    if seen.found is not NOTHING_FOUND or seen.kept is not NO_ANSWERS:
        stored = pickle.dumps((seen.found, dict(seen.kept)), pickle.HIGHEST_PROTOCOL)
    packed = _encode(
        _Packed(
            seen.event_with_key(),
            seen.path,
            seen.began,
            seen.started,
            seen.times,
            seen.ids,
            seen.cut,
            () if who is None else who.rate_headers,
            [_plain(it) for it in objects],
            array("d", notes[::3]).tobytes(),
            bytes(notes[1::3]),
            array("I", map(len, chunks)).tobytes(),
            stored,
        )
    )
    ends = tuple(it for it in objects if it is None or isinstance(it, GatewayError))
    given = Given(
        None if who is None else who.settings,
        None if who is None else who.tenant,
        tuple(seen.targets),
        seen.most_attempts,
        seen.error,
        seen.store_error,
        ends,
    )
    return [len(packed).to_bytes(_LENGTH_BYTES), packed, *chunks], given


def unpack(data: bytes, given: Given) -> SeenExchange:
    """The exchange again."""
    at = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES])
    packed = _decode(memoryview(data)[_LENGTH_BYTES:at])
    seen = SeenExchange(packed.event, _nobody, packed.path)
    seen.began, seen.cut, seen.over, seen.size = packed.began, packed.cut, True, len(data)
    seen.times, seen.ids, seen.targets = packed.times, packed.ids, list(given.targets)
    seen.most_attempts, seen.error, seen.store_error = given.most_attempts, given.error, given.store_error
    if given.settings is not None and given.tenant is not None:
        seen.who = Admitted(given.settings, given.tenant, packed.rate_headers)
    if packed.stored:
        seen.found, seen.kept = pickle.loads(packed.stored)  # noqa: S301 - written above
    notes: list[Any] = []
    moments, sizes = array("d", packed.moments), array("I", packed.sizes)
    for moment, kind, size in zip(moments, packed.kinds, sizes, strict=True):
        notes += moment, kind, data[at : at + size]
        at += size
    kinds = [kind for kind in packed.kinds if kind > SENT]
    seen.take_notes(packed.started, notes, list(_objects(kinds, packed.objects, iter(given.ends))))
    return seen


def _plain(noted: object) -> Any:
    """What is noted beside bytes, as values. Errors are kept as they are."""
    if isinstance(noted, Asked):
        it = noted.whole()
        return it.method, it.url, it.headers, it.body, it.stream, noted.wire
    if isinstance(noted, Answered):
        return noted.status, noted.whole()
    return (noted.status, noted.headers) if isinstance(noted, Head) else None


def _objects(kinds: Sequence[int], plain: Sequence[Any], ends: Iterator[GatewayError | None]) -> Iterator[Any]:
    """What was noted beside bytes, again."""
    for kind, values in zip(kinds, plain, strict=True):
        if kind == ASKED:
            method, url, headers, body, stream, wire = values
            yield Asked(UpstreamRequest(method, url, _pairs(headers), body, stream), wire)
        elif kind == HEAD:
            yield Answered(*values)
        elif kind == SENT_HEAD:
            yield Head(values[0], _pairs(values[1]))
        else:
            yield next(ends)


def _pairs(headers: Sequence[Sequence[str]]) -> Headers:
    return tuple((name, value) for name, value in headers)


def _nobody(seen: SeenExchange) -> None:
    """Nothing changes any more in an exchange that is over."""
