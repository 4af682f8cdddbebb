"""The launch decision: start, hold or stop an agent, with the row that matched and the facts it read.

Each agent and project has two decisions: one for task work, one for chat. The result does not depend on the caller
(Coordinator, sign-in, *Why?*). docs/reference/tables.md prints the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from toryo.domain.agents import COMMAND, Role
from toryo.domain.budgets import Whose
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.launches import Purpose, State
from toryo.domain.projects import Status
from toryo.domain.quota_windows import may_use_reserve
from toryo.domain.sessions import Session
from toryo.domain.tasks import Priority, Task
from toryo.domain.times import DAY, Millis
from toryo.domain.tree_state import TreeState
from toryo.workflow import facts, program_choice, worker_rules
from toryo.workflow.guard_limits import Limits
from toryo.workflow.reasons import REASONS
from toryo.workflow.rules import Rule, always, first_match
from toryo.workflow.snapshot import RuleInput, Snapshot


class Action(StrEnum):
    START = "start"
    HOLD = "hold"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Decision:
    """`task_id` is the main task of a start; `until` is when a hold ends by itself (epoch milliseconds)."""

    action: Action
    reason: str
    row: str
    words: str
    task_id: str | None = None
    until: Millis | None = None
    facts: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)
    priority: Priority | None = None
    """That of the task of a start, from which what is left of accounts may be kept; None: nothing is kept from it."""
    lasting: bool = False
    """Whether a hold stays until facts of the agent's own trees, or its memberships and rights, change."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of a row."""

    action: Action
    reason: str


def start(reason: str) -> Verdict:
    return Verdict(Action.START, reason)


def hold(reason: str) -> Verdict:
    return Verdict(Action.HOLD, reason)


def stop(reason: str) -> Verdict:
    return Verdict(Action.STOP, reason)


# --- facts about the agent and its processes -------------------------------------------------------------------------


def _session(s: Snapshot) -> Session | None:
    return s.sessions.get(Purpose.TASK)


def _signed_in(s: Snapshot) -> bool:
    return Purpose.TASK in s.sessions


def _chat_signed_in(s: Snapshot) -> bool:
    return Purpose.CHAT in s.sessions


def _ordered(s: Snapshot) -> bool:
    launch = s.launches.get(Purpose.TASK)
    return launch is not None and launch.state is State.ORDERED


def project_not_active(s: Snapshot) -> bool:
    return s.project is None or not s.project.active


def _pause_grace_over(s: Snapshot) -> bool:
    since = s.project.paused_at if s.project is not None else None
    return since is None or s.now >= since + s.limits.pause_grace


def not_member(s: Snapshot) -> bool:
    return s.agent is None or not s.member


def inactive(s: Snapshot) -> bool:
    return s.agent is not None and not s.agent.active


def not_managed(s: Snapshot) -> bool:
    return s.agent is not None and not s.agent.managed


def mistaken(s: Snapshot) -> bool:
    return s.agent is not None and s.agent.managed and bool(s.agent.mistakes)


def _grace_over(s: Snapshot, cause: Millis | None) -> bool:
    """Whether the grace period for a voluntary end is over. A command has none, because it gets no messages."""
    gets_messages = s.agent is None or s.agent.provider != COMMAND
    return cause is None or not gets_messages or s.now >= cause + s.limits.stop_grace


def withdrawn_from(s: Snapshot) -> tuple[str, Millis] | None:
    """Why and since when the live task session has lost its main task; None while it has it."""
    session = _session(s)
    return None if session is None else withdrawn(s, session)


def withdrawn(s: Snapshot, session: Session) -> tuple[str, Millis] | None:
    """Like `withdrawal`, with the tasks of the snapshot."""
    if session.purpose is not Purpose.TASK:
        return None
    tree_state = s.ground_of(session.task_id)
    task = tree_state.tree.tasks[session.task_id or ""] if tree_state is not None else None
    return withdrawal(
        session, task, tree_state.tree.ancestors(task) if tree_state is not None and task is not None else ()
    )


def withdrawal(session: Session, task: Task | None, ancestors: Iterable[Task]) -> tuple[str, Millis] | None:
    """Why and since when a task session has lost its main task; None while it has it.

    Causes: another assignee, not in progress, or a closed ancestor. `ancestors` is read last.
    """
    if task is None:
        return ("task_gone", session.created_at)
    if task.assignee_id != session.agent_id:
        return ("reassigned", task.moved_at)
    if not task.in_progress:
        return (task.status.value, task.moved_at)
    above = next((ancestor for ancestor in ancestors if ancestor.closed), None)
    return None if above is None else ("ancestor_closed", above.moved_at)


def _withdrawn_long_enough(s: Snapshot) -> bool:
    cause = withdrawn_from(s)
    return cause is not None and _grace_over(s, cause[1])


def tripped_guard(s: Snapshot) -> str | None:
    """Row 4's reason: `runaway`, `time_limit`, one of `Whose`, `silent`; None if no guard was tripped."""
    session = _session(s)
    return None if session is None else tripped(s, session)


def tripped(s: Snapshot, session: Session) -> str | None:
    """The guard that a session tripped; None if none. The time limit and budgets apply to task sessions only."""
    if session.runaway is not None:
        return "runaway"
    works = session.purpose is Purpose.TASK
    if works and _runs_too_long(session, s.limits, s.now):
        return "time_limit"
    whose = used_up_budget(s, session.task_id) if works else None
    if whose is not None:
        return whose.value
    return "silent" if _silent(session, s.now) else None


def used_up_budget(s: Snapshot, task_id: str | None) -> Whose | None:
    """Whose budget lets nobody work on this task now; None: none does."""
    if s.budget_used_up:
        return Whose.PROJECT
    if s.agent_budget_used_up:
        return Whose.AGENT
    return Whose.TASK if task_id is not None and task_id in s.over_budget else None


def failed_by_itself(session: Session, limits: Limits, now: Millis) -> bool:
    """Whether a guard stops the session for its behaviour, and not because its task or project changed."""
    return session.runaway is not None or _runs_too_long(session, limits, now) or _silent(session, now)


def ran_its_time(session: Session, limits: Limits, now: Millis) -> bool:
    """Whether the time limit stops the session, and not the runaway guard."""
    return session.runaway is None and _runs_too_long(session, limits, now)


def _runs_too_long(session: Session, limits: Limits, now: Millis) -> bool:
    return now - session.created_at >= limits.run_time


def _silent(session: Session, now: Millis) -> bool:
    return now - session.heard_at >= session.patience


def only_blocked_tasks(s: Snapshot) -> bool:
    return s.blocked_tasks > 0 and not s.main_tasks and ready_queue_task(s) is None


def cooling_down(s: Snapshot) -> bool:
    return program_choice.cooling_down(s, Purpose.TASK)


AGENT_ROWS: Sequence[Rule[Snapshot, Verdict]] = (
    Rule(
        "1",
        "The project is paused or archived, and the task session is still open after the grace period (pause_grace)",
        lambda s: project_not_active(s) and _signed_in(s) and _pause_grace_over(s),
        stop("project_paused"),
    ),
    Rule("1", "The project is paused or archived", project_not_active, hold("project_paused")),
    Rule(
        "2",
        "The agent is no longer a member of the project, and its task session is still open after the grace period "
        "(stop_grace)",
        lambda s: not_member(s) and _signed_in(s) and _grace_over(s, s.removed_at),
        stop("agent_not_assigned"),
    ),
    Rule("2", "The agent is not a member of the project", not_member, hold("agent_not_assigned")),
    Rule(
        "2",
        "The agent is inactive, and its task session is still open after the grace period (stop_grace)",
        lambda s: inactive(s) and _signed_in(s) and s.agent is not None and _grace_over(s, s.agent.deactivated_at),
        stop("agent_inactive"),
    ),
    Rule("2", "The agent is inactive", inactive, hold("agent_inactive")),
    Rule(
        "2",
        "The agent has no provider, so Toryo does not start it (an open session continues)",
        lambda s: not_managed(s) and not _signed_in(s),
        hold("not_managed"),
    ),
    Rule(
        "2",
        "The agent's provider options have a mistake (an open session continues)",
        lambda s: mistaken(s) and not _signed_in(s),
        hold("bad_options"),
    ),
    Rule(
        "3",
        "The session's main task was reassigned, is no longer in progress, or is below a closed task, and the session "
        "is still open after the grace period (stop_grace)",
        _withdrawn_long_enough,
        stop("task_withdrawn"),
    ),
    Rule(
        "4",
        "The task session made too many calls without progress (runaway guard)",
        lambda s: tripped_guard(s) == "runaway",
        stop("runaway"),
    ),
    Rule(
        "4",
        "The task session has reached the time limit of one launch",
        lambda s: tripped_guard(s) == "time_limit",
        stop("time_limit"),
    ),
    Rule(
        "4",
        "A task session is open, and today's budget is used up",
        lambda s: tripped_guard(s) == "budget_exhausted",
        stop("budget_exhausted"),
    ),
    Rule(
        "4",
        "A task session is open, and the agent's own budget of today is used up",
        lambda s: tripped_guard(s) == "agent_budget_exhausted",
        stop("agent_budget_exhausted"),
    ),
    Rule(
        "4",
        "A task session is open, and the budget of its main task, or of a task above it, is used up",
        lambda s: tripped_guard(s) == "task_budget_exhausted",
        stop("task_budget_exhausted"),
    ),
    Rule(
        "4",
        "The process of the task session has neither called nor printed anything for too long",
        lambda s: tripped_guard(s) == "silent",
        stop("silent"),
    ),
    Rule(
        "5",
        "The agent has blocked tasks, no task in progress, and no ready task in its queue",
        only_blocked_tasks,
        hold("blocked_without_in_progress"),
    ),
    Rule("6", "The agent's task session is already open", _signed_in, hold("already_running")),
    Rule("6", "The agent is being started, and its process has not signed in yet", _ordered, hold("start_pending")),
    Rule(
        "7",
        "The agent is in cooldown after a failure, or the quota of its account is used up",
        cooling_down,
        hold("cooling_down"),
    ),
    Rule("7", "Today's budget is used up", lambda s: s.budget_used_up, hold("budget_exhausted")),
    Rule(
        "7",
        "The agent's own budget of today is used up",
        lambda s: s.agent_budget_used_up,
        hold("agent_budget_exhausted"),
    ),
)
"""Rows 1-7: about the agent and what is already running."""


# --- facts about one main task (rows 7a-13) --------------------------------------------------------------------------


def handing_over(case: RuleInput) -> bool:
    return case.main.id in case.snapshot.others_on


def over_budget(case: RuleInput) -> bool:
    return case.main.id in case.snapshot.over_budget


def held_back_by_running(case: RuleInput) -> bool:
    held = case.snapshot.held_back.get(case.main.id)
    return held is not None and not held.finished


def held_back_by_unmerged(case: RuleInput) -> bool:
    held = case.snapshot.held_back.get(case.main.id)
    return held is not None and held.finished


def would_start(s: Snapshot, main: Task) -> bool:
    """Whether rows 7a-13 decide a start for one of its main tasks."""
    tree_state = s.ground_of(main.id)
    row = first_match(MAIN_TASK_ROWS, RuleInput(s, tree_state, main)) if tree_state is not None else None
    return row is not None and row.then.action is Action.START


def kept_from(s: Snapshot, task: Task) -> bool:
    """Whether row 16 or 17 holds a start for it."""
    return first_match(START_ROWS, (s, task)) is not None


def _manager_waits(case: RuleInput) -> bool:
    return case.agent.role is Role.MANAGER and case.main.wait is not None


def could_only_be_told(case: RuleInput) -> str:
    """The next action of a worker that fetched its task again: the next row of its table."""
    imagined = RuleInput(case.snapshot, case.tree_state, case.main, None, fetched=True)
    return worker_rules.decide(imagined).action


def worker_waits_for_delegation(case: RuleInput) -> bool:
    """Whether it ended its process to wait for a delegation that is still open, or no other action is possible."""
    if case.agent.role is Role.MANAGER:
        return False
    told = could_only_be_told(case)
    left = case.main.wait is not None and case.main.wait.kind == "delegation"
    return told == "wait_for_delegation" or (left and facts.delegation_open(case) and told == "execute_task")


def worker_waits_for_others(case: RuleInput) -> bool:
    return case.agent.role is not Role.MANAGER and could_only_be_told(case) == "wait_for_others"


MAIN_TASK_ROWS: Sequence[Rule[RuleInput, Verdict]] = (
    Rule(
        "7a",
        "Another agent's session on this task is still open (the task was reassigned a moment ago)",
        handing_over,
        hold("handing_over"),
    ),
    Rule("7a", "The budget of the task, or of one above it, is used up", over_budget, hold("task_budget_exhausted")),
    Rule(
        "7b",
        "A person has not answered yet what the agent has asked (a manager with open subtasks goes on with these)",
        facts.waits_for_answer,
        hold("waiting_for_answer"),
    ),
    Rule(
        "7c",
        "The agent has reported success, and a reviewer has not decided yet",
        facts.in_review,
        hold("in_review"),
    ),
    Rule(
        "7c",
        "The agent has reported success, and a Coordinator runs the acceptance checks",
        facts.checks_running,
        hold("checking"),
    ),
    Rule(
        "7d",
        "The project holds back what may conflict (conflict_policy), the task has no worktree yet, and it would change "
        "the same files as a task that an agent works on",
        held_back_by_running,
        hold("may_conflict"),
    ),
    Rule(
        "7d",
        "The same, with a completed task whose work is not merged yet",
        held_back_by_unmerged,
        hold("waiting_for_merge"),
    ),
    Rule(
        "8",
        "The manager waits, and a task below this one was blocked or has failed since its last look",
        lambda c: _manager_waits(c) and facts.new_block(c),
        start("worker_blocked"),
    ),
    Rule(
        "9",
        "The manager waits, and since its last look a subtask became ready to start, a delegation or a question ended, "
        "or a person wrote on this task or one below it",
        lambda c: _manager_waits(c) and facts.plan_changed(c),
        start("plan_changed"),
    ),
    Rule(
        "10",
        "The manager waits, and nothing is left to wait for",
        lambda c: _manager_waits(c) and not facts.outstanding(c),
        start("workers_finished"),
    ),
    Rule(
        "11",
        "The manager waits, and a blocked or failed task that it has already seen is not resolved yet",
        lambda c: _manager_waits(c) and facts.block_left_open(c),
        hold("handled_blocked"),
    ),
    Rule(
        "12",
        "The manager waits for agents: one works on a task below this one, or will as soon as it can",
        lambda c: _manager_waits(c) and facts.agents_busy(c),
        hold("waiting_for_workers"),
    ),
    Rule(
        "12",
        "The manager waits for the result of a delegation",
        lambda c: _manager_waits(c) and facts.delegation_open(c),
        hold("waiting_for_delegation"),
    ),
    Rule(
        "12",
        "The manager waits for a person's answer",
        lambda c: _manager_waits(c) and facts.question_open(c),
        hold("waiting_for_answer"),
    ),
    Rule(
        "12",
        "The manager waits for the approval of a task",
        lambda c: _manager_waits(c) and facts.approval_pending(c),
        hold("waiting_for_approval"),
    ),
    Rule(
        "12",
        "The manager waits for a person who works on a task below this one",
        _manager_waits,
        hold("waiting_for_person"),
    ),
    Rule(
        "12a",
        "The worker waits for the result of a delegation: it left for that reason, or can do nothing else",
        worker_waits_for_delegation,
        hold("waiting_for_delegation"),
    ),
    Rule(
        "12a",
        "The worker could only wait for others who work on its subtasks",
        worker_waits_for_others,
        hold("waiting_for_workers"),
    ),
    Rule("13", "The agent has this task in progress, and can work on it", always, start("has_in_progress_task")),
)
"""Rows 7a-13, for each main task: the first start wins, else the first hold."""


def ready_queue_task(s: Snapshot) -> Task | None:
    """The first task of its queue with which the agent could do more than wait (compare rows 7a, 7d and 12a); of
    several, the first that rows 16 and 17 do not hold."""
    ready = [
        task
        for task, tree_state in s.offers
        if not would_only_wait(RuleInput(s, tree_state, task))
        and task.id not in s.held_back
        and task.id not in s.over_budget
    ]
    return next((task for task in ready if not kept_from(s, task)), next(iter(ready), None))


def would_only_wait(case: RuleInput) -> bool:
    """Whether an agent that claimed this queue task could only be told to wait."""
    return case.agent.role is not Role.MANAGER and could_only_be_told(case) in (
        "wait_for_answer",
        "wait_for_delegation",
        "wait_for_others",
    )


OTHERWISE_ROWS: Sequence[Rule[Snapshot, Verdict]] = (
    Rule(
        "14",
        "A task in the agent's queue is ready, and the agent could do more with it than wait (as in row 12a)",
        lambda s: ready_queue_task(s) is not None,
        start("has_ready_queue_task"),
    ),
    Rule("15", "The agent has no task in progress and no ready task in a queue", always, hold("no_in_progress_task")),
)
"""Rows 14 and 15: when none of its main tasks decides."""

START_ROWS: Sequence[Rule[tuple[Snapshot, Task], Verdict]] = (
    Rule(
        "16",
        "A window of the account has only its reserve left, which is kept for tasks of high and critical priority",
        lambda start: _ordinary(start[1]) and program_choice.kept_from(start[0], Priority.MEDIUM),
        hold("reserve_kept"),
    ),
    Rule(
        "17",
        "The task has low priority, its account starts such tasks only with quota to spare, and its windows are used "
        "faster than they pass",
        lambda start: start[1].priority is Priority.LOW and program_choice.kept_from(start[0], Priority.LOW),
        hold("no_spare_quota"),
    ),
)
"""Rows 16 and 17: what holds a start for a task that the rows before have decided, unless a person makes it by hand."""

TASK_TABLE: Sequence[tuple[str, Sequence[Rule[Any, Verdict]]]] = (
    ("About the agent and what already runs", AGENT_ROWS),
    ("For each of the agent's main tasks (the first start wins, else the first hold)", MAIN_TASK_ROWS),
    ("If no main task decides", OTHERWISE_ROWS),
    ("Before a start for a main task or a task of a queue", START_ROWS),
)
"""The whole table in order: decisions use it, and the reference prints it."""


_BY_HAND = [rule for rule in AGENT_ROWS if not REASONS[rule.then.reason].by_hand]


_LASTING = frozenset({"7b", "7c", "11", "12", "12a"})


def decide(s: Snapshot, *, by_hand: bool = False) -> Decision:
    """The launch decision for task work; `by_hand`: a person starts the process."""
    row = first_match(_BY_HAND if by_hand else AGENT_ROWS, s)
    if row is not None:
        return _decision(row, s)
    held: Decision | None = None
    all_last = True
    for main, tree_state in s.main_tasks:
        decision = _judge(s, main, tree_state, by_hand=by_hand)
        if decision.action is Action.START:
            return decision
        all_last = all_last and decision.lasting
        held = held or decision
    if held is not None:
        return replace(held, lasting=all_last)
    last = first_match(OTHERWISE_ROWS, s)
    assert last is not None, "the last row is always true"
    ready = ready_queue_task(s) if last.then.action is Action.START else None
    if ready is None:
        return _decision(last, s)
    return _within_quota(s, ready, replace(_decision(last, s), task_id=ready.id), by_hand=by_hand)


def _judge(s: Snapshot, main: Task, tree_state: TreeState, *, by_hand: bool) -> Decision:
    case = RuleInput(s, tree_state, main)
    row = first_match(MAIN_TASK_ROWS, case)
    assert row is not None, "the last row is always true"
    decision = Decision(
        row.then.action,
        row.then.reason,
        row.row,
        row.words,
        main.id,
        facts=_facts_of(case),
        lasting=row.row in _LASTING and not facts.depends_on_elsewhere(case),
    )
    return _within_quota(s, main, decision, by_hand=by_hand)


def _within_quota(s: Snapshot, task: Task, decision: Decision, *, by_hand: bool) -> Decision:
    """Keeps what is left of accounts from a start for another task: another program is used, or row 16 or 17 holds."""
    if decision.action is not Action.START or by_hand or not _ordinary(task):
        return decision
    decision = replace(decision, priority=task.priority, facts=decision.facts | _facts_of_kept(s, task.priority))
    row = first_match(START_ROWS, (s, task))
    if row is None:
        return decision
    until = program_choice.until(s, Purpose.TASK, task.priority)
    return replace(decision, action=row.then.action, reason=row.then.reason, row=row.row, words=row.words, until=until)


def _ordinary(task: Task) -> bool:
    return not may_use_reserve(task.priority)


def _decision(row: Rule[Snapshot, Verdict], s: Snapshot) -> Decision:
    return Decision(row.then.action, row.then.reason, row.row, row.words, None, _until(row, s), _facts(s))


def _until(row: Rule[Snapshot, Verdict], s: Snapshot) -> Millis | None:
    if row.then.reason == "cooling_down":
        return program_choice.until(s, Purpose.TASK)
    if row.then.reason in (Whose.PROJECT, Whose.AGENT):
        return (s.now // DAY + 1) * DAY
    launch = s.launches.get(Purpose.TASK)
    return launch.deadline if row.then.reason == "start_pending" and launch is not None else None


def _facts(s: Snapshot) -> dict[str, Any]:
    """What rows 1-7 read, for the decision record."""
    found: dict[str, Any] = {"main_tasks": [task.id for task, _ in s.main_tasks], "blocked_tasks": s.blocked_tasks}
    if s.project is not None:
        found["project_status"] = s.project.status.value
    if (session := _session(s)) is not None:
        found["session_id"] = session.id
    elif _ordered(s):
        found["launch_id"] = s.launches[Purpose.TASK].id
    if (cause := withdrawn_from(s)) is not None:
        found["withdrawn"] = cause[0]
    task_id = session.task_id if session is not None else None
    if task_id is not None and task_id in s.over_budget:
        found["budget_of"] = s.over_budget[task_id]
    return found | _facts_of_programs(s, Purpose.TASK)


def _facts_of_programs(s: Snapshot, purpose: Purpose) -> dict[str, Any]:
    """What prevents a start of its own program, the account of that program, and the fallback; where nothing
    can be started, all accounts that are used up, and the fallback that can be started first."""
    hindered, account = program_choice.hindrance(s, purpose), program_choice.own_used_up(s, purpose)
    if hindered is None:
        return {}
    found = {"cooldown": hindered.reason, **({"account": account} if account is not None else {})}
    other = program_choice.choose(s, purpose)
    if other is not None:
        return {**found, "stands_in": other.name}
    first, used_up = program_choice.first_again(s, purpose), program_choice.used_up(s)
    if s.agent is not None and first is not None and first != s.agent.program:
        found["first_again"] = first.name
    return {**found, "accounts": used_up} if "account" in found and len(used_up) > 1 else found


def _facts_of(case: RuleInput) -> dict[str, Any]:
    """What rows 7a-13 read, for the decision record."""
    by_status: dict[str, int] = {}
    for descendant in case.descendants:
        by_status[descendant.status.value] = by_status.get(descendant.status.value, 0) + 1
    return {
        "main_task": case.main.id,
        "waits": case.main.wait is not None,
        "below": by_status,
        "outstanding": facts.outstanding(case),
        "dispatchable": [task.id for task in case.dispatchable] if case.agent.role is Role.MANAGER else [],
        "new": sorted({f"{each.kind}:{each.task_id}" for each in case.news}),
        **({"held_by": case.snapshot.others_on[case.main.id]} if handing_over(case) else {}),
        **({"budget_of": case.snapshot.over_budget[case.main.id]} if over_budget(case) else {}),
        **_held_back(case),
    } | _facts_of_programs(case.snapshot, Purpose.TASK)


def _facts_of_kept(s: Snapshot, priority: Priority) -> dict[str, Any]:
    """The account of which something is kept from the task, and the program that is used instead; empty if none is."""
    usable, used = program_choice.choose(s, Purpose.TASK), program_choice.choose(s, Purpose.TASK, priority)
    if usable is None or usable == used:
        return {}
    return {"kept_of": usable.account, **({"stands_in": used.name} if used is not None else {})}


def _held_back(case: RuleInput) -> dict[str, Any]:
    held = case.snapshot.held_back.get(case.main.id)
    if held is None:
        return {}
    return {"conflict_with": held.other.task_id, "conflict_title": held.other.title, "conflict_in": list(held.paths)}


# --- chat ------------------------------------------------------------------------------------------------------------


def _chat_live(s: Snapshot) -> bool:
    return _chat_signed_in(s) or Purpose.CHAT in s.launches


def _chat_cooling_down(s: Snapshot) -> bool:
    return program_choice.cooling_down(s, Purpose.CHAT)


def _chat_runaway(s: Snapshot) -> bool:
    session = s.sessions.get(Purpose.CHAT)
    return session is not None and session.runaway is not None


def _chat_silent(s: Snapshot) -> bool:
    session = s.sessions.get(Purpose.CHAT)
    return session is not None and s.now >= session.heard_at + session.patience


def _archived(s: Snapshot) -> bool:
    return s.project is None or s.project.status is Status.ARCHIVED


CHAT_ROWS: Sequence[Rule[Snapshot, Verdict]] = (
    Rule(
        "chat",
        "The agent is no longer a member of the project, and its chat session is open",
        lambda s: not_member(s) and _chat_signed_in(s),
        stop("agent_not_assigned"),
    ),
    Rule("chat", "The agent is not a member of the project", not_member, hold("agent_not_assigned")),
    Rule(
        "chat",
        "The agent is inactive, and its chat session is open",
        lambda s: inactive(s) and _chat_signed_in(s),
        stop("agent_inactive"),
    ),
    Rule("chat", "The agent is inactive", inactive, hold("agent_inactive")),
    Rule(
        "chat", "The chat session made too many calls without progress (runaway guard)", _chat_runaway, stop("runaway")
    ),
    Rule(
        "chat",
        "The process of the chat session has neither called nor printed anything for too long",
        _chat_silent,
        stop("silent"),
    ),
    Rule(
        "chat",
        "The agent has no provider, so Toryo does not start it",
        lambda s: not_managed(s) and not _chat_signed_in(s),
        hold("not_managed"),
    ),
    Rule(
        "chat",
        "The agent's provider options have a mistake",
        lambda s: mistaken(s) and not _chat_signed_in(s),
        hold("bad_options"),
    ),
    Rule("chat", "The agent's chat session is open or being started", _chat_live, hold("already_running")),
    Rule("chat", "The project is archived", _archived, hold("project_paused")),
    Rule(
        "chat",
        "The agent's chat is in cooldown after a failure, or the quota of its account is used up",
        _chat_cooling_down,
        hold("cooling_down"),
    ),
    Rule(
        "chat",
        "Someone waits for the agent in chat: an undelivered message, a pending delegation, an invitation, its turn in "
        "a conversation, or an opened chat panel",
        lambda s: s.talk.wanted,
        start("has_pending_purpose"),
    ),
    Rule("chat", "Nobody waits for the agent in chat", always, hold("no_chat_work")),
)

_CHAT_BY_HAND = [rule for rule in CHAT_ROWS if not REASONS[rule.then.reason].by_hand]


def decide_chat(s: Snapshot, *, by_hand: bool = False) -> Decision:
    """The launch decision for chat. It does not read tasks: an agent that waits or is blocked can still chat."""
    row = first_match(_CHAT_BY_HAND if by_hand else CHAT_ROWS, s)
    assert row is not None, "the last row is always true"
    until = program_choice.until(s, Purpose.CHAT) if row.then.reason == "cooling_down" else None
    # What the chat rows read, for the decision record: only facts that are true.
    names = ("undelivered", "delegation_waits", "invited", "my_turn", "opened_since", "in_conversation", "watched")
    found: dict[str, Any] = {name: True for name in names if getattr(s.talk, name)}
    if (session := s.sessions.get(Purpose.CHAT)) is not None:
        found["session_id"] = session.id
    found |= _facts_of_programs(s, Purpose.CHAT)
    return Decision(row.then.action, row.then.reason, row.row, row.words, None, until, found)
