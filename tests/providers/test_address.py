"""Where requests go and by which header their credential goes, for every way in which clouds and hosts are configured:
a section of the document to the request that is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.named_rows import each_row
from toolwire.doors import load_door
from toolwire.model.http import HttpRequest, UpstreamRequest
from toolwire.model.settings import SettingsError, Target
from toolwire.providers import load_provider, profile_of
from toolwire.providers.wire_choice import wire_for
from toolwire.shell.settings.configuration import load_settings

VERTEX = "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers"
AZURE, FOUNDRY = "https://res.openai.azure.com", "https://res.services.ai.azure.com"
BEARER = ("authorization", "Bearer K")

#: (what it is, section, model, whether it is streamed, URL, the header of the credential)
ROWS = [
    ("Azure OpenAI, v1", {"wire": "openai_chat", "base_url": f"{AZURE}/openai/v1", "profile": "azure"},
     "gpt-5.2", False, f"{AZURE}/openai/v1/chat/completions", ("api-key", "K")),
    ("Azure OpenAI, v1, Responses", {"wire": "openai_responses", "base_url": f"{AZURE}/openai/v1", "profile": "azure"},
     "gpt-5.2", True, f"{AZURE}/openai/v1/responses", ("api-key", "K")),
    ("Azure OpenAI, v1, Entra", {"wire": "openai_chat", "base_url": f"{AZURE}/openai/v1", "credential": "entra"},
     "gpt-5.2", False, f"{AZURE}/openai/v1/chat/completions", BEARER),
    ("Azure OpenAI, dated",
     {"wire": "openai_chat", "base_url": AZURE + "/openai/deployments/{model}", "api_version": "2024-10-21"},
     "my dep/loyment", True,
     f"{AZURE}/openai/deployments/my%20dep%2Floyment/chat/completions?api-version=2024-10-21", ("api-key", "K")),
    ("Azure OpenAI, dated, Responses",
     {"wire": "openai_responses", "base_url": AZURE + "/openai", "api_version": "2025-04-01-preview"},
     "gpt-5.2", False, f"{AZURE}/openai/responses?api-version=2025-04-01-preview", ("api-key", "K")),
    ("Azure OpenAI in China",
     {"wire": "openai_chat", "base_url": "https://res.openai.azure.cn/openai/v1", "key_header": "api-key"},
     "m", False, "https://res.openai.azure.cn/openai/v1/chat/completions", ("api-key", "K")),
    ("API Management",
     {"wire": "openai_chat", "base_url": "https://apim.example/openai/v1", "key_header": "ocp-apim-subscription-key"},
     "m", False, "https://apim.example/openai/v1/chat/completions", ("ocp-apim-subscription-key", "K")),
    ("Foundry, models of others", {"wire": "openai_chat", "base_url": f"{FOUNDRY}/openai/v1"},
     "DeepSeek-V3.2", False, f"{FOUNDRY}/openai/v1/chat/completions", ("api-key", "K")),
    ("Foundry, Claude", {"wire": "anthropic_messages", "base_url": f"{FOUNDRY}/anthropic"},
     "claude-sonnet-5", True, f"{FOUNDRY}/anthropic/v1/messages", ("x-api-key", "K")),
    ("Foundry, Claude, Entra",
     {"wire": "anthropic_messages", "base_url": f"{FOUNDRY}/anthropic", "credential": "entra:secret:foundry"},
     "claude-sonnet-5", True, f"{FOUNDRY}/anthropic/v1/messages", BEARER),
    ("Vertex AI, Gemini", {"wire": "gemini", "base_url": f"{VERTEX}/google", "credential": "google"},
     "gemini-3-pro", True, f"{VERTEX}/google/models/gemini-3-pro:streamGenerateContent?alt=sse", BEARER),
    ("Vertex AI, Gemini, a token of one's own", {"wire": "gemini", "base_url": f"{VERTEX}/google"},
     "gemini-3-pro", False, f"{VERTEX}/google/models/gemini-3-pro:generateContent", BEARER),
    ("Vertex AI, Claude",
     {"wire": "anthropic_messages", "base_url": f"{VERTEX}/anthropic", "credential": "google:secret:vertex"},
     "claude-sonnet-4-5@20250929", True,
     f"{VERTEX}/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict", BEARER),
    ("Vertex AI, Claude, whole",
     {"wire": "anthropic_messages", "base_url": f"{VERTEX}/anthropic", "credential": "google"},
     "claude-sonnet-5", False, f"{VERTEX}/anthropic/models/claude-sonnet-5:rawPredict", BEARER),
    ("Vertex AI behind an address of one's own",
     {"wire": "gemini", "base_url": "http://127.0.0.1:9/v1/projects/p/publishers/google", "credential": "google"},
     "gemini-3-pro", False,
     "http://127.0.0.1:9/v1/projects/p/publishers/google/models/gemini-3-pro:generateContent", BEARER),
    ("Vertex AI, models of others",
     {"wire": "openai_chat", "credential": "google",
      "base_url": "https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi"},
     "meta/llama-4", False,
     "https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi/chat/completions", BEARER),
    ("the Gemini API", {"wire": "gemini", "base_url": "https://generativelanguage.googleapis.com/v1beta"},
     "gemini-3-pro", False,
     "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent", ("x-goog-api-key", "K")),
    ("Anthropic", {"wire": "anthropic_messages", "base_url": "https://api.anthropic.com"},
     "claude-sonnet-5", False, "https://api.anthropic.com/v1/messages", ("x-api-key", "K")),
    ("a proxy that takes bearer tokens",
     {"wire": "anthropic_messages", "base_url": "https://proxy.example", "key_header": "authorization"},
     "claude-sonnet-5", False, "https://proxy.example/v1/messages", BEARER),
    ("Bedrock with a key of its own", {"wire": "bedrock_converse", "base_url": "https://bedrock-runtime.eu-west-1.amazonaws.com"},
     "m:0", True, "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m%3A0/converse-stream", BEARER),
]  # fmt: skip


def toml(section: dict[str, str]) -> str:
    return "[providers.it]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in section.items())


def configured(section: dict[str, str], model: str) -> Target:
    document = toml({"credential": "env:K"} | section)
    return Target(load_settings({"TOOLWIRE_CONFIG": "it"}, lambda _: document).providers["it"], model)


def built(
    target: Target, *, stream: bool, door: str = "messages", headers: dict[str, str] | None = None
) -> UpstreamRequest:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "stream": stream}
    request = load_door(door).parse_request(HttpRequest("POST", "/", headers or {}, json.dumps(body).encode()))
    provider = load_provider(target.provider.wire)
    return provider.build_request(request, wire_for(target, "x"), profile_of(target), "K")[0]


@each_row("door", ["chat_completions", "messages"])
@each_row(("about", "section", "model", "stream", "url", "key"), ROWS, ids=[row[0] for row in ROWS])
def test_a_section_says_where_requests_go(
    about: str, section: dict[str, str], model: str, stream: bool, url: str, key: tuple[str, str], door: str
) -> None:
    request = built(configured(section, model), stream=stream, door=door)
    assert request.url == url, about
    assert [pair for pair in request.headers if "K" in pair[1]] == [key]


@pytest.mark.parametrize(
    ("wire", "base_url", "api_version", "url"),
    [
        ("openai_responses", f"{AZURE}/openai", "2025-04-01-preview",
         f"{AZURE}/openai/responses/input_tokens?api-version=2025-04-01-preview"),
        ("anthropic_messages", f"{FOUNDRY}/anthropic", None, f"{FOUNDRY}/anthropic/v1/messages/count_tokens"),
        ("anthropic_messages", f"{VERTEX}/anthropic", None, f"{VERTEX}/anthropic/models/count-tokens:rawPredict"),
        ("gemini", f"{VERTEX}/google", None, f"{VERTEX}/google/models/m@1:countTokens"),
    ],
)  # fmt: skip
def test_tokens_are_counted_beside_it(wire: str, base_url: str, api_version: str | None, url: str) -> None:
    section = {"wire": wire, "base_url": base_url} | ({"api_version": api_version} if api_version else {})
    request = built(configured(section, "m@1"), stream=False)
    count = load_provider(wire).count_request(request)
    assert count is not None
    assert count.request.url.replace("%40", "@") == url
    assert ("model" in json.loads(count.request.body)) == (wire != "gemini")
    if wire == "anthropic_messages":
        assert json.loads(count.request.body)["model"] == "m@1"


def test_claude_at_vertex_ai_is_told_the_version_in_the_body() -> None:
    target = configured(
        {"wire": "anthropic_messages", "base_url": f"{VERTEX}/anthropic", "credential": "google"}, "claude"
    )
    betas = {"anthropic-beta": "oauth-2025-04-20,new-2031-01-01", "anthropic-version": "2026-10-21"}
    request = built(target, stream=True, headers=betas)
    told = json.loads(request.body)
    assert (told.pop("anthropic_version"), told["stream"], "model" in told) == ("vertex-2023-10-16", True, False)
    assert request.headers[2:] == (("anthropic-beta", "new-2031-01-01"), BEARER)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"api_version": "2024-10-21&x=1"}, "it.api_version: write the version"),
        ({"key_header": "API Key"}, "it.key_header: write the name of a header"),
        ({"scope": "two words"}, "it.scope: write what an access token"),
        ({"credential": "google:/path/key.json"}, 'it.credential: write "env:NAME", .*"entra", "google"'),
        ({"credential": "entra:"}, "it.credential: write"),
        ({"credential": "azure"}, "it.credential: write"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(more: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        configured({"wire": "openai_chat", "base_url": f"{AZURE}/openai/v1"} | more, "m")
