"""Which tools a connection is shown: small, and by caller. A tool that is not listed but allowed still works."""

from __future__ import annotations

from dataclasses import replace

from toryo.domain.agents import Role
from toryo.domain.launches import Purpose
from toryo.operations.catalogue import Operation, tools
from toryo.operations.permissions import KEYED, Caller, Grant, Kind, allowed

COORDINATOR_TOOLSET, QUEUE_TOOLSET = "coordinator", "queue"

_WORKER = frozenset(
    {
        "authenticate",
        "report_model",
        "get_next_action",
        "get_my_task",
        "create_tasks_batch",
        "update_task_status",
        "update_task_dependencies",
        "cancel_task",
        "report_completed",
        "save_progress",
        "get_notifications",
        "list_tasks",
        "get_task",
        "request_task",
        "delegate_to_chat_session",
        "logout",
    }
)
_MANAGER = (_WORKER - {"request_task"}) | {
    "select_action",
    "get_recent_completions",
    "assign_task",
    "update_task",
    "cancel_task",
    "block_task",
    "update_task_dependencies",
    "list_subordinates",
}
_CHAT = frozenset(
    {
        "authenticate",
        "report_model",
        "get_next_action",
        "get_pending_messages",
        "respond_chat",
        "send_message",
        "start_conversation",
        "respond_conversation_message",
        "end_conversation",
        "report_delegation_completed",
        "notify_task_session",
        "request_task",
        "get_notifications",
        "get_my_task",
        "list_tasks",
        "logout",
    }
)


def tools_for(caller: Caller, toolset: str | None = None) -> list[Operation]:
    """What `tools/list` answers: by the credential, else (`?toolset=coordinator`) by what was asked for."""
    if caller.kind is Kind.COORDINATOR or (toolset == COORDINATOR_TOOLSET and caller.kind is Kind.NOBODY):
        return [each for each in tools() if each.grant in (Grant.COORDINATOR, Grant.OPEN)]
    if caller.key is not None or (toolset == QUEUE_TOOLSET and caller.kind is Kind.NOBODY):
        return _of_queue(caller)
    if caller.kind in (Kind.SESSION, Kind.LAUNCH):
        wanted = _of(caller)
        return [each for each in tools() if each.name in wanted]
    return [_by_hand(each) for each in tools() if each.listed and each.grant not in _NOT_BY_HAND]


_NOT_BY_HAND = frozenset({Grant.COORDINATOR, Grant.QUEUE_AGENT, Grant.REGISTRAR})


def _of_queue(caller: Caller) -> list[Operation]:
    """What an API key opens; without one, all that there are, with the parameter that takes it."""
    found = [each for each in tools() if each.grant in KEYED and each.listed]
    if caller.key is None:
        return [replace(each, asks_for="api_key") for each in found]
    return [each for each in found if allowed(each, caller)]


def _by_hand(operation: Operation) -> Operation:
    """For an agent started by hand: its session tools take the token that authenticate gave."""
    return operation if operation.grant is Grant.OPEN else replace(operation, asks_for="session_token")


def _of(caller: Caller) -> frozenset[str]:
    launch = caller.launch
    if launch is not None and launch.purpose is Purpose.CHAT:
        return _CHAT
    return _MANAGER if caller.agent is not None and caller.agent.role is Role.MANAGER else _WORKER
