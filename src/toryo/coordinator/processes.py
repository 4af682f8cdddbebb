"""Starting, watching and ending operating-system processes. Each is the leader of a session and group of its own.

An end is noticed by the kernel's notice on a pidfd (a thread per process where there are none), so thousands of
waiting children cost next to nothing. What to do when is decided in `plan.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from toryo.coordinator.environment import LAUNCH_ID, SERVER_URL
from toryo.coordinator.plan import Stage
from toryo.coordinator.provider import BadConfig, CommandNotFound

SIGNALS: Mapping[Stage, signal.Signals] = {
    Stage.INTERRUPT: signal.SIGINT,
    Stage.TERMINATE: signal.SIGTERM,
    Stage.KILL: signal.SIGKILL,
}
LOOKS_FOR_STRAYS = 20
_PROC = Path("/proc")
"""Where the machine has none, its processes are known by their group alone."""


class Process:
    """One started (or adopted) process and its group. `ended` calls back in the loop, once."""

    def __init__(self, pid: int, *, child: bool = True) -> None:
        self.pid = pid
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.over = False
        self._child = child

    def watch(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        """Calls `ended` in the loop when the process has ended; its exit code or signal is known then."""

        def reap() -> None:
            self._reap()
            ended()

        try:
            notice = os.pidfd_open(self.pid)
        except ProcessLookupError:
            loop.call_soon(reap)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, args=(loop, reap), daemon=True).start()
        else:
            loop.add_reader(notice, _once(loop, notice, reap))

    def signal_group(self, stage: Stage) -> None:
        """To every process of the group; nothing happens where it is gone already."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, SIGNALS[stage])

    @property
    def group_alive(self) -> bool:
        """Whether anything of the group still runs (what nobody has buried yet does not)."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        if not self.over or not _PROC.is_dir():
            return True
        return any(_group(stat) == self.pid and _state(stat) not in "ZX" for stat in _stats())

    def _reap(self) -> None:
        """Asks for the exit status; an adopted process is another one's child and takes its status with it."""
        self.over = True
        if not self._child:
            return
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(self.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            self.exit_code, self.signal = (code, None) if code >= 0 else (None, -code)

    def _wait_in_thread(self, loop: asyncio.AbstractEventLoop, reap: Callable[[], None]) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(reap)


def start(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], output: int, stdin: int = subprocess.DEVNULL
) -> Process:
    """Starts a program with both outputs in one file; stdin is closed, or the given file's. Raises CommandNotFound
    or BadConfig."""
    program = _find(argv[0], cwd, env)
    try:
        child = subprocess.Popen(
            [program, *argv[1:]],
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except FileNotFoundError as missing:
        raise CommandNotFound(f"{argv[0]}: {missing.strerror} ({missing.filename})") from missing
    except (OSError, ValueError) as problem:
        raise BadConfig(f"{argv[0]} cannot be started: {problem}") from problem
    child.returncode = 0  # this class, not Popen, waits for it: Popen would complain about, or steal, the exit status
    return Process(child.pid)


def end_strays(launch_ids: Collection[str], server_url: str) -> None:
    """Kills what belongs to launches but left their groups: daemons, and what has a session or a group of its own.

    Looks again as long as there is any: one may start another while it is looked for. Every process of the machine is
    looked at for it, so those who end together are named together.
    """
    for _ in range(LOOKS_FOR_STRAYS if launch_ids else 0):
        strays = [pid for pid, environ in environments() if _belongs(environ, launch_ids, server_url)]
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not strays:
            return


def _belongs(environ: Mapping[str, str], launch_ids: Collection[str], server_url: str) -> bool:
    return environ.get(LAUNCH_ID) in launch_ids and environ.get(SERVER_URL) == server_url


def age(pid: int) -> float | None:
    """For how many seconds a process has been there; None where that is not known."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        started = int(_fields((_PROC / str(pid) / "stat").read_text())[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, float((_PROC / "uptime").read_text().split()[0]) - started)
    return None


def environments(mark: str = LAUNCH_ID) -> Iterator[tuple[int, dict[str, str]]]:
    """Every process of this user that was started for a launch, with its environment. Linux only; else nothing.

    `mark` is the variable by which it is recognised.
    """
    marker = f"{mark}=".encode()
    for entry in _numbered():
        with contextlib.suppress(OSError):
            data = (entry / "environ").read_bytes()
            if marker in data:
                pairs = (each.partition(b"=") for each in data.split(b"\0") if each)
                yield int(entry.name), {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def parent_of(pid: int) -> int | None:
    """The parent's id, or None where the process is gone."""
    with contextlib.suppress(OSError, ValueError):
        return int(_fields((_PROC / str(pid) / "stat").read_text())[1])
    return None


def _find(program: str, cwd: Path, env: Mapping[str, str]) -> str:
    if os.sep in program:
        program = str(cwd / Path(program).expanduser())
    found = shutil.which(program, path=env.get("PATH", os.defpath))
    if found is None:
        raise CommandNotFound(
            f"The command {program} was not found: install it, or name it with its full path"
            " (ai_providers.<name>.cli_command in the Coordinator's file)."
        )
    return found


def _once(loop: asyncio.AbstractEventLoop, notice: int, reap: Callable[[], None]) -> Callable[[], None]:
    def readable() -> None:
        loop.remove_reader(notice)
        os.close(notice)
        reap()

    return readable


def _numbered() -> list[Path]:
    try:
        return [each for each in _PROC.iterdir() if each.name.isdigit()]
    except OSError:
        return []


def _stats() -> Iterator[str]:
    for entry in _numbered():
        with contextlib.suppress(OSError):
            yield (entry / "stat").read_text(errors="replace")


def _fields(stat: str) -> list[str]:
    """What follows the program's name, which may contain anything: state, parent, group, …"""
    return stat.rpartition(")")[2].split()


def _state(stat: str) -> str:
    return _fields(stat)[0]


def _group(stat: str) -> int:
    return int(_fields(stat)[2])
