"""Starts, monitors and ends operating-system processes. Each leads its own session and group.

A pidfd reports the end of a process (a thread per process where pidfds are missing), so thousands of waiting children
cost little. `stop_escalation.py` decides which signal is sent when.

Only `Process` collects the exit status of what `start` has started (no `Popen.wait`, no SIGCHLD handler). Until then
the process id cannot be reused, so signals reach the right process.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from toryo.agents.env_vars import LAUNCH_ID, SERVER_URL
from toryo.coordinator.launch_state import Stage
from toryo.coordinator.provider import BadConfig, CommandNotFound

SIGNALS: Mapping[Stage, signal.Signals] = {
    Stage.INTERRUPT: signal.SIGINT,
    Stage.TERMINATE: signal.SIGTERM,
    Stage.KILL: signal.SIGKILL,
}
LOOKS_FOR_STRAYS = 20
AT_WORK: set[int] = set()
"""The processes that were started here and have not ended."""
SANDBOX = "bwrap"
"""The name of the process around a sandbox; the programs within are of its group."""
_WITHIN = {128 + number: -number for number in (1, 2, 6, 9, 11, 15)}
"""How a sandbox tells that its program was ended by a signal: HUP, INT, ABRT, KILL, SEGV, TERM."""
_ASKS = frozenset({-1, -2, -15})
"""Signals that ask a program to end. A program may exit with their codes by itself: these count if they were sent."""
_PROC = Path("/proc")
_LOOKS_AT_ONE_THAT_BEGINS = 20
"""On a machine without it, processes are known by their group only."""


class Process:
    """A started or adopted process and its group. Calls `ended` once, in the loop."""

    def __init__(self, pid: int, *, child: bool = True, sandboxed: bool | None = None) -> None:
        """`sandboxed`: whether it is the process around a sandbox; None: as its name says, which is right only once it
        executes its program."""
        self.pid = pid
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.over = False
        self._child = child
        self._asked: set[int] = set()
        """The signals that were sent to its group, negative as in an exit status."""
        self.sandboxed = _name(pid) == SANDBOX if sandboxed is None else sandboxed

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

    def signal_group(self, stage: Stage, groups: Groups | None = None) -> None:
        """To every process of the group. Does nothing if the group has already ended.

        A sandbox is only killed: what runs in it is asked to leave, and its exit status comes through the sandbox.
        `groups`: shared by processes that are signalled together.
        """
        self._asked.add(-SIGNALS[stage])
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if not self.sandboxed or self.over or stage is Stage.KILL:
                os.killpg(self.pid, SIGNALS[stage])
                return
        for pid in (groups or Groups()).members(self.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if pid != self.pid:
                    os.kill(pid, SIGNALS[stage])

    @property
    def group_alive(self) -> bool:
        """Whether a process of the group still runs. A zombie does not count."""
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
        AT_WORK.discard(self.pid)
        if self.sandboxed:  # everything that its program left there ends with it, also processes in other sessions
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        if not self._child:
            return
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(self.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            if self.sandboxed:
                within = _WITHIN.get(code, code)
                code = code if within in _ASKS - self._asked else within
            self.exit_code, self.signal = (code, None) if code >= 0 else (None, -code)

    def _wait_in_thread(self, loop: asyncio.AbstractEventLoop, reap: Callable[[], None]) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(reap)


class Gone(Process):
    """A process of a predecessor that has ended meanwhile, with an unknown exit code. Another process may have its id
    now, so it gets no signal."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid, child=False, sandboxed=False)
        self.over = True

    def watch(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        loop.call_soon(ended)

    def signal_group(self, stage: Stage, groups: Groups | None = None) -> None:
        pass

    @property
    def group_alive(self) -> bool:
        return False


class Groups:
    """The processes of each group, looked for once, when the first is asked for: that reads every process there is."""

    def __init__(self) -> None:
        self._members: dict[int, list[int]] | None = None

    def members(self, group: int) -> Sequence[int]:
        if self._members is None:
            self._members = {}
            for stat in _stats():
                with contextlib.suppress(ValueError, IndexError):
                    self._members.setdefault(_group(stat), []).append(int(stat.split(maxsplit=1)[0]))
        return self._members.get(group, ())


def has_ended(pid: int, began_at: int | None, booted: str | None = None) -> bool:
    """Whether the process that was started at that time has certainly ended, also if another process has its id now.

    `booted`: the start of the machine from which `began_at` counts; no process outlives that.
    """
    if booted is not None and boot() not in (None, booted):
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return began_at is not None and began(pid) not in (None, began_at)
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):  # it has just been reaped
        return _PROC.is_dir()
    except OSError:
        return False
    return _state(stat) in "ZX" or (began_at is not None and int(_fields(stat)[19]) != began_at)


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: int,
    stdin: int = subprocess.DEVNULL,
    keep: Collection[int] = (),
    sandboxed: bool = False,
) -> Process:
    """Starts a program with both outputs in one file; stdin is closed, or the given file's; `keep` are further
    descriptors that it inherits. `sandboxed`: it is, or becomes, the process around a sandbox. Raises CommandNotFound
    or BadConfig."""
    program = find(argv[0], cwd, env)
    try:
        child = subprocess.Popen(
            [program, *argv[1:]],
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(keep),
        )
    except FileNotFoundError as missing:
        raise CommandNotFound(f"{argv[0]}: {missing.strerror} ({missing.filename})") from missing
    except OSError as problem:
        if problem.errno in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
            raise  # the machine has no process, memory or file left: nobody has configured that
        if problem.errno == errno.E2BIG:
            raise BadConfig(
                f"{argv[0]} cannot be started: its arguments or its environment are too long for this machine. Shorten "
                "the agent's options prompt and args."
            ) from problem
        raise BadConfig(f"{argv[0]} cannot be started: {problem}") from problem
    except ValueError as problem:
        raise BadConfig(f"{argv[0]} cannot be started: {problem}") from problem
    AT_WORK.add(child.pid)
    child.returncode = 0  # this class, not Popen, waits for it: Popen would complain about, or steal, the exit status
    return Process(child.pid, sandboxed=sandboxed)


def end_strays(launch_ids: Collection[str], server_url: str) -> None:
    """Kills processes that belong to launches but left their groups: daemons, and those with their own session or
    group.

    Repeats until there are none, because one may start another during the search. The search covers every process of
    the machine, so pass all launches that end together in one call.
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
    """The age of a process in seconds; None if it is unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        started = int(_fields((_PROC / str(pid) / "stat").read_text())[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, float((_PROC / "uptime").read_text().split()[0]) - started)
    return None


def began(pid: int) -> int | None:
    """When a process was started, in ticks of the machine; None if it has ended or this is unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(_fields((_PROC / str(pid) / "stat").read_text(errors="replace"))[19])
    return None


def boot() -> str | None:
    """The id of the machine's current boot; None if the machine does not tell."""
    with contextlib.suppress(OSError):
        return (_PROC / "sys/kernel/random/boot_id").read_text(errors="replace").strip() or None
    return None


def environments(mark: str = LAUNCH_ID) -> Iterator[tuple[int, dict[str, str]]]:
    """Every process of this user that was started for a launch, with its environment. Linux only; else nothing.

    `mark` is the variable by which it is recognised.
    """
    marker = f"{mark}=".encode()
    for entry in _numbered():
        with contextlib.suppress(OSError):
            data = _environ(entry)
            if marker in data:
                pairs = (part.partition(b"=") for part in data.split(b"\0") if part)
                yield int(entry.name), {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def _environ(entry: Path) -> bytes:
    """While a process begins another program (exec), its environment and its arguments cannot be seen for a moment.
    Raises OSError."""
    data = (entry / "environ").read_bytes()
    for _ in range(_LOOKS_AT_ONE_THAT_BEGINS):
        # Kernel threads, and what has ended, have no program; others may have no environment.
        if data or (entry / "cmdline").read_bytes() or not (entry / "exe").is_file():
            break
        time.sleep(0.001)
        data = (entry / "environ").read_bytes()
    return data


def parent_of(pid: int) -> int | None:
    """The parent's id; None if the process has ended."""
    with contextlib.suppress(OSError, ValueError):
        return int(_fields((_PROC / str(pid) / "stat").read_text())[1])
    return None


def find(program: str, cwd: Path, env: Mapping[str, str]) -> str:
    """Where a program is, by its path or on the PATH that it is given. Raises CommandNotFound."""
    if os.sep in program:
        program = str(cwd / Path(program).expanduser())
    found = shutil.which(program, path=env.get("PATH", os.defpath))
    if found is None:
        raise CommandNotFound(
            f"The command {program} was not found. Install it, or set its full path "
            "(ai_providers.<name>.cli_command in the Coordinator's file)."
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
        return [path for path in _PROC.iterdir() if path.name.isdigit()]
    except OSError:
        return []


def _stats() -> Iterator[str]:
    for entry in _numbered():
        with contextlib.suppress(OSError):
            yield (entry / "stat").read_text(errors="replace")


def _fields(stat: str) -> list[str]:
    """What follows the program's name, which may contain anything: state, parent, group, …"""
    return stat.rpartition(")")[2].split()


def _name(pid: int) -> str | None:
    with contextlib.suppress(OSError):
        return (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    return None


def _state(stat: str) -> str:
    return _fields(stat)[0]


def _group(stat: str) -> int:
    return int(_fields(stat)[2])
