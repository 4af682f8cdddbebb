"""Lines of tasks: the place of one as people read and give it, and what goes on when an agent or a project changes.

What is in line is started by `mutations.start_line`, in the order of the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from toryo.deeds import deed
from toryo.domain import moves, pools, task_readiness
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import Start, Status, Task
from toryo.domain.texts import quoted
from toryo.domain.times import SECOND
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls import fault_isolation, schemas
from toryo.operations.calls.call import Call
from toryo.operations.tasks import mutations
from toryo.workflow import line_rules
from toryo.workflow.reasons import REASONS
from toryo.workflow.snapshot import RuleInput

LINES = "lines"
EXACT = 100
"""Places up to here are counted."""
AT_ONCE = 200
"""Tasks whose time comes in one transaction."""
NAMED = 3
"""How many of those before it are named."""


def place(call: Call, task: Task) -> schemas.Line | None:
    """None: it is in no line."""
    project = call.tx.projects.find(task.project_id)
    if project is None or not task.in_line(project.settings.start):
        return None
    tree_state = call.tree_state(task)
    if not task_readiness.in_line(tree_state, task):
        return None
    before = call.tx.tasks.before_in_line(task, project.settings.start, EXACT)
    named: list[schemas.NamedTask] = [{"task_id": task_id, "title": title} for task_id, title in before[:NAMED]]
    return {
        "agent_id": task.assignee_id,
        "place": len(before) + 1,
        "before": named,
        "message": _waits_for(call, tree_state, task, before),
    }


def _waits_for(call: Call, tree_state: TreeState, task: Task, before: Sequence[tuple[str, str]]) -> Worded:
    hindered = next((each for each in task_readiness.hindrances(tree_state, task) if each is not _NOBODY), None)
    if hindered is not None and tree_state.tree.dependency_failed(task):  # somebody has to change something first
        return together((moves.refusal_to_start(tree_state, task, hindered).message,))
    if task.assignee_id is None and not task_readiness.has_agent(tree_state, task):
        return together((pools.nobody(tree_state, task),))
    why: Worded | str = ""
    if hindered is not None:
        if not before or hindered is not StartBlocker.PARALLEL_LIMIT:
            why = moves.refusal_to_start(tree_state, task, hindered).message
    elif not before or not task_readiness.has_agent(tree_state, task):
        why = pools.not_taken(tree_state, task) or _kept(call, tree_state, task)
    return together((_in_line(task, before), why))


_NOBODY = StartBlocker.UNASSIGNED
"""Does not prevent a task that goes to anyone who is free: no other one without an assignee is in a line."""


def _in_line(task: Task, before: Sequence[tuple[str, str]]) -> Worded:
    place = f"{len(before) + 1}{'' if len(before) < EXACT else '+'}"
    if task.assignee_id is None:
        if not before:
            return say("It starts by itself: first of those that go to anyone who is free.")
        return say(
            "It starts by itself: number {place} of those that go to anyone who is free, after {title}.",
            place=place,
            title=quoted(before[0][1]),
        )
    if not before:
        return say("It starts by itself: first in the line of {agent_id}.", agent_id=task.assignee_id)
    return say(
        "It starts by itself: number {place} in the line of {agent_id}, after {title}.",
        place=place,
        agent_id=task.assignee_id,
        title=quoted(before[0][1]),
    )


def _kept(call: Call, tree_state: TreeState, task: Task) -> Worded | str:
    assert task.assignee_id is not None
    case = RuleInput(call.snapshot(task.assignee_id, task.project_id), tree_state, task)
    reason = line_rules.decide(case)
    rows = (row.words for row in line_rules.LINE_ROWS if row.then.reason == reason)
    said = REASONS[reason].words if reason is not None and reason in REASONS else ""
    return constant(said or next(rows, "")) if reason is not None else ""


# --- the place that a person gives a task ----------------------------------------------------------------------------


def put_before(call: Call, task: Task, other: Task) -> Task:
    """Puts a task directly before another one of its priority: for all lines of the project. Raises Refusal."""
    _refuse_place(call, task, other)
    moved = call.tx.tasks.put_before(task, other)
    if moved is None:
        return task
    placed = call.tx.tasks.save(task, replace(moved, updated_at=call.now))
    call.event("task.put_before", task=placed, fact=True, data={"before": other.id, "title": other.title})
    mutations.hint(call, [placed])
    mutations.go_on(call, [placed])
    return call.task(task.id)


def _refuse_place(call: Call, task: Task, other: Task) -> None:
    if task.id == other.id:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A task cannot be put before itself.",
            "Name the task before which it should start.",
            task_id=task.id,
        )
    if task.project_id != other.project_id:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "Task {task_id} belongs to another project, {project_id}.",
                task_id=other.id,
                project_id=other.project_id,
            ),
            "Choose a task of the same project.",
            task_id=other.id,
        )
    for each in (task, other):
        if not task_readiness.in_line(call.tree_state(each), each):
            raise _not_in_line(each)
    if task.priority is not other.priority:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say(
                "Task {task_id} has priority {priority}, and {title} has {other}: the higher one starts first, "
                "whatever their places.",
                task_id=task.id,
                priority=task.priority,
                title=quoted(other.title),
                other=other.priority,
            ),
            say(
                "Give it the same priority first{deed:: …}.",
                deed=deed("edit_task", task_id=task.id, priority=other.priority.value),
            ),
            task_id=task.id,
        )


def _not_in_line(task: Task) -> Refusal:
    waits = task.status is Status.TODO and not task.for_queue
    by_hand = waits and task.review_of is None and (task.assignee_id or task.pool) is not None
    return Refusal(
        Code.INVALID_TRANSITION,
        say("Task {task_id} is not in line: it is {status}.", task_id=task.id, status=task.status)
        if not waits
        else say("Task {task_id} is not in line: Toryo does not start it.", task_id=task.id),
        say(
            "Let it start when it is ready{deed:: …}.",
            deed=deed("edit_task", task_id=task.id, start=Start.WHEN_READY.value),
        )
        if by_hand
        else "Only a task in todo that starts by itself has a place in line.",
        task_id=task.id,
    )


# --- when a line goes on ---------------------------------------------------------------------------------------------


def come_due(call: Call) -> int:
    """The time of tasks has come, that of all of them before a line goes on. Answers how many there were."""
    due = call.tx.tasks.due(call.now, AT_ONCE)
    came = list(fault_isolation.each_fenced(call, LINES, due, partial(mutations.come_due, call)))
    for project_id, agent_id in {(each.project_id, each.assignee_id): None for each in came}:
        start = partial(mutations.start_line, call, project_id, agent_id)
        fault_isolation.fenced(call, LINES, start, None, project_id=project_id)
    return len(due)


def until_due(call: Call) -> float | None:
    """Seconds until the time of the next task comes, if there is one."""
    soonest = call.tx.tasks.next_due()
    return None if soonest is None else (soonest - call.now) / SECOND


def go_on(call: Call) -> int:
    """What may keep several lines is over. Answers how many lines there were."""
    come_due(call)
    found = call.tx.tasks.lines()
    for project_id, agent_id in found:
        start = partial(mutations.start_line, call, project_id, agent_id)
        fault_isolation.fenced(call, LINES, start, None, project_id=project_id)
    return len(found)


def go_on_in(call: Call, project_id: str) -> None:
    """The project, how it starts tasks, or who belongs to it has changed."""
    for project, agent_id in call.tx.tasks.lines():
        if project == project_id:
            mutations.start_line(call, project_id, agent_id)


def go_on_of(call: Call, agent_id: str) -> None:
    """The agent can work again, or on more tasks."""
    for project_id in call.tx.agents.projects_of(agent_id):
        mutations.start_line(call, project_id, agent_id)


def ready_without_a_word(call: Call, project_id: str) -> list[str]:
    """The tasks that start one after the other once the project says so: nobody has said how they start."""
    members = call.tx.agents.find_all(call.tx.agents.members(project_id))
    agents = [agent.id for agent in members if agent.active and not agent.human]
    found = (call.tx.tasks.ready_by_project(project_id, each, EXACT) for each in agents)
    return [task.id for tasks in found for task in tasks]
