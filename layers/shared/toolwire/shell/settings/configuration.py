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

What is wrong is said with the key it stands in and how to put it right; an unknown key is wrong, since a mistyped one
that does nothing is found much later.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import UNSET, Struct, UnsetType, field

from toolwire.exchange.routing import route
from toolwire.model.errors import RequestError
from toolwire.model.settings import ProviderConfig, Settings, SettingsError, Tenant
from toolwire.providers import WIRES
from toolwire.providers.address import MINTED
from toolwire.providers.hosts import DEFAULT_REGION, DEMO, HOSTS, Host
from toolwire.providers.profiles import PROFILES
from toolwire.shell.settings.resilience import (
    LoadSection,
    breaker_of,
    by_quality_of,
    check_fallbacks,
    endpoints_of,
    fallbacks_of,
    retries_of,
    time_limits_of,
)
from toolwire.shell.settings.sections import Text, one_of, read_section, read_text
from toolwire.shell.settings.tenants import tenant_from
from toolwire.shell.settings.variables import check_variables, key_sha256, recordings_bucket, state_ttl_days, switch

_PROVIDER_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_PLACE = r"env:[A-Za-z_][A-Za-z0-9_]*|(secret|ssm):\S+"
_CREDENTIAL = re.compile(rf"none|aws(:\S+)?|{_PLACE}|({'|'.join(MINTED)})(:({_PLACE}))?")
#: Key of a provider -> what it may be, as a regular expression and in words.
_TEXTS = {
    "region": (r"[a-z]{2}(-[a-z]+)+-[0-9]", "an AWS region, such as eu-west-1"),
    "api_version": (r"[A-Za-z0-9.-]+", "the version of the host's API, such as 2024-10-21"),
    "key_header": (r"[a-z0-9-]+", "the name of a header in lower case, such as api-key"),
    "scope": (r"[!-~]+", "what an access token is asked for, as one word"),
}
#: Where an operation is, which every wire appends by itself.
_OPERATION = re.compile(r"(/chat/completions|/v1/messages|/v1/responses)/*$")
#: What others call a provider's credential, whose value is then a key.
_KEY_ITSELF = ("api_key", "apikey", "key", "token")

#: Names of this machine, for telling whether an address is the gateway's own.
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::")  # noqa: S104


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


class _Provider(LoadSection, forbid_unknown_fields=True):
    """The keys of one [providers.NAME] section."""

    wire: Text | UnsetType = UNSET
    base_url: Text | UnsetType = UNSET
    credential: Text | UnsetType = UNSET
    profile: Text | UnsetType = UNSET
    region: Text | UnsetType = UNSET
    api_version: Text | UnsetType = UNSET
    key_header: Text | UnsetType = UNSET
    scope: Text | UnsetType = UNSET
    models: dict[str, Text] = field(default_factory=dict)


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
    providers = _known_providers(env, own)
    endpoints = {}
    for name, section in sections.providers.items():
        if isinstance(section, dict) and "endpoints" in section:
            endpoints[name] = _endpoints(name, section, providers.get(name), own)
            providers[name] = endpoints[name][0]
        else:
            providers[name] = _provider(name, section, providers.get(name), own)
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
            return Path(place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SettingsError(f"TOOLWIRE_CONFIG: {place!r} cannot be read: {reason}.") from error
    from toolwire.shell.network.aws_secrets import SecretStoreError, read_parameter

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


def _known_providers(env: Mapping[str, str], own: Collection[str]) -> dict[str, ProviderConfig]:
    """The known hosts, at the addresses that the environment gives them.

    A default that happens to be this gateway's own address (llama.cpp's port is also ours) is no provider; an address
    that somebody set is refused instead.
    """
    providers = {}
    for host in HOSTS:
        chosen = env.get(host.base_url_variable, "").strip() if host.base_url_variable else ""
        base_url = _base_url(chosen, host.base_url_variable or "", own) if chosen else _in_region(host, env)
        if not chosen and _is_own(base_url, own):
            continue
        credential = _host_credential(host, env)
        # What stands at another address is mostly a server with one of a vendor's APIs; a cloud's endpoints have all.
        one_wire = bool(chosen) and "{region}" not in host.base_url
        providers[host.name] = ProviderConfig(
            host.name, host.wire, base_url, credential, host.profile, wire_is_chosen=one_wire
        )
    return providers


def _in_region(host: Host, env: Mapping[str, str]) -> str:
    """The host's address, in the AWS region of this environment where it has one."""
    region = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or DEFAULT_REGION
    return host.base_url.replace("{region}", region)


def _host_credential(host: Host, env: Mapping[str, str]) -> str:
    """The first variable of the host's that is set; without one, its secret where there are secrets, else the first
    variable of all, so that an error can name it. At a host of AWS the credentials of this process are enough."""
    if not host.credentials:
        return "none"
    prefix = None if env.get("AWS_SAM_LOCAL") else env.get("SECRET_PREFIX")
    absent = f"secret:{prefix}{host.name}" if prefix else f"env:{host.credentials[0]}"
    absent = "aws" if "{region}" in host.base_url else absent
    return next((f"env:{name}" for name in host.credentials if env.get(name)), absent)


def _endpoints(
    name: str, section: dict[str, object], known: ProviderConfig | None, own: Collection[str]
) -> tuple[ProviderConfig, ...]:
    """The endpoints of a provider that has several. Raises SettingsError."""
    listed = endpoints_of(section, f"providers.{name}")
    return tuple(replace(_provider(name, keys, known, own, at), weight=weight) for at, keys, weight in listed)


def _provider(
    name: str, section: object, known: ProviderConfig | None, own: Collection[str], at: str | None = None
) -> ProviderConfig:
    """One [providers.NAME] section. For a known host it changes what it names; any other says wire and base_url. `at`
    is where it stands, if not there."""
    at = at or f"providers.{name}"
    if not _PROVIDER_NAME.fullmatch(name):
        raise SettingsError(f"{at}: a provider's name is made of a-z, 0-9, '.', '_' and '-'.")
    if name == DEMO:
        raise SettingsError(f"{at}: this name is the built-in demo provider's; choose another.")
    if isinstance(section, dict) and (pasted := next((key for key in _KEY_ITSELF if key in section), None)):
        raise SettingsError(f'{at}.{pasted}: put the key into a variable, and write credential = "env:NAME" here.')
    keys = read_section(_Provider, section, at)
    absent = [key for key in ("wire", "base_url") if known is None and getattr(keys, key) is UNSET]
    if absent:
        raise SettingsError(f"{at}.{absent[0]}: is missing, and {name!r} is no known host that would have one.")
    default = known or ProviderConfig(name, "", "")
    texts = {name: _text(name, getattr(keys, name), getattr(default, name), at) for name in _TEXTS}
    region = texts["region"]
    regional = next((host.base_url for host in HOSTS if host.name == name and "{region}" in host.base_url), None)
    moved = regional.replace("{region}", region) if regional and region else default.base_url
    wire = default.wire if keys.wire is UNSET else one_of(keys.wire, WIRES, f"{at}.wire")
    credential = default.credential if keys.credential is UNSET else keys.credential
    if not _CREDENTIAL.fullmatch(credential):
        # The value may be a key that was pasted here, so it is not shown.
        known_ones = ", ".join(f'"{word}"' for word in ("env:NAME", "secret:NAME", "ssm:NAME", "aws", *sorted(MINTED)))
        raise SettingsError(f'{at}.credential: write {known_ones} or "none"; never the key itself.')
    # A host's profile holds for its own wire only.
    profile = default.profile if wire == default.wire else None
    return ProviderConfig(
        name=name,
        wire=wire,
        base_url=_base_url(moved if keys.base_url is UNSET else keys.base_url, f"{at}.base_url", own),
        credential=credential,
        profile=profile if keys.profile is UNSET else one_of(keys.profile, PROFILES, f"{at}.profile"),
        wire_is_chosen=keys.wire is not UNSET,
        region=region,
        api_version=texts["api_version"],
        key_header=texts["key_header"],
        scope=texts["scope"],
        models=tuple(keys.models.items()),
        time_limits=time_limits_of(keys, default.time_limits),
        concurrent_requests=None if keys.concurrent_requests is UNSET else keys.concurrent_requests,
    )


def _text(name: str, given: str | UnsetType, default: str | None, at: str) -> str | None:
    """The value of one of `_TEXTS`. Raises SettingsError."""
    pattern, words = _TEXTS[name]
    if given is UNSET:
        return default
    if not re.fullmatch(pattern, given):
        raise SettingsError(f"{at}.{name}: write {words}.")
    return given


def _base_url(text: str, at: str, own: Collection[str]) -> str:
    """A checked base URL, without a slash at its end. `at` is the key or variable it stands in."""
    try:
        url = urlsplit(text)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError(f"{at}: write an http or https URL with a host, such as https://api.example.com/v1.")
    if url.username or url.password:
        raise SettingsError(f"{at}: a URL with a user or password would be logged; use `credential`.")
    if url.query or url.fragment:
        raise SettingsError(f"{at}: leave out what follows '?' or '#': paths are appended to the URL.")
    if operation := _OPERATION.search(url.path):
        raise SettingsError(f"{at}: leave {operation[1]} out: it is appended to the URL.")
    if _is_own(text, own):
        raise SettingsError(f"{at}: {text} is this gateway's own address; a request would go round in circles.")
    return text.rstrip("/")


def _is_own(base_url: str, own: Collection[str]) -> bool:
    """Whether a base URL lies at or below one of the gateway's own."""
    host, port, path = _place(base_url)
    return any((host, port) == mine[:2] and f"{path}/".startswith(f"{mine[2]}/") for mine in map(_place, own))


def _place(url: str) -> tuple[str, int, str]:
    """Host, port and path of a URL; every name of this machine is the same host."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return "localhost" if host in _LOOPBACK else host, port, parts.path.rstrip("/")


def _aliases(section: dict[str, object]) -> dict[str, str]:
    """The [aliases] section, each key and value by itself."""
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
    """Each alias must lead to a provider. A pattern is tried with an arbitrary name in place of its star."""
    for name in settings.aliases:
        try:
            route(name.replace("*", "model"), settings)
        except RequestError as error:
            raise SettingsError(f'aliases."{name}": leads nowhere. {error.message}') from error


def _tenant(section: dict[str, object]) -> Tenant:
    """The [tenants.default] section: what holds for every request without a key, and where a key's item is silent."""
    return tenant_from(read_section(_Tenants, section, "tenants").default, "tenants.default")
