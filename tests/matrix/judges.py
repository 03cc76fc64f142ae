"""Whether a client of a door hears what a scenario says: the vendor's own SDK reads the answer."""

from __future__ import annotations

import json
import re
from typing import Any

import openai
import pytest

from tests.corpus.driver import Answer
from tests.matrix.gemini_judge import gemini
from tests.matrix.messages_judge import messages
from tests.matrix.native_judge import native
from tests.matrix.responses_judge import responses
from tests.matrix.scenarios import Scenario, Usage
from tests.providers.openai_chat.chat_reader import read, sdk_answer, sdk_stream


def chat(scenario: Scenario, answer: Answer, stream: bool) -> None:
    """Fails unless openai-python hears the scenario, and a strict reader finds no fault in a stream."""
    streams = stream and answer.status == 200
    if scenario.failure is not None:
        _chat_failure(scenario, answer, streams)
        return
    if stream:
        read(answer.body, usage=True)
    heard = sdk_stream(answer.body) if stream else sdk_answer(answer.status, answer.headers, answer.body)
    (choice,) = heard["choices"]
    message = choice["message"]
    assert (message["role"], choice["finish_reason"]) == ("assistant", scenario.finish)
    assert (message.get("content") or "") == scenario.text
    assert (message.get("refusal") or "") == scenario.refusal
    assert (message.get("reasoning_content") or "") == scenario.reasoning
    calls = message.get("tool_calls") or []
    assert [(call["function"]["name"], call["function"]["arguments"]) for call in calls] == [
        (call.name, call.arguments or "{}") for call in scenario.calls
    ]
    ids = [call["id"] for call in calls]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,40}", id) for id in ids)
    assert _tokens(heard["usage"]) == scenario.usage


def _tokens(usage: dict[str, Any]) -> Usage:
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0)
    return Usage(usage["prompt_tokens"], usage["completion_tokens"], cached, reasoning)


def _chat_failure(scenario: Scenario, answer: Answer, streams: bool) -> None:
    if streams:
        said = read(answer.body)
        assert said.error is not None
        assert said.finish is None, "a failure never looks like a clean stop"
        assert said.content == scenario.text
        with pytest.raises(openai.APIError, match=re.escape(said.error["message"])):
            sdk_stream(answer.body)
        return
    error = json.loads(answer.body)["error"]
    kind = openai.RateLimitError if scenario.failure == "refused" else openai.InternalServerError
    with pytest.raises(kind, match=re.escape(error["message"])):
        sdk_answer(answer.status, answer.headers, answer.body)


#: Door -> judge.
JUDGES = {"gemini": gemini, "messages": messages, "native": native, "responses": responses, "chat_completions": chat}
