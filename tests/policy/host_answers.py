"""One answer of a model as each wire says it, streamed and not: its text and its calls, whose deltas come interleaved
where the wire can say whose they are.

A new wire is a row of `HOSTS`; `test_every_door.py` fails until it is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.bedrock_converse import converse_upstream as bedrock
from tests.providers.bedrock_messages.invoked import frames
from tests.providers.gemini import gemini_upstream as gemini
from tests.providers.openai_chat import chat_upstream as chat
from tests.providers.openai_responses import responses_upstream as responses

#: Names and arguments, as JSON text.
Calls = Sequence[tuple[str, str]]

#: (what it says, its calls, whether it is streamed, whether the output limit cut it) -> the upstream's body.
Host = Callable[[str, Calls, bool, bool], bytes]


def interleaved(groups: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """The first of each, then the second of each..."""
    missing = object()
    return (item for row in zip_longest(*groups, fillvalue=missing) for item in row if item is not missing)


def halves(arguments: str) -> list[str]:
    return [arguments[:4], arguments[4:]]


def _chat(said: str, calls: Calls, streamed: bool, cut: bool) -> bytes:
    reason = "length" if cut else "tool_calls" if calls else "stop"
    if streamed:
        groups = [
            [chat.opening(n, f"call_{n}", name), *(chat.fragment(n, half) for half in halves(arguments))]
            for n, (name, arguments) in enumerate(calls)
        ]
        spoken = [chat.text(said)] if said else []
        return chat.stream(chat.ROLE, *spoken, *interleaved(groups), chat.chunk(finish=reason))
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    return chat.whole({"content": said or None, **({"tool_calls": made} if made else {})}, reason)


def _messages(said: str, calls: Calls, streamed: bool, cut: bool) -> bytes:
    reason = "max_tokens" if cut else "tool_use" if calls else "end_turn"
    first = 1 if said else 0
    if streamed:
        events = [messages.start()]
        events += [messages.begin(0, "text"), messages.text(0, said), messages.end(0)] if said else []
        for n, (name, arguments) in enumerate(calls, first):
            pieces = [messages.fragment(n, half) for half in halves(arguments)]
            events += [messages.call(n, f"toolu_{n}", name), *pieces, messages.end(n)]
        return messages.stream(*events, messages.finish(reason), messages.STOP)
    content: list[Any] = [{"type": "text", "text": said}] if said else []
    content += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": json.loads(arguments)}
        for n, (name, arguments) in enumerate(calls, first)
    ]
    return messages.whole(content, reason)


def _invoked(said: str, calls: Calls, streamed: bool, cut: bool) -> bytes:
    body = _messages(said, calls, streamed, cut)
    return b"".join(frames(body)) if streamed else body


def _gemini(said: str, calls: Calls, streamed: bool, cut: bool) -> bytes:
    parts = [gemini.text(said)] if said else []
    parts += [gemini.call(name, json.loads(arguments)) for name, arguments in calls]
    reason = "MAX_TOKENS" if cut else "STOP"
    if not streamed:
        return json.dumps(gemini.chunk(*parts, finish=reason, usage=gemini.USAGE)).encode()
    return gemini.stream(*map(gemini.chunk, parts), gemini.chunk(finish=reason, usage=gemini.USAGE))


def _responses(said: str, calls: Calls, streamed: bool, cut: bool) -> bytes:
    first = 1 if said else 0
    output = [responses.message("msg_0", said)] if said else []
    output += [responses.call(f"fc_{n}", f"call_{n}", *made) for n, made in enumerate(calls, first)]
    if not streamed:
        more: dict[str, Any] = {"incomplete_details": {"reason": "max_output_tokens"}} if cut else {}
        status = "incomplete" if cut else "completed"
        return json.dumps(responses.response(status, output, usage=responses.USAGE, **more)).encode()
    groups = [
        responses.called(n, f"fc_{n}", f"call_{n}", name, *halves(arguments))
        for n, (name, arguments) in enumerate(calls, first)
    ]
    spoken = responses.said(0, "msg_0", said) if said else []
    end = responses.incomplete("max_output_tokens", *output) if cut else responses.completed(*output)
    return responses.stream(responses.created(), *spoken, *interleaved(groups), end)


def _bedrock(said: str, calls: Calls, streamed: bool, cut: bool) -> bytes:
    reason = "max_tokens" if cut else "tool_use" if calls else "end_turn"
    if not streamed:
        content: list[Any] = [{"text": said}] if said else []
        content += [
            {"toolUse": {"toolUseId": f"tooluse_{n}", "name": name, "input": json.loads(arguments)}}
            for n, (name, arguments) in enumerate(calls)
        ]
        return bedrock.document(*content, reason=reason)
    events = [bedrock.BEGIN, *([bedrock.text(0, said), bedrock.end(0)] if said else [])]
    for n, (name, arguments) in enumerate(calls, 1 if said else 0):
        pieces = [bedrock.fragment(n, half) for half in halves(arguments)]
        events += [bedrock.call(n, f"tooluse_{n}", name), *pieces, bedrock.end(n)]
    return bedrock.stream(*events, bedrock.stop(reason), bedrock.USAGE)


HOSTS: dict[str, Host] = {
    "openai_chat": _chat,
    "anthropic_messages": _messages,
    "gemini": _gemini,
    "openai_responses": _responses,
    "bedrock_converse": _bedrock,
    "bedrock_messages": _invoked,
}


#: Where calls have an object for their arguments: what is no JSON cannot be said there. (Wire, whether it is streamed.)
HAS_OBJECTS = {
    ("gemini", True), ("gemini", False), ("anthropic_messages", False), ("bedrock_converse", False),
    ("bedrock_messages", False),
}  # fmt: skip


def content_type(wire: str, *, streamed: bool) -> str:
    """The content type of such an answer."""
    events = "application/vnd.amazon.eventstream" if wire.startswith("bedrock") else "text/event-stream"
    return events if streamed else "application/json"


def says(wire: str, said: str, calls: Calls, *, streamed: bool, cut: bool = False) -> bytes | None:
    """The upstream's body; None for what the wire has no words for: see `HAS_OBJECTS`."""
    try:
        return HOSTS[wire](said, calls, streamed, cut)
    except json.JSONDecodeError:
        return None
