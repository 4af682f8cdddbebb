"""Messages: a cursor that loses nothing and repeats nothing, who may write to whom, and what starts nobody."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.operations.talkers import begin, contents, converse, delegate, lose, stop, two
from tests.stories import Caller, Process, World
from toryo.domain.errors import Code
from toryo.settings import ChatSettings, Settings
from toryo.storage import schema
from toryo.storage.engine.database import Database

MESSAGES = int(os.environ.get("TORYO_TEST_MESSAGES", "250"))
"""How many each of several writers writes."""

LOST: list[Callable[[World, Process], None]] = [stop, lose]


def said(world: World, many: int) -> list[str]:
    """So many messages to `a` within one second, by two people in turn; answers what they say."""
    ann = world.person("ann")
    told = [f"number {number}" for number in range(many)]
    begun = world.now
    for number, content in enumerate(told):
        world.say("a", content, **({"as_person": ann} if number % 2 else {}))
    assert world.now - begun < 1000
    return told


# --- delivery is a cursor --------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F103")
@pytest.mark.parametrize("lost", LOST)
def test_twenty_five_messages_of_one_second_come_each_once_and_in_order_across_a_lost_session(
    pair: World, lost: Callable[[World, Process], None]
) -> None:
    told = said(pair, 25)
    first = pair.start_chat("a")
    got = first.fetch()["pending_messages"]
    assert [each["content"] for each in got] == told[:20]
    assert not any("redelivered" in each for each in got)
    lost(pair, first)
    second = pair.start_chat("a")
    again = second.fetch()["pending_messages"]
    assert [each["content"] for each in again] == told[:20]
    assert all(each["redelivered"] is True for each in again)
    rest = second.fetch()["pending_messages"]
    assert [each["content"] for each in rest] == told[20:]
    assert not any("redelivered" in each for each in rest)
    assert contents(second.fetch()) == []


@pytest.mark.pitfall("F103")
def test_two_processes_in_turn_get_every_message_once(pair: World) -> None:
    """The first one takes some and leaves; the next one goes on where it stopped."""
    told = said(pair, 25)
    got: list[str] = []
    while pair.why_chat("a").startswith("start"):
        process = pair.start_chat("a")
        got += contents(process.fetch())
        process.call("logout")
    assert got == told


def test_a_hand_out_is_confirmed_by_the_next_call_whatever_it_is(pair: World) -> None:
    pair.say("a", "hello")
    first = pair.start_chat("a")
    assert contents(first.fetch()) == ["hello"]
    first.refused("respond_chat", Code.MESSAGE_NOT_FOUND, message_id="msg_none", content="?")
    stop(pair, first)
    assert pair.why_chat("a") == "hold no_chat_work"
    pair.say("a", "again")
    assert contents(pair.start_chat("a").fetch()) == ["again"]


def test_the_cursor_goes_back_once_and_no_further(pair: World) -> None:
    pair.say("a", "hello")
    for _ in range(2):
        process = pair.start_chat("a")
        assert contents(process.fetch()) == ["hello"]
        stop(pair, process)
    assert pair.why_chat("a") == "hold no_chat_work"
    pair.say("a", "again")
    assert contents(pair.start_chat("a").fetch()) == ["again"]


def test_what_came_after_the_hand_out_follows_what_is_handed_out_again(pair: World) -> None:
    pair.say("a", "one")
    first = pair.start_chat("a")
    first.fetch()
    pair.say("a", "two")
    stop(pair, first)
    got = pair.start_chat("a").fetch()["pending_messages"]
    assert [(each["content"], each.get("redelivered", False)) for each in got] == [("one", True), ("two", False)]


def test_a_session_that_never_fetched_takes_nothing_along(pair: World) -> None:
    pair.say("a", "hello")
    stop(pair, pair.start_chat("a"))
    got = pair.start_chat("a").fetch()["pending_messages"]
    assert [(each["content"], "redelivered" in each) for each in got] == [("hello", False)]


@pytest.mark.pitfall("F103")
def test_a_message_stored_while_another_is_being_fetched_is_the_next_ones(pair: World) -> None:
    """Read and mark are one act: whatever the order, nothing falls between."""
    pair.say("a", "first")
    process = pair.start_chat("a")
    told = [f"m{number}" for number in range(20)]
    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(pair.say, "a", each) for each in told]
        got = contents(process.fetch()) + contents(process.fetch())
        for each in writing:
            each.result()
    while more := contents(process.fetch()):
        got += more
    assert sorted(got) == sorted(["first", *told])
    assert got == contents_in_order(pair)


def contents_in_order(world: World) -> list[str]:
    return [each["content"] for each in world.thread("a")]


def test_calls_at_once_of_one_session_get_every_message_once(pair: World) -> None:
    told = said(pair, 25)
    process = pair.start_chat("a")
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(process.fetch) for _ in range(8)]
        got = [content for answer in answers for content in contents(answer.result())]
    assert sorted(got) == sorted(told)


@pytest.mark.pitfall("F104")
def test_four_writers_with_hundreds_of_messages_each_lose_none(fresh: Database) -> None:
    world = World(fresh, Settings(chat=ChatSettings(messages_per_minute=5_000)), tick=0)
    two(world)
    people = [world.person(f"p{number}") for number in range(4)]
    each_writes = MESSAGES if world.dialect == "sqlite" else MESSAGES // 2  # over a wire they take ten times as long

    def write(person: str) -> None:
        for number in range(each_writes):
            world.say("a", f"{person} {number}", as_person=person)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, people))
    process = world.start_chat("a")
    got: dict[str, list[str]] = {each: [] for each in people}
    while page := process.fetch()["pending_messages"]:
        world.advance(1)
        for each in page:
            got[each["from_agent_id"]].append(each["content"])
    assert got == {person: [f"{person} {number}" for number in range(each_writes)] for person in people}
    place = list(schema.messages.columns.keys()).index("sequence")
    sequences = [row[place] for row in world.rows(schema.messages)["messages"]]
    assert len(set(sequences)) == 4 * each_writes


def test_at_most_twenty_messages_before_them_come_along_and_only_with_those_who_write_now(pair: World) -> None:
    ann = pair.person("ann")
    pair.say("a", "from ann", as_person=ann)
    for number in range(25):
        pair.say("a", f"old {number}")
    process = pair.start_chat("a")
    while contents(process.fetch()):
        pass
    pair.say("a", "new")
    got = process.fetch()
    assert contents(got) == ["new"]
    assert [context_message["content"] for context_message in got["context_messages"]] == [
        f"old {number}" for number in range(5, 25)
    ]


# --- what is a reason to run -----------------------------------------------------------------------------------------


@pytest.mark.pitfall("F27")
def test_a_message_that_was_delivered_and_needs_no_answer_starts_nobody(pair: World) -> None:
    pair.say("a", "For your information.")
    process = pair.start_chat("a")
    process.fetch()
    assert process.next()["reason"] == "user_closed_chat"
    coordinator = pair.coordinator()
    for _ in range(100):
        pair.advance(10)
        assert coordinator.claim(free_chat_slots=5)["start"] == []
    assert pair.why_chat("a") == "hold no_chat_work"


@pytest.mark.pitfall("F26", "F28")
def test_messages_of_the_system_start_nobody_and_are_delivered_to_no_agent(pair: World) -> None:
    """F26, F28: a hundred claims, no start."""
    pair.person("ann")
    pair.say("a", "Anybody there?", as_person="ann")
    pair.owner.call("deactivate_agent", agent_id="a")
    pair.advance(301)
    pair.housekeep()
    pair.owner.call("activate_agent", agent_id="a")
    process = pair.start_chat("a")
    got = process.fetch()
    assert contents(got) == ["Anybody there?"]
    assert [each["kind"] for each in pair.thread("a", as_person="ann")] == ["message", "system"]
    process.call("logout")
    coordinator = pair.coordinator()
    for _ in range(100):
        pair.advance(10)
        assert coordinator.claim(free_chat_slots=5)["start"] == []
    pair.say("a", "And now?", as_person="ann")
    got = pair.start_chat("a").fetch()
    assert contents(got) == ["And now?"]
    assert "system" not in {context_message["kind"] for context_message in got["context_messages"]}


def of_rest(world: World) -> str:
    world.say("a", "hello")
    return "a"


def of_a_person_named(world: World) -> str:
    world.say("a", "hello", as_person=world.person("ann"))
    return "a"


def of_an_invitation(world: World) -> str:
    world.say("a", "Talk to b.")
    begin(world.start_chat("a"), "b")
    return "b"


def of_a_turn(world: World) -> str:
    a, b, conversation = converse(world)
    stop(world, a)
    b.turn(conversation, "yes")
    return "a"


def of_an_answer_by_respond_chat(world: World) -> str:
    a, b, _ = converse(world)
    stop(world, a)
    b.call("respond_chat", target_agent_id="a", content="yes")
    return "a"


def of_a_delegation(world: World) -> str:
    world.task("a")
    delegate(world.start("a"))
    return "a"


def of_a_panel(world: World) -> str:
    world.open_chat("a")
    return "a"


@pytest.mark.pitfall("F31")
@pytest.mark.parametrize(
    "path",
    [
        of_rest, of_a_person_named, of_an_invitation, of_a_turn, of_an_answer_by_respond_chat, of_a_delegation,
        of_a_panel,
    ],
)  # fmt: skip
def test_storing_and_creating_the_work_are_one_act_on_every_path(pair: World, path: Callable[[World], str]) -> None:
    agent = path(pair)
    assert pair.why_chat(agent) == "start has_pending_purpose"
    launches = pair.coordinator().claim(free_slots=0, free_chat_slots=1)["start"]
    assert [(launch["agent_id"], launch["purpose"]) for launch in launches] == [(agent, "chat")]


@pytest.mark.pitfall("F31")
def test_a_message_wakes_a_claim_and_a_session_that_wait(pair: World) -> None:
    pair.hints.clear()
    pair.say("a", "hello")
    hinted = frozenset().union(*pair.hints)
    assert "work" in hinted
    process = pair.start_chat("a")
    process.fetch()
    pair.open_chat("a")
    later = pair.perform("get_next_action", {"timeout_seconds": 45}, process.credentials, may_wait=True).later
    assert later is not None
    pair.hints.clear()
    pair.say("a", "there?")
    assert later.topics & frozenset().union(*pair.hints)


# --- nobody came -----------------------------------------------------------------------------------------------------


def system(world: World, person: str = "owner") -> list[str]:
    return [each["content"] for each in world.thread("a", as_person=person) if each["kind"] == "system"]


def test_a_writer_is_told_once_that_nobody_came_and_the_message_stays(pair: World) -> None:
    pair.say("a", "one")
    pair.say("a", "two")
    pair.advance(299)
    pair.housekeep()
    assert system(pair) == []
    for _ in range(5):
        pair.advance(60)
        pair.housekeep()
    (told,) = system(pair)
    assert "a has not read" in told
    assert contents(pair.start_chat("a").fetch()) == ["one", "two"]


def test_nobody_is_told_once_a_session_has_signed_in(pair: World) -> None:
    pair.say("a", "hello")
    pair.advance(200)
    pair.start_chat("a")
    pair.advance(200)
    pair.housekeep()
    assert system(pair) == []


def test_each_writer_is_told_for_themselves(pair: World) -> None:
    ann = pair.person("ann")
    pair.say("a", "one")
    pair.advance(200)
    pair.say("a", "two", as_person=ann)
    pair.advance(150)
    pair.housekeep()
    assert (len(system(pair)), len(system(pair, ann))) == (1, 0)
    pair.advance(150)
    pair.housekeep()
    assert (len(system(pair)), len(system(pair, ann))) == (1, 1)


# --- who may write to whom -------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F106")
def test_members_ancestors_and_descendants_may_write_and_nobody_else(world: World) -> None:
    """F106: the matrix. `top` is above `mid`, `mid` above `w`; only `w` and `peer` are members of the project."""
    world.project()
    top = world.member("top")
    stranger = world.member("stranger")
    world.agent("mid", "manager", "top", kind="human", provider=None, projects=[])
    world.worker("w", "mid")
    world.worker("peer")
    peer = world.person("ann")
    world.owner.call("add_member", project_id=world.project_id, agent_id="stranger")
    ask = {"project_id": world.project_id, "agent_id": "w", "content": "hello"}
    stranger.call("send_chat_message", **ask)  # a member
    world.owner.call("remove_member", project_id=world.project_id, agent_id="stranger")
    assert stranger.ask("send_chat_message", **ask).refused
    world.owner.call("send_chat_message", **ask, as_person=peer)
    world.owner.call("send_chat_message", **ask, as_person="mid")
    world.owner.call("send_chat_message", **ask, as_person="top")
    refusal = world.owner.refused(
        "send_chat_message", Code.PERMISSION_DENIED, **{**ask, "agent_id": "peer"}, as_person="mid"
    )
    assert "is not a member" in refusal["message"]
    assert top.ask("send_chat_message", **{**ask, "agent_id": "top"}).refused  # oneself


@pytest.mark.pitfall("F106")
def test_a_thread_shows_what_two_have_said_and_nothing_of_a_third(pair: World) -> None:
    ann = pair.person("ann")
    pair.say("a", "between us", as_person=ann)
    pair.say("a", "from the owner")
    assert [each["content"] for each in pair.thread("a")] == ["from the owner"]
    assert [each["content"] for each in pair.thread("a", as_person=ann)] == ["between us"]


def reading(person: Caller, world: World, one: str, other: str) -> list[str]:
    read = person.call("read_chat", project_id=world.project_id, agent_id=one, with_agent_id=other)
    assert read["observing"] is True
    return [message["content"] for message in read["messages"]]


@pytest.mark.pitfall("F106")
def test_whoever_stands_above_reads_what_their_agents_say_marked_as_such_and_others_do_not(world: World) -> None:
    world.project(decomposition="never")
    above, aside = world.member("above"), world.member("aside")
    for each in ("above", "aside"):
        world.owner.call("add_member", project_id=world.project_id, agent_id=each)
    world.worker("a", "above")
    world.worker("b")
    world.say("a", "go")
    begin(world.start_chat("a"), "b", initial_message="secret")
    assert reading(above, world, "a", "b") == ["secret"]
    asked = {"project_id": world.project_id, "agent_id": "a", "with_agent_id": "b"}
    aside.refused("read_chat", Code.PERMISSION_DENIED, **asked)
    aside.refused("read_chat", Code.PERMISSION_DENIED, **{**asked, "with_agent_id": "owner"})
    assert aside.call("list_chats", project_id=world.project_id, of_agent_id="a")["chats"] == []
    chats = above.call("list_chats", project_id=world.project_id, of_agent_id="a")["chats"]
    assert {(chat["agent_id"], chat["observing"]) for chat in chats} == {("b", True), ("owner", True)}


@pytest.mark.pitfall("F105")
def test_an_agent_answers_whoever_wrote(pair: World) -> None:
    """F105: each reply goes to its writer, and says who wrote."""
    ann = pair.person("ann")
    pair.say("a", "I am the owner")
    pair.say("a", "I am Ann", as_person=ann)
    process = pair.start_chat("a")
    got = process.fetch()["pending_messages"]
    assert [(each["from_agent_id"], each["from_kind"]) for each in got] == [("owner", "human"), ("ann", "human")]
    for each in got:
        process.call("respond_chat", message_id=each["message_id"], content=f"Hello {each['from_agent_id']}")
    assert pair.thread("a")[-1]["content"] == "Hello owner"
    assert pair.thread("a", as_person=ann)[-1]["content"] == "Hello ann"
    assert pair.thread("a")[-1]["to_agent_id"] == "owner"


def test_an_answer_names_a_message_that_this_agent_was_sent(pair: World) -> None:
    pair.say("a", "hello")
    foreign = pair.say("b", "hello")
    process = pair.start_chat("a")
    process.refused("respond_chat", Code.MESSAGE_NOT_FOUND, message_id=foreign, content="?")
    process.refused("respond_chat", Code.VALIDATION_ERROR, content="?")


def test_a_message_has_one_to_four_thousand_characters(pair: World) -> None:
    pair.say("a", "x" * 4_000)
    asked = {"project_id": pair.project_id, "agent_id": "a"}
    for content in ("", "  \n", "x" * 4_001):
        assert pair.owner.ask("send_chat_message", **asked, content=content).refused
    assert len(pair.thread("a")) == 1


@pytest.mark.pitfall("F101")
def test_agents_do_not_answer_agents_without_a_conversation_and_may_message_people(pair: World) -> None:
    """F101."""
    pair.say("a", "hello")
    process = pair.start_chat("a")
    refusal = process.refused("respond_chat", Code.CONVERSATION_REQUIRED, target_agent_id="b", content="psst")
    assert "start_conversation" in refusal["instruction"]
    assert pair.why_chat("b") == "hold no_chat_work"
    sent = process.call("send_message", target_agent_id="owner", content="to you")
    assert sent["to_agent_id"] == "owner"
    assert pair.thread("a")[-1]["content"] == "to you"


CHAT_TOOLS = {
    "get_pending_messages": {},
    "respond_chat": {"target_agent_id": "b", "content": "x"},
    "send_message": {"target_agent_id": "b", "content": "x"},
    "start_conversation": {"target_agent_id": "b", "initial_message": "x"},
    "send_conversation_message": {"conversation_id": "c", "content": "x"},
    "respond_conversation_message": {"conversation_id": "c", "content": "x"},
    "end_conversation": {"conversation_id": "c"},
    "report_delegation_completed": {"delegation_id": "d", "result": "x"},
    "notify_task_session": {"message": "x"},
}


def test_a_hand_out_has_everything_that_the_specification_lists(pair: World) -> None:
    """messaging.md 2."""
    pair.say("a", "hello")
    pair.task("a")
    delegate(pair.start("a"))
    a = pair.start_chat("a")
    got = a.fetch()
    assert {"message_id", "from_agent_id", "from_name", "content", "conversation_id", "created_at"} <= set(
        got["pending_messages"][0]
    )
    assert {"delegation_id", "target_agent_id", "purpose", "context", "task_id"} <= set(got["pending_delegations"][0])
    conversation = begin(a, "b")
    b = pair.start_chat("b")
    got = b.fetch()
    assert {"conversation_id", "from_agent_id", "purpose"} <= set(got["invitations"][0])
    assert {"conversation_id", "with_agent_id", "purpose", "your_turn", "turns", "max_turns"} <= set(
        got["conversations"][0]
    )
    a.call("end_conversation", conversation_id=conversation)
    got = b.fetch()
    assert {"conversation_id", "ended_by", "reason"} <= set(got["ended_conversations"][0])
    assert got["instruction"]


@pytest.mark.pitfall("F96")
@pytest.mark.parametrize("name", CHAT_TOOLS)
def test_a_task_session_is_told_to_delegate_what_it_wants_said(pair: World, name: str) -> None:
    pair.task("a")
    refusal = pair.start("a").refused(name, Code.CHAT_SESSION_REQUIRED, **CHAT_TOOLS[name])
    assert "delegate_to_chat_session" in refusal["instruction"]


# --- how many --------------------------------------------------------------------------------------------------------


def test_the_thirty_first_message_of_a_minute_is_not_stored(pair: World) -> None:
    for number in range(30):
        pair.say("a", f"{number}")
    asked = {"project_id": pair.project_id, "agent_id": "a", "content": "one more"}
    refusal = pair.owner.refused("send_chat_message", Code.RATE_LIMITED, **asked)
    assert 0 < refusal["retry_after"] <= 60
    assert len(pair.thread("a")) == 30
    pair.say("b", "another receiver")
    pair.say("a", "another sender", as_person=pair.person("ann"))
    pair.advance(refusal["retry_after"])
    pair.say("a", "one more")


def test_an_agent_that_floods_a_person_is_held_to_the_same_rate(pair: World) -> None:
    pair.open_chat("a")
    process = pair.start_chat("a")
    for number in range(30):
        process.call("send_message", target_agent_id="owner", content=f"{number}")
    process.refused("send_message", Code.RATE_LIMITED, target_agent_id="owner", content="one more")
    assert len(pair.thread("a")) == 30


# --- what people have not seen ---------------------------------------------------------------------------------------


def unread(world: World) -> int:
    (found,) = world.owner.call("list_chats", project_id=world.project_id)["chats"]
    count: int = found["unread"]
    return count


@pytest.mark.pitfall("F27")
def test_what_no_open_thread_has_shown_is_unread_whether_or_not_it_is_answered(pair: World) -> None:
    pair.say("a", "hello")
    process = pair.start_chat("a")
    process.fetch()
    for number in range(3):
        process.call("send_message", target_agent_id="owner", content=f"{number}")
    assert unread(pair) == 3
    pair.say("a", "I answer without looking")
    assert unread(pair) == 3
    shown = pair.thread("a")
    pair.open_chat("a", seen=shown[-2]["sequence"])
    assert unread(pair) == 0
    process.call("send_message", target_agent_id="owner", content="more")
    assert unread(pair) == 1
