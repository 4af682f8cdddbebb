"""Access to tasks below a main task, and full task details: shared by several groups of operations."""

from __future__ import annotations

from typing import Literal, NotRequired, get_args

from typing_extensions import TypedDict

from toryo.domain import moves
from toryo.domain.agents import Role
from toryo.domain.errors import Code, Refusal
from toryo.domain.moves import Order
from toryo.domain.sessions import Choice
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Approval, Status, Task
from toryo.domain.tree_state import TreeState
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later
from toryo.operations.calls.results import MoveResult, Refused
from toryo.operations.tasks import acceptance_checks, mutations


def _itself(task_id: str) -> Refusal:
    """The refusal for an agent that wants to change its own main task."""
    return Refusal(
        Code.PERMISSION_DENIED,
        f"Task {task_id} is your own main task. Only those above it can change it.",
        "If you cannot do it as it is, report it as blocked or failed and say why (report_completed).",
        task_id=task_id,
    )


def main_task(call: Call) -> tuple[TreeState, Task]:
    """The main task of the caller's session, in its tree."""
    main = call.task(call.session.task_id or "")
    tree_state = call.tree_state(main)
    return tree_state, tree_state.tree.tasks[main.id]


def below(call: Call, tree_state: TreeState, main: Task, task_id: str, *, itself: bool = False) -> Task:
    """A descendant of the main task (or the main task itself, to read or to add to). Raises Refusal."""
    task = tree_state.tree.tasks.get(task_id) or call.task(task_id)  # of another project it is not found
    if (itself and task.id == main.id) or tree_state.tree.is_below(task, main):
        return task
    if task_id == main.id:
        raise _itself(task_id)
    raise Refusal(
        Code.PERMISSION_DENIED,
        f"Task {task_id} is not below your main task.",
        "Call list_tasks for the tasks that you manage.",
        task_id=task_id,
    )


def own(call: Call, task_id: str) -> tuple[TreeState, Task]:
    """A manager's descendant, or a worker's own self-made subtask. Raises Refusal."""
    tree_state, main = main_task(call)
    task = below(call, tree_state, main, task_id)
    if not may_change(call, task):
        raise Refusal(
            Code.MANAGER_REQUIRED,
            f"Task {task_id} is not one of your own subtasks.",
            "A worker can change only subtasks that it created itself. Call get_next_action.",
            task_id=task_id,
        )
    return tree_state, task


def use_up_choice(call: Call, choice: Choice) -> None:
    """What a manager chose is used up by acting on it."""
    if call.session.choice is choice:
        call.change_session(choice=None, choice_event=None)


def show_all(call: Call, tasks: list[Task]) -> list[schemas.Task]:
    details = call.tx.tasks.details_of(each.id for each in tasks)
    edges = call.tx.tasks.depends_on([each.id for each in tasks])
    # Those of these tasks that will not be completed: who depends on them is flagged.
    found = call.tx.tasks.find_all({other for others in edges.values() for other in others})
    ended = {task.id for task in found if task.status in (Status.FAILED, Status.CANCELLED)}
    return [
        {
            **rendering.task(each, details[each.id], edges.get(each.id, [])),
            **why_rejected(call, each),
            "dependency_failed": each.open and not ended.isdisjoint(edges.get(each.id, [])),
        }
        for each in tasks
    ]


_LONG = 300
"""Characters of a text in a list; `get_task` has all of it."""
_Text = Literal[
    "description",
    "agent_type",
    "parent_task_id",
    "blocked_reason",
    "blocked_by",
    "rejected_by",
    "rejection_reason",
    "summary",
    "error",
    "completed_at",
]
_IF_ANY: tuple[_Text, ...] = get_args(_Text)


def show_briefly(call: Call, tasks: list[Task]) -> list[schemas.ListedTask]:
    """For agents, who pay for every word: what there is to say of each, under the same keys."""
    return [_briefly(each) for each in show_all(call, tasks)]


def _briefly(whole: schemas.Task) -> schemas.ListedTask:
    brief: schemas.ListedTask = {
        "task_id": whole["task_id"],
        "title": _cut(whole["title"]),
        "status": whole["status"],
        "priority": whole["priority"],
        "assignee_id": whole["assignee_id"],
        "dependencies": whole["dependencies"],
        "approval": whole["approval"],
    }
    for name in _IF_ANY:
        if text := whole.get(name):
            brief[name] = _cut(text)
    if whole.get("dependency_failed"):
        brief["dependency_failed"] = True
    if whole["attempt"] > 1:
        brief["attempt"] = whole["attempt"]
    return brief


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[:_LONG] + "…"


class WhyRejected(TypedDict):
    rejected_by: NotRequired[str]
    rejection_reason: NotRequired[str | None]


def why_rejected(call: Call, task: Task) -> WhyRejected:
    """Who rejected a task, and why."""
    if task.approval is not Approval.REJECTED:
        return {}
    event = call.tx.events.newest_of(task.id, ("task.rejected",))
    if event is None:
        return {}
    return {"rejected_by": event.actor_id, "rejection_reason": event.data.get("reason")}


def show_created(made: mutations.Created) -> schemas.FullTask:
    """As `show`, of a task that was created in this call: nothing is below it, and nobody has handed it over."""
    tree = Tree({made.task.id: made.task}, {made.task.id: tuple(made.depends_on)})
    return {**rendering.full_task(made.task, made.details, tree), "handoffs": []}


def show(call: Call, task: Task) -> schemas.FullTask:
    tree, handoffs = call.tx.tasks.tree(task.root_id), call.tx.handovers.handoffs(task.id)
    return {
        **rendering.full_task(task, call.tx.tasks.details(task.id), tree),
        **why_rejected(call, task),
        "handoffs": [rendering.handoff(each) for each in handoffs],
    }


def move(call: Call, task_id: str, to: Status, reason: str | None) -> MoveResult | Refused | Later:
    """A move of a task below the caller's main task, completing waits for its checks."""
    session = call.session
    main = call.task(session.task_id or "")
    if task_id == main.id:
        raise Refusal(
            Code.NOT_NOW,
            "Only report_completed can finish your main task.",
            "Call report_completed with success, failed or blocked.",
            task_id=task_id,
        )
    tree_state = call.tree_state(main)
    task = below(call, tree_state, main, task_id)
    _refuse_others(call, task)
    if task.status is to and task.moved_session == session.id and task.moved_from is not None:
        return _moved(task, task.moved_from, reason)
    if mutations.begun_by_its_line(call, task, to):
        return _moved(task, Status.TODO, reason)
    mutations.refuse_restless(call, task)
    if to is Status.COMPLETED:
        asked = {"task_id": task.id, "status": to.value}
        waiting = acceptance_checks.await_checks(call, tree_state, task, asked, "update_task_status")
        if waiting is not None:
            return waiting
    mutations.move(call, tree_state, task, to, reason)
    if to in (Status.FAILED, Status.COMPLETED):
        call.tx.tasks.save_details(task.id, **({"error": reason} if to is Status.FAILED else {"summary": reason}))
    use_up_choice(call, Choice.START if to is Status.IN_PROGRESS else Choice.ADJUST)
    return _moved(call.task(task.id), task.status, reason)


def _refuse_others(call: Call, task: Task) -> None:
    if call.agent.role is not Role.MANAGER and task.assignee_id != call.agent.id:
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"Task {task.id} is assigned to {task.assignee_id}."
            if task.assignee_id
            else f"Task {task.id} has no assignee.",
            "A worker can move only its own subtasks. Call get_next_action.",
            task_id=task.id,
        )


def may_move(call: Call, tree_state: TreeState, task: Task, to: Status) -> bool:
    """Whether `move` would be accepted for a task below the caller's main task: asked of the rules that judge it."""
    try:
        _refuse_others(call, task)
        mutations.refuse_restless(call, task)
        moves.plan(tree_state, Order(task, to, call.actor, call.now, "asked"))
    except Refusal:
        return False
    return True


def may_change(call: Call, task: Task) -> bool:
    """Whether a task below the caller's main task is its own to change: a manager's all are, a worker's self-made."""
    return call.agent.role is Role.MANAGER or (task.assignee_id == call.agent.id and not task.delegated)


def _moved(task: Task, before: Status, reason: str | None) -> MoveResult:
    """A task that was moved from `before`, as it is now: what waits in line may have begun at once."""
    now = task.status.value
    answer: MoveResult = {"success": True, "task_id": task.id, "previous_status": before.value, "new_status": now}
    return {**answer, "reason": reason} if reason is not None else answer
