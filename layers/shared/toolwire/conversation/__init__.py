"""What a turn with tool calls writes to the store, and what a later turn reads. Pure: items in, items out.

    wanted(request, tenant, named)   what to look up, found by the ids in the history
    restored(request, found, ...)    the history as its provider knows it: own ids, signatures, reasoning
    TurnRecord                       reads an answer's events; its items are stored before the client sees the end

A provider's state is opaque and goes back to its origin only: the same provider, model and credential. It is stored
since clients drop it: every client does whose API has no field for it. Missing state never ends a conversation; each
provider's writer can do without.

    tool_call_ids    how ids are minted, kept and found again
    restore          what is read before a turn, and put into its history
    turn_record      what a turn leaves behind
    stored_form      a turn's state as it is stored
    state_origin     whose a state or a signature is
    sticky_model     the model that a conversation used last
    kept_answers     answers that a client can continue from by their ids
"""

from toolwire.conversation.restore import NOTHING_FOUND, Found, Restored, Wanted, name_in, restored, wanted
from toolwire.conversation.state_origin import origin_of, tagged
from toolwire.conversation.tool_call_ids import Conversation, partition_of
from toolwire.conversation.turn_record import TurnRecord

__all__ = [
    "NOTHING_FOUND",
    "Conversation",
    "Found",
    "Restored",
    "TurnRecord",
    "Wanted",
    "name_in",
    "origin_of",
    "partition_of",
    "restored",
    "tagged",
    "wanted",
]
