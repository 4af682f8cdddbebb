"""The task that makes changes to completed work: for the same agent, starting from that work. A person requests it in a
review, or a manager (`requesting_changes.py`), the merge queue when the work cannot be merged (`merge_queue.py`).

What depends on the work and has not begun waits for the changes; the agents of what has begun are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toryo import provider_options
from toryo.domain import budgets, creation_rules, pools
from toryo.domain import requested_changes as rules
from toryo.domain.agents import Agent, Role
from toryo.domain.creation_rules import Draft
from toryo.domain.errors import Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.projects import Isolation
from toryo.domain.requested_changes import Asked
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Details, Pool, Start, Status, Task
from toryo.domain.texts import quoted
from toryo.domain.wording import Worded
from toryo.operations.calls.call import Call
from toryo.operations.tasks import lines, mutations, requested_changes, subtask_work
from toryo.storage.snapshots import spent_for
from toryo.workflow import launch_rules

LONGEST_TITLE = 300


def assignee(call: Call, task: Task) -> str | None:
    """The one who has done it, if it is still a member."""
    if task.assignee_id is None:
        return None
    members = call.tx.agents.members_among(task.project_id, [task.assignee_id])
    return task.assignee_id if members else None


def solver(call: Call, task: Task, authors: Iterable[str | None]) -> str | None:
    """Who can resolve what a merge meets in the work of a task: a person whose task it is; else the first of its own
    agent, these, and the agents below its manager that may change files. Of a task that a person has given it is the
    manager of its agent, while the agent is a member. None: nobody."""
    own = call.tx.agents.find(task.assignee_id) if task.assignee_id is not None else None
    if own is not None and own.human:
        return assignee(call, task)
    above = own.reports_to if own is not None and assignee(call, task) is not None else None
    tree_state = call.tree_state(task, *filter(None, [above]))
    part = tree_state.tree.parent(task)
    manager = part.assignee_id if part is not None else above
    if own is not None and own.role is Role.MANAGER:
        manager = own.id
    below = tree_state.able_workers(manager) if manager is not None else []
    wanted = dict.fromkeys((task.assignee_id, *authors, *(agent.id for agent in below)))
    names = [each for each in wanted if each is not None]
    members = call.tx.agents.members_among(task.project_id, names)
    found = {agent.id: agent for agent in call.tx.agents.find_all(names) if agent.id in members and agent.active}
    return next((name for name in names if name in found and _may_change_files(found[name])), None)


def _may_change_files(agent: Agent) -> bool:
    return not agent.human and provider_options.changes_files(agent.provider, agent.started_with(agent.provider))


def make(
    call: Call,
    task: Task,
    title: str,
    text: str,
    builds_on: Sequence[str] = (),
    *,
    by: str | None = None,
    nobody: bool = False,
    merges: Sequence[str] = (),
    parent: Task | None = None,
) -> tuple[Task, str | None]:
    """The new task, started if that is possible; and why it was not yet: then it is in line, where its work was.
    `builds_on`: further tasks
    whose work it starts from. `by`: who makes the changes, if not the author; `nobody`: that is still to be found.
    `merges`: branches that are merged into its worktree at its start. `parent`: what it is a part of."""
    draft = Draft(
        title=title[:LONGEST_TITLE],
        description=text,
        priority=task.priority,
        dependencies=tuple(dict.fromkeys((task.id, *builds_on))),
        assignee_id=None if nobody else by or assignee(call, task),
        agent_type=task.agent_type,
        context=requested_changes.context_for(task, merges),
        start=Start.MANUAL,
        **_budget(call, task, parent),
    )
    made = _filed(call, task, draft, parent)
    return (made, None) if draft.assignee_id is None else _begun(call, made)


def _budget(call: Call, task: Task, parent: Task | None) -> dict[str, Any]:
    """What is left of the budgets that limited the work, for the changes to it: of its own, and of those of the tasks
    above it, unless what changes it is below these, too."""
    above = (
        set() if parent is None else {parent.id, *(each.id for each in call.tree_state(parent).tree.ancestors(parent))}
    )
    tree, left = call.tree_state(task).tree, budgets.Budget()
    for each in budgets.limiting_tasks(tree, task):
        if each.id not in above:
            left = left.least(budgets.of_task(each).left(spent_for(call.tx, tree, each)))
    return {budgets.OF_TASK["usd"]: left.usd, budgets.OF_TASK["tokens"]: left.tokens}


def _filed(call: Call, task: Task, draft: Draft, parent: Task | None) -> Task:
    """In the place in line that the work had, before what is younger."""
    with mutations.lines_later(call):
        [created] = mutations.create(call, call.project(task.project_id), parent, [draft], status=Status.TODO).values()
        made = created.task
        call.tx.tasks.save(made, replace(made, line_at=task.line_at, line_rank=task.line_rank))
    call.event("worktree.changes_requested", task=task, data={"in": made.id})
    return call.task(made.id)


def _begun(call: Call, made: Task) -> tuple[Task, str | None]:
    if _has_no_money(call, made):
        return _in_line(call, made, "")
    try:
        begun = mutations.move(call, call.tree_state(made), made, Status.IN_PROGRESS)
        return call.tx.tasks.save(begun, replace(begun, start=None)), None
    except Refusal as refusal:  # its agent has other work
        return _in_line(call, made, refusal.message)


def _has_no_money(call: Call, made: Task) -> bool:
    """Whether it would leave the line only to wait for a budget. People spend none; what its agent does with its own
    task stands in no line."""
    agent = call.tx.agents.find(made.assignee_id or "")
    if agent is None or agent.human or not call.tree_state(made).tree.is_main(made):
        return False
    return launch_rules.used_up_budget(call.snapshot(agent.id, made.project_id), made.id) is not None


def _in_line(call: Call, made: Task, why: Worded | str) -> tuple[Task, Worded | str]:
    """The task where Toryo starts it as soon as it can, and which place that is; `why` if people start it."""
    waiting = call.tx.tasks.save(made, replace(made, start=Start.WHEN_READY))
    place = lines.place(call, waiting)
    return waiting, why if place is None else place["message"]


def _same(details: Details, manager: Agent | None) -> dict[str, Any]:
    """The command of the work, if a manager sends it back: it cannot name another one, and the agent does nothing else.
    It runs where all that was built since is."""
    context = details.context if manager is not None else None
    return {"command": context["command"]} if isinstance(context, dict) and "command" in context else {}


# --- as people and managers request it --------------------------------------------------------------------------------


def request(
    call: Call,
    task: Task,
    text: str,
    title: str | None = None,
    context: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Task, str | None]:
    """Has the work of a task changed, in its newest state: a part of the same task, if that is open. What a person
    says while other changes are made comes after these, and builds on them. `context`: what the agent is given besides
    that of the work. Raises Refusal."""
    tree = call.tree_state(task).tree
    done = task.status is Status.COMPLETED
    work = requested_changes.work_of(call, subtask_work.holder(call, tree, task, completed=True) if done else task)
    newest, manager = work.newest, None if call.actor.person else call.agent
    between = _between(tree, task, newest)
    author = task if between else newest
    parent = next((each for each in tree.ancestors(task) if each.open), None)
    pool = None if manager is None else _others(call, author, manager, parent)
    open_ones = requested_changes.all_standing(call, [newest.id])
    last = open_ones[-1] if open_ones else newest
    rules.refuse(
        Asked(
            newest,
            manager is not None,
            standing=next(iter(open_ones), None),
            sent_back=work.sent_back,
            above=parent if manager is not None and _at_work(parent, manager) else None,
            done_by=author.assignee_id if pool is not None and not _takers(call, author, parent, pool) else None,
        )
    )
    details = call.tx.tasks.details(author.id)
    draft = Draft(
        title=title or f"Changes to: {task.title}"[:LONGEST_TITLE],
        description=text,
        priority=author.priority,
        dependencies=(newest.id, *(each.id for each in open_ones)),
        assignee_id=None if pool is not None or author.for_queue else assignee(call, author),
        agent_type=author.agent_type,
        context=requested_changes.context_for(last, given=details.context, more={**_same(details, manager), **context}),
        acceptance=details.acceptance,
        touches=author.touches,
        start=Start.MANUAL if manager is None else Start.WHEN_READY,
        pool=pool,
        **_budget(call, last, parent),
    )
    if parent is not None and manager is not None:
        state = call.tree_state(parent)
        creation_rules.refuse_place(state.project.settings, state.tree, parent, [draft], capped=True, distinct=False)
    made = _filed(call, newest, draft, None if parent is None else call.task(parent.id))
    waits: str | None = None
    if manager is None and draft.assignee_id is not None:
        made, waits = _begun(call, made)
    elif (place := lines.place(call, made)) is not None:
        waits = place["message"]
    hold_back(call, sorted({*work.task_ids, task.id, *between}), task, made)
    return call.task(made.id), waits


def _others(call: Call, task: Task, manager: Agent, parent: Task | None) -> Pool | None:
    """Anyone below the manager, where the author cannot do it; None: the author does it."""
    if task.for_queue:
        return None
    try:
        creation_rules.refuse_assignee(call.tree_state(parent or task), manager, task.assignee_id or "")
    except Refusal:
        return Pool()
    return None


def _takers(call: Call, task: Task, parent: Task | None, pool: Pool) -> bool:
    part = replace(task, pool=pool, assignee_id=None, parent_id=parent.id if parent is not None else None)
    return bool(pools.takers(call.tree_state(parent or task), part))


def _at_work(parent: Task | None, manager: Agent) -> bool:
    return parent is not None and parent.in_progress and parent.assignee_id not in (None, manager.id)


def _between(tree: Tree, task: Task, newest: Task) -> list[str]:
    """The tasks above it up to the one that has its work now."""
    above = [each.id for each in tree.ancestors(task)]
    return above[: above.index(newest.id) + 1] if newest.id in above else []


def hold_back(call: Call, task_ids: Sequence[str], task: Task, made: Task) -> None:
    """What depends on these and has not begun waits for the changes; the agents of what has begun are told."""
    names = dict.fromkeys(name for each in task_ids for name in call.tx.tasks.dependants(each))
    waiting = [each for each in call.tx.tasks.find_all(sorted(names)) if each.open and each.id != made.id]
    corrections = {each.id for each in waiting if requested_changes.changed_by(call, [each.id])}
    for each in waiting:
        if each.id in corrections:
            continue
        if each.in_progress:
            _tell(call, each, task, made)
        else:
            with mutations.as_server(call):
                mutations.depend(call, each, [made.id], [])


def _tell(call: Call, begun: Task, task: Task, made: Task) -> None:
    told = f"Changes to {quoted(task.title)}, on which your task builds, were requested ({made.id}). Go on."
    if call.project(begun.project_id).settings.isolation is Isolation.WORKTREE:
        told += " Your work is merged after these changes."
    mutations.leave_word(call, begun, "plan_change", told)
