"""Tasks for anyone who is free, and several agents of one description, as they are typed and as a file has them."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.cli.conftest import Toryo
from toryo.client import Client

FILE = """
projects: [{id: NAME, name: NAME, directory: .}]
agents:
  - {id: NAME-w, replicas: 2, name: Carver, role: worker, provider: command, capabilities: [wood], projects: [NAME]}
tasks: # a Coordinator of another story would start them
  - {project: NAME, title: Walls, assignee: any, status: backlog}
  - {project: NAME, title: Roof, assignee: "any:wood, nails,wood,", status: backlog}
"""


def test_several_agents_are_made_with_one_command(server: Toryo, owner: Client, project: str) -> None:
    words = ("--role", "worker", "--provider", "command", "--project", project, "--count", "3")
    made = server("agent", "add", f"{project}-hand", *words)
    hint = "Save the passkey: it is shown only once. Agents that a Coordinator starts do not need it.\n"
    assert (made.code, made.err) == (0, hint)
    members = owner.rest("GET", f"/projects/{project}/members")["agents"]
    assert sorted(each["agent_id"] for each in members) == [f"{project}-hand-{number}" for number in (1, 2, 3)]
    assert made.out.count("created agent") == 3
    assert made.out.count("pk_") == 3, "each has a passkey of its own"
    document = server.json("agent", "add", f"{project}-foot", *words)
    assert [each["agent_id"] for each in document["agents"]] == [f"{project}-foot-{number}" for number in (1, 2, 3)]
    assert all(each["passkey"] for each in document["agents"])


def test_a_task_for_anyone_says_so_where_tasks_are_listed_and_shown(server: Toryo, project: str) -> None:
    made = server("task", "add", "Roof", "--project", project, "--assignee", "any:wood,nails")
    assert (made.code, made.err) == (0, "")
    assert "No worker of the project could do it: none is active and started by a Coordinator." in made.out
    task = made.out.split()[1]
    for limit in ((), ("--assignee", "any"), ("--assignee", "any:nails")):
        assert "any:wood,nails" in server("task", "list", "--project", project, *limit).out
    assert "Roof" not in server("task", "list", "--project", project, "--assignee", "any:glass").out
    shown = server("task", "show", task).out
    assert "any:wood,nails" in shown
    again = server("task", "edit", task, "--assignee", "any")
    assert (again.code, again.err) == (0, "")
    assert server.json("task", "show", task)["task"]["pool"] == {"capabilities": []}
    cleared = server("task", "edit", task, "--clear", "assignee")
    assert (cleared.code, cleared.err) == (0, "")
    assert "pool" not in server.json("task", "show", task)["task"]


def test_a_file_has_several_agents_of_one_entry_and_tasks_for_anyone(
    server: Toryo, project: str, tmp_path: Path
) -> None:
    name = f"{project}-file"
    (tmp_path / "toryo.yaml").write_text(FILE.replace("NAME", name))
    assert server("apply", str(tmp_path / "toryo.yaml")).code == 0
    assert server("apply", str(tmp_path / "toryo.yaml"), "--json").json["changes"] == []
    exported = tmp_path / "exported.yaml"
    assert server("export", str(exported)).code == 0
    found = yaml.safe_load(exported.read_text())
    carvers = [(agent["id"], agent["name"]) for agent in found["agents"] if name in agent.get("projects", ())]
    assert carvers == [(f"{name}-w-1", "Carver 1"), (f"{name}-w-2", "Carver 2")]
    tasks = [task["assignee"] for task in found["tasks"] if task["project"] == name]
    assert tasks == ["any", "any:wood,nails"]


def test_a_file_that_names_an_agent_with_replicas_by_its_entry_is_told_so(
    server: Toryo, project: str, tmp_path: Path
) -> None:
    text = FILE.replace("NAME", f"{project}-file").replace("assignee: any,", f"assignee: {project}-file-w,")
    (tmp_path / "toryo.yaml").write_text(text)
    refused = server("apply", str(tmp_path / "toryo.yaml"))
    assert refused.code == 2
    assert f"there is no agent '{project}-file-w'" in refused.err
