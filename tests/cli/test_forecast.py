"""`toryo forecast`: ranges for the open tasks of a project of a real server, which it does not change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Toryo
from toryo.client import Client


@pytest.fixture
def house(owner: Client, tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("forecast")
    made = owner.rest("POST", "/projects", {"name": "Forecast", "working_directory": str(directory)})
    project = str(made["project_id"])
    lead, mason = f"lead-{project[-6:]}", f"mason-{project[-6:]}"
    for agent_id, more in ((lead, {"role": "manager"}), (mason, {"role": "worker", "reports_to": lead})):
        owner.rest("POST", "/agents", {"id": agent_id, "provider": "claude", "projects": [project], **more})
    for body in (
        {"title": "Wall", "assignee_id": mason},
        {"title": "Wing", "assignee_id": lead},
        {"title": "Draft", "assignee_id": mason, "status": "backlog"},
    ):
        owner.rest("POST", f"/projects/{project}/tasks", body)
    return project


def forecast(server: Toryo, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = server.json("forecast", *words)
    return found


@pytest.mark.deep
def test_open_tasks_are_forecast_as_if_a_person_started_each_and_nothing_changes(
    server: Toryo, owner: Client, house: str
) -> None:
    before = owner.rest("GET", "/status")["last_event"]
    found = forecast(server, "--project", house, "--runs", "4")
    assert (found["open_tasks"], found["runs"]) == (2, 4)
    assert found["runs_completed"] >= 1
    assert 0 < found["hours"]["low"] <= found["hours"]["middle"] <= found["hours"]["high"]
    assert 0 < found["dollars"]["low"] <= found["dollars"]["high"]
    assert all(each["learnt_from"] == 0 for each in found["agents"].values())
    assert owner.rest("GET", "/status")["last_event"] == before
    assert forecast(server, "--project", house, "--runs", "4") == found


@pytest.mark.deep
def test_people_read_when_it_is_done_and_what_it_costs(server: Toryo, house: str) -> None:
    told = server("forecast", "--project", house, "--runs", "2").out
    assert "Done        20" in told
    assert "no recorded tasks: assumed 12 min a task" in told
    assert "9 of 10 of 2 simulated runs" in told


@pytest.mark.deep
def test_what_nobody_can_do_is_named(server: Toryo, owner: Client, house: str) -> None:
    owner.rest("POST", f"/projects/{house}/tasks", {"title": "Of nobody"})
    told = server("forecast", "--project", house, "--runs", "2").out
    assert "Not all of them are completed in any run" in told
    assert "'Of nobody' (todo, 2 runs): Nobody has started it." in told


def test_a_project_without_open_tasks_says_so(server: Toryo, owner: Client, tmp_path_factory: Any) -> None:
    directory = tmp_path_factory.mktemp("empty")
    made = owner.rest("POST", "/projects", {"name": "Empty", "working_directory": str(directory)})
    assert "There are no open tasks" in server("forecast", "--project", made["project_id"]).out


def test_an_unknown_project_is_a_clear_error(server: Toryo) -> None:
    ended = server("forecast", "--project", "prj_none")
    assert ended.code != 0
    assert "There is no project prj_none" in ended.err
