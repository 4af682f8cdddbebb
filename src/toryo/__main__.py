"""The command `toryo`, also as `python -m toryo`: checks that must run before any other import."""

from __future__ import annotations

import gc
import os
import signal
import sys


def main() -> None:
    """Runs one command line and ends the process with its exit code."""
    _end_quietly_while_it_loads()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")  # a sign that a terminal cannot show is no reason to fail
    gc.disable()  # what is loaded stays: looking for garbage in it takes a tenth of the start
    from toryo.cli.main import main as run

    gc.freeze()
    gc.enable()
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _end_quietly_while_it_loads() -> None:
    """^C in the first second ends it without a traceback; where it is ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    os._exit(130)


if __name__ == "__main__":
    main()
