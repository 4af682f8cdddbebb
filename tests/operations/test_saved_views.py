"""Saved views: whose they are, who sees and changes them, and how many tasks each shows."""

from __future__ import annotations

import pytest

from tests.stories import Answer, Browser, Caller, World
from toryo.storage import saved_views


def save(caller: Caller, name: str, view: str = "board", **more: object) -> Answer:
    found: Answer = caller.call("save_view", project_id=caller.world.project_id, name=name, view=view, **more)["view"]
    return found


def views(caller: Caller) -> list[Answer]:
    found: list[Answer] = caller.call("show_saved_views", project_id=caller.world.project_id)["views"]
    return found


def names(caller: Caller) -> list[str]:
    return [each["name"] for each in views(caller)]


def counts(caller: Caller) -> dict[str, int | None]:
    return {each["name"]: each["count"] for each in views(caller)}


@pytest.fixture
def house(crew: World) -> World:
    """Two workers; `ann` and `ben` belong to the project, `vic` only looks."""
    for person, login in (("ann", "member"), ("ben", "member"), ("vic", "viewer")):
        crew.owner.call("add_person", person_id=person, login=login, projects=[crew.project_id])
    return crew


def person(world: World, name: str) -> Caller:
    link = world.owner.call("make_sign_in_link", person_id=name)
    signed_in = world.nobody.call("sign_in", code=link["code"])
    return Browser(world, signed_in)


def test_what_one_saves_is_ones_own_until_it_is_for_everybody(house: World):
    ann, ben = person(house, "ann"), person(house, "ben")
    mine = save(ann, "Doors", q="door", by="agent")
    save(ann, "Stuck", q="status:blocked", everybody=True)
    assert names(ann) == ["Doors", "Stuck"]
    assert names(ben) == ["Stuck"]
    assert (mine["q"], mine["by"], mine["everybody"], mine["may_edit"]) == ("door", "agent", False, True)
    ann.call("edit_saved_view", view_id=mine["view_id"], everybody=True)
    assert names(ben) == ["Doors", "Stuck"]


def test_a_view_of_another_person_is_not_found(house: World):
    ann, ben = person(house, "ann"), person(house, "ben")
    mine = save(ann, "Doors")["view_id"]
    for name, more in (("edit_saved_view", {"name": "Windows"}), ("delete_saved_view", {})):
        ben.refused(name, "validationError", view_id=mine, **more)
        ben.refused(name, "validationError", view_id="svw_none", **more)
    assert names(ann) == ["Doors"]


def test_members_rename_and_delete_what_is_for_everybody_and_only_who_saved_it_takes_it_back(house: World):
    ann, ben = person(house, "ann"), person(house, "ben")
    shared = save(ann, "Doors", everybody=True)["view_id"]
    ben.call("edit_saved_view", view_id=shared, name="Windows")
    assert names(ann) == ["Windows"]
    ben.refused("edit_saved_view", "permissionDenied", view_id=shared, everybody=False)
    ben.call("delete_saved_view", view_id=shared)
    assert names(ann) == []


def test_a_viewer_saves_views_of_their_own_and_changes_none_of_the_others(house: World):
    vic, ann = person(house, "vic"), person(house, "ann")
    shared = save(ann, "Stuck", everybody=True)["view_id"]
    own = save(vic, "Doors")
    asked = {"project_id": house.project_id, "name": "Windows", "view": "list"}
    vic.refused("save_view", "permissionDenied", everybody=True, **asked)
    vic.refused("edit_saved_view", "permissionDenied", view_id=own["view_id"], everybody=True)
    vic.refused("edit_saved_view", "permissionDenied", view_id=shared, name="Windows")
    vic.refused("delete_saved_view", "permissionDenied", view_id=shared)
    assert [each["may_edit"] for each in views(vic)] == [False, True]
    vic.call("edit_saved_view", view_id=own["view_id"], name="Windows")
    vic.call("delete_saved_view", view_id=own["view_id"])
    assert names(vic) == ["Stuck"]


def test_two_views_that_one_sees_side_by_side_do_not_have_the_same_name(house: World):
    ann, ben = person(house, "ann"), person(house, "ben")
    asked = {"project_id": house.project_id, "name": "doors", "view": "list"}
    save(ann, "Doors")
    ann.refused("save_view", "conflict", **asked)
    save(ben, "Doors")
    shared = save(ann, "Stuck", everybody=True)
    ben.refused("save_view", "conflict", **{**asked, "name": "STUCK", "everybody": True})
    ann.call("edit_saved_view", view_id=shared["view_id"], name="stuck")  # its own name, written otherwise


def test_one_person_saves_no_more_than_fifty_views_of_a_project(house: World):
    for number in range(50):
        save(house.owner, f"View {number}")
    asked = {"project_id": house.project_id, "name": "One more", "view": "list"}
    house.owner.refused("save_view", "limitReached", **asked)
    save(person(house, "ann"), "One more")


def test_who_does_not_see_the_project_sees_no_view_of_it(house: World):
    shared = save(house.owner, "Stuck", everybody=True)["view_id"]
    house.owner.call("add_person", person_id="zoe", login="member", projects=[])
    zoe = person(house, "zoe")
    zoe.refused("show_saved_views", "projectNotFound", project_id=house.project_id)
    zoe.refused("save_view", "projectNotFound", project_id=house.project_id, name="Doors", view="board")
    zoe.refused("delete_saved_view", "validationError", view_id=shared)


def test_each_view_counts_the_open_tasks_that_match_or_those_in_the_statuses_that_it_names(house: World):
    first = house.task("w1", title="Oak door", priority="high", status="todo")
    house.task("w2", title="Pine door", status="todo")
    house.task(title="50%_off", status="backlog")
    house.move(house.task("w1", title="Broken door", status="todo"), "blocked", "no hinges")
    house.move(house.task("w1", title="Old door", status="todo"), "cancelled", "burnt")
    house.task(title="Part", parent_task_id=first, status="todo")
    told = {
        "everything": ("", 5),
        "doors": ("door", 3),
        "two words": ("door oak", 1),
        "its reason": ("hinges", 1),
        "signs": ("50%_o", 1),
        "no such sign": ("5_%", 0),
        "ada and nobody": ("assignee:w2,-", 3),
        "urgent": ("priority:high,critical", 1),
        "no queue": ("queue:paint", 0),
        "closed": ("status:cancelled,blocked door", 2),
        "nonsense": ("status:nonsense", 5),
    }
    for name, (q, _) in told.items():
        save(house.owner, name, q=q)
    save(house.owner, "tree", "graph", by=first, q="finished list")
    save(house.owner, "log", "audit", q="kind:task")
    expected: dict[str, int | None] = {name: count for name, (_, count) in told.items()}
    assert counts(house.owner) == {**expected, "tree": 2, "log": None}


def test_of_closed_tasks_only_those_that_were_closed_last_are_counted(house: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(saved_views, "MOST_CLOSED", 2)
    saved_views._counting.cache_clear()
    for number in range(3):
        house.move(house.task("w1", title=f"Old {number}", status="todo"), "cancelled", "burnt")
    save(house.owner, "closed", q="status:cancelled")
    assert counts(house.owner) == {"closed": 2}
    saved_views._counting.cache_clear()


def test_all_counts_of_a_project_are_one_statement(house: World):
    house.task("w1", title="Door", status="todo")
    ran = []
    for number in range(12):
        save(house.owner, f"View {number}", q=f"door status:todo,failed {number}")
        with house.statements() as now:
            views(house.owner)
        ran.append(len(now))
    assert ran == ran[:1] * 12


def test_who_looks_hears_of_views_for_everybody_and_of_no_name_of_anothers(house: World):
    ann, ben = person(house, "ann"), person(house, "ben")
    save(ann, "Secret plan")
    save(ann, "Stuck", everybody=True)
    heard = ben.call("read_events", kind="view.")["events"]
    assert [each["data"]["name"] for each in heard] == ["Stuck"]
    assert len(ann.call("read_events", kind="view.")["events"]) == 2
    everything = house.owner.call("read_events", kind="view.")["events"]
    assert "Secret plan" not in str(everything)
