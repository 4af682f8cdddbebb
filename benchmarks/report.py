"""`make bench`: runs the benchmarks one after the other, tells which targets are reached, and compares with the results
in the last commit. Within 9 minutes on two cores.

Every figure is measured in three rounds (`target_figures.note`) together with what it is relative to; its median
counts. They are written to benchmarks/results.json and, to be read, to results.md. PostgreSQL is the one at
TORYO_TEST_POSTGRES if it answers, else one that is started here. What cannot be measured is named with the reason.
Exits 1 if a benchmark fails, never for a target that is missed.

    python benchmarks/report.py [--only growth,sweep]     # these alone: prints the table, writes nothing
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
import target_figures
from targets import CHROMIUM, POSTGRESQL, TARGETS, Target

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests import services  # noqa: E402 - after the path to the tests' helpers

RESULTS = HERE / "results.json"
LONGEST = 600
"""Seconds after which a benchmark is stopped."""
MOVED = 0.25
COUNTS = ("tokens", "calls", "kB", "connections")
"""Figures in these are the same on every machine."""


@dataclass(frozen=True)
class Bench:
    """A script, its options for a short run, what it cannot do without, and whether it takes `--postgresql`."""

    script: str
    options: tuple[str, ...] = ()
    needs: str = ""
    databases: bool = False
    times: int = 1
    """It has no rounds of its own."""


BENCHES = (
    Bench("queue_cycles", ("--seconds", "1", "--rounds", "3"), databases=True),
    Bench("mcp_calls", ("--calls", "6000", "--rounds", "3")),
    Bench(
        "queues",
        ("--only", "cycles,push", "--rounds", "3", "--seconds", "0.7", "--clients", "1,64", "--pushes", "60"),
        databases=True,
    ),
    Bench(
        "queues",
        ("--only", "rivals", "--rivals", "celery,procrastinate,taskiq", "--rounds", "3", "--jobs", "200"),
        databases=True,
    ),
    Bench("mcp_peers", ("--seconds", "1", "--rounds", "3")),
    Bench("sweep", ("--managers", "500"), times=3),
    Bench("growth", ("--rows", "100 k tasks", "--times", "10", "--rounds", "3")),
    Bench("browsers", ("--rounds", "3")),
    Bench("agents", ("--agents", "40", "--rounds", "3", "--trickle", "0")),
    Bench("tokens"),
    Bench("start_up", ("--rounds", "3")),
    Bench("chains", ("--rounds", "3")),
    Bench("dashboard", ("--rounds", "3", "--looks", "1", "--events", "60"), needs=CHROMIUM),
)


@dataclass(frozen=True)
class Figure:
    """The rounds of one figure, in order of their value: the middle one counts."""

    rounds: list[dict[str, Any]]

    @classmethod
    def of(cls, rounds: Iterable[dict[str, Any]]) -> Figure:
        return cls(sorted(rounds, key=lambda each: each["value"]))

    @property
    def value(self) -> float:
        return float(self._middle["value"])

    @property
    def told(self) -> str:
        return str(self._middle["told"])

    @property
    def floor(self) -> float | None:
        floor = self._middle["floor"]
        return None if floor is None else float(floor)

    @property
    def spread(self) -> str:
        low, high = (self.rounds[place]["value"] for place in (0, -1))
        return "" if low == high else f"{number(low)} to {number(high)}"

    @property
    def _middle(self) -> dict[str, Any]:
        return self.rounds[(len(self.rounds) - 1) // 2]


# --- running ---------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="some of the scripts, with commas")
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else {bench.script for bench in BENCHES}
    benches = [bench for bench in BENCHES if bench.script in wanted]
    before = committed()
    found = measured(benches)
    told = [*table(found), *reasons(found)]
    print("", *told, "", *moved(found, before), sep="\n")
    if given.only is None:
        RESULTS.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        RESULTS.with_suffix(".md").write_text(page(found), encoding="utf-8")
        print(f"\nWrote {RESULTS.name} and {RESULTS.with_suffix('.md').name} in {HERE.name}/")
    for each in found["printed"]:
        if each["failed"]:
            print(f"FAILED: {each['command']}")
    return any(each["failed"] for each in found["printed"])


def measured(benches: list[Bench]) -> dict[str, Any]:
    """What is written to results.json."""
    began, load = time.monotonic(), os.getloadavg()[0]
    printed: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as running:
        notes = Path(scratch) / "figures.jsonl"
        missing = {}
        postgresql, said = attempted(lambda: running.enter_context(services.postgresql("fsync=on")))
        if postgresql is None:
            missing[POSTGRESQL] = said
        if any(bench.needs == CHROMIUM for bench in benches):
            from tests.browser import browsers

            chromium, said = attempted(lambda: browsers.program(browsers.CHROMIUM))
            if chromium is None:
                missing[CHROMIUM] = said
        for bench in benches:
            if bench.needs not in missing:
                printed += run(bench, postgresql, notes)
        lines = [orjson.loads(line) for line in notes.read_bytes().splitlines()] if notes.exists() else []
        about = "none" if postgresql is None else _about(postgresql)
    figures: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if "value" in line:
            figures.setdefault(line.pop("row"), []).append(line)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "load": round(load, 1),
        "minutes": round((time.monotonic() - began) / 60, 1),
        "cpu_minutes": round(_cpu() / 60, 1),
        "postgresql": about,
        "figures": figures,
        "not_measured": {line["row"]: line["why"] for line in lines if "why" in line}
        | {row: missing[target.needs] for row, target in TARGETS.items() if target.needs in missing},
        "printed": printed,
    }


def _cpu() -> float:
    """Seconds, of all that has been started here and has ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def attempted(start: Any) -> tuple[str | None, str]:
    """What the tests' helpers give, or why they would skip a test."""
    try:
        return start(), ""
    except (pytest.skip.Exception, pytest.fail.Exception) as reason:
        return None, str(reason)


def _about(url: str) -> str:
    with psycopg.connect(url) as connection:
        version, fsync = (connection.execute(f"SHOW {name}").fetchone() for name in ("server_version", "fsync"))
    assert version is not None and fsync is not None
    return f"{version[0].split()[0]} with fsync {fsync[0]}"


def run(bench: Bench, postgresql: str | None, notes: Path) -> Iterator[dict[str, Any]]:
    """What it printed, each time; its figures are in `notes`."""
    command = " ".join(["python", f"benchmarks/{bench.script}.py", *map(_quoted, bench.options)])
    words = [sys.executable, str(HERE / f"{bench.script}.py"), *bench.options]
    if bench.databases and postgresql:
        words += ["--postgresql", postgresql]
    environment = {**os.environ, target_figures.FILE: str(notes)}
    for _ in range(bench.times):
        print(f"== {command}", flush=True)
        began, spent = time.monotonic(), _cpu()
        output, failed = _ran(words, environment)
        print(f"{output}\n({time.monotonic() - began:.0f} s, {_cpu() - spent:.0f} s of CPU)", flush=True)
        yield {"command": command, "output": output, "failed": failed}


def _ran(words: list[str], environment: dict[str, str]) -> tuple[str, bool]:
    """What it printed, with the reason if it failed. Servers that it has left behind end with it."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(words, env=environment, stdout=output, stderr=errors, start_new_session=True)
        try:
            code = process.wait(LONGEST)
            reason = f"Failed with exit code {code}:"
        except subprocess.TimeoutExpired:
            code, reason = 1, f"Stopped after {LONGEST} s."
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        printed, said = (file.seek(0) or file.read().strip() for file in (output, errors))
    return (f"{printed}\n{reason}\n{said}".strip(), True) if code else (printed, False)


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


# --- telling ---------------------------------------------------------------------------------------------------------


def page(found: dict[str, Any]) -> str:
    """results.md."""
    head = (
        "# Results of `make bench`\n\n"
        f"Written by benchmarks/report.py on {found['date']}, in {found['minutes']} minutes ({found['cpu_minutes']} of "
        f"CPU), on {found['cores']} cores with a load of {found['load']} at the start. PostgreSQL: "
        f"{found['postgresql']}. Medians of the rounds, and from which to which. Rates depend on the machine; trust "
        "ratios within one run, and CPU per call.\n"
    )
    parts = [f"## `{each['command']}`\n\n```text\n{each['output']}\n```" for each in found["printed"]]
    return "\n".join([head, *table(found), *reasons(found), "", "\n\n".join(parts)]) + "\n"


def table(found: dict[str, Any]) -> Iterator[str]:
    yield "| | what | figure | rounds | target | | relative to | that, in the run |"
    yield "|---|---|---|---|---|---|---|---|"
    figures = {row: Figure.of(rounds) for row, rounds in found["figures"].items()}
    for row, target in TARGETS.items():
        name, figure = row.split()[0], figures.get(row)
        if figure is None:
            yield f"| {name} | {target.what} | not measured | | {target.wanted} | | {target.of} | |"
            continue
        told = f" ({figure.told})" if figure.told else ""
        floor = "" if figure.floor is None else number(figure.floor)
        cells = (
            name,
            target.what,
            f"{number(figure.value)} {target.unit}{told}",
            figure.spread,
            target.wanted,
            verdict(target, figure.value),
            target.of,
            floor,
        )
        yield f"| {' | '.join(cells)} |"
    for row, figure in figures.items():
        if row not in TARGETS:
            name, _, what = row.partition(" ")
            yield f"| {name} | {what} | {number(figure.value)} ({figure.told}) | {figure.spread} | | | | |"


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def verdict(target: Target, value: float) -> str:
    if target.reached_by(value):
        return "reached"
    if 0 in (value, target.limit):
        return "missed"
    return f"missed: {target.limit / value if target.most else value / target.limit:.2f} of it"


def reasons(found: dict[str, Any]) -> Iterator[str]:
    """One sentence for each reason why rows have no figure."""
    without = [row for row in TARGETS if row not in found["figures"]]
    told: dict[str, list[str]] = {}
    for row in without:
        told.setdefault(found["not_measured"].get(row, "its benchmark failed or did not run"), []).append(row)
    for why, rows in told.items():
        yield f"\nNot measured: {'; '.join(rows)}. The reason: {why.rstrip('.')}."


def committed() -> dict[str, Any] | None:
    """The results in the last commit."""
    words = ["git", "show", f"HEAD:./{RESULTS.name}"]
    ran = subprocess.run(words, cwd=HERE, capture_output=True, check=False)
    return None if ran.returncode else orjson.loads(ran.stdout)


def moved(found: dict[str, Any], before: dict[str, Any] | None) -> Iterator[str]:
    """Which medians are no longer what they were in the last commit, of those that the machine does not decide."""
    if before is None:
        yield f"There is no {RESULTS.name} in the last commit to compare with."
        return
    compared, changed = 0, []
    for row in TARGETS:
        old, new = (_comparable(row, each["figures"].get(row)) for each in (before, found))
        if old and new:
            compared += 1
            if abs(new / old - 1) > MOVED:
                better = (new < old) == TARGETS[row].most
                shown = f"{number(old)} -> {number(new)} ({new / old - 1:+.0%}, {'better' if better else 'WORSE'})"
                changed.append(f"  {row}: {TARGETS[row].what}: {shown}")
    yield f"Of {compared} ratios and counts, {len(changed)} moved by more than {MOVED:.0%} since {before['date']}:"
    yield from changed


def _comparable(row: str, rounds: list[dict[str, Any]] | None) -> float | None:
    """The figure, if it is a ratio or a count; else by its floor, if it has one."""
    if not rounds:
        return None
    if TARGETS[row].of or TARGETS[row].unit in COUNTS:
        return Figure.of(rounds).value
    by_floor = [{**each, "value": each["value"] / each["floor"]} for each in rounds if each["floor"]]
    return Figure.of(by_floor).value if by_floor else None


if __name__ == "__main__":
    sys.exit(main())
