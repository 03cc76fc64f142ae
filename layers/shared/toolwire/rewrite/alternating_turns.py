"""A history in the strictest order that hosts ask for: the templates of many open models take one system message, first
of all, and behind it turns of the user and of the assistant by turns. No text is lost on the way there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolwire.model.request import INSTRUCTIONS, ChatRequest, Message, Part, TextPart, split_instructions
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings
from toolwire.rewrite.history import GO_ON, with_user_last

#: What a refusal says that is about the order of the turns: Mistral's own rules, and templates of open models.
_ABOUT_ORDER = re.compile(
    r"unexpected role '\w+' after role '\w+'|roles must alternate|expected last role"
    r"|system (message|role|prompt)s? (must|should|can|may)( only)?( be| appear| come)?( at| in| as)? the (very )?"
    r"(beginning|start|first)",
    re.IGNORECASE,
)

#: Warning: the turns were put in an order that the host takes.
ORDER = "turns_rearranged"

#: What the assistant says between results and what the user says after them.
_HEARD = "OK."


def is_about_order(refusal: str) -> bool:
    """Whether a host has refused a request for the order of its turns, as its message tells."""
    return _ABOUT_ORDER.search(refusal) is not None


def with_one_system_message(request: ChatRequest) -> ChatRequest:
    """The request with the instructions that lead its history as one message; itself where they are."""
    leading, others = split_instructions(request.messages)
    return request if len(leading) < 2 else replace(request, messages=(_joined(leading), *others))


def with_alternating_turns(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with one system message, and with turns of the user and the assistant that alternate. Later
    instructions stand in the user's turn, between <system> and </system>. Messages of one role in a row become one. A
    short turn of the assistant's stands between results and what the user says after them, and one of the user's behind
    a last one of the assistant's."""
    leading, others = split_instructions(request.messages)
    turns: list[Message] = [_joined(leading)] if leading else []
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


def with_tool_turns_apart(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with calls and results in turns of their own: what the assistant says beside a call comes before it,
    and a short turn of the user's between them; a short one of the assistant's stands between results and what the user
    says behind them."""
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


def _joined(messages: Iterable[Message]) -> Message:
    """Instructions as one message."""
    first, *more = messages
    parts = (part for message in (first, *more) for part in message.parts)
    return replace(first, role="system", parts=tuple(parts)) if more else first


def _of_the_user(message: Message) -> Message:
    return Message("user", (TextPart("<system>"), *message.parts, TextPart("</system>")))


def _apart(last: Message, message: Message) -> tuple[Part, ...]:
    """The parts of a message that continues the last one of its role. Between texts of the assistant's an empty line is
    put; those of the user's are kept apart by whoever writes them."""
    between = (TextPart("\n\n"),) if message.role == "assistant" and last.parts and message.parts else ()
    return (*between, *message.parts)
