"""`toryo init` and `toryo apply`: a team as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Toryo
from toryo.cli import manifest
from toryo.cli.failures import Misuse

TEAM = """\
projects:
  - id: {name}
    name: {name}
    directory: work
    settings: {{language: ja}}
agents:
  - id: {name}.hand
    role: worker
    reports_to: {name}.head
    provider: command
    capabilities: [sawing]
    projects: [{name}]
  - id: {name}.head
    role: manager
    projects: [{name}]
tasks:
  - project: {name}
    title: Second
    parent: Whole
    depends_on: [First]
  - project: {name}
    title: First
    parent: Whole
    assignee: {name}.hand
    context: {{command: ls}}
    acceptance: [{{file: out.txt}}]
  - project: {name}
    title: Whole
    assignee: {name}.head
"""


@pytest.fixture
def team(tmp_path: Path, project: str) -> Path:
    """A file with a team of the test's own."""
    (tmp_path / "work").mkdir()
    file = tmp_path / "toryo.yaml"
    file.write_text(TEAM.format(name=f"{project}.team"))
    return file


def test_applying_makes_everything_and_again_changes_nothing(server: Toryo, team: Path) -> None:
    made = server.json("apply", str(team))["changes"]
    kinds = [(each["verb"], each["kind"]) for each in made]
    assert kinds.count(("made", "project")) == 1
    assert kinds.count(("made", "agent")) == 2
    assert kinds.count(("joined", "project")) == 2
    assert kinds.count(("made", "task")) == 3
    assert server.json("apply", str(team))["changes"] == []
    assert server("apply", str(team)).out == "nothing to change\n"


def test_what_is_applied_is_what_the_file_says(server: Toryo, team: Path, project: str, tmp_path: Path) -> None:
    name = f"{project}.team"
    server.json("apply", str(team))
    made = server.json("project", "show", name)
    assert made["project"]["working_directory"] == str(tmp_path / "work")
    assert made["project"]["settings"]["language"] == "ja"
    assert {each["agent_id"] for each in made["members"]} == {f"{name}.hand", f"{name}.head"}
    assert server.json("agent", "show", f"{name}.hand")["agent"]["reports_to"] == f"{name}.head"
    tasks = {each["title"]: each for each in server.json("task", "list", "--project", name)["tasks"]}
    assert tasks["Second"]["dependencies"] == [tasks["First"]["task_id"]]
    assert {tasks[each]["parent_task_id"] for each in ("First", "Second")} == {tasks["Whole"]["task_id"]}
    first = server.json("task", "show", tasks["First"]["task_id"])["task"]
    assert (first["context"], first["acceptance"]) == ({"command": "ls"}, [{"file": "out.txt"}])


def test_only_what_differs_is_changed_and_named(server: Toryo, team: Path, project: str) -> None:
    server.json("apply", str(team))
    text = team.read_text().replace("[sawing]", "[sawing, planing]").replace("language: ja", "language: en")
    team.write_text(text.replace("command: ls", "command: ls -l"))
    changed = {(each["kind"], each["detail"]) for each in server.json("apply", str(team))["changes"]}
    assert changed == {("project", "settings"), ("agent", "capabilities"), ("task", "context")}


def test_an_agent_that_nobody_starts_is_told_its_passkey(server: Toryo, team: Path, project: str) -> None:
    made = {each["id"]: each for each in server.json("apply", str(team))["changes"] if each["kind"] == "agent"}
    assert made[f"{project}.team.head"]["passkey"]
    assert "passkey" not in made[f"{project}.team.hand"]


def test_every_mistake_is_named_with_its_line_and_the_nearest_key(tmp_path: Path) -> None:
    file = tmp_path / "toryo.yaml"
    file.write_text("projects:\n  - id: a\n    nam: b\n    directory: .\nagents:\n  - id: x\n    role: boss\n")
    with pytest.raises(Misuse) as caught:
        manifest.read(file)
    assert f"{file}:3" in caught.value.what
    assert "did you mean name?" in caught.value.what
    assert f"{file}:7" in caught.value.what


def test_a_file_with_a_mistake_changes_nothing(server: Toryo, team: Path, project: str) -> None:
    team.write_text(team.read_text() + "    titel: x\n")
    ended = server("apply", str(team))
    assert (ended.code, ended.out) == (2, "")
    assert "title" in ended.err
    assert server("project", "show", f"{project}.team").code == 4


def test_agents_who_report_in_a_circle_are_a_mistake(server: Toryo, team: Path, project: str) -> None:
    name = f"{project}.team"
    team.write_text(team.read_text().replace("role: manager", f"role: manager\n    reports_to: {name}.hand"))
    ended = server("apply", str(team))
    assert ended.code == 2
    assert "circle" in ended.err


def test_a_dependency_on_a_task_that_is_not_there_is_a_mistake(server: Toryo, team: Path) -> None:
    team.write_text(team.read_text().replace("depends_on: [First]", "depends_on: [Frist]"))
    ended = server("apply", str(team))
    assert ended.code == 2
    assert "Frist" in ended.err


def test_init_writes_a_file_that_can_be_applied(server: Toryo, tmp_path: Path, project: str) -> None:
    place = tmp_path / f"{project} place"
    place.mkdir()
    ended = server("init", "--yes", "--json", "--dir", str(place))
    assert (ended.code, ended.json["file"]) == (0, str(place / "toryo.yaml"))
    assert (place / ".toryo" / ".gitignore").read_text() == "*\n"
    read = manifest.read(place / "toryo.yaml")
    assert read.projects[0].directory == place
    assert read.projects[0].name == place.name


def test_init_never_overwrites_a_file(nowhere: Toryo, tmp_path: Path) -> None:
    (tmp_path / "toryo.yaml").write_text("projects: []\n")
    ended = nowhere("init", "--yes")
    assert ended.code == 2
    assert (tmp_path / "toryo.yaml").read_text() == "projects: []\n"
