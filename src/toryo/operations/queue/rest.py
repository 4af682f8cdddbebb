"""What people do about queues: API keys, dead letters, and who serves what. REST and CLI."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from toryo.domain import ids, queue
from toryo.domain.errors import Code, Refusal
from toryo.domain.queue import ApiKey
from toryo.domain.tasks import Status, Task
from toryo.domain.times import iso, iso_or_none
from toryo.domain.wording import say
from toryo.operations.calls import near, schemas
from toryo.operations.calls.call import RIGHTS, Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.identity import QUEUE, digest
from toryo.operations.calls.pagination import Page, Paged, cursor_of, cut, key_of
from toryo.operations.calls.results import Result, TaskResult
from toryo.operations.queue import claims as queue_claims
from toryo.operations.tasks import commands as task_commands
from toryo.operations.tasks import queued

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
MOST_DEAD = 500
"""Dead letters of one page, where nobody says how many."""


class InProject(Parameters):
    project_id: Id = Field(description="The project.")


class MakeKey(InProject):
    agent_id: Id | None = Field(None, description="Whose it is; without one, the first agent that registers with it.")
    types: list[Name] = Field(default_factory=list, max_length=50, description="The queues it may serve; none: any.")
    orchestrator: bool = Field(False, description="Whether it may file tasks for queues.")
    tools: list[Name] = Field(default_factory=list, max_length=50, description="The tools it may call; none: all.")
    name: str | None = Field(None, min_length=1, max_length=200, description="What it is for.")


class KeyMade(Result):
    token: str
    key: schemas.Key
    agent_id: str | None


@operation(
    "make_api_key",
    grant=Grant.OWNER,
    parameters=MakeKey,
    result=KeyMade,
    route=Route("POST", "/projects/{project_id}/keys", 201),
    tool=False,
)
def make_api_key(call: Call, wanted: MakeKey) -> dict[str, Any]:
    """Make an API key for an agent that runs already. It is shown once."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if wanted.agent_id is not None:
        queue_claims.self_driven(call, ids.chosen(wanted.agent_id))
    key = ApiKey(
        id=call.new_id(ids.KEY),
        project_id=project.id,
        name=wanted.name or wanted.agent_id or "queue agent",
        agent_id=wanted.agent_id,
        types=tuple(wanted.types),
        orchestrator=wanted.orchestrator,
        tools=tuple(wanted.tools),
        created_by=call.actor.id,
        created_at=call.now,
    )
    token = call.new_token(QUEUE)
    call.tx.queues.add_key(key, digest(token))
    call.event("key.made", project_id=project.id, agent_id=key.agent_id, data=_shown(key))
    return {"success": True, "token": token, "agent_id": key.agent_id, "key": _shown(key)}


def _shown(key: ApiKey) -> dict[str, Any]:
    return {
        "key_id": key.id,
        "project_id": key.project_id,
        "name": key.name,
        "agent_id": key.agent_id,
        "types": list(key.types),
        "orchestrator": key.orchestrator,
        "tools": list(key.tools),
        "created_by": key.created_by,
        "created_at": iso(key.created_at),
        "revoked_at": iso_or_none(key.revoked_at),
    }


class ListKeys(Paged):
    project_id: Id = Field(description="The project.")


class Keys(Page):
    keys: list[schemas.Key]


@operation(
    "list_api_keys",
    grant=Grant.PERSON,
    parameters=ListKeys,
    result=Keys,
    route=Route("GET", "/projects/{project_id}/keys"),
    tool=False,
    reads=True,
)
def list_api_keys(call: Call, wanted: ListKeys) -> dict[str, Any]:
    """The API keys of a project, without their secrets."""
    project = call.project(wanted.project_id)
    found, more = cut(call.tx.queues.keys(project.id), wanted, lambda each: each.id)
    return {"success": True, "keys": [_shown(each) for each in found], **more}


class OneKey(Parameters):
    key_id: Id = Field(description="The key.")


class KeyRevoked(Result):
    key: schemas.Key


@operation(
    "revoke_api_key",
    grant=Grant.OWNER,
    parameters=OneKey,
    result=KeyRevoked,
    route=Route("POST", "/keys/{key_id}/revoke"),
    tool=False,
)
def revoke_api_key(call: Call, wanted: OneKey) -> dict[str, Any]:
    """Make a key worthless. Claims of its agent go back when their time is over."""
    key = call.tx.queues.key(wanted.key_id)
    if key is None or not call.sees(key.project_id):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("There is no API key {key_id}.", key_id=wanted.key_id),
            near.hint(
                wanted.key_id,
                (
                    (each.id, each.name)
                    for project in call.tx.projects.all()
                    if call.sees(project.id)
                    for each in call.tx.queues.keys(project.id)
                ),
                "toryo token list has the ids of a project's keys.",
            ),
            key_id=wanted.key_id,
        )
    call.enter(key.project_id)
    revoked = key if key.revoked_at is not None else replace(key, revoked_at=call.now)
    call.tx.queues.save_key(key, revoked)
    call.tx.hint(RIGHTS)
    call.event("key.revoked", project_id=key.project_id, agent_id=key.agent_id, data={"key_id": key.id})
    return {"success": True, "key": _shown(revoked)}


# --- looking, and dead letters ---------------------------------------------------------------------------------------


class ListInProject(InProject, Paged):
    pass


class QueueAgents(Page):
    agents: list[schemas.QueueAgent]


@operation(
    "list_queue_agents",
    grant=Grant.PERSON,
    parameters=ListInProject,
    result=QueueAgents,
    route=Route("GET", "/projects/{project_id}/queue-agents"),
    tool=False,
    reads=True,
)
def list_queue_agents(call: Call, wanted: ListInProject) -> dict[str, Any]:
    """The agents that have registered themselves: which queue, last seen, with which tasks."""
    project = call.project(wanted.project_id)
    present, more = cut(call.tx.queues.presences(project.id), wanted, lambda each: each.agent_id)
    found = []
    for each in present:
        claims = call.tx.queues.claims_of(each.agent_id)
        offline = not each.online or each.silent(call.now)
        found.append(
            {
                "agent_id": each.agent_id,
                "agent_type": each.agent_type,
                "capabilities": list(each.capabilities),
                "status": "offline" if offline else "busy" if claims else "online",
                "last_seen": iso(each.seen_at),
                "current_tasks": [claim.task_id for claim in claims],
            }
        )
    return {"success": True, "agents": found, **more}


class DeadLetters(Page):
    tasks: list[dict[str, Any]]


@operation(
    "list_dead_letters",
    grant=Grant.PERSON,
    parameters=ListInProject,
    result=DeadLetters,
    route=Route("GET", "/projects/{project_id}/dead-letters"),
    tool=False,
    reads=True,
)
def list_dead_letters(call: Call, wanted: ListInProject) -> dict[str, Any]:
    """Queue tasks that have failed for good, the newest first."""
    project, limit = call.project(wanted.project_id), wanted.limit or MOST_DEAD
    key = key_of(wanted.cursor, int, str)
    found = call.tx.queues.dead(project.id, limit + 1, (key[0], key[1]) if key is not None else None)
    shown = found[:limit]
    more = {"next_cursor": cursor_of(shown[-1].completed_at or 0, shown[-1].id)} if len(found) > limit else {}
    return {"success": True, "tasks": [queued.show(call, each) for each in shown], **more}


class Requeue(Parameters):
    task_id: Id = Field(description="The task.")


@operation(
    "requeue_task",
    grant=Grant.WRITER,
    parameters=Requeue,
    result=TaskResult,
    route=Route("POST", "/tasks/{task_id}/requeue"),
    tool=False,
)
def requeue_task(call: Call, wanted: Requeue) -> dict[str, Any]:
    """Put a dead letter back into its queue, with a full number of attempts."""
    call.enter(call.task(wanted.task_id).project_id)
    task = call.task(wanted.task_id)
    if not task.for_queue or task.status is not Status.FAILED:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status}.", task_id=task.id, status=task.status)
            if task.for_queue
            else say("Task {task_id} is no queue task.", task_id=task.id),
            "Only queue tasks that have failed are put back.",
            task_id=task.id,
        )
    back = task_commands.move(call, call.ground(task), task, Status.TODO)
    last = back.attempt - 1 + _tries(call, task)
    stored = call.tx.tasks.save(back, replace(back, assignee_id=None, not_before=None, max_attempts=last))
    call.event("task.requeued", task=stored, data={"attempt": stored.attempt})
    return {"success": True, "task_id": stored.id, "task": queued.show(call, stored)}


def _tries(call: Call, task: Task) -> int:
    """How many attempts it has had each time: its limit counts on from the attempt in which it was last put back."""
    before = call.tx.events.newest_of(task.id, ("task.requeued",))
    first = before.data["attempt"] if before is not None else 1
    return int((task.max_attempts or queue.MAX_ATTEMPTS) - first + 1)
