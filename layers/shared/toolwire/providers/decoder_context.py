"""What a decoder knows of the request whose answer it reads."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolwire.model.warnings import Warnings


@dataclass(frozen=True, slots=True)
class DecoderContext:
    """`tool_names`: the declared tools, by the names that the provider was sent. `warnings`: where the decoder adds its
    own. `placeholders`: the host may send `{}` before a call's real arguments. `tagged_reasoning`: the host may leave
    reasoning in the text, between tags."""

    tool_names: frozenset[str] = frozenset()
    warnings: Warnings = field(default_factory=Warnings)
    placeholders: bool = True
    tagged_reasoning: bool = False
