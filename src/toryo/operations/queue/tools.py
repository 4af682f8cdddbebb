"""The queue protocol: agents that run already register, poll, and submit; orchestrators look (seed 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from toryo.domain import ids, queue
from toryo.domain.addresses import is_loopback
from toryo.domain.agents import Agent, Role, Status
from toryo.domain.agents import Kind as AgentKind
from toryo.domain.errors import Code, Refusal
from toryo.domain.moves import Actor
from toryo.domain.queue import ApiKey, Claim, Presence
from toryo.domain.tasks import Status as TaskStatus
from toryo.domain.tasks import Task
from toryo.domain.times import iso, iso_or_none
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Later, Parameters, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.identity import QUEUE, digest
from toryo.operations.calls.permissions import key_required
from toryo.operations.calls.results import Result, Said
from toryo.operations.directory import names
from toryo.operations.queue import claims as queue_claims
from toryo.operations.tasks import commands as task_commands
from toryo.operations.tasks import queued

TypeName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]


# --- registering -----------------------------------------------------------------------------------------------------


class Register(Parameters):
    agent_id: Id = Field(description="Your id: 1-64 of a-z 0-9 . _ -; the same one continues.")
    agent_type: TypeName = Field(description="The queue you serve.")
    capabilities: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        default_factory=list, max_length=50, description="What you are good at."
    )
    name: str | None = Field(None, min_length=1, max_length=200, description="How people call you.")


class Registered(Result):
    agent_id: str
    agent_type: str
    capabilities: list[str]
    status: str
    heartbeat_seconds: int
    lease_seconds: int
    claims: list[dict[str, Any]]
    api_key: NotRequired[str]


@operation("register_agent", grant=Grant.REGISTRAR, parameters=Register, result=Registered)
def register_agent(call: Call, wanted: Register) -> dict[str, Any]:
    """Say that you are here and which queue you serve. The same id again continues."""
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
    answer = {"success": True, **_shown(call, presence), "claims": _claims(call, agent.id)}
    answer |= {"heartbeat_seconds": queue.HEARTBEAT_SECONDS, "lease_seconds": queue.OFFLINE_AFTER // 1000}
    return {**answer, "api_key": issued} if issued is not None else answer


def _issued(call: Call, wanted: Register) -> tuple[ApiKey, str]:
    """A key for an agent of the same machine, where the server's settings let it register itself."""
    if call.context.settings.auth.mode != "local" or not _of_this_machine(call):
        raise key_required("register_agent", call.caller)
    projects = [each.id for each in call.tx.projects.all() if each.active]
    if len(projects) != 1:
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"Without an API key the project must be clear; {len(projects)} are active.",
            "Ask the person who started you for an API key of your project.",
        )
    if call.tx.queues.presence(wanted.agent_id) is not None or call.tx.queues.keys_of(wanted.agent_id):
        raise Refusal(
            Code.INVALID_CREDENTIALS,
            f"{wanted.agent_id} has a key already.",
            "Use that api_key (its first registration answered with it, or a person has made it), or another agent_id.",
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
            f"Register as {key.agent_id}, or use a key of your own.",
        )
    if not key.serves(wanted.agent_type):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"This API key is not for {wanted.agent_type}.",
            f"It is for: {', '.join(key.types)}.",
        )


def _refuse_taken(call: Call, key: ApiKey, agent_id: str, before: Presence | None) -> None:
    """Whose id it is, its key says: one that is nobody's yet takes no other's, and an agent serves one project."""
    elsewhere = before is not None and before.project_id != key.project_id
    if elsewhere or (key.agent_id is None and call.tx.queues.keys_of(agent_id)):
        raise _somebody_elses(agent_id)


def _somebody_elses(agent_id: str) -> Refusal:
    return Refusal(
        Code.PERMISSION_DENIED,
        f"{agent_id} is somebody else's id.",
        "Choose another agent_id, or ask the person who gave you this key for one of that agent.",
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
        names.refuse_misleading(call, agent_id, name, [key.project_id], by_itself=known is None)
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
        capabilities=tuple(each for each in wanted.capabilities if each != "orchestrator"),
        max_parallel_tasks=queue.CLAIMED_AT_ONCE,
        system_prompt="",
        provider_options={},
        created_at=call.now,
        updated_at=call.now,
    )
    call.tx.agents.add(agent, None)
    return agent


def _shown(call: Call, presence: Presence) -> dict[str, Any]:
    busy = bool(call.tx.queues.claims_of(presence.agent_id))
    return {
        "agent_id": presence.agent_id,
        "agent_type": presence.agent_type,
        "capabilities": list(presence.capabilities),
        "status": "offline" if not presence.online else "busy" if busy else "online",
    }


def _claims(call: Call, agent_id: str) -> list[dict[str, Any]]:
    """What it holds: an agent that lost an answer learns here what it has."""
    return [
        {"task_id": each.task_id, "attempt": each.attempt, "expires_at": iso(each.expires_at)}
        for each in call.tx.queues.claims_of(agent_id)
    ]


# --- being there -----------------------------------------------------------------------------------------------------


class Here(Parameters):
    agent_id: Id = Field(description="Your id.")


class Alive(Result):
    agent_id: str
    status: str
    heartbeat_seconds: int
    claims: list[dict[str, Any]]


@operation("heartbeat", grant=Grant.QUEUE_AGENT, parameters=Here, result=Alive)
def heartbeat(call: Call, here: Here) -> dict[str, Any]:
    """Say that you are still there: renews your claims. Every 30 seconds."""
    presence = queue_claims.seen(call, _present(call, here.agent_id), heartbeat=True)
    for each in call.tx.queues.claims_of(presence.agent_id):
        call.tx.queues.save_claim(queue.renewed(each, call.now))
    return {
        "success": True,
        **{name: value for name, value in _shown(call, presence).items() if name in ("agent_id", "status")},
        "heartbeat_seconds": queue.HEARTBEAT_SECONDS,
        "claims": _claims(call, presence.agent_id),
    }


def _present(call: Call, agent_id: str) -> Presence:
    """The registered agent whose key this is. Raises Refusal."""
    key = call.caller.key
    if key is None or key.agent_id not in (None, agent_id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"You are not {agent_id}." if key is None else f"This API key belongs to {key.agent_id}.",
            "Use your own agent_id.",
        )
    presence = call.tx.queues.presence(agent_id) if key.agent_id == agent_id else None
    if presence is None or presence.project_id != key.project_id:
        raise Refusal(
            Code.NOT_NOW,
            f"{agent_id} is not registered.",
            "Call register_agent(agent_id, agent_type) first.",
        )
    return presence


class Left(Said):
    agent_id: str
    released: list[str]


@operation("unregister_agent", grant=Grant.QUEUE_AGENT, parameters=Here, result=Left)
def unregister_agent(call: Call, here: Here) -> dict[str, Any]:
    """Leave: what you have not finished goes back to the queue."""
    presence = _present(call, here.agent_id)
    released = [each.task_id for each in call.tx.queues.claims_of(presence.agent_id)]
    if presence.online:
        queue_claims.go_offline(call, presence, releases=True, counted=False)
    return {"success": True, "agent_id": presence.agent_id, "released": released}


class ListAgents(Parameters):
    agent_type: TypeName | None = Field(None, description="Only of this queue.")
    status: Literal["online", "busy", "offline"] | None = Field(None, description="Only these.")


class Agents(Result):
    agents: list[dict[str, Any]]


@operation("list_agents", grant=Grant.QUEUE_AGENT, parameters=ListAgents, result=Agents)
def list_agents(call: Call, wanted: ListAgents) -> dict[str, Any]:
    """Who serves which queue: online, busy or offline, last seen, and with which task."""
    found = []
    for presence in call.tx.queues.presences(call.caller.project_id or ""):
        queue_claims.lapse_presence(call, presence)
        now = call.tx.queues.presence(presence.agent_id) or presence
        shown = {
            **_shown(call, now),
            "last_seen": iso(now.seen_at),
            "registered_at": iso(now.registered_at),
            "current_tasks": [each.task_id for each in call.tx.queues.claims_of(now.agent_id)],
        }
        if wanted.agent_type in (None, shown["agent_type"]) and wanted.status in (None, shown["status"]):
            found.append(shown)
    return {"success": True, "agents": found}


# --- polling ---------------------------------------------------------------------------------------------------------


class Poll(Parameters):
    agent_id: Id = Field(description="Your id.")
    max_tasks: int = Field(1, ge=1, le=queue.CLAIMED_AT_ONCE, description="At most so many.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for a task.")


class Polled(Result):
    result: list[dict[str, Any]]


@operation("poll_tasks", grant=Grant.QUEUE_AGENT, parameters=Poll, result=Polled, waits=True, bare="result")
def poll_tasks(call: Call, wanted: Poll) -> dict[str, Any] | Later:
    """Claim tasks of your queue: they are yours, in progress, for their time-out. None: an empty list."""
    presence = queue_claims.seen(call, _present(call, wanted.agent_id))
    held = call.tx.queues.claims_of(presence.agent_id)
    room = queue.CLAIMED_AT_ONCE - len(held)
    if room <= 0:
        raise Refusal(
            Code.LIMIT_REACHED,
            f"You hold {len(held)} tasks; {queue.CLAIMED_AT_ONCE} is the limit.",
            "Submit results first.",
            limit=queue.CLAIMED_AT_ONCE,
        )
    project = call.project(presence.project_id)
    queue_claims.lapse(call, project.id)
    many = min(wanted.max_tasks, room)
    ready = call.tx.queues.ready(project.id, presence.agent_type, call.now, many + 1) if project.active else []
    taken = [task for each in ready[:many] if (task := queue_claims.claim(call, each, call.agent)) is not None]
    if len(ready) > many:  # a hint wakes a few of those who wait: there is work for more
        call.tx.hint(task_commands.queue_topic(project.id, presence.agent_type))
    if not taken and wanted.wait_seconds and call.may_wait:
        topics = {task_commands.queue_topic(project.id, presence.agent_type), f"project-status:{project.id}"}
        return Later(frozenset(topics), queue_claims.next_look(call, project.id, presence.agent_type))
    return {"success": True, "result": queued.show_all(call, taken)}


# --- submitting ------------------------------------------------------------------------------------------------------


class Submit(Parameters):
    task_id: Id = Field(description="The task.")
    status: Literal["completed", "failed"] = Field(description="How it ended.")
    result: Any = Field(None, description="What came of it, as JSON.")
    error: Lines | None = Field(None, max_length=100_000, description="Why it failed.")
    retryable: bool = Field(False, description="Failed, but another attempt may succeed.")
    attempt: int | None = Field(None, ge=1, description="The attempt you were given; default: your present one.")
    agent_id: Id | None = Field(None, description="Your id; your key says it already.")


class Submitted(Result):
    task_id: str
    status: str
    task: dict[str, Any]


@operation("submit_result", grant=Grant.QUEUE_AGENT, parameters=Submit, result=Submitted)
def submit_result(call: Call, submitted: Submit) -> dict[str, Any]:
    """Hand in the result of a task that you have claimed. The same again answers the same."""
    me = _me(call, submitted.agent_id)
    task = call.task(submitted.task_id)
    outcome = submitted.model_dump(include={"status", "result", "error", "retryable"})
    held = call.tx.queues.live_claim(task.id)
    if held is None or held.agent_id != me or submitted.attempt not in (None, held.attempt):
        return _late(call, task, me, submitted, outcome)
    if (presence := call.tx.queues.presence(me)) is not None:
        queue_claims.seen(call, presence)
    if submitted.status == "failed" and submitted.retryable:
        call.tx.tasks.save_details(task.id, error=submitted.error)
        queue_claims.lose(call, held, "failed", outcome=outcome)
    else:
        call.tx.queues.save_claim(queue.ended(held, "submitted", call.now, outcome))
        _finish(call, task, me, submitted)
    return _answer(call, task.id)


def _me(call: Call, agent_id: str | None) -> str:
    mine = call.caller.key.agent_id if call.caller.key is not None else call.actor.id
    if agent_id not in (None, mine):
        raise Refusal(
            Code.PERMISSION_DENIED, f"This API key belongs to {mine}.", "Leave agent_id out, or use your own."
        )
    return mine or call.actor.id


def _finish(call: Call, task: Task, me: str, submitted: Submit) -> None:
    to = TaskStatus.COMPLETED if submitted.status == "completed" else TaskStatus.FAILED
    reason = None if to is TaskStatus.COMPLETED else submitted.error or "(failed without a reason)"
    task_commands.move(call, call.ground(task), task, to, reason, actor=Actor(me))
    call.tx.tasks.save_details(task.id, result=submitted.result, error=submitted.error)


def _late(call: Call, task: Task, me: str, submitted: Submit, outcome: dict[str, Any]) -> dict[str, Any]:
    """Not (any more) the caller's: the same result again is fine, a late one is kept as an event and refused."""
    mine = [each for each in call.tx.queues.claims_of_task(task.id) if each.agent_id == me]
    claim = next((each for each in reversed(mine) if submitted.attempt in (None, each.attempt)), None)
    if claim is None:
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"You have not claimed task {task.id}.",
            "Submit results of tasks that poll_tasks gave you.",
            task_id=task.id,
        )
    if claim.end_reason in ("submitted", "failed") and claim.outcome == outcome:
        return _answer(call, task.id)
    if claim.end_reason == "submitted":
        raise Refusal(
            Code.CONFLICT,
            f"Another result was submitted for attempt {claim.attempt} of task {task.id}.",
            "The first one stands; nothing was changed.",
            task_id=task.id,
            status=task.status.value,
        )
    return _too_late(call, task, claim, outcome)


def _too_late(call: Call, task: Task, claim: Claim, outcome: dict[str, Any]) -> dict[str, Any]:
    call.event(
        "claim.late_result",
        task=task,
        agent_id=claim.agent_id,
        data={"attempt": claim.attempt, "outcome": outcome if len(repr(outcome)) < _KEPT else "(too long to keep)"},
    )
    return Refusal(
        Code.NOT_NOW,
        f"Attempt {claim.attempt} of task {task.id} is over ({claim.end_reason}); it is in attempt {task.attempt}.",
        "Your result was not taken (it is kept as an event). Poll for the next task.",
        task_id=task.id,
        attempt=task.attempt,
    ).answer()


_KEPT = 20_000
"""Characters of a late result that an event keeps."""


def _answer(call: Call, task_id: str) -> dict[str, Any]:
    task = queued.show(call, call.task(task_id))
    return {"success": True, **task, "task": task}


# --- looking ---------------------------------------------------------------------------------------------------------


class TaskStatusOf(Parameters):
    task_id: Id = Field(description="The task.")
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait until it is closed.")


@operation(
    "get_task_status",
    shown_to=Audience.ORCHESTRATOR,
    grant=Grant.QUEUE_AGENT,
    parameters=TaskStatusOf,
    result=Submitted,
    waits=True,
)
def get_task_status(call: Call, wanted: TaskStatusOf) -> dict[str, Any] | Later:
    """How a task stands; with wait_seconds as soon as it is closed."""
    task = call.task(wanted.task_id)
    tree = call.ground(task).tree
    flagged = tree.dependency_failed(tree.tasks[task.id])
    if task.open and not flagged and wanted.wait_seconds and call.may_wait:
        return Later(frozenset({f"task:{task.root_id}", f"project:{task.project_id}"}))
    held = call.tx.queues.live_claim(task.id)
    return {
        **_answer(call, task.id),
        "dependency_failed": flagged,
        "no_agent": task.for_queue and task.status is TaskStatus.TODO and task.agent_type not in _served(call, task),
        "claim_expires_at": iso_or_none(held.expires_at if held is not None else None),
    }


def _served(call: Call, task: Task) -> frozenset[str]:
    return call.ground(task).served
