"""The words sent with each next action, and the tools they name. The same keys in every language (a test compares).

Words name only tools that the caller may call now, with arguments that are valid: ids come from the facts.
"""

from __future__ import annotations

from typing import Any

from toryo.domain.agents import Role
from toryo.domain.projects import Language
from toryo.workflow.instructions import en, ja
from toryo.workflow.step import Step

_TEXTS = {Language.ENGLISH: en.TEXTS, Language.JAPANESE: ja.TEXTS}

_BLOCKS = ("list_tasks", "get_task", "update_task_status", "report_completed")
TOOLS: dict[str, tuple[str, ...]] = {
    "report_model": ("report_model",),
    "get_notifications": ("get_notifications",),
    "get_task": ("get_my_task",),
    "create_subtasks.worker": ("create_tasks_batch",),
    "create_subtasks.optional": ("create_tasks_batch", "report_completed"),
    "create_subtasks.manager": ("list_subordinates", "create_tasks_batch"),
    "create_subtasks.alone": ("report_completed",),
    "execute_task": ("save_progress", "report_completed"),
    "execute_task.answered": ("save_progress", "report_completed"),
    "execute_task.fixing": ("save_progress", "report_completed"),
    "start_subtask": ("update_task_status",),
    "start_subtask.open": ("update_task_status", "create_tasks_batch"),
    "execute_subtask": ("update_task_status", "save_progress"),
    "report_completion": ("report_completed",),
    "report_completion.manager": ("get_recent_completions", "report_completed"),
    "wait_for_delegation": ("get_next_action",),
    "wait_for_delegation.leave": ("logout",),
    "wait_for_others": ("logout",),
    "review_and_resolve_blocks.worker": (*_BLOCKS, "cancel_task"),
    "review_and_resolve_blocks.manager": (*_BLOCKS, "cancel_task", "create_tasks_batch"),
    "review_and_resolve_blocks.hopeless": ("list_tasks", "get_task", "report_completed"),
    "resolve_dependency_deadlock.hopeless": ("list_tasks", "report_completed"),
    "resolve_dependency_deadlock": (
        "list_tasks",
        "update_task_dependencies",
        "update_task_status",
        "cancel_task",
        "report_completed",
    ),
    "situational_awareness": (
        "list_tasks",
        "get_recent_completions",
        "get_task",
        "list_subordinates",
        "select_action",
    ),
    "start": ("list_tasks", "assign_task", "update_task_status"),
    "start.alone": ("select_action", "report_completed"),
    "adjust": (
        "assign_task",
        "update_task",
        "update_task_status",
        "update_task_dependencies",
        "block_task",
        "cancel_task",
        "create_tasks_batch",
        "list_tasks",
        "get_task",
        "select_action",
    ),
    "wait": ("logout",),
    "exit": ("logout",),
    "exit.budget_exhausted": ("save_progress", "report_completed", "logout"),
    "exit.time_limit": ("save_progress", "report_completed", "logout"),
    "exit.project_paused": ("save_progress", "logout"),
    "exit.task_withdrawn": ("save_progress", "logout"),
    "exit.runaway": ("report_completed", "logout"),
    "exit.runaway.chat": ("logout",),
    "exit.user_closed_chat": ("logout",),
    "logout": ("logout",),
    "get_pending_messages": ("get_pending_messages",),
    "wait_for_messages": ("get_next_action",),
    "get_next_action": ("get_next_action",),
}


def words(key: str, language: Language, **facts: Any) -> str:
    """The instruction of a key in a language, its facts filled in."""
    return _TEXTS[language][key].format(**facts)


def key_of(step: Step, role: Role, **how: bool) -> str:
    """Which words a step takes; `how` names what differs.

    `alone`, `window_open`, `optional`, `leave`, `fixing`, `answered`,
    `hopeless`, and `chat` for a chat session.
    """
    manager = role is Role.MANAGER
    if step.action == "exit":
        key = f"exit.{step.reason}.chat" if how.get("chat") else f"exit.{step.reason}"
        key = key if key in TOOLS else f"exit.{step.reason}"
        return key if key in TOOLS else "exit"
    if step.action == "create_subtasks":
        if manager:
            return "create_subtasks.alone" if how.get("alone") else "create_subtasks.manager"
        return "create_subtasks.optional" if how.get("optional") else "create_subtasks.worker"
    if step.action == "start" and how.get("alone"):
        return "start.alone"
    if step.action == "review_and_resolve_blocks" and not how.get("hopeless"):
        return f"review_and_resolve_blocks.{'manager' if manager else 'worker'}"
    if step.action == "report_completion" and manager:
        return "report_completion.manager"
    return _VARIANTS.get((step.action, *sorted(name for name, true in how.items() if true)), step.action)


_VARIANTS: dict[tuple[str, ...], str] = {
    ("execute_task", "answered"): "execute_task.answered",
    ("execute_task", "fixing"): "execute_task.fixing",
    ("start_subtask", "window_open"): "start_subtask.open",
    ("wait_for_delegation", "leave"): "wait_for_delegation.leave",
    ("review_and_resolve_blocks", "hopeless"): "review_and_resolve_blocks.hopeless",
    ("resolve_dependency_deadlock", "hopeless"): "resolve_dependency_deadlock.hopeless",
}
