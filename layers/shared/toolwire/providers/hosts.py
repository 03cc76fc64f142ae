"""The hosts that work without any configuration: protocol, address, and the variables that their users already set.

One row a host. The base URL and its variable mean what the host's own SDK means by them; where that is not the root of
its OpenAI-compatible API (Groq, Cerebras), no variable is read. A row is a default: the configuration document may
change any of its fields, and add hosts (Azure OpenAI has an address for each customer, so it is only ever configured).
"""

from __future__ import annotations

from dataclasses import dataclass

from toolwire.model.settings import ProviderConfig


@dataclass(frozen=True, slots=True)
class Host:
    """A host that is known by name.

    `credentials` are the variables that may hold its key, the first one that is set wins; none: it asks for no key.
    `base_url_variable` replaces `base_url` where it is set. `profile` names a row of `providers/profiles.py`.
    """

    name: str
    wire: str
    base_url: str
    credentials: tuple[str, ...] = ()
    base_url_variable: str | None = None
    profile: str | None = None


HOSTS: tuple[Host, ...] = (
    Host("openai", "openai_chat", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "openai"),
    Host("anthropic", "anthropic_messages", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"),
    Host(
        "google",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "GEMINI_BASE_URL",
    ),
    Host(
        "deepseek",
        "openai_chat",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        "DEEPSEEK_BASE_URL",
        "deepseek",
    ),
    Host("mistral", "openai_chat", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), profile="mistral"),
    Host("groq", "openai_chat", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), profile="groq"),
    Host("xai", "openai_chat", "https://api.x.ai/v1", ("XAI_API_KEY",), profile="xai"),
    Host(
        "openrouter",
        "openai_chat",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        "OPENROUTER_BASE_URL",
        "openrouter",
    ),
    Host(
        "together",
        "openai_chat",
        "https://api.together.xyz/v1",
        ("TOGETHER_API_KEY",),
        "TOGETHER_BASE_URL",
    ),
    Host(
        "fireworks",
        "openai_chat",
        "https://api.fireworks.ai/inference/v1",
        ("FIREWORKS_API_KEY",),
    ),
    Host("cerebras", "openai_chat", "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",), profile="cerebras"),
    Host("chutes", "openai_chat", "https://llm.chutes.ai/v1", ("CHUTES_API_KEY",)),
    # Servers on this machine, at their default ports.
    Host(
        "ollama",
        "openai_chat",
        "http://127.0.0.1:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        profile="ollama",
    ),
    Host("vllm", "openai_chat", "http://127.0.0.1:8000/v1", base_url_variable="VLLM_BASE_URL"),
    Host(
        "llamacpp",
        "openai_chat",
        "http://127.0.0.1:8080/v1",
        base_url_variable="LLAMACPP_BASE_URL",
    ),
    Host("lmstudio", "openai_chat", "http://127.0.0.1:1234/v1", base_url_variable="LMSTUDIO_BASE_URL"),
)

#: The name that no configuration can take: the demo provider.
DEMO = "demo"

#: The demo's models, each in the true format of one wire. The base URL is relative to wherever the demo server listens.
DEMO_MODELS: dict[str, ProviderConfig] = {
    "openai": ProviderConfig(name=DEMO, wire="openai_chat", base_url="/openai/v1", profile="openai"),
    "responses": ProviderConfig(name=DEMO, wire="openai_responses", base_url="/openai/v1", profile="openai"),
    "compatible": ProviderConfig(name=DEMO, wire="openai_chat", base_url="/compatible/v1", profile="compatible"),
    "anthropic": ProviderConfig(name=DEMO, wire="anthropic_messages", base_url="/anthropic"),
    "bedrock": ProviderConfig(name=DEMO, wire="bedrock_converse", base_url="/bedrock"),
    "gemini": ProviderConfig(name=DEMO, wire="gemini", base_url="/gemini/v1beta"),
}
