"""Who may create which tasks, and how many: caps, the decomposition window, intents, batches. Pure.

Each `refuse_*` raises Refusal with the reason, and then nothing is created. Caps apply to all callers except people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from toryo.domain.agents import Agent, Role, superiors
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.projects import CommandsFrom, Decomposition, Settings
from toryo.domain.requested_changes import CHANGES_TO
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import AcceptanceCheck, Pool, Priority, Said, Task
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import constant, say

_LEAD_ON = "Continue with get_next_action: it says which subtask comes next."


class Intent(StrEnum):
    """Why a manager adds subtasks while others are open."""

    NEW = "new"
    REFINE = "refine"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Draft(Said):
    """A task to create; `dependencies` are local ids of the same batch or ids of existing tasks."""

    title: str
    description: str = ""
    local_id: str | None = None
    priority: Priority = Priority.MEDIUM
    dependencies: tuple[str, ...] = ()
    assignee_id: str | None = None
    agent_type: str | None = None
    context: Any = None
    acceptance: tuple[AcceptanceCheck, ...] = ()
    review_of: str | None = None
    origin_id: str | None = None
    pool: Pool | None = None


def refusal_to_divide(settings: Settings, main: Task, fetched: bool) -> Refusal | None:
    """Why a worker cannot create subtasks of its main task now; None: it can, up to the caps."""
    if not main.delegated and main.parent_id is not None:
        return Refusal(Code.NOT_NOW, "A subtask that you created cannot be divided further.", _LEAD_ON)
    if settings.decomposition is Decomposition.NEVER:
        return Refusal(Code.NOT_NOW, "In this project workers do their tasks without creating subtasks.", _LEAD_ON)
    if not fetched:
        return Refusal(Code.NOT_NOW, "You have not read your task in this session.", "Call get_my_task first.")
    if not main.window_open:
        return Refusal(Code.NOT_NOW, "You cannot add subtasks: work on one of them has begun.", _LEAD_ON)
    return None


def refuse_worker(
    tree_state: TreeState, main: Task, parent: Task, worker: Agent, drafts: Sequence[Draft], fetched: bool
) -> None:
    """A worker may create directly under its main task, for itself, in its window, up to five."""
    if parent.id != main.id:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "A worker can create subtasks only directly under its main task.",
            say(
                "Omit parent_task_id (the default is {main_id}), or ask for other work with request_task.",
                main_id=main.id,
            ),
            parent_task_id=parent.id,
        )
    if any(draft.assignee_id not in (None, worker.id) or draft.pool is not None for draft in drafts):
        raise Refusal(
            Code.PERMISSION_DENIED,
            "A worker cannot assign its subtasks to other members.",
            "Omit assignee_id, or ask someone else with request_task.",
        )
    if (why := refusal_to_divide(tree_state.project.settings, main, fetched)) is not None:
        raise why
    made = sum(1 for child in tree_state.tree.children(main) if child.created_by == worker.id)
    cap = tree_state.project.settings.worker_subtasks
    if made + len(drafts) > cap:
        raise Refusal(
            Code.TOO_MANY_SUBTASKS,
            say("A worker may create up to {cap} subtasks under one task; {made} exist.", cap=cap, made=made),
            _LEAD_ON,
            limit=cap,
            existing=made,
        )


def refuse_manager(
    tree_state: TreeState,
    parent: Task,
    manager: Agent,
    drafts: Sequence[Draft],
    intent: Intent | None,
    planning_since: Millis | None = None,
) -> None:
    """A manager may add below its main task, for subordinates or unassigned, and must state its intent.

    `planning_since`: when the session of a call that adds one subtask began. Several such calls at once are one plan:
    what this manager has created since then, and nobody has begun, asks for no intent.
    """
    if parent.in_progress and parent.assignee_id not in (None, manager.id):
        raise Refusal(
            Code.NOT_NOW,
            say(
                "{assignee_id} is working on task {parent_id}, so you cannot add subtasks to it now.",
                assignee_id=parent.assignee_id,
                parent_id=parent.id,
            ),
            "Add it to your own main task, or move that task back to todo first (update_task_status).",
            parent_task_id=parent.id,
        )
    for draft in drafts:
        if isinstance(draft.context, dict) and CHANGES_TO in draft.context:
            raise Refusal(
                Code.VALIDATION_ERROR,
                say("context.{name} is what Toryo says of changes that were requested.", name=CHANGES_TO),
                "To have completed work changed, call request_changes. Otherwise use another name.",
            )
        if draft.assignee_id is not None:
            refuse_assignee(tree_state, manager, draft.assignee_id)
    existing = [child for child in tree_state.tree.children(parent) if child.open]
    own_plan = (
        planning_since is not None
        and parent.window_open
        and all(child.created_by == manager.id and child.created_at >= planning_since for child in existing)
    )
    if existing and intent is None and not own_plan:
        raise Refusal(
            Code.DUPLICATE_SUBTASK,
            constant("1 open subtask already exists; nothing was created.")
            if len(existing) == 1
            else say("{count} open subtasks already exist; nothing was created.", count=len(existing)),
            "To work with what exists, call get_next_action. To add more, pass intent: new or refine; "
            "replace cancels what has not begun.",
            existing=[listed_in_refusal(task) for task in existing],
        )


def refuse_assignee(tree_state: TreeState, manager: Agent, assignee_id: str) -> None:
    """A manager may assign to active members below it, at any depth."""
    if manager.id not in superiors(assignee_id, tree_state.reports_to):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{assignee_id} does not report to {manager_id}.", assignee_id=assignee_id, manager_id=manager.id),
            "Choose an agent from list_subordinates, or leave the task unassigned.",
            assignee_id=assignee_id,
        )
    if not tree_state.active_member(assignee_id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{assignee_id} is not an active member of this project.", assignee_id=assignee_id),
            "Choose an active agent from list_subordinates.",
            assignee_id=assignee_id,
        )


DEEPEST = 50
"""Maximum depth of the task tree for all callers. Agents have a lower limit (`tree_depth`)."""


def refuse_place(
    settings: Settings,
    tree: Tree,
    parent: Task,
    drafts: Sequence[Draft],
    *,
    capped: bool,
    replacing: bool = False,
    distinct: bool = True,
) -> None:
    """The rules for every caller that creates below a task; `capped` is False for people.

    `distinct`: no two open siblings may have the same title (queue tasks are exempt).
    """
    if parent.closed or tree.below_closed(parent):
        raise Refusal(
            Code.INVALID_TRANSITION,
            say(
                "Task {parent_id} cannot get subtasks: it is {status}, or a task above it is closed.",
                parent_id=parent.id,
                status=parent.status,
            ),
            "Choose another parent task, or omit it.",
            parent_task_id=parent.id,
        )
    children = tree.children(parent)
    if parent.depth >= DEEPEST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say(
                "Task {parent_id} is {count} levels deep, the maximum, so it cannot get subtasks.",
                parent_id=parent.id,
                count=DEEPEST,
            ),
            "Choose a parent task at a higher level, or omit it.",
            parent_task_id=parent.id,
        )
    if capped:
        _refuse_caps(settings, parent, children, len(drafts), replacing)
    if distinct:
        _refuse_duplicates([child for child in children if child.in_progress] if replacing else children, drafts)


def _refuse_caps(settings: Settings, parent: Task, children: Sequence[Task], wanted: int, replacing: bool) -> None:
    if parent.depth + 1 > settings.tree_depth:
        raise Refusal(
            Code.DEPTH_EXCEEDED,
            say(
                "Tasks can be nested {tree_depth} levels deep, and {parent_id} is at the last level.",
                tree_depth=settings.tree_depth,
                parent_id=parent.id,
            ),
            "Do this task directly: " + _LEAD_ON,
            limit=settings.tree_depth,
        )
    still_open = sum(1 for child in children if child.open and not (replacing and not child.in_progress))
    for count, cap, word in (
        (still_open + wanted, settings.open_subtasks, "open"),
        (parent.children_ever + wanted, settings.subtasks_ever, "ever"),
    ):
        if count > cap:
            raise Refusal(
                Code.TOO_MANY_SUBTASKS,
                say(
                    "A task may have up to {cap} subtasks ({word}); there would be {count}.",
                    cap=cap,
                    word=word,
                    count=count,
                ),
                _LEAD_ON,
                limit=cap,
            )


def _refuse_duplicates(siblings: Iterable[Task], drafts: Sequence[Draft]) -> None:
    wanted = {_same(each.title) for each in drafts}
    seen = {_same(sibling.title): sibling.id for sibling in siblings if _same(sibling.title) in wanted and sibling.open}
    for draft in drafts:
        title = _same(draft.title)
        if title in seen:
            raise Refusal(
                Code.DUPLICATE_SUBTASK,
                say("An open subtask with this title already exists: {seen}.", seen=seen[title]),
                "Use it, or choose a different title.",
                task_id=seen[title],
                title=draft.title,
            )
        seen[title] = draft.local_id or "(this call)"


def refuse_commands(tree_state: TreeState, drafts: Sequence[Draft], by: Agent | None) -> None:
    """The Coordinator runs commands: people may write them, managers only if the project allows it."""
    if by is None or by.human or not any(_has_command(draft) for draft in drafts):
        return
    if by.role is Role.MANAGER and tree_state.project.settings.commands_from is CommandsFrom.MANAGERS:
        return
    raise Refusal(
        Code.PERMISSION_DENIED,
        "In this project only people can set commands (project setting commands_from)."
        if by.role is Role.MANAGER
        else "In this project only people can set commands.",
        "Describe the work in words; omit context.command and commands in acceptance checks.",
    )


def refuse_command_for_others(draft: Draft) -> None:
    """A request for another agent may not contain a command, even if the project allows managers to write commands."""
    if _has_command(draft):
        raise Refusal(
            Code.PERMISSION_DENIED,
            "A requested task cannot contain a command.",
            "Describe the work in words; the assignee decides how to do it.",
        )


def _has_command(draft: Draft) -> bool:
    in_context = isinstance(draft.context, dict) and "command" in draft.context
    return in_context or any("command" in each for each in draft.acceptance)


def in_order(drafts: Sequence[Draft]) -> dict[str, tuple[str, ...]]:
    """Local dependencies by local id. Raises Refusal for duplicate ids and for cycles within the batch."""
    local = Counter(draft.local_id for draft in drafts if draft.local_id is not None)
    twice = sorted(local_id for local_id, count in local.items() if count > 1)
    if twice:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("local_id is used twice: {names}.", names=", ".join(twice)),
            "Give every task of the batch a different local_id.",
        )
    named = [(draft.local_id, draft.dependencies) for draft in drafts if draft.local_id is not None]
    graph = {local_id: tuple(each for each in waits_for if each in local) for local_id, waits_for in named}
    done: set[str] = set()
    for start in graph:
        path: list[str] = []
        _visit(start, graph, path, done)
    return graph


def _visit(node: str, graph: Mapping[str, tuple[str, ...]], path: list[str], done: set[str]) -> None:
    if node in done:
        return
    if node in path:
        cycle = [*path[path.index(node) :], node]
        raise Refusal(
            Code.DEPENDENCY_CYCLE,
            "Circular dependency in this batch: " + " -> ".join(cycle) + ".",
            "Nothing was created. Remove one of these dependencies.",
            cycle=cycle,
        )
    path.append(node)
    for following in graph.get(node, ()):
        _visit(following, graph, path, done)
    path.pop()
    done.add(node)


def listed_in_refusal(task: Task) -> dict[str, Any]:
    """How a refusal lists a task."""
    return {"task_id": task.id, "title": task.title, "status": task.status.value, "assignee_id": task.assignee_id}


@lru_cache(maxsize=4096)  # Each sibling is compared with every new task.
def _same(title: str) -> str:
    return " ".join(title.split()).casefold()
