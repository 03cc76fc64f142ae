"""How hard to think, where a Chat client says it as one host has it: OpenRouter's `reasoning`, Anthropic's `thinking`
(DeepSeek, Z.ai and Moonshot have it, too), Qwen's `enable_thinking`, the template arguments of vLLM and SGLang.

A host of this API gets the members as they are. Every other provider gets the effort that they mean, since without it a
model would think that was told not to, or the other way round. `reasoning_effort`, the API's own word, is read first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.doors.reasoning_efforts import EFFORTS, effort_of_budget
from toolwire.doors.typed_json import decode

#: What a client asks for that says no more than that the model is to think: OpenRouter's default.
_ON = "medium"


def foreign_effort(top: dict[str, bytes]) -> str | None:
    """The effort that the first of these members means; None where none of them says anything."""
    for name, meaning in _FORMS:
        if name in top and (effort := meaning(decode(top[name], Any, name))) is not None:
            return effort
    return None


def _reasoning(said: Any) -> str | None:
    match said:
        case {"effort": str(word)} if word in EFFORTS:
            return word
        case {"max_tokens": int(tokens)}:
            return effort_of_budget(tokens)
        case {"enabled": bool(on)}:
            return _switch(on)
    return None


def _thinking(said: Any) -> str | None:
    match said:
        case bool(on):
            return _switch(on)
        case {"type": "disabled"}:
            return "none"
        case {"type": "enabled", "budget_tokens": int(tokens)}:
            return effort_of_budget(tokens)
        case {"type": "enabled"}:
            return _ON
    return None  # adaptive: the model judges by itself


def _template(said: Any) -> str | None:
    match said:
        case {"enable_thinking": bool(on)} | {"thinking": bool(on)}:
            return _switch(on)
    return None


def _budget(said: Any) -> str | None:
    return effort_of_budget(said) if isinstance(said, int) and said > 0 else None


def _switch(on: Any) -> str | None:
    return (_ON if on else "none") if isinstance(on, bool) else None


def _off(said: Any) -> str | None:
    return "none" if said is False else None


#: A member, and what its value means, in the order in which they are read: a budget says more than a switch that is on.
_FORMS: tuple[tuple[str, Callable[[Any], str | None]], ...] = (
    ("reasoning", _reasoning),
    ("thinking", _thinking),
    ("enable_thinking", _off),
    ("thinking_budget", _budget),
    ("enable_thinking", _switch),
    ("chat_template_kwargs", _template),
)
