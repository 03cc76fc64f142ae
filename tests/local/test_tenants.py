"""What holds for one tenant and not for another, at every path of a gateway with a file of keys."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.door_requests import function, posted, question
from tests.gateway import gateway as running_gateway
from tests.policy.door_clients import code_of
from toolwire.doors import DOORS
from toolwire.shell.access.key_records import KeyRecord, file_text

pytestmark = pytest.mark.enable_socket

TWO = "What is the weather in Paris and New York? planted question"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = function("get_weather", CITY, "Weather")
CHAT_TOOL = {"type": "function", "function": WEATHER}


class Question(NamedTuple):
    """A request of a door's client. `path`: where it is not asked for an answer."""

    door: str
    body: dict[str, Any]
    path: str | None = None


def chat_body(text: str, model: str = "demo/openai") -> dict[str, Any]:
    return {"model": model, **question("chat_completions", text, WEATHER)}


_MODELS = {"messages": "demo/anthropic", "responses": "demo/gemini"}

#: Door -> a request in which a model makes two calls.
ANSWERING = {
    door: Question(door, {"model": _MODELS.get(door, "demo/openai"), **question(door, TWO, WEATHER)}) for door in DOORS
}

#: All that count as a request.
COUNTING = {
    **ANSWERING,
    "messages.count": Question(
        "messages", {"model": "demo/anthropic", "messages": chat_body(TWO)["messages"]}, "/messages/count_tokens"
    ),
    "gemini.count": Question("gemini", question("gemini", TWO), "/models/demo/gemini:countTokens"),
    "responses.count": Question(
        "responses", {"model": "demo/responses", **question("responses", TWO)}, "/responses/input_tokens"
    ),
    "native.check": Question("native", {"tools": [CHAT_TOOL]}, "/native/tools/check"),
    "native.translate": Question("native", {"door": "chat_completions", "body": chat_body(TWO)}, "/native/translate"),
}


def key_of(tenant: str) -> str:
    return f"tw_12345678_planted_{tenant}"


def tenants() -> dict[str, dict[str, Any]]:
    """Tenant -> its settings. A tenant for each test that counts, so that none meets another's minute."""
    found: dict[str, dict[str, Any]] = {"one": {}, "other": {}}
    for name in COUNTING:
        found[f"requests.{name}"] = {"requests_per_minute": 1}
    for door in DOORS:
        for how in ("whole", "stream", "cut"):
            found[f"calls.{how}.{door}"] = {"tool_calls_per_minute": 1}
        others = [name for name in DOORS if name != door]
        found[f"not.{door}"] = {"doors": others, "requests_per_minute": 1}
    found["few"] = {"models": ["demo/compatible"]}
    return found


class Gateway:
    def __init__(self, client: httpx.Client, log: Path) -> None:
        self._client = client
        self._log = log

    def ask(self, tenant: str, asked: Question) -> httpx.Response:
        path, content = posted(asked.door, asked.body)
        headers = {"authorization": f"Bearer {key_of(tenant)}", "content-type": "application/json"}
        return self._client.post(asked.path or path, content=content, headers=headers)

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
        with running_gateway(folder) as base, httpx.Client(base_url=base, timeout=20) as client:
            yield Gateway(client, folder / "gateway.log")


def error_code(answer: httpx.Response) -> str:
    """The stable code of an error in any door's shape."""
    found: str = code_of(answer.json()["error"])
    return found


def refused(gateway: Gateway, tenant: str, asked: Question) -> httpx.Response:
    """The first refusal of a tenant that asks again and again. A minute may end once between two requests."""
    for _ in range(2):
        answer = gateway.ask(tenant, asked)
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
    assert answer.headers["x-request-id"] in answer.text
    assert error_code(answer) == "rate_limit_exceeded"
    anthropics = [name for name in answer.headers if name.startswith("anthropic-ratelimit-")]
    assert bool(anthropics) == (door == "messages" and limit == "requests")
    if door == "messages":
        assert (said["type"], said["error"]["type"]) == ("error", "rate_limit_error")


@pytest.mark.parametrize("name", COUNTING)
def test_requests_of_a_minute(gateway: Gateway, name: str) -> None:
    asked, tenant = COUNTING[name], f"requests.{name}"

    first = gateway.ask(tenant, asked)
    assert first.status_code == 200, first.text
    assert first.headers["x-ratelimit-limit-requests"] == "1"
    assert first.headers["x-ratelimit-remaining-requests"] == "0"
    check_refusal(refused(gateway, tenant, asked), asked.door, "requests a minute", "requests")


@pytest.mark.parametrize("how", ["whole", "stream", "cut"])
@pytest.mark.parametrize("door", DOORS)
def test_the_answer_that_crosses_the_limit_of_calls_is_served_and_the_next_request_is_not(
    gateway: Gateway, door: str, how: str
) -> None:
    """Also where it broke off: calls that a client has begun to hear are calls."""
    text = json.dumps(ANSWERING[door].body | ({} if how == "whole" else {"stream": True}))
    asked = Question(door, json.loads(text if how != "cut" else text.replace("planted question", "[demo cut]")))
    tenant = f"calls.{how}.{door}"

    first = gateway.ask(tenant, asked)
    assert first.status_code == 200
    assert first.headers["x-ratelimit-remaining-tool-calls"] == "1"
    assert ("upstream_truncated" in first.text.lower()) == (how == "cut")
    check_refusal(refused(gateway, tenant, asked), door, "tool calls a minute", "tool-calls")


@pytest.mark.parametrize("name", COUNTING)
def test_a_door_that_is_not_the_tenants_costs_it_nothing(gateway: Gateway, name: str) -> None:
    asked = COUNTING[name]
    for _ in range(3):
        answer = gateway.ask(f"not.{asked.door}", asked)
        assert (answer.status_code, error_code(answer)) == (403, "door_not_allowed")


@pytest.mark.parametrize("name", [name for name in COUNTING if name != "native.check"])
def test_a_model_that_is_not_the_tenants(gateway: Gateway, name: str) -> None:
    answer = gateway.ask("few", COUNTING[name])

    assert (answer.status_code, error_code(answer)) == (403, "model_not_allowed")


def test_a_check_of_tools_tells_of_no_other_model_than_the_tenants(gateway: Gateway) -> None:
    body = {"tools": [CHAT_TOOL], "models": ["demo/openai"]}
    answer = gateway.ask("few", Question("native", body, "/native/tools/check"))

    assert "model_not_allowed" in answer.text


def test_another_tenants_conversation_is_as_good_as_unknown(gateway: Gateway) -> None:
    """The state of a turn comes back to whoever had that turn, and to nobody who has got hold of its ids."""
    asked = chat_body(TWO, "demo/gemini")
    message = gateway.ask("one", Question("chat_completions", asked)).json()["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "12"} for call in message["tool_calls"]]
    for call in message["tool_calls"]:  # as clients do that know nothing of signatures
        call.pop("extra_content", None)
    history = asked | {"messages": [*asked["messages"], message, *results]}

    translated = Question("native", {"door": "chat_completions", "body": history}, "/native/translate")
    own, foreign = (gateway.ask(tenant, translated).text for tenant in ("one", "other"))

    assert "functionResponse" in own
    assert "functionResponse" in foreign
    assert "skip_thought_signature_validator" not in own
    assert "skip_thought_signature_validator" in foreign


def test_nothing_of_keys_and_prompts_is_printed(gateway: Gateway) -> None:
    """Last of this module, so that it reads what the other tests left."""
    gateway.ask("one", Question("chat_completions", chat_body(TWO)))

    assert '"door":"chat_completions"' in gateway.printed
    assert "planted" not in gateway.printed
