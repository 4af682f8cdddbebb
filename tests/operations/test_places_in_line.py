"""The place in line that a person gives a task, and the time before which a task does not start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.operations.test_queue import poller
from tests.stories import Answer, Refused, World
from toryo.domain.times import iso
from toryo.operations.tasks import lines


@pytest.fixture
def flowing(world: World) -> World:
    world.crew(2, start="when_ready")
    world.coordinator().claim(free_slots=0)
    return world


@pytest.fixture
def line(flowing: World) -> list[str]:
    """One at work, and three behind it."""
    return [flowing.task("w1", status="todo", title=each) for each in ("at work", "one", "two", "three")]


def shown(world: World, task: str) -> Answer:
    found: Answer = world.owner.call("show_task", task_id=task)["task"]
    return found


def put(world: World, task: str, before: str, **more: object) -> Answer:
    answer: Answer = world.owner.call("move_task", task_id=task, before_task_id=before, **more)
    return answer


def started_in_turn(world: World, tasks: list[str]) -> Iterator[str]:
    """Each task as it starts, when the one at work is completed."""
    left = {*tasks}
    while left:
        [at_work] = [each for each in left if shown(world, each)["status"] == "in_progress"]
        yield at_work
        left.remove(at_work)
        world.move(at_work, "completed")


def test_a_task_that_a_person_puts_before_another_one_starts_before_it(flowing: World, line: list[str]) -> None:
    at_work, one, two, three = line
    answer = put(flowing, three, two)["task"]
    assert answer["line"]["message"] == "It starts by itself: number 2 in the line of w1, after “one”."
    assert [shown(flowing, each)["line"]["place"] for each in (one, three, two)] == [1, 2, 3]
    assert list(started_in_turn(flowing, line)) == [at_work, one, three, two]


def test_places_can_be_given_again_and_again_between_the_same_two(flowing: World) -> None:
    line = [flowing.task("w1", status="todo", title=f"task {place}") for place in range(6)]
    wanted = line[1:]
    for turn in range(80):
        task, before = wanted[turn % 4], wanted[4]
        put(flowing, task, before)
        wanted.remove(task)
        wanted.insert(3, task)
    assert list(started_in_turn(flowing, line)) == [line[0], *wanted]


def test_tasks_of_one_moment_make_room_and_keep_their_order(flowing: World) -> None:
    flowing.task("w1", status="todo")
    asked = [{"local_id": str(place), "title": f"part {place}", "description": "."} for place in range(4)]
    parent = flowing.task("boss", title="whole")
    boss = flowing.start("boss")
    wanted = [{**each, "assignee_id": "w1", "start": "when_ready"} for each in asked]
    real = boss.call("create_tasks_batch", parent_task_id=parent, tasks=wanted)["local_id_to_real_id"]
    first, second, third, fourth = (real[each["local_id"]] for each in asked)
    put(flowing, fourth, second)
    put(flowing, third, fourth)
    tasks = flowing.owner.call("list_project_tasks", project_id=flowing.project_id, parent_task_id=parent)["tasks"]
    assert [each["task_id"] for each in tasks] == [first, third, fourth, second]


def test_one_place_counts_in_the_lines_of_agents_and_of_anyone(flowing: World) -> None:
    at_work = [flowing.task(each, status="todo") for each in ("w1", "w2")]
    own, pooled = flowing.task("w1", status="todo", title="own"), flowing.task("any", status="todo", title="pooled")
    put(flowing, pooled, own)
    flowing.move(at_work[0], "completed")
    assert [shown(flowing, each)["status"] for each in (pooled, own)] == ["in_progress", "todo"]


def test_a_board_and_lists_have_tasks_in_the_order_of_their_places(flowing: World, line: list[str]) -> None:
    at_work, one, two, three = line
    put(flowing, three, one)
    board = flowing.owner.call("show_board", project_id=flowing.project_id)["tasks"]
    listed = flowing.owner.call("list_project_tasks", project_id=flowing.project_id, status="todo")["tasks"]
    assert [each["task_id"] for each in board] == [at_work, three, one, two]
    assert [each["task_id"] for each in listed] == [three, one, two]


def test_a_place_is_told_as_an_event_and_putting_a_task_where_it_is_changes_nothing(
    flowing: World, line: list[str]
) -> None:
    *_, two, three = line
    put(flowing, three, two)
    version = shown(flowing, three)["version"]
    put(flowing, three, two)
    assert shown(flowing, three)["version"] == version
    [event] = flowing.owner.call("read_events", project_id=flowing.project_id, kind="task.put_before")["events"]
    assert (event["task_id"], event["data"]["before"], event["data"]["title"]) == (three, two, "two")


def test_a_place_is_lost_with_the_priority_and_kept_by_a_task_that_comes_back(flowing: World, line: list[str]) -> None:
    _, one, _, three = line
    put(flowing, three, one)
    flowing.owner.call("edit_task", task_id=three, priority="high")
    flowing.owner.call("edit_task", task_id=three, priority="medium")
    assert shown(flowing, three)["line"]["place"] == 3
    put(flowing, three, one)
    flowing.move(three, "blocked", "wait")
    flowing.move(three, "todo")
    assert shown(flowing, three)["line"]["place"] == 1


def test_a_draft_can_be_put_in_line_and_in_its_place_at_once(flowing: World, line: list[str]) -> None:
    draft = flowing.task("w1", status="backlog", title="draft")
    answer = put(flowing, draft, line[1], status="todo")
    assert (answer["new_status"], answer["task"]["line"]["place"]) == ("todo", 1)


def test_a_place_that_is_none_is_refused_with_what_to_do(flowing: World, line: list[str]) -> None:
    at_work, one, two, _ = line
    by_hand = flowing.task("w1", status="todo", start="manual")
    high = flowing.task("w1", status="todo", priority="high", title="urgent")
    flow = {"start": "when_ready"}
    flowing.owner.call("create_project", id="prj_other", name="other", working_directory="/srv/other", settings=flow)
    flowing.owner.call("add_member", project_id="prj_other", agent_id="w1")
    flowing.owner.call("pause_project", project_id="prj_other")
    other = flowing.owner.call("file_task", project_id="prj_other", title="elsewhere", assignee_id="w1", status="todo")[
        "task_id"
    ]
    for task, before, says, then in (
        (one, one, "before itself", "Name the task"),
        (one, at_work, "is not in line: it is in_progress", "Only a task in todo"),
        (at_work, one, "is not in line: it is in_progress", "Only a task in todo"),
        (by_hand, one, "Toryo does not start it", f"toryo task edit {by_hand} --start when_ready"),
        (one, high, "has priority medium, and “urgent” has high", f"toryo task edit {one} --priority high"),
        (one, other, "belongs to another project", "Choose a task of the same project"),
    ):
        with pytest.raises(Refused) as refused:
            put(flowing, task, before)
        assert says in str(refused.value)
        assert then in str(refused.value)
    with pytest.raises(Refused, match="Neither a status nor a place"):
        flowing.owner.call("move_task", task_id=one)
    with pytest.raises(Refused, match="changed"):
        put(flowing, two, one, version=shown(flowing, two)["version"] - 1)


# --- not before a time -----------------------------------------------------------------------------------------------


def in_(world: World, seconds: int) -> str:
    return iso(world.now + seconds * 1000)


def test_a_task_waits_for_its_time_and_says_so_and_starts_when_it_has_come(flowing: World) -> None:
    time = in_(flowing, 600)
    task, pooled = (flowing.task(who, status="todo", not_before=time) for who in ("w1", "any"))
    for each in (task, pooled):
        found = shown(flowing, each)
        assert (found["status"], found["not_before"]) == ("todo", time)
        assert f"does not start before {time}" in found["line"]["message"]
    flowing.advance(601)
    flowing.coordinator().claim(free_slots=0)
    flowing.dispatcher.housekeep(lines.come_due)
    assert [shown(flowing, each)["status"] for each in (task, pooled)] == ["in_progress", "in_progress"]
    assert shown(flowing, task)["not_before"] is None


def test_what_waits_for_its_time_holds_up_nobody(flowing: World) -> None:
    flowing.task("w1", status="todo", not_before=in_(flowing, 600), priority="high")
    second = flowing.task("w1", status="todo")
    assert shown(flowing, second)["status"] == "in_progress"


def test_of_those_whose_time_has_come_the_one_that_is_first_in_line_starts(flowing: World) -> None:
    later, sooner = (flowing.task("w1", status="todo", not_before=in_(flowing, each)) for each in (60, 30))
    flowing.owner.call("edit_task", task_id=later, priority="high")
    flowing.advance(90)
    flowing.housekeep()
    assert [shown(flowing, each)["status"] for each in (later, sooner)] == ["in_progress", "todo"]


def test_housekeeping_knows_when_the_next_time_comes(flowing: World) -> None:
    def seconds() -> float | None:
        found: float | None = flowing.dispatcher.in_passing(lines.until_due, reads=True)
        return found

    assert seconds() is None
    task = flowing.task("w1", status="todo", not_before=in_(flowing, 60))
    left = seconds()
    assert left is not None
    assert 50 < left <= 60
    flowing.owner.call("edit_task", task_id=task, not_before=None)
    assert seconds() is None
    assert shown(flowing, task)["status"] == "in_progress"


def test_a_person_starts_it_sooner_and_nothing_of_the_time_is_left(flowing: World) -> None:
    task = flowing.task("w1", status="todo", not_before=in_(flowing, 60))
    flowing.move(task, "in_progress")
    flowing.move(task, "todo")
    assert (shown(flowing, task)["status"], shown(flowing, task)["not_before"]) == ("todo", None)


def test_in_progress_with_a_time_means_in_line_until_then(world: World) -> None:
    world.crew(1)
    task = world.task("w1", status="in_progress", not_before=in_(world, 60))
    assert shown(world, task)["line"]["place"] == 1
    world.advance(61)
    world.housekeep()
    assert shown(world, task)["status"] == "in_progress"


def test_a_manager_does_not_start_it_before_its_time_waits_for_it_and_is_woken(world: World) -> None:
    world.crew(1)
    world.task("boss", title="whole")
    boss = world.start("boss")
    asked = {"title": "later", "description": ".", "assignee_id": "w1"}
    [part] = boss.call("create_tasks_batch", tasks=[{"local_id": "a", **asked, "not_before": in_(world, 600)}])[
        "local_id_to_real_id"
    ].values()
    refused = boss.ask("update_task_status", task_id=part, status="in_progress")
    assert refused.refused
    assert "does not start before" in str(refused.result)
    boss.wait()
    world.advance(601)
    world.housekeep()
    again = world.start("boss")
    again.call("select_action", action="start")
    again.call("update_task_status", task_id=part, status="in_progress")
    assert shown(world, part)["status"] == "in_progress"


def test_a_queue_gives_it_out_when_its_time_has_come(world: World) -> None:
    world.project()
    press = poller(world, "press-1", "press")
    task = world.task(status="todo", agent_type="press", not_before=in_(world, 60))
    assert press.call("poll_tasks", agent_id="press-1")["result"] == []
    world.advance(61)
    [found] = press.call("poll_tasks", agent_id="press-1")["result"]
    assert found["task_id"] == task


def test_a_time_that_has_passed_is_none_and_one_that_means_nothing_is_refused(flowing: World) -> None:
    assert shown(flowing, flowing.task("w1", status="todo", not_before=in_(flowing, -5)))["status"] == "in_progress"
    for given in ("tomorrow", "2027-01-31 09:30", "9999-12-31T23:59:59-12:00"):
        with pytest.raises(Refused, match="is not a time"):
            flowing.task("w1", status="todo", not_before=given)
    begun = flowing.task("w2", status="in_progress")
    with pytest.raises(Refused, match="it has been started"):
        flowing.owner.call("edit_task", task_id=begun, not_before=in_(flowing, 60))


def test_an_agent_does_not_change_the_time_of_what_people_have_filed(flowing: World) -> None:
    main = flowing.task("boss")
    time = in_(flowing, 600)
    deploy = flowing.task("w1", status="todo", parent_task_id=main, not_before=time)
    boss = flowing.start("boss")
    for other in (None, in_(flowing, 900)):
        refused = boss.refused("update_task", task_id=deploy, not_before=other)
        assert refused["error"] == "permissionDenied"
    assert (shown(flowing, deploy)["status"], shown(flowing, deploy)["not_before"]) == ("todo", time)
    boss.call("create_task", title="Paint", description="Do it.", assignee_id="w2", not_before=time, intent="new")
    [paint] = [each for each in boss.call("list_tasks")["tasks"] if each["title"] == "Paint"]
    boss.call("update_task", task_id=paint["task_id"], not_before=None)
    assert shown(flowing, paint["task_id"])["not_before"] is None
