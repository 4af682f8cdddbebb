"""The words sent with each next action, in English, and the tools they name.

Words name only tools that the caller may call now, with arguments that are valid: ids come from the facts. In other
languages they stand in the catalogues (`translation_catalogues.py`); the Japanese of the origin's manager states is
word for word the origin's.
"""

from __future__ import annotations

from toryo.domain.agents import Role
from toryo.workflow.step import Step

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
TEXTS: dict[str, str] = {
    "report_model": "Call report_model with your provider and model id, for example "
    'report_model(provider="{provider}", model_id="{model}"). If you do not know the id, say unknown.',
    "get_notifications": "Something about your task has changed. Call get_notifications and follow it before you go "
    "on.",
    "get_task": "Call get_my_task to read your task, then get_next_action.",
    "create_subtasks.worker": "Break your task into 2 to 5 subtasks (one if it is simple) with ONE call of "
    "create_tasks_batch; use dependencies for order. At most {cap} in all. Then call get_next_action: "
    "do not add more, do not start working yet.",
    "create_subtasks.optional": "If the task is large, break it into 2 to 5 subtasks with ONE call of "
    "create_tasks_batch and call get_next_action. If it is simple, do it now and call report_completed.",
    "create_subtasks.manager": "See who is there with list_subordinates. Break your task into 2 to 5 subtasks with "
    "ONE call of create_tasks_batch: say what each must produce, assign by capability (assignee_id), and use "
    "dependencies for order. Then call get_next_action.",
    "create_subtasks.alone": "No active worker stands below you, so nobody could do subtasks. Call "
    'report_completed(result="blocked", summary="no_available_workers").',
    "execute_task": "Do your task now. Save what others should know with save_progress. When it is done call "
    "report_completed (result: success, failed or blocked, with a summary).",
    "execute_task.answered": "What you delegated has ended; its result is in `delegations`. Go on with your task. "
    "When it is done call report_completed (result: success, failed or blocked, with a summary).",
    "execute_task.fixing": "Acceptance checks failed: {failed}. Mend this, then call "
    'report_completed(result="success") again; if you cannot, report failed or blocked.',
    "start_subtask": 'Start the next subtask: update_task_status(task_id="{task_id}", status="in_progress") '
    "({title}). Then call get_next_action.",
    "start_subtask.open": 'Start the next subtask: update_task_status(task_id="{task_id}", status="in_progress") '
    "({title}). If the list that another session made is not complete, add to it first (create_tasks_batch).",
    "execute_subtask": "Do subtask {task_id} now: {title} ({done} of {total} are done). Then call "
    'update_task_status(task_id="{task_id}", status="completed"), or failed or blocked with a reason; then '
    "get_next_action.",
    "report_completion": 'All subtasks are done. Call report_completed(result="success", summary="...") for your '
    "main task.",
    "report_completion.manager": "All subtasks are done. Review their results (get_recent_completions), then call "
    'report_completed(result="success", summary="...") for your main task.',
    "wait_for_delegation": "You delegated something and its result is still awaited. Call get_next_action again: the "
    "call waits for it.",
    "wait_for_delegation.leave": "The delegation is still open. Call logout and end your process; you are started "
    "again when its result is there.",
    "wait_for_others": "Somebody else is working on what your task needs. Call logout and end your process; you are "
    "started again when it is done.",
    "review_and_resolve_blocks.worker": "Only blocked or failed subtasks are left: {blocked}. Where you_may_resolve "
    "is true, try again (update_task_status, todo); where you_may_cancel is true, cancel what is not needed "
    '(cancel_task). If neither settles it, call report_completed(result="blocked", summary="why").',
    "review_and_resolve_blocks.manager": "Only blocked or failed subtasks are left: {blocked}. Look at them "
    "(list_tasks, get_task). Retry or unblock with update_task_status (todo), cancel_task, or add another way "
    '(create_tasks_batch, intent "new"). If it cannot be resolved, call report_completed(result="blocked").',
    "review_and_resolve_blocks.hopeless": "Only blocked or failed subtasks are left, and none of them is yours to "
    'change: {blocked}. Call report_completed(result="blocked", summary="why"), and say who has to do what.',
    "resolve_dependency_deadlock.hopeless": "No subtask can be started, and none of them is yours to change: "
    '{waiting}. Call report_completed(result="blocked", summary="why"), and say who has to do what.',
    "resolve_dependency_deadlock": "No subtask can be started: {waiting}. Change the dependencies "
    "(update_task_dependencies), move drafts to todo (update_task_status), cancel what is not needed (cancel_task), "
    'or call report_completed(result="blocked", summary="why").',
    "situational_awareness": "Look at the situation, then choose what is next.\n"
    "Look: list_tasks (all subtasks), get_recent_completions (results), get_task (one in detail), list_subordinates "
    "(who is doing what).\n"
    'Choose with select_action: "start" (assign and start tasks), "adjust" (reassign, edit, unblock, cancel, add), '
    '"wait" (leave until workers are done). Then call get_next_action.',
    "start": "Start tasks. 1. list_tasks: which can be started? Ready now: {ready}. 2. Not assigned yet: assign_task. "
    '3. update_task_status(task_id, status="in_progress"). Which one for whom is yours to decide, by content, priority '
    "and load. Then call get_next_action.",
    "start.alone": "No active worker stands below you. Call "
    'report_completed(result="blocked", summary="no_available_workers").',
    "adjust": "Make the changes that are needed: assign_task, update_task, update_task_status, "
    "update_task_dependencies, block_task, cancel_task, create_tasks_batch (with intent). Look with list_tasks and "
    "get_task. Then call get_next_action; if there is nothing to change, choose again with select_action.",
    "wait": "Your workers go on without you. Call logout and end your process: you are started again when something "
    "needs you.",
    "exit": "Your session is over ({reason}). Call logout and end your process now.",
    "exit.budget_exhausted": "Today's budget is used up. If your task is done, call report_completed; else save where "
    "you are with save_progress. Then call logout and end your process: you are started again when there is budget.",
    "exit.time_limit": "This session has run as long as one may. If your task is done, call report_completed; else "
    "save where you are with save_progress. Then call logout and end your process: you are started again to go on.",
    "exit.project_paused": "The project is paused. Leave your work as it is, save a note with save_progress, call "
    "logout and end your process. You are started again when it goes on.",
    "exit.task_withdrawn": "This task is not yours to work on any more ({detail}). Save a note with save_progress if "
    "it helps the next one, call logout and end your process.",
    "exit.runaway": "A guard stopped this session ({detail}): you called again and again, and nothing changed. Say "
    'what stood in your way: report_completed(result="blocked", summary="why"). Then end your process.',
    "exit.runaway.chat": "A guard stopped this chat ({detail}). Call logout and end your process.",
    "exit.user_closed_chat": "Nobody needs this chat any more. Call logout and end your process.",
    "logout": "Nothing was said for a long time. Call logout and end your process; you are started again when somebody "
    "writes.",
    "get_pending_messages": "There is something for you. Call get_pending_messages.",
    "wait_for_messages": "Nothing new. Call get_next_action again now: the call waits, so you need not.",
    "chat.messages": "Answer each message that wants an answer: respond_chat(message_id, content).",
    "chat.turn": "Your turn with {partner} ({turns} of {max_turns} turns): respond_conversation_message("
    'conversation_id="{conversation_id}", content), or end_conversation.',
    "chat.delegation_answered": "Delegation {delegation_id} waited for the answer of {target}, and here it is. If it "
    'settles the purpose: report_delegation_completed(delegation_id="{delegation_id}", result).',
    "chat.delegation_to_agent": "Delegation {delegation_id}: talk with {target} as its purpose says. "
    'start_conversation(target_agent_id="{target}", initial_message, purpose, delegation_id="{delegation_id}"), go on '
    "turn by turn, end_conversation, then report_delegation_completed with what came of it.",
    "chat.delegation_to_person": "Delegation {delegation_id}: tell {target} what its purpose says: "
    'send_message(target_agent_id="{target}", content), then report_delegation_completed'
    '(delegation_id="{delegation_id}", result). If an answer is wanted, report after it has come.',
    "chat.delegation_in_hand": "Delegation {delegation_id} (to {target}) is still in your hands: when you know what "
    'came of it, report_delegation_completed(delegation_id="{delegation_id}", result).',
    "chat.ended": "Conversation {conversation_id} with {partner} is over ({reason}).",
    "chat.nothing": "Nothing is waiting.",
    "chat.then": "Then call get_next_action.",
    "delegated": "Noted: your chat session will take care of it, and its result comes with your task (`delegations`). "
    "Go on with your task: call get_next_action.",
    "get_next_action": "Call get_next_action.",
    "signed_in": "You are signed in. Call get_next_action and do what it says; call it again after every step, until "
    "it says exit.",
    "my_task": "Call get_next_action: it says what to do with this task. When it is done, report_completed ends it.",
    "my_task.chat": "This is what your task session works on; here you only talk about it. Call get_next_action.",
    "requested.pending": "Filed: it waits in the backlog until a person has approved it and it is started.",
    "requested.approved": "Filed and approved: it waits in the backlog until somebody starts it.",
    "no_task": "There is no task for you now. Call get_next_action.",
    "reported": "Reported. Your session is over: end your process now.",
    "late.over": "Nothing was changed: your session had ended before.",
    "late.withdrawn": "Nothing was changed: this task is not yours any more.",
    "late.kept": "Your summary was kept as a note.",
    "late.end": "End your process now.",
    "refused": "End this process now; do not try again.",
    "chosen": "Action '{action}' was chosen. Call get_next_action for what to do.",
    "updated": "The task was updated.",
    "unchanged": "Nothing was changed: give what shall be different in title, description or priority.",
    "logged_out": "Goodbye. End your process now.",
    "checking": "The acceptance checks are running. Call {tool} again in a moment with the same arguments.",
    "checks_failed.main": "Acceptance checks failed: {failed}. Mend this, then call "
    'report_completed(result="success") again; if you cannot, report failed or blocked.',
    "checks_failed.subtask": "Acceptance checks failed: {failed}. Mend this, then call "
    'update_task_status(task_id, status="completed") again; if you cannot, set it failed or blocked with a reason.',
}


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
