"""Finding the launch that a Coordinator reports about."""

from __future__ import annotations

from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Launch
from toryo.operations.calls.call import Call


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
