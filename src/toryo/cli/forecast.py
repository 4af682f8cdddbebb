"""`toryo forecast`: when the open work of a project will be done, and what it will cost, as ranges.

The project's team and open tasks are read from the server and played many times (`toryo.simulation`), with the times,
failures and costs of what the project has done so far. Nothing is changed on the server.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toryo.cli import manifest_export, output
from toryo.cli.command_context import Here, command, option
from toryo.cli.exit_codes import Misuse
from toryo.cli.parent_watch import EndsWithStdin, heed_parent
from toryo.cli.projects import only
from toryo.usual_slots import USUAL_SLOTS

if TYPE_CHECKING:
    from toryo.cli.manifest import Manifest
    from toryo.formats.simulation_format import Simulation
    from toryo.simulation.forecast import Ended
    from toryo.simulation.recording import Recorded
    from toryo.simulation.world import World

LONGEST_HOURS = 720.0
"""A month: a run ends there at the latest."""
MOST_REASONS = 5
PERSON = "owner"
"""Who has completed what is completed before a run."""


def add(app: typer.Typer) -> None:
    command(app, "forecast")(forecast)


def forecast(
    here: Here,
    project: Annotated[str | None, option("PRJ", "The project (default: the only one).")] = None,
    runs: Annotated[int, option("N", "How often it is played.", min=2, max=1_000)] = 20,
    max_concurrent: Annotated[int, option("N", "Processes at a time.", min=1, max=10_000)] = USUAL_SLOTS,
    seed: Annotated[int, option("N", "Of chance; the same gives the same ranges.", min=0, max=2**52)] = 0,
    ends_with_stdin: EndsWithStdin = False,
) -> None:
    """Forecast when open tasks will be done, at what cost. Plays the open tasks of a project many times, with the
    times, failures and costs of what it has done so far. Starts no program and changes nothing."""
    heed_parent(ends_with_stdin)
    from toryo.simulation import forecast as forecasts

    work = Work.of(here, project or only(here), max_concurrent)
    found = {
        **forecasts.document(work.play(runs, seed), len(work.team.tasks), work.learnt),
        "accounts": _running_dry(here, {each.id for each in work.team.agents}),
    }
    here.answer(found, lambda: output.done(*_lines_of(found, time.time())))


def _running_dry(here: Here, agents: Collection[str]) -> list[dict[str, Any]]:
    """The quota windows of these agents' accounts that are used up before they end, at the pace so far."""
    return [
        {"account": quota["account"], "window": window["length"], "runs_dry_at": window["runs_dry_at"]}
        for quota in here.get("/quotas")["quotas"]
        if set(agents) & set(quota["agents"])
        for window in quota["windows"]
        if window["runs_dry_at"] is not None
    ]


class Work:
    """A project's team and open tasks, and how its agents work."""

    def __init__(
        self,
        team: Manifest,
        recorded: Mapping[str, Recorded],
        max_concurrent: int,
        *,
        begun: Iterable[str] = (),
        split: Mapping[str, Sequence[int]] | None = None,
        simulation: Simulation | None = None,
    ) -> None:
        """`begun`: titles of open tasks some of whose subtasks are completed. `split`: into how many subtasks each
        manager has split its tasks. `simulation`: how the agents work, instead of what was recorded."""
        from toryo.simulation.forecast import Likely

        self.team, self.max_concurrent = team, max_concurrent
        self.learnt = {name: len(each.minutes) for name, each in recorded.items()}
        self._likely = Likely(recorded, {agent.id: agent.role for agent in team.agents})
        managers = {agent.id for agent in team.agents if agent.role == "manager"}
        self._under_way = [
            each.assignee
            for each in team.tasks
            if each.status == "in_progress" and each.assignee is not None and each.assignee not in managers
        ]
        self._begun, self._split, self._said = frozenset(begun), split or {}, simulation

    @classmethod
    def of(cls, here: Here, project_id: str, max_concurrent: int) -> Work:
        times = recorded(here, project_id)
        every = here.every(f"/projects/{project_id}/tasks", "tasks")
        exported = manifest_export.whole(here, project_id, live=True)
        exported["tasks"] = [each for each in exported["tasks"] if each["status"] != "backlog"]
        team = manifest(exported)
        done = {each["parent_task_id"] for each in every if each["status"] == "completed"}
        titles = {each["title"] for each in every if each["task_id"] in done}
        begun = [each.title for each in team.tasks if each.title in titles]
        return cls(team, times, max_concurrent, begun=begun, split=_split(every, team))

    def play(self, runs: int, seed: int = 0) -> list[Ended]:
        """What came of each run. Raises Misuse for a team that the server would refuse."""
        from toryo.simulation.run import without_collecting
        from toryo.simulation.world import quiet

        if not self.team.tasks:
            return []
        with TemporaryDirectory(prefix="toryo-forecast-") as directory, quiet(), without_collecting():
            beginning = Path(directory) / "beginning.db"
            self._set_up(beginning)
            return [self._run(beginning, seed + number) for number in range(runs)]

    def _set_up(self, beginning: Path) -> None:
        """Writes the database that every run begins with."""
        from toryo.cli import simulated_server
        from toryo.simulation.run import BEGINS_AT
        from toryo.simulation.world import World

        world = World(BEGINS_AT, 0)
        try:
            simulated_server.apply(world, self.team)
            self._complete_parts(world)
            world.database.save(beginning)
        finally:
            world.close()

    def _run(self, beginning: Path, seed: int) -> Ended:
        from toryo.cli import simulated_server
        from toryo.simulation import forecast as forecasts
        from toryo.simulation.run import BEGINS_AT, Run
        from toryo.simulation.virtual_time import StandsStill
        from toryo.simulation.world import World

        world = World(BEGINS_AT, seed, copied_from=beginning)
        try:
            _Starter(world)
            run = Run(world, self._simulation(seed), simulated_server.programs(self.team), seed)
            run.run()
            return forecasts.ended(run, self._under_way)
        except StandsStill as still:
            raise Misuse(
                f"The work cannot be played: {still}", "Simulate it: toryo export FILE, toryo simulate FILE."
            ) from None
        finally:
            world.close()

    def _simulation(self, seed: int) -> Simulation:
        from toryo.formats.simulation_format import Agent, Coordinator, Simulation

        coordinator = Coordinator(max_concurrent=self.max_concurrent)
        if self._said is not None:
            return self._said.model_copy(
                update={"hours": LONGEST_HOURS, "coordinator": coordinator, "arrivals": [], "seed": seed}
            )
        drawn = self._likely.drawn(random.Random(f"forecast {seed}"))  # noqa: S311 - chance, no secret
        for name, counts in self._split.items():
            drawn.setdefault(name, {})["subtasks"] = {"samples": counts}
        agents = {name: Agent.model_validate(each) for name, each in drawn.items()}
        return Simulation(hours=LONGEST_HOURS, coordinator=coordinator, agents=agents)

    def _complete_parts(self, world: World) -> None:
        """A task some of whose subtasks are completed is continued, not begun again."""
        if not self._begun:
            return
        project = world.owner("list_projects")["projects"][0]["project_id"]
        world.owner("add_member", project_id=project, agent_id=PERSON)
        for each in world.owner("list_project_tasks", project_id=project, limit=200)["tasks"]:
            if each["title"] in self._begun:
                filed = {"title": "(done before)", "parent_task_id": each["task_id"], "assignee_id": PERSON}
                part = world.owner("file_task", project_id=project, status="in_progress", **filed)["task_id"]
                world.owner("move_task", task_id=part, status="completed")


class _Starter:
    """The person who starts tasks that have an assignee, each as soon as it can be: its agent has room, and what it
    depends on is completed."""

    EVERY_SECONDS = 60

    def __init__(self, world: World) -> None:
        self._world, self._tried_at = world, -1
        self._try()

    def _try(self) -> None:
        from toryo.client import RefusalError

        world = self._world
        world.time.after(self.EVERY_SECONDS, self._try)
        if world.changes == self._tried_at:
            return
        self._tried_at = world.changes
        for project in world.owner("list_projects")["projects"]:
            wanted = {"project_id": project["project_id"], "status": "todo", "limit": 200}
            for each in world.owner("list_project_tasks", **wanted)["tasks"]:
                if each["parent_task_id"] is None and each["assignee_id"] is not None:
                    with suppress(RefusalError):
                        world.owner("move_task", task_id=each["task_id"], status="in_progress")


def recorded(here: Here, project_id: str) -> Mapping[str, Recorded]:
    """What a project of the server has recorded, by agent."""
    from toryo.cli.simulate import recorded_of_project

    return recorded_of_project(here, project_id)


def manifest(exported: dict[str, Any]) -> Manifest:
    """A team that was not read from a file. Raises Misuse."""
    from toryo.cli.manifest import Manifest
    from toryo.formats import yaml_documents

    document = yaml_documents.Document(exported, "the server")
    team = Manifest.of(document)
    team.fail_if_mistaken()
    return team


def _split(every: Sequence[Mapping[str, Any]], team: Manifest) -> dict[str, list[int]]:
    """Into how many subtasks each manager has split its tasks."""
    from toryo.formats.simulation_format import MOST_SUBTASKS

    parts = Counter(each["parent_task_id"] for each in every if each["parent_task_id"])
    managers = {agent.id for agent in team.agents if agent.role == "manager"}
    found: dict[str, list[int]] = {}
    for each in every:
        if each["assignee_id"] in managers and parts[each["task_id"]]:
            found.setdefault(each["assignee_id"], []).append(min(MOST_SUBTASKS, parts[each["task_id"]]))
    return found


# --- what is said ----------------------------------------------------------------------------------------------------


def _lines_of(found: Mapping[str, Any], now: float) -> Iterator[str]:
    if not found["runs"]:
        yield "There are no open tasks (drafts in the backlog do not count)."
        return
    hours, dollars, tokens = found["hours"], found["dollars"], found["tokens"]
    yield f"Open tasks  {found['open_tasks']}"
    if found["runs_completed"] == 0:
        yield "Not all of them are completed in any run (reasons below). The figures are of those that are."
    low, middle, high = (_clock(now, hours[each]) for each in ("low", "middle", "high"))
    yield f"Done        {low} to {high}, median {middle}"
    yield f"Takes       {in_words(hours['low'])} to {in_words(hours['high'])}"
    yield f"Cost        ${dollars['low']:.2f} to ${dollars['high']:.2f}"
    yield f"Tokens      {tokens['low']:,.0f} to {tokens['high']:,.0f}"
    yield ""
    yield (
        f"So it was in 9 of 10 of {found['runs']} simulated runs. Not included: tasks added later, and the time that "
        "people take."
    )
    if found["waiting_hours"]:
        from toryo.simulation.waiting import WAITS

        yield ""
        yield "Tasks wait, summed over all tasks, for:"
        for cause, each in sorted(found["waiting_hours"].items(), key=lambda item: -item[1])[:MOST_REASONS]:
            yield f"  {WAITS.get(cause, cause)}: {in_words(each)}"
    yield ""
    yield "Agents are busy:"
    for name, each in found["agents"].items():
        busy, learnt = each["hours"], each["learnt_from"]
        yield f"  {name}: {in_words(busy['low'])} to {in_words(busy['high'])} ({known(learnt)})"
    if found["accounts"]:
        yield ""
        yield "Quotas are used up, at the pace so far:"
        for each in found["accounts"]:
            yield f"  {each['account']} ({each['window']}): {output.clock(each['runs_dry_at'])}"
    if found["unfinished"]:
        yield ""
        yield f"Not everything was completed in {found['runs'] - found['runs_completed']} of {found['runs']} runs:"
        for each in found["unfinished"][:MOST_REASONS]:
            yield f"  {each['title']!r} ({each['status']}, {each['runs']} runs): {each['reason']}"


def _clock(now: float, hours: float) -> str:
    return output.clock((datetime.fromtimestamp(now, UTC) + timedelta(hours=hours)).isoformat())


def known(learnt: int) -> str:
    """Where the times of an agent come from. `learnt`: how many ends of its tasks were recorded."""
    from toryo.formats.simulation_format import USUAL_MINUTES

    return f"times of {learnt} tasks" if learnt else f"no recorded tasks: assumed {USUAL_MINUTES:g} min a task"


def in_words(hours: float) -> str:
    """Hours as people read them, to the minute."""
    return output.duration(60 * round(60 * hours))
