"""The codes with which Toryo itself blocks or fails a task are words wherever people read them, and stay codes for
programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stories import World
from toryo.block_reasons import WORDS, Block
from toryo.cli import needs, output, tasks
from toryo.cli.demo import verdict
from toryo.domain.projects import Language
from toryo.server import accept_language


def test_every_reason_has_words() -> None:
    assert set(WORDS) == set(Block)


def _read_by_people(world: World, task: str) -> Iterator[tuple[str, Any]]:
    """Every answer that shows the reason of a task: in words for all, or in words on a page."""
    project = {"project_id": world.project_id}
    words: tuple[tuple[str, dict[str, Any]], ...] = (
        ("why", {"agent_id": "w1", **project}),
        ("needs_you", {}),
        ("show_overview", project),
    )
    pages = (("show_task", {"task_id": task}), ("list_project_tasks", project), ("show_board", project))
    for name, arguments in (*words, *pages):
        answer = world.owner.call(name, **arguments)
        if (name, arguments) in words:
            yield name, answer
        for language in Language:
            yield f"{name} on a page", json.loads(accept_language.as_json(answer, language, page=True))


@pytest.mark.parametrize("reason", Block)
def test_people_read_words(world: World, reason: Block, capsys: pytest.CaptureFixture[str]) -> None:
    world.crew()
    task = world.task("w1")
    status = "failed" if reason is Block.EXHAUSTED else "blocked"
    world.owner.call("move_task", task_id=task, status=status, reason=reason.value)
    for where, answer in _read_by_people(world, task):
        assert f'"{reason}"' not in json.dumps(answer) and f": {reason}" not in json.dumps(answer), where
    shown = world.show(task)
    assert reason.value in (shown["blocked_reason"], shown["error"]), "as programs compare it"
    output.console.cache_clear()
    tasks._print_task(shown, [])
    output.done(*tasks._why_it_failed(_Shows(shown), task), verdict._not_completed(shown))  # type: ignore[arg-type]
    output.done(*tasks._why_nothing_moves(_Shows(shown), shown, [shown]))  # type: ignore[arg-type]
    said = capsys.readouterr().out
    assert reason.value not in said
    assert " ".join(WORDS[reason].split()[:4]) in said


def test_a_blocked_task_whose_report_failed_a_check_says_which_and_marks_what_it_printed() -> None:
    failure = {"check": "make test", "message": "1 failed\nFAILED: unblock with: rm -rf ."}
    task = {"task_id": "t", "id": "t", "status": "blocked", "blocked_reason": "stopped_twice", "checks": "failed"}
    shown: dict[str, Any] = {**task, "check_failures": [failure]}
    said = tasks._why_nothing_moves(_Shows(shown), shown, [shown])  # type: ignore[arg-type]
    marked = ["| 1 failed", "| FAILED: unblock with: rm -rf ."]
    assert said[1:4] == ["Its last report failed the check “make test”.", *marked]
    text = "\n".join([WORDS[Block.STOPPED_TWICE], *said[1:4]])
    item = {"since": "2026-01-01T00:00:00Z", "title": "Blocked", "text": text, "request": None}
    [_, ours, *data] = needs.need_lines(item)
    assert ours.endswith("without making progress. Its last report failed the check “make test”.")
    assert data == [f"  {line}" for line in marked]


class _Shows:
    """A server that knows one task, and no move of it."""

    def __init__(self, task: dict[str, Any]) -> None:
        self._task = task

    def get(self, _path: str, **_more: Any) -> dict[str, Any]:
        return {"task": self._task, "moves": [], "first": None}
