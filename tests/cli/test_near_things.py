"""What is nearly right: the provider, file, role or task that was meant is named, and nothing is made meanwhile."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Toryo
from toryo.cli import exit_codes, output, waiting
from toryo.cli.command_context import Here
from toryo.client import Client, server_discovery

TEAM = """
projects: [{{id: {name}, name: {name}, directory: .}}]
agents:
  - id: {name}.w
    role: worker
    provider: {provider}
    projects: [{name}]
"""


@pytest.fixture
def name(tmp_path: Path) -> str:
    return re.sub("[^a-z0-9]", "", tmp_path.name.lower())


def test_a_misspelt_provider_is_a_mistake_of_the_file_unless_somebody_says_yes(
    server: Toryo, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "toryo.yaml"
    file.write_text(TEAM.format(name=name, provider="claud"))
    refused = server("apply", str(file))
    assert refused.code == 2
    assert f"toryo.yaml:6: agent {name}.w: No Coordinator has the provider claud" in refused.err
    assert "Did you mean claude?" in refused.err
    assert server("project", "show", name).code == 4, "nothing was made"
    accepted = server("apply", str(file), "--yes")
    assert (accepted.code, "warning" in accepted.err) == (0, True)
    assert server("apply", str(file)).code == 0, "what is so already is no change"
    file.write_text(TEAM.format(name=name, provider="one-of-our-own"))
    assert server("apply", str(file)).code == 0, "its Coordinator may come later"


def test_a_misspelt_provider_is_refused_where_agents_are_made_and_edited(server: Toryo, agent: str, name: str) -> None:
    made = server("agent", "add", f"{name}.a", "--role", "worker", "--provider", "comand")
    assert (made.code, "Did you mean command?" in made.err) == (2, True)
    assert server("agent", "show", f"{name}.a").code == 4
    edited = server("agent", "edit", agent, "--provider", "comand")
    assert (edited.code, "Did you mean command?" in edited.err) == (2, True)
    assert server("agent", "edit", agent, "--provider", "comand", "--yes").code == 0
    assert server("agent", "edit", agent, "--name", "Ann").code == 0, "that is another matter"


def test_a_misspelt_account_is_refused_and_one_that_is_like_no_other_is_only_told(server: Toryo, agent: str) -> None:
    found = server_discovery.find(data_dir=Path(server.environment["TORYO_DATA_DIR"]), environ={}, role="coordinator")
    accounts = [{"provider": "claude", "account": account} for account in ("claude", "second")]
    with Client(found.url, found.token) as coordinator:
        coordinator.call("claim_starts", coordinator_id="desk", free_slots=0, running=[], accounts=accounts)
    assert server("agent", "edit", agent, "--provider", "claude", "--yes").code == 0
    fallback = "fallback={{provider: claude, account: {}}}"
    refused = server("agent", "edit", agent, "--option", fallback.format("secnd"))
    assert (refused.code, "Did you mean second?" in refused.err) == (2, True)
    assert "fallback" not in server.json("agent", "show", agent)["agent"]["provider_options"]
    told = server("agent", "edit", agent, "--option", fallback.format("other"))
    assert (told.code, "has the account other of claude" in told.err) == (0, True)
    assert server("agent", "edit", agent, "--option", fallback.format("secnd"), "--yes").code == 0


def test_a_file_that_is_not_there_is_answered_with_the_one_beside_it(nowhere: Toryo, tmp_path: Path) -> None:
    for given, there, words in (
        ("toryo.yml", "toryo.yaml", ("apply",)),
        ("crew.yml", "crew.yaml", ("import",)),
        ("play.yml", "play.yaml", ("playbook", "check")),
        ("crew.bakup", "crew.backup", ("db", "restore")),
        ("tokn", "token", ("task", "list", "--token-file")),
    ):
        (tmp_path / there).write_text("")
        ended = nowhere(*words, given)
        assert (ended.code, ended.err) == (2, f"toryo: {given} does not exist. Did you mean {there}?\n")
    assert exit_codes.near_file(tmp_path / "quite-another") is None


def test_a_misspelt_role_is_answered_with_the_one_that_was_meant(nowhere: Toryo, tmp_path: Path) -> None:
    assert "Did you mean worker? Use one of: " in nowhere("agent", "add", "x", "--role", "worke").err
    file = tmp_path / "toryo.yaml"
    file.write_text(TEAM.format(name="x", provider="claude").replace("worker", "worke"))
    assert "did you mean 'worker'?" in nowhere("apply", str(file)).err


def test_tasks_of_one_title_are_listed_with_what_tells_them_apart(server: Toryo, project: str) -> None:
    title = f"Twice in {project}"
    ids = [
        server.json("task", "add", title, "--project", project, "--status", status)["task_id"]
        for status in ("todo", "backlog")
    ]
    refused = server("task", "show", title)
    assert refused.code == 2
    assert f"{ids[0]} (todo), {ids[1]} (backlog)" in refused.err


def test_a_trace_takes_a_title_and_a_part_of_an_id(server: Toryo, project: str) -> None:
    task = server.json("task", "add", f"Trace of {project}", "--project", project)["task_id"]
    whole = server.json("trace", task)
    assert server.json("trace", f"Trace of {project}") == server.json("trace", task[-8:]) == whole


def test_a_budget_that_is_to_be_reset_is_reset_by_the_command_that_is_printed(
    server: Toryo, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "toryo.yaml"
    team = TEAM.format(name=name, provider="command")
    file.write_text(team.replace("directory: .", "directory: ., settings: {budget_per_day: 5, isolation: worktree}"))
    assert server("apply", str(file)).code == 0
    file.write_text(team)
    told = server("apply", str(file)).err
    words = re.findall(r"To reset it: toryo (.+)", told)
    assert f"project edit {name} --set isolation=none" in words, "that grants nothing"
    for each in words:
        assert server(*each.split()).code == 0, each
    assert "--set budget_per_day=none --yes" in told


def test_what_is_in_line_is_not_said_to_wait_for_a_person(server: Toryo, project: str, agent: str) -> None:
    server.json("project", "edit", project, "--set", "start=when_ready", "--yes")
    server.json("task", "add", "First", "--project", project, "--assignee", agent)
    server.json("task", "add", "Second", "--project", project, "--assignee", agent)
    assert "assigned but not started" not in server("needs", "--project", project).err


def test_what_needs_nobody_and_is_not_started_is_mentioned(server: Toryo, project: str, agent: str) -> None:
    words = ("--project", project, "--assignee", agent)
    task = server.json("task", "add", "Later", *words)["task_id"]
    server.json("task", "add", "A draft", *words, "--status", "backlog")
    told = server("needs", "--project", project)
    assert "1 task is assigned but not started: toryo task list --status todo" in told.err
    assert f"To start it: toryo task move {task} in_progress" in told.err
    assert "not started" not in server("needs", "--project", project, "--json").err
    server.json("task", "move", task, "in_progress")
    assert "not started" not in server("needs", "--project", project).err


def test_who_waits_for_a_server_that_hangs_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    words: list[str] = []

    class Hanging(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert told.wait(100)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

    def say(*lines: str) -> None:
        words.extend(lines)
        told.set()

    hanging = HTTPServer(("127.0.0.1", 0), Hanging)
    threading.Thread(target=hanging.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{hanging.server_port}"
        monkeypatch.setattr(waiting, "SILENT_SECONDS", 0.0)
        monkeypatch.setattr(output, "say", say)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        assert Here(server=address, token="x").get("/status") == {}
    finally:
        hanging.shutdown()
        hanging.server_close()
    assert f"toryo: waiting for an answer from {address} ... (^C stops waiting)" in words


def test_needs_say_first_what_is_off_in_a_project(server: Toryo, project: str) -> None:
    assert server("project", "pause", project).code == 0
    told = server("needs", "--project", project)
    assert told.out.startswith(f"{project}: This project is paused: no task is worked on. By "), told.out
    assert f"resume project: toryo project resume {project}" in told.out + told.err
    assert "Nothing needs your attention" not in told.err
    assert server.json("needs", "--project", project)["items"] == []
