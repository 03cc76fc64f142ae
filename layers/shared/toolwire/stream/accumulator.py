"""Which call does a delta belong to, and what have its arguments become?

Providers of the Chat wire identify a call by id, by index, by both, or by neither, and get each of them wrong. This
accumulator knows what each field means: id and name are set once, arguments append. It never merges by type.

Identity of a delta, in this order:
  1. an id not seen before opens a call (unless it comes without a name on the index of an open call: hosts exist that
     invent an id per chunk);
  2. else the call with that id; else the call with that index;
  3. else, without index, a name opens a call and anything else goes to the call opened last. So does the id or name
     which that call still lacks, and its own name until its object is complete: a host that repeats it.

A call is complete only when the provider says so. A parsable prefix is no finished call, with one exception, since
after a complete JSON object only another value can begin: a delta that starts a new object there opens a new call of
the same name, unless it repeats the call's id (seen where a host forgets the second call's
identity).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal["function", "custom"]

_OUTSIDE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_BOUNDARY = re.compile(rb"\}\s*(?=\{)")
_OBJECT = re.compile(rb"\s*\{")


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
        data = self.arguments
        self._scan(data, len(data))
        if self._level or self._in_string or not _OBJECT.match(data):
            return False
        last = len(data) - 1
        while data[last] in b" \t\r\n":
            last -= 1
        return data[last] == ord("}")

    def is_unfinished_object(self) -> bool:
        """Whether the arguments so far are the beginning of a JSON object."""
        return self.kind == "function" and bool(_OBJECT.match(self.arguments)) and not self.object_is_complete()

    def objects(self, fragment: str) -> list[str]:
        """The coming fragment, cut wherever an object ends and the next one begins."""
        data = fragment.encode("utf-8", "surrogatepass")
        first = data if not self.arguments or self.arguments.isspace() else self.arguments
        if not _BOUNDARY.search(data) or not _OBJECT.match(first):
            return [fragment]
        self._scan(self.arguments, len(self.arguments))
        ahead = Call(None, None, None, self.kind)
        ahead._level, ahead._in_string = self._level, self._in_string
        ahead._scanned = self._scanned - len(self.arguments)
        pieces, start = [], 0
        for match in _BOUNDARY.finditer(data):
            ahead._scan(data, match.end())
            if ahead._level == 0 and not ahead._in_string:
                pieces.append(data[start : match.end()].decode("utf-8", "surrogatepass"))
                start = match.end()
        pieces.append(data[start:].decode("utf-8", "surrogatepass"))
        return pieces

    def _scan(self, data: bytes | bytearray, end: int) -> None:
        at = self._scanned
        while at < end:
            match = (_IN_STRING if self._in_string else _OUTSIDE).search(data, at, end)
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
        elif "{" in fragment and self._starts_next(call, id, name, fragment):
            call = self._open_next(call, id, index, name)
        elif id or name:
            self._complete(call, id, name, kind)
        pieces = call.objects(fragment) if "}" in fragment and call.kind == "function" else [fragment]
        for number, piece in enumerate(pieces):
            if number:
                call = self._open_next(call, None, index, None)
            call.append(piece)
            yield call, piece

    def _find(self, id: str | None, index: int | None, name: str | None) -> Call | None:
        there = self._by_index.get(index) if index is not None else None
        if id:
            known = self._by_id.get(id)
            if there is not None and there.id == id:
                return there
            if known is None and index is None:
                last = self._last
                return last if not name and last is not None and not last.id else None
            if known is None:
                return there if there is not None and (not name or not (there.id or there.name)) else None
            # A host that gives one id to two calls tells them apart by a new index and a name.
            return None if index is not None and there is None and name else known
        if index is not None:
            return None if there is not None and name and there.name and name != there.name else there
        last = self._last
        if name and last is not None and last.name:
            return last if name == last.name and (not last.arguments or last.is_unfinished_object()) else None
        return last

    def _open(self, id: str | None, index: int | None, name: str | None, kind: Kind) -> Call:
        call = Call(id or None, index, name or None, kind)
        self.calls.append(call)
        if id:
            self._by_id[id] = call
        if index is not None:
            self._by_index[index] = call
        self._last = call
        return call

    def _open_next(self, call: Call, id: str | None, index: int | None, name: str | None) -> Call:
        """The call whose object begins where that of `call` has ended: what names the one means the other now."""
        new_id = None if id in self._by_id else id
        after = self._open(new_id, call.index if index is None else index, name or call.name, call.kind)
        if call.id:
            self._by_id[call.id] = after
        return after

    def _complete(self, call: Call, id: str | None, name: str | None, kind: Kind) -> None:
        """Set what the call did not have yet; what it has stays."""
        if id and not call.id and id not in self._by_id:
            call.id = id
            self._by_id[id] = call
        if name and not call.name:
            call.name, call.kind = name, kind

    def _starts_next(self, call: Call, id: str | None, name: str | None, fragment: str) -> bool:
        """Whether the fragment is another call's, though by id and index it is this one's. An id that is known speaks
        against it, unless the name has changed too."""
        if call.kind != "function" or fragment.lstrip()[:1] != "{" or not call.object_is_complete():
            return False
        return id not in self._by_id or bool(name and call.name and name != call.name)
