"""Claude Code and Codex, each in one conversation that visits every demo model: `make agents AGENT=both`.

Both have sixty tools of an MCP server beside their own, which they defer and search. What a model has left in the
history, every other one must take: a prompt fails where the agent reports an error, or where its tool was not run.
It needs node and npm, as the others here. Prints a table and ends with 1 if anything in it failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agents import claude_code_talks as claude_code
from tests.agents import codex_talks as codex
from tests.agents import sixty_tools
from tests.gateway import gateway
from toolwire.providers.hosts import DEMO_MODELS

#: Every demo model, and the first two again, which find what all the others have left.
MODELS = tuple(f"demo/{name}" for name in DEMO_MODELS)
VISITED = MODELS + MODELS[:2]
#: Seconds that one prompt may take.
SECONDS = 120

_SERVER = {"command": sys.executable, "args": [sixty_tools.__file__]}


def say_to_claude(program: Path, base: str, folder: Path, model: str, goes_on: bool) -> list[str]:
    """One prompt to Claude Code; what is wrong with the answer."""
    found = "mcp__sixty__create_comet"
    asked = [("Bash", {"command": "echo one-ok"}), ("ToolSearch", {"query": f"select:{found}"}), (found, {"name": "x"})]
    command = [str(program), *(["-c"] if goes_on else []), "-p", in_turn(*asked)]
    command += ["--max-turns", "6", "--tools", "Bash,ToolSearch", "--allowedTools", "Bash,ToolSearch,mcp__sixty"]
    command += ["--strict-mcp-config", "--mcp-config"]
    command += [json.dumps({"mcpServers": {"sixty": _SERVER}}), "--output-format", "stream-json", "--verbose"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "ANTHROPIC_BASE_URL": base.removesuffix("/v1"),
        "ANTHROPIC_AUTH_TOKEN": "none",
        "ANTHROPIC_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ENABLE_TOOL_SEARCH": "true",
    }
    lines = _lines(command, folder, environment)
    last = lines[-1] if lines else {}
    if last.get("is_error") or last.get("subtype") != "success":
        return [f"Claude Code reports: {str(last.get('result'))[:200]}"]
    return not_run([json.dumps(line) for line in lines if line["type"] == "user"])


def say_to_codex(program: Path, base: str, folder: Path, model: str, goes_on: bool) -> list[str]:
    """One prompt to Codex; what is wrong with the answer."""
    catalog = folder / "models.json"
    with urllib.request.urlopen(f"{base}/models", timeout=10) as answer:
        document = json.load(answer)
    for entry in document["models"]:
        entry["supports_search_tool"] = True  # else Codex declares all sixty
    catalog.write_text(json.dumps(document), "utf-8")
    config = codex.CONFIG.format(base=base, model=model, catalog=f'model_catalog_json = "{catalog}"')
    server = (
        f"\n[mcp_servers.sixty]\ncommand = {json.dumps(_SERVER['command'])}\nargs = {json.dumps(_SERVER['args'])}\n"
    )
    (folder / "config.toml").write_text(config + server, "utf-8")
    command = [str(program), "exec", *(["resume", "--last"] if goes_on else []), "--skip-git-repo-check", "--json"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "CODEX_HOME": str(folder), "TOOLWIRE_KEY": "none"}
    found = "mcp__sixty__create_comet"
    asked = [
        ("exec_command", {"cmd": "echo one-ok"}),
        ("tool_search", {"query": "create one comet"}),
        (found, {"name": "x"}),
    ]
    lines = _lines([*command, in_turn(*asked)], folder, environment)
    if not lines or lines[-1]["type"] != "turn.completed":
        return [f"Codex reports: {json.dumps(lines[-1:])[:200]}"]
    return not_run([json.dumps(line.get("item", {})) for line in lines])


def in_turn(*calls: tuple[str, dict[str, Any]]) -> str:
    """What has a demo model make these calls, one after the other: each behind the result of the one before."""
    return " >> ".join(claude_code.directive(name, **arguments) for name, arguments in calls)


def not_run(said: list[str]) -> list[str]:
    """What is wrong where an agent's results lack one: of its own tool, or of the one that it had to search."""
    wanted = {"one-ok": "the command was not run", "create_comet is done": "the tool that was searched was not run"}
    return [fault for words, fault in wanted.items() if not any(words in line for line in said)]


def _lines(command: list[str], folder: Path, environment: dict[str, str]) -> list[dict[str, Any]]:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


Say = Callable[[Path, str, Path, str, bool], list[str]]
AGENTS: tuple[tuple[str, Callable[[], Path], Say], ...] = (
    ("Claude Code", claude_code.installed, say_to_claude),
    ("Codex", codex.installed, say_to_codex),
)


def main() -> int:
    """Holds both conversations. Returns the exit status."""
    failed = 0
    with tempfile.TemporaryDirectory() as place, gateway(Path(place)) as base:
        for number, (agent, installed, say) in enumerate(AGENTS):
            folder, program = Path(place) / f"t{number}", installed()
            folder.mkdir()
            for turn, model in enumerate(VISITED):
                faults = say(program, base, folder, model, turn > 0)
                failed += bool(faults)
                print(f"{agent:12} {turn} {model:18} {'; '.join(faults) or 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
