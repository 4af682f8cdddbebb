"""`toryo agent resume`: what a person says when a quota or a failure need not be waited for any longer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toryo
from toryo.client import Client, server_discovery


@pytest.fixture
def coordinator(server: Toryo) -> Client:
    """Who speaks to the server as a Coordinator does."""
    data = Path(server.environment["TORYO_DATA_DIR"])
    found = server_discovery.find(data_dir=data, environ={}, role="coordinator")
    return Client(found.url, found.token)


@pytest.fixture
def worker(server: Toryo, project: str, agent: str) -> str:
    """A worker with a task in progress, on an account of its own."""
    server.json("agent", "edit", agent, "--yes", "--provider", "claude", "--options", f"{{account: {agent}}}")
    server.json("task", "add", "Work", "--project", project, "--assignee", agent, "--status", "in_progress")
    return agent


def claim(coordinator: Client, agent: str) -> list[dict[str, Any]]:
    found = coordinator.call("claim_starts", coordinator_id=f"of-{agent}", free_slots=1, running=[], agent_ids=[agent])
    return list(found["start"])


def fail(coordinator: Client, agent: str, error: str, **more: Any) -> None:
    (launch,) = claim(coordinator, agent)
    coordinator.call("report_process_exit", launch_id=launch["launch_id"], exit_code=1, error=error, **more)


def test_a_used_up_account_is_shown_with_its_time_and_ended_by_a_word_and_the_launch_follows(
    server: Toryo, worker: str, coordinator: Client
) -> None:
    fail(coordinator, worker, "quota: resets after 23m", quota_reset_seconds=23 * 60)
    assert claim(coordinator, worker) == []
    shown = server("agent", "show", worker, COLUMNS="300").out
    assert re.search(rf"account {worker}: quota, until \d\d", shown)
    assert "toryo agent resume" in server("why", worker, COLUMNS="300").out
    ended = server("agent", "resume", worker)
    assert ended.code == 0
    assert f"ended the wait for account {worker}" in " ".join(ended.out.split())
    assert [each["agent_id"] for each in claim(coordinator, worker)] == [worker]


def test_as_a_document_it_names_everything_that_it_ended(server: Toryo, worker: str, coordinator: Client) -> None:
    fail(coordinator, worker, "output_flood")
    (held,) = server.json("agent", "show", worker)["cooldowns"]
    shown = server("agent", "show", worker, COLUMNS="300").out
    assert f"task: output_flood with claude ({worker}), until" in shown
    assert (held["what"], held["reason"], held["program"]) == ("task", "output_flood", f"claude ({worker})")
    assert 0 < held["seconds_left"] <= 60
    assert server.json("agent", "resume", worker)["ended"] == ["task"]
    assert server.json("agent", "show", worker)["cooldowns"] == []


def test_who_does_not_cool_down_is_told_where_to_ask(server: Toryo, worker: str) -> None:
    ended = server("agent", "resume", worker)
    assert ended.code == 0
    assert f"toryo why {worker}" in " ".join(ended.err.split())


def test_what_holds_it_still_is_told_and_no_start_is_promised(server: Toryo, worker: str, coordinator: Client) -> None:
    (launch,) = claim(coordinator, worker)
    ended = server("agent", "resume", worker, COLUMNS="300")
    assert "has not signed in yet" in " ".join(ended.err.split())
    assert "free slot" not in ended.err
    assert server("sessions", "--end", launch["launch_id"]).code == 0
    ended = server("agent", "resume", worker, COLUMNS="300")
    assert "has not signed in yet" not in ended.err


def test_an_agent_that_is_not_there_is_a_clear_error(server: Toryo, project: str) -> None:
    ended = server("agent", "resume", f"{project}.nobody")
    assert ended.code != 0
    assert "nobody" in ended.err
