"""Worktrees as a Coordinator uses them: which launch gets one, what it builds on, what is told, how jobs end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.test_worktrees import first, make, nobody, of_an_older_toryo, place, repository, worked
from tests.repositories import Repository
from toryo.coordinator import task_worktrees, worktrees
from toryo.coordinator.orders import Launch, WorktreeJob
from toryo.coordinator.provider import BadConfig
from toryo.coordinator.task_worktrees import Place

__all__ = ["first", "nobody", "place", "repository"]

PROJECT = "house"


def launch(workspace: Any = None, **more: Any) -> Launch:
    return Launch("lau_1", "ann", PROJECT, workspace=workspace, **more)


def job(repository: Repository, place: Path, kind: str, name: str = "t1", **options: Any) -> WorktreeJob:
    path = str(place / PROJECT / name)
    return WorktreeJob("job_1", kind, name, PROJECT, path, f"toryo/{name}", str(repository.path), "owner", options)


def order(place: Path, *names: str) -> list[dict[str, str]]:
    return [{"task_id": name, "path": str(place / PROJECT / name), "title": name.upper()} for name in names]


def since(repository: Repository, place: Path, *names: str) -> list[dict[str, str]]:
    base = repository.git("rev-parse", "main")
    return [{**each, "base": base, "into": "main"} for each in order(place, *names)]


# --- which launch gets one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "own"),
    [
        (launch(None), None),
        (launch({"isolation": "none"}), None),
        (launch({"isolation": "worktree", "name": "t1"}), "none"),
        (launch({"isolation": "worktree", "name": "t1"}, purpose="chat"), None),
        (launch("worktree"), None),
    ],
)
def test_a_launch_works_in_the_projects_own_directory_unless_the_project_says_otherwise(given, own):
    assert task_worktrees.place_of(given, own) is None


def test_a_launch_is_told_its_name_and_what_it_builds_on():
    said = {"isolation": "worktree", "name": "t1", "bases": ["b"], "brings": ["c"]}
    assert task_worktrees.place_of(launch(said), None) == Place("t1", ("b",), ("c",))


@pytest.mark.parametrize("said", [{"isolation": "container", "name": "t1"}, {"isolation": "worktree"}])
def test_what_this_coordinator_does_not_know_is_refused_and_never_run_in_the_projects_directory(said):
    with pytest.raises(BadConfig, match="pdate the"):
        task_worktrees.place_of(launch(said), None)


def test_a_directory_that_is_no_repository_is_refused_with_the_next_step(tmp_path, place):
    with pytest.raises(BadConfig, match="isolation: worktree") as refused:
        task_worktrees.make(Place("t1"), PROJECT, tmp_path, place)
    assert str(tmp_path) in str(refused.value)


# --- what it builds on -----------------------------------------------------------------------------------------------


def test_what_a_dead_coordinator_could_not_keep_is_kept_before_others_build_on_it(repository, place):
    base = make(repository, place / PROJECT, "base")
    (base.path / "new").write_text("two\n")
    found = task_worktrees.make(Place("t1", bases=("base",)), PROJECT, repository.path, place)
    assert (found.path / "new").read_text() == "two\n"
    assert repository.git("show", "toryo/base:new") == "two"


def test_work_that_cannot_be_kept_is_noted_and_what_is_on_its_branch_is_built_on(repository, place):
    base = worked(repository, place / PROJECT, "base", new="two\n")
    (base.path / ".git").unlink()
    (base.path / ".git").mkdir()
    found = task_worktrees.make(Place("t1", bases=("base",)), PROJECT, repository.path, place)
    assert (found.path / "new").read_text() == "two\n"
    assert any("no longer a worktree" in note for note in found.notes)


def test_what_could_not_be_brought_is_noted(repository, place):
    worked(repository, place / PROJECT, "t2", a="two\n")
    worked(repository, place / PROJECT, "t1", a="mine\n")
    found = task_worktrees.make(Place("t1", brings=("t2",)), PROJECT, repository.path, place)
    assert any("toryo/t2 was not merged into" in note for note in found.notes)


def test_what_conflicts_is_brought_where_another_branch_that_comes_with_it_resolves_that(repository, place):
    ours = worked(repository, place / PROJECT, "t1", a="mine\n").branch
    theirs = worked(repository, place / PROJECT, "t2", a="two\n").branch
    both = repository.git("commit-tree", f"{ours}^{{tree}}", "-p", ours, "-p", theirs, "-m", "resolved")
    repository.git("branch", "toryo/t3", both)
    found = task_worktrees.make(Place("t1", brings=("t2", "t3")), PROJECT, repository.path, place)
    assert found.notes == ()


def test_who_adopts_a_process_knows_where_in_the_repository_its_project_is(repository, place):
    (repository.path / "app").mkdir()
    (repository.path / "app" / "main").write_text("x\n")
    repository.commit()
    made = task_worktrees.make(Place("t1"), PROJECT, repository.path / "app", place)
    found = worktrees.opened_at(made.path)
    assert found is not None
    assert found.working_directory == made.working_directory == made.path / "app"


def test_a_worktree_of_an_older_toryo_which_noted_nothing_beside_it_is_adopted_by_its_project(repository, place):
    made = of_an_older_toryo(repository, place / PROJECT)
    made.path.with_name(f".{made.path.name}.json").unlink()
    assert worktrees.opened_at(made.path) is None
    found = worktrees.opened_at(made.path, repository.path)
    assert found is not None
    assert (found.path, found.branch, found.repository) == (made.path, made.branch, made.repository)


# --- what is told ----------------------------------------------------------------------------------------------------


def test_what_a_process_left_is_kept_in_its_agents_name_and_told_in_figures(repository, place):
    worktree = make(repository, place)
    (worktree.path / "new").write_text("1\n2\n")
    said = task_worktrees.keep(worktree, launch())
    assert (said["commits"], said["files_changed"], said["insertions"], said["trouble"]) == (1, 1, 2, None)
    assert repository.git("log", "-1", "--format=%an %s", "toryo/t1") == "ann Work of ann (lau_1)"


@pytest.mark.deep
def test_a_worktree_that_cannot_be_kept_is_told_as_trouble_of_bounded_length(repository, place):
    worktree = make(repository, place)
    for number in range(400):
        there = worktree.path / f"a-repository-with-a-long-name-{number:04}"
        there.mkdir()
        repository.git("init", "--quiet", "--template=", at=there)
    said = task_worktrees.keep(worktree, launch())
    assert said["trouble"].startswith("Not saved (other repositories, or too large): a-repository")
    assert len(said["trouble"]) < 10_000


# --- worktree jobs ----------------------------------------------------------------------------------------------------


def test_a_diff_shows_what_is_committed_and_what_is_not(repository, place):
    worktree = worked(repository, place / PROJECT, new="two\n")
    (worktree.path / "a").write_text("half\n")
    said = task_worktrees.run(job(repository, place, "diff"), place)
    assert [each["path"] for each in said["answer"]["files"]] == ["a", "new"]
    assert (said["done"], said["answer"]["truncated"]) == (True, False)


def test_a_diff_fits_into_a_request_whatever_it_is_of(repository, place, monkeypatch):
    monkeypatch.setattr(task_worktrees, "LARGEST_ANSWER", 20_000)
    worked(repository, place / PROJECT, big="日本語\n" * 20_000)
    said = task_worktrees.run(job(repository, place, "diff"), place)
    assert len(json.dumps(said)) < 25_000
    assert said["answer"]["truncated"] is True
    assert said["answer"]["files"][0]["insertions"] == 20_000
    assert said["answer"]["patch"].startswith("diff --git a/big b/big")


def after_merge(repository: Repository, place: Path, **merge: str | None) -> dict[str, Any]:
    return task_worktrees.run(job(repository, place, "diff", merged=merge), place)


def paths(said: dict[str, Any]) -> list[str]:
    return [each["path"] for each in said["answer"]["files"]]


def test_a_diff_is_the_same_after_the_merge_whatever_else_came_since(repository, place):
    worktree = worked(repository, place / PROJECT, new="two\n")
    before = task_worktrees.run(job(repository, place, "diff"), place)["answer"]
    repository.commit("another", c="other\n")
    asked = job(repository, place, "merge", order=since(repository, place, "t1"))
    (merged,) = task_worktrees.run(asked, place)["merged"]
    repository.commit("later", c="later\n")
    assert not worktree.path.exists()
    said = after_merge(repository, place, commit=merged["commit"], base=before["base"], head=before["head"])
    assert said["done"] is True
    assert (said["answer"]["patch"], said["answer"]["files"]) == (before["patch"], before["files"])


def test_of_work_that_the_branch_already_had_the_diff_is_what_it_did_and_not_somebody_elses(repository, place):
    worktree = worked(repository, place / PROJECT, new="two\n")
    before = task_worktrees.run(job(repository, place, "diff"), place)["answer"]
    repository.git("merge", "--quiet", "--no-ff", "--message=by hand", worktree.branch)
    repository.commit("later", c="later\n")
    asked = job(repository, place, "merge", order=since(repository, place, "t1"))
    (merged,) = task_worktrees.run(asked, place)["merged"]
    said = after_merge(repository, place, commit=merged["commit"], base=before["base"], head=before["head"])
    assert paths(said) == ["new"]


def test_of_commits_that_the_repository_no_longer_has_the_answer_says_so(repository, place):
    said = after_merge(repository, place, commit="0" * 40, base=repository.git("rev-parse", "main"), head=None)
    assert said["done"] is False
    assert "no longer has the commit 0000000000" in said["trouble"]


@pytest.mark.deep
def test_a_merge_goes_in_order_and_stops_at_the_first_that_is_hindered(repository, place):
    worked(repository, place / PROJECT, "t1", new="one\n")
    worked(repository, place / PROJECT, "t2", new="two\n")
    worked(repository, place / PROJECT, "t3", other="three\n")
    asked = job(repository, place, "merge", "t3", order=order(place, "t1", "t2", "t3"))
    said = task_worktrees.run(asked, place)
    assert (said["done"], said["task_id"], said["answer"]) == (False, "t2", {"conflict": ["new"]})
    assert [each["task_id"] for each in said["merged"]] == ["t1"]
    assert repository.git("log", "-1", "--format=%s") == "T1 (toryo/t1)"
    assert not (place / PROJECT / "t1").exists()
    assert (place / PROJECT / "t3" / "other").exists()


def test_a_merge_takes_what_nobody_kept_along_and_done_again_after_a_crash_says_the_same(repository, place):
    for name in ("t1", "t2"):
        (make(repository, place / PROJECT, name).path / name).write_text("two\n")
    asked = job(repository, place, "merge", "t2", order=since(repository, place, "t1", "t2"), message="Mine")
    done = task_worktrees.run(asked, place)
    assert done["done"] is True
    assert (repository.path / "t1").read_text() == "two\n"
    before = repository.state()
    assert task_worktrees.run(asked, place) == done
    assert repository.state() == before


def test_what_is_committed_after_it_was_looked_at_is_not_merged_with_it(repository, place, monkeypatch):
    worktree = worked(repository, place / PROJECT, new="x\n")
    look = task_worktrees._refuse_unchecked

    def meanwhile(*given):
        look(*given)
        repository.commit("late", at=worktree.path, late="x\n")

    monkeypatch.setattr(task_worktrees, "_refuse_unchecked", meanwhile)
    told = task_worktrees.run(job(repository, place, "merge", order=since(repository, place, "t1")), place)
    assert "has changed in this moment" in told["trouble"]
    assert repository.git("ls-tree", "--name-only", "main").split() == ["a", "b"]


def test_a_merge_without_a_message_is_called_by_the_tasks_title_and_its_branch(repository, place):
    worked(repository, place / PROJECT, "t1", new="two\n")
    assert task_worktrees.run(job(repository, place, "merge", order=order(place, "t1")), place)["done"]
    assert repository.git("log", "-1", "--format=%s") == "T1 (toryo/t1)"


def test_a_merge_of_an_earlier_try_is_not_taken_for_this_one(repository, place):
    worked(repository, place / PROJECT, "t1", new="two\n")
    task_worktrees.run(job(repository, place, "merge", order=since(repository, place, "t1")), place)
    again = worked(repository, place / PROJECT, "t1", new="three\n")
    asked = job(repository, place, "merge", order=since(repository, place, "t1"))
    worktrees.discard(again)
    said = task_worktrees.run(asked, place)
    assert (said["done"], said["merged"], said["gone"]) == (False, [], ["t1"])
    assert "no longer on this machine" in said["trouble"]


def test_nothing_is_said_to_be_gone_where_the_repository_itself_is_not_there(repository, place):
    worked(repository, place / PROJECT, "t1", new="two\n")
    asked = job(repository, place, "merge", order=since(repository, place, "t1"))
    (place / PROJECT).rename(place / "elsewhere")
    repository.path.rename(repository.path.with_name("unmounted"))
    assert "gone" not in task_worktrees.run(asked, place)


def test_the_work_of_subtasks_is_brought_to_their_task_and_of_a_task_that_is_gone_this_is_told(repository, place):
    worked(repository, place / PROJECT, "t2", part="x\n")
    asked = job(repository, place, "merge_subtasks", "t1", subtasks=["t2"])
    gone = task_worktrees.run(asked, place)
    assert (gone["done"], gone["gone"]) == (False, ["t1"])
    worktree = make(repository, place / PROJECT, "t1")
    assert task_worktrees.run(asked, place)["done"] is True
    assert (worktree.path / "part").read_text() == "x\n"


def test_a_discard_that_is_done_again_succeeds(repository, place):
    worked(repository, place / PROJECT, new="two\n")
    first_time = task_worktrees.run(job(repository, place, "discard"), place)
    assert "git branch toryo/t1" in first_time["answer"]["message"]
    again = task_worktrees.run(job(repository, place, "discard"), place)
    assert (again["done"], again["gone"]) == (True, ["t1"])


def test_cleaning_removes_what_holds_nothing_and_refuses_what_holds_work(repository, place):
    worktree = make(repository, place / PROJECT, "t1")
    worked(repository, place / PROJECT, "t2", new="two\n")
    assert task_worktrees.run(job(repository, place, "clean", "t1"), place) == {"done": True, "gone": ["t1"]}
    assert not worktree.path.exists()
    said = task_worktrees.run(job(repository, place, "clean", "t2"), place)
    assert said["done"] is False
    assert "Merge it first, or discard it" in said["trouble"]
    assert (place / PROJECT / "t2" / "new").exists()


def test_what_only_the_branch_of_a_review_has_is_not_cleaned_away_and_a_discard_tells_its_commit(repository, place):
    """That branch is removed by itself."""
    worktree = worked(repository, place / PROJECT, "t2", new="two\n")
    last = repository.git("rev-parse", worktree.branch)
    repository.git("branch", "toryo/t3", last)
    said = task_worktrees.run(job(repository, place, "clean", "t2", reviews=["t3"]), place)
    assert said["done"] is False
    assert "Merge it first, or discard it" in said["trouble"]
    said = task_worktrees.run(job(repository, place, "discard", "t2", reviews=["t3"]), place)
    assert (said["done"], said["answer"]["commit"]) == (True, last)


def test_a_worktree_job_that_is_not_known_here_and_one_whose_files_are_gone_are_answered_not_raised(repository, place):
    unknown = task_worktrees.run(job(repository, place, "polish"), place)
    assert (unknown["done"], "Update it" in unknown["trouble"]) == (False, True)
    gone = task_worktrees.run(job(repository, place, "diff"), place)
    assert (gone["done"], gone["task_id"]) == (False, "t1")
    kept_nothing = task_worktrees.run(job(repository, place, "merge", order=order(place, "t1")), place)
    assert kept_nothing["merged"] == []
