"""Conversations: from the invitation to both sides being told of the end, turn by turn, within their limits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.operations.talkers import begin, contents, converse, delegate, lose, state, stop, waits
from tests.stories import Answer, Process, World
from toryo.domain.errors import Code


def chats(world: World, *agents: str) -> list[Process]:
    """These agents' chats are open, and their processes have come."""
    for agent in agents:
        world.open_chat(agent)
    return [world.start_chat(agent) for agent in agents]


def keep_open(world: World, agent: str) -> None:
    """A person's panel that is heard of."""
    world.open_chat(agent)


def ended(answer: Answer) -> list[tuple[str, str]]:
    """The endings of a hand-out, with their reasons."""
    return [(conversation["conversation_id"], conversation["reason"]) for conversation in answer["ended_conversations"]]


# --- beginning -------------------------------------------------------------------------------------------------------


def test_an_invitation_is_pending_until_the_invited_side_fetches_it(pair: World) -> None:
    (a,) = chats(pair, "a")
    conversation = begin(a, "b", purpose="colours", initial_message="Red?")
    assert state(pair, conversation)["state"] == "pending"
    b = pair.start_chat("b")
    got = b.fetch()
    assert [
        (invitation["conversation_id"], invitation["from_agent_id"], invitation["purpose"])
        for invitation in got["invitations"]
    ] == [(conversation, "a", "colours")]
    assert contents(got) == ["Red?"]
    assert [each["your_turn"] for each in got["conversations"]] == [True]
    assert state(pair, conversation)["state"] == "active"


def test_the_open_ones_are_listed_every_time_and_turns_are_told(pair: World) -> None:
    a, b, conversation = converse(pair)
    for process, turn in ((a, False), (b, True), (b, True)):
        (shown,) = process.fetch()["conversations"]
        assert (shown["conversation_id"], shown["your_turn"]) == (conversation, turn)
        assert (shown["turns"], shown["max_turns"]) == (1, 20)
    assert [context_message["content"] for context_message in b.fetch()["context_messages"]] == ["Shall we talk?"]


@pytest.mark.pitfall("F100")
def test_a_second_one_is_the_first_and_what_it_begins_with_is_not_sent(pair: World) -> None:
    """Also in the other direction: one open conversation per unordered pair."""
    a, b, conversation = converse(pair)
    for process, target in ((a, "b"), (b, "a")):
        again = process.call("start_conversation", target_agent_id=target, initial_message="Anew?")
        assert (again["conversation_id"], again["created"]) == (conversation, False)
    said = pair.owner.call("show_conversation", conversation_id=conversation)["messages"]
    assert [each["content"] for each in said] == ["Shall we talk?"]


def test_six_are_begun_by_a_pair_in_an_hour_and_the_seventh_is_refused(pair: World) -> None:
    a, b = chats(pair, "a", "b")
    for number in range(6):
        process, target = ((a, "b"), (b, "a"))[number % 2]
        process.call("end_conversation", conversation_id=begin(process, target))
    a.refused("start_conversation", Code.RATE_LIMITED, target_agent_id="b", initial_message="Again?")
    pair.worker("c")
    begin(a, "c")
    pair.advance(3600)
    (a,) = chats(pair, "a")
    begin(a, "b")


def test_whom_one_may_not_talk_with(pair: World) -> None:
    pair.owner.call("create_agent", id="stranger", role="worker", provider="claude", projects=[])
    (a,) = chats(pair, "a")
    for target, code in (
        ("a", Code.VALIDATION_ERROR),
        ("stranger", Code.AGENT_NOT_FOUND),
        ("nobody", Code.AGENT_NOT_FOUND),
        ("owner", Code.VALIDATION_ERROR),
    ):
        a.refused("start_conversation", code, target_agent_id=target, initial_message="Hello?")
    assert pair.owner.call("list_conversations", project_id=pair.project_id)["conversations"] == []


@pytest.mark.parametrize("turns", [1, 41])
def test_a_conversation_has_two_to_forty_turns(pair: World, turns: int) -> None:
    (a,) = chats(pair, "a")
    a.refused("start_conversation", Code.VALIDATION_ERROR, target_agent_id="b", initial_message="Hi", max_turns=turns)


# --- turns -----------------------------------------------------------------------------------------------------------


def test_turns_alternate_and_whoever_is_early_is_told_how_to_wait(pair: World) -> None:
    a, b, conversation = converse(pair)
    for early, other in ((a, b), (b, a), (a, b)):
        refusal = early.refused(
            "send_conversation_message", Code.NOT_YOUR_TURN, conversation_id=conversation, content="me again"
        )
        assert "get_next_action" in refusal["instruction"]
        told = other.call("respond_conversation_message", conversation_id=conversation, content="mine")
        assert told["your_turn_next"] is False
    assert state(pair, conversation)["turns"] == 4


@pytest.mark.pitfall("F100")
def test_twenty_sends_at_once_from_both_sides_store_no_more_than_the_limit(pair: World) -> None:
    a, b, conversation = converse(pair, max_turns=4)
    with ThreadPoolExecutor(4) as pool:
        while state(pair, conversation)["state"] == "active":
            sent = [
                pool.submit(
                    (a, b)[each % 2].ask, "send_conversation_message", conversation_id=conversation, content="x"
                )
                for each in range(20)
            ]
            for each in sent:
                each.result()
    said = pair.owner.call("show_conversation", conversation_id=conversation)["messages"]
    assert [each["from_agent_id"] for each in said] == ["a", "b", "a", "b"]


def test_reaching_the_limit_ends_it_and_both_can_go_on(pair: World) -> None:
    a, b, conversation = converse(pair, max_turns=2)
    assert b.turn(conversation, "the last")["state"] == "ending"
    for process in (a, b):
        process.refused(
            "respond_conversation_message", Code.TURN_LIMIT_REACHED, conversation_id=conversation, content="one more"
        )
    got = a.fetch()
    assert contents(got) == ["the last"]
    assert ended(got) == [(conversation, "max_turns")]
    assert ended(b.fetch()) == [(conversation, "max_turns")]
    assert begin(a, "b") != conversation


def test_two_that_begin_with_each_other_at_once_are_in_one_conversation(pair: World) -> None:
    a, b = chats(pair, "a", "b")
    with ThreadPoolExecutor(2) as pool:
        begun = [pool.submit(begin, process, target) for process, target in ((a, "b"), (b, "a"))]
        assert len({future.result() for future in begun}) == 1
    assert len(pair.owner.call("list_conversations", project_id=pair.project_id)["conversations"]) == 1


def test_two_that_end_it_at_once_end_it_once(pair: World) -> None:
    a, b, conversation = converse(pair)
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda each: each.ask("end_conversation", conversation_id=conversation), (a, b)))
    assert sorted(outcome.refused for outcome in outcomes) == [False, True]
    assert len(pair.events("conversation.ended")) == 1


@pytest.mark.pitfall("F100")
@pytest.mark.parametrize("ender", ["a", "b"])
def test_either_side_ends_it_whoevers_turn_it_is(pair: World, ender: str) -> None:
    a, b, conversation = converse(pair)
    process, other = (a, b) if ender == "a" else (b, a)
    process.call("end_conversation", conversation_id=conversation, final_message="Bye.", summary="We talked.")
    got = other.fetch()
    assert contents(got)[-1:] == ["Bye."]
    (told,) = got["ended_conversations"]
    assert (told["ended_by"], told["reason"], told["summary"]) == (ender, "ended_by_participant", "We talked.")
    for each in (a, b):
        each.refused(
            "send_conversation_message", Code.CONVERSATION_NOT_ACTIVE, conversation_id=conversation, content="x"
        )
        each.refused("end_conversation", Code.CONVERSATION_NOT_ACTIVE, conversation_id=conversation)


@pytest.mark.pitfall("F100")
def test_whoever_takes_no_part_finds_no_conversation(pair: World) -> None:
    """F100: ids of others', of nobody's, and of another project's."""
    _, _, conversation = converse(pair)
    pair.worker("c")
    (c,) = chats(pair, "c")
    for each in (conversation, "cnv_none"):
        for name, more in (("send_conversation_message", {"content": "x"}), ("end_conversation", {})):
            c.refused(name, Code.CONVERSATION_NOT_FOUND, conversation_id=each, **more)
    assert state(pair, conversation)["turns"] == 1


# --- its end ---------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F99")
@pytest.mark.parametrize("first", ["a", "b"])
def test_each_side_is_told_once_whoever_asks_first(pair: World, first: str) -> None:
    """F99."""
    a, b, conversation = converse(pair)
    a.call("end_conversation", conversation_id=conversation)
    for process in (a, b) if first == "a" else (b, a):
        assert state(pair, conversation)["state"] == "ending"
        assert ended(process.fetch()) == [(conversation, "ended_by_participant")]
        assert ended(process.fetch()) == []
    assert state(pair, conversation)["state"] == "ended"


@pytest.mark.pitfall("F99")
def test_a_side_that_was_not_told_is_told_in_its_next_session_also_when_all_is_long_over(pair: World) -> None:
    a, b, conversation = converse(pair)
    stop(pair, b)
    a.call("end_conversation", conversation_id=conversation)
    a.fetch()
    pair.advance(601)
    pair.housekeep()
    assert state(pair, conversation)["state"] == "ended"
    assert pair.why_chat("b") == "hold no_chat_work"
    (b,) = chats(pair, "b")
    assert b.action() == "get_pending_messages"
    assert ended(b.fetch()) == [(conversation, "ended_by_participant")]
    assert ended(b.fetch()) == []


@pytest.mark.pitfall("F99")
@pytest.mark.parametrize("lost", [stop, lose])
def test_an_ending_that_was_handed_out_to_a_lost_session_is_told_again(
    pair: World, lost: Callable[[World, Process], None]
) -> None:
    a, b, conversation = converse(pair)
    a.call("end_conversation", conversation_id=conversation)
    assert ended(b.fetch()) == [(conversation, "ended_by_participant")]
    lost(pair, b)
    (b,) = chats(pair, "b")
    assert ended(b.fetch()) == [(conversation, "ended_by_participant")]


@pytest.mark.pitfall("F28")
def test_what_is_over_starts_nobody(pair: World) -> None:
    """Neither its ending nor a last word that nobody has fetched."""
    a, b, conversation = converse(pair)
    stop(pair, b)
    a.call("end_conversation", conversation_id=conversation, final_message="Bye.")
    assert pair.why_chat("b") == "hold no_chat_work"
    (b,) = chats(pair, "b")
    assert contents(b.fetch())[-1:] == ["Bye."]


@pytest.mark.pitfall("F98")
def test_an_invitation_that_nobody_follows_expires_and_a_new_one_can_begin(pair: World) -> None:
    (a,) = chats(pair, "a")
    conversation = begin(a, "b")
    pair.advance(150)
    a.fetch()
    pair.advance(149)
    keep_open(pair, "a")
    assert state(pair, conversation)["state"] == "pending"
    pair.advance(2)
    assert a.action() == "get_pending_messages"
    assert ended(a.fetch()) == [(conversation, "nobody_came")]
    assert state(pair, conversation)["state"] == "expired"
    assert begin(a, "b") != conversation


def test_an_expired_invitation_starts_nobody(pair: World) -> None:
    (a,) = chats(pair, "a")
    conversation = begin(a, "b")
    assert pair.why_chat("b") == "start has_pending_purpose"
    pair.advance(301)
    pair.housekeep()
    assert state(pair, conversation)["state"] == "expired"
    assert pair.why_chat("b") == "hold no_chat_work"


@pytest.mark.pitfall("F98")
def test_ten_minutes_of_silence_end_it_and_both_are_told(pair: World) -> None:
    a, b, conversation = converse(pair)
    for _ in range(10):
        pair.advance(59)
        a.call("get_my_profile")
        b.call("get_my_profile")
    assert state(pair, conversation)["state"] == "active"
    pair.advance(11)
    for process in (a, b):
        assert process.action() == "get_pending_messages"
        assert ended(process.fetch()) == [(conversation, "idle")]


@pytest.mark.pitfall("F98")
def test_a_side_that_never_comes_does_not_keep_it_from_ending(pair: World) -> None:
    a, b, conversation = converse(pair)
    stop(pair, b)
    a.call("end_conversation", conversation_id=conversation)
    pair.advance(599)
    pair.housekeep()
    assert state(pair, conversation)["state"] == "ending"
    pair.advance(2)
    pair.housekeep()
    assert state(pair, conversation)["state"] == "ended"


def test_housekeeping_ends_what_is_over_where_both_processes_are_gone(pair: World) -> None:
    a, b, conversation = converse(pair)
    stop(pair, a)
    stop(pair, b)
    pair.advance(601)
    pair.housekeep()
    assert (state(pair, conversation)["state"], state(pair, conversation)["reason"]) == ("ending", "idle")


@pytest.mark.pitfall("F98")
@pytest.mark.parametrize("lost", [stop, lose])
def test_the_next_process_of_a_side_goes_on_where_the_lost_one_stopped(
    pair: World, lost: Callable[[World, Process], None]
) -> None:
    a, b, conversation = converse(pair)
    b.turn(conversation, "Blue.")
    a.fetch()
    lost(pair, a)
    assert pair.why_chat("a") == "start has_pending_purpose"
    a = pair.start_chat("a")
    assert a.next()["action"] == "get_pending_messages"
    got = a.fetch()
    assert [
        (pending_message["content"], pending_message["redelivered"]) for pending_message in got["pending_messages"]
    ] == [("Blue.", True)]
    assert [each["your_turn"] for each in got["conversations"]] == [True]
    a.turn(conversation, "Agreed.")
    assert state(pair, conversation)["turns"] == 3


def test_a_turn_that_is_not_taken_starts_its_process_again_with_the_message_as_context(pair: World) -> None:
    a, b, conversation = converse(pair)
    b.turn(conversation, "Blue.")
    a.fetch()
    a.call("get_my_profile")  # the hand-out is confirmed
    stop(pair, a)
    a = pair.start_chat("a")
    assert a.next()["state"] == "your_turn"
    got = a.fetch()
    assert contents(got) == []
    assert [context_message["content"] for context_message in got["context_messages"]][-1] == "Blue."
    a.turn(conversation, "Agreed.")


def test_a_person_ends_a_conversation_and_both_sides_are_told(pair: World) -> None:
    a, b, conversation = converse(pair)
    pair.owner.call("stop_conversation", conversation_id=conversation)
    for process in (a, b):
        assert ended(process.fetch()) == [(conversation, "ended_by_person")]


# --- waiting ---------------------------------------------------------------------------------------------------------


def hinted(world: World) -> frozenset[str]:
    return frozenset().union(*world.hints)


@pytest.mark.pitfall("F95")
@pytest.mark.parametrize("name", ["get_next_action", "get_pending_messages"])
def test_a_turn_an_end_and_a_delegation_reach_a_process_that_waits(pair: World, name: str) -> None:
    """F95: one decision for both calls, and every cause wakes them."""
    a, b, conversation = converse(pair)
    pair.task("a")
    worker = pair.start("a")
    keep_open(pair, "a")
    causes: list[Callable[[], object]] = [
        lambda: b.turn(conversation, "Blue."),
        lambda: delegate(worker, "owner"),
        lambda: b.call("end_conversation", conversation_id=conversation),
    ]
    for cause in causes:
        later = waits(pair, a, name)
        assert later is not None
        pair.hints.clear()
        cause()
        assert later.topics & hinted(pair)
        assert waits(pair, a, "get_next_action") is None
        a.fetch()
        if state(pair, conversation)["state"] == "active" and state(pair, conversation)["turn_of"] == "a":
            a.turn(conversation, "Yes.")


def test_a_wait_ends_when_time_alone_changes_something(pair: World) -> None:
    (a,) = chats(pair, "a")
    begin(a, "b")
    pair.owner.call("close_chat", project_id=pair.project_id, agent_id="a")
    begun = pair.now
    later = waits(pair, a)
    assert later is not None and later.at is not None
    assert later.at <= begun + 300_000


# --- with a task -----------------------------------------------------------------------------------------------------


def test_it_carries_the_task_of_its_delegation_and_leaves_a_summary_there(pair: World) -> None:
    task = pair.task("a")
    worker = pair.start("a")
    delegation = delegate(worker)
    a = pair.start_chat("a")
    a.fetch()
    conversation = begin(a, "b", delegation_id=delegation)
    assert state(pair, conversation)["task_id"] == task
    b = pair.start_chat("b")
    b.fetch()
    b.turn(conversation, "Blue.")
    a.fetch()
    a.call("end_conversation", conversation_id=conversation, summary="It is blue.")
    note = worker.call("get_my_task")["task"]["context"]["previous"]
    assert "It is blue." in str(note)
    (shown,) = worker.call("get_task_conversations")["conversations"]
    assert {message["related_task_id"] for message in shown["messages"]} == {task}


def test_without_a_summary_the_last_words_are_the_note(pair: World) -> None:
    pair.task("a")
    worker = pair.start("a")
    delegation = delegate(worker)
    a = pair.start_chat("a")
    a.fetch()
    conversation = begin(a, "b", delegation_id=delegation, max_turns=2)
    b = pair.start_chat("b")
    b.fetch()
    b.turn(conversation, "Blue as the sea.")
    assert "Blue as the sea." in str(worker.call("get_my_task")["task"]["context"]["previous"])


def test_a_chat_in_a_conversation_stays_beyond_the_idle_time(pair: World) -> None:
    a, b, conversation = converse(pair)
    for _ in range(3):
        pair.advance(400)
        if state(pair, conversation)["turn_of"] == "b":
            b.turn(conversation, "Hm.")
        else:
            a.turn(conversation, "Hm.")
        assert {a.action(), b.action()} <= {"wait_for_messages", "get_pending_messages"}
        a.fetch()
        b.fetch()


def test_a_one_way_word_reaches_its_receiver_though_it_was_ended_before_anybody_came(world: World) -> None:
    world.project()
    for each in ("w1", "w2"):
        world.worker(each)
    world.say("w1", "Tell w2.")
    one = world.start_chat("w1")
    one.fetch()
    started = one.call("start_conversation", target_agent_id="w2", initial_message="Dinner is ready.")
    one.call("end_conversation", conversation_id=started["conversation_id"])
    assert world.why_chat("w2") == "start has_pending_purpose"
    other = world.start_chat("w2")
    got = other.fetch()
    assert [pending_message["content"] for pending_message in got["pending_messages"]] == ["Dinner is ready."]
    assert [(conversation["ended_by"], conversation["reason"]) for conversation in got["ended_conversations"]] == [
        ("w1", "one_way")
    ]
    assert other.next()["reason"] == "user_closed_chat"
    assert world.why_chat("w2") == "hold no_chat_work"
