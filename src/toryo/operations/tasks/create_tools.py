"""Tools with which agents create tasks: subtasks of their main task, one or several; for orchestrators, queue tasks.

Who may create which, and how many, is in `domain/creation_rules.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from toryo.domain import creation_rules
from toryo.domain.agents import Role
from toryo.domain.creation_rules import Draft, Intent
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.queue import CREATED_AT_ONCE, LONGEST_CLAIM, MAX_ATTEMPTS, TIMEOUT_SECONDS
from toryo.domain.sessions import Choice
from toryo.domain.tasks import Status, Task
from toryo.domain.times import SECOND
from toryo.operations.calls import idempotency, rendering, schemas
from toryo.operations.calls.batches import Asked, Calls, in_batches
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.catalogue import Audience, Parameters, Route, catalogue, operation
from toryo.operations.calls.fields import Assignee, Context, GivenPriority, Id, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, Form, listed_choices, listed_for
from toryo.operations.calls.permissions import refuse_session
from toryo.operations.calls.results import Result
from toryo.operations.tasks import below_main_task, given, mutations, queue_tasks
from toryo.operations.tasks.acceptance_checks import Acceptance
from toryo.task_forms import TaskForm, Time, Touches

_MANAGERS = listed_for(Audience.MANAGER)
"""Parameters that mean nothing to workers, or that only managers decide."""


Assigned = Annotated[Assignee | None, Field(default=None, description="A subordinate, or any.")]
Anyone = Annotated[
    given.GivenPool | None,
    Field(default=None, description="Like any as assignee_id.", json_schema_extra=listed_for(Audience.NONE)),
]
Dependencies = Annotated[list[Id], Field(default_factory=list, max_length=60, description="Tasks to complete first.")]
Checked = Annotated[Acceptance, Field(default_factory=list, description="Checked when success is reported.")]
Changing = Annotated[Touches, Field(default_factory=list, description="Files it changes: repository paths, * and **.")]
GivenIntent = Annotated[
    Literal["new", "refine", "replace"] | None,
    Field(
        default=None,
        description="Required if subtasks are open. new, refine keep them; replace cancels those not in progress.",
    ),
]
Request = Annotated[
    str | None,
    Field(default=None, min_length=1, max_length=200, description="Your id of the request that it belongs to."),
]
ClaimSeconds = Annotated[
    int | None,
    Field(
        default=None,
        ge=1,
        le=LONGEST_CLAIM // SECOND,
        description=f"How long a claim lasts (default {TIMEOUT_SECONDS}).",
    ),
]
Attempts = Annotated[
    int | None, Field(default=None, ge=1, le=100, description=f"How often it may be tried (default {MAX_ATTEMPTS}).")
]
Starts = Annotated[schemas.StartName | None, Field(default=None, description="Toryo starts it, not you.")]
NotBefore = Annotated[
    Time | None,
    Field(
        default=None,
        description="Managers: it does not start before this time, ISO 8601 with an offset.",
        json_schema_extra=listed_for(Audience.NONE),
    ),
]
Once = Annotated[
    str | None, Field(default=None, min_length=1, max_length=200, description="The same key creates once.")
]
"""As most of these tools describe them; a tool may say another description, or who is shown it."""


class _Subtask(Parameters):
    title: Title | None = Field(None, description="One line.")
    description: Text | None = Field(None, description="What exactly, and when it is done.")
    priority: GivenPriority = Field("medium", description="Which first.", json_schema_extra=PLAIN)
    parent_task_id: Id | None = Field(None, description="Default: your main task.")
    dependencies: Dependencies
    assignee_id: Assigned
    pool: Anyone
    context: Context
    acceptance: Checked


class CreateTask(TaskForm, _Subtask):
    touches: Changing
    not_before: NotBefore
    start: Starts = Field(json_schema_extra=listed_for(Audience.NONE))
    intent: GivenIntent
    agent_type: str | None = Field(
        None, min_length=1, max_length=100, pattern=r"\S", description="Orchestrators: the queue it goes to."
    )
    task_description: Text | None = Field(None, min_length=1, pattern=r"\S", description="Orchestrators: what to do.")
    correlation_id: Request
    timeout_seconds: ClaimSeconds
    max_attempts: Attempts
    idempotency_key: Once

    @classmethod
    def names_for(cls, _given: Mapping[str, Any]) -> list[str]:
        given = {name for name, value in _given.items() if value is not None}
        other = _OWN_FORM if _QUEUE_FORM & given else _QUEUE_FORM
        return [field for field in cls.model_fields if field not in other]

    @model_validator(mode="after")
    def _one_form(self) -> CreateTask:
        """Title and description for a subtask, agent_type and task_description for a queue: the two do not mix."""
        given = {name for name in self.model_fields_set if getattr(self, name) is not None}
        for_queue, own = _QUEUE_FORM & given, _OWN_FORM & given
        if for_queue and own:
            raise ValueError(f"{', '.join(sorted(own))} and {', '.join(sorted(for_queue))} cannot be combined")
        if not for_queue and not own:
            raise ValueError(
                "pass title and description (of a subtask), or agent_type and task_description (of a queue task)"
            )
        needed = {"agent_type", "task_description"} if for_queue else {"title", "description"}
        missing = sorted(each for each in needed if getattr(self, each) is None)
        if missing:
            raise ValueError(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        return self


_OWN_FORM = frozenset(CreateTask.model_fields) - {each.name for each in fields(queue_tasks.Wanted)}
_QUEUE_FORM = frozenset(
    {"agent_type", "task_description", "correlation_id", "timeout_seconds", "max_attempts", "idempotency_key"}
)


class _OneOfSeveral(Parameters):
    local_id: Id = Field(description="Your name for it, for dependencies.")
    title: Title = Field(description="One line.", json_schema_extra=PLAIN)
    description: Text = Field(description="What exactly, and when it is done.")
    priority: GivenPriority = Field(
        "medium", description="Which first.", json_schema_extra=listed_for(Audience.MANAGER, plain=True)
    )
    dependencies: Dependencies = Field(description="Tasks to complete first: a local_id or task_id each.")
    assignee_id: Assigned = Field(json_schema_extra=_MANAGERS)
    pool: Anyone
    context: Context = Field(json_schema_extra=_MANAGERS)
    acceptance: Checked = Field(
        description="Checked when success is reported: a file or a command each.", json_schema_extra=_MANAGERS
    )


class BatchTask(TaskForm, _OneOfSeveral):
    touches: Changing = Field(json_schema_extra=_MANAGERS)
    not_before: NotBefore
    start: Starts = Field(json_schema_extra={**listed_choices("when_ready", plain=False), **_MANAGERS})


class CreateBatch(Parameters):
    parent_task_id: Id | None = Field(
        None, description="Default: your main task.", json_schema_extra=listed_for(Audience.MANAGER, plain=True)
    )
    tasks: list[BatchTask] = Field(
        min_length=1, max_length=60, description="All are created, or none.", json_schema_extra=PLAIN
    )
    intent: GivenIntent = Field(json_schema_extra=listed_for(Audience.MANAGER, plain=True))  # as of create_task
    idempotency_key: Once = Field(json_schema_extra=listed_for(Audience.NONE))


class QueueTask(Parameters):
    agent_type: str = Field(min_length=1, max_length=100, pattern=r"\S", description="The queue; see list_agents.")
    task_description: Text = Field(min_length=1, pattern=r"\S", description="What exactly, and when it is done.")
    priority: GivenPriority = Field("medium", description="Which first.", json_schema_extra=PLAIN)
    context: Context = Field(description="JSON for the agent.")
    dependencies: Dependencies
    correlation_id: Request
    parent_task_id: Id | None = Field(None, description="A task that you created or claimed, from which it comes.")
    timeout_seconds: ClaimSeconds
    max_attempts: Attempts


class CreateQueueTasks(Parameters):
    tasks: list[QueueTask] = Field(
        min_length=1, max_length=CREATED_AT_ONCE, description="All are created, or none.", json_schema_extra=PLAIN
    )
    idempotency_key: Once


class Created(Result):
    task_id: str
    task: schemas.FullTask


class BatchCreated(Result):
    local_id_to_real_id: dict[str, str]
    tasks: list[schemas.BriefTask]


_FOR_A_QUEUE = Form(
    _OWN_FORM,
    required=("agent_type", "task_description"),
    words={
        "agent_type": "The queue; see list_agents.",
        "task_description": "What exactly, and when it is done.",
        "context": "Data for the agent, any JSON.",
        "parent_task_id": "A task that you created or claimed, if this one comes from it.",
    },
    summary="Create a task for a queue. Returns its task_id.",
)
_SUBTASK = Form(
    _QUEUE_FORM,
    required=("title", "description"),
    summary="Create one subtask (for several: create_tasks_batch). Returns its task_id.",
)


def _form_of_one(_caller: Caller, for_queue: bool) -> Form:
    return _FOR_A_QUEUE if for_queue else _SUBTASK


_OWN_SUBTASKS = Form(
    summary="Create subtasks of your main task, all or none; you do them. Returns the task_id of each local_id."
)


def _form_of_several(caller: Caller, _for_queue: bool) -> Form | None:
    works_alone = caller.agent is not None and caller.agent.role is not Role.MANAGER
    return _OWN_SUBTASKS if works_alone else None


@operation(
    "create_task",
    shown_to=Audience.ORCHESTRATOR,
    grant=Grant.FILER,
    parameters=CreateTask,
    form_for=_form_of_one,
    leads=True,
)
@in_batches
def create_task(calls: Calls[CreateTask]) -> dict[Asked[CreateTask], Created | queue_tasks.Filed]:
    """Create one subtask (for several: create_tasks_batch); orchestrators: a task for a queue. Returns its task_id."""
    queued = [each for each in calls if each.wanted.agent_type is not None]
    filings = dict(calls.each(queued, _filing_of_one))
    filed = queue_tasks.file(calls, filings)
    answers: dict[Asked[CreateTask], Created | queue_tasks.Filed] = {
        each: queue_tasks.filed_one(each.call, filings[each]) for each in filed
    }
    return answers | {each: _subtask(each.call, each.wanted) for each in calls.alone(answers)}


def _subtask(call: Call, wanted: CreateTask) -> Created:
    if call.caller.kind is not Kind.SESSION:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "With an API key you can create only tasks for queues.",
            "Pass agent_type and task_description instead of title and description.",
        )
    refuse_session(catalogue()["create_task"], call.caller)
    [made] = _create(call, wanted.parent_task_id, [given.draft(wanted)], wanted.intent, one_by_one=True).values()
    return {"success": True, "task_id": made.task.id, "task": below_main_task.show_created(made)}


def _filing_of_one(asked: Asked[CreateTask]) -> queue_tasks.Filing:
    _refuse_other_than_orchestrators(asked.call)
    wanted = given.noun(queue_tasks.Wanted, asked.wanted)
    return queue_tasks.Filing.of_one(asked.call, wanted, asked.wanted.idempotency_key)


@operation(
    "create_queue_tasks",
    grant=Grant.FILER,
    parameters=CreateQueueTasks,
    route=Route("POST", "/queue/tasks", 201),
    listed=False,
    leads=True,
)
@in_batches
def create_queue_tasks(calls: Calls[CreateQueueTasks]) -> dict[Asked[CreateQueueTasks], queue_tasks.FiledAll]:
    """Orchestrators: create several tasks for queues, all or none. Returns their task_ids, in the same order."""
    filings = dict(calls.each(calls, _filing_of_all))
    return {each: queue_tasks.filed_all(filings[each]) for each in queue_tasks.file(calls, filings)}


def _filing_of_all(asked: Asked[CreateQueueTasks]) -> queue_tasks.Filing:
    _refuse_other_than_orchestrators(asked.call)
    wanted = [given.noun(queue_tasks.Wanted, each) for each in asked.wanted.tasks]
    return queue_tasks.Filing.of_all(asked.call, wanted, asked.wanted.idempotency_key)


def _refuse_other_than_orchestrators(call: Call) -> None:
    if not call.caller.orchestrates:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Only an orchestrator can create tasks for queues.",
            "Create a subtask with title and description, or ask a person to give you the capability orchestrator.",
        )


@operation(
    "create_tasks_batch",
    shown_to=Audience.DIVIDER | Audience.MANAGER,
    grant=Grant.TASK_SESSION,
    parameters=CreateBatch,
    form_for=_form_of_several,
    leads=True,
)
def create_tasks_batch(call: Call, wanted: CreateBatch) -> BatchCreated:
    """Create subtasks of your main task, all or none. Returns the task_id of each local_id."""
    once = idempotency.Once.of(
        call.agent.id,
        wanted.parent_task_id or call.session.task_id or "",
        wanted.idempotency_key,
        wanted.model_dump(exclude={"idempotency_key", "parent_task_id"}),
    )
    before: dict[str, str] | None = once.before(call, local_id_to_real_id=lambda made: made)
    if before is not None:
        return _batch({name: call.task(each) for name, each in before.items()})
    made = _create(call, wanted.parent_task_id, [given.draft(each) for each in wanted.tasks], wanted.intent)
    once.remember(call, {name: each.task.id for name, each in made.items()})
    return _batch({name: each.task for name, each in made.items()})


def _batch(made: dict[str, Task]) -> BatchCreated:
    return {
        "success": True,
        "local_id_to_real_id": {name: task.id for name, task in made.items()},
        "tasks": [rendering.brief_task(task) for task in made.values()],
    }


def _create(
    call: Call, parent_id: str | None, drafts: list[Draft], intent_name: str | None, *, one_by_one: bool = False
) -> dict[str, mutations.Created]:
    """Under all rules of who may create what, and how many; for workers and managers."""
    main = call.task(call.session.task_id or "")
    tree_state = call.tree_state(main)
    intent = Intent(intent_name) if intent_name else None
    if call.agent.role is Role.MANAGER:
        parent = below_main_task.below(call, tree_state, main, parent_id or main.id, itself=True)
        since = call.session.created_at if one_by_one else None
        creation_rules.refuse_manager(tree_state, parent, call.agent, drafts, intent, since)
    else:
        parent = main if parent_id in (None, main.id) else call.task(parent_id or "")
        creation_rules.refuse_worker(tree_state, main, parent, call.agent, drafts, call.session.fetched_at is not None)
        drafts = [replace(draft, assignee_id=call.agent.id) for draft in drafts]
    replacing = intent is Intent.REPLACE
    creation_rules.refuse_commands(tree_state, drafts, call.agent)
    creation_rules.refuse_place(
        tree_state.project.settings, tree_state.tree, parent, drafts, capped=True, replacing=replacing
    )
    if replacing:
        for child in tree_state.tree.children(parent):
            if child.open and not child.in_progress:
                now = call.task(child.id)
                mutations.move(call, call.tree_state(now), now, Status.CANCELLED, "replaced by a new plan")
        parent = call.task(parent.id)
    made = mutations.create(call, tree_state.project, parent, drafts)
    below_main_task.use_up_choice(call, Choice.ADJUST)
    return made
