"""Tools for managers only: choose the next action, read results and subordinates, assign.

They act on descendants of their main task and on no other.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import creation_rules
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.sessions import Choice
from toryo.domain.tasks import Status
from toryo.domain.times import iso, parse
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, NoParameters, Parameters, operation
from toryo.operations.calls.fields import Assignee, Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import DetailedResult, Result, Said
from toryo.operations.tasks import below_main_task, given, mutations, subtask_work
from toryo.operations.translations import words
from toryo.workflow import facts, manager_rules, next_action
from toryo.workflow.snapshot import RuleInput

# --- choosing --------------------------------------------------------------------------------------------------------


class SelectAction(Parameters):
    action: Literal["start", "adjust", "wait"] = Field(
        description="start: assign and start tasks; adjust: change the plan; wait: leave until workers are done.",
        json_schema_extra=PLAIN,
    )
    reason: Lines | None = Field(
        None, max_length=10_000, description="Why, for those who look later.", json_schema_extra=PLAIN
    )


class Selected(Said):
    selected_action: str


@operation(
    "select_action",
    shown_to=Audience.MANAGER,
    grant=Grant.MANAGER,
    parameters=SelectAction,
    leads=True,
)
def select_action(call: Call, wanted: SelectAction) -> Selected:
    """Choose what to do next. Then call get_next_action."""
    snapshot = call.own_snapshot()
    step = next_action.decide(snapshot, call.session)
    if step.action not in (manager_rules.MAY_ADJUST if wanted.action == "adjust" else manager_rules.MAY_CHOOSE):
        raise Refusal(
            Code.NOT_NOW,
            f"There is nothing to choose now. The next action is {step.action}.",
            "Call get_next_action and do what it says.",
        )
    case = next_action.case_of(snapshot, call.session)
    assert case is not None
    if wanted.action != "adjust" and facts.all_done_and_not_refuted(case):
        raise _ALL_DONE
    if wanted.action == "wait" and not facts.outstanding(case):
        raise _nothing_to_wait_for(case)
    if wanted.action == "wait" and facts.something_new(case):
        raise Refusal(
            Code.NOT_NOW,
            "Something has changed since you last looked.",
            "Call get_next_action: it shows what is new. Then choose again.",
        )
    if wanted.action == "start" and not case.dispatchable:
        raise _nothing_to_start(case)
    call.change_session(choice=Choice(wanted.action), choice_event=call.tx.events.last())
    call.event("manager.chose", task=case.main, data={"action": wanted.action, "reason": wanted.reason})
    language = case.tree_state.project.settings.language
    return {
        "success": True,
        "selected_action": wanted.action,
        "message": words("chosen", language, action=wanted.action),
    }


_ALL_DONE = Refusal(
    Code.NOT_NOW,
    "All subtasks are done, so there is nothing to start or to wait for.",
    "Call report_completed, or change the plan: request_changes, create_tasks_batch.",
)
"""After adjust was chosen: what is told next is what to change."""


def _nothing_to_start(case: RuleInput) -> Refusal:
    """`start` is refused unless something can be started; what can be chosen is named."""
    waits = bool(facts.outstanding(case))
    other = 'select_action("wait"): others are working for you' if waits else _ADJUST
    return Refusal(
        Code.NOT_NOW,
        "No task can be started now.",
        f"Call {other}.",
        alternatives=["wait", "adjust"] if waits else ["adjust"],
    )


_ADJUST = (
    'select_action("adjust") to assign, unblock, cancel, add or send back tasks, or to change dependencies. If nothing '
    'helps: report_completed(result="blocked")'
)


def _nothing_to_wait_for(case: RuleInput) -> Refusal:
    """`wait` is refused unless something is outstanding; the alternatives are named."""
    ready = [task.id for task in case.dispatchable]
    other = f'select_action("start"): {", ".join(ready)} can be started' if ready else _ADJUST
    return Refusal(
        Code.NOT_NOW,
        "No one is working for you, so nothing would wake you.",
        f"Call {other}.",
        dispatchable=ready,
        alternatives=["start", "adjust"] if ready else ["adjust"],
    )


# --- looking ---------------------------------------------------------------------------------------------------------


class RecentCompletions(Parameters):
    parent_task_id: Id | None = Field(
        None, description="Default: your main task.", json_schema_extra=listed_for(Audience.NONE)
    )
    since: str | None = Field(
        None,
        max_length=40,
        description="ISO 8601; default: the end of your last session.",
        json_schema_extra=listed_for(Audience.NONE),
    )
    limit: int = Field(
        10, ge=1, le=100, description="How many of the newest.", json_schema_extra=listed_for(Audience.NONE)
    )


class Completion(TypedDict):
    task_id: str
    title: str
    assignee_id: str | None
    completed_at: str
    result: Literal["success", "failed"]
    summary: str | None
    unmerged: NotRequired[schemas.UnmergedSubtask]


class Completions(Result):
    completions: list[Completion]
    total: int
    since: str


@operation(
    "get_recent_completions",
    shown_to=Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.MANAGER,
    parameters=RecentCompletions,
)
def get_recent_completions(call: Call, wanted: RecentCompletions) -> Completions:
    """Returns direct subtasks that completed or failed since your last session."""
    tree_state, main = below_main_task.main_task(call)
    parent = (
        main
        if wanted.parent_task_id is None
        else below_main_task.below(call, tree_state, main, wanted.parent_task_id, itself=True)
    )
    since = _since(wanted.since) if wanted.since is not None else main.left_at or main.created_at
    ended = [
        child
        for child in tree_state.tree.children(parent)
        if child.status in (Status.COMPLETED, Status.FAILED) and (child.completed_at or 0) >= since
    ]
    ended.sort(key=lambda each: (each.completed_at or 0, each.id), reverse=True)
    details = call.tx.tasks.details_of(each.id for each in ended[: wanted.limit])
    missing = subtask_work.unmerged_by_subtask(call, parent)
    completions: list[Completion] = [
        {
            "task_id": each.id,
            "title": each.title,
            "assignee_id": each.assignee_id,
            "completed_at": iso(each.completed_at or 0),
            "result": "success" if each.status is Status.COMPLETED else "failed",
            "summary": details[each.id].summary or details[each.id].error,
        }
        for each in ended[: wanted.limit]
    ]
    for told in completions:
        if told["task_id"] in missing:
            told["unmerged"] = missing[told["task_id"]]
    return {
        "success": True,
        "completions": completions,
        "total": len(ended),
        "since": iso(since),
    }


def _since(text: str) -> int:
    try:
        instant = parse(text)
        iso(instant)  # what is outside the years that can be shown is no time either
        return instant
    except (ValueError, OverflowError):
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"since is not an ISO 8601 time: {text!r}.",
            "Write it like 2026-02-03T14:00:00Z, or omit it.",
        ) from None


class Occupation(TypedDict):
    """Whether a process of it runs, and its tasks."""

    id: str
    running: bool
    doing: list[schemas.BriefTask]
    open_tasks: int


class Subordinate(Occupation):
    agent_id: str
    name: str
    role: schemas.RoleName
    kind: schemas.KindName
    capabilities: list[str]
    max_parallel_tasks: int
    status: schemas.AgentStatus
    reports_to: str | None


class SubordinateInDetail(schemas.Agent, Occupation):
    """A subordinate with its system prompt and options."""


class Subordinates(Result):
    subordinates: list[Subordinate]


@operation(
    "list_subordinates",
    shown_to=Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.MANAGER,
)
def list_subordinates(call: Call, _: NoParameters) -> Subordinates:
    """Returns the agents that you may assign tasks to."""
    everybody = call.tx.agents.below(call.agent.id)
    members = call.tx.agents.members_among(call.session.project_id, [each.id for each in everybody])
    return {
        "success": True,
        "subordinates": [_subordinate(call, each) for each in everybody if each.id in members],
    }


def _subordinate(call: Call, agent: Agent) -> Subordinate:
    return {
        "agent_id": agent.id,
        "name": agent.name,
        "role": agent.role.value,
        "kind": agent.kind.value,
        "capabilities": list(agent.capabilities),
        "max_parallel_tasks": agent.max_parallel_tasks,
        "status": agent.status.value,
        "reports_to": agent.reports_to,
        **_occupation(call, agent),
    }


def _occupation(call: Call, agent: Agent) -> Occupation:
    project_id = call.session.project_id
    tasks = [each for each in call.tx.task_lists.current(project_id) if each.assignee_id == agent.id]
    return {
        "id": agent.id,
        "running": bool(call.tx.sessions.live_of(project_id, agent.id)),
        "doing": [rendering.brief_task(task) for task in tasks if task.in_progress],
        "open_tasks": len(tasks),
    }


class SubordinateProfile(Parameters):
    agent_id: Id = Field(description="One of your subordinates, at any depth.")


class ProfileResult(Result):
    agent: SubordinateInDetail


@operation(
    "get_subordinate_profile",
    available=Available.AFTER_THE_END,
    grant=Grant.MANAGER,
    parameters=SubordinateProfile,
)
def get_subordinate_profile(call: Call, wanted: SubordinateProfile) -> ProfileResult:
    """Returns one subordinate in detail, with system prompt and capabilities."""
    found = next((each for each in call.tx.agents.below(call.agent.id) if each.id == wanted.agent_id), None)
    if found is None or not call.tx.agents.members_among(call.session.project_id, [found.id]):
        raise Refusal(
            Code.AGENT_NOT_FOUND,
            f"{wanted.agent_id} does not report to you in this project.",
            "Call list_subordinates for the ids.",
            agent_id=wanted.agent_id,
        )
    return {"success": True, "agent": {**rendering.agent(found), **_occupation(call, found)}}


# --- assigning -------------------------------------------------------------------------------------------------------


class AssignTask(Parameters):
    task_id: Id = Field(description="A task below your main task, not in progress.", json_schema_extra=PLAIN)
    assignee_id: Assignee | None = Field(description="A subordinate; any: who is free; null: nobody.")


@operation("assign_task", shown_to=Audience.MANAGER, grant=Grant.MANAGER, parameters=AssignTask, leads=True)
def assign_task(call: Call, wanted: AssignTask) -> DetailedResult:
    """Assign a subtask. This does not start it."""
    tree_state, main = below_main_task.main_task(call)
    task = below_main_task.below(call, tree_state, main, wanted.task_id)
    assignee_id, pool = given.taker(wanted, task)
    if assignee_id is not None:
        creation_rules.refuse_assignee(tree_state, call.agent, assignee_id)
    mutations.assign(call, tree_state, task, assignee_id, pool)
    below_main_task.use_up_choice(call, Choice.ADJUST)
    stored = call.task(task.id)
    return {
        "success": True,
        "task_id": task.id,
        "task": below_main_task.show(call, stored),
        "assignee_id": wanted.assignee_id,
    }
