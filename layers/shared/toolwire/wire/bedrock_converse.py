"""Amazon Bedrock's Converse and ConverseStream as typed shapes, after botocore's model of `bedrock-runtime`.

Only answers: no client of ours speaks this API. Blobs are base64 text in its JSON.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from toolwire.model.events import FinishReason
from toolwire.wire.json import ABSENT

DIALECT = "bedrock_converse"


#: The provider's word -> why the turn ended.
STOP_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls",
    "max_tokens": "length", "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter", "content_filtered": "content_filter",
}  # fmt: skip

#: Words that report a failure of the model, which no client can use as an answer.
MALFORMED = frozenset({"malformed_model_output", "malformed_tool_use"})


class Usage(Struct):
    """Token counts. `inputTokens` leaves out what was read from, or written to, the prompt cache, save with some
    models; `totalTokens` is the sum."""

    inputTokens: int | None = None  # noqa: N815 - the API's own names, here and below
    outputTokens: int | None = None  # noqa: N815
    totalTokens: int | None = None  # noqa: N815
    cacheReadInputTokens: int | None = None  # noqa: N815
    cacheWriteInputTokens: int | None = None  # noqa: N815


class ToolUse(Struct):
    """A call: its beginning in a stream, the whole of it in a JSON answer, a fragment in a delta."""

    toolUseId: str | None = None  # noqa: N815
    name: str | None = None
    input: Raw = ABSENT
    #: "server_tool_use" for a tool that runs at the provider.
    type: str | None = None


class ReasoningText(Struct):
    text: str | None = None
    signature: str | None = None


class Reasoning(Struct):
    """Reasoning: whole (`reasoningText`) in a JSON answer, in pieces (`text`, `signature`) in a stream."""

    reasoningText: ReasoningText | None = None  # noqa: N815
    text: str | None = None
    signature: str | None = None
    redactedContent: str | None = None  # noqa: N815


class CitedText(Struct):
    text: str | None = None


class Cited(Struct):
    """Text with its sources, of which the text is read."""

    content: list[CitedText] = []


class Block(Struct):
    """A content block of a JSON answer, and the `start` or `delta` of one in a stream. One member is set."""

    text: str | None = None
    toolUse: ToolUse | None = None  # noqa: N815
    reasoningContent: Reasoning | None = None  # noqa: N815
    citationsContent: Cited | None = None  # noqa: N815


class Message(Struct):
    content: list[Raw] = []


class Output(Struct):
    message: Message | None = None


class Answer(Struct):
    """A JSON answer, or an error in its place."""

    output: Output | None = None
    stopReason: str | None = None  # noqa: N815
    usage: Usage | None = None


class Event(Struct):
    """The payload of one stream event, whatever its type. Its padding `p` is left unread."""

    contentBlockIndex: int | None = None  # noqa: N815
    start: Block | None = None
    delta: Block | None = None
    stopReason: str | None = None  # noqa: N815
    usage: Usage | None = None


event_decoder = msgspec.json.Decoder(Event)
answer_decoder = msgspec.json.Decoder(Answer)
block_decoder = msgspec.json.Decoder(Block)
