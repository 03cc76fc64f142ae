"""Replaces the texts of a scenario: letters by x, digits by 1. Lengths and structure stay, so that it still replays.
Names, ids, types, JSON numbers and signatures stay, and in arguments the words of the tools' schemas.

Strings are changed in place, character for character; escapes stay escapes. The pieces of a stream are changed
together, since a schema's word may be cut in two.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from toolwire.framing.aws_event_stream import CONTENT_TYPE
from toolwire.shell.network.proxy_event import http_request, with_body
from toolwire.shell.recording.binary_frames import with_texts
from toolwire.shell.recording.scenario import Recording, Scenario

#: Members whose strings are texts, at any depth below them.
_WORDS_TEXT = """
bytes content context data delta description file_data fileUri filename image_url instructions message metadata output
prompt query reasoning reasoning_content refusal system text thinking title transcript uri url user
"""
_WORDS = frozenset(_WORDS_TEXT.split())
#: Members whose strings are JSON in a string; and whose objects are arguments or results.
_ARGUMENTS = frozenset({"arguments", "partial_json", "input", "args", "parameters_json"})
_RESULTS = frozenset({"response", "result", "json"})
#: Members that say which pieces of a stream belong together.
_PLACES = frozenset({"index", "output_index", "content_index", "contentBlockIndex", "item_id"})

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
#: In JSON within a string: an escape of the inner text, the literals, a word, and the rest.
_INNER = re.compile(r'\\\\(?:u[0-9a-fA-F]{4}|\\"|\\\\|.)|\\u[0-9a-fA-F]{4}|\\.|[^\W\d]\w*|.', re.DOTALL)
#: The beginning of an address, which stays, since it decides how the address is read.
_ADDRESS = re.compile(r"(?:data:[\w/+.-]*(?:;[\w=.-]+)*,|https?://|gs://|s3://)")
#: Frames of a Responses stream whose `delta` is a piece of arguments.
_ARGUMENT_FRAME = re.compile(r'"type":\s*"response\.(?:function_call_arguments|custom_tool_call_input)\.')
_LITERALS = frozenset({"true", "false", "null", "e", "E"})
_BY_BYTES = {1: "x", 2: "é", 3: "文", 4: "😀"}


@dataclass(frozen=True, slots=True)
class _Found:
    """A string to change: its place, and the key of the text that it is a piece of."""

    start: int
    end: int
    place: tuple[str, ...]
    is_arguments: bool


def redacted(scenario: Scenario) -> Scenario:
    """The scenario with its texts replaced."""
    body = http_request(scenario.event).body.decode("utf-8", "surrogatepass")
    known = _schema_words(body)
    event = with_body(scenario.event, _changed([body], known)[0])
    answers = [_answer(answer, known) for answer in scenario.answers]
    return replace(scenario, event=event, upstream=answers[0] if answers else None, later=tuple(answers[1:]))


def _answer(answer: Recording, known: frozenset[str]) -> Recording:
    if answer.headers.get("content-type", "").startswith(CONTENT_TYPE):
        with suppress(ValueError):
            return replace(answer, body=with_texts(answer.body, lambda texts: _changed(texts, known)))
    try:
        text = answer.body.decode()
    except UnicodeDecodeError:  # not readable: nothing of it is kept
        return replace(answer, body=b"", timing=(), ends="unread")
    if not answer.is_stream:
        return replace(answer, body=_changed([text], known)[0].encode())
    lines = text.split("\n")
    at = [number for number, line in enumerate(lines) if line.startswith("data:")]
    for number, line in zip(at, _changed([lines[number] for number in at], known), strict=True):
        lines[number] = line
    return replace(answer, body="\n".join(lines).encode())


def _schema_words(body: str) -> frozenset[str]:
    """The words of the tools' schemas: names of properties, and values of enums."""
    words: set[str] = set()

    def walk(value: Any, key: str) -> None:
        if isinstance(value, dict):
            if key == "properties":
                words.update(value)
            for name, inner in value.items():
                walk(inner, name)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, key)
        elif isinstance(value, str) and key in ("enum", "const", "required"):
            words.update(re.findall(r"\w+", value))

    try:
        walk(json.loads(body).get("tools"), "tools")
    except (ValueError, AttributeError):
        return frozenset()
    return frozenset(words)


def _changed(texts: list[str], known: frozenset[str]) -> list[str]:
    """JSON documents with their texts changed. Pieces in several documents that belong together are one text."""
    found = [list(_strings(text)) for text in texts]
    together: dict[tuple[str, ...], list[tuple[int, _Found]]] = defaultdict(list)
    for number, strings in enumerate(found):
        for string in strings:
            place = string.place if len(texts) > 1 else (*string.place, str(string.start))
            together[place].append((number, string))
    new: dict[tuple[int, int], str] = {}
    for strings_of in together.values():
        whole = "".join(texts[number][string.start : string.end] for number, string in strings_of)
        changed = _arguments(whole, known) if strings_of[0][1].is_arguments else _words(whole)
        at = 0
        for number, string in strings_of:
            size = string.end - string.start
            new[number, string.start] = changed[at : at + size]
            at += size
    return [_with(text, found[number], new, number) for number, text in enumerate(texts)]


def _with(text: str, strings: list[_Found], new: dict[tuple[int, int], str], number: int) -> str:
    parts, at = [], 0
    for string in strings:
        parts += [text[at : string.start], new[number, string.start]]
        at = string.end
    return "".join([*parts, text[at:]])


@dataclass(slots=True)
class _Level:
    """An open object or array. `kind` says what its strings are: texts, arguments, or neither."""

    is_object: bool
    kind: str
    key: str = ""
    awaits_key: bool = True
    place: tuple[str, ...] = ()


def _strings(text: str) -> Iterator[_Found]:
    """The strings of a document of JSON that are to be changed, in order."""
    deltas = _ARGUMENT_FRAME.search(text) is not None
    stack: list[_Level] = []
    for token in _TOKEN.finditer(text):
        it = token[0]
        top = stack[-1] if stack else None
        if it in "{[":
            kind = _kind(top, is_object=it == "{")
            place = (*top.place, top.key) if top else ()
            stack.append(_Level(it == "{", kind, "" if it == "{" or top is None else top.key, it == "{", place))
        elif it in "}]":
            if stack:
                stack.pop()
        elif top is None or it == ":":
            continue
        elif it == ",":
            top.awaits_key = top.is_object
        elif top.is_object and top.awaits_key:
            top.key, top.awaits_key = it[1:-1], False
        else:
            if top.key in _PLACES:
                top.place = (*top.place, it)
            kind = _kind(top, is_object=False)
            if it[0] == '"' and kind:
                yield _Found(
                    token.start() + 1,
                    token.end() - 1,
                    (*top.place, top.key),
                    kind == "json" or (deltas and top.key == "delta"),
                )


def _kind(top: _Level | None, *, is_object: bool) -> str:
    """The kind of the strings in the value that begins now: "words" to change, "json" in a string, or "" to keep."""
    if top is None:
        return ""
    if top.kind == "all":
        return "all"
    if top.key in _ARGUMENTS:
        return ("all" if top.is_object else "") if is_object else "json"  # a list holds items, not arguments
    if top.key in _RESULTS and is_object and top.place[-1:] in (("functionResponse",), ("content",), ("toolResult",)):
        return "all"
    if top.key == "metadata" and is_object:
        return "all"
    return "words" if top.key in _WORDS and not is_object else ""


def _words(text: str) -> str:
    beginning = _ADDRESS.match(text)
    at = beginning.end() if beginning else 0
    return text[:at] + _UNIT.sub(lambda it: _unit(it[0]), text[at:])


def _arguments(text: str, known: frozenset[str]) -> str:
    def change(it: re.Match[str]) -> str:
        word = it[0]
        if word in _LITERALS or word in known or word.startswith("\\\\"):
            return word
        return "".join(_unit(unit) for unit in _UNIT.findall(word))

    return _INNER.sub(change, text)


def _unit(unit: str) -> str:
    """The replacement of a character or an escape of a JSON string, of the same length."""
    if unit[0] == "\\":
        return r"\u0078" if unit[1] == "u" and int(unit[2:], 16) > 0x7F and not _is_half(unit) else unit
    if unit.isdigit():
        return "1" if unit.isascii() else unit
    if not unit.isalpha() and unit.isascii():
        return unit
    return "X" if unit.isascii() and unit.isupper() else _BY_BYTES[len(unit.encode("utf-8", "surrogatepass"))]


def _is_half(escape: str) -> bool:
    return 0xD800 <= int(escape[2:], 16) <= 0xDFFF
