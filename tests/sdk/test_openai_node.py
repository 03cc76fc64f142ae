"""The official openai Node SDK against the local server: the same tool loops as in Python, and with its own runner.

It needs node and npm, and the first time a network: `npm ci` installs what node/package-lock.json names.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.reference import needs
from tests.sdk.talks import DEMO_MODELS, SIM, SIM_MODELS, TALKS, TOOLS, check

NODE = Path(__file__).parent / "node"

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="node and npm are not installed"),
]

WAYS = pytest.mark.parametrize("way", ["whole", "helper", "raw", "runTools", "runTools streamed"])


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """What the lock names; once there, nothing is asked of a registry."""
    installed_lock, lock = NODE / "node_modules" / ".package-lock.json", NODE / "package-lock.json"
    if installed_lock.is_file() and installed_lock.stat().st_mtime > lock.stat().st_mtime:
        return
    done = subprocess.run(["npm", "ci", "--omit=dev"], cwd=NODE, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def hold_talks(
    base: str, model: str, way: str, script: str = "talks.mjs", tools: list[dict[str, Any]] = TOOLS
) -> list[list[dict[str, Any]]]:
    """What the Node SDK saw of every talk."""
    talks = [{"prompts": talk.prompts(model), "result": talk.result_for(model)} for talk in TALKS]
    asked = {"base": base, "model": model, "way": way, "tools": tools, "talks": talks}
    done = subprocess.run(
        ["node", script], cwd=NODE, input=json.dumps(asked), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    held: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return held


@WAYS
@pytest.mark.parametrize("model", DEMO_MODELS)
def test_tool_loop(demo_gateway: str, model: str, way: str) -> None:
    held = hold_talks(demo_gateway, model, way)
    for talk, turns in zip(TALKS, held, strict=True):
        check(talk, model, turns)


@needs(SIM)
@WAYS
@pytest.mark.parametrize("model", SIM_MODELS)
def test_tool_loop_with_the_bench_upstream(sim_gateway: str, model: str, way: str) -> None:
    held = hold_talks(sim_gateway, model, way)
    for talk, turns in zip(TALKS, held, strict=True):
        check(talk, model, turns)


FLAT = [{"type": "function", "strict": False, **tool["function"]} for tool in TOOLS]


@pytest.mark.parametrize("way", ["whole", "helper", "raw"])
@pytest.mark.parametrize("model", DEMO_MODELS)
def test_tool_loop_by_the_responses_api(demo_gateway: str, model: str, way: str) -> None:
    held = hold_talks(demo_gateway, model, way, "responses.mjs", FLAT)
    for talk, turns in zip(TALKS, held, strict=True):
        check(talk, model, turns)


@needs(SIM)
@pytest.mark.parametrize("way", ["whole", "helper", "raw"])
@pytest.mark.parametrize("model", SIM_MODELS)
def test_tool_loop_by_the_responses_api_with_the_bench_upstream(sim_gateway: str, model: str, way: str) -> None:
    held = hold_talks(sim_gateway, model, way, "responses.mjs", FLAT)
    for talk, turns in zip(TALKS, held, strict=True):
        check(talk, model, turns)
