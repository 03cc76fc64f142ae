"""Every recording through the native door. The judge has no reader of it, so ours compares with the judge's reading.

What the door shows as an object keeps its digits; arguments that are none are an error, unless the limit cut them.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from tests.corpus import driver
from tests.corpus.test_recordings import ROWS, SAMPLE, recording, the_judges_open_files
from tests.named_rows import each_row
from tests.native_client import Said, read_answer, read_stream
from tests.reference import judge
from toolwire.model.limits import PRESET_AGENTS
from toolwire.model.settings import Tenant
from toolwire.providers.profiles import PROFILES

ROOMY = Tenant(native_limits=PRESET_AGENTS)


@each_row("path", SAMPLE)
def test_sample(path: str) -> None:
    check(path)


@pytest.mark.integration
@pytest.mark.parametrize("path", [path for path in ROWS if path not in SAMPLE])
def test_all(path: str) -> None:
    check(path)


def check(path: str) -> None:
    """Fails unless a client of the native API hears what the recording says."""
    played = recording(path)
    said = heard(path)
    want = played.turn
    if played.expect == "http-error":
        assert said.error is not None
    if played.expect == "not-clean":
        assert said.error is not None or said.finish in ("length", "content_filter")
    if played.expect != "same":
        return
    broken = [call for call in want.calls if not judge().is_object(call)]
    if broken and want.finish != "length":
        assert said.error is not None
        assert said.error["code"] == "malformed_tool_arguments"
        return
    if said.error is not None:
        assert want.finish == "content_filter", said.error
        return
    assert (said.text, said.finish) == (want.text, want.finish)
    assert [call.name for call in said.calls] == [call.name for call in want.calls]
    for call, its in zip(said.calls, want.calls, strict=True):
        if call.arguments is None:
            assert its in broken or (its.text == "" and want.finish == "length")
        elif its.text is not None:
            assert call.arguments == (its.text or "{}")
        else:
            assert json.loads(call.arguments) == json.loads(json.dumps(its.value, default=float))


def heard(path: str) -> Said:
    """The answer to the whole body, as the API's client understands it."""
    played = recording(path)
    profile = played.provider if played.provider in PROFILES else "compatible"
    wire = judge().WIRES[played.api][0]
    exchange = driver.open_exchange(request(path), door="native", wire=wire, profile=profile, tenant=ROOMY)
    whole = driver.answer(exchange, [played.body], status=played.status, content_type=played.content_type)
    streams = whole.headers["content-type"].startswith("text/event-stream")
    return read_stream(whole.body) if streams else read_answer(whole.body)


@cache
def request(path: str) -> bytes:
    """The recording's tools under names that this door takes."""
    played = recording(path)
    with the_judges_open_files():
        tools = list(played.tools())
    declared: list[dict[str, Any]] = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": description or "Does it.",
                "parameters": {"type": "object", **(schema or {})},
            },
        }
        for name, description, schema in tools
        if re.fullmatch("[a-zA-Z0-9_]{1,64}", name)
    ]
    messages = [{"role": "user", "content": "x"}]
    body = {"model": "m", "stream": played.stream, "messages": messages, "tools": declared}
    return json.dumps(body, default=float).encode()
