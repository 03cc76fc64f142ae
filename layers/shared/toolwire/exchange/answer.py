"""The answer to one attempt: the upstream's bytes in, actions out.

    bytes ─► reader ─► stages ─► start ─► writer ─► gate ─► actions

A failure is kept in `error`. The exchange then makes another attempt, or tells the client by `fail`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from toolwire.conversation.kept_answers import answer_items
from toolwire.conversation.sticky_model import sticky_item
from toolwire.exchange.actions import Action, Send, Store
from toolwire.exchange.attempt import Attempt
from toolwire.exchange.gate import Gate
from toolwire.exchange.heads import Heads
from toolwire.exchange.observer import Observer
from toolwire.exchange.reader import Reader, reader_for
from toolwire.exchange.request_context import RequestContext
from toolwire.exchange.stages import stages_for
from toolwire.exchange.writer import writer_for
from toolwire.model.errors import GatewayError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import Batch, ReasoningStart, ResponseStart, StreamFailed, TextDelta, TextStart, UsageUpdate
from toolwire.model.stored import Item
from toolwire.model.warnings import Warnings

T = TypeVar("T")

#: Events that show no content yet. An empty delta of text shows none either.
_BEFORE_CONTENT = frozenset({ResponseStart, TextStart, ReasoningStart, UsageUpdate})


class Answer:
    """See the module."""

    def __init__(
        self, context: RequestContext, attempt: Attempt, heads: Heads, observer: Observer, *, holds_start: bool
    ) -> None:
        """`holds_start`: write nothing before the first content, because another attempt may still replace this one."""
        self._context, self._attempt, self._heads, self._observer = context, attempt, heads, observer
        #: The observer, if it wants to see each frame, each batch and all that is sent; else None.
        self._follower = observer if observer.follows_tokens else None
        self._stages = stages_for(context, attempt)
        self.writer = writer_for(context, attempt, self._stages, heads)
        sticky = sticky_item(context.client.request, context.client.tenant.name, attempt.target, context.expires_at)
        self._gate = Gate(self._stages.record, sticky, context.figures)
        self._reader: Reader | None = None
        self._start: list[Batch] | None = [] if holds_start else None
        self._written: list[bytes] = []
        #: Whether the client has been sent some of the answer.
        self.shown = False
        #: Whether the answer has ended: what the upstream still sends is ignored.
        self.over = False
        #: The failure, while the client has not been told of it.
        self.error: GatewayError | None = None

    @property
    def begun(self) -> bool:
        """Whether the upstream has sent its head."""
        return self._reader is not None

    @property
    def finished(self) -> bool:
        """Whether the provider's finish has passed the stages."""
        return self._stages.order.finished

    def receive_head(self, status: int, headers: dict[str, str]) -> None:
        """The upstream's status and headers (names in lower case)."""
        self._observer.upstream_head(status, headers)
        figures = self._context.figures
        figures.upstream_status = status
        self._heads.upstream_headers, self._heads.warnings_before = headers, Warnings(figures.warnings)
        self._reader = reader_for(status, headers, self._context, self._attempt, self._follower)

    def receive_data(self, data: bytes) -> list[Action]:
        """Some bytes of the upstream's body."""
        if self._reader is None or self.over or self.error is not None:
            return []
        self._observer.upstream_data(data)
        return self._pass(self._reader.feed, data)

    def receive_end(self, error: GatewayError | None) -> list[Action]:
        """The upstream's body is over, or broke off with `error`."""
        self._observer.upstream_end(error)
        if self.over or self.error is not None:
            return []
        if self._reader is None:
            self.error = error or UpstreamTruncated("the upstream closed the connection without an answer")
            return []
        return self._pass(self._reader.end, error)

    def receive_stored(self, error: str | None) -> list[Action]:
        """The actions that waited for the store."""
        return self._send(self._gate.release(error))

    def fail(self, error: GatewayError) -> list[Action]:
        """Ends the answer with an error. What was understood before the error reaches the client first; nothing is
        stored."""
        self.over = True
        before = self._send(b"".join(self._written)) if self._written else []
        held: list[Batch] = []
        if self._heads.sent and not self._stages.order.ended:
            held = self._observed(self._begun_with(self._stages.broken()))
            self._observed([Batch((StreamFailed(error.code, error.message, error.status),))])
        return before + self._followed(self.writer.fail(error, held))

    def keep_alive(self) -> bytes:
        """See `Writer`."""
        data = self.writer.keep_alive()
        self._followed([Send(data)])
        return data

    def _pass(self, read: Callable[[T], Iterable[Batch]], given: T) -> list[Action]:
        """Takes the batches of `read(given)` through the stages and the writer. Returns what the client is sent."""
        written = self._written = []
        try:
            for batch in read(given):
                if self.over:  # what follows the end, such as a second [DONE]
                    break
                batches = self._stages.take(batch)
                if self._start is not None:
                    batches = self._from_content_on(batches)
                written.append(self.writer.write(self._observed(batches)))
                # Only after `write`: an answer that the door cannot show must still become an error.
                self.over = self._stages.order.ended
        except RecursionError:
            self.error = UpstreamProtocolError("the upstream's answer is nested too deeply")
        except GatewayError as error:
            self.error = error
        if self.over:
            self.error = None  # a fault behind the answer's end does not count
        if self.error is not None:
            return []
        data = b"".join(written)
        if self.finished and (items := self._gate.hold(data, self._kept())):
            return [Store(items)]
        return self._send(data)

    def _kept(self) -> tuple[Item, ...]:
        """The items that keep the whole answer for later requests: returned once, at its end. None of them
        where a host of the client's own API keeps its answers itself."""
        keeping, context = self._context.client.request.kept, self.writer.context
        final, context.final = context.final, b""
        if keeping is None or not keeping.wanted or not final or self._attempt.same_dialect:
            return ()
        items = answer_items(self._context.client.tenant.name, keeping, final, self._context.expires_at)
        if not items:
            self._context.figures.warnings.add("answer_not_kept")
        return items

    def _from_content_on(self, batches: list[Batch]) -> list[Batch]:
        """Holds the batches until one has content. Returns all that was held then, and nothing before."""
        held = self._begun_with(batches)
        if any(map(_has_content, batches)):
            return held
        self._start = held
        return []

    def _begun_with(self, batches: list[Batch]) -> list[Batch]:
        """The batches behind those that were held of the answer's start."""
        held, self._start = self._start or [], None
        return [*held, *batches]

    def _send(self, data: bytes) -> list[Action]:
        if self._start is not None:
            return []
        actions = self.writer.send(data)
        self.shown = self.shown or bool(actions)
        return self._followed(actions)

    def _followed(self, actions: list[Action]) -> list[Action]:
        if self._follower is not None:
            for action in actions:
                if not isinstance(action, Store):
                    self._follower.sent(action.data if isinstance(action, Send) else action)
        return actions

    def _observed(self, batches: list[Batch]) -> list[Batch]:
        if self._follower is not None:
            for batch in batches:
                self._follower.batch(batch)
        return batches


def _has_content(batch: Batch) -> bool:
    """Whether the batch shows some of an answer, or its end."""
    return any(
        type(event) not in _BEFORE_CONTENT and not (type(event) is TextDelta and not event.text)
        for event in batch.events
    )
