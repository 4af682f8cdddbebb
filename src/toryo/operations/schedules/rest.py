"""Schedules as people create, read, change, pause and run them. REST and CLI.

Who changes a schedule last is the person it runs as: nobody gives it more than their own rights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, AwareDatetime, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from toryo import clearable_fields
from toryo.deeds import deed
from toryo.domain import ids, schedules
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.schedules import Overlap, Run, Schedule
from toryo.domain.sources import MOST, USUAL_FAILURES, State, in_state
from toryo.domain.times import Millis, iso, iso_or_none, of_datetime
from toryo.domain.wording import say
from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import LONGEST_TEXT, LONGEST_TITLE, Id, Lines, Name, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.schedules import recurrence, runs, sources
from toryo.operations.schedules.recurrence import NotARule, Rule
from toryo.operations.schedules.sources import ScheduledTask
from toryo.storage.sources import NEWEST

USUAL = 50
"""Runs of a page."""
SHOWN_TIMES = 5
_KINDS = ("cron", "every_seconds", "once_at", "after_task_id")
"""What says when: exactly one of these."""
_OUTCOMES = Literal["created", "buffered", "skipped", "coalesced", "missed", "refused"]


def _time_zone(name: str) -> str:
    if name not in recurrence.time_zones():
        raise PydanticCustomError("time_zone", "must be the name of a time zone, such as Europe/Berlin")
    return name


_LAST_YEAR = 9998
"""A later time has no date on every clock."""


def _in_reach(moment: datetime) -> datetime:
    if moment.year > _LAST_YEAR:
        raise PydanticCustomError("once_at", "must be before the year 9999")
    return moment


Once = Annotated[AwareDatetime, AfterValidator(_in_reach)]
TimeZone = Annotated[str, Field(max_length=64), AfterValidator(_time_zone)]
Cron = Annotated[str, Field(min_length=1, max_length=schedules.LONGEST_CRON, pattern=r"\S")]
Interval = Annotated[int, Field(ge=schedules.SHORTEST_INTERVAL, le=schedules.LONGEST_INTERVAL)]
CatchUp = Annotated[int, Field(ge=0, le=schedules.LONGEST_CATCH_UP)]
Failures = Annotated[int, Field(ge=0, le=1_000)]
GivenOverlap = Literal["skip", "buffer_one", "allow_all", "cancel_other"]


class ScheduleRun(TypedDict):
    """What became of a time; of `times` in a row with this outcome it is the last. `task_status`: its task's status
    now."""

    run_id: str
    scheduled_at: str
    at: str
    outcome: _OUTCOMES
    times: int
    task_id: str | None
    reason: str | None
    started_by: str | None
    task_status: schemas.StatusName | None


class NextTime(TypedDict):
    """`local`: on the clock of the time zone, such as 2026-01-31 09:30."""

    at: str
    local: str


class ShownSchedule(TypedDict):
    """One of `cron`, `every_seconds`, `once_at` and `after_task_id` says when; what comes after a task has the time at
    which it came as `once_at`, too. `buffered_at`: the time of a run that waits until its
    task can be created. `failures`: runs that failed in a row. `next_times` only where one schedule is shown."""

    schedule_id: str
    project_id: str
    name: str
    cron: str | None
    every_seconds: int | None
    once_at: str | None
    after_task_id: str | None
    time_zone: str
    overlap: GivenOverlap
    catch_up_seconds: int
    max_failures: int
    task: ScheduledTask
    runs_as: str
    created_at: str
    state: Literal["active", "paused", "stopped", "ended"]
    state_by: str | None
    state_at: str | None
    reason: str | None
    next_at: str | None
    buffered_at: str | None
    failures: int
    runs: int
    last_run: ScheduleRun | None
    next_times: NotRequired[list[NextTime]]


class Schedules(Result):
    schedules: list[ShownSchedule]


class OneSchedule(Result):
    schedule: ShownSchedule


class RanSchedule(OneSchedule):
    task_id: str


class DeletedSchedule(Result):
    schedule_id: str


class Runs(Page):
    runs: list[ScheduleRun]


class Times(Result):
    times: list[NextTime]


# --- read ------------------------------------------------------------------------------------------------------------


class ListSchedules(Parameters):
    project_id: Id = Field(description="The project.")


@operation(
    "show_schedules",
    grant=Grant.PERSON,
    parameters=ListSchedules,
    route=Route("GET", "/projects/{project_id}/schedules"),
    tool=False,
    reads=True,
)
def show_schedules(call: Call, wanted: ListSchedules) -> Schedules:
    """The schedules of a project, the oldest first."""
    project = call.project(wanted.project_id)
    newest = call.tx.schedules.newest_entries(project.id)
    last = dict(zip(newest, _shown_runs(call, list(newest.values())), strict=True))
    found = call.tx.schedules.of_project(project.id)
    return {"success": True, "schedules": [_as_answer(each, last.get(each.id)) for each in found]}


class OneOf(Parameters):
    schedule_id: Id = Field(description="The schedule.")


@operation(
    "show_schedule",
    grant=Grant.PERSON,
    parameters=OneOf,
    route=Route("GET", "/schedules/{schedule_id}"),
    tool=False,
    reads=True,
)
def show_schedule(call: Call, wanted: OneOf) -> OneSchedule:
    """One schedule, with its next five times."""
    return _answered(call, _known(call, wanted.schedule_id))


class ListRuns(Paged):
    schedule_id: Id = Field(description="The schedule.")


@operation(
    "list_schedule_runs",
    grant=Grant.PERSON,
    parameters=ListRuns,
    route=Route("GET", "/schedules/{schedule_id}/runs"),
    tool=False,
    reads=True,
)
def list_schedule_runs(call: Call, wanted: ListRuns) -> Runs:
    """What became of the times of a schedule, the newest first; 50 a page. The last 100 without a task are kept, and
    those with a task as long as it."""
    schedule, limit = _known(call, wanted.schedule_id), wanted.limit or USUAL
    key = key_of(wanted.cursor, int, str)
    before = (key[0], key[1]) if key is not None else NEWEST
    found = call.tx.schedules.history(schedule.id, before, limit + 1)
    more = cursor_of(found[limit - 1].scheduled_at, found[limit - 1].id) if len(found) > limit else None
    answer: Runs = {"success": True, "runs": _shown_runs(call, found[:limit])}
    return paged(answer, more)


class PreviewTimes(Parameters):
    cron: Cron | None = Field(None, description="A cron expression, such as 0 9 * * 1-5.")
    every_seconds: Interval | None = Field(None, description="Or an interval.")
    time_zone: TimeZone = Field("UTC", description="The time zone.")


@operation(
    "preview_schedule_times",
    grant=Grant.PERSON,
    parameters=PreviewTimes,
    route=Route("GET", "/schedule-times"),
    tool=False,
    reads=True,
)
def preview_schedule_times(call: Call, wanted: PreviewTimes) -> Times:
    """The next five times of a cron expression or an interval, before you save it."""
    rule = _rule(call, wanted.model_dump(exclude_unset=True))
    return {"success": True, "times": _next_times(rule, call.now)}


# --- change ----------------------------------------------------------------------------------------------------------


class NewSchedule(Parameters):
    project_id: Id = Field(description="The project.")
    name: Name = Field(description="What it is called.")
    cron: Cron | None = Field(None, description="When: a cron expression, such as 0 9 * * 1-5 or @daily.")
    every_seconds: Interval | None = Field(None, description="Or an interval, counted from now.")
    once_at: Once | None = Field(None, description="Or one time.")
    after_task_id: Id | None = Field(None, description="Or once, when this task of any project is completed.")
    time_zone: TimeZone = Field("UTC", description="The time zone of the cron expression.")
    overlap: GivenOverlap = Field("skip", description="What happens while a task of an earlier run is open.")
    catch_up_seconds: CatchUp = Field(
        schedules.USUAL_CATCH_UP, description="How long after a time that was missed it is made up for."
    )
    max_failures: Failures = Field(
        USUAL_FAILURES, description="How many failures in a row stop the schedule; 0: none do."
    )
    title: Title = Field(description="The title of its tasks; {date}, {time} and {run} are filled in.")
    description: Text = Field("", description="Their description; {date}, {time} and {run} are filled in.")


class AddSchedule(sources.NewTask, NewSchedule):
    pass


@operation(
    "add_schedule",
    grant=Grant.WRITER,
    parameters=AddSchedule,
    route=Route("POST", "/projects/{project_id}/schedules", 201),
    tool=False,
)
def add_schedule(call: Call, wanted: AddSchedule) -> OneSchedule:
    """Create tasks at certain times: by a cron expression, an interval, or once."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    known = call.tx.schedules.of_project(project.id)
    if len(known) >= MOST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("Project {project_id} has {most} schedules, the maximum.", project_id=project.id, most=MOST),
            say("Delete one that you no longer need{deed:: …|.}", deed=deed("list_schedules")),
        )
    given = wanted.model_dump()
    rule = _rule(call, given)
    made = Schedule(
        id=call.new_id(ids.SCHEDULE, wanted.name),
        project_id=project.id,
        name=wanted.name,
        cron=rule.cron,
        every=rule.every,
        once=rule.once,
        time_zone=rule.time_zone,
        anchor=rule.anchor,
        overlap=Overlap(wanted.overlap),
        catch_up=wanted.catch_up_seconds,
        failures_allowed=wanted.max_failures,
        task=sources.task_parameters(wanted, {}),
        runs_as=call.agent.id,
        login=sources.login(call),
        created_at=call.now,
        next_at=_first(rule, call.now),
        after_task=rule.after_task,
    )
    _refuse_task(call, made)
    _refuse_same_name(known, made)
    call.tx.schedules.add(made)
    sources.tell(call, "schedule.created", made)
    return _answered(call, made)


class ChangedSchedule(OneOf):
    name: Name | None = Field(None, description="New name.")
    cron: Cron | None = Field(None, description="New cron expression; replaces an interval.")
    every_seconds: Interval | None = Field(None, description="New interval, counted from now; replaces another rule.")
    once_at: Once | None = Field(None, description="One time; replaces another rule.")
    after_task_id: Id | None = Field(None, description="Once this task is completed; replaces another rule.")
    time_zone: TimeZone | None = Field(None, description="New time zone.")
    overlap: GivenOverlap | None = Field(None, description="What happens while a task of an earlier run is open.")
    catch_up_seconds: CatchUp | None = Field(None, description="How long after a missed time it is made up for.")
    max_failures: Failures | None = Field(None, description="How many failures in a row stop it; 0: none do.")
    title: Title | None = Field(None, description="New title of its tasks.")
    description: Text | None = Field(None, description="New description.")


class EditSchedule(sources.ChangedTask, ChangedSchedule):
    pass


@operation(
    "edit_schedule",
    grant=Grant.WRITER,
    parameters=EditSchedule,
    route=Route("PATCH", "/schedules/{schedule_id}"),
    tool=False,
)
def edit_schedule(call: Call, wanted: EditSchedule) -> OneSchedule:
    """Change a schedule; what is left out stays. From now on it runs as you. One that has ended begins again if it gets
    a new time."""
    before = _entered(call, wanted.schedule_id)
    given = wanted.model_dump(exclude_unset=True)
    after = replace(
        before,
        name=_or(wanted.name, before.name),
        overlap=Overlap(wanted.overlap) if wanted.overlap else before.overlap,
        catch_up=_or(wanted.catch_up_seconds, before.catch_up),
        failures_allowed=_or(wanted.max_failures, before.failures_allowed),
        task=sources.task_parameters(wanted, before.task, _CLEARED),
        runs_as=call.agent.id,
        login=sources.login(call),
    )
    if any(given.get(name) is not None for name in (*_KINDS, "time_zone")):
        after = _with_rule(call, after, given)
    if after.awaits_task and after.state is not State.ENDED:
        call.task(after.after_task or "")  # who it runs as sees it
    _refuse_task(call, after)
    _refuse_same_name(call.tx.schedules.of_project(after.project_id), after)
    call.tx.schedules.save(before, after)
    sources.tell(call, "schedule.edited", after, changes=sorted(set(given) - {"schedule_id"}))
    return _answered(call, after)


class PauseSchedule(OneOf):
    reason: Lines | None = Field(None, max_length=2_000, description="Why.")


@operation(
    "pause_schedule",
    grant=Grant.WRITER,
    parameters=PauseSchedule,
    route=Route("POST", "/schedules/{schedule_id}/pause"),
    tool=False,
)
def pause_schedule(call: Call, wanted: PauseSchedule) -> OneSchedule:
    """Pause a schedule. Its open tasks go on; times that come meanwhile are not made up for."""
    before = _entered(call, wanted.schedule_id)
    if before.state is State.PAUSED:
        return _answered(call, before)
    if before.state is State.ENDED:
        raise _ended(before)
    runs.drop_waiting(call, before)
    put_off = replace(schedules.awaiting_again(before), next_at=None, buffered=None)
    after = in_state(put_off, State.PAUSED, call.actor.id, call.now, (wanted.reason or "").strip() or None)
    call.tx.schedules.save(before, after)
    sources.tell(call, "schedule.paused", after, reason=after.reason)
    return _answered(call, after)


@operation(
    "resume_schedule",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("POST", "/schedules/{schedule_id}/resume"),
    tool=False,
)
def resume_schedule(call: Call, wanted: OneOf) -> OneSchedule:
    """Resume a schedule that was paused or has stopped itself. Its failures count from zero again. One that stopped
    itself at its only time comes now."""
    before = _entered(call, wanted.schedule_id)
    if before.active:
        return _answered(call, before)
    once = before.once
    if before.state is State.STOPPED and once is not None and once <= call.now:
        next_at: Millis | None = (once := call.now)
    else:
        next_at = None if before.state is State.ENDED else recurrence.next_after(recurrence.rule_of(before), call.now)
    if next_at is None and (before.state is State.ENDED or not before.awaits_task):
        raise _ended(before)
    afresh = replace(before, once=once, next_at=next_at, failures=0)
    after = in_state(afresh, State.ACTIVE, call.actor.id, call.now)
    call.tx.schedules.save(before, after)
    sources.tell(call, "schedule.resumed", after)
    return _answered(call, after)


@operation(
    "run_schedule",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("POST", "/schedules/{schedule_id}/run", 201),
    tool=False,
)
def run_schedule(call: Call, wanted: OneOf) -> RanSchedule:
    """Create a schedule's task now, also if it is paused or an earlier task is open. Its next time stays."""
    schedule = _entered(call, wanted.schedule_id)
    run = runs.by_hand(call, schedule)
    assert run.task_id is not None
    return {**_answered(call, _known(call, schedule.id)), "task_id": run.task_id}


@operation(
    "delete_schedule",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("DELETE", "/schedules/{schedule_id}"),
    tool=False,
)
def delete_schedule(call: Call, wanted: OneOf) -> DeletedSchedule:
    """Delete a schedule and its history. Its tasks stay."""
    schedule = _entered(call, wanted.schedule_id)
    call.tx.schedules.drop(schedule.id)
    sources.tell(call, "schedule.deleted", schedule)
    return {"success": True, "schedule_id": schedule.id}


# --- what is accepted ------------------------------------------------------------------------------------------------

_CLEARED = clearable_fields.nullable("edit_schedule")
_A_TIME, _A_LATE_RUN = "2031-01-31 09:30", 10_000_000


def _refuse_task(call: Call, schedule: Schedule) -> None:
    """What would be refused at every time, as far as it can be seen now."""
    task = schedule.task
    sources.refuse(call, schedule.project_id, task)
    for name, most in (("title", LONGEST_TITLE), ("description", LONGEST_TEXT)):
        if len(schedules.with_times(task[name], _A_TIME, _A_LATE_RUN)) > most:
            raise Refusal(
                Code.TOO_LARGE,
                say(
                    "`{name}` has more than {most} characters once its placeholders are filled in.",
                    name=name,
                    most=most,
                ),
                "Shorten it.",
                limit=most,
            )


def _refuse_same_name(known: list[Schedule], schedule: Schedule) -> None:
    for each in known:
        if each.name.casefold() == schedule.name.casefold() and each.id != schedule.id:
            raise Refusal(
                Code.CONFLICT,
                say("A schedule of this project is called {name} already.", name=each.name),
                say("Choose another name, or edit it{deed:: …|.}", deed=deed("edit_schedule", schedule_id=each.id)),
                schedule_id=each.id,
            )


def _rule(call: Call, given: Mapping[str, Any], zone: str = "UTC") -> Rule:
    """The one rule that is given. Raises Refusal."""
    kinds = [name for name in _KINDS if given.get(name) is not None]
    if len(kinds) != 1:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A schedule needs exactly one of a cron expression, an interval, one time and a task.",
            "Give one of `cron`, `every_seconds`, `once_at` and `after_task_id` (--cron, --every, --once, --after).",
        )
    once, after = given.get("once_at"), given.get("after_task_id")
    rule = Rule(
        cron=given.get("cron"),
        every=given.get("every_seconds"),
        once=of_datetime(once) if once is not None else None,
        time_zone=given.get("time_zone") or zone,
        anchor=call.now,
        after_task=call.task(after).id if after is not None else None,
    )
    _first(rule, call.now)
    return rule


def _first(rule: Rule, now: Millis) -> Millis | None:
    """The first time of a rule; None: when its task is completed. Raises Refusal if it cannot be understood, or never
    comes."""
    if rule.after_task is not None:
        return None
    try:
        found = recurrence.next_after(rule, now)
    except NotARule as wrong:
        raise Refusal(
            Code.VALIDATION_ERROR,
            wrong.message,
            "Give five fields (minute, hour, day of month, month, weekday), for example 30 9 * * 1-5, or @daily.",
        ) from None
    if found is None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "This time never comes, or is over." if rule.once is None else "This time is over.",
            "Give a time that is still to come.",
        )
    return found


def _with_rule(call: Call, schedule: Schedule, given: Mapping[str, Any]) -> Schedule:
    """A new rule, or the same in another time zone. One that has ended begins again."""
    named = {name: each for name, each in given.items() if each is not None}
    has_rule = not named.keys().isdisjoint(_KINDS)
    if not has_rule:
        once = schedule.once
        rule = replace(recurrence.rule_of(schedule), time_zone=named["time_zone"])
        next_at = recurrence.next_after(rule, call.now) if once is not None else _first(rule, call.now)
    else:
        rule = _rule(call, named, schedule.time_zone)
        next_at = _first(rule, call.now)
    begins = next_at is not None or (has_rule and rule.after_task is not None)
    state = State.ACTIVE if schedule.state is State.ENDED and begins else schedule.state
    return replace(
        schedule,
        cron=rule.cron,
        every=rule.every,
        once=rule.once,
        time_zone=rule.time_zone,
        anchor=rule.anchor,
        after_task=rule.after_task,
        state=state,
        next_at=next_at if state is State.ACTIVE else None,
    )


def _or(given: Any, before: Any) -> Any:
    return before if given is None else given


# --- find and show ---------------------------------------------------------------------------------------------------


def _entered(call: Call, schedule_id: str) -> Schedule:
    """The schedule as nobody else can change it from here on."""
    call.enter(_known(call, schedule_id).project_id)
    return _known(call, schedule_id)


def _known(call: Call, schedule_id: str) -> Schedule:
    found = call.tx.schedules.find(schedule_id)
    if found is None or not visibility.sees(call, found.project_id):
        raise Refusal(
            Code.SCHEDULE_NOT_FOUND,
            say("There is no schedule {schedule_id}.", schedule_id=schedule_id),
            say("{deed:List them: …}", deed=deed("list_schedules")),
            schedule_id=schedule_id,
        )
    return found


def _ended(schedule: Schedule) -> Refusal:
    return Refusal(
        Code.CONFLICT,
        say("Schedule {schedule_id} has ended: no time is left.", schedule_id=schedule.id),
        say(
            "Give it a new time{deed: (…)}, or run it now{run_deed: (…)}.",
            deed=deed("edit_schedule", schedule_id=schedule.id),
            run_deed=deed("run_schedule", schedule_id=schedule.id),
        ),
        schedule_id=schedule.id,
    )


def _next_times(rule: Rule, now: Millis) -> list[NextTime]:
    times = islice(recurrence.times_after(rule, now), SHOWN_TIMES)
    return [{"at": iso(each), "local": recurrence.on_its_clock(rule, each)} for each in times]


def _answered(call: Call, schedule: Schedule) -> OneSchedule:
    newest = call.tx.schedules.newest_entry(schedule.id)
    shown = _as_answer(schedule, _shown_runs(call, [newest])[0] if newest is not None else None)
    times = _next_times(recurrence.rule_of(schedule), call.now) if schedule.active else []
    return {"success": True, "schedule": {**shown, "next_times": times}}


def _as_answer(each: Schedule, last: ScheduleRun | None) -> ShownSchedule:
    task: Any = each.task
    return {
        "schedule_id": each.id,
        "project_id": each.project_id,
        "name": each.name,
        "cron": each.cron,
        "every_seconds": each.every,
        "once_at": iso_or_none(each.once),
        "after_task_id": each.after_task,
        "time_zone": each.time_zone,
        "overlap": each.overlap.value,
        "catch_up_seconds": each.catch_up,
        "max_failures": each.failures_allowed,
        "task": task,
        "runs_as": each.runs_as,
        "created_at": iso(each.created_at),
        "state": each.state.value,
        "state_by": each.state_by,
        "state_at": iso_or_none(each.state_at),
        "reason": each.reason,
        "next_at": iso_or_none(each.next_at),
        "buffered_at": iso_or_none(each.buffered),
        "failures": each.failures,
        "runs": each.runs,
        "last_run": last,
    }


def _shown_runs(call: Call, found: Sequence[Run]) -> list[ScheduleRun]:
    tasks = call.tx.tasks.find_all({run.task_id for run in found if run.task_id is not None})
    status = {task.id: task.status for task in tasks}
    return [
        {
            "run_id": run.id,
            "scheduled_at": iso(run.scheduled_at),
            "at": iso(run.at),
            "outcome": run.outcome.value,
            "times": run.times,
            "task_id": run.task_id,
            "task_status": status[run.task_id].value if run.task_id is not None else None,
            "reason": run.reason,
            "started_by": run.started_by,
        }
        for run in found
    ]
