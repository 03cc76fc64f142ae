"""The native API's answers as pydantic models, for its OpenAPI document and for tests.

The gateway writes answers without them (`doors/native/document.py`), so no function imports this module; tests check
the answers against it. Arguments are parsed objects here; a reader that needs all digits takes them from the text.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Members are those named here and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]


class PromptTokens(Answer):
    cached_tokens: int
    cache_write_tokens: int


class CompletionTokens(Answer):
    reasoning_tokens: int


class Usage(Answer):
    """Tokens; what a provider does not report is 0."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokens
    completion_tokens_details: CompletionTokens


class Warning(Answer):  # noqa: A001 - the API's own word
    """`code` is stable. What validation found in a call also says in which call, and where (a JSON pointer)."""

    code: str
    message: str
    tool_call_id: str | None = None
    tool: str | None = None
    path: str | None = None
    expected: str | None = None
    got: str | None = None


class Function(Answer):
    """`arguments` is null, and their text in `raw_arguments`, where the output limit cut the call."""

    name: str
    arguments: dict[str, Any] | None
    raw_arguments: str | None = None


class AnswerCall(Answer):
    """`index` is its place among the answer's calls; the results may come back in any order."""

    index: int
    id: Annotated[str, Field(pattern=r"^call_[A-Za-z0-9]{32}$")]
    type: Literal["function"]
    function: Function
    signature: str | None = None


class AnswerReasoning(Answer):
    text: str
    signature: str | None = None


class AnswerOpaque(Answer):
    kind: str
    dialect: str
    data: dict[str, Any]


class Message(Answer):
    """Goes into the history of the next request as it is."""

    role: Literal["assistant"]
    content: str | None
    content_signature: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning_parts: list[AnswerReasoning] | None = None
    opaque_parts: list[AnswerOpaque] | None = None
    tool_calls: list[AnswerCall] | None = None


class Choice(Answer):
    index: Literal[0]
    message: Message
    finish_reason: FinishReason
    provider_finish_reason: str | None


class ChatResponse(Answer):
    """The answer of POST /native/chat without `stream`."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    provider: str
    conversation_id: str
    choices: Annotated[list[Choice], Field(min_length=1, max_length=1)]
    usage: Usage
    warnings: list[Warning]
    request_id: str


class Error(Answer):
    """`incompatible_features`: what a tool's schema says that the provider has no words for."""

    type: str
    code: str
    message: str
    param: str | None
    incompatible_features: list[str] | None = None


class ErrorResponse(Answer):
    """The body of every error, and the event that ends a stream which failed."""

    type: Literal["error"]
    error: Error
    request_id: str


# ---------------------------------------------------------------- the stream


class ResponseStart(Answer):
    type: Literal["response.start"]
    id: str
    model: str
    created: int
    provider: str
    conversation_id: str
    request_id: str


class TextStart(Answer):
    type: Literal["text.start"]
    index: int
    refusal: Literal[True] | None = None


class TextDelta(Answer):
    type: Literal["text.delta"]
    index: int
    text: str


class TextEnd(Answer):
    type: Literal["text.end"]
    index: int
    signature: str | None = None


class ReasoningStart(Answer):
    type: Literal["reasoning.start"]
    index: int


class ReasoningDelta(Answer):
    type: Literal["reasoning.delta"]
    index: int
    text: str


class ReasoningEnd(Answer):
    type: Literal["reasoning.end"]
    index: int
    signature: str | None = None


class ToolCallStart(Answer):
    type: Literal["tool_call.start"]
    index: int
    call_index: int
    id: Annotated[str, Field(pattern=r"^call_[A-Za-z0-9]{32}$")]
    name: str


class ToolCallDelta(Answer):
    type: Literal["tool_call.delta"]
    index: int
    fragment: str


class ToolCallEnd(Answer):
    type: Literal["tool_call.end"]
    index: int
    call_index: int
    id: str
    name: str
    arguments: dict[str, Any] | None
    raw_arguments: str | None = None
    signature: str | None = None


class Opaque(Answer):
    type: Literal["opaque"]
    index: int
    kind: str
    dialect: str
    data: dict[str, Any]


class UsageUpdate(Answer):
    type: Literal["usage"]
    usage: Usage


class WarningEvent(Warning):
    type: Literal["warning"]


class ResponseEnd(Answer):
    type: Literal["response.end"]
    finish_reason: FinishReason
    provider_finish_reason: str | None
    usage: Usage


Event = Annotated[
    ResponseStart
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Opaque
    | UsageUpdate
    | WarningEvent
    | ResponseEnd
    | ErrorResponse,
    Field(discriminator="type"),
]


# ---------------------------------------------------------------- tools/check and translate


class Refusal(Error):
    """An error, and the tool it is about."""

    tool: str | None


class Difference(Answer):
    """`path` is a JSON pointer into the tool's parameters."""

    path: str
    difference: Literal["removed", "added", "changed"]


class Change(Answer):
    """What becomes of a tool at one provider. `path` is its place in the request."""

    tool: str
    path: str
    change: Literal[
        "renamed",
        "schema_converted",
        "schema_loosened",
        "schema_left_out",
        "strict_dropped",
        "description_dropped",
        "left_out",
    ]
    to: str | None = None
    differences: list[Difference] | None = None


class Verdict(Answer):
    """What one provider says. `sent` are the tools as its API would be sent them. `model` is null for any model."""

    provider: str | None
    wire: str | None
    model: str | None
    accepted: bool
    refused: list[Refusal]
    changes: list[Change]
    warnings: list[Warning]
    sent: list[dict[str, Any]]


class ToolsCheckResponse(Answer):
    """`refused` is what the gateway itself refuses, whatever the provider."""

    object: Literal["tools.check"]
    tools: int
    refused: list[Refusal]
    warnings: list[Warning]
    providers: list[Verdict]


class TranslateResponse(Answer):
    """The request that the provider would be sent, without its credential. The demo's `url` is a path."""

    object: Literal["translation"]
    door: str
    provider: str
    wire: str
    model: str
    method: str
    url: str
    headers: dict[str, str]
    body: dict[str, Any]
    warnings: list[Warning]
