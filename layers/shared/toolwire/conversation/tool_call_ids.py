"""Tool-call ids: pure rules for minting, keeping and rewriting them.

A minted id is `call_` + 32 characters of [A-Za-z0-9]: 10 of the conversation's token, 20 random (119 bits), 2 of a
checksum, so that a foreign id is not taken for one of ours. With 37 characters it fits OpenAI Chat (40), Responses and
Bedrock (64) and Anthropic's alphabet. Since the token is in every id, ids alone find the conversation of clients that
never name one, which is nearly all of them.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Container
from dataclasses import dataclass

from toolwire.model.http import CONVERSATION_HEADER
from toolwire.model.request import ChatRequest, TextPart

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
TOKEN_CHARS = 10
RANDOM_CHARS = 20

_MINTED = re.compile(r"call_([0-9A-Za-z]{10})[0-9A-Za-z]{20}[0-9A-Za-z]{2}")
_OURS = re.compile(r"conv_([0-9A-Za-z]{10})")
#: A client's name for its conversation that may be sent back in a header: every proxy passes these characters on.
_SHOWABLE = re.compile(r"[!-~]([ -~]{0,254}[!-~])?")
#: How much of each text of a conversation's opening counts.
_OPENING_CHARS = 4096


def base62(data: bytes, length: int) -> str:
    """The first `length` base62 digits of the data's SHA-256."""
    number = int.from_bytes(hashlib.sha256(data).digest(), "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(ALPHABET[digit])
    return "".join(digits)


def mint(token: str, random: str) -> str:
    """A new id of the conversation with this token; `random` is 20 characters of ALPHABET."""
    body = token + random
    return f"call_{body}{base62(body.encode(), 2)}"


@functools.lru_cache(maxsize=8192)  # a history is read several times in a turn, and again in the next one
def token_of(call_id: str) -> str | None:
    """The conversation token inside an id of ours; None for a foreign id."""
    match = _MINTED.fullmatch(call_id)
    if match is None or base62(call_id[5:-2].encode(), 2) != call_id[-2:]:
        return None
    return match[1]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation of a request: its name, and its token (10 base62 characters). The name is the client's own, or
    `conv_` and the token."""

    id: str
    token: str

    def partition(self, tenant: str) -> str:
        """The store's partition key: the tenant, and the client's own name for the conversation, else its token.
        `tenant` must come from authentication, so that no id in a body leads to another tenant's items."""
        return partition_of(tenant, self.token if self.id == _made(self.token) else self.id)


def partition_of(tenant: str, name: str) -> str:
    """The partition key of a conversation with this name or token. A tenant's name has no `#`."""
    return f"{tenant}#{name}"


def named_conversation(
    request: ChatRequest, headers: dict[str, str], tenant: str, names: tuple[str, ...] = (CONVERSATION_HEADER,)
) -> Conversation | None:
    """The conversation that the client names, in the body, or in a header: the first in `names` that the request has
    counts. None where it names none. A name that a header cannot hold is replaced by `conv_` and its token, which name
    the same conversation."""
    for named in (request.conversation_id, *map(headers.get, names)):
        if named:
            if ours := _OURS.fullmatch(named):
                return Conversation(named, ours[1])
            hashed = base62(f"{tenant}\n{named}".encode("utf-8", "surrogatepass"), TOKEN_CHARS)
            return Conversation(named if _SHOWABLE.fullmatch(named) else _made(hashed), hashed)
    return None


def find_conversation(request: ChatRequest, new_token: Callable[[], str]) -> Conversation:
    """The conversation of a request that names none: that of the newest minted id in the history, else a new one."""
    for call in reversed(request.tool_calls):
        if token := token_of(call.id):
            return Conversation(_made(token), token)
    token = new_token()
    return Conversation(_made(token), token)


def opening_token(request: ChatRequest, tenant: str) -> str:
    """The token of a conversation whose ids are the provider's own: a hash of how it begins, so that it is the same on
    every turn. Conversations that begin alike have the same."""
    told = hashlib.sha256(f"{tenant}\n".encode())
    for message in request.messages:
        told.update(message.role.encode())
        for part in message.parts:
            if type(part) is TextPart:
                told.update(part.text[:_OPENING_CHARS].encode("utf-8", "surrogatepass"))
        if message.role == "user":
            break
    return base62(told.digest(), TOKEN_CHARS)


def _made(token: str) -> str:
    return f"conv_{token}"


def keeps(call_id: str, pattern: str, used: Container[str]) -> bool:
    """Whether the client may be shown a provider's id: it matches the door's pattern, and no earlier call of this
    request or response has it."""
    return re.fullmatch(pattern, call_id) is not None and call_id not in used


def rewrite(call_id: str, occurrence: int, length: int) -> str:
    """The replacement of an id that a provider refuses, or that an earlier call has (`occurrence` > 0). It is the same
    on every turn, so that the provider's prompt cache still hits."""
    return base62(f"{occurrence}\n{call_id}".encode("utf-8", "surrogatepass"), length)
