"""The awkward table: what providers do to the identity of a call, and which calls come out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.stream import accumulator
from toolwire.stream.accumulator import Call, Kind, ToolCallAccumulator


@dataclass(frozen=True)
class D:
    """One delta as a provider sends it."""

    fragment: str = ""
    id: str | None = None
    index: int | None = None
    name: str | None = None
    kind: Kind = "function"


#: A call that comes out: its name, its arguments, the provider's id.
Out = tuple[str | None, str, str | None]


def feed(deltas: Iterable[D]) -> ToolCallAccumulator:
    """Feeds the deltas, and checks that what was said of each call is what it holds."""
    calls = ToolCallAccumulator()
    said: dict[int, list[str]] = {}
    for delta in deltas:
        for call, piece in calls.take(delta.id, delta.index, delta.name, delta.fragment, delta.kind):
            said.setdefault(id(call), []).append(piece)
    assert ["".join(said[id(call)]) for call in calls.calls] == [call.text() for call in calls.calls]
    return calls


def calls_of(deltas: Iterable[D]) -> list[Out]:
    return [(call.name, call.text(), call.id) for call in feed(deltas).calls]


F: Out = ("f", '{"a":1}', "a")
G: Out = ("g", '{"b":2}', "b")

TABLE: dict[str, tuple[list[D], list[Out]]] = {
    "none": ([], []),
    "single": ([D("", "a", 0, "f"), D('{"a"', index=0), D(":1}", index=0)], [F]),
    "whole in one delta": ([D('{"a":1}', "a", 0, "f")], [F]),
    "no arguments at all": ([D("", "a", 0, "f")], [("f", "", "a")]),
    "parallel": ([D('{"a":1}', "a", 0, "f"), D("", "b", 1, "g"), D('{"b":2}', index=1)], [F, G]),
    "interleaved": (
        [D("", "a", 0, "f"), D("", "b", 1, "g"), D('{"a"', index=0), D('{"b"', index=1), D(":1}", index=0),
         D(":2}", index=1)],
        [F, G],
    ),
    "indices that begin at 1 and have a gap": ([D('{"a":1}', "a", 1, "f"), D('{"b":2}', "b", 3, "g")], [F, G]),
    "indices backwards": ([D('{"a":1}', "a", 1, "f"), D('{"b":', "b", 0, "g"), D("2}", index=0)], [F, G]),
    "all index 0, distinct ids (Ollama)": ([D('{"a":1}', "a", 0, "f"), D('{"b":2}', "b", 0, "g")], [F, G]),
    "all index 0, distinct ids, one name": (
        [D('{"a":1}', "a", 0, "f"), D('{"a":1}', "b", 0, "f")],
        [F, ("f", '{"a":1}', "b")],
    ),
    "all index 0, distinct ids, streamed": (
        [D("", "a", 0, "f"), D('{"a":1}', index=0), D("", "b", 0, "g"), D('{"b":', index=0), D("2}", index=0)],
        [F, G],
    ),
    "all index 0, distinct ids, interleaved": (
        [D("", "a", 0, "f"), D("", "b", 0, "g"), D('{"a"', "a", 0), D('{"b"', "b", 0), D(":1}", "a", 0),
         D(":2}", "b", 0)],
        [F, G],
    ),
    "all index 0, no ids, distinct names": ([D('{"a":1}', index=0, name="f"), D("{}", index=0, name="g")],
                                            [("f", '{"a":1}', None), ("g", "{}", None)]),
    "all index 0, no ids, distinct names, no arguments": (
        [D(index=0, name="f"), D(index=0, name="g")],
        [("f", "", None), ("g", "", None)],
    ),
    "index missing": ([D('{"a"', "a", name="f"), D(":1}"), D("", "b", name="g"), D('{"b":2}')], [F, G]),
    "index missing, ids repeated": (
        [D("", "a", name="f"), D("", "b", name="g"), D('{"a"', "a"), D('{"b"', "b"), D(":1}", "a"), D(":2}", "b")],
        [F, G],
    ),
    "index missing later": ([D('{"a"', "a", 0, "f"), D(":1}")], [F]),
    "id missing": (
        [D("", index=0, name="f"), D("", index=1, name="g"), D('{"a":1}', index=0), D('{"b":2}', index=1)],
        [("f", '{"a":1}', None), ("g", '{"b":2}', None)],
    ),
    "id and index missing": (
        [D(name="f"), D('{"a"'), D(":1}"), D('{"b":2}', name="g")],
        [("f", '{"a":1}', None), ("g", '{"b":2}', None)],
    ),
    "id and index missing, one name": (
        [D('{"a":1}', name="f"), D('{"a":1}', name="f")],
        [("f", '{"a":1}', None), ("f", '{"a":1}', None)],
    ),
    "id and index missing, name repeated": (
        [D('{"a', name="f"), D('":', name="f"), D("1}", name="f"), D("{}", name="f")],
        [("f", '{"a":1}', None), ("f", "{}", None)],
    ),
    "identity repeated": ([D('{"a"', "a", 0, "f"), D(":", "a", 0, "f"), D("1}", "a", 0, "f")], [F]),
    "identity repeated by two": (
        [D('{"a"', "a", 0, "f"), D('{"b"', "b", 1, "g"), D(":1}", "a", 0, "f"), D(":2}", "b", 1, "g")],
        [F, G],
    ),
    "id and name repeated as empty strings (DashScope)": (
        [D("", "a", 0, "f"), D('{"a"', "", 0, ""), D(":1}", "", 0, "")],
        [F],
    ),
    "an id for every chunk": ([D('{"a"', "a", 0, "f"), D(":", "b", 0), D("1}", "c", 0)], [F]),
    "an id for every chunk of two calls": (
        [D('{"a"', "a", 0, "f"), D('{"b"', "b", 1, "g"), D(":1}", "c", 0), D(":2}", "d", 1)],
        [F, G],
    ),
    "one id for two calls": ([D('{"a":1}', "a", 0, "f"), D('{"b":2}', "a", 1, "g")], [F, ("g", '{"b":2}', "a")]),
    "one id for two calls, streamed": (
        [D("", "a", 0, "f"), D("", "a", 1, "g"), D('{"a"', "a", 0), D('{"b"', "a", 1), D(":1}", index=0),
         D(":2}", index=1)],
        [F, ("g", '{"b":2}', "a")],
    ),
    "one id and index for two calls": ([D('{"a":1}', "a", 0, "f"), D("{}", "a", 0, "g")], [F, ("g", "{}", None)]),
    "an index that grows with each chunk": ([D('{"a"', "a", 0, "f"), D(":", "a", 1), D("1}", "a", 2)], [F]),
    "arguments before the name": ([D('{"a"', "a", 0), D(":", index=0, name="f"), D("1}", index=0)], [F]),
    "arguments before the id": ([D('{"a"', index=0), D(":", "a", 0), D("1}", "a", name="f")], [F]),
    "arguments before id and name": ([D('{"a"', index=0), D(":", "a", 0, "f"), D("1}", "a")], [F]),
    "the name alone first": ([D(index=0, name="f"), D("", "a", 0), D('{"a":1}', "a", 0)], [F]),
    "arguments that are no object": ([D("[1]", "a", 0, "f"), D("{}", index=0)], [("f", "[1]{}", "a")]),
    "arguments that are prose": ([D("{x} a {y} {z}", "a", 0, "f")], [("f", "{x} a {y} ", "a"), ("f", "{z}", None)]),
    "prose before a brace": ([D("Hi {x} {y}", "a", 0, "f")], [("f", "Hi {x} {y}", "a")]),
    "white space around": ([D(" \n", "a", 0, "f"), D(' {"a":1} \n', index=0)], [("f", ' \n {"a":1} \n', "a")]),
    "too many brackets": ([D('{"a":1}}', "a", 0, "f"), D("{}", index=0)], [("f", '{"a":1}}{}', "a")]),
    "custom": ([D("", "a", 0, "f", "custom"), D("{x}", index=0), D("{y}", index=0)], [("f", "{x}{y}", "a")]),
    "custom whole": ([D("{x}{y}", "a", 0, "f", "custom")], [("f", "{x}{y}", "a")]),
    "characters of every size, and halves of one": (
        [D('{"é€', "a", 0, "f"), D("😀\ud83d", index=0), D('\ude00":1}', index=0)],
        [("f", '{"é€😀\ud83d\ude00":1}', "a")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("deltas", "out"), TABLE.values(), ids=TABLE)
def test_awkward(deltas: list[D], out: list[Out]) -> None:
    assert calls_of(deltas) == out


def test_two_calls_in_one_delta_are_two_takes_and_three_objects_in_one_fragment_three_calls() -> None:
    calls = ToolCallAccumulator()

    out = list(calls.take("a", 0, "f", '{"a":1}{"b":2} {"c":3}'))

    assert [(call.name, piece) for call, piece in out] == [("f", '{"a":1}'), ("f", '{"b":2} '), ("f", '{"c":3}')]
    assert [call.id for call in calls.calls] == ["a", None, None]


def test_a_kind_comes_with_the_name() -> None:
    (call,) = feed([D("", "a", 0), D("x", index=0, name="f", kind="custom")]).calls

    assert call.kind == "custom"


# ------------------------------------------------ the one boundary that may be read from the JSON

#: Objects that try to look like the end of one and the beginning of another.
OBJECTS = [
    "{}",
    '{"a":{"b":[{},{"c":{}}]}}',
    '{"a":"}{"}',
    r'{"a":"\"}{","b":"\\"}',
    r'{"\\\"}{":"}\\\\","é":"😀}{"}',
    '{ "a" : [ { } ] }',
    r'{"latex":"\\frac{a}{b}{c}"}',
]


@pytest.mark.parametrize("second", OBJECTS)
@pytest.mark.parametrize("first", OBJECTS)
@pytest.mark.parametrize("between", ["", " ", "\r\n\t"])
def test_two_objects_on_one_index_in_every_split(first: str, between: str, second: str) -> None:
    text = first + between + second
    for at in range(len(text) + 1):
        out = calls_of([D(text[:at], "a", 0, "f"), D(text[at:], index=0)])

        assert [(name, arguments.strip()) for name, arguments, _ in out] == [("f", first), ("f", second)], (
            f"cut at {at}"
        )


@pytest.mark.parametrize("index", [None, 0])
@pytest.mark.parametrize("first", OBJECTS)
def test_two_objects_one_character_at_a_time(first: str, index: int | None) -> None:
    out = calls_of([D("", "a", index, "f"), *(D(char, index=index) for char in first + ' {"b":2}')])

    assert [(name, arguments.strip()) for name, arguments, _ in out] == [("f", first), ("f", '{"b":2}')]


@pytest.mark.parametrize("arguments", OBJECTS)
def test_one_object_stays_one_in_every_split(arguments: str) -> None:
    for at in range(len(arguments) + 1):
        assert calls_of([D(arguments[:at], "a", 0, "f"), D(arguments[at:], index=0)]) == [("f", arguments, "a")]


def test_a_fragment_may_end_one_call_and_begin_the_next() -> None:
    deltas = [D('{"a"', "a", 0, "f"), D(':1}{"b', index=0), D('":2', index=0), D("}", index=0)]

    assert calls_of(deltas) == [F, ("f", '{"b":2}', None)]


def test_after_a_boundary_a_repeated_identity_means_the_new_call() -> None:
    deltas = [D('{"a":1}{"b', "a", 0, "f"), D('":2', "a", 0, "f"), D("}", "a")]

    assert calls_of(deltas) == [F, ("f", '{"b":2}', None)]


def test_after_a_boundary_a_delta_of_nothing_but_the_index_means_the_new_call() -> None:
    deltas = [D('{"a":1}', "a", 0, "f"), D('{"b"'), D(":2}", index=0)]

    assert calls_of(deltas) == [F, ("f", '{"b":2}', None)]


def test_an_object_under_an_id_that_is_known_is_that_calls_own() -> None:
    # The provider says that it is the same call, so no second one may be made of it: it would be executed.
    assert calls_of([D('{"a":1}', "a", 0, "f"), D('{"a":1}', "a", 0)]) == [("f", '{"a":1}{"a":1}', "a")]


def test_an_object_under_a_new_id_is_a_new_call() -> None:
    assert calls_of([D('{"a":1}', "a", 0, "f"), D('{"b":2}', "b", 0)]) == [F, ("f", '{"b":2}', "b")]


@pytest.mark.parametrize("prefix", ['{"a":1', '{"a":"}', '{"a":"\\', '{"a":{}', '{"a":[{}', "{", ""])
def test_before_the_end_of_an_object_nothing_begins(prefix: str) -> None:
    assert len(calls_of([D(prefix, "a", 0, "f"), D("{", index=0)])) == 1


def test_a_call_is_not_over_because_its_json_parses() -> None:
    assert calls_of([D('{"a":1}', "a", 0, "f"), D(" ", index=0), D("\n", index=0)]) == [("f", '{"a":1} \n', "a")]


JSON_OBJECTS = st.dictionaries(
    st.sampled_from(["", "a", "}{", '"', "é"]),
    st.recursive(
        st.integers() | st.text(st.sampled_from('{}[]"\\,:a é😀'), max_size=8) | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["b", "\\"]), inner, max_size=2),
        max_leaves=6,
    ),
    max_size=3,
)
TEXTS = st.builds(
    lambda value, escaped, gap: json.dumps(value, ensure_ascii=escaped, separators=(gap + ",", ":" + gap)),
    JSON_OBJECTS,
    st.booleans(),
    st.sampled_from(["", " "]),
)


def cut(data: st.DataObject, text: str) -> list[str]:
    edges = [0, *sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6))), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_objects_in_a_row_are_calls_in_a_row(texts: list[str], data: st.DataObject) -> None:
    out = calls_of([D("", "a", 0, "f"), *(D(piece, index=0) for piece in cut(data, "".join(texts)))])

    assert [arguments for _, arguments, _ in out] == texts


@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans(), st.booleans(), st.data())
def test_any_interleaving_of_named_calls(
    texts: list[str], with_index: bool, repeated: bool, data: st.DataObject
) -> None:
    """By index, or by id alone; the identity once or with every fragment."""
    waiting = [list(cut(data, text)) for text in texts]
    deltas: list[D] = []
    for number in range(len(texts)):
        deltas.append(D("", f"id{number}", number if with_index else None, f"f{number}"))
    while any(waiting):
        number = data.draw(st.sampled_from([at for at, pieces in enumerate(waiting) if pieces]))
        piece = waiting[number].pop(0)
        id = f"id{number}" if repeated or not with_index else None
        deltas.append(D(piece, id, number if with_index else None, f"f{number}" if repeated else None))

    assert calls_of(deltas) == [(f"f{number}", text, f"id{number}") for number, text in enumerate(texts)]


# ------------------------------------------------------------ cost


class Scans:
    """Counts the bytes that the bracket scanner walks over, and the calls of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = self.calls = 0
        scan = Call._scan

        def counted(call: Call, data: bytes | bytearray, end: int) -> None:
            self.bytes += max(0, end - max(call._scanned, 0))
            self.calls += 1
            scan(call, data, end)

        monkeypatch.setattr(accumulator.Call, "_scan", counted)


def pieces_of(text: str, size: int = 4) -> list[D]:
    return [D("", "a", 0, "f"), *(D(text[at : at + size], index=0) for at in range(0, len(text), size))]


#: Arguments of about n bytes: text, and what makes a boundary look likely at every fragment.
LARGE = {
    "text": lambda n: '{"a":"' + "x" * n + '"}',
    "braces in a string": lambda n: '{"a":"' + "}{" * (n // 2) + '"}',
    "objects in an array": lambda n: '{"a":[' + "{},\n" * (n // 4) + "{}]}",
    "an array of objects that forgot its commas": lambda n: "[" + "{}{}" * (n // 4) + "]",
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_256_kb_in_four_byte_pieces_are_read_once(make: Callable[[int], str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = make(256 << 10)
    scans = Scans(monkeypatch)

    (call,) = feed(pieces_of(text)).calls

    assert call.text() == text
    # Once for good, and at most once more as the fragment that is coming.
    assert scans.bytes <= 2 * len(text) + 16


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_256_kb_in_one_fragment_are_read_once(make: Callable[[int], str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = make(256 << 10)
    scans = Scans(monkeypatch)

    assert len(feed([D(text, "a", 0, "f")]).calls) == 1
    assert scans.bytes <= len(text)


def test_thousands_of_objects_in_one_fragment_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scans = Scans(monkeypatch)

    assert len(feed([D("{}" * 5000, "a", 0, "f")]).calls) == 5000
    assert scans.bytes <= 10_000


def test_the_state_of_a_call_is_small() -> None:
    call = Call("call_1", 0, "f", "function")

    assert not hasattr(call, "__dict__")
    assert sys.getsizeof(call) + sys.getsizeof(call.arguments) <= 200


def test_arguments_are_held_once() -> None:
    (call,) = feed(pieces_of("x" * 100_000)).calls

    assert sys.getsizeof(call.arguments) < 1.2 * 100_000
