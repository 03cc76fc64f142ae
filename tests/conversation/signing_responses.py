"""OpenAI Responses as an upstream that verifies its encrypted reasoning: each item of it stands before the calls that
it led to, unaltered. See `signing_hosts`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.conversation.signing_hosts import Host, held, sign


class OpenAIResponses(Host):
    """A model that reasons; nothing of an answer is kept by the host."""

    path = "/v1/responses"

    def verify(self, body: dict[str, Any]) -> tuple[int, int]:
        items = body["input"]
        held(body.get("store") is False, "answers are not kept here")
        held("reasoning.encrypted_content" in body.get("include", ()), "nobody can bring the reasoning back")
        users = [n for n, item in enumerate(items) if item.get("role") == "user"]
        steps = 0
        for number, item in enumerate(items):
            ids = _calls_behind(items, number)
            if item.get("type") == "reasoning":
                wanted = sign("openai", "".join(part["text"] for part in item["summary"]), *ids)
                held(
                    item.get("encrypted_content") == wanted,
                    "The encrypted content for item rs_1 could not be verified. Reason: it belongs to another item.",
                )
            elif ids and ids[0] == item.get("call_id") and number > users[-1]:
                steps += 1
                before = [i.get("type") for i in items[users[-1] : number] if i.get("type") != "message"]
                reasons = before[-1:] == ["reasoning"]
                held(
                    reasons or not ids[0].startswith("own-"),
                    f"Item '{ids[0]}' of type 'function_call' was provided without its required 'reasoning' item.",
                )
        return len(users), steps

    def say(self, calls: list[dict[str, Any]], text: str) -> dict[str, Any]:
        ids = [f"own-{self.serial}-{number}" for number in range(len(calls))]
        thought, n = f"weighing {self.serial}", self.serial
        output: list[dict[str, Any]] = [
            {
                "id": f"rs_{n}", "type": "reasoning", "summary": [{"type": "summary_text", "text": thought}],
                "encrypted_content": sign("openai", thought, *ids),
            }
        ]  # fmt: skip
        said = {"type": "output_text", "text": "Let me see." if calls else text, "annotations": []}
        output.append(
            {"id": f"msg_{n}", "type": "message", "role": "assistant", "status": "completed", "content": [said]}
        )
        output += [
            {"id": f"fc_{n}_{number}", "type": "function_call", "status": "completed", "call_id": id,
             "name": "get_weather", "arguments": json.dumps(args)}
            for number, (id, args) in enumerate(zip(ids, calls, strict=True))
        ]  # fmt: skip
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 1}}
        return {
            "id": f"resp_{n}", "object": "response", "created_at": 1, "status": "completed", "error": None,
            "incomplete_details": None, "instructions": None, "metadata": {}, "model": "gpt-5", "output": output,
            "parallel_tool_calls": True, "temperature": 1, "tool_choice": "auto", "tools": [], "top_p": 1,
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
        }  # fmt: skip

    def stream(self, whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        for number, (name, event) in enumerate(self._events(whole)):
            yield name, {**event, "sequence_number": number}

    @staticmethod
    def _events(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        yield "response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}}
        for index, item in enumerate(whole["output"]):
            at: dict[str, Any] = {"item_id": item["id"], "output_index": index}
            empty: dict[str, Any] = {
                "reasoning": {"summary": []},
                "message": {"content": []},
                "function_call": {"arguments": ""},
            }
            begun = {**item, **empty[item["type"]]}
            begun |= {"encrypted_content": "to be told"} if item["type"] == "reasoning" else {"status": "in_progress"}
            yield "response.output_item.added", {"output_index": index, "item": begun}
            if item["type"] == "reasoning":
                part, at = item["summary"][0], at | {"summary_index": 0}
                yield "response.reasoning_summary_part.added", {**at, "part": part | {"text": ""}}
                yield "response.reasoning_summary_text.delta", {**at, "delta": part["text"]}
                yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}
                yield "response.reasoning_summary_part.done", {**at, "part": part}
            elif item["type"] == "message":
                part, at = item["content"][0], at | {"content_index": 0}
                yield "response.content_part.added", {**at, "part": part | {"text": ""}}
                yield "response.output_text.delta", {**at, "delta": part["text"], "logprobs": []}
                yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
                yield "response.content_part.done", {**at, "part": part}
            else:
                text = item["arguments"]
                yield "response.function_call_arguments.delta", {**at, "delta": text}
                yield "response.function_call_arguments.done", {**at, "arguments": text, "name": item["name"]}
            yield "response.output_item.done", {"output_index": index, "item": item}
        yield "response.completed", {"response": whole}

    def error(self, message: str) -> dict[str, Any]:
        error = {"message": message, "type": "invalid_request_error", "param": None}
        return {"error": error | {"code": "invalid_encrypted_content"}}


def _calls_behind(items: list[dict[str, Any]], number: int) -> list[str]:
    """The ids of this turn's calls from this item on."""
    ids = []
    for place, item in enumerate(items[number:]):
        kind = item.get("type", "message")
        if kind == "function_call":
            if place == 0 and items[number - 1].get("type") == "function_call":
                return []  # not the first of its turn
            ids.append(item["call_id"])
        elif kind == "function_call_output" or item.get("role") == "user" or (kind == "reasoning" and place):
            break
    return ids
