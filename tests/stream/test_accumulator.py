"""The awkward table: what providers do to the identity of a call, and which calls come out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.stream import cumulative
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


def feed(deltas: Iterable[D], tool_names: Collection[str] = ()) -> ToolCallAccumulator:
    """Feeds the deltas, and checks that what was said of each call is what it holds."""
    calls = ToolCallAccumulator(tool_names)
    said: dict[int, list[str]] = {}
    for delta in deltas:
        for call, piece in calls.take(delta.id, delta.index, delta.name, delta.fragment, delta.kind):
            said.setdefault(id(call), []).append(piece)
    for call, piece in calls.end():
        said.setdefault(id(call), []).append(piece)
    assert ["".join(said[id(call)]) for call in calls.calls] == [call.text() for call in calls.calls]
    return calls


def calls_of(deltas: Iterable[D], tool_names: Collection[str] = ()) -> list[Out]:
    return [(call.name, call.text(), call.id) for call in feed(deltas, tool_names).calls]


def counted(objects: Iterable[str]) -> list[str]:
    """The calls that whole objects in a row are, where nothing says whose they are."""
    calls: list[str] = []
    for text in objects:
        if calls and calls[-1] == "{}":
            calls[-1] = text
        elif not calls or calls[-1] != text:
            calls.append(text)
    return calls


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
    "arguments that are prose": ([D("{x} a {y} {z}", "a", 0, "f")], [("f", "{x} a {y} {z}", "a")]),
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


@each_row(("deltas", "out"), TABLE.values(), ids=TABLE)
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


@each_row("second", OBJECTS)
@each_row("first", OBJECTS)
@each_row("between", ["", " ", "\r\n\t"])
def test_two_objects_on_one_index_in_every_split(first: str, between: str, second: str) -> None:
    text = first + between + second
    for at in range(len(text) + 1):
        out = calls_of([D(text[:at], "a", 0, "f"), D(text[at:], index=0)])

        assert [arguments.strip() for _, arguments, _ in out] == counted([first, second]), f"cut at {at}"
        assert {name for name, _, _ in out} == {"f"}


@each_row("index", [None, 0])
@each_row("first", OBJECTS)
def test_two_objects_one_character_at_a_time(first: str, index: int | None) -> None:
    out = calls_of([D("", "a", index, "f"), *(D(char, index=index) for char in first + ' {"b":2}')])

    assert [(name, arguments.strip()) for name, arguments, _ in out] == [
        ("f", text) for text in counted([first, '{"b":2}'])
    ]


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
    assert calls_of([D('{"a":1}', "a", 0, "f"), D('{"b":2}', "a", 0)]) == [("f", '{"a":1}{"b":2}', "a")]


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

    assert [arguments for _, arguments, _ in out] == counted(texts)


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


# ------------------------------------------------ what a fragment is

#: Fragments of one call as they come behind its identity -> its arguments, and those of the calls that follow.
FRAGMENTS: dict[str, tuple[list[str], list[str]]] = {
    "appends": (['{"a', '":1}'], ['{"a":1}']),
    "an inner object like the outer one": (['{"a":', '{"a":', '{"a":1}', "}}"], ['{"a":{"a":{"a":1}}}']),
    "an inner object like the outer one, at once": (['{"a":', '{"a":1}}'], ['{"a":{"a":1}}']),
    "an inner object in a list": (['{"a":[{},', '{"a":[{},1]}', "]}"], ['{"a":[{},{"a":[{},1]}]}']),
    "a string like the object": (['{"', '{":1}'], ['{"{":1}']),
    "a string with a brace": (['{"a":"', "{", '"}'], ['{"a":"{"}']),
    "cumulative": (['{"a', '{"a":', '{"a":1', '{"a":1}'], ['{"a":1}']),
    "cumulative from a brace": (["{", '{"a":1', '{"a":1}'], ['{"a":1}']),
    "cumulative, where a value may stand": (['{"a":', '{"a":1}'], ['{"a":1}']),
    "cumulative, nested": (['{"a":', '{"a":{"a":', '{"a":{"a":1', '{"a":{"a":1}}'], ['{"a":{"a":1}}']),
    "cumulative, then pieces": (['{"a":', '{"a":{"b"', ":1", "}}"], ['{"a":{"b":1}}']),
    "cumulative, then cut": (['{"a', '{"a":', '{"a":"x'], ['{"a":"x']),
    "a fragment twice": (['{"a":1', '{"a":1', "}"], ['{"a":1}']),
    "a fragment twice, where a value may stand": (['{"a":', '{"a":', "1}"], ['{"a":1}']),
    "repeated": (['{"a":1}', '{"a":1}'], ['{"a":1}']),
    "repeated twice": (['{"a":1}', '{"a":1}', ' {"a":1}'], ['{"a":1} ']),
    "repeated in pieces": (['{"a":1}', '{"a"', ":1", "}"], ['{"a":1}']),
    "repeated in pieces, and another": (['{"a":1}', '{"a"', ':1}{"b":', "2}"], ['{"a":1}', '{"b":2}']),
    "another that begins alike": (['{"a":1}', '{"a', '":2}'], ['{"a":1}', '{"a":2}']),
    "another that begins alike, and is cut": (['{"a":1}', '{"a'], ['{"a":1}', '{"a']),
    "cumulative, another, cumulative": (['{"a', '{"a":1}', '{"a', '{"a":2}'], ['{"a":1}', '{"a":2}']),
    "nothing in it": (["{}"], ["{}"]),
    "nothing in it, in pieces": (["{", " ", "}"], ["{ }"]),
    "nothing in it, twice": (["{}", "{ }"], ["{}"]),
    "a placeholder": (["{}", '{"a":1}'], ['{"a":1}']),
    "a placeholder in pieces": (["{", "}", '{"a', '":1}'], ['{"a":1}']),
    "a placeholder in one text": (['{}{"a":1}'], ['{"a":1}']),
    "a placeholder with space": (["{ } ", ' { "a":1}'], ['{ "a":1}']),
    "a placeholder, then cumulative": (["{}", "{", '{"a', '{"a":1}'], ['{"a":1}']),
    "a placeholder, then cut": (["{}", "{"], ["{"]),
    "a placeholder, then prose": (["{}", "x"], ["{}x"]),
    "an empty object of its own": (['{"a":1}', "{}"], ['{"a":1}', "{}"]),
    "null": (["nu", "ll"], ["null"]),
    "an empty list": (["[", "]"], ["[]"]),
    "an empty string": (['""'], [""]),
    "in a string": (['"{\\"a\\":', '\\"}{\\"}"'], ['{"a":"}{"}']),
    "in a string, cut": (['"{\\"a'], ['"{\\"a']),
    "a string of its own": (['"x', 'y"'], ['"xy"']),
    "a list of its own": (["[1,", "2]"], ["[1,2]"]),
    "a bracket too many": (['{"a":1}', "}", '{"a":1}'], ['{"a":1}}{"a":1}']),
}  # fmt: skip


@each_row(("fragments", "out"), FRAGMENTS.values(), ids=FRAGMENTS)
@each_row("index", [0, None])
def test_fragments(fragments: list[str], out: list[str], index: int | None) -> None:
    calls = feed([D("", "a", index, "f"), *(D(fragment, index=index) for fragment in fragments)]).calls

    assert [call.text() for call in calls] == out
    said = sum(map(len, fragments))
    is_odd = fragments[0][0] == '"'
    assert any(call.restated for call in calls) == (sum(map(len, out)) < said and not is_odd)
    assert any("tool_arguments_unwrapped" in call.warnings for call in calls) == (is_odd and out[0][:1] != '"')


#: A call's own id stands on every fragment: no second call can begin.
OWN: dict[str, tuple[list[str], str]] = {
    "repeated": (['{"a":1}', '{"a":1}'], '{"a":1}'),
    "repeated in pieces": (['{"a":1}', '{"a"', ":1}"], '{"a":1}'),
    "repeated and cut": (['{"a":1}', '{"a"'], '{"a":1}'),
    "cumulative": (['{"a', '{"a":1}'], '{"a":1}'),
    "a placeholder": (["{}", '{"a":1}'], '{"a":1}'),
    "another": (['{"a":1}', '{"b":2}'], '{"a":1}{"b":2}'),
    "another in pieces": (['{"a":1}', '{"a', '":2}'], '{"a":1}{"a":2}'),
}


@pytest.mark.parametrize(("fragments", "out"), OWN.values(), ids=OWN)
def test_fragments_under_their_calls_id(fragments: list[str], out: str) -> None:
    assert calls_of(D(fragment, "a", 0, "f") for fragment in fragments) == [("f", out, "a")]


@each_row("second", OBJECTS)
@each_row("first", OBJECTS)
def test_second_objects_in_any_pieces(first: str, second: str) -> None:
    for at in range(len(second) + 1):
        pieces = [first, second[:at], second[at:]]

        assert [out[1] for out in calls_of([D(piece, index=0, name="f") for piece in pieces])] == counted(
            [first, second]
        )


def test_a_custom_tools_text_is_never_a_repetition() -> None:
    deltas = [D("ab", "a", 0, "f", "custom"), D("ab", index=0), D("abab", index=0)]

    assert calls_of(deltas) == [("f", "abababab", "a")]


NAMES = ("get", "get_weather", "set_weather")
#: Deltas -> calls, where the tools NAMES are declared.
NAMED: dict[str, tuple[list[D], list[Out]]] = {
    "in pieces": ([D("", "a", 0, "set_"), D(index=0, name="weather"), D("{}", index=0)], [("set_weather", "{}", "a")]),
    "in pieces under the id": ([D("", "a", 0, "set_"), D("{}", "a", 0, "weather")], [("set_weather", "{}", "a")]),
    "in pieces without index": ([D("", "a", name="set_"), D("{}", name="weather")], [("set_weather", "{}", "a")]),
    "in letters": ([D(index=0, name=letter) for letter in "set_weather"], [("set_weather", "", None)]),
    "cumulative": ([D("", "a", 0, "s"), D("", "a", 0, "set_"), D("{}", "a", 0, "set_weather")],
                   [("set_weather", "{}", "a")]),
    "whole again": ([D("", "a", 0, "set_weather"), D("{}", "a", 0, "set_weather")], [("set_weather", "{}", "a")]),
    "the beginning of another's": ([D("", "a", 0, "get"), D("{}", index=0)], [("get", "{}", "a")]),
    "the beginning of another's, and on": ([D("", "a", 0, "get"), D("{}", index=0, name="_weather")],
                                           [("get_weather", "{}", "a")]),
    "two on one index": ([D(index=0, name="get"), D(index=0, name="get_weather")],
                         [("get", "", None), ("get_weather", "", None)]),
    "the beginning of another's, and then that": ([D("", "a", 0, "get"), D("{}", "b", 1, "get_weather")],
                                                  [("get", "", "a"), ("get_weather", "{}", "b")]),
    "unknown": ([D("", "a", 0, "x"), D("{}", "a", 0, "x")], [("x", "{}", "a")]),
    "never whole": ([D("", "a", 0, "set_"), D("{}", index=0)], [("set_", "{}", "a")]),
}  # fmt: skip


@each_row(("deltas", "out"), NAMED.values(), ids=NAMED)
def test_names(deltas: list[D], out: list[Out]) -> None:
    assert calls_of(deltas, NAMES) == out


def test_a_name_that_may_grow_is_held_until_arguments_or_another_call_come() -> None:
    calls = ToolCallAccumulator(NAMES)

    ((first, _),) = calls.take("a", 0, "get", "")
    assert first.awaits_name
    seen = [(call.id, call.awaits_name) for call, _ in calls.take("b", 1, "get", "")]
    assert seen == [("a", False), ("b", True)]
    assert [call.awaits_name for call, _ in calls.take(None, 1, None, "{")] == [False]


# ------------------------------------------------ any mix of all that

#: What tells a call's deltas apart: (index, id, name) of its delta of this number.
IDENTITIES: dict[str, Callable[[int, int], tuple[int | None, str | None, str | None]]] = {
    "once": lambda call, delta: (call, f"id{call}" if not delta else None, f"f{call}" if not delta else None),
    "always": lambda call, delta: (call, f"id{call}", f"f{call}"),
    "by a negative index with gaps": lambda call, delta: (-3 * call - 1, None, None if delta else f"f{call}"),
    "an id a delta": lambda call, delta: (call, f"id{call}-{delta}", None if delta else f"f{call}"),
    "by id": lambda call, delta: (None, f"id{call}", None if delta else f"f{call}"),
}


def deliver(text: str, data: st.DataObject) -> list[str]:
    """The arguments of one call as fragments, by any mix of the rule's rows."""
    edges = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=5)) | {len(text)})
    fragments = ["{}"] if data.draw(st.booleans()) else []
    for start, end in pairwise([0, *edges]):
        fragments.append(text[:end] if data.draw(st.booleans()) else text[start:end])
    if data.draw(st.booleans()):
        fragments += data.draw(st.sampled_from([[text], list(text), [" ", text]]))
    return fragments


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(sorted(IDENTITIES)), st.data())
def test_any_mix_gives_back_the_calls(texts: list[str], identity: str, data: st.DataObject) -> None:
    waiting = [deliver(text, data) for text in texts]
    counts = [0] * len(texts)
    deltas: list[D] = []
    for number in range(len(texts)):
        index, id, name = IDENTITIES[identity](number, 0)
        deltas.append(D("", id, index, name))
    while any(waiting):
        number = data.draw(st.sampled_from([at for at, pieces in enumerate(waiting) if pieces]))
        counts[number] += 1
        index, id, name = IDENTITIES[identity](number, counts[number])
        deltas.append(D(waiting[number].pop(0), id, index, name))

    out = calls_of(deltas)

    assert [(name, text.strip()) for name, text, _ in out] == [
        (f"f{number}", text) for number, text in enumerate(texts)
    ]


PIECES = st.sampled_from(
    ["", "{", "}", "{}", '"', ":", "1", ",", "[", "]", "\\", "a", " ", '{"a":1}', '{"a":', '{"a', '"{\\"a']
)


@given(st.lists(PIECES, max_size=12))
def test_nothing_is_lost_in_silence(said: list[str]) -> None:
    calls = feed([D("", "a", 0, "f"), *(D(fragment, index=0) for fragment in said)]).calls

    if not any(call.warnings for call in calls):
        assert "".join(call.text() for call in calls) == "".join(said)


# ------------------------------------------------------------ cost


class Scans:
    """Counts the bytes that the bracket scanner walks over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = 0
        scan = cumulative.ObjectScan.end

        def counting(one: cumulative.ObjectScan, data: bytes | bytearray) -> int | None:
            before = one.at
            end = scan(one, data)
            self.bytes += one.at - before
            return end

        monkeypatch.setattr(cumulative.ObjectScan, "end", counting)


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
def test_64_kb_in_four_byte_pieces_are_read_once(make: Callable[[int], str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = make(64 << 10)
    scans = Scans(monkeypatch)

    (call,) = feed(pieces_of(text)).calls

    assert call.text() == text
    assert scans.bytes <= len(text)


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_256_kb_in_one_fragment_are_read_once(make: Callable[[int], str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = make(256 << 10)
    scans = Scans(monkeypatch)

    assert len(feed([D(text, "a", 0, "f")]).calls) == 1
    assert scans.bytes <= len(text)


def test_thousands_of_objects_in_one_fragment_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scans = Scans(monkeypatch)

    text = "".join(f'{{"a":{number:04}}}' for number in range(5000))
    assert len(feed([D(text, "a", 0, "f")]).calls) == 5000
    assert scans.bytes <= 2 * len(text)


def test_the_state_of_a_call_is_small() -> None:
    call = Call("call_1", 0, "f", "function", placeholders=True)

    parts = (call, call.text_so_far, call.text_so_far._scan, call.arguments)
    assert not any(hasattr(part, "__dict__") for part in parts)
    assert sum(map(sys.getsizeof, parts)) <= 500


def test_arguments_are_held_once() -> None:
    (call,) = feed(pieces_of("x" * 100_000)).calls

    assert sys.getsizeof(call.arguments) < 1.2 * 100_000


def test_an_empty_object_need_not_wait_where_hosts_mean_it() -> None:
    """So a vendor's frame with `{}` reaches a client of the same API when it comes, and as it is."""
    waiting, sure = ToolCallAccumulator(), ToolCallAccumulator(placeholders=False)
    assert [piece for _, piece in waiting.take("call_1", 0, "f", "{}")] == [""]
    assert [piece for _, piece in sure.take("call_1", 0, "f", "{}")] == ["{}"]
    assert [piece for _, piece in sure.end() if piece] == []
    assert [piece for _, piece in waiting.end() if piece] == ["{}"]
