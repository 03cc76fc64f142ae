"""Requests that hosts refuse unless they are put right, as bug reports describe them. The inputs are our own."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.corpus import driver


def sent(profile: str, **members: Any) -> dict[str, Any]:
    """The body that reaches a host of this profile."""
    exchange = driver.open_exchange(json.dumps({"model": "m", **members}).encode(), profile=profile)
    body: dict[str, Any] = json.loads(exchange.upstream_request.body)
    return body


def history(*ids: str) -> list[dict[str, Any]]:
    """A turn with a call for each id, answered in the opposite order."""
    calls = [
        {"id": id, "type": "function", "function": {"name": "lookup", "arguments": f'{{"row":{row}}}'}}
        for row, id in enumerate(ids)
    ]
    results = [{"role": "tool", "tool_call_id": id, "content": f"row {row}"} for row, id in enumerate(ids)]
    return [{"role": "user", "content": "Go."}, {"role": "assistant", "tool_calls": calls}, *reversed(results)]


def test_mistral_gets_ids_of_nine_alphanumerics() -> None:
    # Ids of another provider that differ in their last character only: cutting them would make them one.
    messages = history(*(f"call_{'x' * 24}{digit}" for digit in "123"))
    body = sent("mistral", messages=messages)

    ids = {json.loads(call["function"]["arguments"])["row"]: call["id"] for call in body["messages"][1]["tool_calls"]}
    assert all(re.fullmatch("[A-Za-z0-9]{9}", id) for id in ids.values())
    assert len(set(ids.values())) == 3
    assert {m["content"]: m["tool_call_id"] for m in body["messages"][2:]} == {f"row {r}": ids[r] for r in range(3)}
    assert sent("mistral", messages=messages) == body


def test_mistral_gets_its_own_ids_back() -> None:
    messages = history("Ab3dE6gH9", "000000001")
    assert sent("mistral", messages=messages)["messages"] == messages


def test_empty_lists_and_nulls_are_left_out() -> None:
    for profile in ("openai", "compatible", "deepseek"):
        body = sent(
            profile,
            messages=[
                {"role": "user", "content": "Hello."},
                {"role": "assistant", "content": "Yes?", "tool_calls": [], "function_call": None},
                {"role": "user", "content": "Go on."},
            ],
            tools=[],
            tool_choice="auto",
            parallel_tool_calls=True,
        )
        assert body["messages"][1] == {"role": "assistant", "content": "Yes?"}
        assert body.keys() & {"tools", "tool_choice", "parallel_tool_calls"} == set()
