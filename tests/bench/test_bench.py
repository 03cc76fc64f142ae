"""The benchmark works and measures what it says. Nothing here looks at a clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import core, inspector, lock_step, openai_chat, performance_page, rooms
from bench.client import Answer, BenchError, Endpoint
from bench.cpu_share import part_of, share_of
from bench.report import CORE_ROWS, ROWS, START_ROWS, STORE_ROWS, Row, table
from bench.script import STAMP, Script, read_script
from bench.wires import WIRES, Wire, wire_at
from tests.corpus.driver import answer, open_exchange
from tests.providers.openai_chat.chat_reader import read

ROOT = Path(__file__).parents[2]
SCRIPTS = [Script("text", 3), Script("bare", 1, 2), Script("tools", 4, 1)]


def printed(*command: str, timeout: float = 60) -> str:
    """What `python -m` with these arguments prints. Fails where the program does."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "layers" / "shared")}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.integration
def test_a_quick_run_prints_every_figure() -> None:
    said = printed("bench", "--quick")
    cells = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[2:] for line in said.splitlines()}
    for row in (*ROWS, *START_ROWS, *CORE_ROWS, *STORE_ROWS):
        assert any(character.isdigit() for cell in cells[row.title] for character in cell), row.title


@pytest.mark.integration
def test_starts_are_measured_alone_and_with_the_templates_tables() -> None:
    said = printed("bench", "--starts", "--quick")
    head, _, *rows = [line for line in said.splitlines() if line.startswith("|")]
    assert head.strip("| ").split(" | ")[-1] == "toolwire, tables"
    assert [row.strip("| ").split(" | ")[0] for row in rows] == [row.title for row in START_ROWS]


@pytest.mark.integration
def test_a_soak_prints_what_is_held_and_checks_each_answer() -> None:
    said = printed("bench.soak", "--requests", "96", "--every", "48", timeout=120)
    rows = [line.strip("| ").split(" | ") for line in said.splitlines() if line.startswith("| ")]
    assert [row[0].strip() for row in rows] == ["requests", "0", "48", "96"]
    assert said.splitlines()[-1] == "64 answered, 8 left, 24 refused"


@pytest.mark.parametrize(("memory", "part"), [(512, 0.29), (1024, 0.58), (1769, 1.0), (10240, 1.0)])
def test_the_share_of_a_cpu_that_comes_with_memory(memory: int, part: float) -> None:
    assert round(part_of(memory), 2) == part


@pytest.mark.integration
def test_a_share_of_a_cpu_holds_what_is_started_in_it() -> None:
    """Half a second of work takes a second and more in the wall's time with a quarter of a CPU."""
    work = "import time\nwhile time.process_time() < 0.5: pass\nprint(time.process_time())"
    try:
        with share_of(442) as words:
            began = time.monotonic()
            subprocess.run([*words, sys.executable, "-c", work], check=True, stdout=subprocess.DEVNULL)
            assert time.monotonic() - began > 1.5
    except BenchError as error:
        pytest.skip(str(error))
    with share_of(None) as words:
        assert words == []


@pytest.mark.integration
def test_what_an_open_circuit_costs_is_measured() -> None:
    said = printed("bench.open_circuit", "--requests", "20")
    assert said.startswith("20 answers of an open circuit: CPU ")


@pytest.mark.integration
def test_what_the_inspector_costs_is_measured() -> None:
    said = printed("bench.inspector", "--pairs", "2", "--seconds", "0.1", timeout=120)
    rows = [line.strip("| ").split(" | ") for line in said.splitlines()[2:]]
    assert [name for name, *_ in rows] == [row.name for row in inspector.ROWS]
    assert all(0.3 < float(ratio) < 3 and int(blocks) > 3 for _, ratio, _, blocks in rows)


def test_the_inspectors_interval_is_that_of_its_pairs() -> None:
    """A block that a neighbour spoiled moves nothing; pairs that differ make it wide."""
    steady = [(1.0, 1.02), (2.0, 2.04), (1.0, 9.0), (1.5, 1.53), (1.0, 1.02)]
    found = inspector.figure([steady] * 6)
    assert (round(found.ratio, 6), round(found.margin, 6), found.blocks) == (1.02, 0, 30)

    apart = inspector.figure([[(1.0, 1.0)], [(1.0, 1.1)], [(1.0, 1.2)], [(1.0, 1.1)]])
    assert (round(apart.ratio, 6), round(apart.margin, 3)) == (1.1, 0.130)


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
def test_an_answer_in_lock_step_is_the_scripts(wire: Wire) -> None:
    script = Script("text", 10)
    written = lock_step.pieces(wire, script, stream=True, together=4)

    assert [len(STAMP.findall(piece.data)) for piece in written] == [4, 4, 2]
    assert [piece.awaited in piece.data for piece in written[:-1]] == [True, True]
    assert written[-1].data.endswith(b"0\r\n\r\n")


@pytest.mark.integration
def test_a_profile_sees_the_time_of_both_kinds() -> None:
    said = printed("bench.rooms", "--requests", "50")
    shares = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[1:] for line in said.splitlines()}
    assert "shell/network: the provider's connection" in shares  # how large it is, a busy machine does not say
    parts = [[int(share.split("%")[0]) for share in each] for each in shares.values() if each and "%" in each[0]]
    for column in zip(*parts, strict=True):
        assert 100 - len(parts) / 2 <= sum(column) <= 100 + len(parts) / 2  # each is rounded
    assert len(parts[0]) == 2


def test_a_profile_gives_a_librarys_time_to_its_caller() -> None:
    seen = []
    exec(compile("look()", "/elsewhere/library.py", "exec"), {"look": lambda: seen.append(sys._getframe())})
    assert rooms.room_of(seen[0]) == "threads, socketserver"

    core_file = str(ROOT / "layers/shared/toolwire/exchange/exchange.py")
    exec(
        compile("exec(library, {'look': look})", core_file, "exec"),
        {"library": compile("look()", "/elsewhere/library.py", "exec"), "look": lambda: seen.append(sys._getframe())},
    )
    assert rooms.room_of(seen[1]) == "exchange"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.kind)
def test_a_script_travels_in_a_request(script: Script) -> None:
    body = script.request("any-model")

    assert read_script(body) == script
    assert json.loads(body)["model"] == "any-model"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.kind)
def test_a_stream_says_what_its_script_says(script: Script) -> None:
    data = [event.removeprefix(b"data: ").removesuffix(b"\n\n") for _, event in openai_chat.events(script)]
    deltas = [json.loads(chunk)["choices"][0]["delta"] for chunk in data[:-2]]
    arguments: dict[int, str] = {}
    for call in (call for delta in deltas for call in delta.get("tool_calls", ())):
        arguments[call["index"]] = arguments.get(call["index"], "") + call["function"]["arguments"]

    assert data[-1] == b"[DONE]"
    assert sum(chunk.count(b"@") for chunk in data) == 2 * script.stamps
    assert len([delta for delta in deltas if delta.get("content")]) == (0 if arguments else script.deltas)
    assert all(set(json.loads(text)) == {"path"} for text in arguments.values())
    assert len(arguments) == (2 if script.kind == "tools" else 0)


@pytest.mark.parametrize("provider", WIRES)
@pytest.mark.parametrize("kind", ["text", "tools"])
def test_the_gateway_reads_every_wire(provider: str, kind: str) -> None:
    wire, script = WIRES[provider], Script(kind, 3)

    exchange = open_exchange(script.request("m"), wire=wire.name, profile=None, model=wire.model)
    assert wire_at(exchange.upstream_request.url.encode()) is wire
    assert read_script(exchange.upstream_request.body) == script
    said = read(answer(exchange, (event for _, event in wire.events(script))).body, usage=True)
    assert (said.content + str(said.calls)).count("@") == 2 * script.stamps
    assert [name for name, _ in said.asked] == (["read_file", "list_files"] if kind == "tools" else [])

    exchange = open_exchange(script.request("m", stream=False), wire=wire.name, profile=None, model=wire.model)
    assert b"list_files" in answer(exchange, [wire.whole()], content_type="application/json").body


def _http(body: bytes, *, chunked: bool) -> bytes:
    if chunked:
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize("chunked", [True, False])
def test_an_answer_is_complete_at_its_last_byte(chunked: bool) -> None:
    whole = _http(openai_chat.whole(), chunked=chunked)
    for size in (1, 7, len(whole)):
        answer = Answer()
        complete = [answer.take(whole[at : at + size]) for at in range(0, len(whole), size)]
        assert complete.index(True) == len(complete) - 1
        answer.check(0)


def test_a_delta_is_timed_by_the_piece_that_completes_it() -> None:
    answer = Answer()
    for piece in (b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\nx@1", b"2@", b"data @345@"):
        answer.take(piece)

    assert answer.stamps() == [(12, answer.times[1]), (345, answer.times[2])]


@pytest.mark.parametrize(
    "answer",
    [
        _http(b'{"error": {}}', chunked=False).replace(b"200 OK", b"400 Bad Request"),
        _http(b"data: @1@ [DONE]", chunked=True),
        _http(b"data: @1@ data: @2@", chunked=True),
    ],
    ids=["error", "a delta is missing", "no end"],
)
def test_another_answer_is_not_measured(answer: bytes) -> None:
    taken = Answer()
    taken.take(answer)

    with pytest.raises(BenchError, match="not the scripted answer"):
        taken.check(2)


def test_only_plain_http_is_measured() -> None:
    assert Endpoint("http://127.0.0.1:8080/v1", "m").address == ("127.0.0.1", 8080)
    with pytest.raises(BenchError, match="only http"):
        _ = Endpoint("https://api.example.com/v1", "m").address


def test_the_table_shows_medians_and_ratios() -> None:
    rows = (Row("wait", "wait, ms", "<= 3", adds=True), Row("cpu", "CPU, us"), Row("absent", "never measured"))
    runs = {"direct": [{"wait": 1.0}, {"wait": 9.0}, {"wait": 2.0}], "gateway": [{"wait": 3.0, "cpu": 1234.5}]}

    assert table(rows, runs).splitlines() == [
        "| figure | goal | direct | gateway |",
        "|---|---|---:|---:|",
        "| wait, ms | <= 3 | 2.00 | 3.00 (1.50x, +1.00) |",
        "| CPU, us |  |  | 1,234 |",
    ]


def test_the_core_is_measured() -> None:
    measured = set[str]()
    for wire in WIRES.values():
        figures = core.deltas(5, wire) | core.call_events(wire) | core.text_calls(5, wire)
        figures |= core.large_request(messages=4, tools=2, size=20_000, wire=wire)
        assert {"text_delta", "request"} <= figures.keys()
        measured |= figures.keys()

    assert measured == {row.figure for row in CORE_ROWS}


def test_the_large_request_is_as_large_as_it_says() -> None:
    body = core.conversation(100, 20, 188_000)

    request = json.loads(body)
    assert (len(request["messages"]), len(request["tools"])) == (100, 20)
    assert 180_000 < len(body) <= 188_000


class TestPage:
    """docs/performance.md has what `make bench` measured last."""

    PARTS = ("Traffic", "Cold start", "The translation alone", "The store")

    def test_each_table_takes_the_place_of_the_one_before(self) -> None:
        before = performance_page.PAGE.read_text()
        new = {
            part: [f"| {part} {number} |\n|---|\n| 1 |" for number in range(1 + (part == "Traffic"))]
            for part in self.PARTS
        }
        after = performance_page.with_tables(before, new, "Medians of 7 runs on an idle machine.")

        parts = {part.partition("\n")[0]: part for part in after.split("\n## ")}
        for part, tables in new.items():
            assert [parts[part].count(table) for table in tables] == [1] * len(tables)
        assert "\nMedians of 7 runs on an idle machine. The client's request" in after
        # All that is no table of these parts is as it was.
        untouched = [line for line in before.splitlines() if not line.startswith(("|", "Medians of"))]
        assert [line for line in after.splitlines() if not line.startswith(("|", "Medians of"))] == untouched
        assert after.count("\n|") < before.count("\n|")
        assert performance_page.with_tables(after, new, "Medians of 7 runs on an idle machine.") == after

    def test_a_page_without_the_part_or_the_table_is_no_page(self) -> None:
        for page in ("# Performance\n", "## Traffic\n\nWords.\n\n## Cold start\n\n| a |\n|---|\n"):
            with pytest.raises(ValueError, match="Traffic"):
                performance_page.with_tables(page, {"Traffic": ["| b |"]}, "")

    def test_a_busy_machine_is_named(self) -> None:
        assert performance_page.made(3, 0.2, 2) == "Medians of 3 runs on an idle machine."
        assert performance_page.made(3, 8.4, 2) == "Medians of 3 runs on a machine that others kept busy (load 8)."
