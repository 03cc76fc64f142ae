"""Answers that are kept for a tenant: continued from, referred to, fetched and removed, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.doors.responses.responses_reader import events
from tests.gateway import gateway
from tests.in_turn import in_turn
from tests.open_responses.judge import document_faults, error_faults, faults, stream_faults
from tests.open_responses.suite import TOOL, TRAIN, user

pytestmark = pytest.mark.enable_socket

KEEPS = "[tenants.default]\nkeep_answers = true\n"
#: Those whose host does not speak the Responses API itself.
MODELS = ("demo/compatible", "demo/anthropic", "demo/gemini", "demo/bedrock")


@pytest.fixture(scope="module", params=["memory", "moto"])
def keeping(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORE", request.param)
        with gateway(tmp_path_factory.mktemp("keeping"), KEEPS) as base:
            yield base


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gateway(tmp_path_factory.mktemp("forgetful")) as base:
        yield base


def ask(base: str, model: str = "demo/compatible", **fields: Any) -> httpx.Response:
    return httpx.post(f"{base}/responses", json={"model": model, "input": [user("hi")]} | fields, timeout=20)


def called(base: str, model: str) -> tuple[str, dict[str, Any]]:
    """The id of an answer with a call, and the result for it."""
    got = ask(base, model, input=TRAIN, tools=[TOOL]).json()
    assert got["store"] is True
    (call,) = (item for item in got["output"] if item["type"] == "function_call")
    return got["id"], {"type": "function_call_output", "call_id": call["call_id"], "output": "the 9:25"}


@in_turn("model, stream", [True, False], MODELS)
def test_a_request_continues_from_an_answer(keeping: str, model: str, stream: bool) -> None:
    id, result = called(keeping, model)
    second = ask(keeping, model, previous_response_id=id, input=[result], tools=[TOOL], stream=stream)
    assert second.status_code == 200
    assert (stream_faults if stream else document_faults)(second.content) == []
    said = list(events(second.content))[-1]["response"] if stream else second.json()
    assert (said["previous_response_id"], said["store"]) == (id, True)
    assert "9:25" in said["output"][-1]["content"][0]["text"]
    assert "ignored" not in second.headers.get("x-toolwire-warnings", "")

    third = ask(keeping, MODELS[0], previous_response_id=said["id"], input="Thanks.", tools=[TOOL], store=False).json()
    assert (third["status"], third["store"], third["previous_response_id"]) == ("completed", False, said["id"])
    fourth = ask(keeping, model, previous_response_id=third["id"])
    assert (fourth.status_code, fourth.json()["error"]["code"]) == (400, "previous_response_not_found")
    assert error_faults(fourth.content) == []


def test_what_would_be_sent_is_shown_with_the_history(keeping: str) -> None:
    id, result = called(keeping, MODELS[0])
    body = {"model": MODELS[0], "previous_response_id": id, "input": [result], "tools": [TOOL]}
    got = httpx.post(f"{keeping}/native/translate", json={"door": "responses", "body": body})
    assert got.status_code == 200
    assert [turn["role"] for turn in got.json()["body"]["messages"]] == ["user", "assistant", "tool"]


def test_an_item_that_is_only_named_is_sent(keeping: str) -> None:
    id, result = called(keeping, MODELS[0])
    got = httpx.get(f"{keeping}/responses/{id}").json()
    reference = {"type": "item_reference", "id": got["output"][-1]["id"]}
    said = ask(keeping, input=[user(TRAIN), reference, result], tools=[TOOL])
    assert "9:25" in said.json()["output"][-1]["content"][0]["text"]
    assert "item_reference" not in said.headers.get("x-toolwire-warnings", "")


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "another's"])
def test_an_item_that_is_not_there_is_not_left_out(keeping: str, removed: bool) -> None:
    """The model would answer another conversation."""
    kept = ask(keeping).json()
    item = kept["output"][-1]["id"] if removed else f"msg_{24 * 'x'}_0"
    httpx.delete(f"{keeping}/responses/{kept['id']}")
    named = {"type": "item_reference", "id": item}
    got = ask(keeping, input=[user("hi"), named, user("And?")])
    assert (got.status_code, got.json()["error"]["code"]) == (400, "item_not_found")
    assert got.json()["error"]["param"] == "input[1]"
    assert error_faults(got.content) == []


def test_an_answer_that_failed_does_not_say_that_it_is_kept(keeping: str) -> None:
    said = ask(keeping, input="[demo cut] Name a river.", stream=True)
    final = list(events(said.content))[-1]["response"]
    assert (final["status"], final["store"]) == ("failed", False)
    assert httpx.get(f"{keeping}/responses/{final['id']}").status_code == 404


def test_an_answer_is_fetched_and_removed(keeping: str) -> None:
    said = ask(keeping).json()
    place = f"{keeping}/responses/{said['id']}"
    fetched = httpx.get(place)
    assert (fetched.status_code, fetched.json()) == (200, said)
    assert document_faults(fetched.content) == []
    gone = httpx.delete(place)
    assert (gone.status_code, gone.json()) == (200, {"id": said["id"], "object": "response", "deleted": True})
    for missing in (httpx.get(place), httpx.delete(place)):
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "response_not_found")
        assert error_faults(missing.content) == []
    assert ask(keeping, previous_response_id=said["id"]).status_code == 400


def test_what_an_answer_answers_is_listed(keeping: str) -> None:
    id, result = called(keeping, MODELS[1])
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    said = {"role": "assistant", "content": "Soon."}
    second = ask(keeping, input=[result, said, user([image]), user("And?")], previous_response_id=id, tools=[TOOL])
    place = f"{keeping}/responses/{second.json()['id']}/input_items"

    whole = httpx.get(place, params={"order": "asc"})
    assert whole.status_code == 200
    page = whole.json()
    items = page["data"]
    assert [item["type"] for item in items] == ["message", "function_call", "function_call_output", *["message"] * 3]
    assert [fault for item in items for fault in faults("ItemField", item)] == []
    assert len({item["id"] for item in items}) == len(items)
    assert (page["object"], page["first_id"], page["last_id"], page["has_more"]) == (
        "list", items[0]["id"], items[-1]["id"], False,
    )  # fmt: skip
    assert items[0]["content"] == [{"type": "input_text", "text": TRAIN}]
    assert items[1] == httpx.get(f"{keeping}/responses/{id}").json()["output"][-1]
    assert items[2] == result | {"id": items[2]["id"], "status": "completed"}
    assert items[3]["content"] == [{"type": "output_text", "text": "Soon.", "annotations": []}]
    assert items[4]["content"] == [image | {"detail": "auto"}]

    assert httpx.get(place).json()["data"] == items[::-1]
    first = httpx.get(place, params={"limit": 4}).json()
    assert (first["data"], first["has_more"]) == (items[:1:-1], True)
    rest = httpx.get(place, params={"limit": 4, "after": first["last_id"]}).json()
    assert (rest["data"], rest["has_more"]) == (items[1::-1], False)


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=many", "limit"),
        ("order=up", "order"),
        ("after=x", "after"),
    ],
)
def test_a_page_that_cannot_be_shown_is_refused(keeping: str, query: str, param: str) -> None:
    got = httpx.get(f"{keeping}/responses/{ask(keeping).json()['id']}/input_items?{query}")
    assert (got.status_code, got.json()["error"]["param"]) == (400, param)
    assert error_faults(got.content) == []


def test_a_kept_answer_is_over(keeping: str) -> None:
    place = f"{keeping}/responses/{ask(keeping).json()['id']}"
    for got, word in ((httpx.post(f"{place}/cancel"), "synchronous"), (httpx.get(f"{place}?stream=true"), "stream")):
        assert got.status_code == 400
        assert word in got.json()["error"]["message"]
        assert error_faults(got.content) == []
    assert httpx.get(f"{place}?stream=false").status_code == 200


ABOUT = [("GET", ""), ("DELETE", ""), ("GET", "/input_items"), ("POST", "/cancel")]


@pytest.mark.parametrize(("method", "below"), ABOUT)
@pytest.mark.parametrize(
    ("id", "why"), [("resp_" + 24 * "x", "was not kept"), ("resp_" + 32 * "0", "only the host that gave this id")]
)
def test_what_is_not_there_is_not_found(keeping: str, id: str, why: str, method: str, below: str) -> None:
    got = httpx.request(method, f"{keeping}/responses/{id}{below}")
    assert (got.status_code, got.json()["error"]["code"]) == (404, "response_not_found")
    assert why in got.json()["error"]["message"]
    assert error_faults(got.content) == []


@pytest.mark.parametrize("model", MODELS)
def test_the_tokens_of_a_request_are_counted(keeping: str, model: str) -> None:
    asked = {"model": model, "input": [user("hi")], "tools": [TOOL], "stream": True}
    got = httpx.post(f"{keeping}/responses/input_tokens", json=asked, timeout=20)
    assert got.status_code == 200
    assert (got.json()["object"], got.json()["input_tokens"] > 0) == ("response.input_tokens", True)


def test_a_host_that_speaks_the_api_keeps_its_own(keeping: str) -> None:
    said = ask(keeping, "demo/responses").json()
    assert httpx.get(f"{keeping}/responses/{said['id']}").status_code == 404


def test_nothing_is_kept_unasked(forgetful: str) -> None:
    said = ask(forgetful, store=True)
    assert said.json()["store"] is False
    assert "ignored:store" in said.headers["x-toolwire-warnings"]
    id = said.json()["id"]
    continued = ask(forgetful, previous_response_id=id)
    assert (continued.status_code, continued.json()["error"]["param"]) == (400, "previous_response_id")
    about = [httpx.request(method, f"{forgetful}/responses/{id}{below}") for method, below in ABOUT]
    for answer in (continued, *about):
        assert answer.status_code in (400, 501)
        assert "keep_answers" in answer.json()["error"]["message"]
        assert error_faults(answer.content) == []


def test_the_setting_is_one_of_a_keys(tmp_path: Path) -> None:
    with gateway(tmp_path, "[tenants.default]\nkeep_answers = false\n") as base:
        assert ask(base).json()["store"] is False
