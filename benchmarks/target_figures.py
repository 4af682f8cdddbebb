"""What a benchmark hands to `report.py`: a line of JSON for each round of a figure, in the file that the report names.

Nothing is written if a benchmark runs by itself; it prints its own tables in any case.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson

FILE = "TORYO_BENCH_FIGURES"


def note(row: str, value: float, told: str = "", floor: float | None = None) -> None:
    """Once for each round. `row` is a row of `targets.TARGETS`, `value` is in its unit; `told`: what a ratio is made
    of, `floor`: what was measured beside it."""
    _write({"row": row, "value": value, "told": told, "floor": floor})


def not_measured(row: str, why: str) -> None:
    """The reason, for whoever reads the table."""
    _write({"row": row, "why": why})


def _write(line: dict[str, Any]) -> None:
    if path := os.environ.get(FILE):
        with Path(path).open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
