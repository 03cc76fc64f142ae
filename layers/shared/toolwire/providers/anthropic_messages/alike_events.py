"""Events that are like an earlier one but for the piece of a text or of a call's input: see `AlikeFrames`."""

from __future__ import annotations

from toolwire.model.events import StreamEvent
from toolwire.providers.alike_frames import AlikeFrames, Changed, Form
from toolwire.providers.anthropic_messages.answer_blocks import Blocks
from toolwire.wire import anthropic_messages as wire

#: A kind of delta -> the member that holds its string.
_STRINGS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}

#: A block's index, and the kind of its delta.
Place = tuple[int, str]


class AlikeEvents(AlikeFrames[Place]):
    """The alike events of one answer. `blocks`: what the answer has so far."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(_FORM)
        self._blocks = blocks

    def _event(self, place: Place, text: str) -> StreamEvent | None:
        """See `AlikeFrames`."""
        return self._blocks.go_on(*place, text)


def _changed(event: wire.Event) -> Changed[Place] | None:
    delta, index = event.delta, event.index
    if event.type != "content_block_delta" or delta is None or delta.type is None or index is None:
        return None
    member = _STRINGS.get(delta.type)
    text = None if member is None else getattr(delta, member)
    if member is None or not text:
        return None
    alone = wire.Delta(delta.type)
    setattr(alone, member, text)
    if event != wire.Event(event.type, index, alone):
        return None
    setattr(delta, member, text + ".")
    return Changed(event, (index, delta.type), text + ".")


_FORM = Form(wire.DIALECT, wire.event_decoder.decode, _changed, rb"text|thinking|partial_json")
