"""The start banner: what is there, what is missing, and no secret."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from local.banner import banner, main
from local.moto_store import moto_store
from toolwire.model.settings import ProviderConfig, Settings
from toolwire.providers.hosts import DEMO_MODELS, HOSTS
from toolwire.shell.store.current import open_store
from toolwire.shell.store.store import Store

PROVIDERS = {
    name: ProviderConfig(name, "openai_chat", f"https://{name}.example/v1", credential)
    for name, credential in {
        "openai": "env:OPENAI_API_KEY",
        "groq": "env:GROQ_API_KEY",
        "ollama": "none",
        "vault": "secret:toolwire/x",
    }.items()
}
OTHER_WIRE = ProviderConfig("google", "gemini", "https://google.example/v1beta", "env:GEMINI_API_KEY")
ENV = {"OPENAI_API_KEY": "sk-secret", "GROQ_API_KEY": " "}


def rows(settings: Settings) -> dict[str, str]:
    text = banner("http://127.0.0.1:8080", settings, ["openai_chat"], ENV, "memory")
    assert text.startswith("toolwire listens at http://127.0.0.1:8080/v1\n")
    assert "secret" not in text
    found: dict[str, str] = {}
    for line in text.partition("Try it:")[0].splitlines()[1:]:
        if line.endswith("make providers") or line == "Ctrl-C stops it.":
            found["others"] = line.split()[0]
            continue
        label = line[2:17].strip()
        if label:
            found[label] = line[17:].strip()
        else:  # a row that goes on
            found[list(found)[-1]] += " " + line[17:].strip()
    return found


def test_providers_by_what_they_need() -> None:
    assert rows(Settings({**PROVIDERS, "google": OTHER_WIRE})) == {
        "demo models": ", ".join(f"demo/{name}" for name in DEMO_MODELS),
        "with key": "openai, vault",
        "need no key": "ollama",
        "others": "1",
        "clients": "need no key",
        "conversations": "kept in memory until it stops",
    }


def test_a_missing_key_is_told_where_the_configuration_speaks_of_its_provider() -> None:
    mine = ProviderConfig("mine", "openai_chat", "https://mine.example", "env:MINE")
    shown = rows(Settings({**PROVIDERS, "mine": mine}, aliases={"fast": "groq/llama", "own": "mine/m"}))

    assert shown["key missing"] == "groq (GROQ_API_KEY), mine (MINE)"
    assert shown["aliases"] == "fast → groq/llama, own → mine/m"
    assert "others" not in shown


@pytest.mark.parametrize("settings", [Settings({}), Settings({}, require_key=True), Settings({}, enable_demo=False)])
def test_the_command_to_try_can_be_copied(settings: Settings) -> None:
    text = banner("http://127.0.0.1:9", settings, [], {}, "memory")
    _, found, command = text.partition("Try it:\n")
    if not settings.enable_demo:
        assert not found
        return
    words = shlex.split(command.removesuffix("Ctrl-C stops it."))

    assert words[:3] == ["curl", "-N", "http://127.0.0.1:9/v1/chat/completions"]
    assert json.loads(words[-1])["model"] == "demo/openai"
    assert ("authorization: Bearer KEY" in words) == settings.require_key


@pytest.mark.parametrize(
    ("url", "here", "open_to_others"),
    [
        ("http://127.0.0.1:80", "http://127.0.0.1:80", False),
        ("http://[::1]:80", "http://[::1]:80", False),
        ("http://0.0.0.0:80", "http://127.0.0.1:80", True),
        ("http://[::]:80", "http://[::1]:80", True),
        ("http://10.0.0.5:80", "http://10.0.0.5:80", True),
    ],
)
def test_an_address_that_others_reach_is_told(url: str, here: str, open_to_others: bool) -> None:
    text = banner(url, Settings({}), [], {}, "memory")

    assert f"curl -N {here}/v1/chat/completions" in text
    assert ("whoever reaches this address may use it (make key TENANT=me)" in text) == open_to_others
    assert "whoever" not in banner(url, Settings({}, require_key=True), [], {}, "memory")


def test_make_providers_shows_every_provider_and_no_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("TOOLWIRE_CONFIG", raising=False)

    assert main() == 0
    table = capsys.readouterr().out
    lines = {line.split()[0]: line for line in table.splitlines()}
    assert "OPENAI_API_KEY  " in lines["openai"]
    assert "GROQ_API_KEY (missing)" in lines["groq"]
    assert "none needed" in lines["ollama"]
    assert lines.keys() - {"provider"} == {host.name for host in HOSTS}
    assert "sk-secret" not in table


def test_make_providers_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TOOLWIRE_CONFIG", "/nowhere.toml")

    assert main() == 1
    assert "/nowhere.toml" in capsys.readouterr().err


def test_switches_are_shown() -> None:
    shown = rows(Settings({}, require_key=True, enable_demo=False))

    assert shown["demo models"] == "switched off"
    assert shown["clients"] == "must show a key: there is none, so all are refused (KEY_SHA256)"
    for keys in (Settings({}, key_sha256="ab" * 32), Settings({}, keys_table="t"), Settings({}, keys_file="k")):
        assert rows(keys)["clients"] == "must show a key"


@pytest.mark.parametrize("store", [open_store({}), moto_store({}), open_store({"STORE_TABLE": "calls"})])
def test_every_store_has_its_words(store: Store) -> None:
    text = banner("http://x", Settings({}), [], {}, store.name)

    assert re.search(r"^  conversations +kept in ", text, re.MULTILINE)


def test_long_rows_are_broken_between_names() -> None:
    names = [f"some-host-{number}" for number in range(30)]
    many = {name: ProviderConfig(name, "openai_chat", "https://x.example", f"env:{name}") for name in names}
    lines = banner("http://x", Settings(many), ["openai_chat"], {}, "dynamodb").splitlines()

    rows = lines[: lines.index("Try it:")]

    assert max(map(len, rows)) <= 100
    assert all(any(f"{name} ({name})" in line for line in lines) for name in names)


def test_hosts_that_are_signed_for_need_aws_credentials() -> None:
    cloud = ProviderConfig("cloud", "openai_chat", "https://bedrock-runtime.eu-west-1.amazonaws.com", "aws")
    settings = Settings({"cloud": cloud})
    without = banner("http://h", settings, ["openai_chat"], {}, "memory")
    assert "key missing     cloud (AWS credentials)" in without
    assert "with key        cloud" in banner("http://h", settings, ["openai_chat"], {"AWS_PROFILE": "work"}, "memory")


def test_clouds_that_mint_tokens_need_what_they_are_minted_from() -> None:
    def provider(name: str, credential: str) -> ProviderConfig:
        return ProviderConfig(name, "gemini", "https://aiplatform.googleapis.com/v1", credential)

    named = [("here", "google"), ("there", "google:env:DOCUMENT"), ("stored", "entra:secret:azure")]
    settings = Settings({name: provider(name, credential) for name, credential in named})
    text = banner("http://h", settings, ["gemini"], {}, "memory")
    assert "with key        here, stored" in text
    assert "key missing     there (env:DOCUMENT)" in text
