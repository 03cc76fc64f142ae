"""What holds for one tenant, read from a mapping: `[tenants.default]` of the document, or the settings of a key.

A key's settings are the same keys with the same checks; what they leave out is as the default tenant has it. A new
setting is a field of `model.settings.Tenant` and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from toolwire.doors import DOORS
from toolwire.model.settings import Tenant
from toolwire.shell.settings.tenant_policy import POLICY_KEYS, policy_fields
from toolwire.shell.settings.values import as_boolean, as_number, as_texts, one_of, only

#: The highest rate that can be set. A tenant's minute is one item, of which DynamoDB takes 1,000 writes a second.
MOST_PER_MINUTE = 60_000


def tenant_from(section: Mapping[str, object], at: str, default: Tenant | None = None) -> Tenant:
    """The tenant that a section describes, on top of `default`. `at` is the section's name, for errors.

    Raises SettingsError.
    """
    only(section, (*POLICY_KEYS, *_READERS), at)
    fields: dict[str, Any] = policy_fields(section, at)
    for key, (field, read) in _READERS.items():
        if key in section:
            fields[field] = read(section[key], f"{at}.{key}")
    return replace(default or Tenant(), **fields)


def _doors(value: object, at: str) -> tuple[str, ...]:
    return tuple(one_of(door, DOORS, at) for door in as_texts(value, at))


def _rate(value: object, at: str) -> int:
    return as_number(value, at, least=1, most=MOST_PER_MINUTE)


#: Key of the section -> field of `Tenant`, and what reads the value.
_READERS: dict[str, tuple[str, Callable[[object, str], object]]] = {
    "models": ("models", as_texts),
    "doors": ("doors", _doors),
    "requests_per_minute": ("requests_per_minute", _rate),
    "tool_calls_per_minute": ("tool_calls_per_minute", _rate),
    "store_state": ("store_state", as_boolean),
}
