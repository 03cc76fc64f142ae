"""The Responses door's errors: OpenAI's, with the places of this API."""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolwire.doors import openai_errors
from toolwire.doors.responses.required_members import with_members
from toolwire.model.errors import TOO_LONG, GatewayError, RequestError
from toolwire.wire.json import dump, raw_members

#: Paths of a tool's members in the rules of all doors: in the object `function`. In this API the tool has them itself.
_INNER = re.compile(r"(tools\[[0-9]+\])\.(?:function|custom)\b")

#: The form of ids that the gateway gives its answers.
OWN_RESPONSE = re.compile(r"resp_[A-Za-z0-9]{24}")


def _flat(error: GatewayError) -> GatewayError:
    """The error, with the paths of a tool as this API has them."""
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
    """The body of an error answer. An upstream's own body is passed on, with its missing members added."""
    body = openai_errors.render_error(_flat(error), request_id)
    return body if error.source is None else _whole(body, error)


def _whole(body: bytes, error: GatewayError) -> bytes:
    """An upstream's error body with all four members that the standard requires. A number as code, which some hosts
    send, becomes text."""
    try:
        said = bytes(raw_members(body).get("error", b"null"))
        code = bytes(raw_members(said).get("code", b"null"))
    except ValueError:  # it has another form
        return body
    ours = {name: dump(value) for name, value in openai_errors.error_object(error).items()}
    changed = {} if code[:1] in (b'"', b"n") else {"code": dump(code.decode())}
    required = {"message": ours["message"], "type": ours["type"], "param": b"null", "code": b"null"}
    if error.code == TOO_LONG:  # clients act on it
        required["code"] = changed["code"] = ours["code"]
    return with_members(body, {}, {"error": with_members(said, required, changed)})


def no_compaction(provider: str) -> RequestError:
    """The error for POST /responses/compact at a provider without compaction. No other can stand in, since a provider
    reads only its own."""
    return RequestError(
        f"{provider} does not compact conversations (/responses/compact). In Codex's config.toml, give the provider a "
        "`name` other than OpenAI: Codex then asks the model itself for a summary.",
        status=501,
        code="not_implemented",
        retry=False,
    )


def not_served(method: str, path: str, headers: Mapping[str, str]) -> RequestError | None:
    """The error for what this API has and the gateway does not serve: a WebSocket."""
    below = path.partition("/responses")[2]
    if not below and method == "GET" and is_websocket(headers):
        return RequestError(
            "There is no WebSocket here: send POST to the same URL, with `stream` for events. Codex does so by itself.",
            status=426,
            code="websocket_not_supported",
            headers=(("upgrade", "HTTP/1.1"),),
            retry=False,
        )
    return None


def no_kept_answers() -> RequestError:
    """The error for a request about a kept answer, for a tenant whose answers are not kept."""
    return RequestError(
        "No answers are kept for this key: send the whole history in `input` each turn, or have them kept (the setting "
        "`keep_answers`).",
        status=501,
        code="not_implemented",
        retry=False,
    )


def answer_not_found(id: str) -> RequestError:
    """The error for a request about an unknown kept answer."""
    why = (
        "it was not kept, or has expired" if OWN_RESPONSE.fullmatch(id) else "only the host that gave this id keeps it"
    )
    return RequestError(
        f"Response with id {id[:128]!r} not found: {why}.",
        status=404,
        code="response_not_found",
    )


def not_cancellable() -> RequestError:
    """The error for cancelling a kept answer, which is always complete. OpenAI sends the same for any answer that was
    not made in the background."""
    return RequestError(
        "Cannot cancel a synchronous response: only one that is made in the background can be, and none is here. To "
        "end a stream, close its connection.",
        code="response_not_cancellable",
    )


def no_stream_of_kept() -> RequestError:
    """The error for a kept answer as a stream: OpenAI has that only for answers made in the background."""
    return RequestError(
        "`stream` cannot be true here: a kept answer is shown whole", param="stream", code="unsupported_parameter"
    )


def is_websocket(headers: Mapping[str, str]) -> bool:
    """Whether the client asks for a WebSocket. API Gateway does not pass `upgrade` on."""
    return "websocket" in headers.get("upgrade", "").lower() or "sec-websocket-key" in headers
