"""Panels: an agent comes when its chat is opened, stays while anybody needs it, and leaves when nobody does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.operations.talkers import begin, contents, converse, stop
from tests.stories import Process, World


def state(world: World, agent: str = "a", project_id: str | None = None) -> str:
    """What a person sees of an agent's chat."""
    asked = {"project_id": project_id or world.project_id, "agent_id": agent}
    found: str = world.owner.call("read_chat", **asked)["status"]["state"]
    return found


def close(world: World, agent: str = "a", **more: object) -> int:
    asked = {"project_id": world.project_id, "agent_id": agent, **more}
    closed: int = world.owner.call("close_chat", **asked)["closed"]
    return closed


def connected(world: World, agent: str = "a") -> Process:
    """The panel is open, and the agent has come and waits."""
    world.open_chat(agent)
    process = world.start_chat(agent)
    assert process.action() == "wait_for_messages"
    assert state(world, agent) == "connected"
    return process


def kept(world: World, process: Process, panel: str, seconds: int, every: int = 40) -> list[str]:
    """What the agent is told while a panel is kept open for so long."""
    told = []
    for _ in range(seconds // every):
        world.advance(every)
        world.open_chat(process.agent_id, viewer_id=panel)
        told.append(process.action())
    return told


# --- opening ---------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F32", "F115")
def test_opening_the_chat_starts_the_agent_without_a_word(pair: World) -> None:
    """F32, F115: nothing is written, and nothing is delivered."""
    pair.coordinator().claim()
    assert state(pair) == "disconnected"
    assert pair.open_chat("a")["status"]["state"] == "connecting"
    process = pair.start_chat("a")
    assert state(pair) == "connected"
    assert contents(process.fetch()) == []
    assert pair.thread("a") == []


@pytest.mark.pitfall("F107")
def test_an_agent_that_nobody_can_start_is_not_said_to_come(pair: World) -> None:
    """F107: without a Coordinator, and where none has its program."""
    status = pair.open_chat("a")["status"]
    assert status["state"] == "disconnected"
    assert "No Coordinator has called" in status["summary"]
    pair.coordinator().claim(agent_ids=[], providers=["gemini"])
    status = pair.open_chat("a")["status"]
    assert status["state"] == "disconnected"
    assert "no Coordinator can start it" in status["summary"]
    pair.coordinator("c2").claim(agent_ids=["a"], free_chat_slots=0)
    assert state(pair) == "connecting"


@pytest.mark.pitfall("F20", "F32")
def test_opening_the_chat_starts_it_also_while_a_task_is_being_started(pair: World) -> None:
    """F32: a pending task start is no chat."""
    pair.task("a")
    pair.started("a")
    assert pair.why("a") == "hold start_pending"
    assert pair.open_chat("a")["status"]["state"] == "connecting"
    pair.start_chat("a")
    assert state(pair) == "connected"


def test_a_first_message_is_answered_by_the_process_that_has_come_and_further_ones_too(pair: World) -> None:
    """UC014."""
    process = connected(pair)
    for number in range(3):
        pair.say("a", f"question {number}")
        assert process.action() == "get_pending_messages"
        (got,) = process.fetch()["pending_messages"]
        process.call("respond_chat", message_id=got["message_id"], content=f"answer {number}")
        assert process.action() == "wait_for_messages"
    assert [each["content"] for each in pair.thread("a")][-2:] == ["question 2", "answer 2"]
    assert len([launch for launch in pair.launches() if launch["purpose"] == "chat"]) == 1


@pytest.mark.pitfall("F113")
def test_who_is_connected_here_is_not_connected_elsewhere(pair: World) -> None:
    """F113."""
    other = pair.project(name="Garden")
    pair.owner.call("add_member", project_id=other, agent_id="a")
    connected(pair)
    assert state(pair, project_id=other) == "disconnected"


def test_a_panel_opened_just_as_the_agent_leaves_starts_it_again_whichever_call_came_in_first(pair: World) -> None:
    """F33: calls are carried out one after the other, not in the order of their clocks."""
    process = connected(pair)
    close(pair)
    pair.advance(1)
    assert process.action() == "exit"
    pair.advance(-1)
    assert pair.open_chat("a")["status"]["state"] == "connecting"
    pair.start_chat("a")
    assert state(pair) == "connected"


# --- closing ---------------------------------------------------------------------------------------------------------


def test_closing_lets_it_leave_at_its_next_look_and_keeps_what_was_said(pair: World) -> None:
    """UC015."""
    process = connected(pair)
    process.call("send_message", target_agent_id="owner", content="Hello.")
    assert close(pair) == 1
    assert state(pair) == "terminating"
    step = process.next()
    assert (step["action"], step["reason"]) == ("exit", "user_closed_chat")
    process.call("logout")
    assert state(pair) == "disconnected"
    assert pair.why_chat("a") == "hold no_chat_work"
    assert [each["content"] for each in pair.thread("a")] == ["Hello."]


def test_closing_wakes_a_process_that_waits(pair: World) -> None:
    process = connected(pair)
    later = pair.perform("get_next_action", {"timeout_seconds": 45}, process.credentials, may_wait=True).later
    assert later is not None
    pair.hints.clear()
    close(pair)
    assert later.topics & frozenset().union(*pair.hints)


def test_closing_what_is_not_open_is_harmless(pair: World) -> None:
    assert close(pair) == 0
    connected(pair)
    assert (close(pair), close(pair)) == (1, 0)


@pytest.mark.pitfall("F33")
def test_reopening_before_it_has_left_keeps_the_session(pair: World) -> None:
    """F33."""
    process = connected(pair)
    close(pair)
    pair.advance(0.5)
    pair.open_chat("a")
    assert state(pair) == "connected"
    assert process.action() == "wait_for_messages"


@pytest.mark.pitfall("F33")
def test_reopening_after_it_was_told_to_leave_starts_a_new_one(pair: World) -> None:
    """F33: its process may still be on its way out."""
    process = connected(pair)
    close(pair)
    assert process.action() == "exit"
    pair.advance(0.5)
    assert pair.open_chat("a")["status"]["state"] == "connecting"
    again = pair.start_chat("a")
    assert again.launch_id != process.launch_id
    assert state(pair) == "connected"
    process.call("logout")
    pair.coordinator().exited(process.launch_id, exit_code=0)
    assert state(pair) == "connected"
    assert again.action() == "wait_for_messages"


# --- several ---------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F35")
def test_of_two_who_look_one_may_leave(pair: World) -> None:
    """F35."""
    ann = pair.person("ann")
    process = connected(pair)
    pair.open_chat("a", as_person=ann)
    close(pair)
    assert state(pair) == "connected"
    assert process.action() == "wait_for_messages"
    close(pair, as_person=ann)
    assert process.next()["reason"] == "user_closed_chat"


def test_two_panels_of_one_person_are_two(pair: World) -> None:
    process = connected(pair)
    second = pair.open_chat("a")["viewer_id"]
    close(pair, viewer_id=second)
    assert process.action() == "wait_for_messages"
    close(pair)
    assert process.action() == "exit"


@pytest.mark.pitfall("F35")
def test_a_running_conversation_needs_it_when_everybody_has_left(pair: World) -> None:
    """F35."""
    a, b, conversation = converse(pair)
    close(pair)
    assert a.action() == "wait_for_messages"
    b.turn(conversation, "Blue.")
    assert a.action() == "get_pending_messages"
    a.fetch()
    a.call("end_conversation", conversation_id=conversation)
    a.fetch()
    assert a.next()["reason"] == "user_closed_chat"


@pytest.mark.pitfall("F35")
def test_nobody_closes_another_persons_panel(pair: World) -> None:
    pair.person("ann")
    panel = pair.open_chat("a")["viewer_id"]
    assert close(pair, viewer_id=panel, as_person="ann") == 0
    process = pair.start_chat("a")
    assert process.action() == "wait_for_messages"


# --- a tab that dies -------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F34")
def test_a_tab_that_dies_closes_its_panel_within_a_minute(pair: World) -> None:
    """F34."""
    process = connected(pair)
    pair.advance(46)
    assert state(pair) == "terminating"
    assert process.next()["reason"] == "user_closed_chat"


@pytest.mark.pitfall("F34")
def test_a_panel_that_is_heard_of_stays_open(pair: World) -> None:
    panel = pair.open_chat("a")
    assert panel["heartbeat_seconds"] < 45
    process = pair.start_chat("a")
    for _ in range(4):
        pair.advance(panel["heartbeat_seconds"])
        assert pair.open_chat("a", viewer_id=panel["viewer_id"])["viewer_id"] == panel["viewer_id"]
        assert process.action() == "wait_for_messages"


@pytest.mark.pitfall("F34")
def test_a_panel_that_was_taken_for_dead_is_opened_anew(pair: World) -> None:
    panel = pair.open_chat("a")["viewer_id"]
    pair.advance(60)
    pair.coordinator().claim(free_slots=0, free_chat_slots=0)
    assert pair.open_chat("a", viewer_id=panel)["viewer_id"] != panel
    assert state(pair) == "connecting"


def test_a_dead_tab_starts_nobody(pair: World) -> None:
    pair.open_chat("a")
    pair.advance(46)
    assert pair.why_chat("a") == "hold no_chat_work"
    pair.housekeep()
    assert pair.coordinator().claim(free_chat_slots=5)["start"] == []


# --- idle ------------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F29")
def test_ten_idle_minutes_end_the_session_though_the_panel_is_open_and_it_stays_away(pair: World) -> None:
    panel = pair.open_chat("a")["viewer_id"]
    process = pair.start_chat("a")
    told = kept(pair, process, panel, 640)
    assert told[:13] == ["wait_for_messages"] * 13
    first_other = next(each for each in told if each != "wait_for_messages")
    assert first_other == "logout"
    assert pair.open_chat("a", viewer_id=panel)["status"]["state"] == "disconnected"
    assert pair.why_chat("a") == "hold no_chat_work"
    pair.say("a", "Are you there?")
    assert pair.why_chat("a") == "start has_pending_purpose"


@pytest.mark.pitfall("F29")
def test_ten_minutes_without_a_message_are_fourteen_calls_that_wait(pair: World) -> None:
    """F29."""
    panel = pair.open_chat("a")["viewer_id"]
    process = pair.start_chat("a")
    calls = 0
    while True:
        calls += 1
        later = pair.perform("get_next_action", {"timeout_seconds": 45}, process.credentials, may_wait=True).later
        if later is None:
            break
        pair.advance(22)
        pair.open_chat("a", viewer_id=panel)
        pair.advance(23)
        pair.open_chat("a", viewer_id=panel)
        step = process.next()  # the edge asks once more when the time is over
        if step["action"] != "wait_for_messages":
            break
    assert step["reason"] == "session_timeout"
    assert calls <= 14


def test_in_a_conversation_nobody_is_idle(pair: World) -> None:
    """What ends it then is the silence."""
    panel = pair.open_chat("a")["viewer_id"]
    process = pair.start_chat("a")
    begin(process, "b")
    b = pair.start_chat("b")
    b.fetch()
    told = kept(pair, process, panel, 590, every=39)
    assert set(told) == {"wait_for_messages"}
    assert process.signed_in["success"] is True


def test_a_message_makes_the_idle_time_begin_anew(pair: World) -> None:
    panel = pair.open_chat("a")["viewer_id"]
    process = pair.start_chat("a")
    kept(pair, process, panel, 560)
    pair.say("a", "Still there?")
    process.fetch()
    assert set(kept(pair, process, panel, 560)) == {"wait_for_messages"}


# --- whoever's task rests can be talked to ---------------------------------------------------------------------------


def a_waiting_manager(world: World) -> str:
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    boss.begin(*boss.assigned({"Walls": "w1"}))
    boss.wait()
    return "boss"


def an_agent_with_only_a_blocked_task(world: World) -> str:
    world.crew(workers=1)
    world.move(world.task("w1"), "blocked", "no stone")
    return "w1"


def an_agent_of_a_paused_project(world: World) -> str:
    world.crew(workers=1)
    world.task("w1")
    world.owner.call("pause_project", project_id=world.project_id)
    return "w1"


def an_agent_whose_tasks_cool_down(world: World) -> str:
    world.crew(workers=1)
    world.task("w1")
    world.coordinator().exited(world.started("w1").launch_id, exit_code=1)
    return "w1"


@pytest.mark.pitfall("F36")
@pytest.mark.parametrize(
    "of",
    [
        a_waiting_manager, an_agent_with_only_a_blocked_task, an_agent_of_a_paused_project,
        an_agent_whose_tasks_cool_down,
    ],
)  # fmt: skip
def test_whoevers_task_rests_is_talked_to_and_no_task_session_starts(world: World, of: Callable[[World], str]) -> None:
    """F36."""
    agent = of(world)
    world.say(agent, "How is it going?")
    launches = world.coordinator().claim(agent_ids=[agent], free_chat_slots=5)["start"]
    assert [(launch["agent_id"], launch["purpose"]) for launch in launches] == [(agent, "chat")]
    process = world.process(launches[0])
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    (got,) = process.fetch()["pending_messages"]
    process.call("respond_chat", message_id=got["message_id"], content="Well.")
    assert [session["purpose"] for session in world.sessions() if session["agent_id"] == agent] == ["chat"]


@pytest.mark.pitfall("F8")
def test_chat_and_task_run_side_by_side_and_end_without_each_other(pair: World) -> None:
    """UC019."""
    process = connected(pair)
    task = pair.task("a")
    worker = pair.start("a")
    pair.say("a", "How is it going?")
    assert process.action() == "get_pending_messages"
    process.fetch()
    assert process.call("get_my_task")["task"]["task_id"] == task
    worker.report()
    assert pair.status(task) == "completed"
    assert process.action() == "wait_for_messages"
    again = pair.task("a")
    worker = pair.start("a")
    stop(pair, process)
    worker.report()
    assert pair.status(again) == "completed"


def test_a_panel_on_a_person_starts_nobody(pair: World) -> None:
    pair.person("ann")
    assert pair.open_chat("ann")["status"]["state"] == "person"
    assert pair.coordinator().claim(free_chat_slots=5)["start"] == []


def test_a_chat_that_was_lost_while_its_panel_is_open_comes_again(world: World) -> None:
    world.project()
    world.worker("w1")
    viewer = world.open_chat("w1")["viewer_id"]
    agent = world.start_chat("w1")
    world.coordinator().exited(agent.launch_id, exit_code=0)
    assert world.why_chat("w1") == "hold cooling_down"  # it has done nothing
    world.advance(61)
    world.open_chat("w1", viewer_id=viewer)
    world.open_chat("w1")
    again = world.start_chat("w1")
    again.call("logout")
    world.advance(3_600)
    assert world.why_chat("w1") == "hold no_chat_work"
