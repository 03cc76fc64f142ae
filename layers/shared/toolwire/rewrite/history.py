"""Checks and repairs a history: each result has its call, each call has its result, the provider accepts each id.

It works on the neutral request, so all doors and providers share the rules.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from toolwire.conversation.tool_call_ids import rewrite
from toolwire.model.errors import RequestError
from toolwire.model.map_request import map_content, map_messages, map_parts, same_if_unchanged
from toolwire.model.request import (
    ChatRequest,
    Message,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolwire.model.source import raw_in, replace
from toolwire.model.warnings import Warnings
from toolwire.wire.json import dump, is_object

#: The text sent for a missing result. Clients lose results when they trim their history.
NO_RESULT = "Error: no result was provided for this tool call."


#: The text sent where a provider requires a user's text and the client sent none.
NO_TEXT = "(no text)"

#: The user turn added after a final assistant turn, for models that cannot continue their own.
GO_ON = "Continue."

#: Warnings: see the functions that give them.
SILENT_TURN, USER_TURN, TRIMMED = "silent_turn_left_out", "user_turn_added", "last_turn_trimmed"
RESULT_NAME, MISSING_RESULT = "tool_result_name_corrected", "tool_result_missing"

#: Fields that refer to messages stored at the provider and absent from the request.
_STORED = ("previous_response_id", "conversation", "prompt", "(item_reference)")


def check_results(request: ChatRequest) -> None:
    """Raises RequestError (`unknown_tool_call_id`) for a result whose call is not in the history before it, and
    (`duplicate_tool_result`) for a second result of one call. It checks nothing if a part of the history is stored at a
    provider (`previous_response_id`, ...), which checks it itself."""
    if any(name.endswith(_STORED) for name in request.dialect_fields):
        return
    history = request.fields.history if request.fields is not None else "messages"
    calls: Counter[str] = Counter()
    results: Counter[str] = Counter()
    for number, message in enumerate(request.messages):
        for part in message.parts:
            if type(part) is ToolCallPart:
                calls[part.id] += 1
            elif type(part) is ToolResultPart:
                results[part.tool_call_id] += 1
                if results[part.tool_call_id] <= calls[part.tool_call_id]:
                    continue
                known = calls[part.tool_call_id] > 0
                wrong = "a call that already has its result" if known else "no call in the messages before it"
                raise RequestError(
                    f"the tool result for {part.tool_call_id!r} answers {wrong}; send one result after the "
                    "assistant's message with the call",
                    code="duplicate_tool_result" if known else "unknown_tool_call_id",
                    param=part.path or (f"messages[{number}].tool_call_id" if history == "messages" else history),
                )


def with_call_names(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with results that name the tool of their call, with a warning if a result names another tool. A
    result without a name stays so: a provider that wants one gets the call's."""
    if not any(_is_named(part) for message in request.messages if message.role == "tool" for part in message.parts):
        return request  # as most clients' results are
    names: dict[str, str] = {}

    def named(part: Part) -> Part:
        if type(part) is ToolCallPart:
            names[part.id] = part.name
        elif type(part) is ToolResultPart and part.name is not None:
            name = names.get(part.tool_call_id, part.name)
            if name != part.name:
                warnings.add(RESULT_NAME)
                return replace(part, name=name)
        return part

    return map_messages(request, lambda message: map_parts(message, named))


def _is_named(part: Part) -> bool:
    return type(part) is ToolResultPart and part.name is not None


def with_results(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with a synthetic error result for every call that has none, with a warning.

    The Chat API refuses an assistant message with tool calls that is not followed by a result for each. No call is
    dropped. A result that comes later, behind a user's text, is moved to its turn; the synthetic ones stand behind it.
    An assistant's text between a call and its later result becomes part of the turn with the call: else the history
    would end with that text, and not with the results.
    """
    given = request.messages
    missing, turns = _pairs(request)
    said = _said_beside_calls(given, frozenset(turns.values()))
    behind: dict[int, list[Message]] = {}  # position of a turn with calls -> its results
    for number, turn in turns.items():
        behind.setdefault(turn, []).append(given[number])
    for turn, call in missing:
        result = ToolResultPart(call.id, (TextPart(NO_RESULT),), is_error=True, name=call.name)
        behind.setdefault(turn, []).append(Message("tool", (result,)))
    messages: list[Message] = []
    for number, message in enumerate(given):
        if number not in turns and number not in said:
            beside = [given[other] for other, turn in said.items() if turn == number]
            messages += (_as_one(message, beside), *behind.get(number, ()))
    kept = same_if_unchanged(given, messages)
    if missing:
        warnings.add(MISSING_RESULT)
    return request if kept is given else replace(request, messages=kept)


def _said_beside_calls(messages: tuple[Message, ...], answered: frozenset[int]) -> dict[int, int]:
    """The position of each message of the assistant's without calls that follows one with calls whose results come
    later, and the position of that one."""
    said: dict[int, int] = {}
    for number, message in enumerate(messages):
        turn = said.get(number - 1, number - 1)
        if turn in answered and message.role == "assistant" and not message.tool_calls:
            said[number] = turn
    return said


def _as_one(message: Message, others: list[Message]) -> Message:
    """The message with the content of the others behind its own, with separate texts, since some APIs join the texts of
    a turn."""
    if not others:
        return message
    parts: list[Part] = [*message.parts]
    for other in others:
        has_text = any(type(part) is TextPart and part.text for part in parts)
        parts += [_apart(part) if has_text and not place else part for place, part in enumerate(other.parts)]
    extra = dict(pair for each in (message, *others) for pair in each.extra)
    return replace(message, parts=tuple(parts), extra=tuple(extra.items()))


def _apart(part: Part) -> Part:
    return replace(part, text=f"\n\n{part.text}") if type(part) is TextPart and not part.signature else part


def lacks_results(request: ChatRequest) -> bool:
    """Whether a call has no result anywhere after it."""
    return bool(_pairs(request)[0])


def without_silent_turns(request: ChatRequest, warnings: Warnings, *, own: str | None) -> ChatRequest:
    """The request without assistant's turns that have no text and no calls: interrupted ones, which have only
    reasoning. Providers refuse empty turns, and reasoning that nothing follows. An unchanged message of a client of the
    dialect `own` stays."""

    def unless_silent(message: Message) -> Message | None:
        if not _is_silent(message) or (own is not None and raw_in(message, own) is not None):
            return message
        if message.parts:
            warnings.add(SILENT_TURN)
        return None

    rest = map_messages(request, unless_silent)
    return (
        rest if rest.messages or rest is request else replace(rest, messages=(Message("user", (TextPart(NO_TEXT),)),))
    )


def without_blank_texts(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request without texts of nothing but white space, for a host that has refused one. A turn of the assistant's
    that has nothing else is left out; what else would be empty gets words, with a warning. The system text stays."""

    def of_result(part: Part) -> Part:
        said = map_content(part, _unless_blank) if type(part) is ToolResultPart else part
        lacks = type(said) is ToolResultPart and not said.content and not said.is_error
        return replace(said, content=words()) if lacks else said

    def words() -> tuple[TextPart]:
        warnings.add("empty_message")
        return (TextPart(NO_TEXT),)

    def said_by(message: Message) -> Message | None:
        if message.role == "tool":
            return map_parts(message, of_result)
        said = map_parts(message, _unless_blank)
        if message.role == "assistant":
            return said if said.parts else None
        return said if said.parts else replace(said, parts=words())

    return map_messages(without_silent_turns(request, warnings, own=None), said_by)


def _unless_blank(part: Part) -> Part | None:
    return None if type(part) is TextPart and not part.text.strip() else part


def with_user_last(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with a short user's turn behind a last assistant's turn, which many models refuse to continue. A turn
    with calls is not the last, since its results follow."""
    last = request.messages[-1] if request.messages else None
    if last is None or last.role != "assistant" or last.tool_calls:
        return request
    warnings.add(USER_TURN)
    return replace(request, messages=(*request.messages, Message("user", (TextPart(GO_ON),))))


def with_trimmed_end(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request without white space at the end of a last assistant's turn, which Claude refuses to continue
    otherwise."""
    last = request.messages[-1] if request.messages else None
    end = last.parts[-1] if last is not None and last.role == "assistant" and last.parts else None
    if last is None or type(end) is not TextPart or end.text == (text := end.text.rstrip()):
        return request
    warnings.add(TRIMMED)
    trimmed = replace(last, parts=(*last.parts[:-1], replace(end, text=text)))
    return replace(request, messages=(*request.messages[:-1], trimmed))


def _is_silent(message: Message) -> bool:
    return message.role == "assistant" and not any(map(_says, message.parts))


def _says(part: Part) -> bool:
    if isinstance(part, TextPart | RefusalPart):
        return bool(part.text)
    return type(part) is not ReasoningPart


def _pairs(request: ChatRequest) -> tuple[list[tuple[int, ToolCallPart]], dict[int, int]]:
    """The calls without a result anywhere after them, each with the position of its message, and the position of every
    result with that of its call. Of calls that share an id, a result answers the newest."""
    open_calls: dict[str, list[tuple[int, int]]] = {}
    calls: dict[tuple[int, int], ToolCallPart] = {}
    turns: dict[int, int] = {}
    for number, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            if type(part) is ToolCallPart:
                open_calls.setdefault(part.id, []).append((number, place))
                calls[number, place] = part
            elif type(part) is ToolResultPart and open_calls.get(part.tool_call_id):
                answered = open_calls[part.tool_call_id].pop()
                turns[number] = answered[0]
                del calls[answered]
    return [(number, part) for (number, _), part in calls.items()], turns


def with_legal_ids(request: ChatRequest, pattern: str, length: int, *, own_ids: bool = True) -> ChatRequest:
    """The request with each id that the provider refuses, and each later use of an id, rewritten in call and result.
    Legal ids stay, so most requests are returned unchanged. `own_ids`: it takes any id that it made itself."""
    parts_of_all = [part for message in request.messages for part in message.parts]
    own = frozenset(part.id for part in parts_of_all if type(part) is ToolCallPart and part.own_id and own_ids)
    legal = _Legal(re.compile(pattern), own)
    calls = [part.id for part in parts_of_all if type(part) is ToolCallPart]
    results = [part.tool_call_id for part in parts_of_all if type(part) is ToolResultPart]
    asked = Counter(calls)
    if all(len(set(ids)) == len(ids) and all(map(legal.takes, ids)) for ids in (calls, results)):
        return request
    used: Counter[str] = Counter()  # how many calls have had this id
    answered: Counter[str] = Counter()

    def with_legal_id(part: Part) -> Part:
        if type(part) is ToolCallPart:
            number = used[part.id]
            used[part.id] += 1
            return _renamed_call(part, legal, number, length)
        if type(part) is ToolResultPart:
            # Results come in the order of the calls that share an id: each turn answers its own before the next.
            # A result beyond the last call keeps the id that the client has sent.
            number = answered[part.tool_call_id]
            answered[part.tool_call_id] += 1
            return _renamed_result(part, legal, number if number < asked[part.tool_call_id] else 0, length)
        return part

    return map_messages(request, lambda message: map_parts(message, with_legal_id))


@dataclass(frozen=True, slots=True)
class _Legal:
    """The ids that a provider takes: those that match its pattern, and those that it made itself."""

    pattern: re.Pattern[str]
    own: frozenset[str]

    def takes(self, call_id: str) -> bool:
        return self.pattern.fullmatch(call_id) is not None or call_id in self.own


def _renamed_call(part: ToolCallPart, legal: _Legal, occurrence: int, length: int) -> ToolCallPart:
    if occurrence == 0 and legal.takes(part.id):
        return part
    return replace(part, id=rewrite(part.id, occurrence, length))


def _renamed_result(part: ToolResultPart, legal: _Legal, occurrence: int, length: int) -> ToolResultPart:
    if occurrence == 0 and legal.takes(part.tool_call_id):
        return part
    return replace(part, tool_call_id=rewrite(part.tool_call_id, occurrence, length))


def with_object_arguments(request: ChatRequest, warnings: Warnings) -> ChatRequest:
    """The request with each call's arguments as the text of an object. OpenAI takes any text, but most hosts parse it,
    and refuse every further turn of a conversation in which one call was cut or malformed."""

    def of_object(part: Part) -> Part:
        if type(part) is not ToolCallPart or part.kind != "function":
            return part
        arguments = object_arguments(part.arguments, warnings)
        return part if arguments is part.arguments else replace(part, arguments=arguments)

    return map_messages(request, lambda message: map_parts(message, of_object))


def object_arguments(text: str, warnings: Warnings) -> str:
    """A call's arguments as an object: the client's own text, digit for digit. A text that is no object becomes a
    member of one, with a warning."""
    if is_object(text):
        return text
    if text.strip() in ("", "null"):
        return "{}"
    warnings.add("history_arguments_wrapped")
    return dump({"_raw_arguments": text}).decode()
