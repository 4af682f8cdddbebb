"""What schedules and webhooks have in common: the tasks that they create, as people describe them (parameters of
`file_task`), and what is done with how these end. What is said of each stands in their own files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain import sources
from toryo.domain.sources import Entry, Source
from toryo.domain.tasks import AcceptanceCheck, Status, priority_named
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.calls.fields import Assignee, GivenPriority
from toryo.operations.tasks import acceptance_checks, assignees
from toryo.operations.tasks.acceptance_checks import Acceptance
from toryo.storage.sources import Sources

S = TypeVar("S", bound=Source)
E = TypeVar("E", bound=Entry)

FirstStatus = Literal["backlog", "todo", "in_progress"]
_FIELDS = ("title", "description", "assignee_id", "agent_type", "priority", "context", "acceptance")


class NewTask(Parameters):
    """Whose its tasks are, and how they begin."""

    assignee_id: Assignee | None = Field(
        None, description="Their assignee: a member of the project; any: anyone who is free."
    )
    agent_type: str | None = Field(None, min_length=1, max_length=100, description="Or the queue they go to.")
    priority: GivenPriority = Field("medium", description="Which goes first; urgent is critical.")
    status: FirstStatus | None = Field(
        None, description="Where they begin: in_progress with an assignee, otherwise todo."
    )
    context: Any = Field(None, description="Anything the assignee needs, as JSON.")
    acceptance: Acceptance = Field(default_factory=list, description="What is checked when success is reported.")


class ChangedTask(Parameters):
    """What changes of that."""

    assignee_id: Assignee | None = Field(None, description="New assignee; null: nobody.")
    agent_type: str | None = Field(None, min_length=1, max_length=100, description="New queue; null: none.")
    priority: GivenPriority | None = Field(None, description="New priority; urgent is critical.")
    status: FirstStatus | None = Field(
        None, description="Where its tasks begin; with a new assignee in_progress, without one todo."
    )
    context: Any = Field(None, description="New context.")
    acceptance: Acceptance | None = Field(None, description="New acceptance checks.")


class ScheduledTask(TypedDict):
    """The tasks that it creates."""

    title: str
    description: str
    assignee_id: str | None
    agent_type: str | None
    priority: schemas.PriorityName
    status: FirstStatus
    context: Any
    acceptance: list[AcceptanceCheck]


class Describes(Protocol):
    """Parameters that describe a task, or a change of it."""

    @property
    def priority(self) -> str | None: ...

    @property
    def acceptance(self) -> Acceptance | None: ...

    def model_dump(self, *, exclude_unset: bool = ...) -> dict[str, Any]: ...


def task_parameters(
    wanted: Describes, before: Mapping[str, Any], cleared: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The parameters after the change. `cleared`: the fields that null clears."""
    said = wanted.model_dump(exclude_unset=bool(before))
    task = dict(before or dict.fromkeys(_FIELDS))
    for name in _FIELDS:
        if name in said and (said[name] is not None or name in cleared):
            task[name] = said[name]
    for one, other in (("assignee_id", "agent_type"), ("agent_type", "assignee_id")):
        if said.get(one) is not None and said.get(other) is None:
            task[other] = None
    if wanted.acceptance is not None and "acceptance" in said:
        task["acceptance"] = [dict(each) for each in acceptance_checks.stored_checks(wanted.acceptance)]
    if wanted.priority is not None and "priority" in said:
        task["priority"] = priority_named(wanted.priority).value
    if said.get("status") or {"assignee_id", "agent_type"} & set(said):
        task["status"] = said.get("status") or ("in_progress" if task["assignee_id"] else "todo")
    return task


def refuse(call: Call, project_id: str, task: Mapping[str, Any]) -> None:
    """What would be refused every time, as far as it can be seen now."""
    assignees.refuse(call, call.project(project_id), task["assignee_id"], task["agent_type"])
    assignees.refuse_nobody(Status(task["status"]), task["assignee_id"])


def login(call: Call) -> str:
    """The role with which it creates tasks."""
    assert call.caller.login is not None
    return call.caller.login.value


def tell(call: Call, event: str, source: Source, **data: object) -> None:
    """`event`: its kind, such as schedule.paused."""
    noun = event.partition(".")[0]
    call.event(event, project_id=source.project_id, data={f"{noun}_id": source.id, "name": source.name, **data})


def note_results(
    stored: Sources[S, E], most: int, closed: Callable[[E, Status], E], look: Callable[[S], object]
) -> int:
    """Notes which tasks were closed since, as `closed` says, and looks at the sources whose tasks they are."""
    found = stored.closed_since(most)
    results: dict[str, list[Status]] = {}
    for entry, status in found:
        stored.save_entry(entry, closed(entry, status))
        results.setdefault(entry.source_id, []).append(status)
    for source_id, each in results.items():
        before = stored.find(source_id)
        assert before is not None
        look(stored.save(before, sources.after_results(before, each)))
    return len(found)
