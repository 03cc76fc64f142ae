"""Reasoning between tags in the text (CLIProxyAPI#4037, picoclaw#1233): another API's client has it as reasoning, and
no client has a call of what the model only thought about."""

from __future__ import annotations

import json
from typing import Any

from tests.named_rows import each_row
from tests.providers import every_door
from tests.providers.openai_chat.chat_upstream import CALLS, ROLE, STOP, TOTAL, chunk, opening, stream, text, whole
from toolwire.providers.openai_chat.tagged_reasoning import TaggedReasoning

DOORS = [door for door in every_door.REQUESTS if door != "chat_completions"]
#: A text -> the reasoning in it, and the text that is shown.
TEXTS: dict[str, tuple[str, str]] = {
    "<think>hm</think>so": ("hm", "so"),
    "\n<think>\nhm\n</think>\n\nso </think>": ("\nhm\n", "so </think>"),
    "<thinking>a < b</thinking> so": ("a < b", "so"),
    "<thought>hm</thought>so": ("hm", "so"),
    "<reasoning>hm</reasoning>so": ("hm", "so"),
    "[THINK]hm[/THINK]so": ("hm", "so"),
    "◁think▷hm◁/think▷so": ("hm", "so"),
    "<mm:think>hm</mm:think>so": ("hm", "so"),
    "<|open|>think<|sep|>hm<|close|>think<|sep|>so": ("hm", "so"),
    "<think></think>so": ("", "so"),
    "<think>a</thin</think>so": ("a</thin", "so"),
    "<think>never ended</thi": ("never ended</thi", ""),
    "<thin": ("", "<thin"),
    "so <think>hm</think>": ("", "so <think>hm</think>"),
    "<thinker>hm</thinker>": ("", "<thinker>hm</thinker>"),
    "[x]": ("", "[x]"),
    "  so": ("", "  so"),
}


def split(pieces: list[str]) -> tuple[str, str]:
    tags, told = TaggedReasoning(), [("", "")]
    for piece in pieces:
        told.append(("", piece) if tags.over else tags.take(piece))
    told += [] if tags.over else [tags.end()]
    return "".join(thought for thought, _ in told), "".join(shown for _, shown in told)


@each_row(("given", "wanted"), TEXTS.items())
def test_every_cut(given: str, wanted: tuple[str, str]) -> None:
    assert split([given]) == split(list(given)) == wanted
    for at in range(len(given)):
        assert split([given[:at], given[at:]]) == wanted


def said(door: str, upstream: bytes, streamed: bool, **more: Any) -> tuple[str, str, list[tuple[str, str]]]:
    answer = every_door.asked(door, upstream, streamed=streamed, wire="openai_chat", step=len(upstream), **more)
    assert answer.status == 200
    shown = every_door.text_in(door, answer.body) if streamed else answer.body.decode()
    told = every_door.reasoning_in(door, answer.body, streamed=streamed)
    return told, shown, every_door.calls_in(door, answer.body, streamed=streamed)


@each_row("door", DOORS)
@each_row(("given", "wanted"), TEXTS.items())
def test_another_apis_client_has_it_as_reasoning(given: str, wanted: tuple[str, str], door: str) -> None:
    for pieces in ([given], list(given)):
        assert said(door, stream(ROLE, *map(text, pieces), STOP, TOTAL), True) == (*wanted, [])
    reasoning, document, _ = said(door, whole({"content": given}), False)
    assert reasoning == wanted[0]
    assert not wanted[1] or json.dumps(wanted[1], ensure_ascii=False) in document


@each_row("door", DOORS)
def test_a_call_may_follow(door: str) -> None:
    call = opening(0, "call_a", "weather", "{}")
    for first, wanted in (("<think>hm</think>\n", ("hm", "")), ("<think>hm", ("hm", "")), ("<thi", ("", "<thi"))):
        assert said(door, stream(ROLE, text(first), call, CALLS, TOTAL), True) == (*wanted, [("weather", "{}")])
    beside = stream(ROLE, chunk({"reasoning_content": "r"}), text("<think>x</think>"), STOP)
    assert said(door, beside, True) == ("r", "<think>x</think>", []), "a host that has a member for it means its text"


@each_row("streamed", [True, False])
def test_a_client_of_the_hosts_api_has_what_it_says(streamed: bool) -> None:
    given = "<think>\nhm</think>\n\nso"
    upstream = stream(ROLE, *map(text, given), STOP, TOTAL) if streamed else whole({"content": given})
    answer = every_door.asked("chat_completions", upstream, streamed=streamed, wire="openai_chat")
    content = (
        every_door.text_in("chat_completions", answer.body)
        if streamed
        else json.loads(answer.body)["choices"][0]["message"]
    )
    assert content == given if streamed else content == {"role": "assistant", "content": given}


@each_row("door", [*DOORS, "chat_completions"])
@each_row("profile", ["compatible", "openai"])
def test_openais_text_is_its_text(profile: str, door: str) -> None:
    upstream = stream(ROLE, text("<think>hm</think>so"), STOP, TOTAL)
    wanted = ("", "<think>hm</think>so") if profile == "openai" or door == "chat_completions" else ("hm", "so")
    assert said(door, upstream, True, profile=profile)[:2] == wanted


CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'
#: A text -> the calls in it: what stands between tags is none, but for a call at the end that nothing follows.
THOUGHTS: dict[str, int] = {
    f"<think>maybe {CALL}</think>so": 0,
    f"<think>maybe {CALL} or not": 0,
    f"<think>maybe {CALL} or not</think>": 0,
    f"<think>{CALL} or rather\n{CALL}": 1,
    f"<think>maybe {CALL}</think>\n": 1,
    f"\n[THINK]{CALL}[/THINK]\n{CALL}": 1,
    f"<think>maybe {CALL}</think>{CALL}": 1,
    f"The tag <think> opens. {CALL}": 1,
    f"<thin{CALL}": 1,
}


@each_row("door", every_door.REQUESTS)
@each_row(("given", "count"), THOUGHTS.items())
def test_no_call_is_made_of_a_thought(given: str, count: int, door: str) -> None:
    for pieces in ([given], list(given)):
        calls = said(door, stream(ROLE, *map(text, pieces), STOP, TOTAL), True)[2]
        assert [name for name, _ in calls] == ["weather"] * count
    assert len(said(door, whole({"content": given}), False)[2]) == count
