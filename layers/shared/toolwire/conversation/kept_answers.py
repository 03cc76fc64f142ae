"""Answers of the Responses API that are kept, for a tenant that has them kept: what a later request continues from.

An answer is kept with the input that it answers, not with what came before: of that it names the answers (`earlier`),
so a conversation grows by what was said. After `MOST_EARLIER` of them all that came before is kept once more, which
bounds what a request reads. Pure: values in, items of the store out, and back.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from toolwire.conversation.tool_call_ids import partition_of
from toolwire.model.kept_answers import Keeping
from toolwire.model.stored import Item, Key
from toolwire.wire.json import elements, raw_members

#: What the sort keys of an answer's parts begin with.
_SORT = "answer#"
#: The most parts of one answer, and the bytes of one: an item of DynamoDB may have 400 KB.
_MOST_PARTS, _PART_BYTES = 4, 350 * 1024
#: The most bytes of an answer and its input, not compressed: as much as a request may have, and its answer.
_PLAIN_BYTES = 16 << 20
#: How many earlier answers one may lean on.
MOST_EARLIER = 16


class _Document(msgspec.Struct):
    input: list[msgspec.Raw]
    earlier: list[str]
    response: msgspec.Raw


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """`input`: the items that it answers, raw; `earlier`: the ids of the answers before it, oldest first; `response`:
    the response object."""

    input: tuple[bytes, ...]
    earlier: tuple[str, ...]
    response: bytes

    @property
    def output(self) -> list[bytes]:
        """The items of the answer, raw."""
        return elements(raw_members(self.response)["output"])


def answer_keys(tenant: str, id: str) -> list[Key]:
    """The store's keys of the parts of an answer."""
    return [Key(partition_of(tenant, id), f"{_SORT}{part}") for part in range(_MOST_PARTS)]


def answer_items(tenant: str, keeping: Keeping, response: bytes, expires_at: int) -> tuple[Item, ...]:
    """The items to store; none for an answer that is too large. `expires_at` is in seconds since 1970."""
    input_, earlier = keeping.input, keeping.earlier
    if keeping.previous is not None:
        earlier = (*earlier, keeping.previous)
    if len(earlier) > MOST_EARLIER:
        input_, earlier = (*keeping.before, *input_), ()
    document = _Document([msgspec.Raw(item) for item in input_], list(earlier), msgspec.Raw(response))
    plain = msgspec.json.encode(document)
    data = zlib.compress(plain) if len(plain) <= _PLAIN_BYTES else b""
    if not data or len(data) > _MOST_PARTS * _PART_BYTES:
        return ()
    pieces = [data[at : at + _PART_BYTES] for at in range(0, len(data), _PART_BYTES)]
    keys = answer_keys(tenant, msgspec.json.decode(raw_members(response)["id"], type=str))
    return tuple(Item(key, {"data": piece, "v": 1}, expires_at) for key, piece in zip(keys, pieces, strict=False))


def read_answer(items: Iterable[Item]) -> KeptAnswer | None:
    """The answer of its parts, in order; None where they are not all there."""
    data = b"".join(value for item in items if isinstance(value := item.values.get("data"), bytes))
    try:
        document = msgspec.json.decode(zlib.decompressobj().decompress(data, _PLAIN_BYTES), type=_Document)
    except (zlib.error, msgspec.DecodeError):
        return None
    return KeptAnswer(tuple(map(bytes, document.input)), tuple(document.earlier), bytes(document.response))


def history_of(id: str, answers: Mapping[str, KeptAnswer]) -> tuple[bytes, ...] | None:
    """All items of the conversation up to and with this answer; None where one of its answers is not there."""
    given = input_of(id, answers)
    return None if given is None else (*given, *answers[id].output)


def input_of(id: str, answers: Mapping[str, KeptAnswer]) -> tuple[bytes, ...] | None:
    """All items that this answer answers; None where one of the answers before it is not there."""
    earlier = answers[id].earlier
    if any(one not in answers for one in earlier):
        return None
    before = (item for one in earlier for item in (*answers[one].input, *answers[one].output))
    return (*before, *answers[id].input)
