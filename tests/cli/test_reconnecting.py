"""Commands that follow something outlive their server: they wait for it, say so once, and give up after a while."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toryo.cli
from tests.cli.conftest import Process, Toryo
from tests.environments import clean_environment
from toryo.cli import logs, output, reconnecting, worktrees
from toryo.cli.command_context import Here
from toryo.cli.exit_codes import ServerAway
from toryo.client import RefusalError, Unreachable

CODE = Path(toryo.cli.__file__).parent
AWAY = (Unreachable("refused"), ServerAway("502"), RefusalError("unavailable", "It is stopping."))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said on stderr, with a clock that runs while somebody sleeps."""
    lines: list[str] = []
    now = [0.0]
    monkeypatch.setattr(output, "say", lambda *words: lines.extend(words))
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return lines


def answers(monkeypatch: pytest.MonkeyPatch, *of: Any) -> None:
    each = iter(of)

    def get(*_: Any, **__: Any) -> Any:
        found = next(each, of[-1])
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(Here, "get", get)


def test_a_server_that_comes_back_is_waited_for_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    answers(monkeypatch, *AWAY, {"events": []})
    assert reconnecting.following(Here()).get("/events") == {"events": []}
    assert len(said) == 2
    assert "does not answer" in said[0]
    assert "answers again" in said[1]


@pytest.mark.parametrize("away", AWAY, ids=["nobody listens", "a proxy", "it is stopping"])
def test_a_server_that_stays_away_ends_it_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, said: list[str], away: Exception
) -> None:
    answers(monkeypatch, away)
    with pytest.raises(ServerAway) as ended:
        reconnecting.following(Here()).get("/events")
    assert (ended.value.exit_code, "toryo up" in ended.value.sentence(), len(said)) == (3, True, 1)


@pytest.mark.parametrize("move", ["merge", "discard", "diff"])
def test_who_waits_for_a_coordinator_waits_for_a_server_that_starts_anew_meanwhile(
    monkeypatch: pytest.MonkeyPatch, said: list[str], move: str
) -> None:
    job: dict[str, Any] = {"job_id": "job_1", "finished_at": None, "done": True, "answer": {}}
    answers(monkeypatch, {"worktree_job": job}, *AWAY, {"worktree_job": {**job, "finished_at": "now"}})
    monkeypatch.setattr(Here, "send", lambda *_: job)
    monkeypatch.setattr(Here, "answer", lambda *_: None)
    asked: dict[str, Any] = {"merge": {"into": None, "message": None}, "discard": {"yes": True}, "diff": {}}
    getattr(worktrees, move)(Here(), "tsk_1", **asked[move])
    assert [each.split(".")[0] for each in said] == ["The server does not answer", "The server answers again"]


def test_who_waits_for_a_coordinator_gives_up_when_the_time_is_over_though_the_server_is_away(
    monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    answers(monkeypatch, AWAY[0])
    monkeypatch.setattr(Here, "send", lambda *_: {"job_id": "job_1"})
    with pytest.raises(ServerAway, match="1 min 30 s"):
        worktrees.discard(Here(), "tsk_1", yes=True, wait=90)
    assert time.monotonic() == 90


def test_a_refusal_is_no_absence(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    answers(monkeypatch, RefusalError("taskNotFound", "There is none."))
    with pytest.raises(RefusalError):
        reconnecting.following(Here()).get("/tasks/x")
    assert said == []


def test_whoever_waits_at_the_server_in_a_loop_does_it_patiently() -> None:
    waits = re.compile(r"\b(here|patient)\.get\([^\n]*wait_seconds=")
    waiting = {path.name for path in CODE.glob("*.py") if waits.search(path.read_text(encoding="utf-8"))}
    assert {"events.py", "logs.py", "tasks.py", "worktrees.py"} <= waiting
    for name in waiting:
        assert "following(here)" in (CODE / name).read_text(encoding="utf-8"), name
    assert "following(here)" in inspect.getsource(logs.logs)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    environment = {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")}
    started: list[Process] = []

    def run(*words: str) -> Process:
        started.append(Process(*words, environment=environment, cwd=tmp_path))
        return started[-1]

    yield run
    for each in reversed(started):
        each.end()


@pytest.mark.deep
def test_events_and_watch_go_on_with_a_server_that_was_started_again_elsewhere(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    server = start("server", "--port", "0")
    server.until("ready http://")
    toryo_ = Toryo(tmp_path, {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(tmp_path / "data")})
    toryo_.json("project", "add", "p", "--id", "p", "--dir", str(tmp_path))
    task = toryo_.json("task", "add", "Wait", "--project", "p")["task_id"]
    followers = [start("events", "--follow", "--after", "0"), start("task", "watch", task)]
    for follower in followers:
        follower.until(task if follower is followers[0] else "Wait")
    server.interrupt()
    for follower in followers:
        follower.until("does not answer")
    start("server", "--port", "0").until("ready http://")
    for follower in followers:
        follower.until("answers again")
    assert toryo_("task", "cancel", task).code == 0
    followers[0].until("cancelled")
    assert followers[1].process.wait(100) == 1
