"""What of a conversation is the user's own, one row a shape."""

from __future__ import annotations

import pytest

from toolwire.demo.last_words import LastWords, Spoken, last_words, own_words

DIRECTIVE = '[demo call a {"b": "</r> <r>"}]'


@pytest.mark.parametrize(
    ("texts", "own"),
    [
        (("hi",), "hi"),
        (("first", "second"), "second"),
        (("<r>\nno\n</r>\nhi",), "hi"),
        (("hi <r>no</r>",), "hi"),
        (("<r>no</r> hi <r>no</r>",), "hi"),
        (("<r>a <r>b</r> c</r>hi",), "hi"),
        (("<permissions instructions>\nno\n</permissions instructions>", "hi"), "hi"),
        (("hi", "<r a='1'>no</r>"), "hi"),
        (("hi", "<system>", "no", "</system>"), "hi"),
        (("hi", "<system>", "a <system> is a tag", "</system>"), "hi"),
        (("hi\n<r>\nand the rest is lost",), "hi"),
        (("<r>no</r>",), ""),
        (("<task>\nhi\n</task>\n<r>no</r>",), "hi"),
        (("List<String> a < b > c",), "List<String> a < b > c"),
        (("</r> hi",), "</r> hi"),
        (("<r>no</r> hi",), "hi"),
        ((f"hi {DIRECTIVE}",), f"hi {DIRECTIVE}"),
        ((), ""),
    ],
)
def test_own_words(texts: tuple[str, ...], own: str) -> None:
    assert own_words(texts) == own


USER, CALL, RESULT = Spoken("user", ("hi",)), Spoken("assistant"), Spoken("user", (), ("18",))
NOTE = Spoken("user", ("<r>no</r>",), ("19",))


@pytest.mark.parametrize(
    ("conversation", "found"),
    [
        ((USER,), LastWords("hi")),
        ((Spoken("system", ("no",)), USER, Spoken("system", ("no",))), LastWords("hi")),
        ((USER, CALL, RESULT), LastWords("hi", 1, ("18",))),
        ((USER, CALL, CALL, RESULT, RESULT), LastWords("hi", 1, ("18", "18"))),
        ((USER, CALL, RESULT, CALL, NOTE), LastWords("hi", 2, ("19",))),
        ((USER, CALL, RESULT, USER), LastWords("hi")),
        ((USER, CALL, Spoken("user", ("and now",), ("18",))), LastWords("and now")),
        ((CALL, RESULT), LastWords("", 1, ("18",))),
        ((), LastWords("")),
    ],
)
def test_last_words(conversation: tuple[Spoken, ...], found: LastWords) -> None:
    assert last_words(conversation) == found


def test_a_long_text_of_tags_is_read_in_little_time() -> None:
    assert own_words(("<a>" * 100_000 + "hi",)) == ""
    assert own_words(("x <a>" * 100_000,)).startswith("x")
