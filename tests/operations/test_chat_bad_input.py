"""Mistakes in talking: each refused with the code that fits and the next step, and nothing stored."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.operations.samples import PATIENT, all_operations, untouched
from tests.stories import Answer, Process, World
from toryo.domain.messages import LONGEST_MESSAGE
from toryo.operations.calls.grants import Grant
from toryo.storage.engine.database import Database

TOO_LONG = "x" * (LONGEST_MESSAGE + 1)
CHAT_TOOLS = [operation for operation in all_operations() if operation.grant is Grant.CHAT_SESSION]
GOOD: dict[str, Any] = {
    "target_agent_id": "b",
    "content": "x",
    "initial_message": "x",
    "message": "x",
    "conversation_id": "cnv_none",
    "delegation_id": "dlg_none",
    "result": "x",
}


@pytest.fixture
def office(fresh: Database) -> World:
    """Agents `a` and `b` below a manager, an agent of another project, a sleeping one, and a person."""
    world = World(fresh, PATIENT)
    world.project(decomposition="never")
    world.manager()
    for each in ("a", "b", "asleep"):
        world.worker(each, "boss")
    world.owner.call("deactivate_agent", agent_id="asleep")
    world.agent("stranger", "worker", projects=[world.project(name="Elsewhere")])
    world.person("lena")
    return world


def talker(world: World, agent_id: str = "a") -> Process:
    """A chat session of that agent, which was written to; what it was handed out is confirmed."""
    world.open_chat(agent_id)
    world.say(agent_id, "Hello.")
    process = world.start_chat(agent_id)
    process.fetch()
    process.call("get_my_profile")
    return process


def conversation(world: World, *, max_turns: int = 20) -> tuple[Process, Process, str]:
    """`a` has begun to talk with `b`, who has joined: it is `b`'s turn."""
    a, b = talker(world, "a"), talker(world, "b")
    asked = {"target_agent_id": "b", "initial_message": "ringo", "max_turns": max_turns}
    opened: str = a.call("start_conversation", **asked)["conversation_id"]
    b.fetch()
    b.call("get_my_profile")
    return a, b, opened


def said_in(world: World, conversation_id: str) -> list[str]:
    shown = world.owner.call("show_conversation", conversation_id=conversation_id)
    return [message["content"] for message in shown["messages"]]


# --- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"), [("", "validationError"), (" \n\t", "validationError"), (TOO_LONG, "tooLarge")]
)
def test_an_empty_or_over_long_message_is_refused_wherever_it_is_written(office: World, text: str, code: str):
    a, b, opened = conversation(office)
    untouched(office, a, "respond_chat", code, target_agent_id="owner", content=text)
    untouched(office, a, "send_message", code, target_agent_id="owner", content=text)
    untouched(office, a, "start_conversation", code, target_agent_id="b", initial_message=text)
    untouched(office, b, "send_conversation_message", code, conversation_id=opened, content=text)
    untouched(office, b, "respond_conversation_message", code, conversation_id=opened, content=text)
    untouched(office, b, "end_conversation", code, conversation_id=opened, final_message=text)
    untouched(office, a, "notify_task_session", code, message=text)
    here = {"project_id": office.project_id, "agent_id": "a"}
    untouched(office, office.owner, "send_chat_message", code, content=text, **here)


def test_the_longest_message_of_any_characters_arrives_whole(office: World):
    a = talker(office)
    content = "界" * (LONGEST_MESSAGE - 2) + "🦆\n"
    office.say("a", content)
    assert [pending_message["content"] for pending_message in a.fetch()["pending_messages"]] == [content]


def test_an_answer_to_nobody_or_to_somebody_elses_message_is_refused(office: World):
    a, b = talker(office, "a"), talker(office, "b")
    to_b = office.say("b", "For b only.")
    untouched(office, a, "respond_chat", "validationError", content="x")
    untouched(office, a, "respond_chat", "messageNotFound", content="x", message_id=to_b)
    untouched(office, a, "respond_chat", "messageNotFound", content="x", message_id="msg_none")
    b.fetch()
    b.call("get_my_profile")
    untouched(office, b, "respond_chat", "validationError", content="x", message_id=to_b, target_agent_id="lena")


def test_an_agent_that_answers_an_agent_is_led_to_a_conversation(office: World):
    """F101."""
    a = talker(office)
    refusal = untouched(office, a, "respond_chat", "conversationRequired", target_agent_id="b", content="x")
    assert 'start_conversation(target_agent_id="b"' in refusal["instruction"]


def test_notices_from_one_agent_to_another_are_counted_apart_from_their_conversations(office: World):
    """F101: what nobody may answer cannot be used to go on for ever."""
    a = talker(office)
    for number in range(5):
        a.call("send_message", target_agent_id="b", content=f"{number}")
    a.call("start_conversation", target_agent_id="b", initial_message="A turn is no notice.")
    refusal = untouched(office, a, "send_message", "rateLimited", target_agent_id="b", content="6")
    assert 'start_conversation(target_agent_id="b"' in refusal["instruction"]
    a.call("send_message", target_agent_id="owner", content="People get as many as before.")
    office.advance(3_600)
    a.call("send_message", target_agent_id="b", content="6")


@pytest.mark.parametrize(
    ("target", "code"),
    [("nobody", "agentNotFound"), ("stranger", "agentNotFound"), ("asleep", "permissionDenied"), ("a", None)],
)
def test_who_cannot_be_talked_to_is_refused_on_every_way(office: World, target: str, code: str | None):
    """Nobody of that name, an agent of other projects (answered alike), inactive, oneself."""
    office.task("a")
    worker, a = office.start("a"), talker(office)
    code = code or "validationError"
    untouched(office, a, "send_message", code, target_agent_id=target, content="x")
    untouched(office, a, "start_conversation", code, target_agent_id=target, initial_message="x")
    untouched(office, worker, "delegate_to_chat_session", code, target_agent_id=target, purpose="x")


def test_people_who_may_not_write_to_an_agent_are_refused(office: World):
    """F106: an agent of a project that they are no member of; an agent that is asleep; themselves."""
    here = {"project_id": office.project_id, "content": "x"}
    untouched(office, office.owner, "send_chat_message", "permissionDenied", agent_id="asleep", **here)
    untouched(office, office.owner, "send_chat_message", "validationError", agent_id="owner", **here)
    untouched(office, office.owner, "send_chat_message", "agentNotFound", agent_id="nobody", **here)
    max_ = office.member("max")
    untouched(office, max_, "send_chat_message", "projectNotFound", agent_id="a", **here)
    office.owner.call("add_member", project_id=office.project_id, agent_id="max")
    untouched(office, max_, "send_chat_message", "agentNotFound", agent_id="stranger", **here)
    untouched(office, max_, "send_chat_message", "permissionDenied", agent_id="a", as_person="lena", **here)
    untouched(office, office.owner, "send_chat_message", "validationError", agent_id="a", as_person="b", **here)
    untouched(office, office.owner, "send_chat_message", "taskNotFound", agent_id="a", related_task_id="tsk_x", **here)


def test_the_thirty_first_message_of_a_minute_is_refused_and_the_next_minute_it_is_not(office: World):
    a = talker(office)
    for number in range(30):
        a.call("send_message", target_agent_id="owner", content=f"{number}")
    refusal = untouched(office, a, "send_message", "rateLimited", target_agent_id="owner", content="31")
    assert 0 < refusal["retry_after"] <= 60
    a.call("send_message", target_agent_id="lena", content="Somebody else is another count.")
    office.advance(refusal["retry_after"])
    a.call("send_message", target_agent_id="owner", content="31")
    for number in range(29):
        office.say("a", f"{number}")
    here = {"project_id": office.project_id, "agent_id": "a", "content": "31"}
    office.say("a", "30")
    untouched(office, office.owner, "send_chat_message", "rateLimited", **here)


def test_what_waits_for_a_task_session_is_limited(office: World):
    a = talker(office)
    for number in range(20):
        a.call("notify_task_session", message=f"{number}")
    untouched(office, a, "notify_task_session", "rateLimited", message="21")
    theirs = office.task("b", status="todo")
    untouched(office, a, "notify_task_session", "permissionDenied", message="x", task_id=theirs)


# --- conversations ---------------------------------------------------------------------------------------------------


def test_a_turn_out_of_turn_is_refused_with_the_wait_to_use(office: World):
    a, _, opened = conversation(office)
    for name in ("send_conversation_message", "respond_conversation_message"):
        refusal = untouched(office, a, name, "notYourTurn", conversation_id=opened, content="x")
        assert "get_next_action" in refusal["instruction"]
    untouched(office, a, "respond_chat", "notYourTurn", target_agent_id="b", content="x")


def test_a_turn_before_the_invitation_was_fetched_is_refused(office: World):
    a, b = talker(office, "a"), talker(office, "b")
    opened = a.call("start_conversation", target_agent_id="b", initial_message="x")["conversation_id"]
    refusal = untouched(
        office, b, "send_conversation_message", "conversationNotActive", conversation_id=opened, content="x"
    )
    assert "get_pending_messages" in refusal["instruction"]
    untouched(office, a, "send_conversation_message", "notYourTurn", conversation_id=opened, content="x")


def test_a_conversation_of_others_is_not_found(office: World):
    """F100."""
    _, _, opened = conversation(office)
    third = talker(office, "boss")
    for name in ("send_conversation_message", "respond_conversation_message"):
        untouched(office, third, name, "conversationNotFound", conversation_id=opened, content="x")
        untouched(office, third, name, "conversationNotFound", conversation_id="cnv_none", content="x")
    untouched(office, third, "end_conversation", "conversationNotFound", conversation_id=opened, final_message="x")


def test_what_is_over_takes_no_word_more(office: World):
    """F100: ended, used up, or silent for too long."""
    a, b, opened = conversation(office)
    a.call("end_conversation", conversation_id=opened)
    for process in (a, b):
        untouched(
            office, process, "send_conversation_message", "conversationNotActive", conversation_id=opened, content="x"
        )
        untouched(
            office, process, "end_conversation", "conversationNotActive", conversation_id=opened, final_message="x"
        )
    short = a.call("start_conversation", target_agent_id="b", initial_message="x", max_turns=2)["conversation_id"]
    b.fetch()
    b.turn(short, "last")
    for process in (a, b):
        untouched(office, process, "send_conversation_message", "turnLimitReached", conversation_id=short, content="x")
    silent = a.call("start_conversation", target_agent_id="b", initial_message="x")["conversation_id"]
    b.fetch()
    for _ in range(10):
        office.advance(60.1)
        for process in (a, b):
            process.call("get_my_profile")
    for process in (a, b):
        untouched(
            office, process, "send_conversation_message", "conversationNotActive", conversation_id=silent, content="x"
        )


@pytest.mark.parametrize("turns", [1, 41, 0, -1])
def test_a_conversation_of_too_few_or_too_many_turns_is_refused(office: World, turns: int):
    a = talker(office)
    asked = {"target_agent_id": "b", "initial_message": "x", "max_turns": turns}
    untouched(office, a, "start_conversation", "validationError", **asked)


def test_people_are_written_to_without_turns(office: World):
    a = talker(office)
    refusal = untouched(office, a, "start_conversation", "validationError", target_agent_id="lena", initial_message="x")
    assert 'send_message(target_agent_id="lena"' in refusal["instruction"]


def test_a_second_conversation_of_a_pair_is_the_first_one_whoever_starts_it(office: World):
    """F100: its first message is not sent."""
    a, b, opened = conversation(office)
    for starter, other in ((a, "b"), (b, "a")):
        again = starter.call("start_conversation", target_agent_id=other, initial_message="once more")
        assert (again["conversation_id"], again["created"]) == (opened, False)
    assert said_in(office, opened) == ["ringo"]


def test_the_seventh_conversation_of_an_hour_is_refused(office: World):
    a, b = talker(office, "a"), talker(office, "b")
    for number in range(6):
        starter, other = ((a, "b"), (b, "a"))[number % 2]
        opened = starter.call("start_conversation", target_agent_id=other, initial_message="x")["conversation_id"]
        starter.call("end_conversation", conversation_id=opened)
    for starter, other in ((a, "b"), (b, "a")):
        untouched(office, starter, "start_conversation", "rateLimited", target_agent_id=other, initial_message="x")
    a.call("start_conversation", target_agent_id="boss", initial_message="Another pair is another count.")


def test_twenty_who_send_at_once_with_a_limit_of_four_store_four(office: World):
    """F100: turns are counted in the transaction that stores them, and they alternate."""
    a, b, opened = conversation(office, max_turns=4)

    def insists(number: int) -> set[str]:
        """Sends until the limit is reached; answers what it was refused with."""
        process, codes = (a, b)[number % 2], set[str]()
        for attempt in range(500):
            outcome = process.ask("send_conversation_message", conversation_id=opened, content=f"{number}-{attempt}")
            assert outcome.result is not None
            if outcome.refused:
                codes.add(outcome.result["error"])
            if codes & {"turnLimitReached"}:
                return codes
        raise AssertionError(f"the limit was never reached: {codes}")

    with ThreadPoolExecutor(20) as pool:
        refused = set[str]().union(*pool.map(insists, range(20)))
    assert refused <= {"turnLimitReached", "notYourTurn"}
    shown = office.owner.call("show_conversation", conversation_id=opened)
    assert [message["from_agent_id"] for message in shown["messages"]] == ["a", "b", "a", "b"]
    assert (shown["conversation"]["turns"], shown["conversation"]["reason"]) == (4, "max_turns")


def test_two_who_start_a_conversation_with_each_other_at_once_have_one(office: World):
    a, b = talker(office, "a"), talker(office, "b")

    def starts(number: int) -> Answer:
        starter, other = ((a, "b"), (b, "a"))[number % 2]
        return starter.call("start_conversation", target_agent_id=other, initial_message=f"{number}")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(starts, range(8)))
    assert len({answer["conversation_id"] for answer in answers}) == 1
    assert sum(answer["created"] for answer in answers) == 1


# --- delegations -----------------------------------------------------------------------------------------------------


def delegated(worker: Process, **more: Any) -> str:
    asked = {"target_agent_id": "b", "purpose": "Ask.", **more}
    made: str = worker.call("delegate_to_chat_session", **asked)["delegation_id"]
    return made


def report_all(chat_session: Process) -> None:
    """Fetches every delegation that waits and reports it."""
    for delegation in chat_session.fetch()["pending_delegations"]:
        chat_session.call("report_delegation_completed", delegation_id=delegation["delegation_id"], result="done")


def test_a_sixth_open_delegation_and_a_twenty_first_ever_are_refused(office: World):
    office.task("a")
    worker = office.start("a")
    for number in range(5):
        delegated(worker, purpose=f"{number}", await_result=False)
    refusal = untouched(office, worker, "delegate_to_chat_session", "limitReached", target_agent_id="b", purpose="x")
    assert refusal["limit"] == 5
    office.open_chat("a")
    a = office.start_chat("a")
    for number in range(15):
        report_all(a)
        delegated(worker, purpose=f"{number}", await_result=False)
    report_all(a)
    refusal = untouched(office, worker, "delegate_to_chat_session", "limitReached", target_agent_id="b", purpose="x")
    assert refusal["limit"] == 20


def test_a_delegation_is_reported_once_by_who_has_it_in_hand(office: World):
    office.task("a")
    worker = office.start("a")
    one = delegated(worker, await_result=False)
    a, b = talker(office, "a"), talker(office, "b")
    two = delegated(worker, await_result=False)
    name = "report_delegation_completed"
    untouched(office, b, name, "delegationNotFound", delegation_id=one, result="x")
    untouched(office, a, name, "delegationNotFound", delegation_id="dlg_none", result="x")
    untouched(office, a, name, "notNow", delegation_id=two, result="not fetched yet")
    empty: tuple[Any, ...] = (None, "", {}, [])
    for nothing in empty:
        untouched(office, a, name, "validationError", delegation_id=one, result=nothing)
    a.call(name, delegation_id=one, result={"colour": "blue"})
    before = office.rows()["delegations"]
    a.call(name, delegation_id=one, result={"colour": "blue"})
    assert office.rows()["delegations"] == before
    untouched(office, a, name, "notNow", delegation_id=one, result={"colour": "red"})
    untouched(office, a, name, "notNow", delegation_id=one, result={"colour": "blue"}, success=False)


def test_a_delegation_that_an_older_session_held_is_not_its_successors_until_fetched(office: World):
    office.task("a")
    worker = office.start("a")
    one = delegated(worker)
    first = talker(office)
    office.coordinator().exited(first.launch_id, signal=9, error="killed")
    office.advance(70)
    office.open_chat("a")
    second = office.start_chat("a")
    untouched(office, second, "report_delegation_completed", "notNow", delegation_id=one, result="x")
    asked = {"target_agent_id": "b", "initial_message": "x", "delegation_id": one}
    untouched(office, second, "start_conversation", "notNow", **asked)
    second.fetch()
    second.call("report_delegation_completed", delegation_id=one, result="x")


def test_a_conversation_for_a_delegation_about_somebody_else_is_refused(office: World):
    office.task("a")
    one = delegated(office.start("a"))
    a = talker(office)
    asked = {"target_agent_id": "boss", "initial_message": "x", "delegation_id": one}
    untouched(office, a, "start_conversation", "validationError", **asked)


# --- purposes and credentials ----------------------------------------------------------------------------------------


def given(operation: Any) -> Answer:
    return {name: GOOD[name] for name in operation.input_schema.get("required", [])}


def test_a_task_session_is_told_to_delegate_by_every_tool_of_chat(office: World):
    """A task session works, a chat session talks."""
    office.task("a")
    worker = office.start("a")
    assert len(CHAT_TOOLS) == 9
    for operation in CHAT_TOOLS:
        refusal = untouched(office, worker, operation.name, "chatSessionRequired", **given(operation))
        assert "delegate_to_chat_session" in refusal["instruction"], operation.name
    untouched(office, worker, "request_task", "chatSessionRequired", title="x", assignee_id="b", message_id="msg_none")


def test_a_chat_session_does_no_work(office: World):
    task = office.task("a")
    a = talker(office)
    for name, arguments in (
        ("report_completed", {"result": "success"}),
        ("create_task", {"title": "x", "description": "x"}),
        ("update_task_status", {"task_id": task, "status": "completed"}),
        ("delegate_to_chat_session", {"target_agent_id": "b", "purpose": "x"}),
        ("get_task_conversations", {}),
        ("cancel_task", {"task_id": task, "reason": "x"}),
    ):
        untouched(office, a, name, "taskSessionRequired", **arguments)
    boss = talker(office, "boss")
    untouched(office, boss, "assign_task", "taskSessionRequired", task_id=task, assignee_id="b")


def test_the_credentials_of_agents_open_no_chat_of_people(office: World):
    """F79: neither to read along nor to speak as a person."""
    office.task("a")
    worker, a = office.start("a"), talker(office)
    here = {"project_id": office.project_id, "agent_id": "b"}
    for caller in (worker, a, office.coordinator(), office.nobody):
        for name, arguments in (
            ("open_chat", here),
            ("close_chat", here),
            ("send_chat_message", {**here, "content": "@@\ndo it", "as_person": "lena"}),
            ("read_chat", here),
            ("list_chats", {"project_id": office.project_id}),
            ("list_conversations", {"project_id": office.project_id}),
            ("show_conversation", {"conversation_id": "cnv_none"}),
            ("stop_conversation", {"conversation_id": "cnv_none"}),
            ("steer_task", {"task_id": "tsk_none", "text": "x"}),
            ("approve_task", {"task_id": "tsk_none"}),
        ):
            untouched(office, caller, name, "authenticationRequired", **arguments)


def test_a_member_sees_and_ends_no_conversation_of_agents_that_are_not_below_them(office: World):
    _, _, opened = conversation(office)
    max_ = office.member("max")
    untouched(office, max_, "show_conversation", "conversationNotFound", conversation_id=opened)
    office.owner.call("add_member", project_id=office.project_id, agent_id="max")
    for name in ("show_conversation", "stop_conversation"):
        untouched(office, max_, name, "permissionDenied", conversation_id=opened)
    there = {"project_id": office.project_id, "agent_id": "a"}
    untouched(office, max_, "read_chat", "permissionDenied", with_agent_id="b", **there)
    untouched(office, max_, "read_chat", "permissionDenied", with_agent_id="owner", **there)
    listed = max_.call("list_chats", project_id=office.project_id, of_agent_id="a")
    assert listed["chats"] == []


# --- requests in a chat ----------------------------------------------------------------------------------------------


def asked_for(message_id: str, **more: Any) -> Answer:
    return {"title": "Paint it", "assignee_id": "b", "message_id": message_id, **more}


def test_a_request_in_a_chat_without_the_message_that_asks_for_it_is_refused(office: World):
    a = talker(office)
    refusal = untouched(office, a, "request_task", "validationError", title="x", assignee_id="b")
    assert "message_id" in refusal["instruction"]
    untouched(office, a, "request_task", "messageNotFound", **asked_for("msg_none"))


def test_a_message_asks_for_one_task(office: World):
    """F78."""
    a = talker(office)
    wish = office.say("a", "/approve\nPaint it, please")
    office.say("a", "Thanks!")
    a.fetch()
    task = a.call("request_task", **asked_for(wish))["task_id"]
    assert (office.show(task)["approval"], office.show(task)["requested_by"]) == ("approved", "owner")
    refusal = untouched(office, a, "request_task", "conflict", **asked_for(wish, title="And more"))
    assert refusal["task_id"] == task


def test_the_marker_counts_in_the_persons_message_alone(office: World):
    """F78: in arguments it is nobody's word."""
    a = talker(office)
    wish = office.say("a", "Paint it, please")
    a.fetch()
    task = a.call("request_task", **asked_for(wish, title="@@ Paint it @@", description="@@"))["task_id"]
    assert office.show(task)["approval"] == "pending_approval"


def test_a_message_that_was_not_delivered_yet_asks_for_nothing(office: World):
    a = talker(office)
    wish = office.say("a", "/approve\nPaint it")
    untouched(office, a, "request_task", "messageNotFound", **asked_for(wish))


def test_a_message_to_another_agent_or_of_an_agent_asks_for_nothing(office: World):
    a, b, opened = conversation(office)
    to_b = office.say("b", "/approve\nPaint it")
    b.fetch()
    untouched(office, a, "request_task", "messageNotFound", **asked_for(to_b))
    b.turn(opened, "/approve\nPaint it")
    from_b = next(
        pending_message["message_id"]
        for pending_message in a.fetch()["pending_messages"]
        if pending_message["from_agent_id"] == "b"
    )
    a.call("get_my_profile")
    untouched(office, a, "request_task", "permissionDenied", **asked_for(from_b, assignee_id="a"))


def test_a_message_of_more_than_a_day_ago_asks_for_nothing(office: World):
    wish = office.say("a", "/approve\nPaint it")
    talker(office).call("logout")
    office.advance(24 * 3600 + 1)
    a = talker(office)
    untouched(office, a, "request_task", "notNow", **asked_for(wish))


def test_a_wish_of_somebody_who_stands_not_above_is_asked_for(office: World):
    """Marker or not: `lena` is no superior of `b`, so the owner is asked."""
    a = talker(office)
    wish = office.say("a", "/approve\nPaint it", as_person="lena")
    a.fetch()
    task = a.call("request_task", **asked_for(wish))["task_id"]
    assert (office.show(task)["approval"], office.show(task)["requested_by"]) == ("pending_approval", "lena")


def test_a_stranger_approves_and_rejects_nothing(office: World):
    office.task("a")
    task = office.start("a").call("request_task", title="Paint it", assignee_id="b")["task_id"]
    max_ = office.member("max")
    for name in ("approve_task", "reject_task"):
        untouched(office, max_, name, "taskNotFound", task_id=task)
    office.owner.call("add_member", project_id=office.project_id, agent_id="max")
    for name in ("approve_task", "reject_task"):
        untouched(office, max_, name, "permissionDenied", task_id=task)
    office.owner.call("edit_agent", agent_id="boss", reports_to="max")
    max_.call("approve_task", task_id=task)
    assert office.show(task)["approval"] == "approved"


def test_words_to_a_task_that_is_over_and_of_somebody_who_does_not_lead_it_are_refused(office: World):
    task = office.task("a")
    untouched(office, office.owner, "steer_task", "validationError", task_id=task, text=" ")
    max_ = office.member("max")
    untouched(office, max_, "steer_task", "taskNotFound", task_id=task, text="x")
    office.owner.call("add_member", project_id=office.project_id, agent_id="max")
    untouched(office, max_, "steer_task", "permissionDenied", task_id=task, text="x")
    office.move(task, "cancelled", "no")
    untouched(office, office.owner, "steer_task", "invalidTransition", task_id=task, text="x")
