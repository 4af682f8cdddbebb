"""Explores for as long as you like: `python -m tests.exploring [SCENE …] --minutes 30 --share 0.5 --second 0.02`.

A line of counts comes with every thousand histories; each kind of fault is told with its shortest stories. Exits 1 if
there was any.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time

from tests.exploring.explorer import Explorer, cheaply
from tests.exploring.memory import InMemory
from tests.exploring.scenes import SCENES
from toryo.storage.open_database import upgrade


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.exploring", description=__doc__)
    parser.add_argument("scenes", nargs="*", choices=[[], *SCENES], help="which crews (all of them)")
    parser.add_argument("--minutes", type=float, default=30.0, help="in all (30)")
    parser.add_argument("--share", type=float, default=1.0, help="of all single disturbances (1)")
    parser.add_argument("--second", type=float, default=0.0, help="at this share of the rounds after it a second one")
    parser.add_argument("--inside", type=float, default=0.0, help="of those between the calls of one step")
    parser.add_argument("--only", default="", help="disturbances in whose names this pattern is found")
    parser.add_argument("--seed", type=int, default=0, help="of what is left to chance")
    asked = parser.parse_args(argv)
    scenes, failed, total = asked.scenes or list(SCENES), 0, {"histories": 0, "states": 0, "steps": 0}
    with cheaply():
        database = InMemory()
        upgrade(database)
        gc.freeze()
        for scene in scenes:
            explorer = Explorer(scene, database, random.Random(asked.seed), only=asked.only)
            explorer.until = time.monotonic() + asked.minutes * 60 / len(scenes)
            explorer.progress = _tell
            explorer.explore(share=asked.share, second=asked.second, inside=asked.inside)
            _say(explorer.line())
            for fault in sorted(explorer.faults, key=lambda each: len(str(each))):
                _say(str(fault))
            failed += sum(explorer.kinds.values())
            total["histories"] += explorer.counts["histories"]
            total["steps"] += explorer.counts["steps"]
            total["states"] += len(explorer.seen)
    _say(", ".join([*(f"{count} {name}" for name, count in total.items()), f"{failed} faults"]))
    return 1 if failed else 0


def _tell(explorer: Explorer) -> None:
    if explorer.counts["histories"] % 1000 == 0:
        _say(explorer.line())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
