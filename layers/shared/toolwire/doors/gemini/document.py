"""The gemini door's JSON answer, and what it shares with the stream: parts, usage and finish reasons."""

from __future__ import annotations

from toolwire.doors import AnswerContext
from toolwire.doors.gemini.parts import shown_signature
from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Batch, Finish, OpaquePart, Usage
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import Members, raw_in
from toolwire.model.warnings import named_warning
from toolwire.wire.gemini import DIALECT, FINISH_REASONS
from toolwire.wire.json import dump, is_object, write_array, write_object

#: The finish of an answer that gives no reason.
DEFAULT_FINISH = Finish("stop")

#: The part of a chunk without content.
_NOTHING = b'{"text":""}'

#: Neutral reason -> Google's word. It has none for calls.
_WORDS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def finish_reason(finish: Finish) -> str:
    """Google's word for the reason; the provider's own word if it is one of Google's."""
    if finish.raw is not None and FINISH_REASONS.get(finish.raw) == finish.reason:
        return finish.raw
    return _WORDS[finish.reason]


def render_usage(usage: Usage | None) -> bytes:
    """Google's usage object, whose `candidatesTokenCount` leaves out the thoughts."""
    usage = usage or Usage()
    counts = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": max(0, usage.output_tokens - usage.reasoning_tokens),
        "totalTokenCount": usage.total_tokens,
    }
    if usage.reasoning_tokens:
        counts["thoughtsTokenCount"] = usage.reasoning_tokens
    if usage.cache_read_tokens:
        counts["cachedContentTokenCount"] = usage.cache_read_tokens
    return dump(counts)


def render_chunk(
    parts: list[bytes],
    id: str | None,
    model: str | None,
    *,
    stop: list[tuple[str, bytes]] | None = None,
    usage: bytes | None = None,
    extra: dict[str, Members] | None = None,
) -> bytes:
    """An answer, or a piece of one. `stop`: the candidate's members about its end. `extra`: the upstream's members that
    the model does not name, in the same dialect."""
    more = extra or {}
    # As Google writes it: google-genai's chat forgets a turn of which a chunk has no part.
    content = write_object([("parts", write_array(parts or [_NOTHING])), ("role", b'"model"')])
    candidate = write_object([("content", content), *(stop or ()), ("index", b"0"), *more.get("candidate", ())])
    pairs = [("candidates", b"[" + candidate + b"]")]
    pairs += [("usageMetadata", usage)] if usage is not None else []
    pairs += [("modelVersion", dump(model))] if model else []
    pairs += [("responseId", dump(id))] if id else []
    return write_object([*pairs, *more.get("chunk", ())])


def text_part(text: str, signature: str | None = None, *, thought: bool = False) -> bytes:
    """A part of text or of a thought, with its signature."""
    pairs = [("text", dump(text)), *([("thought", b"true")] if thought else [])]
    return write_object([*pairs, *_signature(signature)])


def call_part(id: str, name: str, arguments: str, signature: str | None) -> bytes:
    """A call, with its arguments digit for digit. A call without an id came so from a provider of this API."""
    named = [*([("id", dump(id))] if id else []), ("name", dump(name))]
    call = write_object([*named, ("args", arguments.strip().encode("utf-8", "backslashreplace") or b"{}")])
    return write_object([("functionCall", call), *_signature(signature)])


def _signature(signature: str | None) -> list[tuple[str, bytes]]:
    return [("thoughtSignature", dump(shown_signature(signature)))] if signature else []


def is_shown(name: str, arguments: str, finish: Finish, context: AnswerContext) -> bool:
    """Whether a call can be shown: its arguments must be an object, or empty. A call that the output limit has cut
    cannot be shown; a warning names it. Raises UpstreamProtocolError (`malformed_tool_arguments`) for other arguments,
    since this API has no place for them."""
    if is_object(arguments) or (not arguments.strip() and not finish.is_cut):
        return True
    if finish.is_cut:
        context.warnings.add(named_warning("tool_call_cut", name))
        return False
    raise UpstreamProtocolError(
        f"the model called the tool {name!r} with arguments that are no JSON object, which this API cannot show: "
        "ask again",
        code="malformed_tool_arguments",
    )


def render_response(response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
    """The JSON answer: the upstream's own bytes if they can be shown, else written from the fold. Raises
    UpstreamProtocolError: see `is_shown`."""
    raw = raw_in(batch, DIALECT)
    if raw is not None:
        return raw
    written = [part for output in response.parts if (part := _part(output, response.finish, context)) is not None]
    return render_chunk(
        written,
        response.id,
        response.model,
        stop=[("finishReason", dump(finish_reason(response.finish)))],
        usage=render_usage(response.usage),
        extra=dict(response.extra),
    )


def _part(part: OutputPart, finish: Finish, context: AnswerContext) -> bytes | None:
    match part:
        case TextOutput(text, _, signature):
            return text_part(text, signature) if text or signature else None
        case ReasoningOutput(text, signature):
            return text_part(text, signature, thought=True) if text or signature else None
        case ToolCallOutput():
            shown = is_shown(part.name, part.arguments, finish, context)
            return call_part(part.id, part.name, part.arguments, part.signature) if shown else None
        case OpaquePart(_, _, dialect, raw):
            return raw if dialect == DIALECT else None
