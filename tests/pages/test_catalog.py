"""The bodies of GET /models and GET /health."""

import json

import openai

from toolwire.model.settings import ProviderConfig, Settings, Tenant
from toolwire.pages.catalog import health_body, models_body

SETTINGS = Settings(
    providers={
        "openai": ProviderConfig("openai", "openai_chat", "https://api.example/v1", "env:SOME_KEY"),
        "anthropic": ProviderConfig("anthropic", "anthropic_messages", "https://api.example", "env:OTHER_KEY"),
    },
    aliases={"claude-gpt": "openai/gpt", "claude-*": "anthropic/claude-*", "opus": "claude-opus"},
)


def test_models_are_the_demo_and_the_aliases_that_a_built_wire_serves() -> None:
    listed = json.loads(models_body(SETTINGS, ["openai_chat"]))

    assert [model["id"] for model in listed["data"]] == ["demo/openai", "demo/compatible", "claude-gpt"]
    assert [model["owned_by"] for model in listed["data"]] == ["demo", "demo", "openai"]
    assert (listed["first_id"], listed["last_id"], listed["has_more"]) == ("demo/openai", "claude-gpt", False)


def test_an_alias_is_offered_when_its_wire_is_built() -> None:
    listed = json.loads(models_body(SETTINGS, ["openai_chat", "anthropic_messages"]))

    assert "opus" in [model["id"] for model in listed["data"]]


def test_models_name_no_address_and_no_credential() -> None:
    body = models_body(SETTINGS, ["openai_chat"])

    assert b"KEY" not in body
    assert b"https" not in body


def test_an_empty_list_is_a_list() -> None:
    listed = json.loads(models_body(Settings(providers={}, enable_demo=False), ["openai_chat"]))

    assert listed == {
        "object": "list", "data": [], "models": [], "has_more": False, "first_id": None, "last_id": None,
    }  # fmt: skip


def test_codexs_catalogue_names_the_same_models() -> None:
    """What Codex's own reader of a catalogue insists on; tests/agents/clients/codex.py gives it to Codex itself."""
    listed = json.loads(models_body(Settings(providers={}), ["openai_chat"]))
    assert [model["slug"] for model in listed["models"]] == [model["id"] for model in listed["data"]]
    wanted = {
        "slug", "display_name", "supported_reasoning_levels", "shell_type", "visibility", "supported_in_api",
        "priority",
        "support_verbosity", "truncation_policy", "experimental_supported_tools", "base_instructions",
    }  # fmt: skip
    assert all(wanted <= model.keys() for model in listed["models"])
    assert {model["apply_patch_tool_type"] for model in listed["models"]} == {"freeform"}


def test_an_entry_has_what_the_clients_read() -> None:
    entry = json.loads(models_body(SETTINGS, ["openai_chat"]))["data"][0]

    assert openai.types.Model.model_validate(entry, strict=True).id == "demo/openai"
    assert (entry["type"], entry["display_name"]) == ("model", "demo/openai")


def test_health_says_what_runs() -> None:
    body = json.loads(health_body("1.2.3", demo=False, store="memory"))
    assert body == {"status": "ok", "version": "1.2.3", "demo": False, "store": "memory"}


def test_a_tenant_is_offered_what_it_may_use() -> None:
    def listed(*models: str) -> list[str]:
        body = models_body(SETTINGS, ["openai_chat", "anthropic_messages"], Tenant(models=models))
        return [model["id"] for model in json.loads(body)["data"]]

    assert listed("openai/*", "demo/compatible") == ["demo/compatible", "claude-gpt"]
    assert listed("anthropic/*") == ["opus"]
    assert listed() == []
