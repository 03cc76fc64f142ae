"""Calls that each host writes in a way of its own, by any rows of the accumulator's table."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.stream.test_accumulator import IDENTITIES, NAMES, PIECES, TEXTS, D, calls_of, cut, deliver, feed

MIXED = ['{"a":1}', '{"a":{"a":1},"b":"}{"}', '{ "é":[{}] }']


def written(data: st.DataObject, text: str) -> list[str]:
    """The arguments as some host writes them: by any rows of the table, one behind the other."""
    pieces = list(cut(data, text))
    match data.draw(st.sampled_from(["pieces", "all so far", "in a string"])):
        case "all so far":
            pieces = ["".join(pieces[: end + 1]) for end in range(len(pieces))]
        case "in a string":
            return list(cut(data, json.dumps(text)))
    if data.draw(st.booleans()) and text != "{}":
        pieces = ["{}", *pieces]
    return [*pieces, *([text] if data.draw(st.booleans()) else [])]


@given(st.lists(st.sampled_from(MIXED), min_size=1, max_size=4), st.data())
def test_any_mix_of_the_rows_gives_the_calls_back(texts: list[str], data: st.DataObject) -> None:
    """Each call written in a way of its own, the fragments of all interleaved."""
    waiting = [written(data, text) for text in texts]
    deltas = [D("", f"id{number}", number, f"f{number}") for number in range(len(texts))]
    while any(waiting):
        number = data.draw(st.sampled_from([at for at, pieces in enumerate(waiting) if pieces]))
        deltas.append(D(waiting[number].pop(0), index=number))

    assert calls_of(deltas) == [(f"f{number}", text, f"id{number}") for number, text in enumerate(texts)]


#: Identities under which a name may come in pieces: a name beside a new id opens a call.
OF_PIECES = ("by a negative index with gaps", "by id", "once")


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(OF_PIECES), st.data())
def test_any_mix_with_names_in_pieces_gives_back_the_calls(
    texts: list[str], identity: str, data: st.DataObject
) -> None:
    """As in `test_accumulator`, and each name whole, in pieces, all so far, or again, before the arguments or among
    them."""
    names = [f"tool_{number}" for number in range(len(texts))]
    waiting: list[list[D]] = []
    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        at = data.draw(st.integers(1, len(name) - 1))
        forms = ([name], [name[:at], name[at:]], [name[:at], name], [*name], [name, name])
        pieces = data.draw(st.sampled_from(forms))
        fragments = [*[""] * (len(pieces) - 1), *deliver(text, data)]
        told = [*pieces, *[None] * (len(fragments) - len(pieces))]
        identities = [IDENTITIES[identity](number, delta) for delta in range(len(fragments))]
        waiting.append([D(f, i[1], i[0], n) for f, i, n in zip(fragments, identities, told, strict=True)])
    deltas: list[D] = []
    while any(waiting):
        deltas.append(waiting[data.draw(st.sampled_from([at for at, rest in enumerate(waiting) if rest]))].pop(0))

    out = calls_of(deltas, names)

    assert sorted((str(name), text.strip()) for name, text, _ in out) == list(zip(names, texts, strict=True))


@given(
    st.lists(
        st.builds(
            D, PIECES, st.sampled_from([None, "", "a", "b"]), st.sampled_from([None, -2, 0, 7]),
            st.sampled_from([None, "", "f", "get", "_weather"]),
        ),
        max_size=12,
    ),
    st.sampled_from([(), NAMES]),
)  # fmt: skip
def test_nothing_is_lost_or_invented_under_any_identity(deltas: list[D], tool_names: tuple[str, ...]) -> None:
    calls = feed(deltas, tool_names).calls

    if not any(call.warnings for call in calls):
        assert sorted("".join(call.text() for call in calls)) == sorted("".join(delta.fragment for delta in deltas))
