"""The conformance matrix as pages: docs/conformance.md, and the table in the README.

    make conformance      rewrites both; fails where a cell of the matrix does

What stands there was played and judged a moment before: nothing is claimed by hand.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.matrix.cells import CELLS
from tests.matrix.hosts import HOSTS
from tests.matrix.scenarios import SCENARIOS
from tests.open_responses.judge import RELEASE
from tests.open_responses.suite import SUITE, WIRES, faults
from toolwire.doors import DOORS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance.md"
README = ROOT / "README.md"

_TITLES = {
    "gemini": "Gemini, `POST /v1beta/models/{model}:generateContent`",
    "messages": "Anthropic Messages, `POST /messages`",
    "native": "The native API, `POST /native/chat`",
    "responses": "OpenAI Responses, `POST /responses`",
    "chat_completions": "OpenAI Chat Completions, `POST /chat/completions`",
}
_SDKS = {
    "gemini": "google-genai",
    "messages": "anthropic-python",
    "native": "a reader that checks every event against the API's models",
    "responses": "openai-python",
    "chat_completions": "openai-python",
}

_SAME, _HEARD, _ABSENT = "=", "✓", "–"

_INTRO = f"""\
# Conformance

Written by `make conformance`; a test fails when this page is out of date. What suites and data sets of others say is in
[scorecards.md](scorecards.md), before and after.

For each door (an API we serve) and provider (an API we call), what the model answers, streamed and as JSON. Each cell
is two tests: the request that reaches the provider is known to the types of that vendor's SDK, and the SDK of the
door's vendor reads the answer and must hear exactly what was said, calls and arguments to the byte, finish reason and
usage included; and the answer's bytes equal a file in `tests/matrix/golden`.

| | |
|---|---|
| {_SAME} | passes, and the client got the provider's bytes as they were |
| {_HEARD} | passes, translated or repaired |
| {_ABSENT} | the provider's API has no words for it |
"""

_STANDARD = f"""\
The Responses door against the standard of its API, [Open Responses](https://www.openresponses.org), release {RELEASE}.
Requests of the kinds that the standard's compliance suite sends, and more, each streamed and as JSON, are asked of each
wire of the demo provider. A mark says that every answer and every event is valid by the standard's schema, and that the
answer has the items that were asked for. The cells of the matrix above are judged by the same schema.

`{_ABSENT}`: OpenAI repeats the JSON schema that the answer has to follow; the standard has null there. What a host of
this API says stays as it came."""

_MARKED = re.compile(r"(<!-- supported:begin.*?-->\n).*?(<!-- supported:end -->)", re.DOTALL)


@cache
def marks() -> dict[tuple[str, str, str, bool], str]:
    """The mark of each cell. Raises what its judge raises where a client does not hear what was said."""
    found = {}
    for cell in CELLS:
        cell.judge()
        shown, sent = cell.play(), cell.reply()
        same = (shown.status, shown.body) == (sent.status, sent.body)
        found[cell.door, cell.host.name, cell.scenario.name, cell.stream] = _SAME if same else _HEARD
    return found


def page() -> str:
    """docs/conformance.md."""
    sections = [_INTRO]
    for door in DOORS:
        sections.append(f"## {_TITLES[door]}\n\nJudged by {_SDKS[door]}.\n\n{_door_table(door)}")
    sections.append(_open_responses())
    sections.append(
        "## The providers of the matrix\n\n" + "\n".join(f"- **{h.name}**: {h.about}." for h in HOSTS) + "\n"
    )
    return "\n".join(sections)


def _open_responses() -> str:
    """The Responses door by the standard: a row a request of our suite."""
    whats = dict.fromkeys(asked.what for asked in SUITE)
    rows = [[what, *(_valid(what, wire) for wire in WIRES)] for what in whats]
    table = _table(["what is asked", *WIRES], rows)
    return f"## Open Responses\n\n{_STANDARD}\n\n{table}"


def _valid(what: str, wire: str) -> str:
    """The mark of a request, streamed and as JSON. Raises AssertionError where an answer is not valid."""
    asked = [asked for asked in SUITE if asked.what == what and wire not in asked.but]
    for one in asked:
        assert faults(wire, one) == [], f"{what}, {wire}"
    return _HEARD if asked else _ABSENT


def _door_table(door: str) -> str:
    modes = [(host, stream) for host in HOSTS for stream in (True, False)]
    titles = [f"{host.name}, {'streamed' if stream else 'JSON'}" for host, stream in modes]
    rows = [
        [scenario.feature, *(_mark(door, host.name, scenario.name, stream) for host, stream in modes)]
        for scenario in SCENARIOS
    ]
    return _table(["what the model answers", *titles], rows)


def readme(text: str) -> str:
    """The README with today's table: a column a provider, all doors, streamed and JSON in one cell."""
    rows = [[scenario.feature, *(_short(host.name, scenario.name) for host in HOSTS)] for scenario in SCENARIOS]
    table = _table(["what the model answers", *(host.name for host in HOSTS)], rows)
    assert _MARKED.search(text), "the README has lost the markers of its table"
    return _MARKED.sub(lambda match: match[1] + table + match[2], text)


def _mark(door: str, host: str, scenario: str, stream: bool) -> str:
    return marks().get((door, host, scenario, stream), _ABSENT)


def _short(host: str, scenario: str) -> str:
    """One mark for all doors; their names where not all of them hear it."""
    heard = [door for door in DOORS if _mark(door, host, scenario, True) != _ABSENT]
    return (_HEARD if len(heard) == len(DOORS) else ", ".join(heard)) or _ABSENT


def _table(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, ["---"] + [":-:"] * (len(titles) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Rewrites both."""
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(README.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
