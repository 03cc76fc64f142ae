"""Writes batches of neutral events for the client: as a stream, or as one document.

    data = writer.write(batches)     the door's bytes for these batches, maybe none yet
    writer.send(data)                the actions that send them, with the head if it was not sent yet
    writer.fail(error, held)         the actions that end the answer with an error

A writer does not depend on whether the upstream streams: the reader has prepared the batches for the client's kind of
answer.
"""

from __future__ import annotations

from typing import Protocol

from toolwire.doors import AnswerContext, Door
from toolwire.exchange.actions import Action, Send
from toolwire.exchange.attempt import Attempt
from toolwire.exchange.heads import DOCUMENT, STREAM, Heads
from toolwire.exchange.request_context import RequestContext
from toolwire.exchange.stages import Stages
from toolwire.framing.sse import encode_comment
from toolwire.model.errors import GatewayError
from toolwire.model.events import Batch, ResponseEnd
from toolwire.model.http import Head
from toolwire.model.warnings import HEADER
from toolwire.stream.fold import Fold
from toolwire.stream.order import OrderCheck


class Writer(Protocol):
    """See the module. One instance an answer. `context` is shared with the door."""

    context: AnswerContext

    def write(self, batches: list[Batch]) -> bytes: ...

    def send(self, data: bytes) -> list[Action]: ...

    def fail(self, error: GatewayError, held: list[Batch]) -> list[Action]:
        """`held`: batches that the client may still be shown, before an error event."""

    def early_head(self) -> Head:
        """The head to commit when the client must not wait longer for the upstream."""

    def keep_alive(self) -> bytes:
        """Bytes that keep the connection alive and do not change the answer. The caller must have sent a head before:
        that of the answer or the early one."""


class StreamWriter:
    """Writes an event stream. `order`: how far the answer is, after the stages."""

    def __init__(self, door: Door, context: AnswerContext, heads: Heads, order: OrderCheck) -> None:
        self._door, self.context, self._heads, self._order = door, context, heads, order
        self._encoder = door.stream_encoder(context.request, context)

    def write(self, batches: list[Batch]) -> bytes:
        """See the module."""
        if len(batches) == 1 and not self._order.ended:
            return self._encoder.encode(batches[0])
        return b"".join(map(self._encoded, batches))

    def _encoded(self, batch: Batch) -> bytes:
        """The bytes of a batch. In front of the answer's end stand the warnings that came after the head."""
        data = self._encoder.encode(batch)
        is_end = bool(batch.events) and type(batch.events[-1]) is ResponseEnd
        return self._late_warnings() + data if is_end else data

    def send(self, data: bytes) -> list[Action]:
        """See the module. The head is sent with the answer's first event, even if the door writes no bytes for it."""
        if not self._order.begun:
            return []
        actions: list[Action] = []
        if not self._heads.sent:
            self._heads.sent = True
            actions.append(self.early_head())
        if data:
            # Storing the turn may add warnings after the end was written and before it is sent.
            actions.append(Send(self._late_warnings() + data if self._order.ended else data))
        return actions

    def fail(self, error: GatewayError, held: list[Batch]) -> list[Action]:
        """See the module."""
        if self._heads.sent:
            return [Send(self.write(held) + self._encoder.fail(error, self.context.request_id))]
        self._heads.sent = True
        return error_answer(error, self._door, self._heads, self.context.request_id)

    def early_head(self) -> Head:
        """See `Writer`."""
        kind = self._door.stream_type(self.context.request) or STREAM
        return self._heads.stream_head(kind)

    def keep_alive(self) -> bytes:
        """See `Writer`."""
        self._heads.sent = True
        return self._encoder.keep_alive()

    def _late_warnings(self) -> bytes:
        """The warnings that the client was not told of yet, as a comment."""
        late = self._heads.late_warnings() if self._door.has_comments else ""
        return encode_comment(f"{HEADER}: {late}".encode()) if late else b""


class DocumentWriter:
    """Writes one JSON document: the fold of the events, or, in the provider's own dialect, the provider's answer."""

    def __init__(self, door: Door, context: AnswerContext, heads: Heads, order: OrderCheck) -> None:
        self._door, self.context, self._heads, self._order = door, context, heads, order
        self._fold = Fold()

    def write(self, batches: list[Batch]) -> bytes:
        """See the module. The whole document comes with the answer's end."""
        for batch in batches:
            self._fold.take(batch)
        return (
            self._door.render_response(self._fold.response(), batches[-1], self.context) if self._order.ended else b""
        )

    def send(self, data: bytes) -> list[Action]:
        """See the module."""
        if not data:
            return []
        if self._heads.sent:  # the early head: warnings since then are only in the log
            return [Send(data)]
        self._heads.sent = True
        return [self._heads.head(200, DOCUMENT), Send(data)]

    def fail(self, error: GatewayError, held: list[Batch]) -> list[Action]:  # noqa: ARG002 - a document is whole or an error
        """See the module. Behind a head that was sent, the error is a body with status 200."""
        if self._heads.sent:
            return [Send(self._door.render_error(error, self.context.request_id))]
        self._heads.sent = True
        return error_answer(error, self._door, self._heads, self.context.request_id)

    def early_head(self) -> Head:
        """See `Writer`."""
        return self._heads.head(200, DOCUMENT)

    def keep_alive(self) -> bytes:
        """See `Writer`: white space, which may stand before any JSON."""
        self._heads.sent = True
        return b" "


def writer_for(context: RequestContext, attempt: Attempt, stages: Stages, heads: Heads) -> Writer:
    """The writer of the answer to one attempt."""
    client = context.client
    about = AnswerContext(
        context.request_id,
        context.conversation.id,
        attempt.target.provider.name,
        client.request,
        warnings=context.figures.warnings,
        faults=stages.policy.faults,
        now=context.now,
    )
    writer = StreamWriter if client.request.stream else DocumentWriter
    return writer(client.door, about, heads, stages.order)


def error_answer(error: GatewayError, door: Door, heads: Heads, request_id: str) -> list[Action]:
    """The actions of an error as an HTTP answer. Only while no head was sent."""
    return [heads.head(error.status, DOCUMENT, *error.retry_headers()), Send(door.render_error(error, request_id))]
