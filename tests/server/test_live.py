"""The stream of events: nothing is missed, nobody else's is shown, and whoever leaves leaves nothing behind."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from toryo.operations.calls.call import DOING
from toryo.operations.calls.callers import Credentials
from toryo.operations.calls.grants import Door
from toryo.server import app
from toryo.server.app import Running
from toryo.settings import Settings
from toryo.storage.retention import State

LIMIT = 100.0
"""Seconds after which a test that waits gives up."""
STREAM = "/api/v1/events/stream"


def bearer(server: Running, name: str = "owner") -> dict[str, str]:
    directory = server.app.settings.data_dir
    assert directory is not None
    token = (directory / f"{name}.token").read_text().strip()
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def people(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=bearer(server), timeout=LIMIT) as http:
        yield http


def project(people: httpx.Client, name: str = "P") -> str:
    made: str = people.post("/projects", json={"name": name, "working_directory": "/srv/p"}).json()["project_id"]
    return made


def file(people: httpx.Client, project_id: str, title: str) -> str:
    made: str = people.post(f"/projects/{project_id}/tasks", json={"title": title}).json()["task_id"]
    return made


class Follower:
    """One who reads a stream: `next` answers the events of the next message that has some."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()
        self.ids: list[int] = []

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(LIMIT):
            async for line in self._lines:
                if line.startswith("id: "):
                    self.ids.append(int(line.removeprefix("id: ")))
                if line.startswith("data: "):
                    event: dict[str, Any] = orjson.loads(line.removeprefix("data: "))
                    assert event["sequence"] == self.ids[-1]
                    return event
        raise AssertionError("the stream has ended")

    async def sign(self) -> dict[str, Any]:
        """What an agent does, by the next message about that."""
        async with asyncio.timeout(LIMIT):
            async for line in self._lines:
                if line == "event: doing":
                    data: dict[str, Any] = orjson.loads((await anext(self._lines)).removeprefix("data: "))
                    return data
        raise AssertionError("the stream has ended")

    async def first(self, kind: str) -> dict[str, Any]:
        while (event := await self.next())["kind"] != kind:
            pass
        return event

    async def ended(self) -> bool:
        async with asyncio.timeout(LIMIT):
            async for _ in self._lines:
                pass
        return True


@asynccontextmanager
async def follow(
    server: Running, query: str = "", headers: dict[str, str] | None = None, at: str = STREAM, **more: str
) -> AsyncIterator[Follower]:
    given = {**(headers or bearer(server)), **{name.replace("_", "-"): value for name, value in more.items()}}
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=LIMIT) as http,
        http.stream("GET", f"{at}{query}", headers=given) as response,
    ):
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Follower(response)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():  # noqa: ASYNC110 - uvicorn signals nobody when a connection is gone
            await asyncio.sleep(0.01)


def test_what_has_happened_comes_first_and_what_happens_then_as_it_happens(
    server: Running, people: httpx.Client
) -> None:
    here = project(people)

    async def story() -> None:
        async with follow(server) as stream:
            assert (await stream.first("project.created"))["project_id"] == here
            task = await asyncio.to_thread(file, people, here, "T")
            assert (await stream.first("task.created"))["task_id"] == task
            assert stream.ids == sorted(set(stream.ids))

    asyncio.run(story())


def test_now_begins_with_what_comes_next(server: Running, people: httpx.Client) -> None:
    here = project(people)

    async def story() -> None:
        async with follow(server, "?after=now") as stream:
            await asyncio.to_thread(file, people, here, "T")
            assert (await stream.next())["kind"] == "task.created"

    asyncio.run(story())


def test_after_a_break_a_browser_goes_on_after_the_last_one_it_has_seen(server: Running, people: httpx.Client) -> None:
    here = project(people)

    async def story() -> None:
        async with follow(server, "?after=now") as stream:
            await asyncio.to_thread(file, people, here, "first")
            seen = (await stream.first("task.created"))["sequence"]
        missed = [await asyncio.to_thread(file, people, here, each) for each in ("second", "third")]
        async with follow(server, "?after=now", Last_Event_ID=str(seen)) as stream:
            assert [(await stream.first("task.created"))["task_id"] for _ in missed] == missed

    asyncio.run(story())


def test_a_browser_whose_place_was_pruned_is_told_first_and_goes_on(server: Running, people: httpx.Client) -> None:
    here = project(people)
    seen = people.get("/status").json()["last_event"]
    server.app.dispatcher.in_passing(lambda call: call.tx.retention.save(State(horizon=seen + 1)))
    file(people, here, "T")

    async def first_lines(last: int) -> str:
        async with (
            httpx.AsyncClient(base_url=server.url, timeout=LIMIT) as http,
            http.stream("GET", STREAM, headers={**bearer(server), "Last-Event-ID": str(last)}) as response,
        ):
            return await anext(response.aiter_lines())

    async def story() -> None:
        assert await first_lines(seen) == "event: pruned"
        assert await first_lines(seen + 1) != "event: pruned"

    asyncio.run(story())


def test_a_long_absence_is_caught_up_with_without_a_gap(server: Running, people: httpx.Client) -> None:
    here = project(people)
    for number in range(30):
        file(people, here, f"T{number}")
    wanted = [event["sequence"] for event in people.get("/events", params={"limit": 1000}).json()["events"]]

    async def story() -> None:
        async with follow(server, Last_Event_ID=str(wanted[2])) as stream:
            while not stream.ids or stream.ids[-1] < wanted[-1]:
                await stream.next()
            assert stream.ids == wanted[3:]

    asyncio.run(story())


def member(people: httpx.Client, project_id: str) -> dict[str, str]:
    """A person of one project, with a token of theirs."""
    asked = {"id": "ann", "role": "worker", "kind": "human", "projects": [project_id]}
    assert people.post("/agents", json=asked).status_code == 201
    made = people.post("/access-tokens", json={"name": "t", "person_id": "ann", "login": "member"})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['token']}"}


def test_a_person_is_told_of_their_own_projects_only(server: Running, people: httpx.Client) -> None:
    hers, other = project(people, "Hers"), project(people, "Other")
    ann = member(people, hers)

    async def story() -> None:
        async with follow(server, "?after=now", ann) as stream:
            await asyncio.to_thread(file, people, other, "secret")
            own = await asyncio.to_thread(file, people, hers, "hers")
            assert (await stream.next())["task_id"] == own

    asyncio.run(story())


def test_only_what_was_asked_for_is_told(server: Running, people: httpx.Client) -> None:
    first, second = project(people, "First"), project(people, "Second")

    async def story() -> None:
        async with follow(server, f"?after=now&project_id={second}") as stream:
            await asyncio.to_thread(file, people, first, "no")
            task = await asyncio.to_thread(file, people, second, "yes")
            assert (await stream.next())["task_id"] == task

    asyncio.run(story())


@pytest.mark.parametrize("token", ["coordinator", "tst_session", "tlc_launch", "tqk_key", "tpt_guessed", ""])
def test_no_credential_but_a_persons_opens_the_stream(server: Running, token: str) -> None:
    headers = bearer(server, token) if token == "coordinator" else {"Authorization": f"Bearer {token}"} if token else {}
    for query in ("", "?after=now"):
        response = httpx.get(f"{server.url}{STREAM}{query}", headers=headers)
        assert response.status_code == 401
        assert response.json()["instruction"]


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_a_stream_is_only_read(server: Running, method: str) -> None:
    response = httpx.request(method, f"{server.url}{STREAM}", headers={**bearer(server), "X-Toryo": "1"})
    assert response.status_code in (404, 405)


@pytest.mark.parametrize("accept", ["text/event-stream", "text/html;q=0.5, Text/Event-Stream; q=0.9"])
def test_where_the_events_are_read_they_are_also_followed_by_who_asks_for_a_stream(
    server: Running, people: httpx.Client, accept: str
) -> None:
    here = project(people)
    before = people.get("/status").json()["last_event"]
    task = file(people, here, "T")

    async def story() -> None:
        asked = f"/api/v1/events?after={before}"
        async with follow(server, headers={**bearer(server), "Accept": accept}, at=asked) as stream:
            assert (await stream.next())["task_id"] == task
            assert stream.ids == [before + 1]

    asyncio.run(story())


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/*", ""])
def test_who_does_not_ask_for_a_stream_reads_a_page_of_events(
    server: Running, people: httpx.Client, accept: str
) -> None:
    read = people.get("/events?after=0", headers={"Accept": accept})
    assert read.headers["content-type"].startswith("application/json")
    assert read.json()["last"] >= 0


@pytest.mark.parametrize("token", ["coordinator", "tst_session", "tpt_guessed", ""])
def test_no_credential_but_a_persons_opens_the_stream_where_the_events_are_read(server: Running, token: str) -> None:
    headers = bearer(server, token) if token == "coordinator" else {"Authorization": f"Bearer {token}"} if token else {}
    response = httpx.get(f"{server.url}/api/v1/events", headers={**headers, "Accept": "text/event-stream"})
    assert response.status_code == 401


@pytest.mark.parametrize("query", ["after=many", "after=-1", "kind=???", "since=yesterday", "newest=true", "before=7"])
def test_a_wrong_question_is_refused_before_anything_is_streamed(server: Running, query: str) -> None:
    response = httpx.get(f"{server.url}{STREAM}?{query}", headers=bearer(server))
    assert response.status_code == 422
    assert response.json()["instruction"]


# --- leaving and ending ----------------------------------------------------------------------------------------------


def test_who_leaves_leaves_nothing_behind(server: Running) -> None:
    async def story() -> None:
        idle = await asyncio.to_thread(connections, server)
        async with follow(server, "?after=now"), follow(server, "?after=now"):
            await until(lambda: connections(server) >= idle + 2)
        await until(lambda: connections(server) <= idle)

    asyncio.run(story())


def connections(server: Running) -> int:
    return len(server._listener.server_state.connections)


def test_the_server_stops_at_once_although_somebody_follows(tmp_path: Path) -> None:
    async def story() -> None:
        with app.run_in_thread(Settings(port=0, data_dir=tmp_path)) as server:
            async with follow(server, "?after=now") as stream:
                began = time.monotonic()
                closing = asyncio.create_task(asyncio.to_thread(server.close))
                assert await stream.ended()
                await closing
                assert time.monotonic() - began < 20, "the stream has no end of its own"

    asyncio.run(story())


def long_story(people: httpx.Client, task_id: str) -> None:
    """More events than any buffer on the way takes."""
    for _ in range(120):
        for body in ({"status": "blocked", "reason": "why? " * 2_000}, {"status": "todo"}):
            assert people.post(f"/tasks/{task_id}/move", json=body).status_code == 200


def test_who_reads_nothing_holds_nobody_else_up(server: Running, people: httpx.Client) -> None:
    """Its connection is full; what it has not read waits for it and for nobody else."""
    here = project(people)
    long_story(people, file(people, here, "Long"))
    host, port = server.url.removeprefix("http://").split(":")
    lines = [f"GET {STREAM} HTTP/1.1", f"Host: {host}:{port}", f"Authorization: {bearer(server)['Authorization']}"]
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect((host, int(port)))
        lazy.sendall("\r\n".join([*lines, "", ""]).encode())

        async def story() -> None:
            async with follow(server, "?after=now") as stream:
                last = await asyncio.to_thread(file, people, here, "last")
                while (await stream.first("task.created"))["task_id"] != last:
                    pass

        asyncio.run(story())


def test_a_hundred_follow_at_once_and_each_is_told(server: Running, people: httpx.Client) -> None:
    here = project(people)

    async def story() -> None:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=server.url, timeout=LIMIT, limits=limits, headers=bearer(server)) as http:
            ready: list[bool] = []

            async def one() -> str:
                async with http.stream("GET", f"{STREAM}?after=now") as response:
                    ready.append(response.status_code == 200)
                    found: str = (await Follower(response).first("task.created"))["task_id"]
                    return found

            following = [asyncio.create_task(one()) for _ in range(100)]
            await until(lambda: len(ready) == 100)
            task = await asyncio.to_thread(file, people, here, "T")
            async with asyncio.timeout(LIMIT):
                assert await asyncio.gather(*following) == [task] * 100

    asyncio.run(story())


def test_a_stream_tells_what_an_agent_does_and_that_is_no_event(server: Running, people: httpx.Client) -> None:
    here = project(people)
    made = {"id": "w1", "name": "W1", "role": "worker", "provider": "claude"}
    assert people.post("/agents", json=made).is_success
    assert people.post(f"/projects/{here}/members/w1").is_success
    task = people.post(
        f"/projects/{here}/tasks", json={"title": "T", "assignee_id": "w1", "status": "in_progress"}
    ).json()["task_id"]
    machine = Credentials(bearer=server.app.directory.token("coordinator.token"))

    def ask(name: str, **arguments: Any) -> dict[str, Any]:
        outcome = asyncio.run(server.app.dispatcher.perform_async(name, arguments, machine, door=Door.MCP))
        assert not outcome.refused, outcome.result
        return outcome.result or {}

    (launch,) = ask("claim_starts", coordinator_id="c1", providers=["claude"], free_slots=1)["start"]
    doing = {"kind": "called", "tool": "Bash", "text": "make", "seconds": 0}
    listening: Any = getattr(server.app.bus, "_subscriptions")  # noqa: B009

    async def story() -> None:
        async with follow(server, "?after=now") as stream:
            await until(lambda: DOING in listening._by_topic)
            await asyncio.to_thread(ask, "append_log", launch_id=launch["launch_id"], offset=0, text="", doing=doing)
            told = await stream.sign()
            assert (told["launch_id"], told["task_id"], told["doing"]["text"]) == (launch["launch_id"], task, "make")
            assert stream.ids == [], "who connects again goes on after the last event"

    asyncio.run(story())
