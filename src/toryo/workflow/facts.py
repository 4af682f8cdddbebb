"""The named yes/no questions that rules are made of. Each asks one thing about a `RuleInput`.

*Outstanding*: something that a waiting manager waits for. *New*: an event since its last look that it did not cause.
*Dispatchable*: a subtask that can be started now.
"""

from __future__ import annotations

from collections.abc import Iterator

from toryo.domain import creation_rules, parallel_limit, task_readiness
from toryo.domain.agents import Role
from toryo.domain.review_checks import review_open
from toryo.domain.sessions import Choice
from toryo.domain.tasks import Approval, Checks, Status, Task
from toryo.workflow.snapshot import RuleInput

_ENDED_WELL = (Status.COMPLETED, Status.CANCELLED)
_STUCK = (Status.BLOCKED, Status.FAILED)


# --- for workers and managers ----------------------------------------------------------------------------------------


def task_not_fetched(case: RuleInput) -> bool:
    return not (case.fetched or (case.session is not None and case.session.fetched_at is not None))


def no_subtasks(case: RuleInput) -> bool:
    return not case.children


def no_subtasks_but_cancelled(case: RuleInput) -> bool:
    return all(child.status is Status.CANCELLED for child in case.children)


def all_subtasks_done(case: RuleInput) -> bool:
    """Every subtask is completed or cancelled, at least one completed, and no awaited delegation is open."""
    return (
        all(child.status in _ENDED_WELL for child in case.children)
        and any(child.status is Status.COMPLETED for child in case.children)
        and not delegation_open(case)
    )


def delegation_open(case: RuleInput) -> bool:
    return case.open_delegations > 0


def question_open(case: RuleInput) -> bool:
    """A person has not answered yet what the agent has asked about its task."""
    return case.main.open_questions > 0


def waits_for_answer(case: RuleInput) -> bool:
    """A question to a person is open; a manager with open subtasks goes on with these."""
    asked = question_open(case) and not in_review(case)
    return asked and (case.agent.role is not Role.MANAGER or not case.open_below(case.main))


def in_review(case: RuleInput) -> bool:
    """The agent has reported success, and a reviewer has not decided yet."""
    return review_open(case.main)


def checks_running(case: RuleInput) -> bool:
    """The agent has reported success, and a Coordinator has not told yet how the acceptance checks ended."""
    return case.main.checks is Checks.RUNNING


def review_due(case: RuleInput) -> bool:
    """The task is to review the work of another one, and nothing prevents the report."""
    return case.main.review_of is not None and not _report_prevented(case)


def check_failed(case: RuleInput) -> bool:
    """An acceptance check failed at the last report."""
    return case.main.checks is Checks.FAILED


def fixing_due(case: RuleInput) -> bool:
    """An acceptance check failed, and nothing prevents the next report."""
    return check_failed(case) and not _report_prevented(case)


def _report_prevented(case: RuleInput) -> bool:
    """An open subtask, or a delegation for which a report was refused."""
    refused = case.session is not None and case.session.refused_for_delegation
    return bool(case.open_below(case.main)) or (refused and delegation_open(case))


# --- workers ---------------------------------------------------------------------------------------------------------


NEVER_DIVIDE = frozenset({"command", "script"})
"""Providers whose agents do a task as a whole and do not create subtasks for themselves."""


def may_be_decomposed(case: RuleInput) -> bool:
    """It never had subtasks, its agent divides tasks, and a first subtask would be accepted."""
    main, settings = case.main, case.tree_state.project.settings
    return (
        no_subtasks(case)
        and main.children_ever == 0
        and main.review_of is None
        and case.agent.provider not in NEVER_DIVIDE
        and main.depth < settings.tree_depth
        and creation_rules.refusal_to_divide(settings, main, not task_not_fetched(case)) is None
    )


def refused_only_for_delegation(case: RuleInput) -> bool:
    refused = case.session is not None and case.session.refused_for_delegation
    return no_subtasks_but_cancelled(case) and refused and delegation_open(case)


def own_subtask_in_progress(case: RuleInput) -> bool:
    return current_subtask(case) is not None


def current_subtask(case: RuleInput) -> Task | None:
    """The first subtask that could be completed: nothing below it is open, and nobody reviews it."""
    own = (task for task in case.front if task.in_progress and task.assignee_id == case.agent.id)
    return next((task for task in own if not case.open_below(task) and not review_open(task)), None)


def own_startable_subtask(case: RuleInput) -> bool:
    return next_subtask(case) is not None


def next_subtask(case: RuleInput) -> Task | None:
    """The next subtask by priority, then order."""
    own = (task for task in case.front if task.assignee_id == case.agent.id)
    return next((task for task in own if task_readiness.startable(case.tree_state, task)), None)


def others_at_work(case: RuleInput) -> bool:
    """A subtask of another able agent or a person is in progress or in line, or an approval or a review below is
    open."""
    return _judged_by_others(case) or any(_of_others_at_work(case, task) for task in case.front)


def _judged_by_others(case: RuleInput) -> bool:
    return approval_pending(case) or any(review_open(task) for task in case.front)


def at_work_for(case: RuleInput) -> list[Task]:
    """The tasks a worker waits for: tasks that others work on or review, and requests that await approval."""
    asked = [descendant for descendant in case.descendants if _unjudged(descendant)]
    return [*(task for task in case.front if _of_others_at_work(case, task) or review_open(task)), *asked]


def _of_others_at_work(case: RuleInput, task: Task) -> bool:
    if task.assignee_id == case.agent.id:
        return False
    at_work = task.in_progress and case.tree_state.able(task.assignee_id)
    return at_work or (task.status is Status.TODO and task_readiness.starts_by_itself(case.tree_state, task))


def rest_is_stuck(case: RuleInput) -> bool:
    """All remaining subtasks, at least one, are blocked or failed."""
    rest = [task for task in case.front if task.status not in _ENDED_WELL]
    return bool(rest) and all(task.status in _STUCK for task in rest)


# --- managers --------------------------------------------------------------------------------------------------------


def all_done_and_not_refuted(case: RuleInput) -> bool:
    """All subtasks are done, and no check failed at the last report (or something below has changed since)."""
    return all_subtasks_done(case) and not (check_failed(case) and not _changed_since_check(case))


def all_done_and_accepted(case: RuleInput) -> bool:
    """All subtasks are done and not refuted, and the manager has not said that something is wrong with them."""
    return all_done_and_not_refuted(case) and not chose_adjust(case)


def _changed_since_check(case: RuleInput) -> bool:
    checked = case.main.checked_at or 0
    return any(descendant.moved_at > checked for descendant in case.descendants)


def only_stuck_left(case: RuleInput) -> bool:
    """Nothing in progress, nothing dispatchable, nothing outstanding, some blocked or failed."""
    return (
        not any(child.in_progress for child in case.children)
        and not something_dispatchable(case)
        and not outstanding(case)
        and any(child.status in _STUCK for child in case.children)
    )


def something_dispatchable(case: RuleInput) -> bool:
    return bool(case.dispatchable)


def chose_start(case: RuleInput) -> bool:
    return _chose(case, Choice.START) and something_dispatchable(case)


def chose_adjust(case: RuleInput) -> bool:
    return _chose(case, Choice.ADJUST)


def chose_wait(case: RuleInput) -> bool:
    return _chose(case, Choice.WAIT) and outstanding(case) and not something_new(case)


def _chose(case: RuleInput, choice: Choice) -> bool:
    return case.session is not None and case.session.choice is choice


def awaited_from_others(case: RuleInput) -> frozenset[str] | None:
    """The tasks that a worker told `wait_for_others` waits for; None if another event is certain to come: an approval,
    a review, or a start of what is in line."""
    awaited = at_work_for(case)
    certain = _judged_by_others(case) or any(task.status is Status.TODO for task in awaited)
    return None if certain else frozenset(task.id for task in awaited)


# --- outstanding, and new --------------------------------------------------------------------------------------------


def outstanding(case: RuleInput) -> bool:
    """Whether something is left to wait for: an event is certain to wake the agent. Looks at all descendants."""
    return workers_busy(case) or delegation_open(case) or question_open(case) or approval_pending(case)


def workers_busy(case: RuleInput) -> bool:
    """(a) an able agent's main task below, (b) held by a parallel limit, (c) a dependency outside, (f) a queue task,
    (g) a task in line, (h) a task that can be started from a time on."""
    return agents_busy(case) or person_at_work(case)


def agents_busy(case: RuleInput) -> bool:
    """Like `workers_busy`, without people."""
    at_work = ai_at_work(case) or held_by_limit(case) or waits_for_outside(case) or queue_task_ready(case)
    return at_work or goes_on_by_itself(case) or comes_due(case)


def goes_on_by_itself(case: RuleInput) -> bool:
    """(g) A task below is in line, and comes to its start without anybody's help."""
    return any(task_readiness.starts_by_itself(case.tree_state, descendant) for descendant in case.descendants)


def comes_due(case: RuleInput) -> bool:
    """(h) A task below can be started from a time on that has not come."""
    return any(task_readiness.comes_due(case.tree_state, descendant) for descendant in case.descendants)


def queue_task_ready(case: RuleInput) -> bool:
    """(f) A queue task below is ready and its queue has an agent; a claimed one is its agent's main task."""
    return any(task_readiness.will_be_claimed(case.tree_state, descendant) for descendant in case.descendants)


def ai_at_work(case: RuleInput) -> bool:
    return any(not _is_person(case, main) for main in _mains_at_work(case))


def person_at_work(case: RuleInput) -> bool:
    return any(_is_person(case, main) for main in _mains_at_work(case))


def _mains_at_work(case: RuleInput) -> list[Task]:
    return [
        descendant
        for descendant in case.descendants
        if descendant.in_progress and case.tree.is_main(descendant) and case.tree_state.able(descendant.assignee_id)
    ]


def _is_person(case: RuleInput, task: Task) -> bool:
    agent = case.tree_state.agents.get(task.assignee_id or "")
    return agent is not None and agent.human


def held_by_limit(case: RuleInput) -> bool:
    return any(task_readiness.held_by_limit(case.tree_state, child, case.agent.id) for child in case.children)


def waits_for_outside(case: RuleInput) -> bool:
    """A `todo` task below depends on a task outside that is in progress with an able assignee."""
    return next(_outside_at_work(case), None) is not None


def _outside_at_work(case: RuleInput) -> Iterator[Task]:
    inside = {case.main.id, *(descendant.id for descendant in case.descendants)}
    for descendant in case.descendants:
        if descendant.status is Status.TODO:
            for other in case.tree.dependencies(descendant):
                if other.in_progress and other.id not in inside and case.tree_state.able(other.assignee_id):
                    yield other


def depends_on_elsewhere(case: RuleInput) -> bool:
    """Whether events in other trees can change this decision: a dependency outside, or an assignee who is busy or who
    is able only while signed in.
    """
    return (
        held_by_limit(case)
        or any(agent.active and not agent.managed and not agent.human for agent in case.tree_state.agents.values())
        or any(
            dependency.id not in case.tree.tasks
            for task in case.descendants
            if task.open
            for dependency in case.tree.open_dependencies(task)
        )
    )


def approval_pending(case: RuleInput) -> bool:
    return any(_unjudged(descendant) for descendant in case.descendants)


def _unjudged(task: Task) -> bool:
    return task.open and task.approval is Approval.PENDING


def awaited_tasks(case: RuleInput) -> frozenset[str] | None:
    """The tasks at work among what is outstanding: one of them must proceed. None: another event will come anyway."""
    asked = delegation_open(case) or question_open(case) or approval_pending(case)
    if asked or queue_task_ready(case) or goes_on_by_itself(case) or comes_due(case):
        return None
    at_work = {main.id for main in _mains_at_work(case)}
    # Main tasks that use up the limits by which children are held back.
    found: set[str] = set()
    for child in case.children:
        if task_readiness.held_by_limit(case.tree_state, child, case.agent.id):
            found.update(
                *(parallel_limit.counted_tasks(case.tree_state, each, child) for each in _could_do(case, child))
            )
    return frozenset(at_work | found | {task.id for task in _outside_at_work(case)})


def _could_do(case: RuleInput, child: Task) -> list[str]:
    if child.assignee_id is not None and case.tree_state.able(child.assignee_id):
        return [child.assignee_id]
    return [worker.id for worker in case.tree_state.able_workers(case.agent.id)]


def something_new(case: RuleInput) -> bool:
    return bool(case.news) or newly_dispatchable(case)


def newly_dispatchable(case: RuleInput) -> bool:
    """A child is dispatchable now that was not at the last look."""
    seen = set(case.main.look_dispatchable)
    return any(task.id not in seen for task in case.dispatchable)


def new_block(case: RuleInput) -> bool:
    """A descendant was blocked or failed since the last look."""
    stuck = {descendant.id for descendant in case.descendants if descendant.status in _STUCK}
    return any(each.kind == "blocked" and each.task_id in stuck for each in case.news)


def plan_changed(case: RuleInput) -> bool:
    """Since the last look a child became dispatchable, a delegation or question ended, or a person wrote on a task."""
    return newly_dispatchable(case) or any(each.kind in ("person", "delegation", "question") for each in case.news)


def block_left_open(case: RuleInput) -> bool:
    return any(descendant.status in _STUCK for descendant in case.descendants)
