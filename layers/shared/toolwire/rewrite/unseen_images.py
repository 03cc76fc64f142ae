"""Replaces images and files of a history by words, for models that read only text.

A screenshot in a tool's result is in every further request of its conversation. If the host refuses it, the
conversation ends for good: a user cannot remove it from an agent's history.
"""

from __future__ import annotations

import re
from typing import Any

from toolwire.model.map_request import map_content, map_each, map_parts, same_if_unchanged
from toolwire.model.request import ChatRequest, FilePart, ImagePart, Message, TextPart, ToolResultPart
from toolwire.model.source import replace
from toolwire.model.warnings import Warnings

#: Warning: words stand for images or files.
IMAGES_IN_WORDS = "images_in_words"

#: The words of a refusal of images and files in general: hosts' own words (OpenRouter, xAI, Ollama, llama.cpp, OpenAI),
#: and those of their parsers and templates (DeepSeek, Z.ai, Groq, vLLM).
_ABOUT_IMAGES = re.compile(
    r"unknown variant `(image_url|file|input_audio)`, expected `text`|content\.type\b.{0,40}\['text'\]"
    r"|(\bnot|n't|\bno endpoints found that) support\w* (the )?"
    r"(image(?!.?(url|format|type|media|size))|vision|multi-?modal)"
    r"|\b(image|vision|multi-?modal)s?( (input|content)s?)?( is| are)? not support"
    r"|\bimage_url is only supported\b|\bunsupported content type\b.{0,4}image_url"
    r"|\bnot a (multi-?modal|vision)\b|\bat most 0 image|\bdata required for image input\b",
    re.IGNORECASE,
)

#: What a refusal says that is about images by their address as such (Ollama, LM Studio, Copilot, Bedrock's Mantle).
_ABOUT_ADDRESSES = re.compile(
    r"\bimage urls? (is|are) not\b.{0,20}\bsupported\b|\bnot support image urls?\b|\bonly inline image\b"
    r"|\bfield must be a base64 encoded image\b|\bunsupported image url\b",
    re.IGNORECASE,
)

#: What a refusal says of one image that the host cannot read or fetch, that is too large for it, or one too many:
#: Anthropic, OpenAI, Google, vLLM, and hosts whose words are like theirs. It is in every further request, too.
_ABOUT_ONE_IMAGE = re.compile(
    r"(\b(not|cannot|unable to|failed to|error while|timeout while)|n't) (be )?"
    r"(process|decode|download|fetch|load|identify)\w*.{0,40}\b(images?|image_url|file|https?:)"
    r"|\bimages?\b.{0,60}\b(not|cannot|failed to) (be )?(process|decode|download|fetch|load|match|valid|support)"
    r"|\bimages?\b.{0,60}\b(exceeds?|not represent a valid|too large)\b|\bnot support\w* image format"
    r"|\b(unsupported|invalid|corrupt\w*) (base64 )?image(?!s? urls?\b)"
    r"|\bcannot fetch content from the provided url\b|\bat most \d+ images?\b|\btoo many images?\b",
    re.IGNORECASE | re.DOTALL,
)

_WORDS: dict[type, str] = {
    ImagePart: "(an image, which this model cannot see)",
    FilePart: "(a file, which this model cannot read)",
}


def is_about_images(refusal: str) -> bool:
    """Whether a refusal says that the model reads no images or files, by its message."""
    return _ABOUT_IMAGES.search(refusal) is not None


def is_about_addresses(refusal: str) -> bool:
    """Whether a host has refused a request because it fetches no images, as its message tells."""
    return _ABOUT_ADDRESSES.search(refusal) is not None


def is_about_one_image(refusal: str) -> bool:
    """Whether a refusal says that one of the images or files cannot be processed, by its message."""
    of_all = is_about_images(refusal) or is_about_addresses(refusal)
    return not of_all and _ABOUT_ONE_IMAGE.search(refusal) is not None


def newest_turn(messages: tuple[Message, ...]) -> int:
    """The position of the first message of the user's newest turn; the length of the history if it ends with tools'
    results. An image in that turn stays, so that the user is told that the model cannot see it."""
    newest = len(messages)
    while newest and messages[newest - 1].role in ("system", "developer"):  # reminders behind the user's words
        newest -= 1
    while newest and messages[newest - 1].role == "user":
        newest -= 1
    if newest and messages[newest - 1].role == "tool":  # clients put a result's images into a user's message behind it
        newest = len(messages)
    return newest


def without_earlier_images(request: ChatRequest, warnings: Warnings, *, by_address: bool = False) -> ChatRequest:
    """The request with words in place of images and files in tools' results and earlier turns, or only in place of
    images by their address. Those of the user's newest message stay."""
    messages = request.messages
    newest = newest_turn(messages)
    item_in_words = _address_in_words if by_address else _in_words

    def part_in_words(part: Any) -> Any:
        return map_content(part, item_in_words) if type(part) is ToolResultPart else item_in_words(part)

    earlier = map_each(messages[:newest], lambda message: map_parts(message, part_in_words))
    kept = same_if_unchanged(messages, (*earlier, *messages[newest:]))
    if kept is messages:
        return request
    warnings.add(IMAGES_IN_WORDS)
    return replace(request, messages=kept)


def _in_words(part: Any) -> Any:
    words = _WORDS.get(type(part))
    return part if words is None else TextPart(words)


def _address_in_words(part: Any) -> Any:
    if type(part) is ImagePart and part.url is not None:
        return TextPart(in_words("an image by its address", part))
    return part


def in_words(what: str, part: ImagePart | FilePart) -> str:
    """What stands for a part that cannot be sent: `what` it is, and where or what it is called."""
    name = part.name if type(part) is FilePart else None
    told = next((f" {text}" for text in (part.url, name) if text), "")
    return f"({what}{told}, which this model cannot be sent)"
