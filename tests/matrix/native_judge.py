"""Whether a client of the native API hears what a scenario says, and the request it asks with."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import Answer
from tests.matrix.scenarios import Call, Scenario, Usage
from tests.native_client import read_answer, read_stream

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}


def ask_native(stream: bool) -> bytes:
    """The door's request for any scenario."""
    tools = [
        {"type": "function", "function": {"name": name, "description": f"Says {what}.", "parameters": _PARAMETERS}}
        for name, what in (("get_weather", "the weather"), ("get_time", "the time"))
    ]
    call = {"id": "call_9", "type": "function", "function": {"name": "get_time", "arguments": {}}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_9", "content": {"time": "noon"}},
        {"role": "user", "content": "Well?"},
    ]
    return json.dumps({"model": "m", "messages": messages, "tools": tools, "stream": stream}).encode()


def native(scenario: Scenario, answer: Answer, stream: bool) -> None:
    """Fails unless the reader hears the scenario, and finds no fault in the grammar of a stream."""
    said = read_stream(answer.body) if stream and answer.status == 200 else read_answer(answer.body)
    if scenario.failure is not None:
        assert said.error is not None
        assert said.finish is None, "a failure never looks like a clean stop"
        assert said.error["type"] == ("rate_limit_error" if scenario.failure == "refused" else "upstream_error")
        assert said.text == (scenario.text if stream and answer.status == 200 else "")
        return
    assert said.error is None
    assert (said.finish, said.text, said.refusal) == (scenario.finish, scenario.text, scenario.refusal)
    assert said.reasoning == scenario.reasoning
    assert [(call.name, call.arguments, call.raw_arguments) for call in said.calls] == [
        _shown(call, scenario) for call in scenario.calls
    ]
    assert len({call.id for call in said.calls}) == len(said.calls)
    assert _tokens(said.usage) == scenario.usage


def _shown(call: Call, scenario: Scenario) -> tuple[str, str | None, str | None]:
    """A call as it is shown: cut by the output limit, it has no arguments but their text."""
    text = call.arguments or "{}"
    return (call.name, None, text) if scenario.finish == "length" else (call.name, text, None)


def _tokens(usage: dict[str, Any]) -> Usage:
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    cached, reasoning = usage["prompt_tokens_details"], usage["completion_tokens_details"]
    tokens = usage["prompt_tokens"], usage["completion_tokens"]
    return Usage(*tokens, cached["cached_tokens"], reasoning["reasoning_tokens"])
