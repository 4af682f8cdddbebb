"""Makes and records launch decisions. `starts.py` carries out a start, `end_of_session.py` a stop."""

from __future__ import annotations

from toryo.block_reasons import Block
from toryo.domain.launches import Purpose, State
from toryo.domain.tasks import Checks, Task
from toryo.operations.calls.call import Call
from toryo.operations.launches import end_of_session
from toryo.operations.messaging import conversations
from toryo.workflow import launch_rules
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.snapshot import Snapshot


def decide(
    call: Call, agent_id: str, project_id: str, purpose: Purpose, *, by_hand: bool = False, changes: bool = True
) -> tuple[Snapshot, Decision]:
    """The decision from facts now. With `changes`, what has run out is ended first, and a new answer is recorded."""
    look = call.chat_snapshot if purpose is Purpose.CHAT else call.snapshot
    snapshot = look(agent_id, project_id)
    if not changes:
        snapshot = _without_lapsed(snapshot)
    elif _lapse(call, snapshot):
        snapshot = look(agent_id, project_id)
    decision = _decided(snapshot, purpose, by_hand)
    if changes and decision.action is Action.START and _without_progress(call, snapshot, decision):
        snapshot = call.snapshot(agent_id, project_id)
        decision = _decided(snapshot, purpose, by_hand)
    if changes and not by_hand:
        record(call, agent_id, project_id, purpose, decision)
    return snapshot, decision


def _decided(snapshot: Snapshot, purpose: Purpose, by_hand: bool) -> Decision:
    if purpose is Purpose.CHAT:
        return launch_rules.decide_chat(snapshot, by_hand=by_hand)
    return launch_rules.decide(snapshot, by_hand=by_hand)


def _lapse(call: Call, snapshot: Snapshot) -> bool:
    talk = snapshot.talk.in_conversation and conversations.lapse(call, snapshot.project_id, snapshot.agent_id)
    ended = [talk, *_lapsed(call, snapshot)]
    return any(ended)


def _lapsed(call: Call, snapshot: Snapshot) -> list[bool]:
    return [
        end_of_session.lapse(call, snapshot.launches.get(purpose), snapshot.sessions.get(purpose))
        for purpose in Purpose
    ]


def _without_lapsed(snapshot: Snapshot) -> Snapshot:
    """What has run out counts as ended for who asks without changing anything: the next who asks would end it."""
    sessions = {purpose: session for purpose, session in snapshot.sessions.items() if not session.ran_out(snapshot.now)}
    launches = {
        purpose: each
        for purpose, each in snapshot.launches.items()
        if not each.ran_out(snapshot.now) and (each.state is State.ORDERED or purpose in sessions)
    }
    lost = {each.task_id for each in snapshot.sessions.values() if each.ran_out(snapshot.now) and each.task_id}
    found = snapshot.with_live(sessions, launches)
    return found.with_given_back(lost) if lost else found


def _without_progress(call: Call, snapshot: Snapshot, decision: Decision) -> bool:
    """The guard against starting again and again: blocks the task, and says whether it did."""
    tree_state = snapshot.ground_of(decision.task_id) if decision.task_id is not None else None
    if tree_state is None or decision.task_id is None:
        return False
    task = tree_state.tree.tasks[decision.task_id]
    if not brings_nothing_new(decision.reason, task) or task.idle_launches < call.context.limits.idle_launches:
        return False
    end_of_session.block_by_guard(call, task, Block.NO_PROGRESS)
    return True


def brings_nothing_new(reason: str, task: Task) -> bool:
    """Whether a start for this reason is one without progress, as far as is known. Failed checks are news to a manager,
    and no progress."""
    return reason == "has_in_progress_task" or task.checks is Checks.FAILED


def record(call: Call, agent_id: str, project_id: str, purpose: Purpose, decision: Decision) -> None:
    """A decision that differs from the last one for this agent and purpose is an event with its row and facts."""
    said = f"{decision.action.value} {decision.reason} {decision.task_id or ''}"
    last = call.tx.launches.last_decision(agent_id, project_id, purpose.value)
    if last is not None and last[0] == said:
        return
    call.tx.launches.remember_decision(agent_id, project_id, purpose.value, said, call.now)
    call.event(
        "decision.launch",
        project_id=project_id,
        agent_id=agent_id,
        data={
            "purpose": purpose.value,
            "action": decision.action.value,
            "reason": decision.reason,
            "row": decision.row,
            "rule": decision.words,
            "task_id": decision.task_id,
            "facts": decision.facts,
        },
    )
