"""The policy over every registered door, streamed and not: the same request and the same answer of the model, and what
the client of each door is told. A door that is added is covered by its row in `door_clients.CLIENTS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.corpus.driver import answer, open_exchange
from tests.policy.door_clients import CLIENTS, Seen, frames
from tests.providers.chat_upstream import CALLS, ROLE, STOP, fragment, opening, stream, text, whole
from toolwire.doors import DOORS
from toolwire.model.errors import RequestError
from toolwire.model.limits import PRESET_2API, PRESET_AGENTS
from toolwire.model.settings import Tenant

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: dict[str, Any] = {"name": "weather", "parameters": CITY}
TOOLS: list[dict[str, Any]] = [WEATHER, {"name": "time"}]
DEEP = {"type": "object", "properties": {"a": CITY}}
BROKEN = {"type": "object", "required": 3}
VALID, INVALID, MALFORMED = '{"city":"Rome"}', '{"city":1}', '{"city":'

#: A tenant whose doors all have the same limits and say the same of an answer, so that a row holds for each.
PLAIN = Tenant(limits=PRESET_AGENTS, native_limits=PRESET_AGENTS, tool_choice_not_honored="warn")
TINY = replace(PRESET_AGENTS, calls=1, arguments_bytes=20, tools=2, schema_depth=2, description_chars=10)


@dataclass(frozen=True)
class Case:
    """What is asked, what the model says, and what comes of it. `error` is the answer's; `refused` the request's."""

    name: str
    tenant: Tenant = PLAIN
    tools: tuple[dict[str, Any], ...] = tuple(TOOLS)
    choice: str | None = None
    parallel: bool | None = None
    validate: str | None = None
    said: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    error: str | None = None
    refused: str | None = None
    #: Calls that the client sees of a whole answer, when not all.
    shown: int | None = None
    warnings: tuple[str, ...] = ()


def tenant(**settings: Any) -> Tenant:
    return replace(PLAIN, **settings)


def limited(**settings: Any) -> Tenant:
    return tenant(limits=TINY, native_limits=TINY, **settings)


ERROR = tenant(tool_choice_not_honored="error")
FINE, WRONG = (("weather", VALID),), (("weather", INVALID),)
LONG, OTHER = (("weather", '{"city":"Constantinople"}'),), (("time", "{}"),)
UNKNOWN, TWO = (("nope", "{}"),), FINE + OTHER
WARNING = tenant(allowlist=("weather",), allowlist_mode="warn")

CASES = [
    Case("nothing to say", said="hi", calls=FINE),
    # limits
    Case("too many calls", limited(), calls=TWO, error="too_many_tool_calls"),
    Case("arguments too large", limited(), calls=LONG, error="tool_arguments_too_large"),
    Case("as many as allowed", limited(), calls=FINE),
    Case("too many tools", limited(), (*TOOLS, {"name": "more"}), refused="too_many_tools"),
    Case("description", limited(), ({"name": "f", "description": "x" * 11},), refused="tool_description_too_long"),
    Case("depth", limited(), ({"name": "f", "parameters": DEEP},), refused="tool_schema_too_complex"),
    Case("schema", PLAIN, ({"name": "f", "parameters": BROKEN},), refused="invalid_function_parameters"),
    Case("names", PLAIN, (WEATHER, WEATHER), refused="duplicate_tool_name"),
    Case("choice", choice="nope", refused="unknown_tool_choice"),
    # the allowlist
    Case("declared and not allowed", tenant(allowlist=("weather",)), refused="tool_not_allowed"),
    Case("declared and allowed", tenant(allowlist=("weather", "time")), calls=FINE),
    Case("declared, warned of", WARNING, calls=FINE, warnings=("tool_not_allowed:time",)),
    Case("list is off", tenant(allowlist=("x",), allowlist_mode="off"), calls=FINE),
    Case("called and not allowed", tenant(allowlist=("weather", "time")), calls=UNKNOWN, error="tool_not_allowed"),
    # arguments
    Case("off: invalid", calls=WRONG),
    Case("off: unknown", calls=UNKNOWN),
    Case("annotate: valid", validate="annotate", calls=TWO),
    Case("annotate: invalid", validate="annotate", calls=WRONG, warnings=("invalid_tool_arguments:weather",)),
    Case("annotate: unknown", validate="annotate", calls=UNKNOWN, warnings=("unknown_tool_call:nope",)),
    Case("reject: valid", validate="reject", said="hi", calls=TWO),
    Case("reject: invalid", validate="reject", said="hi", calls=WRONG, error="invalid_tool_arguments"),
    Case("reject: second is invalid", validate="reject", calls=FINE + WRONG, error="invalid_tool_arguments"),
    Case("reject: malformed", validate="reject", calls=(("weather", MALFORMED),), error="malformed_tool_arguments"),
    Case("reject: unknown", validate="reject", calls=UNKNOWN, error="unknown_tool_call"),
    Case("reject by tenant", tenant(validate_tool_arguments="reject"), calls=WRONG, error="invalid_tool_arguments"),
    Case("off by request", tenant(validate_tool_arguments="reject"), validate="off", calls=WRONG),
    # tool_choice
    Case("required, kept", ERROR, choice="required", calls=FINE),
    Case("required, not kept", ERROR, choice="required", said="hi", error="tool_choice_not_honored"),
    Case("required, warned of", choice="required", said="hi", warnings=("tool_choice_not_honored",)),
    Case("named, not kept", ERROR, choice="weather", said="hi", calls=OTHER, error="tool_choice_not_honored"),
    Case("named, warned of", choice="weather", calls=OTHER, warnings=("tool_choice_not_honored",)),
    Case("none, not kept", ERROR, choice="none", said="hi", calls=FINE, error="tool_choice_not_honored"),
    Case("none, withheld", choice="none", said="hi", calls=FINE, shown=0, warnings=("tool_choice_not_honored",)),
    Case("none, nothing left", choice="none", calls=FINE, error="tool_choice_not_honored"),
    Case("one at a time", parallel=False, calls=TWO, warnings=("parallel_calls_returned",)),
]  # fmt: skip


def test_every_door_is_covered() -> None:
    assert set(CLIENTS) == set(DOORS)


def upstream(case: Case, streamed: bool) -> bytes:
    if not streamed:
        calls = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(case.calls)
        ]
        message = {"content": case.said or None, **({"tool_calls": calls} if calls else {})}
        return whole(message, "tool_calls" if calls else "stop")
    chunks = [ROLE, *([text(case.said)] if case.said else [])]
    for n, (name, arguments) in enumerate(case.calls):
        chunks += [opening(n, f"call_{n}", name), fragment(n, arguments[:4]), fragment(n, arguments[4:])]
    return stream(*chunks, CALLS if case.calls else STOP)


def run(case: Case, door: str, streamed: bool) -> Seen:
    client = CLIENTS[door]
    body = json.dumps(client.body(list(case.tools), case.choice, case.parallel, streamed)).encode()
    headers = {"x-toolwire-validate-tool-arguments": case.validate} if case.validate else {}
    exchange = open_exchange(body, door=door, headers=headers, tenant=case.tenant)
    sent = json.loads(exchange.upstream_request.body)
    assert "x-toolwire" not in str(exchange.upstream_request.headers)
    assert len(sent["tools"]) == len(case.tools)
    kind = "text/event-stream" if streamed else "application/json"
    return client.read(answer(exchange, [upstream(case, streamed)], content_type=kind))


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", [case for case in CASES if not case.refused], ids=lambda case: case.name)
def test_answers(case: Case, door: str, streamed: bool) -> None:
    seen = run(case, door, streamed)

    assert seen.error == case.error
    assert seen.complete == (case.error is None)
    if case.error is None:
        shown = case.calls if case.shown is None else case.calls[: case.shown]
        assert (seen.text, seen.calls) == (case.said, list(shown))
        # The native door also says of every answer with calls that they are the client's to execute.
        told = {code.partition(":")[0] for code in seen.warnings} - {"contains_tool_calls"}
        assert told == {code.partition(":")[0] for code in case.warnings}
        return
    assert seen.status == (200 if streamed and seen.text else seen.status)
    assert streamed or seen.status == 502
    assert seen.text in ("", case.said)
    # No call that was refused is ever complete: what a client has of it is cut, or nothing.
    assert case.validate != "reject" or seen.calls == []


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", [case for case in CASES if case.refused], ids=lambda case: case.name)
def test_requests(case: Case, door: str) -> None:
    body = json.dumps(CLIENTS[door].body(list(case.tools), case.choice, case.parallel, True)).encode()
    with pytest.raises(RequestError) as caught:
        open_exchange(body, door=door, tenant=case.tenant)
    assert (caught.value.status, caught.value.code) == (400, case.refused)
    assert caught.value.param


@pytest.mark.parametrize("door", DOORS)
def test_what_is_allowed_without_configuration(door: str) -> None:
    """The native door has the preset `2api`, the others `agents`."""
    limits = PRESET_2API if door == "native" else PRESET_AGENTS
    long = [{"name": "f", "description": "x" * (limits.description_chars + 1)}]
    fits = [{"name": "f", "description": "x" * limits.description_chars}]
    open_exchange(json.dumps(CLIENTS[door].body(fits, None, None, True)).encode(), door=door)
    with pytest.raises(RequestError, match=f"at most {limits.description_chars} "):
        open_exchange(json.dumps(CLIENTS[door].body(long, None, None, True)).encode(), door=door)


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("door", DOORS)
def test_a_choice_that_is_not_kept_without_configuration(door: str, streamed: bool) -> None:
    seen = run(Case("", Tenant(), choice="required", said="hi"), door, streamed)
    assert seen.error == ("tool_choice_not_honored" if door == "native" else None)
    assert streamed is False or seen.text == "hi", "what was said stays"


#: The Messages API says nothing of parallel calls but to forbid them.
@pytest.mark.parametrize("door", [door for door in DOORS if door != "messages"])
def test_strict_beside_parallel(door: str) -> None:
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    tools = [{"name": "f", "parameters": closed, "strict": True}]
    body = json.dumps(CLIENTS[door].body(tools, None, True, True)).encode()
    assert "strict_with_parallel" in open_exchange(body, door=door).summary.warnings
    with pytest.raises(RequestError) as caught:
        open_exchange(body, door=door, tenant=tenant(strict_parallel="reject"))
    assert caught.value.code == "strict_with_parallel"


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_the_native_door_says_where_a_fault_is(streamed: bool) -> None:
    body = json.dumps(CLIENTS["native"].body(list(TOOLS), None, None, streamed)).encode()
    headers = {"x-toolwire-validate-tool-arguments": "annotate"}
    exchange = open_exchange(body, door="native", headers=headers, tenant=PLAIN)
    kind = "text/event-stream" if streamed else "application/json"
    shown = answer(exchange, [upstream(Case("", calls=WRONG), streamed)], content_type=kind).body
    events = [data for _, data in frames(shown, [])] if streamed else json.loads(shown)["warnings"]
    (warning,) = (event for event in events if event.get("code") == "invalid_tool_arguments")
    assert (warning["path"], warning["expected"], warning["got"]) == ("/city", "a string", "an integer")
