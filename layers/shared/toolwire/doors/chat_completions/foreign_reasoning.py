"""Reads the effort of reasoning from members that only some Chat hosts have: OpenRouter's `reasoning`, Anthropic's
`thinking` (also at DeepSeek, Z.ai and Moonshot), Qwen's `enable_thinking`, and the template arguments of vLLM and
SGLang.

A host of this API gets the members as they are. Any other provider gets the effort that they mean: without it a model
would think although it was told not to, or the other way round. `reasoning_effort`, the API's own member, is read
first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.doors.reasoning_efforts import EFFORTS, effort_of_budget
from toolwire.doors.typed_json import decode

#: The effort for a client that only asks the model to think: OpenRouter's default.
_ON = "medium"


def foreign_effort(top: dict[str, bytes]) -> str | None:
    """The effort of the first of these members; None if no member gives one."""
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


#: A member -> the effort of its value, in the order in which they are read: a budget is more exact than a switch.
_FORMS: tuple[tuple[str, Callable[[Any], str | None]], ...] = (
    ("reasoning", _reasoning),
    ("thinking", _thinking),
    ("enable_thinking", _off),
    ("thinking_budget", _budget),
    ("enable_thinking", _switch),
    ("chat_template_kwargs", _template),
)
