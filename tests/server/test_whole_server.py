"""The real server, from start to end: dispatcher, database and bus behind the edge, files, signals, a second start."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import orjson
import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from tests.server.http import LIMIT, PLAIN, call, references
from toryo.server import app
from toryo.server.app import Running
from toryo.server.http_errors import ConfigurationError
from toryo.settings import Settings
from toryo.storage import migrations
from toryo.storage.open_database import open_database

JSON_RPC = dict(PLAIN[1:])


@pytest.fixture
def any_server(tmp_path: Path, database_url: str) -> Iterator[Running]:
    """On each kind of database."""
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path, database=database_url)) as running:
        yield running


def token(directory: Path, name: str = "owner") -> dict[str, str]:
    return {"Authorization": f"Bearer {(directory / f'{name}.token').read_text().strip()}"}


def test_it_is_well_over_every_door(server: Running) -> None:
    with httpx.Client(base_url=server.url) as http:
        assert http.get("/health").json()["status"] == "ok"
        answer = http.post("/mcp", content=call("health_check"), headers=JSON_RPC).json()["result"]
        assert answer["structuredContent"]["status"] == "ok"
        assert orjson.loads(answer["content"][0]["text"]) == answer["structuredContent"]


def test_a_server_whose_data_directory_was_deleted_is_not_well_and_takes_nothing_more(tmp_path: Path) -> None:
    place = tmp_path / "data"
    with app.run_in_thread(Settings(port=0, data_dir=place)) as running:
        owner = token(place)
        shutil.rmtree(place)
        with httpx.Client(base_url=running.url, headers=owner) as http:
            health = http.get("/health")
            refused = http.post("/api/v1/projects", json={"project_id": "p", "working_directory": str(tmp_path)})
            answers = [health, http.get("/api/v1/status"), refused, http.get("/api/v1/projects")]
    assert [each.status_code for each in answers] == [503] * 4
    assert "was deleted" in health.json()["detail"]
    assert "start it again" in health.json()["instruction"]
    assert not place.exists()


def test_clients_find_it_by_the_file_it_leaves_while_it_runs(tmp_path: Path) -> None:
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path)) as running:
        left = orjson.loads((tmp_path / "server.json").read_bytes())
        assert left["url"] == running.url
        assert set(left) == {"url", "socket", "pid", "version", "data_dir"}
    assert not (tmp_path / "server.json").exists()


@pytest.mark.pitfall("F117")
def test_a_persons_token_opens_rest_and_no_other_does(server: Running, tmp_path: Path) -> None:
    with httpx.Client(base_url=f"{server.url}/api/v1") as http:
        assert http.get("/projects", headers=token(tmp_path)).json() == {"success": True, "projects": []}
        for headers in (token(tmp_path, "coordinator"), {"Authorization": "Bearer tpt_guessed"}, {}):
            response = http.get("/projects", headers=headers)
            assert response.status_code == 401
            assert response.json()["instruction"]


def test_people_and_agents_meet_over_the_wire(any_server: Running, tmp_path: Path) -> None:
    """A person files a task, the agent signs in by hand, is led to it, and its status reaches the person."""
    with httpx.Client(base_url=f"{any_server.url}/api/v1", headers=token(tmp_path)) as people:
        project = people.post("/projects", json={"name": "P", "working_directory": str(tmp_path)}).json()["project"]
        made = people.post("/agents", json={"id": "w", "role": "worker", "projects": [project["id"]]}).json()
        filed = people.post(
            f"/projects/{project['id']}/tasks", json={"title": "T", "assignee_id": "w", "status": "in_progress"}
        ).json()

        async def agent() -> None:
            async with Client(f"{any_server.url}/mcp", mode="legacy") as client:
                signed_in = await client.call_tool(
                    "authenticate", {"agent_id": "w", "passkey": made["passkey"], "project_id": project["id"]}
                )
                session = {"session_token": signed_in.structured_content["session_token"]}
                told = await client.call_tool("get_next_action", session)
                assert told.structured_content["action"] == "report_model"
                mine = await client.call_tool("get_my_task", session)
                assert mine.structured_content["task"]["task_id"] == filed["task_id"]

        asyncio.run(agent())
        shown = people.get("/sessions").json()["sessions"]
        assert [each["agent_id"] for each in shown] == ["w"]


def test_an_unknown_tool_is_a_refusal_that_names_near_ones(server: Running) -> None:
    answer = httpx.post(f"{server.url}/mcp", content=call("get_next_actoin"), headers=JSON_RPC).json()["result"]
    assert answer["isError"]
    assert answer["structuredContent"]["error"] == "toolNotFound"
    assert "get_next_action" in answer["structuredContent"]["instruction"]


def test_every_listed_tool_shows_a_schema_that_is_json_schema(server: Running) -> None:
    async def story() -> None:
        async with Client(f"{server.url}/mcp") as client:
            listed = (await client.list_tools()).tools
            assert {"authenticate", "get_next_action", "health_check"} <= {tool.name for tool in listed}
            for tool in listed:
                Draft202012Validator.check_schema(tool.input_schema)
                assert tool.input_schema["type"] == "object"
                assert tool.description

    asyncio.run(story())


def test_a_client_that_asks_for_output_schemas_finds_every_answer_and_refusal_true(server: Running) -> None:
    """The official client holds what it is answered to the schema that it was shown."""

    async def story() -> None:
        for mode in ("legacy", "auto"):
            async with Client(f"{server.url}/mcp", mode=mode) as client:
                assert not any(tool.output_schema for tool in (await client.list_tools()).tools)
            async with Client(f"{server.url}/mcp?output_schemas=true", mode=mode) as client:
                listed = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
                assert all(listed.values())
                for name, arguments, refused in (
                    ("health_check", {}, False),
                    ("help", {"tool_name": "authenticate"}, False),
                    ("authenticate", {"agent_id": "nobody", "passkey": "wrong"}, True),
                    ("get_next_action", {}, True),
                ):
                    answer = await client.call_tool(name, arguments)
                    assert answer.is_error is refused
                    Draft202012Validator(listed[name] or False).validate(answer.structured_content)

    asyncio.run(story())


def test_a_create_that_is_sent_again_with_its_key_is_done_once(server: Running, tmp_path: Path) -> None:
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=token(tmp_path)) as people:
        asked, key = {"name": "P", "working_directory": "/srv/p"}, {"Idempotency-Key": "one"}
        first, again = (people.post("/projects", json=asked, headers=key) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.json() == first.json()
        other = people.post("/projects", json={**asked, "name": "Other"}, headers=key)
        assert (other.status_code, other.json()["code"]) == (409, "conflict")
        assert len(people.get("/projects").json()["projects"]) == 1
        longest = {"Idempotency-Key": "x" * 200}
        assert people.post("/projects", json=asked, headers=longest).status_code == 201
        for wrong in ("", "x" * 201, "a\tb"):
            assert people.post("/projects", json=asked, headers={"Idempotency-Key": wrong}).status_code == 422


def test_once_it_answers_it_looks_for_garbage_again(tmp_path: Path) -> None:
    gc.disable()  # as whoever starts it does, until then
    try:
        with app.run_in_thread(Settings(port=0, data_dir=tmp_path)):
            assert gc.isenabled()
    finally:
        gc.enable()


def test_every_change_of_a_thing_takes_the_version_that_was_read(server: Running) -> None:
    paths = httpx.get(f"{server.url}/api/v1/openapi.json").json()["paths"]
    edits = {path: each["patch"] for path, each in paths.items() if "patch" in each}
    del edits["/api/v1/people/{person_id}"]  # an account has no version: what is sent is what it is afterwards
    del edits["/api/v1/notification-settings"]  # one's own, as far as they are sent
    del edits["/api/v1/views/{view_id}"]  # a saved view has no version: its name is what was sent last
    del edits["/api/v1/webhooks/{webhook_id}"]  # as a schedule
    del edits["/api/v1/schedules/{schedule_id}"]  # has no version: what is left out of the change stays
    del edits["/api/v1/memories/{memory_id}"]  # one text, and whether it is pinned: what was sent last
    del edits["/api/v1/quotas/{account}"]  # as a schedule
    assert len(edits) >= 3
    for path, edit in edits.items():
        assert "If-Match" in [parameter["name"] for parameter in edit["parameters"]], path


def test_the_document_is_openapi_and_says_how_one_signs_in_and_follows(server: Running) -> None:
    document = httpx.get(f"{server.url}/api/v1/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert {each["type"] for each in document["components"]["securitySchemes"].values()} == {"http", "apiKey"}
    stream = document["paths"]["/api/v1/events/stream"]["get"]
    assert list(stream["responses"]["200"]["content"]) == ["text/event-stream"]
    read = document["paths"]["/api/v1/events"]["get"]
    assert list(read["responses"]["200"]["content"]) == ["application/json", "text/event-stream"]
    shown = document["paths"]["/api/v1/tasks/{task_id}"]["get"]["responses"]["200"]["content"]["application/json"]
    assert shown["schema"]["properties"]["task"] == {"$ref": "#/components/schemas/PersonsTask"}
    assert "title" in document["components"]["schemas"]["PersonsTask"]["properties"]


def test_the_openapi_document_names_every_route_of_people(server: Running) -> None:
    document = httpx.get(f"{server.url}/api/v1/openapi.json").json()
    assert {"/api/v1/projects", "/api/v1/agents", "/api/v1/tasks/{task_id}"} <= set(document["paths"])
    for reference in references(document):
        node = document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]


def test_the_log_keeps_calls_and_no_secret(server: Running, tmp_path: Path) -> None:
    arguments = {"agent_id": "nobody", "passkey": "very-secret-passkey", "project_id": "p"}
    httpx.post(f"{server.url}/mcp", content=call("authenticate", arguments), headers=JSON_RPC)
    server.close()
    kept = (tmp_path / "logs" / "server.log").read_text()
    assert "authenticate" in kept
    assert "very-secret-passkey" not in kept


def test_a_second_start_keeps_tokens_and_data(tmp_path: Path) -> None:
    settings = Settings(port=0, data_dir=tmp_path)
    with app.run_in_thread(settings) as first:
        project = {"name": "kept", "working_directory": str(tmp_path)}
        httpx.post(f"{first.url}/api/v1/projects", json=project, headers=token(tmp_path)).raise_for_status()
        before = token(tmp_path)
    with app.run_in_thread(settings) as second:
        assert token(tmp_path) == before
        projects = httpx.get(f"{second.url}/api/v1/projects", headers=before).json()["projects"]
        assert [each["name"] for each in projects] == ["kept"]


def test_an_upgrade_of_the_database_is_told_and_that_it_cannot_be_undone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, now = Settings(port=0, data_dir=tmp_path), migrations.PRESENT
    with open_database(settings.database_url()) as database:
        database.write(lambda connection: migrations.upgrade(connection, migrations.STEPS[:-2]))
    app.build(settings).close()
    first, last = capsys.readouterr().err.splitlines()
    file = tmp_path / f"toryo.db.before-upgrade-{now - 2}.toryo"
    assert first == f"upgrading the database from version {now - 2} to {now}; first, it is backed up to {file}"
    assert file.is_file()
    assert last.startswith(f"upgraded the database from version {now - 2} to {now} (")
    assert "earlier versions of Toryo no longer read it" in last
    lines = map(orjson.loads, (tmp_path / "logs" / "server.log").read_text().splitlines())
    assert [each["told"] for each in lines if each["event"] == "database_upgrade"] == [first, last]
    app.build(settings).close()
    assert "upgrad" not in capsys.readouterr().err


def test_what_stands_in_the_way_of_a_start_is_named_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=str(port)):
            app.build(Settings(port=port, data_dir=tmp_path))
    with pytest.raises(ConfigurationError, match="mysql"):
        app.build(Settings(port=0, data_dir=tmp_path, database="mysql://somewhere"))
    with pytest.raises(ConfigurationError) as caught:
        app.build(Settings(port=0, data_dir=tmp_path, database="postgresql://nobody@127.0.0.1:1/none"))
    assert caught.value.instruction
    app.build(Settings(port=0, data_dir=tmp_path)).close()


def test_a_server_that_does_not_come_to_answer_is_stopped_and_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "STARTS_WITHIN", 0)
    monkeypatch.setattr(app, "_serve", lambda *_: None)
    with pytest.raises(ConfigurationError, match="did not start in time") as caught:
        app.run_in_thread(Settings(port=0, data_dir=tmp_path))
    assert str(tmp_path / "logs" / "server.log") in caught.value.instruction
    app.build(Settings(port=0, data_dir=tmp_path)).close()


def test_what_exists_when_it_answers_is_never_looked_at_by_the_collector_again(tmp_path: Path) -> None:
    before = gc.get_freeze_count()
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path)):
        assert gc.get_freeze_count() > before


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "toryo.db").write_bytes(b"this is no database" * 1000)
    with pytest.raises(ConfigurationError) as caught:
        app.build(Settings(port=0, data_dir=tmp_path))
    assert caught.value.instruction


@pytest.mark.postgresql
def test_two_servers_on_one_database_wake_each_others_waiters(
    tmp_path: Path, postgres_empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()  # who waits looks again in any case, only later

    answers: list[httpx.Response] = []

    def hold(url: str, last: int) -> None:
        poll = f"{url}/api/v1/events?wait_seconds=45&after={last}"
        answers.append(httpx.get(poll, headers=token(tmp_path / "one"), timeout=LIMIT))

    settings = [Settings(port=0, data_dir=tmp_path / name, database=postgres_empty) for name in ("one", "two")]
    with app.run_in_thread(settings[0]) as one, app.run_in_thread(settings[1]) as two:
        hear = one.app.bus._heard  # type: ignore[attr-defined]

        def heard(payload: str) -> None:
            hear(payload)
            told.set()

        monkeypatch.setattr(one.app.bus, "_heard", heard)
        shown = httpx.get(f"{one.url}/api/v1/events?limit=1000", headers=token(tmp_path / "one")).json()
        holder = threading.Thread(target=hold, args=(one.url, shown["last"]))
        holder.start()
        _until(lambda: "events" in one.app.bus._subscriptions._by_topic)  # type: ignore[attr-defined]
        project = {"name": "elsewhere", "working_directory": str(tmp_path)}
        httpx.post(f"{two.url}/api/v1/projects", json=project, headers=token(tmp_path / "two")).raise_for_status()
        assert told.wait(LIMIT)
        holder.join(LIMIT)
    assert [event["kind"] for event in answers[0].json()["events"]] == ["project.created"]


def _until(condition: Callable[[], bool]) -> None:
    """Waits for something that another thread does and gives no signal of."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


# --- as a process ----------------------------------------------------------------------------------------------------


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    yield from _process(tmp_path)


def _process(directory: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    code = "from pathlib import Path; import sys; from toryo.server import app; from toryo.settings import Settings;"
    code += "app.run(Settings(port=0, data_dir=Path(sys.argv[1]), socket=Path(sys.argv[1]) / 'toryo.sock'))"
    started = subprocess.Popen([sys.executable, "-c", code, str(directory)], stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    try:
        line = started.stderr.readline()
        assert line.startswith("ready http://127.0.0.1:"), line + started.stderr.read()
        yield started, line.split()[1]
    finally:
        started.kill()
        started.wait(LIMIT)
        started.stderr.close()


@pytest.mark.deep
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, -signal.SIGINT)])
def test_a_signal_ends_it_in_order_while_a_call_is_held(
    process: tuple[subprocess.Popen[str], str], tmp_path: Path, number: signal.Signals, code: int
) -> None:
    started, url = process
    """That it does not take as long as the call would: test_listening."""
    answers: list[int] = []
    poll = f"{url}/api/v1/events?wait_seconds=45&after=1000000"

    def hold() -> None:
        with contextlib.suppress(httpx.TransportError):  # on a busy machine it comes when the doors are closed
            answers.append(httpx.get(poll, headers=token(tmp_path), timeout=LIMIT).status_code)

    holder = threading.Thread(target=hold)
    holder.start()
    with httpx.Client(base_url=url, timeout=LIMIT) as http:
        assert http.get("/health").status_code == 200
        started.send_signal(number)
        assert started.wait(LIMIT) == code
    holder.join(LIMIT)
    assert answers in ([200], [])
    assert not (tmp_path / "server.json").exists()
    assert not (tmp_path / "toryo.sock").exists()
    with sqlite3.connect(tmp_path / "toryo.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.deep
@pytest.mark.pitfall("F52")
def test_after_a_kill_it_starts_again_on_the_same_directory(tmp_path: Path) -> None:
    for attempt in _process(tmp_path):
        attempt[0].kill()
        attempt[0].wait(LIMIT)
    for _, url in _process(tmp_path):
        assert httpx.get(f"{url}/health").status_code == 200


@pytest.mark.deep
def test_it_is_ready_soon(tmp_path: Path) -> None:
    """The target is 0.7 s; by the clock that says more of what else a machine does, so its own seconds count."""
    for started, _ in _process(tmp_path):
        words = Path(f"/proc/{started.pid}/stat").read_text().rpartition(")")[2].split()
        used = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        assert used < 5
