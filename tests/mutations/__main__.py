"""`python -m tests.mutations`: plants a sample of faults, one after the other, and says which the fast tests find.

Each is printed with what became of it. build/reliability/mutations.json has the counts of each package (not of a run
with --only), build/mutations/results.json every fault (records.py), and build/mutations/*.log what its tests printed
last.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from tests.mutations import by_hand, planting, records
from tests.mutations.equivalent import reason
from tests.mutations.lines import Lines
from tests.mutations.mutator import Fault, compiles, faults
from tests.mutations.records import CAUGHT, EQUIVALENT, SURVIVED, Ended
from tests.mutations.trials import NOT_PLANTED, Trials

PACKAGES = ("domain", "workflow", "operations")
BY_HAND = "by-hand"


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
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="all with one of these in their names")
    parser.add_argument("--tests", type=int, default=1000, help="the nearest so many of each fault (default 1000)")
    parser.add_argument("--survivors", action="store_true", help="only those that survived the last time")
    parser.add_argument(
        "--also", nargs="+", default=(), metavar="FILE", help="slower tests that survivors meet as well"
    )
    parser.add_argument("--seconds", type=float, default=900, help="after which a fault counts as caught (default 900)")
    options = parser.parse_args(words)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    planting.BUILD.mkdir(parents=True, exist_ok=True)
    planting.import_libraries()
    tree = planting.Tree()
    try:
        noted = planting.lines(tree, _say)
        before = {package: records.ended(package) for package in options.packages}
        chosen = {package: _chosen(package, options) for package in options.packages}
        for package, each in chosen.items():
            _begin(package, each, before[package], options)

        def within() -> int:
            planting.collect(planting.BUILD / "collected.log")
            _plant_all(chosen, before, noted, Trials(None, options.seconds, _say), options, copied=False)
            return 0

        # In a process of its own: what has imported Toryo cannot import a changed copy.
        planting.in_a_process(None, within, None, 24 * 3600)
        trials = Trials(tree, options.seconds, _say)
        _plant_all(chosen, before, noted, trials, options, copied=True)
        if options.also:
            _meet_slower_tests(chosen, trials, options)
    finally:
        tree.close()
    for package in options.packages:
        _tell(package)
    return 0


def _chosen(package: str, options: argparse.Namespace) -> list[Fault]:
    size = sys.maxsize if options.only else options.sample
    found = by_hand.faults(planting.SOURCES) if package == BY_HAND else sample(package, size, options.seed)
    return [each for each in found if not options.only or any(text in each.name for text in options.only)]


def _begin(package: str, chosen: Sequence[Fault], before: Mapping[str, Ended], options: argparse.Namespace) -> None:
    """What was caught the last time counts as caught if only survivors are planted; with --only, nothing is lost."""
    names = {fault.name for fault in chosen}

    def kept(name: str, each: Ended) -> bool:
        return name not in names if options.only else options.survivors and name in names and each["end"] == CAUGHT

    records.write(package, {name: each for name, each in before.items() if kept(name, each)})


def _plant_all(
    chosen: Mapping[str, Sequence[Fault]],
    before: Mapping[str, Mapping[str, Ended]],
    noted: Lines,
    trials: Trials,
    options: argparse.Namespace,
    *,
    copied: bool,
) -> None:
    """In a copy, those at the top of a file, and those that could not be planted without one."""
    for package, some in chosen.items():
        for fault in some:
            if (fault.within or copied) and fault.name not in records.ended(package):
                _plant(package, fault, before[package], noted, trials, options)
        _summarize(package, options)


def _plant(
    package: str,
    fault: Fault,
    before: Mapping[str, Ended],
    noted: Lines,
    trials: Trials,
    options: argparse.Namespace,
) -> None:
    began, why = time.monotonic(), reason(fault)
    by = "" if why else trials.caught_by(fault, planting.tests_for(fault, noted)[: options.tests])
    if by == NOT_PLANTED:
        return  # it is planted in a copy afterwards
    end = CAUGHT if by else EQUIVALENT if why else SURVIVED
    took = round(time.monotonic() - began)
    records.note(package, fault, before, end=end, because=by or why, seconds=took)
    _say(f"{end:10} {took:4} s  line {fault.line} of {fault.name}  [{by or why}]")


def _meet_slower_tests(chosen: Mapping[str, Sequence[Fault]], trials: Trials, options: argparse.Namespace) -> None:
    """In a copy, which the processes that these tests start import as well."""
    for package, some in chosen.items():
        for fault in some:
            if records.ended(package)[fault.name]["end"] == SURVIVED:
                by = trials.caught_by_files(fault, options.also)
                if by:
                    records.note_slower(package, fault, by)
                _say(f"{'slower' if by else 'no test':10} line {fault.line} of {fault.name}  [{by}]")
        _summarize(package, options)


def _tell(package: str) -> None:
    ended = records.ended(package)
    counts = records.counts(ended.values())
    share = counts[CAUGHT] / max(1, counts["planted"] - counts[EQUIVALENT])
    _say(f"{package}: {counts['planted']} planted, {counts[EQUIVALENT]} equivalent; {share:.1%} of the others caught.")
    for name, each in ended.items():
        if each["end"] == SURVIVED:
            _say(f"  survived: line {each['line']} of {name}")


def _summarize(package: str, options: argparse.Namespace) -> None:
    if options.only:
        return  # chosen for what became of them: they tell nothing about the package
    ran = {
        "command": shlex.join(["python", "-m", "tests.mutations", *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
    }
    records.summarize(package, ran if package == BY_HAND else {**ran, "seed": options.seed})


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
