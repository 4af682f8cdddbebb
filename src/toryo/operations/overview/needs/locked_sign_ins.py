"""Known agents whose passkey was guessed at."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import deed
from toryo.domain.needs import Kind, Need
from toryo.domain.times import iso
from toryo.domain.wording import say
from toryo.operations.calls import sign_in_lockout
from toryo.operations.overview.needs.view import View


def locked_agents(view: View) -> Iterator[Need]:
    active = {each.id for each in view.agents.values() if each.active}
    for agent_id, since, until in view.call.context.tries.locked(sign_in_lockout.PASSKEY, active, view.now):
        agent = view.agents[agent_id]
        for person_id in view.responsible(agent.id, None):
            yield Need(
                person_id=person_id,
                kind=Kind.SIGN_IN_LOCKED,
                about=agent.id,
                title=say("Sign-in of {agent} is locked", agent=agent.name),
                text=say(
                    "A wrong passkey was used too often from one address. Sign-in from there is locked until {time}.",
                    time=iso(until),
                ),
                since=since,
                actions=(deed("renew", agent_id=agent.id),),
                agent_id=agent.id,
            )
