"""Makes findable what completed tasks have reported, what was handed over and what conversations have said: what is new
since the last round, a bounded part at a time. Memories are findable at once.
"""

from __future__ import annotations

from functools import partial

from toryo.domain.events import Event
from toryo.domain.memories import Kind
from toryo.operations.calls.call import Call
from toryo.operations.calls.fault_isolation import each_fenced
from toryo.operations.memory import finding
from toryo.storage.memories import INDEXED

SEARCH = "search"
AT_ONCE = 100
"""Texts of one part."""
MOST_PARTS = 20
"""Of one round: others write between two parts."""


def add_new(call: Call) -> bool:
    """Whether more is left."""
    last = call.tx.events.last()
    events, to = call.tx.memories.new_events(last, AT_ONCE)
    for _ in each_fenced(call, SEARCH, events, partial(_index, call)):
        pass
    if to is None:
        return False
    call.tx.memories.note_progress(to)
    return to < last


def _index(call: Call, event: Event) -> bool:
    kind = INDEXED[event.kind]
    if kind is Kind.TASK:
        return _task(call, event)
    if kind is Kind.HANDOFF:
        return _handoff(call, event)
    return _conversation(call, event)


def _task(call: Call, event: Event) -> bool:
    task = call.tx.tasks.find(event.task_id or "")
    if task is None:
        return False
    summary = call.tx.tasks.details(task.id).summary
    if not summary:
        return False
    call.tx.memories.forget(task.id)
    call.tx.memories.index(task.project_id, Kind.TASK, task.id, f"{task.title}\n{summary}", task.id)
    return True


def _handoff(call: Call, event: Event) -> bool:
    handoff = call.tx.handovers.handoff(str(event.data.get("handoff_id")))
    if handoff is None or event.project_id is None:
        return False
    text = f"{handoff.summary}\n{handoff.recommendations or ''}"
    call.tx.memories.index(event.project_id, Kind.HANDOFF, handoff.id, text, handoff.task_id)
    return True


def _conversation(call: Call, event: Event) -> bool:
    conversation = call.tx.chat.conversation(str(event.data.get("conversation_id")))
    if conversation is None:
        return False
    text = f"{conversation.purpose}\n{finding.outcome_of(call, conversation)}"
    call.tx.memories.index(conversation.project_id, Kind.CONVERSATION, conversation.id, text)
    return True
