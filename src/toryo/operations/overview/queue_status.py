"""The state of the work queue: what runs, what could run, what holds the rest, and what would release it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from typing_extensions import TypedDict

from toryo.block_reasons import in_words
from toryo.domain import moves, task_readiness
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import Status, Task
from toryo.domain.times import Millis, iso, iso_or_none
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls.schemas import StatusName
from toryo.operations.launches import reason_texts
from toryo.operations.overview.home_state import Picture, Place
from toryo.operations.overview.quota_waits import QuotaWaits, Wait, about_used_up
from toryo.operations.overview.team_status import Member
from toryo.operations.overview.unplaced import Unplaced
from toryo.workflow import reasons
from toryo.workflow.reasons import REASONS

MOST = 50
_SHOWN = 3
Why = Callable[[], "HeldBy"]
"""By what a task is held, in words: asked for those that are shown."""


class HeldBy(TypedDict):
    """`reason` is one word; the rest are sentences. `until`: when it continues by itself, if that is known."""

    reason: str
    explanation: str
    released_by: str
    until: str | None


class Held(HeldBy):
    task_id: str
    title: str
    project_id: str
    status: StatusName
    assignee_id: str | None


class QueueStatus(TypedDict):
    """Main tasks in progress, and tasks in `todo`. `ready`: nothing blocks them; `waiting`: for subordinates, for an
    answer, or for a person whose task it is. `held` lists the most important ones.

    Of those that are ready, `to_start` are left to a person to start. Of those that are held, `stopped` do not go on by
    themselves, and `timed` go on at a known time, the first of them at `next_at`.
    """

    running: int
    ready: int
    waiting: int
    held_in_all: int
    held: list[Held]
    to_start: int
    stopped: int
    timed: int
    next_at: str | None


class _Hold(NamedTuple):
    """`until`: when it ends by itself, as ISO 8601."""

    reason: str
    why: Why
    until: str | None = None

    @property
    def stopped(self) -> bool:
        return self.until is None and not reasons.moves_by_itself(self.reason)


@dataclass(frozen=True, slots=True)
class _Look:
    """What is known of agents: `doing` why they do not run; `cannot_start` what no Coordinator can start, with why."""

    picture: Picture
    doing: Mapping[Place, Member]
    cannot_start: Mapping[str, str]
    waits: QuotaWaits


def truth(picture: Picture, team: list[Member], unplaced: Iterable[Unplaced] = ()) -> QueueStatus:
    """`team` are the members of the same picture: they know why agents do not run."""
    counts = {"running": picture.unread.total(), "ready": 0, "waiting": 0, "to_start": 0}
    held: list[tuple[Task, _Hold]] = []
    doing: dict[Place, Member] = {(each["agent_id"], each["project_id"]): each for each in team}
    cannot_start = {task.id: each.obstacle.code for each in unplaced for task in each.tasks}
    look = _Look(picture, doing, cannot_start, QuotaWaits(picture))
    for task in picture.open.values():
        found = _judged(look, task)
        if isinstance(found, str):
            counts[found] += 1
            counts["to_start"] += found == "ready" and _left_to_people(picture, task)
        elif found is not None:
            held.append((task, found))
    held.sort(key=lambda each: each[0].order)
    ends = [hold.until for _, hold in held if hold.until is not None]
    return {
        "running": counts["running"],
        "ready": counts["ready"],
        "waiting": counts["waiting"],
        "held_in_all": len(held),
        "held": [_as_answer(task, hold.why()) for task, hold in held[:MOST]],
        "to_start": counts["to_start"],
        "stopped": sum(hold.stopped for _, hold in held),
        "timed": len(ends),
        "next_at": min(ends, default=None),
    }


def _left_to_people(picture: Picture, task: Task) -> bool:
    """Whether it is started by a person: and not by an agent of a queue or of the task above."""
    if task.status is not Status.TODO or task.for_queue:
        return False
    above = picture.tree_states[task.project_id].tree.ancestors(task)
    return not any(each.in_progress for each in above)


def _as_answer(task: Task, why: HeldBy) -> Held:
    return {
        "task_id": task.id,
        "title": task.title,
        "project_id": task.project_id,
        "status": task.status.value,
        "assignee_id": task.assignee_id,
        **why,
    }


def _judged(look: _Look, task: Task) -> str | _Hold | None:
    """The count it belongs to, or by what it is held; None: it belongs to another task that is told."""
    picture = look.picture
    tree_state = picture.tree_states[task.project_id]
    if task.status is Status.BLOCKED:
        return _Hold("blocked", partial(_blocked, picture, task)) if task.blocked_cause is None else None
    if task.status in (Status.TODO, Status.BACKLOG):  # of drafts, those that wait for an approval
        return _to_do(look, tree_state, task)
    if task.id in picture.claims:
        return "running"
    return _in_progress(look, tree_state, task) if tree_state.tree.is_main(task) else None


def _blocked(picture: Picture, task: Task) -> HeldBy:
    by = picture.agents.get(task.blocked_by or "")
    return {
        "reason": "blocked",
        "explanation": constant(in_words(task.blocked_reason or "No reason was given.")),
        "released_by": say(
            "{who}, a person, or someone above the assignee must unblock it.",
            who=by.name if by is not None else task.blocked_by or constant("The member that blocked it"),
        ),
        "until": None,
    }


def _to_do(look: _Look, tree_state: TreeState, task: Task) -> str | _Hold:
    picture = look.picture
    for_queue = {StartBlocker.UNASSIGNED} if task.for_queue else set()
    hindrance = next(
        (blocker for blocker in task_readiness.hindrances(tree_state, task) if blocker not in for_queue), None
    )
    if hindrance is not None:
        return _hindrance(picture, tree_state, task, hindrance)
    if task.for_queue and task.not_before is not None and task.not_before > picture.now:
        return _Hold("resting", partial(_resting, task.not_before), iso(task.not_before))
    if task.for_queue and task.agent_type not in tree_state.served:
        return _Hold("no_agent_for_queue", partial(_unserved, task.agent_type or ""))
    wait = look.waits.of_queue_task(task) if task.for_queue else None
    return "ready" if wait is None else _of_quota(wait)


def _of_quota(wait: Wait) -> _Hold:
    return _Hold(wait.reason, partial(_not_started, wait), iso(wait.until))


def _not_started(wait: Wait) -> HeldBy:
    """No agent is started for it, because of an account or a budget."""
    if wait.reason != "cooling_down":
        explanation = reason_texts.sentence(wait.reason, commands=False)
    elif wait.accounts:
        explanation = about_used_up(wait.accounts)
    else:
        explanation = constant("The agents of its queue are in cooldown after a failure.")
    return {
        "reason": wait.reason,
        "explanation": explanation,
        "released_by": constant(REASONS[wait.reason].sooner),
        "until": iso(wait.until),
    }


def _hindrance(picture: Picture, tree_state: TreeState, task: Task, hindrance: StartBlocker) -> _Hold:
    until = iso_or_none(task.not_before) if hindrance is StartBlocker.NOT_BEFORE else None
    return _Hold(hindrance.value, partial(_hindered, picture, tree_state, task, hindrance, until), until)


def _hindered(
    picture: Picture, tree_state: TreeState, task: Task, hindrance: StartBlocker, until: str | None
) -> HeldBy:
    by_facts = _BY_FACTS.get(hindrance)
    return {
        "reason": hindrance.value,
        "explanation": moves.refusal_to_start(tree_state, task, hindrance).message,
        "released_by": by_facts(picture, tree_state, task) if by_facts else constant(REASONS[hindrance].released_by),
        "until": until,
    }


def _resting(until: Millis) -> HeldBy:
    return {
        "reason": "resting",
        "explanation": reason_texts.sentence("resting", commands=False),
        "released_by": constant(REASONS["resting"].sooner),
        "until": iso(until),
    }


def _unserved(agent_type: str) -> HeldBy:
    return {
        "reason": "no_agent_for_queue",
        "explanation": say(REASONS["no_agent_for_queue"].words, queue=agent_type),
        "released_by": say(REASONS["no_agent_for_queue"].released_by, queue=agent_type),
        "until": None,
    }


def _in_progress(look: _Look, tree_state: TreeState, task: Task) -> str | _Hold:
    picture = look.picture
    member = look.doing.get((task.assignee_id or "", task.project_id))
    if member is None:
        return _hindrance(picture, tree_state, task, StartBlocker.ASSIGNEE_NOT_ACTIVE)
    if task.id in picture.unchecked:
        return _Hold("none", partial(_unchecked, picture, picture.unchecked[task.id]))
    session = picture.sessions.get((task.assignee_id or "", task.project_id), {}).get(Purpose.TASK)
    if session is not None:
        return "running" if session.task_id == task.id else "waiting"
    if member["kind"] == "human" or member["state"] == "starting":
        return "waiting" if member["kind"] == "human" else "ready"
    cannot = look.cannot_start.get(task.id)
    wait = look.waits.of_main_task((task.assignee_id or "", task.project_id), task)
    if wait is not None and wait.reason != "cooling_down":
        return _of_quota(wait)
    if member["state"] == "waiting" and cannot is None:
        return "waiting" if str(member["reason"]).startswith("waiting_for") else "ready"
    reason = cannot or str(member["reason"] or member["state"])
    return _Hold(reason, partial(_by_member, member, reason), member["until"])


def _unchecked(picture: Picture, keeper: str | None) -> HeldBy:
    return {
        "reason": "none",
        "explanation": picture.why_unchecked(keeper),
        "released_by": _by_agent("none", None),
        "until": None,
    }


def _by_member(member: Mapping[str, Any], reason: str) -> HeldBy:
    """Its agent does not run: as the strip says."""
    explanation = member["explanation"] or constant("No one is working on it.")
    released_by, until = _by_agent(reason, member["until"]), member["until"]
    return {"reason": reason, "explanation": explanation, "released_by": released_by, "until": until}


def _by_agent(reason: str, until: str | None) -> Worded:
    if until is not None:
        return constant("It continues automatically, or earlier if a person acts as described.")
    return constant(REASONS[reason].released_by)


# --- what releases a task to do --------------------------------------------------------------------------------------


def _dependencies(_: Picture, tree_state: TreeState, task: Task) -> Worded:
    waiting = tree_state.tree.open_dependencies(task)
    names = together(
        (say("“{title}” ({status})", title=each.title, status=each.status) for each in waiting[:_SHOWN]), ", "
    )
    if len(waiting) <= _SHOWN:
        return say("{names} must be completed.", names=names)
    return say("{names} and {more} more must be completed.", names=names, more=len(waiting) - _SHOWN)


def _room(picture: Picture, tree_state: TreeState, task: Task) -> Worded:
    busy = tree_state.busy.get(task.assignee_id or "", frozenset())
    known = sorted(each for each in busy if each in picture.tasks)
    names = together((say("“{title}”", title=picture.tasks[each].title) for each in known[:_SHOWN]), ", ")
    return say("Wait until {names} ends, or assign another agent.", names=names)


def _closed(_: Picture, tree_state: TreeState, task: Task) -> Worded:
    above = next(ancestor for ancestor in tree_state.tree.ancestors(task) if ancestor.closed)
    return say("Retry “{title}”.", title=above.title)


_BY_FACTS: dict[StartBlocker, Callable[[Picture, TreeState, Task], Worded]] = {
    StartBlocker.ANCESTOR_CLOSED: _closed,
    StartBlocker.DEPENDENCY: _dependencies,
    StartBlocker.PARALLEL_LIMIT: _room,
}
"""What names other tasks; the rest is in `workflow/reasons.py`."""


# --- what waits for what ---------------------------------------------------------------------------------------------


def behind(picture: Picture) -> Callable[[Iterable[str]], int]:
    """How many other open tasks cannot go on before these do."""
    waiters = cache(partial(_waiters, picture))

    def count(task_ids: Iterable[str]) -> int:
        asked = set(task_ids)
        seen, ahead = set(asked), list(asked)
        while ahead:
            new = {waiter for other in ahead for waiter in waiters().get(other, ())} - seen
            seen |= new
            ahead = list(new)
        return sum(each in picture.open for each in seen - asked)

    return count


def _waiters(picture: Picture) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for task in picture.open.values():
        for other in _waits_for(picture, task):
            found.setdefault(other, []).append(task.id)
    return found


def _waits_for(picture: Picture, task: Task) -> Iterator[str]:
    """What it depends on, what its block comes from; and the other way round, it holds up what it is a part of."""
    yield from picture.unmet.get(task.id, ())
    if task.blocked_cause is not None:
        yield task.blocked_cause
    yield from picture.children.get(task.id, ())
