"""Packs an ended exchange into one piece of bytes, and unpacks it. So a thousand chunks are not a thousand objects:
their memory is free for the next request while it is warm, and the counted size is the real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.msgpack import Decoder, Encoder

from toolwire.conversation.restore import NOTHING_FOUND
from toolwire.model.admitted import Admitted
from toolwire.model.errors import GatewayError
from toolwire.model.http import Head, Headers, UpstreamRequest
from toolwire.model.settings import Settings, Target, Tenant
from toolwire.shell.recording.exchange import NO_ANSWERS, SeenExchange
from toolwire.shell.recording.notes import ASKED, HEAD, SENT, SENT_HEAD, Answered, Asked


class Given(NamedTuple):
    """The values that are not packed: parts of the configuration, which many exchanges share, and errors, which few
    have. `ends`: how each provider's body ended."""

    settings: Settings | None
    tenant: Tenant | None
    targets: tuple[Target, ...]
    most_attempts: int
    error: GatewayError | None
    store_error: str | None
    ends: tuple[GatewayError | None, ...]

    def like(self, other: Given) -> Given:
        """The other one if it is equal, to share it."""
        is_same = self.settings is other.settings and self.tenant is other.tenant and self[2:] == other[2:]
        return other if is_same else self


_encode = Encoder().encode
_decode = Decoder().decode


def pack(seen: SeenExchange) -> tuple[bytes, Given]:
    """Packs the exchange, without its line."""
    notes, objects = seen.kept_notes()
    who = seen.who
    stored = None  # what the store had of the conversation
    if seen.found is not NOTHING_FOUND or seen.kept is not NO_ANSWERS:
        import pickle  # 0.4 MB, for conversations that the store knows

        stored = pickle.dumps((seen.found, dict(seen.kept)), pickle.HIGHEST_PROTOCOL)
    data = _encode(  # in one call, since it is made for every request
        (
            seen.event_with_key(),
            seen.path,
            seen.began,
            seen.started,
            seen.times,
            seen.ids,
            seen.cut,
            () if who is None else who.rate_headers,
            notes,
            [_plain(it) for it in objects],
            stored,
        )
    )
    given = Given(
        None if who is None else who.settings,
        None if who is None else who.tenant,
        tuple(seen.targets),
        seen.most_attempts,
        seen.error,
        seen.store_error,
        tuple([it for it in objects if it is None or isinstance(it, GatewayError)]),
    )
    return data, given


def unpack(data: bytes, given: Given) -> SeenExchange:
    """Unpacks the exchange."""
    event, path, began, started, times, ids, cut, rate_headers, notes, plain, stored = _decode(data)
    seen = SeenExchange(event, _nobody, path)
    seen.began, seen.cut, seen.over, seen.size = began, cut, True, len(data)
    seen.times, seen.ids, seen.targets = times, ids, list(given.targets)
    seen.most_attempts, seen.error, seen.store_error = given.most_attempts, given.error, given.store_error
    if given.settings is not None and given.tenant is not None:
        seen.who = Admitted(given.settings, given.tenant, _pairs(rate_headers))
    if stored is not None:
        import pickle

        seen.found, seen.kept = pickle.loads(stored)  # noqa: S301 - written above
    kinds = [kind for kind in notes[1::3] if kind > SENT]
    seen.take_notes(started, notes, list(_objects(kinds, plain, iter(given.ends))))
    return seen


def _plain(noted: object) -> Any:
    """The notes other than bytes, as plain values; errors stay objects."""
    if isinstance(noted, Asked):
        it = noted.whole()
        return it.method, it.url, it.headers, it.body, it.stream, noted.wire
    if isinstance(noted, Answered):
        return noted.status, noted.whole()
    return (noted.status, noted.headers) if isinstance(noted, Head) else None


def _objects(kinds: Sequence[int], plain: Sequence[Any], ends: Iterator[GatewayError | None]) -> Iterator[Any]:
    """The notes other than bytes, from their plain values."""
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
    """The listener of an ended exchange, which does not change."""
