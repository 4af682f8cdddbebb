"""Talk that nobody came for: invitations, silence, delegations, messages without a reader, panels left open.

What each of these is and when it ends stands in `tests/domain/`; here the round finds them, and everybody
concerned hears of it once.
"""

from __future__ import annotations

import pytest

from tests.operations.talkers import begin, contents, converse, delegate, delegation_of, lose, state, two
from tests.stories import Process, World
from toryo.domain.errors import Code
from toryo.settings import ChatSettings, Settings
from toryo.storage.engine.database import Database
from toryo.storage.transaction import Transaction


def pass_by(world: World, seconds: int, *awake: Process) -> None:
    """Time passes with a round each minute; who is awake calls often enough to keep its lease."""
    for _ in range(seconds // 60):
        world.advance(60)
        for process in awake:
            process.call("list_tasks")
        world.housekeep()


def told(process: Process) -> list[tuple[str, str]]:
    """The endings that a session is handed out."""
    return [
        (conversation["conversation_id"], conversation["reason"])
        for conversation in process.fetch()["ended_conversations"]
    ]


def system(world: World, agent_id: str = "a", **more: str) -> list[str]:
    return [each["content"] for each in world.thread(agent_id, **more) if each["kind"] == "system"]


def ended(world: World, *kinds: str) -> list[str]:
    found = world.events(*(kinds or ("conversation.ended", "conversation.expired")))
    return [each["data"]["conversation_id"] for each in found]


# --- conversations ---------------------------------------------------------------------------------------------------


def test_an_invitation_that_nobody_came_for_expires_and_is_no_reason_to_run_any_more(pair: World):
    pair.open_chat("a")
    a = pair.start_chat("a")
    conversation = begin(a, "b")
    assert pair.why_chat("b") == "start has_pending_purpose"
    pass_by(pair, 240, a)
    assert state(pair, conversation)["state"] == "pending"
    pass_by(pair, 120, a)
    assert (state(pair, conversation)["state"], state(pair, conversation)["reason"]) == ("expired", "nobody_came")
    assert pair.why_chat("b") == "hold no_chat_work"
    assert told(a) == [(conversation, "nobody_came")]
    assert told(a) == []
    assert ended(pair) == [conversation]


def test_who_was_invited_in_vain_still_reads_what_was_said_when_it_comes(pair: World):
    pair.open_chat("a")
    a = pair.start_chat("a")
    conversation = begin(a, "b", initial_message="Are you there?")
    pass_by(pair, 360, a)
    pair.say("b", "Come.")
    b = pair.start_chat("b")
    got = b.fetch()
    assert contents(got) == ["Are you there?", "Come."]
    assert [each["conversation_id"] for each in got["ended_conversations"]] == [conversation]
    assert (got["invitations"], got["conversations"]) == ([], [])


def test_a_conversation_in_which_nobody_speaks_ends_and_both_are_told_once(pair: World):
    a, b, conversation = converse(pair)
    pass_by(pair, 540, a, b)
    assert state(pair, conversation)["state"] == "active"
    pass_by(pair, 120, a, b)
    assert (state(pair, conversation)["state"], state(pair, conversation)["reason"]) == ("ending", "idle")
    b.refused("respond_conversation_message", Code.CONVERSATION_NOT_ACTIVE, conversation_id=conversation, content="Hi")
    assert (told(a), told(b)) == ([(conversation, "idle")], [(conversation, "idle")])
    assert (told(a), told(b)) == ([], [])
    assert state(pair, conversation)["state"] == "ended"
    assert ended(pair) == [conversation]


def test_a_turn_taken_in_time_keeps_a_conversation_alive(pair: World):
    a, b, conversation = converse(pair)
    pass_by(pair, 540, a, b)
    b.turn(conversation, "Let me think.")
    pass_by(pair, 540, a, b)
    assert state(pair, conversation)["state"] == "active"


def test_a_conversation_that_ends_is_ended_in_time_though_one_side_never_comes_and_that_side_is_told_later(
    pair: World,
):
    a, b, conversation = converse(pair)
    lose(pair, a, b)
    pass_by(pair, 600)
    assert state(pair, conversation)["state"] == "ending"
    pass_by(pair, 660)
    assert state(pair, conversation)["state"] == "ended"
    assert pair.why_chat("b") == "hold no_chat_work"
    pair.say("b", "Come.")
    assert told(pair.start_chat("b")) == [(conversation, "idle")]


def test_who_is_lost_with_the_last_word_of_a_conversation_in_hand_gets_it_with_its_next_session_and_is_not_started(
    pair: World,
):
    a, b, conversation = converse(pair, max_turns=3)
    b.turn(conversation, "Yes.")
    a.fetch()
    a.turn(conversation, "Good.")
    assert contents(b.fetch()) == ["Good."]
    lose(pair, b)
    pair.housekeep()
    assert pair.why_chat("b") == "hold no_chat_work"
    pair.say("b", "Come.")
    got = pair.start_chat("b").fetch()
    assert [
        (pending_message["content"], "redelivered" in pending_message) for pending_message in got["pending_messages"]
    ] == [
        ("Good.", True),
        ("Come.", False),
    ]
    assert [each["conversation_id"] for each in got["ended_conversations"]] == [conversation]


def test_what_a_person_wrote_is_a_reason_again_when_it_was_lost_though_a_conversation_ended_meanwhile(pair: World):
    a, b, conversation = converse(pair)
    pair.say("b", "And you?")
    b.fetch()
    a.call("end_conversation", conversation_id=conversation)
    lose(pair, b)
    pair.housekeep()
    assert pair.why_chat("b") == "start has_pending_purpose"
    assert contents(pair.start_chat("b").fetch()) == ["And you?"]


# --- delegations -----------------------------------------------------------------------------------------------------

A_DAY = 86_400


def waiting(world: World) -> tuple[str, str]:
    """`a`'s task session has something said, waits for it and has left; answers the task and the delegation."""
    task = world.task("a", title="Paint the door")
    worker = world.start("a")
    wish = delegate(worker)
    worker.refused("report_completed", Code.DELEGATION_OPEN, result="success", summary="early")
    for _ in range(3):
        assert worker.action() == "wait_for_delegation"
    assert world.why("a") == "hold waiting_for_delegation"
    return task, wish


def test_a_delegation_that_nobody_fetched_fails_after_a_day_and_its_task_goes_on(pair: World):
    task, wish = waiting(pair)
    pair.advance(A_DAY - 60)
    pair.housekeep()
    assert delegation_of(pair, wish).status == "pending"
    assert pair.why("a") == "hold waiting_for_delegation"
    pair.advance(61)
    pair.housekeep()
    failed = delegation_of(pair, wish)
    assert (failed.status, failed.result) == ("failed", "timed_out")
    assert pair.why_chat("a") == "hold no_chat_work"
    assert pair.why("a") == "start has_in_progress_task"
    worker = pair.start("a")
    step = worker.next()
    assert step["action"] == "execute_task"
    assert [(delegation["status"], delegation["result"]) for delegation in step["delegations"]] == [
        ("failed", "timed_out")
    ]
    worker.report()
    assert pair.status(task) == "completed"
    assert [event["data"]["delegation_id"] for event in pair.events("delegation.failed")] == [wish]


def test_one_that_was_parked_for_an_answer_that_never_comes_fails_the_same_way(pair: World):
    pair.person("ann")
    pair.task("a", title="Paint the door")
    wish = delegate(pair.start("a"), "ann")
    chat = pair.start_chat("a")
    chat.fetch()
    chat.call("send_message", target_agent_id="ann", content="Which colour?")
    chat.call("logout")
    assert delegation_of(pair, wish).parked
    pair.advance(A_DAY - 60)
    pair.housekeep()
    assert pair.why_chat("a") == "hold no_chat_work"
    assert delegation_of(pair, wish).parked
    pair.advance(61)
    pair.housekeep()
    assert delegation_of(pair, wish).result == "timed_out"
    assert pair.why("a") == "start has_in_progress_task"


def test_a_task_session_that_runs_is_told_that_its_delegation_has_failed(fresh: Database):
    world = World(fresh, Settings(chat=ChatSettings(delegation_timeout=60)))
    two(world)
    world.task("a", title="Paint the door")
    worker = world.start("a")
    wish = delegate(worker)
    world.advance(59)
    world.housekeep()
    assert worker.action() == "execute_task"
    world.advance(1)
    world.housekeep()
    (said,) = worker.call("get_notifications")["notifications"]
    assert wish in said["message"]
    assert "timed_out" in said["message"]
    worker.report()


# --- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F5")
def test_a_person_is_told_exactly_once_that_nobody_came_for_what_they_wrote_and_why(pair: World):
    pair.say("a", "Hello?")
    pair.say("a", "Anybody?")
    pass_by(pair, 240)
    assert system(pair) == []
    pass_by(pair, 1200)
    (said,) = system(pair)
    assert "a has not read" in said
    assert "free chat slot" in said
    assert [event["agent_id"] for event in pair.events("message.nobody_came")] == ["a"]
    assert contents(pair.start_chat("a").fetch()) == ["Hello?", "Anybody?"]


def test_what_is_written_after_that_is_watched_anew(pair: World):
    pair.say("a", "Hello?")
    pass_by(pair, 360)
    pair.say("a", "Still nobody?")
    pass_by(pair, 360)
    assert len(system(pair)) == 2


@pytest.mark.pitfall("F5")
def test_nobody_is_told_anything_when_a_chat_session_has_signed_in_in_time(pair: World):
    pair.say("a", "Hello?")
    pass_by(pair, 240)
    a = pair.start_chat("a")
    pass_by(pair, 360, a)
    assert system(pair) == []


def test_nobody_is_told_anything_where_a_chat_session_was_there_already(pair: World):
    pair.open_chat("a")
    a = pair.start_chat("a")
    pair.say("a", "Hello?")
    pass_by(pair, 360, a)
    assert system(pair) == []
    assert contents(a.fetch()) == ["Hello?"]
    a.call("list_tasks")
    lose(pair, a)
    pass_by(pair, 720)
    assert system(pair) == []


def test_a_person_is_told_when_the_session_that_was_there_was_dead_and_nobody_comes_after_it(pair: World):
    """Its lease had not run out yet when the message was stored."""
    pair.open_chat("a")
    pair.start_chat("a")
    pair.advance(60)
    pair.say("a", "Hello?")
    pass_by(pair, 300)
    assert system(pair) == [], "the next one may still come"
    pass_by(pair, 900)
    assert len(system(pair)) == 1


def test_agents_are_told_of_endings_and_not_that_nobody_came(pair: World):
    pair.open_chat("a")
    a = pair.start_chat("a")
    begin(a, "b")
    pass_by(pair, 600, a)
    assert pair.events("message.nobody_came") == []


# --- panels ----------------------------------------------------------------------------------------------------------


def unclosed(world: World, agent_id: str = "a") -> list[str]:
    """Panels that are not closed as rows, however long ago they were heard of."""
    found = world.database.read(lambda connection: Transaction(connection).chat.viewers(world.project_id, agent_id, 0))
    return [viewer.id for viewer in found]


@pytest.mark.pitfall("F34")
def test_a_panel_that_is_not_heard_of_any_more_is_closed_and_its_agent_leaves(pair: World):
    opened = pair.open_chat("a")
    a = pair.start_chat("a")
    pair.advance(30)
    pair.open_chat("a", viewer_id=opened["viewer_id"])
    pair.advance(30)
    pair.housekeep()
    assert a.action() == "wait_for_messages"
    assert unclosed(pair) == [opened["viewer_id"]]
    pair.advance(30)
    pair.housekeep()
    assert unclosed(pair) == []
    assert a.next()["reason"] == "user_closed_chat"
    assert pair.why_chat("a") == "hold no_chat_work"


def test_a_panel_closed_by_the_round_does_not_come_alive_again_it_is_opened_anew(pair: World):
    opened = pair.open_chat("a")
    pair.advance(60)
    pair.housekeep()
    assert pair.why_chat("a") == "hold no_chat_work"
    again = pair.open_chat("a", viewer_id=opened["viewer_id"])
    assert again["viewer_id"] != opened["viewer_id"]
    assert pair.why_chat("a") == "start has_pending_purpose"


# --- doing nothing ---------------------------------------------------------------------------------------------------


def test_a_round_where_nothing_is_due_writes_nothing(pair: World):
    pair.task("a")
    worker = pair.start("a")
    delegate(worker)
    converse(pair)
    pair.say("b", "Hello?")
    before = pair.rows()
    pair.housekeep()
    assert pair.rows() == before


def test_a_second_round_finds_nothing_more_to_do(pair: World):
    pair.task("a")
    delegate(pair.start("a"))
    converse(pair)
    pair.say("b", "Hello?")
    pair.advance(2 * A_DAY)
    for _ in range(3):  # silence, then the end of an ending
        pair.housekeep()
        pair.advance(600)
    before = pair.rows()
    pair.housekeep()
    assert pair.rows() == before
