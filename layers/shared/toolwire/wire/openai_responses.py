"""OpenAI Responses as typed shapes, after openai-python 3.57's `types/responses`.

The door reads requests with them, the provider reads answers. Everything is optional where a real client or host has
been seen to leave it out; what must be there is checked by the reader, which can name the field.

What door and provider agree on beyond the neutral model, so that a request and an answer of this dialect pass as they
are:

    Message.source        the raw input items of the message, joined with commas: several where an assistant's
                          reasoning, text and calls were items of their own. No bytes for what `instructions` became.
    part.source           of reasoning, calls and opaque parts: the raw item; of text and images: the raw content part
    part.extra            members the model does not name; of an assistant's text also its item's `phase`
    part.signature        of reasoning: `encrypted_content`
    OpaquePart            an item (or content part) that only this API knows; `kind` is its type, `raw` all of it
    tool name             of a function in a namespace: `flat_name`, with the `namespace` in `extra`
    custom tool           `extra` has the Chat form under "custom" (see `nested_format`), as the chat door leaves it
    Batch.extra           of a frame without its source: unnamed members of the response, under "response"; of a whole
                          answer also its items, by their place, under "output"
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from toolwire.wire.json import ABSENT, raw_members, write_object

DIALECT = "openai_responses"

#: An id that the gateway has given an item of an answer.
_OWN_ID = re.compile(r"(?:msg|rs|fc|ctc|tsc|lsh|sh|apc|cu)_[A-Za-z0-9_-]{1,48}_[0-9]{1,5}")


def is_own_id(id: str | None) -> bool:
    """Whether an item of ours has this id: no provider keeps what it said."""
    return id is not None and _OWN_ID.fullmatch(id) is not None


# ---------------------------------------------------------------- requests


class InputItem(Struct):
    """An item of the request's `input`, whatever its type. A message may leave its type out."""

    type: str | None = None
    role: str | None = None
    content: Raw = ABSENT  # a string, or a list of parts
    phase: str | None = None
    id: str | None = None
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: Raw = ABSENT  # a function's are text, those of a search for tools an object
    input: str | None = None  # of a custom tool's call
    output: Raw = ABSENT  # a string, or a list of parts
    summary: list[Raw] | None = None
    encrypted_content: str | None = None
    execution: str | None = None  # of a search for tools: who runs it, "client" or "server"
    tools: list[Raw] | None = None  # what it has found


class ContentPart(Struct):
    """A part of a message, of a tool's output, or of reasoning."""

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: Any = None  # an address; Chat's object with one, as clients send that convert one API to the other
    file_id: str | None = None
    detail: str | None = None
    file_data: str | None = None
    file_url: str | None = None
    filename: str | None = None
    input_audio: Raw = ABSENT  # Chat's


class Tool(Struct):
    """A tool, flat. `tools` are those of a namespace."""

    type: str
    name: str | None = None
    description: str | None = None
    parameters: Raw = ABSENT
    strict: bool | None = None
    format: Raw = ABSENT
    tools: list[Raw] | None = None
    execution: str | None = None


class AllowedTool(Struct):
    type: str
    name: str | None = None


class ToolChoice(Struct):
    """The forms of `tool_choice` that are objects."""

    type: str
    name: str | None = None
    namespace: str | None = None
    mode: str | None = None
    tools: list[AllowedTool] | None = None


class TextFormat(Struct):
    type: str
    name: str | None = None
    schema: Raw = ABSENT
    strict: bool | None = None
    description: str | None = None


class TextSettings(Struct):
    format: TextFormat | None = None
    verbosity: str | None = None


class ReasoningSettings(Struct):
    effort: str | None = None
    summary: str | None = None


#: A search for deferred tools that the client runs: the tool, its call and what it has found.
SEARCH_TOOL: Final = "tool_search"
SEARCH_CALL: Final = "tool_search_call"
SEARCH_OUTPUT: Final = "tool_search_output"
#: The member by which a result keeps the tools that a search has found: the door's mark, no API's.
FOUND: Final = "found_tools"

#: A call that OpenAI has made of an MCP server, with its result in one item.
MCP_CALL: Final = "mcp_call"

#: Tools that are added in the middle of a conversation.
MORE_TOOLS: Final = "additional_tools"

#: Types of items that OpenAI's own tools add to a history. Another host goes on without them: the model's text has what
#: it made of a result, and no other host can read the rest. A call for the client is not among them.
SERVER_TOOL_ITEMS = frozenset({
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "tool_search_call",
    "tool_search_output", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
    "program", "program_output",
})  # fmt: skip

# ---------------------------------------------------------------- answers


class IncompleteDetails(Struct):
    reason: str | None = None


class Response(Struct):
    """A whole answer, and the `response` of the events that hold one."""

    object: str | None = None
    id: str | None = None
    created_at: float | None = None
    model: str | None = None
    status: str | None = None
    error: Raw = ABSENT
    incomplete_details: IncompleteDetails | None = None
    output: list[Raw] | None = None
    output_text: str | None = None  # of a host that says its text here, as SDKs show it
    tool_calls: Raw = ABSENT  # of one that says its calls here, as Chat's API has them
    usage: Raw = ABSENT


class OutputPart(Struct):
    """A part of a message's content, of a reasoning item's content, or of its summary."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


class OutputItem(Struct):
    """An item of the answer, whatever its type: its beginning in `output_item.added`, whole in `output_item.done`."""

    type: str = ""
    id: str | None = None
    status: str | None = None
    role: str | None = None
    content: list[OutputPart] | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: str | None = None
    input: str | None = None
    summary: list[OutputPart] | None = None
    encrypted_content: str | None = None
    tool_calls: Raw = ABSENT  # of a message, where a host writes its calls as Chat's API does, as its reasoning
    reasoning_content: str | None = None
    text: str | None = None  # of a text that stands there without a message, or of reasoning
    thinking: str | None = None


class AnyEvent(Struct):
    """What every event may have, whatever its type."""

    type: str | None = None
    sequence_number: int | None = None
    output_index: int | None = None
    item_id: str | None = None
    content_index: int | None = None


class Event(AnyEvent):
    """The data of a stream event, of the types that become neutral events."""

    summary_index: int | None = None
    delta: str | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None
    name: str | None = None  # of a call, in the event that tells its arguments again
    item: Raw = ABSENT
    part: OutputPart | None = None
    response: Raw = ABSENT
    error: Raw = ABSENT
    tool_calls: Raw = ABSENT


#: Members of a call's item that events have, or that have no meaning elsewhere. All others travel as `extra`.
KNOWN_CALL = frozenset({"type", "id", "status", "namespace", "call_id", "name", "arguments", "input"})
#: Members of the response that events have. All others travel as `extra`.
KNOWN_RESPONSE = frozenset({
    "object", "id", "created_at", "model", "status", "error", "incomplete_details", "output", "usage",
    "tool_calls",
})  # fmt: skip
#: What a usage object must hold.
USAGE_COUNTS = ("input_tokens", "output_tokens", "total_tokens")

event_decoder = msgspec.json.Decoder(Event)
any_event_decoder = msgspec.json.Decoder(AnyEvent)
response_decoder = msgspec.json.Decoder(Response)
item_decoder = msgspec.json.Decoder(OutputItem)

# ---------------------------------------------------------------- names and formats


def flat_name(namespace: str | None, name: str) -> str:
    """The one name of a function within a namespace: other APIs know no namespaces."""
    if not namespace:
        return name
    return namespace + name if namespace.endswith("_") else f"{namespace}__{name}"


def nested_format(raw: bytes) -> bytes:
    """A custom tool's `format` as the Chat API has it: the grammar in an object of its own."""
    given = dict(raw_members(raw)) if raw[:1] == b"{" else {}
    if bytes(given.get("type", b"")) != b'"grammar"' or "grammar" in given:
        return raw
    grammar = [(name, bytes(value)) for name, value in given.items() if name != "type"]
    return write_object([("type", b'"grammar"'), ("grammar", write_object(grammar))])


def flat_format(raw: bytes) -> bytes:
    """A custom tool's `format` as this API has it: `nested_format` undone."""
    given = dict(raw_members(raw)) if raw[:1] == b"{" else {}
    grammar = bytes(given.get("grammar", b""))
    if grammar[:1] != b"{":
        return raw
    inner = [(name, bytes(value)) for name, value in raw_members(grammar).items()]
    return write_object([("type", bytes(given.get("type", b'"grammar"'))), *inner])
