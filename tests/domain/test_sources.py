"""Sources, which are schedules and webhooks: when one stops itself, and which entries of its history are open."""

from __future__ import annotations

import pytest

from tests.domain.test_schedules import HOURLY
from tests.domain.test_webhooks import HOOK
from tests.domain.things import NOW
from toryo.domain import sources
from toryo.domain.fast_dataclasses import replace
from toryo.domain.schedules import Outcome, Run
from toryo.domain.sources import Source, State
from toryo.domain.tasks import Status

EITHER = pytest.mark.parametrize("source", [HOURLY, HOOK], ids=["schedule", "webhook"])
DONE, FAILED, CANCELLED = Status.COMPLETED, Status.FAILED, Status.CANCELLED


@EITHER
def test_only_an_active_source_is_active(source: Source) -> None:
    assert [state for state in State if replace(source, state=state).active] == [State.ACTIVE]


@EITHER
@pytest.mark.parametrize(
    ("results", "failures"),
    [
        ([], 1),
        ([FAILED], 2),
        ([FAILED, FAILED], 3),
        ([DONE], 0),
        ([CANCELLED], 1),
        ([FAILED, DONE, FAILED, CANCELLED], 1),
        ([DONE, FAILED, FAILED], 2),
    ],
)
def test_failures_in_a_row_are_counted_and_a_cancelled_task_says_nothing(
    source: Source, results: list[Status], failures: int
) -> None:
    assert sources.after_results(replace(source, failures=1), results).failures == failures


@EITHER
@pytest.mark.parametrize(
    ("allowed", "failures", "too_often"), [(3, 2, False), (3, 3, True), (3, 4, True), (1, 1, True), (0, 9, False)]
)
def test_an_active_source_stops_after_as_many_failures_as_are_allowed(
    source: Source, allowed: int, failures: int, *, too_often: bool
) -> None:
    for state in State:
        found = replace(source, failures_allowed=allowed, failures=failures, state=state)
        assert sources.fails_too_often(found) is (too_often and state is State.ACTIVE)


@pytest.mark.parametrize(
    ("task_id", "result", "is_open"),
    [(None, None, False), ("t", None, True), ("t", Status.COMPLETED, False), ("t", Status.CANCELLED, False)],
)
def test_an_entry_is_open_until_its_task_is_closed(
    task_id: str | None, result: Status | None, *, is_open: bool
) -> None:
    entry = Run(
        id="run",
        schedule_id="sch",
        project_id="prj",
        scheduled_at=NOW,
        at=NOW,
        outcome=Outcome.CREATED,
        task_id=task_id,
        result=result,
    )
    assert entry.open is is_open
