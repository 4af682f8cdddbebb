"""`claim_starts`: everything that a Coordinator must start, stop, check or do now, in one answer.

A Coordinator learns how to start an agent, and nothing about tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import partial

from toryo.deeds import terminal
from toryo.domain import budgets, usages
from toryo.domain.agents import Program
from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Launch, Purpose
from toryo.domain.sessions import Session
from toryo.domain.times import SECOND, Millis
from toryo.domain.wording import say
from toryo.operations.calls import server_id
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Later, operation
from toryo.operations.calls.decision_cache import Candidate
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import end_of_session, launch_decisions, placement, starts
from toryo.operations.launches.check_orders import CheckOrder, checks_for
from toryo.operations.launches.claim_request import CLAIM, ClaimStarts
from toryo.operations.launches.cooldowns import is_hindered, ran_by
from toryo.operations.launches.running_launches import Stop, renew, stops_for
from toryo.operations.launches.start_candidates import Talker, chat_candidates, task_candidates
from toryo.operations.worktrees import worktree_locks
from toryo.operations.worktrees.job_handout import Job, jobs_for
from toryo.storage.coordinators import Seen
from toryo.workflow import launch_rules
from toryo.workflow.launch_rules import Action
from toryo.workflow.snapshot import Snapshot


class Claimed(Result):
    """`stop_worktree_jobs`: jobs of the merge queue that it works on and should leave as they are."""

    start: list[starts.Start]
    stop: list[Stop]
    checks: list[CheckOrder]
    worktree_jobs: list[Job]
    stop_worktree_jobs: list[str]
    next_check_seconds: int


@operation("claim_starts", grant=Grant.COORDINATOR, parameters=ClaimStarts, waits=True)
def claim_starts(call: Call, asked: ClaimStarts) -> Claimed | Later:
    """Returns everything that a Coordinator has to start or stop now; waits until there is something."""
    _refuse_for_another_server(call, asked)
    call.tx.coordinators.see(_seen(asked), call.now)
    candidates, talkers = task_candidates(call, asked), chat_candidates(call, asked)
    entered = _enter(call, asked, [*candidates, *talkers])
    running = {each.id: each for each in call.tx.launches.find_all(asked.running)}
    renew(call, asked, running.values())
    stop = stops_for(call, asked, running)
    if _end_what_ran_out(call, entered):  # what they held is free from here on
        candidates, talkers = task_candidates(call, asked), chat_candidates(call, asked)
    lost = [each for each in call.tx.launches.ordered_by(asked.coordinator_id) if each.id not in running]
    start = _starts(call, asked, lost, [candidate for candidate in candidates if candidate.project_id in entered])
    start += _chats(call, asked, lost, [talker for talker in talkers if talker.project_id in entered])
    checks = checks_for(call, asked)
    worktree_jobs, unwanted = jobs_for(call, asked.coordinator_id, asked.worktree_jobs)
    at = _next_look(call)
    if not (start or stop or checks or worktree_jobs or unwanted) and call.may_wait:
        return Later(frozenset({WORK, "checks"}), at)
    seconds = 10 if at is None else max(1, min(10, (at - call.now) // SECOND + 1))
    return {
        "success": True,
        "start": start,
        "stop": stop,
        "checks": checks,
        "worktree_jobs": worktree_jobs,
        "stop_worktree_jobs": unwanted,
        "next_check_seconds": seconds,
    }


def _refuse_for_another_server(call: Call, asked: ClaimStarts) -> None:
    """A Coordinator that was left behind does not start the agents of the next server at its server's address."""
    if asked.server_id is not None and asked.server_id != server_id.of(call.tx):
        raise Refusal(
            Code.CONFLICT,
            "This is not the server that the Coordinator was started for.",
            say("To use this server, stop the Coordinator{down: (…)} and start it again.", down=terminal("down")),
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
        accounts=asked.accounts_by_provider,
        sandbox=asked.sandbox,
    )


def _enter(call: Call, asked: ClaimStarts, candidates: Iterable[Candidate | Talker]) -> frozenset[str]:
    """Locks every project that this claim may write in, before its first write and in a fixed order.

    Every writer locks a project before its rows. A claim that renewed a session first would wait for a project while
    the project's holder waits for that session; two claims with different orders would wait for each other.
    """
    ordered = call.tx.launches.ordered_by(asked.coordinator_id)
    concerned = (each.project_id for each in (*ordered, *_ran_out(call), *candidates))
    projects = frozenset(concerned) | call.tx.launches.projects_of(asked.running)
    for project_id in sorted(projects):
        call.enter(project_id)
    return projects


def _starts(call: Call, asked: ClaimStarts, lost: list[Launch], candidates: list[Candidate]) -> list[starts.Start]:
    """Orders whose answer was lost, then new ones, the longest waiting first, as far as slots go."""
    given: list[starts.Start] = []
    if asked.free_slots <= 0:
        return given
    again = (each for each in lost if each.purpose is Purpose.TASK)
    new = each_fenced(call, CLAIM, candidates, partial(_start, call, asked))
    for start in itertools.chain(each_fenced(call, CLAIM, again, partial(_start_again, call, asked)), new):
        given.extend(start)
        if len(given) >= asked.free_slots:
            break
    return given


def _start_again(call: Call, asked: ClaimStarts, launch: Launch) -> list[starts.Start]:
    """An order whose answer was lost, as far as it is still wanted; none or one."""
    if not _still_wanted(call, launch, asked):
        return []
    return [starts.as_answer(call, launch, starts.handed_out_again(call, launch, asked.coordinator_id))]


def _start(call: Call, asked: ClaimStarts, each: Candidate) -> list[starts.Start]:
    """None or one."""
    snapshot, decision = launch_decisions.decide(call, each.agent_id, each.project_id, Purpose.TASK)
    call.context.holds.remember(each, decision, call.now)
    if decision.action is not Action.START:
        return []
    program = placement.program(snapshot, Purpose.TASK, decision.priority, call.tx.coordinators.all)
    if not _offered(asked, snapshot, program):
        return []
    if worktree_locks.hindrance(call, decision.task_id, asked.coordinator_id) is not None:
        return []
    made = starts.order(call, snapshot, decision, Purpose.TASK, program, asked.coordinator_id)
    return [starts.as_answer(call, *made)] if made is not None else []


def _offered(asked: ClaimStarts, snapshot: Snapshot, program: Program | None) -> bool:
    agent = snapshot.agent
    return agent is not None and program is not None and asked.offer.lacks(agent, program) is None


def _still_wanted(call: Call, launch: Launch, asked: ClaimStarts) -> bool:
    """Whether nothing has come up since the order: no pause, lost membership, used-up quota or used-up budget, and no
    other program of the agent.

    The Coordinator must also still be able to perform it: it may have restarted with another configuration.
    """
    snapshot, decision = launch_decisions.decide(call, launch.agent_id, launch.project_id, launch.purpose)
    program = ran_by(launch)
    if not _offered(asked, snapshot, program) or (snapshot.agent and program not in snapshot.agent.programs):
        return False
    for_task = launch.purpose is Purpose.TASK
    if decision.reason != ("start_pending" if for_task else "already_running"):
        return False
    spent = for_task and launch_rules.used_up_budget(snapshot, launch.task_id) is not None
    return not is_hindered(snapshot, launch) and not spent


def _chats(call: Call, asked: ClaimStarts, lost: list[Launch], talkers: list[Talker]) -> list[starts.Start]:
    """Chat processes have slots of their own; one that another's turn depends on takes none."""
    free = asked.free_chat_slots
    given: list[starts.Start] = []
    for launch in lost:
        if launch.purpose is Purpose.CHAT and (free > 0 or not launch.takes_slot):
            for start in each_fenced(call, CLAIM, [launch], partial(_start_again, call, asked)):
                given.extend(start)
                free -= launch.takes_slot and bool(start)
    for talker in talkers:
        if free > 0 or talker.awaited:
            for start in each_fenced(call, CLAIM, [talker], partial(_chat, call, asked, free > 0)):
                given.extend(start)
                free -= sum(one["takes_slot"] for one in start)
    return given


def _chat(call: Call, asked: ClaimStarts, room: bool, each: Talker) -> list[starts.Start]:
    """None or one."""
    snapshot, decision = launch_decisions.decide(call, each.agent_id, each.project_id, Purpose.CHAT)
    if decision.action is not Action.START or not (room or snapshot.talk.answers_somebody):
        return []
    program = placement.program(snapshot, Purpose.CHAT, None, call.tx.coordinators.all)
    if not _offered(asked, snapshot, program):
        return []
    made = starts.order(call, snapshot, decision, Purpose.CHAT, program, asked.coordinator_id)
    return [starts.as_answer(call, *made)] if made is not None else []


def _ran_out(call: Call) -> list[Launch | Session]:
    """Launches past their deadline and leases that are over: somebody waits for what they hold."""
    return [*call.tx.sessions.expired(call.now), *call.tx.launches.overdue(call.now)]


def _end_what_ran_out(call: Call, entered: frozenset[str]) -> bool:
    """Whether there was anything."""
    found = (each for each in _ran_out(call) if each.project_id in entered)
    return bool(list(each_fenced(call, CLAIM, found, partial(_lapse, call))))


def _lapse(call: Call, each: Launch | Session) -> bool:
    return (
        end_of_session.lapse(call, None, each) if isinstance(each, Session) else end_of_session.lapse(call, each, None)
    )


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
    of_agents = (budgets.of_agent(agent.provider_options).limits for agent in call.tx.agents.all())
    if any(project.settings.has_budget for project in call.tx.projects.all()) or any(of_agents):
        ends.append(usages.end_of_day(call.now))
    future = [end for end in ends if end is not None and end > call.now]
    return min(future, default=None)
