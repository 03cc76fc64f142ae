"""What of a conversation is the user's own, one row a shape."""

from __future__ import annotations

import pytest

from tests.named_rows import each_row
from toolwire.demo import (
    anthropic_messages_request,
    bedrock_converse_request,
    gemini_request,
    openai_responses_request,
)
from toolwire.demo.last_words import LastWords, Spoken, last_words
from toolwire.demo.own_words import own_words

DIRECTIVE = '[demo call a {"b": "</r> <r>"}]'


@each_row(
    ("texts", "own"),
    [
        (("hi",), "hi"),
        (("first", "second"), "second"),
        (("<r>\nno\n</r>\nhi",), "hi"),
        (("hi <r>no</r>",), "hi"),
        (("<r>no</r> hi <q>no</q>",), "hi"),
        (("<r>no</r> hi <r>no</r>",), ""),
        (("<r>a <r>b</r> c</r>hi",), "hi"),
        (("<permissions instructions>\nno\n</permissions instructions>", "hi"), "hi"),
        (("hi", "<r a='1'>no</r>"), "hi"),
        (("hi", "<system>", "no", "</system>"), "hi"),
        (("hi", "<system>", "a <system> is a tag", "</system>"), "hi"),
        (("hi\n<r>\nand the rest is lost",), "hi"),
        (("<r>no</r>",), ""),
        (("<task>\nhi\n</task>\n<r>no</r>",), "hi"),
        (("List<String> a < b > c",), "List<String> a < b > c"),
        (("</r> hi",), "</r> hi"),
        (("<r>no</r> hi",), "hi"),
        ((f"hi {DIRECTIVE}",), f"hi {DIRECTIVE}"),
        ((f"<r>no</r>hi {DIRECTIVE}",), f"hi {DIRECTIVE}"),
        ((), ""),
        # The text within tags holds the tag that ends it, or another that begins it.
        (("<r>a</r> no</r>hi",), "hi"),
        (("<r>a</r> no <r>b</r>", "hi"), "hi"),
        (("hi", "<r>a</r> no <r>b</r>"), "hi"),
        (("<r>a</r> no <q>b</q> no <r>c</r>\nhi",), "hi"),
        (("<r>a</r> hi <q> b</r> no </q>",), ""),
        (("<r>a <q> b</r> hi",), "hi"),
        (("<r>a\n<q>\nb</r> hi",), "hi"),
        (("<r>a <task> b</r> hi",), "hi"),
        (("hi\n<r>a</r> no <q>b</q> no <r>c</r>",), "hi"),
        (("<r>a</r> no <q> no <r>b</r>\nhi",), "hi"),
        (("<r>a <r> no</r>hi",), "hi"),
        (("<r>a <r> no</r>", "hi"), "hi"),
        (("<system>", "</system> no", "</system>", "hi"), "hi"),
        # Files in no tags.
        (("hi", "\n--- Content from referenced files ---", "no", "\n--- End of content ---"), "hi"),
        (("hi\n--- Content from referenced files ---\nno\n--- End of content ---\nno\n--- End of content ---",), "hi"),
        (("hi\n--- Content from referenced files ---\nno",), "hi"),
        (
            (
                "hi",
                "--- Content from referenced files ---",
                "\nContent from @a:\n",
                "--- End of content ---",
                "\nContent from @b c.txt:\n",
                "no",
                "--- End of content ---",
            ),
            "hi",
        ),
        (("--- Content from referenced files ---", "no", "--- End of content ---", "hi"), "hi"),
        # Summaries: what they quote was said before.
        (
            ("hi", "This session is being continued from a previous conversation. no"),
            "This session is being continued from a previous conversation",
        ),
    ],
)
def test_own_words(texts: tuple[str, ...], own: str) -> None:
    assert own_words(texts) == own


USER, CALL, RESULT = Spoken("user", ("hi",)), Spoken("assistant"), Spoken("user", (), ("18",))
FILES = Spoken("user", ("a picture",), files=True)
NOTE = Spoken("user", ("<r>no</r>",), ("19",))


@each_row(
    ("conversation", "found"),
    [
        ((USER,), LastWords("hi")),
        ((Spoken("system", ("no",)), USER, Spoken("system", ("no",))), LastWords("hi")),
        ((USER, CALL, RESULT), LastWords("hi", 1, ("18",), 1)),
        ((USER, CALL, CALL, RESULT, RESULT), LastWords("hi", 1, ("18", "18"), 2)),
        ((USER, CALL, RESULT, CALL, NOTE), LastWords("hi", 2, ("19",), 2)),
        ((USER, CALL, RESULT, USER), LastWords("hi")),
        ((USER, CALL, Spoken("user", ("and now",), ("18",))), LastWords("and now")),
        ((USER, CALL, RESULT, FILES), LastWords("hi", 1, ("18",), 1)),
        ((USER, CALL, Spoken("tool", (), ("18",)), FILES), LastWords("hi", 1, ("18",), 1)),
        ((USER, CALL, Spoken("user", ("a picture",), ("18",), files=True)), LastWords("hi", 1, ("18",), 1)),
        ((USER, CALL, FILES), LastWords("a picture")),
        ((USER, CALL, RESULT, USER, FILES), LastWords("a picture")),
        ((FILES,), LastWords("a picture")),
        ((CALL, RESULT), LastWords("", 1, ("18",), 1)),
        ((), LastWords("")),
    ],
)
def test_last_words(conversation: tuple[Spoken, ...], found: LastWords) -> None:
    assert last_words(conversation) == found


def test_a_long_text_of_tags_is_read_in_little_time() -> None:
    assert own_words(("<a>" * 20_000 + "hi",)) == ""
    assert own_words(("x <a>" * 20_000,)).startswith("x")
    assert own_words(("<a>" * 10_000 + "</a>" * 20_000 + "hi",)) == "hi"
    assert own_words(("<a></a>hi" * 10_000,)) == "hi"
    assert own_words(("hi\n" + "--- Content from referenced files ---\n" * 20_000,)) == "hi"
    assert own_words(('[demo say "' * 20_000,))


_PNG = "iVBORw0KGgo="
_TOOLS = [{"name": "f", "input_schema": {"type": "object"}}]
#: The same turn at each wire: a prompt, a call, its result, and behind it a picture with a text of the client's.
PICTURES = {
    "anthropic": lambda: anthropic_messages_request.read_request(
        {
            "model": "m",
            "max_tokens": 9,
            "tools": _TOOLS,
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c", "content": "18"},
                        {"type": "text", "text": "the picture"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PNG}},
                    ],
                },
            ],
        },
        {"anthropic-version": "2023-06-01"},
        model="m",
    ),
    "responses": lambda: openai_responses_request.read_request(
        {
            "model": "m",
            "input": [
                {"role": "user", "content": "hi"},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "18"},
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "the picture"},
                        {"type": "input_image", "image_url": f"data:image/png;base64,{_PNG}"},
                    ],
                },
            ],
        },
        models=("m",),
    ),
    "gemini": lambda: gemini_request.read_request(
        {
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "f", "response": {"output": "18"}}},
                        {"text": "the picture"},
                        {"inlineData": {"mimeType": "image/png", "data": _PNG}},
                    ],
                },
            ]
        }
    ),
    "bedrock": lambda: bedrock_converse_request.read_request(
        {
            "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]},
            "messages": [
                {"role": "user", "content": [{"text": "hi"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
                {
                    "role": "user",
                    "content": [
                        {"toolResult": {"toolUseId": "c", "content": [{"text": "18"}]}},
                        {"text": "the picture"},
                        {"image": {"format": "png", "source": {"bytes": _PNG}}},
                    ],
                },
            ],
        }
    ),
}


@pytest.mark.parametrize("wire", PICTURES)
def test_a_picture_behind_results_is_theirs_on_every_wire(wire: str) -> None:
    words = PICTURES[wire]().words
    assert (words.text, words.turns) == ("hi", 1)
