"""Puts a history in the strictest order that hosts ask for. The templates of many open models take one system message
at the beginning, then alternating turns of the user and the assistant. No text is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import is_

from toolwire.model.request import (
    INSTRUCTIONS,
    ChatRequest,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    split_instructions,
)
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.rewrite.history import GO_ON, NO_TEXT, with_user_last

#: The words of a refusal about the order of the turns: of Mistral's own rules, of templates of open models, of
#: llama.cpp, Perplexity, DeepSeek, Google, Z.ai, and of Claude and Bedrock behind other APIs.
_ABOUT_ORDER = re.compile(
    r"unexpected role '\w+' after role '\w+'|\b(must|should) (alternate|be alternating)\b|expected last role"
    r"|\b2 or more assistant messages\b|\bcomes? immediately after a user turn\b"
    r"|\bfirst message\b.{0,60}\bmust (be|use)\b.{0,10}\buser\b|\bmust start with a user\b|\bsupport successive user\b"
    r"|\bmessages (parameter is illegal|参数非法)"
    r"|system (message|role|prompt)s? (must|should|can|may)( only)?( be| appear| come)?( at| in| as)? the (very )?"
    r"(beginning|start|first)",
    re.IGNORECASE,
)

#: Warning: the turns were put in an order that the host takes.
ORDER = "turns_rearranged"

#: The assistant's text between results and a user's text behind them.
_HEARD = "OK."


def is_about_order(refusal: str) -> bool:
    """Whether a refusal is about the order of the turns, by its message."""
    return _ABOUT_ORDER.search(refusal) is not None


def with_one_system_message(request: ChatRequest) -> ChatRequest:
    """The request with its leading instructions as one message; the same object if they are."""
    leading, others = split_instructions(request.messages)
    return request if len(leading) < 2 else replace(request, messages=(_joined(leading), *others))


def with_alternating_turns(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with one system message and alternating turns of the user and the assistant, the user's first. Later
    instructions become text in a user's turn, between <system> and </system>. Successive messages of one role are
    joined. A short assistant's turn is put between results and a user's text behind them, and a short user's turn in
    front of a first and behind a last assistant's turn."""
    leading, others = split_instructions(request.messages)
    turns: list[Message] = [_joined(leading)] if leading else []
    if not others or others[0].role == "assistant":
        turns.append(Message("user", (TextPart(NO_TEXT),)))
    for message in others:
        message = _of_the_user(message) if message.role in INSTRUCTIONS else message
        last = turns[-1] if turns else None
        if message.role == "user" and last is not None and last.role == "tool":
            turns.append(Message("assistant", (TextPart(_HEARD),)))
        elif last is not None and last.role == message.role != "tool" and not last.tool_calls:
            turns[-1] = replace(last, parts=(*last.parts, *_apart(last, message)), extra=())
            continue
        turns.append(message)
    return with_user_last(replace(request, messages=tuple(turns)), warnings)


def with_instructions_of_the_user(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with instructions in turns of the user, between <system> and </system>, for a host that has none."""
    messages = [_of_the_user(it) if it.role in INSTRUCTIONS else it for it in request.messages]
    if all(map(is_, messages, request.messages)):
        return request
    warnings.add("system_message_in_user_turn")
    return with_alternating_turns(replace(request, messages=tuple(messages)), warnings)


def with_tool_turns_apart(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with calls and results in turns of their own. An assistant's text beside a call is put in front of
    it, with a short user's turn between them. A short assistant's turn is put between results and a user's text behind
    them."""
    turns: list[Message] = []
    for message in request.messages:
        said = tuple(part for part in message.parts if type(part) is TextPart) if message.tool_calls else ()
        if message.role in ("user", *INSTRUCTIONS) and turns and turns[-1].role == "tool":
            turns.append(Message("assistant", (TextPart(_HEARD),)))
        if any(part.text.strip() for part in said):
            turns += (replace(message, parts=said, extra=()), Message("user", (TextPart(GO_ON),)))
        turns.append(replace(message, parts=tuple(p for p in message.parts if p not in said)) if said else message)
    if len(turns) == len(request.messages):
        return request
    warnings.add(ORDER)
    return replace(request, messages=tuple(turns))


def with_single_calls(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with one call in each turn: a turn with several becomes one for each of them, with its result behind
    it. What else the turn has stands in the first."""
    given = request.messages
    if all(len(message.tool_calls) < 2 for message in given):
        return request
    turns: list[Message] = []
    results = 0  # how many messages before this place stand behind their calls already
    for place, message in enumerate(given):
        if place < results:
            continue
        calls, others = message.tool_calls, tuple(part for part in message.parts if type(part) is not ToolCallPart)
        if len(calls) < 2:
            turns.append(message)
            continue
        results = next((at for at in range(place + 1, len(given)) if given[at].role != "tool"), len(given))
        for number, call in enumerate(calls):
            turns.append(
                replace(message, parts=(call,), extra=()) if number else replace(message, parts=(*others, call))
            )
            turns += [given[at] for at in range(place + 1, results) if _answers(given[at], call)]
    warnings.add(ORDER)
    return replace(request, messages=tuple(turns))


def _answers(message: Message, call: ToolCallPart) -> bool:
    return any(type(part) is ToolResultPart and part.tool_call_id == call.id for part in message.parts)


def _joined(messages: Iterable[Message]) -> Message:
    """Instructions as one message."""
    first, *more = messages
    parts = (part for message in (first, *more) for part in message.parts)
    return replace(first, role="system", parts=tuple(parts)) if more else first


def _of_the_user(message: Message) -> Message:
    return Message("user", (TextPart("<system>"), *message.parts, TextPart("</system>")))


def _apart(last: Message, message: Message) -> tuple[Part, ...]:
    """The parts of a message that is joined to the last one of its role. Texts of the assistant's are separated by an
    empty line; the writer separates those of the user's."""
    between = (TextPart("\n\n"),) if message.role == "assistant" and last.parts and message.parts else ()
    return (*between, *message.parts)
