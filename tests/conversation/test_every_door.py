"""Ten-turn conversations on every door with upstreams that verify what they have signed, and conversations that change
their door, their provider, or both."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.conversation import signing_hosts
from tests.conversation.clients import CLIENTS, ChatClient
from tests.conversation.signing_hosts import Claude, Copilot, DeepSeek, Gemini, Host, OpenRouter, serving
from tests.conversation.signing_responses import OpenAIResponses
from tests.gateway import gateway
from toolwire.conversation.tool_call_ids import token_of
from toolwire.doors import DOORS
from toolwire.shell.access.key_records import KeyRecord, file_text

pytestmark = [pytest.mark.enable_socket, pytest.mark.integration]

#: Name of the provider -> (host, its section of the configuration, what follows its address, the model).
HOSTS: dict[str, tuple[type[Host], str, str, str]] = {
    "gemini": (Gemini, 'wire = "gemini"', "/v1beta", "gemini-3-pro-preview"),
    "claude": (Claude, 'wire = "anthropic_messages"', "", "claude-sonnet-4-5"),
    "openai": (OpenAIResponses, 'wire = "openai_responses"\nprofile = "openai"', "/v1", "gpt-5"),
    "deepseek": (DeepSeek, 'wire = "openai_chat"\nprofile = "deepseek"', "/v1", "deepseek-chat"),
    "openrouter": (OpenRouter, 'wire = "openai_chat"\nprofile = "openrouter"', "/v1", "some/model"),
    "copilot": (Copilot, 'wire = "openai_chat"', "/v1", "gemini-3-pro"),
}
#: Doors whose client shows the provider's own ids: nothing but the API's own dialect passes between them.
LANES = {("gemini", "gemini"), ("messages", "claude"), ("responses", "openai")}


@contextmanager
def hosts(folder: Path, *names: str) -> Iterator[tuple[str, dict[str, Host]]]:
    with ExitStack() as stack:
        running, config = {}, ""
        for name in names:
            kind, section, path, _ = HOSTS[name]
            running[name] = kind()
            address = stack.enter_context(serving(partial(running.__getitem__, name))) + path
            config += f'[providers.{name}]\nbase_url = "{address}"\ncredential = "none"\n{section}\n'
        yield stack.enter_context(gateway(folder, config)), running


def model(name: str) -> str:
    return f"{name}/{HOSTS[name][3]}"


def test_every_door_is_covered() -> None:
    assert set(CLIENTS) == set(DOORS)


@pytest.mark.parametrize("door", CLIENTS)
@pytest.mark.parametrize("name", HOSTS)
def test_ten_turns(door: str, name: str, tmp_path: Path) -> None:
    with hosts(tmp_path, name) as (base, running):
        client = CLIENTS[door](base)
        for turn in range(1, 11):
            assert client.go_on(model(name), f"turn {turn}").endswith(f"done with {turn}")
        assert len(set(client.call_ids)) == len(client.call_ids) == 25
        tokens = {token_of(id) for id in client.call_ids}
        assert len(tokens) == 1
        assert (tokens == {None}) == ((door, name) in LANES)
        host = running[name]
    assert host.refused == []
    assert len(host.requests) == 30
    assert not re.search(r"call_[0-9A-Za-z]{32}|skip_thought|tw1\.", json.dumps(host.requests)), "no trace of ours"
    about_state = {code for code in client.warnings if code.startswith(("state", "id_", "store", "reasoning_turned"))}
    # The native API shows redacted thinking, but in what order it stood is known only of turns with calls.
    assert about_state == ({"state_left_out"} if (door, name) == ("native", "claude") else set())


ROUTES = [
    ("chat_completions", "messages", "responses"),
    ("messages", "native", "chat_completions"),
    ("responses", "chat_completions", "native"),
    ("native", "responses", "messages"),
    ("gemini", "messages", "chat_completions"),
    ("responses", "gemini", "native"),
]


@pytest.mark.parametrize("route", ROUTES, ids="-".join)
def test_another_door_in_the_middle(route: tuple[str, ...], tmp_path: Path) -> None:
    """Each client takes over what was said, in words that every API has. What was minted leads back to its state,
    whichever door it was minted for; what was kept in a lane is the provider's own and does without."""
    with hosts(tmp_path, *HOSTS) as (base, running):
        for name in HOSTS:
            client = CLIENTS[route[0]](base, True)
            for turn, door in enumerate(route * 2, 1):
                before, client = client, CLIENTS[door](base, turn % 2 == 0)
                client.take_over(before.steps)
                assert client.go_on(model(name), f"turn {turn}").endswith(f"done with {turn}")
    assert {name: host.refused for name, host in running.items()} == {name: [] for name in HOSTS}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("chat_completions", "messages"),
        ("messages", "responses"),
        ("native", "chat_completions"),
        ("gemini", "chat_completions"),
        ("chat_completions", "gemini"),
    ],
)
@pytest.mark.parametrize("name", HOSTS)
def test_another_door_inside_a_tool_loop(first: str, second: str, name: str, tmp_path: Path) -> None:
    """The call was made on one door, its result comes by another: its state is what is stored, if its id is ours."""
    with hosts(tmp_path, name) as (base, running):
        client = CLIENTS[first](base, False)
        client.go_on(model(name), "turn 1")
        taken = CLIENTS[second](base, True)
        taken.take_over(client.steps[:3])
        assert taken.go_on(model(name)).endswith("done with 1")
        requests = running[name].requests
    assert [refused for refused in running[name].refused if (first, name) not in LANES] == []
    if (first, name) not in LANES and name != "openai":
        assert _state(requests[1]) == _state(requests[3]) != "", "the same call with the same state"


def _state(body: object) -> str:
    return "".join(
        re.findall(
            r'"(?:thoughtSignature|signature|reasoning_content|reasoning_opaque|data)": ?"[^"]*"', json.dumps(body)
        )
    )


@pytest.mark.parametrize("door", CLIENTS)
def test_another_provider_each_turn(door: str, tmp_path: Path) -> None:
    """A client that brings back all it was given brings one provider's state to the next, which must not see it."""
    with hosts(tmp_path, *HOSTS) as (base, running):
        client = CLIENTS[door](base)
        for turn, name in enumerate([*HOSTS, *reversed(HOSTS)], 1):
            assert client.go_on(model(name), f"turn {turn}").endswith(f"done with {turn}")
    assert {name: host.refused for name, host in running.items()} == {name: [] for name in HOSTS}
    said = {name: json.dumps(host.requests) for name, host in running.items()}
    marks = {
        "gemini": "thoughtSignature",
        # In the lane a signature says nothing of its origin, so the text beside it may be read as reasoning elsewhere.
        "claude": '"signature": "' if door == "messages" else '"hmm ',
        "openai": '"encrypted_content"',
        "deepseek": "thought of own",
        "copilot": '"reasoning_opaque"',
    }
    for name, mark in marks.items():
        assert mark in said[name]
        assert [other for other in said if mark in said[other]] == [name]


@pytest.mark.parametrize("name", ["gemini", "claude"])
@pytest.mark.parametrize("door", ["chat_completions", "messages", "native"])
def test_a_host_that_no_longer_knows_its_own_state(
    door: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refuses it, once; the turn goes on without, and the client hears of it."""
    with hosts(tmp_path, name) as (base, running):
        client = CLIENTS[door](base, stream=False)
        client.go_on(model(name), "turn 1")
        client.take_over(client.steps[:3]) if (door, name) not in LANES else client.history.__delitem__(slice(3, None))
        monkeypatch.setattr(signing_hosts, "_KEY", b"another")
        assert client.go_on(model(name)).endswith("done with 1")
        assert len(running[name].refused) in (1, 2)
        assert "state_refused" in client.warnings


def test_two_tenants_with_the_same_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of one tenant's conversation, which lead to its items, lead another tenant nowhere."""
    keys = {"one": "sk-one-one-one-one", "two": "sk-two-two-two-two"}
    records = [
        KeyRecord(hashlib.sha256(key.encode()).hexdigest(), key[:6], name, created_at=1) for name, key in keys.items()
    ]
    (tmp_path / "keys.json").write_text(file_text(records), "utf-8")
    monkeypatch.setenv("KEYS_FILE", str(tmp_path / "keys.json"))
    with hosts(tmp_path, "claude") as (base, running):
        first = ChatClient(base, key=keys["one"])
        first.go_on(model("claude"), "turn 1")
        requests = running["claude"].requests
        asked = len(requests)
        for name in ("two", "one"):
            client = ChatClient(base, key=keys[name])
            client.take_over(first.steps[:3])
            assert client.go_on(model("claude")).endswith("done with 1")
        theirs, ours = json.dumps(requests[asked]), json.dumps(requests[-2])
    assert running["claude"].refused == []
    assert first.call_ids[0] in theirs
    assert not re.search(r"toolu_own|signature|hmm", theirs)
    assert "toolu_own_1_0" in ours
    assert _state(requests[-2])
