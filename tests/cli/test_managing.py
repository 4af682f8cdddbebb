"""`toryo project`, `agent`, `task`, `why`, `events`, `sessions`, `logs`, `doctor` against a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Process, Toryo
from toryo.cli import events
from toryo.cli.command_context import Here
from toryo.client import Client


def test_a_project_is_made_shown_changed_and_put_away(server: Toryo, project: str, tmp_path: Path) -> None:
    server.json("project", "edit", project, "--set", "language=ja", "--set", "retry_attempts=5")
    shown = server.json("project", "show", project)
    assert shown["project"]["working_directory"] == str(tmp_path)
    assert shown["project"]["settings"]["language"] == "ja"
    assert shown["project"]["settings"]["retry_attempts"] == 5
    assert project in {each["project_id"] for each in server.json("project", "list")["projects"]}
    statuses = [server.json("project", verb, project)["project"]["status"] for verb in ("pause", "resume", "archive")]
    assert statuses == ["paused", "active", "archived"]


def test_an_unknown_project_setting_is_refused_with_the_ones_there_are(server: Toryo, project: str) -> None:
    ended = server("project", "edit", project, "--set", "langauge=ja")
    assert ended.code == 4
    assert "language" in ended.err


def test_an_agents_passkey_is_printed_once(server: Toryo, project: str) -> None:
    made = server.json("agent", "add", f"{project}.ann", "--role", "worker", "--project", project)
    assert made["agent_id"] == f"{project}.ann"
    assert made["passkey"]
    shown = server("agent", "show", made["agent_id"], "--json")
    assert made["passkey"] not in shown.out
    renewed = server.json("agent", "passkey", made["agent_id"])
    assert renewed["passkey"] != made["passkey"]


def test_people_see_the_passkey_too(server: Toryo, project: str) -> None:
    ended = server("agent", "add", f"{project}.bob", "--role", "worker")
    assert "passkey" in ended.out
    assert "once" in ended.err


def test_what_an_agent_reaches_is_shown_with_the_setting_that_says_so(server: Toryo, project: str) -> None:
    name = f"{project}.reaching"
    server.json("agent", "add", name, "--role", "worker", "--provider", "claude", "--project", project)
    assert f"{project}: model (network of the project)" in server("agent", "show", name, COLUMNS="300").out
    server.json("agent", "edit", name, "--option", "sandbox_network=off")
    (found,) = server.json("agent", "show", name)["networks"]
    assert (found["network"], found["setting"]) == ("off", "sandbox_network of the agent's provider_options")


def test_an_agent_is_described_with_text_from_a_file(server: Toryo, project: str, agent: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Be brief.\n")
    (tmp_path / "options.yaml").write_text("playbook: {tasks: [{subtasks: [{id: a, title: A}]}]}\n")
    server.json(
        "agent", "edit", agent, "--prompt", f"@{tmp_path}/prompt.md", "--options", f"@{tmp_path}/options.yaml",
        "--capability", "writing", "--capability", "reading", "--name", "Ann",
    )  # fmt: skip
    shown = server.json("agent", "show", agent)["agent"]
    assert shown["system_prompt"] == "Be brief.\n"
    assert shown["provider_options"] == {"playbook": {"tasks": [{"subtasks": [{"id": "a", "title": "A"}]}]}}
    assert shown["capabilities"] == ["writing", "reading"]
    assert shown["name"] == "Ann"


def test_an_agent_leaves_and_joins_projects_and_rests(server: Toryo, project: str, agent: str) -> None:
    server.json("agent", "edit", agent, "--leave", project)
    assert server.json("project", "show", project)["members"] == []
    server.json("agent", "edit", agent, "--project", project)
    assert [member["agent_id"] for member in server.json("project", "show", project)["members"]] == [agent]
    assert server.json("agent", "deactivate", agent)["agent"]["status"] == "inactive"
    assert server.json("agent", "activate", agent)["agent"]["status"] == "active"


def test_a_task_is_filed_with_everything_it_can_say(server: Toryo, project: str, agent: str) -> None:
    first = server.json("task", "add", "First", "--project", project)["task_id"]
    filed = server.json(
        "task", "add", "Second", "--project", project, "--assignee", agent, "--priority", "high", "-d", "Do it.",
        "--depends-on", first, "--status", "todo", "--context", '{"command": "make"}', "--accept", "make test",
        "--accept-file", "out.txt",
    )  # fmt: skip
    shown = server.json("task", "show", filed["task_id"])["task"]
    assert (shown["title"], shown["description"], shown["priority"]) == ("Second", "Do it.", "high")
    assert (shown["assignee_id"], shown["dependencies"], shown["status"]) == (agent, [first], "todo")
    assert shown["context"] == {"command": "make"}
    assert shown["acceptance"] == [{"command": "make test"}, {"file": "out.txt"}]


def test_a_check_of_any_kind_is_given_as_json(server: Toryo, project: str) -> None:
    limits, commands = {"diff": {"max_files": 5}}, "{ make lint; make test; }"
    words = ("--accept", json.dumps(limits), "--accept", commands, "--accept", '{"command": "make", "retries": 1}')
    filed = server.json("task", "add", "Check", "--project", project, *words)["task_id"]
    shown = server.json("task", "show", filed)["task"]
    assert shown["acceptance"] == [limits, {"command": commands}, {"command": "make", "retries": 1}]
    for wrong, told in (
        ('{"diff": ', "--accept is not valid JSON."),
        ('{"diff": {"max_fils": 5}}', "--accept: Check 1 has an unknown key 'max_fils'. Did you mean max_files?"),
    ):
        ended = server("task", "edit", filed, "--accept", wrong)
        assert ended.code != 0
        assert told in ended.err


def test_a_task_that_waits_cannot_be_started_and_the_refusal_says_so(server: Toryo, project: str, agent: str) -> None:
    first = server.json("task", "add", "First", "--project", project)["task_id"]
    second = server.json("task", "add", "Second", "--project", project, "--assignee", agent, "--depends-on", first)
    ended = server("task", "move", second["task_id"], "in_progress", "--json")
    assert (ended.code, ended.json["error"]) == (4, "dependencyNotMet")


def test_a_task_is_moved_retried_and_cancelled(server: Toryo, project: str, agent: str) -> None:
    task = server.json("task", "add", "Try", "--project", project, "--assignee", agent, "--status", "in_progress")
    task_id = task["task_id"]
    moved = server.json("task", "move", task_id, "failed", "--reason", "no luck")
    assert (moved["previous_status"], moved["new_status"]) == ("in_progress", "failed")
    retried = server.json("task", "retry", task_id)
    assert (retried["previous_status"], retried["new_status"]) == ("failed", "in_progress")
    assert server.json("task", "cancel", task_id, "--reason", "enough")["new_status"] == "cancelled"


def test_an_impossible_move_is_refused_with_the_possible_ones(server: Toryo, project: str) -> None:
    task = server.json("task", "add", "Try", "--project", project)["task_id"]
    ended = server("task", "move", task, "completed", "--json")
    assert (ended.code, ended.json["error"]) == (4, "invalidTransition")


def test_a_task_is_edited_with_its_dependencies(server: Toryo, project: str) -> None:
    first = server.json("task", "add", "First", "--project", project)["task_id"]
    second = server.json("task", "add", "Second", "--project", project)["task_id"]
    server.json("task", "edit", second, "--title", "Later", "--depends-on", first)
    assert server.json("task", "show", second)["task"]["dependencies"] == [first]
    server.json("task", "edit", second, "--no-longer-on", first)
    shown = server.json("task", "show", second)["task"]
    assert (shown["title"], shown["dependencies"]) == ("Later", [])


def test_a_list_that_is_limited_and_empty_does_not_say_that_there_are_no_tasks(server: Toryo, project: str) -> None:
    assert server("task", "list", "--project", project).err.startswith("No tasks yet.")
    server.json("task", "add", "Sweep", "--project", project)
    assert server("task", "list", "--project", project, "--status", "failed").err == "No such tasks.\n"


def test_people_see_parts_below_what_they_are_parts_of(server: Toryo, project: str) -> None:
    whole = server.json("task", "add", "Whole", "--project", project)["task_id"]
    server.json("task", "add", "Other", "--project", project)
    server.json("task", "add", "Part", "--project", project, "--parent", whole)
    lines = server("task", "list", "--project", project).out.splitlines()
    titles = [line.split("medium", 1)[1].rstrip() for line in lines[1:]]
    assert [title.strip() for title in titles] == ["Whole", "Part", "Other"]
    assert titles[1].index("P") == titles[0].index("W") + 2


def test_watching_ends_with_0_if_the_task_was_completed_and_with_1_if_not(
    server: Toryo, project: str, agent: str
) -> None:
    ends = {}
    for status in ("completed", "failed"):
        task = server.json("task", "add", status, "--project", project, "--assignee", agent, "--status", "in_progress")
        server.json("task", "move", task["task_id"], status, "--reason", "seen")
        ends[status] = server("task", "watch", task["task_id"]).code
    assert ends == {"completed": 0, "failed": 1}


def test_why_names_the_rule_that_won(server: Toryo, project: str, agent: str) -> None:
    decisions = server.json("why", agent, "--project", project)["decisions"]
    assert {decision["reason"] for decision in decisions if decision["purpose"] == "task"} == {"not_managed"}
    assert "not_managed" in server("why", agent, "--verbose").out


def test_why_of_a_task_says_what_it_waits_for_and_how_it_ended(server: Toryo, project: str, agent: str) -> None:
    title = f"Polish the brass of {project}"
    task = server.json("task", "add", title, "--project", project, "--assignee", agent)["task_id"]
    for named in (task, title, task[-8:]):
        told = server("why", named)
        assert (told.code, told.err) == (0, "")
        assert f"{task} todo  {title}" in told.out
        assert f"To start it: toryo task move {task} in_progress" in told.out
    server("task", "move", task, "in_progress")
    assert f"{agent}: It has no provider, so it is not started automatically." in server("why", task).out
    server("task", "move", task, "failed", "--reason", "no polish")
    assert server.json("why", task)["explanation"] == [
        "It failed.",
        "no polish",
        f"To retry it: toryo task retry {task}",
        f"To see the output: toryo logs {task}",
    ]


def test_why_of_a_queue_task_says_that_no_agent_has_claimed_it_and_lists_the_agents(
    server: Toryo, project: str
) -> None:
    task = server.json("task", "add", "Add it up", "--agent-type", "sums", "--project", project)["task_id"]
    told = server("why", task).out
    assert f"Task {task} is in the queue sums, and no agent has claimed it." in told
    assert f"toryo queue agents --project {project}" in told
    assert "--assignee" not in told


def test_why_of_what_is_neither_an_agent_nor_a_task_names_what_may_be_meant(server: Toryo, project: str) -> None:
    task = server.json("task", "add", f"Sweep the yard of {project}", "--project", project)["task_id"]
    for words, code in ((f"Sweeep the yard of {project}", "taskNotFound"), ("nobody", "agentNotFound")):
        ended = server("why", words, "--json")
        assert (ended.code, ended.json["error"]) == (4, code)
    assert f"Did you mean {task}" in server("why", f"Sweeep the yard of {project}").err


def test_events_go_on_after_a_page_of_which_the_caller_sees_nothing() -> None:
    seen = {"sequence": 501, "kind": "task.created"}
    pages = {0: {"events": [], "last": 500}, 500: {"events": [seen], "last": 501}, 501: {"events": [], "last": 501}}

    class Server(Here):
        def get(self, path: str, **query: Any) -> Any:
            assert path == "/events"
            return pages[query["after"]]

    assert events.all_after(Server(), 0, {}) == ([seen], 501, 0)


def test_events_begin_where_one_says_and_miss_nothing(server: Toryo, project: str) -> None:
    for number in range(3):
        server.json("task", "add", f"Task {number}", "--project", project)
    everything = server.json("events", "--after", "0", "--project", project)["events"]
    numbers = [each["sequence"] for each in everything]
    assert numbers == sorted(numbers)
    later = server.json("events", "--after", str(numbers[-2]), "--project", project)["events"]
    assert [each["sequence"] for each in later] == numbers[-1:]
    assert sum(each["kind"] == "task.created" for each in everything) == 3


def test_the_newest_events_of_one_thing_are_shown_however_many_of_others_came_after_them(
    server: Toryo, owner: Client, project: str
) -> None:
    first, *_ = (
        owner.rest("POST", f"/projects/{project}/tasks", {"title": f"Task {number}"})["task_id"]
        for number in range(events.NEWEST + 1)
    )
    found = server.json("events", "--task", first)
    assert [each["kind"] for each in found["events"]] == ["task.created"]
    assert found["last"] >= found["events"][-1]["sequence"] + events.NEWEST


def test_nobody_is_signed_in_and_that_is_said(server: Toryo) -> None:
    assert server.json("sessions")["sessions"] == []
    assert "No sessions" in server("sessions").err


def test_a_session_that_is_not_there_cannot_be_ended(server: Toryo) -> None:
    ended = server("sessions", "--end", "ses_missing", "--json")
    assert (ended.code, ended.json["error"]) == (4, "sessionNotFound")


def test_logs_of_an_agent_that_was_never_started_say_where_to_look(server: Toryo, agent: str) -> None:
    ended = server("logs", agent)
    assert ended.code == 1
    assert f"toryo why {agent}" in ended.err


def test_doctor_finds_the_server_and_what_is_missing(fresh_server: Toryo, nowhere: Toryo) -> None:
    well = fresh_server.json("doctor")
    assert {finding["name"] for finding in well["findings"] if finding["ok"]} >= {"python", "data directory", "server"}
    ill = nowhere("doctor")
    assert ill.code == 1
    assert "missing" in ill.out


@pytest.mark.parametrize("words", [("project", "list"), ("agent", "list"), ("task", "list", "--project", "{project}")])
def test_lists_are_whole_lines_where_nobody_looks(
    server: Toryo, project: str, agent: str, words: tuple[str, ...]
) -> None:
    """What is piped is neither folded nor cut."""
    server.json("task", "add", "A title that is a good deal longer than eighty characters " * 2, "--project", project)
    listed = server(*[word.format(project=project) for word in words])
    assert listed.code == 0
    assert "…" not in listed.out


def test_a_task_that_nobody_has_is_answered_with_who_can_take_it_and_how(server: Toryo, project: str) -> None:
    filed = server("task", "add", "Sweep", "--project", project)
    assert f"no agent belongs to {project} yet" in filed.err
    server.json("agent", "add", f"{project}.ann", "--role", "worker", "--project", project)
    filed = server("task", "add", "Sweep", "--project", project)
    task = filed.out.split()[1]
    lines = [each.strip() for each in filed.err.splitlines()]
    assert lines[0] == f"It has no assignee. You can assign it to {project}.ann:"
    for line in lines[1:]:
        assert server(*line.split()[1:]).code == 0, line
    assert server.json("task", "show", task)["task"]["status"] == "in_progress"
    assert server("task", "add", "Dust", "--project", project, "--assignee", f"{project}.ann").err == ""


def test_who_watches_what_is_over_already_sees_the_whole_end_after_its_parts(server: Toryo, project: str) -> None:
    house = server.json("task", "add", "House", "--project", project)["task_id"]
    server.json("task", "add", "Roof", "--project", project, "--parent", house)
    server("task", "cancel", house, "--reason", "enough")
    watched = server("task", "watch", house)
    assert [line.split()[2] for line in watched.out.splitlines()] == ["Roof", "House"]


def test_where_no_coordinator_runs_who_watches_is_told_what_starts_agents(fresh_server: Toryo) -> None:
    toryo, here = fresh_server, ("--project", "yard")
    toryo.json("project", "add", "Yard", "--id", "yard", "--dir", str(toryo.home))
    toryo.json("agent", "add", "hand", "--role", "worker", "--provider", "command", *here)
    task = toryo.json("task", "add", "Sweep", *here, "--assignee", "hand", "--status", "in_progress")["task_id"]
    watch = Process("task", "watch", task, environment=toryo.environment, cwd=toryo.home)
    try:
        watch.until("Start one: `toryo up`")
    finally:
        watch.end()


def test_a_provider_that_nobody_has_is_warned_of_with_its_line_in_the_file(fresh_server: Toryo) -> None:
    file = fresh_server.home / "toryo.yaml"
    file.write_text("agents:\n  - {id: reader, role: worker, provider: cluade}\n")
    warned = fresh_server("apply", "--yes")
    assert f"toryo: warning: {file.name}:2: No Coordinator has the provider cluade" in warned.err


def test_a_person_is_told_how_to_sign_in_and_gets_no_passkey(server: Toryo, project: str) -> None:
    ended = server("agent", "add", f"{project}.lena", "--kind", "human", "--role", "owner", "--yes")
    assert ended.code == 0
    assert "passkey" not in ended.out
    assert f"toryo open --person {project}.lena" in ended.err
    assert "may do everything" in ended.err
    server("agent", "edit", f"{project}.lena", "--project", project)
    assert "This is a person. Toryo does not start people." in server("why", f"{project}.lena").out


def test_logs_of_a_task_for_which_nobody_was_started_say_where_to_look(server: Toryo, project: str) -> None:
    task = server.json("task", "add", f"Sweep {project}", "--project", project)["task_id"]
    ended = server("logs", f"Sweep {project}")
    assert (ended.code, ended.out) == (1, "")
    assert f"toryo task watch {task}" in ended.err
    assert server("logs", "tsk_missing").code == 4


def test_logs_of_a_task_that_nobody_will_be_started_for_say_so_and_lead_to_what_shows_something(
    server: Toryo, project: str
) -> None:
    queued = server.json("task", "add", "Plan", "--project", project, "--agent-type", "planner")["task_id"]
    whole = server.json("task", "add", "House", "--project", project)["task_id"]
    part = server.json("task", "add", "Roof", "--project", project, "--parent", whole)["task_id"]
    assert "of the queue planner" in server("logs", queued).err
    assert f"toryo logs {whole}" in server("logs", part).err
    server.json("task", "cancel", whole, "--reason", "enough")
    ended = server("logs", whole)
    assert f"No agent was started for {whole}, and it is cancelled." in ended.err
    for task in (queued, whole, part):
        (_, _, command) = server("logs", task).err.strip().rpartition(": toryo ")
        assert server(*command.split()).code == 0


def test_logs_of_nobody_name_whom_one_may_have_meant(server: Toryo, project: str) -> None:
    server.json("agent", "add", f"{project}-runner", "--role", "worker", "--project", project)
    ended = server("logs", f"{project}-runnr")
    assert ended.code == 4
    assert f"There is no agent {project}-runnr. Did you mean {project}-runner?" in ended.err
    assert "has not been started yet" in server("logs", f"{project}-runner").err
    assert "Did you mean" in server("task", "list", "--assignee", f"{project}-runnr").err


def test_a_move_without_a_status_is_answered_with_the_moves_there_are(server: Toryo, project: str) -> None:
    task = server.json("task", "add", "Paint", "--project", project)["task_id"]
    ended = server("task", "move", task)
    assert ended.code == 2
    assert f"{task} is todo and can go to backlog, in_progress, blocked, cancelled." in ended.err
    assert len(ended.err.splitlines()) == 1
    server.json("task", "cancel", task, "--reason", "no")
    assert "is cancelled, which is final. Create a new task" in server("task", "move", task).err
    assert len(server("agent", "add", "x").err.splitlines()) == 1


def test_people_are_told_the_command_that_helps(server: Toryo, project: str, agent: str) -> None:
    first = server.json("task", "add", "First", "--project", project)["task_id"]
    second = server.json("task", "add", "Second", "--project", project, "--depends-on", first)["task_id"]
    assert f"toryo task edit {first} --assignee AGENT" in server("task", "move", first, "in_progress").err
    ended = server("task", "move", second, "in_progress")
    assert ended.code == 4
    assert f"toryo task edit {second} --no-longer-on {first}" in ended.err
    server.json("task", "cancel", first, "--reason", "no")
    assert f"toryo task edit {second} --no-longer-on {first}" in server("task", "move", second, "in_progress").err
    assert f"cancelled (toryo task cancel {second})" in server("task", "move", second, "completed").err
    server.json("project", "pause", project)
    assert f"toryo project resume {project}" in server("task", "move", second, "in_progress").err
