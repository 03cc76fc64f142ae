"""Bytes of an answer that are no text: hosts cut a character in two where a token ends, and write each half as it is.

U+FFFD stands for them in what the model says, with a warning, as in any client that reads such bytes. Where they are in
anything else (a call, an id, state), the answer is an error: what is run or sent back is never changed.
"""

from __future__ import annotations

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Batch, ReasoningDelta, StreamEvent, TextDelta
from toolwire.model.warnings import INVALID_TEXT, Warnings

_INSTEAD = "\ufffd"
#: As `repr` of a string and of bytes shows it.
_SHOWN = (_INSTEAD, "\\xef\\xbf\\xbd")


def in_valid_text(data: bytes) -> bytes | None:
    """The data with U+FFFD for what is no UTF-8; None where all of it is."""
    if data.isascii():
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return None


def check_replaced(batch: Batch, warnings: Warnings) -> Batch:
    """The batch of data in which U+FFFD stands for bytes, with a warning. Raises UpstreamProtocolError where it stands
    in what is no text of the model's. Events behind may repeat the whole text, as OpenAI's do."""
    others: list[StreamEvent] = []
    is_text = INVALID_TEXT in warnings
    for event in batch.events:
        if type(event) is TextDelta or type(event) is ReasoningDelta:
            is_text = is_text or _INSTEAD in event.text
        else:
            others.append(event)
    if not is_text or any(mark in repr(event) for event in others for mark in _SHOWN):
        raise UpstreamProtocolError("the upstream sent bytes that are no UTF-8 in what is no text of the model's")
    warnings.add(INVALID_TEXT)
    return batch
