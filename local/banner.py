"""Writes the lines with which the local server starts: its address and the providers that it can reach. Never a
credential.

python -m local.banner      every provider, with its address and the variable of its key: `make providers`
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Container, Mapping
from urllib.parse import urlsplit

from toolwire.model.settings import ProviderConfig, Settings, SettingsError
from toolwire.providers.address import MINTED
from toolwire.providers.hosts import DEMO, DEMO_MODELS, HOSTS
from toolwire.shell.settings.configuration import load_settings

_COLUMNS = 100
_LABEL = "  {:<15} "

#: Variables by which AWS's own tools find credentials. A machine's role needs none.
_AWS_CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)

#: What becomes of each store's items when the server stops.
_STORES = {
    "memory": "kept in memory until it stops",
    "moto": "kept in moto's DynamoDB until it stops",
    "dynamodb": "kept in DynamoDB",
}

_TRY = """Try it:
  curl -N {url}/v1/chat/completions{key} -H 'content-type: application/json' -d '{{
    "model": "{model}", "stream": true,
    "messages": [{{"role": "user", "content": "What is the weather in Paris?"}}],
    "tools": [{{"type": "function", "function": {{"name": "get_weather", "parameters":
      {{"type": "object", "properties": {{"location": {{"type": "string"}}}}, "required": ["location"]}}}}}}]}}'"""


def banner(
    url: str,
    settings: Settings,
    wires: Container[str],
    env: Mapping[str, str],
    store: str,
    more: Mapping[str, list[str]] | None = None,
) -> str:
    """The lines of the start banner. `wires`: the built ones; providers of others are not listed. `store`: the kind of
    store. `more`: rows about the watch."""
    providers = [provider for provider in settings.providers.values() if provider.wire in wires]
    demo = [f"{DEMO}/{name}" for name in DEMO_MODELS]
    lacking = [provider for provider in providers if not is_ready(provider, env)]
    wanted = _wanted(settings)
    others = [provider for provider in lacking if provider.name not in wanted]
    has_keys = bool(settings.key_sha256 or settings.keys_file or settings.keys_table)
    asks_key = has_keys or settings.require_key
    rows = {
        "with key": [p.name for p in providers if p.credential != "none" and p not in lacking],
        "need no key": [p.name for p in providers if p.credential == "none"],
        "key missing": [f"{p.name} ({_key(p)})" for p in lacking if p not in others],
        "aliases": [f"{alias} → {target}" for alias, target in settings.aliases.items()],
        "demo models": demo if settings.enable_demo else ["switched off"],
        "clients": [_clients(url, asks_key=asks_key, has_keys=has_keys)],
        "conversations": [_STORES.get(store, store)],
        **(more or {}),
    }
    lines = [_row(label, names) for label, names in rows.items() if names]
    if others:
        lines.append(
            f"  {len(others)} more {'hosts are' if len(others) > 1 else 'host is'} known by name: make providers"
        )
    if settings.enable_demo:
        key = " -H 'authorization: Bearer KEY'" if asks_key else ""
        lines.append(_TRY.format(url=near(url), model=demo[0], key=key))
    return "\n".join([f"toolwire listens at {url}/v1", *lines, "Ctrl-C stops it."])


def near(url: str) -> str:
    """The gateway's URL for programs on this machine. An address for all interfaces becomes the loopback one."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _clients(url: str, *, asks_key: bool, has_keys: bool) -> str:
    if asks_key:
        return "must show a key" if has_keys else "must show a key: there is none, so all are refused (KEY_SHA256)"
    others = urlsplit(url).hostname not in ("127.0.0.1", "::1")
    return "need no key: whoever reaches this address may use it (make key TENANT=me)" if others else "need no key"


def _wanted(settings: Settings) -> set[str]:
    """The providers that the configuration names: their missing keys get a line."""
    targets = {target.partition("/")[0] for target in settings.aliases.values()}
    return targets | (settings.providers.keys() - {host.name for host in HOSTS})


def providers_table(settings: Settings, env: Mapping[str, str]) -> str:
    """A line for each provider: its protocol, its address, and the variable of its key."""
    rows = [("provider", "protocol", "key", "address")]
    for provider in settings.providers.values():
        missing = "" if is_ready(provider, env) else " (missing)"
        key = "none needed" if provider.credential == "none" else f"{_key(provider)}{missing}"
        rows.append((provider.name, provider.wire, key, provider.base_url))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _key(provider: ProviderConfig) -> str:
    kind, _, name = provider.credential.partition(":")
    return name or ("access token" if kind in MINTED else "AWS credentials")


def _row(label: str, names: list[str]) -> str:
    start = _LABEL.format(label)
    text = ", ".join(name.replace(" ", "\N{NO-BREAK SPACE}") for name in names)
    wrapped = textwrap.fill(
        text, _COLUMNS, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False
    )
    return wrapped.replace("\N{NO-BREAK SPACE}", " ")


def is_ready(provider: ProviderConfig, env: Mapping[str, str]) -> bool:
    """Whether a credential is set. One in AWS counts as set; it is fetched when it is first used."""
    kind, _, name = provider.credential.partition(":")
    if kind == "aws":
        return bool(name) or any(env.get(sign) for sign in _AWS_CREDENTIALS)
    if kind in MINTED:
        kind, _, name = name.partition(":")
    return kind != "env" or bool(env.get(name, "").strip())


def main() -> int:
    """Prints the table of this environment's providers. Returns the exit status."""
    try:
        settings = load_settings(os.environ)
    except SettingsError as error:
        print(f"toolwire: {error}", file=sys.stderr)
        return 1
    print(providers_table(settings, os.environ))
    return 0


if __name__ == "__main__":
    sys.exit(main())
