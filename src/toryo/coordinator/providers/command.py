"""No model: runs the command of the task in its directory, and reports its exit code and output."""

from __future__ import annotations

import sys

from toryo.agents import command as runner  # imported for its bytecode too, which no sandbox could write
from toryo.agents.env_vars import own_python_path
from toryo.coordinator.failure_words import judge_runner
from toryo.coordinator.provider import Command, Provider, Setting


def _prepare(setting: Setting) -> Command:
    del setting
    # -P: a json.py in the project must not be imported by the runner
    return Command((sys.executable, "-P", "-u", "-m", runner.__name__), own_python_path())


PROVIDER = Provider("command", _prepare, judge_runner)
