"""Which call does a delta belong to, and what have its arguments become?

Providers of the Chat wire identify a call by id, by index, by both, or by neither, and get each of them wrong. This
accumulator knows what each field means: id and name are set once, arguments append. It never merges by type.

Identity of a delta, in this order:
  1. an id not seen before opens a call (unless it comes without a name on the index of an open call: hosts exist that
     invent an id per chunk);
  2. else the call with that id; else the call with that index;
  3. else, without id and index, a name opens a call and anything else goes to the call opened last.

A call is complete only when the provider says so. A parsable prefix is no finished call, with one exception, since
after a complete JSON object only another value can begin: a delta without id that starts a new object there opens a
new call of the same name (section 13 of the design; seen where a host forgets the second call's identity).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal["function", "custom"]

_OUTSIDE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_BOUNDARY = re.compile(rb"\}\s*(?=\{)")


class Call:
    """One call while it arrives. Its memory is linear in its arguments: one bytearray, appended to."""

    __slots__ = ("_in_string", "_level", "_scanned", "arguments", "id", "index", "kind", "name", "part")

    def __init__(self, id: str | None, index: int | None, name: str | None, kind: Kind) -> None:
        self.id = id
        self.index = index  # the provider's
        self.name = name
        self.kind = kind
        self.part: int | None = None  # its part of the neutral stream, once it was announced
        self.arguments = bytearray()
        self._scanned = 0  # the scanner's place; it runs only when a boundary is suspected
        self._level = 0
        self._in_string = False

    def append(self, fragment: str) -> None:
        self.arguments += fragment.encode("utf-8", "surrogatepass")

    def text(self) -> str:
        return self.arguments.decode("utf-8", "surrogatepass")

    def object_is_complete(self) -> bool:
        """Whether the arguments so far are one whole JSON object, by its brackets. Reads each byte once in all."""
        self._scan(self.arguments)
        data = self.arguments
        return self._level == 0 and not self._in_string and data.lstrip()[:1] == b"{" and data.rstrip()[-1:] == b"}"

    def end_of_object(self, fragment: str) -> int:
        """Where in the coming fragment the object ends and another one begins, in characters; 0 if nowhere."""
        self._scan(self.arguments)
        data = fragment.encode("utf-8", "surrogatepass")
        ahead = Call(None, None, None, self.kind)
        ahead._level, ahead._in_string = self._level, self._in_string
        ahead._scanned = self._scanned - len(self.arguments)
        for match in _BOUNDARY.finditer(data):
            ahead._scan(data[: match.end()])
            if ahead._level == 0 and not ahead._in_string:
                return len(data[: match.end()].decode("utf-8", "surrogatepass"))
        return 0

    def _scan(self, data: bytes | bytearray) -> None:
        at, end = self._scanned, len(data)
        while at < end:
            match = (_IN_STRING if self._in_string else _OUTSIDE).search(data, at)
            if match is None:
                at = end
                break
            at = match.end()
            char = match[0]
            if char == b'"':
                self._in_string = not self._in_string
            elif char == b"\\":
                at += 1  # the escaped byte, which may not have arrived yet
            else:
                self._level += 1 if char in b"{[" else -1
        self._scanned = at


class ToolCallAccumulator:
    """The calls of one response, in order of opening."""

    __slots__ = ("_by_id", "_by_index", "_last", "calls")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._by_id: dict[str, Call] = {}
        self._by_index: dict[int, Call] = {}
        self._last: Call | None = None

    def take(
        self,
        id: str | None,
        index: int | None,
        name: str | None,
        fragment: str,
        kind: Kind = "function",
    ) -> Iterator[tuple[Call, str]]:
        """Add one delta. Yields the call it belongs to and what was appended; more than one pair when the fragment
        runs over the end of an object into the next call's. Empty strings count as absent."""
        call = self._find(id, index, name)
        if call is None:
            call = self._open(id, index, name, kind)
        elif not call.name and name:
            call.name = name
        elif fragment and not id and self._starts_next(call, fragment):
            call = self._open(None, index, name or call.name, kind)
        while "}" in fragment and call.kind == "function" and (cut := call.end_of_object(fragment)):
            call.append(fragment[:cut])
            yield call, fragment[:cut]
            fragment = fragment[cut:]
            call = self._open(None, index, call.name, kind)
        if fragment:
            call.append(fragment)
        yield call, fragment

    def _find(self, id: str | None, index: int | None, name: str | None) -> Call | None:
        if id:
            there = self._by_index.get(index) if index is not None else None
            if there is not None and (there.id == id or not name):
                return there
            known = self._by_id.get(id)
            # A host that gives one id to two calls tells them apart by a new index and a name.
            return None if known is None or (index is not None and there is None and name) else known
        if index is not None:
            known = self._by_index.get(index)
            return None if known is not None and name and known.name and name != known.name else known
        return None if name else self._last

    def _open(self, id: str | None, index: int | None, name: str | None, kind: Kind) -> Call:
        call = Call(id or None, index, name or None, kind)
        self.calls.append(call)
        if id:
            self._by_id[id] = call
        if index is not None:
            self._by_index[index] = call
        self._last = call
        return call

    @staticmethod
    def _starts_next(call: Call, fragment: str) -> bool:
        return fragment.lstrip()[:1] == "{" and call.kind == "function" and call.object_is_complete()
