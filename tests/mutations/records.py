"""What became of each fault (build/mutations/results.json), and the counts (build/reliability/mutations.json).

Several processes write: each reads and writes all of it while it holds a lock.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.mutations import planting
from tests.mutations.mutator import Fault
from tests.once import alone

SUMMARY = planting.ROOT / "build" / "reliability" / "mutations.json"
RESULTS = planting.BUILD / "results.json"
CAUGHT, SURVIVED, EQUIVALENT = "caught", "survived", "equivalent"
Ended = dict[str, Any]
"""Of one fault: `end`, `because` (the test, or why it is equivalent), `line`, `seconds` of a processor; `deep` is the
test that finds a survivor though `make test` leaves it out."""


def ended(package: str) -> dict[str, Ended]:
    """By name."""
    found: dict[str, Ended] = _kept_in(RESULTS).get(package, {})
    return found


def write(package: str, found: Mapping[str, Ended]) -> None:
    """Instead of all that was known of the package."""
    with alone(_lock()):
        _keep(RESULTS, {**_kept_in(RESULTS), package: dict(found)})


def note(package: str, fault: Fault, **facts: Any) -> None:
    """What became of it, or one fact more."""
    with alone(_lock()):
        every = _kept_in(RESULTS)
        of_it = every.setdefault(package, {})
        of_it[fault.name] = {**of_it.get(fault.name, {}), **facts, "line": fault.line}
        _keep(RESULTS, every)


def counts(found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    found = list(found)
    ends = Counter(str(each["end"]) for each in found)
    by_deep_tests = sum(each["end"] == SURVIVED and "deep" in each for each in found)
    return {
        "planted": len(found),
        **{end: ends[end] for end in (CAUGHT, EQUIVALENT, SURVIVED)},
        "by_deep_tests": by_deep_tests,
    }


def share(counted: Mapping[str, int]) -> float:
    """Of the faults that are not equivalent, those that were caught."""
    return counted[CAUGHT] / max(1, counted["planted"] - counted[EQUIVALENT])


def summarize(package: str, facts: Mapping[str, Any]) -> None:
    """The counts, with these facts of the run (its command, its date, its seed)."""
    summary = _kept_in(SUMMARY)
    told = {**counts(ended(package).values()), **facts}
    of_the_last = {name: facts[name] for name in ("command", "date")}
    _keep(SUMMARY, {**summary, **of_the_last, "packages": {**summary.get("packages", {}), package: told}})


def _lock() -> Path:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    return RESULTS.with_suffix(".lock")


def _kept_in(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _keep(file: Path, content: dict[str, Any]) -> None:
    """At once, or not at all: another run may be reading it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(file)
