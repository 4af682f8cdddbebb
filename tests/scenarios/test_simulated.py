"""What `toryo simulate` predicts of a team without a model is what the same team does with real processes."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scenarios.sites import Site
from toryo.cli import manifest, manifest_apply, simulated_server
from toryo.cli.command_context import Here
from toryo.simulation.run import BEGINS_AT, Run
from toryo.simulation.world import World, quiet

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

SECONDS = 2.0
"""How long each command takes, here and there."""
SLOTS = 4


def _team(directory: Path) -> dict[str, Any]:
    """Two managers with the same playbook, and three workers each; one worker divides its own task."""
    command: dict[str, Any] = {"context": {"command": f"sleep {SECONDS:g}"}}
    plan: list[dict[str, Any]] = [
        {"id": "a", "title": "Dig", "assignee": "{lead}-1", **command},
        {"id": "b", "title": "Measure", "assignee": "{lead}-2", **command},
        {"id": "c", "title": "Wall", "assignee": "{lead}-1", "depends_on": ["a", "b"], **command},
        {"id": "d", "title": "Roof", "assignee": "{lead}-3", "depends_on": ["c"]},
    ]
    steps = [
        {"id": "beams", "title": "Beams", "run": f"sleep {SECONDS:g}"},
        {"id": "tiles", "title": "Tiles", "run": f"sleep {SECONDS:g}", "depends_on": ["beams"]},
    ]
    agents, tasks = [], []
    for lead in ("east", "west"):
        subtasks = [{**each, "assignee": str(each["assignee"]).format(lead=lead)} for each in plan]
        agents.append(_agent(lead, role="manager", playbook={"tasks": [{"match": "Build .*", "subtasks": subtasks}]}))
        agents += [_agent(f"{lead}-{number}", reports_to=lead) for number in (1, 2)]
        agents.append(_agent(f"{lead}-3", reports_to=lead, playbook={"tasks": [{"match": "Roof", "subtasks": steps}]}))
        tasks.append({"project": "house", "title": f"Build {lead}", "assignee": lead, "status": "in_progress"})
    return {
        "projects": [
            {"id": "house", "name": "House", "directory": str(directory), "settings": {"commands_from": "managers"}}
        ],
        "agents": agents,
        "tasks": tasks,
        "simulation": {
            "coordinator": {"max_concurrent": SLOTS},
            "defaults": {"minutes": SECONDS / 60, "start_seconds": 0.5, "call_seconds": 0.02},
        },
    }


def _agent(agent_id: str, *, role: str = "worker", playbook: Any = None, **more: Any) -> dict[str, Any]:
    provider: dict[str, Any] = {"provider": "command"}
    if playbook is not None:
        provider = {"provider": "playbook", "provider_options": {"playbook": playbook}}
    return {"id": agent_id, "role": role, "projects": ["house"], **provider, **more}


def _counted(database: sqlite3.Connection) -> tuple[Counter[str], Counter[str]]:
    """Starts and calls that change something, by agent, from the rows."""
    starts = database.execute("SELECT agent_id, count(*) FROM launches GROUP BY agent_id")
    calls = database.execute("SELECT agent_id, sum(calls) FROM sessions GROUP BY agent_id")
    return Counter(dict(starts)), Counter(dict(calls))


def test_the_prediction_of_starts_and_calls_is_within_a_tenth_of_what_real_processes_do(
    site: Site, tmp_path: Path
) -> None:
    directory = tmp_path / "house"
    directory.mkdir()
    file = tmp_path / "toryo.yaml"
    file.write_text(yaml.safe_dump(_team(directory), sort_keys=False))

    manifest_apply.apply(Here(server=site.url, token=site.token("owner")), manifest.read(file), yes=True)
    site.coordinator(max_concurrent=SLOTS)
    for title in ("Build east", "Build west"):
        site.until_status(site.tasks("house")[title]["task_id"], "completed")
    site.until_idle()
    with closing(sqlite3.connect(site.data / "toryo.db")) as database:
        real_starts, real_calls = _counted(database)

    read = manifest.read(file)
    assert read.simulation is not None
    with quiet():
        world = World(BEGINS_AT, 0)
        simulated_server.apply(world, read)
        run = Run(world, read.simulation, simulated_server.programs(read), 0)
        run.run()
    world.database.save(tmp_path / "simulated.db")
    with closing(sqlite3.connect(tmp_path / "simulated.db")) as database:
        starts, calls = _counted(database)

    assert run.ended == "done"
    assert starts.keys() == real_starts.keys()
    print(f"starts {starts.total()} of {real_starts.total()}, calls {calls.total()} of {real_calls.total()}")  # noqa: T201
    assert starts.total() == pytest.approx(real_starts.total(), rel=0.1)
    assert calls.total() == pytest.approx(real_calls.total(), rel=0.1)
    assert sum(abs(calls[each] - real_calls[each]) for each in calls) <= 0.1 * real_calls.total()
