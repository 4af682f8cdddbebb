"""What `make bench` says and how it ends (benchmarks/report.py), with benchmarks that measure nothing, and the
databases of a whole run (services.py). What the real benchmarks measure is no test.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import services
from tests.redis_server import redis_server

HERE = Path(__file__).parents[1] / "benchmarks"
MEASURES = """import os, json
with open(os.environ["TORYO_BENCH_FIGURES"], "a") as file:
    for value in (9.0, 8.0, 30.0):
        print(json.dumps({"row": "T3 next action", "value": value, "told": f"{value} us", "floor": 1.0}), file=file)
print("measured")"""


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The program, in a folder of its own in which nothing was committed, and without a PostgreSQL."""
    monkeypatch.syspath_prepend(HERE)
    loaded = importlib.import_module("report")
    (tmp_path / "good.py").write_text(MEASURES)
    (tmp_path / "broken.py").write_text("raise ValueError('it broke')")
    monkeypatch.setattr(loaded, "HERE", tmp_path)
    monkeypatch.setattr(loaded, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(loaded, "BENCHES", (loaded.Bench("good"), loaded.Bench("broken")))
    monkeypatch.setattr(services, "postgresql", lambda *_: pytest.skip("it is not here (apt-get install postgresql)"))
    return loaded


def test_a_benchmark_that_fails_fails_the_run_and_the_others_are_told(
    report: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["report.py"])
    assert report.main() == 1
    told = (tmp_path / "results.md").read_text()
    assert "| 9 x (9.0 us) | 8 to 30 | ≤ 7.5 x | missed: 0.83 of it | a raw ASGI call | 1 |" in told
    assert "ValueError: it broke" in told
    (why,) = [line for line in told.splitlines() if "apt-get install postgresql" in line]
    assert "T4 PostgreSQL" in why
    assert "T4 SQLite" not in why


def test_a_missed_target_alone_does_not_fail_the_run(report: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["report.py", "--only", "good"])
    assert report.main() == 0
    assert not report.RESULTS.exists(), "a part of the figures replaces none of the results"


def test_ratios_that_moved_by_more_than_a_quarter_are_told_with_their_direction(report: Any) -> None:
    def results(**figures: tuple[float, float | None]) -> dict[str, Any]:
        rounds = {
            row.replace("_", " "): [{"value": value, "told": "", "floor": floor}]
            for row, (value, floor) in figures.items()
        }
        return {"date": "2026-01-02", "figures": rounds}

    before = results(T1_64=(1.0, 1.0), T3_write=(6.0, 1.0), T6_cold=(100.0, None), T9_sh=(400.0, 1000.0))
    now = results(T1_64=(1.3, 1.0), T3_write=(6.5, 1.0), T6_cold=(900.0, None), T9_sh=(200.0, 1000.0))
    first, *changed = report.moved(now, before)
    assert "Of 3 ratios and counts, 2 moved" in first, "milliseconds without a floor are the machine's"
    assert [line.split(":")[0].strip() for line in changed] == ["T1 64", "T9 sh"]
    assert [("better" in line, "WORSE" in line) for line in changed] == [(True, False), (False, True)]


def test_a_run_has_the_redis_that_answers_or_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with redis_server(tmp_path) as answers:
        monkeypatch.setattr(services, "REDIS", answers.url)
        with services.redis() as found:
            assert found == answers.url
    with services.redis() as own:
        assert own != answers.url
