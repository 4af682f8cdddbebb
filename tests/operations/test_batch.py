"""Several changes in one transaction: all of them, or none; each under the rights and rules it has alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.samples import kept
from tests.stories import World
from toryo.operations.tasks import batch


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
    assert "none was made" in world.owner.refused("apply_changes", "tooLarge", changes=TEAM)["message"]
    assert kept(world) == before


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
