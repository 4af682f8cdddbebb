"""Prometheus metrics at /metrics, if configured: calls as they complete, and counts computed per request."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily

from toryo.domain.measures import Measure
from toryo.operations.calls.observers import Observed

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_HELP = {
    "tasks": "Tasks by status.",
    "queued_tasks": "Tasks waiting in a queue.",
    "sessions": "Live sessions.",
    "launches": "Live launches.",
    "claims": "Claimed queue tasks.",
    "mailboxes_waiting": "Agents with an undelivered message.",
    "internal_errors": "Internal errors in decisions since the server started.",
    "delegations_open": "Open delegations.",
}


class Metrics:
    """An observer of calls; `text` is the page."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter("toryo_calls", "Calls answered.", ["operation", "outcome"], registry=self._registry)
        self._seconds = Histogram(
            "toryo_call_seconds",
            "Time to process a call, without waiting.",
            ["operation"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._events = Counter("toryo_events", "Events by kind.", ["kind"], registry=self._registry)

    def __call__(self, observed: Observed) -> None:
        self._calls.labels(observed.operation, observed.outcome).inc()
        self._seconds.labels(observed.operation).observe(observed.seconds)
        for event in observed.events:
            self._events.labels(event.kind).inc()

    def text(self, measures: Iterable[Measure]) -> bytes:
        registry = CollectorRegistry()
        registry.register(_Counts(measures))
        return generate_latest(self._registry) + generate_latest(registry)


class _Counts:
    def __init__(self, measures: Iterable[Measure]) -> None:
        self._measures = list(measures)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        families: dict[str, GaugeMetricFamily] = {}
        for measure in self._measures:
            family = families.setdefault(
                measure.name,
                GaugeMetricFamily(
                    f"toryo_{measure.name}", _HELP.get(measure.name, measure.name), labels=list(measure.labels)
                ),
            )
            family.add_metric(list(measure.labels.values()), measure.value)
        return families.values()
