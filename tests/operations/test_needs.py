"""What needs a person: only what does, as long as it does, the most urgent first, and only whom it concerns."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests import raw_words
from tests.documents.test_pages import wrong as mistake_in
from tests.operations.test_queue import claimed, filed, key, poller
from tests.stories import Answer, World
from toryo.domain.needs import Kind, Need
from toryo.domain.projects import Language
from toryo.operations.calls.credential_verification import digest
from toryo.operations.overview.needs import answers
from toryo.operations.translations import translate
from toryo.storage.engine.database import Connection
from toryo.storage.transaction import Transaction


@pytest.fixture
def crew(world: World) -> World:
    """A manager `boss` with two workers; `ann`, a person, stands above them."""
    world.project()
    world.person("ann")
    world.manager("boss", "ann")
    for each in ("w1", "w2"):
        world.worker(each, "boss")
    return world


def needs(world: World, person: str = "ann", **more: object) -> list[Answer]:
    """While a Coordinator is there that could start everybody."""
    world.coordinator("anybody").claim(free_slots=0)
    asked = {} if person == "owner" else {"as_person": person}
    found: list[Answer] = world.owner.call("needs_you", **asked, **more)["items"]
    assert [said for item in found for said in raw_on_a_page(item)] == []
    return found


def raw_on_a_page(item: Answer) -> list[str]:
    """What a page would show that is no word for people. It draws tasks for their ids, and instants in its own time."""
    said = [item["title"], item["text"]]
    shown = [each if type(each) is str else translate(each, it, page=True) for each in said for it in Language]
    drawn = re.compile(rf"\btsk_[0-9a-z]+|{raw_words.RAW['an instant']}\S*")
    return [found for each in shown for found in raw_words.raw(drawn.sub("…", each))]


def kinds(world: World, person: str = "ann") -> list[str]:
    return [need["kind"] for need in needs(world, person)]


def commands(item: Answer) -> list[str]:
    return [action["command"] for action in item["actions"]]


def test_where_everything_goes_its_way_nobody_is_needed(crew: World):
    main = crew.task("boss")
    boss = crew.start("boss")
    part, _ = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(part)
    crew.start("w1")
    crew.task("w2", status="todo")
    crew.housekeep()
    assert needs(crew) == needs(crew, "owner") == []
    assert crew.status(main) == "in_progress"


# --- requests --------------------------------------------------------------------------------------------------------


def requested(world: World) -> str:
    world.task("w1")
    made: str = world.start("w1").call("request_task", title="Paint it", assignee_id="w2", description="Blue.")[
        "task_id"
    ]
    return made


def test_a_request_needs_the_person_above_the_assignee_until_it_is_judged(crew: World):
    task = requested(crew)
    (item,) = needs(crew)
    assert (item["kind"], item["task_id"], item["project_id"]) == ("approval", task, crew.project_id)
    assert "Paint it" in item["title"]
    assert "Blue." in item["text"]
    assert commands(item) == [
        f"toryo task approve {task}",
        f"toryo task reject {task} --reason …",
        f"toryo task show {task}",
    ]
    assert needs(crew, "owner") == []
    crew.owner.call("approve_task", task_id=task)
    assert needs(crew) == []


@pytest.mark.parametrize("end", ["reject", "cancel"])
def test_a_request_that_is_rejected_or_cancelled_needs_nobody(crew: World, end: str):
    task = requested(crew)
    if end == "reject":
        crew.owner.call("reject_task", task_id=task, reason="no")
        assert needs(crew) == needs(crew, "owner") == []
        return
    crew.move(task, "cancelled", "not needed")
    assert needs(crew) == needs(crew, "owner") == []


def asked_by_message(world: World) -> list[str]:
    (asked,) = world.events("task.approval_asked")
    people: list[str] = asked["data"]["asked"]
    return people


def test_every_person_above_is_asked_and_nobody_else(crew: World):
    crew.person("max")
    crew.person("zoe")
    crew.owner.call("edit_agent", agent_id="ann", reports_to="max")
    requested(crew)
    assert kinds(crew, "ann") == kinds(crew, "max") == ["approval"]
    assert kinds(crew, "zoe") == kinds(crew, "owner") == []
    assert asked_by_message(crew) == ["ann", "max"]


@pytest.mark.parametrize("gone", ["nobody above", "inactive", "not in the project"])
def test_where_no_person_above_can_judge_the_owners_are_needed(crew: World, gone: str):
    if gone == "nobody above":
        crew.owner.call("edit_agent", agent_id="boss", reports_to=None)
    elif gone == "inactive":
        crew.owner.call("deactivate_agent", agent_id="ann")
    else:
        crew.owner.call("remove_member", project_id=crew.project_id, agent_id="ann")
    requested(crew)
    assert kinds(crew, "owner") == ["approval"]
    assert kinds(crew, "ann") == []
    assert asked_by_message(crew) == ["owner"], "those who are told by message are those whose need it is"


# --- blocks ----------------------------------------------------------------------------------------------------------


def left_again_and_again(world: World, agent_id: str) -> str:
    """A task whose agent leaves without reporting until a guard blocks it."""
    task = world.task(agent_id)
    for _ in range(3):
        world.start(agent_id).call("logout")
        world.advance(4_000)
    assert world.show(task)["blocked_reason"] == "agent_left_without_reporting"
    return task


def test_what_a_guard_has_blocked_needs_the_person_above_until_it_is_lifted(crew: World):
    task = left_again_and_again(crew, "w1")
    (item,) = needs(crew)
    assert (item["kind"], item["task_id"], item["agent_id"]) == ("blocked_by_guard", task, "w1")
    assert "without reporting" in item["text"]
    assert f"toryo task move {task} in_progress" in commands(item)
    assert f"toryo logs {launch_of(crew, task)}" in commands(item)
    assert needs(crew, "owner") == []
    crew.move(task, "in_progress")
    assert needs(crew) == []


def test_only_the_person_next_above_is_needed_for_a_block(crew: World):
    crew.person("max")
    crew.owner.call("edit_agent", agent_id="ann", reports_to="max")
    left_again_and_again(crew, "w1")
    assert kinds(crew, "ann") == ["blocked_by_guard"]
    assert kinds(crew, "max") == []


def test_a_block_an_agent_reports_of_its_own_task_needs_a_person(crew: World):
    task = crew.task("w1")
    crew.start("w1").report("blocked", "the key is missing")
    (item,) = needs(crew)
    assert (item["kind"], item["task_id"]) == ("blocked", task)
    assert "the key is missing" in item["text"]


def test_what_a_manager_at_work_decides_about_needs_no_person_until_the_manager_gives_it_up(crew: World):
    main = crew.task("boss")
    boss = crew.start("boss")
    part, _ = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(part)
    boss.wait()
    crew.start("w1").report("blocked", "the key is missing")
    assert needs(crew) == []
    boss = crew.start("boss")
    boss.report("blocked", "nobody has the key")
    assert crew.status(main) == "blocked"
    assert sorted((need["kind"], need["task_id"]) for need in needs(crew)) == [("blocked", part)]


def test_a_block_that_a_manager_has_seen_and_leaves_open_while_others_work_needs_no_person_yet(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    part, other = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(part, other)
    boss.wait()
    crew.start("w1").report("blocked", "the key is missing")
    crew.start("boss").wait()
    assert crew.why("boss") == "hold handled_blocked"
    assert needs(crew) == []


def test_a_guards_block_needs_a_person_whatever_the_manager_above_does(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    part, _ = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(part)
    for _ in range(3):
        crew.start("w1").call("logout")
        crew.advance(60)
        boss.call("list_tasks")
    assert [(need["kind"], need["task_id"]) for need in needs(crew)] == [("blocked_by_guard", part)]


def test_what_a_person_has_blocked_needs_nobody(crew: World):
    task = crew.task("w1")
    crew.move(task, "blocked", "wait for spring")
    assert needs(crew) == needs(crew, "owner") == []


def test_an_archived_project_needs_nobody(crew: World):
    left_again_and_again(crew, "w1")
    assert len(needs(crew)) == 1
    crew.owner.call("archive_project", project_id=crew.project_id)
    assert needs(crew) == []


# --- messages --------------------------------------------------------------------------------------------------------


def written(world: World, content: str = "Which colour?", to: str = "ann") -> None:
    """`w1` writes to a person."""
    world.say("w1", "Ask away.", as_person=to) if to != "owner" else world.say("w1", "Ask away.")
    chat = world.start_chat("w1")
    chat.fetch()
    chat.call("respond_chat", target_agent_id=to, content=content)
    chat.call("logout")


def test_an_unread_message_needs_its_reader_until_it_was_shown(crew: World):
    written(crew)
    (item,) = needs(crew)
    assert (item["kind"], item["agent_id"], item["project_id"]) == ("message", "w1", crew.project_id)
    assert item["text"] == "Which colour?"
    assert commands(item) == [f"toryo chat w1 --project {crew.project_id}"]
    assert needs(crew, "owner") == []
    read = crew.owner.call("read_chat", project_id=crew.project_id, agent_id="w1", as_person="ann")
    assert needs(crew) != []
    crew.owner.call("open_chat", project_id=crew.project_id, agent_id="w1", as_person="ann", seen=read["last"])
    assert needs(crew) == []


def test_several_messages_of_one_thread_are_one_item_with_the_newest(crew: World):
    written(crew, "One")
    written(crew, "Two")
    (item,) = needs(crew)
    assert item["text"].startswith("Two")
    assert "2 new messages" in item["text"]


def test_a_message_that_nobody_comes_for_needs_its_writer_until_somebody_does(crew: World):
    crew.say("w1", "Are you there?", as_person="ann")
    crew.advance(301)
    crew.housekeep()
    (item,) = needs(crew)
    assert (item["kind"], item["agent_id"]) == ("nobody_came", "w1")
    assert "has not read your message" in item["text"]
    chat = crew.start_chat("w1")
    chat.fetch()
    assert needs(crew) == []


def test_what_toryo_says_about_a_request_is_no_message_beside_it(crew: World):
    """It is asked in the thread with the assignee, who has not come for something else there."""
    crew.say("w2", "Are you there?", as_person="ann")
    requested(crew)
    assert kinds(crew) == ["approval"]


# --- work that does not go on ----------------------------------------------------------------------------------------


def test_a_stall_needs_the_person_above_until_something_happens(crew: World):
    main = crew.task("boss")
    part = crew.task("w2", title="One", parent_task_id=main, status="todo")
    crew.advance(121)
    crew.coordinator().claim(free_slots=0)
    assert needs(crew) == []
    crew.housekeep()
    (item,) = needs(crew)
    assert (item["kind"], item["task_id"]) == ("stalled", main)
    crew.move(part, "in_progress")
    assert needs(crew) == []


def test_an_awaited_delegation_that_failed_needs_a_person_until_it_is_asked_anew(crew: World):
    task = crew.task("w1")
    worker = crew.start("w1")
    worker.call("delegate_to_chat_session", target_agent_id="w2", purpose="Agree on colours.")
    chat = crew.start_chat("w1")
    (delegation,) = chat.fetch()["pending_delegations"]
    assert needs(crew) == []
    chat.call("report_delegation_completed", delegation_id=delegation["delegation_id"], result="no", success=False)
    (item,) = needs(crew)
    assert (item["kind"], item["task_id"]) == ("delegation_failed", task)
    assert "Agree on colours." in item["text"]
    worker.call("delegate_to_chat_session", target_agent_id="w2", purpose="Agree on colours, please.")
    assert needs(crew) == []


def test_a_delegation_that_nobody_waits_for_needs_nobody_when_it_fails(crew: World):
    crew.task("w1")
    worker = crew.start("w1")
    asked = {"target_agent_id": "w2", "purpose": "Say hello.", "await_result": False}
    delegation = worker.call("delegate_to_chat_session", **asked)["delegation_id"]
    chat = crew.start_chat("w1")
    chat.fetch()
    chat.call("report_delegation_completed", delegation_id=delegation, result="no", success=False)
    assert needs(crew) == []


# --- failures --------------------------------------------------------------------------------------------------------


def launch_of(world: World, task: str) -> str:
    """The newest launch for a task."""
    launch_id: str = world.owner.call("list_launches", task_id=task)["launches"][0]["launch_id"]
    return launch_id


def failed(world: World, agent_id: str, **more: Any) -> str:
    task = world.task(agent_id, **more)
    world.start(agent_id).report("failed", "the disk is full")
    return task


@pytest.mark.parametrize("to", ["todo", "cancelled"])
def test_a_failure_needs_the_person_above_until_it_is_tried_again_or_given_up(crew: World, to: str):
    task = failed(crew, "w1")
    (item,) = needs(crew)
    assert (item["kind"], item["task_id"], item["agent_id"]) == ("failed", task, "w1")
    assert "the disk is full" in item["text"]
    assert commands(item)[:2] == [f"toryo task retry {task}", f"toryo task cancel {task} --reason …"]
    assert f"toryo logs {launch_of(crew, task)}" in commands(item)
    assert needs(crew, "owner") == []
    crew.move(task, to, "it was too large")
    assert needs(crew) == []


def test_a_failed_part_needs_no_person_as_long_as_the_manager_above_is_at_work_or_when_its_whole_is_over(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    part, other = boss.assigned({"One": "w1", "Two": "w2"})
    boss.begin(part, other)
    boss.wait()
    crew.start("w1").report("failed", "the disk is full")
    assert needs(crew) == []
    crew.start("w2").report("success", "done")
    boss = crew.start("boss")
    boss.report("failed", "a part of it has failed")
    assert [(need["kind"], need["agent_id"]) for need in needs(crew)] == [("failed", "boss")]


def test_a_failed_part_of_what_a_person_does_needs_a_person(crew: World):
    mine = crew.task("ann")
    part = failed(crew, "w1", parent_task_id=mine)
    assert [(need["kind"], need["task_id"]) for need in needs(crew)] == [("failed", part), ("task", mine)]


def test_the_log_of_a_failed_part_is_that_of_the_process_that_was_started_for_the_whole(crew: World):
    main = crew.task("w1")
    session = crew.start("w1")
    (part,) = session.batch("Part")
    session.call("get_next_action")
    session.set(part, "in_progress")
    session.set(part, "failed", "the disk is full")
    crew.move(main, "todo")
    (item,) = needs(crew)
    assert item["task_id"] == part
    assert f"toryo logs {launch_of(crew, main)}" in commands(item)


def test_what_a_person_has_moved_to_failed_and_what_has_failed_long_ago_needs_nobody(crew: World):
    crew.move(crew.task("w1"), "failed", "it makes no sense")
    assert needs(crew) == []
    failed(crew, "w2")
    assert kinds(crew) == ["failed"]
    crew.advance(31 * 86_400)
    assert needs(crew) == []


def test_a_dead_letter_needs_an_owner_until_it_is_requeued(crew: World):
    orchestrator, planner = key(crew, "chief", orchestrator=True), poller(crew)
    task = filed(orchestrator, "Plan it")
    (got,) = claimed(planner, "planner-1")
    planner.call("submit_result", task_id=task, attempt=got["attempt"], status="failed", error="no", retryable=False)
    (item,) = needs(crew, "owner")
    assert (item["kind"], item["task_id"]) == ("dead_letter", task)
    assert commands(item)[0] == f"toryo queue requeue {task}"
    crew.owner.call("requeue_task", task_id=task)
    assert needs(crew, "owner") == []


def test_the_dead_letters_of_one_queue_are_one_need_as_long_as_there_is_any(crew: World):
    orchestrator, planner = key(crew, "chief", orchestrator=True), poller(crew)
    tasks = [filed(orchestrator, title) for title in ("One", "Two", "Three")]
    fail(planner)
    (alone,) = needs(crew, "owner")
    assert alone["title"].startswith("Dead letter: ")
    fail(planner)
    fail(planner)
    (item,) = needs(crew, "owner")
    assert item["title"].endswith(" and 2 more")
    assert item["key"] == alone["key"]
    assert commands(item) == [f"toryo queue dead --project {crew.project_id}"]
    for left in (2, 1, 0):
        crew.owner.call("requeue_task", task_id=item["task_id"])
        tasks.remove(item["task_id"])
        found = needs(crew, "owner")
        assert len(found) == min(left, 1)
        item = found[0] if found else item
    assert tasks == []


def fail(planner: Any) -> None:
    """The next task of the queue, for good."""
    (got,) = claimed(planner, "planner-1")
    asked = {"task_id": got["task_id"], "attempt": got["attempt"], "status": "failed"}
    planner.call("submit_result", **asked, error="no", retryable=False)


# --- agents ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reason",
    [
        "not_logged_in",
        "command_not_found",
        "model_not_available",
        "bad_config",
        "unmetered",
        "bad_directory",
        "bad_worktree",
        "bad_setup",
    ],
)
def test_an_agent_that_only_a_person_can_mend_is_shown_until_it_runs(crew: World, reason: str):
    crew.task("w1")
    launch = crew.started("w1").launch_id
    crew.coordinator().exited(launch, exit_code=1, error=f"{reason}: do it this way")
    (item,) = needs(crew)
    assert (item["kind"], item["agent_id"], item["project_id"]) == ("agent_cannot_start", "w1", None)
    assert "do it this way" in item["text"]
    crew.advance(61)
    assert kinds(crew) == ["agent_cannot_start"]
    crew.start("w1")
    assert needs(crew) == []


@pytest.mark.parametrize(
    ("reason", "operation", "option", "change"),
    [
        ("bad_config", "edit_agent", "--option NAME=VALUE", {"provider_options": {"permissions": "read"}}),
        ("unmetered", "edit_agent", "--option unmetered=true", {"provider_options": {"unmetered": True}}),
        ("model_not_available", "edit_agent", "--model NAME", {"model": "another"}),
        ("bad_worktree", "edit_project", "--set isolation=none", {"settings": {"isolation": "worktree"}}),
        ("bad_setup", "edit_project", "--set worktree_setup=COMMANDS", {"settings": {"worktree_setup": ["true"]}}),
        ("bad_directory", "edit_project", "--dir PATH", {"working_directory": "/elsewhere"}),
    ],
)
def test_what_cannot_start_says_what_corrects_it_and_that_ends_the_cooldown(
    crew: World, reason: str, operation: str, option: str, change: dict[str, Any]
):
    crew.worker("w9")
    crew.task("w9")
    crew.coordinator().exited(crew.started("w9").launch_id, exit_code=1, error=f"{reason}: it is wrong")
    (item,) = needs(crew, "owner")
    kind, name = ("project", crew.project_id) if operation == "edit_project" else ("agent", "w9")
    assert commands(item)[0] == f"toryo {kind} edit {name} {option}"
    assert crew.coordinator().starts() == []
    crew.owner.call(operation, **{f"{kind}_id": name}, **change)
    assert needs(crew, "owner") == []
    assert crew.coordinator().starts() == ["w9"]


def test_an_agent_that_starts_for_neither_purpose_is_one_item(crew: World):
    crew.task("w1")
    crew.say("w1", "Are you there?", as_person="ann")
    launches = crew.coordinator().claim(free_slots=1, free_chat_slots=1)["start"]
    assert sorted(each["purpose"] for each in launches) == ["chat", "task"]
    for launch in launches:
        crew.coordinator().exited(launch["launch_id"], exit_code=1, error="not_logged_in: x")
    assert kinds(crew) == ["agent_cannot_start"]


def test_an_agent_that_cools_down_by_itself_needs_nobody(crew: World):
    crew.task("w1")
    launch = crew.started("w1").launch_id
    crew.coordinator().exited(launch, error="quota: come back later", quota_reset_seconds=600)
    assert needs(crew) == []


@pytest.mark.parametrize("reason", ["turn_limit", "output_flood", "timed_out"])
def test_an_agent_that_a_guard_has_stopped_is_shown_while_it_cools_down_because_of_it(crew: World, reason: str):
    crew.task("w1")
    launch = crew.started("w1").launch_id
    crew.coordinator().exited(launch, exit_code=1, error=f"{reason}: after 200 turns")
    (item,) = needs(crew)
    assert (item["kind"], item["agent_id"]) == ("runaway", "w1")
    assert "after 200 turns" in item["text"]
    assert commands(item) == ["toryo agent resume w1", f"toryo logs {launch}"]
    crew.owner.call("resume_agent", agent_id="w1")
    assert needs(crew) == []


def test_a_locked_sign_in_is_shown_while_it_is_locked_and_only_for_agents_there_are(crew: World):
    for agent_id in ("w1", "stranger"):
        for _ in range(5):
            crew.nobody.refused("authenticate", agent_id=agent_id, passkey="guessed")
    assert [(need["kind"], need["agent_id"]) for need in needs(crew)] == [("sign_in_locked", "w1")]
    assert needs(crew, "owner") == []
    crew.advance(61)
    assert needs(crew) == []


# --- one's own -------------------------------------------------------------------------------------------------------


def test_a_persons_own_task_in_progress_is_theirs_to_do(crew: World):
    task = crew.task("ann")
    crew.task("ann", status="todo", title="Later")
    (item,) = needs(crew)
    assert (item["kind"], item["task_id"]) == ("task", task)
    assert f"toryo task move {task} completed" in commands(item)
    crew.move(task, "completed")
    assert needs(crew) == []


# --- the list --------------------------------------------------------------------------------------------------------


def test_the_most_urgent_comes_first_and_of_the_same_kind_the_newest(crew: World):
    own = crew.task("ann")
    crew.task("boss")
    crew.start("boss").report("blocked", "one")
    crew.task("w2", title="Another")
    crew.start("w2").report("blocked", "two")
    written(crew)
    requested(crew)
    found = needs(crew)
    assert [each["kind"] for each in found] == ["approval", "blocked", "blocked", "message", "task"]
    assert [each["agent_id"] for each in found[1:3]] == ["w2", "boss"]
    assert found[-1]["task_id"] == own
    assert len({each["key"] for each in found}) == 5


def test_every_command_that_an_item_names_exists(crew: World):
    crew.task("ann")
    left_again_and_again(crew, "w2")
    crew.say("boss", "Are you there?", as_person="ann")
    crew.advance(301)
    crew.housekeep()
    written(crew)
    requested(crew)
    crew.coordinator().exited(crew.start_chat("boss").launch_id, exit_code=1, error="not_logged_in: x")
    for _ in range(5):
        crew.nobody.refused("authenticate", agent_id="w1", passkey="guessed")
    main = crew.task("boss")
    crew.task("w2", title="One", parent_task_id=main, status="todo")
    crew.advance(59)
    found = needs(crew)
    assert len({each["kind"] for each in found}) >= 6
    assert [wrong for item in found for command in commands(item) if (wrong := mistake_in(command))] == []


def test_of_one_project_only_what_is_in_it_is_shown(crew: World):
    crew.task("ann")
    other = crew.project(name="Other")
    assert len(needs(crew, project_id=crew.project_id)) == 1
    assert needs(crew, project_id=other) == []
    crew.owner.refused("needs_you", "projectNotFound", project_id="prj_none")


def test_asking_changes_nothing(crew: World):
    requested(crew)
    written(crew)
    before = crew.rows()
    crew.owner.call("needs_you", as_person="ann")
    assert crew.rows() == before


def test_a_member_sees_their_own_list_and_nobody_elses(crew: World):
    lena = crew.member("lena")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="lena")
    crew.task("lena")
    assert [item["kind"] for item in lena.call("needs_you")["items"]] == ["task"]
    assert lena.call("needs_you", as_person="lena")["person_id"] == "lena"
    lena.refused("needs_you", "permissionDenied", as_person="ann")
    crew.owner.refused("needs_you", "validationError", as_person="w1")
    crew.owner.refused("needs_you", "agentNotFound", as_person="nobody")


def test_what_is_in_a_project_one_has_left_is_not_shown(crew: World):
    token = "tpt_ann"

    def work(connection: Connection) -> None:
        tokens = Transaction(connection).tokens
        tokens.add(digest(token), "person", "ann", crew.now, agent_id="ann", login="member")

    crew.database.write(work)
    ann = type(crew.owner)(crew, token)
    written(crew)
    assert len(ann.call("needs_you")["items"]) == 1
    crew.owner.call("remove_member", project_id=crew.project_id, agent_id="ann")
    assert ann.call("needs_you")["items"] == []


# --- since when ------------------------------------------------------------------------------------------------------


def test_a_runaway_is_told_since_it_happened_and_until_its_agent_has_done_well(crew: World):
    task = crew.task("w1")
    process = crew.start("w1")
    for _ in range(25):
        process.ask("get_task", task_id="tsk_none")
    assert process.next()["reason"] == "runaway"
    at = crew.iso()
    crew.coordinator().exited(process.launch_id, exit_code=143, error="stopped")
    for _ in range(3):
        crew.advance(600)
        crew.coordinator().claim(free_slots=0)
        (item,) = needs(crew)
        assert (item["kind"], item["agent_id"], item["since"]) == ("runaway", "w1", at)
    crew.start("w1").report("success", "done")
    assert needs(crew) == []
    assert crew.status(task) == "completed"


def test_a_runaway_that_has_nothing_to_do_any_more_is_told_while_it_cools_down(crew: World):
    task = crew.task("w1")
    crew.coordinator().exited(crew.started("w1").launch_id, exit_code=1, error="silent: for 1800 s")
    crew.move(task, "cancelled", "not needed")
    assert kinds(crew) == ["runaway"]
    crew.advance(61)
    assert kinds(crew) == []


def without_model(crew: World, provider: str, **of_task: Any) -> str:
    """A task that a program without a model has reported blocked."""
    crew.owner.call("edit_agent", agent_id="w1", provider=provider)
    task = crew.task("w1", title="Sweep", **of_task)
    crew.start("w1").report("blocked", "cannot")
    return task


@pytest.mark.parametrize(
    ("provider", "of_task", "first"),
    [
        ("command", {}, 'toryo task edit {task} --context \'{{"command": "…"}}\''),
        ("command", {"context": {"command": "ls"}}, "toryo task edit {task} --context …"),
        ("script", {}, "toryo task edit {task} --context …"),
    ],
)
def test_where_unblocking_alone_changes_nothing_the_step_before_it_is_told(
    crew: World, provider: str, of_task: dict[str, Any], first: str
) -> None:
    task = without_model(crew, provider, **of_task)
    (item,) = needs(crew)
    assert commands(item)[:2] == [first.format(task=task), f"toryo task move {task} in_progress"]
    assert "then unblock it" in item["text"]
    assert commands(item)[0] in why_of(crew, "w1")
    told = crew.owner.call("show_moves", task_id=task)["first"]
    assert told["actions"][0]["command"] == commands(item)[0]
    assert told["text"] in item["text"]
    crew.owner.call("move_task", task_id=task, status="in_progress")
    assert crew.owner.call("show_moves", task_id=task)["first"] is None


def why_of(crew: World, agent: str) -> str:
    [told] = [
        decision for decision in crew.owner.call("why", agent_id=agent)["decisions"] if decision["purpose"] == "task"
    ]
    return str(told["explanation"])


def test_a_model_may_do_better_so_unblocking_comes_first(crew: World) -> None:
    task = crew.task("w1")
    crew.start("w1").report("blocked", "cannot")
    assert commands(needs(crew)[0])[0] == f"toryo task move {task} in_progress"


def test_why_names_the_task_that_can_be_started_and_the_command_that_starts_it(crew: World) -> None:
    assert "toryo task add TITLE --project" in why_of(crew, "w1")
    task = crew.task("w1", title="Sweep", status="todo")
    assert f"toryo task move {task} in_progress" in why_of(crew, "w1")
    first = crew.task("w2", title="First", status="todo")
    crew.owner.call("edit_task", task_id=task, add_dependencies=[first])
    assert "move" not in why_of(crew, "w1")
    assert "“Sweep” (todo) cannot be started yet:" in why_of(crew, "w1")
    ready = crew.task("w1", title="Dust", status="todo", priority="low")
    assert f"“Dust” is todo. To start it: toryo task move {ready} in_progress" in why_of(crew, "w1")


def test_why_of_a_paused_project_says_that_chats_go_on(crew: World) -> None:
    crew.task("w1")
    crew.owner.call("pause_project", project_id=crew.project_id)
    assert "no tasks are worked on; chats go on" in why_of(crew, "w1")
    crew.say("w1", "Are you there?", as_person="ann")
    assert [each["purpose"] for each in crew.coordinator().claim(free_slots=1, free_chat_slots=1)["start"]] == ["chat"]


def test_why_names_a_provider_that_nobody_has_though_nothing_is_to_be_started(crew: World) -> None:
    crew.owner.call("edit_agent", agent_id="w1", provider="cluade")
    assert "No Coordinator has the provider cluade" in why_of(crew, "w1")
    assert "toryo agent edit w1 --provider NAME" in why_of(crew, "w1")
    crew.owner.call("edit_agent", agent_id="w1", provider="claude")
    assert "--provider NAME" not in why_of(crew, "w1")


def test_why_names_a_failed_task_and_how_it_is_tried_again(crew: World) -> None:
    task = crew.task("w1", title="Sweep")
    crew.start("w1").report("failed", "cannot")
    assert f"toryo task retry {task}" in why_of(crew, "w1")


@pytest.mark.parametrize(
    ("about", "path"),
    [
        ({"task_id": "tsk_1", "agent_id": "anna"}, "/t/tsk_1"),
        ({"kind": Kind.MESSAGE, "task_id": "tsk_1", "agent_id": "anna"}, "/p/a%2Fb/chat?agent=anna"),
        ({"kind": Kind.REVIEW, "task_id": "tsk_1", "agent_id": "anna"}, "/p/a%2Fb/review/tsk_1"),
        ({"agent_id": "anna"}, "/p/a%2Fb"),
        ({"project_id": None, "agent_id": "anna"}, "/"),
    ],
)
def test_a_need_leads_to_where_the_dashboard_shows_it(about: dict[str, Any], path: str):
    """An id that the file of a team has chosen could hold any of these characters."""
    given = {"person_id": "ann", "kind": Kind.BLOCKED, "about": "", "title": "", "text": "", "since": 0, "actions": ()}
    assert answers.need(Need(**{**given, "project_id": "a/b", **about}), 0)["path"] == path
