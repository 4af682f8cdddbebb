"""`toryo schedule …`: tasks that are created at certain times."""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Annotated, Any, Literal

import typer

from toryo.cli import clearing, edits, output, projects, shell_completion, task_lookup
from toryo.cli.command_context import Here, command
from toryo.cli.exit_codes import Misuse
from toryo.cli.task_options import (
    Accept,
    AcceptFile,
    AcceptReview,
    AgentType,
    Assignee,
    Context,
    Description,
    MaxFailures,
    Priority,
    Project,
    Status,
    given_acceptance,
    given_context,
)
from toryo.domain.schedules import LONGEST_CATCH_UP, LONGEST_INTERVAL, SHORTEST_INTERVAL
from toryo.domain.texts import one_line

group = typer.Typer(
    help="Create tasks at certain times, such as every night.", no_args_is_help=True, rich_markup_mode=None
)

SHOWN_RUNS = 10
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_DURATION = re.compile(r"([0-9]{1,6})\s*([smhdw])")

Id = Annotated[
    str, typer.Argument(metavar="SCHEDULE", help="Its id or its name.", autocompletion=shell_completion.schedules)
]
Cron = Annotated[
    str | None,
    typer.Option("--cron", metavar="EXPRESSION", help='When: a cron expression, such as "0 9 * * 1-5", or @daily.'),
]
Every = Annotated[
    str | None, typer.Option("--every", metavar="DURATION", help="An interval instead, such as 30m, 6h or 1d.")
]
Once = Annotated[
    str | None,
    typer.Option("--once", metavar="TIME", help='One time instead, such as "2027-01-31 09:30".'),
]
After = Annotated[
    str | None,
    typer.Option(
        "--after",
        metavar="TASK",
        help="Once, when this task of any project is completed, instead.",
        autocompletion=shell_completion.tasks,
    ),
]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        metavar="ZONE",
        help="The time zone of --cron, --once, {date} and {time} (default: this machine's).",
    ),
]
Overlap = Annotated[
    Literal["skip", "buffer_one", "allow_all", "cancel_other"] | None,
    typer.Option(
        "--overlap",
        metavar="skip|buffer_one|allow_all|cancel_other",
        help="What happens while an earlier task is open (default: skip).",
    ),
]
CatchUp = Annotated[
    str | None,
    typer.Option("--catch-up", metavar="DURATION", help="How long a missed time is made up for (default: 1d)."),
]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="schedule")


@command(group, "add")
def add_schedule(
    here: Here,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="The title of its tasks; {date} becomes the date.")
    ],
    project: Project = None,
    cron: Cron = None,
    every: Every = None,
    once: Once = None,
    after_task: After = None,
    time_zone: TimeZone = None,
    description: Description = None,
    assignee: Assignee = None,
    agent_type: AgentType = None,
    priority: Priority = None,
    status: Status = None,
    context: Context = None,
    accept: Accept = None,
    accept_file: AcceptFile = None,
    accept_review: AcceptReview = None,
    overlap: Overlap = None,
    catch_up: CatchUp = None,
    max_failures: MaxFailures = None,
) -> None:
    """Create a schedule. Its tasks are created with your rights."""
    body = {
        "name": name,
        **_rule(cron, every, once, _after(here, after_task), time_zone),
        "time_zone": time_zone or local_time_zone(),
        "title": title,
        "description": description,
        "assignee_id": assignee,
        "agent_type": agent_type,
        "priority": priority,
        "status": status,
        "context": given_context(context),
        "acceptance": given_acceptance(accept, accept_file, accept_review),
        "overlap": overlap,
        "catch_up_seconds": _seconds("--catch-up", catch_up, 0, LONGEST_CATCH_UP),
        "max_failures": max_failures,
    }
    answer = here.send("POST", f"/projects/{project or projects.only(here)}/schedules", body)
    made = answer["schedule"]
    here.answer(answer, lambda: output.done(f"created {made['schedule_id']}; {_next(made)}"))


@command(group, "list")
def list_schedules(
    here: Here,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="PRJ", help="Limit to this project.", autocompletion=shell_completion.projects
        ),
    ] = None,
) -> None:
    """List schedules, with their next time and their last run."""
    found = _every_schedule(here, project)
    rows = [
        (each["schedule_id"], each["name"], each["state"], _when(each), output.clock(each["next_at"]), _last(each))
        for each in found
    ]
    empty = 'No schedules yet. Create one: toryo schedule add NAME --cron "0 9 * * 1-5" --title TEXT'
    here.answer(
        {"success": True, "schedules": found},
        lambda: output.table(("ID", "NAME", "STATE", "WHEN", "NEXT", "LAST RUN"), rows, empty=empty),
    )


@command(group, "show")
def show_schedule(here: Here, schedule: Id) -> None:
    """Show a schedule, its next times and its last runs."""
    answer = here.get(f"/schedules/{_id(here, schedule)}")
    found = answer["schedule"]
    runs = here.get(f"/schedules/{found['schedule_id']}/runs", limit=SHOWN_RUNS)["runs"]
    here.answer({**answer, "runs": runs}, lambda: _print(found, runs))


@command(group, "edit")
def edit_schedule(
    here: Here,
    schedule: Id,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Its new name.")] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The new title of its tasks.")] = None,
    cron: Cron = None,
    every: Every = None,
    once: Once = None,
    after_task: After = None,
    time_zone: Annotated[
        str | None,
        typer.Option(
            "--time-zone", metavar="ZONE", help="The new time zone of its cron expression, --once, {date} and {time}."
        ),
    ] = None,
    description: Description = None,
    assignee: Assignee = None,
    agent_type: AgentType = None,
    priority: Priority = None,
    status: Status = None,
    context: Context = None,
    accept: Accept = None,
    accept_file: AcceptFile = None,
    accept_review: AcceptReview = None,
    overlap: Overlap = None,
    catch_up: CatchUp = None,
    max_failures: MaxFailures = None,
    clear: clearing.OfSchedule = None,
) -> None:
    """Change a schedule. From then on its tasks are created with your rights."""
    body = {
        "name": name,
        **_rule(cron, every, once, _after(here, after_task), time_zone),
        "time_zone": time_zone,
        "title": title,
        "description": description,
        "assignee_id": assignee,
        "agent_type": agent_type,
        "priority": priority,
        "status": status,
        "context": given_context(context),
        "acceptance": given_acceptance(accept, accept_file, accept_review),
        "overlap": overlap,
        "catch_up_seconds": _seconds("--catch-up", catch_up, 0, LONGEST_CATCH_UP),
        "max_failures": max_failures,
    }
    body = clearing.cleared("schedule", clear, body)
    if not any(each is not None for each in body.values()):
        raise Misuse("Nothing to change.", "See `toryo schedule edit --help`.")
    schedule_id = _id(here, schedule)
    before = here.get(f"/schedules/{schedule_id}")["schedule"]
    answer = here.send("PATCH", f"/schedules/{schedule_id}", body)
    after = answer["schedule"]
    here.answer(answer, lambda: output.done(f"{edits.told(schedule_id, before, after)}; {_next(after)}"))


@command(group, "pause")
def pause_schedule(
    here: Here,
    schedule: Id,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="The reason, for others to see.")
    ] = None,
) -> None:
    """Pause a schedule. Times that come meanwhile are not made up for."""
    answer = here.send("POST", f"/schedules/{_id(here, schedule)}/pause", {"reason": reason})
    here.answer(answer, lambda: output.done(f"paused {answer['schedule']['schedule_id']}"))


@command(group, "resume")
def resume_schedule(here: Here, schedule: Id) -> None:
    """Resume a schedule that was paused or has stopped itself."""
    answer = here.send("POST", f"/schedules/{_id(here, schedule)}/resume")
    resumed = answer["schedule"]
    here.answer(answer, lambda: output.done(f"resumed {resumed['schedule_id']}; {_next(resumed)}"))


@command(group, "run")
def run_schedule(here: Here, schedule: Id) -> None:
    """Create a schedule's task now. Does so too if it is paused or an earlier task is open."""
    answer = here.send("POST", f"/schedules/{_id(here, schedule)}/run")
    here.answer(answer, lambda: output.done(f"created {answer['task_id']}"))


@command(group, "delete")
def delete_schedule(here: Here, schedule: Id) -> None:
    """Delete a schedule and its history. Its tasks stay."""
    answer = here.send("DELETE", f"/schedules/{_id(here, schedule)}")
    here.answer(answer, lambda: output.done(f"deleted {answer['schedule_id']}; its tasks stay"))


# --- what is typed ---------------------------------------------------------------------------------------------------


def local_time_zone() -> str:
    """The name of this machine's time zone, or UTC where it has none."""
    named = os.environ.get("TZ", "").lstrip(":")
    linked = os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    return next((each for each in (named, linked) if _known_zone(each)), "UTC")


def _known_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo

    try:
        return bool(name) and ZoneInfo(name) is not None
    except (KeyError, ValueError, OSError):
        return False


def _rule(
    cron: str | None, every: str | None, once: str | None, after: str | None, time_zone: str | None
) -> dict[str, Any]:
    if sum(each is not None for each in (cron, every, once, after)) > 1:
        raise Misuse("--cron, --every, --once and --after exclude each other.", "Give one of them.")
    return {
        "cron": cron,
        "every_seconds": _seconds("--every", every, SHORTEST_INTERVAL, LONGEST_INTERVAL),
        "once_at": _instant(once, time_zone),
        "after_task_id": after,
    }


def _after(here: Here, task: str | None) -> str | None:
    return task_lookup.task(here, task) if task is not None else None


def _seconds(option: str, given: str | None, least: int, most: int) -> int | None:
    if given is None:
        return None
    found = _DURATION.fullmatch(given.strip())
    if found is None and given.strip() != "0":
        raise Misuse(f"{option}: {given!r} is not a duration.", "Give a number and a unit: 30m, 6h, 1d or 2w.")
    seconds = int(found[1]) * _UNITS[found[2]] if found is not None else 0
    if not least <= seconds <= most:
        bound = f"at least {output.duration(least)}" if seconds < least else f"at most {output.duration(most)}"
        raise Misuse(f"{option} must be {bound} (given: {given.strip()}).", "See `toryo schedule add --help`.")
    return seconds


def _instant(given: str | None, time_zone: str | None) -> str | None:
    """A time without an offset is on the clock of that zone, or of this machine."""
    from zoneinfo import ZoneInfo

    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given.strip())
        if moment.tzinfo is None and time_zone is not None and _known_zone(time_zone):  # the server refuses others
            moment = moment.replace(tzinfo=ZoneInfo(time_zone))
        return moment.astimezone().isoformat()
    except (ValueError, OverflowError):
        raise Misuse(
            f"--once: {given!r} is not a time.",
            'Example: "2027-01-31 09:30", or with an offset 2027-01-31T09:30+01:00.',
        ) from None


def _every_schedule(here: Here, project: str | None) -> list[dict[str, Any]]:
    names = [project] if project else projects.active(here)
    return [each for name in names for each in here.get(f"/projects/{name}/schedules")["schedules"]]


def _id(here: Here, given: str) -> str:
    """The id of what was typed: an id, or the name of one schedule."""
    if given.startswith("sch_"):
        return given
    named = [each for each in _every_schedule(here, None) if each["name"].casefold() == given.casefold()]
    if len(named) > 1:
        ids = ", ".join(each["schedule_id"] for each in named)
        raise Misuse(f"Several schedules are called {given!r}: {ids}.", "Give the id of one.")
    return str(named[0]["schedule_id"]) if named else given


# --- what is shown ---------------------------------------------------------------------------------------------------


def _when(schedule: dict[str, Any]) -> str:
    if schedule["cron"] is not None:
        return f"{schedule['cron']} ({schedule['time_zone']})"
    if schedule["every_seconds"] is not None:
        return f"every {output.duration(schedule['every_seconds'])}"
    if schedule["after_task_id"] is not None:
        return f"after {schedule['after_task_id']}"
    return f"once, {output.clock(schedule['once_at'])}"


def _next(schedule: dict[str, Any]) -> str:
    if schedule["next_at"]:
        return f"next: {output.clock(schedule['next_at'])}"
    if schedule["after_task_id"] is not None and schedule["state"] == "active":
        return f"it comes when {schedule['after_task_id']} is completed"
    return f"it is {schedule['state']}"


def _last(schedule: dict[str, Any]) -> str:
    run = schedule["last_run"]
    return "" if run is None else f"{output.clock(run['scheduled_at'])} {_outcome(run)}"


def _outcome(run: dict[str, Any]) -> str:
    """What became of a time, in a few words."""
    if run["task_id"]:
        return f"{run['task_id']} {run['task_status']}"
    times = f", {run['times']} times" if run["times"] > 1 else ""
    told = {
        "buffered": "waits until its task can be created",
        "skipped": "skipped: an earlier task was open",
        "coalesced": "a later time was made up for",
        "missed": "missed: longer ago than the catch-up window",
        "refused": f"failed: {one_line(run['reason'] or '')}",
    }
    return f"{told[run['outcome']]}{times}"


def _print(schedule: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    task = schedule["task"]
    whom = task["assignee_id"] or (f"queue {task['agent_type']}" if task["agent_type"] else "nobody")
    state = schedule["state"] + (f": {one_line(schedule['reason'])}" if schedule["reason"] else "")
    output.fields(
        {
            "schedule_id": schedule["schedule_id"],
            "name": schedule["name"],
            "project": schedule["project_id"],
            "state": state,
            "when": _when(schedule),
            "time zone": schedule["time_zone"] if schedule["cron"] is None else None,
            "next": ", ".join(output.clock(each["at"]) for each in schedule["next_times"]),
            "waiting since": output.clock(schedule["buffered_at"]),
            "task": task["title"],
            "description": task["description"],
            "for": whom,
            "priority": task["priority"],
            "begins in": task["status"],
            "context": task["context"],
            "acceptance": task["acceptance"],
            "overlap": schedule["overlap"],
            "catch-up": output.duration(schedule["catch_up_seconds"]) if schedule["catch_up_seconds"] else "none",
            "max failures": str(schedule["max_failures"] or "none"),
            "failures in a row": schedule["failures"] or None,
            "runs as": schedule["runs_as"],
            "tasks created": schedule["runs"],
        }
    )
    if runs:
        rows = [(output.clock(each["scheduled_at"]), _outcome(each), _by(each)) for each in runs]
        output.table(("RUN", "OUTCOME", ""), rows, empty="")


def _by(run: dict[str, Any]) -> str:
    return f"run by {run['started_by']}" if run["started_by"] else ""
