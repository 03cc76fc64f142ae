"""Reads the sections of the configuration about failures of providers.

[retries]                        attempts, seconds: how often a request is sent, and until when
[fallbacks]                      "model" = ["other/model", ...]: who is asked where it fails
                                 "model" = { models = [...], order = "quality" }: the best of them all first
[[providers.NAME.endpoints]]     several keys, regions or addresses of one provider, each with its weight
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from toolwire.exchange.plan import MOST_ATTEMPTS, MOST_FALLBACKS
from toolwire.exchange.routing import route
from toolwire.model.errors import RequestError
from toolwire.model.settings import MOST_SECONDS, BreakerRules, Retries, Settings, SettingsError, TimeLimits
from toolwire.shell.settings.sections import Text, given, read_section

#: The most requests at once that can be set: each is an entry of one item of the table.
MOST_AT_ONCE = 1000

Seconds = Annotated[int, Meta(ge=1, le=MOST_SECONDS)]
AtOnce = Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)]


class LoadSection(Struct, forbid_unknown_fields=True):
    """The keys of a provider and of a tenant that limit answers."""

    first_byte_seconds: Seconds | UnsetType = UNSET
    idle_seconds: Seconds | UnsetType = UNSET
    total_seconds: Seconds | UnsetType = UNSET
    concurrent_requests: AtOnce | UnsetType = UNSET


LIMITS = tuple(name for name in LoadSection.__struct_fields__ if name != "concurrent_requests")


def time_limits_of(section: Struct, default: TimeLimits) -> TimeLimits:
    """The time limits of a section, which override the default's."""
    return replace(default, **{name: float(value) for name, value in given(section).items() if name in LIMITS})


class RetriesSection(Struct, forbid_unknown_fields=True):
    """The keys of [retries]; the field of `Retries` has the same name."""

    attempts: Annotated[int, Meta(ge=1, le=MOST_ATTEMPTS)] | UnsetType = UNSET
    seconds: Annotated[int, Meta(ge=1, le=900)] | UnsetType = UNSET


class BreakerSection(Struct, forbid_unknown_fields=True):
    """The keys of [breaker]; the field of `BreakerRules` has the same name."""

    enabled: bool | UnsetType = UNSET
    failures: Annotated[int, Meta(ge=1, le=100)] | UnsetType = UNSET
    seconds: Annotated[int, Meta(ge=1, le=600)] | UnsetType = UNSET
    open_seconds: Annotated[int, Meta(ge=1, le=600)] | UnsetType = UNSET


class FallbackSection(Struct, forbid_unknown_fields=True):
    """The keys of a model's fallbacks in their long form."""

    models: object = None
    order: Literal["configured", "quality"] = "configured"


class EndpointSection(Struct, forbid_unknown_fields=True):
    """The keys of one of a provider's endpoints: `weight`, and those of the provider's section that may differ."""

    weight: Annotated[int, Meta(ge=1, le=100)] | UnsetType = UNSET
    base_url: Text | UnsetType = UNSET
    credential: Text | UnsetType = UNSET
    region: Text | UnsetType = UNSET
    api_version: Text | UnsetType = UNSET
    key_header: Text | UnsetType = UNSET
    scope: Text | UnsetType = UNSET


def retries_of(section: object) -> Retries:
    """The [retries] section. Raises SettingsError."""
    return Retries(**given(read_section(RetriesSection, section, "retries")))


def breaker_of(section: object) -> BreakerRules:
    """The [breaker] section. Raises SettingsError."""
    return BreakerRules(**given(read_section(BreakerSection, section, "breaker")))


def endpoints_of(provider: Mapping[str, object], at: str) -> Iterator[tuple[str, dict[str, object], int]]:
    """Each endpoint of a provider's section: its path, the provider's section with the endpoint's keys, and its weight.
    Raises SettingsError."""
    listed = provider["endpoints"]
    if not isinstance(listed, list) or not listed:
        raise SettingsError(f"{at}.endpoints: write a section [[{at}.endpoints]] for each.")
    rest = {key: value for key, value in provider.items() if key != "endpoints"}
    for number, endpoint in enumerate(listed):
        where = f"{at}.endpoints[{number}]"
        keys = given(read_section(EndpointSection, endpoint, where))
        weight = keys.pop("weight", 1)
        yield where, {**rest, **keys}, weight


def fallbacks_of(section: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """The [fallbacks] section. Raises SettingsError."""
    fallbacks = {}
    for model, value in section.items():
        at = f'fallbacks."{model}"'
        if isinstance(value, Mapping):
            value = read_section(FallbackSection, value, at).models
            at += ".models"
        if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
            raise SettingsError(f'{at}: write a list of models, such as ["provider/model"].')
        if len(value) > MOST_FALLBACKS:
            raise SettingsError(f"{at}: write {MOST_FALLBACKS} models at most.")
        fallbacks[model] = tuple(value)
    return fallbacks


def by_quality_of(section: Mapping[str, object]) -> frozenset[str]:
    """The models of the [fallbacks] section whose plan is ordered by quality. Raises SettingsError."""
    return frozenset(
        model
        for model, value in section.items()
        if isinstance(value, Mapping)
        and read_section(FallbackSection, value, f'fallbacks."{model}"').order == "quality"
    )


def check_fallbacks(settings: Settings) -> None:
    """Checks that each fallback, and each model with fallbacks, leads to a provider. Raises SettingsError."""
    lists = {f'fallbacks."{model}"': (model, *others) for model, others in settings.fallbacks.items()}
    lists["tenants.default.fallback"] = settings.tenant.fallback
    for at, names in lists.items():
        for name in names:
            try:
                route(name, settings)
            except RequestError as error:
                raise SettingsError(f"{at}: {name!r} leads nowhere. {error.message}") from error
