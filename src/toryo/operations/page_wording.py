"""The server's sentences as a page shows them: no commands, for which a page has buttons, and states in words.

The command line and agents are told commands and the names of states, which they can type. Which answer is for a page
says the edge (`server/rest_answers.py`). Ids stay: a page draws them as what they name.

Most templates have their command at the end (`Assign it first: toryo …`) or in brackets, and lose it by a rule, in
every language. `INSTEAD` has the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from toryo.domain.projects import Language
from toryo.translation_catalogues import texts

INSTEAD: Mapping[str, str] = {
    # What only a terminal shows, or what a page has a button for
    "List the sessions for their ids (toryo sessions).": "",
    "List them: toryo agent list.": "",
    "List them: toryo project list.": "",
    "List them: toryo task list --project PRJ.": "",
    "List them: toryo person list.": "",
    "List the server tokens for their ids: toryo token server": "",
    "List yours for their ids: toryo token person list": "",
    "List the keys of a project for their ids: toryo token list": "",
    "Show an agent's latest launch (toryo logs AGENT), or list the launches for their ids.": "",
    "Give the correlation_id of a task (toryo task show ID), or the id of one of its tasks.": "",
    "To revoke one of its access tokens instead: toryo token person revoke ID": "",
    # What only somebody who writes the call needs: the name of the operation, and of its parameters
    "{operation_name}: {told}.": "{told}.",
    "{instruction} Its parameters: {names}.": "{instruction}",
    "Fix these, then call it again.": "",
    # What needs other words where there is no command
    "Files changed: {files} (+{added} −{removed}), on branch {branch}.": (
        "Files changed: {files} (+{added} −{removed})."  # the branch is named in the review
    ),
    "Start one: `toryo up`, or `toryo coordinator` if a server is running.": "Start a Coordinator.",
    "Set it to todo first (people: toryo task retry {task_id}), or create a new task.": (
        "Retry it first, or create a new task."
    ),
    "Pass a person in as_person (--as). To see what an agent waits for: toryo why AGENT": "Choose a person.",
    "Sign in again: toryo open prints a sign-in link.": "Sign in again.",
    "Replace it: toryo token rotate owner, or toryo token rotate coordinator.": "Replace it with a new one.",
    "Start it with toryo server, and call this again.": "Start the server, and try again.",
    "Get a new one: toryo open": "Get a new link.",
    "Open the link that toryo open prints, or send person_id and password.": "Open a sign-in link, or use a password.",
    "Sign in with a link: run toryo open with your token.": "Sign in with a link.",
    "See what does: toryo merge-queue list. Add it: toryo merge-queue add {task_id}": "Add it first.",
    "Request a new one: toryo task diff TASK, merge or discard.": "Try again.",
    "In a browser, sign in: toryo open prints a link. Programs send Authorization: Bearer with a person's token; "
    "an owner of this server can make one.": "Sign in.",
    "In a project with isolation=worktree, a task gets one when it is first started (toryo project edit PRJ --set "
    "isolation=worktree).": "In a project with worktrees, a task gets one when it is first started.",
}
"""By English template: what a page says instead. Empty: nothing."""

STATES: Mapping[tuple[str, str], str] = {
    ("tasks.Status", "todo"): "to do",
    ("tasks.Status", "in_progress"): "in progress",
    ("tasks.Approval", "pending_approval"): "waiting for approval",
    ("worktrees.Kind", "queue_merge"): "check by the merge queue",
    ("worktrees.Kind", "merge_subtasks"): "merge of the subtasks' work",
    ("worktrees.Kind", "base_checks"): "required checks before any work",
    ("worktrees.Kind", "pull_request"): "pull request",
}
"""How English names a state whose name is not a word. Other languages have words for all of them."""

_TOLD = r"(?:\btoryo [a-z]|\{(?:\w+_)?deed\})"
"""A command in a template: written out, or the place of a deed's command."""
COMMAND = re.compile(_TOLD)
_IN_BRACKETS = re.compile(rf" ?\({_TOLD}[^()]*\)|（{_TOLD}[^（）]*）")
_JAPANESE = re.compile("[ぁ-んァ-ヶ一-龥]")
_AT_THE_END = re.compile(rf": {_TOLD}.*$", re.DOTALL)


@lru_cache(4096)
def template(english: str, context: str, language: Language) -> str:
    """What a page fills in for a template of the code. Empty where it says nothing."""
    key = context, INSTEAD.get(english, english)
    if not key[1] or not COMMAND.search(key[1]) or key not in texts(Language.JAPANESE):
        return texts(language).get(key, key[1])  # also what somebody has written: it stays as it is
    return without_commands(texts(language).get(key, key[1]))


def without_commands(text: str) -> str:
    end = "。" if _JAPANESE.search(text) else "."
    return _AT_THE_END.sub(end, _IN_BRACKETS.sub("", text))


def state(context: str, name: str, language: Language) -> str:
    key = context, name
    return STATES.get(key, name) if language is Language.ENGLISH else texts(language).get(key, name)
