"""Who calls without a credential where the server is open (`TORYO_AUTH__MODE=open`), and on what it may act.

The calls of the queue protocol then need no key: the agent_id of a call says who calls. It acts as a key of this one
call that nobody holds. It is never a person, an agent that a Coordinator starts, or one that a person gave a key or a
passkey. Which requests count as such is decided by the server's edge (`server/keyless_requests.py`).
"""

from __future__ import annotations

from toryo.domain import ids
from toryo.domain.agents import SYSTEM, Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.queue import KEYLESS, ApiKey
from toryo.domain.times import Millis
from toryo.operations.calls.callers import Caller
from toryo.operations.calls.credential_verification import holder_of
from toryo.storage.transaction import Transaction


def caller(tx: Transaction, agent_id: str | None, task_id: str | None, now: Millis) -> Caller:
    """The caller of this id, or who has claimed this task; neither: somebody without a name. Raises Refusal."""
    task = tx.tasks.find(task_id) if task_id is not None else None
    if agent_id is None and task is not None:
        claims = tx.queues.claims_of_task(task.id)
        agent_id = claims[-1].agent_id if claims and _free(tx, claims[-1].agent_id, task.project_id) else None
    presence = tx.queues.presence(agent_id) if agent_id is not None else None
    if presence is not None:
        project_id = presence.project_id
    else:
        project_id = task.project_id if task is not None else _only_project(tx)
    if agent_id is not None and not _free(tx, agent_id, project_id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"The id {agent_id} belongs to someone who has a credential.",
            "Use its credential (Authorization: Bearer, or api_key), or choose another agent_id.",
        )
    key = ApiKey(
        id=KEYLESS,
        project_id=project_id,
        name="without a key",
        agent_id=agent_id,
        types=(),
        orchestrator=True,
        tools=(),
        created_by=SYSTEM,
        created_at=now,
    )
    agent = tx.agents.find(agent_id) if agent_id is not None else None
    membership = tx.agents.membership(project_id, agent.id) if agent is not None else None
    found = holder_of(key, agent, membership)
    # What it files is nobody's, whatever id it names: no program is started for it.
    return found if agent_id is not None else replace(found, agent=None)


def _free(tx: Transaction, agent_id: str, project_id: str) -> bool:
    """Whether somebody without a credential may call by this id: a new one, or an agent that came so before."""
    agent: Agent | None = tx.agents.find(agent_id)
    if agent is None:
        agent = tx.agents.find(ids.chosen(agent_id))
    if any(key.created_by != SYSTEM for key in tx.queues.keys_of(agent_id)):
        return False
    if agent is None:
        return True
    membership = tx.agents.membership(project_id, agent.id)
    known = membership is not None or tx.queues.presence(agent.id) is not None
    return known and not (agent.human or agent.managed or tx.agents.passkey_hash(agent.id) is not None)


def _only_project(tx: Transaction) -> str:
    projects = [project.id for project in tx.projects.all() if project.active]
    if len(projects) != 1:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"Without an API key there must be exactly one active project, but there are {len(projects)}.",
            "Ask the person who started you to leave one project active, or for an API key of your project.",
        )
    return projects[0]
