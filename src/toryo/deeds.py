"""Deeds: what people are suggested to do, as an operation with its arguments, and how the command line says it.

A need, a refusal or a remedy names a deed; who shows it words it: the command line as a command, a page and a
notification as a button. `VERBS` has one row for each; `operations/calls/deeds.py` knows who may do them. What only the
command line can do (`terminal`) stands in a sentence in the same way: `Typed` says how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any


class Blank(str):
    """What the person has to fill in: stands as it is where the command has the value."""

    __slots__ = ()


TO_SAY = Blank("…")


class Typed:
    """What is typed, as a fact of a sentence. A page has a button for it, so the words around it belong to it, too: in
    a template, `{deed: (…)}` or `{deed:: …}` is what stands there with the command as `…`, and nothing on a page. After
    a `|` comes what a page says instead: `Approve it first{deed:: …|.}`, `{deed:Sign in: … prints a link.|Sign in.}`.
    """

    __slots__ = ()

    def __format__(self, around: str) -> str:
        return around.partition("|")[0].replace("…", str(self)) if around else str(self)


class _LeftOut:
    def __format__(self, around: str) -> str:
        return around.partition("|")[2]


LEFT_OUT = _LeftOut()
"""What a page fills in for what is typed, and a rule where who reads it does not type it: an agent, a page."""


class Word(Typed, str):
    """The name of an operation or of a parameter, a branch: whatever is no command."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Verb:
    """One row. `name` is what a page and a program know it by, `command` its words with the arguments that have no
    option; every other argument is an option. `given` are the arguments that the command says by its words.
    """

    name: str
    operation: str
    command: str
    label: str = ""
    """What a button says; empty where only sentences suggest it."""
    given: Mapping[str, Any] = field(default_factory=dict)
    one_click: bool = False
    """Whether a notification offers it: it asks for nothing, and nobody has to see more before."""


_VERBS = (
    Verb("activate", "activate_agent", "agent activate {agent_id}", "Activate"),
    Verb("add_agent", "create_agent", "agent add {id}", "Add an agent"),
    Verb("add_to_merge_queue", "add_to_merge_queue", "merge-queue add {task_id}", "Add to merge queue"),
    Verb("agents", "list_agents_of_server", "agent list"),
    Verb("allow", "edit_agent", "agent edit {agent_id}"),
    Verb("answer", "send_chat_message", "chat {agent_id}", "Reply"),
    Verb("answer_question", "answer_question", "answer {question_id} {text}", "Answer"),
    Verb("approve", "approve_task", "task approve {task_id}", "Approve", one_click=True),
    Verb("assign", "edit_task", "task edit {task_id}", "Reassign"),
    Verb("block", "move_task", "task move {task_id} blocked", "Block", {"status": "blocked"}),
    Verb("cancel", "move_task", "task cancel {task_id}", "Cancel task", {"status": "cancelled"}),
    Verb("change_person", "change_person", "person edit {person_id}"),
    Verb("change_program", "edit_agent", "agent edit {agent_id}", "Change program"),
    Verb("complete", "move_task", "task move {task_id} completed", "Complete", {"status": "completed"}),
    Verb("confirm", "confirm_checks", "task confirm {task_id}", "Confirm checks", {"passed": True}),
    Verb("correct", "edit_agent", "agent edit {agent_id}", "Edit agent"),
    Verb("correct_project", "edit_project", "project edit {project_id}", "Edit project"),
    Verb("create", "file_task", "task add {title}"),
    Verb("decide", "answer_question", "answer {question_id}"),
    Verb("delete_template", "delete_template", "template delete {name}"),
    Verb("discard", "discard_task_work", "task discard {task_id}"),
    Verb("edit", "edit_task", "task edit {task_id}", "Edit task"),
    Verb("edit_quota", "edit_quota", "quota edit {account}", "Edit quota"),
    Verb("edit_schedule", "edit_schedule", "schedule edit {schedule_id}"),
    Verb("edit_webhook", "edit_webhook", "webhook edit {webhook_id}"),
    Verb("end", "end_session", "sessions --end {session_id}"),
    Verb("free", "edit_task", "task edit {task_id}", "Edit dependencies"),
    Verb("invite", "add_person", "person add {person_id}"),
    Verb("join", "add_member", "agent edit {agent_id} --project {project_id}", "Add to the project"),
    Verb("list", "list_project_tasks", "task list", "Open list"),
    Verb("list_access_tokens", "list_access_tokens", "token person list"),
    Verb("list_api_keys", "list_api_keys", "token list"),
    Verb("list_artifacts", "list_artifacts", "task artifacts {task_id}"),
    Verb("list_memories", "list_memories", "memory list"),
    Verb("list_people", "list_people", "person list"),
    Verb("list_questions", "list_questions", "answers --open", given={"state": "open"}),
    Verb("list_queue_agents", "list_queue_agents", "queue agents"),
    Verb("list_schedules", "show_schedules", "schedule list"),
    Verb("list_server_tokens", "list_server_tokens", "token server"),
    Verb("list_sessions", "list_sessions", "sessions"),
    Verb("list_templates", "show_templates", "template list"),
    Verb("list_webhooks", "show_webhooks", "webhook list"),
    Verb("log", "read_launch_log", "logs {launch_id}", "View log"),
    Verb("machines", "server_status", "doctor", "Machines"),
    Verb("make_api_key", "make_api_key", "token add"),
    Verb("make_sign_in_link", "make_sign_in_link", "person link {person_id}"),
    Verb("merge", "merge_task", "task merge {task_id}", "Review"),
    Verb("merge_alone", "merge_task", "task merge {task_id} --only", given={"below": False}),
    Verb("open", "open_chat", "chat {agent_id}", "Open chat"),
    Verb("pause_merge_queue", "pause_merge_queue", "merge-queue pause"),
    Verb("projects", "list_projects", "project list"),
    Verb("put_back", "move_task", "task move {task_id} todo", "Move to To do", {"status": "todo"}),
    Verb("edit_task", "edit_task", "task edit {task_id}"),
    Verb("raise", "edit_project", "project edit {project_id}", "Increase budget"),
    Verb("raise_agent", "edit_agent", "agent edit {agent_id}"),
    Verb("raise_task", "edit_task", "task edit {task_id}"),
    Verb("reject", "reject_task", "task reject {task_id}", "Reject"),
    Verb(
        "remove_from_merge_queue", "remove_from_merge_queue", "merge-queue remove {task_id}", "Remove from merge queue"
    ),
    Verb("renew", "renew_passkey", "agent passkey {agent_id}", "Renew passkey"),
    Verb("requeue", "requeue_task", "queue requeue {task_id}", "Requeue"),
    Verb("restore", "resume_project", "project resume {project_id}", "Restore"),
    Verb("resume", "resume_agent", "agent resume {agent_id}", "Resume", one_click=True),
    Verb("resume_merge_queue", "resume_merge_queue", "merge-queue resume", "Try again now"),
    Verb("resume_project", "resume_project", "project resume {project_id}", "Resume"),
    Verb("resume_schedule", "resume_schedule", "schedule resume {schedule_id}", "Resume"),
    Verb("resume_webhook", "resume_webhook", "webhook resume {webhook_id}", "Resume"),
    Verb("retry", "move_task", "task retry {task_id}", "Retry", {"status": "todo"}, one_click=True),
    Verb("review", "diff_task", "task diff {task_id}", "Review"),
    Verb("revoke_access_token", "revoke_access_token", "token person revoke {token_id}"),
    Verb("rotate_server_token", "rotate_server_token", "token rotate {which}"),
    Verb("run_schedule", "run_schedule", "schedule run {schedule_id}"),
    Verb("serve", "file_task", "agent run --type {agent_type} -- COMMAND"),  # nobody starts it but its owner
    Verb("show", "show_task", "task show {task_id}", "Open task"),
    Verb("show_agent", "show_agent", "agent show {agent_id}"),
    Verb("show_merge_queue", "show_merge_queue", "merge-queue list"),
    Verb("show_schedule", "show_schedule", "schedule show {schedule_id}", "Open schedule"),
    Verb("show_webhook", "show_webhook", "webhook show {webhook_id}", "Open webhook"),
    Verb("start", "move_task", "task move {task_id} in_progress", "Start", {"status": "in_progress"}),
    Verb("tell", "steer_task", "task steer {task_id} {text}", "Send instructions"),
    Verb(
        "unblock", "move_task", "task move {task_id} in_progress", "Unblock", {"status": "in_progress"}, one_click=True
    ),
    Verb("usage", "show_usage", "usage", "View usage"),
    Verb("why", "why", "why {agent_id}", "Why?"),
    Verb("withdraw", "withdraw_question", "answer {question_id} --withdraw"),
)
VERBS: Mapping[str, Verb] = {
    **{each.name: each for each in _VERBS},
    "list_dead_letters": Verb("list", "list_dead_letters", "queue dead", "Open list"),
}

OPTION_OF = {
    "acceptance": "accept",
    "add_dependencies": "depends_on",
    "before_task_id": "before",
    "budget_usd": "budget",
    "capabilities": "capability",
    "catch_up_seconds": "catch_up",
    "events": "event",
    "dependencies": "depends_on",
    "every_seconds": "every",
    "login": "role",
    "max_parallel_tasks": "max_parallel",
    "once_at": "once",
    "parent_task_id": "parent",
    "person_id": "id",
    "projects": "project",
    "provider_options": "option",
    "remove_dependencies": "no_longer_on",
    "settings": "set",
    "system_prompt": "prompt",
    "working_directory": "dir",
}
"""Parameters of operations by the name of the option that sets them, where that differs by more than `_id`."""
_BY_NAME = ("provider_options", "settings")
"""Whose option is repeated, with NAME=VALUE for each."""


@dataclass(frozen=True, slots=True)
class Deed(Typed):
    """A verb with the arguments of its operation, in the order in which the command has their options."""

    verb: Verb
    arguments: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.verb.name

    @property
    def command(self) -> str:
        """The command line that does it."""
        return _line(self.verb.command, self.arguments)

    def __str__(self) -> str:
        return self.command


def deed(name: str, /, **arguments: Any) -> Deed:
    """The deed of a verb; what is None is left out."""
    return Deed(VERBS[name], {each: value for each, value in arguments.items() if value is not None})


def terminal(command: str, **arguments: Any) -> Word:
    """A command that is no operation: what it does is done on a machine, or it does several things."""
    return Word(_line(command, arguments))


def _line(command: str, arguments: Mapping[str, Any]) -> str:
    words = command.format(**{name: _word(value) for name, value in arguments.items()})
    rest = {name: value for name, value in arguments.items() if f"{{{name}}}" not in command}
    return " ".join(["toryo", words, *(word for each in rest.items() for word in _option(*each))])


def _option(name: str, value: Any) -> Iterator[str]:
    option = f"--{OPTION_OF.get(name, name.removesuffix('_id')).replace('_', '-')}"
    if value is True:
        yield option
    elif name in _BY_NAME and isinstance(value, Mapping):
        for key, each in value.items():
            yield f"{option} {key}={_word(each)}"
    elif isinstance(value, list):
        for each in value:
            yield f"{option} {_word(each)}"
    else:
        yield f"{option} {_word(value)}"


def _word(value: Any) -> str:
    """One word of a shell."""
    if isinstance(value, Blank):
        return str(value)
    if isinstance(value, tuple):
        return ",".join(map(_word, value))
    if isinstance(value, str):
        return quote(value)
    import json  # commands of the terminal, which need only the names, start often

    return quote(json.dumps(value, ensure_ascii=False))
