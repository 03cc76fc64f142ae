"""What the operator configured, as frozen values. `shell/settings.py` reads them; nothing here touches a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from toolwire.model.limits import PRESET_AGENTS, Limits

Wire = Literal["openai_chat", "openai_responses", "anthropic_messages", "gemini", "bedrock_converse"]


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """One upstream: its protocol, address, credential and quirks.

    `credential` is a reference, never a secret: "env:NAME", "secret:NAME", "ssm:NAME" or "none". `profile` names a row
    of `providers/profiles.py`. `base_url` is what the vendor's own SDK takes.
    """

    name: str
    wire: Wire
    base_url: str
    credential: str = "none"
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who asks, and what holds for them. Comes from authentication, never from a body."""

    name: str = "default"
    limits: Limits = PRESET_AGENTS


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration."""

    providers: dict[str, ProviderConfig]
    #: Alias or pattern for bare model names -> "provider/model"; a "*" on both sides carries the matched text over.
    aliases: dict[str, str] = field(default_factory=dict)
    tenant: Tenant = Tenant()
    #: SHA-256 (hex, lower case) of the one key that is accepted, or None.
    key_sha256: str | None = None
    #: Whether a request without a valid key is refused.
    require_key: bool = False
    enable_demo: bool = True


@dataclass(frozen=True, slots=True)
class Target:
    """Where one request goes: a configured provider and that provider's own name for the model."""

    provider: ProviderConfig
    model: str
