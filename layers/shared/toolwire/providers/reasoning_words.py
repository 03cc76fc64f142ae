"""How a host of the Chat API is told how much to reason, where that is not `reasoning_effort` with the client's word.

Data: a row a host and a family of its models, the first that fits holds. A host that is asked in words it does not know
either refuses (Groq's Qwen, Kimi K2.7 Code, MiniMax M3.1) or ignores them, so that a model thinks that was told not to
(Moonshot, DashScope, Z.ai).

Sources: https://docs.z.ai/guides/capabilities/thinking-mode (5.3 always thinks, by low, high and max),
https://platform.kimi.ai/docs/guide/use-thinking-effort, https://www.alibabacloud.com/help/en/model-studio/deep-thinking,
https://platform.minimax.io/docs/guides/text-generation (M2 and M3.1 always think),
https://www.volcengine.com/docs/82379/1449737, https://console.groq.com/docs/reasoning (Qwen: none and default),
https://docs.together.ai/docs/inference/chat/reasoning, https://docs.fireworks.ai/guides/reasoning,
https://build.nvidia.com/z-ai/glm5/modelcard, and NousResearch/hermes-agent#19883 for NVIDIA.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from toolwire.providers.openai_models import EFFORTS

#: Members of the request, and their JSON.
Told = tuple[tuple[str, bytes], ...]


class Words(NamedTuple):
    """`models` matches the whole name of a model, in lower case and without its namespace; `told`: effort, rising, ->
    the members that say it. Empty: the model takes no word, since it always thinks, or never."""

    profile: str
    models: str
    told: dict[str, Told]


def _plain(*efforts: str) -> dict[str, Told]:
    return {effort: (("reasoning_effort", b'"%s"' % effort.encode()),) for effort in efforts}


def _switch(member: str, off: bytes, on: bytes) -> dict[str, Told]:
    """A model whose thinking is on or off."""
    return {"none": ((member, off),), "medium": ((member, on),)}


_OFF: dict[str, Told] = {"none": (("thinking", b'{"type":"disabled"}'),)}
_ON_OR_OFF = _switch("thinking", b'{"type":"disabled"}', b'{"type":"enabled"}')
_THINKS_NOT: Told = (("enable_thinking", b"false"),)
_THINKS = ("enable_thinking", b"true")
_ENABLED_NOT: dict[str, Told] = {"none": (("reasoning", b'{"enabled":false}'),)}
_LOW_TO_HIGH = _plain("low", "medium", "high")
_LOW_HIGH_MAX = _plain("low", "high", "max")

WORDS: tuple[Words, ...] = (
    Words("deepseek", ".*", _OFF | _plain(*EFFORTS[1:])),
    Words("moonshot", r"kimi-k[3-9].*", _LOW_HIGH_MAX),
    Words("moonshot", r"kimi-(k2\.7-code|k2-thinking|thinking).*", {}),
    Words("moonshot", r"kimi-k2\.[56].*", _ON_OR_OFF),
    Words("moonshot", ".*", _OFF | _LOW_TO_HIGH),
    Words("zai", r"glm-(5\.([3-9]|\d\d)|[6-9]).*", _LOW_HIGH_MAX),
    Words("zai", r"glm-5\.2.*", _OFF | _plain(*EFFORTS[1:])),
    Words("zai", ".*", _ON_OR_OFF),
    Words("dashscope", r"(qwq|qvq|deepseek-r1|minimax).*|.*-thinking.*", {}),
    Words("dashscope", r"qwen(3\.([89]|\d\d)|[4-9]).*", {"none": _THINKS_NOT} | _plain(*EFFORTS[1:])),
    Words("dashscope", r".*(coder|instruct).*|qwen-(max|coder|long|math).*|qwen[12].*", {}),
    Words(
        "dashscope",
        r"(qwen|kimi).*",
        {
            "none": _THINKS_NOT,
            "low": (_THINKS, ("thinking_budget", b"4096")),
            "medium": (_THINKS, ("thinking_budget", b"12288")),
            "high": (_THINKS,),  # as long as the model can
        },
    ),
    Words("dashscope", ".*", _switch("enable_thinking", b"false", b"true")),
    Words("minimax", r"minimax-m(3\.[1-9]|[4-9]).*", _plain(*EFFORTS[2:])),
    Words("minimax", r"minimax-m3.*", _switch("thinking", b'{"type":"disabled"}', b'{"type":"adaptive"}')),
    Words("minimax", ".*", {}),
    Words("volcengine", ".*", _OFF | _LOW_TO_HIGH),
    Words("groq", r"qwen.*", _plain("none") | {"medium": (("reasoning_effort", b'"default"'),)}),
    Words("together", r"glm-5\.[3-9].*", _plain("low", "medium", "high", "max")),
    Words("together", r"(glm-|kimi-k2|deepseek-v|qwen3\.|cogito|gemma-4).*", _ENABLED_NOT | _LOW_TO_HIGH),
    Words("fireworks", r"glm-(5[.p][3-9]|[6-9]).*", _LOW_HIGH_MAX),
    Words("fireworks", r"(kimi|minimax).*", _LOW_TO_HIGH),
    Words(
        "nvidia",
        r"(glm|qwen|nemotron|nvidia-nemotron|gemma-4).*",
        _switch("chat_template_kwargs", b'{"enable_thinking":false}', b'{"enable_thinking":true}'),
    ),
    Words("nvidia", r"(deepseek|kimi).*", {"none": (("chat_template_kwargs", b'{"thinking":false}'),)} | _LOW_TO_HIGH),
)


@functools.lru_cache(maxsize=256)
def words_of(profile: str, model: str) -> Words | None:
    """The first row that the host's model belongs to."""
    name = model.lower().rpartition("/")[2]
    return next((row for row in WORDS if row.profile == profile and re.fullmatch(row.models, name)), None)
