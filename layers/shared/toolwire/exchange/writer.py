"""Batches of neutral events to what the client is sent: a stream, or one document.

    data = writer.write(batches)     the door's bytes for what may be shown, maybe none yet
    writer.send(data)                these bytes, behind the head if that is still to come
    writer.fail(error, held)         the answer's end with an error

Each is the same whether the upstream streams or not: the reader has given the batches the client's shape.
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
    """See the module. One instance an answer. `context`: what the door was told, and what it tells."""

    context: AnswerContext

    def write(self, batches: list[Batch]) -> bytes: ...

    def send(self, data: bytes) -> list[Action]: ...

    def fail(self, error: GatewayError, held: list[Batch]) -> list[Action]:
        """`held`: what the client may still be shown, in front of an error event."""

    def early_head(self) -> Head:
        """The head to commit when the client must not wait longer for the upstream."""

    def keep_alive(self) -> bytes:
        """Bytes that show life and change nothing. Whoever asks has committed a head, this one or the early one."""


class StreamWriter:
    """An event stream. `order`: how far the answer is, as the client is shown it."""

    def __init__(self, door: Door, context: AnswerContext, heads: Heads, order: OrderCheck) -> None:
        self._door, self.context, self._heads, self._order = door, context, heads, order
        self._encoder = door.stream_encoder(context.request, context)

    def write(self, batches: list[Batch]) -> bytes:
        """See the module."""
        if len(batches) == 1 and not self._order.ended:
            return self._encoder.encode(batches[0])
        return b"".join(map(self._encoded, batches))

    def _encoded(self, batch: Batch) -> bytes:
        """A batch; in front of the answer's end what was found out after the head."""
        data = self._encoder.encode(batch)
        is_end = bool(batch.events) and type(batch.events[-1]) is ResponseEnd
        return self._late_warnings() + data if is_end else data

    def send(self, data: bytes) -> list[Action]:
        """See the module. The head goes out with the answer's first event, whether that has bytes or not."""
        if not self._order.begun:
            return []
        actions: list[Action] = []
        if not self._heads.sent:
            self._heads.sent = True
            actions.append(self.early_head())
        if data:
            # What storing the turn has shown comes after the end was written, and before it is sent.
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
        """What nothing has told yet, as a comment."""
        late = self._heads.late_warnings() if self._door.has_comments else ""
        return encode_comment(f"{HEADER}: {late}".encode()) if late else b""


class DocumentWriter:
    """One JSON document: the fold of the events, or, in the provider's own dialect, its answer."""

    def __init__(self, door: Door, context: AnswerContext, heads: Heads, order: OrderCheck) -> None:
        self._door, self.context, self._heads, self._order = door, context, heads, order
        self._fold = Fold()

    def write(self, batches: list[Batch]) -> bytes:
        """See the module: all of it comes with the answer's end."""
        for batch in batches:
            self._fold.take(batch)
        return (
            self._door.render_response(self._fold.response(), batches[-1], self.context) if self._order.ended else b""
        )

    def send(self, data: bytes) -> list[Action]:
        """See the module."""
        if not data:
            return []
        if self._heads.sent:  # early, and the stages may have had more to warn of since then: the log has it
            return [Send(data)]
        self._heads.sent = True
        return [self._heads.head(200, DOCUMENT), Send(data)]

    def fail(self, error: GatewayError, held: list[Batch]) -> list[Action]:  # noqa: ARG002 - a document is whole or an error
        """See the module. Behind a head that was committed, the error is a body with status 200."""
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
    """An error as an HTTP answer, while no head was sent."""
    return [heads.head(error.status, DOCUMENT, *error.retry_headers()), Send(door.render_error(error, request_id))]
