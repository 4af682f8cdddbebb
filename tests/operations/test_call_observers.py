"""Observers of calls: metrics and spans are made of what was answered, and what measures breaks nothing."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.stories import World
from toryo.domain.traces import trace_id_of
from toryo.operations.calls.observers import Observed
from toryo.server.metrics import Metrics
from toryo.server.telemetry import Telemetry


def test_calls_and_tasks_are_spans_of_the_trace_of_their_request(world: World) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    world.dispatcher.observers = (Telemetry(provider.get_tracer("test")),)
    world.project(decomposition="never")
    world.worker("w1")
    world.task("w1")
    worker = world.start("w1")
    worker.report()
    correlation = world.show(worker.call("get_my_task")["task"]["task_id"])["correlation_id"]
    spans = {span.name: span for span in exporter.get_finished_spans()}
    task, report = spans["toryo.task"], spans["toryo.report_completed"]
    for readable_span in (task, report):
        assert f"{readable_span.context.trace_id:032x}" == trace_id_of(correlation)
    assert task.attributes is not None
    assert task.attributes["toryo.status"] == "completed"


def test_a_measure_that_fails_breaks_no_call(world: World) -> None:
    def fail(_: Observed) -> None:
        raise RuntimeError("no room left")

    counted = Metrics()
    world.dispatcher.observers = (fail, counted)
    world.project()
    assert b'operation="create_project",outcome="ok"} 1.0' in counted.text([])
