"""A client of the suite: one file of `clients/`, whose head says how it is installed and what it is asked.

The head is made of lines `key: value` in the file's first comment or docstring:

    name       what the client is called
    install    `npm` or `pip`, and packages with their versions; the first one's version is the client's
    ways       the ways in which it is run, each by a word of its own: `chat`, `chat-streamed`
    note       the directive that has it note WORD in `log.txt`; that of the tool `note` if there is none
    broken     the directive for a call that fails; that of the tool `broken` if there is none
    picture    the directive for a call that returns an image; none if the client has no such thing
    end        the directive that a conversation has to end with, for clients that end with a call
    seconds    that one conversation may take, for clients that go on trying for longer than others
    known      `SCENARIO WIRE: WHOSE: WHAT`: a failure that is explained; WIRE may be `*`

It is run as a program in an empty folder, with HOME elsewhere, and is told by the environment: BASE and ROOT of the
gateway, CLIENT (where it is installed), WAY, and TURNS, a JSON list of models and prompts of one conversation. It
prints what the model says at last in each turn.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

CLIENTS = Path(__file__).parent / "clients"
#: Seconds that one conversation may take, besides those for each turn: agents go on trying for long.
SECONDS = 120

_LINE = re.compile(r"^[ /#*]*(name|install|ways|note|broken|picture|end|seconds|known): +(\S.*?) *$")
_VERSION = re.compile(r"(?<=.)(?:==|@)[\w.+-]+$")


@dataclass(frozen=True, slots=True)
class Known:
    """A failure that is explained: in which scenario, at which wire (or "*"), whose it is, and what it is."""

    scenario: str
    wire: str
    whose: str
    what: str


@dataclass(frozen=True, slots=True)
class Client:
    """What a client's file says of itself."""

    path: Path
    name: str
    kind: str
    packages: tuple[str, ...]
    ways: tuple[str, ...]
    note: str
    broken: str
    picture: str | None
    end: str | None
    seconds: float
    known: tuple[Known, ...]

    def installed(self, *, latest: bool) -> Path:
        """The folder in which it is installed, as the file says or, `latest`, as the registries have it today."""
        packages = self.newest() if latest else list(self.packages)
        digest = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:8]
        cache = Path(os.environ.get("AGENTS_DIR") or Path.home() / ".cache" / "toolwire-agents")
        folder = cache / f"{self.path.stem}-{time.strftime('%Y-%m-%d') if latest else digest}"
        if not (folder / "installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            _npm(folder, packages) if self.kind == "npm" else _pip(folder, packages)
            (folder / "installed").touch()
        if self.path.suffix == ".mjs":  # node looks for packages from where the program is
            for module in (self.path, CLIENTS / "tools.mjs"):
                shutil.copy(module, folder)
        return folder

    def newest(self) -> list[str]:
        """Its packages as the registries have them today. npm is told to take no other version: by a bare name it takes
        an older one where the newest asks for a newer node, which programs that bring their own do not need."""
        tag = "@latest" if self.kind == "npm" else ""
        return [_VERSION.sub("", package) + tag for package in self.packages]

    def version(self, folder: Path) -> str:
        """The version of its first package, as it is installed there."""
        package = _VERSION.sub("", self.packages[0])
        if self.kind == "npm":
            document = json.loads((folder / "node_modules" / package / "package.json").read_text("utf-8"))
            return str(document["version"])
        code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
        command = [str(folder / "bin" / "python"), "-c", code, re.sub(r"\[.*\]", "", package)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def command(self, folder: Path) -> list[str]:
        """What runs the file: node from beside its packages, Python with those that it is installed with."""
        if self.path.suffix == ".mjs":
            return ["node", str(folder / self.path.name)]
        return [str(folder / "bin" / "python") if self.kind == "pip" else sys.executable, str(self.path)]


def read_client(path: Path) -> Client:
    """Reads the head of a client's file. Raises KeyError where a line is missing."""
    lines = [found.groups() for line in _head(path.read_text("utf-8")) if (found := _LINE.match(line))]
    head = {key: value for key, value in lines if key != "known"}
    kind, *packages = head["install"].split()
    return Client(
        path,
        head["name"],
        kind,
        tuple(packages),
        tuple(head["ways"].split(", ")),
        head.get("note", '[demo call note {"word": "WORD"}]'),
        head.get("broken", "[demo call broken {}]"),
        head.get("picture"),
        head.get("end"),
        float(head.get("seconds", SECONDS)),
        tuple(_known(value) for key, value in lines if key == "known"),
    )


def _head(text: str) -> list[str]:
    """The lines of a file's first comment or docstring."""
    first, *rest = text.splitlines()
    if first.startswith('"""'):
        return list(itertools.takewhile(lambda line: '"""' not in line, rest))
    return list(itertools.takewhile(lambda line: line.startswith("//"), rest))


def clients() -> dict[str, Client]:
    """Every client of the suite, by the name of its file."""
    files = sorted(path for path in CLIENTS.glob("*.*") if path.suffix in (".py", ".mjs") and path.stem != "tools")
    return {path.stem: read_client(path) for path in files}


def _known(line: str) -> Known:
    where, whose, what = line.split(": ", 2)
    scenario, wire = where.split()
    return Known(scenario, wire, whose, what)


def _npm(folder: Path, packages: list[str]) -> None:
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
    subprocess.run([*command, *packages], check=True, stdout=sys.stderr)
    # Whether npm runs a package's own install script is its user's choice; this one only puts a program in its place.
    own = folder / "node_modules" / "@anthropic-ai" / "claude-code"
    if (own / "install.cjs").exists():
        subprocess.run(["node", "install.cjs"], cwd=own, check=True)


def _pip(folder: Path, packages: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *packages], check=True, stdout=sys.stderr)
