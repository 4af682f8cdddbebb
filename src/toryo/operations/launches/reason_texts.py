"""What people read of a launch decision: the words of its reason (`workflow/reasons.py`) with their facts, and what
helps.

The command line and agents read both. The dashboard has buttons instead of commands, and shows the sentences alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toryo import failures
from toryo.deeds import deed
from toryo.domain import conflict_forecast
from toryo.domain.launches import Launch
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls.call import Call
from toryo.operations.launches.placement import PlacementProblem
from toryo.workflow import reasons
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.reasons import REASONS

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


def sentence(
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
    return together((constant(_words(reason)), remedy))


def _remedy(
    reason: str, agent_id: str, project_id: str, account: str = "ACCOUNT", task_id: str = "TASK"
) -> Worded | str:
    if reason not in REASONS or not REASONS[reason].remedy:
        return ""
    helps = reasons.what_helps(reason, agent_id=agent_id, project_id=project_id, account=account, task_id=task_id)
    look = deed("show_agent", agent_id=agent_id)
    return say(REASONS[reason].remedy, deed=helps, look_deed=look)


def _words(reason: str) -> str:
    """Of a reason without a row, its code."""
    return (reason in REASONS and REASONS[reason].words) or reason


def in_short(reason: str) -> str:
    """The same without what people do about it: for the agent itself."""
    return _words(reason).partition(".")[0] + "."


def step(action: str | None) -> Worded | None:
    """What an agent does that was told this next action."""
    return constant(STEPS.get(action, action)) if action is not None else None


def explanation(
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
        end = say("{deed:To end it now: …}", deed=deed("end", session_id=session)) if commands else ""
        return together((told, end))
    if "conflict_with" in decision.facts:
        return _held_back(decision, commands=commands)
    if decision.reason == "project_paused" and archived:
        return sentence("project_archived", agent_id, project_id, commands=commands)
    known, account = _words(decision.reason) != decision.reason, str(decision.facts.get("kept_of", "ACCOUNT"))
    limited = str(decision.facts.get("budget_of", "TASK"))
    told = (
        sentence(decision.reason, agent_id, project_id, account, limited, commands=commands)
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
        paths=conflict_forecast.paths_in_words(decision.facts["conflict_in"]),
    )
    merge = say("To merge it{deed:: …}.", deed=deed("merge", task_id=other))
    return together((told, merge)) if commands and finished else told


def _failure(facts: Mapping[str, Any]) -> Worded:
    """The last failure, in words."""
    if "kept_of" in facts:
        return say("the rest of the quota of the account {account} is kept", account=facts["kept_of"])
    if "accounts" in facts:
        return say("the quotas of the accounts {accounts} are used up", accounts=", ".join(facts["accounts"]))
    if "account" in facts:
        return say("the quota of the account {account} is used up", account=facts["account"])
    return failure_clause(str(facts.get("cooldown", failures.Failure.CRASHED)))


def failure_clause(failure: str) -> Worded:
    """What a failure means, to go on with after "because"."""
    nature = failures.nature_of(failure)
    return constant(nature.words) if nature is not None else say("it failed ({failure})", failure=failure)


def end_in_words(call: Call, launch: Launch) -> str:
    """What was found out about the end of a launch: the program's or its service's own words."""
    nature, said = failures.nature_of(launch.exit_error), (launch.exit_error or "").partition(":")[2]
    if not said.strip():
        lines = (call.tx.launches.exit_record(launch.id)[0] or "").strip().splitlines()
        said = "\n".join(lines if nature is not None and nature.logged else lines[-_LAST_LINES:])
    return said.strip()


_LAST_LINES = 2
"""What a program printed last says mostly why it failed."""
