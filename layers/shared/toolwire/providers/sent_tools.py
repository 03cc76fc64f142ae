"""Reads the tools of an upstream's request back. POST /native/tools/check compares them with the client's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from toolwire.schema.tree import parse
from toolwire.wire.json import elements, raw_members


@dataclass(frozen=True, slots=True)
class SentTool:
    """A tool of an upstream's request, in one form for all wires. `parameters` is the parsed schema; None if there is
    none."""

    name: str
    raw: bytes
    parameters: Any
    is_described: bool
    is_strict: bool


def sent_tool(
    raw: msgspec.Raw, inner: msgspec.Raw | None, schema: str, *, within: str | None = None, is_forced: bool = False
) -> SentTool:
    """Reads one entry. `inner`: the member of the entry that holds the name; None: the entry itself does. `schema`: the
    member with the schema, which may be within another one (`within`). `is_forced`: the request holds the calls of all
    tools to their schemas, as `strict` does for one."""
    members = members_of(raw if inner is None else inner)
    found = members.get(schema) if within is None else member(members.get(schema), within)
    name = members.get("name") or members_of(raw).get("type") or b'""'
    return SentTool(
        name=str(msgspec.json.decode(name)),
        raw=bytes(raw),
        parameters=None if found is None else parse(bytes(found)),
        is_described="description" in members,
        is_strict=is_forced or bytes(members.get("strict") or b"") == b"true",
    )


def members_of(raw: bytes | msgspec.Raw | None) -> dict[str, msgspec.Raw]:
    """The members of an object; none of anything else."""
    return raw_members(raw) if raw is not None and bytes(raw)[:1] == b"{" else {}


def entries(raw: bytes | msgspec.Raw | None) -> list[msgspec.Raw]:
    """The elements of an array; none of anything else."""
    return list(map(msgspec.Raw, elements(raw))) if raw is not None and bytes(raw)[:1] == b"[" else []


def member(raw: bytes | msgspec.Raw | None, name: str) -> msgspec.Raw | None:
    """A member of an object, where there is one."""
    return members_of(raw).get(name)
