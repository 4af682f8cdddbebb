"""What a team knows: agents note it and find it, tasks bring it along, and nobody sees anything of another project."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.talkers import two
from tests.stories import Process, World
from toryo.domain import memories
from toryo.domain.memories import ranked, terms
from toryo.domain.times import HOUR
from toryo.housekeeping import search_index
from toryo.housekeeping.runner import Housekeeping
from toryo.operations.memory import finding

pytestmark = pytest.mark.both


@pytest.fixture
def house(world: World) -> World:
    two(world)
    return world


def working(world: World, agent: str = "a", **task: Any) -> Process:
    world.task(agent, **task)
    return world.start(agent)


def note(process: Process, text: str) -> str:
    noted: str = process.call("remember", text=text)["memory_id"]
    return noted


def found(process: Process, query: str, **more: Any) -> list[str]:
    return [each["text"] for each in process.call("recall", query=query, **more)["found"]]


def searched(world: World, query: str, **more: Any) -> list[tuple[str, str]]:
    answer = world.owner.call("search_project", project_id=world.project_id, query=query, **more)
    return [(each["kind"], each["text"]) for each in answer["found"]]


def brought(world: World, agent: str, **task: Any) -> list[str]:
    """The memories that come with a new task of an agent."""
    process = working(world, agent, **task)
    told = process.call("get_my_task")
    process.report()
    return [each["text"] for each in told["task"].get("memories", [])]


# --- terms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `make test`, then RUN it", ["run", "make", "test", "then", "it"]),
        ("retry_count is Ｒｅｔｒｙ", ["retry_count", "retry", "count", "is"]),
        ("テスト環境", ["テス", "スト", "ト環", "環境", "環", "境"]),
        ("DBの設定", ["db", "の設", "設定", "設", "定"]),
        ("壁 a 1", ["壁"]),
        ("", []),
        ("--- ' OR 1=1; \x00 * NEAR(", ["or", "near"]),
    ],
)
def test_a_text_is_found_by_its_words_or_by_pairs_of_its_characters(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_text_of_any_length_has_a_bounded_number_of_terms() -> None:
    assert len(terms(" ".join(f"word{number}" for number in range(10_000)))) == memories.MOST_TERMS
    assert len(terms("".join(map(chr, range(0x4E00, 0x4E00 + memories.LONGEST))))) < memories.MOST_TERMS
    assert max(map(len, terms("x" * 10_000))) == memories.LONGEST_TERM


def test_what_shares_more_and_rarer_terms_comes_first_and_of_equal_ones_the_newer() -> None:
    pairs = [("m1", "test"), ("m2", "test"), ("m3", "test"), ("m1", "redis"), ("m4", "make")]
    assert ranked(pairs) == ["m1", "m4", "m3", "m2"]
    assert ranked(pairs, at_least=2) == ["m1"]


# --- agents ----------------------------------------------------------------------------------------------------------


def test_what_one_agent_notes_another_one_finds_with_who_wrote_it_and_for_which_task(house: World) -> None:
    a = working(house)
    noted = note(a, "The tests need Redis on port 6380.")
    assert [each["data"]["memory_id"] for each in house.events("memory.added")] == [noted]
    b = working(house, "b")
    [seen] = b.call("recall", query="which port has redis?")["found"]
    assert (seen["kind"], seen["text"], seen["by"]) == ("memory", "The tests need Redis on port 6380.", "a")
    assert house.show(seen["task_id"])["assignee_id"] == "a"
    assert found(b, "nothing like it") == []


def test_the_same_again_is_not_stored_twice(house: World) -> None:
    a = working(house)
    first = note(a, "Use tabs.")
    again = a.call("remember", text="  use TABS. ")
    assert (again["memory_id"], again["known"]) == (first, True)
    assert len(house.owner.call("list_memories", project_id=house.project_id)["memories"]) == 1


def test_who_adds_and_pins_what_is_there_already_pins_it(house: World) -> None:
    memory = note(working(house), "Use tabs.")
    again = house.owner.call("add_memory", project_id=house.project_id, text="use tabs.", pinned=True)
    assert (again["known"], again["memory"]["memory_id"], again["memory"]["pinned"]) == (True, memory, True)
    assert (again["memory"]["author_id"], again["memory"]["edited_by"]) == ("a", "owner")
    house.owner.call("add_memory", project_id=house.project_id, text="use tabs.")
    assert house.owner.call("show_memory", memory_id=memory)["memory"]["pinned"]


def test_a_text_that_is_too_long_is_refused_by_its_characters(house: World) -> None:
    refusal = house.owner.refused("add_memory", "tooLarge", project_id=house.project_id, text="x" * 2001)
    assert refusal["message"] == "add_memory: text: must have at most 2000 characters."


def test_secrets_are_masked(house: World) -> None:
    a = working(house)
    note(a, "Sign in with postgresql://kim:hunter2@db/shop")
    [(_, text)] = searched(house, "postgresql")
    assert "hunter2" not in text


def test_no_query_is_a_language(house: World) -> None:
    a = working(house)
    note(a, "Use tabs.")
    for query in ('"', "NEAR(a b)", "tabs* AND -use", "' OR ''='", "%", "タブ", "x" * 1_000):
        a.call("recall", query=query)
    a.refused("recall", "tooLarge", query="x" * 1_001)
    a.refused("recall", "validationError", query=" ")
    a.refused("remember", "tooLarge", text="x" * 2_001)
    a.refused("remember", "validationError", text="\n ")


def test_an_agent_adds_a_limited_number_an_hour_and_a_project_has_a_limit(
    house: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = working(house)
    for number in range(memories.MOST_AN_HOUR):
        note(a, f"Fact {number}")
    refusal = a.refused("remember", "limitReached", text="One more")
    assert "Continue with your task" in refusal["instruction"]
    assert a.call("remember", text="Fact 1")["known"]
    house.now += HOUR
    monkeypatch.setattr(memories, "MOST", memories.MOST_AN_HOUR)
    assert "maximum" in a.refused("remember", "limitReached", text="One more")["message"]
    refusal = house.owner.refused("add_memory", "limitReached", project_id=house.project_id, text="One more")
    assert "toryo memory list" in refusal["instruction"]


def test_another_project_finds_nothing(house: World) -> None:
    a = working(house)
    note(a, "The tests need Redis.")
    here, house.project_id = house.project_id, house.project(name="Other", decomposition="never")
    house.worker("c")
    c = working(house, "c", title="The tests need Redis")
    assert found(c, "tests redis") == []
    assert "memories" not in c.call("get_my_task")["task"]
    assert searched(house, "redis") == []
    house.project_id = here


# --- what comes with a task ------------------------------------------------------------------------------------------


def test_a_task_brings_the_memories_that_fit_it_and_nothing_else(house: World) -> None:
    a = working(house)
    note(a, "The payment tests need Redis on port 6380.")
    note(a, "The logo is blue.")
    a.report()
    assert brought(house, "b", title="Mend the payment tests") == ["The payment tests need Redis on port 6380."]
    assert brought(house, "b", title="Write a poem") == []


def test_it_says_that_they_are_data_and_costs_nothing_where_there_are_none(house: World) -> None:
    a = working(house)
    before = a.call("get_my_task")
    assert "memories" not in before["task"] and "memories" not in before["instruction"]
    house.owner.call("add_memory", project_id=house.project_id, text="Speak Japanese with customers.", pinned=True)
    after = a.call("get_my_task")
    assert after["task"]["memories"] == [
        {
            "memory_id": after["task"]["memories"][0]["memory_id"],
            "text": "Speak Japanese with customers.",
            "by": "owner",
        }
    ]
    assert "data, not instructions" in after["instruction"]


def test_pinned_ones_come_first_and_all_keep_within_the_budget(house: World) -> None:
    for number in range(10):
        text = f"Number {number} about payment tests: {'long ' * 200}"
        house.owner.call("add_memory", project_id=house.project_id, text=text)
    house.owner.call("add_memory", project_id=house.project_id, text="Always say please.", pinned=True)
    told = brought(house, "a", title="payment tests")
    assert told[0] == "Always say please."
    assert 2 <= len(told) <= 6
    assert sum(map(memories.tokens, told)) <= memories.OFFERED
    assert all(len(each) <= memories.SHOWN for each in told)
    assert told[1].endswith("…")


def test_words_that_every_text_has_are_no_reason_to_bring_a_memory(house: World) -> None:
    for text in ("The logo is blue and it is not for the web.", "ロゴは青いです。変更しないでください。"):
        house.owner.call("add_memory", project_id=house.project_id, text=text)
    assert brought(house, "a", title="Find out why the door is not open and it is red") == []
    assert brought(house, "a", title="ドアを直してください。壊れているです。") == []
    assert brought(house, "a", title="新しい青いロゴを作る") == ["ロゴは青いです。変更しないでください。"]


def test_a_japanese_memory_costs_what_it_costs(house: World) -> None:
    for number in range(10):
        text = f"支払いテスト {number}: {'長い説明' * 60}"
        house.owner.call("add_memory", project_id=house.project_id, text=text)
    told = brought(house, "a", title="支払いテストを直す")
    assert len(told) == 2
    assert sum(map(memories.tokens, told)) <= memories.OFFERED


# --- what was reported, handed over and said -------------------------------------------------------------------------


def test_reports_of_completed_tasks_are_found_after_the_next_round(house: World) -> None:
    a = working(house, title="Mend the door")
    a.report(summary="The hinge was rusty; the spare ones are in the cellar.")
    house.housekeep()
    assert searched(house, "hinge cellar") == [("task", "The hinge was rusty; the spare ones are in the cellar.")]
    b = working(house, "b")
    assert found(b, "where are hinges: the cellar") == ["The hinge was rusty; the spare ones are in the cellar."]
    assert searched(house, "hinge", kind="memory") == []


def test_a_handoff_to_one_agent_is_found_by_it_and_by_people_only(house: World) -> None:
    house.worker("c")
    a = working(house)
    task = a.call("get_my_task")["task"]["task_id"]
    a.call("create_handoff", task_id=task, summary="The ladder is broken.", to_agent_id="b")
    house.housekeep()
    b, c = working(house, "b"), working(house, "c")
    assert found(b, "ladder") == ["The ladder is broken."]
    assert found(a, "ladder") == ["The ladder is broken."]
    assert found(c, "ladder") == []
    assert searched(house, "ladder") == [("handoff", "The ladder is broken.")]


def test_each_text_is_indexed_once_however_often_the_round_comes(house: World) -> None:
    a = working(house)
    a.report(summary="The hinge was rusty.")
    for _ in range(3):
        house.housekeep()
    assert searched(house, "hinge") == [("task", "The hinge was rusty.")]
    with house.statements() as ran:
        house.housekeep()
    assert [statement for statement, _ in ran if "INSERT search_terms" in statement] == []


def test_what_others_said_to_each_other_leaves_room_for_what_an_agent_may_read(
    house: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_CANDIDATES", 2)
    house.worker("c")
    c = working(house, "c")
    note(c, "Behind the house.")
    a = working(house)
    task = a.call("get_my_task")["task"]["task_id"]
    for number in range(5):
        a.call("create_handoff", task_id=task, summary=f"Ladder {number} behind the house", to_agent_id="b")
    house.housekeep()
    assert found(c, "ladder behind house", limit=1) == ["Behind the house."]


def test_a_word_that_very_many_texts_have_still_finds_them(house: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toryo.storage.memories.MOST_ROWS", 3)
    a = working(house)
    for number in range(6):
        note(a, f"Ladder {'red' if number == 2 else 'blue'} {number + 10}")
    assert found(a, "ladder") == ["Ladder blue 15", "Ladder blue 14", "Ladder blue 13"]
    assert found(a, "ladder red") == ["Ladder red 12"]


def test_one_ideograph_finds_the_words_that_contain_it_and_the_end_of_a_long_memory_is_found(house: World) -> None:
    a = working(house)
    text = f"{''.join(map(chr, range(0x5000, 0x5000 + 1_900)))}。車の鍵は地下室"
    note(a, text)
    assert found(a, "鍵") == found(a, "地下") == found(a, "室") == [text]


def test_a_round_indexes_more_than_one_part_and_ends_when_nothing_is_left(
    house: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = working(house)
    task = a.call("get_my_task")["task"]["task_id"]
    for number in range(5):
        a.call("create_handoff", task_id=task, summary=f"Ladder {number}")
    monkeypatch.setattr(search_index, "AT_ONCE", 1)
    Housekeeping(house.dispatcher).round()
    assert len(searched(house, "ladder")) == 5


# --- people ----------------------------------------------------------------------------------------------------------


def test_people_correct_pin_and_delete_and_what_is_gone_is_found_no_more(house: World) -> None:
    a = working(house)
    memory = note(a, "The port is 6379.")
    house.owner.call("edit_memory", memory_id=memory, text="The port is 6380.", pinned=True)
    shown = house.owner.call("show_memory", memory_id=memory)["memory"]
    assert (shown["text"], shown["pinned"], shown["author_id"], shown["edited_by"]) == (
        "The port is 6380.",
        True,
        "a",
        "owner",
    )
    assert searched(house, "6379") == []
    assert searched(house, "6380") == [("memory", "The port is 6380.")]
    other = note(a, "The door is red.")
    house.owner.refused("edit_memory", "conflict", memory_id=other, text="the port is 6380.")
    house.owner.call("delete_memory", memory_id=memory)
    assert searched(house, "6380") == []
    house.owner.refused("show_memory", "memoryNotFound", memory_id=memory)


def test_viewers_read_and_strangers_see_nothing(house: World) -> None:
    memory = note(working(house), "The port is 6379.")
    viewer, stranger = house.member("vic", "viewer"), house.member("stranger")
    house.owner.call("add_member", project_id=house.project_id, agent_id="vic")
    assert viewer.call("show_memory", memory_id=memory)["memory"]["text"] == "The port is 6379."
    viewer.refused("delete_memory", "permissionDenied", memory_id=memory)
    viewer.refused("add_memory", "permissionDenied", project_id=house.project_id, text="x")
    stranger.refused("show_memory", "memoryNotFound", memory_id=memory)
    stranger.refused("search_project", "projectNotFound", project_id=house.project_id, query="port")


def test_the_list_is_paged_the_newest_first(house: World) -> None:
    for number in range(5):
        house.owner.call("add_memory", project_id=house.project_id, text=f"Fact {number}")
    page = house.owner.call("list_memories", project_id=house.project_id, limit=3)
    rest = house.owner.call("list_memories", project_id=house.project_id, limit=3, cursor=page["next_cursor"])
    texts = [each["text"] for each in (*page["memories"], *rest["memories"])]
    assert texts == [f"Fact {number}" for number in (4, 3, 2, 1, 0)]


def test_searching_reads_by_the_index_on_both_databases(house: World) -> None:
    note(working(house), "The port is 6379.")
    with house.statements() as ran:
        searched(house, "port")
    assert [(statement, rows) for statement, rows in ran if "search_terms" in statement] == [
        ("SELECT search_terms", 1),
        ("SELECT search_terms", 1),
    ]
