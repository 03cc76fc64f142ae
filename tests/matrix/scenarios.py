"""What a model may answer, in neutral terms: each scenario goes through every door from every provider.

A scenario is what is said, never how: `hosts.py` writes it as a provider does, `judges.py` asks whether a client of the
door hears it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Text:
    """Text, in the pieces in which it streams; `refusal`: the model declines."""

    pieces: tuple[str, ...]
    refusal: bool = False


@dataclass(frozen=True)
class Reasoning:
    """Readable reasoning."""

    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A tool call, its arguments in pieces."""

    name: str
    pieces: tuple[str, ...]

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Usage:
    """Tokens: cached ones are part of the input, reasoning of the output."""

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0


#: How an answer fails: the host refuses the request, reports an error in the middle, or the connection ends.
Failure = Literal["refused", "error", "cut"]


@dataclass(frozen=True)
class Scenario:
    """One answer. `feature` is its row in the conformance table."""

    name: str
    feature: str
    parts: tuple[Text | Reasoning | Call, ...]
    finish: str
    usage: Usage = Usage(40, 9)
    failure: Failure | None = None

    @property
    def text(self) -> str:
        return "".join("".join(part.pieces) for part in self.parts if isinstance(part, Text) and not part.refusal)

    @property
    def refusal(self) -> str:
        return "".join("".join(part.pieces) for part in self.parts if isinstance(part, Text) and part.refusal)

    @property
    def reasoning(self) -> str:
        return "".join("".join(part.pieces) for part in self.parts if isinstance(part, Reasoning))

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))

    def without_reasoning_tokens(self) -> Scenario:
        """The same where the tokens of reasoning are counted with the output and not told apart."""
        return replace(self, usage=replace(self.usage, reasoning=0))

    def without_spaces(self) -> Scenario:
        """The same with arguments that have no white space between their tokens."""
        return replace(self, parts=tuple(_compact(part) if isinstance(part, Call) else part for part in self.parts))


#: A string of JSON, or white space outside one.
_STRING_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')


def _compact(call: Call) -> Call:
    return Call(call.name, (_STRING_OR_SPACE.sub(r"\1", call.arguments),))


_HELLO = Text(("Good", " morning", ", Zoë", "."))
_THINKING = Reasoning(("The user", " asks", " for the weather."))
_BERN = Call("get_weather", ('{"ci', 'ty": ', '"Bern', '"}'))
_OSLO = Call("get_weather", ('{"city": ', '"Oslo"}'))
_CLOCK = Call("get_time", ())
#: Digits and escapes that a parse and a re-serialisation would change.
_EXACT = Call("get_weather", ('{"id": 9007199254', "740993123, ", '"factor": 1.10, "a":', ' "\\u00e9\\/\u2028😀"}'))

SCENARIOS = (
    Scenario("text", "text", (_HELLO,), "stop"),
    Scenario("one_call", "one tool call", (_BERN,), "tool_calls"),
    Scenario("parallel_calls", "parallel tool calls", (_BERN, _OSLO, _CLOCK), "tool_calls"),
    Scenario("call_without_arguments", "a call without arguments", (_CLOCK,), "tool_calls"),
    Scenario("exact_arguments", "arguments to the byte (big integers, escapes)", (_EXACT,), "tool_calls"),
    Scenario("text_and_call", "text, then a call", (_HELLO, _BERN), "tool_calls"),
    Scenario("reasoning", "readable reasoning, then a call", (_THINKING, _BERN), "tool_calls"),
    Scenario("length_in_call", "a call cut by the output limit", (Call("get_weather", ('{"ci', 'ty": ')),), "length"),
    Scenario("length_in_text", "text cut by the output limit", (Text(("Good", " mor")),), "length"),
    Scenario("content_filter", "content filter", (Text(("Good",)),), "content_filter"),
    Scenario("refusal", "refusal", (Text(("I cannot", " do that."), refusal=True),), "stop"),
    Scenario("usage", "usage with cached and reasoning tokens", (_HELLO,), "stop", Usage(1200, 90, 1024, 64)),
    Scenario("rate_limit", "the provider's 429", (), "", failure="refused"),
    Scenario("error_in_stream", "an error after content", (_HELLO, _BERN), "", failure="error"),
    Scenario("cut", "a connection that ends early", (_HELLO, _OSLO), "", failure="cut"),
)
