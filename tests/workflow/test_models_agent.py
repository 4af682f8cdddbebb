"""Rows 1-7 and the first rows of every session, over every combination of facts about one agent in a project.

Here `workflow.md` 7 is asked of what stands around the main task: agreement between the launch decision, sign-in and
the first next action; that a stop is only said of what lives; and that whoever is to be stopped is told to leave, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from tests.domain.things import NOW, agent, at_work, cancelled, project, stuck, tree_state
from tests.workflow.scenes import JUST_NOW, LIMITS, LONG_AGO, fresh, ordered, session, snapshot
from tests.workflow.worlds import SHARES, WHOLE, Seen, some
from toryo.domain.agents import Agent, Role
from toryo.domain.launches import Purpose
from toryo.domain.projects import Project, Status
from toryo.domain.sessions import Session
from toryo.domain.tree_state import TreeState
from toryo.workflow import launch_rules, next_action
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.reasons import REASONS
from toryo.workflow.snapshot import Cooldown, Snapshot

BOSS = agent("boss", Role.MANAGER)
AGENTS: dict[str, Agent | None] = {
    "unknown": None,
    "managed": BOSS,
    "not managed": replace(BOSS, provider=None),
    "mistaken": replace(BOSS, provider_options={"permissons": "read"}),
    "just deactivated": replace(agent("boss", Role.MANAGER, active=False), deactivated_at=JUST_NOW),
    "long inactive": replace(agent("boss", Role.MANAGER, active=False), deactivated_at=LONG_AGO),
}
PROJECTS: dict[str, Project | None] = {
    "gone": None,
    "active": project(),
    "just paused": replace(project(Status.PAUSED), paused_at=JUST_NOW),
    "long paused": replace(project(Status.PAUSED), paused_at=LONG_AGO),
    "archived": replace(project(Status.ARCHIVED), paused_at=LONG_AGO),
}
MEMBERS: dict[str, tuple[bool, int | None]] = {
    "member": (True, None),
    "just removed": (False, JUST_NOW),
    "long removed": (False, LONG_AGO),
}
ROOT = cancelled("root", "hana", moved_at=LONG_AGO)
GROUNDS: dict[str, TreeState] = {
    "at work": tree_state(at_work("main", "boss")),
    "just blocked": tree_state(stuck("main", "boss", moved_at=JUST_NOW)),
    "long blocked": tree_state(stuck("main", "boss", moved_at=LONG_AGO)),
    "long somebody else's": tree_state(at_work("main", "ann", moved_at=LONG_AGO)),
    "below a closed task": tree_state(ROOT, at_work("main", "boss", below=ROOT)),
}
SESSIONS: dict[str, Session | None] = {
    "nobody is signed in": None,
    "signed in": fresh(),
    "at it": session(),
    "runaway": session(runaway="calls"),
    "too long": session(created_at=NOW - LIMITS.run_time),
    "silent": session(heard_at=NOW - LIMITS.silence),
}
COOLDOWNS = {
    "warm": None,
    "cool": Cooldown(NOW + 1, "crashed", 1),
    "cooled down": Cooldown(NOW, "crashed", 1),
}
ORDERED, TAKEN_OVER = (False, True), (False, True)
BUDGETS: dict[str, dict[str, Any]] = {
    "budget left": {},
    "the project's is used up": {"budget_used_up": True},
    "the agent's is used up": {"agent_budget_used_up": True},
    "the task's is used up": {"over_budget": {"main": "root"}},
}
"""Whose budget is used up; those of several are one of them, by the order of the rule."""


def worlds() -> Iterator[tuple[str, Snapshot]]:
    sizes: Any = product(AGENTS, PROJECTS, MEMBERS, GROUNDS, SESSIONS, COOLDOWNS, ORDERED, BUDGETS, TAKEN_OVER)
    for who, house, member, where, live, cool, is_ordered, spent, taken in sizes:
        if live != "nobody is signed in" and (is_ordered or taken):
            continue
        cooldown = COOLDOWNS[cool]
        found = snapshot(
            GROUNDS[where],
            live=SESSIONS[live],
            agent=AGENTS[who],
            project=PROJECTS[house],
            member=MEMBERS[member][0] and AGENTS[who] is not None,
            removed_at=MEMBERS[member][1],
            blocked_tasks=int("blocked" in where),
            cooldowns={} if cooldown is None else {Purpose.TASK: [cooldown]},
            launches={Purpose.TASK: ordered()} if is_ordered else {},
            **BUDGETS[spent],
            others_on={"main": "ann"} if taken else {},
        )
        yield f"{who}, {house}, {member}, {where}, {live}, {cool}, {is_ordered}, {spent}, {taken}", found


# --- exploring -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SHARES)
def explored(request: pytest.FixtureRequest) -> Seen:
    seen = Seen()
    for words, found in some(worlds(), request.param):
        seen.worlds += 1
        decision = launch_rules.decide(found)
        seen.rows[f"{decision.row}: {decision.words}"] += 1
        seen.expect("the same facts give the same decision", launch_rules.decide(found) == decision, words)
        by_hand = launch_rules.decide(found, by_hand=True)
        for each in (decision, by_hand):
            if each.action is Action.START:
                _ask_whether_it_may_work(seen, words, found, each)
        _ask_by_hand(seen, words, decision, by_hand)
        live = found.sessions.get(Purpose.TASK)
        if live is not None:
            _ask_what_the_session_is_told(seen, words, found, live, decision)
        else:
            seen.expect("a stop is said of what lives only", decision.action is not Action.STOP, words)
    return seen


def _ask_whether_it_may_work(seen: Seen, words: str, found: Snapshot, decision: Decision) -> None:
    """A start, and then sign-in: the session is bound to that main task, and is not told to leave."""
    nothing_runs = not found.launches and not found.sessions
    seen.expect("a start is said where nothing runs only", nothing_runs, words)
    seen.expect("a start names its main task", decision.task_id == "main", words)
    within = launch_rules.used_up_budget(found, decision.task_id) is None
    seen.expect("nobody is started, by hand or not, whose work has no budget left", within, words)
    signed_in = replace(found, sessions={Purpose.TASK: fresh()})
    first = next_action.decide(signed_in, fresh())
    seen.expect("whoever is started reports its model first", first.action == "report_model", words, first.action)
    known = session(fetched_at=None)
    then = next_action.decide(replace(found, sessions={Purpose.TASK: known}), known)
    seen.expect("whoever is started is not told to leave", then.action == "get_task", words, then.action)
    after = launch_rules.decide(signed_in)
    goes_on = after.reason == "already_running"
    seen.expect("whoever is started and signed in is left running", goes_on, words, after.reason)


def _ask_by_hand(seen: Seen, words: str, decision: Decision, by_hand: Decision) -> None:
    same = (decision.action, decision.reason, decision.task_id) == (by_hand.action, by_hand.reason, by_hand.task_id)
    excused = REASONS[decision.reason].by_hand
    seen.expect("a start by hand is refused for the same reasons but a few", same or excused, words, by_hand.reason)


TOLD = {"agent_not_assigned": "agent_inactive"}
"""Reasons that a session is told in other words."""


def _further_causes(found: Snapshot, live: Session) -> list[str]:
    """Of several causes the two tables name different ones first."""
    tripped = launch_rules.tripped(found, live)
    causes = {
        "agent_inactive": launch_rules.inactive(found) or launch_rules.not_member(found),
        tripped or "": tripped is not None,
    }
    return [cause for cause, holds in causes.items() if holds]


def _ask_what_the_session_is_told(seen: Seen, words: str, found: Snapshot, live: Session, decision: Decision) -> None:
    step = next_action.decide(found, live)
    seen.rows[f"{step.row}: {step.words}"] += 1
    seen.expect("who is signed in is not started again", decision.action is not Action.START, words)
    known = replace(live, model_id="a-model")
    told = next_action.decide(found, known)
    if decision.action is Action.STOP and decision.reason != "silent":
        seen.expect("who is to be stopped is told to leave", told.action == "exit", words, told.action)
        for_same = told.reason in (TOLD.get(decision.reason, decision.reason), *_further_causes(found, known))
        seen.expect("and for a cause that is true", for_same, words, decision.reason, told.reason)
    if decision.reason == "already_running":
        within = launch_rules.used_up_budget(found, live.task_id) is None
        seen.expect("nobody goes on whose work has no budget left", within, words)
        stays = told.action not in ("exit", "get_notifications")
        seen.expect("who runs rightly is not told to leave", stays, words, told.reason)
    interrupted = next_action.decide(replace(found, interrupt_waiting=True), known)
    seen.rows[f"{interrupted.row}: {interrupted.words}"] += 1
    over = next_action.decide(found, replace(live, ended_at=NOW))
    seen.rows[f"{over.row}: {over.words}"] += 1
    seen.expect("who is over leaves", over.reason == "session_over", words)


# --- the promises ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "promise",
    [
        "the same facts give the same decision",
        "a stop is said of what lives only",
        "a start is said where nothing runs only",
        "a start names its main task",
        "whoever is started reports its model first",
        "whoever is started is not told to leave",
        "whoever is started and signed in is left running",
        "a start by hand is refused for the same reasons but a few",
        "who is signed in is not started again",
        "who is to be stopped is told to leave",
        "who runs rightly is not told to leave",
        "and for a cause that is true",
        "who is over leaves",
        "nobody is started, by hand or not, whose work has no budget left",
        "nobody goes on whose work has no budget left",
    ],
)
def test_in_every_small_world_of_an_agent(explored: Seen, promise: str) -> None:
    assert explored.broken(promise) == []


@WHOLE
def test_every_row_about_an_agent_is_the_first_match_of_some_world(explored: Seen) -> None:
    rows = [f"{rule.row}: {rule.words}" for rule in (*launch_rules.AGENT_ROWS, launch_rules.OTHERWISE_ROWS[-1])]
    rows += [f"{rule.row}: {rule.words}" for rule in next_action.FIRST_ROWS]
    rows += [f"{rule.row}: {rule.words}" for rule in launch_rules.MAIN_TASK_ROWS if rule.row in ("7a", "13")]
    assert [each for each in rows if not explored.rows[each]] == []


@WHOLE
def test_the_exploration_is_as_wide_as_it_says(explored: Seen) -> None:
    assert explored.worlds > 10_000
