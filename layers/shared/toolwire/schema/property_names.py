"""Replaces the names of parameters that a provider refuses. `rewrite/property_names` restores them in calls.

Providers check only the names of the root's properties, so only these are replaced. A replacement depends on the schema
alone: it is the same on every turn, without stored state. The property's description begins with the client's own name,
since other texts may use it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")
_LIMIT = 64


def replacements(names: list[str], allowed: re.Pattern[str]) -> dict[str, str]:
    """Replacement -> name, for each name that the pattern does not match. A replacement has the name's letters and
    digits, and a hash of the name behind them if they are none, too many, or another name has the same."""
    odd = [name for name in names if not allowed.fullmatch(name)]
    stems = {name: _UNSAFE.sub("_", name).strip("_") for name in odd}
    uses = Counter([*stems.values(), *(name for name in names if name not in stems)])
    return {_replacement(name, stems[name], uses): name for name in odd}


def _replacement(name: str, stem: str, uses: Counter[str]) -> str:
    if uses[stem] == 1 and 0 < len(stem) <= _LIMIT:
        return stem
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{stem[: _LIMIT - 11] or 'p'}_{digest}"


def with_replacements(schema: dict[str, Any], replaced: dict[str, str]) -> dict[str, Any]:
    """The schema with the names replaced, in every keyword of the root that has them."""
    new = {name: replacement for replacement, name in replaced.items()}
    schema = dict(schema)
    for word in ("properties", "dependentSchemas", "dependentRequired"):
        if word in schema:
            schema[word] = {new.get(name, name): value for name, value in schema[word].items()}
    for replacement, name in replaced.items():
        if replacement in schema.get("properties", {}):
            schema["properties"][replacement] = _described(schema["properties"][replacement], name)
    if "required" in schema:
        schema["required"] = [new.get(name, name) for name in schema["required"]]
    if "dependentRequired" in schema:
        named = schema["dependentRequired"]
        schema["dependentRequired"] = {name: [new.get(other, other) for other in named[name]] for name in named}
    return schema


def _described(schema: Any, name: str) -> Any:
    if not isinstance(schema, dict) or "$ref" in schema:
        return schema
    texts = [f"`{name}`.", *([schema["description"]] if isinstance(schema.get("description"), str) else [])]
    return {**schema, "description": " ".join(texts)}
