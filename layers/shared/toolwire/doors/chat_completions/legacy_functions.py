"""Reads the deprecated `functions`, `function_call` and role `function` as tools, calls and results.

A provider of the same dialect gets the client's own members. Any other provider, and the gateway's own rules, get
tools; the answer then has its call in the client's form (`ChatEncoder`, `render_response`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from toolwire.doors.typed_json import decode, member
from toolwire.model.request import ChatRequest, Message, OpaquePart
from toolwire.wire import openai_chat as wire
from toolwire.wire.json import dump, elements, members, write_array, write_object

#: The kind of the opaque part that stands for a message of role `function`, until it has its call's id.
FUNCTION_MESSAGE = "function_message"

_ABSENT = (b"", b"null")


def speaks_functions(request: ChatRequest) -> bool:
    """Whether the client wants its calls as `function_call`."""
    fields = dict(request.fields.members) if request.fields is not None else {}
    return fields.get("functions", b"null") != b"null" and fields.get("tools", b"null") == b"null"


def is_deprecated(top: dict[str, bytes], messages: tuple[Message, ...]) -> bool:
    """Whether the request, or one of its messages as read, has the deprecated form."""
    return "functions" in top or "function_call" in top or any(map(_is_deprecated, messages))


def _is_deprecated(message: Message) -> bool:
    if message.extra and any(name == "function_call" for name, _ in message.extra):
        return True
    return bool(message.parts) and type(part := message.parts[0]) is OpaquePart and part.kind == FUNCTION_MESSAGE


def as_tools(top: dict[str, bytes]) -> dict[str, bytes]:
    """The members of a request with tools in place of functions; the same object if it has no functions. Raises
    RequestError."""
    messages = _modern_messages(top.get("messages", b""))
    functions = member(top, "functions", list[msgspec.Raw])
    if functions is None and messages is None and top.get("function_call", b"null") == b"null":
        return top
    modern = {name: raw for name, raw in top.items() if name not in ("functions", "function_call")}
    if messages is not None:
        modern["messages"] = messages
    if functions is not None and modern.get("tools", b"null") == b"null":
        tools = (write_object([("type", b'"function"'), ("function", bytes(raw))]) for raw in functions)
        modern["tools"] = write_array(tools)
        modern.setdefault("parallel_tool_calls", b"false")  # `function_call` has room for one
    choice = top.get("function_call", b"null")
    if choice != b"null":
        modern["tool_choice"] = choice if choice[:1] == b'"' else _named(choice)
    return modern


def _named(choice: bytes) -> bytes:
    name = decode(choice, wire.Named, "function_call").name
    return dump({"type": "function", "function": {"name": name}})


def _modern_messages(raw: bytes) -> bytes | None:
    """The messages with calls and results by id; None if no message is about a function. Messages that cannot be read
    stay, for the reader to refuse."""
    try:
        raws = elements(raw)
        given = list(map(members, raws))
    except (ValueError, RecursionError):
        return None
    if not any(_is_functions(message) for message in given):
        return None
    return write_array(_paired(raws, given))


def _is_functions(message: dict[str, bytes]) -> bool:
    return message.get("role") == b'"function"' or message.get("function_call", b"") not in _ABSENT


def _paired(raws: list[bytes], given: list[dict[str, bytes]]) -> Iterator[bytes]:
    """The messages, in which each result answers the newest open call of its name, since the deprecated form has no
    ids. A result without a call stays as it is."""
    waiting: dict[bytes, list[str]] = {}
    for number, (raw, message) in enumerate(zip(raws, given, strict=True)):
        call = message.get("function_call", b"")
        if message.get("role") == b'"function"' and (ids := waiting.get(message.get("name", b""))):
            content = message.get("content", b"null")
            said = [("tool_call_id", dump(ids.pop())), ("content", b'""' if content == b"null" else content)]
            yield write_object([("role", b'"tool"'), *said])
        elif call[:1] == b"{":
            name = members(call).get("name", b"")
            id = "call_" + hashlib.sha256(b"%d:" % number + name).hexdigest()[:24]
            waiting.setdefault(name, []).append(id)
            made = write_object([("id", dump(id)), ("type", b'"function"'), ("function", call)])
            rest = [pair for pair in message.items() if pair[0] != "function_call"]
            yield write_object([*rest, ("tool_calls", write_array([made]))])
        else:
            yield raw
