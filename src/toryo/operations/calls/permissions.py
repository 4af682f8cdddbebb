"""Permissions: which kinds of caller each grant allows.

`refuse` gives the reason and the alternative. It is the only place that refuses an operation because of its caller.
"""

from __future__ import annotations

from toryo.domain.agents import Role
from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Purpose
from toryo.domain.queue import ApiKey
from toryo.domain.wording import say
from toryo.operations.calls.callers import Caller, Kind, Login
from toryo.operations.calls.catalogue import Operation
from toryo.operations.calls.grants import KEYED, Grant


def is_allowed(operation: Operation, caller: Caller) -> bool:
    """Whether the caller's kind, purpose and role open the operation (what it does there is checked in it)."""
    try:
        refuse(operation, caller)
    except Refusal:
        return False
    return True


def refuse(operation: Operation, caller: Caller) -> None:
    """Raises the refusal that tells this caller why not, and what instead; returns if it may."""
    grant = operation.grant
    if grant is Grant.OPEN:
        return
    if grant is Grant.COORDINATOR:
        if caller.kind is not Kind.COORDINATOR:
            raise Refusal(
                Code.COORDINATOR_REQUIRED,
                say("Only Coordinators can call {operation_name}.", operation_name=operation.name),
                "Pass the Coordinator's token as Authorization: Bearer. The person who runs this server has it."
                if caller.kind is Kind.NOBODY
                else _own_way(caller),
            )
        return
    if grant is Grant.READER and caller.kind is not Kind.LAUNCH:
        _refuse_reader(operation, caller)
        return
    if grant in (Grant.PERSON, Grant.WRITER, Grant.OWNER):
        _refuse_person(operation, caller)
        return
    if grant in KEYED:
        _refuse_for_queue(operation, caller)
        return
    refuse_session(operation, caller)


def _refuse_for_queue(operation: Operation, caller: Caller) -> None:
    """API keys, and the sessions that may do the same."""
    if caller.key is not None:
        _refuse_key(operation, caller, caller.key)
    elif operation.grant is Grant.REGISTRAR and caller.kind is Kind.NOBODY:
        return  # the operation itself knows whether this server lets it
    elif operation.grant is Grant.QUEUE_AGENT and caller.session is not None and caller.orchestrates:
        return
    elif operation.grant is Grant.FILER and caller.session is not None and not caller.orchestrates:
        refuse_session(operation, caller)
    elif operation.grant in (Grant.QUEUE_AGENT, Grant.REGISTRAR) or caller.session is None:
        raise key_required(operation.name, caller, operation.grant)


_OF_AN_OWNER = "Pass it as Authorization: Bearer or as api_key. An owner of this server can make one."
_OF_AN_AGENT = (
    "Pass it as Authorization: Bearer or as api_key. register_agent returns one where the server lets agents register "
    "themselves; otherwise an owner of this server can make one."
)


def key_required(name: str, caller: Caller, grant: Grant) -> Refusal:
    """What somebody without an API key is told who calls the operation of that name."""
    stranger = caller.kind is Kind.NOBODY
    return Refusal(
        Code.AUTHENTICATION_REQUIRED,
        say("{name} requires an API key.", name=name),
        (_OF_AN_OWNER if grant in (Grant.FILER, Grant.REGISTRAR) else _OF_AN_AGENT) if stranger else _own_way(caller),
    )


def _own_way(caller: Caller) -> str:
    """What a caller does in place of what is not for its kind. It names only what this caller may call."""
    if caller.session is not None:
        return "Call get_next_action and do what it says."
    if caller.kind is Kind.LAUNCH:
        return "Call authenticate first (no arguments are needed), then follow its answer."
    if caller.kind is Kind.NOBODY:
        return "Sign in first: authenticate(agent_id, passkey). The person who started you has both."
    return "Call help: it lists the tools that you may call."


def _refuse_key(operation: Operation, caller: Caller, key: ApiKey) -> None:
    if key.tools and operation.name not in key.tools:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("This API key may not call {operation_name}.", operation_name=operation.name),
            say("It may call: {names}.", names=", ".join(key.tools)),
        )
    if operation.grant is Grant.FILER and not caller.orchestrates:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Only an orchestrator can create tasks for queues.",
            "Ask the person who gave you this key for a key of an orchestrator.",
        )


def _refuse_person(operation: Operation, caller: Caller) -> None:
    if caller.kind is not Kind.PERSON:
        raise Refusal(
            Code.AUTHENTICATION_REQUIRED,
            say("Only people can call {operation_name}.", operation_name=operation.name),
            _instead_of_a_person(caller),
        )
    if operation.grant is Grant.OWNER and caller.login is not Login.OWNER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("Only an owner can call {operation_name}.", operation_name=operation.name),
            "Ask an owner of this server to do it.",
        )
    if operation.grant is Grant.WRITER:
        refuse_viewer(caller)


def refuse_viewer(caller: Caller) -> None:
    """For what is everybody's; what is only one's own, a viewer may change, too."""
    if caller.login is Login.VIEWER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "A viewer can read, but cannot change anything.",
            "Ask an owner of this server for the role member.",
        )


def _instead_of_a_person(caller: Caller) -> str:
    """What somebody does who has called what only people do. No agent is told where a person's token is."""
    if caller.session is not None and caller.session.purpose is Purpose.CHAT:
        return "Ask the person you talk with to do it. Then call get_next_action."
    if caller.session is not None:
        return (
            "Ask a person to do it (delegate_to_chat_session), or say in your report (report_completed) that it is "
            "needed. Then call get_next_action."
        )
    if caller.key is not None:
        return "Tell the person who gave you this key that it must be done."
    if caller.kind is Kind.LAUNCH:
        return _own_way(caller)
    return "A person must do it, signed in or with their own token."


def _refuse_reader(operation: Operation, caller: Caller) -> None:
    if caller.session is None and not caller.is_person:
        raise Refusal(
            Code.AUTHENTICATION_REQUIRED,
            say("{operation_name} must know who is reading.", operation_name=operation.name),
            "Connect with Authorization: Bearer and the session_token that authenticate returns."
            if caller.kind is Kind.NOBODY
            else _own_way(caller),
        )


def refuse_session(operation: Operation, caller: Caller) -> None:
    """What a session's purpose and role must be for this operation. Raises Refusal."""
    session = caller.session
    if session is None:
        if caller.kind is Kind.LAUNCH:
            raise Refusal(
                Code.AUTHENTICATION_REQUIRED,
                "This process has not signed in yet.",
                "Call authenticate first (no arguments are needed), then follow its answer.",
            )
        raise Refusal(
            Code.AUTHENTICATION_REQUIRED,
            say("{operation_name} requires a session.", operation_name=operation.name),
            "Call authenticate with your agent_id and passkey, then pass the session_token it returns."
            if caller.kind is Kind.NOBODY
            else _own_way(caller),
        )
    if operation.grant is Grant.ANY_SESSION:
        return
    if operation.grant is Grant.CHAT_SESSION:
        if session.purpose is not Purpose.CHAT:
            raise Refusal(
                Code.CHAT_SESSION_REQUIRED,
                say(
                    "Only chat sessions can call {operation_name}; this is a {purpose} session.",
                    operation_name=operation.name,
                    purpose=session.purpose,
                ),
                "Call delegate_to_chat_session: your chat session sends it for you.",
                purpose=session.purpose.value,
            )
        return
    if session.purpose is not Purpose.TASK:
        raise Refusal(
            Code.TASK_SESSION_REQUIRED,
            say(
                "Only task sessions can call {operation_name}; this is a {purpose} session.",
                operation_name=operation.name,
                purpose=session.purpose,
            ),
            "In this session you can only chat; your task session does the work. Call get_next_action.",
            purpose=session.purpose.value,
        )
    if operation.grant is Grant.MANAGER and (caller.agent is None or caller.agent.role is not Role.MANAGER):
        raise Refusal(
            Code.MANAGER_REQUIRED,
            say("Only managers can call {operation_name}.", operation_name=operation.name),
            "Work on your own task: call get_next_action and do what it says.",
        )
