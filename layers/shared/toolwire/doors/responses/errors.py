"""The Responses door's errors: OpenAI's, with the places of this API."""

from __future__ import annotations

import re

from toolwire.doors import openai_errors
from toolwire.model.errors import GatewayError, RequestError

#: Where the rules for all doors find a tool's parts. Here a tool has them itself.
_INNER = re.compile(r"(tools\[[0-9]+\])\.(?:function|custom)\b")


def _flat(error: GatewayError) -> GatewayError:
    """The error with the paths of a tool as this API has them."""
    if not isinstance(error, RequestError) or not (error.param or "").startswith("tools["):
        return error
    return RequestError(
        _INNER.sub(r"\1", error.message),
        code=error.code,
        status=error.status,
        param=_INNER.sub(r"\1", error.param or ""),
        features=error.features,
        headers=error.headers,
    )


def render_error(error: GatewayError, request_id: str) -> bytes:
    """The body of an error answer."""
    return openai_errors.render_error(_flat(error), request_id)


def no_compaction() -> RequestError:
    """The answer to POST /responses/compact: only OpenAI can read what its compaction makes."""
    return RequestError(
        "Conversations are not compacted here (/responses/compact). In Codex's config.toml, give the provider a `name` "
        "other than OpenAI: Codex then asks the model itself for a summary.",
        status=404,
        code="not_found",
    )
