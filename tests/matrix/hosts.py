"""The providers of the matrix, each as it writes: a scenario to the bytes of an answer, by hand, with nothing of the
gateway's own writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.matrix.anthropic_host import anthropic
from tests.matrix.bedrock_host import bedrock
from tests.matrix.bedrock_messages_host import bedrock_messages
from tests.matrix.chat_hosts import compatible, openai
from tests.matrix.gemini_host import gemini
from tests.matrix.reply import Reply
from tests.matrix.responses_host import responses
from tests.matrix.scenarios import Scenario


@dataclass(frozen=True)
class Host:
    """A provider of the matrix: how it is reached and how it writes.

    `lacks`: the scenarios that its API has no words for; `name.json` and `name.stream` where that is so in one mode.
    `spaces_lost`: white space between the tokens of arguments says nothing: it depends on how the answer is laid out.
    `counts_reasoning`: the usage tells the tokens of reasoning apart.
    """

    name: str
    about: str
    wire: str
    profile: str | None
    write: Callable[[Scenario, bool], Reply]
    lacks: frozenset[str] = frozenset()
    spaces_lost: bool = False
    counts_reasoning: bool = True
    model: str = "m"

    def can_say(self, scenario: Scenario, stream: bool) -> bool:
        mode = "stream" if stream else "json"
        return self.lacks.isdisjoint({scenario.name, f"{scenario.name}.{mode}"})


HOSTS = (
    Host(
        name="openai",
        about="Chat Completions as OpenAI writes it, the deltas of parallel calls interleaved",
        wire="openai_chat",
        profile="openai",
        write=openai,
        lacks=frozenset({"reasoning"}),
    ),
    Host(
        name="responses",
        about=(
            "OpenAI Responses as OpenAI writes it: items that stream in turn, every text told in deltas, when it is "
            "done, in its item and in the response at the end, reasoning encrypted and summarised"
        ),
        wire="openai_responses",
        profile="openai",
        write=responses,
        model="gpt-5.6",
    ),
    Host(
        name="compatible",
        about=(
            "Chat Completions as other hosts write it, with many of their deviations at once: whole calls without "
            'index and type, ids that OpenAI would refuse, `""` for no arguments, `stop` although there are calls, '
            "the role and a usage in every chunk, no `[DONE]`"
        ),
        wire="openai_chat",
        profile="compatible",
        write=compatible,
        lacks=frozenset({"refusal"}),
    ),
    Host(
        name="anthropic",
        about=(
            "Anthropic Messages as Claude writes it: named events with pings between them, a signature behind each "
            "thinking, input in pieces of which the first is empty, usage that leaves out what the cache held"
        ),
        wire="anthropic_messages",
        profile=None,
        write=anthropic,
        # A refusal ends as one, and not with "stop"; half an object cannot be said in JSON.
        lacks=frozenset({"refusal", "length_in_call.json"}),
        model="claude-sonnet-5",
    ),
    Host(
        name="gemini",
        about=(
            "Gemini's generateContent: whole calls without ids, several in one chunk, the first with its thought "
            "signature, arguments as objects (white space between their tokens is not kept), `STOP` although there are "
            "calls, a usage in every chunk, nothing that marks the stream's end"
        ),
        wire="gemini",
        profile=None,
        write=gemini,
        # It has no refusal of its own, and leaves out a call that it could not finish.
        lacks=frozenset({"refusal", "length_in_call"}),
        spaces_lost=True,
        model="gemini-3-flash",
    ),
    Host(
        name="bedrock",
        about=(
            "Amazon Bedrock's Converse as Claude answers there: an AWS event stream, text and reasoning without a "
            "beginning, a signature behind each reasoning, padding in every payload, the usage behind the stop reason"
        ),
        wire="bedrock_converse",
        profile=None,
        write=bedrock,
        # It has no refusal of its own; half an object cannot be said in JSON.
        lacks=frozenset({"refusal", "length_in_call.json"}),
        counts_reasoning=False,
        model="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ),
    Host(
        name="bedrock-claude",
        about=(
            "Claude at Amazon Bedrock by InvokeModel: Anthropic Messages, each event as base64 in a frame of an AWS "
            "event stream; errors are AWS's"
        ),
        wire="bedrock_messages",
        profile=None,
        write=bedrock_messages,
        lacks=frozenset({"refusal", "length_in_call.json"}),
        model="us.anthropic.claude-sonnet-5-v1:0",
    ),
)
