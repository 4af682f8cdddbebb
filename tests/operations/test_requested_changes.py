"""Work that is not good enough goes back: what a manager may request, who makes the changes and from where, and what
waits for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.operations.test_merge_queue import Queue
from tests.operations.test_queue import poller
from tests.operations.test_subtask_merges import Parts
from tests.stories import Answer, Process, World
from toryo.domain.merge_queue import SENT_BACK_AT_MOST


class Built:
    """A manager whose two parts are done; a third one depends on the first."""

    def __init__(self, world: World, **settings: Any) -> None:
        world.crew(workers=3, decomposition="never", **settings)
        self.world = world
        self.main = world.task("boss", title="House")
        self.boss = world.start("boss")
        self.walls, self.paint, self.roof = self.parts(
            {"title": "Walls", "assignee_id": "w1"},
            {"title": "Paint", "assignee_id": "w2"},
            {"title": "Roof", "assignee_id": "w3", "dependencies": ["Walls", "Paint"]},
        )

    def parts(self, *described: Answer, **how: Any) -> list[str]:
        tasks = [{"local_id": each["title"], "description": "Do it.", **each} for each in described]
        made = self.boss.call("create_tasks_batch", tasks=tasks, **how)["local_id_to_real_id"]
        return [str(made[each["title"]]) for each in described]

    def done(self, *tasks: str) -> None:
        for task in tasks:
            if self.world.status(task) != "in_progress":
                self.world.move(task, "in_progress")
            self.world.start(self.world.show(task)["assignee_id"]).report()

    def back(self, task: str, reason: str = "Round them.") -> str:
        made: str = self.boss.call("request_changes", task_id=task, reason=reason)["changes_requested"]["task_id"]
        return made

    def refused(self, task: str, code: str, reason: str = "Round them.") -> Answer:
        return self.boss.refused("request_changes", code, task_id=task, reason=reason)


@pytest.fixture
def built(world: World) -> Built:
    found = Built(world)
    found.done(found.walls)
    return found


# --- what is made ----------------------------------------------------------------------------------------------------


def test_the_author_gets_a_part_of_the_same_task_which_starts_at_once_if_it_is_free(built: Built) -> None:
    answer = built.boss.call("request_changes", task_id=built.walls, reason="Round them.")
    made = built.world.show(answer["changes_requested"]["task_id"])
    assert (made["title"], made["description"], made["assignee_id"]) == ("Changes to: Walls", "Round them.", "w1")
    assert (made["parent_task_id"], made["dependencies"]) == (built.main, [built.walls])
    assert (made["status"], made["created_by"]) == ("in_progress", "boss")
    assert answer["changes_requested"]["requested_by"] == "boss"
    (event,) = built.world.events("worktree.changes_requested")
    assert (event["actor_id"], event["task_id"], event["data"]) == ("boss", built.walls, {"in": made["task_id"]})
    (started,) = built.world.events("task.started", task_id=made["task_id"])
    assert (started["actor_id"], started["data"]["reason"]) == ("system:toryo", "it was next in line")


def test_who_has_other_work_makes_the_changes_after_it_and_the_answer_says_so(built: Built) -> None:
    built.world.task("w1", title="Shed")
    answer = built.boss.call("request_changes", task_id=built.walls, reason="Round them.")
    assert answer["changes_requested"]["status"] == "todo"
    assert "first in the line of w1" in answer["waits"]
    built.world.start("w1").report()
    assert built.world.status(answer["changes_requested"]["task_id"]) == "in_progress"


def test_the_changes_have_the_place_in_line_that_the_work_had_and_a_person_is_told_which(world: World) -> None:
    world.crew(workers=1, start="when_ready", decomposition="never")
    first, walls = (world.task("w1", status="todo", title=each) for each in ("First", "Walls"))
    younger = [world.task("w1", status="todo", title=each) for each in ("Shed", "Barn")]
    older = world.task("w1", status="backlog", title="Older")
    world.owner.call("move_task", task_id=older, status="todo", before_task_id=walls)
    world.move(older, "backlog")
    for _ in (first, walls):
        world.start("w1").report()
    assert world.status(younger[0]) == "in_progress"
    world.move(older, "todo")
    answer = world.owner.call("request_task_changes", task_id=walls, text="Round them.")
    assert "number 2 in the line of w1, after “Older”" in answer["waits"]
    world.start("w1").report()
    world.start("w1").report()
    assert world.status(answer["changes_requested"]["task_id"]) == "in_progress"
    assert world.status(younger[1]) == "todo"


def test_what_a_manager_sends_back_comes_before_what_is_younger(built: Built) -> None:
    built.world.task("w1", title="Shed")
    younger = built.world.task("w1", status="todo", start="when_ready", title="Younger")
    made = built.back(built.walls)
    built.world.start("w1").report()
    assert (built.world.status(made), built.world.status(younger)) == ("in_progress", "todo")


def test_what_must_hold_for_the_work_and_its_context_hold_for_the_changes(built: Built) -> None:
    built.done(built.paint)
    built.boss.call("get_next_action")
    (fence,) = built.parts({
        "title": "Fence", "assignee_id": "w2", "context": {"colour": "red"}, "acceptance": [{"file": "fence.txt"}],
        "touches": ["fence/**"], "priority": "high",
    }, intent="new")  # fmt: skip
    built.world.move(fence, "in_progress")
    built.world.owner.call("confirm_checks", task_id=fence, passed=True)
    built.world.move(fence, "completed")
    made = built.world.show(built.back(fence))
    assert made["context"] == {"colour": "red", "changes_to": fence}
    assert (made["acceptance"], made["touches"], made["priority"]) == ([{"file": "fence.txt"}], ["fence/**"], "high")


def test_the_whole_is_held_open_until_the_changes_are_made_and_then_reported(built: Built) -> None:
    built.done(built.paint)
    built.world.move(built.roof, "in_progress")
    built.done(built.roof)
    assert built.boss.action() == "report_completion"
    made = built.back(built.walls)
    refused = built.boss.refused("report_completed", "subtasksOpen", result="success", summary="done")
    assert [each["task_id"] for each in refused["open_subtasks"]] == [made]
    built.boss.wait()
    built.done(made)
    boss = built.world.start("boss")
    said = boss.call("get_next_action")
    assert (said["action"], "request_changes" in said["tools"]) == ("report_completion", True)
    boss.report()
    assert built.world.status(built.main) == "completed"


def test_a_manager_that_sends_the_last_work_back_needs_four_calls_until_it_waits(built: Built) -> None:
    built.boss.call("cancel_task", task_id=built.paint, reason="no")
    built.boss.call("cancel_task", task_id=built.roof, reason="no")
    assert built.boss.action() == "report_completion"
    calls = [
        ("request_changes", {"task_id": built.walls, "reason": "Round them."}),
        ("get_next_action", {}),
        ("select_action", {"action": "wait"}),
        ("get_next_action", {}),
    ]
    for name, arguments in calls:
        answer = built.boss.call(name, **arguments)
    assert answer["action"] == "wait"


def test_an_author_that_cannot_come_back_leaves_the_changes_to_anyone_below_the_manager(built: Built) -> None:
    built.world.owner.call("deactivate_agent", agent_id="w1")
    built.world.coordinator().claim()
    made = built.world.show(built.back(built.walls))
    assert (made["assignee_id"], made["status"]) in (("w2", "in_progress"), ("w3", "in_progress"))


def test_what_an_agent_of_a_queue_has_done_goes_back_to_the_queue(built: Built) -> None:
    filed = built.world.task(status="todo", agent_type="press", parent_task_id=built.main)
    press = poller(built.world, "press-1", "press")
    press.call("poll_tasks", agent_id="press-1")
    press.call("submit_result", agent_id="press-1", task_id=filed, status="completed", result={})
    made = built.back(filed)
    shown = built.world.show(made)
    assert (shown["agent_type"], shown["assignee_id"], shown["status"]) == ("press", None, "todo")
    assert [each["task_id"] for each in press.call("poll_tasks", agent_id="press-1")["result"]] == [made]


def test_where_nobody_could_make_the_changes_the_manager_is_told_what_to_report(built: Built) -> None:
    for each in ("w2", "w3"):
        built.world.owner.call("deactivate_agent", agent_id=each)
    built.world.owner.call("remove_member", project_id=built.world.project_id, agent_id="w1")
    refused = built.refused(built.walls, "notNow")
    assert "w1 cannot change it now" in refused["message"]
    assert "no_available_workers" in refused["instruction"]


def test_a_request_that_a_person_has_to_approve_starts_when_that_is_done(world: World) -> None:
    built = Built(world, approvals="all")
    for each in (built.walls, built.paint, built.roof):
        world.owner.call("approve_task", task_id=each)
    built.done(built.walls)
    made = built.back(built.walls)
    assert (world.status(made), world.show(made)["approval"]) == ("todo", "pending_approval")
    world.owner.call("approve_task", task_id=made)
    assert world.status(made) == "in_progress"


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "named"),
    [
        ("todo", "update_task"),
        ("backlog", "update_task"),
        ("in_progress", "update_task_status"),
        ("blocked", "update_task_status"),
        ("failed", "update_task_status"),
        ("cancelled", "create_tasks_batch"),
    ],
)
def test_what_is_not_completed_is_not_sent_back_and_what_helps_is_named(built: Built, status: str, named: str) -> None:
    for each in [] if status == "todo" else ["in_progress", "failed"] if status == "failed" else [status]:
        built.world.owner.call("move_task", task_id=built.paint, status=each, reason="so")
    refused = built.refused(built.paint, "invalidTransition")
    assert status in refused["message"]
    assert named in refused["instruction"]


def test_its_own_task_and_what_is_not_below_it_are_not_a_managers_to_send_back(built: Built) -> None:
    other = built.world.task("w2", title="Other")
    built.done(other)
    assert "own main task" in built.refused(built.main, "permissionDenied")["message"]
    assert "not below your main task" in built.refused(other, "permissionDenied")["message"]
    built.refused("tsk_none", "taskNotFound")
    built.refused(built.walls, "validationError", reason="  ")
    built.world.task("w2", title="Mine")
    built.world.start("w2").refused("request_changes", "managerRequired", task_id=built.walls, reason="More")


def test_what_is_being_changed_is_not_sent_back_again_meanwhile(built: Built) -> None:
    made = built.back(built.walls)
    refused = built.refused(built.walls, "notNow")
    assert refused["changes_requested"] == made
    assert built.refused(made, "invalidTransition")["message"].endswith("in_progress.")


def test_changes_that_are_not_good_enough_are_sent_back_whichever_task_is_named_until_the_limit(built: Built) -> None:
    first = built.back(built.walls)
    built.done(first)
    second = built.back(built.walls)
    assert built.world.show(second)["dependencies"] == [first], "the newest state"
    assert built.world.show(second)["title"] == "Changes to: Walls"
    built.done(second)
    for each in (built.walls, first, second):
        refused = built.refused(each, "limitReached")
        assert refused["limit"] == SENT_BACK_AT_MOST
        assert "create_tasks_batch" in refused["instruction"]


def test_people_may_send_work_back_as_often_as_they_want(built: Built) -> None:
    for _ in range(SENT_BACK_AT_MOST + 1):
        answer = built.world.owner.call("request_task_changes", task_id=built.walls, text="More")
        made = answer["changes_requested"]["task_id"]
        assert built.world.show(made)["parent_task_id"] == built.main
        built.done(made)


def remark(world: World, task: str, text: str) -> str:
    made: str = world.owner.call("request_task_changes", task_id=task, text=text)["changes_requested"]["task_id"]
    return made


def test_a_second_remark_of_a_person_builds_on_the_changes_of_the_first(built: Built) -> None:
    first = remark(built.world, built.walls, "Round them.")
    answer = built.world.owner.call("request_task_changes", task_id=built.walls, text="Paint them.")
    second = answer["changes_requested"]["task_id"]
    shown = built.world.show(second)
    assert (set(shown["dependencies"]), shown["context"]["changes_to"]) == ({built.walls, first}, first)
    assert (shown["status"], first in answer["waits"]) == ("todo", True)
    assert set(built.world.show(built.roof)["dependencies"]) == {built.walls, built.paint, first, second}
    built.done(first)
    assert built.world.status(second) == "in_progress"
    assert built.refused(built.walls, "notNow")["changes_requested"] == second


def test_a_remark_goes_on_from_what_is_left_when_those_before_it_are_cancelled(built: Built) -> None:
    first, second, third = (remark(built.world, built.walls, each) for each in ("Round.", "Paint.", "Dry."))
    assert set(built.world.show(third)["dependencies"]) == {built.walls, first, second}
    built.world.move(second, "cancelled", "no")
    shown = built.world.show(third)
    assert (set(shown["dependencies"]), shown["context"]["changes_to"]) == ({built.walls, first}, first)
    built.world.move(first, "cancelled", "no")
    shown = built.world.show(third)
    assert (shown["dependencies"], shown["context"]["changes_to"]) == ([built.walls], built.walls)
    assert (shown["status"], built.world.show(built.walls)["changes_requested"]["task_id"]) == ("in_progress", third)


def test_no_more_parts_are_made_by_sending_back_than_a_task_may_have(world: World) -> None:
    built = Built(world, subtasks_ever=3)
    built.done(built.walls)
    assert built.refused(built.walls, "tooManySubtasks")["limit"] == 3


def test_a_part_of_what_another_agent_works_on_is_that_agents(world: World) -> None:
    world.crew(workers=1)
    world.manager("lead", "boss")
    world.worker("w9", "lead")
    world.task("boss", title="Town")
    boss = world.start("boss")
    (house,) = boss.assigned({"House": "lead"})
    boss.begin(house)
    lead = world.start("lead")
    (walls,) = lead.assigned({"Walls": "w9"})
    lead.begin(walls)
    world.move(walls, "completed")
    refused = boss.refused("request_changes", "notNow", task_id=walls, reason="Round.")
    assert "lead is working on" in refused["message"]
    assert house in refused["instruction"]
    lead.report()
    made = boss.call("request_changes", task_id=walls, reason="Round.")["changes_requested"]["task_id"]
    assert (world.show(made)["parent_task_id"], world.show(made)["assignee_id"]) == (
        world.show(house)["parent_task_id"],
        "w9",
    )


# --- what builds on the work ------------------------------------------------------------------------------------------


def test_what_has_not_begun_waits_for_the_changes(built: Built) -> None:
    elsewhere = built.world.task("w3", title="Garden", status="todo", dependencies=[built.walls])
    made = built.back(built.walls)
    assert set(built.world.show(built.roof)["dependencies"]) == {built.walls, built.paint, made}
    assert set(built.world.show(elsewhere)["dependencies"]) == {built.walls, made}
    (event,) = built.world.events("task.dependencies_changed", task_id=built.roof)
    assert (event["actor_id"], event["data"]) == ("system:toryo", {"added": [made], "removed": []})
    built.done(built.paint)
    built.boss.refused("update_task_status", "dependencyNotMet", task_id=built.roof, status="in_progress")
    built.done(made)
    built.boss.call("update_task_status", task_id=built.roof, status="in_progress")


def test_who_has_begun_goes_on_and_is_told_now_or_at_its_next_start(built: Built) -> None:
    shed = built.world.task("w2", title="Shed", dependencies=[built.walls])
    barn = built.world.task("w3", title="Barn", dependencies=[built.walls])
    at_work = built.world.start("w2")
    made = built.back(built.walls)
    assert [built.world.status(each) for each in (shed, barn)] == ["in_progress"] * 2
    assert built.world.show(shed)["dependencies"] == [built.walls]
    (told,) = at_work.call("get_notifications")["notifications"]
    assert made in told["message"]
    assert "“Walls”" in told["message"]
    later = built.world.start("w3")
    assert [made in each["message"] for each in later.call("get_notifications")["notifications"]] == [True]


def test_changes_that_are_cancelled_hold_up_nobody(built: Built) -> None:
    made = built.back(built.walls)
    built.done(built.paint)
    built.boss.call("cancel_task", task_id=made, reason="Good enough.")
    assert set(built.world.show(built.roof)["dependencies"]) == {built.walls, built.paint}
    built.boss.call("update_task_status", task_id=built.roof, status="in_progress")


def test_what_only_waits_for_the_changes_is_told_when_they_are_cancelled(built: Built) -> None:
    made = built.back(built.walls)
    built.boss.call("update_task_dependencies", task_id=built.roof, remove_dependencies=[built.walls])
    built.boss.call("cancel_task", task_id=made, reason="Good enough.")
    assert built.world.show(built.roof)["dependency_failed"]


# --- choosing ---------------------------------------------------------------------------------------------------------


def all_done(built: Built) -> None:
    built.boss.call("cancel_task", task_id=built.paint, reason="no")
    built.boss.call("cancel_task", task_id=built.roof, reason="no")


def nothing(_: Built) -> None:
    pass


def stuck(built: Built) -> None:
    for status in ("in_progress", "failed"):
        built.boss.call("update_task_status", task_id=built.paint, status=status, reason="no")


@pytest.mark.parametrize("prepare", [all_done, nothing, stuck])
@pytest.mark.parametrize("before", [None, "start", "adjust", "wait"])
@pytest.mark.parametrize("action", ["start", "adjust", "wait"])
def test_a_choice_that_is_refused_names_what_comes_next(
    built: Built, prepare: Callable[[Built], None], before: str | None, action: str
) -> None:
    prepare(built)
    if before is not None:
        built.boss.ask("select_action", action=before)
    asked = built.boss.ask("select_action", action=action)
    answer = asked.result or {}
    said = built.boss.call("get_next_action")
    if not asked.refused:
        assert said["action"] == action
        return
    following = answer["next"]
    assert following["action"] in ("get_next_action", "select_action", said["action"])
    if following["action"] == "select_action":
        assert following["instruction"] == answer["instruction"]
        assert not built.boss.ask("select_action", action=answer["alternatives"][0]).refused
    if said["action"] == "report_completion":
        assert "report_completion" in answer["message"]
        assert not built.boss.ask("select_action", action="adjust").refused
    if prepare is all_done:
        assert "select_action" not in answer["instruction"]


# --- worktrees --------------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(world: World) -> Parts:
    return Parts(world)


def sent_back(boss: Process, task: str) -> str:
    made: str = boss.call("request_changes", task_id=task, reason="Round.")["changes_requested"]["task_id"]
    return made


def test_changes_start_from_the_work_itself_while_nothing_has_merged_it(parts: Parts) -> None:
    parts.done(parts.one)
    sent_back(parts.boss, parts.one)
    parts.world.advance(60)
    assert parts.launch("w1")["workspace"]["bases"] == [parts.one]


def test_changes_start_from_the_managers_tree_once_that_has_the_work_and_the_manager_has_left(parts: Parts) -> None:
    parts.done(parts.one, parts.two)
    parts.boss.call("logout")
    parts.c1.exited(parts.launched["launch_id"], exit_code=0)
    parts.world.advance(60)
    parts.boss = parts.at_work("boss")
    made = sent_back(parts.boss, parts.one)
    assert parts.world.status(made) == "in_progress"
    assert parts.held("w1") == "work_not_kept", "the manager may still change what is there"
    parts.boss.wait()
    parts.ended(parts.launched)
    assert parts.launch("w1")["workspace"]["bases"] == [parts.main]


def test_the_changes_are_merged_with_the_parts_before_the_whole_is_done(parts: Parts) -> None:
    parts.done(parts.one, parts.two)
    made = sent_back(parts.boss, parts.one)
    parts.world.advance(60)
    parts.work("w1", made)
    parts.report()
    (job,) = parts.merge_subtasks()
    assert set(job["options"]["subtasks"]) == {parts.one, parts.two, made}
    assert parts.report()["success"]


def test_work_that_a_person_has_merged_is_changed_from_what_is_there_now(parts: Parts) -> None:
    parts.done(parts.one)
    job = parts.ask("merge", parts.one)
    parts.report(job, done=True, merged=parts.merged(parts.one))
    sent_back(parts.boss, parts.one)
    parts.world.advance(60)
    assert parts.launch("w1")["workspace"]["bases"] == []


def test_a_part_that_a_manager_has_sent_back_shows_that_and_is_not_merged_by_mistake(parts: Parts) -> None:
    parts.done(parts.one)
    made = sent_back(parts.boss, parts.one)
    assert parts.worktree(parts.one)["changes_requested"]["task_id"] == made
    assert parts.world.owner.refused("merge_task", "notNow", task_id=parts.one)["changes_requested"] == made


def test_what_was_built_on_work_that_is_sent_back_is_merged_after_the_changes(world: World) -> None:
    queue = Queue(world, "automatic")
    world.owner.call("pause_merge_queue", project_id=world.project_id)
    walls = queue.worked("w1", title="Walls")
    roof = queue.worked("w2", title="Roof", dependencies=[walls])
    made = world.owner.call("request_task_changes", task_id=walls, text="Round.")["changes_requested"]["task_id"]
    world.owner.call("resume_merge_queue", project_id=world.project_id)
    world.housekeep()
    assert queue.waiting() == [(roof, "queued")]
    queue.work("w1", made)
    world.housekeep()
    job = queue.job_now()
    assert queue.tasks_of(job) == [made]
    queue.tell(job, "merged", walls, made)
    assert queue.tasks_of(queue.job_now()) == [roof]


def test_what_was_built_on_work_goes_on_to_its_merge_when_the_changes_are_cancelled(world: World) -> None:
    queue = Queue(world, "automatic")
    walls = queue.worked("w1", title="Walls")
    queue.tell(queue.job_now(), "merged", walls)
    roof = queue.worked("w2", title="Roof", dependencies=[walls])
    world.owner.call("pause_merge_queue", project_id=world.project_id)
    made = world.owner.call("request_task_changes", task_id=walls, text="Round.")["changes_requested"]["task_id"]
    world.owner.call("resume_merge_queue", project_id=world.project_id)
    queue.worktree_jobs()
    world.move(made, "cancelled")
    world.housekeep()
    assert queue.tasks_of(queue.job_now()) == [roof]


def test_two_remarks_on_one_work_are_made_on_one_tree_and_merged_at_once(world: World) -> None:
    queue = Queue(world, "automatic")
    world.owner.call("pause_merge_queue", project_id=world.project_id)
    walls = queue.worked("w1", title="Walls")
    first, second = (remark(world, walls, each) for each in ("Round.", "Paint."))
    world.housekeep()
    queue.work("w1", first)
    world.housekeep()
    assert queue.waiting() == [], "the second one is not made yet"
    launch = queue.launch("w1")
    assert set(launch["workspace"]["bases"]) == {walls, first}
    queue.completed(launch)
    queue.ended(launch)
    world.owner.call("resume_merge_queue", project_id=world.project_id)
    (entry,) = queue.job_now()["options"]["entries"]
    assert entry["task_id"] == second
    assert {each["task_id"] for each in entry["covered"]} == {walls, first}
