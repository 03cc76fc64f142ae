"""Finds the subjects of a user's sentence: quoted text, names, numbers. Pure, and good enough for a demo.

"Weather in Paris and New York?" is about Paris and New York: two calls. A name is a run of capitalised words; the first
word of a sentence counts only where nothing else does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Words that say nothing about which tool is meant.
_EMPTY_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about an and any are as at be by call can could do does for from function get give has have how i if in
        into is it me my of on or our please set show tell that the their then there these this to tool use using was
        what when where which who why will with would you your""",
    )
)

_QUOTED = re.compile(r'"([^"\n]{1,200})"|`([^`\n]{1,200})`')
_NUMBER = re.compile(r"(?<![\w.-])-?\d{1,15}(?:\.\d{1,15})?(?![\w.]*\w)")
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OPENING = "([{<'\u201c\u2018"
_CLOSING = ")]}>'.,;:!?\u201d\u2019"


@dataclass(frozen=True, slots=True)
class Subjects:
    """`names` are strings to fill string parameters with, `numbers` the same for numbers, both in the text's order;
    `text` is the whole sentence, for a string parameter when there is no name."""

    text: str
    names: tuple[str, ...]
    numbers: tuple[float, ...]


def subjects(text: str, ignore: frozenset[str] = frozenset()) -> Subjects:
    """Reads a user's text. `ignore` holds words (see `words`) that are no subject: those of the tools' own names."""
    quoted = _quoted(text)
    names = quoted or _names(text, sentence_starts=False) or _names(text, sentence_starts=True)
    kept = tuple(name for name in dict.fromkeys(names) if not words(name) <= ignore or name in quoted)
    return Subjects(" ".join(text.split()), kept, tuple(float(number) for number in _NUMBER.findall(text)))


def _quoted(text: str) -> list[str]:
    return [first or second for first, second in _QUOTED.findall(text)]


def words(text: str) -> frozenset[str]:
    """The telling words of a text, or of an identifier such as `getCurrentWeather`, in lower case."""
    found = (word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text)))
    return frozenset(word for word in found if len(word) > 1 and word not in _EMPTY_WORDS)


def _names(text: str, *, sentence_starts: bool) -> list[str]:
    names: list[str] = []
    run: list[str] = []
    starts_sentence = True
    for token in text.split():
        word = token.lstrip(_OPENING).rstrip(_CLOSING)
        bare = word.removesuffix("'s").removesuffix("\u2019s")
        named = bare[:1].isupper() and (sentence_starts or not starts_sentence) and bare.lower() not in _EMPTY_WORDS
        if named:
            run.append(bare)
        ends_run = not named or bare != token
        if ends_run and run:
            names.append(" ".join(run))
            run = []
        starts_sentence = token[-1] in ".!?:"
    if run:
        names.append(" ".join(run))
    return names
