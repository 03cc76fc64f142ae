"""The policy of a tenant as the configuration says it: every key, the maxima, and what is wrong."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from toolwire.model.limits import MAXIMA, PRESET_2API, PRESET_AGENTS, PRESETS, Limits
from toolwire.model.settings import SettingsError, Tenant
from toolwire.shell.settings.configuration import load_settings
from toolwire.shell.settings.tenant_policy import POLICY_KEYS, with_our_names
from toolwire.shell.settings.tenants import tenant_from

AT = "tenants.default"


def tenant(document: str) -> Tenant:
    text = f"[tenants.default]\n{document}"
    return load_settings({"TOOLWIRE_CONFIG": "x"}, lambda _: text).tenant


def test_nothing_said() -> None:
    assert tenant("") == Tenant()
    assert (Tenant().limits, Tenant().native_limits) == (PRESET_AGENTS, PRESET_2API)


def test_a_preset_holds_on_every_door_and_brings_its_errors() -> None:
    strict = tenant('preset = "2api"')
    assert (strict.limits, strict.native_limits, strict.tool_choice_not_honored) == (PRESET_2API, PRESET_2API, "error")
    wide = tenant('preset = "agents"')
    assert (wide.limits, wide.native_limits, wide.tool_choice_not_honored) == (PRESET_AGENTS, PRESET_AGENTS, None)
    own = tenant('preset = "2api"\ntool_choice_not_honored = "warn"')
    assert own.tool_choice_not_honored == "warn"


def test_every_key() -> None:
    found = tenant(
        """
        preset = "2api"
        limits = { description_chars = 4096, calls = 50, arguments_bytes = 262144, tools = 1 }
        allowlist = ["get_weather", "search_db"]
        allowlist_mode = "warn"
        validate_tool_arguments = "reject"
        schema_mode = "lossy"
        repair_arguments = true
        strict_parallel = "reject"
        events = "extended"
        tool_choice_not_honored = "warn"
        """
    )
    limits = found.limits
    assert (limits.description_chars, limits.calls, limits.arguments_bytes, limits.tools) == (4096, 50, 262144, 1)
    assert limits.schema_depth == PRESET_2API.schema_depth
    assert found.allowlist == ("get_weather", "search_db")
    assert found.allowlist_mode == "warn"
    assert (found.validate_tool_arguments, found.schema_mode, found.repair_arguments) == ("reject", "lossy", True)
    assert (found.strict_parallel, found.tool_choice_not_honored, found.events) == ("reject", "warn", "extended")


def test_the_reference_documents_names_mean_ours() -> None:
    ours = tenant('allowlist = ["a"]\nallowlist_mode = "warn"')
    assert ours != tenant("")
    assert tenant('tool_allowlist = ["a"]\ntool_allowlist_mode = "warn"') == ours


def test_a_key_keeps_what_it_does_not_say() -> None:
    default = tenant('preset = "2api"\nallowlist = ["a"]\nschema_mode = "lossy"')
    key = tenant_from({"schema_mode": "reject"}, "key", default)
    assert (key.limits, key.allowlist, key.schema_mode) == (PRESET_2API, ("a",), "reject")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_each_limit_is_met_at_its_maximum_and_refused_above(preset: str, name: str) -> None:
    most = getattr(MAXIMA[preset], name)
    section: dict[str, Any] = {"preset": preset, "limits": {name: most}}
    assert getattr(tenant_from(section, AT).limits, name) == most

    with pytest.raises(
        SettingsError, match=f"{AT}.limits.{name}: write a whole number from 1 to {most}, not {most + 1}\\."
    ):
        tenant_from({"preset": preset, "limits": {name: most + 1}}, AT)
    with pytest.raises(SettingsError, match=f"{AT}.limits.{name}"):
        tenant_from({"preset": preset, "limits": {name: 0}}, AT)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ('preset = "huge"', "tenants.default.preset: 'huge' is not known; write one of: 2api, agents"),
        ("limits = { calls = 3 }", "tenants.default.limits: name the `preset`"),
        (
            'preset = "2api"\nlimits = { call = 3 }',
            "tenants.default.limits.call: there is no such key; .*Did you mean 'calls'",
        ),
        ('preset = "2api"\nlimits = 3', r"limits: write a section \[tenants.default.limits\], not 3\."),
        ('allowlist = "get_weather"', "tenants.default.allowlist: write a list of texts, .*, not a text\\."),
        ('allowlist_mode = "strict"', "tenants.default.allowlist_mode: 'strict' is not known; .*enforce, off, warn"),
        (
            "validate_tool_arguments = true",
            "tenants.default.validate_tool_arguments: write one of: annotate, off, reject; not true\\.",
        ),
        ('schema_mode = "any"', "tenants.default.schema_mode: .*convert, lossy, reject"),
        ('schema_mode = "loss"', "tenants.default.schema_mode: .*Did you mean 'lossy'?"),
        ('repair_arguments = "on"', "tenants.default.repair_arguments: .*true or false"),
        ('strict_parallel = "off"', "tenants.default.strict_parallel: .*reject, warn"),
        ('tool_choice_not_honored = "off"', "tenants.default.tool_choice_not_honored: .*error, warn"),
        ('tool_allow = ["a"]', "tenants.default.tool_allow: there is no such key"),
        ('tool_allowlist = ["a"]\nallowlist = ["a"]', "tenants.default.tool_allowlist: leave it out, or `allowlist`"),
    ],
)
def test_what_is_wrong_is_named(document: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        tenant(document)


def test_every_key_is_a_field() -> None:
    names = {field.name for field in fields(Tenant)}
    assert with_our_names(dict.fromkeys(POLICY_KEYS[:-2]), "x").keys() - {"preset"} <= names
    assert with_our_names(dict.fromkeys(POLICY_KEYS[-2:]), "x").keys() == {"allowlist", "allowlist_mode"}
