"""T13: what it costs to start: `toryo --help` (wall time), and `toryo server` until it is ready (CPU of the process),
with a new database and with one that is there already; and until it has settled, so that work is not only moved.

The floors are an empty Python, and one that imports what the server stands on. Each is measured in a new process, with
bytecode that is there already, as in an installation. It is kept in a folder of its own, because the environment may
forbid to write it.

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
IMPORTS = "import starlette.applications, uvicorn, sqlalchemy, pydantic, pydantic_settings"
SETTLED_SECONDS = 3.0


def wall(words: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True, env=environment)
    return (time.perf_counter() - began) * 1000


def cpu(words: list[str], environment: dict[str, str]) -> float:
    """Seconds, of the process and of all that it starts."""
    with subprocess.Popen(words, env=environment) as process:
        _, _, spent = os.wait4(process.pid, 0)
        process.returncode = 0
    return spent.ru_utime + spent.ru_stime


def server(environment: dict[str, str], data: Path, settle: float = 0) -> tuple[float, float]:
    """Seconds of CPU until `ready` is printed, and so many seconds after that."""
    words = [sys.executable, "-m", "toryo", "server", "--port", "0", "--data-dir", str(data)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready"):
                break
        ready = _cpu(process.pid)
        time.sleep(settle)
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
    rows: list[tuple[float, ...]] = []
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
        for number in range(rounds + 1):
            with tempfile.TemporaryDirectory() as folder:
                data = Path(folder) / "data"
                nothing = wall([sys.executable, "-c", ""], environment)
                told = wall([sys.executable, "-m", "toryo", "--help"], environment)
                imports = cpu([sys.executable, "-c", IMPORTS], environment)
                new, _ = server(environment, data)
                again, settled = server(environment, data, SETTLED_SECONDS if number else 0)
            if number:  # the first one writes bytecode
                rows.append((nothing, told, imports, new, again, settled))
                target_figures.note("T13 help", told, floor=nothing)
                target_figures.note("T13 server", new / imports, f"{new:.2f} s", imports)
                target_figures.note("T13 settled", settled / imports, f"{settled:.2f} s", imports)
    nothing, told, imports, new, again, settled = (statistics.median(row) for row in zip(*rows, strict=True))
    print(f"medians of {rounds}")
    print(f"{'an empty Python':<45}{nothing:>8.0f} ms")
    print(f"{'toryo --help':<45}{told:>8.0f} ms")
    print(f"{'a Python that imports the libraries':<45}{imports:>8.2f} s of CPU")
    print(f"{'toryo server until ready, a new database':<45}{new:>8.2f} s of CPU")
    print(f"{'toryo server until ready, a present one':<45}{again:>8.2f} s of CPU")
    print(f"{f'the same {SETTLED_SECONDS:.0f} s later':<45}{settled:>8.2f} s of CPU")


if __name__ == "__main__":
    main()
