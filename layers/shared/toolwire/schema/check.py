"""Whether a tool's parameters are a JSON Schema that can be used, and why not.

jsonschema_rs decides: it checks the schema against the meta-schema of its draft and compiles it. It fetches nothing,
and no pattern is run here. References that never end, or that stand for too much, are refused before it gets the
schema. The result depends on the raw text alone, so it is remembered (`memory`).

The codes: `invalid_function_parameters` (OpenAI's own name for it), `tool_schema_too_complex`, `invalid_strict_schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.explain import faults_of_schema
from toolwire.schema.memory import Memory, digest
from toolwire.schema.repair import repaired
from toolwire.schema.strict import strict_fault
from toolwire.schema.survey import Survey, SurveyError
from toolwire.schema.tree import NAMED, draft_of, escaped, locate, parse, walk

if TYPE_CHECKING:
    import jsonschema_rs

#: A compiled schema of any draft.
Validator: TypeAlias = "jsonschema_rs.Validator"


class Fault(NamedTuple):
    """Why a schema is refused: `text` is a sentence about the value at `pointer`, a JSON pointer into the
    parameters."""

    code: str
    pointer: str
    text: str
    #: The steps of the pointer, if the validator refused the schema.
    path: tuple[str | int, ...] = ()


_INVALID = "invalid_function_parameters"
_TOO_COMPLEX = "tool_schema_too_complex"

#: What the meta-schemas want as a keyword's value. The validator's own messages hold the client's values; these do not.
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

#: The most patterns of one schema that other engines can read and the validator's cannot. With more, it is refused.
_FOREIGN_PATTERNS = 16

#: The most steps that a backtracking pattern may take on one text: half a millisecond, a hundredth of the engine's
#: own limit.
_PATTERN_STEPS = 10_000

#: Digits that may be a number too long for Python to read.
_LONG_NUMBER = re.compile(rb"[0-9]{4301}")

#: The most keywords that are removed from one schema because the validator refuses them. With more, it is refused.
_MOST_REPAIRS = 4

#: The most objects of a refused schema for which all faults are listed (a tenth of a second's work).
_EXPLAINED_NODES = 200

#: A repeated group whose content is one repetition: `(a+)+`. It matches what `a+` matches, and takes a backtracking
#: engine exponential time. Our engine has a bound, but providers and clients get these schemas, too.
_EXPLODES = re.compile(r"\((?:\?:|\?P?<\w+>)?(?:\\.|\[(?:\\.|[^\]\\])*\]|[^\\\[\]()|*+?{}])[+*]\??\)(?:[+*]|\{\d+,\})")
#: What a JSON text has with such a group in it: its end, unless one of its characters is escaped.
_REPEATED_GROUP = (b")+", b")*", b"){", b"\\u00")

#: Most results are None or a short sentence: some 10,000 of them. Repaired schemas are larger.
_memory: Memory[Any] = Memory(4 << 20)


def check_parameters(tool: Tool, path: str, *, repairs: bool = False) -> None:
    """Raises RequestError if the parameters are no valid schema of an object; with `repairs`, only if `usable` cannot
    repair them. `path` is the JSON path of the parameters."""
    fault = None if tool.parameters is None else _fault(tool.parameters)
    if fault is not None and repairs and tool.parameters is not None:
        found = _repaired(tool.parameters)
        fault = found if isinstance(found, Fault) else None
    _raise(fault, tool, path)


def check_strict(tool: Tool, path: str) -> None:
    """Raises RequestError if a strict tool breaks OpenAI's rules for strict schemas. Called for hosts that enforce
    them: other hosts ignore `strict`, or have rules of their own."""
    if tool.strict is True and tool.parameters is not None:
        _raise(_strict_fault(tool.parameters), tool, path)


def is_strict(raw: bytes) -> bool:
    """Whether a valid schema keeps OpenAI's rules for strict schemas."""
    return _strict_fault(raw) is None


class Usable(NamedTuple):
    """A valid schema, as JSON, and the JSON pointers of what was removed from the client's schema to make it valid."""

    raw: bytes
    cuts: tuple[str, ...] = ()


def usable(raw: bytes) -> Usable:
    """The schema if it is valid, else a repaired one. The schema as it is if it cannot be repaired: `check_parameters`
    refuses it then."""
    if _fault(raw) is None:
        return Usable(raw)
    found = _repaired(raw)
    return Usable(raw) if isinstance(found, Fault) else found


def has_slow_pattern(raw: bytes) -> bool:
    """Whether a pattern may take exponential time (`_EXPLODES`). It is run here with a bound, elsewhere maybe
    without."""
    return b"attern" in raw and any(end in raw for end in _REPEATED_GROUP) and _slow(raw)


Found = TypeVar("Found")


def _kept(find: Callable[[bytes], Found]) -> Callable[[bytes], Found]:
    """The function, with its results remembered."""

    def remembered(raw: bytes) -> Found:
        known: Found = _memory.found((find.__name__, digest(raw)), lambda: find(raw), _size)
        return known

    return remembered


def _size(found: object) -> int:
    if isinstance(found, Usable):
        return len(found.raw) + sum(map(len, found.cuts))
    return 2 * len(found.pointer) + len(found.text) if isinstance(found, Fault) else 0  # twice: `path` has it in steps


def _raise(fault: Fault | None, tool: Tool, path: str) -> None:
    if fault is not None:
        text = "; ".join(_located(each) for each in (fault, *_other_faults(fault, tool.parameters or b"")))
        joint = " " if fault.pointer else ": "
        raise RequestError(f"`{path}` of the tool {tool.name!r}{joint}{text}", param=path, code=fault.code)


def _located(fault: Fault) -> str:
    return f"at {fault.pointer[:200]!r}: {fault.text}" if fault.pointer else fault.text


def _other_faults(first: Fault, raw: bytes) -> list[Fault]:
    """The schema's other faults under its meta-schema, so that its author can mend all at once; none of a schema that
    the validator has not refused, or that is too large to explain."""
    if not first.path or raw.count(b"{") > _EXPLAINED_NODES:
        return []
    found = faults_of_schema(raw, draft_of(parse(raw)))
    return [fault for each in found if (fault := _explained(list(each.path))).path != first.path]


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
    """The fault of a schema that must not reach the validator, or that describes no object."""
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
    """The repaired schema, or why it cannot be repaired."""
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
        cuts += [] if cut == "/$id" else [cut]  # the schema's own name, which nothing refers to
        if fault := _survey_fault(schema):  # a reference points to what was removed
            return fault
    assert isinstance(found, Fault)
    return found


def _cut(schema: dict[str, Any], path: list[str | int]) -> str:
    """Removes the keyword that the path leads to, in place. Returns its JSON pointer."""
    path = _loosening(path)
    node: Any = schema
    for step in path[:-1]:
        node = node[step]
    del node[path[-1]]
    return "".join("/" + escaped(step) for step in path)


def _loosening(path: list[str | int]) -> list[str | int]:
    """The path of the keyword to remove so that the schema accepts more, not less. Below `if`, `not` and `oneOf` that
    is the whole keyword: to remove one inside could make the schema accept less."""
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
    """The fault of a valid schema under OpenAI's rules for strict schemas; None without one."""
    root = parse(raw)
    broken = strict_fault(root)
    return Fault("invalid_strict_schema", locate(root, broken.node), broken.text) if broken else None


def compiled_validator(raw: bytes) -> Validator:
    """The validator of a schema from `usable`. It fetches nothing, stops a pattern after `_PATTERN_STEPS` steps, and
    does not check `format`."""
    found = _compiled(raw.decode(), draft_of(json.loads(raw)))
    assert not isinstance(found, Fault), "checked before"
    return found


def _compiled(text: str, draft: int) -> Fault | Validator:
    """The validator of a schema, or why there is none. A pattern that only the validator's engine cannot read (`\\Z`)
    is no fault of the schema: it is not checked."""
    import jsonschema_rs  # 9 ms, which only a request with tools pays

    validator = {
        4: jsonschema_rs.Draft4Validator,
        6: jsonschema_rs.Draft6Validator,
        7: jsonschema_rs.Draft7Validator,
        2019: jsonschema_rs.Draft201909Validator,
        2020: jsonschema_rs.Draft202012Validator,
    }[draft]
    patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=_PATTERN_STEPS)
    schema: Any = text  # the validator parses it, unless a pattern must be removed
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
    """Whether Python can read the numbers of this JSON text, as the comparison of values needs."""
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True


def _is_pattern(pattern: str) -> bool:
    """Whether the validator's engine or Python's can read the pattern."""
    return _is_regex(pattern) or not isinstance(_compiled(json.dumps({"pattern": pattern}), 2020), Fault)


def _is_regex(pattern: str) -> bool:
    """Whether Python's engine can read the pattern. It is compiled and never run, since that engine has no bound."""
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
    """The fault at a path, in a sentence without the client's values."""
    pointer = "".join("/" + escaped(step) for step in path)
    keyword = next((step for step in reversed(path) if isinstance(step, str)), "")
    if len(path) > 1 and path[-2] in NAMED:  # a property called `type`, say
        return Fault(_INVALID, pointer, "it must be a schema: an object, true or false", tuple(path))
    wanted = _WANTED.get(keyword)
    text = f"`{keyword}` must be {wanted}" if wanted else "JSON Schema does not allow the value that stands there"
    return Fault(_INVALID, pointer, text, tuple(path))
