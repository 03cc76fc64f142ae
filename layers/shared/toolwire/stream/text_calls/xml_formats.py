"""Formats whose elements are marked by special tokens: the generators behind the rows of `formats.py`."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from toolwire.stream.text_calls.reader import BlockReader, Content, Malformed, Marker, Steps, Written


def _until(
    reader: BlockReader, end: Marker, begin: Marker, call: Callable[[BlockReader], Steps[Written]]
) -> Steps[list[Written]]:
    """The calls before the end of a block. `call` reads one, behind the mark with which it begins."""
    calls: list[Written] = []
    while True:
        yield from reader.space()
        if (yield from reader.mark(end)) is not None:
            return calls
        yield from reader.expect(begin)
        reader.calls = None
        calls = [*calls, (yield from call(reader))]
        reader.calls = calls


# ------------------------------------------------------------ Kimi K3

#: Servers put spaces around the word where they take no care of the tokens. The answer's own channel may end right
#: before the calls, and its message behind them.
_ANSWER_END = "<|close|>response<|sep|>"
TOOLS = Marker(
    before + mark for before in ("", _ANSWER_END) for mark in ("<|open|>tools<|sep|>", "<|open|> tools <|sep|>")
)
TOOLS_END = Marker(["<|close|>tools<|sep|>", "<|close|> tools <|sep|>"])
CALL = Marker(['<|open|>call tool="', '<|open|> call tool="'])
CALL_CLOSE = Marker(["<|close|>call<|sep|>", "<|close|> call <|sep|>"])
_MESSAGE_END = Marker(["<|close|>message<|sep|>", "<|close|> message <|sep|>"])
_ARGUMENT = Marker(['<|open|>argument key="', '<|open|> argument key="'])
_ARGUMENT_END = Marker(["<|close|>argument<|sep|>", "<|close|> argument <|sep|>"])
_OBJECT = Marker(['<|open|>json type="object"<|sep|>'])
_OBJECT_END = Marker(["<|close|>json<|sep|>"])
_QUOTE, _SEPARATOR = Marker(['"']), Marker(["<|sep|>"])
_STRING = re.compile(r'\btype="string"')


def tools(reader: BlockReader) -> Steps[list[Written]]:
    """A channel of calls; what ends it may be missing."""
    calls = yield from _until(reader, TOOLS_END, CALL, _call)
    reader.calls = calls
    yield from reader.space()
    yield from reader.mark(_MESSAGE_END)
    return calls


def lone_call(reader: BlockReader) -> Steps[list[Written]]:
    """A call without a channel around it."""
    return [(yield from _call(reader))]


def _call(reader: BlockReader) -> Steps[Written]:
    """The name, then arguments with their types, or one JSON object."""
    name = _attribute((yield from reader.until(_QUOTE)))
    yield from reader.until(_SEPARATOR)
    yield from reader.space()
    if (yield from reader.mark(_OBJECT)) is not None:
        yield from reader.space()
        arguments = yield from reader.json()
        yield from reader.space()
        yield from reader.expect(_OBJECT_END)
        yield from reader.space()
        yield from reader.expect(CALL_CLOSE)
        return Written(name, arguments)
    parameters: list[tuple[str, Content, bool | None]] = []
    while True:
        yield from reader.space()
        if (yield from reader.mark(_ARGUMENT)) is None:
            yield from reader.expect(CALL_CLOSE)
            return Written(name, parameters=tuple(parameters))
        reader.begun = True
        key = _attribute((yield from reader.until(_QUOTE)))
        kind = yield from reader.until(_SEPARATOR)
        text = yield from reader.until(_ARGUMENT_END)
        parameters.append((key, text, True if _STRING.search(kind) else _is_json(text)))


def _attribute(text: str) -> str:
    return text.replace("&quot;", '"').replace("&amp;", "&")


def _is_json(text: str) -> bool | None:
    """False for JSON, which is passed as it is; None for a text whose type the tool's schema decides."""
    try:
        msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None
    return False


# ------------------------------------------------------------ MiniMax M3

#: What stands before every tag.
PREFIX = "]<]minimax[>["
PREFIXED, PREFIXED_END = Marker([f"{PREFIX}<tool_call>"]), Marker([f"{PREFIX}</tool_call>"])
PREFIXED_INVOKE, PREFIXED_INVOKE_END = Marker([f'{PREFIX}<invoke name="']), Marker([f"{PREFIX}</invoke>"])
_NAME_END = Marker(['">'])
_TAG = re.compile(re.escape(PREFIX) + r"\s*<(/?)([^<>\s/]+)>")


def prefixed(reader: BlockReader) -> Steps[list[Written]]:
    """A block of invocations."""
    return (yield from _until(reader, PREFIXED_END, PREFIXED_INVOKE, prefixed_invoke))


def lone_prefixed(reader: BlockReader) -> Steps[list[Written]]:
    """An invocation without a block around it; what ends one may be there."""
    calls = [(yield from prefixed_invoke(reader))]
    reader.calls = calls
    yield from reader.space()
    yield from reader.mark(PREFIXED_END)
    return calls


def prefixed_invoke(reader: BlockReader) -> Steps[Written]:
    """A parameter is an element of its name, with its text or with elements; `item` is one of an array."""
    reader.begun = True
    name = yield from reader.name()
    yield from reader.expect(_NAME_END)
    body = yield from reader.until(PREFIXED_INVOKE_END)
    return Written(name, parameters=tuple((name, content, None) for name, content in _elements(body)))


def _elements(body: str) -> list[tuple[str, Content]]:
    """The elements of a complete body. Raises Malformed."""
    open_ones: list[tuple[str, list[tuple[str, Content]], list[str]]] = [("", [], [])]
    at = 0
    for tag in _TAG.finditer(body):
        open_ones[-1][2].append(body[at : tag.start()])
        at = tag.end()
        if not tag[1]:
            open_ones.append((tag[2], [], []))
            continue
        name, elements, texts = open_ones.pop()
        if name != tag[2] or not open_ones or (elements and "".join(texts).strip()):
            raise Malformed
        open_ones[-1][1].append((name, tuple(elements) if elements else "".join(texts)))
    (_, elements, texts), *unclosed = open_ones
    if unclosed or "".join([*texts, body[at:]]).strip():
        raise Malformed
    return elements
