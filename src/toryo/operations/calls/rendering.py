"""Renders tasks, agents, launches for answers: the same keys in every operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toryo.block_reasons import WORDS
from toryo.domain import agents
from toryo.domain.agents import Agent
from toryo.domain.delegations import Delegation
from toryo.domain.events import Event
from toryo.domain.handover import INTERRUPT, Handoff, Notification
from toryo.domain.launches import Launch
from toryo.domain.projects import Project
from toryo.domain.questions import Question, in_words
from toryo.domain.sessions import Session
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Details, Task
from toryo.domain.times import Millis, iso, iso_or_none
from toryo.domain.usages import Usage
from toryo.domain.wording import Worded, constant
from toryo.operations.calls import schemas
from toryo.storage.coordinators import Disk


def disk(taken: Disk | None) -> schemas.Disk | None:
    """What a Coordinator's files take; None: it has not counted yet."""
    if taken is None:
        return None
    return {
        "logs_bytes": taken.logs,
        "worktrees_bytes": taken.worktrees,
        "complete": taken.complete,
        "measured_at": iso(taken.measured_at),
    }


def code(reason: str | None) -> str | None:
    """A reason of a task; a code of ours stays one, and is shown in words by a page."""
    return Worded(reason, WORDS[reason]) if reason is not None and reason in WORDS else reason


def task(each: Task, details: Details, dependencies: tuple[str, ...] | list[str]) -> schemas.Task:
    """The keys of a task, everywhere the same."""
    return {
        "task_id": each.id,
        "id": each.id,
        "project_id": each.project_id,
        "title": each.title,
        "description": details.description,
        "status": each.status.value,
        "priority": each.priority.value,
        "assignee_id": each.assignee_id,
        "agent_type": each.agent_type,
        "parent_task_id": each.parent_id,
        "dependencies": list(dependencies),
        "approval": each.approval.value,
        "approved_by": each.approved_by,
        "blocked_reason": code(each.blocked_reason),
        "blocked_by": each.blocked_by,
        "result": details.result,
        "summary": details.summary,
        "error": code(details.error),
        "attempt": each.attempt,
        "created_by": each.created_by,
        "requested_by": each.requested_by,
        "correlation_id": each.correlation_id,
        "created_at": iso(each.created_at),
        "updated_at": iso(each.updated_at),
        "started_at": iso_or_none(each.started_at),
        "completed_at": iso_or_none(each.completed_at),
        "version": each.version,
    }


def full_task(each: Task, details: Details, tree: Tree) -> schemas.DetailedTask:
    """One task in detail: also its context, acceptance, children, and whether a dependency failed."""
    return {
        **task(each, details, tree.depends_on.get(each.id, ())),
        "context": details.context,
        "acceptance": list(details.acceptance),
        "touches": list(each.touches),
        "checks": each.checks.value,
        "check_failures": list(details.check_failures),
        "next_steps": details.next_steps,
        "artifacts": list(details.artifacts),
        "dependency_failed": tree.dependency_failed(each),
        "blocked_cause": each.blocked_cause,
        "subtasks": [brief_task(child) for child in tree.children(each)],
    }


def handoffs(found: Sequence[Handoff]) -> list[schemas.Handoff]:
    """The first one whole; of the others what tells them apart: together they must fit into what a model can read."""
    return [handoff(each) if number == 0 else _brief_handoff(each) for number, each in enumerate(found)]


def _brief_handoff(each: Handoff) -> schemas.Handoff:
    return {**handoff(each), "summary": (each.summary or "")[:BRIEF], "context": None, "recommendations": None}


BRIEF = 300
"""Characters of a handoff that is not the first."""


def handoff(each: Handoff) -> schemas.Handoff:
    return {
        "handoff_id": each.id,
        "task_id": each.task_id,
        "from_agent_id": each.from_agent_id,
        "to_agent_id": each.to_agent_id,
        "summary": each.summary,
        "context": each.context,
        "recommendations": each.recommendations,
        "created_at": iso(each.created_at),
        "accepted_at": iso_or_none(each.accepted_at),
    }


def brief_task(each: Task) -> schemas.BriefTask:
    return {
        "task_id": each.id,
        "id": each.id,
        "title": each.title,
        "status": each.status.value,
        "priority": each.priority.value,
        "assignee_id": each.assignee_id,
    }


def main_task(each: Task, description: str) -> schemas.MainTask:
    """As next actions show the main task."""
    return {"id": each.id, "task_id": each.id, "title": each.title, "description": description}


def agent(each: Agent) -> schemas.Agent:
    return {
        "agent_id": each.id,
        "name": each.name,
        "kind": each.kind.value,
        "role": each.role.value,
        "reports_to": each.reports_to,
        "status": each.status.value,
        "provider": each.provider,
        "ai_type": each.provider,
        "model": each.model,
        "agent_type": each.agent_type,
        "capabilities": list(each.capabilities),
        "max_parallel_tasks": each.max_parallel_tasks,
        "system_prompt": each.system_prompt,
        "provider_options": each.provider_options,
        "effective_options": each.effective_options if each.managed else {},
        "mistakes": agents.mistakes_of(each) if each.managed else [],
        "created_at": iso(each.created_at),
        "updated_at": iso(each.updated_at),
        "version": each.version,
    }


def asked_network(each: Project) -> schemas.AskedNetwork:
    """What a project lets programs reach, as its Coordinators are told (`sandbox_network.Asked`)."""
    settings = each.settings
    return {
        "network": settings.network.value,
        "hosts": list(settings.network_hosts),
        "setup_hosts": list(settings.setup_network),
        "ports": list(settings.ports),
    }


def project(each: Project) -> schemas.Project:
    return {
        "project_id": each.id,
        "id": each.id,
        "name": each.name,
        "description": each.description,
        "status": each.status.value,
        "working_directory": each.working_directory,
        "settings": each.settings.values(),
        "created_at": iso(each.created_at),
        "updated_at": iso(each.updated_at),
        "paused_at": iso_or_none(each.paused_at),
        "version": each.version,
    }


def launch(each: Launch) -> schemas.Launch:
    return {
        "launch_id": each.id,
        "agent_id": each.agent_id,
        "project_id": each.project_id,
        "purpose": each.purpose.value,
        "task_id": each.task_id,
        "reason": each.reason,
        "state": each.state.value,
        "ai_type": each.provider,
        "model": each.model,
        "account": each.account,
        "fence": each.fence,
        "coordinator_id": each.coordinator_id,
        "ordered_at": iso(each.ordered_at),
        "deadline": iso(each.deadline),
        "signed_in_at": iso_or_none(each.signed_in_at),
        "ended_at": iso_or_none(each.ended_at),
        "end_reason": each.end_reason,
        "exit_code": each.exit_code,
        "exit_signal": each.exit_signal,
        "exit_error": each.exit_error,
        "doing": doing(each),
        "ports": ports(each),
        "refused_hosts": refused_hosts(each),
    }


def ports(each: Launch | None) -> list[schemas.ServedPort]:
    """Where those of its program are reachable now."""
    served = (each.ports or {}) if each is not None and each.live else {}
    return [{"port": int(port), "address": f"http://127.0.0.1:{at}"} for port, at in served.items()]


def refused_hosts(each: Launch | None) -> schemas.RefusedHosts | None:
    """What its sandbox has refused, known at its end."""
    if each is None or each.refused_hosts is None:
        return None
    found = each.refused_hosts
    return {"hosts": found["hosts"], "more": found["more"], "words": found["words"]}


def doing(each: Launch | None) -> schemas.Doing | None:
    """What its program does now; nothing once it is over."""
    if each is None or each.doing is None or not each.live:
        return None
    now = each.doing
    kind: Any = now.kind
    return {"kind": kind, "tool": now.tool, "text": now.text, "since": iso(now.since)}


def used(each: Usage | None) -> schemas.Used | None:
    """None: its program has told nothing."""
    if each is None:
        return None
    return {
        "input_tokens": each.input_tokens,
        "cached_tokens": each.cached_tokens,
        "output_tokens": each.output_tokens,
        "cost_usd": each.cost_usd,
        "turns": each.turns,
        "tool_calls": each.tool_calls,
        "model": each.model,
        "lower_bound": each.lower_bound,
    }


def delegation(each: Delegation) -> schemas.Delegation:
    """A delegation as its task session sees it."""
    return {
        "delegation_id": each.id,
        "target_agent_id": each.target_agent_id,
        "purpose": each.purpose,
        "await_result": each.await_result,
        "status": each.status.value,
        "attempt": each.attempt,
        "result": each.result,
        "created_at": iso(each.created_at),
        "processed_at": iso_or_none(each.processed_at),
    }


def told_question(each: Question) -> schemas.ToldQuestion:
    return {
        "question_id": each.id,
        "task_id": each.task_id,
        "question": each.question,
        "state": each.state.value,
        "answer": in_words(each) or None,
        "ended_by": each.ended_by,
        "ended_at": iso_or_none(each.ended_at),
    }


def question(each: Question, now: Millis) -> schemas.Question:
    """As people are shown it."""
    return {
        "question_id": each.id,
        "review": each.review,
        "review_task_id": each.review_task_id,
        "project_id": each.project_id,
        "task_id": each.task_id,
        "agent_id": each.agent_id,
        "question": each.question,
        "options": list(each.options),
        "multiple": each.multiple,
        "free_text": each.free_text,
        "default": each.fallback,
        "deadline": iso_or_none(each.deadline),
        "overdue": each.overdue(now),
        "to": each.to_person,
        "state": each.state.value,
        "asked_at": iso(each.created_at),
        "choices": list(each.choices),
        "text": each.written,
        "ended_by": each.ended_by,
        "ended_at": iso_or_none(each.ended_at),
        "reason": each.reason,
    }


def notification(each: Notification) -> schemas.Notification:
    return {
        "notification_id": each.id,
        "kind": each.kind,
        "priority": "high" if each.kind == INTERRUPT else "normal",
        "message": each.message,
        "task_id": each.task_id,
        "cause": each.cause,
        "created_at": iso(each.created_at),
    }


def session(each: Session) -> schemas.Session:
    return {
        "session_id": each.id,
        "agent_id": each.agent_id,
        "project_id": each.project_id,
        "purpose": each.purpose.value,
        "task_id": each.task_id,
        "launch_id": each.launch_id,
        "model_provider": each.model_provider,
        "model_id": each.model_id,
        "model_verified": each.model_verified,
        "created_at": iso(each.created_at),
        "last_call_at": iso(each.last_call_at),
        "expires_at": iso(each.expires_at),
        "ended_at": iso_or_none(each.ended_at),
        "end_reason": each.end_reason.value if each.end_reason else None,
        "runaway": each.runaway,
    }


def event(each: Event) -> schemas.Event:
    """An event as its readers are told of it."""
    return {
        "sequence": each.sequence,
        "event_id": each.id,
        "at": iso(each.at),
        "kind": each.kind,
        "actor_id": each.actor_id,
        "by_person": bool(each.by_person),
        "project_id": each.project_id,
        "task_id": each.task_id,
        "agent_id": each.agent_id,
        "session_id": each.session_id,
        "launch_id": each.launch_id,
        "correlation_id": each.correlation_id,
        "data": _timed(_worded(each.data)),
    }


_MOMENTS = ("_at", "until", "since")
"""How the names of moments end."""


def _timed(data: dict[str, Any]) -> dict[str, Any]:
    """Moments are kept as numbers with an event, and told as everywhere."""
    return {name: iso(each) if name.endswith(_MOMENTS) and type(each) is int else each for name, each in data.items()}


def _worded(data: dict[str, Any]) -> dict[str, Any]:
    """The words of a row are kept in English with a decision, and said in the reader's language."""
    return {**data, "rule": constant(data["rule"])} if isinstance(data.get("rule"), str) else data
