"""Anthropic Messages as typed shapes, after anthropic-python 2.14's `types`.

The door reads requests with them, the provider reads answers. Everything is optional where a host or a client of this
wire has been seen to leave it out; what must be there is checked by the reader, which can name the field.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from toolwire.model.events import FinishReason
from toolwire.wire.json import ABSENT

DIALECT = "anthropic_messages"


# ---------------------------------------------------------------- requests


class RequestMessage(Struct):
    """A message of any role."""

    role: str
    content: str | list[Raw]


class AnyBlock(Struct):
    """A content block, of which only the kind is known yet."""

    type: str


class TextBlock(Struct):
    text: str


class ThinkingBlock(Struct):
    """A block of thinking. After a turn with another model, clients send it without a signature, or with null."""

    thinking: str | None = None
    signature: str | None = None


class CompactionBlock(Struct):
    content: str | None = None


class ToolUseBlock(Struct):
    id: str
    name: str
    input: Raw = ABSENT


class ToolResultBlock(Struct):
    tool_use_id: str
    content: str | list[Raw] | None = None
    is_error: bool | None = None


class ToolReferenceBlock(Struct):
    """A reference to a tool, as the result of a client's own search for tools."""

    tool_name: str


class BlockSource(Struct):
    """The `source` of an image or a document."""

    type: str
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    content: str | list[Raw] | None = None


class ImageBlock(Struct):
    source: BlockSource


class DocumentBlock(Struct):
    source: BlockSource
    title: str | None = None
    context: str | None = None


class SearchResultBlock(Struct):
    source: str
    title: str
    content: list[Raw]


class Tool(Struct):
    """A tool of the client's (no `type`, or "custom"), or one that Anthropic has defined (any other type)."""

    type: str | None = None
    name: str | None = None
    description: str | None = None
    input_schema: Raw = ABSENT
    strict: bool | None = None


class ToolChoice(Struct):
    type: str
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(Struct):
    type: str
    budget_tokens: int | None = None


class OutputFormat(Struct):
    type: str
    schema: Raw = ABSENT


class OutputConfig(Struct):
    effort: str | None = None
    format: OutputFormat | None = None


#: Kinds of blocks that Anthropic's own tools add to a history. Another host can do without: the model's text has the
#: result.
SERVER_TOOL_BLOCKS = frozenset({
    "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "tool_search_tool_result",
    "code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
    "mcp_tool_use", "mcp_tool_result", "fallback",
})  # fmt: skip

#: The beginning of Claude Code's billing line in the system text. The line differs in every request, so that no host
#: but Anthropic's finds the text behind it in its prompt cache.
BILLING = "x-anthropic-billing-header"

# ---------------------------------------------------------------- answers

#: The provider's word -> why the turn ended.
STOP_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop", "stop_sequence": "stop", "pause_turn": "stop", "tool_use": "tool_calls",
    "max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "content_filter",
}  # fmt: skip


class OutputDetails(Struct):
    thinking_tokens: int | None = None


class Usage(Struct):
    """Counts so far: those of a later usage replace earlier ones. `input_tokens` excludes tokens read from, or written
    to, the prompt cache. `output_tokens` includes thinking."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None


class StopDetails(Struct):
    """Why a model refused."""

    explanation: str | None = None


class Message(Struct):
    """A whole answer, and the `message` of message_start."""

    type: str | None = None
    id: str | None = None
    model: str | None = None
    content: list[Raw] | None = None
    tool_calls: list[Raw] | None = None  # of a proxy that writes them as Chat's API does, as its reasoning
    reasoning_content: str | None = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None
    usage: Usage | None = None
    error: Raw = ABSENT


#: The types of blocks whose members `Block` names.
MODELLED = ("text", "thinking", "tool_use")


class Block(Struct):
    """A content block: whole in a JSON answer, its beginning in a stream."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    reasoning: str | None = None  # the thinking, where a host calls it so
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = ABSENT
    arguments: Raw = ABSENT  # the input, where a host calls it so


class Delta(Struct):
    """The `delta` of content_block_delta, and of message_delta."""

    type: str | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    reasoning: str | None = None
    input: Raw = ABSENT  # a fragment of an input, where a host calls it so, or `arguments`
    arguments: Raw = ABSENT
    signature: str | None = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None


class Event(Struct):
    """The data of one stream event, whatever its type."""

    type: str | None = None
    index: int | None = None
    delta: Delta | None = None
    content_block: Raw = ABSENT
    message: Message | None = None
    usage: Usage | None = None
    error: Raw = ABSENT


event_decoder = msgspec.json.Decoder(Event)
message_decoder = msgspec.json.Decoder(Message)
block_decoder = msgspec.json.Decoder(Block)
