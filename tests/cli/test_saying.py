"""What commands say of what they did: one verb per kind of write, nothing where nothing changed, the words that were
typed, and no codes."""

from __future__ import annotations

import json

import pytest
import typer

from tests.cli.conftest import Toryo
from toryo import deeds
from toryo.cli import command_line, usage_lines
from toryo.operations.calls.catalogue import catalogue


@pytest.fixture
def task(server: Toryo, project: str) -> str:
    told = server("task", "add", f"Paint {project}", "--project", project).out
    assert told.startswith("created tsk_")
    return told.split()[1]


def test_an_edit_says_updated_or_that_nothing_was_changed(server: Toryo, project: str, agent: str, task: str) -> None:
    server("person", "add", f"{agent}.p", "--role", "viewer")
    edits = (
        ("project", project, "--name", "Yard"),
        ("agent", agent, "--name", "Mia"),
        ("agent", agent, "--leave", project),
        ("agent", agent, "--project", project),
        ("task", task, "--title", "Paint it"),
        ("person", f"{agent}.p", "--name", "Ann"),
    )
    for kind, name, *words in edits:
        told = [server(kind, "edit", name, *words).out for _ in range(2)]
        assert told[0].startswith(f"updated {name}"), (words, told)
        assert told[1] == f"{name} has these values already; nothing was changed\n", words


def test_retrying_and_cancelling_say_why_not_and_what_to_do(server: Toryo, task: str) -> None:
    retried = server("task", "retry", task)
    assert retried.code == 4
    assert retried.err.startswith(f"toryo: Only failed tasks can be retried; {task} is todo. ")
    assert server("task", "cancel", task).out == f"{task}: todo → cancelled\n"
    again = server("task", "cancel", task)
    assert (again.code, again.out) == (0, f"{task} is already cancelled; nothing was changed\n")
    assert server("task", "retry", task).err.endswith(
        f"Only failed tasks can be retried; {task} is cancelled. Create a new task: toryo task add TITLE\n"
    )


def test_a_mistake_is_named_as_it_was_typed(server: Toryo, project: str, task: str) -> None:
    long = "x" * 400
    for words, name in (
        (("task", "add", "Do", "--project", project, "--assignee", long), "--assignee"),
        (("task", "edit", task, "--title", long * 5), "--title"),
        (("task", "steer", task, " "), "TEXT"),
    ):
        assert server(*words).err.startswith(f"toryo: {name} "), words


def test_every_parameter_that_is_typed_under_another_name_exists() -> None:
    parameters = {name for each in catalogue().values() for name in each.parameters.model_fields}
    assert deeds.OPTION_OF.keys() <= parameters


def test_the_reason_codes_of_a_decision_are_shown_on_request(server: Toryo, agent: str) -> None:
    told = server("why", agent).out
    assert "(task): not running\n" in told
    assert "not_managed" not in told
    assert "Launch rule" not in told
    verbose = server("why", agent, "--verbose").out
    assert "Launch rule" in verbose
    assert "(hold not_managed)" in verbose


def test_why_says_that_there_is_neither_such_an_agent_nor_such_a_task(server: Toryo) -> None:
    assert "There is no agent and no task qqqqzzzz." in server("why", "qqqqzzzz").err


def test_why_finds_a_task_by_its_title(server: Toryo, project: str, task: str) -> None:
    assert f"{task} todo  Paint {project}" in server("why", f"Paint {project}").out


def test_a_saved_message_and_a_list_of_needs_do_not_contradict_themselves(
    fresh_server: Toryo, tmp_path: object
) -> None:
    fresh_server("project", "add", "Yard", "--id", "yard", "--dir", str(tmp_path))
    assert fresh_server("needs").err == ""  # it has no agent yet, which is said instead
    fresh_server("agent", "add", "mia", "--role", "worker", "--project", "yard")
    task = fresh_server("task", "add", "Paint", "--assignee", "mia").out.split()[1]
    assert fresh_server("task", "steer", task, "Blue.").out == "Saved. The next session of this task reads it first.\n"
    told = fresh_server("needs")
    assert "Nothing needs" not in told.out + told.err
    assert told.err.startswith("1 task is assigned but not started: ")


def test_the_server_is_named_where_it_may_be_another_than_the_one_that_runs_here(server: Toryo) -> None:
    url = json.loads((server.home / "data" / "server.json").read_bytes())["url"]
    assert "(Server:" not in server("agent", "show", "qqqqzzzz").err
    assert f"(Server: {url})" in server("--server", url, "agent", "show", "qqqqzzzz").err


def test_no_usage_line_has_braces() -> None:
    program = typer.main.get_command(command_line.whole())
    usage_lines.plain(program)
    lines = []

    def collect(command: object, path: str) -> None:
        with typer.Context(command, info_name=path) as context:  # type: ignore[arg-type]
            lines.append(context.get_usage())
        for name, below in getattr(command, "commands", {}).items():
            collect(below, f"{path} {name}")

    collect(program, "toryo")
    assert [line for line in lines if "{" in line] == []
    assert "Usage: toryo task move [OPTIONS] TASK [STATUS]" in lines


def test_worktrees_of_a_directory_that_is_no_repository_are_warned_about(server: Toryo, project: str) -> None:
    told = server("project", "edit", project, "--set", "isolation=worktree")
    assert told.out == f"updated {project}\n"
    assert f"toryo: warning: tasks of {project} cannot start (isolation: worktree): " in told.err
    assert "Run git init there" in told.err
    assert "warning" not in server("project", "edit", project, "--set", "isolation=none").err


def test_a_project_that_contains_the_home_is_warned_about(server: Toryo) -> None:
    told = server("project", "add", "All", "--id", "all", "--dir", str(server.home.parent))
    assert "toryo: warning: agents of all cannot start in a sandbox: " in told.err
    (server.home / "inner").mkdir()
    assert "warning" not in server("project", "edit", "all", "--dir", str(server.home / "inner")).err
