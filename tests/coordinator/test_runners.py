"""The agents that are part of Toryo at work: real server, real Coordinator, real processes; people watch by REST."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.coordinator.teams import Team, coordinating, running

# --- the command agent -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runner", ["command", "playbook", "script"])
def test_the_program_of_an_agent_without_a_model_loads_nothing_that_is_dear(runner: str) -> None:
    """Many are started at once, and each would pay for it before it has signed in."""
    dear = ["asyncio", "httpx", "orjson", "yaml", "http.client", "email", "ssl", "argparse", "dataclasses", "inspect"]
    if runner != "script":
        dear.append("toryo.agents.chat_session")
    code = f"import sys, toryo.agents.{runner}; print([each for each in {dear} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_that_succeeds_and_makes_what_it_promises_completes_its_task(team, coordinator) -> None:
    worker = team.hire("w", "command")
    context = {"command": "echo working; pwd; echo made > out.txt", "outputs": ["out.txt"]}
    task = team.closed(team.file("Make it", worker, context=context))
    assert task["status"] == "completed"
    assert task["summary"] == f"working\n{team.directory}"
    assert (team.directory / "out.txt").read_text() == "made\n"


def test_a_list_is_run_as_it_is_and_not_by_a_shell(team, coordinator) -> None:
    worker = team.hire("w", "command")
    task = team.closed(team.file("Echo", worker, context={"command": ["echo", "$HOME; *"]}))
    assert task["summary"] == "$HOME; *"


@pytest.mark.parametrize(
    ("context", "status", "words"),
    [
        ({"command": "echo so wrong; exit 3"}, "failed", "The command ended with exit code 3.\n\nso wrong"),
        ({"command": "kill -9 $$"}, "failed", "The command was ended by SIGKILL."),
        ({"command": "true", "outputs": ["a", "b"]}, "failed", "The command succeeded, but did not create a, b."),
        (
            {"command": "echo begun; sleep 300", "timeout_seconds": 0.5},
            "failed",
            "The command took longer than 0.5 seconds and was stopped.\n\nbegun",
        ),
        ({"command": ["/no/such/program"]}, "failed", "The command could not be started"),
        ({}, "blocked", "This task has no command to run: `command` is missing in its context."),
    ],
)
def test_what_goes_wrong_is_reported_with_its_reason(team, coordinator, context, status, words) -> None:
    worker = team.hire("w", "command")
    task = team.closed(team.file("Try", worker, context=context))
    assert task["status"] == status
    assert words in (task["summary"] if status == "failed" else task["blocked_reason"])
    assert len(task["summary"]) <= 4000


def test_a_long_output_is_reported_by_its_end(team, coordinator) -> None:
    worker = team.hire("w", "command")
    task = team.closed(team.file("Count", worker, context={"command": "seq 1 20000; exit 1"}))
    assert len(task["summary"]) <= 4000
    assert task["summary"].startswith("The command ended with exit code 1.")
    assert task["summary"].endswith("19999\n20000")


def test_what_a_command_leaves_in_the_background_does_not_hold_it_up(team, coordinator) -> None:
    worker = team.hire("w", "command")
    began = time.monotonic()
    task = team.closed(team.file("Spawn", worker, context={"command": "sleep 300 & echo done"}))
    assert task["status"] == "completed"
    assert time.monotonic() - began < 100, "what it left sleeps for 300 s"


def test_acceptance_checks_that_still_fail_after_another_run_fail_the_task(team, coordinator) -> None:
    worker = team.hire("w", "command")
    context = {"command": "echo x >> runs"}
    task = team.closed(team.file("Half", worker, context=context, acceptance=[{"file": "promised.txt"}]))
    assert task["status"] == "failed"
    assert "acceptance checks failed: promised.txt" in task["summary"]
    assert (team.directory / "runs").read_text() == "x\nx\n"


def test_the_output_can_be_read_by_people_and_holds_no_credential(team, coordinator) -> None:
    worker = team.hire("w", "command")
    task_id = team.file("Tell", worker, context={"command": "echo hello; env | grep TORYO_LAUNCH_CREDENTIAL"})
    team.closed(task_id)
    [launch] = team.launches(worker)
    path = f"/launches/{launch['launch_id']}/log"
    text = team.until(lambda: team.client.rest("GET", path)["text"], lambda text: "reporting" in text)
    assert "hello" in text
    assert "tlc_" not in text
    assert "tlc_" not in team.task(task_id)["summary"], "not in the summary either"


@pytest.mark.deep
def test_told_to_leave_it_ends_its_command_leaves_a_note_and_resumes_later(quiet, tmp_path) -> None:
    team, data = quiet, tmp_path / "data"
    worker = team.hire("w", "command")
    sleeping = f"sleep 300.{secrets.randbelow(10**9)}"
    context = {"command": f"test -e second || {{ touch second; exec {sleeping}; }}"}
    with coordinating(data):
        task_id = team.file("Twice", worker, context=context)
        team.until(lambda: sleeping in running(), bool)
    assert sleeping not in running()
    assert team.task(task_id)["status"] == "in_progress"
    [launch] = team.launches(worker)
    assert launch["exit_error"] == "coordinator_stopped"
    assert (launch["exit_code"], launch["exit_signal"]) in ((130, None), (None, signal.SIGINT)), "told by its sandbox"
    with coordinating(data):
        assert team.closed(task_id)["status"] == "completed"


# --- the playbook agent ----------------------------------------------------------------------------------------------


def crew(team: Team, *subtasks: dict[str, Any], workers: tuple[str, ...] = ("a", "b"), **plan: Any) -> str:
    """A manager with one plan, and command workers below it."""
    playbook = {"tasks": [{"match": "Do *", "subtasks": list(subtasks), **plan}]}
    boss = team.hire("boss", "playbook", "manager", provider_options={"playbook": playbook})
    for worker in workers:
        team.hire(worker, "command", reports_to=boss, capabilities=[f"can-{worker}"])
    return boss


def step(name: str, command: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "title": f"Step {name}", "context": {"command": command}, **more}


def test_a_manager_has_everything_done_in_its_order_by_whoever_is_able(team, coordinator) -> None:
    boss = crew(
        team,
        step("one", "echo one > one.txt", capability="can-b", acceptance=[{"file": "one.txt"}]),
        step("two", "cat one.txt > two.txt", depends_on=["one"]),
        step("three", "echo three > {{context.name}}.txt", priority="high"),
    )
    task_id = team.file("Do it", boss, context={"name": "third"}, acceptance=[{"command": "cmp one.txt two.txt"}])
    task = team.closed(task_id)
    assert task["status"] == "completed", task
    assert "Step one" in task["summary"]
    steps = team.below(task_id)
    assert {each["status"] for each in steps.values()} == {"completed"}
    assert steps["Step one"]["assignee_id"] == f"{team.name}-b"
    assert steps["Step two"]["dependencies"] == [steps["Step one"]["task_id"]]
    assert steps["Step three"]["priority"] == "high"
    assert (team.directory / "third.txt").exists()


@pytest.mark.deep
def test_what_fails_is_tried_again_as_often_as_the_plan_says(team, coordinator) -> None:
    boss = crew(team, step("one", "echo x >> tries; test $(wc -l < tries) = 3"), retry=2)
    task_id = team.file("Do it", boss)
    assert team.closed(task_id)["status"] == "completed"
    assert team.below(task_id)["Step one"]["attempt"] == 3


def test_what_fails_for_good_fails_the_task_with_the_reasons(team, coordinator) -> None:
    boss = crew(team, step("one", "echo oh no; exit 7"), step("two", "true", depends_on=["one"]), retry=1)
    task_id = team.file("Do it", boss)
    task = team.closed(task_id)
    assert task["status"] == "failed"
    assert "Step one is failed: The command ended with exit code 7. oh no" in task["summary"]
    assert team.below(task_id)["Step one"]["attempt"] == 2


@pytest.mark.deep
def test_who_retries_the_whole_has_what_failed_tried_again(team, coordinator) -> None:
    boss = crew(
        team, step("one", "echo x >> tries; test -e repaired"), step("two", "true", depends_on=["one"]), retry=0
    )
    task_id = team.file("Do it", boss)
    assert team.closed(task_id)["status"] == "failed"
    for tries, then in ((2, "failed"), (3, "completed")):
        if then == "completed":
            (team.directory / "repaired").touch()
        for status in ("todo", "in_progress"):
            team.client.rest("POST", f"/tasks/{task_id}/move", {"status": status})
        assert team.closed(task_id)["status"] == then
        assert (team.directory / "tries").read_text() == "x\n" * tries
    assert {each["status"] for each in team.below(task_id).values()} == {"completed"}


@pytest.mark.deep
def test_what_is_blocked_is_tried_again_too(team, coordinator) -> None:
    boss = crew(team, {"id": "one", "title": "Step one", "capability": "can-a"}, retry=1)
    task_id = team.file("Do it", boss)
    task = team.closed(task_id)
    assert task["status"] == "blocked"
    assert "`command` is missing in its context" in task["summary"]
    assert team.below(task_id)["Step one"]["attempt"] == 2


@pytest.mark.parametrize(
    ("workers", "subtask", "words"),
    [
        ((), step("one", "true"), "no_available_workers"),
        (("a",), step("one", "true", capability="can-fly"), "no agent here has the capability can-fly"),
        (("a",), step("one", "true", assignee="nobody"), "could not be created"),
        (("a",), step("one", "echo {{context.missing}}"), "this task has no such value"),
    ],
)
def test_what_nobody_can_do_is_reported_once_and_not_tried_for_ever(team, coordinator, workers, subtask, words) -> None:
    boss = crew(team, subtask, workers=workers)
    task = team.closed(team.file("Do it", boss))
    assert task["status"] == "blocked"
    assert words in task["blocked_reason"]
    assert len(team.launches(boss)) == 1


def test_a_title_without_a_plan_is_reported_with_the_plans_there_are(team, coordinator) -> None:
    boss = crew(team, step("one", "true"))
    task = team.closed(team.file("Something else", boss))
    assert "no plan for the title 'Something else'; it has plans for 'Do *'" in task["blocked_reason"]


def test_a_main_task_whose_check_fails_though_all_is_done_fails_with_that_reason(team, coordinator) -> None:
    boss = crew(team, step("one", "true"))
    task = team.closed(team.file("Do it", boss, acceptance=[{"file": "never.txt"}]))
    assert task["status"] == "failed"
    assert "acceptance checks failed: never.txt" in task["summary"]


WORKER_PLAN = """
tasks:
  - match: Build (?P<what>.+)
    retry: 1
    subtasks:
      - {id: cut, title: "Cut the {{what}}", run: "echo {{what}} > cut.txt"}
      - id: join
        title: Join the {{what}}
        depends_on: [cut]
        run: [sh, -c, 'test -e once || { touch once; echo slipped; exit 1; }; cp cut.txt "$1.txt"', sh, "{{what}}"]
"""


def test_a_worker_divides_its_task_and_runs_the_steps_itself(team, coordinator) -> None:
    (team.directory / "plan.yaml").write_text(WORKER_PLAN)
    worker = team.hire("w", "playbook", provider_options={"playbook": "plan.yaml"})
    task_id = team.file("Build chair", worker)
    task = team.closed(task_id)
    assert task["status"] == "completed", task
    assert (team.directory / "chair.txt").read_text() == "chair\n"
    steps = team.below(task_id)
    assert {title: each["attempt"] for title, each in steps.items()} == {"Cut the chair": 1, "Join the chair": 2}
    assert len(team.launches(worker)) == 1, "all in one process"


def test_a_worker_that_may_not_divide_runs_all_steps_at_once(team, coordinator) -> None:
    team.client.rest("PATCH", f"/projects/{team.name}", {"settings": {"decomposition": "never"}})
    (team.directory / "once").touch()
    worker = team.hire("w", "playbook", provider_options={"playbook": WORKER_PLAN})
    task_id = team.file("Build table", worker)
    assert team.closed(task_id)["status"] == "completed"
    assert not team.below(task_id)


def test_a_playbook_with_a_mistake_starts_nothing_and_says_where_it_is(team, coordinator) -> None:
    (team.directory / "wrong.yaml").write_text(WORKER_PLAN.replace("retry", "retrie"))
    worker = team.hire("w", "playbook", provider_options={"playbook": "wrong.yaml"})
    team.file("Build chair", worker)
    [launch] = team.until(
        lambda: team.launches(worker), lambda launches: launches and launches[0]["exit_error"] is not None
    )
    assert launch["exit_error"] == "bad_config"
    path = f"/launches/{launch['launch_id']}/log"
    text = team.until(lambda: team.client.rest("GET", path)["text"], bool)
    assert "wrong.yaml:4: tasks[0].retrie: there is no such key; did you mean retry?" in text


# --- conditions ------------------------------------------------------------------------------------------------------

CHECKED = """
tasks:
  - match: Keep (?P<what>.+)
    subtasks:
      - {id: check, title: "Check the {{what}}", run: "echo damp; test {{what}} = dry", retry: 1}
      - {id: mend, title: "Mend the {{what}}", when: {subtask: check, status: failed}, run: "echo mended > mended.txt"}
      - {id: use, title: "Use the {{what}}", depends_on: [check], run: "echo used > used.txt"}
      - id: end
        title: Tidy up
        depends_on: [mend]
        when: {subtask: check, status: closed, summary_matches: damp}
        run: echo tidy > tidy.txt
"""


def _statuses(team: Team, task_id: str) -> list[str]:
    below = team.below(task_id)
    names = ("Check", "Mend", "Use", "Tidy")
    return [next(each["status"] for title, each in below.items() if title.startswith(name)) for name in names]


def test_a_worker_mends_what_failed_and_leaves_out_what_needed_it(team, coordinator) -> None:
    worker = team.hire("w", "playbook", provider_options={"playbook": CHECKED})
    task_id = team.file("Keep wet", worker)
    task = team.closed(task_id)
    assert task["status"] == "completed", task
    assert _statuses(team, task_id) == ["failed", "completed", "cancelled", "completed"]
    assert team.below(task_id)["Check the wet"]["attempt"] == 2
    assert "Use the wet was left out: it needs “Check the wet”, which failed" in task["summary"]
    assert (team.directory / "tidy.txt").exists()
    assert len(team.launches(worker)) == 1


def test_a_worker_leaves_out_what_is_for_a_failure_that_did_not_come(team, coordinator) -> None:
    worker = team.hire("w", "playbook", provider_options={"playbook": CHECKED})
    task_id = team.file("Keep dry", worker)
    assert team.closed(task_id)["status"] == "completed"
    assert _statuses(team, task_id) == ["completed", "cancelled", "completed", "completed"]
    assert not (team.directory / "mended.txt").exists()


def test_a_failure_that_a_manager_has_a_plan_for_does_not_fail_its_task(team, coordinator) -> None:
    boss = crew(
        team,
        step("check", "echo cracked; false"),
        step("mend", "touch mended", when={"subtask": "check", "status": "failed"}),
        step("use", "touch used", depends_on=["check"]),
        step("end", "touch end", depends_on=["mend"]),
    )
    task_id = team.file("Do it", boss)
    task = team.closed(task_id)
    assert task["status"] == "completed", task
    statuses = {title: each["status"] for title, each in team.below(task_id).items()}
    assert statuses == {
        "Step check": "failed",
        "Step mend": "completed",
        "Step use": "cancelled",
        "Step end": "completed",
    }
    assert not (team.directory / "used").exists()


@pytest.mark.deep
def test_a_mending_that_fails_too_fails_the_task(team, coordinator) -> None:
    boss = crew(team, step("check", "false"), step("mend", "false", when={"subtask": "check", "status": "failed"}))
    task = team.closed(team.file("Do it", boss))
    assert task["status"] == "failed"
    assert "Step mend is failed" in task["summary"]


@pytest.mark.parametrize("provider", ["manager", "worker"])
def test_a_plan_of_which_nothing_is_needed_is_done(team, coordinator, provider) -> None:
    condition = {"variable": "{{context.kind}}", "equals": "minor"}
    only = {"id": "one", "title": "Step one", "run": "touch one", "when": condition}
    if provider == "manager":
        who = crew(team, only)
    else:
        who = team.hire("w", "playbook", provider_options={"playbook": {"tasks": [{"subtasks": [only]}]}})
    task_id = team.file("Do it", who, context={"kind": "patch"})
    task = team.closed(task_id)
    assert task["status"] == "completed", task
    assert "left out: {{context.kind}} is 'patch', not 'minor'" in task["summary"]
    assert team.below(task_id)["Step one"]["status"] == "cancelled"
    assert len(team.launches(who)) == 1
