"""A run is kept as a data directory that a server opens: to be looked at, not to go on.

What still runs is ended and every project is paused, so that a real Coordinator starts nothing, and people count as
told of what needs them, so that nothing is sent. Credentials are left out: those of a simulation follow from its seed,
and everybody could know them.
"""

from __future__ import annotations

from pathlib import Path

from toryo.housekeeping import notice_outbox
from toryo.simulation.run import Run
from toryo.storage.backup import forget_credentials


def keep(run: Run, file: Path) -> None:
    """Writes the database; the run is over then. Raises OSError or sqlite3.Error."""
    world = run.world
    for project in world.owner("list_projects", limit=200)["projects"]:
        world.owner("pause_project", project_id=project["project_id"])
    run.coordinator.stop()
    world.dispatcher.housekeep(notice_outbox.count_as_told)
    forget_credentials(world.database)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    world.database.save(file)
