"""Whether a client of the gemini door hears what a scenario says: google-genai reads the answer."""

from __future__ import annotations

import json
import re

import msgspec
import pytest
from google.genai import errors, types

from tests.corpus.driver import Answer
from tests.doors.gemini.genai_reader import sdk_answer, sdk_stream
from tests.gemini_client import read
from tests.matrix.scenarios import Scenario, Usage

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
#: How a turn may end, in this API's words.
_ENDINGS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}


def ask_gemini(stream: bool) -> bytes:
    """The door's request for any scenario. The path has its model and verb: see `tests/gemini_client.py`."""
    call = {"functionCall": {"name": "get_time", "args": {}}}
    result = {"functionResponse": {"name": "get_time", "response": {"output": "noon"}}}
    declared = [{"name": name, "parametersJsonSchema": _PARAMETERS} for name in ("get_weather", "get_time")]
    request = {
        "model": "m",
        "stream": stream,
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "What time is it?"}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [result, {"text": "Well?"}]},
        ],
        "tools": [{"functionDeclarations": declared}],
    }
    return json.dumps(request).encode()


def gemini(scenario: Scenario, answer: Answer, stream: bool) -> None:
    """Fails unless google-genai hears the scenario, and a strict reader finds no fault in a stream."""
    streams = stream and answer.status == 200
    if scenario.failure is not None:
        _failure(scenario, answer, streams)
        return
    said = read(answer.body)
    calls = () if scenario.name == "length_in_call" else scenario.calls
    heard = sdk_stream(answer.body) if stream else [sdk_answer(answer.status, answer.headers, answer.body)]
    assert said.text == _text(heard) == scenario.text + scenario.refusal
    assert said.thoughts == _text(heard, thought=True) == scenario.reasoning
    # In the lane, the host's own white space stays.
    bare = [(name, msgspec.json.format(text, indent=-1)) for name, text in said.calls]
    assert bare == [(call.name, msgspec.json.format(call.arguments or "{}", indent=-1)) for call in calls]
    heard_calls = [call for chunk in heard for call in chunk.function_calls or ()]
    assert [(call.name, call.args) for call in heard_calls] == [
        (call.name, json.loads(call.arguments or "{}")) for call in calls
    ]
    ids = [id for id in said.ids if id]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", id) for id in ids)
    last = heard[-1]
    assert last.candidates is not None
    reason = last.candidates[0].finish_reason
    if scenario.finish in _ENDINGS:
        assert reason == _ENDINGS[scenario.finish]
    else:
        assert reason not in ("STOP", "MAX_TOKENS", None)
    assert _tokens(heard) == scenario.usage
    if len(calls) < len(scenario.calls):
        told = answer.headers.get("x-toolwire-warnings", "") + ",".join(said.warnings)
        assert f"tool_call_cut:{scenario.calls[0].name}" in told or not stream or not said.text


def _text(heard: list[types.GenerateContentResponse], *, thought: bool = False) -> str:
    parts = [
        part
        for chunk in heard
        for candidate in chunk.candidates or ()
        for part in (candidate.content.parts if candidate.content and candidate.content.parts else ())
    ]
    return "".join(part.text for part in parts if part.text and bool(part.thought) is thought)


def _tokens(heard: list[types.GenerateContentResponse]) -> Usage:
    (usage, *_) = (chunk.usage_metadata for chunk in reversed(heard) if chunk.usage_metadata is not None)
    thoughts = usage.thoughts_token_count or 0
    output = (usage.candidates_token_count or 0) + thoughts
    return Usage(usage.prompt_token_count or 0, output, usage.cached_content_token_count or 0, thoughts)


def _failure(scenario: Scenario, answer: Answer, streams: bool) -> None:
    if streams:
        said = read(answer.body)
        assert said.error is not None
        assert said.finish is None, "a failure never looks like a clean stop"
        assert said.text == scenario.text
        with pytest.raises(errors.APIError, match=re.escape(said.error["message"])):
            sdk_stream(answer.body)
        return
    error = json.loads(answer.body)["error"]
    kind = errors.ClientError if scenario.failure == "refused" else errors.ServerError
    with pytest.raises(kind, match=re.escape(error["message"])) as raised:
        sdk_answer(answer.status, answer.headers, answer.body)
    assert (raised.value.code, raised.value.status) == (answer.status, error["status"])
