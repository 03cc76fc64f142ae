"""Checks a running gateway from the outside, a deployed or a local one: a line a check, with what to change.

    python -m local.verify https://abc123.execute-api.eu-central-1.amazonaws.com/v1 --key KEY
    python -m local.verify http://127.0.0.1:8080/v1

The URL includes `/v1`. The key may come in the environment variable TOOLWIRE_KEY instead; it is never printed. The
checks use the demo models, so no provider's credential is needed. `--slow` adds those that take half a minute and
megabytes.
Exit status: 0 all passed, 1 a check failed, 2 the gateway could not be reached or the arguments are wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

import httpx

from local.client import HttpGateway, Reply
from local.expectations import (
    BlockedError,
    FailedError,
    Gateway,
    SkippedError,
    error_of,
    expect,
    expect_error,
    expect_request_id,
    expect_stream,
)
from local.verify_doors import DOOR_CHECKS

#: Bodies over the gateway's own limit (4.5 MB), over what Lambda takes (6 MB), and over what API Gateway takes (10 MB).
_TOO_LARGE, _TOO_LARGE_FOR_LAMBDA, _TOO_LARGE_FOR_API_GATEWAY = 5_000_000, 7_000_000, 11_000_000
#: The seconds between two pieces of the demo's stream in the check of streaming, and of silence in the slow check.
_PACE_MILLISECONDS, _STALL_SECONDS = 100, 20
#: The longest pause that a client may see: the gateway sends a keep-alive every 10 s.
_LONGEST_PAUSE_SECONDS = 14.0

_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The current weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
_TWO_CITIES = "What is the weather in Paris and New York?"


def chat(gateway: Gateway, text: str, **fields: Any) -> Reply:
    """A request for the demo with one tool."""
    messages = fields.pop("messages", [{"role": "user", "content": text}])
    body = {"model": "demo/openai", "messages": messages, "tools": [_WEATHER], **fields}
    return gateway.send("POST", "/chat/completions", json.dumps(body).encode())


# The checks: each returns what it saw, or raises FailedError or SkippedError.


def health(gateway: Gateway) -> str:
    reply = gateway.send("GET", "/health", key=None)
    expect(reply.status == 200, f"GET /health is {reply.status}: does the URL end in the stage (/v1)?")
    expect(isinstance(reply.json, dict) and reply.json.get("status") == "ok", "GET /health is not {'status': 'ok'}")
    return f"version {reply.json.get('version')}"


def key_is_asked_for(gateway: Gateway) -> str:
    missing = gateway.send("GET", "/models", key=None)
    if missing.status == 404:
        raise BlockedError("there is no GET /models: does the URL end in the stage (/v1)?")
    if missing.status == 200:
        expect(gateway.is_local, "anybody can use this gateway: set REQUIRE_KEY=1, as the template does")
        expect(not gateway.has_key, "a key was given, but the gateway asks for none: make one (make key)")
        raise SkippedError("the local gateway asks for no key")
    expect_error(missing, 401, "a request without a key")
    expect_error(gateway.send("GET", "/models", key=f"wrong-{secrets.token_hex(8)}"), 401, "a request with a wrong key")
    body = json.dumps({"model": "demo/openai", "messages": [{"role": "user", "content": "hi"}]}).encode()
    expect_error(gateway.send("POST", "/chat/completions", body, key=None), 401, "a chat request without a key")
    return "401 without a key and with a wrong one"


def models(gateway: Gateway) -> str:
    reply = gateway.send("GET", "/models")
    if reply.status == 401:
        raise BlockedError("the key is missing or refused: make one (make key TENANT=me STACK=...) and give it as KEY=")
    expect(reply.status == 200, f"GET /models is {reply.status}")
    names = [model.get("id") for model in (reply.json or {}).get("data", [])]
    if "demo/openai" not in names:
        raise BlockedError("the demo is off, and the other checks need it: deploy with EnableDemo=1")
    expect_request_id(reply)
    return f"{len(names)} models"


def stream_arrives_in_pieces(gateway: Gateway) -> str:
    reply = chat(gateway, f"{_TWO_CITIES} [demo slow {_PACE_MILLISECONDS}]", stream=True)
    expect_stream(reply)
    times = [moment for moment, _ in reply.pieces]
    spread = times[-1] - times[0]
    expected = (len(reply.frames) - 1) * _PACE_MILLISECONDS / 1000
    expect(
        spread > expected / 2,
        f"the stream is written over {expected:.1f} s and came within {spread:.1f} s: something buffers it. Every "
        "method needs ResponseTransferMode RESPONSE_STREAM, the function AWS_LAMBDA_EXEC_WRAPPER, a proxy no buffering",
    )
    return f"{len(times)} pieces in {times[-1]:.1f} s, the first after {times[0]:.2f} s"


def parallel_calls(gateway: Gateway) -> str:
    reply = chat(gateway, _TWO_CITIES, stream=True, stream_options={"include_usage": True})
    expect_stream(reply)
    calls: dict[int, dict[str, str]] = {}
    for delta in _deltas(reply):
        for part in delta.get("tool_calls") or []:
            call = calls.setdefault(part["index"], {"id": "", "arguments": ""})
            call["id"] += part.get("id") or ""
            call["arguments"] += part["function"].get("arguments") or ""
    arguments = [_parsed(call["arguments"]) for _, call in sorted(calls.items())]
    expect(
        arguments == [{"city": "Paris"}, {"city": "New York"}],
        f"two calls were made, these arrived: {arguments}; a bug",
    )
    expect(len({call["id"] for call in calls.values()}) == 2, "the two calls have one id; a bug")
    reasons = _finish_reasons(reply)
    expect(reasons[-1] == "tool_calls", f"the stream finished with {reasons[-1]!r} instead of 'tool_calls'; a bug")
    expect(reply.frames[-1] == "[DONE]", "the stream has no [DONE] at its end; a bug")
    expect(bool(reply.chunks[-1].get("usage")), "usage was asked for and is not in the last chunk; a bug")
    return "two calls, arguments whole, usage last"


def tool_loop(gateway: Gateway) -> str:
    first = chat(gateway, "Weather in Oslo?")
    expect(first.status == 200, f"a JSON answer is {first.status}: {error_of(first)}")
    content_type = first.headers.get("content-type", "")
    expect(content_type.startswith("application/json"), f"a JSON answer has content-type {content_type!r}; a bug")
    message = first.json["choices"][0]["message"]
    calls = message.get("tool_calls") or []
    expect(len(calls) == 1, f"one call was made, {len(calls)} arrived; a bug")
    result = {"role": "tool", "tool_call_id": calls[0]["id"], "content": "12 degrees and rain"}
    second = chat(gateway, "", messages=[{"role": "user", "content": "Weather in Oslo?"}, message, result])
    expect(second.status == 200, f"the turn with the tool's result is {second.status}: {error_of(second)}")
    text = second.json["choices"][0]["message"]["content"] or ""
    expect("12 degrees and rain" in text, "the tool's result did not reach the model; a bug")
    return "call, result, answer"


def broken_upstream(gateway: Gateway) -> str:
    reply = chat(gateway, "Weather in Oslo? [demo cut]", stream=True)
    expect(reply.status == 200, f"a stream that broke off after it had begun is {reply.status}: {error_of(reply)}")
    expect(
        any("error" in chunk for chunk in reply.chunks),
        "a stream that broke off upstream just stopped: the error event got lost between the function and here",
    )
    expect("[DONE]" not in reply.frames, "a stream that broke off upstream ended with [DONE]; a bug")
    expect(not any(_finish_reasons(reply)), "a stream that broke off upstream has a finish_reason; a bug")
    whole = chat(gateway, "Weather in Oslo? [demo cut]")
    expect_error(whole, 502, "a JSON answer that broke off upstream")
    return "an error event, no [DONE]; 502 without streaming"


def refused_upstream(gateway: Gateway) -> str:
    reply = chat(gateway, "[demo error 429]")
    expect_error(reply, 429, "an upstream's 429", upstreams=True)
    expect("retry-after" in reply.headers, "the upstream's Retry-After is lost: does a proxy remove it?")
    return "429 with Retry-After"


def unknown_model(gateway: Gateway) -> str:
    body = json.dumps({"model": "no-such-model", "messages": [{"role": "user", "content": "hi"}]}).encode()
    reply = gateway.send("POST", "/chat/completions", body)
    expect_error(reply, 404, "an unknown model")
    code = reply.json["error"].get("code")
    expect(code == "model_not_found", f"an unknown model has code {code!r} instead of 'model_not_found'; a bug")
    return "404 model_not_found"


def unknown_path(gateway: Gateway) -> str:
    expect_error(gateway.send("GET", "/no/such/path"), 404, "an unknown path", hint="the path /{path+} is missing")
    # The one path without a method, so API Gateway answers; with a key in `Authorization` by the first of these.
    lacks = "the GatewayResponse for INVALID_SIGNATURE, or for MISSING_AUTHENTICATION_TOKEN, is missing"
    expect_error(gateway.send("GET", "/"), 404, "the root", hint=lacks)
    return "404"


def malformed_json(gateway: Gateway) -> str:
    expect_error(gateway.send("POST", "/chat/completions", b'{"model": "demo/openai",'), 400, "malformed JSON")
    return "400"


def body_too_large(gateway: Gateway) -> str:
    expect_error(chat(gateway, "x" * _TOO_LARGE), 413, "a body of 5 MB")
    return "413"


def body_far_too_large(gateway: Gateway) -> str:
    for size in (_TOO_LARGE_FOR_LAMBDA, _TOO_LARGE_FOR_API_GATEWAY):
        what = f"a body of {size / 1e6:.0f} MB"
        hint = "what answers it is not the function: template.yaml needs a GatewayResponse for it"
        expect_error(chat(gateway, "x" * size), 413, what, hint=hint)
    return "413 for 7 and 11 MB"


def keep_alive(gateway: Gateway) -> str:
    reply = chat(gateway, f"{_TWO_CITIES} [demo stall {_STALL_SECONDS}]", stream=True)
    expect_stream(reply)
    times = [0.0, *(moment for moment, _ in reply.pieces)]
    longest = max(later - earlier for earlier, later in itertools.pairwise(times))
    expect(times[-1] > _STALL_SECONDS, "the demo did not stall: is this gateway's demo up to date?")
    expect(
        longest < _LONGEST_PAUSE_SECONDS,
        f"{longest:.0f} s passed without a byte while the upstream was silent: keep-alives do not arrive",
    )
    return f"longest pause {longest:.1f} s while the upstream was silent for {_STALL_SECONDS} s"


CHECKS: tuple[Callable[[Gateway], str], ...] = (
    health,
    key_is_asked_for,
    models,
    stream_arrives_in_pieces,
    parallel_calls,
    tool_loop,
    *DOOR_CHECKS,
    broken_upstream,
    refused_upstream,
    unknown_model,
    unknown_path,
    malformed_json,
    body_too_large,
)
SLOW_CHECKS = (body_far_too_large, keep_alive)


def verify(gateway: Gateway, checks: Iterable[Callable[[Gateway], str]], write: Callable[[str], object]) -> bool:
    """Runs the checks, writes a line for each, and says whether all that apply passed."""
    passed = True
    for check in checks:
        name = check.__name__.replace("_", " ")
        verdict, detail, blocked = _run(check, gateway)
        passed = passed and verdict != "FAIL"
        write(f"{verdict}  {name:<24}  {detail}")
        if blocked:
            break
    return passed


def _run(check: Callable[[Gateway], str], gateway: Gateway) -> tuple[str, str, bool]:
    """Runs one check. Returns its verdict, its line, and whether the later checks cannot run."""
    try:
        return "pass", check(gateway), False
    except SkippedError as skipped:
        return "skip", str(skipped), False
    except FailedError as failure:
        return "FAIL", str(failure), isinstance(failure, BlockedError)
    except httpx.HTTPError as error:
        return "FAIL", f"no answer: {type(error).__name__}", False
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        return "FAIL", f"the answer has none of the expected shape ({type(error).__name__}); a bug", False


def _deltas(reply: Reply) -> list[dict[str, Any]]:
    return [choice["delta"] for chunk in reply.chunks for choice in chunk["choices"]]


def _finish_reasons(reply: Reply) -> list[str | None]:
    return [choice.get("finish_reason") for chunk in reply.chunks for choice in chunk.get("choices", [])]


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.verify", description="Checks a running gateway.")
    parser.add_argument("url", help="the gateway's URL, with /v1")
    parser.add_argument("--key", default=os.environ.get("TOOLWIRE_KEY") or None, help="its key (or TOOLWIRE_KEY)")
    parser.add_argument("--slow", action="store_true", help="also the checks that take half a minute")
    options = parser.parse_args(arguments)
    url = urlsplit(options.url)
    if url.scheme not in ("http", "https") or not url.hostname:
        parser.error("the URL must begin with http:// or https://")
    gateway = HttpGateway(url, options.key)
    try:
        gateway.send("GET", "/health", key=None)
    except httpx.HTTPError as error:
        print(
            f"{url.scheme}://{url.netloc.rpartition('@')[2]} cannot be reached: {type(error).__name__}: {error}",
            file=sys.stderr,
        )
        return 2
    return 0 if verify(gateway, CHECKS + (SLOW_CHECKS if options.slow else ()), print) else 1


if __name__ == "__main__":
    sys.exit(main())
