"""How a task changes its status: permissions, guards, and cascades with their undoing.

`plan` is pure: it returns the changes to carry out, in order, or raises Refusal. Every path (tool, REST, CLI, chat,
housekeeping) goes through it; nothing else changes a status.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toryo.deeds import LEFT_OUT, Blank, Deed, deed
from toryo.domain import parallel_limit, pools, task_readiness
from toryo.domain.agents import superiors
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import CLOSED, MOVES, Checks, Status, Task, verb
from toryo.domain.times import Millis, iso
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import Worded, constant, say, together

NEEDS_REASON = frozenset({Status.BLOCKED, Status.FAILED, Status.CANCELLED})
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks for a change. `everything`: a person with the role owner, or Toryo itself."""

    id: str
    person: bool = False
    everything: bool = False
    guard: bool = False
    """A guard of Toryo: only a person can unblock what it blocks."""
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One task before and after a change, and its verb. `caused_by`: the task whose move cascaded to this one."""

    before: Task
    after: Task
    verb: str
    caused_by: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A requested move."""

    task: Task
    to: Status
    actor: Actor
    now: Millis
    reason: str | None = None
    because_of: tuple[str, ...] = ()
    """For a block reported because of other blocked tasks: their ids."""


def plan(tree_state: TreeState, order: Order) -> list[Change]:
    """The changes of this move, its own first. Raises Refusal."""
    _refuse_unknown_move(order)
    _refuse_stranger(tree_state, order)
    _refuse_missing_reason(order)
    moving = _Moving(tree_state, order)
    _CARRY_OUT[order.to](moving)
    moving.lift_reports()
    return moving.changes


def alone(order: Order) -> Change:
    """The change that `plan` comes to for a claimed task that nothing hangs on: its holder takes it, ends it or loses
    it, which no rule refuses. The task is as it will be stored."""
    task, to = order.task, order.to
    after = _changed(order, task, to, {**_own_fields(order, to), "version": task.version + 1})
    return Change(task, after, verb(task.status, to))


def steps(before: Status, to: Status) -> tuple[Status, ...]:
    """The moves by which a person brings a task to a status: a draft that is to start moves to `todo` first."""
    return (Status.TODO, to) if (before, to) == (Status.BACKLOG, Status.IN_PROGRESS) else (to,)


def refusal(tree_state: TreeState, order: Order) -> Refusal | None:
    """The refusal a person would get for this move; None if it is possible. Plans every step."""
    task = order.task
    try:
        for to in steps(task.status, order.to):
            changes = plan(tree_state, replace(order, task=task, to=to))
            tree_state = replace(tree_state, tree=tree_state.tree.changed(*(change.after for change in changes)))
            task = tree_state.tree.tasks[task.id]
    except Refusal as refused:
        return refused
    return None


def relation(tree_state: TreeState, task: Task, actor: Actor) -> str | None:
    """The actor's relation to the task: `everything`, `ancestor`, `creator` (for a person: also of the request),
    `assignee`, or None.

    If several apply, the one with the most rights: an agent that created a task for itself is its creator.
    """
    if actor.everything:
        return "everything"
    if any(above.assignee_id == actor.id for above in tree_state.tree.ancestors(task)):
        return "ancestor"
    if task.assignee_id is not None and actor.id in superiors(task.assignee_id, tree_state.reports_to):
        return "ancestor"
    if actor.person and actor.id in (task.created_by, task.requested_by):
        return "creator"
    return "assignee" if task.assignee_id == actor.id else None


def refusal_to_judge(tree_state: TreeState, task: Task, actor: Actor) -> Refusal | None:
    """Why this actor may not approve or reject the task: it is not a superior, or the task has been started."""
    if relation(tree_state, task, actor) not in ("everything", "ancestor"):
        return Refusal(
            Code.PERMISSION_DENIED,
            "Only a person above the assignee can approve or reject a request.",
            "Ask a person above the assignee, or an owner.",
            task_id=task.id,
        )
    if task.closed or task.in_progress:
        return Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status}.", task_id=task.id, status=task.status),
            "Only a task that has not been started can be approved or rejected.",
            task_id=task.id,
        )
    return None


def refusal_to_start(tree_state: TreeState, task: Task, hindrance: StartBlocker, *, person: bool = False) -> Refusal:
    """The refusal of guard 1 for a start of the task: with commands for people, with tools for agents."""
    code, message, instruction, details = _HINDERED[hindrance](tree_state, task)
    if person and hindrance in _BY_PEOPLE:
        instruction = _BY_PEOPLE[hindrance](tree_state, task)
    return Refusal(code, message, instruction, task_id=task.id, **details)


# --- permissions and guards
# --------------------------------------------------------------------------------------------


def _refuse_unknown_move(order: Order) -> None:
    task, to = order.task, order.to
    possible = [each for each in MOVES[task.status] if not _only_for_people(task.status, each, order.actor)]
    if to in possible:
        return
    moves = [each.value for each in possible]
    names = [_command(task, each) if order.actor.person else str(each) for each in possible]
    raise Refusal(
        Code.INVALID_TRANSITION,
        say("A task cannot go from {status} to {to}.", status=task.status, to=to)
        if to is not task.status
        else say("The task is {to} already.", to=to),
        say("From {status} it can go to: {names}.", status=task.status, names=together(names, ", "))
        if moves
        else say("{status} is final. Create a new task instead.", status=task.status),
        task_id=task.id,
        current_status=task.status.value,
        possible=moves,
    )


def _command(task: Task, to: Status) -> str:
    """A move, with its own command if it has one."""
    if task.status is Status.FAILED and to is Status.TODO:
        return say("{to}{deed: (…)}", to=to, deed=deed("retry", task_id=task.id))
    if to is Status.CANCELLED:
        return say("{to}{deed: (…)}", to=to, deed=deed("cancel", task_id=task.id))
    return to


def _only_for_people(before: Status, to: Status, actor: Actor) -> bool:
    """A draft moves to `todo` first; a person may do both in one call."""
    return (before, to) == (Status.BACKLOG, Status.IN_PROGRESS) and not (actor.person or actor.everything)


_OF_THE_ASSIGNEE = {
    (Status.BACKLOG, Status.TODO),
    (Status.TODO, Status.IN_PROGRESS),
    (Status.TODO, Status.BLOCKED),
    (Status.IN_PROGRESS, Status.COMPLETED),
    (Status.IN_PROGRESS, Status.FAILED),
    (Status.IN_PROGRESS, Status.BLOCKED),
    (Status.BLOCKED, Status.TODO),
    (Status.BLOCKED, Status.IN_PROGRESS),
    (Status.BLOCKED, Status.FAILED),
}
_OF_A_PERSON_ASSIGNED = {
    (Status.BACKLOG, Status.IN_PROGRESS),
    (Status.IN_PROGRESS, Status.TODO),
    (Status.FAILED, Status.TODO),
    (Status.FAILED, Status.CANCELLED),
}
"""Moves that the table allows to "a person", whatever their relation to the task."""


def _refuse_stranger(tree_state: TreeState, order: Order) -> None:
    task, actor = order.task, order.actor
    how = relation(tree_state, task, actor)
    if how is None:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{actor_id} may not change task {task_id}.", actor_id=actor.id, task_id=task.id),
            "Its assignee, the assignee of a task above it, its creator, or someone above the assignee may.",
            task_id=task.id,
        )
    if how == "assignee" and not _is_the_assignees(order):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("The assignee cannot move its own task from {status} to {to}.", status=task.status, to=order.to),
            "Report the task as blocked or failed with a reason, or ask someone above you.",
            task_id=task.id,
        )
    if task.status is Status.BLOCKED:
        _refuse_to_lift(order, how)
    if task.status is Status.FAILED and order.to is Status.TODO:
        _refuse_retry(tree_state, order)


def _is_the_assignees(order: Order) -> bool:
    move = (order.task.status, order.to)
    return move in _OF_THE_ASSIGNEE or (order.actor.person and move in _OF_A_PERSON_ASSIGNED)


def _refuse_to_lift(order: Order, how: str) -> None:
    task, actor = order.task, order.actor
    if actor.everything or order.to is Status.CANCELLED:
        return
    if task.blocked_cause is not None:
        raise Refusal(
            Code.NOT_NOW,
            say(
                "Task {task_id} is blocked because task {blocked_cause} is blocked.",
                task_id=task.id,
                blocked_cause=task.blocked_cause,
            ),
            say("Unblock that task first{deed:: …}.", deed=deed("put_back", task_id=task.blocked_cause))
            if actor.person
            else say("Unblock {blocked_cause} first.", blocked_cause=task.blocked_cause),
            task_id=task.id,
            cause=task.blocked_cause,
        )
    if (task.blocked_by_person or task.blocked_by_guard) and not actor.person:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say(
                "Task {task_id} was blocked by {blocked_by}; only a person can unblock it.",
                task_id=task.id,
                blocked_by=task.blocked_by,
            ),
            "Report your own task as blocked with this reason, or work on something else.",
            task_id=task.id,
            blocked_by=task.blocked_by,
        )
    if how == "assignee" and task.blocked_by != actor.id:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say(
                "Task {task_id} was blocked by {blocked_by}, not by its assignee.",
                task_id=task.id,
                blocked_by=task.blocked_by,
            ),
            "The member that blocked it can unblock it, or someone above the assignee.",
            task_id=task.id,
            blocked_by=task.blocked_by,
        )


def _refuse_retry(tree_state: TreeState, order: Order) -> None:
    task, actor = order.task, order.actor
    if tree_state.tree.below_closed(task):
        code, message, instruction, details = _ancestor_closed(tree_state, task)
        raise Refusal(code, message, instruction, task_id=task.id, **details)
    # Who retries the task above wants what has failed below it tried again.
    above = tree_state.tree.parent(task)
    times = above.attempt - task.parent_attempt + 1 if above is not None else 1
    most = tree_state.project.settings.retry_attempts * max(1, times)
    if not (actor.person or actor.everything) and task.attempt >= most:
        raise Refusal(
            Code.ATTEMPTS_EXHAUSTED,
            say(
                "Task {task_id} has failed {attempt} times; agents cannot retry it again.",
                task_id=task.id,
                attempt=task.attempt,
            ),
            "Cancel it, change the plan, or report your main task as blocked so that a person decides.",
            task_id=task.id,
            attempt=task.attempt,
        )


def _refuse_missing_reason(order: Order) -> None:
    if order.to in NEEDS_REASON and not (order.reason or "").strip() and not order.actor.everything:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("A reason is required to set a task to {to}.", to=order.to),
            "Say why in one sentence (toryo: --reason TEXT)."
            if order.actor.person
            else "Say why in one sentence in `reason`.",
            task_id=order.task.id,
        )


# --- fields ----------------------------------------------------------------------------------------------------------


def _changed(order: Order, task: Task, to: Status, fields: dict[str, Any]) -> Task:
    """The task in its new status, without the fields that belong to the old one."""
    if task.status is Status.IN_PROGRESS:
        fields = {"wait": None, "unreported_ends": 0, **fields}
        if task.checks in (Checks.RUNNING, Checks.IN_REVIEW):  # nobody decides about the report now
            fields = {"checks": Checks.NONE, "check_id": None, **fields}
    # A person's move is a new cause. Agents that block and unblock among themselves do not reset the counter.
    if order.actor.person:
        fields.setdefault("idle_launches", 0)
    if task.status is Status.BLOCKED and to is not Status.BLOCKED:
        fields = {**_UNBLOCKED, **fields}
    fields.setdefault("moved_session", order.actor.session_id)
    fields.setdefault("moved_from", task.status)
    return replace(task, status=to, moved_at=order.now, updated_at=order.now, **fields)


def _own_fields(order: Order, to: Status) -> dict[str, Any]:
    """What the start or the end of a task is remembered by."""
    if to is Status.IN_PROGRESS:
        started = {"started_at": order.task.started_at or order.now, "not_before": None}
        return {**started, "checks": Checks.NONE, "check_id": None}
    return {"completed_at": order.now} if to in CLOSED else {}


_UNBLOCKED: dict[str, Any] = {
    "blocked_by": None,
    "blocked_by_person": False,
    "blocked_by_guard": False,
    "blocked_reason": None,
    "blocked_cause": None,
    "blocked_from": None,
    "blocked_on": (),
}


# --- carrying out ----------------------------------------------------------------------------------------------------


class _Moving:
    """The intermediate state while one order is carried out."""

    def __init__(self, tree_state: TreeState, order: Order) -> None:
        self.tree_state = tree_state
        self.order = order
        self.changes: list[Change] = []

    @property
    def tree(self) -> Tree:
        return self.tree_state.tree

    def change(self, task: Task, to: Status, caused_by: str | None = None, **fields: Any) -> Task:
        after = _changed(self.order, task, to, fields)
        self.record(task, after, verb(task.status, to), caused_by)
        return after

    def record(self, before: Task, after: Task, word: str, caused_by: str | None = None) -> None:
        self.changes.append(Change(before, after, word, caused_by))
        busy = dict(self.tree_state.busy)
        for task, add in ((before, False), (after, True)):
            if task.assignee_id is not None and task.in_progress and self.tree.is_main(task):
                ids = busy.get(task.assignee_id, frozenset())
                busy[task.assignee_id] = ids | {task.id} if add else ids - {task.id}
        self.tree_state = replace(self.tree_state, tree=self.tree.changed(after), busy=busy)

    def current(self, task: Task) -> Task:
        return self.tree.tasks[task.id]

    def own(self) -> Task:
        return self.current(self.order.task)

    def close_window(self, child: Task) -> None:
        """A child has left `todo`: closes its parent's decomposition window for this attempt."""
        parent = self.tree.parent(child)
        if parent is not None and child.parent_attempt == parent.attempt and parent.window_open:
            self.record(parent, replace(parent, worked_attempt=parent.attempt), "")

    def cascade_block(self, cause: Task) -> None:
        order = self.order
        for below in list(self.tree.descendants(cause)):
            task = self.current(below)
            if task.open and task.status is not Status.BLOCKED:
                self.change(
                    task,
                    Status.BLOCKED,
                    cause.id,
                    blocked_by=order.actor.id,
                    blocked_by_person=order.actor.person,
                    blocked_by_guard=order.actor.guard,
                    blocked_reason=order.reason,
                    blocked_cause=cause.id,
                    blocked_from=task.status,
                )

    def restore_below(self, cause: Task) -> None:
        """Undoes what the cascade of this cause changed, top down."""
        for below in list(self.tree.descendants(cause)):
            task = self.current(below)
            if task.status is Status.BLOCKED and task.blocked_cause == cause.id:
                self.change(task, self.restored(task), cause.id, moved_session=None)

    def restored(self, task: Task) -> Status:
        """`in_progress` only if guard 1 holds, else `todo` (a draft stays a draft)."""
        if task.blocked_from is Status.BACKLOG:
            return Status.BACKLOG
        if task.blocked_from is not Status.IN_PROGRESS or task.for_queue:  # Its claim ended when it was blocked.
            return Status.TODO
        return Status.TODO if next(task_readiness.hindrances(self.tree_state, task), None) else Status.IN_PROGRESS

    def lift_reports(self) -> None:
        """Unblocks tasks that were reported blocked because of other blocks, after the last of those is lifted."""
        lifted = {each.before.id for each in self.changes if _left_blocked(each)}
        while lifted:
            freed: set[str] = set()
            for task in list(self.tree.tasks.values()):
                if task.status is not Status.BLOCKED or not lifted & set(task.blocked_on):
                    continue
                rest = tuple(each for each in task.blocked_on if each not in lifted)
                if rest:
                    self.record(task, replace(task, blocked_on=rest), "")
                    continue
                cause = next(each for each in task.blocked_on if each in lifted)
                self.change(task, self.restored(task), cause, moved_session=None)
                self.restore_below(self.current(task))
                freed.add(task.id)
            lifted = freed


def _left_blocked(change: Change) -> bool:
    return change.before.status is Status.BLOCKED and change.after.status is not Status.BLOCKED


def _start(moving: _Moving) -> None:
    task, tree_state = moving.own(), moving.tree_state
    person = moving.order.actor.person
    for hindrance in task_readiness.hindrances(tree_state, task):
        if hindrance is not StartBlocker.NOT_BEFORE or not person:  # who starts it by hand wants it now
            raise refusal_to_start(tree_state, task, hindrance, person=person)
    after = moving.change(task, Status.IN_PROGRESS, **_own_fields(moving.order, Status.IN_PROGRESS))
    moving.close_window(after)
    moving.restore_below(after)


def _to_todo(moving: _Moving) -> None:
    task = moving.own()
    if task.status is Status.FAILED:
        _retry(moving, task)
    elif task.status is Status.BLOCKED:
        after = moving.change(task, Status.TODO)
        moving.restore_below(after)
    elif task.status is Status.IN_PROGRESS:
        _put_back(moving, task)
    else:
        moving.change(task, Status.TODO)


def _retry(moving: _Moving, task: Task) -> None:
    after = moving.change(
        task,
        Status.TODO,
        attempt=task.attempt + 1,
        completed_at=None,
        checks=Checks.NONE,
        check_id=None,
        idle_launches=0,
    )
    moving.restore_below(after)


def _put_back(moving: _Moving, task: Task) -> None:
    after = moving.change(task, Status.TODO)
    for below in list(moving.tree.descendants(after)):
        current = moving.current(below)
        if current.in_progress:
            moving.change(current, Status.TODO, after.id, moved_session=None)


def _draft(moving: _Moving) -> None:
    moving.close_window(moving.change(moving.own(), Status.BACKLOG))


def _complete(moving: _Moving) -> None:
    task, tree = moving.own(), moving.tree
    still_open = [child for child in tree.children(task) if child.open]
    if still_open:
        raise Refusal(
            Code.SUBTASKS_OPEN,
            say("It has open subtasks ({count}).", count=len(still_open)),
            say(
                "Finish or cancel them first{deed: (…)}.",
                deed=deed("cancel", task_id=Blank("TASK")) if moving.order.actor.person else LEFT_OUT,
            ),
            task_id=task.id,
            open_subtasks=[
                {"task_id": each.id, "title": each.title, "status": each.status.value} for each in still_open[:_SHOWN]
            ],
        )
    if moving.tree_state.open_delegations.get(task.id):
        raise Refusal(
            Code.DELEGATION_OPEN,
            "A delegation that this task waits for is still open.",
            "Wait for its result, or cancel the task."
            if moving.order.actor.person
            else "Call get_next_action: it waits for the result.",
            task_id=task.id,
        )
    if moving.tree_state.must_pass_checks(task) and task.checks is not Checks.PASSED:
        raise _unchecked(task, person=moving.order.actor.person)
    after = moving.change(task, Status.COMPLETED, **_own_fields(moving.order, Status.COMPLETED))
    for below in list(tree.descendants(after)):
        current = moving.current(below)
        if current.open:
            moving.change(current, Status.CANCELLED, after.id, completed_at=moving.order.now, moved_session=None)


def _unchecked(task: Task, *, person: bool) -> Refusal:
    if person:
        return Refusal(
            Code.CHECKS_FAILED if task.checks is Checks.FAILED else Code.NOT_NOW,
            "Acceptance checks have failed."
            if task.checks is Checks.FAILED
            else "The acceptance checks have not passed yet.",
            say("If you have verified the result, confirm it{deed:: …}.", deed=deed("confirm", task_id=task.id)),
            task_id=task.id,
        )
    if task.checks is Checks.FAILED:
        return Refusal(
            Code.CHECKS_FAILED,
            "Acceptance checks have failed.",
            "Fix what failed, then report success again.",
            task_id=task.id,
        )
    return Refusal(
        Code.NOT_NOW,
        "The acceptance checks have not passed yet.",
        "They run when success is reported (report_completed). Without a Coordinator, a person must confirm them.",
        task_id=task.id,
    )


def _fail(moving: _Moving) -> None:
    after = moving.change(moving.own(), Status.FAILED, **_own_fields(moving.order, Status.FAILED))
    moving.cascade_block(after)


def _block(moving: _Moving) -> None:
    order, task = moving.order, moving.own()
    after = moving.change(
        task,
        Status.BLOCKED,
        blocked_by=order.actor.id,
        blocked_by_person=order.actor.person,
        blocked_by_guard=order.actor.guard,
        blocked_reason=order.reason,
        blocked_from=task.status,
        blocked_on=order.because_of,
    )
    moving.close_window(after)
    moving.cascade_block(after)


def _cancel(moving: _Moving) -> None:
    task = moving.own()
    after = moving.change(task, Status.CANCELLED, **_own_fields(moving.order, Status.CANCELLED))
    if task.status is not Status.BACKLOG:
        moving.close_window(after)
    for below in list(moving.tree.descendants(after)):
        current = moving.current(below)
        if current.open:
            moving.change(current, Status.CANCELLED, after.id, completed_at=moving.order.now, moved_session=None)


_CARRY_OUT = {
    Status.TODO: _to_todo,
    Status.IN_PROGRESS: _start,
    Status.BACKLOG: _draft,
    Status.COMPLETED: _complete,
    Status.FAILED: _fail,
    Status.BLOCKED: _block,
    Status.CANCELLED: _cancel,
}


# --- texts of guard 1
# --------------------------------------------------------------------------------------------------

_Words = tuple[Code, str, str, dict[str, Any]]


def _ancestor_closed(tree_state: TreeState, task: Task) -> _Words:
    above = next(ancestor for ancestor in tree_state.tree.ancestors(task) if ancestor.closed)
    return (
        Code.INVALID_TRANSITION,
        say(
            "Task {above_id} above it is {status}, so tasks below it cannot be started or retried.",
            above_id=above.id,
            status=above.status,
        ),
        "Retry that one first, or work on another task."
        if above.status is Status.FAILED
        else "Work on another task, or create a new one.",
        {"closed_task_id": above.id},
    )


def _project_not_active(tree_state: TreeState, _: Task) -> _Words:
    return (
        Code.NOT_NOW,
        say("Project {project_id} is {status}.", project_id=tree_state.project.id, status=tree_state.project.status),
        say(
            "A person must resume the project first{deed: (…)}.",
            deed=deed("resume_project", project_id=Blank("PRJ")),
        ),
        {"reason": f"project_{tree_state.project.status.value}"},
    )


def _not_approved(_: TreeState, task: Task) -> _Words:
    return (
        Code.NOT_APPROVED,
        say("Task {task_id} is not approved (approval: {approval}).", task_id=task.id, approval=task.approval),
        "A person above its assignee must approve it first. Until then, work on something else.",
        {"approval": task.approval.value},
    )


def _dependency(tree_state: TreeState, task: Task) -> _Words:
    waiting = tree_state.tree.open_dependencies(task)
    names = together(
        (say("{task_id} ({status})", task_id=each.id, status=each.status) for each in waiting[:_SHOWN]), ", "
    )
    return (
        Code.DEPENDENCY_NOT_MET,
        say("Task {task_id} depends on tasks that are not completed: {names}.", task_id=task.id, names=names),
        _before(waiting),
        {"waiting_for": [each.id for each in waiting[:_SHOWN]]},
    )


def _before(waiting: Sequence[Task]) -> Worded:
    """What to do about the tasks that this one waits for."""
    never = [task.id for task in waiting if task.status is Status.CANCELLED]
    failed = [task.id for task in waiting if task.status is Status.FAILED]
    if never:
        return say(
            "A cancelled task is never completed. Remove the dependency on {names} (update_task_dependencies), "
            "or cancel this task.",
            names=", ".join(never[:_SHOWN]),
        )
    if failed:
        return say(
            "Retry {names} (update_task_status), remove the dependency (update_task_dependencies), or cancel this "
            "task.",
            names=", ".join(failed[:_SHOWN]),
        )
    return constant("Complete those tasks first, or remove the dependencies.")


def _not_before(_: TreeState, task: Task) -> _Words:
    assert task.not_before is not None
    return (
        Code.NOT_NOW,
        say("Task {task_id} does not start before {time}.", task_id=task.id, time=iso(task.not_before)),
        "Leave it in todo until then, and work on something else.",
        {"not_before": iso(task.not_before)},
    )


def _unassigned(tree_state: TreeState, task: Task) -> _Words:
    if task.for_queue:
        return (
            Code.INVALID_TRANSITION,
            say(
                "Task {task_id} is in the queue {queue}, and no agent has claimed it.",
                task_id=task.id,
                queue=task.agent_type,
            ),
            constant("An agent that serves the queue claims it (poll_tasks)."),
            {},
        )
    said = say("Task {task_id} has no assignee.", task_id=task.id)
    return Code.INVALID_TRANSITION, pools.not_taken(tree_state, task) or said, "Assign it first (assign_task).", {}


def _assignee_not_active(tree_state: TreeState, task: Task) -> _Words:
    return (
        Code.INVALID_TRANSITION,
        say(
            "The assignee {assignee_id} is not an active member of project {project_id}.",
            assignee_id=task.assignee_id,
            project_id=tree_state.project.id,
        ),
        "Assign another agent, or ask a person to activate this agent or add it to the project.",
        {"assignee_id": task.assignee_id},
    )


def _parallel_limit(tree_state: TreeState, task: Task) -> _Words:
    assert task.assignee_id is not None
    running = sorted(parallel_limit.counted_tasks(tree_state, task.assignee_id, task))
    return (
        Code.LIMIT_REACHED,
        say(
            "{assignee_id} is working on {names} and may have {count} tasks in progress at a time in this project.",
            assignee_id=task.assignee_id,
            names=", ".join(running),
            count=len(running),
        )
        if len(running) > 1
        else say(
            "{assignee_id} is working on {names} and may have one task in progress at a time in this project.",
            assignee_id=task.assignee_id,
            names=", ".join(running),
        ),
        "Leave this task in todo and start it when that work is finished, or assign it to another agent.",
        {"running": running},
    )


_HINDERED = {
    StartBlocker.ANCESTOR_CLOSED: _ancestor_closed,
    StartBlocker.PROJECT_NOT_ACTIVE: _project_not_active,
    StartBlocker.NOT_APPROVED: _not_approved,
    StartBlocker.DEPENDENCY: _dependency,
    StartBlocker.NOT_BEFORE: _not_before,
    StartBlocker.UNASSIGNED: _unassigned,
    StartBlocker.ASSIGNEE_NOT_ACTIVE: _assignee_not_active,
    StartBlocker.PARALLEL_LIMIT: _parallel_limit,
}


# --- texts of guard 1 for people: deeds
# -----------------------------------------------------------------------------


def _approve(_: TreeState, task: Task) -> Worded:
    return say("Approve it first{deed:: …}.", deed=deed("approve", task_id=task.id))


def _free(tree_state: TreeState, task: Task) -> Worded:
    waiting = tree_state.tree.open_dependencies(task)
    first = next((each for each in waiting if each.closed), waiting[0])
    free = deed("free", task_id=task.id, remove_dependencies=[first.id])
    if first.status is Status.CANCELLED:
        return say("A cancelled task is never completed. Remove the dependency{deed:: …}.", deed=free)
    if first.status is Status.FAILED:
        retry = deed("retry", task_id=first.id)
        return say("Retry it{retry_deed: (…)}, or remove the dependency{deed: (…)}.", retry_deed=retry, deed=free)
    return say("It can start when those are completed. To start it now, remove the dependency{deed:: …}.", deed=free)


def _assign(_: TreeState, task: Task) -> Worded:
    if task.for_queue:
        return say(
            "An agent that serves the queue claims it.{deed: List them: ….}",
            deed=deed("list_queue_agents", project_id=task.project_id),
        )
    return say("Assign it first{deed:: …}.", deed=_given_to(task))


def _admit(tree_state: TreeState, task: Task) -> Worded:
    return say(
        "Activate it{activate_deed: (…)}, make sure that it is a member{join_deed: (…)}, or assign another agent"
        "{deed:: …}.",
        activate_deed=deed("activate", agent_id=task.assignee_id),
        join_deed=deed("join", agent_id=task.assignee_id, project_id=tree_state.project.id),
        deed=_given_to(task),
    )


def _make_room(_: TreeState, task: Task) -> Worded:
    return say(
        "Start it when that work is finished, allow the agent more tasks at a time{allow_deed: (…)}, or assign another "
        "agent{deed:: …}.",
        allow_deed=deed("allow", agent_id=task.assignee_id, max_parallel_tasks=Blank("N")),
        deed=_given_to(task),
    )


def _given_to(task: Task) -> Deed:
    return deed("assign", task_id=task.id, assignee_id=Blank("AGENT"))


def _resume(tree_state: TreeState, _: Task) -> Worded:
    resume = deed("resume_project", project_id=tree_state.project.id)
    return say("Resume the project first{deed:: …}.", deed=resume)


_BY_PEOPLE = {
    StartBlocker.PROJECT_NOT_ACTIVE: _resume,
    StartBlocker.NOT_APPROVED: _approve,
    StartBlocker.DEPENDENCY: _free,
    StartBlocker.UNASSIGNED: _assign,
    StartBlocker.ASSIGNEE_NOT_ACTIVE: _admit,
    StartBlocker.PARALLEL_LIMIT: _make_room,
}
