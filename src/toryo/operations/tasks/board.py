"""The board of a project for the dashboard: its cards in one answer, and the moves possible for a card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import moves
from toryo.domain.errors import Refusal
from toryo.domain.moves import NEEDS_REASON, Order
from toryo.domain.tasks import CLOSED, Checks, Status, Task, priority_ranked
from toryo.domain.times import Millis, iso, iso_or_none
from toryo.domain.worktrees import State
from toryo.operations.calls import deeds, rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, catalogue, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import cursor_of, key_of, not_a_cursor
from toryo.operations.calls.permissions import refuse
from toryo.operations.calls.results import Result
from toryo.operations.calls.schemas import ChecksName, NeedAction, PriorityName, StatusName
from toryo.operations.tasks import remedies, requested_changes
from toryo.storage.overview import Card

# --- cards -----------------------------------------------------------------------------------------------------------


MOST_EVENTS = 2_000
"""After more events than this the whole board is returned: it is hardly larger, and this read stays small."""
MOST_REMEMBERED = 200
"""Cards of a delta that is kept for others who ask for the same."""
USUAL_CLOSED, MOST_CLOSED = 200, 1_000
"""How many closed tasks one answer has, beside those in the trees of open tasks."""
USUAL_OPEN, MOST_OPEN = 200, 1_000
"""How many open tasks of each column one answer has, beside those in their trees."""
MOST_OF_TREES = 1_000
"""How many tasks are answered because they belong to the tree of an open one that is answered."""


class ShowBoard(Parameters):
    project_id: Id = Field(description="The project.")
    after: int | None = Field(
        None,
        ge=0,
        description="The `last_event` of a board one has: only the cards that have changed since are answered.",
    )
    closed: int = Field(
        USUAL_CLOSED, ge=1, le=MOST_CLOSED, description="How many of the tasks that were closed last are answered."
    )
    older: str | None = Field(
        None,
        max_length=500,
        description="`older` of the previous answer: only the tasks that were closed before those are answered.",
    )
    open: int = Field(
        USUAL_OPEN, ge=1, le=MOST_OPEN, description="How many open tasks of each column are answered: the first ones."
    )
    more: str | None = Field(
        None,
        max_length=500,
        description="`more` of a column in a previous answer: only the open tasks that follow in it are answered.",
    )


class BoardTask(schemas.WorkStanding):
    """A card. `waits_for` counts dependencies that are not completed; `children` subtasks that were not cancelled;
    `running`: somebody is signed in for it;
    `changes_requested`: the open task that makes the changes which were requested of its work; `cost_usd`,
    `insertions`, `deletions`: what its launches cost, and its worktree's lines, at the newest event of the task; null
    if unknown."""

    task_id: str
    title: str
    status: StatusName
    priority: PriorityName
    assignee_id: str | None
    agent_type: str | None
    parent_task_id: str | None
    root_task_id: str
    dependencies: list[str]
    waits_for: int
    approval: str
    blocked_reason: str | None
    attempt: int
    children: int
    children_done: int
    running: bool
    created_at: str
    line_at: str
    line_rank: int
    updated_at: str
    started_at: str | None
    completed_at: str | None
    version: int
    checks: ChecksName
    changes_requested: str | None
    cost_usd: float | None
    insertions: int | None
    deletions: int | None
    pool: NotRequired[schemas.Pool]


class BoardColumn(TypedDict):
    """A column of open tasks. `count`: how many there are; `more`: of these some follow that are not in this answer;
    null if there are none, or if the answer is not about this column."""

    status: StatusName
    count: int
    more: str | None


class Board(Result):
    """`whole`: this is the board as it begins; else some cards, which take the place of those one has. `columns`: those
    of open tasks. `older`: there are tasks that were closed earlier and are not in this answer; null if there are none,
    or if `after` or `more` was given."""

    tasks: list[BoardTask]
    whole: bool
    columns: list[BoardColumn]
    older: str | None
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
    """The first open tasks of each column with the tasks of their trees (at most 1,000), and the tasks that were closed
    last, in brief, by priority and place (`line_at`, then `line_rank`). It includes all events up to `last_event`.
    `columns` counts all open tasks, and its `more` fetches those that follow; `older` fetches tasks that were closed
    earlier. With `after`, all that changed since that event, wherever it stands; after too many changes, or an event
    that this server does not know, the board as it begins (`whole` is true). Tasks are never removed."""
    project = call.project(wanted.project_id)
    last = call.tx.events.last()  # before the cards: what is read twice does no harm, what is missed does
    if wanted.older is None and wanted.more is None and wanted.after is not None and wanted.after <= last:
        # All browsers that show it ask for the same cards after an event. No card changes without one.
        asked = "board", project.id, wanted.after, last, wanted.closed, wanted.open
        return {**call.context.answers.of(asked, lambda: _board(call, project.id, wanted, last), _is_small)}
    return _board(call, project.id, wanted, last)


def _is_small(board: Board) -> bool:
    return len(board["tasks"]) <= MOST_REMEMBERED


def _board(call: Call, project_id: str, wanted: ShowBoard, last: int) -> Board:
    older, follows = key_of(wanted.older, int, str), _place_of(wanted.more)
    part = older is not None or follows is not None
    changed = _changed(call, project_id, wanted.after, last) if not part else set()
    before, more = None, dict.fromkeys(_OPEN)
    if older is not None:
        cards, before = _closed(call, project_id, wanted.closed, (older[0], older[1]))
    elif follows is not None:
        status, place = follows
        cards, more[status] = _open(call, project_id, status, wanted.open, place)
    elif changed is None:
        begins = {status: _open(call, project_id, status, wanted.open) for status in _OPEN}
        more |= {status: cursor for status, (_, cursor) in begins.items()}
        ended, before = _closed(call, project_id, wanted.closed)
        cards = _with_trees(call, project_id, [card for found, _ in begins.values() for card in found], ended)
    else:
        cards = call.tx.glances.cards(project_id, changed)
    cards.sort(key=lambda card: card.order)
    counts = call.tx.glances.how_many_open(project_id)
    return {
        "success": True,
        "tasks": _as_answer(call, project_id, cards),
        "whole": not part and changed is None,
        "columns": [{"status": each.value, "count": counts[each], "more": more[each]} for each in _OPEN],
        "older": before,
        "last_event": last,
    }


_OPEN = tuple(status for status in Status if status not in CLOSED)
_Place = tuple[int, Millis, int, str]
"""`Card.order`."""


def _place_of(more: str | None) -> tuple[Status, _Place] | None:
    key = key_of(more, str, int, int, int, str)
    if more is None or key is None:
        return None
    if key[0] not in _OPEN:
        raise not_a_cursor(more)
    return Status(key[0]), (key[1], key[2], key[3], key[4])


def _open(
    call: Call, project_id: str, status: Status, most: int, after: _Place | None = None
) -> tuple[list[Card], str | None]:
    """The first open tasks of a column (after a place), and the cursor of those that follow, if there are any."""
    found = call.tx.glances.open_cards(project_id, status, most + 1, after)
    if len(found) <= most:
        return found, None
    return found[:most], cursor_of(status.value, *found[most - 1].order)


def _with_trees(call: Call, project_id: str, begin: list[Card], ended: list[Card]) -> list[Card]:
    """With what belongs to the trees of the open ones, up to a maximum, and all that these are parts of."""
    glances = call.tx.glances
    roots = {card.root_id for card in begin if not card.waits_in_a_queue}
    parts = glances.cards_of_trees(project_id, sorted(roots), MOST_OF_TREES) if roots else []
    known = {card.id: card for card in (*parts, *begin)}
    while above := {card.parent_id for card in known.values() if card.parent_id is not None} - known.keys():
        known |= {card.id: card for card in glances.cards(project_id, sorted(above))}
    return list((known | {card.id: card for card in ended}).values())


def _closed(
    call: Call, project_id: str, most: int, before: tuple[Millis, str] | None = None
) -> tuple[list[Card], str | None]:
    """The tasks that were closed last (before one), and the cursor of those before them, if there are any."""
    found = call.tx.glances.closed_cards(project_id, most + 1, before)
    if len(found) <= most:
        return found, None
    last = found[most - 1]
    return found[:most], cursor_of(last.completed_at or 0, last.id)


def _changed(call: Call, project_id: str, after: int | None, last: int) -> set[str] | None:
    """The tasks whose cards may differ since an event: whatever changes a card leaves an event that names the task, or
    a session that is at work on it. None for all of them."""
    if after is None or after > last or after < call.tx.retention.state().horizon:  # some events are no longer kept
        return None
    touched = call.tx.glances.touched(project_id, after, MOST_EVENTS)
    if not touched:
        return touched
    parents = {card.parent_id for card in call.tx.glances.cards(project_id, touched)} - {None}
    touched |= requested_changes.about(call, touched)  # they show whether those go on
    waiting = call.tx.glances.waiting_for(touched)  # they count what they wait for
    return touched | waiting | parents  # type: ignore[operator] # those count their subtasks


def _as_answer(call: Call, project_id: str, cards: list[Card]) -> list[BoardTask]:
    if not cards:
        return []
    ids = [card.id for card in cards]
    edges, running = call.tx.glances.edges(ids), call.tx.glances.running(project_id, ids)
    children: Counter[str] = Counter()
    done: Counter[str] = Counter()
    for parent, status, many in call.tx.glances.children(ids):
        children[parent] += many if status != Status.CANCELLED else 0
        done[parent] += many if status == Status.COMPLETED else 0
    costs, lines = call.tx.glances.costs(ids), call.tx.glances.changed(ids)
    changes = requested_changes.standing(call, [card.id for card in cards if card.status == Status.COMPLETED])
    shown: list[BoardTask] = [
        {
            "task_id": card.id,
            "title": card.title,
            "status": Status(card.status).value,
            "priority": priority_ranked(card.rank).value,
            "assignee_id": card.assignee_id,
            "agent_type": card.agent_type,
            "parent_task_id": card.parent_id,
            "root_task_id": card.root_id,
            "dependencies": list(edges.get(card.id, ())),
            "waits_for": sum(status not in (None, Status.COMPLETED) for status in edges.get(card.id, {}).values()),
            "approval": card.approval,
            "blocked_reason": rendering.code(card.blocked_reason),
            "attempt": card.attempt,
            "children": children[card.id],
            "children_done": done[card.id],
            "running": card.id in running,
            "created_at": iso(card.created_at),
            "line_at": iso(card.line_at),
            "line_rank": card.line_rank,
            "updated_at": iso(card.updated_at),
            "started_at": iso_or_none(card.started_at),
            "completed_at": iso_or_none(card.completed_at),
            "version": card.version,
            "checks": Checks(card.checks).value,
            "changes_requested": changes[card.id].id if card.id in changes else None,
            "cost_usd": costs.get(card.id),
            "insertions": lines[card.id][0] if card.id in lines else None,
            "deletions": lines[card.id][1] if card.id in lines else None,
            "in_review": standing["in_review"],
            "merged": standing["merged"],
        }
        for card in cards
        for standing in [_standing(card, lines[card.id][2] if card.id in lines else None)]
    ]
    for card, one in zip(cards, shown, strict=True):
        if card.pool is not None:
            one["pool"] = {"capabilities": orjson.loads(card.pool)["capabilities"]}
    return shown


def _standing(card: Card, work: State | None) -> schemas.WorkStanding:
    finished = card.status == Status.COMPLETED and card.review_of is None
    return rendering.standing(judged=bool(card.judged), completed=finished, work=work)


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
    remedy = remedies.of_block(call, task, agent, call.tx.tasks.details(task.id).context)
    if remedy is None:
        return None
    actions = deeds.as_answer(remedy.actions)
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
