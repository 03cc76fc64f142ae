"""The chat door's JSON answer, and what it shares with the stream: calls, usage, the word for a finish."""

from __future__ import annotations

from toolwire.doors.openai_usage import chat_usage
from toolwire.model.events import Batch, Finish, Usage
from toolwire.model.response import ChatResponse, ReasoningOutput, TextOutput, ToolCallOutput
from toolwire.model.source import Members, raw_in
from toolwire.wire.json import dump, write_array, write_object
from toolwire.wire.openai_chat import DIALECT


def more_members(extra: Members) -> bytes:
    """Members to append to an object that is not empty, each after a comma."""
    return b"".join([b"," + dump(name) + b":" + value for name, value in extra]) if extra else b""


def finish_word(finish: Finish, has_calls: bool, *, as_function: bool) -> str:
    """OpenAI's word for the reason. `function_call` stays if the call is not one of the tool calls. `as_function`:
    calls are shown as the deprecated `function_call`."""
    if as_function and has_calls and finish.reason == "tool_calls":
        return "function_call"
    own_way = finish.raw == "function_call" and finish.reason == "tool_calls" and not has_calls
    return "function_call" if own_way else finish.reason


def write_call(id: str, name: str, text: str, kind: str, extra: Members) -> bytes:
    """An entry of `tool_calls`. `text`: the arguments, or a custom tool's input."""
    inner = "input" if kind == "custom" else "arguments"
    call = dump({"id": id, "type": kind, kind: {"name": name, inner: text}})
    return call[:-1] + more_members(extra) + b"}"


def render_usage(usage: Usage | None) -> bytes:
    """OpenAI's usage object: the upstream's own bytes if it speaks this API, else written, with zeros for absent
    counts."""
    usage = usage or Usage()
    raw = raw_in(usage, DIALECT)
    if raw is not None:
        return raw
    return chat_usage(usage)[:-1] + more_members(usage.extra) + b"}"


def render_response(response: ChatResponse, batch: Batch, *, as_function: bool) -> bytes:
    """The JSON answer: the upstream's own bytes if they can be shown, else written from the fold."""
    raw = raw_in(batch, DIALECT)
    if raw is not None:
        return raw
    extra = dict(response.extra)
    has_calls = any(type(part) is ToolCallOutput for part in response.parts)
    choice = [
        ("index", b"0"),
        ("message", _message(response, extra.get("delta", ()), as_function)),
        ("finish_reason", dump(finish_word(response.finish, has_calls, as_function=as_function))),
        *extra.get("choice", ()),
    ]
    return write_object(
        [
            ("id", dump(response.id)),
            ("object", b'"chat.completion"'),
            ("created", dump(response.created)),
            ("model", dump(response.model)),
            ("choices", write_array([write_object(choice)])),
            ("usage", render_usage(response.usage)),
            *extra.get("", ()),
        ]
    )


def _message(response: ChatResponse, extra: Members, as_function: bool) -> bytes:
    texts = [part.text for part in response.parts if isinstance(part, TextOutput) and not part.refusal]
    refusals = [part.text for part in response.parts if isinstance(part, TextOutput) and part.refusal]
    reasoning = [part.text for part in response.parts if isinstance(part, ReasoningOutput)]
    calls = [
        write_call(part.id, part.name, part.arguments, part.kind, part.extra)
        for part in response.parts
        if isinstance(part, ToolCallOutput)
    ]
    pairs = [
        ("role", b'"assistant"'),
        ("content", dump("".join(texts)) if texts or not calls else b"null"),
        ("refusal", dump("".join(refusals)) if refusals else b"null"),
    ]
    if reasoning:
        pairs.append(("reasoning_content", dump("".join(reasoning))))
    if calls and as_function:
        made = next(part for part in response.parts if isinstance(part, ToolCallOutput))
        pairs.append(("function_call", dump({"name": made.name, "arguments": made.arguments})))
    elif calls:
        pairs.append(("tool_calls", write_array(calls)))
    return write_object([*pairs, *extra])
