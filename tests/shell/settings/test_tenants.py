"""What holds for a tenant: the keys of its section, and the default where they are silent."""

from __future__ import annotations

import pytest

from toolwire.model.settings import Settings, SettingsError, Tenant
from toolwire.shell.settings.configuration import load_settings
from toolwire.shell.settings.tenants import MOST_PER_MINUTE, tenant_from


def test_an_empty_section_is_the_default() -> None:
    default = Tenant(name="default", requests_per_minute=5, models=("a/*",))

    assert tenant_from({}, "here") == Tenant()
    assert tenant_from({}, "here", default) == default


@pytest.mark.parametrize(
    ("key", "value", "field", "expected"),
    [
        ("models", ["openai/*", "fast"], "models", ("openai/*", "fast")),
        ("models", [], "models", ()),
        ("doors", ["chat_completions"], "doors", ("chat_completions",)),
        ("requests_per_minute", 1, "requests_per_minute", 1),
        ("requests_per_minute", MOST_PER_MINUTE, "requests_per_minute", MOST_PER_MINUTE),
        ("tool_calls_per_minute", 600, "tool_calls_per_minute", 600),
        ("store_state", False, "store_state", False),
        ("record", True, "record", True),
        ("record", "redacted", "record", "redacted"),
    ],
)
def test_a_key_of_the_section(key: str, value: object, field: str, expected: object) -> None:
    default = Tenant(requests_per_minute=5, tool_calls_per_minute=5)
    tenant = tenant_from({key: value}, "here", default)

    assert getattr(tenant, field) == expected
    others = [name for name in ("requests_per_minute", "tool_calls_per_minute") if name != field]
    assert all(getattr(tenant, name) == 5 for name in others)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("model", "x", "here.model: there is no such key; known here: .* Did you mean 'models'?"),
        ("name", "x", "here.name: there is no such key"),
        ("a` - at `$.models", "x", r"here.a` - at `\$.models: there is no such key"),
        ("requests_per_minute", 10**30, "here.requests_per_minute: write a whole number"),
        ("models", "openai/*", "here.models: write a list of texts"),
        ("models", [""], "here.models: write a list of texts, .* without an empty text"),
        ("models", [1], "here.models: write a list of texts, .* without 1"),
        ("doors", ["message"], "here.doors: .* Did you mean 'messages'?"),
        ("doors", ["kitchen"], "here.doors: 'kitchen' is not known; write one of: chat_completions"),
        ("requests_per_minute", 0, "here.requests_per_minute: write a whole number from 1 to 60000, not 0"),
        ("requests_per_minute", MOST_PER_MINUTE + 1, "here.requests_per_minute: write a whole number"),
        ("requests_per_minute", True, "here.requests_per_minute: write a whole number .*, not true"),
        ("tool_calls_per_minute", 1.5, "here.tool_calls_per_minute: write a whole number"),
        ("tool_calls_per_minute", "5", "here.tool_calls_per_minute: write a whole number from 1 to 60000, not a text"),
        ("store_state", "off", "here.store_state: write true or false, not a text"),
        ("record", "off", 'here.record: write true, false or "redacted", not a text'),
    ],
)
def test_what_is_wrong_is_said_with_its_key(key: str, value: object, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        tenant_from({key: value}, "here")


def load(**env: str) -> Settings:
    return load_settings(env)


def test_where_keys_and_rates_are() -> None:
    assert (load().keys_table, load().keys_file, load().rates_table) == (None, None, None)
    deployed = load(KEYS_TABLE="keys", RATES_TABLE="rates")
    assert (deployed.keys_table, deployed.rates_table) == ("keys", "rates")
    assert load(KEYS_FILE="keys.json").keys_file == "keys.json"
    assert load(KEYS_TABLE="", KEYS_FILE="", RATES_TABLE="") == load()
    with pytest.raises(SettingsError, match="set one of the two"):
        load(KEYS_TABLE="keys", KEYS_FILE="keys.json")


def test_sams_local_runs_have_no_tables() -> None:
    """SAM gives the names of the template's resources, which are tables of nobody's."""
    settings = load(KEYS_TABLE="KeysTable", RATES_TABLE="RatesTable", REQUIRE_KEY="1", AWS_SAM_LOCAL="true")
    assert (settings.keys_table, settings.rates_table, settings.require_key) == (None, None, False)


def test_where_the_credentials_of_known_hosts_are() -> None:
    """A variable first, then the deployed gateway's secrets; a host without a key needs none."""
    providers = load(SECRET_PREFIX="toolwire/", GOOGLE_API_KEY="k").providers
    assert {name: providers[name].credential for name in ("openai", "google", "ollama")} == {
        "openai": "secret:toolwire/openai",
        "google": "env:GOOGLE_API_KEY",
        "ollama": "none",
    }
    assert load().providers["openai"].credential == "env:OPENAI_API_KEY"
