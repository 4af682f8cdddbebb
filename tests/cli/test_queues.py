"""Queues from the command line, with a real server, real agents and the real commands that they run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Process, Toryo
from tests.documents import pages
from tests.scenarios import programs
from tests.scenarios.programs import Program
from tests.scenarios.sites import Gate, Site
from toryo.cli.task_command import TaskCommand
from toryo.client import Client, TaskFailed

Start = Callable[..., Program]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path) as site:
        site.project("p")
        yield site


@pytest.fixture
def start(site: Site) -> Iterator[Start]:
    """`start("a1", "echo done")`: an agent of the queue `planning` whose tasks are done by a shell."""
    started: list[Program] = []

    def made(name: str, script: str, *options: str) -> Program:
        words = ["agent", "run", "--type", "planning", "--id", name, *options, "--", "sh", "-c", script]
        started.append(Program(name, words, site.environment, site.directory).start())
        started[-1].says("serves planning")
        return started[-1]

    yield made
    for each in started:
        each.end()


def chief(site: Site) -> Client:
    """An orchestrator's client."""
    made = site.people.rest("POST", "/projects/p/keys", {"agent_id": "chief", "orchestrator": True})
    return Client(site.url, made["token"], patience_seconds=60, repeat_lost=True)


def filed(orchestrator: Client, what: str = "Plan it", **more: Any) -> str:
    return str(orchestrator.call("create_task", agent_type="planning", task_description=what, **more)["task_id"])


def ended(orchestrator: Client, task_id: str) -> dict[str, Any]:
    """The task, once it is closed."""
    found: dict[str, Any] = orchestrator.call("get_task_status", task_id=task_id, wait_seconds=45)["task"]
    assert found["status"] in ("completed", "failed"), found
    return found


def closing(gate: Gate, ring: Any) -> str:
    """A script that says which task it has and waits at the gate."""
    return f'echo $$ > command; echo "$TORYO_TASK_ID" > {ring}; {gate}; echo done'


def gone(pid_file: Path, within: float = 60) -> bool:
    """Whether the process that wrote its number there ends in time."""
    return programs.gone(int(pid_file.read_text()), within)


# --- many agents, and what happens to them ---------------------------------------------------------------------------


@pytest.mark.pitfall("F133")
def test_three_agents_share_thirty_tasks_and_each_is_done_once(site: Site, start: Start) -> None:
    boss = chief(site)
    done = site.directory / "done"
    for name in ("a1", "a2", "a3"):
        start(name, f'echo "$TORYO_TASK_ID" >> {done}; echo "{{\\"by\\": \\"{name}\\"}}"', "--max-tasks", "2")
    tasks = [filed(boss, f"Plan {number}", correlation_id="req-30") for number in range(30)]
    found = [ended(boss, task) for task in tasks]
    assert {(each["status"], each["attempt"]) for each in found} == {("completed", 1)}
    assert all(each["result"] == {"by": each["assigned_agent_id"]} for each in found)
    assert sorted(done.read_text().split()) == sorted(tasks)


@pytest.mark.deep  # a claim ends when its time is up
@pytest.mark.pitfall("F134")
def test_the_task_of_an_agent_that_is_killed_goes_to_another_with_the_next_attempt(site: Site, start: Start) -> None:
    boss, gate, bell = chief(site), site.gate(), site.bell()
    first = start("a1", closing(gate, bell))
    task = filed(boss, timeout_seconds=6)
    assert bell.rung(1) == [task]
    first.kill()
    start("a2", "echo by another")
    found = ended(boss, task)
    assert (found["attempt"], found["assigned_agent_id"], found["result"]) == (2, "a2", "by another")


@pytest.mark.deep
@pytest.mark.pitfall("F137")
def test_a_server_that_is_killed_and_comes_back_loses_no_task_and_no_result(site: Site, start: Start) -> None:
    boss, gate, bell = chief(site), site.gate(), site.bell()
    start("a1", closing(gate, bell))
    tasks = [filed(boss, "Plan"), filed(boss, "Build")]
    assert bell.rung(1) == tasks[:1]
    site.server.kill()
    gate.open()
    site.serve()
    assert [(each["status"], each["attempt"], each["result"]) for each in (ended(boss, one) for one in tasks)] == [
        ("completed", 1, "done")
    ] * 2


@pytest.mark.pitfall("F143")
def test_told_to_end_it_finishes_its_task_takes_no_other_and_is_offline(site: Site, start: Start) -> None:
    boss, gate, bell = chief(site), site.gate(), site.bell()
    agent = start("a1", closing(gate, bell))
    first, second = filed(boss, "Plan"), filed(boss, "Build")
    assert bell.rung(1) == [first]
    os.kill(agent.pid, signal.SIGTERM)
    agent.says("stops after 1 running task")
    gate.open()
    assert agent.ended_with() == 0
    assert ended(boss, first)["result"] == "done"
    assert boss.call("get_task_status", task_id=second)["status"] == "pending"
    (shown,) = site.people.rest("GET", "/projects/p/queue-agents")["agents"]
    assert (shown["status"], shown["current_tasks"]) == ("offline", [])


def test_a_second_interrupt_ends_the_command_too_and_gives_the_task_back(site: Site, start: Start) -> None:
    boss, gate, bell = chief(site), site.gate(), site.bell()
    agent = start("a1", closing(gate, bell))
    task = filed(boss)
    bell.rung(1)
    os.kill(agent.pid, signal.SIGINT)
    agent.says("stops after 1 running task")
    assert not gone(site.directory / "command", within=0)
    assert agent.leave(signal.SIGINT) == 130
    assert gone(site.directory / "command")
    shown = boss.call("get_task_status", task_id=task)
    assert (shown["status"], shown["assigned_agent_id"]) == ("pending", None)


# --- commands --------------------------------------------------------------------------------------------------------


def done_by(site: Site, start: Start, script: str, **more: Any) -> dict[str, Any]:
    """What becomes of a task that is done by this script."""
    boss = chief(site)
    start("a1", script)
    return ended(boss, filed(boss, **more))


def test_a_command_is_told_its_task_and_no_secret(site: Site, start: Start) -> None:
    boss = chief(site)
    key = site.people.rest("POST", "/projects/p/keys", {"agent_id": "a1", "types": ["planning"]})["token"]
    site.environment |= {"MY_KEY": key, "TORYO_TOKEN": "tpt_secret", "PLAN_MODE": "quick"}
    start("a1", "env > environment; cat", "--key", key)
    task = filed(boss, "Plan it", context={"stack": ["python"]}, correlation_id="req-7")
    told = ended(boss, task)["result"]
    assert (told["task_id"], told["task_description"], told["attempt"]) == (task, "Plan it", 1)
    assert told["context"] == {"stack": ["python"]}
    found = (site.directory / "environment").read_text()
    assert key not in found
    assert "tpt_secret" not in found
    ours = sorted(line for line in found.splitlines() if line.startswith(("TORYO_", "PLAN_")))
    assert ours == ["PLAN_MODE=quick", "TORYO_CORRELATION_ID=req-7", f"TORYO_TASK_ID={task}"]


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("echo 'no json: {'", "no json: {"),
        ("echo '[1, 2]'", [1, 2]),
        ("exec >&-", None),
        (r"printf '\377\000!'", "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}!"),
        ("head -c 1000000 /dev/zero | tr '\\0' x", "x" * 1_000_000),
    ],
    ids=["text", "json", "nothing", "bytes", "1 MB"],
)
def test_what_a_command_prints_is_the_result(script: str, result: Any, site: Site, start: Start) -> None:
    found = done_by(site, start, script)
    assert (found["status"], found["result"]) == ("completed", result)


def test_a_command_that_prints_too_much_fails_its_task_with_the_reason(site: Site, start: Start) -> None:
    found = done_by(site, start, "head -c 3000000 /dev/zero | tr '\\0' x")
    assert (found["status"], found["result"]) == ("failed", None)
    assert "larger than 2,000,000 bytes" in found["error"]


def test_a_command_that_ends_with_another_code_fails_its_task_with_what_it_said(site: Site, start: Start) -> None:
    found = done_by(site, start, "echo no wood >&2; exit 3")
    assert (found["status"], found["error"]) == ("failed", "The command ended with exit code 3.\n\nno wood")


@pytest.mark.deep
def test_a_command_may_ask_for_another_attempt(site: Site, start: Start) -> None:
    found = done_by(site, start, "test -e seen && echo done || { touch seen; exit 75; }")
    assert (found["status"], found["attempt"], found["result"]) == ("completed", 2, "done")


@pytest.mark.deep  # its time must be long enough for it to begin
def test_a_command_that_hangs_is_ended_with_all_it_started_when_its_time_is_up(site: Site, start: Start) -> None:
    found = done_by(site, start, "sleep 600 & echo $! > child; sleep 600", timeout_seconds=4)
    assert (found["status"], found["attempt"]) == ("failed", 1)
    assert found["error"] == "The command took longer than 4 seconds and was stopped."
    assert gone(site.directory / "child")


@pytest.mark.deep
def test_whatever_a_command_has_started_ends_with_an_agent_that_is_killed(site: Site, start: Start) -> None:
    bell, gate = site.bell(), site.gate()
    task = filed(chief(site))
    agent = start("a1", f"sleep 600 & echo $! > child; echo $$ > parent; echo begun > {bell}; {gate}; echo done")
    bell.rung(1)
    agent.kill()
    assert gone(site.directory / "child")
    assert gone(site.directory / "parent")
    gate.open()
    start("a1", "echo again")
    assert ended(chief(site), task)["result"] == "again"


# --- a first try, and keys -------------------------------------------------------------------------------------------


def test_a_first_try_needs_no_key_and_no_project_and_leaves_no_key_behind(site: Site) -> None:
    toryo = Toryo(site.directory, site.environment)
    agent = Process(
        *("--json", "agent", "run", "--type", "sums", "sh", "-c", "echo 42"),
        environment=site.environment,
        cwd=site.directory,
    )
    try:
        task = toryo.json("task", "add", "Add it up", "--agent-type", "sums", "--project", "p")["task_id"]
        told = json.loads(agent.until("task_completed"))
        assert (told["task_id"], told["level"]) == (task, "info")
        assert {"timestamp", "agent_id", "correlation_id", "duration_ms", "metadata"} <= set(told)
        agent.process.send_signal(signal.SIGTERM)
        assert agent.process.wait(100) == 0
    finally:
        agent.end()
    assert toryo.json("task", "show", task)["task"]["status"] == "completed"
    (key,) = toryo.json("token", "list", "--project", "p")["keys"]
    assert key["revoked_at"]
    assert "sums" in toryo("queue", "agents", "--project", "p").out


def test_where_the_project_is_not_clear_the_choices_are_named(site: Site) -> None:
    site.project("q")
    run = Toryo(site.directory, site.environment)("agent", "run", "--type", "t", "--", "true")
    assert run.code == 4
    assert "2 active projects (p, q). Choose one with --project." in run.err


def test_a_program_that_is_not_there_is_named_before_anything_is_asked(nowhere: Toryo) -> None:
    run = nowhere("agent", "run", "--type", "t", "--", "no-such-program")
    assert (run.code, "The program no-such-program was not found." in run.err) == (2, True)


def _run(server: Toryo, key: str, agent_id: str = "a1", agent_type: str = "t") -> Any:
    return server("agent", "run", "--type", agent_type, "--id", agent_id, "--", "true", TORYO_API_KEY=key)


def test_keys_that_are_not_good_end_it_with_4_and_say_why(server: Toryo, project: str) -> None:
    me = f"{project}-me"
    made = server.json("token", "add", "--agent", me, "--project", project, "--type", "t")
    assert made["agent_id"] == me
    unknown, foreign = _run(server, "tqk_unknown", me), _run(server, made["token"], "another")
    other_type = _run(server, made["token"], me, "u")
    assert [each.code for each in (unknown, foreign, other_type)] == [4, 4, 4]
    assert "toryo: This API key is unknown or was revoked" in unknown.err
    assert f"This API key belongs to {me}." in foreign.err
    assert "This API key does not allow the agent type u." in other_type.err
    (key,) = server.json("token", "list", "--project", project)["keys"]
    assert "token" not in key
    assert server("token", "revoke", key["key_id"]).out.startswith("revoked")
    revoked = _run(server, made["token"], me)
    assert (revoked.code, "was revoked" in revoked.err) == (4, True)


def test_a_key_that_is_revoked_ends_the_agent_that_has_it_with_4(site: Site, start: Start) -> None:
    made = site.people.rest("POST", "/projects/p/keys", {"agent_id": "a1"})
    agent = start("a1", "true", "--key", made["token"])
    site.people.rest("POST", f"/keys/{made['key']['key_id']}/revoke")
    filed(chief(site))  # whoever waits looks
    assert agent.ended_with() == 4
    assert agent.said("was revoked") >= 1


def test_a_new_key_is_shown_once(server: Toryo, project: str) -> None:
    added = server("token", "add", "--agent", f"{project}-k", "--project", project, "--orchestrator")
    assert "tqk_" in added.out
    listed = server("token", "list", "--project", project)
    assert (f"{project}-k" in listed.out, "tqk_" in listed.out) == (True, False)


# --- what the guide shows --------------------------------------------------------------------------------------------


def test_the_programs_of_the_guide_work_together(site: Site) -> None:
    guide = (pages.ROOT / "docs" / "how-to" / "queue-agents.md").read_text(encoding="utf-8")
    agent, orchestrator = (block.text for block in pages.blocks(guide) if block.language == "python")
    made = site.people.rest("POST", "/projects/p/keys", {"agent_id": "chief", "orchestrator": True})
    serving = subprocess.Popen([sys.executable, "-c", agent], env=site.environment, cwd=site.directory)
    try:
        asking = {**site.environment, "TORYO_SERVER_URL": site.url, "TORYO_API_KEY": made["token"]}
        command = [sys.executable, "-c", orchestrator]
        asked = subprocess.run(command, env=asking, capture_output=True, text=True, timeout=300, check=False)
        assert (asked.stdout, asked.stderr) == ("completed {'sum': 6}\n", "")
        serving.terminate()
        assert serving.wait(100) == 0
    finally:
        serving.kill()


# --- dead letters ----------------------------------------------------------------------------------------------------


def test_dead_letters_are_listed_and_put_back(site: Site, start: Start) -> None:
    toryo = Toryo(site.directory, site.environment)
    boss = chief(site)
    start("a1", "test -e wood && echo done || { echo no wood >&2; exit 1; }")
    task = filed(boss)
    ended(boss, task)
    (dead,) = toryo.json("queue", "dead", "--project", "p")["tasks"]
    assert dead["task_id"] == task
    assert "The command ended with exit code 1." in toryo("queue", "dead", "--project", "p").out
    (site.directory / "wood").touch()
    assert toryo("queue", "requeue", task).out == f"{task} is back in the queue planning\n"
    assert ended(boss, task)["result"] == "done"
    assert toryo("queue", "requeue", task).code == 4


def test_a_command_is_known_to_who_ends_it_before_it_runs_and_before_the_agent_can_say_so() -> None:
    """The agent may be killed in any moment: here it is gone as soon as it has started the command."""
    with TaskCommand(["sleep", "600"], os.environ) as work:
        work._tell_watch = lambda: None  # type: ignore[method-assign]
        child = work._start({"task_id": "tsk_1"})
        assert work._watch is not None
        assert work._watch.stdin is not None
        work._watch.stdin.close()
        assert child.wait(60) == -signal.SIGKILL


def test_a_command_that_cannot_be_started_is_not_among_those_that_are_ended() -> None:
    with TaskCommand(["/no/such/program"], os.environ) as work:
        with pytest.raises(TaskFailed, match="could not be started"):
            work({"task_id": "tsk_1", "timeout_seconds": 60})
        assert work._running == set()
