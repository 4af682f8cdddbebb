"""What became of each fault (build/mutations/results.json), and the counts (build/reliability/mutations.json).

`at_first` is what became of a fault when it was planted for the first time: tests that were written for survivors say
nothing about how many faults are caught that nobody has looked at.
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

SUMMARY = planting.ROOT / "build" / "reliability" / "mutations.json"
RESULTS = planting.BUILD / "results.json"
CAUGHT, SURVIVED, EQUIVALENT = "caught", "survived", "equivalent"
Ended = dict[str, Any]
"""Of one fault: `end`, `because` (the test, or why it is equivalent), `at_first`, `line`, `seconds`; `slower` is the
test that finds a survivor though it is not one of the fast ones."""


def ended(package: str) -> dict[str, Ended]:
    """By name. Read again each time: another run may be at another package."""
    found: dict[str, Ended] = _kept_in(RESULTS).get(package, {})
    return found


def write(package: str, found: Mapping[str, Ended]) -> None:
    _keep(RESULTS, {**_kept_in(RESULTS), package: dict(found)})


def note(package: str, fault: Fault, before: Mapping[str, Ended], **facts: Any) -> None:
    """What became of it now. What it had been before counts as long as it is the same fault."""
    was = before.get(fault.name, {})
    kept: Ended = {name: value for name, value in was.items() if name in ("at_first", "slower")}
    write(package, {**ended(package), fault.name: {"at_first": facts["end"], **kept, **facts, "line": fault.line}})


def note_slower(package: str, fault: Fault, test: str) -> None:
    found = ended(package)
    write(package, {**found, fault.name: {**found[fault.name], "slower": test}})


def counts(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`at_first` counts no fault again that has since been found to be equivalent."""
    found = list(found)
    now = Counter(str(each["end"]) for each in found)
    ends = [(each.get("at_first", each["end"]), "slower" in each) for each in found if each["end"] != EQUIVALENT]
    first = Counter(str(at_first) for at_first, _ in ends)
    return {
        "planted": len(found),
        **{end: now[end] for end in (CAUGHT, EQUIVALENT, SURVIVED)},
        "at_first": {CAUGHT: first[CAUGHT], SURVIVED: first[SURVIVED], "by_slower_tests": ends.count((SURVIVED, True))},
    }


def summarize(package: str, facts: Mapping[str, Any]) -> None:
    """The counts, with these facts of the run (its command, its date, its seed)."""
    summary = _kept_in(SUMMARY)
    told = {**counts(ended(package).values()), **facts}
    of_the_last = {name: facts[name] for name in ("command", "date")}
    _keep(SUMMARY, {**summary, **of_the_last, "packages": {**summary.get("packages", {}), package: told}})


def _kept_in(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _keep(file: Path, content: dict[str, Any]) -> None:
    """At once, or not at all: another run may be reading it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(file)
