"""A client of the Responses API at a provider of its dialect: what nobody has to change passes byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange
from tests.doors.responses.responses_reader import read as read_strictly
from tests.named_rows import each_row
from tests.providers.openai_responses.responses_upstream import (
    MODEL,
    WIRE,
    added,
    call,
    called,
    completed,
    created,
    done,
    event,
    item,
    message,
    reasoning,
    response,
    said,
    stream,
    summary,
    text,
    whole,
)
from toolwire.doors.responses.request import DOOR
from toolwire.model.http import HttpRequest
from toolwire.model.request import ToolCallPart
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.providers.openai_responses.request import PROVIDER
from toolwire.providers.profiles import PROFILES

TARGET = Target(ProviderConfig("host", "openai_responses", "https://h/v1", "none", "openai"), MODEL)

#: A request with much that the model does not name, in an order and a layout of its own.
BODY = b"""{"stream":true, "input": [ {"role":"developer","content":"Be brief."},
 {"type":"message","role":"user","content":[{"type":"input_text","text":"hi","news":1.10}]},
 {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
 {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},
 {"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary",
  "content":[{"type":"output_text","text":"Well","annotations":[]}]},
 {"type":"function_call","id":"fc_1","call_id":"call_a","name":"weather","arguments":"{\\"n\\": 1.10}"},
 {"type":"function_call_output","call_id":"call_a","output":[{"type":"input_image","file_id":"f","detail":"auto"}]},
 {"type":"news","n":12345678901234567890} ],
 "model":"p/m", "store":null, "instructions":"Help.", "tools":[{"type":"function","name":"weather","news":true},
 {"type":"web_search","filters":{}},{"type":"namespace","name":"mcp__a","description":"A.","tools":[
 {"type":"function","name":"find","parameters":{"type":"object"}}]},{"type":"custom","name":"patch"}],
 "tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"weather"}]},
 "reasoning":{"effort":"low","context":"auto"}, "text":{"verbosity":"low"}, "include":["reasoning.encrypted_content"],
 "news":{"a":1.10}, "temperature":0.50, "previous_response_id":"resp_0"}"""


def sent(body: bytes) -> bytes:
    exchange = open_exchange(body, door="responses", wire=WIRE, profile="openai", model=MODEL)
    assert exchange.figures.warnings == []
    return exchange.upstream_request.body


def parsed(body: bytes = BODY) -> Any:
    return DOOR.parse_request(HttpRequest("POST", "/", {}, body))


def rewritten(request: Any) -> dict[str, Any]:
    """The body for a request of which something was changed on its way."""
    body: dict[str, Any] = json.loads(PROVIDER.build_request(request, TARGET, PROFILES["openai"], None)[0].body)
    return body


def test_a_request_passes_but_for_the_model() -> None:
    (before, _, after) = BODY.partition(b'"model":"p/m"')
    squeezed = sent(BODY)
    for name, value in json.loads(before + b'"model":"gpt-5.6"' + after).items():
        assert json.loads(squeezed)[name] == value, name
    assert list(json.loads(squeezed)) == list(json.loads(BODY))
    for piece in (b'"news":1.10', b"12345678901234567890", b'{\\"n\\": 1.10}', b'"temperature":0.50', b'{"a":1.10}'):
        assert piece in squeezed


def test_a_text_for_input_passes() -> None:
    assert json.loads(sent(b'{"model":"p/m","input":"hi","tools":[]}')) == {"model": MODEL, "input": "hi"}


def test_an_item_that_changes_leaves_the_others_as_they_are() -> None:
    request = parsed()
    messages = list(request.messages)
    (number,) = (n for n, one in enumerate(messages) if one.tool_calls)
    parts = tuple(replace(part, id="call_b") if type(part) is ToolCallPart else part for part in messages[number].parts)
    messages[number] = replace(messages[number], parts=parts)
    messages[number + 1] = replace(
        messages[number + 1], parts=(replace(messages[number + 1].parts[0], tool_call_id="call_b"),)
    )
    before, after = json.loads(BODY)["input"], rewritten(replace(request, messages=tuple(messages)))
    assert after["instructions"] == "Help."
    assert [after["input"][n] for n in (0, 1, 2, 3, 7)] == [before[n] for n in (0, 1, 2, 3, 7)]
    assert after["input"][4]["phase"] == "commentary"
    assert after["input"][4]["content"] == before[4]["content"]
    made, output = after["input"][5:7]
    assert made == before[5] | {"call_id": "call_b"}
    assert output == before[6] | {"call_id": "call_b"}


def test_tools_that_change_lose_their_namespace_and_no_member() -> None:
    request = parsed()
    first = replace(request.tools[0], name="other")
    body = rewritten(replace(request, tools=(first, *request.tools[1:]), tool_choice=None))
    assert body["tools"][0] == {"type": "function", "name": "other", "parameters": {"type": "object", "properties": {}},
                                "news": True}  # fmt: skip
    assert body["tools"][1:] == [
        {"type": "web_search", "filters": {}},
        {"type": "function", "name": "mcp__a__find", "description": "A.", "parameters": {"type": "object"}},
        {"type": "custom", "name": "patch"},
    ]
    assert "tool_choice" not in body


def test_settings_that_change_keep_what_stands_beside_them() -> None:
    body = rewritten(replace(parsed(), reasoning_effort="high", max_tokens=5, stream=False))
    assert body["reasoning"] == {"effort": "high", "context": "auto"}
    assert body["text"] == {"verbosity": "low"}
    assert body["stream"] is False


def test_a_call_in_a_namespace_is_written_with_it() -> None:
    items = [
        {"type": "function_call", "call_id": "bad id", "name": "find", "namespace": "mcp__a", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "bad id", "output": "ok"},
    ]
    body = json.loads(sent(json.dumps({"model": "p/m", "input": items}).encode()))
    made = body["input"][0]
    assert (made["name"], made["namespace"]) == ("find", "mcp__a")
    assert made["call_id"] == body["input"][1]["call_id"] != "bad id"


# ---------------------------------------------------------------- answers


def ask(upstream: bytes, *, streamed: bool = True) -> Answer:
    body = json.dumps({"model": "p/m", "input": "hi", "stream": streamed}).encode()
    exchange = open_exchange(body, door="responses", wire=WIRE, profile="openai", model=MODEL)
    return answer(exchange, [upstream], content_type="text/event-stream" if streamed else "application/json")


def numbered(*events: dict[str, Any]) -> bytes:
    return stream(*(event | {"sequence_number": number} for number, event in enumerate(events)))


def test_an_answer_passes_byte_for_byte() -> None:
    search = item("web_search_call", "ws_1", status="completed", action={"type": "search"})
    finished = [reasoning("rs_1"), search, message("m", "Hi"), call("fc_1", "call_a", "weather", "{}")]
    upstream = numbered(
        created(service_tier="flex"),
        event("in_progress", response=response()),
        added(0, "reasoning", "rs_1"),
        done(0, reasoning("rs_1", encrypted_content="gAAA", news=1)),
        added(1, "web_search_call", "ws_1"),
        event("web_search_call.searching", output_index=1, item_id="ws_1"),
        done(1, search),
        *said(2, "m", "H", "i"),
        event("output_text.annotation.added", output_index=2, item_id="m", content_index=0, annotation_index=0),
        *called(3, "fc_1", "call_a", "weather", "{", "}"),
        {"type": "response.news", "n": 1},
        completed(*finished),
    )
    assert ask(upstream).body == upstream


def test_a_document_passes_byte_for_byte() -> None:
    body = whole(message("m", "Hi"), call("fc_1", "call_a", "weather", "{}"), news=1.10)
    assert ask(body, streamed=False).body == body


def test_an_answer_that_needs_repair_is_one_that_strict_clients_read() -> None:
    upstream = numbered(created(), text(0, "m", "Hi"), completed())
    events = [json.loads(line[6:]) for line in ask(upstream).body.split(b"\n") if line.startswith(b"data: ")]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.output_item.added" in kinds
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "Hi"


# ---------------------------------------------------------------- what is written anew loses no member

CITED = message("m", "Hi")
CITED["content"][0]["annotations"] = [{"type": "url_citation", "url": "https://a", "start_index": 0, "end_index": 2}]
SEARCH = item("web_search_call", "ws_1", status="completed", action={"type": "search"})


def asked_again(upstream: bytes, *, streamed: bool, **fields: Any) -> Answer:
    """The answer to a history that has the upstream's call id already, so that the call gets another."""
    history = [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_a", "output": "ok"},
    ]
    body = json.dumps({"model": "p/m", "input": history, "stream": streamed} | fields).encode()
    exchange = open_exchange(body, door="responses", wire=WIRE, profile="openai", model=MODEL)
    return answer(exchange, [upstream], content_type="text/event-stream" if streamed else "application/json")


def test_a_document_whose_call_changes_keeps_all_else() -> None:
    output = [reasoning("rs_1", "so", encrypted_content="gAAA", news=1), SEARCH, CITED]
    given = whole(*output, call("fc_1", "call_a", "weather", '{"n": 1.10}', news=2), service_tier="flex", tools=[1])
    shown = json.loads(asked_again(given, streamed=False).body)
    made = shown["output"].pop()
    wanted = json.loads(given)
    assert made == wanted["output"].pop() | {"call_id": made["call_id"]}
    assert made["call_id"] != "call_a"
    assert {name: shown[name] for name in wanted} == wanted


def test_a_document_whose_call_is_withheld_is_written_anew() -> None:
    given = whole(CITED, call("fc_1", "call_b", "weather", "{}"), service_tier="flex")
    tools = [{"type": "function", "name": "weather", "parameters": {"type": "object"}}]
    shown = json.loads(asked_again(given, streamed=False, tools=tools, tool_choice="none").body)
    assert [one["type"] for one in shown["output"]] == ["message"]
    assert shown["service_tier"] == "flex"


MENDED = {
    "no usage": (message("m", "Hi"), {"usage": None}),
    "no kind": (message("m", "Hi"), {"object": None}),
    "an item that is no object of OpenAI's": ({"type": "message", "content": "?"}, {}),
}


@pytest.mark.parametrize(("said_item", "fields"), MENDED.values(), ids=MENDED)
def test_a_document_that_is_mended_keeps_what_nobody_knows(said_item: Any, fields: dict[str, Any]) -> None:
    given = whole(said_item, news=1.1, completed_at=5, tool_choice="required", **fields).replace(b"1.1", b"1.10")
    shown = ask(given, streamed=False).body
    assert b'"news":1.10' in shown
    document = json.loads(shown)
    assert (document["completed_at"], document["tool_choice"], document["object"]) == (5, "required", "response")


def test_a_stream_that_is_mended_keeps_what_nobody_knows() -> None:
    """ChatGPT's own host ends a stream without the output."""
    told = numbered(created(news=1), *said(0, "m", "Hi"), completed(news=2, completed_at=5))
    final = events_of(ask(told).body)[-1]["response"]
    assert (final["news"], final["completed_at"], final["output"][0]["id"]) == (2, 5, "m")


def test_a_failure_tells_what_the_upstream_said_of_the_response() -> None:
    final = events_of(ask(numbered(created(service_tier="flex"), *said(0, "m", "Hi"))).body)[-1]
    assert (final["type"], final["response"]["service_tier"]) == ("response.failed", "flex")


def events_of(body: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: ")]


# ---------------------------------------------------------------- what is mended within an item of the upstream's own

WHOLE = [
    created(),
    added(0, "reasoning", "rs_1"),
    summary(0, "rs_1", "so"),
    done(0, reasoning("rs_1", "so", encrypted_content="gAAA")),
    added(1, "web_search_call", "ws_1"),
    done(1, SEARCH),
    *said(2, "m", "H", "i"),
    *called(3, "fc_1", "call_b", "weather", "{", "}"),
    completed(reasoning("rs_1", "so", encrypted_content="gAAA"), SEARCH, message("m", "Hi"),
              call("fc_1", "call_b", "weather", "{}")),
]  # fmt: skip
#: A host's item that nobody knows more of goes whole, by whatever id it has.
PLACED = [n for n, one in enumerate(WHOLE) if "output_index" in one and one.get("item", {}).get("id") != "ws_1"]


@each_row("number", PLACED, ids=[f"{n} {WHOLE[n]['type']}" for n in PLACED])
@each_row("name", ["output_index", "item_id"])
def test_an_event_that_is_mended_stays_within_its_item(number: int, name: str) -> None:
    """Hosts leave out an index, or give every event an id of its own: clients still see an item once, and its end."""
    told = WHOLE[number]
    if name not in told:
        told = told | {"item": told["item"] | {"id": "other"}}
    elif name == "item_id":
        told = told | {"item_id": "other"}
    else:
        told = {key: value for key, value in told.items() if key != name}
    shown = read_strictly(ask(numbered(*WHOLE[:number], told, *WHOLE[number + 1 :])).body)
    assert shown.final is not None
    kinds = [one["type"] for one in shown.final["output"]]
    assert kinds == ["reasoning", "web_search_call", "message", "function_call"]
    thought, _, text_item, made = shown.final["output"]
    assert thought["encrypted_content"] == "gAAA"
    assert [part["text"] for part in text_item["content"]] == ["Hi"]
    assert (made["call_id"], made["arguments"]) == ("call_b", "{}")


@pytest.mark.parametrize("odd", [5, None, [], True])
def test_an_item_that_nobody_knows_may_have_anything_for_its_id(odd: Any) -> None:
    news = {"type": "news", "id": odd}
    told = numbered(created(), event("output_item.added", output_index=0, item=news), done(0, news), completed(news))
    assert ask(told).status == 200


@pytest.mark.parametrize("store", [{}, {"store": True}, {"store": False}], ids=str)
def test_reasoning_that_the_host_has_not_made_does_not_reach_it(store: dict[str, Any]) -> None:
    """A provider that encrypts nothing has shown it to the client, as an item with an id of ours."""
    summary = [{"type": "summary_text", "text": "so"}]
    ours, hosts = ({"type": "reasoning", "id": id, "summary": summary} for id in ("rs_LNvm94m70J7_0", "rs_68a9f"))
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
    history = [{"role": "user", "content": "hi"}, ours, said, {"role": "user", "content": "and"}, hosts, said]
    body = json.dumps({"model": "p/m", "input": [*history, {"role": "user", "content": "go"}]} | store).encode()
    exchange = open_exchange(body, door="responses", wire=WIRE, profile="openai", model=MODEL)
    sent = json.loads(exchange.upstream_request.body)["input"]
    kept = [] if store.get("store") is False else ["rs_68a9f"]
    assert [item["id"] for item in sent if item.get("type") == "reasoning"] == kept


@pytest.mark.parametrize("store", [{}, {"store": True}, {"store": False}], ids=str)
def test_encrypted_reasoning_goes_without_an_id_of_ours(store: dict[str, Any]) -> None:
    """OpenAI binds it to the id that it gave the item: with another it is refused, with none it is not."""
    ours, hosts = (
        {"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "so"}], "encrypted_content": "E"}
        for id in ("rs_LNvm94m70J7_0", "rs_68a9f")
    )
    call = {"type": "function_call", "id": "fc_LNvm94m70J7_1", "call_id": "c", "name": "f", "arguments": '{"n":1.10}'}
    history = [{"role": "user", "content": "hi"}, ours, call, {"type": "function_call_output", "call_id": "c",
                                                               "output": "x"}, hosts]  # fmt: skip
    body = json.dumps({"model": "p/m", "input": history} | store).encode()
    exchange = open_exchange(body, door="responses", wire=WIRE, profile="openai", model=MODEL)
    sent = json.loads(exchange.upstream_request.body)["input"]
    bare = {name: value for name, value in ours.items() if name != "id"}
    assert [item for item in sent if item.get("type") == "reasoning"] == [bare, hosts]
    assert sent[2]["arguments"] == '{"n":1.10}'
