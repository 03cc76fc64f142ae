"""Settings of another API's client that a host refuses, at each wire: they are left out, with a warning, and the
request is sent once more. A client of the host's own API chooses its settings itself."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row

#: Wire -> a model of a family that nobody knows yet.
MODELS = {
    "openai_chat": "m",
    "openai_responses": "m",
    "anthropic_messages": "other-model",
    "gemini": "gemini-99-new",
    "bedrock_converse": "maker.new-model-v1:0",
}
ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": "hi"}],
    "temperature": 0.25, "top_p": 0.5, "stop": ["END"], "frequency_penalty": 0.125, "reasoning_effort": "high",
}  # fmt: skip
#: What a host says -> the setting, and what of it stands in a request.
SETTINGS: dict[str, tuple[str, str]] = {
    "`temperature` is deprecated for this model.": ("temperature", "0.25"),
    "The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model.": (
        "temperature",
        "0.25",
    ),
    "This model doesn't support the topP field. Remove topP and try again.": ("top_p", "0.5"),
    "This model doesn't support the stopSequences field. Remove stopSequences and try again.": ("stop", "END"),
    "Unsupported parameter: 'stop' is not supported with this model.": ("stop", "END"),
    "Penalty is not enabled for models/gemini-99-new": ("frequency_penalty", "0.125"),
    "Thinking level is not supported for this model.": ("reasoning_effort", '"high"'),
    "Thinking budget is not supported for this model.": ("reasoning_effort", '"high"'),
}


def opened(wire: str, door: str = "native") -> Any:
    body = json.dumps({"model": "m", **ASKED}).encode()
    return open_exchange(body, door=door, wire=wire, profile="compatible", model=MODELS[wire])


def refused(exchange: Any, message: str) -> bool:
    of_converse = exchange.attempt.target.provider.wire == "bedrock_converse"
    exchange.receive_head(400, {"content-type": "application/json"})
    exchange.receive_data(json.dumps({"message": message} if of_converse else {"error": {"message": message}}).encode())
    return bool(exchange.receive_end())


@each_row("wire", MODELS)
@each_row(("said", "setting"), SETTINGS.items())
def test_a_setting_that_the_host_refuses_is_left_out(said: str, setting: tuple[str, str], wire: str) -> None:
    name, value = setting
    exchange = opened(wire)
    if value not in exchange.upstream_request.body.decode():
        return  # the wire has no word for it, and has told so
    assert not refused(exchange, said)
    assert value not in exchange.upstream_request.body.decode()
    assert f"not_supported:{name}" in exchange.figures.warnings
    assert refused(exchange, said)


def test_its_own_client_is_shown_the_refusal() -> None:
    assert refused(opened("openai_chat", door="chat_completions"), "`temperature` is deprecated for this model.")
