"""The Coordinator against a scripted server, with real processes: what is ordered runs, what ends is told."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.client.fake_server import BOUND, Call, FakeServer, Refused
from tests.coordinator.orders import Orders
from tests.repositories import Repository
from tests.sandboxes import sandboxed
from toryo import sandbox_signs
from toryo.agents.env_vars import UNREPORTED_FILE
from toryo.client import AsyncClient
from toryo.coordinator import identity_lock, processes
from toryo.coordinator.claiming import STARTS_AT_A_TIME
from toryo.coordinator.config import AgentConfig, Config, parse
from toryo.coordinator.disk_usage import DiskUsage
from toryo.coordinator.failure_words import judge_runner
from toryo.coordinator.launch_journal import Journal, Record
from toryo.coordinator.limits import Limits
from toryo.coordinator.loop import Coordinator
from toryo.coordinator.missing_logins import MissingLogins
from toryo.coordinator.orders import Launch as OrderedLaunch
from toryo.coordinator.process_start import Starter
from toryo.coordinator.provider import Command, Provider, Setting, Verdict
from toryo.coordinator.provider import Login as LoginState
from toryo.coordinator.providers import configured
from toryo.failures import Failure
from toryo.provider_options import EVERY

__all__ = ["sandboxed"]

FAST = Limits(max_concurrent=3, max_chat=3, terminate_after=0.2, kill_after=0.2, leftovers_for=0.2)


def shell(setting: Setting) -> Command:
    """A provider of these tests: runs the script in the agent's options."""
    return Command(("/bin/sh", "-c", str(setting.options["script"])))


PROVIDERS = {"shell": Provider("shell", shell, judge_runner, env=frozenset({"TRUSTED", "TRUSTED_KEY"}), options=EVERY)}


def launch(name: str, script: str, directory: Path, **more: Any) -> dict[str, Any]:
    return {
        "launch_id": f"lau_{name}",
        "agent_id": f"agent-{name}",
        "project_id": "prj",
        "purpose": "task",
        "ai_type": "shell",
        "model": None,
        "working_directory": str(directory),
        "workspace": {"isolation": "none"},
        "credential": f"tlc_{name}_0123456789abcdef",
        "deadline": "2026-01-01T00:00:00.000Z",
        "takes_slot": True,
        "provider_options": {"script": script},
        "language": "en",
        **more,
    }


@asynccontextmanager
async def coordinating(server: FakeServer, tmp_path: Path, config: Config | None = None, **more: Any):
    """A running Coordinator; it is told to leave at the end and must."""
    coordinator = Coordinator(
        config or Config(polling_interval=0.2, shutdown_grace_seconds=0.2, sandbox="none"),
        client=AsyncClient(server.url, "tct_0123456789abcdefgh"),
        data_dir=tmp_path / "data",
        **{"providers": PROVIDERS, "environ": dict(os.environ), "limits": FAST, **more},
    )
    running = asyncio.create_task(coordinator.run())
    try:
        yield coordinator
    finally:
        coordinator.stop()
        await asyncio.wait_for(running, BOUND)


def story(server: FakeServer, tmp_path: Path, tell: Callable[..., Any], config: Config | None = None, **more: Any):
    async def go() -> None:
        async with coordinating(server, tmp_path, config, **more) as coordinator:
            await asyncio.to_thread(tell, coordinator)

    asyncio.run(go())


def until(condition: Callable[[], bool]) -> None:
    """Waits for something that another thread or process does and gives no signal of."""
    deadline = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def exit_of(server: FakeServer, name: str) -> dict[str, Any]:
    """What was reported for a launch, once it was."""
    count = 1
    while True:
        for call in server.waiting_for("report_process_exit", count):
            if call.arguments["launch_id"] == f"lau_{name}":
                return call.arguments
        count += 1


def test_what_is_ordered_runs_in_its_directory_and_its_end_is_reported(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "pwd; echo done > made.txt; exit 3", project))
        reported = exit_of(server, "a")
        assert reported["exit_code"] == 3
        assert reported["error"] == "crashed"
        assert reported["log_tail"] == f"{project}\n"
        assert (project / "made.txt").exists()

    story(server, tmp_path, tell)


def test_the_log_says_that_it_was_the_sandbox_where_something_is_read_only_or_hidden(
    sandboxed: None, server: FakeServer, orders: Orders, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "prices").write_text("ten\n")
    scripts = ("touch /usr/made", f"cat {tmp_path}/prices", f"echo new > {tmp_path}/other/made", "cat nothing", "true")

    def tell(_: Coordinator) -> None:
        for number, script in enumerate(scripts):
            orders.give(launch(str(number), script, project))
            last = str(exit_of(server, str(number)).get("log_tail", "")).splitlines()[-1:]
            assert (last == [sandbox_signs.MAYBE]) is (number < 3), (script, last)

    story(server, tmp_path, tell, Config(polling_interval=0.2, shutdown_grace_seconds=0.2))


def test_the_same_words_without_a_sandbox_are_only_what_the_program_says(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "echo Read-only file system; exit 1", project))
        assert exit_of(server, "a")["log_tail"] == "Read-only file system\n"

    story(server, tmp_path, tell)


def test_a_success_has_no_failure_class(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "true", project))
        reported = exit_of(server, "a")
        assert reported["exit_code"] == 0
        assert "error" not in reported

    story(server, tmp_path, tell)


def test_the_first_thing_it_does_is_to_ask_whether_the_server_is_well(server, orders, tmp_path) -> None:
    story(server, tmp_path, lambda _: server.waiting_for("claim_starts"))
    assert server.calls[0].tool == "health_check"
    claim = server.seen("claim_starts")[0].arguments
    assert (claim["free_slots"], claim["free_chat_slots"], claim["running"]) == (3, 3, [])
    assert claim["providers"] == ["shell"]
    assert "agent_ids" not in claim


def test_only_the_agents_of_the_file_are_asked_for(server, orders, tmp_path) -> None:
    config = Config(agents={"b": AgentConfig(), "a": AgentConfig()}, coordinator_id="here")
    story(server, tmp_path, lambda _: server.waiting_for("claim_starts"), config)
    claim = server.seen("claim_starts")[0].arguments
    assert claim["agent_ids"] == ["a", "b"]
    assert claim["coordinator_id"] == "here"


def test_an_exit_is_reported_while_a_claim_still_waits_and_its_slot_is_offered_again(
    server, orders, project, tmp_path
) -> None:
    """The claim in between offers nothing and is never answered: neither report nor slot may wait for it."""

    def tell(_: Coordinator) -> None:
        os.mkfifo(tmp_path / "go")
        orders.give(launch("a", f"read line < {tmp_path}/go", project))
        assert server.waiting_for("claim_starts", 2)[1].arguments["free_slots"] == 0
        (tmp_path / "go").write_text("go\n")
        assert exit_of(server, "a")["exit_code"] == 0
        again = server.waiting_for("claim_starts", 3)[2].arguments
        assert (again["free_slots"], again["running"]) == (1, [])

    story(server, tmp_path, tell, limits=replace(FAST, max_concurrent=1))


def test_a_claim_that_still_offers_a_slot_is_never_given_up(server, orders, project, tmp_path) -> None:
    """Its answer may be on the way, and would be lost: exits and starts in between change nothing about that."""

    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "true", project), launch("b", "true", project))
        for name in ("a", "b"):
            exit_of(server, name)
        orders.give(launch("c", "true", project))
        exit_of(server, "c")

    story(server, tmp_path, tell)
    first, *rest = server.seen("claim_starts")
    assert [first.arguments["free_slots"], rest[0].arguments["free_slots"]] == [3, 1]
    assert len(rest) <= 2, "one after each answer, and no other"


def test_a_launch_that_is_handed_out_again_does_not_start_twice(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        os.mkfifo(tmp_path / "go")
        one = launch("a", f"echo x >> started; read line < {tmp_path}/go", project)
        orders.give(one, one)
        server.waiting_for("claim_starts", 2)
        orders.give(one)
        server.waiting_for("claim_starts", 3)
        (tmp_path / "go").write_text("go\n")
        exit_of(server, "a")
        orders.give(one)
        server.waiting_for("claim_starts", 4)
        assert (project / "started").read_text() == "x\n"

    story(server, tmp_path, tell)


@pytest.mark.pitfall("F10")
def test_two_processes_of_one_agent_are_two(server, orders, project, tmp_path) -> None:
    """A chat and a task: two exits are reported, and the count goes 2, 1, 0."""

    def tell(coordinator: Coordinator) -> None:
        for name in ("t", "c"):
            os.mkfifo(tmp_path / name)
        task = launch("t", f"read line < {tmp_path}/t", project, agent_id="one")
        chat = launch("c", f"read line < {tmp_path}/c", project, agent_id="one", purpose="chat")
        orders.give(task, chat)
        claim = server.waiting_for("claim_starts", 2)[1].arguments
        assert (claim["free_slots"], claim["free_chat_slots"]) == (2, 2)
        assert sorted(claim["running"]) == ["lau_c", "lau_t"]
        (tmp_path / "t").write_text("go\n")
        exit_of(server, "t")
        orders.give()
        assert server.waiting_for("claim_starts", 3)[2].arguments["running"] == ["lau_c"]
        (tmp_path / "c").write_text("go\n")
        exit_of(server, "c")
        assert coordinator.running == []
        assert {path.name for path in (tmp_path / "data" / "logs").iterdir()} == {"lau_t.log", "lau_c.log"}

    story(server, tmp_path, tell)


def test_a_chat_and_a_task_of_one_agent_have_their_own_purpose_credential_and_files(
    server, orders, project, tmp_path
) -> None:
    def with_file(setting: Setting) -> Command:
        return Command(("/bin/sh", "-c", f"cat {setting.workspace}/who; {setting.options['script']}"), files={
            "who": setting.launch.launch_id})  # fmt: skip

    def tell(_: Coordinator) -> None:
        for purpose in ("task", "chat"):
            os.mkfifo(tmp_path / purpose)
            script = (
                f"echo; echo $TORYO_PURPOSE $TORYO_LAUNCH_CREDENTIAL > {purpose}.txt; read line < {tmp_path}/{purpose}"
            )
            orders.give(launch(purpose, script, project, agent_id="one", purpose=purpose))
        assert sorted(server.waiting_for("claim_starts", 3)[2].arguments["running"]) == ["lau_chat", "lau_task"]
        for purpose in ("task", "chat"):
            (tmp_path / purpose).write_text("go\n")
            assert exit_of(server, purpose)["log_tail"] == f"lau_{purpose}\n"
            assert (project / f"{purpose}.txt").read_text() == f"{purpose} tlc_{purpose}_0123456789abcdef\n"

    providers = {"shell": replace(PROVIDERS["shell"], prepare=with_file)}
    story(server, tmp_path, tell, providers=providers)


def test_the_server_is_told_the_very_directory_in_which_an_agent_runs(server, orders, project, tmp_path) -> None:
    """It tells the agent, whose model would write elsewhere."""
    own = tmp_path / "own"
    own.mkdir()
    config = parse(
        f"polling_interval: 0.2\nshutdown_grace_seconds: 0.2\nsandbox: none\n"
        f"agents:\n  agent-a:\n    working_directory: {own}\nprojects:\n  prj:\n    working_directory: {project}\n",
        "file",
        {},
    )

    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "pwd", project))
        assert exit_of(server, "a")["log_tail"] == f"{own}\n"

    story(server, tmp_path, tell, config)
    assert server.seen("claim_starts")[0].arguments["directories"] == [
        {"agent_id": "agent-a", "directory": str(own)},
        {"project_id": "prj", "directory": str(project)},
    ]


@pytest.mark.parametrize("directory", ["", "/no/such/place"])
def test_a_chat_needs_no_working_directory(server, orders, project, tmp_path, directory) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "pwd", project, purpose="chat", working_directory=directory))
        reported = exit_of(server, "a")
        assert (reported["exit_code"], reported["log_tail"]) == (0, f"{tmp_path}/data/workspaces/lau_a\n")
        assert not (tmp_path / "data" / "workspaces" / "lau_a").exists()

    story(server, tmp_path, tell)


def test_a_chat_is_started_where_tasks_have_taken_all_their_slots_and_a_partner_where_chats_have_too(
    server, orders, project, tmp_path
) -> None:
    """A conversation is never starved by the tasks that wait for it, and two partners always fit."""

    def tell(_: Coordinator) -> None:
        os.mkfifo(tmp_path / "go")
        wait = f"read line < {tmp_path}/go"
        orders.give(launch("task", wait, project))
        orders.give(launch("chat", wait, project, purpose="chat"), launch("late", wait, project, purpose="chat"))
        claim = server.waiting_for("claim_starts", 3)[2].arguments
        assert (claim["free_slots"], claim["free_chat_slots"]) == (0, 0)
        orders.give(launch("partner", "true", project, purpose="chat", takes_slot=False))
        assert exit_of(server, "partner")["exit_code"] == 0
        assert not (tmp_path / "data" / "logs" / "lau_late.log").exists(), "it waits for a slot"

    story(server, tmp_path, tell, limits=replace(FAST, max_concurrent=1, max_chat=1))


@pytest.mark.pitfall("F40")
@pytest.mark.parametrize(
    ("change", "failure", "words"),
    [
        ({"ai_type": "clod"}, "bad_config", "no provider 'clod'"),
        ({"working_directory": "/no/such/place"}, "bad_directory", "does not exist on this machine"),
        ({"workspace": {"isolation": "worktree", "name": "tsk_1"}}, "bad_worktree", "isolation: worktree"),
        ({"workspace": {"isolation": "container"}}, "bad_config", "has isolation: container"),
        ({"provider_options": {}}, "bad_config", "KeyError"),
        ({"budget_usd": 1.0}, "unmetered", "does not report what"),
    ],
)
def test_one_impossible_start_concerns_that_agent_alone(
    server, orders, project, tmp_path, change, failure, words
) -> None:
    def tell(_: Coordinator) -> None:
        orders.give(launch("bad", "true", project, **change), launch("good", "true", project))
        assert exit_of(server, "good")["exit_code"] == 0
        reported = exit_of(server, "bad")
        assert reported["error"] == failure
        assert words in reported["log_tail"]
        assert "exit_code" not in reported

    story(server, tmp_path, tell)
    assert words in (tmp_path / "data" / "logs" / "lau_bad.log").read_text()
    assert words in orders.logs["lau_bad"]


def test_a_process_whose_agent_has_nothing_to_do_by_now_is_not_started(server, orders, tmp_path) -> None:
    """The server says so in its answer about the worktree."""
    house = Repository(tmp_path / "house")
    house.commit(a="one\n")
    server.on("report_worktree", {"stop": "waiting_for_workers"})
    workspace = {"isolation": "worktree", "name": "tsk_1"}
    ran = tmp_path / "ran"

    def tell(_: Coordinator) -> None:
        orders.give(launch("a", f"touch {ran}", house.path, workspace=workspace))
        assert exit_of(server, "a")["error"] == "stopped"

    story(server, tmp_path, tell)
    assert not ran.exists()


def test_a_machine_that_has_no_room_left_is_no_mistake_of_the_configuration(server, orders, project, tmp_path) -> None:
    def prepare(_: Setting) -> Command:
        raise OSError(errno.ENOSPC, "No space left on device", "/srv/x")

    def tell(_: Coordinator) -> None:
        orders.give(launch("full", "true", project, ai_type="full"))
        reported = exit_of(server, "full")
        assert (reported["error"], reported["log_tail"]) == ("machine_failed", "No space left on device: /srv/x")

    story(server, tmp_path, tell, providers={"full": Provider("full", prepare, judge_runner, options=EVERY)})


def test_an_impossible_start_is_told_also_where_its_log_cannot_be_written(server, orders, project, tmp_path) -> None:
    def tell(coordinator: Coordinator) -> None:
        logs_in = coordinator._at.logs_in
        logs_in.parent.mkdir(parents=True, exist_ok=True)
        logs_in.write_text("a file in its place")
        orders.give(launch("a", "true", project, ai_type="unknown"))
        assert exit_of(server, "a")["error"] == "bad_config"

    story(server, tmp_path, tell)


def test_a_start_that_reads_the_project_for_long_keeps_nobody_else(server, orders, project, tmp_path) -> None:
    read = threading.Event()

    def prepare(setting: Setting) -> Command:
        assert read.wait(BOUND)
        return shell(setting)

    slow = Provider("slow", prepare, judge_runner, reads_project=True, options=EVERY)

    def tell(_: Coordinator) -> None:
        orders.give(launch("slow", "exit 3", project, ai_type="slow"), launch("other", "true", project))
        assert exit_of(server, "other")["exit_code"] == 0
        orders.give(launch("later", "true", project))
        assert exit_of(server, "later")["exit_code"] == 0
        read.set()
        assert exit_of(server, "slow")["exit_code"] == 3

    story(server, tmp_path, tell, providers={**PROVIDERS, "slow": slow})


def test_a_start_that_reads_the_project_without_end_is_given_up(server, orders, project, tmp_path, monkeypatch) -> None:
    read = threading.Event()
    slow = Provider(
        "slow", lambda _: Command(("false", str(read.wait(BOUND)))), judge_runner, reads_project=True, options=EVERY
    )
    monkeypatch.setattr(Starter, "PREPARED_WITHIN", 0.01)

    def tell(_: Coordinator) -> None:
        orders.give(launch("slow", "true", project, ai_type="slow"))
        reported = exit_of(server, "slow")
        assert reported["error"] == "bad_config"
        assert "took longer than" in reported["log_tail"]
        read.set()

    story(server, tmp_path, tell, providers={"slow": slow})


def test_the_programs_that_read_the_project_are_started_beside_the_others() -> None:
    found = configured({})
    assert {name for name, each in found.items() if each.reads_project} == {"playbook", "script"}


def test_a_missing_command_is_named_as_such(server, orders, project, tmp_path) -> None:
    missing = {"shell": replace(PROVIDERS["shell"], prepare=lambda _: Command(("no-such-cli",)))}

    async def go() -> None:
        client = AsyncClient(server.url)
        coordinator = Coordinator(Config(), client=client, data_dir=tmp_path / "data", providers=missing)
        running = asyncio.create_task(coordinator.run())
        orders.give(launch("a", "true", project))
        reported = await asyncio.to_thread(exit_of, server, "a")
        assert reported["error"] == "command_not_found"
        coordinator.stop()
        await running

    asyncio.run(go())


@pytest.mark.pitfall("F45")
def test_the_environment_is_an_allow_list_and_who_the_agent_is(server, orders, project, tmp_path) -> None:
    inherited = {
        "PATH": os.environ["PATH"],
        "HOME": "/home/somebody",
        "LC_ALL": "C",
        "TRUSTED": "for-this-provider",
        "CLAUDECODE": "1",
        "TORYO_TOKEN": "tpt_secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "TORYO_DATA_DIR": "/somewhere",
    }

    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "env > environment", project))
        exit_of(server, "a")
        lines = (project / "environment").read_text().splitlines()
        found = dict(line.split("=", 1) for line in lines)
        for name in ("PWD", "SHLVL", "_", "OLDPWD"):
            found.pop(name, None)
        assert found == {
            "PATH": os.environ["PATH"],
            "HOME": "/home/somebody",
            "LC_ALL": "C",
            "TRUSTED": "for-this-provider",
            "TORYO_SERVER_URL": server.url,
            "TORYO_LAUNCH_ID": "lau_a",
            "TORYO_LAUNCH_CREDENTIAL": "tlc_a_0123456789abcdef",
            "TORYO_PURPOSE": "task",
            "TORYO_PROVIDER": "shell",
            "TORYO_COORDINATOR_ID": identity_lock.mark("me", tmp_path / "data"),
            "TORYO_COORDINATOR_PID": str(os.getpid()),
            "AGENT_ID": "agent-a",
            "PROJECT_ID": "prj",
        }

    story(server, tmp_path, tell, Config(sandbox="none", coordinator_id="me"), environ=inherited)


def test_output_reaches_the_server_as_it_appears_with_secrets_masked(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        os.mkfifo(tmp_path / "go")
        script = f"echo first; echo $TORYO_LAUNCH_CREDENTIAL $TRUSTED_KEY; read line < {tmp_path}/go; printf end"
        orders.give(launch("a", script, project))
        server.waiting_for("append_log")
        assert orders.logs["lau_a"] == "first\n******** ********\n"
        (tmp_path / "go").write_text("go\n")
        assert "tlc_a_" not in exit_of(server, "a")["log_tail"]

    story(server, tmp_path, tell, environ={**os.environ, "TRUSTED_KEY": "trusted-value"})
    assert orders.logs["lau_a"] == "first\n******** ********\nend"
    assert "tlc_a_" not in (tmp_path / "data" / "logs" / "lau_a.log").read_text()


def test_what_a_sandbox_tells_of_its_network_is_reported(server, orders, project, tmp_path) -> None:
    os.mkfifo(project / "go")
    refusals = tmp_path / "data" / "logs" / "lau_a.log.refused"

    def tell(_: Coordinator) -> None:
        network = {"network": "model", "ports": [3000]}
        orders.give(launch("a", "echo first; read line < go", project, network=network))
        server.waiting_for("append_log")
        refusals.write_text("Allow it: {host}\n= 3000 41237\na.example:443\n")
        until(lambda: any(call.arguments.get("ports") == {"3000": 41237} for call in server.seen("append_log")))
        (project / "go").write_text("go\n")
        told = exit_of(server, "a")["refused_hosts"]
        assert told == {"hosts": ["a.example:443"], "more": 0, "words": "Allow it: HOST"}

    story(server, tmp_path, tell)
    assert "The sandbox refused these hosts" in orders.logs["lau_a"]


STUBBORN = """
import os, signal, time
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, signal.SIG_IGN)
os.fork()
open("ready", "w").close()
time.sleep(300)
"""


def test_a_stop_ends_even_one_that_ignores_every_request(server, orders, project, tmp_path) -> None:
    def tell(coordinator: Coordinator) -> None:
        os.mkfifo(project / "ready")
        (tmp_path / "stubborn.py").write_text(STUBBORN)
        orders.give(launch("a", f"exec '{sys.executable}' {tmp_path}/stubborn.py", project))
        (project / "ready").read_text()
        orders.give(stop=[{"launch_id": "lau_a", "reason": "runaway", "grace_seconds": 0}])
        reported = exit_of(server, "a")
        assert reported["signal"] == 9
        assert reported["error"] == "stopped"
        assert coordinator.running == []

    story(server, tmp_path, tell)


def test_one_that_obeys_an_interrupt_is_not_killed(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        for name in ("ready", "asked", "go", "other"):
            os.mkfifo(project / name)
        script = (
            "trap 'echo > asked; read line < go; echo tidied > note; exit 0' INT; echo > ready; "
            "while :; do sleep 0.05; done"
        )
        orders.give(launch("a", script, project))
        (project / "ready").read_text()
        orders.give(stop=[{"launch_id": "lau_a", "reason": "task_withdrawn", "grace_seconds": 0}])
        (project / "asked").read_text()
        orders.give(launch("b", "echo > other", project))
        assert (project / "other").read_text() == "\n", "what followed from the order to stop has been done"
        with (project / "go").open("r+b", buffering=0) as go:
            go.write(b"go\n")
            reported = exit_of(server, "a")
        assert (reported["exit_code"], reported["error"]) == (0, "stopped")
        assert (project / "note").read_text() == "tidied\n"

    story(server, tmp_path, tell, limits=replace(FAST, terminate_after=BOUND))


def test_an_end_is_told_when_everything_of_the_group_has_ended(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        for name in ("ready", "go"):
            os.mkfifo(project / name)
        script = "(trap '' TERM INT; echo > ready; exec sleep 300) & read line < go; exit 0"
        orders.give(launch("a", script, project))
        (project / "ready").read_text()
        (project / "go").write_text("go\n")
        reported = exit_of(server, "a")
        assert reported["exit_code"] == 0

    story(server, tmp_path, tell)


def test_who_leaves_by_itself_in_its_grace_time_was_not_stopped_whatever_it_left_behind(
    server, orders, project, tmp_path
) -> None:
    def tell(_: Coordinator) -> None:
        for name in ("ready", "go"):
            os.mkfifo(project / name)
        script = "(trap '' TERM INT; echo > ready; exec sleep 300) & read line < go; exit 7"
        orders.give(launch("a", script, project))
        (project / "ready").read_text()
        orders.give(stop=[{"launch_id": "lau_a", "reason": "launch_over", "grace_seconds": 300}])
        server.waiting_for("claim_starts", 3)
        (project / "go").write_text("go\n")
        reported = exit_of(server, "a")
        assert (reported["exit_code"], reported["error"]) == (7, "crashed")

    story(server, tmp_path, tell)


def test_told_to_leave_it_interrupts_its_agents_reports_them_and_starts_nobody(
    server, orders, project, tmp_path
) -> None:
    def tell(coordinator: Coordinator) -> None:
        os.mkfifo(project / "ready")
        orders.give(launch("a", "echo > ready; exec sleep 300", project))
        (project / "ready").read_text()

    story(server, tmp_path, tell)
    reported = exit_of(server, "a")
    assert (reported["signal"], reported["error"]) == (2, "coordinator_stopped")
    assert not list((tmp_path / "data" / "workspaces").iterdir())


def test_no_more_starts_are_asked_for_than_can_be_begun_soon(server, orders, tmp_path) -> None:
    """So that the server decides about the next hundred while these are started."""

    def tell(_: Coordinator) -> None:
        [first] = server.waiting_for("claim_starts")
        assert (first.arguments["free_slots"], first.arguments["free_chat_slots"]) == (STARTS_AT_A_TIME, 3)

    story(server, tmp_path, tell, limits=replace(FAST, max_concurrent=500))


def test_the_next_starts_are_asked_for_with_everything_in_hand_named_as_running(
    server, orders, project, tmp_path
) -> None:
    """Those not begun yet too: an order that is not named counts as lost, and would be handed out again."""

    def tell(coordinator: Coordinator) -> None:
        server.waiting_for("claim_starts")
        orders.give(*(launch(each, "exec sleep 300", project) for each in "abcdefgh"))
        second = server.waiting_for("claim_starts", 2)[1].arguments
        assert sorted(second["running"]) == [f"lau_{each}" for each in "abcdefgh"]
        assert second["free_slots"] == 2

    story(server, tmp_path, tell, limits=replace(FAST, max_concurrent=10))


def test_told_to_leave_in_the_middle_of_many_starts_it_begins_no_more_and_gives_the_rest_back(
    server, orders, project, tmp_path
) -> None:
    coordinators: list[Coordinator] = []

    def prepare(setting: Setting) -> Command:
        coordinators[0].stop()
        return shell(setting)

    def tell(coordinator: Coordinator) -> None:
        coordinators.append(coordinator)
        server.waiting_for("claim_starts")
        orders.give(*(launch(each, "exec sleep 300", project) for each in "abc"))
        told = {each.arguments["launch_id"]: each.arguments for each in server.waiting_for("report_process_exit", 3)}
        assert {each["error"] for each in told.values()} == {"coordinator_stopped"}
        never = {name for name, each in told.items() if "It was not started" in (each.get("log_tail") or "")}
        assert never == {"lau_b", "lau_c"}

    story(server, tmp_path, tell, providers={"shell": Provider("shell", prepare, judge_runner, options=EVERY)})


def test_a_server_that_is_away_is_reported_once_and_its_agents_run_on(
    server, orders, project, tmp_path, caplog
) -> None:
    def tell(_: Coordinator) -> None:
        os.mkfifo(tmp_path / "go")
        orders.give(launch("a", f"read line < {tmp_path}/go; echo lived > note", project))
        server.waiting_for("claim_starts", 2)
        server.raw = (503, "text/html", b"away")
        orders.give()
        until(lambda: "cannot work with the server" in caplog.text)
        (tmp_path / "go").write_text("go\n")
        until((project / "note").exists)
        server.raw = None
        assert exit_of(server, "a")["exit_code"] == 0
        server.waiting_for("claim_starts", len(server.seen("claim_starts")) + 1)

    caplog.set_level("INFO", "toryo.coordinator")
    story(server, tmp_path, tell)
    assert caplog.text.count("cannot work with the server") == 1
    assert caplog.text.count("connected to") == 2


@pytest.mark.pitfall("F49")
def test_a_refused_token_is_one_clear_message_and_no_start(server, orders, tmp_path, caplog) -> None:
    def no(_: Call) -> dict[str, Any]:
        raise Refused("coordinatorRequired", "Only Coordinators can call claim_starts.", "Use the coordinator token.")

    server.on("claim_starts", no)
    story(server, tmp_path, lambda _: server.waiting_for("claim_starts", 3))
    assert caplog.text.count("cannot work with the server") == 1
    assert "`toryo token rotate coordinator` makes a new one" in caplog.text
    assert "claim_starts is for Coordinators" not in caplog.text, "that is for agents"


def test_a_token_that_was_replaced_is_read_anew_from_its_file(server, orders, tmp_path, caplog) -> None:
    file = tmp_path / "coordinator.token"
    file.write_text("tct_new\n")

    def known(call: Call) -> dict[str, Any]:
        if call.token != "tct_new":
            raise Refused("invalidCredentials", "This token is unknown.", "Use another one.")
        return {"success": True, "status": "ok", "version": "0.1.0"}

    server.on("health_check", known)
    client = AsyncClient(server.url, "tct_old")
    coordinator = Coordinator(Config(), client=client, data_dir=tmp_path / "data", token_file=file)
    assert asyncio.run(_health(coordinator)) == "tct_new"


async def _health(coordinator: Coordinator) -> str | None:
    try:
        await coordinator._at.server.check_health()
        return coordinator._at.server._client.token
    finally:
        await coordinator._at.server.close()
        coordinator._at.instance.release()


@pytest.mark.parametrize("health", [{"status": "starting", "version": "0.1.0"}, {"status": "ok", "version": "7.0.0"}])
def test_a_server_that_is_not_well_or_too_different_is_left_alone(server, orders, tmp_path, caplog, health) -> None:
    server.on("health_check", health)
    story(server, tmp_path, lambda _: server.waiting_for("health_check", 3))
    assert not server.seen("claim_starts")
    assert caplog.text.count("cannot work with the server") == 1


def test_acceptance_checks_are_run_beside_everything_else_and_what_failed_is_told(
    server, orders, project, tmp_path
) -> None:
    (project / "there.txt").touch()
    checks = [
        {"file": "there.txt"},
        {"file": "missing.txt"},
        {"file": "../outside"},
        {"command": "test -e there.txt"},
        {"command": ["sh", "-c", "echo so wrong; exit 4"]},
        {"command": "sleep 300", "timeout_seconds": 0.1},
    ]
    order = {"check_id": "chk_1", "launch_id": "lau_a", "agent_id": "a", "project_id": "prj"}

    def tell(_: Coordinator) -> None:
        orders.give(checks=[{**order, "working_directory": str(project), "checks": checks}])
        [told] = server.waiting_for("report_check_result")
        failures = told.arguments["failures"]
        assert told.arguments["check_id"] == "chk_1"
        assert [failure["check"] for failure in failures] == [
            "missing.txt",
            "../outside",
            "sh -c 'echo so wrong; exit 4'",
            "sleep 300",
        ]
        assert "is missing in" in failures[0]["message"]
        assert "outside the working directory" in failures[1]["message"]
        assert "exit code 4.\nso wrong" in failures[2]["message"]
        assert "took longer than 0.1 s" in failures[3]["message"]

    story(server, tmp_path, tell)


def test_answers_that_bring_nothing_do_not_make_it_ask_in_a_frenzy(server, orders, project, tmp_path) -> None:
    """A server that answers at once and repeats itself is asked ever more slowly."""
    server.on("claim_starts", {"start": [], "stop": [{"launch_id": "lau_x", "reason": "launch_over"}]})

    async def go() -> None:
        async with coordinating(server, tmp_path):
            await asyncio.to_thread(server.waiting_for, "claim_starts", 4)
            asked = len(server.seen("claim_starts"))
            assert asked <= 5

    asyncio.run(go())


def test_two_coordinators_of_one_place_never_bear_one_id(server, orders, tmp_path) -> None:
    async def go() -> None:
        async with coordinating(server, tmp_path), coordinating(server, tmp_path):
            await asyncio.to_thread(server.waiting_for, "claim_starts", 2)

    asyncio.run(go())
    first, second = sorted({each.arguments["coordinator_id"] for each in server.seen("claim_starts")})
    assert second == f"{first}-2"


LEAVES_AN_AGENT = """
import os, subprocess, sys
server, directory, coordinator, begins = sys.argv[1:]
env = dict(os.environ, TORYO_LAUNCH_ID="lau_o", TORYO_SERVER_URL=server, AGENT_ID="o",
           TORYO_COORDINATOR_ID=coordinator, TORYO_COORDINATOR_PID=str(os.getpid()))
script = f"{begins} echo > ready; read line < go"
subprocess.Popen(["/bin/sh", "-c", script], env=env, cwd=directory, start_new_session=True)
"""


def predecessor(directory: Path, server_url: str, coordinator: str = "somebody", begins: str = "") -> None:
    """A Coordinator that starts an agent and is gone; the agent lives on."""
    for name in ("go", "ready"):
        os.mkfifo(directory / name)
    argv = [sys.executable, "-c", LEAVES_AN_AGENT, server_url, str(directory), coordinator, begins]
    subprocess.run(argv, check=True)
    (directory / "ready").read_text()


def test_what_a_predecessor_left_running_is_adopted_and_its_end_reported(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        claim = server.waiting_for("claim_starts")[0].arguments
        assert (claim["running"], claim["free_slots"]) == (["lau_o"], 2)
        (project / "go").write_text("go\n")
        assert "error" not in exit_of(server, "o")

    predecessor(project, server.url)
    story(server, tmp_path, tell)


def test_what_an_adopted_program_prints_shows_no_key_that_only_the_file_of_before_had(
    server, orders, project, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("SECOND_API_KEY", "key-of-an-account-that-was-removed")
    output = tmp_path / "data" / "logs" / "lau_o.log"
    output.parent.mkdir(parents=True)
    output.write_text("I use key-of-an-account-that-was-removed.\n")

    def tell(_: Coordinator) -> None:
        server.waiting_for("claim_starts")
        (project / "go").write_text("go\n")
        exit_of(server, "o")

    predecessor(project, server.url)
    story(server, tmp_path, tell)
    told = "".join(each.arguments["text"] for each in server.seen("append_log"))
    assert told == "I use ********.\n"


def test_of_an_agent_that_has_started_others_the_agent_is_adopted(server, orders, project, tmp_path) -> None:
    """They lead groups of their own, and have its environment: it is over when the agent has ended."""
    os.mkfifo(project / "up")
    os.mkfifo(project / "over")

    def tell(_: Coordinator) -> None:
        assert server.waiting_for("claim_starts")[0].arguments["running"] == ["lau_o"]
        (project / "go").write_text("go\n")
        assert "error" not in exit_of(server, "o")

    helper = "import os; open('up', 'w').close(); open('over').read()"
    begins = f"""setsid '{sys.executable}' -c "{helper}" & read line < up;"""
    predecessor(project, server.url, begins=begins)
    story(server, tmp_path, tell)
    with contextlib.suppress(OSError):
        os.close(os.open(project / "over", os.O_WRONLY | os.O_NONBLOCK))


def test_what_it_left_running_itself_with_a_server_that_moved_is_ended(server, orders, project, tmp_path) -> None:
    def tell(_: Coordinator) -> None:
        assert exit_of(server, "o")["error"] == "stopped"

    predecessor(project, "http://127.0.0.1:9", identity_lock.mark("me", tmp_path / "data"))
    story(server, tmp_path, tell, Config(coordinator_id="me"))


def test_what_another_coordinator_left_with_another_server_is_none_of_its_business(
    server, orders, project, tmp_path
) -> None:
    def tell(_: Coordinator) -> None:
        assert server.waiting_for("claim_starts")[0].arguments["running"] == []
        (project / "go").write_text("go\n")

    predecessor(project, "http://127.0.0.1:9", identity_lock.mark("me", tmp_path / "elsewhere"))
    story(server, tmp_path, tell, Config(coordinator_id="me"))


def test_a_report_that_no_server_took_is_made_by_the_next_coordinator_before_it_asks_for_work(
    server: FakeServer, orders: Orders, project: Path, tmp_path: Path
) -> None:
    def leave_unheard(coordinator: Coordinator) -> None:
        orders.give(launch("one", "echo seen; exit 3", project))
        server.waiting_for("report_process_exit")

    def tell(_: Coordinator) -> None:
        told = exit_of(server, "one")
        assert (told["exit_code"], told["log_tail"]) == (3, "seen\n")
        server.waiting_for("claim_starts", asked + 1)

    def unavailable(_: Call) -> dict[str, Any]:
        raise Refused("unavailable")

    server.on("report_process_exit", unavailable)
    story(server, tmp_path, leave_unheard)
    (kept,) = (tmp_path / "data" / "coordinators").glob("*.launches/*.json")
    assert "tlc_" not in kept.read_text()
    asked, before = len(server.seen("claim_starts")), len(server.seen("report_process_exit"))

    server.on("report_process_exit", {"released": []})
    story(server, tmp_path, tell)
    assert len(server.seen("report_process_exit")) == before + 1
    after = [call.tool for call in server.calls if call.tool in ("report_process_exit", "claim_starts")][
        asked + before :
    ]
    assert after[0] == "report_process_exit"
    assert not kept.exists()


def test_a_result_that_nobody_took_is_on_the_disk_before_its_own_file_is_deleted(
    server, orders, project, tmp_path, monkeypatch
) -> None:
    files: list[Path] = []
    settled: list[bool] = []
    settle = Journal.settle

    def seen(journal: Journal, within: float) -> bool:
        done = settle(journal, within)
        settled.append(done and all(each.exists() for each in files))
        return done

    monkeypatch.setattr(Journal, "settle", seen)

    def tell(coordinator: Coordinator) -> None:
        for name in ("ready", "go"):
            os.mkfifo(project / name)
        orders.give(launch("a", "echo > ready; read line < go", project))
        (project / "ready").read_text()
        files.append(coordinator._at.starter.workspace("lau_a") / UNREPORTED_FILE)
        files[0].write_text('{"result": "success"}')
        (project / "go").write_text("go\n")
        assert exit_of(server, "a")["unreported"] == {"result": "success"}

    story(server, tmp_path, tell)
    assert settled[0]
    assert not files[0].exists()


def test_a_number_that_another_process_has_by_now_is_not_taken_for_the_agent(
    server: FakeServer, orders: Orders, project: Path, tmp_path: Path
) -> None:
    """Nothing is sent to it, and its launch is told to be over; neither after the machine was started anew."""
    held = identity_lock.hold(tmp_path / "data", "me")
    held.release()
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    journal = Journal(held.journal)
    journal.put(Record(OrderedLaunch("lau_one", "agent-one", "prj"), other.pid, 1))
    began, boot = processes.began(other.pid), processes.boot()
    journal.put(Record(OrderedLaunch("lau_two", "agent-two", "prj"), other.pid, began, boot=boot))
    journal.put(Record(OrderedLaunch("lau_six", "agent-six", "prj"), other.pid, began, boot="before"))
    assert journal.settle(BOUND)

    def tell(_: Coordinator) -> None:
        assert exit_of(server, "one")["error"] == "coordinator_stopped"
        assert exit_of(server, "six")["error"] == "coordinator_stopped"
        server.waiting_for("claim_starts")

    try:
        story(server, tmp_path, tell, Config(coordinator_id="me", polling_interval=0.2, sandbox="none"))
        assert other.poll() is None
        told = [call.arguments["launch_id"] for call in server.seen("report_process_exit")]
        assert sorted(told) == ["lau_one", "lau_six"]
    finally:
        other.kill()
        other.wait()


def test_an_end_that_was_seen_is_told_as_it_was_although_something_of_the_launch_still_runs(
    server: FakeServer, orders: Orders, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found running is noted, on a disk that is never slow: the end that was noted before stays."""
    held = identity_lock.hold(tmp_path / "data", "me")
    held.release()
    seen = OrderedLaunch("lau_o", "o", "prj")
    journal = Journal(held.journal)
    journal.put(Record(seen, told={"exit_code": 3, "error": "crashed"}))
    assert journal.settle(BOUND)
    put = Journal.put

    def put_at_once(journal: Journal, record: Record) -> None:
        put(journal, record)
        assert journal.settle(BOUND)

    def tell(_: Coordinator) -> None:
        told = exit_of(server, "o")
        assert (told["exit_code"], told["error"]) == (3, "crashed")
        server.waiting_for("claim_starts")
        (project / "go").write_text("go\n")

    monkeypatch.setattr(Journal, "put", put_at_once)
    predecessor(project, server.url, identity_lock.mark("me", tmp_path / "data"))
    story(server, tmp_path, tell, Config(coordinator_id="me", polling_interval=0.2, sandbox="none"))
    assert len(server.seen("report_process_exit")) == 1


def test_a_disk_that_hangs_does_not_keep_it_from_leaving(
    server: FakeServer,
    orders: Orders,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hangs = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _: hangs.wait())
    monkeypatch.setattr("toryo.coordinator.loop.SETTLE_FOR", 0.1)

    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "true", project))
        exit_of(server, "a")

    try:
        story(server, tmp_path, tell, Config(coordinator_id="me", polling_interval=0.2, sandbox="none"))
        identity_lock.hold(tmp_path / "data", "me").release()
        assert "has not finished writing within 0.1 seconds" in caplog.text
    finally:
        hangs.set()


def test_whatever_fails_while_it_leaves_its_id_is_free(
    server: FakeServer, orders: Orders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: AsyncClient) -> None:
        raise RuntimeError("closing failed")

    monkeypatch.setattr(AsyncClient, "close", fails)
    with pytest.raises(RuntimeError, match="closing failed"):
        story(server, tmp_path, lambda _: server.waiting_for("claim_starts"), Config(coordinator_id="me"))
    identity_lock.hold(tmp_path / "data", "me").release()


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", "[" * 100_000, '{"launch": {}}', '{"launch": 3}', "\x00"])
def test_a_note_about_a_launch_that_cannot_be_read_stops_nobody(
    server: FakeServer, orders: Orders, tmp_path: Path, content: str
) -> None:
    held = identity_lock.hold(tmp_path / "data", "me")
    held.release()
    held.journal.mkdir()
    (held.journal / "lau_one.json").write_text(content)
    story(server, tmp_path, lambda _: server.waiting_for("claim_starts"), Config(coordinator_id="me", sandbox="none"))
    assert server.seen("report_process_exit") == []


def test_a_login_that_an_agent_has_found_missing_is_told_when_it_is_there(
    server: FakeServer, orders: Orders, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toryo.coordinator.loop.MissingLogins", partial(MissingLogins, first=0, longest=0))
    server.on("report_login", {"ended": ["agent-a"]})
    missing, there = threading.Event(), threading.Event()

    def login(_: Any) -> LoginState:
        found = LoginState(there.is_set(), "")
        missing.set()
        return found

    signed_out = replace(
        PROVIDERS["shell"],
        judge=lambda _: Verdict(Failure.NOT_LOGGED_IN),
        login=login,
        account="first",
        accounts={"second": {"TRUSTED": "2"}},
    )

    def tell(_: Coordinator) -> None:
        orders.give(launch("a", "exit 1", project, account="second"))
        assert exit_of(server, "a")["error"] == "not_logged_in"
        assert missing.wait(BOUND)
        assert server.seen("report_login") == []
        there.set()
        (told,) = server.waiting_for("report_login", 1)
        assert told.arguments == {"provider": "shell", "account": "second"}

    story(server, tmp_path, tell, providers={"shell": signed_out})


def test_what_logs_and_worktrees_take_is_told_beside_the_work(
    server: FakeServer, orders: Orders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toryo.coordinator.loop.DiskUsage", partial(DiskUsage, first_after=0))
    server.on("report_disk", {})
    (tmp_path / "data" / "worktrees").mkdir(parents=True)
    (tmp_path / "data" / "worktrees" / "large").write_bytes(b"x" * 100_000)

    def tell(_: Coordinator) -> None:
        (told,) = server.waiting_for("report_disk", 1)
        assert told.arguments["worktrees_bytes"] >= 100_000
        assert told.arguments["complete"] is True
        assert told.arguments["coordinator_id"] == server.waiting_for("claim_starts", 1)[0].arguments["coordinator_id"]

    story(server, tmp_path, tell)
