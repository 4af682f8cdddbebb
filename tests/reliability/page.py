"""docs/reliability.md as a function of the last results (build/reliability/*.json) and of what the suite has.

No figure stands here: each comes from a run, with the command and the date of that run, or from the code. What was not
run says so.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "reliability"
LONG = {
    "histories": "python -m tests.exploring --minutes 30 --exhaustive 2 --share 0.05 --second 0.02 --record",
    "mutations": "python -m tests.mutations",
    "faults": "python -m tests.reliability.faults --long",
    "soak": "python -m tests.soak",
    "soak-postgres": "python -m tests.soak --postgres",
}
"""What writes the results that are not quick, by the name of its file."""
SUITE = {
    "hostile": "Agents, chats and strangers that call anything in any order",
    "doors": "Callers without a credential, with a wrong one, or with one of another project",
    "upgrades": "Databases and backups of earlier versions",
    "conformance": "The conformance suite of the MCP project",
}
"""The groups of `suite.py`, in words."""
NOT_RUN = "not run"

Result = Mapping[str, Any]
Row = tuple[str, str, str, str, str]

_INTRODUCTION = """\
# Reliability

<!-- Written by tests/reliability (make reliability) from the last runs: run it again, do not change this page. -->

Each row is one kind of evidence: what was tried, how often, how many rules did not hold, when, and the command that
repeats it from a checkout (`make setup` first; `python` is `.venv/bin/python`). A bounded search proves nothing beyond
its bounds. A row that says “not run” has no result on the machine that wrote this page.
"""


def read(folder: Path) -> dict[str, Result]:
    """The results by name; a file that is not there is left out, and one that cannot be read is an error."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def suite_itself() -> dict[str, int]:
    """What is counted in the code, in words."""
    from tests.exploring.mutants import MUTANTS
    from tests.exploring.scenes import SCENES
    from tests.invariants import RULES
    from tests.pitfalls.lessons import NO_PART, PITFALLS
    from tests.storage.released_versions import ALL

    return {
        "rules that hold after every step, read from the rows (`tests/invariants.py`)": len(RULES),
        "crews that are disturbed (`tests/exploring/scenes.py`)": len(SCENES),
        "faults planted to see that exploring finds them (`tests/exploring/mutants.py`)": len(MUTANTS),
        "known mistakes of such systems, each with a test (`tests/pitfalls`)": len(PITFALLS) - len(NO_PART),
        "recorded versions of the database (`tests/storage/released`)": len(ALL),
    }


def written(results: Mapping[str, Result], suite: Mapping[str, int]) -> str:
    rows = [*_histories(results), *_suite(results), *_mutations(results), *_faults(results), *_soak(results)]
    columns = ("What was tried", "How often", "Broken rules", "Date", "Repeat it")
    parts = [_INTRODUCTION, "## Runs\n", _table(columns, rows), "", "## What the suite has\n"]
    parts += [_table(("What", "Count"), [(what, _number(count)) for what, count in suite.items()]), ""]
    return "\n".join(parts)


def _histories(results: Mapping[str, Result]) -> Iterator[Row]:
    what = "Crews of obedient agents that are disturbed at any step"
    found = results.get("histories")
    if found is None:
        yield _missing("histories", what)
        return
    names = ("histories", "states", "steps", "claims", "disturbances")
    yield _row(what, ", ".join(f"{_number(found[name])} {name}" for name in names if name in found), found)


def _suite(results: Mapping[str, Result]) -> Iterator[Row]:
    found = results.get("suite")
    for group, what in SUITE.items():
        counts = found["groups"].get(group) if found is not None else None
        if found is None or counts is None or not counts["passed"] + counts["failed"]:
            yield what, NOT_RUN, "", "", "`make reliability`"
            continue
        tests = [f"{_number(counts['passed'] + counts['failed'])} tests"]
        tests += [f"{_number(counts[name])} {name}" for name in ("calls", "requests", "skipped") if counts[name]]
        engines = f", on {_and(counts['engines'])}" if counts["engines"] else ""
        yield _row(what, ", ".join(tests) + engines, {**found, "broken_invariants": counts["failed"]})


def _mutations(results: Mapping[str, Result]) -> Iterator[Row]:
    found = results.get("mutations")
    if found is None:
        yield _missing("mutations", "Faults planted in the code")
        return
    for package, counts in sorted(found["packages"].items()):
        if not counts["planted"]:
            continue
        told = f"{_number(counts['planted'])} planted, {_number(counts['caught'])} caught"
        told += f", {_number(counts['equivalent'])} equivalent, {_number(counts['survived'])} survived"
        if counts.get("by_deep_tests"):
            told += f" (deep tests caught {_number(counts['by_deep_tests'])} of these)"
        yield _row(f"Faults planted in `{package}`", told, {**found, **counts})


def _faults(results: Mapping[str, Result]) -> Iterator[Row]:
    found = results.get("faults")
    if found is None:
        yield _missing("faults", "Faults of the world around a crew at work")
        return
    for kind, count in sorted(found["kinds"].items()):
        yield _row(f"Faults of the world: {kind}", f"{_number(count)} injected", found)


SOAKS = {
    "soak": "Real processes under load while everything goes wrong: a server on SQLite",
    "soak-postgres": "The same: two servers and three Coordinators on PostgreSQL and Redis",
}
MEASURED = (
    ("memory", "in the second half memory", " KiB"),
    ("accepted", "accepted connections", ""),
    ("database", "handles of the database", ""),
    ("other", "other handles", ""),
)
"""Of the servers: medians of the first and the last third of the second half, in which no server is killed."""


def _soak(results: Mapping[str, Result]) -> Iterator[Row]:
    for name, what in SOAKS.items():
        found = results.get(name)
        yield _missing(name, what) if found is None else _row(what, ", ".join(_of_soak(found)), found)


def _of_soak(found: Result) -> Iterator[str]:
    for name in ("minutes", "tasks", "kills", "outages", "calls"):
        if name in found:
            yield f"{_number(found[name])} {name}"
    for name, words, unit in MEASURED:
        if f"{name}_first" in found and f"{name}_last" in found:
            yield f"{words} from {_number(found[f'{name}_first'])} to {_number(found[f'{name}_last'])}{unit}"


def _row(what: str, count: str, found: Result) -> Row:
    broken = found.get("broken_invariants")
    return what, count, "" if broken is None else _number(broken), str(found["date"]), f"`{found['command']}`"


def _missing(name: str, what: str) -> Row:
    """Its command, if this version has it."""
    command = LONG[name]
    return what, NOT_RUN, "", "", f"`{command}`" if exists(command) else ""


def exists(command: str) -> bool:
    """Whether a command of this page can be run in a checkout: `make TARGET`, or `python -m MODULE …`."""
    words = command.split()
    if words[0] == "make":
        return f"\n{words[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    if words[:2] != ["python", "-m"]:
        return False
    try:
        return importlib.util.find_spec(words[2]) is not None
    except ModuleNotFoundError:
        return False


def _and(words: list[str]) -> str:
    return " and ".join(words)


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)
