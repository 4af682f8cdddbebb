"""What people set up: projects, agents, memberships, passkeys. REST and CLI; not MCP tools."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from toryo import provider_options, tokens
from toryo.domain import agents as people
from toryo.domain import ids, projects
from toryo.domain.agents import Agent, Kind, Role
from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import INTERRUPT, PAUSED, Notification
from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.projects import Project, Settings
from toryo.domain.sessions import End
from toryo.domain.times import iso
from toryo.domain.wording import constant, say
from toryo.operations.calls import near, rendering, schemas
from toryo.operations.calls.call import RIGHTS, WORK, Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.concurrency import refuse_stale
from toryo.operations.calls.failed_logins import PASSKEY
from toryo.operations.calls.fields import Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.identity import digest
from toryo.operations.calls.pagination import Page, Paged, cut
from toryo.operations.calls.results import Result
from toryo.operations.directory import names as directory_names
from toryo.operations.directory import rights
from toryo.operations.launches import dismissal, termination
from toryo.operations.messaging import mailboxes, notifications
from toryo.operations.people import credentials

Id = Annotated[str, Field(min_length=1, max_length=64)]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Text = Annotated[Lines, Field(max_length=100_000)]


class ProjectResult(Result):
    project_id: str
    project: schemas.Project
    widened: NotRequired[list[str]]


class ProjectsResult(Page):
    projects: list[schemas.Project]


class AgentResult(Result):
    agent_id: str
    agent: schemas.Agent
    passkey: NotRequired[str]
    warnings: NotRequired[list[str]]
    widened: NotRequired[list[str]]
    changes: NotRequired[list[str]]


class AgentsResult(Page):
    agents: list[schemas.Agent]


# --- projects --------------------------------------------------------------------------------------------------------


class CreateProject(Parameters):
    name: Name = Field(description="Its name.")
    working_directory: str = Field(
        min_length=1, max_length=4_000, description="Where its agents work: an absolute path."
    )
    description: Text = Field("", description="What it is about.")
    id: Id | None = Field(None, description="An id of your own choice.")
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Project settings that differ from the defaults."
    )


@operation(
    "create_project",
    grant=Grant.OWNER,
    parameters=CreateProject,
    result=ProjectResult,
    route=Route("POST", "/projects", 201),
    tool=False,
)
def create_project(call: Call, wanted: CreateProject) -> dict[str, Any]:
    """Create a project."""
    call.tx.lock_everything()
    project_id = ids.chosen(wanted.id) if wanted.id else call.new_id(ids.PROJECT, wanted.name)
    if call.tx.projects.find(project_id) is not None:
        raise _taken("project", project_id)
    project = Project(
        id=project_id,
        name=wanted.name.strip(),
        description=wanted.description,
        status=projects.Status.ACTIVE,
        working_directory=_directory(wanted.working_directory),
        settings=Settings().changed(wanted.settings),
        created_at=call.now,
        updated_at=call.now,
    )
    call.tx.projects.add(project)
    widened = projects.widened(Settings(), project.settings)
    call.event("project.created", project_id=project.id, data={"name": project.name, **_told(widened)})
    return _project(project)


def _project(project: Project) -> dict[str, Any]:
    return {"success": True, "project_id": project.id, "project": rendering.project(project)}


def _taken(what: str, identifier: str) -> Refusal:
    return Refusal(
        Code.CONFLICT,
        say(
            "There is an agent {identifier} already."
            if what == "agent"
            else "There is a project {identifier} already.",
            identifier=identifier,
        ),
        "Choose another id, or change the one that exists.",
        existing_id=identifier,
    )


def _directory(path: str) -> str:
    """Absolute, `~` expanded; whether it exists is the Coordinator's to see: it may be another machine's."""
    try:
        expanded = Path(path).expanduser()
    except RuntimeError:  # the home directory of somebody who does not exist here
        expanded = Path(path)
    if not expanded.is_absolute():
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("The working directory {path!r} is no absolute path.", path=path),
            "Give the whole path, beginning with / or ~.",
        )
    return os.path.normpath(expanded)  # without touching a file system that may not be this machine's


@operation(
    "list_projects",
    grant=Grant.PERSON,
    parameters=Paged,
    result=ProjectsResult,
    route=Route("GET", "/projects"),
    tool=False,
    reads=True,
)
def list_projects(call: Call, wanted: Paged) -> dict[str, Any]:
    """The projects you may see."""
    visible = [each for each in call.tx.projects.all() if call.sees(each.id)]
    found, more = cut(visible, wanted, lambda each: each.id)
    return {"success": True, "projects": [rendering.project(each) for each in found], **more}


class OneProject(Parameters):
    project_id: Id = Field(description="The project.")


@operation(
    "show_project",
    grant=Grant.PERSON,
    parameters=OneProject,
    result=ProjectResult,
    route=Route("GET", "/projects/{project_id}"),
    tool=False,
    reads=True,
)
def show_project(call: Call, wanted: OneProject) -> dict[str, Any]:
    """One project, with its settings."""
    return _project(call.project(wanted.project_id))


class EditProject(OneProject):
    name: Name | None = Field(None, description="New name.")
    description: Text | None = Field(None, description="New description.")
    working_directory: str | None = Field(None, min_length=1, max_length=4_000, description="New directory.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings to change.")
    version: int | None = Field(None, description="The version you have seen; another is a conflict.")
    preview: bool = Field(False, description="Change nothing; say what would be changed, and what widens rights.")


@operation(
    "edit_project",
    grant=Grant.OWNER,
    parameters=EditProject,
    result=ProjectResult,
    route=Route("PATCH", "/projects/{project_id}"),
    tool=False,
)
def edit_project(call: Call, wanted: EditProject) -> dict[str, Any]:
    """Change a project's name, description, directory or settings."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    refuse_stale(wanted.version, project.version)
    changed = replace(
        project,
        name=wanted.name.strip() if wanted.name else project.name,
        description=project.description if wanted.description is None else wanted.description,
        working_directory=_directory(wanted.working_directory)
        if wanted.working_directory
        else project.working_directory,
        settings=project.settings.changed(wanted.settings),
    )
    widened = projects.widened(project.settings, changed.settings)
    if wanted.preview:
        return {**_project(changed), **_told(widened)}
    return {**_save_project(call, project, changed, "project.edited", widened), **_told(widened)}


def _told(widened: list[str]) -> dict[str, Any]:
    """In an event and in an answer: what a change widens, if anything."""
    return {"widened": widened} if widened else {}


def _save_project(
    call: Call, before: Project, after: Project, kind: str, widened: list[str] | None = None
) -> dict[str, Any]:
    if after == before:
        return _project(before)
    stored = replace(after, updated_at=call.now, version=before.version + 1)
    call.tx.projects.save(before, stored)
    call.event(kind, project_id=stored.id, data={"status": stored.status.value, **_told(widened or [])})
    call.tx.hint(WORK, f"project:{stored.id}", f"project-status:{stored.id}")
    return _project(stored)


@operation(
    "pause_project",
    grant=Grant.WRITER,
    parameters=OneProject,
    result=ProjectResult,
    route=Route("POST", "/projects/{project_id}/pause"),
    tool=False,
)
def pause_project(call: Call, wanted: OneProject) -> dict[str, Any]:
    """Pause a project: nothing starts in it, running agents are told to leave, tasks stay as they are."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if project.status is projects.Status.ARCHIVED:
        raise _illegal(project, "paused")
    if project.status is projects.Status.PAUSED:
        return _project(project)
    _interrupt_everybody(call, project)
    return _save_project(
        call, project, replace(project, status=projects.Status.PAUSED, paused_at=call.now), "project.paused"
    )


@operation(
    "resume_project",
    grant=Grant.WRITER,
    parameters=OneProject,
    result=ProjectResult,
    route=Route("POST", "/projects/{project_id}/resume"),
    tool=False,
)
def resume_project(call: Call, wanted: OneProject) -> dict[str, Any]:
    """Let a paused (or archived) project go on; its agents are started again for what is in progress."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if project.active:
        return _project(project)
    for agent_id, _ in call.tx.sessions.signed_in(project.id):
        for session in call.tx.sessions.live_of(project.id, agent_id).values():
            call.tx.handovers.drop_interrupts(session.id, of_pause=True)
            if session.purpose is Purpose.TASK and session.task_id is not None:
                task = call.tx.tasks.find(session.task_id)
                assert task is not None
                told = "The project goes on: you may go on with your task. Call get_next_action."
                notifications.notify(call, task, session.agent_id, session.id, "status_change", told)
    resumed = replace(project, status=projects.Status.ACTIVE, paused_at=None)
    return _save_project(call, project, resumed, "project.resumed")


@operation(
    "archive_project",
    grant=Grant.OWNER,
    parameters=OneProject,
    result=ProjectResult,
    route=Route("POST", "/projects/{project_id}/archive"),
    tool=False,
)
def archive_project(call: Call, wanted: OneProject) -> dict[str, Any]:
    """Archive a project: nothing starts in it any more, everything stays readable."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if project.status is projects.Status.ARCHIVED:
        return _project(project)
    _interrupt_everybody(call, project)
    archived = replace(project, status=projects.Status.ARCHIVED, paused_at=project.paused_at or call.now)
    return _save_project(call, project, archived, "project.archived")


def _illegal(project: Project, wanted: str) -> Refusal:
    return Refusal(
        Code.INVALID_TRANSITION,
        say(
            "Project {project_id} is {status} and cannot be {wanted}.",
            project_id=project.id,
            status=project.status,
            wanted=constant(wanted),
        ),
        "Resume it first.",
        current_status=project.status.value,
    )


def _interrupt_everybody(call: Call, project: Project) -> None:
    for agent_id, task_id in call.tx.sessions.signed_in(project.id):
        for purpose, session in call.tx.sessions.live_of(project.id, agent_id).items():
            if session.task_id != task_id:
                continue
            call.tx.handovers.notify(
                Notification(
                    id=call.new_id(ids.NOTIFICATION),
                    project_id=project.id,
                    agent_id=agent_id,
                    purpose=purpose,
                    session_id=session.id,
                    task_id=task_id,
                    kind=INTERRUPT,
                    message="The project was paused. Leave your work as it is, and call get_next_action.",
                    cause=PAUSED,
                    created_at=call.now,
                )
            )


# --- members ---------------------------------------------------------------------------------------------------------


class Membership(OneProject):
    agent_id: Id = Field(description="The agent.")


class ListMembers(OneProject, Paged):
    pass


@operation(
    "list_members",
    grant=Grant.PERSON,
    parameters=ListMembers,
    result=AgentsResult,
    route=Route("GET", "/projects/{project_id}/members"),
    tool=False,
    reads=True,
)
def list_members(call: Call, wanted: ListMembers) -> dict[str, Any]:
    """The members of a project."""
    project = call.project(wanted.project_id)
    shown, more = cut(call.tx.agents.members(project.id), wanted, lambda each: each)
    found = {each.id: each for each in call.tx.agents.find_all(shown)}
    return {"success": True, "agents": [rendering.agent(found[each]) for each in shown], **more}


class Joined(Result):
    project_id: str
    agent_id: str
    member: bool
    changed: bool


@operation(
    "add_member",
    grant=Grant.OWNER,
    parameters=Membership,
    result=Joined,
    route=Route("POST", "/projects/{project_id}/members/{agent_id}"),
    tool=False,
)
def add_member(call: Call, wanted: Membership) -> dict[str, Any]:
    """Make an agent a member of a project. Only members are assigned, started or signed in there."""
    call.enter(wanted.project_id)
    project, agent = call.project(wanted.project_id), call.known_agent(wanted.agent_id)
    if not agent.human and not call.tx.agents.members_among(project.id, [agent.id]):
        directory_names.refuse_misleading(call, agent.id, agent.name, [project.id])
    return _joined(call, project.id, agent.id, _join(call, project.id, agent.id))


def _join(call: Call, project_id: str, agent_id: str) -> bool:
    if call.tx.agents.members_among(project_id, [agent_id]):
        return False
    call.tx.agents.join(project_id, agent_id, call.now)
    call.event("project.member_added", project_id=project_id, agent_id=agent_id)
    call.tx.hint(WORK, f"project:{project_id}")
    return True


def _joined(call: Call, project_id: str, agent_id: str, changed: bool) -> dict[str, Any]:
    member = bool(call.tx.agents.members_among(project_id, [agent_id]))
    return {"success": True, "project_id": project_id, "agent_id": agent_id, "member": member, "changed": changed}


@operation(
    "remove_member",
    grant=Grant.OWNER,
    parameters=Membership,
    result=Joined,
    route=Route("DELETE", "/projects/{project_id}/members/{agent_id}"),
    tool=False,
)
def remove_member(call: Call, wanted: Membership) -> dict[str, Any]:
    """End a membership: the agent's session there ends at once, and what it has claimed goes back."""
    call.enter(wanted.project_id)
    project, agent = call.project(wanted.project_id), call.known_agent(wanted.agent_id)
    left = call.tx.agents.leave(project.id, agent.id, call.now)
    if left:
        call.event("project.member_removed", project_id=project.id, agent_id=agent.id)
        dismissal.dismiss(call, agent, project.id)
        call.tx.hint(WORK, f"project:{project.id}")
        mailboxes.wake(call, project.id, agent.id)
    return _joined(call, project.id, agent.id, left)


# --- agents ----------------------------------------------------------------------------------------------------------


class CreateAgent(Parameters):
    id: Id | None = Field(None, description="An id of your own choice: 1-64 of a-z 0-9 . _ -")
    role: Literal["owner", "manager", "worker"] = Field(description="Its place in the hierarchy.")
    kind: Literal["ai", "human"] = Field("ai", description="A program or a person.")
    name: Name | None = Field(None, description="Its name; default: the id.")
    reports_to: Id | None = Field(None, description="Its superior.")
    provider: str | None = Field(None, min_length=1, max_length=100, description="The program behind it (ai_type).")
    model: str | None = Field(None, min_length=1, max_length=200, description="The model it shall use.")
    system_prompt: Text = Field("", description="Its role in words, delivered when it signs in.")
    agent_type: str | None = Field(None, min_length=1, max_length=100, description="The queue it serves.")
    capabilities: list[str] = Field(default_factory=list, max_length=100, description="What it can do.")
    max_parallel_tasks: int = Field(1, ge=1, le=1000, description="Main tasks in progress per project at most.")
    provider_options: dict[str, Any] = Field(default_factory=dict, description="Options of its provider.")
    projects: list[Id] = Field(default_factory=list, max_length=100, description="Projects it becomes a member of.")


@operation(
    "create_agent",
    grant=Grant.OWNER,
    parameters=CreateAgent,
    result=AgentResult,
    route=Route("POST", "/agents", 201),
    tool=False,
)
def create_agent(call: Call, wanted: CreateAgent) -> dict[str, Any]:
    """Create an agent. Its passkey is shown once, here."""
    call.tx.lock_everything()
    agent_id = ids.chosen(wanted.id) if wanted.id else call.new_id(ids.AGENT)
    if call.tx.agents.find(agent_id) is not None:
        raise _taken("agent", agent_id)
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
    people.refuse_mistakes(agent)
    passkey, widened = call.new_token(tokens.PASSKEY), rights.widened(None, agent)
    call.tx.agents.add(agent, digest(passkey))
    data = {"role": agent.role.value, "provider": agent.provider, **_told(widened)}
    call.event("agent.created", agent_id=agent.id, data=data)
    for each in wanted.projects:
        _join(call, each, agent.id)
    return {**_agent(call, agent), "passkey": passkey, **_told(widened)}


def _agent(call: Call, agent: Agent) -> dict[str, Any]:
    """`warnings`: nothing is wrong with what was asked for, and it will not work as it stands."""
    warnings = rights.warnings(agent, rights.reported_providers(call))
    told = {"warnings": warnings} if warnings else {}
    return {"success": True, "agent_id": agent.id, "agent": rendering.agent(agent), **told}


def _refuse_provider_of_person(agent: Agent) -> None:
    if agent.human and agent.provider is not None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A person has no provider: nobody starts people.",
            "Leave provider out, or make it an ai agent.",
        )


@operation(
    "list_agents_of_server",
    grant=Grant.PERSON,
    parameters=Paged,
    result=AgentsResult,
    route=Route("GET", "/agents"),
    tool=False,
    reads=True,
)
def list_agents(call: Call, wanted: Paged) -> dict[str, Any]:
    """All agents, people and programs; for members, the people and the agents of their projects."""
    visible = [each for each in call.tx.agents.all() if call.sees_agent(each)]
    found, more = cut(visible, wanted, lambda each: each.id)
    return {"success": True, "agents": [rendering.agent(each) for each in found], **more}


class Resumed(Result):
    agent_id: str
    ended: list[str]


class OneAgent(Parameters):
    agent_id: Id = Field(description="The agent.")


class OneAgentResult(AgentResult):
    projects: list[str]
    cooldowns: list[schemas.Cooldown]


@operation(
    "show_agent",
    grant=Grant.PERSON,
    parameters=OneAgent,
    result=OneAgentResult,
    route=Route("GET", "/agents/{agent_id}"),
    tool=False,
    reads=True,
)
def show_agent(call: Call, wanted: OneAgent) -> dict[str, Any]:
    """One agent, and the projects it belongs to."""
    agent = call.known_agent(wanted.agent_id)
    return {
        **_agent(call, agent),
        "projects": [each for each in call.tx.agents.projects_of(agent.id) if call.sees(each)],
        "cooldowns": _cooldowns(call, agent),
    }


def _cooldowns(call: Call, agent: Agent) -> list[dict[str, Any]]:
    """What keeps it from being started for now: its own failures, and used-up accounts of its programs."""
    rows = sorted(call.tx.agents.cooldowns(agent.id).items(), reverse=True)
    names = {each.account for each in agent.programs if each.account is not None}
    used_up = sorted(call.tx.agents.accounts(names).items())
    failed = [(name, until, reason, program) for name, (until, reason, _, program) in rows]
    held = [*failed, *((f"account {name}", until, reason, None) for name, (until, reason) in used_up)]
    return [
        {
            "what": what,
            "reason": reason,
            "program": program,
            "until": iso(until),
            "seconds_left": (until - call.now) // 1000,
        }
        for what, until, reason, program in held
        if until > call.now
    ]


class EditAgent(OneAgent):
    name: Name | None = Field(None, description="New name.")
    role: Literal["owner", "manager", "worker"] | None = Field(None, description="New role.")
    reports_to: Id | None = Field(None, description="New superior; null: none.")
    provider: str | None = Field(None, max_length=100, description="New provider; null: nobody starts it.")
    model: str | None = Field(None, max_length=200, description="New model; null: the provider's default.")
    system_prompt: Text | None = Field(None, description="New system prompt.")
    agent_type: str | None = Field(None, max_length=100, description="New queue; null: none.")
    capabilities: list[str] | None = Field(None, max_length=100, description="What it can do.")
    max_parallel_tasks: int | None = Field(None, ge=1, le=1000, description="Main tasks in progress at most.")
    provider_options: dict[str, Any] | None = Field(
        None,
        description="Options of its provider to change: each replaces the one of its name as a whole, null removes it,"
        " the others stay.",
    )
    replace_options: bool = Field(False, description="provider_options are all of them: the others are removed.")
    version: int | None = Field(None, description="The version you have seen; another is a conflict.")
    preview: bool = Field(False, description="Change nothing; say what would be changed, and what widens rights.")


_MAY_BE_NULL = frozenset({"reports_to", "provider", "model", "agent_type"})


@operation(
    "edit_agent",
    grant=Grant.OWNER,
    parameters=EditAgent,
    result=AgentResult,
    route=Route("PATCH", "/agents/{agent_id}"),
    tool=False,
)
def edit_agent(call: Call, wanted: EditAgent) -> dict[str, Any]:
    """Change an agent. The next start uses the new values. What widens its rights is told, and kept in the events."""
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
        people.refuse_mistakes(changed)
    if changed.name != agent.name and not agent.human:
        directory_names.refuse_misleading(call, agent.id, changed.name, call.tx.agents.projects_of(agent.id))
    widened = rights.widened(agent, changed)
    told = {"changes": provider_options.changes(agent.provider_options, changed.provider_options), **_told(widened)}
    if wanted.preview:
        return {**_agent(call, changed), **told}
    return {**_save_agent(call, agent, changed, "agent.edited", sorted(values), widened), **told}


_DECIDE_RIGHTS = frozenset({"provider", "model", "provider_options"})
"""What is checked when one of these is changed: a name can be changed whatever an older Toryo has stored there."""


def _merged(agent: Agent, given: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """The agent's options with these in place of theirs; null removes one that is there."""
    if whole:
        return given
    known = agent.provider_options.keys() | {each.name for each in provider_options.EVERY}
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
) -> dict[str, Any]:
    if after != before:
        after = replace(after, updated_at=call.now, version=before.version + 1)
        call.tx.agents.save(before, after)
        call.event(kind, agent_id=after.id, data={"fields": fields or [], **_told(widened or [])})
        call.tx.hint(WORK)
        for project_id in call.tx.agents.projects_of(after.id):
            mailboxes.wake(call, project_id, after.id)
    return _agent(call, after)


class Passkey(Result):
    agent_id: str
    passkey: str


@operation(
    "renew_passkey",
    grant=Grant.OWNER,
    parameters=OneAgent,
    result=Passkey,
    route=Route("POST", "/agents/{agent_id}/passkey"),
    tool=False,
)
def renew_passkey(call: Call, wanted: OneAgent) -> dict[str, Any]:
    """Make a new passkey, shown once. The old one is refused from now on, and sessions signed in with it end."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    passkey = call.new_token(tokens.PASSKEY)
    call.tx.agents.set_passkey(agent.id, digest(passkey))
    call.context.tries.forgive(PASSKEY, agent.id)
    call.event("agent.passkey_renewed", agent_id=agent.id)
    dismissal.dismiss_by_passkey(call, agent)
    return {"success": True, "agent_id": agent.id, "passkey": passkey}


@operation(
    "activate_agent",
    grant=Grant.OWNER,
    parameters=OneAgent,
    result=AgentResult,
    route=Route("POST", "/agents/{agent_id}/activate"),
    tool=False,
)
def activate_agent(call: Call, wanted: OneAgent) -> dict[str, Any]:
    """Let an agent be assigned and started again; a cooldown of it ends."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    _warm(call, agent)
    return _save_agent(call, agent, replace(agent, status=people.Status.ACTIVE, deactivated_at=None), "agent.activated")


@operation(
    "resume_agent",
    grant=Grant.WRITER,
    parameters=OneAgent,
    result=Resumed,
    route=Route("POST", "/agents/{agent_id}/resume"),
    tool=False,
)
def resume_agent(call: Call, wanted: OneAgent) -> dict[str, Any]:
    """Let an agent start at once though it, or the account of its program, cools down; so may all on that account."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    ended = _warm(call, agent)
    if ended:
        call.event("agent.resumed", agent_id=agent.id, data={"ended": ended})
        call.tx.hint(WORK)
    return {"success": True, "agent_id": agent.id, "ended": ended}


def _warm(call: Call, agent: Agent) -> list[str]:
    """Which cooldowns were ended: `task`, `chat`, `account NAME`. What was over by itself is not told."""
    lasting = [purpose for purpose, row in call.tx.agents.cooldowns(agent.id).items() if row[0] > call.now]
    names = {each.account for each in agent.programs if each.account is not None}
    used_up = sorted(name for name, row in call.tx.agents.accounts(names).items() if row[0] > call.now)
    for purpose in ("task", "chat"):
        call.tx.agents.warm(agent.id, purpose)
    for name in names:
        call.tx.agents.warm_account(name)
    return [*sorted(lasting, reverse=True), *(f"account {name}" for name in used_up)]


@operation(
    "deactivate_agent",
    grant=Grant.OWNER,
    parameters=OneAgent,
    result=AgentResult,
    route=Route("POST", "/agents/{agent_id}/deactivate"),
    tool=False,
)
def deactivate_agent(call: Call, wanted: OneAgent) -> dict[str, Any]:
    """Nobody starts it or assigns it any more; its sessions end at once, and so do browsers and tokens of a person."""
    call.tx.lock_everything()
    agent = call.known_agent(wanted.agent_id)
    if not agent.active:
        return _save_agent(call, agent, agent, "agent.deactivated")
    dismissal.dismiss(call, agent)
    if agent.human:
        credentials.end_all(call, agent.id)
    return _save_agent(
        call, agent, replace(agent, status=people.Status.INACTIVE, deactivated_at=call.now), "agent.deactivated"
    )


# --- sessions --------------------------------------------------------------------------------------------------------


class EndSession(Parameters):
    session_id: Id = Field(description="The session, or the launch: one that nobody has signed in for ends, too.")
    reason: Lines | None = Field(None, max_length=1000, description="Why.")


class SessionEnded(Result):
    session_id: str
    ended: bool


@operation(
    "end_session",
    grant=Grant.WRITER,
    parameters=EndSession,
    result=SessionEnded,
    route=Route("DELETE", "/sessions/{session_id}"),
    tool=False,
)
def end_session(call: Call, wanted: EndSession) -> dict[str, Any]:
    """End a session by force. Its task stays in progress, and its agent is started again if there is work."""
    launch = call.tx.launches.find(wanted.session_id)
    if launch is not None and call.sees(launch.project_id) and _end_unsigned(call, launch):
        return {"success": True, "session_id": launch.id, "ended": True}
    session = call.tx.sessions.find(wanted.session_id) if launch is None else call.tx.sessions.of_launch(launch.id)
    if session is None or not call.sees(session.project_id):
        raise Refusal(
            Code.SESSION_NOT_FOUND,
            say("There is no session {session_id}.", session_id=wanted.session_id),
            near.hint(
                wanted.session_id,
                ((each.id, "") for each in call.tx.sessions.live() if call.sees(each.project_id)),
                "List the sessions for their ids (toryo sessions).",
            ),
        )
    call.enter(session.project_id)
    if not session.over:
        termination.end_session(call, session, End.ENDED_BY_PERSON)
        launch = call.tx.launches.find(session.launch_id)
        if launch is not None:  # its process is given no time to leave by itself
            call.tx.launches.save(launch, replace(launch, stop_reason=End.ENDED_BY_PERSON.value))
        call.tx.hint(RIGHTS)
    return {"success": True, "session_id": session.id, "ended": not session.over}


def _end_unsigned(call: Call, launch: Launch) -> bool:
    """Ends a launch that nobody has signed in for; says whether it was one."""
    call.enter(launch.project_id)
    found = call.tx.launches.find(launch.id)
    if found is None or found.state is not State.ORDERED:
        return False
    ended = termination.end_launch(call, found, State.EXITED, End.ENDED_BY_PERSON.value, told=True)
    call.tx.launches.save(ended, replace(ended, stop_reason=End.ENDED_BY_PERSON.value))
    call.tx.hint(RIGHTS)
    return True
