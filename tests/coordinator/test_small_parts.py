"""Pacing, who this Coordinator is, and where agents work."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from toryo import process_locks
from toryo.agents.env_vars import own_python_path
from toryo.client import AsyncClient, RefusalError
from toryo.coordinator import identity_lock, orders
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.claim_pacing import FIRST, REPEATING, Pace
from toryo.coordinator.exit_verdict import exit_of
from toryo.coordinator.logs import Log
from toryo.coordinator.orders import Launch
from toryo.coordinator.processes import Process
from toryo.coordinator.program_output import Reading
from toryo.coordinator.provider import BadConfig
from toryo.coordinator.server_api import Server, _for_older, _reported_evidence
from toryo.coordinator.workspaces import Workspaces, working_directory


def test_after_news_or_a_long_wait_the_server_is_asked_again_at_once() -> None:
    pace = Pace(while_away=10)
    pace.answered(5.0, took=0.0, news=True)
    assert pace.ask_at == 5.0
    pace.answered(50.0, took=45.0, news=False)
    assert pace.ask_at == 50.0


def test_a_server_that_repeats_itself_is_asked_ever_more_slowly_until_there_is_news() -> None:
    pace, pauses = Pace(while_away=10), []
    for _ in range(6):
        pace.answered(0.0, took=0.0, news=False)
        pauses.append(pace.ask_at)
    assert pauses == [FIRST, 0.2, 0.4, 0.8, REPEATING, REPEATING]
    pace.answered(0.0, took=0.0, news=True)
    assert pace.ask_at == 0.0


def test_a_server_that_is_away_is_tried_ever_more_slowly_up_to_the_polling_interval() -> None:
    pace, pauses = Pace(while_away=2), []
    for _ in range(7):
        pace.failed(0.0)
        pauses.append(pace.ask_at)
    assert pauses == [FIRST, 0.2, 0.4, 0.8, 1.6, 2, 2]


def test_an_id_is_the_same_after_a_restart_and_never_borne_twice(tmp_path) -> None:
    first = identity_lock.hold(tmp_path, None)
    second = identity_lock.hold(tmp_path, None)
    assert second.id == f"{first.id}-2"
    assert len(first.id) <= 64
    first.release()
    again = identity_lock.hold(tmp_path, None)
    assert again.id == first.id
    with pytest.raises(BadConfig, match="Choose another id with --id"):
        identity_lock.hold(tmp_path, second.id)
    second.release()
    again.release()


def test_an_order_is_read_with_a_tolerant_eye() -> None:
    answer = {
        "start": [{"launch_id": "l", "agent_id": "a", "model": None, "language": None, "something": "new"}],
        "stop": [{"launch_id": "m", "reason": "paused"}],
        "next_check_seconds": 3,
    }
    found = orders.read(answer)
    assert found.start == (Launch("l", "a"),)
    assert (found.stop[0].grace_seconds, found.checks) == (0.0, ())
    assert "secret" not in repr(Launch("l", "a", credential="secret"))


def test_the_agents_own_directory_wins_over_the_projects(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "own")
    launch = Launch("l", "a", "p", working_directory=str(tmp_path))
    assert working_directory(launch, None) == tmp_path
    assert working_directory(launch, "~/own") == tmp_path / "own"
    assert working_directory(launch, "~/link") == tmp_path / "own", "the real one"


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (Launch("l", "a", "p"), "project p sets no working directory"),
        (Launch("l", "a", "p", working_directory="relative"), "is not an absolute path"),
        (Launch("l", "a", "p", working_directory="/no/such"), "does not exist on this machine. Create it"),
    ],
)
def test_a_directory_that_cannot_be_worked_in_says_where_to_mend_it(launch, words) -> None:
    with pytest.raises(BadConfig, match=words):
        working_directory(launch, None)


@pytest.mark.pitfall("F41")
def test_each_launch_has_a_private_directory_that_is_removed(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "workspaces")
    made = workspaces.make("lau_1")
    workspaces.write("lau_1", {"mcp.json": "{}"})
    assert made.stat().st_mode & 0o777 == 0o700
    assert (made / "mcp.json").stat().st_mode & 0o777 == 0o600
    workspaces.remove("lau_1")
    workspaces.remove("lau_1")
    assert not made.exists()


def test_the_word_for_people_stands_beside_the_lock_which_keeps_the_process_id(tmp_path) -> None:
    one = identity_lock.hold(tmp_path, "one")
    one.tell("sandbox: on", "/a:/b")
    (held_by,) = process_locks.holders(tmp_path)
    assert (held_by.name, held_by.pid) == ("Coordinator", os.getpid())
    assert identity_lock.left_words(tmp_path) == {"one": ("sandbox: on", "/a:/b")}
    one.tell("off", "/a")
    assert identity_lock.left_words(tmp_path) == {"one": ("off", "/a")}
    next(tmp_path.rglob("*.json")).write_text('{"id": "one", "sandbox": "off"}')
    assert identity_lock.left_words(tmp_path) == {"one": ("off", None)}, "of an earlier version"
    one.release()


def test_a_lock_that_somebody_looks_at_just_now_is_taken_all_the_same(tmp_path, monkeypatch) -> None:
    path = tmp_path / "up.lock"
    path.touch()
    looking = os.open(path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr(time, "sleep", lambda _: fcntl.flock(looking, fcntl.LOCK_UN))
    descriptor = process_locks.hold(path)
    assert descriptor is not None
    assert process_locks.pid_in(path) == os.getpid()
    os.close(descriptor)
    os.close(looking)


def test_a_token_that_was_replaced_is_read_anew_and_the_call_is_made_again() -> None:
    class Rotated:
        token = "old"
        calls: ClassVar[list[str]] = []

        async def call(self, tool: str, **_: Any) -> dict[str, Any]:
            self.calls.append(f"{tool} {self.token}")
            if self.token == "old":
                raise RefusalError("invalidCredentials", "This token is unknown.")
            return {"start": [], "stop": []}

    client = Rotated()
    server = Server(cast("AsyncClient", client), lambda: "new")
    asyncio.run(server.report_check("chk_1", []))
    assert client.calls == ["report_check_result old", "report_check_result new"]


def test_a_token_that_is_wrong_and_stays_so_is_refused_at_once() -> None:
    class Refusing:
        token = "old"

        async def call(self, tool: str, **_: Any) -> dict[str, Any]:
            raise RefusalError("invalidCredentials", "This token is unknown.")

    server = Server(cast("AsyncClient", Refusing()), lambda: "old")
    with pytest.raises(RefusalError):
        asyncio.run(server.report_check("chk_1", []))


def test_what_has_left_no_files_is_told_without_a_list_of_them() -> None:
    found = [Evidence("a", "passed", 1.0), Evidence("b", "passed", 1.0)]
    assert ["artifacts" in each for each in _reported_evidence(found, ())] == [False, False]
    assert [each.get("artifacts") for each in _reported_evidence(found, [["art_1"], []])] == [["art_1"], None]


def test_an_older_server_is_told_of_a_moved_base_as_of_what_prevents_something() -> None:
    moved = {"commit": "c", "words": "main was moved"}
    assert _for_older({"done": True, "moved_base": moved}) == {"done": True, "trouble": "main was moved"}
    assert _for_older({"trouble": "It conflicts.", "moved_base": moved}) == {"trouble": "It conflicts."}
    assert _for_older({"done": True}) == {"done": True}


def test_an_end_is_judged_by_a_programs_own_words_and_not_by_what_its_model_has_said(tmp_path: Path) -> None:
    printed = tmp_path / "printed"
    printed.write_text("says the model\n")
    output = Log(printed, str)
    output.read()
    ended = Process(os.getpid(), sandboxed=False)
    assert exit_of(ended, Reading(), output).tail == "says the model\n"
    assert exit_of(ended, Reading(), None).tail == ""
    reading = Reading(lambda _: [])
    reading.line("its own words")
    assert exit_of(ended, reading, output).tail == "its own words"


def test_programs_of_our_own_find_the_libraries_that_this_python_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/python/lib")
    assert own_python_path()["LD_LIBRARY_PATH"] == "/opt/python/lib"
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert "LD_LIBRARY_PATH" not in own_python_path()
