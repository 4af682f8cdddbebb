"""`toryo simulate`: plays a team on the real operations with a virtual clock, and prints what it would do and cost."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, command
from toryo.cli.events import pages
from toryo.cli.exit_codes import Misuse, missing

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
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="One or more teams (toryo.yaml).")],
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Of chance; the same one gives the same run.")
    ] = None,
    recorded: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Take times, failures and costs from a recorded run: a data directory, a file of `toryo export "
            "events`, or a project of the server.",
        ),
    ] = None,
    gantt: Annotated[
        Path | None, typer.Option("--gantt", metavar="FILE", help="Write a picture of the run as SVG.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Keep the database, to look at the run with toryo server."),
    ] = None,
) -> None:
    """Simulate a team without starting a program. Shows starts, calls, tokens, cost and waiting times. Several files
    are compared side by side. How its agents behave is in the section `simulation:` of the file."""
    if keep is not None and len(files) > 1:
        raise Misuse("--keep is for one file.", "Simulate the files one by one.")
    if keep is not None and (keep / DATABASE).exists():
        raise Misuse(f"{keep} already contains a database.", "Choose another directory.")
    if gantt is not None and not gantt.absolute().parent.is_dir():
        raise Misuse(f"There is no directory {gantt.parent}.", "Create it first, or choose another file.")
    known = _recorded(here, recorded) if recorded is not None else None
    runs = [_play(file, seed, known, keep) for file in files]
    if gantt is not None:
        from toryo.simulation import gantt as pictures

        gantt.write_text(pictures.svg(runs), encoding="utf-8")
    document = {"success": True, "runs": [each.document for each in runs]}
    here.answer(document, lambda: output.done(*_told(runs, gantt, keep)))


# --- playing ---------------------------------------------------------------------------------------------------------


def _play(file: Path, seed: int | None, known: Mapping[str, Recorded] | None, keep: Path | None) -> Results:
    from toryo.cli import manifest as manifests
    from toryo.cli import simulated_server
    from toryo.simulation import results
    from toryo.simulation.run import BEGINS_AT, Run
    from toryo.simulation.world import World, quiet

    if not file.is_file():
        raise missing(file, "Pass the path of a toryo.yaml, or create one with `toryo init`.")
    team = manifests.noted(file)
    simulation = _simulation(team)
    if known is not None:
        from toryo.simulation import recording

        simulation = recording.applied(simulation, known, {agent.id: agent.role for agent in team.agents})
    seed = simulation.seed if seed is None else seed
    begins_at = BEGINS_AT if keep is None else _lately(simulation.hours)
    with quiet():
        world = World(begins_at, seed)
        try:
            simulated_server.apply(world, team)
            agents = {agent.id: {"role": agent.role} for agent in team.agents if agent.kind == "ai"}
            run = Run(world, simulation, agents, seed)
            run.run()
            found = results.of(run, _name(file))
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True, mode=0o700)
                world.database.save(keep / DATABASE)
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
    team.fail_if_mistaken()
    return simulation


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
    here.get(f"/projects/{name}")
    usage = here.get("/usage", project_id=name, by=["agent"])
    return recording.read(_events(here, project_id=name), usage["rows"])


def _events(here: Here, **wanted: Any) -> Iterator[dict[str, Any]]:
    for page in pages(lambda after: here.get("/events", after=after, limit=1000, **wanted)):
        yield from page["events"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                event = json.loads(line)
                if not {"kind", "at", "agent_id", "data"} <= event.keys():
                    raise ValueError
            except (ValueError, AttributeError):
                raise Misuse(
                    f"{path}:{number}: this is not an event.", "Create the file with: toryo export events --output FILE"
                ) from None
            yield event


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


def _told(runs: Sequence[Results], gantt: Path | None, keep: Path | None) -> list[str]:
    from toryo.simulation import gantt as pictures
    from toryo.simulation.results import WAITS

    rows = [("", [each.document["name"] for each in runs])]
    rows += [(name, [read(each.document) for each in runs]) for name, read in _LINES]
    for cause, words in WAITS.items():
        minutes = [each.document["waiting_minutes"].get(cause, 0.0) for each in runs]
        if any(minutes):
            rows.append((f"waiting: {words}", [f"{each:.0f} min" for each in minutes]))
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
        lines += ["", *([each.document["name"]] if len(runs) > 1 else []), *pictures.text(each, width)]
    if gantt is not None:
        lines += ["", f"picture: {gantt}"]
    if keep is not None:
        lines += ["", f"To look at this run: {output.program()} server --data-dir {shlex.quote(str(keep))}"]
    return lines


def _by_role(found: Mapping[str, int]) -> str:
    """`101 manager, 187 worker`"""
    return ", ".join(f"{_number(number)} {role}" for role, number in found.items())


def _number(value: float) -> str:
    return f"{value / 1e6:.1f}M" if value >= 1e6 else f"{value:,.0f}"


_ENDED = {"done": "all tasks are done", "hours": "its hours are over", "standstill": "nothing starts any longer"}
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
