"""Tasks that come by themselves, with a server, a Coordinator and the command line as real processes. What clocks do,
and days of downtime, are in tests/operations/test_schedules.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.scenarios.programs import Program
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]
WRITES = {"command": "echo done > done.txt"}


def typed(site: Site, *words: str) -> str:
    """What a command of a person's prints."""
    program = Program("toryo", [*words, "--server", site.url], site.environment, site.directory).start()
    assert program.ended_with() == 0, program.lines
    return "\n".join(program.lines)


def sweeps(site: Site, seconds: float) -> datetime:
    """A schedule that comes once, so soon; answers when."""
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    asked = {"name": "Sweep", "title": "Sweep {run}", "assignee_id": "cleaner", "context": WRITES}
    site.people.rest("POST", "/projects/house/schedules", {**asked, "once_at": at.isoformat()})
    return at


def created(site: Site) -> str:
    """The task of a schedule, once there is one."""
    return str(site.until("its task is there", lambda: site.history.of("schedule.ran") or None)[0]["task_id"])


def test_a_schedule_starts_its_assignee_at_its_time_and_a_person_runs_it_again(site: Site) -> None:
    directory = site.project("house", commands_from="managers")
    site.hire("cleaner", "house")
    site.coordinator()
    sweeps(site, 2)
    task = created(site)
    site.until_status(task, "completed")
    assert (directory / "done.txt").read_text() == "done\n"
    assert site.look(task)["title"] == "Sweep 1"
    assert "ended" in typed(site, "schedule", "list")

    nightly = ["--cron", "0 2 * * *", "--time-zone", "Europe/Berlin", "--title", "Look", "--project", "house"]
    assert "next: " in typed(site, "schedule", "add", "Nightly", *nightly)
    told = typed(site, "schedule", "run", "sweep").split()
    again = told[told.index("created") + 1]
    site.until_status(again, "completed")
    site.until_idle()
    shown = typed(site, "schedule", "show", "sweep")
    assert f"{task} completed" in shown and f"{again} completed" in shown and "run by owner" in shown
    assert len(site.history.starts(agent_id="cleaner")) == 2
    assert site.history.idle_starts() == []


def test_a_time_that_came_while_the_server_was_killed_is_made_up_for_once(site: Site) -> None:
    site.project("house", commands_from="managers")
    site.hire("cleaner", "house")
    at = sweeps(site, 2)
    site.server.kill()
    while datetime.now(UTC) < at:  # nobody is there when it comes
        site.server.kill()
    site.serve()
    site.coordinator()
    task = created(site)
    site.until_status(task, "completed")
    site.until_idle()
    assert len(site.tasks("house")) == 1
    assert len(site.history.starts(agent_id="cleaner")) == 1
