"""Carries out what schedules do: creates the tasks of times that have come, keeps their history, and stops a schedule
whose tasks fail.

The rules are in `domain/schedules.py`. `housekeeping/due_schedules.py` calls this, and `rest.py` where a person runs a
schedule by hand. Tasks are created by `file_task`, with the rights of the person that the schedule runs as.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from zoneinfo import ZoneInfoNotFoundError

from toryo.domain import ids, schedules
from toryo.domain.agents import SYSTEM
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.schedules import Outcome, Run, Schedule, Step
from toryo.domain.sources import MOST_ENTRIES, State, fails_too_often, in_state
from toryo.domain.tasks import Status, Task
from toryo.domain.times import Millis
from toryo.domain.wording import say
from toryo.operations.calls import visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import attempt
from toryo.operations.schedules import begun_tasks, recurrence, sources
from toryo.operations.tasks import mutations

COUNTED = 1_000
"""Times that are counted one by one after a downtime."""
_CANCELLED_FOR = "The next run of its schedule has begun."


def keep_time(call: Call, schedule: Schedule) -> None:
    """Acts on the times of a schedule that have come, and notes the next one."""
    assert schedule.next_at is not None
    rule = recurrence.rule_of(schedule)
    try:
        come = recurrence.times_within(rule, schedule.next_at, call.now, COUNTED)
        if len(come) == COUNTED:  # of the others, only those that may be made up for
            since = max(come[-1] + 1, schedules.looks_back_to(schedule, call.now))
            come += recurrence.times_within(rule, since, call.now)
        next_at = recurrence.next_after(rule, call.now)
    except (recurrence.NotARule, ZoneInfoNotFoundError) as error:  # this machine knows its time zone no longer
        _stop(call, schedule, str(error))
        return
    due = schedules.due(schedule, come, call.now)
    schedule = call.tx.schedules.save(schedule, replace(schedule, next_at=next_at))
    _note(call, schedule, Outcome.MISSED, due.missed)
    _note(call, schedule, Outcome.COALESCED, due.coalesced)
    for time in due.make:
        schedule = _take(call, schedule, time)
        if not schedule.active:
            return
    _end(call, schedule)


def come(call: Call, schedule: Schedule) -> None:
    """Its time has come if the task that it waits for is completed; if that was cancelled or deleted, it never will.
    What became of a task that the person it runs as no longer sees does not matter: then it stops.
    """
    task = call.tx.tasks.find(schedule.after_task or "")
    unseen = attempt(call, partial(_refuse_unseen, call, schedule, task)) if task is not None else None
    if unseen is not None:
        _stop(call, schedule, str(unseen))
    elif task is not None and task.status is Status.COMPLETED:
        call.tx.schedules.save(schedule, replace(schedule, once=call.now, next_at=call.now))
    elif task is None or task.status is Status.CANCELLED:
        ended = in_state(schedule, State.ENDED, SYSTEM, call.now, _cancelled(schedule.after_task))
        call.tx.schedules.save(schedule, ended)
        sources.tell(call, "schedule.ended", ended)


def _refuse_unseen(call: Call, schedule: Schedule, task: Task) -> None:
    with begun_tasks.with_the_rights_of(call, schedule.runs_as, schedule.login, schedule.project_id, _not_active):
        if not visibility.sees(call, task.project_id):
            raise Refusal(
                Code.TASK_NOT_FOUND,
                say(
                    "This schedule runs as {person_id}, who does not see task {task_id}, after which it comes.",
                    person_id=schedule.runs_as,
                    task_id=task.id,
                ),
                "Edit the schedule: then it runs as you.",
            )


def _cancelled(task_id: str | None) -> str:
    return str(say("Task {task_id} was cancelled or deleted.", task_id=task_id))


def begin_waiting(call: Call, schedule: Schedule) -> bool:
    """Begins the run that waits, if it can begin now. False: its assignee has no room."""
    time = schedule.buffered
    run = call.tx.schedules.buffered_run(schedule.id)
    if time is None or run is None:
        return True
    open_runs = call.tx.schedules.open_runs(schedule.id)
    step = schedules.step(replace(schedule, buffered=None), bool(open_runs))
    if step not in (Step.CREATE, Step.CANCEL_AND_CREATE):
        return True
    others = open_runs if step is Step.CANCEL_AND_CREATE else ()
    made = attempt(call, partial(_create, call, schedule, time, others))
    if isinstance(made, Refusal) and made.code is Code.LIMIT_REACHED:
        return bool(others)
    free = call.tx.schedules.save(schedule, replace(schedule, buffered=None))
    after = _decided(run, made, call.now)
    call.tx.schedules.save_entry(run, after)
    _end(call, _counted(call, free, after))
    return True


def note_results(call: Call, most: int) -> int:
    """Notes which tasks were closed since, and stops the schedules of which too many have failed."""
    stored, stop = call.tx.schedules, partial(_stop_if_it_fails, call)
    return sources.note_results(stored, most, lambda run, status: replace(run, result=status), stop)


def by_hand(call: Call, schedule: Schedule) -> Run:
    """A run at once, whatever else is open. Raises Refusal; then nothing was created."""
    made = _create(call, schedule, call.now)
    run = replace(_run(call, schedule, call.now, Outcome.CREATED), task_id=made, started_by=call.actor.id)
    call.tx.schedules.add_entry(run)
    _counted(call, schedule, run)
    return run


def drop_waiting(call: Call, schedule: Schedule) -> None:
    """The run that waits is skipped."""
    run = call.tx.schedules.buffered_run(schedule.id)
    if run is not None:
        call.tx.schedules.save_entry(run, replace(run, outcome=Outcome.SKIPPED, at=call.now))


# --- one time --------------------------------------------------------------------------------------------------------


def _take(call: Call, schedule: Schedule, time: Millis) -> Schedule:
    open_runs = call.tx.schedules.open_runs(schedule.id)
    step = schedules.step(schedule, bool(open_runs))
    if step is Step.SKIP:
        _note(call, schedule, Outcome.SKIPPED, [time])
        return schedule
    if step is Step.BUFFER:
        return _wait(call, schedule, time)
    if schedule.buffered is not None:  # the run that waits is an earlier one, too
        drop_waiting(call, schedule)
        schedule = call.tx.schedules.save(schedule, replace(schedule, buffered=None))
    others = open_runs if step is Step.CANCEL_AND_CREATE else ()
    made = attempt(call, partial(_create, call, schedule, time, others))
    if isinstance(made, Refusal) and made.code is Code.LIMIT_REACHED:
        return _wait(call, schedule, time)
    run = _decided(_run(call, schedule, time, Outcome.CREATED), made, call.now)
    call.tx.schedules.add_entry(run)
    return _counted(call, schedule, run)


def _create(call: Call, schedule: Schedule, time: Millis, cancelled: Sequence[Run] = ()) -> str:
    """The id of the task, after those of earlier runs were cancelled. Raises Refusal."""
    rule, number = recurrence.rule_of(schedule), schedule.runs + 1
    scheduled = recurrence.on_its_clock(rule, time)
    with begun_tasks.with_the_rights_of(call, schedule.runs_as, schedule.login, schedule.project_id, _not_active):
        for run in cancelled:
            _cancel(call, run)
        return begun_tasks.create(
            call,
            schedule.project_id,
            {
                **schedule.task,
                "title": schedules.with_times(schedule.task["title"], scheduled, number),
                "description": schedules.with_times(schedule.task["description"], scheduled, number),
            },
        )


def _cancel(call: Call, run: Run) -> None:
    task = call.tx.tasks.find(run.task_id or "")
    if task is not None and not task.closed:
        mutations.move(call, call.tree_state(task), task, Status.CANCELLED, _CANCELLED_FOR)
    call.tx.schedules.save_entry(run, replace(run, result=Status.CANCELLED))


def _not_active(person_id: str) -> Refusal:
    return Refusal(
        Code.PERMISSION_DENIED,
        say("This schedule runs as {person_id}, who is not active.", person_id=person_id),
        "Edit the schedule: then it runs as you.",
        person_id=person_id,
    )


# --- what became of it -----------------------------------------------------------------------------------------------


def _wait(call: Call, schedule: Schedule, time: Millis) -> Schedule:
    call.tx.schedules.add_entry(_run(call, schedule, time, Outcome.BUFFERED))
    return call.tx.schedules.save(schedule, replace(schedule, buffered=time))


def _run(call: Call, schedule: Schedule, time: Millis, outcome: Outcome) -> Run:
    run_id = call.new_id(ids.SCHEDULE_RUN)
    return Run(
        id=run_id,
        schedule_id=schedule.id,
        project_id=schedule.project_id,
        scheduled_at=time,
        at=call.now,
        outcome=outcome,
    )


def _decided(run: Run, made: str | Refusal, now: Millis) -> Run:
    if isinstance(made, Refusal):
        return replace(run, outcome=Outcome.REFUSED, reason=str(made), at=now)
    return replace(run, outcome=Outcome.CREATED, task_id=made, at=now)


def _counted(call: Call, schedule: Schedule, run: Run) -> Schedule:
    """The schedule after one more run, which may have been refused."""
    if run.task_id is None:
        sources.tell(call, "schedule.failed", schedule, reason=run.reason)
        call.tx.schedules.forget_entries(schedule.id, MOST_ENTRIES)
        refused = call.tx.schedules.save(schedule, replace(schedule, failures=schedule.failures + 1))
        if refused.active and refused.next_at is None:  # nobody is told of what ends
            return _stop(call, refused, run.reason)
        return _stop_if_it_fails(call, refused)
    task = call.tx.tasks.find(run.task_id)
    call.event("schedule.ran", task=task, data={"schedule_id": schedule.id, "name": schedule.name})
    return call.tx.schedules.save(schedule, replace(schedule, runs=schedule.runs + 1))


def _note(call: Call, schedule: Schedule, outcome: Outcome, times: Sequence[Millis]) -> None:
    """Times without a task. What is the same as just before is one entry of the history."""
    if not times:
        return
    newest = call.tx.schedules.newest_entry(schedule.id)
    if newest is not None and newest.outcome is outcome:
        more = replace(newest, times=newest.times + len(times), scheduled_at=times[-1], at=call.now)
        call.tx.schedules.save_entry(newest, more)
        return
    call.tx.schedules.add_entry(replace(_run(call, schedule, times[-1], outcome), times=len(times)))
    call.tx.schedules.forget_entries(schedule.id, MOST_ENTRIES)


def _end(call: Call, schedule: Schedule) -> None:
    """A schedule without a further time has ended."""
    if schedule.active and schedule.next_at is None and schedule.buffered is None:
        ended = in_state(schedule, State.ENDED, SYSTEM, call.now, schedule.reason)
        call.tx.schedules.save(schedule, ended)
        sources.tell(call, "schedule.ended", ended)


def _stop_if_it_fails(call: Call, schedule: Schedule) -> Schedule:
    return _stop(call, schedule, None) if fails_too_often(schedule) else schedule


def _stop(call: Call, schedule: Schedule, reason: str | None) -> Schedule:
    drop_waiting(call, schedule)
    put_off = replace(schedules.awaiting_again(schedule), next_at=None, buffered=None)
    stopped = in_state(put_off, State.STOPPED, SYSTEM, call.now, reason)
    sources.tell(call, "schedule.stopped", stopped)
    return call.tx.schedules.save(schedule, stopped)
