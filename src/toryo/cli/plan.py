"""`toryo plan FILE`: what applying a toryo.yaml would do, and what its tasks would take, before anything is done.

The file is held against the server that runs, else against an empty one in this process. What is left of its tasks is
played as `toryo forecast` plays those of a server (forecast.py).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toryo import data_directories, process_locks
from toryo.cli import manifest_file, output, task_lookup
from toryo.cli.command_context import Here, command, option
from toryo.domain.tasks import CLOSED
from toryo.domain.texts import one_line
from toryo.usual_slots import USUAL_SLOTS

if TYPE_CHECKING:
    from toryo.cli.manifest_apply import Known, Prepared
    from toryo.cli.task_graph import Graph
    from toryo.simulation.recording import Recorded

RUNS = 3
STEPS_SHOWN, NAMED, REASONS_SHOWN = 12, 8, 5
ARROW = " → "


def add(app: typer.Typer) -> None:
    command(app, "plan")(plan)


def plan(
    here: Here,
    file: manifest_file.File = Path(manifest_file.TEAM),
    values: manifest_file.Values = None,
    max_concurrent: Annotated[
        int | None,
        option("N", f"Processes at a time (default: {USUAL_SLOTS}, or what the file says).", min=1, max=10_000),
    ] = None,
) -> None:
    """Show what applying a toryo.yaml would do. What would be created and changed, who does what, which tasks do not
    start by themselves, and an estimate of time and cost. Changes nothing and starts no program."""
    from toryo.cli import manifest_apply, simulated_server
    from toryo.simulation.run import BEGINS_AT
    from toryo.simulation.world import World, quiet

    wanted = manifest_file.noted(file, values, "plan")
    if _has_server(here):
        found = _found(here, manifest_apply.prepared(here, wanted), max_concurrent)
    else:
        with quiet():
            world = World(BEGINS_AT, 0)
            try:
                found = _found(
                    None, manifest_apply.prepared(simulated_server.Inside(world=world), wanted), max_concurrent
                )
            finally:
                world.close()
    here.answer(found.document(), lambda: output.done(*found.told()))


def _has_server(here: Here) -> bool:
    """Whether there is one to hold the file against. One that is named must answer."""
    named = here.server is not None or bool(os.environ.get("TORYO_SERVER_URL"))
    return named or process_locks.server(data_directories.data_dir(here.data_dir)) is not None


@dataclass(frozen=True)
class _Plan:
    """`left`: the tasks of the file that are not over; `graph` names them by their numbers. `estimate` is that of
    `toryo forecast --json`."""

    ready: Prepared
    left: Sequence[Known]
    graph: Graph
    programs: Mapping[str, str | None]
    at_once: int
    estimate: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "success": True,
            "changes": [change.document() for change in self.ready.changes],
            "kept": self.ready.kept,
            "wider": self.ready.wider,
            "tasks": len(self.ready.tasks),
            "open_tasks": len(self.left),
            "steps": [self._titles(step) for step in self.graph.steps],
            "width": self.graph.width,
            "critical_path": self._titles(self.graph.chain),
            "agents": [
                {"agent_id": agent, "provider": self.programs.get(agent), "tasks": count}
                for agent, count in self._shares().items()
                if agent is not None
            ],
            "max_concurrent": self.at_once,
            "waiting": [each.document() for each in self.ready.waiting],
            "estimate": {name: each for name, each in self.estimate.items() if name != "success"},
        }

    def told(self) -> Iterator[str]:
        from toryo.cli import manifest_starts

        yield from self._changes()
        if self.ready.wider:
            yield f"Grants more rights, which apply asks about: {'; '.join(self.ready.wider)}"
        if not self.left:
            done = len(self.ready.tasks)
            yield f"All {done} tasks of the file are over." if done else "The file has no tasks."
            return
        yield from ("", *self._steps())
        yield from ("", *self._agents())
        if self.ready.waiting:
            yield from ("", *manifest_starts.told(self.ready.waiting))
        if self.estimate["runs"]:
            yield from ("", *self._estimate())

    def _titles(self, numbers: Sequence[str]) -> list[str]:
        return [self.left[int(each)].task.title for each in numbers]

    def _shares(self) -> Counter[str | None]:
        """How many tasks each agent has; None: nobody."""
        return Counter(_assignee(each) for each in self.left)

    def _changes(self) -> Iterator[str]:
        made: dict[str, list[str]] = {}
        for change in self.ready.changes:
            if change.verb == "created":
                made.setdefault(change.kind, []).append(change.id or change.detail)
        if made:
            yield "Would create " + ", ".join(_counted(kind, names) for kind, names in made.items())
        for change in self.ready.changes:
            if change.verb == "updated":
                yield from (f"Would change {change.kind} {change.id}", *(f"  {each}" for each in change.changes))
            elif change.verb == "joined" and change.detail not in made.get("agent", ()):
                yield f"Would add {change.detail} to project {change.id}"
        if not self.ready.changes:
            yield "Nothing to change."

    def _steps(self) -> Iterator[str]:
        steps, width = self.graph.steps, self.graph.width
        tasks = "1 task" if len(self.left) == 1 else f"{len(self.left)} tasks"
        yield f"{tasks} in {len(steps)} {'step' if len(steps) == 1 else 'steps'}, at most {width} at once:"
        for number, step in enumerate(steps[:STEPS_SHOWN], 1):
            yield f"{number:>4}  {_some([self._named(each) for each in step])}"
        if len(steps) > STEPS_SHOWN:
            yield f"      and {len(steps) - STEPS_SHOWN} more steps"
        chain = self._titles(self.graph.chain)
        shown = chain if len(chain) <= NAMED else [*chain[: NAMED // 2], "…", *chain[-(NAMED // 2) :]]
        yield f"The longest chain: {ARROW.join(map(one_line, shown))}"

    def _named(self, number: str) -> str:
        each = self.left[int(number)]
        return f"{one_line(each.task.title)} ({_assignee(each) or 'nobody'})"

    def _agents(self) -> Iterator[str]:
        shares = self._shares()
        named = [agent for agent in shares if agent is not None and not task_lookup.is_anyone(agent)]
        able = len(named) if set(shares) <= {None, *named} else len(self.programs)
        for agent, count in shares.items():
            program = f" ({self.programs.get(agent) or 'no program'})" if agent in named else ""
            yield f"{agent or 'nobody'}{program}: {'1 task' if count == 1 else f'{count} tasks'}"
        if (at_once := min(able, self.at_once)) < self.graph.width:
            few = "there is 1 agent for them" if able == 1 else f"there are {able} agents for them"
            limit = f"{self.at_once} processes run at a time (--max-concurrent)"
            yield f"So at most {at_once} run at once: {few if able <= self.at_once else limit}."

    def _estimate(self) -> Iterator[str]:
        from toryo.cli import forecast

        found = self.estimate
        time, money, tokens = (
            _range(found[name], written)
            for name, written in (("hours", forecast.in_words), ("dollars", _dollars), ("tokens", _tokens))
        )
        yield f"Estimate: {time}; {money}, {tokens}"
        yield f"  {found['runs']} simulated runs. People start at once in them what does not start by itself."
        for words, agents in self._sources().items():
            yield f"  {_some(agents)}: {words}"
        for each in found["unfinished"][:REASONS_SHOWN]:
            runs = f"{each['runs']} of {found['runs']} runs"
            yield f"Not completed in {runs}: “{one_line(each['title'])}” ({each['status']}): {each['reason']}"

    def _sources(self) -> dict[str, list[str]]:
        """Where the times come from, and of which agents."""
        from toryo.cli import forecast

        found: dict[str, list[str]] = {}
        for agent, each in self.estimate["agents"].items():
            if each["hours"]["high"]:
                said = self.ready.manifest.simulation is not None and not each["learnt_from"]
                words = "as the file says (simulation)" if said else forecast.known(each["learnt_from"])
                found.setdefault(words, []).append(agent)
        return found


def _range(of: Mapping[str, float], written: Callable[[float], str]) -> str:
    low, high = written(of["low"]), written(of["high"])
    return low if low == high else f"{low} to {high}"


def _dollars(amount: float) -> str:
    return f"${amount:.2f}"


def _tokens(count: float) -> str:
    return f"{count:,.0f} tokens"


def _found(here: Here | None, ready: Prepared, max_concurrent: int | None) -> _Plan:
    """`here`: the server, if there is one."""
    from toryo.cli import task_graph
    from toryo.simulation import forecast as forecasts

    left = [each for each in ready.tasks if each.found is None or each.found["status"] not in CLOSED]
    numbers = {(each.project_id, each.task.title): str(number) for number, each in enumerate(left)}
    before = {
        str(number): [
            numbers[each.project_id, name]
            for name in (*each.task.depends_on, *filter(None, [each.task.parent]))
            if (each.project_id, name) in numbers
        ]
        for number, each in enumerate(left)
    }
    said = ready.manifest.simulation
    at_once = max_concurrent or (said.coordinator.max_concurrent if said is not None else USUAL_SLOTS)
    begun = [each for each in left if (each.found or {}).get("status", each.task.status) != "backlog"]
    work = _work(here, ready, begun, at_once)
    estimate = forecasts.document(work.play(RUNS), len(begun), work.learnt)
    programs = {agent.id: agent.provider for agent in work.team.agents}
    return _Plan(ready, left, task_graph.of(before), programs, at_once, estimate)


def _work(here: Here | None, ready: Prepared, left: Sequence[Known], at_once: int) -> Any:
    """The team of the file, with what the server has of it, and what is left of the file's tasks."""
    from toryo.cli import forecast, manifest_export
    from toryo.formats.simulation_format import Simulation
    from toryo.simulation import recording

    names = {each.task.project for each in left}
    there: dict[str, Any] = {"projects": [], "agents": []}
    recorded: dict[str, Recorded] = {}
    for project_id in sorted({found for name in names if (found := ready.project_id(name)) is not None}):
        assert here is not None  # an empty server has no project
        exported = manifest_export.whole(here, project_id)
        there["projects"] += exported["projects"]
        there["agents"] += exported["agents"]
        recorded |= forecast.recorded(here, project_id)
    projects = {each["id"]: each for each in there["projects"]}
    for own in ready.manifest.projects:
        key = ready.project_id(own.id or own.name) or own.id or own.name
        known = projects.get(key, {})
        settings = {**known.get("settings", {}), **own.settings}
        projects[key] = {**known, **own.said("directory"), "directory": str(own.directory), "settings": settings}
    agents: dict[str, Any] = {}
    for each in there["agents"]:
        of_both = [*agents.get(each["id"], each)["projects"], *each["projects"]]
        agents[each["id"]] = {**each, "projects": list(dict.fromkeys(of_both))}
    for agent in ready.manifest.agents:
        known = agents.get(agent.id, {})
        of_both = [*known.get("projects", ()), *agent.projects]
        agents[agent.id] = {**known, **agent.said(), "projects": list(dict.fromkeys(of_both))}
    titles = {(each.project_id, each.task.title) for each in left}
    tasks = [_played(each, titles) for each in left]
    team = forecast.manifest({"projects": [*projects.values()], "agents": [*agents.values()], "tasks": tasks})
    roles = {agent.id: agent.role for agent in team.agents}
    how = recording.apply(ready.manifest.simulation or Simulation(), recorded, roles)
    return forecast.Work(team, recorded, at_once, simulation=how)


def _played(each: Known, titles: set[tuple[str, str]]) -> dict[str, Any]:
    """What it waits for outside of what is left counts as done."""
    said = each.task.said("depends_on", "parent")
    said["depends_on"] = [name for name in each.task.depends_on if (each.project_id, name) in titles]
    if each.task.parent is not None and (each.project_id, each.task.parent) in titles:
        said["parent"] = each.task.parent
    if each.found is not None:
        status = each.found["status"]
        said["assignee"], said["status"] = _assignee(each), "todo" if status == "blocked" else status
    return {key: value for key, value in said.items() if value is not None}


def _assignee(each: Known) -> str | None:
    there: str | None = each.found["assignee_id"] if each.found is not None else None
    return there or each.task.assignee


def _counted(kind: str, names: Sequence[str]) -> str:
    if kind == "task":
        return "1 task" if len(names) == 1 else f"{len(names)} tasks"
    return f"{kind} {names[0]}" if len(names) == 1 else f"{len(names)} {kind}s ({_some(names)})"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(map(one_line, names[:NAMED])) + more
