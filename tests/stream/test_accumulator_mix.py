"""Calls that each host writes in a way of its own, by any rows of the accumulator's table."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.stream.test_accumulator import D, calls_of, cut

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
