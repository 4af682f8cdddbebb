"""Snapshots to try the decision tables on: the smallest ones, from the crew and the trees of `tests.domain.things`.

A scene is one agent in one project at one moment; nothing is loaded and no clock is asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.domain.things import NOW, at_work, tree_state
from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.sessions import Session
from toryo.domain.tasks import Task, Wait
from toryo.domain.tree_state import TreeState
from toryo.workflow import launch_rules, next_action
from toryo.workflow.guard_limits import Limits
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.snapshot import News, RuleInput, Snapshot
from toryo.workflow.step import Step

LIMITS = Limits()
LONG_AGO = NOW - 1_000_000
JUST_NOW = NOW - 1_000
WAITS = Wait("workers", JUST_NOW, 5)

MAIN = at_work("main", "boss", by="hana")
"""boss's main task."""
JOB = at_work("job", "ann", by="boss")
"""ann's main task, given to her."""


def waiting(main: Task = MAIN, kind: str = "workers", **fields: Any) -> Task:
    """The main task after its owner has left to wait."""
    return replace(main, wait=Wait(kind, JUST_NOW, 5), look_event=4, **fields)


def session(who: str = "boss", task_id: str | None = "main", **fields: Any) -> Session:
    """A live task session that has reported its model and fetched its task."""
    given: dict[str, Any] = {
        "id": f"ses_{who}",
        "agent_id": who,
        "project_id": "prj",
        "purpose": Purpose.TASK,
        "task_id": task_id,
        "launch_id": f"lau_{who}",
        "fence": 1,
        "lease_seconds": 90,
        "expires_at": NOW + 90_000,
        "created_at": JUST_NOW,
        "last_call_at": JUST_NOW,
        "heard_at": JUST_NOW,
        "patience": LIMITS.silence,
        "model_id": "a-model",
        "fetched_at": JUST_NOW,
    }
    return Session(**{**given, **fields})


def fresh(who: str = "boss", task_id: str | None = "main") -> Session:
    """A session that has just signed in."""
    return session(who, task_id, model_id=None, fetched_at=None)


def ordered(who: str = "boss", purpose: Purpose = Purpose.TASK, state: State = State.ORDERED) -> Launch:
    return Launch(
        id=f"lau_{who}",
        agent_id=who,
        project_id="prj",
        purpose=purpose,
        task_id="main",
        reason="has_in_progress_task",
        fence=1,
        state=state,
        provider="playbook",
        model=None,
        coordinator_id="one",
        ordered_at=JUST_NOW,
        deadline=NOW + 60_000,
    )


def snapshot(
    where: TreeState | None = None, who: str = "boss", *, live: Session | None = None, **facts: Any
) -> Snapshot:
    """How things stand for an agent; `live` is its task session."""
    where = where or tree_state(MAIN)
    given: dict[str, Any] = {
        "now": NOW,
        "agent_id": who,
        "project_id": "prj",
        "agent": where.agents.get(who),
        "project": where.project,
        "member": who in where.members,
        "limits": LIMITS,
        "tree_states": (where,),
        "sessions": {} if live is None else {live.purpose: live},
    }
    return Snapshot(**{**given, **facts})


def decided(where: TreeState | None = None, who: str = "boss", **facts: Any) -> tuple[str, str, str]:
    """Row, action and reason of the launch decision."""
    return shown(launch_rules.decide(snapshot(where, who, **facts)))


def shown(decision: Decision) -> tuple[str, str, str]:
    return decision.row, decision.action.value, decision.reason


def start(row: str, reason: str) -> tuple[str, str, str]:
    return row, Action.START.value, reason


def hold(row: str, reason: str) -> tuple[str, str, str]:
    return row, Action.HOLD.value, reason


def stop(row: str, reason: str) -> tuple[str, str, str]:
    return row, Action.STOP.value, reason


def news(kind: str, task_id: str, main: str = "main") -> dict[str, tuple[News, ...]]:
    return {main: (News(kind, task_id),)}


def told(where: TreeState, who: str = "boss", asking: Session | None = None, **facts: Any) -> Step:
    """The next action of a session (default: signed in, model reported, task fetched)."""
    asking = asking or session(who, "main" if who == "boss" else "job")
    return next_action.decide(snapshot(where, who, live=asking, **facts), asking)


def case(where: TreeState, who: str = "boss", main: str | None = None, **facts: Any) -> RuleInput:
    """A main task as its owner stands before it, the task fetched."""
    name = main or ("main" if who == "boss" else "job")
    return RuleInput(snapshot(where, who, **facts), where, where.tree.tasks[name], None, fetched=True)
