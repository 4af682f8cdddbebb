"""`toryo answer` understands options, their numbers and words; `toryo needs` and `toryo answers` show what is asked."""

from __future__ import annotations

from typing import Any

import pytest
import typer.main

from toryo.cli import command_line, needs
from toryo.cli.exit_codes import Misuse
from toryo.client import Client

QUESTION = {
    "question_id": "qst_1",
    "review": False,
    "review_task_id": None,
    "project_id": "shop",
    "task_id": "tsk_1",
    "agent_id": "painter",
    "question": "Which color?\x1b[2J\nFor the door.",
    "options": ["Blue", "Red", "7"],
    "multiple": True,
    "free_text": True,
    "default": "Blue",
    "deadline": None,
    "overdue": False,
    "to": None,
    "state": "open",
    "asked_at": "2026-01-01T00:00:00Z",
    "choices": [],
    "text": None,
    "ended_by": None,
    "ended_at": None,
    "reason": None,
}
Sent = list[tuple[str, Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    found: Sent = []

    def rest(_client: Client, method: str, path: str, json: Any = None, params: Any = None) -> dict[str, Any]:
        found.append((f"{method} {path}", json))
        answered = {"state": "answered", "ended_by": "hana", **(json or {})} if method == "POST" else {}
        asked = {**QUESTION, **{name: value for name, value in answered.items() if name in QUESTION}}
        return {"success": True, "question": asked, "questions": [asked], "projects": []}

    monkeypatch.setattr(Client, "rest", rest)
    return found


def toryo(*words: str) -> None:
    typer.main.get_command(command_line.whole())(
        args=["--server", "http://127.0.0.1:9", "--token", "x", *words], standalone_mode=False
    )


@pytest.mark.parametrize(
    ("words", "choices", "text"),
    [
        (["red"], ["Red"], None),
        (["2"], ["Red"], None),
        (["7"], ["7"], None),  # the option itself, before a number
        (["Blue", "2"], ["Blue", "Red"], None),
        (["9"], [], "9"),
        (["as", "you", "like"], [], "as you like"),
        (["Blue", "--text", "a dark one"], ["Blue"], "a dark one"),
        (["--text", "2"], [], "2"),
    ],
)
def test_what_was_typed_is_an_option_its_number_or_words(
    sent: Sent, words: list[str], choices: list[str], text: str | None
) -> None:
    toryo("answer", "qst_1", *words)
    body = {"choices": choices, **({"text": text} if text is not None else {})}
    assert sent[-1] == ("POST /questions/qst_1/answer", body)


def test_without_an_answer_it_shows_the_question_and_sends_nothing(
    sent: Sent, capsys: pytest.CaptureFixture[str]
) -> None:
    toryo("answer", "qst_1")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "  2 Red" in shown and "toryo answer qst_1 NUMBER" in shown
    assert [name for name, _ in sent] == ["GET /questions/qst_1"]


def test_it_is_withdrawn_with_a_reason(sent: Sent) -> None:
    toryo("answer", "qst_1", "--withdraw", "--reason", "No matter")
    assert sent == [("POST /questions/qst_1/withdraw", {"reason": "No matter"})]


@pytest.mark.parametrize("words", [["Red", "--withdraw"], ["Red", "--reason", "x"]])
def test_an_answer_and_a_withdrawal_exclude_each_other(sent: Sent, words: list[str]) -> None:
    with pytest.raises(Misuse):
        toryo("answer", "qst_1", *words)
    assert sent == []


def test_what_needs_a_person_shows_every_question_of_a_form() -> None:
    item = {"since": QUESTION["asked_at"], "title": "painter asks", "questions": [QUESTION, QUESTION], "actions": []}
    assert sum("qst_1 (painter, tsk_1):" in line for line in needs.need_lines(item)) == 2


def test_a_question_whose_deadline_is_over_says_so_among_what_needs_a_person() -> None:
    asked = {**QUESTION, "deadline": "2026-01-01T00:05:00Z", "overdue": True}
    item = {"since": QUESTION["asked_at"], "title": "painter asks", "questions": [asked], "actions": []}
    assert needs.need_lines(item)[-1].endswith(", overdue)")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("task_cancelled", "withdrawn by hana: the work is cancelled"),
        ("project_archived", "withdrawn by hana: the project was archived"),
        ("No matter", "withdrawn by hana: No matter"),
        (None, "withdrawn by hana"),
    ],
)
def test_why_a_question_was_withdrawn_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reason: str | None, told: str
) -> None:
    asked = {**QUESTION, "state": "withdrawn", "ended_by": "hana", "reason": reason}
    monkeypatch.setattr(Client, "rest", lambda *_, **__: {"success": True, "questions": [asked], "projects": []})
    toryo("answers", "--project", "shop")
    assert told in capsys.readouterr().out.splitlines()[1]


def test_answers_lists_what_was_asked(sent: Sent, capsys: pytest.CaptureFixture[str]) -> None:
    toryo("answers", "--project", "shop", "--open")
    shown = capsys.readouterr().out
    assert "painter asks: Which color?" in shown and "toryo answer qst_1" in shown
