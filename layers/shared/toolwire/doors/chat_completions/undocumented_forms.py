"""Rewrites requests that real clients send, in forms that no Chat API documents, to the documented forms.

Such forms are other APIs' blocks and tools (agents that speak to Claude by this API), content that is null or a single
part, a tool's result that is a value, another API's word for a choice. A request that the strict reader refuses is
rewritten and read again; a request that it can read is not touched. Every provider gets the documented form, also one
of the same API, which would refuse the other. Texts and arguments stay byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolwire.doors.chat_completions.undocumented_calls import arguments_text, calls_in
from toolwire.model.request import Message, OpaquePart
from toolwire.wire.json import dump, elements, members, write_array, write_object

#: Blocks of Anthropic's API for calls and results, which stand in messages.
_BLOCKS = ("tool_use", "tool_result")


def has_blocks(messages: tuple[Message, ...]) -> bool:
    """Whether the messages, as read, hold calls or results in another API's form."""
    return any(type(part) is OpaquePart and part.kind in _BLOCKS for message in messages for part in message.parts)


def documented(top: dict[str, bytes]) -> dict[str, bytes]:
    """The members of a request with its messages, tools and tool_choice in their documented form. A value that has this
    form, or an unknown one, stays equal."""
    changed: dict[str, bytes] = {}
    try:
        if top.get("messages", b"null") == b"null" and "input" in top:
            top = _without_input(top)
        if top.get("messages", b"")[:1] == b"[":
            changed["messages"] = write_array(_messages(elements(top["messages"])))
        if top.get("tools", b"")[:1] == b"[":
            changed["tools"] = write_array(map(_tool, elements(top["tools"])))
        if "tool_choice" in top:
            changed["tool_choice"] = _choice(top["tool_choice"])
    except (ValueError, RecursionError):
        return top
    return top | changed


def _without_input(top: dict[str, bytes]) -> dict[str, bytes]:
    """The members with the `input` of the Responses API, which Cursor sends here, as messages."""
    given = top["input"]
    items = elements(given) if given[:1] == b"[" else [write_object([("role", b'"user"'), ("content", given)])]
    instructions = top.get("instructions", b"null")
    if instructions[:1] == b'"':
        items.insert(0, write_object([("role", b'"system"'), ("content", instructions)]))
    messages = write_array(written for item in items if (written := _item(members(item))) is not None)
    kept = {name: raw for name, raw in top.items() if name not in ("input", "instructions", "messages")}
    if "max_output_tokens" in kept:
        kept["max_completion_tokens"] = kept.pop("max_output_tokens")
    return kept | {"messages": messages}


def _item(item: dict[str, bytes]) -> bytes | None:
    """An item of that API as a message; None for reasoning, which only its host can read."""
    match item.get("type", b'"message"'):
        case b'"function_call"':
            inner = write_object((name, item.get(name, b"null")) for name in ("name", "arguments"))
            call = [("id", item.get("call_id", b"null")), ("type", b'"function"'), ("function", inner)]
            return write_object([("role", b'"assistant"'), ("tool_calls", write_array([write_object(call)]))])
        case b'"function_call_output"':
            answered, output = item.get("call_id", b"null"), item.get("output", b"null")
            return write_object([("role", b'"tool"'), ("tool_call_id", answered), ("content", output)])
        case b'"reasoning"':
            return None
    return write_object((name, raw) for name, raw in item.items() if name in ("role", "content"))


def _messages(raws: list[bytes]) -> Iterator[bytes]:
    for raw in raws:
        if raw[:1] != b"{":
            yield raw
            continue
        message = members(raw)
        role, content = message.get("role"), message.get("content", b"")
        if content and (role != b'"assistant"' or content != b"null"):
            message["content"] = _content(content, is_result=role == b'"tool"')
        if role == b'"assistant"':
            _take_calls(message)
        if role == b'"user"':
            results = list(_results(message))
            yield from results
            if results and message["content"] == b'""':
                continue
        yield write_object(message.items())


def _take_calls(message: dict[str, bytes]) -> None:
    """Moves the calls among an assistant's content to where this API has them. Some clients send them twice."""
    blocks = _blocks(message, "tool_use")
    calls = calls_in(message.get("tool_calls", b"null"))
    known = {members(call).get("id") for call in calls}
    for block in blocks:
        if block.get("id") not in known:
            arguments = arguments_text(block.get("input", b"null"))
            inner = write_object([("name", block.get("name", b"null")), ("arguments", arguments)])
            calls.append(write_object([("id", block.get("id", b"null")), ("type", b'"function"'), ("function", inner)]))
    if calls:
        message["tool_calls"] = write_array(calls)


def _results(message: dict[str, bytes]) -> Iterator[bytes]:
    """The results among a user's content, as messages of their own before it."""
    for block in _blocks(message, "tool_result"):
        content = _content(block.get("content", b"null"), is_result=True)
        if block.get("is_error") == b"true":
            error = write_object([("type", b'"text"'), ("text", b'"Error: "')])
            content = write_array([error, *([_text_part(content)] if content[:1] == b'"' else elements(content))])
        result = [("role", b'"tool"'), ("tool_call_id", block.get("tool_use_id", b"null")), ("content", content)]
        yield write_object(result)


def _blocks(message: dict[str, bytes], kind: str) -> list[dict[str, bytes]]:
    """Takes the blocks of this kind out of a message's content."""
    content = message.get("content", b"")
    if content[:1] != b"[":
        return []
    raws, wanted = elements(content), dump(kind)
    taken = [block for raw in raws if raw[:1] == b"{" and (block := members(raw)).get("type") == wanted]
    if taken:
        kept = [raw for raw in raws if raw[:1] != b"{" or members(raw).get("type") != wanted]
        message["content"] = write_array(kept) if kept else b"null" if kind == "tool_use" else b'""'
    return taken


def _content(raw: bytes, *, is_result: bool) -> bytes:
    """A string, or a list of parts with types. A result of any other type is sent as its JSON text."""
    if raw in (b"null", b"[]"):
        return b'""'
    if raw[:1] == b'"':
        return raw
    if raw[:1] == b"{" and "type" in members(raw):
        return write_array([raw])
    if raw[:1] != b"[" or (is_result and not all(map(_is_part, elements(raw)))):
        return dump(raw.decode("utf-8", "surrogatepass")) if is_result else raw
    parts = [part for item in elements(raw) if (part := _part(item)) is not None]
    return write_array(parts) if parts else b'""'


def _is_part(raw: bytes) -> bool:
    return raw[:1] == b'"' or (raw[:1] == b"{" and not members(raw).keys().isdisjoint({"type", "text"}))


def _part(raw: bytes) -> bytes | None:
    """One part; None for a text that is null."""
    if raw[:1] == b'"':
        return _text_part(raw)
    if raw[:1] != b"{":
        return raw
    part = members(raw)
    if "type" not in part and part.get("text", b"")[:1] == b'"':
        return write_object([("type", b'"text"'), *part.items()])
    return None if part.get("type") == b'"text"' and part.get("text", b"null") == b"null" else raw


def _text_part(raw: bytes) -> bytes:
    return write_object([("type", b'"text"'), ("text", raw)])


def _tool(raw: bytes) -> bytes:
    """A tool with its function inside, made also of a tool of Anthropic's or the Responses API, which have no such
    object."""
    if raw[:1] != b"{":
        return raw
    tool = members(raw)
    if "function" in tool:
        return raw if "type" in tool else write_object([("type", b'"function"'), *tool.items()])
    schema = next((tool[name] for name in ("parameters", "input_schema", "inputSchema") if name in tool), None)
    if "name" not in tool or tool.get("type", b'"function"') not in (b'"function"', b'"custom"', b"null"):
        return raw
    if schema is None and tool.get("type") == b'"custom"':
        return raw
    inner: dict[str, bytes] = {name: tool[name] for name in ("name", "description", "strict") if name in tool}
    inner |= {"parameters": schema} if schema is not None else {}
    return write_object([("type", b'"function"'), ("function", write_object(inner.items()))])


def _choice(raw: bytes) -> bytes:
    """A tool choice in this API's words, also if it is another API's object or word."""
    word = raw if raw[:1] == b'"' else members(raw).get("type", b"") if raw[:1] == b"{" else b""
    meant = {b'"any"': b'"required"', b'""': b"null"}.get(word, word)
    return meant if meant in (b'"auto"', b'"none"', b'"required"', b"null") else raw
