"""`python -m tests.mutations`: plants a sample of faults, one after the other, and says which `make test` finds.

The commit chooses the faults: run it again, and it plants the same ones. A fault costs up to a minute of a processor,
mostly a few seconds; noting first which test runs which line costs more than any of them (--jobs divides it all). Each
fault is printed with what became of it, then the share that was caught of each package. Exits 1 if a share is below its
threshold; coordinator and server have none until a whole sample was taken.

build/reliability/mutations.json has the counts of each package, build/mutations/results.json every fault (records.py),
and build/mutations/*.log what its tests printed last.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import FunctionType

from tests.mutations import by_hand, planting, records
from tests.mutations.equivalent import reason
from tests.mutations.lines import Lines
from tests.mutations.mutator import Fault, compiles, faults
from tests.mutations.records import CAUGHT, EQUIVALENT, SURVIVED
from tests.mutations.trials import NOT_PLANTED, Trials

BY_HAND = "by-hand"
_RULES = ("domain", "housekeeping", "operations", "pitfalls", "seeds", "simulation", "storage", "workflow")
_DOORS = ("cli", "documents", "doors", "server", "transports")
FOLDERS: dict[str, Sequence[str]] = {
    "domain": _RULES,
    "workflow": _RULES,
    "operations": (*_RULES, *_DOORS),
    "coordinator": ("coordinator", "cli", "documents", "pitfalls", "seeds", "transports"),
    "server": ("operations", "pitfalls", "seeds", *_DOORS),
    BY_HAND: (*_RULES, *_DOORS, "coordinator"),
}
"""Of tests/: whose tests meet the code of the package. The others would only be in the way."""
THRESHOLDS: dict[str, float] = {"domain": 0.93, "workflow": 0.93, "operations": 0.85}
"""The least share of faults that is caught, of those that are not equivalent."""


def sample(package: str, size: int, seed: str) -> list[Fault]:
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


def commit() -> str:
    """The one that is checked out. Raises SystemExit if this is no checkout."""
    words = ["git", "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(words, cwd=planting.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit("No commit is checked out here that could choose the faults: name a --seed")
    return done.stdout.strip()


def main(words: Sequence[str]) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tests.mutations", description=__doc__, formatter_class=form)
    parser.add_argument("--sample", type=int, default=300, help="faults in each package (default 300)")
    parser.add_argument("--seed", help="the commit whose run is to be repeated (default: the one that is checked out)")
    parser.add_argument("--packages", nargs="+", choices=[*FOLDERS], default=[*FOLDERS])
    parser.add_argument("--jobs", type=int, default=2, help="faults at a time (default 2)")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="all with one of these in their names")
    parser.add_argument("--cpu", type=float, default=60, help="seconds that the tests of a fault may take (default 60)")
    parser.add_argument("--survivors", action="store_true", help="only those that survived the last time")
    parser.add_argument("--also", nargs="+", default=(), metavar="FILE", help="deep tests that survivors meet as well")
    parser.add_argument("--seconds", type=float, default=900, help="after which a fault counts as caught (default 900)")
    options = parser.parse_args(words)
    options.seed = options.seed or commit()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    planting.BUILD.mkdir(parents=True, exist_ok=True)
    planting.import_libraries()
    chosen = {package: _chosen(package, options) for package in options.packages}
    folders = sorted({folder for package in options.packages for folder in FOLDERS[package]})
    noted = planting.lines(folders, options.jobs, _say)
    again = options.only or options.survivors
    for package, some in chosen.items():
        names = {fault.name for fault in some}
        kept = {name: each for name, each in records.ended(package).items() if name not in names} if again else {}
        records.write(package, kept)
    run = Run(chosen, noted, options)
    # In a process of its own: what has imported Toryo cannot import a changed copy.
    planting.side_by_side([partial(run.swapped, folders)])
    run.on_all_jobs(None, run.plant)
    if options.also:
        run.on_all_jobs(None, run.meet_deep_tests)
    if not again:  # chosen for what became of them: they tell nothing about the package
        for package in chosen:
            _summarize(package, options)
    return max(_tell(package, judge=not again) for package in chosen)


def _chosen(package: str, options: argparse.Namespace) -> list[Fault]:
    size = sys.maxsize if options.only or options.survivors else options.sample
    found = by_hand.faults(planting.SOURCES) if package == BY_HAND else sample(package, size, options.seed)
    if options.survivors:
        survived = {name for name, each in records.ended(package).items() if each["end"] == SURVIVED}
        found = [each for each in found if each.name in survived]
    return [each for each in found if not options.only or any(text in each.name for text in options.only)]


class Run:
    """Plants what was chosen. Every job takes its share."""

    def __init__(self, chosen: Mapping[str, Sequence[Fault]], noted: Lines, options: argparse.Namespace) -> None:
        self._chosen = [(package, fault) for package, some in chosen.items() for fault in some]
        self._noted = {
            package: {test: found for test, found in noted.items() if test.split("/")[1] in FOLDERS[package]}
            for package in chosen
        }
        self._options = options

    def swapped(self, folders: Sequence[str]) -> None:
        """Those within a function, in what is imported once."""
        self.on_all_jobs(planting.collect(folders, planting.BUILD / "collected.log"), self.plant)

    def on_all_jobs(
        self,
        imported: Sequence[FunctionType] | None,
        work: Callable[[Sequence[tuple[str, Fault]], Trials, bool], None],
    ) -> None:
        def job(number: int) -> None:
            tree = planting.Tree()
            try:
                trials = Trials(tree, imported, self._options.seconds, _say)
                work(self._chosen[number :: self._options.jobs], trials, imported is None)
            finally:
                tree.close()

        planting.side_by_side([partial(job, number) for number in range(self._options.jobs)])

    def plant(self, some: Sequence[tuple[str, Fault]], trials: Trials, copied: bool) -> None:
        """In a copy, those at the top of a file, and those that could not be planted without one."""
        for package, fault in some:
            if not (fault.within or copied) or fault.name in records.ended(package):
                continue
            began, why = _seconds(), reason(fault)
            tests = planting.tests_for(fault, self._noted[package], self._options.cpu)
            by = "" if why else trials.caught_by(fault, tests)
            if by == NOT_PLANTED:
                continue  # it is planted in a copy afterwards
            end = CAUGHT if by else EQUIVALENT if why else SURVIVED
            took = round(_seconds() - began, 1)
            records.note(package, fault, end=end, because=by or why, seconds=took)
            _say(f"{end:10} {took:5} s  line {fault.line} of {fault.name}  [{by or why}]")

    def meet_deep_tests(self, some: Sequence[tuple[str, Fault]], trials: Trials, _copied: bool) -> None:
        """In a copy, which the processes that these tests start import as well."""
        for package, fault in some:
            if records.ended(package)[fault.name]["end"] == SURVIVED:
                by = trials.caught_by_files(fault, self._options.also)
                if by:
                    records.note(package, fault, deep=by)
                _say(f"{'deep' if by else 'no test':10} line {fault.line} of {fault.name}  [{by}]")


def _seconds() -> float:
    """Of a processor, of all that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tell(package: str, *, judge: bool) -> int:
    """1 if too few were caught."""
    ended = records.ended(package)
    counts = records.counts(ended.values())
    share, least = records.share(counts), THRESHOLDS.get(package, 0.0) if judge else 0.0
    _say(
        f"{package}: {counts['planted']} planted, {counts[EQUIVALENT]} equivalent; {share:.1%} of the others caught"
        f"{f' (at least {least:.0%})' if least else ''}; "
        f"{sum(each.get('seconds', 0) for each in ended.values()):.0f} s of a processor."
    )
    for name, each in ended.items():
        if each["end"] == SURVIVED:
            _say(f"  survived: line {each['line']} of {name}")
    if share < least:
        _say(f"  {package} is below its threshold.")
    return int(share < least)


def _summarize(package: str, options: argparse.Namespace) -> None:
    words = ["python", "-m", "tests.mutations", "--sample", str(options.sample), "--seed", options.seed]
    ran = {"command": shlex.join(words), "date": datetime.now(UTC).date().isoformat()}
    records.summarize(package, ran if package == BY_HAND else {**ran, "seed": options.seed})


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
