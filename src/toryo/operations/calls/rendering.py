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
from toryo.domain.times import Millis, iso
from toryo.domain.usages import Usage
from toryo.domain.wording import Worded, constant
from toryo.domain.worktrees import State
from toryo.operations.calls import schemas
from toryo.operations.calls.wire import wire
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


_task = wire(
    Task,
    schemas.Task,
    *("description", "dependencies", "result", "summary", "error", "pool"),
    task_id="id",
    parent_task_id="parent_id",
    blocked_reason=lambda each: code(each.blocked_reason),
)


def task(each: Task, details: Details, dependencies: tuple[str, ...] | list[str]) -> schemas.Task:
    """The keys of a task, everywhere the same; `pool` if it has one."""
    shown = _task(each)
    shown["description"], shown["dependencies"] = details.description, list(dependencies)
    shown["result"], shown["summary"], shown["error"] = details.result, details.summary, code(details.error)
    if each.pool is None:
        del shown["pool"]
    else:
        shown["pool"] = {"capabilities": list(each.pool.capabilities)}
    return shown


def standing(*, judged: bool, completed: bool, work: State | None) -> schemas.WorkStanding:
    """How far the work of a task has come, beside its status. `judged`: others decide whether a report of success
    counts (`Task.in_review`). `work`: of its worktree; None if that has no changes."""
    return {"in_review": judged or (completed and work is State.OPEN), "merged": completed and work is State.MERGED}


_said = wire(Task, schemas.SaidOfTask)


def full_task(each: Task, details: Details, tree: Tree) -> schemas.DetailedTask:
    """One task in detail: also its context, acceptance, children, and whether a dependency failed."""
    return {
        **task(each, details, tree.depends_on.get(each.id, ())),
        "context": details.context,
        "acceptance": list(details.acceptance),
        **_said(each),
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


handoff = wire(Handoff, schemas.Handoff, handoff_id="id")


brief_task = wire(Task, schemas.BriefTask, task_id="id")


def main_task(each: Task, description: str) -> schemas.MainTask:
    """As next actions show the main task."""
    return {"id": each.id, "task_id": each.id, "title": each.title, "description": description}


agent = wire(
    Agent,
    schemas.Agent,
    agent_id="id",
    ai_type="provider",
    effective_options=lambda each: each.effective_options if each.managed else {},
    mistakes=lambda each: agents.mistakes_of(each) if each.managed else [],
)


def asked_network(each: Project) -> schemas.AskedNetwork:
    """What a project lets programs reach, as its Coordinators are told (`sandbox_network.Asked`)."""
    settings = each.settings
    return {
        "network": settings.network.value,
        "hosts": list(settings.network_hosts),
        "setup_hosts": list(settings.setup_network),
        "ports": list(settings.ports),
    }


project = wire(Project, schemas.Project, project_id="id", settings=lambda each: each.settings.values())


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


launch = wire(
    Launch,
    schemas.Launch,
    launch_id="id",
    ai_type="provider",
    doing=doing,
    ports=ports,
    refused_hosts=refused_hosts,
)
_used = wire(Usage, schemas.Used)


def usage(each: Usage | None) -> schemas.Used | None:
    """None: its program has told nothing."""
    return None if each is None else _used(each)


delegation = wire(Delegation, schemas.Delegation, delegation_id="id")
"""As its task session sees it."""


told_question = wire(Question, schemas.ToldQuestion, question_id="id", answer=lambda each: in_words(each) or None)


_question = wire(
    Question,
    schemas.Question,
    "overdue",
    question_id="id",
    default="fallback",
    to="to_person",
    asked_at="created_at",
    text="written",
)


def question(each: Question, now: Millis) -> schemas.Question:
    """As people are shown it."""
    shown = _question(each)
    shown["overdue"] = each.overdue(now)
    return shown


notification = wire(
    Notification,
    schemas.Notification,
    notification_id="id",
    priority=lambda each: "high" if each.kind == INTERRUPT else "normal",
)


session = wire(Session, schemas.Session, session_id="id")


_MOMENTS = ("_at", "until", "since")
"""How the names of moments end."""


def _timed(data: dict[str, Any]) -> dict[str, Any]:
    """Moments are kept as numbers with an event, and told as everywhere."""
    return {name: iso(each) if name.endswith(_MOMENTS) and type(each) is int else each for name, each in data.items()}


def _worded(data: dict[str, Any]) -> dict[str, Any]:
    """The words of a row are kept in English with a decision, and said in the reader's language."""
    return {**data, "rule": constant(data["rule"])} if isinstance(data.get("rule"), str) else data


event = wire(
    Event,
    schemas.Event,
    event_id="id",
    by_person=lambda each: bool(each.by_person),
    data=lambda each: _timed(_worded(each.data)),
)
"""An event as its readers are told of it."""
