"""Claims of queue tasks: taking and losing them, with the notifications. Used by queue tools, launches,
housekeeping.

A claim never moves a task by itself: `tasks.mutations.move` does, under the rules of every other path. Where a task
stands alone these rules come to one change, and many are claimed or lost with a few statements (`claim_alone`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from toryo.block_reasons import Block
from toryo.domain import queue, task_readiness
from toryo.domain.agents import SYSTEM, Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.moves import Actor
from toryo.domain.projects import Project
from toryo.domain.queue import Claim, Presence
from toryo.domain.tasks import Status, Task
from toryo.domain.times import SECOND, iso
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.tasks import mutations

EXHAUSTED = Block.EXHAUSTED.value
MOST_PASSED = 200
"""How many tasks that the agent may not claim one poll skips at most."""
TORYO = Actor(SYSTEM, everything=True, guard=True)


class HeldClaim(TypedDict):
    """A task that the agent has taken, and until when it is its own."""

    task_id: str
    attempt: int
    expires_at: str


class Judged(TypedDict):
    """What became of one of several results: the task's status if it was accepted, else why not."""

    task_id: str
    accepted: bool
    status: NotRequired[str]
    error: NotRequired[str]
    message: NotRequired[str]
    instruction: NotRequired[str]


def accepted(task: Mapping[str, Any]) -> Judged:
    """`task` as it is shown."""
    return {"task_id": task["task_id"], "accepted": True, "status": task["status"]}


def not_accepted(task_id: str, refusal: Mapping[str, Any]) -> Judged:
    told = {name: refusal[name] for name in ("error", "message", "instruction")}
    return {"task_id": task_id, "accepted": False, **told}  # type: ignore[typeddict-item]


def claim(call: Call, task: Task, agent: Agent, launch_id: str | None = None) -> Task | None:
    """The task becomes this agent's, in progress, with a lease; None if the rules of starting say no."""
    tree_state = call.tree_state(task, agent.id)
    claimed = tree_state.claimed(task, agent.id)
    given = replace(claimed.tree.tasks[task.id], status=task.status)
    becomes = replace(claimed, tree=claimed.tree.changed(given))
    if not task_readiness.startable(becomes, given):
        return None
    call.tx.tasks.save(task, given)
    for before in tree_state.tree.descendants(task):
        part = becomes.tree.tasks[before.id]
        if part.assignee_id != before.assignee_id:
            call.tx.tasks.save(before, part)
            moved = {"from": before.assignee_id, "to": part.assignee_id}
            call.event("task.assigned", task=part, agent_id=agent.id, fact=True, data=moved)
    call.tx.queues.add_claim(new_claim(call, task, agent.id, launch_id))
    after = mutations.move(call, becomes, given, Status.IN_PROGRESS, actor=Actor(agent.id))
    _tell_taken(call, after, agent.id, launch_id)
    return after


def claim_alone(call: Call, task: Task) -> tuple[Task, Claim]:
    """As `claim`, for a ready task that stands alone and an agent that has room for it; who asks stores both."""
    given = replace(task, assignee_id=call.agent.id, not_before=None)
    after = mutations.move_alone(call, given, Status.IN_PROGRESS)
    _tell_taken(call, after, call.agent.id, None)
    return after, new_claim(call, task, call.agent.id, None)


def _tell_taken(call: Call, task: Task, agent_id: str, launch_id: str | None) -> None:
    call.event("claim.taken", task=task, agent_id=agent_id, data={"attempt": task.attempt, "launch_id": launch_id})


def claim_ready(call: Call, project: Project, agent_type: str, many: int) -> tuple[list[Task], bool]:
    """Up to `many` tasks of a queue for the calling agent, and whether there are more. Tasks that it may not claim do
    not hold back later ones.
    """
    taken: list[Task] = []
    passed, more = 0, project.active
    while more and len(taken) < many and passed <= MOST_PASSED:
        most = many - len(taken) + passed
        ready = call.tx.queues.ready(project.id, agent_type, call.now, most + 1, passed)
        more = len(ready) > most
        call.tx.tasks.trees({task.root_id for task in ready[:most]})
        for each in ready[:most]:
            if len(taken) == many:
                return taken, True
            task = claim(call, each, call.agent)
            if task is None:
                passed += 1
            else:
                taken.append(task)
    return taken, more and len(taken) == many


def claim_again(call: Call, task_id: str, agent_id: str, launch_id: str) -> None:
    """A launch goes on with the queue task that its agent has kept: its end decides about the task as the first did.

    The task stays as it is, in the same attempt.
    """
    task = call.tx.tasks.find(task_id)
    if task is None or not (task.for_queue and task.in_progress and task.assignee_id == agent_id):
        return
    if call.tx.queues.live_claim(task.id) or call.tx.queues.claim(task.id, task.attempt):
        return
    call.tx.queues.add_claim(new_claim(call, task, agent_id, launch_id))
    _tell_taken(call, task, agent_id, launch_id)


def new_claim(call: Call, task: Task, agent_id: str, launch_id: str | None) -> Claim:
    lease = (task.timeout_seconds or queue.TIMEOUT_SECONDS) * SECOND
    return Claim(task.id, task.attempt, task.project_id, agent_id, call.now, call.now + lease, lease, launch_id)


class Fate(StrEnum):
    """What happens to the queue task of an ended launch. Only a failure or a loss uses up an attempt."""

    KEPT = "kept"
    """Its agent was told to leave and is started for it again: the task stays its own, in progress."""
    RETURNED = "returned"
    """It goes back as if nobody had claimed it."""
    LOST = "lost"
    """An attempt is used up."""


def lose(call: Call, lost: Claim, reason: str, *, counted: bool = True, rest: bool = True, outcome: Any = None) -> None:
    """Its holder has it no more: it is ready again after a rest, or has failed where no attempt is left.

    `counted` is false for a holder that has done nothing wrong: it is as if there had been no claim. `outcome` is what
    its holder has submitted, if it was that.
    """
    live = call.tx.queues.live_claim(lost.task_id)
    if live is None or live.attempt != lost.attempt:
        return  # it went with the task above it, which was lost a moment ago
    task = call.tx.tasks.find(lost.task_id)
    assert task is not None
    if counted:
        call.tx.queues.save_claim(queue.ended(lost, reason, call.now, outcome))
    else:
        call.tx.queues.delete_claim(lost)
    if not task.in_progress or task.assignee_id != lost.agent_id:
        return

    def move(to: Status, why: str) -> Task:
        return mutations.move(call, call.tree_state(task), task, to, why, actor=TORYO)

    after, back = _let_go(call, task, lost, reason, move, counted=counted, rest=rest)
    if after.closed:
        call.tx.tasks.save_details(task.id, error=last_error(call.tx.tasks.details(task.id).error))
    call.tx.tasks.save(after, back)


def lose_alone(call: Call, task: Task, lost: Claim) -> Task:
    """As `lose`, for a task that stands alone and that its holder gives up as failed; who asks stores it, and the
    end of the claim."""

    def move(to: Status, why: str) -> Task:
        return mutations.move_alone(call, task, to, why, actor=TORYO)

    after, back = _let_go(call, task, lost, "failed", move, counted=True, rest=True)
    return after if after.closed else replace(back, version=after.version + 1)


def _let_go(
    call: Call, task: Task, lost: Claim, reason: str, move: Callable[[Status, str], Task], *, counted: bool, rest: bool
) -> tuple[Task, Task]:
    """The task as it was moved, and as it is from then on: back in its queue, or failed where no attempt is left."""
    data = {"attempt": lost.attempt, "reason": reason}
    call.event("claim.lost", task=task, agent_id=lost.agent_id, data=data)
    if counted and task.attempt >= (task.max_attempts or queue.MAX_ATTEMPTS):
        failed = move(Status.FAILED, EXHAUSTED)
        return failed, failed
    back = move(Status.TODO, reason)
    not_before = call.now + queue.backoff(lost.attempt) if counted and rest else None
    return back, replace(back, assignee_id=None, attempt=back.attempt + counted, not_before=not_before)


class _NotStartable(Exception):
    """The rules of starting keep it from its holder."""


def take_back(call: Call, task: Task, lost: Claim) -> Task | None:
    """The task of a claim that ran out, as its holder had it; None if anything has happened to the task since."""
    agent = call.tx.agents.find(lost.agent_id)
    if lost.end_reason != "lost" or task.moved_at != lost.ended_at or agent is None:
        return None
    events, hints = len(call.tx.events.collected), set(call.tx.hints)
    try:
        with call.tx.connection.savepoint():
            if task.status is Status.FAILED:  # that was its last attempt
                task = mutations.move(call, call.tree_state(task), task, Status.TODO, actor=TORYO)
            task = call.tx.tasks.save(task, replace(task, attempt=lost.attempt, not_before=None))
            call.tx.queues.delete_claim(lost)
            taken = claim(call, task, agent, lost.launch_id)
            if taken is None:
                raise _NotStartable
    except (_NotStartable, Refusal):
        del call.tx.events.collected[events:]
        call.tx.hints.intersection_update(hints)
        return None
    return taken


def last_error(told: Any) -> Any:
    """Of a task without attempts: what its last failure said; where none said anything, that there are none left."""
    return EXHAUSTED if told is None else told


def lapse(call: Call, *project_ids: str) -> int:
    """Ends the claims of these projects that have run out; answers how many."""
    over = call.tx.queues.expired_claims(project_ids, call.now)
    lost = [each for each in over if each.launch_id is None]  # a launch's claim ends with its launch
    list(each_fenced(call, "queues", lost, lambda each: lose(call, each, "lost")))
    return len(over)


def release_launch(call: Call, launch_id: str, task_id: str | None, fate: Fate) -> None:
    """A launch that claimed a queue task is over: what it has not finished goes back, or stays its agent's."""
    held = call.tx.queues.live_claim(task_id) if task_id is not None else None
    if held is None or held.launch_id != launch_id:
        return
    if fate is Fate.KEPT:
        call.tx.queues.delete_claim(held)
        data = {"attempt": held.attempt, "launch_id": launch_id}
        call.event("claim.kept", task=call.tx.tasks.find(held.task_id), agent_id=held.agent_id, data=data)
    else:
        lose(call, held, "lost" if fate is Fate.LOST else "released", counted=fate is Fate.LOST)


def self_driven(call: Call, agent_id: str) -> Agent | None:
    """The agent of that id, if there is one. Raises Refusal for a person's, or one that a Coordinator starts."""
    present = call.tx.agents.find(agent_id)
    if present is not None and (present.human or present.managed):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"{present.id} is {'a person' if present.human else 'an agent that a Coordinator starts'}.",
            "API keys are for queue agents, which run by themselves. Choose another agent_id.",
            agent_id=present.id,
        )
    return present


# --- presence --------------------------------------------------------------------------------------------------------


def present(call: Call, agent_id: str, *, leaving: bool = False) -> Presence:
    """The registered agent whose key this is; who has left registers again, but may leave twice. Raises Refusal."""
    key = call.caller.key
    if key is None or key.agent_id not in (None, agent_id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"You are not {agent_id}." if key is None else f"This API key belongs to {key.agent_id}.",
            "Use your own agent_id.",
        )
    presence = call.tx.queues.presence(agent_id) if key.agent_id == agent_id else None
    if presence is None or (presence.left and not leaving) or presence.project_id != key.project_id:
        raise Refusal(
            Code.NOT_NOW,
            f"{agent_id} is not registered.",
            "Call register_agent(agent_id, agent_type) first.",
        )
    return presence


def note_seen(call: Call, presence: Presence, *, heartbeat: bool = False) -> Presence:
    """It has called: it is online. Written down every ten seconds, and when it makes a difference."""
    fresh = presence.online and call.now - presence.seen_at < 10 * SECOND
    if fresh and not heartbeat:
        return presence
    beat = call.now if heartbeat else presence.heartbeat_at
    after = replace(presence, seen_at=call.now, heartbeat_at=beat, offline_at=None)
    call.tx.queues.seen(after)
    if not presence.online:
        _tell(call, after, "agent.online")
    return after


def go_offline(call: Call, presence: Presence, *, releases: bool, counted: bool, leaves: bool = False) -> None:
    """It is gone: its claims go back if it was known to be there by its heartbeats, or says so itself (`leaves`).

    What it gives back itself is as if it had not been claimed: it may never have begun.
    """
    seen_at = call.now if leaves else presence.seen_at
    offline_at = call.now if leaves else max(call.now, seen_at + 1)  # `Presence.left` tells the two apart by this
    call.tx.queues.save_presence(replace(presence, seen_at=seen_at, offline_at=offline_at))
    _tell(call, presence, "agent.offline")
    if releases:
        for each in call.tx.queues.claims_of(presence.agent_id):
            lose(call, each, "lost" if counted else "released", counted=counted, rest=False)


def lapse_presence(call: Call, presence: Presence) -> bool:
    """Whether its silence has made it offline now."""
    if not presence.online or not presence.silent(call.now):
        return False
    go_offline(call, presence, releases=presence.heartbeat_at is not None, counted=True)
    return True


def _tell(call: Call, presence: Presence, kind: str) -> None:
    call.event(
        kind,
        project_id=presence.project_id,
        agent_id=presence.agent_id,
        data={"agent_type": presence.agent_type},
    )
    call.tx.hint(f"project:{presence.project_id}")


def status_of(call: Call, presence: Presence) -> Literal["offline", "busy", "online"]:
    busy = bool(call.tx.queues.claims_of(presence.agent_id))
    return "offline" if not presence.online else "busy" if busy else "online"


def held_by(call: Call, agent_id: str) -> list[HeldClaim]:
    """What it holds: an agent that lost an answer learns here what it has."""
    return [
        {"task_id": claim.task_id, "attempt": claim.attempt, "expires_at": iso(claim.expires_at)}
        for claim in call.tx.queues.claims_of(agent_id)
    ]
