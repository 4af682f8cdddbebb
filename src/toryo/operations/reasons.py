"""Why one agent runs or not: the launch decision, what hinders a start, and what a Coordinator said of the last one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toryo.domain.launches import Purpose
from toryo.domain.times import iso, iso_or_none
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations import explaining, fencing, hands, launching, starters
from toryo.operations.call import Call
from toryo.workflow.launch import Action, Decision


def told(call: Call, agent_id: str, project_id: str, purpose: Purpose) -> dict[str, Any]:
    """The decision from facts now, in words and with what hinders it; changes nothing."""
    snapshot, decision = launching.decide(call, agent_id, project_id, purpose, changes=False)
    if "held_by" in decision.facts:
        decision = _naming_session(call, decision, project_id)
    obstacle = starters.nobody_can(call, snapshot, decision, purpose)
    starts = decision.action is Action.START and purpose is Purpose.TASK
    held = hands.hindrance(call, decision.task_id) if starts else None
    said = _what_was_wrong(call, agent_id, project_id, decision) if purpose is Purpose.TASK else ""
    last = call.tx.keeping.last_decision(agent_id, project_id, purpose.value)
    return {
        "project_id": project_id,
        "purpose": purpose.value,
        "action": decision.action.value,
        "reason": decision.reason,
        "row": decision.row,
        "rule": constant(decision.words),
        "explanation": together((_explained(call, decision, agent_id, obstacle), held.words if held else "", said)),
        "facts": {
            **decision.facts,
            **({"no_coordinator": obstacle.code} if obstacle else {}),
            **({"held": held.code} if held else {}),
        },
        "task_id": decision.task_id,
        "since": iso(last[1]) if last is not None and last[0].split(" ")[1] == decision.reason else None,
        "until": iso_or_none(decision.until),
        "seconds_left": max(0, (decision.until - call.now) // 1000) if decision.until is not None else None,
    }


def not_decided(project_id: str, purpose: Purpose) -> dict[str, Any]:
    """What is told of an agent about which nothing can be decided, because of a fault of our own."""
    said = explaining.said(fencing.REASON)
    shown = {"action": Action.HOLD.value, "reason": fencing.REASON, "row": "", "rule": said, "explanation": said}
    unknown = dict.fromkeys(("task_id", "since", "until", "seconds_left"))
    return {"project_id": project_id, "purpose": purpose.value, **shown, "facts": {}, **unknown}


def _naming_session(call: Call, decision: Decision, project_id: str) -> Decision:
    """With the session that still lives on its main task."""
    held_by = call.tx.sessions.live_of(project_id, decision.facts["held_by"]).get(Purpose.TASK)
    more = {"held_by_session": held_by.id} if held_by is not None else {}
    return replace(decision, facts={**decision.facts, **more})


def _explained(call: Call, decision: Decision, agent_id: str, obstacle: starters.Obstacle | None) -> Worded:
    agent = call.tx.agents.find(agent_id) if decision.reason == "not_managed" else None
    if agent is not None and agent.human:
        return constant("It is a person: nobody starts people.")
    if agent is not None and agent.agent_type is not None:
        return say("Nobody starts it: its own program serves the queue {queue}.", queue=agent.agent_type)
    return explaining.explained(decision, agent_id, obstacle)


def _what_was_wrong(call: Call, agent_id: str, project_id: str, decision: Decision) -> str:
    """What was found out about the start for which it cools down: the program's or its service's own words."""
    cause = str(decision.facts.get("cooldown", ""))
    if decision.reason != "cooling_down" or not cause:
        return ""
    launches = call.tx.launches.listed(5, agent_id=agent_id, project_id=project_id)
    last = next((each for each in launches if (each.exit_error or "").partition(":")[0] == cause), None)
    if last is None:
        return ""
    said = (last.exit_error or "").partition(":")[2].strip()
    if not said and cause == "bad_config":  # told by no words of its own: what it printed last
        said = (call.tx.launches.exit_record(last.id)[0] or "").strip()
    return say("The last start: {said}", said=said[:1000]) if said else ""
