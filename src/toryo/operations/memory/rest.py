"""Memories as people list, search, add, correct, pin and delete them. REST and CLI."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from toryo.deeds import deed
from toryo.domain import memories
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.memories import Kind, Memory
from toryo.domain.wording import say
from toryo.operations.calls import visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.memory import finding, writing
from toryo.operations.memory.finding import FoundText
from toryo.storage.memories import NEWEST

USUAL = 100
"""Memories of a page."""

MemoryText = Annotated[Lines, Field(min_length=1, max_length=memories.LONGEST, pattern=r"\S")]


class ShownMemory(TypedDict):
    memory_id: str
    project_id: str
    text: str
    author_id: str
    task_id: str | None
    pinned: bool
    created_at: str
    edited_by: str | None
    edited_at: str | None


class ListedMemories(Page):
    memories: list[ShownMemory]


class OneMemory(Result):
    memory: ShownMemory


class AddedMemory(OneMemory):
    """`known`: whether the project has this memory already; then it is that one."""

    known: bool


class DeletedMemory(Result):
    memory_id: str


class FoundTexts(Result):
    found: list[FoundText]


class ListMemories(Paged):
    project_id: Id = Field(description="The project.")


@operation(
    "list_memories",
    grant=Grant.PERSON,
    parameters=ListMemories,
    route=Route("GET", "/projects/{project_id}/memories"),
    tool=False,
    reads=True,
)
def list_memories(call: Call, wanted: ListMemories) -> ListedMemories:
    """What agents and people have noted about a project, the newest first; 100 a page."""
    project, limit = call.project(wanted.project_id), wanted.limit or USUAL
    key = key_of(wanted.cursor, int, str)
    before = (key[0], key[1]) if key is not None else NEWEST
    found = call.tx.memories.listed(project.id, before, limit + 1)
    more = cursor_of(found[limit - 1].created_at, found[limit - 1].id) if len(found) > limit else None
    answer: ListedMemories = {"success": True, "memories": [_shown(each) for each in found[:limit]]}
    return paged(answer, more)


class SearchProject(Parameters):
    project_id: Id = Field(description="The project.")
    query: Annotated[str, Field(min_length=1, max_length=memories.LONGEST_QUERY, pattern=r"\S")] = Field(
        description="The words; what has more of them, and rarer ones, comes first."
    )
    kind: Literal["memory", "task", "handoff", "conversation"] | None = Field(None, description="Only of this kind.")
    limit: int = Field(20, ge=1, le=100, description="How many at most.")


@operation(
    "search_project",
    grant=Grant.PERSON,
    parameters=SearchProject,
    route=Route("GET", "/projects/{project_id}/knowledge"),
    tool=False,
    reads=True,
)
def search_project(call: Call, wanted: SearchProject) -> FoundTexts:
    """Search a project's memories, what completed tasks have reported, handoffs and conversations of agents."""
    project = call.project(wanted.project_id)
    kinds = [Kind(wanted.kind)] if wanted.kind is not None else list(Kind)
    return {"success": True, "found": finding.find(call, project.id, wanted.query, wanted.limit, kinds)}


class AddMemory(Parameters):
    project_id: Id = Field(description="The project.")
    text: MemoryText = Field(description="One fact, with what is needed to understand it.")
    pinned: bool = Field(False, description="Whether it comes with every task of the project.")


@operation(
    "add_memory",
    grant=Grant.WRITER,
    parameters=AddMemory,
    route=Route("POST", "/projects/{project_id}/memories", 201),
    tool=False,
)
def add_memory(call: Call, wanted: AddMemory) -> AddedMemory:
    """Note a fact about a project for its agents."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    before = writing.same_memory(call, project.id, wanted.text)
    memory = before or writing.add(call, project.id, wanted.text, pinned=wanted.pinned)
    if wanted.pinned and not memory.pinned:
        memory = _saved(call, memory, replace(memory, pinned=True))
    return {"success": True, "memory": _shown(memory), "known": before is not None}


class OneOf(Parameters):
    memory_id: Id = Field(description="The memory.")


@operation(
    "show_memory",
    grant=Grant.PERSON,
    parameters=OneOf,
    route=Route("GET", "/memories/{memory_id}"),
    tool=False,
    reads=True,
)
def show_memory(call: Call, wanted: OneOf) -> OneMemory:
    """One memory."""
    return {"success": True, "memory": _shown(_known(call, wanted.memory_id))}


class EditMemory(OneOf):
    text: MemoryText | None = Field(None, description="New text.")
    pinned: bool | None = Field(None, description="Whether it comes with every task of the project.")


@operation(
    "edit_memory",
    grant=Grant.WRITER,
    parameters=EditMemory,
    route=Route("PATCH", "/memories/{memory_id}"),
    tool=False,
)
def edit_memory(call: Call, wanted: EditMemory) -> OneMemory:
    """Correct a memory, or pin it: a pinned one comes with every task of the project."""
    before = _entered(call, wanted.memory_id)
    text = writing.without_secrets(wanted.text) if wanted.text is not None else before.text
    after = replace(
        before,
        text=text,
        alike=memories.likeness(text),
        pinned=before.pinned if wanted.pinned is None else wanted.pinned,
    )
    if after == before:
        return {"success": True, "memory": _shown(before)}
    same = call.tx.memories.alike(before.project_id, after.alike)
    if same is not None and same.id != before.id:
        raise Refusal(
            Code.CONFLICT,
            say("Memory {memory_id} says the same.", memory_id=same.id),
            "Delete one of the two.",
            memory_id=same.id,
        )
    return {"success": True, "memory": _shown(_saved(call, before, after))}


@operation(
    "delete_memory",
    grant=Grant.WRITER,
    parameters=OneOf,
    route=Route("DELETE", "/memories/{memory_id}"),
    tool=False,
)
def delete_memory(call: Call, wanted: OneOf) -> DeletedMemory:
    """Delete a memory."""
    memory = _entered(call, wanted.memory_id)
    call.tx.memories.drop(memory.id)
    writing.tell(call, "memory.deleted", memory)
    return {"success": True, "memory_id": memory.id}


def _saved(call: Call, before: Memory, changed: Memory) -> Memory:
    after = replace(changed, edited_by=call.actor.id, edited_at=call.now)
    call.tx.memories.save(before, after)
    writing.tell(call, "memory.edited", after)
    return after


def _entered(call: Call, memory_id: str) -> Memory:
    """The memory as nobody else can change it from here on."""
    call.enter(_known(call, memory_id).project_id)
    return _known(call, memory_id)


def _known(call: Call, memory_id: str) -> Memory:
    found = call.tx.memories.find(memory_id)
    if found is None or not visibility.sees(call, found.project_id):
        raise Refusal(
            Code.MEMORY_NOT_FOUND,
            say("There is no memory {memory_id}.", memory_id=memory_id),
            say("{deed:List them: …}", deed=deed("list_memories")),
            memory_id=memory_id,
        )
    return found


_shown = wire(Memory, ShownMemory, memory_id="id")
