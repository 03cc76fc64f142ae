"""Names a provider refuses: safe ones in their place, and the way back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.named_rows import each_row
from toolwire.model.request import ChatRequest, Message, Tool, ToolCallPart, ToolChoice
from toolwire.rewrite.tool_names import WIRE_NAME, renamed, wire_name

ODD = st.sampled_from("a_-.Z9 /é😀:\n\ud83d")
NAMES = st.one_of(st.text(ODD, max_size=8), st.text(st.sampled_from("ab."), min_size=60, max_size=130))


@pytest.mark.parametrize("name", ["a", "get_weather", "Get-Weather_2", "9lives", "-", "a" * 64])
def test_a_name_that_everybody_takes_stays(name: str) -> None:
    assert wire_name(name) == name


@each_row(
    ("name", "begins"),
    [
        ("server.tool", "server_tool_"),
        ("mcp/read file", "mcp_read_file_"),
        ("größe", "gr__e_"),
        ("tool\n", "tool__"),
        ("", "__"),
        ("9 lives", "_9_lives_"),
        ("a" * 65, "a" * 53 + "_"),
        ("😀", "__"),
    ],
)
def test_others_keep_what_can_be_read_of_them(name: str, begins: str) -> None:
    wire = wire_name(name)

    assert re.fullmatch(re.escape(begins) + "[0-9a-f]{10}", wire)
    assert re.fullmatch(WIRE_NAME, wire)


def test_a_wire_name_stays_what_it_is() -> None:
    # It stands in histories and prompt caches: the rule may not change between releases.
    assert wire_name("server.tool") == "server_tool_ea6df6d311"


@given(st.sets(NAMES, max_size=12))
def test_different_names_stay_different(names: set[str]) -> None:
    wires = {wire_name(name) for name in names}

    assert len(wires) == len(names)
    assert all(re.fullmatch(WIRE_NAME, wire) for wire in wires)


@given(NAMES)
def test_a_wire_name_is_its_own_wire_name(name: str) -> None:
    assert wire_name(wire_name(name)) == wire_name(name)


def test_every_name_of_the_request_that_must_change_is_found_wherever_it_stands() -> None:
    request = ChatRequest(
        "model",
        (Message("assistant", (ToolCallPart("1", "old.tool", "{}"), ToolCallPart("2", "fine", "{}"))),),
        (
            Tool("a.tool"),
            Tool("custom tool", kind="custom"),
            Tool("fine"),
            Tool("web.search", kind="opaque"),  # this is a type of the dialect, no name
        ),
        ToolChoice("required", ("chosen.tool", "fine")),
    )

    names = renamed(request)

    assert names == {name: wire_name(name) for name in ("a.tool", "custom tool", "old.tool", "chosen.tool")}
    assert len(set(names.values())) == len(names)  # so the way back is a function


def test_a_request_without_odd_names_has_nothing_to_rename() -> None:
    assert renamed(ChatRequest("model", (), (Tool("fine"),), ToolChoice("auto"))) == {}
