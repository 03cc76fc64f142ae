"""Which call does a delta belong to, and what have its arguments become?

Providers of the Chat wire identify a call by id, by index, by both, or by neither, and get each of them wrong. This
accumulator knows what each field means: an id is set once, a name once or in pieces, arguments append. It never merges
by type. On the other wires each call has a block or an item of its own; `block_call.py` reads its fragments by the same
rule.

The call of a delta is found in this order:
  1. an id that no call has opens a call, unless it comes without a name and with the index of an open call: some hosts
     invent an id for each chunk;
  2. else it is the call with that id; else the call with that index;
  3. else the delta has no index. A name then opens a call, and anything else goes to the call opened last. An id or a
     name that this call still lacks goes to it as well, and so does its own name until its object is complete, since
     some hosts repeat it.

What a fragment of arguments is, given the arguments of its call so far:

    so far             the fragment                                     it
    -----------------  -----------------------------------------------  --------------------------------------------
    nothing            an object in a JSON string                       is held; at the end it is the object
    nothing            anything else                                    appends
    part of an object  begins with all so far, where no object may      repeats: only what is new in it counts
                       stand (`{"a` + `{"a":1}`)
    part of an object  begins with all so far, where one may            is told by what follows: a repetition, or an
                       (`{"a":` + `{"a":1}`)                            inner object (`}` comes)
    part of an object  anything else                                    appends
    an object          white space                                      appends
    an object          the same object                                  repeats: nothing is new
    `{}`               another object                                   replaces: `{}` stood for what was not known
    an object          another object, under the call's id              appends (the text then is no JSON)
    an object          another object, not under the call's id          opens a call of the same name
    an object          anything else                                    appends
    no object, or a    anything                                         appends
    custom tool's text

It does not matter how the text is cut: the second object may come in pieces, or in one fragment with the first. A text
that may be a repetition is held until that is known, at the latest until `end`. `Call.restated` says that a repetition
was left out. A delta with a new id or another name belongs to another call, even if its object is the same.

A call is complete only when the provider says so: arguments that can be parsed may still go on.

A name that is repeated whole changes nothing. With `tool_names`, a piece of a declared name is joined with the next
piece, and `Call.awaits_name` says that a name may still grow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from toolwire.model.warnings import Warnings
from toolwire.stream.argument_text import ArgumentText

Kind = Literal["function", "custom"]


class Call:
    """One call while it arrives. Its arguments are one bytearray that grows."""

    __slots__ = ("awaits_name", "id", "index", "kind", "name", "part", "text_so_far")

    def __init__(self, id: str | None, index: int | None, name: str | None, kind: Kind, *, placeholders: bool) -> None:
        self.id = id
        self.index = index  # the provider's index
        self.name = name
        self.kind = kind
        self.part: int | None = None  # its index in the neutral stream, once its start was sent
        self.awaits_name = False  # whether its name may be only the beginning of a tool's
        self.text_so_far = ArgumentText(is_json=kind == "function", placeholders=placeholders)

    @property
    def arguments(self) -> bytearray:
        """The arguments that `take` and `end` have yielded."""
        return self.text_so_far.shown

    @property
    def restated(self) -> bool:
        """Whether arguments came more than once, and a repetition was left out."""
        return self.text_so_far.restated

    @property
    def has_whole_object(self) -> bool:
        """Whether the arguments are a whole object that no other may replace."""
        return self.text_so_far.is_final

    @property
    def warnings(self) -> Warnings:
        """The warnings about arguments that are not what the host's fragments make when joined."""
        said = (("tool_arguments_restated", self.restated), ("tool_arguments_unwrapped", self.text_so_far.unwrapped))
        return Warnings(code for code, is_so in said if is_so)

    def text(self) -> str:
        """`arguments` as text."""
        return self.arguments.decode("utf-8", "surrogatepass")


class ToolCallAccumulator:
    """The calls of one response, in the order in which they open.

    `tool_names`: the names of the declared tools, as the provider knows them. `placeholders`: whether the host may send
    `{}` before a call's real arguments; `{}` is then held until what follows is known.
    """

    __slots__ = ("_by_id", "_by_index", "_invents_ids", "_last", "_placeholders", "_tool_names", "calls")

    def __init__(self, tool_names: Collection[str] = (), *, placeholders: bool = True) -> None:
        self._placeholders = placeholders
        self.calls: list[Call] = []
        self._by_id: dict[str, Call] = {}
        self._by_index: dict[int, Call] = {}
        self._last: Call | None = None
        self._tool_names = tool_names
        self._invents_ids = False  # whether the host gave one call several ids: a new id then opens no call

    def take(
        self,
        id: str | None,
        index: int | None,
        name: str | None,
        fragment: str,
        kind: Kind = "function",
    ) -> Iterator[tuple[Call, str]]:
        """Adds one delta. Yields its call and the arguments that may be sent on now, which may be empty. Yields a pair
        for each call if the fragment goes on behind the end of an object. Empty strings count as absent."""
        call = self._find(id, index, name)
        known = bool(id) and id in self._by_id
        if call is None:
            yield from self._settle_name()
            call = self._open(id, index, name, kind)
        elif "{" in fragment and self._starts_next(call, id, name, fragment):
            call = self._open_next(call, id, index, name)
        elif id or name:
            self._complete(call, id, name, kind)
        if call.awaits_name and fragment and call.name in self._tool_names:
            call.awaits_name = False
        rest: str | None = fragment
        while rest is not None:
            piece, rest = call.text_so_far.take(rest, own=known)
            yield call, piece
            if rest is not None:
                call, known = self._open_next(call, None, index, None), False

    def at(self, index: int) -> Call | None:
        """The call that the host means by this index."""
        return self._by_index.get(index)

    def goes_on(self, index: int, fragment: str) -> Call | None:
        """Adds a delta that has an index and a fragment alone, where the fragment only goes on with the arguments, as
        nearly all do. Returns its call: the fragment may be sent on as it is. None: it is for `take`."""
        call = self._by_index.get(index)
        if call is None or call.awaits_name or not call.text_so_far.goes_on(fragment):
            return None
        return call

    def end(self) -> Iterator[tuple[Call, str]]:
        """Ends the response. Yields the arguments that were held, as `take` does."""
        for call in tuple(self.calls):
            call.awaits_name = False
            rest: str | None = ""
            current = call
            while rest is not None:
                piece, rest = current.text_so_far.end()
                yield current, piece
                if rest is not None:
                    current = self._open_next(current, None, call.index, None)
                    more, _ = current.text_so_far.take(rest, own=False)
                    yield current, more

    # ------------------------------------------------------------ identity

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
            # A host that gives two calls the same id gives the second one a new index and a name.
            return None if index is not None and there is None and name else known
        if index is not None:
            return None if there is not None and name and not self._is_name_of(name, there) else there
        last = self._last
        if name and last is not None and last.name:
            is_next = not last.text_so_far.begun or last.text_so_far.is_open
            return last if self._is_name_of(name, last) and is_next else None
        return last

    def _open(self, id: str | None, index: int | None, name: str | None, kind: Kind) -> Call:
        call = Call(id or None, index, name or None, kind, placeholders=self._placeholders)
        call.awaits_name = bool(name) and self._is_piece(name or "")
        self.calls.append(call)
        if id:
            self._by_id[id] = call
        if index is not None:
            self._by_index[index] = call
        self._last = call
        return call

    def _open_next(self, call: Call, id: str | None, index: int | None, name: str | None) -> Call:
        """Opens the call whose object begins where the object of `call` ended. The id and the index of `call` lead to
        the new call from now on."""
        new_id = None if id in self._by_id else id
        after = self._open(new_id, call.index if index is None else index, name or call.name, call.kind)
        if call.id:
            self._by_id[call.id] = after
        return after

    def _complete(self, call: Call, id: str | None, name: str | None, kind: Kind) -> None:
        """Sets the id and the name if the call has none yet. A name that comes in pieces grows."""
        if id and call.id and id not in self._by_id:
            self._invents_ids = True
        if id and not call.id and id not in self._by_id:
            call.id = id
            self._by_id[id] = call
        if not name:
            return
        if not call.name:
            call.name, call.kind = name, kind
            if kind == "custom":
                call.text_so_far.become_raw()
        elif call.awaits_name:
            call.name = self._joined(call.name, name) or call.name
        call.awaits_name = call.part is None and self._is_piece(call.name)

    def _starts_next(self, call: Call, id: str | None, name: str | None, fragment: str) -> bool:
        """Whether the fragment opens another call, though `call` was found for its id and index: the object of `call`
        is complete, another object begins, and the id is new or the name is another."""
        if not call.text_so_far.is_final or fragment.lstrip()[:1] != "{":
            return False
        new_id = bool(id) and id not in self._by_id and not self._invents_ids
        return new_id or bool(name and call.name and name != call.name)

    # ------------------------------------------------------------ names

    def _is_name_of(self, name: str, call: Call) -> bool:
        """Whether a delta with this name may belong to the call: the call has no name, the same name, or the beginning
        of one that this continues."""
        return not call.name or name == call.name or (call.awaits_name and self._joined(call.name, name) is not None)

    def _joined(self, begin: str, name: str) -> str | None:
        """The name that a piece and the next piece make; None if the second is a name of its own."""
        if begin in self._tool_names and name in self._tool_names:
            return None
        for whole in (name, begin + name):
            if whole.startswith(begin) and (whole in self._tool_names or self._is_piece(whole)):
                return whole
        return None

    def _is_piece(self, name: str) -> bool:
        """Whether a declared tool has a longer name that begins with this."""
        return any(len(tool) > len(name) and tool.startswith(name) for tool in self._tool_names)

    def _settle_name(self) -> Iterator[tuple[Call, str]]:
        """Called when another call begins. If the last call's name was held as a possible beginning of another tool's,
        it is complete now."""
        last = self._last
        if last is not None and last.awaits_name and last.name in self._tool_names:
            last.awaits_name = False
            yield last, ""
