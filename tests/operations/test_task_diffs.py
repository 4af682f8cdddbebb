"""`get_diff`: agents read what a task has changed, in pages, without a shell; only what belongs to their work."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_acceptance_checks import reporting
from tests.operations.test_review_checks import shown
from tests.operations.test_worktrees import DIFF, Yard
from tests.stories import Answer, Process, World
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.errors import Code
from toryo.domain.times import SECOND
from toryo.operations.calls.dispatch import Outcome
from toryo.operations.calls.pagination import cursor_of
from toryo.operations.worktrees.diff_tools import PAGE, STAYS


def patch_of(path: str, *lines: str) -> str:
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
    return head + "".join(f"+{line}\n" for line in lines)


def change(path: str, **more: Any) -> Answer:
    return {"path": path, "old_path": None, "status": "added", "insertions": 1, "deletions": 0, "binary": False, **more}


def diff_of(*files: tuple[str, str]) -> Answer:
    named = [change(path) for path, _ in files]
    return {**DIFF, "patch": "".join(text for _, text in files), "files": named, "files_in_all": len(files)}


@pytest.fixture
def yard(world: World) -> Yard:
    return Yard(world, workers=3)


def under_review(yard: Yard, reviewer: Answer | None = None) -> tuple[str, Process]:
    """A task of w1 with a worktree, and the process of w2 that reviews it."""
    world = yard.world
    if reviewer is not None:
        world.owner.call("edit_agent", agent_id="w2", **reviewer)
    task = world.task("w1", acceptance=[{"review": {"by": "w2"}}], title="Walls")
    launch = yard.launch("w1")
    author = world.process(launch)
    author.sign_in()
    author.call("report_model", provider="claude", model_id="model-1")
    author.call("get_my_task")
    outcome = reporting(author)
    assert outcome.result is not None and outcome.result["action"] == "exit", outcome.result
    yard.ended(launch)
    process = world.process(yard.launch("w2"))
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    return task, process


def asks(process: Process, **how: Any) -> Outcome:
    """As a caller who waits does."""
    return process.world.perform("get_diff", how, process.credentials, may_wait=True)


def reads(yard: Yard, process: Process, answer: Answer, **how: Any) -> Answer:
    """What the agent gets, once the Coordinator has answered what was asked."""
    outcome = asks(process, **how)
    assert outcome.later is not None, outcome.result
    [job] = [each for each in yard.worktree_jobs() if each["kind"] == "diff"]
    assert outcome.later.topics == {f"worktree_job:{job['job_id']}"}
    yard.report(job["job_id"], done=True, answer=answer)
    found = asks(process, **how)
    assert found.later is None and found.result is not None and not found.refused, found.result
    return dict(found.result)


def described(process: Process) -> str:
    return str(process.call("get_my_task")["task"]["description"])


# --- what is read -----------------------------------------------------------------------------------------------------


def test_a_reviewer_reads_what_the_reviewed_task_has_changed(yard: Yard) -> None:
    task, reviewer = under_review(yard)
    found = reads(yard, reviewer, diff_of(("wall", patch_of("wall", "brick"))))
    assert (found["task_id"], found["base"], found["head"]) == (task, "b0", "h1")
    assert "+brick" in found["patch"]
    assert found["files"] == [{"path": "wall", "status": "added", "insertions": 1, "deletions": 0}]
    assert found["files_in_all"] == 1
    assert "next_cursor" not in found and "truncated" not in found


def test_the_pages_of_a_long_diff_are_the_whole_diff_and_each_is_small(yard: Yard) -> None:
    _, reviewer = under_review(yard)
    files = [(f"f{n}", patch_of(f"f{n}", *(f"line {n} {each}" for each in range(400)))) for n in range(8)]
    files.append(("one-line", patch_of("one-line", "x" * 3 * PAGE)))
    page = reads(yard, reviewer, diff_of(*files))
    pages = [page]
    while "next_cursor" in page:
        page = reviewer.call("get_diff", cursor=page["next_cursor"])
        assert "files" not in page
        pages.append(page)
    assert "".join(each["patch"] for each in pages) == "".join(text for _, text in files)
    assert all(0 < len(each["patch"]) <= PAGE for each in pages)
    for each in pages[1:]:
        begins = each["patch"].startswith("diff --git ")
        assert ("continues" in each) is not begins, "a page says in which file it begins"
    assert yard.worktree_jobs() == [], "the pages are of one diff"


def test_one_file_or_directory_is_read_alone_and_costs_no_other_diff(yard: Yard) -> None:
    _, reviewer = under_review(yard)
    files = [(path, patch_of(path, path)) for path in ("src/a", "src/b/c", "srcs", "doc")]
    reads(yard, reviewer, diff_of(*files))
    for path, within in (("src", ["src/a", "src/b/c"]), ("./src/b/", ["src/b/c"]), ("doc", ["doc"]), ("x", [])):
        outcome = asks(reviewer, path=path)
        assert outcome.result is not None
        assert [each["path"] for each in outcome.result["files"]] == within
        assert [line[1:] for line in outcome.result["patch"].splitlines() if line[:2] in ("+s", "+d")] == within
    assert yard.worktree_jobs() == []


def test_what_the_diff_cannot_show_is_said(yard: Yard) -> None:
    _, reviewer = under_review(yard)
    many = [change(f"f{n}", status="renamed", old_path=f"g{n}", binary=True) for n in range(500)]
    answer = {**DIFF, "files": many, "files_in_all": 2_500, "truncated": True}
    found = reads(yard, reviewer, answer)
    assert found["truncated"] is True and found["files_in_all"] == 2_500
    assert 0 < len(found["files"]) <= 100
    assert (found["files"][0]["old_path"], found["files"][0]["binary"]) == ("g0", True)


def test_a_diff_that_cannot_be_made_is_refused_and_the_reason_stands_beside_the_sentence(yard: Yard) -> None:
    _, reviewer = under_review(yard)
    assert asks(reviewer).later is not None
    [job] = yard.worktree_jobs()
    yard.report(job["job_id"], done=False, trouble="The directory is gone.")
    refusal = reviewer.refused("get_diff", Code.NOT_NOW)
    assert (refusal["message"], refusal["trouble"]) == ("The changes cannot be shown.", "The directory is gone.")


def test_who_does_not_wait_is_told_to_ask_again_and_gets_that_diff(yard: Yard) -> None:
    _, reviewer = under_review(yard)
    assert "again" in reviewer.refused("get_diff", Code.NOT_NOW)["instruction"]
    [job] = yard.worktree_jobs()
    assert "again" in reviewer.refused("get_diff", Code.NOT_NOW)["instruction"]
    assert yard.worktree_jobs() == []
    yard.report(job["job_id"], done=True, answer=DIFF)
    assert reviewer.call("get_diff")["patch"] == "+1"


def test_a_diff_is_made_anew_after_a_while_and_once_somebody_has_worked_there(yard: Yard) -> None:
    world = yard.world
    main = world.task("boss", title="All")
    part = world.task("w1", title="Part", parent_task_id=main)
    at_work = yard.launch("w1")
    lead = world.process(yard.launch("boss"))
    lead.sign_in()
    lead.call("report_model", provider="claude", model_id="model-1")
    reads(yard, lead, DIFF, task_id=part)
    assert asks(lead, task_id=part).later is None
    world.now += STAYS
    reads(yard, lead, DIFF, task_id=part)
    assert asks(lead, task_id=part).later is None
    world.now += SECOND
    yard.told(at_work, head_commit="h2", commits=2, files_changed=2, insertions=3, deletions=1)
    assert asks(lead, task_id=part).later is not None


def test_a_diff_stays_readable_after_the_work_was_merged(yard: Yard) -> None:
    world = yard.world
    part = yard.worked("w1", title="Part")
    world.task("boss", dependencies=[part])
    job = yard.ask("merge", part)
    yard.worktree_jobs()
    yard.report(job, done=True, merged=yard.merged(part))
    lead = world.process(yard.launch("boss"))
    lead.sign_in()
    lead.call("report_model", provider="claude", model_id="model-1")
    assert asks(lead, task_id=part).later is not None
    [asked] = yard.worktree_jobs()
    assert asked["options"]["merged"]["commit"] == f"m-{part}"


# --- who may ---------------------------------------------------------------------------------------------------------


def test_an_agent_reads_only_what_belongs_to_its_own_work(yard: Yard) -> None:
    task, reviewer = under_review(yard)
    other = yard.worked("w3", title="Other")
    reviewer.refused("get_diff", Code.PERMISSION_DENIED, task_id=other)
    reviewer.refused("get_diff", Code.TASK_NOT_FOUND, task_id="tsk_unknown")
    found = reads(yard, reviewer, DIFF, task_id=task)
    assert found["task_id"] == task
    yard.world.owner.call("diff_task", task_id=other)
    [job] = yard.worktree_jobs()
    yard.report(job["job_id"], done=True, answer=DIFF)
    reviewer.refused("get_diff", Code.PERMISSION_DENIED, cursor=cursor_of(job["job_id"], 0, ""))
    reviewer.refused("get_diff", Code.NOT_NOW, cursor=cursor_of("wjb_unknown", 0, ""))
    reviewer.refused("get_diff", Code.VALIDATION_ERROR, cursor="nonsense")


def test_without_a_worktree_the_refusal_says_so(world: World) -> None:
    world.crew(workers=2)
    world.task("w1")
    worker = world.start("w1")
    worker.refused("get_diff", Code.WORKTREE_NOT_FOUND)


def test_where_the_machine_with_the_files_is_away_the_reviewer_is_told_to_read_them_itself(yard: Yard) -> None:
    _, reviewer = under_review(yard)
    yard.world.now += GONE_AFTER + 1
    refusal = reviewer.refused("get_diff", Code.NOT_NOW)
    assert "Coordinator" not in refusal["message"] and "working directory" in refusal["instruction"]


@pytest.mark.parametrize("isolation", ["worktree", "none"])
def test_the_tool_is_listed_for_reviewers_and_managers_where_tasks_have_worktrees(world: World, isolation: str) -> None:
    world.crew(workers=3, decomposition="never", isolation=isolation)
    world.task("w1", acceptance=[{"review": {"by": "w2"}}])
    world.task("w3")
    world.task("boss")
    reporting(world.start("w1"))

    def lists(agent: str) -> bool:
        found = world.dispatcher.list_tools(world.start(agent).credentials)
        return "get_diff" in {each.name for each in found}

    listed = {agent: lists(agent) for agent in ("w2", "boss", "w3")}
    assert listed == {"w2": isolation == "worktree", "boss": isolation == "worktree", "w3": False}


def test_a_reviewer_is_not_offered_to_divide_its_review(world: World) -> None:
    world.crew(workers=2, decomposition="never")
    world.task("w1", acceptance=[{"review": {"by": "w2"}}])
    author = world.start("w1")
    assert "create_tasks_batch" in {each.name for each in world.dispatcher.list_tools(author.credentials)}
    reporting(author)
    names = {each.name for each in world.dispatcher.list_tools(world.start("w2").credentials)}
    assert "submit_review" in names and "create_tasks_batch" not in names


# --- what reviewers are told -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reviewer", "has_shell"),
    [
        ({"provider": "claude"}, False),
        ({"provider": "claude", "provider_options": {"permissions": "read"}}, False),
        ({"provider": "claude", "provider_options": {"permissions": "full"}}, True),
        ({"provider": "gemini", "provider_options": {"permissions": "edit"}}, False),
        ({"provider": "codex", "provider_options": {"permissions": "read"}}, True),
        ({"provider": "house-agent"}, True),
    ],
)
def test_a_reviewer_is_told_commands_only_where_its_program_has_a_shell(
    yard: Yard, reviewer: Answer, has_shell: bool
) -> None:
    task, process = under_review(yard, reviewer)
    told = described(process)
    assert "get_diff" in told
    assert ("git diff b0 HEAD" in told) is has_shell
    assert ("run what helps" in told) is has_shell
    assert shown(yard.world, task)["checks"] == "in_review"
