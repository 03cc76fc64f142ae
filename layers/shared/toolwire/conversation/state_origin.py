"""The origin of a provider's state, and the tags of signatures."""

from __future__ import annotations

from functools import lru_cache

from toolwire.conversation.tool_call_ids import base62
from toolwire.model.settings import Target

#: The prefix of a signature that was shown to a client of another dialect than its provider's.
_TAG = "tw1."


def origin_of(target: Target) -> str:
    """The origin of a target's state: a hash of the provider, the model and the credential's name. The credential
    counts since one account refuses the state of another."""
    return _origin(target.provider.name, target.model, target.provider.credential)


@lru_cache(256)
def _origin(provider: str, model: str, credential: str) -> str:
    return base62(f"{provider}\n{model}\n{credential}".encode("utf-8", "surrogatepass"), 16)


def tagged(signature: str, origin: str) -> str:
    """The signature with its origin in front, for a client of another dialect. `own` reads it when it comes back."""
    return f"{_TAG}{origin}.{signature}"


def is_tagged(signature: str) -> bool:
    """Whether the signature names its origin (see `tagged`)."""
    return signature.startswith(_TAG)


def own(signature: str, origin: str, shares_state: bool) -> str | None:
    """The signature that a client sent, as `origin` made it; None if another origin made it. One without a tag
    belongs to `origin` only if `shares_state`: the client gets the provider's signatures without a tag."""
    if signature.startswith(_TAG):
        made_by, _, rest = signature.removeprefix(_TAG).partition(".")
        return rest or None if made_by == origin else None
    return signature if shares_state else None
