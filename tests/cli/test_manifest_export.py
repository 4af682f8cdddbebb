"""`toryo export`, `toryo import` and `toryo db`: what one server has, on another one."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment

TEAM = """
projects: [{id: house, name: House, directory: ., settings: {language: ja}}]
agents:
  - {id: carver, role: worker, provider: command, reports_to: master, capabilities: [wood], projects: [house]}
  - {id: master, role: manager, provider: playbook, projects: [house]}
tasks:
  - {project: house, title: Wood, assignee: carver, status: backlog, context: {command: ls}, acceptance: [{file: a}]}
  - {project: house, title: Walls, assignee: carver, depends_on: [Wood], priority: high}
  - {project: house, title: North wall, parent: Walls, touches: [walls/**], budget_usd: 0}
"""


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Toryo, Toryo]]:
    """Two servers, each with a data directory of its own."""
    running, typed = [], []
    for name in ("here", "there"):
        environment = {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / name)}
        server = Process("server", "--port", "0", environment=environment, cwd=tmp_path)
        server.until("ready")
        running.append(server)
        typed.append(Toryo(tmp_path, environment))
    yield typed[0], typed[1]
    for server in running:
        server.end()


def test_what_is_exported_here_and_imported_there_is_the_same(two: tuple[Toryo, Toryo], tmp_path: Path) -> None:
    here, there = two
    (tmp_path / "toryo.yaml").write_text(TEAM.replace("reports_to: master, ", ""))
    assert here("apply", str(tmp_path / "toryo.yaml")).code == 0
    assert here("agent", "edit", "carver", "--reports-to", "master").code == 0
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    assert here("export", str(first)).code == 0
    assert there.json("project", "list")["projects"] == []
    assert there("import", str(first)).code == 0
    assert there("export", str(second)).code == 0
    assert yaml.safe_load(first.read_text()) == yaml.safe_load(second.read_text())
    exported = yaml.safe_load(second.read_text())
    assert [agent["id"] for agent in exported["agents"]] == ["master", "carver"], "whom one reports to comes first"
    wall = exported["tasks"][-1]
    assert (wall["parent"], wall["touches"], wall["budget_usd"]) == ("Walls", ["walls/**"], 0)
    again = there.json("import", str(first))
    assert again["changes"] == []


def test_a_file_that_is_there_is_not_written_over(server: Toryo, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine")
    ended = server("export", str(file))
    assert (ended.code, file.read_text()) == (2, "mine")
    assert "--force" in ended.err


@pytest.mark.deep
def test_a_backup_beside_a_running_server_restores_elsewhere_and_its_server_goes_on(
    two: tuple[Toryo, Toryo], tmp_path: Path
) -> None:
    here, _ = two
    made = here.json("project", "add", "House", "--dir", str(tmp_path))
    backup = tmp_path / "toryo.backup"
    assert here.json("db", "backup", str(backup))["tables"]["projects"] == 1
    assert here("db", "check").code == 0
    assert backup.stat().st_mode & 0o777 == 0o600
    again = here("db", "backup", str(backup))
    assert (again.code, "--force" in again.err) == (2, True)
    assert here("db", "backup", str(backup), "--force").code == 0
    assert here("db", "restore", str(backup)).code == 2, "a server has this one"
    environment = {**here.environment, "TORYO_DATA_DIR": str(tmp_path / "third")}
    third = Toryo(tmp_path, environment)
    restored = third("db", "restore", str(backup))
    assert restored.code == 0
    assert "rows of tokens, API keys, links and browsers; --with-credentials" in restored.out
    assert "To look at it: toryo up (it makes new tokens)" in restored.out
    assert third("db", "restore", str(backup)).code == 2, "nothing is written over"
    assert third("db", "check").code == 0
    server = Process("server", "--port", "0", environment=environment, cwd=tmp_path)
    try:
        server.until("ready")
        assert [project["id"] for project in third.json("project", "list")["projects"]] == [made["project_id"]]
    finally:
        server.end()


@pytest.mark.deep
def test_a_backup_gets_back_into_the_project_it_came_from_by_the_command_that_is_named(
    nowhere: Toryo, tmp_path: Path
) -> None:
    """What was there is kept beside it."""
    place = tmp_path / "my data"
    own = Toryo(tmp_path, {**nowhere.environment, "TORYO_DATA_DIR": str(place)})
    server = Process("server", "--port", "0", environment=own.environment, cwd=tmp_path)
    try:
        server.until("ready")
        own.json("project", "add", "House", "--dir", str(tmp_path))
        own.json("db", "backup", str(tmp_path / "my backup"))
        own.json("project", "add", "Later", "--dir", str(tmp_path))
        assert "toryo down" in own("db", "restore", str(tmp_path / "my backup")).err
    finally:
        server.end()
    refused = own("db", "restore", str(tmp_path / "my backup"))
    assert refused.code == 2
    line = next(line for line in refused.err.splitlines() if "To replace it: " in line)
    move, restore = line.partition("To replace it: ")[2].split(" && ")
    subprocess.run(shlex.split(move), check=True)
    program, *words = shlex.split(restore)
    assert program == "toryo"
    assert own(*words).code == 0
    assert (place / "toryo.db.before-restore").is_file()
    server = Process("server", "--port", "0", environment=own.environment, cwd=tmp_path)
    try:
        server.until("ready")
        assert [project["name"] for project in own.json("project", "list")["projects"]] == ["House"]
    finally:
        server.end()


def test_no_database_and_no_backup_are_said_so(nowhere: Toryo, tmp_path: Path) -> None:
    assert nowhere("db", "check").code == 2
    (tmp_path / "text").write_text("no backup")
    ended = nowhere("db", "restore", str(tmp_path / "text"))
    assert ended.code == 2
    assert "toryo db backup" in ended.err
