"""The manager's tables over every small world: what is promised in `workflow.md` 7 holds in each of them.

A world is explored with every memory a main task can have (a wait record, the last look, what is new) and every choice.
What the rows are made of is counted a second time here, plainly and from the words of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import actor, at_work, moves, outcome
from tests.workflow.scenes import WAITS, session, snapshot
from tests.workflow.worlds import BELOW_A_MANAGER, SHARES, SURROUNDINGS, WHOLE, Seen, lasts, some, trees, world
from toryo.domain.errors import Refusal
from toryo.domain.launches import Purpose
from toryo.domain.sessions import Choice, Session
from toryo.domain.tasks import Approval, Checks, Start, Status, Task
from toryo.domain.tree_state import TreeState
from toryo.workflow import facts, launch_rules, manager_rules, next_action
from toryo.workflow.launch_rules import Action
from toryo.workflow.snapshot import News, RuleInput
from toryo.workflow.step import Step

MAIN = at_work("main", "boss", by="hana")
BOSS = actor("boss")
SIGNED_IN = session(fetched_at=None)
FETCHED = session()
CHOSE: dict[Choice | None, Session] = {each: session(choice=each) for each in (None, *Choice)}
STUCK = (Status.BLOCKED, Status.FAILED)


def worlds() -> Iterator[tuple[str, TreeState]]:
    """Up to two children in every surrounding, with a delegation where it is decisive; three where all are able."""
    for title, around in SURROUNDINGS.items():
        most = 3 if title == "everybody is able" else 2
        for words, parts in trees(BELOW_A_MANAGER, MAIN, most):
            for delegations in (0, 1) if title in WITH_DELEGATIONS and len(parts) < 3 else (0,):
                where = world(MAIN, parts, replace(around, delegations=delegations))
                if where is not None:
                    yield f"{words}; {title}; {delegations} delegations", where


WITH_DELEGATIONS = {"everybody is able", "nobody is able"}


# --- counted plainly, from the words of the page ---------------------------------------------------------------------


def is_main_at_work(where: TreeState, task: Task) -> bool:
    above = where.tree.tasks.get(task.parent_id or "")
    return task.status is Status.IN_PROGRESS and (above is None or above.assignee_id != task.assignee_id)


def able(where: TreeState, name: str | None) -> bool:
    agent = where.agents.get(name or "")
    if agent is None or agent.status.value != "active":
        return False
    return agent.human or (name in where.members and (agent.provider is not None or name in where.signed_in))


def ready(where: TreeState, task: Task) -> bool:
    waits_for = [
        where.tree.tasks.get(depend) or where.tree.outside[depend] for depend in where.tree.depends_on.get(task.id, ())
    ]
    return (
        task.status is Status.TODO
        and task.agent_type is None
        and task.approval is Approval.APPROVED
        and all(wait.status is Status.COMPLETED for wait in waits_for)
    )


def has_room(where: TreeState, name: str, child: Task) -> bool:
    counted = [each for each in where.busy.get(name, ()) if not is_part_of(where, each, child)]
    return len(counted) < where.agents[name].max_parallel_tasks


def is_part_of(where: TreeState, name: str, above: Task) -> bool:
    task = where.tree.tasks.get(name)
    while task is not None and task.id != above.id:
        task = where.tree.tasks.get(task.parent_id or "")
    return task is not None


def workers(where: TreeState) -> list[str]:
    return [name for name in ("ann", "bob") if able(where, name)]


def dispatchable(where: TreeState) -> list[str]:
    found = []
    for child in (task for task in where.tree.tasks.values() if task.parent_id == "main" and ready(where, task)):
        who = child.assignee_id
        if starts_by_itself(where, child):
            continue
        candidates = [who] if able(where, who) else workers(where)
        if who == "boss" or any(has_room(where, candidate or "", child) for candidate in candidates):
            found.append(child.id)
    return sorted(found)


def starts_by_itself(where: TreeState, task: Task) -> bool:
    agent = where.agents.get(task.assignee_id or "")
    waits = task.start is Start.WHEN_READY and ready(where, task) and able(where, task.assignee_id)
    return waits and agent is not None and not agent.human


def held_back(where: TreeState) -> bool:
    for child in (task for task in where.tree.tasks.values() if task.parent_id == "main" and ready(where, task)):
        who = child.assignee_id
        if able(where, who) and who != "boss" and not has_room(where, who or "", child):
            return True
        if (
            not able(where, who)
            and workers(where)
            and not any(has_room(where, worker, child) for worker in workers(where))
        ):
            return True
    return False


def outstanding(where: TreeState) -> bool:
    below = [task for task in where.tree.tasks.values() if task.id != "main"]
    waits_for_other_trees = [
        where.tree.outside[other]
        for task in below
        if task.status is Status.TODO
        for other in where.tree.depends_on.get(task.id, ())
        if other in where.tree.outside
    ]
    return (
        any(is_main_at_work(where, task) and able(where, task.assignee_id) for task in below)
        or held_back(where)
        or any(wait.status is Status.IN_PROGRESS and able(where, wait.assignee_id) for wait in waits_for_other_trees)
        or where.open_delegations["main"] > 0
        or any(starts_by_itself(where, task) for task in below)
        or any(task.approval is Approval.PENDING and task.open for task in below)
    )


# --- exploring -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SHARES)
def explored(request: pytest.FixtureRequest) -> Seen:
    seen = Seen()
    for words, where in some(worlds(), request.param):
        seen.worlds += 1
        _ask_what_it_is_told(seen, words, where)
        _ask_when_it_is_woken(seen, words, where)
        _ask_about_a_question(seen, words, where)
        if seen.worlds % 5 == 0:
            _ask_again(seen, words, where)
    return seen


def _ask_what_it_is_told(seen: Seen, words: str, where: TreeState) -> None:
    found = RuleInput(snapshot(where), where, MAIN, FETCHED)
    seen.expect("outstanding is what the page says", facts.outstanding(found) == outstanding(where), words)
    seen.expect(
        "dispatchable is what the page says",
        sorted(task.id for task in found.dispatchable) == dispatchable(where),
        words,
        [task.id for task in found.dispatchable],
    )
    decision = launch_rules.decide(snapshot(where))
    _count(seen, decision.row, decision.words)
    seen.expect("a main task that does not wait is started", decision.action is Action.START, words)
    first = _told(seen, where, SIGNED_IN)
    seen.expect("whoever is started is told to get its task", first.action == "get_task", words)
    then = _told(seen, where, FETCHED)
    seen.expect("whoever is started is not told to leave", then.action not in ("exit", "wait"), words, then.action)
    _ask_whether_it_can_obey(seen, words, where, then)
    step = _told(seen, where, CHOSE[Choice.START])
    able_to = step.action != "start" or bool(dispatchable(where))
    seen.expect("start is told where something can be started", able_to, words)
    _told(seen, where, CHOSE[Choice.ADJUST])
    _ask_about_wait(seen, words, where)


def _ask_about_wait(seen: Seen, words: str, where: TreeState) -> None:
    """`wait` is accepted exactly where the launch table holds who has left with everything seen."""
    can_start = tuple(dispatchable(where))
    looked = replace(MAIN, wait=WAITS, look_dispatchable=can_start)
    left = launch_rules.decide(snapshot(_with(where, looked)))
    accepted = facts.outstanding(RuleInput(snapshot(where), where, MAIN, FETCHED))
    for look in {can_start, ()}:
        there = _with(where, replace(MAIN, look_dispatchable=look))
        away = _with(where, replace(MAIN, look_dispatchable=look, wait=WAITS))
        for about in _news(where)[:2]:
            step = _told(seen, there, CHOSE[Choice.WAIT], about)
            if step.action in manager_rules.MAY_CHOOSE:
                held = left.action is Action.HOLD
                seen.expect("wait is accepted where leaving holds", accepted == held, words, left.row)
            if step.action == "wait":
                again = launch_rules.decide(snapshot(away, news={"main": about}))
                at_once = again.action is not Action.HOLD
                seen.expect("who was told to wait is not started at once", not at_once, words, again.row)
                seen.expect("who waits will be woken by somebody", _somebody_comes(where), words)


def _ask_when_it_is_woken(seen: Seen, words: str, where: TreeState) -> None:
    can_start = dispatchable(where)
    down = {task.id for task in where.tree.tasks.values() if task.status in STUCK}
    for look in {tuple(can_start), ()}:
        main = replace(MAIN, wait=WAITS, look_dispatchable=look)
        waits = _with(where, main)
        for about in _news(where):
            decision = launch_rules.decide(snapshot(waits, news={"main": about}))
            _count(seen, decision.row, decision.words)
            kinds = {each.kind for each in about}
            cause = (
                (kinds == {"blocked"} and about[0].task_id in down)
                or bool(set(can_start) - set(look))
                or bool(kinds & {"person", "delegation"})
                or not outstanding(where)
            )
            seen.expect(
                "a manager that waits is started exactly for a cause",
                (decision.action is Action.START) == cause,
                words,
                about,
                decision.row,
            )
            if decision.lasting and not about:
                seen.expect("a hold that lasts stays whatever happens elsewhere", lasts(waits, "boss"), words)


def _ask_about_a_question(seen: Seen, words: str, where: TreeState) -> None:
    """Who has asked a person is held unless there are open subtasks to see to, and is started by the answer."""
    asks = replace(MAIN, open_questions=1, questions_ever=1, look_dispatchable=tuple(dispatchable(where)))
    free = any(task.parent_id == "main" and task.open for task in where.tree.tasks.values())
    for wait in (None, WAITS):
        decision = launch_rules.decide(snapshot(_with(where, replace(asks, wait=wait))))
        _count(seen, decision.row, decision.words)
        started = decision.action is Action.START
        seen.expect("who has asked is started only for open subtasks", started == (free and wait is None), words)
    told = _told(seen, _with(where, asks), FETCHED)
    seen.expect("who has asked leaves unless there is more", (told.action == "wait_for_answer") != free, words)
    reviewed = _with(where, replace(asks, checks=Checks.IN_REVIEW))
    step = _told(seen, reviewed, FETCHED)
    seen.expect("who is in review leaves", (step.action, step.state) == ("wait_for_answer", "in_review"), words)
    decision = launch_rules.decide(snapshot(reviewed))
    seen.expect("who is in review is not started", decision.reason == "in_review", words)
    answered = _with(where, replace(asks, open_questions=0, wait=WAITS))
    decision = launch_rules.decide(snapshot(answered, news={"main": (News("question", "main"),)}))
    seen.expect("the answer starts who waits", decision.action is Action.START, words, decision.row)


def _ask_whether_it_can_obey(seen: Seen, words: str, where: TreeState, step: Step) -> None:
    if step.action == "report_completion":
        reported = outcome(moves, where, "main", Status.COMPLETED, BOSS)
        seen.expect("the report that is asked for is accepted", not isinstance(reported, Refusal), words)
    if step.action == "review_and_resolve_blocks":
        stuck = [task for task in where.tree.tasks.values() if task.parent_id == "main" and task.status in STUCK]
        blocked = outcome(moves, where, "main", Status.BLOCKED, BOSS)
        seen.expect("there is a block to review", bool(stuck), words)
        seen.expect("it may be reported further up", not isinstance(blocked, Refusal), words)
    for name in dispatchable(where):
        seen.expect("what can be dispatched can be started", _starts(where, name), words, name)


def _starts(where: TreeState, name: str) -> bool:
    """By its assignee if able, else by some able worker below the manager, once it is assigned."""
    task = where.tree.tasks[name]
    candidates = [task.assignee_id] if able(where, task.assignee_id) else workers(where)
    for who in candidates:
        assigned = replace(where, tree=where.tree.changed(replace(task, assignee_id=who)))
        if not isinstance(outcome(moves, assigned, name, Status.IN_PROGRESS, BOSS), Refusal):
            return True
    return False


def _somebody_comes(where: TreeState) -> bool:
    """Beyond the words: whoever is waited for is a person, is busy elsewhere, or would be started or kept running."""
    for task in where.tree.tasks.values():
        if task.id != "main" and task.open and task.approval is Approval.PENDING:
            return True
        if task.id == "main" or not is_main_at_work(where, task):
            continue
        if where.agents[task.assignee_id or ""].human or _is_kept_going(where, task.assignee_id or ""):
            return True
    in_line = any(starts_by_itself(where, task) for task in where.tree.tasks.values())
    return bool(where.open_delegations["main"] or where.tree.outside or held_back(where) or in_line)


def _is_kept_going(where: TreeState, who: str) -> bool:
    live: dict[Purpose, Any] = {}
    if who in where.signed_in:
        name = next(task.id for task in where.tree.tasks.values() if task.assignee_id == who and task.in_progress)
        live = {Purpose.TASK: session(who, name)}
    decision = launch_rules.decide(snapshot(where, who, sessions=live))
    return decision.action is Action.START or decision.reason in ("already_running", "waiting_for_workers")


def _ask_again(seen: Seen, words: str, where: TreeState) -> None:
    """The same facts, loaded in another order."""
    tree = where.tree
    turned = replace(where, tree=type(tree)(dict(reversed(tree.tasks.items())), tree.depends_on, tree.outside))
    for choice, asking in CHOSE.items():
        answers = {next_action.decide(snapshot(state, live=asking), asking) for state in (where, where, turned)}
        seen.expect("the same facts give the same next action", len(answers) == 1, words, choice)
    for wait in (None, WAITS):
        main = replace(MAIN, wait=wait)
        decisions = {launch_rules.decide(snapshot(_with(state, main))) for state in (where, where, turned)}
        seen.expect("the same facts give the same launch decision", len(decisions) == 1, words, wait)


def _told(seen: Seen, where: TreeState, asking: Session, about: tuple[News, ...] = ()) -> Step:
    step = next_action.decide(snapshot(where, live=asking, news={"main": about}), asking)
    _count(seen, step.row, step.words)
    return step


def _with(where: TreeState, main: Task) -> TreeState:
    return replace(where, tree=where.tree.changed(main))


def _news(where: TreeState) -> list[tuple[News, ...]]:
    """Nothing, or one thing of each kind, about a task that is there."""
    below = [task.id for task in where.tree.tasks.values() if task.id != "main"]
    down = [task.id for task in where.tree.tasks.values() if task.status in STUCK]
    found: list[tuple[News, ...]] = [(), (News("person", "main"),), (News("delegation", "main"),)]
    found += [(News("blocked", name),) for name in (down or below)[:1]]
    return found + [(News("closed", name),) for name in below[:1]]


def _count(seen: Seen, row: str, words: str) -> None:
    seen.rows[f"{row}: {words}"] += 1


# --- the promises ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "promise",
    [
        "who has asked is started only for open subtasks",
        "who has asked leaves unless there is more",
        "the answer starts who waits",
        "outstanding is what the page says",
        "dispatchable is what the page says",
        "a main task that does not wait is started",
        "whoever is started is told to get its task",
        "whoever is started is not told to leave",
        "a manager that waits is started exactly for a cause",
        "a hold that lasts stays whatever happens elsewhere",
        "wait is accepted where leaving holds",
        "who was told to wait is not started at once",
        "who waits will be woken by somebody",
        "start is told where something can be started",
        "what can be dispatched can be started",
        "the report that is asked for is accepted",
        "there is a block to review",
        "it may be reported further up",
        "the same facts give the same next action",
        "the same facts give the same launch decision",
    ],
)
def test_in_every_small_world_of_a_manager(explored: Seen, promise: str) -> None:
    assert explored.broken(promise) == []


@WHOLE
def test_every_row_of_a_manager_is_the_first_match_of_some_world(explored: Seen) -> None:
    rows = [f"manager {rule.row}: {rule.words}" for rule in manager_rules.MANAGER_ROWS]
    rows += [
        f"{rule.row}: {rule.words}"
        for rule in launch_rules.MAIN_TASK_ROWS
        if rule.row in ("8", "9", "10", "11", "12", "13")
    ]
    assert [each for each in rows if not explored.rows[each]] == []


@WHOLE
def test_the_exploration_is_as_wide_as_it_says(explored: Seen) -> None:
    assert explored.worlds > 6_000
