"""Carries out changes of tasks: rows, events, and notifications to the agents that work on them.

`move` is the only way to change a status, `create` the only way to create tasks, for tools, people and housekeeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from typing import Any, final

from typing_extensions import TypedDict

from toryo.deeds import Blank, deed
from toryo.domain import dependencies as graph
from toryo.domain import ids, moves, queue, review_checks, task_readiness
from toryo.domain.agents import SYSTEM, Agent, Role
from toryo.domain.creation_rules import Draft, in_order
from toryo.domain.delegations import failed
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.handover import INTERRUPT, address_of_agent, address_of_task
from toryo.domain.launches import Purpose
from toryo.domain.moves import Actor, Change, Order
from toryo.domain.pools import takers
from toryo.domain.projects import Approvals, Project
from toryo.domain.sessions import Session
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import VERBS, Approval, Checks, Details, Pool, Start, Status, Task
from toryo.domain.texts import quoted
from toryo.domain.times import Millis
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import constant, say, together
from toryo.operations.calls import did_you_mean
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.callers import Caller, Kind
from toryo.operations.calls.fault_isolation import attempt
from toryo.operations.messaging import mailboxes, messages, notifications
from toryo.operations.tasks import approvals, pools, questions, requested_changes
from toryo.workflow import line_rules
from toryo.workflow.snapshot import RuleInput

_PROGRESS = ("completed",)
_DELAYS_A_REVIEW = {StartBlocker.PROJECT_NOT_ACTIVE, StartBlocker.PARALLEL_LIMIT}
_SERVER = Actor(SYSTEM, everything=True, guard=True)
_MOVES = frozenset(
    f"task.{word}" for word in (*VERBS.values(), "started", "completed", "failed", "blocked", "cancelled")
)


def move(
    call: Call,
    tree_state: TreeState,
    task: Task,
    to: Status,
    reason: str | None = None,
    *,
    actor: Actor | None = None,
    because_of: tuple[str, ...] = (),
) -> Task:
    """Moves a task by the rules, with its cascades; returns it as stored. Raises Refusal before any write."""
    if (
        task.review_of is not None
        and to in (Status.TODO, Status.IN_PROGRESS)
        and questions.reviewed_by(call, task) is None
    ):
        raise review_checks.over(task)
    order = Order(task, to, actor or call.actor, call.now, reason, because_of)
    carry_out(call, moves.plan(tree_state, order), order.actor, reason)
    return _stored(call, task.id)


def move_alone(call: Call, task: Task, to: Status, reason: str | None = None, *, actor: Actor | None = None) -> Task:
    """As `move`, for a claimed task that stands alone (`ALONE` in `storage/tasks.py`); who asks stores it, and
    wakes who polls for what waited for it (`moves.alone`)."""
    order = Order(task, to, actor or call.actor, call.now, reason)
    change = moves.alone(order)
    tell_of_move(call, change, order.actor, reason)
    _hint_queue(call, change.after)
    _hint_around(call, change.after)
    return change.after


def refuse_restless(call: Call, task: Task) -> None:
    """The guard against moving one task to and fro: trips the runaway guard of the session."""
    moves_made = call.tx.events.counted(task.id, call.session.id, _MOVES)
    if moves_made >= call.context.limits.moves_of_one_task:
        raise Refusal(
            Code.RUNAWAY,
            say("This session has moved task {task_id} {moves_made} times.", task_id=task.id, moves_made=moves_made),
            'Report why you could not continue: report_completed(result="blocked", summary="why"). Then end this '
            "process.",
            action="exit",
        )


def carry_out(call: Call, changes: Sequence[Change], actor: Actor, reason: str | None = None) -> None:
    """Stores the changes of one act and tells everybody."""
    first: dict[str, Task] = {}
    last: dict[str, Task] = {}
    for change in changes:
        first.setdefault(change.before.id, change.before)
        last[change.after.id] = _by_hand(change, actor)
    waiting = _waiting_reviews(call, first.values(), last, actor)  # before what is changed is written, which is once
    for task_id, after in last.items():
        call.tx.tasks.save(first[task_id], after)
    for change in changes:
        if change.verb:
            tell_of_move(call, change, actor, reason)
    # Where a task of the tree was completed, the launches of the tasks above have not been idle.
    for root_id in {change.after.root_id for change in changes if change.verb in _PROGRESS}:
        forget_idle_launches(call, root_id)
    _notify_sessions(call, first, last, actor, reason)
    if changes and actor.person and changes[0].verb:
        task = changes[0].after
        told = f"{actor.id} moved {quoted(task.title)} to {task.status.value}.{_why(reason)}"
        tell_above(call, task, "status_change", told)
    for each in last.values():
        _end_what_depends(call, first[each.id], each)
    behind = hint(call, last.values())
    _let_go(call, [each for each in last.values() if each.status is Status.CANCELLED], behind)
    for review in waiting:
        start_review(call, _stored(call, review.id))
    freed = [each for each in first.values() if each.in_progress and not last[each.id].in_progress]
    go_on(call, [*last.values(), *_met(call, last, behind), *_below(call, last.values())], freed)


def _let_go(call: Call, cancelled: Iterable[Task], behind: Mapping[str, Sequence[Task]]) -> None:
    """Changes that were requested are no longer wanted: what waits for them because it builds on the work goes on."""
    for task in cancelled:
        waiting = [each for each in behind.get(task.id, ()) if each.open and not each.in_progress]
        works = requested_changes.changed_by(call, [task.id]) if waiting else set()
        edges = call.tx.tasks.depends_on([each.id for each in waiting]) if works else {}
        for each in waiting:
            if not works.isdisjoint(edges.get(each.id, ())):
                requested_changes.pass_on(call, each, task)
                with as_server(call):
                    depend(call, _stored(call, each.id), [], [task.id])


def _below(call: Call, changed: Iterable[Task]) -> list[Task]:
    """The parts of tasks that do not keep theirs."""
    open_ones = [each for each in changed if each.children_ever and each.open and not task_readiness.keeps_parts(each)]
    return [part for each in open_ones for part in call.tx.tasks.tree(each.root_id).descendants(each)]


def _by_hand(change: Change, actor: Actor) -> Task:
    """What is put back by hand is started by hand; from then on as before. Its parts wait for it anyway."""
    if change.verb == "put_back" and change.caused_by is None and (actor.person or not actor.everything):
        return replace(change.after, start=Start.MANUAL)
    if change.verb == "started" and actor.person and change.before.moved_from is Status.IN_PROGRESS:
        return replace(change.after, start=None)
    return change.after


def _end_what_depends(call: Call, before: Task, after: Task) -> None:
    if after.status in (Status.FAILED, Status.CANCELLED) and before.open:
        _drop_delegations(call, after)
    if before.in_progress and not after.in_progress:
        _stop_work(call, after)
    put_off = after.status is Status.BACKLOG or (after.status is Status.BLOCKED and call.actor.person)
    if after.review_of is not None and (after.closed or put_off):
        questions.left_to_people(call, after)


def _stop_work(call: Call, task: Task) -> None:
    """What it was in progress for ends with it."""
    _withdraw_questions(call, task)
    if task.for_queue:
        _withdraw_claim(call, task)


def tell_of_move(call: Call, change: Change, actor: Actor, reason: str | None) -> None:
    data: dict[str, Any] = {"from": change.before.status.value, "to": change.after.status.value}
    if reason:
        data["reason"] = reason
    if change.caused_by is not None:
        data["caused_by"] = change.caused_by
    if change.after.closed and change.after.started_at is not None:
        data["started_at"] = change.after.started_at
    call.event(f"task.{change.verb}", task=change.after, actor=actor, fact=True, data=data)


def _withdraw_claim(call: Call, task: Task) -> None:
    """Withdraws a claimed task from its holder, whose result is then refused."""
    held = call.tx.queues.live_claim(task.id)
    if held is None:  # its holder has submitted it, or lost it before
        return
    if task.status in (Status.COMPLETED, Status.FAILED):  # reported by a session
        call.tx.queues.save_claim(queue.ended(held, "submitted", call.now))
        return
    call.tx.queues.save_claim(queue.ended(held, "withdrawn", call.now))
    call.event("claim.withdrawn", task=task, agent_id=held.agent_id, data={"attempt": held.attempt})
    current = _stored(call, task.id)
    # who polls hears of no unblocking: left assigned, its task could go on in progress with nobody at work on it
    polled = task.status is Status.BLOCKED and held.launch_id is None
    nobody = {"assignee_id": None} if polled or task.status is Status.TODO else {}
    call.tx.tasks.save(current, replace(current, attempt=current.attempt + 1, **nobody))  # type: ignore[arg-type]


def queue_topic(project_id: str, agent_type: str) -> str:
    """The topic of calls that wait for tasks of a queue."""
    return f"queue:{project_id}:{agent_type}"


def ready_topic(agent_type: str, task_id: str) -> str:
    """A hint for other programs: this task is ready (channel `task:<agent_type>`)."""
    return f"ready:{agent_type}:{task_id}"


def hint(call: Call, tasks: Iterable[Task]) -> dict[str, list[Task]]:
    """Wakes who decides about launches and who waits for these trees. Answers what depends on those that are closed."""
    tasks = list(tasks)
    behind: dict[str, list[Task]] = {}
    # Who polls for what these changes have made ready: queue tasks themselves, and those that waited.
    for task in tasks:
        waiting = call.tx.tasks.find_all(call.tx.tasks.dependants(task.id)) if task.closed else []
        behind |= {task.id: waiting} if waiting else {}
        for each in (task, *waiting):
            _hint_queue(call, each)
        _hint_around(call, task)
    call.tx.hint(WORK)
    return behind


def _hint_queue(call: Call, task: Task) -> None:
    if task.agent_type is not None and task.status is Status.TODO:
        call.tx.hint(queue_topic(task.project_id, task.agent_type), ready_topic(task.agent_type, task.id))


def _hint_around(call: Call, task: Task) -> None:
    call.tx.hint(WORK, f"task:{task.root_id}", f"project:{task.project_id}")


def forget_idle_launches(call: Call, root_id: str) -> None:
    """After progress in a tree (a task completed, a first child created), guards count launches from zero."""
    for task in call.tx.tasks.idle(root_id):
        call.tx.tasks.save(task, replace(task, idle_launches=0))


# --- lines: tasks that begin by themselves ----------------------------------------------------------------------------

LOOK = 20
"""How many tasks of a line are looked at at a time. Of those behind what waits for its agent, only parts of other tasks
are looked at: these may need no further place."""
MOST_KEPT = 200
"""How many that are kept for reasons of their own are looked at; what is behind these waits for them."""


def meet(call: Call, completed: Sequence[Task]) -> list[Task]:
    """Counts these among what their dependants need no more, of all but queues, which are asked by who polls. Answers
    those dependants."""
    behind = {task.id: call.tx.tasks.find_all(call.tx.tasks.dependants(task.id)) for task in completed}
    return _met(call, {task.id: task for task in completed}, behind)


def _met(call: Call, closed: Mapping[str, Task], behind: Mapping[str, Sequence[Task]]) -> list[Task]:
    met = []
    for task_id, dependants in behind.items():
        for task in dependants if closed[task_id].status is Status.COMPLETED else ():
            current = _stored(call, task.id)
            if current.dependencies_left and not current.for_queue:
                met.append(
                    call.tx.tasks.save(current, replace(current, dependencies_left=current.dependencies_left - 1))
                )
    return met


def go_on(call: Call, changed: Iterable[Task], freed: Iterable[Task] = ()) -> None:
    """Starts what is ready in the lines in which these tasks are, and of the agents that work no longer on `freed`."""
    lines = {
        (task.project_id, task.assignee_id) for task in changed if not task.dependencies_left and _waits(call, task)
    }
    lines |= {(task.project_id, task.assignee_id) for task in freed if task.assignee_id and not task.for_queue}
    if call.later_lines is not None:
        call.later_lines |= lines
        return
    _start_lines(call, lines)


def go_on_behind(call: Call, task_id: str) -> None:
    """The work of a task was merged, or there is none: what waits for that, or for what it is a part of, starts if
    nothing else prevents it."""
    task = call.task(task_id)
    if call.project(task.project_id).settings.waits_for_merges:
        wholes = [task, *call.tx.tasks.tree(task.root_id).ancestors(task)]
        behind = {each: None for whole in wholes for each in call.tx.tasks.dependants(whole.id)}
        go_on(call, call.tx.tasks.find_all(behind))


@contextmanager
def lines_later(call: Call) -> Iterator[None]:
    """Several changes of one task are one act: its line goes on after the last of them."""
    call.later_lines = later = set[tuple[str, str | None]]()
    yield
    call.later_lines = None
    _start_lines(call, later)


def _start_lines(call: Call, lines: Iterable[tuple[str, str | None]]) -> None:
    for project_id, agent_id in sorted(lines, key=lambda line: (line[0], line[1] or "")):
        start_line(call, project_id, agent_id)


def _waits(call: Call, task: Task) -> bool:
    project = call.tx.projects.find(task.project_id)
    return project is not None and task.in_line(project.settings.start)


def begun_by_its_line(call: Call, task: Task, to: Status) -> bool:
    """Whether somebody who starts it comes a moment later than Toryo."""
    project = call.tx.projects.find(task.project_id)
    flows = project is not None and task.started_when_ready(project.settings.start)
    return to is Status.IN_PROGRESS and task.in_progress and flows


def put_in_line(call: Call, task: Task) -> Task:
    """A request that was approved: it starts as soon as it can, in every project, unless somebody has put it back."""
    if task.status is Status.TODO and task.start is Start.MANUAL:
        return task
    waiting = call.tx.tasks.save(task, replace(task, start=Start.WHEN_READY))
    if waiting.status is not Status.BACKLOG:
        return waiting
    with as_server(call):
        return move(call, call.tree_state(waiting), waiting, Status.TODO, "it was approved")


def start_line(call: Call, project_id: str, agent_id: str | None) -> None:
    """Starts the first tasks of an agent's line, and of those for anyone, as far as they are ready and
    it has places; without an agent, those that go to anyone who is free, at all that are."""
    project = call.tx.projects.find(project_id)
    if project is None or not project.active:
        return
    if agent_id is None:
        _start_pool(call, project)
        return
    agent = call.tx.agents.find(agent_id)
    if agent is None or agent.human:  # a person begins what they want to begin
        return
    for parts in (False, True):
        if not _start_in_line(call, project, agent, parts=parts):
            return


def _start_in_line(call: Call, project: Project, agent: Agent, *, parts: bool) -> bool:
    """Answers whether there may be parts behind what it has looked at. An agent without a place can still begin a part
    of what it works on. Tasks of pools are looked at while it is free for one, and only those that it could do: nothing
    waits behind others, however many these are."""
    also, seen, kept, more = () if parts else _suited(call, project.id, agent), set[str](), 0, True
    full = parts
    while more and kept < MOST_KEPT:
        start, most = project.settings.start, kept + LOOK
        found = call.tx.tasks.ready_in_line(project.id, agent.id, start, most, parts=parts, also=also)
        more = len(found) == most
        for task in [each for each in found if each.id not in seen]:
            of_pool = task.assignee_id is None
            if full and (of_pool or task.parent_id is None):
                continue
            seen.add(task.id)
            reason = _kept_from(call, task, agent) if of_pool else _kept_in_line(call, task, start)
            kept += reason is not None
            full = full or (reason is None and agent.max_parallel_tasks == 1)
            if also and not full and (reason is None or (of_pool and _of_agent(reason))):
                also, more = _suited(call, project.id, agent) if reason is None else (), True
                break
            if reason is not None and not of_pool and reason not in line_rules.OF_ONE_TASK:
                if full and reason != StartBlocker.PARALLEL_LIMIT.value:
                    return False
                full = True
        if full and not parts:
            return more
    return more


def _suited(call: Call, project_id: str, agent: Agent) -> Sequence[Pool]:
    """The pools of which an agent may be given a task now."""
    suited = pools.suited(call, project_id, [agent]) if agent.managed and agent.role is Role.WORKER else ()
    return suited if suited and not call.tx.tasks.busy(project_id, [agent.id]) else ()


def _of_agent(reason: str) -> bool:
    """Whether an agent takes none of the tasks behind one that it does not take for this reason."""
    return reason not in line_rules.OF_ONE_TASK and reason not in _CODES


_CODES = frozenset(code.value for code in Code)
"""Of refusals, which say something about one task."""


def _start_pool(call: Call, project: Project) -> None:
    free, seen, kept, goes_on = pools.free(call, project.id), set[str](), 0, True
    while free and goes_on and kept < MOST_KEPT:
        suited = pools.suited(call, project.id, call.tx.agents.find_all(free))
        found = call.tx.tasks.ready_in_pool(project.id, kept + LOOK, suited)
        goes_on = len(found) == kept + LOOK
        for task in [each for each in found if each.id not in seen]:
            seen.add(task.id)
            left, stays = _offered(call, task, free)
            kept += stays
            if left != free:  # there may be less that the others can do
                free, goes_on = left, True
                break


def _offered(call: Call, task: Task, free: Sequence[str]) -> tuple[list[str], bool]:
    """A task of a pool goes to the first of these agents that can start it. Answers who of them is free for the tasks
    behind it, and whether it stays."""
    left = [*free]
    for agent in call.tx.agents.find_all(free):
        reason = _kept_from(call, task, agent)
        if reason is None or _of_agent(reason):
            left.remove(agent.id)
        if reason is None or reason in line_rules.OF_ITSELF:
            return left, reason is not None
    return left, True


def _kept_in_line(call: Call, task: Task, of_project: Start) -> str | None:
    """Why it stays in line; None: it has left it."""
    current = _stored(call, task.id)
    if not current.in_line(of_project):
        return None
    assert current.assignee_id is not None
    snapshot = call.snapshot(current.assignee_id, current.project_id)
    reason = line_rules.decide(RuleInput(snapshot, call.tree_state(current), current))
    if reason is not None:
        return reason
    return _started(call, partial(_start_next, call, current))


def _kept_from(call: Call, task: Task, agent: Agent) -> str | None:
    """Why an agent does not take a task of a pool; None: it has, or another one had."""
    current = _stored(call, task.id)
    if current.assignee_id is not None or not current.in_line(Start.MANUAL):
        return None
    tree_state = call.tree_state(current, agent.id)
    if agent not in takers(tree_state, current) or tree_state.busy.get(agent.id):
        return line_rules.OWN_PART
    given = replace(current, assignee_id=agent.id)
    snapshot = call.snapshot(agent.id, current.project_id)
    would = replace(tree_state, tree=tree_state.tree.changed(given))
    reason = line_rules.decide(RuleInput(snapshot, would, given))
    if reason is not None:
        return reason
    if not pools.has_place(call, snapshot, current):
        return pools.NO_PLACE
    return _started(call, partial(_take, call, current, agent.id))


def _started(call: Call, begin: Callable[[], object]) -> str | None:
    with as_server(call):
        moved = attempt(call, begin)
    return moved.code.value if isinstance(moved, Refusal) else None


def _start_next(call: Call, task: Task) -> None:
    move(call, call.tree_state(task), task, Status.IN_PROGRESS, "it was next in line")


def _take(call: Call, task: Task, agent_id: str) -> None:
    given = call.tx.tasks.save(task, replace(task, assignee_id=agent_id, moved_at=call.now, updated_at=call.now))
    data = {"from": None, "to": agent_id, "reason": "it was free first"}
    call.event("task.assigned", task=given, fact=True, data=data)
    move(call, call.tree_state(given), given, Status.IN_PROGRESS, "an agent was free for it")


def give_back(call: Call, task: Task, reason: str, *, again: bool) -> None:
    """An agent that could not begin a task of a pool: it goes to another one, if there is one, and to this one not
    again, or `again` once its cooldown is over."""
    assert task.pool is not None
    assert task.assignee_id is not None
    agent_id, pool = task.assignee_id, task.pool
    if not again:
        pool = replace(pool, passed=(*pool.passed, agent_id))
    with lines_later(call), as_server(call):
        back = move(call, call.tree_state(task), task, Status.TODO, reason)
        given = replace(back, assignee_id=None, pool=pool, start=Start.WHEN_READY, unreported_ends=0, idle_launches=0)
        call.tx.tasks.save(back, given)
        call.event("task.assigned", task=given, fact=True, data={"from": agent_id, "to": None, "reason": reason})
        go_on(call, [given])


def come_due(call: Call, task: Task) -> Task:
    """Its time has come: nothing is kept of it. Who decides about it is woken; its line goes on after the others."""
    current = call.tx.tasks.save(task, replace(task, not_before=None))
    hint(call, [current])
    return current


# --- reviews that begin by themselves ---------------------------------------------------------------------------------


def start_review(call: Call, review: Task) -> bool:
    """Starts the task of a review as soon as its agent is free; leaves it to a person where that cannot do it."""
    tree_state = call.tree_state(review)
    to, why = Status.IN_PROGRESS, None
    agent = tree_state.agents.get(review.assignee_id or "")
    if _hopeless(call, tree_state, review):
        to, why = Status.CANCELLED, "its agent cannot review this work"
    elif review.in_progress:
        return False
    elif agent is not None:
        others = tree_state.busy.get(agent.id, frozenset()) - _above_reviewed(call, review)
        tree_state = replace(tree_state, busy={agent.id: others})
    with as_server(call):
        moved = attempt(call, partial(move, call, tree_state, review, to, why))
    return not isinstance(moved, Refusal)


def _waiting_reviews(call: Call, before: Iterable[Task], after: Mapping[str, Task], actor: Actor) -> list[Task]:
    """The next review of each agent that has room after these moves. Who polls a queue reviews nothing, and who has
    ended a part goes on with its task. A person who puts a task back may start it, or another one, in a moment."""
    ended = (
        each
        for each in before
        if each.in_progress
        and not after[each.id].in_progress
        and not each.for_queue
        and not (actor.person and after[each.id].open)
    )
    mains = (each for each in ended if each.parent_id is None or each.delegated)
    agents = {(each.project_id, each.assignee_id) for each in mains if each.assignee_id is not None}
    found = (call.tx.tasks.review_waiting_for(project_id, agent_id) for project_id, agent_id in sorted(agents))
    return [review for review in found if review is not None]


def start_next_review(call: Call, project_id: str, agent_id: str | None) -> None:
    """An agent may have room now: the first review of the project that waits for it begins, not in the next round of
    housekeeping."""
    review = call.tx.tasks.review_waiting_for(project_id, agent_id) if agent_id is not None else None
    if review is not None:
        start_review(call, review)


def _start_reviews_after_giving(call: Call, task: Task, assignee_id: str | None) -> None:
    if task.in_progress:
        start_next_review(call, task.project_id, task.assignee_id)
    if task.review_of is not None:
        start_next_review(call, task.project_id, assignee_id)


def _hopeless(call: Call, tree_state: TreeState, review: Task) -> bool:
    """Whether its agent cannot do it, even once it is free and the project goes on."""
    reviewed = call.tx.tasks.find(review.review_of or "")
    agent = tree_state.agents.get(review.assignee_id or "")
    if reviewed is None or not review_checks.can_review(agent, reviewed, tree_state.members):
        return True
    return bool(set(task_readiness.hindrances(tree_state, review)) - _DELAYS_A_REVIEW)


def _above_reviewed(call: Call, review: Task) -> set[str]:
    """The tasks that wait for what is reviewed: a reviewer who has one of these would wait for itself."""
    found: set[str] = set()
    above = call.tx.tasks.find(review.review_of or "")
    while above is not None and above.parent_id is not None:
        above = call.tx.tasks.find(above.parent_id)
        found |= {above.id} if above is not None else set()
    return found


@contextmanager
def as_server(call: Call) -> Iterator[None]:
    before, call.caller = call.caller, Caller(Kind.SERVER)
    try:
        yield
    finally:
        call.caller = before


# --- notifications to running sessions -------------------------------------------------------------------------------


def _notify_sessions(
    call: Call, first: dict[str, Task], last: dict[str, Task], actor: Actor, reason: str | None
) -> None:
    projects = {task.project_id for task in last.values()}
    for project_id in projects:
        for agent_id, task_id in call.tx.sessions.signed_in(project_id):
            if task_id in last and agent_id != actor.id:
                _notify(call, agent_id, first[task_id], last[task_id], reason)


def _notify(call: Call, agent_id: str, before: Task, after: Task, reason: str | None) -> None:
    session = call.tx.sessions.live_of(after.project_id, agent_id).get(Purpose.TASK)
    if session is None:
        return
    if after.in_progress and after.assignee_id == agent_id:
        call.tx.handovers.drop_interrupts(session.id, of_pause=False)
        return
    if before.in_progress and before.assignee_id == agent_id:
        what = after.status.value if after.assignee_id == agent_id else "reassigned"
        lost = f"You no longer work on your task {quoted(after.title)}: {what}."
        told = f"{lost}{_why(reason)} Stop, and call get_next_action."
        notifications.notify(call, after, agent_id, session.id, INTERRUPT, told, what)


def _why(reason: str | None) -> str:
    return f" Reason: {quoted(reason)}." if reason else ""


def notify_worker(call: Call, task: Task, kind: str, message: str) -> None:
    """Notifies the session that works on a task of a change made by another member; if a person made it, also those
    above.
    """
    session = _session_on(call, task)
    if session is not None and session.agent_id != call.actor.id:
        notifications.notify(call, task, session.agent_id, session.id, kind, message)
    if call.actor.person:
        tell_above(call, task, kind, message)


def _session_on(call: Call, task: Task) -> Session | None:
    """The running task session whose main task this is."""
    session = call.tx.sessions.live_of(task.project_id, task.assignee_id or "").get(Purpose.TASK)
    return session if session is not None and session.task_id == task.id else None


def tell_above(call: Call, task: Task, kind: str, message: str) -> None:
    """Tells the running sessions whose main task this one is a part of."""
    above = call.tx.tasks.find(task.parent_id) if task.parent_id else None
    while above is not None:
        session = _session_on(call, above)
        if session is not None and session.agent_id != call.actor.id:
            notifications.notify(call, task, session.agent_id, session.id, kind, message)
        above = call.tx.tasks.find(above.parent_id) if above.parent_id else None


def tell_judged(call: Call, task: Task, verdict: str, reason: str | None) -> None:
    """A person has approved or rejected a task: notifies the requester and the agent that works above it.

    An absent agent is told when it works again; a person in their thread with the agent they asked.
    """
    approved, title = verdict == "approved", quoted(task.title)
    message = together(
        (
            say("{title} ({task_id}) was approved.", title=title, task_id=task.id)
            if approved
            else say("{title} ({task_id}) was rejected.", title=title, task_id=task.id),
            say("Reason: {reason}.", reason=quoted(reason)) if reason else "",
            _what_comes_next(call, task) if approved else "",
        )
    )
    tell_above(call, task, "status_change", message)
    asker = call.tx.agents.find(task.requested_by or "")
    if asker is None or asker.id == call.actor.id:
        return
    if asker.human:
        about = task.created_by if task.created_by != asker.id else task.assignee_id
        if about not in (None, asker.id):
            messages.tell_person(call, task.project_id, asker.id, about, message, task.id)
        return
    session = call.tx.sessions.live_of(task.project_id, asker.id).get(Purpose.TASK)
    address = session.id if session is not None else address_of_agent(task.project_id, asker.id)
    notifications.notify(call, task, asker.id, address, "status_change", message)


def _what_comes_next(call: Call, task: Task) -> str:
    if task.status is Status.BACKLOG:
        return constant("It stays in the backlog until someone starts it.")
    if task.in_progress:
        return constant("It has started.")
    waits = task_readiness.in_line(call.tree_state(task), task)
    return constant("It starts as soon as it can.") if waits else ""


def steer(call: Call, task: Task, message: str) -> str | None:
    """Sends a message to the session that works on a task, else to the one above; else it waits for the next one
    (None).
    """
    at: Task | None = task
    while at is not None:
        session = _session_on(call, at)
        if session is not None:
            notifications.notify(call, task, session.agent_id, session.id, "message", message)
            return session.agent_id
        at = call.tx.tasks.find(at.parent_id) if at.parent_id else None
    leave_word(call, task, "message", message)
    return None


def leave_word(call: Call, task: Task, kind: str, message: str) -> None:
    """For the session that works on a task; else for the next one."""
    session = _session_on(call, task)
    agent_id, address = (
        (session.agent_id, session.id) if session is not None else (task.assignee_id, address_of_task(task.id))
    )
    notifications.notify(call, task, agent_id or call.actor.id, address, kind, message)


def _drop_delegations(call: Call, task: Task) -> None:
    """Fails the awaited delegations of this task; those without an awaited answer are still delivered."""
    for delegation in call.tx.chat.delegations_of_task(task.id):
        if delegation.open and delegation.await_result:
            call.tx.chat.save_delegation(delegation, failed(delegation, f"its task was {task.status.value}", call.now))
            data = {"delegation_id": delegation.id, "reason": f"task_{task.status.value}"}
            call.event("delegation.failed", task=task, agent_id=delegation.agent_id, fact=True, data=data)
            mailboxes.touch(call, delegation.project_id, delegation.agent_id)
            mailboxes.wake(call, delegation.project_id, delegation.agent_id)


def _withdraw_questions(call: Call, task: Task) -> None:
    """Nobody is asked for work that does not go on: of this task, and of what is below it if it is closed."""
    below = call.tx.tasks.tree(task.root_id).descendants(task) if task.closed and task.children_ever else ()
    for each in (task, *below):
        if each.open_questions:
            questions.withdraw_all(call, each, f"task_{task.status.value}")
            cancel_reviews(call, each.id)


def cancel_reviews(call: Call, task_id: str) -> None:
    """No agent reviews work that does not go on, or that somebody else has judged."""
    for review in call.tx.tasks.open_reviews(task_id):
        move(call, call.tree_state(review), review, Status.CANCELLED, "the review is no longer needed", actor=_SERVER)


_OF_TASK = frozenset(each.name for each in fields(Task))


# --- creating --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Created:
    """A task as it was stored."""

    task: Task
    details: Details
    depends_on: list[str]


def create(
    call: Call,
    project: Project,
    parent: Task | None,
    drafts: Sequence[Draft],
    *,
    approval: Approval | None = None,
    status: Status = Status.TODO,
    requested_by: str | None = None,
) -> dict[str, Created]:
    """Creates all of them or none; answers them by local id (a draft without one: its place, as text).

    The event of each also wakes the streams of the dashboards (`Call.event`).

    The caller has seen to who may create what and how many; dependencies are checked here, for every path. `parent` is
    as stored.
    """
    names = [each.local_id or str(place) for place, each in enumerate(drafts)]
    real = {name: call.new_id(ids.TASK, each.title) for name, each in zip(names, drafts, strict=True)}
    local = {name: real[name] for name in in_order(drafts) if name in real}
    wanted = [
        list(dict.fromkeys(local.get(dependency, dependency) for dependency in draft.dependencies)) for draft in drafts
    ]
    others = dict.fromkeys(
        dependency for draft in drafts for dependency in draft.dependencies if dependency not in local
    )
    _refuse_cycles(call, parent, [existing_dependency(call, project.id, other) for other in others])
    how = approval or _approval(call, project)
    made: dict[str, Created] = {}
    for place, (name, draft) in enumerate(zip(names, drafts, strict=True)):
        created = _made(call, project, parent, draft, real[name], place, how, status, requested_by)
        made[name] = replace(created, depends_on=wanted[place])
        call.tx.tasks.add(created.task, created.details)
    for created in made.values():
        call.tx.tasks.connect(created.task, created.depends_on)
    count_dependencies(call, [created.task for created in made.values() if created.depends_on])
    if parent is not None:
        call.tx.tasks.save(parent, replace(parent, children_ever=parent.children_ever + len(drafts)))
        # More children are no progress: an agent could create and cancel them without end.
        if parent.children_ever == 0:
            forget_idle_launches(call, parent.root_id)
    hint(call, [created.task for created in made.values()])
    stored = {name: replace(created, task=_stored(call, created.task.id)) for name, created in made.items()}
    go_on(call, [created.task for created in stored.values()])
    return {name: replace(created, task=_stored(call, created.task.id)) for name, created in stored.items()}


def count_dependencies(call: Call, tasks: Iterable[Task]) -> None:
    """How many of what each depends on is left to do."""
    for task in tasks:
        if not task.for_queue:
            needed = call.tx.tasks.find_all(call.tx.tasks.depends_on([task.id]).get(task.id, []))
            left = sum(1 for each in needed if each.status is not Status.COMPLETED)
            current = _stored(call, task.id)
            call.tx.tasks.save(current, replace(current, dependencies_left=left))


def for_queue(call: Call, project: Project, draft: Draft) -> Created:
    """A new task that stands alone in a queue; who asks has checked what it depends on (`existing_dependency`),
    stores it, and wakes who polls."""
    task_id, how = call.new_id(ids.TASK, draft.title), _approval(call, project)
    created = _made(call, project, None, draft, task_id, 0, how, Status.TODO, None)
    call.tx.hint(ready_topic(draft.agent_type or "", task_id))
    _hint_around(call, created.task)
    return created


def _stored(call: Call, task_id: str) -> Task:
    found = call.tx.tasks.find(task_id)
    assert found is not None
    return found


def existing_dependency(call: Call, project_id: str, task_id: str) -> Task:
    """A task of the project that can still be completed, or was. Raises Refusal."""
    task = call.tx.tasks.find(task_id)
    if task is None or task.project_id != project_id:
        raise Refusal(
            Code.TASK_NOT_FOUND,
            say("The dependency {task_id} is not a task of this project.", task_id=task_id)
            if call.actor.person
            else say(
                "The dependency {task_id} is neither a task of this project nor a local_id of this call.",
                task_id=task_id,
            ),
            did_you_mean.hint(
                task_id,
                call.tasks_like(task_id, project_id),
                say("{deed:List them: ….}", deed=deed("list", project_id=Blank("PRJ")))
                if call.actor.person
                else "Use ids of tasks of this project, or local_ids of this call.",
            ),
            task_id=task_id,
        )
    if task.status in (Status.FAILED, Status.CANCELLED):
        raise Refusal(
            Code.DEPENDENCY_NOT_MET,
            say(
                "The dependency {task_id} is {status}, so it will not be completed.",
                task_id=task_id,
                status=task.status,
            ),
            "Remove it, or depend on a task that replaces it. A failed task can be retried first.",
            task_id=task_id,
        )
    return task


def _refuse_cycles(call: Call, parent: Task | None, depends_on: Sequence[Task]) -> None:
    """What exists may not wait for the parent (or what waits for it): the parent waits for its new children.

    Its other children cannot: it waits for them already."""
    others = [task.id for task in depends_on if parent is not None and task.parent_id != parent.id]
    if parent is not None and others:
        graph.refuse_cycle_below(parent.id, others, call.tx.tasks.linked)


def _approval(call: Call, project: Project) -> Approval:
    everything = project.settings.approvals is Approvals.ALL
    return Approval.PENDING if made_by_agent(call) and everything else Approval.APPROVED


def made_by_agent(call: Call) -> bool:
    return not call.actor.person and call.actor.id != SYSTEM


def _made(
    call: Call, project: Project, parent: Task | None, draft: Draft, task_id: str, place: int,
    approval: Approval, status: Status, requested_by: str | None,
) -> Created:  # fmt: skip
    """A new task, with its event. What an agent creates, it starts, unless it says otherwise."""
    if draft.pool is not None:
        draft = replace(draft, start=draft.start or Start.WHEN_READY)
    elif draft.agent_type is None and made_by_agent(call):
        draft = replace(draft, start=draft.start or Start.MANUAL)
    draft = replace(draft, not_before=_still_to_come(call, draft.not_before))
    task = Task(
        id=task_id,
        project_id=project.id,
        root_id=parent.root_id if parent else task_id,
        parent_id=parent.id if parent else None,
        depth=parent.depth + 1 if parent else 1,
        ordinal=call.place + place,
        title=draft.title.strip(),
        status=status,
        created_by=call.actor.id,
        approval=approval,
        created_at=call.now,
        updated_at=call.now,
        moved_at=call.now,
        requested_by=requested_by,
        parent_attempt=parent.attempt if parent else 1,
        has_acceptance=bool(draft.acceptance),
        correlation_id=parent.correlation_id if parent else _correlation(call),
        **{name: getattr(draft, name) for name in _OF_DRAFT},
    ).aged()
    call.event("task.created", task=task, fact=True, data={"title": task.title, "status": status.value})
    details = Details(description=draft.description, context=draft.context, acceptance=draft.acceptance)
    return Created(task, details, list(dict.fromkeys(draft.dependencies)))


_OF_DRAFT = tuple(each.name for each in fields(Draft) if each.name != "title" and each.name in _OF_TASK)
"""What a task has from its draft, by the name that both have."""


def _still_to_come(call: Call, time: Millis | None) -> Millis | None:
    return None if time is None or time <= call.now else time


def _correlation(call: Call) -> str:
    """A root's: the caller's, else a new one in the form of a W3C trace id."""
    given = call.correlation_id
    return given or f"{call.context.entropy(128):032x}"


# --- changing without moving -----------------------------------------------------------------------------------------


def assign(call: Call, tree_state: TreeState, task: Task, assignee_id: str | None, pool: Pool | None = None) -> Task:
    """Gives a task to somebody else (or nobody, or with `pool` to anyone), taking its open self-made subtasks
    along. Not while in progress."""
    if task.in_progress and not call.actor.person:
        raise Refusal(
            Code.NOT_NOW,
            say("{agent_id} is working on task {task_id}.", task_id=task.id, agent_id=task.assignee_id),
            "Move it to todo first (update_task_status), or wait until it is finished.",
            task_id=task.id,
        )
    if task.closed:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status}.", task_id=task.id, status=task.status),
            "Only open tasks can be assigned.",
            task_id=task.id,
        )
    if task.in_progress and assignee_id is None:
        raise Refusal(
            Code.INVALID_TRANSITION,
            "A task in progress needs an assignee.",
            "Move it to todo first, or choose another assignee.",
            task_id=task.id,
        )
    if task.review_of is not None and (reviewed := call.tx.tasks.find(task.review_of)) is not None:
        question = questions.reviewed_by(call, task)
        members = call.tx.agents.members_among(task.project_id, [assignee_id] if assignee_id is not None else [])
        agent = call.tx.agents.find(assignee_id or "")
        review_checks.refuse_reviewer(agent, reviewed, members, question.id if question is not None else None)
    given = replace(_assigned(call, task, assignee_id, task.created_by), pool=pool)
    if pool is not None:
        given = replace(given, start=Start.WHEN_READY)
    changed = [given if assignee_id == task.assignee_id else _unapproved(call, given, ["assignee_id"])]
    changed += [
        _unapproved(
            call, _assigned(call, descendant, assignee_id, assignee_id or descendant.created_by), ["assignee_id"]
        )
        for descendant in tree_state.tree.descendants(task)
        if descendant.open and not descendant.delegated and descendant.assignee_id == task.assignee_id
    ]
    before = {each.id: tree_state.tree.tasks[each.id] for each in changed}
    if task.in_progress and assignee_id is not None:
        _refuse_running_at_nobody(call.tree_state(task, assignee_id), changed, person=call.actor.person)
    _refuse_parts_left_over(tree_state, changed)
    for each in changed:
        call.tx.tasks.save(before[each.id], each)
        data = {"from": before[each.id].assignee_id, "to": assignee_id}
        call.event("task.assigned", task=each, fact=True, data=data)
        if each.open_questions and each.assignee_id != before[each.id].assignee_id:
            questions.withdraw_all(call, each, "task_reassigned")
            cancel_reviews(call, each.id)
    _notify_sessions(call, before, {each.id: each for each in changed}, call.actor, "assigned to someone else")
    if call.actor.person:
        to = assignee_id or ("no one" if pool is None else "anyone who is free")
        told = f"{call.actor.id} assigned {quoted(task.title)} to {to}."
        tell_above(call, task, "plan_change", told)
    hint(call, changed)
    _start_reviews_after_giving(call, task, assignee_id)
    stored = [_stored(call, each.id) for each in changed]
    go_on(call, [*stored, *_below(call, stored)], [each for each in before.values() if each.in_progress])
    return _stored(call, task.id)


def _refuse_running_at_nobody(tree_state: TreeState, changed: Sequence[Task], *, person: bool) -> None:
    """A task in progress goes only to somebody who could start it."""
    becomes = replace(tree_state, tree=tree_state.tree.changed(*changed))
    task = changed[0]
    hindrance = next(task_readiness.hindrances(becomes, task), None)
    if hindrance is not None:
        raise moves.refusal_to_start(becomes, task, hindrance, person=person)


def _refuse_parts_left_over(tree_state: TreeState, changed: Sequence[Task]) -> None:
    """What somebody else had filed below it for its assignee stays there and counts from now on: not over the limit."""
    becomes = tree_state.tree.changed(*changed)
    agent_id = tree_state.tree.tasks[changed[0].id].assignee_id
    parts = [
        task
        for task in becomes.tasks.values()
        if task.in_progress
        and task.assignee_id == agent_id
        and becomes.is_main(task)
        and not tree_state.tree.is_main(task)
    ]
    if not parts or agent_id is None:
        return
    given = {task.id for task in changed if task.assignee_id != agent_id}
    running = sorted((tree_state.busy.get(agent_id, frozenset()) - given) | {part.id for part in parts})
    most = tree_state.agents[agent_id].max_parallel_tasks
    if len(running) > most:
        raise Refusal(
            Code.LIMIT_REACHED,
            say(
                "{assignee_id} is working on {names} below task {task_id}. Without task {task_id}, {assignee_id} "
                "would have {count} main tasks in progress; the limit is {most}.",
                assignee_id=agent_id,
                names=", ".join(part.id for part in parts),
                task_id=changed[0].id,
                count=len(running),
                most=most,
            ),
            "Move those tasks to todo first, or reassign them too.",
            running=running,
        )


def _assigned(call: Call, task: Task, assignee_id: str | None, maker: str) -> Task:
    """A subtask that is taken along stays self-made: its maker changes with its assignee; strikes are an agent's."""
    return replace(
        task,
        assignee_id=assignee_id,
        created_by=maker,
        wait=None,
        unreported_ends=0,
        idle_launches=0,
        moved_at=call.now,
        updated_at=call.now,
    )


def edit(call: Call, task: Task, **changes: Any) -> list[str]:
    """Changes fields of a task and of its details, by their names. Answers which differ now. Raises Refusal."""
    if task.closed:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say("Task {task_id} is {status} and can no longer be changed.", task_id=task.id, status=task.status),
            say(
                "{deed:Set it to todo first (people: …)|Retry it first}, or create a new task.",
                deed=deed("retry", task_id=task.id),
            )
            if task.status is Status.FAILED
            else "Create a new task.",
            task_id=task.id,
        )
    before = call.tx.tasks.details(task.id)
    told: dict[str, Any] = {**changes}
    of_task = {name: told.pop(name) for name in changes if name in _OF_TASK}
    if "title" in of_task:
        of_task["title"] = of_task["title"].strip()
    after = _edited(call, task, of_task)
    wanted = {name: value for name, value in told.items() if value != getattr(before, name)}
    if "acceptance" in wanted:
        if task.review_of is not None:
            raise review_checks.refusal_of_checks(task)
        after = replace(after, has_acceptance=bool(wanted["acceptance"]), checks=Checks.NONE, check_id=None)
        if task.checks is Checks.IN_REVIEW:  # by other checks than those that count now
            questions.withdraw_all(call, task, "checks_changed")
            cancel_reviews(call, task.id)
            after = replace(after, open_questions=0)
    changed = [name for name in of_task if getattr(after, name) != getattr(task, name)] + list(wanted)
    if not changed:
        return []
    after = _unapproved(call, after, changed)
    call.tx.tasks.save(task, replace(after, updated_at=call.now))
    if wanted:
        call.tx.tasks.save_details(task.id, **wanted)
    call.event("task.edited", task=after, fact=True, data={"fields": changed})
    notify_worker(
        call, after, "plan_change", f"Your task was edited: {', '.join(changed)}. Read it again: get_my_task."
    )
    hint(call, [after])
    go_on(call, [after, *_below(call, [after])])
    return changed


def _edited(call: Call, task: Task, said: Mapping[str, Any]) -> Task:
    """Its place was among those of its priority."""
    after = replace(task, **said)
    if "start" in said and task.pool is not None and task.assignee_id is None:  # no agent of the project's setting
        after = replace(after, start=after.start or Start.WHEN_READY)
    if "not_before" in said:
        after = replace(after, not_before=_still_to_come(call, after.not_before))
        _refuse_a_time(task, after.not_before)
    return after if after.priority is task.priority else after.aged()


def _refuse_a_time(task: Task, time: Millis | None) -> None:
    if time is None or (task.status in (Status.BACKLOG, Status.TODO) and task.review_of is None):
        return
    raise Refusal(
        Code.INVALID_TRANSITION,
        say("Task {task_id} is a review, which starts when its agent is free.", task_id=task.id)
        if task.review_of is not None
        else say("Task {task_id} is {status}: it has been started.", task_id=task.id, status=task.status),
        "Only a task in backlog or todo can wait for a time.",
        task_id=task.id,
    )


_NEEDS_NEW_APPROVAL = frozenset({"title", "description", "context", "acceptance", "assignee_id"})


def _unapproved(call: Call, task: Task, changed: Iterable[str]) -> Task:
    """What was requested or approved, and somebody who is no person has changed, needs approval (again)."""
    judged = task.approval is Approval.APPROVED and (task.requested_by, task.approved_by) != (None, None)
    if call.actor.person or not judged or not _NEEDS_NEW_APPROVAL & set(changed):
        return task
    approvals.ask_approvers(call, task)
    return replace(task, approval=Approval.PENDING, approved_by=None)


@final
class Depends(TypedDict):
    dependencies: list[str]
    added: list[str]
    removed: list[str]


def depend(call: Call, task: Task, add: Sequence[str], remove: Sequence[str]) -> Depends:
    """Changes what a task waits for. Raises Refusal for what does not exist or would be a circle."""
    if task.closed or task.in_progress:
        raise Refusal(
            Code.INVALID_TRANSITION,
            say(
                "Task {task_id} is {status}, so its dependencies no longer matter.", task_id=task.id, status=task.status
            ),
            "Only tasks that have not been started can have their dependencies changed.",
            task_id=task.id,
        )
    present = call.tx.tasks.depends_on([task.id]).get(task.id, [])
    removed = [task_id for task_id in dict.fromkeys(remove) if task_id in present]
    added = [task_id for task_id in dict.fromkeys(add) if task_id not in present or task_id in removed]
    for each in added:
        existing_dependency(call, task.project_id, each)
    graph.refuse_cycle(task.id, added, call.tx.tasks.linked)
    call.tx.tasks.disconnect(task, removed)
    call.tx.tasks.connect(task, added)
    if added or removed:
        call.tx.tasks.save(task, replace(task, updated_at=call.now))
        call.event("task.dependencies_changed", task=task, fact=True, data={"added": added, "removed": removed})
        notify_worker(call, task, "plan_change", f"The dependencies of {quoted(task.title)} have changed.")
        hint(call, [task])
        count_dependencies(call, [task])
        go_on(call, [_stored(call, task.id)])
    now = [each for each in present if each not in removed] + added
    return {"dependencies": now, "added": added, "removed": removed}
