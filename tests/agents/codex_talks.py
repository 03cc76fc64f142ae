"""Codex itself, in real tool loops through the gateway: `make agents AGENT=codex-talks`.

It is installed as `clients/codex.py` says. The gateway is started on a free port. Upstream are the demo
provider of each wire, and the bench harness's, where it is there; no key, no account. Prints a table and ends with 1 if
anything in it failed.
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

from tests.agents.claude_code_talks import BENCH_MODELS, bench, directive
from tests.agents.client_file import clients
from tests.agents.recordings import failures, recorded, refused_elsewhere
from tests.gateway import gateway

#: Seconds that one talk may take.
TALK_SECONDS = 90

#: The demo model of each wire that is built.
MODELS = ("demo/openai", "demo/responses", "demo/anthropic", "demo/compatible", "demo/gemini", "demo/bedrock")

#: The bench upstream's. As a Responses host it knows no namespaces, which is where Codex has the tools of MCP servers.
OTHERS = tuple(model for model, (wire, _) in BENCH_MODELS.items() if wire != "openai_responses")

#: What docs/clients.md says, word for word, but for the address.
CONFIG = """\
model = "{model}"
model_provider = "toolwire"
{catalog}
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.toolwire]
name = "toolwire"
base_url = "{base}"
env_key = "TOOLWIRE_KEY"
wire_api = "responses"
"""

#: The server whose tools the bench upstream calls.
SERVER = """
[mcp_servers.bench]
command = "{python}"
args = ["-m", "tests.agents.mcp_tools"]
env = {{PYTHONPATH = "{root}", FAILS = "{fails}"}}
"""


def _patch(text: str) -> str:
    """The prompt for a patch that makes `notes.txt` of this text."""
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    patch = f"*** Begin Patch\n*** Add File: notes.txt\n{lines}*** End Patch\n"
    return f"[demo slow 0] [demo call apply_patch {json.dumps(patch)}]"


def _run(command: str) -> str:
    return directive("exec_command", cmd=command)


#: A long text for a file.
_LONG = "".join(f'{number}: a "quoted" word, a back\\slash, an é and a tab\t.\n' for number in range(300))


@dataclass(frozen=True)
class Talk:
    """One prompt, and what must have come of it."""

    name: str
    prompt: str
    says: tuple[str, ...] = ()  # a piece of each command's output, or of each tool's result
    writes: str | None = None  # what `notes.txt` holds afterwards
    fails: bool = False


TALKS = (
    Talk("a command", _run("echo one-ok"), ("one-ok",)),
    Talk("parallel calls", _run("echo one-ok") + _run("echo two-ok"), ("one-ok", "two-ok")),
    Talk("a command that fails", _run("echo broken; exit 3"), ("broken",), fails=True),
    Talk("a patch", _patch('a "quoted" line\na backslash \\n\n'), writes='a "quoted" line\na backslash \\n\n'),
    Talk("a long patch", _patch(_LONG), writes=_LONG),
)
OTHER_TALKS = (
    Talk("one call", "[[sim tools m=20 t=1]]", ("get_weather had 20",)),
    Talk("parallel calls", "[[sim tools m=9 t=2]]", ("get_weather had 9", "search_docs had 9")),
    Talk("interleaved calls", "[[sim tools m=9 t=2 il=1]]", ("get_weather had 9", "search_docs had 9")),
    Talk("a tool that fails", "[[sim tools m=5 t=1]]", ("get_weather had 5",), fails=True),
    Talk("a long call", "[[sim tools m=4000 t=1]]", ("get_weather had 4000",)),
    Talk("reasoning", "[[sim think n=5 m=5]]", ("get_weather had 5",)),
)


def installed() -> Path:
    """Codex's own program, installed as the suite's file of it says."""
    return clients()["codex"].installed(latest=False) / "node_modules" / ".bin" / "codex"


def hold(program: Path, base: str, model: str, talk: Talk, folder: Path) -> list[str]:
    """One talk in an empty folder; what is wrong with it."""
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    (home / "config.toml").write_text(_config(base, model, talk, home / "models.json"), "utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home), "TOOLWIRE_KEY": "none"}
    done = subprocess.run(
        [str(program), "exec", "--skip-git-repo-check", "--json", talk.prompt], cwd=work, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TALK_SECONDS, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    faults = [] if done.returncode == 0 else [f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"]
    return faults + _faults(model, talk, lines, work / "notes.txt")


def _config(base: str, model: str, talk: Talk, catalog: Path) -> str:
    """Codex's settings. The catalogue is fetched as the page says; it knows the demo's models."""
    if model in OTHERS:
        server = SERVER.format(python=sys.executable, root=Path(__file__).parents[2], fails=int(talk.fails))
        return CONFIG.format(base=base, model=model, catalog="") + server
    with urllib.request.urlopen(f"{base}/models", timeout=10) as answer:
        catalog.write_bytes(answer.read())
    return CONFIG.format(base=base, model=model, catalog=f'model_catalog_json = "{catalog}"')


def _faults(model: str, talk: Talk, lines: list[dict[str, Any]], notes: Path) -> list[str]:
    items = [line["item"] for line in lines if line["type"] == "item.completed"]
    calls = [item for item in items if item["type"] in ("command_execution", "mcp_tool_call")]
    outputs = [item["aggregated_output"] if "aggregated_output" in item else json.dumps(item) for item in calls]
    faults = [f"no result says {piece!r}" for piece in talk.says if not any(piece in output for output in outputs)]
    if len(calls) != len(talk.says):
        faults.append(f"{len(calls)} calls, not {len(talk.says)}")
    told = [item for item, output in zip(calls, outputs, strict=True) if any(piece in output for piece in talk.says)]
    if any((item["status"] == "failed") != talk.fails for item in told):
        faults.append("a call fails, or does not fail, against expectation")
    faults += [
        f"Codex reports: {item['message'][:200]}"
        for item in items
        if item["type"] == "error" and (model in MODELS or "metadata" not in item["message"])
    ]
    if talk.writes is not None and (not notes.is_file() or notes.read_text("utf-8") != talk.writes):
        faults.append("the file does not hold what was to be written")
    if not any(item["type"] == "agent_message" and (model in OTHERS or "answered" in item["text"]) for item in items):
        faults.append("the turn after the results is missing")
    if not lines or lines[-1]["type"] != "turn.completed":
        faults.append("the turn did not complete")
    return faults


def main() -> int:
    """Holds every talk with every model. Returns the exit status."""
    program, failed = installed(), 0
    with (
        tempfile.TemporaryDirectory() as place,
        recorded(Path(place) / "recordings") as recordings,
        bench(Path(place)) as config,
        gateway(Path(place), config) as base,
    ):
        pairs = [(model, talk) for model in MODELS for talk in TALKS]
        pairs += [(model, talk) for model in OTHERS for talk in OTHER_TALKS] if config else []
        for model, talk in pairs:
            folder = Path(place) / f"{model}-{talk.name}".replace("/", "-").replace(" ", "-")
            folder.mkdir()
            faults = hold(program, base, model, talk, folder)
            failed += bool(faults)
            print(f"{model:34} {talk.name:20} {'; '.join(faults) or 'ok'}", flush=True)
        failed += failures(recordings) + refused_elsewhere(recordings)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
