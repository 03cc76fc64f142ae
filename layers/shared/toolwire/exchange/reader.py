"""The upstream's bytes to batches of neutral events: an event stream, a whole document, or a refusal (an error status).

    reader = reader_for(status, headers, ...)
    for batch in reader.feed(data): ...      the batches that these bytes complete
    for batch in reader.end(error): ...      the rest: the body is over, or broke off with `error`

Both raise UpstreamError for a failure that the provider reports or causes, after the batches that were read before it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal, Protocol

from toolwire.exchange.attempt import Attempt
from toolwire.exchange.figures import Figures
from toolwire.exchange.observer import Observer
from toolwire.exchange.request_context import RequestContext
from toolwire.exchange.valid_text import decoded_with_replacements
from toolwire.framing import Frame, Framing
from toolwire.framing.sse import says_lines
from toolwire.model.errors import GatewayError, UpstreamError, UpstreamProtocolError, UpstreamTruncated
from toolwire.model.events import Batch
from toolwire.model.limits import ANSWER_BYTES
from toolwire.model.settings import ProviderConfig
from toolwire.providers import Provider
from toolwire.providers.decoder_context import DecoderContext
from toolwire.wire.plain import plain

#: A body shows within so many bytes whether it is a stream, whatever its content type says.
_BEGINNING = 16


class Reader(Protocol):
    """See the module. One instance an answer."""

    def feed(self, data: bytes) -> Iterable[Batch]: ...

    def end(self, error: GatewayError | None) -> Iterable[Batch]: ...


def reader_for(
    status: int, headers: dict[str, str], context: RequestContext, attempt: Attempt, follower: Observer | None
) -> Reader:
    """The reader of the answer with this head (names of headers in lower case) to one attempt. `follower` sees each
    frame."""
    provider, figures, for_stream = attempt.provider, context.figures, context.client.request.stream
    if not 200 <= status < 300:
        return RefusalReader(status, headers, provider, attempt.target.provider)
    of_request = attempt.decoder_context(figures.warnings)

    def stream_reader(start: bytes, content_type: str) -> StreamReader | None:
        framing = provider.framing(content_type, start, asked=for_stream)
        if framing is None:
            return None
        return StreamReader(framing, provider, figures, of_request, for_stream=for_stream, observer=follower)

    def document_reader(content_type: str) -> DocumentReader:
        may_be_stream = partial(stream_reader, content_type=content_type)
        return DocumentReader(provider, figures, of_request, may_be_stream, for_stream=for_stream)

    content_type = headers.get("content-type", "").lower()
    stream = stream_reader(b"", content_type)
    if stream is None:
        return document_reader(content_type)
    # An object is no event: a document under a stream's type is read as what it is.
    return stream if says_lines(content_type) else LabelledReader(stream, partial(document_reader, "application/json"))


class LabelledReader:
    """A stream, as its content type says, unless it begins as a document does: then `document_reader` gives its
    reader."""

    def __init__(self, stream: StreamReader, document_reader: Callable[[], DocumentReader]) -> None:
        self._reader: Reader = stream
        self._document_reader = document_reader
        self._begun = False

    def feed(self, data: bytes) -> Iterable[Batch]:
        """See the module."""
        if not self._begun and (start := data.removeprefix(BOM_UTF8).lstrip()):
            self._begun = True
            if start[:1] == b"{":
                self._reader, data = self._document_reader(), start
        return self._reader.feed(data)

    def end(self, error: GatewayError | None) -> Iterable[Batch]:
        """See the module."""
        return self._reader.end(error)


class StreamReader:
    """Reads an event stream. `for_stream`: the client gets a stream too; else the answer is gathered into a
    document."""

    def __init__(
        self,
        frames: Framing,
        provider: Provider,
        figures: Figures,
        context: DecoderContext,
        *,
        for_stream: bool,
        observer: Observer | None,
    ) -> None:
        self._frames, self._figures, self._observer = frames, figures, observer
        self._decoder, self._warnings = provider.decoder(context), context.warnings
        self._for_stream = for_stream
        self._size = 0

    def feed(self, data: bytes) -> Iterator[Batch]:
        """See the module."""
        if not self._size:
            _check_page(data)
        self._size += len(data)
        if not self._for_stream:
            _check_size(self._size)
        for frame in self._frames.feed(data):
            yield self._read(frame)

    def end(self, error: GatewayError | None) -> Iterator[Batch]:
        """See the module. A last frame without a blank line counts if it can be read; else the answer was cut. A
        complete answer is complete, however its connection ended."""
        for frame in self._left(error):
            try:
                batch = self._read(frame)
            except UpstreamProtocolError:
                raise error or UpstreamTruncated("the upstream's answer broke off inside a frame") from None
            except UpstreamTruncated as truncated:
                raise error or truncated from None
            yield batch
        try:
            last = self._decoder.end()
        except UpstreamTruncated as truncated:
            raise error or truncated from None
        yield self._shaped(last)

    def _left(self, error: GatewayError | None) -> list[Frame]:
        """The frames that the end of the body completes. Raises the error where the framing knows that it was cut."""
        try:
            return self._frames.end()
        except UpstreamTruncated as truncated:
            raise error or truncated from None

    def _read(self, frame: Frame) -> Batch:
        if self._observer is not None:
            self._observer.frame(frame)
        try:
            batch = self._decoder.decode(frame)
        except UpstreamProtocolError:  # an unreadable frame leaves a decoder as it was
            replaced = decoded_with_replacements(frame.data, partial(self._decode, frame.event), self._warnings)
            if replaced is None:
                raise
            batch = replaced
        return self._shaped(batch)

    def _decode(self, event: str | None, data: bytes) -> Batch:
        return self._decoder.decode(Frame(event, data))

    def _shaped(self, batch: Batch) -> Batch:
        """The batch as the writer takes it. For a document, members that the model does not name are dropped: they came
        in pieces, which cannot be joined."""
        self._figures.note_read(batch)
        return batch if self._for_stream else Batch(plain(batch).events)


class DocumentReader:
    """Reads one JSON document. It may turn out to be a stream whose content type does not say so: `stream_reader` then
    gives the reader for it, by the body's first bytes."""

    def __init__(
        self,
        provider: Provider,
        figures: Figures,
        context: DecoderContext,
        stream_reader: Callable[[bytes], StreamReader | None],
        *,
        for_stream: bool,
    ) -> None:
        self._provider, self._figures, self._context, self._for_stream = provider, figures, context, for_stream
        self._stream_reader = stream_reader
        self._stream: StreamReader | None = None
        self._body = bytearray()
        #: Whether anything but white space has come.
        self._begun = False
        #: What has come of the first line: it is followed by another in a stream of a document a line.
        self._line: Literal["begun", "ended", "passed"] = "begun"

    def feed(self, data: bytes) -> Iterable[Batch]:
        """See the module."""
        if self._stream is not None:
            return self._stream.feed(data)
        asks = self._may_be_stream(data)
        self._body += data
        if not self._begun:
            _check_page(data)
            self._begun = bool(data.strip())
        _check_size(len(self._body))
        if asks and (stream := self._stream_reader(bytes(self._body))) is not None:
            self._stream = stream
            return stream.feed(bytes(self._body))
        return ()

    def _may_be_stream(self, data: bytes) -> bool:
        """Whether these bytes may show that it is a stream: as the first ones, or behind the first line. No byte is
        looked at twice."""
        if self._line == "begun":
            _, ends, data = (data if self._begun else data.lstrip()).partition(b"\n")
            self._line = "ended" if ends else "begun"
        told = self._line == "ended" and bool(data.strip())
        self._line = "passed" if told else self._line
        return told or len(self._body) < _BEGINNING

    def end(self, error: GatewayError | None) -> Iterator[Batch]:
        """See the module."""
        if self._stream is not None:
            yield from self._stream.end(error)
            return
        body = bytes(self._body)
        stream = self._stream_reader(body)
        if stream is not None:  # only the whole body shows that it has several documents
            yield from stream.feed(body)
            yield from stream.end(error)
            return
        if error is not None:
            raise error
        try:
            batch = self._decode(body)
        except UpstreamProtocolError:
            replaced = decoded_with_replacements(body, self._decode, self._context.warnings)
            if replaced is None:
                raise
            batch = replaced
        self._figures.note_read(batch)
        yield plain(batch) if self._for_stream else batch

    def _decode(self, body: bytes) -> Batch:
        return self._provider.decoder(self._context).decode_json(body)


class RefusalReader:
    """Reads an answer with an error status. It gives no batch and raises one error."""

    def __init__(self, status: int, headers: dict[str, str], provider: Provider, host: ProviderConfig) -> None:
        self._status, self._headers, self._provider, self._host = status, headers, provider, host
        self._body = bytearray()

    def feed(self, data: bytes) -> Iterable[Batch]:
        """See the module."""
        self._body += data
        _check_size(len(self._body))
        return ()

    def end(self, error: GatewayError | None) -> Iterable[Batch]:  # noqa: ARG002 - what came of the body is the answer
        """Raises the refusal, as far as its body came."""
        refusal = self._provider.parse_error(self._status, self._headers, bytes(self._body))
        if refusal.status < 400:  # a redirect is not followed, and not shown to the client
            refusal.status, refusal.retry = UpstreamError.status, None
        if refusal.source is None:
            refusal.message += _advice(refusal, self._status, self._host)
        raise refusal


def _advice(refusal: GatewayError, status: int, host: ProviderConfig) -> str:
    """A hint about the configuration, to append to the error, where a mistake there is the likeliest cause; else ""."""
    if refusal.code == "upstream_authentication_failed":
        if host.credential == "none":
            return f'. The provider {host.name!r} has none: `credential = "env:NAME"` gives it one'
        kind, _, name = host.credential.partition(":")
        place = f"the environment variable {name}" if kind == "env" else f"its credential ({host.credential})"
        return f". Look at the provider {host.name!r}: is {place} right?"
    # Not where the message names the model: then the host says that it has no such model.
    if status in (404, 405) and "model" not in refusal.message.lower():
        return f". The provider {host.name!r} has no such path, or no such model: is its base_url right?"
    return ""


def _check_page(start: bytes) -> None:
    """Raises UpstreamProtocolError if the body begins as a web page does, which no API's answer does."""
    if start.lstrip()[:1] == b"<":
        raise UpstreamProtocolError(
            "the upstream answered with a web page and not with its API: its base URL may be wrong, or something in "
            "front of it wants a login"
        )


def _check_size(size: int) -> None:
    """Raises UpstreamProtocolError for an answer of more than `ANSWER_BYTES`."""
    if size > ANSWER_BYTES:
        raise UpstreamProtocolError(f"the upstream's answer is larger than {ANSWER_BYTES} bytes")
