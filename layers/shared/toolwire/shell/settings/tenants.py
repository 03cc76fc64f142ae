"""Reads the settings of one tenant: `[tenants.default]` of the document, or the settings of a key.

A key's settings have the same keys and checks; absent ones are those of the default tenant. A new setting is a field of
`model.settings.Tenant` and of `TenantSection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from toolwire.doors import DOORS
from toolwire.model.settings import Tenant
from toolwire.shell.settings.resilience import LIMITS, AtOnce, Seconds, time_limits_of
from toolwire.shell.settings.sections import Text, given, one_of, read_section
from toolwire.shell.settings.tenant_policy import PolicySection, policy_of, with_our_names

#: The highest rate that can be set. A tenant's minute is one item, for which DynamoDB takes 1,000 writes a second.
MOST_PER_MINUTE = 60_000

_Rate = Annotated[int, Meta(ge=1, le=MOST_PER_MINUTE)]


class TenantSection(PolicySection, forbid_unknown_fields=True):
    """All keys of a tenant; the field of `Tenant` has the same name."""

    models: list[Text] | UnsetType = UNSET
    doors: list[Text] | UnsetType = UNSET
    requests_per_minute: _Rate | UnsetType = UNSET
    tool_calls_per_minute: _Rate | UnsetType = UNSET
    store_state: bool | UnsetType = UNSET
    keep_answers: bool | UnsetType = UNSET
    record: bool | Literal["redacted"] | UnsetType = UNSET
    fallback: list[Text] | UnsetType = UNSET
    # Those of `LoadSection`: a Struct has one base with fields.
    first_byte_seconds: Seconds | UnsetType = UNSET
    idle_seconds: Seconds | UnsetType = UNSET
    total_seconds: Seconds | UnsetType = UNSET
    concurrent_requests: AtOnce | UnsetType = UNSET


def tenant_from(values: Mapping[str, object], at: str, default: Tenant | None = None) -> Tenant:
    """The tenant of a section, which overrides `default`. `at` is the section's name, for errors.

    Raises SettingsError.
    """
    section = read_section(TenantSection, values, at)
    for door in section.doors or ():
        one_of(door, DOORS, f"{at}.doors")
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in given(section).items()}
    own = {key: value for key, value in fields.items() if key not in ("preset", "limits", *LIMITS)}
    default = default or Tenant()
    own["time_limits"] = time_limits_of(section, default.time_limits)
    return replace(default, **{**policy_of(section, at), **with_our_names(own, at)})
