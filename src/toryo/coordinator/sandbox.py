"""The sandbox of agents' programs: bubblewrap (`bwrap`), and what a program may see and write in it.

`Sandbox.of` decides whether there is one, `View` what it contains. A view has one entry per path; the deepest entry
that contains a path applies, and paths without an entry do not exist. The provider declares what its program needs from
the user's home (`Needs`).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path

import toryo
from toryo import data_directories, untrusted_files
from toryo.agents import env_vars
from toryo.coordinator import closed_calls, logs, network_entry, network_proxy, processes, shown_home
from toryo.coordinator.network_limits import Limits, unused_proxy
from toryo.coordinator.orders import Launch
from toryo.coordinator.provider import BadConfig, Needs, Own
from toryo.coordinator.worktrees.launch_repositories import repository_of
from toryo.provider_options import SANDBOX_NETWORK
from toryo.sandbox_network import Asked, InForce, Network, in_force

PROGRAM = "bwrap"
MODE_VARIABLE = "TORYO_SANDBOX"
"""The mode, if the Coordinator's file sets none."""
ON = "sandbox: on"
ADVICE = (
    "Install bubblewrap, allow user namespaces (docs/how-to/sandbox.md in Toryo's source), then restart the "
    "Coordinator. Or run agents as another user."
)
CONTAINS_HOME = (
    "{} cannot be used in a sandbox: it contains the home directory, and a program could create files there that your "
    "shell or your desktop executes. Choose a directory within the home."
)
NOT_MADE = "a sandbox cannot have a network of its own"
ALLOW_NETWORKS = "Allow network namespaces (user.max_net_namespaces of sysctl, the profile of a container)"
NOT_LIMITED = "network, network_hosts and setup_network of projects have no effect here"
"""Without a sandbox."""

_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL"),
)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store")
_SYSTEM_DATA = ("/var/lib/ca-certificates",)
_RESOLVER = "/etc/resolv.conf"
_TRUSTED_PATH = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"
"""Where bubblewrap is searched first: PATH may begin with a project directory, in which agents write."""
_VERIFIED = """\
n='
'
m=$n
while read -r _ _ _ _ at _; do m=$m$at$n; done </proc/self/mountinfo
c=$1; shift
while [ "$c" -gt 0 ]; do
    case $m in
        *"$n$1$n"*) shift; c=$((c - 1)) ;;
        *) echo "toryo: $1 changed while the sandbox was being set up; nothing was started" >&2; exit 125 ;;
    esac
done
exec "$@"
"""
"""The first program in a sandbox: starts the real one only if every mount is where it belongs. bubblewrap follows
symbolic links in directories that agents write, so a link created at the right moment could move a mount elsewhere.
"""
_OF_ITS_OWN = ("/tmp", "/var/tmp")  # noqa: S108 - an empty one for each program
_MOST_LINKS = 40
_ESCAPED = re.compile(r"[ \t\n\\]")
_SCRUBBED = ("TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR")
"""Variables that name directories that do not exist in the sandbox."""


class Mode(StrEnum):
    AUTO = "auto"
    BWRAP = "bwrap"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Found:
    """The program on this machine, or why a sandbox is impossible."""

    program: str | None
    why_not: str = ""
    why_open: str = ""
    """Why a sandbox cannot have a network of its own, if it works otherwise."""


@dataclass(frozen=True, slots=True)
class Place:
    """The directories of one process."""

    project: Path
    """The project's directory on this machine: writable, unless there is a worktree."""
    worktree: Path | None = None
    directory: Path | None = None
    """The working directory; default: the project's directory."""
    workspace: Path | None = None
    """The launch's own directory."""
    read_only: bool = False
    """Whether the program may only read its project."""
    server_url: str = ""
    needs: Needs = field(default_factory=Needs)
    homes: Mapping[Path, Path] = field(default_factory=dict)
    """What the program finds in place of its own directories (`Needs.own`)."""
    programs: tuple[Path, ...] = ()
    """Programs and files named in the Coordinator's file."""
    hidden: tuple[Path, ...] = ()
    """Hidden wherever they are: the logins of the program's other accounts."""

    @property
    def writes_project(self) -> bool:
        return self.worktree is None and not self.read_only


@dataclass(frozen=True, slots=True)
class Walled:
    """What to execute in place of a program. `keep`: descriptors that it must inherit; the caller closes them.
    `sandboxed`: whether bubblewrap is around it, possibly after the proxy of its network. `refusals`: the file in which
    that proxy notes hosts (`network_limits.refused_hosts`)."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    keep: tuple[int, ...] = ()
    sandboxed: bool = False
    refusals: Path | None = None

    def close(self) -> None:
        for each in self.keep:
            os.close(each)


def looked_for(inherited: Mapping[str, str]) -> Found:
    """Whether a sandbox works on this machine: runs one with all features that are needed."""
    return _tried(inherited.get("PATH") or os.defpath)


@cache
def _tried(path: str) -> Found:
    program = shutil.which(PROGRAM, path=_TRUSTED_PATH) or shutil.which(PROGRAM, path=path)
    if program is None:
        return Found(None, "bubblewrap (bwrap) is not installed")
    try:
        if not (why_open := _failure(program, limited=True)):
            return Found(program)
        why_not = _failure(program, limited=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Found(None, f"{program} cannot be run: {problem}")
    if "--ro-bind-fd" in why_not:
        return Found(None, f"{program} is too old (it has no --ro-bind-fd): install the security update of bubblewrap")
    if why_not:
        return Found(None, f"{program} cannot create a sandbox here: {why_not}")
    return Found(program, why_open=why_open)


def _failure(program: str, *, limited: bool) -> str:
    """What a sandbox with all features that are needed says if it cannot be made. `limited`: with a network of its own,
    and with our Python, which leads to it. Raises OSError or TimeoutExpired."""
    words = [program, *_NAMESPACES, *_system_words(), *_kernel_words()]
    last: tuple[str, ...] = ("/bin/sh", "-c", "true")
    keep: list[int] = []
    with contextlib.ExitStack() as opened:
        if limited:
            shown = dict.fromkeys(way for each in _own_python() for way in (str(each), str(each.resolve())))
            words += [*_limiting(keep, opened), *(word for each in shown for word in ("--ro-bind", each, each))]
            last = ("/bin/sh", "-c", 'exec "$0" -I -S -c ""', sys.executable)
        keep.append(opened.enter_context(_descriptor(Path("/usr").resolve())))
        words += ["--ro-bind-fd", str(keep[-1]), "/mnt", "--", *last]
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=30, check=False, pass_fds=keep
        )
    return (" ".join(done.stderr.split())[:200] or f"exit code {done.returncode}") if done.returncode else ""


def default_mode(configured: str | None, inherited: Mapping[str, str]) -> Mode:
    """The file's mode, else that of the environment, else `auto`. Raises BadConfig for an invalid one."""
    given = configured or inherited.get(MODE_VARIABLE) or Mode.AUTO
    try:
        return Mode(given)
    except ValueError:
        raise BadConfig(f"{MODE_VARIABLE} is {given!r}. Use auto, bwrap or none.") from None


class Sandbox:
    """A Coordinator's sandbox mode, and the sandboxes it creates."""

    def __init__(
        self,
        mode: Mode,
        *,
        network: Network = Network.OPEN,
        reads: Sequence[Path] = (),
        writes: Sequence[Path] = (),
        hidden: Sequence[Path] = (),
        inherited: Mapping[str, str],
    ) -> None:
        for each in writes:
            if shown_home.contains_home(each.expanduser().resolve(), inherited):
                raise BadConfig(CONTAINS_HOME.format(f"The path {each} of sandbox_write"))
        self.mode = mode
        self.network = network
        self._reads, self._writes, self._hidden = reads, writes, hidden
        self._inherited = inherited
        switched_off = mode is Mode.NONE and network is not Network.OFF
        self._found = Found(None, "it is switched off") if switched_off else looked_for(inherited)

    @property
    def works(self) -> bool:
        return self._found.program is not None

    @property
    def usual(self) -> bool:
        """Whether it works, and is used where nothing else is asked for."""
        return self.works and self.mode is not Mode.NONE

    @property
    def told(self) -> str:
        """In one line, for people."""
        if self.works:
            word = f"{ON} ({PROGRAM}{f', network: {self.network}' if self.network is not Network.OPEN else ''})"
            unused = unused_proxy(self._inherited)
            problem = f"{NOT_MADE}: {self._found.why_open}. {ALLOW_NETWORKS}" if self._found.why_open else unused
            return f"{word}; limited networks: {problem}" if problem else word
        return (
            f"sandbox: off ({self._found.why_not}); agents' programs can read and write everything that this user can, "
            f"and reach every host: {NOT_LIMITED}"
        )

    def wanted(self, launch: Launch) -> bool:
        """Whether a launch runs in a sandbox. Raises BadConfig if it must and cannot."""
        asked = launch.provider_options.get("sandbox", Mode.AUTO)
        network = self.network_of(launch)
        return self.needed(required=asked != Mode.AUTO or network.network is Network.OFF, network=network)

    def needed(self, *, required: bool = False, network: InForce | None = None) -> bool:
        """Whether a sandbox is used. Raises BadConfig if one is required and impossible; running without network
        requires one. `network`: what it has to be able to limit; default: what the Coordinator's file says.
        """
        if not required and self.mode is not Mode.BWRAP and self.network is not Network.OFF:
            if self.works:
                self.refuse_unlimited(network)
            return self.works
        found = looked_for(self._inherited)
        if found.program is None:
            raise BadConfig(
                f"A sandbox is required (sandbox: bwrap, or network or sandbox_network: off), but {found.why_not}. "
                "Install bubblewrap, allow user namespaces and restart the Coordinator. `toryo doctor` checks whether "
                "it works."
            )
        self.refuse_unlimited(network)
        return True

    def refuse_unlimited(self, network: InForce | None = None) -> None:
        """Raises BadConfig where a network has to be limited, and a sandbox here cannot have one of its own."""
        found, said = looked_for(self._inherited), network or in_force(Asked(), None, self.network)
        if said.limited and found.why_open:
            raise BadConfig(
                f"The network is {said.network} ({said.setting}), but {NOT_MADE} on this machine: {found.why_open}. "
                f"{ALLOW_NETWORKS}, and restart the Coordinator; or set it to open."
            )

    def network_of(self, launch: Launch, *, setup: bool = False) -> InForce:
        """What a launch may reach. `setup`: what the commands may that set its worktree up."""
        asked = launch.provider_options.get(SANDBOX_NETWORK.name)
        return in_force(Asked.read(launch.network), asked, self.network, setup=setup)

    def around(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        place: Place,
        *,
        limits: Limits | None = None,
        refusals: Path | None = None,
    ) -> Walled:
        """The command that runs a program in the sandbox. Raises CommandNotFound or BadConfig.

        `limits` of its network; None: it is open. `refusals`: the file in which hosts are noted that were refused.
        """
        found = looked_for(self._inherited)
        assert found.program is not None, "asked for where there is one"
        directory = place.directory or place.project
        program = processes.find(argv[0], directory, env)
        env = {**{name: value for name, value in env.items() if name not in _SCRUBBED}, **_inside(env, place)}
        env[env_vars.SANDBOXED] = "1"
        view = self._view(place, env, Path(program), names=limits is None)
        with contextlib.ExitStack() as opened:
            keep = []
            for target, source in place.needs.copies.items():
                if source.is_file() and not view.shows(target):
                    keep.append(untrusted_files.open_regular(source))
                    opened.callback(os.close, keep[-1])
                    view.copy(target, keep[-1])
            for target, text in shown_home.git_settings(Path(env["HOME"]), env) if env.get("HOME") else ():
                keep.append(_text_in_memory(text))
                opened.callback(os.close, keep[-1])
                view.settings(target, keep[-1])
            mounts = []
            for word in view.words():
                if isinstance(word, _Mount):
                    keep.append(_opened(word.source))
                    opened.callback(os.close, keep[-1])
                    mounts += ["--bind-fd" if word.write else "--ro-bind-fd", str(keep[-1]), str(word.target)]
                else:
                    mounts.append(word)
            verified = view.verified()
            before, entry = _networked(limits, refusals, keep, opened)
            words = (
                *(*before, found.program, *_NAMESPACES, *(_limiting(keep, opened) if limits is not None else ())),
                *mounts,
                *("--chdir", str(directory), "--", "/bin/sh", "-c", _VERIFIED, "toryo", str(len(verified)), *verified),
                *(*entry, program, *argv[1:]),
            )
            opened.pop_all()
        noted = refusals if limits is not None and limits.listen else None
        return Walled(words, env if limits is None else limits.around(env), tuple(keep), sandboxed=True, refusals=noted)

    def written(self, place: Place) -> list[Path]:
        """The directories in which agents write, there or by the Coordinator's file."""
        return _written(place, self._writes)

    def _view(self, place: Place, env: Mapping[str, str], program: Path, *, names: bool) -> View:
        """Later entries replace earlier ones of the same path; of two paths the deeper one wins."""
        home = Path(env["HOME"]) if env.get("HOME") else None
        protected = [each.resolve() for each in (*self._hidden, data_directories.users())]
        _refuse_project(place.project, protected, env)
        view = View(home, self.written(place), names=names)
        _show_tools(view, env, home, protected)
        for path in (program, *place.programs, *_node(env)):
            view.program(path)
        view.bind(place.project, write=place.writes_project)
        if home is not None:
            for path in shown_home.hidden(home):
                view.hide(path)
        for path in self._reads:
            view.read(path)
        for path in self._writes:
            view.bind(path, write=True)
        for path in place.hidden:
            view.hide(path)
        _show_needs(view, place.needs, place.homes)
        for path in _own_python():
            view.read(path)
        _show_git(view, place, home)
        for path in (*protected, place.project / ".toryo"):
            view.hide(path)
        _show_launch(view, place)
        return view


def _limiting(keep: list[int], opened: contextlib.ExitStack) -> tuple[str, ...]:
    """What gives a sandbox a network of its own, and closes ways beside it. The descriptor is added to `keep`."""
    if not (calls := closed_calls.program()):
        return ("--unshare-net",)
    keep.append(_in_memory(calls))
    opened.callback(os.close, keep[-1])
    return ("--unshare-net", "--seccomp", str(keep[-1]))


def _networked(
    limits: Limits | None, refusals: Path | None, keep: list[int], opened: contextlib.ExitStack
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words before those of bubblewrap, which start the proxy, and those before the program, which lead to it. The
    descriptors that they name are added to `keep`."""
    if limits is None or not limits.listen:
        return (), ()
    outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made = [outside.detach(), inside.detach(), _text_in_memory(json.dumps(limits.spec))]
    for each in made:
        opened.callback(os.close, each)
    made.append(_refusals(refusals, limits.why))
    opened.callback(os.close, made[-1])
    keep += made
    python = (sys.executable, "-I", "-S")
    return (
        (*python, str(network_proxy.FILE), str(made[2]), str(made[0]), str(made[3])),
        (*python, str(network_entry.__file__), str(made[1]), limits.entry),
    )


def _refusals(path: Path | None, why: str) -> int:
    if path is None:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    found = logs.create_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC)
    os.write(found, f"{why}\n".encode())
    return found


# --- what is in it ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Entry:
    """`source` None: nothing of this machine is there (an empty directory, or an empty file)."""

    source: Path | None
    write: bool = False
    descriptor: int | None = None
    instead: bool = False
    """Whether it is something else than what this machine has there."""


@dataclass(frozen=True, slots=True)
class _Mount:
    """`source`: a path without symbolic links, which is opened before it is mounted."""

    source: Path
    target: Path
    write: bool


class View:
    """The file system of a program. Paths are absolute; those that do not exist on this machine are skipped."""

    def __init__(self, home: Path | None, written: Sequence[Path] = (), *, names: bool = True) -> None:
        """`written`: directories in which agents write, now or in another launch. No link in them is followed. `names`:
        whether it resolves names itself. It is shown one file for that, and no socket: who answers there sends what it
        is asked anywhere."""
        self._home = home
        self._written_prefixes: tuple[str, ...] = ()
        for each in sorted(written, key=lambda path: len(path.parts)):
            real = self.real(each)
            if real is None and os.path.lexists(each):
                raise BadConfig(
                    f"{each} is behind a symbolic link in a directory that agents can change, so it is not added "
                    "to a sandbox. Replace the link, or enter the directory that it points to."
                )
            if real is not None:
                self._written_prefixes += (_prefix(real),)
        self._entries: dict[str, _Entry] = {}
        for name in _SYSTEM_DATA:
            self.read(Path(name))
        with contextlib.suppress(OSError):
            resolver = Path(_RESOLVER).resolve()
            if names and resolver.is_file():
                self.read(resolver)
        for path in _unreadable(Path("/etc")):
            self._entries[str(path)] = _Entry(None)

    def bind(self, path: Path, *, write: bool) -> None:
        path = Path(os.path.abspath(path))  # noqa: PTH100 - what a link leads to is shown where the link is
        real = self.real(path)
        if real is not None:
            self._entries[str(path)] = self._entries[str(real)] = _Entry(real, write)

    def put(self, path: Path, source: Path, *, write: bool) -> set[Path]:
        """Shows something else there and where a link leads to; returns both paths. Raises BadConfig behind a link in a
        directory that agents write.
        """
        led_to = self._led_to(path)
        if led_to is None:
            raise BadConfig(
                f"{path} is behind a symbolic link in a directory that agents can change, so it is not added to a "
                "sandbox. Replace the link, or enter the directory that it points to."
            )
        self._entries[str(path)] = self._entries[led_to] = _Entry(source, write, instead=True)
        return {path, Path(led_to)}

    def real(self, path: Path) -> Path | None:
        """The path without symbolic links; None if it is missing, or if a link is in a directory that agents write."""
        at = self._led_to(path)
        return Path(at) if at is not None and os.path.lexists(at) else None

    def _led_to(self, path: Path) -> str | None:
        """The path without symbolic links, whether it exists or not; None if a link is in a directory that agents
        write. In strings: a view asks this of a hundred paths, and each would cost ten times as much with Path.
        """
        at, rest, links = "", [*reversed(str(path).split("/"))], 0
        while rest:
            name = rest.pop()
            if name in ("", "."):
                continue
            if name == "..":
                at = at.rpartition("/")[0]
                continue
            inner = f"{at}/{name}"
            try:
                target = os.readlink(inner)  # noqa: PTH115
            except OSError:
                at = inner
                continue
            links += 1
            if links > _MOST_LINKS or self.written(at or "/"):
                return None
            at = "" if target.startswith("/") else at
            rest += reversed(target.split("/"))
        return at or "/"

    def written(self, path: Path | str) -> bool:
        """Whether agents may write there."""
        return _within(path, self._written_prefixes)

    def read(self, path: Path) -> None:
        self.bind(path, write=False)

    def fix(self, path: Path) -> None:
        """Makes paths read-only that an agent could have created itself, without following links to hidden files.
        Raises BadConfig for a link, because an agent could replace it at any time.
        """
        if path.is_symlink():
            raise BadConfig(
                f"{path} is a symbolic link, which a program in the sandbox could replace. Replace it"
                " with the file or directory itself, or start the Coordinator without a sandbox (sandbox: none)."
            )
        self.read(path)

    def program(self, path: Path) -> None:
        """Adds a program, with the links to it and its installation. A program in a directory that agents write adds
        nothing, because they would decide what it adds.
        """
        for _ in range(16):
            if self.real(path) is None or self.written(path.parent) or self.written(path.resolve()):
                return
            if not self.shows(path):
                self.read(path)
            if not path.is_symlink():
                break
            path = Path(os.path.normpath(path.parent / path.readlink()))
        path = path.resolve()
        parts = path.parts
        if "node_modules" in parts:
            self.read(Path(*parts[: parts.index("node_modules") + 1]))
        if (path.parent.parent / "pyvenv.cfg").is_file():
            self.read(path.parent.parent)
            base = self.real(path.parent / "python")
            if base is not None and not self.shows(base.parent.parent) and not self._contains_home(base.parent.parent):
                self.read(base.parent.parent)

    def _contains_home(self, path: Path) -> bool:
        return self._home is not None and self._home.resolve().is_relative_to(path.resolve())

    def hide(self, path: Path) -> None:
        """Hides a path; for a symbolic link its target. Links that agents made hide nothing outside their
        directories.
        """
        led_to = self._led_to(path)
        there = led_to is not None and os.path.lexists(led_to)
        led_to = led_to or str(path.resolve())
        if there or self.written(led_to):
            self._entries[led_to] = _Entry(None)

    def copy(self, path: Path, descriptor: int) -> None:
        self._entries[str(path)] = _Entry(None, descriptor=descriptor)

    def settings(self, path: Path, descriptor: int) -> None:
        """Shows this text instead of the file, read-only."""
        led_to = self._led_to(path)
        at = led_to if led_to is not None and self.shows(path) else str(path)
        self._entries[at] = _Entry(None, descriptor=descriptor, instead=True)

    def shows(self, path: Path) -> bool:
        return _of_system(path) or self._around(path, itself=True) is not None

    def verified(self) -> list[str]:
        """The mounts in what agents write, as `/proc/self/mountinfo` names them."""
        mounted = [path for path in self._mounted if self.written(path.parent)]
        return [_ESCAPED.sub(lambda found: f"\\{ord(found[0]):03o}", str(path)) for path in mounted]

    def words(self) -> Iterator[str | _Mount]:
        """Arguments for bubblewrap, parents before children."""
        yield from _system_words()
        yield from _kernel_words()
        for directory in _OF_ITS_OWN:
            yield from ("--tmpfs", directory)
        yield from ("--dir", "/run", "--symlink", "/run", "/var/run")
        if self._home is not None and not self.shows(self._home):
            yield from ("--tmpfs", str(self._home))
        self._pin()
        self._mounted: list[Path] = []
        for path in sorted(self._entries, key=lambda each: (each.count("/"), each)):
            yield from self._word(Path(path), self._entries[path])
        yield from ("--remount-ro", "/")  # what a program writes beside all that is refused, instead of lost

    def _word(self, path: Path, entry: _Entry) -> Iterator[str | _Mount]:
        if entry.descriptor is not None:
            yield from ("--ro-bind-data" if entry.instead else "--file", str(entry.descriptor), str(path))
        elif entry.source is not None:
            around = self._around(path)
            if around is not None and (entry.instead or self._entries[around].instead):
                if not self._entries[around].instead and os.path.realpath(path) != str(path):
                    return  # the link is there already, and leads to its target
                self._mounted.append(path)
                yield _Mount(entry.source, path, entry.write)
                return
            if around is not None and not entry.write and not self._entries[around].write:
                return  # its surroundings are read-only and already show it
            shown = self._entries[around].source if around is not None else None
            if around is not None and shown is not None and shown / path.relative_to(around) != entry.source:
                return  # the link is there already, and leads to its target
            self._mounted.append(path)
            yield _Mount(entry.source, path, entry.write)
        elif (self._around(path) is not None or _of_system(path)) and path.exists():
            self._mounted.append(path)
            yield from ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", os.devnull, str(path))

    def _pin(self) -> None:
        """Read-only or hidden paths within writable directories could be moved together with their parent directory. So
        each directory in between is mounted by itself, because a mount point cannot be renamed.
        """
        for path, entry in list(self._entries.items()):
            around = self._around(path)
            if around is None or not self._entries[around].write or not os.path.exists(path):  # noqa: PTH110
                continue
            if (entry.write and not entry.instead) or self._entries[around].instead:
                continue
            for between in _parents(path):
                if between == around:
                    break
                self._entries.setdefault(between, _Entry(Path(between), write=True))

    def _around(self, path: Path | str, *, itself: bool = False) -> str | None:
        """The entry that says what is there, if it shows anything of this machine."""
        path = str(path)
        for each in (path, *_parents(path)) if itself else _parents(path):
            if each in self._entries:
                return each if self._entries[each].source is not None else None
        return None


def _refuse_project(project: Path, protected: Sequence[Path], env: Mapping[str, str]) -> None:
    if project == Path("/") or project in protected:
        raise BadConfig(
            f"The working directory {project} cannot be used in a sandbox: it is the root of the file "
            "system or the server's data directory. Choose another working directory for the project."
        )
    if shown_home.contains_home(project, env):
        raise BadConfig(CONTAINS_HOME.format(f"The working directory {project}"))


def _written(place: Place, more: Sequence[Path]) -> list[Path]:
    """The directories in which agents write."""
    found = _repository(place.project)
    git = [found.common, *([found.own] if found.own else [])] if found is not None else []
    own = [each for each in (place.worktree, place.workspace) if each is not None]
    own += [repository_of(place.worktree)] if place.worktree is not None else []
    return [Path(os.path.abspath(each)) for each in (place.project, *own, *git, *more)]  # noqa: PTH100


def _opened(path: Path) -> int:
    """A file descriptor of exactly this path. Raises BadConfig if a component is a symbolic link."""
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    at = os.open("/", flags)
    try:
        for name in path.parts[1:]:
            inner = os.open(name, flags, dir_fd=at)
            os.close(at)
            at = inner
        if stat.S_ISLNK(os.fstat(at).st_mode):
            raise OSError(errno.ELOOP, "it became a symbolic link")
    except OSError as problem:
        os.close(at)
        raise BadConfig(
            f"{path} changed while the sandbox was being set up ({problem.strerror}), so the program was not "
            "started. If this happens again, look for a process that replaces it."
        ) from problem
    return at


@contextlib.contextmanager
def _descriptor(path: Path) -> Iterator[int]:
    found = _opened(path)
    try:
        yield found
    finally:
        os.close(found)


def _system_words() -> Iterator[str]:
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)


def _kernel_words() -> Iterator[str]:
    """Processes and devices. The kernel's own settings are read-only: with those of root, where a Coordinator is root,
    a program could have the kernel run something outside of the sandbox (`core_pattern`)."""
    yield from ("--proc", "/proc", "--dev", "/dev", "--ro-bind", "/proc/sys", "/proc/sys")


def _of_system(path: Path) -> bool:
    return _within(path, _SYSTEM_PREFIXES)


def _prefix(path: Path | str) -> str:
    """What every path in a directory begins with, as `_within` compares."""
    return f"{str(path).rstrip('/')}/"


def _within(path: Path | str, prefixes: tuple[str, ...]) -> bool:
    """Whether a path is one of these directories, or in one, by its words alone."""
    return f"{path}/".startswith(prefixes)


def _parents(path: str) -> Iterator[str]:
    """As `Path.parents`, of an absolute path, without an object for each."""
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path


_SYSTEM_PREFIXES = tuple(map(_prefix, _SYSTEM))


def _inside(env: Mapping[str, str], place: Place) -> dict[str, str]:
    """Temporary files go to the sandbox's own directory, unless the launch sets one; the home keeps its real path."""
    own = env.get("TMPDIR")
    keep = own and place.workspace is not None and Path(own).is_relative_to(place.workspace)
    home = {"HOME": str(Path(env["HOME"]).expanduser().resolve())} if env.get("HOME") else {}
    return {"TMPDIR": str(own) if keep else _OF_ITS_OWN[0], **home}


def _on_path(env: Mapping[str, str], kept: Sequence[Path]) -> Iterator[Path]:
    """The directories of the PATH, with the packages that npm has installed beside them; none that would show what is
    kept."""
    for name in dict.fromkeys((env.get("PATH") or "").split(os.pathsep)):
        path = Path(name)
        if not path.is_absolute() or _of_system(path) or not _is_there(path):
            continue
        real = (_prefix(path.resolve()),)
        if any(_within(each, real) for each in kept):
            continue
        yield path
        if _is_there(path.parent / "lib" / "node_modules"):
            yield path.parent / "lib" / "node_modules"


def _is_there(path: Path) -> bool:
    """Whether it is a directory. One that this user may not look at is none, as for every shell."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises PermissionError


def _node(env: Mapping[str, str]) -> tuple[Path, ...]:
    found = shutil.which("node", path=env.get("PATH", os.defpath))
    return (Path(found),) if found else ()


def _text_in_memory(text: str) -> int:
    return _in_memory(text.encode())


def _in_memory(data: bytes) -> int:
    descriptor = os.memfd_create("settings", os.MFD_CLOEXEC)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _show_tools(view: View, env: Mapping[str, str], home: Path | None, protected: Sequence[Path]) -> None:
    for path in _on_path(env, [*protected, *([home] if home else [])]):
        if not view.written(path.resolve()):
            view.read(path)
    if home is not None:
        for name in shown_home.TOOLS:
            view.read(home / name)


def _show_needs(view: View, needs: Needs, homes: Mapping[Path, Path]) -> None:
    for own in needs.own:
        _show_own(view, own, homes[own.place])
    for path in needs.reads:
        view.read(path)
    for path, text in needs.made.items():
        _made(path, text)
    for path in needs.made:
        view.fix(path)
        if not path.exists() and path.parent.is_dir() and os.access(path.parent, os.W_OK):
            raise BadConfig(
                f"{path} does not exist and cannot be created, so a program in the sandbox could create it. "
                "Create it yourself."
            )


def _show_own(view: View, own: Own, inside: Path) -> None:
    if view.written(own.place):
        _made(own.place)  # bubblewrap would make it in there, after the parents were looked at
    places = view.put(own.place, inside, write=True)
    for name in (*own.fixed, *own.made):
        made = inside / name
        found = view.real(own.place / name)
        if found is None and not made.is_dir():
            _made(made, own.made.get(name, _nothing(made)))
        for place in places:
            view.put(place / name, found or made, write=False)


def _nothing(path: Path) -> str | None:
    """The contents of an empty settings file; None for a directory of settings."""
    return "{}\n" if path.suffix == ".json" else "" if "." in path.name else None


def _show_launch(view: View, place: Place) -> None:
    """What of the data directory is the launch's own."""
    if place.worktree is not None:
        _show_worktree(view, place.project, place.worktree, write=not place.read_only)
    if place.workspace is not None:
        view.bind(place.workspace, write=True)
    if place.server_url.startswith("unix:"):
        view.bind(Path(place.server_url.removeprefix("unix://")), write=True)


@cache
def _own_python() -> tuple[Path, ...]:
    """The Python installation of Toryo's runners: read-only even within a project."""
    package = Path(toryo.__file__).resolve().parent
    every = dict.fromkeys(Path(each) for each in (sys.base_prefix, sys.prefix, package, network_proxy.FILE))
    return tuple(each for each in every if not _of_system(each))


@cache
def _unreadable(folder: Path) -> tuple[Path, ...]:
    """Paths that not every user of this machine may read are hidden from agents too."""
    found = []
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(at, name)
            with contextlib.suppress(OSError):
                needed = 0o005 if name in folders else 0o004
                if not path.is_symlink() and path.stat().st_mode & needed != needed:
                    found.append(path)
        folders[:] = [each for each in folders if Path(at, each) not in found]
    return tuple(found)


def _made(path: Path, text: str | None = None) -> None:
    """Creates a missing directory, or a missing file."""
    with contextlib.suppress(OSError):
        if text is None:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif path.parent.is_dir():
            with os.fdopen(untrusted_files.open_own(path, os.O_WRONLY | os.O_EXCL), "w", encoding="utf-8") as file:
                file.write(text)


# --- git --------------------------------------------------------------------------------------------------------------

_DIRECTORIES = ("hooks", "modules", "worktrees")
"""Parts of a repository that git runs or that belong to others. Read-only for agents, and created if missing."""
_FILES = {"config": "", "commondir": ".\n", "objects/info/alternates": ""}
"""Files that lead git to programs or other repositories, and their contents if they are missing. `.` is the directory
itself, as without a `commondir`."""
_OF_WORKTREE = ("gitdir", "commondir")
_OWN_WORKTREE = re.compile(r"^\s*worktree\s*=", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Repository:
    top: Path
    common: Path
    own: Path | None = None
    """Of a checkout that `git worktree add` has made: what is its own there."""


def _show_git(view: View, place: Place, home: Path | None) -> None:
    found = _repository(place.project)
    if found is None or (home is not None and found.top != place.project and home.is_relative_to(found.top)):
        return  # a repository of the whole home would show all of it
    if found.top != place.project:
        view.read(found.top)
        view.bind(place.project, write=place.writes_project)
    if place.worktree is not None and repository_of(place.worktree).is_dir():
        view.read(found.common)
        return
    view.bind(found.common, write=not place.read_only)
    _fix_repository(view, found.common)
    if found.own is not None:
        _show_checkout(view, found.top, found.own, write=not place.read_only)


def _show_worktree(view: View, project: Path, worktree: Path, *, write: bool) -> None:
    """With the repository of its own, and the objects that this shares. One that an older Toryo has made is a worktree
    of the project's repository, and commits there."""
    view.bind(worktree, write=write)
    own, found = repository_of(worktree), _repository(project)
    if own.is_dir():
        view.fix(worktree / ".git")
        view.bind(own, write=write)
        _fix_repository(view, own)
        for each in _objects(found.common / "objects") if found is not None else ():
            view.read(each)
        return
    if found is None:
        return
    for child in _children(found.common / "worktrees"):
        if _leads_to(child, worktree):
            _show_checkout(view, worktree, child, write=write)


def _objects(objects: Path) -> list[Path]:
    """The objects of the project's repository, and those that it shares itself."""
    found = [objects]
    for each in found:
        with contextlib.suppress(OSError):
            lines = untrusted_files.text(each / "info" / "alternates", errors="replace").splitlines()
            further = [Path(os.path.normpath(each / line)) for line in lines if line and not line.startswith("#")]
            found += [path for path in further if path not in found and len(found) < _MOST_LINKS]
    return found


def _show_checkout(view: View, top: Path, own: Path, *, write: bool) -> None:
    view.fix(top / ".git")
    view.bind(own, write=write)
    for name in (*_OF_WORKTREE, *_worktree_config(view, own, own.parent.parent)):
        view.fix(_plain(own / name))


def _fix_repository(view: View, common: Path) -> None:
    """Creates everything before the first program starts: a mount point cannot be replaced from inside."""
    for name in _DIRECTORIES:
        _make(view, common, name, None)
    for name, text in _FILES.items():
        if name != "commondir" or not (common / name).exists():
            _make(view, common, name, text)
    for name in (*_DIRECTORIES, *_FILES, *_worktree_config(view, common, common)):
        view.fix(_plain(common / name))
    _refuse_elsewhere(common)


def _refuse_elsewhere(common: Path) -> None:
    with contextlib.suppress(OSError):
        if untrusted_files.text(common / "commondir", errors="replace").strip() != ".":
            raise BadConfig(
                f"{common / 'commondir'} points git to another directory and may have been written by an agent. "
                "Remove it, and check where it points before you use git there."
            )
        if _OWN_WORKTREE.search(untrusted_files.text(common / "config", errors="replace")):
            raise BadConfig(
                f"{common / 'config'} sets core.worktree, which a sandbox does not support. Remove the setting, "
                "or choose another working directory for the project."
            )


def _worktree_config(view: View, folder: Path, common: Path) -> tuple[str, ...]:
    with contextlib.suppress(OSError):
        if (
            "worktreeconfig" in untrusted_files.text(common / "config", errors="replace").lower()
            or (folder / "config.worktree").is_file()
        ):
            _make(view, folder, "config.worktree", "")
            return ("config.worktree",)
    return ()


def _make(view: View, folder: Path, name: str, text: str | None) -> None:
    """Creates a directory, or a file with its text, if nothing has that name. Follows no symbolic link."""
    within = view.real(_plain(folder / name).parent)
    try:
        with contextlib.suppress(FileExistsError), _descriptor(within or folder / "missing") as parent:
            last = Path(name).name
            if text is None:
                os.mkdir(last, 0o755, dir_fd=parent)
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                with os.fdopen(os.open(last, flags, 0o644, dir_fd=parent), "w", encoding="utf-8") as file:
                    file.write(text)
    except OSError as problem:
        raise BadConfig(
            f"{folder / name} cannot be created ({problem.strerror}), and an agent must not be the one to create "
            "it. Make the repository writable, or run git gc and git fsck there."
        ) from problem


def _plain(path: Path) -> Path:
    """Raises BadConfig for a symbolic link: it cannot be protected, and an agent may have made it."""
    for each in (path, path.parent, path.parent.parent):
        if each.is_symlink():
            raise BadConfig(
                f"{each} is a symbolic link, which a sandbox cannot protect and which an agent may have created. "
                "Replace it with the file or directory that it points to, or remove it."
            )
    return path


def _repository(directory: Path) -> _Repository | None:
    """Finds the repository without running git. An agent may have written a `.git`: it counts only as a directory in
    the project's own directory, or as a file that leads to a repository which knows this checkout.
    """
    for top in (directory, *directory.parents):
        dot = top / ".git"
        if dot.is_symlink():
            return None
        if dot.is_dir():
            return _Repository(top, dot) if (dot / "HEAD").is_file() else None
        if dot.is_file():
            return _linked(top, dot)
    return None


def _linked(top: Path, dot: Path) -> _Repository | None:
    with contextlib.suppress(OSError):
        own = (top / untrusted_files.text(dot, errors="replace").strip().removeprefix("gitdir:").strip()).resolve()
        common = own.parent.parent
        whole = all((common / each).exists() for each in ("HEAD", "objects", "refs", "config"))
        if own.parent.name == "worktrees" and whole and _leads_to(own, top):
            return _Repository(top, common, own)
    return None


def _leads_to(own: Path, top: Path) -> bool:
    with contextlib.suppress(OSError):
        return Path(untrusted_files.text(own / "gitdir").strip()).resolve() == (top / ".git").resolve()
    return False


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def program_words(words: Sequence[str]) -> tuple[Path, ...]:
    """The files among the arguments in a Coordinator's file: a program's script, a configuration."""
    return tuple(path for path in map(Path, words) if path.is_absolute() and path.is_file())
