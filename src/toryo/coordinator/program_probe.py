"""Runs an agent's program with a question that it answers by itself: its version, or whether it is logged in.

Whatever the program does (hang, crash, endless output, leave children behind), the call returns in time and no process
remains. The caller chooses the question and interprets the answer.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WITHIN = 15.0
"""Seconds; programs on Node need one or two, and several are probed at the same time."""
LONGEST = 64 * 1024
"""Maximum number of bytes read of an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`exit_code` is None for a program that did not answer in time."""

    exit_code: int | None
    out: str
    err: str

    @property
    def said(self) -> str:
        """The first words of its output, on stdout or stderr."""
        lines = (line.strip() for text in (self.out, self.err) for line in text.splitlines())
        return next((line for line in lines if line), "")


def ask(words: Sequence[str], environ: Mapping[str, str], within: float | None = None) -> Answer:
    """Runs it to its end, found on the PATH of `environ`; raises OSError if it cannot be started.

    Its output goes into files: children that keep a pipe open could not be waited for.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            words, env=dict(environ), stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        code = _ended(process, WITHIN if within is None else within)
        return Answer(code, _read(out.fileno()), _read(err.fileno()))


def _ended(process: subprocess.Popen[bytes], within: float) -> int | None:
    """Its exit code; ends all remaining processes of its group."""
    try:
        return process.wait(within)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read(descriptor: int) -> str:
    return os.pread(descriptor, LONGEST, 0).decode("utf-8", "replace")
