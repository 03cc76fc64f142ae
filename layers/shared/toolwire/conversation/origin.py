"""Whose state it is, and where it is kept."""

from __future__ import annotations

from functools import lru_cache

from toolwire.conversation.tool_call_ids import base62
from toolwire.model.settings import Target

#: What begins a signature that was shown to a client of another dialect than its provider's.
_TAG = "tw1."


def origin_of(target: Target) -> str:
    """Whose state it is: provider, model and the credential's name (an account's state means nothing to another)."""
    return _origin(target.provider.name, target.model, target.provider.credential)


@lru_cache(256)
def _origin(provider: str, model: str, credential: str) -> str:
    return base62(f"{provider}\n{model}\n{credential}".encode("utf-8", "surrogatepass"), 16)


def partition_of(tenant: str, token: str) -> str:
    """A tenant's name comes from authentication, so that no id in a body leads to another tenant's items."""
    return f"{tenant}#{token}"


def tagged(signature: str, origin: str) -> str:
    """A signature for a client of another dialect, which can bring it back: what it is worth stands in front of it."""
    return f"{_TAG}{origin}.{signature}"


def is_tagged(signature: str) -> bool:
    """Whether it says whose it is."""
    return signature.startswith(_TAG)


def own(signature: str, origin: str, shares_state: bool) -> str | None:
    """The signature a client has brought, as this origin made it; None for any other's."""
    if signature.startswith(_TAG):
        made_by, _, rest = signature.removeprefix(_TAG).partition(".")
        return rest or None if made_by == origin else None
    return signature if shares_state else None
