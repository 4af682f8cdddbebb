"""The queue protocol: an agent submits the result of a claimed task; an orchestrator waits for it.

First results of plain tasks are accepted by `batched.py`, many at once, in the way of these handlers.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from toryo.domain import queue
from toryo.domain.errors import Code, Refusal
from toryo.domain.moves import Actor
from toryo.domain.queue import Claim
from toryo.domain.tasks import Status as TaskStatus
from toryo.domain.tasks import Task
from toryo.domain.times import iso_or_none
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import JsonObject, Refused, Result
from toryo.operations.queue import claims as queue_claims
from toryo.operations.tasks import mutations, queue_tasks

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
def submit_result(call: Call, submitted: Submit) -> Submitted | Refused:
    """Submit the result of a task that you claimed. Safe to repeat."""
    return _submitted(call, submitted, _submitter(call, submitted.agent_id))


class SubmittedAll(Result):
    results: list[queue_claims.Judged]


@operation(
    "submit_results",
    grant=Grant.QUEUE_AGENT,
    parameters=SubmitAll,
    route=Route("POST", "/queue/results"),
    listed=False,
)
def submit_results(call: Call, submitted: SubmitAll) -> SubmittedAll:
    """Submit the results of several tasks that you claimed; each is accepted or refused by itself. Safe to repeat."""
    me = _submitter(call, submitted.agent_id)
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


def _submitter(call: Call, named: str | None) -> str:
    """Whose results these are. Raises Refusal if another agent is named."""
    mine = call.caller.key.agent_id if call.caller.key is not None else call.actor.id
    if named not in (None, mine):
        raise Refusal(Code.PERMISSION_DENIED, f"This API key belongs to {mine}.", "Omit agent_id, or pass your own.")
    return mine or call.actor.id


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
        queue_claims.seen(call, presence)
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
    return answer_with(queue_tasks.show(call, call.task(task_id)))


def answer_with(task: schemas.QueueTask) -> Submitted:
    """What has become of the task; what its agent was given with it is not told again."""
    told = {name: value for name, value in task.items() if name in schemas.SubmittedTask.__annotations__}
    answer: Any = {"success": True, **told}
    submitted: Submitted = answer
    return submitted


# --- looking ---------------------------------------------------------------------------------------------------------


class TaskStatusOf(Parameters):
    task_id: Id = Field(description="The task.", json_schema_extra=PLAIN)
    wait_seconds: int = Field(
        0, ge=0, le=45, description="How long to wait until it is closed.", json_schema_extra=PLAIN
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
