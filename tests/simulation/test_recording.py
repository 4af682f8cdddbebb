"""What is taken from a recorded run is always a valid simulation, however odd the run was."""

from __future__ import annotations

from typing import Any

import pytest

from toryo.formats.simulation_format import LONGEST_MINUTES, Simulation
from toryo.simulation import recording

ROLES = {"mason": "worker", "lead": "manager"}


def event(kind: str, at: str, agent_id: str | None = "mason", **data: Any) -> dict[str, Any]:
    return {"kind": kind, "at": at, "agent_id": agent_id, "actor_id": agent_id, "launch_id": "l", "data": data}


def run(fetched: str, ended: str, agent_id: str | None = "mason") -> list[dict[str, Any]]:
    return [
        event("launch.ordered", fetched, agent_id, purpose="task"),
        event("task.fetched", fetched, agent_id),
        event("task.completed", ended, agent_id),
    ]


def usage(tokens: int, dollars: float | None) -> dict[str, Any]:
    return {"agent_id": "mason", "input_tokens": tokens, "output_tokens": 0, "cost_usd": dollars}


@pytest.mark.parametrize(
    ("events", "booked", "minutes"),
    [
        ([], [], None),
        ([], [usage(10, 1.0)], None),
        (run("2026-01-01T00:00:00Z", "2026-01-01T00:30:00Z")[:2], [], None),
        (run("2026-01-01T00:00:00Z", "2026-01-01T00:30:00Z", None), [], None),
        (run("2026-01-01T00:00:00Z", "2026-01-01T00:30:00Z"), [], 30.0),
        (run("2026-01-01T00:00:00Z", "2026-12-01T00:00:00Z"), [], LONGEST_MINUTES),
        (run("2026-01-01T00:00:10Z", "2026-01-01T00:00:00Z"), [], 0.0),
        (run("2026-01-01T00:00:00Z", "2026-01-01T00:30:00Z"), [usage(1, 10**6)], 30.0),
        (run("2026-01-01T00:00:00Z", "2026-01-01T00:30:00Z"), [usage(10**14, None)], 30.0),
    ],
    ids=["nothing", "only usage", "no end", "nobody", "usual", "a year", "backwards", "dear", "many tokens"],
)
def test_whatever_was_recorded_can_be_played(events: Any, booked: Any, minutes: float | None) -> None:
    found = recording.apply(Simulation(), recording.read(events, booked), ROLES)

    mason = Simulation.model_validate(found.model_dump(exclude_none=True, exclude_unset=True)).of("mason")
    assert mason.minutes.samples == ([] if minutes is None else [minutes])


def test_an_agent_that_has_not_worked_gets_what_those_of_its_role_have_in_common_whoever_they_were() -> None:
    known = recording.read(run("2026-01-01T00:00:00Z", "2026-01-01T00:30:00Z", "left-long-ago"))

    found = recording.apply(Simulation(), known, ROLES)

    assert found.of("mason").minutes.samples == [30.0]
    assert found.of("lead").minutes.samples == []
