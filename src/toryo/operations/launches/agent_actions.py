"""Launch decisions for single agents. Coordinators use `claim_starts.py` for all agents at once."""

from __future__ import annotations

from functools import partial
from typing import Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.agents import Program
from toryo.domain.coordinators import Offer
from toryo.domain.launches import Purpose
from toryo.operations.calls import fault_isolation
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import NoParameters, Parameters, operation
from toryo.operations.calls.fault_isolation import fenced
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import end_of_session, launch_decisions, placement, reason_texts, starts
from toryo.operations.launches.claim_request import OFFERED, Labels
from toryo.operations.worktrees import worktree_locks
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
            if decision.action is not Action.START:
                continue
            program, missing = _program(call, snapshot, decision, purpose, wanted.labels)
            if program is not None and missing is None:
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
    asked: list[tuple[Purpose, Snapshot, Decision]] = []
    for each, project_id in places:
        nothing: list[tuple[Snapshot, Decision]] = []
        look = partial(_decided, call, agent.id, project_id, each)
        found = fenced(call, "get_agent_action", look, nothing, agent_id=agent.id, project_id=project_id)
        asked += [(each, *one) for one in found]
    if places and not asked:
        return _held(
            agent.id, None, Purpose.TASK, fault_isolation.REASON, reason_texts.sentence(fault_isolation.REASON)
        )
    if not asked:
        return _held(agent.id, None, Purpose.TASK, "agent_not_assigned", "The agent is not a member of any project")
    return _carried_out(call, asked, wanted.labels)


def _carried_out(call: Call, asked: list[tuple[Purpose, Snapshot, Decision]], labels: list[str]) -> ActionResult:
    """The first stop, else the first start that is possible here, else why nothing is done."""
    for purpose, snapshot, decision in asked:
        if decision.action is Action.STOP:
            return _stopped(call, snapshot, decision, purpose)
    prevented: list[ActionResult] = []
    for purpose, snapshot, decision in asked:
        if decision.action is Action.START:
            done = _started(call, snapshot, decision, purpose, labels)
            if done["action"] == Action.START:
                return done
            prevented.append(done)
    if prevented:
        return prevented[0]
    purpose, snapshot, decision = asked[0]
    return _held(snapshot.agent_id, snapshot.project_id, purpose, decision.reason, decision.words)


_MISSING = {
    "no_labels": "The agent requires labels that this Coordinator does not have",
    "no_account": "The agent requires an account that this Coordinator does not have",
}


def _program(
    call: Call, snapshot: Snapshot, decision: Decision, purpose: Purpose, labels: list[str]
) -> tuple[Program | None, str | None]:
    """What a start would use, and what it needs that is not offered here: who asks names no more than labels."""
    here = Offer(None, None, None, labels)
    program = placement.program(snapshot, purpose, decision.priority, call.tx.coordinators.all, here)
    if snapshot.agent is None or program is None:
        return program, None
    return program, here.lacks(snapshot.agent, program)


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


def _started(call: Call, snapshot: Snapshot, decision: Decision, purpose: Purpose, labels: list[str]) -> ActionResult:
    agent_id, project_id = snapshot.agent_id, snapshot.project_id
    program, missing = _program(call, snapshot, decision, purpose, labels)
    if missing is not None:
        return _held(agent_id, project_id, purpose, missing, _MISSING[missing])
    found = worktree_locks.hindrance(call, decision.task_id) if purpose is Purpose.TASK else None
    if found is not None:
        return _held(agent_id, project_id, purpose, found.code, found.words)
    made = starts.order(call, snapshot, decision, purpose, program)
    if made is None:
        return _held(agent_id, project_id, purpose, "start_pending", "Another Coordinator was faster")
    said = _held(agent_id, project_id, purpose, decision.reason, decision.words)
    return {**said, "action": Action.START.value, "launch": starts.as_answer(call, *made)}


def _stopped(call: Call, snapshot: Snapshot, decision: Decision, purpose: Purpose) -> ActionResult:
    launch = snapshot.launches.get(purpose)
    if launch is not None:
        end_of_session.stop(call, launch, decision)
    said = _held(snapshot.agent_id, snapshot.project_id, purpose, decision.reason, decision.words)
    return {**said, "action": Action.STOP.value, "launch_id": launch.id if launch is not None else None}
