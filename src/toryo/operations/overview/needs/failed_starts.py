"""Agents whose starts have ended for a reason that people must look into, and runaways."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import takewhile

from toryo.deeds import deed, terminal
from toryo.domain import acceptance
from toryo.domain.agents import Agent
from toryo.domain.launches import Launch, Purpose
from toryo.domain.needs import FAILED_IN_A_ROW, Kind, Need
from toryo.domain.times import Millis
from toryo.domain.wording import Worded, constant, say, together
from toryo.failures import NATURES, Failure, class_of, was_ordered
from toryo.operations.launches import cooldowns, reason_texts
from toryo.operations.overview.needs.view import BRIEF, View
from toryo.workflow.snapshot import Cooldown

FIXED_BY_PEOPLE = {failure.value: nature for failure, nature in NATURES.items() if nature.people is not None}
"""Failures that time does not help."""
_GUARDED = {failure.value: nature for failure, nature in NATURES.items() if nature.guarded is not None}
"""Failures that a guard has made an end of; it is started again when its cooldown is over."""
_REPEATED = frozenset({*NATURES} - {*FIXED_BY_PEOPLE, *_GUARDED, Failure.QUOTA})
"""Failures that can pass with time: people hear of them after `FAILED_IN_A_ROW`. A quota has a time of its own."""


def failing_agents(view: View) -> Iterator[Need]:
    """Agents whose last start failed for a reason that does not pass with time."""
    for agent, cooldown in ended_for(view, FIXED_BY_PEOPLE):
        why = reason_texts.failure_clause(cooldown.reason)
        title = say("{agent} cannot be started: {reason}", agent=agent.name, reason=why)
        about = f"{agent.id} {cooldown.reason}"
        if cooldown.program in [program.name for program in agent.programs[1:]]:
            about = f"{about} {cooldown.program}"
            title = say(
                "{program}, a fallback of {agent}, cannot be started: {reason}",
                program=cooldown.program,
                agent=agent.name,
                reason=why,
            )
        yield from view.about(agent, _failing, Kind.AGENT_CANNOT_START, about, title, cooldown)
    for agent, cooldown in ended_for(view, _REPEATED):
        if cooldown.failures >= FAILED_IN_A_ROW:
            why = reason_texts.failure_clause(cooldown.reason)
            title = say("{agent} keeps failing: {reason}", agent=agent.name, reason=why)
            about = f"{agent.id} keeps {cooldown.reason}"
            yield from view.about(agent, _failing, Kind.AGENT_CANNOT_START, about, title, cooldown)


def runaways(view: View) -> Iterator[Need]:
    """Agents stopped by a guard that have not worked normally since, while they are in cooldown for it or have work."""

    def at_work() -> Collection[str]:
        return {agent_id for agent_id, _ in view.call.tx.tasks.at_work()}

    told: set[str] = set()
    for agent, cooldown in ended_for(view, _GUARDED, unless_rested=at_work):
        if agent.id in told:
            continue
        told.add(agent.id)
        why = reason_texts.failure_clause(cooldown.reason)
        title = say("{agent} was stopped: {reason}", agent=agent.name, reason=why)
        yield from view.about(agent, _failing, Kind.RUNAWAY, f"{agent.id} {cooldown.reason}", title, cooldown)


def ended_for(
    view: View, reasons: Collection[str], *, unless_rested: Callable[[], Collection[str]] | None = None
) -> Iterator[tuple[Agent, Cooldown]]:
    """Active agents whose newest start with a program has ended for one of these reasons. Where `unless_rested` names
    agents: of the others only those that still wait because of it."""
    told: set[tuple[str, str, str | None]] = set()
    cooling = view.call.tx.needs.cooling(reasons)
    at_work = unless_rested() if cooling and unless_rested is not None else None
    for agent_id, purpose, cooldown in cooling:
        agent, what = view.agents.get(agent_id), (agent_id, cooldown.reason, cooldown.program)
        if agent is None or not agent.active or what in told or _went_well(view, agent, purpose, cooldown):
            continue
        if at_work is None or agent_id in at_work or cooldown.until > view.now:
            told.add(what)
            yield agent, cooldown


def _failing(view: View, agent: Agent, kind: Kind, about: str, title: Worded, cooldown: Cooldown) -> Iterator[Need]:
    reason = cooldown.reason
    launches = view.call.tx.launches.listed(10, agent_id=agent.id)
    failed = (launch for launch in launches if (launch.exit_error or "").startswith(reason))
    seen = next((each for each in failed if cooldown.program in (None, cooldowns.program_of(each))), None)
    said = reason_texts.end_in_words(view.call, seen) if seen is not None else ""
    nature = NATURES[Failure(reason)]
    known = nature.people or nature.guarded
    checks = _failed_checks(view, launches) if nature.guarded else ""
    why = say(known, up=terminal("up")) if known else constant("It is started again when its cooldown is over.")
    correct = [deed("correct", agent_id=agent.id, **nature.correct)] if nature.correct else []
    if nature.correct_project and seen is not None:
        correct = [deed("correct_project", project_id=seen.project_id, **nature.correct_project)]
    for person_id in view.responsible(agent.id, None):
        yield Need(
            person_id=person_id,
            kind=kind,
            about=about,
            title=title,
            text=together((together((why, said[: BRIEF - len(why)])), checks), "\n"),
            since=_failed_at(view, agent.id, cooldown),
            actions=(
                *correct,
                deed("resume", agent_id=agent.id),
                *([deed("log", launch_id=seen.id)] if seen is not None else []),
            ),
            agent_id=agent.id,
        )


def _failed_checks(view: View, launches: Iterable[Launch]) -> str:
    """Which checks the report of its newest task has failed: what it could not get past."""
    task_id = next((each.task_id for each in launches if each.task_id is not None), None)
    task = view.call.tx.tasks.find(task_id) if task_id is not None else None
    if task is None or not task.in_progress:
        return ""
    return acceptance.failures_in_brief(task.checks, view.call.tx.tasks.details(task.id).check_failures)


def _failed_at(view: View, agent_id: str, cooldown: Cooldown) -> Millis:
    """When a cooldown began."""
    for event in view.call.tx.events.newest(20, agent_id=agent_id, kind="agent.cooling_down"):
        of_it = event.data.get("program") in (None, cooldown.program)
        if of_it and event.data.get("reason") == cooldown.reason:
            return event.at
    return view.agents[agent_id].updated_at


def _went_well(view: View, agent: Agent, purpose: Purpose, cooldown: Cooldown) -> bool:
    """Its newest start, with this program if it is known, has signed in and is at work; or people have done what only
    they can, as a later start has shown, however it ended."""
    return any(
        launch.purpose is purpose
        and launch.signed_in_at is not None
        and cooldown.program in (None, cooldowns.program_of(launch))
        for launch in view.call.tx.launches.live_of_agent(agent.id)
    ) or _mended(view, agent, purpose, cooldown)


def _mended(view: View, agent: Agent, purpose: Purpose, cooldown: Cooldown) -> bool:
    """Whether a later start did not end for this reason: for the same work, unless the reason speaks of the program."""
    program = next((each for each in agent.programs if each.name == cooldown.program), None)
    nature = FIXED_BY_PEOPLE.get(cooldown.reason)
    if program is None or nature is None:
        return False
    shown = filter(_shows, view.call.tx.launches.with_program(agent.id, program))
    tried = [each for each in shown if nature.fallback or each.purpose is purpose]
    since = list(takewhile(lambda each: class_of(each.exit_error) != cooldown.reason, tried))
    failed = tried[len(since)] if len(since) < len(tried) else None
    return any(nature.fallback or failed is None or each.project_id == failed.project_id for each in since)


def _shows(launch: Launch) -> bool:
    """Whether the launch shows that its program can be started, or why not."""
    return launch.signed_in_at is not None or not was_ordered(launch.exit_error)
