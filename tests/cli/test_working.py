"""`toryo up` with agents at work: watching, logs, events and sessions of real processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment
from toryo.cli import output, tasks


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toryo]:
    """A server, a Coordinator and one agent who runs commands in project `yard`."""
    home = tmp_path_factory.mktemp("yard")
    environment = {**clean_environment(home), "TORYO_DATA_DIR": str(home / "data")}
    up = Process("up", "--port", "0", environment=environment, cwd=home)
    try:
        up.until("Toryo is up at http://")
        toryo = Toryo(home, environment)
        (home / "yard").mkdir()
        toryo.json("project", "add", "yard", "--id", "yard", "--dir", str(home / "yard"))
        toryo.json("agent", "add", "hand", "--role", "worker", "--provider", "command", "--project", "yard")
        yield toryo
    finally:
        up.end()


def _order(team: Toryo, title: str, command: str) -> str:
    context = json.dumps({"command": command})
    words = ("--project", "yard", "--assignee", "hand", "--status", "in_progress", "--context", context)
    return str(team.json("task", "add", title, *words)["task_id"])


def test_watching_follows_a_task_to_its_end(team: Toryo) -> None:
    task = _order(team, "Measure", "echo twelve feet; touch measured")
    watched = team("task", "watch", task)
    assert (watched.code, watched.err) == (0, "")
    assert watched.out.splitlines()[-1].split()[1] == "completed"
    assert (team.home / "yard" / "measured").exists()


def test_watching_a_task_that_fails_ends_with_1_and_its_document(team: Toryo) -> None:
    task = _order(team, "Break", "echo no wood; exit 3")
    watched = team("task", "watch", task, "--json")
    assert watched.code == 1
    assert (watched.json["success"], watched.json["task"]["status"]) == (False, "failed")


def test_watching_a_task_that_fails_says_why_and_what_can_be_done(team: Toryo) -> None:
    task = _order(team, "Break", "echo no wood; exit 3")
    watched = team("task", "watch", task)
    assert (watched.code, watched.err) == (1, "")
    *_, failed, reason, output_of_it, again, printed = (line.strip() for line in watched.out.splitlines())
    assert failed.startswith("✘ failed")
    assert (reason, output_of_it) == ("The command ended with exit code 3.", "no wood")
    assert again == f"To retry it: toryo task retry {task}"
    assert printed == f"To see the output: toryo logs {task}"
    assert "no wood" in team("logs", task, "--follow").out, "the last of it may come after the news of the end"
    assert team("task", "retry", task).code == 0
    assert team("task", "watch", task).code == 1, "it has run again"


def test_who_watches_a_task_that_would_be_blocked_again_is_told_what_has_to_change_first(team: Toryo) -> None:
    words = ("--project", "yard", "--assignee", "hand", "--status", "in_progress")
    name = team.json("task", "add", "Sweep", *words)["task_id"]
    watch = Process("task", "watch", name, environment=team.environment, cwd=team.home)
    try:
        watch.until("Add a command to the task, then unblock it.")
        watch.until(f"First: toryo task edit {name} --context")
        watch.until(f"toryo task move {name} in_progress")
        team("task", "cancel", name, "--reason", "enough")
        watch.until("cancelled")
    finally:
        watch.end()


def test_logs_show_what_the_process_printed_of_an_agent_a_task_and_a_launch_and_say_which(team: Toryo) -> None:
    task = _order(team, "Speak of planks", "echo twelve planks")
    team("task", "watch", task)
    assert "twelve planks" in team("logs", "hand", "--follow").out
    shown = team.json("logs", "hand")
    assert f"Showing the newest launch {shown['launch_id']} of hand, for tsk_" in team("logs", "hand").err
    for typed in (task, task[-6:], "Speak of planks"):
        named = team("logs", typed)
        assert named.out == shown["text"]
        assert f"Showing the newest launch {shown['launch_id']} of hand, for tsk_" in named.err
    assert "twelve planks" in shown["text"]
    assert team("logs", shown["launch_id"]).out == shown["text"]
    assert team("logs", shown["launch_id"]).err == ""


def test_following_logs_shows_output_as_it_comes_and_ends_with_the_process(team: Toryo) -> None:
    task = _order(team, "Wait for the word", "echo listening; until [ -e word ]; do sleep 0.1; done; echo heard it")
    team_events = Process("events", "--follow", "--json", environment=team.environment, cwd=team.home)
    logs = None
    try:
        while json.loads(team_events.until('"session.started"'))["agent_id"] != "hand":
            pass
        logs = Process("logs", "hand", "--follow", environment=team.environment, cwd=team.home)
        logs.until("listening")
        (team.home / "yard" / "word").touch()
        logs.until("heard it")
        assert logs.process.wait(100) == 0
        assert team("task", "watch", task).code == 0
        assert team_events.interrupt() == 130
    finally:
        for each in (team_events, logs):
            if each is not None:
                each.end()


def test_a_session_is_listed_and_ended_by_force(team: Toryo, tmp_path: Path) -> None:
    events = Process("events", "--follow", "--json", environment=team.environment, cwd=tmp_path)
    try:
        task = _order(team, "Sleep", "sleep 600")
        session = None
        while session is None:  # an event may still be of the test before
            events.until('"session.model_reported"')
            session = next((each for each in team.json("sessions")["sessions"] if each["agent_id"] == "hand"), None)
        assert session["task_id"] == task
        team.json("task", "cancel", task, "--reason", "enough")
        ended = team("sessions", "--end", session["session_id"], "--json")
        assert ended.code == 0
        events.until('"launch.process_ended"')
        assert team.json("sessions")["sessions"] == []
    finally:
        events.end()


def test_a_retry_starts_the_task_or_says_what_keeps_it_from_that(server: Toryo, project: str, agent: str) -> None:
    task = server.json("task", "add", "Try", "--project", project, "--assignee", agent, "--status", "in_progress")
    name = task["task_id"]
    server("task", "move", name, "failed", "--reason", "no dough")
    assert server("task", "retry", name).out.splitlines()[-1] == f"{name}: failed → in_progress"
    server("task", "move", name, "failed", "--reason", "no dough")
    server("task", "add", "Other", "--project", project, "--assignee", agent, "--status", "in_progress")
    told = server("task", "retry", name).out
    assert f"{name}: failed → todo" in told
    assert "It cannot start yet: " in told


@pytest.mark.parametrize(("status", "name"), [("todo", "last summary"), ("completed", "summary")])
def test_what_an_attempt_before_has_left_is_shown_as_that(
    status: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output.console.cache_clear()
    tasks._print_task({"task_id": "tsk_1", "status": status, "summary": "no dough", "checks": "none"}, [])
    assert f"\n{name}  no dough\n" in capsys.readouterr().out.replace("   ", "")


def test_who_watches_a_task_that_nothing_moves_is_told_why_and_told_again_when_that_changes(
    server: Toryo, project: str, agent: str
) -> None:
    name = server.json("task", "add", "Try", "--project", project, "--assignee", agent)["task_id"]
    watch = Process("task", "watch", name, environment=server.environment, cwd=server.home)
    try:
        watch.until("It is todo, and no one has started it.")
        watch.until(f"To start it: toryo task move {name} in_progress")
        server("task", "move", name, "in_progress")
        watch.until("◐ in_progress Try")
        watch.until(f"{agent}: It has no provider, so it is not started automatically.")
        server("task", "move", name, "blocked", "--reason", "no dough")
        watch.until("It is blocked: no dough")
        server("task", "move", name, "cancelled", "--reason", "enough")
        watch.until("cancelled")
    finally:
        watch.end()


def test_why_a_task_waits_names_the_other_task_of_its_agent_that_is_worked_on(team: Toryo) -> None:
    assert (
        team(
            "agent",
            "add",
            "pair",
            "--role",
            "worker",
            "--provider",
            "command",
            "--project",
            "yard",
            "--max-parallel",
            "2",
        ).code
        == 0
    )
    words = ("--project", "yard", "--assignee", "pair", "--status", "in_progress", "--context")
    begun = team.home / "yard" / "sawing"
    context = json.dumps({"command": f"touch {begun}; until test -e go; do sleep 0.1; done"})
    first = team.json("task", "add", "Saw", *words, context)["task_id"]
    second = team.json("task", "add", "Plane", *words, json.dumps({"command": "true"}))["task_id"]
    [told] = team.json("why", second)["explanation"]
    assert told == f"pair: It works on “Saw” ({first}), or is being started for it. This task waits until that ends."
    assert "works on" not in team("why", first).out
    (team.home / "yard" / "go").touch()
    assert team("task", "watch", second).code == 0


def test_a_task_that_is_held_back_says_so_and_one_that_is_only_forecast_does_not() -> None:
    meets = {"message": "would meet tsk_1 in app/models.py", "title": "Rename"}
    assert tasks._conflict({**meets, "holds": True}).startswith("It would meet tsk_1 in app/models.py, so it is held")
    assert tasks._conflict({**meets, "holds": False}) == "It would meet tsk_1 in app/models.py: Rename"


def test_tasks_for_whoever_is_free_run_on_several_agents_at_once(team: Toryo) -> None:
    words = ("--role", "worker", "--provider", "command", "--capability", "saw", "--project", "yard", "--count", "2")
    assert team("agent", "add", "saw", *words).code == 0
    meets = "touch $0; for i in $(seq 200); do [ -e $1 ] && exit 0; sleep 0.1; done; exit 1"
    tasks = []
    for mine, other in (("left", "right"), ("right", "left")):
        context = json.dumps({"command": ["sh", "-c", meets, mine, other]})
        for_any = ("--project", "yard", "--assignee", "any:saw", "--context", context)
        tasks.append(str(team.json("task", "add", mine, *for_any)["task_id"]))
    ends = [team("task", "watch", task) for task in tasks]
    assert [end.code for end in ends] == [0, 0], "each has waited for what the other one does"
    assert {team.json("task", "show", task)["task"]["assignee_id"] for task in tasks} == {"saw-1", "saw-2"}
