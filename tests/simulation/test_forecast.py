"""Forecasts hold against what then happened; and what a forecast says of odd projects."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.conftest import Play, team
from toryo.cli.forecast import Work
from toryo.cli.simulated_server import Inside
from toryo.simulation import forecast, results
from toryo.simulation.forecast import Ended, range_of
from toryo.simulation.run import Run
from toryo.simulation.waiting import seconds_of

pytestmark = pytest.mark.deep
RUNS = 20


def project(number: int, hours: float) -> dict[str, Any]:
    """Ten projects that differ: one to four workers, short and long tasks, steady and wild ones, some that fail."""
    wild = (0.2, 0.5, 0.8)[number % 3]
    return team(
        1 + number % 4,
        tasks=0,
        hours=hours,
        coordinator={"max_concurrent": 3},
        arrivals=[{"title": "Wing {n}", "project": "house", "assignee": "lead", "count": 3}],
        defaults={
            "minutes": {"mean": 6 + 3 * number, "spread": wild},
            "failures": 0.05 * (number % 2),
            "subtasks": {"min": 2, "max": 3},
        },
    )


def last_end(run: Run) -> float:
    """Seconds from the beginning until the last task ended."""
    ends = [seconds_of(each["completed_at"]) for each in results.every_task(run) if each["completed_at"]]
    return max(ends) - run.world.time.begins_at / 1000


def test_what_then_happened_lies_within_the_range_in_at_least_eight_of_ten_projects(play: Play) -> None:
    """The same seed has the same beginning: one run is cut off in the middle and forecast, the other goes on."""
    inside, told = {"hours": 0, "dollars": 0}, []
    for number in range(10):
        whole, end = play(project(number, 500), seed=number)
        half = last_end(whole) / 2
        cut, until_then = play(project(number, half / 3600), seed=number)
        work = Work.of(Inside(world=cut.world), "house", max_concurrent=3)
        found = forecast.document(work.play(RUNS), len(work.team.tasks), work.learnt)
        happened = {
            "hours": (last_end(whole) - half) / 3600,
            "dollars": end.document["dollars"] - until_then.document["dollars"],
        }
        for what, value in happened.items():
            inside[what] += found[what]["low"] <= value <= found[what]["high"]
        told.append((number, happened, found["hours"], found["dollars"]))
    assert inside["hours"] >= 8, told
    assert inside["dollars"] >= 8, told


def test_a_forecast_changes_nothing_and_the_same_seed_gives_the_same(play: Play) -> None:
    cut, _ = play(project(1, 0.5), seed=1)
    before = cut.world.owner("read_events", limit=1)["last"]
    work = Work.of(Inside(world=cut.world), "house", max_concurrent=3)
    assert work.play(2, seed=7) == work.play(2, seed=7)
    assert work.play(2, seed=7) != work.play(2, seed=9)
    assert cut.world.owner("read_events", limit=1)["last"] == before


def test_what_can_never_be_done_is_named_with_its_reason(play: Play) -> None:
    document = project(1, 0.1)
    cut, _ = play(document, seed=1)
    cut.world.owner("file_task", project_id="house", title="Of nobody")
    work = Work.of(Inside(world=cut.world), "house", max_concurrent=3)
    found = forecast.document(work.play(3), len(work.team.tasks), work.learnt)
    assert found["runs_completed"] == 0
    assert any(each["title"] == "Of nobody" and each["runs"] == 3 for each in found["unfinished"])


def test_a_project_without_open_tasks_has_no_forecast() -> None:
    assert forecast.document([], 0, {}) == {"success": True, "open_tasks": 0, "runs": 0}


@pytest.mark.parametrize(
    ("values", "low", "middle", "high"),
    [([3.0], 3, 3, 3), ([4.0, 1.0], 1, 2.5, 4), ([float(each) for each in range(41)], 2, 20, 38)],
)
def test_a_range_has_nine_of_ten_runs(values: list[float], low: float, middle: float, high: float) -> None:
    found = range_of(values)
    assert (found.low, found.middle, found.high) == (low, middle, high)


def test_waiting_and_reasons_are_counted_over_all_runs() -> None:
    runs = [
        Ended(1.0, 2.0, 10, 1, (("A", "blocked", "why"),), {"w1": 1.0}, {"slot": 2.0}),
        Ended(3.0, 4.0, 30, 2, (), {"w1": 2.0, "w2": 1.0}, {}),
    ]
    found = forecast.document(runs, 2, {"w1": 5})
    assert (found["runs"], found["runs_completed"]) == (2, 1)
    assert found["unfinished"] == [{"title": "A", "status": "blocked", "reason": "why", "runs": 1}]
    assert found["waiting_hours"] == {"slot": 1.0}
    assert found["agents"]["w2"] == {"hours": {"low": 0.0, "middle": 0.5, "high": 1.0}, "learnt_from": 0}
    assert found["agents"]["w1"]["learnt_from"] == 5
