"""OpenTelemetry spans: by the conventions for GenAI, without content, and only where somebody has set it up."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.shell.misbehaving_upstream import MisbehavingUpstream, Send, answer
from tests.shell.serve.test_door import (  # noqa: F401 - the fixtures, by their names
    CALLS,
    KEY,
    PROMPT,
    SECRET,
    STREAM,
    WEATHER,
    ask,
    connections,
    event,
    settings,
)
from toolwire.model.settings import ProviderConfig, Target
from toolwire.providers.hosts import HOSTS, TRACED_AS
from toolwire.shell.telemetry import observe, spans
from toolwire.shell.telemetry.log import LogLine
from toolwire.shell.telemetry.request_record import RequestRecord

pytestmark = [pytest.mark.enable_socket, pytest.mark.usefixtures("settings")]


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What a process with OpenTelemetry set up would send, in this test alone."""
    made, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield made
    provider.shutdown()


def test_a_span_has_model_tokens_and_calls(exporter: InMemorySpanExporter, server: MisbehavingUpstream) -> None:
    server.script([Send(answer(*CALLS))])
    ask(event(stream=True, tools=[WEATHER], headers={"Authorization": f"Bearer {KEY}", "X-Conversation-Id": "trip-1"}))
    (span,) = exporter.get_finished_spans()
    attributes = dict(span.attributes or {})
    first_chunk = attributes.pop("gen_ai.response.time_to_first_chunk")
    assert isinstance(first_chunk, float)
    assert 0 < first_chunk < 30
    assert attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "acme",
        "gen_ai.request.model": "m",
        "gen_ai.request.stream": True,
        "gen_ai.response.model": "m",
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.conversation.id": "trip-1",
        "server.address": "127.0.0.1",
        "server.port": attributes["server.port"],
        "toolwire.request_id": "req-1",
        "toolwire.door": "chat_completions",
        "toolwire.tenant": "default",
    }
    assert (span.name, span.kind) == ("chat m", trace.SpanKind.CLIENT)
    assert span.status.is_unset
    (call,) = span.events
    called = {"gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "call_abc"}
    assert (call.name, dict(call.attributes or {})) == ("gen_ai.tool.call", called)
    assert span.start_time is not None
    assert span.end_time is not None
    assert 0 < span.end_time - span.start_time < 30e9


@pytest.mark.parametrize("said", [CALLS, STREAM])
def test_a_span_has_no_content(said: list[bytes], exporter: InMemorySpanExporter, server: MisbehavingUpstream) -> None:
    server.script([Send(answer(*said))])
    ask(event(stream=True, tools=[WEATHER]))
    (span,) = exporter.get_finished_spans()
    text = span.to_json()
    for secret in (KEY, SECRET, PROMPT, "The answer", "Bern"):
        assert secret not in text


def test_an_error_has_its_code_and_no_message(exporter: InMemorySpanExporter, server: MisbehavingUpstream) -> None:
    body = json.dumps({"error": {"message": PROMPT, "code": "context_length_exceeded"}}).encode()
    server.script([Send(answer(body, status="400 Bad Request", headers=(("content-type", "application/json"),)))])
    ask(event())
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "context_length_exceeded"
    assert span.status.status_code == trace.StatusCode.ERROR
    assert PROMPT not in span.to_json()


def test_a_request_that_no_provider_was_asked_for_has_none(exporter: InMemorySpanExporter) -> None:
    ask(event({"model": "nobody-knows-it", "messages": []}))
    assert exporter.get_finished_spans() == ()


TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_span_is_a_part_of_what_its_request_names(
    exporter: InMemorySpanExporter, server: MisbehavingUpstream
) -> None:
    server.script([Send(answer(*STREAM))])
    ask(event(stream=True, headers={"Authorization": f"Bearer {KEY}", "traceparent": f"00-{TRACE}-{PARENT}-01"}))
    (span,) = exporter.get_finished_spans()
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, PARENT)


def test_a_span_is_a_part_of_lambdas_invocation(
    monkeypatch: pytest.MonkeyPatch, exporter: InMemorySpanExporter
) -> None:
    """Whose header the propagator of X-Ray reads, which ADOT brings."""
    read: list[dict[str, str]] = []
    monkeypatch.setattr("opentelemetry.propagate.extract", lambda carrier: read.append(dict(carrier)))
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-2-3")
    spans.write_span(_record())
    assert read == [{"X-Amzn-Trace-Id": "Root=1-2-3"}]
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["gen_ai.provider.name"] == "gcp.gemini"  # the conventions' name of the host


def test_where_nobody_has_set_it_up_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the API alone, too, whose stand-in records nothing."""
    monkeypatch.setattr(trace, "get_tracer", None)
    assert spans.trace_headers({"traceparent": "00-1-2-01"}) == {}
    spans.write_span(_record())
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    spans.write_span(_record())
    assert "opentelemetry.trace" not in sys.modules


def test_a_failure_of_opentelemetry_ends_no_answer(
    monkeypatch: pytest.MonkeyPatch, exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(name: str) -> None:
        raise ValueError(PROMPT)

    monkeypatch.setattr(trace, "get_tracer", broken)
    observe.finish(_record())
    (line,) = [line for line in caplog.records if line.getMessage() == "no span was written"]
    assert isinstance(line, LogLine)
    assert line.fields["problem"] == "ValueError"


def test_names_of_the_conventions_are_of_hosts_that_are_known() -> None:
    assert TRACED_AS.keys() <= {host.name for host in HOSTS}


def _record() -> RequestRecord:
    record = RequestRecord("r", "chat_completions")
    record.target = Target(ProviderConfig("google", "gemini", "https://x/v1beta", "none"), "some/model")
    return record
