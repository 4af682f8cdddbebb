"""`toryo apply` carries out all of a file or nothing, and names what is wrong with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tests.cli.conftest import Ended, Toryo
from toryo.cli import manifest, manifest_apply
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import Misuse

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
    "a title that is there twice": ("  - {{project: {name}, title: One}}\n", "the other one is on line 12"),
    "a task that waits for itself": ("  - {{project: {name}, title: Two, depends_on: [Two]}}\n", "in a circle"),
    "what the server alone refuses": (
        "  - {{project: {name}, title: " + "x" * 400 + "}}\n",
        "title must have at most 300 characters",
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
    projects = {project["project_id"] for project in server.json("project", "list")["projects"]}
    agents = {agent["agent_id"] for agent in server.json("agent", "list")["agents"]}
    return name not in projects and not any(agent.startswith(f"{name}.") for agent in agents)


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


MANY = """\
projects:
  - {{id: {name}, name: {name}, directory: ., settings: {{langauge: ja}}}}
agents:
  - {{id: {name}.w1, role: wroker, projects: [{name}]}}
  - {{id: {name}.w2, role: worker, reports_to: {name}.w1, projects: [{name}]}}
  - {{id: {name}.w3, role: worker, reports_to: nobody}}
  - id: {name}.lead
    role: manager
    provider: playbook
    projects: [{name}]
    provider_options:
      playbook: {{tasks: [{{match: "(", subtasks: [{{id: a, title: A}}]}}]}}
tasks:
  - {{project: {name}, title: One, depends_on: [Two]}}
  - {{project: {name}, title: Two, depends_on: [One]}}
  - {{project: {name}, title: Three, assignee: {name}.w1}}
  - {{project: {name}, title: Four, parent: Fvie}}
  - {{project: {name}, title: Five, priority: higher}}
  - {{project: {name}, title: Six, parent: Five}}
"""


def test_mistakes_of_every_kind_are_told_in_one_round(server: Toryo, name: str, tmp_path: Path) -> None:
    ended = applied(server, tmp_path, MANY.format(name=name))
    assert ended.code == 2
    told = {int(line.split("toryo.yaml:")[1].split(":")[0]) for line in ended.err.splitlines() if "toryo.yaml:" in line}
    assert told == {2, 4, 6, 12, 14, 17, 18}
    assert nothing_was_made(server, name)


def test_without_a_server_the_mistakes_of_the_file_are_told(nowhere: Toryo, tmp_path: Path) -> None:
    ended = applied(nowhere, tmp_path, MANY.format(name="p"))
    assert ended.code == 2
    assert "toryo.yaml:4: agents[0].role" in ended.err
    assert "toryo.yaml:12: agent p.lead: tasks[0].match: this is not a valid regular expression" in ended.err


def test_a_playbook_may_name_agents_that_only_the_server_has(server: Toryo, name: str, tmp_path: Path) -> None:
    text = HEAD.format(name=name).replace("role: worker", f"role: worker\n    reports_to: {name}.lead")
    text += f"""agents2:
  - id: {name}.lead
    role: manager
    provider: playbook
    projects: [{name}]
    provider_options:
      playbook: {{tasks: [{{subtasks: [{{id: a, title: A, assignee: {name}.w1}}]}}]}}
"""
    head, lead = text.split("agents2:\n")
    assert applied(server, tmp_path, head.replace("agents:\n", "agents:\n" + lead)).code == 0
    only = f"agents:\n{lead}"
    assert applied(server, tmp_path, only).out == "nothing to change\n"
    ended = applied(server, tmp_path, only.replace(f"assignee: {name}.w1", f"assignee: {name}.w2"))
    assert ended.code == 2
    assert f"toryo.yaml:7: agent {name}.lead: tasks[0].subtasks[0].assignee: there is no agent" in ended.err


def test_a_wrong_playbook_is_refused_where_agents_are_edited(server: Toryo, name: str, tmp_path: Path) -> None:
    file = tmp_path / "options.yaml"
    file.write_text("labels: [x]\nplaybook:\n  tasks:\n    - match: '('\n      subtasks: [{id: a, title: A}]\n")
    words = ("agent", "add", f"{name}.m", "--role", "manager", "--provider", "playbook")
    ended = server(*words, "--options", f"@{file}")
    assert ended.code == 2
    assert f"{file}:4: tasks[0].match: this is not a valid regular expression" in ended.err
    assert nothing_was_made(server, name)


def test_of_two_open_tasks_with_one_title_none_is_guessed(server: Toryo, name: str, tmp_path: Path) -> None:
    assert applied(server, tmp_path, HEAD.format(name=name)).code == 0
    server.json("task", "add", "One", "--project", name)
    ended = applied(server, tmp_path, HEAD.format(name=name))
    assert ended.code == 2
    assert "several open tasks of this project on the server have the title 'One': tsk_" in ended.err
    rename = re.search(r"toryo (task edit tsk_\w+) --title TITLE", ended.err)
    assert rename is not None
    assert server(*rename[1].split(), "--title", "Another").code == 0
    assert applied(server, tmp_path, HEAD.format(name=name)).code == 0


def test_what_was_taken_out_of_a_file_stays_and_is_told(server: Toryo, name: str, tmp_path: Path) -> None:
    text = HEAD.format(name=name)
    with_more = text.replace("directory: .", "directory: .\n    settings: {decomposition: never}")
    with_more = with_more.replace("role: worker", "role: worker\n    system_prompt: Be brief.")
    assert "on the server, but not in the file" not in applied(server, tmp_path, with_more).err
    ended = applied(server, tmp_path, text)
    assert ended.out == "nothing to change\n"
    assert "decomposition is never on the server, but not in the file." in ended.err
    assert f"toryo project edit {name} --set decomposition=required" in ended.err
    assert f"agent {name}.w1: system_prompt are set on the server, but not in the file." in ended.err


def test_a_file_that_renames_a_project_files_its_new_tasks_in_it(server: Toryo, name: str, tmp_path: Path) -> None:
    text = HEAD.format(name=name)
    assert applied(server, tmp_path, text).code == 0
    renamed = text.replace(f"    name: {name}\n", f"    name: {name} renamed\n")
    ended = applied(server, tmp_path, f"{renamed}  - {{project: {name}, title: Two}}\n")
    assert ended.code == 0, ended.err
    (project,) = [each for each in server.json("project", "list")["projects"] if each["project_id"] == name]
    assert project["name"] == f"{name} renamed"
    titles = sorted(each["title"] for each in server.json("task", "list", "--project", name)["tasks"])
    assert titles == ["One", "Two"]


class Answers:
    """A server that has these projects and tasks, and keeps what it is sent."""

    def __init__(self, projects: Sequence[tuple[str, str]], tasks: Sequence[dict[str, Any]] = ()) -> None:
        rest = {"settings": {}, "working_directory": "/", "status": "active"}
        self.projects = [{"project_id": id_, "name": name, **rest} for id_, name in projects]
        self.tasks = tasks
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def get(self, path: str) -> dict[str, Any]:
        if path == "/projects":
            return {"projects": self.projects}
        if path == "/agents" or path.endswith("/members"):
            people = [{"agent_id": "owner", "kind": "human"}, {"agent_id": "w1", "kind": "ai"}]
            return {"agents": people if path == "/agents" else []}
        if path.endswith("/tasks"):
            return {"tasks": self.tasks}
        return {"task": next(each for each in self.tasks if path == f"/tasks/{each['task_id']}")}

    def every(self, path: str, key: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(path)[key]
        return found

    def send(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        assert (method, path) == ("POST", "/changes")
        self.sent += [(change["operation"], change["arguments"]) for change in body["changes"]]
        return {"results": [{"task_id": "tsk_new", "project_id": "new", "changes": []} for _ in body["changes"]]}

    def asked(self, folder: Path, text: str, operation: str) -> list[dict[str, Any]]:
        """What a file makes of it, of one operation."""
        file = folder / "toryo.yaml"
        file.write_text(text)
        manifest_apply.apply(cast("Here", self), manifest.read(file), yes=True)
        return [arguments for each, arguments in self.sent if each == operation]


@pytest.mark.parametrize("other", [("y", "shop"), ("shop", "Other")])
@pytest.mark.parametrize("named", ["x", "shop"])
def test_tasks_of_a_files_project_are_filed_in_no_other_that_its_name_may_mean(
    tmp_path: Path, other: tuple[str, str], named: str
) -> None:
    text = f"projects: [{{id: x, name: shop, directory: .}}]\ntasks: [{{project: {named}, title: T}}]\n"
    for projects in ([("x", "shop"), other], [other, ("x", "shop")]):
        (filed,) = Answers(projects).asked(tmp_path, text, "file_task")
        assert filed["project_id"] == "x"


def test_a_project_that_is_made_gets_its_tasks_though_another_has_its_name(tmp_path: Path) -> None:
    text = "projects: [{id: x, name: shop, directory: .}]\ntasks: [{project: x, title: T}]\n"
    (filed,) = Answers([("shop", "shop")]).asked(tmp_path, text, "file_task")
    assert filed["project_id"] == "@0"


def test_two_projects_of_a_file_with_one_name_get_their_own_tasks(tmp_path: Path) -> None:
    text = (
        "projects: [{id: x, name: shop, directory: .}, {id: y, name: shop, directory: .}]\n"
        "tasks: [{project: x, title: T}, {project: y, title: U}]\n"
    )
    filed = Answers([("x", "shop")]).asked(tmp_path, text, "file_task")
    assert [(each["project_id"], each["title"]) for each in filed] == [("x", "T"), ("@1", "U")]


def test_a_project_named_by_its_name_alone_is_known_though_that_is_the_id_of_another(tmp_path: Path) -> None:
    text = "projects: [{name: shop, directory: .}]\ntasks: [{project: shop, title: T}]\n"
    answers = Answers([("x", "shop"), ("shop", "Other")])
    (filed,) = answers.asked(tmp_path, text, "file_task")
    assert filed["project_id"] == "x"
    assert "create_project" not in [each for each, _ in answers.sent]


HOUSE = "projects: [{id: house, name: House, directory: .}]\ntasks:\n"
ROOT = "  - {project: house, title: T, description: new}\n"
PART = "  - {project: house, title: P}\n  - {project: house, title: T, parent: P, description: new}\n"


def task(id_: str, title: str, by: str, parent: str | None = None, status: str = "todo") -> dict[str, Any]:
    place = {"parent_task_id": parent, "status": status, "created_by": by}
    return {"task_id": id_, "title": title, "description": "old", **place}


@pytest.mark.parametrize(
    ("text", "tasks", "edited"),
    [
        (ROOT, [task("a", "T", "owner"), task("b", "T", "w1", "a")], ["a"]),
        (ROOT, [task("a", "T", "owner", status="completed"), task("b", "T", "w1", "z")], []),
        (ROOT, [task("a", "T", "w1"), task("b", "T", "owner")], ["b"]),
        (ROOT, [task("a", "T", "w1"), task("b", "T", "owner", status="completed")], []),
        (ROOT, [task("a", "T", "w1")], ["a"]),
        (PART, [task("p", "P", "owner"), task("a", "T", "owner"), task("b", "T", "owner", "p")], ["b"]),
        (
            PART.replace("parent: P", "parent: tsk_p"),
            [task("tsk_p", "P", "owner"), task("b", "T", "w1", "tsk_p")],
            ["b"],
        ),
    ],
)
def test_of_tasks_with_one_title_the_one_in_the_files_place_is_meant_and_a_persons_first(
    tmp_path: Path, text: str, tasks: list[dict[str, Any]], edited: list[str]
) -> None:
    answers = Answers([("house", "House")], tasks)
    assert [each["task_id"] for each in answers.asked(tmp_path, HOUSE + text, "edit_task")] == edited
    assert "file_task" not in [each for each, _ in answers.sent]


@pytest.mark.parametrize(
    ("text", "tasks", "below"),
    [
        (ROOT, [task("b", "T", "w1", "z")], None),
        (PART, [task("p", "P", "owner"), task("a", "T", "owner")], "p"),
        (PART, [task("a", "T", "owner"), task("b", "P", "w1", "a")], "@1"),
    ],
)
def test_a_task_is_filed_though_its_title_stands_elsewhere(
    tmp_path: Path, text: str, tasks: list[dict[str, Any]], below: str | None
) -> None:
    filed = Answers([("house", "House")], tasks).asked(tmp_path, HOUSE + text, "file_task")
    assert [each.get("parent_task_id") for each in filed if each["title"] == "T"] == [below]


def test_tasks_of_two_projects_with_one_name_are_none_of_each_others(tmp_path: Path) -> None:
    """The same title in both is no double, and what one depends on is in its own project."""
    file = tmp_path / "team.yaml"
    file.write_text(
        "projects:\n  - {id: one, name: House, directory: .}\n  - {id: two, name: House, directory: .}\n"
        "tasks:\n  - {project: one, title: T}\n  - {project: two, title: T}\n"
    )
    found = manifest.by_project(manifest.read(file))
    assert [[each.project for each in tasks] for tasks in found] == [["one"], ["two"]]


def test_what_a_file_waits_for_is_the_task_of_a_person_not_a_part_that_an_agent_made(tmp_path: Path) -> None:
    text = HOUSE + "  - {project: house, title: U, depends_on: [T]}\n"
    tasks = [task("b", "T", "w1", "a"), task("a", "T", "owner")]
    (filed,) = Answers([("house", "House")], tasks).asked(tmp_path, text, "file_task")
    assert filed["dependencies"] == ["a"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"# nothing\n", "the file is empty"),
        (b"- a list\n", "this is not a toryo.yaml"),
        (b"just words\n", "this is not a toryo.yaml"),
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
