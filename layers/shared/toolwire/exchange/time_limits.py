"""How long the answer to one request may take, by the settings of the provider and the tenant, and by the client's
headers.

    x-toolwire-first-byte-seconds   to the head of a streamed answer
    x-toolwire-idle-seconds         between two pieces of an answer
    x-toolwire-total-seconds        for all of it, attempts and pauses included

A tenant's number replaces its provider's. A header can only shorten the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from toolwire.model.errors import RequestError
from toolwire.model.settings import MOST_SECONDS, ProviderConfig, Tenant, TimeLimits

#: Header -> field of `TimeLimits`.
HEADERS = {f"x-toolwire-{field.name.replace('_', '-')}": field.name for field in fields(TimeLimits)}

_NONE = TimeLimits()


def asked_limits(headers: Mapping[str, str]) -> TimeLimits:
    """The limits in a request's headers (names in lower case). Raises RequestError, code `invalid_option`."""
    asked = {}
    for name, field in HEADERS.items():
        if (text := headers.get(name)) is not None:
            asked[field] = _seconds(name, text)
    return TimeLimits(**asked) if asked else _NONE


def limits_for(provider: ProviderConfig, tenant: Tenant, asked: TimeLimits) -> TimeLimits:
    """The limits of an attempt at this provider."""
    if provider.time_limits == tenant.time_limits == asked == _NONE:
        return _NONE
    found = {}
    for name in HEADERS.values():
        set_to = getattr(tenant.time_limits, name) or getattr(provider.time_limits, name)
        given = [seconds for seconds in (set_to, getattr(asked, name)) if seconds is not None]
        found[name] = min(given, default=None)
    return TimeLimits(**found)


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        message = f"the header `{name}` is {text[:80]!r}; write seconds, more than 0 and at most {MOST_SECONDS}"
        raise RequestError(message, code="invalid_option", param=name)
    return seconds
