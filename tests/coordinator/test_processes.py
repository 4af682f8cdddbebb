"""Real processes: started, watched, ended with everything of their group."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from toryo.coordinator import logs, processes
from toryo.coordinator.launch_state import Stage
from toryo.coordinator.provider import BadConfig, CommandNotFound

BOUND = 100.0
ENV = {"PATH": os.environ["PATH"]}


class Pipe:
    """A named pipe through which a child says something: what a test waits for in place of sleeping."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    async def line(self) -> str:
        loop, heard = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._descriptor, heard.set)
        try:
            await asyncio.wait_for(heard.wait(), BOUND)
        finally:
            loop.remove_reader(self._descriptor)
        return os.read(self._descriptor, 4096).decode().strip()

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def pipe(tmp_path):
    made = Pipe(tmp_path / "pipe")
    yield made
    made.close()


@asynccontextmanager
async def started(tmp_path: Path, *argv: str, name: str = "lau_1", env: dict[str, str] | None = None):
    """A process and an event that is set when it has ended; nothing of it survives the test."""
    path, output = logs.create(tmp_path / "logs", name)
    process = processes.start(argv, cwd=tmp_path, env=ENV | (env or {}), output=output)
    os.close(output)
    ended = asyncio.Event()
    process.watch(asyncio.get_running_loop(), ended.set)
    try:
        yield process, ended, path
    finally:
        process.signal_group(Stage.KILL)


async def within_bound(event: asyncio.Event) -> None:
    await asyncio.wait_for(event.wait(), BOUND)


@pytest.mark.parametrize("code", [0, 1, 7])
def test_its_exit_code_is_known(tmp_path, code) -> None:
    async def story() -> None:
        async with started(tmp_path, "/bin/sh", "-c", f"exit {code}") as (process, ended, _):
            await within_bound(ended)
            assert (process.exit_code, process.signal) == (code, None)
            assert not process.group_alive

    asyncio.run(story())


def test_the_signal_that_ended_it_is_known(tmp_path) -> None:
    async def story() -> None:
        async with started(tmp_path, "/bin/sh", "-c", "kill -SEGV $$") as (process, ended, _):
            await within_bound(ended)
            assert (process.exit_code, process.signal) == (None, signal.SIGSEGV)

    asyncio.run(story())


def test_its_end_is_noticed_without_pidfds_too(tmp_path, monkeypatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")

    async def story() -> None:
        async with started(tmp_path, "/bin/sh", "-c", "exit 3") as (process, ended, _):
            await within_bound(ended)
            assert process.exit_code == 3

    asyncio.run(story())


def test_both_outputs_are_in_one_private_file_and_stdin_is_closed(tmp_path) -> None:
    async def story() -> None:
        script = "echo out; echo err >&2; cat; echo end"
        async with started(tmp_path, "/bin/sh", "-c", script) as (_, ended, path):
            await within_bound(ended)
            assert path.read_text() == "out\nerr\nend\n"
            assert path.stat().st_mode & 0o777 == 0o600
            assert path.name == "lau_1.log"

    asyncio.run(story())


def test_it_leads_a_session_and_group_of_its_own(tmp_path, pipe) -> None:
    async def story() -> None:
        async with started(tmp_path, "/bin/sh", "-c", f"echo ready > {pipe.path}; exec sleep 60") as (process, _, _p):
            assert await pipe.line() == "ready"
            assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid

    asyncio.run(story())


STUBBORN = """
import os, signal, sys, time
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, signal.SIG_IGN)
children = [os.fork() for _ in range(2)]
if 0 in children:
    time.sleep(300)
with open(sys.argv[1], "w") as pipe:
    pipe.write(" ".join(map(str, children)) + "\\n")
time.sleep(300)
"""


ASKED = """
import subprocess, sys
child = subprocess.Popen(["sleep", "300"])
with open(sys.argv[1], "w") as pipe:
    pipe.write("up\\n")
child.wait()
sys.exit(3)
"""


def test_one_that_ignores_every_request_is_killed_with_its_children(tmp_path, pipe) -> None:
    async def story() -> None:
        async with started(tmp_path, sys.executable, "-c", STUBBORN, str(pipe.path)) as (process, ended, _):
            children = [int(part) for part in (await pipe.line()).split()]
            process.signal_group(Stage.INTERRUPT)
            process.signal_group(Stage.TERMINATE)
            assert process.group_alive
            process.signal_group(Stage.KILL)
            await within_bound(ended)
            assert process.signal == signal.SIGKILL
            await gone(*children)
            await until(lambda: not process.group_alive)  # a child that is not reaped yet still belongs to it

    asyncio.run(story())


def test_children_that_outlive_their_leader_are_seen_and_can_be_ended(tmp_path, pipe) -> None:
    async def story() -> None:
        script = f"(trap '' INT; echo $$ > {pipe.path}; exec sleep 300) & exit 0"
        async with started(tmp_path, "/bin/sh", "-c", script) as (process, ended, _):
            await pipe.line()
            await within_bound(ended)
            assert process.exit_code == 0
            assert process.group_alive
            process.signal_group(Stage.TERMINATE)
            await until(lambda: not process.group_alive)

    asyncio.run(story())


def test_sandboxes_that_are_asked_to_leave_together_are_looked_for_once(tmp_path, pipe, monkeypatch) -> None:
    looks: list[None] = []
    found = processes._stats

    def counted():
        looks.append(None)
        return found()

    monkeypatch.setattr(processes, "_stats", counted)

    async def story() -> None:
        async with (
            started(tmp_path, sys.executable, "-c", ASKED, str(pipe.path)) as (one, one_ended, _),
            started(tmp_path, sys.executable, "-c", ASKED, str(pipe.path), name="lau_2") as (other, other_ended, _),
        ):
            heard = ""
            while heard.count("up") < 2:
                heard += await pipe.line()
            groups = processes.Groups()
            for each in (one, other):
                each.sandboxed = True
                each.signal_group(Stage.INTERRUPT, groups)
            await within_bound(one_ended)
            await within_bound(other_ended)
            assert (one.exit_code, other.exit_code) == (3, 3), "their children were asked, they themselves were not"
            assert len(looks) == 1

    asyncio.run(story())


def test_what_left_the_group_is_found_by_its_launch_and_server(tmp_path, pipe) -> None:
    async def story() -> None:
        script = f"setsid sh -c 'echo $$ > {pipe.path}; exec sleep 300' & wait"
        mine = {"TORYO_LAUNCH_ID": f"lau_{os.getpid()}", "TORYO_SERVER_URL": "http://mine"}
        async with started(tmp_path, "/bin/sh", "-c", script, env=mine) as (process, ended, _):
            stray = int(await pipe.line())
            process.signal_group(Stage.KILL)
            await within_bound(ended)
            processes.end_strays(["lau_else", f"lau_{os.getpid()}"], "http://another")
            os.kill(stray, 0)
            processes.end_strays(["lau_else", f"lau_{os.getpid()}"], "http://mine")
            await gone(stray)

    asyncio.run(story())


def test_one_that_is_just_beginning_another_program_is_looked_at_again(tmp_path, monkeypatch) -> None:
    """It has no environment for a moment; a kernel thread, and who was started without one, never has any."""
    for name in ("7", "8", "9"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "environ").touch()
        (tmp_path / name / "cmdline").write_bytes(b"env -i" if name == "9" else b"")
    for name in ("7", "9"):
        (tmp_path / name / "exe").touch()
    looks: list[float] = []

    def begins(seconds: float) -> None:
        looks.append(seconds)
        (tmp_path / "7" / "environ").write_bytes(b"TORYO_LAUNCH_ID=lau_1\0HOME=/\0")

    monkeypatch.setattr(processes, "_PROC", tmp_path)
    monkeypatch.setattr("toryo.coordinator.processes.time.sleep", begins)
    assert dict(processes.environments()) == {7: {"TORYO_LAUNCH_ID": "lau_1", "HOME": "/"}}
    assert len(looks) == 1, "nobody else is waited for"


def test_a_missing_command_says_so_and_how_to_mend_it(tmp_path) -> None:
    with pytest.raises(CommandNotFound, match=r"no-such-program was not found. Install it"):
        processes.start(["no-such-program"], cwd=tmp_path, env=ENV, output=1)
    with pytest.raises(CommandNotFound):
        processes.start([str(tmp_path / "nothing")], cwd=tmp_path, env=ENV, output=1)


def test_what_cannot_be_executed_is_a_wrong_configuration(tmp_path) -> None:
    program = tmp_path / "no-program"
    program.write_bytes(b"\x00\x01")
    program.chmod(0o755)
    with pytest.raises(BadConfig, match="cannot be started"):
        processes.start([str(program)], cwd=tmp_path, env=ENV, output=1)


def test_two_processes_have_two_ends(tmp_path) -> None:
    async def story() -> None:
        one = started(tmp_path, "/bin/sh", "-c", "exit 1", name="lau_1")
        two = started(tmp_path, "/bin/sh", "-c", "exit 2", name="lau_2")
        async with one as (first, first_ended, _), two as (second, second_ended, _p):
            await within_bound(first_ended)
            await within_bound(second_ended)
            assert (first.exit_code, second.exit_code) == (1, 2)

    asyncio.run(story())


async def until(holds) -> None:
    """Bounded; the kernel tells nobody when a group is empty."""
    async with asyncio.timeout(BOUND):
        while not holds():  # noqa: ASYNC110 - no event exists
            await asyncio.sleep(0.01)


async def gone(*pids: int) -> None:
    """Ended, even where nobody buries it."""

    def dead(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except FileNotFoundError:
            return True

    await until(lambda: all(dead(each) for each in pids))


def test_a_process_that_is_buried_while_it_is_looked_at_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    pid = os.spawnv(os.P_NOWAIT, "/bin/true", ["true"])
    os.waitpid(pid, 0)
    monkeypatch.setattr(os, "kill", lambda *_: None)
    assert processes.has_ended(pid, 1)
    assert processes.has_ended(pid, None)
