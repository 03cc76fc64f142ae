"""The demo without its server: the host that a request leads to, as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.demo import anthropic_messages, gemini, openai_chat, openai_responses
from toolwire.demo.answer import Answer
from toolwire.demo.openai_chat import Flavour
from toolwire.doors import door_at, load_door
from toolwire.exchange.prepare import target_of
from toolwire.shell.network.proxy_event import http_request
from toolwire.shell.settings.configuration import load_settings

_NOW = 1_700_000_000


def demo_host(event: dict[str, Any]) -> Callable[[bytes, Callable[[], str]], Answer]:
    """What the demo answers to the body that the gateway sends it for a client's request. The second argument is the
    source of what is new in each answer."""
    request = http_request(event)
    door = load_door(door_at(request.path) or request.path)
    asked = door.parse_request(request)
    provider = target_of(asked.model, door.dialect, load_settings({})).provider
    match provider.wire:
        case "openai_chat":
            flavour: Flavour = "openai" if provider.profile == "openai" else "compatible"
            return lambda sent, new_hex: openai_chat.answer(sent, flavour, now=_NOW, new_hex=new_hex)
        case "openai_responses":
            return lambda sent, new_hex: openai_responses.answer(sent, now=_NOW, new_hex=new_hex)
        case "gemini":
            return lambda sent, new_hex: gemini.answer(sent, stream=asked.stream, now=_NOW, new_hex=new_hex)
    headers = {"anthropic-version": "2023-06-01"}
    return lambda sent, new_hex: anthropic_messages.answer(sent, headers, new_hex=new_hex)
