"""What the local server says when it starts: where it is and what it can reach. Names only, never a credential."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Mapping

from toolwire.model.settings import ProviderConfig, Settings
from toolwire.providers.hosts import DEMO, DEMO_MODELS

_COLUMNS = 100
_LABEL = "  {:<15} "

#: Variables by which AWS's own tools find credentials; those of a machine's role are found without any.
_AWS_CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)

#: What a store means for whoever stops the server.
_STORES = {
    "memory": "kept in memory until it stops",
    "moto": "kept in moto's DynamoDB until it stops",
    "dynamodb": "kept in DynamoDB",
}


def banner(url: str, settings: Settings, wires: Container[str], env: Mapping[str, str], store: str) -> str:
    """The lines of the start banner. `wires` are the protocols that are built: providers of others are not offered.
    `store` is the kind of store."""
    providers = [provider for provider in settings.providers.values() if provider.wire in wires]
    demo = [f"{DEMO}/{name}" for name in DEMO_MODELS]
    lacking = [provider for provider in providers if not _is_ready(provider, env)]
    rows = {
        "demo models": demo if settings.enable_demo else ["switched off"],
        "with key": [p.name for p in providers if p.credential != "none" and p not in lacking],
        "need no key": [p.name for p in providers if p.credential == "none"],
        "key missing": [f"{p.name} ({p.credential.partition(':')[2] or 'AWS credentials'})" for p in lacking],
        "clients": [
            "must show a key" if settings.key_sha256 or settings.require_key or settings.keys_file else "need no key"
        ],
        "conversations": [_STORES.get(store, store)],
    }
    lines = [_row(label, names) for label, names in rows.items() if names]
    return "\n".join([f"toolwire listens at {url}/v1", *lines, "Ctrl-C stops it."])


def _row(label: str, names: list[str]) -> str:
    start = _LABEL.format(label)
    text = ", ".join(name.replace(" ", "\N{NO-BREAK SPACE}") for name in names)
    wrapped = textwrap.fill(
        text, _COLUMNS, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False
    )
    return wrapped.replace("\N{NO-BREAK SPACE}", " ")


def _is_ready(provider: ProviderConfig, env: Mapping[str, str]) -> bool:
    """Whether a credential is there. One in AWS is fetched when it is first used, and counts as there."""
    kind, _, name = provider.credential.partition(":")
    if kind == "aws":
        return bool(name) or any(env.get(sign) for sign in _AWS_CREDENTIALS)
    return kind != "env" or bool(env.get(name, "").strip())
