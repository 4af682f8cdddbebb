"""What Coordinators ask and report: who should be running, what has ended, what a process printed.

A Coordinator learns how to start an agent and nothing about tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, NotRequired

import orjson
from pydantic import Field

from toryo import failures, first_words, provider_options
from toryo.domain import usages
from toryo.domain.agents import Agent, Program
from toryo.domain.coordinators import gone
from toryo.domain.errors import Code, Refusal
from toryo.domain.events import SETUP
from toryo.domain.launches import LIVE, Launch, Purpose, State
from toryo.domain.sessions import End, Session
from toryo.domain.times import SECOND, Millis, iso
from toryo.domain.worktrees import Errand
from toryo.operations.calls import fencing, server_id
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import FewNames, Later, NoParameters, Parameters, operation
from toryo.operations.calls.decision_cache import Standing
from toryo.operations.calls.fencing import each_fenced, fenced
from toryo.operations.calls.fields import Printed
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import decisions, explanations, termination
from toryo.operations.launches import stops as launch_stops
from toryo.operations.tasks import commands as task_commands
from toryo.operations.worktrees import file_locks
from toryo.storage.keeping import Seen
from toryo.storage.launches import Check
from toryo.workflow import programs
from toryo.workflow.launch import Action, Decision, withdrawn
from toryo.workflow.snapshot import Snapshot

Id = Annotated[str, Field(min_length=1, max_length=64)]

Labels = list[str]
_OFFERED: Any = Field(
    default_factory=list,
    max_length=100,
    description="What it offers; agents that ask for more go elsewhere.",
)

CLAIM = "claim_starts"


_TELL_AGAIN_AFTER: Millis = 15 * SECOND

LOG_CAP = 2_000_000
"""Characters of output kept per launch."""


# --- asking one by one (seed 2) --------------------------------------------------------------------------------------


class ManagedAgents(Result):
    agents: list[dict[str, str]]


@operation("list_managed_agents", grant=Grant.COORDINATOR, result=ManagedAgents, reads=True)
def list_managed_agents(call: Call, _: NoParameters) -> dict[str, Any]:
    """The ids of the agents that a Coordinator starts."""
    return {"success": True, "agents": [{"agent_id": each} for each in call.tx.agents.managed()]}


class AgentId(Parameters):
    agent_id: Id = Field(description="The agent.")
    labels: Labels = _OFFERED


class ShouldStart(Result):
    should_start: bool
    ai_type: NotRequired[str]


@operation("should_start", grant=Grant.COORDINATOR, parameters=AgentId, result=ShouldStart, reads=True)
def should_start(call: Call, wanted: AgentId) -> dict[str, Any]:
    """Whether the agent should be started now, and with which program. Creates nothing."""
    if not _fits_here(call.tx.agents.find(wanted.agent_id), wanted.labels):
        return {"success": True, "should_start": False}
    for purpose in Purpose:
        for project_id in call.tx.agents.projects_of(wanted.agent_id):
            snapshot, decision = decisions.decide(call, wanted.agent_id, project_id, purpose, changes=False)
            if decision.action is Action.START and (program := programs.chosen(snapshot, purpose)) is not None:
                return {"success": True, "should_start": True, "ai_type": program.provider}
    return {"success": True, "should_start": False}


class AgentAction(Parameters):
    agent_id: Id = Field(description="The agent.")
    project_id: Id | None = Field(None, description="Only in this project.")
    purpose: Literal["task", "chat"] | None = Field(None, description="Only for this purpose.")
    labels: Labels = _OFFERED


class ActionResult(Result):
    action: str
    reason: str
    agent_id: NotRequired[str]
    project_id: NotRequired[str | None]
    purpose: NotRequired[str]
    launch: NotRequired[dict[str, Any]]
    rule: NotRequired[str]


@operation("get_agent_action", grant=Grant.COORDINATOR, parameters=AgentAction, result=ActionResult)
def get_agent_action(call: Call, wanted: AgentAction) -> dict[str, Any]:
    """start, hold or stop, with the reason; `start` creates the launch."""
    agent = call.tx.agents.find(wanted.agent_id)
    if agent is None:
        return _held(wanted.agent_id, None, Purpose.TASK, "agent_not_assigned", "agent unknown")
    projects = [call.project(wanted.project_id).id] if wanted.project_id else call.tx.agents.projects_of(agent.id)
    for each in sorted(projects):
        call.enter(each)
    purposes = [Purpose(wanted.purpose)] if wanted.purpose else list(Purpose)
    places = [(each, project_id) for each in purposes for project_id in projects]
    asked: list[tuple[Purpose, str, Snapshot, Decision]] = []
    for each, project_id in places:
        nothing: list[tuple[Snapshot, Decision]] = []
        look = partial(_decided, call, agent.id, project_id, each)
        found = fenced(call, "get_agent_action", look, nothing, agent_id=agent.id, project_id=project_id)
        asked += [(each, project_id, *one) for one in found]
    if places and not asked:
        return _held(agent.id, None, Purpose.TASK, fencing.REASON, explanations.said(fencing.REASON))
    elsewhere = not _fits_here(agent, wanted.labels)
    for action in (Action.STOP, Action.START):
        for purpose, project_id, snapshot, decision in asked:
            if decision.action is action and elsewhere and action is Action.START:
                return _held(agent.id, project_id, purpose, "no_labels", "it asks for labels that are not offered here")
            if decision.action is action:
                return _acted_on(call, snapshot, decision, purpose, project_id)
    if not asked:
        return _held(agent.id, None, Purpose.TASK, "agent_not_assigned", "a member of no project")
    purpose, project_id, _, decision = asked[0]
    return _held(agent.id, project_id, purpose, decision.reason, decision.words)


def _decided(call: Call, agent_id: str, project_id: str, purpose: Purpose) -> list[tuple[Snapshot, Decision]]:
    return [decisions.decide(call, agent_id, project_id, purpose)]


def _fits_here(agent: Agent | None, labels: list[str]) -> bool:
    """Whether all that the agent asks for is offered."""
    return agent is None or agent.labels <= set(labels)


def _held(agent_id: str, project_id: str | None, purpose: Purpose, reason: str, rule: str) -> dict[str, Any]:
    return {
        "success": True,
        "action": Action.HOLD.value,
        "reason": reason,
        "agent_id": agent_id,
        "project_id": project_id,
        "purpose": purpose.value,
        "rule": rule,
    }


def _acted_on(call: Call, snapshot: Snapshot, decision: Decision, purpose: Purpose, project_id: str) -> dict[str, Any]:
    said = {**_held(snapshot.agent_id, project_id, purpose, decision.reason, decision.words)}
    said["action"] = decision.action.value
    if decision.action is Action.START:
        found = file_locks.hindrance(call, decision.task_id) if purpose is Purpose.TASK else None
        if found is not None:
            return _held(snapshot.agent_id, project_id, purpose, found.code, found.words)
        made = decisions.order(call, snapshot, decision, purpose)
        if made is None:
            return _held(snapshot.agent_id, project_id, purpose, "start_pending", "somebody else was faster")
        said["launch"] = decisions.shown(call, *made)
    else:
        launch = snapshot.launches.get(purpose)
        said["launch_id"] = launch.id if launch else None
        if launch is not None:
            launch_stops.stop(call, launch, decision)
    return said


# --- asking for all at once ------------------------------------------------------------------------------------------


class Directory(Parameters):
    agent_id: Id | None = Field(None, description="Of this agent.")
    project_id: Id | None = Field(None, description="Or of this project.")
    directory: str = Field(min_length=1, max_length=4_000, description="Its path there.")


class ClaimStarts(Parameters):
    coordinator_id: Id = Field(description="A name of the Coordinator that stays the same over restarts.")
    free_slots: int = Field(ge=0, le=10_000, description="How many more task processes it can run.")
    free_chat_slots: int = Field(0, ge=0, le=10_000, description="How many more chat processes it can run.")
    running: list[Id] = Field(
        default_factory=list,
        max_length=20_000,
        fail_fast=True,
        description="Launch ids of its processes, those being started too.",
    )
    checking: list[Id] | None = Field(
        None,
        max_length=20_000,
        fail_fast=True,
        description="Ids of the checks it runs now: others that it got are handed out again.",
    )
    errands: list[Id] | None = Field(
        None,
        max_length=20_000,
        fail_fast=True,
        description="Ids of the errands it runs now: others that it got are handed out again.",
    )
    agent_ids: list[Id] | None = Field(None, max_length=20_000, fail_fast=True, description="Only these agents.")
    providers: list[str] | None = Field(None, max_length=100, description="Only agents of these providers.")
    labels: Labels = _OFFERED
    capabilities: list[str] | None = Field(
        None, max_length=100, description="Only agents with one of these capabilities."
    )
    directories: list[Directory] | None = Field(
        None, max_length=20_000, fail_fast=True, description="Where agents work on its machine, if elsewhere."
    )
    server_id: str | None = Field(
        None, max_length=64, description="The server that it works with (health_check): any other one refuses."
    )
    timeout_seconds: int = Field(0, ge=0, le=45, description="How long to wait until there is something to do.")


class Claimed(Result):
    start: list[dict[str, Any]]
    stop: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    errands: list[dict[str, Any]]
    next_check_seconds: int


@operation("claim_starts", grant=Grant.COORDINATOR, parameters=ClaimStarts, result=Claimed, waits=True)
def claim_starts(call: Call, asked: ClaimStarts) -> dict[str, Any] | Later:
    """Everything a Coordinator has to start or stop now; waits until there is something."""
    _refuse_for_another_server(call, asked)
    call.tx.keeping.see_coordinator(_seen(asked), call.now)
    candidates, talkers = _candidates(call, asked), _talkers(call, asked)
    entered = _enter(call, asked, [*candidates, *talkers])
    running = {each.id: each for each in call.tx.launches.find_all(asked.running)}
    _renew(call, asked, running.values())
    stop = _stops(call, asked, running)
    if _end_what_ran_out(call, entered):  # what they held is free from here on
        candidates, talkers = _candidates(call, asked), _talkers(call, asked)
    lost = [each for each in call.tx.launches.ordered_by(asked.coordinator_id) if each.id not in running]
    start = _starts(call, asked, lost, [each for each in candidates if each.project_id in entered])
    start += _chats(call, asked, lost, [each for each in talkers if each.project_id in entered])
    checks, errands = _checks(call, asked), _errands(call, asked)
    at = _next_look(call)
    if not (start or stop or checks or errands) and call.may_wait:
        return Later(frozenset({WORK, "checks"}), at)
    seconds = 10 if at is None else max(1, min(10, (at - call.now) // SECOND + 1))
    found = {"start": start, "stop": stop, "checks": checks, "errands": errands}
    return {"success": True, **found, "next_check_seconds": seconds}


def _refuse_for_another_server(call: Call, asked: ClaimStarts) -> None:
    """A Coordinator that was left behind does not start the agents of the next server at its server's address."""
    if asked.server_id is not None and asked.server_id != server_id.of(call.tx):
        raise Refusal(
            Code.CONFLICT,
            "This is another server than the one that the Coordinator works with.",
            "Stop the Coordinator (toryo down) and start it anew to work with this server.",
        )


def _seen(asked: ClaimStarts) -> Seen:
    given = asked.directories or []
    directories = {f"project:{each.project_id}": each.directory for each in given if each.project_id}
    directories |= {f"agent:{each.agent_id}": each.directory for each in given if each.agent_id}
    return Seen(
        asked.coordinator_id,
        len(asked.running),
        asked.providers,
        asked.labels,
        asked.capabilities,
        asked.agent_ids,
        directories=directories,
    )


def _enter(call: Call, asked: ClaimStarts, candidates: Iterable[Standing | Talker]) -> frozenset[str]:
    """Locks every project that this claim may write in: before its first write, and in one order.

    Whoever works in a project locks it before its rows. A claim that renewed a session first would wait for a project
    while its holder waits for that session; two claims with projects in different orders would wait for each other.
    """
    ordered = call.tx.launches.ordered_by(asked.coordinator_id)
    concerned = (each.project_id for each in (*ordered, *_ran_out(call), *candidates))
    projects = frozenset(concerned) | call.tx.launches.projects_of(asked.running)
    for project_id in sorted(projects):
        call.enter(project_id)
    return projects


def _renew(call: Call, asked: ClaimStarts, running: Iterable[Launch]) -> None:
    """Processes that are seen keep their sessions alive."""
    own = [each for each in running if _belongs(call, each, asked.coordinator_id)]
    call.tx.launches.seen([each.id for each in own], asked.coordinator_id, call.now)
    for launch in own:
        session = call.tx.sessions.of_launch(launch.id) if launch.state is State.SIGNED_IN else None
        if session is None or session.over:
            continue
        lease = min(session.lease_seconds, call.context.settings.session.lease)
        until = max(session.expires_at, call.now + lease * SECOND)
        call.tx.sessions.save(session, replace(session, expires_at=until))


def _belongs(call: Call, launch: Launch, coordinator_id: str) -> bool:
    """Its own, nobody's, or one whose owner has not called for a while (adopted)."""
    if launch.coordinator_id in (None, coordinator_id):
        return True
    return gone(max(launch.seen_at or 0, launch.ordered_at), call.now)


def _stops(call: Call, asked: ClaimStarts, running: dict[str, Launch]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for launch_id in asked.running:
        launch = running.get(launch_id)
        if launch is None:
            found.append(_stop(launch_id, "launch_unknown", 0))
        else:
            for stops in each_fenced(call, CLAIM, [launch], partial(_stop_one, call)):
                found.extend(stops)
    return found


def _stop_one(call: Call, launch: Launch) -> list[dict[str, Any]]:
    return _stop_live(call, launch) if launch.live else _stop_over(call, launch)


def _stop(launch_id: str, reason: str, grace_seconds: int) -> dict[str, Any]:
    return {"launch_id": launch_id, "reason": reason, "grace_seconds": grace_seconds}


def _stop_over(call: Call, launch: Launch) -> list[dict[str, Any]]:
    """It outlives its launch: left alone for the rest of the grace time, then ended by its Coordinator.

    Told once, and again only after a while (the answer may have been lost): a claim would never wait otherwise.
    """
    if launch.stop_since is not None and call.now - launch.stop_since < _TELL_AGAIN_AFTER:
        return []
    reason = launch.stop_reason or ("not_signed_in" if launch.state is State.EXPIRED else "launch_over")
    call.tx.launches.save(launch, replace(launch, stop_since=call.now, stop_reason=reason))
    over = (launch.ended_at or call.now) + call.context.limits.stop_grace if reason == "launch_over" else call.now
    left = max(0, over - call.now)
    return [_stop(launch.id, reason, -(-left // SECOND))]  # rounded up: its last second belongs to the process, too


def _stop_live(call: Call, launch: Launch) -> list[dict[str, Any]]:
    """What the launch decision says; a stopped session ends here, its process is ended by the Coordinator."""
    if launch.state is State.ORDERED:
        return _stop_unsigned(call, launch)
    _, decision = decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    if decision.action is not Action.STOP:
        return []
    launch_stops.stop(call, launch, decision)
    return [_stop(launch.id, decision.reason, 0)]


def _stop_unsigned(call: Call, launch: Launch) -> list[dict[str, Any]]:
    """A launch that nobody has signed in for ends at once when what it was for is over: its agent knows nothing yet."""
    _, decision = decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    launch = _launch(call, launch.id)
    if not launch.live:  # it was given up just now
        return _stop_over(call, launch)
    reason = decision.reason if decision.reason in _NOT_WANTED else None
    task = call.tx.tasks.find(launch.task_id) if launch.task_id is not None else None
    mine = task is not None and task.in_progress and task.assignee_id == launch.agent_id
    if reason is None and launch.task_id is not None and not mine:
        reason = "task_withdrawn"
    if reason is None:
        return []
    termination.end_launch(call, launch, State.EXITED, reason, told=True)
    ended = _launch(call, launch.id)
    call.tx.launches.save(ended, replace(ended, stop_since=call.now, stop_reason=reason))
    return [_stop(launch.id, reason, 0)]


_NOT_WANTED = frozenset({"project_paused", "agent_not_assigned", "agent_inactive", "not_managed"})
"""Reasons to hold an agent for which a launch that nobody has signed in for is ended, too."""


def _starts(call: Call, asked: ClaimStarts, lost: list[Launch], candidates: list[Standing]) -> list[dict[str, Any]]:
    """Orders whose answer was lost, then new ones, the longest waiting first, as far as slots go."""
    given: list[dict[str, Any]] = []
    if asked.free_slots <= 0:
        return given
    again = (each for each in lost if each.purpose is Purpose.TASK)
    new = each_fenced(call, CLAIM, candidates, partial(_start, call, asked))
    for start in itertools.chain(each_fenced(call, CLAIM, again, partial(_start_again, call, asked)), new):
        given.extend(start)
        if len(given) >= asked.free_slots:
            break
    return given


def _start_again(call: Call, asked: ClaimStarts, launch: Launch) -> list[dict[str, Any]]:
    """An order whose answer was lost, as far as it is still wanted; none or one."""
    if not _still_wanted(call, launch, asked):
        return []
    return [decisions.shown(call, launch, decisions.handed_out_again(call, launch, asked.coordinator_id))]


def _start(call: Call, asked: ClaimStarts, each: Standing) -> list[dict[str, Any]]:
    """None or one."""
    snapshot, decision = decisions.decide(call, each.agent_id, each.project_id, Purpose.TASK)
    call.context.holds.remember(each, decision, call.now)
    if decision.action is not Action.START or not _runs(programs.chosen(snapshot, Purpose.TASK), asked):
        return []
    if file_locks.hindrance(call, decision.task_id, asked.coordinator_id) is not None:
        return []
    made = decisions.order(call, snapshot, decision, Purpose.TASK, asked.coordinator_id)
    return [decisions.shown(call, *made)] if made is not None else []


def _still_wanted(call: Call, launch: Launch, asked: ClaimStarts) -> bool:
    """Nothing but the order itself holds its agent: no pause, no lost membership, no quota used up since.

    And who asks can still perform it: it may have been started anew with another file.
    """
    listed = asked.agent_ids is None or launch.agent_id in asked.agent_ids
    if not listed or (asked.providers is not None and launch.provider not in asked.providers):
        return False
    snapshot, decision = decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    pending = "start_pending" if launch.purpose is Purpose.TASK else "already_running"
    return decision.reason == pending and not _hindered(snapshot, launch)


def _hindered(snapshot: Snapshot, launch: Launch) -> bool:
    """Whether the program that a launch is for cools down meanwhile (somebody else has used up its account)."""
    ran = termination.program_of(launch)
    programs_of = snapshot.agent.programs if snapshot.agent is not None else ()
    return any(programs.hindrances(snapshot, launch.purpose, each) for each in programs_of if each.name == ran)


@dataclass(frozen=True, slots=True, order=True)
class Talker:
    """An agent whose chat has something to do, since when."""

    since: Millis
    agent_id: str
    project_id: str
    awaited: bool
    """A partner waits for it: it needs no slot."""


def _talkers(call: Call, asked: ClaimStarts) -> list[Talker]:
    """Whose chat has something to do, may be started here, and does not run; longest waiting first."""
    found = [Talker(*each) for each in call.tx.chat.wanted(call.now - call.context.talk.viewer_lease)]
    if not found:
        return []
    live = call.tx.launches.have_one(Purpose.CHAT)
    agents = call.tx.agents.startable({each.agent_id for each in found})
    return [
        each
        for each in found
        if (each.agent_id, each.project_id) not in live and _may_start(agents.get(each.agent_id), asked)
    ]


def _chats(call: Call, asked: ClaimStarts, lost: list[Launch], talkers: list[Talker]) -> list[dict[str, Any]]:
    """Chat processes have slots of their own; one that another's turn depends on takes none."""
    free = asked.free_chat_slots
    given: list[dict[str, Any]] = []
    for launch in lost:
        if launch.purpose is Purpose.CHAT and (free > 0 or not launch.takes_slot):
            for start in each_fenced(call, CLAIM, [launch], partial(_start_again, call, asked)):
                given.extend(start)
                free -= launch.takes_slot and bool(start)
    for each in talkers:
        if free > 0 or each.awaited:
            for start in each_fenced(call, CLAIM, [each], partial(_chat, call, asked, free > 0)):
                given.extend(start)
                free -= sum(one["takes_slot"] for one in start)
    return given


def _chat(call: Call, asked: ClaimStarts, room: bool, each: Talker) -> list[dict[str, Any]]:
    """None or one."""
    snapshot, decision = decisions.decide(call, each.agent_id, each.project_id, Purpose.CHAT)
    if decision.action is not Action.START or not (room or snapshot.talk.answers_somebody):
        return []
    if not _runs(programs.chosen(snapshot, Purpose.CHAT), asked):
        return []
    made = decisions.order(call, snapshot, decision, Purpose.CHAT, asked.coordinator_id)
    return [decisions.shown(call, *made)] if made is not None else []


def _ran_out(call: Call) -> list[Launch | Session]:
    """Launches past their deadline and leases that are over: somebody waits for what they hold."""
    return [*call.tx.sessions.expired(call.now), *call.tx.launches.overdue(call.now)]


def _end_what_ran_out(call: Call, entered: frozenset[str]) -> bool:
    """Whether there was anything."""
    found = (each for each in _ran_out(call) if each.project_id in entered)
    return bool(list(each_fenced(call, CLAIM, found, partial(_lapse, call))))


def _lapse(call: Call, each: Launch | Session) -> bool:
    return termination.lapse(call, None, each) if isinstance(each, Session) else termination.lapse(call, each, None)


def _candidates(call: Call, asked: ClaimStarts) -> list[Standing]:
    """Who has a task in progress, may be started here, does not run, and may have a new answer; oldest first."""
    at_work = call.tx.tasks.at_work()
    live = call.tx.launches.have_one(Purpose.TASK)
    facts = call.tx.events.last_facts({SETUP, *(root for _, roots in at_work.values() for root in roots)})
    agents = call.tx.agents.startable({agent_id for agent_id, _ in at_work})
    found = []
    for (agent_id, project_id), (since, roots) in at_work.items():
        if (agent_id, project_id) in live or not _may_start(agents.get(agent_id), asked):
            continue
        standing = Standing(since, agent_id, project_id, (facts.get(SETUP, 0), *sorted(facts.get(e, 0) for e in roots)))
        if not call.context.holds.still(standing, call.now):
            found.append(standing)
    return sorted([*found, *_servants(call, asked, live)])


def _servants(call: Call, asked: ClaimStarts, live: set[tuple[str, str]]) -> Iterator[Standing]:
    """Agents that serve a queue in which a task is ready, and do not run."""
    serving = call.tx.agents.serving()
    ready: dict[tuple[str, str], Millis] = {}
    for project_id, queue in {(project_id, queue) for project_id, queue, _ in serving}:
        for task in call.tx.queues.ready(project_id, queue, call.now, 1):
            ready[project_id, queue] = task.created_at
    if not ready:
        return
    agents = call.tx.agents.startable({agent for _, _, agent in serving})
    for project_id, queue, agent_id in serving:
        since = ready.get((project_id, queue))
        free = (agent_id, project_id) not in live
        if since is not None and free and _may_start(agents.get(agent_id), asked):
            yield Standing(since, agent_id, project_id, ())


def _may_start(agent: Agent | None, asked: ClaimStarts) -> bool:
    """Whether it is an active agent with a provider, among those that this Coordinator can start."""
    if agent is None or (asked.agent_ids is not None and agent.id not in asked.agent_ids):
        return False
    fits = asked.capabilities is None or not set(asked.capabilities).isdisjoint(agent.capabilities)
    return fits and _fits_here(agent, asked.labels) and any(_runs(each, asked) for each in agent.programs)


def _runs(program: Program | None, asked: ClaimStarts) -> bool:
    return program is not None and (asked.providers is None or program.provider in asked.providers)


def _next_look(call: Call) -> Millis | None:
    """When something ends by itself: a cooldown, a deadline, a lease, a grace time."""
    limits = call.context.limits
    ends = [call.tx.agents.next_cooldown_end(call.now), call.tx.launches.next_deadline(call.now)]
    for session in call.tx.sessions.live():
        ends += [session.expires_at, session.heard_at + session.patience, session.created_at + limits.run_time]
        task = call.tx.tasks.find(session.task_id) if session.task_id else None
        if task is not None and (not task.in_progress or task.assignee_id != session.agent_id):
            ends.append(task.moved_at + limits.stop_grace)
    ends += [each + limits.pause_grace for each in call.tx.projects.paused()]
    if any(each.settings.budget_per_day is not None for each in call.tx.projects.all()):
        ends.append(usages.end_of_day(call.now))
    future = [each for each in ends if each is not None and each > call.now]
    return min(future, default=None)


# --- acceptance checks -----------------------------------------------------------------------------------------------


def _checks(call: Call, asked: ClaimStarts) -> list[dict[str, Any]]:
    """Checks that nobody runs yet, for the Coordinator whose launch asks for them, or for anybody after a while."""
    given: list[dict[str, Any]] = []
    for check in call.tx.launches.checks_waiting():
        launch = call.tx.launches.find(check.launch_id)
        lost = gone(check.taken_at or check.created_at, call.now)
        if launch is None or (check.taken_at is not None and not lost and not _answer_lost(check, asked)):
            continue
        if launch.coordinator_id not in (None, asked.coordinator_id) and not lost:
            continue
        given.extend(each_fenced(call, CLAIM, [check], partial(_hand_out_check, call, asked, launch)))
    return given


def _hand_out_check(call: Call, asked: ClaimStarts, launch: Launch, check: Check) -> dict[str, Any]:
    taken = replace(check, taken_at=call.now, coordinator_id=asked.coordinator_id)
    call.tx.launches.save_check(check, taken)
    return _shown_check(call, check, launch)


def _answer_lost(check: Check, asked: ClaimStarts) -> bool:
    """It was handed to this Coordinator, which does not know of it: the answer was lost."""
    mine = check.coordinator_id == asked.coordinator_id
    return mine and asked.checking is not None and check.id not in asked.checking


def _shown_check(call: Call, check: Check, launch: Launch) -> dict[str, Any]:
    project, agent = call.tx.projects.find(check.project_id), call.tx.agents.find(launch.agent_id)
    assert project is not None and agent is not None
    said = agent.options_for(launch.provider)
    return {
        "check_id": check.id,
        "launch_id": check.launch_id,
        "agent_id": launch.agent_id,
        "project_id": check.project_id,
        "working_directory": agent.provider_options.get("working_directory") or project.working_directory,
        "worktree": file_locks.directory(call, launch.task_id or check.task_id),
        "ai_type": launch.provider,
        "provider_options": {**said, **provider_options.effective(launch.provider, said, agent.role.value)},
        "checks": list(call.tx.tasks.details(check.task_id).acceptance),
    }


# --- errands about worktrees -----------------------------------------------------------------------------------------


def _errands(call: Call, asked: ClaimStarts) -> list[dict[str, Any]]:
    """What people ask of this Coordinator, once; again where the answer was lost or it has forgotten about it."""
    given: list[dict[str, Any]] = []
    for errand in call.tx.worktrees.errands_for(asked.coordinator_id):
        forgotten = asked.errands is not None and errand.id not in asked.errands
        if errand.lost(call.now) or forgotten:
            given.extend(each_fenced(call, CLAIM, [errand], partial(_hand_out_errand, call)))
    return given


def _hand_out_errand(call: Call, errand: Errand) -> dict[str, Any]:
    call.tx.worktrees.save_errand(errand, replace(errand, taken_at=call.now))
    return _shown_errand(call, errand)


def _shown_errand(call: Call, errand: Errand) -> dict[str, Any]:
    worktree, project = call.tx.worktrees.find(errand.task_id), call.tx.projects.find(errand.project_id)
    assert worktree is not None and project is not None
    return {
        "errand_id": errand.id,
        "kind": errand.kind.value,
        "task_id": errand.task_id,
        "project_id": errand.project_id,
        "path": worktree.path,
        "branch": worktree.branch,
        "working_directory": project.working_directory,
        "asked_by": errand.asked_by,
        **_signature(call, errand.asked_by),
        "options": errand.options or {},
    }


def _signature(call: Call, person_id: str) -> dict[str, str]:
    """The name that a merge bears, and the address, where an owner has entered one."""
    person, account = call.tx.agents.find(person_id), call.tx.people.account(person_id)
    name = person.name if person is not None else ""
    return {"name": name, "email": (account.email if account is not None else None) or ""}


class CheckFailure(Parameters):
    check: Printed = Field(max_length=2_000, description="Which one: the file or the command.")
    message: Printed = Field(max_length=10_000, description="What was found.")


class CheckResult(Parameters):
    check_id: Id = Field(description="From claim_starts.")
    failures: list[CheckFailure] = Field(max_length=100, description="Those that failed; none: all passed.")


class CheckTaken(Result):
    task_status: NotRequired[str]


@operation("report_check_result", grant=Grant.COORDINATOR, parameters=CheckResult, result=CheckTaken)
def report_check_result(call: Call, reported: CheckResult) -> dict[str, Any]:
    """How the acceptance checks of a success report ended."""
    check = call.tx.launches.check(reported.check_id)
    if check is None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"There is no check {reported.check_id}.",
            "Report checks that claim_starts handed out.",
        )
    call.enter(check.project_id)
    task = call.tx.tasks.find(check.task_id)
    assert task is not None
    if check.finished_at is None:
        failures = [each.model_dump() for each in reported.failures]
        call.tx.launches.save_check(check, replace(check, finished_at=call.now, failures=failures))
        if task.check_id == check.id:
            task_commands.finish_checks(call, task, failures)
    return {"success": True, "task_status": task.status.value}


# --- reporting -------------------------------------------------------------------------------------------------------


class ProgramSession(Parameters):
    id: Printed = Field(min_length=1, max_length=500, description="By which the program resumes it.")
    totals: FewNames[dict[str, float]] = Field(default_factory=dict, description="What it had used in all by then.")


class ProcessExit(Parameters):
    launch_id: Id = Field(description="The launch whose process has ended.")
    exit_code: int | None = Field(None, description="Its exit code, if it had one.")
    signal: int | None = Field(None, description="The signal that ended it.")
    error: Printed | None = Field(None, max_length=10_000, description="The failure class, and what was seen.")
    usage: dict[str, Any] | None = Field(None, description="Tokens and cost, as far as known.")
    quota_reset_seconds: int | None = Field(None, ge=0, le=604_800, description="From a quota message.")
    log_tail: Printed | None = Field(None, max_length=100_000, description="The end of its output.")
    program_session: ProgramSession | None = Field(None, description="The program's own session that it leaves behind.")
    resumable: bool = Field(
        False, description="Whether it can be resumed at once with a reminder, should it have left without a report."
    )


class ExitTaken(Result):
    released: list[str]
    cooling_down_until: NotRequired[str | None]
    reminder: NotRequired[str]


@operation("report_process_exit", grant=Grant.COORDINATOR, parameters=ProcessExit, result=ExitTaken)
def report_process_exit(call: Call, exit_: ProcessExit) -> dict[str, Any]:
    """A process has ended. Ends its launch and that launch's session, and nothing else, however late it comes."""
    launch = _launch(call, exit_.launch_id)
    call.enter(launch.project_id)
    launch = _launch(call, exit_.launch_id)
    if launch.exit_reported_at is not None:
        return {"success": True, "released": [], "cooling_down_until": None}
    _count_usage(call, launch, exit_.usage)
    if _left_too_early(call, launch, exit_):
        return _remind(call, launch)
    recorded = replace(
        launch,
        program_session=_program_session(exit_.program_session),
        exit_code=exit_.exit_code,
        exit_signal=exit_.signal,
        exit_error=exit_.error,
        exit_reported_at=call.now,
    )
    call.tx.launches.save(launch, recorded)
    call.tx.launches.record_exit(launch.id, exit_.log_tail)
    call.event(
        "launch.process_ended",
        project_id=launch.project_id,
        agent_id=launch.agent_id,
        launch_id=launch.id,
        data={"exit_code": exit_.exit_code, "signal": exit_.signal, "error": exit_.error},
    )
    released: list[str] = []
    until: Millis | None = None
    if not launch.refused_at_sign_in:  # the process that ended is not the one that works
        released = _release(call, recorded, exit_)
        until = _cooldown(call, launch, exit_)
    call.tx.hint(WORK, f"launch:{launch.id}")
    return {"success": True, "released": released, "cooling_down_until": iso(until) if until else None}


def _left_too_early(call: Call, launch: Launch, exit_: ProcessExit) -> bool:
    """A program that ended well, in the middle of its task, and can be resumed: it is reminded, once per launch."""
    if not exit_.resumable or _failed(exit_) or launch.state is not State.SIGNED_IN or launch.nudged_at is not None:
        return False
    session = call.tx.sessions.of_launch(launch.id)
    if launch.purpose is not Purpose.TASK or launch.told_to_leave or session is None or session.over:
        return False
    snapshot, decision = decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose, changes=False)
    if session.runaway is not None or withdrawn(snapshot, session) is not None:
        return False
    return decision.reason == "already_running" and not _hindered(snapshot, launch)


def _remind(call: Call, launch: Launch) -> dict[str, Any]:
    """Its launch and session go on; only the process is a new one."""
    call.tx.launches.save(launch, replace(launch, nudged_at=call.now))
    call.event(
        "launch.reminded",
        project_id=launch.project_id,
        agent_id=launch.agent_id,
        launch_id=launch.id,
        data={"task_id": launch.task_id},
    )
    project = call.tx.projects.find(launch.project_id)
    language = project.settings.language.value if project is not None else "en"
    return {"success": True, "released": [], "reminder": first_words.reminder(launch.agent_id, language)}


def _program_session(left: ProgramSession | None) -> str | None:
    return None if left is None else orjson.dumps(left.model_dump()).decode()


def _count_usage(call: Call, launch: Launch, told: dict[str, Any] | None) -> None:
    """What its program used so far. Wakes who has to stop when today's budget is used up by it, and tells that once."""
    usage = usages.read(told or {})
    known = call.tx.usages.of_launch(launch.id)
    if usage is not None and known is not None:
        usage = known.and_then(usage)
    if usage is None or usage == known:
        return
    project = call.tx.projects.find(launch.project_id)
    budget = project.settings.budget_per_day if project is not None else None
    today = usages.day_of(call.now)
    before = call.tx.usages.cost_of_day(launch.project_id, today) if budget is not None else 0.0
    call.tx.usages.put(launch, usage, call.now)
    if budget is not None and before < budget <= call.tx.usages.cost_of_day(launch.project_id, today):
        call.event("project.budget_used_up", project_id=launch.project_id, data={"budget_per_day": budget})
        call.tx.hint(WORK)


def _launch(call: Call, launch_id: str) -> Launch:
    launch = call.tx.launches.find(launch_id)
    if launch is None:
        raise Refusal(
            Code.LAUNCH_NOT_FOUND,
            f"There is no launch {launch_id}.",
            "Report launches that claim_starts or get_agent_action handed out.",
            launch_id=launch_id,
        )
    return launch


def _release(call: Call, launch: Launch, exit_: ProcessExit) -> list[str]:
    """The launch's session, if it lives; a launch that nobody signed in for ends too."""
    session = call.tx.sessions.of_launch(launch.id)
    if session is not None and not session.over:
        counts = not _failed(exit_) and failures.may_count(exit_.error) and not launch.told_to_leave
        termination.end_session(call, session, End.PROCESS_EXITED, counts=counts and session.runaway is None)
        return [session.id]
    if launch.state in LIVE:
        termination.end_launch(call, launch, State.EXITED, failures.class_of(exit_.error) or "process_exited")
        return [launch.id]
    return []


def _failed(exit_: ProcessExit) -> bool:
    return bool(exit_.exit_code) or exit_.signal is not None or bool(exit_.error)


def _cooldown(call: Call, launch: Launch, exit_: ProcessExit) -> Millis | None:
    """A failure cools the agent down; an end that was ordered, or that the agent was told to make, does not."""
    ordered = failures.ordered(exit_.error) or (launch.told_to_leave and exit_.quota_reset_seconds is None)
    never_signed_in = launch.signed_in_at is None
    if ordered or not (_failed(exit_) or never_signed_in or exit_.quota_reset_seconds is not None):
        return None
    reason = failures.class_of(exit_.error) or ("could_not_connect" if never_signed_in else "crashed")
    if exit_.quota_reset_seconds is not None and reason not in ("rate_limited", "quota"):
        reason = "quota"
    explained = None
    if launch.state is State.EXPIRED:  # its agent cools down for it already
        explained = termination.explain_missing(call, launch, reason, exit_.quota_reset_seconds)
    account = _account(call, launch)
    if reason == "quota" and account is not None:
        return termination.cool_account(call, account, reason, exit_.quota_reset_seconds, launch.agent_id)
    if launch.state is State.EXPIRED:
        return explained
    program = termination.program_of(launch)
    return termination.cool(call, launch.agent_id, launch.purpose, reason, exit_.quota_reset_seconds, program)


def _account(call: Call, launch: Launch) -> str | None:
    """Whose quota the launch used: of the program that ran, which may have been the one that stands in."""
    agent, ran = call.tx.agents.find(launch.agent_id), termination.program_of(launch)
    programs_of = agent.programs if agent is not None else ()
    alike = sorted((each for each in programs_of if each.provider == launch.provider), key=lambda one: one.name != ran)
    return alike[0].account if alike else None


def _heard(call: Call, launch: Launch) -> None:
    """Output is a sign of life."""
    session = call.tx.sessions.of_launch(launch.id)
    if session is not None and not session.over:
        call.tx.sessions.save(session, replace(session, heard_at=call.now))


class AppendLog(Parameters):
    launch_id: Id = Field(description="Whose output it is.")
    offset: int = Field(ge=0, description="How many characters were sent before.")
    text: Printed = Field(max_length=500_000, description="What the process printed.")
    usage: dict[str, Any] | None = Field(None, description="Tokens and cost so far, as far as known.")


class LogTaken(Result):
    next_offset: int


@operation("append_log", grant=Grant.COORDINATOR, parameters=AppendLog, result=LogTaken)
def append_log(call: Call, more: AppendLog) -> dict[str, Any]:
    """Output of a process as it appears; what was sent before is not stored twice."""
    launch = _launch(call, more.launch_id)
    if more.usage is not None:
        call.enter(launch.project_id)  # an exit that is reported at the same moment has the last word
        if _launch(call, launch.id).exit_reported_at is None:
            _count_usage(call, launch, more.usage)
    end = call.tx.launches.log_end(launch.id)
    new = more.text[end - more.offset :] if more.offset <= end else ""
    if new and end < LOG_CAP:
        new = new[: LOG_CAP - end]
        call.tx.launches.append_log(launch.id, end, new)
        call.tx.hint(f"log:{launch.id}")
        _heard(call, launch)
        end += len(new)
    return {"success": True, "next_offset": end if end < LOG_CAP else max(end, more.offset + len(more.text))}
