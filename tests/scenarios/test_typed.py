"""The story of the README as it is typed: a git repository, `toryo init`, `up` and `apply`, and a loop that files four
chains of three tasks for anyone who is free. Nothing else is typed, and all of it is merged. Then one piece of work
that passes the checks and is wrong all the same is sent back. How `toryo run` ends without a merge queue is in
test_run.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Process
from tests.cli.fakes import Machine
from tests.documents.readers import PROGRAMS
from tests.environments import PACKAGES
from toryo.client import Client, server_discovery

pytestmark = [pytest.mark.deep, pytest.mark.timeout(900, method="signal")]

CHECK = """\
for file in parts/*-?; do
    [ -e "$file" ] || continue
    grep -q ok "$file" || exit 1
    step=${file#*-}
    [ "$step" = 1 ] || [ -e "${file%-*}-$((step - 1))" ] || exit 1
done
"""
"""A part without what it builds on is wrong."""
INIT = "toryo init --yes --workers 3 --check 'sh check.sh' --merge automatic"
LOOP = """\
for chain in a b c d; do
    toryo task add $chain-1 --assignee any --context '{"command": "mkdir -p parts; echo ok > parts/'$chain'-1"}'
    for step in 2 3; do
        toryo task add $chain-$step --assignee any --depends-on $chain-$((step - 1)) \\
            --context '{"command": "sleep 1; echo ok > parts/'$chain-$step'"}'
    done
done
"""
WITHIN = 300.0
LOOK_SECONDS = 2.0
"""How long a task may be ready while somebody is free: a look, on a machine that does other things, too."""


class Shop:
    """A git repository with a check, and somebody at a shell there."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder)
        for name in PROGRAMS:
            found = next((path for path in (Path("/usr/bin", name), Path("/bin", name)) if path.exists()), None)
            if found is not None and not (self.machine.bin / name).exists():
                (self.machine.bin / name).symlink_to(found)
        self.machine.put("toryo", f'#!/bin/sh\nPYTHONPATH="{PACKAGES}" exec "{sys.executable}" -m toryo "$@"\n')
        (self.place / "check.sh").write_text(CHECK, "utf-8")
        self.typed("git init -q -b main && git config user.name A && git config user.email a@example.org")
        self.typed("git add check.sh && git commit -q -m before")
        self.up: Process | None = None

    @property
    def place(self) -> Path:
        return self.machine.place

    def typed(self, line: str) -> str:
        ran = subprocess.run(
            ["/bin/sh", "-e", "-c", line],
            cwd=self.place,
            env=self.machine.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=WITHIN,
            check=False,
        )
        assert ran.returncode == 0, f"{line}\n{ran.stdout}{ran.stderr}"
        return ran.stdout

    def starts(self, line: str) -> None:
        self.up = Process(*line.split()[1:], environment=self.machine.environment, cwd=self.place, real=True)
        self.up.until("connected to")

    def client(self) -> Client:
        place = server_discovery.directory((self.place / ".toryo" / "data-dir").read_text("utf-8").strip(), {})
        found = server_discovery.find(data_dir=place, environ={})
        return Client(found.url, found.token)

    def tasks(self, client: Client) -> list[dict[str, Any]]:
        return list(client.rest("GET", "/projects/bakery/tasks", params={"limit": 200})["tasks"])

    def until(self, holds: Callable[[Client], bool], told: str) -> None:
        with self.client() as client:
            give_up = time.monotonic() + WITHIN
            while not holds(client):
                assert time.monotonic() < give_up, f"{told}\n{self.typed('toryo task list; toryo needs')}"
                last = client.rest("GET", "/status")["last_event"]
                client.rest("GET", "/events", params={"after": last, "wait_seconds": 1})

    def merged(self, *titles: str) -> None:
        """Waits until all tasks, among which are these, are completed and merged."""

        def holds(client: Client) -> bool:
            tasks = self.tasks(client)
            open_work = client.rest("GET", "/projects/bakery/worktrees", params={"state": "open"})["worktrees"]
            there = {*titles} <= {task["title"] for task in tasks}
            return there and {task["status"] for task in tasks} == {"completed"} and not open_work

        self.until(holds, "not everything is merged")

    def green(self) -> list[str]:
        """The commits of the branch, each of which passes the check."""
        commits = self.typed("git rev-list --first-parent main").split()
        for commit in commits:
            self.typed(f"git -c advice.detachedHead=false checkout -q {commit}; sh check.sh; git checkout -q main")
        return commits


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    if made.up is not None:
        made.up.end()


def _at(task: dict[str, Any], name: str) -> float:
    return datetime.fromisoformat(task[name]).timestamp()


def _waited_while_somebody_was_free(tasks: list[dict[str, Any]], workers: int) -> list[str]:
    """Tasks that were ready for longer than a look, while fewer than all workers had one."""
    by_id = {task["task_id"]: task for task in tasks}
    found = []
    for task in tasks:
        ended = [_at(by_id[each], "completed_at") for each in task["dependencies"]]
        ready, begun = max([_at(task, "created_at"), *ended]) + LOOK_SECONDS, _at(task, "started_at")
        busy = [each for each in tasks if _at(each, "started_at") < ready < _at(each, "completed_at")]
        if ready < begun and len(busy) < workers:
            found.append(task["title"])
    return found


def test_what_is_typed_once_is_done_checked_and_merged_and_what_is_wrong_all_the_same_is_sent_back(shop: Shop) -> None:
    shop.typed(INIT)
    shop.starts("toryo up --port 0")
    shop.typed("toryo apply toryo.yaml --yes")
    shop.typed(LOOP)
    titles = [f"{chain}-{step}" for chain in "abcd" for step in (1, 2, 3)]
    shop.merged(*titles)

    assert sorted(each.name for each in (shop.place / "parts").iterdir()) == titles
    assert len(shop.green()) > 2
    with shop.client() as client:
        tasks = shop.tasks(client)
        launches = client.rest("GET", "/launches", params={"limit": 200})["launches"]
    assert json.loads(shop.typed("toryo needs --json"))["items"] == []
    assert [each["end_reason"] for each in launches] == ["reported"] * 12, "nobody was started without work"
    assert {task["assignee_id"] for task in tasks} == {"w-1", "w-2", "w-3"}
    assert _waited_while_somebody_was_free(tasks, 3) == []

    shop.typed(
        "toryo task request-changes c-2 'Not ok, but fine.' --context '{\"command\": \"echo ok, fine > parts/c-2\"}'"
    )
    shop.merged("Changes to: c-2")
    assert (shop.place / "parts" / "c-2").read_text("utf-8") == "ok, fine\n"
    shop.green()
