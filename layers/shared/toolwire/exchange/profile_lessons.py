"""Lessons: fields of a host's profile that a refusal has shown to be wrong, with their right values.

Hosts of one API differ in what they refuse, and no table can have a row for each of them. `refusals` reads the lessons.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from toolwire.providers.profiles import Profile

#: The fields that are sets, to which a lesson adds.
_ADDED = ("refuses", "unknown_members")


class Lesson(NamedTuple):
    """One lesson. `fields`: the right values of its profile's fields; those of `refuses` and `unknown_members` are
    added to the field. `warning`: the code for a request that changes because of it; "" where the changing function
    adds its own warning. `is_kept`: whether it is about the host, and so holds for further requests; else about what is
    in this one."""

    warning: str
    fields: dict[str, Any]
    is_kept: bool = True


def taught(profile: Profile, lessons: tuple[Lesson, ...]) -> Profile:
    """The profile with the right values of these lessons."""
    for lesson in lessons:
        sets = {name: getattr(profile, name) | lesson.fields.get(name, frozenset()) for name in _ADDED}
        profile = replace(profile, **{**lesson.fields, **sets})
    return profile
