"""`toryo db move` and what `toryo doctor` says of data that is inside a directory where agents work."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment


@pytest.fixture
def project(tmp_path: Path) -> Toryo:
    """The command line in a directory whose data an older Toryo has put into `.toryo/`."""
    place = tmp_path / "bakery"
    place.mkdir()
    environment = clean_environment(tmp_path)
    toryo = Toryo(place, environment)
    assert toryo("db", "upgrade", "--data-dir", str(place / ".toryo")).code == 0
    _serve(environment, place, "--data-dir", str(place / ".toryo"))
    (place / ".toryo" / ".gitignore").write_text("*\n")
    return toryo


def _serve(environment: Mapping[str, str], place: Path, *words: str) -> None:
    """Lets a server come up and end, so that its files are there."""
    server = Process("server", "--port", "0", *words, environment=environment, cwd=place)
    server.until("ready http://")
    server.end()


def _data_directory(toryo: Toryo) -> dict[str, str]:
    found = toryo("doctor", "--json").json["findings"]
    return next(each for each in found if each["name"] == "data directory")


def test_data_in_the_project_goes_on_until_it_is_moved_by_the_command_that_doctor_names(project: Toryo) -> None:
    before = _data_directory(project)
    assert "is inside a directory where agents work" in before["what"]
    assert "toryo db move" in before["instruction"]
    token = (project.home / ".toryo" / "owner.token").read_text()

    moved = Path(project.json("db", "move")["data_dir"])
    assert not moved.is_relative_to(project.home)
    assert moved.stat().st_mode & 0o777 == moved.parent.stat().st_mode & 0o777 == 0o700
    assert (moved / "owner.token").read_text() == token
    assert sorted(path.name for path in (project.home / ".toryo").iterdir()) == [".gitignore", "data-dir"]
    assert project("db", "check").code == 0
    assert _data_directory(project)["what"] == str(moved)
    assert project.json("db", "move")["data_dir"] == str(moved), "moving again changes nothing"


def test_data_that_a_server_uses_or_that_holds_work_is_not_moved(project: Toryo) -> None:
    worktree = project.home / ".toryo" / "worktrees" / "bakery" / "tsk_1"
    worktree.mkdir(parents=True)
    (worktree / "work.txt").touch()
    refused = project("db", "move")
    assert (refused.code, "toryo worktrees" in refused.err) == (2, True)
    shutil.rmtree(worktree)

    server = Process("server", "--port", "0", environment=project.environment, cwd=project.home)
    server.until("ready http://")
    refused = project("db", "move")
    assert (refused.code, "toryo down" in refused.err) == (2, True)
    server.end()
    assert project("db", "move").code == 0


def test_a_project_that_was_moved_gets_its_data_again_and_no_other_project_does(project: Toryo) -> None:
    data = project.json("db", "move")["data_dir"]
    copy = Toryo(project.home.with_name("copy"), project.environment)
    shutil.copytree(project.home, copy.home)
    refused = copy("project", "list")
    assert (refused.code, "it belongs to" in refused.err) == (2, True)
    assert f"toryo db move --data-dir {data}" in refused.err
    assert copy("db", "move", "--data-dir", data).code == 2, "the other one still has it"

    shutil.rmtree(project.home)
    assert copy("db", "move", "--data-dir", data).code == 0
    assert copy("db", "check").code == 0


def test_what_is_no_project_and_no_data_is_not_moved(nowhere: Toryo, tmp_path: Path) -> None:
    assert nowhere("db", "move").code == 2
    (tmp_path / "empty").mkdir()
    assert nowhere("db", "move", "--data-dir", str(tmp_path / "empty")).code == 2
