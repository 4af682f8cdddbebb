"""The board of a project for the dashboard: its cards in one answer, and the moves possible for a card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import moves
from toryo.domain.errors import Refusal
from toryo.domain.moves import NEEDS_REASON, Order
from toryo.domain.tasks import Status, Task, priority_ranked
from toryo.domain.times import iso, iso_or_none
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, catalogue, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.permissions import refuse
from toryo.operations.calls.results import Result
from toryo.operations.calls.schemas import NeedAction, PriorityName, StatusName
from toryo.operations.tasks import remedies
from toryo.storage.overview import Card

# --- cards -----------------------------------------------------------------------------------------------------------


MOST_EVENTS = 2_000
"""After more events than this the whole board is returned: it is hardly larger, and this read stays small."""


class ShowBoard(Parameters):
    project_id: Id = Field(description="The project.")
    after: int | None = Field(
        None,
        ge=0,
        description="The `last_event` of a board one has: only the cards that have changed since are answered.",
    )


class BoardTask(TypedDict):
    """A card. `children` counts subtasks that were not cancelled; `running`: somebody is signed in for it."""

    task_id: str
    title: str
    status: StatusName
    priority: PriorityName
    assignee_id: str | None
    agent_type: str | None
    parent_task_id: str | None
    root_task_id: str
    dependencies: list[str]
    approval: str
    blocked_reason: str | None
    attempt: int
    children: int
    children_done: int
    running: bool
    created_at: str
    ordinal: int
    updated_at: str
    started_at: str | None
    completed_at: str | None
    version: int


class Board(Result):
    """`whole`: these are all cards; else those that have changed, which take the place of those one has."""

    tasks: list[BoardTask]
    whole: bool
    last_event: int


@operation(
    "show_board",
    grant=Grant.PERSON,
    parameters=ShowBoard,
    route=Route("GET", "/projects/{project_id}/board"),
    tool=False,
    reads=True,
)
def show_board(call: Call, wanted: ShowBoard) -> Board:
    """Every task of a project in brief, by priority and age (and `ordinal`, for tasks created in one call). It
    includes all events up to `last_event`. With `after`, only what changed since that event; after too many changes,
    or an event that this server does not know, everything (`whole` is true). Tasks are never removed."""
    project = call.project(wanted.project_id)
    last = call.tx.events.last()  # before the cards: what is read twice does no harm, what is missed does
    changed = _changed(call, project.id, wanted.after, last)
    cards = call.tx.glances.cards(project.id, changed)
    shown = _all_shown(call, project.id, cards) if changed is None else _some_shown(call, project.id, cards)
    return {"success": True, "tasks": shown, "whole": changed is None, "last_event": last}


def _changed(call: Call, project_id: str, after: int | None, last: int) -> set[str] | None:
    """The tasks whose cards may differ since an event: whatever changes a card leaves an event that names the task, or
    a session that is at work on it. None for all of them."""
    if after is None or after > last:
        return None
    touched = call.tx.glances.touched(project_id, after, MOST_EVENTS)
    if not touched:
        return touched
    parents = {card.parent_id for card in call.tx.glances.cards(project_id, touched)} - {None}
    return touched | parents  # type: ignore[operator] # they count their subtasks


Subtasks = Counter[tuple[str | None, str]]
"""How many subtasks of a parent have a status."""


def _all_shown(call: Call, project_id: str, cards: list[Card]) -> list[BoardTask]:
    counted: Subtasks = Counter((card.parent_id, card.status) for card in cards)
    return _shown(call, project_id, cards, call.tx.glances.edges(project_id), counted)


def _some_shown(call: Call, project_id: str, cards: list[Card]) -> list[BoardTask]:
    if not cards:
        return []
    ids = [card.id for card in cards]
    counted: Subtasks = Counter({(parent, status): many for parent, status, many in call.tx.glances.children(ids)})
    return _shown(call, project_id, cards, call.tx.glances.edges(project_id, ids), counted)


def _shown(
    call: Call,
    project_id: str,
    cards: list[Card],
    edges: dict[str, list[str]],
    counted: Subtasks,
) -> list[BoardTask]:
    running = call.tx.glances.running(project_id)
    children: Counter[str | None] = Counter()
    for (parent, status), many in counted.items():
        if status != Status.CANCELLED:
            children[parent] += many
    return [
        {
            "task_id": card.id,
            "title": card.title,
            "status": Status(card.status).value,
            "priority": priority_ranked(card.rank).value,
            "assignee_id": card.assignee_id,
            "agent_type": card.agent_type,
            "parent_task_id": card.parent_id,
            "root_task_id": card.root_id,
            "dependencies": edges.get(card.id, []),
            "approval": card.approval,
            "blocked_reason": card.blocked_reason,
            "attempt": card.attempt,
            "children": children[card.id],
            "children_done": counted[card.id, "completed"],
            "running": card.id in running,
            "created_at": iso(card.created_at),
            "ordinal": card.ordinal,
            "updated_at": iso(card.updated_at),
            "started_at": iso_or_none(card.started_at),
            "completed_at": iso_or_none(card.completed_at),
            "version": card.version,
        }
        for card in cards
    ]


# --- moves -----------------------------------------------------------------------------------------------------------


class ShowMoves(Parameters):
    task_id: Id = Field(description="The task.")


class Move(TypedDict):
    """What `move_task` would answer: `code`, `reason` and `instruction` are those of its refusal."""

    status: StatusName
    allowed: bool
    code: str | None
    reason: str | None
    instruction: str | None
    needs_reason: bool


class First(TypedDict):
    """What has to change before a move helps, in words and as commands."""

    text: str
    actions: list[NeedAction]


class Moves(Result):
    task_id: str
    version: int
    moves: list[Move]
    first: Annotated[First | None, Field(description="Of a block that would only come back: what has to change.")]
    may_judge: Annotated[bool, Field(description="Whether you may approve or reject it, were it a request.")]


@operation(
    "show_moves",
    grant=Grant.PERSON,
    parameters=ShowMoves,
    route=Route("GET", "/tasks/{task_id}/moves"),
    tool=False,
    reads=True,
)
def show_moves(call: Call, wanted: ShowMoves) -> Moves:
    """Where you may move a task now, and why not elsewhere: what move_task would say, without moving anything."""
    task = call.task(wanted.task_id)
    refused = _barred(call, "approve_task") or moves.refusal_to_judge(call.tree_state(task), task, call.actor)
    return {
        "success": True,
        "task_id": task.id,
        "version": task.version,
        "moves": list(_moves(call, task)),
        "first": _first(call, task),
        "may_judge": refused is None,
    }


def _first(call: Call, task: Task) -> First | None:
    if task.status is not Status.BLOCKED:
        return None
    agent = call.tx.agents.find(task.assignee_id) if task.assignee_id else None
    remedy = remedies.of_block(task, agent, call.tx.tasks.details(task.id).context)
    if remedy is None:
        return None
    actions = [NeedAction(name=action.name, command=action.command) for action in remedy.actions]
    return {"text": remedy.words, "actions": actions}


def _moves(call: Call, task: Task) -> Iterable[Move]:
    tree_state, barred = call.tree_state(task), _barred(call, "move_task")
    for to in Status:
        asks_why = to in NEEDS_REASON and not call.actor.everything
        order = Order(task, to, call.actor, call.now, "a reason" if asks_why else None)
        refused = barred or moves.refusal(tree_state, order)
        yield {
            "status": to.value,
            "allowed": refused is None,
            "code": refused.code.value if refused is not None else None,
            "reason": refused.message if refused is not None else None,
            "instruction": refused.instruction if refused is not None else None,
            "needs_reason": asks_why,
        }


def _barred(call: Call, operation: str) -> Refusal | None:
    """What keeps this caller from an operation, whatever the task: who only reads."""
    try:
        refuse(catalogue()[operation], call.caller)
    except Refusal as refusal:
        return refusal
    return None
