"""No model: runs the command of the task in its directory, and reports its exit code and output.

Lines of JSON in that output tell what the command does, for one that asks a model itself (`told_lines.py`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from toryo import told_lines
from toryo.agents import command as runner  # imported for its bytecode too, which no sandbox could write
from toryo.agents import env_vars
from toryo.coordinator.failure_words import judge_runner
from toryo.coordinator.program_output import Called, Event, Returned, Said, Turned, Used
from toryo.coordinator.provider import Command, Metering, Provider, Setting

_FIGURES = ("input_tokens", "output_tokens", "cached_tokens")


def _prepare(setting: Setting) -> Command:
    # -P: a json.py in the project must not be imported by the runner
    return Command((sys.executable, "-P", "-u", "-m", runner.__name__), env_vars.runner(setting.workspace))


def _parse(line: dict[str, Any]) -> Iterator[Event]:
    """Raises ValueError for JSON that tells nothing: it is shown as it is."""
    match line.get(told_lines.MARK):
        case told_lines.SAID:
            yield Said(_text(line["text"]))
            yield Turned()
        case told_lines.CALLED:
            arguments = line.get("arguments", "")
            written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            yield Called(_text(line["tool"]), written, str(line.get("id") or ""))
        case told_lines.RETURNED:
            yield Returned(_text(line.get("text", "")), line.get("failed") is True, str(line.get("id") or ""))
        case told_lines.USED:
            figures = {name: line.get(name, 0) for name in _FIGURES}
            yield Used(**figures, cost_usd=line.get("cost_usd"), model=line.get("model"))
        case _:
            raise ValueError("it tells Toryo nothing")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


PROVIDER = Provider("command", _prepare, judge_runner, parse=_parse, metering=Metering.AS_TOLD, runs_model=False)
