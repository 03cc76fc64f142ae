"""What refusals tell of a host: fields of its profile that are wrong, with their right values.

Hosts of one API differ in what they refuse, and a row for each of them cannot be had. `refusals` reads the lessons.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from toolwire.providers.profiles import Profile


class Lesson(NamedTuple):
    """What a refusal has told of a host. `fields`: the right values for its profile; those of `refuses` are added to
    what it is known to refuse. `warning`: told of a request that is changed for them; "" where what changes it warns by
    itself."""

    warning: str
    fields: dict[str, Any]


def taught(profile: Profile, lessons: tuple[Lesson, ...]) -> Profile:
    """The profile with what the host's refusals have told."""
    for lesson in lessons:
        refuses = profile.refuses | lesson.fields.get("refuses", frozenset())
        profile = replace(profile, **{**lesson.fields, "refuses": refuses})
    return profile
