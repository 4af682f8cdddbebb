"""Metrics at /metrics, where they are configured, and nothing where they are not."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from toryo.domain.traces import trace_id_of
from toryo.server import app
from toryo.settings import Settings


def test_what_was_called_and_what_there_is_can_be_scraped(tmp_path: Path) -> None:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path, metrics=True)) as running:
        token = {"Authorization": f"Bearer {(tmp_path / 'owner.token').read_text().strip()}"}
        with httpx.Client(base_url=running.url) as http:
            made = http.post("/api/v1/projects", json={"name": "House", "working_directory": "/srv"}, headers=token)
            project = made.json()["project_id"]
            http.post(f"/api/v1/projects/{project}/tasks", json={"title": "x", "agent_type": "q"}, headers=token)
            http.post("/api/v1/projects", json={}, headers=token)
            page = http.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    lines = page.text.splitlines()
    assert 'toryo_calls_total{operation="file_task",outcome="ok"} 1.0' in lines
    assert 'toryo_calls_total{operation="create_project",outcome="validationError"} 1.0' in lines
    assert 'toryo_call_seconds_count{operation="file_task"} 1.0' in lines
    assert f'toryo_tasks{{project="{project}",status="todo"}} 1.0' in lines
    assert f'toryo_queued_tasks{{agent_type="q",project="{project}"}} 1.0' in lines


def test_without_being_asked_for_there_are_no_metrics(tmp_path: Path) -> None:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path)) as running, httpx.Client(base_url=running.url) as http:
        assert http.get("/metrics").status_code == 404


@pytest.mark.parametrize("given", ["req-12345", "x" * 200, "\ud800", "0" * 32])
def test_any_id_has_one_valid_trace_id(given: str) -> None:
    trace_id = trace_id_of(given)
    assert trace_id == trace_id_of(given)
    assert len(trace_id) == 32
    assert int(trace_id, 16) > 0
    assert trace_id_of(trace_id) == trace_id
