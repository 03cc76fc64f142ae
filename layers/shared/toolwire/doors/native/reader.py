"""Reads a body of the native API as one of its models, or raises an error that names the JSON path, what was there, and
the fix."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Raw
from pydantic import ValidationError

from toolwire.doors.native.request_models import RAW_MEMBERS, Model
from toolwire.doors.typed_json import not_json, too_deep
from toolwire.model.errors import RequestError
from toolwire.model.nearest_word import did_you_mean
from toolwire.wire.json import elements, raw_members

M = TypeVar("M", bound=Model)

#: Members of other APIs that this one does not have -> what to do instead.
_ELSEWHERE = {
    "functions": "send `tools`",
    "function_call": "send `tool_choice`",
    "max_completion_tokens": "send `max_tokens`",
    "n": "send one request for each answer you want",
    "stream_options": "leave it out: usage is always told",
}

#: The first character of a JSON text -> its type. Any other text is a number.
_KINDS = {b"{": "an object", b"[": "an array", b'"': "a string", b"t": "a boolean", b"f": "a boolean", b"n": "null"}

#: pydantic's words -> ours.
_WANTED = (
    (r"Input should be a valid dictionary.*", "must be an object"),
    (r"Input should be a valid list", "must be an array"),
    (r"Input should be a valid integer.*", "must be an integer"),
    (r"Input should be a valid (\w+).*", r"must be a \1"),
    (r"Input should be a JSON (\w+)", r"must be an \1"),
    (r"Input should be an instance of Raw", "must be an object"),
    (r"Input should be (.*)", r"must be \1"),
    (r"(String|List) should have at least 1 .*", "must not be empty"),
    (r"(String|List) should (.*)", r"must \2"),
)


def read(body: bytes, model: type[M], kept: frozenset[str] = RAW_MEMBERS) -> M:
    """Reads the body as this model. Members in `kept` stay text. Raises RequestError."""
    given: Any = None
    try:
        body.decode()  # checks all of it, since members that stay text are not decoded
        given = _tree(Raw(body.strip()), kept)
        if isinstance(given, dict):
            return model.model_validate(given)
    except ValidationError as error:
        raise _refusal(error, given, model) from None
    except RecursionError:
        raise too_deep() from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise not_json(body, error) from None
    raise RequestError("the body must be a JSON object", code="invalid_json")


def _tree(raw: Raw, kept: frozenset[str]) -> Any:
    """The value, with `kept` members and tools' results left as text."""
    text = bytes(raw)
    if text[:1] == b"[":
        return [_tree(Raw(element), kept) for element in elements(text)]
    if text[:1] != b"{":
        return msgspec.json.decode(text)
    members = raw_members(text)
    if bytes(members.get("role", Raw())) == b'"tool"':
        kept = kept | {"content"}
    return {
        name: value if name in kept and bytes(value) != b"null" else _tree(value, kept - _within(name))
        for name, value in members.items()
    }


def _within(name: str) -> frozenset[str]:
    """The members that are of a type of their own within this one: a recording's `data` is a string."""
    return frozenset({"content", "data"} if name == "input_audio" else {"content"})


def _refusal(error: ValidationError, given: Any, model: type[Model]) -> RequestError:
    """The error, made of the deepest one of pydantic's, which is the most exact."""
    found = [(_path(detail, given), detail) for detail in error.errors(include_url=False, include_context=True)]
    (path, value), detail = max(found, key=lambda pair: len(pair[0][0]))
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    kind, name = detail["type"], path[-1] if path else ""
    if kind == "missing" or (kind == "is_instance_of" and value is None):
        return RequestError(f"`{where}` is required", param=where, code="missing_required_parameter")
    if kind == "extra_forbidden":
        fix = _ELSEWHERE.get(str(name), "leave it out, or see docs/native.md for the name it has here")
        code = "unsupported_parameter" if name in _ELSEWHERE else "unknown_parameter"
        near = did_you_mean(str(name), model.model_fields) if len(path) == 1 and name not in _ELSEWHERE else ""
        return RequestError(f"`{where}` is no field of the native API: {fix}.{near}", param=where, code=code)
    if kind.startswith("union_tag"):
        return _unknown_kind(detail, where, value)
    if kind == "string_pattern_mismatch":
        message = f"`{where}` must match {detail['ctx']['pattern']}, not {_cut(value)}"
        return RequestError(message, param=where, code="invalid_tool_name")
    wanted = detail["msg"]
    for pattern, words in _WANTED:
        if re.fullmatch(pattern, wanted):
            wanted = re.sub(pattern, words, wanted)
            break
    wanted = wanted.replace("True, False", "true, false")
    wrong_type = kind.endswith("_type") or kind == "is_instance_of"
    there = _kind(value) if wrong_type or isinstance(value, list | dict | Raw) else _cut(value)
    message = f"`{where}` {wanted}" if "empty" in wanted else f"`{where}` {wanted}, not {there}"
    return RequestError(message, param=where, code="invalid_type" if wrong_type else "invalid_value")


def _unknown_kind(detail: Any, where: str, value: Any) -> RequestError:
    """The error for a message without a known role, or a content part or choice without a known type."""
    member = re.sub(r"\W|_by_\w+\(\)", "", str(detail["ctx"].get("discriminator", ""))) or "type"
    if not isinstance(value, dict):
        return RequestError(f"`{where}` must be an object, not {_kind(value)}", param=where, code="invalid_type")
    path = f"{where}.{member}"
    if member not in value:
        return RequestError(f"`{path}` is required", param=path, code="missing_required_parameter")
    tags = detail["ctx"]["expected_tags"].removeprefix("'word', ")
    return RequestError(f"`{path}` must be one of {tags}, not {_cut(value[member])}", param=path, code="invalid_value")


def _path(detail: Any, given: Any) -> tuple[tuple[str | int, ...], Any]:
    """The path of an error in the body, and the value there. pydantic's own path also names alternatives of a type,
    which are no members."""
    path: list[str | int] = []
    last = len(detail["loc"]) - 1
    for place, step in enumerate(detail["loc"]):
        is_there = step in given if isinstance(given, dict) else isinstance(given, list) and isinstance(step, int)
        if is_there:
            given = given[step]
        elif not (detail["type"] == "missing" and place == last):
            continue
        path.append(step)
    return tuple(path), given


def _kind(value: Any) -> str:
    """The JSON type of a value, in words."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = bytes(value) if isinstance(value, Raw) else msgspec.json.encode(value)
    return _KINDS.get(text[:1], "a number")


def _cut(value: Any) -> str:
    """A value as JSON, cut to a length that a message can bear."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 100 else text[:100] + "..."
