"""T18: twelve tasks in four chains of three by four agents, from the command that files them until all are merged.

Each task sleeps for a second and writes a file, in a worktree of its own. A check runs on its work, and again on what
would be merged. The floor is a shell loop that does the same in the same run, four chains at once: a worktree from the
work of the step before, the sleep, a commit, the check on a clean checkout, a merge onto the branch in a third
checkout, the check there, and the removal. Boot is what `toryo up` takes until its Coordinator is connected; a loop
has none. Toryo does its part as it is typed: `init`, `up`, `apply`, and one more `apply` with the twelve tasks.

    python benchmarks/chains.py [--rounds 3] [--seconds 1] [--parts]   # --parts: where Toryo's time goes, by task
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import target_figures

from toryo.client import Client, server_discovery

CHAINS, STEPS = "abcd", (1, 2, 3)
WITHIN = 300.0
TICK = os.sysconf("SC_CLK_TCK")
CHECK = """\
for file in parts/*-?; do
    [ -e "$file" ] || continue
    grep -q ok "$file" || exit 1
    step=${file#*-}
    [ "$step" = 1 ] || [ -e "${file%-*}-$((step - 1))" ] || exit 1
done
"""
WORK = "sleep SECONDS; mkdir -p parts; echo ok > parts/NAME"
LOOP = """\
set -e
trees=$1
tree() { flock $trees/list git worktree "$@"; }  # git reads what another one has only half written
step() {
    name=$1 base=$2
    tree add -q -b work/$name $trees/$name $base
    (cd $trees/$name; WORK_OF_IT; git add -A; git commit -q -m $name)
    tree add -q --detach $trees/$name.check work/$name
    (cd $trees/$name.check; sh check.sh)
    tree remove --force $trees/$name.check
    exec 9> $trees/lock
    flock 9
    tree add -q --detach $trees/$name.merge main
    (cd $trees/$name.merge; git merge -q --no-ff -m "Merge $name" work/$name; sh check.sh)
    git merge -q --ff-only $(git -C $trees/$name.merge rev-parse HEAD)
    tree remove --force $trees/$name.merge
    tree remove --force $trees/$name
    exec 9>&-
}
chain() { step $1-1 main; step $1-2 work/$1-1; step $1-3 work/$1-2; }
jobs=
for each in a b c d; do chain $each & jobs="$jobs $!"; done
for job in $jobs; do wait $job; done
"""


@dataclass
class Run:
    """Seconds; `boot` is not in `wall`."""

    wall: float
    cpu: float = 0.0
    """Of all its processes, with those that booted."""
    boot: float = 0.0
    launches: int = 0
    idle: int = 0
    acts: int = 0
    spent: list[str] = field(default_factory=list)
    """CPU of the processes of `toryo up` so far, and of those that they have started and that have ended."""
    parts: list[dict[str, float]] = field(default_factory=list)
    """Of each task, from its start: until its process was ordered and signed in, its work was done, and so on."""


def main() -> None:
    options = _options()
    floors: list[Run] = []
    ours: list[Run] = []
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for number in range(options.rounds):
        turns: list[tuple[list[Run], Callable[[float], Run]]] = [(floors, _loop), (ours, _toryo)]
        for runs, act in turns[:: 1 if number % 2 else -1]:
            before = _cpu()
            runs.append(act(options.seconds))
            runs[-1].cpu = _cpu() - before
        floor, run = floors[-1], ours[-1]
        print(
            f"round {number + 1}: shell loop {floor.wall:5.1f} s (CPU {floor.cpu:.1f}), Toryo {run.wall:5.1f} s (CPU "
            f"{run.cpu:.1f}) and {run.boot:.1f} s to boot; {run.wall / floor.wall:.2f} x; {run.idle} of {run.launches} "
            f"launches idle; load {os.getloadavg()[0]:.1f}"
        )
        target_figures.note("T18", run.wall / floor.wall, f"{run.wall:.1f} s", floor.wall)
        target_figures.note("T18 idle", run.idle, f"{run.launches} launches")
    _print_medians(floors, ours)
    if options.parts:
        _print_parts(ours[-1])


def _cpu() -> float:
    """Seconds of CPU of all processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a task sleeps")
    parser.add_argument("--parts", action="store_true", help="print what the last round did with each task")
    return parser.parse_args()


def _print_medians(floors: list[Run], ours: list[Run]) -> None:
    floor, wall = (statistics.median(each.wall for each in runs) for runs in (floors, ours))
    boot = statistics.median(each.boot for each in ours)
    ratio = statistics.median(run.wall / loop.wall for run, loop in zip(ours, floors, strict=True))
    print(f"\nmedians of {len(ours)}")
    print(f"{'a shell loop':<40}{floor:>8.1f} s")
    print(f"{'Toryo, from the file to the last merge':<40}{wall:>8.1f} s   {ratio:.2f} x")
    print(f"{'Toryo, with its boot':<40}{wall + boot:>8.1f} s   {(wall + boot) / floor:.2f} x")
    for name, runs in (("a shell loop", floors), ("Toryo, with its boot and the commands", ours)):
        print(f"{name:<40}{statistics.median(each.cpu for each in runs):>8.1f} s of CPU")
    print(f"{'commands that a person types':<40}{ours[-1].acts:>8}")
    print(f"{'launches without work':<40}{max(each.idle for each in ours):>8}")


# --- the floor -------------------------------------------------------------------------------------------------------


def _loop(seconds: float) -> Run:
    with _repository() as (home, place, environment):
        trees = home / "trees"
        trees.mkdir()
        text = LOOP.replace("WORK_OF_IT", WORK.replace("SECONDS", f"{seconds:g}").replace("NAME", "$name"))
        began = time.perf_counter()
        subprocess.run(["sh", "-c", text, "loop", str(trees)], cwd=place, env=environment, check=True, timeout=WITHIN)
        took = time.perf_counter() - began
        _refuse_unless_all_is_there(place, environment)
    return Run(took, acts=1)


# --- Toryo -----------------------------------------------------------------------------------------------------------


def _toryo(seconds: float) -> Run:
    with _repository() as (home, place, environment):
        _type(place, environment, "init", "--yes", "--provider", "none", "--workers", "4", "--check", "sh check.sh",
              *("--merge", "automatic"))  # fmt: skip
        (home / "tasks.yaml").write_text(json.dumps({"tasks": _tasks(seconds)}), "utf-8")
        began = time.perf_counter()
        with _up(place, environment) as up:
            boot = time.perf_counter() - began
            _type(place, environment, "apply", "toryo.yaml", "--yes")
            filed = time.time()
            _type(place, environment, "apply", str(home / "tasks.yaml"))
            with _client(place) as client:
                run = _followed(client, filed)
            run.spent = list(_spent(up))
        _refuse_unless_all_is_there(place, environment)
    run.boot, run.acts = boot, 4
    return run


def _tasks(seconds: float) -> list[dict[str, Any]]:
    command = WORK.replace("SECONDS", f"{seconds:g}")
    return [
        {
            "project": "shop",
            "title": f"{chain}-{step}",
            "assignee": "any",
            "depends_on": [f"{chain}-{step - 1}"] if step > 1 else [],
            "context": {"command": command.replace("NAME", f"{chain}-{step}")},
        }
        for chain in CHAINS
        for step in STEPS
    ]


def _type(place: Path, environment: dict[str, str], *words: str) -> None:
    command = [sys.executable, "-m", "toryo", *words]
    ran = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"toryo {' '.join(words)}: {ran.stdout}{ran.stderr}")


@contextmanager
def _up(place: Path, environment: dict[str, str]) -> Iterator[int]:
    words = ("up", "--port", "0", "--no-open", "--max-concurrent", "4")
    command = [sys.executable, "-m", "toryo", *words]
    with subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            next(line for line in process.stdout if "connected to" in line)
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def _spent(up: int) -> Iterator[str]:
    """Linux only; elsewhere nothing."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            fields = (path / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        if up in (int(fields[1]), int(path.name)):
            own, below = (sum(map(int, fields[at : at + 2])) / TICK for at in (11, 13))
            name = " ".join(map(os.fsdecode, words[1:4]))
            yield f"{name:<40}{own:>8.1f} s of CPU, and {below:.1f} of what it has started"


def _client(place: Path) -> Client:
    directory = server_discovery.directory((place / ".toryo" / "data-dir").read_text("utf-8").strip(), {})
    found = server_discovery.find(data_dir=directory, environ={})
    return Client(found.url, found.token)


def _followed(client: Client, filed: float) -> Run:
    """Until the last merge; its time counts, not when it was seen here."""
    events: list[dict[str, Any]] = []
    give_up = time.monotonic() + WITHIN
    while len(merged := [each for each in events if each["kind"] == "worktree.merged"]) < len(CHAINS) * len(STEPS):
        if time.monotonic() > give_up:
            raise SystemExit(f"only {len(merged)} tasks are merged")
        after = events[-1]["sequence"] if events else 0
        events += client.rest("GET", "/events", params={"after": after, "wait_seconds": 5, "limit": 200})["events"]
    launches = client.rest("GET", "/launches", params={"limit": 200})["launches"]
    tasks = client.rest("GET", "/projects/shop/tasks", params={"limit": 200})["tasks"]
    idle = sum(each["end_reason"] not in (None, "reported") for each in launches)
    parts = [_parts(task, launches, events, filed) for task in sorted(tasks, key=lambda each: str(each["started_at"]))]
    return Run(max(map(_at, merged)) - filed, launches=len(launches), idle=idle, parts=parts)


def _at(event: dict[str, Any], name: str = "at") -> float:
    return datetime.fromisoformat(event[name]).timestamp()


def _parts(
    task: dict[str, Any], launches: list[dict[str, Any]], events: list[dict[str, Any]], filed: float
) -> dict[str, float]:
    """When each step of a task was over, in seconds since it was filed."""
    [launch] = [each for each in launches if each["task_id"] == task["task_id"]]
    own = [each for each in events if each["task_id"] == task["task_id"]]
    found = {
        "started": _at(task, "started_at"),
        "ordered": _at(launch, "ordered_at"),
        "signed in": _at(launch, "signed_in_at"),
        **{each["kind"]: _at(each) for each in own if each["kind"] in SHOWN},
        "exited": _at(launch, "ended_at"),
    }
    return {name: at - filed for name, at in found.items()}


SHOWN = ("task.reported", "task.checks_started", "task.completed", "merge_queue.added", "worktree.merged")


def _print_parts(run: Run) -> None:
    print("", *run.spent, sep="\n")
    names = list(dict.fromkeys(name for each in run.parts for name in each))
    print("\nseconds from the command that filed the tasks until each step of each task")
    print("  ".join(names))
    for each in run.parts:
        print("  ".join(f"{each.get(name, float('nan')):>{len(name)}.2f}" for name in names))


# --- both ------------------------------------------------------------------------------------------------------------


@contextmanager
def _repository() -> Iterator[tuple[Path, Path, dict[str, str]]]:
    """A home, a repository in it with the check, and an environment without anything of this machine's owner."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        place = home / "shop"
        place.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TORYO_", "GIT_"))}
        environment = {**kept, "HOME": folder, "XDG_DATA_HOME": str(home / "data"), "GIT_CONFIG_GLOBAL": os.devnull}
        (place / "check.sh").write_text(CHECK, "utf-8")
        for words in (
            ("init", "-q", "-b", "main"),
            ("config", "user.name", "A"),
            ("config", "user.email", "a@example.org"),
            ("add", "check.sh"),
            ("commit", "-q", "-m", "before"),
        ):
            subprocess.run(["git", *words], cwd=place, env=environment, check=True)
        yield home, place, environment


def _refuse_unless_all_is_there(place: Path, environment: dict[str, str]) -> None:
    """All twelve files on the branch, and each commit of its first-parent history passes the check."""
    there = sorted(each.name for each in (place / "parts").iterdir())
    assert there == [f"{chain}-{step}" for chain in CHAINS for step in STEPS], there
    log = ["git", "rev-list", "--first-parent", "main"]
    commits = subprocess.run(log, cwd=place, env=environment, check=True, capture_output=True, text=True).stdout.split()
    for commit in commits:
        at = place.parent / "looked"
        subprocess.run(
            ["git", "worktree", "add", "-q", "--detach", str(at), commit], cwd=place, env=environment, check=True
        )
        subprocess.run(["sh", "check.sh"], cwd=at, check=True)
        subprocess.run(["git", "worktree", "remove", "--force", str(at)], cwd=place, env=environment, check=True)


if __name__ == "__main__":
    main()
