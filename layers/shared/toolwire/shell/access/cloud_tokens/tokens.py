"""Keeps an access token and renews it, and sends the requests for one to a cloud's servers.

A token that is about to expire is renewed in a thread of its own, while requests use the old one. Requests wait only if
there is no token: one of them mints it, and the others wait for that. A failure is not tried again for a few seconds,
so that only one request waits for a cloud that does not answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from toolwire.model.errors import GatewayError
from toolwire.model.http import UpstreamRequest
from toolwire.shell.network.upstream import Upstream

#: A token is not used in its last seconds, since a request takes time to arrive.
SPARE_SECONDS = 60.0
#: The seconds before its end at which a token is renewed; for short-lived tokens this part of their life.
RENEW_SECONDS, RENEW_PART = 600.0, 0.25
#: The seconds for which a failure is not tried again.
FAILED_SECONDS = 3.0

#: The seconds that a cloud may take to answer, and the most bytes of its answer.
ASK_SECONDS = 10.0
_ANSWER_BYTES = 1 << 20

#: The most characters of a cloud's own message that are shown.
_WORDS = 300


class TokenError(Exception):
    """No token could be minted. The text says why, and is safe to show."""


@dataclass(frozen=True, slots=True)
class Token:
    """An access token; `seconds` is how long it holds."""

    value: str
    seconds: float


class KeptToken:
    """One token, minted by `mint`. Safe to use from several threads. It uses the wall clock: a monotonic clock may stop
    while a function is frozen."""

    def __init__(self, mint: Callable[[], Token], clock: Callable[[], float] = time.time) -> None:
        self._mint = mint
        self._clock = clock
        self._lock = threading.Lock()
        self._renewing = threading.Lock()
        self._value = ""
        self._until = self._renew_from = self._minted_at = float("-inf")
        self._failure: TokenError | None = None
        self._failed_until = float("-inf")

    def value(self) -> str:
        """The token as it is now. Raises TokenError."""
        now = self._clock()
        if now >= self._until:
            with self._lock:
                return self._minted()
        if now >= self._renew_from and self._renewing.acquire(blocking=False):
            threading.Thread(target=self._renew, name="cloud-token", daemon=True).start()
        return self._value

    def refused(self) -> None:
        """Notes that a host has refused the token. The next request gets a new one, unless this one was just minted."""
        if self._clock() >= self._minted_at + SPARE_SECONDS:
            self._until = float("-inf")

    def _renew(self) -> None:
        """Renews the token. A failure is ignored, since the old token is still valid."""
        try:
            self._keep(self._mint())
        except (TokenError, GatewayError):
            self._renew_from = self._clock() + FAILED_SECONDS
        finally:
            self._renewing.release()

    def _minted(self) -> str:
        """A token, minted unless another thread has done so just now."""
        now = self._clock()
        if now < self._until:
            return self._value
        if self._failure is not None and now < self._failed_until:
            raise self._failure
        try:
            self._keep(self._mint())
        except TokenError as error:
            self._failure, self._failed_until = error, self._clock() + FAILED_SECONDS
            raise
        return self._value

    def _keep(self, token: Token) -> None:
        self._minted_at = now = self._clock()
        self._failure = None
        self._value = token.value
        self._renew_from = now + token.seconds - min(RENEW_SECONDS, token.seconds * RENEW_PART)
        self._until = now + token.seconds - min(SPARE_SECONDS, token.seconds * RENEW_PART)


# ---------------------------------------------------------------- asking


class Ask:
    """Sends requests to a cloud's servers. `secrets` in a request never appear in an error."""

    def __init__(self, send: Callable[[UpstreamRequest, float], tuple[int, bytes]] | None = None) -> None:
        self._send = send or _sent

    def form(self, url: str, fields: Mapping[str, str], secrets: tuple[str, ...] = ()) -> dict[str, Any]:
        """The JSON answer to a form. Raises TokenError."""
        kind = (("content-type", "application/x-www-form-urlencoded"),)
        return self._asked(UpstreamRequest("POST", url, kind, urlencode(fields).encode(), stream=False), secrets)

    def json(self, url: str, document: Any, bearer: str) -> dict[str, Any]:
        """The JSON answer to a document. Raises TokenError."""
        headers = (("content-type", "application/json"), ("authorization", f"Bearer {bearer}"))
        body = msgspec.json.encode(document)
        return self._asked(UpstreamRequest("POST", url, headers, body, stream=False), (bearer,))

    def get(self, url: str, headers: Mapping[str, str], *, seconds: float = ASK_SECONDS) -> dict[str, Any]:
        """The JSON document at a URL. Raises TokenError."""
        request = UpstreamRequest("GET", url, tuple(headers.items()), b"", stream=False)
        return self._asked(request, tuple(headers.values()), seconds)

    def text(self, url: str, headers: Mapping[str, str]) -> bytes:
        """The text at a URL. Raises TokenError."""
        request = UpstreamRequest("GET", url, tuple(headers.items()), b"", stream=False)
        return self._answer(request, tuple(headers.values()), ASK_SECONDS)

    def _asked(
        self, request: UpstreamRequest, secrets: tuple[str, ...], seconds: float = ASK_SECONDS
    ) -> dict[str, Any]:
        found = _document(self._answer(request, secrets, seconds))
        if not found:
            raise TokenError(f"{_host(request.url)} answered with something that is no JSON object")
        return found

    def _answer(self, request: UpstreamRequest, secrets: tuple[str, ...], seconds: float) -> bytes:
        host = _host(request.url)
        try:
            status, body = self._send(request, seconds)
        except GatewayError as error:
            raise TokenError(f"{host} could not be asked ({error.code})") from error
        if not 200 <= status < 300:
            raise TokenError(f"{host} answered {status}{_words(body, secrets)}")
        return body


def token_from(answer: Mapping[str, Any], name: str = "access_token") -> Token:
    """The token in an answer of OAuth 2.0. Raises TokenError."""
    value = answer.get(name)
    try:
        seconds = float(answer.get("expires_in", 3600))
    except (TypeError, ValueError):
        seconds = 3600.0
    if not isinstance(value, str) or not value:
        raise TokenError(f"the answer has no `{name}`")
    return Token(value, max(seconds, 0.0))


def member_of(document: Mapping[str, Any], name: str) -> str:
    """A text in a document that the operator has given. Raises TokenError."""
    value = document.get(name)
    if not isinstance(value, str) or not value:
        raise TokenError(f"its JSON document has no `{name}`")
    return value


def read_document(text: bytes) -> dict[str, Any]:
    """A document that the operator has given. Raises TokenError."""
    found = _document(text)
    if not found:
        raise TokenError("what is there is no JSON object")
    return found


def _document(body: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _words(body: bytes, secrets: tuple[str, ...]) -> str:
    """The message of a refusal, in the form of OAuth 2.0 or of Google's APIs."""
    document = _document(body)
    error = document.get("error")
    if isinstance(error, dict):
        said = [error.get("status"), error.get("message")]
    else:
        said = [error, document.get("error_description")]
    words = ": ".join(text.partition("\r\n")[0] for text in said if isinstance(text, str) and text)
    for secret in secrets:
        words = words.replace(secret, "***") if secret else words
    return f" ({words[:_WORDS]})" if words else ""


def _host(url: str) -> str:
    return urlsplit(url).hostname or "its host"


@cache
def _upstream() -> Upstream:
    """The connections to clouds' servers, which are not those of the data path."""
    return Upstream()


def _sent(request: UpstreamRequest, seconds: float) -> tuple[int, bytes]:
    with _upstream().send(request, expires=time.monotonic() + seconds) as answer:
        return answer.status, answer.read(_ANSWER_BYTES)
