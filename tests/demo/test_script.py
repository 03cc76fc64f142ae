"""What the demo says: one table row a rule of docs/demo.md."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from toolwire.demo.script import Asked, DemoTool, Directives, Turn, directives, fragments, play
from toolwire.demo.subjects import subjects

CITY = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
ROUTE = {
    "type": "object",
    "properties": {"origin": {"type": "string"}, "target": {"type": "string"}},
    "required": ["origin", "target"],
}
WEATHER = DemoTool("get_weather", "The current weather of a city", CITY)
TIME = DemoTool("getTime", "What a clock shows", {"type": "object", "properties": {}})
FLIGHTS = DemoTool("find_flights", "Flights between two cities", ROUTE)
TEXT = {"type": "string"}
EDIT = DemoTool("edit", "", {"properties": {"path": TEXT, "text": TEXT}, "required": ["path", "text"]})
PATCH = DemoTool("apply_patch", "", None, custom=True)

ONLY_TIME = frozenset({"getTime"})
TWO_CITIES = "What is the weather in Paris and New York?"


def said(turn: Turn) -> list[tuple[str, Any]]:
    return [(call.name, "".join(call.arguments)) for call in turn.calls]


CASES: list[tuple[str, Asked, list[tuple[str, str]]]] = [
    ("one", Asked("Weather in Oslo?", tools=(WEATHER, TIME)), [("get_weather", '{"location":"Oslo"}')]),
    (
        "two subjects, two calls",
        Asked(TWO_CITIES, tools=(WEATHER, TIME)),
        [("get_weather", '{"location":"Paris"}'), ("get_weather", '{"location":"New York"}')],
    ),
    ("not parallel", Asked(TWO_CITIES, tools=(WEATHER,), parallel=False), [("get_weather", '{"location":"Paris"}')]),
    (
        "two tools",
        Asked("the weather in Oslo, and the time", tools=(WEATHER, TIME)),
        [("get_weather", '{"location":"Oslo"}'), ("getTime", "{}")],
    ),
    ("no arguments", Asked("What time is it?", tools=(WEATHER, TIME)), [("getTime", "{}")]),
    ("by description", Asked("show me a clock", tools=(WEATHER, TIME)), [("getTime", "{}")]),
    (
        "two names in one call",
        Asked("Any flights from Rome to Oslo?", tools=(FLIGHTS,)),
        [("find_flights", '{"origin":"Rome","target":"Oslo"}')],
    ),
    ("quoted", Asked('weather in "são paulo"', tools=(WEATHER,)), [("get_weather", '{"location":"são paulo"}')]),
    ("custom tool", Asked("apply the patch x", tools=(PATCH,)), [("apply_patch", "apply the patch x")]),
    ("fenced block", Asked("Apply:\n```\n+a\n+B\n```", tools=(PATCH,)), [("apply_patch", "+a\n+B\n")]),
    (
        "quoted, then a fenced block",
        Asked('Edit "a.txt":\n```\nsay "no"\n' + "x\n" * 9_000 + "```", tools=(EDIT,)),
        [("edit", json.dumps({"path": "a.txt", "text": 'say "no"\n' + "x\n" * 9_000}, separators=(",", ":")))],
    ),
    ("about no tool", Asked("Good morning", tools=(WEATHER,)), []),
    ("no tools", Asked("Weather in Oslo?"), []),
    ("none", Asked(TWO_CITIES, tools=(WEATHER,), choice="none"), []),
    ("required", Asked("hello", tools=(WEATHER, TIME), choice="required"), [("get_weather", '{"location":"hello"}')]),
    (
        "named",
        Asked("hello", tools=(WEATHER, TIME), choice="required", allowed=ONLY_TIME),
        [("getTime", "{}")],
    ),
    (
        "allowed set",
        Asked("time or weather", tools=(WEATHER, TIME), allowed=ONLY_TIME),
        [("getTime", "{}")],
    ),
    ("required after results", Asked("time", ("12",), False, (TIME,), "required"), [("getTime", "{}")]),
    ("after results", Asked("time", ("12",), False, (TIME,)), []),
    ("calls on demand", Asked("time [demo calls 2]", tools=(TIME,)), [("getTime", "{}")] * 2),
    ("calls without a subject", Asked("hello [demo calls 1]", tools=(TIME,)), [("getTime", "{}")]),
    ("text on demand", Asked("time [demo text]", tools=(TIME,), choice="required"), []),
]


@pytest.mark.parametrize(("asked", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_calls(asked: Asked, expected: list[tuple[str, str]]) -> None:
    turn = play(asked)

    assert said(turn) == expected
    assert turn.finish == ("tool_calls" if expected else "stop")
    assert bool(turn.text) is not bool(expected)


def test_an_answer_quotes_the_tool_results() -> None:
    asked = Asked("weather", results=("18 degrees", "x" * 300), user_spoke_last=False, tools=(WEATHER,))

    assert "".join(play(asked).text) == "The tools answered: 18 degrees; " + "x" * 200


def test_an_answer_follows_the_answer_schema() -> None:
    asked = Asked("Weather in Oslo", answer_schema=CITY)

    assert json.loads("".join(play(asked).text)) == {"location": "Oslo"}


@pytest.mark.parametrize("limit", range(1, 14))
def test_the_output_limit_cuts_and_never_completes(limit: int) -> None:
    asked = Asked("Weather in Oslo", tools=(WEATHER,))
    whole = play(asked)

    turn = play(replace(asked, max_tokens=limit))

    assert turn.tokens <= limit
    if limit < whole.tokens:
        assert turn.finish == "length"
        assert "".join(turn.calls[0].arguments) != '{"location":"Oslo"}' if turn.calls else True
    else:
        assert turn == whole


def test_length_on_demand_cuts_inside_the_first_call() -> None:
    turn = play(Asked("Weather in Oslo [demo length]", tools=(WEATHER,)))

    assert turn.finish == "length"
    assert '{"location":"Oslo"}'.startswith(said(turn)[0][1])
    assert said(turn)[0][1] not in ("", '{"location":"Oslo"}')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[demo error 429]", Directives(error=429)),
        ("[demo error 200] [demo error]", Directives()),
        ("[demo cut] [demo stall 2] [demo slow 50]", Directives(cut=True, stall=2.0, pace=0.05)),
        ("[demo slow 0][demo text][demo interleave]", Directives(pace=0.0, text=True, interleave=True)),
        ("[demo calls 0] [demo calls 999] [demo stall 999]", Directives()),
        ("[demo unknown] [demo cut 3]", Directives()),
    ],
)
def test_directives(text: str, expected: Directives) -> None:
    assert directives(text) == expected


@pytest.mark.parametrize("text", ["", " ", "a  b\n\nc!", '{"a":"b c","d":[1,2]}', "日本 – 12.5°", "{}"])
def test_fragments_join_to_the_text(text: str) -> None:
    assert "".join(fragments(text)) == text


@pytest.mark.parametrize(
    ("text", "names", "numbers"),
    [
        ("Weather in Paris, London and New York", ("Paris", "London", "New York"), ()),
        ("Paris?", ("Paris",), ()),
        ("It rains. Oslo is dry, I think", ("Oslo",), ()),
        ("read `README.md` for Ada", ("README.md",), ()),
        ("Add 2 and -3.5 to gpt-4 v1.2", ("Add",), (2.0, -3.5)),
        ("the capital of France's neighbour", ("France",), ()),
        ("", (), ()),
    ],
)
def test_subjects(text: str, names: tuple[str, ...], numbers: tuple[float, ...]) -> None:
    found = subjects(text)

    assert (found.names, found.numbers) == (names, numbers)


def test_a_long_message_is_read_in_little_time() -> None:
    turn = play(Asked("1" * 100_000 + "a [demo calls 1]" + "1." * 100_000, tools=(WEATHER,)))

    assert len(turn.calls) == 1
