"""What a turn with tool calls leaves in the store, and what a later turn takes from there. Pure: items in, items out.

    wanted(request, tenant)          what to look up, found by the ids in the history alone
    restored(request, found, ...)    the history as its provider knows it: own ids, signatures, reasoning
    TurnRecord                       follows an answer and says what to store before the client hears that it is over

A provider's state is opaque and goes back to its origin only: the same provider, model and credential. It is kept for
clients that drop it, which is every client of an API without a field for it. Missing state never ends a conversation;
each provider's writer knows what to do without.
"""

from toolwire.conversation.origin import origin_of, partition_of, tagged
from toolwire.conversation.record import TurnRecord
from toolwire.conversation.restore import NOTHING_FOUND, Found, Restored, Wanted, restored, wanted

__all__ = [
    "NOTHING_FOUND",
    "Found",
    "Restored",
    "TurnRecord",
    "Wanted",
    "origin_of",
    "partition_of",
    "restored",
    "tagged",
    "wanted",
]
