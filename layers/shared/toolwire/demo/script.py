"""What the demo model says, decided by the request alone. Pure; knows no wire format.

The rules, in order (`docs/demo.md` has them with examples):
1. Directives in the last user message, such as `[demo error 429]`, hold until the next user message.
2. `tool_choice` "required", a named tool or an allowed set is obeyed.
3. With "auto", a user message that names what a tool is about calls that tool, once for each thing it is about
   ("weather in Paris and London": two calls); `parallel_tool_calls: false` makes it one.
4. After tool results, and for everything else: a short text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from toolwire.demo.arguments import free_strings, instance
from toolwire.demo.subjects import Subjects, subjects, words

#: Calls made without `[demo calls N]`, and with it.
_MOST_CALLS_BY_RULE = 8
_MOST_CALLS = 50
#: Characters of the user's message that the script reads; directives count wherever they stand.
_READ_CHARS = 24_000
#: Characters of each tool result, and of the user's text, that an answer quotes.
_QUOTED_CHARS = 200

_DIRECTIVE = re.compile(r"\[demo (\w+)(?: (\d{1,6}))?\]")
#: A model writes tokens. One fragment of ours is one token: a word with the space before it, or punctuation.
_FRAGMENT = re.compile(r"\s*\w+|\s*[^\w\s]+|\s+")


@dataclass(frozen=True, slots=True)
class DemoTool:
    """A tool of the request. `schema` is its parameters, parsed; a custom tool takes free text instead."""

    name: str
    description: str
    schema: Any
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What the script needs of a request, whatever wire it came by."""

    user_text: str
    #: The texts of the tool results that end the history; empty when the user spoke last.
    results: tuple[str, ...] = ()
    #: Whether the last message is the user's.
    user_spoke_last: bool = True
    tools: tuple[DemoTool, ...] = ()
    choice: Literal["auto", "none", "required"] = "auto"
    #: Names the choice is limited to; None for all tools.
    allowed: frozenset[str] | None = None
    parallel: bool = True
    #: Output limit in tokens.
    max_tokens: int | None = None
    #: Schema that a JSON answer has to follow, or None for prose.
    answer_schema: Any = None


@dataclass(frozen=True, slots=True)
class Directives:
    """Faults and manners on demand; times in seconds."""

    error: int | None = None
    cut: bool = False
    stall: float = 0.0
    pace: float | None = None
    length: bool = False
    text: bool = False
    calls: int | None = None
    interleave: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; `arguments` in fragments (a custom tool's input likewise)."""

    name: str
    arguments: tuple[str, ...]
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant turn, in fragments of one token each."""

    reasoning: tuple[str, ...]
    text: tuple[str, ...]
    calls: tuple[Call, ...]
    finish: Literal["stop", "tool_calls", "length"]

    @property
    def tokens(self) -> int:
        """Output tokens without the reasoning; a call's name and frame count for four."""
        return len(self.text) + sum(4 + len(call.arguments) for call in self.calls)


def directives(user_text: str) -> Directives:
    """Reads the directives of a user message; unknown ones and numbers out of range are ordinary text."""
    found = Directives()
    for name, number in _DIRECTIVE.findall(user_text):
        value = int(number) if number else None
        match name, value:
            case "error", int(status) if 400 <= status <= 599:
                found = replace(found, error=status)
            case "cut" | "length" | "text" | "interleave", None:
                found = replace(found, **{name: True})
            case "stall", int(seconds) if seconds <= 300:
                found = replace(found, stall=float(seconds))
            case "slow", int(milliseconds) if milliseconds <= 10_000:
                found = replace(found, pace=milliseconds / 1000)
            case "calls", int(count) if 1 <= count <= _MOST_CALLS:
                found = replace(found, calls=count)
    return found


def play(asked: Asked) -> Turn:
    """The turn that answers the request."""
    wanted = directives(asked.user_text)
    text = _DIRECTIVE.sub("", asked.user_text).strip()[:_READ_CHARS]
    said = subjects(text, frozenset().union(*(words(tool.name) for tool in asked.tools)))
    calls = _calls(asked, wanted, said)
    if calls:
        names = ", ".join(dict.fromkeys(call.name for call in calls))
        turn = Turn(fragments(f"The user needs {names}."), (), calls, "tool_calls")
    else:
        turn = Turn(fragments("No tool is needed here."), fragments(_text(asked, said)), (), "stop")
    limit = asked.max_tokens
    if wanted.length:
        inside = 4 + len(calls[0].arguments) // 2 if calls else len(turn.text) // 2
        limit = min(inside, limit or inside)
    return turn if limit is None or turn.tokens <= limit else _cut_by_limit(turn, limit)


def fragments(text: str) -> tuple[str, ...]:
    """The text in pieces of about a token; joined they are the text again."""
    return tuple(_FRAGMENT.findall(text))


def _calls(asked: Asked, wanted: Directives, said: Subjects) -> tuple[Call, ...]:
    usable = [tool for tool in asked.tools if asked.allowed is None or tool.name in asked.allowed]
    if not usable or asked.choice == "none" or wanted.text:
        return ()
    if asked.choice == "auto" and not asked.user_spoke_last:
        return ()
    matching = _matching(usable, said.text)
    if not matching and asked.choice == "auto" and wanted.calls is None:
        return ()
    calls = [call for tool in matching or usable[:1] for call in _calls_of(tool, said)][:_MOST_CALLS_BY_RULE]
    if wanted.calls is not None:
        calls = [calls[position % len(calls)] for position in range(wanted.calls)]
    return tuple(calls if asked.parallel else calls[:1])


def _matching(tools: list[DemoTool], text: str) -> list[DemoTool]:
    """The tools whose name shares a word with the text, else the first whose description does."""
    spoken = words(text)
    by_name = [tool for tool in tools if spoken & words(tool.name)]
    return by_name or [tool for tool in tools if spoken & words(tool.description)][:1]


def _calls_of(tool: DemoTool, said: Subjects) -> list[Call]:
    """One call for each subject that the tool has room for; one call when it takes none."""
    if tool.custom:
        return [Call(tool.name, fragments(said.block or said.text or "example"), custom=True)]
    room = free_strings(tool.schema)
    count = max(1, len(said.names) // room) if room else 1
    made = []
    for position in range(count):
        arguments = instance(tool.schema, replace(said, names=said.names[position * room :]))
        arguments = arguments if isinstance(arguments, dict) else {}
        made.append(Call(tool.name, fragments(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")))))
    return made


def _text(asked: Asked, said: Subjects) -> str:
    if asked.answer_schema is not None:
        return json.dumps(instance(asked.answer_schema, said), ensure_ascii=False)
    if asked.results:
        quoted = "; ".join(result[:_QUOTED_CHARS] for result in asked.results)
        return f"The tools answered: {quoted}" if len(asked.results) > 1 else f"The tool answered: {quoted}"
    greeting = f'This is the demo model, a script without a language model. You said: "{said.text[:_QUOTED_CHARS]}".'
    if not asked.tools:
        return f"{greeting} Declare tools, and ask for what one of them is about."
    return f"{greeting} Ask for what a tool is about to have it called."


def _cut_by_limit(turn: Turn, limit: int) -> Turn:
    """The first `limit` tokens of the turn: what a model that ran out of output tokens has said so far."""
    text = turn.text[:limit]
    left = limit - len(text)
    calls: list[Call] = []
    for call in turn.calls:
        if left < 4:
            break
        calls.append(replace(call, arguments=call.arguments[: left - 4]))
        left -= 4 + len(calls[-1].arguments)
    return Turn(turn.reasoning, text, tuple(calls), "length")
