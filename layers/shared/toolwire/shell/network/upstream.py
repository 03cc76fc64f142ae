"""The HTTP client for providers: sends a request, and reads its answer as it comes.

Below it are kept connections (`pool`), their sockets and deadlines (`sockets`) and the parser (`answer_reader`). This
module adds one retry for a pooled connection that had died, closes an answer at once when its reader stops, and turns
every error of the transport into one of `model.errors`:

    UpstreamTimeout          a deadline passed; the message says which
    UpstreamError            code `upstream_unreachable`: no address, no connection, no TLS
    UpstreamTruncated        the connection ended before the answer did
    UpstreamProtocolError    what came was not HTTP, or larger than the reader allows
    ClientGone               passed through from the client's `Output`

No redirect is followed: a credential goes to its own host only. HTTPS_PROXY and NO_PROXY hold for https upstreams. An
`Upstream` may be shared by threads; a response is read by one.
"""

from __future__ import annotations

import functools
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from toolwire.model.errors import (
    GatewayError,
    InternalError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamTruncated,
)
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import SettingsError, TimeLimits
from toolwire.shell.network.answer_reader import AnswerReader, NotHttpError
from toolwire.shell.network.pool import Connection, Origin, Pool, Proxy
from toolwire.shell.network.sockets import ConnectError, LostError, StaleConnection
from toolwire.shell.network.transfer import Timeouts, Transfer

#: Directories of hashed certificates beside OpenSSL's own: Fedora's family, with Amazon Linux.
_HASHED_DIRECTORIES = ("/etc/pki/ca-trust/extracted/pem/directory-hash",)

_USUAL = TimeLimits()

_TRANSPORT_ERRORS = (TimeoutError, ConnectError, LostError, NotHttpError)

#: The valid parts of a head (RFC 9110, 5.1 and 5.5; RFC 9112, 3.2): a name, a value, the request target.
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?")
_TARGET = re.compile(r"[\x21-\x7e]+")


class Upstream:
    """Sends requests to providers over kept-alive connections. One for the process."""

    def __init__(
        self,
        timeouts: Timeouts | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeouts = timeouts or Timeouts()
        self._now = now
        tls = tls or _shared_tls()
        self._direct = Pool(tls)
        proxy = _https_proxy()
        self._tunnels = Pool(tls, proxy) if proxy else None
        self._unproxied = _unproxied()

    def send(
        self,
        request: UpstreamRequest,
        *,
        expires: float,
        limits: TimeLimits = _USUAL,
        while_waiting: Callable[[], None] | None = None,
        provider: str | None = None,
    ) -> UpstreamResponse:
        """Sends the request and reads the answer's head, whatever its status.

        `expires` is the moment (of `now`) at which the whole answer must be there; `limits` may bring it forward.
        `while_waiting` is called once the request was sent, unless the answer is there at once. `provider` is the
        configured name of the host, for messages. Raises the errors of this module.
        """
        place, head = _place(request.url), _head(request)
        who = f"upstream {place.shown}" if provider is None else f"provider {provider!r} at {place.shown}"
        fresh, timeouts = False, self._timeouts
        if limits != _USUAL:
            timeouts = timeouts.within(limits)
            expires = min(expires, self._now() + (limits.total_seconds or expires))
        pool = self._pool_for(place.origin)
        while True:
            transfer = Transfer(timeouts, expires, self._now, streams=request.stream)
            transfer.while_waiting = while_waiting
            try:
                connection = pool.take(place.origin, transfer, fresh=fresh)
                try:
                    answer = connection.ask(head, request.body, transfer)
                except BaseException:
                    pool.discard(connection)
                    raise
            except StaleConnection:
                fresh = True  # the other idle connections are as old
                continue
            except _TRANSPORT_ERRORS as error:
                raise _renamed(error, transfer, who) from None
            transfer.head_read = True
            return UpstreamResponse(pool, connection, answer, transfer, who)

    def close(self) -> None:
        """Closes every connection."""
        for pool in self._pools:
            pool.close()

    @property
    def open_connections(self) -> int:
        """The number of connections, busy and idle."""
        return sum(map(len, self._pools))

    @property
    def _pools(self) -> list[Pool]:
        return [self._direct] if self._tunnels is None else [self._direct, self._tunnels]

    def _pool_for(self, origin: Origin) -> Pool:
        if self._tunnels is None or not origin.is_tls:
            return self._direct
        host = "." + origin.host
        exempt = any(name == ".*" or host.endswith(name) for name in self._unproxied)
        return self._direct if exempt else self._tunnels


@functools.cache
def upstream() -> Upstream:
    """The process's connections to providers."""
    return Upstream()


class UpstreamResponse:
    """An answer whose body is still to be read. Leaving the `with` block, or closing the iterator of `chunks`, before
    the end of the body closes the connection. If the body was read to its end, past the last event, the connection is
    kept for the next request."""

    def __init__(self, pool: Pool, connection: Connection, answer: AnswerReader, transfer: Transfer, who: str) -> None:
        assert answer.status is not None
        self._pool = pool
        self._connection: Connection | None = connection
        self._transfer = transfer
        self._who = who
        self.status = answer.status
        #: Names in lower case; repeated fields are joined with ", ".
        self.headers = answer.headers

    def chunks(self) -> Iterator[bytes]:
        """The body's bytes as they arrive. Raises the errors of this module."""
        if (connection := self._connection) is None:
            return
        coding = self.headers.get("content-encoding", "identity").strip().lower()
        body = connection.body(self._transfer)
        try:
            if coding in ("", "identity"):
                yield from body
            else:
                from toolwire.shell.network.decompression import unpacked  # for few hosts: not at a cold start

                yield from unpacked(body, coding)
            self._connection = None
            self._pool.release(connection)
        except _TRANSPORT_ERRORS as error:
            raise _renamed(error, self._transfer, self._who) from None
        finally:
            self.close()

    def read(self, limit: int) -> bytes:
        """Reads the whole body. Raises UpstreamProtocolError if it has more than `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        for part in self.chunks():
            size += len(part)
            if size > limit:
                self.close()
                raise UpstreamProtocolError(f"The {self._who} sent an answer of more than {limit} bytes.")
            parts.append(part)
        return b"".join(parts)

    def expire_within(self, seconds: float) -> None:
        """Waits at most this long for the rest. Called when the answer is complete and only the body's end is missing,
        so that a host that never ends its body does not cost its whole idle time."""
        self._transfer.hurry(seconds)

    def close(self) -> None:
        """Closes the connection if the body was not read to its end. May be called again."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._pool.discard(connection)

    def __enter__(self) -> UpstreamResponse:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def tls_context() -> ssl.SSLContext:
    """The TLS context, which verifies certificates against the platform's authorities.

    A directory of hashed certificates is read when one is needed; a bundle is parsed as a whole (some 10 ms of a cold
    start). `SSL_CERT_FILE`, which the operator sets, comes first, certifi's bundle last.
    """
    if bundle := os.environ.get("SSL_CERT_FILE"):
        if not os.access(bundle, os.R_OK):  # OpenSSL would continue without any authority
            raise SettingsError(f"SSL_CERT_FILE: {bundle!r} cannot be read.")
        return ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    for directory in (paths.capath, paths.openssl_capath, *_HASHED_DIRECTORIES):
        if directory and _is_hashed(directory):
            return ssl.create_default_context(capath=directory)
    import certifi  # the last resort: on no platform of ours

    return ssl.create_default_context(cafile=certifi.where())


@functools.cache
def _shared_tls() -> ssl.SSLContext:
    """The TLS context of this process: OpenSSL 3 takes some 50 ms for each context that reads a bundle."""
    return tls_context()


def _is_hashed(directory: str) -> bool:
    """Whether OpenSSL would find certificates here: their names are eight hex digits, a dot and a number."""
    try:
        with os.scandir(directory) as entries:
            return any(len(entry.name) == 10 and entry.name[8:] == ".0" for entry in entries)
    except OSError:
        return False


def _https_proxy() -> Proxy | None:
    """The proxy that HTTPS_PROXY names. A plain http upstream is a model server nearby and is never proxied.

    Raises SettingsError."""
    address = os.environ.get("https_proxy") or os.environ.get("HTTPS_PROXY")
    if not address:
        return None
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or not host.isascii() or parts.scheme != "http":
        raise SettingsError("HTTPS_PROXY must be an http:// URL.")  # not quoted, since it may hold a password
    if not parts.username:
        return Proxy(host, port or 80)
    return Proxy.with_password(host, port or 80, unquote(parts.username), unquote(parts.password or ""))


def _unproxied() -> tuple[str, ...]:
    """The domains that NO_PROXY exempts, with their leading dots; "*" is all."""
    names = (os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")).split(",")
    return tuple("." + name.strip().lstrip(".").lower() for name in names if name.strip())


class _Place(NamedTuple):
    """The parts of a URL: the origin, the request target, and the host's name for errors."""

    origin: Origin
    target: str
    #: With its port, if that is not the scheme's default.
    shown: str

    @property
    def host(self) -> str:
        """The request's `host` header."""
        return f"[{self.shown}]" if ":" in self.origin.host and not self.shown.startswith("[") else self.shown


@functools.lru_cache(256)
def _place(url: str) -> _Place:
    """Raises GatewayError."""
    if url and not _TARGET.fullmatch(url):  # `urlsplit` would take a line break out
        raise _unsendable() from None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _unsendable() from None
    if parts.scheme not in ("http", "https") or not host:
        raise UpstreamError("The upstream's base_url is no http or https URL.", code="upstream_unreachable")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    is_tls = parts.scheme == "https"
    shown = host if port is None else f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return _Place(Origin(is_tls, host, port or (443 if is_tls else 80)), target, shown)


def host_header(url: str) -> str:
    """The `host` header of a request for this URL. Raises GatewayError."""
    return _place(url).host


def _head(request: UpstreamRequest) -> bytes:
    """The request's head. Raises GatewayError."""
    place = _place(request.url)
    lines = [f"{request.method} {place.target} HTTP/1.1"]
    for name, value in request.headers:
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise _unsendable() from None
        lines.append(f"{name}: {value}")
    # Compressed events would arrive late, and in lumps.
    lines += (f"host: {place.host}", "accept-encoding: identity")
    if request.body or request.method == "POST":
        lines.append(f"content-length: {len(request.body)}")
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1")


def _unsendable() -> GatewayError:
    """The error for a request that cannot be sent. It has no cause, which would quote the header, and so maybe the
    credential."""
    return InternalError(
        "The request for the upstream cannot be sent: its URL or a header has a character that HTTP does not allow. "
        "Look for a line break or a space in the credential and in base_url."
    )


def _renamed(error: Exception, transfer: Transfer, who: str) -> GatewayError:
    """The transport's error as one of ours. Its own text is shown only if it cannot quote what the upstream sent."""
    if isinstance(error, TimeoutError):
        return UpstreamTimeout(f"The {who} {transfer.timed_out}.")
    if isinstance(error, ConnectError):
        return UpstreamError(f"The {who} could not be reached: {error}.", code="upstream_unreachable")
    if isinstance(error, LostError):
        return UpstreamTruncated(f"The {who} closed the connection before its answer was complete.")
    return UpstreamProtocolError(f"The {who} sent what is not HTTP.")
