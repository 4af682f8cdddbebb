"""A small crew and small trees, to try rules on: what every test of domain and workflow builds its facts from.

`olga` (owner) leads `hana` (a person), she leads `boss` (manager), who leads `ann` and `bob` (workers). `paul` is a
person and `zoe` a worker beside them: members of the project, above and below nobody. No database, no clock: values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from toryo.domain.agents import Agent, Kind, Role
from toryo.domain.agents import Status as AgentStatus
from toryo.domain.errors import Code, Refusal
from toryo.domain.moves import Actor, Change, Order, plan
from toryo.domain.projects import Project, Settings
from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Approval, Priority, Status, Task
from toryo.domain.tree_state import TreeState

NOW = 1_800_000_000_000
"""Milliseconds since the epoch."""


def agent(
    name: str,
    role: Role = Role.WORKER,
    *,
    reports_to: str | None = None,
    human: bool = False,
    provider: str | None = "playbook",
    active: bool = True,
    parallel: int = 1,
) -> Agent:
    return Agent(
        id=name,
        name=name.title(),
        kind=Kind.HUMAN if human else Kind.AI,
        role=role,
        reports_to=reports_to,
        status=AgentStatus.ACTIVE if active else AgentStatus.INACTIVE,
        provider=None if human else provider,
        model=None,
        agent_type=None,
        capabilities=(),
        max_parallel_tasks=parallel,
        system_prompt="",
        provider_options={},
        created_at=NOW - 1000,
        updated_at=NOW - 1000,
    )


OLGA = agent("olga", Role.OWNER, human=True)
HANA = agent("hana", Role.MANAGER, human=True, reports_to="olga")
BOSS = agent("boss", Role.MANAGER, reports_to="hana")
ANN = agent("ann", reports_to="boss")
BOB = agent("bob", reports_to="boss")
PAUL = agent("paul", human=True)
ZOE = agent("zoe")
CREW = (OLGA, HANA, BOSS, ANN, BOB, PAUL, ZOE)

OWNER = Actor("olga", person=True, everything=True)
"""A person with the login role `owner`."""
GUARD = Actor("system:toryo", everything=True, guard=True)


def actor(name: str, session: str | None = None) -> Actor:
    """How one of the crew acts: people as people, agents in a session."""
    person = next(each for each in CREW if each.id == name).human
    return Actor(name, person=person, session_id=None if person else session or f"ses_{name}")


def project(status: ProjectStatus = ProjectStatus.ACTIVE, **settings: Any) -> Project:
    return Project(
        id="prj",
        name="House",
        description="",
        status=status,
        working_directory="/work",
        settings=replace(Settings(), **settings),
        created_at=NOW - 1000,
        updated_at=NOW - 1000,
    )


def task(
    name: str,
    status: Status = Status.TODO,
    assignee: str | None = None,
    *,
    below: Task | None = None,
    by: str = "olga",
    place: int = 0,
    **fields: Any,
) -> Task:
    """A task; `below` is its parent, `by` who created it, `place` its order among its siblings."""
    given: dict[str, Any] = {
        "id": name,
        "project_id": "prj",
        "root_id": below.root_id if below else name,
        "parent_id": below.id if below else None,
        "depth": below.depth + 1 if below else 1,
        "ordinal": place,
        "title": f"The task {name}",
        "status": status,
        "priority": Priority.MEDIUM,
        "assignee_id": assignee,
        "agent_type": None,
        "created_by": by,
        "approval": Approval.APPROVED,
        "created_at": NOW - 1000,
        "updated_at": NOW - 1000,
        "moved_at": NOW - 1000,
        "parent_attempt": below.attempt if below else 1,
    }
    if status is Status.BLOCKED:
        given |= {"blocked_by": assignee, "blocked_reason": "stuck", "blocked_from": Status.TODO}
    made = Task(**{**given, **fields})
    return made if "line_at" in fields else made.aged()


def todo(name: str, assignee: str | None = None, **fields: Any) -> Task:
    return task(name, Status.TODO, assignee, **fields)


def at_work(name: str, assignee: str | None = None, **fields: Any) -> Task:
    """A task in progress."""
    return task(name, Status.IN_PROGRESS, assignee, **fields)


def stuck(name: str, assignee: str | None = None, **fields: Any) -> Task:
    """A task that its assignee has blocked."""
    return task(name, Status.BLOCKED, assignee, **fields)


def failed(name: str, assignee: str | None = None, **fields: Any) -> Task:
    return task(name, Status.FAILED, assignee, **fields)


def done(name: str, assignee: str | None = None, **fields: Any) -> Task:
    return task(name, Status.COMPLETED, assignee, **fields)


def cancelled(name: str, assignee: str | None = None, **fields: Any) -> Task:
    return task(name, Status.CANCELLED, assignee, **fields)


def tree_state(
    *tasks: Task,
    waits: Mapping[str, Iterable[str]] | None = None,
    outside: Iterable[Task] = (),
    crew: Iterable[Agent] = (),
    strangers: Iterable[str] = (),
    elsewhere: Mapping[str, int] | None = None,
    where: Project | None = None,
    **facts: Any,
) -> TreeState:
    """One tree and the crew around it.

    `waits` are dependencies, `outside` tasks of other trees, `crew` replaces members of the same id, `strangers` are no
    members, `elsewhere` counts main tasks that agents have in progress in other trees of the project.
    """
    tree = Tree(
        {each.id: each for each in tasks},
        {name: tuple(others) for name, others in (waits or {}).items()},
        {each.id: each for each in outside},
    )
    agents = {each.id: each for each in (*CREW, *crew)}
    return TreeState(
        project=where or project(),
        tree=tree,
        agents=agents,
        members=frozenset(agents) - set(strangers),
        busy=busy(tree, elsewhere or {}),
        **{"team": agents, "team_members": frozenset(agents) - set(strangers), **facts},
    )


def busy(tree: Tree, elsewhere: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """Main tasks that hold a place, by assignee, counted as the database counts them."""
    found: dict[str, set[str]] = {name: {f"other_{name}_{n}" for n in range(many)} for name, many in elsewhere.items()}
    for each in (*tree.tasks.values(), *tree.outside.values()):
        holds_a_place = each.in_progress and not each.in_review
        if holds_a_place and each.assignee_id is not None and tree.is_main(each):
            found.setdefault(each.assignee_id, set()).add(each.id)
    return {name: frozenset(ids) for name, ids in found.items()}


def move(
    where: TreeState, name: str, to: Status, who: Actor = OWNER, reason: str | None = "because", **more: Any
) -> TreeState:
    """The state after a move that is accepted."""
    return after(where, moves(where, name, to, who, reason, **more))


def moves(
    where: TreeState, name: str, to: Status, who: Actor = OWNER, reason: str | None = "because", **more: Any
) -> list[Change]:
    """The changes that a move means."""
    return plan(where, Order(where.tree.tasks[name], to, who, more.pop("now", NOW), reason, **more))


def after(where: TreeState, changes: Iterable[Change]) -> TreeState:
    """The state once the changes are stored."""
    tree = where.tree.changed(*(change.after for change in changes))
    others = {name: len([each for each in ids if each.startswith("other_")]) for name, ids in where.busy.items()}
    return replace(where, tree=tree, busy=busy(tree, others))


def statuses(where: TreeState) -> dict[str, str]:
    return {name: each.status.value for name, each in where.tree.tasks.items()}


def refused(code: Code, act: Any, *arguments: Any, **named: Any) -> Refusal:
    """The refusal of an act that must be refused with this code, and must say what is wrong and what to do instead."""
    with pytest.raises(Refusal) as caught:
        act(*arguments, **named)
    refusal = caught.value
    assert refusal.code is code, refusal.message
    assert refusal.message.endswith(".")
    assert refusal.instruction.endswith(".")
    return refusal


def refused_move(
    code: Code, where: TreeState, name: str, to: Status, who: Actor = OWNER, reason: str | None = "because", **more: Any
) -> Refusal:
    """The refusal of a move, which must have changed nothing."""
    before = dict(where.tree.tasks), dict(where.busy)
    refusal = refused(code, moves, where, name, to, who, reason, **more)
    assert (where.tree.tasks, where.busy) == before
    assert refusal.details["task_id"] == name
    return refusal


def outcome(act: Any, *arguments: Any, **named: Any) -> Any:
    """What an act answers, or its refusal: for tests that try anything and ask what holds afterwards."""
    try:
        return act(*arguments, **named)
    except Refusal as refusal:
        return refusal
