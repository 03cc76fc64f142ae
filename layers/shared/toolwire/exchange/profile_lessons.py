"""What refusals tell of a host: fields of its profile that are wrong, with their right values.

Hosts of one API differ in what they refuse, and a row for each of them cannot be had. `refusals` reads the lessons.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from toolwire.providers.profiles import Profile


class Lesson(NamedTuple):
    """What a refusal has told of a host: fields of its profile, of which `refuses` has what it refuses besides, and the
    warning about a request that is changed for them; "" where whatever builds it warns."""

    warning: str
    fields: dict[str, Any]


def taught(profile: Profile, lessons: tuple[Lesson, ...]) -> Profile:
    """The profile as the host's refusals have told it."""
    for lesson in lessons:
        refuses = profile.refuses | lesson.fields.get("refuses", frozenset())
        profile = replace(profile, **{**lesson.fields, "refuses": refuses})
    return profile
