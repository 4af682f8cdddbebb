"""The work of subtasks and the worktree of their task, at the server: nothing counts as success without it, and what
conflicts becomes work for somebody who may do it. Reports are those that a real Coordinator gives
(tests/scenarios/test_subtasks_merged.py).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_merge_queue import Queue
from tests.operations.test_worktrees import HEAD, Yard
from tests.stories import Answer, Process, World

CLASH: Answer = {"files": ["CHANGES.rst"]}


class Parts(Yard):
    """A task of the manager, which is at work when its two subtasks end."""

    def __init__(self, world: World, **settings: Any) -> None:
        super().__init__(world)
        if settings:
            world.owner.call("edit_project", project_id=world.project_id, settings=settings)
        self.main = world.task("boss", title="All")
        self.boss = self.at_work("boss")
        self.boss.call("create_tasks_batch", tasks=[self.part("w1"), self.part("w2")])
        listed = self.boss.call("list_tasks")["tasks"]
        self.one, self.two = (each["task_id"] for each in sorted(listed, key=lambda each: str(each["title"])))

    @staticmethod
    def part(who: str) -> Answer:
        return {"local_id": who, "title": f"Part of {who}", "description": "Do it.", "assignee_id": who}

    def at_work(self, agent_id: str) -> Process:
        self.launched = self.launch(agent_id)
        process = self.world.process(self.launched)
        process.sign_in()
        process.call("report_model", provider="claude", model_id="model-1")
        process.call("get_my_task")
        return process

    def done(self, *tasks: str) -> None:
        for task in tasks:
            self.world.move(task, "in_progress")
            self.work(self.world.show(task)["assignee_id"], task)

    def report(self, job_id: str = "", **how: Any) -> Any:
        """Of the manager; with a job, of the Coordinator."""
        if job_id:
            return super().report(job_id, **how)
        return self.boss.ask("report_completed", result="success", summary="done").result

    def clashed(self, **more: Any) -> Answer:
        """The second part conflicts with the first one; the task that resolves this."""
        self.done(self.one, self.two)
        self.report()
        self.merge_subtasks(**{self.two: {**CLASH, "others": [self.one], **more}})
        return self.solver()

    def solver(self) -> Answer:
        (found,) = [each for each in self.listed() if each["title"].startswith("Resolve the conflict")]
        return self.world.show(found["task_id"])

    def open_solver(self) -> Answer:
        solvers = [self.world.show(each["task_id"]) for each in self.listed() if each["title"].startswith("Resolve")]
        (found,) = [each for each in solvers if each["status"] not in ("completed", "cancelled")]
        return found

    def finish(self, solver: str) -> None:
        """Its agent has resolved the conflict."""
        process = self.at_work(self.world.show(solver)["assignee_id"])
        process.ask("report_completed", result="success", summary="done")
        self.merge_subtasks()
        process.call("report_completed", result="success", summary="done")
        self.ended(self.launched)

    def listed(self) -> list[Answer]:
        found: list[Answer] = self.boss.call("list_tasks")["tasks"]
        return found

    def needs(self, task: str) -> list[str]:
        return [each["kind"] for each in self.world.owner.call("needs_you")["items"] if each["task_id"] == task]


@pytest.fixture
def parts(world: World) -> Parts:
    return Parts(world)


# --- before success counts -------------------------------------------------------------------------------------------


def test_what_ended_while_its_manager_was_at_work_is_merged_before_success_counts(parts: Parts):
    parts.done(parts.one, parts.two)
    assert parts.report()["error"] == "notNow"
    (job,) = parts.merge_subtasks()
    assert (job["task_id"], job["options"]["subtasks"]) == (parts.main, [parts.one, parts.two])
    assert parts.report()["success"]
    assert parts.world.status(parts.main) == "completed"
    (event,) = parts.world.events("worktree.subtasks_merged")
    assert (event["task_id"], event["data"]["subtasks"]) == (parts.main, [parts.one, parts.two])


def test_acceptance_checks_begin_only_when_all_of_it_is_there(world: World):
    parts = Parts(world, required_checks=[{"command": "make test"}])
    world.owner.call("edit_project", project_id=world.project_id, settings={"required_checks": []})
    parts.done(parts.one, parts.two)
    world.owner.call("edit_project", project_id=world.project_id, settings={"required_checks": [{"command": "make"}]})
    parts.report()
    assert parts.c1.claim(free_slots=0)["checks"] == []
    parts.c1.claim(free_slots=0, worktree_jobs=[])
    assert world.events("check.started", task_id=parts.main) == []


def test_what_was_merged_at_the_start_is_not_merged_again(parts: Parts):
    parts.done(parts.one, parts.two)
    parts.boss.call("logout")
    parts.c1.exited(parts.launched["launch_id"], exit_code=0)
    parts.world.advance(3600)
    parts.boss = parts.at_work("boss")
    assert parts.report()["success"]
    assert parts.merge_subtasks() == []


def test_nothing_is_merged_while_the_process_of_a_part_has_not_left_its_work(parts: Parts):
    parts.done(parts.one)
    parts.world.move(parts.two, "in_progress")
    launch = parts.launch("w2")
    process = parts.world.process(launch)
    process.sign_in()
    process.call("get_my_task")
    process.call("report_completed", result="success", summary="done")
    assert parts.report()["error"] == "notNow"
    assert parts.merge_subtasks() == []
    parts.ended(launch)
    assert parts.report()["error"] == "notNow"
    assert [job["options"]["subtasks"] for job in parts.merge_subtasks()] == [[parts.one, parts.two]]
    assert parts.report()["success"]


def test_a_part_without_changes_needs_no_merge(parts: Parts):
    for task in (parts.one, parts.two):
        parts.world.move(task, "in_progress")
        who = parts.world.show(task)["assignee_id"]
        launch = parts.launch(who)
        process = parts.world.process(launch)
        process.sign_in()
        process.call("get_my_task")
        process.call("report_completed", result="success", summary="done")
        parts.told(launch, head_commit="b0")
        parts.c1.exited(launch["launch_id"], exit_code=0)
    assert parts.report()["success"]


def test_the_work_of_a_part_below_a_part_that_has_no_worktree_belongs_to_it_too(parts: Parts):
    parts.done(parts.one)
    below = parts.world.task("w1", title="Below", parent_task_id=parts.two, status="todo")
    parts.done(below)
    parts.world.move(parts.two, "in_progress")
    parts.world.move(parts.two, "completed")
    parts.report()
    (job,) = parts.merge_subtasks()
    assert job["options"]["subtasks"] == [parts.one, below]


def test_a_part_that_leads_others_stands_for_their_work_unless_its_worktree_lacks_it(world: World):
    yard = Yard(world)
    for name in ("lead", "chief"):
        world.manager(name, "boss")
    main = world.task("boss", title="All")
    half = world.task("lead", title="Half", parent_task_id=main)
    yard.worked("w1", title="Quarter", parent_task_id=half)
    yard.work("lead", half)
    other = world.task("chief", title="Other", parent_task_id=main)
    launch = yard.launch("chief")
    yard.told(launch, head_commit="b0")
    below = yard.worked("w2", title="Below", parent_task_id=other)
    world.move(other, "completed")
    yard.c1.exited(launch["launch_id"], exit_code=0)
    assert yard.launch("boss")["workspace"]["brings"] == [half, other, below]


def test_what_prevents_the_merge_is_told_like_a_failed_check_and_tried_again_at_the_next_report(parts: Parts):
    parts.done(parts.one, parts.two)
    parts.report()
    parts.merge_subtasks(**{parts.two: {"commit": None, "trouble": "There is no branch toryo/x."}})
    refused = parts.report()
    assert refused["error"] == "checksFailed"
    assert "There is no branch toryo/x." in refused["failed_checks"][0]["message"]
    assert parts.world.status(parts.main) == "in_progress"
    assert parts.boss.action() != "report_completion"
    parts.report()
    parts.merge_subtasks()
    assert parts.report()["success"]


def test_a_coordinator_that_cannot_do_it_lets_nothing_pass(parts: Parts):
    parts.done(parts.one, parts.two)
    parts.report()
    (job,) = parts.worktree_jobs()
    parts.report(job["job_id"], done=False, trouble="Update it.", task_id=parts.main)
    assert parts.report()["failed_checks"][0]["message"] == "Update it."
    assert parts.world.status(parts.main) == "in_progress"


def test_a_job_that_is_lost_is_given_again_and_nothing_counts_meanwhile(parts: Parts):
    parts.done(parts.one, parts.two)
    parts.report()
    assert len(parts.worktree_jobs(worktree_jobs=[])) == 1
    assert len(parts.worktree_jobs(worktree_jobs=[])) == 1, "it was killed and has forgotten it"
    assert parts.report()["error"] == "notNow"
    parts.world.restart()
    assert [job["options"]["subtasks"] for job in parts.worktree_jobs(worktree_jobs=[])] == [[parts.one, parts.two]]


def test_discarding_the_work_of_a_part_is_a_decision_that_counts(parts: Parts):
    parts.clashed()
    parts.world.move(parts.solver()["task_id"], "cancelled")
    parts.report(parts.ask("discard", parts.two), done=True, gone=[parts.two])
    assert parts.report()["success"]


# --- conflicts -------------------------------------------------------------------------------------------------------


def test_a_conflict_is_a_subtask_for_the_author_of_the_part_and_the_manager_is_told(parts: Parts):
    solver = parts.clashed()
    assert (solver["assignee_id"], solver["status"], solver["parent_task_id"]) == ("w2", "in_progress", parts.main)
    for each in (parts.two, parts.one, "CHANGES.rst", "<<<<<<<"):
        assert each in solver["description"], each
    refused = parts.report()
    assert (refused["error"], refused["unmerged"][0]["task_id"]) == ("subtasksOpen", parts.two)
    assert refused["unmerged"][0]["resolved_by"] == solver["task_id"]
    assert parts.world.status(parts.main) == "in_progress"
    (event,) = parts.world.events("worktree.subtask_conflict")
    assert event["data"]["subtask_id"] == parts.two
    assert (event["data"]["with"], event["data"]["files"]) == ([parts.one], ["CHANGES.rst"])
    assert parts.worktree(parts.two)["review"] == "changes_requested", "its author finds it there, too"


def test_who_resolves_it_starts_from_the_part_and_finds_the_merge_begun(parts: Parts):
    parts.clashed()
    launch = parts.launch("w2")
    workspace = launch["workspace"]
    assert (workspace["bases"], workspace["merges"]) == ([parts.two], [f"toryo/{parts.main}"])


def test_a_resolution_counts_only_when_the_coordinator_finds_no_marks(parts: Parts):
    solver = parts.clashed()["task_id"]
    process = parts.at_work("w2")
    process.ask("report_completed", result="success", summary="done")
    (job,) = parts.worktree_jobs()
    assert (job["task_id"], job["options"]["merges"]) == (solver, [f"toryo/{parts.main}"])
    parts.report(job["job_id"], done=False, trouble="conflict marks are left in CHANGES.rst", task_id=solver)
    refused = process.ask("report_completed", result="success", summary="done").result
    assert refused is not None
    assert "conflict marks are left" in refused["failed_checks"][0]["message"]
    assert parts.world.status(solver) == "in_progress"
    process.ask("report_completed", result="success", summary="done")
    parts.merge_subtasks()
    process.call("report_completed", result="success", summary="done")
    assert parts.world.status(solver) == "completed"


def test_when_it_is_resolved_the_whole_is_merged_and_completed(parts: Parts):
    solver = parts.clashed()["task_id"]
    parts.finish(solver)
    assert parts.report()["error"] == "notNow"
    (job,) = parts.merge_subtasks()
    assert job["options"]["subtasks"] == [parts.two, solver]
    assert parts.report()["success"]
    assert parts.worktree(parts.main)["unmerged"] == []


def test_of_several_conflicts_one_is_resolved_after_the_other(parts: Parts):
    clash = {**CLASH, "others": []}
    parts.done(parts.one, parts.two)
    parts.report()
    parts.merge_subtasks(**{parts.one: clash, parts.two: clash})
    assert parts.solver()["dependencies"] == [parts.one]
    parts.finish(parts.solver()["task_id"])
    parts.report()
    parts.merge_subtasks(**{parts.two: clash})
    solvers = [each for each in parts.listed() if each["title"].startswith("Resolve")]
    assert sorted(parts.world.show(each["task_id"])["dependencies"] for each in solvers) == sorted(
        [[parts.one], [parts.two]]
    )


def test_a_conflict_that_is_found_at_a_start_is_told_to_the_manager_with_its_task(parts: Parts):
    parts.done(parts.one, parts.two)
    parts.boss.call("logout")
    parts.c1.exited(parts.launched["launch_id"], exit_code=0)
    parts.world.advance(3600)
    (launch,) = parts.c1.claim(agent_ids=["boss"], free_slots=1)["start"]
    told = [{"task_id": parts.one, "commit": HEAD}, {"task_id": parts.two, "commit": HEAD, **CLASH}]
    parts.told(launch, subtasks=told)
    parts.boss = parts.world.process(launch)
    parts.boss.sign_in()
    mine = parts.boss.call("get_my_task")["task"]
    assert [each["task_id"] for each in mine["unmerged"]] == [parts.two]
    completions = {
        each["task_id"]: each
        for each in parts.boss.call("get_recent_completions", since="2020-01-01T00:00:00Z")["completions"]
    }
    assert completions[parts.two]["unmerged"]["files"] == ["CHANGES.rst"]
    assert "unmerged" not in completions[parts.one]
    assert parts.solver()["assignee_id"] == "w2"


@pytest.mark.parametrize("resolved_by_an_agent", [True, False])
def test_a_manager_that_waited_is_not_started_only_to_hear_of_a_conflict_that_another_agent_resolves(
    parts: Parts, resolved_by_an_agent: bool
):
    world = parts.world
    for part in (parts.one, parts.two):
        world.move(part, "in_progress")
    parts.boss.wait()
    parts.ended(parts.launched)
    parts.work("w1", parts.one)
    parts.work("w2", parts.two)
    if not resolved_by_an_agent:
        for each in ("w1", "w2"):
            world.owner.call("edit_agent", agent_id=each, provider_options={"permissions": "read"})
    (launch,) = parts.c1.claim(agent_ids=["boss"], free_slots=1)["start"]
    found = [{"task_id": parts.one, "commit": HEAD}, {"task_id": parts.two, "commit": HEAD, **CLASH}]
    answer = parts.told(launch, subtasks=found)
    if not resolved_by_an_agent:
        assert "stop" not in answer, "it can have another agent resolve it"
        return
    assert answer["stop"] == "waiting_for_workers"
    parts.c1.exited(launch["launch_id"], error="stopped")
    world.advance(3600)
    assert world.why("boss") == "hold waiting_for_workers"
    (solver,) = [
        each
        for each in world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]
        if each["title"].startswith("Resolve")
    ]
    parts.finish(solver["task_id"])
    assert world.why("boss") == "start workers_finished"
    (launch,) = parts.c1.claim(agent_ids=["boss"], free_slots=1)["start"]
    all_of_it = [{"task_id": each, "commit": HEAD} for each in (parts.one, parts.two, solver["task_id"])]
    assert parts.told(launch, subtasks=all_of_it) == {"success": True}


@pytest.mark.parametrize("able", ["w1", None])
def test_it_goes_to_somebody_who_may_change_files_else_to_a_person(world: World, able: str | None):
    parts = Parts(world)
    for each in {"w1", "w2"} - {able}:
        world.owner.call("edit_agent", agent_id=each, provider_options={"permissions": "read"})
    solver = parts.clashed()
    if able is not None:
        assert (solver["assignee_id"], solver["status"]) == (able, "in_progress")
        return
    assert (solver["assignee_id"], solver["status"]) == (None, "blocked")
    assert parts.needs(solver["task_id"]) == ["blocked_by_guard"]
    assert parts.report()["error"] == "subtasksOpen"
    world.owner.call("edit_task", task_id=solver["task_id"], assignee_id="w1")
    world.owner.call("edit_agent", agent_id="w1", provider_options={"permissions": "edit"})
    world.move(solver["task_id"], "in_progress")
    assert parts.launch("w1")["workspace"]["merges"] == [f"toryo/{parts.main}"]


def test_who_has_to_resolve_a_conflict_reads_why_no_agent_does_where_it_is_and_with_which_commands(world: World):
    parts = Parts(world)
    for each in ("w1", "w2"):
        world.owner.call("edit_agent", agent_id=each, provider_options={"permissions": "read"})
    solver = parts.clashed()
    into = parts.worktree(parts.main)
    how = f"on the machine of Coordinator c1: run `cd {into['path']} && git merge toryo/{parts.two}`"
    assert how in solver["description"]
    (need,) = [each for each in world.owner.call("needs_you")["items"] if each["task_id"] == solver["task_id"]]
    (unmerged,) = world.owner.call("why", agent_id="boss")["unmerged"]
    (shown,) = world.show(parts.main)["unmerged"]
    first = world.owner.call("show_moves", task_id=solver["task_id"])["first"]
    for said in (need["text"], unmerged["message"], shown["message"], first["text"]):
        assert how in said and said.endswith(f"toryo task cancel {solver['task_id']} --reason …"), said
    assert "no active agent that could resolve it may edit files" in need["text"]
    assert f"Task {solver['task_id']}, which was created to resolve it, is blocked." in shown["message"]
    assert first["actions"][0]["command"] == f"toryo task edit {solver['task_id']} --assignee AGENT"
    world.move(solver["task_id"], "cancelled")
    (after,) = world.show(parts.main)["unmerged"]
    assert how in after["message"] and "toryo task cancel" not in after["message"]


def test_what_two_tasks_could_not_resolve_is_left_to_a_person(parts: Parts):
    clash = {parts.two: {**CLASH, "others": [parts.one]}}
    parts.clashed()
    for _ in range(2):
        parts.finish(parts.open_solver()["task_id"])
        parts.report()
        parts.merge_subtasks(**clash)
    assert (parts.open_solver()["status"], parts.open_solver()["blocked_reason"]) == (
        "blocked",
        "conflict_not_resolved",
    )
    assert parts.needs(parts.open_solver()["task_id"]) == ["blocked_by_guard"]


def test_a_resolution_that_was_cancelled_drops_nothing(parts: Parts):
    solver = parts.clashed()["task_id"]
    parts.boss.call("cancel_task", task_id=solver, reason="not needed")
    parts.report()
    parts.merge_subtasks(**{parts.two: {**CLASH, "others": [parts.one]}})
    refused = parts.report()
    assert refused["error"] == "checksFailed"
    assert f"Task {solver}" in refused["failed_checks"][0]["message"]
    assert len([each for each in parts.listed() if each["title"].startswith("Resolve")]) == 1
    assert parts.world.status(parts.main) == "in_progress"


def test_a_part_that_ends_after_the_checks_have_passed_is_checked_with_the_rest(world: World):
    queue = Queue(world)
    main = world.task("boss", title="All")
    queue.worked("w1", title="Part", parent_task_id=main)
    launch = queue.launch("boss")
    boss = world.process(launch)
    boss.sign_in()
    boss.call("get_my_task")
    boss.ask("report_completed", result="success", summary="done")
    (check,) = queue.c1.claim(free_slots=0)["checks"]
    late = queue.worked("w2", title="Late", parent_task_id=main)
    queue.c1.call("report_check_result", check_id=check["check_id"], failures=[])
    assert boss.ask("report_completed", result="success", summary="done").refused
    (job,) = queue.merge_subtasks()
    assert job["options"]["subtasks"] == [late]
    assert boss.ask("report_completed", result="success", summary="done").refused, "it is checked again"
    (check,) = queue.c1.claim(free_slots=0)["checks"]
    queue.c1.call("report_check_result", check_id=check["check_id"], failures=[])
    boss.call("report_completed", result="success", summary="done")
    assert world.status(main) == "completed"


def test_why_and_the_worktree_say_what_is_missing(parts: Parts):
    solver = parts.clashed()["task_id"]
    (found,) = parts.worktree(parts.main)["unmerged"]
    assert (found["task_id"], found["files"], found["conflicts_with"]) == (parts.two, ["CHANGES.rst"], [parts.one])
    (told,) = parts.world.owner.call("why", agent_id="boss")["unmerged"]
    assert told["task_id"] == parts.main
    for each in (parts.two, parts.one, solver):
        assert each in told["message"]


# --- the merge queue -------------------------------------------------------------------------------------------------


def test_the_queue_names_the_other_side_within_the_same_work_and_asks_somebody_who_may_change_files(world: World):
    queue = Queue(world, "manual")
    main = world.task("boss", title="All")
    part, other = (queue.worked(who, title=who, parent_task_id=main) for who in ("w1", "w2"))
    queue.work("boss", main)
    queue.add(main)
    job = queue.job_now()
    clash = {"entry_id": queue.entry_id(job, main), "files": ["a.py"], "task_id": other, "within": True}
    queue.tell(job, "nothing", conflicts=[{**clash, "others": [{"commit": "c1", "subject": "x", "task_id": part}]}])
    entry = queue.entry(main)
    assert (
        entry["message"]
        == f"The work of {other} conflicts with that of {part}, which belongs to the same task, in a.py."
    )
    changes = queue.changes(main)
    assert changes["assignee_id"] == "w2", "the manager may only read"
    for each in (part, other, "a.py", "<<<<<<<"):
        assert each in changes["description"], each
    assert "since commit" not in changes["description"], "the target has neither"
    workspace = queue.launch("w2")["workspace"]
    assert workspace["merges"][-1] == "main"
    assert len(workspace["bases"]) == 1
