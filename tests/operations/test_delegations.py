"""Delegations: what a task session wants said is said by its agent's chat session, and its task hears of the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.operations.talkers import begin, contents, delegate, delegation_of, lose, stop, waits
from tests.stories import Answer, Process, World
from toryo.domain.errors import Code


def fetched(world: World, target: str = "b", **more: object) -> tuple[Process, Process, str]:
    """`a`'s task has delegated, and `a`'s chat session has fetched it: worker, chat, delegation id."""
    world.task("a")
    worker = world.start("a")
    delegation = delegate(worker, target, **more)
    agent = world.start_chat("a")
    agent.fetch()
    return worker, agent, delegation


def status(world: World, delegation_id: str) -> tuple[str, int]:
    """Its status, and the attempt it is in."""
    delegation = delegation_of(world, delegation_id)
    return delegation.status.value, delegation.attempt


def handed_out(answer: Answer) -> list[str]:
    return [delegation["delegation_id"] for delegation in answer["pending_delegations"]]


# --- handing over ----------------------------------------------------------------------------------------------------


def test_a_delegation_returns_at_once_and_the_chat_gets_it_with_all_it_needs(pair: World) -> None:
    task = pair.task("a")
    worker = pair.start("a")
    said = worker.call(
        "delegate_to_chat_session", target_agent_id="b", purpose="Ask for the colour.", context={"of": "the roof"}
    )
    assert pair.why_chat("a") == "start has_pending_purpose"
    agent = pair.start_chat("a")
    assert agent.action() == "get_pending_messages"
    (got,) = agent.fetch()["pending_delegations"]
    assert (got["delegation_id"], got["target_agent_id"], got["purpose"], got["context"], got["task_id"]) == (
        said["delegation_id"], "b", "Ask for the colour.", {"of": "the roof"}, task,
    )  # fmt: skip
    kept = delegation_of(pair, got["delegation_id"])
    assert (kept.status, kept.agent_id, kept.project_id, kept.await_result, kept.attempt) == (
        "processing", "a", pair.project_id, True, 1,
    )  # fmt: skip
    assert kept.processed_at is not None and kept.processed_at >= kept.created_at
    assert handed_out(agent.fetch()) == []


def test_one_delegates_to_another_member_and_not_to_oneself(pair: World) -> None:
    pair.owner.call("create_agent", id="stranger", role="worker", provider="claude", projects=[])
    pair.task("a")
    worker = pair.start("a")
    for target in ("a", "stranger", "nobody"):
        assert worker.ask("delegate_to_chat_session", target_agent_id=target, purpose="Hello").refused
    assert worker.call("get_task_conversations")["delegations"] == []


def test_a_task_has_five_open_and_twenty_ever(pair: World) -> None:
    pair.task("a")
    worker = pair.start("a")
    agent = None
    for _ in range(4):
        ids = [delegate(worker, await_result=False) for _ in range(5)]
        worker.refused("delegate_to_chat_session", Code.LIMIT_REACHED, target_agent_id="b", purpose="More")
        agent = agent or pair.start_chat("a")
        assert handed_out(agent.fetch()) == ids
        for each in ids:
            agent.call("report_delegation_completed", delegation_id=each, result="said")
    worker.refused("delegate_to_chat_session", Code.LIMIT_REACHED, target_agent_id="b", purpose="More")


# --- lost, and tried again -------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F102")
@pytest.mark.parametrize("lost", [stop, lose])
def test_a_delegation_whose_session_is_lost_goes_to_the_next_one(
    pair: World, lost: Callable[[World, Process], None]
) -> None:
    """F102."""
    _, agent, delegation = fetched(pair)
    lost(pair, agent)
    assert status(pair, delegation) == ("pending", 2)
    assert pair.why_chat("a") == "start has_pending_purpose"
    again = pair.start_chat("a")
    assert [(each["delegation_id"], each["attempt"]) for each in again.fetch()["pending_delegations"]] == [
        (delegation, 2)
    ]


def test_whoever_gets_it_again_sees_what_the_one_before_has_said_for_it(pair: World) -> None:
    _, agent, delegation = fetched(pair, "owner")
    task = delegation_of(pair, delegation).task_id
    agent.call("send_message", target_agent_id="owner", content="Shall I?", related_task_id=task)
    stop(pair, agent)
    got = pair.start_chat("a").fetch()
    assert handed_out(got) == [delegation]
    assert [
        (context_message["content"], context_message["related_task_id"]) for context_message in got["context_messages"]
    ] == [("Shall I?", task)]


@pytest.mark.pitfall("F102")
def test_after_three_attempts_it_has_failed_and_the_task_is_told(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    stop(pair, agent)
    for _ in range(2):
        agent = pair.start_chat("a")
        assert handed_out(agent.fetch()) == [delegation]
        stop(pair, agent)
    assert status(pair, delegation) == ("failed", 3)
    assert pair.why_chat("a") == "hold no_chat_work"
    assert worker.call("get_my_profile")["notifications_pending"] == 1
    (told,) = worker.call("get_notifications")["notifications"]
    assert delegation in told["message"] and "failed" in told["message"]
    assert worker.next()["action"] == "execute_task"
    worker.report()


def test_one_that_was_never_fetched_costs_no_attempt(pair: World) -> None:
    pair.task("a")
    delegation = delegate(pair.start("a"))
    stop(pair, pair.start_chat("a"))
    assert status(pair, delegation) == ("pending", 1)


def test_a_session_that_leaves_without_having_done_anything_about_it_has_spent_an_attempt(pair: World) -> None:
    _, agent, delegation = fetched(pair)
    agent.call("logout")
    assert status(pair, delegation) == ("pending", 2)


# --- parked ----------------------------------------------------------------------------------------------------------


def asked(world: World) -> tuple[Process, Process, str]:
    """`a`'s chat session has asked the owner what it was to ask, and nobody has answered."""
    worker, agent, delegation = fetched(world, "owner")
    agent.call("send_message", target_agent_id="owner", content="Which colour?")
    return worker, agent, delegation


def test_it_is_parked_while_the_answer_is_awaited_and_handed_out_again_with_it(pair: World) -> None:
    _, agent, delegation = asked(pair)
    agent.call("logout")
    assert status(pair, delegation) == ("processing", 1)
    assert delegation_of(pair, delegation).parked
    coordinator = pair.coordinator()
    for _ in range(100):
        pair.advance(60)
        assert coordinator.claim(free_chat_slots=5, agent_ids=["a"], free_slots=0)["start"] == []
    pair.say("a", "Blue.")
    agent = pair.start_chat("a")
    got = agent.fetch()
    assert contents(got) == ["Blue."]
    assert [(each["delegation_id"], each["attempt"]) for each in got["pending_delegations"]] == [(delegation, 1)]
    agent.call("report_delegation_completed", delegation_id=delegation, result="Blue")
    assert status(pair, delegation) == ("completed", 1)


def test_somebody_elses_message_does_not_hand_it_out_again(pair: World) -> None:
    _, agent, delegation = asked(pair)
    agent.call("logout")
    pair.say("a", "I am not the owner.", as_person=pair.person("ann"))
    agent = pair.start_chat("a")
    assert handed_out(agent.fetch()) == []
    assert delegation_of(pair, delegation).parked


def test_an_answer_that_came_before_its_session_left_is_not_waited_for_again(pair: World) -> None:
    """Nobody would hand it out any more: it goes to the next session at once."""
    _, agent, delegation = asked(pair)
    pair.say("a", "Blue.")
    agent.call("logout")
    assert status(pair, delegation) == ("pending", 2)
    got = pair.start_chat("a").fetch()
    assert (contents(got), handed_out(got)) == (["Blue."], [delegation])


def test_an_idle_session_parks_what_waits_for_a_person(pair: World) -> None:
    _, agent, delegation = asked(pair)
    assert agent.action() == "wait_for_messages"
    for _ in range(9):
        pair.advance(80)
        if (step := agent.next())["action"] != "wait_for_messages":
            break
    assert (step["action"], step["reason"]) == ("logout", "session_timeout")
    assert delegation_of(pair, delegation).parked


def test_one_that_nobody_answers_has_timed_out_after_a_day(pair: World) -> None:
    _, agent, delegation = asked(pair)
    agent.call("logout")
    pair.advance(86_400 - 60)
    pair.housekeep()
    assert status(pair, delegation)[0] == "processing"
    pair.advance(61)
    pair.housekeep()
    assert status(pair, delegation)[0] == "failed"
    assert delegation_of(pair, delegation).result == "timed_out"


def test_one_whose_conversation_goes_on_is_parked_and_comes_back_with_its_end(pair: World) -> None:
    _, agent, delegation = fetched(pair)
    conversation = begin(agent, "b", delegation_id=delegation)
    agent.call("logout")
    assert delegation_of(pair, delegation).parked
    assert pair.why_chat("a") == "hold no_chat_work"
    b = pair.start_chat("b")
    b.fetch()
    b.call("end_conversation", conversation_id=conversation, summary="No time.")
    assert pair.why_chat("a") == "start has_pending_purpose"
    got = pair.start_chat("a").fetch()
    assert [(each["delegation_id"], each["conversation_id"]) for each in got["pending_delegations"]] == [
        (delegation, conversation)
    ]
    assert [each["summary"] for each in got["ended_conversations"]] == ["No time."]


def test_one_that_another_conversation_of_the_two_serves_comes_back_with_that_ones_end(pair: World) -> None:
    """Begun for nothing in particular, or by the other: its end is the answer all the same."""
    _, agent, delegation = fetched(pair)
    conversation = begin(agent, "b")
    agent.call("logout")
    assert delegation_of(pair, delegation).parked
    b = pair.start_chat("b")
    b.fetch()
    b.call("end_conversation", conversation_id=conversation)
    assert pair.why_chat("a") == "start has_pending_purpose"
    assert handed_out(pair.start_chat("a").fetch()) == [delegation]


def test_one_to_an_agent_with_which_nobody_talks_any_more_is_not_parked(pair: World) -> None:
    """Agents answer in conversations only: it would wait for a day for what cannot come."""
    _, agent, delegation = fetched(pair)
    conversation = begin(agent, "b")
    agent.call("end_conversation", conversation_id=conversation)
    agent.call("logout")
    assert status(pair, delegation) == ("pending", 2)


# --- its end ---------------------------------------------------------------------------------------------------------


def test_what_nobody_reported_the_server_reports_at_logout(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    conversation = begin(agent, "b", delegation_id=delegation)
    b = pair.start_chat("b")
    b.fetch()
    b.turn(conversation, "Blue.")
    agent.fetch()
    agent.call("end_conversation", conversation_id=conversation, summary="It is blue.")
    agent.call("logout")
    (told,) = worker.call("get_task_conversations")["delegations"]
    assert (told["status"], told["result"]["summary"]) == ("completed", "It is blue.")
    assert [message["content"] for message in told["result"]["messages"]] == ["Shall we talk?", "Blue."]


def test_a_one_way_word_to_an_agent_is_a_conversation_that_is_ended_and_has_come_about(pair: World) -> None:
    _, agent, delegation = fetched(pair)
    conversation = begin(agent, "b", delegation_id=delegation)
    agent.call("end_conversation", conversation_id=conversation)
    agent.call("logout")
    assert status(pair, delegation)[0] == "completed"


def test_a_conversation_to_which_nobody_came_has_failed_what_it_was_for(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    begin(agent, "b", delegation_id=delegation)
    for _ in range(4):
        pair.advance(80)
        agent.call("get_my_profile")
    agent.fetch()
    agent.call("logout")
    (told,) = worker.call("get_task_conversations")["delegations"]
    assert (told["status"], told["result"]["reason"]) == ("failed", "nobody_came")


@pytest.mark.parametrize(("success", "becomes"), [(True, "completed"), (False, "failed")])
def test_a_report_ends_it_once(pair: World, success: bool, becomes: str) -> None:
    worker, agent, delegation = fetched(pair)
    report = {"delegation_id": delegation, "result": {"colour": "blue"}, "success": success}
    for _ in range(2):
        assert agent.call("report_delegation_completed", **report)["status"] == becomes
    agent.refused("report_delegation_completed", Code.NOT_NOW, **{**report, "result": "red"})
    (told,) = worker.call("get_task_conversations")["delegations"]
    assert (told["status"], told["result"]) == (becomes, {"colour": "blue"})


def test_only_the_session_that_has_it_in_hand_reports_it(pair: World) -> None:
    pair.task("a")
    delegation = delegate(pair.start("a"))
    pair.open_chat("a")
    pair.open_chat("b")
    agent, other = pair.start_chat("a"), pair.start_chat("b")
    report = {"delegation_id": delegation, "result": "blue"}
    agent.refused("report_delegation_completed", Code.NOT_NOW, **report)  # not fetched
    other.refused("report_delegation_completed", Code.DELEGATION_NOT_FOUND, **report)
    agent.fetch()
    nothing: list[object] = ["", None, {}, []]
    for result in nothing:
        agent.refused("report_delegation_completed", Code.VALIDATION_ERROR, **{**report, "result": result})
    agent.call("report_delegation_completed", **report)


def test_a_conversation_for_it_is_with_its_target(pair: World) -> None:
    pair.worker("c")
    _, agent, delegation = fetched(pair)
    asked = {"initial_message": "Hello", "delegation_id": delegation}
    agent.refused("start_conversation", Code.VALIDATION_ERROR, target_agent_id="c", **asked)
    assert pair.why_chat("c") == "hold no_chat_work"


@pytest.mark.parametrize("await_result", [True, False])
def test_a_cancelled_task_wants_nothing_said_any_more_but_what_was_only_to_be_told(
    pair: World, await_result: bool
) -> None:
    task = pair.task("a")
    delegation = delegate(pair.start("a"), await_result=await_result)
    pair.move(task, "cancelled", "not needed")
    assert status(pair, delegation)[0] == ("failed" if await_result else "pending")
    assert pair.why_chat("a") == ("hold no_chat_work" if await_result else "start has_pending_purpose")


# --- waiting for it --------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F97")
def test_an_awaited_one_keeps_the_task_from_being_completed(pair: World) -> None:
    """F97."""
    worker, agent, delegation = fetched(pair)
    refusal = worker.refused("report_completed", Code.DELEGATION_OPEN, result="success", summary="early")
    assert refusal["next"]["action"] in ("get_next_action", "wait_for_delegation")
    assert worker.action() == "wait_for_delegation"
    agent.call("report_delegation_completed", delegation_id=delegation, result="blue")
    step = worker.next()
    assert step["action"] == "execute_task"
    assert [each["result"] for each in step["delegations"]] == ["blue"]
    worker.report()


@pytest.mark.pitfall("F97")
def test_what_is_only_to_be_told_holds_nothing(pair: World) -> None:
    worker, _, _ = fetched(pair, await_result=False)
    assert worker.action() == "execute_task"
    worker.report()


def test_the_wait_itself_waits_and_ends_with_the_delegation(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    worker.ask("report_completed", result="success", summary="early")
    later = waits(pair, worker)
    assert later is not None
    pair.hints.clear()
    agent.call("report_delegation_completed", delegation_id=delegation, result="blue")
    assert later.topics & frozenset().union(*pair.hints)


def left_waiting(world: World, worker: Process) -> None:
    """The worker has been told three times to wait, the third time to leave."""
    worker.ask("report_completed", result="success", summary="early")
    told = [worker.next() for _ in range(3)]
    assert [each["action"] for each in told] == ["wait_for_delegation"] * 3
    assert "logout" in told[-1]["instruction"] and "logout" not in told[0]["instruction"]
    worker.call("logout")
    assert world.why("a") == "hold waiting_for_delegation"


@pytest.mark.pitfall("F97")
def test_the_third_wait_in_a_row_leaves_and_its_end_starts_the_task_again_with_the_result(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    left_waiting(pair, worker)
    coordinator = pair.coordinator()
    for _ in range(20):
        assert coordinator.claim(agent_ids=["a"])["start"] == []
    agent.call("report_delegation_completed", delegation_id=delegation, result="blue")
    worker = pair.start("a")
    assert [each["result"] for each in worker.call("get_my_task")["task"]["delegations"]] == ["blue"]
    worker.report()


def test_a_failed_one_starts_the_task_again_too(pair: World) -> None:
    worker, agent, _ = fetched(pair)
    left_waiting(pair, worker)
    stop(pair, agent)
    for _ in range(2):
        agent = pair.start_chat("a")
        agent.fetch()
        stop(pair, agent)
    assert pair.why("a") == "start has_in_progress_task"


@pytest.mark.pitfall("F16")
def test_a_task_session_that_was_lost_finds_the_result_in_the_next_one(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    stop(pair, worker)
    agent.call("report_delegation_completed", delegation_id=delegation, result="blue")
    worker = pair.start("a")
    (told,) = worker.call("get_task_conversations")["delegations"]
    assert (told["delegation_id"], told["result"]) == (delegation, "blue")
    assert worker.next()["delegations"][0]["result"] == "blue"


def test_another_task_of_the_agent_does_not_see_it(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    agent.call("report_delegation_completed", delegation_id=delegation, result="blue")
    worker.report()
    pair.task("a", title="Another")
    assert pair.start("a").call("get_task_conversations")["delegations"] == []


def test_a_manager_may_wait_for_it_and_is_woken_by_its_end_once(world: World) -> None:
    world.crew(workers=1)
    world.worker("b")
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    delegation = delegate(boss)
    boss.begin(part)
    world.start("w1").report()
    boss.wait()
    boss.call("logout")
    assert world.why("boss") == "hold waiting_for_delegation"
    agent = world.start_chat("boss")
    agent.fetch()
    agent.call("report_delegation_completed", delegation_id=delegation, result="blue")
    assert world.why("boss") == "start plan_changed"
    boss = world.start("boss")
    assert boss.next()["action"] == "report_completion"


def test_a_manager_that_can_do_nothing_else_is_not_told_to_report(world: World) -> None:
    world.crew(workers=1)
    world.worker("b")
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    delegate(boss)
    boss.begin(part)
    world.start("w1").report()
    step = boss.next()
    assert step["action"] == "situational_awareness"
    boss.call("select_action", action="wait")
    assert boss.next()["action"] == "wait"


# --- two processes of one agent --------------------------------------------------------------------------------------


def test_a_chat_that_is_killed_leaves_the_task_session_alone_and_the_other_way_round(pair: World) -> None:
    worker, agent, delegation = fetched(pair)
    stop(pair, agent)
    assert worker.next()["action"] == "execute_task"
    agent = pair.start_chat("a")
    assert handed_out(agent.fetch()) == [delegation]
    stop(pair, worker)
    assert agent.next()["action"] in ("wait_for_messages", "get_pending_messages")
    agent.call("report_delegation_completed", delegation_id=delegation, result="blue")


def test_leaving_a_delegated_conversation_to_its_partner_repeats_nothing(pair: World) -> None:
    """The next session takes its turn in the same conversation."""
    _, agent, delegation = fetched(pair)
    conversation = begin(agent, "b", delegation_id=delegation)
    b = pair.start_chat("b")
    b.fetch()
    agent.call("logout")
    b.turn(conversation, "Blue?")
    agent = pair.start_chat("a")
    got = agent.fetch()
    assert (contents(got), handed_out(got)) == (["Blue?"], [delegation])
    again = agent.call("start_conversation", target_agent_id="b", initial_message="Anew?", delegation_id=delegation)
    assert (again["conversation_id"], again["created"]) == (conversation, False)
    agent.turn(conversation, "Yes.")
    assert status(pair, delegation) == ("processing", 1)


def test_whoever_has_waited_in_vain_for_a_result_is_told_to_wait_and_has_reported_nothing(world: World) -> None:
    world.project(decomposition="never")
    for each in ("w1", "w2"):
        world.worker(each)
    world.task("w1")
    task = world.start("w1")
    task.call("delegate_to_chat_session", target_agent_id="w2", purpose="Ask.")
    assert task.action() == "execute_task"
    waiting = world.perform("get_task_conversations", {"timeout_seconds": 45}, task.credentials, may_wait=True)
    assert waiting.later is not None
    task.call("get_task_conversations", timeout_seconds=45)
    assert task.action() == "wait_for_delegation"
