"""Queue tasks: creating (`create_queue_tasks`, and the second form of `create_task`) and rendering them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple, NotRequired, TypeVar

from typing_extensions import TypedDict

from toryo.domain import creation_rules, queue
from toryo.domain.creation_rules import Draft
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.projects import Project
from toryo.domain.queue import KEYLESS
from toryo.domain.tasks import Details, Priority, Status, Task
from toryo.domain.times import Millis, iso, iso_or_none
from toryo.operations.calls import idempotency, schemas
from toryo.operations.calls.batches import Asked, Calls
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Kind
from toryo.operations.calls.results import Result
from toryo.operations.tasks import mutations
from toryo.storage.idempotency_keys import Key

_TITLE = 300
P = TypeVar("P")
T = TypeVar("T")


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

    @property
    def content(self) -> dict[str, Any]:
        """What an idempotency key stands for."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "idempotency_key"}


class Checked(NamedTuple):
    """A task that may be filed."""

    draft: Draft
    correlation_id: str | None
    within: Task | None
    """What it becomes a part of."""


@dataclass(slots=True, eq=False)
class Filing:
    """What one call files, all of it or nothing, and what has become of it."""

    wanted: Sequence[Wanted]
    once: idempotency.Once
    named: str
    """What is kept for its idempotency key: one `task_id`, or all `task_ids`."""
    before: Any = None
    """The same, if the key has filed before."""
    tasks: list[mutations.Created] = field(default_factory=list)
    unserved: set[str] = field(default_factory=set)
    """The queues among those of its tasks that no agent serves now."""

    @classmethod
    def of_one(cls, call: Call, wanted: Wanted, key: str | None) -> Filing:
        scope = f"queue:{call.caller.project_id}"
        return cls([wanted], idempotency.Once.of(call.actor.id, scope, key, wanted.content if key else None), "task_id")

    @classmethod
    def of_all(cls, call: Call, wanted: Sequence[Wanted], key: str | None) -> Filing:
        scope = f"queue batch:{call.caller.project_id}"
        content = [each.content for each in wanted] if key else None
        return cls(wanted, idempotency.Once.of(call.actor.id, scope, key, content), "task_ids")

    @property
    def kept(self) -> Any:
        ids = [each.task.id for each in self.tasks]
        return ids[0] if self.named == "task_id" else ids

    def each(self, call: Call, carry_out: Callable[..., T], *more: Sequence[Any]) -> list[T]:
        """For each task in turn. Among several, a refusal has the `place` of the refused one, from 0."""
        done = []
        for place, given in enumerate(zip(self.wanted, *more, strict=True)):
            call.place = place
            try:
                done.append(carry_out(*given))
            except Refusal as refusal:
                if self.named == "task_ids":
                    refusal.details["place"] = place
                raise
        return done


def file(calls: Calls[P], filings: Mapping[Asked[P], Filing]) -> list[Asked[P]]:
    """Files what the calls want, or finds what their idempotency keys have filed before. Answers for which of them.
    Raises Refusal.
    """
    tx, meeting = calls.tx, set[Key]()
    used = tx.idempotency_keys.find(key for filing in filings.values() for key in filing.once.stored)
    if others := {each for filing in filings.values() for wanted in filing.wanted for each in wanted.dependencies}:
        tx.tasks.find_all(others)

    def judge(asked: Asked[P]) -> list[Checked]:
        filing = filings[asked]
        filing.before = filing.once.among(used, **{filing.named: lambda kept: kept})
        if filing.before is not None or not meeting.isdisjoint(filing.once.stored):
            calls.leave()
            return []
        meeting.update(filing.once.stored)
        checked = filing.each(asked.call, partial(_checked, asked))
        if not calls.has_room(asked, len(checked), len(checked)):
            calls.leave()
        return checked

    judged = calls.each(filings, judge)
    queues = {(asked.project.id, each.agent_type) for asked, _ in judged for each in filings[asked].wanted}
    served = tx.queues.served(queues) if queues else set()
    alone: list[mutations.Created] = []
    keys: list[tuple[Key, str, Any, Millis]] = []
    for asked, checked in judged:
        filing = filings[asked]
        filing.unserved = {
            each.agent_type for each in filing.wanted if (asked.project.id, each.agent_type) not in served
        }
        if checked:
            filing.tasks = filing.each(asked.call, partial(_filed, calls, asked), checked)
            alone += [each for each, own in zip(filing.tasks, checked, strict=True) if own.within is None]
            keys += [(key, filing.once.content, filing.kept, asked.call.now) for key in filing.once.stored]
    tx.tasks.file([(each.task, each.details, each.depends_on) for each in alone])
    tx.idempotency_keys.remember(keys)
    return [asked for asked, _ in judged]


def filed_one(call: Call, filing: Filing) -> Filed:
    """What is answered about the task, as it is now."""
    succeeded: Result = {"success": True}
    if filing.before is not None:
        task = call.task(filing.before)
        return {**succeeded, **show(call, task), **_standing_still(call, task)}
    [made] = filing.tasks
    unserved = no_agent(made.task.agent_type) if filing.unserved else StandingStill()
    return {**succeeded, **as_answer(made.task, made.details, made.depends_on), **unserved}


def filed_all(filing: Filing) -> FiledAll:
    task_ids = filing.before if filing.before is not None else filing.kept
    return {"success": True, "task_ids": task_ids, "no_agent": sorted(filing.unserved)}


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


def _checked(asked: Asked[Any], wanted: Wanted) -> Checked:
    """Raises Refusal for what may not be filed."""
    call, project, draft = asked.call, asked.project, wanted.draft
    within = _parent(call, wanted.parent_task_id)
    correlation_id = wanted.correlation_id or call.correlation_id
    creation_rules.refuse_command_for_others(draft)
    if call.caller.key is not None and call.caller.key.id == KEYLESS:
        _refuse_programs(call, project, wanted.agent_type)
    if within is None:
        pass
    elif call.caller.kind is Kind.SESSION:
        return Checked(draft, correlation_id, within)
    else:
        # Nobody who files with a key waits for the parts of a task, so the parent is told and contains nothing.
        draft = replace(draft, origin_id=within.id)
        correlation_id = wanted.correlation_id or within.correlation_id
    for each in draft.dependencies:
        mutations.existing_dependency(call, project.id, each)
    return Checked(draft, correlation_id, None)


def _filed(calls: Calls[Any], asked: Asked[Any], wanted: Wanted, checked: Checked) -> mutations.Created:
    call, project, (draft, call.correlation_id, within) = asked.call, asked.project, checked
    limits: Any = {"timeout_seconds": wanted.timeout_seconds, "max_attempts": wanted.max_attempts}
    if within is not None:
        tree, within = call.tx.tasks.tree(within.root_id), call.task(within.id)
        creation_rules.refuse_place(project.settings, tree, within, [draft], capped=True, distinct=False)
        [made] = mutations.create(call, project, within, [draft]).values()
        return replace(made, task=call.tx.tasks.save(made.task, replace(made.task, **limits)))
    made = mutations.for_queue(call, project, draft)
    calls.offer(mutations.queue_topic(project.id, wanted.agent_type))
    if wanted.timeout_seconds is None and wanted.max_attempts is None:
        return made
    return replace(made, task=replace(made.task, **limits, version=made.task.version + 1))


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
    return [as_answer(task, details[task.id], edges.get(task.id, [])) for task in tasks]


_STATUS: dict[Status, schemas.QueueStatus] = {status: status.value for status in Status} | {Status.TODO: "pending"}
"""A queue's word for what waits is another one."""


def as_answer(task: Task, details: Details, depends_on: list[str]) -> schemas.QueueTask:
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
