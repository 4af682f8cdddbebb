"""Questions to people: the task waits, the agent leaves, and it is started once more with the answer or the default."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.talkers import two
from tests.stories import Answer, Process, World
from toryo.domain.errors import Code
from toryo.domain.needs import Kind

COLOURS = ["Blue", "Red", "Green"]


@pytest.fixture
def house(world: World) -> World:
    two(world)
    return world


def ask(process: Process, question: str = "Which colour?", **more: Any) -> str:
    asked: str = process.call("ask_person", question=question, **more)["question_id"]
    return asked


def waiting(world: World, **more: Any) -> tuple[Process, str]:
    """`a` has asked, and left to wait: its process, and the question."""
    world.task("a")
    worker = world.start("a")
    question = ask(worker, options=COLOURS, **more)
    assert worker.action() == "wait_for_answer"
    return worker, question


def needed(world: World, **more: Any) -> list[Answer]:
    items = world.owner.call("needs_you", **more)["items"]
    return [each for each in items if each["kind"] == Kind.QUESTION.value]


# --- asking and waiting ----------------------------------------------------------------------------------------------


def test_its_agent_leaves_and_is_started_once_more_with_the_answer(house: World) -> None:
    _, question = waiting(house)
    assert house.sessions() == []
    assert house.why("a") == "hold waiting_for_answer"
    assert house.coordinator().starts() == []
    said = house.owner.call("answer_question", question_id=question, choices=["blue"])
    assert (said["question"]["state"], said["question"]["choices"]) == ("answered", ["Blue"])
    assert house.why("a") == "start has_in_progress_task"
    again = house.start("a")
    task = again.call("get_my_task")
    assert [(each["state"], each["answer"]) for each in task["task"]["questions"]] == [("answered", "Blue")]
    told = again.next()
    assert told["action"] == "execute_task"
    assert "“Blue”" in told["instruction"] and question in told["instruction"]
    again.report()
    assert house.coordinator().starts() == []


def test_an_answer_is_told_in_the_session_that_follows_it_and_not_in_later_ones(house: World) -> None:
    _, question = waiting(house)
    house.owner.call("answer_question", question_id=question, choices=["blue"])
    again = house.start("a")
    assert question in again.next()["instruction"]
    later = ask(again, "How large?")
    house.advance(60)
    assert again.action() == "wait_for_answer"
    house.advance(60)
    house.owner.call("answer_question", question_id=later, text="Very")
    told = house.start("a").next()["instruction"]
    assert (later in told, question in told) == (True, False)


def test_a_question_is_the_title_of_its_need(house: World) -> None:
    waiting(house)
    assert [each["title"] for each in needed(house)] == ["a asks: Which colour?"]


def test_a_process_that_ends_after_asking_has_done_nothing_wrong(house: World) -> None:
    task = house.task("a")
    worker = house.start("a")
    ask(worker)
    house.coordinator().exited(worker.launch_id, exit_code=0, resumable=True)
    assert house.sessions() == []
    assert house.why("a") == "hold waiting_for_answer"
    assert house.status(task) == "in_progress"
    assert [each["data"]["for"] for each in house.events("task.waiting")] == ["answer"]


def test_one_that_runs_is_notified_of_the_answer_and_goes_on(house: World) -> None:
    house.task("a")
    worker = house.start("a")
    question = ask(worker)
    house.owner.call("answer_question", question_id=question, text="Like the sea")
    [told] = worker.call("get_notifications")["notifications"]
    assert "“Like the sea”" in told["message"]
    assert worker.action() == "execute_task"


def test_several_questions_are_one_form_and_one_start(house: World) -> None:
    task = house.task("a")
    worker = house.start("a")
    first, second = ask(worker, options=COLOURS, multiple=True), ask(worker, "How large?")
    assert worker.action() == "wait_for_answer"
    [need] = needed(house)
    assert [each["question_id"] for each in need["questions"]] == [first, second]
    assert need["title"].startswith("a asks 2 questions: ")
    house.owner.call("answer_question", question_id=first, choices=["Blue", "Red"])
    assert house.why("a") == "hold waiting_for_answer"
    refused = house.owner.refused(
        "answer_questions", Code.VALIDATION_ERROR, task_id=task,
        answers=[{"question_id": second, "choices": [], "text": " "}],
    )  # fmt: skip
    assert refused["question_id"] == second
    house.owner.call("answer_questions", task_id=task, answers=[{"question_id": second, "choices": [], "text": "Very"}])
    assert needed(house) == []
    assert house.coordinator().starts() == ["a"]


def test_a_form_is_answered_as_a_whole_or_not_at_all(house: World) -> None:
    task = house.task("a")
    worker = house.start("a")
    first, second = ask(worker, options=COLOURS, free_text=False), ask(worker, "How large?")
    answers = [
        {"question_id": second, "choices": [], "text": "Very"},
        {"question_id": first, "choices": ["Mauve"], "text": None},
    ]
    house.owner.refused("answer_questions", Code.VALIDATION_ERROR, task_id=task, answers=answers)
    assert len(needed(house)[0]["questions"]) == 2


def test_asking_the_same_twice_in_a_task_is_one_question(house: World) -> None:
    house.task("a")
    worker = house.start("a")
    assert ask(worker, options=COLOURS) == ask(worker, "which  COLOUR?", options=COLOURS[::-1])
    assert len(needed(house)[0]["questions"]) == 1


def test_a_task_has_ten_open_and_a_hundred_ever(house: World) -> None:
    house.task("a")
    worker = house.start("a")
    for number in range(10):
        ask(worker, f"Question {number}?")
    worker.refused("ask_person", Code.LIMIT_REACHED, question="One more?")


@pytest.mark.parametrize(
    "wrong",
    [
        {"question": " "},
        {"question": "Which?", "options": ["a", "A"]},
        {"question": "Which?", "free_text": False},
        {"question": "Which?", "multiple": True},
        {"question": "Which?", "options": ["a"], "free_text": False, "default": "b"},
        {"question": "Which?", "deadline_minutes": 0},
    ],
)
def test_what_nobody_could_answer_is_refused(house: World, wrong: Answer) -> None:
    house.task("a")
    worker = house.start("a")
    worker.refused("ask_person", Code.VALIDATION_ERROR, **wrong)
    assert needed(house) == []


def test_what_is_too_long_is_refused(house: World) -> None:
    worker, question = waiting(house)
    house.owner.refused("answer_question", Code.TOO_LARGE, question_id=question, text="x" * 10_001)
    worker.refused("ask_person", Code.TOO_LARGE, question="Which?", options=[str(each) for each in range(13)])


def test_only_a_task_session_asks(house: World) -> None:
    house.say("a", "Hello")
    chat = house.start_chat("a")
    refused = chat.refused("ask_person", Code.TASK_SESSION_REQUIRED, question="Which?")
    assert "chat" in refused["instruction"]


# --- who is asked ----------------------------------------------------------------------------------------------------


def test_a_named_person_is_asked_and_others_may_answer(house: World) -> None:
    lena = house.member("lena")
    house.owner.call("add_member", project_id=house.project_id, agent_id="lena")
    _, question = waiting(house, to="lena")
    assert needed(house) == []
    assert [each["kind"] for each in lena.call("needs_you")["items"]] == ["question"]
    assert house.owner.call("answer_question", question_id=question, choices=["Red"])["success"]
    assert lena.call("needs_you")["items"] == []


def test_to_is_a_person_who_can_answer(house: World) -> None:
    house.owner.call("add_person", person_id="vera", login="viewer")
    house.owner.call("add_member", project_id=house.project_id, agent_id="vera")
    house.member("otto")
    house.task("a")
    worker = house.start("a")
    for who, code in (("b", "permissionDenied"), ("vera", "permissionDenied"), ("nobody", "agentNotFound")):
        worker.refused("ask_person", code, question="Which?", to=who)
    assert worker.ask("ask_person", question="Which?", to="otto").refused


def test_viewers_read_and_do_not_answer(house: World) -> None:
    vera = house.member("vera", "viewer")
    _, question = waiting(house)
    assert vera.call("show_question", question_id=question)["question"]["options"] == COLOURS
    vera.refused("answer_question", Code.PERMISSION_DENIED, question_id=question, choices=["Red"])
    vera.refused("withdraw_question", Code.PERMISSION_DENIED, question_id=question)


def test_who_does_not_see_the_project_does_not_see_its_questions(house: World) -> None:
    otto = house.member("otto")
    _, question = waiting(house)
    for name in ("show_question", "answer_question", "withdraw_question"):
        more = {"choices": ["Red"]} if name == "answer_question" else {}
        otto.refused(name, Code.QUESTION_NOT_FOUND, question_id=question, **more)


# --- the first answer counts -----------------------------------------------------------------------------------------


def test_who_is_first_has_answered_and_the_second_is_told(house: World) -> None:
    lena = house.member("lena")
    house.owner.call("add_member", project_id=house.project_id, agent_id="lena")
    _, question = waiting(house)
    lena.call("answer_question", question_id=question, choices=["Red"])
    refused = house.owner.refused("answer_question", Code.CONFLICT, question_id=question, choices=["Blue"])
    assert "lena" in refused["message"] and "Red" in refused["message"]
    house.owner.refused("withdraw_question", Code.CONFLICT, question_id=question)
    repeated = lena.call("answer_question", question_id=question, choices=["RED"])
    assert repeated["question"]["choices"] == ["Red"]
    lena.refused("answer_question", Code.CONFLICT, question_id=question, choices=["Blue"])
    assert len(house.events("question.answered")) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"text": "  "},
        {"choices": ["Mauve"]},
        {"choices": ["Red", "Blue"]},
        {"text": "Something else"},
    ],
)
def test_what_is_no_answer_is_refused_and_the_question_stays(house: World, wrong: Answer) -> None:
    _, question = waiting(house, free_text=False)
    house.owner.refused("answer_question", Code.VALIDATION_ERROR, question_id=question, **wrong)
    assert len(needed(house)) == 1


def test_a_withdrawn_question_lets_the_agent_decide_itself(house: World) -> None:
    _, question = waiting(house)
    for _ in range(2):
        house.owner.call("withdraw_question", question_id=question, reason="It does not matter.")
    assert needed(house) == []
    again = house.start("a")
    assert "decide yourself" in again.next()["instruction"]
    house.owner.refused("answer_question", Code.CONFLICT, question_id=question, choices=["Red"])


# --- deadlines -------------------------------------------------------------------------------------------------------


def test_the_default_is_taken_at_the_deadline_and_told_as_one(house: World) -> None:
    _, question = waiting(house, default="Red", deadline_minutes=10)
    house.advance(599)
    house.housekeep()
    assert house.why("a") == "hold waiting_for_answer"
    house.advance(2)
    house.housekeep()
    again = house.start("a")
    told = again.next()["instruction"]
    assert "“Red”, your default" in told
    refused = house.owner.refused("answer_question", Code.CONFLICT, question_id=question, choices=["Blue"])
    assert "deadline" in refused["message"] and "Red" in refused["message"]


def test_without_a_default_the_question_stays_and_is_overdue(house: World) -> None:
    _, question = waiting(house, deadline_minutes=10)
    house.advance(601)
    house.housekeep()
    [need] = needed(house)
    assert need["questions"][0]["overdue"] and "Overdue" in need["text"]
    assert house.why("a") == "hold waiting_for_answer"
    assert house.owner.call("answer_question", question_id=question, choices=["Blue"])["success"]


# --- answered before -------------------------------------------------------------------------------------------------


def test_an_agent_that_asks_what_was_answered_before_gets_that_answer(house: World) -> None:
    _, question = waiting(house)
    house.owner.call("answer_question", question_id=question, choices=["Green"])
    house.task("b")
    other = house.start("b")
    said = other.call("ask_person", question="Which colour? ", options=COLOURS[::-1])
    assert (said["question_id"], said["answered_before"]["answer"]) == (None, "Green")
    assert needed(house) == [] and other.action() == "execute_task"
    asked = other.call("ask_person", question="Which colour?", options=COLOURS, ask_again=True)
    assert asked["question_id"] and asked["answered_before"]["question_id"] == question
    assert len(needed(house)) == 1
    assert other.call("ask_person", question="Which colour?", options=["Other"])["answered_before"] is None


def test_what_two_tasks_ask_is_answered_once(house: World) -> None:
    """Where the answer fits: the other agent goes on with it, and one that takes other answers is still asked."""
    _, question = waiting(house)
    house.task("b")
    b = house.start("b")
    same = ask(b, "which colour?", options=COLOURS[::-1], free_text=False)
    assert b.action() == "wait_for_answer"
    house.owner.call("answer_question", question_id=question, choices=["Red"])
    shown = house.owner.call("show_question", question_id=same)["question"]
    assert (shown["state"], shown["choices"]) == ("answered", ["Red"])
    assert needed(house) == []
    assert house.why("b") == "start has_in_progress_task"


def test_an_answer_that_does_not_fit_the_same_question_elsewhere_leaves_it_open(house: World) -> None:
    _, question = waiting(house)
    house.task("b")
    b = house.start("b")
    same = ask(b, options=COLOURS, free_text=False)
    house.owner.call("answer_question", question_id=question, text="Violet")
    assert house.owner.call("show_question", question_id=same)["question"]["state"] == "open"


def test_a_default_is_no_answer_of_a_person(house: World) -> None:
    waiting(house, default="Red", deadline_minutes=1)
    house.advance(61)
    house.housekeep()
    house.task("b")
    other = house.start("b")
    assert other.call("ask_person", question="Which colour?", options=COLOURS)["answered_before"] is None


def test_people_list_what_was_asked(house: World) -> None:
    _, question = waiting(house)
    listed = house.owner.call("list_questions", project_id=house.project_id, state="open")["questions"]
    assert [each["question_id"] for each in listed] == [question]
    house.owner.call("answer_question", question_id=question, choices=["Red"])
    assert house.owner.call("list_questions", project_id=house.project_id, state="open")["questions"] == []
    [shown] = house.owner.call("list_questions", project_id=house.project_id)["questions"]
    assert (shown["state"], shown["ended_by"]) == ("answered", "owner")


# --- nobody is asked for nothing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["completed", "failed", "blocked", "cancelled", "todo"])
def test_a_task_that_does_not_go_on_asks_nobody(house: World, to: str) -> None:
    _, question = waiting(house)
    task = house.events("question.asked")[0]["task_id"]
    house.move(task, to, "no longer")
    assert needed(house) == []
    assert house.owner.call("show_question", question_id=question)["question"]["state"] == "withdrawn"


def test_a_reassigned_task_and_an_archived_project_ask_nobody(house: World) -> None:
    waiting(house)
    task = house.events("question.asked")[0]["task_id"]
    house.owner.call("edit_task", task_id=task, assignee_id="b")
    assert needed(house) == []
    worker = house.start("b")
    ask(worker, "How large?")
    house.owner.call("archive_project", project_id=house.project_id)
    assert house.owner.call("list_questions", project_id=house.project_id, state="open")["questions"] == []


def test_an_answer_during_a_pause_is_kept_until_the_project_resumes(house: World) -> None:
    _, question = waiting(house)
    house.owner.call("pause_project", project_id=house.project_id)
    house.owner.call("answer_question", question_id=question, choices=["Blue"])
    assert house.coordinator().starts() == []
    house.owner.call("resume_project", project_id=house.project_id)
    assert house.coordinator().starts() == ["a"]


# --- managers --------------------------------------------------------------------------------------------------------


def test_a_manager_that_asks_before_it_plans_waits_and_is_started_once(world: World) -> None:
    world.crew()
    world.task("boss")
    boss = world.start("boss")
    question = ask(boss, options=COLOURS)
    assert boss.action() == "wait_for_answer"
    assert world.coordinator().starts() == []
    world.owner.call("answer_question", question_id=question, choices=["Blue"])
    boss = world.start("boss")
    told = boss.next()
    assert told["action"] == "create_subtasks" and "“Blue”" in told["instruction"]


def test_a_manager_with_open_subtasks_goes_on_with_these_and_is_started_by_the_answer(world: World) -> None:
    world.crew()
    world.task("boss")
    boss = world.start("boss")
    [part] = boss.assigned({"walls": "w1"})
    question = ask(boss)
    boss.begin(part)
    boss.wait()
    assert world.why("boss") == "hold waiting_for_workers"
    world.owner.call("answer_question", question_id=question, text="Blue")
    assert world.why("boss") == "start plan_changed"
