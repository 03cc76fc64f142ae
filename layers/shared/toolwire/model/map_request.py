"""Applies a function to a request's messages or parts, and keeps the object where nothing changes.

Writers compare by identity to know what they may send as the client wrote it. So a function that is given here returns
the same object for an item that it does not change, a new object for one that it changes, and None for one to drop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import is_
from typing import Any, TypeVar

from toolwire.model.request import ChatRequest, Message, Part, ToolResultPart
from toolwire.model.source import replace

T = TypeVar("T")


def map_messages(request: ChatRequest, function: Callable[[Message], Message | None]) -> ChatRequest:
    """The request with `function` applied to each message; the same object if that changes none."""
    messages = map_each(request.messages, function)
    return request if messages is request.messages else replace(request, messages=messages)


def map_parts(message: Message, function: Callable[[Part], Part | None]) -> Message:
    """The message with `function` applied to each part; the same object if that changes none."""
    parts = map_each(message.parts, function)
    return message if parts is message.parts else replace(message, parts=parts)


def map_content(result: ToolResultPart, function: Callable[[Any], Any]) -> ToolResultPart:
    """The result with `function` applied to each part of its content; the same object if that changes none."""
    content = map_each(result.content, function)
    return result if content is result.content else replace(result, content=content)


def with_parts(message: Message, parts: Iterable[Part]) -> Message:
    """The message with these parts; the same object if it has exactly these."""
    kept = same_if_unchanged(message.parts, parts)
    return message if kept is message.parts else replace(message, parts=kept)


def map_each(items: tuple[T, ...], function: Callable[[T], T | None]) -> tuple[T, ...]:
    """What `function` gives for each item, without None; the same tuple if that is each item itself."""
    new = tuple(map(function, items))
    return items if all(map(is_, new, items)) else tuple([item for item in new if item is not None])


def same_if_unchanged(old: tuple[T, ...], new: Iterable[T]) -> tuple[T, ...]:
    """`new` as a tuple; `old` itself if it has the same objects in the same order."""
    items = tuple(new)
    return old if len(items) == len(old) and all(map(is_, items, old)) else items
