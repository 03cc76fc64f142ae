"""The tool policy of one tenant, read from its section: limits, allowlist, validation, and what is an error.

preset = "2api"                      where its limits start from
limits = { calls = 50 }              its own numbers, inside the preset's maxima (`model.limits.MAXIMA`)
allowlist = ["get_weather"]
allowlist_mode = "enforce"           or "warn", "off"
validate_tool_arguments = "off"      or "annotate", "reject"
schema_mode = "convert"              or "reject", "lossy"
strict_parallel = "warn"             or "reject"
tool_choice_not_honored = "warn"     or "error", which is what the preset 2api brings
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from toolwire.model.limits import MAXIMA, PRESETS, Limits
from toolwire.shell.settings.values import SettingsError, as_number, as_table, as_texts, one_of, only

#: Key -> the words it takes. The field of `Tenant` has the same name.
_WORDS = {
    "allowlist_mode": ("enforce", "warn", "off"),
    "validate_tool_arguments": ("off", "annotate", "reject"),
    "schema_mode": ("convert", "reject", "lossy"),
    "strict_parallel": ("warn", "reject"),
    "tool_choice_not_honored": ("warn", "error"),
}

POLICY_KEYS = ("preset", "limits", "allowlist", *_WORDS)


def policy_fields(section: Mapping[str, object], at: str) -> dict[str, Any]:
    """The fields of `Tenant` that the section's policy keys give. Raises SettingsError."""
    found: dict[str, Any] = {}
    if "preset" in section:
        preset = one_of(section["preset"], PRESETS, f"{at}.preset")
        limits = _limits(section, preset, at)
        found |= {"limits": limits, "native_limits": limits}
        found["tool_choice_not_honored"] = "error" if preset == "2api" else None
    elif "limits" in section:
        raise SettingsError(f"{at}.limits: name the `preset` beside it: the numbers change that preset's.")
    if "allowlist" in section:
        found["allowlist"] = as_texts(section["allowlist"], f"{at}.allowlist")
    for key, words in _WORDS.items():
        if key in section:
            found[key] = one_of(section[key], words, f"{at}.{key}")
    return found


def _limits(section: Mapping[str, object], preset: str, at: str) -> Limits:
    """The preset's limits with the tenant's own numbers."""
    own = as_table(section, "limits", at)
    most = MAXIMA[preset]
    only(own, [field.name for field in fields(Limits)], f"{at}.limits")
    changed = {
        name: as_number(value, f"{at}.limits.{name}", least=1, most=getattr(most, name)) for name, value in own.items()
    }
    return replace(PRESETS[preset], **changed)
