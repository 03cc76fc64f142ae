"""The parts that providers' errors share: our code for a status, which faults are final, a refused credential."""

from __future__ import annotations

import math
import re
from typing import Any

from toolwire.model.errors import TOO_LONG, UpstreamError

_SECONDS = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
_MILLISECONDS = re.compile(r"[0-9]{1,8}(\.[0-9]{1,6})?")

#: The code of an account without money, which is OpenAI's.
NO_MONEY = "insufficient_quota"

#: HTTP status -> our code, where the upstream has no code of its own.
CODES = {
    400: "upstream_invalid_request",
    402: NO_MONEY,
    404: "upstream_not_found",
    408: "upstream_timeout",
    413: "upstream_request_too_large",
    422: "upstream_invalid_request",
    429: "rate_limit_exceeded",
    503: "upstream_overloaded",
    504: "upstream_timeout",
    529: "upstream_overloaded",
}


_CONTEXT = r"context[ _-]?(length|size|window|limit)"
#: The words of hosts for a prompt that is too long for the model's context. Few hosts have a code.
_TOO_LONG = re.compile(
    rf"\b(maximum|max|available|model('s)?) {_CONTEXT}|\bexceed\w*\b.{{0,60}}\b{_CONTEXT}|\b{_CONTEXT}\W+exceed"
    r"|\b(prompt|input)( is)? too long\b|\btoo many input tokens\b|\bcontext length of only\b"
    r"|\bgreater than the context length\b|\bmax size: \d+ tokens\b"
    r"|\b(prompt|input) (tokens?( count)?|length)\b.{0,40}\bexceed|\bmaximum prompt length\b|\bmodel token limit\b"
    r"|\brange of input length\b|\bprompt exceeds max length\b|\breduce the length of (the|your) (message|prompt|input)"
    r"|`inputs`.{0,60}\bmust (be <=|have less than)",
    re.IGNORECASE | re.DOTALL,
)


#: The words of hosts for an account without money. The status is 403 at xAI, new-api, SiliconFlow and Volcengine, 400
#: at DashScope and Anthropic, 412 at Fireworks.
_NO_MONEY = re.compile(
    r"\binsufficient[_ ](user[_ ])?(quota|balance|credits?|funds)\b|\bbalance is (too low|insufficient|not enough)"
    r"|\bcredit balance\b|\b(any|out of|no( more)?) credits\b|\boverdue\b|\bin arrears\b|\baccount is in good standing"
    r"|\baccount\b.{0,60}\bsuspended\b|\bspending limit\b|\bbilling\b.{0,40}\b(details|disabled|enabled)\b"
    "|余额不足|额度不足|欠费",
    re.IGNORECASE,
)
#: The words of xAI, OpenAI and others for a 403 that is about the prompt.
_FLAGGED = re.compile(
    r"\bviolat\w+\b.{0,60}\b(guidelines|polic(y|ies))\b|\bsafety_check|\bcontent[_ ](filter|policy|moderation)"
    r"|\binappropriate content\b|\bflagged\b.{0,40}\b(moderation|inappropriate|unsafe|sensitive)",
    re.IGNORECASE,
)
#: The status of a temporary failure that clients do not retry -> a status that they do. They are TGI's for a failed
#: generation, "too early", Groq's for a tier without capacity, and Google's for a request that it has cancelled.
_PASSING = {424: 502, 425: 503, 498: 503, 499: 502}
#: The words of a 403 -> what it is about.
_WHY = (
    (re.compile(r"\b(country|region|territory|location)\b.{0,40}\b(not|un)", re.IGNORECASE),
     "the host does not serve the place that the gateway asks from"),
    (re.compile(r"\bmodels?\b.{0,80}\b(access|permission|not (allowed|available)|blocked|disabled)"
                r"|\b(access|permissions?|allowed|subscribed)\b.{0,40}\bmodels?\b", re.IGNORECASE),
     "it may not use this model"),
)  # fmt: skip


def in_words(status: int, message: str) -> tuple[int, str | None]:
    """The status and our code for a refusal by its words: the account has no money, or the prompt is refused, or too
    long. The code is None for any other refusal. A 403 with these words is not about our key."""
    if status in (400, 403, 412) and _NO_MONEY.search(message):
        return (402 if status == 403 else status), NO_MONEY
    if status == 403 and _FLAGGED.search(message):
        return 400, "content_filter"
    return _PASSING.get(status, status), TOO_LONG if is_too_long(status, message) else None


def why_refused(message: str, body: bytes) -> str:
    """The reason of a 403, in our own words; "" if it can only be the key."""
    if body.lstrip()[:1] == b"<":
        return "it answered with a web page, which something in front of its API may have written"
    return next((why for said, why in _WHY if said.search(message)), "")


def code_of(status: int, message: str = "") -> str:
    """Our code for an upstream's status and message."""
    return TOO_LONG if is_too_long(status, message) else CODES.get(status, "upstream_error")


def is_too_long(status: int, message: str) -> bool:
    """Whether an upstream refuses a prompt for its length."""
    return status in (400, 413, 422) and _TOO_LONG.search(message) is not None


def retry_of(status: int) -> bool | None:
    """False for a fault that the same request will meet again; None leaves the choice to the client."""
    return False if status < 500 and status not in (408, 409, 429) else None


def retry_after_of(headers: dict[str, str]) -> str | None:
    """The upstream's `Retry-After`. If there is a `retry-after-ms`, which OpenAI's hosts send beside it or in its
    place, that in seconds with a fraction. Names of headers are lower case."""
    if (said := headers.get("retry-after")) is not None:
        return said
    milliseconds = headers.get("retry-after-ms", "").strip()
    return f"{float(milliseconds) / 1000:g}" if _MILLISECONDS.fullmatch(milliseconds) else None


def retry_delay_in(details: Any) -> str | None:
    """Google's time to wait: the seconds of `retryDelay` ("34.4s") in a RetryInfo of an error's details, rounded up,
    since the header takes whole seconds only."""
    delays = (
        (detail.get("retryDelay") for detail in details if isinstance(detail, dict))
        if isinstance(details, list)
        else ()
    )
    found = (_SECONDS.fullmatch(delay) for delay in delays if isinstance(delay, str))
    return next((str(math.ceil(float(match[1]))) for match in found if match), None)


def credential_refused(status: int, why: str = "") -> UpstreamError:
    """A refused credential becomes 502: the client's own key was fine, and the upstream's text may quote ours. `why`:
    the reason in our own words, or ""."""
    return UpstreamError(
        f"the upstream refused this gateway's credential ({status}){f': {why}' if why else ''}",
        code="upstream_authentication_failed",
        status=502,
        retry=False,
    )
