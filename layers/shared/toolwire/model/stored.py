"""What the store keeps of a conversation: no message, only ids and what providers want back.

There is one item for each minted call id (`call_...`), with the call's provider and the provider's own id; and one for
the state of each turn with calls (`state#` + the id of its first call): see `conversation`. The table's keys are
`conversation_id` (here `partition`) and `tool_call_id` (here `sort`).
"""

from __future__ import annotations

from dataclasses import dataclass

#: What the sort key of a turn's state begins with; that of a mapping is the call's id itself.
STATE_PREFIX = "state#"
CALL_PREFIX = "call_"
#: The sort key of the item that maps a conversation's token to the name that its client has given it. It begins as a
#: call's id does, so that the Query for a partition's mappings finds it too; no call has this id.
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
    """`expires_at` is in seconds since 1970. From then on no reader gets the item, even if it is not deleted yet."""

    key: Key
    values: dict[str, Value]
    expires_at: int
