"""Which models are reached by the Responses wire, and for whom."""

from __future__ import annotations

import pytest

from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers.hosts import HOSTS
from toolwire.providers.wire_choice import wire_for
from toolwire.shell.settings.configuration import load_settings


def target(model: str, profile: str | None = "openai", wire: str = "openai_chat") -> Target:
    return Target(ProviderConfig("host", wire, "https://h/v1", "env:KEY", profile), model)


NEEDED = [
    "gpt-5.4", "gpt-5.6", "gpt-5.6-mini", "gpt-5.4-2026-03-05", "gpt-5.10", "gpt-6", "gpt-5-codex", "gpt-5.1-codex-max",
    "codex-mini-latest", "o3-pro", "o1-pro-2025-03-19", "gpt-5-pro", "o4-mini-deep-research", "computer-use-preview",
]  # fmt: skip
NOT_NEEDED = ["gpt-4.1", "gpt-4o", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.2-chat-latest", "o3", "o4-mini"]


@pytest.mark.parametrize("model", NEEDED + NOT_NEEDED)
def test_models_that_need_it_get_it_from_every_door(model: str) -> None:
    found = wire_for(target(model), "openai_chat")
    assert (found.provider.wire == "openai_responses") == (model in NEEDED)
    assert (found.model, found.provider.base_url, found.provider.credential) == (model, "https://h/v1", "env:KEY")


@pytest.mark.parametrize("model", NEEDED + NOT_NEEDED)
def test_clients_of_the_api_keep_it(model: str) -> None:
    assert wire_for(target(model), "openai_responses").provider.wire == "openai_responses"


@pytest.mark.parametrize(
    "given",
    [target("gpt-5.6", None), target("gpt-5.6", "compatible"), target("gpt-5.6", "azure"),
     target("gpt-5.6", "openai", "openai_responses"), target("claude", None, "anthropic_messages")],
)  # fmt: skip
def test_other_providers_stay_as_they_are_configured(given: Target) -> None:
    assert wire_for(given, "openai_chat") is given
    assert wire_for(given, "openai_responses") is given


def test_a_wire_that_was_chosen_stays() -> None:
    for chosen in ({"OPENAI_BASE_URL": "http://proxy/v1"}, {"TOOLWIRE_CONFIG": "it"}):
        settings = load_settings(chosen, lambda _: '[providers.openai]\nwire = "openai_chat"\n')
        given = Target(settings.providers["openai"], "gpt-5.6")
        assert wire_for(given, "openai_responses") is given
    unchosen = Target(load_settings({}).providers["openai"], "gpt-5.6")
    assert wire_for(unchosen, "openai_responses").provider.wire == "openai_responses"


def test_openai_is_known_to_have_both() -> None:
    (openai,) = (host for host in HOSTS if host.name == "openai")
    config = ProviderConfig("openai", openai.wire, openai.base_url, "none", openai.profile)
    assert wire_for(Target(config, "gpt-5.6"), "anthropic_messages").provider.wire == "openai_responses"
