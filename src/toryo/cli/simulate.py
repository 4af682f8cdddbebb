"""`toryo simulate`: plays a team on the real operations with a virtual clock, and prints what it would do and cost."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toryo.cli import output, task_lookup
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.events import pages
from toryo.cli.exit_codes import Misuse, missing_file

if TYPE_CHECKING:
    from toryo.cli.manifest import Manifest
    from toryo.formats.simulation_format import Simulation
    from toryo.simulation.recording import Recorded
    from toryo.simulation.results import Results

DATABASE = "toryo.db"


def add(app: typer.Typer) -> None:
    command(app, "simulate")(simulate)


def simulate(
    here: Here,
    files: Annotated[list[Path], argument("FILE...", "One or more teams (toryo.yaml).")],
    seed: Annotated[
        int | None, option("N", "Of chance; the same one gives the same run.", min=0, max=2**53 - 1)
    ] = None,
    recorded: Annotated[
        str | None,
        option(
            "RUN",
            "Take times, failures and costs from a recorded run: a data directory, a file of `toryo export "
            "events`, or a project of the server.",
            "--from",
        ),
    ] = None,
    keep: Annotated[Path | None, option("DIR", "Keep the database, to look at the run with toryo server.")] = None,
) -> None:
    """Simulate a team without starting a program. Shows starts, calls, tokens, cost and waiting times. Several files
    are compared side by side. How its agents behave is in the section `simulation:` of the file."""
    if keep is not None and len(files) > 1:
        raise Misuse("--keep is for one file.", "Simulate the files one by one.")
    if keep is not None and keep.exists() and not keep.is_dir():
        raise Misuse(f"{keep} is not a directory.", "Choose another one.")
    if keep is not None and (keep / DATABASE).exists():
        raise Misuse(f"{keep} already contains a database.", "Choose another directory.")
    known = _recorded(here, recorded) if recorded is not None else None
    runs = [_play(file, seed, known, keep) for file in files]
    document = {"success": True, "runs": [each.document for each in runs]}
    here.answer(document, lambda: output.done(*_lines_of(runs, keep)))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    import sqlite3

    try:
        yield
    except (OSError, sqlite3.Error) as wrong:
        words = wrong.strerror if isinstance(wrong, OSError) and wrong.strerror else wrong
        raise Misuse(
            f"{path} cannot be written: {words}", "Choose another place, or check who may write there."
        ) from None


# --- playing ---------------------------------------------------------------------------------------------------------


def _play(file: Path, seed: int | None, known: Mapping[str, Recorded] | None, keep: Path | None) -> Results:
    from toryo.cli import manifest as manifests
    from toryo.cli import simulated_server
    from toryo.simulation import keeping, results
    from toryo.simulation.run import BEGINS_AT, Run, Unfit
    from toryo.simulation.virtual_time import StandsStill
    from toryo.simulation.world import World, quiet

    if not file.is_file():
        raise missing_file(file, "Pass the path of a toryo.yaml, or create one with `toryo init`.")
    team = manifests.noted(file, after="")
    simulation = _simulation(team)
    if known is not None:
        from toryo.simulation import recording

        simulation = recording.apply(simulation, known, {agent.id: agent.role for agent in team.agents})
    seed = simulation.seed if seed is None else seed
    begins_at = BEGINS_AT if keep is None else _lately(simulation.hours)
    with quiet():
        world = World(begins_at, seed)
        try:
            simulated_server.apply(world, team)
            run = Run(world, simulation, simulated_server.programs(team), seed)
            run.run()
            found = results.results_of(run, _name(file))
            if keep is not None:
                with _writing(keep):
                    keeping.keep(run, keep / DATABASE)
        except Unfit as unfit:
            team.note(("simulation", "arrivals", unfit.place), f"simulation.arrivals[{unfit.place}]: {unfit}")
            team.fail_if_mistaken()
            raise
        except StandsStill as still:
            raise Misuse(f"{file}: {still}", "Give the agents more start_seconds, call_seconds or minutes.") from None
        finally:
            world.close()
    return found


def _name(file: Path) -> str:
    """How people tell the files apart: most are called toryo.yaml, in directories with names."""
    return file.resolve().parent.name if file.name == "toryo.yaml" else file.stem


def _simulation(team: Manifest) -> Simulation:
    """The section of the file; what it names must be in the file."""
    from toryo.formats import yaml_documents
    from toryo.formats.simulation_format import Simulation

    simulation = team.simulation or Simulation()
    agents = [agent.id for agent in team.agents]
    projects = [name for project in team.projects for name in (project.id, project.name) if name]
    for name in simulation.agents:
        if name not in agents:
            hint = yaml_documents.hint(name, agents)
            team.note(("simulation", "agents", name), f"simulation.agents: there is no agent {name!r}; {hint}")
    for number, arrival in enumerate(simulation.arrivals):
        for key, name, valid in (("assignee", arrival.assignee, agents), ("project", arrival.project, projects)):
            if name not in valid:
                at = ("simulation", "arrivals", number, key)
                what = "agent" if key == "assignee" else "project"
                hint = yaml_documents.hint(name, valid) if valid else "there are none in this file."
                team.note(at, f"simulation.arrivals[{number}].{key}: there is no {what} {name!r}; {hint}")
        _check_member(team, ("simulation", "arrivals", number, "assignee"), arrival.assignee, arrival.project)
    for task in team.tasks:
        if task.assignee is not None and not task_lookup.is_anyone(task.assignee):
            _check_member(team, (*task.where, "assignee"), task.assignee, task.project)
    team.fail_if_mistaken()
    return simulation


def _check_member(team: Manifest, at: tuple[str | int, ...], agent_id: str, name: str) -> None:
    """Who gets a task must be a member of its project, which the file says of the agent."""
    agent = next((agent for agent in team.agents if agent.id == agent_id), None)
    project = team.project_of(name)
    if (
        agent is not None
        and project is not None
        and not any(team.project_of(each) is project for each in agent.projects)
    ):
        from toryo.formats import yaml_documents

        words = f"{agent_id} is not a member of the project {name}; add it to projects of the agent"
        team.note(at, f"{yaml_documents.place(at)}{words}")


def _lately(hours: float) -> int:
    """08:00 UTC of a day that is over by now, so that a dashboard shows the run in the past."""
    from toryo.domain.times import DAY, HOUR

    latest = int(time.time() * 1000) - int(hours * HOUR)
    morning = latest - latest % DAY + 8 * HOUR
    return morning if morning <= latest else morning - DAY


# --- a recorded run --------------------------------------------------------------------------------------------------


def _recorded(here: Here, name: str) -> Mapping[str, Recorded]:
    """Of a data directory, of a file with events, or of a project of the server."""
    from toryo.simulation import recording

    path = Path(name).expanduser()
    if (path / DATABASE).is_file():
        return _of_directory(path)
    if path.is_file():
        return recording.read(_lines(path))
    if path.exists():
        raise Misuse(f"{path} contains no {DATABASE}.", "Pass a data directory, a file of events, or a project.")
    return recorded_of_project(here, name)


def recorded_of_project(here: Here, name: str) -> Mapping[str, Recorded]:
    """What a project of the server has recorded, by agent."""
    from toryo.simulation import recording

    here.get(f"/projects/{name}")
    usage = here.get("/usage", project_id=name, by=["agent"])
    return recording.read(_events(here, project_id=name), usage["rows"])


def _events(here: Here, **wanted: Any) -> Iterator[dict[str, Any]]:
    for page in pages(lambda after: here.get("/events", after=after, limit=1000, **wanted)):
        yield from page["events"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            event = _event(line)
            if event is None:
                raise Misuse(
                    f"{path}:{number}: this is not an event.", "Create the file with: toryo export events --output FILE"
                )
            yield event


def _event(line: bytes) -> dict[str, Any] | None:
    """None if it is not one."""
    from toryo.simulation.waiting import seconds_of

    try:
        event: dict[str, Any] = json.loads(line)
        seconds_of(event["at"])
        named = all(isinstance(event.get(key), str | None) for key in ("agent_id", "actor_id", "launch_id"))
        return event if named and isinstance(event["kind"], str) and isinstance(event["data"], dict) else None
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None


def _of_directory(path: Path) -> Mapping[str, Recorded]:
    """A copy of its database is read: the server may be running."""
    from toryo.cli.simulated_server import Inside
    from toryo.simulation import recording
    from toryo.simulation.run import BEGINS_AT
    from toryo.simulation.world import World, quiet
    from toryo.storage.errors import DatabaseUnavailable

    with quiet():
        try:
            world = World(BEGINS_AT, 0, copied_from=path / DATABASE)
        except DatabaseUnavailable as error:
            raise Misuse(error.message, error.instruction) from None
        try:
            here = Inside(world=world)
            usage = here.get("/usage", by=["agent"])
            return recording.read(_events(here), usage["rows"])
        finally:
            world.close()


# --- what is said ----------------------------------------------------------------------------------------------------


def _lines_of(runs: Sequence[Results], keep: Path | None) -> list[str]:
    from toryo.simulation.rows import rows as rows_of_agents
    from toryo.simulation.waiting import WAITS

    rows = [("", [each.document["name"] for each in runs])]
    rows += [(name, [read(each.document) for each in runs]) for name, read in _LINES]
    for cause, words in WAITS.items():
        minutes = [each.document["waiting_minutes"].get(cause, 0.0) for each in runs]
        if any(minutes):
            rows.append((f"waiting: {words}", [f"{each:.0f} min" for each in minutes]))
    later = [each.document["tasks"]["not_due"] for each in runs]
    if any(later):
        rows.insert(6, ("tasks due after the end", [str(each) for each in later]))
    for guard in dict.fromkeys(guard for each in runs for guard in each.document["guards"]):
        rows.append((f"guard: {guard}", [str(each.document["guards"].get(guard, 0)) for each in runs]))
    first = max(len(name) for name, _ in rows)
    widths = [max(len(row[column]) for _, row in rows) for column in range(len(runs))]
    lines = [
        f"{name:<{first}}  " + "  ".join(f"{each:>{width}}" for each, width in zip(row, widths, strict=True))
        for name, row in rows
    ]
    width = min(140, shutil.get_terminal_size().columns)
    for each in runs:
        lines += ["", *([each.document["name"]] if len(runs) > 1 else []), *rows_of_agents(each, width)]
        if each.document["unfinished"]:
            lines += ["", "Not completed:", *_told_unfinished(each.document["unfinished"])]
    if keep is not None:
        lines += [
            "",
            f"To look at this run: {output.program()} server --data-dir {shlex.quote(str(keep))}",
            "Its projects are paused: nothing of it goes on.",
        ]
    return lines


def _told_unfinished(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """`3 blocked, such as “Wing 1”: The reason.`"""
    lines = [
        f"  {each['tasks']} {_STATUSES[each['status']]}, such as “{each['example']}”: {each['reason']}"
        if each["tasks"] > 1
        else f"  “{each['example']}” ({_STATUSES[each['status']]}): {each['reason']}"
        for each in found[:MOST_REASONS]
    ]
    if len(found) > MOST_REASONS:
        lines.append(f"  and {len(found) - MOST_REASONS} more reasons (--json shows all)")
    return lines


def _by_role(found: Mapping[str, int]) -> str:
    """`101 manager, 187 worker`"""
    return ", ".join(f"{_number(number)} {role}" for role, number in found.items())


def _number(value: float) -> str:
    return f"{value / 1e6:.1f}M" if value >= 1e6 else f"{value:,.0f}"


MOST_REASONS = 8
"""How many reasons why tasks were not completed are printed."""
_STATUSES = {
    "backlog": "in the backlog",
    "todo": "to do",
    "in_progress": "in progress",
    "blocked": "blocked",
    "failed": "failed",
}
_ENDED = {
    "done": "all tasks are done",
    "no_tasks": "there are no tasks (add tasks: or simulation.arrivals:)",
    "hours": "its hours are over",
    "standstill": "nothing starts any longer",
}
_LINES: tuple[tuple[str, Any], ...] = (
    ("time", lambda each: f"{each['hours']:.2f} h"),
    ("ended because", lambda each: _ENDED[each["ended"]]),
    ("tasks completed", lambda each: str(each["tasks"]["completed"])),
    ("tasks failed", lambda each: str(each["tasks"]["failed"])),
    ("tasks open", lambda each: str(each["tasks"]["open"])),
    ("starts", lambda each: str(each["starts"]["total"])),
    ("  by role", lambda each: _by_role(each["starts"]["by_role"])),
    ("  without effect", lambda each: str(each["starts"]["idle"])),
    ("calls", lambda each: _number(each["calls"]["total"])),
    ("  by role", lambda each: _by_role(each["calls"]["by_role"])),
    ("  refused", lambda each: str(each["calls"]["refused"])),
    ("tokens", lambda each: _number(each["tokens"]["total"])),
    ("  by role", lambda each: _by_role(each["tokens"]["by_role"])),
    ("cost", lambda each: f"${each['dollars']:.2f}"),
)
