"""What reads an answer does not read it again with every piece."""

from __future__ import annotations

import time

import pytest

from toolwire.exchange.figures import Figures
from toolwire.exchange.reader import DocumentReader, RefusalReader
from toolwire.model.errors import UpstreamError, UpstreamProtocolError
from toolwire.model.settings import ProviderConfig
from toolwire.model.warnings import Warnings
from toolwire.providers import load_provider
from toolwire.providers.decoder_context import DecoderContext


def document_reader() -> DocumentReader:
    figures = Figures(False, "openai_chat", warnings=Warnings())
    context = DecoderContext(placeholders=False)
    return DocumentReader(load_provider("openai_chat"), figures, context, lambda _: None, for_stream=False)


def test_a_large_document_costs_what_its_bytes_do() -> None:
    """20 MB in 2 KB: 0.05 s, or 100 GB of copies where each piece looks at all of them."""
    reader = document_reader()
    piece = b"y" * 2048
    began = time.process_time()
    for _ in range(10_000):
        reader.feed(piece)
        assert time.process_time() - began < 2.0


@pytest.mark.parametrize("pieces", [(b"<html>",), (b"\n", b" \r\n", b"\n" * 40, b" <html>"), (b"", b"<"), (b" \n<",)])
def test_a_web_page_is_known_by_what_it_begins_with(pieces: tuple[bytes, ...]) -> None:
    reader = document_reader()
    for piece in pieces[:-1]:
        reader.feed(piece)
    with pytest.raises(UpstreamProtocolError, match="a web page"):
        reader.feed(pieces[-1])


def test_a_document_that_has_such_a_character_later_is_none() -> None:
    reader = document_reader()
    for piece in (b" ", b"{", b"<", b" <html>"):
        reader.feed(piece)


OWN_WORDS = b'{"error": {"message": "nothing here", "type": "t", "param": null, "code": "c"}}'


@pytest.mark.parametrize(
    ("status", "body", "credential", "says"),
    [
        (404, b"404 page not found", "none", "is its base_url right?"),
        (404, b"", "none", "is its base_url right?"),
        (405, b'{"detail":"Method Not Allowed"}', "none", "is its base_url right?"),
        (404, b'{"detail":"The model is not there"}', "none", None),  # that is not the address
        (404, OWN_WORDS, "none", None),
        (400, b"", "none", None),
        (401, b"", "env:MINE_KEY", "'mine': is the environment variable MINE_KEY right?"),
        (403, b"", "secret:toolwire/mine", "'mine': is its credential (secret:toolwire/mine) right?"),
        (401, b"", "none", "The provider 'mine' has none: `credential = \"env:NAME\"` gives it one"),
    ],
)
def test_a_refusal_that_is_the_configurations_names_what_to_look_at(
    status: int, body: bytes, credential: str, says: str | None
) -> None:
    host = ProviderConfig("mine", "openai_chat", "https://mine.example", credential)
    reader = RefusalReader(status, {}, load_provider("openai_chat"), host)
    reader.feed(body)
    with pytest.raises(UpstreamError) as caught:
        tuple(reader.end(None))

    told = caught.value.message
    assert ("'mine'" in told and told.endswith(says)) if says else ("mine" not in told)
