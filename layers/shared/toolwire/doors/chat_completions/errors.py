"""The chat door's errors, as an answer and as an event of a stream, in the form of both of OpenAI's APIs."""

from __future__ import annotations

from toolwire.doors import openai_errors
from toolwire.model.errors import GatewayError


def render_error(error: GatewayError, request_id: str) -> bytes:
    """The body of an error answer. Errors name a tool's members as this API does, so no path has to change."""
    return openai_errors.render_error(error, request_id)
