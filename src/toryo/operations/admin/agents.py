"""Managing agents: create, edit, passkeys, resume, activate, deactivate. REST and CLI; not MCP tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo import clearable_fields, provider_options, secret_patterns
from toryo.deeds import Blank, deed
from toryo.domain import agents as people
from toryo.domain import ids
from toryo.domain.agents import Agent, Kind, Role
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.times import iso
from toryo.domain.wording import say
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters, Proof, Route, operation
from toryo.operations.calls.credential_verification import digest
from toryo.operations.calls.fields import Id, Name, Text
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.optimistic_concurrency import refuse_stale
from toryo.operations.calls.pagination import Paged, cut, paged
from toryo.operations.calls.results import Result
from toryo.operations.calls.sign_in_lockout import PASSKEY
from toryo.operations.directory import confusable_names as directory_names
from toryo.operations.directory import person_roles, wider_rights
from toryo.operations.directory.memberships import AgentsResult, join
from toryo.operations.launches import agent_dismissal, cooldowns
from toryo.operations.messaging import mailboxes
from toryo.operations.people import credential_revocation
from toryo.operations.tasks import lines
from toryo.provider_options import SANDBOX_NETWORK, Wrong
from toryo.sandbox_network import Asked, in_force
from toryo.workflow.snapshot import Cooldown


class AgentResult(Result):
    agent_id: str
    agent: schemas.Agent
    passkey: NotRequired[str]
    warnings: NotRequired[Sequence[str]]
    widened: NotRequired[list[str]]
    changes: NotRequired[list[str]]


class CreateAgent(Parameters):
    id: Id | None = Field(None, description="An id of your own choice: 1-64 of a-z 0-9 . _ -")
    role: Literal["owner", "manager", "worker"] = Field(description="Its place in the hierarchy.")
    kind: Literal["ai", "human"] = Field("ai", description="A program or a person.")
    name: Name | None = Field(None, description="Its name; default: the id.")
    reports_to: Id | None = Field(None, description="Its superior.")
    provider: str | None = Field(None, min_length=1, max_length=100, description="The program behind it (ai_type).")
    model: str | None = Field(None, min_length=1, max_length=200, description="The model to use.")
    system_prompt: Text = Field("", description="Its role in words, delivered when it signs in.")
    agent_type: str | None = Field(None, min_length=1, max_length=100, description="The queue it serves.")
    capabilities: list[str] = Field(default_factory=list, max_length=100, description="What it can do.")
    max_parallel_tasks: int = Field(
        1, ge=1, le=1000, description="Main tasks in progress per project at most. One process works on them in turn."
    )
    provider_options: dict[str, Any] = Field(default_factory=dict, description="Options of its provider.")
    projects: list[Id] = Field(default_factory=list, max_length=100, description="Projects it becomes a member of.")
    preview: bool = Field(False, description="Dry run: create nothing; return the result, and what widens rights.")


def _judge_plans(_: Call, wanted: Any) -> Callable[[], list[Wrong]] | None:
    """Plans are judged outside of the transaction: a long one takes seconds, and others write meanwhile."""
    return partial(_mistakes_of_plans, wanted.provider_options) if wanted.provider_options else None


def _wrong_plans(call: Call, options: dict[str, Any]) -> list[Wrong]:
    """The mistakes of the plans that a call brings; where nothing was judged before, there are none, or hardly ever."""
    judged: list[Wrong] | None = call.prepared
    return _mistakes_of_plans(options) if judged is None else judged


def _mistakes_of_plans(options: dict[str, Any]) -> list[Wrong]:
    from toryo.formats import plan_options  # not before somebody makes an agent: a server starts without it

    return [
        Wrong(
            name,
            provider_options.say(
                "A provider option is invalid ({option}): {mistake}", option=name, mistake=each.told(found.source)
            ),
            provider_options.say("Correct it and send the request again."),
        )
        for name, found in plan_options.mistakes(options)
        for each in found.found
    ]


@operation(
    "create_agent",
    grant=Grant.OWNER,
    parameters=CreateAgent,
    route=Route("POST", "/agents", 201),
    tool=False,
    proof=Proof.WHERE_WIDER,
    beforehand=_judge_plans,
)
def create_agent(call: Call, wanted: CreateAgent) -> AgentResult:
    """Create an agent. Its passkey is shown once, here."""
    wrong_plans = _wrong_plans(call, wanted.provider_options)
    call.tx.lock_everything()
    agent_id = ids.chosen(wanted.id) if wanted.id else call.new_id(ids.AGENT)
    if (existing := call.tx.agents.find(agent_id)) is not None:
        raise person_roles.id_taken(existing)
    if wanted.reports_to is not None:
        call.known_agent(wanted.reports_to)
    for each in wanted.projects:
        call.project(each)
    agent = Agent(
        id=agent_id,
        name=(wanted.name or agent_id).strip(),
        kind=Kind(wanted.kind),
        role=Role(wanted.role),
        reports_to=wanted.reports_to,
        status=people.Status.ACTIVE,
        provider=wanted.provider,
        model=wanted.model,
        agent_type=wanted.agent_type,
        capabilities=tuple(wanted.capabilities),
        max_parallel_tasks=wanted.max_parallel_tasks,
        system_prompt=wanted.system_prompt,
        provider_options=wanted.provider_options,
        created_at=call.now,
        updated_at=call.now,
    )
    _refuse_provider_of_person(agent)
    if not agent.human:
        directory_names.refuse_misleading(call, agent.id, agent.name, wanted.projects)
    people.refuse_mistakes(agent, wrong_plans)
    widened = wider_rights.widened(None, agent)
    if wanted.preview:
        return {**_agent(call, agent), **wider_rights.note(widened)}
    passkey = call.new_token(secret_patterns.PASSKEY)
    call.tx.agents.add(agent, digest(passkey))
    data = {"role": agent.role.value, "provider": agent.provider, **wider_rights.note(widened)}
    call.event("agent.created", agent_id=agent.id, data=data)
    for each in wanted.projects:
        join(call, each, agent.id)
    lines.go_on_of(call, agent.id)
    return {**_agent(call, agent), "passkey": passkey, **wider_rights.note(widened)}


def _agent(call: Call, agent: Agent) -> AgentResult:
    """`warnings`: the request is valid, but the agent will not work like this."""
    seen = call.tx.coordinators.all()
    warnings = wider_rights.warnings(agent, wider_rights.reported_providers(seen))
    warnings += [*wider_rights.without_account(agent, seen), *wider_rights.without_effect(agent)]
    answer: AgentResult = {"success": True, "agent_id": agent.id, "agent": rendering.agent(agent)}
    return {**answer, "warnings": warnings} if warnings else answer


def _refuse_provider_of_person(agent: Agent) -> None:
    if agent.human and agent.provider is not None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A person cannot have a provider.",
            "Omit provider, or create an AI agent.",
        )


@operation(
    "list_agents_of_server",
    grant=Grant.PERSON,
    parameters=Paged,
    route=Route("GET", "/agents"),
    tool=False,
    reads=True,
)
def list_agents(call: Call, wanted: Paged) -> AgentsResult:
    """All agents, people and programs; for members, the people and the agents of their projects."""
    visible = [each for each in call.tx.agents.all() if visibility.sees_agent(call, each)]
    found, more = cut(visible, wanted, lambda each: each.id)
    answer: AgentsResult = {"success": True, "agents": [rendering.agent(each) for each in found]}
    return paged(answer, more)


class Resumed(Result):
    agent_id: str
    ended: list[str]


class OneAgent(Parameters):
    agent_id: Id = Field(description="The agent.")


class NetworkInForce(TypedDict):
    """What its program reaches from a sandbox in one project, unless its Coordinator's file says less, and the setting
    that says so."""

    project_id: str
    network: schemas.NetworkName
    setting: str


class OneAgentResult(AgentResult):
    projects: list[str]
    networks: list[NetworkInForce]
    cooldowns: list[schemas.Cooldown]


@operation(
    "show_agent",
    grant=Grant.PERSON,
    parameters=OneAgent,
    route=Route("GET", "/agents/{agent_id}"),
    tool=False,
    reads=True,
)
def show_agent(call: Call, wanted: OneAgent) -> OneAgentResult:
    """One agent, and the projects it belongs to."""
    agent = call.known_agent(wanted.agent_id)
    projects = [project for project in call.tx.agents.projects_of(agent.id) if visibility.sees(call, project)]
    return {
        **_agent(call, agent),
        "projects": projects,
        "networks": _networks(call, agent, projects) if agent.managed else [],
        "cooldowns": _cooldowns(call, agent),
    }


def _networks(call: Call, agent: Agent, project_ids: list[str]) -> list[NetworkInForce]:
    given: list[NetworkInForce] = []
    for project in filter(None, map(call.tx.projects.find, project_ids)):
        asked = Asked.read(rendering.asked_network(project))
        found = in_force(asked, agent.provider_options.get(SANDBOX_NETWORK.name))
        given.append({"project_id": project.id, "network": found.network.value, "setting": found.setting.value})
    return given


def _cooldowns(call: Call, agent: Agent) -> list[schemas.Cooldown]:
    """What keeps it from being started for now: its own failures, and used-up accounts of its programs."""
    rows = sorted(call.tx.agents.cooldowns(agent.id).items(), reverse=True)
    names = {each.account for each in agent.programs if each.account is not None}
    used_up = sorted(call.tx.agents.accounts(names).items())
    held = [(purpose.value, cooldown) for purpose, found in rows for cooldown in found]
    held += [(f"account {name}", Cooldown(*found)) for name, found in used_up]
    return [
        {
            "what": what,
            "reason": cooldown.reason,
            "program": cooldown.program,
            "until": iso(cooldown.until),
            "seconds_left": (cooldown.until - call.now) // 1000,
        }
        for what, cooldown in held
        if cooldown.until > call.now
    ]


class EditAgent(OneAgent):
    name: Name | None = Field(None, description="New name.")
    role: Literal["owner", "manager", "worker"] | None = Field(None, description="New role.")
    reports_to: Id | None = Field(None, description="New superior; null: none.")
    provider: str | None = Field(
        None, min_length=1, max_length=100, description="New provider; null: nobody starts it."
    )
    model: str | None = Field(
        None, min_length=1, max_length=200, description="New model; null: the provider's default."
    )
    system_prompt: Text | None = Field(None, description="New system prompt.")
    agent_type: str | None = Field(None, min_length=1, max_length=100, description="New queue; null: none.")
    capabilities: list[str] | None = Field(None, max_length=100, description="What it can do.")
    max_parallel_tasks: int | None = Field(
        None, ge=1, le=1000, description="Main tasks in progress at most; one process works on them in turn."
    )
    provider_options: dict[str, Any] | None = Field(
        None,
        description="Options of its provider to change: each replaces the one of its name as a whole, null removes it,"
        " the others stay.",
    )
    replace_options: bool = Field(False, description="provider_options are all of them: the others are removed.")
    version: int | None = Field(None, description="The version you expect; any other is a conflict.")
    preview: bool = Field(False, description="Dry run: change nothing; return the changes, and what widens rights.")


_MAY_BE_NULL = clearable_fields.nullable("edit_agent")


@operation(
    "edit_agent",
    grant=Grant.OWNER,
    parameters=EditAgent,
    route=Route("PATCH", "/agents/{agent_id}"),
    tool=False,
    proof=Proof.WHERE_WIDER,
    beforehand=_judge_plans,
)
def edit_agent(call: Call, wanted: EditAgent) -> AgentResult:
    """Change an agent. The next start uses the new values. What widens its rights is told, and kept in the events."""
    wrong_plans = _wrong_plans(call, wanted.provider_options or {})
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    refuse_stale(wanted.version, agent.version)
    given = wanted.model_dump(exclude={"agent_id", "version", "replace_options", "preview"}, exclude_unset=True)
    values = {name: value for name, value in given.items() if value is not None or name in _MAY_BE_NULL}
    if "role" in values:
        values["role"] = Role(values["role"])
    if "capabilities" in values:
        values["capabilities"] = tuple(values["capabilities"])
    if values.get("reports_to") is not None:
        call.known_agent(values["reports_to"])
        people.refuse_cycle(agent.id, values["reports_to"], call.tx.agents.tree())
    if "provider_options" in values:
        values["provider_options"] = _merged(agent, values["provider_options"], whole=wanted.replace_options)
    changed = replace(agent, **values)
    _refuse_provider_of_person(changed)
    if not _DECIDE_RIGHTS.isdisjoint(values) and not (changed.provider is None and "provider_options" not in values):
        people.refuse_mistakes(changed, wrong_plans)
    if changed.name != agent.name and not agent.human:
        directory_names.refuse_misleading(call, agent.id, changed.name, call.tx.agents.projects_of(agent.id))
    widened = wider_rights.widened(agent, changed)
    changes = provider_options.changes(agent.provider_options, changed.provider_options)
    answer = (
        _agent(call, changed)
        if wanted.preview
        else _save_agent(call, agent, changed, "agent.edited", sorted(values), widened)
    )
    return {**answer, "changes": changes, **wider_rights.note(widened)}


_DECIDE_RIGHTS = frozenset({"provider", "model", "provider_options"})
"""What is checked when one of these is changed: a name can be changed whatever an older Toryo has stored there."""


def _merged(agent: Agent, given: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """The agent's options with these in place of theirs; null removes one that is there."""
    if whole:
        return given
    known = agent.provider_options.keys() | {option.name for option in provider_options.EVERY}
    removed = {name for name, value in given.items() if value is None and name in known}
    merged = {**agent.provider_options, **given}
    return {name: value for name, value in merged.items() if name not in removed}


def _save_agent(
    call: Call,
    before: Agent,
    after: Agent,
    kind: str,
    fields: list[str] | None = None,
    widened: list[str] | None = None,
) -> AgentResult:
    if after != before:
        if (before.provider, before.model, before.provider_options) != (
            after.provider,
            after.model,
            after.provider_options,
        ):
            cooldowns.after_edit(call, after)
        after = replace(after, updated_at=call.now, version=before.version + 1)
        call.tx.agents.save(before, after)
        call.event(kind, agent_id=after.id, data={"fields": fields or [], **wider_rights.note(widened or [])})
        call.tx.hint(WORK)
        for project_id in call.tx.agents.projects_of(after.id):
            mailboxes.wake(call, project_id, after.id)
        if after.active:
            lines.go_on_of(call, after.id)
    return _agent(call, after)


class Passkey(Result):
    agent_id: str
    passkey: str


@operation(
    "renew_passkey",
    grant=Grant.OWNER,
    parameters=OneAgent,
    route=Route("POST", "/agents/{agent_id}/passkey"),
    tool=False,
    proof=Proof.ALWAYS,
)
def renew_passkey(call: Call, wanted: OneAgent) -> Passkey:
    """Create a new passkey, shown once. The old one is refused from now on, and sessions signed in with it end."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    passkey = call.new_token(secret_patterns.PASSKEY)
    call.tx.agents.set_passkey(agent.id, digest(passkey))
    call.context.tries.forgive(PASSKEY, agent.id)
    call.event("agent.passkey_renewed", agent_id=agent.id)
    agent_dismissal.dismiss_by_passkey(call, agent)
    return {"success": True, "agent_id": agent.id, "passkey": passkey}


@operation(
    "activate_agent",
    grant=Grant.OWNER,
    parameters=OneAgent,
    route=Route("POST", "/agents/{agent_id}/activate"),
    tool=False,
    proof=Proof.WHERE_WIDER,
)
def activate_agent(call: Call, wanted: OneAgent) -> AgentResult:
    """Let an agent be assigned and started again; a cooldown of it ends."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    if agent.human and not agent.active:
        call.prove()
    _warm(call, agent)
    return _save_agent(call, agent, replace(agent, status=people.Status.ACTIVE, deactivated_at=None), "agent.activated")


@operation(
    "resume_agent",
    grant=Grant.WRITER,
    parameters=OneAgent,
    route=Route("POST", "/agents/{agent_id}/resume"),
    tool=False,
)
def resume_agent(call: Call, wanted: OneAgent) -> Resumed:
    """End the cooldown of an agent, and of the accounts of its program and fallbacks: all agents on them can start."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    before = call.tx.agents.cooldowns(agent.id)
    ended = _warm(call, agent)
    if ended or before:  # what was over by itself was told as a need until now
        call.event("agent.resumed", agent_id=agent.id, data={"ended": ended})
        call.tx.hint(WORK)
        lines.go_on(call)  # others work on the same accounts
    return {"success": True, "agent_id": agent.id, "ended": ended}


def _warm(call: Call, agent: Agent) -> list[str]:
    """Which cooldowns were ended: `task`, `chat`, `account NAME`. What was over by itself is not told."""
    cooldowns = call.tx.agents.cooldowns(agent.id)
    lasting = [purpose.value for purpose, found in cooldowns.items() if any(each.until > call.now for each in found)]
    names = {program.account for program in agent.programs if program.account is not None}
    used_up = sorted(name for name, row in call.tx.agents.accounts(names).items() if row[0] > call.now)
    for purpose, found in cooldowns.items():
        call.tx.agents.warm(agent.id, purpose, found)
    for name in names:
        call.tx.agents.warm_account(name)
    return [*sorted(lasting, reverse=True), *(f"account {name}" for name in used_up)]


@operation(
    "deactivate_agent",
    grant=Grant.OWNER,
    parameters=OneAgent,
    route=Route("POST", "/agents/{agent_id}/deactivate"),
    tool=False,
)
def deactivate_agent(call: Call, wanted: OneAgent) -> AgentResult:
    """Deactivate an agent or a person: no more starts or assignments; sessions, browser sign-ins and tokens end at
    once."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    if not agent.active:
        return _save_agent(call, agent, agent, "agent.deactivated")
    if agent.id == people.OWNER_ID:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{owner} cannot be deactivated: it is the owner of the data directory.", owner=agent.id),
            say(
                "{deed:To revoke one of its access tokens instead: …}",
                deed=deed("revoke_access_token", token_id=Blank("ID")),
            ),
        )
    agent_dismissal.dismiss(call, agent)
    if agent.human:
        credential_revocation.end_all(call, agent.id)
    return _save_agent(
        call, agent, replace(agent, status=people.Status.INACTIVE, deactivated_at=call.now), "agent.deactivated"
    )
