"""Members of a request that agents send to every host of OpenAI's APIs and some hosts refuse: they are left out, or
shortened, and the request is sent once more. Each refusal is what a host was seen to say."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import open_exchange
from tests.exchange.test_odd_hosts import refused
from tests.named_rows import each_row

USER = {"role": "user", "content": "hi"}
LONG = "client_d4a85a75-2483-4b2d-b15b-b97d182711ef:" + "x" * 40
#: What agents send with every request.
SENT: dict[str, Any] = {
    "prompt_cache_key": "k", "store": False, "metadata": {"a": "b"}, "user": "u", "safety_identifier": "s",
    "service_tier": "auto", "temperature": 0.5,
}  # fmt: skip
#: Door -> a request.
ASKED: dict[str, dict[str, Any]] = {
    "chat_completions": {"model": "m", "messages": [USER], **SENT},
    "responses": {"model": "m", "input": [USER], **SENT},
}
#: Wire -> its profile.
WIRES = {"openai_chat": "compatible", "openai_responses": "compatible"}
#: A refusal -> the members that it is about.
REFUSALS: dict[str, set[str]] = {
    "Validation: Unsupported parameter(s): `prompt_cache_key`": {"prompt_cache_key"},  # NVIDIA (kimi-code#2166)
    "Unrecognized request argument supplied: prompt_cache_key": {"prompt_cache_key"},  # Azure (kimi-code#2611)
    "Unrecognized request arguments supplied: metadata, store": {"metadata", "store"},
    "[{'type': 'extra_forbidden', 'loc': ('body', 'user'), 'msg': 'Extra inputs are not permitted'}]": {"user"},
    "property 'service_tier' is unsupported": {"service_tier"},  # Groq
    "Unknown parameter: 'safety_identifier'.": {"safety_identifier"},
    # OpenAI (qwen-code#243, langchaingo#1484)
    "The 'metadata' parameter is only allowed when 'store' is enabled.": {"metadata", "store"},
}


def sent(exchange: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(exchange.upstream_request.body)
    return found


@each_row("wire", WIRES)
@each_row("door", ASKED)
@each_row(("refusal", "names"), REFUSALS.items())
def test_what_a_host_does_not_know_is_left_out(refusal: str, names: set[str], door: str, wire: str) -> None:
    exchange = open_exchange(json.dumps(ASKED[door]).encode(), door=door, wire=wire, profile=WIRES[wire])
    before = sent(exchange)
    if not names & before.keys():
        return
    assert not refused(exchange, 400, refusal)
    assert sent(exchange) == {name: value for name, value in before.items() if name not in names}
    told = {f"not_supported:{name}" for name in names & before.keys() if before[name] not in (False, "auto")}
    assert told == {warning for warning in exchange.figures.warnings if warning.startswith("not_supported")}
    assert refused(exchange, 400, refusal)


@each_row("message", [
    "Invalid value: 'user'. Supported values are: 'system' and 'assistant'.",
    "The last message must have the role user, other roles are not supported.",
    "store: the model was not found",
    "The model does not support image input for this user",
])  # fmt: skip
def test_a_refusal_of_something_else_leaves_them(message: str) -> None:
    exchange = open_exchange(json.dumps(ASKED["chat_completions"]).encode(), profile="compatible")
    before = sent(exchange)
    refused(exchange, 400, message)
    assert SENT.items() <= sent(exchange).items()
    assert before["user"] == "u"


@each_row("name", ["prompt_cache_key", "safety_identifier", "user"])
@each_row("wire", WIRES)
@each_row("door", ASKED)
def test_a_long_identifier_is_sent_as_its_digest(door: str, wire: str, name: str) -> None:
    asked = ASKED[door] | {name: LONG}
    refusal = (
        f"Invalid '{name}': string too long. Expected a string with maximum length 64, but got a string with length 84 "
        "instead."
    )
    exchange = open_exchange(json.dumps(asked).encode(), door=door, wire=wire, profile="openai", model="gpt-5.6")
    before = sent(exchange)
    if name not in before:
        return
    assert before[name] == LONG
    assert not refused(exchange, 400, refusal)
    after = sent(exchange)
    assert len(after.pop(name)) == 64
    assert after.items() <= before.items()
    assert "identifier_hashed" in exchange.figures.warnings
    assert refused(exchange, 400, refusal)
    again = open_exchange(json.dumps(asked).encode(), door=door, wire=wire, profile="openai", model="gpt-5.6")
    refused(again, 400, refusal)
    assert sent(again)[name] == sent(exchange)[name], "each turn has the same key for the prompt cache"
