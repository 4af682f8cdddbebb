"""The demo's team on a server that is there: made whole or not at all, once, taking no names, and put away again."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.stories import Answer, World
from toryo import demo_team
from toryo.demo_team import repository
from toryo.operations.calls.callers import Credentials
from toryo.settings import Settings
from toryo.storage.engine.database import Database

ALL = ["teahouse", "translation", "numbers", "timber", "offer"]


@pytest.fixture
def house(fresh: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Without git, which would be a process."""
    monkeypatch.setattr(repository, "is_possible", lambda: False)
    return World(fresh, settings=Settings(data_dir=tmp_path))


@pytest.fixture
def house_with_git(fresh: Database, tmp_path: Path) -> World:
    return World(fresh, settings=Settings(data_dir=tmp_path))


def statuses(world: World, name: str, key: str, id_: str) -> dict[str, str]:
    return {each[id_]: each["status"] for each in world.owner.call(name)[key]}


def tasks(world: World, **wanted: Any) -> list[Answer]:
    return [
        task
        for project in ALL
        for task in world.owner.call("list_project_tasks", project_id=project, **wanted)["tasks"]
    ]


def test_one_call_makes_the_team_files_its_tasks_and_lays_out_its_files(house: World, tmp_path: Path) -> None:
    made = house.owner.call("start_demo")
    assert made["projects"] == ALL
    assert [task["task_id"] for task in tasks(house)] == made["tasks"]
    assert {task["status"] for task in tasks(house)} == {"in_progress"}
    assert set(demo_team.MEMBERS) == {agent["id"] for agent in demo_team.team()["agents"]}
    assert set(demo_team.MEMBERS) <= statuses(house, "list_agents_of_server", "agents", "agent_id").keys()
    places = {
        each["project_id"]: Path(each["working_directory"]) for each in house.owner.call("list_projects")["projects"]
    }
    for job in demo_team.JOBS.values():
        assert places[job.project] == tmp_path / "demo" / job.project
        assert {path.name: path.read_text() for path in places[job.project].iterdir()} == dict(job.given)


def test_the_team_is_started_by_the_coordinator_that_is_there(house: World) -> None:
    coordinator = house.coordinator()
    coordinator.claim(providers=["playbook", "command", "script"])
    assert house.owner.call("start_demo")["waits_for"] is None
    assert coordinator.starts(providers=["playbook", "command", "script"], free_slots=9) == ["lead"] * 5 + ["theo"]


def test_the_person_who_starts_it_writes_to_an_agent_and_is_who_is_asked(house: World) -> None:
    house.owner.call("start_demo")
    wrote = house.owner.call("read_chat", project_id="teahouse", agent_id="iris")["messages"]
    assert [each["content"] for each in wrote] == list(demo_team.JOBS["teahouse"].says.values())
    me = house.owner.call("who_am_i")["person_id"]
    assert {house.show(task["task_id"])["context"]["person"] for task in tasks(house)} == {me}


def test_without_git_nothing_is_reviewed_and_the_rest_is_the_same(house: World, tmp_path: Path) -> None:
    assert len(house.owner.call("start_demo")["tasks"]) == 6
    project = house.owner.call("show_project", project_id="teahouse")["project"]
    assert project["settings"]["isolation"] == "none"
    assert not (tmp_path / "demo" / "teahouse" / ".git").exists()


def test_its_repository_needs_no_name_and_runs_none_of_the_users_git(
    house_with_git: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[core]\nhooksPath = {hooks}\n[commit]\ngpgSign = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    house_with_git.owner.call("start_demo")
    monkeypatch.delenv("GIT_DIR")
    place = tmp_path / "demo" / "teahouse"
    shown = subprocess.run(
        ["git", "log", "--format=%an %s"], cwd=place, capture_output=True, text=True, check=True
    ).stdout
    assert shown == "Toryo demo The tea house before the demo\n"


def test_without_a_coordinator_it_is_made_and_says_what_to_type(house: World) -> None:
    assert "toryo coordinator" in house.owner.call("start_demo")["waits_for"]
    assert "toryo coordinator" in house.owner.call("show_demo")["waits_for"]


def test_a_coordinator_that_lacks_a_program_of_it_is_named(house: World) -> None:
    house.coordinator().claim(providers=["claude"])
    said = house.owner.call("start_demo")["waits_for"]
    assert "playbook" in said
    assert "c1" in said


def test_it_is_here_once(house: World) -> None:
    house.owner.call("start_demo")
    before = house.rows()
    refused = house.owner.refused("start_demo", "conflict")
    assert refused["projects"] == ALL
    assert house.rows() == before


def test_the_same_request_sent_again_is_answered_as_the_first_time(house: World) -> None:
    again = Credentials(bearer=house.owner.bearer, idempotency_key="k1")
    first, second = (house.perform("start_demo", {}, again) for _ in range(2))
    assert not first.refused
    assert second.result == first.result
    assert len(tasks(house)) == 6


@pytest.mark.parametrize("taken", ["project", "agent"])
def test_names_that_are_taken_are_left_alone_and_nothing_is_made(house: World, tmp_path: Path, taken: str) -> None:
    if taken == "project":
        house.project(project_id="numbers")
    else:
        house.project()
        house.worker("clerk")
    before = house.rows()
    refused = house.owner.refused("start_demo", "conflict")
    assert refused["taken"] == ["numbers" if taken == "project" else "clerk"]
    assert "toryo demo --keep" in refused["instruction"]
    assert house.rows() == before
    assert not (tmp_path / "demo").exists()


def test_where_its_files_cannot_be_laid_out_nothing_is_made_and_it_says_why(house: World, tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("in the way")
    before = house.rows()
    refused = house.owner.refused("start_demo", "unavailable")
    assert str(tmp_path / "demo") in refused["message"]
    assert house.rows() == before


def test_it_is_put_away_by_one_call_and_can_be_started_anew(house: World, tmp_path: Path) -> None:
    first = house.owner.call("start_demo")
    lead = house.start("lead")
    (tmp_path / "demo" / "numbers" / "seed.txt").write_text("7")
    put_away = house.owner.call("remove_demo")
    assert (put_away["projects"], set(put_away["agents"])) == (ALL, set(demo_team.MEMBERS))
    assert {task["status"] for task in tasks(house)} == {"cancelled"}
    assert set(statuses(house, "list_projects", "projects", "project_id").values()) == {"archived"}
    assert lead.action() == "exit"
    assert house.coordinator("c2").starts() == []
    assert house.owner.call("show_demo")["here"] is False
    house.owner.refused("remove_demo", "projectNotFound")

    second = house.owner.call("start_demo")
    assert not (tmp_path / "demo" / "numbers" / "seed.txt").exists()
    assert not set(first["tasks"]) & set(second["tasks"])
    assert {task["task_id"] for task in tasks(house, status="in_progress")} == set(second["tasks"])
    assert set(statuses(house, "list_projects", "projects", "project_id").values()) == {"active"}


def test_what_is_not_the_demos_stays_when_it_is_put_away(house: World) -> None:
    house.owner.call("start_demo")
    house.crew(workers=1)
    own = house.task("w1")
    house.owner.call("add_member", project_id=house.project_id, agent_id="merchant")
    assert "merchant" not in house.owner.call("remove_demo")["agents"]
    assert house.status(own) == "in_progress"
    agents = statuses(house, "list_agents_of_server", "agents", "agent_id")
    assert (agents["w1"], agents["merchant"], agents["clerk"]) == ("active", "active", "inactive")


def test_only_owners_start_it_and_put_it_away_and_others_see_theirs(house: World) -> None:
    zoe, vic = house.member("zoe"), house.member("vic", "viewer")
    for caller in (zoe, vic):
        caller.refused("start_demo", "permissionDenied")
    house.owner.call("start_demo")
    for caller in (zoe, vic):
        caller.refused("remove_demo", "permissionDenied")
    assert vic.call("show_demo")["projects"] == ALL
    assert zoe.call("show_demo")["here"] is False
    for key in ("directory", "data_directory"):
        assert house.owner.call("show_demo")[key] != ""
        assert vic.call("show_demo")[key] == zoe.call("show_demo")[key] == ""


def test_a_member_is_told_of_the_server_as_much_as_of_its_projects(house: World) -> None:
    house.owner.call("start_demo")
    zoe = house.member("zoe")
    house.coordinator().claim(agent_ids=["merchant"], free_slots=0)
    told = zoe.call("server_status")
    assert (told["projects"], told["running"]) == (0, 0)
    assert [each["agents"] for each in told["coordinators"]] in ([[]], [None])
    assert told["agents"] < house.owner.call("server_status")["agents"]
