"""Takes credentials out of headers and addresses. An unknown header counts as a credential."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from toolwire.doors import CONVERSATION_HEADERS

#: Replaces a value that is not kept.
NOT_KEPT = "(not kept)"

_PLAIN_WORDS = """
accept accept-encoding accept-language age allow alt-svc cache-control connection content-encoding content-length
content-type date etag expect expires host keep-alive origin pragma request-id retry-after server
strict-transport-security transfer-encoding user-agent vary via x-app x-conversation-id
x-envoy-upstream-service-time x-goog-api-client x-request-id x-robots-tag x-should-retry version
"""
#: Headers that the gateway itself reads are kept too: a replay without them would differ.
_PLAIN = frozenset((*_PLAIN_WORDS.split(), *CONVERSATION_HEADERS))
_PLAIN_BEGINNINGS = ("anthropic-", "openai-", "x-stainless-", "x-toolwire-", "x-ratelimit-", "access-control-")
_PLAIN_QUERY = frozenset({"alt", "$alt", "api-version", "beta"})

#: The least length of a credential. A shorter value is a word ("none") that a text may well contain.
_SECRET_CHARS = 8
_SECRET_NAME = re.compile(r"(?i)auth|key|token|secret|cookie|password|credential")
_SCHEME = re.compile(r"(?i)^(bearer|basic|aws4-hmac-sha256)\s+")


def is_plain(name: str) -> bool:
    """Whether a header of this name holds no credential."""
    name = name.lower()
    return name in _PLAIN or (name.startswith(_PLAIN_BEGINNINGS) and not name.endswith(("-key", "-token", "-secret")))


def kept_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers, with the values of unknown ones replaced."""
    return [(name, value if is_plain(name) else NOT_KEPT) for name, value in headers]


def kept_url(url: str) -> str:
    """The address, without a key in its query or in front of its host."""
    parts = urlsplit(url)
    query = [(name, value if name in _PLAIN_QUERY else NOT_KEPT) for name, value in parse_qsl(parts.query, True)]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=urlencode(query)).geturl()


def secrets_of(headers: Iterable[tuple[str, str]], url: str = "") -> set[bytes]:
    """The credentials in headers and address, to be replaced where a provider repeats one. Only headers whose names say
    that they hold one: any other value may be a word that stands in every answer."""
    values = [_SCHEME.sub("", value) for name, value in headers if _SECRET_NAME.search(name) and not is_plain(name)]
    values += [value for name, value in parse_qsl(urlsplit(url).query) if name not in _PLAIN_QUERY]
    return {value.encode("utf-8", "surrogatepass") for value in values if len(value) >= _SECRET_CHARS}


def blotted(data: bytes, secrets: Iterable[bytes]) -> bytes:
    """The bytes with every credential replaced, as `GatewayError.without` replaces it."""
    for secret in secrets:
        data = data.replace(secret, b"***")
    return data


def kept_event(event: dict[str, Any]) -> dict[str, Any]:
    """A proxy event without its credentials."""
    event = dict(event)
    several = event.get("multiValueHeaders") or {}
    event["headers"] = dict(kept_headers((event.get("headers") or {}).items())) or None
    event["multiValueHeaders"] = {
        name: values if is_plain(name) else [NOT_KEPT] * len(values) for name, values in several.items()
    } or None
    for member in ("queryStringParameters", "multiValueQueryStringParameters"):
        given = event.get(member)
        if given:
            stand_in: Any = NOT_KEPT if member == "queryStringParameters" else [NOT_KEPT]
            event[member] = {name: value if name in _PLAIN_QUERY else stand_in for name, value in given.items()}
    return event
