"""What a Coordinator keeps of its launches is on the disk before it goes on."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import pytest

from tests.client.fake_server import BOUND
from toryo.coordinator.launch_journal import Journal, Record
from toryo.coordinator.orders import Launch


def test_a_launch_that_is_noted_is_on_the_disk_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "launches"
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(number: int) -> None:
        found = os.fstat(number)
        done.append("directory" if stat.S_ISDIR(found.st_mode) else f"file of {bool(found.st_size)}")
        sync(number)

    def renamed(path: Path, target: Path) -> Path:
        done.append("name")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    journal = Journal(directory)

    journal.put(Record(_launch("launch_1"), pid=7, began=11))
    assert journal.settle(BOUND)

    assert done == ["file of True", "name", "directory"]
    assert [(record.launch.launch_id, record.pid, record.began) for record in journal.read()] == [("launch_1", 7, 11)]


def test_a_slow_disk_holds_nobody_up_and_gets_everything_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, sync = threading.Event(), os.fsync

    def slow(number: int) -> None:
        assert free.wait(60)
        sync(number)

    monkeypatch.setattr(os, "fsync", slow)
    journal = Journal(tmp_path / "launches")
    for record in (Record(_launch("launch_1"), pid=7), Record(_launch("launch_2"), pid=8)):
        journal.put(record)
    journal.forget("launch_1")
    journal.put(Record(_launch("launch_2"), told={"exit_code": 0}))
    free.set()
    assert journal.settle(BOUND)
    assert [(each.launch.launch_id, each.pid, each.told) for each in journal.read()] == [
        ("launch_2", None, {"exit_code": 0})
    ]


class Watched:
    """A lock that tells when it is asked for."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._lock = threading.Lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        self.asked.set()
        return self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def test_nothing_is_added_while_who_writes_looks_whether_there_is_more(tmp_path: Path) -> None:
    """It would end, and leave what was added unwritten."""
    journal = Journal(tmp_path / "launches")
    lock = Watched()
    journal._idle = threading.Condition(cast("threading.Lock", lock))
    adding = threading.Thread(target=journal.put, args=(Record(_launch("launch_1"), pid=7),))
    with lock:
        lock.asked.clear()
        adding.start()
        assert lock.asked.wait(BOUND)
        assert not journal._jobs
    adding.join(BOUND)
    assert journal.settle(BOUND)
    assert [record.pid for record in journal.read()] == [7]


def test_launches_that_are_noted_while_the_disk_is_busy_share_one_sync_of_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, free, sync = threading.Event(), threading.Event(), os.fsync
    synced: list[bool] = []

    def slow(number: int) -> None:
        begun.set()
        assert free.wait(60)
        synced.append(stat.S_ISDIR(os.fstat(number).st_mode))
        sync(number)

    monkeypatch.setattr(os, "fsync", slow)
    journal = Journal(tmp_path / "launches")
    journal.put(Record(_launch("launch_0"), pid=1))
    assert begun.wait(BOUND)
    for number in range(1, 6):
        journal.put(Record(_launch(f"launch_{number}"), pid=1))
    free.set()
    assert journal.settle(BOUND)
    assert synced == [False, True, *[False] * 5, True]
    assert len(list(journal.read())) == 6


@pytest.mark.parametrize("told", [{"exit_code": 3}, {"error": "crashed"}])
def test_an_end_that_is_still_to_be_told_is_kept_whoever_is_found_running_after_it(
    tmp_path: Path, told: dict[str, object]
) -> None:
    for journal in (Journal(tmp_path / "launches"), Journal(tmp_path / "launches")):
        journal.put(Record(_launch("launch_1"), told=told))
        journal.put(Record(_launch("launch_1"), pid=7))
        assert journal.settle(BOUND)
        assert [(each.pid, each.told) for each in journal.read()] == [(None, told)]


def test_an_end_that_is_still_to_be_told_may_be_told_otherwise(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "launches")
    journal.put(Record(_launch("launch_1"), told={"exit_code": 0}))
    journal.put(Record(_launch("launch_1"), told={"error": "coordinator_stopped"}))
    assert journal.settle(BOUND)
    assert [record.told for record in journal.read()] == [{"error": "coordinator_stopped"}]


def test_who_is_started_again_after_its_end_was_told_is_running(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "launches")
    journal.put(Record(_launch("launch_1"), told={"exit_code": 0}))
    journal.forget("launch_1")
    journal.put(Record(_launch("launch_1"), pid=7))
    assert journal.settle(BOUND)
    assert [(record.pid, record.told) for record in journal.read()] == [(7, None)]


def test_a_launch_is_noted_before_its_process_is_started_and_that_waits_for_no_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    journal = Journal(tmp_path / "launches")
    journal.begin(Record(_launch("launch_1"), worktree="/w"))
    assert [(each.launch.launch_id, each.pid, each.worktree) for each in journal.read()] == [("launch_1", None, "/w")]
    assert synced == []


HANGS = """
import os, sys, threading
from pathlib import Path
from typing import cast
from toryo.coordinator.launch_journal import Journal, Record
from toryo.coordinator.orders import Launch
os.fsync = lambda _: threading.Event().wait()
journal = Journal(Path(sys.argv[1]))
journal.put(Record(Launch(launch_id="launch_1", agent_id="a", project_id="p")))
sys.exit(4 if journal.settle(0.1) else 3)
"""


def test_a_disk_that_hangs_keeps_no_process_from_ending(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", HANGS, tmp_path / "launches"], check=False, timeout=BOUND)
    assert ended.returncode == 3


def test_what_an_older_coordinator_has_noted_is_read(tmp_path: Path) -> None:
    launch = {"launch_id": "launch_1", "agent_id": "a", "project_id": "p"}
    noted = {"launch": launch, "pid": 7, "began": 11, "worktree": None, "told": None}
    (tmp_path / "launch_1.json").write_text(json.dumps(noted))
    assert [(record.pid, record.began, record.boot) for record in Journal(tmp_path).read()] == [(7, 11, None)]


def _launch(launch_id: str) -> Launch:
    return Launch(launch_id=launch_id, agent_id="a", project_id="p", purpose="task", ai_type="command")
