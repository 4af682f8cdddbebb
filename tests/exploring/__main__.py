"""Explores for as long as you like: `python -m tests.exploring [SCENE …] --minutes 30 --share 0.5 --second 0.02`.

With `--exhaustive 2`, half of the time goes to every sequence of two choices (a step of any Coordinator, process or
queue agent, or a disturbance), the rest to disturbances at the steps of the usual order. A line of counts comes with
every thousand histories; each fault is told with its stories, the shortest of its kind also as a test to be pasted.
`--record` keeps the counts for docs/reliability.md. Exits 1 if there was any fault.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import shlex
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tests.exploring.explorer import Explorer, Fault, cheaply, kind_of
from tests.exploring.memory import InMemory
from tests.exploring.scenes import SCENES
from tests.exploring.shrinking import as_test, shrunk
from toryo.storage.open_database import upgrade

RECORD = Path("build/reliability/histories.json")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.exploring", description=__doc__)
    parser.add_argument("scenes", nargs="*", choices=[[], *SCENES], help="which crews (all of them)")
    parser.add_argument("--minutes", type=float, default=30.0, help="in all (30)")
    parser.add_argument("--share", type=float, default=1.0, help="of all single disturbances (1)")
    parser.add_argument("--second", type=float, default=0.0, help="at this share of the rounds after it a second one")
    parser.add_argument("--inside", type=float, default=0.0, help="of those between the calls of one step")
    parser.add_argument("--only", default="", help="disturbances in whose names this pattern is found")
    parser.add_argument("--exhaustive", type=int, default=0, metavar="DEPTH", help="first, all sequences of so many")
    parser.add_argument("--start", type=int, default=0, help="of these: the step of the undisturbed run before them")
    parser.add_argument("--beyond", type=int, default=0, help="of these: so many more that are left to chance")
    parser.add_argument("--steps-only", action="store_true", help="of these: the crew's own steps, no disturbances")
    parser.add_argument("--record", nargs="?", const=RECORD, type=Path, help=f"write the counts ({RECORD})")
    parser.add_argument("--seed", type=int, default=0, help="of what is left to chance")
    asked = parser.parse_args(argv)
    scenes, explorers = asked.scenes or list(SCENES), []
    with cheaply():
        database = InMemory()
        upgrade(database)
        gc.freeze()
        for scene in scenes:
            explorer = Explorer(scene, database, random.Random(asked.seed), only=asked.only)
            explorers.append(explorer)
            explorer.progress = _tell
            _explore(explorer, asked, asked.minutes * 60 / len(scenes))
            _say(explorer.line())
            for fault in sorted(explorer.faults, key=lambda each: len(str(each))):
                _say(str(fault))
            for fault in _shortest(explorer.faults):
                story = shrunk(scene, fault.story[1:], fault.what, database)
                _say(f"\n{as_test(scene, story, fault.what)}")
    failed = sum(sum(explorer.kinds.values()) for explorer in explorers)
    total = _total(explorers)
    _say(", ".join([*(f"{count} {name}" for name, count in total.items()), f"{failed} faults"]))
    if asked.record is not None:
        words = sys.argv[1:] if argv is None else argv
        _record(asked.record, shlex.join(["python", "-m", "tests.exploring", *words]), scenes, total, failed)
    return 1 if failed else 0


def _explore(explorer: Explorer, asked: argparse.Namespace, seconds: float) -> None:
    began = time.monotonic()
    if asked.exhaustive:
        explorer.until = began + seconds / 2
        depth = explorer.exhaust(asked.exhaustive, start=asked.start, beyond=asked.beyond, steps_only=asked.steps_only)
        _say(f"{explorer.scene}: all sequences of up to {depth} choices, {explorer.counts['choices']} in all")
    explorer.until = began + seconds
    if not explorer.over:
        explorer.explore(share=asked.share, second=asked.second, inside=asked.inside)


def _shortest(faults: list[Fault]) -> list[Fault]:
    """One of each kind."""
    found: dict[str, Fault] = {}
    for fault in sorted(faults, key=lambda each: len(each.story)):
        found.setdefault(kind_of(fault.what), fault)
    return list(found.values())


def _total(explorers: list[Explorer]) -> dict[str, int]:
    counts = Counter({"histories": 0, "steps": 0, "states": 0})
    for explorer in explorers:
        counts.update(histories=explorer.counts["histories"], steps=explorer.counts["steps"])
        counts.update(states=len(explorer.seen), claims=explorer.claimed)
        counts.update(choices=explorer.counts["choices"], refused=explorer.counts["refused"])
    return dict(counts)


def _record(path: Path, command: str, scenes: list[str], total: dict[str, int], failed: int) -> None:
    """Disturbances are those that changed something: one for each history, and each choice of an exhaustive one."""
    told = {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "scenes": scenes,
        "histories": total["histories"],
        "states": total["states"],
        "steps": total["steps"],
        "claims": total["claims"],
        "disturbances": total["histories"] + total["choices"],
        "broken_invariants": failed,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def _tell(explorer: Explorer) -> None:
    if explorer.counts["histories"] % 1000 == 0:
        _say(explorer.line())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
