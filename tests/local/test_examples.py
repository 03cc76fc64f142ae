"""Each example runs as its page says, with every demo provider."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway import ROOT, gateway
from tests.sdk.talks import DEMO_MODELS

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

EXAMPLES = ROOT / "examples"

#: Program and its arguments -> what its output must have.
RUNS: dict[str, list[str]] = {
    "tool_loop.py": [r'get_weather\(\{"location": ?"Tokyo"\}\) -> ', "22"],
    "streamed_chat.py": [r"\[tool_calls\]", r"\[\d+ tokens\]", r'read_file\(\{"path": ?"src/main.py"\}\)'],
    "responses_turns.py": [r'get_weather\(\{"location": ?"Paris"\}\)', "18"],
    "parallel_calls.py": ["3 calls at once", "Lima", "Oslo", "Cairo"],
    "failing_tool.py": ["Database connection failed"],
    "validation.py": ["demo/gemini", r"valid: send_email\("],
    "approval.py --yes": ["deleted.*old.log"],
    "approval.py": ["did not approve"],
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gateway(tmp_path_factory.mktemp("examples")) as url:
        yield url


@pytest.mark.parametrize("model", DEMO_MODELS)
@pytest.mark.parametrize("run", RUNS)
def test_an_example(base: str, run: str, model: str) -> None:
    program, *arguments = run.split()
    said = _output(base, [sys.executable, str(EXAMPLES / program), *arguments], TOOLWIRE_MODEL=model)
    assert [pattern for pattern in RUNS[run] if not re.search(pattern, said, re.DOTALL)] == [], said


def test_the_script(base: str) -> None:
    said = _output(base, ["sh", str(EXAMPLES / "tools.sh")])
    for pattern in ("data: \\[DONE\\]", '"type": ?"tool_use"', '"id": ?"demo/openai"', "max_tokens"):
        assert re.search(pattern, said), f"{pattern} is not in\n{said}"


def test_every_example_is_on_the_page_and_runs() -> None:
    told = set(re.findall(r"\]\((\w+\.\w+)\)", (EXAMPLES / "README.md").read_text()))
    assert told == {path.name for path in EXAMPLES.glob("*") if path.suffix in (".py", ".sh")}
    assert told == {run.split()[0] for run in RUNS} | {"gateway.py", "tools.sh"}


def _output(base: str, command: list[str], **more: str) -> str:
    env = {"PATH": os.environ["PATH"], "TOOLWIRE_URL": base, **more}
    done = subprocess.run(command, env=env, cwd=Path("/"), capture_output=True, text=True, timeout=60, input="n\n")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
