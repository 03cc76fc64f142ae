"""The operator's configuration, as frozen values. `shell/settings` reads them; nothing here touches a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from toolwire.model.limits import PRESET_2API, PRESET_AGENTS, Limits

#: The longest that an answer, or a pause in one, may be allowed to take, in seconds: what Lambda allows.
MOST_SECONDS = 900


class SettingsError(ValueError):
    """The configuration cannot be used. The text names the key at fault and the fix, never a secret."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long an answer may take, in seconds; None: as long as is usual."""

    #: To the head of a streamed answer.
    first_byte_seconds: float | None = None
    #: Between two pieces of it.
    idle_seconds: float | None = None
    #: For all of it.
    total_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """One upstream: its protocol, address, credential and quirks.

    `wire` is a key of `providers.WIRES`. `credential` is a reference, never a secret: "env:NAME", "secret:NAME",
    "ssm:NAME", "aws" (requests are signed with the AWS credentials of this process), "aws:PROFILE", "none", or a cloud
    whose access tokens are minted (`shell/access/cloud_tokens`), alone or in front of one of the first three. `profile`
    names a row of `providers/profiles.py`. `base_url` is what the vendor's own SDK takes.
    """

    name: str
    wire: str
    base_url: str
    credential: str = "none"
    profile: str | None = None
    #: Whether the configuration names the wire. Then the model does not choose another one.
    wire_is_chosen: bool = False
    #: The AWS region that requests are signed for; None: the one in the address.
    region: str | None = None
    #: The value of `api-version` in the query of every request; None: there is none.
    api_version: str | None = None
    #: The header that carries the key, in lower case; None: the host's usual one. In "authorization" it is a bearer
    #: token.
    key_header: str | None = None
    #: What a minted access token is asked for; None: the cloud's usual scope for models.
    scope: str | None = None
    #: A model's name at this provider that does not say which model it is (a deployment, an ARN) -> a name that does.
    models: tuple[tuple[str, str], ...] = ()
    #: Its share of new conversations, relative to the provider's other endpoints.
    weight: int = 1
    time_limits: TimeLimits = TimeLimits()
    #: The most requests at once; None: no limit.
    concurrent_requests: int | None = None


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent while none of its answer was shown."""

    #: Attempts at most, the first included; None: one at each target of its plan.
    attempts: int | None = None
    #: Seconds from the request on, after which no further attempt begins.
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """When the breaker stops asking a target that fails."""

    enabled: bool = True
    #: Failures within `seconds` that open its circuit.
    failures: int = 5
    seconds: float = 30.0
    #: Seconds for which nobody asks it then; after them, one request tries.
    open_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant and its rules. It is found by the client's key, never by a body."""

    name: str = "default"
    limits: Limits = PRESET_AGENTS
    #: What a request may name as its model, "*" for any text: "openai/*", an alias, ...; None: every model.
    models: tuple[str, ...] | None = None
    #: The doors that may be used, by name; None: every door.
    doors: tuple[str, ...] | None = None
    #: The most requests in one minute of the clock; None: no limit.
    requests_per_minute: int | None = None
    #: How many tool calls the answers of one minute may make (the reference's "tool call units"); None: any number.
    tool_calls_per_minute: int | None = None
    #: Whether the opaque state of providers is kept between turns; ids always are.
    store_state: bool = True
    #: Whether answers of the Responses API, and what they answer, are kept for requests that continue from them.
    keep_answers: bool = False
    #: Whether exchanges are recorded in the operator's bucket, where there is one: as they are, or without their words.
    record: bool | Literal["redacted"] = False
    #: The limits on the native door, whose default preset is another one. A tenant that names a preset has it on both.
    native_limits: Limits = PRESET_2API
    #: The names of tools that may be declared and called; None: every tool.
    allowlist: tuple[str, ...] | None = None
    #: What the allowlist does: refuse, only warn, or nothing.
    allowlist_mode: Literal["enforce", "warn", "off"] = "enforce"
    #: The defaults of requests without their own options: see `request.RequestOptions`.
    validate_tool_arguments: Literal["off", "annotate", "reject"] = "off"
    #: None: `reject` on the native door, else `convert`.
    schema_mode: Literal["convert", "reject", "lossy"] | None = None
    #: Whether arguments that break their tool's schema are repaired where that makes them valid.
    repair_arguments: bool = False
    #: What is done about strict tools beside parallel calls.
    strict_parallel: Literal["warn", "reject"] = "warn"
    #: Which events a Responses client gets: the API's own, or the reference document's too.
    events: Literal["standard", "extended"] = "standard"
    #: What is done about an answer that does not keep to `tool_choice`; None: an error on the native door and under
    #: the preset `2api`, else a warning.
    tool_choice_not_honored: Literal["warn", "error"] | None = None
    #: The models that are asked where the request's own fails and has no fallback of its own.
    fallback: tuple[str, ...] = ()
    time_limits: TimeLimits = TimeLimits()
    #: The most requests at once; None: no limit.
    concurrent_requests: int | None = None
    #: Whether the chat door keeps to the whole contract of the reference document 2api: the preset of that name.
    contract_2api: bool = False


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
    #: Where the keys are: a DynamoDB table, and a file of `local/key_admin.py`. Where either is named, a key is needed.
    keys_table: str | None = None
    keys_file: str | None = None
    #: The DynamoDB table in which requests and tool calls are counted; None: this process counts for itself.
    rates_table: str | None = None
    #: The bucket for the exchanges of tenants that have them recorded; None: nothing is recorded there.
    recordings_bucket: str | None = None
    #: Days for which the store keeps a turn's ids and state.
    state_ttl_days: int = 30
    #: A provider with several keys or regions -> each, the one of `providers` first.
    endpoints: dict[str, tuple[ProviderConfig, ...]] = field(default_factory=dict)
    #: A model, as a request names it or as "provider/model" -> the models that are asked where it fails.
    fallbacks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Those of them whose plan is in the order of how fit the models' tool calls have been.
    by_quality: frozenset[str] = frozenset()
    retries: Retries = Retries()
    #: None: a breaker with the usual rules, for requests that have several targets.
    breaker: BreakerRules | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request: a configured provider and that provider's own name for the model."""

    provider: ProviderConfig
    model: str

    @property
    def known_as(self) -> str:
        """The name by which tables of model families know the model."""
        return dict(self.provider.models).get(self.model, self.model)
