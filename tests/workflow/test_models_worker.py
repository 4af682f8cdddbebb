"""The worker's tables over every small world: what is promised in `workflow.md` 7 holds in each of them.

A world is explored with every wait record its main task can carry, and with what a session remembers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from tests.domain.things import NOW, actor, agent, at_work, moves, outcome, project
from tests.workflow.scenes import session, snapshot
from tests.workflow.worlds import BELOW_A_WORKER, PLENTY, Around, Part, Seen, lasts, trees, world
from toryo.domain.errors import Refusal
from toryo.domain.projects import Decomposition
from toryo.domain.tasks import Checks, Status, Task, Wait
from toryo.domain.tree_state import TreeState
from toryo.workflow import facts, launch_rules, next_action, worker_rules
from toryo.workflow.launch_rules import Action
from toryo.workflow.step import Step

pytestmark = pytest.mark.deep  # the first test of a process explores for all of them

UP = at_work("up", "boss", by="hana")
GIVEN = at_work("job", "ann", by="boss", below=UP)
"""ann's main task: a part of boss's."""
ANN = actor("ann")
SIGNED_IN = session("ann", "job", fetched_at=None)
FETCHED = session("ann", "job")
REFUSED = session("ann", "job", refused_for_delegation=True)

BOB_AWAY = agent("bob", active=False, parallel=3)
CREWS = {"everybody is able": PLENTY, "bob is inactive": (*PLENTY, BOB_AWAY)}
WAITED_FOR = (None, "answer", "delegation", "others")

MAINS: dict[str, tuple[Task, ...]] = {
    "given": (UP, GIVEN),
    "without a parent": (at_work("job", "ann", by="olga"),),
    "self-made": (UP, replace(GIVEN, created_by="ann")),
    "had subtasks once": (UP, replace(GIVEN, children_ever=2)),
    "window closed": (UP, replace(GIVEN, worked_attempt=1)),
    "second attempt": (UP, replace(GIVEN, worked_attempt=1, attempt=2)),
    "as deep as may be": (UP, replace(GIVEN, depth=4)),
    "asks a person": (UP, replace(GIVEN, open_questions=1, questions_ever=1)),
    "in review": (UP, replace(GIVEN, open_questions=1, questions_ever=1, checks=Checks.IN_REVIEW)),
    "is a review": (UP, replace(GIVEN, review_of="other")),
    "a check failed": (UP, replace(GIVEN, checks=Checks.FAILED, children_ever=1)),
}


def worlds() -> Iterator[tuple[str, TreeState]]:
    """Up to three children under a given task; no child or one under every sort of main task, project and program."""
    for crew, delegations in product(CREWS, (0, 1)):
        around = Around(CREWS[crew], delegations=delegations)
        for words, parts in trees(BELOW_A_WORKER, GIVEN, 3):
            yield from _one(f"{words}; {crew}; {delegations} delegations", GIVEN, parts, around, UP)
    for title, delegations, how in product(MAINS, (0, 1), Decomposition):
        *above, main = MAINS[title]
        for program in ("playbook", "command"):
            crew_ = (*PLENTY, agent("ann", reports_to="boss", provider=program, parallel=3))
            around = Around(crew_, delegations=delegations)
            for words, parts in trees(BELOW_A_WORKER, main, 1):
                name = f"{words}; {title}; {how.value}; {program}; {delegations} delegations"
                yield from _one(name, main, parts, around, *above, where=project(decomposition=how))


def _one(
    name: str, main: Task, parts: Any, around: Around, *above: Task, **facts_: Any
) -> Iterator[tuple[str, TreeState]]:
    children: list[Part] = list(parts)
    where = world(main, children, around, *above, **facts_)
    if where is not None:
        yield name, where


# --- exploring -------------------------------------------------------------------------------------------------------


@cache
def explored() -> Seen:
    seen = Seen()
    for words, where in worlds():
        seen.worlds += 1
        told = _ask_what_it_is_told(seen, words, where)
        _ask_when_it_is_started(seen, words, where, told)
        _ask_whether_it_can_obey(seen, words, where, told)
        if seen.worlds % 5 == 0:
            _ask_again(seen, words, where)
    return seen


def _ask_what_it_is_told(seen: Seen, words: str, where: TreeState) -> Step:
    first = _told(seen, where, SIGNED_IN)
    seen.expect("whoever is started is told to get its task", first.action == "get_task", words)
    step = _told(seen, where, FETCHED)
    refused = _told(seen, where, REFUSED)
    waits = refused.action == "wait_for_delegation" or refused == step
    seen.expect("a refused report changes nothing but that it waits", waits, words, refused.action)
    return step


def _ask_when_it_is_started(seen: Seen, words: str, where: TreeState, told: Step) -> None:
    """`told` is what a fresh session would be told once it has fetched its task."""
    for kind in WAITED_FOR:
        decision = _decided(where, kind)
        seen.rows[f"{decision.row}: {decision.words}"] += 1
        idle = told.action in ("exit", "wait_for_answer", "wait_for_delegation", "wait_for_others")
        if decision.action is Action.START:
            seen.expect("whoever is started has something to do", not idle, words, told.action)
        else:
            left = kind == "delegation" and told.action == "execute_task" and where.open_delegations["job"] > 0
            seen.expect("who has something to do is started", idle or left, words, decision.reason)
            stays = not decision.lasting or lasts(_left(where, kind), "ann")
            seen.expect("a hold that lasts stays whatever happens elsewhere", stays, words)
    if told.action == "wait_for_answer":
        answered = replace(where, tree=where.tree.changed(replace(where.tree.tasks["job"], open_questions=0)))
        then = _decided(answered, "answer")
        others = then.reason in ("waiting_for_workers", "waiting_for_delegation")
        seen.expect("it is started when it is answered", then.action is Action.START or others, words)
    if told.action == "wait_for_others":
        again = _decided(where, "others")
        seen.expect("who was told to wait is not started at once", again.action is Action.HOLD, words, again.row)
        seen.expect("who waits for others will be started when they are done", _wakes(where), words)
    if where.open_delegations["job"]:
        _ask_about_delegation(seen, words, where)


def _ask_about_delegation(seen: Seen, words: str, where: TreeState) -> None:
    """Who was told so often to wait that it left is held while the delegation is open, and started when it ends."""
    ended = replace(where, open_delegations={"job": 0})
    for asking in (FETCHED, REFUSED):
        if _told(seen, where, asking).action == "wait_for_delegation":
            held = _decided(where, "delegation")
            seen.expect("who left for a delegation is held while it is open", held.action is Action.HOLD, words)
            then = _decided(ended, "delegation")
            others = then.reason == "waiting_for_workers"
            seen.expect("it is started when the delegation ends", then.action is Action.START or others, words)


def _wakes(where: TreeState) -> bool:
    """Once whoever is at work has finished and every request was judged, the worker is started."""
    tree = where.tree
    after = [
        replace(task, status=Status.COMPLETED) if task.in_progress and task.assignee_id != "ann" else task
        for task in tree.tasks.values()
        if task.id not in ("job", "up")
    ]
    judged = [replace(task, approval=type(task.approval).APPROVED) for task in after]
    return _decided(replace(where, tree=tree.changed(*judged)), "others").action is Action.START


def _decided(where: TreeState, kind: str | None) -> launch_rules.Decision:
    return launch_rules.decide(snapshot(_left(where, kind), "ann"))


def _left(where: TreeState, kind: str | None) -> TreeState:
    """Once ann has left to wait for something (or has not)."""
    wait = None if kind is None else Wait(kind, NOW - 5, 5)
    return replace(where, tree=where.tree.changed(replace(where.tree.tasks["job"], wait=wait)))


def _ask_whether_it_can_obey(seen: Seen, words: str, where: TreeState, told: Step) -> None:
    main = where.tree.tasks["job"]
    found = next_action.case_of(snapshot(where, "ann"), FETCHED)
    assert found is not None
    if told.action == "start_subtask":
        part = facts.next_subtask(found)
        started = outcome(moves, where, part.id, Status.IN_PROGRESS, ANN) if part else None
        seen.expect("the subtask it is told to start can be started", isinstance(started, list), words)
    if told.action == "execute_subtask":
        part = facts.current_subtask(found)
        finished = outcome(moves, where, part.id, Status.COMPLETED, ANN) if part else None
        seen.expect("the subtask it is told to do can be finished", isinstance(finished, list), words)
    if told.action == "report_completion":
        reported = outcome(moves, where, main.id, Status.COMPLETED, ANN)
        seen.expect("the report that is asked for is accepted", not isinstance(reported, Refusal), words)
    if told.action in ("review_and_resolve_blocks", "resolve_dependency_deadlock", "execute_task"):
        for to in (Status.BLOCKED, Status.FAILED):
            given_up = outcome(moves, where, main.id, to, ANN)
            seen.expect("it may always give up", not isinstance(given_up, Refusal), words, to)


def _ask_again(seen: Seen, words: str, where: TreeState) -> None:
    """The same facts, loaded in another order."""
    tree = where.tree
    turned = replace(where, tree=type(tree)(dict(reversed(tree.tasks.items())), tree.depends_on, tree.outside))
    for asking in (SIGNED_IN, FETCHED, REFUSED):
        steps = {next_action.decide(snapshot(state, "ann", live=asking), asking) for state in (where, where, turned)}
        seen.expect("the same facts give the same next action", len(steps) == 1, words)
    for kind in WAITED_FOR:
        decisions = {_decided(state, kind) for state in (where, where, turned)}
        seen.expect("the same facts give the same launch decision", len(decisions) == 1, words)


def _told(seen: Seen, where: TreeState, asking: Any) -> Step:
    step = next_action.decide(snapshot(where, "ann", live=asking), asking)
    seen.rows[f"{step.row}: {step.words}"] += 1
    return step


# --- the promises ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "promise",
    [
        "whoever is started is told to get its task",
        "whoever is started has something to do",
        "who has something to do is started",
        "a hold that lasts stays whatever happens elsewhere",
        "who was told to wait is not started at once",
        "who waits for others will be started when they are done",
        "who left for a delegation is held while it is open",
        "it is started when the delegation ends",
        "it is started when it is answered",
        "a refused report changes nothing but that it waits",
        "the subtask it is told to start can be started",
        "the subtask it is told to do can be finished",
        "the report that is asked for is accepted",
        "it may always give up",
        "the same facts give the same next action",
        "the same facts give the same launch decision",
    ],
)
def test_in_every_small_world_of_a_worker(promise: str) -> None:
    assert explored().broken(promise) == []


def test_every_row_of_a_worker_is_the_first_match_of_some_world() -> None:
    rows = [f"worker {rule.row}: {rule.words}" for rule in worker_rules.WORKER_ROWS]
    rows += [f"{rule.row}: {rule.words}" for rule in launch_rules.MAIN_TASK_ROWS if rule.row in ("12a", "13")]
    assert [each for each in rows if not explored().rows[each]] == []


def test_the_exploration_is_as_wide_as_it_says() -> None:
    assert explored().worlds > 5_000
