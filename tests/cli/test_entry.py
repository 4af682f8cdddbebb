"""The command before anything of it is loaded: ^C, and terminals that cannot show every sign."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import clean_environment


def test_interrupted_while_it_loads_it_ends_without_a_word() -> None:
    code = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from toryo.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_what_an_old_terminal_cannot_show_is_replaced() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['toryo', '--version']\n"
        "import toryo.__main__ as entry\n"
        "try: entry.main()\n"
        "except SystemExit: print('○ ok')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout.endswith("? ok\n"), done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("task", "show", "x", "--json"), 3),
        (("playbook", "check", "none.yaml", "--json"), 2),
        (("task", "show", "x"), 3),
    ],
)
def test_an_error_that_nobody_reads_keeps_its_exit_code_and_shows_no_traceback(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    """As in `toryo … --json | head -0`."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        ended = subprocess.run(
            [sys.executable, "-m", "toryo", *words],
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(tmp_path),
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, len(ended.stderr.splitlines())) == (code, 1), ended.stderr
