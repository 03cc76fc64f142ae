"""The official openai Python SDK against the local server: whole tool loops, structured output, errors.

The SDK is an independent client: what it makes of our answers is what users' programs get.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from tests.gateway import gateway
from tests.in_turn import crossed, in_turn
from tests.reference import needs
from tests.sdk.talks import DEMO_MODELS, SIM, SIM_MODELS, TALKS, TOOLS, Talk, check
from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, answer

pytestmark = pytest.mark.enable_socket

JSON_TYPE = (("content-type", "application/json"),)


def sdk(base: str, retries: int = 0) -> OpenAI:
    return OpenAI(api_key="sk-nobody", base_url=base, max_retries=retries, timeout=20)


@pytest.fixture(scope="module")
def client(demo_gateway: str) -> Iterator[OpenAI]:
    with sdk(demo_gateway) as made:
        yield made


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[MisbehavingUpstream, str]]:
    """An upstream that says what it is told to, and the base URL of a gateway in front of it."""
    with MisbehavingUpstream() as upstream:
        config = f'[providers.host]\nwire = "openai_chat"\nbase_url = "{upstream.url}/v1"\ncredential = "none"\n'
        with gateway(tmp_path_factory.mktemp("failing"), config) as base:
            yield upstream, base


def test_a_model_is_retrieved(client: OpenAI) -> None:
    assert client.models.retrieve("demo/openai").owned_by == "demo"
    with pytest.raises(openai.NotFoundError, match="demo"):
        client.models.retrieve("demo/none")


# ---------------------------------------------------------------- three ways to ask

Ask = Callable[[OpenAI, dict[str, Any]], tuple[Any, str]]
"""A request's members -> the assistant's message, fit for the history, and the finish reason."""


def whole(client: OpenAI, request: dict[str, Any]) -> tuple[Any, str]:
    choice = client.chat.completions.create(**request).choices[0]
    return choice.message, choice.finish_reason


def helper(client: OpenAI, request: dict[str, Any]) -> tuple[Any, str]:
    """With the SDK's own accumulator."""
    with client.chat.completions.stream(**request) as stream:
        events = [event.type for event in stream]
        choice = stream.get_final_completion().choices[0]
    calls = len(choice.message.tool_calls or ())
    assert events.count("tool_calls.function.arguments.done") == calls
    assert events.count("content.done") == bool(choice.message.content)
    return choice.message, choice.finish_reason


def raw(client: OpenAI, request: dict[str, Any]) -> tuple[Any, str]:
    """As a program does that adds the chunks up itself."""
    text, finishes, calls = "", [], list[dict[str, Any]]()
    stream = client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    assert [chunk.usage is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert len({chunk.id for chunk in chunks}) == 1
    for chunk in chunks[:-1]:
        (choice,) = chunk.choices
        text += choice.delta.content or ""
        finishes += [choice.finish_reason] if choice.finish_reason else []
        for part in choice.delta.tool_calls or ():
            assert part.function is not None
            if part.index == len(calls):
                function = {"name": part.function.name, "arguments": ""}
                calls.append({"id": part.id, "type": part.type, "function": function})
            else:
                assert not part.id
                assert not part.function.name
            calls[part.index]["function"]["arguments"] += part.function.arguments or ""
    (finish,) = finishes
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return message | ({"tool_calls": calls} if calls else {}), finish


WAYS = [whole, helper, raw]


def converse(client: OpenAI, ask: Ask, model: str, talk: Talk) -> list[dict[str, Any]]:
    """The whole conversation: each user message, the calls it leads to, their results, the text."""
    history: list[Any] = []
    turns = []
    for prompt in talk.prompts(model):
        history.append({"role": "user", "content": prompt})
        message, finish = ask(client, {"model": model, "messages": history, "tools": TOOLS})
        history.append(message)
        calls = [_call(call) for call in _member(message, "tool_calls") or ()]
        for call in calls:
            result = {"role": "tool", "tool_call_id": call["id"], "content": talk.result_for(model)}
            history.append(result)
        message, last_finish = ask(client, {"model": model, "messages": history, "tools": TOOLS})
        history.append(message)
        text = _member(message, "content")
        turns.append({"calls": calls, "finish": finish, "text": text, "last_finish": last_finish})
    return turns


def _member(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, dict) else getattr(message, name)


def _call(call: Any) -> dict[str, str]:
    call = call if isinstance(call, dict) else call.model_dump()
    return {"id": call["id"], **{name: call["function"][name] for name in ("name", "arguments")}}


@in_turn("model, way", crossed(TALKS, WAYS), DEMO_MODELS)
def test_tool_loop(client: OpenAI, model: str, way: tuple[Talk, Ask]) -> None:
    talk, ask = way
    check(talk, model, converse(client, ask, model, talk))


@needs(SIM)
@in_turn("model, ask", WAYS, SIM_MODELS)
def test_tool_loop_with_the_bench_upstream(sim_gateway: str, model: str, ask: Ask) -> None:
    with sdk(sim_gateway) as client:
        for talk in TALKS:
            check(talk, model, converse(client, ask, model, talk))


# ---------------------------------------------------------------- structured output


class Weather(BaseModel):
    city: str
    degrees: int


@pytest.mark.parametrize("model", DEMO_MODELS)
def test_structured_output(client: OpenAI, model: str) -> None:
    messages: Any = [{"role": "user", "content": "Describe Paris."}]
    parsed = client.chat.completions.parse(model=model, messages=messages, response_format=Weather)
    assert isinstance(parsed.choices[0].message.parsed, Weather)
    with client.chat.completions.stream(model=model, messages=messages, response_format=Weather) as stream:
        streamed = stream.get_final_completion()
    assert streamed.choices[0].message.parsed == parsed.choices[0].message.parsed


# ---------------------------------------------------------------- errors


def say(client: OpenAI, text: str, *, model: str = "demo/openai", **more: Any) -> Any:
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], **more)


#: What the host says -> the SDK's exception, and the status that it has.
ERRORS: list[tuple[str, tuple[int, type[openai.APIStatusError], int]]] = [
    (str(row[0]), row)
    for row in (
        (400, openai.BadRequestError, 400),
        (404, openai.NotFoundError, 404),
        (422, openai.UnprocessableEntityError, 422),
        (429, openai.RateLimitError, 429),
        (500, openai.InternalServerError, 500),
        (503, openai.InternalServerError, 503),
        # The client's own key was fine: the operator's credential was refused.
        (401, openai.InternalServerError, 502),
        (403, openai.InternalServerError, 502),
    )
]


@in_turn("error, model, stream", [False, True], ERRORS, DEMO_MODELS)
def test_upstream_error(
    client: OpenAI, error: tuple[int, type[openai.APIStatusError], int], model: str, stream: bool
) -> None:
    status, kind, shown = error
    with pytest.raises(kind) as caught:
        say(client, f"[demo error {status}]", model=model, stream=stream)
    raised = caught.value
    assert raised.status_code == shown
    assert ("refused this gateway's credential" if shown == 502 else "demo directive") in raised.message
    assert raised.request_id
    says_when = status in (429, 503) and not model.startswith("demo/bedrock")  # which says nothing of the kind
    assert raised.response.headers.get("retry-after") == ("1" if says_when else None)
    final = raised.response.headers.get("x-should-retry") == "false"
    assert final == (status in (400, 401, 403, 404, 422))


@pytest.mark.parametrize(
    ("members", "kind", "code", "param"),
    [
        ({"model": "no-such-model"}, openai.NotFoundError, "model_not_found", "model"),
        ({"model": "nobody/m"}, openai.NotFoundError, "model_not_found", "model"),
        ({"n": 2}, openai.BadRequestError, "unsupported_parameter", "n"),
        ({"temperature": "warm"}, openai.BadRequestError, "invalid_type", "temperature"),
        ({"tools": [TOOLS[0]] * 129}, openai.BadRequestError, None, "tools"),
    ],
    ids=["bare name", "provider", "n", "type", "129 tools"],
)
def test_request_error(
    client: OpenAI, members: dict[str, Any], kind: type[openai.APIStatusError], code: str | None, param: str
) -> None:
    with pytest.raises(kind) as caught:
        say(client, "Hello.", **members)
    error = caught.value
    assert code in (None, error.code)
    assert (error.param or "").startswith(param)
    assert error.response.headers["x-should-retry"] == "false"
    assert error.type == ("invalid_request_error" if error.status_code == 400 else "not_found_error")


@pytest.mark.parametrize("model", DEMO_MODELS)
@pytest.mark.parametrize("text", ["[demo cut] [demo slow 0] Hello.", "[demo cut] [demo slow 0] Weather in Paris?"])
def test_a_stream_that_breaks_raises(client: OpenAI, model: str, text: str) -> None:
    asked: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": text}], "tools": TOOLS}
    stream = client.chat.completions.create(**asked, stream=True)
    with pytest.raises(openai.APIError, match="before its answer was complete"):
        list(stream)
    with (
        client.chat.completions.stream(**asked) as helped,
        pytest.raises(openai.APIError, match="before its answer was complete"),
    ):
        list(helped)
    assert say(client, "Hello.", model=model).choices[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("status", "requests"),
    [("401 Unauthorized", 1), ("400 Bad Request", 1), ("429 Too Many Requests", 2), ("503 Service Unavailable", 2)],
)
def test_the_sdk_retries_what_may_succeed_and_nothing_else(
    failing: tuple[MisbehavingUpstream, str], status: str, requests: int
) -> None:
    body = json.dumps({"error": {"message": "Refused.", "type": "x", "code": None, "param": None}}).encode()
    headers = (*JSON_TYPE, ("retry-after", "0.01"))
    upstream, base = failing
    before = len(upstream.requests)
    upstream.script(*[[Send(answer(body, status=status, framing="length", headers=headers))]] * requests)
    with sdk(base, retries=1) as client, pytest.raises(openai.APIStatusError):
        say(client, "Hello.", model="host/m")
    assert len(upstream.requests) - before == requests
