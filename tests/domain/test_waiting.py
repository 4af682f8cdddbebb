"""What a task waited for: every time in which nobody worked on it, with its cause, and none in which somebody did."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.things import task
from toryo.domain import waiting
from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import replace
from toryo.domain.tasks import Status, Task
from toryo.domain.waiting import Cause, Course, Span, Waiting

MINE: Task = replace(task("t", Status.COMPLETED, "ann"), created_at=0, moved_at=100, completed_at=100, started_at=10)


def event(at: int, kind: str, **data: Any) -> Event:
    return Event(f"e{at}", at, "olga", True, kind, data=data, sequence=at)


def moved(at: int, kind: str, before: str, after: str, **more: Any) -> Event:
    return event(at, kind, **{"from": before, "to": after}, **more)


CREATED = event(0, "task.created", status="todo", title="t")
STARTED = moved(10, "task.started", "todo", "in_progress")
COMPLETED = moved(100, "task.completed", "in_progress", "completed")


def waits(
    *events: Event,
    work: list[Span] | None = None,
    decisions: list[Event] | None = None,
    needed: dict[str, int | None] | None = None,
    of: Task = MINE,
    review: Span | None = None,
) -> list[Waiting]:
    return waiting.of(Course(of, events, work, decisions or [], needed or {}, review))


def causes(found: list[Waiting]) -> list[tuple[str, int, int | None]]:
    return [(each.cause.value, each.since, each.until) for each in found]


def test_before_its_start_it_waits_for_somebody_to_start_it() -> None:
    assert causes(waits(CREATED, STARTED, COMPLETED)) == [("not_started", 0, 10)]


def test_a_queue_task_waits_in_its_queue() -> None:
    assert causes(waits(CREATED, STARTED, of=replace(MINE, agent_type="build")))[0] == ("queue", 0, 10)


def test_it_waits_for_its_dependencies_until_the_last_of_them_is_completed() -> None:
    found = waits(CREATED, STARTED, COMPLETED, needed={"a": 4, "b": 7})
    assert causes(found) == [("dependencies", 0, 7), ("not_started", 7, 10)]
    assert found[0].on == ("a", "b")
    assert causes(waits(CREATED, needed={"a": 4, "b": None})) == [("dependencies", 0, None)]


def test_what_was_completed_before_it_was_created_is_not_waited_for() -> None:
    assert causes(waits(CREATED, STARTED, COMPLETED, needed={"a": -5})) == [("not_started", 0, 10)]


def test_a_request_waits_for_its_approval_and_another_draft_in_the_backlog() -> None:
    draft = event(0, "task.created", status="backlog", title="t")
    ready = moved(10, "task.readied", "backlog", "todo")
    assert causes(waits(draft, ready))[0] == ("backlog", 0, 10)
    asked = event(1, "task.approval_asked")
    (found, *_) = waits(draft, asked, ready)
    assert (found.cause, found.until, found.event) == (Cause.APPROVAL, 10, 1)


def test_between_its_launches_its_agent_is_held_by_the_reason_of_the_decision() -> None:
    work = [Span(20, 40), Span(70, 100)]
    hold = event(41, "decision.launch", action="hold", reason="cooling_down", rule="It failed.", task_id=None)
    start = event(60, "decision.launch", action="start", reason="has_in_progress_task", rule="Start.", task_id="t")
    found = waits(CREATED, STARTED, COMPLETED, work=work, decisions=[hold, start])
    assert causes(found) == [
        ("not_started", 0, 10),
        ("agent", 10, 20),
        ("agent", 40, 41),
        ("agent", 41, 60),
        ("agent", 60, 70),
    ]
    assert [(each.reason, each.event) for each in found[3:]] == [("cooling_down", 41), ("has_in_progress_task", 60)]
    assert [each.rule for each in found[3:]] == ["It failed.", None]


def test_a_decision_for_another_task_says_what_its_agent_did_instead() -> None:
    other = event(5, "decision.launch", action="start", reason="has_in_progress_task", rule="Start.", task_id="other")
    found = waits(CREATED, STARTED, work=[], decisions=[other])
    assert (found[-1].cause, found[-1].on) == (Cause.AGENT, ("other",))


@pytest.mark.parametrize(("said", "cause"), [("workers", "subtasks"), ("delegation", "delegation"), ("?", "others")])
def test_an_agent_that_left_to_wait_waits_for_what_it_said(said: str, cause: str) -> None:
    left = event(40, "task.waiting", **{"for": said})
    hold = event(41, "decision.launch", action="hold", reason="waits", rule="It waits.", task_id="t")
    found = waits(CREATED, STARTED, left, COMPLETED, work=[Span(10, 40), Span(70, 100)], decisions=[hold])
    assert causes(found)[1:] == [(cause, 40, 70)]


def test_work_by_a_person_or_within_another_launch_is_no_wait() -> None:
    assert causes(waits(CREATED, STARTED, COMPLETED, work=None)) == [("not_started", 0, 10)]


def test_a_block_is_told_with_its_reason_and_the_task_that_caused_it() -> None:
    block = moved(50, "task.blocked", "in_progress", "blocked", reason="No key.", caused_by="a")
    lifted = moved(80, "task.unblocked", "blocked", "in_progress")
    found = waits(CREATED, STARTED, block, lifted, COMPLETED, work=[Span(10, 50), Span(80, 100)])
    assert found[-1] == Waiting(Cause.BLOCKED, 50, 80, ("a",), "No key.", None, 50)


def test_completed_work_waits_for_its_review() -> None:
    assert causes(waits(CREATED, STARTED, COMPLETED, review=Span(100, 400)))[-1] == ("review", 100, 400)
    assert causes(waits(CREATED, STARTED, COMPLETED, review=Span(100)))[-1] == ("review", 100, None)


def test_what_still_lasts_has_no_end() -> None:
    assert causes(waits(CREATED, STARTED, work=[Span(20, 40)]))[-1] == ("agent", 40, None)
    assert causes(waits(CREATED, STARTED, work=[Span(20)])) == [("not_started", 0, 10), ("agent", 10, 20)]


def test_without_its_oldest_events_its_times_say_how_long_it_was_not_started() -> None:
    assert causes(waits(COMPLETED, work=[Span(10, 100)])) == [("not_started", 0, 10)]
    assert causes(waits(work=[Span(10, 60)])) == [("not_started", 0, 10), ("agent", 60, 100)]


def test_an_agent_of_that_name_is_no_status() -> None:
    assigned = event(5, "task.assigned", **{"from": "todo", "to": "completed"})
    assert causes(waits(CREATED, assigned, STARTED, COMPLETED)) == [("not_started", 0, 10)]
