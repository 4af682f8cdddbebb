"""`run_command`: an agent without a shell runs the commands that people have named for it, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_run_check import at_work
from tests.operations.test_worktrees import Yard
from tests.stories import Answer, Process, World
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.errors import Code
from toryo.operations.calls.dispatch import Outcome
from toryo.server.mcp_tools import tool

COMMANDS = ["pytest", "npm test"]
RAN = {"check": "pytest", "outcome": "failed", "exit_code": 1, "output": "1 failed"}


@pytest.fixture
def yard(world: World) -> Yard:
    found = Yard(world)
    world.owner.call("edit_project", project_id=world.project_id, settings={"decomposition": "never"})
    return found


def working(yard: Yard, *commands: str, **options: Any) -> tuple[str, Process]:
    return at_work(yard, acceptance=[], commands=list(commands or COMMANDS), **options)


def asks(worker: Process, command: str) -> Outcome:
    return worker.world.perform("run_command", {"command": command}, worker.credentials, may_wait=True)


def told(worker: Process, command: str) -> Answer:
    found = asks(worker, command).result
    assert found is not None, "it is over"
    return dict(found)


def test_a_command_runs_where_the_agent_works_as_its_program_was_started(yard: Yard) -> None:
    task, worker = working(yard)
    assert asks(worker, "npm test -- --grep 'two words'").later is not None
    [job] = yard.worktree_jobs()
    assert (job["kind"], job["task_id"], job["path"]) == ("command", task, f"/w/{task}")
    options = job["options"]
    assert options["command"] == ["npm", "test", "--", "--grep", "two words"]
    assert (options["agent_id"], options["launch_id"], options["ai_type"]) == ("w1", worker.launch_id, "claude")
    assert options["provider_options"]["permissions"] == "edit" and options["worktree"] == f"/w/{task}/sub"
    assert "network" in options
    yard.report(job["job_id"], done=True, evidence=[RAN])
    assert told(worker, "npm test -- --grep 'two words'") == {"success": True, "exit_code": 1, "output": "1 failed"}


def test_in_a_project_without_worktrees_it_runs_in_the_project(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    world.owner.call("edit_agent", agent_id="w1", provider_options={"permissions": "read", "commands": COMMANDS})
    world.task("w1")
    worker = world.start("w1")
    assert asks(worker, "pytest").later is not None
    machine = world.coordinator()
    [job] = machine.claim(free_slots=0, sandbox=True)["worktree_jobs"]
    assert (job["path"], job["options"]["worktree"], job["options"]["directory"]) == ("", None, None)
    assert job["working_directory"]
    machine.call("report_worktree_job", job_id=job["job_id"], done=True, evidence=[{**RAN, "exit_code": 0}])
    assert told(worker, "pytest")["exit_code"] == 0


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("npm publish", Code.PERMISSION_DENIED, "Use one of: pytest, npm test."),
        ("sh -c pytest", Code.PERMISSION_DENIED, "Use one of: pytest, npm test."),
        ("pytest; rm -rf x", Code.VALIDATION_ERROR, "one command"),
        ("CI=1 pytest", Code.VALIDATION_ERROR, "one command"),
        ("pytest\nrm x", Code.VALIDATION_ERROR, "command"),
        ("pytest " + "x" * 10_000, Code.TOO_LARGE, "at most 8000 characters"),
    ],
)
def test_anything_else_is_refused_with_what_would_do(yard: Yard, command: str, code: Code, says: str) -> None:
    _, worker = working(yard)
    refused = worker.refused("run_command", code, command=command)
    assert says in f"{refused['message']} {refused['instruction']}"
    assert yard.worktree_jobs() == []


def test_who_has_no_commands_or_no_longer_has_runs_none(yard: Yard) -> None:
    _, worker = working(yard)
    yard.world.owner.call("edit_agent", agent_id="w1", provider_options={"commands": ["npm test"]})
    worker.refused("run_command", Code.PERMISSION_DENIED, command="pytest")
    yard.world.owner.call("edit_agent", agent_id="w1", provider_options={"commands": None})
    assert "without" in worker.refused("run_command", Code.PERMISSION_DENIED, command="pytest")["instruction"]
    yard.world.owner.call("edit_agent", agent_id="w1", provider_options={"permissions": "full"})
    worker.refused("run_command", Code.PERMISSION_DENIED, command="pytest")


def test_commands_at_once_each_get_their_own_result_and_there_are_not_many(yard: Yard) -> None:
    _, worker = working(yard)
    commands = [f"pytest {number}" for number in range(5)]
    assert all(asks(worker, each).later is not None for each in commands)
    jobs = yard.worktree_jobs()
    assert "5 of your commands" in worker.refused("run_command", Code.NOT_NOW, command="pytest")["message"]
    for number, job in enumerate(jobs):
        yard.report(job["job_id"], done=True, evidence=[{**RAN, "output": f"result {number}"}])
    assert [told(worker, each)["output"] for each in reversed(commands)] == [f"result {n}" for n in (4, 3, 2, 1, 0)]
    assert asks(worker, commands[0]).later is not None, "what was told runs again"


def test_commands_that_an_earlier_process_has_left_behind_are_not_counted(yard: Yard) -> None:
    """Its Coordinator may be away for a long time."""
    _, worker = working(yard)
    assert all(asks(worker, f"pytest {number}").later is not None for number in range(5))
    yard.world.coordinator().exited(worker.launch_id, exit_code=0)
    yard.world.advance(100)
    assert asks(yard.world.start("w1"), "pytest").later is not None


def test_one_that_takes_long_is_told_later_and_a_long_output_by_its_end(yard: Yard) -> None:
    _, worker = working(yard)
    assert "again" in worker.refused("run_command", Code.NOT_NOW, command="pytest")["instruction"]
    [job] = yard.worktree_jobs()
    yard.report(job["job_id"], done=True, evidence=[{**RAN, "exit_code": None, "output": "x" * 8_000}])
    assert told(worker, "pytest") == {"success": True, "output": "x" * 8_000, "truncated": True}


def test_what_cannot_run_is_told_with_the_reason_beside(yard: Yard) -> None:
    _, worker = working(yard)
    asks(worker, "pytest")
    [job] = yard.worktree_jobs()
    yard.report(job["job_id"], done=False, trouble="There is no sandbox.")
    refusal = worker.refused("run_command", Code.NOT_NOW, command="pytest")
    assert (refusal["message"], refusal["trouble"]) == ("The command could not run.", "There is no sandbox.")
    yard.world.now += GONE_AFTER + 1
    assert "away" in worker.refused("run_command", Code.NOT_NOW, command="pytest")["message"]


@pytest.mark.parametrize(
    ("options", "sandbox", "listed"),
    [
        ({"permissions": "edit", "commands": COMMANDS}, True, True),
        ({"permissions": "read", "commands": COMMANDS}, True, True),
        ({"permissions": "edit", "commands": COMMANDS}, False, False),
        ({"permissions": "edit", "commands": []}, True, False),
        ({"permissions": "edit"}, True, False),
        ({"permissions": "full"}, True, False),
    ],
)
def test_the_tool_is_listed_with_its_commands_where_it_can_be_used(
    world: World, options: Any, sandbox: bool, listed: bool
) -> None:
    world.crew(workers=1, decomposition="never")
    world.owner.call("edit_agent", agent_id="w1", provider_options=options)
    world.task("w1")
    worker = world.start("w1")
    world.coordinator().claim(free_slots=0, sandbox=sandbox)
    [*found] = [tool(each) for each in world.dispatcher.list_tools(worker.credentials) if each.name == "run_command"]
    assert bool(found) is listed
    if listed:
        assert found[0].description == "Runs a command in your working directory, without a shell: pytest, npm test."


def test_more_commands_are_told_as_a_wider_right(world: World) -> None:
    world.crew(workers=1)
    answer = world.owner.call("edit_agent", agent_id="w1", provider_options={"commands": COMMANDS}, preview=True)
    assert answer["widened"] == ["commands: none → [pytest, npm test]"]
