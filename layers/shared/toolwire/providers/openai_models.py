"""What differs between the models that OpenAI's two wires serve, as data: the first row that fits a name holds.

Models refuse an effort that they do not know, sampling beside reasoning, `reasoning.encrypted_content` if they do not
reason, and tools beside reasoning on the Chat wire since gpt-5.4. Source: the model pages of OpenAI, xAI and Groq, and
refusals of their APIs (pydantic-ai keeps OpenAI's answers for each model in its tests; openai/codex#6647 and the like
have those of Codex). A model without a row is sent the client's settings and none of our own; its effort is a word of
its host's profile.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

#: All words for the effort of reasoning that doors take, rising.
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models. `pattern` matches the whole name, in lower case, without path and maker."""

    pattern: str
    #: The efforts that the model knows, rising; (): it refuses the member; None: not known.
    efforts: tuple[str, ...] | None = None
    #: Whether the model can reason. Its reasoning is then asked for in the form that can be sent back.
    reasons: bool = False
    #: Whether it reasons by default.
    by_default: bool = True
    #: Whether its reasoning can be switched off (effort "none"). Only then it takes temperature and top_p.
    can_rest: bool = False
    #: Whether OpenAI serves it, or serves it with tools, by the Responses wire only.
    needs_responses: bool = False
    #: Whether a request can mark the end of a prefix for its prompt cache.
    cache_breakpoints: bool = False


_LOW_TO_HIGH = ("low", "medium", "high")
_LOW_TO_XHIGH = (*_LOW_TO_HIGH, "xhigh")
_MINIMAL_TO_HIGH = ("minimal", *_LOW_TO_HIGH)
_TO_HIGH = ("none", *_LOW_TO_HIGH)
_TO_XHIGH = (*_TO_HIGH, "xhigh")
_TO_MAX = (*_TO_XHIGH, "max")

_CODEX = r"-(.*-)?codex.*"

FAMILIES = (
    # OpenAI
    Family(r"o\d.*-deep-research.*", ("medium",), reasons=True, needs_responses=True),
    Family(r".*-deep-research.*", can_rest=True, needs_responses=True),
    Family(r"gpt-(5\.([4-9]|\d\d)|[6-9](\.\d+)?)-chat.*", (), needs_responses=True),
    Family(r"gpt-5\.[1-3]-chat.*", ("medium",), reasons=True),
    Family(r"(gpt-[345](\.\d+)?-chat|chatgpt|gpt-[34]).*", ()),
    Family(r"o1-(mini|preview).*", (), reasons=True),
    Family(r"o[13]-pro.*", _LOW_TO_HIGH, reasons=True, needs_responses=True),
    Family(r"o[1-9].*", _LOW_TO_HIGH, reasons=True),
    Family(r"gpt-5-pro.*", ("high",), reasons=True, needs_responses=True),
    Family(r"gpt-5\.[2-5]-pro.*", ("medium", "high", "xhigh"), reasons=True, needs_responses=True),
    Family(
        rf"gpt-5\.1{_CODEX}-max.*|gpt-5\.2{_CODEX}|.*-codex-spark.*", _LOW_TO_XHIGH, reasons=True, needs_responses=True
    ),
    Family(rf"gpt-5(\.1)?{_CODEX}", _LOW_TO_HIGH, reasons=True, needs_responses=True),
    Family(r"gpt-5\.1(\D.*)?", _TO_HIGH, reasons=True, by_default=False, can_rest=True),
    Family(rf"gpt-5\.3{_CODEX}", _TO_XHIGH, reasons=True, by_default=False, can_rest=True, needs_responses=True),
    Family(r"gpt-5\.[23](\D.*)?", _TO_XHIGH, reasons=True, by_default=False, can_rest=True),
    Family(r"gpt-5\.4(\D.*)?", _TO_XHIGH, reasons=True, by_default=False, can_rest=True, needs_responses=True),
    Family(r"gpt-5\.5(\D.*)?", _TO_XHIGH, reasons=True, can_rest=True, needs_responses=True),
    Family(r"gpt-5\.6(\D.*)?", _TO_MAX, reasons=True, can_rest=True, needs_responses=True, cache_breakpoints=True),
    Family(
        r"gpt-6(-(luna|sol)|\.\d+-(luna|terra)).*",
        _TO_MAX,
        reasons=True,
        can_rest=True,
        needs_responses=True,
        cache_breakpoints=True,
    ),
    Family(r"gpt-6.*", _TO_MAX[1:], reasons=True, needs_responses=True, cache_breakpoints=True),
    Family(r"gpt-(5\.\d|[7-9]).*", reasons=True, can_rest=True, needs_responses=True, cache_breakpoints=True),
    Family(r"gpt-5.*", _MINIMAL_TO_HIGH, reasons=True),
    Family(r"(codex-|computer-use-preview).*", reasons=True, needs_responses=True),
    Family(r"gpt-oss.*", _LOW_TO_HIGH, can_rest=True),
    # xAI
    Family(r"grok-3-mini.*", ("low", "high"), can_rest=True),
    Family(r"grok-4\.20-multi-agent.*", _LOW_TO_XHIGH, reasons=True, can_rest=True),
    Family(r"grok-.*non-reasoning.*", (), can_rest=True),
    Family(r"grok-4\.3.*", _TO_HIGH, reasons=True, can_rest=True),
    Family(r"grok-4\.5.*", _LOW_TO_HIGH, reasons=True),
    Family(r"grok-4\.[67].*", _LOW_TO_XHIGH, reasons=True),
    Family(r"grok-(4|code|build).*", (), reasons=True),
    Family(r"grok-[5-9].*", reasons=True, can_rest=True),
    Family(r"grok-[23].*", (), can_rest=True),
    # Mistral
    Family(r"mistral-(small-(latest|2603|4(-.*)?)|medium-(latest|2604|3([.-]5.*)?))", ("none", "high"), can_rest=True),
    Family(r"mistral-large-4-.*", _LOW_TO_HIGH, can_rest=True),
    # at Groq and elsewhere
    Family(r"(meta-)?(llama|codellama|mixtral|codestral|pixtral|gemma-?[123]).*", (), can_rest=True),
)

#: Bedrock's prefix of a name: the region of an inference profile, and the maker.
_AT_BEDROCK = re.compile(r"^(?:[a-z]+\.)?openai\.")

UNKNOWN = Family("", can_rest=True)


def is_reasoning(family: Family, effort: str | None) -> bool:
    """Whether a model of this family reasons when it is asked for this effort."""
    return family.reasons and not (family.can_rest and (effort == "none" or (not effort and not family.by_default)))


@functools.lru_cache(maxsize=256)
def family_of(model: str) -> Family:
    """The first family that the model's name belongs to, UNKNOWN if there is none."""
    name = _AT_BEDROCK.sub("", model.rpartition("/")[2].lower())
    return next((family for family in FAMILIES if re.fullmatch(family.pattern, name)), UNKNOWN)
