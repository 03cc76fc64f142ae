"""Calls as Python has them: Llama 4, LFM 2, OLMo 3. Nothing is run: the text is parsed, and all that is no call of a
name with named literals is malformed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

import msgspec

from toolwire.stream.text_calls.reader import Malformed, Written
from toolwire.wire.json import dump, write_array, write_object

#: The longest text that is parsed.
_CHARS = 100_000
_LINE_END = re.compile(rb"\r\n|\r|\n")


def python_calls(source: str) -> list[Written]:
    """The calls of `[f(a="x", b=[1, None]), g()]`, or of lines with a call each. Raises Malformed for any other
    text."""
    source = source.strip()
    if len(source) > _CHARS:
        raise Malformed
    try:
        lines = _LINE_END.split(source.encode())
        found = [_call(node, lines) for node in _nodes(ast.parse(source).body)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Malformed from None
    if not found:
        raise Malformed
    return found


def _nodes(lines: Iterable[ast.stmt]) -> Iterable[ast.expr]:
    for line in lines:
        if not isinstance(line, ast.Expr):
            raise Malformed
        yield from line.value.elts if isinstance(line.value, ast.List | ast.Tuple) else [line.value]


def _call(node: ast.expr, lines: list[bytes]) -> Written:
    if not isinstance(node, ast.Call) or node.args or not isinstance(node.func, ast.Name | ast.Attribute):
        raise Malformed
    given = [(keyword.arg or "", _json(keyword.value, lines)) for keyword in node.keywords]
    return Written(ast.unparse(node.func), _object(given).decode())


def _json(node: ast.expr, lines: list[bytes]) -> bytes:
    """A literal as JSON text. `lines`: the source, from which a number has its digits."""
    if isinstance(node, ast.List | ast.Tuple):
        return write_array([_json(each, lines) for each in node.elts])
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return _object([(_key(key), _json(value, lines)) for key, value in pairs])
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str | bool)):
        return dump(node.value)
    digits = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
    msgspec.json.decode(digits, type=int | float)
    return digits


def _object(pairs: list[tuple[str, bytes]]) -> bytes:
    """The object, whose names differ; `**more` has none."""
    if len({name for name, _ in pairs if name}) < len(pairs):
        raise Malformed
    return write_object(pairs)


def _key(node: ast.expr | None) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise Malformed
    return node.value
