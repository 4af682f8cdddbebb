"""What an agent reports after it was told to leave: it counts where it was asked for, else it is kept, and said so."""

from __future__ import annotations

import pytest

from tests.stories import Caller, Process, World


def stopped(crew: World) -> tuple[str, Process]:
    """A worker that has asked until a guard stopped it, and was told to exit."""
    task = crew.task("w1")
    worker = crew.start("w1")
    while (said := worker.next())["action"] != "exit":
        pass
    assert said["reason"] == "runaway"
    assert "report_completed" in said["instruction"]
    return task, worker


def notes(crew: World, task_id: str) -> list[str]:
    return [event["data"]["note_id"] for event in crew.events("note.saved", task_id=task_id)]


@pytest.mark.parametrize("result", ["blocked", "failed"])
def test_the_report_that_a_stopped_agent_is_told_to_make_counts(crew: World, result: str) -> None:
    task, worker = stopped(crew)
    answer = worker.report(result, summary="the door is locked")
    assert (answer["status"], answer["task_id"]) == (result, task)
    shown = crew.show(task)
    assert shown["status"] == result
    assert "the door is locked" in (shown["blocked_reason"], shown["error"])
    assert worker.report(result, summary="the door is locked") == answer
    assert len(crew.events(f"task.{result}")) == 1


def test_a_stopped_agent_reports_no_success(crew: World) -> None:
    task, worker = stopped(crew)
    refusal = worker.refused("report_completed", "runaway", result="success", summary="all done")
    assert 'result="blocked"' in refusal["instruction"]
    assert crew.status(task) == "in_progress"


def test_a_report_that_comes_too_late_changes_nothing_is_kept_and_says_so(crew: World) -> None:
    task, worker = stopped(crew)
    crew.advance(61)
    answer = worker.report("blocked", summary="the door is locked")
    assert answer["status"] == "unchanged"
    assert "Nothing was changed" in answer["instruction"]
    assert "kept as a note" in answer["instruction"]
    assert crew.status(task) == "in_progress"
    assert len(notes(crew, task)) == 1
    worker.report("blocked", summary="the door is locked")
    worker.report("blocked", summary="and again")
    assert len(notes(crew, task)) == 1


def test_a_report_does_not_count_once_somebody_else_works_on_the_task(crew: World) -> None:
    task, worker = stopped(crew)
    crew.owner.call("resume_agent", agent_id="w1")
    other = crew.start("w1")
    answer = worker.report("blocked", summary="the door is locked")
    assert answer["status"] == "unchanged"
    assert crew.status(task) == "in_progress"
    assert other.next()["action"] != "exit"


def test_the_report_of_somebody_who_may_not_be_here_any_more_does_not_count(crew: World) -> None:
    task, worker = stopped(crew)
    crew.owner.call("deactivate_agent", agent_id="w1")
    assert worker.report("blocked", summary="x")["status"] == "unchanged"
    assert crew.status(task) == "in_progress"


def test_a_report_about_a_task_that_was_taken_away_says_that_it_is_kept(crew: World) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    crew.owner.call("edit_task", task_id=task, assignee_id="w2")
    answer = worker.report(summary="half of it is done")
    assert answer["status"] == "unchanged"
    assert "no longer yours" in answer["instruction"]
    assert "kept as a note" in answer["instruction"]


def test_who_was_removed_after_its_session_ended_reads_nothing_and_leaves_nothing_behind(crew: World) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    worker.call("logout")
    crew.owner.call("deactivate_agent", agent_id="w1")
    for name in ("list_tasks", "list_team", "get_project", "save_progress"):
        worker.refused(name, "sessionExpired", **({"progress": "hostile"} if name == "save_progress" else {}))
    answer = worker.report("blocked", summary="hostile words")
    assert answer["status"] == "unchanged"
    assert "kept" not in answer["instruction"]
    assert "hostile" not in repr(crew.owner.call("show_task", task_id=task))


def test_the_report_of_a_stopped_agent_does_not_count_for_a_task_that_a_person_has_set_up_anew(crew: World) -> None:
    task, worker = stopped(crew)
    crew.move(task, "todo")
    crew.move(task, "in_progress")
    answer = worker.report("failed", summary="the door is locked")
    assert answer["status"] == "unchanged"
    assert crew.status(task) == "in_progress"
    assert len(notes(crew, task)) == 1


def test_nor_does_that_of_one_that_a_guard_has_caught_and_nobody_has_told_yet(crew: World) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    for _ in range(25):
        worker.ask("get_task", task_id="tsk_none")
    assert crew.sessions()[0]["runaway"]
    crew.move(task, "todo")
    crew.move(task, "in_progress")
    assert worker.report("failed", summary="the door is locked")["status"] == "unchanged"
    assert crew.status(task) == "in_progress"


@pytest.mark.parametrize("renewed", [True, False])
def test_a_session_that_has_ended_leaves_no_note_once_its_passkey_was_renewed(crew: World, renewed: bool) -> None:
    crew.task("w1")
    signed_in = crew.nobody.call("authenticate", agent_id="w1", passkey=crew.passkeys["w1"])
    token = Caller(crew, None, signed_in["session_token"])
    token.call("report_model", provider="claude", model_id="model-1")
    token.call("get_my_task")
    token.call("logout")
    if renewed:
        crew.owner.call("renew_passkey", agent_id="w1")
        token.refused("save_progress", "sessionExpired", progress="hostile words")
        token.refused("list_tasks", "sessionExpired")
    else:
        assert token.call("save_progress", progress="where I was")


# --- nothing was heard of it, and then it reports ---------------------------------------------------------------------


def given_up(crew: World) -> tuple[str, Process]:
    """A worker that goes on although nothing was heard of it for a lease."""
    task = crew.task("w1")
    worker = crew.start("w1")
    crew.advance(91)
    crew.housekeep()
    assert crew.sessions() == []
    return task, worker


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("result", "status"), [("success", "completed"), ("failed", "failed"), ("blocked", "blocked")])
def test_what_was_finished_counts_however_late_if_nobody_else_has_begun(
    crew: World, result: str, status: str, ordered: bool
) -> None:
    task, worker = given_up(crew)
    crew.advance(3600)
    if ordered:
        crew.started("w1")
    assert worker.report(result, summary="here it is")["status"] == status
    assert crew.status(task) == status
    assert crew.why("w1") != "start has_in_progress_task"
    assert worker.report(result, summary="here it is")["status"] == status


@pytest.mark.parametrize("what", ["somebody has begun", "somebody has begun and left", "it was set up anew"])
def test_it_does_not_count_once_the_work_has_gone_on_without_it(crew: World, what: str) -> None:
    task, worker = given_up(crew)
    if what == "it was set up anew":
        crew.move(task, "todo")
        crew.move(task, "in_progress")
    else:
        other = crew.start("w1")
        if what.endswith("left"):
            crew.coordinator().exited(other.launch_id, signal=9, error="killed")
    assert worker.report(summary="here it is")["status"] == "unchanged"
    assert crew.status(task) == "in_progress"


def unreported(result: str = "success", **more: str) -> dict[str, object]:
    return {"tool": "report_completed", "arguments": {"result": result, "summary": "here it is", **more}}


@pytest.mark.parametrize("heard", [True, False])
def test_a_result_that_its_process_could_not_report_comes_with_the_end_of_the_process(crew: World, heard: bool) -> None:
    if heard:
        task = crew.task("w1")
        worker = crew.start("w1")
    else:
        task, worker = given_up(crew)
    crew.coordinator().exited(worker.launch_id, signal=9, error="killed", unreported=unreported())
    assert (crew.status(task), crew.show(task)["summary"]) == ("completed", "here it is")
    assert [each["data"]["reason"] for each in crew.events("session.ended")] == [
        "reported" if heard else "lease_expired"
    ]


@pytest.mark.parametrize("arguments", [{"result": "success", "no": 1}, {"result": "perfect"}, {}])
def test_what_makes_no_sense_leaves_an_end_like_any_other(crew: World, arguments: dict[str, object]) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    told = {"tool": "report_completed", "arguments": arguments}
    crew.coordinator().exited(worker.launch_id, signal=9, error="killed", unreported=told)
    assert crew.status(task) == "in_progress"
    assert crew.sessions() == []


def test_a_result_that_the_server_has_taken_already_changes_nothing_when_it_comes_again(crew: World) -> None:
    task = crew.task("w1")
    worker = crew.start("w1")
    worker.report(summary="here it is")
    before = len(crew.events(task_id=task))
    crew.coordinator().exited(worker.launch_id, exit_code=0, unreported=unreported("failed"))
    assert crew.status(task) == "completed"
    assert len(crew.events(task_id=task)) == before


@pytest.mark.parametrize("taken", [False, True])
def test_a_task_of_a_queue_counts_likewise_if_it_has_gone_back_and_nobody_has_taken_it(
    world: World, taken: bool
) -> None:
    world.project(decomposition="never")
    for name in ("q1", "q2"):
        world.worker(name, agent_type="plan")
    filed = world.owner.call("file_task", project_id=world.project_id, title="Plan", agent_type="plan")
    task = filed["task_id"]
    worker = world.start("q1")
    world.advance(91)
    world.housekeep()
    assert world.status(task) == "todo"
    if taken:
        world.advance(10)
        world.start("q2")
    answer = worker.call("report_completed", result="success", summary="here it is")
    assert answer["status"] == ("unchanged" if taken else "completed")
    assert world.status(task) == ("in_progress" if taken else "completed")


def test_a_result_that_comes_with_the_end_of_its_process_is_checked_like_any_other(crew: World) -> None:
    task = crew.task("w1", acceptance=[{"command": "make test"}])
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim(agent_ids=["w1"], free_slots=1)["start"]
    worker = crew.process(launch)
    worker.sign_in()
    worker.call("report_model", provider="claude", model_id="model-1")
    worker.call("get_my_task")
    coordinator.exited(worker.launch_id, signal=9, error="killed", unreported=unreported())
    (check,) = coordinator.claim(agent_ids=["w1"], free_slots=1)["checks"]
    coordinator.call("report_check_result", check_id=check["check_id"], failures=[])
    assert (crew.status(task), crew.show(task)["summary"]) == ("completed", "here it is")
    assert len(crew.launches(agent_id="w1")) == 1
