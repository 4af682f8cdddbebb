"""The combined diff of several tasks at the server: what is asked of which Coordinator, who sees it, and what is told
of tasks whose changes do not come."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_worktrees import Yard, sent_back
from tests.stories import Answer, Refused, World
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.times import SECOND
from toryo.operations.worktrees.combined import MOST_LETTERS, MOST_TASKS


@pytest.fixture
def yard(world: World) -> Yard:
    return Yard(world)


def ask(yard: Yard, *tasks: str, **how: Any) -> Answer:
    answer: Answer = yard.world.owner.call(
        "ask_combined_diff", project_id=yard.world.project_id, task_ids=list(tasks), **how
    )
    return answer


def asked_of(asked: Answer) -> dict[str, str]:
    return {each["task_id"]: each["job_id"] for each in asked["jobs"]}


def show(yard: Yard, asked: Answer) -> Answer:
    jobs = list(asked_of(asked).values())
    answer: Answer = yard.world.owner.call("show_combined_diff", project_id=yard.world.project_id, job_ids=jobs)
    return answer


def patch(*lines: str, path: str = "f", at: int = 1) -> Answer:
    """A Coordinator's answer: these lines stand in the place of one."""
    body = "".join(f"+{line}\n" for line in lines)
    text = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{at} +{at},{len(lines)} @@\n-old\n{body}"
    file = {"path": path, "old_path": None, "status": "modified", "insertions": len(lines), "deletions": 1}
    files = [{**file, "binary": False}]
    return {"patch": text, "files": files, "files_in_all": 1, "truncated": False, "head": "h0", "base": "b0"}


def told(yard: Yard, asked: Answer, **answers: Answer) -> Answer:
    """The combined diff, after the Coordinator has answered all jobs; `t_…`: of this task."""
    jobs = asked_of(asked)
    for task_id, answer in answers.items():
        yard.report(jobs[task_id], done=True, answer=answer)
    return show(yard, asked)


def test_each_hunk_has_its_task_and_what_conflicts_with_the_fewest_is_merged_first(yard: Yard) -> None:
    walls, roof, door = (yard.worked("w1", title=title) for title in ("Walls", "Roof", "Door"))
    asked = ask(yard, walls, roof, door)
    jobs = yard.worktree_jobs()
    assert {(job["kind"], job["options"]["most"]) for job in jobs} == {("diff", MOST_LETTERS // 3)}
    found = told(yard, asked, **{walls: patch("a"), roof: patch("b"), door: patch("c", path="e")})
    assert [each["worktree"]["title"] for each in found["order"]] == ["Door", "Walls", "Roof"]
    assert [(each["path"], each["overlap"]) for each in found["files"]] == [("f", "conflict"), ("e", None)]
    assert [each["task_ids"] for each in found["files"][0]["hunks"]] == [[walls], [roof]]
    assert found["files"][0]["meetings"] == [
        {"kind": "conflict", "task_ids": [walls, roof], "lines": [1, 1], "exact": True}
    ]
    assert [each["conflicts_with"] for each in found["order"]] == [[], [roof], [walls]]
    assert (found["missing"], found["waiting"], found["truncated"]) == ([], [], False)


def test_a_parent_stands_for_its_subtasks_and_what_others_depend_on_is_merged_first(yard: Yard) -> None:
    main = yard.world.task("boss", title="All")
    first = yard.worked("w1", title="First", parent_task_id=main)
    second = yard.world.task("w2", title="Second", parent_task_id=main, dependencies=[first])
    yard.work("w2", second)
    yard.work("boss", main)
    asked = ask(yard, main)
    assert list(asked_of(asked)) == [first, second, main]
    found = told(yard, asked, **{main: patch("a"), second: patch("b"), first: patch("c")})
    assert [(each["worktree"]["title"], each["after"]) for each in found["order"]] == [
        ("First", []),
        ("Second", [first]),
        ("All", [first, second]),
    ]
    assert {each["kind"] for each in found["files"][0]["meetings"]} == {"builds_on"}
    assert list(asked_of(ask(yard, main, below=False))) == [main]


def test_what_depends_on_another_through_a_task_that_is_not_chosen_is_merged_after_it(yard: Yard) -> None:
    first = yard.worked("w1", title="First")
    between = yard.world.task("w2", title="Between", dependencies=[first])
    last = yard.world.task("w1", title="Last", dependencies=[between], status="todo")
    yard.work("w2", between)
    yard.world.move(last, "in_progress")
    yard.work("w1", last)
    found = told(yard, asked := ask(yard, last, first), **{first: patch("a"), last: patch("b")})
    assert asked["missing"] == []
    assert [each["worktree"]["task_id"] for each in found["order"]] == [first, last]


def test_what_cannot_be_had_is_named_with_its_reason_and_the_rest_is_shown(yard: Yard) -> None:
    here, merged, broken, gone = (yard.worked("w1", title=title) for title in ("Here", "Merged", "Broken", "Gone"))
    yard.report(yard.ask("merge", merged), done=True, merged=yard.merged(merged))
    asked = ask(yard, here, merged, broken, gone)
    assert [(each["title"], each["message"]) for each in asked["missing"]] == [
        ("Merged", f"The work of task {merged} was already merged into main.")
    ]
    jobs = asked_of(asked)
    yard.report(jobs[here], done=True, answer=patch("a"))
    yard.report(jobs[broken], done=False, trouble="git is missing", task_id=broken)
    assert show(yard, asked)["waiting"] == [jobs[gone]]
    yard.report(jobs[gone], done=True, answer=patch("b"))
    yard.report(yard.ask("discard", gone), done=True, gone=[gone])
    found = show(yard, asked)
    assert [each["worktree"]["title"] for each in found["order"]] == ["Here"]
    assert [(each["title"], each["message"]) for each in found["missing"]] == [
        ("Broken", "git is missing"),
        ("Gone", "It was merged or discarded in the meantime."),
    ]


def test_where_a_coordinator_is_away_its_tasks_are_missing_and_the_reason_names_it(yard: Yard) -> None:
    task = yard.worked("w1")
    yard.world.advance(GONE_AFTER / SECOND + 1)
    asked = ask(yard, task)
    assert asked["jobs"] == []
    assert "c1" in asked["missing"][0]["message"]


def test_more_tasks_than_fit_are_refused_with_how_many_there_may_be(yard: Yard) -> None:
    yard.world.owner.call(
        "edit_project",
        project_id=yard.world.project_id,
        settings={"open_subtasks": 60, "subtasks_ever": 60, "worker_subtasks": 60},
    )
    main = yard.world.task("boss", title="All")
    for number in range(MOST_TASKS + 1):
        yard.worked("w1", title=f"Part {number}", parent_task_id=main)
    refused = yard.world.owner.refused(
        "ask_combined_diff", "tooLarge", project_id=yard.world.project_id, task_ids=[main]
    )
    assert f"{MOST_TASKS} can be combined" in refused["message"]
    assert yard.worktree_jobs() == []
    too_many = [f"tsk_{number}" for number in range(MOST_TASKS + 1)]
    yard.world.owner.refused("ask_combined_diff", "tooLarge", project_id=yard.world.project_id, task_ids=too_many)


def test_a_diff_that_is_larger_than_its_share_is_cut_and_says_so_even_where_the_coordinator_did_not(
    yard: Yard,
) -> None:
    large, small = yard.worked("w1", title="Large"), yard.worked("w1", title="Small")
    lines = ["x" * 100] * (MOST_LETTERS // 150)
    found = told(yard, ask(yard, large, small), **{large: patch(*lines), small: patch("b")})
    assert {each["worktree"]["title"]: each["truncated"] for each in found["order"]} == {"Large": True, "Small": False}
    assert found["truncated"] is True
    assert found["files"][0]["overlap"] == "unknown"
    assert sum(len(hunk["text"]) for hunk in found["files"][0]["hunks"]) < MOST_LETTERS
    assert {each["task_id"]: each["cut"] for each in found["files"][0]["changes"]} == {large: True, small: False}


def test_an_answer_of_a_coordinator_that_holds_nothing_breaks_nothing(yard: Yard) -> None:
    task = yard.worked("w1")
    found = told(yard, ask(yard, task), **{task: {}})
    assert [each["worktree"]["task_id"] for each in found["order"]] == [task]
    assert all(file["hunks"] == [] for file in found["files"])


@pytest.mark.parametrize("answer", [{"patch": 3, "files": "x"}, {"patch": "@@", "files": [1, {"path": 2}, {}]}])
def test_nonsense_of_a_coordinator_is_refused_and_its_task_still_waited_for(yard: Yard, answer: Answer) -> None:
    asked = ask(yard, yard.worked("w1"))
    with pytest.raises(Refused):
        told(yard, asked, **{asked["jobs"][0]["task_id"]: answer})
    assert show(yard, asked)["waiting"] == [asked["jobs"][0]["job_id"]]


def test_who_may_see_a_tasks_changes_sees_them_here_and_nobody_else(yard: Yard) -> None:
    task = yard.worked("w1")
    project = yard.world.project_id
    asked = ask(yard, task)
    jobs = list(asked_of(asked).values())
    process = yard.world.process(launched(yard))
    process.sign_in()
    for who in (yard.c1, yard.world.nobody, yard.world.member("eve"), process):
        assert who.ask("ask_combined_diff", project_id=project, task_ids=[task]).refused, who
        assert who.ask("show_combined_diff", project_id=project, job_ids=jobs).refused, who
    yard.world.owner.call("create_project", id="other", name="Other", working_directory="/srv/other")
    yard.world.owner.refused("ask_combined_diff", "taskNotFound", project_id="other", task_ids=[task])
    yard.world.owner.refused("show_combined_diff", "worktreeJobNotFound", project_id="other", job_ids=jobs)
    merging = yard.ask("merge", task)
    yard.world.owner.refused("show_combined_diff", "worktreeJobNotFound", project_id=project, job_ids=[merging])


def launched(yard: Yard) -> Answer:
    yard.world.task("w2", title="Other")
    return yard.launch("w2")


def test_how_each_task_stands_is_told_with_it(yard: Yard) -> None:
    task = yard.worked("w1", title="Prices")
    made = sent_back(yard, task)
    found = told(yard, ask(yard, task), **{task: patch("a")})
    (one,) = found["order"]
    assert one["worktree"]["review"] == "changes_requested"
    assert one["worktree"]["changes_requested"]["task_id"] == made
