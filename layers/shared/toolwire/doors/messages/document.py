"""The messages door's JSON answer, and what it shares with the stream: usage and stop reasons."""

from __future__ import annotations

from toolwire.doors import AnswerContext
from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Batch, Finish, OpaquePart, Usage
from toolwire.model.response import ChatResponse, OutputPart, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import Members, raw_in
from toolwire.model.warnings import named_warning
from toolwire.wire.anthropic_messages import DIALECT, STOP_REASONS
from toolwire.wire.json import dump, is_object, write_array, write_object

#: The finish of an answer that gives no reason.
DEFAULT_STOP = Finish("stop")

#: Neutral reason -> Anthropic's word.
_WORDS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def stop_reason(finish: Finish, refused: bool) -> str:
    """Anthropic's word for the reason; the provider's own word if it is one of Anthropic's and still true (pause_turn,
    ...). `refused`: the answer is a refusal in words, which other APIs end with an ordinary stop."""
    if finish.raw is not None and STOP_REASONS.get(finish.raw) == finish.reason:
        return finish.raw
    return "refusal" if refused and finish.reason == "stop" else _WORDS[finish.reason]


def render_usage(usage: Usage | None, extra: Members = ()) -> bytes:
    """Anthropic's usage object. Its input does not include cached tokens. Absent counts are zeros."""
    usage = usage or Usage()
    counts: dict[str, object] = {
        "input_tokens": max(0, usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens),
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
    }
    if usage.reasoning_tokens:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return write_object([*((name, dump(value)) for name, value in counts.items()), *extra])


# ---------------------------------------------------------------- the JSON answer


def render_response(response: ChatResponse, batch: Batch, context: AnswerContext) -> bytes:
    """The JSON answer: the upstream's own bytes if they can be shown, else written from the fold.

    Raises UpstreamProtocolError (`malformed_tool_arguments`) for a call whose arguments are no JSON object, since this
    API cannot show it. A call that the output limit has cut is named in a warning instead.
    """
    raw = raw_in(batch, DIALECT)
    if raw is not None:
        return raw
    extra = dict(response.extra)
    numbered = ((part, extra.get(f"content[{number}]", ())) for number, part in enumerate(response.parts))
    blocks = [block for part, more in numbered if (block := _block(part, more, context)) is not None]
    refused = any(type(part) is TextOutput and part.refusal for part in response.parts)
    stop = ("stop_reason", dump(stop_reason(response.finish, refused)))
    return write_object(
        [
            ("id", dump(response.id)),
            ("type", b'"message"'),
            ("role", b'"assistant"'),
            ("model", dump(response.model)),
            ("content", write_array(blocks)),
            stop,
            *extra.get("stop", ()),
            ("stop_sequence", b"null"),
            ("usage", render_usage(response.usage, extra.get("usage", ()))),
            *extra.get("message", ()),
        ]
    )


def _block(part: OutputPart, extra: Members, context: AnswerContext) -> bytes | None:
    """One content block; None for a part without content in this API."""
    match part:
        case TextOutput(text):
            return write_object([("type", b'"text"'), ("text", dump(text)), *extra]) if text else None
        case ReasoningOutput(text, signature):
            if not text and not signature:
                return None
            pairs = [("type", b'"thinking"'), ("thinking", dump(text)), ("signature", dump(signature or ""))]
            return write_object([*pairs, *extra])
        case ToolCallOutput():
            named = [("type", b'"tool_use"'), ("id", dump(part.id)), ("name", dump(part.name))]
            named.append(("input", _input(part, context)))
            return write_object([*named, *extra])
        case OpaquePart(_, _, dialect, raw):
            return raw if dialect == DIALECT else None


def _input(call: ToolCallOutput, context: AnswerContext) -> bytes:
    """The arguments as an object, digit for digit.

    Clients of this API look for a call that the output limit has cut in the last block, and ask again with a higher
    limit (Anthropic's guide to tool use). So the call is shown, with its incomplete text in a member of its own.
    Without any text its input is empty, as at the end of a stream.
    """
    text = call.arguments
    if not call.complete:
        context.warnings.add(named_warning("tool_call_cut", call.name))
    if not text.strip():
        return b"{}"
    if is_object(text):
        return text.encode("utf-8", "backslashreplace")
    if not call.complete:
        return dump({"_raw_arguments": text})
    raise UpstreamProtocolError(
        f"the model called the tool {call.name!r} with arguments that are no JSON object, which this API cannot show: "
        "ask again, or stream the answer",
        code="malformed_tool_arguments",
    )
