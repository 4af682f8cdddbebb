"""Agents that are due to be started and that no Coordinator can start: with the program that is missing, and the tasks
that wait for it.

Told at once: a Coordinator counts as gone only after 90 seconds without a call. Only where one that could start the
agent may be about to come back with the server is there a wait, of the same 90 seconds.
"""

from __future__ import annotations

from functools import partial

from toryo.domain.agents import Agent, Program
from toryo.domain.coordinators import GONE_AFTER
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Priority, Task
from toryo.domain.times import Millis
from toryo.operations.calls import fault_isolation
from toryo.operations.launches import placement
from toryo.operations.launches.placement import PlacementProblem
from toryo.operations.overview import main_task_waits
from toryo.operations.overview.home_state import Picture, Place
from toryo.workflow import launch_rules
from toryo.workflow.launch_rules import Action


@dataclass(frozen=True, slots=True)
class Unplaced:
    """`tasks`: what the agent would be started for; never empty."""

    agent: Agent
    project_id: str
    program: Program
    obstacle: PlacementProblem
    tasks: tuple[Task, ...]
    since: Millis

    @property
    def cause(self) -> tuple[str, ...]:
        """The same for all agents that one change would help: the program, or what is missing of the agent itself."""
        if self.obstacle.code == "none":
            return (self.project_id, "none")
        shared = {"no_provider": (), "no_account": (self.program.account or "",)}
        own = shared.get(self.obstacle.code, (self.agent.id,))
        return (self.project_id, self.obstacle.code, self.program.provider, *own)


def unplaced_agents(picture: Picture) -> list[Unplaced]:
    """In the order in which they became members."""

    def look(place: Place) -> Unplaced | None:
        at = partial(_at, picture, place)
        return fault_isolation.fenced(picture.call, "needs", at, None, agent_id=place[0], project_id=place[1])

    return [each for place in picture.places if (each := look(place)) is not None]


def _at(picture: Picture, place: Place) -> Unplaced | None:
    agent, project = picture.agents[place[0]], picture.projects[place[1]]
    if not agent.active or not agent.managed or not project.active or main_task_waits.runs(picture, place):
        return None
    obstacles = {program: found for program in agent.programs if (found := _obstacle(picture, agent, program))}
    tasks, priority = _due(picture, place) if obstacles else ((), None)
    if not tasks:
        return None
    program = placement.program(picture.snapshot(place), Purpose.TASK, priority, lambda: picture.coordinators)
    obstacle = obstacles.get(program) if program is not None else None
    if program is None or obstacle is None:
        return None
    last = max((seen.seen_at for seen in picture.coordinators if seen.offer.lacks(agent, program) is None), default=0)
    return Unplaced(
        agent, project.id, program, obstacle, tasks, max(last, agent.updated_at, min(each.moved_at for each in tasks))
    )


def _obstacle(picture: Picture, agent: Agent, program: Program) -> PlacementProblem | None:
    found = placement.obstacle(agent, program, picture.coordinators, picture.now)
    return None if found is None or _may_come_back(picture, agent, program, found) else found


def _due(picture: Picture, place: Place) -> tuple[tuple[Task, ...], Priority | None]:
    """What it would be started for now: its main tasks that wait for nobody, else the first ready one of its queue; and
    the priority of a start for it."""
    mains = [
        task
        for task in picture.main_tasks.get(place, ())
        if task.id not in picture.claims and main_task_waits.awaited_tasks(picture, place, task) is None
    ]
    agent_type = picture.agents[place[0]].agent_type
    ready = picture.ready_tasks.get((place[1], agent_type)) if agent_type is not None else None
    if not mains and (not ready or picture.main_tasks.get(place)):
        return (), None
    decision = launch_rules.decide(picture.snapshot(place))
    if decision.action is not Action.START:
        return (), None
    queued = [each for each in ready or () if each.id == decision.task_id]
    return tuple(mains or queued), decision.priority


def _may_come_back(picture: Picture, agent: Agent, program: Program, obstacle: PlacementProblem) -> bool:
    """The server has just begun: a Coordinator that could start it, or the first one, may be about to call."""
    if picture.call.context.awake.since + GONE_AFTER <= picture.now:
        return False
    return obstacle.code == "none" or any(seen.offer.lacks(agent, program) is None for seen in picture.coordinators)
