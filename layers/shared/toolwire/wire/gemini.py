"""Google's generateContent answers as typed shapes, after google-genai 3.6's `types`.

They name only members that the gateway reads. Parts stay raw until one is read: a part has one of many data members,
most of which only Google's own clients understand.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct, field

from toolwire.model.events import FinishReason
from toolwire.wire.json import ABSENT

DIALECT = "gemini"

#: How the gateway's id of a call begins that came without one, and what the place of the call makes of it.
PLACE_ID = "call_at_"

_FILTERED = (
    "SAFETY", "3", "RECITATION", "4", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
    "ESCALATION", "PUP_LIMITED_DISABLED", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER",
)  # fmt: skip

#: Google's word -> why the turn ended. An unknown word is a stop; the word itself is kept in `Finish.raw`. The
#: numbers are those of the words, for a proxy that asked for them.
FINISH_REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "1": "stop",
    "MAX_TOKENS": "length",
    "2": "length",
    "CONTINUATION": "length",  # to be resumed with a token that the gateway does not keep
    **dict.fromkeys(_FILTERED, "content_filter"),
}


class PartialArg(Struct, rename="camel"):
    """One value, or a piece of a string, of arguments that Vertex streams. `json_path` says where it belongs."""

    json_path: str
    string_value: str | None = None
    number_value: Raw = ABSENT
    bool_value: bool | None = None
    null_value: Raw = ABSENT
    will_continue: bool = False


class FunctionCall(Struct, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Raw = ABSENT
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None


class Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    snake_call: None = field(default=None, name="function_call")  # see `gemini_snake`
    snake_signature: None = field(default=None, name="thought_signature")


#: Members of a part that go with its data. The member that is none of these is the data, and its name the kind.
PART_FLAGS = frozenset(
    {"text", "thought", "thoughtSignature", "partMetadata", "mediaResolution", "videoMetadata", "functionCall"}
)


#: Kinds of parts that Google's own tools add to a history. Another host can do without: the text has the result.
SERVER_TOOL_PARTS = frozenset({"executableCode", "codeExecutionResult", "toolCall", "toolResponse"})


class Content(Struct):
    parts: list[Raw] | None = None


class Candidate(Struct, rename="camel"):
    content: Content | None = None
    #: A number where a client asked for `enum-encoding=int`.
    finish_reason: str | int | None = None
    index: int | None = None
    snake_reason: None = field(default=None, name="finish_reason")


class PromptFeedback(Struct, rename="camel"):
    block_reason: str | int | None = None


class UsageMetadata(Struct, rename="camel"):
    """Cumulative. `prompt_token_count` includes the cached ones, `candidates_token_count` excludes the thoughts."""

    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    total_token_count: int | None = None


class Chunk(Struct, rename="camel"):
    """A whole answer, or one chunk of a stream with what is new since the last."""

    candidates: list[Candidate] | None = None
    prompt_feedback: PromptFeedback | None = None
    usage_metadata: UsageMetadata | None = None
    model_version: str | None = None
    response_id: str | None = None
    error: Raw = ABSENT
    snake_usage: None = field(default=None, name="usage_metadata")
    snake_feedback: None = field(default=None, name="prompt_feedback")


chunk_decoder = msgspec.json.Decoder(Chunk)
part_decoder = msgspec.json.Decoder(Part)
