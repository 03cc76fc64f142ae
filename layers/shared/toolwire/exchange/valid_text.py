"""Bytes of an answer that are no text: hosts cut a character in two where a token ends, and write each half as it is.

U+FFFD stands for them in what the model says, with a warning, as in any client that reads such bytes. Where they are in
anything else (a call, an id, state), the answer is an error: what is run or sent back is never changed.
"""

from __future__ import annotations

from collections.abc import Callable

from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Batch, ReasoningDelta, StreamEvent, TextDelta
from toolwire.model.warnings import INVALID_TEXT, Warnings

_INSTEAD = "\ufffd"
#: As `repr` of a string and of bytes shows it.
_SHOWN = (_INSTEAD, "\\xef\\xbf\\xbd")


def decoded_with_replacements(data: bytes, decode: Callable[[bytes], Batch], warnings: Warnings) -> Batch | None:
    """The batch that `decode` makes of data with U+FFFD for what is no UTF-8, with a warning; None where all of the
    data is UTF-8. Raises UpstreamProtocolError where U+FFFD stands in what is no text of the model's, and what `decode`
    raises."""
    try:
        data.decode()
    except UnicodeDecodeError:
        batch = decode(data.decode("utf-8", "replace").encode())
    else:
        return None  # the caller raises its own error: raised here, it would hold this call's frame and its data
    _check(batch, INVALID_TEXT in warnings)
    warnings.add(INVALID_TEXT)
    return batch


def _check(batch: Batch, replaced: bool) -> None:
    """Raises UpstreamProtocolError unless U+FFFD stands in text alone, there or (`replaced`) in an earlier batch. Later
    events may repeat the whole text, as OpenAI's do."""
    others: list[StreamEvent] = []
    for event in batch.events:
        if type(event) is TextDelta or type(event) is ReasoningDelta:
            replaced = replaced or _INSTEAD in event.text
        else:
            others.append(event)
    if not replaced or any(mark in repr(event) for event in others for mark in _SHOWN):
        raise UpstreamProtocolError("the upstream sent bytes that are no UTF-8 in what is no text of the model's")
