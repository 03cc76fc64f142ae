"""Which models are reached by the Responses wire, and for whom."""

from __future__ import annotations

import json

import pytest

from tests.named_rows import each_row
from toolwire.doors import load_door
from toolwire.model.http import HttpRequest
from toolwire.model.request import ChatRequest, Message, TextPart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers import load_provider, profile_of
from toolwire.providers.hosts import HOSTS, AwsScope, aws_scope
from toolwire.providers.wire_choice import wire_for
from toolwire.shell.settings.configuration import load_settings


def target(model: str, profile: str | None = "openai", wire: str = "openai_chat") -> Target:
    return Target(ProviderConfig("host", wire, "https://h/v1", "env:KEY", profile), model)


_ASKED = ChatRequest("m", (Message("user", (TextPart("hi"),)),))

NEEDED = [
    "gpt-5.4", "gpt-5.6", "gpt-5.6-mini", "gpt-5.4-2026-03-05", "gpt-5.10", "gpt-6", "gpt-5-codex", "gpt-5.1-codex-max",
    "codex-mini-latest", "o3-pro", "o1-pro-2025-03-19", "gpt-5-pro", "gpt-5.2-pro", "o4-mini-deep-research",
    "computer-use-preview",
]  # fmt: skip
NOT_NEEDED = ["gpt-4.1", "gpt-4o", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.2-chat-latest", "o3", "o4-mini"]


@each_row("model", NEEDED + NOT_NEEDED)
def test_models_that_need_it_get_it_from_every_door(model: str) -> None:
    found = wire_for(target(model), "openai_chat")
    assert (found.provider.wire == "openai_responses") == (model in NEEDED)
    assert (found.model, found.provider.base_url, found.provider.credential) == (model, "https://h/v1", "env:KEY")


@each_row("model", NEEDED + NOT_NEEDED)
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


BY_RESPONSES = ["openai.gpt-5.4", "openai.gpt-5.6-terra", "us.openai.gpt-6-sol"]
BY_CHAT = ["openai.gpt-oss-120b-1:0", "openai.gpt-oss-20b-1:0", "deepseek.v3.2", "qwen.qwen3-coder-next"]


@each_row("dialect", ["openai_chat", "openai_responses", "anthropic_messages"])
@each_row("model", BY_RESPONSES + BY_CHAT)
def test_bedrock_has_the_responses_api_for_models_that_need_it(model: str, dialect: str) -> None:
    found = wire_for(Target(load_settings({}).providers["bedrock-openai"], model), dialect)
    assert found.provider.wire == ("openai_responses" if model in BY_RESPONSES else "openai_chat")
    assert aws_scope(found.provider) == AwsScope("bedrock", "us-east-1")
    built, _ = load_provider(found.provider.wire).build_request(_ASKED, found, profile_of(found), None)
    name = "responses" if model in BY_RESPONSES else "chat/completions"
    assert built.url == f"https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/{name}"


CLAUDES = ["us.anthropic.claude-sonnet-5-v1:0", "anthropic.claude-3-haiku-20240307-v1:0",
           "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-v1:0"]  # fmt: skip
OTHERS = ["us.amazon.nova-lite-v1:0", "openai.gpt-oss-120b-1:0",
          "arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc"]  # fmt: skip


@each_row("env", [{}, {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "https://vpce-1.example"}], ids=["aws", "vpc"])
@each_row("model", CLAUDES + OTHERS)
def test_claude_at_bedrock_is_reached_by_its_own_api_for_its_own_clients(model: str, env: dict[str, str]) -> None:
    given = Target(load_settings(env).providers["bedrock"], model)
    assert wire_for(given, "openai_chat") is given
    wire = "bedrock_messages" if model in CLAUDES else "bedrock_converse"
    assert wire_for(given, "anthropic_messages").provider.wire == wire
    document = '[providers.bedrock]\nwire = "bedrock_converse"\n'
    chosen = Target(load_settings({"TOOLWIRE_CONFIG": "it"}, lambda _: document).providers["bedrock"], model)
    assert wire_for(chosen, "anthropic_messages") is chosen


ARN = "arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc"


@pytest.mark.parametrize(
    ("section", "model", "known_as", "wires"),
    [
        ("bedrock", ARN, "anthropic.claude-sonnet-5", ("bedrock_converse", "bedrock_messages")),
        ("bedrock", ARN, "us.meta.llama3-3-70b-instruct-v1:0", ("bedrock_converse", "bedrock_converse")),
        ("openai", "my-deployment", "gpt-5.6", ("openai_responses", "openai_responses")),
    ],
)
def test_a_name_that_tells_nothing_may_stand_for_one_that_does(
    section: str, model: str, known_as: str, wires: tuple[str, str]
) -> None:
    document = f'[providers.{section}.models]\n"{model}" = "{known_as}"\n'
    given = Target(load_settings({"TOOLWIRE_CONFIG": "it"}, lambda _: document).providers[section], model)
    found = [wire_for(given, dialect) for dialect in ("openai_chat", "anthropic_messages")]
    assert [target.provider.wire for target in found] == list(wires)
    assert {(target.model, target.known_as) for target in found} == {(model, known_as)}


def test_its_family_is_that_of_the_name_that_tells() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True, "max_tokens": 2000}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    request = load_door("chat_completions").parse_request(
        HttpRequest("POST", "/", {}, json.dumps(body | {"tools": [tool]}).encode())
    )
    for known_as, verb in (
        ("meta.llama3-3-70b-instruct-v1:0", "/converse"),
        ("amazon.nova-pro-v1:0", "/converse-stream"),
    ):
        config = ProviderConfig("bedrock", "bedrock_converse", "https://b.example", models=((ARN, known_as),))
        target = Target(config, ARN)
        built, _ = load_provider("bedrock_converse").build_request(request, target, profile_of(target), None)
        assert built.url.endswith(verb)
        assert "application-inference-profile%2Fabc/" in built.url
