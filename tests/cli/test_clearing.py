"""`--clear NAME`: every value that can be removed is removed by the one option, for all that the server declares."""

from __future__ import annotations

import os
from itertools import count
from typing import Any

import pytest
import typer

from tests.cli.conftest import Toryo
from toryo.cli import clearing, command_line
from toryo.cli.exit_codes import Misuse
from toryo.client import Client
from toryo.domain import clearable_fields
from toryo.operations.calls.catalogue import Operation, catalogue

SETTINGS: dict[str, Any] = {
    "budget_per_day": 5,
    "tokens_per_day": 5,
    "required_checks": [{"command": "make"}],
    "worktree_setup": ["make setup"],
    "worktree_copy": [".env.test"],
    "network_hosts": ["example.org"],
    "setup_network": ["example.org"],
    "ports": [3000],
}
SET: dict[str, dict[str, Any]] = {
    "agent": {
        "model": "a-model",
        "provider": "command",
        "reports_to": "owner",
        "agent_type": "a-queue",
        "system_prompt": "Be brief.",
        "capabilities": ["writing"],
    },
    "project": {"description": "A project.", "settings": SETTINGS},
    "task": {
        "assignee_id": "owner",
        "description": "In full.",
        "context": {"command": "true"},
        "acceptance": [{"file": "report.md"}],
        "touches": ["src/"],
        "start": "manual",
        "not_before": "2099-01-31T09:30:00Z",
        "budget_usd": 1.5,
        "budget_tokens": 90,
    },
    "schedule": {
        "assignee_id": "owner",
        "agent_type": "mill",
        "description": "In full.",
        "context": {"command": "true"},
        "acceptance": [{"file": "report.md"}],
    },
    "webhook": {
        "events": ["issues"],
        "assignee_id": "owner",
        "agent_type": "mill",
        "description": "In full.",
        "context": {"command": "true"},
        "acceptance": [{"file": "report.md"}],
    },
    "person": {"email": "ann@example.org"},
    "quota": {"limit_5h": 1_000, "limit_day": 2_000, "limit_week": 3_000},
}
"""What each field is before it is cleared."""
ASKS = ("agent", "project", "person")
"""What an edit of these gives more rights is confirmed."""
BEGINS = ("schedule", "webhook")
"""What describes the tasks that it creates."""
EVERY = [(kind, name) for kind in clearing.OPERATIONS for name in clearing.fields(kind)]
_numbers = count(1)


def _edits() -> dict[str, Operation]:
    return {name: each for name, each in catalogue().items() if each.route is not None and each.route.method == "PATCH"}


def _commands() -> dict[str, Any]:
    """Each command that edits, by its group."""
    groups: Any = typer.main.get_command(command_line.whole())
    below = {name: getattr(group, "commands", {}).get("edit") for name, group in groups.commands.items()}
    return {name: edit for name, edit in below.items() if edit is not None}


def test_everything_that_can_be_edited_says_what_can_be_cleared() -> None:
    assert set(clearable_fields.CLEARED) == _edits().keys()
    assert sorted(clearing.OPERATIONS) == sorted(_commands())
    for operation in _edits().values():
        fields = operation.parameters.model_fields
        cleared = clearable_fields.CLEARED[operation.name]
        assert cleared.keys() <= fields.keys()
        said = {name for name, each in fields.items() if "; null: " in (each.description or "")}
        assert clearable_fields.nullable(operation.name) == said, "the description says what null does"


def test_what_can_be_cleared_has_the_name_of_the_option_that_sets_it() -> None:
    for kind, command in _commands().items():
        options = {option for each in command.params for option in each.opts}
        settings = clearable_fields.CLEARED[clearing.OPERATIONS[kind]].get("settings", {})
        assert {f"--{name}" for name in clearing.fields(kind) if name not in settings} <= options
        assert "--clear" in options
        clear = next(each for each in command.params if "--clear" in each.opts)
        assert all(name in clear.help for name in clearing.fields(kind))


@pytest.fixture
def made(owner: Client, project: str) -> dict[str, tuple[str, str]]:
    """One of each kind: its id, and its address."""
    ids = {kind: f"{kind}-to-clear-{os.getpid()}-{next(_numbers)}" for kind in ("agent", "person")}
    program = {"provider": "claude", "provider_options": {"account": ids["agent"]}}
    owner.rest("POST", "/agents", {"id": ids["agent"], "role": "worker", "projects": [project], **program})
    owner.rest("POST", "/people", {"person_id": ids["person"], "login": "member"})
    owner.rest("POST", f"/projects/{project}/members/owner")
    task = owner.rest("POST", f"/projects/{project}/tasks", {"title": "A task"})["task_id"]
    asked = {"name": "Nightly", "title": "Look", "cron": "@daily"}
    schedule = owner.rest("POST", f"/projects/{project}/schedules", asked)["schedule"]["schedule_id"]
    asked = {"name": "Issues", "title": "Look"}
    webhook = owner.rest("POST", f"/projects/{project}/webhooks", asked)["webhook"]["webhook_id"]
    return {
        "agent": (ids["agent"], f"/agents/{ids['agent']}"),
        "person": (ids["person"], "/people"),
        "project": (project, f"/projects/{project}"),
        "task": (task, f"/tasks/{task}"),
        "schedule": (schedule, f"/schedules/{schedule}"),
        "webhook": (webhook, f"/webhooks/{webhook}"),
        "quota": (ids["agent"], f"/quotas/{ids['agent']}"),
    }


def _is(owner: Client, kind: str, named: tuple[str, str]) -> dict[str, Any]:
    answer = owner.rest("GET", named[1])
    if kind == "person":
        return next(each for each in answer["people"] if each["person_id"] == named[0])
    found: dict[str, Any] = answer[kind]
    return {**found, **found["task"]} if kind in BEGINS else found


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_value_is_cleared_by_its_name_and_the_others_stay(
    server: Toryo, owner: Client, made: dict[str, tuple[str, str]], kind: str, name: str
) -> None:
    assert SET[kind].keys() == clearable_fields.CLEARED[clearing.OPERATIONS[kind]].keys()
    [cleared] = clearing.fields(kind)[name]
    other = "assignee_id" if cleared == "agent_type" else "agent_type"  # these have only one of them
    values = {field: each for field, each in SET[kind].items() if kind not in BEGINS or field != other}
    path = f"/people/{made[kind][0]}" if kind == "person" else made[kind][1]
    owner.rest("PATCH", path, values)
    before = _is(owner, kind, made[kind])
    ended = server(kind, "edit", made[kind][0], "--clear", name, *(("--yes",) if kind in ASKS else ()))
    assert ended.code == 0, ended.err
    after = _is(owner, kind, made[kind])
    (field,) = clearing.fields(kind)[name]
    for each in values:
        if each != field:
            assert after[each] == before[each], each
    if field == "settings":
        assert before[field][name] == SETTINGS[name]
        assert after[field] == {**before[field], name: clearing.fields(kind)[name][field][name]}
    else:
        assert before[field], "it was set"
        assert not after.get(field)


def test_several_are_cleared_at_once_beside_what_is_set(server: Toryo, owner: Client, agent: str) -> None:
    owner.rest("PATCH", f"/agents/{agent}", {"model": "m", "agent_type": "q"})
    server.json("agent", "edit", agent, "--clear", "model", "--clear", "agent-type", "--capability", "writing")
    shown = server.json("agent", "show", agent)["agent"]
    assert (shown["model"], shown["agent_type"], shown["capabilities"]) == (None, None, ["writing"])


@pytest.mark.parametrize("kind", sorted(clearing.OPERATIONS))
def test_what_cannot_be_cleared_is_answered_with_what_can(nowhere: Toryo, kind: str) -> None:
    with pytest.raises(Misuse, match="cannot be cleared") as refused:
        clearing.cleared(kind, ["nonsense"], {})
    assert refused.value.instruction == f"Use one of: {', '.join(clearing.fields(kind))}."
    if kind != "task":  # a task is looked for on the server first
        ended = nowhere(kind, "edit", "x", "--clear", "nonsense")
        assert (ended.code, ended.out) == (2, "")
        assert "'nonsense' cannot be cleared. Use one of: " in ended.err


def test_what_is_set_and_cleared_at_once_is_refused(nowhere: Toryo) -> None:
    ended = nowhere("agent", "edit", "x", "--model", "m", "--clear", "model")
    assert ended.code == 2
    assert ended.err == "toryo: --clear model contradicts the value given for it. Give only one of the two.\n"
    assert "Did you mean model?" in nowhere("agent", "edit", "x", "--clear", "modl").err


def test_an_empty_value_is_answered_with_how_to_clear(nowhere: Toryo) -> None:
    told = "is empty. Enter a value, omit it, or clear the value with --clear"
    assert f"--model {told} model." in nowhere("agent", "edit", "x", "--model", "").err
    assert f"--email {told} email." in nowhere("person", "edit", "x", "--email", "").err
    assert "--clear" not in nowhere("agent", "add", "x", "--role", "worker", "--model", "").err
    assert "--clear" not in nowhere("agent", "edit", "x", "--option", "").err
