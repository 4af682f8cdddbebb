"""A command whose task is taken out of its hands ends at once, for real: it calls nobody who could tell it to leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.coordinator.teams import Team, coordinating
from toryo.server import app
from toryo.settings import GuardSettings, Settings


@pytest.mark.deep
@pytest.mark.parametrize("to", ["cancelled", "blocked", "todo"])
def test_a_command_ends_at_once_however_long_others_may_take_to_leave(tmp_path: Path, to: str) -> None:
    settings = Settings(port=0, data_dir=tmp_path / "data", guards=GuardSettings(stop_grace=3600))
    with app.run_in_thread(settings), coordinating(tmp_path / "data"):
        team = Team(tmp_path / "data", "house", tmp_path / "project")
        task = team.file("Sleep", team.hire("hand", "command"), context={"command": "echo $$ > pid; exec sleep 3000"})
        pid = team.directory / "pid"
        team.until(lambda: pid.exists() and pid.read_text().strip(), bool)
        process = Path("/proc", pid.read_text().strip())
        team.client.rest("POST", f"/tasks/{task}/move", {"status": to, "reason": "not now"})
        team.until(process.exists, lambda there: not there)
        assert team.task(task)["status"] == to
