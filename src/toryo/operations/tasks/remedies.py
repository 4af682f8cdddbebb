"""What has to change before moving a task helps: where its agent's program would do the same again. For people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toryo.block_reasons import Block
from toryo.deeds import TO_SAY, Blank, Deed, deed
from toryo.domain.agents import COMMAND, Agent
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import Task
from toryo.domain.wording import Worded, constant, together
from toryo.operations.calls.call import Call
from toryo.operations.tasks import subtask_work


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do first, in words and as deeds."""

    words: Worded
    actions: tuple[Deed, ...]


def of_block(call: Call, task: Task, agent: Agent | None, context: Any) -> Remedy | None:
    """What helps where unblocking alone does not; None where it may."""
    if task.blocked_reason in (Block.NOBODY_MAY_RESOLVE_IT, Block.NOT_RESOLVED):
        assign = constant("Assign it to an agent that may edit files, and unblock it.")
        words = together((assign, subtask_work.by_hand(call, task)))
        return Remedy(words, (deed("assign", task_id=task.id, assignee_id=Blank("AGENT")),))
    if agent is None or not agent.without_model or task.blocked_by != agent.id or task.blocked_on:
        return None
    context = context if isinstance(context, Mapping) else {}
    if agent.provider == COMMAND and not (context.get("command") or context.get("delegate")):
        return Remedy(
            constant("Add a command to the task, then unblock it."),
            (deed("edit", task_id=task.id, context={"command": TO_SAY}),),
        )
    if agent.provider == "playbook":
        return Remedy(
            constant("With the same plan it would be blocked again. Change the task or the plan, then unblock it."),
            (
                deed("edit", task_id=task.id, title=TO_SAY),
                deed("correct", agent_id=agent.id, provider_options={"playbook": Blank("FILE")}),
            ),
        )
    return Remedy(
        constant("Unchanged, it would be blocked again. Remove the cause or change the task, then unblock it."),
        (deed("edit", task_id=task.id, context=TO_SAY),),
    )
