"""Schedules: tasks that come at their times, however long the server was away, and whoever changes them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operations.talkers import two
from tests.stories import Answer, Caller, World
from toryo.domain.times import DAY, HOUR, MINUTE, iso, parse
from toryo.operations.schedules import recurrence
from toryo.operations.schedules.recurrence import NotARule, Rule

# The world begins on Friday, 2027-01-15, at 08:00:00 UTC.


@pytest.fixture
def house(world: World) -> World:
    two(world)
    return world


def add(world: World, who: Caller | None = None, **more: Any) -> str:
    asked: Answer = {"project_id": world.project_id, "name": "Nightly", "title": "Check {date}", **more}
    if not {"cron", "every_seconds", "once_at", "after_task_id"} & set(asked):
        asked["cron"] = "0 2 * * *"
    made: str = (who or world.owner).call("add_schedule", **asked)["schedule"]["schedule_id"]
    return made


def shown(world: World, schedule: str) -> Answer:
    found: Answer = world.owner.call("show_schedule", schedule_id=schedule)["schedule"]
    return found


def until(world: World, instant: str) -> None:
    """The server is there at this time, and does its chores."""
    world.now = parse(instant)
    world.housekeep()


def outcomes(world: World, schedule: str) -> list[tuple[str, int]]:
    """What became of its times, the oldest first."""
    runs = world.owner.call("list_schedule_runs", schedule_id=schedule, limit=100)["runs"]
    return [(each["outcome"], each["times"]) for each in reversed(runs)]


def tasks(world: World) -> list[Answer]:
    found: list[Answer] = world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]
    return sorted(found, key=lambda each: each["task_id"])


def needed(world: World) -> list[Answer]:
    items = world.owner.call("needs_you")["items"]
    return [each for each in items if each["kind"] == "schedule_stopped"]


def elsewhere(world: World) -> str:
    """A task of another project that a person has in progress."""
    other = world.owner.call("create_project", name="Quarry", working_directory="/srv/quarry")["project_id"]
    world.owner.call("add_member", project_id=other, agent_id="owner")
    asked = {"title": "Cut the stone", "assignee_id": "owner", "status": "in_progress"}
    made: str = world.owner.call("file_task", project_id=other, **asked)["task_id"]
    return made


def test_the_completion_of_a_task_of_another_project_creates_its_task_once(house: World) -> None:
    stone = elsewhere(house)
    schedule = add(house, after_task_id=stone, assignee_id="a")
    house.housekeep()
    assert (tasks(house), shown(house, schedule)["state"]) == ([], "active")
    house.move(stone, "completed")
    for _ in range(3):
        house.housekeep()
    (task,) = tasks(house)
    assert (task["title"], task["status"]) == ("Check 2027-01-15", "in_progress")
    found = shown(house, schedule)
    assert (found["state"], found["after_task_id"], found["runs"]) == ("ended", stone, 1)
    assert outcomes(house, schedule) == [("created", 1)]


def test_a_task_that_is_completed_already_counts(house: World) -> None:
    stone = elsewhere(house)
    house.move(stone, "completed")
    add(house, after_task_id=stone)
    house.housekeep()
    assert len(tasks(house)) == 1


def test_if_the_task_is_cancelled_it_ends_without_a_task_and_says_why(house: World) -> None:
    stone = elsewhere(house)
    schedule = add(house, after_task_id=stone)
    house.move(stone, "cancelled", "no stone")
    house.housekeep()
    found = shown(house, schedule)
    assert (tasks(house), found["state"]) == ([], "ended")
    assert stone in found["reason"]


def test_a_failed_task_may_still_be_completed(house: World) -> None:
    stone = elsewhere(house)
    schedule = add(house, after_task_id=stone)
    house.move(stone, "failed", "it broke")
    house.housekeep()
    assert shown(house, schedule)["state"] == "active"
    for status in ("todo", "in_progress", "completed"):
        house.move(stone, status)
    house.housekeep()
    assert len(tasks(house)) == 1


def test_what_is_completed_while_it_is_paused_comes_when_it_is_resumed(house: World) -> None:
    stone = elsewhere(house)
    schedule = add(house, after_task_id=stone)
    house.owner.call("pause_schedule", schedule_id=schedule)
    house.move(stone, "completed")
    house.housekeep()
    assert tasks(house) == []
    house.owner.call("resume_schedule", schedule_id=schedule)
    house.housekeep()
    assert len(tasks(house)) == 1


def test_it_can_get_another_rule_and_a_task_again(house: World) -> None:
    stone = elsewhere(house)
    schedule = add(house, after_task_id=stone)
    house.owner.call("edit_schedule", schedule_id=schedule, cron="0 9 * * *")
    assert (shown(house, schedule)["after_task_id"], shown(house, schedule)["cron"]) == (None, "0 9 * * *")
    house.move(stone, "completed")
    house.housekeep()
    assert tasks(house) == []
    house.owner.call("edit_schedule", schedule_id=schedule, after_task_id=stone)
    house.housekeep()
    assert len(tasks(house)) == 1
    assert shown(house, schedule)["state"] == "ended"
    house.owner.call("edit_schedule", schedule_id=schedule, after_task_id=stone, overlap="allow_all")
    house.housekeep()
    assert len(tasks(house)) == 2


def test_a_task_that_one_does_not_see_is_not_found(house: World) -> None:
    stone = elsewhere(house)
    member = house.member("eve")
    house.owner.call("add_member", project_id=house.project_id, agent_id="eve")
    asked = {"project_id": house.project_id, "name": "Spy", "title": "Look", "after_task_id": stone}
    member.refused("add_schedule", "taskNotFound", **asked)
    house.owner.refused("add_schedule", "validationError", **asked, cron="0 2 * * *")


@pytest.mark.parametrize("end", ["completed", "cancelled"])
def test_it_stops_if_who_it_runs_as_no_longer_sees_the_task_and_tells_nothing_of_that(house: World, end: str) -> None:
    stone = elsewhere(house)
    quarry = house.owner.call("show_task", task_id=stone)["task"]["project_id"]
    eve = house.member("eve")
    for project in (quarry, house.project_id):
        house.owner.call("add_member", project_id=project, agent_id="eve")
    schedule = add(house, eve, after_task_id=stone, assignee_id="a")
    house.owner.call("remove_member", project_id=quarry, agent_id="eve")
    house.move(stone, end, "so it is")
    for _ in range(2):
        house.housekeep()
    found = shown(house, schedule)
    assert (found["state"], found["runs"], tasks(house)) == ("stopped", 0, [])
    assert found["reason"] == f"This schedule runs as eve, who does not see task {stone}, after which it comes."
    (need,) = [each for each in eve.call("needs_you")["items"] if each["kind"] == "schedule_stopped"]
    assert need["text"] == found["reason"]
    house.owner.call("edit_schedule", schedule_id=schedule, name="Mine")
    house.owner.call("resume_schedule", schedule_id=schedule)
    house.housekeep()
    assert len(tasks(house)) == (1 if end == "completed" else 0)
    assert shown(house, schedule)["state"] == "ended"


def test_who_does_not_see_its_task_cannot_make_it_run_as_them(house: World) -> None:
    stone = elsewhere(house)
    schedule = add(house, after_task_id=stone)
    eve = house.member("eve")
    house.owner.call("add_member", project_id=house.project_id, agent_id="eve")
    eve.refused("edit_schedule", "taskNotFound", schedule_id=schedule, title="Look")
    assert shown(house, schedule)["runs_as"] == "owner"
    eve.call("edit_schedule", schedule_id=schedule, cron="0 9 * * *")


def test_a_run_that_waits_for_room_is_one_run_however_long_it_waits(house: World) -> None:
    stone, other = elsewhere(house), house.task("a")
    schedule = add(house, after_task_id=stone, assignee_id="a")
    house.move(stone, "completed")
    for _ in range(3):
        house.advance(60)
        house.housekeep()
    assert outcomes(house, schedule) == [("buffered", 1)]
    house.move(other, "cancelled", "Enough")
    house.housekeep()
    assert (outcomes(house, schedule), shown(house, schedule)["state"]) == ([("created", 1)], "ended")


def test_a_run_that_waits_for_room_while_it_is_paused_comes_when_it_is_resumed(house: World) -> None:
    stone, other = elsewhere(house), house.task("a")
    schedule = add(house, after_task_id=stone, assignee_id="a")
    house.move(stone, "completed")
    house.housekeep()
    house.owner.call("pause_schedule", schedule_id=schedule)
    house.move(other, "cancelled", "Enough")
    house.housekeep()
    house.owner.call("resume_schedule", schedule_id=schedule)
    house.advance(60)
    house.housekeep()
    assert outcomes(house, schedule) == [("skipped", 1), ("created", 1)]


def test_runs_that_wait_for_one_agent_keep_none_from_another(house: World) -> None:
    stone, _, other = elsewhere(house), house.task("a"), house.task("b")
    for number in range(25):
        add(house, name=f"S{number}", after_task_id=stone, assignee_id="a")
    last = add(house, name="Last", after_task_id=stone, assignee_id="b")
    house.move(stone, "completed")
    for _ in range(2):
        house.housekeep()
    house.move(other, "cancelled", "Enough")
    house.housekeep()
    assert outcomes(house, last) == [("created", 1)]


@pytest.mark.parametrize("after", [True, False])
def test_if_the_only_run_is_refused_a_person_is_told_and_it_comes_when_it_is_resumed(house: World, after: bool) -> None:
    stone = elsewhere(house)
    when: Answer = {"after_task_id": stone} if after else {"once_at": "2027-01-15T09:00:00Z"}
    schedule = add(house, **when, assignee_id="a")
    house.move(stone, "completed")
    house.owner.call("deactivate_agent", agent_id="a")
    until(house, "2027-01-15T09:00:01Z")
    assert shown(house, schedule)["state"] == "stopped"
    (need,) = needed(house)
    assert "The assignee a is not an active member" in need["text"]
    house.owner.call("activate_agent", agent_id="a")
    until(house, "2027-01-18T09:00:00Z")
    house.owner.call("resume_schedule", schedule_id=schedule)
    house.housekeep()
    assert (outcomes(house, schedule), shown(house, schedule)["state"]) == ([("refused", 1), ("created", 1)], "ended")


# --- times -----------------------------------------------------------------------------------------------------------


def times(cron: str, zone: str, since: str, many: int) -> list[str]:
    rule = Rule(cron=cron, every=None, once=None, time_zone=zone, anchor=0)
    found = recurrence.times_after(rule, parse(since))
    return [iso(next(found)).removesuffix(":00.000Z") for _ in range(many)]


def test_a_daily_time_stays_on_its_clock_when_clocks_are_changed() -> None:
    assert times("30 9 * * *", "Europe/Berlin", "2026-03-28T00:00", 3) == [
        "2026-03-28T08:30",
        "2026-03-29T07:30",
        "2026-03-30T07:30",
    ]


def test_a_time_that_does_not_exist_comes_right_after_the_gap() -> None:
    assert times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", 2) == ["2026-03-29T01:00", "2026-03-30T00:30"]
    assert times("30 2 * * *", "America/New_York", "2026-03-07T12:00", 2) == ["2026-03-08T07:00", "2026-03-09T06:30"]


def test_a_time_that_exists_twice_comes_once() -> None:
    assert times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", 2) == ["2026-10-25T00:30", "2026-10-26T01:30"]
    assert times("30 1 * * *", "America/New_York", "2026-10-31T12:00", 2) == ["2026-11-01T05:30", "2026-11-02T06:30"]


def test_what_comes_every_half_hour_does_so_through_both_changes() -> None:
    for since in ("2026-03-29T00:00", "2026-10-25T00:00"):
        found = [parse(each + ":00Z") for each in times("*/30 * * * *", "Europe/Berlin", since, 8)]
        assert {after - before for before, after in pairwise(found)} == {30 * MINUTE}


def test_between_two_times_of_the_hour_that_comes_twice_nothing_is_repeated() -> None:
    [first] = times("30 2 * * *", "Europe/Berlin", "2026-10-25T00:45", 1)
    assert first == "2026-10-26T01:30"


def test_an_interval_counts_from_when_it_was_given_however_long_nobody_looked() -> None:
    rule = Rule(cron=None, every=90 * 60, once=None, time_zone="UTC", anchor=parse("2026-01-01T00:10"))
    assert recurrence.next_after(rule, parse("2026-01-01T00:10")) == parse("2026-01-01T01:40")
    assert recurrence.next_after(rule, parse("2026-06-01T00:00")) == parse("2026-06-01T00:10")
    assert recurrence.next_after(rule, parse("2025-12-01T00:00")) == parse("2026-01-01T00:10"), "never before that"


_FIELD = st.text("0123456789*/-,L#MONJAN", min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(st.lists(_FIELD, min_size=4, max_size=6).map(" ".join))
def test_whatever_is_written_as_a_cron_expression_has_times_or_is_refused(expression: str) -> None:
    rule = Rule(cron=expression, every=None, once=None, time_zone="Europe/Berlin", anchor=0)
    now = parse("2026-10-24T22:00")
    try:
        found = recurrence.next_after(rule, now)
    except NotARule:
        return
    assert found is None or found > now


# --- on time ---------------------------------------------------------------------------------------------------------


def test_it_creates_its_task_at_its_time_and_starts_the_assignee(house: World) -> None:
    schedule = add(house, assignee_id="a", time_zone="Europe/Berlin", title="Check {date} {time} no. {run} {keep}")
    assert shown(house, schedule)["next_at"] == "2027-01-16T01:00:00.000Z"
    until(house, "2027-01-16T00:59:59Z")
    assert tasks(house) == []
    until(house, "2027-01-16T01:00:01Z")
    [task] = tasks(house)
    assert (task["title"], task["status"]) == ("Check 2027-01-16 02:00 no. 1 {keep}", "in_progress")
    assert house.coordinator().starts() == ["a"]
    assert shown(house, schedule)["next_at"] == "2027-01-17T01:00:00.000Z"
    until(house, "2027-01-16T01:00:31Z")
    assert len(tasks(house)) == 1
    assert [each["data"]["name"] for each in house.events("schedule.ran")] == ["Nightly"]


def test_without_an_assignee_its_task_begins_in_todo_or_where_it_is_told(house: World) -> None:
    add(house)
    add(house, name="Ideas", status="backlog")
    add(house, name="Queue", agent_type="mill")
    until(house, "2027-01-16T02:00:05Z")
    begun = {(each["status"], each["agent_type"]) for each in tasks(house)}
    assert begun == {("todo", None), ("backlog", None), ("todo", "mill")}


def test_one_time_runs_once_and_then_has_ended(house: World) -> None:
    schedule = add(house, once_at="2027-01-16T09:00:00+01:00")
    until(house, "2027-01-16T08:00:01Z")
    assert len(tasks(house)) == 1
    assert (shown(house, schedule)["state"], shown(house, schedule)["next_at"]) == ("ended", None)
    refusal = house.owner.refused("resume_schedule", "conflict", schedule_id=schedule)
    assert "toryo schedule edit" in refusal["instruction"]
    house.owner.call("edit_schedule", schedule_id=schedule, once_at="2027-01-17T09:00:00Z")
    assert shown(house, schedule)["state"] == "active"


# --- a server that was away ------------------------------------------------------------------------------------------


def test_what_was_missed_is_made_up_for_once(house: World) -> None:
    schedule = add(house, cron="0 * * * *")
    until(house, "2027-01-15T20:10:00Z")
    [task] = tasks(house)
    assert task["title"] == "Check 2027-01-15"
    assert outcomes(house, schedule) == [("coalesced", 11), ("created", 1)]
    assert shown(house, schedule)["next_at"] == "2027-01-15T21:00:00.000Z"


def test_a_nightly_time_is_made_up_for_over_a_change_of_clocks(house: World) -> None:
    schedule = add(house, cron="30 2 * * *", time_zone="Europe/Berlin", title="Check {date} {time}")
    until(house, "2027-03-27T03:00:00Z")
    house.restart()
    until(house, "2027-03-28T05:00:00Z")
    house.restart()
    until(house, "2027-03-29T05:00:00Z")
    # The first is still open: it stands for those that come meanwhile.
    assert [each["title"] for each in tasks(house)] == ["Check 2027-03-27 02:30"]
    assert outcomes(house, schedule)[-1] == ("skipped", 2)
    run = house.owner.call("list_schedule_runs", schedule_id=schedule)["runs"][0]
    assert run["scheduled_at"] == "2027-03-29T00:30:00.000Z"


def test_what_is_longer_ago_than_the_window_is_missed(house: World) -> None:
    schedule = add(house, catch_up_seconds=3600)
    until(house, "2027-01-18T05:00:00Z")
    assert tasks(house) == []
    assert outcomes(house, schedule) == [("missed", 3)]
    until(house, "2027-01-19T02:59:00Z")
    assert len(tasks(house)) == 1


def test_after_years_away_it_is_looked_at_quickly_and_says_what_was_missed(house: World) -> None:
    schedule = add(house, cron="* * * * *", overlap="allow_all")
    with house.statements() as ran:
        until(house, "2030-01-15T08:00:30Z")
    assert len(tasks(house)) == 50
    assert outcomes(house, schedule)[-50:] == [("created", 1)] * 50
    earlier = house.owner.call("list_schedule_runs", schedule_id=schedule, limit=100)["runs"][50:]
    assert [each["outcome"] for each in earlier] == ["coalesced", "missed"]
    assert len(ran) < 2_000


def test_two_servers_create_each_task_once(house: World) -> None:
    add(house)
    house.now = parse("2027-01-16T02:00:01Z")
    house.housekeep()
    house.restart()
    house.housekeep()
    assert len(tasks(house)) == 1


def test_a_paused_project_gets_no_tasks_and_makes_up_for_the_last_time_when_it_is_resumed(house: World) -> None:
    add(house)
    house.owner.call("pause_project", project_id=house.project_id)
    until(house, "2027-01-17T02:00:01Z")
    assert tasks(house) == []
    house.owner.call("resume_project", project_id=house.project_id)
    house.housekeep()
    assert [each["title"] for each in tasks(house)] == ["Check 2027-01-17"]


# --- overlap ---------------------------------------------------------------------------------------------------------


def test_by_default_a_time_is_skipped_while_the_earlier_task_is_open(house: World) -> None:
    schedule = add(house)
    until(house, "2027-01-16T02:00:01Z")
    until(house, "2027-01-17T02:00:01Z")
    until(house, "2027-01-18T02:00:01Z")
    assert len(tasks(house)) == 1
    assert outcomes(house, schedule) == [("created", 1), ("skipped", 2)]
    house.move(tasks(house)[0]["task_id"], "cancelled", "Enough")
    until(house, "2027-01-19T02:00:01Z")
    assert len(tasks(house)) == 2


def test_buffer_one_begins_when_the_earlier_task_is_closed(house: World) -> None:
    schedule = add(house, overlap="buffer_one")
    for day in (16, 17, 18):
        until(house, f"2027-01-{day}T02:00:01Z")
    assert outcomes(house, schedule) == [("created", 1), ("buffered", 1), ("skipped", 1)]
    assert shown(house, schedule)["buffered_at"] == "2027-01-17T02:00:00.000Z"
    house.move(tasks(house)[0]["task_id"], "cancelled", "Enough")
    house.housekeep()
    assert [each["title"] for each in tasks(house)] == ["Check 2027-01-16", "Check 2027-01-17"]
    assert sorted(outcomes(house, schedule)) == [("created", 1), ("created", 1), ("skipped", 1)]
    assert shown(house, schedule)["buffered_at"] is None


def test_allow_all_creates_each(house: World) -> None:
    add(house, overlap="allow_all")
    until(house, "2027-01-16T02:00:01Z")
    until(house, "2027-01-17T02:00:01Z")
    assert [each["status"] for each in tasks(house)] == ["todo", "todo"]


def test_cancel_other_cancels_the_open_task_first(house: World) -> None:
    add(house, overlap="cancel_other", assignee_id="a")
    until(house, "2027-01-16T02:00:01Z")
    worker = house.start("a")
    until(house, "2027-01-17T02:00:01Z")
    assert [each["status"] for each in tasks(house)] == ["cancelled", "in_progress"]
    assert worker.call("get_next_action")["action"] in ("exit", "get_my_task", "execute_task")


def test_an_assignee_who_is_busy_gets_the_task_when_there_is_room(house: World) -> None:
    other = house.task("a")
    schedule = add(house, assignee_id="a")
    until(house, "2027-01-16T02:00:01Z")
    assert outcomes(house, schedule) == [("buffered", 1)]
    until(house, "2027-01-16T02:30:00Z")
    assert len(tasks(house)) == 1
    house.move(other, "cancelled", "Enough")
    house.housekeep()
    assert outcomes(house, schedule) == [("created", 1)]
    assert shown(house, schedule)["failures"] == 0


def test_what_may_run_beside_open_tasks_begins_as_soon_as_there_is_room(house: World) -> None:
    house.owner.call("edit_agent", agent_id="a", max_parallel_tasks=2)
    schedule = add(house, assignee_id="a", overlap="allow_all")
    for day in (16, 17, 18):
        until(house, f"2027-01-{day}T02:00:01Z")
    assert outcomes(house, schedule) == [("created", 1), ("created", 1), ("buffered", 1)]
    house.move(tasks(house)[0]["task_id"], "cancelled", "Enough")
    house.housekeep()
    assert [each["status"] for each in tasks(house)] == ["cancelled", "in_progress", "in_progress"]


def test_while_the_assignee_of_cancel_other_is_busy_the_newest_time_waits_and_nothing_has_failed(house: World) -> None:
    other = house.task("a")
    schedule = add(house, overlap="cancel_other", assignee_id="a")
    for day in (16, 17, 18, 19):
        until(house, f"2027-01-{day}T02:00:01Z")
    assert outcomes(house, schedule) == [*[("skipped", 1)] * 3, ("buffered", 1)]
    assert (shown(house, schedule)["state"], shown(house, schedule)["failures"]) == ("active", 0)
    house.move(other, "cancelled", "Enough")
    house.housekeep()
    house.housekeep()
    assert outcomes(house, schedule)[-1] == ("created", 1)
    assert [each["title"] for each in tasks(house) if each["status"] == "in_progress"] == ["Check 2027-01-19"]


# --- failures --------------------------------------------------------------------------------------------------------


def fail(world: World) -> None:
    [task] = [each for each in tasks(world) if each["status"] == "todo"]
    world.move(task["task_id"], "in_progress")
    world.move(task["task_id"], "failed", "It broke")


def test_after_so_many_failures_in_a_row_it_stops_itself_and_tells_a_person(house: World) -> None:
    schedule = add(house, max_failures=2)
    house.person("lena")
    for day in (16, 17):
        assert shown(house, schedule)["state"] == "active"
        until(house, f"2027-01-{day}T02:00:01Z")
        house.owner.call("edit_task", task_id=tasks(house)[-1]["task_id"], assignee_id="lena")
        fail(house)
        house.housekeep()
    assert (shown(house, schedule)["state"], shown(house, schedule)["next_at"]) == ("stopped", None)
    [need] = needed(house)
    assert need["title"] == "Schedule stopped: Nightly" and "2 runs failed in a row" in need["text"]
    assert need["actions"][0]["command"] == f"toryo schedule resume {schedule}"
    until(house, "2027-01-18T02:00:01Z")
    assert len(tasks(house)) == 2
    house.owner.call("resume_schedule", schedule_id=schedule)
    assert needed(house) == []
    assert shown(house, schedule)["failures"] == 0
    until(house, "2027-01-19T02:00:01Z")
    assert len(tasks(house)) == 3


def test_a_success_forgets_the_failures_before_it(house: World) -> None:
    schedule = add(house, max_failures=2, assignee_id="a")
    until(house, "2027-01-16T02:00:01Z")
    house.move(tasks(house)[-1]["task_id"], "failed", "It broke")
    house.housekeep()
    assert shown(house, schedule)["failures"] == 1
    until(house, "2027-01-17T02:00:01Z")
    house.move(tasks(house)[-1]["task_id"], "completed")
    house.housekeep()
    assert shown(house, schedule)["failures"] == 0


def test_a_task_that_cannot_be_created_is_told_and_counts_as_a_failure(house: World) -> None:
    schedule = add(house, assignee_id="a", max_failures=2)
    house.owner.call("deactivate_agent", agent_id="a")
    until(house, "2027-01-16T02:00:01Z")
    assert tasks(house) == []
    assert outcomes(house, schedule) == [("refused", 1)]
    assert "a is not an active member" in shown(house, schedule)["last_run"]["reason"]
    until(house, "2027-01-17T02:00:01Z")
    assert shown(house, schedule)["state"] == "stopped"


def test_it_gets_no_more_rights_than_the_person_it_runs_as(house: World) -> None:
    ann = house.member("ann")
    house.owner.call("add_member", project_id=house.project_id, agent_id="ann")
    schedule = add(house, ann, max_failures=1)
    assert shown(house, schedule)["runs_as"] == "ann"
    house.owner.call("remove_member", project_id=house.project_id, agent_id="ann")
    until(house, "2027-01-16T02:00:01Z")
    assert tasks(house) == []
    assert needed(house)[0]["text"] == "A run failed. It creates no more tasks."
    house.owner.call("edit_schedule", schedule_id=schedule, title="Check")
    house.owner.call("resume_schedule", schedule_id=schedule)
    until(house, "2027-01-17T02:00:01Z")
    assert [each["title"] for each in tasks(house)] == ["Check"]


# --- what people do --------------------------------------------------------------------------------------------------


def test_times_that_come_while_it_is_paused_are_not_made_up_for(house: World) -> None:
    schedule = add(house)
    paused = house.owner.call("pause_schedule", schedule_id=schedule, reason="Holidays")["schedule"]
    assert (paused["state"], paused["reason"], paused["next_at"]) == ("paused", "Holidays", None)
    until(house, "2027-01-17T03:00:00Z")
    house.owner.call("resume_schedule", schedule_id=schedule)
    house.housekeep()
    assert tasks(house) == []
    assert shown(house, schedule)["next_at"] == "2027-01-18T02:00:00.000Z"


def test_it_can_be_run_now_also_while_it_is_paused(house: World) -> None:
    schedule = add(house)
    house.owner.call("pause_schedule", schedule_id=schedule)
    ran = house.owner.call("run_schedule", schedule_id=schedule)
    assert house.status(ran["task_id"]) == "todo"
    assert ran["schedule"]["last_run"]["started_by"] == "owner"
    assert ran["schedule"]["state"] == "paused"


def test_running_it_now_for_a_busy_assignee_creates_nothing_and_says_why(house: World) -> None:
    house.task("a")
    schedule = add(house, assignee_id="a")
    house.owner.refused("run_schedule", "limitReached", schedule_id=schedule)
    assert len(tasks(house)) == 1
    assert outcomes(house, schedule) == []


def test_a_deleted_schedule_leaves_its_tasks(house: World) -> None:
    schedule = add(house)
    until(house, "2027-01-16T02:00:01Z")
    house.owner.call("delete_schedule", schedule_id=schedule)
    house.owner.refused("show_schedule", "scheduleNotFound", schedule_id=schedule)
    until(house, "2027-01-17T02:00:01Z")
    assert len(tasks(house)) == 1


def test_an_edit_changes_what_is_given_and_keeps_the_rest(house: World) -> None:
    schedule = add(house, assignee_id="a", description="Look closely", priority="urgent")
    house.owner.call("edit_schedule", schedule_id=schedule, every_seconds=600, title="Look")
    after = shown(house, schedule)
    assert (after["cron"], after["every_seconds"]) == (None, 600)
    assert after["next_at"] == iso(parse(after["next_at"]))
    task = after["task"]
    assert (task["title"], task["description"], task["priority"]) == ("Look", "Look closely", "critical")
    assert (task["assignee_id"], task["status"]) == ("a", "in_progress")
    house.owner.call("edit_schedule", schedule_id=schedule, assignee_id=None)
    assert shown(house, schedule)["task"]["status"] == "todo"
    house.owner.call("edit_schedule", schedule_id=schedule, cron="0 9 * * *", time_zone="Asia/Tokyo")
    assert shown(house, schedule)["next_at"] == "2027-01-16T00:00:00.000Z"
    house.owner.call("edit_schedule", schedule_id=schedule, time_zone="UTC")
    assert shown(house, schedule)["next_at"] == "2027-01-15T09:00:00.000Z"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"cron": "0 2 * *"}, "4 fields instead of 5"),
        ({"cron": "0 25 * * *"}, "the field hour is not valid"),
        ({"cron": "@often"}, "is none of @hourly"),
        ({"cron": "0 0 30 2 *"}, "the field day-of-month is not valid"),
        ({"cron": "0 0 * * *", "every_seconds": 60}, "exactly one"),
        ({"once_at": "2020-01-01T00:00:00Z"}, "This time is over"),
        ({"once_at": "9999-12-31T23:59:59-12:00"}, "before the year 9999"),
        ({"title": f"{'x' * 294}{{date}}"}, "more than 300 characters"),
        ({"time_zone": "Mars/Base"}, "time zone"),
        ({"every_seconds": 5}, "60"),
        ({"agent_type": "mill", "assignee_id": "a"}, "one of these only: an assignee"),
        ({"status": "in_progress"}, "without an assignee"),
        ({"overlap": "maybe"}, "skip"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_wrong(house: World, wrong: Answer, told: str) -> None:
    asked = {"project_id": house.project_id, "name": "Odd", "title": "Odd", "cron": "0 2 * * *", **wrong}
    if {"every_seconds", "once_at"} & set(wrong) and "cron" not in wrong:
        del asked["cron"]
    refusal = house.owner.refused("add_schedule", None, **asked)
    assert told in refusal["message"] + refusal["instruction"]
    assert house.owner.call("show_schedules", project_id=house.project_id)["schedules"] == []


def test_two_schedules_of_a_project_have_two_names(house: World) -> None:
    add(house)
    refusal = house.owner.refused(
        "add_schedule", "conflict", project_id=house.project_id, name="nightly", title="x", cron="@daily"
    )
    assert "toryo schedule edit" in refusal["instruction"]


def test_only_who_sees_the_project_sees_its_schedules_and_viewers_change_none(house: World) -> None:
    schedule = add(house)
    stranger, viewer = house.member("stranger"), house.member("vic", "viewer")
    house.owner.call("add_member", project_id=house.project_id, agent_id="vic")
    for name in ("show_schedule", "run_schedule", "pause_schedule", "delete_schedule", "edit_schedule"):
        stranger.refused(name, "scheduleNotFound", schedule_id=schedule)
    assert viewer.call("show_schedule", schedule_id=schedule)["schedule"]["name"] == "Nightly"
    for name in ("run_schedule", "pause_schedule", "delete_schedule", "edit_schedule"):
        viewer.refused(name, "permissionDenied", schedule_id=schedule)


def test_the_next_times_can_be_seen_before_saving(house: World) -> None:
    seen = house.owner.call("preview_schedule_times", cron="0 9 * * 1-5", time_zone="Asia/Tokyo")
    assert seen["times"][0] == {"at": "2027-01-18T00:00:00.000Z", "local": "2027-01-18 09:00"}
    assert len(seen["times"]) == 5


def test_the_history_is_paged_and_of_times_without_a_task_the_newest_are_kept(house: World) -> None:
    schedule = add(house, cron="0 * * * *", overlap="skip")
    until(house, "2027-01-15T09:00:01Z")
    for hour in range(1, 120):
        house.now = parse("2027-01-15T09:00:01Z") + hour * HOUR
        if hour % 2:  # every other time it is closed before: created and skipped take turns
            for each in tasks(house):
                if each["status"] == "todo":
                    house.move(each["task_id"], "cancelled", "Enough")
        house.housekeep()
    first = house.owner.call("list_schedule_runs", schedule_id=schedule, limit=60)
    assert len(first["runs"]) == 60
    rest = house.owner.call("list_schedule_runs", schedule_id=schedule, limit=100, cursor=first["next_cursor"])
    assert len({each["run_id"] for each in (*first["runs"], *rest["runs"])}) == 60 + len(rest["runs"])
    assert "next_cursor" not in rest or rest["next_cursor"] is None


def test_the_world_begins_when_these_tests_say(house: World) -> None:
    began = datetime.fromtimestamp((house.now - house.now % DAY) / 1000, UTC)
    assert (began.isoformat(), began.strftime("%A")) == ("2027-01-15T00:00:00+00:00", "Friday")


def test_the_times_of_an_interval_follow_one_another() -> None:
    hourly = Rule(None, 3600, None, "UTC", anchor=HOUR)
    assert recurrence.times_within(hourly, HOUR + 1, 4 * HOUR) == [2 * HOUR, 3 * HOUR, 4 * HOUR]
