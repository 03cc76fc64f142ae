"""Reads a `tool_choice` that names one tool in the form of another API, or without its `type`.

OpenAI's two APIs and Anthropic's have a form each, and the reference document of 2api has Chat's without a type. Each
door reads all of them, and a provider of the door's API is sent that API's form.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from toolwire.wire.json import dump, raw_members, write_object

#: Where each form has the name: {"type": "function", "function": {"name"}}, {"type": "function", "name"}, {"type":
#: "tool", "name"}.
Form = Literal["nested", "flat", "tool"]

_NAMING = frozenset({"type", "function", "name"})


class _Function(msgspec.Struct):
    name: str


class _Named(msgspec.Struct):
    type: Literal["function", "tool"] | None = None
    function: _Function | None = None
    name: str | None = None


def with_own_choice(top: dict[str, bytes], form: Form) -> dict[str, bytes]:
    """The members of a request, with a choice of one tool in this form; the same object if it has the form already, or
    there is no such choice. Other members of the choice stay."""
    raw = top.get("tool_choice", b"")
    if raw[:1] != b"{":
        return top
    try:
        choice = msgspec.json.decode(raw, type=_Named)
    except msgspec.DecodeError:
        return top  # another choice, or one that the door refuses
    name = choice.name if choice.function is None else choice.function.name
    if name is None or _form(choice) == form:
        return top
    kind = "tool" if form == "tool" else "function"
    named = ("function", dump({"name": name})) if form == "nested" else ("name", dump(name))
    others = [(member, bytes(value)) for member, value in raw_members(raw).items() if member not in _NAMING]
    return {**top, "tool_choice": write_object([("type", dump(kind)), named, *others])}


def _form(choice: _Named) -> Form | None:
    """The form of the choice; None if it is no API's."""
    if choice.type == "tool":
        return "tool" if choice.function is None else None
    if choice.type is None:
        return None
    return "nested" if choice.function is not None else "flat"
