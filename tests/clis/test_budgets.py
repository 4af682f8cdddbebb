"""A budget stops real programs while they run: those that tell what they use in the file of their session, in a sandbox
and without one. Their model is scripted, and does not answer any more once the budget is used up.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clis.crews import TIME_TO_TELL, Books, ModelSite
from tests.clis.policies import Crew, ObedientModel, writes
from tests.clis.turns import Answer, CallTool, Reply, Slow, Turn, Usage
from tests.sandboxes import sandboxed

__all__ = ["sandboxed"]

pytestmark = [pytest.mark.deep, pytest.mark.clis, pytest.mark.timeout(600, method="signal")]

MODELS: Mapping[str, Any] = {"codex": "scripted-1", "gemini": "gemini-2.5-pro"}
DEAR = Usage(50_000, 1_000)


class Spender:
    """Once it has its task, it gives one dear answer; what it is asked next has to wait for `raised`, and is answered
    as Toryo says."""

    def __init__(self, mind: ObedientModel) -> None:
        self._mind, self._spent, self.raised = mind, False, threading.Event()

    def __call__(self, turn: Turn) -> Answer:
        answer = self._mind(turn)
        if self._spent and not self.raised.is_set():
            return Slow(self.raised, answer)
        if isinstance(answer, CallTool) and answer.name == "get_my_task" and not self._spent:
            self._spent = True
            return Reply([answer], DEAR)
        return answer


@pytest.mark.parametrize("sandbox", ["bwrap", "none"])
def test_codex_and_gemini_are_stopped_by_the_budget_of_their_task_and_go_on_when_it_is_raised(
    tmp_path: Path, sandbox: str, sandboxed: None
) -> None:
    home = tmp_path / "projects" / "house"
    minds = {name: Spender(ObedientModel(writes(home / f"{name}.txt", "done\n"))) for name in MODELS}
    books = Books(Crew(dict(minds)))
    with ModelSite(tmp_path, books, tuple(MODELS), sandbox=sandbox, **TIME_TO_TELL) as house:
        house.project("house", decomposition="optional")
        for name, model in MODELS.items():
            house.hire(name, "house", provider=name, model=model)
        budget = {"status": "in_progress", "budget_tokens": 20_000}
        tasks = {name: house.file("house", "Write it", assignee_id=name, **budget) for name in MODELS}
        house.coordinator()
        house.until("both are stopped", lambda: len(house.history.of("launch.process_ended")) == len(MODELS), 250)
        for launch in house.launches():
            used = house.used(launch["launch_id"])
            assert DEAR.input <= used["input_tokens"] < DEAR.input + 5_000, "one answer beyond the budget, and no more"
            assert used["lower_bounds"] == 1
            assert house.why(launch["agent_id"])["reason"] == "task_budget_exhausted"
        needs = house.people.rest("GET", "/needs-you")["items"]
        assert {each["task_id"] for each in needs if each["kind"] == "budget_used_up"} == set(tasks.values())

        for name, task_id in tasks.items():
            minds[name].raised.set()
            house.toryo("task", "edit", task_id, "--budget-tokens", "1000000")
        for task_id in tasks.values():
            house.until_status(task_id, "completed", within=250)
        house.until_idle()
        assert {path.name for path in home.iterdir()} == {f"{name}.txt" for name in MODELS}
        for launch in house.launches():
            used = house.used(launch["launch_id"])
            assert used["lower_bounds"] == (0 if used["input_tokens"] < DEAR.input else 1)
