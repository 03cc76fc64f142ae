"""Access tokens of clouds, for providers whose credential is one of `address.MINTED`: minted when one is first needed,
kept in this process, and minted anew before they expire.

tokens      a token, its renewal, and the requests to a cloud's servers
google      Google Cloud: a service account's key, workload identity federation, the metadata server
entra       Microsoft Entra ID: a client's secret, a federated token, a managed identity

A reference is the cloud's name, optionally in front of the place of a JSON document: "google:secret:NAME". Without a
document the cloud's credentials are found where its own tools look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from toolwire.providers.address import MINTED
from toolwire.shell.access.cloud_tokens.tokens import Ask as Ask
from toolwire.shell.access.cloud_tokens.tokens import KeptToken as KeptToken
from toolwire.shell.access.cloud_tokens.tokens import Token as Token
from toolwire.shell.access.cloud_tokens.tokens import TokenError as TokenError

#: Mints one token. Takes the JSON document (None: the cloud's own places), the scope (None: the cloud's usual one), the
#: provider's base URL, the environment, and an `Ask`. Raises TokenError.
Mint = Callable[[bytes | None, str | None, str, Mapping[str, str], Ask], Token]


def mint_of(cloud: str) -> Mint:
    """The function that mints a token of one of `MINTED`."""
    assert cloud in MINTED
    found: Mint = import_module(f"{__name__}.{cloud}").mint
    return found
