"""Reads what MCP offers as resources: a project's board, a task, an agent's inbox. Changes and delivers nothing.

Each answer has an `etag`. A caller that sends the current one (`seen`) and waits is answered when it changes, so a
subscription is a read that waits. URIs are handled elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import Notification
from toryo.domain.projects import Project
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.sessions import Session
from toryo.domain.tasks import CLOSED, Status, Task
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Available, Later, NoParameters, Parameters, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.tasks import below_main_task

MOST = 200
"""Tasks that one column of a board shows; of closed ones the newest."""


class Seen(Parameters):
    seen: str | None = Field(None, max_length=64, description="The etag you have: wait until there is another.")
    wait_seconds: int = Field(0, ge=0, le=LONGEST_WAIT_SECONDS, description="How long to wait for a change.")


class ReadResult(Result):
    etag: str


class Unchanged(ReadResult):
    unchanged: bool


Read = TypeVar("Read", bound=ReadResult)


def _answer(call: Call, wanted: Seen, answer: Read, topics: Iterable[str]) -> Read | Unchanged | Later:
    """`answer` gets its etag here."""
    etag = answer["etag"] = hashlib.sha256(orjson.dumps(answer)).hexdigest()[:32]
    if etag != wanted.seen:
        return answer
    if wanted.wait_seconds and call.may_wait:
        return Later(frozenset(topics))
    return {"success": True, "etag": etag, "unchanged": True}


# --- what there is ---------------------------------------------------------------------------------------------------


class Readable(Result):
    resources: list[dict[str, str]]


@operation("list_readable", grant=Grant.OPEN, tool=False, context=True, reads=True)
def list_readable(call: Call, _: NoParameters) -> Readable:
    """What this caller may want to read: an agent its project's board, its main task, its inbox; a person boards."""
    found = [{"kind": "board", "id": project.id, "title": f"Board of {project.name}"} for project in _projects(call)]
    caller = call.caller
    if not caller.is_person and caller.agent is not None:
        task_id = caller.session.task_id if caller.session else caller.launch.task_id if caller.launch else None
        if task_id is not None:
            found.append({"kind": "task", "id": task_id, "title": "Your task"})
        found.append({"kind": "inbox", "id": caller.agent.id, "title": "Your inbox"})
    return {"success": True, "resources": found}


def _projects(call: Call) -> list[Project]:
    if call.caller.is_person:
        return [
            project
            for project in call.tx.projects.all()
            if project.status is not ProjectStatus.ARCHIVED and visibility.sees(call, project.id)
        ]
    own = call.tx.projects.find(call.caller.project_id or "")
    return [own] if own is not None else []


# --- a board ---------------------------------------------------------------------------------------------------------


class ReadBoard(Seen):
    project_id: Id = Field(description="The project.")


class BoardCard(schemas.BriefTask):
    parent_task_id: str | None
    approval: str
    blocked_reason: str | None
    updated_at: str


class Column(TypedDict):
    status: schemas.StatusName
    total: int
    tasks: list[BoardCard]


class BoardResult(ReadResult):
    project: dict[str, str]
    columns: list[Column]


@operation(
    "read_board",
    available=Available.AFTER_THE_END,
    grant=Grant.READER,
    parameters=ReadBoard,
    tool=False,
    context=True,
    reads=True,
    waits=True,
)
def read_board(call: Call, wanted: ReadBoard) -> BoardResult | Unchanged | Later:
    """A project's tasks, one column for each status."""
    project = call.project(wanted.project_id)
    tasks, closed = call.tx.task_lists.current(project.id), call.tx.task_lists.closed_counts(project.id)
    content: BoardResult = {
        "success": True,
        "etag": "",
        "project": {
            "project_id": project.id,
            "name": project.name,
            "description": project.description,
            "status": project.status.value,
        },
        "columns": [
            _column(status, closed[status], call.tx.task_lists.closed(project.id, status, MOST))
            if status in CLOSED
            else _column(status, len(there), there[:MOST])
            for status in Status
            for there in [[task for task in tasks if task.status is status]]
        ],
    }
    return _answer(call, wanted, content, [f"project:{project.id}"])


def _column(status: Status, total: int, tasks: list[Task]) -> Column:
    return {"status": status.value, "total": total, "tasks": [_card(task) for task in tasks]}


_card = wire(Task, BoardCard, task_id="id", parent_task_id="parent_id")


# --- a task ----------------------------------------------------------------------------------------------------------


class ReadTask(Seen):
    task_id: Id = Field(description="The task.")


class ReadTaskResult(ReadResult):
    task: schemas.FullTask


@operation(
    "read_task",
    available=Available.AFTER_THE_END,
    grant=Grant.READER,
    parameters=ReadTask,
    tool=False,
    context=True,
    reads=True,
    waits=True,
)
def read_task(call: Call, wanted: ReadTask) -> ReadTaskResult | Unchanged | Later:
    """One task in detail, as get_task shows it."""
    task = call.task(wanted.task_id)
    content: ReadTaskResult = {"success": True, "etag": "", "task": below_main_task.show(call, task)}
    return _answer(call, wanted, content, [f"task:{task.root_id}"])


# --- an inbox --------------------------------------------------------------------------------------------------------


class ReadInbox(Seen):
    agent_id: Id = Field(description="The agent.")


class InboxResult(ReadResult):
    agent_id: str
    notifications: list[schemas.Notification]


@operation(
    "read_inbox",
    available=Available.AFTER_THE_END,
    grant=Grant.READER,
    parameters=ReadInbox,
    tool=False,
    context=True,
    reads=True,
    waits=True,
)
def read_inbox(call: Call, wanted: ReadInbox) -> InboxResult | Unchanged | Later:
    """The notifications that wait for an agent's session. Reading delivers none: get_notifications does."""
    sessions = _sessions(call, wanted.agent_id)
    waiting: list[Notification] = [note for session in sessions for note in call.tx.handovers.waiting(session.id)]
    content: InboxResult = {
        "success": True,
        "etag": "",
        "agent_id": wanted.agent_id,
        "notifications": [rendering.notification(each) for each in waiting],
    }
    topics = {f"project:{session.project_id}" for session in sessions} or {"events"}
    return _answer(call, wanted, content, topics)


def _sessions(call: Call, agent_id: str) -> list[Session]:
    """An agent reads its own session's inbox alone; a person those of every live session they may see."""
    if not call.caller.is_person:
        if agent_id != call.agent.id:
            raise Refusal(
                Code.AGENT_NOT_FOUND,
                f"You cannot read the inbox of {agent_id}.",
                f"Read your own: {call.agent.id}.",
                agent_id=agent_id,
            )
        return [call.session]
    agent = call.known_agent(agent_id)
    return [
        each for each in call.tx.sessions.live() if each.agent_id == agent.id and visibility.sees(call, each.project_id)
    ]
