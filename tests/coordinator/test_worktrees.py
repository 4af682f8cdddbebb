"""A git worktree per task, with real repositories: made, gone on with, kept, shown, merged, discarded, removed."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import select
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.repositories import Repository
from toryo.coordinator import worktrees
from toryo.coordinator.worktrees import (
    Conflict,
    Kept,
    Merged,
    Nothing,
    Trouble,
    Worktree,
    inner_repositories,
    merging,
    paths,
)
from toryo.coordinator.worktrees import git as running
from toryo.coordinator.worktrees.launch_repositories import repository_of
from toryo.coordinator.worktrees.repository import open_checkout

AGENT = "w1"


@pytest.fixture(autouse=True)
def nobody(tmp_path, monkeypatch):
    """No settings of this machine: nobody has said user.name, and git may not guess one."""
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Path:
    made = Repository(tmp_path_factory.mktemp("like") / "project")
    made.commit("first", a="one\n", b="1\n2\n3\n4\n5\n6\n7\n8\n")
    return made.path


@pytest.fixture
def repository(tmp_path, first) -> Repository:
    return Repository(tmp_path / "project", like=first)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "worktrees"


def make(repository: Repository, place: Path, name: str = "t1", *bases: str) -> Worktree:
    return worktrees.make(repository.path, place, name, bases)


def kept(worktree: Worktree, message: str = "work") -> Kept:
    return worktrees.keep(worktree, message, AGENT)


def worked(repository: Repository, place: Path, name: str = "t1", *bases: str, **files: str) -> Worktree:
    """A worktree in which an agent changed some files, which were kept."""
    worktree = make(repository, place, name, *bases)
    for each, text in files.items():
        (worktree.path / each).write_text(text)
    assert kept(worktree).committed
    return worktree


def of_an_older_toryo(repository: Repository, place: Path, name: str = "t1") -> Worktree:
    """As it was made before worktrees had repositories of their own: as a worktree of the person's."""
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    repository.git("worktree", "add", "--quiet", "-b", f"toryo/{name}", str(path))
    paths.note(open_checkout(repository.path), path, "main", repository.git("rev-parse", "HEAD"))
    found = worktrees.find(repository.path, place, name)
    assert found is not None
    return found


def merged(worktree: Worktree, into: str | None = None) -> Merged:
    outcome = worktrees.merge(worktree, "merge it", into)
    assert isinstance(outcome, Merged), outcome
    return outcome


def refused(words: str, ask, *arguments, **named) -> str:
    with pytest.raises(Trouble, match=words) as raised:
        ask(*arguments, **named)
    return str(raised.value)


# --- making ----------------------------------------------------------------------------------------------------------


def test_a_worktree_starts_from_head_on_a_branch_of_its_own(repository, place):
    worktree = make(repository, place)
    assert worktree.path == place / "t1"
    assert worktree.working_directory == worktree.path
    assert (worktree.branch, worktree.base_branch) == ("toryo/t1", "main")
    assert worktree.base_commit == repository.git("rev-parse", "HEAD")
    assert (worktree.path / "a").read_text() == "one\n"
    assert repository.git("symbolic-ref", "--short", "HEAD", at=worktree.path) == "toryo/t1"
    assert repository.git("symbolic-ref", "--short", "HEAD") == "main"
    assert worktree.notes == ()


def test_a_second_launch_goes_on_where_the_first_was_although_the_repository_moved_on(repository, place):
    first = make(repository, place)
    (first.path / "new").write_text("not committed")
    repository.commit(a="moved on\n")
    second = make(repository, place)
    assert second == first
    assert (second.path / "new").read_text() == "not committed"
    assert (second.path / "a").read_text() == "one\n"


def test_a_vanished_directory_is_made_again_from_its_branch(repository, place):
    first = worked(repository, place, new="kept")
    shutil.rmtree(first.path)
    assert worktrees.find(repository.path, place, "t1") == first
    second = make(repository, place)
    assert second == first
    assert (second.path / "new").read_text() == "kept"


def test_a_vanished_directory_of_somebody_else_stays_known_to_git(repository, place, tmp_path):
    """A person's worktree may stand on a disk that is not mounted just now."""
    away = tmp_path / "usb"
    repository.git("worktree", "add", "--quiet", "-b", "persons", str(away))
    shutil.rmtree(away)
    shutil.rmtree(make(repository, place).path)
    worktrees.discard(make(repository, place))
    assert str(away) in repository.git("worktree", "list")


def test_a_branch_without_worktree_is_checked_out_again(repository, place):
    first = worked(repository, place, new="kept")
    repository.git("checkout", "--quiet", first.branch)
    head = repository.commit("a person's", new="more")
    repository.git("checkout", "--quiet", "main")
    for each in (first.path, repository_of(first.path), first.path.with_name(".t1.json")):
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    again = make(repository, place)
    assert (again.branch, again.base_commit) == (first.branch, first.base_commit)
    assert (repository.git("rev-parse", "HEAD", at=again.path), (again.path / "new").read_text()) == (head, "more")


def test_a_worktree_that_was_half_made_when_its_maker_was_killed_is_made_anew(repository, place):
    worktree = make(repository, place)
    (worktree.path / "a").unlink()
    note = worktree.path.with_name(".t1.json")
    note.write_text(json.dumps({**json.loads(note.read_text()), "own": False}))
    assert (make(repository, place).path / "a").read_text() == "one\n"
    assert repository.git("status", "--porcelain", at=worktree.path) == ""


def test_a_branch_that_somebody_else_made_counts_from_where_it_left_head(repository, place):
    start = repository.git("rev-parse", "HEAD")
    repository.git("branch", "toryo/t1")
    repository.commit(a="two\n")
    assert make(repository, place).base_commit == start


def test_from_a_detached_head_there_is_no_base_branch(repository, place):
    repository.git("checkout", "--quiet", "--detach")
    worktree = worked(repository, place, new="x")
    assert worktree.base_branch is None
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["new"]
    refused("Choose the branch to merge into", worktrees.merge, worktree, "m")
    assert merged(worktree, "main").into == "main"


def test_a_project_in_a_subdirectory_works_in_the_same_subdirectory(repository, place):
    inner = repository.path / "in side" / "deep"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    repository.commit()
    worktree = worktrees.make(inner, place, "t1")
    assert worktree.working_directory == worktree.path / "in side" / "deep"
    assert (worktree.working_directory / "file").read_text() == "x"
    shutil.rmtree(worktree.working_directory)
    assert worktrees.make(inner, place, "t1").working_directory.is_dir()


def test_a_project_in_a_subdirectory_that_git_does_not_know_is_refused(repository, place):
    inner = repository.path / "unknown"
    inner.mkdir()
    before = repository.state()
    refused("no committed files", worktrees.make, inner, place, "t1")
    assert repository.state() == before


@pytest.mark.first(4)
@pytest.mark.parametrize(
    "name",
    [
        "Aufgabe 7",
        "../../etc",
        "-rf",
        "日本語の仕事",
        "a/b",
        "x.lock",
        "a..b",
        "a~1^:?*[",
        "line\nline",
        ".git",
        "@{",
        "n" * 300,
        "",
        "HEAD",
    ],
)
def test_any_name_gets_a_directory_inside_and_a_branch(repository, place, name):
    worktree = make(repository, place, name)
    assert worktree.path.parent == place
    assert worktree.branch == worktrees.branch_of(name)
    assert repository.git("rev-parse", f"refs/heads/{worktree.branch}") == worktree.base_commit
    assert make(repository, place, name) == worktree


def test_names_that_look_alike_once_they_are_safe_stay_different():
    names = ["a b", "a/b", "a-b", "a:b", "a b "]
    assert len({worktrees.safe(name) for name in names}) == len(names)
    assert worktrees.safe("task-12_b.3") == "task-12_b.3"


def test_uncommitted_changes_of_the_repository_stay_there_and_the_worktree_says_so(repository, place):
    (repository.path / "a").write_text("not committed\n")
    worktree = make(repository, place)
    assert (worktree.path / "a").read_text() == "one\n"
    assert (repository.path / "a").read_text() == "not committed\n"
    (note,) = worktree.notes
    assert "(files: 1)" in note


def test_submodules_are_left_alone_and_the_worktree_says_so(repository, place, tmp_path):
    other = Repository(tmp_path / "other")
    other.commit(x="x")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "sub")
    repository.commit()
    worktree = make(repository, place)
    assert list((worktree.path / "sub").iterdir()) == []
    assert any("Submodules" in note for note in worktree.notes)
    assert not kept(worktree).committed


def test_two_makes_of_one_name_at_once_make_one_worktree(repository, place):
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda _: make(repository, place), range(6)))
    assert set(made) == {make(repository, place)}
    assert repository.branches() == ["main", "toryo/t1"]


def _make_one(where: tuple[Path, Path, str]) -> str:
    return worktrees.make(*where).branch


def test_makes_in_several_processes_and_directories_at_once_do_not_break_each_other(repository, tmp_path):
    wanted = [(repository.path, tmp_path / f"d{number % 2}", f"t{number}") for number in range(6)]
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.map(_make_one, wanted) == [f"toryo/t{number}" for number in range(6)]
    assert len(repository.branches()) == 7
    for path, directory, name in wanted:
        found = worktrees.find(path, directory, name)
        assert found is not None
        assert found.base_branch == "main"


def test_variables_that_point_git_elsewhere_have_no_effect(repository, place, tmp_path, monkeypatch):
    other = Repository(tmp_path / "other")
    other.commit(x="x")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    monkeypatch.setenv("LANGUAGE", "ja")
    worktree = worked(repository, place, new="n")
    outcome = merged(worktree)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name)
    assert repository.git("rev-parse", "main") == outcome.commit
    assert other.git("status", "--porcelain") == ""
    assert other.git("branch", "--format=%(refname:short)") == "main"


# --- where no worktree can be made -----------------------------------------------------------------------------------


def test_what_is_no_repository_is_refused_with_the_next_step(tmp_path, place):
    (tmp_path / "plain").mkdir()
    words = refused("not a git repository", worktrees.make, tmp_path / "plain", place, "t1")
    assert "git init" in words
    assert "isolation" in words
    refused("does not exist", worktrees.make, tmp_path / "missing", place, "t1")
    (tmp_path / "file").write_text("")
    refused("not a directory", worktrees.make, tmp_path / "file", place, "t1")


def test_a_bare_repository_and_the_inside_of_one_are_refused(repository, place, tmp_path):
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    refused("bare repository", worktrees.make, tmp_path / "bare", place, "t1")
    refused("bare repository", worktrees.make, repository.path / ".git", place, "t1")


def test_a_repository_whose_path_has_a_line_break_is_refused(tmp_path, first, place):
    broken = Repository(tmp_path / "line\nbreak", like=first)
    refused("contains a line break", worktrees.make, broken.path, place, "t1")


def test_a_repository_without_a_commit_is_refused(tmp_path, place):
    empty = Repository(tmp_path / "empty")
    refused("no commit yet", worktrees.make, empty.path, place, "t1")


def test_a_machine_without_git_is_refused(repository, place, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    refused("git was not found. Install it", make, repository, place)


def test_an_old_git_is_refused(repository, place, tmp_path, monkeypatch):
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.25.1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(old.parent))
    refused("git 2.25 is too old", make, repository, place)


@pytest.mark.parametrize("deaf", ["", "trap '' TERM;"])
def test_a_git_that_does_not_end_is_stopped_with_what_it_started(repository, monkeypatch, deaf):
    monkeypatch.setattr(running, "END_WITHIN", 0.1)
    os.mkfifo(repository.path / "pipe")
    held = os.open(repository.path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    repository.git("config", "alias.stuck", f"!{deaf} exec 3> pipe; echo started >&3; exec sleep 60")
    refused("took longer than", running.Git(repository.path), "stuck", seconds=0.5)
    assert [_read(held), _read(held)] == [b"started\n", b""], "the pipe ends when nobody holds it any more"
    os.close(held)


def _read(pipe: int) -> bytes | None:
    return os.read(pipe, 100) if select.select([pipe], [], [], 10)[0] else None


def test_a_branch_that_is_checked_out_elsewhere_is_not_taken_away(repository, place):
    shutil.rmtree(worked(repository, place, new="x").path)
    repository.git("checkout", "--quiet", "toryo/t1")
    refused(f"checked out in {repository.path}", make, repository, place)
    worktree = worktrees.find(repository.path, place, "t1")
    assert worktree is not None
    refused("checked out in", worktrees.discard, worktree)
    refused("checked out in", worktrees.remove, worktree)
    assert repository.git("rev-parse", "toryo/t1") == repository.git("rev-parse", "HEAD")


def test_a_directory_that_is_something_else_is_left_alone(repository, place):
    (place / "t1").mkdir(parents=True)
    (place / "t1" / "precious").write_text("x")
    before = repository.state()
    refused("is not a worktree of", make, repository, place)
    assert (place / "t1" / "precious").read_text() == "x"
    assert repository.state() == before


def test_a_branch_called_toryo_is_named_as_what_stands_in_the_way(repository, place):
    repository.git("branch", "toryo")
    before = repository.state()
    refused("branch named toryo", make, repository, place)
    assert repository.state() == before


def test_nothing_is_left_where_git_fails_half_way(repository, place):
    """A filter that fails stands for a full disk: files cannot be written."""
    repository.commit(__gitattributes="a filter=broken\n")
    repository.git("config", "--global", "filter.broken.clean", "cat")
    repository.git("config", "--global", "filter.broken.smudge", "false")
    repository.git("config", "--global", "filter.broken.required", "true")
    before = repository.state()
    refused("git reset failed", make, repository, place)
    assert repository.state() == before
    assert list(place.iterdir()) == []
    repository.git("config", "--global", "filter.broken.smudge", "cat")
    assert (make(repository, place).path / "a").read_text() == "one\n"


def test_a_lock_that_a_killed_git_left_on_a_branch_is_named(repository, place, monkeypatch):
    monkeypatch.setattr(running, "LOCKED_FOR", 0.1)
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x")
    lock = repository.path / ".git" / "refs" / "heads" / "toryo" / "t1.lock"
    lock.touch()
    assert str(lock) in refused("cannot be moved to", kept, worktree)
    lock.unlink()
    assert kept(worktree).files_changed == 1


def test_a_merge_that_a_lock_on_its_target_stops_leaves_the_checkout_there_as_it_was(repository, place, monkeypatch):
    monkeypatch.setattr(running, "LOCKED_FOR", 0.1)
    worktree = worked(repository, place, a="two\n", new="new")
    (repository.path / "mine").write_text("mine")
    repository.git("add", "mine")
    (repository.path / "b").write_text("not staged")
    before, lock = repository.state(), repository.path / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    assert str(lock) in refused("cannot be merged into there", worktrees.merge, worktree, "merge it")
    assert repository.state() == before
    lock.unlink()
    assert merged(worktree).commit == repository.git("rev-parse", "main")


def test_a_lock_that_an_agents_git_left_on_its_index_keeps_no_work_from_being_kept(repository, place):
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x")
    (repository_of(worktree.path) / "index.lock").touch()
    assert kept(worktree).committed


def test_a_worktree_that_another_git_is_just_making_is_waited_for(repository, place, monkeypatch):
    """While its `commondir` is there and empty, no git can list worktrees."""
    repository.git("worktree", "add", "--quiet", str(place.with_name("person")))
    made = repository.path / ".git" / "worktrees" / "other"
    shutil.copytree(made.with_name("person"), made)
    (made / "commondir").write_text("")
    pauses = []

    def meanwhile(seconds):
        pauses.append(seconds)
        shutil.rmtree(made)

    monkeypatch.setattr(time, "sleep", meanwhile)
    assert paths.checkout_of(open_checkout(repository.path), "main") == repository.path
    assert len(pauses) == 1


def test_git_s_words_get_the_next_step_where_it_is_known():
    words = running.explain("fatal: x: No space left on device.", ("worktree", "add"), Path("p"))
    assert ".." not in words
    assert words.startswith("git worktree failed in p: fatal: x")
    assert "Free some space" in words


# --- what a task is based on -----------------------------------------------------------------------------------------


def test_work_based_on_other_tasks_starts_with_what_they_did(repository, place):
    first = worked(repository, place, "t1", one="1")
    second = worked(repository, place, "t2", two="2")
    third = worked(repository, place, "t3", first.branch, second.branch, three="3")
    assert {each.name for each in third.path.iterdir()} >= {"a", "one", "two", "three"}
    assert third.base_branch == "main"
    assert [file_change.path for file_change in worktrees.diff(third).files] == ["three"]
    merged(third)
    assert (repository.path / "one").read_text() == "1"


def test_one_base_is_started_from_as_it_is(repository, place):
    first = worked(repository, place, "t1", one="1")
    second = make(repository, place, "t2", first.branch, "toryo/never-was")
    assert second.base_commit == repository.git("rev-parse", first.branch)
    (second.path / "two").write_text("2")
    kept(second)
    third = make(repository, place, "t3", first.branch, second.branch)
    assert third.base_commit == repository.git("rev-parse", second.branch)


@pytest.mark.deep
def test_work_based_on_a_task_that_is_merged_already_starts_from_head(repository, place):
    first = worked(repository, place, "t1", one="1")
    other = worked(repository, place, "t3", three="3")
    merged(first)
    head = repository.commit(a="later\n")
    assert make(repository, place, "t2", first.branch).base_commit == head
    worktrees.remove(first)
    both = make(repository, place, "t4", first.branch, other.branch)
    assert {"one", "three"} <= {each.name for each in both.path.iterdir()}
    assert (both.path / "a").read_text() == "later\n"


def test_bases_that_conflict_are_named_with_the_files_and_nothing_is_left(repository, place):
    first = worked(repository, place, "t1", a="first\n")
    second = worked(repository, place, "t2", a="second\n")
    before = repository.state()
    words = refused("conflict", make, repository, place, "t3", first.branch, second.branch)
    assert "because of a." in words
    assert repository.state() == before
    assert not (place / "t3").exists()


# --- keeping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["the person's", "its own"])
def test_a_branch_that_was_deleted_stands_there_again(repository, place, where):
    worktree = worked(repository, place, c="three\n")
    head = repository.git("rev-parse", worktree.branch)
    at = worktree.path if where == "its own" else None
    repository.git("update-ref", "-d", f"refs/heads/{worktree.branch}", at=at)
    assert worktrees.find(repository.path, place, "t1") == worktree
    assert [each.path for each in worktrees.diff(worktree).files] == ["c"]
    assert (kept(worktree).head_commit, repository.git("rev-parse", worktree.branch)) == (head, head)
    assert repository.git("rev-parse", worktree.branch, at=worktree.path) == head
    assert merged(worktree).into == "main"


def test_everything_is_kept_but_what_is_ignored(repository, place):
    repository.commit(__gitignore="*.log\nbuild/\n")
    worktree = make(repository, place)
    (worktree.path / "a").write_text("one\ntwo\n")
    (worktree.path / "b").unlink()
    (worktree.path / "x.log").write_text("x")
    (worktree.path / "build").mkdir()
    (worktree.path / "build" / "out").write_text("x")
    (worktree.path / "new").write_text("1\n2\n")
    result = worktrees.keep(worktree, "# not a comment\n\nbody", "Agent <7>")
    assert (result.committed, result.commits, result.files_changed) == (True, 1, 3)
    assert (result.insertions, result.deletions, result.trouble) == (3, 8, "")
    log = repository.git("log", "-1", "--format=%an|%ae|%cn|%s|%b", "toryo/t1")
    assert log == "Agent 7|Agent-7@toryo.invalid|Agent 7|# not a comment|body"
    assert result.head_commit == repository.git("rev-parse", "toryo/t1")
    assert repository.git("ls-tree", "--name-only", "toryo/t1").split() == [".gitignore", "a", "new"]


def test_with_nothing_to_keep_no_commit_is_made(repository, place):
    worktree = worked(repository, place, new="x")
    again = kept(worktree)
    assert (again.committed, again.commits) == (False, 1)
    repository.commit("by the agent itself", at=worktree.path, more="x")
    assert (kept(worktree).committed, kept(worktree).commits) == (False, 2)


def test_work_is_kept_where_every_file_was_deleted(repository, place):
    worktree = make(repository, place)
    (worktree.path / "a").unlink()
    (worktree.path / "b").unlink()
    assert kept(worktree).files_changed == 2
    assert repository.git("ls-tree", "toryo/t1") == ""


def test_no_hook_of_the_user_runs_or_stops_what_we_do(repository, place, tmp_path):
    trace = tmp_path / "trace"
    for hook in (
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "pre-merge-commit",
        "post-merge",
        "reference-transaction",
    ):
        file = repository.path / ".git" / "hooks" / hook
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\necho {hook} >> '{trace}'\nexit 1\n")
        file.chmod(0o755)
    worktree = worked(repository, place, new="x")
    merged(worktree)
    worktrees.remove(worktree)
    assert not trace.exists()


def test_settings_of_the_user_change_nothing(repository, place):
    for name, value in {
        "core.safecrlf": "true",
        "core.autocrlf": "input",
        "commit.gpgSign": "true",
        "diff.noprefix": "true",
        "diff.external": "false",
        "color.ui": "always",
        "status.showUntrackedFiles": "no",
        "merge.ff": "false",
        "merge.autoStash": "true",
        "branch.main.mergeOptions": "--squash",
        "core.quotePath": "true",
    }.items():
        repository.git("config", name, value)
    worktree = worked(repository, place, new="x\r\ny\n")
    assert "+++ b/new\n" in worktrees.diff(worktree).patch
    assert merged(worktree).commit == repository.git("rev-parse", "HEAD")
    assert repository.git("stash", "list") == ""


def test_a_stash_of_a_person_whose_git_shows_it_keeps_no_work_from_being_kept_and_merged(repository, place):
    repository.git("config", "--global", "status.showStash", "true")
    (repository.path / "a").write_text("later\n")
    repository.git("stash", "--quiet")
    worktree = make(repository, place)
    (worktree.path / "new").write_text("new")
    assert kept(worktree).trouble == ""
    assert merged(worktree).commit == repository.git("rev-parse", "main")


def test_the_middle_of_a_merge_is_left_as_it_is_and_reported(repository, place):
    worktree = worked(repository, place, a="mine\n")
    repository.commit(a="theirs\n")
    kept(worktree)
    repository.git("merge", "main", at=worktree.path, code=1)
    before = repository.git("status", "--porcelain", at=worktree.path)
    result = kept(worktree)
    assert "in the middle of a merge" in result.trouble
    assert (result.committed, result.commits) == (False, 1)
    assert repository.git("status", "--porcelain", at=worktree.path) == before
    assert "<<<<<<<" in worktrees.diff(worktree).patch
    assert repository.git("status", "--porcelain", at=worktree.path) == before
    refused("cannot be merged yet.*in the middle of a merge", worktrees.merge, worktree, "m")
    refused("not removed", worktrees.remove, worktree)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("words", "doing"),
    [
        (("rebase", "main"), "a rebase"),
        (("cherry-pick", "main"), "a cherry-pick"),
        (("stash", "pop"), "resolving conflicts"),
        (("bisect", "start"), "a bisection"),
    ],
)
def test_the_middle_of_anything_else_is_reported_too(repository, place, words, doing):
    worktree = make(repository, place)
    (worktree.path / "a").write_text("stashed\n")
    repository.git("stash", at=worktree.path)
    (worktree.path / "a").write_text("mine\n")
    kept(worktree)
    repository.commit(a="theirs\n")
    kept(worktree)
    repository.git(*words, at=worktree.path, code=None)
    assert f"in the middle of {doing}" in kept(worktree).trouble
    assert not kept(worktree).committed


def test_an_agent_that_left_its_branch_is_brought_back_with_its_commits(repository, place):
    worktree = make(repository, place)
    repository.git("checkout", "--quiet", "-b", "own-idea", at=worktree.path)
    mine = repository.commit("on another branch", at=worktree.path, new="x")
    (worktree.path / "more").write_text("y")
    result = kept(worktree)
    assert (result.trouble, result.commits) == ("", 2)
    assert repository.git("rev-parse", "toryo/t1") == result.head_commit
    assert repository.git("symbolic-ref", "--short", "HEAD", at=worktree.path) == "toryo/t1"
    assert repository.git("rev-parse", "toryo/t1~1") == mine
    assert repository.git("status", "--porcelain", at=worktree.path) == ""


def test_an_agent_that_looked_at_an_old_commit_is_brought_back_to_its_branch(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("checkout", "--quiet", "HEAD~1", at=worktree.path)
    result = kept(worktree)
    assert (result.trouble, result.commits) == ("", 1)
    assert (worktree.path / "new").read_text() == "x"


def test_commits_that_went_another_way_than_the_branch_are_reported_and_nothing_is_lost(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("checkout", "--quiet", "--detach", "HEAD~1", at=worktree.path)
    (worktree.path / "other").write_text("y")
    result = kept(worktree)
    assert "commits that are not in toryo/t1" in result.trouble
    assert result.committed
    refused("not in toryo/t1", worktrees.merge, worktree, "m")
    refused("not in toryo/t1", worktrees.remove, worktree)
    assert repository.git("show", f"{result.head_commit}:other") == "y"


def test_a_branch_that_an_agent_deleted_is_there_again(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("checkout", "--quiet", "--detach", at=worktree.path)
    repository.git("branch", "-D", "toryo/t1")
    result = kept(worktree)
    assert result.trouble == ""
    assert repository.git("rev-parse", "toryo/t1") == result.head_commit


def test_repositories_inside_of_the_worktree_are_left_out_and_named(repository, place):
    worktree = make(repository, place)
    Repository(worktree.path / "cloned").commit(x="x")
    Repository(worktree.path / "sub dir" / "empty")
    (worktree.path / "sub dir" / "file").write_text("x")
    (worktree.path / "cloned-too").write_text("x")
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["cloned-too", "sub dir/file"]
    result = kept(worktree)
    assert result.left_out == ("cloned/", "sub dir/empty/")
    assert (result.committed, result.files_changed) == (True, 2)
    merged(worktree)
    refused("cannot be saved and exist nowhere else", worktrees.remove, worktree)
    worktrees.remove(worktree, force=True)
    assert not worktree.path.exists()


def test_what_is_not_committed_inside_of_a_submodule_is_named_and_its_new_commits_are_kept(repository, place, tmp_path):
    other = Repository(tmp_path / "other")
    other.commit(x="x")
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    repository.git(*allowed, "add", str(other.path), "sub")
    repository.commit()
    worktree = make(repository, place)
    repository.git(*allowed, "update", "--init", at=worktree.path)
    repository.commit("inside", at=worktree.path / "sub", y="y")
    (worktree.path / "sub" / "loose").write_text("z")
    result = kept(worktree)
    assert (result.committed, result.trouble, result.left_out) == (True, "", ("sub",))
    merged(worktree)
    refused("cannot be saved and exist nowhere else", worktrees.remove, worktree)
    repository.git("rm", "--quiet", "--cached", "sub", at=worktree.path)
    refused("uncommitted changes", worktrees.merge, worktree, "m")


def test_of_a_submodule_that_the_person_has_not_checked_out_every_commit_counts_as_found_only_there(tmp_path):
    inner = Repository(tmp_path / "worktree" / "sub")
    inner.commit(x="x")
    assert inner_repositories.has_own_branches(inner.path, tmp_path / "project" / "sub")


def test_of_a_vanished_directory_the_commits_count(repository, place):
    worktree = worked(repository, place, new="x\n")
    shutil.rmtree(worktree.path)
    result = kept(worktree)
    assert "is gone" in result.trouble
    assert (result.commits, result.insertions) == (1, 1)
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["new"]
    merged(worktree)
    worktrees.remove(worktree)
    assert "toryo" not in repository.git("worktree", "list")


def test_a_worktree_whose_connection_is_lost_is_mended(repository, place, tmp_path):
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x")
    (worktree.path / ".git").unlink()
    assert kept(worktree).committed
    moved = tmp_path / "moved"
    repository.path.rename(moved)
    again = worktrees.make(moved, place, "t1")
    (again.path / "more").write_text("x")
    assert worktrees.keep(again, "m", AGENT).commits == 2


@pytest.mark.parametrize("around", ["another", "project"])
def test_a_worktree_without_connection_is_not_taken_for_the_repository_it_stands_in(repository, tmp_path, around):
    if around == "another":
        Repository(tmp_path / around).commit(x="x")
    worktree = make(repository, tmp_path / around / "worktrees")
    (worktree.path / "new").write_text("x")
    (worktree.path / ".git").unlink()
    shutil.rmtree(repository_of(worktree.path))
    before = repository.git("status", "--porcelain", at=tmp_path / around)
    refused("no longer a worktree", kept, worktree)
    refused("no longer a worktree", worktrees.diff, worktree)
    refused("no longer a worktree", worktrees.remove, worktree)
    assert repository.git("status", "--porcelain", at=tmp_path / around) == before
    assert repository.git("log", "--format=%s", "toryo/t1") == "first"
    assert (worktree.path / "new").read_text() == "x"


def test_a_repository_that_an_agent_began_in_place_of_its_worktree_is_left_to_people(repository, place):
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x")
    (worktree.path / ".git").unlink()
    Repository(worktree.path / "x").path.joinpath(".git").rename(worktree.path / ".git")
    refused("no longer a worktree", kept, worktree)
    refused("contains another repository", worktrees.discard, worktree)
    assert (worktree.path / "new").read_text() == "x"


# --- showing ---------------------------------------------------------------------------------------------------------


def test_the_diff_shows_what_is_committed_and_what_is_not_and_leaves_the_index_alone(repository, place):
    worktree = make(repository, place)
    repository.commit("agent's", at=worktree.path, a="committed\n")
    (worktree.path / "staged").write_text("s\n")
    repository.git("add", "staged", at=worktree.path)
    (worktree.path / "new").write_text("n\n")
    (worktree.path / "b").unlink()
    before = repository.git("status", "--porcelain", at=worktree.path)
    shown = worktrees.diff(worktree)
    assert {file_change.path: file_change.status for file_change in shown.files} == {
        "a": "modified",
        "b": "deleted",
        "new": "added",
        "staged": "added",
    }
    assert "-one\n+committed\n" in shown.patch
    assert (shown.base, shown.truncated) == (worktree.base_commit, False)
    assert shown.head == repository.git("rev-parse", "toryo/t1")
    assert repository.git("status", "--porcelain", at=worktree.path) == before


def test_a_change_in_the_very_moment_of_the_last_look_is_shown(repository, place):
    """It has the size and the time that the index knows: only that the index is as old makes git look into the file."""
    repository.git("config", "core.trustCTime", "false")
    worktree = make(repository, place)
    index = Path(repository.git("rev-parse", "--absolute-git-dir", at=worktree.path), "index")
    moment = 10**18
    os.utime(worktree.path / "a", ns=(moment, moment))
    repository.git("update-index", "--refresh", at=worktree.path)
    (worktree.path / "a").write_text("two\n")
    for each in (worktree.path / "a", index):
        os.utime(each, ns=(moment, moment))
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["a"]


def test_the_diff_of_nothing_is_empty(repository, place):
    shown = worktrees.diff(make(repository, place))
    assert (shown.patch, shown.files, shown.truncated) == ("", (), False)


def test_files_of_every_kind_and_name_are_shown_and_kept(repository, place):
    odd = ["with space", "new\nline", "tab\there", "日本語.txt", '"quoted"', "-dash", ":(top)x", "*", "a\\b", "[x]"]
    worktree = make(repository, place)
    for name in odd:
        (worktree.path / name).write_text("x\n")
    Path(os.fsdecode(os.fsencode(worktree.path) + b"/latin-\xe9")).write_text("x\n")
    (worktree.path / "binary").write_bytes(bytes(range(256)))
    (worktree.path / "run").write_text("#!/bin/sh\n")
    (worktree.path / "run").chmod(0o755)
    (worktree.path / "link").symlink_to("a")
    (worktree.path / "b").rename(worktree.path / "renamed")
    shown = {file_change.path: file_change for file_change in worktrees.diff(worktree).files}
    assert set(shown) == {*odd, "latin-\ufffd", "binary", "run", "link", "renamed"}
    assert shown["binary"].binary
    assert (shown["renamed"].status, shown["renamed"].old_path) == ("renamed", "b")
    assert (shown["日本語.txt"].insertions, shown["日本語.txt"].binary) == (1, False)
    assert kept(worktree).files_changed == len(shown)
    merged(worktree)
    assert os.access(repository.path / "run", os.X_OK)
    assert (repository.path / "link").readlink() == Path("a")
    assert (repository.path / "binary").read_bytes() == bytes(range(256))
    assert (repository.path / "new\nline").read_text() == "x\n"


def test_a_long_diff_is_cut_at_the_end_of_a_line_and_its_files_are_whole(repository, place):
    worktree = worked(repository, place, big="長い行です\n" * 5000, small="x\n")
    shown = worktrees.diff(worktree, limit=1000)
    assert shown.truncated
    assert 900 < len(shown.patch) <= 1000
    assert shown.patch.endswith("長い行です\n")
    assert [file_change.path for file_change in shown.files] == ["big", "small"]
    whole = worktrees.diff(worktree)
    assert not whole.truncated
    exactly = worktrees.diff(worktree, limit=len(whole.patch))
    assert (exactly.patch, exactly.truncated) == (whole.patch, False)


def test_context_is_as_many_lines_as_wanted(repository, place):
    worktree = worked(repository, place, b="1\n2\n3\n4\n5\n6\n7\neight\n")
    assert " 7\n" not in worktrees.diff(worktree, context=0).patch
    assert " 5\n 6\n 7\n-8\n" in worktrees.diff(worktree).patch


def test_what_a_worktree_got_from_its_base_branch_is_not_shown_as_its_own(repository, place):
    worktree = worked(repository, place, new="x")
    repository.commit(other="from main")
    repository.git("merge", "--quiet", "--no-edit", "main", at=worktree.path)
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["new"]
    assert kept(worktree).files_changed == 1


# --- merging ---------------------------------------------------------------------------------------------------------


def test_work_is_merged_where_the_base_branch_is_checked_out(repository, place):
    worktree = worked(repository, place, new="x")
    outcome = merged(worktree)
    assert outcome == Merged(repository.git("rev-parse", "main"), repository.path, "main")
    assert (repository.path / "new").read_text() == "x"
    assert repository.git("status", "--porcelain") == ""
    parents = repository.git("log", "-1", "--format=%P|%s|%an")
    assert parents == f"{worktree.base_commit} {repository.git('rev-parse', 'toryo/t1')}|merge it|Toryo"


def test_work_is_merged_into_what_the_repository_became_meanwhile(repository, place):
    worktree = worked(repository, place, b="1\n2\n3\n4\n5\n6\n7\neight\n")
    repository.commit(b="one\n2\n3\n4\n5\n6\n7\n8\n")
    merged(worktree)
    assert (repository.path / "b").read_text() == "one\n2\n3\n4\n5\n6\n7\neight\n"


def test_a_merged_worktree_is_merged_again_after_more_work_and_says_when_there_is_nothing(repository, place):
    worktree = worked(repository, place, new="x")
    first = merged(worktree)
    again = worktrees.merge(worktree, "m")
    assert isinstance(again, Nothing)
    assert (again.commit, again.into) == (first.commit, "main")
    assert "everything" in again.message
    (worktree.path / "more").write_text("y")
    kept(worktree)
    assert [file_change.path for file_change in worktrees.diff(worktree).files] == ["more"]
    assert merged(worktree).commit != first.commit
    assert (repository.path / "more").read_text() == "y"


def test_only_what_is_kept_can_be_merged(repository, place):
    worktree = worked(repository, place, new="x")
    (worktree.path / "loose").write_text("y")
    refused(r"uncommitted changes \(loose\)", worktrees.merge, worktree, "m")
    (worktree.path / "loose").unlink()
    (worktree.path / "a").write_text("changed\n")
    refused(r"uncommitted changes \(a\)", worktrees.merge, worktree, "m")
    refused(r"uncommitted changes \(a\)", worktrees.remove, worktree)
    (worktree.path / "a").unlink()
    refused(r"uncommitted changes \(a\)", worktrees.merge, worktree, "m")


def test_a_base_branch_that_is_not_checked_out_is_moved_without_touching_any_checkout(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("checkout", "--quiet", "-b", "elsewhere")
    (repository.path / "a").write_text("not committed\n")
    outcome = merged(worktree)
    assert outcome == Merged(repository.git("rev-parse", "main"), None, "main")
    assert repository.git("show", "main:new") == "x"
    assert repository.git("status", "--porcelain") == " M a"


def test_work_is_merged_into_another_branch_in_another_worktree(repository, place, tmp_path):
    worktree = worked(repository, place, new="x")
    repository.git("worktree", "add", "--quiet", "-b", "release", str(tmp_path / "release"))
    assert merged(worktree, "release").target == tmp_path / "release"
    assert (tmp_path / "release" / "new").read_text() == "x"
    assert not (repository.path / "new").exists()
    refused("no branch nowhere", worktrees.merge, worktree, "m", "nowhere")
    refused("into itself", worktrees.merge, worktree, "m", worktree.branch)


@pytest.mark.parametrize("elsewhere", [True, False])
def test_from_a_worktree_of_a_bare_repository_nothing_is_checked_out_into_its_git_directory(
    repository, place, tmp_path, elsewhere
):
    bare, project, other = tmp_path / "project.git", tmp_path / "dev", tmp_path / "other"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    repository.git("worktree", "add", "--quiet", "-b", "dev", str(project), "main", at=bare)
    if elsewhere:
        repository.git("worktree", "add", "--quiet", str(other), "main", at=bare)
    worktree = worktrees.make(project, place, "t1")
    (worktree.path / "hooks").mkdir()
    (worktree.path / "hooks" / "post-checkout").write_text("#!/bin/sh\n")
    (worktree.path / "a").write_text("two\n")
    kept(worktree)
    assert merged(worktree, into="main").target == (other if elsewhere else None)
    assert repository.git("show", "main:a", at=bare) == "two"
    assert not (bare / "a").exists()
    assert not (bare / "hooks" / "post-checkout").exists()
    if elsewhere:
        assert repository.git("status", "--porcelain", at=other) == ""


def test_a_target_in_a_main_checkout_that_nothing_leads_to_is_refused_and_stays(repository, place, tmp_path):
    apart, project, main = tmp_path / "apart.git", tmp_path / "dev", tmp_path / "main"
    repository.git("clone", "--quiet", f"--separate-git-dir={apart}", ".", str(main))
    repository.git("worktree", "add", "--quiet", "-b", "dev", str(project), at=main)
    worktree = worktrees.make(project, place, "t1")
    (worktree.path / "new").write_text("new")
    kept(worktree)
    before = repository.git("rev-parse", "main", at=main)
    refused("main checkout", worktrees.merge, worktree, "merge it", "main")
    assert repository.git("rev-parse", "main", at=main) == before
    assert not (apart / "new").exists()
    assert merged(worktree).target == project


def test_a_target_whose_checkout_is_missing_just_now_is_refused_and_stays(repository, place, tmp_path):
    repository.git("worktree", "add", "--quiet", "-b", "release", str(tmp_path / "disk"))
    worktree = worked(repository, place, new="new")
    before = repository.state()
    (tmp_path / "disk").rename(tmp_path / "unmounted")
    refused("Mount the disk", worktrees.merge, worktree, "merge it", "release")
    (tmp_path / "disk").mkdir()  # where it is mounted
    refused("Mount the disk", worktrees.merge, worktree, "merge it", "release")
    (tmp_path / "disk").rmdir()
    (tmp_path / "unmounted").rename(tmp_path / "disk")
    assert repository.state() == before
    assert merged(worktree, into="release").target == tmp_path / "disk"
    assert repository.git("status", "--porcelain", at=tmp_path / "disk") == ""


def test_a_conflict_names_the_files_and_leaves_everything_as_it_was(repository, place):
    worktree = worked(repository, place, a="mine\n", ok="x")
    repository.commit(a="theirs\n")
    (repository.path / "b").write_text("dirty\n")
    before = repository.state()
    outcome = worktrees.merge(worktree, "m")
    assert isinstance(outcome, Conflict)
    assert outcome.files == ("a",)
    assert "conflict in a." in outcome.message
    assert repository.state() == before
    repository.git("merge", "main", at=worktree.path, code=1)
    repository.commit("resolved", at=worktree.path, a="both\n")
    merged(worktree)
    assert (repository.path / "a").read_text() == "both\n"
    assert (repository.path / "b").read_text() == "dirty\n"


def test_a_file_deleted_here_and_changed_there_is_a_conflict(repository, place):
    worktree = make(repository, place)
    (worktree.path / "a").unlink()
    kept(worktree)
    repository.commit(a="theirs\n")
    outcome = worktrees.merge(worktree, "m")
    assert isinstance(outcome, Conflict)
    assert outcome.files == ("a",)


@pytest.mark.first(2)
@pytest.mark.parametrize("kind", ["changed", "staged", "untracked", "ignored"])
def test_nothing_uncommitted_in_the_base_branch_s_checkout_is_overwritten(repository, place, kind):
    repository.commit(__gitignore="*.env\n")
    repository.git("config", "merge.autoStash", "true")
    file = {"changed": "a", "staged": "a", "untracked": "new", "ignored": "x.env"}[kind]
    worktree = make(repository, place)
    (worktree.path / file).write_text("agent's\n")
    repository.git("add", "--force", file, at=worktree.path)
    kept(worktree)
    (repository.path / file).write_text("person's\n")
    if kind == "staged":
        repository.git("add", file)
    before = repository.state()
    words = refused("would overwrite uncommitted changes", worktrees.merge, worktree, "m")
    assert f": {file}. Nothing was merged" in words
    assert repository.state() == before
    assert (repository.path / file).read_text() == "person's\n"


def test_changes_elsewhere_in_the_base_branch_s_checkout_stay_and_do_not_hinder(repository, place):
    worktree = worked(repository, place, new="x")
    (repository.path / "a").write_text("person's\n")
    (repository.path / "b").write_text("staged\n")
    repository.git("add", "b")
    merged(worktree)
    assert (repository.path / "new").read_text() == "x"
    assert repository.git("status", "--porcelain") == " M a\nM  b"


def test_a_person_in_the_middle_of_a_merge_is_not_disturbed(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit(a="other\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit(a="main\n")
    repository.git("merge", "other", code=1)
    before = repository.state()
    refused("cannot be merged into there", worktrees.merge, worktree, "m")
    assert repository.state() == before


def test_a_branch_that_is_being_rebased_is_not_moved(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("branch", "other")
    repository.commit(a="main\n")
    repository.git("checkout", "--quiet", "other")
    repository.commit(a="other\n")
    repository.git("checkout", "--quiet", "main")
    repository.git("rebase", "other", code=1)
    refused("being rebased", worktrees.merge, worktree, "m")
    repository.git("rebase", "--abort")
    merged(worktree)


@pytest.mark.parametrize("checked_out", [True, False])
def test_a_branch_that_moves_on_while_it_is_merged_into_loses_nothing(repository, place, monkeypatch, checked_out):
    worktree = worked(repository, place, new="x")
    if not checked_out:
        repository.git("checkout", "--quiet", "-b", "elsewhere")
    joined, moves = paths.joined, iter(["first", "second"])

    def meanwhile(*arguments):
        tree = joined(*arguments)
        for move in moves:
            there = repository.git("commit-tree", "main^{tree}", "-p", "main", "-m", move)
            repository.git(*(("merge", "--quiet", there) if checked_out else ("update-ref", "refs/heads/main", there)))
            break
        return tree

    monkeypatch.setattr(merging, "joined", meanwhile)
    commit = merged(worktree).commit
    assert commit == repository.git("rev-parse", "main")
    assert repository.git("log", "--first-parent", "--format=%s", "main").split("\n") == [
        "merge it",
        "second",
        "first",
        "first",
    ]
    monkeypatch.setattr(merging, "ATTEMPTS", 0)
    refused("changed 0 times", worktrees.merge, worktree, "m")


def test_a_person_who_switches_branches_while_a_merge_waits_for_their_git_keeps_the_other_branch(
    repository, place, monkeypatch
):
    repository.git("branch", "feature")
    worktree = worked(repository, place, new="new")
    lock, before = repository.path / ".git" / "index.lock", repository.git("rev-parse", "main")
    lock.touch()

    def switches(seconds):
        lock.unlink(missing_ok=True)
        repository.git("switch", "--quiet", "feature")

    monkeypatch.setattr(time, "sleep", switches)
    commit = merged(worktree).commit
    assert repository.git("rev-parse", "main") == commit
    assert repository.git("rev-parse", "feature") == before
    assert repository.git("status", "--porcelain") == ""


def test_a_branch_to_which_a_person_switches_in_the_moment_of_a_merge_is_named_and_no_merge_is_told(
    repository, place, monkeypatch
):
    repository.git("branch", "feature")
    worktree = worked(repository, place, new="new")
    before, once = repository.git("rev-parse", "main"), running.Git._once

    def switches(git, arguments, *more):
        if arguments[0] == "merge":
            repository.git("switch", "--quiet", "feature")
        return once(git, arguments, *more)

    monkeypatch.setattr(running.Git, "_once", switches)
    words = refused("feature was moved", worktrees.merge, worktree, "merge it")
    assert repository.git("rev-parse", "main") == before
    assert "git reset --keep feature@{1}" in words
    repository.git("reset", "--quiet", "--keep", "feature@{1}")
    assert repository.git("rev-parse", "feature") == before


@pytest.mark.deep
def test_merges_of_many_at_once_all_arrive(repository, place):
    made = [worked(repository, place, f"t{number}", **{f"new{number}": "x"}) for number in range(3)]
    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(merged, made))
    assert len({outcome.commit for outcome in outcomes}) == 3
    assert {"new0", "new1", "new2"} <= {each.name for each in repository.path.iterdir()}
    assert repository.git("status", "--porcelain") == ""


# --- removing --------------------------------------------------------------------------------------------------------


def test_after_a_merge_directory_and_branch_go_and_leave_no_trace(repository, place):
    before = (repository.path / ".git" / "config").read_text()
    worktree = worked(repository, place, new="x")
    merged(worktree)
    worktrees.remove(worktree)
    assert list(place.iterdir()) == []
    assert repository.git("branch", "--format=%(refname:short)") == "main"
    assert repository.git("worktree", "list").count("\n") == 0
    assert (repository.path / ".git" / "config").read_text() == before
    worktrees.remove(worktree)
    assert worktrees.find(repository.path, place, "t1") is None


def test_what_would_be_lost_is_not_removed(repository, place):
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x")
    refused("uncommitted changes", worktrees.remove, worktree)
    kept(worktree)
    refused("Merge it first, or discard it", worktrees.remove, worktree, force=True)
    assert (worktree.path / "new").read_text() == "x"


def test_a_worktree_without_work_is_removed(repository, place):
    worktree = make(repository, place)
    worktrees.remove(worktree)
    assert not worktree.path.exists()


def test_what_was_discarded_can_be_got_back_by_the_commit_that_is_told(repository, place):
    worktree = worked(repository, place, new="x")
    (worktree.path / "loose").write_text("y")
    told = worktrees.discard(worktree)
    assert not worktree.path.exists()
    assert worktrees.find(repository.path, place, "t1") is None
    assert told.commit is not None
    assert f"git branch toryo/t1 {told.commit}" in told.message
    repository.git("branch", "toryo/t1", told.commit)
    assert (make(repository, place).path / "new").read_text() == "x"


def test_discarding_what_has_no_commits_tells_none_and_twice_is_no_harm(repository, place):
    worktree = make(repository, place)
    assert worktrees.discard(worktree).commit is None
    assert worktrees.discard(worktree).commit is None


def test_discarding_tells_the_commit_that_an_agent_made_beside_its_branch(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("checkout", "--quiet", "--detach", at=worktree.path)
    last = repository.commit("beside", at=worktree.path, more="y")
    assert worktrees.discard(worktree).commit == last


def test_discarding_tells_both_where_an_agent_s_commits_went_another_way_than_its_branch(repository, place):
    worktree = worked(repository, place, new="x")
    repository.git("checkout", "--quiet", "--detach", "HEAD~1", at=worktree.path)
    last = repository.commit("astray", at=worktree.path, more="y")
    tip = repository.git("rev-parse", "toryo/t1")
    told = worktrees.discard(worktree)
    assert told.commit == tip
    assert f"git branch toryo/t1 {tip}; git branch toryo/t1-astray {last}" in told.message


def test_what_is_write_protected_locked_or_in_the_middle_of_a_merge_is_discarded_too(repository, place):
    worktree = worked(repository, place, a="mine\n")
    repository.commit(a="theirs\n")
    kept(worktree)
    repository.git("merge", "main", at=worktree.path, code=1)
    cache = worktree.path / "cache" / "module"
    cache.mkdir(parents=True)
    (cache / "file").write_text("x")
    cache.chmod(0o500)
    cache.parent.chmod(0o500)
    worktrees.discard(worktree)
    assert list(place.iterdir()) == []
    assert repository.branches() == ["main"]


# --- disk ------------------------------------------------------------------------------------------------------------


def test_size_is_what_is_used_on_disk_with_names_of_one_file_counted_once(tmp_path):
    place = tmp_path / "measured"
    place.mkdir()
    empty = worktrees.size(place)
    (place / "file").write_bytes(b"x" * 100_000)
    (place / "again").hardlink_to(place / "file")
    (place / "link").symlink_to(tmp_path)
    assert 100_000 <= worktrees.size(place) - empty <= 120_000
    assert worktrees.size(tmp_path / "missing") == 0


def test_worktrees_that_nobody_knows_are_found_and_can_be_ended_without_knowing_their_repository(repository):
    place = repository.path / "worktrees"
    worked(repository, place, "known task", new="x")
    forgotten = worked(repository, place, "forgotten", new="y")
    (place / "plain").mkdir()
    repository.git("worktree", "add", "--quiet", "-b", "persons", str(place / "own"))
    (place / "file").write_text("x")
    found = worktrees.leftovers(place, ["known task", "gone"])
    assert [leftover.path.name for leftover in found] == ["forgotten", "own", "plain"]
    assert [leftover.worktree for leftover in found] == [forgotten, None, None]
    assert found[0].size > found[2].size >= 0
    assert found[0].worktree is not None
    assert worktrees.discard(found[0].worktree).commit is not None
    assert [leftover.path.name for leftover in worktrees.leftovers(place, ["known task"])] == ["own", "plain"]
    assert worktrees.leftovers(place / "missing", []) == ()


def failing(*_: object, **__: object) -> str:
    raise OSError(errno.ENOSPC, "No space left on device", "there")


@pytest.mark.parametrize("name", ["mkdtemp", "TemporaryFile"])
def test_a_machine_without_room_for_temporary_files_is_told_as_trouble(repository, monkeypatch, name):
    monkeypatch.setattr(tempfile, name, failing)
    with pytest.raises(Trouble, match="temporary directory"):
        worktrees.make(repository.path, repository.path.parent / "places", "t1")
    assert not worktrees.possible(repository.path)
