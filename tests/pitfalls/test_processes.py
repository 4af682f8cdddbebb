"""Pitfalls that only a real server and real processes can show: F1 to F53, F116, F120 and F129.

One site serves all that ask about agents at work: two that run a command and one that runs a program of its own by a
template, each stopped at a gate.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.environments import clean_environment
from tests.scenarios.programs import Agent, Program
from tests.scenarios.sites import Gate, Site, free_port
from toryo.agents import env_vars
from toryo.client import Client, RefusalError, wire
from toryo.coordinator import processes
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.server import app, long_polling
from toryo.server.app import Running
from toryo.settings import Settings

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

AT_ONCE = 20.0
"""Seconds: far less than the 45 that a wait lasts without a cause, and enough for a machine that has much to do."""

# --- a server and its clients ----------------------------------------------------------------------------------------


@dataclass
class Serving:
    """A server in this process, its people and Coordinators, and a way to know that calls wait."""

    running: Running
    people: Client
    coordinator: Client
    waiters: threading.Semaphore
    socket: Path

    def held(self, calls: int) -> None:
        """Returns when so many more calls wait."""
        for _ in range(calls):
            assert self.waiters.acquire(timeout=100)

    def over(self, way: str, role: str = "coordinator") -> Client:
        token = getattr(self, role).token
        return Client(None, token, socket=str(self.socket)) if way == "unix" else Client(self.running.url, token)


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    path = tmp_path / "toryo.sock"
    monkeypatch.setattr(long_polling, "LOOK_AGAIN", 1000.0)  # who is answered was hinted
    with app.run_in_thread(Settings(port=0, data_dir=tmp_path, socket=path)) as running:
        waiters = threading.Semaphore(0)
        subscribe = running.app.bus.subscribe

        def counted(topics: Any) -> Any:
            made = subscribe(topics)
            waiters.release()
            return made

        monkeypatch.setattr(running.app.bus, "subscribe", counted)
        people, coordinator = (_client(running, tmp_path / f"{each}.token") for each in ("owner", "coordinator"))
        people.rest("POST", "/projects", {"id": "p", "name": "p", "working_directory": str(tmp_path)})
        yield Serving(running, people, coordinator, waiters, path)


def _client(running: Running, token: Path) -> Client:
    return Client(running.url, token.read_text().strip())


def hire(people: Client, name: str, **more: Any) -> str:
    made = people.rest("POST", "/agents", {"id": name, "role": "worker", "projects": ["p"], **more})
    return str(made["passkey"])


def file(people: Client, **more: Any) -> str:
    return str(people.rest("POST", "/projects/p/tasks", {"title": "Task", **more})["task_id"])


@pytest.mark.pitfall("F2")
def test_f2_ten_calls_that_wait_hold_up_no_other(serving: Serving) -> None:
    hire(serving.people, "w1", provider="command")
    with ThreadPoolExecutor(10) as pool:
        waiting = [
            pool.submit(serving.over("tcp").call, "claim_starts", coordinator_id=f"c{each}", free_slots=1,
                        agent_ids=["nobody"], timeout_seconds=45)
            for each in range(10)
        ]  # fmt: skip
        serving.held(10)
        began = time.monotonic()
        answer = serving.coordinator.call("get_agent_action", agent_id="w1")
        took = time.monotonic() - began
        assert not any(each.done() for each in waiting)
        serving.running.close()
        assert [each.result()["start"] for each in waiting] == [[]] * 10
    assert (answer["action"], took < AT_ONCE) == ("hold", True)


@pytest.mark.pitfall("F3")
@pytest.mark.parametrize("way", ["tcp", "unix"])
def test_f3_large_answers_arrive_whole_many_at_a_time_and_the_server_lives(serving: Serving, way: str) -> None:
    prompt, description = "棟" * 99_999 + "。", "x" * 99_999 + "y"
    passkey = hire(serving.people, "w1", system_prompt=prompt)
    for number in range(25):
        file(serving.people, title=f"Task {number}", description=description)
    file(serving.people, assignee_id="w1", status="in_progress")

    def fetched(_: int) -> list[str]:
        tasks = serving.over(way, "people").rest("GET", "/projects/p/tasks")["tasks"]
        return [task["description"] for task in tasks if task["title"] != "Task"]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(fetched, range(12)):
            assert found == [description] * 25
    signed_in = serving.over(way).call("authenticate", agent_id="w1", passkey=passkey)
    assert signed_in["system_prompt"] == prompt
    with pytest.raises(RefusalError, match="tooLarge"):
        serving.over(way, "people").rest("POST", "/projects/p/tasks", {"title": "x" * 3_000_000})


@pytest.mark.pitfall("F6")
def test_f6_what_was_written_through_one_door_is_read_through_the_other_at_once(serving: Serving) -> None:
    passkey = hire(serving.people, "w1")
    file(serving.people, assignee_id="w1", status="in_progress")
    agent = serving.over("unix")
    token = agent.call("authenticate", agent_id="w1", passkey=passkey)["session_token"]
    for number in range(200):
        task = file(serving.people, title=f"Task {number}")
        assert agent.call("get_task", task_id=task, session_token=token)["task"]["title"] == f"Task {number}"


@pytest.mark.pitfall("F30")
def test_f30_a_wait_ends_by_its_cause_over_every_way_and_else_with_its_time(
    serving: Serving,
) -> None:
    for each in ("tcp", "unix"):
        hire(serving.people, each, provider="command")
    seen = serving.people.rest("GET", "/events", params={"limit": 1000})["last"]

    def claimed(way: str) -> float:
        """Over a way, for the agent that is called like it; when it was answered."""
        asked = {"coordinator_id": way, "free_slots": 1, "agent_ids": [way], "timeout_seconds": 45}
        assert serving.over(way).call("claim_starts", **asked)["start"]
        return time.monotonic()

    def noticed(way: str) -> float:
        wait = {"after": seen, "wait_seconds": 45}
        assert serving.over(way, "people").rest("GET", "/events", params=wait)["events"]
        return time.monotonic()

    with ThreadPoolExecutor(4) as pool:
        held = [pool.submit(each, way) for each in (claimed, noticed) for way in ("tcp", "unix")]
        serving.held(4)
        began = time.monotonic()
        for way in ("tcp", "unix"):
            file(serving.people, assignee_id=way, status="in_progress")
        assert all(each.result() - began < AT_ONCE for each in held)
    for way in ("tcp", "unix"):
        nothing = {"coordinator_id": "idle", "free_slots": 1, "agent_ids": ["nobody"], "timeout_seconds": 1}
        assert serving.over(way).call("claim_starts", **nothing)["start"] == []


@pytest.mark.pitfall("F30")
def test_f30_a_client_is_more_patient_than_the_server_lets_it_wait() -> None:
    for asked in ({"timeout_seconds": 45}, {"wait_seconds": 45}, {"timeout_seconds": 1_000}):
        assert wire.time_out(asked, default=1) > LONGEST_WAIT_SECONDS
    assert Client("http://127.0.0.1:1")._timeout > LONGEST_WAIT_SECONDS


# --- agents at work --------------------------------------------------------------------------------------------------

FAKE_CLI = """
import json, os, pathlib, sys
from toryo.client import Client
config = json.loads(pathlib.Path(sys.argv[sys.argv.index("--mcp-config") + 1]).read_text())["mcpServers"]["toryo"]
pathlib.Path("record.json").write_text(json.dumps({"argv": sys.argv[1:], "environment": dict(os.environ)}))
token = config["headers"]["Authorization"].removeprefix("Bearer ")
server = Client(config["url"].removesuffix("/mcp"), token)
server.call("authenticate")
server.call("get_my_task")
print("my secret is", token)
print("at work", flush=True)
open(sys.argv[sys.argv.index("--gate") + 1]).readline()
server.call("report_completed", result="success", summary="done")
"""
"""A program that a template starts: writes down how it was started, betrays itself, waits, and reports over MCP."""


@dataclass
class AtWork:
    """A site where three agents are at work until the gate opens."""

    site: Site
    gate: Gate
    tasks: dict[str, str]
    passkeys: dict[str, str]
    project: Path

    @property
    def agents(self) -> dict[str, Agent]:
        return {agent.agent_id: agent for agent in self.site.agents()}

    def environment(self, name: str) -> dict[str, str]:
        return next(found for pid, found in processes.environments() if pid == self.agents[name].pid)

    def files(self, name: str) -> list[Path]:
        """What was generated for the agent's start."""
        return list((self.site.data / "workspaces" / self.agents[name].launch_id).iterdir())


@pytest.fixture(scope="module")
def at_work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtWork]:
    directory = tmp_path_factory.mktemp("site")
    (directory / "fake_cli.py").write_text(FAKE_CLI)
    (directory / "own").mkdir()
    (directory / "link").symlink_to(directory / "own")
    with Site(directory, real=True) as site:
        yield _three_at_work(site)


def _three_at_work(site: Site) -> AtWork:
    project = site.project("yard")
    gate = site.gate()
    passkeys = {}
    for name, provider in (("one", "command"), ("two", "command"), ("fake", "fake")):
        site.hire(name, "yard", provider=provider, model="model-1", provider_options={"prompt": 'Be "exact".\nAlways.'})
        passkeys[name] = str(site.people.rest("POST", f"/agents/{name}/passkey")["passkey"])
    command = f"pwd > where.txt; echo at work; {gate}; echo done > done.txt"
    tasks = {
        name: site.file("yard", name, assignee_id=name, status="in_progress", context={"command": command})
        for name in passkeys
    }
    template = [str(site.directory / "fake_cli.py"), "--mcp-config", "{mcp_config}", "--gate", str(gate.path)]
    site.environment["CLAUDECODE"] = "1"
    site.coordinator(
        ai_providers={"fake": {"cli_command": sys.executable, "cli_args": template}},
        agents={"one": {}, "two": {"working_directory": "~/link"}, "fake": {}},
    )
    for task in tasks.values():
        site.until_printed(task, "at work")
    return AtWork(site, gate, tasks, passkeys, project)


@pytest.mark.pitfall("F1")
def test_f1_one_process_has_the_database_open_and_agents_know_an_address_and_no_database(at_work: AtWork) -> None:
    site = at_work.site
    assert len(at_work.agents) == 3
    assert _who_has_open(site.data / "toryo.db") == {site.server.pid}
    for name in at_work.agents:
        found = at_work.environment(name)
        assert found[env_vars.SERVER_URL] == site.url
        told = "\n".join([*found.values(), *(each.read_text() for each in at_work.files(name))])
        assert "toryo.db" not in told
        assert "sqlite" not in told
    (config,) = at_work.files("fake")
    (server,) = json.loads(config.read_text())["mcpServers"].values()
    assert set(server) == {"type", "url", "headers"}, "an address, and no command that starts a server"


def _who_has_open(path: Path) -> set[int]:
    """The processes that hold this file, or what belongs to it, open."""
    found = set()
    for each in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            target = str(each.readlink())
        except OSError:
            continue
        if target.startswith(str(path)):
            found.add(int(each.parts[2]))
    return found


@pytest.mark.pitfall("F45")
def test_f45_agents_find_nothing_of_what_the_coordinator_was_started_from(at_work: AtWork) -> None:
    assert "CLAUDECODE" in Path(f"/proc/{at_work.site.coordinators[0].pid}/environ").read_text()
    for name in at_work.agents:
        assert "CLAUDECODE" not in at_work.environment(name)


@pytest.mark.pitfall("F46")
def test_f46_a_program_of_a_template_gets_prompt_model_directory_and_server_as_they_are(at_work: AtWork) -> None:
    """Adapters for particular CLIs are still to come; each will need this test of its own."""
    record = json.loads((at_work.project / "record.json").read_text())
    argv = record["argv"]
    assert argv[-1].endswith('Be "exact".\nAlways.\n')
    assert "get_next_action" in argv[-1]
    assert argv[argv.index("--model") + 1] == "model-1"
    assert Path(f"/proc/{at_work.agents['fake'].pid}/cwd").resolve() == at_work.project
    sessions = {session["agent_id"]: session for session in at_work.site.sessions()}
    assert sessions["fake"]["launch_id"] == at_work.agents["fake"].launch_id


@pytest.mark.pitfall("F51")
def test_f51_what_an_agent_writes_is_in_the_real_directory_that_its_coordinator_gives_it(at_work: AtWork) -> None:
    own = at_work.site.directory / "own"
    assert (own / "where.txt").read_text().strip() == str(own.resolve())
    assert (at_work.project / "where.txt").read_text().strip() == str(at_work.project)
    assert at_work.files("two") == []


@pytest.mark.pitfall("F116")
def test_f116_what_stands_in_an_agents_environment_and_files_is_worth_that_agent_and_no_more(at_work: AtWork) -> None:
    for name in at_work.agents:
        told = "\n".join([*at_work.environment(name).values(), *(each.read_text() for each in at_work.files(name))])
        for role in ("coordinator", "owner"):
            assert at_work.site.token(role) not in told
        held = Client(at_work.site.url, at_work.environment(name)[env_vars.CREDENTIAL])
        for tool, arguments in (("get_agent_action", {"agent_id": name}), ("list_managed_agents", {})):
            with pytest.raises(RefusalError) as caught:
                held.call(tool, **arguments)
            assert caught.value.code == "coordinatorRequired"
        with pytest.raises(RefusalError) as caught:
            held.rest("GET", "/projects")
        assert caught.value.code == "authenticationRequired"


@pytest.mark.pitfall("F120")
def test_f120_no_secret_is_in_database_logs_or_arguments(at_work: AtWork) -> None:
    """An agent that prints its own credential has it in its own output, a file for this user alone, and only there."""
    site = at_work.site
    credentials = [at_work.environment(name)[env_vars.CREDENTIAL] for name in at_work.agents]
    secrets = [*at_work.passkeys.values(), site.token("coordinator"), site.token("owner")]
    places = {each: each.read_bytes() for each in _kept(site)}
    places |= {each: each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if _readable(each)}
    assert {"server.log", "toryo.db", "coordinator.out", "cmdline"} <= {place.name for place in places}
    assert b"my secret is ********" in b"".join(text for each, text in places.items() if "toryo.db" in each.name)
    for path, text in places.items():
        own = path.name.startswith("lau_")
        assert [each[:4] for each in [*secrets, *([] if own else credentials)] if each.encode() in text] == [], path


def _kept(site: Site) -> Iterator[Path]:
    """What stays: the database and every log. Token files and what an agent's start generated are for one user."""
    for path in (*site.directory.glob("*.out"), *site.data.glob("toryo.db*"), *(site.data / "logs").iterdir()):
        if path.is_file():
            yield path


def _readable(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False


@pytest.mark.pitfall("F129")
def test_f129_one_directory_has_every_components_log_the_database_and_a_timeline_to_tell(at_work: AtWork) -> None:
    site = at_work.site
    kept = {each.name for each in _kept(site)}
    assert {"server.out", "coordinator.out", "server.log", "toryo.db"} <= kept
    assert {f"{agent.launch_id}.log" for agent in at_work.agents.values()} <= kept
    told = site.tell()
    for words in ("server:", "coordinator:", "timeline:", "session.started", "ready http://"):
        assert words in told
    timeline = [line.split()[1] for line in told.partition("timeline:\n")[2].splitlines()]
    assert timeline == sorted(timeline), "one clock, and one format that sorts"


# --- Coordinators and servers that come and go -----------------------------------------------------------------------


@pytest.mark.pitfall("F42", "F43")
def test_f42_f43_a_coordinator_elsewhere_needs_an_address_and_a_token_and_its_logs_are_read_here(site: Site) -> None:
    """Another data directory and another home stand for another machine."""
    directory = site.project("yard")
    site.hire("one", "yard")
    elsewhere = site.directory / "elsewhere"
    elsewhere.mkdir()
    away = {**site.environment, "TORYO_DATA_DIR": str(elsewhere / "data"), "HOME": str(elsewhere)}
    words = ["coordinator", "--server", site.url, "--token", site.token("coordinator"), "--id", "elsewhere"]
    there = Program("elsewhere", words, away, elsewhere)
    site.coordinators.append(there)
    there.start().says("connected to")
    task = site.file("yard", "Task", assignee_id="one", status="in_progress",
                     context={"command": "echo oak is hard; echo done > done.txt"})  # fmt: skip
    site.until_status(task, "completed")
    assert (directory / "done.txt").read_text() == "done\n"
    (launch,) = site.launches(task_id=task)
    site.until_logged(launch["launch_id"], "oak is hard")
    assert (elsewhere / "data" / "logs" / f"{launch['launch_id']}.log").exists()
    assert not (site.data / "logs" / f"{launch['launch_id']}.log").exists()


@pytest.mark.pitfall("F44")
def test_f44_a_task_and_a_chat_of_one_agent_that_start_at_once_have_a_log_each(site: Site) -> None:
    """Both are claimed in one call, and stay at the gate: nobody starts a third."""
    site.project("yard")
    site.hire("one", "yard", provider="fake")
    site.file("yard", "Task", assignee_id="one", status="in_progress")
    site.people.rest("POST", "/projects/yard/chats/one/open")
    words = f"echo I am $TORYO_LAUNCH_ID; {site.gate()}"
    site.coordinator(ai_providers={"fake": {"cli_command": "/bin/sh", "cli_args": ["-c", words]}})
    found = site.until("a task and a chat have started", lambda: site.launches() if len(site.launches()) == 2 else None)
    assert {each["purpose"] for each in found} == {"task", "chat"}
    assert len({each["ordered_at"] for each in found}) == 1, "in the same second"
    logs = {each["launch_id"]: site.data / "logs" / f"{each['launch_id']}.log" for each in found}
    for launch_id in logs:
        site.until_logged(launch_id, launch_id)
    assert {agent.launch_id for agent in site.agents()} == set(logs)
    for launch_id, path in logs.items():
        assert path.read_text() == f"I am {launch_id}\n", "its own process's words, and nobody else's"
    assert sorted((site.data / "logs").glob("lau_*.log")) == sorted(logs.values())


@pytest.mark.pitfall("F52")
def test_f52_after_a_kill_with_a_stale_socket_and_no_address_file_there_is_one_healthy_server(tmp_path: Path) -> None:
    data, path, port = tmp_path / "data", tmp_path / "toryo.sock", str(free_port())
    env = {**clean_environment(tmp_path), "TORYO_DATA_DIR": str(data)}
    words = ["server", "--port", port, "--socket", str(path)]
    server, second = Program("server", words, env, tmp_path), Program("second", words, env, tmp_path)
    try:
        server.start().says("ready http://")
        server.kill()
        (data / "server.json").unlink()
        assert path.exists()
        server.start().says("ready http://")
        second.start()
        assert second.ended_with() == 2
        assert json.loads((data / "server.json").read_text())["pid"] == server.pid
        for client in (Client(f"http://127.0.0.1:{port}"), Client(None, socket=str(path))):
            assert client.rest("GET", "/health")["status"] == "ok"
    finally:
        server.end()
        second.end()
