"""Separates reasoning that a host leaves in the text, between tags. Such hosts are servers without a parser for their
model (vLLM, LM Studio, TGI, KoboldCpp), Perplexity, clouds with DeepSeek R1, Bedrock for gpt-oss (`<reasoning>`), and
Google's compatible endpoint (`<thought>`).

Only at the beginning of an answer, where models write it; tags behind other text are text.
"""

from __future__ import annotations

#: Opening tag -> its closing one.
_TAGS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning")},
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<mm:think>": "</mm:think>",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
}


class TaggedReasoning:
    """The beginning of one answer's text, which comes in pieces. `over`: all that follows is text."""

    __slots__ = ("_closes", "_held", "over")

    def __init__(self) -> None:
        self._held = ""  # what may be the beginning of a tag
        self._closes: str | None = None  # the tag that ends the reasoning; "": it has ended, and white space follows
        self.over = False

    def take(self, text: str) -> tuple[str, str]:
        """Returns the reasoning and the text in a piece. If all of it is text, the text is the same object."""
        if self._closes is None:
            held = self._held + text if self._held else text
            bare = held.lstrip()
            opened = next((tag for tag in _TAGS if bare.startswith(tag)), None)
            if opened is None:
                self.over = not any(tag.startswith(bare) for tag in _TAGS)
                self._held = "" if self.over else held
                return "", held if self.over else ""
            self._held, self._closes, text = "", _TAGS[opened], bare[len(opened) :]
        if not self._closes:
            return "", self._behind(text)
        reasoning, closed, rest = (self._held + text).partition(self._closes)
        if not closed:
            kept = _beginning_at_the_end(reasoning, self._closes)
            self._held = reasoning[len(reasoning) - kept :]
            return reasoning[: len(reasoning) - kept], ""
        self._held = self._closes = ""
        return reasoning, self._behind(rest)

    def end(self) -> tuple[str, str]:
        """Returns the held rest, as reasoning and text, when the text has ended."""
        self.over, held = True, self._held
        return (held, "") if self._closes else ("", held)

    def _behind(self, text: str) -> str:
        """The text behind the reasoning, without the white space between them."""
        text = text.lstrip()
        self.over = bool(text)
        return text


def _beginning_at_the_end(text: str, tag: str) -> int:
    """How many characters at the end of the text may begin the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
