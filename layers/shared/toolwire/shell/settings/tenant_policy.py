"""The tool policy of one tenant, read from its section: limits, allowlist, validation, and what is an error.

preset = "2api"                      where its limits start from
limits = { calls = 50 }              its own numbers, inside the preset's maxima (`model.limits.MAXIMA`)
allowlist = ["get_weather"]
allowlist_mode = "enforce"           or "warn", "off". 2api's names, `tool_allowlist...`, mean the same
validate_tool_arguments = "off"      or "annotate", "reject"
schema_mode = "convert"              or "reject", "lossy"
repair_arguments = false             or true
strict_parallel = "warn"             or "reject"
tool_choice_not_honored = "warn"     or "error", which is what the preset 2api brings
events = "standard"                  or "extended": of the Responses door
"""

from __future__ import annotations

import functools
from dataclasses import fields, replace
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from toolwire.model.limits import MAXIMA, PRESETS, Limits
from toolwire.model.settings import SettingsError
from toolwire.shell.settings.sections import Text, given, one_of, read_section


class PolicySection(Struct, forbid_unknown_fields=True):
    """The policy's keys; the field of `Tenant` has the same name."""

    preset: Text | UnsetType = UNSET
    limits: dict[str, object] | UnsetType = UNSET
    allowlist: list[Text] | UnsetType = UNSET
    allowlist_mode: Literal["enforce", "warn", "off"] | UnsetType = UNSET
    validate_tool_arguments: Literal["off", "annotate", "reject"] | UnsetType = UNSET
    schema_mode: Literal["convert", "reject", "lossy"] | UnsetType = UNSET
    repair_arguments: bool | UnsetType = UNSET
    strict_parallel: Literal["warn", "reject"] | UnsetType = UNSET
    tool_choice_not_honored: Literal["warn", "error"] | UnsetType = UNSET
    events: Literal["standard", "extended"] | UnsetType = UNSET
    tool_allowlist: list[Text] | UnsetType = UNSET
    tool_allowlist_mode: Literal["enforce", "warn", "off"] | UnsetType = UNSET


POLICY_KEYS = PolicySection.__struct_fields__

#: The reference document 2api's names of keys (section 7.2) -> ours.
_SYNONYMS = {"tool_allowlist": "allowlist", "tool_allowlist_mode": "allowlist_mode"}


def with_our_names(fields: dict[str, Any], at: str) -> dict[str, Any]:
    """The keys of a section under our names. Raises SettingsError for a key that is there under both names."""
    for theirs, ours in _SYNONYMS.items():
        if theirs in fields and ours in fields:
            raise SettingsError(f"{at}.{theirs}: leave it out, or `{ours}`, which means the same.")
    return {_SYNONYMS.get(name, name): value for name, value in fields.items()}


def policy_of(section: PolicySection, at: str) -> dict[str, Any]:
    """The fields of `Tenant` by the preset and the limits. Raises SettingsError."""
    if section.preset is UNSET:
        if section.limits is not UNSET:
            raise SettingsError(f"{at}.limits: name the `preset` beside it: the numbers change that preset's.")
        return {}
    preset = one_of(section.preset, PRESETS, f"{at}.preset")
    own = {} if section.limits is UNSET else section.limits
    limits = replace(PRESETS[preset], **given(read_section(_limits_section(preset), own, f"{at}.limits")))
    errors, mode = ("error", "reject") if preset == "2api" else (None, "convert")
    return {
        "limits": limits,
        "native_limits": limits,
        "tool_choice_not_honored": errors,
        "schema_mode": mode,
        "contract_2api": preset == "2api",
    }


@functools.cache
def _limits_section(preset: str) -> type[Struct]:
    """The keys of `limits`: each number from 1 to the preset's maximum."""
    numbers = [(field.name, getattr(MAXIMA[preset], field.name)) for field in fields(Limits)]
    keys = [(name, Annotated[int, Meta(ge=1, le=most)] | UnsetType, UNSET) for name, most in numbers]
    return defstruct("LimitsSection", keys, forbid_unknown_fields=True)
