"""The words of an answer name the subtasks that it is about, and no others; its fields have the same ones."""

from __future__ import annotations

from tests.stories import Process, World

EVERY = ("Done", "Gone", "Lost", "Held")


def finished(crew: World) -> tuple[Process, dict[str, str]]:
    """A manager whose subtasks are completed, cancelled, failed and blocked."""
    crew.task("boss")
    boss = crew.start("boss")
    ids = dict(zip(EVERY, boss.assigned(dict.fromkeys(EVERY, "w1")), strict=True))
    crew.move(ids["Done"], "in_progress")
    crew.move(ids["Done"], "completed")
    crew.move(ids["Gone"], "cancelled", "not needed")
    crew.move(ids["Held"], "blocked", "no paint")
    crew.move(ids["Lost"], "in_progress")
    crew.move(ids["Lost"], "failed", "the wall fell")
    return boss, ids


def test_what_is_blocked_or_failed_is_named_and_nothing_else(crew: World) -> None:
    boss, ids = finished(crew)
    said = boss.next()
    assert said["action"] == "review_and_resolve_blocks"
    named = f"Only blocked or failed subtasks remain: {ids['Lost']} (failed), {ids['Held']} (blocked). Inspect"
    assert named in said["instruction"]
    assert [(each["title"], each["status"]) for each in said["blocked_subtasks"]] == [
        ("Lost", "failed"),
        ("Held", "blocked"),
    ]
    assert [each["blocked_reason"] for each in said["blocked_subtasks"]] == ["the wall fell", "no paint"]


def test_what_a_worker_cannot_go_on_with_is_named_and_nothing_else(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    first, second = worker.batch("First", "Second")
    crew.move(first, "blocked", "no paint")
    crew.move(second, "cancelled", "not needed")
    said = worker.next()
    assert said["action"] == "review_and_resolve_blocks"
    assert f"remain: {first} (blocked). If" in said["instruction"]
    assert [each["title"] for each in said["blocked_subtasks"]] == ["First"]


def test_progress_counts_what_is_done_of_what_is_not_cancelled(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    first, second, third = worker.batch("First", "Second", "Third")
    for each in (first, second):
        assert worker.action() == "start_subtask"
        worker.set(each, "in_progress")
        said = worker.next()
        done = [first, second].index(each)
        assert f"Do subtask {each} now: “{['First', 'Second'][done]}” ({done} of 3 are done)." in said["instruction"]
        assert (said["subtask"]["task_id"], said["progress"]) == (each, {"done": done, "total": 3})
        worker.set(each, "completed")
    said = worker.next()
    assert (said["subtask"]["task_id"], said["progress"]) == (third, {"done": 2, "total": 3})


def test_a_cancelled_subtask_is_no_part_of_the_progress(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    first, second = worker.batch("First", "Second")
    crew.move(first, "cancelled", "not needed")
    worker.set(second, "in_progress")
    said = worker.next()
    assert (said["action"], said["progress"]) == ("execute_subtask", {"done": 0, "total": 1})
    assert f"Do subtask {second} now: “Second” (0 of 1 are done)." in said["instruction"]


def test_what_waits_is_named_with_what_it_waits_for(crew: World) -> None:
    crew.task("w1")
    worker = crew.start("w1")
    tasks = [
        {"local_id": "a", "title": "First", "description": "x"},
        {"local_id": "b", "title": "Second", "description": "x", "dependencies": ["a"]},
        {"local_id": "c", "title": "Third", "description": "x"},
    ]
    made = worker.call("create_tasks_batch", tasks=tasks)["local_id_to_real_id"]
    crew.move(made["a"], "backlog")
    crew.move(made["c"], "cancelled", "not needed")
    said = worker.next()
    assert said["action"] == "resolve_dependency_deadlock"
    waiting = [f"{made['a']} is backlog", f"{made['b']} is todo, waits for {made['a']} (backlog)"]
    assert said["waiting"] == waiting
    assert f"No subtask can be started: {'; '.join(waiting)}. " in said["instruction"]


def test_what_can_be_started_is_named(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    tasks = [
        {"local_id": "a", "title": "First", "description": "x", "assignee_id": "w1"},
        {"local_id": "b", "title": "Second", "description": "x", "assignee_id": "w1", "dependencies": ["a"]},
        {"local_id": "c", "title": "Third", "description": "x", "assignee_id": "w2"},
    ]
    made = boss.call("create_tasks_batch", tasks=tasks)["local_id_to_real_id"]
    boss.next()
    boss.call("select_action", action="start")
    assert f"Ready now: {made['a']}, {made['c']}. 2." in boss.next()["instruction"]
