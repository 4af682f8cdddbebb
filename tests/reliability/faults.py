"""Injects every fault of the world, and counts them by kind: `python -m tests.reliability.faults [pytest's words …]`.

Runs the tests below. With `--long` first, outages last for 20 seconds, and what is killed is killed at every step
instead of at some: half an hour. build/reliability/faults.json gets {command, date, kinds: {kind: count},
broken_invariants}. Exits as pytest does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.reliability.counting import FILE, counted

TESTS = (
    "tests/client/test_silent_network.py",
    "tests/coordinator/test_merging_killed.py",
    "tests/operations/test_faults_of_the_world.py",
    "tests/scenarios/test_coordinator_cut_off.py",
    "tests/scenarios/test_coordinator_elsewhere.py",
    "tests/scenarios/test_launches_killed.py",
    "tests/scenarios/test_redis_hung.py",
    "tests/scenarios/test_services_away.py",
    "tests/storage/test_silent_postgresql.py",
)
LONG = "--long"
FOR_LONG = {
    "TORYO_TEST_OUTAGE_SECONDS": "20",
    "TORYO_TEST_LAUNCH_KILLS_EVERY": "1",
    "TORYO_TEST_MERGE_KILLS_EVERY": "4",
    "TORYO_TEST_KILLS": "12",
}
"""What the tests are told then; what the environment says already stays."""
RESULT = Path("build") / "reliability" / "faults.json"


class Failures:
    """A plugin of pytest: how many tests failed."""

    count = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.count += report.failed


def main(words: list[str]) -> int:
    long, for_pytest = words[:1] == [LONG], words[1:] if words[:1] == [LONG] else words
    with tempfile.NamedTemporaryFile(prefix="toryo_faults_") as told, patch.dict(os.environ):
        os.environ.update({**FOR_LONG, **os.environ} if long else {})
        os.environ[FILE] = told.name
        failures = Failures()
        status = pytest.main([*TESTS, "-q", *for_pytest], plugins=[failures])
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
