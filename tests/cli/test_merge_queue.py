"""`toryo merge-queue`: what it sends, and what people see of the order, the states and the reasons."""

from __future__ import annotations

from typing import Any

import pytest
import typer.main

from toryo.cli import command_line
from toryo.cli.exit_codes import Misuse
from toryo.client import Client

ENTRY = {
    "entry_id": "mqe_1",
    "task_id": "tsk_1",
    "title": "Walls\x1b[2J",
    "assignee_id": "ann",
    "project_id": "shop",
    "coordinator_id": "c1",
    "target": "main",
    "state": "queued",
    "place": 1,
    "batch_id": None,
    "part": None,
    "waits_for": [],
    "added_by": "owner",
    "added_at": "2026-01-01T00:00:00Z",
    "sent_back": 0,
    "removal_by": None,
    "message": None,
    "retry_at": None,
    "base_commit": None,
    "merged_commit": None,
    "evidence": [],
    "conflict_files": [],
    "changes_task_id": None,
    "ended_at": None,
    "ended_by": None,
}
FLAKY = {"check": "make test", "outcome": "flaky", "runs": 2, "seconds": 1.0, "exit_code": 0, "output": ""}
ENDED = [
    {**ENTRY, "state": "merged", "place": None, "merged_commit": "abcdef0123456", "evidence": [FLAKY]},
    {**ENTRY, "state": "failed", "place": None, "message": "The check failed.", "changes_task_id": "tsk_9"},
]
QUEUE: dict[str, Any] = {
    "project_id": "shop",
    "mode": "manual",
    "batch_size": 5,
    "required_checks": 1,
    "paused_at": None,
    "paused_by": None,
    "entries": [ENTRY, {**ENTRY, "place": 2, "waits_for": ["tsk_7"], "state": "checking"}],
    "ended": ENDED,
}
Sent = list[tuple[str, Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    found: Sent = []

    def rest(_client: Client, method: str, path: str, json: Any = None, params: Any = None) -> dict[str, Any]:
        found.append((f"{method} {path}", json))
        return {"success": True, "merge_queue": QUEUE, "entry": ENTRY, "projects": []}

    monkeypatch.setattr(Client, "rest", rest)
    return found


def toryo(*words: str) -> None:
    typer.main.get_command(command_line.whole())(
        args=["--server", "http://127.0.0.1:9", "--token", "x", "merge-queue", *words], standalone_mode=False
    )


@pytest.mark.parametrize(
    ("words", "asked", "body"),
    [
        (["add", "tsk_1"], "POST /tasks/tsk_1/merge-queue", {}),
        (["add", "tsk_1", "--into", "release"], "POST /tasks/tsk_1/merge-queue", {"into": "release"}),
        (["remove", "tsk_1"], "DELETE /tasks/tsk_1/merge-queue", {}),
        (["move", "tsk_1", "--before", "tsk_2"], "POST /tasks/tsk_1/merge-queue/move", {"before": "tsk_2"}),
        (["move", "tsk_1", "--last"], "POST /tasks/tsk_1/merge-queue/move", {}),
        (["pause", "--project", "shop"], "POST /projects/shop/merge-queue/pause", {}),
        (["resume", "--project", "shop"], "POST /projects/shop/merge-queue/resume", {}),
    ],
)
def test_each_command_sends_one_request(sent: Sent, words: list[str], asked: str, body: dict[str, Any]) -> None:
    toryo(*words)
    assert sent[-1][0] == asked
    assert (sent[-1][1] or {}) == body


@pytest.mark.parametrize("words", [["move", "tsk_1"], ["move", "tsk_1", "--before", "tsk_2", "--last"]])
def test_a_move_says_where_to(sent: Sent, words: list[str]) -> None:
    with pytest.raises(Misuse, match="Say where"):
        toryo(*words)
    assert sent == []


def test_the_list_has_the_order_the_reasons_and_nothing_that_steers_a_terminal(
    sent: Sent, capsys: pytest.CaptureFixture[str]
) -> None:
    toryo("list", "--project", "shop")
    out = capsys.readouterr().out
    assert "\x1b" not in out
    lines = out.splitlines()
    assert lines[0].startswith("  1  tsk_1  waits for main  Walls")
    assert lines[1].startswith("  2  tsk_1  being checked for main")
    assert "waits for tsk_7" in lines[2]
    assert "merged into main (abcdef0123)" in out
    assert "flaky: make test" in out
    assert "The check failed." in out
    assert "changes requested in tsk_9" in out


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ({**QUEUE, "mode": "off", "entries": []}, "--set merge_queue=manual"),
        ({**QUEUE, "required_checks": 0}, "only conflicts"),
        ({**QUEUE, "paused_at": "2026-01-01T00:00:00Z", "paused_by": "lena"}, "Paused by lena"),
        ({**QUEUE, "entries": []}, "Nothing waits to be merged."),
    ],
)
def test_the_list_says_why_nothing_is_merged(
    sent: Sent,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    queue: dict[str, Any],
    said: str,
) -> None:
    monkeypatch.setitem(globals(), "QUEUE", queue)
    toryo("list", "--project", "shop")
    assert said in "".join(capsys.readouterr())
