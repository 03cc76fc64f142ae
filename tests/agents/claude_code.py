"""Claude Code itself, in real tool loops through the gateway: `python -m tests.agents.claude_code`.

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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gateway import gateway

VERSION = "2.1.197"
PACKAGE = f"@anthropic-ai/claude-code@{VERSION}"

#: Seconds that one talk may take.
TALK_SECONDS = 90

#: The demo model of each wire that is built.
MODELS = ("demo/anthropic", "demo/openai", "demo/responses", "demo/compatible", "demo/gemini")

#: As long as one quoted text may be for the demo model (`docs/demo.md`).
_LINE = " ".join(f"word{number}" for number in range(28))


@dataclass(frozen=True)
class Talk:
    """One prompt, the tool it may use, and what must have come of it."""

    name: str
    prompt: str
    tool: str
    results: tuple[str, ...]  # a piece of each tool result
    fails: bool = False
    writes: str | None = None  # what `notes.txt` holds afterwards


TALKS = (
    Talk("one call", 'Use Bash to run the command "echo one-ok"', "Bash", ("one-ok",)),
    Talk(
        "parallel calls",
        '[demo calls 2] Use Bash to run the command "echo one-ok" and the command "echo two-ok"',
        "Bash",
        ("one-ok", "two-ok"),
    ),
    Talk("a tool that fails", 'Use Bash to run the command "echo broken; exit 3"', "Bash", ("broken",), fails=True),
    Talk("a file", f'Use Write for the file "notes.txt" and the content "{_LINE}"', "Write", ("",), writes=_LINE),
)


def installed() -> Path:
    """Claude Code's own program, installed if it is not there yet."""
    folder = Path(os.environ.get("AGENTS_DIR") or Path.home() / ".cache" / "toolwire-agents") / f"claude-{VERSION}"
    program = folder / "node_modules" / ".bin" / "claude"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE], check=True)
        # Whether npm runs a package's own install script is its user's choice; this one fetches nothing.
        package = folder / "node_modules" / "@anthropic-ai" / "claude-code"
        subprocess.run(["node", "install.cjs"], cwd=package, check=True)
    return program


def hold(program: Path, base: str, model: str, talk: Talk, folder: Path) -> list[str]:
    """One talk in an empty folder; what is wrong with it."""
    notes = folder / "notes.txt"
    prompt = talk.prompt.replace('"notes.txt"', f'"{notes}"')
    command = [str(program), "-p", prompt, "--tools", talk.tool, "--allowedTools", talk.tool]
    command += ["--output-format", "stream-json", "--verbose"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "ANTHROPIC_BASE_URL": base.removesuffix("/v1"),
        "ANTHROPIC_AUTH_TOKEN": "none",
        "ANTHROPIC_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    (folder / "home").mkdir()
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TALK_SECONDS, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    faults = [] if done.returncode == 0 else [f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"]
    faults += _faults(talk, lines)
    if talk.writes is not None and (not notes.is_file() or notes.read_text("utf-8") != talk.writes):
        faults.append("the file does not hold what was to be written")
    return faults


def _faults(talk: Talk, lines: list[dict[str, Any]]) -> list[str]:
    results = [block for line in lines if line["type"] == "user" for block in _blocks(line) if "tool_use_id" in block]
    calls = [b["id"] for line in lines if line["type"] == "assistant" for b in _blocks(line) if b["type"] == "tool_use"]
    faults = []
    if sorted(calls) != sorted(block["tool_use_id"] for block in results):
        faults.append("calls and results do not pair")
    if len(results) != len(talk.results):
        faults.append(f"{len(results)} tool results, not {len(talk.results)}")
    texts = [json.dumps(block.get("content")) for block in results]
    faults += [f"no result says {piece!r}" for piece in talk.results if not any(piece in text for text in texts)]
    if any(bool(block.get("is_error")) != talk.fails for block in results):
        faults.append("a result fails, or does not fail, against expectation")
    last = lines[-1] if lines else {}
    if last.get("subtype") != "success" or last.get("is_error"):
        faults.append(f"Claude Code reports: {str(last.get('result'))[:200]}")
    return faults


def _blocks(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = line["message"]["content"]
    yield from (block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()


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
                print(f"{model:18} {talk.name:18} {'; '.join(faults) or 'ok'}", flush=True)  # noqa: T201 - a program
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
