"""Launch decisions for single agents. Coordinators use `claim_starts.py` for all agents at once."""

from __future__ import annotations

from functools import partial
from typing import Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.coordinators import Offer
from toryo.domain.launches import Purpose
from toryo.operations.calls import fault_isolation
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import NoParameters, Parameters, operation
from toryo.operations.calls.fault_isolation import fenced
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import end_of_session, launch_decisions, reason_texts, starts
from toryo.operations.launches.claim_request import OFFERED, Labels
from toryo.operations.worktrees import worktree_locks
from toryo.workflow import program_choice
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.snapshot import Snapshot


class ManagedAgent(TypedDict):
    agent_id: str


class ManagedAgents(Result):
    agents: list[ManagedAgent]


@operation("list_managed_agents", grant=Grant.COORDINATOR, reads=True)
def list_managed_agents(call: Call, _: NoParameters) -> ManagedAgents:
    """Returns the ids of the agents that a Coordinator starts."""
    return {"success": True, "agents": [{"agent_id": each} for each in call.tx.agents.managed()]}


class AgentId(Parameters):
    agent_id: Id = Field(description="The agent.")
    labels: Labels = OFFERED


class ShouldStart(Result):
    should_start: bool
    ai_type: NotRequired[str]


@operation("should_start", grant=Grant.COORDINATOR, parameters=AgentId, reads=True)
def should_start(call: Call, wanted: AgentId) -> ShouldStart:
    """Returns whether the agent should be started now, and with which program. Creates nothing."""
    for purpose in Purpose:
        for project_id in call.tx.agents.projects_of(wanted.agent_id):
            snapshot, decision = launch_decisions.decide(call, wanted.agent_id, project_id, purpose, changes=False)
            program = program_choice.chosen(snapshot, purpose, decision.priority)
            starts_here = decision.action is Action.START and not _lacks(snapshot, decision, purpose, wanted.labels)
            if starts_here and program is not None:
                return {"success": True, "should_start": True, "ai_type": program.provider}
    return {"success": True, "should_start": False}


class AgentAction(Parameters):
    agent_id: Id = Field(description="The agent.")
    project_id: Id | None = Field(None, description="Only in this project.")
    purpose: Literal["task", "chat"] | None = Field(None, description="Only for this purpose.")
    labels: Labels = OFFERED


class ActionResult(Result):
    action: str
    reason: str
    agent_id: NotRequired[str]
    project_id: NotRequired[str | None]
    purpose: NotRequired[str]
    launch: NotRequired[starts.Start]
    launch_id: NotRequired[str | None]
    rule: NotRequired[str]


@operation("get_agent_action", grant=Grant.COORDINATOR, parameters=AgentAction)
def get_agent_action(call: Call, wanted: AgentAction) -> ActionResult:
    """Returns start, hold or stop, with the reason. start creates the launch."""
    agent = call.tx.agents.find(wanted.agent_id)
    if agent is None:
        return _held(wanted.agent_id, None, Purpose.TASK, "agent_not_assigned", "there is no such agent")
    projects = [call.project(wanted.project_id).id] if wanted.project_id else call.tx.agents.projects_of(agent.id)
    for each in sorted(projects):
        call.enter(each)
    purposes = [Purpose(wanted.purpose)] if wanted.purpose else list(Purpose)
    places = [(each, project_id) for each in purposes for project_id in projects]
    asked: list[tuple[Purpose, str, Snapshot, Decision]] = []
    for each, project_id in places:
        nothing: list[tuple[Snapshot, Decision]] = []
        look = partial(_decided, call, agent.id, project_id, each)
        found = fenced(call, "get_agent_action", look, nothing, agent_id=agent.id, project_id=project_id)
        asked += [(each, project_id, *one) for one in found]
    if places and not asked:
        return _held(agent.id, None, Purpose.TASK, fault_isolation.REASON, reason_texts.said(fault_isolation.REASON))
    for action in (Action.STOP, Action.START):
        for purpose, project_id, snapshot, decision in asked:
            if decision.action is not action:
                continue
            missing = _lacks(snapshot, decision, purpose, wanted.labels) if action is Action.START else None
            if missing is not None:
                return _held(agent.id, project_id, purpose, missing, _MISSING[missing])
            return _acted_on(call, snapshot, decision, purpose, project_id)
    if not asked:
        return _held(agent.id, None, Purpose.TASK, "agent_not_assigned", "The agent is not a member of any project")
    purpose, project_id, _, decision = asked[0]
    return _held(agent.id, project_id, purpose, decision.reason, decision.words)


_MISSING = {
    "no_labels": "The agent requires labels that this Coordinator does not have",
    "no_account": "The agent requires an account that this Coordinator does not have",
}


def _lacks(snapshot: Snapshot, decision: Decision, purpose: Purpose, labels: list[str]) -> str | None:
    """What the start needs and is not offered here: who asks names no more than labels."""
    program = program_choice.chosen(snapshot, purpose, decision.priority)
    if snapshot.agent is None or program is None:
        return None
    return Offer(None, None, None, labels).lacks(snapshot.agent, program)


def _decided(call: Call, agent_id: str, project_id: str, purpose: Purpose) -> list[tuple[Snapshot, Decision]]:
    return [launch_decisions.decide(call, agent_id, project_id, purpose)]


def _held(agent_id: str, project_id: str | None, purpose: Purpose, reason: str, rule: str) -> ActionResult:
    return {
        "success": True,
        "action": Action.HOLD.value,
        "reason": reason,
        "agent_id": agent_id,
        "project_id": project_id,
        "purpose": purpose.value,
        "rule": rule,
    }


def _acted_on(call: Call, snapshot: Snapshot, decision: Decision, purpose: Purpose, project_id: str) -> ActionResult:
    said: ActionResult = {**_held(snapshot.agent_id, project_id, purpose, decision.reason, decision.words)}
    said["action"] = decision.action.value
    if decision.action is Action.START:
        found = worktree_locks.hindrance(call, decision.task_id) if purpose is Purpose.TASK else None
        if found is not None:
            return _held(snapshot.agent_id, project_id, purpose, found.code, found.words)
        program = program_choice.chosen(snapshot, purpose, decision.priority)
        made = starts.order(call, snapshot, decision, purpose, program)
        if made is None:
            return _held(snapshot.agent_id, project_id, purpose, "start_pending", "Another Coordinator was faster")
        said["launch"] = starts.shown(call, *made)
    else:
        launch = snapshot.launches.get(purpose)
        said["launch_id"] = launch.id if launch else None
        if launch is not None:
            end_of_session.stop(call, launch, decision)
    return said
