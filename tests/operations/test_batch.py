"""Several changes in one transaction: all of them, or none; each under the rights and rules it has alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.operations.samples import kept
from tests.stories import World
from toryo.operations.tasks import batch

pytestmark = pytest.mark.both


def change(operation: str, **arguments: Any) -> dict[str, Any]:
    return {"operation": operation, "arguments": arguments}


TEAM = [
    change("create_project", name="House", id="house", working_directory="/srv/house"),
    change("create_agent", id="w1", role="worker", provider="command"),
    change("add_member", project_id="@0", agent_id="w1"),
    change("file_task", project_id="@0", title="Whole", assignee_id="w1"),
    change("file_task", project_id="@0", title="Part", parent_task_id="@3", status="in_progress", assignee_id="w1"),
    change("file_task", project_id="@0", title="After", dependencies=["@4"]),
]


def test_later_changes_refer_to_what_earlier_ones_made(world: World) -> None:
    made = world.owner.call("apply_changes", changes=TEAM)["results"]
    after = world.owner.call("show_task", task_id=made[5]["task_id"])["task"]
    assert after["project_id"] == "house"
    assert after["dependencies"] == [made[4]["task_id"]]
    assert made[1]["passkey"]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (change("file_task", project_id="@0", title="T", assignee_id="nobody"), "agentNotFound"),
        (change("file_task", project_id="@0", titel="T"), "validationError"),
        (change("file_task", project_id="@1", title="T"), "validationError"),
        (change("file_task", project_id="@9", title="T"), "validationError"),
        (change("create_project", name="x", id="house", working_directory="/x"), "conflict"),
        (change("edit_project", project_id="@0", settings={"langauge": "ja"}), "validationError"),
    ],
)
def test_one_change_that_is_refused_undoes_all_and_is_named(world: World, wrong: dict[str, Any], code: str) -> None:
    before = kept(world)
    refusal = world.owner.refused("apply_changes", code, changes=[*TEAM, wrong])
    assert refusal["change"] == len(TEAM)
    assert kept(world) == before


def test_each_change_needs_the_right_that_it_needs_alone(world: World) -> None:
    world.crew(workers=1)
    lena, viewer = world.member("lena"), world.member("vera", "viewer")
    world.owner.call("add_member", project_id=world.project_id, agent_id="lena")
    filed = change("file_task", project_id=world.project_id, title="T")
    assert lena.call("apply_changes", changes=[filed])["results"]
    refusal = lena.refused("apply_changes", "permissionDenied", changes=[filed, change("create_agent", role="worker")])
    assert refusal["change"] == 1
    viewer.refused("apply_changes", "permissionDenied", changes=[filed])


def test_what_is_filed_at_once_stays_in_its_order(world: World) -> None:
    titles = [f"Task {number}" for number in range(30)]
    filed = [change("file_task", project_id="@0", title=each) for each in titles]
    world.owner.call("apply_changes", changes=[TEAM[0], *filed])
    found = world.owner.call("list_project_tasks", project_id="house")["tasks"]
    assert [each["title"] for each in found] == titles


def test_nothing_is_filed_deeper_than_fifty_levels_by_whomever(world: World) -> None:
    world.crew(workers=1)
    below = [{"parent_task_id": f"@{number}"} for number in range(50)]
    chain = [
        change("file_task", project_id=world.project_id, title=f"Part {number}", **more)
        for number, more in enumerate([{}, *below])
    ]
    assert world.owner.refused("apply_changes", "limitReached", changes=chain)["change"] == 50
    assert len(world.owner.call("apply_changes", changes=chain[:50])["results"]) == 50


def test_what_takes_too_long_is_undone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "LONGEST_SECONDS", -1.0)
    before = kept(world)
    assert "Nothing was changed" in world.owner.refused("apply_changes", "tooLarge", changes=TEAM)["message"]
    assert kept(world) == before


def test_plans_that_take_too_long_to_judge_are_refused_before_anything_is_made(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "LONGEST_SECONDS", -1.0)
    plan = {"playbook": {"tasks": [{"subtasks": [{"id": "a", "title": "A"}]}]}}
    brings = change("edit_agent", agent_id="w1", provider="playbook", provider_options=plan)
    refused = world.owner.refused("apply_changes", "tooLarge", changes=[*TEAM, brings])
    assert "the first 6 took that long" in refused["instruction"]


@pytest.mark.parametrize("where", ["project_id", "parent_task_id", "dependencies", "assignee_id", "task_id"])
def test_what_is_of_another_project_is_not_found_from_within_either(world: World, where: str) -> None:
    world.crew(workers=1)
    ann = world.member("ann")
    world.owner.call("add_member", project_id=world.project_id, agent_id="ann")
    other = world.owner.call("create_project", name="Other", id="other", working_directory="/srv/other")["project_id"]
    world.owner.call("create_agent", id="theirs", role="worker", provider="command", projects=[other])
    secret = world.owner.call("file_task", project_id=other, title="Secret")["task_id"]
    foreign = {"project_id": other, "dependencies": [secret], "assignee_id": "theirs"}
    mine = {"project_id": world.project_id, "title": "Mine", where: foreign.get(where, secret)}
    asked = change("edit_task", task_id=secret, title="Mine") if where == "task_id" else change("file_task", **mine)
    before = kept(world)
    refusal = ann.ask("apply_changes", changes=[asked]).result
    assert refusal is not None
    assert refusal["error"] in ("projectNotFound", "taskNotFound", "agentNotFound", "agentNotAssignedToProject")
    assert "Secret" not in repr(refusal)
    assert kept(world) == before


# --- a change sees what those before it have made --------------------------------------------------------------------


def refused_after(world: World, code: str, *changes: dict[str, Any]) -> None:
    """The last of these is refused for what those before it have done."""
    before = kept(world)
    assert world.owner.refused("apply_changes", code, changes=[*changes])["change"] == len(changes) - 1
    assert kept(world) == before


def test_a_change_is_judged_by_what_those_before_it_have_made(world: World) -> None:
    world.crew(workers=1)
    parent = world.task("w1", status="todo")
    first, then = (world.task("w1", title=each, parent_task_id=parent, status="todo") for each in ("First", "Then"))
    new, again, below = (
        change("file_task", project_id=world.project_id, title=title, parent_task_id=above, **more)
        for title, above, more in (("New", parent, {}), ("first ", parent, {}), ("B", first, {"dependencies": [then]}))
    )
    renamed = change("edit_task", task_id=first, title="Another")
    waits = change("edit_task", task_id=then, add_dependencies=[first])
    refused_after(world, "duplicateSubtask", new, new)
    refused_after(world, "duplicateSubtask", renamed, again, again)
    refused_after(world, "dependencyCycle", waits, change("edit_task", task_id=first, add_dependencies=[then]))
    refused_after(world, "dependencyCycle", waits, below)
    refused_after(world, "conflict", renamed, change("edit_task", task_id=first, title="Third", version=1))
    undone = change("edit_task", task_id=then, remove_dependencies=[first])
    made = world.owner.call("apply_changes", changes=[waits, undone, below, renamed, again])["results"]
    assert world.owner.call("show_task", task_id=made[2]["task_id"])["task"]["dependencies"] == [then]


def test_a_part_that_is_to_begin_at_once_waits_for_what_was_filed_just_before(world: World) -> None:
    world.crew(workers=1)
    part = {"project_id": world.project_id, "assignee_id": "w1", "parent_task_id": "@0"}
    changes = [
        change("file_task", project_id=world.project_id, title="Whole"),
        change("file_task", **part, title="First"),
        change("file_task", **part, title="Then", dependencies=["@1"], status="in_progress"),
    ]
    refused_after(world, "dependencyNotMet", *changes)


# --- what it costs ---------------------------------------------------------------------------------------------------


def parts(world: World, many: int, above: str = "@0", **more: Any) -> list[dict[str, Any]]:
    named = {"project_id": world.project_id, "parent_task_id": above, **more}
    return [change("file_task", title=f"Part {number}", **named) for number in range(many)]


def whole(world: World) -> dict[str, Any]:
    return change("file_task", project_id=world.project_id, title="Whole")


def below_one(world: World, many: int) -> list[dict[str, Any]]:
    return [whole(world), *parts(world, many)]


def one_after_the_other(world: World, many: int) -> list[dict[str, Any]]:
    changes = below_one(world, many)
    for number, each in enumerate(changes[2:], 1):
        each["arguments"]["dependencies"] = [f"@{number}"]
    return changes


def after_another_whole(world: World, many: int) -> list[dict[str, Any]]:
    after = parts(world, many, f"@{many + 1}", dependencies=["@0"])
    return [*below_one(world, many), whole(world), *after]


def each_with_a_part(world: World, many: int) -> list[dict[str, Any]]:
    return [whole(world) for _ in range(many)] + [parts(world, 1, f"@{number}")[0] for number in range(many)]


def started_at_once(world: World, many: int) -> list[dict[str, Any]]:
    """By one agent, whose whole and its parts count as one task in progress."""
    begins = {"assignee_id": world.worker(f"w{many}", "boss"), "status": "in_progress"}
    first = whole(world)
    first["arguments"] |= begins
    return [first, *parts(world, many, **begins)]


FILED: list[Callable[[World, int], list[dict[str, Any]]]] = [
    below_one,
    one_after_the_other,
    after_another_whole,
    each_with_a_part,
    started_at_once,
]
EDITS: list[dict[str, Any]] = [
    {"title": "Another"},
    {"assignee_id": "w1"},
    {"priority": "high", "acceptance": [{"file": "x"}]},
]


STAMP = "SELECT directory"
"""Read once in a transaction, and on PostgreSQL once more after the lock of the project."""


def cost(world: World, changes: list[dict[str, Any]]) -> tuple[int, int]:
    """How many statements run, and how many rows they read and write. The first call of a test also reads what is
    remembered from then on.
    """
    with world.statements() as ran:
        world.owner.call("apply_changes", changes=changes)
    return len(ran), sum(rows for _, rows in ran)


def is_straight(few: tuple[int, int], more: tuple[int, int], most: tuple[int, int]) -> bool:
    """The costs of 10, 20 and 30."""
    return all(c - b == b - a for a, b, c in zip(few, more, most, strict=True))


@pytest.mark.parametrize("filed", FILED)
def test_a_task_costs_the_same_however_many_are_filed_with_it(
    world: World, filed: Callable[[World, int], list[dict[str, Any]]]
) -> None:
    world.crew(workers=1)
    _, *found = [cost(world, filed(world, many)) for many in (5, 10, 20, 30)]
    assert is_straight(*found), found


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_an_edit_costs_the_same_however_many_tasks_stand_beside_it(world: World, edit: dict[str, Any]) -> None:
    world.crew(workers=1)
    found = []
    for many in (5, 10, 20, 30):
        made = world.owner.call("apply_changes", changes=below_one(world, many))["results"][1:]
        renamed = ({**edit, "title": f"Another {number}"} if "title" in edit else edit for number in range(many))
        changes = [change("edit_task", task_id=each["task_id"], **to) for each, to in zip(made, renamed, strict=True)]
        found.append(cost(world, changes))
    assert is_straight(*found[1:]), found


def test_many_tasks_below_one_cost_as_many_statements_as_few(world: World) -> None:
    """Project and parent are read once. All tasks are written at once, as are all events."""
    world.crew(workers=1)
    _, (fewer, _), (more, _) = (cost(world, below_one(world, many)) for many in (5, 100, 200))
    assert more == fewer


def test_filing_a_task_reads_nothing_twice_and_nothing_that_it_wrote(world: World) -> None:
    world.crew(workers=1)
    parent = world.task("w1", status="todo")
    world.task("w1", status="todo")  # who calls, and the project, are remembered
    found = []
    for more in ({}, {"parent_task_id": parent}):
        with world.statements() as ran:
            world.owner.call("file_task", project_id=world.project_id, title="New", **more)
        found.append([each for each, _ in ran if each != STAMP])
    written = ["INSERT tasks"]
    tree = ["SELECT tasks", "SELECT dependencies"]  # the parent has no subtasks yet: it is its whole tree
    counted = ["UPDATE tasks"]  # the parent counts its children
    assert found[0] == [*written, "INSERT events"]
    # The writer of SQLite knows the tree from before.
    assert found[1] in ([*tree, *written, *counted, "INSERT events"], [*written, *counted, "INSERT events"])


def test_creating_a_subtask_reads_its_tree_once_and_nothing_that_it_wrote(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    worker = world.start("w1")
    worker.call("create_task", title="First", description="D")
    worker.call("create_task", title="Next", description="D")
    with world.statements() as ran:
        worker.call("create_task", title="Then", description="D")
    told = [each for each, _ in ran]
    once = ("INSERT tasks", "UPDATE tasks", "INSERT events", "UPDATE sessions")
    assert [told.count(each) for each in once] == [1] * len(once)
    assert told.count("SELECT dependencies") <= 1  # none where the writer knows the tree from before (SQLite)
