"""Forecasts of the dashboard: computed beside the server, one at a time, and remembered."""

from __future__ import annotations

import itertools
import os
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from tests.scenarios.sites import Bell, Gate
from toryo.client import Client, RefusalError
from toryo.operations.calls.forecasting import GOOD_FOR, Forecasted
from toryo.operations.overview.forecasts import read
from toryo.server import forecasts as server_forecasts
from toryo.server.app import Running
from toryo.server.forecasts import LOWEST_PRIORITY, Forecasts

PATIENCE = 100.0
PRINTED = {"success": True, "open_tasks": 0, "runs": 0, "accounts": []}
FOUND = read(PRINTED)


def settled() -> None:
    """Returns when no forecast is being computed."""
    for each in threading.enumerate():
        if each.name == "forecasts":
            each.join(PATIENCE)
            assert not each.is_alive()


class Beside:
    """Forecasts whose processes are shell scripts."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "data"
        self.directory.mkdir()
        self.bell, self.gate = Bell(directory / "bell"), Gate(directory / "gate")
        self._place, self._numbers = directory, itertools.count()

    def forecasts(self, script: str, **more: Any) -> Forecasts:
        program = self._place / f"program{next(self._numbers)}"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)
        return Forecasts(self.directory, lambda: 1_000, (str(program),), **more)


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Beside]:
    made = Beside(tmp_path)
    yield made
    made.gate.open()
    made.bell.close()


def printing(document: dict[str, Any], code: int = 0) -> str:
    return f"echo {shlex.quote(orjson.dumps(document).decode())}; exit {code}"


def known(forecasts: Forecasts, project_id: str = "prj_1") -> Forecasted:
    found = forecasts.of(project_id)
    assert found is not None
    return found


def test_a_project_has_no_forecast_before_somebody_asks_for_one(beside: Beside) -> None:
    assert beside.forecasts("exit 1").of("prj_1") is None


def test_it_is_what_the_command_prints_and_its_files_are_gone(beside: Beside) -> None:
    forecasts = beside.forecasts(f'touch "$TMPDIR/mine" && {printing(PRINTED)}')
    forecasts.start("prj_1", 3)
    settled()
    found = known(forecasts)
    assert (found.state, found.found, found.found_at) == ("done", FOUND, 1_000)
    assert [*beside.directory.iterdir()] == []


def test_one_runs_at_a_time_and_asking_twice_begins_one(beside: Beside) -> None:
    forecasts = beside.forecasts(f"echo $2 > {beside.bell}; {beside.gate}; {printing(PRINTED)}")
    for project_id in ("prj_1", "prj_2", "prj_1", "prj_2"):
        forecasts.start(project_id, 3)
    assert beside.bell.rung(1) == ["--project=prj_1"]
    assert (known(forecasts).state, known(forecasts, "prj_2").state) == ("running", "waiting")
    beside.gate.open()
    settled()
    assert beside.bell.rung(2) == ["--project=prj_1", "--project=prj_2"]
    assert {known(forecasts).state, known(forecasts, "prj_2").state} == {"done"}


def test_its_process_gives_way_to_everything_else_and_reads_no_setting_of_the_server(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORYO_TOKEN", "tpt_of_somebody_else")
    said = f"echo there > {beside.bell}; {beside.gate}; env > {beside.directory}/env; nice > {beside.bell}; exit 3"
    forecasts = beside.forecasts(said)
    forecasts.start("prj_1", 3)
    assert beside.bell.rung(1) == ["there"]
    with forecasts._lock:  # which is held until it is limited
        beside.gate.open()
    assert beside.bell.rung(2) == ["there", str(LOWEST_PRIORITY)]
    settled()
    assert "TORYO_" not in (beside.directory / "env").read_text()


def test_one_that_takes_too_long_is_ended_and_says_so(beside: Beside) -> None:
    forecasts = beside.forecasts(f"exec cat {beside.gate.path}", longest_seconds=0.2)
    forecasts.start("prj_1", 3)
    settled()
    assert known(forecasts).state == "failed"
    assert "It took longer than" in (known(forecasts).reason or "")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -KILL $$", "Its process was ended by the signal SIGKILL."),
        ("echo nonsense", "Its process ended with code 0; see the server's log."),
        ("echo '[]'", "Its process ended with code 0; see the server's log."),
        ("echo MemoryError >&2; exit 1", "It needs more than 2 GB of memory. Use the command line: toryo forecast"),
        ("exit 7", "Its process ended with code 7; see the server's log."),
        (printing({"success": False, "message": "Not so.", "instruction": "Do this."}, 1), "Not so. Do this."),
        (printing({"success": False, "message": "Not so."}, 1), "Not so."),
        (printing({"success": True, "runs": 20}), "Its process ended with code 0; see the server's log."),
    ],
)
def test_one_that_fails_says_why(beside: Beside, script: str, reason: str) -> None:
    forecasts = beside.forecasts(script)
    forecasts.start("prj_1", 3)
    settled()
    assert (known(forecasts).state, known(forecasts).reason) == ("failed", reason)


def test_a_program_that_cannot_be_started_is_a_failure_and_the_next_one_still_runs(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    forecasts = Forecasts(beside.directory, lambda: 1_000, (str(beside.directory / "none"),))
    held: set[int] = set()

    def pipe() -> tuple[int, int]:
        held.update(ends := os.pipe())
        return ends

    def close(end: int) -> None:
        held.remove(end)
        os.close(end)

    monkeypatch.setattr(server_forecasts, "os", SimpleNamespace(**{**vars(os), "pipe": pipe, "close": close}))
    for project_id in ("prj_1", "prj_2"):
        forecasts.start(project_id, 3)
    settled()
    assert held == set()
    assert {known(forecasts).state, known(forecasts, "prj_2").state} == {"failed"}


def test_what_was_computed_before_is_shown_until_there_is_something_newer(beside: Beside) -> None:
    once = beside.directory / "once"
    forecasts = beside.forecasts(f"test -e {once} && exit 1; touch {once}; {printing(PRINTED)}")
    for processes in (3, 50):
        forecasts.start("prj_1", processes)
        settled()
    assert (known(forecasts).state, known(forecasts).found, known(forecasts).found_at) == ("failed", FOUND, 1_000)
    assert (known(forecasts).max_concurrent, known(forecasts).found_with) == (50, 3)


def test_the_end_of_the_server_ends_it(beside: Beside) -> None:
    forecasts = beside.forecasts(f"echo $$ > {beside.bell}; exec cat {beside.gate.path}")
    for project_id in ("prj_1", "prj_2"):
        forecasts.start(project_id, 3)
    [pid] = beside.bell.rung(1)
    forecasts.close()
    settled()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)
    forecasts.start("prj_3", 3)
    assert forecasts.of("prj_3") is None


def test_files_of_a_server_that_was_killed_are_deleted_at_the_next_start(beside: Beside) -> None:
    (beside.directory / "forecast" / "left").mkdir(parents=True)
    beside.forecasts("exit 1")
    assert [*beside.directory.iterdir()] == []


def test_only_so_many_are_remembered(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toryo.server.forecasts.MOST_KEPT", 2)
    forecasts = beside.forecasts(printing(PRINTED))
    for number in range(4):
        forecasts.start(f"prj_{number}", 3)
        settled()
    assert [forecasts.of(f"prj_{number}") is None for number in range(4)] == [True, True, False, False]


def test_a_forecast_is_good_for_ten_minutes_and_for_the_same_number_of_processes() -> None:
    done = Forecasted("done", 3, 0, 5, found=FOUND, found_at=5)
    assert done.answers(3, GOOD_FOR)
    assert not done.answers(3, GOOD_FOR + 5)
    assert not done.answers(4, GOOD_FOR)
    assert not Forecasted("failed", 3, 0, 5, "why", FOUND, 5).answers(3, 6)


# --- of a real server ------------------------------------------------------------------------------------------------


@pytest.fixture
def owner(server: Running) -> Client:
    assert server.app.settings.data_dir is not None
    return Client(server.url, (server.app.settings.data_dir / "owner.token").read_text().strip())


def house(owner: Client, **task: Any) -> str:
    made = owner.rest("POST", "/projects", {"name": "House", "working_directory": "/srv/house"})
    project = str(made["project_id"])
    owner.rest("POST", "/agents", {"id": "mason", "provider": "claude", "role": "worker", "projects": [project]})
    if task:
        owner.rest("POST", f"/projects/{project}/tasks", task)
    return project


@pytest.mark.deep
def test_the_server_answers_what_the_command_would_and_remembers_it(owner: Client) -> None:
    project = house(owner, title="Wall", assignee_id="mason")
    path = f"/projects/{project}/forecast"
    assert owner.rest("GET", path)["state"] == "none"
    before = owner.rest("GET", "/status")["last_event"]
    begun = owner.rest("POST", path, {"max_concurrent": 2})
    assert (begun["state"] in ("waiting", "running"), begun["forecast"]) == (True, None)
    settled()
    done = owner.rest("GET", path)
    assert (done["state"], done["reason"], done["max_concurrent"]) == ("done", None, 2)
    found = done["forecast"]
    assert (found["open_tasks"], found["runs"], found["runs_completed"]) == (1, 20, 20)
    assert 0 < found["hours"]["low"] <= found["hours"]["middle"] <= found["hours"]["high"]
    assert found["agents"]["mason"]["learnt_from"] == 0
    assert found["assumed_minutes"] > 0
    assert owner.rest("GET", "/status")["last_event"] == before
    assert owner.rest("POST", path, {"max_concurrent": 2}) == done
    again = owner.rest("POST", path, {"max_concurrent": 5, "refresh": True})
    assert (again["state"] in ("waiting", "running"), again["forecast"]) == (True, found)
    assert (again["max_concurrent"], again["forecast"]["max_concurrent"]) == (5, 2)


@pytest.mark.deep
def test_a_project_without_open_tasks_has_a_forecast_without_ranges(owner: Client) -> None:
    path = f"/projects/{house(owner)}/forecast"
    owner.rest("POST", path)
    settled()
    found = owner.rest("GET", path)["forecast"]
    assert (found["open_tasks"], found["runs"], found["hours"], found["dollars"]) == (0, 0, None, None)


@pytest.mark.deep
def test_what_keeps_the_command_from_answering_is_the_reason(server: Running, owner: Client) -> None:
    path = f"/projects/{house(owner)}/forecast"
    assert server.app.settings.data_dir is not None
    token = server.app.settings.data_dir / "owner.token"
    token.write_text("tpt_another_token_that_nobody_knows\n")
    owner.rest("POST", path)
    settled()
    found = owner.rest("GET", path)
    assert found["state"] == "failed"
    assert "does not accept the token in the data directory" in found["reason"]


def test_only_who_sees_the_project_sees_and_starts_its_forecast(server: Running, owner: Client) -> None:
    project = house(owner)
    owner.rest("POST", "/people", {"person_id": "ann", "login": "member"})
    ann = Client(server.url, owner.rest("POST", "/access-tokens", {"name": "hers", "person_id": "ann"})["token"])
    for method in ("GET", "POST"):
        with pytest.raises(RefusalError) as refused:
            ann.rest(method, f"/projects/{project}/forecast")
        assert refused.value.code == "projectNotFound"
    assert owner.rest("GET", f"/projects/{project}/forecast")["state"] == "none"
