"""What the store keeps of a conversation: no message, only ids and what providers want back.

One item for each minted call id (`call_...`): whose call it was and what its provider called it. One item for the state
of each turn with calls (`state#` + the id of its first call): see `conversation`. The table's keys are
`conversation_id` (here `partition`) and `tool_call_id` (here `sort`).
"""

from __future__ import annotations

from dataclasses import dataclass

#: What the sort key of a turn's state begins with; that of a mapping is the call's id itself.
STATE_PREFIX = "state#"
CALL_PREFIX = "call_"
#: The sort key of the item that leads from a conversation's token to the name that its client has given it. No call has
#: this id, but it begins as a call's: the Query for a partition's mappings finds it, too.
NAME = "call_name"

#: A value of an item: text, a whole number, or bytes.
Value = str | int | bytes


@dataclass(frozen=True, slots=True)
class Key:
    """`partition` is "{tenant}#{name}", or "{tenant}#{token}" of a conversation that no client has named: the tenant
    comes from authentication, so that nobody reads another's items."""

    partition: str
    sort: str


@dataclass(frozen=True, slots=True)
class Item:
    """`expires_at` is in seconds since 1970: later than that no reader gets the item, whether it is deleted yet or
    not."""

    key: Key
    values: dict[str, Value]
    expires_at: int
