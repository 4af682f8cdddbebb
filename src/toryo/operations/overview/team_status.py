"""Team status: for each agent in each project its current work by the latest evidence, or why it is idle.

For running agents it comes from the session, for others from the launch decision on a picture. Agents that left to wait
need all tasks below theirs: the few that wait longest are decided in full, for the others the last decision is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Literal

from typing_extensions import TypedDict

from toryo.domain.agents import Role
from toryo.domain.budgets import Whose
from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.projects import Isolation
from toryo.domain.sessions import Session
from toryo.domain.tasks import Task
from toryo.domain.times import iso, iso_or_none
from toryo.domain.wording import constant
from toryo.operations.calls import fault_isolation, rendering, schemas
from toryo.operations.launches import placement, reason_texts
from toryo.operations.overview import agent_diagnosis
from toryo.operations.overview.home_state import Picture, Place
from toryo.workflow import launch_rules
from toryo.workflow.launch_rules import Action
from toryo.workflow.snapshot import Snapshot

IN_FULL = 8
"""How many waiting agents are diagnosed in full; limits the cost of the overview."""

Doing = Literal["working", "talking", "starting", "stopping", "waiting", "cooling_down", "held", "idle", "off"]

OFF = frozenset({"project_paused", "agent_inactive", "agent_not_assigned", "not_managed", "bad_options"})
STOPPED = frozenset({"blocked_without_in_progress", *Whose, "handled_blocked", "handing_over"})


class Member(TypedDict):
    """One agent in one project. `action` is the next action it was told last, `step` the same in words; `reason` and
    `explanation` say why it does not run. `doing`: the newest sign of its program."""

    agent_id: str
    name: str
    role: Literal["owner", "manager", "worker"]
    kind: Literal["ai", "human"]
    project_id: str
    provider: str | None
    model: str | None
    state: Doing
    purpose: Literal["task", "chat"] | None
    task_id: str | None
    task_title: str | None
    action: str | None
    step: str | None
    last_call_at: str | None
    doing: schemas.Doing | None
    started_at: str | None
    lease_until: str | None
    tokens: int | None
    cost_usd: float | None
    launch_id: str | None
    reason: str | None
    explanation: str | None
    until: str | None


def members(picture: Picture) -> list[Member]:
    """Everybody, in the order in which they came."""
    launches = [each.id for pair in picture.launches.values() for each in pair.values()]
    used = picture.call.tx.glances.used(launches) if launches else {}
    waiting = _waiting(picture)
    in_full, last = frozenset(waiting[:IN_FULL]), _last(picture, waiting[IN_FULL:])

    def member(place: Place) -> Member:
        tell = partial(_member, picture, place, used, in_full, last)
        lost: Member = {**_nothing_yet(picture, place), "state": "held", **_words(fault_isolation.REASON)}
        return fault_isolation.fenced(picture.call, "show_overview", tell, lost, agent_id=place[0], project_id=place[1])

    return [member(each) for each in picture.places]


def _waiting(picture: Picture) -> list[Place]:
    """Agents without a process about which a picture does not say enough, the longest waiting first."""
    idle = [
        (min(task.moved_at for task in tasks), place)
        for place, tasks in picture.main_tasks.items()
        if not _has_process(picture, place) and any(_needs_more(picture, place, task) for task in tasks)
    ]
    return [place for _, place in sorted(idle)]


def _has_process(picture: Picture, place: Place) -> bool:
    by_hand = not picture.agents[place[0]].managed
    return by_hand or any(Purpose.TASK in each.get(place, {}) for each in (picture.sessions, picture.launches))


def _needs_more(picture: Picture, place: Place, task: Task) -> bool:
    """Whether what stands below it, what is new there, or its files may keep a main task from being started."""
    if task.wait is not None or picture.projects[place[1]].settings.isolation is not Isolation.NONE:
        return True
    manages = picture.agents[place[0]].role is Role.MANAGER
    return not manages and (task.id in picture.children or task.id in picture.awaited)


def _last(picture: Picture, places: Iterable[Place]) -> dict[Place, str]:
    """The reasons that were recorded last."""
    agents = {each for each, _ in places}
    said = picture.call.tx.glances.said(agents) if agents else {}
    return {place: words.split(" ")[1] for place, (words, _) in said.items()}


def _member(
    picture: Picture,
    place: Place,
    used: dict[str, tuple[int, float | None]],
    in_full: frozenset[Place],
    last: dict[Place, str],
) -> Member:
    agent, shown = picture.agents[place[0]], _nothing_yet(picture, place)
    if agent.human:
        return _person(picture, place, shown)
    live = picture.sessions.get(place, {})
    session = live.get(Purpose.TASK) or live.get(Purpose.CHAT)
    if session is not None:
        return _signed_in(picture, place, shown, session, used)
    ordered = [each for each in picture.launches.get(place, {}).values() if each.state is State.ORDERED]
    if ordered:
        return _starting(picture, shown, ordered[0])
    if not agent.managed and agent.id in picture.online:
        return _polling(picture, place, shown)
    return _not_running(picture, place, shown, in_full, last)


def _nothing_yet(picture: Picture, place: Place) -> Member:
    """Who it is; and nothing yet of what it does."""
    agent = picture.agents[place[0]]
    return {
        "agent_id": agent.id,
        "name": agent.name,
        "role": agent.role.value,
        "kind": agent.kind.value,
        "project_id": place[1],
        "provider": agent.provider,
        "model": agent.model,
        "state": "idle",
        "purpose": None,
        "task_id": None,
        "task_title": None,
        "action": None,
        "step": None,
        "last_call_at": None,
        "doing": None,
        "started_at": None,
        "lease_until": None,
        "tokens": None,
        "cost_usd": None,
        "launch_id": None,
        "reason": None,
        "explanation": None,
        "until": None,
    }


class _OfTask(TypedDict):
    task_id: str | None
    task_title: str | None


def _task(picture: Picture, task_id: str | None) -> _OfTask:
    task = picture.tasks.get(task_id or "")
    return {"task_id": task_id, "task_title": task.title if task is not None else None}


def _person(picture: Picture, place: Place, shown: Member) -> Member:
    """A person works when they say so: with a task in progress."""
    if not picture.agents[place[0]].active:
        why = constant("This person is inactive.")
        return {**shown, "state": "off", "reason": "agent_inactive", "explanation": why}
    tasks = picture.main_tasks.get(place)
    if not tasks:
        return shown
    first = _task(picture, tasks[0].id)
    return {**shown, "state": "working", "purpose": "task", "started_at": iso(tasks[0].moved_at), **first}


def _signed_in(
    picture: Picture, place: Place, shown: Member, session: Session, used: dict[str, tuple[int, float | None]]
) -> Member:
    works = session.purpose is Purpose.TASK
    decide = launch_rules.decide if works else launch_rules.decide_chat
    decision = decide(picture.snapshot(place))
    stops = decision.action is Action.STOP
    leaving = _leaves_until(picture.snapshot(place), decision.reason) if works and not stops else None
    tokens, cost = used.get(session.launch_id, (None, None))
    action = session.told.split(" ")[0] if session.told else None
    launch = picture.launches.get(place, {}).get(session.purpose)
    found: Member = {
        **shown,
        "state": "stopping" if stops or leaving else "working" if works else "talking",
        "purpose": session.purpose.value,
        **_task(picture, session.task_id),
        "model": session.model_id or (launch.model if launch is not None else None) or shown["model"],
        "action": action,
        "step": reason_texts.step(action),
        "last_call_at": iso(session.last_call_at),
        "doing": rendering.doing(launch),
        "started_at": iso(session.created_at),
        "lease_until": iso(session.expires_at),
        "tokens": tokens,
        "cost_usd": cost,
        "launch_id": session.launch_id,
        "reason": decision.reason if stops else None,
        "explanation": reason_texts.explanation(decision, place[0], commands=False) if stops else None,
    }
    return {**found, **leaving} if leaving is not None else found


class _Leaving(TypedDict):
    reason: str
    explanation: str
    until: str


def _leaves_until(s: Snapshot, reason: str) -> _Leaving | None:
    """Of a session whose work is over: why, and when its process is ended at the latest."""
    withdrawn = launch_rules.withdrawn_from(s)
    if reason == "project_paused" and s.project is not None:
        return {**_words(reason), "until": iso((s.project.paused_at or s.now) + s.limits.pause_grace)}
    if withdrawn is None:
        return None
    return {**_words("task_withdrawn"), "until": iso(withdrawn[1] + s.limits.stop_grace)}


def _starting(picture: Picture, shown: Member, launch: Launch) -> Member:
    return {
        **shown,
        "state": "starting",
        "purpose": launch.purpose.value,
        **_task(picture, launch.task_id),
        "model": launch.model,
        "started_at": iso(launch.ordered_at),
        "launch_id": launch.id,
        "doing": rendering.doing(launch),
        **_words("start_pending"),
        "until": iso(launch.deadline),
    }


def _polling(picture: Picture, place: Place, shown: Member) -> Member:
    """An agent that runs by itself and asks for tasks of a queue."""
    held = picture.held.get((place[0], picture.online[place[0]].project_id))
    seen: Member = {**shown, "last_call_at": iso(picture.online[place[0]].seen_at)}
    claim = picture.claims.get(held.task_id) if held is not None else None
    if claim is None:
        return seen
    return {
        **seen,
        "state": "working",
        "purpose": "task",
        **_task(picture, claim.task_id),
        "started_at": iso(claim.claimed_at),
        "lease_until": iso(claim.expires_at),
    }


def _not_running(
    picture: Picture, place: Place, shown: Member, in_full: frozenset[Place], last: dict[Place, str]
) -> Member:
    tasks = picture.main_tasks.get(place, [])
    first = _task(picture, tasks[0].id if tasks else None)
    if place in in_full:
        told = agent_diagnosis.diagnosis(picture.call, *place, Purpose.TASK)
        hindered = {"no_coordinator", "held"} & set(told["facts"])
        return {
            **shown,
            **_task(picture, told["task_id"] or first["task_id"]),
            "state": "held" if hindered else state_of(told["action"], told["reason"]),
            "reason": told["reason"],
            "explanation": told["summary"],
            "until": told["until"],
        }
    snapshot = picture.snapshot(place)
    decision = launch_rules.decide(snapshot)
    if place in last and decision.row in _ABOUT_MAIN_TASKS:
        return {**shown, **first, "state": state_of("hold", last[place]), **_words(last[place])}
    decision, obstacle = placement.place(picture.coordinators, snapshot, decision, Purpose.TASK)
    return {
        **shown,
        **first,
        "state": "held" if obstacle is not None else state_of(decision.action.value, decision.reason),
        "reason": decision.reason,
        "explanation": reason_texts.explanation(decision, place[0], obstacle, place[1], commands=False),
        "until": iso_or_none(decision.until),
    }


_ABOUT_MAIN_TASKS = frozenset(rule.row for rule in launch_rules.MAIN_TASK_ROWS)


class _Why(TypedDict):
    reason: str
    explanation: str


def _words(reason: str) -> _Why:
    return {"reason": reason, "explanation": reason_texts.sentence(reason, commands=False)}


def state_of(action: str, reason: str) -> Doing:
    """What a launch decision means for who looks at the team."""
    if action == Action.STOP:
        return "stopping"
    if reason in OFF:
        return "off"
    if reason in STOPPED:
        return "held"
    if reason == "cooling_down":
        return "cooling_down"
    if reason == "start_pending":
        return "starting"
    return "idle" if reason in ("no_in_progress_task", "no_chat_work") else "waiting"
