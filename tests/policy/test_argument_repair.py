"""Arguments that are repaired where a request asks for it: only what is valid then, and nothing else in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.driver import answer, open_exchange
from tests.matrix.anthropic_host import anthropic
from tests.matrix.chat_hosts import compatible
from tests.matrix.scenarios import Call, Scenario
from tests.named_rows import each_row
from tests.providers.every_door import REQUESTS, calls_in
from toolwire.doors import DOORS
from toolwire.model.settings import Tenant
from toolwire.policy.argument_repair import repaired
from toolwire.policy.arguments import find_faults

PROPERTIES = {
    "n": {"type": "integer"}, "x": {"type": "number"}, "yes": {"type": "boolean"}, "none": {"type": "null"},
    "list": {"type": "array", "items": {"type": "integer"}},
    "of": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "text": {"type": "string"}, "either": {"anyOf": [{"type": "integer"}, {"type": "array"}]},
    "a/b~c": {"type": "integer"},
}  # fmt: skip
SCHEMA = json.dumps({"type": "object", "properties": PROPERTIES, "additionalProperties": False}).encode()

#: (what the model wrote, what the client is shown; None: as it was written)
ROWS: list[tuple[str, str | None]] = [
    ('{"n": "5"}', '{"n": 5}'),
    ('{"n" :"5" , "x":"1.10"}', '{"n" :5 , "x":1.10}'),
    ('{"x": "9007199254740993123.50"}', '{"x": 9007199254740993123.50}'),
    ('{"yes": "true", "none": "null"}', '{"yes": true, "none": null}'),
    ('{"list": "[1, 2]"}', '{"list": [1, 2]}'),
    ('{"list": ["1", 2, "3"]}', '{"list": [1, 2, 3]}'),
    ('{"of": "{\\"n\\": 1}"}', '{"of": {"n": 1}}'),
    ('{"of": "{\\"n\\": \\"1\\"}"}', '{"of": {"n": 1}}'),
    ('{"of": {"n": " 7 "}}', '{"of": {"n": 7}}'),
    ('{"either": "3"}', '{"either": 3}'),
    ('{"a/b~c": "3"}', '{"a/b~c": 3}'),
    ('{"n": 1, "n": "5"}', '{"n": 1, "n": 5}'),
    ('```json\n{"n": 5}\n```', '{"n": 5}'),
    ('```\n{"n": "5"}```', '{"n": 5}'),
    # valid, or no fault of these kinds
    ('{"n": 5, "text": "5"}', None),
    ('{"n": "five"}', None),
    ('{"n": "5.5"}', None),
    ('{"n": ""}', None),
    ('{"n": "\\"5\\""}', None),
    ('{"list": 5}', None),
    ('{"text": 5}', None),
    ('{"n": "5", "other": 1}', None),
    ('{"n": "5"', None),
    ("```json\nno\n```", None),
    ("", None),
    ('["5"]', None),
]


@each_row(("written", "shown"), ROWS)
def test_what_is_repaired(written: str, shown: str | None) -> None:
    assert repaired(written, SCHEMA) == shown
    assert shown is None or find_faults(shown, SCHEMA) == []


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('5[]{}"\\ a,:', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PROPERTIES, "z"]), inner, max_size=3),
    max_leaves=6,
)


@given(values)
def test_what_comes_out_is_valid_and_what_was_valid_stays(value: Any) -> None:
    text = json.dumps(value)
    found = repaired(text, SCHEMA)
    if found is not None:
        assert find_faults(text, SCHEMA)
        assert not find_faults(found, SCHEMA)


# ---------------------------------------------------------------- in an answer

_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}}
_BROKEN, _GOOD = Call("weather", ('{"city": "Bern", ', '"n": "', '5"}')), Call("weather", ('{"city":"Os', 'lo"}'))


def asked(
    door: str,
    wire: str,
    calls: tuple[Call, ...],
    *,
    stream: bool,
    repair: str | None = "on",
    tenant: Tenant | None = None,
) -> tuple[Any, bytes]:
    """The codes of warnings, and the answer's body."""
    plain = '{"type": "object", "properties": {"city": {"type": "string"}}}'
    members = json.loads(json.dumps(REQUESTS[door]).replace(plain, json.dumps(_SCHEMA)))
    body = json.dumps({"model": "m", "stream": stream, **members}).encode()
    headers = {} if repair is None else {"x-toolwire-repair-arguments": repair}
    exchange = open_exchange(body, door=door, wire=wire, headers=headers, tenant=tenant)
    host = {"anthropic_messages": anthropic, "openai_chat": compatible}[wire]
    reply = host(Scenario("x", "x", calls, "tool_calls"), stream)
    pieces = [reply.body[at : at + 7] for at in range(0, len(reply.body), 7)] if stream else [reply.body]
    found = answer(exchange, pieces, content_type=reply.content_type)
    return [code for code in exchange.figures.warnings if "repaired" in code], found.body


@each_row("stream", [True, False])
@each_row("wire", ["anthropic_messages", "openai_chat"])
@each_row("door", DOORS)
def test_a_client_is_shown_the_repaired_call_and_told(door: str, wire: str, stream: bool) -> None:
    warnings, body = asked(door, wire, (_BROKEN, _GOOD), stream=stream)
    assert warnings == ["tool_arguments_repaired:weather"]
    heard = [json.loads(arguments) for _, arguments in calls_in(door, body, streamed=stream)]
    assert heard == [{"city": "Bern", "n": 5}, {"city": "Oslo"}]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("door", "wire"),
    [("messages", "anthropic_messages"), ("chat_completions", "openai_chat"), ("responses", "openai_chat")],
)
def test_what_needs_no_repair_is_as_without_the_option(door: str, wire: str, stream: bool) -> None:
    with_option, without = (asked(door, wire, (_GOOD,), stream=stream, repair=word) for word in ("on", "off"))
    assert with_option == without
    assert with_option[0] == []
    assert asked(door, wire, (_BROKEN,), stream=stream, repair="off")[0] == []


@pytest.mark.parametrize(("asks", "repairs"), [(None, True), ("on", True), ("off", False)])
def test_a_tenant_has_it_for_requests_that_do_not_say(asks: str | None, repairs: bool) -> None:
    tenant = Tenant(repair_arguments=True)
    warnings, _ = asked("chat_completions", "openai_chat", (_BROKEN,), stream=True, repair=asks, tenant=tenant)
    assert warnings == (["tool_arguments_repaired:weather"] if repairs else [])
