"""Codex itself, in real tool loops through the gateway: `python -m tests.agents.codex`.

It needs node and npm, and the first time a network: npm installs the version named here into a folder of its own,
outside the repository (AGENTS_DIR, else the user's cache). The gateway is started on a free port, the upstream is the
demo provider of each wire; no key, no account. Prints a table and ends with 1 if anything in it failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gateway import gateway

VERSION = "0.171.0"
PACKAGE = f"@openai/codex@{VERSION}"

#: Seconds that one talk may take.
TALK_SECONDS = 90

#: The demo model of each wire that is built.
MODELS = ("demo/openai", "demo/responses", "demo/anthropic", "demo/compatible", "demo/gemini")

#: What docs/clients.md says, word for word, but for the address.
CONFIG = """\
model_provider = "toolwire"
model_catalog_json = "{catalog}"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.toolwire]
name = "toolwire"
base_url = "{base}"
env_key = "TOOLWIRE_KEY"
wire_api = "responses"
"""

_PATCH = """\
Use apply_patch:
```
*** Begin Patch
*** Add File: notes.txt
+a "quoted" line
+a backslash \\n
*** End Patch
```
"""


@dataclass(frozen=True)
class Talk:
    """One prompt, and what must have come of it."""

    name: str
    prompt: str
    says: tuple[str, ...] = ()  # a piece of each command's output
    writes: str | None = None  # what `notes.txt` holds afterwards


TALKS = (
    Talk("a command", 'Run exec_command with "echo one-ok"', ("one-ok",)),
    Talk("parallel calls", 'Run exec_command with "echo one-ok" and "echo two-ok"', ("one-ok", "two-ok")),
    Talk("a patch", _PATCH, writes='a "quoted" line\na backslash \\n\n'),
)


def installed() -> Path:
    """Codex's own program, installed if it is not there yet."""
    folder = Path(os.environ.get("AGENTS_DIR") or Path.home() / ".cache" / "toolwire-agents") / f"codex-{VERSION}"
    program = folder / "node_modules" / ".bin" / "codex"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE], check=True)
    return program


def hold(program: Path, base: str, model: str, talk: Talk, folder: Path) -> list[str]:
    """One talk in an empty folder; what is wrong with it."""
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    catalog = home / "models.json"
    with urllib.request.urlopen(f"{base}/models", timeout=10) as answer:
        catalog.write_bytes(answer.read())
    (home / "config.toml").write_text(CONFIG.format(base=base, catalog=catalog), "utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home), "TOOLWIRE_KEY": "none"}
    done = subprocess.run(
        [str(program), "exec", "--skip-git-repo-check", "--json", "-m", model, talk.prompt], cwd=work,
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TALK_SECONDS, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    faults = [] if done.returncode == 0 else [f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"]
    return faults + _faults(talk, lines, work / "notes.txt")


def _faults(talk: Talk, lines: list[dict[str, Any]], notes: Path) -> list[str]:
    items = [line["item"] for line in lines if line["type"] == "item.completed"]
    outputs = [item["aggregated_output"] for item in items if item["type"] == "command_execution"]
    faults = [f"no command says {piece!r}" for piece in talk.says if not any(piece in output for output in outputs)]
    faults += [f"Codex reports: {item['message'][:200]}" for item in items if item["type"] == "error"]
    if talk.writes is not None and (not notes.is_file() or notes.read_text("utf-8") != talk.writes):
        faults.append("the file does not hold what was to be written")
    if not any(item["type"] == "agent_message" and "answered" in item["text"] for item in items):
        faults.append("the turn after the results is missing")
    if not lines or lines[-1]["type"] != "turn.completed":
        faults.append("the turn did not complete")
    return faults


def main() -> int:
    """Holds every talk with every model. Returns the exit status."""
    program, failed = installed(), 0
    with tempfile.TemporaryDirectory() as place, gateway(Path(place)) as base:
        for model in MODELS:
            for talk in TALKS:
                folder = Path(place) / f"{model}-{talk.name}".replace("/", "-").replace(" ", "-")
                folder.mkdir()
                faults = hold(program, base, model, talk, folder)
                failed += bool(faults)
                print(f"{model:18} {talk.name:18} {'; '.join(faults) or 'ok'}", flush=True)  # noqa: T201 - a program's output
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
