"""Needs, derived from facts on every request; nothing is stored, so nothing is stale.

`SOURCES` has a function per kind of need; stuck tasks come after them, for what no other kind covers, then internal
errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from toryo.deeds import deed
from toryo.domain.agents import Agent
from toryo.domain.fast_dataclasses import replace
from toryo.domain.needs import Kind, Need
from toryo.domain.wording import constant, say, together
from toryo.operations.calls import fault_isolation
from toryo.operations.calls.call import Call
from toryo.operations.overview.home_state import Picture
from toryo.operations.overview.needs import (
    approvals,
    blocks,
    budgets,
    checks_on_base,
    delegations,
    failed_starts,
    failed_tasks,
    freed_tasks,
    internal_errors,
    locked_sign_ins,
    merge_queues,
    messages,
    mistaken_agents,
    own_tasks,
    questions,
    stalls,
    stopped_sources,
    stuck_tasks,
    unplaced_agents,
    unreviewed_changes,
)
from toryo.operations.overview.needs.view import NEEDS, View
from toryo.storage.errors import DatabaseUnavailable

SOURCES: tuple[Callable[[View], Iterator[Need]], ...] = (
    approvals.requests,
    questions.forms,
    blocks.blocked_tasks,
    messages.threads,
    delegations.failed_delegations,
    failed_tasks.failed_tasks,
    stalls.stalled_tasks,
    stopped_sources.schedules,
    stopped_sources.webhooks,
    budgets.of_projects,
    budgets.of_agents,
    budgets.of_tasks,
    failed_starts.failing_agents,
    mistaken_agents.mistaken_agents,
    unplaced_agents.unplaced_agents,
    failed_starts.runaways,
    locked_sign_ins.locked_agents,
    merge_queues.entries,
    checks_on_base.failing_checks,
    unreviewed_changes.changes,
    freed_tasks.freed_tasks,
    own_tasks.own_tasks,
)
_OF_AGENTS = (
    failed_starts.failing_agents,
    mistaken_agents.mistaken_agents,
    failed_starts.runaways,
    locked_sign_ins.locked_agents,
)
"""Which look at no project."""


def needs_of(call: Call, person: Agent, picture: Picture | None = None) -> list[Need]:
    """What needs this person, the most urgent first. Of a `picture` that was taken already: in its projects."""
    return [need for need in _found(View(call, [person], picture)) if need.person_id == person.id]


def needs_of_everybody(call: Call) -> list[Need]:
    """What needs any of the people who are active."""
    return _found(View(call, None))


def concerns(call: Call, need: Need, project_id: str) -> bool:
    """Whether it belongs to a project: it names it, or only an agent that is a member of it."""
    if need.project_id is not None or need.agent_id is None:
        return need.project_id == project_id
    return project_id in call.tx.agents.projects_of(need.agent_id)


def _found(view: View) -> list[Need]:
    found = [need for source in SOURCES for need in _by_project(view, source)]
    told = {each.task_id for each in found if each.task_id is not None}
    whole = partial(stuck_tasks.stuck_tasks, told=told)
    found += _by_project(view, whole)
    found += internal_errors.lasting_faults(view)
    mine = _folded(each for each in found if each.person_id in view.people)
    return sorted((view.allowed(each) for each in mine), key=lambda each: each.order)


def _by_project(view: View, source: Callable[[View], Iterator[Need]]) -> list[Need]:
    """All that a source finds; where it fails, what it finds in each project in which it does not."""
    try:
        with view.call.tx.connection.savepoint():
            return list(source(view))
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - noted for the project that it concerns
        found: list[Need] = []
        if source in _OF_AGENTS:
            view.call.context.faults.note(NEEDS, None, None, view.now, error)
            return found
        for project_id in sorted(view.projects):
            look: Callable[[], list[Need]] = partial(list, source(view.only(project_id)))
            found += fault_isolation.fenced(view.call, NEEDS, look, [], project_id=project_id)
        return found


_FOLDED = {Kind.DEAD_LETTER: "list_dead_letters", Kind.STUCK: "list"}
"""Kinds of which one cause (a queue whose tasks fail, an agent that stays away) brings many; what lists them."""
_ONE_MORE = "The same applies to one more task."


def _folded(found: Iterable[Need]) -> Iterator[Need]:
    """What has one cause is one need, told of the first: the same as long as there is any, so people are told once.

    What can be done about it is what can be done about each of them alike, and to look at them all.
    """
    alike: dict[tuple[str, str], list[Need]] = {}
    for need in found:
        if need.kind in _FOLDED:
            alike.setdefault((need.person_id, need.key), []).append(need)
        else:
            yield need
    for those in alike.values():
        first, more = those[0], len(those) - 1
        if not more:
            yield first
            continue
        listing = deed(_FOLDED[first.kind], project_id=first.project_id)
        common = [action for action in first.actions if all(action in other.actions for other in those)]
        others = say("The same applies to {more} more tasks.", more=more) if more > 1 else constant(_ONE_MORE)
        yield replace(
            first,
            title=together((first.title, say("and {more} more", more=more))),
            text=together((first.text, others)) if first.kind is Kind.STUCK else first.text,
            actions=tuple(sorted((*common, listing), key=lambda each: each.name == "log")),
            since=min(need.since for need in those),
            also=tuple(need.task_id for need in those[1:] if need.task_id is not None),
        )
