"""The stories that Toryo is for: a manager and its workers (UC005), specialists side by side (UC006), one work after
another (UC007). What is asserted is asserted absent first; who did what when is read from the events.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]


def test_two_specialists_work_at_the_same_time_and_each_on_its_own(site: Site) -> None:
    directory = site.project("words", commands_from="managers")
    (directory / "hello.txt").write_text("hello\n")
    both_at_work = site.gate()
    plan = {
        "match": "Translate .*",
        "subtasks": [
            {
                "id": language,
                "title": f"Into {language}",
                "capability": language,
                "context": {
                    "command": f"echo at work; {both_at_work}; sed s/hello/{word}/ hello.txt > hello_{code}.txt",
                    "outputs": [f"hello_{code}.txt"],
                },
            }
            for language, code, word in (("japanese", "ja", "こんにちは"), ("chinese", "zh", "你好"))
        ],
    }
    site.lead("lead", "words", plans=[plan])
    for language in ("japanese", "chinese"):
        site.hire(language, "words", reports_to="lead", capabilities=[language])
    assert not list(directory.glob("hello_*"))

    site.coordinator()
    main = site.file("words", "Translate hello.txt", assignee_id="lead", status="in_progress")
    for language in ("japanese", "chinese"):
        site.until_printed(_task_of(site, language), "at work")
    assert site.status(main) == "in_progress"
    both_at_work.open()
    site.until_status(main, "completed")
    site.until_idle()

    tasks = site.tasks("words")
    assert {title: (task["assignee_id"], task["status"]) for title, task in tasks.items()} == {
        "Translate hello.txt": ("lead", "completed"),
        "Into japanese": ("japanese", "completed"),
        "Into chinese": ("chinese", "completed"),
    }
    assert (directory / "hello_ja.txt").read_text() == "こんにちは\n"
    assert (directory / "hello_zh.txt").read_text() == "你好\n"
    assert site.history.overlapped("japanese", "chinese")
    started = Counter(start["agent_id"] for start in site.history.starts())
    assert started == {"lead": 2, "japanese": 1, "chinese": 1}
    assert site.history.idle_starts() == []


def test_what_depends_is_never_in_progress_before_the_other_is_completed(site: Site) -> None:
    directory = site.project("numbers", commands_from="managers")
    plan = {
        "match": "Double .*",
        "subtasks": [
            {
                "id": "seed",
                "title": "Draw",
                "assignee": "generator",
                "context": {
                    "command": "awk 'BEGIN { srand(); print int(rand() * 1000) + 1 }' > seed.txt",
                    "outputs": ["seed.txt"],
                },
            },
            {
                "id": "double",
                "title": "Double",
                "assignee": "calculator",
                "depends_on": ["seed"],
                "context": {"command": "awk '{ print 2 * $1 }' seed.txt > result.txt", "outputs": ["result.txt"]},
            },
        ],
    }
    site.lead("lead", "numbers", plans=[plan])
    for name in ("generator", "calculator"):
        site.hire(name, "numbers", reports_to="lead")
    assert not list(directory.iterdir())

    site.coordinator()
    main = site.file("numbers", "Double a number", assignee_id="lead", status="in_progress")
    site.until_status(main, "completed")
    site.until_idle()

    tasks, history = site.tasks("numbers"), site.history
    drawn, doubled = tasks["Draw"], tasks["Double"]
    assert {task["status"] for task in tasks.values()} == {"completed"}
    assert doubled["dependencies"] == [drawn["task_id"]]
    begun = history.first("task.started", task_id=doubled["task_id"])
    assert history.first("task.completed", task_id=drawn["task_id"]) < begun
    assert begun < history.starts(agent_id="calculator")[0]["sequence"]
    seed, result = ((directory / name) for name in ("seed.txt", "result.txt"))
    assert int(result.read_text()) == 2 * int(seed.read_text())
    assert 1 <= int(seed.read_text()) <= 1000
    assert seed.stat().st_mtime_ns < result.stat().st_mtime_ns
    assert Counter(start["agent_id"] for start in history.starts()) == {"lead": 3, "generator": 1, "calculator": 1}
    assert history.idle_starts() == []


def _task_of(site: Site, agent_id: str) -> str:
    """The task that an agent signed in for first."""
    started = site.until(f"{agent_id} has a task", lambda: site.history.starts(agent_id=agent_id))
    return str(started[0]["data"]["task_id"])
