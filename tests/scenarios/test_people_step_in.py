"""People act while agents work: they start a task (UC001), have one agent in two projects (UC004), block what is above
a running task (UC008) or the task itself (UC010a), and pause the whole project (UC011). Each intervention comes only
after the agent was seen at work.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios import programs
from tests.scenarios.conftest import Build
from tests.scenarios.sites import Site
from toryo.client import Client, RefusalError

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

ENDS_WITHIN = 40.0
"""Seconds from the cause until a process is gone: the grace of these sites, and the way there."""


def test_a_task_that_a_person_starts_on_the_board_is_done_by_its_agent(site: Site) -> None:
    directory = site.project("desk")
    site.hire("writer", "desk")
    command = "printf 'Oak\\n\\nOak is hard.\\n' > oak.md && echo wrote oak.md"
    task = site.file(
        "desk", "Write about oak", assignee_id="writer", context={"command": command, "outputs": ["oak.md"]}
    )
    site.coordinator()
    assert site.status(task) == "todo"
    assert not (directory / "oak.md").exists()

    site.move(task, "in_progress")
    site.until_status(task, "completed")
    site.until_idle()

    assert (directory / "oak.md").read_text() == "Oak\n\nOak is hard.\n"
    (launch,) = site.launches(task_id=task)
    assert (launch["state"], launch["exit_code"], launch["exit_signal"]) == ("exited", 0, None)
    site.until_logged(launch["launch_id"], "wrote oak.md")
    assert [each["data"]["provider"] for each in site.history.of("session.model_reported")] == ["command"]
    assert site.sessions() == []


def test_one_agent_works_in_two_projects_at_once_each_in_its_own_directory(site: Site) -> None:
    directories = {name: site.project(name) for name in ("left", "right")}
    site.hire("dev", *directories)
    both_at_work = site.gate()
    write = f'echo at work; {both_at_work}; basename "$PWD" > README.md'
    tasks = {name: site.file(name, "README", assignee_id="dev", context={"command": write}) for name in directories}
    site.coordinator()
    for task in tasks.values():
        site.move(task, "in_progress")

    for task in tasks.values():
        site.until_printed(task, "at work")
    assert sorted(session["project_id"] for session in site.sessions()) == ["left", "right"]
    asking = Client(site.url, site.token("coordinator"))
    again = [asking.call("get_agent_action", agent_id="dev", project_id=directory) for directory in directories]
    assert [(each["action"], each["reason"]) for each in again] == [("hold", "already_running")] * 2
    both_at_work.open()
    for task in tasks.values():
        site.until_status(task, "completed")

    assert {name: (directory / "README.md").read_text() for name, directory in directories.items()} == {
        "left": "left\n",
        "right": "right\n",
    }
    assert len(site.launches(agent_id="dev")) == 2


def test_blocking_what_is_above_stops_the_work_below_until_it_is_unblocked(site: Site) -> None:
    directory = site.project("roof")
    site.hire("roofer", "roof", max_parallel_tasks=3)
    site.hire("foreman", "roof", role="manager", kind="human", provider=None)
    gate = site.gate()
    parent = site.file("roof", "Roof", assignee_id="foreman", status="in_progress")
    children = [
        site.file("roof", f"Part {number}", assignee_id="roofer", parent_task_id=parent, status=status,
                  context={"command": f"echo at work; {gate}; echo {number} >> done.txt"})
        for number, status in enumerate(("in_progress", "todo", "backlog"), 1)
    ]  # fmt: skip
    site.coordinator()
    first = site.until_printed(children[0], "at work")

    site.move(parent, "blocked", "the weather")
    assert [site.status(child) for child in children] == ["blocked"] * 3
    _until_nothing_runs(site, first)
    assert _asked(site, "roofer", "roof") == ("hold", "blocked_without_in_progress")
    _bystander_is_served(site)
    assert len(site.launches(agent_id="roofer")) == 1
    assert not (directory / "done.txt").exists()

    site.move(parent, "in_progress")
    assert [site.status(child) for child in children] == ["in_progress", "todo", "backlog"]
    site.until_printed(children[0], "at work", start=2)
    gate.open()
    for child in children[1:]:
        site.move(child, "in_progress")
    for child in children:
        site.until_status(child, "completed")
    assert sorted((directory / "done.txt").read_text().split()) == ["1", "2", "3"]
    assert [len(site.launches(task_id=child)) for child in children] == [2, 1, 1]


@pytest.mark.pitfall("F38")
def test_an_agent_that_does_not_look_up_is_ended_with_all_it_started_when_its_task_is_blocked(site: Site) -> None:
    directory = site.project("shop")
    site.hire("turner", "shop")
    never = site.gate()
    command = f"( trap '' INT TERM HUP; echo at work; {never}; touch late.txt ) & wait"
    task = site.file("shop", "Turn", assignee_id="turner", status="in_progress", context={"command": command})
    site.coordinator()
    launch_id = site.until_printed(task, "at work")

    site.move(task, "blocked", "not this wood")
    _until_nothing_runs(site, launch_id)
    site.until_idle()

    assert site.status(task) == "blocked"
    (launch,) = site.launches(task_id=task)
    assert launch["exit_error"] == "stopped"
    assert not site.history.of("agent.cooling_down")
    never.open()
    assert not (directory / "late.txt").exists()


def test_an_agent_that_looks_up_is_told_at_once_and_leaves_by_itself(build: Build) -> None:
    site = build(TORYO_GUARDS__STOP_GRACE="60")
    directory = site.project("shop")
    gate = site.gate()
    steps = [
        {"id": "one", "title": "One", "run": f"echo at work; {gate}; touch one"},
        {"id": "two", "title": "Two", "run": "touch two", "depends_on": ["one"]},
    ]
    site.hire("turner", "shop", provider="playbook",
              provider_options={"playbook": {"tasks": [{"match": "Turn", "subtasks": steps}]}})  # fmt: skip
    task = site.file("shop", "Turn", assignee_id="turner", status="in_progress")
    site.coordinator()
    launch_id = site.until_printed(task, "at work")

    site.move(task, "blocked", "not this wood")
    gate.open()
    site.until_idle(within=ENDS_WITHIN)

    site.until_logged(launch_id, "not this wood")
    (launch,) = site.launches(task_id=task)
    assert (launch["exit_code"], launch["exit_signal"]) == (0, None)
    assert site.status(task) == "blocked"
    assert not (directory / "two").exists()


@pytest.mark.pitfall("F37")
def test_a_paused_project_rests_and_goes_on_where_it_was(site: Site) -> None:
    directory = site.project("slow")
    site.hire("painter", "slow")
    site.hire("other", "slow")
    gate = site.gate()
    command = f"touch step1; echo step 1; {gate}; touch step2 complete"
    task = site.file("slow", "Paint", assignee_id="painter", status="in_progress", context={"command": command})
    site.coordinator()
    launch_id = site.until_printed(task, "step 1")

    site.people.rest("POST", "/projects/slow/pause")
    _until_nothing_runs(site, launch_id)
    site.until_idle()
    meanwhile = site.file("slow", "Meanwhile", assignee_id="other", context={"command": "true"})
    with pytest.raises(RefusalError, match="Project slow is paused"):
        site.move(meanwhile, "in_progress")
    _bystander_is_served(site)
    assert sorted(path.name for path in directory.iterdir()) == ["step1"]
    assert (site.status(task), site.status(meanwhile)) == ("in_progress", "todo")
    assert site.sessions() == []
    assert len(site.launches(project_id="slow")) == 1
    assert _asked(site, "painter", "slow") == ("hold", "project_paused")

    site.people.rest("POST", "/projects/slow/resume")
    site.move(meanwhile, "in_progress")
    again = site.until_printed(task, "step 1", start=2)
    gate.open()
    site.until_status(task, "completed")
    site.until_status(meanwhile, "completed")
    assert sorted(path.name for path in directory.iterdir()) == ["complete", "step1", "step2"]
    site.until_logged(again, "resuming Paint")
    assert len(site.launches(project_id="slow")) == 3


def _until_nothing_runs(site: Site, launch_id: str) -> None:
    """The launch's process is gone, and whatever it had started."""
    for pid in programs.everything_of([site.url], launch_id):
        assert programs.gone(pid, ENDS_WITHIN)
    assert programs.everything_of([site.url], launch_id) == []


def _asked(site: Site, agent_id: str, project_id: str) -> tuple[str, str]:
    """What a Coordinator is told about an agent's task work."""
    answer = Client(site.url, site.token("coordinator")).call(
        "get_agent_action", agent_id=agent_id, project_id=project_id, purpose="task"
    )
    return answer["action"], answer["reason"]


def _bystander_is_served(site: Site) -> None:
    """Somebody elsewhere is started and done: the Coordinator has asked, and whoever was to be started would be."""
    directory: Path = site.project("elsewhere")
    site.hire("bystander", "elsewhere")
    task = site.file("elsewhere", "WorktreeJob", assignee_id="bystander", status="in_progress",
                     context={"command": "touch ran"})  # fmt: skip
    site.until_status(task, "completed")
    assert (directory / "ran").exists()
