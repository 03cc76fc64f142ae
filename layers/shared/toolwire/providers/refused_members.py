"""Leaves out members of a request that a host of OpenAI's APIs has refused, and shortens identifiers that it finds too
long. Both are learned from a refusal, and hold for clients of every API.

Agents send these members with every request. Hosts that check names refuse them (NVIDIA, Azure: kimi-code#3660), and
OpenAI, Azure and xAI refuse a key for the prompt cache of more than 64 characters (hermes-agent#62063, pi#4719).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from toolwire.model.warnings import Warnings
from toolwire.providers.profiles import Profile
from toolwire.wire.json import dump
from toolwire.wire.member_names import NOTHING_ASKED

#: Members without which a request means the same, or is only served worse.
_SERVED_WORSE = (
    "metadata", "prediction", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "safety_identifier", "service_tier", "store", "user",
)  # fmt: skip

#: Members that hold any name of the client's own, and the most characters that OpenAI takes of them.
_IDENTIFIERS = ("prompt_cache_key", "safety_identifier", "user")
_LONGEST = 64

#: Warning: an identifier was sent as its digest.
HASHED = "identifier_hashed"

#: What a refusal says of an identifier that is too long.
_TOO_LONG = re.compile(
    rf"\b({'|'.join(_IDENTIFIERS)})\b\W.{{0,40}}\b(too long|at most {_LONGEST}\b|maximum length)", re.IGNORECASE
)
#: What a refusal says of a member that may not be there.
_NOT_THERE = re.compile(
    r"\b(unsupported|unexpected|unknown|unrecognized|extra|additional)\b.{0,30}"
    r"\b(property|properties|fields?|parameters?|params?|keys?|arguments?|inputs?)\b"
    r"|\b(property|field|parameter|argument)\b.{0,60}"
    r"\b(unsupported|unexpected|unknown|unrecognized|forbidden|only allowed"
    r"|(not|n't) (be )?(supported|permitted|allowed|accepted))\b",
    re.IGNORECASE | re.DOTALL,
)


def unknown_members(refusal: str) -> frozenset[str]:
    """The members that a refusal names as ones that may not be there."""
    if _NOT_THERE.search(refusal) is None:
        return frozenset()
    return frozenset(name for name in _SERVED_WORSE if re.search(rf"(?<![a-z_.]){name}(?![a-z_.\[])", refusal))


def is_about_identifiers(refusal: str) -> bool:
    """Whether a refusal is about the length of an identifier."""
    return _TOO_LONG.search(refusal) is not None


def as_refusals_told(
    pairs: Iterable[tuple[str, bytes]], profile: Profile, warnings: Warnings
) -> Iterable[tuple[str, bytes]]:
    """The members of a request as the host takes them; the same object if it has refused none."""
    if not profile.unknown_members and not profile.short_identifiers:
        return pairs
    return _known(pairs, profile, warnings)


def _known(pairs: Iterable[tuple[str, bytes]], profile: Profile, warnings: Warnings) -> Iterator[tuple[str, bytes]]:
    for name, raw in pairs:
        if name in profile.unknown_members:
            if raw not in (b"null", NOTHING_ASKED.get(name)):
                warnings.add(f"not_supported:{name}")
        elif profile.short_identifiers and name in _IDENTIFIERS and len(raw) > _LONGEST + 2:
            warnings.add(HASHED)
            yield name, dump(hashlib.sha256(raw).hexdigest())
        else:
            yield name, raw
