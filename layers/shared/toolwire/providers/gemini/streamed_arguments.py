"""Joins arguments that Vertex streams as values, each with a path, into one JSON text.

Vertex sends them only if asked (`streamFunctionCallArguments`). The gateway does not ask, but a proxy in between may.
The text cannot be written until the containers are complete, so the arguments become one piece when the call ends.
"""

from __future__ import annotations

import re
from typing import Any

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.limits import ANSWER_BYTES
from toolwire.wire.gemini import PartialArg
from toolwire.wire.json import ABSENT, dump

#: One step of a path (RFC 9535, the normalised forms and the shorthand): a member, an index, or a quoted member.
_STEP = re.compile(r"\.([^.\[\]'\"]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_ESCAPED = re.compile(r"\\(.)")

#: A container: members by name, or elements by index, in the order in which they came.
_Node = dict[Any, Any]


class StreamedArguments:
    """The arguments of one call. Raises UpstreamProtocolError for a path that leads nowhere."""

    def __init__(self) -> None:
        self._root: _Node = {}
        self._size = 0
        self._open_string = False

    def take(self, piece: PartialArg) -> None:
        """Add one value, or more of a string."""
        steps = _steps(piece.json_path)
        self._size += len(piece.json_path) + len(piece.string_value or "") + len(bytes(piece.number_value))
        if self._size > ANSWER_BYTES:
            raise UpstreamProtocolError(f"the arguments of a streamed call are larger than {ANSWER_BYTES} bytes")
        node = self._root
        for step in steps[:-1]:
            node = node.setdefault(step, {})
            if not isinstance(node, dict):
                raise _lost()
        last = steps[-1]
        if piece.string_value is not None:
            held = node.setdefault(last, [])
            if not isinstance(held, list):
                raise _lost()
            held.append(piece.string_value)
            self._open_string = piece.will_continue
        elif piece.number_value is not ABSENT:
            node[last] = bytes(piece.number_value)
        else:
            node[last] = b"null" if piece.bool_value is None else dump(piece.bool_value)

    def text(self, *, cut: bool = False) -> str:
        """The JSON text. `cut`: the output limit ended the answer. Open containers then stay open, so that an
        incomplete call does not look complete."""
        return _write(self._root, self._open_string, cut).decode()


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 1 if path[:1] == "$" else -1
    while 0 < at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            break
        name, index, single, double = match.groups()
        quoted = single if single is not None else double
        steps.append(int(index) if index is not None else name or _ESCAPED.sub(r"\1", quoted))
        at = match.end()
    if not steps or at != len(path):
        raise _lost()
    return steps


def _write(value: Any, open_string: bool, cut: bool) -> bytes:
    """`cut` holds for the last value written, which is the last one of every container around it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        text = dump("".join(value))
        return text[:-1] if cut and open_string else text
    is_array = bool(value) and all(type(step) is int for step in value)
    last = len(value) - 1
    items = []
    for position, (step, child) in enumerate(sorted(value.items()) if is_array else value.items()):
        name = b"" if is_array else dump(str(step)) + b":"
        items.append(name + _write(child, open_string, cut and position == last))
    body = b",".join(items)
    if is_array:
        return b"[" + body + (b"" if cut else b"]")
    return b"{" + body + (b"" if cut else b"}")


def _lost() -> UpstreamProtocolError:
    return UpstreamProtocolError("the upstream streamed arguments with a path that leads nowhere")
