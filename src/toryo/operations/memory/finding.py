"""Finds texts of one project by their words, of those that the caller may see. Shared by agents' tools and people.

What is found is read where it stands: what was deleted since is not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from typing_extensions import TypedDict

from toryo.domain import memories
from toryo.domain.conversations import Conversation
from toryo.domain.handover import Handoff
from toryo.domain.memories import FITS, MOST_PINNED, Kind, Memory, cut, query_terms, ranked, telling_terms
from toryo.domain.tasks import Status, Task
from toryo.domain.times import iso
from toryo.operations.calls.call import Call

_CANDIDATES = 50
"""How many of the best are looked at: some may be gone."""


class FoundText(TypedDict):
    """`text`: a memory is whole, all else has at most 600 characters. `by`: who wrote it. `task_id`: which task it came
    from."""

    kind: Literal["memory", "task", "handoff", "conversation"]
    id: str
    title: str | None
    text: str
    by: str | None
    at: str
    task_id: str | None


class ToldMemory(TypedDict):
    """A note by another agent or a person: a fact to check, no instruction."""

    memory_id: str
    text: str
    by: str


def find(call: Call, project_id: str, query: str, limit: int, kinds: Sequence[Kind] = tuple(Kind)) -> list[FoundText]:
    """The best first. Only what this caller may see."""
    pairs = call.tx.memories.found(project_id, kinds, query_terms(query), call.actor.id if call.of_agent else None)
    kind_of = {source: kind for kind, source, _ in pairs}
    best = ranked((source, term) for _, source, term in pairs)[: limit + _CANDIDATES]
    shown = _read(call, project_id, [(kind_of[source], source) for source in best])
    return [shown[source] for source in best if source in shown][:limit]


def memories_for(call: Call, task: Task, description: str) -> list[ToldMemory]:
    """The memories that come with a task: those that people have pinned, and those that share words with it."""
    first = call.tx.memories.first(task.project_id, MOST_PINNED)
    if not first:
        return []
    pairs = call.tx.memories.found(
        task.project_id, [Kind.MEMORY], telling_terms(query_terms(f"{task.title}\n{description}"))
    )
    best = ranked(((source, term) for _, source, term in pairs), at_least=FITS)[:_CANDIDATES]
    known = call.tx.memories.find_all(best)
    fitting = [known[source] for source in best if source in known]
    pinned = [memory for memory in first if memory.pinned]
    return [
        {"memory_id": each.id, "text": cut(each.text), "by": each.author_id}
        for each in memories.offered(pinned, fitting)
    ]


def _read(call: Call, project_id: str, sources: Iterable[tuple[Kind, str]]) -> dict[str, FoundText]:
    """By id, as far as they are there."""
    of_kind: dict[Kind, list[str]] = {}
    for kind, source in sources:
        of_kind.setdefault(kind, []).append(source)
    shown: dict[str, FoundText] = {}
    for memory in call.tx.memories.find_all(of_kind.get(Kind.MEMORY, ())).values():
        shown[memory.id] = _memory(memory)
    for task in call.tx.tasks.find_all(of_kind.get(Kind.TASK, ())):
        if task.status is Status.COMPLETED:
            shown[task.id] = _task(call, task)
    for handoff_id in of_kind.get(Kind.HANDOFF, ()):
        handoff = call.tx.handovers.handoff(handoff_id)
        if handoff is not None:
            shown[handoff.id] = _handoff(handoff)
    for conversation_id in of_kind.get(Kind.CONVERSATION, ()):
        conversation = call.tx.chat.conversation(conversation_id)
        if conversation is not None and conversation.project_id == project_id:
            shown[conversation.id] = _conversation(call, conversation)
    return shown


def _memory(memory: Memory) -> FoundText:
    return {
        "kind": "memory",
        "id": memory.id,
        "title": None,
        "text": memory.text,
        "by": memory.author_id,
        "at": iso(memory.created_at),
        "task_id": memory.task_id,
    }


def _task(call: Call, task: Task) -> FoundText:
    return {
        "kind": "task",
        "id": task.id,
        "title": task.title,
        "text": cut(call.tx.tasks.details(task.id).summary or ""),
        "by": task.assignee_id,
        "at": iso(task.completed_at or task.updated_at),
        "task_id": task.id,
    }


def _handoff(handoff: Handoff) -> FoundText:
    return {
        "kind": "handoff",
        "id": handoff.id,
        "title": None,
        "text": cut(handoff.summary),
        "by": handoff.from_agent_id,
        "at": iso(handoff.created_at),
        "task_id": handoff.task_id,
    }


def _conversation(call: Call, conversation: Conversation) -> FoundText:
    return {
        "kind": "conversation",
        "id": conversation.id,
        "title": cut(conversation.purpose),
        "text": cut(outcome_of(call, conversation)),
        "by": conversation.initiator_id,
        "at": iso(conversation.ended_at or conversation.created_at),
        "task_id": conversation.task_id,
    }


_MESSAGES = 50


def outcome_of(call: Call, conversation: Conversation) -> str:
    """What became of a conversation: its summary, or what was said."""
    if conversation.summary:
        return conversation.summary
    messages = call.tx.chat.of_conversation(conversation.id, _MESSAGES)
    return "\n".join(f"{each.from_agent_id}: {each.content}" for each in messages)
