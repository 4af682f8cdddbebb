"""Agents that a Coordinator might start now. An index only: the launch decision decides."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.domain.agents import Agent
from toryo.domain.events import SETUP
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.launches import Purpose
from toryo.domain.times import Millis
from toryo.operations.calls.call import Call
from toryo.operations.calls.decision_cache import Candidate
from toryo.operations.launches.claim_request import ClaimStarts


@dataclass(frozen=True, slots=True, order=True)
class Talker:
    """An agent whose chat has work, and since when."""

    since: Millis
    agent_id: str
    project_id: str
    awaited: bool
    """A partner waits for it: it needs no slot."""


def chat_candidates(call: Call, asked: ClaimStarts) -> list[Talker]:
    """Whose chat has something to do, may be started here, and does not run; longest waiting first."""
    found = [Talker(*each) for each in call.tx.chat.wanted(call.now - call.context.talk.viewer_lease)]
    if not found:
        return []
    live = call.tx.launches.have_one(Purpose.CHAT)
    agents = call.tx.agents.startable({talker.agent_id for talker in found})
    return [
        talker
        for talker in found
        if (talker.agent_id, talker.project_id) not in live and _fits(agents.get(talker.agent_id), asked)
    ]


def task_candidates(call: Call, asked: ClaimStarts) -> list[Candidate]:
    """Who has a task in progress, may be started here, does not run, and may have a new answer; oldest first."""
    at_work = call.tx.tasks.at_work()
    live = call.tx.launches.have_one(Purpose.TASK)
    facts = call.tx.events.last_facts({SETUP, *(root for _, roots in at_work.values() for root in roots)})
    agents = call.tx.agents.startable({agent_id for agent_id, _ in at_work})
    found = []
    for (agent_id, project_id), (since, roots) in at_work.items():
        if (agent_id, project_id) in live or not _fits(agents.get(agent_id), asked):
            continue
        newest = (facts.get(SETUP, 0), *sorted(facts.get(e, 0) for e in roots))
        standing = Candidate(since, agent_id, project_id, newest, tuple(roots))
        if not call.context.holds.still(standing, call.now):
            found.append(standing)
    return sorted([*found, *_servants(call, asked, live)])


def _servants(call: Call, asked: ClaimStarts, live: set[tuple[str, str]]) -> Iterator[Candidate]:
    """Agents that serve a queue in which a task is ready, and do not run."""
    serving = call.tx.agents.serving()
    ready: dict[tuple[str, str], Millis] = {}
    for project_id, queue in {(project_id, queue) for project_id, queue, _ in serving}:
        for task in call.tx.queues.ready_to_start(project_id, queue, call.now, 1):
            ready[project_id, queue] = task.created_at
    if not ready:
        return
    agents = call.tx.agents.startable({agent for _, _, agent in serving})
    for project_id, queue, agent_id in serving:
        since = ready.get((project_id, queue))
        free = (agent_id, project_id) not in live
        if since is not None and free and _fits(agents.get(agent_id), asked):
            yield Candidate(since, agent_id, project_id, ())


def _fits(agent: Agent | None, asked: ClaimStarts) -> bool:
    """Whether it is an active agent with a provider (`startable`), and this Coordinator can start it."""
    return agent is not None and asked.offer.can_start(agent)
