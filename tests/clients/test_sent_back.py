"""Answers that clients send back as their SDK or framework holds them (`model_dump()`, `messages.append(message)`).

What those have added says nothing that is not said elsewhere, so no warning names it. What is lost of it is named.
"""

from __future__ import annotations

import json
from typing import Any

from anthropic.types.parsed_message import ParsedTextBlock
from openai.types.chat import ParsedChatCompletion
from openai.types.responses.parsed_response import ParsedResponseFunctionToolCall, ParsedResponseOutputText

from tests.clients.sending import LANES, MODELS, send
from tests.named_rows import each_row

ARGUMENTS = '{"a":1}'
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
USER = {"role": "user", "content": "x"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "r"}


def call(**members: Any) -> dict[str, Any]:
    function = {"name": "f", "arguments": ARGUMENTS, **members.pop("function", {})}
    return {"id": "call_1", "type": "function", "function": function, **members}


#: Who sends it -> an assistant's message of the Chat API, and what is told where another API is spoken.
CHAT: dict[str, tuple[dict[str, Any], list[str]]] = {
    "openai, parsed calls": ({"content": None, "refusal": None, "annotations": None, "audio": None,
        "function_call": None, "parsed": None, "tool_calls": [call(function={"parsed_arguments": {"a": 1}})]}, []),
    "openai, parsed text": ({"content": ARGUMENTS, "refusal": None, "annotations": [], "parsed": {"a": 1}}, []),
    "openai-node, parsed text": ({"content": ARGUMENTS, "refusal": None, "tool_calls": [], "parsed": {"a": 1}}, []),
    "a whole choice": ({"content": None, "tool_calls": [call()], "finish_reason": "tool_calls",
        "logprobs": {"content": []}, "id": "chatcmpl-1"}, []),
    "azure": ({"content": "t", "annotations": [], "content_filter_results": {"hate": {"filtered": False}}}, []),
    "litellm": ({"content": None, "tool_calls": [call(index=0)], "function_call": None, "annotations": [],
        "images": [], "provider_specific_fields": {"refusal": None, "citations": []}, "audio": None}, []),
    "litellm, a thought": ({"content": "t", "reasoning_content": "hm", "thinking_blocks": [
        {"type": "thinking", "thinking": "hm", "signature": "s"}]}, ["ignored:thinking_blocks"]),
    "litellm, state": ({"content": None, "tool_calls": [
        call(provider_specific_fields={"thought_signature": "abc"})]}, ["ignored:provider_specific_fields"]),
    "mistral": ({"content": "", "tool_calls": [call(index=0)], "prefix": False}, []),
    "groq": ({"content": None, "annotations": None, "executed_tools": None, "tool_calls": [call()]}, []),
    "vLLM": ({"content": None, "refusal": None, "annotations": None, "audio": None, "function_call": None,
        "reasoning": None, "reasoning_content": None, "tool_calls": [call()]}, []),
    "openrouter": ({"content": "t", "reasoning": "hm", "reasoning_details": [
        {"type": "reasoning.text", "text": "hm", "index": 0}]}, ["ignored:reasoning", "ignored:reasoning_details"]),
    "copilot": ({"content": "t", "reasoning_opaque": "abc"}, ["ignored:reasoning_opaque"]),
    "citations": ({"content": "t", "annotations": [{"type": "url_citation", "url_citation": {
        "start_index": 0, "end_index": 1, "url": "https://a", "title": "a"}}]}, ["ignored:annotations"]),
    "a custom call that is none": ({"content": None, "tool_calls": [call(custom=None)]}, []),
    "a misspelling": ({"content": "t", "contnet": ""}, ["unknown_field:contnet"]),
}  # fmt: skip


@each_row("sender", CHAT)
@each_row("wire", sorted(MODELS))
def test_a_chat_clients_message(wire: str, sender: str) -> None:
    message, told = CHAT[sender]
    results = [RESULT] if message.get("tool_calls") else []
    tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
    found = send(
        "chat_completions", wire, messages=[USER, {"role": "assistant", **message}, *results, USER], tools=tools
    )
    assert found.warnings == ([] if wire == LANES["chat_completions"] else told)
    if message.get("tool_calls"):
        assert json.dumps(found.turns).count('"f"') >= 1


#: The output of a response, as `.parse()` of openai gives it.
OUTPUT: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": None, "status": None},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": None, "content": [
        {"type": "output_text", "text": ARGUMENTS, "annotations": [], "logprobs": [], "parsed": {"a": 1}}]},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": ARGUMENTS,
     "status": "completed", "namespace": None, "caller": None, "async": None, "parsed_arguments": {"a": 1}},
]  # fmt: skip


@each_row("wire", sorted(set(MODELS) - {LANES["responses"]}))
def test_a_responses_clients_output(wire: str) -> None:
    result = {"type": "function_call_output", "call_id": "call_1", "output": "r", "id": "fco_1", "status": "completed"}
    tools = [{"type": "function", "name": "f", "parameters": SCHEMA}]
    assert send("responses", wire, input=[USER, *OUTPUT, result, USER], tools=tools).warnings == []


#: A message of Anthropic's, as `.parse()` gives it; some clients send all of it.
CONTENT: list[dict[str, Any]] = [
    {"type": "text", "text": ARGUMENTS, "citations": None, "parsed_output": {"a": 1}},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}, "caller": {"type": "direct"},
     "toolset_name": None},
]  # fmt: skip
WHOLE = {
    "id": "msg_1", "type": "message", "model": "m", "stop_reason": "tool_use", "stop_sequence": None,
    "stop_details": None, "container": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


@each_row("whole", [{}, WHOLE], ids=["its content", "all of it"])
@each_row("wire", sorted(set(MODELS) - {LANES["messages"]}))
def test_an_anthropic_clients_message(wire: str, whole: dict[str, Any]) -> None:
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "r", "is_error": False, "cache_control": None}
    history = [USER, {**whole, "role": "assistant", "content": CONTENT}, {"role": "user", "content": [result]}]
    tools = [{"name": "f", "input_schema": SCHEMA}]
    assert send("messages", wire, max_tokens=99, messages=history, tools=tools).warnings == []


def test_the_rows_are_what_todays_sdks_hold() -> None:
    """A member that an SDK adds later fails this test until it has its place in a row."""
    fields = {"finish_reason": "tool_calls", "index": 0, "logprobs": None}
    message = {"role": "assistant", **CHAT["openai, parsed calls"][0]}
    completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                  "choices": [{**fields, "message": message}]}  # fmt: skip
    held = ParsedChatCompletion[Any].model_validate(completion).choices[0].message.model_dump()
    assert held.keys() == message.keys()
    assert held["tool_calls"][0].keys() == message["tool_calls"][0].keys()
    assert held["tool_calls"][0]["function"].keys() == message["tool_calls"][0]["function"].keys()
    _, said, called = OUTPUT
    models: list[tuple[Any, dict[str, Any]]] = [
        (ParsedResponseOutputText, said["content"][0]),
        (ParsedResponseFunctionToolCall, called),
        (ParsedTextBlock, CONTENT[0]),
    ]
    for model, row in models:
        assert {field.alias or name for name, field in model.model_fields.items()} == set(row)
