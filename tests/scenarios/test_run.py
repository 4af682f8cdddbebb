"""`toryo run` from a file to its result, with real processes: four chains of three tasks by three agents, merged by the
queue, while the person leaves and comes back, the Coordinator is killed, and one task fails once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Ended, Process, Toryo
from tests.environments import clean_environment
from toryo import process_locks

pytestmark = [pytest.mark.deep, pytest.mark.timeout(900, method="signal")]

CHECK = 'for f in parts/*; do [ "$f" = "parts/*" ] || grep -q ok "$f" || exit 1; done'
TRIED = "test -e .tried || { touch .tried; exit 1; }; "
"""Fails in a worktree in which it has not been tried yet."""


class House:
    """A git repository with a check, and a plan for it."""

    def __init__(self, place: Path, home: Path, *, merge_queue: str, steps: int = 3) -> None:
        self.place = place
        place.mkdir()
        for words in (
            ("init", "-q", "-b", "main"),
            ("config", "user.name", "A"),
            ("config", "user.email", "a@example.org"),
            ("commit", "-q", "--allow-empty", "-m", "before"),
        ):
            self.git(*words)
        settings = {
            "start": "when_ready",
            "isolation": "worktree",
            "merge_queue": merge_queue,
            "required_checks": [{"command": CHECK}],
        }
        plan = {
            "projects": [{"id": "house", "name": "House", "directory": ".", "settings": settings}],
            "agents": [
                {"id": f"w{each}", "role": "worker", "provider": "command", "projects": ["house"]} for each in (1, 2, 3)
            ],
            "tasks": [self._task(chain, step) for chain in range(4) for step in range(1, steps + 1)],
        }
        (place / "toryo.yaml").write_text(yaml.safe_dump(plan), "utf-8")
        self.toryo = Toryo(place, clean_environment(home))
        assert self.toryo("init", "--yes").code == 0, "the data directory of the project"
        self.data = Path((place / ".toryo" / "data-dir").read_text().strip())

    @staticmethod
    def _task(chain: int, step: int) -> dict[str, Any]:
        name = "abcd"[chain]
        before = f"grep -q ok parts/{name}{step - 1} && " if step > 1 else ""
        command = f"{before}mkdir -p parts && echo ok > parts/{name}{step}"
        return {
            "project": "house",
            "title": f"Part {name}{step}",
            "assignee": f"w{(chain + step) % 3 + 1}",
            "depends_on": [f"Part {name}{step - 1}"] if step > 1 else [],
            "context": {"command": (TRIED if (name, step) == ("c", 2) else "") + command},
        }

    def git(self, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=self.place, check=True, capture_output=True, text=True).stdout

    def started(self, *options: str) -> Process:
        return Process(
            "run", "toryo.yaml", "--yes", *options, environment=self.toryo.environment, cwd=self.place, real=True
        )

    def ran(self, *options: str) -> tuple[int, dict[str, Any]]:
        """How it ends, and its document."""
        ended: Ended = self.toryo("run", "toryo.yaml", "--yes", "--wait", "0", "--json", *options)
        return ended.code, json.loads(ended.out)

    def kill_the_coordinator(self) -> None:
        [lock] = (self.data / process_locks.COORDINATORS).glob("*.lock")
        os.kill(process_locks.pid_in(lock), signal.SIGKILL)

    def merges(self) -> list[str]:
        """The commits of the branch, without those below its merges."""
        return self.git("log", "--first-parent", "--format=%H", "main").split()


@pytest.fixture
def houses(tmp_path: Path) -> Iterator[list[House]]:
    opened: list[House] = []
    yield opened
    for each in opened:
        each.toryo("down")


def test_from_a_file_to_the_merged_result_whatever_happens_on_the_way(houses: list[House], tmp_path: Path) -> None:
    house = House(tmp_path / "house", tmp_path, merge_queue="automatic")
    houses.append(house)

    leaves = house.started()
    leaves.until("12 tasks created")
    leaves.until("✔ completed")
    assert leaves.interrupt() == 130
    assert any("The same command follows it again" in line for line in leaves.lines)
    assert [*process_locks.holders(house.data)], "the work goes on"

    stays = house.started("--wait", "0")
    stays.until("0 tasks created, 12 were there already")
    house.kill_the_coordinator()
    stays.until("Starting them again")
    stays.until("The server answers again")
    assert stays.process.wait(600) == 1, stays.lines
    assert any("10 of 12 tasks completed, 10 merged into main" in line for line in stays.lines)
    assert any("Failed: Part c2: " in line and "task retry" in line for line in stays.lines)

    assert house.toryo("task", "retry", "Part c2").code == 0
    code, found = house.ran("--down")
    assert (code, found["success"], found["merged"], len(found["tasks"])) == (0, True, 12, 12)
    assert {each["status"] for each in found["tasks"]} == {"completed"}
    assert found["critical_path_seconds"] > 0
    assert [*process_locks.holders(house.data)] == [], "what it had started is stopped"
    for commit in house.merges():
        house.git("checkout", "-q", commit)
        assert subprocess.run(CHECK, shell=True, cwd=house.place, check=False).returncode == 0, commit
    house.git("checkout", "-q", "main")
    assert sorted(each.name for each in (house.place / "parts").iterdir()) == [
        f"{c}{n}" for c in "abcd" for n in (1, 2, 3)
    ]


def test_without_a_merge_queue_it_ends_with_5_and_names_the_reviews(houses: list[House], tmp_path: Path) -> None:
    house = House(tmp_path / "house", tmp_path, merge_queue="off", steps=1)
    houses.append(house)
    code, found = house.ran()
    assert (code, found["outcome"], found["merged"]) == (5, "person_needed", 0)
    assert [each["kind"] for each in found["needs"]] == ["review"] * 4
    ended = house.toryo("run", "toryo.yaml", "--wait", "0")
    assert (ended.code, ended.out.count("Review changes: Part ")) == (5, 2 * 4), ended.out
    assert "task merge" in ended.out
    for each in found["tasks"]:
        assert house.toryo("task", "merge", each["task_id"]).code == 0
    code, found = house.ran("--down")
    assert (code, found["merged"], found["files_changed"]) == (0, 4, 4)
