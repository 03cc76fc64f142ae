"""The tools of an upstream's request, read back: POST /native/tools/check compares them with the client's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from toolwire.schema.tree import parse
from toolwire.wire.json import elements, raw_members


@dataclass(frozen=True, slots=True)
class SentTool:
    """A tool as it stands in an upstream's request, whatever the wire calls its members. `parameters` is the schema,
    parsed; None where there is none."""

    name: str
    raw: bytes
    parameters: Any
    is_described: bool
    is_strict: bool


def sent_tool(
    raw: msgspec.Raw, inner: msgspec.Raw | None, schema: str, *, within: str | None = None, is_forced: bool = False
) -> SentTool:
    """One entry. `inner` is the object in it that holds the name, where that is not the entry itself; `schema` the
    member with the schema, which may be in an object (`within`). `is_forced`: the request asks of all calls what
    `strict` asks of one tool's."""
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
