"""Which tests `make test-fast` runs, and what holds them to needing nothing but Python."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import fast


def test_its_folders_are_folders_of_tests() -> None:
    assert [each for each in fast.FOLDERS if not any((fast.TESTS / each).glob("test_*.py"))] == []


@pytest.mark.parametrize("start", [lambda: subprocess.run([sys.executable, "-V"], check=True), os.fork])
def test_a_fast_test_that_starts_a_process_fails(start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "_forbidden", True)
    with pytest.raises(AssertionError, match="starts a process"):
        start()


def test_a_test_of_another_folder_may_start_a_process() -> None:
    assert subprocess.run([sys.executable, "-c", "print(1)"], check=True, capture_output=True).stdout == b"1\n"


def test_only_its_folders_are_collected_and_nothing_that_needs_more() -> None:
    """A run of its own, of one of its folders and of another."""
    words = ["--fast", "--collect-only", "--quiet", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "tests/storage", "tests/bus"],
        cwd=fast.TESTS.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    collected = [line for line in done.stdout.splitlines() if "::" in line]
    assert any(line.startswith("tests/storage/test_sqlite.py::") for line in collected), done.stdout + done.stderr
    assert {line.split("/")[1] for line in collected} == {"storage"}
    assert not [line for line in collected if "postgresql" in line.partition("[")[2] or "process_was_killed" in line]
