"""Model names to targets."""

import pytest

from tests.named_rows import each_row
from toolwire.exchange.routing import ALIAS_HOPS, check_door, check_model, may_use, route
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Settings, Tenant

SETTINGS = Settings(
    providers={
        name: ProviderConfig(name, "openai_chat", f"https://{name}.example/v1", f"env:{name.upper()}_KEY")
        for name in ("openai", "anthropic", "openrouter")
    },
    aliases={
        "fast": "openai/gpt-mini",
        "faster": "fast",
        "claude-gpt-5": "openai/gpt-5.6",
        "claude-*": "anthropic/claude-*",
        "*-latest": "openrouter/vendor/*-latest",
        "cheap-*": "openai/gpt-mini",
        "here-*": "there-*",
        "there-*": "here-*",
    },
)


@each_row(
    ("model", "provider", "provider_model"),
    [
        ("openai/gpt-5.6", "openai", "gpt-5.6"),
        ("openrouter/meta/llama:free", "openrouter", "meta/llama:free"),
        ("openai//odd", "openai", "/odd"),
        ("fast", "openai", "gpt-mini"),
        ("faster", "openai", "gpt-mini"),
        ("claude-gpt-5", "openai", "gpt-5.6"),
        ("claude-opus-5", "anthropic", "claude-opus-5"),
        ("claude-", "anthropic", "claude-"),
        ("qwen-latest", "openrouter", "vendor/qwen-latest"),
        ("cheap-anything", "openai", "gpt-mini"),
    ],
)
def test_a_name_leads_to_its_provider(model: str, provider: str, provider_model: str) -> None:
    target = route(model, SETTINGS)

    assert (target.provider, target.model) == (SETTINGS.providers[provider], provider_model)


@each_row("model", ["gpt-5.6", "Fast", "", "unknown/model", "openai/", "/gpt", "here-x", "demo/nothing"])
def test_a_name_that_leads_nowhere_is_404_and_says_what_is_configured(model: str) -> None:
    with pytest.raises(RequestError) as caught:
        route(model, SETTINGS)

    error = caught.value
    assert (error.status, error.code, error.param, error.retry) == (404, "model_not_found", "model", False)
    for name in ("openai", "anthropic", "openrouter", "fast", "claude-*", "demo/openai"):
        assert name in error.message
    assert "https://" not in error.message
    assert "_KEY" not in error.message


@each_row(
    ("model", "meant"),
    [
        ("opnai/gpt-5.6", "openai"),
        ("fsat", "fast"),
        ("demo/opnai", "demo/openai"),
        ("demo/antropic", "demo/anthropic"),
        ("OpenAI/gpt-5.6", "openai"),
        ("gpt-5.6", "openai/gpt-5.6"),
        ("gemini-3-pro", None),  # its maker is not configured
        ("zzz", None),
        ("zzz/openai-gpt-5.6", None),
        ("", None),
    ],
)
def test_a_name_that_is_nearly_right_is_told_the_right_one(model: str, meant: str | None) -> None:
    with pytest.raises(RequestError) as caught:
        route(model, SETTINGS)

    said = caught.value.message
    assert (f" Did you mean {meant!r}? Write " in said) if meant else ("Did you mean" not in said)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("openai", "The model 'openai' names a provider but no model. Write"),
        ("demo", "The model 'demo' names a provider but no model. Write"),
        (
            "llamacpp/qwen3",
            "asks for provider 'llamacpp', whose address http://127.0.0.1:8080/v1 is this gateway's own here: serve "
            "the gateway at another port, or set LLAMACPP_BASE_URL. Write",
        ),
    ],
)
def test_a_provider_that_cannot_be_asked_so_is_told_why(model: str, says: str) -> None:
    with pytest.raises(RequestError) as caught:
        route(model, SETTINGS)

    assert says in caught.value.message


def test_a_long_name_is_cut_in_the_message() -> None:
    with pytest.raises(RequestError) as caught:
        route("x" * 100_000, SETTINGS)

    assert len(caught.value.message) < 1000


def test_aliases_may_lead_to_one_another_a_bounded_number_of_times() -> None:
    def chain(length: int) -> Settings:
        aliases = {f"a{n}": f"a{n + 1}" for n in range(length - 1)} | {f"a{length - 1}": "openai/m"}
        return Settings(providers=SETTINGS.providers, aliases=aliases)

    assert route("a0", chain(ALIAS_HOPS - 1)).model == "m"
    with pytest.raises(RequestError, match="does not end"):
        route("a0", chain(ALIAS_HOPS + 1))


@pytest.mark.parametrize("name", ["openai", "compatible"])
def test_demo_models_are_reached_by_their_own_name_only(name: str) -> None:
    target = route(f"demo/{name}", SETTINGS)

    assert (target.provider.name, target.model, target.provider.credential) == ("demo", name, "none")
    assert (target.provider.base_url, target.provider.profile) == (f"/{name}/v1", name)


def test_the_demo_can_be_switched_off() -> None:
    settings = Settings(providers=SETTINGS.providers, enable_demo=False)

    with pytest.raises(RequestError, match="switched off") as caught:
        route("demo/openai", settings)
    assert "demo/" not in caught.value.message


@each_row(
    ("models", "model", "allowed"),
    [
        (None, "openai/gpt-5.6", True),
        ((), "openai/gpt-5.6", False),
        (("openai/*",), "openai/gpt-5.6", True),
        (("openai/*",), "fast", True),  # an alias that leads there
        (("openai/*",), "openrouter/openai/gpt", False),
        (("fast",), "fast", True),
        (("fast",), "openai/gpt-mini", False),  # only by the name that was given to them
        (("claude-*",), "claude-gpt-5", True),
        (("*/gpt-*",), "openai/gpt-5.6", True),
        (("openai/gpt",), "openai/gpt-5.6", False),
        (("openai/gpt.5.6",), "openai/gpt-5.6", False),
        (("*",), "anthropic/x\ny", True),
    ],
)
def test_a_tenant_may_use_its_models(models: tuple[str, ...] | None, model: str, allowed: bool) -> None:
    tenant = Tenant(models=models)
    target = route(model, SETTINGS)

    assert may_use(tenant, model, target) is allowed
    if allowed:
        check_model(tenant, model, target)
        return
    with pytest.raises(RequestError, match="may not use the model") as caught:
        check_model(tenant, model, target)
    assert (caught.value.status, caught.value.code, caught.value.param) == (403, "model_not_allowed", "model")


def test_a_tenant_may_use_its_doors() -> None:
    check_door(Tenant(doors=("chat_completions", "messages")), "chat_completions")
    for doors, says in [(("messages",), "it is for: messages"), ((), "it is for: none")]:
        with pytest.raises(RequestError, match=says) as caught:
            check_door(Tenant(doors=doors), "chat_completions")
        assert (caught.value.status, caught.value.code) == (403, "door_not_allowed")
