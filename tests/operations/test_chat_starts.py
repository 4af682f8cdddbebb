"""When chat processes are started, stopped, and left alone: slots of their own, orders that got lost, cooldowns."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.operations.talkers import begin, contents, converse, delegate, lose, stop
from tests.stories import Answer, World
from toryo.domain.errors import Code


def chats(answer: Answer) -> list[tuple[str, bool]]:
    """The chats that a claim starts, and whether they take a slot."""
    return [(each["agent_id"], each["takes_slot"]) for each in answer["start"] if each["purpose"] == "chat"]


# --- slots -----------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F39")
def test_chats_have_slots_of_their_own_and_the_longest_waiting_go_first(pair: World) -> None:
    pair.worker("c")
    pair.task("c")
    for agent in ("b", "a", "c"):
        pair.say(agent, "hello")
    coordinator = pair.coordinator()
    assert coordinator.claim(free_slots=0, free_chat_slots=0)["start"] == []
    claimed = coordinator.claim(free_slots=0, free_chat_slots=2)
    assert chats(claimed) == [("b", True), ("a", True)]
    assert len(claimed["start"]) == 2
    coordinator.running += [each["launch_id"] for each in claimed["start"]]
    claimed = coordinator.claim(free_slots=5, free_chat_slots=0)
    assert [(each["agent_id"], each["purpose"]) for each in claimed["start"]] == [("c", "task")]


@pytest.mark.pitfall("F39")
def test_whoever_anothers_turn_depends_on_takes_no_slot(pair: World) -> None:
    """An invitation, then a turn: two partners always fit."""
    pair.say("a", "Talk to b.")
    a = pair.start_chat("a")
    a.fetch()
    conversation = begin(a, "b")
    coordinator = pair.coordinator()
    claimed = coordinator.claim(free_slots=0, free_chat_slots=0)
    assert chats(claimed) == [("b", False)]
    b = pair.process(claimed["start"][0])
    b.sign_in()
    b.call("report_model", provider="claude", model_id="model-1")
    b.fetch()
    stop(pair, a)
    b.turn(conversation, "Blue.")
    assert chats(coordinator.claim(free_slots=0, free_chat_slots=0)) == [("a", False)]


def test_one_agent_has_one_chat_however_many_reasons_there_are(pair: World) -> None:
    for number in range(3):
        pair.say("a", f"{number}")
    pair.open_chat("a")
    pair.open_chat("a", as_person=pair.person("ann"))
    coordinator = pair.coordinator()
    assert chats(coordinator.claim(free_chat_slots=5)) == [("a", True)]
    assert pair.coordinator("c2").claim(free_chat_slots=5)["start"] == []
    assert pair.why_chat("a") == "hold already_running"


def test_four_coordinators_at_once_order_one_chat(pair: World) -> None:
    pair.say("a", "hello")
    coordinators = [pair.coordinator(f"c{number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda each: each.claim(free_chat_slots=1)["start"], coordinators))
    assert sorted(len(each) for each in claims) == [0, 0, 0, 1]


def test_a_coordinator_starts_the_chats_of_its_own_agents_and_providers(pair: World) -> None:
    pair.say("a", "hello")
    coordinator = pair.coordinator()
    assert coordinator.claim(free_chat_slots=5, agent_ids=["b"])["start"] == []
    assert coordinator.claim(free_chat_slots=5, providers=["gemini"])["start"] == []
    assert chats(coordinator.claim(free_chat_slots=5, providers=["claude"], agent_ids=["a"])) == [("a", True)]


# --- orders ----------------------------------------------------------------------------------------------------------


def test_an_order_whose_answer_was_lost_is_handed_out_again_with_another_credential(pair: World) -> None:
    pair.say("a", "hello")
    coordinator = pair.coordinator()
    (lost,) = coordinator.claim(free_chat_slots=1)["start"]
    (again,) = coordinator.claim(free_chat_slots=1)["start"]
    assert again["launch_id"] == lost["launch_id"]
    assert pair.process(lost).ask("authenticate").refused
    process = pair.process(again)
    assert process.sign_in()["purpose"] == "chat"
    process.call("report_model", provider="claude", model_id="model-1")
    assert contents(process.fetch()) == ["hello"]


def test_an_order_that_is_being_started_is_not_handed_out_again(pair: World) -> None:
    pair.say("a", "hello")
    coordinator = pair.coordinator()
    assert coordinator.starts(free_chat_slots=1) == ["a"]
    assert coordinator.starts(free_chat_slots=1) == []


@pytest.mark.pitfall("F20")
def test_an_order_that_nobody_follows_runs_out_and_the_next_one_is_given(pair: World) -> None:
    pair.say("a", "hello")
    coordinator = pair.coordinator()
    (first,) = coordinator.claim(free_chat_slots=1)["start"]
    coordinator.running = [first["launch_id"]]
    pair.advance(121)
    coordinator.claim(agent_ids=[])
    coordinator.running = []
    pair.advance(3600)
    (second,) = coordinator.claim(free_chat_slots=1)["start"]
    assert second["launch_id"] != first["launch_id"]


def test_asking_without_taking_creates_nothing(pair: World) -> None:
    pair.say("a", "hello")
    coordinator = pair.coordinator()
    for _ in range(3):
        assert coordinator.call("should_start", agent_id="a")["should_start"] is True
    assert pair.launches() == []
    said = coordinator.action("a")
    assert (said["action"], said["reason"], said["launch"]["purpose"]) == ("start", "has_pending_purpose", "chat")
    assert coordinator.reason("a", purpose="chat") == "hold already_running"


def test_a_process_that_a_person_starts_gets_the_chat_too_and_the_task_first(pair: World) -> None:
    pair.say("a", "hello")
    pair.task("a")
    asked = {"agent_id": "a", "passkey": pair.passkeys["a"]}
    assert pair.nobody.call("authenticate", **asked)["purpose"] == "task"
    assert pair.nobody.call("authenticate", **asked)["purpose"] == "chat"
    assert pair.nobody.ask("authenticate", **asked).refused


# --- whoever is started has something to do --------------------------------------------------------------------------


def by_a_message(world: World) -> str:
    world.say("a", "hello")
    return "a"


def by_a_delegation(world: World) -> str:
    world.task("a")
    delegate(world.start("a"))
    return "a"


def by_an_invitation(world: World) -> str:
    world.open_chat("a")
    begin(world.start_chat("a"), "b")
    return "b"


def by_a_turn(world: World) -> str:
    a, b, conversation = converse(world)
    b.turn(conversation, "Blue.")
    stop(world, a)
    return "a"


def by_a_panel(world: World) -> str:
    world.open_chat("a")
    return "a"


@pytest.mark.parametrize("reason", [by_a_message, by_a_delegation, by_an_invitation, by_a_turn, by_a_panel])
def test_whoever_is_started_is_not_told_to_leave(pair: World, reason: Callable[[World], str]) -> None:
    agent = reason(pair)
    process = pair.start_chat(agent)
    assert process.action() == ("wait_for_messages" if reason is by_a_panel else "get_pending_messages")


def test_a_reason_that_has_gone_by_the_time_of_signing_in_ends_at_once_and_well(pair: World) -> None:
    pair.open_chat("a")
    (launch,) = pair.coordinator().claim(free_chat_slots=1)["start"]
    pair.owner.call("close_chat", project_id=pair.project_id, agent_id="a")
    process = pair.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    assert process.next()["reason"] == "user_closed_chat"
    pair.open_chat("a")
    assert pair.why_chat("a") == "start has_pending_purpose"


# --- cooling down ----------------------------------------------------------------------------------------------------


def test_whoever_leaves_without_doing_anything_is_not_started_again_at_once(pair: World) -> None:
    pair.say("a", "hello")
    pair.start_chat("a").call("logout")
    assert pair.why_chat("a") == "hold cooling_down"
    assert pair.coordinator().claim(free_chat_slots=5)["start"] == []
    pair.advance(61)
    pair.start_chat("a").call("logout")
    pair.advance(61)
    assert pair.why_chat("a") == "hold cooling_down"
    pair.advance(60)
    process = pair.start_chat("a")
    process.fetch()
    assert process.next()["reason"] == "user_closed_chat"
    pair.say("a", "again")
    assert pair.why_chat("a") == "start has_pending_purpose"


def test_a_crash_cools_the_chat_down_and_leaves_the_task_alone(pair: World) -> None:
    pair.say("a", "hello")
    process = pair.start_chat("a")
    pair.coordinator().exited(process.launch_id, exit_code=1)
    assert pair.why_chat("a") == "hold cooling_down"
    pair.task("a")
    assert pair.why("a") == "start has_in_progress_task"
    pair.say("a", "still there?")
    assert pair.why_chat("a") == "hold cooling_down"
    pair.advance(61)
    assert contents(pair.start_chat("a").fetch()) == ["hello", "still there?"]


def test_a_crash_of_the_task_leaves_the_chat_alone(pair: World) -> None:
    pair.task("a")
    worker = pair.start("a")
    pair.open_chat("a")
    process = pair.start_chat("a")
    pair.coordinator().exited(worker.launch_id, exit_code=1)
    assert process.action() == "wait_for_messages"
    assert pair.why("a") == "hold cooling_down"


@pytest.mark.pitfall("F26")
def test_a_failing_agent_with_nothing_but_a_message_of_the_system_is_left_alone(pair: World) -> None:
    """F26: what tells people of the failure starts nobody."""
    pair.say("a", "hello")
    process = pair.start_chat("a")
    process.fetch()
    process.call("get_my_profile")
    pair.coordinator().exited(process.launch_id, exit_code=1, error="crashed: boom")
    coordinator = pair.coordinator()
    for _ in range(100):
        pair.advance(60)
        pair.housekeep()
        assert coordinator.claim(free_chat_slots=5)["start"] == []


# --- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["remove_member", "deactivate_agent"])
def test_whoever_is_no_member_any_more_or_inactive_is_stopped(pair: World, name: str) -> None:
    pair.open_chat("a")
    process = pair.start_chat("a")
    coordinator = pair.coordinator()
    coordinator.running = [process.launch_id]
    more = {"project_id": pair.project_id} if name == "remove_member" else {}
    pair.owner.call(name, agent_id="a", **more)
    (stopped,) = coordinator.claim()["stop"]
    assert (stopped["launch_id"], stopped["reason"]) == (process.launch_id, "dismissed")
    pair.open_chat("b")
    assert chats(coordinator.claim(free_chat_slots=5)) == [("b", True)]


def test_an_archived_project_has_no_chats(pair: World) -> None:
    pair.say("a", "hello")
    pair.owner.call("archive_project", project_id=pair.project_id)
    assert pair.why_chat("a") == "hold project_paused"
    asked = {"project_id": pair.project_id, "agent_id": "a"}
    pair.owner.refused("send_chat_message", Code.NOT_NOW, **asked, content="hello?")


def test_a_silent_chat_process_is_stopped(pair: World) -> None:
    pair.open_chat("a")
    process = pair.start_chat("a")
    coordinator = pair.coordinator()
    coordinator.running = [process.launch_id]
    stops: list[Answer] = []
    for _ in range(40):
        pair.advance(60)
        stops += coordinator.claim(free_chat_slots=0)["stop"]
    assert [(each["launch_id"], each["reason"]) for each in stops][:1] == [(process.launch_id, "silent")]


def test_a_chat_that_goes_in_circles_is_stopped_and_its_messages_stay(pair: World) -> None:
    pair.say("a", "hello")
    process = pair.start_chat("a")
    for _ in range(25):
        assert process.action() == "get_pending_messages"
    coordinator = pair.coordinator()
    coordinator.running = [process.launch_id]
    (stopped,) = coordinator.claim()["stop"]
    assert stopped["reason"] == "runaway"
    pair.advance(3600)
    assert contents(pair.start_chat("a").fetch()) == ["hello"]


def test_a_lost_chat_is_started_anew_by_the_claim_that_finds_it_lost(pair: World) -> None:
    pair.say("a", "hello")
    process = pair.start_chat("a")
    process.fetch()
    pair.advance(91)
    claimed = pair.coordinator().claim(free_chat_slots=1)
    assert chats(claimed) == [("a", True)]


@pytest.mark.pitfall("F8")
def test_losing_both_processes_of_an_agent_brings_both_back(pair: World) -> None:
    task = pair.task("a")
    worker = pair.start("a")
    pair.say("a", "hello")
    process = pair.start_chat("a")
    lose(pair, worker, process)
    purposes = sorted(each["purpose"] for each in pair.coordinator().claim(free_chat_slots=1)["start"])
    assert purposes == ["chat", "task"]
    assert pair.status(task) == "in_progress"
