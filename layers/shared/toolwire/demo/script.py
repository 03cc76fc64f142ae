"""Decides the demo model's turn, by the request alone. Pure; knows no wire format.

The rules, in order (`docs/demo.md` has them with examples):
1. Only the user's own last words count (`last_words.py`), and what they ask for in directives (`directives.py`).
2. `tool_choice` "required", a named tool or an allowed set is obeyed.
3. With "auto", a tool that tells the weather is called where the user speaks of the weather, once for each place
   ("weather in Paris and London": two calls); `parallel_tool_calls: false` makes it one. No other tool is called, and
   no word of the conversation becomes an argument of any other.
4. After tool results, and for everything else: a short text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from toolwire.demo.arguments import first_parameter, free_strings, instance
from toolwire.demo.directives import AskedCall, Directives, directives, without_directives
from toolwire.demo.last_words import LastWords
from toolwire.demo.subjects import Subjects, subjects, words

#: Calls made without a directive.
_MOST_CALLS_BY_RULE = 8
#: The words of a weather tool's name: with only these, the tool reads and does no harm.
_WEATHER = "weather"
_ABOUT_WEATHER = frozenset({_WEATHER, "current", "forecast", "today", "city"})
#: The subjects for arguments of all other tools: none of the conversation's words.
_NOTHING_SAID = Subjects("", (), ())
#: Characters of the user's message that the script reads; directives count wherever they stand.
_READ_CHARS = 24_000
#: Characters of each tool result, and of the user's text, that an answer quotes.
_QUOTED_CHARS = 200

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
    """The parts of a request that the script needs, in one form for all wires."""

    words: LastWords
    tools: tuple[DemoTool, ...] = ()
    choice: Literal["auto", "none", "required"] = "auto"
    #: Names the choice is limited to; None for all tools.
    allowed: frozenset[str] | None = None
    parallel: bool = True
    #: Output limit in tokens.
    max_tokens: int | None = None
    #: The stop sequences.
    stop: tuple[str, ...] = ()
    #: Schema that a JSON answer has to follow, or None for prose.
    answer_schema: Any = None


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
    #: The stop sequence that ended the text.
    stopped: str | None = None

    @property
    def tokens(self) -> int:
        """Output tokens without the reasoning; a call's name and frame count for four."""
        return len(self.text) + sum(4 + len(call.arguments) for call in self.calls)


def wanted_of(asked: Asked) -> Directives:
    """The directives for the turn that answers the request."""
    tools = {tool.name for tool in _usable(asked)} if asked.parallel else ()
    return directives(asked.words.text, asked.words.turns, asked.words.answered, tools)


def play(asked: Asked) -> Turn:
    """The turn that answers the request."""
    wanted = wanted_of(asked)
    text = without_directives(asked.words.text)[:_READ_CHARS]
    said = subjects(text, frozenset().union(*(words(tool.name) for tool in asked.tools)))
    calls = _calls(asked, wanted, said)
    if calls:
        names = ", ".join(dict.fromkeys(call.name for call in calls))
        turn = Turn(fragments(f"The user needs {names}."), (), calls, "tool_calls")
    else:
        text, stopped = _until_stop(_text(asked, wanted, said), asked.stop)
        turn = Turn(fragments("No tool is needed here."), fragments(text), (), "stop", stopped)
    limit = asked.max_tokens
    if wanted.length:
        inside = 4 + len(calls[0].arguments) // 2 if calls else len(turn.text) // 2
        limit = min(inside, limit or inside)
    return turn if limit is None or turn.tokens <= limit else _cut_by_limit(turn, limit)


def fragments(text: str) -> tuple[str, ...]:
    """The text in pieces of about a token; joined they are the text again."""
    return tuple(_FRAGMENT.findall(text))


def _usable(asked: Asked) -> list[DemoTool]:
    return [tool for tool in asked.tools if asked.allowed is None or tool.name in asked.allowed]


def _calls(asked: Asked, wanted: Directives, said: Subjects) -> tuple[Call, ...]:
    usable = _usable(asked)
    if not usable or asked.choice == "none" or wanted.text or wanted.says:
        return ()
    calls = _asked_calls(usable, wanted) or _guessed_calls(asked, usable, wanted, said)
    if wanted.count is not None:
        calls = [calls[position % len(calls)] for position in range(wanted.count)]
    return tuple(calls if asked.parallel else calls[:1])


def _asked_calls(usable: list[DemoTool], wanted: Directives) -> list[Call]:
    """The calls of the directives whose tools are there."""
    tools = {tool.name: tool for tool in usable}
    there = [(tools[call.name], call) for call in wanted.calls if call.name in tools]
    return [Call(tool.name, fragments(_payload(tool, call)), tool.custom) for tool, call in there]


def _payload(tool: DemoTool, call: AskedCall) -> str:
    if not call.is_text or tool.custom:
        return call.payload
    first = first_parameter(tool.schema)
    return json.dumps({first: call.payload} if first else {}, ensure_ascii=False, separators=(",", ":"))


def _guessed_calls(asked: Asked, usable: list[DemoTool], wanted: Directives, said: Subjects) -> list[Call]:
    """Calls of tools about the weather where the user speaks of it; else the first tool, where a call must be made."""
    must_call = asked.choice == "required" or wanted.count is not None
    if not must_call and (asked.words.turns or wanted.calls):
        return []
    tools = [tool for tool in usable if _tells_weather(tool)] if _WEATHER in words(said.text) else []
    if not tools and not must_call:
        return []
    return [call for tool in tools or usable[:1] for call in _calls_of(tool, said)][:_MOST_CALLS_BY_RULE]


def _tells_weather(tool: DemoTool) -> bool:
    """By its name alone: `get_weather`, `getCurrentWeather`."""
    return not tool.custom and _WEATHER in (about := words(tool.name)) and about <= _ABOUT_WEATHER


def _calls_of(tool: DemoTool, said: Subjects) -> list[Call]:
    """One call for each subject that the tool has room for; one call when it takes none."""
    if tool.custom:
        return [Call(tool.name, fragments("example"), custom=True)]
    said = said if _tells_weather(tool) else _NOTHING_SAID
    room = free_strings(tool.schema)
    count = max(1, len(said.names) // room) if room else 1
    made = []
    for position in range(count):
        arguments = instance(tool.schema, replace(said, names=said.names[position * room :]))
        arguments = arguments if isinstance(arguments, dict) else {}
        made.append(Call(tool.name, fragments(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")))))
    return made


def _text(asked: Asked, wanted: Directives, said: Subjects) -> str:
    if wanted.says:
        return wanted.says
    if asked.answer_schema is not None:
        return json.dumps(instance(asked.answer_schema, said), ensure_ascii=False)
    if wanted.calls and not wanted.text:
        missing = ", ".join(dict.fromkeys(call.name for call in wanted.calls))
        return f"No call was made: of the tools that may be called here none is named {missing}."
    if results := asked.words.results:
        quoted = "; ".join(result[:_QUOTED_CHARS] for result in results)
        return f"The tools answered: {quoted}" if len(results) > 1 else f"The tool answered: {quoted}"
    greeting = f'This is the demo model, a script without a language model. You said: "{said.text[:_QUOTED_CHARS]}".'
    if not asked.tools:
        return f"{greeting} Declare tools to have one called."
    return f"{greeting} Write [demo call NAME {{}}] to have a tool called."


def _until_stop(text: str, stop: tuple[str, ...]) -> tuple[str, str | None]:
    """The text in front of the first stop sequence in it, and that sequence; the whole text where there is none."""
    places = [(text.index(sequence), sequence) for sequence in stop if sequence and sequence in text]
    at, found = min(places, default=(len(text), None))
    return text[:at], found


def stop_sequences(given: object) -> tuple[str, ...]:
    """The stop sequences of a request: one, several, or none."""
    listed = given if isinstance(given, list) else [given]
    return tuple(sequence for sequence in listed if isinstance(sequence, str))


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
