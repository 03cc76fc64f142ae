"""The configuration: one TOML document and the ecosystem's own variables, checked to the last key.

    TOOLWIRE_CONFIG   the document: a file's path, or "ssm:/parameter-name"; unset: the known hosts as they are
    REQUIRE_KEY       "1": a request without a valid key is refused
    KEY_SHA256        SHA-256, in hexadecimal, of a key that is accepted, for the default tenant
    KEYS_TABLE        the DynamoDB table of keys; KEYS_FILE: the file of keys. Either makes a key necessary
    RATES_TABLE       the DynamoDB table in which rates are counted; unset: each process counts for itself
    RECORDINGS_BUCKET the S3 bucket for the exchanges of tenants with `record`: `recording/bucket.py`
    SECRET_PREFIX     where the credentials of known hosts are in Secrets Manager: PREFIX/NAME, when no variable is set
                      (in SAM's local runs, AWS_SAM_LOCAL, none of these is there, and no key is asked for)
    STATE_TTL_DAYS    days for which ids and state of a conversation are kept (30); where: see `store.py`
    ENABLE_DEMO       "0": no demo provider
    TOOLWIRE_OWN_URLS base URLs of this gateway, divided by spaces, that no provider may have; the local server sets it
    OPENAI_API_KEY, OPENAI_BASE_URL, ...   see `providers/hosts.py`

An error names the key at fault and the fix. An unknown key is an error, since a mistyped one without effect would be
found much later.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from toolwire.exchange.routing import route
from toolwire.model.errors import RequestError
from toolwire.model.settings import Settings, SettingsError, Tenant
from toolwire.shell.network.aws_secrets import SecretStoreError, read_parameter
from toolwire.shell.settings.providers import providers_of
from toolwire.shell.settings.resilience import breaker_of, by_quality_of, check_fallbacks, fallbacks_of, retries_of
from toolwire.shell.settings.sections import read_section, read_text
from toolwire.shell.settings.tenants import tenant_from
from toolwire.shell.settings.variables import check_variables, key_sha256, recordings_bucket, state_ttl_days, switch


class _Document(Struct, forbid_unknown_fields=True):
    """The document's sections. Providers and aliases have names that the operator chooses."""

    providers: dict[str, object] = {}
    aliases: dict[str, object] = {}
    tenants: dict[str, object] = {}
    retries: dict[str, object] = {}
    breaker: dict[str, object] | UnsetType = UNSET
    fallbacks: dict[str, object] = {}


class _Tenants(Struct, forbid_unknown_fields=True):
    default: dict[str, object] = {}


def load_settings(
    env: Mapping[str, str], read: Callable[[str], str] | None = None, own: Collection[str] = ()
) -> Settings:
    """The settings of this environment.

    `read` gets the value of TOOLWIRE_CONFIG and returns the document's text (OSError or SettingsError if it cannot).
    `own` are base URLs of this gateway, which no provider may have. Raises SettingsError.
    """
    check_variables(env)
    place = env.get("TOOLWIRE_CONFIG", "").strip()
    document = _parse((read or read_document)(place), place) if place else {}
    sections = read_section(_Document, document, "")
    providers, endpoints = providers_of(sections.providers, env, own)
    deployed = not env.get("AWS_SAM_LOCAL")
    if env.get("KEYS_TABLE") and env.get("KEYS_FILE"):
        raise SettingsError("KEYS_FILE: keys are in the table that KEYS_TABLE names already; set one of the two.")
    settings = Settings(
        providers=providers,
        aliases=_aliases(sections.aliases),
        tenant=_tenant(sections.tenants),
        key_sha256=key_sha256(env),
        require_key=switch(env, "REQUIRE_KEY", default=False) and deployed,
        enable_demo=switch(env, "ENABLE_DEMO", default=True),
        keys_table=(env.get("KEYS_TABLE") or None) if deployed else None,
        keys_file=env.get("KEYS_FILE") or None,
        rates_table=(env.get("RATES_TABLE") or None) if deployed else None,
        recordings_bucket=recordings_bucket(env) if deployed else None,
        state_ttl_days=state_ttl_days(env),
        endpoints=endpoints,
        fallbacks=fallbacks_of(sections.fallbacks),
        by_quality=by_quality_of(sections.fallbacks),
        retries=retries_of(sections.retries),
        breaker=None if sections.breaker is UNSET else breaker_of(sections.breaker),
    )
    _check_aliases(settings)
    check_fallbacks(settings)
    return settings


def read_document(place: str) -> str:
    """The text of the document at a path or at "ssm:/parameter-name". Raises SettingsError."""
    if not place.startswith("ssm:"):
        try:
            return Path(place).read_text(encoding="utf-8-sig")  # editors on Windows may write a byte order mark
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SettingsError(f"TOOLWIRE_CONFIG: {place!r} cannot be read: {reason}.") from error
    try:
        text = read_parameter(place.removeprefix("ssm:"))
    except SecretStoreError as error:
        raise SettingsError(f"TOOLWIRE_CONFIG: the SSM parameter of {place!r} cannot be read: {error}.") from error
    if text is None:
        raise SettingsError(f"TOOLWIRE_CONFIG: there is no SSM parameter {place.removeprefix('ssm:')!r}.")
    return text


def _parse(text: str, place: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{place}: this is not TOML: {error}.") from error


def _aliases(section: dict[str, object]) -> dict[str, str]:
    """The [aliases] section, each key and value checked."""
    aliases = {}
    for name, value in section.items():
        at = f'aliases."{name}"'
        target = read_text(value, at)
        if not name or "/" in name:
            raise SettingsError(f"{at}: an alias is a bare name, without a slash.")
        if name.count("*") > 1 or target.count("*") > name.count("*"):
            raise SettingsError(f"{at}: a pattern has one '*', and its target at most one, which the match replaces.")
        aliases[name] = target
    return aliases


def _check_aliases(settings: Settings) -> None:
    """Checks that each alias leads to a provider. A pattern is tried with an arbitrary name in place of its star."""
    for name in settings.aliases:
        try:
            route(name.replace("*", "model"), settings)
        except RequestError as error:
            raise SettingsError(f'aliases."{name}": leads nowhere. {error.message}') from error


def _tenant(section: dict[str, object]) -> Tenant:
    """The [tenants.default] section: the settings of requests without a key, and the defaults of keys."""
    return tenant_from(read_section(_Tenants, section, "tenants").default, "tenants.default")
