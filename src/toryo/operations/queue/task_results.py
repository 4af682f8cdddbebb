"""The queue protocol: an agent submits the result of a claimed task; an orchestrator waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import Field

from toryo.domain import queue
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.moves import Actor
from toryo.domain.queue import Claim
from toryo.domain.tasks import Details, Task
from toryo.domain.tasks import Status as TaskStatus
from toryo.domain.times import iso_or_none
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import schemas
from toryo.operations.calls.batches import Asked, Calls, in_batches
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import JsonObject, Refused, Result
from toryo.operations.queue import claims as queue_claims
from toryo.operations.tasks import mutations, queue_tasks
from toryo.storage.queues import ClaimedTask

P = TypeVar("P")

# --- submitting ------------------------------------------------------------------------------------------------------


class OneResult(Parameters):
    task_id: Id = Field(description="The task.", json_schema_extra=PLAIN)
    status: Literal["completed", "failed"] = Field(description="How it ended.", json_schema_extra=PLAIN)
    result: Any = Field(None, description="Any JSON.")
    error: Lines | None = Field(None, max_length=100_000, description="Why it failed.", json_schema_extra=PLAIN)
    retryable: bool = Field(False, description="Whether to try it again, up to max_attempts.")
    attempt: int | None = Field(None, ge=1, description="The attempt that you claimed; default: your current one.")


class Submit(OneResult):
    agent_id: Id | None = Field(
        None, description="Your id; your key says it already.", json_schema_extra=listed_for(Audience.NONE)
    )


class SubmitAll(Parameters):
    results: list[OneResult] = Field(
        min_length=1, max_length=queue.CLAIMED_AT_ONCE, description="Each is accepted or refused by itself."
    )
    agent_id: Id | None = Field(
        None, description="Your id; your key says it already.", json_schema_extra=listed_for(Audience.NONE)
    )


class Submitted(Result, schemas.SubmittedTask):
    """The task is the answer itself."""


class Stands(Result, schemas.QueueTask):
    """The task is the answer itself, and also `task`, as orchestrators read it since the first version."""

    task: schemas.QueueTask
    dependency_failed: bool
    no_agent: bool
    claim_expires_at: str | None


@operation("submit_result", grant=Grant.QUEUE_AGENT, parameters=Submit)
@in_batches
def submit_result(calls: Calls[Submit]) -> dict[Asked[Submit], Submitted | Refused]:
    """Submit the result of a task that you claimed. Safe to repeat."""
    given = [(each, me, [each.wanted]) for each, me in calls.each(calls, _submitter)]
    answers: dict[Asked[Submit], Submitted | Refused] = {
        each: _answer_with(task) for each, (task,) in _accepted(calls, given)
    }
    return answers | {each: _submitted(each.call, each.wanted, _submitter(each)) for each in calls.alone(answers)}


class SubmittedAll(Result):
    results: list[queue_claims.Judged]


@operation(
    "submit_results",
    grant=Grant.QUEUE_AGENT,
    parameters=SubmitAll,
    route=Route("POST", "/queue/results"),
    listed=False,
)
@in_batches
def submit_results(calls: Calls[SubmitAll]) -> dict[Asked[SubmitAll], SubmittedAll]:
    """Submit the results of several tasks that you claimed; each is accepted or refused by itself. Safe to repeat."""
    given = [(each, me, each.wanted.results) for each, me in calls.each(calls, _submitter)]
    answers: dict[Asked[SubmitAll], SubmittedAll] = {
        each: {"success": True, "results": [queue_claims.accepted(task) for task in tasks]}
        for each, tasks in _accepted(calls, given)
    }
    return answers | {each: _judged_all(each.call, each.wanted, _submitter(each)) for each in calls.alone(answers)}


def _judged_all(call: Call, submitted: SubmitAll, me: str) -> SubmittedAll:
    return {"success": True, "results": [_judged(call, each, me) for each in submitted.results]}


def _judged(call: Call, submitted: OneResult, me: str) -> queue_claims.Judged:
    """What becomes of one result among others: a refusal undoes nothing but itself."""
    events, hints = len(call.tx.events.collected), set(call.tx.hints)
    try:
        with call.tx.connection.savepoint():
            answer = _submitted(call, submitted, me)
    except Refusal as refusal:
        del call.tx.events.collected[events:]
        call.tx.hints.intersection_update(hints)
        return queue_claims.not_accepted(submitted.task_id, refusal.answer())
    if answer["success"]:
        task: Any = answer
        return queue_claims.accepted(task)
    return queue_claims.not_accepted(submitted.task_id, answer)


def _submitter(asked: Asked[Submit] | Asked[SubmitAll]) -> str:
    """Whose results these are. Raises Refusal if another agent is named."""
    call, named = asked.call, asked.wanted.agent_id
    mine = call.caller.key.agent_id if call.caller.key is not None else call.actor.id
    if named not in (None, mine):
        raise Refusal(Code.PERMISSION_DENIED, f"This API key belongs to {mine}.", "Omit agent_id, or pass your own.")
    return mine or call.actor.id


_EVENTS_OF_RESULT = 3
"""At most."""


def _accepted(
    calls: Calls[P], given: Sequence[tuple[Asked[P], str, Sequence[OneResult]]]
) -> list[tuple[Asked[P], list[schemas.QueueTask]]]:
    """The calls of which each result is the first one of a task that stands alone and that its agent holds, with these
    tasks as they have become: all are stored with a few statements."""
    tx = calls.tx
    claimed = tx.queues.claimed({each.task_id for _, _, results in given for each in results}) if given else {}
    tx.queues.presences_of(me for _, me, _ in given)
    ended: list[tuple[Asked[P], list[_Ended]]] = []
    for asked, me, results in given:
        own = [(each, claimed.pop(each.task_id)) for each in results if each.task_id in claimed]
        plain = len(own) == len(results) and all(_is_plain(asked.call, me, *each) for each in own)
        if plain and calls.has_room(asked, 0, _EVENTS_OF_RESULT * len(own)):
            if (presence := tx.queues.presence(me)) is not None:
                queue_claims.note_seen(asked.call, presence)
            ended.append((asked, [_ended(asked.call, Actor(me), *each) for each in own]))
    every = [each for _, tasks in ended for each in tasks]
    tx.tasks.end([(each.task, each.details) for each in every])
    tx.queues.end([each.claim for each in every])
    behind = [each.task.id for each in every if each.task.closed and each.before.has_dependants]
    for project_id, agent_type, task_id in tx.tasks.queued_behind(behind):
        tx.hint(mutations.queue_topic(project_id, agent_type), mutations.ready_topic(agent_type, task_id))
    for asked, tasks in ended:
        met = [each.task for each in tasks if each.before.has_dependants and each.task.status is TaskStatus.COMPLETED]
        mutations.go_on(asked.call, mutations.meet(asked.call, met))
    with_edges = [each.task.id for each in every if each.before.found.has_dependencies]
    edges = tx.tasks.depends_on(with_edges) if with_edges else {}
    return [
        (asked, [queue_tasks.as_answer(each.task, each.details, edges.get(each.task.id, [])) for each in tasks])
        for asked, tasks in ended
    ]


def _is_plain(call: Call, me: str, submitted: OneResult, held: ClaimedTask) -> bool:
    task, claim = held.found.task, held.claim
    return (
        held.found.alone
        and claim.launch_id is None
        and task.project_id == call.caller.project_id
        and task.in_progress
        and me == claim.agent_id == task.assignee_id
        and claim.attempt == task.attempt
        and submitted.attempt in (None, claim.attempt)
    )


class _Ended(NamedTuple):
    """A task after its result, the claim, and both as they were."""

    task: Task
    details: Details
    claim: Claim
    before: ClaimedTask


def _ended(call: Call, actor: Actor, submitted: OneResult, held: ClaimedTask) -> _Ended:
    task, claim = held.found.task, held.claim
    if submitted.status == "failed" and submitted.retryable:
        after = queue_claims.lose_alone(call, task, claim)
        error = queue_claims.last_error(submitted.error) if after.closed else submitted.error
        reason, details = "failed", replace(held.found.details, error=error)
    else:
        after = mutations.move_alone(call, task, *end_of(submitted), actor=actor)
        reason, details = "submitted", replace(held.found.details, result=submitted.result, error=submitted.error)
    return _Ended(after, details, queue.ended(claim, reason, call.now, outcome_of(submitted)), held)


def outcome_of(submitted: OneResult) -> JsonObject:
    """What the claim keeps of a result, and what a repeated one is compared with."""
    return {name: getattr(submitted, name) for name in ("status", "result", "error", "retryable")}


def end_of(submitted: OneResult) -> tuple[TaskStatus, str | None]:
    """The status in which a final result leaves its task, and the reason that the event has."""
    if submitted.status == "completed":
        return TaskStatus.COMPLETED, None
    return TaskStatus.FAILED, submitted.error or "(failed without a reason)"


def _submitted(call: Call, submitted: OneResult, me: str) -> Submitted | Refused:
    task = call.task(submitted.task_id)
    outcome = outcome_of(submitted)
    held = call.tx.queues.live_claim(task.id)
    if held is None or held.agent_id != me or submitted.attempt not in (None, held.attempt):
        return _late(call, task, me, submitted, outcome)
    if (presence := call.tx.queues.presence(me)) is not None:
        queue_claims.note_seen(call, presence)
    if submitted.status == "failed" and submitted.retryable:
        call.tx.tasks.save_details(task.id, error=submitted.error)
        queue_claims.lose(call, held, "failed", outcome=outcome)
    else:
        call.tx.queues.save_claim(queue.ended(held, "submitted", call.now, outcome))
        to, reason = end_of(submitted)
        mutations.move(call, call.tree_state(task), task, to, reason, actor=Actor(me))
        call.tx.tasks.save_details(task.id, result=submitted.result, error=submitted.error)
    return _answer(call, task.id)


def _late(call: Call, task: Task, me: str, submitted: OneResult, outcome: JsonObject) -> Submitted | Refused:
    """The caller no longer holds the task: repeating its result succeeds, and so does the result of a claim that ran
    out if nobody has claimed the task since; another result is kept as an event and refused.
    """
    mine = [each for each in call.tx.queues.claims_of_task(task.id) if each.agent_id == me]
    claim = next((each for each in reversed(mine) if submitted.attempt in (None, each.attempt)), None)
    if claim is None:
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"You have not claimed task {task.id}.",
            "Submit results only for tasks that poll_tasks returned to you.",
            task_id=task.id,
        )
    if claim.end_reason in ("submitted", "failed") and claim.outcome == outcome:
        return _answer(call, task.id)
    if claim.end_reason == "submitted":
        raise Refusal(
            Code.CONFLICT,
            f"A different result was already submitted for attempt {claim.attempt} of task {task.id}.",
            "The first result is kept. Nothing was changed.",
            task_id=task.id,
            status=task.status.value,
        )
    if claim.ran_out and queue_claims.take_back(call, task, claim) is not None:
        return _submitted(call, submitted, me)
    return _too_late(call, task, claim, outcome)


def _too_late(call: Call, task: Task, claim: Claim, outcome: JsonObject) -> Refused:
    call.event(
        "claim.late_result",
        task=task,
        agent_id=claim.agent_id,
        data={"attempt": claim.attempt, "outcome": outcome if len(repr(outcome)) < _KEPT else "(too long to keep)"},
    )
    refusal = Refusal(
        Code.NOT_NOW,
        f"Your attempt {claim.attempt} of task {task.id} is over ({claim.end_reason}); the task is now in "
        f"attempt {task.attempt}. Your result was not accepted, but is kept as an event.",
        "Call poll_tasks for the next task.",
        task_id=task.id,
        attempt=task.attempt,
    )
    return Refused(refusal.answer())


_KEPT = 20_000
"""Characters of a late result that an event keeps."""


def _answer(call: Call, task_id: str) -> Submitted:
    return _answer_with(queue_tasks.show(call, call.task(task_id)))


def _answer_with(task: schemas.QueueTask) -> Submitted:
    """What has become of the task; what its agent was given with it is not told again."""
    told = {name: value for name, value in task.items() if name in schemas.SubmittedTask.__annotations__}
    answer: Any = {"success": True, **told}
    submitted: Submitted = answer
    return submitted


# --- looking ---------------------------------------------------------------------------------------------------------


class TaskStatusOf(Parameters):
    task_id: Id = Field(description="The task.", json_schema_extra=PLAIN)
    wait_seconds: int = Field(
        0, ge=0, le=LONGEST_WAIT_SECONDS, description="How long to wait until it is closed.", json_schema_extra=PLAIN
    )


@operation(
    "get_task_status",
    shown_to=Audience.ORCHESTRATOR,
    grant=Grant.QUEUE_AGENT,
    parameters=TaskStatusOf,
    waits=True,
    whole=True,
)
def get_task_status(call: Call, wanted: TaskStatusOf) -> Stands | Later:
    """Returns the status and result of a task. Waits up to wait_seconds for its end."""
    task = call.task(wanted.task_id)
    tree = call.tree_state(task).tree
    flagged = tree.dependency_failed(tree.tasks[task.id])
    if task.open and not flagged and wanted.wait_seconds and call.may_wait:
        return Later(frozenset({f"task:{task.root_id}", f"project:{task.project_id}"}))
    held = call.tx.queues.live_claim(task.id)
    shown = queue_tasks.show(call, call.task(task.id))
    succeeded: Result = {"success": True}
    return {
        **succeeded,
        **shown,
        "task": shown,
        "dependency_failed": flagged,
        "no_agent": task.for_queue
        and task.status is TaskStatus.TODO
        and task.agent_type not in call.tree_state(task).served,
        "claim_expires_at": iso_or_none(held.expires_at if held is not None else None),
    }
