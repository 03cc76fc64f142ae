"""Reads values of a request's JSON as the types that a door expects. Its errors name the expected type in JSON's
words."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from toolwire.model.errors import RequestError
from toolwire.wire.json import members
from toolwire.wire.type_mismatch import mismatch_of

T = TypeVar("T")


def top_members(body: bytes) -> dict[str, bytes]:
    """The members of a request's body, raw. Raises RequestError (`invalid_json`)."""
    try:
        body.decode()  # checks all of it, since raw members are passed on undecoded
        return members(body)
    except msgspec.ValidationError:
        raise RequestError("the body must be a JSON object", code="invalid_json") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise not_json(body, error) from None


def not_json(body: bytes, error: Exception) -> RequestError:
    """The error for a body that is no JSON."""
    why = error if body.strip() else "it is empty"
    return RequestError(f"the body is not valid JSON: {why}", code="invalid_json")


def too_deep() -> RequestError:
    """The error for a body that is nested too deeply to be read (RecursionError)."""
    return RequestError("the body is not valid JSON: it is nested too deeply", code="invalid_json")


def required_model(top: dict[str, bytes]) -> str:
    """The model that a request names. Raises RequestError."""
    model = member(top, "model", str)
    if not model:
        raise RequestError(
            "`model` is required: a configured alias, or provider/model",
            param="model",
            code="missing_required_parameter",
        )
    return model


def required_messages(top: dict[str, bytes]) -> list[bytes]:
    """The messages of a request, raw; at least one. Raises RequestError."""
    raw = member(top, "messages", list[msgspec.Raw])
    if not raw:
        raise RequestError(
            "`messages` is required and must hold at least one message",
            param="messages",
            code="missing_required_parameter",
        )
    return list(map(bytes, raw))


def in_range(top: dict[str, bytes], name: str, low: float, high: float) -> float | None:
    """A member that is a number between the two. Raises RequestError."""
    value = member(top, name, float)
    if value is not None and not low <= value <= high:
        raise RequestError(
            f"`{name}` must be between {low:g} and {high:g}, not {value:g}", param=name, code="invalid_value"
        )
    return value


def one_of(value: str | None, known: tuple[str, ...], path: str) -> str | None:
    """The word, which must be one of these. Raises RequestError."""
    if value is not None and value not in known:
        raise RequestError(
            f"`{path}` must be one of {', '.join(known)}, not {value!r}", param=path, code="invalid_value"
        )
    return value


def member(top: dict[str, bytes], name: str, type_: type[T]) -> T | None:
    """A member of the request as this type, None when absent or null. Raises RequestError."""
    raw = top.get(name)
    if raw is None or raw == b"null":
        return None
    return cast(T, decode(raw, type_, name))


def decode(raw: bytes, type_: Any, path: str) -> Any:
    """A raw value as this type; `path` is where it stands in the request. Raises RequestError."""
    try:
        return msgspec.json.decode(raw, type=type_)
    except msgspec.ValidationError as error:
        raise _wrong_type(error, path) from None
    except msgspec.DecodeError as error:
        raise RequestError(f"`{path}` is not valid JSON: {error}", param=path, code="invalid_json") from None


def _wrong_type(error: msgspec.ValidationError, path: str) -> RequestError:
    """The error for a value of the wrong type, with the request's path and in JSON's words."""
    found = mismatch_of(error)
    path += found.path
    if found.missing is not None:
        path += "." + found.missing
        return RequestError(f"`{path}` is required", param=path, code="missing_required_parameter")
    return RequestError(f"`{path}` {found.what}", param=path, code="invalid_type")
