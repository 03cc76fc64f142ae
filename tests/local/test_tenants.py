"""What holds for one tenant and not for another, at every path of a gateway with a file of keys."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway import awaited, running
from toolwire.shell.access.key_records import KeyRecord, file_text

pytestmark = pytest.mark.enable_socket

TWO = "What is the weather in Paris and New York? planted question"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Weather", "parameters": CITY}}
RESPONSES_TOOL = {"type": "function", "name": "get_weather", "description": "Weather", "parameters": CITY}
MESSAGES_TOOL = {"name": "get_weather", "description": "Weather", "input_schema": CITY}


def chat_body(text: str, model: str = "demo/openai") -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": text}], "tools": [CHAT_TOOL]}


def messages_body(text: str) -> dict[str, Any]:
    return {
        "model": "demo/anthropic",
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": text}],
        "tools": [MESSAGES_TOOL],
    }


#: The paths at which a model answers -> the door's name and a request in which it makes two calls.
ANSWERING = {
    "/chat/completions": ("chat", chat_body(TWO)),
    "/responses": (
        "responses",
        {"model": "demo/gemini", "input": TWO, "tools": [RESPONSES_TOOL]},
    ),
    "/messages": ("messages", messages_body(TWO)),
    "/native/chat": ("native", chat_body(TWO)),
}

#: All that count as a request.
COUNTING: dict[str, tuple[str, dict[str, Any]]] = {
    **ANSWERING,
    "/messages/count_tokens": ("messages", {k: v for k, v in messages_body(TWO).items() if k != "max_tokens"}),
    "/native/tools/check": ("native", {"tools": [CHAT_TOOL]}),
    "/native/translate": ("native", {"door": "chat", "body": chat_body(TWO)}),
}


def name_of(path: str) -> str:
    return path.strip("/").replace("/", ".")


def key_of(tenant: str) -> str:
    return f"tw_12345678_planted_{tenant}"


def tenants() -> dict[str, dict[str, Any]]:
    """Tenant -> its settings. A tenant for each test that counts, so that none meets another's minute."""
    found: dict[str, dict[str, Any]] = {"one": {}, "other": {}}
    for path in COUNTING:
        found[f"requests.{name_of(path)}"] = {"requests_per_minute": 1}
    for path in ANSWERING:
        for how in ("whole", "stream", "cut"):
            found[f"calls.{how}.{name_of(path)}"] = {"tool_calls_per_minute": 1}
    for door in ("chat", "responses", "messages", "native"):
        others = [name for name in ("chat", "responses", "messages", "native") if name != door]
        found[f"not.{door}"] = {"doors": others, "requests_per_minute": 1}
    found["few"] = {"models": ["demo/compatible"]}
    return found


class Gateway:
    def __init__(self, client: httpx.Client, log: Path) -> None:
        self._client = client
        self._log = log

    def ask(self, tenant: str, path: str, body: dict[str, Any]) -> httpx.Response:
        return self._client.post(path, json=body, headers={"authorization": f"Bearer {key_of(tenant)}"})

    @property
    def printed(self) -> str:
        return self._log.read_text("utf-8", "replace")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("tenants")
    records = [
        KeyRecord(hashlib.sha256(key_of(name).encode()).hexdigest(), "tw_12345678", name, 1, None, settings)
        for name, settings in tenants().items()
    ]
    (folder / "keys.json").write_text(file_text(records))
    with pytest.MonkeyPatch.context() as env:
        env.setenv("KEYS_FILE", str(folder / "keys.json"))
        env.setenv("LOG_LEVEL", "DEBUG")
        command = [sys.executable, "-m", "local.server", "--port", "0"]
        with (
            running(command, folder / "gateway.log") as log,
            httpx.Client(base_url=awaited(log, re.compile(r"listens at (\S+)")), timeout=20) as client,
        ):
            yield Gateway(client, log)


def code_of(answer: httpx.Response) -> str | None:
    """The stable code of an error in any door's shape."""
    error = answer.json()["error"]
    found: str | None = error.get("code") or error.get("details", {}).get("error_code")
    return found


def refused(gateway: Gateway, tenant: str, path: str, *bodies: dict[str, Any]) -> httpx.Response:
    """The first refusal of a tenant that asks again and again. A minute may end once between two requests."""
    for body in bodies * 2:
        answer = gateway.ask(tenant, path, body)
        if answer.status_code == 429:
            return answer
        assert answer.status_code == 200, answer.text
    raise AssertionError("nothing was refused")


def check_refusal(answer: httpx.Response, door: str, what: str, limit: str) -> None:
    """429 as the door says it, with the limit's own headers and the moment to come back."""
    said = answer.json()
    assert what in said["error"]["message"]
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert answer.headers[f"x-ratelimit-limit-{limit}"] == "1"
    assert answer.headers[f"x-ratelimit-remaining-{limit}"] == "0"
    assert re.fullmatch(r"\d+s", answer.headers[f"x-ratelimit-reset-{limit}"])
    assert said["request_id"] == answer.headers["x-request-id"]
    assert code_of(answer) == "rate_limit_exceeded"
    anthropics = [name for name in answer.headers if name.startswith("anthropic-ratelimit-")]
    assert bool(anthropics) == (door == "messages" and limit == "requests")
    if door == "messages":
        assert (said["type"], said["error"]["type"]) == ("error", "rate_limit_error")


@pytest.mark.parametrize("path", COUNTING)
def test_requests_of_a_minute(gateway: Gateway, path: str) -> None:
    door, body = COUNTING[path]
    tenant = f"requests.{name_of(path)}"

    first = gateway.ask(tenant, path, body)
    assert first.status_code == 200, first.text
    assert first.headers["x-ratelimit-limit-requests"] == "1"
    assert first.headers["x-ratelimit-remaining-requests"] == "0"
    check_refusal(refused(gateway, tenant, path, body), door, "requests a minute", "requests")


@pytest.mark.parametrize("how", ["whole", "stream", "cut"])
@pytest.mark.parametrize("path", ANSWERING)
def test_the_answer_that_crosses_the_limit_of_calls_is_served_and_the_next_request_is_not(
    gateway: Gateway, path: str, how: str
) -> None:
    """Also where it broke off: calls that a client has begun to hear are calls."""
    door, body = ANSWERING[path]
    asked = json.dumps(body | ({} if how == "whole" else {"stream": True}))
    asking = json.loads(asked if how != "cut" else asked.replace("planted question", "[demo cut]"))
    tenant = f"calls.{how}.{name_of(path)}"

    first = gateway.ask(tenant, path, asking)
    assert first.status_code == 200
    assert first.headers["x-ratelimit-remaining-tool-calls"] == "1"
    assert ("upstream_truncated" in first.text) == (how == "cut")
    check_refusal(refused(gateway, tenant, path, asking), door, "tool calls a minute", "tool-calls")


@pytest.mark.parametrize("path", COUNTING)
def test_a_door_that_is_not_the_tenants_costs_it_nothing(gateway: Gateway, path: str) -> None:
    door, body = COUNTING[path]
    for _ in range(3):
        answer = gateway.ask(f"not.{door}", path, body)
        assert (answer.status_code, code_of(answer)) == (403, "door_not_allowed")


@pytest.mark.parametrize("path", [path for path in COUNTING if path != "/native/tools/check"])
def test_a_model_that_is_not_the_tenants(gateway: Gateway, path: str) -> None:
    answer = gateway.ask("few", path, COUNTING[path][1])

    assert (answer.status_code, code_of(answer)) == (403, "model_not_allowed")


def test_a_check_of_tools_tells_of_no_other_model_than_the_tenants(gateway: Gateway) -> None:
    answer = gateway.ask("few", "/native/tools/check", {"tools": [CHAT_TOOL], "models": ["demo/openai"]})

    assert "model_not_allowed" in answer.text


def test_another_tenants_conversation_is_as_good_as_unknown(gateway: Gateway) -> None:
    """The state of a turn comes back to whoever had that turn, and to nobody who has got hold of its ids."""
    question = chat_body(TWO, "demo/gemini")
    message = gateway.ask("one", "/chat/completions", question).json()["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "12"} for call in message["tool_calls"]]
    for call in message["tool_calls"]:  # as clients do that know nothing of signatures
        call.pop("extra_content", None)
    history = question | {"messages": [*question["messages"], message, *results]}

    own, foreign = (
        gateway.ask(tenant, "/native/translate", {"door": "chat", "body": history}).text for tenant in ("one", "other")
    )

    assert "functionResponse" in own
    assert "functionResponse" in foreign
    assert "skip_thought_signature_validator" not in own
    assert "skip_thought_signature_validator" in foreign


def test_nothing_of_keys_and_prompts_is_printed(gateway: Gateway) -> None:
    """Last of this module, so that it reads what the other tests left."""
    gateway.ask("one", "/chat/completions", chat_body(TWO))

    assert '"door":"chat"' in gateway.printed
    assert "planted" not in gateway.printed
