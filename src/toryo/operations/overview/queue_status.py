"""The state of the work queue: what runs, what could run, what holds the rest, and what would release it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from typing_extensions import TypedDict

from toryo.domain import moves, task_readiness
from toryo.domain.launches import Purpose
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import Status, Task
from toryo.domain.times import Millis, iso
from toryo.domain.tree_state import TreeState
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls.schemas import StatusName
from toryo.operations.overview.home_state import Picture, Place
from toryo.operations.overview.team_status import Member

MOST = 50
_SHOWN = 3
Why = Callable[[], "HeldBy"]
"""By what a task is held, in words: asked for those that are shown."""


class HeldBy(TypedDict):
    """`reason` is one word; the rest are sentences."""

    reason: str
    explanation: str
    released_by: str


class Held(HeldBy):
    task_id: str
    title: str
    project_id: str
    status: StatusName
    assignee_id: str | None


class QueueStatus(TypedDict):
    """Main tasks in progress, and tasks in `todo`. `ready`: nothing blocks them; `waiting`: for subordinates, for an
    answer, or for a person whose task it is. `held` lists the most important ones.
    """

    running: int
    ready: int
    waiting: int
    held_in_all: int
    held: list[Held]


def truth(picture: Picture, team: list[Member]) -> QueueStatus:
    """`team` are the members of the same picture: they know why agents do not run."""
    counts = {"running": picture.unread.total(), "ready": 0, "waiting": 0}
    held: list[tuple[Task, Why]] = []
    doing: dict[Place, Member] = {(each["agent_id"], each["project_id"]): each for each in team}
    for task in picture.open.values():
        found = _judged(picture, task, doing)
        if isinstance(found, str):
            counts[found] += 1
        elif found is not None:
            held.append((task, found))
    held.sort(key=lambda each: each[0].order)
    return {
        "running": counts["running"],
        "ready": counts["ready"],
        "waiting": counts["waiting"],
        "held_in_all": len(held),
        "held": [_shown(task, why()) for task, why in held[:MOST]],
    }


def _shown(task: Task, why: HeldBy) -> Held:
    return {
        "task_id": task.id,
        "title": task.title,
        "project_id": task.project_id,
        "status": task.status.value,
        "assignee_id": task.assignee_id,
        **why,
    }


def _judged(picture: Picture, task: Task, doing: Mapping[Place, Member]) -> str | Why | None:
    """The count it belongs to, or by what it is held; None: it belongs to another task that is told."""
    tree_state = picture.tree_states[task.project_id]
    if task.status is Status.BLOCKED:
        return partial(_blocked, picture, task) if task.blocked_cause is None else None
    if task.status in (Status.TODO, Status.BACKLOG):  # of drafts, those that wait for an approval
        return _to_do(picture, tree_state, task)
    if task.id in picture.claims:
        return "running"
    return _in_progress(picture, tree_state, task, doing) if tree_state.tree.is_main(task) else None


def _blocked(picture: Picture, task: Task) -> HeldBy:
    by = picture.agents.get(task.blocked_by or "")
    return {
        "reason": "blocked",
        "explanation": task.blocked_reason or constant("No reason was given."),
        "released_by": say(
            "{who}, a person, or someone above the assignee must unblock it.",
            who=by.name if by is not None else task.blocked_by or constant("The member that blocked it"),
        ),
    }


def _to_do(picture: Picture, tree_state: TreeState, task: Task) -> str | Why:
    for_queue = {StartBlocker.UNASSIGNED} if task.for_queue else set()
    hindrance = next(
        (blocker for blocker in task_readiness.hindrances(tree_state, task) if blocker not in for_queue), None
    )
    if hindrance is not None:
        return partial(_hindered, picture, tree_state, task, hindrance)
    if task.for_queue and task.not_before is not None and task.not_before > picture.now:
        return partial(_resting, task.not_before)
    if task.for_queue and task.agent_type not in tree_state.served:
        return partial(_unserved, task.agent_type or "")
    return "ready"


def _hindered(picture: Picture, tree_state: TreeState, task: Task, hindrance: StartBlocker) -> HeldBy:
    return {
        "reason": hindrance.value,
        "explanation": moves.refusal_to_start(tree_state, task, hindrance).message,
        "released_by": _RELEASED_BY[hindrance](picture, tree_state, task),
    }


def _resting(until: Millis) -> HeldBy:
    said = constant("The last attempt was lost. The next one starts after a pause.")
    return {
        "reason": "resting",
        "explanation": said,
        "released_by": say("It continues automatically at {time}.", time=iso(until)),
    }


def _unserved(agent_type: str) -> HeldBy:
    return {
        "reason": "no_agent_for_queue",
        "explanation": say("No agent serves the queue {queue}.", queue=agent_type),
        "released_by": say("Start an agent that serves {queue}, or have one poll it.", queue=agent_type),
    }


def _in_progress(picture: Picture, tree_state: TreeState, task: Task, doing: Mapping[Place, Member]) -> str | Why:
    member = doing.get((task.assignee_id or "", task.project_id))
    if member is None:
        return partial(_hindered, picture, tree_state, task, StartBlocker.ASSIGNEE_NOT_ACTIVE)
    session = picture.sessions.get((task.assignee_id or "", task.project_id), {}).get(Purpose.TASK)
    if session is not None:
        return "running" if session.task_id == task.id else "waiting"
    if member["kind"] == "human" or member["state"] == "starting":
        return "waiting" if member["kind"] == "human" else "ready"
    if member["state"] == "waiting":
        return "waiting" if str(member["reason"]).startswith("waiting_for") else "ready"
    return partial(_by_member, member)


def _by_member(member: Mapping[str, Any]) -> HeldBy:
    """Its agent does not run: as the strip says."""
    reason = str(member["reason"] or member["state"])
    explanation = member["explanation"] or constant("No one is working on it.")
    return {"reason": reason, "explanation": explanation, "released_by": _by_agent(reason, member["until"])}


def _by_agent(reason: str, until: str | None) -> Worded:
    if until is not None:
        return say("It continues automatically at {time}, or earlier if a person acts as described.", time=until)
    return constant(OF_AGENTS.get(reason, "A person must act as described. Details: toryo why ID"))


OF_AGENTS = {
    "project_paused": "Resume the project.",
    "agent_inactive": "Activate the agent, or assign the task to another one.",
    "agent_not_assigned": "Add the agent to the project, or assign the task to another one.",
    "bad_options": "Correct the options of its agent (toryo agent show ID names the mistakes).",
    "not_managed": "Start its process by hand, or give the agent a provider.",
    "handled_blocked": "Unblock its blocked subtasks.",
    "handing_over": "The session of the other agent must end.",
    "has_in_progress_task": "A Coordinator must start its agent.",
    "no_in_progress_task": "Its agent continues as soon as it is started.",
}


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


_RELEASED_BY: dict[StartBlocker, Callable[[Picture, TreeState, Task], Worded]] = {
    StartBlocker.ANCESTOR_CLOSED: _closed,
    StartBlocker.PROJECT_NOT_ACTIVE: lambda *_: constant("Resume the project."),
    StartBlocker.NOT_APPROVED: lambda *_: constant("A person above its assignee must approve it."),
    StartBlocker.DEPENDENCY: _dependencies,
    StartBlocker.UNASSIGNED: lambda *_: constant("Assign it to an agent or to a queue."),
    StartBlocker.ASSIGNEE_NOT_ACTIVE: lambda *_: constant(
        "Activate its assignee or add it to the project, or assign another agent."
    ),
    StartBlocker.PARALLEL_LIMIT: _room,
}


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
