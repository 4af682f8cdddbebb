"""Reviews that a success must pass: an agent or a person decides, the author leaves meanwhile, and is started again
only where changes are requested."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_acceptance_checks import checks, judge, reporting
from tests.stories import Answer, Process, World

pytestmark = pytest.mark.crew(workers=3, decomposition="never")
BY_AGENT = [{"review": {"by": "w2", "rubric": "Is every number rounded?"}}]


def given(world: World, acceptance: list[Answer], **task: Any) -> tuple[str, Process]:
    """A task of w1 whose success is reported."""
    task_id = world.task("w1", acceptance=acceptance, title="Invoice", **task)
    worker = world.start("w1")
    outcome = reporting(worker, summary="All numbers are there.")
    if outcome.later is not None:
        (check,) = checks(world)
        judge(world, check)
        outcome = reporting(worker, summary="All numbers are there.")
    assert outcome.result is not None and not outcome.refused
    assert outcome.result["action"] == "exit", outcome.result
    return task_id, worker


def open_review(world: World, task_id: str) -> Answer:
    (found,) = world.owner.call("list_questions", project_id=world.project_id, state="open")["questions"]
    assert found["review"] and found["task_id"] == task_id
    return dict(found)


def shown(world: World, task_id: str) -> Answer:
    return dict(world.owner.call("show_task", task_id=task_id)["task"])


def asked_of(world: World) -> list[str]:
    """The reviews that people are asked for."""
    return [
        need["task_id"]
        for need in world.owner.call("needs_you")["items"]
        if need["kind"] == "question" and need["questions"][0]["review"]
    ]


def answer(world: World, task_id: str, option: str | None, text: str | None = None) -> None:
    question = open_review(world, task_id)["question_id"]
    chosen = [option] if option else []
    world.owner.call("answer_question", question_id=question, choices=chosen, text=text)


def reviewing(world: World, agent: str = "w2") -> Process:
    process = world.start(agent)
    said = process.next()
    assert (said["action"], said["state"]) == ("execute_task", "reviewing"), said
    assert "submit_review" in said["tools"]
    return process


# --- what its agent does meanwhile ------------------------------------------------------------------------------------

BY_PERSON: list[Answer] = [{"review": {}}]


@pytest.mark.parametrize("acceptance", [BY_AGENT, BY_PERSON], ids=["by an agent", "by a person"])
def test_while_work_is_reviewed_its_agent_goes_on_with_its_line(crew: World, acceptance: list[Answer]) -> None:
    task, _ = given(crew, acceptance)
    later = crew.task("w1", status="todo", start="when_ready")
    assert (shown(crew, task)["status"], shown(crew, later)["status"]) == ("in_progress", "in_progress")
    assert crew.why("w1").startswith("start"), "it is started for the next one"
    process = crew.start("w1")
    assert process.call("get_my_task")["task"]["task_id"] == later


def test_the_first_of_a_line_starts_when_the_work_before_it_goes_to_review(crew: World) -> None:
    first = crew.task("w1", acceptance=BY_AGENT, title="Invoice")
    next_one, last = (crew.task("w1", status="todo", title=each, start="when_ready") for each in ("Next", "Last"))
    assert shown(crew, next_one)["status"] == "todo"
    outcome = reporting(crew.start("w1"), summary="Done.")
    assert outcome.result is not None
    assert outcome.result["action"] == "exit"
    assert [shown(crew, each)["status"] for each in (first, next_one, last)] == ["in_progress", "in_progress", "todo"]
    assert shown(crew, last)["line"]["place"] == 1


def test_what_comes_back_from_a_review_is_done_before_the_line_goes_on(crew: World) -> None:
    task, _ = given(crew, BY_PERSON)
    other, last = (crew.task("w1", status="todo", title=each, start="when_ready") for each in ("Other", "Last"))
    assert shown(crew, other)["status"] == "in_progress"
    working = crew.start("w1")
    answer(crew, task, None, "Round it.")
    assert (shown(crew, task)["checks"], shown(crew, last)["status"]) == ("failed", "todo")
    assert working.next()["action"] != "exit", "it ends what it works on first"
    working.report("success")
    assert shown(crew, last)["status"] == "todo", "the older one has the place"
    again = crew.start("w1")
    assert again.call("get_my_task")["task"]["task_id"] == task


def test_a_task_in_review_keeps_no_task_for_anyone_from_its_agent(crew: World) -> None:
    for busy in ("w2", "w3"):
        crew.task(busy)
    given(crew, BY_PERSON)
    anyone = crew.task("any", status="todo")
    assert shown(crew, anyone)["assignee_id"] == "w1"


# --- by an agent -----------------------------------------------------------------------------------------------------


def test_the_author_leaves_and_the_reviewer_is_started_with_what_it_needs(crew: World) -> None:
    task, _ = given(crew, BY_AGENT, description="Write the invoice.")
    assert (shown(crew, task)["status"], shown(crew, task)["checks"]) == ("in_progress", "in_review")
    assert crew.why("w1") == "hold in_review"
    reviewer = reviewing(crew)
    told = reviewer.call("get_my_task")["task"]
    assert told["title"] == "Review: Invoice"
    for words in ("Is every number rounded?", "Write the invoice.", "All numbers are there.", task, "w1"):
        assert words in told["description"]
    assert asked_of(crew) == []


def test_the_task_and_its_review_name_each_other_with_their_states(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    [review] = shown(crew, task)["reviews"]
    assert (review["title"], review["status"], review["assignee_id"]) == ("Review: Invoice", "in_progress", "w2")
    assert shown(crew, task)["review_of"] is None
    of_review = shown(crew, review["task_id"])
    assert of_review["review_of"] == {
        "task_id": task,
        "title": "Invoice",
        "status": "in_progress",
        "assignee_id": "w1",
    }
    assert of_review["reviews"] == []
    reviewing(crew).call("submit_review", verdict="request_changes", summary="Round them.")
    author = crew.start("w1")
    reporting(author)
    newest, first = shown(crew, task)["reviews"]
    assert (newest["status"], first["status"]) == ("in_progress", "completed")
    assert first["task_id"] == review["task_id"]


def test_a_task_whose_person_reviews_it_names_no_task_of_a_review(crew: World) -> None:
    crew.person("lena", "boss")
    task, _ = given(crew, [{"review": {"by": "lena"}}])
    assert shown(crew, task)["reviews"] == []


def test_an_approval_completes_the_task_without_starting_its_author_again(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    reviewer = reviewing(crew)
    done = reviewer.call("submit_review", verdict="approve", summary="Fine.")
    assert (done["action"], crew.status(done["task_id"])) == ("exit", "completed")
    found = shown(crew, task)
    assert (found["status"], found["summary"]) == ("completed", "All numbers are there.")
    (evidence,) = found["check_results"]
    assert (evidence["check"], evidence["outcome"], evidence["output"]) == ("review by w2", "passed", "Fine.")
    assert not crew.why("w1").startswith("start")
    assert [event["kind"] for event in crew.events() if event["kind"].startswith("review.")] == [
        "review.requested",
        "review.approved",
    ]


def test_requested_changes_reach_the_author_with_place_and_severity(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    findings = [
        {"message": "A typo.", "severity": "low"},
        {"file": "invoice.py", "line": 12, "severity": "high", "message": "Not rounded."},
    ]
    reviewing(crew).call("submit_review", verdict="request_changes", findings=findings)
    assert crew.why("w1").startswith("start")
    worker = crew.start("w1")
    said = worker.next()
    assert (said["action"], said["state"]) == ("execute_task", "fixing_checks")
    failed = said["failed_checks"][0]
    assert (failed["check"], failed["message"].splitlines()[0]) == (
        "review by w2",
        "[high] invoice.py:12: Not rounded.",
    )
    assert failed["message"].index("Not rounded.") < failed["message"].index("A typo.")
    assert "“review by w2”" in said["instruction"] and "Not rounded." not in said["instruction"]
    assert shown(crew, task)["check_failures"][0]["check"] == "review by w2"


def test_commands_run_before_the_review_and_again_in_every_round(crew: World) -> None:
    task, _ = given(crew, [{"command": "make test"}, *BY_AGENT])
    reviewing(crew).call("submit_review", verdict="request_changes", summary="Round them.")
    worker = crew.start("w1")
    outcome = reporting(worker)
    assert outcome.later is not None
    (check,) = checks(crew)
    assert check["checks"] == [{"command": "make test"}]
    judge(crew, check, ("make test", "1 failed"))
    assert worker.refused("report_completed", "checksFailed", result="success", summary="done")
    assert shown(crew, task)["checks"] == "failed"
    assert crew.owner.call("list_questions", project_id=crew.project_id, state="open")["questions"] == []


def test_after_the_last_round_a_person_decides(crew: World) -> None:
    task, _ = given(crew, [{"review": {"by": "w2", "rounds": 2}}])
    for number in (1, 2):
        reviewing(crew).call("submit_review", verdict="request_changes", summary=f"Round them ({number}).")
        reporting(crew.start("w1"))
    question = open_review(crew, task)
    assert question["review_task_id"] is None
    assert "has requested changes as often as it may (2)" in question["question"]
    assert asked_of(crew) == [task]
    answer(crew, task, "Approve")
    assert crew.status(task) == "completed"


def test_the_next_round_tells_the_reviewer_what_the_last_one_asked_for(crew: World) -> None:
    given(crew, BY_AGENT)
    reviewing(crew).call("submit_review", verdict="request_changes", summary="Round the prices.")
    reporting(crew.start("w1"))
    assert "Round the prices." in reviewing(crew).call("get_my_task")["task"]["description"]


def test_a_review_is_not_reported_as_other_work_is(crew: World) -> None:
    given(crew, BY_AGENT)
    reviewer = reviewing(crew)
    refusal = reviewer.refused("report_completed", "notNow", result="success", summary="Looks fine")
    assert "submit_review" in refusal["instruction"]


def test_other_work_is_not_reported_as_a_review(crew: World) -> None:
    crew.task("w1")
    refusal = crew.start("w1").refused("submit_review", "notNow", verdict="approve")
    assert "report_completed" in refusal["instruction"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "approve", "findings": [{"message": "It deletes the database.", "severity": "high"}]},
        {"verdict": "request_changes"},
        {"verdict": "request_changes", "summary": "  "},
        {"verdict": "maybe"},
        {"verdict": "request_changes", "findings": [{"message": " "}]},
    ],
)
def test_a_review_that_contradicts_itself_or_says_nothing_is_refused(crew: World, wrong: Answer) -> None:
    task, _ = given(crew, BY_AGENT)
    reviewing(crew).refused("submit_review", "validationError", **wrong)
    assert shown(crew, task)["checks"] == "in_review"


def test_a_review_sent_twice_counts_once(crew: World) -> None:
    given(crew, BY_AGENT)
    reviewer = reviewing(crew)
    first = reviewer.call("submit_review", verdict="approve")
    assert reviewer.call("submit_review", verdict="approve") == first
    assert len(crew.events("review.approved")) == 1


@pytest.mark.parametrize("ended", ["failed", "blocked"])
def test_where_the_agent_cannot_review_a_person_is_asked(crew: World, ended: str) -> None:
    task, _ = given(crew, BY_AGENT)
    reviewer = reviewing(crew)
    reviewer.call("report_completed", result=ended, summary="It does not build here.")
    if ended == "blocked":  # a person decides about the block first
        assert asked_of(crew) == []
        crew.move(open_review(crew, task)["review_task_id"], "cancelled")
    assert asked_of(crew) == [task]
    assert "w2 did not review it" in open_review(crew, task)["question"]
    answer(crew, task, None, "Add the tax.")
    assert crew.start("w1").next()["failed_checks"][0]["message"] == "Add the tax."


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("w1", "w1 is the author."),
        ("nobody", "there is no agent or person with the id nobody."),
        ("boss", "boss is not a worker."),
        ("away", "away is not a member of the project."),
        ("idle", "idle is inactive."),
        ("selfdriven", "selfdriven has no provider, so Toryo cannot start it."),
        ("runner", "runner only runs commands (provider command) and cannot review."),
    ],
)
def test_who_cannot_review_is_told_to_the_person_who_is_asked_with_the_reason(crew: World, by: str, told: str) -> None:
    crew.worker("away", projects=[])
    crew.worker("idle")
    crew.owner.call("deactivate_agent", agent_id="idle")
    crew.worker("selfdriven", provider=None)
    crew.worker("runner", provider="command")
    task, _ = given(crew, [{"review": {"by": by}}])
    assert asked_of(crew) == [task]
    assert open_review(crew, task)["question"].endswith(f"You are asked because {told}")
    assert shown(crew, task)["reviews"] == []


def test_a_busy_reviewer_begins_when_it_is_free(crew: World) -> None:
    other = crew.task("w2")
    busy = crew.start("w2")
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    assert crew.status(review) == "todo"
    busy.report()
    assert crew.status(other) == "completed"
    assert crew.status(review) == "in_progress"
    reviewing(crew).call("submit_review", verdict="approve")


@pytest.mark.parametrize("free", ["cancelled", "given away", "checked"])
def test_it_begins_at_once_however_its_agent_becomes_free(crew: World, free: str) -> None:
    acceptance: Answer = {"acceptance": [{"review": {"by": "w3"}}]} if free == "checked" else {}
    other = crew.task("w2", **acceptance)
    busy = crew.start("w2")
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    if free == "given away":
        crew.owner.call("edit_task", task_id=other, assignee_id="w3")
    elif free == "checked":
        reporting(busy)
    else:
        crew.move(other, free, "so")
    assert crew.status(review) == "in_progress"


@pytest.mark.parametrize("back", ["blocked", "todo"])
def test_a_person_who_puts_a_task_back_can_start_it_before_the_review_begins(crew: World, back: str) -> None:
    other = crew.task("w2")
    crew.start("w2")
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    crew.move(other, back, "so")
    assert crew.status(review) == "todo"
    crew.move(other, "in_progress")
    crew.move(other, back, "so")
    crew.advance(31)
    crew.housekeep()
    assert crew.status(review) == "in_progress"


def test_so_does_one_that_is_given_to_an_agent_that_is_free(crew: World) -> None:
    crew.task("w2")
    crew.start("w2")
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    assert crew.status(review) == "todo"
    crew.owner.call("edit_task", task_id=review, assignee_id="w3")
    assert crew.status(review) == "in_progress"


def test_a_reviewer_begins_the_next_review_as_soon_as_one_is_done(crew: World) -> None:
    first, _ = given(crew, BY_AGENT)
    second = crew.task("w3", acceptance=BY_AGENT)
    reporting(crew.start("w3"))
    [waiting] = shown(crew, second)["reviews"]
    assert waiting["status"] == "todo"
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(first) == "completed"
    assert crew.status(waiting["task_id"]) == "in_progress"
    assert crew.why("w2").startswith("start")


def test_the_review_itself_needs_no_review_and_no_checks(crew: World) -> None:
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"required_checks": BY_AGENT})
    task = crew.task("w1")
    worker = crew.start("w1")
    assert reporting(worker).result
    assert shown(crew, task)["checks"] == "in_review"
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(task) == "completed"


# --- by a person -----------------------------------------------------------------------------------------------------


def test_a_person_approves_with_one_answer(crew: World) -> None:
    task, _ = given(crew, [{"review": {}}])
    assert asked_of(crew) == [task]
    answer(crew, task, "Approve")
    assert crew.status(task) == "completed"
    assert shown(crew, task)["check_results"][0]["check"] == "review by owner"


def test_a_person_says_what_has_to_change(crew: World) -> None:
    task, _ = given(crew, [{"review": {}}])
    question = open_review(crew, task)["question_id"]
    crew.owner.refused("answer_question", "validationError", question_id=question, choices=["Request changes"])
    answer(crew, task, "Request changes", "Add the tax.")
    assert crew.start("w1").next()["failed_checks"][0]["message"] == "Add the tax."


def test_a_named_person_is_asked(crew: World) -> None:
    crew.member("mia")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="mia")
    task, _ = given(crew, [{"review": {"by": "mia"}}])
    assert open_review(crew, task)["to"] == "mia"


def test_several_reviews_follow_one_another(crew: World) -> None:
    task, _ = given(crew, [*BY_AGENT, {"review": {}}])
    assert asked_of(crew) == []
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(task) == "in_progress"
    assert asked_of(crew) == [task]
    answer(crew, task, "Approve")
    assert crew.status(task) == "completed"


def test_a_person_may_decide_before_the_agent_does(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    answer(crew, task, "Approve")
    assert (crew.status(task), crew.status(review)) == ("completed", "cancelled")
    assert asked_of(crew) == []


def test_a_review_is_not_withdrawn_but_the_task_can_be_confirmed(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    question = open_review(crew, task)
    refusal = crew.owner.refused("withdraw_question", "notNow", question_id=question["question_id"])
    assert f"toryo task confirm {task}" in refusal["instruction"]
    crew.owner.call("confirm_checks", task_id=task, passed=True)
    assert (crew.status(task), crew.status(question["review_task_id"])) == ("completed", "cancelled")


def test_an_answer_counts_for_its_own_task_only(crew: World) -> None:
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"required_checks": [{"review": {}}]})
    first, second = crew.task("w1"), crew.task("w2")
    for agent in ("w1", "w2"):
        reporting(crew.start(agent))
    found = crew.owner.call("list_questions", project_id=crew.project_id, state="open", task_id=first)["questions"]
    crew.owner.call("answer_question", question_id=found[0]["question_id"], choices=["Approve"])
    assert (crew.status(first), crew.status(second)) == ("completed", "in_progress")


# --- what happens meanwhile ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["todo", "cancelled", "blocked"])
def test_work_that_does_not_go_on_is_not_reviewed(crew: World, to: str) -> None:
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    crew.move(task, to, "Something else first")
    assert crew.status(review) == "cancelled"
    assert crew.owner.call("list_questions", project_id=crew.project_id, state="open")["questions"] == []
    assert not crew.why("w2").startswith("start")


def test_other_acceptance_checks_end_the_review(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    crew.owner.call("edit_task", task_id=task, acceptance=[{"file": "invoice.txt"}])
    assert (crew.status(review), shown(crew, task)["checks"]) == ("cancelled", "none")
    assert crew.why("w1").startswith("start")


def test_another_assignee_has_its_own_work_reviewed(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    crew.owner.call("edit_task", task_id=task, assignee_id="w3")
    assert crew.status(review) == "cancelled"
    worker = crew.start("w3")
    assert reporting(worker).result
    assert open_review(crew, task)["agent_id"] == "w3"


def test_a_new_subtask_keeps_an_approved_task_open_and_its_author_is_told(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    crew.owner.call("file_task", project_id=crew.project_id, parent_task_id=task, title="One more", assignee_id="w1")
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(task) == "in_progress"
    assert crew.why("w1").startswith("start")


def test_what_is_done_after_an_approval_that_completed_nothing_is_reviewed_again(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    more = crew.owner.call("file_task", project_id=crew.project_id, parent_task_id=task, title="More", assignee_id="w1")
    reviewing(crew).call("submit_review", verdict="approve")
    worker = crew.start("w1")
    crew.move(more["task_id"], "cancelled")
    reporting(worker)
    assert crew.status(task) == "in_progress"
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(task) == "completed"


def test_one_who_asks_for_its_next_action_instead_of_reporting_again_leaves(crew: World) -> None:
    crew.task("w1", acceptance=[{"file": "a.txt"}, *BY_AGENT])
    worker = crew.start("w1")
    assert reporting(worker).later is not None
    (check,) = checks(crew)
    judge(crew, check)
    said = worker.next()
    assert (said["action"], said["state"]) == ("wait_for_answer", "in_review")
    assert crew.why("w1") == "hold in_review"


def test_a_manager_is_reviewed_with_the_work_of_its_team(world: World) -> None:
    world.project()
    world.manager("boss")
    world.worker("w1", "boss")
    world.worker("w2")
    world.task("boss", acceptance=BY_AGENT)
    boss = world.start("boss")
    boss.call(
        "create_tasks_batch", tasks=[{"local_id": "a", "title": "Part", "description": "Do it.", "assignee_id": "w1"}]
    )
    part = boss.call("list_tasks")["tasks"][0]["task_id"]
    world.move(part, "in_progress")
    world.start("w1").report()
    assert reporting(boss).result
    assert world.why("boss") == "hold in_review"
    reviewing(world).call("submit_review", verdict="request_changes", summary="Say more.")
    assert world.why("boss").startswith("start")


def test_whoever_has_a_subtask_in_review_goes_on_with_others_then_leaves_and_is_not_started(crew: World) -> None:
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"required_checks": BY_AGENT})
    task = crew.task("w1")
    worker = crew.start("w1")
    worker.call("get_my_task")
    first = crew.task("w1", title="One", parent_task_id=task, status="todo")
    second = crew.task("w1", title="Two", parent_task_id=task, status="todo")
    for part in (first, second):
        said = worker.next()
        assert (said["action"], said["subtask"]["task_id"]) == ("start_subtask", part)
        worker.set(part, "in_progress")
        said = worker.refused("update_task_status", task_id=part, status="completed")
        assert said["instruction"] == "The work on the subtask is being reviewed. Call get_next_action."
    assert worker.next()["action"] == "wait_for_others"
    worker.call("logout")
    assert crew.why("w1") == "hold waiting_for_workers"
    for _ in (first, second):
        crew.housekeep()
        reviewing(crew).call("submit_review", verdict="approve")
    assert crew.why("w1").startswith("start")
    worker = crew.start("w1")
    worker.call("get_my_task")
    assert worker.next()["action"] == "report_completion"


# --- reviewers that cannot -------------------------------------------------------------------------------------------


def test_two_who_review_each_other_do_not_wait_for_each_other(crew: World) -> None:
    first = crew.task("w1", acceptance=[{"review": {"by": "w2"}}])
    second = crew.task("w2", acceptance=[{"review": {"by": "w1"}}])
    for agent in ("w1", "w2"):
        reporting(crew.start(agent))
    crew.housekeep()
    for agent in ("w1", "w2"):
        reviewing(crew, agent).call("submit_review", verdict="approve")
    assert (crew.status(first), crew.status(second)) == ("completed", "completed")


def test_nobody_is_given_the_review_of_their_own_work(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    question = open_review(crew, task)
    crew.owner.call("edit_agent", agent_id="w1", max_parallel_tasks=2)
    review = question["review_task_id"]
    refusal = crew.owner.refused("edit_task", "validationError", task_id=review, assignee_id="w1")
    assert f"toryo answer {question['question_id']}" in refusal["instruction"]
    crew.owner.call("edit_task", task_id=review, assignee_id="w3")
    reviewing(crew, "w3").call("submit_review", verdict="approve")
    assert shown(crew, task)["check_results"][0]["check"] == "review by w3"


@pytest.mark.parametrize("gone", ["deactivated", "removed", "without a provider", "unassigned", "put off"])
def test_where_a_review_waits_for_an_agent_that_cannot_do_it_any_more_a_person_is_asked(crew: World, gone: str) -> None:
    crew.task("w2")
    crew.start("w2")
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    owner = crew.owner
    if gone == "deactivated":
        owner.call("deactivate_agent", agent_id="w2")
    elif gone == "removed":
        owner.call("remove_member", agent_id="w2", project_id=crew.project_id)
    elif gone == "without a provider":
        owner.call("edit_agent", agent_id="w2", provider=None)
    elif gone == "unassigned":
        owner.call("edit_task", task_id=review, assignee_id=None)
    else:
        crew.move(review, "backlog")
    assert crew.why("w1") == "hold in_review"
    crew.housekeep()
    assert asked_of(crew) == [task]
    crew.owner.refused("move_task", "notNow", task_id=review, status="todo")
    answer(crew, task, "Approve")
    assert crew.status(task) == "completed"


def test_a_review_that_was_left_to_a_person_is_not_begun_again(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    reviewing(crew).call("report_completed", result="failed", summary="It does not build here.")
    review = next(event["task_id"] for event in crew.events("task.failed"))
    refusal = crew.owner.refused("move_task", "notNow", task_id=review, status="todo", reason="again")
    assert task in refusal["instruction"]
    kinds = [need["kind"] for need in crew.owner.call("needs_you")["items"]]
    assert (kinds.count("question"), "failed" in kinds) == (1, False)


def test_a_review_goes_on_after_its_project_was_archived_for_a_while(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    crew.owner.call("archive_project", project_id=crew.project_id)
    crew.housekeep()
    crew.owner.call("resume_project", project_id=crew.project_id)
    assert crew.why("w1") == "hold in_review"
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(task) == "completed"


def test_a_session_that_a_guard_has_stopped_approves_nothing(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    reviewer = reviewing(crew)
    while not reviewer.ask("get_my_task").refused:
        pass
    reviewer.refused("submit_review", "runaway", verdict="approve")
    assert shown(crew, task)["checks"] == "in_review"


def test_many_reviews_that_wait_for_one_agent_do_not_keep_another_from_beginning(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w1", max_parallel_tasks=60)
    for agent in ("w2", "w3"):
        crew.task(agent)
    crew.start("w2")
    busy = crew.start("w3")
    for by in (*["w2"] * 51, "w3"):
        last = crew.task("w1", acceptance=[{"review": {"by": by}}])
        reporting(crew.start("w1"))
    busy.report()
    crew.housekeep()
    reviewing(crew, "w3").call("submit_review", verdict="approve")
    assert crew.status(last) == "completed"


def test_the_story_of_a_task_says_that_a_review_requested_changes(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    reviewing(crew).call("submit_review", verdict="request_changes", summary="Round the prices.")
    (run,) = crew.owner.call("show_trace", correlation_id=shown(crew, task)["correlation_id"])["tasks"][0]["checks"]
    assert run["passed"] is False
    assert run["failures"] == [{"check": "review by w2", "message": "Round the prices."}]


@pytest.mark.parametrize("how", ["rejected", "blocked", "made to wait"])
def test_a_review_that_a_person_puts_off_is_left_to_a_person(crew: World, how: str) -> None:
    crew.task("w2")
    crew.start("w2")
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    if how == "rejected":
        crew.owner.call("reject_task", task_id=review, reason="no")
    elif how == "blocked":
        crew.move(review, "blocked", "not now")
    else:
        crew.owner.call("edit_task", task_id=review, add_dependencies=[task])
    crew.housekeep()
    assert asked_of(crew) == [task]


@pytest.mark.parametrize("gone", ["deactivate_agent", "remove_member"])
def test_a_review_in_progress_of_an_agent_that_leaves_is_left_to_a_person(crew: World, gone: str) -> None:
    task, _ = given(crew, BY_AGENT)
    place = {"project_id": crew.project_id} if gone == "remove_member" else {}
    crew.owner.call(gone, agent_id="w2", **place)
    crew.housekeep()
    assert asked_of(crew) == [task]


def test_a_review_has_no_checks_of_its_own_and_whoever_adds_some_is_told_where_they_belong(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    for given_checks in (BY_AGENT, [{"command": "true"}]):
        refused = crew.owner.refused("edit_task", "validationError", task_id=review, acceptance=given_checks)
        assert f"toryo task edit {task}" in refused["instruction"]
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(task) == "completed"


def test_a_reviewer_is_told_to_wait_for_what_prevents_its_report(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    review = open_review(crew, task)["review_task_id"]
    below = crew.owner.call("file_task", project_id=crew.project_id, parent_task_id=review, title="B", assignee_id="w3")
    reviewer = crew.start("w2")
    assert reviewer.next()["action"] != "execute_task"
    crew.move(below["task_id"], "cancelled")
    assert reviewer.next()["state"] == "reviewing"


def test_a_reviewer_whose_delegation_is_open_is_told_to_wait_for_it(crew: World) -> None:
    given(crew, BY_AGENT)
    reviewer = reviewing(crew)
    reviewer.call("delegate_to_chat_session", target_agent_id="w1", purpose="Ask why.")
    reviewer.refused("submit_review", "delegationOpen", verdict="approve")
    assert reviewer.action() == "wait_for_delegation"
    chat = crew.start_chat("w2")
    (asked,) = chat.fetch()["pending_delegations"]
    chat.call("report_delegation_completed", delegation_id=asked["delegation_id"], result="Because.")
    assert reviewer.next()["state"] == "reviewing"
    reviewer.call("submit_review", verdict="approve")


def test_who_fixes_is_told_to_wait_for_what_prevents_its_report(crew: World) -> None:
    task, _ = given(crew, BY_AGENT)
    reviewing(crew).call("submit_review", verdict="request_changes", summary="Round them.")
    below = crew.owner.call("file_task", project_id=crew.project_id, parent_task_id=task, title="B", assignee_id="w3")
    worker = crew.start("w1")
    assert worker.next()["action"] != "execute_task"
    crew.move(below["task_id"], "cancelled")
    assert worker.next()["state"] == "fixing_checks"


# --- checks that the project requires meanwhile ----------------------------------------------------------------------


def required(world: World, *commands: str) -> None:
    found = [{"command": each} for each in commands]
    world.owner.call("edit_project", project_id=world.project_id, settings={"required_checks": found})


def report_check(world: World, check: Answer, **ended: str) -> None:
    results = [
        {"check": each["command"], "outcome": ended.get(each["command"], "passed"), "runs": 1, "seconds": 0.1}
        for each in check["checks"]
    ]
    failures = [{"check": each["check"], "message": "no"} for each in results if each["outcome"] == "failed"]
    world.coordinator().call(
        "report_check_result",
        check_id=check["check_id"],
        failures=failures,
        results=[{**each, "exit_code": 0, "output": ""} for each in results],
    )


@pytest.mark.parametrize("before", [(), ("lint",)])
def test_a_check_that_is_required_during_the_review_is_run_after_the_approval(
    crew: World, before: tuple[str, ...]
) -> None:
    required(crew, *before)
    task = crew.task("w1", acceptance=BY_AGENT, title="Invoice")
    worker = crew.start("w1")
    reporting(worker, summary="All numbers are there.")
    for check in checks(crew):
        report_check(crew, check)
        reporting(worker, summary="All numbers are there.")
    crew.coordinator().exited(worker.launch_id, exit_code=0)
    reviewer = reviewing(crew)
    required(crew, *before, "test")
    reviewer.call("submit_review", verdict="approve", summary="Fine.")
    assert (crew.status(task), shown(crew, task)["checks"]) == ("in_progress", "running")
    assert crew.why("w1") == "hold checking"
    (check,) = checks(crew)
    assert [each["command"] for each in check["checks"]] == [*before, "test"]
    report_check(crew, check)
    found = shown(crew, task)
    assert (found["status"], found["checks"], found["summary"]) == ("completed", "passed", "All numbers are there.")
    assert [each["check"] for each in found["check_results"]] == [*before, "test", "review by w2"]
    assert checks(crew) == []


def test_if_such_a_check_fails_the_author_is_told(crew: World) -> None:
    task, worker = given(crew, BY_AGENT)
    crew.coordinator().exited(worker.launch_id, exit_code=0)
    reviewer = reviewing(crew)
    required(crew, "test")
    reviewer.call("submit_review", verdict="approve")
    (check,) = checks(crew)
    report_check(crew, check, test="failed")
    assert (crew.status(task), shown(crew, task)["checks"]) == ("in_progress", "failed")
    assert crew.why("w1").startswith("start")
    assert crew.start("w1").next()["state"] == "fixing_checks"


def test_checks_that_were_run_before_the_review_are_not_run_again(crew: World) -> None:
    required(crew, "lint", "test")
    task = crew.task("w1", acceptance=BY_AGENT, title="Invoice")
    worker = crew.start("w1")
    reporting(worker)
    (check,) = checks(crew)
    report_check(crew, check)
    reporting(worker)
    required(crew, "test")
    reviewing(crew).call("submit_review", verdict="approve")
    assert crew.status(task) == "completed"
    assert checks(crew) == []
