"""What the demo says: one table row a rule of docs/demo.md."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

import pytest

from tests.named_rows import each_row
from toolwire.demo.directives import Directives, directives
from toolwire.demo.last_words import LastWords
from toolwire.demo.script import Asked, DemoTool, Turn, fragments, play
from toolwire.demo.subjects import subjects

CITY = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
ROUTE = {
    "type": "object",
    "properties": {"origin": {"type": "string"}, "target": {"type": "string"}},
    "required": ["origin", "target"],
}
WEATHER = DemoTool("get_weather", "The current weather of a city", CITY)
TIME = DemoTool("getTime", "What a clock shows", {"type": "object", "properties": {}})
FORECAST = DemoTool("currentWeatherForecast", "", ROUTE)
SHELL = DemoTool("weather_shell", "Runs a command about the weather", {"properties": {"command": {"type": "string"}}})
PATCH = DemoTool("apply_patch", "", None, custom=True)

ONLY_TIME = frozenset({"getTime"})
TWO_CITIES = "What is the weather in Paris and New York?"


def said(turn: Turn) -> list[tuple[str, Any]]:
    return [(call.name, "".join(call.arguments)) for call in turn.calls]


def asked(text: str, *tools: DemoTool, turn: int = 0, results: tuple[str, ...] = (), **more: Any) -> Asked:
    return Asked(LastWords(text, turn, results), tools=tools, **more)


A, B = '[demo call getTime {"a": 1.0}]', "[demo call get_weather]"
CASES: list[tuple[str, Asked, list[tuple[str, str]]]] = [
    ("one", asked("Weather in Oslo?", WEATHER, TIME), [("get_weather", '{"location":"Oslo"}')]),
    (
        "two subjects, two calls",
        asked(TWO_CITIES, WEATHER, TIME),
        [("get_weather", '{"location":"Paris"}'), ("get_weather", '{"location":"New York"}')],
    ),
    ("not parallel", asked(TWO_CITIES, WEATHER, parallel=False), [("get_weather", '{"location":"Paris"}')]),
    (
        "two names in one call",
        asked("The weather from Rome to Oslo?", FORECAST),
        [("currentWeatherForecast", '{"origin":"Rome","target":"Oslo"}')],
    ),
    ("quoted", asked('weather in "são paulo"', WEATHER), [("get_weather", '{"location":"são paulo"}')]),
    ("no other tool by its name", asked("What time is it? Run the weather shell", TIME, SHELL), []),
    ("no custom tool by its name", asked("apply the patch", PATCH), []),
    ("about no tool", asked("Good morning", WEATHER), []),
    ("no tools", asked("Weather in Oslo?"), []),
    ("none", asked(TWO_CITIES, WEATHER, choice="none"), []),
    ("required", asked("hello", WEATHER, TIME, choice="required"), [("get_weather", '{"location":"hello"}')]),
    (
        "required, and no word is taken",
        asked("rm it", SHELL, choice="required"),
        [(SHELL.name, '{"command":"example"}')],
    ),
    ("required, free text", asked("rm it", PATCH, choice="required"), [("apply_patch", "example")]),
    ("named", asked("hello", WEATHER, TIME, choice="required", allowed=ONLY_TIME), [("getTime", "{}")]),
    ("allowed set", asked(f"{A} {B}", WEATHER, TIME, allowed=ONLY_TIME), [("getTime", '{"a": 1.0}')]),
    ("required after results", asked("x", TIME, turn=1, results=("12",), choice="required"), [("getTime", "{}")]),
    ("after results", asked("weather", WEATHER, turn=1, results=("12",)), []),
    ("a directive", asked(f"do {A}", WEATHER, TIME), [("getTime", '{"a": 1.0}')]),
    ("two directives", asked(f"{A} and {B}", WEATHER, TIME), [("getTime", '{"a": 1.0}'), ("get_weather", "{}")]),
    ("two directives, not parallel", asked(A + B, WEATHER, TIME, parallel=False), [("getTime", '{"a": 1.0}')]),
    ("a directive whose tool is not there", asked(f"Weather in Oslo? {A}", WEATHER), []),
    ("a directive, and the choice is none", asked(A, TIME, choice="none"), []),
    ("free text", asked('[demo call apply_patch "+a\\n]"]', PATCH), [("apply_patch", "+a\n]")]),
    (
        "free text for a function",
        asked('[demo call get_weather "a]"]', WEATHER),
        [("get_weather", '{"location":"a]"}')],
    ),
    ("the first turn of two", asked(f"{A} >> {B}", WEATHER, TIME), [("getTime", '{"a": 1.0}')]),
    ("the second turn of two", asked(f"{A} >> {B}", WEATHER, TIME, turn=1, results=("1",)), [("get_weather", "{}")]),
    ("after two turns", asked(f"{A} >> {B}", WEATHER, TIME, turn=2, results=("1",)), []),
    ("after a directive", asked(A, TIME, turn=1, results=("1",)), []),
    ("calls on demand", asked("time [demo calls 2]", TIME), [("getTime", "{}")] * 2),
    ("a directive, many times", asked(f"[demo calls 3] {B}", WEATHER), [("get_weather", "{}")] * 3),
    ("calls without a subject", asked("hello [demo calls 1]", TIME), [("getTime", "{}")]),
    ("calls without a word of it", asked('run "ls" [demo calls 1]', SHELL), [(SHELL.name, '{"command":"example"}')]),
    ("text on demand", asked(f"{A} [demo text]", TIME, choice="required"), []),
]


@each_row(("request_", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_calls(request_: Asked, expected: list[tuple[str, str]]) -> None:
    turn = play(request_)

    assert said(turn) == expected
    assert turn.finish == ("tool_calls" if expected else "stop")
    assert bool(turn.text) is not bool(expected)


def test_an_answer_quotes_the_tool_results() -> None:
    request = asked("weather", WEATHER, turn=1, results=("18 degrees", "x" * 300))

    assert "".join(play(request).text) == "The tools answered: 18 degrees; " + "x" * 200


def test_an_answer_names_the_tool_that_is_not_there() -> None:
    assert "none is named getTime" in "".join(play(asked(A, WEATHER)).text)


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
@pytest.mark.parametrize("schema", [None, CITY])
def test_an_answer_is_what_a_directive_says(choice: Literal["auto", "required", "none"], schema: object) -> None:
    text = '[demo say "```\\n<a> [demo call getTime]\\n"] >> [demo call getTime]'
    request = asked(text, TIME, choice=choice, answer_schema=schema)

    turn = play(request)

    assert ("".join(turn.text), turn.calls) == ("```\n<a> [demo call getTime]\n", ())
    assert said(play(replace(request, words=LastWords(text, 1)))) == ([] if choice == "none" else [("getTime", "{}")])


def test_an_answer_follows_the_answer_schema() -> None:
    request = asked("Weather in Oslo", answer_schema=CITY)

    assert json.loads("".join(play(request).text)) == {"location": "Oslo"}


@each_row("limit", range(1, 14))
def test_the_output_limit_cuts_and_never_completes(limit: int) -> None:
    request = asked("Weather in Oslo", WEATHER)
    whole = play(request)

    turn = play(replace(request, max_tokens=limit))

    assert turn.tokens <= limit
    if limit < whole.tokens:
        assert turn.finish == "length"
        assert "".join(turn.calls[0].arguments) != '{"location":"Oslo"}' if turn.calls else True
    else:
        assert turn == whole


@pytest.mark.parametrize(
    ("stop", "text", "stopped"),
    [
        ((), None, None),
        (("nowhere",), None, None),
        ((" model", " demo"), "This is the", " demo"),  # the first one in the text
        (("",), None, None),
        (("This",), "", "This"),
    ],
)
def test_a_stop_sequence_ends_a_text(stop: tuple[str, ...], text: str | None, stopped: str | None) -> None:
    whole = play(asked("hello"))
    turn = play(replace(asked("hello"), stop=stop))
    assert "".join(turn.text) == ("".join(whole.text) if text is None else text)
    assert (turn.stopped, turn.finish) == (stopped, "stop")
    assert play(replace(asked("Weather in Oslo", WEATHER), stop=("Oslo",))).finish == "tool_calls"


def test_length_on_demand_cuts_inside_the_first_call() -> None:
    turn = play(asked("Weather in Oslo [demo length]", WEATHER))

    assert turn.finish == "length"
    assert '{"location":"Oslo"}'.startswith(said(turn)[0][1])
    assert said(turn)[0][1] not in ("", '{"location":"Oslo"}')


@each_row(
    ("text", "expected"),
    [
        ("[demo error 429]", Directives(error=429)),
        ("[demo error 200] [demo error]", Directives()),
        ("[demo cut] [demo stall 2] [demo slow 50]", Directives(cut=True, stall=2.0, pace=0.05)),
        ("[demo slow 0][demo text][demo interleave]", Directives(pace=0.0, text=True, interleave=True)),
        ("[demo calls 0] [demo calls 999] [demo stall 999]", Directives()),
        ("[demo unknown] [demo cut 3]", Directives()),
        ('[demo call] [demo call a {"b": }] [demo call a {}} ] [demo call a 3] [demo call a b]', Directives()),
        ("[demo cal a {}] [ demo call a {}] [demo  call a {}] [Demo call a {}] demo call a {}", Directives()),
        ("[demo call a " + '{"b":' * 100_000, Directives()),
        ("[demo error 500] >>", Directives(error=500)),
        ('[demo say "a >> ]\\n"] and [demo say "b"]', Directives(says="a >> ]\nb")),
        ('[demo say] [demo say ] [demo say {}] [demo say "a] [demo say "a" b]', Directives()),
    ],
)
def test_directives(text: str, expected: Directives) -> None:
    assert directives(text) == expected


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("[demo error 500]", [500, 500, 500]),
        ("[demo error 500] >>", [500, None, None]),
        ("[demo cut] >>\n[demo error 429] >> [demo error 503]", [None, 429, 503]),
        ("[demo error 500] and >> [demo cut]", [500, 500, 500]),
    ],
)
def test_what_holds_for_which_turn(text: str, errors: list[int | None]) -> None:
    assert [directives(text, turn).error for turn in range(3)] == errors


#: Steps -> pairs of turns and answered calls, and the step that is next then.
STEPS: list[tuple[str, list[tuple[int, int, int]]]] = [
    # Goose keeps each call of several as a turn of its own, and turns with the same reasoning as one.
    ("[demo call a] >> [demo call a] [demo call b] >> [demo call a]",
     [(0, 0, 0), (1, 1, 1), (2, 3, 2), (3, 3, 2), (4, 4, 3), (3, 4, 3), (1, 3, 2), (1, 4, 3), (2, 2, 2)]),
    # Calls that may not have been made, or others in their place, tell nothing.
    ("[demo call a] [demo call none] >> [demo call a] >> [demo call b]", [(1, 1, 1), (2, 2, 2), (3, 3, 3)]),
    ("[demo calls 2] >> [demo call a] >> [demo call a]", [(1, 2, 1), (2, 3, 2), (1, 1, 1)]),
    ('[demo call a] >> [demo say "x"] >> [demo call b]', [(1, 1, 1), (2, 1, 2), (3, 2, 3)]),
    ("[demo call a] [demo text] >> [demo call a]", [(1, 1, 1), (1, 0, 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rows"), STEPS)
def test_the_next_step_is_told_by_the_turns_and_by_the_calls_that_were_answered(
    text: str, rows: list[tuple[int, int, int]]
) -> None:
    for turn, answered, step in rows:
        expected = directives(text, step)
        assert (turn, answered, directives(text, turn, answered, {"a", "b"})) == (turn, answered, expected)


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
    turn = play(asked("1" * 100_000 + "a [demo calls 1]" + "1." * 100_000, WEATHER))

    assert len(turn.calls) == 1
