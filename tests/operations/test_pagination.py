"""Lists page by page: everything once and in order, whatever changes meanwhile; and a cursor is only a cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.stories import Answer, Caller, World
from toryo.domain.times import iso
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.calls.pagination import Paged

pytestmark = [pytest.mark.both, pytest.mark.crew(workers=5)]


def pages(world: World, name: str, key: str, limit: int, **asked: Any) -> list[list[Answer]]:
    """Every page of a list, the first with all that follow it."""
    found: list[list[Answer]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = world.owner.call(name, limit=limit, **asked, **cursor)
        found.append(answer[key])
        if "next_cursor" not in answer:
            return found
        cursor = {"cursor": answer["next_cursor"]}


def tasks(world: World) -> None:
    for number in range(7):
        world.task(None, status="todo", title=f"T{number}", priority=["low", "medium", "high"][number % 3])


def launches(world: World) -> None:
    for number in range(1, 6):
        world.task(f"w{number}")
        world.start(f"w{number}").report()


def keys(world: World) -> None:
    for _ in range(5):
        world.owner.call("make_api_key", project_id=world.project_id)


def chats(world: World) -> None:
    for number in range(1, 6):
        world.say(f"w{number}", "Hello")


def people(world: World) -> None:
    for number in range(5):
        world.owner.call("add_person", person_id=f"p{number}", login="viewer")


def tokens(world: World) -> None:
    for number in range(5):
        world.owner.call("make_access_token", name=f"T{number}")


def browsers(world: World) -> None:
    for _ in range(5):
        code = world.owner.call("make_sign_in_link")["code"]
        Caller(world, None).call("sign_in", code=code)


def queue_agents(world: World) -> None:
    for number in range(5):
        made = world.owner.call("make_api_key", project_id=world.project_id, agent_id=f"q{number}", orchestrator=True)
        Caller(world, made["token"]).call("register_agent", agent_id=f"q{number}", agent_type="sums")


def dead_letters(world: World) -> None:
    """Two of them at one instant: the cursor tells even those apart."""
    made = world.owner.call("make_api_key", project_id=world.project_id, agent_id="q", orchestrator=True)
    chief = Caller(world, made["token"])
    chief.call("register_agent", agent_id="q", agent_type="sums")
    for number in range(5):
        chief.call("create_task", agent_type="sums", task_description=f"Add up {number}", max_attempts=1)
        ((got,)) = chief.call("poll_tasks", agent_id="q")["result"]
        chief.call("submit_result", task_id=got["task_id"], status="failed", error="cannot")
        world.advance(number % 2)


def values(world: World) -> None:
    made = world.owner.call("make_api_key", project_id=world.project_id, agent_id="q", orchestrator=True)
    for number in range(5):
        Caller(world, made["token"]).call("set_shared_state", key=f"k{number}", value=number)


def questions(world: World) -> None:
    """Two of them at one instant."""
    world.task("w1")
    worker = world.start("w1")
    for number in range(5):
        worker.call("ask_person", question=f"Number {number}?")
        world.advance(number % 2)


def nothing(_: World) -> None:
    pass


LISTS: list[tuple[str, str, Callable[[World], None], bool]] = [
    ("list_project_tasks", "tasks", tasks, True),
    ("list_launches", "launches", launches, False),
    ("list_api_keys", "keys", keys, True),
    ("list_chats", "chats", chats, True),
    ("list_agents_of_server", "agents", nothing, False),
    ("list_members", "agents", nothing, True),
    ("list_people", "people", people, False),
    ("list_access_tokens", "access_tokens", tokens, False),
    ("list_sign_ins", "sign_ins", browsers, False),
    ("list_queue_agents", "agents", queue_agents, True),
    ("list_dead_letters", "tasks", dead_letters, True),
    ("list_shared_state", "entries", values, True),
    ("list_questions", "questions", questions, True),
]


@pytest.mark.parametrize(("name", "key", "fill", "of_project"), LISTS, ids=[each[0] for each in LISTS])
@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_the_pages_together_are_the_whole_list(
    crew: World, name: str, key: str, fill: Callable[[World], None], of_project: bool, limit: int
):
    fill(crew)
    asked = {"project_id": crew.project_id} if of_project else {}
    whole = crew.owner.call(name, **asked)[key]
    assert len(whole) >= 5
    found = pages(crew, name, key, limit, **asked)
    assert [each for page in found for each in page] == whole
    assert all(len(page) <= limit for page in found)


def test_every_list_that_grows_has_pages():
    lists = [operation for operation in catalogue().values() if operation.route and operation.name.startswith("list_")]
    assert len(lists) > 12
    assert [operation.name for operation in lists if not issubclass(operation.parameters, Paged)] == []
    assert [operation.name for operation in lists if "next_cursor" not in operation.output_schema["properties"]] == []


def test_what_comes_and_goes_between_two_pages_shows_nothing_twice_and_hides_nothing(crew: World):
    made = [crew.task(None, status="todo", title=f"T{number}") for number in range(6)]
    first = crew.owner.call("list_project_tasks", project_id=crew.project_id, limit=3, status="todo")
    crew.task(None, status="todo", title="first of all", priority="critical")
    crew.move(made[2], "cancelled", "the last one that was shown")
    crew.move(made[4], "cancelled", "one that was not")
    again = {"project_id": crew.project_id, "limit": 10, "status": "todo", "cursor": first["next_cursor"]}
    rest = crew.owner.call("list_project_tasks", **again)["tasks"]
    assert [each["task_id"] for each in rest] == [made[3], made[5]]


@pytest.mark.parametrize("cursor", ["x", "!!!", "bnVsbA", "W10", "WzEsMl0", "é", "0" * 400])
def test_what_is_no_cursor_of_this_list_is_refused_with_words(crew: World, cursor: str):
    for name, asked in (("list_project_tasks", {"project_id": crew.project_id}), ("list_launches", {})):
        refusal = crew.owner.refused(name, "validationError", cursor=cursor, **asked)
        assert "next_cursor" in refusal["instruction"]


def test_a_cursor_of_another_list_is_refused(crew: World):
    tasks(crew)
    cursor = crew.owner.call("list_project_tasks", project_id=crew.project_id, limit=1)["next_cursor"]
    crew.owner.refused("list_launches", "validationError", cursor=cursor)


def test_launches_are_listed_by_the_time_in_which_they_lived(crew: World):
    crew.task("w1")
    crew.start("w1").report()
    crew.advance(3600)
    middle = iso(crew.now)
    crew.advance(60)
    crew.task("w2")
    crew.start("w2")
    crew.advance(3600)
    assert [launch["agent_id"] for launch in crew.launches(since=middle)] == ["w2"]
    assert [launch["agent_id"] for launch in crew.launches(until=middle)] == ["w1"]
    assert [launch["agent_id"] for launch in crew.launches(since=iso(crew.now))] == ["w2"]
    assert crew.launches(since=iso(crew.now), until=middle) == []


def test_a_member_lists_the_launches_of_their_own_projects_only(crew: World):
    launches(crew)
    zoe = crew.member("zoe")
    assert zoe.call("list_launches")["launches"] == []
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="zoe")
    assert len(zoe.call("list_launches")["launches"]) == 5
