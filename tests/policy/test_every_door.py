"""The policy over every registered door and every wire, streamed and not: the same request and the same answer of the
model, and what the client of each door is told. A door that is added is covered by its row in `door_clients.CLIENTS`, a
wire by its row in `host_answers.HOSTS`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.corpus.driver import Answer, answer, open_exchange, sent
from tests.named_rows import each_row
from tests.policy.door_clients import CLIENTS, Seen, frames
from tests.policy.host_answers import HAS_OBJECTS, HOSTS, content_type, says
from toolwire.doors import DOORS, load_door
from toolwire.exchange.actions import Send
from toolwire.model.errors import RequestError
from toolwire.model.limits import PRESET_2API, PRESET_AGENTS
from toolwire.model.settings import Tenant
from toolwire.providers import WIRES

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: dict[str, Any] = {"name": "weather", "parameters": CITY}
TOOLS: list[dict[str, Any]] = [WEATHER, {"name": "time"}]
DEEP = {"type": "object", "properties": {"a": CITY}}
BROKEN = {"type": "object", "required": 3}
VALID, INVALID, MALFORMED = '{"city":"Rome"}', '{"city":1}', '{"city":'

#: A tenant whose doors all have the same limits and say the same of an answer, so that a row holds for each.
PLAIN = Tenant(limits=PRESET_AGENTS, native_limits=PRESET_AGENTS, tool_choice_not_honored="warn")
REJECT = replace(PLAIN, schema_mode="reject")
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
    Case("schema", REJECT, ({"name": "f", "parameters": BROKEN},), refused="invalid_function_parameters"),
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


#: What the policy says of an answer; a wire may say more of the request.
OF_THE_POLICY = {case.partition(":")[0] for one in CASES for case in one.warnings}


def _answers(half: int) -> Iterator[Any]:
    """Half of the answers: each case at each door as each wire says it, streamed or not, where the wire can say it."""
    for (n, case), (m, wire), (k, door) in itertools.product(enumerate(CASES), enumerate(WIRES), enumerate(DOORS)):
        streamed = (n + m + k) % 2 == half
        if door == "gemini" and case.parallel is False:
            continue  # its API has no word for calls that are not to be parallel
        if not case.refused and says(wire, case.said, case.calls, streamed=streamed) is not None:
            mode = "streamed" if streamed else "whole"
            yield pytest.param(case, wire, door, streamed, id=f"{case.name}-{wire}-{door}-{mode}")


def test_every_door_and_wire_is_covered() -> None:
    assert set(CLIENTS) == set(DOORS)
    assert set(HOSTS) == set(WIRES)


@each_row("streamed", [True, False], ids=["streamed", "whole"])
@each_row("wire", WIRES)
def test_only_arguments_that_are_no_json_are_left_out(wire: str, streamed: bool) -> None:
    """And those only where the wire has objects for arguments: every other case is asked of every wire."""
    answers = [case for case in CASES if not case.refused]
    left_out = [case for case in answers if says(wire, case.said, case.calls, streamed=streamed) is None]
    malformed = [case for case in answers if MALFORMED in dict(case.calls).values()]

    assert left_out == (malformed if (wire, streamed) in HAS_OBJECTS else [])


def run(case: Case, door: str, streamed: bool, wire: str = "openai_chat", *, cut: bool = False) -> Seen:
    client = CLIENTS[door]
    body = json.dumps(client.body(list(case.tools), case.choice, case.parallel, streamed)).encode()
    headers = {"x-toolwire-validate-tool-arguments": case.validate} if case.validate else {}
    profile = "compatible" if wire == "openai_chat" else None
    exchange = open_exchange(body, door=door, headers=headers, tenant=case.tenant, wire=wire, profile=profile)
    assert "x-toolwire" not in str(exchange.upstream_request.headers)
    kind = content_type(wire, streamed=streamed)
    upstream = says(wire, case.said, case.calls, streamed=streamed, cut=cut)
    assert upstream is not None
    return client.read(answer(exchange, [upstream], content_type=kind))


def read(calls: Sequence[tuple[str, str]]) -> list[tuple[str, Any]]:
    """Calls with their arguments as values, where they are JSON."""
    found: list[tuple[str, Any]] = []
    for name, arguments in calls:
        try:
            found.append((name, json.loads(arguments)))
        except json.JSONDecodeError:
            found.append((name, arguments))
    return found


@each_row(("case", "wire", "door", "streamed"), _answers(0))
def test_answers(case: Case, wire: str, door: str, streamed: bool) -> None:
    judge_answer(run(case, door, streamed, wire), case, streamed)


@pytest.mark.integration
@each_row(("case", "wire", "door", "streamed"), _answers(1))
def test_the_other_half_of_the_answers(case: Case, wire: str, door: str, streamed: bool) -> None:
    judge_answer(run(case, door, streamed, wire), case, streamed)


def judge_answer(seen: Seen, case: Case, streamed: bool) -> None:
    assert seen.error == case.error
    assert seen.complete == (case.error is None)
    if case.error is None:
        shown = case.calls if case.shown is None else case.calls[: case.shown]
        assert (seen.text, read(seen.calls)) == (case.said, read(shown))
        told = {code.partition(":")[0] for code in seen.warnings} & OF_THE_POLICY
        assert told == {code.partition(":")[0] for code in case.warnings}
        return
    assert seen.status == (200 if streamed and seen.text else seen.status)
    assert streamed or seen.status == 502
    assert seen.text in ("", case.said)
    # No call that was refused is ever complete: what a client has of it is cut, or nothing.
    assert case.validate != "reject" or WRONG[0] not in seen.calls
    assert case.error != "tool_arguments_too_large" or LONG[0] not in seen.calls


#: One call that is whole, and one that the output limit cut.
CUT = (*FINE, ("weather", MALFORMED))


@each_row("validate", ["off", "annotate", "reject"])
@each_row(
    ("wire", "streamed"),
    [(w, s) for w in WIRES for s in (True, False) if (w, s) not in HAS_OBJECTS],
)
@each_row("door", DOORS)
def test_an_answer_that_the_output_limit_cut(door: str, wire: str, streamed: bool, validate: str) -> None:
    """Its reason is told at every door, whatever is validated; `reject` does not show the call."""
    seen = run(Case("", validate=validate, said="hi", calls=CUT), door, streamed, wire, cut=True)

    assert (seen.error, seen.complete, seen.cut, seen.text) == (None, True, True, "hi")
    if door == "gemini" and validate != "reject":  # it has no place for what is no object: the call is named
        assert read(seen.calls) == read(FINE)
        assert "tool_call_cut:weather" in seen.warnings
        return
    assert read(seen.calls) == read(FINE if validate == "reject" else CUT)
    told = {code for code in seen.warnings if code.startswith(("tool_call_cut", "malformed"))}
    if validate == "reject":
        assert told == {"tool_call_cut:weather"}
    elif validate == "annotate":
        assert "malformed_tool_arguments:weather" in told or door == "native"


@each_row(
    ("wire", "calls"),
    [(wire, calls) for wire in WIRES for calls in (TWO, WRONG, CUT) if calls != CUT or (wire, True) not in HAS_OBJECTS],
)
@each_row("door", DOORS)
def test_signs_of_life_while_calls_are_held(door: str, wire: str, calls: tuple[tuple[str, str], ...]) -> None:
    """However often a held answer is kept alive, the client reads what it would have read without."""
    upstream, client = says(wire, "hi", calls, streamed=True), CLIENTS[door]
    assert upstream is not None
    body = json.dumps(client.body(list(TOOLS), None, None, True)).encode()
    headers = {"x-toolwire-validate-tool-arguments": "reject"}
    profile = "compatible" if wire == "openai_chat" else None
    exchange = open_exchange(body, door=door, headers=headers, tenant=PLAIN, wire=wire, profile=profile)
    actions = sent(exchange, exchange.receive_head(200, {"content-type": content_type(wire, streamed=True)}))
    for at in range(0, len(upstream), 100):
        actions += sent(exchange, exchange.receive_data(upstream[at : at + 100]))
        if not exchange.answer.over:
            actions.append(Send(exchange.keep_alive()))
    actions += sent(exchange, exchange.receive_end())

    data = b"".join(action.data for action in actions if isinstance(action, Send))
    seen = client.read(Answer(200, {"content-type": "text/event-stream"}, data))
    error = {TWO: None, WRONG: "invalid_tool_arguments", CUT: "malformed_tool_arguments"}[calls]
    assert (seen.text, seen.error, seen.complete) == ("hi", error, error is None)
    if calls == TWO:
        assert read(seen.calls) == read(TWO)
    assert not {call for call in seen.calls if call[1] in (INVALID, MALFORMED)}


@each_row("door", DOORS)
@each_row("case", [case for case in CASES if case.refused], ids=lambda case: case.name)
def test_requests(case: Case, door: str) -> None:
    body = CLIENTS[door].body(list(case.tools), case.choice, case.parallel, True)
    with pytest.raises(RequestError) as caught:
        open_exchange(json.dumps(body).encode(), door=door, tenant=case.tenant)
    assert (caught.value.status, caught.value.code) == (400, case.refused)
    assert is_place(told_place(json.loads(load_door(door).render_error(caught.value, "req"))["error"]), body)


def told_place(error: dict[str, Any]) -> str:
    """The place in the request that an error tells of, in any door's form."""
    details = error.get("details") or {}
    place = details[0]["metadata"]["param"] if isinstance(details, list) else error.get("param") or details["param"]
    return str(place)


def is_place(path: str, body: Any) -> bool:
    """Whether the request has something there, in the client's own words."""
    for name, number in re.findall(r"(\w+)|\[(\d+)\]", path):
        try:
            body = body[name or int(number)]
        except (KeyError, IndexError, TypeError):
            return False
    return True


@pytest.mark.parametrize("door", DOORS)
def test_what_is_allowed_without_configuration(door: str) -> None:
    """The native door has the preset `2api`, the others `agents`."""
    limits = PRESET_2API if door == "native" else PRESET_AGENTS
    long = [{"name": "f", "description": "x" * (limits.description_chars + 1)}]
    fits = [{"name": "f", "description": "x" * limits.description_chars}]
    open_exchange(json.dumps(CLIENTS[door].body(fits, None, None, True)).encode(), door=door)
    with pytest.raises(RequestError, match=f"at most {limits.description_chars} "):
        open_exchange(json.dumps(CLIENTS[door].body(long, None, None, True)).encode(), door=door)


def levels(count: int) -> dict[str, Any]:
    """Parameters of so many levels."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(count - 1):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


#: The 2api document's limit -> a request of this size.
EDGES: dict[str, tuple[int, Callable[[int], list[dict[str, Any]]]]] = {
    "too_many_tools": (128, lambda size: [{"name": f"f{number}"} for number in range(size)]),
    "tool_description_too_long": (1024, lambda size: [{"name": "f", "description": "é" * size}]),
    "invalid_tool_name": (64, lambda size: [{"name": "f" * size}]),
    "tool_schema_too_complex": (5, lambda size: [{"name": "f", "parameters": levels(size)}]),
}


@each_row("code", EDGES)
@each_row("door", DOORS)
def test_the_documents_limits_at_their_edge(door: str, code: str) -> None:
    size, tools = EDGES[code]
    its = Tenant(limits=PRESET_2API)
    open_exchange(json.dumps(CLIENTS[door].body(tools(size), None, None, True)).encode(), door=door, tenant=its)
    with pytest.raises(RequestError) as caught:
        open_exchange(json.dumps(CLIENTS[door].body(tools(size + 1), None, None, True)).encode(), door=door, tenant=its)
    assert caught.value.code == code


@each_row("streamed", [True, False], ids=["streamed", "whole"])
@each_row("door", DOORS)
def test_the_documents_limits_of_an_answer_at_their_edge(door: str, streamed: bool) -> None:
    """20 calls, and 64 KiB of arguments as UTF-8: one more is one too many."""
    its = Tenant(limits=PRESET_2API)
    text = '{"city":"' + "é" * ((65_536 - 12) // 2) + '"}'
    full = text[:-2] + "x" * (65_536 - len(text.encode())) + '"}'
    for calls, error in [
        (FINE * 20, None),
        (FINE * 21, "too_many_tool_calls"),
        ((("weather", full),), None),
        ((("weather", full[:-2] + 'x"}'),), "tool_arguments_too_large"),
    ]:
        seen = run(Case("", its, calls=calls), door, streamed)
        assert (seen.error, seen.complete) == (error, error is None)


@each_row("streamed", [True, False], ids=["streamed", "whole"])
@each_row("door", DOORS)
def test_a_choice_that_is_not_kept_without_configuration(door: str, streamed: bool) -> None:
    seen = run(Case("", Tenant(), choice="required", said="hi"), door, streamed)
    assert seen.error == ("tool_choice_not_honored" if door == "native" else None)
    assert streamed is False or seen.text == "hi", "what was said stays"


#: The Messages API says nothing of parallel calls but to forbid them, and Gemini's says nothing at all.
@pytest.mark.parametrize("door", [door for door in DOORS if door not in ("messages", "gemini")])
def test_strict_beside_parallel(door: str) -> None:
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    tools = [{"name": "f", "parameters": closed, "strict": True}]
    body = json.dumps(CLIENTS[door].body(tools, None, True, True)).encode()
    assert "strict_with_parallel" in open_exchange(body, door=door).figures.warnings
    with pytest.raises(RequestError) as caught:
        open_exchange(body, door=door, tenant=tenant(strict_parallel="reject"))
    assert caught.value.code == "strict_with_parallel"


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_the_native_door_says_where_a_fault_is(streamed: bool) -> None:
    body = json.dumps(CLIENTS["native"].body(list(TOOLS), None, None, streamed)).encode()
    headers = {"x-toolwire-validate-tool-arguments": "annotate"}
    exchange = open_exchange(body, door="native", headers=headers, tenant=PLAIN)
    kind = "text/event-stream" if streamed else "application/json"
    upstream = says("openai_chat", "", WRONG, streamed=streamed)
    assert upstream is not None
    shown = answer(exchange, [upstream], content_type=kind).body
    events = [data for _, data in frames(shown, [])] if streamed else json.loads(shown)["warnings"]
    (warning,) = (event for event in events if event.get("code") == "invalid_tool_arguments")
    assert (warning["path"], warning["expected"], warning["got"]) == ("/city", "a string", "an integer")
