"""A login that was missing is there: programs that were in cooldown for it can be started again, without a person."""

from __future__ import annotations

from pydantic import Field

from toryo.failures import Failure
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters, operation
from toryo.operations.calls.fields import Printed
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result


class ReportLogin(Parameters):
    provider: Printed = Field(min_length=1, max_length=100, description="Whose login.")
    account: Printed | None = Field(
        None, min_length=1, max_length=200, description="The account of the launch that found it missing, if any."
    )


class LoginTaken(Result):
    ended: list[str]


@operation("report_login", grant=Grant.COORDINATOR, parameters=ReportLogin)
def report_login(call: Call, told: ReportLogin) -> LoginTaken:
    """Report that a login which a process has found missing is there. Ends the cooldowns for it, and names the
    agents."""
    call.tx.lock_everything()
    ended: dict[str, list[str]] = {}
    for agent_id, purpose, cooldown in call.tx.needs.cooling([Failure.NOT_LOGGED_IN.value]):
        agent = call.tx.agents.find(agent_id)
        programs = agent.programs if agent is not None else ()
        login = (told.provider, told.account)
        if any(each.name == cooldown.program and (each.provider, each.account) == login for each in programs):
            call.tx.agents.warm(agent_id, purpose, [cooldown])
            ended.setdefault(agent_id, []).append(purpose.value)
    for agent_id, purposes in ended.items():
        call.event("agent.resumed", agent_id=agent_id, data={"ended": purposes})
    if ended:
        call.tx.hint(WORK)
    return {"success": True, "ended": sorted(ended)}
