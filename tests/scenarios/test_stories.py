"""The eight stories that `make test` tells with real processes (tests/suites.py has their limits): a team, a chat, a
queue, worktrees, the merge queue, kill -9 of the server and of a Coordinator, an upgrade. Everything else about each of
them is in a file of its own beside this one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios import chats
from tests.scenarios.chats import Chat
from tests.scenarios.conftest import Build
from tests.scenarios.programs import Program
from tests.scenarios.queues import Queue
from tests.scenarios.sites import Site
from tests.scenarios.test_killed import PARTS, all_is_well, at_work, starts, story
from tests.scenarios.test_merge_queue import Team
from tests.scenarios.test_upgrades import goes_on
from tests.scenarios.test_worktrees import SiteRepository
from tests.storage.released_versions import BEFORE

pytestmark = pytest.mark.timeout(600, method="signal")

TASKS = 24
"""Of the queue."""


def test_a_manager_a_worker_and_what_the_worker_made_of_it_end_completed_at_three_levels(site: Site) -> None:
    directory = site.project("house", commands_from="managers")
    site.lead("lead", "house", plans=[{"match": "Build", "subtasks": [{"id": "wall", "title": "Wall"}]}])
    steps = [
        {"id": "mix", "title": "Mix", "run": "echo mortar > mortar.txt"},
        {"id": "lay", "title": "Lay", "run": "sed s/mortar/wall/ mortar.txt > wall.txt", "depends_on": ["mix"]},
    ]
    playbook = {"tasks": [{"match": "Wall", "subtasks": steps}]}
    site.hire("mason", "house", provider="playbook", reports_to="lead", provider_options={"playbook": playbook})
    build = site.file("house", "Build", assignee_id="lead", status="backlog")
    assert list(site.tasks("house")) == ["Build"]
    assert not (directory / "wall.txt").exists()

    site.coordinator()
    site.move(build, "in_progress")
    site.until_status(build, "completed")
    site.until_idle()

    tasks = site.tasks("house")
    assert {title: task["status"] for title, task in tasks.items()} == dict.fromkeys(
        ("Build", "Wall", "Mix", "Lay"), "completed"
    )
    assert (tasks["Wall"]["parent_task_id"], tasks["Wall"]["assignee_id"]) == (build, "mason")
    assert {tasks[each]["parent_task_id"] for each in ("Mix", "Lay")} == {tasks["Wall"]["task_id"]}
    assert (directory / "wall.txt").read_text() == "wall\n"
    assert [start["data"]["reason"] for start in site.history.starts(task_id=build)] == [
        "has_in_progress_task",
        "workers_finished",
    ]
    assert len(site.history.starts(agent_id="mason")) == 1
    assert site.history.idle_starts() == []


def test_an_agent_comes_to_answer_a_person_with_its_name(site: Site) -> None:
    site.project("desk")
    chats.talker(site, "chat-responder", "desk", name="Charly")
    site.coordinator()
    chat = Chat(site, "desk", "chat-responder")
    assert (chat.thread(), chat.state()) == ([], "disconnected")
    assert site.launches() == []

    chat.open()
    chat.say("What is your name?")
    assert chat.answers(1) == ["I am Charly."]

    chat.until("connected")
    assert [session["purpose"] for session in site.sessions()] == ["chat"]
    assert chats.launches_by_purpose(site) == {("chat-responder", "chat"): 1}


def test_agents_and_the_server_are_killed_and_every_task_keeps_one_result(site: Site) -> None:
    """With many tasks, agents and kills, and with two servers: test_queue_under_fire.py."""
    with Queue(site) as queue:
        queue.file(TASKS // 2)
        queue.file_meanwhile(TASKS - TASKS // 2)
        queue.start(2)
        queue.journal.until("kept", TASKS // 4)
        queue.agents[0].kill()
        queue.agents[0].start()  # has again what it had
        queue.journal.until("kept", TASKS // 2)
        site.server.kill()
        site.serve()
        queue.all_filed()
        queue.until_completed(within=100)
        assert queue.promises_broken() == []


def test_two_agents_work_in_one_repository_and_neither_sees_the_others_half_done_files(site: Site) -> None:
    repository = SiteRepository(site, "house")
    gate, bell = site.gate(), site.bell()
    for each in ("ann", "ben"):
        site.hire(each, "house")
    site.coordinator()
    half = "echo half > $AGENT_ID.txt; echo $AGENT_ID > {bell}; {gate}; ls > seen-$AGENT_ID; echo done > $AGENT_ID.txt"
    tasks = {each: repository.order(each, each, half.format(bell=bell, gate=gate)) for each in ("ann", "ben")}
    assert sorted(bell.rung(2)) == ["ann", "ben"]
    assert repository.files() == {"a": "one\n"}
    gate.open()
    for each in tasks.values():
        site.until_status(each, "completed")
    site.until_idle()

    assert repository.files() == {"a": "one\n"}
    for name, task in tasks.items():
        assert repository.git("show", f"toryo/{task}:seen-{name}").split() == ["a", f"{name}.txt", f"seen-{name}"]
        assert repository.git("log", "--format=%an", f"toryo/{task}", "-1") == name
        found = repository.worktree(task)
        assert (found["state"], found["commits"], found["files_changed"]) == ("open", 1, 2)
        assert (found["base_branch"], found["trouble"]) == ("main", None)

    patch = repository.done(tasks["ann"], "diff")
    assert [each["path"] for each in patch["files"]] == ["ann.txt", "seen-ann"]
    assert "+done" in patch["patch"]
    for name, task in tasks.items():
        (one,) = repository.done(task, "merge")["merged"]
        assert (one["task_id"], one["into"]) == (task, "main")
        assert repository.files()[f"{name}.txt"] == "done\n"
        assert not Path(repository.worktree(task)["path"]).exists()
    assert repository.branches() == ["main"]
    assert [each["data"]["into"] for each in site.history.of("worktree.merged")] == ["main", "main"]


def test_removing_a_task_while_a_check_hangs_stops_it_and_the_rest_is_merged(site: Site) -> None:
    bell = site.bell()
    team = Team(site, [{"command": f"if [ -e hangs ] && [ -e two ]; then echo there > {bell}; sleep 300; fi"}])
    site.coordinator()
    hangs, two = (
        team.repository.order(who, what, f"echo x > {what}") for who, what in (("ann", "hangs"), ("ben", "two"))
    )
    team.done(hangs, two)
    site.until("both wait", lambda: len(team.queue()["entries"]) == 2)
    team.go()
    bell.rung(1)
    typed = ["merge-queue", "remove", hangs, "--server", site.url]
    assert Program("toryo", typed, site.environment, site.directory).start().ended_with() == 0
    team.until_merged(two)
    assert team.repository.worktree(hangs)["state"] == "open"
    assert "hangs" not in team.repository.files()


def test_a_server_that_is_killed_finds_everything_as_it_was(site: Site) -> None:
    gate = site.gate()
    main = story(site, gate)
    at_work(site)
    before = {agent.launch_id: agent.pid for agent in site.agents()}
    site.history.read()

    site.server.kill()
    site.serve()
    assert {agent.launch_id: agent.pid for agent in site.agents()} == before
    gate.open()

    all_is_well(site, main)
    assert starts(site) == {"lead": 2, "worker-1": 1, "worker-2": 1, "worker-3": 1}
    assert site.history.idle_starts() == []


@pytest.mark.pitfall("F11")
def test_a_coordinator_that_is_killed_leaves_its_agents_at_work_for_the_next_one(site: Site) -> None:
    gate = site.gate()
    main = story(site, gate)
    at_work(site)
    (coordinator,) = site.coordinators
    before = {agent.launch_id: agent.pid for agent in site.agents()}
    assert len(before) == PARTS

    coordinator.kill()
    assert {agent.launch_id: agent.pid for agent in site.agents()} == before
    coordinator.start().says("connected to")
    assert coordinator.said("adopted") == PARTS
    gate.open()

    all_is_well(site, main)
    assert starts(site) == {"lead": 2, "worker-1": 1, "worker-2": 1, "worker-3": 1}
    assert site.history.idle_starts() == []


def test_the_server_starts_on_a_database_of_an_earlier_version_and_a_task_is_completed_there(
    tmp_path: Path, build: Build
) -> None:
    goes_on(f"sqlite:///{tmp_path / 'old.db'}", BEFORE, build)
