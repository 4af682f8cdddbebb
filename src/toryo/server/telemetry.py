"""OpenTelemetry spans, if configured: one per call and per task, within the trace of its request.

The standard variables set the destination (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, …).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags, Tracer

from toryo.domain.events import Event
from toryo.domain.traces import trace_id_of
from toryo.operations.calls.observers import Observed
from toryo.server.http_errors import ConfigurationError

_ENDED = {"task.completed": "completed", "task.failed": "failed", "task.cancelled": "cancelled"}
_NANO = 1_000_000_000


class Telemetry:
    """An observer of calls."""

    def __init__(self, tracer: Tracer, close: Callable[[], object] = lambda: None) -> None:
        self._tracer = tracer
        self.close = close

    def __call__(self, observed: Observed) -> None:
        end = int(observed.ended_at * _NANO)
        span = self._tracer.start_span(
            f"toryo.{observed.operation}",
            context=_within(observed.correlation_id),
            kind=SpanKind.SERVER,
            start_time=end - int(observed.seconds * _NANO),
            attributes=_known(
                {
                    "toryo.outcome": observed.outcome,
                    "toryo.agent_id": observed.agent_id,
                    "toryo.session_id": observed.session_id,
                    "toryo.task_id": observed.task_id,
                    "toryo.correlation_id": observed.correlation_id,
                }
            ),
        )
        if observed.outcome != "ok":
            span.set_status(Status(StatusCode.ERROR, observed.outcome))
        span.end(end)
        for event in observed.events:
            if event.kind in _ENDED:
                self._task(event)

    def _task(self, event: Event) -> None:
        """The task as a span from its start to its end."""
        began = event.data.get("started_at")
        if not isinstance(began, int):
            return
        span = self._tracer.start_span(
            "toryo.task",
            context=_within(event.correlation_id),
            start_time=began * 1_000_000,
            attributes=_known(
                {
                    "toryo.task_id": event.task_id,
                    "toryo.agent_id": event.agent_id,
                    "toryo.project_id": event.project_id,
                    "toryo.status": _ENDED[event.kind],
                    "toryo.correlation_id": event.correlation_id,
                }
            ),
        )
        if event.kind == "task.failed":
            span.set_status(Status(StatusCode.ERROR, str(event.data.get("reason", "failed"))))
        span.end(event.at * 1_000_000)


def _known(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _within(correlation_id: str | None) -> Any:
    """The context of a request's trace; a new one where there is no request."""
    if correlation_id is None:
        return None
    trace_id = trace_id_of(correlation_id)
    parent = SpanContext(int(trace_id, 16), int(trace_id[:16], 16) or 1, is_remote=True, trace_flags=TraceFlags(1))
    return trace.set_span_in_context(NonRecordingSpan(parent))


def configure() -> Telemetry:
    """Sends spans by OTLP over HTTP. Raises ConfigurationError where the packages for it are missing."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as missing:
        raise ConfigurationError(
            f"Telemetry is on (TORYO_TELEMETRY), but {missing.name} is not installed.",
            "Install it (pip install 'toryo[telemetry]'), or switch telemetry off.",
        ) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "toryo"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Telemetry(provider.get_tracer("toryo"), provider.shutdown)
