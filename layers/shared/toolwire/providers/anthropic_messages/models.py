"""What differs between Claude's families, as data: thinking, forced tool choice, sampling, output limits.

The first row whose pattern is found in the model's name holds; names come with dates, prefixes and suffixes
("claude-sonnet-4-5-20250929", "us.anthropic.claude-opus-4-8"). Source: Anthropic's model pages and what its API was
seen to refuse. A new family is a row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

#: How a family thinks: within a token budget, by its own judgement, or not at all.
Thinking = Literal["budget", "adaptive", "none"]

#: When a family refuses a forced tool choice ("any", "tool").
Refusal = Literal["never", "with thinking", "always"]


@dataclass(frozen=True, slots=True)
class Family:
    """One model family. The defaults are those of the current generation."""

    #: Regular expression, searched in the model's name.
    pattern: str
    #: The most output tokens. Also the limit of requests that name none.
    max_tokens: int = 64_000
    thinking: Thinking = "adaptive"
    #: Whether it thinks unless told not to.
    thinks_by_default: bool = False
    #: The `thinking.type` that turns thinking off; None if it cannot be turned off.
    off: str | None = "disabled"
    refuses_forced_choice: Refusal = "never"
    #: Effort words it knows, from the least to the most.
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max")
    #: Whether temperature, top_p and top_k are accepted, under the older version of the API.
    sampling: bool = False
    #: Whether `messages` may hold the role "system".
    system_messages: bool = True
    #: Whether `output_config.format` is known.
    structured_output: bool = True
    #: Whether the API takes thinking back only with its signature.
    signs_thinking: bool = True
    #: Whether the model, when it does not think, continues a history that ends with the assistant.
    prefill: bool = False


_TO_MAX = ("low", "medium", "high", "max")

#: The first generations, before adaptive thinking.
_CLASSIC = Family(
    r"",
    thinking="budget",
    refuses_forced_choice="with thinking",
    sampling=True,
    system_messages=False,
    prefill=True,
)
_ADAPTIVE = replace(_CLASSIC, thinking="adaptive", efforts=_TO_MAX, prefill=False)
_FIFTH = Family(r"", max_tokens=128_000, thinks_by_default=True)
_OLDEST = replace(_CLASSIC, thinking="none", structured_output=False)

FAMILIES: tuple[Family, ...] = (
    # Thinking cannot be switched off there, and beside it no tool can be forced.
    replace(
        _FIFTH,
        pattern=r"opus-5[-.]5|(fable|mythos)-5[-.][1-9](?!\d)",
        off=None,
        refuses_forced_choice="always",
    ),
    replace(_FIFTH, pattern=r"sonnet-5[-.]5", off="between_tools", refuses_forced_choice="always"),
    replace(_FIFTH, pattern=r"(fable|mythos)-5", off=None),
    replace(_FIFTH, pattern=r"(sonnet|opus|haiku)-5"),
    Family(r"opus-4[-.]8", max_tokens=128_000),
    Family(r"opus-4[-.]7", max_tokens=128_000, refuses_forced_choice="with thinking", system_messages=False),
    replace(_ADAPTIVE, pattern=r"opus-4[-.]6", max_tokens=128_000),
    replace(_ADAPTIVE, pattern=r"sonnet-4[-.]6", max_tokens=128_000),
    replace(_CLASSIC, pattern=r"(opus|sonnet|haiku)-4[-.]5"),
    replace(_CLASSIC, pattern=r"opus-4[-.]1", max_tokens=32_000),
    replace(_CLASSIC, pattern=r"opus-4|4-opus", max_tokens=32_000, structured_output=False),
    replace(_CLASSIC, pattern=r"sonnet-4|4-sonnet|3[-.]7-sonnet", structured_output=False),
    replace(_OLDEST, pattern=r"claude-3[-.]5", max_tokens=8_192),
    replace(_OLDEST, pattern=r"claude-(3|2|instant)", max_tokens=4_096),
    # A Claude that this table does not know yet. It is sent no setting that the client did not ask for.
    Family(r"claude"),
    # The demo's, which signs its thinking and else takes what all take.
    replace(_CLASSIC, pattern=r"^anthropic$", max_tokens=8_192),
    # Another vendor's model behind this protocol, or a deployment whose owner named it.
    replace(_CLASSIC, max_tokens=8_192, signs_thinking=False),
)

#: Hosts where every model is Claude: the platforms that Anthropic's pages on its features list.
_PLATFORMS = re.compile(r"(.*\.)?anthropic\.com|aws-external-anthropic\..*|.*\.googleapis\.com|.*\.azure\.com")


def family_of(model: str) -> Family:
    """The family of a model's name."""
    return next(family for family in FAMILIES if re.search(family.pattern, model))


def family_at(model: str, base_url: str) -> Family:
    """The family of a model's name at a host: Anthropic's platforms sign thinking whatever a deployment is called."""
    family = family_of(model)
    return family if family.signs_thinking or not is_platform(base_url) else replace(family, signs_thinking=True)


def is_platform(base_url: str) -> bool:
    """Whether the host is one of Anthropic's platforms, with all that its API has."""
    return _PLATFORMS.fullmatch(urlsplit(base_url).hostname or "") is not None
