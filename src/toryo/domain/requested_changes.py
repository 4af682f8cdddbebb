"""When changes to the work of a task may be requested, and why not: the rules for managers and people. Pure.

`operations/tasks/requested_changes.py` knows what was requested before, `operations/worktrees/changes_tasks.py` creates
the task that makes the changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toryo.deeds import Blank, deed
from toryo.domain.agents import Agent, Role
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import Status, Task
from toryo.domain.wording import say

SENT_BACK_AT_MOST = 2
"""How often managers send one piece of work back before they have to accept it. People may more often."""
CHANGES_TO: Final = "changes_to"
"""The key in the context of the task that makes the changes; its value is the reviewed task."""


def may_ask(creator: Agent | None) -> bool:
    """Whether the creator of a task says by its context what it changes: Toryo, people, and managers, which cannot
    write that themselves (`refuse_manager`). What others write there is only data."""
    return creator is None or creator.human or creator.role is Role.MANAGER


@dataclass(frozen=True, slots=True)
class Asked:
    """Changes that somebody requests, and what is known of the work."""

    task: Task
    by_agent: bool
    standing: Task | None = None
    """The open task that changes this work already."""
    sent_back: int = 0
    """How often agents have sent it back before."""
    above: Task | None = None
    """What the new task would be a part of, if somebody else works on that."""
    done_by: str | None = None
    """Its author, if that cannot change it and no other agent can."""


class Told(NamedTuple):
    """What a refusal says; `more` beside it."""

    message: str
    instruction: str
    more: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Rule:
    """`people`: whether it holds for people, too."""

    when: str
    code: Code
    applies: Callable[[Asked], bool]
    told: Callable[[Asked], Told]
    people: bool = False


def _not_completed(asked: Asked) -> Told:
    return Told(
        say("Task {task_id} is {status}.", task_id=asked.task.id, status=asked.task.status),
        _INSTEAD[asked.task.status]
        if asked.by_agent
        else say(
            "Changes are requested of completed tasks. Tell an agent that is still at work{deed:: …|.}",
            deed=deed("tell", task_id=Blank("TASK"), text=Blank("TEXT")),
        ),
    )


_RETRY = "Retry it (update_task_status, todo), or create another task (create_tasks_batch)."
_EDIT = "It has not been started: change its description (update_task)."
_INSTEAD: Mapping[Status, str] = {
    Status.BACKLOG: _EDIT,
    Status.TODO: _EDIT,
    Status.IN_PROGRESS: "Wait until it is completed, or put it back (update_task_status, todo) and change its "
    "description (update_task).",
    Status.BLOCKED: _RETRY,
    Status.FAILED: _RETRY,
    Status.CANCELLED: "Create another task (create_tasks_batch).",
}
"""What a manager does about work that is not completed."""


def _being_changed(asked: Asked) -> Told:
    assert asked.standing is not None
    return Told(
        say(
            "Task {task_id} already changes the work of task {reviewed}.",
            task_id=asked.standing.id,
            reviewed=asked.task.id,
        ),
        "Wait until that task is completed (select_action, wait), then review it.",
        {"changes_requested": asked.standing.id},
    )


def _too_often(asked: Asked) -> Told:
    return Told(
        say("This work was sent back {count} times, which is the limit.", count=asked.sent_back),
        "Accept it, give the rest to another worker (create_tasks_batch), or report your task as blocked or failed "
        "with the reason (report_completed).",
        {"limit": SENT_BACK_AT_MOST},
    )


def _at_work(asked: Asked) -> Told:
    assert asked.above is not None
    return Told(
        say(
            "{assignee_id} is working on task {above}, which task {task_id} is a part of.",
            assignee_id=asked.above.assignee_id,
            above=asked.above.id,
            task_id=asked.task.id,
        ),
        say("Wait until task {above} is completed, then request changes to it.", above=asked.above.id),
    )


def _nobody(asked: Asked) -> Told:
    return Told(
        say("{assignee_id} cannot change it now, and no worker below you could.", assignee_id=asked.done_by),
        'Report your task as blocked: report_completed(result="blocked", summary="no_available_workers").',
    )


CHANGES_REFUSED: Sequence[Rule] = (
    Rule(
        "The task is not completed",
        Code.INVALID_TRANSITION,
        lambda it: it.task.status is not Status.COMPLETED,
        _not_completed,
        people=True,
    ),
    Rule("A task that changes the work is open", Code.NOT_NOW, lambda it: it.standing is not None, _being_changed),
    Rule(
        f"Managers have sent the work back {SENT_BACK_AT_MOST} times",
        Code.LIMIT_REACHED,
        lambda it: it.sent_back >= SENT_BACK_AT_MOST,
        _too_often,
    ),
    Rule("Another agent works on the task above it", Code.NOT_NOW, lambda it: it.above is not None, _at_work),
    Rule(
        "Its author is inactive, no longer a member or not below the manager, and no other worker below could do it",
        Code.NOT_NOW,
        lambda it: it.done_by is not None,
        _nobody,
    ),
)
"""Why changes are not requested: the first row that applies. Of people, only what says so."""


def refuse(asked: Asked) -> None:
    """Raises Refusal if changes cannot be requested."""
    for rule in CHANGES_REFUSED:
        if (asked.by_agent or rule.people) and rule.applies(asked):
            message, instruction, more = rule.told(asked)
            raise Refusal(rule.code, message, instruction, task_id=asked.task.id, **more)
