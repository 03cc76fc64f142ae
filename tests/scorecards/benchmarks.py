"""Tools of public benchmarks: what becomes of them at every provider, by tools/check, and whether the arguments that a
benchmark takes for right are valid by the argument validator."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.mcp_servers.listing import Declared
from tests.mcp_servers.table import OUTCOMES, PROVIDERS, outcomes
from tests.scorecards.fetched import Absent, wheel
from toolwire.policy.arguments import find_faults

_PACKAGE = "bfcl-eval"
_DATA = "bfcl_eval/data/"

#: The benchmark's words for types, as its own runner translates them for the APIs of providers.
_TYPES = {
    "dict": "object", "float": "number", "tuple": "array", "any": "string", "double": "number", "long": "integer",
    "byte": "integer", "short": "integer", "char": "string", "String": "string", "Boolean": "boolean",
    "ArrayList": "array", "Array": "array", "HashMap": "object", "Hashtable": "object", "Queue": "array",
    "Stack": "array", "Bigint": "integer",
}  # fmt: skip


class Case(NamedTuple):
    """One entry of the benchmark: its functions, and by name the arguments that are right."""

    functions: tuple[dict[str, Any], ...]
    right: tuple[tuple[str, dict[str, Any]], ...]


def bfcl(folder: Path) -> str:
    """The section of the Berkeley Function Calling Leaderboard, version 4. Raises Absent."""
    archive, version = wheel(_PACKAGE, folder)
    files = {name.removeprefix(_DATA): archive.read(name).decode() for name in archive.namelist() if _is_data(name)}
    cases = list(cases_of(files))
    functions = {json.dumps(it.get("parameters"), sort_keys=True): it for case in cases for it in case.functions}
    as_written = [_declared(number, it, in_words=True) for number, it in enumerate(functions.values())]
    as_sent = [_declared(number, it, in_words=False) for number, it in enumerate(functions.values())]
    rows = {"with its own words for types (`dict`)": as_written, "as its runner sends them": as_sent}
    valid, invalid = judged(cases)
    return (
        f"`{_PACKAGE}` {version}, {len(functions)} different schemas. A cell says how many tools went unchanged / "
        f"converted without loss / loosened, with a warning / refused.\n\n{schema_table(rows)}\n"
        f"Of {valid + sum(invalid.values())} calls that it takes for right, {valid} are valid by the tool's schema. "
        f"The others break the schema that they were written for: {_listed(invalid)}.\n"
    )


def folder_of_schemas(folder: Path | None) -> str:
    """The section of a folder of JSON schemas, a file each, as JSONSchemaBench has them. Raises Absent."""
    if folder is None:
        raise Absent("its data is in no registry that this command reaches; `SCHEMAS=folder` takes a copy of it")
    schemas = [path.read_bytes() for path in sorted(folder.rglob("*.json"))]
    tools = [Declared(f"t{number}", None, raw) for number, raw in enumerate(schemas)]
    return f"{len(tools)} schemas.\n\n{schema_table({'as they are': tools})}"


def schema_table(rows: dict[str, list[Declared]], at_once: int = 100) -> str:
    """What becomes of each row's tools at every provider."""
    lines = [f"| schemas | {' | '.join(PROVIDERS)} |", f"|---|{'---|' * len(PROVIDERS)}"]
    for name, tools in rows.items():
        counts, _ = outcomes(tools, at_once)
        cells = (" / ".join(str(counts[provider][outcome]) for outcome in OUTCOMES) for provider in PROVIDERS)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _is_data(name: str) -> bool:
    return name.startswith(_DATA) and name.endswith(".json") and "unused" not in name and "format_sens" not in name


def cases_of(files: dict[str, str]) -> Iterator[Case]:
    """The entries of the data's files, by name: a line of JSON each."""
    for name, text in files.items():
        if name.startswith("possible_answer/"):
            continue
        answers = {entry["id"]: entry["ground_truth"] for entry in _lines(files.get(f"possible_answer/{name}", ""))}
        for entry in _lines(text):
            functions = entry.get("function", [entry] if "parameters" in entry else [])
            yield Case(tuple(functions), tuple(_right(answers.get(entry.get("id"), []))))


def _lines(text: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in text.splitlines() if line.strip())


def _right(truth: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls with the first of the values that are right for each argument; one that may be left out is."""
    for call in truth:
        if isinstance(call, dict):
            for name, arguments in call.items():
                yield name, {key: _first(values) for key, values in arguments.items() if "" not in values}


def _first(values: Any) -> Any:
    """The value itself: the alternatives of an object's members, and of a list's elements, stand inside it."""
    value = values[0] if isinstance(values, list) and values else values
    if isinstance(value, dict):
        return {key: _first(inner) for key, inner in value.items() if not (isinstance(inner, list) and "" in inner)}
    if isinstance(value, list):
        return [_first([it]) if isinstance(it, dict) else it for it in value]
    return value


def judged(cases: list[Case]) -> tuple[int, Counter[str]]:
    """How many right calls are valid by their tool's schema, and what the others lack: the validator's words."""
    valid, invalid = 0, Counter[str]()
    for case in cases:
        schemas = {it["name"]: json.dumps(translated(it["parameters"])).encode() for it in case.functions}
        for name, arguments in case.right:
            if name not in schemas:
                continue
            flaws = find_faults(json.dumps(arguments), schemas[name])
            if flaws:
                invalid[f"{flaws[0].expected} wanted, {flaws[0].got} given"] += 1
            else:
                valid += 1
    return valid, invalid


def translated(node: Any) -> Any:
    """A schema of the benchmark's with JSON Schema's words for types."""
    if isinstance(node, dict):
        return {
            name: _TYPES.get(value, value) if name == "type" and isinstance(value, str) else translated(value)
            for name, value in node.items()
        }
    return [translated(inner) for inner in node] if isinstance(node, list) else node


def _declared(number: int, function: dict[str, Any], *, in_words: bool) -> Declared:
    parameters = function["parameters"] if in_words else translated(function["parameters"])
    return Declared(f"t{number}", function.get("description"), json.dumps(parameters).encode())


def _listed(invalid: Counter[str]) -> str:
    return "; ".join(f"{count} × {what}" for what, count in invalid.most_common(8)) or "none"
