"""Every error of the gateway. The tree answers one question: who broke the rule?

    GatewayError
     +- RequestError         the client: its request cannot be served as it is      4xx; 501, 508
     +- UpstreamError        the provider: it refused, broke off, or made no sense  its own 4xx/5xx, else 502 503 504
     +- InternalError        us: a bug, or a service that cannot be asked           500; 503
    ClientGone               nobody: the client hung up, there is no one to answer

Each has a stable snake_case `code`, an HTTP `status`, a `message` that is safe to show (never a secret, never prompt
content) and, where a request field is to blame, `param`: the JSON path of that field. A door renders an error in its
own dialect: as an HTTP answer before the first byte, as an error event after it.

`retry` is what `x-should-retry` tells the official SDKs: False for a final fault, None to leave the choice to the
client. `retry_after` (seconds, as the upstream wrote it) is passed on.
"""

from __future__ import annotations

import math
import re
from typing import Self

from toolwire.model.http import Headers
from toolwire.model.source import Source

#: What a `Retry-After` may be to be passed on: seconds, also with a fraction, or a date (RFC 9110 10.2.3).
_RETRY_AFTER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|[A-Z][a-z]{2}, [0-9A-Za-z: ]{1,30} GMT")

#: The code of a prompt that is too long for the model's context, at every provider: it is OpenAI's, which clients act
#: on.
TOO_LONG = "context_length_exceeded"

#: Stands where a secret stood.
_BLOT = "***"


class GatewayError(Exception):
    """Root of the tree; never raised itself."""

    status = 500
    code = "internal_error"
    retry: bool | None = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        param: str | None = None,
        retry: bool | None = None,
        retry_after: str | None = None,
        source: Source | None = None,
        features: tuple[str, ...] = (),
        headers: Headers = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.status = status or type(self).status
        self.param = param
        self.retry = type(self).retry if retry is None else retry
        self.retry_after = retry_after
        #: The upstream's own error body, for a client of the same dialect.
        self.source = source
        #: What the provider's API cannot express: features of a tool's schema (`incompatible_features`), or of the
        #: request.
        self.features = features
        #: More headers for the error's answer, such as those about a rate.
        self.headers = headers

    def without(self, secret: str) -> Self:
        """The same error with a secret blotted out that the upstream may have quoted."""
        raw = self.source.raw.replace(secret.encode(), _BLOT.encode()) if self.source is not None else b""
        return type(self)(
            self.message.replace(secret, _BLOT),
            code=self.code.replace(secret, _BLOT),
            status=self.status,
            param=None if self.param is None else self.param.replace(secret, _BLOT),
            retry=self.retry,
            retry_after=self.retry_after,
            source=None if self.source is None else Source(self.source.dialect, raw),
            features=self.features,
            headers=self.headers,
        )

    def forgetting_frames(self) -> Self:
        """The same error without its traceback, to be kept in an object. The traceback's frames hold that object and
        the answer's bytes: a cycle, which would stay until Python's next collection."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self

    def retry_headers(self) -> Headers:
        """The error's own headers, then those by which the official SDKs decide on a retry. Clients of a busy upstream
        are never told not to retry."""
        headers = self.headers
        if self.retry_after is not None and _RETRY_AFTER.fullmatch(self.retry_after):
            headers += _retry_after(self.retry_after)
        if self.retry is not None and (self.retry or self.status not in (429, 503, 529)):
            headers += (("x-should-retry", "true" if self.retry else "false"),)
        return headers


def _retry_after(said: str) -> Headers:
    """The headers for this `Retry-After`. It must be a whole number: clients fail at a fraction (urllib3 does). The
    exact time of a fraction is in `retry-after-ms`, which the official SDKs of OpenAI and Anthropic prefer."""
    if "." not in said:
        return (("retry-after", said),)
    seconds = float(said)
    return ("retry-after", str(math.ceil(seconds))), ("retry-after-ms", str(math.ceil(round(seconds * 1000, 3))))


class RequestError(GatewayError):
    """The client's request cannot be served. Nothing was sent upstream."""

    status = 400
    code = "invalid_request"
    retry = False


class UpstreamError(GatewayError):
    """The provider refused, failed, or broke its own protocol."""

    status = 502
    code = "upstream_error"


class UpstreamTimeout(UpstreamError):
    """The provider missed a deadline: to connect, to begin, to go on, or to finish."""

    status = 504
    code = "upstream_timeout"


class UpstreamTruncated(UpstreamError):
    """The provider's answer broke off."""

    code = "upstream_truncated"


class UpstreamProtocolError(UpstreamError):
    """The provider sent what its protocol does not allow and no repair is safe."""

    code = "upstream_protocol_error"


class InternalError(GatewayError):
    """The gateway's own fault: a bug, a wrong configuration, or a service of its own that cannot be asked."""


class ClientGone(Exception):
    """The client closed its connection: the upstream is stopped, and no answer is written."""
