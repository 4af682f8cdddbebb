"""The queue protocol: an agent that already runs claims tasks of its queue.

Which tasks are ready, and in which order they are claimed, is in `storage/poll_order.py`. Where the first ones stand
alone, many polls share them out with a few statements; else each poll goes through the queue under all rules of a start
(`claims.claim_ready`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import Field

from toryo.domain import queue
from toryo.domain.errors import Code, Refusal
from toryo.domain.queue import Claim, Presence
from toryo.domain.tasks import Task
from toryo.domain.times import Millis
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import schemas
from toryo.operations.calls.batches import Asked, Calls, in_batches
from toryo.operations.calls.catalogue import Later, Parameters, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.results import Result
from toryo.operations.queue import claims as queue_claims
from toryo.operations.tasks import mutations, queue_tasks
from toryo.storage.queues import Queue, Standing
from toryo.storage.tasks import Found


class Poll(Parameters):
    agent_id: Id = Field(description="Your id.", json_schema_extra=PLAIN)
    max_tasks: int = Field(1, ge=1, le=queue.CLAIMED_AT_ONCE, description="The limit.", json_schema_extra=PLAIN)
    wait_seconds: int = Field(
        0, ge=0, le=LONGEST_WAIT_SECONDS, description="How long to wait for a task.", json_schema_extra=PLAIN
    )


class Polled(Result):
    result: list[schemas.QueueTask]


@operation("poll_tasks", grant=Grant.QUEUE_AGENT, parameters=Poll, whole=True, waits=True, bare="result", counted=False)
@in_batches
def poll_tasks(calls: Calls[Poll]) -> dict[Asked[Poll], Polled | Later]:
    """Claim tasks of your queue, by priority, then age. Returns them or an empty list. heartbeat renews your claims."""
    calls.tx.queues.presences_of(each.wanted.agent_id for each in calls)
    present = dict(calls.each(calls, lambda asked: queue_claims.present(asked.call, asked.wanted.agent_id)))
    if not present:
        return {}
    now = max(each.call.now for each in present)
    agents, projects = {each.wanted.agent_id for each in present}, {each.project.id for each in present}
    standing = calls.tx.queues.standing(agents, projects, now)
    room = dict(calls.each(present, lambda asked: _room(standing.held.get(asked.wanted.agent_id, 0))))
    polls = [
        _Poll(each, presence, (each.project.id, presence.agent_type))
        for each, presence in present.items()
        if each in room
    ]
    fit = [each for each in polls if each.queue[0] not in standing.lapsed]
    answers = _handed_out(calls, fit, standing, now)
    by_id = {each.asked: each for each in polls}
    return answers | {each: _by_all_rules(by_id[each], room[each]) for each in calls.alone(answers)}


def _room(held: int) -> int:
    """How many more it may claim. Raises Refusal if none."""
    if held < queue.CLAIMED_AT_ONCE:
        return queue.CLAIMED_AT_ONCE - held
    raise Refusal(
        Code.LIMIT_REACHED,
        f"You have claimed {held} tasks; the limit is {queue.CLAIMED_AT_ONCE}.",
        "Submit results first (submit_result).",
        limit=queue.CLAIMED_AT_ONCE,
    )


class _Poll(NamedTuple):
    asked: Asked[Poll]
    presence: Presence
    queue: Queue


def _by_all_rules(poll: _Poll, room: int) -> Polled | Later:
    call, wanted = poll.asked.call, poll.asked.wanted
    queue_claims.note_seen(call, poll.presence)
    queue_claims.lapse(call, poll.asked.project.id)
    many = min(wanted.max_tasks, room)
    taken, more = queue_claims.claim_ready(call, poll.asked.project, poll.presence.agent_type, many)
    if more:  # a hint wakes a few of those who wait: there is work for more
        call.tx.hint(mutations.queue_topic(*poll.queue))
    if not taken and _waits(poll):
        return Later(topics(*poll.queue), call.tx.queues.next_retries([poll.queue], call.now).get(poll.queue))
    return {"success": True, "result": queue_tasks.show_all(call, taken)}


def _waits(poll: _Poll) -> bool:
    return poll.asked.call.may_wait and bool(poll.asked.wanted.wait_seconds)


def _handed_out(
    calls: Calls[Poll], polls: Sequence[_Poll], standing: Standing, now: Millis
) -> dict[Asked[Poll], Polled | Later]:
    """What the polls get that come to no other tasks than such as stand alone, and as their agents have room for."""
    by_queue: dict[Queue, list[_Poll]] = {}
    for each in polls:
        by_queue.setdefault(each.queue, []).append(each)
    if not by_queue:
        return {}
    most = max(sum(each.asked.wanted.max_tasks for each in those) for those in by_queue.values()) + 1
    active = [own for own, those in by_queue.items() if those[0].asked.project.active]
    ready = calls.tx.queues.ready_of(active, now, most)
    shares = [each for own, those in by_queue.items() for each in _shares(calls, those, ready.get(own, []), standing)]
    taken: list[list[tuple[Task, Claim]]] = []
    for poll, found in shares:
        queue_claims.note_seen(poll.asked.call, poll.presence)
        taken.append([queue_claims.claim_alone(poll.asked.call, each.task) for each in found])
    calls.tx.tasks.start([task for own in taken for task, _ in own])
    calls.tx.queues.take([claim for own in taken for _, claim in own])
    with_edges = [each.task.id for _, found in shares for each in found if each.has_dependencies]
    edges = calls.tx.tasks.depends_on(with_edges) if with_edges else {}
    idle = {poll.queue for poll, found in shares if not found and _waits(poll)}
    retries = calls.tx.queues.next_retries(idle, now) if idle else {}
    answers: dict[Asked[Poll], Polled | Later] = {}
    for (poll, found), own in zip(shares, taken, strict=True):
        if not found and _waits(poll):
            answers[poll.asked] = Later(topics(*poll.queue), retries.get(poll.queue))
        else:
            shown = [
                queue_tasks.as_answer(task, each.details, edges.get(task.id, []))
                for each, (task, _) in zip(found, own, strict=True)
            ]
            answers[poll.asked] = {"success": True, "result": shown}
    return answers


def _shares(
    calls: Calls[Poll], polls: Sequence[_Poll], ready: Sequence[Found], standing: Standing
) -> Iterator[tuple[_Poll, Sequence[Found]]]:
    """Who gets which tasks of a queue, in its order; `standing` is kept up to date. No poll from the first on that
    comes to a task that does not stand alone: that may not be for it, but for the next one."""
    place = 0
    for each in polls:
        asked, (project_id, _) = each.asked, each.queue
        agent, working = each.presence.agent_id, (each.presence.agent_id, project_id)
        many = min(asked.wanted.max_tasks, queue.CLAIMED_AT_ONCE - standing.held.get(agent, 0))
        found = ready[place : place + many]
        if not all(task.alone for task in found):
            break
        busy = standing.busy.get(working, 0)
        if found and not (asked.member and busy + len(found) <= asked.call.agent.max_parallel_tasks):
            continue  # behind the first one too many there could be a part of one it has
        place += len(found)
        standing.held[agent] = standing.held.get(agent, 0) + len(found)
        standing.busy[working] = busy + len(found)
        if len(found) == many and place < len(ready):
            calls.tx.hint(mutations.queue_topic(*each.queue))  # there is work for more
        yield each, found
    if place == len(ready) and polls:
        calls.exhaust(mutations.queue_topic(*polls[0].queue))


def topics(project_id: str, agent_type: str) -> frozenset[str]:
    """What ends a wait for tasks of a queue."""
    return frozenset({mutations.queue_topic(project_id, agent_type), f"project-status:{project_id}"})
