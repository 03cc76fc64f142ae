"""The gateway's own rules over one answer, between the provider's decoder and the door's encoder.

Calls in text are recovered, identity is decided, custom tools get their calls back, the policy holds or refuses; what
is left is what the client is shown: its order is checked, and it is noted in the log's figures and in the record of
the turn. Each of these hands a batch on as the same object where it changes nothing, as for nearly every delta.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolwire.conversation import TurnRecord, tagged
from toolwire.exchange.answer_ids import AnswerIds
from toolwire.exchange.figures import Summary
from toolwire.model.events import (
    Batch,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    ResponseEnd,
    StreamFailed,
    TextDelta,
    TextEnd,
    ToolCallEnd,
)
from toolwire.policy import AnswerPolicy
from toolwire.rewrite.custom_tools import CustomCalls
from toolwire.stream.order import OrderCheck

if TYPE_CHECKING:
    from toolwire.stream.text_calls.recovery import TextCallRecovery

#: Events that may bring a part's state.
_SIGNED = (TextEnd, ReasoningEnd, ToolCallEnd)


@dataclass(slots=True)
class AnswerRules:
    """One answer. `take` and `broken` raise UpstreamProtocolError where a rule ends it."""

    recovery: TextCallRecovery | None
    ids: AnswerIds
    custom: CustomCalls
    policy: AnswerPolicy
    record: TurnRecord | None
    summary: Summary
    #: Whose state the client is shown, which is said with it; None where the client speaks the provider's own API.
    origin: str | None
    #: Whether the client was shown why the turn ended: how many calls it has is known.
    ends: bool = field(default=False, init=False)
    #: Whether the client was shown the answer's end.
    complete: bool = field(default=False, init=False)
    _order: OrderCheck = field(default_factory=OrderCheck, init=False)

    @property
    def begun(self) -> bool:
        """Whether anything was shown."""
        return self._order.state != "new"

    def take(self, batch: Batch) -> list[Batch]:
        """What the client may be shown now, maybe nothing."""
        self.summary.take_upstream(batch)
        if self.recovery is not None:
            batch = self.recovery.take(batch)
            if self.recovery.recovered:
                self.summary.recovered = self.recovery.recovered
                self.summary.warn("text_calls_recovered")
        batch = self.custom.take(self.ids.take(batch))
        return [self._shown(passed) for passed in self.policy.take(batch)]

    def broken(self, failure: StreamFailed) -> list[Batch]:
        """The answer broke off: what was held of its text, which the client is shown first, and the failure."""
        held = [self.ids.take(self.recovery.broken())] if self.recovery is not None else []
        return [self._shown(batch) for batch in (*held, Batch((failure,)))]

    def _shown(self, batch: Batch) -> Batch:
        """The batch as the door may show it, noted."""
        self._order.check(batch)
        is_signed = False
        for event in batch.events:
            if self.record is not None:
                self.record.take(event)
            kind = type(event)
            if kind is TextDelta or kind is ReasoningDelta:  # nearly all there is
                continue
            self.summary.take(event)
            if isinstance(event, _SIGNED):
                is_signed = is_signed or bool(event.signature)
            elif kind is Finish:
                self.ends = True
            elif kind is ResponseEnd:
                self.complete = True
        return self._tagged(batch, self.origin) if is_signed and self.origin is not None else batch

    def _tagged(self, batch: Batch, origin: str) -> Batch:
        """The batch with state that says whose it is. No door of another dialect has a use for its source."""
        events = tuple(
            replace(event, signature=tagged(event.signature, origin))
            if isinstance(event, _SIGNED) and event.signature
            else event
            for event in batch.events
        )
        return Batch(events, batch.extra)
