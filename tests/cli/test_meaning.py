"""Which task, project or server is meant: ends of ids, titles, the only project, what the shell completes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.conftest import Process, Toryo
from toryo.cli import command_line


@pytest.fixture
def task(server: Toryo, project: str) -> str:
    return str(server.json("task", "add", f"Bake for {project}", "--project", project)["task_id"])


def test_a_task_is_meant_by_the_end_of_its_id_and_by_its_title(server: Toryo, project: str, task: str) -> None:
    for meant in (task, task[-8:], f"Bake for {project}"):
        assert server.json("task", "show", meant)["task"]["task_id"] == task
    refused = server("task", "show", "Bake nothing")
    assert (refused.code, refused.out) == (4, "")


def test_a_task_of_an_archived_project_is_still_found_by_its_title(server: Toryo, project: str, task: str) -> None:
    assert server("project", "archive", project).code == 0
    assert server.json("task", "show", f"Bake for {project}")["task"]["task_id"] == task


def test_a_title_comes_before_the_end_of_another_tasks_id(server: Toryo, project: str, task: str) -> None:
    named = str(server.json("task", "add", task[-8:], "--project", project)["task_id"])
    assert server.json("task", "show", task[-8:])["task"]["task_id"] == named
    assert server.json("task", "show", task[-9:])["task"]["task_id"] == task


def test_a_title_that_several_tasks_have_means_none(server: Toryo, project: str, task: str) -> None:
    other = str(server.json("task", "add", f"Bake for {project}", "--project", project)["task_id"])
    refused = server("task", "cancel", f"Bake for {project}")
    assert refused.code == 2
    assert task in refused.err and other in refused.err


def test_tasks_of_all_projects_are_listed_with_their_project(server: Toryo, project: str, task: str) -> None:
    server.json("project", "add", "Other", "--id", f"{project}.other", "--dir", ".")
    assert task in {each["task_id"] for each in server.json("task", "list")["tasks"]}
    line = next(each for each in server("task", "list").out.splitlines() if task in each)
    assert project in line
    refused = server("task", "add", "Where?")
    assert refused.code == 2
    assert "--project" in refused.err


def test_tables_have_no_blanks_at_the_ends_of_their_lines(server: Toryo, task: str) -> None:
    printed = server("task", "list").out
    assert task in printed
    assert [line for line in printed.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize("words", ["toryo task show ", "toryo task add x --project ", "toryo project show "])
def test_the_shell_is_offered_ids(server: Toryo, project: str, task: str, words: str) -> None:
    place = str(len(words.split()))
    offered = server(_TORYO_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place).out.split()
    assert (task if "show " in words and "task" in words else project) in offered


@pytest.mark.deep
def test_a_command_that_is_shown_can_be_typed_where_directories_have_blanks(nowhere: Toryo, tmp_path: Path) -> None:
    place = tmp_path / "私の プロジェクト"
    place.mkdir()
    team = nowhere("init", "--yes", "--provider", "none", cwd=place)
    assert team.code == 0
    process = Process("up", "--port", "0", environment=nowhere.environment, cwd=place)
    try:
        shown = process.until("Sign in with: ").partition(": ")[2]
    finally:
        process.end()
    words = shlex.split(shown)
    assert (words[-2], Path(words[-1]).name) == ("--data-dir", "data")
    assert Path(words[-1]).is_dir()


def test_no_help_is_cut_on_a_terminal_of_80_columns(nowhere: Toryo, tmp_path: Path) -> None:
    command: Any = typer.main.get_command(command_line.whole())
    groups = ["", *(name for name, each in command.commands.items() if hasattr(each, "commands"))]
    cut = [
        line.strip()
        for group in groups
        for line in nowhere(*group.split(), "--help", COLUMNS="80").out.splitlines()
        if not line.startswith("Usage") and (line.rstrip().endswith("...") or len(line) > 80)
    ]
    assert cut == []
