"""A conversation goes on at a host that reads no images: see `toolwire.rewrite.unseen_images`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus.driver import open_exchange
from tests.named_rows import each_row
from toolwire.rewrite.unseen_images import is_about_images

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_WORDS = "(an image, which this model cannot see)"

#: What hosts say of images that their model does not read -> the status.
REFUSALS = {
    "Failed to deserialize the JSON body into the target type: messages[4]: unknown variant `image_url`, expected "
    "`text` at line 1 column 4711": 400,
    "No endpoints found that support image input": 404,
    "Image inputs are not supported by this model.": 400,
    "this model does not support images": 400,
    "This model does not support vision": 400,
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj": 500,
    "llama-3 is not a multimodal model": 400,
    "At most 0 image(s) may be provided in one prompt.": 400,
    "Invalid content type. image_url is only supported by certain models.": 400,
    "messages.content.type must be one of ['text']": 400,
    "this model is missing data required for image input": 500,
    "unsupported content type image_url": 422,
    "This model doesn't support the image field. Remove image and try again.": 400,
    "The model doesn't support image input": 400,
}

#: What is about one image, or about something else.
OTHERS = [
    "unknown variant `tool`, expected `user`", "temperature is not supported with this model",
    "image URLs are not supported, please use base64 encoded data", "does not support image URLs",
]  # fmt: skip
#: Refusals that are about one image, or one too many.
OF_ONE = [
    "Invalid image data", "The image is too large: at most 5 MB", "At most 10 images may be provided in one prompt.",
    "Could not fetch image_url", "Image format image/tiff is not supported",
    "Unsupported image media type image/svg+xml", "The model does not support image format webp",
]  # fmt: skip

_DATA = f"data:image/png;base64,{_PNG}"
_SHOT = {"type": "image_url", "image_url": {"url": _DATA}}
_CALL = {"id": "call_1", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
_SOURCE = {"type": "base64", "media_type": "image/png", "data": _PNG}
#: Clients' conversations in which a tool has given an image.
TALKS: dict[str, dict[str, Any]] = {
    "chat_completions": {"messages": [
        {"role": "user", "content": "look"}, {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "taken"}, _SHOT]},
    ]},
    "chat_completions, told behind the result": {"messages": [
        {"role": "user", "content": "look"}, {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "taken"}, {"role": "user", "content": [_SHOT]},
    ]},
    "chat_completions, an earlier turn": {"messages": [
        {"role": "user", "content": [{"type": "text", "text": "look"}, _SHOT]}, {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "and?"},
    ]},
    "responses": {"input": [
        {"role": "user", "content": "look"},
        {"type": "function_call", "call_id": "call_1", "name": "shot", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_image", "image_url": _DATA}]},
    ]},
    "messages": {"max_tokens": 99, "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "shot", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": [
            {"type": "text", "text": "taken"}, {"type": "image", "source": _SOURCE}]}]},
    ]},
}  # fmt: skip


def _opened(door: str, fields: dict[str, Any]) -> Any:
    return open_exchange(json.dumps({"model": "m", **fields}).encode(), door=door)


def _refused(exchange: Any, status: int, message: str) -> bool:
    exchange.receive_head(status, {"content-type": "application/json"})
    exchange.receive_data(json.dumps({"error": {"message": message}}).encode())
    return bool(exchange.receive_end())


@each_row("talk", TALKS)
@each_row(("message", "status"), REFUSALS.items())
def test_words_stand_for_what_was_refused(message: str, status: int, talk: str) -> None:
    exchange = _opened(talk.partition(",")[0], TALKS[talk])
    before = exchange.upstream_request.body.decode()
    assert before.count(_PNG) == 1
    assert not _refused(exchange, status, message)
    sent = exchange.upstream_request.body.decode()
    assert (sent.count(_PNG), sent.count(_WORDS)) == (0, 1)
    assert ("taken" in sent) == ("taken" in before)
    assert "images_in_words" in exchange.figures.warnings
    assert _refused(exchange, status, message), "it is sent once more, not again and again"


@pytest.mark.parametrize(
    "history", [[], TALKS["chat_completions, an earlier turn"]["messages"]], ids=["first", "later"]
)
def test_the_users_newest_image_is_sent_and_its_refusal_shown(history: list[Any]) -> None:
    newest = {"role": "user", "content": [{"type": "text", "text": "this one"}, _SHOT]}
    exchange = _opened("chat_completions", {"messages": [*history, newest]})
    if history:
        assert not _refused(exchange, 400, "this model does not support images")
    assert exchange.upstream_request.body.decode().count(_PNG) == 1
    assert _refused(exchange, 400, "this model does not support images")


@each_row("message", OTHERS)
def test_what_is_about_something_else_is_not_sent_again(message: str) -> None:
    assert not is_about_images(message)
    exchange = _opened("chat_completions", TALKS["chat_completions"])
    assert _refused(exchange, 400, message)


@each_row("message", OF_ONE)
def test_what_is_about_one_image_tells_nothing_of_the_model(message: str) -> None:
    """The tool's image is in every further request of this conversation; others keep theirs."""
    assert not is_about_images(message)
    exchange = _opened("chat_completions", TALKS["chat_completions"])
    assert not _refused(exchange, 400, message)
    assert _PNG not in exchange.upstream_request.body.decode()
    assert not any(lesson.is_kept for lesson in exchange.attempt.given.lessons)
    assert _refused(exchange, 400, message)
