"""Should this agent be running? Every row of the launch tables, each with the smallest facts for which it wins.

Rows 1-7 are about the agent and what runs already, 7a-13 about each main task; chat has a table of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import (
    NOW,
    agent,
    at_work,
    cancelled,
    done,
    failed,
    project,
    stuck,
    task,
    todo,
    tree_state,
)
from tests.workflow.scenes import (
    JOB,
    JUST_NOW,
    LIMITS,
    LONG_AGO,
    MAIN,
    decided,
    hold,
    news,
    ordered,
    session,
    shown,
    snapshot,
    start,
    stop,
    waiting,
)
from toryo.domain.agents import Agent, Role
from toryo.domain.conflict_forecast import Files, Meeting
from toryo.domain.launches import Purpose, State
from toryo.domain.projects import Decomposition
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.quota_windows import Kept
from toryo.domain.sessions import Session
from toryo.domain.tasks import Approval, Priority, Status, Task
from toryo.domain.tree_state import TreeState
from toryo.workflow import launch_rules
from toryo.workflow.guard_limits import Limits
from toryo.workflow.snapshot import ChatState, Cooldown, News

LIVE = session()
COOLING = {Purpose.TASK: [Cooldown(NOW + 60_000, "crashed", 1)]}


# --- rows 1-7 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [ProjectStatus.PAUSED, ProjectStatus.ARCHIVED])
def test_1_project_paused_or_archived_stops_a_live_session_once_the_pause_grace_is_over(status: ProjectStatus) -> None:
    def at(since: int) -> TreeState:
        return tree_state(MAIN, where=replace(project(status), paused_at=since))

    over, within = NOW - LIMITS.pause_grace, NOW - LIMITS.pause_grace + 1
    assert decided(at(over), live=LIVE) == stop("1", "project_paused")
    assert decided(at(within), live=LIVE) == hold("1", "project_paused")
    assert decided(at(over)) == hold("1", "project_paused")


def test_1_a_project_that_is_gone_starts_nobody() -> None:
    assert decided(project=None) == hold("1", "project_paused")


def test_2_not_a_member_stops_a_live_session_once_the_grace_is_over() -> None:
    where = tree_state(MAIN, strangers=["boss"])
    assert decided(where, live=LIVE, removed_at=NOW - LIMITS.stop_grace) == stop("2", "agent_not_assigned")
    assert decided(where, live=LIVE, removed_at=JUST_NOW) == hold("2", "agent_not_assigned")
    assert decided(where) == hold("2", "agent_not_assigned")
    assert decided(agent=None) == hold("2", "agent_not_assigned")


def test_2_inactive_stops_a_live_session_once_the_grace_is_over() -> None:
    def since(when: int) -> TreeState:
        return tree_state(MAIN, crew=[replace(agent("boss", Role.MANAGER, active=False), deactivated_at=when)])

    assert decided(since(NOW - LIMITS.stop_grace), live=LIVE) == stop("2", "agent_inactive")
    assert decided(since(JUST_NOW), live=LIVE) == hold("2", "agent_inactive")
    assert decided(since(LONG_AGO)) == hold("2", "agent_inactive")


def test_2_not_managed_is_held_and_a_live_session_started_by_hand_goes_on() -> None:
    where = tree_state(MAIN, crew=[agent("boss", Role.MANAGER, provider=None)])
    assert decided(where) == hold("2", "not_managed")
    assert decided(where, live=LIVE) == hold("6", "already_running")
    assert decided(tree_state(at_work("t", "hana")), "hana") == hold("2", "not_managed")


OVER = NOW - LIMITS.stop_grace
ROOT = cancelled("root", "hana", moved_at=OVER)
WITHDRAWN = {
    "not in progress": tree_state(todo("main", "boss", moved_at=OVER)),
    "blocked": tree_state(stuck("main", "boss", moved_at=OVER)),
    "completed": tree_state(done("main", "boss", moved_at=OVER)),
    "somebody else's": tree_state(at_work("main", "ann", moved_at=OVER)),
    "below a closed task": tree_state(ROOT, at_work("main", "boss", below=ROOT)),
}


@pytest.mark.parametrize("why", WITHDRAWN)
def test_3_a_live_session_whose_main_task_is_not_its_own_any_more_is_stopped_once_the_grace_is_over(why: str) -> None:
    where = WITHDRAWN[why]
    assert decided(where, live=LIVE) == stop("3", "task_withdrawn")
    assert decided(where, live=LIVE, now=NOW - 1)[1] == "hold"


def test_3_a_command_hears_nothing_meanwhile_and_is_stopped_at_once() -> None:
    for provider, action in (("command", "stop"), ("playbook", "hold"), ("claude", "hold")):
        mine = agent("boss", Role.MANAGER, provider=provider)
        withdrawn = cancelled("main", "boss", moved_at=NOW)
        assert decided(tree_state(withdrawn, crew=[mine]), live=LIVE)[1] == action


def test_3_a_session_whose_main_task_is_gone_is_stopped_too() -> None:
    lost = replace(LIVE, created_at=OVER)
    assert decided(tree_state(todo("other", "boss")), live=lost) == stop("3", "task_withdrawn")


@pytest.mark.parametrize(
    ("tripped", "reason"),
    [
        ({"runaway": "same_answer"}, "runaway"),
        ({"created_at": NOW - LIMITS.run_time}, "time_limit"),
        ({"heard_at": NOW - LIMITS.silence}, "silent"),
    ],
)
def test_4_a_live_session_that_tripped_a_guard_is_stopped(tripped: dict[str, Any], reason: str) -> None:
    assert decided(live=session(**tripped)) == stop("4", reason)
    assert decided(live=session(**tripped, model_id=None)) == stop("4", reason)


def test_4_a_live_session_is_stopped_when_the_budget_is_used_up() -> None:
    assert decided(live=LIVE, budget_used_up=True) == stop("4", "budget_exhausted")
    assert decided(live=LIVE, agent_budget_used_up=True) == stop("4", "agent_budget_exhausted")
    assert decided(live=LIVE, over_budget={"main": "root"}) == stop("4", "task_budget_exhausted")
    assert decided(live=LIVE, over_budget={"other": "other"}) == hold("6", "already_running")


def test_4_neither_the_budget_nor_the_time_limit_ends_a_chat() -> None:
    talks = session(purpose=Purpose.CHAT, task_id=None, created_at=NOW - 2 * LIMITS.run_time)
    assert launch_rules.tripped(snapshot(budget_used_up=True), talks) is None
    for facts, guard in (({"heard_at": 0}, "silent"), ({"runaway": "calls"}, "runaway")):
        assert launch_rules.tripped(snapshot(budget_used_up=True), replace(talks, **facts)) == guard


def test_4_of_several_guards_the_first_is_named() -> None:
    all_ = session(runaway="calls", created_at=NOW - LIMITS.run_time, heard_at=0)
    assert decided(live=all_, budget_used_up=True)[2] == "runaway"
    assert decided(live=replace(all_, runaway=None), budget_used_up=True)[2] == "time_limit"
    assert decided(live=replace(all_, runaway=None, created_at=NOW), budget_used_up=True)[2] == "budget_exhausted"


def test_4_a_longer_patience_of_the_task_is_respected() -> None:
    quiet = session(heard_at=NOW - LIMITS.silence, patience=LIMITS.silence + 1)
    assert decided(live=quiet) == hold("6", "already_running")


def test_5_blocked_tasks_and_none_in_progress_hold() -> None:
    where = tree_state(stuck("main", "boss"))
    assert decided(where, blocked_tasks=1) == hold("5", "blocked_without_in_progress")
    both = tree_state(stuck("other", "boss"))
    assert decided(tree_states=(both, tree_state(MAIN)), blocked_tasks=1) == start("13", "has_in_progress_task")


def test_6_a_live_task_session_is_running_already() -> None:
    assert decided(live=LIVE) == hold("6", "already_running")


def test_6_a_launch_not_yet_signed_in_is_pending_until_its_deadline() -> None:
    launches = {Purpose.TASK: ordered()}
    assert decided(launches=launches) == hold("6", "start_pending")
    assert launch_rules.decide(snapshot(launches=launches)).until == ordered().deadline


def test_6_a_launch_that_has_signed_in_and_has_no_session_any_more_is_not_being_started() -> None:
    assert decided(launches={Purpose.TASK: ordered(state=State.SIGNED_IN)}) == start("13", "has_in_progress_task")


@pytest.mark.parametrize(
    ("tripped", "behaves", "time"),
    [
        ({"runaway": "same_answer"}, True, False),
        ({"created_at": NOW - LIMITS.run_time}, True, True),
        ({"created_at": NOW - LIMITS.run_time, "runaway": "calls"}, True, False),
        ({"heard_at": NOW - LIMITS.silence}, True, False),
        ({}, False, False),
    ],
)
def test_4_whether_it_is_stopped_for_its_behaviour_and_whether_for_its_time(
    tripped: dict[str, Any], behaves: bool, time: bool
) -> None:
    assert launch_rules.failed_by_itself(session(**tripped), LIMITS, NOW) is behaves
    assert launch_rules.ran_its_time(session(**tripped), LIMITS, NOW) is time


def test_the_limits_are_the_specified_ones() -> None:
    assert Limits() == Limits(
        stop_grace=60_000,
        pause_grace=300_000,
        same_answers=25,
        refusals=20,
        idle_calls=300,
        calls=2_000,
        moves_of_one_task=20,
        silence=1_800_000,
        run_time=86_400_000,
        idle_launches=5,
        unreported_ends=3,
        cooldown=60_000,
        longest_cooldown=3_600_000,
        quota_margin_percent=10,
    )


def test_7_cooling_down_after_failures_holds_until_the_moment_it_names() -> None:
    assert decided(cooldowns=COOLING) == hold("7", "cooling_down")
    assert launch_rules.decide(snapshot(cooldowns=COOLING)).until == NOW + 60_000
    assert decided(cooldowns=COOLING, now=NOW + 60_000) == start("13", "has_in_progress_task")


def test_7_the_budget_is_used_up() -> None:
    assert decided(budget_used_up=True) == hold("7", "budget_exhausted")
    assert decided(agent_budget_used_up=True) == hold("7", "agent_budget_exhausted")
    assert decided(over_budget={"main": "root"}) == hold("7a", "task_budget_exhausted")
    assert decided(over_budget={"other": "other"}) == start("13", "has_in_progress_task")


def test_what_does_not_concern_a_person_does_not_refuse_a_start_by_hand() -> None:
    def by_hand(**facts: Any) -> tuple[str, str, str]:
        return shown(launch_rules.decide(snapshot(**facts), by_hand=True))

    unmanaged = tree_state(MAIN, crew=[agent("boss", Role.MANAGER, provider=None)])
    assert by_hand(where=unmanaged) == start("13", "has_in_progress_task")
    assert by_hand(cooldowns=COOLING) == start("13", "has_in_progress_task")
    assert by_hand(live=LIVE) == hold("6", "already_running")
    assert by_hand(where=tree_state(MAIN, strangers=["boss"])) == hold("2", "agent_not_assigned")


# --- rows 7a-12: a main task of a manager that waits -----------------------------------------------------------------

WAITING = waiting(look_dispatchable=())
AT_ANN = at_work("part", "ann", below=WAITING)
STUCK_AT_ANN = stuck("part", "ann", below=WAITING)


def left(*tasks: Task, about: dict[str, tuple[News, ...]] | None = None, main: Task = WAITING, **facts: Any) -> Any:
    """The decision about a manager that left to wait, with these tasks below its main task."""
    return decided(tree_state(main, *tasks, **facts), news=about or {})


def test_7a_another_agents_session_still_lives_on_it() -> None:
    assert decided(others_on={"main": "ann"}) == hold("7a", "handing_over")
    assert decided(others_on={"other": "ann"}) == start("13", "has_in_progress_task")


def test_7a_the_decision_names_who_holds_it_and_otherwise_nobody() -> None:
    assert launch_rules.decide(snapshot(others_on={"main": "ann"})).facts["held_by"] == "ann"
    assert "held_by" not in launch_rules.decide(snapshot()).facts


def test_8_it_waits_and_a_descendant_is_blocked_or_failed_and_that_is_new() -> None:
    for fell in (stuck, failed):
        part = fell("part", "ann", below=WAITING)
        busy = at_work("busy", "bob", below=WAITING)
        assert left(part, busy, about=news("blocked", "part")) == start("8", "worker_blocked")
    leaf = stuck("leaf", "ann", below=AT_ANN)
    assert left(AT_ANN, leaf, about=news("blocked", "leaf")) == start("8", "worker_blocked")


def test_8_a_block_that_was_lifted_meanwhile_wakes_nobody() -> None:
    assert left(AT_ANN, about=news("blocked", "part")) == hold("12", "waiting_for_workers")


def test_9_it_waits_and_a_child_is_dispatchable_that_was_not_at_the_look() -> None:
    free = todo("free", "bob", below=WAITING)
    assert left(AT_ANN, free) == start("9", "plan_changed")
    seen = replace(WAITING, look_dispatchable=("free",))
    assert left(AT_ANN, free, main=seen) == hold("12", "waiting_for_workers")


@pytest.mark.parametrize("kind", ["person", "delegation", "question"])
def test_9_it_waits_and_a_person_changed_the_plan_or_a_delegation_ended(kind: str) -> None:
    assert left(AT_ANN, about=news(kind, "part")) == start("9", "plan_changed")


def test_9_a_child_that_was_closed_wakes_nobody_by_itself() -> None:
    over = done("over", "bob", below=WAITING)
    assert left(AT_ANN, over, about=news("closed", "over")) == hold("12", "waiting_for_workers")


def test_7b_a_question_to_a_person_holds_whoever_has_nothing_else_to_do() -> None:
    asks = replace(WAITING, open_questions=1)
    for main in (asks, replace(MAIN, open_questions=1)):
        assert decided(tree_state(main)) == hold("7b", "waiting_for_answer")
        assert decided(tree_state(main, done("part", "ann", below=main))) == hold("7b", "waiting_for_answer")
    job = replace(JOB, open_questions=1)
    assert anns(main=job) == hold("7b", "waiting_for_answer")
    assert anns(todo("part", "ann", below=job, by="ann"), main=job) == hold("7b", "waiting_for_answer")


def test_12_a_manager_with_open_subtasks_waits_for_these_and_for_the_answer() -> None:
    asks = replace(WAITING, open_questions=1)
    assert left(replace(AT_ANN), main=asks) == hold("12", "waiting_for_workers")
    idle = todo("part", "ann", below=asks, approval=Approval.PENDING)
    assert left(idle, main=asks) == hold("12", "waiting_for_answer")


def test_10_it_waits_and_nothing_is_outstanding() -> None:
    assert left(done("part", "ann", below=WAITING)) == start("10", "workers_finished")
    assert left(STUCK_AT_ANN) == start("10", "workers_finished")
    away = agent("ann", active=False, reports_to="boss")
    assert left(AT_ANN, crew=[away]) == start("10", "workers_finished")


def test_11_it_waits_and_a_seen_block_is_left_open() -> None:
    assert left(STUCK_AT_ANN, at_work("busy", "bob", below=WAITING)) == hold("11", "handled_blocked")


WAITING_FOR = {
    "waiting_for_workers": tree_state(WAITING, AT_ANN),
    "waiting_for_delegation": tree_state(WAITING, open_delegations={"main": 1}),
    "waiting_for_approval": tree_state(WAITING, todo("part", "ann", below=WAITING, approval=Approval.PENDING)),
    "waiting_for_person": tree_state(WAITING, at_work("part", "paul", below=WAITING)),
}


@pytest.mark.parametrize("reason", WAITING_FOR)
def test_12_it_waits_for_what_is_outstanding(reason: str) -> None:
    assert decided(WAITING_FOR[reason]) == hold("12", reason)


def test_12_of_several_the_first_in_this_order_is_named() -> None:
    for_person = at_work("a", "paul", below=WAITING)
    for_approval = todo("b", "ann", below=WAITING, approval=Approval.PENDING)
    assert left(for_person, for_approval) == hold("12", "waiting_for_approval")
    delegated: dict[str, Any] = {"open_delegations": {"main": 1}}
    assert left(for_person, for_approval, **delegated) == hold("12", "waiting_for_delegation")
    assert left(for_person, for_approval, AT_ANN, **delegated) == hold("12", "waiting_for_workers")


def test_12_what_the_limit_holds_back_and_what_waits_for_another_tree_are_workers_too() -> None:
    held = todo("held", "ann", below=WAITING)
    assert left(held, elsewhere={"ann": 1}) == hold("12", "waiting_for_workers")
    outside = tree_state(WAITING, held, waits={"held": ["x"]}, outside=[at_work("x", "bob")])
    assert decided(outside) == hold("12", "waiting_for_workers")


# --- row 12a: a main task of a worker --------------------------------------------------------------------------------

DELEGATED: dict[str, Any] = {"open_delegations": {"job": 1}}
LEFT = waiting(JOB, "delegation")
NO_PARTS = project(decomposition=Decomposition.NEVER)


def anns(*tasks: Task, main: Task = JOB, **facts: Any) -> tuple[str, str, str]:
    """The decision about ann and her main task with these tasks below it."""
    return decided(tree_state(main, *tasks, **facts), "ann")


def test_12a_it_left_to_wait_for_a_delegation_that_is_still_open() -> None:
    assert anns(main=LEFT, where=NO_PARTS, **DELEGATED) == hold("12a", "waiting_for_delegation")
    assert anns(main=LEFT, where=NO_PARTS) == start("13", "has_in_progress_task")
    assert anns(main=JOB, where=NO_PARTS, **DELEGATED) == start("13", "has_in_progress_task")


def test_12a_all_it_could_be_told_is_wait_for_delegation() -> None:
    part = done("part", "ann", below=JOB, by="ann")
    assert anns(part, **DELEGATED) == hold("12a", "waiting_for_delegation")
    assert anns(part) == start("13", "has_in_progress_task")


def test_12a_what_else_it_could_do_is_a_reason_to_start_even_if_it_left_for_a_delegation() -> None:
    part = todo("part", "ann", below=LEFT, by="ann")
    assert anns(part, main=LEFT, **DELEGATED) == start("13", "has_in_progress_task")


def test_12a_all_it_could_be_told_is_wait_for_others() -> None:
    for part in (at_work("part", "bob", below=JOB), at_work("part", "paul", below=JOB)):
        assert anns(part) == hold("12a", "waiting_for_workers")
    away = agent("bob", active=False)
    assert anns(at_work("part", "bob", below=JOB), crew=[away]) == start("13", "has_in_progress_task")


def test_13_a_main_task() -> None:
    assert decided() == start("13", "has_in_progress_task")
    assert anns() == start("13", "has_in_progress_task")
    assert launch_rules.decide(snapshot()).task_id == "main"


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.IN_PROGRESS])
def test_15_always(status: Status) -> None:
    assert decided(tree_state(task("main", status, "boss"))) == hold("15", "no_in_progress_task")


def test_15_subtasks_of_the_same_agent_and_tasks_of_others_are_no_main_tasks() -> None:
    above = todo("up", "ann")
    assert anns(above, at_work("own", "ann", below=above), main=todo("job", "ann")) == hold("15", "no_in_progress_task")
    assert decided(tree_state(at_work("main", "bob")), "ann") == hold("15", "no_in_progress_task")
    assert decided(tree_states=()) == hold("15", "no_in_progress_task")


# --- row 14: the agent's queue --------------------------------------------------------------------------------------


def offered(*tasks: Task, **facts: Any) -> launch_rules.Decision:
    """The decision about an agent to which a queue offers these, each in its state after the claim."""
    return launch_rules.decide(snapshot(tree_states=(), offers=[(each, tree_state(each)) for each in tasks], **facts))


Q1, Q2 = (at_work(name, "boss", agent_type="build", priority=Priority.LOW) for name in ("q1", "q2"))


def test_14_a_task_of_its_queue_is_ready() -> None:
    assert (shown(offered(Q1, Q2)), offered(Q1, Q2).task_id) == (start("14", "has_ready_queue_task"), "q1")
    assert shown(offered()) == hold("15", "no_in_progress_task")
    assert shown(launch_rules.decide(snapshot(offers=[(Q1, tree_state(Q1))]))) == start("13", "has_in_progress_task")
    assert shown(offered(Q1, blocked_tasks=1)) == start("14", "has_ready_queue_task")


def test_14_what_is_held_back_by_other_work_is_passed_over() -> None:
    meeting = Meeting(Files("x", "The task x", Status.IN_PROGRESS), ("a.py",))
    assert offered(Q1, Q2, held_back={"q1": meeting}).task_id == "q2"
    assert shown(offered(Q1, held_back={"q1": meeting})) == hold("15", "no_in_progress_task")


@pytest.mark.parametrize("role", [Role.WORKER, Role.MANAGER])
def test_14_a_worker_that_could_only_wait_with_it_is_not_started(role: Role) -> None:
    crew = [agent("boss", role, reports_to="hana")]
    work = replace(Q1, has_acceptance=True)
    part = at_work("part", "ann", below=work, by="boss")
    where = tree_state(work, part, crew=crew)
    decision = launch_rules.decide(snapshot(where, tree_states=(), offers=[(work, where)]))
    waits = role is Role.WORKER
    assert shown(decision) == (hold("15", "no_in_progress_task") if waits else start("14", "has_ready_queue_task"))


# --- rows 16 and 17: what is kept for others -------------------------------------------------------------------------

SOON, LATER = NOW + 60_000, NOW + 600_000
CLAUDE = agent("boss", Role.MANAGER, reports_to="hana", provider="claude")
WITH_GEMINI = replace(CLAUDE, provider_options={"fallback": {"provider": "gemini"}})
RESERVE, SPARE, BOTH = ({"claude": Kept(*ends)} for ends in ((SOON, None), (None, SOON), (SOON, LATER)))
GOES_ON, NO_RESERVE, NO_SPARE = (
    start("13", "has_in_progress_task"),
    hold("16", "reserve_kept"),
    hold("17", "no_spare_quota"),
)


def with_priority(
    priority: Priority, kept: dict[str, Kept], who: Agent = CLAUDE, *, by_hand: bool = False
) -> launch_rules.Decision:
    where = tree_state(replace(MAIN, priority=priority), crew=[who])
    return launch_rules.decide(snapshot(where, kept=kept), by_hand=by_hand)


@pytest.mark.parametrize(
    ("kept", "priority", "row", "until"),
    [
        (RESERVE, Priority.LOW, NO_RESERVE, SOON),
        (RESERVE, Priority.MEDIUM, NO_RESERVE, SOON),
        (RESERVE, Priority.HIGH, GOES_ON, None),
        (RESERVE, Priority.CRITICAL, GOES_ON, None),
        (SPARE, Priority.LOW, NO_SPARE, SOON),
        (SPARE, Priority.MEDIUM, GOES_ON, None),
        (BOTH, Priority.LOW, NO_RESERVE, LATER),
        (BOTH, Priority.MEDIUM, NO_RESERVE, SOON),
        ({"gemini": Kept(SOON, SOON)}, Priority.LOW, GOES_ON, None),
        ({}, Priority.LOW, GOES_ON, None),
    ],
)
def test_16_and_17_what_is_kept_of_an_account_holds_tasks_that_are_less_urgent(
    kept: dict[str, Kept], priority: Priority, row: tuple[str, str, str], until: int | None
) -> None:
    decision = with_priority(priority, kept)
    assert (shown(decision), decision.until) == (row, until)
    assert shown(with_priority(priority, kept, by_hand=True)) == GOES_ON
    urgent = priority in (Priority.HIGH, Priority.CRITICAL)
    assert decision.priority is (None if urgent else priority)
    assert decision.facts.get("kept_of") == ("claude" if row != GOES_ON else None)


def test_16_another_program_is_used_where_only_the_first_ones_account_is_kept() -> None:
    decision = with_priority(Priority.MEDIUM, RESERVE, WITH_GEMINI)
    assert (shown(decision), decision.priority) == (GOES_ON, Priority.MEDIUM)
    assert (decision.facts["kept_of"], decision.facts["stands_in"]) == ("claude", "gemini")
    both = {**RESERVE, "gemini": Kept(LATER, None)}
    decision = with_priority(Priority.MEDIUM, both, WITH_GEMINI)
    assert (shown(decision), decision.until) == (NO_RESERVE, SOON)
    assert "stands_in" not in decision.facts


def test_16_what_is_not_started_anyway_is_not_held_for_a_reserve() -> None:
    main = replace(WAITING, priority=Priority.LOW)
    where = tree_state(main, AT_ANN, crew=[CLAUDE])
    decision = launch_rules.decide(snapshot(where, kept=RESERVE))
    assert (decision.row, decision.priority, "kept_of" in decision.facts) == ("12", None, False)
    cooling = launch_rules.decide(snapshot(where, kept=RESERVE, cooldowns=COOLING))
    assert (cooling.row, cooling.priority) == ("7", None)


def test_16_of_several_queue_tasks_the_first_that_may_use_the_account_is_claimed() -> None:
    urgent = replace(Q2, priority=Priority.HIGH)
    assert offered(Q1, urgent, agent=CLAUDE, kept=RESERVE).task_id == "q2"
    held = offered(Q1, agent=CLAUDE, kept=RESERVE)
    assert (shown(held), held.task_id, held.until) == (NO_RESERVE, "q1", SOON)
    by_hand = snapshot(tree_states=(), offers=[(Q1, tree_state(Q1))], agent=CLAUDE, kept=RESERVE)
    assert launch_rules.decide(by_hand, by_hand=True).row == "14"


# --- several main tasks ----------------------------------------------------------------------------------------------


def test_of_several_main_tasks_the_first_that_starts_wins_else_the_first_hold() -> None:
    held, free = tree_state(WAITING, AT_ANN), tree_state(at_work("second", "boss"))
    decision = launch_rules.decide(snapshot(tree_states=(held, free)))
    assert (decision.reason, decision.task_id) == ("has_in_progress_task", "second")
    delegating = tree_state(
        waiting(replace(MAIN, id="later", root_id="later", created_at=NOW).aged()), open_delegations={"later": 1}
    )
    for order in ((held, delegating), (delegating, held)):
        decision = launch_rules.decide(snapshot(tree_states=order))
        assert (decision.reason, decision.task_id) == ("waiting_for_workers", "main")


def test_the_most_urgent_main_task_is_started_first_whatever_the_order_they_are_loaded_in() -> None:
    first, second = tree_state(at_work("old", "boss", created_at=1)), tree_state(at_work("new", "boss", created_at=2))
    for order in ((first, second), (second, first)):
        assert launch_rules.decide(snapshot(tree_states=order)).task_id == "old"


# --- what is told with a decision ------------------------------------------------------------------------------------


def test_a_decision_names_its_row_and_the_facts_it_read() -> None:
    told = launch_rules.decide(snapshot(tree_state(WAITING, AT_ANN)))
    assert told.words == "The manager waits for agents: one works on a task below this one, or will as soon as it can"
    assert told.facts == {
        "main_task": "main",
        "waits": True,
        "below": {"in_progress": 1},
        "outstanding": True,
        "dispatchable": [],
        "new": [],
    }
    facts = launch_rules.decide(snapshot(tree_state(todo("main", "boss")), live=LIVE, cooldowns=COOLING)).facts
    assert facts == {
        "main_tasks": [],
        "blocked_tasks": 0,
        "project_status": "active",
        "session_id": "ses_boss",
        "withdrawn": "todo",
        "cooldown": "crashed",
    }


def test_only_of_a_manager_a_decision_names_what_it_could_start() -> None:
    ready = todo("part", "bob", below=WAITING)
    assert launch_rules.decide(snapshot(tree_state(WAITING, ready))).facts["dispatchable"] == ["part"]
    own = todo("part", "bob", below=JOB, by="ann")
    assert launch_rules.decide(snapshot(tree_state(JOB, own), "ann")).facts["dispatchable"] == []


FALLBACKS = replace(
    CLAUDE,
    provider_options={"fallback": [{"provider": "gemini"}, {"provider": "codex"}]},
)


@pytest.mark.parametrize(
    ("who", "used_up", "told"),
    [
        (CLAUDE, {}, {}),
        (CLAUDE, {"gemini": SOON}, {}),
        (CLAUDE, {"claude": SOON}, {"cooldown": "quota", "account": "claude"}),
        (FALLBACKS, {"claude": SOON}, {"cooldown": "quota", "account": "claude", "stands_in": "gemini"}),
        (
            FALLBACKS,
            {"claude": SOON, "gemini": LATER},
            {"cooldown": "quota", "account": "claude", "stands_in": "codex"},
        ),
        (
            FALLBACKS,
            {"claude": LATER, "gemini": SOON, "codex": LATER},
            {
                "cooldown": "quota",
                "account": "claude",
                "first_again": "gemini",
                "accounts": ["claude", "gemini", "codex"],
            },
        ),
        (
            WITH_GEMINI,
            {"claude": SOON, "gemini": LATER},
            {"cooldown": "quota", "account": "claude", "accounts": ["claude", "gemini"]},
        ),
    ],
)
def test_a_decision_names_what_is_used_up_and_who_stands_in(
    who: Agent, used_up: dict[str, int], told: dict[str, Any]
) -> None:
    accounts = {name: Cooldown(until, "quota") for name, until in used_up.items()}
    facts = launch_rules.decide(snapshot(agent=who, accounts=accounts)).facts
    names = ("cooldown", "account", "stands_in", "first_again", "accounts")
    assert {name: facts[name] for name in names if name in facts} == told


def test_of_a_failure_no_account_is_named() -> None:
    crashed = {Purpose.TASK: [Cooldown(LATER, "crashed", 1, "claude")]}
    facts = launch_rules.decide(snapshot(agent=CLAUDE, cooldowns=crashed, accounts={"claude": Cooldown(SOON, "quota")}))
    assert (facts.facts["cooldown"], "account" in facts.facts) == ("crashed", False)


# --- chat ------------------------------------------------------------------------------------------------------------


def chat(
    who: str = "boss", live: Session | None = None, where: TreeState | None = None, **facts: Any
) -> tuple[str, str, str]:
    sessions = {} if live is None else {live.purpose: live}
    return shown(launch_rules.decide_chat(snapshot(where, who, sessions=sessions, **facts)))


CHATTING = session(purpose=Purpose.CHAT, task_id=None)
CHAT_ORDERED = {Purpose.CHAT: ordered(purpose=Purpose.CHAT)}
WANTED = ChatState(undelivered=True)


def test_chat_stops_who_is_no_member_or_inactive_only_if_a_chat_session_is_live() -> None:
    strange = tree_state(MAIN, strangers=["boss"])
    idle = tree_state(MAIN, crew=[agent("boss", Role.MANAGER, active=False)])
    for where, reason in ((strange, "agent_not_assigned"), (idle, "agent_inactive")):
        assert chat(where=where, live=CHATTING) == stop("chat", reason)
        assert chat(where=where) == hold("chat", reason)
        assert chat(where=where, launches=CHAT_ORDERED) == hold("chat", reason)
        assert chat(where=where, live=LIVE) == hold("chat", reason)
    assert chat(agent=None, member=False) == hold("chat", "agent_not_assigned")


def test_chat_is_not_started_for_who_is_not_managed_whatever_its_task_session_does() -> None:
    where = tree_state(MAIN, crew=[agent("boss", Role.MANAGER, provider=None)])
    assert chat(where=where) == hold("chat", "not_managed")
    assert chat(where=where, live=LIVE) == hold("chat", "not_managed")
    assert chat(where=where, live=CHATTING) == hold("chat", "already_running")


def test_a_chat_launch_or_session_is_running_already() -> None:
    assert chat(live=CHATTING) == hold("chat", "already_running")
    assert chat(launches=CHAT_ORDERED) == hold("chat", "already_running")
    signed_in = {Purpose.CHAT: ordered(purpose=Purpose.CHAT, state=State.SIGNED_IN)}
    assert chat(launches=signed_in) == hold("chat", "already_running")


def test_chat_cools_down_by_itself() -> None:
    assert chat(cooldowns={Purpose.CHAT: [Cooldown(NOW + 1, "crashed")]}) == hold("chat", "cooling_down")
    assert chat(cooldowns={Purpose.CHAT: [Cooldown(NOW, "crashed")]}) == hold("chat", "no_chat_work")
    assert chat(cooldowns=COOLING) == hold("chat", "no_chat_work")


@pytest.mark.pitfall("F8", "F36")
def test_chat_and_task_are_decided_independently() -> None:
    paused = tree_state(MAIN, where=project(ProjectStatus.PAUSED))
    for facts in ({"where": paused}, {"where": tree_state(stuck("main", "boss")), "blocked_tasks": 1}, {"live": LIVE}):
        assert chat(**facts) == hold("chat", "no_chat_work")
    assert decided(live=CHATTING, launches=CHAT_ORDERED) == start("13", "has_in_progress_task")


@pytest.mark.parametrize("why", ["undelivered", "delegation_waits", "invited", "my_turn", "opened_since"])
def test_chat_starts_for_what_waits_for_it_one_thing_is_enough(why: str) -> None:
    assert chat(talk=ChatState(**{why: True})) == start("chat", "has_pending_purpose")


@pytest.mark.parametrize("why", ["ending_untold", "in_conversation", "in_hand", "watched"])
def test_chat_does_not_start_for_what_can_wait_until_it_comes(why: str) -> None:
    assert chat(talk=ChatState(**{why: True})) == hold("chat", "no_chat_work")


def test_a_chat_that_is_wanted_starts_in_a_paused_project_and_not_in_an_archived_one() -> None:
    paused, archived = (
        tree_state(MAIN, where=project(status)) for status in (ProjectStatus.PAUSED, ProjectStatus.ARCHIVED)
    )
    assert chat(where=paused, talk=WANTED) == start("chat", "has_pending_purpose")
    assert chat(where=archived, talk=WANTED) == hold("chat", "project_paused")
    assert chat(where=archived, live=CHATTING) == hold("chat", "already_running")
    assert chat(project=None, talk=WANTED) == hold("chat", "project_paused")


def test_a_chat_session_that_tripped_a_guard_or_is_silent_is_stopped() -> None:
    runaway, silent = replace(CHATTING, runaway="refused_calls"), replace(CHATTING, heard_at=NOW - CHATTING.patience)
    assert chat(live=runaway, talk=WANTED) == stop("chat", "runaway")
    assert chat(live=silent, talk=WANTED) == stop("chat", "silent")
    assert chat(live=replace(CHATTING, heard_at=NOW - CHATTING.patience + 1)) == hold("chat", "already_running")
    assert chat(live=replace(CHATTING, created_at=NOW - LIMITS.run_time)) == hold("chat", "already_running")


def test_a_person_starts_a_chat_by_hand_though_nobody_else_would() -> None:
    unmanaged = snapshot(tree_state(MAIN, crew=[agent("boss", Role.MANAGER, provider=None)]), talk=WANTED)
    cooling = snapshot(talk=WANTED, cooldowns={Purpose.CHAT: [Cooldown(NOW + 1, "crashed")]})
    for each in (unmanaged, cooling):
        assert launch_rules.decide_chat(each).action is launch_rules.Action.HOLD
        assert shown(launch_rules.decide_chat(each, by_hand=True)) == start("chat", "has_pending_purpose")


def test_a_decision_about_chat_says_what_it_has_read_and_until_when() -> None:
    cooling = snapshot(
        talk=ChatState(undelivered=True, watched=True), cooldowns={Purpose.CHAT: [Cooldown(NOW + 1, "crashed")]}
    )
    assert launch_rules.decide_chat(cooling).facts == {"undelivered": True, "watched": True, "cooldown": "crashed"}
    assert launch_rules.decide_chat(cooling).until == NOW + 1
    running = launch_rules.decide_chat(snapshot(live=CHATTING))
    assert (running.facts, running.until) == ({"session_id": CHATTING.id}, None)
