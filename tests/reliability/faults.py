"""Injects every fault of the world, and counts them by kind: `python -m tests.reliability.faults [pytest's words …]`.

Runs the test files below. build/reliability/faults.json gets {command, date, faults: {kind: count}, total, passed}.
Exits as pytest does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.reliability.counting import FILE, counted

FILES = (
    "tests/coordinator/test_merging_killed.py",
    "tests/operations/test_faults_of_the_world.py",
    "tests/scenarios/test_coordinator_cut_off.py",
    "tests/scenarios/test_services_away.py",
    "tests/storage/test_silent_postgresql.py",
)
RESULT = Path("build") / "reliability" / "faults.json"


class Failures:
    """A plugin of pytest: how many tests failed."""

    count = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.count += report.failed


def main(words: list[str]) -> int:
    with tempfile.NamedTemporaryFile(prefix="toryo_faults_") as told:
        os.environ[FILE] = told.name
        failures = Failures()
        status = pytest.main([*FILES, "-q", *words], plugins=[failures])
        faults = counted(Path(told.name))
    found = {
        "command": " ".join(["python -m tests.reliability.faults", *words]),
        "date": datetime.now(UTC).date().isoformat(),
        "kinds": faults,
        "broken_invariants": failures.count,
    }
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=2)
    RESULT.write_text(f"{text}\n")
    sys.stdout.write(f"{text}\n")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
