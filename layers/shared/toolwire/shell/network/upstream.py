"""HTTP to the providers: one request, one answer read as it comes.

On top of httpcore (connections, pool, HTTP/1.1) this adds what a gateway needs: deadlines, one retry of a pooled
connection that had died, an answer that is closed at once when its reader stops, and one border at which every
transport's error becomes one of `model.errors`:

    UpstreamTimeout          a deadline passed; the message says which
    UpstreamError            code `upstream_unreachable`: no address, no connection, no TLS
    UpstreamTruncated        the connection ended before the answer did
    UpstreamProtocolError    what came was not HTTP, or larger than the reader allows
    ClientGone               passed through from the client's `Output`

No redirect is followed: a credential goes to its own host only. HTTPS_PROXY and NO_PROXY hold for https upstreams. An
`Upstream` may be shared by threads; a response is read by one.
"""

from __future__ import annotations

import logging
import os
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import cast
from urllib.parse import unquote, urlsplit

import httpcore

from toolwire.model.errors import (
    GatewayError,
    InternalError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamTruncated,
)
from toolwire.model.http import UpstreamRequest
from toolwire.model.settings import TimeLimits
from toolwire.shell.network.sockets import Attempt, Backend, StaleConnection, Timeouts
from toolwire.shell.settings.configuration import SettingsError

#: Seconds that an idle connection is kept. Providers and their load balancers close after 60 s and more, which is
#: noticed; a NAT gateway forgets after 350 s, which is not.
_KEEP_IDLE = 240.0

#: Where hashed certificates may be beside OpenSSL's own directory: Fedora's family, Amazon Linux included.
_HASHED_DIRECTORIES = ("/etc/pki/ca-trust/extracted/pem/directory-hash",)

_USUAL = TimeLimits()

_TRANSPORT_ERRORS = (TimeoutError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError)


class Upstream:
    """Sends requests to providers over kept-alive connections. One for the process."""

    def __init__(
        self,
        timeouts: Timeouts | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        # At DEBUG httpcore would log headers.
        logging.getLogger("httpcore").setLevel(logging.WARNING)
        self._timeouts = timeouts or Timeouts()
        self._now = now
        tls = tls or tls_context()
        self._direct = _pool(tls, None)
        proxy = _https_proxy()
        self._tunnels = _pool(tls, proxy) if proxy else None
        self._unproxied = _unproxied()

    def send(
        self,
        request: UpstreamRequest,
        *,
        expires: float,
        limits: TimeLimits = _USUAL,
        while_waiting: Callable[[], None] | None = None,
    ) -> UpstreamResponse:
        """Send the request and read the answer's head, whatever its status.

        `expires` is the moment (of `now`) at which the whole answer must be there; `limits` may bring it forward.
        `while_waiting` is called once the request is sent, if the answer is not there at once. Raises the errors of
        this module.
        """
        fresh, timeouts = False, self._timeouts
        if limits != _USUAL:
            timeouts = timeouts.within(limits)
            expires = min(expires, self._now() + (limits.total_seconds or expires))
        while True:
            attempt = Attempt(timeouts, expires, self._now, streams=request.stream, fresh=fresh)
            attempt.while_waiting = while_waiting
            message = _message(request, attempt)
            host = _address(message.url)
            try:
                response = self._pool_for(message.url).handle_request(message)
            except StaleConnection:
                # What else is in the pool is as old. The second attempt refuses it.
                fresh = True
                continue
            except httpcore.LocalProtocolError:
                raise _unsendable() from None
            except _TRANSPORT_ERRORS as error:
                raise _renamed(error, attempt, host) from None
            attempt.head_read = True
            return UpstreamResponse(response, attempt, host)

    def close(self) -> None:
        """Close every connection."""
        for pool in self._pools:
            pool.close()

    @property
    def open_connections(self) -> int:
        """How many connections there are, busy and idle."""
        return sum(len(pool.connections) for pool in self._pools)

    @property
    def _pools(self) -> list[httpcore.ConnectionPool]:
        return [self._direct] if self._tunnels is None else [self._direct, self._tunnels]

    def _pool_for(self, url: httpcore.URL) -> httpcore.ConnectionPool:
        if self._tunnels is None or url.scheme != b"https":
            return self._direct
        host = "." + url.host.decode("ascii").lower()
        exempt = any(name == ".*" or host.endswith(name) for name in self._unproxied)
        return self._direct if exempt else self._tunnels


class UpstreamResponse:
    """An answer whose body is still to be read. Leaving the `with` block, or closing what `chunks` returned, before
    the end of the body closes the connection. A body that was read to its end, past the last event, leaves it for
    the next request."""

    def __init__(self, response: httpcore.Response, attempt: Attempt, host: str) -> None:
        self._response = response
        self._attempt = attempt
        self._host = host
        self.status = response.status
        #: Names in lower case; repeated fields are joined with ", ".
        self.headers = _joined(response.headers)

    def chunks(self) -> Iterator[bytes]:
        """The body's bytes as they arrive. Raises the errors of this module."""
        coding = self.headers.get("content-encoding", "identity").strip().lower()
        stream = cast("Iterable[bytes]", self._response.stream)
        try:
            if coding in ("", "identity"):
                yield from stream
            else:
                from toolwire.shell.network.unpacking import unpacked  # for few hosts: no cold start's business

                yield from unpacked(stream, coding)
        except _TRANSPORT_ERRORS as error:
            raise _renamed(error, self._attempt, self._host) from None
        finally:
            self.close()

    def read(self, limit: int) -> bytes:
        """The whole body; UpstreamProtocolError if it has more than `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        for part in self.chunks():
            size += len(part)
            if size > limit:
                self.close()
                raise UpstreamProtocolError(f"The upstream {self._host} sent an answer of more than {limit} bytes.")
            parts.append(part)
        return b"".join(parts)

    def expire_within(self, seconds: float) -> None:
        """Wait no longer than this for the rest: everything has been said, only the body's end is missing. A host that
        never ends its body costs this long, not its idle time."""
        self._attempt.hurry(seconds)

    def close(self) -> None:
        """Give the connection back, or close it if the body was not read to its end. May be repeated."""
        self._response.close()

    def __enter__(self) -> UpstreamResponse:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def tls_context() -> ssl.SSLContext:
    """Verifies certificates against the platform's authorities.

    A directory of certificates named by their hashes is read when one is needed; a bundle costs its whole parsing
    (some 10 ms of a cold start) at once. `SSL_CERT_FILE` is the operator's word and comes first, certifi's bundle
    last.
    """
    if os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    for directory in (paths.capath, paths.openssl_capath, *_HASHED_DIRECTORIES):
        if directory and _is_hashed(directory):
            return ssl.create_default_context(capath=directory)
    return httpcore.default_ssl_context()


def _is_hashed(directory: str) -> bool:
    """Whether OpenSSL would find certificates here: their names are eight hex digits, a dot and a number."""
    try:
        with os.scandir(directory) as entries:
            return any(len(entry.name) == 10 and entry.name[8:] == ".0" for entry in entries)
    except OSError:
        return False


def _pool(tls: ssl.SSLContext, proxy: httpcore.Proxy | None) -> httpcore.ConnectionPool:
    return httpcore.ConnectionPool(
        ssl_context=tls,
        proxy=proxy,
        max_connections=None,
        max_keepalive_connections=20,
        keepalive_expiry=_KEEP_IDLE,
        network_backend=Backend(),
    )


def _https_proxy() -> httpcore.Proxy | None:
    """The proxy that HTTPS_PROXY names. A plain http upstream is a model server nearby and is never proxied.

    Raises SettingsError."""
    address = os.environ.get("https_proxy") or os.environ.get("HTTPS_PROXY")
    if not address:
        return None
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").encode("ascii"), parts.port
    except ValueError:
        host, port = b"", None
    if not host or parts.scheme != "http":
        raise SettingsError("HTTPS_PROXY must be an http:// URL.")  # which may hold a password, so it is not quoted
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return httpcore.Proxy(httpcore.URL(scheme=b"http", host=host, port=port or 80, target=b"/"), auth=auth)


def _unproxied() -> tuple[str, ...]:
    """The domains that NO_PROXY exempts, with their leading dots; "*" is all."""
    names = (os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")).split(",")
    return tuple("." + name.strip().lstrip(".").lower() for name in names if name.strip())


def _message(request: UpstreamRequest, attempt: Attempt) -> httpcore.Request:
    try:
        url = httpcore.URL(request.url)
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in request.headers]
    except (ValueError, TypeError):
        raise _unsendable() from None
    if url.scheme not in (b"http", b"https") or not url.host:
        raise UpstreamError("The upstream's base_url is no http or https URL.", code="upstream_unreachable")
    host = b"[%b]" % url.host if b":" in url.host else url.host
    headers.append((b"host", host if url.port is None else b"%b:%d" % (host, url.port)))
    # Compressed events would arrive late, and in lumps.
    headers.append((b"accept-encoding", b"identity"))
    if request.body or request.method == "POST":
        headers.append((b"content-length", b"%d" % len(request.body)))
    timeouts = {"connect": attempt, "read": attempt, "write": attempt}
    return httpcore.Request(
        request.method, url, headers=headers, content=request.body, extensions={"timeout": timeouts}
    )


def _address(url: httpcore.URL) -> str:
    """The host as errors name it, with its port where that is not the scheme's own."""
    host = url.host.decode("ascii")
    return host if url.port is None else f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"


def _joined(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _unsendable() -> GatewayError:
    """No cause is kept: it would quote the header, which may be the credential."""
    return InternalError(
        "The request for the upstream cannot be sent: its URL or a header has a character that HTTP does not allow. "
        "Look for a line break or a space in the credential and in base_url."
    )


def _renamed(error: Exception, attempt: Attempt, host: str) -> GatewayError:
    """The transport's error as one of ours. Its own text is shown only where it can quote nothing the upstream sent."""
    if isinstance(error, TimeoutError):
        return UpstreamTimeout(f"The upstream {host} {attempt.timed_out}.")
    if isinstance(error, (httpcore.ConnectError, httpcore.ProxyError)):
        return UpstreamError(f"The upstream {host} could not be reached: {error}.", code="upstream_unreachable")
    if attempt.ended or isinstance(error, httpcore.NetworkError):
        return UpstreamTruncated(f"The upstream {host} closed the connection before its answer was complete.")
    return UpstreamProtocolError(f"The upstream {host} sent what is not HTTP.")
