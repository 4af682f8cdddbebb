"""T9: the cost of starting and running many agents: starts per second, from the decision to the running process,
CPU of Coordinator, server and programs, memory. The floor is bare starts of a program with its output in a file.

Server and Coordinator are real processes. In the burst, all tasks are in progress before a Coordinator runs, so all
starts are due at the same time. In the trickle, tasks come one by one, and the machine has time for each. Two kinds of
agents: `sh`, a program that costs almost nothing and never signs in, shows the limit of the Coordinator; `command`, our
own runner, a Python process for each agent, shows the effect of programs that use the same processors. Rates and
latencies depend on the load of the machine; CPU per start, and the share of the floor, much less. Needs Linux.
Without `--sandbox auto` agents run without a sandbox, so that machines with and without bubblewrap are alike.

    python benchmarks/agents.py [--agents 200] [--rounds 3] [--kinds sh,command] [--trickle 50] [--rate 5]
                                [--sandbox none]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import target_figures

from toryo.client import Client

TORYO = (sys.executable, "-m", "toryo")
SANDBOX = "none"
WITHIN = 300.0
HELD = 3600
COORDINATOR = """\
sandbox: {sandbox}
max_concurrent: {many}
shutdown_grace_seconds: 1
ai_providers:
  sh: {{cli_command: sh, cli_args: ["-c", "exec sleep {held}", "{{prompt}}"], prompt_flag: ""}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", default="sh,command")
    parser.add_argument("--trickle", type=int, default=50, help="agents that start one by one; 0: leave that out")
    parser.add_argument("--rate", type=float, default=5.0, help="of the trickle, per second")
    parser.add_argument("--sandbox", default="none", choices=["none", "auto"], help="of the agents' programs")
    given = parser.parse_args()
    global SANDBOX  # noqa: PLW0603 - one for all rounds
    SANDBOX = given.sandbox
    print(f"{given.agents} agents, {os.cpu_count()} processors, medians of {given.rounds} rounds")
    for kind in given.kinds.split(","):
        print(f"\n{kind}, {given.agents} at once")
        tell(kind, [(floor(given.agents), burst(kind, given.agents)) for _ in range(given.rounds)])
        if given.trickle:
            print(f"{kind}, {given.trickle} one by one, {given.rate:g} per second")
            tell(kind, [(None, trickle(kind, given.trickle, given.rate)) for _ in range(given.rounds)])


Figures = dict[str, float | None]
"""Of one round, by name; `None` where nobody signs in."""

STARTS = "starts/s"


@dataclass(frozen=True)
class Floor:
    """Of bare starts in the same minute."""

    per_second: float
    cpu_ms: float
    """Of the process that starts them, per start."""


def floor(many: int) -> Floor:
    """Each is waited for at the end."""
    with tempfile.TemporaryDirectory() as folder:
        used, begun, running = time.process_time(), time.perf_counter(), []
        for number in range(many):
            with (Path(folder) / f"{number}.log").open("wb") as output:
                running.append(subprocess.Popen(["/bin/true"], stdout=output, start_new_session=True))
        taken, used = time.perf_counter() - begun, time.process_time() - used
        for each in running:
            each.wait()
    return Floor(many / taken, used * 1000 / many)


def tell(kind: str, rounds: list[tuple[Floor | None, Figures]]) -> None:
    floors = [each for each, _ in rounds if each is not None]
    if floors:
        _row("floor: starts/s of /bin/true", [each.per_second for each in floors])
        _row("floor: CPU of who starts them, ms/start", [each.cpu_ms for each in floors])
        _row(
            "starts/s as a share of the floor",
            [(figures[STARTS] or 0.0) / bare.per_second for bare, figures in rounds if bare is not None],
            digits=2,
        )
    for bare, figures in rounds:
        if bare is not None:
            target_figures.note(f"T9 {kind}", figures[STARTS] or 0.0, floor=bare.per_second)
    for name in rounds[0][1]:
        values = [figures[name] for _, figures in rounds]
        _row(name, [each for each in values if each is not None])


def _row(name: str, values: list[float], digits: int = 1) -> None:
    if values:
        said = ", ".join(f"{each:,.{digits}f}" for each in values)
        print(f"  {name:<44} {statistics.median(values):>10,.{digits}f}   of {said}")


def burst(kind: str, many: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as (people, server):
        project = people.rest("POST", "/projects", {"name": "Many", "working_directory": folder})["project_id"]
        with _coordinator(Path(folder), many) as (_, coordinator):
            empty = _memory(coordinator), _memory(server)
            _hire(people, project, kind, many)
            idle = _memory(coordinator), _memory(server)
        for number in range(many):
            _file(people, project, f"a{number}")
        filed, before = _memory(server), _cpu(server)
        with _coordinator(Path(folder), many) as (output, coordinator):
            ready = _cpu(coordinator)
            _until(lambda: output.read_text().count(" started lau_") >= many)
            costs = _cpu(coordinator) - ready, _cpu(server) - before
            _until(lambda: kind != "command" or len(people.rest("GET", "/sessions")["sessions"]) >= many)
            programs = _cpu_of_all_below(coordinator) / many if kind == "command" else None
            busy = _memory(coordinator), _memory(server)
            started = _started(output.read_text())
        ordered = _moments(people, "launch.ordered")
        signed = _moments(people, "session.started")
    running, signing = sorted(_between(ordered, started)), sorted(_between(ordered, signed))
    took = (max(started.values()) - min(ordered.values())).total_seconds()
    return {
        STARTS: many / took,
        "decision to running p50, ms": _at(running, 50),
        "decision to running p99, ms": _at(running, 99),
        "decision to signed in p50, ms": _at(signing, 50),
        "decision to signed in p99, ms": _at(signing, 99),
        "Coordinator's CPU, ms/start": costs[0] / many,
        "server's CPU until all run, ms/start": costs[1] / many,
        "a program's CPU until all have signed in, ms": programs,
        "Coordinator with nobody, KiB": empty[0],
        "Coordinator per running child, KiB": (busy[0] - idle[0]) / many,
        "Coordinator per idle agent, KiB": (idle[0] - empty[0]) / many,
        "server with nobody, KiB": empty[1],
        "server per idle agent, KiB": (idle[1] - empty[1]) / many,
        "server per running agent, KiB": (busy[1] - filed) / many,
    }


def trickle(kind: str, many: int, rate: float) -> Figures:
    """One task after the other is filed, for another agent each; nothing waits for anything."""
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as (people, _):
        project = people.rest("POST", "/projects", {"name": "Many", "working_directory": folder})["project_id"]
        _hire(people, project, kind, many)
        with _coordinator(Path(folder), many) as (output, _):
            due = time.monotonic()
            for number in range(many):
                time.sleep(max(0.0, due - time.monotonic()))
                due += 1 / rate
                _file(people, project, f"a{number}")
            _until(lambda: output.read_text().count(" started lau_") >= many)
            _until(lambda: kind != "command" or len(people.rest("GET", "/sessions")["sessions"]) >= many)
            started = _started(output.read_text())
        ordered, signed = _moments(people, "launch.ordered"), _moments(people, "session.started")
        filed = _moments(people, "task.started", "agent_id")
        launches = {event["agent_id"]: event["launch_id"] for event in _events(people, "launch.ordered")}
    running, signing = sorted(_between(ordered, started)), sorted(_between(ordered, signed))
    waited = sorted(_between(filed, {agent: started[launch] for agent, launch in launches.items()}))
    return {
        "filed to running p50, ms": _at(waited, 50),
        "filed to running p99, ms": _at(waited, 99),
        "decision to running p50, ms": _at(running, 50),
        "decision to running p99, ms": _at(running, 99),
        "decision to signed in p50, ms": _at(signing, 50),
        "decision to signed in p99, ms": _at(signing, 99),
    }


def _hire(people: Client, project: str, kind: str, many: int) -> None:
    for number in range(many):
        people.rest("POST", "/agents", {"id": f"a{number}", "role": "worker", "provider": kind, "projects": [project]})


def _file(people: Client, project: str, agent_id: str) -> None:
    context = {"command": f"exec sleep {HELD}"}
    body = {"title": "Hold", "assignee_id": agent_id, "status": "in_progress", "context": context}
    people.rest("POST", f"/projects/{project}/tasks", body)


# --- processes -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[tuple[Client, int]]:
    process = subprocess.Popen(
        [*TORYO, "server", "--port", "0"],
        env=_environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = next(each for each in process.stdout if "ready http://" in each)
        url = re.findall(r"http://\S+", line)[0]
        with Client(url, (folder / "data" / "owner.token").read_text().strip()) as people:
            yield people, process.pid
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def _coordinator(folder: Path, many: int) -> Iterator[tuple[Path, int]]:
    """What it says goes to a file. At the end it takes along what it has started."""
    config, output = folder / "coordinator.yaml", folder / "coordinator.out"
    config.write_text(COORDINATOR.format(sandbox=SANDBOX, many=many, held=HELD))
    with output.open("wb") as file:
        words = [*TORYO, "coordinator", "-c", str(config)]
        process = subprocess.Popen(words, env=_environment(folder), stdout=file, stderr=file)
    try:
        _until(lambda: "connected to" in output.read_text())
        yield output, process.pid
    finally:
        process.terminate()
        process.wait()


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TORYO_")}
    return {**kept, "TORYO_DATA_DIR": str(folder / "data"), "HOME": str(folder), "TZ": "UTC"}


def _until(there: Callable[[], bool]) -> None:
    limit = time.monotonic() + WITHIN
    while not there():
        if time.monotonic() > limit:
            raise SystemExit(f"not within {WITHIN:g} s")
        time.sleep(0.2)


def _memory(pid: int) -> float:
    """KiB that are this process's own."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return float(sum(int(each) for each in re.findall(r"^Private_(?:Clean|Dirty): +(\d+) kB", rollup, re.MULTILINE)))


def _cpu(pid: int) -> float:
    """Milliseconds that a process has used by itself."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")
    return 0.0


def _cpu_of_all_below(pid: int) -> float:
    """Milliseconds of the processes that it has started, and of those that they have: a sandbox is a process too."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    below, found = [pid], 0.0
    while below:
        inner = [each for each, parent in parents.items() if parent == below[0]]
        found += sum(map(_cpu, inner))
        below = [*below[1:], *inner]
    return found


# --- moments ---------------------------------------------------------------------------------------------------------

Moments = dict[str, datetime]
"""By launch, or by agent."""


def _started(output: str) -> Moments:
    """When the Coordinator had each process running, as its log says."""
    found = re.findall(r"^(\S+ \S+) started (lau_\w+)", output, re.MULTILINE)
    return {launch: datetime.strptime(when, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC) for when, launch in found}


def _moments(people: Client, kind: str, by: str = "launch_id") -> Moments:
    return {event[by]: datetime.fromisoformat(event["at"]) for event in _events(people, kind)}


def _events(people: Client, kind: str) -> Iterator[dict[str, Any]]:
    after = 0
    while True:
        events = people.rest("GET", "/events", params={"after": after, "limit": 1000})["events"]
        yield from (event for event in events if event["kind"] == kind)
        if len(events) < 1000:
            return
        after = events[-1]["sequence"]


def _between(begun: Moments, ended: Moments) -> list[float]:
    """Milliseconds."""
    return [(ended[each] - begun[each]).total_seconds() * 1000 for each in begun if each in ended]


def _at(times: list[float], percent: int) -> float | None:
    return None if not times else times[min(len(times) - 1, len(times) * percent // 100)]


if __name__ == "__main__":
    main()
