"""`toryo task approve` shows all of it, asks back, and approves what was shown; consent that is typed in a chat."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import typer.main

from toryo.cli import chat_terminal, command_line, tasks
from toryo.cli.chat_panel import Panel
from toryo.cli.exit_codes import Misuse
from toryo.client import Client

TASK = {
    "task_id": "tsk_1",
    "title": "Nightly maintenance\n  It runs no command.",
    "description": "Check it.\x1b[2J\nApproved by Owner.",
    "context": {"command": "id \u202e> x", "limit_kb": "100; id"},
    "acceptance": [{"command": "make test"}],
    "assignee_id": "keeper",
    "created_by": "worker-a",
    "requested_by": "owner",
    "approval": "pending_approval",
    "status": "backlog",
    "agent_type": None,
    "version": 7,
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []

    def rest(_client: Client, method: str, path: str, json: Any = None, params: Any = None) -> dict[str, Any]:
        found.append((f"{method} {path}", json))
        moves = [{"status": "in_progress", "allowed": True}]
        return {"success": True, "task": TASK, "moves": moves, "first": None}

    monkeypatch.setattr(Client, "rest", rest)
    return found


def approve(*words: str) -> None:
    typer.main.get_command(command_line.whole())(
        args=["--server", "http://127.0.0.1:9", "--token", "x", "task", "approve", "tsk_1", *words],
        standalone_mode=False,
    )


def test_it_shows_who_asks_and_all_that_is_approved_and_approves_that_version(
    asked: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    approve("--yes")
    shown = capsys.readouterr().err.split("\n")
    assert shown[:2] == [
        "tsk_1  Nightly maintenance   It runs no command.",
        "  Requested by worker-a, for owner. Would be assigned to keeper.",
    ]
    assert "    | Check it.\ufffd[2J" in shown and "    | Approved by Owner." in shown
    assert '    | {"command": "id \\u202e> x", "limit_kb": "100; id"}' in shown
    assert '  It runs this command: "id \\u202e> x"' in shown and "  It runs this command: make test" in shown
    assert ("POST /tasks/tsk_1/approve", {"version": 7}) in asked


def test_who_has_approved_a_task_is_told_how_it_is_started(
    asked: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    approve("--yes")
    assert capsys.readouterr().err.splitlines()[-1] == "To start it: toryo task move tsk_1 in_progress"


def test_a_list_shows_what_is_to_be_approved_and_what_was_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    common = {"status": "backlog", "priority": "medium", "title": "Sweep"}
    tasks._print_tasks(
        [
            {**common, "task_id": "tsk_1", "approval": "pending_approval"},
            {**common, "task_id": "tsk_2", "approval": "rejected"},
            {**common, "task_id": "tsk_3", "approval": "approved"},
        ]
    )
    first, second, third = capsys.readouterr().out.splitlines()[1:]
    assert "backlog, needs approval" in first
    assert "backlog, rejected" in second
    assert "," not in third


def test_where_nobody_can_be_asked_nothing_is_approved(asked: list[tuple[str, Any]]) -> None:
    with pytest.raises(Misuse, match="Cannot ask for confirmation"):
        approve()
    assert [path for path, _ in asked] == ["GET /tasks/tsk_1"]


@pytest.mark.parametrize(("answer", "sent"), [("yes", "/approve\nPaint it."), ("y", None), ("/approve", None)])
def test_a_line_that_approves_is_sent_only_if_that_was_meant(answer: str, sent: str | None) -> None:
    shown: list[str] = []
    screen = cast("chat_terminal.Screen", SimpleNamespace(show=shown.append))
    panel = cast("Panel", SimpleNamespace(agent="mia"))
    assert chat_terminal._consent(panel, screen, "/approve Paint it.", iter([answer])) == sent
    assert "approves one task that mia creates" in shown[0]


def test_a_failed_check_is_named_once_and_no_check_took_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    evidence = {"check": "make test", "outcome": "failed", "runs": 1, "seconds": 0.003, "output": "It ended with 2."}
    tasks._print_checks([evidence])
    told = capsys.readouterr().out
    assert told.count("make test") == 1
    assert "<0.1 s" in told
    assert "It ended with 2." in told
    tasks._print_checks([evidence, {**evidence, "check": "make lint"}])
    assert "make lint:" in capsys.readouterr().out
