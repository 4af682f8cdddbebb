"""How many modules a start loads. Those of the standard library differ between versions of Python and are not counted;
which of them are too dear is said where each program is tested."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.budgets.ceilings import hold

COMMAND = """
import sys
import toryo.__main__ as entry
sys.argv = ["toryo", *{words!r}]
try: entry.main()
except SystemExit: pass
"""
# Says what is loaded once the server says that it is ready, and is gone: nothing here looks at what it leaves.
SERVER = (
    """
import os, sys
class Told:
    def write(self, text):
        if text.startswith("ready"):
            os.write(1, ("loaded: " + " ".join(sys.modules)).encode())
            os._exit(0)
    def flush(self): pass
    def isatty(self): return False
sys.stderr = Told()
"""
    + COMMAND
)
AGENT = "import toryo.agents.{words[0]}"

PROGRAMS = {
    "toryo --help": (COMMAND, ["--help"]),
    "a server until it is ready": (SERVER, ["server", "--port", "0", "--data-dir", "{data}"]),
    "a command agent": (AGENT, ["command"]),
    "a playbook agent": (AGENT, ["playbook"]),
    "a script agent": (AGENT, ["script"]),
}
ROWS = {name: [f"modules of {name}"] for name in PROGRAMS}
CASES = [pytest.param(name, marks=pytest.mark.deep if code == SERVER else ()) for name, (code, _) in PROGRAMS.items()]


@pytest.mark.parametrize("name", CASES)
def test_a_start_loads_no_more_modules_than_it_may(name: str, tmp_path: Path) -> None:
    code, words = PROGRAMS[name]
    code = code.format(words=[word.format(data=tmp_path / "data") for word in words])
    shown = f"{code}\nimport sys\nprint('loaded:', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    loaded = done.stdout.rpartition("loaded: ")[2].split()
    before = subprocess.run([sys.executable, "-c", MODULES], capture_output=True, text=True, check=True).stdout.split()
    hold(ROWS[name], len([each for each in {*loaded}.difference(before) if each.partition(".")[0] not in STANDARD]))


MODULES = "import sys; print(*sys.modules)"
STANDARD = {*sys.stdlib_module_names, "__main__"}
