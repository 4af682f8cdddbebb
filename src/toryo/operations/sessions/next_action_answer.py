"""Builds the answer with the next action: the step from the tables, its instruction, and its data.

`tell` is the answer of `get_next_action` with its effects (a look, a wait, an exit); `preview` is the next action
carried by other answers, without effects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from toryo.domain.agents import Role
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Purpose
from toryo.domain.projects import Decomposition, Language
from toryo.domain.sessions import End, Session
from toryo.domain.tasks import Status, Task
from toryo.domain.times import iso_or_none
from toryo.operations.calls import rendering
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later
from toryo.operations.calls.results import (
    Belongings,
    CurrentSubtask,
    JsonObject,
    NextAction,
    SinceYouLeft,
    StuckSubtask,
)
from toryo.operations.launches import end_of_session
from toryo.operations.messaging import conversations, mailboxes
from toryo.operations.tasks import below_main_task, conflict_forecast, due_checks, questions
from toryo.operations.translations import words
from toryo.workflow import facts, launch_rules, manager_rules, next_action
from toryo.workflow.instructions import TOOLS, key_of
from toryo.workflow.snapshot import RuleInput, Snapshot
from toryo.workflow.step import Step

_MANY = 10
_DELEGATION_WAITS = 3
"""Answers in one session that waited for a delegation; the last of them tells the session to leave."""


def preview(call: Call) -> NextAction:
    """What `get_next_action` would say now; `get_next_action` itself where telling has an effect."""
    session = call.session
    snapshot = call.own_snapshot()
    step = next_action.decide(snapshot, session)
    if not next_action.may_ride(step, session, call.agent.role):
        return {
            "action": "get_next_action",
            "instruction": words("get_next_action", _language(snapshot)),
            "tools": list(TOOLS["get_next_action"]),
        }
    return answer(call, snapshot, step)


def another_choice(refused: JsonObject) -> JsonObject:
    """After a choice that was refused: another one."""
    return {"action": "select_action", "instruction": refused["instruction"], "tools": ["select_action"]}


def tell(call: Call, *, patient: bool = False) -> NextAction | Later:
    """The next action, told: records that it was, and what its telling does.

    `patient` callers wait where there is nothing to say but that one waits.
    """
    session = call.session
    if session.purpose is Purpose.CHAT and not session.over:
        conversations.lapse(call, session.project_id, session.agent_id)
    snapshot = call.own_snapshot()
    step = next_action.decide(snapshot, session)
    leaves = step.action == "wait_for_delegation" and _waited_enough(session)
    waits = step.action in next_action.WAITS and not leaves
    if waits and patient and call.may_wait:
        return Later(_topics(session), snapshot.talk.changes_at)
    said = answer(call, snapshot, step)
    if not (waits and patient):
        _remember(call, step, said["state_version"])
    case = next_action.case_of(snapshot, session)
    if case is not None:
        _take_effect(call, case, step)
    if step.action in ("exit", "logout") and not session.over:
        end_of_session.end_session(call, call.session, End.TOLD_TO_EXIT)
    return said


def _waited_enough(session: Session) -> bool:
    """For its delegation: now it is told to leave."""
    return session.delegation_waits >= _DELEGATION_WAITS - 1


def _topics(session: Session) -> frozenset[str]:
    """What ends a wait of `get_next_action`."""
    own = f"session:{session.id}"
    if session.purpose is Purpose.CHAT:
        return frozenset({own, mailboxes.topic(session.project_id, session.agent_id)})
    return frozenset({own, f"task:{session.root_id}", f"project:{session.project_id}"})


def answer(call: Call, snapshot: Snapshot, step: Step) -> NextAction:
    """The step as an answer: action, state, instruction, tools, reason, state_version, and what belongs to it."""
    session = call.session
    case = next_action.case_of(snapshot, session)
    own = _own(step)
    how = {"chat": session.purpose is Purpose.CHAT} if case is None else own.variant(call, case)
    key = key_of(step, call.agent.role, **how)
    said: NextAction = {
        "action": step.action,
        "state": step.state,
        "instruction": _with_what_others_do(
            call, case, own, words(key, _language(snapshot), **_words_of(call, snapshot, case, step))
        ),
        "tools": list(TOOLS[key]),
        "reason": step.reason,
        "state_version": _version(call, snapshot),
    }
    return said if case is None else {**said, **_belongings(call, case, step)}


def _with_what_others_do(call: Call, case: RuleInput | None, own: _Own, instruction: str) -> str:
    """The instruction, and what became of the agent's questions since its last session left; for an agent that is about
    to change files, also which other tasks may change the same."""
    if case is None:
        return instruction
    if own.answers and case.main.questions_ever:
        language = case.tree_state.project.settings.language
        answers = questions.told_since(call, case.main, case.main.left_at or 0, language)
        instruction = f"{answers}\n{instruction}" if answers else instruction
    warning = conflict_forecast.instruction(call, case.main) if own.changes_files else ""
    return f"{instruction} {warning}" if warning else instruction


def _version(call: Call, snapshot: Snapshot) -> int:
    if call.session.purpose is Purpose.CHAT:
        return snapshot.talk.version
    return call.tx.events.last_fact(call.session.root_id or "")


def with_version(call: Call, result: JsonObject) -> JsonObject:
    """An answer with the version of what its own call has made of the facts: they are stored, and numbered, last."""
    if call.session.purpose is Purpose.CHAT:
        return result
    newest = {"state_version": call.tx.events.last_fact(call.session.root_id or "")}
    if "state_version" in result:
        result = {**result, **newest}
    following = result.get("next")
    if isinstance(following, dict) and "state_version" in following:
        result = {**result, "next": {**following, **newest}}
    return result


def _language(snapshot: Snapshot) -> Language:
    return snapshot.project.settings.language if snapshot.project is not None else Language.ENGLISH


def _divided(_: Call, case: RuleInput) -> dict[str, bool]:
    optional = case.tree_state.project.settings.decomposition is Decomposition.OPTIONAL
    manager = case.agent.role is Role.MANAGER
    return {"alone": manager and not _active_workers(case), "optional": optional and not manager}


def _worked_on(call: Call, case: RuleInput) -> dict[str, bool]:
    if facts.review_due(case):
        return {"review": True}
    fixing = facts.check_failed(case)
    return {"fixing": fixing, "answered": not fixing and _answered(call, case)}


def _answered(call: Call, case: RuleInput) -> bool:
    """Whether what it has delegated has ended: the result is told with the task."""
    return any(
        delegation.await_result and not delegation.open for delegation in call.tx.chat.delegations_of_task(case.main.id)
    )


def _hopeless(call: Call, case: RuleInput) -> dict[str, bool]:
    """Whether none of the tools that the words name would be accepted for any of the tasks that they are about."""
    resting = (task for task in case.front if _rests(task))
    return {
        "hopeless": case.agent.role is not Role.MANAGER
        and not any(_may_resolve(call, case, task) or _may_cancel(call, case, task) for task in resting)
    }


def _rests(task: Task) -> bool:
    """Neither at work nor ended well."""
    return task.status not in (Status.IN_PROGRESS, Status.COMPLETED, Status.CANCELLED)


def _may_resolve(call: Call, case: RuleInput, task: Task) -> bool:
    return below_main_task.may_move(call, case.tree_state, task, Status.TODO)


def _may_cancel(call: Call, case: RuleInput, task: Task) -> bool:
    return below_main_task.may_change(call, task) and below_main_task.may_move(
        call, case.tree_state, task, Status.CANCELLED
    )


def _active_workers(case: RuleInput) -> bool:
    return any(case.tree_state.active_member(each.id) for each in case.tree_state.below(case.agent.id))


def _made_before(case: RuleInput, session: Session) -> bool:
    return any(child.created_at < session.created_at for child in case.children)


def _words_of(call: Call, snapshot: Snapshot, case: RuleInput | None, step: Step) -> Mapping[str, object]:
    """What the words of a step are filled with."""
    agent = call.agent
    facts_: Mapping[str, object] = {
        "reason": step.reason,
        "detail": _detail(snapshot, call.session, step),
        "provider": agent.provider or "claude",
        "model": agent.model or "your-model-id",
    }
    if case is None:
        return facts_
    return {**facts_, **_words_of_case(call, case, step)}


def _detail(snapshot: Snapshot, session: Session, step: Step) -> str:
    if step.reason == "task_withdrawn":
        cause = launch_rules.withdrawn(snapshot, session)
        return cause[0] if cause else ""
    return session.runaway or step.reason


def _words_of_case(call: Call, case: RuleInput, step: Step) -> Mapping[str, object]:
    done = sum(1 for child in case.children if child.status is Status.COMPLETED)
    current = facts.current_subtask(case) if step.action == "execute_subtask" else facts.next_subtask(case)
    stuck = [task for task in _own_front(case) if _is_stuck(task)]
    return {
        "cap": case.tree_state.project.settings.worker_subtasks,
        "task_id": current.id if current else "",
        "title": current.title if current else "",
        "done": done,
        "total": sum(1 for child in case.children if child.status is not Status.CANCELLED),
        "ready": ", ".join(task.id for task in case.dispatchable[:_MANY]),
        "blocked": ", ".join(f"{task.id} ({task.status.value})" for task in stuck[:_MANY]),
        "waiting": "; ".join(_who_waits(case)[:_MANY]),
        "failed": due_checks.names_of(call.tx.tasks.details(case.main.id).check_failures)
        if facts.check_failed(case)
        else "",
    }


def _own_front(case: RuleInput) -> list[Task]:
    """What an answer about subtasks is about: a worker sees below its own subtasks in progress."""
    return case.children if case.agent.role is Role.MANAGER else case.front


def _who_waits(case: RuleInput) -> list[str]:
    found = []
    for task in _own_front(case):
        if not task.open or task.in_progress:
            continue
        waits = [f"{other.id} ({other.status.value})" for other in case.tree.open_dependencies(task)]
        found.append(f"{task.id} is {task.status.value}" + (f", waits for {', '.join(waits)}" if waits else ""))
    return found


def _belongings(call: Call, case: RuleInput, step: Step) -> Belongings:
    """Task, subtask, progress, blocks, what happened since: what the action needs at hand."""
    details = call.tx.tasks.details(case.main.id)
    known = call.session.fetched_at is not None
    found: Belongings = {"task": rendering.main_task(case.main, _reminder(details.description, known=known))}
    if delegations := call.tx.chat.delegations_of_task(case.main.id):
        found["delegations"] = [rendering.delegation(each) for each in delegations[-_MANY:]]
    if case.main.questions_ever:
        asked = [each for each in call.tx.questions.of_task(case.main.id) if not each.review]
        found["questions"] = [rendering.told_question(each) for each in asked[-_MANY:]]
    found |= _own(step).at_hand(call, case)
    if step.state == "fixing_checks":
        found["failed_checks"] = list(details.check_failures)
    if call.agent.role is Role.MANAGER and step.action in (*manager_rules.LOOKS, "report_completion"):
        found["since_you_left"] = since_left(call, case)
        if facts.check_failed(case):
            found["failed_checks"] = list(details.check_failures)
    return found


_REMINDS = 300


def _reminder(description: str, *, known: bool) -> str:
    """Who has read its task is reminded of it with every answer, not told all of it again."""
    return description if not known or len(description) <= _REMINDS else description[:_REMINDS] + "… (get_my_task)"


def _one_of_many(call: Call, case: RuleInput, subtask: Task | None) -> Belongings:
    assert subtask is not None
    counted = [child for child in case.children if child.status is not Status.CANCELLED]
    done = sum(1 for task in counted if task.status is Status.COMPLETED)
    return {"subtask": _subtask(call, subtask), "progress": {"done": done, "total": len(counted)}}


def _stuck_subtasks(call: Call, case: RuleInput) -> Belongings:
    return {"blocked_subtasks": [_stuck(call, case, task) for task in _own_front(case) if _is_stuck(task)]}


def _subtask(call: Call, task: Task) -> CurrentSubtask:
    details = call.tx.tasks.details(task.id)
    return {**rendering.main_task(task, details.description), "status": task.status.value, "context": details.context}


def _is_stuck(task: Task) -> bool:
    return task.status in (Status.BLOCKED, Status.FAILED)


def _stuck(call: Call, case: RuleInput, task: Task) -> StuckSubtask:
    """A blocked or failed subtask: who blocked it, why, and whether this caller may set it to todo, or cancel it."""
    return {
        **rendering.brief_task(task),
        "blocked_by": task.blocked_by,
        "blocked_reason": task.blocked_reason or call.tx.tasks.details(task.id).error,
        "you_may_resolve": _may_resolve(call, case, task),
        "you_may_cancel": _may_cancel(call, case, task),
    }


_Change = Literal["completed", "failed", "blocked", "changed"]
_CHANGES: dict[str, _Change] = {"task.completed": "completed", "task.failed": "failed", "task.blocked": "blocked"}


def since_left(call: Call, case: RuleInput) -> SinceYouLeft:
    """What happened below since the last session, so that a return is never blind."""
    below = {descendant.id for descendant in case.descendants}
    happened: dict[_Change, list[str]] = {"completed": [], "failed": [], "blocked": [], "changed": []}
    for event in call.tx.events.facts_after(case.main.root_id, case.main.left_event or 0):
        if event.task_id in below and event.actor_id != case.agent.id:
            ids = happened[_CHANGES.get(event.kind, "changed")]
            if event.task_id not in ids:
                ids.append(event.task_id)
    details = call.tx.tasks.details_of(happened["completed"][-_MANY:])
    return {
        "since": iso_or_none(case.main.left_at or case.main.created_at),
        "counts": {
            "completed": len(happened["completed"]),
            "failed": len(happened["failed"]),
            "blocked": len(happened["blocked"]),
            "changed": len(happened["changed"]),
        },
        "completed": happened["completed"][-_MANY:],
        "failed": happened["failed"][-_MANY:],
        "blocked": happened["blocked"][-_MANY:],
        "changed": happened["changed"][-_MANY:],
        "results": [
            {"task_id": each, "title": case.tree.tasks[each].title, "summary": details[each].summary}
            for each in happened["completed"][-_MANY:]
        ],
    }


# --- what telling does -----------------------------------------------------------------------------------------------


def _take_effect(call: Call, case: RuleInput, step: Step) -> None:
    session, main = call.session, case.main
    if case.agent.role is Role.MANAGER:
        if step.action in manager_rules.LOOKS:
            _look(call, case)
        if session.choice is not None and step.action not in ("start", "adjust", "wait"):
            call.change_session(choice=None, choice_event=None)
    if (waits_for := _own(step).waits_for) is not None:
        end_of_session.record_wait(call, call.tx.tasks.find(main.id) or main, waits_for)
        end_of_session.end_session(call, call.session, End.LEFT_TO_WAIT)
    elif step.action == "wait_for_delegation":
        waits = call.session.delegation_waits + 1
        call.change_session(delegation_waits=waits)
        if waits >= _DELEGATION_WAITS:
            end_of_session.record_wait(call, main, "delegation")
            end_of_session.end_session(call, call.session, End.LEFT_TO_WAIT)


def _look(call: Call, case: RuleInput) -> None:
    """Records a look: earlier events are no longer new, and the tasks that are dispatchable now are remembered."""
    dispatchable = tuple(task.id for task in case.dispatchable)
    looked = replace(case.main, look_event=call.tx.events.last(), look_dispatchable=dispatchable)
    call.tx.tasks.save(case.main, looked)


def _remember(call: Call, step: Step, newest: int) -> None:
    """A next action that differs from the last one told in this session is an event; the same one is counted.

    `newest` is the version of the facts it was told from.
    """
    session = call.session
    same = f"{step.action} {step.reason}"
    if session.told == same and session.told_event == newest:
        call.change_session(told_times=session.told_times + 1)
        return
    if session.told != same:
        call.event(
            "decision.next_action",
            agent_id=session.agent_id,
            data={
                "action": step.action,
                "state": step.state,
                "reason": step.reason,
                "row": step.row,
                "rule": step.words,
                "task_id": session.task_id,
            },
        )
    call.change_session(told=same, told_times=1, told_event=newest)


# --- what is each action's own ---------------------------------------------------------------------------------------


class _Own(NamedTuple):
    variant: Callable[[Call, RuleInput], dict[str, bool]] = lambda *_: {}
    """Which of its instructions is meant (`key_of`)."""
    at_hand: Callable[[Call, RuleInput], Belongings] = lambda *_: Belongings()
    """What it needs at hand, and no other does."""
    answers: bool = True
    """Whether what became of the agent's questions is told with it."""
    changes_files: bool = False
    waits_for: str | None = None
    """What its session leaves to wait for."""


def _own(step: Step) -> _Own:
    return _OWN.get(step.action) or _Own()


_OWN = {
    "report_model": _Own(answers=False),
    "get_notifications": _Own(answers=False),
    "create_subtasks": _Own(_divided),
    "start": _Own(_divided),
    "execute_task": _Own(_worked_on, changes_files=True),
    "start_subtask": _Own(
        lambda call, case: {"window_open": case.main.window_open and _made_before(case, call.session)},
        lambda call, case: _one_of_many(call, case, facts.next_subtask(case)),
    ),
    "execute_subtask": _Own(
        at_hand=lambda call, case: _one_of_many(call, case, facts.current_subtask(case)), changes_files=True
    ),
    "review_and_resolve_blocks": _Own(_hopeless, _stuck_subtasks),
    "resolve_dependency_deadlock": _Own(_hopeless, lambda _, case: {"waiting": _who_waits(case)}),
    "wait_for_delegation": _Own(lambda call, _: {"leave": _waited_enough(call.session)}),
    "wait_for_answer": _Own(lambda _, case: {"in_review": facts.in_review(case)}, answers=False, waits_for="answer"),
    "wait_for_others": _Own(
        at_hand=lambda _, case: {"waits_for": [rendering.brief_task(task) for task in facts.at_work_for(case)[:_MANY]]},
        waits_for="others",
    ),
    "wait": _Own(answers=False, waits_for="workers"),
    "exit": _Own(answers=False),
    "logout": _Own(answers=False),
}
"""Beside its words and its tools (`workflow/instructions.py`)."""
