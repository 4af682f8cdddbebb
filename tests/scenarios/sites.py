"""A building site for scenarios: a server, its Coordinators and agents as real processes, and people who act over REST.

Everything lives in one directory of the test's own and ends with it. What each scenario tells and asserts is in its
own file; how processes are held stands in `programs.py`, what events say in `histories.py`.
"""

from __future__ import annotations

import os
import random
import select
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest
import yaml

from tests import sandboxes
from tests.environments import clean_environment
from tests.scenarios import programs
from tests.scenarios.histories import History
from tests.scenarios.programs import Agent, Program
from toryo.client import Client, RefusalError
from toryo.coordinator.sandbox import MODE_VARIABLE, ON, Mode

T = TypeVar("T")

WITHIN = 100.0
"""Seconds in which what a scenario waits for must be there."""
LOG_LINES = 60
CONNECTED = "connected to"
PAUSE_SECONDS = 0.2
"""Between two looks at a server without its database."""
_OUTSIDE_EPHEMERAL = (18_000, 31_000)
"""A server that is started again must find its port free: no connection of anybody may be given it meanwhile."""

QUICK = {
    "TORYO_GUARDS__COOLDOWN": "1",
    "TORYO_GUARDS__LONGEST_COOLDOWN": "2",
    "TORYO_GUARDS__STOP_GRACE": "1",
    "TORYO_GUARDS__PAUSE_GRACE": "1",
    "TORYO_SESSION__CLEANUP_INTERVAL": "1",
}
"""Guards and graces that let recoveries take seconds."""


class Gate:
    """Commands stop here until it is opened: `read _ < PATH` in the shell. Whoever comes later passes.

    A named pipe that is held open for writing: readers wait in the kernel. Opening it puts an empty file in its place
    and closes the pipe, so nobody is forgotten, however many readers were killed before.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self._held = os.open(path, os.O_RDWR)

    def __str__(self) -> str:
        return f"{{ read _ < '{self.path}' || true; }}"

    def open(self) -> None:
        if self._held < 0:
            return
        way = self.path.with_suffix(".open")
        way.touch()
        way.replace(self.path)
        os.close(self._held)
        self._held = -1


class Bell:
    """Commands ring it: `echo NAME > PATH`. Heard whether a server is up or not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self._held = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._heard = ""

    def __str__(self) -> str:
        return f"'{self.path}'"

    def rung(self, times: int, within: float = WITHIN) -> list[str]:
        """The first so many names; fails where they do not come in time."""
        limit = time.monotonic() + within
        while self._heard.count("\n") < times:
            ready, _, _ = select.select([self._held], [], [], max(0.0, limit - time.monotonic()))
            assert ready, f"heard {self._heard.split()} within {within:g} s, not {times}"
            self._heard += os.read(self._held, 65536).decode()
        return self._heard.split()[:times]

    def close(self) -> None:
        os.close(self._held)


class People(Client):
    """What they look at they look at again while the server has no database."""

    def rest(self, method: str, path: str, json: Any = None, params: dict[str, Any] | None = None) -> dict[str, Any]:
        ask = super().rest
        if method != "GET":
            return ask(method, path, json, params)
        return until_there(lambda: ask(method, path, json, params), self.patience_seconds)


def until_there(attempt: Callable[[], T], seconds: float) -> T:
    """What it answers once the server has its database; the refusal if it has none for so many seconds."""
    limit = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except RefusalError as no:
            if no.code != "unavailable" or time.monotonic() > limit:
                raise
        time.sleep(PAUSE_SECONDS)  # as every client does


class Site:
    """`with Site(directory) as site:` has a server that answers; Coordinators come with `site.coordinator()`.

    Agents' programs run in the sandbox that people get, where the machine can make one. Bells and gates are in
    `signals`, which every Coordinator's file allows with `sandbox_write`. `sandbox`: "none" with a reason beside it.
    With `real`, /proc shows their own environments and words: they are not forked from a `prepared` process.
    """

    def __init__(
        self,
        directory: Path,
        *,
        database: str | None = None,
        name: str = "",
        real: bool = False,
        sandbox: str = "auto",
        server_command: Sequence[str] = programs.TORYO,
        **settings: str,
    ) -> None:
        self.directory = directory
        self.name = name
        self._real = real
        self.data = directory / f"data{name}"
        self.database = database or f"sqlite:///{self.data / 'toryo.db'}"
        """Its URL."""
        self.environment = {**clean_environment(directory), "TORYO_DATA_DIR": str(self.data), MODE_VARIABLE: sandbox}
        self.signals = directory / "signals"
        self.signals.mkdir(exist_ok=True)
        serving = ["server", "--port", str(free_port()), *(["--database", database] if database else [])]
        served = {**self.environment, **QUICK, **settings}
        self.server = Program(f"server{name}", serving, served, directory, command=server_command, real=real)
        self.url = f"http://127.0.0.1:{serving[2]}"
        self.ways = [self.url]
        """Addresses at which Coordinators and agents find the server: its own, and what leads there (`coordinator`)."""
        self.coordinators: list[Program] = []
        self._gates: list[Gate] = []
        self._bells: list[Bell] = []

    def __enter__(self) -> Self:
        try:
            self.serve()
        except BaseException:
            self.close()
            raise
        self.people = People(self.url, self.token("owner"), patience_seconds=60)
        self.history = History(self.people)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def token(self, role: str) -> str:
        return (self.data / f"{role}.token").read_text().strip()

    # --- programs ---------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Starts the server (again); returns when it answers."""
        self.server.start().says("ready http://")

    def coordinator(
        self,
        name: str = "coordinator",
        *,
        says: str = CONNECTED,
        way: str | None = None,
        command: Sequence[str] = programs.TORYO,
        **config: Any,
    ) -> Program:
        """A Coordinator that works with the server (or says something else about it), by another way than directly if
        `way` is given; `command` runs `toryo` in another surrounding.
        """
        self.ways += [way] if way is not None else []
        file = self.directory / f"{name}{self.name}.yaml"
        given = {"polling_interval": 0.5, "max_concurrent": 8, "shutdown_grace_seconds": 3, **config}
        given["sandbox_write"] = [str(self.signals), *map(str, config.get("sandbox_write", ()))]
        file.write_text(yaml.safe_dump(given))
        words = ["coordinator", "-c", str(file), "--server", way or self.url, "--id", f"{name}{self.name}"]
        made = Program(f"{name}{self.name}", words, self.environment, self.directory, command=command, real=self._real)
        self.coordinators.append(made)
        made.start().says(says)
        if says == CONNECTED and self.environment[MODE_VARIABLE] == Mode.AUTO and "sandbox" not in config:
            assert bool(made.said(ON)) is sandboxes.works(self.environment), made.lines
        return made

    def agents(self) -> list[Agent]:
        """The agents' processes that run now."""
        return programs.agents(self.ways)

    def agent_of(self, launch_id: str) -> Agent | None:
        return next((agent for agent in self.agents() if agent.launch_id == launch_id), None)

    def gate(self, name: str = "gate") -> Gate:
        self._gates.append(Gate(self.signals / name))
        return self._gates[-1]

    def bell(self, name: str = "bell") -> Bell:
        self._bells.append(Bell(self.signals / name))
        return self._bells[-1]

    # --- people -----------------------------------------------------------------------------------------------------

    def project(self, name: str, **settings: Any) -> Path:
        """Makes a project with a directory of its own, which is answered."""
        directory = self.directory / "projects" / name
        directory.mkdir(parents=True)
        body = {"id": name, "name": name, "working_directory": str(directory), "settings": settings}
        self.people.rest("POST", "/projects", body)
        return directory

    def hire(
        self, agent_id: str, /, *projects: str, role: str = "worker", provider: str | None = "command", **more: Any
    ) -> str:
        """Makes an agent, member of these projects."""
        body = {"id": agent_id, "role": role, "provider": provider, "projects": list(projects), **more}
        self.people.rest("POST", "/agents", body)
        return agent_id

    def lead(self, name: str, *projects: str, plans: list[dict[str, Any]], **more: Any) -> str:
        """Makes a manager that follows a playbook."""
        options = {"playbook": {"tasks": plans}}
        return self.hire(name, *projects, role="manager", provider="playbook", provider_options=options, **more)

    def file(self, project: str, title: str, **more: Any) -> str:
        """Files a task; its id."""
        return str(self.people.rest("POST", f"/projects/{project}/tasks", {"title": title, **more})["task_id"])

    def move(self, task_id: str, status: str, reason: str | None = None) -> None:
        body = {"status": status, **({"reason": reason} if reason else {})}
        self.people.rest("POST", f"/tasks/{task_id}/move", body)

    def look(self, task_id: str) -> dict[str, Any]:
        task: dict[str, Any] = self.people.rest("GET", f"/tasks/{task_id}")["task"]
        return task

    def status(self, task_id: str) -> str:
        return str(self.look(task_id)["status"])

    def tasks(self, project: str) -> dict[str, dict[str, Any]]:
        """The tasks of a project, by title."""
        found: list[dict[str, Any]] = []
        page: dict[str, Any] = {"limit": 500}
        while True:
            answer = self.people.rest("GET", f"/projects/{project}/tasks", params=page)
            found += answer["tasks"]
            if "next_cursor" not in answer:
                return {task["title"]: task for task in found}
            page = {"limit": 500, "cursor": answer["next_cursor"]}

    def launches(self, **wanted: str) -> list[dict[str, Any]]:
        """In the order in which they were ordered."""
        found = self.people.rest("GET", "/launches", params=wanted)["launches"]
        return sorted(found, key=lambda each: (each["ordered_at"], each["launch_id"]))

    def sessions(self) -> list[dict[str, Any]]:
        """Who is signed in."""
        return list(self.people.rest("GET", "/sessions")["sessions"])

    # --- waiting ----------------------------------------------------------------------------------------------------

    def until(self, what: str, condition: Callable[[], T | None], within: float = WITHIN) -> T:
        """Waits for a condition, looking whenever something has happened; what it answers. Fails with `what`.

        Afterwards the history has everything that led to it: also what happened while it was looked at.
        """
        limit = time.monotonic() + within
        self.history.read()
        while True:
            found = condition()
            if found:
                self.history.read()
                return found
            if time.monotonic() >= limit:
                raise AssertionError(f"not within {within:g} s: {what}")
            self.history.read(wait_seconds=1)

    def until_status(self, task_id: str, *statuses: str, within: float = WITHIN) -> None:
        self.until(f"{task_id} is {' or '.join(statuses)}", lambda: self.status(task_id) in statuses, within)

    def until_printed(self, task_id: str, words: str, *, start: int = 1, within: float = WITHIN) -> str:
        """The launch (the task's first, second …) whose process has printed these words: it is at work."""

        def printed() -> str | None:
            signed_in = self.history.starts(task_id=task_id)
            if len(signed_in) < start:
                return None
            launch_id = str(signed_in[start - 1]["launch_id"])
            return launch_id if self._prints(launch_id, words) else None

        return self.until(f"start {start} of {task_id} prints {words!r}", printed, within)

    def until_logged(self, launch_id: str, words: str) -> None:
        """These words are in the log that people read: it comes a moment after they were printed."""
        self.until(f"the log of {launch_id} says {words!r}", lambda: self._prints(launch_id, words))

    def _prints(self, launch_id: str, words: str) -> bool:
        """Looks at the output, and waits a little for more of it."""
        so_far = self.people.rest("GET", f"/launches/{launch_id}/log")
        if words in so_far["text"]:
            return True
        more = {"offset": so_far["next_offset"], "wait_seconds": 1}
        return words in so_far["text"] + self.people.rest("GET", f"/launches/{launch_id}/log", params=more)["text"]

    def until_idle(self, within: float = WITHIN) -> None:
        """Nobody is signed in, and every process that was started has ended and was reported."""
        self.until("nobody is at work", lambda: not self.sessions() and not self._unreported(), within)

    def _unreported(self) -> list[str]:
        """Launches whose process nobody has seen ending; of a lost one perhaps nobody ever will."""
        told = {each["launch_id"] for each in self.history.of("launch.process_ended", "launch.lost")}
        return [start["launch_id"] for start in self.history.starts() if start["launch_id"] not in told]

    # --- the end ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends everything in order; whatever is left is killed."""
        for gate in self._gates:
            gate.open()
        for bell in self._bells:
            bell.close()
        for program in [*self.coordinators, self.server]:
            program.end()
        programs.kill_everything_of(self.ways)

    def tell(self) -> str:
        """All that is known, for a test that has failed: every component's output and the timeline."""
        parts = [
            f"{program.name}:\n" + "\n".join(program.lines[-LOG_LINES:])
            for program in [self.server, *self.coordinators]
        ]
        for path in sorted((self.data / "logs").glob("*.log")):
            lines = path.read_text(errors="replace").splitlines()
            parts.append(f"{path.name}:\n" + "\n".join(lines[-LOG_LINES:]))
        return "\n\n".join([*parts, "\n".join([f"timeline{self.name}:", *self._timeline()])])

    def _timeline(self) -> list[str]:
        try:
            self.history.people.patience_seconds = 0
            self.history.read()
        except Exception as problem:  # noqa: BLE001 - what was read before is worth telling in any case
            return [*self.history.told(), f"(and no more could be read: {problem})"]
        return self.history.told()


_claimed: list[socket.socket] = []
"""The same port of UDP, for each that this run of tests was given: another run next to it is given another one."""


def free_port() -> int:
    for _ in range(100):
        port = random.randint(*_OUTSIDE_EPHEMERAL)
        claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket() as probe:
            try:
                claim.bind(("127.0.0.1", port))
                probe.bind(("127.0.0.1", port))
            except OSError:
                claim.close()
                continue
        _claimed.append(claim)
        return port
    pytest.fail("no free port")
