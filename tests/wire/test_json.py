"""JSON as it travels: taken apart without a value being read, put together without one being written anew."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.wire.json import dump, elements, is_object, members, unnamed, whole_characters, write_array, write_object

#: Values that a parse and a re-serialisation would change.
TRAVELLERS = [
    b"1.10",
    b"1E+2",
    b"-0.0",
    b"12345678901234567890123456789",
    b'"\\u0041\\/\\ud83d\\ude00"',
    b'{ "b" : 1 , "a" : [ ] }',
    b"[1 , 2]",
    b"null",
    b'"\xc3\xa9"',
]


@each_row("value", TRAVELLERS)
def test_a_value_that_nobody_looks_at_leaves_as_it_came(value: bytes) -> None:
    raw = b' {"a" : ' + value + b' , "b":\n' + value + b"} "

    assert members(raw) == {"a": value, "b": value}
    assert elements(b" [ " + value + b" , " + value + b"]\n") == [value, value]
    assert write_object(members(raw).items()) == b'{"a":' + value + b',"b":' + value + b"}"
    assert write_array([value, value]) == b"[" + value + b"," + value + b"]"


def test_members_keep_their_order_and_of_a_repeated_name_the_last_counts_as_everywhere() -> None:
    raw = b'{"z":1,"a":2,"z":3}'

    assert members(raw) == json.loads(raw, parse_int=str.encode)
    assert list(members(raw)) == ["z", "a"]


def test_names_are_read_and_written() -> None:
    raw = b'{"\\u00e9\\"":1}'

    assert members(raw) == {'é"': b"1"}
    assert write_object(members(raw).items()) == '{"é\\"":1}'.encode()


@each_row(
    "raw",
    [b"", b"null", b"[]", b"1", b'"a"', b"{", b'{"a"}', b'{"a":}', b'{"a":tru}', b"{} {}", b"{'a':1}", b'{"a":1,}',
     b'{"a":NaN}', b'{"\xff":1}', b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"],
    ids=lambda raw: raw[:20],
)  # fmt: skip
def test_what_is_no_object_is_a_value_error(raw: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        members(raw)
    assert not is_object(raw)


@pytest.mark.parametrize("raw", [b"", b"{}", b"null", b"[1", b"[1,]"])
def test_what_is_no_array_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        elements(raw)


@each_row(
    ("text", "expected"),
    [
        ("{}", True),
        (' {"a":1} \n', True),
        ('{"a":12345678901234567890123456789.10}', True),
        ('{"a":"\\ud83d\\ude00"}', True),
        ('{"a":"\\ud83d"}', True),  # half a pair is legal JSON
        ('{"a":"\ud83d\ude00"}', True),  # a pair that came in two chunks
        ('{"a":"\ud83d"}', True),
        ("", False),
        ("[]", False),
        ('"{}"', False),
        ('{"a":1', False),
        ('{"a":"\\ud83d"', False),
        ('{"a":1}}', False),
        ('{"a":1}{}', False),
        ('{"a":NaN}', False),
        ('{"a":"\\ud83d","b":Infinity}', False),
        ('{"a":01}', False),
        ('{"a":"\n"}', False),
        ('{"a":"\\x"}', False),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", False),
        ('{"a":"\\ud83d","b":' + "[" * 100_000 + "]" * 100_000 + "}", False),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_is_object(text: str, expected: bool) -> None:
    assert is_object(text) is expected
    assert is_object(text.encode("utf-8", "surrogatepass")) is expected or "\ud83d" in text


def test_unnamed_are_the_members_the_model_does_not_know() -> None:
    raw = b'{"z":1.0,"role":"user","a":{"b":2}}'

    assert unnamed(raw, frozenset({"role", "content"})) == (("z", b"1.0"), ("a", b'{"b":2}'))
    assert unnamed(b"{}", frozenset()) == ()


def test_of_a_repeated_name_the_first_is_written() -> None:
    assert write_object([("model", b'"ours"'), ("a", b"1"), ("model", b'"theirs"')]) == b'{"model":"ours","a":1}'
    assert write_object([]) == b"{}"
    assert write_array([]) == b"[]"


JSON_TEXT = st.text(st.characters(exclude_categories=[]), max_size=10)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | JSON_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JSON_TEXT, inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_what_is_dumped_is_read_by_anybody(value: Any) -> None:
    raw = dump(value)

    assert json.loads(raw) == value or has_surrogates(value)
    raw.decode()  # legal UTF-8 whatever the text holds
    assert b"\n" not in raw


def has_surrogates(value: Any) -> bool:
    """Two halves side by side are one character once they are written."""
    return any("\ud800" <= char <= "\udfff" for char in json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ("é", '"é"'.encode()),
        ("\ud83d", b'"\\ud83d"'),
        ("é\ud83d\ude00", b'"\\u00e9\\ud83d\\ude00"'),
        ({"a": [1, None]}, b'{"a":[1,null]}'),
    ],
)
def test_dump(value: Any, raw: bytes) -> None:
    assert dump(value) == raw


@given(st.dictionaries(st.text(max_size=5), st.sampled_from(TRAVELLERS), max_size=6))
def test_taken_apart_and_put_together_is_the_same(pairs: dict[str, bytes]) -> None:
    raw = write_object(pairs.items())

    assert members(raw) == pairs
    assert write_object(members(raw).items()) == raw
    assert is_object(raw)


@each_row(
    ("given", "whole"),
    [
        (b'"\\ud83d\\ude00"', None),
        (b'"\\\\ud83d"', None),
        (b'"plain"', None),
        (b'"\\ud83d"', b'"\\ufffd"'),
        (b'"\\ude00\\ud83d\\ude00"', b'"\\ufffd\\ud83d\\ude00"'),
    ],
)
def test_half_a_character_is_replaced_and_nothing_else_is_made_anew(given: bytes, whole: bytes | None) -> None:
    """A request that is the same object had no half: its warning depends on that."""
    found = whole_characters(given)

    assert found is given if whole is None else found == whole
