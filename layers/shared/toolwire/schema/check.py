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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from toolwire.model.errors import RequestError
from toolwire.model.request import Tool
from toolwire.schema.strict import strict_fault
from toolwire.schema.survey import Survey, SurveyError
from toolwire.schema.tree import draft_of, escaped, locate, parse

if TYPE_CHECKING:
    import jsonschema_rs

#: A compiled schema of any draft.
Validator: TypeAlias = "jsonschema_rs.Validator"


class Fault(NamedTuple):
    """Why a schema is refused: a sentence about what stands at `pointer` (a JSON pointer into the parameters)."""

    code: str
    pointer: str
    text: str


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

_NAMED = ("properties", "patternProperties", "$defs", "definitions")

#: A pattern that other engines can read and this one cannot; more of them than this are not looked for.
_FOREIGN_PATTERNS = 16

#: Steps of one pattern on one text, where its engine has to try: a hundredth of its own limit, half a millisecond.
_PATTERN_STEPS = 10_000

#: What may be a number that Python does not read, in a text of any kind.
_LONG_NUMBER = re.compile(rb"[0-9]{4301}")

#: Verdicts that are kept. One is a hundred bytes, or a short sentence.
_KEPT = 4096
_verdicts: dict[bytes, Fault | None] = {}


def check_parameters(tool: Tool, path: str) -> None:
    """Raises RequestError if the parameters are no valid schema of an object. `path` is the JSON path of the member
    that holds them."""
    _raise(_fault, b"", tool, path)


def check_strict(tool: Tool, path: str) -> None:
    """Raises RequestError if a strict tool breaks OpenAI's rules for strict schemas. Only a host that enforces them is
    asked for: others take `strict` for a wish, or have rules of their own."""
    if tool.strict is True:
        _raise(_strict_fault, b"strict", tool, path)


def _raise(find: Callable[[bytes], Fault | None], question: bytes, tool: Tool, path: str) -> None:
    raw = tool.parameters
    if raw is None:
        return
    key = hashlib.sha256(raw).digest() + question
    try:
        fault = _verdicts[key]
    except KeyError:
        if len(_verdicts) >= _KEPT:
            _verdicts.clear()
        fault = _verdicts[key] = find(raw)
    if fault is not None:
        where = f" at {fault.pointer[:200]!r}" if fault.pointer else ""
        raise RequestError(f"`{path}` of the tool {tool.name!r}{where}: {fault.text}", param=path, code=fault.code)


def _fault(raw: bytes) -> Fault | None:
    try:
        root = parse(raw)
    except (ValueError, RecursionError):
        return Fault(_INVALID, "", "it is not valid JSON")
    if not isinstance(root, dict):
        return Fault(_INVALID, "", "it must be a JSON Schema object")
    if _LONG_NUMBER.search(raw) and not _is_readable(raw):
        return Fault(_INVALID, "", "it has a number of more than 4,300 digits")
    try:
        Survey(root)
    except SurveyError as error:
        return Fault(_TOO_COMPLEX if error.too_large else _INVALID, locate(root, error.node), str(error))
    kind = root.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return Fault(_INVALID, "/type", 'it must be "object": the arguments of a call are an object')
    found = _compiled(raw.decode(), draft_of(root))
    return found if isinstance(found, Fault) else None


def _strict_fault(raw: bytes) -> Fault | None:
    """Of a schema that `_fault` found valid."""
    root = parse(raw)
    broken = strict_fault(root)
    return Fault("invalid_strict_schema", locate(root, broken.node), broken.text) if broken else None


def compiled_validator(raw: bytes) -> Validator:
    """The validator of a schema that `check_parameters` found valid. It fetches nothing, and a pattern gives up after
    `_PATTERN_STEPS` steps."""
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
            return validator(schema, offline=True, pattern_options=patterns)
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
    if len(path) > 1 and path[-2] in _NAMED:  # a property called `type`, say
        return Fault(_INVALID, pointer, "it must be a schema: an object, true or false")
    wanted = _WANTED.get(keyword)
    text = f"`{keyword}` must be {wanted}" if wanted else "JSON Schema does not allow the value that stands there"
    return Fault(_INVALID, pointer, text)
