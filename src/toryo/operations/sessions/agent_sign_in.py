"""Signing in and out: `authenticate`, `report_model`, `logout`.

A sign-in consumes a launch, which fixes purpose and main task. Without a launch, the launch decision is asked, and a
refusal contains its reason.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Any, NotRequired

from pydantic import Field

from toryo.deeds import deed
from toryo.domain import handover, ids
from toryo.domain.agents import Agent, Program
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Launch, Purpose, State
from toryo.domain.projects import Language
from toryo.domain.sessions import End, Session
from toryo.domain.tasks import Task
from toryo.domain.times import SECOND, Millis, iso
from toryo.domain.wording import say
from toryo.operations.calls import sign_in_lockout
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.callers import Kind
from toryo.operations.calls.catalogue import Audience, Available, NoParameters, Parameters, operation
from toryo.operations.calls.credential_verification import SESSION, digest
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import listed_for
from toryo.operations.calls.results import Refused, Result, Said
from toryo.operations.launches import end_of_session, launch_decisions, reason_texts, starts
from toryo.operations.translations import words
from toryo.workflow import next_action, program_choice
from toryo.workflow.launch_rules import Action
from toryo.workflow.snapshot import Snapshot


class Authenticate(Parameters):
    agent_id: str | None = Field(
        None,
        max_length=64,
        description="Your agent id; not needed with a launch credential.",
        json_schema_extra=listed_for(Audience.BY_HAND),
    )
    passkey: str | None = Field(
        None,
        max_length=200,
        description="Your passkey; not needed with a launch credential.",
        json_schema_extra=listed_for(Audience.BY_HAND),
    )
    project_id: str | None = Field(
        None,
        max_length=64,
        description="Sign in for this project only.",
        json_schema_extra=listed_for(Audience.BY_HAND),
    )


class SignedIn(Result):
    session_token: NotRequired[str]
    expires_in: NotRequired[int]
    agent_name: NotRequired[str]
    agent_id: NotRequired[str]
    project_id: NotRequired[str]
    purpose: NotRequired[str]
    system_prompt: NotRequired[str]
    instruction: str
    action: NotRequired[str]
    error: NotRequired[str]
    code: NotRequired[str]


@operation(
    "authenticate",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.ALWAYS,
    grant=Grant.OPEN,
    parameters=Authenticate,
    leads=True,
    refusals_carry={"action": "exit"},
)
def authenticate(call: Call, wanted: Authenticate) -> SignedIn | Refused:
    """Sign in. Call it first. If it is refused, stop."""
    if call.caller.kind is Kind.SESSION and call.session.over and wanted.agent_id and wanted.passkey:
        call.forget()  # what it still shows is over; the passkey says who it is
    if call.caller.kind is Kind.SESSION:
        return _again(call, wanted)
    if call.caller.kind is Kind.LAUNCH:
        return _by_credential(call, wanted)
    return _by_passkey(call, wanted)


def _refused(code: Code, error: str, message: str | None = None, **details: Any) -> Refused:
    """The older protocol's sentence in `error`, the code in `code`, and the order to end the process."""
    return Refused(
        {
            **details,
            "success": False,
            "error": error,
            "code": code.value,
            "message": message or error,
            "action": "exit",
            "instruction": words("refused", Language.ENGLISH),
        }
    )


# --- with a launch credential ----------------------------------------------------------------------------------------


def _again(call: Call, wanted: Authenticate) -> SignedIn | Refused:
    """Models repeat it: the same session, a fresh token."""
    session = call.session
    if wanted.agent_id not in (None, session.agent_id):
        return _refused(Code.INVALID_CREDENTIALS, "Invalid agent_id or passkey")
    if session.over:
        return _refused(Code.SESSION_EXPIRED, "This launch is over", reason=session.end_reason)
    token = call.new_token(SESSION)
    call.tx.sessions.renew_token(session.id, digest(token))
    return _welcome(call, call.agent, session, token)


def _by_credential(call: Call, wanted: Authenticate) -> SignedIn | Refused:
    launch = call.caller.launch
    assert launch is not None
    call.enter(launch.project_id)
    if wanted.agent_id not in (None, launch.agent_id) or wanted.project_id not in (None, launch.project_id):
        return _refused(Code.INVALID_CREDENTIALS, "Invalid agent_id or passkey")
    if launch.by_passkey and launch.live:
        call.tx.launches.save(launch, replace(launch, refused_at_sign_in=True))
        return _already_running(call, call.agent, (launch.project_id,))
    if end_of_session.lapse(call, launch, None) or launch.state is not State.ORDERED:
        return _refused(Code.SESSION_EXPIRED, "This launch is over", reason=launch.end_reason or "not_signed_in")
    agent = call.agent
    refusal = _not_employed(call, agent, launch.project_id)
    if refusal is not None:
        end_of_session.end_launch(call, launch, State.EXITED, refusal["error"], told=True)
        return refusal
    return _consume(call, agent, launch, by_passkey=False)


# --- with a passkey --------------------------------------------------------------------------------------------------


def _by_passkey(call: Call, wanted: Authenticate) -> SignedIn | Refused:
    if not wanted.agent_id or not wanted.passkey:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "This connection has no launch credential, so agent_id and passkey are required.",
            "If you were given an agent_id and a passkey, call authenticate(agent_id, passkey). Otherwise end "
            "this process.",
            action="exit",
        )
    agent = call.tx.agents.find(wanted.agent_id)
    refusal = _locked(call, wanted.agent_id) or _wrong_passkey(call, agent, wanted)
    if refusal is not None:
        return refusal
    assert agent is not None
    call.context.tries.forgive(sign_in_lockout.PASSKEY, agent.id, call.remote or "")
    return _sign_in_by_hand(call, agent, wanted.project_id)


def _locked(call: Call, agent_id: str) -> Refused | None:
    until = call.context.tries.locked_until(_counters(call, agent_id), call.now)
    if until is None:
        return None
    return _refused(Code.LOCKED, "Too many failed sign-ins", retry_after=(until - call.now) // SECOND + 1)


def _counters(call: Call, agent_id: str) -> dict[sign_in_lockout.Counter, sign_in_lockout.Rule]:
    return sign_in_lockout.counters(sign_in_lockout.PASSKEY, agent_id, call.remote)


def _wrong_passkey(call: Call, agent: Agent | None, wanted: Authenticate) -> Refused | None:
    """Counted per agent id, known or not, and address: five within a minute lock that pair for a minute.

    Fifty from one address lock the address. An id that does not exist leaves neither a row nor an event.
    """
    stored = call.tx.agents.passkey_hash(agent.id) if agent is not None else None
    if stored is not None and hmac.compare_digest(stored, digest(wanted.passkey or "")):
        return None
    count, locked = call.context.tries.wrong(_counters(call, wanted.agent_id or ""), call.now)
    if agent is not None:
        call.event("session.refused", agent_id=agent.id, data={"reason": "invalid_credentials", "failures": count})
    if agent is not None and locked:
        until = call.now + sign_in_lockout.OF_NAME[sign_in_lockout.PASSKEY].locked_for
        call.event("session.locked", agent_id=agent.id, data={"until": until, "remote": call.remote})
    return _refused(Code.INVALID_CREDENTIALS, "Invalid agent_id or passkey")


def _sign_in_by_hand(call: Call, agent: Agent, project_id: str | None) -> SignedIn | Refused:
    """The oldest ordered launch, else the first project (task before chat) whose launch decision says start."""
    projects = call.tx.agents.projects_of(agent.id)
    if project_id is not None:
        projects = tuple(project for project in projects if project == project_id)
    if not projects:
        return _refused(Code.PERMISSION_DENIED, "Agent not assigned to project", reason="agent_not_assigned")
    for project in sorted(projects):
        call.enter(project)
    refusal = _not_employed(call, agent, projects[0])
    if refusal is not None:
        return refusal
    ordered = _ordered(call, agent, projects)
    if ordered is not None:
        return _consume(call, agent, ordered, by_passkey=True)
    return _on_the_spot(call, agent, projects)


def _ordered(call: Call, agent: Agent, projects: Sequence[str]) -> Launch | None:
    for launch in call.tx.launches.live_of_agent(agent.id):
        if (
            launch.state is State.ORDERED
            and launch.project_id in projects
            and not end_of_session.lapse(call, launch, None)
        ):
            return launch
    return None


def _on_the_spot(call: Call, agent: Agent, projects: Sequence[str]) -> SignedIn | Refused:
    first_reason: str | None = None
    for purpose in (Purpose.TASK, Purpose.CHAT):
        for project_id in projects:
            snapshot, decision = launch_decisions.decide(call, agent.id, project_id, purpose, by_hand=True)
            if decision.action is Action.START:
                program = program_choice.choose(snapshot, purpose, decision.priority) or agent.program
                made = starts.order(call, snapshot, decision, purpose, program)
                if made is not None:
                    return _consume(call, agent, made[0], by_passkey=True)
            running = "already_running" if decision.reason in ("already_running", "start_pending") else None
            first_reason = first_reason or running or (decision.reason if purpose is Purpose.TASK else None)
    if first_reason == "already_running":
        return _already_running(call, agent, projects)
    why = f"No work for {agent.id} now. {reason_texts.in_short(first_reason or 'no_in_progress_task')}"
    return _refused(Code.NOT_NOW, "No work for this agent now", why, reason=first_reason)


def _already_running(call: Call, agent: Agent, projects: Sequence[str]) -> Refused:
    """With the session that is in the way: its program may be gone, which only a person can know."""
    launches = [each for each in call.tx.launches.live_of_agent(agent.id) if each.project_id in projects]
    found = [each for launch in launches if (each := call.tx.sessions.of_launch(launch.id)) is not None]
    error = "Agent already running"
    if not found:
        return _refused(Code.ALREADY_RUNNING, error, reason="already_running", hint="Its program is being started.")
    last = max(found, key=lambda each: each.heard_at)
    return _refused(
        Code.ALREADY_RUNNING,
        error,
        f"{error}: session {last.id}, last heard of at {iso(last.heard_at)}.",
        reason="already_running",
        session_id=last.id,
        hint=say("If its program is gone, a person can end it{deed:: …|.}", deed=deed("end", session_id=last.id)),
    )


def _not_employed(call: Call, agent: Agent, project_id: str) -> Refused | None:
    """Member and active, else the launch decision's reason."""
    if not agent.active:
        return _refused(Code.PERMISSION_DENIED, "Agent is inactive", reason="agent_inactive")
    if not call.tx.agents.members_among(project_id, [agent.id]):
        return _refused(Code.PERMISSION_DENIED, "Agent not assigned to project", reason="agent_not_assigned")
    return None


# --- the session -----------------------------------------------------------------------------------------------------


def _consume(call: Call, agent: Agent, launch: Launch, *, by_passkey: bool) -> SignedIn:
    """The launch becomes a session of its purpose and main task."""
    reported = launch.coordinator_id is not None and not by_passkey
    settings = call.context.settings.session
    lease = settings.lease if reported else min(settings.default_timeout, settings.max_timeout)
    task = call.tx.tasks.find(launch.task_id) if launch.task_id else None
    session = Session(
        id=call.new_id(ids.SESSION),
        agent_id=agent.id,
        project_id=launch.project_id,
        purpose=launch.purpose,
        task_id=launch.task_id,
        launch_id=launch.id,
        fence=launch.fence,
        lease_seconds=lease,
        expires_at=call.now + lease * SECOND,
        created_at=call.now,
        last_call_at=call.now,
        heard_at=call.now,
        patience=_patience(call, task),
        root_id=task.root_id if task else None,
        correlation_id=task.correlation_id if task else call.correlation_id,
    )
    if launch.purpose is Purpose.CHAT:
        box = call.tx.chat.mailbox(launch.project_id, agent.id)
        session = replace(session, fetched_event=box.version, idle_event=box.version)
        call.tx.chat.unwatch(launch.project_id, agent.id)
    token = call.new_token(SESSION)
    signed_in = replace(launch, state=State.SIGNED_IN, signed_in_at=call.now, by_passkey=by_passkey)
    call.tx.launches.save(launch, signed_in)
    _readdress(call, session)
    call.tx.sessions.add(session, digest(token))
    if task is not None:
        idle = task.idle_launches + 1 if launch_decisions.brings_nothing_new(launch.reason, task) else 0
        call.tx.tasks.save(task, replace(task, wait=None, idle_launches=idle))
    call.adopt(session)
    call.event(
        "session.started",
        agent_id=agent.id,
        data={"purpose": launch.purpose.value, "task_id": launch.task_id, "reason": launch.reason},
    )
    call.tx.hint(WORK, f"project:{launch.project_id}")
    return _welcome(call, agent, session, token)


def _readdress(call: Call, session: Session) -> None:
    """What was left for the next session of this agent and task is this session's."""
    for address in handover.addresses(session.project_id, session.agent_id, session.task_id):
        if session.purpose is Purpose.TASK:
            call.tx.handovers.readdress(address, session.id)


def _patience(call: Call, task: Task | None) -> Millis:
    """How long the process may be silent: the limit, or the task's own time limit where that is longer."""
    context = call.tx.tasks.details(task.id).context if task is not None else None
    own = context.get("timeout_seconds") if isinstance(context, dict) else None
    seconds = own if isinstance(own, int | float) and not isinstance(own, bool) else 0
    return max(call.context.limits.silence, int(min(seconds, 604_800) * SECOND))


def _welcome(call: Call, agent: Agent, session: Session, token: str) -> SignedIn:
    project = call.tx.projects.find(session.project_id)
    language = project.settings.language if project else Language.ENGLISH
    return {
        "success": True,
        "session_token": token,
        "expires_in": max(0, (session.expires_at - call.now) // SECOND),
        "agent_id": agent.id,
        "agent_name": agent.name,
        "project_id": session.project_id,
        "purpose": session.purpose.value,
        "system_prompt": agent.system_prompt,
        "instruction": words("signed_in", language),
    }


# --- the model, and leaving ------------------------------------------------------------------------------------------


class ReportModel(Parameters):
    provider: str = Field(min_length=1, max_length=100, description="For example claude.")
    model_id: str = Field(min_length=1, max_length=200, description="Your exact model id, or unknown.")


class ModelReported(Result):
    verified: bool


@operation(
    "report_model",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.WITHDRAWN,
    grant=Grant.ANY_SESSION,
    parameters=ReportModel,
    leads=True,
)
def report_model(call: Call, reported: ReportModel) -> ModelReported:
    """Report your provider and model once, before you start to work."""
    program = _program(call)
    verified = program is None or program.is_model(reported.provider, reported.model_id)
    call.change_session(model_provider=reported.provider, model_id=reported.model_id, model_verified=verified)
    call.event(
        "session.model_reported" if verified else "session.model_mismatch",
        agent_id=call.agent.id,
        data={
            "provider": reported.provider,
            "model_id": reported.model_id,
            "expected_provider": program.provider if program is not None else None,
            "expected_model": program.model if program is not None else None,
        },
    )
    return {"success": True, "verified": verified}


def _program(call: Call) -> Program | None:
    """What was started: the agent's own program, or the one that stands in."""
    launch = call.caller.launch
    if launch is not None and launch.provider is not None:
        return Program(launch.provider, launch.model)
    return call.agent.program


def _left() -> Said:
    """The answer to a caller without a session: signing out always succeeds."""
    return {"success": True, "instruction": words("logged_out", Language.ENGLISH)}


@operation(
    "logout",
    instead=_left,
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.ALWAYS,
    grant=Grant.ANY_SESSION,
    parameters=NoParameters,
)
def logout(call: Call, _: NoParameters) -> Said:
    """End your session. Always succeeds; then stop."""
    session = call.session
    snapshot = call.own_snapshot()
    language = snapshot.project.settings.language if snapshot.project else Language.ENGLISH
    if not session.over:
        _leave(call, snapshot)
    return {"success": True, "instruction": words("logged_out", language)}


_WAITS = {"wait": "workers", "wait_for_answer": "answer", "wait_for_others": "others"}


def _leave(call: Call, snapshot: Snapshot) -> None:
    """An agent whose next action is to wait leaves to wait; any other has left without a report."""
    session = call.session
    if session.purpose is Purpose.CHAT:
        end_of_session.end_session(call, session, End.LOGGED_OUT, counts=True)
        return
    by_rule = session.runaway is None
    action = next_action.decide(snapshot, session).action if by_rule else "exit"
    if action in _WAITS:
        end_of_session.record_wait(call, call.task(session.task_id or ""), _WAITS[action])
        end_of_session.end_session(call, session, End.LEFT_TO_WAIT)
    elif action in next_action.ENDS_SESSION:
        end_of_session.end_session(call, session, End.TOLD_TO_EXIT)
    else:
        end_of_session.end_session(call, session, End.LOGGED_OUT, counts=True)
