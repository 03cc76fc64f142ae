"""Reads a section of the configuration as a msgspec Struct, whose fields are the keys.

An error names the key's full path in the document, the value there, and the fix. A text is shown only if the key takes
one of a few words: any other text may be a credential in the wrong place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct
from msgspec import inspect as types

from toolwire.model.nearest_word import did_you_mean
from toolwire.model.settings import SettingsError
from toolwire.wire.type_mismatch import mismatch_of

#: A text that is not empty.
Text = Annotated[str, Meta(min_length=1)]

_Section = TypeVar("_Section", bound=Struct)


def read_section(kind: type[_Section], value: object, at: str) -> _Section:
    """Reads a section as this Struct. `at` is its path in the document, "" for the whole document. Raises
    SettingsError."""
    if not isinstance(value, Mapping):
        raise SettingsError(f"{at}: write a section [{at}], not {_described(value)}.")
    section = dict(value)
    try:
        return msgspec.convert(section, kind)
    except msgspec.ValidationError as error:
        raise _wrong(error, kind, section, at) from None


def read_text(value: object, at: str) -> str:
    """A text that is not empty. Raises SettingsError."""
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{at}: {_fix(types.StrType(), value)}.")
    return value


def given(section: Struct) -> dict[str, Any]:
    """The keys that are set in a section, with their values."""
    found = {name: getattr(section, name) for name in section.__struct_fields__}
    return {name: value for name, value in found.items() if value is not UNSET}


def one_of(word: str, known: Collection[str], at: str) -> str:
    """The word, if it is one of the known ones. Raises SettingsError."""
    if word not in known:
        raise SettingsError(f"{at}: {_unknown_word(word, known)}")
    return word


def _wrong(error: msgspec.ValidationError, kind: type[Struct], section: dict[str, object], at: str) -> SettingsError:
    info = types.type_info(kind)
    assert isinstance(info, types.StructType)
    fields = {field.encode_name: field.type for field in info.fields}
    unknown = next((key for key in section if key not in fields), None)  # the error's text is no safe place for it
    key = mismatch_of(error).path.removeprefix(".").partition("[")[0] if unknown is None else unknown
    name = f"{at}.{key}" if at else key
    if unknown is not None:
        return SettingsError(
            f"{name}: there is no such key; known here: {', '.join(fields)}.{did_you_mean(key, fields)}"
        )
    expected, value = fields[key], section[key]
    if isinstance(expected, types.LiteralType):
        words = [str(word) for word in expected.values]
        if isinstance(value, str):
            return SettingsError(f"{name}: {_unknown_word(value, words)}")
        return SettingsError(f"{name}: write one of: {', '.join(words)}; not {_described(value)}.")
    if isinstance(expected, types.DictType) and isinstance(value, Mapping):
        return SettingsError(f"{name}: write a text in quotes for each name.")
    if isinstance(expected, types.DictType | types.StructType):
        return SettingsError(f"{name}: write a section [{name}], not {_described(value)}.")
    return SettingsError(f"{name}: {_fix(expected, value)}.")


def _fix(expected: types.Type, value: object) -> str:
    """The fix in words, and the current value."""
    match expected:
        case types.IntType():
            return f"write a whole number from {expected.ge} to {expected.le}, not {_described(value)}"
        case types.BoolType():
            return f"write true or false, not {_described(value)}"
        case types.UnionType():  # a switch with another word
            words = [f'"{word}"' for it in expected.types if isinstance(it, types.LiteralType) for word in it.values]
            return f"write true, false or {' or '.join(words)}, not {_described(value)}"
        case types.ListType() if isinstance(value, list):
            wrong = next(item for item in value if not isinstance(item, str) or not item)
            return f'write a list of texts, such as ["one", "two"], without {_described(wrong)}'
        case types.ListType():
            return f'write a list of texts, such as ["one", "two"], not {_described(value)}'
        case _:
            return f"write a text in quotes, not {_described(value)}"


def _described(value: object) -> str:
    """A value in TOML's words; a text is not quoted."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return "a text" if value else "an empty text"
        case list():
            return "a list"
        case dict():
            return "a section"
        case _:
            return "a date or time"


def _unknown_word(word: str, known: Collection[str]) -> str:
    return f"{word!r} is not known; write one of: {', '.join(known)}.{did_you_mean(word, known)}"
