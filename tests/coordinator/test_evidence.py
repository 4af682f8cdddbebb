"""What a Coordinator finds out about an acceptance check: how often it ran, how it ended, what it printed; and limits
on the changes in a worktree.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.repositories import Repository
from toryo import check_limits, path_patterns
from toryo.coordinator import acceptance_checks, diff_limits, task_worktrees, worktrees
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.orders import CheckOrder
from toryo.coordinator.sandbox import Walled
from toryo.coordinator.worktrees import Diff, FileChange, Trouble
from toryo.output_redaction import Mask

SECRET = "sk-" + "a1B2" * 8


def found(*checks: dict[str, Any], where: Path, changes: Diff | None = None, secret: str = "") -> list[Evidence]:
    def wall(argv: Any) -> Walled:
        return Walled(tuple(argv), {"PATH": os.environ["PATH"]})

    def changed() -> Diff:
        if changes is None:
            raise Trouble("There is no worktree.")
        return changes

    return asyncio.run(acceptance_checks.evidence(checks, where, wall, changed, Mask([secret])))


def test_a_command_that_passes_leaves_what_it_printed_and_its_exit_code(tmp_path: Path) -> None:
    [each] = found({"command": "echo 12 passed"}, where=tmp_path)
    assert (each.outcome, each.runs, each.exit_code, each.output) == ("passed", 1, 0, "12 passed")
    assert each.seconds > 0


def test_a_command_that_passes_when_it_runs_again_is_flaky(tmp_path: Path) -> None:
    command = "test -e once || { touch once; echo first; exit 3; }; echo second"
    [each] = found({"command": command, "retries": 3}, where=tmp_path)
    assert (each.outcome, each.runs, each.exit_code, each.output) == ("flaky", 2, 0, "second")


@pytest.mark.parametrize(("retries", "runs"), [(None, 1), (0, 1), (2, 3), (1000, 6), ("many", 1)])
def test_a_command_that_keeps_failing_runs_as_often_as_it_may(tmp_path: Path, retries: Any, runs: int) -> None:
    [each] = found({"command": "echo . >> runs; exit 3", "retries": retries}, where=tmp_path)
    assert (each.outcome, each.runs, each.exit_code) == ("failed", runs, 3)
    assert (tmp_path / "runs").read_text().count(".") == runs


def test_a_file_is_looked_for_once(tmp_path: Path) -> None:
    [each] = found({"file": "missing", "retries": 3}, where=tmp_path)
    assert (each.outcome, each.runs, each.exit_code) == ("failed", 1, None)


def test_secrets_in_what_a_command_prints_are_masked(tmp_path: Path) -> None:
    [each] = found({"command": f"echo hush-hush {SECRET}; exit 1"}, where=tmp_path, secret="hush-hush")
    assert "hush-hush" not in each.output
    assert SECRET not in each.output


def test_only_the_end_of_a_long_output_is_kept(tmp_path: Path) -> None:
    [each] = found({"command": "seq 100000; exit 1"}, where=tmp_path)
    assert each.output.endswith("100000")
    assert len(each.output) < check_limits.TAIL + 100


def test_a_command_that_prints_without_end_is_stopped_and_its_output_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptance_checks, "MOST_OUTPUT", 1_000_000)
    monkeypatch.setattr(acceptance_checks, "LOOK_AT_OUTPUT", 0.01)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "out"))
    (tmp_path / "out").mkdir()
    [each] = found({"command": "echo $$ >pid; exec yes"}, where=tmp_path)
    assert (each.outcome, each.output.partition("\n")[0]) == (
        "failed",
        "The command printed more than 1 MB and was stopped.",
    )
    assert list((tmp_path / "out").iterdir()) == []
    assert not Path("/proc", (tmp_path / "pid").read_text().strip(), "fd").exists()


def test_limits_without_a_worktree_fail_and_say_so(tmp_path: Path) -> None:
    [each] = found({"diff": {"max_files": 1}}, where=tmp_path)
    assert (each.check, each.outcome) == ("changes: at most 1 file", "failed")
    assert "There is no worktree." in each.output


def test_a_kind_of_check_that_this_coordinator_does_not_know_never_passes(tmp_path: Path) -> None:
    [each] = found({"review": {"by": "w2"}}, where=tmp_path)
    assert each.failed
    assert "Update the Coordinator." in each.output


# --- limits on the changes -------------------------------------------------------------------------------------------


def changes(patch: str = "", *files: tuple[str, int], truncated: bool = False, old: str | None = None) -> Diff:
    listed = tuple(FileChange(path, old, "modified", lines, 0, binary=False) for path, lines in files)
    return Diff(patch, listed, truncated, head="h", base="b")


def broken(limits: dict[str, Any], of: Diff) -> str:
    return " ".join(diff_limits.broken(limits, of))


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"max_files": 2}, ""),
        ({"max_files": 1}, "2 files changed; at most 1 may be."),
        ({"max_files": 0}, "2 files changed; at most 0 may be."),
        ({"max_lines": 7}, ""),
        ({"max_lines": 6}, "7 lines added or deleted; at most 6 may be."),
    ],
)
def test_the_size_of_a_change_is_limited(limits: dict[str, Any], told: str) -> None:
    assert broken(limits, changes("", ("a", 3), ("b/c", 4))) == told


@pytest.mark.parametrize(
    ("pattern", "path", "does"),
    [
        ("*.lock", "poetry.lock", True),
        ("*.lock", "web/yarn.lock", True),
        ("*.lock", "lock", False),
        ("infra/**", "infra/a/b.tf", True),
        ("infra/**", "other/infra/b.tf", False),
        ("infra/", "infra/a", True),
        ("infra", "x/infra/a", True),
        ("/infra", "x/infra/a", False),
        ("/infra", "infra/a", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/b.py", "src/b.py", True),
        ("src/**/b.py", "src/x/y/b.py", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("[x]", "x", False),
    ],
)
def test_paths_are_forbidden_as_in_gitignore(pattern: str, path: str, does: bool) -> None:
    assert path_patterns.matches(pattern, path) is does


@pytest.mark.parametrize("pattern", ["*a" * 400, "**/a" * 250, "**" * 500 + "b", "?*" * 400])
def test_no_pattern_takes_longer_than_its_length_times_that_of_the_path(pattern: str) -> None:
    """Each of these would keep a regular expression busy for longer than anybody waits."""
    work = path_patterns.Work(10_000_000)
    assert not path_patterns.matches(pattern, "a" * 200, work)
    assert not path_patterns.matches(pattern, "a/" * 200 + "c", work)


def test_what_cannot_be_compared_in_time_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff_limits, "MOST_STEPS", 10)
    told = broken({"forbidden_paths": ["*o*n*g*h"]}, changes("", ("src/a/long/path.py", 1)))
    assert "too many for these patterns" in told


def test_a_file_may_not_be_moved_out_of_a_forbidden_place_either() -> None:
    told = broken({"forbidden_paths": ["secret/**"]}, changes("", ("open/key", 0), old="secret/key"))
    assert told == "secret/key may not be changed (secret/**). Undo that."


PATCH = """diff --git a/app.py b/app.py
--- a/app.py
+++ b/app.py
@@ -1,2 +1,3 @@
 one
-two
+TWO
+{line}
"""


@pytest.mark.parametrize("line", [f"key = '{SECRET}'", f"++ {SECRET}", f"@@ -1 +1 @@ {SECRET}", f"-- {SECRET}"])
def test_what_looks_like_a_secret_is_found_with_its_place_whatever_the_line_begins_with(line: str) -> None:
    told = broken({"forbid_secrets": True}, changes(PATCH.format(line=line), ("app.py", 3)))
    assert "Looks like a secret: app.py:3." in told
    assert SECRET not in told


def test_a_secret_that_was_there_before_or_goes_away_is_no_fault_of_the_change() -> None:
    patch = f"--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n {SECRET}\n-{SECRET}\n"
    assert broken({"forbid_secrets": True}, changes(patch, ("x", 1))) == ""


def test_changes_too_large_to_search_do_not_pass() -> None:
    assert "too large" in broken({"forbid_secrets": True}, changes("", truncated=True))


# --- real repositories -----------------------------------------------------------------------------------------------


def limited(order: CheckOrder, directory: Path) -> Diff:
    return task_worktrees.changes(task_worktrees.checked_out(order, directory))


def order(worktree: worktrees.Worktree, repository: Repository) -> CheckOrder:
    return CheckOrder(
        "chk_1",
        str(repository.path),
        ({"diff": {"max_files": 1}},),
        project_id="prj",
        worktree=str(worktree.working_directory),
        worktree_task_id="t1",
        worktree_path=str(worktree.path),
    )


def test_limits_look_at_what_is_committed_and_what_is_not_since_the_base(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project")
    repository.commit("first", a="one\n", b="two\n")
    made = worktrees.make(repository.path, tmp_path / "w" / "prj", "t1", [])
    (made.path / "a").write_text("changed\n")
    worktrees.keep(made, "work", "w1")
    (made.path / "new").write_text(f"token = {SECRET}\n")
    seen = limited(order(made, repository), tmp_path / "w")
    assert sorted(each.path for each in seen.files) == ["a", "new"]
    assert "new:1" in broken({"forbid_secrets": True}, seen)
    assert broken({"max_files": 2, "forbidden_paths": ["b"]}, seen) == ""


@pytest.mark.parametrize("attribute", ["-diff", "binary"])
@pytest.mark.parametrize("commits", [True, False])
def test_an_agent_cannot_hide_lines_behind_attributes_of_its_own(tmp_path: Path, attribute: str, commits: bool) -> None:
    repository = Repository(tmp_path / "project")
    (repository.path / ".gitattributes").write_text("lock -diff\n")
    repository.commit("first", a="one\n", lock="1\n")
    made = worktrees.make(repository.path, tmp_path / "w" / "prj", "t1", [])
    (made.path / ".gitattributes").write_text(f"* {attribute}\n")
    (made.path / "a").write_text("one\n" * 20)
    (made.path / "lock").write_text("2\n" * 20)
    (made.path / "new").write_text(f"token = {SECRET}\n")
    if commits:
        worktrees.keep(made, "work", "w1")
    seen = limited(order(made, repository), tmp_path / "w")
    assert {each.path: each.insertions for each in seen.files} == {".gitattributes": 1, "a": 19, "lock": 0, "new": 1}
    assert "--- a/a\n+++ b/a\n" in seen.patch
    assert "new:1" in broken({"forbid_secrets": True}, seen)
    assert "added or deleted" in broken({"max_lines": 20}, seen)


def test_limits_in_a_project_without_worktrees_say_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="isolation"):
        limited(CheckOrder("chk_1", str(tmp_path), ()), tmp_path / "w")


def test_a_worktree_that_is_gone_does_not_pass(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project")
    repository.commit("first", a="one\n")
    made = worktrees.make(repository.path, tmp_path / "w" / "prj", "t1", [])
    worktrees.remove(made)
    with pytest.raises(Trouble, match="no longer on this machine"):
        limited(order(made, repository), tmp_path / "w")


def made_with_history(tmp_path: Path) -> tuple[Repository, worktrees.Worktree]:
    repository = Repository(tmp_path / "project")
    repository.commit("first", a="one\n")
    return repository, worktrees.make(repository.path, tmp_path / "w" / "prj", "t1", [])


def test_a_secret_that_was_committed_and_removed_again_is_refused_and_the_commit_is_named(tmp_path: Path) -> None:
    """A merge brings every commit, whatever their sum is."""
    repository, made = made_with_history(tmp_path)
    (made.path / "new").write_text(f"x\ntoken = {SECRET}\n")
    worktrees.keep(made, "work", "w1")
    leak = git_in(made.path, "rev-parse", "HEAD")
    (made.path / "new").write_text("x\n")
    worktrees.keep(made, "work", "w1")
    told = broken({"forbid_secrets": True}, limited(order(made, repository), tmp_path / "w"))
    assert f"new:2 in commit {leak[:10]}" in told
    assert SECRET not in told
    git_in(made.path, "reset", "--soft", made.base_commit)
    git_in(made.path, "commit", "-m", "again")
    assert broken({"forbid_secrets": True}, limited(order(made, repository), tmp_path / "w")) == ""


@pytest.mark.parametrize("where", ["message", "merge"])
def test_a_secret_in_a_message_or_in_a_merge_itself_is_found(tmp_path: Path, where: str) -> None:
    repository, made = made_with_history(tmp_path)
    (made.path / "a").write_text("two\n")
    git_in(made.path, "commit", "-am", f"two\n\n{SECRET}" if where == "message" else "two")
    if where == "merge":
        repository.commit("theirs", b="theirs\n")
        git_in(made.path, "fetch", "-q", str(repository.path), "main")
        git_in(made.path, "merge", "-q", "--no-commit", "FETCH_HEAD")
        (made.path / "a").write_text(f"{SECRET}\n")
        git_in(made.path, "add", "-A")
        git_in(made.path, "commit", "-m", "merged")
        (made.path / "a").write_text("two\n")
        git_in(made.path, "commit", "-am", "removed")
    told = broken({"forbid_secrets": True}, limited(order(made, repository), tmp_path / "w"))
    assert f"{'the message of commit' if where == 'message' else 'a:1 in commit'} " in told


def test_commits_too_large_to_search_do_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, made = made_with_history(tmp_path)
    (made.path / "a").write_text("x\n" * 1_000)
    worktrees.keep(made, "work", "w1")
    (made.path / "a").write_text("one\n")
    worktrees.keep(made, "work", "w1")
    monkeypatch.setattr(task_worktrees, "LARGEST_SEARCHED", 500)
    told = broken({"forbid_secrets": True}, limited(order(made, repository), tmp_path / "w"))
    assert "too large" in told


def git_in(place: Path, *arguments: str) -> str:
    given = ["git", "-c", "user.name=w1", "-c", "user.email=w1@example.org", *arguments]
    return subprocess.run(given, cwd=place, check=True, capture_output=True, text=True).stdout.strip()
