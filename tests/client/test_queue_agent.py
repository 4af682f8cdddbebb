"""An agent of a queue against a scripted server: what it tells it, and what it does when the server is away or says no.

With a real server and real processes it is seen in `tests/cli/test_queues.py`. Nobody waits for the pauses between
tries: they are handed in.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from tests.client.fake_server import BOUND, Call, FakeServer, Refused
from toryo.client import AsyncQueueAgent, QueueAgent, RefusalError, Retry, TaskFailed, Unreachable

BROKEN = (502, "text/html", b"<html>")


class Desk:
    """A queue on a scripted server: gives its tasks to whoever polls, who else waits a while for one."""

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.claims: list[dict[str, Any]] = []
        self.tasks: list[dict[str, Any]] = []
        self.heartbeat_seconds = 30.0
        self._news = threading.Condition()
        self._closed = False
        server.on("register_agent", lambda _: self._registered())
        server.on("poll_tasks", self._polled)
        for each in ("heartbeat", "submit_result", "unregister_agent"):
            server.on(each, {})

    def give(self, *task_ids: str, **more: Any) -> None:
        with self._news:
            self.tasks += [task(each, **more) for each in task_ids]
            self._news.notify_all()

    def close(self) -> None:
        with self._news:
            self._closed = True
            self._news.notify_all()

    def submitted(self, count: int = 1) -> list[dict[str, Any]]:
        return [call.arguments for call in self.server.waiting_for("submit_result", count)]

    def _registered(self) -> dict[str, Any]:
        return {"success": True, "heartbeat_seconds": self.heartbeat_seconds, "claims": self.claims}

    def _polled(self, call: Call) -> dict[str, Any]:
        with self._news:
            if call.arguments.get("wait_seconds"):
                self._news.wait_for(lambda: self.tasks or self._closed, BOUND)
            many = call.arguments["max_tasks"]
            given, self.tasks = self.tasks[:many], self.tasks[many:]
        return {"success": True, "result": given}


def task(task_id: str, **more: Any) -> dict[str, Any]:
    found = {"task_id": task_id, "status": "in_progress", "assigned_agent_id": "p1", "correlation_id": "req-1"}
    return {**found, "attempt": 1, "timeout_seconds": 1800, "context": None, **more}


@pytest.fixture
def desk(server: FakeServer) -> Iterator[Desk]:
    made = Desk(server)
    yield made
    made.close()


@contextlib.contextmanager
def serving(server: FakeServer, handler: Any, **options: Any) -> Iterator[tuple[QueueAgent, Future[None]]]:
    """An agent at work in a thread, and what becomes of its `run`. In the end it was stopped and has left."""
    given = {"agent_id": "p1", "server": server.url, "key": "tqk_1", **options}
    agent, ended = QueueAgent(handler, agent_type="planning", **given), Future[None]()

    def run() -> None:
        try:
            agent.run(signals=False)
        except Exception as error:  # noqa: BLE001 - the test asks for it
            ended.set_exception(error)
        else:
            ended.set_result(None)

    threading.Thread(target=run, daemon=True).start()
    try:
        yield agent, ended
    finally:
        agent.stop()
        ended.exception(BOUND)


class Pauses:
    """In place of sleeping: remembers for how long; after so many pauses something happens."""

    def __init__(self, **then: Any) -> None:
        self.slept: list[float] = []
        self._then = {int(number.removeprefix("after_")): happens for number, happens in then.items()}

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        if happens := self._then.get(len(self.slept)):
            happens()
        await asyncio.sleep(0)


@pytest.mark.parametrize("way", ["tcp", "unix"])
def test_a_task_is_done_and_handed_in_with_its_attempt_under_the_key(way: str, tmp_path) -> None:
    server = FakeServer(unix=str(tmp_path / "s") if way == "unix" else None)
    desk = Desk(server)
    try:
        desk.give("t1", attempt=2, context={"n": 20})
        with serving(server, lambda each: {"sum": each["context"]["n"] + 1}, capabilities=["sums"]):
            (handed,) = desk.submitted()
        assert handed == {"task_id": "t1", "attempt": 2, "status": "completed", "result": {"sum": 21}}
        (registered,) = server.seen("register_agent")
        assert registered.arguments == {"agent_id": "p1", "agent_type": "planning", "capabilities": ["sums"]}
        assert server.seen("poll_tasks")[0].arguments == {"agent_id": "p1", "max_tasks": 1, "wait_seconds": 30}
        assert server.seen("unregister_agent")[-1].arguments == {"agent_id": "p1"}
        assert {call.token for call in server.calls} == {"tqk_1"}
    finally:
        desk.close()
        server.close()


def test_the_async_twin_serves_with_a_coroutine(server: FakeServer, desk: Desk) -> None:
    desk.give("t1", "t2")

    async def story() -> None:
        both = asyncio.Barrier(2)

        async def handler(each: dict[str, Any]) -> str:
            await both.wait()
            if each["task_id"] == "t2":
                agent.stop()
            return str(each["task_id"])

        agent = AsyncQueueAgent(handler, agent_type="planning", server=server.url, key="tqk_1", max_tasks=2)
        async with asyncio.timeout(BOUND):
            await agent.run()

    asyncio.run(story())
    assert sorted(each["result"] for each in desk.submitted(2)) == ["t1", "t2"]
    assert len(server.seen("unregister_agent")) == 1


def test_whatever_goes_wrong_in_a_handler_fails_its_task_and_nothing_else(server: FakeServer, desk: Desk) -> None:
    def handler(each: dict[str, Any]) -> Any:
        match each["task_id"]:
            case "raises":
                raise ValueError("no \0wood \ud800")
            case "exits":
                sys.exit(3)
            case "stops":
                next(iter(()))
            case "busy":
                raise Retry("the printer is busy")
            case "wrong":
                raise TaskFailed("this is no plan")
            case "odd":
                return {"a": object()}
        return "fine"

    desk.give("raises", "exits", "stops", "busy", "wrong", "odd", "fine")
    with serving(server, handler):
        handed = {each.pop("task_id"): each for each in desk.submitted(7)}
    assert handed["raises"]["error"] == "ValueError: no \N{REPLACEMENT CHARACTER}wood ?"
    assert handed["exits"]["error"] == "SystemExit: 3"
    assert "StopIteration" in handed["stops"]["error"]
    assert handed["busy"] == {"attempt": 1, "status": "failed", "error": "the printer is busy", "retryable": True}
    assert handed["wrong"]["error"] == "this is no plan"
    assert "not JSON serializable" in handed["odd"]["error"]
    assert [each["retryable"] for each in handed.values() if each["status"] == "failed"].count(True) == 1
    assert handed["fine"]["result"] == "fine"


def test_several_tasks_are_done_at_once_and_no_more_than_asked(server: FakeServer, desk: Desk) -> None:
    together = threading.Barrier(3)
    desk.give("t1", "t2", "t3", "t4", "t5", "t6")
    with serving(server, lambda _: together.wait(BOUND), max_tasks=3):
        assert {each["status"] for each in desk.submitted(6)} == {"completed"}
    assert max(call.arguments["max_tasks"] for call in server.seen("poll_tasks")) == 3


def test_without_waiting_it_polls_every_five_seconds(server: FakeServer, desk: Desk) -> None:
    pauses = Pauses(after_3=lambda: desk.give("t1"))
    with serving(server, lambda _: None, wait_seconds=0, sleep=pauses):
        desk.submitted()
    assert set(pauses.slept) == {5.0}
    assert "wait_seconds" not in server.seen("poll_tasks")[0].arguments


# --- a server that is away -------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F137")
def test_a_server_that_is_not_there_is_tried_five_more_times_and_then_a_clear_error(nobody_listens: str) -> None:
    pauses = Pauses()
    agent = QueueAgent(lambda _: None, agent_type="planning", server=nobody_listens, key="tqk_1", sleep=pauses)
    with pytest.raises(Unreachable):
        agent.run(signals=False)
    assert pauses.slept == [1, 2, 4, 8, 16]


@pytest.mark.pitfall("F137")
def test_a_result_is_kept_through_an_outage_which_is_told_and_handed_in_once(
    server: FakeServer, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    def back() -> None:
        server.raw = None

    def handler(_: Any) -> str:
        server.raw = BROKEN
        return "the plan"

    pauses = Pauses(after_8=back)
    desk.give("t1")
    with serving(server, handler, sleep=pauses):
        (handed,) = desk.submitted()
    assert handed["result"] == "the plan"
    assert pauses.slept == [1, 2, 4, 8, 16, 16, 16, 16]
    (told,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "cannot be reached after 5 more attempts" in told.message


def test_after_an_outage_the_same_agent_registers_again_and_goes_on(server: FakeServer, desk: Desk) -> None:
    def back() -> None:
        server.raw = None
        desk.give("t1")

    pauses = Pauses(after_5=back)
    with serving(server, lambda _: "done", sleep=pauses, wait_seconds=1):
        server.waiting_for("poll_tasks")
        server.raw = BROKEN
        desk.close()  # the poll that waits is answered at once, as by a server that leaves
        (handed,) = desk.submitted()
    assert handed["result"] == "done"
    assert [call.arguments["agent_id"] for call in server.seen("register_agent")] == ["p1", "p1"]
    assert pauses.slept[:5] == [1, 1, 2, 4, 8]


def test_a_claim_that_it_does_not_know_of_is_done_and_one_that_is_over_is_not(server: FakeServer, desk: Desk) -> None:
    desk.claims = [{"task_id": "lost", "attempt": 2}, {"task_id": "over", "attempt": 1}]
    stands = {"lost": task("lost", attempt=2), "over": task("over", status="completed")}
    server.on("get_task_status", lambda call: {"success": True, "task": stands[call.arguments["task_id"]]})
    desk.give("next")
    with serving(server, lambda each: each["task_id"]):
        handed = [(each["task_id"], each["attempt"]) for each in desk.submitted(2)]
    assert handed == [("lost", 2), ("next", 1)]


def test_when_it_is_to_leave_during_an_outage_it_gives_up_with_an_error_that_says_what_is_lost(
    server: FakeServer, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    def handler(_: Any) -> None:
        server.raw = BROKEN

    desk.give("t1")
    told = threading.Event()
    pauses = Pauses(after_2=told.set)
    with serving(server, handler, sleep=pauses) as (agent, ended):
        assert told.wait(BOUND)
        agent.stop()
        assert isinstance(ended.exception(BOUND), Unreachable)
    assert pauses.slept[:5] == [1, 2, 4, 8, 16]
    assert any("t1: the result could not be submitted" in record.message for record in caplog.records)


def test_a_server_that_answers_but_cannot_do_anything_now_counts_as_away(server: FakeServer, desk: Desk) -> None:
    def answer(_: Call) -> dict[str, Any]:
        if len(pauses.slept) < 3:
            raise Refused("unavailable", "The database is away.")
        return {"success": True}

    pauses = Pauses()
    server.on("submit_result", answer)
    desk.give("t1")
    with serving(server, lambda _: "done", sleep=pauses):
        assert [each["result"] for each in desk.submitted(4)] == ["done"] * 4
    assert pauses.slept[:3] == [1, 2, 4]


def test_a_result_that_is_not_taken_before_it_leaves_is_an_error(server: FakeServer, desk: Desk) -> None:
    def answer(_: Call) -> dict[str, Any]:
        begun.set()
        raise Refused("unavailable", "The database is away.")

    begun = threading.Event()
    server.on("submit_result", answer)
    desk.give("t1")
    with serving(server, lambda _: "done", sleep=Pauses()) as (agent, ended):
        assert begun.wait(BOUND)
        agent.stop()
        assert "The database is away." in str(ended.exception(BOUND))


# --- a server that says no -------------------------------------------------------------------------------------------


def refusing(code: str, *task_ids: str) -> Any:
    def answer(call: Call) -> dict[str, Any]:
        if call.arguments.get("task_id") in task_ids and call.arguments["status"] == "completed":
            raise Refused(code, "So it is.")
        return {"success": True}

    return answer


@pytest.mark.parametrize("code", ["notNow", "conflict", "permissionDenied"])
def test_a_late_result_is_told_and_the_next_task_is_done(
    code: str, server: FakeServer, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    server.on("submit_result", refusing(code, "late"))
    desk.give("late", "next")
    with serving(server, lambda each: each["task_id"]) as (_, ended):
        assert [each["task_id"] for each in desk.submitted(2)] == ["late", "next"]
    assert ended.result(BOUND) is None
    assert any(f"the server did not accept its result: {code}" in record.message for record in caplog.records)


def test_a_result_that_the_server_cannot_take_fails_its_task_with_the_reason(server: FakeServer, desk: Desk) -> None:
    server.on("submit_result", refusing("tooLarge", "large"))
    desk.give("large")
    with serving(server, lambda _: "x" * 100):
        first, second = desk.submitted(2)
    assert (first["status"], second["status"], second["attempt"]) == ("completed", "failed", 1)
    assert "tooLarge: So it is." in second["error"]


def test_a_key_that_is_not_good_is_refused_at_once(server: FakeServer, desk: Desk) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("invalidCredentials", "This API key is not known here.")

    server.on("register_agent", no)
    with serving(server, lambda _: None) as (_, ended), pytest.raises(RefusalError, match="invalidCredentials"):
        ended.result(BOUND)
    assert server.seen("poll_tasks") == server.seen("unregister_agent") == []


def test_a_key_that_is_revoked_ends_the_agent_after_what_it_does(server: FakeServer, desk: Desk) -> None:
    revoked, polled = threading.Event(), desk._polled

    def poll(call: Call) -> dict[str, Any]:
        if server.seen("poll_tasks")[1:]:
            revoked.set()
            raise Refused("invalidCredentials", "Revoked.")
        return polled(call)

    server.on("poll_tasks", poll)
    desk.give("t1")
    with serving(server, lambda _: revoked.wait(BOUND), max_tasks=2) as (_, ended):
        assert isinstance(ended.exception(BOUND), RefusalError)
        assert desk.submitted()[0]["result"] is True


# --- being there, and leaving ----------------------------------------------------------------------------------------


def test_it_beats_while_a_task_is_done(server: FakeServer, desk: Desk) -> None:
    desk.heartbeat_seconds = 0.02
    enough = threading.Event()
    desk.give("t1")
    with serving(server, lambda _: enough.wait(BOUND)):
        server.waiting_for("heartbeat", 5)
        assert server.seen("submit_result") == []
        enough.set()
        desk.submitted()


def test_its_first_heartbeat_comes_at_once_so_that_its_silence_is_noticed(server: FakeServer, desk: Desk) -> None:
    with serving(server, lambda _: None):
        assert server.waiting_for("heartbeat")[0].arguments == {"agent_id": "p1"}


def test_a_short_lease_is_renewed_before_it_ends(server: FakeServer, desk: Desk) -> None:
    enough = threading.Event()
    desk.give("t1", timeout_seconds=1)
    with serving(server, lambda _: enough.wait(BOUND)):
        server.waiting_for("heartbeat", 4)
        enough.set()


@pytest.mark.pitfall("F143")
def test_who_is_to_stop_finishes_its_task_hands_it_in_takes_no_other_and_goes_offline(
    server: FakeServer, desk: Desk
) -> None:
    begun, finish = threading.Event(), threading.Event()

    def handler(_: Any) -> str:
        begun.set()
        finish.wait(BOUND)
        return "done"

    desk.give("t1", "t2")
    with serving(server, handler) as (agent, ended):
        assert begun.wait(BOUND)
        agent.stop()
        finish.set()
        assert ended.result(BOUND) is None
    assert [call.tool for call in server.calls if call.tool != "heartbeat"] == [
        "register_agent",
        "poll_tasks",
        "submit_result",
        "unregister_agent",
    ]


@pytest.mark.pitfall("F143")
def test_who_waits_for_a_task_stops_at_once(server: FakeServer, desk: Desk) -> None:
    with serving(server, lambda _: None) as (agent, ended):
        server.waiting_for("poll_tasks")
        agent.stop()
        assert ended.result(BOUND / 2) is None
    assert len(server.seen("unregister_agent")) == 1


@pytest.mark.parametrize("name", ["key", "token", "server", "project", "agent_id", "data_dir"])
def test_an_empty_argument_is_refused_and_never_replaced_by_what_the_owners_token_makes(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is empty"):
        QueueAgent(lambda _: None, agent_type="planning", **{name: ""})


def test_two_agents_without_an_id_are_two() -> None:
    one, two = (QueueAgent(lambda _: None, agent_type="Code Review!", server="http://localhost") for _ in range(2))
    assert one.agent_id != two.agent_id
    assert one.agent_id.startswith("code-review-")
