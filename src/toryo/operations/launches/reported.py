"""What reports about a launch share: finding it, what its program cools down by, and counting what it used."""

from __future__ import annotations

from typing import Any

from toryo.domain import usages
from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Launch
from toryo.operations.calls.call import WORK, Call
from toryo.operations.launches import termination
from toryo.workflow import cooldowns
from toryo.workflow.snapshot import Snapshot


def hindered(snapshot: Snapshot, launch: Launch) -> bool:
    """Whether the program that a launch is for cools down meanwhile (somebody else has used up its account)."""
    ran = termination.program_of(launch)
    programs = snapshot.agent.programs if snapshot.agent is not None else ()
    return any(cooldowns.hindrances(snapshot, launch.purpose, program) for program in programs if program.name == ran)


def count_usage(call: Call, launch: Launch, told: dict[str, Any] | None) -> None:
    """What its program used so far. Wakes who has to stop when today's budget is used up by it, and tells that once."""
    usage = usages.read(told or {})
    known = call.tx.usages.of_launch(launch.id)
    if usage is not None and known is not None:
        usage = known.and_then(usage)
    if usage is None or usage == known:
        return
    project = call.tx.projects.find(launch.project_id)
    budget = project.settings.budget_per_day if project is not None else None
    today = usages.day_of(call.now)
    before = call.tx.usages.cost_of_day(launch.project_id, today) if budget is not None else 0.0
    call.tx.usages.put(launch, usage, call.now)
    if budget is not None and before < budget <= call.tx.usages.cost_of_day(launch.project_id, today):
        call.event("project.budget_used_up", project_id=launch.project_id, data={"budget_per_day": budget})
        call.tx.hint(WORK)


def launch_of(call: Call, launch_id: str) -> Launch:
    launch = call.tx.launches.find(launch_id)
    if launch is None:
        raise Refusal(
            Code.LAUNCH_NOT_FOUND,
            f"There is no launch {launch_id}.",
            "Report launches that claim_starts or get_agent_action handed out.",
            launch_id=launch_id,
        )
    return launch
