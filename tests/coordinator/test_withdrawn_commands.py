"""A command whose task is taken out of its hands ends at once, for real: it calls nobody who could tell it to leave."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tests.coordinator.teams import Team, coordinating, running
from toryo.server import app
from toryo.settings import GuardSettings, Settings


@pytest.mark.deep
@pytest.mark.parametrize("to", ["cancelled", "blocked", "todo"])
def test_a_command_ends_at_once_however_long_others_may_take_to_leave(tmp_path: Path, to: str) -> None:
    settings = Settings(port=0, data_dir=tmp_path / "data", guards=GuardSettings(stop_grace=3600))
    with app.run_in_thread(settings), coordinating(tmp_path / "data"):
        team = Team(tmp_path / "data", "house", tmp_path / "project")
        sleeping = f"sleep 3000.{secrets.randbelow(10**9)}"  # by its words: in a sandbox it has another number
        task = team.file("Sleep", team.hire("hand", "command"), context={"command": f"exec {sleeping}"})
        team.until(lambda: sleeping in running(), bool)
        team.client.rest("POST", f"/tasks/{task}/move", {"status": to, "reason": "not now"})
        team.until(lambda: sleeping in running(), lambda there: not there)
        assert team.task(task)["status"] == to
