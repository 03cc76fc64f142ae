"""What differs between the model families of the Responses wire, as data.

Source: OpenAI's model pages and its refusals. Sampling beside reasoning is refused; `reasoning.encrypted_content` is
refused by models that do not reason. A model that no row knows gets what was asked for and is asked for nothing more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """The models whose name, after any path, matches `pattern`."""

    pattern: str
    #: Whether the model can reason: its reasoning is then asked for in the form that can be sent back.
    reasons: bool = False
    #: Whether it reasons unless told not to.
    by_default: bool = True
    #: Whether its reasoning can be switched off (effort "none"), which is when it takes temperature and top_p.
    can_rest: bool = False


FAMILIES = (
    Family(r"(gpt-[3-9](\.\d+)?-chat|chatgpt|gpt-[34]).*"),
    Family(r"gpt-5\.[1-5]([^\d].*)?", reasons=True, by_default=False, can_rest=True),
    Family(r"gpt-(5\.\d|[6-9]).*", reasons=True, can_rest=True),
    Family(r"(gpt-5|o[1-9]|codex|computer-use).*", reasons=True),
    Family(r"grok-([4-9]|code).*", reasons=True, can_rest=True),
)

UNKNOWN = Family("", can_rest=True)


def family_of(model: str) -> Family:
    """The first family that the model's name belongs to."""
    name = model.rpartition("/")[2]
    return next((family for family in FAMILIES if re.fullmatch(family.pattern, name)), UNKNOWN)
