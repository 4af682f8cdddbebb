"""T13: what it costs to start: `toryo --help` (wall time), and `toryo server` until it is ready (CPU of the process).

The floor is an empty Python. Each is measured in a new process, with bytecode that is there already.

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


def wall(words: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1000


def server() -> float:
    """Seconds of CPU until `ready` is printed."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "toryo", "server", "--port", "0", "--data-dir", str(Path(folder) / "data")]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("ready"):
                    break
            fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            process.terminate()
            process.stdout.read()
    return (int(fields[11]) + int(fields[12])) / TICK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    empty, help_, ready = [], [], []
    for number in range(rounds + 1):
        found = wall([sys.executable, "-c", ""]), wall([sys.executable, "-m", "toryo", "--help"]), server()
        if number:  # the first one writes bytecode
            for figure, row in zip(found, (empty, help_, ready), strict=True):
                row.append(figure)
    floor = statistics.median(empty)
    print(f"medians of {rounds}")
    print(f"{'an empty Python':<28}{floor:>8.0f} ms")
    print(f"{'toryo --help':<28}{statistics.median(help_):>8.0f} ms")
    print(f"{'toryo server until ready':<28}{statistics.median(ready):>8.2f} s of CPU")
    target_figures.note("T13 help", statistics.median(help_), floor=floor)
    target_figures.note("T13 server", statistics.median(ready))


if __name__ == "__main__":
    main()
