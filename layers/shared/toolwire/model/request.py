"""The neutral request: what every door parses into and every provider builds from.

All classes are frozen. JSON that only travels (a schema, arguments) stays raw text: a parse and a re-serialisation
would turn `1.10` into `1.1` and lose digits of large integers.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from toolwire.model.kept_answers import Keeping
from toolwire.model.source import Members, Sourced, Value

Role = Literal["system", "developer", "user", "assistant", "tool"]


#: The roles of instructions.
INSTRUCTIONS: frozenset[Role] = frozenset({"system", "developer"})


class TextPart(Sourced, frozen=True):
    """Plain text. `signature` is the opaque state of the provider that wrote it (see `events.ReasoningEnd`)."""

    text: str
    extra: Members = ()
    signature: str | None = None


class RefusalPart(Sourced, frozen=True):
    """An assistant's refusal, replayed in the history."""

    text: str
    extra: Members = ()


class ReasoningPart(Sourced, frozen=True):
    """Reasoning text of an assistant turn, with the opaque state of the provider it came from, if there is any. A
    writer gets only signatures that its own provider has made: see `conversation`."""

    text: str
    signature: str | None = None
    extra: Members = ()


class ImagePart(Sourced, frozen=True):
    """An image: an https URL, or base64 `data` with its media type. Exactly one of `url` and `data` is set. `kind` and
    `path` are the client's word for it and its place in the client's request, for errors."""

    incidental: ClassVar[frozenset[str]] = frozenset({"source", "kind", "path"})

    url: str | None = None
    data: str | None = None
    media_type: str | None = None
    detail: str | None = None
    extra: Members = ()
    kind: str = "image_url"
    path: str = ""


class FilePart(Sourced, frozen=True):
    """A file: a document, a recording, or an image that only its vendor's storage has. Exactly one of `data` (base64),
    `url`, `file_id` and `content` is set. `kind` and `path` are as an image's."""

    incidental: ClassVar[frozenset[str]] = frozenset({"source", "kind", "path"})

    media_type: str | None = None
    #: Its file name, or a document's title.
    name: str | None = None
    data: str | None = None
    url: str | None = None
    #: Its id in the storage of a vendor, and the dialect of that vendor's API.
    file_id: str | None = None
    dialect: str | None = None
    #: A document that the client has written out, as text and images.
    content: tuple[TextPart | ImagePart, ...] = ()
    #: The client's note to the model about the document.
    context: str | None = None
    extra: Members = ()
    kind: str = "file"
    path: str = ""


#: The kinds of opaque parts that hold a provider's state and nothing else.
STATE_KINDS = frozenset({"redacted_thinking", "reasoning"})


class OpaquePart(Sourced, frozen=True):
    """Content that only its own dialect understands (server-tool blocks, whatever is new). `kind` is the dialect's name
    for it; `raw` is the whole part; `path` is its place in the client's request, for errors."""

    incidental: ClassVar[frozenset[str]] = frozenset({"source", "path"})

    kind: str
    dialect: str
    raw: bytes
    extra: Members = ()
    path: str = ""


class ToolReferencePart(Sourced, frozen=True):
    """The name of a tool that the client's own search has found: see `rewrite/deferred_tools.py`. Other dialects get it
    as text."""

    name: str
    extra: Members = ()


class ToolCallPart(Sourced, frozen=True):
    """A call that the assistant made. `arguments` is raw JSON text and may be invalid: models produce that.
    For `kind="custom"` (OpenAI's freeform tools) it is the tool's input text, no JSON. `signature` is the provider's
    opaque state for this call; `own_id` says that the id is the one this provider gave, restored from the store."""

    id: str
    name: str
    arguments: str
    kind: Literal["function", "custom"] = "function"
    extra: Members = ()
    signature: str | None = None
    own_id: bool = False


class ToolResultPart(Sourced, frozen=True):
    """What the client's tool answered to the call with this id."""

    incidental: ClassVar[frozenset[str]] = frozenset({"source", "path"})

    tool_call_id: str
    content: tuple[TextPart | ImagePart | FilePart | OpaquePart | ToolReferencePart, ...]
    is_error: bool = False
    name: str | None = None
    extra: Members = ()
    #: Its path in the client's request, if the door has noted it.
    path: str = ""


Part = (
    TextPart
    | RefusalPart
    | ReasoningPart
    | ImagePart
    | FilePart
    | OpaquePart
    | ToolCallPart
    | ToolReferencePart
    | ToolResultPart
)


class Message(Sourced, frozen=True):
    """One message of the history. A message of role "tool" holds exactly one ToolResultPart."""

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    extra: Members = ()

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls in the message. Only the assistant makes calls, so most messages are not searched."""
        if self.role != "assistant":
            return ()
        return tuple([part for part in self.parts if type(part) is ToolCallPart])


class Tool(Sourced, frozen=True):
    """A tool the model may call. `parameters` is the raw JSON Schema, or None for a tool without parameters.
    `kind="opaque"`: a tool only its own dialect understands (web search, ...); `name` is then the name it has there or,
    without one, the dialect's type."""

    incidental: ClassVar[frozenset[str]] = frozenset({"source", "path", "schema_name"})

    name: str
    description: str | None = None
    parameters: bytes | None = None
    strict: bool | None = None
    kind: Literal["function", "custom", "opaque"] = "function"
    extra: Members = ()
    #: Its path in the client's request, if it is not an entry of `tools`, and the schema's name there.
    path: str = ""
    schema_name: str = "parameters"

    def place(self, number: int) -> str:
        """The tool's path for an error, given its number: as the client's API has it, else as the Chat API does."""
        return self.path or (f"tools[{number}]" if self.kind == "opaque" else f"tools[{number}].{self.kind}")

    def schema_place(self, number: int) -> str:
        """The path of the tool's parameters for an error."""
        return f"{self.place(number)}.{self.schema_name}"


class ToolChoice(Struct, frozen=True, gc=False):
    """How the model may use tools.

    `mode`: "auto", "none" or "required". `names`: None for all tools, else only these. `named=True` marks the form
    that forces one tool (`mode="required"` with one name); otherwise `names` is an allowed set.
    """

    mode: Literal["auto", "none", "required"]
    names: tuple[str, ...] | None = None
    named: bool = False
    extra: Members = ()


class ResponseFormat(Struct, frozen=True, gc=False):
    """Structured output: kind "text", "json_object" or "json_schema" (then with name and raw schema)."""

    kind: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema: bytes | None = None
    strict: bool | None = None
    description: str | None = None


#: The settings of `Sampling` that ask for nothing where they are 0 or empty.
_NOTHING_IF_EMPTY = ("frequency_penalty", "presence_penalty", "stop")


class Sampling(Struct, frozen=True, gc=False):
    """Settings that change likelihoods, never content. None: the client said nothing."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    stop: tuple[str, ...] | None = None

    def asks(self, name: str) -> bool:
        """Whether the setting asks for something: many clients write a penalty of 0 and an empty list into every
        request."""
        value = getattr(self, name)
        return value is not None and (bool(value) or name not in _NOTHING_IF_EMPTY)


class RequestFields(Struct, frozen=True):
    """The raw members of the client's request, for a writer of the same dialect.

    `members` are the raw top-level members in the client's order; `parsed` is the request as the door read it. A
    member is still the client's own while the attribute made from it is the same object in the request at hand and in
    `parsed`.
    """

    dialect: str
    members: tuple[tuple[str, bytes], ...]
    parsed: ChatRequest
    #: The members that hold the history and the stop sequences.
    history: str = "messages"
    stop: str = "stop"


class RequestOptions(Struct, frozen=True, gc=False):
    """Options for the gateway itself: members of `request_options` on the native door, `x-toolwire-*` headers on the
    others. None: the tenant's default holds."""

    #: What is done about arguments that break their tool's schema.
    validate_tool_arguments: Literal["off", "annotate", "reject"] | None = None
    #: What is done about a schema the provider cannot take as it is.
    schema_mode: Literal["convert", "reject", "lossy"] | None = None
    #: Whether tool calls that a model wrote as text become calls.
    recover_text_calls: bool | None = None
    #: Whether a Responses client gets the reference document's events and their order.
    extended_events: bool | None = None
    #: Whether a Chat client's JSON answer has what the reference document 2api adds to it. Set by the tenant's preset.
    contract_2api: bool = False
    #: Whether arguments that break their tool's schema are repaired where that makes them valid.
    repair_arguments: bool | None = None


class ChatRequest(Value, frozen=True, gc=True):
    """One request for one assistant turn."""

    incidental: ClassVar[frozenset[str]] = frozenset({"fields"})

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool = False
    #: Whether a stream is to be one JSON array (Gemini) in place of server-sent events.
    stream_array: bool = False
    include_usage: bool = False
    max_tokens: int | None = None
    sampling: Sampling = Sampling()
    response_format: ResponseFormat | None = None
    reasoning_effort: str | None = None
    #: Names of the client's fields that only its own dialect has (logit_bias, audio, ...). For another provider they
    #: are warned of or refused.
    dialect_fields: tuple[str, ...] = ()
    options: RequestOptions = RequestOptions()
    #: Codes of the door's warnings about this request.
    warnings: tuple[str, ...] = ()
    #: How much of its reasoning the model is to show ("auto", "concise", "detailed"); None: the client said nothing.
    reasoning_summary: str | None = None
    #: Request headers that belong to the door's dialect (names in lower case): a provider of that dialect gets them.
    headers: tuple[tuple[str, str], ...] = ()
    #: The client's name for its conversation, if the body has one.
    conversation_id: str | None = None
    #: What is kept of the answer; None where client and tenant do not want it kept.
    kept: Keeping | None = None
    fields: RequestFields | None = None

    def fields_in(self, dialect: str) -> RequestFields | None:
        """The client's raw members if it speaks this dialect, else None."""
        fields = self.fields
        return fields if fields is not None and fields.dialect == dialect else None

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """The calls in the history, in order. It does not call `Message.tool_calls`: a long history is searched several
        times a request, and these calls took most of that time."""
        return [
            part
            for message in self.messages
            if message.role == "assistant"
            for part in message.parts
            if type(part) is ToolCallPart
        ]


def split_instructions(history: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Splits a history into its leading instructions and the messages behind them."""
    leading = next((n for n, message in enumerate(history) if message.role not in INSTRUCTIONS), len(history))
    return history[:leading], history[leading:]
