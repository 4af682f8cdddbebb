"""One request as a tree: every task, attempt, launch, conversation and event that belongs to a correlation id.

Or one task of it with everything below: what it waited for and why, who worked on it, and what that cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from toryo.deeds import Blank, deed
from toryo.domain.delegations import Delegation
from toryo.domain.errors import Code, Refusal
from toryo.domain.events import Event
from toryo.domain.launches import Check, Launch
from toryo.domain.queue import Claim
from toryo.domain.sessions import Session
from toryo.domain.tasks import CheckEvidence, CheckFailure, Task
from toryo.domain.times import Millis, iso, iso_or_none
from toryo.domain.traces import trace_id_of
from toryo.domain.waiting import Waiting
from toryo.domain.wording import constant, say
from toryo.domain.worktrees import Worktree
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.tasks.trace_facts import TraceFacts
from toryo.storage.usages import Sums, Wanted


class OneTrace(Parameters):
    correlation_id: str = Field(min_length=1, max_length=200, description="The request's id, or a task's id.")
    below: bool = Field(False, description="With a task's id: only this task and everything below it.")


class Attempt(TypedDict):
    """One agent's turn at a queue task."""

    attempt: int
    agent_id: str
    claimed_at: str
    ended_at: str | None
    end_reason: str | None


TracedTalk = TypedDict(
    "TracedTalk",
    {
        "conversation_id": str,
        "with": str,
        "turns": int,
        "state": schemas.ConversationState,
        "purpose": str,
        "created_at": str,
        "ended_at": str | None,
    },
)


class TracedEvent(TypedDict):
    sequence: int
    at: str
    kind: str
    actor_id: str
    by_person: bool
    agent_id: str | None
    session_id: str | None
    launch_id: str | None
    data: dict[str, Any]


class TracedWait(TypedDict):
    """A time in which nobody worked on the task. `on`: the tasks it waited for, or that its agent had instead; `reason`
    and `rule`: why its agent was held, or who blocked it said why; `event`: the number of the event that says so."""

    cause: Literal[
        "backlog",
        "approval",
        "dependencies",
        "not_started",
        "queue",
        "agent",
        "subtasks",
        "delegation",
        "answer",
        "others",
        "blocked",
        "review",
    ]
    since: str
    until: str | None
    on: list[str]
    reason: str | None
    rule: str | None
    event: int | None


class TracedSession(TypedDict):
    """`calls`: those to this server, but for the ones that waited."""

    session_id: str
    signed_in_at: str
    ended_at: str | None
    end_reason: str | None
    calls: int


class TracedLaunch(schemas.LaunchUsed):
    session: TracedSession | None


class TracedDecision(TypedDict):
    """A launch decision for the task: the row that won, and the facts it read."""

    sequence: int
    at: str
    agent_id: str
    action: Literal["start", "hold", "stop"]
    reason: str
    row: str
    rule: str
    facts: dict[str, Any]


class TracedCheck(TypedDict):
    """A run of the acceptance checks. `passed` is null until it has ended."""

    check_id: str
    launch_id: str
    created_at: str
    finished_at: str | None
    passed: bool | None
    failures: list[CheckFailure]
    evidence: list[CheckEvidence]


class TracedDelegation(TypedDict):
    delegation_id: str
    target_agent_id: str
    purpose: str
    await_result: bool
    status: str
    created_at: str
    ended_at: str | None


class TracedWork(TypedDict):
    """The branch with the task's work, and where it went."""

    branch: str
    state: Literal["open", "merged", "discarded"]
    commits: int
    files_changed: int
    insertions: int
    deletions: int
    merged_commit: str | None
    merged_into: str | None
    updated_at: str


class TracedTask(TypedDict):
    """A task of the request, with its oldest events, and the tasks below it. `moved_at`: when its status changed."""

    task_id: str
    title: str
    status: schemas.StatusName
    project_id: str
    assignee_id: str | None
    agent_type: str | None
    created_by: str
    parent_task_id: str | None
    dependencies: list[str]
    attempt: int
    created_at: str
    started_at: str | None
    completed_at: str | None
    moved_at: str
    duration_ms: int | None
    summary: str | None
    error: str | None
    artifacts: list[Any]
    attempts: list[Attempt]
    waits: list[TracedWait]
    launches: list[TracedLaunch]
    decisions: list[TracedDecision]
    checks: list[TracedCheck]
    delegations: list[TracedDelegation]
    conversations: list[TracedTalk]
    work: TracedWork | None
    events: list[TracedEvent]
    tasks: list[TracedTask]


class Trace(Result):
    """`usage`: of all launches for these tasks."""

    correlation_id: str
    trace_id: str
    project_ids: list[str]
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None
    usage: Sums
    tasks: list[TracedTask]


@operation(
    "show_trace",
    grant=Grant.PERSON,
    parameters=OneTrace,
    route=Route("GET", "/traces/{correlation_id}"),
    tool=False,
    reads=True,
)
def show_trace(call: Call, wanted: OneTrace) -> Trace:
    """Everything that one request has caused, as a tree of tasks with what they waited for, their attempts, launches,
    checks, talk and events, and what it cost."""
    correlation_id = wanted.correlation_id
    task = call.tx.tasks.find(correlation_id)
    if task is not None and not visibility.sees(call, task.project_id):
        task = None
    if task is not None:  # a task's id means the request it belongs to
        correlation_id = task.correlation_id or correlation_id
    tasks = [each for each in call.tx.tasks.correlated(correlation_id) if visibility.sees(call, each.project_id)]
    if not tasks:
        raise Refusal(
            Code.TASK_NOT_FOUND,
            say("No task belongs to the request {correlation_id}.", correlation_id=wanted.correlation_id),
            say(
                "{deed:Give the correlation_id of a task (…), or the id of one of its tasks.}",
                deed=deed("show", task_id=Blank("ID")),
            ),
            correlation_id=wanted.correlation_id,
        )
    if wanted.below and task is not None:
        tasks = _below(task, tasks)
    facts = TraceFacts(call, tasks)
    ids = {task.id for task in tasks}
    roots = [task for task in tasks if _above(task) not in ids]
    start, end = min(task.created_at for task in tasks), _end(tasks)
    projects = sorted({task.project_id for task in tasks})
    (usage,) = call.tx.usages.sums((), Wanted(projects, sorted(ids)), 1)
    return {
        "success": True,
        "correlation_id": correlation_id,
        "trace_id": trace_id_of(correlation_id),
        "project_ids": projects,
        "started_at": iso(start),
        "ended_at": iso_or_none(end),
        "duration_ms": end - start if end is not None else None,
        "usage": usage,
        "tasks": [_node(call, root, facts) for root in roots],
    }


def _above(task: Task) -> str | None:
    """Of which task it is a part, or from which it comes."""
    return task.parent_id or task.origin_id


def _below(task: Task, tasks: Sequence[Task]) -> list[Task]:
    """The task itself and everything below it; parents are older than their parts."""
    found = {task.id}
    for each in tasks:
        if _above(each) in found:
            found.add(each.id)
    return [each for each in tasks if each.id in found]


def _end(tasks: Sequence[Task]) -> Millis | None:
    """When the last of them was closed; None while one is open."""
    if any(task.open for task in tasks):
        return None
    return max(task.completed_at or task.moved_at for task in tasks)


def _node(call: Call, task: Task, facts: TraceFacts) -> TracedTask:
    details = facts.details[task.id]
    worktree = facts.worktrees.get(task.id)
    return {
        "task_id": task.id,
        "title": task.title,
        "status": task.status.value,
        "project_id": task.project_id,
        "assignee_id": task.assignee_id,
        "agent_type": task.agent_type,
        "created_by": task.created_by,
        "parent_task_id": _above(task),
        "dependencies": facts.depends_on.get(task.id, []),
        "attempt": task.attempt,
        "created_at": iso(task.created_at),
        "started_at": iso_or_none(task.started_at),
        "completed_at": iso_or_none(task.completed_at),
        "moved_at": iso(task.moved_at),
        "duration_ms": task.completed_at - task.started_at if task.completed_at and task.started_at else None,
        "summary": details.summary,
        "error": details.error,
        "artifacts": list(details.artifacts),
        "attempts": [_attempt(claim) for claim in call.tx.queues.claims_of_task(task.id)],
        "waits": [_wait(each) for each in facts.waits(task)],
        "launches": [_launch(each, facts) for each in facts.launches[task.id]],
        "decisions": [_decision(each) for each in facts.decisions(task)],
        "checks": [_check(each) for each in facts.checks[task.id]],
        "delegations": [_delegation(each) for each in call.tx.chat.delegations_of_task(task.id)],
        "conversations": [
            {
                "conversation_id": conversation.id,
                "with": conversation.partner_id,
                "turns": conversation.turns,
                "state": conversation.state.value,
                "purpose": conversation.purpose,
                "created_at": iso(conversation.created_at),
                "ended_at": iso_or_none(conversation.ended_at),
            }
            for conversation in call.tx.chat.conversations_of_task(task.id)
        ],
        "work": _work(worktree) if worktree is not None else None,
        "events": [_event(each) for each in facts.events[task.id]],
        "tasks": [_node(call, each, facts) for each in facts.tasks if _above(each) == task.id],
    }


_wait = wire(Waiting, TracedWait, rule=lambda each: constant(each.rule) if each.rule is not None else None)


def _launch(each: Launch, facts: TraceFacts) -> TracedLaunch:
    session = facts.sessions.get(each.id)
    signed_in = _session(session) if session is not None else None
    return {**rendering.launch(each), "usage": rendering.usage(facts.used.get(each.id)), "session": signed_in}


_session = wire(Session, TracedSession, session_id="id", signed_in_at="created_at")


def _decision(each: Event) -> TracedDecision:
    data = each.data
    return {
        "sequence": each.sequence,
        "at": iso(each.at),
        "agent_id": each.agent_id or "",
        "action": data["action"],
        "reason": data["reason"],
        "row": data["row"],
        "rule": constant(data["rule"]),
        "facts": data.get("facts") or {},
    }


_check = wire(
    Check,
    TracedCheck,
    check_id="id",
    passed=lambda each: None if each.finished_at is None else each.passed,
    failures=lambda each: list(each.failures or ()),
    evidence=lambda each: list(each.evidence or ()),
)


_attempt = wire(Claim, Attempt)
_delegation = wire(Delegation, TracedDelegation, delegation_id="id")


_work = wire(Worktree, TracedWork)


def _event(each: Event) -> TracedEvent:
    told = rendering.event(each)
    return {
        "sequence": told["sequence"],
        "at": told["at"],
        "kind": told["kind"],
        "actor_id": told["actor_id"],
        "by_person": told["by_person"],
        "agent_id": told["agent_id"],
        "session_id": told["session_id"],
        "launch_id": told["launch_id"],
        "data": told["data"],
    }
