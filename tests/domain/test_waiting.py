"""What a task waited for: every time in which nobody worked on it, with its cause, and none in which somebody did."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.things import task
from toryo.domain import waiting
from toryo.domain.events import Event
from toryo.domain.fast_dataclasses import replace
from toryo.domain.moves import MOVES
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
    return waiting.waits_of(Course(of, events, work, decisions or [], needed or {}, review))


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
    assert waits(CREATED, STARTED, COMPLETED, needed={"a": 0, "b": 7})[0].on == ("b",)


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
    found = waits(CREATED, STARTED, block, lifted, COMPLETED, work=[Span(10, 40), Span(85, 100)])
    assert causes(found)[1:] == [("agent", 40, 50), ("blocked", 50, 80), ("agent", 80, 85)]


def test_completed_work_waits_for_its_review() -> None:
    assert causes(waits(CREATED, STARTED, COMPLETED, review=Span(100, 400)))[-1] == ("review", 100, 400)
    assert causes(waits(CREATED, STARTED, COMPLETED, review=Span(100)))[-1] == ("review", 100, None)


def test_what_still_lasts_has_no_end() -> None:
    assert causes(waits(CREATED, STARTED, work=[Span(20, 40)]))[-1] == ("agent", 40, None)
    assert causes(waits(CREATED, STARTED, work=[Span(20)])) == [("not_started", 0, 10), ("agent", 10, 20)]


def test_while_somebody_works_others_come_and_go_without_a_wait() -> None:
    assert causes(waits(CREATED, STARTED, work=[Span(10, 40), Span(20, 30), Span(50), Span(60, 70)]))[1:] == [
        ("agent", 40, 50)
    ]


def test_without_its_oldest_events_its_times_say_how_long_it_was_not_started() -> None:
    assert causes(waits(COMPLETED, work=[Span(10, 100)])) == [("not_started", 0, 10)]
    assert causes(waits(work=[Span(10, 60)])) == [("not_started", 0, 10), ("agent", 60, 100)]


def test_an_agent_of_that_name_is_no_status() -> None:
    assigned = event(5, "task.assigned", **{"from": "todo", "to": "completed"})
    assert causes(waits(CREATED, assigned, STARTED, COMPLETED)) == [("not_started", 0, 10)]


# --- what an agent left to wait for ----------------------------------------------------------------------------------


def left(at: int, said: str) -> Event:
    return event(at, "task.waiting", **{"for": said})


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ([left(40, "workers")], [("subtasks", 40, 70)]),
        ([left(45, "answer")], [("answer", 40, 70)]),
        ([left(30, "others"), left(39, "workers")], [("subtasks", 40, 70)]),
        ([left(20, "delegation")], [("delegation", 40, 70)]),
        ([left(19, "workers")], [("agent", 40, 70)]),
        ([left(70, "workers")], [("agent", 40, 70)]),
    ],
    ids=[
        "as it left",
        "shortly after it left",
        "the last that it said",
        "as soon as it came",
        "before it came",
        "as it came back",
    ],
)
def test_an_agent_waits_for_the_last_that_it_said_between_its_coming_and_its_coming_back(
    said: list[Event], found: list[tuple[str, int, int]]
) -> None:
    work = [Span(10, 20), Span(20, 40), Span(70, 100)]
    waited = waits(CREATED, STARTED, *said, COMPLETED, work=work)
    assert causes(waited)[1:] == found
    assert waited[1].event == (None if found[0][0] == "agent" else said[-1].at)


def test_what_was_said_in_a_later_gap_explains_that_one_alone() -> None:
    found = waits(CREATED, STARTED, left(80, "workers"), work=[Span(10, 40), Span(70, 80)])
    assert causes(found)[1:] == [("agent", 40, 70), ("subtasks", 80, None)]


# --- what follows without a change -----------------------------------------------------------------------------------


def decided(at: int, action: str, reason: str | None = None, rule: str | None = None, task_id: str = "t") -> Event:
    return event(at, "decision.launch", action=action, reason=reason, rule=rule, task_id=task_id)


def test_decisions_that_say_the_same_are_one_wait_told_by_the_first_of_them() -> None:
    decisions = [decided(each, "hold", "cooling_down", "It failed.") for each in (10, 20, 30)]
    assert waits(CREATED, STARTED, work=[], decisions=[*decisions, decided(40, "hold", "cooling_down", "Other.")]) == [
        Waiting(Cause.NOT_STARTED, 0, 10),
        Waiting(Cause.AGENT, 10, 40, (), "cooling_down", "It failed.", 10),
        Waiting(Cause.AGENT, 40, None, (), "cooling_down", "Other.", 40),
    ]


def test_the_same_wait_before_and_after_somebody_worked_is_two() -> None:
    assert causes(waits(CREATED, STARTED, work=[Span(20, 40)]))[1:] == [("agent", 10, 20), ("agent", 40, None)]


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (decided(5, "hold", "cooling_down", "It failed."), ("cooling_down", "It failed.", ())),
        (decided(5, "hold", "already_running", "It runs."), ("already_running", None, ())),
        (decided(5, "hold", "start_pending", "It starts."), ("start_pending", None, ())),
        (decided(5, "start", "has_in_progress_task", "Start."), ("has_in_progress_task", None, ())),
        (decided(5, "hold"), (None, None, ())),
        (decided(5, "hold", "", ""), (None, None, ())),
        (decided(5, "hold", "busy", "It is.", "other"), ("busy", "It is.", ("other",))),
        (event(5, "decision.launch", action="hold", reason="busy", task_id=7), ("busy", None, ())),
    ],
)
def test_the_rule_is_told_of_a_decision_that_holds_and_the_task_if_it_is_another(
    decision: Event, told: tuple[str | None, str | None, tuple[str, ...]]
) -> None:
    [*_, found] = waits(CREATED, STARTED, work=[], decisions=[decision])
    assert (found.reason, found.rule, found.on) == told


@pytest.mark.parametrize(
    ("said", "on", "reason"),
    [
        ({}, ("b", "c"), None),
        ({"reason": ""}, ("b", "c"), None),
        ({"reason": "No key.", "caused_by": "c"}, ("c", "b"), "No key."),
        ({"caused_by": 7}, ("b", "c"), None),
    ],
)
def test_a_block_names_its_causes_once_and_a_reason_if_it_has_one(
    said: dict[str, Any], on: tuple[str, ...], reason: str | None
) -> None:
    block = moved(50, "task.blocked", "in_progress", "blocked", **said)
    held = replace(MINE, status=Status.BLOCKED, blocked_on=("b", "c"))
    assert waits(CREATED, STARTED, block, of=held)[-1] == Waiting(Cause.BLOCKED, 50, None, on, reason, None, 50)


def test_a_block_whose_event_is_gone_is_told_without_a_reason() -> None:
    assert waits(of=replace(MINE, status=Status.BLOCKED))[-1] == Waiting(Cause.BLOCKED, 10, None)


@pytest.mark.parametrize("asked", ["task.approval_asked", "task.requested"])
def test_an_approval_is_asked_for_by_the_last_event_of_the_time_in_the_backlog(asked: str) -> None:
    draft = event(0, "task.created", status="backlog")
    ready = moved(10, "task.readied", "backlog", "todo")
    found = waits(draft, event(1, asked), event(10, asked), ready, event(11, asked))
    assert (found[0].cause, found[0].event) == (Cause.APPROVAL, 10)
    assert waits(draft, event(1, asked), event(20, asked))[0].event == 20
    assert waits(draft, ready, event(11, asked))[0] == Waiting(Cause.BACKLOG, 0, 10)
    assert waits(draft, ready, of=replace(MINE, requested_by="ann"))[0] == Waiting(Cause.APPROVAL, 0, 10)


# --- statuses whose events are gone ----------------------------------------------------------------------------------

UNSTARTED = replace(MINE, started_at=None)
UNBLOCKED = moved(50, "task.unblocked", "blocked", "in_progress")


@pytest.mark.parametrize(
    ("of", "events", "parts"),
    [
        (MINE, [], [("todo", 0, 10), ("in_progress", 10, 100), ("completed", 100, None)]),
        (
            replace(MINE, completed_at=60),
            [],
            [("todo", 0, 10), ("in_progress", 10, 60), ("completed", 60, None)],
        ),
        (replace(MINE, completed_at=None), [], [("todo", 0, 10), ("in_progress", 10, 100), ("completed", 100, None)]),
        (replace(UNSTARTED, status=Status.CANCELLED), [], [("todo", 0, 100), ("cancelled", 100, None)]),
        (
            replace(MINE, status=Status.IN_PROGRESS, completed_at=None),
            [],
            [("todo", 0, 10), ("in_progress", 10, None)],
        ),
        (
            replace(UNSTARTED, status=Status.TODO, completed_at=None),
            [],
            [("todo", 0, 100), ("todo", 100, None)],
        ),
        (
            MINE,
            [UNBLOCKED, COMPLETED],
            [("todo", 0, 10), ("blocked", 10, 50), ("in_progress", 50, 100), ("completed", 100, None)],
        ),
        (
            UNSTARTED,
            [UNBLOCKED, COMPLETED],
            [("todo", 0, 50), ("in_progress", 50, 100), ("completed", 100, None)],
        ),
        (
            replace(MINE, started_at=0),
            [event(40, "task.blocked", to="blocked")],
            [("in_progress", 0, 40), ("blocked", 40, None)],
        ),
        (MINE, [CREATED, STARTED], [("todo", 0, 10), ("in_progress", 10, None)]),
        (MINE, [event(0, "task.created")], [("todo", 0, None)]),
        (
            MINE,
            [event(0, "task.created"), event(3, "decision.launch", to="blocked"), event(4, "task.noted", to=["x"])],
            [("todo", 0, None)],
        ),
    ],
)
def test_the_times_of_a_task_stand_in_for_the_events_that_are_gone(
    of: Task, events: list[Event], parts: list[tuple[str, int, int | None]]
) -> None:
    found = [(each.status.value, each.span.since, each.span.until) for each in waiting.statuses(of, events)]
    assert [each for each in found if each[1] != each[2]] == parts


# --- any course ------------------------------------------------------------------------------------------------------

END = 24


@st.composite
def courses(draw: st.DrawFn) -> Course:
    """What can happen to a task until `END`, all of it kept."""
    times = st.integers(1, END)
    status = draw(st.sampled_from((Status.BACKLOG, Status.TODO)))
    events = [event(0, "task.created", status=status.value)]
    for at in sorted(draw(st.sets(times, max_size=5))):
        if MOVES[status]:
            before, status = status, draw(st.sampled_from(MOVES[status]))
            events.append(moved(at, "task.moved", before.value, status.value))
    events += [left(at, "workers") for at in draw(st.sets(times, max_size=1))]
    ends = sorted(draw(st.sets(times, max_size=6)))
    work = [Span(since, until) for since, until in zip(ends[::2], [*ends[1::2], None], strict=False)]
    decisions = [
        decided(at, "hold", draw(st.sampled_from(("busy", "cooling_down"))), "Rule.")
        for at in sorted(draw(st.sets(times, max_size=4)))
    ]
    needed = draw(st.dictionaries(st.sampled_from("ab"), st.none() | times, max_size=2))
    of = replace(MINE, status=status, agent_type=draw(st.sampled_from((None, "build"))))
    return Course(of, sorted(events, key=lambda each: each.at), draw(st.sampled_from((None, work))), decisions, needed)


def status_at(course: Course, now: int) -> tuple[Status, int]:
    """With the time at which it came to it."""
    last = [each for each in course.events if each.at <= now and each.kind != "task.waiting"][-1]
    return Status(last.data.get("to") or last.data["status"]), last.at


def nobody_has_to_come(course: Course, status: Status, now: int) -> bool:
    """It is over, or somebody works."""
    if status is Status.IN_PROGRESS:
        work = [Span(0)] if course.work is None else course.work
        return any(each.since <= now and (each.until is None or now < each.until) for each in work)
    return not MOVES[status] or status is Status.FAILED


@settings(max_examples=80, deadline=None)
@given(courses())
def test_at_every_moment_somebody_works_or_it_waits_for_one_thing(course: Course) -> None:
    found = waiting.waits_of(course)
    for one, next_ in pairwise(found):
        assert one.until is not None
        assert one.until <= next_.since
        assert one.until < next_.since or (one.cause, one.on, one.reason) != (next_.cause, next_.on, next_.reason)
    for now in range(END + 2):
        status, since = status_at(course, now)
        waited = [each for each in found if each.since <= now and (each.until is None or now < each.until)]
        assert len(waited) == (0 if nobody_has_to_come(course, status, now) else 1)
        for each in waited:
            assert_it_says_why(course, status, since, each, now)


def assert_it_says_why(course: Course, status: Status, since: int, waited: Waiting, now: int) -> None:
    if status is Status.TODO:
        unmet = {name: at for name, at in course.needed.items() if at is None or at > since}
        missing = any(at is None or at > now for at in unmet.values())
        later = Cause.QUEUE if course.task.for_queue else Cause.NOT_STARTED
        assert waited.cause is (Cause.DEPENDENCIES if missing else later)
        assert waited.on == (tuple(unmet) if missing else ())
    elif status is Status.IN_PROGRESS and waited.cause is Cause.AGENT:
        told = [each.data["reason"] for each in course.decisions if each.at <= now]
        assert [waited.reason] == (told[-1:] or [None])
    elif status is Status.IN_PROGRESS:
        assert waited.cause is Cause.SUBTASKS
        assert any(each.kind == "task.waiting" for each in course.events)
    else:
        assert waited.cause is (Cause.BLOCKED if status is Status.BLOCKED else Cause.BACKLOG)
