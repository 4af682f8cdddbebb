"""The queue protocol: an agent that already runs registers with its id, its queue and its key.

Heartbeats and leaving are in `presence.py`.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field

from toryo.domain import ids, queue
from toryo.domain.agents import Agent, Role, Status
from toryo.domain.agents import Kind as AgentKind
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.network_addresses import is_loopback
from toryo.domain.queue import ApiKey, Presence
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, operation
from toryo.operations.calls.credential_verification import QUEUE, digest
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.permissions import key_required
from toryo.operations.calls.results import Result
from toryo.operations.directory import confusable_names
from toryo.operations.queue import claims as queue_claims

TypeName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]


class Register(Parameters):
    agent_id: Id = Field(description="Unique: 1-64 of a-z 0-9 . _ -")
    agent_type: TypeName = Field(description="The queue you serve.")
    capabilities: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        default_factory=list, max_length=50, description="What you are good at.", json_schema_extra=PLAIN
    )
    name: str | None = Field(None, min_length=1, max_length=200, description="Shown to people.")


class Registered(Result):
    agent_id: str
    agent_type: str
    capabilities: list[str]
    status: str
    heartbeat_seconds: int
    lease_seconds: int
    claims: list[queue_claims.HeldClaim]
    api_key: NotRequired[str]


@operation("register_agent", grant=Grant.REGISTRAR, parameters=Register)
def register_agent(call: Call, wanted: Register) -> Registered:
    """Register as an agent of a queue, before you poll. Reuse your id after a restart to keep your claims."""
    issued: str | None = None
    key = call.caller.key
    if key is None:
        key, issued = _issued(call, wanted)
    _refuse_other_key(key, wanted)
    before = call.tx.queues.presence(wanted.agent_id)
    _refuse_taken(call, key, wanted.agent_id, before)
    agent = _agent(call, key, wanted)
    presence = Presence(
        agent_id=agent.id,
        project_id=key.project_id,
        agent_type=wanted.agent_type,
        capabilities=tuple(wanted.capabilities),
        registered_at=before.registered_at if before is not None else call.now,
        seen_at=call.now,
        heartbeat_at=before.heartbeat_at if before is not None else None,
    )
    call.tx.queues.save_presence(presence)
    if key.agent_id is None:
        call.tx.queues.save_key(key, replace(key, agent_id=agent.id))
    call.event(
        "agent.registered",
        project_id=key.project_id,
        agent_id=agent.id,
        data={"agent_type": wanted.agent_type, "capabilities": wanted.capabilities},
    )
    call.tx.hint(f"project:{key.project_id}")
    answer: Registered = {
        "success": True,
        "agent_id": agent.id,
        "agent_type": presence.agent_type,
        "capabilities": list(presence.capabilities),
        "status": queue_claims.status_of(call, presence),
        "claims": queue_claims.held_by(call, agent.id),
        "heartbeat_seconds": queue.HEARTBEAT_SECONDS,
        "lease_seconds": queue.OFFLINE_AFTER // 1000,
    }
    return {**answer, "api_key": issued} if issued is not None else answer


def _issued(call: Call, wanted: Register) -> tuple[ApiKey, str]:
    """A key for an agent of the same machine, where the server's settings let it register itself."""
    if call.context.settings.auth.mode != "local" or not _of_this_machine(call):
        raise key_required("register_agent", call.caller, Grant.REGISTRAR)
    projects = [project.id for project in call.tx.projects.all() if project.active]
    if len(projects) != 1:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"Without an API key there must be exactly one active project, but there are {len(projects)}.",
            "Ask the person who started you for an API key of your project.",
        )
    if call.tx.queues.presence(wanted.agent_id) is not None or call.tx.queues.keys_of(wanted.agent_id):
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            f"{wanted.agent_id} already has an API key.",
            "Use that api_key (its first registration returned it, or a person made it), or choose another agent_id.",
        )
    call.enter(projects[0])
    key = ApiKey(
        id=call.new_id(ids.KEY),
        project_id=projects[0],
        name=f"local {wanted.agent_id}",
        agent_id=wanted.agent_id,
        types=(wanted.agent_type,),
        orchestrator=False,
        tools=(),
        created_by="system:toryo",
        created_at=call.now,
    )
    token = call.new_token(QUEUE)
    call.tx.queues.add_key(key, digest(token))
    return key, token


def _of_this_machine(call: Call) -> bool:
    """Behind a proxy nobody can be told apart from somebody of this machine."""
    return not call.context.settings.trusted_proxies and (call.remote is None or is_loopback(call.remote))


def _refuse_other_key(key: ApiKey, wanted: Register) -> None:
    if key.agent_id not in (None, wanted.agent_id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"This API key belongs to {key.agent_id}.",
            f"Register as {key.agent_id}, or use your own key.",
        )
    if not key.serves(wanted.agent_type):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"This API key does not allow the agent type {wanted.agent_type}.",
            f"It allows: {', '.join(key.types)}.",
        )


def _refuse_taken(call: Call, key: ApiKey, agent_id: str, before: Presence | None) -> None:
    """Whose id it is, its key says: one that is nobody's yet takes no other's, and an agent serves one project."""
    elsewhere = before is not None and before.project_id != key.project_id
    if elsewhere or (key.agent_id is None and call.tx.queues.keys_of(agent_id)):
        raise _somebody_elses(agent_id)


def _somebody_elses(agent_id: str) -> Refusal:
    return Refusal(
        Code.PERMISSION_DENIED,
        f"The id {agent_id} belongs to someone else.",
        "Choose another agent_id, or ask the person who gave you this key for a key of that agent.",
    )


def _agent(call: Call, key: ApiKey, wanted: Register) -> Agent:
    """The agent of that id, made now where there was none. Never a person's, or one that a Coordinator starts."""
    known = queue_claims.self_driven(call, wanted.agent_id)
    if known is not None and key.agent_id is None and not _may_take(call, key, known):
        raise _somebody_elses(wanted.agent_id)
    agent_id = known.id if known is not None else ids.chosen(wanted.agent_id)
    member = bool(call.tx.agents.members_among(key.project_id, [agent_id]))
    if not member:
        name = known.name if known is not None else wanted.name or agent_id
        confusable_names.refuse_misleading(call, agent_id, name, [key.project_id], by_itself=known is None)
    agent = known or _made(call, wanted)
    if not member:
        call.tx.agents.join(key.project_id, agent.id, call.now)
    return agent


def _may_take(call: Call, key: ApiKey, agent: Agent) -> bool:
    """Whether a key that is nobody's yet may become this agent's: a member of its project, and one without a passkey.

    Everybody else is joined to a project by an owner: with a membership, or with a key that names the agent.
    """
    membership = call.tx.agents.membership(key.project_id, agent.id)
    is_member = membership is not None and membership[1] is None
    return is_member and agent.active and call.tx.agents.passkey_hash(agent.id) is None


def _made(call: Call, wanted: Register) -> Agent:
    agent = Agent(
        id=ids.chosen(wanted.agent_id),
        name=wanted.name or wanted.agent_id,
        kind=AgentKind.AI,
        role=Role.WORKER,
        reports_to=None,
        status=Status.ACTIVE,
        provider=None,
        model=None,
        agent_type=wanted.agent_type,
        capabilities=tuple(capability for capability in wanted.capabilities if capability != "orchestrator"),
        max_parallel_tasks=queue.CLAIMED_AT_ONCE,
        system_prompt="",
        provider_options={},
        created_at=call.now,
        updated_at=call.now,
    )
    call.tx.agents.add(agent, None)
    return agent
