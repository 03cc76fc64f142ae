"""The native door's JSON answer, and what it shares with the stream: usage, warnings, arguments and reasons."""

from __future__ import annotations

from toolwire.doors import AnswerContext
from toolwire.doors.openai_usage import chat_usage
from toolwire.model.errors import UpstreamProtocolError
from toolwire.model.events import Finish, OpaquePart
from toolwire.model.response import ChatResponse, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import Members
from toolwire.model.warnings import Warnings
from toolwire.wire.json import dump, is_object, write_array, write_object

#: The warning of every answer with calls: the client must execute them.
_CONTAINS_CALLS = "contains_tool_calls"


def if_said(**members: str | None) -> dict[str, str]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def raw_arguments(arguments: str) -> bytes:
    """Arguments as JSON. Half a surrogate pair, which UTF-8 cannot hold, is escaped."""
    return arguments.encode("utf-8", "backslashreplace")


def cut_arguments(name: str, text: str, finish: Finish) -> Members:
    """The members for arguments that are no object. Raises UpstreamProtocolError unless the answer was cut."""
    if not finish.is_cut:
        raise UpstreamProtocolError(
            f"the model's arguments for the tool {name!r} are no JSON object", code="malformed_tool_arguments"
        )
    return (("arguments", b"null"), ("raw_arguments", dump(text)))


def finish_reasons(finish: Finish) -> Members:
    """The members with the finish reason, in the gateway's word and in the provider's."""
    return (("finish_reason", dump(finish.reason)), ("provider_finish_reason", dump(finish.raw)))


def render_response(response: ChatResponse, context: AnswerContext) -> bytes:
    """The JSON answer. Raises UpstreamProtocolError (`malformed_tool_arguments`): see the module."""
    choice = [("index", b"0"), ("message", _message(response)), *finish_reasons(response.finish)]
    warnings = render_warnings(context, contains_calls=response.finish.reason == "tool_calls")
    return write_object(
        [
            ("id", dump(response.id)),
            ("object", b'"chat.completion"'),
            ("created", dump(response.created)),
            ("model", dump(response.model)),
            ("provider", dump(context.provider)),
            ("conversation_id", dump(context.conversation_id)),
            ("choices", write_array([write_object(choice)])),
            ("usage", chat_usage(response.usage)),
            ("warnings", dump(warnings)),
            ("request_id", dump(context.request_id)),
        ]
    )


def _message(response: ChatResponse) -> bytes:
    """The answer as a message that a client can put into its history as it is."""
    texts, refusals, reasoning, calls, opaque = _sorted(response)
    pairs: list[tuple[str, bytes]] = [("role", b'"assistant"')]
    pairs.append(("content", dump("".join(part.text for part in texts)) if texts or not calls else b"null"))
    if len(texts) == 1 and texts[0].signature is not None:  # several runs have a signature each
        pairs.append(("content_signature", dump(texts[0].signature)))
    if refusals:
        pairs.append(("refusal", dump("".join(part.text for part in refusals))))
    if reasoning:
        pairs.append(("reasoning_content", dump("".join(part.text for part in reasoning))))
    if any(part.signature is not None for part in reasoning):
        signed = [{"text": part.text, **if_said(signature=part.signature)} for part in reasoning]
        pairs.append(("reasoning_parts", dump(signed)))
    if opaque:
        written = ((("kind", dump(p.kind)), ("dialect", dump(p.dialect)), ("data", p.raw)) for p in opaque)
        pairs.append(("opaque_parts", write_array(map(write_object, written))))
    if calls:
        shown = (_call(call, number, response.finish) for number, call in enumerate(calls))
        pairs.append(("tool_calls", write_array(shown)))
    return write_object(pairs)


def _sorted(
    response: ChatResponse,
) -> tuple[list[TextOutput], list[TextOutput], list[ReasoningOutput], list[ToolCallOutput], list[OpaquePart]]:
    """The parts, grouped by kind; each group is in the order of the answer."""
    texts: list[TextOutput] = []
    refusals: list[TextOutput] = []
    reasoning: list[ReasoningOutput] = []
    calls: list[ToolCallOutput] = []
    opaque: list[OpaquePart] = []
    for part in response.parts:
        match part:
            case TextOutput():
                (refusals if part.refusal else texts).append(part)
            case ReasoningOutput():
                reasoning.append(part)
            case ToolCallOutput():
                calls.append(part)
            case OpaquePart():
                opaque.append(part)
    return texts, refusals, reasoning, calls, opaque


def _call(call: ToolCallOutput, number: int, finish: Finish) -> bytes:
    is_whole = is_object(call.arguments)
    arguments = (
        (("arguments", raw_arguments(call.arguments)),)
        if is_whole
        else cut_arguments(call.name, call.arguments, finish)
    )
    members = [("index", dump(number)), ("id", dump(call.id)), ("type", b'"function"')]
    members.append(("function", write_object([("name", dump(call.name)), *arguments])))
    members += [("signature", dump(call.signature))] if call.signature is not None else []
    return write_object(members)


def render_warnings(context: AnswerContext, *, contains_calls: bool) -> list[dict[str, str]]:
    """Each warning with its code and a sentence. A fault that validation found in a call also has its place."""
    told = {fault.code for fault in context.faults}
    warnings = Warnings(code for code in context.warnings if code.partition(":")[0] not in told).explained()
    warnings += [
        {
            "code": fault.code,
            "message": fault.message,
            "tool_call_id": fault.tool_call_id,
            "tool": fault.name,
            "path": fault.path,
            "expected": fault.expected,
            "got": fault.got,
        }
        for fault in context.faults
    ]
    if contains_calls:
        warnings += Warnings((_CONTAINS_CALLS,)).explained()
    return warnings
