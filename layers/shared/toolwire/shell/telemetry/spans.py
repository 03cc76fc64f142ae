"""Writes one OpenTelemetry span for each request that was sent to a provider, by the semantic conventions for GenAI.

OpenTelemetry is never imported here: spans are written only if a program or a layer in front has loaded it and set up
its provider. A span has names, ids, counts and times; never a prompt, an answer or an argument. It is made when the
request is over, with the recorded times.

Source: "Semantic conventions for generative client AI spans" (2026), status Development.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolwire.providers.hosts import TRACED_AS

if TYPE_CHECKING:
    from toolwire.exchange.figures import Figures
    from toolwire.shell.telemetry.request_record import RequestRecord

#: The most calls of one answer in a span, and the most characters of a name or an id: the model and the client choose
#: them.
_CALLS, _CHARS = 32, 128

#: The milliseconds that an answer's end waits until its span is sent: Lambda stops the process between requests.
_FLUSH_MS = 500

#: The headers with a request's trace.
_TRACE_HEADERS = ("traceparent", "tracestate")


def trace_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the parent of a request's span; none if tracing is off."""
    if _tracing() is None:
        return {}
    return {name: headers[name] for name in _TRACE_HEADERS if name in headers}


def write_span(record: RequestRecord) -> None:
    """Writes the span of a request that is over, if OpenTelemetry is set up and a provider was chosen."""
    tracing = _tracing()
    if tracing is None or record.target is None:
        return
    ended = time.time_ns()
    span = tracing.get_tracer("toolwire").start_span(
        f"chat {_short(record.target.model)}",
        context=_parent(tracing, record.trace_headers),
        kind=tracing.SpanKind.CLIENT,
        attributes=_attributes(record),
        start_time=ended - int((record.clock() - record.started) * 1e9),
    )
    if record.figures is not None:
        for name, id in zip(record.figures.tool_names[:_CALLS], record.figures.call_ids[:_CALLS], strict=True):
            span.add_event(
                "gen_ai.tool.call", {"gen_ai.tool.name": _short(name), "gen_ai.tool.call.id": _short(id)}, ended
            )
    if record.outcome != "ok":
        span.set_attribute("error.type", record.error_code or record.outcome)
        span.set_status(tracing.Status(tracing.StatusCode.ERROR))
    span.end(ended)
    flush = getattr(tracing.get_tracer_provider(), "force_flush", None)
    if flush is not None and "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
        flush(_FLUSH_MS)


def _tracing() -> Any:
    """`opentelemetry.trace`, if somebody has loaded it and set up a provider that records; else None."""
    tracing = sys.modules.get("opentelemetry.trace")
    # Only the SDK's provider has this method; without one the API has a placeholder.
    return tracing if tracing is not None and hasattr(tracing.get_tracer_provider(), "add_span_processor") else None


def _parent(tracing: Any, headers: Mapping[str, str]) -> Any:
    """The parent of the span: the span that runs here, else Lambda's invocation, else that of the request's headers."""
    from opentelemetry import propagate  # the SDK has loaded it

    if tracing.get_current_span().get_span_context().is_valid:
        return None  # the span that runs here
    invocation = os.environ.get("_X_AMZN_TRACE_ID")
    return propagate.extract({**headers, "X-Amzn-Trace-Id": invocation} if invocation else headers)


def _attributes(record: RequestRecord) -> dict[str, Any]:
    assert record.target is not None
    provider = record.target.provider
    address = urlsplit(provider.base_url)
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": TRACED_AS.get(provider.name, provider.name),
        "gen_ai.request.model": _short(record.target.model),
        "gen_ai.conversation.id": record.session,
        "server.address": address.hostname,
        "server.port": address.port or (80 if address.scheme == "http" else 443),
        "toolwire.request_id": record.request_id,
        "toolwire.door": record.door,
        "toolwire.tenant": record.tenant,
    }
    if record.figures is not None:
        attributes |= _of_answer(record.figures)
        if record.figures.stream and record.first_byte is not None:
            attributes["gen_ai.response.time_to_first_chunk"] = record.first_byte - record.started
    return {name: value for name, value in attributes.items() if value is not None}


def _of_answer(figures: Figures) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.request.stream": figures.stream,
        "gen_ai.response.model": None if figures.model is None else _short(figures.model),
        "gen_ai.response.finish_reasons": [figures.finish] if figures.finish else None,
    }
    usage = figures.usage
    if usage is not None:
        attributes |= {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens or None,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens or None,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens or None,
        }
    return attributes


def _short(name: str) -> str:
    return name[:_CHARS]
