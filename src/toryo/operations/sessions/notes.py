"""Notes of a session about its task: adding and listing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import ids
from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import Note
from toryo.domain.tasks import Task
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.wire import wire

TEXT = 100_000
"""The longest text a field takes, in characters."""


Text = Annotated[Lines, Field(max_length=TEXT)]


class Progress(Parameters):
    task_id: Id | None = Field(None, description="Default: your main task.")
    progress: Text | None = Field(None, description="What has been done.", json_schema_extra=PLAIN)
    findings: Text | None = Field(None, description="What was found out.", json_schema_extra=PLAIN)
    blockers: Text | None = Field(None, description="What stands in the way.", json_schema_extra=PLAIN)
    next_steps: Text | None = Field(None, description="What comes next.", json_schema_extra=PLAIN)


def add_note(call: Call, task_id: str, note: Progress) -> str:
    stored = Note(
        id=call.new_id(ids.NOTE),
        task_id=task_id,
        session_id=call.session.id,
        author_id=call.agent.id,
        progress=note.progress,
        findings=note.findings,
        blockers=note.blockers,
        next_steps=note.next_steps,
        created_at=call.now,
    )
    call.tx.handovers.add_note(stored)
    call.event("note.saved", task=call.tx.tasks.find(task_id), data={"note_id": stored.id})
    return stored.id


class ShownNote(TypedDict):
    progress: str | None
    findings: str | None
    blockers: str | None
    next_steps: str | None
    by: str
    at: str


shown_note = wire(Note, ShownNote, by="author_id", at="created_at")


def of_own_tree(call: Call, task_id: str | None) -> Task:
    """A task of the session's own tree. Raises Refusal."""
    session = call.session
    wanted = task_id or session.task_id
    if wanted is None:
        raise Refusal(Code.VALIDATION_ERROR, "This session has no main task.", "Pass a task in task_id.")
    task = call.task(wanted)
    if session.root_id is not None and task.root_id != session.root_id:
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"Task {task.id} does not belong to your main task.",
            "You can leave notes and handoffs only on your main task and on tasks above and below it.",
            task_id=task.id,
        )
    return task
