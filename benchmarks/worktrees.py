"""What the worktree of a launch costs in a large repository, beside `git worktree add` of the same commit.

CPU counts, of this process and of the git that it runs: the disk of the machine and what else it does are no matter.
Each round makes both, one after the other, in turns. Again: the second launch of the same task. Objects: what was
copied of the person's.

    python benchmarks/worktrees.py [--files 100000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from toryo.coordinator import worktrees
from toryo.coordinator.worktrees.launch_repositories import repository_of

DIRECTORY = 100
"""Files in one."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ |= {"HOME": folder, "GIT_CONFIG_GLOBAL": os.devnull}
        repository = _repository(home / "large", options.files)
        bare: list[float] = []
        ours: list[float] = []
        again: list[float] = []
        for number in range(options.rounds):
            name, plain = f"tsk_{number}", home / f"plain-{number}"
            added = partial(_git, repository, "worktree", "add", "-q", "-b", plain.name, str(plain))
            made = partial(worktrees.make, repository, home / "ours", name)
            turns: list[tuple[list[float], Callable[[], object]]] = [(bare, added), (ours, made)]
            for costs, act in turns[:: 1 if number % 2 else -1]:
                costs.append(_cpu(act))
            again.append(_cpu(made))
        first = worktrees.find(repository, home / "ours", "tsk_0")
        assert first is not None
        objects = sum(1 for each in (repository_of(first.path) / "objects").rglob("*") if len(each.name) == 38)
    print(f"{options.files:,} files, CPU, median of {options.rounds} (least to most)")
    for name, costs in (("git worktree add", bare), ("a launch's worktree", ours), ("the same, again", again)):
        print(f"{name:20} {statistics.median(costs):7.2f} s   ({min(costs):.2f} to {max(costs):.2f})")
    print(f"ratio {statistics.median(ours) / statistics.median(bare):.2f}; objects copied: {objects}")


def _repository(path: Path, files: int) -> Path:
    for number in range(files):
        file = path / f"d{number // DIRECTORY}" / f"f{number}.txt"
        if number % DIRECTORY == 0:
            file.parent.mkdir(parents=True)
        file.write_text(f"file {number}\n" * 20)
    _git(path, "init", "-q", "-b", "main")
    _git(path, "add", "-A")
    _git(path, "-c", "gc.auto=0", "-c", "user.name=a", "-c", "user.email=a@a.invalid", "commit", "-qm", "all")
    _git(path, "gc", "-q")
    return path


def _git(path: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(path), *words], check=True)


def _cpu(act: Callable[[], object]) -> float:
    """Seconds of CPU of an act, with the processes that it ran and waited for."""
    before = _used()
    act()
    return _used() - before


def _used() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    main()
