"""What the pages ask a newcomer to type works as it stands there: commands, snippets and configuration."""

from __future__ import annotations

import argparse
import http.client
import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from local.replay import main as replay
from tests.gateway import ROOT, gateway
from toolwire.shell.settings.configuration import load_settings

pytestmark = pytest.mark.enable_socket

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "events" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))


def blocks(language: str) -> list[str]:
    """The code blocks of this language in all pages."""
    found = [re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL) for page in PAGES]
    return [block for of_page in found for block in of_page]


#: The other routes' pages have tests of their own.
CURLS = [block[block.index("curl") :] for block in blocks("sh") if "curl -N" in block and "/chat/completions" in block]

#: What begins a section of our configuration; clients have TOML of their own.
CONFIGURATION = re.compile(r"^\[(providers|aliases|tenants)", re.MULTILINE)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a gateway as `make run` starts it."""
    with gateway(tmp_path_factory.mktemp("readme")) as url:
        yield url


@pytest.mark.parametrize("command", CURLS, ids=range(len(CURLS)))
def test_curl_streams_two_calls(base: str, command: str) -> None:
    words = shlex.split(command)
    url, body = next(word for word in words if "/v1/" in word), words[words.index("-d") + 1]
    assert urlsplit(url if "//" in url else f"//{url}").path == urlsplit(base).path + "/chat/completions"

    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=20)
    connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
    frames = connection.getresponse().read().decode().split("\n\n")
    connection.close()

    chunks = [json.loads(frame.removeprefix("data: ")) for frame in frames if frame.startswith("data: {")]
    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())]
    arguments = ["".join(call["function"]["arguments"] for call in calls if call["index"] == index) for index in (0, 1)]
    assert [json.loads(text) for text in arguments] == [{"location": "Paris"}, {"location": "New York"}]
    assert frames[-2] == "data: [DONE]"


def test_the_openai_snippet(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    snippet = next(block for block in blocks("python") if "from openai import" in block)
    assert "http://127.0.0.1:8080/v1" in snippet

    exec(snippet.replace("http://127.0.0.1:8080/v1", base), {})

    assert re.findall(r'"location":\s*"([^"]+)"', capsys.readouterr().out) == ["Paris", "New York"]


@pytest.mark.parametrize("document", [block for block in blocks("toml") if CONFIGURATION.search(block)])
def test_a_configuration_loads(document: str) -> None:
    assert load_settings({"TOOLWIRE_CONFIG": "it"}, lambda _: document).providers


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    asked = set(re.findall(r"(?:^|`)make ([a-z][a-z0-9-]*)", page.read_text(), re.MULTILINE))

    assert asked <= TARGETS


class ParsedError(Exception):
    """The program would begin now."""


#: Targets whose program is in `local/` and takes arguments.
PROGRAMS = set(re.findall(r"^([a-z]+):.*\n(?:\t.*\n)*?\t.*-m local\.(?!banner|sam_local)", MAKEFILE, re.MULTILINE))


def test_programs_take_the_arguments_of_their_documented_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make` hands over what stands in the pages, beside its own defaults, and each program's parser agrees."""
    parse = argparse.ArgumentParser.parse_args

    def parses(parser: argparse.ArgumentParser, given: Sequence[str] | None = None) -> None:
        parse(parser, given)
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parses)
    written = "\n".join(page.read_text() for page in PAGES)
    commands = set(re.findall(r"(?:^|`)(make [a-z][^`\n#|;<]*)", re.sub(r"<[^<>\n]+>", "it", written), re.MULTILINE))
    asked = {command: shlex.split(command.replace("...", "it"))[1:] for command in commands}
    asked = {command: words for command, words in asked.items() if words[0] in PROGRAMS and len(words) > 1}
    assert {words[0] for words in asked.values()} >= {"conversation", "key", "replay", "run", "scorecard", "verify"}
    made = [word for stamp in (".venv/run.stamp", ".venv-sam/stamp", ".venv/dev.stamp") for word in ("-o", stamp)]
    for command, words in sorted(asked.items()):
        command = ["make", "-n", "--no-print-directory", *made, *words]
        shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        program = shlex.split(shown.stdout.replace("\\\n", " ").partition(" -m ")[2])
        monkeypatch.setattr(sys, "argv", program)
        main = importlib.import_module(program[0]).main
        try:
            main(*([program[1:]] if main.__code__.co_argcount else []))
        except ParsedError:
            continue
        except SystemExit:
            pytest.fail(f"{command}: {capsys.readouterr().err}")
        pytest.fail(f"{command} parses nothing")


def test_the_replay_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    (folder,) = re.findall(r"make replay EVENT=(\S+)", (ROOT / "README.md").read_text())

    assert replay([str(ROOT / folder)]) == 0
    assert "as expected" in capsys.readouterr().out
