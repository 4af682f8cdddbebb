"""The conditions of projects, and when to look again: Coordinators come and go without an event.

`domain/conditions.py` lists them. What is found here is shown above every view of a project, and by `toryo needs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from typing_extensions import TypedDict

from toryo.deeds import TO_SAY, Blank, Deed, deed
from toryo.domain import usages
from toryo.domain.agents import Kind
from toryo.domain.conditions import Condition
from toryo.domain.coordinators import GONE_AFTER, is_gone
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.projects import Project
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.times import SECOND, Millis, iso_or_none
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls import deeds, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.overview import unplaced
from toryo.operations.overview.home_state import Picture
from toryo.operations.overview.quota_waits import QuotaWaits, Wait, about_used_up
from toryo.operations.overview.unplaced import Unplaced
from toryo.operations.worktrees import worktree_locks
from toryo.workflow import reasons

AGAIN = 10
"""Seconds after which somebody looks again who waits for a Coordinator."""

ConditionName = Literal[
    "archived",
    "paused",
    "no_team",
    "coordinator_gone",
    "program_missing",
    "budget_used_up",
    "quota_used_up",
    "quota_kept",
]


class ProjectCondition(TypedDict):
    """What is off in a project. `since` and `until` belong behind `text`; `agent_id` is whose program is missing,
    `account` whose quota is used up or kept."""

    kind: ConditionName
    project_id: str
    text: str
    since: str | None
    until: str | None
    agent_id: str | None
    account: str | None
    actions: list[schemas.NeedAction]


@dataclass(frozen=True, slots=True)
class _Found:
    kind: Condition
    text: Worded
    actions: tuple[Deed, ...]
    since: Millis | None = None
    until: Millis | None = None
    agent_id: str | None = None
    account: str | None = None


def of(call: Call, picture: Picture, project: Project) -> list[ProjectCondition]:
    """Those of one project, with the actions that the caller may carry out."""
    return [_as_answer(call, project, each) for each in _conditions_of(call, picture, project)]


def look_again_after(picture: Picture, *, waits: bool) -> int:
    """In how many seconds this may have changed without an event. `waits`: whether work waits for a Coordinator."""
    if waits:
        return AGAIN
    now, begun = picture.now, picture.call.context.awake.since
    ends = [seen.seen_at + GONE_AFTER for seen in picture.coordinators if not is_gone(seen.seen_at, now)]
    ends += [begun + GONE_AFTER] if begun + GONE_AFTER > now else []
    ends += [usages.end_of_day(now)]
    ends += [each.until for each in picture.accounts.values()]
    kept = (end for each in picture.kept_quotas.values() for end in (each.from_ordinary, each.from_low))
    ends += [end for end in kept if end is not None]
    return max(1, -(-(min(ends) - now) // SECOND))


def _as_answer(call: Call, project: Project, found: _Found) -> ProjectCondition:
    login = call.caller.login
    may = [each for each in found.actions if login is None or deeds.may(login, each)]
    return {
        "kind": found.kind.value,
        "project_id": project.id,
        "text": found.text,
        "since": iso_or_none(found.since),
        "until": iso_or_none(found.until),
        "agent_id": found.agent_id,
        "account": found.account,
        "actions": deeds.as_answer([] if login is Login.VIEWER else may),
    }


def _conditions_of(call: Call, picture: Picture, project: Project) -> Iterator[_Found]:
    if project.status is ProjectStatus.ARCHIVED:
        yield _archived(call, project)
    elif project.status is ProjectStatus.PAUSED:
        yield _paused(call, picture, project)
    else:
        team = [picture.agents[agent_id] for agent_id, project_id in picture.places if project_id == project.id]
        polls = any(presence.project_id == project.id for presence in picture.online.values())
        if not polls and not any(agent.active and agent.kind is Kind.AI for agent in team):
            yield _no_team(project)
        yield from _unplaced(picture, project)
        yield from _budget(picture, project)
        yield from _quotas(picture, project)


# --- people's decisions ----------------------------------------------------------------------------------------------


def _archived(call: Call, project: Project) -> _Found:
    restore = deed("restore", project_id=project.id)
    text = constant("This project is archived: no agent is started in it.")
    return _Found(Condition.ARCHIVED, _by(call, project, "project.archived", text), (restore,), project.paused_at)


def _paused(call: Call, picture: Picture, project: Project) -> _Found:
    leaving = sum(
        Purpose.TASK in live for (_, project_id), live in picture.sessions.items() if project_id == project.id
    )
    told = constant("This project is paused: no task is worked on.")
    if leaving:
        more = constant("1 agent is leaving.") if leaving == 1 else say("{count} agents are leaving.", count=leaving)
        told = together((told, more))
    resume = deed("resume_project", project_id=project.id)
    return _Found(Condition.PAUSED, _by(call, project, "project.paused", told), (resume,), project.paused_at)


def _by(call: Call, project: Project, kind: str, text: Worded) -> Worded:
    """With who has done it, as long as the event is kept."""
    events = call.tx.events.newest(1, project_id=project.id, kind=kind)
    agent = call.tx.agents.find(events[0].actor_id) if events else None
    return text if agent is None else together((text, say("By {who}.", who=agent.name)))


def _no_team(project: Project) -> _Found:
    add = deed("add_agent", id=Blank("ID"), role="worker", provider=Blank("NAME"), projects=[project.id])
    return _Found(Condition.NO_TEAM, constant("No agent works in this project."), (add,))


# --- machines --------------------------------------------------------------------------------------------------------


def _unplaced(picture: Picture, project: Project) -> Iterator[_Found]:
    alike: dict[tuple[str, ...], list[Unplaced]] = {}
    for each in unplaced.unplaced_agents(picture):
        if each.project_id == project.id:
            alike.setdefault(each.cause, []).append(each)
    unstarted = alike.pop((project.id, "none"), [])
    yield from _gone(picture, project, unstarted)
    for those in alike.values():
        yield _missing(those)


def _gone(picture: Picture, project: Project, unstarted: Sequence[Unplaced]) -> Iterator[_Found]:
    """Without any Coordinator: what is not started, and what is not checked. Without the one that has their files: what
    is not checked."""
    here = {each: keeper for each, keeper in picture.unchecked.items() if picture.open[each].project_id == project.id}
    unchecked = [picture.open[each] for each, keeper in here.items() if keeper is None]
    for keeper, count in Counter(filter(None, here.values())).items():
        told = together((worktree_locks.away(picture.call, keeper), _tasks_wait(count)))
        yield _Found(Condition.COORDINATOR_GONE, told, (_MACHINES,), worktree_locks.seen_at(picture.call, keeper))
    waiting = {task.id for task in (*unchecked, *(task for each in unstarted for task in each.tasks))}
    if not waiting:
        return
    last = max((seen.seen_at for seen in picture.coordinators), default=0)
    since = min((*(each.since for each in unstarted), *(max(last, task.moved_at) for task in unchecked)))
    told = together((constant("No Coordinator is running."), _tasks_wait(len(waiting))))
    yield _Found(Condition.COORDINATOR_GONE, told, (_MACHINES,), since)


_MACHINES = deed("machines")


def _missing(those: Sequence[Unplaced]) -> _Found:
    first = those[0]
    wait, since = _tasks_wait(sum(len(each.tasks) for each in those)), min(each.since for each in those)
    change = deed("change_program", agent_id=first.agent.id, provider=Blank("NAME"))
    if first.obstacle.code == "no_provider":
        told = together((say("No Coordinator has {program}.", program=first.program.provider), wait))
        return _Found(Condition.PROGRAM_MISSING, told, (change, _MACHINES), since, agent_id=first.agent.id)
    correct = (deed("correct", agent_id=first.agent.id, **first.obstacle.correct),) if first.obstacle.of_agent else ()
    told = together((say("No Coordinator accepts {agent}.", agent=first.agent.name), first.obstacle.words, wait))
    return _Found(Condition.PROGRAM_MISSING, told, (*correct, _MACHINES), since, agent_id=first.agent.id)


def _tasks_wait(count: int) -> Worded:
    return constant("1 task waits.") if count == 1 else say("{count} tasks wait.", count=count)


# --- budgets and quotas ----------------------------------------------------------------------------------------------


def _budget(picture: Picture, project: Project) -> Iterator[_Found]:
    """While work waits for it."""
    waiting = sum(len(tasks) for (_, project_id), tasks in picture.main_tasks.items() if project_id == project.id)
    waiting += sum(len(tasks) for (project_id, _), tasks in picture.ready_tasks.items() if project_id == project.id)
    used_up = picture.used_up_budget(project) if waiting else None
    if used_up is not None:
        limit = getattr(project.settings, used_up)
        told = (
            say("Today's budget of ${budget:,.2f} is used up.", budget=limit)
            if used_up == "budget_per_day"
            else say("Today's budget of {budget:,} tokens is used up.", budget=limit)
        )
        edit = deed("raise", project_id=project.id, settings={used_up: TO_SAY})
        usage = deed("usage", project_id=project.id, days=1, by=("agent", "task"))
        until = usages.end_of_day(picture.now)
        yield _Found(Condition.BUDGET_USED_UP, together((told, _tasks_wait(waiting))), (edit, usage), until=until)


def _quotas(picture: Picture, project: Project) -> Iterator[_Found]:
    """Accounts for which work of this project waits: their quota is used up, or what is left of it is kept."""
    alike: dict[tuple[str, tuple[str, ...]], list[Wait]] = {}
    for each in QuotaWaits(picture).of_project(project.id):
        alike.setdefault((each.reason, each.accounts), []).append(each)
    for (reason, accounts), waits in alike.items():
        yield _quota(project, reason, accounts, waits)


def _quota(project: Project, reason: str, accounts: tuple[str, ...], waits: Sequence[Wait]) -> _Found:
    used_up, account = reason == "cooling_down", accounts[0]
    edit = [] if used_up else [reasons.what_helps(reason, account=account)]
    return _Found(
        Condition.QUOTA_USED_UP if used_up else Condition.QUOTA_KEPT,
        together((_about_quota(reason, accounts), _tasks_wait(len(waits)))),
        (*edit, deed("usage", project_id=project.id)),
        until=min(each.until for each in waits),
        account=account,
    )


def _about_quota(reason: str, accounts: tuple[str, ...]) -> Worded:
    account = accounts[0]
    if reason == "cooling_down":
        return about_used_up(accounts)
    if reason == "no_spare_quota":
        return say("The account {account} has no quota to spare for tasks of low priority.", account=account)
    return say(
        "What is left of the quota of the account {account} is kept for tasks of high and critical priority.",
        account=account,
    )
