"""Whether a tool's parameters are a JSON Schema that can be used, and why not.

jsonschema_rs gives the verdict: it checks the schema against its own dialect's meta-schema, compiles it, and fetches
nothing; no pattern is run here. What no validator should be given (endless or exploding references, exploding patterns)
is found before it sees the schema. A verdict depends on the raw text alone, so it is kept by the text's SHA-256; agents
send the same tools with every request.

The codes: `invalid_function_parameters` (OpenAI's own name for it), `tool_schema_too_complex`, `invalid_strict_schema`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.repair import repaired
from toolwire.schema.strict import strict_fault
from toolwire.schema.survey import Survey, SurveyError
from toolwire.schema.tree import NAMED, draft_of, escaped, locate, parse, walk

if TYPE_CHECKING:
    import jsonschema_rs

#: A compiled schema of any draft.
Validator: TypeAlias = "jsonschema_rs.Validator"


class Fault(NamedTuple):
    """Why a schema is refused: a sentence about what stands at `pointer` (a JSON pointer into the parameters)."""

    code: str
    pointer: str
    text: str
    #: The steps of the pointer, of what a validator refuses.
    path: tuple[str | int, ...] = ()


_INVALID = "invalid_function_parameters"
_TOO_COMPLEX = "tool_schema_too_complex"

#: What the meta-schemas want of a keyword's value. The validator's own words name the client's values; these do not.
_WANTED = {
    "$ref": "a string",
    "additionalProperties": "a schema: an object, true or false",
    "allOf": "a non-empty array of schemas",
    "anyOf": "a non-empty array of schemas",
    "oneOf": "a non-empty array of schemas",
    "enum": "an array",
    "items": "a schema (an array of schemas is `prefixItems` since draft 2020-12)",
    "exclusiveMaximum": "a number (true and false belong to draft-04: name it in `$schema`)",
    "exclusiveMinimum": "a number (true and false belong to draft-04: name it in `$schema`)",
    "pattern": "a regular expression (ECMA-262)",
    "properties": "an object with a schema under each name",
    "required": "an array of distinct property names, beside `properties`",
    "type": 'one of "array", "boolean", "integer", "null", "number", "object" and "string", or an array of them',
} | dict.fromkeys(
    ("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"), "a number, zero or more"
)

#: A pattern that other engines can read and this one cannot; more of them than this are not looked for.
_FOREIGN_PATTERNS = 16

#: Steps of one pattern on one text, where its engine has to try: a hundredth of its own limit, half a millisecond.
_PATTERN_STEPS = 10_000

#: What may be a number that Python does not read, in a text of any kind.
_LONG_NUMBER = re.compile(rb"[0-9]{4301}")

#: Keywords that only a validator sees to be wrong, and that are taken out of one schema before it is given up.
_MOST_REPAIRS = 4

#: A group that is nothing but a repetition, repeated: `(a+)+`. It means no more than `a+`, and takes a backtracking
#: engine exponential time. Ours has a bound, but providers and clients get these schemas too.
_EXPLODES = re.compile(r"\((?:\?:|\?P?<\w+>)?(?:\\.|\[(?:\\.|[^\]\\])*\]|[^\\\[\]()|*+?{}])[+*]\??\)(?:[+*]|\{\d+,\})")

#: Answers that are kept: most are nothing, or a short sentence. A repaired schema larger than this is not.
_KEPT, _KEPT_BYTES = 4096, 32 << 10
_answers: dict[tuple[str, bytes], Any] = {}


def check_parameters(tool: Tool, path: str, *, repairs: bool = False) -> None:
    """Raises RequestError if the parameters are no valid schema of an object; with `repairs`, only for what `usable`
    cannot repair. `path` is the JSON path of the member that holds them."""
    fault = None if tool.parameters is None else _fault(tool.parameters)
    if fault is not None and repairs and tool.parameters is not None:
        found = _repaired(tool.parameters)
        fault = found if isinstance(found, Fault) else None
    _raise(fault, tool, path)


def check_strict(tool: Tool, path: str) -> None:
    """Raises RequestError if a strict tool breaks OpenAI's rules for strict schemas. Only a host that enforces them is
    asked for: others take `strict` for a wish, or have rules of their own."""
    if tool.strict is True and tool.parameters is not None:
        _raise(_strict_fault(tool.parameters), tool, path)


def is_strict(raw: bytes) -> bool:
    """Whether a valid schema keeps OpenAI's rules for strict schemas."""
    return _strict_fault(raw) is None


class Usable(NamedTuple):
    """A valid schema, as JSON, and the JSON pointers of what was cut from the client's to make it so."""

    raw: bytes
    cuts: tuple[str, ...] = ()


def usable(raw: bytes) -> Usable:
    """The schema itself if it is valid, else repaired. Itself where that cannot be done: `check_parameters` tells."""
    if _fault(raw) is None:
        return Usable(raw)
    found = _repaired(raw)
    return Usable(raw) if isinstance(found, Fault) else found


def has_slow_pattern(raw: bytes) -> bool:
    """Whether a pattern repeats a repetition. It is never run here without a bound, but others may."""
    return b"attern" in raw and _slow(raw)


Found = TypeVar("Found")


def _kept(find: Callable[[bytes], Found]) -> Callable[[bytes], Found]:
    """The function of a schema's text, with its answers kept by the text's SHA-256."""

    def remembered(raw: bytes) -> Found:
        key = (find.__name__, hashlib.sha256(raw).digest())
        if key not in _answers:
            found = find(raw)
            if isinstance(found, Usable) and len(found.raw) > _KEPT_BYTES:
                return found
            if len(_answers) >= _KEPT:
                _answers.clear()
            _answers[key] = found
        known: Found = _answers[key]
        return known

    return remembered


def _raise(fault: Fault | None, tool: Tool, path: str) -> None:
    if fault is not None:
        where = f" at {fault.pointer[:200]!r}" if fault.pointer else ""
        raise RequestError(f"`{path}` of the tool {tool.name!r}{where}: {fault.text}", param=path, code=fault.code)


@_kept
def _fault(raw: bytes) -> Fault | None:
    root = _parsed(raw)
    if isinstance(root, Fault):
        return root
    fault = _survey_fault(root)
    if fault is None:
        found = _compiled(raw.decode(), draft_of(root))
        fault = found if isinstance(found, Fault) else None
    return fault


def _parsed(raw: bytes) -> dict[str, Any] | Fault:
    try:
        root = parse(raw)
    except (ValueError, RecursionError):
        return Fault(_INVALID, "", "it is not valid JSON")
    if not isinstance(root, dict):
        return Fault(_INVALID, "", "it must be a JSON Schema object")
    if _LONG_NUMBER.search(raw) and not _is_readable(raw):
        return Fault(_INVALID, "", "it has a number of more than 4,300 digits")
    return root


def _survey_fault(root: dict[str, Any]) -> Fault | None:
    """What no validator should be given, or no schema of arguments can be."""
    try:
        Survey(root)
    except SurveyError as error:
        return Fault(_TOO_COMPLEX if error.too_large else _INVALID, locate(root, error.node), str(error))
    kind = root.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return Fault(_INVALID, "/type", 'it must be "object": the arguments of a call are an object')
    return None


@_kept
def _repaired(raw: bytes) -> Usable | Fault:
    """The schema made valid, or why it cannot be."""
    given = _parsed(raw)
    if isinstance(given, Fault):
        return given
    schema, cuts = repaired(given, _is_pattern)
    if fault := _survey_fault(schema):
        return fault
    found: Fault | Validator = Fault(_INVALID, "", "it has too many faults")
    for _ in range(_MOST_REPAIRS):
        text = msgspec.json.encode(schema).decode()
        found = _compiled(text, draft_of(schema))
        if not isinstance(found, Fault):
            return Usable(text.encode(), tuple(cuts))
        if not found.path:
            break
        cut = _cut(schema, list(found.path))
        cuts += [] if cut == "/$id" else [cut]  # a name that nobody can refer to
        if fault := _survey_fault(schema):  # a reference led to what is gone
            return fault
    assert isinstance(found, Fault)
    return found


def _cut(schema: dict[str, Any], path: list[str | int]) -> str:
    """Takes the keyword out that the path leads to, in place. Returns where it stood."""
    path = _loosening(path)
    node: Any = schema
    for step in path[:-1]:
        node = node[step]
    del node[path[-1]]
    return "".join("/" + escaped(step) for step in path)


def _loosening(path: list[str | int]) -> list[str | int]:
    """The path of the keyword without which the schema accepts more: below `not`, one word less may accept less."""
    is_name = False
    for number, step in enumerate(path):
        if not is_name and step in ("if", "not", "oneOf"):
            return path[: number + 1]
        is_name = not is_name and step in NAMED
    while not isinstance(path[-1], str):
        path = path[:-1]
    return path


@_kept
def _slow(raw: bytes) -> bool:
    for node in walk(parse(raw)):
        named = node.get("patternProperties")
        patterns = [node.get("pattern"), *(named if isinstance(named, dict) else ())]
        if any(isinstance(pattern, str) and _EXPLODES.search(pattern) for pattern in patterns):
            return True
    return False


@_kept
def _strict_fault(raw: bytes) -> Fault | None:
    """Of a schema that `_fault` found valid."""
    root = parse(raw)
    broken = strict_fault(root)
    return Fault("invalid_strict_schema", locate(root, broken.node), broken.text) if broken else None


def compiled_validator(raw: bytes) -> Validator:
    """The validator of a schema that `usable` gave. It fetches nothing, and a pattern gives up after `_PATTERN_STEPS`
    steps. `format` is not checked, whatever the draft."""
    found = _compiled(raw.decode(), draft_of(json.loads(raw)))
    assert not isinstance(found, Fault), "checked before"
    return found


def _compiled(text: str, draft: int) -> Fault | Validator:
    """The validator's verdict, or the validator. A pattern that only its engine cannot read (`\\Z`) is no fault of the
    schema: it goes unchecked."""
    import jsonschema_rs  # 9 ms, which only a request with tools pays

    validator = {
        4: jsonschema_rs.Draft4Validator,
        6: jsonschema_rs.Draft6Validator,
        7: jsonschema_rs.Draft7Validator,
        2019: jsonschema_rs.Draft201909Validator,
        2020: jsonschema_rs.Draft202012Validator,
    }[draft]
    patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=_PATTERN_STEPS)
    schema: Any = text  # the validator reads it itself, unless a pattern must be taken out
    for _ in range(_FOREIGN_PATTERNS):
        try:
            return validator(schema, offline=True, validate_formats=False, pattern_options=patterns)
        except jsonschema_rs.ValidationError as error:
            path = list(error.instance_path)
            regex = error.instance if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Format) else None
            if path[-1:] != ["pattern"] or not (isinstance(regex, str) and _is_regex(regex)):
                return _explained(path)
            schema = json.loads(text, parse_float=Decimal) if schema is text else schema
            _remove(schema, path)
        except ValueError:
            return Fault(_INVALID, "", "it cannot be read: it holds half a surrogate pair, or is nested too deeply")
    return Fault(_INVALID, "", "it has too many patterns that are no ECMA-262 regular expressions")


def _is_readable(raw: bytes) -> bool:
    """Whether Python reads the numbers of this JSON text: whoever compares values with them has to."""
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True


def _is_pattern(pattern: str) -> bool:
    """Whether our engine or another one reads it."""
    return _is_regex(pattern) or not isinstance(_compiled(json.dumps({"pattern": pattern}), 2020), Fault)


def _is_regex(pattern: str) -> bool:
    """Whether another engine reads it. It is only read, never run: the engine is one that backtracks."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError, Warning):
        return False
    return True


def _remove(schema: Any, path: list[str | int]) -> None:
    for step in path[:-1]:
        schema = schema[step]
    del schema[path[-1]]


def _explained(path: list[str | int]) -> Fault:
    """What is wrong, without the values: they are the client's."""
    pointer = "".join("/" + escaped(step) for step in path)
    keyword = next((step for step in reversed(path) if isinstance(step, str)), "")
    if len(path) > 1 and path[-2] in NAMED:  # a property called `type`, say
        return Fault(_INVALID, pointer, "it must be a schema: an object, true or false", tuple(path))
    wanted = _WANTED.get(keyword)
    text = f"`{keyword}` must be {wanted}" if wanted else "JSON Schema does not allow the value that stands there"
    return Fault(_INVALID, pointer, text, tuple(path))
