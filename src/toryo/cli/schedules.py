"""`toryo schedule …`: tasks that are created at certain times. What webhooks have, too, is in `sources.py`."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import Annotated, Any, Literal

import typer

from toryo.cli import clearing, output, shell_completion
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Misuse
from toryo.cli.from_operations import Read, sends
from toryo.cli.sources import NEW_NAME, NEW_TITLE, MaxFailures, Name, OfProject, Reason, Source
from toryo.cli.task_options import OF_SOURCE, Project, instant
from toryo.domain.schedules import LONGEST_CATCH_UP, LONGEST_INTERVAL, SHORTEST_INTERVAL
from toryo.domain.texts import one_line

group = typer.Typer(
    help="Create tasks at certain times, such as every night.", no_args_is_help=True, rich_markup_mode=None
)

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_DURATION = re.compile(r"([0-9]{1,6})\s*([smhdw])")

Id = Annotated[str, argument("SCHEDULE", "Its id or its name.", complete=shell_completion.schedules)]


def _seconds(option: str, least: int, most: int, given: str | None) -> int | None:
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


_WHEN = {
    "cron": option("EXPRESSION", 'When: a cron expression, such as "0 9 * * 1-5", or @daily.'),
    "every_seconds": Read(
        partial(_seconds, "--every", SHORTEST_INTERVAL, LONGEST_INTERVAL),
        every=option("DURATION", "An interval instead, such as 30m, 6h or 1d."),
    ),
    "once_at": option("TIME", 'One time instead, such as "2027-01-31 09:30".'),
    "after_task_id": option(
        "TASK",
        "Once, when this task of any project is completed, instead.",
        "--after",
        complete=shell_completion.tasks,
    ),
}
"""One of these."""
_SENT = {
    **OF_SOURCE,
    "overlap": Annotated[
        Literal["skip", "buffer_one", "allow_all", "cancel_other"] | None,
        option(
            "skip|buffer_one|allow_all|cancel_other",
            "What happens while an earlier task is open (default: skip).",
        ),
    ],
    "catch_up_seconds": Read(
        partial(_seconds, "--catch-up", 0, LONGEST_CATCH_UP),
        catch_up=option("DURATION", "How long a missed time is made up for (default: 1d)."),
    ),
    "max_failures": MaxFailures,
}


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="schedule")


@command(group, "add")
@sends(
    "add_schedule",
    name=Name,
    title=Annotated[str, option("TEXT", "The title of its tasks; {date} becomes the date.")],
    project_id=Project,
    **_WHEN,
    time_zone=option("ZONE", "The time zone of --cron, --once, {date} and {time} (default: this machine's)."),
    **_SENT,
)
def add_schedule(here: Here, body: dict[str, Any]) -> None:
    """Create a schedule. Its tasks are created with your rights."""
    answer = SCHEDULES.add(here, {"time_zone": local_time_zone(), **_timed(body)})
    made = answer["schedule"]
    here.answer(answer, lambda: output.done(f"created {made['schedule_id']}{_then(made)}"))


@command(group, "list")
def list_schedules(here: Here, project: OfProject = None) -> None:
    """List schedules, with their next time and their last run."""
    SCHEDULES.print_all(
        here,
        project,
        ("WHEN", "NEXT", "LAST RUN"),
        lambda each: (_when(each), output.clock(each["next_at"]), _last(each)),
        'No schedules yet. Create one: toryo schedule add NAME --cron "0 9 * * 1-5" --title TEXT',
    )


@command(group, "show")
def show_schedule(here: Here, schedule: Id) -> None:
    """Show a schedule, its next times and its last runs."""
    SCHEDULES.show(here, schedule, "runs", _print)


@command(group, "edit")
@sends(
    "edit_schedule",
    name=NEW_NAME,
    title=NEW_TITLE,
    **_WHEN,
    time_zone=option("ZONE", "The new time zone of its cron expression, --once, {date} and {time}."),
    **_SENT,
)
def edit_schedule(here: Here, schedule: Id, body: dict[str, Any], clear: clearing.OfSchedule = None) -> None:
    """Change a schedule. From then on its tasks are created with your rights."""
    SCHEDULES.edit(here, schedule, clear, _timed(body))


@command(group, "pause")
def pause_schedule(here: Here, schedule: Id, reason: Reason = None) -> None:
    """Pause a schedule. Times that come meanwhile are not made up for."""
    SCHEDULES.pause(here, schedule, reason)


@command(group, "resume")
def resume_schedule(here: Here, schedule: Id) -> None:
    """Resume a schedule that was paused or has stopped itself."""
    SCHEDULES.resume(here, schedule)


@command(group, "run")
def run_schedule(here: Here, schedule: Id) -> None:
    """Create a schedule's task now. Does so too if it is paused or an earlier task is open."""
    answer = here.send("POST", SCHEDULES.path(here, schedule, "/run"))
    here.answer(answer, lambda: output.done(f"created {answer['task_id']}"))


@command(group, "delete")
def delete_schedule(here: Here, schedule: Id) -> None:
    """Delete a schedule and its history. Its tasks stay."""
    SCHEDULES.delete(here, schedule)


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


def _timed(body: dict[str, Any]) -> dict[str, Any]:
    """With the time of --once as the server takes it. Raises Misuse."""
    if len(body.keys() & _WHEN.keys()) > 1:
        raise Misuse("--cron, --every, --once and --after exclude each other.", "Give one of them.")
    once = {"once_at": _instant(body["once_at"], body.get("time_zone"))} if "once_at" in body else {}
    return body | once


def _instant(given: str, time_zone: str | None) -> str:
    known = time_zone is not None and _known_zone(time_zone)  # the server refuses others
    return instant("--once", given, time_zone if known else None)


# --- what is shown ---------------------------------------------------------------------------------------------------


def _when(schedule: dict[str, Any]) -> str:
    if schedule["cron"] is not None:
        return f"{schedule['cron']} ({schedule['time_zone']})"
    if schedule["every_seconds"] is not None:
        return f"every {output.duration(schedule['every_seconds'])}"
    if schedule["after_task_id"] is not None:
        return f"after {schedule['after_task_id']}"
    return f"once, {output.clock(schedule['once_at'])}"


def _then(schedule: dict[str, Any]) -> str:
    if schedule["next_at"]:
        return f"; next: {output.clock(schedule['next_at'])}"
    if schedule["after_task_id"] is not None and schedule["state"] == "active":
        return f"; it comes when {schedule['after_task_id']} is completed"
    return f"; it is {schedule['state']}"


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


SCHEDULES = Source("schedule", "sch_", _then)


def _print(schedule: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    trigger = {
        "when": _when(schedule),
        "time zone": schedule["time_zone"] if schedule["cron"] is None else None,
        "next": ", ".join(output.clock(each["at"]) for each in schedule["next_times"]),
        "waiting since": output.clock(schedule["buffered_at"]),
    }
    policies = {
        "overlap": schedule["overlap"],
        "catch-up": output.duration(schedule["catch_up_seconds"]) if schedule["catch_up_seconds"] else "none",
    }
    SCHEDULES.print(schedule, trigger, policies, schedule["runs"])
    if runs:
        rows = [(output.clock(each["scheduled_at"]), _outcome(each), _by(each)) for each in runs]
        output.table(("RUN", "OUTCOME", ""), rows, empty="")


def _by(run: dict[str, Any]) -> str:
    return f"run by {run['started_by']}" if run["started_by"] else ""
