"""Queue tasks: creating (`create_queue_tasks`, and the second form of `create_task`) and rendering them.

What is created here one after the other, `queue/batched.py` creates in the same way for many calls at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from toryo.domain import creation_rules, queue
from toryo.domain.creation_rules import Draft
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.projects import Project
from toryo.domain.queue import KEYLESS
from toryo.domain.tasks import Details, Priority, Status, Task, priority_named
from toryo.domain.times import iso, iso_or_none
from toryo.operations.calls import idempotency, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Kind
from toryo.operations.calls.results import Result
from toryo.operations.tasks import mutations
from toryo.storage import snapshots

_SCOPE = "queue"
_TITLE = 300


@dataclass(frozen=True, slots=True)
class Wanted:
    """An orchestrator's request; times are seconds."""

    agent_type: str
    task_description: str
    priority: Priority
    context: Any = None
    dependencies: tuple[str, ...] = ()
    correlation_id: str | None = None
    parent_task_id: str | None = None
    timeout_seconds: int | None = None
    max_attempts: int | None = None
    idempotency_key: str | None = None

    @classmethod
    def of(cls, given: Any) -> Wanted:
        """From the parameters of a tool, whose names these are."""
        return cls(
            agent_type=given.agent_type or "",
            task_description=given.task_description or "",
            priority=priority_named(given.priority),
            context=given.context,
            dependencies=tuple(given.dependencies),
            correlation_id=given.correlation_id,
            parent_task_id=given.parent_task_id,
            timeout_seconds=given.timeout_seconds,
            max_attempts=given.max_attempts,
            idempotency_key=getattr(given, "idempotency_key", None),
        )

    @property
    def draft(self) -> Draft:
        return Draft(
            title=self.task_description.strip().splitlines()[0][:_TITLE],
            description=self.task_description,
            priority=self.priority,
            dependencies=self.dependencies,
            agent_type=self.agent_type,
            context=self.context,
        )

    def once(self, actor_id: str, project_id: str | None) -> idempotency.Once:
        return idempotency.Once.of(actor_id, f"{_SCOPE}:{project_id}", self.idempotency_key, self.content)

    @property
    def content(self) -> dict[str, Any]:
        """What an idempotency key stands for."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "idempotency_key"}


def file(call: Call, wanted: Wanted) -> Filed:
    """Files the task, or answers with the one that this idempotency key has filed before. Raises Refusal."""
    once = wanted.once(call.actor.id, call.caller.project_id)
    before: str | None = once.before(call, task_id=lambda task_id: task_id)
    task = call.task(before) if before is not None else _file(call, wanted)
    if before is None:
        once.remember(call, task.id)
    shown: Result = {"success": True}
    return {**shown, **show(call, task), **_standing_still(call, task)}


def file_all(call: Call, wanted: Sequence[Wanted], key: str | None) -> FiledAll:
    """Files all of them, or answers with those that this idempotency key has filed before. A refusal has the `place` of
    the refused task, from 0; then none is filed.
    """
    once = once_for_all(call.actor.id, call.caller.project_id, key, wanted)
    before: list[str] | None = once.before(call, task_ids=lambda task_ids: task_ids)
    task_ids = before if before is not None else [task.id for task in _all_filed(call, wanted)]
    if before is None:
        once.remember(call, task_ids)
    served = snapshots.served(call.tx, call.caller.project_id or "")
    return filed_all(task_ids, {each.agent_type for each in wanted} - served)


def _all_filed(call: Call, wanted: Sequence[Wanted]) -> Iterator[Task]:
    given = call.correlation_id
    for place, each in enumerate(wanted):
        call.place, call.correlation_id = place, given
        try:
            yield _file(call, each)
        except Refusal as refusal:
            refusal.details["place"] = place
            raise


def once_for_all(actor_id: str, project_id: str | None, key: str | None, wanted: Sequence[Wanted]) -> idempotency.Once:
    content = [each.content for each in wanted] if key is not None else []
    return idempotency.Once.of(actor_id, f"{_SCOPE} batch:{project_id}", key, content)


def filed_all(task_ids: list[str], unserved: Iterable[str]) -> FiledAll:
    return {"success": True, "task_ids": task_ids, "no_agent": sorted(unserved)}


class StandingStill(TypedDict):
    no_agent: NotRequired[bool]
    dependency_failed: NotRequired[bool]
    message: NotRequired[str]


def no_agent(agent_type: str | None) -> StandingStill:
    """What the answer says about a task whose queue has no agent."""
    told = f"No agent serves the queue {agent_type} now. The task waits until one registers."
    return {"no_agent": True, "message": told}


class FiledAll(Result):
    task_ids: list[str]
    no_agent: list[str]
    """The queues among them that no agent serves now."""


class Filed(Result, schemas.QueueTask, StandingStill):
    """The task is the answer itself."""


def _standing_still(call: Call, task: Task) -> StandingStill:
    """What keeps the task from being done, as things are: who files it is the one to do something about that."""
    tree_state = call.tree_state(task)
    own = tree_state.tree.tasks[task.id]
    found: StandingStill = {}
    said = []
    if task.agent_type not in tree_state.served:
        unserved = no_agent(task.agent_type)
        found["no_agent"] = unserved["no_agent"]
        said.append(unserved["message"])
    never = [
        dependency.id
        for dependency in tree_state.tree.open_dependencies(own)
        if dependency.status in (Status.CANCELLED, Status.FAILED)
    ]
    if never:
        found["dependency_failed"] = True
        said.append(f"It depends on tasks that failed or were cancelled ({', '.join(never)}), so it cannot start.")
    return {**found, "message": " ".join(said)} if said else {}


def _file(call: Call, wanted: Wanted) -> Task:
    project = call.project(call.caller.project_id or "")
    parent = _parent(call, wanted.parent_task_id)
    draft = wanted.draft
    creation_rules.refuse_command_for_others(draft)
    if call.caller.key is not None and call.caller.key.id == KEYLESS:
        _refuse_programs(call, project, wanted.agent_type)
    if parent is not None and call.caller.kind is not Kind.SESSION:
        # Nobody who files with a key waits for the parts of a task, so the parent is told and contains nothing.
        draft, call.correlation_id = replace(draft, origin_id=parent.id), parent.correlation_id
        parent = None
    if parent is not None:
        tree = call.tx.tasks.tree(parent.root_id)
        creation_rules.refuse_place(project.settings, tree, parent, [draft], capped=True, distinct=False)
    elif wanted.correlation_id is not None:
        call.correlation_id = wanted.correlation_id
    [made] = mutations.create(call, project, parent, [draft]).values()
    limits = replace(made.task, timeout_seconds=wanted.timeout_seconds, max_attempts=wanted.max_attempts)
    return call.tx.tasks.save(made.task, limits)


def _refuse_programs(call: Call, project: Project, agent_type: str) -> None:
    """What comes without a key starts no program, so it does not go to an agent that Toryo starts."""
    starts = [
        agent_id for where, queue, agent_id in call.tx.agents.serving() if (where, queue) == (project.id, agent_type)
    ]
    if starts:
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"The queue {agent_type} is served by {starts[0]}, which Toryo starts. That needs an API key.",
            "Choose a queue of agents that run by themselves (list_agents), or ask a person for an API key.",
            agent_type=agent_type,
        )


def _parent(call: Call, parent_id: str | None) -> Task | None:
    """A task that the orchestrator created or holds."""
    if parent_id is None:
        return None
    parent = call.task(parent_id)
    if call.actor.id not in (parent.created_by, parent.assignee_id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"You neither created task {parent.id} nor is it assigned to you.",
            "Omit parent_task_id, or pass a task that you created or claimed.",
            parent_task_id=parent.id,
        )
    return parent


def show(call: Call, task: Task) -> schemas.QueueTask:
    """A task in the shape of the queue protocol, with what a queue adds."""
    return show_all(call, [task])[0]


def show_all(call: Call, tasks: Sequence[Task]) -> list[schemas.QueueTask]:
    """As `show`, with as many statements for many as for one."""
    ids = [task.id for task in tasks]
    details, edges = call.tx.tasks.details_of(ids), call.tx.tasks.depends_on(ids) if ids else {}
    return [shown(task, details[task.id], edges.get(task.id, [])) for task in tasks]


_STATUS: dict[Status, schemas.QueueStatus] = {status: status.value for status in Status} | {Status.TODO: "pending"}
"""A queue's word for what waits is another one."""


def shown(task: Task, details: Details, depends_on: list[str]) -> schemas.QueueTask:
    return {
        "task_id": task.id,
        "id": task.id,
        "agent_type": task.agent_type,
        "title": task.title,
        "status": _STATUS[task.status],
        "priority": task.priority.value,
        "assigned_agent_id": task.assignee_id,
        "parent_task_id": task.parent_id or task.origin_id,
        "dependencies": depends_on,
        "correlation_id": task.correlation_id,
        "attempt": task.attempt,
        "max_attempts": task.max_attempts or queue.MAX_ATTEMPTS,
        "timeout_seconds": task.timeout_seconds or queue.TIMEOUT_SECONDS,
        "created_by": task.created_by,
        "blocked_reason": task.blocked_reason,
        "not_before": iso_or_none(task.not_before),
        "created_at": iso(task.created_at),
        "updated_at": iso(task.updated_at),
        "started_at": iso_or_none(task.started_at),
        "completed_at": iso_or_none(task.completed_at),
        "task_description": details.description,
        "context": details.context,
        "result": details.result,
        "error": details.error,
        "summary": details.summary,
    }
