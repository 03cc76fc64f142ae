"""Claude Code itself, in real tool loops through the gateway: `make agents AGENT=claude-talks`.

It is installed as `clients/claude_code.py` says. The gateway is started on a free port. Upstream are the demo
provider of each wire, and the bench harness's, where it is there; no key, no account. Prints a table and ends with 1 if
anything in it failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.client_file import clients
from tests.agents.mcp_tools import NAMES
from tests.agents.real_files import pdf, png
from tests.agents.recordings import failures, recorded, refused_elsewhere
from tests.gateway import awaited_port, free_port, gateway, running
from tests.reference import SHARED

#: Seconds that one prompt may take.
TALK_SECONDS = 90

#: The demo model of each wire that is built.
MODELS = ("demo/anthropic", "demo/openai", "demo/responses", "demo/compatible", "demo/gemini", "demo/bedrock")
#: Those that show no reasoning: Chat has no field for it, and the bench upstream's Responses answers have none.
THINKS_UNSEEN = ("demo/openai", "bench-responses/its-model")

BENCH = "bench/upstream.py"
#: Model of the bench upstream -> its wire, and what follows the address.
BENCH_MODELS = {
    "bench-anthropic/claude-sonnet-4-5": ("anthropic_messages", ""),
    "bench-chat/its-model": ("openai_chat", "/v1"),
    "bench-responses/its-model": ("openai_responses", "/v1"),
    "bench-gemini/gemini-2.5-flash": ("gemini", "/v1beta"),
}
#: Starts the bench upstream with the names that Claude Code gives to the tools of `mcp_tools.py`.
_START = """\
import asyncio, runpy, sys
names = runpy.run_path(sys.argv[1])
names["main"].__globals__["TOOL_NAMES"] = tuple(sys.argv[4:])
sys.argv = sys.argv[1:4]
asyncio.run(names["main"]())
"""

#: A short and a long text for a file.
_LINE = " ".join(f"word{number}" for number in range(28))
_LONG = "".join(f'{number}: a "quoted" word, a back\\slash, an é and a tab\t.\n' for number in range(350))


@dataclass(frozen=True)
class Talk:
    """Prompts of one session, the tools it may use, and what must have come of it."""

    name: str
    prompts: tuple[str, ...]
    tools: str
    results: tuple[str, ...]  # a piece of each tool result
    fails: bool = False
    holds: str | None = None  # what `notes.txt` holds at first
    writes: str | None = None  # and afterwards
    file: tuple[str, bytes] | None = None  # another file's name and what it holds


def directive(tool: str, **arguments: str) -> str:
    """What has the demo call a tool (`docs/demo.md`)."""
    return f"[demo call {tool} {json.dumps(arguments)}]"


def _bash(command: str) -> str:
    return directive("Bash", command=command, description="runs it")


DEMO_TALKS: tuple[Talk, ...] = (
    Talk("one call", (_bash("echo one-ok"),), "Bash", ("one-ok",)),
    Talk(
        "parallel calls",
        (_bash("echo one-ok") + _bash("echo two-ok"),),
        "Bash",
        ("one-ok", "two-ok"),
    ),
    Talk("a tool that fails", (_bash("echo broken; exit 3"),), "Bash", ("broken",), fails=True),
    Talk("a file", (directive("Write", file_path="notes.txt", content=_LINE),), "Write", ("",), writes=_LINE),
    Talk(
        "a long edit",
        (
            directive("Read", file_path="notes.txt"),
            "[demo slow 0]" + directive("Edit", file_path="notes.txt", old_string="to do", new_string=_LONG),
        ),
        "Read,Edit",
        ("to do", "updated"),
        holds="first\nto do\nlast\n",
        writes=f"first\n{_LONG}\nlast\n",
    ),
)

DEMO_TALKS += tuple(
    Talk(what, (directive("Read", file_path=name),), "Read", (said,), file=(name, data))
    for what, name, said, data in (
        ("a PDF", "report.pdf", "PDF file read", pdf()),
        ("an image", "red.png", "image/png", png()),
    )
)

_BENCH_TOOLS = ",".join(f"mcp__bench__{name}" for name in NAMES)
BENCH_TALKS = (
    Talk("one call", ("[[sim tools m=20 t=1]]",), _BENCH_TOOLS, ("get_weather had 20",)),
    Talk("parallel calls", ("[[sim tools m=9 t=2]]",), _BENCH_TOOLS, ("get_weather had 9", "search_docs had 9")),
    Talk(
        "interleaved calls",
        ("[[sim tools m=9 t=3 il=1]]",),
        _BENCH_TOOLS,
        ("get_weather had 9", "search_docs had 9", "run_query had 9"),
    ),
    Talk("a tool that fails", ("[[sim tools m=5 t=1]]",), _BENCH_TOOLS, ("get_weather had 5",), fails=True),
    Talk("a long call", ("[[sim tools m=4000 t=1]]",), _BENCH_TOOLS, ("get_weather had 4000",)),
    Talk("thinking", ("[[sim think n=5 m=5]]",), _BENCH_TOOLS, ("get_weather had 5",)),
)


def installed() -> Path:
    """Claude Code's own program, installed as the suite's file of it says."""
    return clients()["claude_code"].installed(latest=False) / "node_modules" / ".bin" / "claude"


@contextmanager
def bench(folder: Path) -> Iterator[str]:
    """Runs the bench harness's upstream and gives a configuration that leads to it; none where it is not there."""
    script = SHARED / BENCH
    if not script.is_file():
        yield ""
        return
    port = free_port()
    names = [f"mcp__bench__{name}" for name in NAMES]
    command = [sys.executable, "-B", "-c", _START, str(script), "--port", str(port), *names]
    with running(command, folder / "bench.log"):
        awaited_port(port)
        yield "".join(
            f'[providers.{model.partition("/")[0]}]\nwire = "{wire}"\ncredential = "none"\n'
            f'base_url = "http://127.0.0.1:{port}{path}"\n'
            for model, (wire, path) in BENCH_MODELS.items()
        )


def hold(program: Path, base: str, model: str, talk: Talk, folder: Path) -> list[str]:
    """One talk in an empty folder; what is wrong with it."""
    notes = folder / "notes.txt"
    if talk.holds is not None:
        notes.write_text(talk.holds, "utf-8")
    if talk.file is not None:
        (folder / talk.file[0]).write_bytes(talk.file[1])
    (folder / "home").mkdir()
    faults, lines = [], []
    for number, prompt in enumerate(talk.prompts):
        said = prompt.replace('"notes.txt"', f'"{notes}"')
        if talk.file is not None:
            said = said.replace(f'"{talk.file[0]}"', f'"{folder / talk.file[0]}"')
        done = _said(program, base, model, talk, said, folder, goes_on=number > 0)
        lines += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        faults += [] if done.returncode == 0 else [f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"]
    faults += _faults(talk, lines)
    if _shows_thinking(model, talk) and not any(block["type"] == "thinking" for block in _said_blocks(lines)):
        faults.append("no thinking is shown")
    if talk.writes is not None and (not notes.is_file() or notes.read_text("utf-8") != talk.writes):
        faults.append("the file does not hold what was to be written")
    return faults


def _said(
    program: Path, base: str, model: str, talk: Talk, prompt: str, folder: Path, *, goes_on: bool
) -> subprocess.CompletedProcess[str]:
    command = [str(program), *(["-c"] if goes_on else []), "-p", prompt, "--allowedTools", talk.tools]
    if model in BENCH_MODELS:
        server = {"command": sys.executable, "args": ["-m", "tests.agents.mcp_tools"], "env": _server_settings(talk)}
        command += ["--tools", "", "--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": {"bench": server}})]
    else:
        command += ["--tools", talk.tools]
    command += ["--output-format", "stream-json", "--verbose"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "ANTHROPIC_BASE_URL": base.removesuffix("/v1"),
        "ANTHROPIC_AUTH_TOKEN": "none",
        "ANTHROPIC_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        # Its own default is 5 seconds, after which a talk begins without the tools.
        "MCP_CONNECT_TIMEOUT_MS": "60000",
    }
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TALK_SECONDS, check=False,
    )  # fmt: skip


def _server_settings(talk: Talk) -> dict[str, str]:
    return {"PYTHONPATH": str(Path(__file__).parents[2]), "FAILS": "1" if talk.fails else "0"}


def _shows_thinking(model: str, talk: Talk) -> bool:
    return model not in THINKS_UNSEEN and (model in MODELS or talk.name == "thinking")


def _faults(talk: Talk, lines: list[dict[str, Any]]) -> list[str]:
    results = [block for line in lines if line["type"] == "user" for block in _blocks(line) if "tool_use_id" in block]
    calls = [block["id"] for block in _said_blocks(lines) if block["type"] == "tool_use"]
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


def _said_blocks(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for line in lines if line["type"] == "assistant" for block in _blocks(line)]


def _blocks(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = line["message"]["content"]
    yield from (block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()


def main() -> int:
    """Holds every talk with every model. Returns the exit status."""
    program, failed = installed(), 0
    with (
        tempfile.TemporaryDirectory() as place,
        recorded(Path(place) / "recordings") as recordings,
        bench(Path(place)) as config,
        gateway(Path(place), config) as base,
    ):
        pairs = [(model, talk) for model in MODELS for talk in DEMO_TALKS]
        pairs += [(model, talk) for model in BENCH_MODELS for talk in BENCH_TALKS] if config else []
        for number, (model, talk) in enumerate(pairs):
            folder = Path(place) / f"t{number}"
            folder.mkdir()
            faults = hold(program, base, model, talk, folder)
            failed += bool(faults)
            print(f"{model:34} {talk.name:18} {'; '.join(faults) or 'ok'}", flush=True)
        failed += failures(recordings) + refused_elsewhere(recordings)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
