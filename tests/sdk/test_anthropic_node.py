"""The official anthropic Node SDK against the local server: tool loops, streamed and whole, over every wire.

It needs node and npm, and the first time a network: `npm ci` installs what node/package-lock.json names.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.sdk.talks import DEMO_MODELS, TALKS, check
from tests.sdk.test_anthropic_python import OWN_TOOLS
from tests.sdk.test_openai_node import NODE, installed

__all__ = ["installed"]  # the fixture that runs `npm ci`

pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="node and npm are not installed"),
]

_FINISHES = {"tool_use": "tool_calls", "end_turn": "stop", "max_tokens": "length"}


def hold_talks(base: str, model: str, way: str) -> list[list[dict[str, Any]]]:
    """What the Node SDK saw of every talk."""
    talks = [{"prompts": talk.prompts(model), "result": talk.result_for(model)} for talk in TALKS]
    asked = {"base": base.removesuffix("/v1"), "model": model, "way": way, "tools": OWN_TOOLS, "talks": talks}
    done = subprocess.run(
        ["node", "messages.mjs"], cwd=NODE, input=json.dumps(asked), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    held: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return held


@pytest.mark.parametrize("way", ["whole", "streamed"])
@pytest.mark.parametrize("model", DEMO_MODELS)
def test_tool_loop(demo_gateway: str, model: str, way: str) -> None:
    held = hold_talks(demo_gateway, model, way)
    for talk, turns in zip(TALKS, held, strict=True):
        for turn in turns:
            turn |= {name: _FINISHES[turn[name]] for name in ("finish", "last_finish")}
        check(talk, model, turns)


@pytest.mark.parametrize("way", ["whole", "streamed"])
@pytest.mark.parametrize("model", DEMO_MODELS)
def test_tool_runner(demo_gateway: str, model: str, way: str) -> None:
    """The SDK's own loop, as it comes: see the one in Python."""
    asked = {
        "base": demo_gateway.removesuffix("/v1"),
        "model": model,
        "way": way,
        "tools": OWN_TOOLS,
        "runner": "[demo slow 0] Weather in Paris, Nowhere and London?",
        "talks": [],
    }
    done = subprocess.run(
        ["node", "messages.mjs"], cwd=NODE, input=json.dumps(asked), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert sorted(seen["cities"]) == ["London", "Nowhere", "Paris"]
    assert seen["finishes"] == ["tool_use", "end_turn"]
    assert seen["text"].count("18 degrees") == 2
    assert "no such place" in seen["text"]
