"""Names of one API that hosts of another use: the types of parts for calls and reasoning, and the members for
arguments. Every wire reads them alike."""

from __future__ import annotations

import json
from typing import Protocol

from msgspec import Raw

from toolwire.wire.json import is_set

#: Types of parts of a content that are calls: in the words of the Messages API, Chat's, and the AI SDK's.
CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call", "tool-call"})
#: Types of parts of an assistant's content that are reasoning: Mistral's, and what clients bring from other APIs.
REASONING_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text"})


class _Named(Protocol):
    """A call, or its function, with the members that hold arguments where a host calls them otherwise."""

    parameters: Raw
    input: Raw
    args: Raw


def misnamed_arguments(call: _Named) -> str | None:
    """The arguments under another name than the API's, as raw text; None if there are none."""
    given = next((bytes(raw) for raw in (call.parameters, call.input, call.args) if is_set(raw)), None)
    if given is None:
        return None
    text = given.decode("utf-8", "surrogatepass")
    return str(json.loads(text, strict=False)) if given[:1] == b'"' else text
