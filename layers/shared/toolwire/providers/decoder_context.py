"""What a decoder knows of the request whose answer it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _ignore(code: str) -> None:
    """Drops a warning."""


@dataclass(frozen=True, slots=True)
class DecoderContext:
    """`tool_names` are the declared tools, as the provider was told them; `warn` takes the code of a warning.
    `placeholders`: the host may say `{}` before a call's real arguments. `tagged_reasoning`: it may leave reasoning in
    the text, between tags."""

    tool_names: frozenset[str] = frozenset()
    warn: Callable[[str], None] = _ignore
    placeholders: bool = True
    tagged_reasoning: bool = False


#: For an answer to nothing in particular.
NO_CONTEXT = DecoderContext()
