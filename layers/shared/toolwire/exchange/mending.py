"""Makes another request from one that the provider refused, where the refusal is about something the gateway added, or
about something the request can do without: another form of a setting or of the history, no state of earlier turns, no
betas.

A refusal is recognised by its status and its words. The client is warned of what is left out.
"""

from __future__ import annotations

from toolwire.exchange.attempt import Attempt, prepare_again
from toolwire.exchange.prepare import ClientRequest
from toolwire.exchange.profile_lessons import Lesson
from toolwire.exchange.refusals import (
    REASONING_WANTED,
    is_about_betas,
    is_about_members,
    is_about_state,
    lessons,
    unknown_of,
    wants_reasoning,
)
from toolwire.model.errors import GatewayError, UpstreamError
from toolwire.model.source import replace

#: The statuses of refusals that can be mended: 500 where a template refuses a history, 404 where an aggregator has no
#: host that reads images, 402 where an account pays for less output than was asked for.
_REFUSED = (400, 402, 404, 422, 500)

#: The end of the name of a header that lists betas.
_BETAS = "-beta"


def mended(attempt: Attempt, status: int | None, refusal: GatewayError) -> Attempt | None:
    """The attempt that replaces one which was refused with this status; None where no change can help. Raises
    RequestError."""
    if status is not None and status < 300:  # told within an answer, mostly by its words alone (LM Studio)
        status = 400 if refusal.status == UpstreamError.status else refusal.status
    if status not in _REFUSED:
        return None
    asked = attempt.given.client.request.max_tokens
    for lesson in lessons(refusal, attempt.profile, same_dialect=attempt.same_dialect, output=asked):
        if (again := with_lesson(attempt, lesson)) is not attempt:
            return again
    newer = attempt.provider.newer_members(attempt.target) if attempt.same_dialect else ()
    if names := unknown_of(newer, refusal):
        again = with_lesson(attempt, Lesson("", {"refuses": names}))
        if again is not attempt:
            return again
    if status != 400:
        return None
    if not is_about_members(refusal) and _lacks_reasoning(attempt, refusal):
        return _with_lesson(attempt, REASONING_WANTED)
    given = attempt.given
    if attempt.has_state and is_about_state(refusal):
        return prepare_again(replace(given, with_state=False, left_out=(*given.left_out, "state_refused")))
    if _refuses_betas(attempt, refusal):
        client = _without_betas(given.client)
        return prepare_again(replace(given, client=client, left_out=(*given.left_out, "betas_refused")))
    return None


def with_lessons(attempt: Attempt, known: tuple[Lesson, ...]) -> Attempt:
    """The attempt, made anew with the lessons of earlier refusals. Raises RequestError."""
    for lesson in known:
        attempt = with_lesson(attempt, lesson)
    return attempt


def with_lesson(attempt: Attempt, lesson: Lesson) -> Attempt:
    """The attempt, made anew with one more lesson; the same object if that does not change its request. Raises
    RequestError."""
    again = _with_lesson(attempt, lesson)
    return attempt if again.upstream_request.body == attempt.upstream_request.body else again


def _with_lesson(attempt: Attempt, lesson: Lesson) -> Attempt:
    return prepare_again(replace(attempt.given, lessons=(*attempt.given.lessons, lesson)))


def _lacks_reasoning(attempt: Attempt, refusal: GatewayError) -> bool:
    """Whether the provider wants reasoning of earlier turns that was not sent, or was sent empty."""
    profile = attempt.profile
    was_sent = profile.reasoning_back is None or (profile.reasoning_required and profile.lost_reasoning)
    return wants_reasoning(refusal) and not was_sent


def _refuses_betas(attempt: Attempt, refusal: GatewayError) -> bool:
    """Whether the provider has refused a beta that the client named."""
    named = any(name.endswith(_BETAS) for name, _ in attempt.given.client.request.headers)
    return is_about_betas(refusal) and named and attempt.same_dialect and attempt.provider.refuses_betas(attempt.target)


def _without_betas(client: ClientRequest) -> ClientRequest:
    headers = tuple((name, value) for name, value in client.request.headers if not name.endswith(_BETAS))
    return replace(client, request=replace(client.request, headers=headers))
