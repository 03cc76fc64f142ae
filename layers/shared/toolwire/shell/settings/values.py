"""How single values of the configuration document are read: each check names the key it stands in and the fix.

`at` is always the key's full path in the document, as the operator finds it there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


class SettingsError(ValueError):
    """The configuration cannot be used. The text names the key at fault and the fix, never a secret."""


def as_table(parent: Mapping[str, object], key: str, at: str) -> dict[str, object]:
    """The section `key` of `parent`, empty if it is absent."""
    section = parent.get(key, {})
    name = f"{at}.{key}" if at else key
    if not isinstance(section, dict):
        raise SettingsError(f"{name}: write a section [{name}].")
    return section


def as_text(value: object, at: str) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{at}: write a text in quotes.")
    return value


def as_texts(value: object, at: str) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise SettingsError(f'{at}: write a list of texts, such as ["one", "two"].')
    return tuple(value)


def as_number(value: object, at: str, *, least: int, most: int) -> int:
    """A whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SettingsError(f"{at}: write a whole number from {least} to {most}.")
    return value


def as_boolean(value: object, at: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise SettingsError(f"{at}: write true or false.")
    return value


def one_of(value: object, allowed: Collection[str], at: str) -> str:
    """One of the texts that are allowed."""
    if value not in allowed:
        raise SettingsError(f"{at}: {value!r} is not known; write one of: {', '.join(allowed)}.")
    return str(value)


def only(section: Mapping[str, object], known: Collection[str], at: str) -> None:
    """Refuses a key that means nothing."""
    for key in section:
        if key not in known:
            name = f"{at}.{key}" if at else key
            raise SettingsError(f"{name}: there is no such key; known here: {', '.join(known)}.")
