"""Why one agent runs or not: the launch decision, what prevents a start, and the Coordinator's report of the last one.

For callers who ask about this agent only, also: which of its tasks it concerns, who can act, and with which command.
"""

from __future__ import annotations

from collections.abc import Callable

from toryo import failures
from toryo.block_reasons import in_words
from toryo.deeds import Blank, Deed, deed
from toryo.domain import acceptance, moves, task_readiness
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.task_readiness import StartBlocker
from toryo.domain.tasks import Approval, Status, Task
from toryo.domain.times import MINUTE, iso, iso_or_none
from toryo.domain.wording import Worded, constant, say, together
from toryo.operations.calls import fault_isolation, rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.directory import wider_rights
from toryo.operations.launches import cooldowns, last_seen, launch_decisions, placement, reason_texts
from toryo.operations.overview.needs.view import judges
from toryo.operations.tasks import remedies
from toryo.operations.worktrees import worktree_locks
from toryo.storage.task_lists import Wanted
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.reasons import REASONS, Advice
from toryo.workflow.snapshot import Snapshot

_SHOWN = 3
_QUIET = 2 * MINUTE
"""After which it is said that nothing was heard of a running process."""
_LOOKED_AT = 50
"""Tasks among which one is looked for that can be started."""


def diagnosis(
    call: Call, agent_id: str, project_id: str, purpose: Purpose, *, advise: bool = False
) -> schemas.Decision:
    """The current launch decision in words, with what prevents it. Changes nothing. `advise`: also what to do."""
    snapshot, decision = launch_decisions.decide(call, agent_id, project_id, purpose, changes=False)
    if "held_by" in decision.facts:
        # With the session that still lives on its main task.
        held_by = call.tx.sessions.live_of(project_id, decision.facts["held_by"]).get(Purpose.TASK)
        more = {"held_by_session": held_by.id} if held_by is not None else {}
        decision = replace(decision, facts={**decision.facts, **more})
    decision, obstacle = placement.place(call.tx.coordinators.all(), snapshot, decision, purpose)
    starts = decision.action is Action.START and purpose is Purpose.TASK
    held = worktree_locks.hindrance(call, decision.task_id) if starts else None
    said = _what_was_wrong(call, agent_id, project_id, decision) if purpose is Purpose.TASK else ""
    looked_up = REASONS[decision.reason].advice if advise else None
    advice = _ADVICE[looked_up](call, snapshot, decision) if looked_up is not None else ""
    mistaken = _of_provider(call, snapshot) if advise and purpose is Purpose.TASK and obstacle is None else ""
    explained = _explained(call, purpose, decision, snapshot, obstacle)
    summed_up = _explained(call, purpose, decision, snapshot, obstacle, commands=False)
    parts = (explained, advice, mistaken, held.words if held else "", said)
    short = (summed_up, held.words if held else "", said)
    last = call.tx.launches.last_decision(agent_id, project_id, purpose.value)
    answer: schemas.Decision = {
        "project_id": project_id,
        "purpose": purpose.value,
        "action": decision.action.value,
        "reason": decision.reason,
        "row": decision.row,
        "rule": constant(decision.words),
        "explanation": together(parts, "\n" if advise else " "),
        "summary": together(short, "\n" if advise else " "),
        "facts": {
            **decision.facts,
            **({"no_coordinator": obstacle.code} if obstacle else {}),
            **({"held": held.code} if held else {}),
            **_at_work_on(snapshot, decision, purpose),
        },
        "task_id": decision.task_id,
        "since": iso(last[1]) if last is not None and last[0].split(" ")[1] == decision.reason else None,
        "until": iso_or_none(decision.until),
        "seconds_left": max(0, (decision.until - call.now) // 1000) if decision.until is not None else None,
    }
    if advise:
        launches = call.tx.launches.listed(5, agent_id=agent_id, project_id=project_id)
        launch = next((each for each in launches if each.purpose is purpose), None)
        answer |= {"ports": rendering.ports(launch), "refused_hosts": rendering.refused_hosts(launch)}
    return answer


def _at_work_on(s: Snapshot, decision: Decision, purpose: Purpose) -> dict[str, str]:
    """The main task of the process that runs or is being started."""
    live = s.sessions.get(purpose) or s.launches.get(purpose)
    running = decision.reason in ("already_running", "start_pending") and live is not None
    return {"at_work_on": live.task_id} if running and live is not None and live.task_id is not None else {}


def not_decided(project_id: str, purpose: Purpose) -> schemas.Decision:
    """What is told of an agent about which nothing can be decided, because of a fault of our own."""
    said = reason_texts.sentence(fault_isolation.REASON)
    return {
        "project_id": project_id,
        "purpose": purpose.value,
        "action": "hold",
        "reason": fault_isolation.REASON,
        "row": "",
        "rule": said,
        "explanation": said,
        "summary": said,
        "facts": {},
        "task_id": None,
        "since": None,
        "until": None,
        "seconds_left": None,
    }


def _explained(
    call: Call,
    purpose: Purpose,
    decision: Decision,
    s: Snapshot,
    obstacle: placement.PlacementProblem | None,
    *,
    commands: bool = True,
) -> Worded:
    agent = call.tx.agents.find(s.agent_id) if decision.reason == "not_managed" else None
    if agent is not None and agent.human:
        return constant("This is a person. Toryo does not start people.")
    if agent is not None and agent.agent_type is not None:
        return say("Toryo does not start it: its own program serves the queue {queue}.", queue=agent.agent_type)
    doubtful = _doubtful(call, s, purpose) if decision.reason == "already_running" else None
    if doubtful is not None:
        return doubtful
    archived = s.project is not None and s.project.status is ProjectStatus.ARCHIVED
    return reason_texts.explanation(decision, s.agent_id, obstacle, s.project_id, archived=archived, commands=commands)


def _doubtful(call: Call, s: Snapshot, purpose: Purpose) -> Worded | None:
    """What is said of a process that has not been heard for a while; None: it runs."""
    launch = call.tx.launches.live_of(s.project_id, s.agent_id).get(purpose)
    session = call.tx.sessions.live_of(s.project_id, s.agent_id).get(purpose)
    seen = last_seen.of(call, launch, session)
    if not seen.confirmed:
        return say(
            "It was running when last seen, at {time}. Neither it nor its Coordinator has reported since the server"
            " started, so it may no longer be running.",
            time=iso(seen.at),
        )
    if session is None or call.now - session.heard_at < _QUIET:
        return None
    return say(
        "It is running, but has made no call and printed nothing since {time}. If this continues, it is stopped by "
        "{until}.",
        time=iso(session.heard_at),
        until=iso(session.heard_at + session.patience),
    )


def _what_was_wrong(call: Call, agent_id: str, project_id: str, decision: Decision) -> str:
    """The cause of the failed start behind this cooldown, in the words of the program or its service."""
    cause = str(decision.facts.get("cooldown", ""))
    if decision.reason != "cooling_down" or not cause:
        return ""
    launches = call.tx.launches.listed(5, agent_id=agent_id, project_id=project_id)
    agent = call.tx.agents.find(agent_id)
    own = agent.program.name if agent is not None and agent.program is not None else None
    failed = (each for each in launches if failures.class_of(each.exit_error) == cause)
    last = next((each for each in failed if cooldowns.program_of(each) == own), None)
    if last is None:
        return ""
    said = reason_texts.end_in_words(call, last)
    return say("The last launch said: {said}", said=said[:1000]) if said else ""


# --- what helps ------------------------------------------------------------------------------------------------------


def _to_start(call: Call, s: Snapshot, _: Decision) -> Worded:
    """The first of its tasks that can be started, else the first one and what is in its way; else how it gets one."""
    first: Worded | None = None
    for status in (Status.TODO, Status.BACKLOG, Status.FAILED):
        listed = call.tx.task_lists.page(Wanted(s.project_id, status, s.agent_id), _LOOKED_AT)
        for task in listed:
            hindrance = _hindrance(call, task)
            if hindrance is None:
                return _start(task)
            first = first or hindrance
    ended = call.tx.events.newest(1, agent_id=s.agent_id, project_id=s.project_id, kind="task.completed")
    done = call.tx.tasks.find(ended[0].task_id) if ended and ended[0].task_id is not None else None
    before = say("It last completed “{title}” ({task_id}).", title=done.title, task_id=done.id) if done else ""
    create = say(
        "It has no task that can be started. Create one{deed:: …|.}",
        deed=deed(
            "create", title=Blank("TITLE"), project_id=s.project_id, assignee_id=s.agent_id, status="in_progress"
        ),
    )
    return first or together((before, create), "\n")


def _hindrance(call: Call, task: Task) -> Worded | None:
    """Why a task cannot be started yet."""
    tree_state = call.tree_state(task)
    hindrance: StartBlocker | None = next(task_readiness.hindrances(tree_state, task), None)
    if hindrance is None or task.status is Status.FAILED:
        return None
    why = moves.refusal_to_start(tree_state, task, hindrance).message
    return say("“{title}” ({status}) cannot be started yet: {why}", title=task.title, status=task.status, why=why)


def _start(task: Task) -> Worded:
    if task.status is Status.FAILED:
        return say(
            "“{title}” has failed. {deed:To retry it: …|It can be retried.}",
            title=task.title,
            deed=deed("retry", task_id=task.id),
        )
    return say(
        "“{title}” is {status}. {deed:To start it: …|It can be started.}",
        title=task.title,
        status=task.status,
        deed=deed("start", task_id=task.id),
    )


def _to_unblock(call: Call, s: Snapshot, _: Decision) -> Worded:
    [task, *_more] = call.tx.task_lists.page(Wanted(s.project_id, Status.BLOCKED, s.agent_id), 1)
    details = call.tx.tasks.details(task.id)
    remedy = remedies.of_block(call, task, s.agent, details.context)
    reason = constant(in_words(task.blocked_reason or "No reason was given."))
    said = say("“{title}” is blocked: {reason}", title=task.title, reason=reason)
    unblock = say("{deed:To unblock it: …}", deed=deed("unblock", task_id=task.id))
    first = (remedy.words, say("{deed:First: …}", deed=remedy.actions[0])) if remedy is not None else ()
    return together((said, acceptance.failures_in_brief(task.checks, details.check_failures), *first, unblock), "\n")


def _of_provider(call: Call, s: Snapshot) -> Worded | str:
    """That no Coordinator could start it, although no start is due yet."""
    if s.agent is None:
        return ""
    found = wider_rights.warnings(s.agent, wider_rights.reported_providers(call.tx.coordinators.all()))
    if not found:
        return ""
    correct = say("{deed:To correct it: …}", deed=_another_provider(s.agent.id))
    return together((*found, correct), "\n")


def _people_at_work(call: Call, s: Snapshot, decision: Decision) -> str:
    """Who has which task below it."""
    below = _below(s, decision)
    agents = {agent.id: agent for agent in call.tx.agents.all()}
    theirs = [task for task in below if task.in_progress and (who := agents.get(task.assignee_id or "")) and who.human]
    names = (say("{who} has “{title}”", who=agents[each.assignee_id or ""].name, title=each.title) for each in theirs)
    return say("{names}.", names=together(list(names)[:_SHOWN], ", ")) if theirs else ""


def _who_approves(call: Call, s: Snapshot, decision: Decision) -> Worded:
    """Who may judge the first request below it."""
    asked = [task for task in _below(s, decision) if task.open and task.approval is Approval.PENDING]
    people = judges(call, asked[0].assignee_id, s.project_id)
    return say(
        "{names} can approve “{title}”{deed:: …|.}",
        names=together([person.name for person in people], ", "),
        title=asked[0].title,
        deed=deed("approve", task_id=asked[0].id),
    )


def _below(s: Snapshot, decision: Decision) -> list[Task]:
    tree_state = s.ground_of(decision.task_id)
    assert tree_state is not None and decision.task_id is not None
    return list(tree_state.tree.descendants(tree_state.tree.tasks[decision.task_id]))


def _by_hand(_call: Call, s: Snapshot, _: Decision) -> Worded | str:
    """Nobody starts it: what it has in progress is done by a process of somebody's own."""
    if s.agent is None or s.agent.human or s.agent.agent_type is not None:
        return ""
    return say("Start its process by hand, or give it a provider{deed:: …|.}", deed=_another_provider(s.agent_id))


def _another_provider(agent_id: str) -> Deed:
    return deed("change_program", agent_id=agent_id, provider=Blank("NAME"))


_ADVICE: dict[Advice, Callable[[Call, Snapshot, Decision], str]] = {
    Advice.START: _to_start,
    Advice.UNBLOCK: _to_unblock,
    Advice.WHO_IS_AT_WORK: _people_at_work,
    Advice.WHO_APPROVES: _who_approves,
    Advice.START_BY_HAND: _by_hand,
}
