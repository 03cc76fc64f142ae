"""aimock as the provider behind the gateway: another author's idea of how each API answers, on every door."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.gateway import awaited_port, free_port, gateway
from tests.providers.every_door import REQUESTS, calls_in
from tests.scorecards.fetched import npm_package, script_of

_PACKAGE = "@copilotkit/aimock"

#: What the user says -> what the model answers: text, and the calls.
SAID: dict[str, tuple[str, list[dict[str, str]]]] = {
    "say a word": ("Good morning, Zoë.", []),
    "make a call": ("", [{"city": "Bern"}]),
    "make two calls": ("", [{"city": "Bern"}, {"city": "Oslo"}]),
    "say and call": ("Let me see.", [{"city": "Bern"}]),
}
#: Wire -> what follows aimock's address, and a model.
WIRES = {
    "openai_chat": ("/v1", "gpt-5.1"),
    "openai_responses": ("/v1", "gpt-5.1"),
    "anthropic_messages": ("", "claude-sonnet-4-5"),
    "gemini": ("/v1beta", "gemini-2.5-flash"),
    "bedrock_converse": ("", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
}
_PATHS = {
    "chat_completions": "/chat/completions",
    "responses": "/responses",
    "messages": "/messages",
    "native": "/native/chat",
}


def section(folder: Path) -> str:
    """The section of the page. Raises Absent."""
    package, version = npm_package(_PACKAGE, folder)
    with _mock(script_of(package, "llmock"), folder) as base, gateway(folder, _configuration(base)) as address:
        faults = {(door, wire): list(_faults(address, door, wire)) for door in REQUESTS for wire in WIRES}
    asked = len(SAID) * 2
    lines = [
        f"Version {version}. Of {asked} answers (text, one call, two calls, text and a call; streamed and as JSON),"
    ]
    lines += ["those that a client hears as they were written; all of them in the first run, too.", ""]
    lines += [f"| API | {' | '.join(WIRES)} |", f"|---|{'---|' * len(WIRES)}"]
    for door in REQUESTS:
        cells = (f"{asked - len(faults[door, wire])} of {asked}" for wire in WIRES)
        lines.append(f"| {door} | {' | '.join(cells)} |")
    told = Counter(fault for found in faults.values() for fault in found)
    lines += ["", *(f"- {fault} ({count} times)" for fault, count in sorted(told.items()))] if told else []
    return "\n".join([*lines, ""])


def _configuration(base: str) -> str:
    rows = (
        f'[providers.{wire}]\nwire = "{wire}"\nbase_url = "{base}{path}"\ncredential = "none"\n'
        for wire, (path, _) in WIRES.items()
    )
    return "".join(rows)


@contextmanager
def _mock(script: Path, folder: Path) -> Iterator[str]:
    port, fixtures = free_port(), folder / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": [_fixture(said) for said in SAID]}), "utf-8")
    command = ["node", str(script), "-p", str(port), "-f", str(fixtures), "--log-level", "warn"]
    with (folder / "aimock.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            awaited_port(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


def _fixture(said: str) -> dict[str, Any]:
    text, calls = SAID[said]
    made = [{"name": "weather", "arguments": json.dumps(arguments)} for arguments in calls]
    response: dict[str, Any] = {"content": text} if text else {}
    return {"match": {"userMessage": said}, "response": response | ({"toolCalls": made} if made else {})}


def _faults(address: str, door: str, wire: str) -> Iterator[str]:
    """What a client of this door hears otherwise than it was written, in words."""
    for said, (text, calls) in SAID.items():
        for stream in (True, False):
            what = f"{door} over {wire}, {said!r}, {'streamed' if stream else 'JSON'}"
            try:
                body = _asked(address, door, f"{wire}/{WIRES[wire][1]}", said, stream=stream)
                heard = [json.loads(arguments) for _, arguments in calls_in(door, body, streamed=stream)]
            except urllib.error.HTTPError as error:
                yield f"{what}: HTTP {error.code}"
            except (ValueError, KeyError, AssertionError) as error:
                yield f"{what}: {type(error).__name__}"
            else:
                if heard != calls:
                    yield f"{what}: {len(heard)} calls of {len(calls)}, or others"
                elif not stream and text and json.dumps(text)[1:-1] not in body.decode() and text not in body.decode():
                    yield f"{what}: another text"


def _asked(address: str, door: str, model: str, said: str, *, stream: bool) -> bytes:
    """The body of the answer. Raises HTTPError."""
    members = json.loads(json.dumps(REQUESTS[door]).replace('"hi"', json.dumps(said)))
    if door == "gemini":
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        url = f"{re.sub('/v1$', '/v1beta', address)}/models/{model}:{method}"
    else:
        url, members = address + _PATHS[door], members | {"model": model, "stream": stream}
    request = urllib.request.Request(url, json.dumps(members).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        body: bytes = answer.read()
    return body
