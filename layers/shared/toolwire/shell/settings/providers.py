"""Reads the providers of a configuration: the known hosts, with addresses and credentials from the environment, and the
document's [providers.NAME] sections, which change these or add others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from msgspec import UNSET, UnsetType, field

from toolwire.model.settings import ProviderConfig, SettingsError
from toolwire.providers import WIRES
from toolwire.providers.address import MINTED
from toolwire.providers.hosts import DEFAULT_REGION, DEMO, HOSTS, Host
from toolwire.providers.profiles import PROFILES
from toolwire.shell.settings.resilience import LoadSection, endpoints_of, time_limits_of
from toolwire.shell.settings.sections import Text, one_of, read_section

_PROVIDER_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_PLACE = r"env:[A-Za-z_][A-Za-z0-9_]*|(secret|ssm):\S+"
_CREDENTIAL = re.compile(rf"none|aws(:\S+)?|{_PLACE}|({'|'.join(MINTED)})(:({_PLACE}))?")
#: Key of a provider -> its valid values, as a regular expression and in words.
_TEXTS = {
    "region": (r"[a-z]{2}(-[a-z]+)+-[0-9]", "an AWS region, such as eu-west-1"),
    "api_version": (r"[A-Za-z0-9.-]+", "the version of the host's API, such as 2024-10-21"),
    "key_header": (r"[a-z0-9-]+", "the name of a header in lower case, such as api-key"),
    "scope": (r"[!-~]+", "what an access token is asked for, as one word"),
}
#: The path of an operation, which every wire appends by itself.
_OPERATION = re.compile(r"(/chat/completions|/v1/messages|/v1/responses)/*$")
#: Other programs' names of `credential`, whose value is then a key.
_KEY_ITSELF = ("api_key", "apikey", "key", "token")

#: Names of this machine, to recognise the gateway's own address.
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::")  # noqa: S104


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


#: The endpoints of each provider that has several, the provider itself first.
Endpoints = dict[str, tuple[ProviderConfig, ...]]


def providers_of(
    sections: Mapping[str, object], env: Mapping[str, str], own: Collection[str]
) -> tuple[dict[str, ProviderConfig], Endpoints]:
    """The providers by name, and their endpoints. `own` are base URLs of this gateway, which no provider may have.
    Raises SettingsError."""
    providers, endpoints = _known_providers(env, own), Endpoints()
    for name, section in sections.items():
        if isinstance(section, dict) and "endpoints" in section:
            endpoints[name] = _endpoints(name, section, providers.get(name), own)
            providers[name] = endpoints[name][0]
        else:
            providers[name] = _provider(name, section, providers.get(name), own)
    return providers, endpoints


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
        # A server at another address mostly has only one of a vendor's APIs; a cloud's endpoints have all.
        one_wire = bool(chosen) and "{region}" not in host.base_url
        providers[host.name] = ProviderConfig(
            host.name, host.wire, base_url, credential, host.profile, wire_is_chosen=one_wire
        )
    return providers


def _in_region(host: Host, env: Mapping[str, str]) -> str:
    """The host's address, with the AWS region of this environment, if the address has a region."""
    region = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or DEFAULT_REGION
    return host.base_url.replace("{region}", region)


def _host_credential(host: Host, env: Mapping[str, str]) -> str:
    """The reference of a host's credential: the first of its variables that is set; else its secret, if there are
    secrets; else its first variable, so that an error can name it. A host of AWS can use the credentials of this
    process."""
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
    """Reads one [providers.NAME] section. For a known host it changes the named keys; for any other `wire` and
    `base_url` are required. `at`: the section's path, if it is another one."""
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
        # Not shown: the value may be a key that was pasted here.
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
    """A checked base URL, without a slash at its end. `at`: its key or variable, for errors."""
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
