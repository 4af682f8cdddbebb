"""`python -m tests.mutations`: plants a sample of faults, one after the other, and says which the fast tests find.

Each is printed with what became of it. build/reliability/mutations.json has the counts of each package,
build/mutations/results.json every fault, and build/mutations/*.log what its tests printed last.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.mutations import by_hand, planting
from tests.mutations.equivalent import reason
from tests.mutations.lines import Lines
from tests.mutations.mutator import Fault, compiles, faults

PACKAGES = ("domain", "workflow", "operations")
BY_HAND = "by-hand"
_NEAREST = 60
"""Tests that are tried before the files of the others are read at all."""
_NOT_PLANTED = "not planted"
Ended = dict[str, Any]
"""What became of a fault: `end`, `because` (the test, or why it is equivalent), `line`, `seconds`."""
SUMMARY = planting.ROOT / "build" / "reliability" / "mutations.json"
RESULTS = planting.BUILD / "results.json"
CAUGHT, SURVIVED, EQUIVALENT = "caught", "survived", "equivalent"


def sample(package: str, size: int, seed: int) -> list[Fault]:
    """As many faults of each file as its share of the package, chosen by `seed`."""
    chance = random.Random(f"{seed} {package}")
    ranked: list[tuple[float, str, Fault]] = []
    for path in sorted((planting.SOURCES / package).rglob("*.py")):
        file = path.relative_to(planting.SOURCES).as_posix()
        source = path.read_text(encoding="utf-8")
        found = faults(file, source)
        chance.shuffle(found)
        offset = chance.random()
        ranked += [((at + offset) / len(found), source, fault) for at, fault in enumerate(found)]
    ranked.sort(key=lambda each: each[0])
    usable = (fault for _, source, fault in ranked if compiles(fault.planted(source)))
    return list(itertools.islice(usable, size))


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.mutations", description=__doc__)
    parser.add_argument("--sample", type=int, default=100, help="faults in each package (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default 1)")
    parser.add_argument("--packages", nargs="+", choices=(*PACKAGES, BY_HAND), default=(*PACKAGES, BY_HAND))
    parser.add_argument("--tests", type=int, default=1000, help="the nearest so many of each fault (default 1000)")
    parser.add_argument("--survivors", action="store_true", help="only those that survived the last time")
    parser.add_argument("--also", nargs="+", default=(), metavar="FILE", help="test files that survivors meet as well")
    parser.add_argument("--seconds", type=float, default=900, help="after which a fault counts as caught (default 900)")
    options = parser.parse_args(words)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    planting.BUILD.mkdir(parents=True, exist_ok=True)
    planting.import_libraries()
    tree = planting.Tree()
    try:
        noted = planting.lines(tree, _say)
        left = {package: _left(package, options) for package in options.packages}

        def within() -> int:
            planting.collect(planting.BUILD / "collected.log")
            _plant_all(left, options, None, noted)
            return 0

        # In a process of its own: what has imported Toryo cannot import a changed copy.
        planting.in_a_process(None, within, None, 24 * 3600)
        _plant_all(left, options, tree, noted)
    finally:
        tree.close()
    for package in options.packages:
        _tell(package)
    return 0


def _left(package: str, options: argparse.Namespace) -> list[Fault]:
    """What is to be planted. What was caught the last time counts as caught if only survivors are."""
    by_rule = package != BY_HAND
    chosen = sample(package, options.sample, options.seed) if by_rule else by_hand.faults(planting.SOURCES)
    before: dict[str, Ended] = _kept_in(RESULTS).get(package, {}) if options.survivors else {}
    kept = {fault.name: before[fault.name] for fault in chosen if fault.name in before}
    _write(package, kept)
    return [fault for fault in chosen if kept.get(fault.name, {}).get("end") != CAUGHT]


def _plant_all(
    left: dict[str, list[Fault]], options: argparse.Namespace, tree: planting.Tree | None, noted: Lines
) -> None:
    """With a tree, those at the top of a file, and those that could not be planted without one."""
    for package, faults_left in left.items():
        ended: dict[str, Ended] = _kept_in(RESULTS)[package]
        for fault in faults_left:
            if tree is None and fault.within:
                _plant(fault, options, None, noted, ended)
            elif tree is not None and (not fault.within or fault.name not in ended):
                _plant(fault, options, tree, noted, ended)
            _write(package, ended)


def _tell(package: str) -> None:
    ended: dict[str, Ended] = _kept_in(RESULTS)[package]
    counts = Counter(str(each["end"]) for each in ended.values())
    share = counts[CAUGHT] / max(1, len(ended) - counts[EQUIVALENT])
    _say(f"{package}: {len(ended)} planted, {counts[EQUIVALENT]} equivalent; {share:.1%} of the others were caught.")
    for name, each in ended.items():
        if each["end"] == SURVIVED:
            _say(f"  survived: line {each['line']} of {name}")


def _plant(
    fault: Fault, options: argparse.Namespace, tree: planting.Tree | None, noted: Lines, ended: dict[str, Ended]
) -> None:
    began = time.monotonic()
    with tree.planted(fault) if tree is not None else nullcontext():
        by, why = _caught_by(fault, tree, noted, options), reason(fault)
    if by == _NOT_PLANTED:
        ended.pop(fault.name, None)
        return  # it is planted in a copy afterwards
    end = CAUGHT if by else EQUIVALENT if why else SURVIVED
    took = round(time.monotonic() - began)
    ended[fault.name] = {"end": end, "because": by or why, "line": fault.line, "seconds": took}
    _say(f"{end:10} {took:4} s  line {fault.line} of {fault.name}  [{by or why}]")


def _caught_by(fault: Fault, tree: planting.Tree | None, noted: Lines, options: argparse.Namespace) -> str:
    """The first test that failed, or what went wrong before; empty if all passed."""
    log = planting.BUILD / f"last-{os.getpid()}.log"
    ids = planting.tests_for(fault, noted)[: options.tests]
    rounds = [planting.those(each) for each in (ids[:_NEAREST], ids[_NEAREST:]) if each]
    if options.also:
        rounds.append((["-m", "not postgresql", *options.also], []))
    for arguments, plugins in rounds:
        code = planting.run(tree, fault, ["-x", *arguments], plugins, log, options.seconds)
        if code is None:
            return "took too long"
        if code == planting.NOT_IN:
            return _NOT_PLANTED
        if code not in (0, 5):
            return _first_failure(log) or f"exit {code}"
    return ""


def _first_failure(log: Path) -> str:
    for line in reversed(log.read_text(errors="replace").splitlines()):
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" - ", maxsplit=1)[0].split(" ", maxsplit=1)[1]
    return ""


def _write(package: str, ended: dict[str, Ended]) -> None:
    """Read again each time: another run may be at another package."""
    results = _kept_in(RESULTS)
    results[package] = ended
    _keep(RESULTS, results)
    summary = _kept_in(SUMMARY)
    ends = Counter(str(each["end"]) for each in ended.values())
    summary["command"] = shlex.join(["python", "-m", "tests.mutations", *sys.argv[1:]])
    summary["date"] = datetime.now(UTC).date().isoformat()
    counts = {"planted": len(ended), **{end: ends[end] for end in (CAUGHT, EQUIVALENT, SURVIVED)}}
    summary.setdefault("packages", {})[package] = counts
    _keep(SUMMARY, summary)


def _kept_in(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _keep(file: Path, content: dict[str, Any]) -> None:
    """At once, or not at all: another run may be reading it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(file)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
