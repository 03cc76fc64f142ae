"""Writes one set of metrics for each request, in the log's form for CloudWatch (EMF), by Powertools.

Its import costs 15 ms and 1.3 MB, so it is made only by a process that writes metrics.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from toolwire.exchange.figures import Figures
from toolwire.model.settings import Target
from toolwire.shell.telemetry.log import SERVICE
from toolwire.shell.telemetry.request_record import NAME_CHARS, RequestRecord, milliseconds

#: Code of a call's fault -> its metric.
_QUALITY = {
    "unknown_tool_call": "UnknownTools",
    "malformed_tool_arguments": "MalformedArguments",
    "invalid_tool_arguments": "InvalidArguments",
    "finish_mismatch": "FinishMismatches",
}


def _metric_set(dimensions: dict[str, str]) -> EphemeralMetrics:
    metrics = EphemeralMetrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", SERVICE), service=SERVICE)
    for name, value in dimensions.items():
        metrics.add_dimension(name, value)
    return metrics


def _add_counts(metrics: EphemeralMetrics, counts: Mapping[str, int]) -> None:
    """Adds the counts that are not zero: CloudWatch bills a metric for each hour in which it was written, even as
    zero."""
    for name, count in counts.items():
        if count:
            metrics.add_metric(name, MetricUnit.Count, count)


def _written(metrics: EphemeralMetrics) -> None:
    # In one write: another thread's line must not come between a line and its end.
    sys.stdout.write(f"{json.dumps(metrics.serialize_metric_set())}\n")


def _write_quality(target: Target, figures: Figures) -> None:
    """Writes a line of its own for the quality of one answer's calls, by provider and model."""
    metrics = _metric_set({"provider": target.provider.name, "model": target.model[:NAME_CHARS]})
    _add_counts(
        metrics, {"ModelCalls": figures.calls} | {name: figures.call_faults[code] for code, name in _QUALITY.items()}
    )
    _written(metrics)


def write_metrics(record: RequestRecord) -> None:
    """One EMF line: a count, times and sizes, by door, provider and outcome."""
    provider = record.target.provider.name if record.target else "none"
    metrics = _metric_set({"door": record.door, "provider": provider, "outcome": record.outcome})
    metrics.add_metric("Requests", MetricUnit.Count, 1)
    counts = {"Attempts": record.attempts}
    if record.first_byte is not None:
        metrics.add_metric("TimeToFirstByte", MetricUnit.Milliseconds, milliseconds(record.first_byte - record.started))
    if record.figures is not None:
        figures = record.figures
        counts |= {
            "ToolCalls": figures.calls,
            "RecoveredCalls": sum(figures.recovered.values()),
            "IdsMinted": figures.ids_minted,
            "StoreErrors": int(record.store_error is not None),
            "RepairedFrames": figures.repaired_frames,
        }
        if figures.usage is not None:
            counts |= {"InputTokens": figures.usage.input_tokens, "OutputTokens": figures.usage.output_tokens}
        if record.store_read_ms is not None:
            metrics.add_metric("StoreRead", MetricUnit.Milliseconds, record.store_read_ms)
        if record.store_write_ms is not None:
            metrics.add_metric("StoreWrite", MetricUnit.Milliseconds, record.store_write_ms)
    _add_counts(metrics, counts)
    _written(metrics)
    if (
        record.target is not None
        and record.figures is not None
        and (record.figures.calls or record.figures.call_faults)
    ):
        _write_quality(record.target, record.figures)


def write_configuration_error() -> None:
    """Counts that a changed configuration is not used."""
    metrics = _metric_set({})
    metrics.add_metric("ConfigurationErrors", MetricUnit.Count, 1)
    _written(metrics)
