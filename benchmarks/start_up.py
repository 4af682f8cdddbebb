"""T13: what it costs to start: `toryo --help` (wall time), and `toryo server` until it is ready (CPU of the process),
with a new database and with one that is there already; and until it has settled, so that work is not only moved.

The floor is an empty Python. Each is measured in a new process, with bytecode that is there already, as in an
installation. It is kept in a folder of its own, because the environment may forbid to write it.

    python benchmarks/start_up.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import target_figures

TICK = os.sysconf("SC_CLK_TCK")


SETTLED_SECONDS = 3.0


def wall(words: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True, env=environment)
    return (time.perf_counter() - began) * 1000


def server(environment: dict[str, str], data: Path) -> tuple[float, float]:
    """Seconds of CPU until `ready` is printed, and some seconds after that."""
    words = [sys.executable, "-m", "toryo", "server", "--port", "0", "--data-dir", str(data)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready"):
                break
        ready = _cpu(process.pid)
        time.sleep(SETTLED_SECONDS)
        settled = _cpu(process.pid)
        process.terminate()
        process.stdout.read()
    return ready, settled


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows: list[list[float]] = [[], [], [], [], []]
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
        for number in range(rounds + 1):
            with tempfile.TemporaryDirectory() as folder:
                nothing = wall([sys.executable, "-c", ""], environment)
                told = wall([sys.executable, "-m", "toryo", "--help"], environment)
                first, _ = server(environment, Path(folder) / "data")
                found = nothing, told, first, *server(environment, Path(folder) / "data")
            if number:  # the first one writes bytecode
                for figure, row in zip(found, rows, strict=True):
                    row.append(figure)
    floor, help_, new, again, settled = (statistics.median(row) for row in rows)
    print(f"medians of {rounds}")
    print(f"{'an empty Python':<45}{floor:>8.0f} ms")
    print(f"{'toryo --help':<45}{help_:>8.0f} ms")
    print(f"{'toryo server until ready, a new database':<45}{new:>8.2f} s of CPU")
    print(f"{'toryo server until ready, a present one':<45}{again:>8.2f} s of CPU")
    print(f"{f'the same {SETTLED_SECONDS:.0f} s later':<45}{settled:>8.2f} s of CPU")
    target_figures.note("T13 help", help_, floor=floor)
    target_figures.note("T13 server", new)


if __name__ == "__main__":
    main()
