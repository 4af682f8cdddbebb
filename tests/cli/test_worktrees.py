"""`toryo worktrees` and `toryo task diff|merge|discard`, with a real server, Coordinator and repository."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import Ended, Process, Toryo
from tests.cli.terminals import Terminal
from tests.environments import clean_environment
from toryo.client import Client


@dataclass(frozen=True)
class Yard:
    """A repository in which `hand` runs commands, each task in a worktree of its own."""

    toryo: Toryo
    repository: Path

    def git(self, *words: str, at: Path | None = None) -> str:
        person = ("-c", "user.name=Person", "-c", "user.email=person@example.org")
        done = subprocess.run(
            ["git", *person, *words], cwd=at or self.repository, capture_output=True, text=True, check=True
        )
        return done.stdout.rstrip("\n")

    def task(self, title: str, command: str) -> str:
        """A completed task."""
        context = json.dumps({"command": command})
        words = ("--project", "yard", "--assignee", "hand", "--status", "in_progress", "--context", context)
        task = str(self.toryo.json("task", "add", title, *words)["task_id"])
        watched = self.toryo("task", "watch", task)
        assert watched.code == 0, watched
        self.toryo("logs", "hand", "--follow")
        return task

    def __call__(self, *words: str) -> Ended:
        return self.toryo(*words)


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    home = tmp_path_factory.mktemp("yard")
    environment = {**clean_environment(home), "TORYO_DATA_DIR": str(home / "data")}
    up = Process("up", "--port", "0", environment=environment, cwd=home)
    try:
        up.until("Toryo is up at http://")
        made = Yard(Toryo(home, environment), home / "project")
        made.repository.mkdir()
        made.git("init", "--quiet", "--initial-branch=main")
        (made.repository / "a").write_text("one\n")
        made.git("add", "--all")
        made.git("commit", "--quiet", "--message=first")
        words = ("--id", "yard", "--dir", str(made.repository), "--set", "isolation=worktree")
        made.toryo.json("project", "add", "yard", *words)
        made.toryo.json("agent", "add", "hand", "--role", "worker", "--provider", "command", "--project", "yard")
        yield made
    finally:
        up.end()


def test_a_task_is_looked_at_merged_and_is_no_longer_listed(yard: Yard) -> None:
    task = yard.task("Build", "printf 'one\\ntwo\\n' > a; echo new > b")
    listed = yard("worktrees", "--project", "yard")
    at = next(number for number, line in enumerate(listed.out.splitlines()) if line.startswith(task))
    row, where = listed.out.splitlines()[at : at + 2]
    assert row.split("  ") == [task, "hand", "+2 -0 in 2 files", "open"]
    path = yard.toryo.home / "data" / "worktrees" / "yard" / task
    assert where.strip() == f"toryo/{task} in {path}"
    assert "No open task" not in listed.err

    shown = yard("task", "diff", task)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines()[0] == "diff --git a/a b/a"
    assert "+two" in shown.out.splitlines()
    assert "\x1b" not in shown.out
    assert yard("task", "diff", task, "--stat").out.splitlines() == [
        " a | +1 -0",
        " b | +1 -0 (added)",
        " 2 files changed, +2 -0",
    ]
    found = yard.toryo.json("task", "diff", task)
    assert [each["path"] for each in found["files"]] == ["a", "b"]

    merged = yard("task", "merge", task, "--message", "Two more lines")
    assert merged.code == 0, merged
    commit = yard.git("rev-parse", "--short=10", "main")
    assert merged.out == f"merged {task} into main ({commit})\n"
    assert yard.git("log", "-1", "--format=%s") == "Two more lines"
    assert (yard.repository / "b").read_text() == "new\n"
    assert task not in yard("worktrees").out
    assert task in yard("worktrees", "--all").out
    again = yard("task", "merge", task)
    assert (again.code, "already merged into main" in again.err) == (4, True)


@pytest.mark.deep
def test_a_diff_at_a_terminal_is_coloured_and_paged(yard: Yard) -> None:
    task = yard.task("Colour", "echo more >> a")
    environment = {**yard.toryo.environment, "PAGER": "sed s/^/paged:/"}
    del environment["NO_COLOR"]
    terminal = Terminal("task", "diff", task, environment=environment, cwd=yard.repository)
    try:
        terminal.until("paged:\x1b[1mdiff --git")
        terminal.until("paged:\x1b[36m@@")
        terminal.until("paged:\x1b[32m+more\x1b[0m")
        assert terminal.ended() == 0
    finally:
        terminal.close()
    yard("task", "discard", task, "--yes")


@pytest.mark.deep
def test_what_an_agent_writes_does_not_steer_the_terminal_of_who_reads_its_diff(yard: Yard) -> None:
    task = yard.task(
        "Steer", r"printf '\033]52;c;eA==\007more\n' >> a; echo x > \"$(printf 'b\033[2J')\"; echo 日 > 日"
    )
    environment = {**yard.toryo.environment, "PAGER": "cat"}
    for words in ((), ("--stat",)):
        terminal = Terminal("task", "diff", task, *words, environment=environment, cwd=yard.repository)
        try:
            assert terminal.ended() == 0
        finally:
            terminal.close()
        assert "日" in terminal.text
        assert not [each for each in ("\x1b]52", "\x1b[2J", "\x07") if each in terminal.text]
    yard("task", "discard", task, "--yes")


@pytest.mark.deep
def test_a_conflict_ends_with_1_names_its_files_and_the_next_step(yard: Yard) -> None:
    first, second = (yard.task(word, f"echo {word} > fought-over") for word in ("Mine", "Yours"))
    assert yard("task", "merge", first).code == 0
    head = yard.git("rev-parse", "main")
    ended = yard("task", "merge", second)
    assert (ended.code, ended.out) == (1, "")
    assert "conflict in fought-over. Nothing was merged. Merge main into" in ended.err
    document = yard("task", "merge", second, "--json")
    assert document.code == 1
    assert (document.json["success"], document.json["conflict"]) == (False, ["fought-over"])
    assert yard.git("rev-parse", "main") == head
    assert "conflict in" in yard("worktrees").out
    yard("task", "discard", second, "--yes")


def test_a_merge_into_another_branch_leaves_the_checkout_alone(yard: Yard) -> None:
    yard.git("branch", "next")
    task = yard.task("Elsewhere", "echo later > later")
    ended = yard("task", "merge", task, "--into", "next", "--only")
    assert (ended.code, f"merged {task} into next" in ended.out) == (0, True)
    assert not (yard.repository / "later").exists()
    assert yard.git("show", "next:later") == "later"


def test_discarding_asks_first_and_says_how_to_get_it_back(yard: Yard) -> None:
    task = yard.task("Bad", "echo bad > idea")
    unasked = yard("task", "discard", task)
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    terminal = Terminal("task", "discard", task, environment=yard.toryo.environment, cwd=yard.repository)
    try:
        terminal.until("[y/N]")
        terminal.type("n\n")
        assert terminal.ended() == 130
    finally:
        terminal.close()
    assert yard.git("show", f"toryo/{task}:idea") == "bad"
    ended = yard("task", "discard", task, "--yes")
    assert ended.code == 0
    assert yard.git("branch", "--list", "toryo/*") == ""
    command = ended.out[ended.out.index("git branch") :].split()
    yard.git(*command[1:])
    assert yard.git("show", f"toryo/{task}:idea") == "bad"
    yard.git("branch", "-D", f"toryo/{task}")


def test_a_directory_that_no_open_task_has_is_told_and_left_alone(yard: Yard) -> None:
    stray = yard.toryo.home / "data" / "worktrees" / "yard" / "somebodys"
    stray.mkdir(parents=True)
    (stray / "note").write_text("keep me\n")
    listed = yard("worktrees")
    assert f"{stray} belongs to no open task" in listed.err
    assert (stray / "note").exists()
    (found,) = yard.toryo.json("worktrees")["leftovers"]
    assert found["path"] == str(stray)
    (stray / "note").unlink()
    stray.rmdir()


def test_a_task_without_a_worktree_is_refused_with_the_setting_that_makes_one(yard: Yard) -> None:
    task = str(yard.toryo.json("task", "add", "Never", "--project", "yard")["task_id"])
    for words in (("diff",), ("merge",), ("discard", "--yes")):
        ended = yard("task", words[0], task, *words[1:])
        assert (ended.code, "isolation=worktree" in ended.err) == (4, True)


def test_an_answer_that_does_not_come_in_time_is_said_to_be_missing(yard: Yard) -> None:
    task = yard.task("Slow", "echo slow > slow")
    with _nobody_else_merges(yard):
        ended = yard("task", "merge", task, "--wait", "1")
        assert ended.code == 1
        assert "has not finished within 1 s (job_" in ended.err
        assert "toryo worktrees" in ended.err
        assert yard("task", "discard", task, "--yes").code == 4
    job = ended.err[ended.err.index("(job_") + 1 : ended.err.index(")")]
    token = (yard.toryo.home / "data" / "owner.token").read_text().strip()
    with Client(_address(yard), token) as people:
        told = people.rest("GET", f"/worktree-jobs/{job}", params={"wait_seconds": 20})["worktree_job"]
    assert told["done"] is True
    assert (yard.repository / "slow").exists()


@contextlib.contextmanager
def _nobody_else_merges(yard: Yard) -> Iterator[None]:
    """The lock that whoever merges in this project takes."""
    descriptor = os.open(yard.toryo.home / "data" / "worktrees" / "yard", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def _address(yard: Yard) -> str:
    return str(json.loads((yard.toryo.home / "data" / "server.json").read_text())["url"])


@pytest.mark.deep
def test_changes_are_requested_listed_and_asked_about_before_a_merge(yard: Yard) -> None:
    task = yard.task("Prices", "echo 1.005 > prices")
    made = str(yard.toryo.json("task", "request-changes", task, "Round them.")["changes_requested"]["task_id"])
    row = next(line for line in yard("worktrees", "--project", "yard").out.splitlines() if line.startswith(task))
    assert row.endswith(f"changes requested -> Changes to: Prices ({made})")
    assert f"Changes to: Prices ({made}, " in yard("task", "show", task).out
    refused = yard("task", "merge", task)
    assert refused.code != 0
    assert "Changes to: Prices" in refused.err
    assert f"toryo task merge {task} --anyway" in refused.err

    for answer, merged in (("n\n", False), ("y\n", True)):
        terminal = Terminal("task", "merge", task, environment=yard.toryo.environment, cwd=yard.repository)
        try:
            terminal.until("Merge it as it is? [y/N]")
            terminal.type(answer)
            assert (terminal.ended() == 0) is merged
        finally:
            terminal.close()
    assert (yard.repository / "prices").read_text() == "1.005\n"
