"""Adds memories: by agents and by people, under the same rules."""

from __future__ import annotations

from toryo.deeds import deed
from toryo.domain import ids, log_redaction, memories
from toryo.domain.errors import Code, Refusal
from toryo.domain.memories import Memory
from toryo.domain.wording import say
from toryo.operations.calls.call import Call


def same_memory(call: Call, project_id: str, text: str) -> Memory | None:
    """The memory that says the same."""
    return call.tx.memories.alike(project_id, memories.likeness(without_secrets(text)))


def without_secrets(text: str) -> str:
    """As it is stored: what looks like a token or a password is masked."""
    return log_redaction.hide_secrets(text).strip()


def add(call: Call, project_id: str, text: str, *, task_id: str | None = None, pinned: bool = False) -> Memory:
    """Raises Refusal where there are too many."""
    if call.tx.memories.count(project_id) >= memories.MOST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("Project {project_id} has {most} memories, the maximum.", project_id=project_id, most=memories.MOST),
            "Ask a person to delete what is no longer true, and continue."
            if call.of_agent
            else say("Delete what is no longer true{deed:: …|.}", deed=deed("list_memories")),
        )
    whole = without_secrets(text)
    memory = Memory(
        id=call.new_id(ids.MEMORY),
        project_id=project_id,
        text=whole,
        alike=memories.likeness(whole),
        author_id=call.actor.id,
        task_id=task_id,
        pinned=pinned,
        created_at=call.now,
    )
    call.tx.memories.add(memory)
    tell(call, "memory.added", memory)
    return memory


def tell(call: Call, kind: str, memory: Memory) -> None:
    told = {"memory_id": memory.id, "text": memory.text[:_BRIEF]}
    call.event(kind, project_id=memory.project_id, agent_id=memory.author_id, data=told)


_BRIEF = 200
