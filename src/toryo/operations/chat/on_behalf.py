"""The members that a person may act for: themselves; for owners also others."""

from __future__ import annotations

from toryo.deeds import Blank, deed
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login


def person(call: Call, as_person: str | None) -> Agent:
    """The person this call is made for. Raises Refusal."""
    if as_person in (None, call.agent.id):
        return call.agent
    if call.caller.login is not Login.OWNER:
        raise Refusal(
            Code.PERMISSION_DENIED,
            "Only an owner can act for someone else.",
            "Omit as_person (--as), or use that person's own token.",
        )
    found = call.known_agent(as_person or "")
    if not found.human:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("{found_id} is an agent, not a person.", found_id=found.id),
            say(
                "{deed:Pass a person in as_person (--as). To see what an agent waits for: …|Choose a person.}",
                deed=deed("why", agent_id=Blank("AGENT")),
            ),
            agent_id=found.id,
        )
    return found
