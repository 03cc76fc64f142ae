"""Each client's file says what it must, on one screen, with versions; the page has its row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.agents import page
from tests.agents.client_file import CLIENTS, Known, clients, read_client
from tests.named_rows import each_row

FILES = clients()


@each_row("name", FILES)
def test_a_clients_file_is_whole(name: str) -> None:
    client = FILES[name]
    assert client.kind in ("npm", "pip")
    assert all(re.search(r"(?<=.)(==|@)\d", package) for package in client.packages), "a package without its version"
    assert all(re.fullmatch(r"(chat|responses|messages|gemini)(-streamed|-websocket)?", way) for way in client.ways)
    assert "WORD" in client.note
    assert len(client.path.read_text("utf-8").splitlines()) <= 80, "more than a screen"


def test_npm_is_asked_for_the_newest_version_and_not_for_one_that_suits_this_node() -> None:
    assert FILES["vercel_node"].newest()[:2] == ["ai@latest", "@ai-sdk/openai@latest"]
    assert FILES["strands_python"].newest() == ["strands-agents[openai,anthropic]"]


@each_row("name", FILES)
def test_a_clients_settings_are_on_the_page_of_clients(name: str) -> None:
    page_ = (CLIENTS.parents[2] / "docs" / "clients.md").read_text("utf-8").lower()
    assert re.split(r" for | \(", FILES[name].name)[0].lower() in page_


def test_what_every_file_shares_is_no_client() -> None:
    assert {path.stem for path in CLIENTS.glob("*.*")} - FILES.keys() == {"tools"}


def test_a_head_is_read(tmp_path: Path) -> None:
    file = tmp_path / "one.mjs"
    file.write_text(
        "// One.\n//\n// name: One Two\n// install: npm @a/b@1.2 c@3\n// ways: chat, chat-streamed\n"
        "// seconds: 300\n// known: error-result gemini: theirs: it gives up: always\n"
    )
    client = read_client(file)
    assert client.seconds == 300
    assert (client.kind, client.packages, client.ways) == ("npm", ("@a/b@1.2", "c@3"), ("chat", "chat-streamed"))
    assert client.known == (Known("error-result", "gemini", "theirs", "it gives up: always"),)
    assert page.explained(client, "chat", "error result", "gemini") == client.known[0]
    assert page.explained(client, "chat", "error result", "openai") is None


def test_a_row_replaces_its_own_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "agents.md")
    well: dict[str, Any] = {column: [] for column in page.COLUMNS}
    ill = well | {"gemini": [page.Verdict("chat", "cut", None), page.Verdict("chat-streamed", "cut", None)]}
    for row in (
        page.Row("b", "1", ill, "2026-01-01"),
        page.Row("A", "2", ill, "2026-01-02"),
        page.Row("b", "3", well, "x"),
    ):
        page.write(row)
    there = page.rows(page.PAGE.read_text())
    assert list(there) == ["A", "b"]
    assert {column for column in page.COLUMNS if there["A"][column] != "ok"} == {"gemini"}
    assert there["A"]["gemini"] == "cut"
    assert there["A"]["failures, and whose they are"].count("not explained yet") == 2
    assert all(there["b"][column] == "ok" for column in page.COLUMNS)
    assert (there["b"]["version"], there["b"]["date"]) == ("3", "x")


def test_a_column_that_a_row_was_written_without_was_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "agents.md")
    page.PAGE.write_text("| client | version | openai |\n| --- | --- | --- |\n| a | 1 | ok |\n")
    page.write(page.Row("b", "1", {column: [] for column in page.COLUMNS}, "x"))
    first = page.rows(page.PAGE.read_text())["a"]
    assert (first["openai"], first["gemini"]) == ("ok", "not run")


def test_columns_that_were_not_run_again_stay_with_their_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "agents.md")
    found: dict[str, list[page.Verdict]] = {column: [] for column in page.COLUMNS}
    found |= {"openai": [page.Verdict("chat", "error result", None)], "gemini": [page.Verdict("chat", "cut", None)]}
    page.write(page.Row("a", "1", found, "2026-01-01"))
    page.write(page.Row("a", "1", {"gemini": [page.Verdict("chat", "429", None)]}, "2026-01-02"))
    row = page.rows(page.PAGE.read_text())["a"]
    assert (row["openai"], row["gemini"], row["switch"], row["date"]) == ("error result", "429", "ok", "2026-01-01")
    assert (
        row["failures, and whose they are"] == "429 (chat): not explained yet; error result (chat): not explained yet"
    )
    page.write(page.Row("a", "2", {"gemini": []}, "2026-01-03"))
    row = page.rows(page.PAGE.read_text())["a"]
    assert (row["openai"], row["gemini"], row["date"]) == ("not run", "ok", "2026-01-03")
    assert row["failures, and whose they are"] == ""


def test_the_page_has_only_clients_that_there_are() -> None:
    names = {client.name for client in FILES.values()}
    assert set(page.rows(page.PAGE.read_text("utf-8"))) <= names
