"""Jobs of the merge queue with real git and real checks: what reaches the target, and what is found out about a batch.

The promise: whatever happens, the target is only ever moved forward, to a commit on which every check has passed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.test_task_worktrees import PROJECT
from tests.coordinator.test_worktrees import first, make, nobody, place, repository, worked
from tests.repositories import Repository
from toryo.coordinator import queue_merges, worktrees
from toryo.coordinator.orders import WorktreeJob
from toryo.coordinator.sandbox import Walled
from toryo.coordinator.worktrees import combining, commits_and_diffs
from toryo.coordinator.worktrees.repository import open_checkout
from toryo.output_redaction import Mask

__all__ = ["first", "nobody", "place", "repository"]

Queue = Callable[..., dict[str, Any]]


def batch(repository: Repository, place: Path, *names: str, checks: Any = (), **more: Any) -> WorktreeJob:
    """Each task an entry of its own; `covered` of the last one: what it was to correct."""
    base = repository.git("rev-list", "--max-parents=0", "main")

    def item(name: str) -> dict[str, str]:
        return {"task_id": name, "path": str(place / PROJECT / name), "title": name.upper(), "base": base}

    entries: list[dict[str, Any]] = [
        {
            "entry_id": f"e-{name}",
            "task_id": name,
            "order": [item(name)],
            "covered": [],
            "by": "lena",
            "name": "Lena",
            "email": "",
        }
        for name in names
    ]
    if "covered" in more:
        entries[-1]["covered"] = [item(name) for name in more.pop("covered")]
    options = {"into": "main", "entries": entries, "checks": list(checks), **more}
    for each in entries:
        for one in (*each["order"], *each["covered"]):
            one["into"] = options["into"]
    return WorktreeJob("job_1", "queue_merge", names[0], PROJECT, "", "", str(repository.path), "system", options)


def run(job: WorktreeJob, place: Path, stop: bool = False) -> dict[str, Any]:
    async def once() -> dict[str, Any]:
        event = asyncio.Event()
        if stop:
            event.set()
        return await queue_merges.run(job, place, event, walled, Mask([]))

    return asyncio.run(once())


def walled(directory: Path) -> Any:
    return lambda argv: Walled(tuple(argv), {"PATH": os.environ["PATH"]})


@pytest.fixture
def queue(repository: Repository, place: Path) -> Queue:
    def merged(*names: str, **more: Any) -> dict[str, Any]:
        return run(batch(repository, place, *names, **more), place)

    return merged


def tasks(answer: dict[str, Any]) -> list[str]:
    return [each["task_id"] for each in answer["merged"]]


def untouched(repository: Repository, place: Path) -> None:
    """Nothing is left of a check: no directory, no worktree that git knows."""
    assert list((place / combining.PLACES).glob("*")) == []
    assert combining.PLACES not in repository.git("worktree", "list")
    assert repository.git("status", "--porcelain") == ""


def at_every_commit(repository: Repository, command: str, tmp_path: Path, branch: str = "main") -> int:
    """Runs a command at every commit of the first-parent history; how many there are."""
    commits = repository.git("rev-list", "--first-parent", branch).split()
    for number, commit in enumerate(commits):
        where = tmp_path / f"at-{number}"
        repository.git("worktree", "add", "--quiet", "--detach", str(where), commit)
        assert os.system(f"cd {where} && {command} >/dev/null 2>&1") == 0, repository.git("show", commit)
        repository.git("worktree", "remove", "--force", str(where))
    return len(commits)


def test_one_entry_is_merged_as_one_commit_and_its_worktree_is_removed(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="two\n")
    before = repository.git("rev-parse", "main")
    answer = queue("t1", checks=[{"command": "test -f new"}])
    assert (answer["done"], answer["queue"]["result"], tasks(answer)) == (True, "merged", ["t1"])
    assert repository.git("rev-parse", "main^1") == before
    assert answer["merged"][0]["commit"] == repository.git("rev-parse", "main")
    assert "Toryo-Task: t1" in repository.git("log", "-1", "--format=%B")
    assert repository.git("log", "-1", "--format=%an") == "Lena"
    assert (repository.path / "new").read_text() == "two\n"
    assert not (place / PROJECT / "t1").exists()
    assert answer["queue"]["evidence"][0]["outcome"] == "passed"
    untouched(repository, place)


def test_checks_of_a_project_in_a_subdirectory_run_there(repository, place, queue):
    inner = repository.path / "inner"
    inner.mkdir()
    (inner / "file").write_text("x\n")
    repository.commit()
    worktree = worktrees.make(inner, place / PROJECT, "t1")
    (worktree.working_directory / "new").write_text("two\n")
    worktrees.keep(worktree, "Work", "w1")
    answer = queue("t1", checks=[{"command": "test -f new"}])
    assert (answer["queue"]["result"], tasks(answer)) == ("merged", ["t1"])


def test_a_batch_is_one_commit_on_the_first_parent_history_and_holds_a_merge_of_each(
    repository, place, queue, tmp_path
):
    for name in ("t1", "t2", "t3"):
        worked(repository, place / PROJECT, name, **{name: "x\n"})
    before = repository.git("rev-parse", "main")
    answer = queue("t1", "t2", "t3", checks=[{"command": "test -f t1 && test -f t2 && test -f t3"}])
    assert tasks(answer) == ["t1", "t2", "t3"]
    assert repository.git("rev-list", "--first-parent", f"{before}..main").split() == [
        repository.git("rev-parse", "main")
    ]
    for each in answer["merged"]:
        assert f"Toryo-Task: {each['task_id']}" in repository.git("log", "-1", "--format=%B", each["commit"])
    assert repository.git("log", "-1", "--format=%s") == "Merge 3 branches"
    untouched(repository, place)


def test_checks_run_on_the_combined_result_and_a_failure_leaves_everything_as_it_was(repository, place, queue):
    worked(repository, place / PROJECT, "t1", left="x\n")
    worked(repository, place / PROJECT, "t2", right="x\n")
    state = repository.state()
    answer = queue("t1", "t2", checks=[{"command": "echo both are there; ! { test -f left && test -f right; }"}])
    assert (answer["done"], answer["queue"]["result"], answer["merged"]) == (False, "failed", [])
    assert answer["trouble"] is None
    evidence = answer["queue"]["evidence"][0]
    assert (evidence["outcome"], evidence["exit_code"]) == ("failed", 1)
    assert "both are there" in evidence["output"]
    assert repository.state() == state
    untouched(repository, place)
    assert queue("t1", checks=[{"command": "! { test -f left && test -f right; }"}])["done"]


def test_a_flaky_check_passes_when_it_runs_again_and_is_reported_as_flaky(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    flaky = f"test -e {place}/once || {{ touch {place}/once; exit 1; }}"
    answer = queue("t1", checks=[{"command": flaky, "retries": 1}])
    assert (answer["done"], answer["queue"]["evidence"][0]["outcome"]) == (True, "flaky")


def test_a_conflict_with_the_target_names_both_sides_and_the_rest_is_merged(repository, place, queue):
    worked(repository, place / PROJECT, "t1", a="mine\n")
    worked(repository, place / PROJECT, "t2", a="yours\n")
    worked(repository, place / PROJECT, "t3", c="x\n")
    assert queue("t1")["done"]
    answer = queue("t2", "t3")
    assert tasks(answer) == ["t3"]
    [conflict] = answer["queue"]["conflicts"]
    assert (conflict["entry_id"], conflict["files"]) == ("e-t2", ["a"])
    assert [each["task_id"] for each in conflict["others"]] == ["t1"]
    assert repository.git("show", "main:a") == "mine"
    assert repository.git("rev-parse", "toryo/t2")


def test_the_other_side_of_a_conflict_can_be_a_persons_commit(repository, place, queue):
    worked(repository, place / PROJECT, "t1", a="mine\n")
    commit = repository.commit("Rename it", a="renamed\n")
    [conflict] = queue("t1")["queue"]["conflicts"]
    assert conflict["others"] == [{"commit": commit, "subject": "Rename it", "task_id": None}]


@pytest.mark.deep
def test_the_other_side_is_found_behind_the_commit_of_a_batch(repository, place, queue):
    worked(repository, place / PROJECT, "late", a="late\n")
    worked(repository, place / PROJECT, "t1", a="mine\n")
    worked(repository, place / PROJECT, "t2", c="x\n")
    assert queue("t2", "t1")["done"]
    [conflict] = queue("late")["queue"]["conflicts"]
    assert [each["task_id"] for each in conflict["others"]] == ["t1"]


def test_a_conflict_with_another_entry_of_the_batch_only_leaves_the_later_one_out(repository, place, queue):
    worked(repository, place / PROJECT, "t1", a="mine\n")
    worked(repository, place / PROJECT, "t2", a="yours\n")
    answer = queue("t1", "t2")
    assert tasks(answer) == ["t1"]
    assert (answer["queue"]["left_out"], answer["queue"]["conflicts"]) == (["e-t2"], [])


@pytest.mark.deep
def test_work_that_resolves_a_conflict_is_merged_with_what_it_corrects(repository, place, queue):
    worked(repository, place / PROJECT, "t1", a="mine\n")
    worked(repository, place / PROJECT, "t2", a="yours\n")
    assert queue("t1")["done"]
    fix = make(repository, place / PROJECT, "t3", "toryo/t2")
    repository.git("merge", "main", at=fix.path, code=1)
    repository.commit("both", at=fix.path, a="mine and yours\n")
    answer = queue("t3", covered=["t2"])
    assert sorted(tasks(answer)) == ["t2", "t3"]
    assert repository.git("show", "main:a") == "mine and yours"
    assert not (place / PROJECT / "t2").exists()


def test_what_is_covered_but_not_contained_stays_where_it_is(repository, place, queue):
    worked(repository, place / PROJECT, "t2", a="yours\n")
    worked(repository, place / PROJECT, "t3", c="x\n")
    assert tasks(queue("t3", covered=["t2"])) == ["t3"]
    assert repository.git("rev-parse", "toryo/t2")


def test_checks_that_fail_on_the_target_alone_accuse_nobody(repository, place, queue):
    repository.commit(broken="x\n")
    worked(repository, place / PROJECT, "t1", new="x\n")
    state = repository.state()
    answer = queue("t1", checks=[{"command": "test ! -f broken"}])
    assert (answer["done"], answer["queue"]["result"]) == (False, "target_broken")
    assert "fail on main itself" in answer["trouble"]
    assert repository.state() == state
    untouched(repository, place)


def test_work_that_repairs_a_broken_target_is_merged(repository, place, queue):
    repository.commit(broken="x\n")
    fix = make(repository, place / PROJECT, "t1")
    (fix.path / "broken").unlink()
    assert queue("t1", checks=[{"command": "test ! -f broken"}])["done"]


@pytest.mark.deep
def test_limits_on_changes_apply_to_each_entry_and_not_to_the_batch(repository, place, queue):
    worked(repository, place / PROJECT, "t1", c="x\n")
    worked(repository, place / PROJECT, "t2", d="x\n")
    limit = [{"diff": {"max_files": 1}}]
    assert queue("t1", "t2", checks=limit)["done"]
    worked(repository, place / PROJECT, "t3", e="x\n", f="x\n")
    answer = queue("t3", checks=limit)
    assert (answer["queue"]["result"], answer["queue"]["evidence"][0]["outcome"]) == ("failed", "failed")


def test_a_check_that_hangs_is_stopped_after_its_time(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    answer = queue("t1", checks=[{"command": "test -f new || exit 0; sleep 60", "timeout_seconds": 1}])
    assert answer["queue"]["result"] == "failed"
    assert "took longer than 1 s" in answer["queue"]["evidence"][0]["output"]
    untouched(repository, place)


def test_what_a_check_does_to_its_files_reaches_nobody(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    answer = queue("t1", checks=[{"command": "echo bad > a; rm -rf .git; mkdir .git; touch more; mkdir -m 500 locked"}])
    assert answer["done"]
    assert repository.git("show", "main:a") == "one"
    assert repository.git("ls-tree", "--name-only", "main").split() == ["a", "b", "new"]
    untouched(repository, place)


def test_a_target_that_moves_while_the_checks_run_is_built_on_again(repository, place, queue, tmp_path):
    worked(repository, place / PROJECT, "t1", new="x\n")
    moves = f"test -e {tmp_path}/moved || {{ touch {tmp_path}/moved; git -C {repository.path} -c user.name=P "
    moves += "-c user.email=p@example.org commit -q --allow-empty -m meanwhile; }"
    answer = queue("t1", checks=[{"command": moves}])
    assert answer["done"]
    assert repository.git("log", "--first-parent", "--format=%s").split("\n")[1] == "meanwhile"


def test_a_target_that_keeps_moving_is_left_alone_in_the_end(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    moves = f"git -C {repository.path} -c user.name=P -c user.email=p@example.org commit -q --allow-empty -m again"
    answer = queue("t1", checks=[{"command": moves}])
    assert (answer["done"], answer["queue"]["result"]) == (False, "prevented")
    assert f"changed {queue_merges.ATTEMPTS} times" in answer["trouble"]
    assert "new" not in repository.git("ls-tree", "--name-only", "main").split()
    untouched(repository, place)


def test_a_target_that_somebody_has_rewound_is_never_forced(repository, place, queue):
    before = repository.git("rev-parse", "main")
    repository.commit(c="x\n")
    worked(repository, place / PROJECT, "t1", new="x\n")
    rewound = f"git -C {repository.path} reset -q --hard {before}"
    answer = queue("t1", checks=[{"command": rewound}])
    assert answer["done"]
    assert repository.git("merge-base", "--is-ancestor", before, "main", code=None) == ""
    assert repository.git("rev-parse", "main^1") == before


def test_uncommitted_changes_in_the_targets_checkout_stop_the_queue_before_any_check(
    repository, place, queue, tmp_path
):
    worked(repository, place / PROJECT, "t1", a="two\n", new="x\n")
    (repository.path / "a").write_text("unsaved\n")
    (repository.path / "new").write_text("untracked\n")
    answer = queue("t1", checks=[{"command": f"touch {tmp_path}/ran"}])
    assert (answer["done"], answer["queue"]["result"]) == (False, "prevented")
    assert "a, new" in answer["trouble"]
    assert not (tmp_path / "ran").exists()
    assert (repository.path / "a").read_text() == "unsaved\n"


def test_uncommitted_changes_elsewhere_do_not_matter(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    (repository.path / "b").write_text("unsaved\n")
    assert queue("t1")["done"]
    assert (repository.path / "b").read_text() == "unsaved\n"


@pytest.mark.deep
def test_a_target_that_nobody_has_moved_holds_the_queue_and_sends_no_work_back(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="two\n")
    words = ["git", "commit", "--quiet", "--allow-empty", "--message=evil"]
    subprocess.run(words, cwd=repository.path, env={**os.environ, **worktrees.signing("w1")}, check=True)
    answer = queue("t1")
    assert (answer["queue"]["result"], answer["queue"]["unfit"]) == ("prevented", [])
    assert "main was moved" in answer["trouble"]
    assert answer["moved_base"] == {"commit": repository.git("rev-parse", "main"), "words": answer["trouble"]}
    repository.git("update-ref", "refs/toryo/accepted/main", "main")
    assert queue("t1")["done"]


def test_a_target_without_a_checkout_is_moved_too(repository, place, queue):
    repository.git("branch", "release")
    worked(repository, place / PROJECT, "t1", new="x\n")
    assert queue("t1", into="release")["done"]
    assert repository.git("show", "release:new") == "x"
    assert "new" not in repository.git("ls-tree", "--name-only", "main").split()


def test_a_target_that_was_deleted_stops_the_queue_and_says_so(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    answer = queue("t1", into="release")
    assert "no branch release" in answer["trouble"]


@pytest.mark.deep
def test_a_branch_that_was_deleted_by_hand_comes_from_its_worktree_again(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    worked(repository, place / PROJECT, "t2", other="x\n")
    repository.git("update-ref", "-d", "refs/heads/toryo/t1")
    answer = queue("t1", "t2")
    assert tasks(answer) == ["t1", "t2"]
    assert answer["queue"]["unfit"] == []


def test_work_that_is_gone_is_reported_as_gone(repository, place, queue):
    worktree = worked(repository, place / PROJECT, "t1", new="x\n")
    shutil.rmtree(worktree.path.parent)
    repository.git("branch", "-D", "toryo/t1")
    answer = queue("t1")
    assert (answer["gone"], answer["merged"]) == (["t1"], [])


def test_work_that_a_person_has_merged_by_hand_is_told_with_its_own_commit(repository, place, queue):
    worktree = worked(repository, place / PROJECT, "t1", new="x\n")
    repository.git("merge", "--quiet", "--ff-only", worktree.branch)
    work = repository.git("rev-parse", "main")
    answer = queue("t1")
    assert [each["commit"] for each in answer["merged"]] == [work]


def test_work_in_another_repository_is_named_and_the_rest_is_merged(repository, place, queue, tmp_path):
    worked(repository, place / PROJECT, "t1", new="x\n")
    other = Repository(tmp_path / "other")
    other.commit("first", a="another\n")
    worked(other, place / PROJECT, "t2", new="y\n")
    answer = queue("t1", "t2")
    assert tasks(answer) == ["t1"]
    assert f"belongs to another repository: {other.path}" in str(answer["queue"])
    assert (repository.path / "new").read_text() == "x\n"
    assert (other.git("log", "--format=%s", "main"), (place / PROJECT / "t2").is_dir()) == ("first", True)


def test_what_an_agent_left_in_the_middle_of_a_rebase_is_not_merged(repository, place, queue):
    worktree = worked(repository, place / PROJECT, "t1", a="two\n")
    repository.commit(a="three\n")
    worktrees.keep(worktree, "m", "w1")
    repository.git("rebase", "main", at=worktree.path, code=1)
    [unfit] = queue("t1")["queue"]["unfit"]
    assert "in the middle of" in unfit["trouble"]


def test_work_without_a_common_commit_stops_nobody_else(repository, place, queue):
    worktree = worked(repository, place / PROJECT, "t1", new="x\n")
    worked(repository, place / PROJECT, "t2", other="x\n")
    tree = repository.git("rev-parse", "toryo/t1^{tree}")
    repository.git("reset", "--hard", repository.git("commit-tree", tree, "-m", "alone"), at=worktree.path)
    answer = queue("t1", "t2")
    assert tasks(answer) == ["t2"]
    [unfit] = answer["queue"]["unfit"]
    assert unfit["entry_id"] == "e-t1"
    assert "toryo/t1 and main have no commit in common" in unfit["trouble"]


@pytest.mark.deep
@pytest.mark.first(1)
@pytest.mark.parametrize("late", ["git add late && git commit --quiet --message late", "true"])
def test_what_is_added_to_the_work_while_it_is_checked_comes_to_a_person(repository, place, queue, late):
    worktree = worked(repository, place / PROJECT, "t1", new="x\n")
    worked(repository, place / PROJECT, "t2", other="x\n")
    read = repository.git("rev-parse", "toryo/t1")
    who = "export GIT_AUTHOR_NAME=P GIT_AUTHOR_EMAIL=p@e.org GIT_COMMITTER_NAME=P GIT_COMMITTER_EMAIL=p@e.org"
    answer = queue("t1", "t2", checks=[{"command": f"{who}; cd {worktree.path} && echo late > late && {late}"}])
    assert tasks(answer) == ["t2"]
    [unfit] = answer["queue"]["unfit"]
    assert (unfit["entry_id"], f"up to commit {read[:10]}" in unfit["trouble"]) == ("e-t1", True)
    assert (worktree.path / "late").read_text() == "late\n"
    assert "late" not in repository.git("ls-tree", "--name-only", "main").split()
    assert tasks(queue("t1")) == ["t1"]
    assert repository.git("show", "main:late") == "late"


def test_a_target_that_cannot_be_moved_after_the_checks_is_told_with_their_evidence(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    answer = queue("t1", checks=[{"command": f"echo mine > {repository.path}/new"}])
    assert (answer["done"], answer["queue"]["result"]) == (False, "prevented")
    assert "would overwrite uncommitted changes" in answer["trouble"]
    assert answer["queue"]["evidence"][0]["outcome"] == "passed"
    assert (repository.path / "new").read_text() == "mine\n"


def test_a_job_that_is_given_again_after_it_has_merged_merges_nothing_twice(repository, place):
    worked(repository, place / PROJECT, "t1", new="x\n")
    worked(repository, place / PROJECT, "t2", other="x\n")
    job = batch(repository, place, "t1", "t2")
    one = run(job, place)
    head = repository.git("rev-parse", "main")
    again = run(job, place)
    assert (again["done"], again["merged"]) == (True, one["merged"])
    assert repository.git("rev-parse", "main") == head


def test_a_job_that_is_stopped_before_it_has_merged_changes_nothing(repository, place):
    worked(repository, place / PROJECT, "t1", new="x\n")
    state = repository.state()
    answer = run(batch(repository, place, "t1", checks=[{"command": "sleep 60"}]), place, stop=True)
    assert (answer["done"], answer["queue"]["result"], answer["trouble"]) == (False, "prevented", None)
    assert repository.state() == state
    untouched(repository, place)


def test_of_work_that_ends_as_it_is_stopped_nothing_is_told():
    async def work() -> str:
        return "passed"

    async def once() -> Any:
        stop = asyncio.Event()
        stop.set()
        return await queue_merges._unless(stop, work())

    assert asyncio.run(once()) is None


@pytest.mark.deep
def test_a_job_that_is_stopped_at_once_tells_what_had_been_merged_before_and_checks_nothing(
    repository, place, tmp_path
):
    worked(repository, place / PROJECT, "t1", new="x\n")
    worked(repository, place / PROJECT, "t2", other="x\n")
    assert run(batch(repository, place, "t1"), place)["done"]
    job = batch(repository, place, "t1", "t2", checks=[{"command": f"touch {tmp_path}/ran"}])
    answer = run(job, place, stop=True)
    assert (tasks(answer), answer["queue"]["result"]) == (["t1"], "prevented")
    assert not (tmp_path / "ran").exists()


def test_what_a_killed_coordinator_left_is_swept_away_and_is_in_nobodys_way(repository, place, queue):
    worked(repository, place / PROJECT, "t1", new="x\n")
    checkout = open_checkout(repository.path)
    path = combining.place(place, PROJECT, "main")
    combining.check_out(checkout, path, repository.git("rev-parse", "main"))
    assert path.is_dir()
    combining.sweep(place)
    untouched(repository, place)
    combining.check_out(checkout, path, repository.git("rev-parse", "main"))
    assert queue("t1")["done"]
    untouched(repository, place)


def test_a_link_in_place_of_the_combined_result_is_removed_and_where_it_leads_stays(repository, place, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "x").write_text("x")
    path = combining.place(place, PROJECT, "main")
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "precious")
    combining.put_away(open_checkout(repository.path), path)
    assert not path.is_symlink()
    assert [each.name for each in (tmp_path / "precious").iterdir()] == ["x"]


@pytest.mark.deep
def test_every_commit_of_the_first_parent_history_passes_the_check(repository, place, tmp_path):
    for name in ("t1", "t2", "t3", "t4"):
        worked(repository, place / PROJECT, name, **{name: "x\n"})
    check = "test $(ls t1 t2 2>/dev/null | wc -l) -ne 1"  # between the two it would fail
    assert run(batch(repository, place, "t1", "t2", checks=[{"command": check}]), place)["done"]
    assert run(batch(repository, place, "t3", "t4", checks=[{"command": check}]), place)["done"]
    assert at_every_commit(repository, check, tmp_path) == 3


def test_the_work_of_subtasks_and_their_task_is_one_commit(repository, place):
    worked(repository, place / PROJECT, "s1", s1="x\n")
    worked(repository, place / PROJECT, "t1", t1="x\n")
    job = batch(repository, place, "s1", "t1")
    sub, whole = job.options["entries"]
    whole["order"] = [*sub["order"], *whole["order"]]
    job.options["entries"] = [whole]
    before = repository.git("rev-parse", "main")
    assert tasks(run(job, place)) == ["s1", "t1"]
    assert repository.git("rev-parse", "main^1") == before


def test_a_secret_is_found_although_a_person_has_the_work_and_its_attributes_checked_out(repository, place, queue):
    worktree = worked(repository, place / PROJECT, "t1", **{".gitattributes": "* -diff\n", "new": "ghp_" + "a" * 36})
    repository.git("switch", "--quiet", "--detach", worktree.branch)
    answer = queue("t1", checks=[{"diff": {"forbid_secrets": True}}])
    assert answer["queue"]["result"] == "failed", answer
    history, _ = commits_and_diffs.history_of(worktree, repository.git("rev-parse", worktree.branch), 1_000_000)
    assert "ghp_" in history


def test_a_secret_that_a_commit_of_the_work_adds_and_the_next_one_removes_is_not_merged(repository, place, queue):
    secret = "ghp_" + "a" * 36
    made = worked(repository, place / PROJECT, "t1", new=f"{secret}\n")
    (made.path / "new").write_text("nothing\n")
    answer = queue("t1", checks=[{"diff": {"forbid_secrets": True}}])
    assert answer["queue"]["result"] == "failed"
    assert "new:1 in commit " in answer["queue"]["evidence"][0]["output"]
    untouched(repository, place)


# --- work of several tasks in one entry -------------------------------------------------------------------------------


def one_entry(repository: Repository, place: Path, *names: str) -> WorktreeJob:
    """The last one is what the others are parts of."""
    made = batch(repository, place, *names)
    entries = made.options["entries"]
    whole = {**entries[-1], "order": [each for entry in entries for each in entry["order"]]}
    return replace(made, options={**made.options, "entries": [whole]})


def test_a_part_that_conflicts_is_merged_with_the_work_that_resolves_it(repository, place):
    directory = place / PROJECT
    worked(repository, directory, "p1", a="left\n")
    worked(repository, directory, "p2", a="right\n")
    solver = make(repository, directory, "p3", "toryo/p2")
    worktrees.begin(solver, ["toryo/p1"])
    (solver.path / "a").write_text("left\nright\n")
    worktrees.keep(solver, "both", "ann")
    answer = run(one_entry(repository, place, "p1", "p2", "p3"), place)
    assert answer["queue"]["result"] == "merged"
    assert sorted(each["task_id"] for each in answer["merged"]) == ["p1", "p2", "p3"]
    assert repository.git("show", "main:a").split() == ["left", "right"]


def test_the_other_side_within_the_same_entry_is_named_and_the_target_is_not(repository, place):
    directory = place / PROJECT
    worked(repository, directory, "p1", a="left\n")
    worked(repository, directory, "p2", a="right\n")
    before = repository.git("rev-parse", "main")
    [conflict] = run(one_entry(repository, place, "p1", "p2"), place)["queue"]["conflicts"]
    assert (conflict["task_id"], conflict["within"], conflict["files"]) == ("p2", True, ["a"])
    assert [each["task_id"] for each in conflict["others"]] == ["p1"]
    assert repository.git("rev-parse", "main") == before


def test_work_with_conflict_marks_is_not_merged(repository, place):
    directory = place / PROJECT
    worked(repository, directory, "p1", a="left\n")
    worktree = worked(repository, directory, "p2", a="right\n")
    worktrees.begin(worktree, ["toryo/p1"])
    answer = run(one_entry(repository, place, "p2"), place)
    assert "conflict marks are left in a" in answer["queue"]["unfit"][0]["trouble"]
    assert repository.git("show", "main:a") == "one", "the first commit's"
