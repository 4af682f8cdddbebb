"""Tasks as people file and steer them: under the same rules as agents, by the same ways. REST and CLI."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import Any, Literal, NotRequired

from pydantic import AwareDatetime, Field

from toryo.domain import creation_rules, moves, review_checks, task_readiness
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.projects import Project
from toryo.domain.tasks import Approval, CheckEvidence, CheckFailure, Checks, Start, Status, Task, status_named
from toryo.domain.texts import quoted
from toryo.domain.times import iso, iso_or_none, of_datetime
from toryo.domain.wording import constant, say
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Assignee, GivenPriority, GivenStatus, Id, Lines, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.optimistic_concurrency import refuse_stale
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import MoveResult, Result
from toryo.operations.calls.wire import wire
from toryo.operations.tasks import (
    assignees,
    below_main_task,
    conflict_forecast,
    due_checks,
    given,
    lines,
    mutations,
    opened_pull_requests,
    requested_changes,
    review_rounds,
    subtask_work,
)
from toryo.operations.tasks.acceptance_checks import Acceptance
from toryo.storage.task_lists import Place, Wanted
from toryo.task_forms import PeoplesForm


class FiledTask(Result):
    task_id: str
    task: schemas.PersonsTask


STARTS = (
    "Who starts it in todo: when_ready is Toryo, as soon as nothing prevents it and its agent has a place; manual is a "
    "person or manager (default: the project's setting)."
)


POOL = (
    "Instead of an assignee: anyone who is free first, of the workers with these capabilities. It is assigned when it "
    "starts. As assignee_id: any, or any:python,tests."
)


class _NewTask(Parameters):
    project_id: Id = Field(description="The project.")
    title: Title = Field(description="The title: what to do, in one line.")
    description: Text = Field("", description="What exactly, and how to see that it is done.")
    assignee_id: Assignee | None = Field(None, description="The assignee: a member of the project; any: see pool.")
    pool: given.GivenPool | None = Field(None, description=POOL)
    agent_type: str | None = Field(None, min_length=1, max_length=100, description="Or the queue it goes to.")
    priority: GivenPriority = Field("medium", description="Which goes first; urgent is critical.")
    dependencies: list[Id] = Field(default_factory=list, max_length=100, description="Tasks to be completed first.")
    parent_task_id: Id | None = Field(None, description="Its parent task.")
    status: Literal["backlog", "todo", "pending", "in_progress"] = Field(
        "todo", description="Where it begins; pending is todo."
    )
    start: schemas.StartName | None = Field(None, description=STARTS)
    context: Any = Field(None, description="Anything the assignee needs, as JSON.")
    acceptance: Acceptance = Field(default_factory=list, description="What is checked when success is reported.")


class FileTask(PeoplesForm, _NewTask):
    pass


@operation(
    "file_task",
    grant=Grant.WRITER,
    parameters=FileTask,
    route=Route("POST", "/projects/{project_id}/tasks", 201),
    tool=False,
)
def file_task(call: Call, wanted: FileTask) -> FiledTask:
    """File a task; with status in_progress it is started at once, if it may be. Where tasks start when they are ready,
    it waits in line for that."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    parent = _parent(call, project, wanted.parent_task_id)
    draft = replace(given.draft(wanted), start=_start(project, wanted))
    assignees.refuse(call, project, draft.assignee_id, draft.agent_type, draft.pool)
    if parent is not None:
        tree = call.tx.tasks.tree(parent.root_id)
        creation_rules.refuse_place(project.settings, tree, parent, [draft], capped=False)
    to = status_named(wanted.status)
    assignees.refuse_nobody(to, draft.assignee_id, draft.pool)
    first = Status.TODO if to is Status.IN_PROGRESS else to
    [made] = mutations.create(call, project, parent, [draft], status=first).values()
    tree_state = call.tree_state(made.task)
    goes_on = made.task.assignee_id is None or tree_state.active_member(made.task.assignee_id)
    waits = task_readiness.in_line(tree_state, made.task) and goes_on
    if to is not Status.IN_PROGRESS or waits or made.task.in_progress:
        return _answer(call, made.task, below_main_task.show_created(made), [])
    try:
        mutations.move(call, call.tree_state(made.task), made.task, to)
    except Refusal as refusal:
        refusal.instruction = constant(
            "Nothing was created. Create the task in todo, and start it when that is resolved."
        )
        raise
    return _shown(call, made.task.id)


def _start(project: Project, wanted: FileTask) -> Start | None:
    """In a project with lines, and with a time, in progress means: as soon as it can."""
    start = Start(wanted.start) if wanted.start else None
    flows = wanted.not_before is not None or (start or project.settings.start) is Start.WHEN_READY
    at_once = wanted.status == "in_progress" and flows
    return Start.WHEN_READY if at_once else start


def _parent(call: Call, project: Project, parent_id: str | None) -> Task | None:
    if parent_id is None:
        return None
    parent = call.task(parent_id)
    if parent.project_id != project.id:
        raise Refusal(
            Code.TASK_NOT_FOUND,
            say("There is no task {task_id} in project {project_id}.", task_id=parent_id, project_id=project.id),
            "A task and its parent must belong to the same project.",
            task_id=parent_id,
        )
    return parent


def _shown(call: Call, task_id: str) -> FiledTask:
    task = call.task(task_id)
    return _answer(call, task, below_main_task.show(call, task), subtask_work.unmerged_for_people(call, task))


def _answer(call: Call, task: Task, full: schemas.FullTask, unmerged: list[schemas.ToldUnmerged]) -> FiledTask:
    shown: schemas.PersonsTask = {
        **full,
        **_standings(call, [task])[task.id],
        "budget_usd": task.budget_usd,
        "budget_tokens": task.budget_tokens,
        "not_before": iso_or_none(task.not_before),
        "start": task.start.value if task.start else None,
        "line": lines.place(call, task),
        "may_conflict_with": conflict_forecast.of(call, task),
        "unmerged": unmerged,
        "changes_requested": requested_changes.as_answer(requested_changes.of(call, task)),
        "reviews": _reviews_of(call, task),
        "review_of": _reviewed_in(call, task),
        "pull_request": opened_pull_requests.of(call, task.id) if task.closed else None,
        "judged": _how_judged(call, task),
        "required_checks": [*due_checks.required_of(call.tree_state(task), task)],
        "check_results": _check_results(call, task),
    }
    return {"success": True, "task_id": task.id, "task": shown}


MOST_REVIEWS = 20


def _reviews_of(call: Call, task: Task) -> list[schemas.TaskOfReview]:
    """The tasks in which agents review its work, or did, the newest first."""
    asked = task.questions_ever > 0  # a review is a question
    return [_of_review(each) for each in call.tx.tasks.newest_reviews(task.id, MOST_REVIEWS)] if asked else []


def _reviewed_in(call: Call, task: Task) -> schemas.TaskOfReview | None:
    """The task whose work is reviewed in this one."""
    reviewed = call.tx.tasks.find(task.review_of) if task.review_of is not None else None
    return _of_review(reviewed) if reviewed is not None else None


_of_review = wire(Task, schemas.TaskOfReview, task_id="id")


def _check_results(call: Call, task: Task) -> list[CheckEvidence]:
    check = call.tx.launches.check(task.check_id) if task.check_id is not None else None
    return list(check.evidence or ()) if check is not None else []


def _how_judged(call: Call, task: Task) -> schemas.Judgement | None:
    """How a request was answered: by a click or a command, or by the message in a chat that it was made for."""
    if task.approval is Approval.PENDING or (task.approval is Approval.APPROVED and task.approved_by is None):
        return None
    kind = "task.approved" if task.approval is Approval.APPROVED else "task.rejected"
    event = call.tx.events.newest_of(task.id, (kind,))
    if event is not None:
        return {"by": event.actor_id, "at": iso(event.at), "reason": event.data.get("reason")}
    return {"by": task.approved_by, "at": iso(task.created_at), "reason": None} if task.approved_by else None


USUAL = 100


class FiledTasks(Page):
    tasks: list[schemas.TaskOfProject]


class ListFiled(Paged):
    project_id: Id = Field(description="The project.")
    status: GivenStatus | None = Field(
        None, description="Only tasks of this status; pending is todo, done is completed."
    )
    assignee_id: Id | None = Field(None, description="Only tasks of this agent.")
    parent_task_id: Id | None = Field(None, description="Only direct subtasks of this task.")
    tree_of: Id | None = Field(None, description="Only the tasks of the tree of this task.")
    closed_since: AwareDatetime | None = Field(
        None,
        description="Only open tasks and those closed since (10,000 of each status), with all tasks of their trees.",
    )


@operation(
    "list_project_tasks",
    grant=Grant.PERSON,
    parameters=ListFiled,
    route=Route("GET", "/projects/{project_id}/tasks"),
    tool=False,
    reads=True,
)
def list_project_tasks(call: Call, wanted: ListFiled) -> FiledTasks:
    """The tasks of a project, by priority and age; 100 a page."""
    project, limit = call.project(wanted.project_id), wanted.limit or USUAL
    key = key_of(wanted.cursor, int, int, int, str)
    found = _filed(call, project, wanted, limit + 1, Place(*key) if key is not None else None)
    more = cursor_of(*found[limit - 1].order) if len(found) > limit else None
    standings = _standings(call, found[:limit])
    shown: list[schemas.TaskOfProject] = [
        {**each, **standings[each["task_id"]]} for each in below_main_task.show_all(call, found[:limit])
    ]
    answer: FiledTasks = {"success": True, "tasks": shown}
    return paged(answer, more)


def _standings(call: Call, tasks: Iterable[Task]) -> dict[str, schemas.WorkStanding]:
    """Of each of these tasks how far its work has come, by id."""
    tasks = list(tasks)
    done = [task.id for task in tasks if task.status is Status.COMPLETED and task.review_of is None]
    works = {work.task_id: work.state for work in call.tx.worktrees.of(done) if work.changed} if done else {}
    return {
        task.id: rendering.standing(judged=task.in_review, completed=task.id in works, work=works.get(task.id))
        for task in tasks
    }


def _filed(call: Call, project: Project, wanted: ListFiled, most: int, after: Place | None) -> list[Task]:
    """At most `most` tasks that pass all filters, after a place."""
    status = status_named(wanted.status) if wanted.status else None
    lists = call.tx.task_lists
    if wanted.tree_of is None and wanted.closed_since is None:
        asked = Wanted(project.id, status, wanted.assignee_id, wanted.parent_task_id)
        return lists.page(asked, most, after)
    if wanted.tree_of is not None:
        roots, alone = {call.task(wanted.tree_of).root_id}, []
    else:
        assert wanted.closed_since is not None
        current = lists.current_spots(project.id, of_datetime(wanted.closed_since))
        roots = {each.root_id for each in current if each.parent_id is not None or each.agent_type is None}
        alone = [each for each in current if each.root_id not in roots]
    found = [
        each
        for each in (*alone, *lists.spots_of_trees(project.id, sorted(roots)))
        if (status is None or status.value == each.status)
        and wanted.assignee_id in (None, each.assignee_id)
        and wanted.parent_task_id in (None, each.parent_id)
        and (after is None or each[:4] > after)
    ]
    return call.tx.tasks.find_all(each.id for each in nsmallest(most, found))


class OneTask(Parameters):
    task_id: Id = Field(description="The task.")


@operation(
    "show_task",
    grant=Grant.PERSON,
    parameters=OneTask,
    route=Route("GET", "/tasks/{task_id}"),
    tool=False,
    reads=True,
)
def show_task(call: Call, wanted: OneTask) -> FiledTask:
    """One task in detail."""
    return _shown(call, wanted.task_id)


class _Edited(OneTask):
    title: Title | None = Field(None, description="New title.")
    description: Text | None = Field(None, description="New description.")
    priority: GivenPriority | None = Field(None, description="New priority; urgent is critical.")
    assignee_id: Assignee | None = Field(None, description="New assignee; null: nobody; any: see pool.")
    pool: given.GivenPool | None = Field(None, description=POOL)
    context: Any = Field(None, description="New context.")
    acceptance: Acceptance | None = Field(None, description="New acceptance checks.")
    start: schemas.StartName | None = Field(
        None, description="New: who starts it, when_ready (Toryo) or manual; null: the project's setting."
    )


class EditTask(PeoplesForm, _Edited):
    add_dependencies: list[Id] = Field(default_factory=list, max_length=100, description="Dependencies to add.")
    remove_dependencies: list[Id] = Field(default_factory=list, max_length=100, description="Dependencies to remove.")
    version: int | None = Field(None, description="The version you expect; any other is a conflict.")


@operation(
    "edit_task",
    grant=Grant.WRITER,
    parameters=EditTask,
    route=Route("PATCH", "/tasks/{task_id}"),
    tool=False,
)
def edit_task(call: Call, wanted: EditTask) -> FiledTask:
    """Change a task's title, description, priority, assignee, budget or dependencies. The agent that works on it is
    told."""
    task = _entered(call, wanted.task_id, wanted.version)
    _refuse_stranger(call, task)
    with mutations.lines_later(call):
        assignee_id, pool = given.taker(wanted, task)
        if (assignee_id, pool) != (task.assignee_id, task.pool if assignee_id is None else None):
            project = call.project(task.project_id)
            assignees.refuse(call, project, assignee_id, task.agent_type if assignee_id or pool else None, pool)
            mutations.assign(call, call.tree_state(task), task, assignee_id, pool)
            task = call.task(task.id)
        if wanted.add_dependencies or wanted.remove_dependencies:
            mutations.depend(call, task, wanted.add_dependencies, wanted.remove_dependencies)
            task = call.task(task.id)
        if changes := given.edit(wanted):
            mutations.edit(call, task, **changes)
    return _shown(call, task.id)


def _entered(call: Call, task_id: str, version: int | None = None) -> Task:
    """The task, once nobody else changes its project."""
    call.enter(call.task(task_id).project_id)
    task = call.task(task_id)
    refuse_stale(version, task.version)
    return task


def _refuse_stranger(call: Call, task: Task) -> None:
    """A member changes a task only as its creator, assignee or superior."""
    if moves.relation(call.tree_state(task), task, call.actor) is None:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("You can read task {task_id}, but not change it.", task_id=task.id),
            "Its creator, its assignee, those above the assignee, and owners can.",
            task_id=task.id,
        )


class MoveTask(OneTask):
    status: GivenStatus | None = Field(None, description="The new status; pending is todo, done is completed.")
    before_task_id: Id | None = Field(
        None, description="Or, or then: the task in line, of the same priority, directly before which it is put."
    )
    reason: Lines | None = Field(None, max_length=10_000, description="Needed for blocked, failed and cancelled.")
    version: int | None = Field(None, description="The version you expect; any other is a conflict.")


class Moved(MoveResult):
    task: schemas.PersonsTask


@operation(
    "move_task",
    grant=Grant.WRITER,
    parameters=MoveTask,
    route=Route("POST", "/tasks/{task_id}/move"),
    tool=False,
)
def move_task(call: Call, wanted: MoveTask) -> Moved:
    """Move a task; from the backlog also at once into progress. Or give it a place in line, before another one."""
    task = _entered(call, wanted.task_id, wanted.version)
    before = task.status
    if wanted.status is None and wanted.before_task_id is None:
        raise Refusal(
            Code.VALIDATION_ERROR, "Neither a status nor a place is given.", "Give status, before_task_id, or both."
        )
    to = before if wanted.status is None else status_named(wanted.status)
    for step in moves.steps(before, to) if wanted.status is not None else ():
        if step is Status.IN_PROGRESS and task.pool is not None and task.assignee_id is None:
            mutations.edit(call, task, start=Start.WHEN_READY)
            task = call.task(task.id)
        if not mutations.begun_by_its_line(call, task, step):
            mutations.move(call, call.tree_state(task), task, step, wanted.reason)
        task = call.task(task.id)
    if to is Status.FAILED:
        call.tx.tasks.save_details(task.id, error=wanted.reason)
    if wanted.before_task_id is not None:
        task = lines.put_before(call, task, call.task(wanted.before_task_id))
    return {
        **_shown(call, task.id),
        "previous_status": before.value,
        "new_status": task.status.value,
        "reason": wanted.reason,
    }


class Judge(OneTask):
    reason: Lines | None = Field(None, max_length=10_000, description="Why.")
    version: int | None = Field(None, description="The version you expect; any other is a conflict.")


class Approve(Judge):
    approve_only: bool = Field(False, description="Leave it in the backlog, for a person to start.")


@operation(
    "approve_task",
    grant=Grant.WRITER,
    parameters=Approve,
    route=Route("POST", "/tasks/{task_id}/approve"),
    tool=False,
)
def approve_task(call: Call, wanted: Approve) -> FiledTask:
    """Approve a requested task: its agent starts it as soon as it can. With `version`, only as you have seen it."""
    return _judged(call, wanted, Approval.APPROVED, "task.approved", starts=not wanted.approve_only)


@operation(
    "reject_task",
    grant=Grant.WRITER,
    parameters=Judge,
    route=Route("POST", "/tasks/{task_id}/reject"),
    tool=False,
)
def reject_task(call: Call, wanted: Judge) -> FiledTask:
    """Reject a requested task, with a reason."""
    return _judged(call, wanted, Approval.REJECTED, "task.rejected")


def _judged(call: Call, wanted: Judge, to: Approval, kind: str, *, starts: bool = False) -> FiledTask:
    task = _entered(call, wanted.task_id, wanted.version)
    refusal = moves.refusal_to_judge(call.tree_state(task), task, call.actor)
    if task.approval is to and (refusal is None or refusal.code is not Code.PERMISSION_DENIED):
        return _shown(call, task.id)
    if refusal is not None:
        raise refusal
    by = call.actor.id if to is Approval.APPROVED else None
    judged = replace(task, approval=to, approved_by=by, updated_at=call.now)
    call.tx.tasks.save(task, judged)
    call.event(kind, task=judged, fact=True, data={"reason": wanted.reason})
    if starts and task.requested_by is not None:
        mutations.put_in_line(call, call.task(task.id))
    mutations.tell_judged(call, call.task(task.id), kind.removeprefix("task."), wanted.reason)
    mutations.hint(call, [judged])
    mutations.go_on(call, [call.task(task.id)])
    return _shown(call, task.id)


class SteerTask(OneTask):
    text: Lines = Field(
        min_length=1, max_length=10_000, pattern=r"\S", description="The message: what the agent must know or do."
    )


class Steered(FiledTask):
    delivered_to: str
    warnings: NotRequired[list[str]]


@operation(
    "steer_task",
    grant=Grant.WRITER,
    parameters=SteerTask,
    route=Route("POST", "/tasks/{task_id}/steer"),
    tool=False,
)
def steer_task(call: Call, wanted: SteerTask) -> Steered:
    """Tell the agent that works on a task something; if none does now, the next one is told."""
    task = _entered(call, wanted.task_id)
    _refuse_stranger(call, task)
    if task.closed:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status}, so no one works on it.", task_id=task.id, status=task.status),
            "Create a new task.",
            task_id=task.id,
        )
    reached = mutations.steer(call, task, f"{call.agent.name} says about {quoted(task.title)}: {wanted.text}")
    call.event("task.steered", task=task, fact=True, data={"text": wanted.text[:500], "delivered_to": reached})
    mutations.hint(call, [task])
    answer: Steered = {
        "success": True,
        "task_id": task.id,
        "task": _shown(call, task.id)["task"],
        "delivered_to": reached or "the next session of this task",
    }
    told = call.tx.agents.find(reached or task.assignee_id or "")
    if told is not None and told.without_model:
        warning = say(
            "{agent} runs without a model (provider {provider}), so a message does not change what it does. Edit "
            "the task, or assign it to an agent with a model. The message is kept in the history of the task.",
            agent=told.name,
            provider=told.provider,
        )
        answer["warnings"] = [warning]
    return answer


class ConfirmChecks(OneTask):
    passed: bool = Field(description="Whether the acceptance checks hold.")
    message: Lines | None = Field(None, max_length=10_000, description="What was found.")


@operation(
    "confirm_checks",
    grant=Grant.WRITER,
    parameters=ConfirmChecks,
    route=Route("POST", "/tasks/{task_id}/checks/confirm"),
    tool=False,
)
def confirm_checks(call: Call, wanted: ConfirmChecks) -> FiledTask:
    """Judge a task's acceptance checks by hand, where no Coordinator runs them."""
    task = _entered(call, wanted.task_id)
    _refuse_stranger(call, task)
    must_pass = call.tree_state(task).must_pass_checks(task)
    if not must_pass or task.checks is Checks.PASSED:
        raise Refusal(
            Code.NOT_NOW,
            say("Task {task_id} has no acceptance checks waiting for a decision.", task_id=task.id),
            "Acceptance checks can be confirmed after success was reported.",
            task_id=task.id,
        )
    failure: CheckFailure = {"check": "by hand", "message": wanted.message or "not accepted"}
    reviewed = review_checks.review_open(task)
    if reviewed:
        review_rounds.withdraw(call, task)
        task = call.task(task.id)
    task = review_rounds.settle(call, task, [] if wanted.passed else [failure])
    if reviewed and wanted.passed:  # its agent has reported success, and left
        review_rounds.complete(call, task)
    call.tx.hint(WORK)
    return _shown(call, task.id)
