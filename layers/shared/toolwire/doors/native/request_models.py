"""The native API's requests as pydantic models, which also make its OpenAPI document (`make openapi`).

JSON that only travels (arguments, schemas, a tool's result) is kept as its text, a `msgspec.Raw`: reading it into
numbers and writing it again would turn `1.10` into `1.1`. No other function imports pydantic: it costs a cold start
200 ms and more.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Raw
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetPydanticSchema,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError, core_schema

from toolwire.doors import DOORS

#: A tool's name on this door: every provider takes it unchanged.
TOOL_NAME = r"^[a-zA-Z0-9_]{1,64}$"

#: Members that are kept as text everywhere.
RAW_MEMBERS = frozenset({"arguments", "parameters", "schema", "data"})

_kept = GetPydanticSchema(lambda _source, _handler: core_schema.is_instance_schema(Raw))


def _is_object(raw: Raw) -> Raw:
    if bytes(raw)[:1] != b"{":
        raise PydanticCustomError("object_type", "Input should be a JSON object")
    return raw


def _is_array(raw: Raw) -> Raw:
    if bytes(raw)[:1] != b"[":
        raise PydanticCustomError("list_type", "Input should be a JSON array")
    return raw


def _is_given(raw: Raw) -> Raw:
    if bytes(raw) == b"null":
        raise PydanticCustomError("missing", "Field required")
    return raw


def _says_something(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "Input should be a text that is not empty")
    return text


JsonObject = Annotated[Raw, _kept, AfterValidator(_is_object), WithJsonSchema({"type": "object"})]
JsonArray = Annotated[Raw, _kept, AfterValidator(_is_array), WithJsonSchema({"type": "array", "items": {}})]
JsonValue = Annotated[Raw, _kept, AfterValidator(_is_given), WithJsonSchema({"description": "Any JSON but null."})]
NonEmpty = Annotated[str, Field(min_length=1)]


class Model(BaseModel):
    """Refuses members that are not named here, and values of a wrong type: nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


# ---------------------------------------------------------------- content


class TextPart(Model):
    """Text. `signature` is a provider's opaque state, from an answer."""

    type: Literal["text"]
    text: str
    signature: str | None = None


class ImageUrl(Model):
    """An https URL, or a `data:` URL with base64."""

    url: NonEmpty
    detail: Literal["auto", "low", "high"] | None = None


class ImagePart(Model):
    type: Literal["image_url"]
    image_url: ImageUrl


class File(Model):
    """A file, as a `data:` URL with base64 that names its type."""

    file_data: NonEmpty
    filename: str | None = None


class FilePart(Model):
    type: Literal["file"]
    file: File


class InputAudio(Model):
    """A recording in base64."""

    data: NonEmpty
    format: Literal["wav", "mp3"]


class AudioPart(Model):
    type: Literal["input_audio"]
    input_audio: InputAudio


def _by_type(value: Any) -> str | None:
    return value.get("type") if isinstance(value, dict) else getattr(value, "type", None)


def _by_shape(value: Any) -> str:
    return "parts" if isinstance(value, list) else "text"


ContentPart = Annotated[TextPart | ImagePart | FilePart | AudioPart, Field(discriminator="type")]
Texts = Annotated[
    Annotated[str, Tag("text")] | Annotated[list[TextPart], Field(min_length=1), Tag("parts")],
    Discriminator(_by_shape),
]
Content = Annotated[
    Annotated[str, Tag("text")] | Annotated[list[ContentPart], Field(min_length=1), Tag("parts")],
    Discriminator(_by_shape),
]

Stops = Annotated[Annotated[str, Tag("text")] | Annotated[list[str], Tag("parts")], Discriminator(_by_shape)]


# ---------------------------------------------------------------- messages


class CalledFunction(Model):
    """`arguments` is an object. Those that the output limit cut are null, with their text in `raw_arguments`."""

    name: NonEmpty
    arguments: JsonObject | None = None
    raw_arguments: str | None = None


class ToolCall(Model):
    """A call of an earlier answer, as that answer showed it."""

    id: NonEmpty
    type: Literal["function"] = "function"
    function: CalledFunction
    index: int | None = None
    signature: str | None = None


class ReasoningPart(Model):
    """Reasoning with the provider's proof of it."""

    text: str
    signature: str | None = None


class OpaquePart(Model):
    """Content that only the API it comes from understands, as an answer showed it."""

    kind: str
    dialect: str
    data: JsonObject


class SystemMessage(Model):
    role: Literal["system", "developer"]
    content: Texts
    name: str | None = None


class UserMessage(Model):
    role: Literal["user"]
    content: Content
    name: str | None = None


class AssistantMessage(Model):
    """An earlier answer's `message`, as it came. `reasoning_parts` has the same text as `reasoning_content`, with the
    providers' proofs."""

    role: Literal["assistant"]
    content: Texts | None = None
    content_signature: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning_parts: list[ReasoningPart] | None = None
    opaque_parts: list[OpaquePart] | None = None
    tool_calls: list[ToolCall] | None = None
    name: str | None = None


class ToolMessage(Model):
    """What a tool answered. `content` is a string or any JSON, which the model gets as its text; an array of content
    parts (`text`, `image_url`, `file`, `input_audio`) is content."""

    role: Literal["tool"]
    tool_call_id: NonEmpty
    content: JsonValue
    is_error: bool = False
    name: str | None = None


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


# ---------------------------------------------------------------- tools


class FunctionDefinition(Model):
    """`description` is required: a model that is not told what a tool does does not call it well. `parameters` is a
    JSON Schema with `type: "object"` at its root."""

    name: Annotated[str, Field(pattern=TOOL_NAME)]
    description: Annotated[str, AfterValidator(_says_something), Field(json_schema_extra={"minLength": 1})]
    parameters: JsonObject
    strict: bool | None = None


class ToolDefinition(Model):
    type: Literal["function"]
    function: FunctionDefinition


class FunctionName(Model):
    name: NonEmpty


class NamedTool(Model):
    """Forces one tool."""

    type: Literal["function"]
    function: FunctionName


class AllowedSet(Model):
    mode: Literal["auto", "required"]
    tools: Annotated[list[NamedTool], Field(min_length=1)]


class AllowedTools(Model):
    """Allows some of the tools."""

    type: Literal["allowed_tools"]
    allowed_tools: AllowedSet


def _by_choice(value: Any) -> str | None:
    return "word" if isinstance(value, str) else _by_type(value)


def _typed(value: Any) -> Any:
    """Adds the type to a choice of one tool without it, as the reference document of 2api shows it."""
    if not isinstance(value, dict) or "type" in value:
        return value
    return {"type": "function", "function": value} if value.keys() == {"name"} else {"type": "function", **value}


ToolChoice = Annotated[
    Annotated[
        Annotated[Literal["auto", "none", "required"], Tag("word")]
        | Annotated[NamedTool, Tag("function")]
        | Annotated[AllowedTools, Tag("allowed_tools")],
        Discriminator(_by_choice),
    ],
    BeforeValidator(_typed),
]


# ---------------------------------------------------------------- requests


class JsonSchema(Model):
    name: NonEmpty
    # Under this name it would hide a method of pydantic's.
    schema_: Annotated[JsonObject | None, Field(alias="schema")] = None
    strict: bool | None = None
    description: str | None = None


class ResponseFormat(Model):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


def _is_no_number(value: Any) -> Any:
    if type(value) in (int, float):  # to Python 1 is True
        raise PydanticCustomError("literal_error", "Input should be True, False, 'off', 'annotate' or 'reject'")
    return value


class RequestOptions(Model):
    """Options for the gateway itself. `validate_tool_arguments: true` means "reject", false "off"."""

    stream: bool | None = None
    validate_tool_arguments: Annotated[
        Literal[True, False, "off", "annotate", "reject"] | None, BeforeValidator(_is_no_number)
    ] = None
    schema_mode: Literal["convert", "reject", "lossy"] | None = None
    recover_text_calls: bool | None = None
    repair_arguments: bool | None = None


class ChatRequest(Model):
    """POST /native/chat. `model` may be left out on a later turn of a conversation that `conversation_id` names: the
    one of its last turn answers."""

    model: NonEmpty | None = None
    messages: Annotated[list[Message], Field(min_length=1)]
    tools: list[ToolDefinition] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    conversation_id: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    request_options: RequestOptions | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: int | None = None
    stop: Stops | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None


#: A key of `doors.DOORS`.
DoorName = Annotated[str, WithJsonSchema({"type": "string", "enum": list(DOORS)})]


class ToolsCheckRequest(Model):
    """POST /native/tools/check. `tools` and `tool_choice` are written as the requests of `door` write them. `models`
    are names as a request's `model` takes them; without, every configured provider is asked."""

    tools: JsonArray
    tool_choice: JsonValue | None = None
    parallel_tool_calls: bool | None = None
    door: DoorName = "native"
    models: Annotated[list[NonEmpty], Field(min_length=1, max_length=32)] | None = None


class TranslateRequest(Model):
    """POST /native/translate. `body` is a request of `door`; its headers are those of this request. `parameters`
    stand for the names in the door's path, where it has some."""

    body: JsonObject
    door: DoorName = "native"
    parameters: dict[str, str] | None = None
