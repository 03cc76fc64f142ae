"""`make run RECORD=folder`: every exchange becomes a folder that replays to the same bytes, without any credential."""

from __future__ import annotations

import json
import queue
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from local import replay as replay_command
from local.handlers import load_handlers
from local.inspector.exchange import conversation
from local.resend import ask_again, with_model
from local.server import FUNCTIONS, LocalServer
from local.watch.exchanges import Exchanges
from local.watch.recorder import Recorder
from tests.door_requests import function, posted, question
from tests.in_turn import in_turn
from tests.local.serving import serving
from toolwire.doors import CONVERSATION_HEADERS, DOORS
from toolwire.model.errors import UpstreamTimeout
from toolwire.shell.network import breaker
from toolwire.shell.recording.exchange import SeenExchange
from toolwire.shell.recording.folder import expected_files
from toolwire.shell.recording.redaction import redacted
from toolwire.shell.recording.replay import replay
from toolwire.shell.recording.scenario import Failure, Recording, Scenario, load_scenario, save_scenario
from toolwire.shell.serve import admission
from toolwire.shell.serve.door import serve
from toolwire.shell.settings.configuration import load_settings

pytestmark = pytest.mark.enable_socket

EVENTS = Path(__file__).parents[2] / "events"
FOLDERS = sorted(path.parent for path in EVENTS.glob("*/event.json"))
KEY = "tw_planted_client_key"
QUESTION = "What is the weather in Paris and Oslo?"
CITY = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
WEATHER = function("get_weather", CITY, "The weather")
BODIES = {door: question(door, QUESTION, WEATHER) for door in DOORS}
KEEPS = "[tenants.default]\nkeep_answers = true\n"


@dataclass(frozen=True, slots=True)
class Gateway:
    """A recording gateway."""

    url: str
    folder: Path
    exchanges: Exchanges

    def ask(self, door: str, body: dict[str, Any], **headers: str) -> tuple[dict[str, str], bytes]:
        path, content = posted(door, body)
        return self.post(path, content, **headers)

    def post(self, path: str, body: bytes, **headers: str) -> tuple[dict[str, str], bytes]:
        request = urllib.request.Request(
            f"{self.url}/v1{path}",
            body,
            {"content-type": "application/json", "authorization": f"Bearer {KEY}", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return dict(error.headers), error.read()

    def recorded(self, headers: dict[str, str]) -> Path:
        """The folder of an answer, once it is written."""
        request_id = next(value for name, value in headers.items() if name.lower() == "x-request-id")
        folder = self.folder / request_id
        for _ in range(500):
            if (folder / "exchange.json").exists():
                return folder
            time.sleep(0.01)
        raise AssertionError(f"nothing was recorded for {request_id}")


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    breaker._breaker.cache_clear()  # hosts that are down in one test are not to be passed over in the next
    exchanges = Exchanges()
    folder = tmp_path / "recordings"
    exchanges.listen(Recorder(folder))
    with serving(LocalServer(("127.0.0.1", 0), load_handlers(FUNCTIONS), exchanges)) as server:
        yield Gateway(server.url, folder, exchanges)


def expected(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("expected.*")}


def replays(folder: Path) -> Scenario:
    """Holds a folder's replay against what was really sent."""
    scenario = load_scenario(folder)
    assert expected_files(replay(scenario)) == expected(folder)
    return scenario


MODELS = ("openai", "compatible", "responses", "anthropic", "gemini", "bedrock")


@in_turn("door, model, stream", [False, True], DOORS, MODELS)
def test_what_was_recorded_replays_byte_for_byte(gateway: Gateway, door: str, model: str, stream: bool) -> None:
    body = BODIES[door]
    headers, answer = gateway.ask(door, {**body, "model": f"demo/{model}", "stream": stream})
    folder = gateway.recorded(headers)

    replays(folder)
    (name,) = (name for name in ("expected.sse", "expected.body.json") if (folder / name).exists())
    assert (folder / name).read_bytes() == answer
    about = json.loads((folder / "exchange.json").read_text())
    assert (about["outcome"], about["calls"]) == ("ok", ["get_weather"] * 2)
    everything = b"".join(path.read_bytes() for path in folder.iterdir())
    assert KEY.encode() not in everything
    assert QUESTION.encode() in everything


@pytest.mark.parametrize(
    "script",
    ["[demo error 429]", "[demo error 500]", "[demo cut]", "[demo length]", "[demo interleave]"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_so_does_what_went_wrong(gateway: Gateway, script: str, stream: bool) -> None:
    body = BODIES["messages"]
    body = {**body, "messages": [{"role": "user", "content": f"{QUESTION} {script}"}]}
    headers, _ = gateway.ask("messages", {**body, "model": "demo/openai", "stream": stream})

    replays(gateway.recorded(headers))


def test_a_later_turn_takes_what_the_store_had_with_it(gateway: Gateway) -> None:
    body = BODIES["chat_completions"]
    body = {**body, "model": "demo/gemini"}
    _, answer = gateway.ask("chat_completions", body)
    calls = json.loads(answer)["choices"][0]["message"]["tool_calls"]
    kept = [{"id": call["id"], "type": "function", "function": call["function"]} for call in calls]
    history = [
        *body["messages"],
        {"role": "assistant", "content": None, "tool_calls": kept},
        *({"role": "tool", "tool_call_id": call["id"], "content": "12 degrees"} for call in kept),
    ]
    headers, _ = gateway.ask("chat_completions", {**body, "messages": history})
    folder = gateway.recorded(headers)

    replays(folder)
    found = json.loads((folder / "context.json").read_text())["found"]
    assert len(found["items"]) >= len(calls)
    assert b"thoughtSignature" in (folder / "expected.request.json").read_bytes()


def test_so_does_what_continues_from_a_kept_answer(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The history that the store had is in the folder, and on the page."""
    monkeypatch.setattr(
        admission, "current_settings", lambda: load_settings({"TOOLWIRE_CONFIG": "x"}, lambda place: KEEPS)
    )
    body = BODIES["responses"]
    _, answer = gateway.ask("responses", {**body, "model": "demo/compatible"})
    first = json.loads(answer)
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "12 degrees"}
        for item in first["output"]
        if item["type"] == "function_call"
    ]
    more = {"model": "demo/compatible", "tools": body["tools"], "previous_response_id": first["id"], "input": outputs}
    headers, _ = gateway.ask("responses", more)
    folder = gateway.recorded(headers)

    replays(folder)
    assert QUESTION.encode() in (folder / "expected.request.json").read_bytes()
    seen = gateway.exchanges.get(folder.name)
    assert seen is not None
    kinds = [spoken.kind for spoken in conversation(seen)]
    assert kinds == ["text", "reasoning", "call", "call", "result", "result"]


def second_turn(door: str, body: dict[str, Any], answer: bytes) -> dict[str, Any]:
    """The request with the results, as an agent makes it: with all that the answer had, reasoning and its state too."""
    said = json.loads(answer)
    if door == "responses":
        done = [it for it in said["output"] if it["type"] == "function_call"]
        results = [{"type": "function_call_output", "call_id": it["call_id"], "output": "12 degrees"} for it in done]
        return {**body, "input": [{"role": "user", "content": QUESTION}, *said["output"], *results]}
    if door == "gemini":
        content = said["candidates"][0]["content"]
        done = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        told = {"response": {"output": "12 degrees"}}
        results = [{"functionResponse": {**it, **told}} for it in done]
        for result in results:  # an id is there if the host gives any
            del result["functionResponse"]["args"]
        return {**body, "contents": [*body["contents"], content, {"role": "user", "parts": results}]}
    if door == "messages":
        done = [it for it in said["content"] if it["type"] == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": it["id"], "content": "12 degrees"} for it in done]
        turns = [{"role": "assistant", "content": said["content"]}, {"role": "user", "content": results}]
        return {**body, "messages": [*body["messages"], *turns]}
    message = said["choices"][0]["message"] if "choices" in said else said["message"]
    results = [{"role": "tool", "tool_call_id": it["id"], "content": "12 degrees"} for it in message["tool_calls"]]
    return {**body, "messages": [*body["messages"], message, *results]}


@in_turn("door, model", ["responses", "anthropic", "gemini"], DOORS)
def test_a_recorded_session_replays_and_goes_to_every_other_provider(gateway: Gateway, door: str, model: str) -> None:
    """The turn with the calls and the one with their results, as agents have them."""
    body = {**BODIES[door], "model": f"demo/{model}"}
    first, answer = gateway.ask(door, body)
    second, _ = gateway.ask(door, second_turn(door, body, answer))
    replays(gateway.recorded(first))
    scenario = replays(gateway.recorded(second))
    for wire in ("openai", "responses", "anthropic", "gemini", "bedrock", "bedrock-claude", "compatible"):
        seen = ask_again(with_model(scenario.event, f"demo/{wire}"), partial(serve, door), Exchanges())
        assert seen.error is None, f"{wire}: {seen.error}"


def test_a_host_that_is_down_and_a_request_that_is_refused(gateway: Gateway) -> None:
    body = BODIES["chat_completions"]
    headers, _ = gateway.ask("chat_completions", {**body, "model": "lmstudio/some"})
    down = replays(gateway.recorded(headers))
    assert down.answers[0].status is None

    headers, _ = gateway.ask("chat_completions", {**body, "model": "nowhere/some"})
    refused = replays(gateway.recorded(headers))
    assert refused.answers == ()


@pytest.mark.parametrize("header", CONVERSATION_HEADERS)
def test_headers_that_the_gateway_reads_are_kept(gateway: Gateway, header: str) -> None:
    """Claude Code names its conversation in one."""
    body = BODIES["messages"]
    name = "ad71c9eb-9dc9-4612-93c4-8d5ad3b4d5df"
    headers, _ = gateway.ask("messages", {**body, "model": "demo/openai"}, **{header: name})

    assert headers["x-conversation-id"] == name
    replays(gateway.recorded(headers))


@in_turn("door, stream", [False, True], DOORS)
def test_attempts_at_other_models_are_part_of_it(gateway: Gateway, door: str, stream: bool) -> None:
    body = BODIES[door]
    headers, answer = gateway.ask(
        door,
        {**body, "model": "lmstudio/some", "stream": stream},
        **{"x-toolwire-fallback": "vllm/other, demo/anthropic"},
    )
    folder = gateway.recorded(headers)
    scenario = replays(folder)

    assert [answer.status for answer in scenario.answers] == [None, None, 200]
    assert b"get_weather" in answer
    assert json.loads((folder / "exchange.json").read_text())["provider"] == "demo/anthropic"
    assert json.loads((folder / "expected.json").read_text())["headers"]["x-toolwire-attempts"] == "3"


def test_all_attempts_may_fail(gateway: Gateway) -> None:
    body = BODIES["chat_completions"]
    headers, _ = gateway.ask(
        "chat_completions", {**body, "model": "lmstudio/some"}, **{"x-toolwire-fallback": "vllm/other"}
    )

    assert [answer.status for answer in replays(gateway.recorded(headers)).answers] == [None, None]


def test_who_was_not_asked_at_all_for_want_of_a_key_is_no_exchange(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    body = BODIES["chat_completions"]
    over: queue.Queue[SeenExchange] = queue.Queue()
    gateway.exchanges.listen(lambda seen: over.put(seen) if seen.over else None)
    gateway.ask("chat_completions", {**body, "model": "groq/some"})

    assert not over.get(timeout=10).is_whole
    assert not gateway.folder.exists()


def test_targets_that_are_passed_over_are_no_attempts(gateway: Gateway) -> None:
    """After failures of other requests the first is not asked any more: see `shell/network/breaker.py`."""
    body = BODIES["chat_completions"]
    body = {**body, "model": "lmstudio/some"}
    attempts = []
    for _ in range(12):
        headers, _ = gateway.ask("chat_completions", body, **{"x-toolwire-fallback": "demo/anthropic"})
        attempts.append(len(replays(gateway.recorded(headers)).answers))

    assert attempts[0] == 2
    assert attempts[-1] == 1


def test_a_question_for_a_number_of_tokens_is_no_exchange(gateway: Gateway) -> None:
    body = BODIES["messages"]
    body = {name: value for name, value in body.items() if name != "max_tokens"}
    over: queue.Queue[SeenExchange] = queue.Queue()
    gateway.exchanges.listen(lambda seen: over.put(seen) if seen.over else None)
    gateway.post("/messages/count_tokens", json.dumps({**body, "model": "demo/anthropic"}).encode())

    assert not over.get(timeout=10).is_whole
    assert not gateway.folder.exists()


def test_nobody_who_was_not_let_in_is_recorded(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from toolwire.shell.settings.current import current_settings

    (tmp_path / "keys.json").write_text('{"keys": []}')
    monkeypatch.setenv("KEYS_FILE", str(tmp_path / "keys.json"))
    current_settings.forget()
    try:
        body = BODIES["chat_completions"]
        gateway.ask("chat_completions", {**body, "model": "demo/openai"})
    finally:
        monkeypatch.undo()
        current_settings.forget()
    assert not gateway.folder.exists()


class TestCredentials:
    """A provider's key is sent to it, may be repeated by it, and is in no folder."""

    @pytest.fixture
    def host(self) -> Iterator[tuple[int, list[bytes]]]:
        """A host that answers 401 and repeats the key, as some do."""
        seen: list[bytes] = []
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def serve() -> None:
                client, _ = listener.accept()
                with client:
                    request = b""
                    while b"\r\n\r\n" not in request or not request.endswith(b"}"):
                        request += client.recv(1 << 16)
                    seen.append(request)
                    body = b'{"error":{"message":"Incorrect API key provided: sk-planted-provider-key"}}'
                    client.sendall(
                        b"HTTP/1.1 401 no\r\ncontent-type: application/json\r\nset-cookie: session=planted-cookie\r\n"
                        b"content-length: %d\r\n\r\n%b" % (len(body), body)
                    )

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            yield listener.getsockname()[1], seen
            thread.join(5)

    def test_none_is_written(
        self, gateway: Gateway, host: tuple[int, list[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        from toolwire.shell.settings.current import current_settings

        port, seen = host
        config = tmp_path / "toolwire.toml"
        config.write_text(
            f'[providers.mine]\nwire = "openai_chat"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
            'credential = "env:MINE"\n'
        )
        monkeypatch.setenv("TOOLWIRE_CONFIG", str(config))
        monkeypatch.setenv("MINE", "sk-planted-provider-key")
        current_settings.forget()
        try:
            body = BODIES["chat_completions"]
            headers, answer = gateway.ask(
                "chat_completions",
                {**body, "model": "mine/m"},
                **{"x-api-key": "planted-two", "cookie": "a=planted-three"},
            )
        finally:
            monkeypatch.undo()
            current_settings.forget()
        folder = gateway.recorded(headers)

        assert b"sk-planted-provider-key" in seen[0]
        assert b"planted" not in answer
        everything = b"".join(path.read_bytes() for path in folder.iterdir())
        assert b"planted" not in everything
        replays(folder)


def test_make_replay_takes_a_recorded_folder(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    body = BODIES["responses"]
    headers, _ = gateway.ask("responses", {**body, "model": "demo/anthropic", "stream": True})
    folder = gateway.recorded(headers)

    assert replay_command.main([str(folder)]) == 0
    assert capsys.readouterr().out.endswith("\nas expected\n")


@pytest.mark.parametrize("model", ["demo/gemini", "demo/bedrock", "demo/openai"])
def test_the_same_conversation_at_another_provider(
    gateway: Gateway, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    body = BODIES["messages"]
    headers, _ = gateway.ask("messages", {**body, "model": "demo/anthropic", "stream": True})
    folder = gateway.recorded(headers)

    assert replay_command.main([str(folder), "--model", model]) == 0
    out = capsys.readouterr().out
    lines = {line[:16].strip(): line[16:] for line in out.splitlines() if line[:16].strip()}
    assert "demo/anthropic" in lines["model"]
    assert model in lines["model"]
    assert lines["calls"].count("get_weather, get_weather") == 2


def test_a_model_that_leads_nowhere_is_said(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    body = BODIES["chat_completions"]
    headers, _ = gateway.ask("chat_completions", {**body, "model": "demo/openai"})

    assert replay_command.main([str(gateway.recorded(headers)), "--model", "opnai/x"]) == 1
    assert "not configured here" in " ".join(capsys.readouterr().out.replace("|", " ").split())


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
class TestRedaction:
    """REDACT=1: no word of anybody, the same structure, and a replay that has the same shape."""

    WORDS = ("Oslo", "Paris", "New York", "weather in", "degrees", "umbrella")

    def test_it_still_replays(self, folder: Path, tmp_path: Path) -> None:
        scenario = load_scenario(folder)
        small = redacted(scenario)
        before, after = replay(scenario), replay(small)

        assert after.head.status == before.head.status
        kinds = [[type(event) for event in step.events] for step in before.steps]
        assert [[type(event) for event in step.events] for step in after.steps] == kinds
        save_scenario(tmp_path, small)
        assert expected_files(replay(load_scenario(tmp_path))) == expected_files(after)

    def test_nothing_that_was_said_is_left(self, folder: Path, tmp_path: Path) -> None:
        save_scenario(tmp_path, redacted(load_scenario(folder)))
        text = "".join(path.read_text("utf-8") for path in tmp_path.iterdir())

        assert [word for word in self.WORDS if word in text] == []

    def test_lengths_stay(self, folder: Path) -> None:
        scenario = load_scenario(folder)
        small = redacted(scenario)

        assert [len(answer.body) for answer in small.answers] == [len(answer.body) for answer in scenario.answers]
        if "content-encoding" not in scenario.event["headers"]:
            assert len(small.event["body"]) == len(scenario.event["body"])


@pytest.mark.parametrize("before_head", [True, False])
def test_what_the_client_was_sent_while_it_waited_is_replayed(before_head: bool) -> None:
    scenario = load_scenario(EVENTS / "messages_parallel_calls")
    whole = scenario.answers[0]
    size = len(whole.pieces[0])
    timing: list[tuple[float, int | None]] = [(0.1, size), (10.0, None), (20.0, None), (21.0, len(whole.body) - size)]
    if before_head:
        timing = [(15.0, None), *timing]
    waited = Scenario(
        scenario.event, Recording(whole.status, whole.headers, whole.body, "complete", None, tuple(timing))
    )
    body = replay(waited).body

    assert body.count(b"event: ping") == replay(scenario).body.count(b"event: ping") + len(
        [1 for _, size in timing if size is None]
    )
    assert replay(waited).head.status == 200


def test_pieces_are_those_that_came() -> None:
    whole = load_scenario(EVENTS / "one_call_stream").answers[0]
    sizes = (1, 700, len(whole.body) - 701)
    came = Recording(200, whole.headers, whole.body, "complete", None, tuple((0.1, size) for size in sizes))

    assert [len(piece) for piece in came.pieces] == list(sizes)
    assert b"".join(came.pieces) == whole.body
    cut = Recording(200, whole.headers, whole.body[:-1], "complete", None, came.timing)
    assert len(cut.pieces) == len(whole.pieces)


def test_an_answer_that_never_came_is_kept_with_its_error(tmp_path: Path) -> None:
    scenario = load_scenario(EVENTS / "text_stream")
    failure = Failure.of(UpstreamTimeout("The upstream x sent nothing for 60 s."))
    late = Scenario(scenario.event, Recording(None, {}, b"", "cut", failure))
    save_scenario(tmp_path, late)

    replayed = replay(load_scenario(tmp_path))
    assert replayed.head.status == 504
    assert b"sent nothing for 60 s" in replayed.body


def test_a_folder_that_cannot_be_written_is_said_and_ends_nothing(
    gateway: Gateway, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recordings").write_text("a file")
    body = BODIES["chat_completions"]
    over: queue.Queue[SeenExchange] = queue.Queue()
    gateway.exchanges.listen(lambda seen: over.put(seen) if seen.over else None)
    _, answer = gateway.ask("chat_completions", {**body, "model": "demo/openai"})

    assert json.loads(answer)["object"] == "chat.completion"
    over.get(timeout=10)
    assert "was not recorded" in capsys.readouterr().err
