"""Who cannot be decided about, because of a fault of Toryo itself: owners have its log."""

from __future__ import annotations

from collections.abc import Iterator

from toryo.deeds import deed
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import say
from toryo.operations.calls import fault_isolation
from toryo.operations.calls.internal_faults import Fault
from toryo.operations.overview.needs.view import View


def lasting_faults(view: View) -> Iterator[Need]:
    found: dict[tuple[str, str], list[Fault]] = {}
    for fault in view.call.context.faults.lasting(view.now):
        found.setdefault((fault.agent_id or "", fault.project_id or ""), []).append(fault)
    for (agent_id, project_id), faults in found.items():
        looks = [deed("why", agent_id=agent_id)] if agent_id in view.agents else []
        looks += [deed("list", project_id=project_id)] if project_id and not looks else []
        where, times = ", ".join(each.where for each in faults), sum(each.times for each in faults)
        for person_id in view.owners():
            yield Need(
                person_id=person_id,
                kind=Kind.AGENT_CANNOT_START if agent_id else Kind.STUCK,
                about=" ".join(filter(None, [fault_isolation.REASON, project_id, agent_id])),
                title=say("Internal error: {what}", what=view.name(agent_id) if agent_id else project_id or "Toryo"),
                text=say(
                    "An internal error occurred. See the server's log ({where}; {times} times).",
                    where=where,
                    times=times,
                ),
                since=min(each.since for each in faults),
                actions=tuple(looks),
                project_id=project_id or None,
                agent_id=agent_id or None,
            )
