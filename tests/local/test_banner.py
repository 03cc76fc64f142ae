"""The start banner: what is there, what is missing, and no secret."""

from __future__ import annotations

import re

import pytest

from local.banner import banner
from local.moto_store import moto_store
from toolwire.model.settings import ProviderConfig, Settings
from toolwire.providers.hosts import DEMO_MODELS
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
    for line in text.splitlines()[1:-1]:
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
        "key missing": "groq (GROQ_API_KEY)",
        "clients": "need no key",
        "conversations": "kept in memory until it stops",
    }


def test_switches_are_shown() -> None:
    shown = rows(Settings({}, require_key=True, enable_demo=False))

    assert shown["demo models"] == "switched off"
    assert shown["clients"] == "must show a key"


@pytest.mark.parametrize("store", [open_store({}), moto_store({}), open_store({"STORE_TABLE": "calls"})])
def test_every_store_has_its_words(store: Store) -> None:
    text = banner("http://x", Settings({}), [], {}, store.name)

    assert re.search(r"^  conversations +kept in ", text, re.MULTILINE)


def test_long_rows_are_broken_between_names() -> None:
    names = [f"some-host-{number}" for number in range(30)]
    many = {name: ProviderConfig(name, "openai_chat", "https://x.example", f"env:{name}") for name in names}
    lines = banner("http://x", Settings(many), ["openai_chat"], {}, "dynamodb").splitlines()

    assert max(map(len, lines)) <= 100
    assert all(any(f"{name} ({name})" in line for line in lines) for name in names)


def test_hosts_that_are_signed_for_need_aws_credentials() -> None:
    cloud = ProviderConfig("cloud", "openai_chat", "https://bedrock-runtime.eu-west-1.amazonaws.com", "aws")
    settings = Settings({"cloud": cloud})
    without = banner("http://h", settings, ["openai_chat"], {}, "memory")
    assert "key missing     cloud (AWS credentials)" in without
    assert "with key        cloud" in banner("http://h", settings, ["openai_chat"], {"AWS_PROFILE": "work"}, "memory")
