"""A named conversation keeps its model: what a turn leaves, and what a later one reads."""

from __future__ import annotations

import pytest

from toolwire.conversation.sticky_model import SORT, sticky_item, sticky_key, with_sticky_model
from toolwire.conversation.tool_call_ids import named_conversation
from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest
from toolwire.model.settings import ProviderConfig, Target
from toolwire.model.source import replace
from toolwire.model.stored import CALL_PREFIX, Item, Key

TARGET = Target(ProviderConfig("acme", "openai_chat", "https://x/v1"), "vendor/model-1")
FIRST = ChatRequest("fast", (), conversation_id="chat-7")
LATER = replace(FIRST, model="")


def test_a_later_turn_finds_what_an_earlier_one_left() -> None:
    item = sticky_item(FIRST, "t1", TARGET, 99)
    assert item is not None
    assert (item.key, item.expires_at) == (sticky_key(LATER, "t1"), 99)
    assert with_sticky_model(LATER, item).model == "acme/vendor/model-1", "the target, whatever the alias means by then"


def test_a_model_that_is_named_wins() -> None:
    item = sticky_item(FIRST, "t1", TARGET, 99)
    assert with_sticky_model(FIRST, item) is FIRST


def test_tenants_and_conversations_are_apart() -> None:
    keys = {sticky_key(replace(FIRST, conversation_id=id), tenant) for id in ("a", "b") for tenant in ("t1", "t2")}
    assert len(keys) == 4
    assert all(key is not None and key.sort == SORT and not key.sort.startswith(CALL_PREFIX) for key in keys)


def test_it_lies_with_the_conversations_other_items() -> None:
    named = named_conversation(FIRST, {}, "t1")
    assert named is not None
    assert sticky_key(FIRST, "t1") == Key(named.partition("t1"), SORT) == Key("t1#chat-7", SORT)


def test_the_body_comes_before_the_headers() -> None:
    named = named_conversation(FIRST, {"x-conversation-id": "other"}, "t1")
    assert named is not None
    assert named.id == "chat-7"


def test_a_conversation_that_nobody_named_keeps_nothing() -> None:
    unnamed = replace(FIRST, conversation_id=None)
    assert sticky_key(unnamed, "t1") is None
    assert sticky_item(unnamed, "t1", TARGET, 99) is None


@pytest.mark.parametrize("item", [None, Item(Key("p", SORT), {}, 9), Item(Key("p", SORT), {"model": b"x"}, 9)])
def test_without_an_earlier_turn_the_model_is_asked_for(item: Item | None) -> None:
    with pytest.raises(RequestError, match="no earlier turn here") as caught:
        with_sticky_model(LATER, item)
    assert (caught.value.code, caught.value.param) == ("missing_required_parameter", "model")
