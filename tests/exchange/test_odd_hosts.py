"""What the exchange mends of an odd host's answers: names with marks around them, ids of calls that were text, and a
history that lacks reasoning."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.anthropic_messages import messages_upstream as messages
from tests.providers.gemini import gemini_upstream as gemini
from tests.providers.openai_chat.chat_upstream import (
    CALLS,
    ROLE,
    STOP,
    TOTAL,
    ask,
    opening,
    request,
    seen,
    stream,
    text,
    whole,
)
from tests.providers.openai_responses import responses_upstream as responses

#: A name as a host sends it -> the tool that is called, of `weather` and `time`.
NAMES = {
    "functions.weather": "weather",
    "functions:weather": "weather",
    "functions.weather:0": "weather",
    "weather:12": "weather",
    "weather<|channel|>commentary": "weather",
    "weather <|constrain|>json": "weather",
    " weather\n": "weather",
    "default_api.weather": "weather",
    "default_api:weather": "weather",
    "tools.weather": "weather",
    "commentary to=functions.weather": "weather",
    "functions.weather<|channel|>commentary<|message|>": "weather",
    "time": "time",
    "my.weather": "my.weather",
    "functions.other": "functions.other",
    "weather2": "weather2",
}


@each_row(("given", "name"), NAMES.items())
def test_a_name_with_marks_around_it_is_the_declared_tools(given: str, name: str) -> None:
    upstream = stream(ROLE, opening(0, "call_a", given, '{"a":1}'), CALLS, TOTAL)
    said = seen(upstream)
    assert [call[1] for call in said.calls] == [name]
    assert ("tool_name_mended" in ask(upstream).body.decode()) == (given != name)


def ids(upstream: bytes, **fields: Any) -> list[str]:
    headers = {"x-conversation-id": fields.pop("conversation", "one")}
    exchange = open_exchange(request(**fields), headers=headers)
    body = answer(exchange, [upstream]).body
    chunks = [json.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: {")]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    return [call["id"] for delta in deltas for call in delta.get("tool_calls", ()) if "id" in call]


def test_ids_of_calls_in_text_depend_on_the_conversation_and_the_place_alone() -> None:
    call = '<tool_call>{"name": "time"}</tool_call>'
    upstream = stream(ROLE, text(call + call), STOP)
    first = ids(upstream)
    longer = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "x"},
        {"role": "user", "content": "y"},
    ]
    assert len(set(first)) == 2
    assert ids(upstream) == first
    assert not set(ids(upstream, conversation="two")) & set(first)
    assert not set(ids(upstream, messages=longer)) & set(first)


#: What hosts say that want their reasoning back, and whether this is what they say.
REFUSALS = {
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2": True,
    "messages[1].reasoning_content is required": True,
    "Missing `reasoning_content` field in the assistant message": True,
    "The `reasoning_content` in the thinking mode must be passed back to the API.": True,
    "The reasoning content in the thinking mode must be passed back to the API.": True,
    "unknown member reasoning_content": False,
    "tool_calls is required": False,
}
HISTORY = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "call_a", "type": "function", "function": {"name": "time", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "call_a", "content": "now"},
]


@each_row("profile", ["compatible", "openrouter", "groq", "deepseek"])
@each_row(("refusal", "wants"), REFUSALS.items())
def test_a_host_that_misses_reasoning_is_sent_it_once(refusal: str, wants: bool, profile: str) -> None:
    body = json.dumps({"error": {"message": refusal}}).encode()
    exchange = open_exchange(request(messages=HISTORY), profile=profile)
    assert (b'"reasoning_content":""' in exchange.upstream_request.body) == (profile == "deepseek")
    exchange.receive_head(400, {"content-type": "application/json"})
    exchange.receive_data(body)
    ended = exchange.receive_end()
    sent = json.loads(exchange.upstream_request.body)["messages"][1]
    assert (sent.get("reasoning_content") == " ", not ended) == (wants, wants)
    if wants:
        assert answer(exchange, [body], status=400).status == 400
        assert "reasoning_added" in exchange.figures.warnings


ASKED = {"role": "user", "content": "hi"}
SAID = {"role": "assistant", "content": "so"}
RULES = {"role": "system", "content": "Rules."}
TURN = HISTORY[1]
RESULT = HISTORY[2]


#: A refusal of the order of turns, as hosts word it; the history; the one that is sent in its place.
ORDERS: list[tuple[int, str, list[Any], list[Any]]] = [
    (400, "Unexpected role 'user' after role 'tool'", [ASKED, TURN, RESULT, ASKED],
     [ASKED, TURN, RESULT, {"role": "assistant", "content": "OK."}, ASKED]),
    (400, "Conversation roles must alternate user/assistant/user/assistant/...", [RULES, RULES, ASKED, ASKED, SAID],
     [{"role": "system", "content": "Rules.\nRules."}, {"role": "user", "content": "hi\nhi"}, SAID,
      {"role": "user", "content": "Continue."}]),
    (500, "Jinja Exception: System message must be at the beginning.", [ASKED, SAID, SAID, RULES, ASKED],
     [ASKED, {"role": "assistant", "content": "so\n\nso"},
      {"role": "user", "content": "<system>\nRules.\n</system>\nhi"}]),
    (400, "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
     [ASKED, SAID], [ASKED, SAID, {"role": "user", "content": "Continue."}]),
    (422, "Unexpected role 'system' after role 'tool'", [ASKED, TURN, RESULT, RULES],
     [ASKED, TURN, RESULT, {"role": "assistant", "content": "OK."},
      {"role": "user", "content": "<system>\nRules.\n</system>"}]),
]  # fmt: skip


def refused(exchange: Any, status: int, message: str, **more: str) -> bool:
    """Whether a refusal ends the exchange; else another request is to be sent."""
    exchange.receive_head(status, {"content-type": "application/json"})
    exchange.receive_data(json.dumps({"error": {"message": message, **more}}).encode())
    return bool(exchange.receive_end())


@each_row("profile", ["compatible", "mistral", "ollama"])
@each_row(("status", "refusal", "history", "wanted"), ORDERS)
def test_a_host_that_refuses_the_order_of_turns_is_sent_them_by_turns(
    status: int, refusal: str, history: list[Any], wanted: list[Any], profile: str
) -> None:
    exchange = open_exchange(request(messages=history), profile=profile)
    assert not refused(exchange, status, refusal)
    sent = json.loads(exchange.upstream_request.body)["messages"]
    for message in sent:  # some hosts have ids of their own
        message.update({"tool_call_id": "call_a"} if "tool_call_id" in message else {})
        message.pop("content") if message.get("content", "") is None else None
        for call in message.get("tool_calls", ()):
            call["id"] = "call_a"
    assert sent == wanted
    assert "turns_rearranged" in exchange.figures.warnings
    assert refused(exchange, status, refusal)


#: Refusals of a history that ends with the assistant, as hosts word them.
ENDS = [
    "This model does not support assistant message prefill. The conversation must end with a user message.",
    "Requests ending with a model turn are not supported.",
    "Please ensure that multiturn requests ends with a user role or a function response.",
    "Prefilling assistant messages is not supported for this model.",
]


@each_row("profile", ["compatible", "openrouter", "gemini-compat"])
@each_row("refusal", ENDS)
def test_a_host_whose_model_does_not_go_on_with_its_own_text_is_sent_a_user_last(refusal: str, profile: str) -> None:
    exchange = open_exchange(request(messages=[ASKED, SAID]), profile=profile)
    assert json.loads(exchange.upstream_request.body)["messages"] == [ASKED, SAID], "a host decides in its lane"
    assert not refused(exchange, 400, refusal)
    sent = json.loads(exchange.upstream_request.body)["messages"]
    assert sent == [ASKED, SAID, {"role": "user", "content": "Continue."}]
    assert "user_turn_added" in exchange.figures.warnings
    assert refused(exchange, 400, refusal)
    again = open_exchange(request(messages=[ASKED]), profile=profile)
    assert refused(again, 400, refusal), "the same request would be refused again"


BESIDE = (
    "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function "
    "tools, use /v1/responses or set reasoning_effort to 'none'."
)


@each_row("given", [{}, {"reasoning_effort": "high"}])
@each_row("profile", ["compatible", "azure"])
def test_a_host_that_takes_no_tools_beside_reasoning_is_asked_for_none(profile: str, given: dict[str, Any]) -> None:
    tools = [{"type": "function", "function": {"name": "time", "parameters": {"type": "object", "properties": {}}}}]
    exchange = open_exchange(request(messages=[ASKED], tools=tools, **given), profile=profile, model="gpt-5.6")
    assert json.loads(exchange.upstream_request.body).get("reasoning_effort") == given.get("reasoning_effort")
    assert not refused(exchange, 400, BESIDE, param="reasoning_effort")
    sent = json.loads(exchange.upstream_request.body)
    assert (sent["reasoning_effort"], sent["tools"]) == ("none", tools)
    assert exchange.upstream_request.body.count(b"reasoning_effort") == 1
    assert "reasoning_turned_off" in exchange.figures.warnings
    assert refused(exchange, 400, BESIDE, param="reasoning_effort")
    plain = open_exchange(request(messages=[ASKED], tools=None, **given), profile=profile, model="gpt-5.6")
    assert refused(plain, 400, BESIDE), "a request without tools is not changed"


SECRET = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
#: What Codex sends in its second turn: every item has the id that it came with.
ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    SECRET,
    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"n":1.10}'},
    {"type": "function_call_output", "id": "fco_1", "call_id": "call_1", "output": "x"},
]
UNKEPT = [
    "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set "
    "to true, or remove this item from your input.",
    "Item with id 'msg_1' not found.",
    "The encrypted content for item rs_1 could not be verified: encrypted content item_id did not match.",
]


@each_row("refusal", UNKEPT)
@each_row(
    ("last", "warned"),
    [([], []), ([{"type": "reasoning", "id": "rs_2", "summary": []}], ["state_missing"])],
)
def test_a_host_that_keeps_no_items_is_sent_them_without_their_ids(
    last: list[Any], warned: list[str], refusal: str
) -> None:
    body = json.dumps({"model": "m", "input": [*ITEMS, *last]}).encode()
    exchange = open_exchange(body, door="responses", wire="openai_responses", profile="azure")
    assert json.loads(exchange.upstream_request.body)["input"] == [*ITEMS, *last]
    assert not refused(exchange, 400, refusal)
    sent = exchange.upstream_request.body
    bare = [item if item.get("id") == "ws_1" else {k: v for k, v in item.items() if k != "id"} for item in ITEMS]
    assert json.loads(sent)["input"] == bare
    assert b'{\\"n\\":1.10}' in sent
    assert [code for code in exchange.figures.warnings if code == "state_missing"] == warned
    again = refused(exchange, 400, refusal)
    assert again or "encrypted" in refusal, "it is sent once more; then without its state, which that one is about"


MORE = {"role": "assistant", "content": "so", "reasoning_content": "hm", "annotations": [{"a": 1}]}


@each_row(
    ("refusal", "wants"),
    [
        ("'messages.1' : for 'role:assistant' the following must be satisfied"
         "[('messages.1' : property 'reasoning_content' is unsupported)]", True),
        ("Extra inputs are not permitted", True),
        ("Unknown parameter: 'messages[1].annotations'.", True),
        ("messages[1].reasoning: reasoning is not supported with this model", True),
        ("the model is not supported here", False),
        ("context length exceeded", False),
    ],
)  # fmt: skip
@each_row("status", [400, 422])
def test_a_host_that_refuses_members_of_messages_is_sent_none(status: int, refusal: str, wants: bool) -> None:
    exchange = open_exchange(request(messages=[ASKED, MORE, ASKED]))
    assert refused(exchange, status, refusal) == (not wants)
    sent = json.loads(exchange.upstream_request.body)["messages"][1]
    assert sent == (SAID if wants else MORE)
    assert ("members_refused" in exchange.figures.warnings) == wants
    again = open_exchange(request(messages=[ASKED, SAID, ASKED]))
    assert refused(again, status, refusal)


#: A refusal of a setting as hosts word it, and the setting.
SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"message": "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is "
      "supported.", "param": "temperature", "code": "unsupported_value"}, "temperature"),
    ({"message": "invalid temperature: only 1 is allowed for this model"}, "temperature"),
    ({"message": "Unsupported parameter: 'stop' is not supported with this model."}, "stop"),
    ({"message": "Model grok-4-0709 does not support parameter topP."}, "top_p"),
    ({"message": "reasoning_effort is not supported by this model"}, "reasoning_effort"),
    ({"message": "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."},
     "parallel_tool_calls"),
    ({"message": "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not "
      "permitted'}]"}, "stream_options"),
]  # fmt: skip
SET = {
    "max_tokens": 99, "stream": True, "temperature": 0.2, "top_p": 0.5, "stop_sequences": ["x"],
    "output_config": {"effort": "low"}, "tools": [{"name": "time", "input_schema": {"type": "object"}}],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
}  # fmt: skip


@each_row(("error", "setting"), SETTINGS)
@each_row("status", [400, 422])
def test_a_host_that_refuses_a_setting_is_sent_none(status: int, error: dict[str, Any], setting: str) -> None:
    body = json.dumps({"model": "m", "messages": [ASKED], **SET}).encode()
    exchange = open_exchange(body, door="messages")
    before = json.loads(exchange.upstream_request.body)
    assert not refused(exchange, status, **error)
    sent = json.loads(exchange.upstream_request.body)
    assert sent == {name: value for name, value in before.items() if name != setting}
    assert (f"not_supported:{setting}" in exchange.figures.warnings) == (setting != "stream_options")
    assert refused(exchange, status, **error)


#: Profile, model, effort asked for, and what the host says of the member that tells it.
THINKING: list[tuple[str, str, str, str]] = [
    ("dashscope", "qwen-new", "none", "The value of the enable_thinking parameter is restricted to True."),
    ("dashscope", "qwen-vl", "high", "parameter.enable_thinking must be set to false for non-streaming calls"),
    ("dashscope", "qwen-vl", "low", "<400> InvalidParameter: Unexpected parameter thinking_budget"),
    ("minimax", "MiniMax-M3", "none", "invalid params, this model requires adaptive thinking (2013)"),
    ("moonshot", "kimi-new", "none", "invalid thinking: only type=enabled is allowed for this model"),
    ("nvidia", "z-ai/glm9", "none", "chat_template_kwargs: Extra inputs are not permitted"),
    ("openrouter", "a/b", "none", "Reasoning is mandatory for this endpoint and cannot be disabled."),
    ("together", "zai-org/GLM-5.1", "none", "reasoning cannot be turned off: not supported for this model"),
]


@each_row(("profile", "model", "effort", "message"), THINKING)
@each_row("door", ["chat_completions", "messages"])
def test_a_host_that_refuses_its_member_for_reasoning_is_sent_none(
    profile: str, model: str, effort: str, message: str, door: str
) -> None:
    asked = {"thinking": {"type": "disabled"}} if effort == "none" else {"output_config": {"effort": effort}}
    told = {"reasoning_effort": effort} if door == "chat_completions" else {**asked, "max_tokens": 99}
    body = json.dumps({"model": model, "messages": [ASKED], **told}).encode()
    exchange = open_exchange(body, door=door, wire="openai_chat", profile=profile, model=model)
    before = json.loads(exchange.upstream_request.body)
    assert not refused(exchange, 400, message)
    sent = json.loads(exchange.upstream_request.body)
    limit = {"max_tokens", "max_completion_tokens", "reasoning_split"}
    assert sent.keys() - limit == {"model", "messages"} < before.keys()
    assert list(exchange.figures.warnings) == ["not_supported:reasoning_effort"]
    assert refused(exchange, 400, message)


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'stop': array too long. Expected an array with maximum length 2, but got an array with length 3.",
        "stop accepts up to 2 sequences; more are not supported",
    ],
)
def test_a_host_that_takes_fewer_stop_sequences_is_sent_as_many(message: str) -> None:
    body = json.dumps({"model": "m", "messages": [ASKED], **SET, "stop_sequences": ["a", "b", "c"]}).encode()
    exchange = open_exchange(body, door="messages")
    assert not refused(exchange, 400, message, param="stop")
    assert json.loads(exchange.upstream_request.body)["stop"] == ["a", "b"]
    assert "stop_cut:stop_sequences" in exchange.figures.warnings
    assert refused(exchange, 400, message)


def test_several_refusals_are_learned_from_one_after_the_other() -> None:
    body = json.dumps({"model": "m", "messages": [ASKED, ASKED], **SET}).encode()
    exchange = open_exchange(body, door="messages")
    for error in (SETTINGS[0][0], ORDERS[1][1], SETTINGS[2][0], SETTINGS[3][0]):
        assert not refused(exchange, 400, **(error if isinstance(error, dict) else {"message": error}))
    sent = json.loads(exchange.upstream_request.body)
    assert sent.keys().isdisjoint({"temperature", "stop", "top_p"})
    assert sent["messages"] == [{"role": "user", "content": "hi\nhi"}]
    assert refused(exchange, 400, **SETTINGS[0][0])


def test_a_host_that_knows_the_newer_name_of_the_limit_alone_is_sent_that() -> None:
    body = json.dumps({"model": "m", "messages": [ASKED], "max_tokens": 99}).encode()
    exchange = open_exchange(body, door="messages")
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    assert not refused(exchange, 400, message, param="max_tokens", code="unsupported_parameter")
    sent = json.loads(exchange.upstream_request.body)
    assert (sent.get("max_tokens"), sent["max_completion_tokens"]) == (None, 99)


@pytest.mark.parametrize(("error", "setting"), [row for row in SETTINGS if row[1] != "stream_options"])
def test_the_settings_of_a_client_of_the_hosts_own_api_are_between_the_two(error: dict[str, Any], setting: str) -> None:
    exchange = open_exchange(request(messages=[ASKED], temperature=0.2, top_p=0.5, stop="x", reasoning_effort="low",
                                     parallel_tool_calls=False))  # fmt: skip
    assert refused(exchange, 400, **error)


#: What hosts say of a tool choice while their models think -> what switches thinking off there.
CHOICES: list[tuple[str, dict[str, Any]]] = [
    ("Thinking mode does not support this tool_choice", {"thinking": {"type": "disabled"}}),
    ("deepseek-reasoner does not support this tool_choice", {"thinking": {"type": "disabled"}}),
    ("tool_choice 'required' is incompatible with thinking enabled", {"thinking": {"type": "disabled"}}),
    ("tool_choice 'specified' is incompatible with thinking enabled", {"thinking": {"type": "disabled"}}),
    ("<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or "
     "object in thinking mode", {"enable_thinking": False}),
]  # fmt: skip
_PING = {"type": "function", "function": {"name": "ping"}}
_NAMED = {"type": "function", "function": {"name": "ping"}}
#: A client's request that forces a call -> its door.
FORCED: list[tuple[str, dict[str, Any]]] = [
    ("chat_completions",
     {"messages": [ASKED], "tools": [_PING], "tool_choice": "required", "reasoning_effort": "high"}),
    ("chat_completions",
     {"messages": [ASKED], "tools": [_PING], "tool_choice": _NAMED, "thinking": {"type": "enabled"}}),
    ("chat_completions", {"messages": [ASKED], "tools": [_PING], "tool_choice": _NAMED, "enable_thinking": True}),
    ("responses", {"input": "hi", "tools": [{"type": "function", "name": "ping"}], "tool_choice": "required",
                   "reasoning": {"effort": "low"}}),
    ("messages", {"max_tokens": 5000, "messages": [ASKED], "tools": [{"name": "ping", "input_schema": {
        "type": "object"}}], "tool_choice": {"type": "any"}, "thinking": {"type": "enabled", "budget_tokens": 1024}}),
]  # fmt: skip


@each_row(("door", "fields"), FORCED)
@each_row(("message", "off"), CHOICES)
def test_a_forced_call_comes_before_thinking(
    message: str, off: dict[str, Any], door: str, fields: dict[str, Any]
) -> None:
    exchange = open_exchange(json.dumps({"model": "m", **fields}).encode(), door=door)
    before = json.loads(exchange.upstream_request.body)
    assert before["tool_choice"] != "auto"
    assert not refused(exchange, 400, message)
    sent = json.loads(exchange.upstream_request.body)
    asked = {"thinking", "enable_thinking", "reasoning_effort"}
    assert sent == {name: value for name, value in before.items() if name not in asked} | off
    assert "reasoning_turned_off" in exchange.figures.warnings
    assert refused(exchange, 400, message), "it is sent once more, not again and again"


def test_a_choice_that_says_nothing_is_left_out() -> None:
    exchange = open_exchange(request(messages=[ASKED], tools=[_PING], tool_choice="auto", reasoning_effort="high"))
    before = json.loads(exchange.upstream_request.body)
    assert not refused(exchange, 400, CHOICES[1][0])
    sent = json.loads(exchange.upstream_request.body)
    assert sent == {name: value for name, value in before.items() if name != "tool_choice"}


PAGES = [b"<!doctype html><title>Sign in</title>", b"\n  <html><body>404</body></html>"]


@each_row("streamed", [True, False])
@each_row("kind", ["text/html; charset=utf-8", "application/json", "text/event-stream"])
@each_row("page", PAGES)
@each_row("wire", ["openai_chat", "anthropic_messages", "gemini", "openai_responses"])
def test_a_web_page_is_no_answer(wire: str, page: bytes, kind: str, streamed: bool) -> None:
    """A wrong base URL, or a login in front of the host, answers 200."""
    exchange = open_exchange(request(stream=streamed), wire=wire, profile=None)
    told = answer(exchange, [page], content_type=kind)
    assert told.status == 502
    assert "web page" in json.loads(told.body)["error"]["message"]


CHAT_PICTURE = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "https://host.test/a.png"}}]
BLOCK = {"type": "new_block", "data": "x"}
ITEM = {"type": "new_call", "id": "n_1", "status": "completed", "data": "x"}
PART = {"newPart": {"data": "x"}}
#: A wire, an answer with a part that only its own API knows (streamed, and as a document), the kind of the part.
FOREIGN: dict[str, tuple[bytes, bytes, str]] = {
    "openai_chat": (stream(ROLE, text(CHAT_PICTURE), STOP, TOTAL), whole({"content": CHAT_PICTURE}), "image_url"),
    "anthropic_messages": (
        messages.stream(
            messages.start(), {"type": "content_block_start", "index": 0, "content_block": BLOCK}, messages.end(0),
            messages.finish("end_turn"), messages.STOP,
        ),
        json.dumps(messages.start()["message"] | {"content": [BLOCK], "stop_reason": "end_turn"}).encode(),
        "new_block",
    ),
    "openai_responses": (
        responses.stream(
            responses.created(), responses.done(0, ITEM),
            responses.event("completed", response=responses.response("completed", [ITEM])),
        ),
        json.dumps(responses.response("completed", [ITEM])).encode(),
        "new_call",
    ),
    "gemini": (
        gemini.stream(gemini.chunk(PART, finish="STOP")), json.dumps(gemini.chunk(PART, finish="STOP")).encode(),
        "newPart",
    ),
}  # fmt: skip
#: The door whose client knows all parts of a wire.
OWN = {"anthropic_messages": "messages", "openai_responses": "responses", "gemini": "gemini"}


@each_row("streamed", [True, False])
@each_row("door", every_door.REQUESTS)
@each_row("wire", FOREIGN)
def test_what_an_api_cannot_show_is_told(wire: str, door: str, streamed: bool) -> None:
    events, document, kind = FOREIGN[wire]
    said = every_door.asked(door, events if streamed else document, streamed=streamed, wire=wire)
    told = said.body.decode() + said.headers.get("x-toolwire-warnings", "")
    shown = door in ("native", OWN.get(wire)) and wire != "openai_chat"
    assert (f"answer_part_left_out:{kind}" in told) == (not shown)
    assert not shown or kind in said.body.decode()


@pytest.mark.parametrize("word", ["MALFORMED_FUNCTION_CALL", "malformed_function_call"])
def test_a_call_that_the_model_spoilt_is_no_clean_stop(word: str) -> None:
    """A proxy says `stop`, and what its host said beside it."""
    spoilt = json.loads(json.dumps(STOP))
    spoilt["choices"][0]["native_finish_reason"] = word
    told = ask(stream(ROLE, spoilt, TOTAL))
    assert b"upstream_malformed_function_call" in told.body
    plain = json.loads(json.dumps(STOP))
    plain["choices"][0]["native_finish_reason"] = "STOP"
    assert b"error" not in ask(stream(ROLE, text("Hi"), plain, TOTAL)).body
