"""What the pages ask a newcomer to type works as it stands there: commands, snippets and configuration."""

from __future__ import annotations

import http.client
import json
import re
import shlex
from collections.abc import Iterator
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
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


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


def test_the_replay_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    (folder,) = re.findall(r"make replay EVENT=(\S+)", (ROOT / "README.md").read_text())

    assert replay([str(ROOT / folder)]) == 0
    assert "as expected" in capsys.readouterr().out
