"""Writes a request's settings as Anthropic's: thinking and effort, sampling, and the version of the API that takes
these.

They depend on each other: thinking excludes a forced tool choice and, in the families that still take it, sampling;
sampling excludes the newer version of the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from toolwire.model.errors import RequestError
from toolwire.model.request import ChatRequest, OpaquePart, Part, ReasoningPart, Sampling
from toolwire.model.source import raw_in, replace
from toolwire.model.warnings import Warnings
from toolwire.providers.anthropic_messages.models import Family
from toolwire.wire.anthropic_messages import DIALECT, Thinking

#: The current version of the API, and the one before it, which still has sampling parameters.
VERSION = "2026-10-21"
SAMPLING_VERSION = "2023-06-01"

#: Effort -> thinking budget in tokens, for families that count.
_BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 32_768}
#: The smallest budget the API takes.
_LEAST_BUDGET = 1_024

_EFFORTS = tuple(_BUDGETS)

#: The API's effort if a request names none.
_UNSAID_EFFORT = "high"


@dataclass(slots=True)
class Settings:
    """The members of a request that its settings make, and the warnings."""

    max_tokens: int
    version: str = VERSION
    thinking: dict[str, Any] | None = None
    effort: str | None = None
    sampling: dict[str, float] = field(default_factory=dict)
    #: Whether a forced tool choice is given up, since thinking cannot be switched off (`schema_mode: lossy`).
    frees_choice: bool = False
    warnings: Warnings = field(default_factory=Warnings)

    @property
    def thinks(self) -> bool:
        """Whether the request asks for thinking."""
        return self.thinking is not None and self.thinking["type"] in ("enabled", "adaptive")


def settle(request: ChatRequest, family: Family) -> Settings:
    """The settings for a model of this family. Raises RequestError (`tool_choice_conflicts_with_reasoning`) for a
    forced tool choice beside thinking that cannot be switched off, unless the client takes losses."""
    settings = Settings(request.max_tokens or family.max_tokens)
    if request.reasoning_effort is None and _asks_adaptive(request):
        request = replace(request, reasoning_effort=_UNSAID_EFFORT)
    _set_thinking(settings, request, family)
    _set_sampling(settings, request.sampling, family)
    for name in ("seed", "frequency_penalty", "presence_penalty"):
        if request.sampling.asks(name):
            settings.warnings.add(f"not_supported:{name}")
    return settings


# ---------------------------------------------------------------- thinking


def _asks_adaptive(request: ChatRequest) -> bool:
    """Whether a client of this API lets the model judge how hard to think, which thinks then; asked by another way to
    the same models."""
    fields = request.fields_in(DIALECT)
    if fields is None:
        return False
    given = msgspec.json.decode(dict(fields.members).get("thinking", b"null"), type=Thinking | None)
    return given is not None and given.type == "adaptive"


def _set_thinking(settings: Settings, request: ChatRequest, family: Family) -> None:
    effort = request.reasoning_effort
    choice = request.tool_choice
    forced = bool(request.tools) and choice is not None and choice.mode == "required"
    if forced and _cannot_be_forced(family, effort):
        if request.options.schema_mode != "lossy":
            raise _conflict()
        settings.frees_choice, forced = True, False
        settings.warnings.add("tool_choice_changed")
    asked = effort not in (None, "none")
    if family.thinking == "none":
        if asked:
            settings.warnings.add("not_supported:reasoning_effort")
        return
    if not asked and not family.thinks_by_default:
        return
    conflict = forced and family.refuses_forced_choice == "with thinking"
    if effort == "none":
        if family.off is None:
            _set_effort(settings, "low", family)
            settings.warnings.add("reasoning_effort_changed")
        else:
            settings.thinking = {"type": family.off}
    elif family.off is not None and (conflict or (family.thinking == "budget" and lacks_thinking(request))):
        settings.thinking = {"type": family.off} if family.thinks_by_default else None
        settings.warnings.add("reasoning_turned_off")
    elif effort is not None:
        _turn_on(settings, effort, family)


def _cannot_be_forced(family: Family, effort: str | None) -> bool:
    """Whether the family refuses a forced choice: always, or beside thinking that cannot be switched off."""
    if family.refuses_forced_choice == "always":
        return True
    thinks = effort != "none" and (effort is not None or family.thinks_by_default)
    return family.refuses_forced_choice == "with thinking" and thinks and family.off is None


def _turn_on(settings: Settings, effort: str, family: Family) -> None:
    if family.thinking == "adaptive":
        # Newer families show nothing of their thinking unless asked to.
        settings.thinking = {"type": "adaptive", "display": "summarized"}
        _set_effort(settings, effort, family)
        return
    budget = min(_BUDGETS[effort], max(settings.max_tokens // 2, _LEAST_BUDGET))
    if budget >= settings.max_tokens:
        settings.warnings.add("reasoning_turned_off")  # the output limit leaves no room for it
        return
    settings.thinking = {"type": "enabled", "budget_tokens": budget}


def _set_effort(settings: Settings, effort: str, family: Family) -> None:
    """Sets the effort: the family's nearest word that is not higher, else its lowest."""
    known = [word for word in family.efforts if _EFFORTS.index(word) <= _EFFORTS.index(effort)]
    settings.effort = known[-1] if known else family.efforts[0]
    if settings.effort != effort:
        settings.warnings.add("reasoning_effort_changed")


def lacks_thinking(request: ChatRequest) -> bool:
    """Whether the history ends in a tool loop whose turn lacks its signed thinking at the beginning. From there the API
    refuses to think by a budget. Adaptive thinking does not need it, since it may skip a turn; and turning that off
    would lose the prompt cache."""
    last = next((message for message in reversed(request.messages) if message.role == "assistant"), None)
    if last is None or not last.tool_calls:
        return False
    written = (part for part in last.parts if type(part) is not ReasoningPart or part.signature)
    first = next(written)
    if type(first) is ReasoningPart:
        return False
    return not (type(first) is OpaquePart and first.dialect == DIALECT and first.kind == "redacted_thinking")


def without_lost_thinking(
    request: ChatRequest, members: Iterable[tuple[str, bytes]], warnings: Warnings
) -> Iterator[tuple[str, bytes]]:
    """The members of the body with thinking switched off, where a turn with calls lacks its thinking: for a host that
    has refused such a turn, and thinks by default."""
    if all(not message.tool_calls or any(map(_is_thinking, message.parts)) for message in request.messages):
        yield from members
        return
    warnings.add("reasoning_turned_off")
    yield from ((name, value) for name, value in members if name != "thinking")
    yield "thinking", b'{"type":"disabled"}'


def _is_thinking(part: Part) -> bool:
    """Whether the part is sent as thinking."""
    if type(part) is ReasoningPart:
        return bool(part.signature) or raw_in(part, DIALECT) is not None
    return type(part) is OpaquePart and part.dialect == DIALECT and part.kind == "redacted_thinking"


def _conflict() -> RequestError:
    return RequestError(
        "this model cannot be forced to call a tool, since its reasoning cannot be switched off: send tool_choice "
        '"auto", or use another model',
        code="tool_choice_conflicts_with_reasoning",
        param="tool_choice",
    )


# ---------------------------------------------------------------- sampling


def _set_sampling(settings: Settings, sampling: Sampling, family: Family) -> None:
    """Sets temperature or top_p: never both, and neither beside thinking. The value 1 is the API's default."""
    given = {name: getattr(sampling, name) for name in ("temperature", "top_p", "top_k")}
    given = {name: value for name, value in given.items() if value is not None and (value != 1 or name == "top_k")}
    if not family.sampling or settings.thinks:
        settings.warnings.add(*(f"not_supported:{name}" for name in given))
        return
    if "temperature" in given and given.pop("top_p", None) is not None:
        settings.warnings.add("not_supported:top_p")
    if given.get("temperature", 0) > 1:
        given["temperature"] = 1
        settings.warnings.add("temperature_clamped")
    if given:
        settings.sampling, settings.version = given, SAMPLING_VERSION
