"""A terminal with a command in it: typed to key by key, and read as it is written."""

from __future__ import annotations

import os
import pty
import queue
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

READS_WITHIN = 100
_IN_ITS_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that ^C reaches it
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
TORYO = ("-m", "toryo")


class Terminal:
    """`toryo …` in a terminal of its own; or another program of Python's, given as the words that start it."""

    def __init__(
        self, *words: str, environment: Mapping[str, str], cwd: Path, program: tuple[str, ...] = TORYO
    ) -> None:
        self._mine, its = pty.openpty()
        self.mode_at_first = self.mode()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _IN_ITS_TERMINAL, *program, *words],
            env={**environment, "TERM": "xterm"},
            cwd=cwd,
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
        )
        os.close(its)
        self.text = ""
        self._read = 0
        self._pieces: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def type(self, keys: str) -> None:
        os.write(self._mine, keys.encode())

    def mode(self) -> list[Any]:
        """How the terminal is set now."""
        return termios.tcgetattr(self._mine)

    def until(self, words: str) -> str:
        """What was written up to these words, from where the last reading ended."""
        while (found := self.text.find(words, self._read)) < 0:
            piece = self._pieces.get(timeout=READS_WITHIN)
            assert piece, f"ended without {words!r}: {self.text!r}"
            self.text += piece
        begin, self._read = self._read, found + len(words)
        return self.text[begin : self._read]

    def ended(self) -> int:
        """Its exit code, once everything that it wrote is read."""
        while piece := self._pieces.get(timeout=READS_WITHIN):
            self.text += piece
        return self.process.wait(READS_WITHIN)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(READS_WITHIN)
        os.close(self._mine)

    def _listen(self) -> None:
        while True:
            try:
                piece = os.read(self._mine, 4096)
            except OSError:
                piece = b""
            self._pieces.put(piece.decode(errors="replace"))
            if not piece:
                return
