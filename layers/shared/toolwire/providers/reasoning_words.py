"""The members with which hosts of the Chat API are asked for an effort of reasoning, where it is not `reasoning_effort`
with the client's word.

Data: a row is a host and a family of its models, and the first one that fits counts. A host either refuses words that
it does not know (Groq's Qwen, Kimi K2.7 Code, MiniMax M3.1) or ignores them, so that a model thinks although it was
told not to (Moonshot, DashScope, Z.ai).

Sources: https://docs.z.ai/guides/capabilities/thinking-mode (5.3 always thinks, by low, high and max),
https://platform.kimi.ai/docs/guide/use-thinking-effort, https://www.alibabacloud.com/help/en/model-studio/deep-thinking,
https://platform.minimax.io/docs/guides/text-generation (M2 and M3.1 always think),
https://www.volcengine.com/docs/82379/1449737, https://console.groq.com/docs/reasoning (Qwen: none and default),
https://docs.together.ai/docs/inference/chat/reasoning, https://docs.fireworks.ai/guides/reasoning (GLM-5.1 and 5.2 by
FIREWORKS_GLM_EFFORTS of langchain-ai/deepagents), https://build.nvidia.com/z-ai/glm5/modelcard, the samples of
https://build.nvidia.com/deepseek-ai/deepseek-v4-flash (an effort beside `thinking` alone is heard) and
NousResearch/hermes-agent#19883 for NVIDIA, https://docs.siliconflow.cn/docs/api/chat-completions-post (and
anomalyco/models.dev#2506 to #2513), https://docs.baseten.co/inference/model-apis/reasoning,
https://friendli.ai/docs/guides/reasoning (with an effort beside it: can1357/oh-my-pi#9413),
https://cloud.tencent.com/document/product/1823/130079, https://cloud.baidu.com/doc/qianfan-docs/s/Wm95lyynv,
https://platform.stepfun.com/docs, https://platform.xiaomimimo.com/docs, cloudflare/cloudflare-docs#33022, #33025 and
#33541 (the schema of each model), CherryHQ/cherry-studio for Hunyuan A13B, and what anomalyco/models.dev was told of
Chutes and Doubao (their provider.toml), Novita (#2077), Nebius (#4377) and StepFun at NVIDIA (#2111).
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from toolwire.providers.openai_models import EFFORTS

#: Members of the request, and their JSON.
Told = tuple[tuple[str, bytes], ...]


class Words(NamedTuple):
    """One row. `models` matches the whole name of a model, in lower case and without its namespace. `told`: effort,
    rising, -> the members for it; empty for a model that always thinks, or never."""

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
_BUDGETS: dict[str, Told] = {
    "none": _THINKS_NOT,
    "low": (_THINKS, ("thinking_budget", b"4096")),
    "medium": (_THINKS, ("thinking_budget", b"12288")),
    "high": (_THINKS,),  # as long as the model can
}
_ENABLED = _switch("enable_thinking", b"false", b"true")


def _template(member: str, name: bytes) -> dict[str, Told]:
    """A switch that the model's own chat template reads."""
    return _switch(member, b'{"%s":false}' % name, b'{"%s":true}' % name)


def _deepseek_template(effort: bytes) -> Told:
    return (("chat_template_kwargs", b'{"thinking":true,"reasoning_effort":"%s"}' % effort),)


_TEMPLATE = _template("chat_template_kwargs", b"enable_thinking")
_TEMPLATE_OFF = {"none": _TEMPLATE["none"]}
_THINKING_TEMPLATE = _template("chat_template_kwargs", b"thinking")

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
    Words("dashscope", r"(qwen|kimi).*", _BUDGETS),
    Words("dashscope", ".*", _ENABLED),
    Words(  # they always think; the effort says how long
        "siliconflow",
        r".*-thinking.*|(deepseek-r1|qwq|minimax).*",
        {
            "low": (("thinking_budget", b"4096"),),
            "medium": (("thinking_budget", b"12288"),),
            "high": (("thinking_budget", b"32768"),),
        },
    ),
    Words("siliconflow", r".*(coder|instruct).*|qwen2.*", {}),
    Words("siliconflow", r"glm-5\.[2-9].*", _plain("high", "max")),
    Words("siliconflow", r"deepseek-v4.*", {"none": _THINKS_NOT} | _plain("high", "max")),
    Words("siliconflow", r"(qwen3|hunyuan|glm-|deepseek-v|kimi).*", _BUDGETS),
    Words("minimax", r"minimax-m(3\.[1-9]|[4-9]).*", _plain(*EFFORTS[2:])),
    Words("minimax", r"minimax-m3.*", _switch("thinking", b'{"type":"disabled"}', b'{"type":"adaptive"}')),
    Words("minimax", ".*", {}),
    Words("volcengine", r"doubao-seed-(1-[89]|[2-9]).*", _OFF | _plain(*EFFORTS[2:])),
    Words("volcengine", ".*", _OFF | _LOW_TO_HIGH),
    Words("groq", r"qwen.*", _plain("none") | {"medium": (("reasoning_effort", b'"default"'),)}),
    Words("together", r"glm-5\.[3-9].*", _plain("low", "medium", "high", "max")),
    Words("together", r"(glm-|kimi-k2|deepseek-v|qwen3\.|cogito|gemma-4).*", _ENABLED_NOT | _LOW_TO_HIGH),
    Words("fireworks", r"glm-(5[.p][3-9]|[6-9]).*", _LOW_HIGH_MAX),
    Words("fireworks", r"glm-5([.p][0-2])?(-.*)?", _plain("none", "high", "max")),
    Words("fireworks", r"deepseek-v4.*", _plain("none", "low", "medium", "high", "xhigh")),
    Words("fireworks", r"(kimi|minimax).*", _LOW_TO_HIGH),
    Words("nvidia", r"(glm|qwen|nemotron|nvidia-nemotron|gemma-4).*", _TEMPLATE),
    Words(
        "nvidia",
        r"deepseek-v4.*",
        {"none": _THINKING_TEMPLATE["none"]} | {word: _deepseek_template(word.encode()) for word in ("high", "max")},
    ),
    Words("nvidia", r"deepseek.*", _THINKING_TEMPLATE),
    Words("nvidia", r"kimi.*", {"none": _THINKING_TEMPLATE["none"]} | _LOW_TO_HIGH),
    Words("nvidia", r"step-.*", _LOW_TO_HIGH),
    Words("chutes", r".*-thinking.*", {}),
    Words("chutes", r"(qwen|gemma).*", _TEMPLATE),
    Words("chutes", r"(kimi|glm|deepseek).*", _THINKING_TEMPLATE),
    Words("novita", r"deepseek-v4.*", {"none": _THINKS_NOT} | _plain("low", "medium", "high", "xhigh")),
    Words("novita", r"(deepseek-v3\.[12]|glm-4\.[5-7]).*", _ENABLED),
    Words("nebius", r"deepseek-v4.*", _plain(*EFFORTS)),
    Words("baseten", r"deepseek-v4.*", _plain(*EFFORTS)),
    Words("baseten", r"(kimi-k2|glm-|nemotron|nvidia-nemotron).*", _template("chat_template_args", b"enable_thinking")),
    Words("friendli", r"(glm-|qwen3).*", _TEMPLATE_OFF | _plain(*EFFORTS[2:])),
    Words(
        "tencent",
        r"hy3.*",
        _OFF | {word: (*_ON_OR_OFF["medium"], *told) for word, told in _LOW_TO_HIGH.items()},
    ),
    Words("hunyuan", r"hunyuan-a13b.*", _ENABLED),
    Words("qianfan", r"qwen3-\d.*|ernie-4\.5-.*vl.*", _ENABLED),
    Words("stepfun", r"step-3\.5-flash-2603.*", _plain("low", "high")),
    Words("stepfun", r"step-3\.[7-9].*", _LOW_TO_HIGH),
    Words("stepfun", ".*", {}),
    Words("xiaomi", ".*", _ON_OR_OFF),
    Words("cloudflare", r"glm-4\.7.*", _TEMPLATE),
    Words("cloudflare", r"(gemma-4|kimi-k2\.[56]).*", _plain("none", "high")),
    Words("cloudflare", r"kimi-k2\.7.*", {}),
    Words("cloudflare", r"glm-5\.2.*", _TEMPLATE_OFF | _plain("high", "max")),
    Words("cloudflare", r"glm-5\.3.*", _LOW_HIGH_MAX),
    Words("cloudflare", r"nemotron.*", _TEMPLATE_OFF | _LOW_TO_HIGH),
)


@functools.lru_cache(maxsize=256)
def words_of(profile: str, model: str) -> Words | None:
    """The first row for this model of the host."""
    name = model.lower().rpartition("/")[2]
    return next((row for row in WORDS if row.profile == profile and re.fullmatch(row.models, name)), None)
