"""Sentences for people for every reason of the launch tables, and the commands that help.

The command line and agents read both. The dashboard has buttons instead of commands, and shows the sentences alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from toryo import failures
from toryo.domain import conflict_forecast
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.launches.placement import PlacementProblem
from toryo.workflow.launch_rules import Action, Decision

WORDS = {
    "project_paused": "The project is paused: no tasks are worked on; chats go on.",
    "project_archived": "The project is archived: nothing is started.",
    "agent_not_assigned": "The agent is not a member of the project.",
    "agent_inactive": "The agent is inactive.",
    "not_managed": "It has no provider, so it is not started automatically.",
    "bad_options": "Its provider options have a mistake, so it is not started.",
    "task_withdrawn": "Its main task was taken from it, so its process is being stopped.",
    "runaway": "A guard stopped it: it kept calling without making progress.",
    "time_limit": "It has reached the time limit of one launch.",
    "silent": "Its process is running, but made no call and printed nothing for too long.",
    "budget_exhausted": "Today's budget is used up. "
    "It continues at midnight (UTC), or as soon as the budget is raised.",
    "agent_budget_exhausted": "Its own budget of today is used up. "
    "It continues at midnight (UTC), or as soon as the budget is raised.",
    "task_budget_exhausted": "The budget of its task, or of a task above it, is used up. "
    "It continues as soon as the budget is raised.",
    "blocked_without_in_progress": "It has blocked tasks and none in progress.",
    "already_running": "It is running, or was started and is about to sign in.",
    "start_pending": "It is being started; its process has not signed in yet.",
    "handing_over": "Another agent's session is still open on its task.",
    "may_conflict": "Its task would change the same files as a task that an agent works on.",
    "waiting_for_merge": "Its task would change the same files as completed work that is not merged yet.",
    "reserve_kept": "What is left of its account's quota is kept for tasks of high and critical priority.",
    "no_spare_quota": "Its task has low priority, and its account has no quota to spare: it is used faster than its "
    "windows pass.",
    "worker_blocked": "A task below its own was blocked or has failed, so it is started to decide what to do.",
    "plan_changed": "Something that it must handle has changed, so it is started.",
    "workers_finished": "Everything it waited for is finished, so it is started.",
    "handled_blocked": "It waits until the block that it has already seen is resolved.",
    "waiting_for_workers": "It waits for the agents that work on its subtasks.",
    "in_review": "It has reported success. A review, or a check that cannot run, waits for a decision.",
    "checking": "It has reported success, and the acceptance checks are running.",
    "waiting_for_answer": "It waits for a person to answer its question.",
    "waiting_for_delegation": "It waits for the result of a delegation.",
    "waiting_for_approval": "It waits until a person approves a task.",
    "waiting_for_person": "It waits until a person finishes a task.",
    "has_in_progress_task": "It has a task in progress. The agent starts as soon as a Coordinator has a free slot.",
    "no_in_progress_task": "It has no task in progress.",
    "no_chat_work": "It has nothing to do in chat.",
    "has_ready_queue_task": "A task in its queue is ready. The agent starts as soon as a Coordinator has a free slot.",
    "internal_error": "Internal error. See the server's log.",
    "has_pending_purpose": "A chat message is waiting. The agent starts as soon as a Coordinator has a free chat slot.",
}

REMEDIES = {
    "project_paused": "Resume it: toryo project resume {project_id}",
    "project_archived": "Resume it: toryo project resume {project_id}",
    "agent_not_assigned": "Add it: toryo agent edit {agent_id} --project {project_id}",
    "agent_inactive": "Activate it: toryo agent activate {agent_id}",
    "bad_options": "See which: toryo agent show {agent_id}. "
    "Correct it: toryo agent edit {agent_id} --option NAME=VALUE",
    "budget_exhausted": "Raise it: toryo project edit {project_id} --set budget_per_day=N (or tokens_per_day=N)",
    "agent_budget_exhausted": "Raise it: toryo agent edit {agent_id} --option budget_per_day=N (or tokens_per_day=N)",
    "task_budget_exhausted": "Raise it: toryo task edit {task_id} --budget N (or --budget-tokens N)",
    "reserve_kept": "To start it now, raise the priority of its task, or lower the reserve: toryo quota edit {account} "
    "--reserve PERCENT",
    "no_spare_quota": "To start it now, raise the priority of its task, or let tasks of low priority use the account "
    "at any time: toryo quota edit {account} --low-priority any",
    "cooling_down": "To restart it sooner once the cause is fixed: toryo agent resume {agent_id}",
}
"""What people do about a reason, with its command."""

STEPS = {
    "report_model": "reports its model",
    "get_notifications": "reads its notifications",
    "get_task": "reads its task",
    "create_subtasks": "divides its task into subtasks",
    "execute_task": "works on its task",
    "start_subtask": "starts its next subtask",
    "execute_subtask": "works on a subtask",
    "report_completion": "reports its result",
    "wait_for_answer": "waits for a person's answer",
    "wait_for_delegation": "waits for an answer",
    "wait_for_others": "waits for others",
    "wait_for_messages": "waits for messages",
    "get_pending_messages": "reads its messages",
    "review_and_resolve_blocks": "handles blocked or failed subtasks",
    "resolve_dependency_deadlock": "finds out why no subtask can be started",
    "situational_awareness": "reviews the situation",
    "start": "assigns and starts tasks",
    "adjust": "changes the plan",
    "wait": "leaves until its workers are done",
    "logout": "leaves",
    "exit": "leaves",
}
"""What an agent does that was told this next action, for people."""


def said(
    reason: str,
    agent_id: str = "AGENT",
    project_id: str = "PRJ",
    account: str = "ACCOUNT",
    task_id: str = "TASK",
    *,
    commands: bool = True,
) -> Worded:
    """The sentence for a reason of the launch tables; with `commands`, also what helps."""
    remedy = _remedy(reason, agent_id, project_id, account, task_id) if commands else ""
    return together((constant(WORDS.get(reason, reason)), remedy))


def _remedy(
    reason: str, agent_id: str, project_id: str, account: str = "ACCOUNT", task_id: str = "TASK"
) -> Worded | str:
    known = REMEDIES.get(reason)
    return (
        say(known, agent_id=agent_id, project_id=project_id, account=account, task_id=task_id)
        if known is not None
        else ""
    )


def in_short(reason: str) -> str:
    """The same without what people do about it: for the agent itself."""
    return WORDS.get(reason, reason).partition(".")[0] + "."


def step(action: str | None) -> Worded | None:
    """What an agent does that was told this next action."""
    return constant(STEPS.get(action, action)) if action is not None else None


def explained(
    decision: Decision,
    agent_id: str = "AGENT",
    obstacle: PlacementProblem | None = None,
    project_id: str = "PRJ",
    *,
    archived: bool = False,
    commands: bool = True,
) -> Worded:
    """`obstacle`: why none of the Coordinators can start it, where it should be. `archived`: whether the project is.
    `commands`: also what helps, as commands."""
    if obstacle is not None:
        unstarted = constant("It should be started, but no Coordinator can start it.")
        return together((unstarted, obstacle.words, obstacle.remedy if commands else ""))
    if decision.reason == "cooling_down":
        first = decision.facts.get("first_again")
        why = (
            say("In cooldown because {why}; it restarts automatically.", why=_failure(decision.facts))
            if first is None
            else say(
                "In cooldown because {why}; it restarts automatically with {program}.",
                why=_failure(decision.facts),
                program=first,
            )
        )
        return together((why, _remedy("cooling_down", agent_id, project_id) if commands else ""))
    if decision.reason == "handing_over" and "held_by" in decision.facts:
        told = say(
            "A session of {agent} is still open on its task. It ends when {agent} leaves, or after the grace period.",
            agent=decision.facts["held_by"],
        )
        session = decision.facts.get("held_by_session", "SESSION")
        end = say("To end it now: toryo sessions --end {session}", session=session) if commands else ""
        return together((told, end))
    if "conflict_with" in decision.facts:
        return _held_back(decision, commands=commands)
    if decision.reason == "project_paused" and archived:
        return said("project_archived", agent_id, project_id, commands=commands)
    known, account = decision.reason in WORDS, quote(str(decision.facts.get("kept_of", "ACCOUNT")))
    limited = str(decision.facts.get("budget_of", "TASK"))
    told = (
        said(decision.reason, agent_id, project_id, account, limited, commands=commands)
        if known
        else constant(decision.words)
    )
    if "stands_in" in decision.facts and decision.action is Action.START:
        why = _failure(decision.facts)
        told = together(
            (told, say("{program} is used instead, because {why}.", program=decision.facts["stands_in"], why=why))
        )
    return together((told, constant("(stopping)"))) if decision.action is Action.STOP else told


def _held_back(decision: Decision, *, commands: bool) -> Worded:
    finished, other = decision.reason == "waiting_for_merge", str(decision.facts["conflict_with"])
    told = say(
        "Its task would meet “{title}” ({task_id}) in {paths}. It is started when that work is merged or discarded."
        if finished
        else "Its task would meet “{title}” ({task_id}) in {paths}. It is started when that task has ended and its "
        "work is merged.",
        title=decision.facts["conflict_title"],
        task_id=other,
        paths=conflict_forecast.told(decision.facts["conflict_in"]),
    )
    merge = say("To merge it: toryo task merge {task_id}.", task_id=other)
    return together((told, merge)) if commands and finished else told


def _failure(facts: Mapping[str, Any]) -> Worded:
    """The last failure, in words."""
    if "kept_of" in facts:
        return say("the rest of the quota of the account {account} is kept", account=facts["kept_of"])
    if "accounts" in facts:
        return say("the quotas of the accounts {accounts} are used up", accounts=", ".join(facts["accounts"]))
    if "account" in facts:
        return say("the quota of the account {account} is used up", account=facts["account"])
    return failed(str(facts.get("cooldown", failures.Failure.CRASHED)))


def failed(failure: str) -> Worded:
    """What a failure means, to go on with after "because"."""
    nature = failures.nature_of(failure)
    return constant(nature.words) if nature is not None else say("it failed ({failure})", failure=failure)
