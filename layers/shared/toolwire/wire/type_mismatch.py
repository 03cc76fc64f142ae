"""What msgspec says of a value that does not have the type it should, taken apart: where, and what is wrong.

Doors and the configuration make their own sentences of it: the one in JSON's words, the other in TOML's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

#: msgspec's words for types -> JSON's.
_TYPES = {"str": "a string", "int": "an integer", "float": "a number", "bool": "true or false", "null": "null"} | {
    "array": "an array",
    "object": "an object",
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One wrong value. `path` is its place in the document: ".tools[1].name", "" for the document itself."""

    path: str
    #: The fault, as the end of a sentence that begins with the path: "must be a string, not an integer".
    what: str
    #: The member that is missing there.
    missing: str | None = None


def mismatch_of(error: msgspec.ValidationError) -> Mismatch:
    """The parts of "Expected `str | null`, got `int` - at `$.a.b`"."""
    what, _, where = str(error).rpartition(" - at `$")
    if not what:
        what, where = where, ""
    path = where.rstrip("`")
    if missing := re.fullmatch("Object missing required field `(.+)`", what):
        return Mismatch(path, "is required", missing=missing[1])
    if types := re.fullmatch("Expected `(.+)`, got `(.+)`", what):
        wanted, given = ([_TYPES.get(word, word) for word in part.split(" | ")] for part in types.groups())
        what = f"must be {', '.join(wanted[:-1])}{' or ' if wanted[1:] else ''}{wanted[-1]}, not {' or '.join(given)}"
    return Mismatch(path, f"{what[:1].lower()}{what[1:]}")
