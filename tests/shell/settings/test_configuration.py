"""The configuration document and the environment."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.named_rows import each_row
from tests.shell.boto3_clients import use_boto3
from toolwire.model.limits import PRESET_2API, PRESET_AGENTS
from toolwire.model.settings import ProviderConfig, Retries, Settings, SettingsError
from toolwire.providers import WIRES
from toolwire.providers.hosts import HOSTS, Host
from toolwire.providers.profiles import PROFILES
from toolwire.shell.settings.configuration import load_settings, read_document

DOCS = Path(__file__).parents[3] / "docs" / "configuration.md"


def load(document: str = "", own: tuple[str, ...] = (), **env: str) -> Settings:
    """The settings from a document and an environment."""
    return load_settings({"TOOLWIRE_CONFIG": "toolwire.toml", **env}, read=lambda place: document, own=own)


def test_without_a_document_the_known_hosts_are_there() -> None:
    settings = load_settings({})

    assert settings.providers["openai"] == ProviderConfig(
        "openai", "openai_chat", "https://api.openai.com/v1", "env:OPENAI_API_KEY", "openai"
    )
    assert set(settings.providers) == {host.name for host in HOSTS}
    assert (settings.aliases, settings.tenant.limits) == ({}, PRESET_AGENTS)
    assert (settings.require_key, settings.key_sha256, settings.enable_demo) == (False, None, True)


@each_row("host", HOSTS, ids=lambda host: host.name)
def test_every_host_can_be_configured_as_it_stands(host: Host) -> None:
    base_url = host.base_url.replace("{region}", "us-east-1")
    section = f'[providers.{host.name}]\nwire = "{host.wire}"\nbase_url = "{base_url}"\n'
    if host.profile:
        section += f'profile = "{host.profile}"\n'

    named = replace(load_settings({}).providers[host.name], wire_is_chosen=True)
    assert load(section).providers[host.name] == named
    assert host.profile is None or host.profile in PROFILES


@each_row("host", HOSTS, ids=lambda host: host.name)
def test_the_docs_list_every_host(host: Host) -> None:
    """docs/configuration.md has this very row for it."""
    variables = " or ".join(f"`{name}`" for name in host.credentials) or "none"
    override = f"`{host.base_url_variable}`" if host.base_url_variable else ""
    cells = [f"`{host.name}`", variables, f"`{host.base_url}`", override]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in DOCS.read_text().splitlines()]

    assert cells in rows


def test_the_ecosystems_variables_are_read() -> None:
    settings = load_settings(
        {"OPENAI_BASE_URL": "https://proxy.example/openai/v1/", "GOOGLE_API_KEY": "k", "OPENAI_API_KEY": "sk-123"}
    )

    assert settings.providers["openai"].base_url == "https://proxy.example/openai/v1"
    assert settings.providers["google"].credential == "env:GOOGLE_API_KEY"
    assert "sk-123" not in repr(settings)


@pytest.mark.parametrize(
    ("document", "env", "base_url", "credential", "region"),
    [
        ("", {}, "us-east-1", "aws", None),
        ("", {"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-3"}, "eu-west-1", "aws", None),
        ("", {"AWS_DEFAULT_REGION": "eu-west-3", "SECRET_PREFIX": "toolwire/"}, "eu-west-3", "aws", None),
        ("", {"AWS_BEARER_TOKEN_BEDROCK": "k"}, "us-east-1", "env:AWS_BEARER_TOKEN_BEDROCK", None),
        ('region = "us-gov-west-1"\ncredential = "aws:work"', {}, "us-gov-west-1", "aws:work", "us-gov-west-1"),
    ],
)
def test_hosts_of_aws_are_in_a_region(
    document: str, env: Any, base_url: str, credential: str, region: str | None
) -> None:
    provider = load("[providers.bedrock]\n" + document, **env).providers["bedrock"]
    expected = (f"https://bedrock-runtime.{base_url}.amazonaws.com", credential, region)
    assert (provider.base_url, provider.credential, provider.region) == expected


def test_a_region_is_one_of_aws() -> None:
    with pytest.raises(SettingsError, match=r"providers.bedrock.region: write an AWS region, such as eu-west-1"):
        load('[providers.bedrock]\nregion = "Europe"')


def test_a_section_changes_only_what_it_names() -> None:
    provider = load('[providers.openai]\ncredential = "secret:toolwire/openai"', OPENAI_BASE_URL="https://p.example/v1")

    assert provider.providers["openai"] == ProviderConfig(
        "openai", "openai_chat", "https://p.example/v1", "secret:toolwire/openai", "openai"
    )
    assert "mistral" in provider.providers


def test_the_wires_are_those_of_the_registry() -> None:
    for wire in WIRES:
        assert load(f'[providers.acme]\nwire = "{wire}"\nbase_url = "https://a.example"').providers["acme"].wire == wire
    assert {host.wire for host in HOSTS} <= WIRES.keys()


def test_a_profile_does_not_outlive_its_wire() -> None:
    settings = load('[providers.openai]\nwire = "openai_responses"')

    assert (settings.providers["openai"].wire, settings.providers["openai"].profile) == ("openai_responses", None)


def test_a_new_provider_needs_wire_and_base_url() -> None:
    settings = load('[providers."acme.eu-1"]\nwire = "openai_chat"\nbase_url = "http://10.0.0.5:8000/v1/"')

    assert settings.providers["acme.eu-1"] == ProviderConfig(
        "acme.eu-1", "openai_chat", "http://10.0.0.5:8000/v1", wire_is_chosen=True
    )


def test_aliases_and_tenant() -> None:
    settings = load(
        '[aliases]\n"claude-gpt" = "openai/gpt"\n"claude-*" = "anthropic/claude-*"\n[tenants.default]\npreset = "2api"'
    )

    assert settings.aliases == {"claude-gpt": "openai/gpt", "claude-*": "anthropic/claude-*"}
    assert settings.tenant.limits == PRESET_2API


def test_a_provider_has_several_endpoints() -> None:
    settings = load(
        """
        [retries]
        attempts = 4
        [fallbacks]
        "openai/gpt" = ["anthropic/claude"]
        "openai/o" = { models = ["anthropic/claude"] }
        "openai/best" = { models = ["anthropic/claude"], order = "quality" }
        [providers.openai]
        base_url = "https://eu.example/v1"
        [[providers.openai.endpoints]]
        credential = "env:ONE"
        weight = 3
        [[providers.openai.endpoints]]
        credential = "env:OTHER"
        base_url = "https://us.example/v1"
        """
    )

    first, other = settings.endpoints["openai"]
    assert settings.providers["openai"] == first
    assert (first.base_url, first.credential, first.weight) == ("https://eu.example/v1", "env:ONE", 3)
    assert (other.base_url, other.credential, other.weight) == ("https://us.example/v1", "env:OTHER", 1)
    assert first.profile == other.profile == "openai"
    assert settings.retries == Retries(4)
    assert settings.fallbacks == dict.fromkeys(("openai/gpt", "openai/o", "openai/best"), ("anthropic/claude",))
    assert settings.by_quality == {"openai/best"}


ACME = '[providers.acme]\nwire = "openai_chat"\nbase_url = "https://acme.example/v1"\n'


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("[providers", "toolwire.toml: this is not TOML"),
        (
            "[provider.openai]",
            "provider: there is no such key; known here: providers, .*, fallbacks. Did you mean 'providers'?",
        ),
        ("providers = 3", r"providers: write a section \[providers\], not 3\."),
        ("[providers]\nopenai = 3", r"providers.openai: write a section \[providers.openai\], not 3\."),
        (
            '[providers.openai]\nbase-url = "x"',
            "providers.openai.base-url: there is no such key; .* Did you mean 'base_url'?",
        ),
        ("[providers.openai]\nbase_url = 5", "providers.openai.base_url: write a text in quotes, not 5\\."),
        ('[providers.openai]\nbase_url = ""', "providers.openai.base_url: write a text in quotes, not an empty text"),
        ('[providers.openai]\ncredential = ["sk-hush"]', "providers.openai.credential: write a text .*, not a list"),
        ("[providers.openai]\nwire = 2026-01-01", "providers.openai.wire: write a text in quotes, not a date or time"),
        ('[tenants]\ndefault = "hush"', r"tenants.default: write a section \[tenants.default\], not a text"),
        (
            '[providers.openai]\nwire = "smoke_signals"',
            f"providers.openai.wire: 'smoke_signals' is not known; write one of: {', '.join(WIRES)}.",
        ),
        (
            '[providers.openai]\nwire = "chat"',
            "providers.openai.wire: 'chat' is not known; write one of: openai_chat",
        ),
        ('[providers.openai]\nprofile = "none"', "providers.openai.profile: 'none' is not known; write one of"),
        ('[providers.acme]\nwire = "openai_chat"', "providers.acme.base_url: is missing"),
        ('[providers.acme]\nbase_url = "https://a.example"', "providers.acme.wire: is missing"),
        ('[providers.demo]\nwire = "openai_chat"', "providers.demo: this name is the built-in demo"),
        ('[providers."a/b"]\nwire = "openai_chat"', "providers.a/b: a provider's name"),
        (ACME.replace("https", "ftp"), "providers.acme.base_url: write an http or https URL"),
        (ACME.replace("https://acme.example", "acme.example"), "providers.acme.base_url: write an http or https URL"),
        (ACME.replace("acme.example", "acme.example:port"), "providers.acme.base_url: write an http or https URL"),
        (ACME.replace("acme.example", "me:hush@acme.example"), "providers.acme.base_url: a URL with a user"),
        (ACME.replace("/v1", "/v1?api-version=1"), "providers.acme.base_url: leave out"),
        (ACME.replace("/v1", "/v1/chat/completions"), "providers.acme.base_url: leave /chat/completions out"),
        (ACME.replace("/v1", "/v1/messages/"), "providers.acme.base_url: leave /v1/messages out"),
        (
            ACME + 'api_key = "sk-hush"',
            'providers.acme.api_key: put the key into a variable, .* credential = "env:NAME"',
        ),
        (ACME + "[providers.acme.models]\nx = 3", "providers.acme.models: write a text in quotes for each name"),
        (ACME + "models = 3", r"providers.acme.models: write a section \[providers.acme.models\]"),
        (ACME + 'credential = "sk-hush"', 'providers.acme.credential: write "env:NAME"'),
        (ACME + 'credential = "env:"', 'providers.acme.credential: write "env:NAME"'),
        ('[aliases]\nfast = "nowhere"', 'aliases."fast": leads nowhere'),
        ('[aliases]\nfast = "acme/m"', "asks for provider 'acme', which is not configured"),
        ('[aliases]\na = "b"\nb = "a"', 'aliases."a": leads nowhere'),
        ('[aliases]\n"x/y" = "openai/m"', 'aliases."x/y": an alias is a bare name'),
        ('[aliases]\n"*-*" = "openai/m"', "a pattern has one"),
        ('[aliases]\nfast = "openai/*"', "a pattern has one"),
        ("[aliases]\nfast = 1", 'aliases."fast": write a text in quotes, not 1'),
        ("[retries]\nattempts = 0", "retries.attempts: write a whole number from 1 to 10, not 0"),
        ("[retries]\ntimes = 2", "retries.times: there is no such key; known here: attempts, seconds"),
        ('[fallbacks]\n"openai/m" = "anthropic/m"', 'fallbacks."openai/m": write a list of models'),
        ('[fallbacks]\n"openai/m" = { order = "quality" }', 'fallbacks."openai/m".models: write a list of models'),
        ('[fallbacks]\n"openai/m" = { models = 1 }', 'fallbacks."openai/m".models: write a list of models'),
        ('[fallbacks]\n"openai/m" = { models = [], order = "price" }', "\"openai/m\".order: 'price' is not known"),
        ('[fallbacks]\n"openai/m" = ["acme/m"]', "fallbacks.\"openai/m\": 'acme/m' leads nowhere"),
        ('[fallbacks]\nfast = ["openai/m"]', "fallbacks.\"fast\": 'fast' leads nowhere"),
        ('[tenants.default]\nfallback = ["fast"]', "tenants.default.fallback: 'fast' leads nowhere"),
        ("[providers.openai]\nendpoints = 2", r"providers.openai.endpoints: write a section \[\[providers.openai"),
        ("[[providers.openai.endpoints]]\nwieght = 2", r"endpoints\[0\].wieght: there is no such key; .*'weight'"),
        ('[[providers.openai.endpoints]]\ncredential = "sk-hush"', r"openai.endpoints\[0\].credential: write "),
        ("[tenants.other]", "tenants.other: there is no such key; known here: default"),
        ("[tenants.default]\nrates = 1", "tenants.default.rates: there is no such key; known here: preset"),
        ('[tenants.default]\npreset = "x"', "tenants.default.preset: 'x' is not known; write one of: 2api, agents"),
    ],
)
def test_what_is_wrong_is_named(document: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        load(document)

    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"KEY_SHA256": "my-key"}, "KEY_SHA256: write the SHA-256"),
        ({"REQUIRE_KEY": "maybe"}, "REQUIRE_KEY: write 1 or 0"),
        ({"LOG_LEVEL": "chatty"}, "LOG_LEVEL: write DEBUG, INFO"),
        ({"CORS_ORIGIN": "https://app.example/"}, "CORS_ORIGIN: write one origin as browsers send it"),
        ({"CORS_ORIGIN": "localhost:3000"}, "CORS_ORIGIN: write one origin as browsers send it"),
        ({"CORS_ORIGIN": "https://a.example, https://b.example"}, "CORS_ORIGIN: write one origin"),
        ({"OPENAI_BASE_URL": "api.openai.com"}, "OPENAI_BASE_URL: write an http or https URL"),
    ],
)
def test_a_wrong_variable_is_named(env: dict[str, str], says: str) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        load_settings(env)

    assert "my-key" not in str(caught.value)


@pytest.mark.parametrize(
    ("env", "required"),
    [
        ({}, False),
        ({"REQUIRE_KEY": "0"}, False),
        ({"REQUIRE_KEY": "1"}, True),
        ({"REQUIRE_KEY": "1", "AWS_SAM_LOCAL": "true"}, False),
    ],
)
def test_when_a_key_is_required(env: dict[str, str], required: bool) -> None:
    assert load_settings(env).require_key is required


def test_key_and_demo_come_from_the_environment() -> None:
    settings = load_settings({"KEY_SHA256": "AB" * 32, "ENABLE_DEMO": "0"})

    assert (settings.key_sha256, settings.enable_demo) == ("ab" * 32, False)


@pytest.mark.parametrize(
    "base_url",
    ["http://127.0.0.1:8080/v1", "http://localhost:8080", "http://[::1]:8080/v1", "https://llm.example/v1/inner"],
)
def test_the_gateways_own_address_is_refused(base_url: str) -> None:
    own = ("http://0.0.0.0:8080", "https://llm.example/v1")

    with pytest.raises(SettingsError, match=r"providers\.acme\.base_url: .* own address"):
        load(f'[providers.acme]\nwire = "openai_chat"\nbase_url = "{base_url}"', own=own)
    with pytest.raises(SettingsError, match=r"OPENAI_BASE_URL: .* own address"):
        load_settings({"OPENAI_BASE_URL": base_url}, own=own)


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8081/v1", "https://llm.example/v10", "http://llm.example/v1"])
def test_another_address_is_not(base_url: str) -> None:
    own = ("http://127.0.0.1:8080", "https://llm.example/v1")

    settings = load(f'[providers.acme]\nwire = "openai_chat"\nbase_url = "{base_url}"', own=own)

    assert settings.providers["acme"].base_url == base_url


def test_a_default_that_is_our_own_address_is_no_provider() -> None:
    assert "llamacpp" in load_settings({}).providers
    assert "llamacpp" not in load_settings({}, own=("http://127.0.0.1:8080",)).providers


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_document_is_read_from_a_file(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "toolwire.toml"
    path.write_text('[tenants.default]\npreset = "2api"\n', encoding=encoding)

    assert load_settings({"TOOLWIRE_CONFIG": str(path)}).tenant.limits == PRESET_2API


def test_a_document_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=re.escape("absent.toml' cannot be read: No such file")):
        read_document(str(tmp_path / "absent.toml"))


@pytest.mark.integration
@pytest.mark.usefixtures("fresh_clients")
def test_a_document_is_read_from_the_parameter_store(monkeypatch: pytest.MonkeyPatch) -> None:
    import moto  # 0.5 s, which the other tests here do without

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with moto.mock_aws():
        use_boto3("ssm").put_parameter(Name="/toolwire/config", Value=ACME, Type="String")
        assert "acme" in load_settings({"TOOLWIRE_CONFIG": "ssm:/toolwire/config"}).providers
        with pytest.raises(SettingsError, match="there is no SSM parameter '/absent'"):
            load_settings({"TOOLWIRE_CONFIG": "ssm:/absent"})


@pytest.mark.parametrize(("text", "days"), [(None, 30), ("", 30), ("1", 1), (" 90 ", 90), ("365", 365)])
def test_state_ttl_days(text: str | None, days: int) -> None:
    assert load_settings({} if text is None else {"STATE_TTL_DAYS": text}).state_ttl_days == days


@pytest.mark.parametrize("text", ["0", "366", "-1", "1.5", "thirty", "\u0663"])
def test_state_ttl_days_out_of_bounds(text: str) -> None:
    with pytest.raises(SettingsError, match="STATE_TTL_DAYS: write a whole number of days from 1 to 365"):
        load_settings({"STATE_TTL_DAYS": text})


def test_a_tenant_may_keep_no_state() -> None:
    assert load("").tenant.store_state is True
    assert load("[tenants.default]\nstore_state = false").tenant.store_state is False
    with pytest.raises(SettingsError, match=r"tenants\.default\.store_state: write true or false"):
        load('[tenants.default]\nstore_state = "off"')
