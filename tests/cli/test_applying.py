"""`toryo apply` carries out all of a file or nothing, and names what is wrong with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Ended, Toryo
from toryo.cli import manifest
from toryo.cli.failures import Misuse

HEAD = """\
projects:
  - id: {name}
    name: {name}
    directory: .
agents:
  - id: {name}.w1
    role: worker
    provider: command
    projects: [{name}]
tasks:
  - project: {name}
    title: One
    assignee: {name}.w1
"""

WRONG = {
    "an assignee that nobody is": ("  - {{project: {name}, title: Two, assignee: {name}.w2}}\n", "there is no agent"),
    "a dependency that no task is": ("  - {{project: {name}, title: Two, depends_on: [Onne]}}\n", "did you mean One?"),
    "a parent that no task is": ("  - {{project: {name}, title: Two, parent: Onne}}\n", "there is no task 'Onne'"),
    "a project that is not there": ("  - {{project: {name}x, title: Two}}\n", "there is no project"),
    "a status that no task begins with": ("  - {{project: {name}, title: Two, status: done}}\n", "status"),
    "a title that is there twice": ("  - {{project: {name}, title: One}}\n", "the other is on line 12"),
    "a task that waits for itself": ("  - {{project: {name}, title: Two, depends_on: [Two]}}\n", "in a circle"),
    "what the server alone refuses": (
        "  - {{project: {name}, title: " + "x" * 400 + "}}\n",
        "title: String should have at most 300 characters",
    ),
}


@pytest.fixture
def name(project: str) -> str:
    return f"{project}.file"


def applied(server: Toryo, folder: Path, text: str) -> Ended:
    file = folder / "toryo.yaml"
    file.write_text(text)
    return server("apply", str(file))


def nothing_was_made(server: Toryo, name: str) -> bool:
    projects = {each["project_id"] for each in server.json("project", "list")["projects"]}
    agents = {each["agent_id"] for each in server.json("agent", "list")["agents"]}
    return name not in projects and not any(each.startswith(f"{name}.") for each in agents)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_mistake_anywhere_in_a_file_is_named_with_its_line_and_nothing_is_made(
    server: Toryo, name: str, tmp_path: Path, wrong: str
) -> None:
    line, words = WRONG[wrong]
    ended = applied(server, tmp_path, (HEAD + line).format(name=name))
    assert ended.code in (2, 4)
    assert ended.out == ""
    assert "toryo.yaml:14: " in ended.err
    assert words in ended.err
    assert "Nothing was changed." in ended.err
    assert nothing_was_made(server, name)


@pytest.mark.parametrize(
    ("was", "now", "line"),
    [
        ("directory: .", "directory: .\n    settings: {{langauge: ja}}", 5),
        ("directory: .", "directory: .\n    settings: {{language: fr}}", 5),
        ("- id: {name}.w1", "- id: Ü", 6),
        ("role: worker", "role: worker\n    reports_to: {name}.boss", 8),
        ("projects: [{name}]", "projects: [{name}, other]", 9),
        ("provider: command", "provider: playbook\n    provider_options: {{playbook: plan.yaml}}", 9),
        ("provider: command", "provider: playbook\n    provider_options: {{playbook: {{tsks: []}}}}", 9),
    ],
)
def test_settings_ids_superiors_and_playbooks_are_judged_before_anything_is_made(
    server: Toryo, name: str, tmp_path: Path, was: str, now: str, line: int
) -> None:
    ended = applied(server, tmp_path, HEAD.replace(was, now).format(name=name))
    assert ended.code == 2
    assert f"toryo.yaml:{line}: " in ended.err
    assert nothing_was_made(server, name)


def test_all_mistakes_are_told_at_once(server: Toryo, name: str, tmp_path: Path) -> None:
    second = WRONG["a parent that no task is"][0].replace("Two", "Three")
    text = HEAD + WRONG["an assignee that nobody is"][0] + second
    ended = applied(server, tmp_path, text.format(name=name))
    assert "toryo.yaml:14: " in ended.err
    assert "toryo.yaml:15: " in ended.err


def test_of_two_open_tasks_with_one_title_none_is_guessed(server: Toryo, name: str, tmp_path: Path) -> None:
    assert applied(server, tmp_path, HEAD.format(name=name)).code == 0
    server.json("task", "add", "One", "--project", name)
    ended = applied(server, tmp_path, HEAD.format(name=name))
    assert ended.code == 2
    assert "several open tasks of this project have the title 'One'" in ended.err


def test_what_was_taken_out_of_a_file_stays_and_is_told(server: Toryo, name: str, tmp_path: Path) -> None:
    text = HEAD.format(name=name)
    with_more = text.replace("directory: .", "directory: .\n    settings: {isolation: worktree}")
    with_more = with_more.replace("role: worker", "role: worker\n    system_prompt: Be brief.")
    assert applied(server, tmp_path, with_more).err == ""
    ended = applied(server, tmp_path, text)
    assert ended.out == "nothing to change\n"
    assert "isolation is worktree, though not in the file." in ended.err
    assert f"toryo project edit {name} --set isolation=none" in ended.err
    assert f"agent {name}.w1: system_prompt, though not in the file." in ended.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"# nothing\n", "the file is empty"),
        (b"- a list\n", "this is no toryo.yaml"),
        (b"just words\n", "this is no toryo.yaml"),
        ("projects: []\n".encode("utf-16"), "UTF-8"),
        (bytes(range(256)), "UTF-8"),
    ],
)
def test_a_file_that_is_none_is_called_so(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "toryo.yaml"
    file.write_bytes(content)
    with pytest.raises(Misuse, match=words):
        manifest.read(file)


def test_a_directory_in_the_place_of_a_file_is_called_so(nowhere: Toryo, tmp_path: Path) -> None:
    ended = nowhere("apply", ".")
    assert ended.code == 2
    assert "is a directory" in ended.err
