"""The members of the request that the response object repeats, as Open Responses has them: all members are present,
with a number where the standard wants one."""

from __future__ import annotations

import msgspec

from toolwire.doors.responses.required_members import whole_reasoning, whole_text, whole_tools, with_members
from toolwire.model.request import ChatRequest
from toolwire.wire.json import dump, raw_members, write_object
from toolwire.wire.openai_responses import DIALECT

#: Member -> its value if the request does not have it; None: it is left out.
_DEFAULTS = {
    "instructions": b"null",
    "max_output_tokens": b"null",
    "max_tool_calls": b"null",
    "metadata": b"{}",
    "parallel_tool_calls": b"true",
    "previous_response_id": b"null",
    "prompt_cache_key": b"null",
    "reasoning": b'{"effort":null,"summary":null}',
    "safety_identifier": b"null",
    "service_tier": b'"default"',
    "temperature": b"1.0",
    "presence_penalty": b"0.0",
    "frequency_penalty": b"0.0",
    "text": b'{"format":{"type":"text"}}',
    "tool_choice": b'"auto"',
    "tools": b"[]",
    "top_logprobs": b"0",
    "top_p": b"1.0",
    "truncation": b'"disabled"',
    "user": None,
}


def request_echo(request: ChatRequest | None) -> dict[str, bytes]:
    """The members, raw, each in one line."""
    fields = request.fields_in(DIALECT) if request is not None else None
    given = dict(fields.members) if fields is not None else {}
    echoed = {}
    for name, default in _DEFAULTS.items():
        raw = given.get(name, b"null")
        value = default if raw == b"null" else one_line(_shaped(name, raw))
        if value is not None:
            echoed[name] = value
    if request is not None and request.kept is not None and request.kept.previous is not None:
        echoed["previous_response_id"] = dump(request.kept.previous)
    return echoed


def one_line(raw: bytes) -> bytes:
    """JSON without line breaks, so that it fits into one line of an event."""
    return msgspec.json.format(raw, indent=-1) if b"\n" in raw or b"\r" in raw else raw


def _shaped(name: str, raw: bytes) -> bytes:
    """The client's value in the form that a response has."""
    match name:
        case "tools":
            return whole_tools(raw)
        case "tool_choice":
            return _choice(raw)
        case "reasoning":
            return whole_reasoning(raw)
        case "text":
            return _text(raw)
        case "service_tier" if raw == b'"auto"':
            return b'"default"'
    return raw


def _text(raw: bytes) -> bytes:
    """The client's `text` without the schema of the answer, which is null in the standard's response."""
    whole = whole_text(raw)
    shape = raw_members(whole)["format"]
    if "schema" not in raw_members(shape):
        return whole
    return with_members(whole, {}, {"format": with_members(bytes(shape), {}, {"schema": b"null"})})


def _choice(raw: bytes) -> bytes:
    """The tool choice. One in the Chat API's form, which clients also send, becomes flat; an allowed set gets its
    mode."""
    if raw[:1] != b"{":
        return raw
    given = {name: bytes(value) for name, value in raw_members(raw).items()}
    kind = given.get("type", b"null")
    if kind == b'"allowed_tools"':
        return write_object(({"mode": b'"auto"'} | given).items()) if given.get("mode", b"null") == b"null" else raw
    nested = given.get("function", b"null")
    if kind == b'"function"' and "name" not in given and nested[:1] == b"{":
        return write_object([("type", kind), *((name, bytes(value)) for name, value in raw_members(nested).items())])
    return raw
