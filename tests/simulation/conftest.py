"""Teams as files, and how they are played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import stories
from tests.invariants import broken
from toryo.cli import manifest, simulated_server
from toryo.simulation import results
from toryo.simulation.results import Results
from toryo.simulation.run import BEGINS_AT, Run
from toryo.simulation.world import World, quiet

Played = tuple[Run, Results]
Play = Callable[..., Played]


def team(workers: int = 2, *, tasks: int = 2, **simulation: Any) -> dict[str, Any]:
    """A manager `lead` with workers `w1`, `w2`, … of a model."""
    lead = {"id": "lead", "role": "manager", "provider": "claude", "max_parallel_tasks": 9, "projects": ["house"]}
    others = [
        {"id": f"w{number}", "role": "worker", "provider": "claude", "reports_to": "lead", "projects": ["house"]}
        for number in range(1, workers + 1)
    ]
    arrivals = [{"title": "Wing {n}", "project": "house", "assignee": "lead", "count": tasks, "every_minutes": 30}]
    return {
        "projects": [{"id": "house", "name": "House", "directory": "."}],
        "agents": [lead, *others],
        "simulation": {"arrivals": arrivals if tasks else [], "defaults": {"subtasks": 3, "minutes": 10}, **simulation},
    }


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Plays a team to its end, after which no rule of the rows is broken."""

    def played(document: dict[str, Any], *, seed: int = 0) -> Played:
        file = tmp_path / "toryo.yaml"
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        read = manifest.read(file)
        assert read.simulation is not None
        with quiet():
            world = World(BEGINS_AT, seed)
            simulated_server.apply(world, read)
            run = Run(world, read.simulation, simulated_server.programs(read), seed)
            run.run()
            found = results.results_of(run, "team")
        assert broken(_Looked(world)) == []
        return run, found

    return played


class _Looked:
    """What `invariants` reads of a world."""

    rows = stories.World.rows

    def __init__(self, world: World) -> None:
        self.database = world.database
