"""Worktrees and worktree jobs at the server: who may ask what and when, what is handed out, what a report changes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_accounts import as_person
from tests.stories import Answer, Coordinator, World
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.errors import Code
from toryo.domain.times import SECOND
from toryo.domain.worktrees import LOST_AFTER
from toryo.operations.worktrees.worktree_requests import MOST_KEPT, MOST_WAITING
from toryo.storage import schema

DIFF = {"patch": "+1", "files": [], "files_in_all": 0, "truncated": False, "head": "h1", "base": "b0"}
HEAD = "h1"


class Yard:
    """A crew whose project gives every task a worktree, and its Coordinator, which reports as a real one does."""

    def __init__(self, world: World, workers: int = 2) -> None:
        self.world = world
        world.crew(workers=workers, isolation="worktree")
        self.c1 = world.coordinator("c1")

    def launch(self, agent_id: str, coordinator: Coordinator | None = None, **figures: Any) -> Answer:
        """The agent's launch, whose worktree was made and told of."""
        who = coordinator or self.c1
        (launch,) = who.claim(agent_ids=[agent_id], free_slots=1)["start"]
        assert isinstance(launch, dict)
        who.running.append(launch["launch_id"])
        brought = [{"task_id": each, "commit": HEAD} for each in launch["workspace"].get("brings", ())]
        self.told(launch, **({"subtasks": brought} if brought else {}), **figures)
        return launch

    def told(self, launch: Answer, **figures: Any) -> Answer:
        name = launch["workspace"]["name"]
        said = {"path": f"/w/{name}", "directory": f"/w/{name}/sub", "branch": f"toryo/{name}", "base_branch": "main"}
        report = {"base_commit": "b0", **said, **figures}
        return self.c1.call("report_worktree", launch_id=launch["launch_id"], **report)

    def worked(self, agent_id: str, **more: Any) -> str:
        """A task of which the agent has left some work; its process is gone."""
        return self.work(agent_id, self.world.task(agent_id, **more))

    def work(self, agent_id: str, task: str) -> str:
        launch = self.launch(agent_id)
        process = self.world.process(launch)
        process.sign_in()
        process.call("report_model", provider="claude", model_id="model-1")
        process.call("get_my_task")
        process.call("report_completed", result="success", summary="done")
        self.ended(launch)
        return task

    def ended(self, launch: Answer) -> None:
        self.told(launch, head_commit=HEAD, commits=1, files_changed=2, insertions=3, deletions=1)
        self.c1.exited(launch["launch_id"], exit_code=0)

    def merge_subtasks(self, claimed: Answer | None = None, **told: Any) -> list[Answer]:
        """Does what a Coordinator does before success counts: by default everything can be merged."""
        jobs = (claimed or self.c1.claim(free_slots=0))["worktree_jobs"]
        jobs = [job for job in jobs if job["kind"] == "merge_subtasks"]
        for job in jobs:
            found = [{"task_id": each, "commit": HEAD, **told.get(each, {})} for each in job["options"]["subtasks"]]
            self.report(job["job_id"], done=True, answer={"subtasks": found})
        return jobs

    def ask(self, what: str, task: str, **how: Any) -> str:
        names = {"diff": "diff_task", "merge": "merge_task", "discard": "discard_task_work"}
        job_id: str = self.world.owner.call(names[what], task_id=task, **how)["job_id"]
        return job_id

    def worktree_jobs(self, coordinator: Coordinator | None = None, **more: Any) -> list[Answer]:
        found: list[Answer] = (coordinator or self.c1).claim(free_slots=0, **more)["worktree_jobs"]
        return found

    def report(self, job_id: str, **how: Any) -> None:
        self.c1.call("report_worktree_job", job_id=job_id, **how)

    def merged(self, *tasks: str) -> list[Answer]:
        return [{"task_id": task, "commit": f"m-{task}", "into": "main"} for task in tasks]

    def job(self, job_id: str) -> Answer:
        found: Answer = self.world.owner.call("show_worktree_job", job_id=job_id)["worktree_job"]
        return found

    def worktree(self, task: str) -> Answer:
        found: Answer = self.world.owner.call("show_worktree", task_id=task)["worktree"]
        return found

    def held(self, agent_id: str) -> str | None:
        decisions = self.world.owner.call("why", agent_id=agent_id)["decisions"]
        (task,) = [decision for decision in decisions if decision["purpose"] == "task"]
        held: str | None = task["facts"].get("held")
        return held


@pytest.fixture
def yard(world: World) -> Yard:
    return Yard(world)


# --- who may ask what, and when --------------------------------------------------------------------------------------


def test_a_merge_is_a_worktree_job_of_the_coordinator_with_the_files_and_its_answer_is_kept(yard: Yard):
    task = yard.worked("w1", title="Walls")
    job_id = yard.ask("merge", task, message="Walls are up")
    (job,) = yard.worktree_jobs()
    assert (job["job_id"], job["kind"], job["path"]) == (job_id, "merge", f"/w/{task}")
    assert job["options"]["order"] == [
        {"task_id": task, "path": f"/w/{task}", "title": "Walls", "base": "b0", "into": "main"}
    ]
    assert (job["options"]["message"], job["asked_by"]) == ("Walls are up", "owner")
    assert yard.job(job_id)["finished_at"] is None
    yard.report(job_id, done=True, merged=yard.merged(task))
    answer = yard.job(job_id)
    assert (answer["done"], answer["answer"]["merged"][0]["commit"]) == (True, f"m-{task}")
    found = yard.worktree(task)
    assert (found["state"], found["merged_commit"], found["merged_into"]) == ("merged", f"m-{task}", "main")
    assert [event["kind"] for event in yard.world.events() if event["kind"].startswith("worktree.")] == [
        "worktree.made",
        "worktree.changed",
        "worktree.merge_asked",
        "worktree.merged",
    ]


def test_agents_and_coordinators_may_ask_for_nothing_and_people_of_other_projects_see_nothing(yard: Yard):
    task = yard.worked("w1")
    other = yard.world.task("w2")
    worker = yard.world.process(yard.launch("w2"))
    worker.sign_in()
    stranger = yard.world.member("eve")
    for name in ("diff_task", "merge_task", "discard_task_work", "show_worktree"):
        for who in (worker, yard.c1, yard.world.nobody, stranger):
            assert who.ask(name, task_id=task).refused, (name, who)
    job = yard.ask("diff", task)
    for who in (worker, yard.world.owner, yard.world.nobody, stranger):
        assert who.ask("report_worktree_job", job_id=job, done=True).refused, who
    assert yard.job(job)["finished_at"] is None
    stranger.refused("show_worktree_job", "worktreeJobNotFound", job_id=job)
    assert yard.worktree(other)["state"] == "open"


@pytest.mark.parametrize("what", ["merge_task", "discard_task_work"])
def test_nobodys_files_are_moved_while_a_process_works_in_them_or_is_just_leaving(yard: Yard, what: str):
    task = yard.world.task("w1")
    launch = yard.launch("w1")
    process = yard.world.process(launch)
    assert "w1 is working on task" in yard.world.owner.refused(what, "notNow", task_id=task)["message"]
    process.sign_in()
    process.call("get_my_task")
    assert yard.world.owner.refused(what, "notNow", task_id=task)["leaving"] is False
    process.call("report_completed", result="success", summary="done")
    assert yard.world.owner.refused(what, "notNow", task_id=task)["leaving"] is True
    yard.ended(launch)
    yard.world.owner.call(what, task_id=task)


def test_a_process_whose_end_nobody_tells_hinders_for_half_a_minute_only(yard: Yard):
    task = yard.world.task("w1")
    process = yard.world.process(yard.launch("w1"))
    process.sign_in()
    process.call("get_my_task")
    process.call("report_completed", result="success", summary="done")
    yard.world.advance(29)
    yard.world.owner.refused("discard_task_work", "notNow", task_id=task)
    yard.world.advance(2)
    yard.c1.claim(free_slots=0)
    yard.world.owner.call("discard_task_work", task_id=task)


def test_one_worktree_job_at_a_time_changes_files_and_looking_is_always_possible(yard: Yard):
    task = yard.worked("w1")
    first = yard.ask("merge", task)
    for what in ("merge_task", "discard_task_work"):
        refused = yard.world.owner.refused(what, "notNow", task_id=task)
        assert first in refused["message"]
    assert yard.ask("diff", task) == yard.ask("diff", task)
    yard.report(first, done=False, trouble="no", task_id=task)
    yard.ask("discard", task)


def test_a_worktree_job_about_several_tasks_counts_for_each_of_them(yard: Yard):
    main = yard.world.task("boss", title="All")
    part = yard.worked("w1", title="Part", parent_task_id=main)
    yard.ask("merge", main)
    yard.world.owner.refused("discard_task_work", "notNow", task_id=part)


def test_where_the_coordinator_is_away_the_refusal_says_where_to_look_oneself(yard: Yard):
    task = yard.worked("w1")
    yard.world.advance(GONE_AFTER / SECOND + 1)
    for what in ("diff_task", "merge_task", "discard_task_work"):
        refused = yard.world.owner.refused(what, "notNow", task_id=task)
        assert "c1" in refused["message"]
        assert f"git log toryo/{task}, in /w/{task}" in refused["instruction"]
    yard.c1.claim(free_slots=0)
    yard.ask("diff", task)


def test_what_was_merged_or_discarded_or_never_made_is_refused_and_says_which(yard: Yard):
    never = yard.world.task("w2", status="todo")
    merged, discarded = yard.worked("w1", title="M"), yard.worked("w1", title="D")
    yard.report(yard.ask("merge", merged), done=True, merged=yard.merged(merged))
    yard.report(yard.ask("discard", discarded), done=True, gone=[discarded], answer={"message": "gone"})
    for task, words in ((never, "no worktree"), (merged, "merged into main"), (discarded, "already discarded")):
        for what in ("merge_task", "discard_task_work", *(["diff_task"] if task != merged else [])):
            assert words in yard.world.owner.refused(what, "worktreeNotFound", task_id=task)["message"]
    assert (yard.worktree(discarded)["state"], yard.worktree(merged)["state"]) == ("discarded", "merged")


# --- merging several -------------------------------------------------------------------------------------------------


def test_parts_are_merged_before_what_they_are_parts_of_and_what_others_depend_on_first(yard: Yard):
    main = yard.world.task("boss", title="All")
    a = yard.world.task("w1", title="A", parent_task_id=main, status="todo")
    b = yard.worked("w2", title="B", parent_task_id=main)
    yard.world.owner.call("edit_task", task_id=a, add_dependencies=[b])
    yard.world.move(a, "in_progress")
    yard.work("w1", a)
    asked = yard.world.owner.call("merge_task", task_id=main)
    assert asked["task_ids"] == [b, a]
    yard.report(asked["job_id"], done=False, merged=yard.merged(b), task_id=a, trouble="a conflict in x")
    assert (yard.worktree(b)["state"], yard.worktree(a)["state"]) == ("merged", "open")
    assert yard.worktree(a)["trouble"] == "a conflict in x"
    assert yard.world.owner.call("merge_task", task_id=main)["task_ids"] == [a]


def test_only_the_task_itself_is_merged_where_a_person_says_so(yard: Yard):
    main = yard.world.task("boss", title="All")
    part = yard.worked("w1", title="Part", parent_task_id=main)
    yard.world.owner.refused("merge_task", "worktreeNotFound", task_id=main, below=False)
    assert yard.world.owner.call("merge_task", task_id=part, below=False)["task_ids"] == [part]


def test_parts_on_another_machine_are_not_merged_with_the_rest(yard: Yard):
    main = yard.world.task("boss", title="All")
    yard.worked("w1", title="Here", parent_task_id=main)
    there = yard.world.task("w2", title="There", parent_task_id=main)
    c2 = yard.world.coordinator("c2")
    launch = yard.launch("w2", c2)
    yard.told(launch, head_commit="h", commits=1)
    yard.world.owner.call("move_task", task_id=there, status="cancelled")
    c2.exited(launch["launch_id"], exit_code=0)
    refused = yard.world.owner.refused("merge_task", "notNow", task_id=main)
    assert "c1" in refused["message"]
    assert "c2" in refused["message"]
    assert "--only" in refused["instruction"]


def test_a_worktree_job_names_who_has_asked_so_that_a_merge_can_bear_their_name(yard: Yard):
    task = yard.worked("w1")
    yard.world.owner.call("change_person", person_id="owner", name="Ann Ao", email="ann@example.org")
    yard.ask("diff", task)
    (job,) = yard.worktree_jobs()
    assert (job["name"], job["email"]) == ("Ann Ao", "ann@example.org")


# --- handing worktree jobs out ----------------------------------------------------------------------------------------


def test_a_worktree_job_is_handed_out_once_and_again_where_its_answer_was_lost(yard: Yard):
    task = yard.worked("w1")
    job = yard.ask("merge", task)
    assert [each["job_id"] for each in yard.worktree_jobs(worktree_jobs=[])] == [job]
    assert yard.worktree_jobs(worktree_jobs=[job]) == []
    assert [each["job_id"] for each in yard.worktree_jobs(worktree_jobs=[])] == [job]
    assert yard.worktree_jobs() == []
    yard.world.advance(LOST_AFTER / SECOND)
    assert [each["job_id"] for each in yard.worktree_jobs()] == [job]


def test_a_worktree_job_is_for_the_coordinator_with_the_files_and_nobody_else(yard: Yard):
    yard.ask("diff", yard.worked("w1"))
    assert yard.worktree_jobs(yard.world.coordinator("c2")) == []
    assert len(yard.worktree_jobs()) == 1


def test_a_report_that_comes_twice_counts_once(yard: Yard):
    task = yard.worked("w1")
    job = yard.ask("merge", task)
    yard.report(job, done=True, merged=yard.merged(task))
    before = (yard.job(job), yard.worktree(task), len(yard.world.events("worktree.merged")))
    yard.report(job, done=False, trouble="nothing there any more", task_id=task)
    yard.report(job, done=True, merged=yard.merged(task))
    assert (yard.job(job), yard.worktree(task), len(yard.world.events("worktree.merged"))) == before


def test_a_coordinator_that_talks_nonsense_changes_no_other_task(yard: Yard):
    task, other = yard.worked("w1"), yard.worked("w2")
    job = yard.ask("discard", task)
    yard.report(job, done=True, gone=[other, "tsk_none"], merged=yard.merged(other), task_id=other, trouble="ha")
    assert (yard.worktree(task)["state"], yard.worktree(other)["state"]) == ("open", "open")
    assert yard.worktree(other)["trouble"] is None
    yard.c1.refused("report_worktree_job", "worktreeJobNotFound", job_id="job_none", done=True)
    yard.c1.refused("report_worktree", "launchNotFound", launch_id="lau_none", path="/", directory="/",
                    branch="b", base_commit="c")  # fmt: skip
    yard.c1.refused("report_worktree_job", "validationError", job_id=job, done="perhaps")


def test_a_diff_that_cannot_be_made_leaves_the_worktree_as_it_was(yard: Yard):
    task = yard.worked("w1")
    yard.report(yard.ask("diff", task), done=False, trouble="git is missing", task_id=task)
    assert yard.worktree(task)["trouble"] is None


# --- starts ----------------------------------------------------------------------------------------------------------


def test_a_launch_names_its_worktree_and_what_it_builds_on(yard: Yard):
    main = yard.world.task("boss", title="All")
    base = yard.worked("w1", title="Base", parent_task_id=main)
    yard.world.task("w2", title="Next", parent_task_id=main, dependencies=[base])
    launch = yard.launch("w2")
    assert launch["workspace"]["bases"] == [base]
    assert launch["workspace"]["brings"] == []


def test_what_a_part_is_a_part_of_depends_on_is_its_base_too(yard: Yard):
    base = yard.worked("w1", title="Base")
    main = yard.world.task("boss", title="All", dependencies=[base])
    part = yard.world.task("w2", title="Part", parent_task_id=main)
    launch = yard.launch("w2")
    assert (launch["workspace"]["name"], launch["workspace"]["bases"]) == (part, [base])


def test_who_reviews_gets_the_completed_parts_until_they_are_merged(yard: Yard):
    main = yard.world.task("boss", title="All")
    part = yard.worked("w1", title="Part", parent_task_id=main)
    launch = yard.launch("boss")
    assert launch["workspace"]["brings"] == [part]
    yard.c1.exited(launch["launch_id"], exit_code=0)
    yard.report(yard.ask("merge", part), done=True, merged=yard.merged(part))
    yard.world.advance(3600)
    assert yard.launch("boss")["workspace"]["brings"] == []


def test_nothing_starts_in_files_that_are_just_merged_and_why_says_so(yard: Yard):
    task = yard.world.task("w1")
    yard.ended(yard.launch("w1"))
    job = yard.ask("merge", task)
    yard.world.advance(3600)
    assert yard.c1.starts() == []
    assert yard.c1.reason("w1") == "hold files_busy"
    assert yard.held("w1") == "files_busy"
    yard.report(job, done=True, merged=yard.merged(task))
    assert yard.held("w1") is None
    assert yard.c1.starts() == ["w1"]


def test_who_builds_on_work_that_is_not_kept_yet_starts_when_it_is(yard: Yard):
    """A task is completed a moment before its process ends, and only then is everything on its branch."""
    base = yard.world.task("w1", title="Base")
    yard.world.task("w2", title="Next", dependencies=[base], status="todo")
    launch = yard.launch("w1")
    process = yard.world.process(launch)
    process.sign_in()
    process.call("get_my_task")
    process.call("report_completed", result="success", summary="done")
    next_task = next(e["task_id"] for e in yard.world.events("task.created") if e["data"]["title"] == "Next")
    yard.world.move(next_task, "in_progress")
    assert yard.c1.starts() == []
    assert yard.held("w2") == "work_not_kept"
    yard.ended(launch)
    assert yard.c1.starts() == ["w2"]


def test_a_task_goes_on_where_its_files_are_as_long_as_that_coordinator_lives(yard: Yard):
    yard.world.task("w1")
    yard.ended(yard.launch("w1"))
    yard.world.advance(80)
    c2 = yard.world.coordinator("c2")
    yard.c1.claim(free_slots=0)
    assert c2.starts() == []
    assert yard.held("w1") == "files_elsewhere"
    yard.world.advance(GONE_AFTER / SECOND + 1)
    launch = yard.launch("w1", c2)
    (left,) = yard.world.events("worktree.left_behind")
    assert left["data"]["coordinator_id"] == "c1"
    assert yard.worktree(launch["workspace"]["name"])["coordinator_id"] == "c2"


def test_a_task_that_is_tried_again_after_its_merge_gets_a_fresh_worktree(yard: Yard):
    task = yard.world.task("w1")
    launch = yard.launch("w1")
    process = yard.world.process(launch)
    process.sign_in()
    process.call("get_my_task")
    process.call("report_completed", result="failed", summary="no")
    yard.ended(launch)
    yard.report(yard.ask("merge", task), done=True, merged=yard.merged(task))
    yard.world.move(task, "todo")
    yard.world.move(task, "in_progress")
    yard.world.advance(3600)
    yard.launch("w1")
    found = yard.worktree(task)
    assert (found["state"], found["commits"], found["merged_commit"], found["merged_into"]) == ("open", 0, None, None)
    assert len(yard.world.events("worktree.made")) == 2


def test_a_report_of_a_launch_that_is_over_does_not_bring_back_what_was_discarded(yard: Yard):
    task = yard.world.task("w1")
    launch = yard.launch("w1")
    yard.c1.running.clear()
    yard.world.advance(121)
    yard.c1.claim(free_slots=0)
    yard.world.advance(31)
    yard.report(yard.ask("discard", task), done=True, gone=[task])
    yard.told(launch, trouble="The directory is gone.")
    assert yard.worktree(task)["state"] == "discarded"
    assert len(yard.world.events("worktree.made")) == 1


def test_an_agent_and_its_checks_are_told_the_worktrees_directory_also_when_the_project_has_none_any_more(yard: Yard):
    task = yard.world.task("w1")
    process = yard.world.process(yard.launch("w1"))
    process.sign_in()
    assert process.call("get_my_task")["task"]["working_directory"] == f"/w/{task}/sub"
    yard.world.owner.call("edit_project", project_id=yard.world.project_id, settings={"isolation": "none"})
    assert process.call("get_my_task")["task"]["working_directory"] == f"/w/{task}/sub"


# --- whom it waits for -----------------------------------------------------------------------------------------------


def reviews(yard: Yard) -> list[tuple[str, str]]:
    items = yard.world.owner.call("needs_you")["items"]
    return [(item["task_id"], item["text"]) for item in items if item["kind"] == "review"]


def test_work_of_a_completed_task_waits_for_a_persons_review_until_it_is_merged(yard: Yard) -> None:
    task = yard.worked("w1")
    ((about, text),) = reviews(yard)
    assert about == task
    assert "Files changed: 2" in text
    assert "+3 −1" in text
    job = yard.ask("merge", task)
    yard.worktree_jobs()
    yard.report(job, done=True, merged=yard.merged(task))
    assert reviews(yard) == []


def test_a_merge_that_conflicts_is_told_where_people_see_what_needs_them(yard: Yard) -> None:
    task = yard.worked("w1")
    job = yard.ask("merge", task)
    yard.worktree_jobs()
    yard.report(job, done=False, task_id=task, trouble="a conflict in a.py")
    assert reviews(yard) == [(task, "a conflict in a.py")]


def test_a_part_waits_for_a_review_only_where_no_agent_above_decides_and_with_its_whole_as_one(yard: Yard) -> None:
    main = yard.world.task("boss", title="All")
    part = yard.worked("w1", title="Part", parent_task_id=main)
    assert reviews(yard) == []
    yard.work("boss", main)
    assert [about for about, _ in reviews(yard)] == [main]
    assert yard.worktree(part)["state"] == "open"


def test_what_was_merged_can_still_be_looked_at_as_a_job_that_names_the_merge(yard: Yard) -> None:
    task = yard.worked("w1")
    yard.report(yard.ask("merge", task), done=True, merged=yard.merged(task))
    job_id = yard.ask("diff", task)
    (job,) = yard.worktree_jobs()
    assert (job["job_id"], job["path"]) == (job_id, f"/w/{task}")
    assert job["options"]["merged"] == {"commit": f"m-{task}", "base": "b0", "head": "h1"}
    yard.report(job_id, done=True, answer=DIFF)
    assert yard.worktree(task)["state"] == "merged"
    yard.world.advance(GONE_AFTER / SECOND + 1)
    refused = yard.world.owner.refused("diff_task", "notNow", task_id=task)
    assert f"git show m-{task}" in refused["instruction"]


# --- changes that are requested --------------------------------------------------------------------------------------


def sent_back(yard: Yard, task: str, **how: Any) -> str:
    """The task that makes the changes."""
    answer = yard.world.owner.call("request_task_changes", task_id=task, text="Round the prices.", **how)
    made: str = answer["changes_requested"]["task_id"]
    return made


def standing(yard: Yard, task: str) -> tuple[str | None, str | None]:
    found = yard.worktree(task)
    return found["review"], (found["changes_requested"] or {}).get("task_id")


def card(yard: Yard, task: str, **more: Any) -> Answer | None:
    cards = yard.world.owner.call("show_board", project_id=yard.world.project_id, **more)["tasks"]
    return next((each for each in cards if each["task_id"] == task), None)


def test_requested_changes_are_made_by_a_task_of_the_same_agent_that_starts_from_the_work(yard: Yard) -> None:
    task = yard.worked("w1", title="Prices", priority="high")
    made = yard.world.owner.call("show_task", task_id=sent_back(yard, task))["task"]
    assert (made["title"], made["description"]) == ("Changes to: Prices", "Round the prices.")
    assert (made["assignee_id"], made["priority"], made["status"]) == ("w1", "high", "in_progress")
    assert made["dependencies"] == [task]
    yard.world.advance(3600)
    assert yard.launch("w1")["workspace"]["bases"] == [task]
    (event,) = yard.world.events("worktree.changes_requested")
    assert (event["task_id"], event["data"]["in"]) == (task, made["task_id"])


def test_requested_changes_can_come_with_the_command_that_makes_them(yard: Yard) -> None:
    task = yard.worked("w1", title="Prices")
    made = sent_back(yard, task, context={"command": "round prices", "changes_to": "tsk_other"})
    assert yard.world.owner.call("show_task", task_id=made)["task"]["context"] == {
        "command": "round prices",
        "changes_to": task,
    }
    counted = yard.worked("w2", context={"command": "count >> prices", "colour": "red"})
    again = yard.world.owner.call("show_task", task_id=sent_back(yard, counted))["task"]["context"]
    assert again == {"colour": "red", "changes_to": counted}, "the same command, once more, would count twice"
    refused = {"task_id": task, "text": "More", "context": ["round"]}
    yard.world.owner.refused("request_task_changes", "validationError", **refused)


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_what_was_sent_back_waits_for_nobody_until_the_task_that_changes_it_ends(yard: Yard, end: str) -> None:
    task = yard.worked("w1")
    assert standing(yard, task) == ("to_review", None)
    made = sent_back(yard, task)
    assert standing(yard, task) == ("changes_requested", made)
    assert yard.world.owner.call("show_task", task_id=task)["task"]["changes_requested"]["task_id"] == made
    assert reviews(yard) == []
    seen = yard.world.owner.call("show_board", project_id=yard.world.project_id)
    shown = card(yard, task)
    assert shown is not None
    assert shown["changes_requested"] == made
    yard.world.owner.call("move_task", task_id=made, status=end, reason="over")
    assert standing(yard, task) == ("to_review", None)
    assert yard.world.owner.call("show_task", task_id=task)["task"]["changes_requested"] is None
    assert [about for about, _ in reviews(yard)] == [task]
    changed = card(yard, task, after=seen["last_event"])
    assert changed is not None, "the card of the reviewed task has to be read again"
    assert changed["changes_requested"] is None


def test_what_was_sent_back_is_merged_only_where_somebody_says_so(yard: Yard) -> None:
    task = yard.worked("w1", title="Prices")
    made = sent_back(yard, task, title="Round them")
    refused = yard.world.owner.refused("merge_task", "notNow", task_id=task)
    assert refused["changes_requested"] == made
    assert "Round them" in refused["message"]
    assert yard.world.owner.call("merge_task", task_id=task, anyway=True)["task_ids"] == [task]


def test_a_part_that_was_sent_back_holds_up_the_merge_of_the_whole(yard: Yard) -> None:
    main = yard.world.task("boss", title="All")
    part = yard.worked("w1", title="Part", parent_task_id=main)
    yard.work("boss", main)
    made = sent_back(yard, part)
    assert yard.world.owner.refused("merge_task", "notNow", task_id=main)["changes_requested"] == made
    shown = yard.world.show(made)
    assert (shown["assignee_id"], shown["dependencies"]) == ("w1", [main]), "by its author, from where the work is now"
    assert yard.world.owner.call("merge_task", task_id=main, anyway=True)["task_ids"] == [part, main]


def test_a_task_that_only_depends_on_the_work_or_that_an_agent_has_filed_requests_nothing(yard: Yard) -> None:
    main = yard.world.task("boss", title="All")
    task = yard.worked("w1", title="Part")
    yard.world.task("w2", title="Next", dependencies=[task], status="todo")
    yard.world.task("w2", title="Other", status="todo", context={"changes_to": task})
    boss = yard.world.process(yard.launch("boss"))
    boss.sign_in()
    boss.call("report_model", provider="claude", model_id="model-1")
    boss.call("get_my_task")
    filed = {"title": "Sly", "description": "d", "dependencies": [task], "local_id": "a"}
    named = {**filed, "context": {"changes_to": task}}
    refused = boss.refused("create_tasks_batch", "validationError", parent_task_id=main, tasks=[named])
    assert "request_changes" in refused["instruction"]
    boss.call("create_tasks_batch", parent_task_id=main, tasks=[filed])
    assert standing(yard, task) == ("to_review", None)
    assert [about for about, _ in reviews(yard)] == [task]


def test_changes_are_requested_of_completed_tasks_only_and_by_who_may_write(yard: Yard) -> None:
    going = yard.world.task("w1")
    refused = yard.world.owner.refused("request_task_changes", "invalidTransition", task_id=going, text="More")
    assert "toryo task steer" in refused["instruction"]
    yard.world.owner.refused("request_task_changes", "validationError", task_id=going, text="  ")
    yard.ended(yard.launch("w1"))
    yard.world.owner.call("move_task", task_id=going, status="completed")
    for who in (yard.c1, yard.world.nobody, yard.world.member("eve")):
        assert who.ask("request_task_changes", task_id=going, text="More").refused, who


def test_who_has_other_work_gets_the_changes_to_do_later_and_the_answer_says_why(yard: Yard) -> None:
    task = yard.worked("w1")
    yard.world.task("w1", title="Busy")
    answer = yard.world.owner.call("request_task_changes", task_id=task, text="More")
    assert answer["changes_requested"]["status"] == "todo"
    assert "w1" in answer["waits"]
    assert reviews(yard) == []


def test_how_each_worktree_stands_is_told_with_who_did_it(yard: Yard) -> None:
    main = yard.world.task("boss", title="All")
    part = yard.worked("w1", title="Part", parent_task_id=main)
    assert standing(yard, part) == ("left_to_agent", None)
    yard.work("boss", main)
    assert (standing(yard, part), standing(yard, main)) == (("with_parent", None), ("to_review", None))
    going = yard.world.task("w2", title="Going")
    launch = yard.launch("w2")
    assert standing(yard, going) == (None, None)
    yard.told(launch, head_commit="h", commits=1, files_changed=1)
    assert standing(yard, going) == ("at_work", None)
    listed = yard.world.owner.call("list_worktrees", project_id=yard.world.project_id, state="open")["worktrees"]
    assert {(each["title"], each["assignee_id"], each["review"]) for each in listed} == {
        ("All", "boss", "to_review"),
        ("Part", "w1", "with_parent"),
        ("Going", "w2", "at_work"),
    }


def test_a_diff_that_waits_already_is_not_asked_for_again(yard: Yard) -> None:
    task = yard.worked("w1")
    asked = {yard.world.owner.call("diff_task", task_id=task)["job_id"] for _ in range(5)}
    assert len(asked) == 1
    other = yard.world.owner.call("diff_task", task_id=task, context=5)["job_id"]
    assert other not in asked
    assert [job["job_id"] for job in yard.worktree_jobs()] == [*asked, other]
    later = yard.world.owner.call("diff_task", task_id=task)["job_id"]  # the files may have changed since it was taken
    assert later not in asked


def test_nobody_asks_for_more_diffs_than_some_at_once_and_others_still_may(yard: Yard) -> None:
    task = yard.worked("w1")
    world = yard.world
    world.owner.call("add_person", person_id="vic", login="viewer")
    viewer = as_person(world, "vic")
    for context in range(MOST_WAITING):
        viewer.call("diff_task", task_id=task, context=context)
    refusal = viewer.refused("diff_task", Code.RATE_LIMITED, task_id=task, context=100)
    assert refusal["limit"] == MOST_WAITING
    world.owner.call("diff_task", task_id=task, context=100)


def test_the_changes_of_open_work_are_not_asked_for_as_those_of_a_merge(yard: Yard) -> None:
    yard.ask("diff", yard.worked("w1"))
    (job,) = yard.worktree_jobs()
    assert "merged" not in job["options"]


def test_only_the_newest_answers_of_a_task_are_kept(yard: Yard) -> None:
    task = yard.worked("w1")
    jobs: list[str] = []
    nothing = {"patch": "", "files": [], "files_in_all": 0, "truncated": False, "head": "h0", "base": "b0"}
    for _ in range(MOST_KEPT + 3):
        jobs.append(yard.world.owner.call("diff_task", task_id=task)["job_id"])
        yard.worktree_jobs()
        yard.report(jobs[-1], done=True, answer=nothing)
    assert len(yard.world.rows(schema.worktree_jobs)["worktree_jobs"]) == MOST_KEPT + 1
    yard.world.owner.call("show_worktree_job", job_id=jobs[-1])
    yard.world.owner.refused("show_worktree_job", Code.WORKTREE_JOB_NOT_FOUND, job_id=jobs[0])


# --- a base that nobody has moved -------------------------------------------------------------------------------------

MOVED = {"commit": "c0ffee", "words": "main was moved."}


def moved_bases(yard: Yard) -> list[Answer]:
    found = [each for each in yard.world.owner.call("needs_you")["items"] if each["kind"] == "merge_queue"]
    assert {each["text"] for each in found} <= {MOVED["words"]}
    return found


def test_a_base_that_nobody_has_moved_is_told_to_the_owners_while_the_work_goes_on_and_once_for_all_tasks(yard: Yard):
    tasks = [yard.world.task(agent) for agent in ("w1", "w2")]
    for agent in ("w1", "w2"):
        yard.told(yard.launch(agent), head_commit="h1", moved_base=MOVED)
    (need,) = moved_bases(yard)
    assert need["title"] == "Merges into main are on hold until you review the branch"
    assert f"toryo task merge {need['task_id']} --anyway" in [each["command"] for each in need["actions"]]
    assert [each["data"] for each in yard.world.events("worktree.base_moved")] == [
        {"branch": "main", "commit": "c0ffee"}
    ] * 2
    assert [yard.worktree(task)["trouble"] for task in tasks] == [MOVED["words"]] * 2


@pytest.mark.parametrize("look", ["launch", "diff", "merge"])
def test_a_moved_base_is_settled_for_all_tasks_by_the_next_look_that_finds_nothing(yard: Yard, look: str):
    done = yard.worked("w1")
    yard.world.task("w2")
    other = yard.launch("w2")
    yard.told(other, head_commit="h1", moved_base=MOVED)
    job_id = yard.ask("merge", done)
    yard.worktree_jobs()
    yard.report(job_id, done=False, task_id=done, trouble=MOVED["words"], moved_base=MOVED, answer={"anyway": True})
    assert yard.job(job_id)["answer"]["anyway"] is True
    assert len(moved_bases(yard)) == 1
    if look == "launch":
        yard.told(other, head_commit="h2")
    else:
        again = yard.ask(look, done)
        yard.worktree_jobs()
        how = {"merged": yard.merged(done)} if look == "merge" else {"answer": DIFF}
        yard.report(again, done=True, **how)
    assert moved_bases(yard) == []
    assert yard.worktree(done)["trouble"] is None


def test_a_base_that_was_moved_once_more_stays_a_need_of_all_tasks(yard: Yard):
    tasks = [yard.world.task(agent) for agent in ("w1", "w2")]
    launches = [yard.launch(agent) for agent in ("w1", "w2")]
    for launch in launches:
        yard.told(launch, head_commit="h1", moved_base=MOVED)
    yard.told(launches[0], head_commit="h1", moved_base={**MOVED, "commit": "decaf"})
    assert [yard.worktree(task)["trouble"] for task in tasks] == [MOVED["words"]] * 2


def test_a_start_says_nothing_about_the_base_and_only_what_was_told_is_accepted(yard: Yard):
    task = yard.world.task("w1")
    launch = yard.launch("w1")
    yard.told(launch, head_commit="h1", moved_base=MOVED)
    yard.told(launch)
    assert len(moved_bases(yard)) == 1
    yard.world.owner.call("move_task", task_id=task, status="completed")
    yard.c1.exited(launch["launch_id"], exit_code=0)
    yard.ask("merge", task, anyway=True)
    (job,) = yard.worktree_jobs()
    assert (job["options"]["anyway"], job["options"]["order"][0]["accepts"]) == (True, MOVED["commit"])


# --- a task keeps its place -------------------------------------------------------------------------------------------


def _set(yard: Yard, isolation: str) -> None:
    yard.world.owner.call("edit_project", project_id=yard.world.project_id, settings={"isolation": isolation})


def _again(yard: Yard, task: str, agent_id: str = "w1") -> Answer:
    """It is continued: the launch."""
    yard.world.move(task, "in_progress")
    (launch,) = yard.c1.claim(agent_ids=[agent_id], free_slots=1)["start"]
    yard.c1.running.append(launch["launch_id"])
    assert isinstance(launch, dict)
    return launch


def _blocked(yard: Yard, launch: Answer, *, worktree: bool) -> None:
    process = yard.world.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    process.call("get_my_task")
    process.call("report_completed", result="blocked", summary="I need a key.")
    if worktree:
        yard.told(launch, head_commit="h1", commits=1)
    yard.c1.exited(launch["launch_id"], exit_code=0)


def test_a_task_that_has_a_worktree_goes_on_in_it_whatever_the_project_says_since(yard: Yard) -> None:
    task = yard.world.task("w1")
    first = yard.launch("w1")
    _blocked(yard, first, worktree=True)
    _set(yard, "none")
    launch = _again(yard, task)
    assert (launch["workspace"]["isolation"], launch["workspace"]["name"]) == ("worktree", task)
    yard.told(launch)
    process = yard.world.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    assert process.call("get_my_task")["task"]["working_directory"] == f"/w/{task}/sub"
    yard.world.task("w2")
    (other,) = yard.c1.claim(agent_ids=["w2"], free_slots=1)["start"]
    assert other["workspace"] == {"isolation": "none"}


def test_its_files_are_on_one_machine_all_the_same(yard: Yard) -> None:
    task = yard.world.task("w1")
    _blocked(yard, yard.launch("w1"), worktree=True)
    _set(yard, "none")
    yard.world.move(task, "in_progress")
    assert yard.world.coordinator("c2").claim(agent_ids=["w1"], free_slots=1)["start"] == []


def test_a_task_that_was_begun_in_the_projects_directory_goes_on_there(yard: Yard) -> None:
    _set(yard, "none")
    task = yard.world.task("w1")
    (first,) = yard.c1.claim(agent_ids=["w1"], free_slots=1)["start"]
    yard.c1.running.append(first["launch_id"])
    assert first["workspace"] == {"isolation": "none"}
    _blocked(yard, first, worktree=False)
    _set(yard, "worktree")
    assert _again(yard, task)["workspace"] == {"isolation": "none"}
    yard.world.task("w2")
    assert yard.launch("w2")["workspace"]["isolation"] == "worktree"


def test_once_its_work_is_merged_it_begins_where_the_project_says(yard: Yard) -> None:
    task = yard.world.task("w1")
    _blocked(yard, yard.launch("w1"), worktree=True)
    job = yard.ask("merge", task)
    yard.worktree_jobs()
    yard.report(job, done=True, merged=yard.merged(task))
    _set(yard, "none")
    assert _again(yard, task)["workspace"] == {"isolation": "none"}


# --- a merge, and a worktree that stays -------------------------------------------------------------------------------


def test_a_merged_worktree_that_stays_says_why_and_can_be_discarded(yard: Yard) -> None:
    task = yard.worked("w1")
    job = yard.ask("merge", task)
    yard.worktree_jobs()
    (one,) = yard.merged(task)
    yard.report(job, done=True, merged=[{**one, "kept": "/w/t was not removed. sub/ exists nowhere else."}])
    told = yard.job(job)
    assert (told["done"], told["answer"]["merged"][0]["kept"]) == (
        True,
        "/w/t was not removed. sub/ exists nowhere else.",
    )
    shown = yard.worktree(task)
    assert (shown["state"], shown["merged_into"], shown["trouble"]) == (
        "merged",
        "main",
        told["answer"]["merged"][0]["kept"],
    )
    yard.world.owner.refused("merge_task", Code.WORKTREE_NOT_FOUND, task_id=task)
    gone = yard.ask("discard", task)
    yard.worktree_jobs()
    yard.report(gone, done=True, gone=[task])
    assert (yard.worktree(task)["state"], yard.worktree(task)["trouble"]) == ("merged", None)
    yard.world.owner.refused("discard_task_work", Code.WORKTREE_NOT_FOUND, task_id=task)
