"""OpenAI Chat Completions as typed shapes, after openai-python 3.57's `types/chat`.

The door reads requests with them, the provider reads answers. Everything is optional where a real client or a
compatible host has been seen to leave it out; what must be there is checked by the reader, which can name the field.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from toolwire.wire.json import ABSENT

DIALECT = "openai_chat"

# ---------------------------------------------------------------- requests


# Messages and calls come in two classes. The exact one refuses members that the model does not name, at no cost; what
# it refuses is read again by the lenient one, and searched for those members.


class LenientFunctionCall(Struct):
    name: str
    arguments: str


class FunctionCall(LenientFunctionCall, forbid_unknown_fields=True):
    pass


class LenientCustomCall(Struct):
    name: str
    input: str


class CustomCall(LenientCustomCall, forbid_unknown_fields=True):
    pass


class LenientToolCall(Struct):
    id: str
    type: str | None = None
    function: LenientFunctionCall | None = None
    custom: LenientCustomCall | None = None


class ToolCall(LenientToolCall, forbid_unknown_fields=True):
    function: FunctionCall | None = None
    custom: CustomCall | None = None
    index: int | None = None  # some clients replay the streamed index


class LenientMessage(Struct):
    """A message of any role. A member that it lacks is UNSET, so that a null member can be told from it."""

    role: str
    content: str | list[Raw] | None = None
    name: str | UnsetType | None = UNSET
    tool_calls: list[Raw] | UnsetType | None = UNSET
    tool_call_id: str | UnsetType | None = UNSET
    refusal: str | UnsetType | None = UNSET
    reasoning_content: str | UnsetType | None = UNSET


class Message(LenientMessage, forbid_unknown_fields=True):
    pass


class ImageUrl(Struct):
    url: str
    detail: str | None = None


class File(Struct):
    file_data: str | None = None
    filename: str | None = None
    file_id: str | None = None


class InputAudio(Struct):
    data: str
    format: str


class ContentPart(Struct):
    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: ImageUrl | str | None = None
    file: Raw = ABSENT  # a File
    input_audio: Raw = ABSENT  # an InputAudio


class Function(Struct):
    name: str
    description: str | None = None
    parameters: Raw = Raw()
    strict: bool | None = None


class CustomTool(Struct):
    name: str
    description: str | None = None
    format: Raw = Raw()


class Tool(Struct):
    type: str
    function: Function | None = None
    custom: CustomTool | None = None


class Named(Struct):
    name: str


class AllowedTools(Struct):
    mode: str
    tools: list[Tool]


class ToolChoice(Struct):
    type: str
    function: Named | None = None
    custom: Named | None = None
    allowed_tools: AllowedTools | None = None


class JsonSchema(Struct):
    name: str
    schema: Raw = Raw()
    strict: bool | None = None
    description: str | None = None


class ResponseFormat(Struct):
    """`schema`: where Together, Fireworks and llama.cpp have the schema, beside either type."""

    type: str
    json_schema: JsonSchema | None = None
    schema: Raw = Raw()


class StreamOptions(Struct):
    include_usage: bool | None = None


# ---------------------------------------------------------------- answers


class FunctionDelta(Struct):
    name: str | None = None
    arguments: str | None = None
    parameters: Raw = ABSENT  # the arguments, where a host calls them otherwise; so are `input` and `args`
    input: Raw = ABSENT
    args: Raw = ABSENT


class CustomDelta(Struct):
    name: str | None = None
    input: str | None = None


class ToolCallDelta(Struct):
    index: int | None = None
    id: str | None = None
    type: str | None = ""  # "" if absent: null replaces the type that clients have gathered, an absent type does not
    function: FunctionDelta | None = None
    custom: CustomDelta | None = None
    name: str | None = None  # of a call that a proxy has sent without its `function` around it
    arguments: str | None = None
    parameters: Raw = ABSENT
    input: Raw = ABSENT
    args: Raw = ABSENT
    tool_name: None = None  # as all members of this type: another's words, so that the slow path reads the document
    extra_content: Raw = ABSENT  # Gemini's endpoint: state that it wants back on the call
    provider_specific_fields: Raw = ABSENT  # LiteLLM: the same


class Delta(Struct):
    """`choices[0].delta` of a chunk, and `choices[0].message` of a whole answer."""

    role: str | None = None
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None  # the same under other names: vLLM, Groq, OpenRouter
    reasoning_text: str | None = None  # Copilot, as `cot_summary`
    cot_summary: str | None = None
    thinking: str | None = None
    thinking_blocks: Raw = ABSENT  # LiteLLM: the Messages API's blocks, mostly beside `reasoning_content`
    tool_calls: list[ToolCallDelta] | None = None
    function_call: FunctionDelta | None = None  # deprecated; hosts write it all the same
    reasoning_details: Raw = ABSENT  # OpenRouter: state that it wants back on the message
    reasoning_opaque: str | None = None  # Copilot: the same
    images: Raw = ABSENT  # OpenRouter, and Google's models behind proxies
    audio: Raw = ABSENT
    annotations: Raw = ABSENT  # citations
    camel_calls: None = field(default=None, name="toolCalls")
    content_list: None = None  # Snowflake


class Choice(Struct):
    index: int | None = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    native_finish_reason: str | None = None  # of a proxy: the word of the host behind it
    text: str | None = None  # of a host that answers as the completions API of old did
    error: Raw = ABSENT  # OpenRouter
    usage: Raw = ABSENT  # Moonshot
    tool_calls: None = None
    camel_calls: None = field(default=None, name="toolCalls")


class Chunk(Struct):
    """A streamed chunk or a whole answer in the form that nearly all hosts send. The fast path decodes it."""

    id: str | None = None
    object: str | None = None
    created: int | None = None
    model: str | None = None
    choices: list[Choice] | None = None
    usage: Raw = ABSENT
    error: Raw = ABSENT
    tool_calls: None = None
    x_groq: Raw = ABSENT


#: Members of a delta, a message, or what is around it, that are calls.
CALL_LISTS = ("tool_calls", "toolCalls")
#: Members that `Chunk` and its parts name: all others travel as `extra`.
KNOWN_CHUNK = frozenset({"id", "object", "created", "model", "choices", "usage", "error", "tool_calls"})
KNOWN_CHOICE = frozenset({"index", "delta", "message", "text", "finish_reason", *CALL_LISTS})
#: Names of `reasoning_content` at other hosts: clients are shown the text once, under that name.
REASONING_NAMES = ("reasoning", "reasoning_text", "thinking", "cot_summary")
KNOWN_DELTA = frozenset(
    {"role", "content", "content_list", "refusal", "reasoning_content", *CALL_LISTS, *REASONING_NAMES}
)
KNOWN_CALL = frozenset(
    {"index", "id", "type", "function", "custom", "name", "tool_name", "arguments", "parameters", "input", "args"}
)
#: Members of a delta or a message that no other API's client can be shown.
OPAQUE_PARTS = ("images", "audio", "annotations")
#: What a usage object must hold.
USAGE_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
KNOWN_USAGE = frozenset({*USAGE_COUNTS, "prompt_tokens_details", "completion_tokens_details"})

chunk_decoder = msgspec.json.Decoder(Chunk)
