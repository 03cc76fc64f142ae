"""AWS Signature Version 4: the `Authorization` header of each request to an API of AWS.

botocore has a signer, too, which loads urllib3, http.client and dateutil: a third of a function's start. A signature is
a hash over the request's canonical form, and its rules have not changed since 2012; the tests hold this one to
botocore's. Source: "Create a signed AWS API request" in the IAM user guide.
"""

from __future__ import annotations

import hmac
import time
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from toolwire.model.http import UpstreamRequest
from toolwire.shell.network.upstream import host_header

#: Headers that a proxy or a tracing library on the way may change, so that they are not signed.
_UNSIGNED = frozenset(
    {"connection", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"}
    | {"proxy-authenticate", "proxy-authorization", "baggage", "traceparent", "tracestate", "x-amzn-trace-id"}
)

#: Headers of a signature. They are dropped from a request that is signed again.
_OURS = frozenset({"authorization", "date", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"})


class Credentials(NamedTuple):
    """The credentials that sign. Temporary ones, as those of a role, have a `token`."""

    access_key: str
    secret_key: str
    token: str | None = None


def signed(
    request: UpstreamRequest, credentials: Credentials, service: str, region: str, *, now: float | None = None
) -> UpstreamRequest:
    """The request with its signature. Nothing of it may change afterwards. Its header names are lower case."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    body_hash = sha256(request.body).hexdigest()
    headers = [(name.lower(), value) for name, value in request.headers if name.lower() not in _OURS]
    headers.append(("x-amz-date", moment))
    if credentials.token:
        headers.append(("x-amz-security-token", credentials.token))
    if service == "s3":
        headers.append(("x-amz-content-sha256", body_hash))

    told = _canonical_headers([*headers, ("host", host_header(request.url))])
    names = ";".join(told)
    url = urlsplit(request.url)
    canonical = "\n".join(
        (
            request.method.upper(),
            url.path or "/" if service == "s3" else quote(_tidied(url.path), safe="/~"),
            _canonical_query(url.query),
            *(f"{name}:{value}" for name, value in told.items()),
            "",
            names,
            body_hash,
        )
    )
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{credentials.secret_key}".encode()
    for step in scope.split("/"):
        key = hmac.digest(key, step.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    said = f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    return replace(request, headers=(*headers, ("authorization", said)))


def _canonical_query(query: str) -> str:
    """The query's pairs in order, each with an equals sign."""
    pairs = sorted(pair.partition("=")[::2] for pair in query.split("&")) if query else []
    return "&".join(f"{name}={value}" for name, value in pairs)


def _canonical_headers(headers: list[tuple[str, str]]) -> dict[str, str]:
    """The signed headers, in order, with single spaces. The values of one name are joined."""
    told: dict[str, str] = {}
    for name, value in sorted(headers, key=lambda header: header[0]):
        if name not in _UNSIGNED:
            value = " ".join(value.split())
            told[name] = f"{told[name]},{value}" if name in told else value
    return told


def _tidied(path: str) -> str:
    """The path without empty and dot segments, as every service but S3 reads it."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    return "/" + "/".join(kept) + ("/" if kept and path.endswith("/") else "")
