"""Every reason why an agent or a task does not start, is held, or waits: its words, what helps, and who lets go.

A row is all that is said of a reason. What is filled in, and the sentences that are made of facts instead of a row, are
in `operations/launches/reason_texts.py`, `domain/moves.py` and `operations/launches/placement.py`.
tests/workflow/test_reasons.py compares the table with all reasons that there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from toryo.deeds import VERBS, Blank, Deed, deed
from toryo.domain.conditions import Condition
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.needs import Kind


class Moves(StrEnum):
    """What needs nobody."""

    BY_ITSELF = "by_itself"
    ON_PURPOSE = "on_purpose"
    """A person has not started it, or has nothing for the agent to do."""


class Advice(StrEnum):
    """What is looked up for who asks *Why?*: `operations/overview/agent_diagnosis.py` finds it."""

    START = "start"
    UNBLOCK = "unblock"
    WHO_IS_AT_WORK = "who_is_at_work"
    WHO_APPROVES = "who_approves"
    START_BY_HAND = "start_by_hand"


@dataclass(frozen=True, slots=True)
class Reason:
    """One row. `lets_go`: a person, who is told by this need or condition, or nobody. The overview is calm only while
    every reason is one that moves by itself.
    """

    code: str
    lets_go: Moves | Kind | Condition
    words: str = ""
    """Empty: its sentence is made of facts."""
    remedy: str = ""
    """What people do about it: a sentence around the deed."""
    verb: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Of the deed, besides ids."""
    released_by: str = "A person must act as described."
    """What must happen for a task that is held."""
    sooner: str = "It continues automatically."
    """The same where it does so at a known time."""
    cause: str = ""
    """To go on with after "cannot be started:"."""
    advice: Advice | None = None
    by_hand: bool = False
    """Whether a person may start the agent anyway."""


_NO_COORDINATOR = "A Coordinator must be able to start its agent; or assign the task to another agent."

_OF_TASKS = (
    Reason("ancestor_closed", Kind.FAILED),
    Reason("project_not_active", Condition.PAUSED, released_by="Resume the project."),
    Reason("not_approved", Kind.APPROVAL, released_by="A person above its assignee must approve it."),
    Reason("dependency", Moves.BY_ITSELF),  # one that will never be completed is told as stuck
    Reason("not_before", Moves.BY_ITSELF, released_by="Its time must come, or a person starts it."),
    Reason("unassigned", Moves.ON_PURPOSE, released_by="Assign it to an agent or to a queue."),
    Reason(
        "assignee_not_active",
        Kind.STUCK,
        released_by="Activate its assignee or add it to the project, or assign another agent.",
    ),
    Reason("parallel_limit", Moves.BY_ITSELF),
    Reason(
        "above_waits",
        Moves.ON_PURPOSE,
        "A task above it is in the backlog, or nobody has started it.",
        released_by="Start the task above it.",
    ),
    Reason("resting", Moves.BY_ITSELF, "The last attempt was lost. The next one starts after a pause."),
    Reason(
        "no_agent_for_queue",
        Kind.STUCK,
        "No agent serves the queue {queue}.",
        released_by="Start an agent that serves {queue}, or have one poll it.",
    ),
    Reason("blocked", Kind.BLOCKED),
)

OF_AGENTS = (
    Reason(
        "project_paused",
        Condition.PAUSED,
        "The project is paused: no tasks are worked on; chats go on.",
        remedy="{deed:Resume it: …}",
        verb="resume_project",
        released_by="Resume the project.",
    ),
    Reason(
        "project_archived",
        Condition.ARCHIVED,
        "The project is archived: nothing is started.",
        remedy="{deed:Resume it: …}",
        verb="restore",
    ),
    Reason(
        "agent_not_assigned",
        Kind.STUCK,
        "The agent is not a member of the project.",
        remedy="{deed:Add it: …}",
        verb="join",
        released_by="Add the agent to the project, or assign the task to another one.",
    ),
    Reason(
        "agent_inactive",
        Kind.STUCK,
        "The agent is inactive.",
        remedy="{deed:Activate it: …}",
        verb="activate",
        released_by="Activate the agent, or assign the task to another one.",
    ),
    Reason(
        "not_managed",
        Kind.STUCK,
        "It has no provider, so it is not started automatically.",
        released_by="Start its process by hand, or give the agent a provider.",
        advice=Advice.START_BY_HAND,
        by_hand=True,
    ),
    Reason(
        "bad_options",
        Kind.AGENT_CANNOT_START,
        "Its provider options have a mistake, so it is not started.",
        remedy="{look_deed:See which: …. }{deed:Correct it: …}",
        verb="correct",
        arguments={"provider_options": Blank("NAME=VALUE")},
        released_by="Correct the options of its agent.",
        cause="its options have a mistake",
        by_hand=True,
    ),
    Reason("task_withdrawn", Moves.BY_ITSELF, "Its main task was taken from it, so its process is being stopped."),
    Reason("runaway", Kind.RUNAWAY, "A guard stopped it: it kept calling without making progress."),
    Reason("time_limit", Moves.BY_ITSELF, "It has reached the time limit of one launch."),
    Reason("silent", Moves.BY_ITSELF, "Its process is running, but made no call and printed nothing for too long."),
    Reason(
        "budget_exhausted",
        Condition.BUDGET_USED_UP,
        "Today's budget is used up. It continues at midnight (UTC), or as soon as the budget is raised.",
        remedy="{deed:Raise it: … (or tokens_per_day=N)}",
        verb="raise",
        arguments={"settings": {"budget_per_day": Blank("N")}},
        sooner="It continues automatically, or as soon as the budget is raised.",
    ),
    Reason(
        "agent_budget_exhausted",
        Kind.BUDGET_USED_UP,
        "Its own budget of today is used up. It continues at midnight (UTC), or as soon as the budget is raised.",
        remedy="{deed:Raise it: … (or tokens_per_day=N)}",
        verb="raise_agent",
        arguments={"provider_options": {"budget_per_day": Blank("N")}},
    ),
    Reason(
        "task_budget_exhausted",
        Kind.BUDGET_USED_UP,
        "The budget of its task, or of a task above it, is used up. It continues as soon as the budget is raised.",
        remedy="{deed:Raise it: … (or --budget-tokens N)}",
        verb="raise_task",
        arguments={"budget_usd": Blank("N")},
    ),
    Reason(
        "blocked_without_in_progress", Kind.BLOCKED, "It has blocked tasks and none in progress.", advice=Advice.UNBLOCK
    ),
    Reason("already_running", Moves.BY_ITSELF, "It is running, or was started and is about to sign in."),
    Reason("start_pending", Moves.BY_ITSELF, "It is being started; its process has not signed in yet."),
    Reason(
        "cooling_down",  # what time does not help is told as "cannot start", an account as "quota used up"
        Moves.BY_ITSELF,
        remedy="{deed:To restart it sooner once the cause is fixed: …}",
        verb="resume",
        by_hand=True,
    ),
    Reason(
        "reserve_kept",
        Condition.QUOTA_KEPT,
        "What is left of its account's quota is kept for tasks of high and critical priority.",
        remedy="To start it now, raise the priority of its task, or lower the reserve{deed:: …|.}",
        verb="edit_quota",
        arguments={"reserve": Blank("PERCENT")},
        sooner="It continues automatically, or now if you raise its priority or lower the reserve.",
    ),
    Reason(
        "no_spare_quota",
        Condition.QUOTA_KEPT,
        "Its task has low priority, and its account has no quota to spare: it is used faster than its windows pass.",
        remedy="To start it now, raise the priority of its task, or let tasks of low priority use the account at any "
        "time{deed:: …|.}",
        verb="edit_quota",
        arguments={"low_priority": "any"},
        sooner="It continues automatically, or now if you raise its priority or let tasks of low priority start at any "
        "time.",
    ),
    Reason(
        "handing_over",
        Moves.BY_ITSELF,
        "Another agent's session is still open on its task.",
        released_by="The session of the other agent must end.",
    ),
    Reason("may_conflict", Moves.BY_ITSELF, "Its task would change the same files as a task that an agent works on."),
    Reason(
        "waiting_for_merge",
        Kind.REVIEW,
        "Its task would change the same files as completed work that is not merged yet.",
    ),
    Reason("dependency_unmerged", Kind.REVIEW, "What it depends on is completed, but its work is not merged yet."),
    Reason(
        "worker_blocked",
        Moves.BY_ITSELF,
        "A task below its own was blocked or has failed, so it is started to decide what to do.",
    ),
    Reason("plan_changed", Moves.BY_ITSELF, "Something that it must handle has changed, so it is started."),
    Reason("workers_finished", Moves.BY_ITSELF, "Everything it waited for is finished, so it is started."),
    Reason(
        "handled_blocked",
        Kind.BLOCKED,
        "It waits until the block that it has already seen is resolved.",
        released_by="Unblock its blocked subtasks.",
    ),
    Reason("waiting_for_workers", Moves.BY_ITSELF, "It waits for the agents that work on its subtasks."),
    Reason("waiting_for_answer", Kind.QUESTION, "It waits for a person to answer its question."),
    Reason(
        "in_review",  # what a person must review is told as a question
        Moves.BY_ITSELF,
        "It has reported success. A review, or a check that cannot run, waits for a decision.",
    ),
    Reason("checking", Moves.BY_ITSELF, "It has reported success, and the acceptance checks are running."),
    Reason("waiting_for_delegation", Moves.BY_ITSELF, "It waits for the result of a delegation."),
    Reason(
        "waiting_for_approval", Kind.APPROVAL, "It waits until a person approves a task.", advice=Advice.WHO_APPROVES
    ),
    Reason("waiting_for_person", Kind.TASK, "It waits until a person finishes a task.", advice=Advice.WHO_IS_AT_WORK),
    Reason(
        "has_in_progress_task",
        Moves.BY_ITSELF,
        "It has a task in progress. The agent starts as soon as a Coordinator has a free slot.",
        released_by="A Coordinator must start its agent.",
    ),
    Reason(
        "no_in_progress_task",
        Moves.ON_PURPOSE,
        "It has no task in progress.",
        released_by="Its agent continues as soon as it is started.",
        advice=Advice.START,
    ),
    Reason(
        "has_ready_queue_task",
        Moves.BY_ITSELF,
        "A task in its queue is ready. The agent starts as soon as a Coordinator has a free slot.",
    ),
    Reason(
        "has_pending_purpose",
        Moves.BY_ITSELF,
        "A chat message is waiting. The agent starts as soon as a Coordinator has a free chat slot.",
    ),
    Reason("no_chat_work", Moves.ON_PURPOSE, "It has nothing to do in chat."),
    Reason("internal_error", Kind.STUCK, "Internal error. See the server's log."),
)

_OF_COORDINATORS = (
    Reason("none", Condition.COORDINATOR_GONE, released_by="Start a Coordinator."),
    Reason(
        "no_provider",
        Condition.PROGRAM_MISSING,
        released_by=_NO_COORDINATOR,
        verb="correct",
        arguments={"provider": Blank("NAME")},
        cause="no Coordinator has its provider",
    ),
    Reason("no_account", Condition.PROGRAM_MISSING, released_by=_NO_COORDINATOR),
    Reason("not_listed", Condition.PROGRAM_MISSING, released_by=_NO_COORDINATOR),
    Reason("no_capability", Condition.PROGRAM_MISSING, released_by=_NO_COORDINATOR),
    Reason("no_labels", Condition.PROGRAM_MISSING, released_by=_NO_COORDINATOR),
    Reason("files_busy", Moves.BY_ITSELF),
    Reason("files_elsewhere", Moves.BY_ITSELF),
    Reason("work_not_kept", Moves.BY_ITSELF),
)
"""What keeps a due start from being carried out."""

REASONS: Mapping[str, Reason] = {each.code: each for each in (*_OF_TASKS, *OF_AGENTS, *_OF_COORDINATORS)}


def what_helps(code: str, **about: str) -> Deed:
    """The deed of a remedy: `about` are the ids that there are, of which it takes those that it needs."""
    row = REASONS[code]
    needed = {name: each for name, each in about.items() if f"{{{name}}}" in VERBS[row.verb].command}
    return deed(row.verb, **needed, **row.arguments)


def moves_by_itself(code: str) -> bool:
    return code in REASONS and REASONS[code].lets_go is Moves.BY_ITSELF
