"""How providers are asked to count the tokens of a request, and the estimate where they cannot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolwire.model.http import UpstreamRequest
from toolwire.providers import load_provider
from toolwire.providers.token_count import estimate, read_count

HEADERS = (("content-type", "application/json"), ("x-key", "k"))


def built(url: str, **members: Any) -> UpstreamRequest:
    return UpstreamRequest("POST", url, HEADERS, json.dumps(members).encode(), stream=True)


def test_anthropic_is_told_what_is_read() -> None:
    request = built(
        "https://a/v1/messages", model="m", max_tokens=9, messages=[1.10], tools=[2], thinking={}, stream=True, new=3
    )
    count = load_provider("anthropic_messages").count_request(request)
    assert count is not None
    assert (count.request.url, count.request.stream) == ("https://a/v1/messages/count_tokens", False)
    assert json.loads(count.request.body) == {"model": "m", "messages": [1.1], "tools": [2], "thinking": {}, "new": 3}
    assert count.request.headers == HEADERS
    assert read_count(b'{"input_tokens": 7, "x": []}', count.member) == 7


def test_openai_is_told_what_it_knows() -> None:
    request = built("https://o/v1/responses", model="m", input=[1], instructions="i", tools=[2], store=False)
    count = load_provider("openai_responses").count_request(request)
    assert count is not None
    assert count.request.url == "https://o/v1/responses/input_tokens"
    assert json.loads(count.request.body) == {"model": "m", "input": [1], "instructions": "i", "tools": [2]}


def test_gemini_is_told_the_request_inside_another() -> None:
    request = built("https://g/v1beta/models/gemini-3-flash:generateContent", contents=[1], toolConfig={})
    count = load_provider("gemini").count_request(request)
    assert count is not None
    assert count.request.url == "https://g/v1beta/models/gemini-3-flash:countTokens"
    assert json.loads(count.request.body) == {
        "generateContentRequest": {"model": "models/gemini-3-flash", "contents": [1], "toolConfig": {}}
    }
    assert read_count(b'{"totalTokens": 31}', count.member) == 31


def test_vertex_is_told_the_request_itself() -> None:
    url = "https://v/v1/projects/p/locations/l/publishers/google/models/m"
    count = load_provider("gemini").count_request(built(f"{url}:generateContent", contents=[1], toolConfig={}))
    assert count is not None
    assert (count.request.url, json.loads(count.request.body)) == (f"{url}:countTokens", {"contents": [1]})


def test_the_chat_wire_has_no_count() -> None:
    assert load_provider("openai_chat").count_request(built("https://o/v1/chat/completions", model="m")) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"n":null}', b'{"n":"7"}', b'{"n":true}', b'{"n":-1}'])
def test_an_answer_without_a_count(body: bytes) -> None:
    assert read_count(body, "n") is None


def test_the_estimate() -> None:
    assert estimate(b"") == 0
    assert estimate(b"x" * 4_001) == 1_001
    image = b'{"data":"' + b"A" * 100_000 + b'=="}'
    assert estimate(image) == estimate(b'{"data":"}') + 1_600
    assert estimate(image + b"," + image) > 3_200
