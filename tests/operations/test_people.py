"""People: what owners set up, what members may change and what not, approvals, blocks from above, settings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Caller, World

# --- logins ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def lena(crew: World) -> Caller:
    """A person whose login role is member, a member of the project."""
    member = crew.member("lena")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="lena")
    return member


def test_a_member_files_reads_and_changes_its_own_tasks_only(crew: World, lena: Caller):
    theirs = crew.task("w1", status="todo")
    own = lena.call("file_task", project_id=crew.project_id, title="Mine", assignee_id="w1")["task_id"]
    assert crew.show(own)["created_by"] == "lena"
    lena.call("edit_task", task_id=own, description="more")
    lena.call("move_task", task_id=own, status="in_progress")
    assert lena.call("show_task", task_id=theirs)["task"]["task_id"] == theirs
    lena.refused("edit_task", "permissionDenied", task_id=theirs, title="x")
    lena.refused("move_task", "permissionDenied", task_id=theirs, status="cancelled", reason="x")
    lena.refused("create_project", "permissionDenied", name="x", working_directory="/x")
    lena.refused("edit_agent", "permissionDenied", agent_id="w1", name="x")


def test_a_member_that_stands_above_an_agent_steers_its_tasks(crew: World, lena: Caller):
    """The right follows the ancestor relation, at any depth."""
    crew.owner.call("edit_agent", agent_id="boss", reports_to="lena")
    task = crew.task("w1", status="todo")
    lena.call("move_task", task_id=task, status="in_progress")
    lena.call("move_task", task_id=task, status="blocked", reason="wait")
    assert crew.show(task)["blocked_by"] == "lena"
    lena.call("move_task", task_id=task, status="in_progress")


def test_a_member_sees_its_projects_and_no_other(crew: World, lena: Caller):
    other = crew.project(name="Secret")
    assert [each["project_id"] for each in lena.call("list_projects")["projects"]] == [crew.project_id]
    lena.refused("show_project", "projectNotFound", project_id=other)
    seen = {event["project_id"] for event in lena.call("read_events", limit=1000)["events"]}
    assert other not in seen


# --- projects and agents ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "complains"),
    [
        ({"language": "fr"}, "en or ja"),
        ({"worker_subtasks": 0}, "from 1"),
        ({"worker_subtasks": "many"}, "whole number"),
        ({"nonsense": 1}, "worker_subtasks"),
        ({"budget_per_day": -1}, "from 0"),
    ],
)
def test_settings_that_are_impossible_are_refused_with_what_is_possible(
    world: World, settings: dict[str, Any], complains: str
):
    asked = {"name": "x", "working_directory": "/x", "settings": settings}
    refusal = world.owner.refused("create_project", "validationError", **asked)
    assert complains in refusal["instruction"]


def test_the_defaults_of_a_project_are_those_of_the_specification(world: World):
    project = world.project()
    settings = world.owner.call("show_project", project_id=project)["project"]["settings"]
    assert settings["language"] == "en"
    assert (settings["worker_subtasks"], settings["open_subtasks"], settings["subtasks_ever"]) == (5, 20, 60)
    assert (settings["tree_depth"], settings["open_requests"], settings["requests_per_hour"]) == (4, 5, 20)
    assert (settings["decomposition"], settings["isolation"], settings["commands_from"]) == (
        "required",
        "none",
        "people",
    )
    assert (settings["approvals"], settings["retry_attempts"], settings["stall_seconds"]) == ("requests", 3, 120)


def test_the_home_of_somebody_who_does_not_exist_is_no_directory(world: World):
    """Found by requests made at random: it was an internal error."""
    refusal = world.owner.refused("create_project", "validationError", name="P", working_directory="~nobody-here/x")
    assert "absolute" in refusal["message"]


def test_a_directory_is_absolute_and_the_home_is_expanded(world: World):
    world.owner.refused("create_project", "validationError", name="x", working_directory="here")
    made = world.owner.call("create_project", name="x", working_directory="~/x/../y")["project"]
    assert made["working_directory"].endswith("/y")
    assert "~" not in made["working_directory"]


def test_ids_may_be_chosen_once(crew: World):
    for wrong in ("Has Space", "UPPER", "-x", "ä"):
        crew.owner.refused("create_agent", "validationError", id=wrong, role="worker")
    refusal = crew.owner.refused("create_agent", "conflict", id="w1", role="worker")
    assert refusal["existing_id"] == "w1"
    crew.owner.refused("create_project", "conflict", id=crew.project_id, name="x", working_directory="/x")


def test_nobody_reports_to_itself_or_to_somebody_below(crew: World):
    crew.owner.refused("edit_agent", "validationError", agent_id="boss", reports_to="boss")
    crew.owner.refused("edit_agent", "validationError", agent_id="boss", reports_to="w1")
    crew.owner.refused("create_agent", "agentNotFound", id="x", role="worker", reports_to="nobody")


def test_a_person_has_no_provider(crew: World):
    crew.owner.refused("create_agent", "validationError", id="x", role="owner", kind="human", provider="claude")


def test_a_passkey_is_shown_once_and_never_again(crew: World):
    assert crew.passkeys["w1"] not in str(crew.owner.call("show_agent", agent_id="w1"))
    assert crew.passkeys["w1"] not in str(crew.events())


def test_an_archived_project_starts_nothing_stays_readable_and_can_go_on(crew: World):
    task = crew.task("w1")
    crew.owner.call("archive_project", project_id=crew.project_id)
    crew.owner.call("archive_project", project_id=crew.project_id)
    assert crew.coordinator().starts() == []
    assert crew.status(task) == "in_progress"
    crew.owner.refused("pause_project", "invalidTransition", project_id=crew.project_id)
    crew.owner.call("resume_project", project_id=crew.project_id)
    assert crew.coordinator().starts() == ["w1"]


# --- tasks from above ------------------------------------------------------------------------------------------------


def test_blocking_a_parent_blocks_everything_open_below_and_stops_who_works_there(crew: World):
    """UC008."""
    coordinator = crew.coordinator()
    crew.owner.call("edit_agent", agent_id="w2", max_parallel_tasks=3)
    main = crew.task("w1", title="Parent")
    parts = {
        "in_progress": crew.task("w2", title="A", parent_task_id=main),
        "todo": crew.task("w2", title="B", parent_task_id=main, status="todo"),
        "backlog": crew.task("w2", title="C", parent_task_id=main, status="backlog"),
    }
    (launch,) = coordinator.claim(agent_ids=["w2"])["start"]
    coordinator.running = [launch["launch_id"]]
    crew.process(launch).sign_in()
    crew.move(main, "blocked", "wrong house")
    assert [crew.status(each) for each in (main, *parts.values())] == ["blocked"] * 4
    assert coordinator.reason("w1") == "hold blocked_without_in_progress"
    crew.advance(61)
    assert [each["reason"] for each in coordinator.claim()["stop"]] == ["task_withdrawn"]
    coordinator.exited(launch["launch_id"], error="stopped")
    assert coordinator.starts() == []
    crew.move(main, "in_progress")
    assert {status: crew.status(part) for status, part in parts.items()} == {part: part for part in parts}


def test_a_child_that_was_blocked_on_its_own_stays_so_when_its_parent_is_unblocked(crew: World):
    """F93."""
    main = crew.task("w1")
    own = crew.task("w2", title="A", parent_task_id=main, status="todo")
    crew.move(own, "blocked", "its own reason")
    crew.move(main, "blocked", "x")
    crew.move(main, "todo")
    assert (crew.status(own), crew.show(own)["blocked_reason"]) == ("blocked", "its own reason")


def test_a_cascaded_block_is_lifted_at_its_cause(crew: World):
    main = crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    below = crew.task("w1", title="Below", parent_task_id=part, status="todo")
    boss.call("block_task", task_id=part, reason="wait")
    refusal = boss.refused("update_task_status", "notNow", task_id=below, status="todo")
    assert refusal["cause"] == part
    boss.set(part, "todo")
    assert crew.status(below) == "todo"
    assert crew.status(main) == "in_progress"


def test_in_progress_needs_an_assignee_on_every_path(crew: World):
    """F68."""
    task = crew.task(status="todo")
    crew.owner.refused("move_task", "invalidTransition", task_id=task, status="in_progress")
    asked = {"project_id": crew.project_id, "title": "x", "status": "in_progress"}
    crew.owner.refused("file_task", "invalidTransition", **asked)
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": None})
    boss.refused("update_task_status", "invalidTransition", task_id=part, status="in_progress")
    assert len(crew.owner.call("list_project_tasks", project_id=crew.project_id)["tasks"]) == 3


def test_the_parallel_limit_is_per_project_and_names_what_runs(crew: World):
    """F76."""
    first = crew.task("w1")
    other = crew.project(name="Garden")
    crew.owner.call("add_member", project_id=other, agent_id="w1")
    crew.owner.call("file_task", project_id=other, title="x", assignee_id="w1", status="in_progress")
    second = crew.task("w1", title="Second", status="todo")
    refusal = crew.owner.refused("move_task", "limitReached", task_id=second, status="in_progress")
    assert refusal["running"] == [first]


def test_a_draft_goes_into_progress_in_one_act_of_a_person_and_in_none_of_an_agent(crew: World):
    draft = crew.task("w1", status="backlog")
    assert crew.move(draft, "in_progress")["previous_status"] == "backlog"
    main = crew.task("boss")
    boss = crew.start("boss")
    part = crew.task("w2", status="backlog", parent_task_id=main)
    boss.refused("update_task_status", "invalidTransition", task_id=part, status="in_progress")


def test_in_a_project_where_all_tasks_need_approval_a_manager_waits_for_it(world: World):
    world.crew(workers=1, approvals="all")
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    assert world.show(part)["approval"] == "pending_approval"
    boss.refused("update_task_status", "notApproved", task_id=part, status="in_progress")
    boss.wait()
    assert world.coordinator().reason("boss") == "hold waiting_for_approval"
    world.owner.call("approve_task", task_id=part)
    assert world.show(part)["approved_by"] == "owner"
    assert world.coordinator().reason("boss") == "start plan_changed"


def test_a_request_of_a_superior_is_approved_by_that_superior_at_once(crew: World):
    """F90."""
    crew.task("boss")
    made = crew.start("boss").call("request_task", title="Please", assignee_id="w1")["task"]
    assert (made["approval"], made["approved_by"], made["status"]) == ("approved", "boss", "backlog")


def test_a_request_that_was_changed_after_its_approval_needs_it_again(crew: World):
    crew.task("w1")
    request = crew.start("w1").call("request_task", title="Please", assignee_id="w2")["task_id"]
    crew.owner.call("approve_task", task_id=request)
    crew.owner.call("edit_task", task_id=request, title="Changed by a person")
    assert crew.show(request)["approval"] == "approved"


def test_a_task_is_filed_for_members_and_for_an_agent_or_a_queue_not_both(crew: World):
    crew.owner.call("create_agent", id="stranger", role="worker")
    asked = {"project_id": crew.project_id, "title": "x"}
    crew.owner.refused("file_task", "permissionDenied", assignee_id="stranger", **asked)
    crew.owner.refused("file_task", "validationError", assignee_id="w1", agent_type="builds", **asked)


def test_a_person_may_not_file_below_what_is_closed(crew: World):
    main = crew.task("w1")
    crew.move(main, "cancelled", "x")
    asked = {"project_id": crew.project_id, "title": "x", "parent_task_id": main}
    crew.owner.refused("file_task", "invalidTransition", **asked)


def test_what_happens_to_one_request_can_be_read_by_its_correlation(crew: World):
    task = crew.task("w1")
    crew.start("w1").report()
    correlation = crew.show(task)["correlation_id"]
    kinds = [event["kind"] for event in crew.events(correlation_id=correlation)]
    assert {"task.created", "session.started", "task.completed", "session.ended"} <= set(kinds)
