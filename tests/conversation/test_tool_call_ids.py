"""The rules for ids: minted, kept, rewritten, and the conversation they lead back to."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.conversation.tool_call_ids import (
    ALPHABET,
    RANDOM_CHARS,
    TOKEN_CHARS,
    Conversation,
    base62,
    find_conversation,
    keeps,
    mint,
    named_conversation,
    opening_token,
    rewrite,
    token_of,
)
from toolwire.doors import CONVERSATION_HEADERS
from toolwire.model.request import ChatRequest, Message, TextPart, ToolCallPart

TOKEN = "Abcdef0123"
RANDOM = "0123456789abcdefghiJ"

TOKENS = st.text(st.sampled_from(ALPHABET), min_size=TOKEN_CHARS, max_size=TOKEN_CHARS)
RANDOMS = st.text(st.sampled_from(ALPHABET), min_size=RANDOM_CHARS, max_size=RANDOM_CHARS)

#: What the APIs take as an id.
ACCEPTED = [r"call_[a-zA-Z0-9]+", r"[a-zA-Z0-9_-]{1,40}", r"[a-zA-Z0-9_-]{1,64}", r"call_[A-Za-z0-9]{1,35}"]


def never(length: int = 0) -> str:
    raise AssertionError("no id is needed")


def new_id(length: int) -> str:
    return ("N" * 99)[:length]


def request(*ids: str) -> ChatRequest:
    """A history of one turn for each id, oldest first."""
    calls = [Message("assistant", (TextPart("x"), ToolCallPart(id, "f", "{}"))) for id in ids]
    return ChatRequest("model", (Message("user", (TextPart("hi"),)), *calls))


@given(TOKENS, RANDOMS)
def test_a_minted_id_is_legal_everywhere_and_leads_to_its_conversation(token: str, random: str) -> None:
    id = mint(token, random)

    assert len(id) == 37
    assert all(re.fullmatch(pattern, id) for pattern in ACCEPTED)
    assert token_of(id) == token


def test_minted_ids_stay_what_they_are() -> None:
    # Clients hold these ids for weeks: a change of the rule would orphan their conversations.
    assert mint(TOKEN, RANDOM) == f"call_{TOKEN}{RANDOM}{base62((TOKEN + RANDOM).encode(), 2)}"
    assert base62(b"", 4) == "5IxL"


@given(TOKENS, RANDOMS, st.integers(0, 31), st.sampled_from(ALPHABET))
def test_one_wrong_character_is_noticed_nearly_always(token: str, random: str, at: int, char: str) -> None:
    body = mint(token, random)[5:]
    changed = f"call_{body[:at]}{char}{body[at + 1 :]}"

    found = token_of(changed)

    checks = base62(changed[5:-2].encode(), 2) == changed[-2:]
    assert found == (changed[5:15] if checks else None)
    assert found is None or char == body[at] or at < 30


@each_row(
    "id",
    [
        "",
        "call_",
        "call_abc123",
        "toolu_01A09q90qw90lq917835lq9",
        "chatcmpl-tool-0123456789abcdef0123456789abcdef",
        "call_" + "0" * 32,
        mint(TOKEN, RANDOM) + "x",
        mint(TOKEN, RANDOM)[:-1],
        mint(TOKEN, RANDOM) + "\n",
        "x" + mint(TOKEN, RANDOM),
        mint(TOKEN, RANDOM).upper(),
        mint(TOKEN, RANDOM).replace("call_", "Call_"),
        "call_" + "é" * 32,
    ],
)
def test_a_foreign_id_is_not_taken_for_ours(id: str) -> None:
    assert token_of(id) is None


# ------------------------------------------------------------ conversations


OURS = f"conv_{TOKEN}"


def named(headers: dict[str, str], tenant: str = "default", *ids: str) -> Conversation:
    """The conversation that a request with these headers names."""
    found = named_conversation(request(*ids), headers, tenant, CONVERSATION_HEADERS)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("headers", "id"),
    [
        ({"x-conversation-id": "mine"}, "mine"),
        ({"x-claude-code-session-id": "claude"}, "claude"),
        ({"session-id": "codex"}, "codex"),
        ({"x-session-id": "other"}, "other"),
        ({"x-session-id": "other", "session-id": "codex", "x-conversation-id": "mine"}, "mine"),
        ({"x-session-id": "other", "x-conversation-id": ""}, "other"),
    ],
)
def test_a_header_names_the_conversation(headers: dict[str, str], id: str) -> None:
    conversation = named(headers, "default", mint(TOKEN, RANDOM))

    assert conversation.id == id
    assert conversation.token == base62(f"default\n{id}".encode(), 10)
    assert re.fullmatch("[0-9A-Za-z]{10}", conversation.token)


@each_row("id", ["a\r\nset-cookie: b", "a" * 257, "caf\xe9", "\u20ac", "\ud800", " a", "a ", "a\tb", "\0"])
def test_a_name_that_no_header_can_bear_is_shown_by_its_token(id: str) -> None:
    conversation = named({"x-conversation-id": id})

    assert conversation.id == f"conv_{conversation.token}"
    assert named({"x-conversation-id": conversation.id}) == conversation


@pytest.mark.parametrize("id", ["a", "a" * 256, "thread 1/2", "~!", '{"a": "b"}'])
def test_a_name_that_a_header_can_bear_is_shown(id: str) -> None:
    assert named({"x-conversation-id": id}).id == id


def test_an_id_that_we_made_carries_its_token() -> None:
    conversation = named({"x-conversation-id": OURS})

    assert (conversation.id, conversation.token) == (OURS, TOKEN)


@pytest.mark.parametrize("id", [OURS + "x", OURS[:-1], "conv_" + "-" * 10, OURS + "\n"])
def test_an_id_that_only_looks_like_ours_is_hashed(id: str) -> None:
    assert named({"x-conversation-id": id}).token != TOKEN


def test_the_token_of_a_named_conversation_differs_by_tenant() -> None:
    headers = {"x-conversation-id": "mine"}
    tokens = {named(headers, tenant).token for tenant in ("a", "b")}

    assert len(tokens) == 2


@pytest.mark.parametrize(
    ("ids", "token"),
    [
        ([mint("1" * 10, RANDOM)], "1" * 10),
        ([mint("1" * 10, RANDOM), mint("2" * 10, RANDOM)], "2" * 10),
        ([mint("1" * 10, RANDOM), "call_foreign"], "1" * 10),
    ],
)
def test_the_newest_minted_id_of_the_history_leads_back(ids: list[str], token: str) -> None:
    conversation = find_conversation(request(*ids), never)

    assert (conversation.id, conversation.token) == (f"conv_{token}", token)


@pytest.mark.parametrize("ids", [[], ["call_foreign"]])
def test_else_it_is_new_and_found_again(ids: list[str]) -> None:
    first = find_conversation(request(*ids), lambda: new_id(10))

    assert (first.id, first.token) == ("conv_NNNNNNNNNN", "NNNNNNNNNN")
    assert named({"x-conversation-id": first.id}) == first
    assert find_conversation(request(*ids, mint(first.token, RANDOM)), never) == first


def test_the_partition_has_the_clients_name_or_the_token() -> None:
    assert named({"x-conversation-id": "trip-1"}, "acme").partition("acme") == "acme#trip-1"
    assert named({"x-conversation-id": OURS}, "acme").partition("acme") == f"acme#{TOKEN}"
    unfit = named({"x-conversation-id": "caf\xe9"}, "acme")
    assert unfit.partition("acme") == f"acme#{unfit.token}"


def opened(*said: tuple[Literal["system", "user", "assistant"], str]) -> ChatRequest:
    return ChatRequest("model", tuple(Message(role, (TextPart(text),)) for role, text in said))


def test_how_a_conversation_begins_is_known_on_every_turn() -> None:
    first = opened(("system", "Be brief."), ("user", "hi"))
    later = opened(("system", "Be brief."), ("user", "hi"), ("assistant", "Hello."), ("user", "and?"))
    assert opening_token(first, "t") == opening_token(later, "t")
    others = [
        opening_token(first, "u"),
        opening_token(opened(("system", "Be brief."), ("user", "ho")), "t"),
        opening_token(opened(("system", "Be long."), ("user", "hi")), "t"),
    ]
    assert len({opening_token(first, "t"), *others}) == 4


# ------------------------------------------------------------ keeping, rewriting


@each_row(
    ("id", "used", "kept"),
    [
        ("call_abc", [], True),
        ("call_abc", ["call_abd"], True),
        ("call_abc", ["call_abc"], False),
        ("call_", [], False),
        ("call_a-b", [], False),
        ("call_abc\n", [], False),
        ("call_" + "a" * 36, [], False),
        ("", [], False),
    ],
)
def test_an_id_is_kept_where_the_door_takes_it_and_nobody_has_it(id: str, used: list[str], kept: bool) -> None:
    assert keeps(id, r"call_[A-Za-z0-9]{1,35}", set(used)) is kept


@given(st.lists(st.tuples(st.text(max_size=12), st.integers(0, 3)), min_size=2, max_size=8, unique=True))
def test_rewritten_ids_are_the_same_on_every_turn_and_different_for_each_call(calls: list[tuple[str, int]]) -> None:
    new = [rewrite(id, occurrence, 9) for id, occurrence in calls]

    assert new == [rewrite(id, occurrence, 9) for id, occurrence in calls]
    assert len(set(new)) == len(calls)
    assert all(re.fullmatch("[A-Za-z0-9]{9}", id) for id in new)


@pytest.mark.parametrize("length", [9, 24, 37, 40])
def test_a_rewritten_id_has_the_length_asked_for(length: int) -> None:
    assert re.fullmatch(f"[A-Za-z0-9]{{{length}}}", rewrite("call_\ud83d é", 0, length))
