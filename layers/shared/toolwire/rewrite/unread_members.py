"""Warnings that name each member of a request which a provider of another dialect does not get.

All doors share it: top-level members are compared with the names of the client's dialect (`wire/member_names.py`).
Members of messages, parts and tools are those that the door's parser left in `extra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from toolwire.model.request import ChatRequest, Part, ToolResultPart
from toolwire.model.warnings import Warnings, named_warning
from toolwire.rewrite.prompt_cache import MARKS
from toolwire.wire.json import raw_members
from toolwire.wire.member_names import MEMBER_NAMES, NOTHING_ASKED, MemberNames

#: Warnings: a member that the dialect has and the provider does not; one that the dialect does not have.
IGNORED, UNKNOWN = "ignored", "unknown_field"

#: What a request says of kept answers, where the gateway keeps them.
_ABOUT_KEEPING = frozenset({"store", "previous_response_id"})

#: The most warnings for one request. A request with more unknown members speaks another protocol.
_MOST_NAMES = 16


def unread_members(request: ChatRequest) -> Warnings:
    """The warnings, one for each name, at most 16. Skips what `request.dialect_fields` names: `check_fields`
    handles those; and marks for the prompt cache: `with_cache_marks` does."""
    fields = request.fields
    names = MEMBER_NAMES.get(fields.dialect) if fields is not None else None
    if fields is None or names is None:
        return Warnings()
    told = frozenset(request.dialect_fields) | (_ABOUT_KEEPING if request.kept is not None else frozenset())
    top = _top(dict(fields.members), names, told)
    nested = (_nested(name, raw, names) for name, raw in _extra_members(request) if name not in MARKS)
    found = Warnings(code for code in chain(top, nested) if code)
    return Warnings(islice(found, _MOST_NAMES))


def _top(members: dict[str, bytes], names: MemberNames, told: frozenset[str]) -> Iterator[str]:
    for name, raw in members.items():
        if name in told or raw in (b"null", NOTHING_ASKED.get(name)):
            continue
        if name not in names.read:
            yield _code(name, names.documented)
        else:
            yield from _within(name, raw, names, told)


def _within(path: str, raw: bytes, names: MemberNames, told: frozenset[str]) -> Iterator[str]:
    """The codes for the members of an object whose known names are listed, and for those of the objects in it."""
    if path not in names.within or raw[:1] != b"{":
        return
    read, documented = names.within[path]
    for inner, value in raw_members(raw).items():
        at = f"{path}.{inner}"
        if inner in read:
            yield from _within(at, bytes(value), names, told)
        elif bytes(value) not in (b"null", NOTHING_ASKED.get(inner)) and at not in told:
            yield named_warning(IGNORED if inner in documented else UNKNOWN, at)


def _nested(name: str, raw: bytes, names: MemberNames) -> str:
    if name in names.silent or (name in names.nested and _is_empty(name, raw)):
        return ""
    return _code(name, names.nested)


def _is_empty(name: str, raw: bytes) -> bool:
    """Whether a documented member has an empty value, as SDKs send it back."""
    if raw[:1] == b"{":
        return all(_is_empty("", bytes(value)) for value in raw_members(raw).values())
    return raw in (b"null", b"[]", b'""', NOTHING_ASKED.get(name))


def _code(name: str, documented: frozenset[str]) -> str:
    return named_warning(IGNORED if name in documented else UNKNOWN, name)


def _extra_members(request: ChatRequest) -> Iterator[tuple[str, bytes]]:
    """The names and values of all members that no reader knew, in messages, their parts and the tools."""
    nodes = chain(request.messages, chain.from_iterable(map(_parts, _all_parts(request))), request.tools)
    for node in nodes:
        for name, raw in node.extra:
            if raw != b"null":
                yield name.rpartition(".")[2], raw


def _all_parts(request: ChatRequest) -> Iterable[Part]:
    return chain.from_iterable(message.parts for message in request.messages)


def _parts(part: Part) -> tuple[Part, ...]:
    return (part, *part.content) if type(part) is ToolResultPart else (part,)


def meant(warnings: Iterable[str], dialect: str) -> dict[str, str]:
    """For each unknown member among these warnings: the name that the client may have meant, if one is near."""
    names = MEMBER_NAMES.get(dialect)
    unknown = [about for code, _, about in (warning.partition(":") for warning in warnings) if code == UNKNOWN]
    if names is None or not unknown:
        return {}
    from difflib import get_close_matches  # for few requests: not at a cold start

    inner = frozenset[str]().union(*(read | documented for read, documented in names.within.values()))
    known = sorted(names.read | names.documented | names.nested | inner)
    near = {name: get_close_matches(name.rpartition(".")[2], known, 1) for name in unknown}
    return {name: found[0] for name, found in near.items() if found}
