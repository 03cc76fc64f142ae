"""The Responses door's errors: OpenAI's, with the places of this API."""

from __future__ import annotations

import re

from toolwire.doors import openai_errors
from toolwire.doors.responses.required import with_members
from toolwire.model.errors import GatewayError, RequestError
from toolwire.wire.json import dump, raw_members

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
    """The body of an error answer. An upstream's own passes as it came, with what of an error it leaves out."""
    body = openai_errors.render_error(_flat(error), request_id)
    return body if error.source is None else _whole(body, error)


def _whole(body: bytes, error: GatewayError) -> bytes:
    """An upstream's error body with all four members that the standard requires. A code that is a number, as some hosts
    have it, becomes text."""
    try:
        said = bytes(raw_members(body).get("error", b"null"))
        code = bytes(raw_members(said).get("code", b"null"))
    except ValueError:  # it has another form
        return body
    ours = {name: dump(value) for name, value in openai_errors.error_object(error).items()}
    changed = {} if code[:1] in (b'"', b"n") else {"code": dump(code.decode())}
    required = {"message": ours["message"], "type": ours["type"], "param": b"null", "code": b"null"}
    return with_members(body, {}, {"error": with_members(said, required, changed)})


def no_compaction() -> RequestError:
    """The answer to POST /responses/compact: only OpenAI can read what its compaction makes."""
    return RequestError(
        "Conversations are not compacted here (/responses/compact). In Codex's config.toml, give the provider a `name` "
        "other than OpenAI: Codex then asks the model itself for a summary.",
        status=404,
        code="not_found",
    )
